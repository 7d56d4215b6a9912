//! The only threads of the engine.
//!
//! A [`Team`] is a fixed set of threads that run one function at a time, all together. Between two
//! calls of a frame the helpers spin, so that handing out work costs a fraction of a microsecond; a while
//! after the last call they sleep. Results never depend on the number of threads: a thread only ever
//! decides *who* does a piece of work, not what the work is.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;

/// Spins before a waiting thread starts to yield its time slice.
const SPINS_BEFORE_YIELD: u32 = 1_000;
/// Spins before it rests a little between two looks.
const EAGER: u32 = 64;
/// Yields before an idle helper goes to sleep.
const YIELDS_BEFORE_SLEEP: u32 = 200;

/// One member of a team while it works.
pub struct Worker<'a> {
    /// Which member this is, from 0.
    pub index: usize,
    /// How many members there are.
    pub count: usize,
    barrier: &'a Barrier,
}

impl Worker<'_> {
    /// Says that this member has come here, and goes on: what it wrote before is seen by all that [`wait`](Self::wait)
    /// for it. What it does between the two must be nobody else's business; so the time that the news take to
    /// travel is not lost.
    #[inline]
    pub fn arrive(&self) {
        if self.count > 1 {
            self.barrier.arrive(self.index);
        }
    }

    /// How often this member has arrived since the team was made.
    #[inline]
    pub fn arrivals(&self) -> usize {
        self.barrier.arrivals[self.index].0.load(Ordering::Relaxed)
    }

    /// Waits until every other member has arrived so many times.
    #[inline]
    pub fn wait(&self, times: usize) {
        if self.count > 1 {
            self.barrier.wait(self.index, self.count, times);
        }
    }

    /// This member's share of `len` items, in multiples of `grain` (but for the last).
    #[inline]
    pub fn share(&self, len: usize, grain: usize) -> Range<usize> {
        let grains = len.div_ceil(grain);
        let start = (grains * self.index / self.count * grain).min(len);
        let end = (grains * (self.index + 1) / self.count * grain).min(len);
        start..end
    }
}

/// A spinning barrier. Each member counts how often it has come; where it waits, it goes on when all others have come often enough.
///
/// Every count has cache lines of its own: between two cores far apart a line takes some hundred nanoseconds, and this
/// way it has to go only once.
struct Barrier {
    arrivals: Vec<Arrivals>,
}

#[repr(align(128))]
struct Arrivals(AtomicUsize);

impl Barrier {
    fn new(count: usize) -> Self {
        Barrier { arrivals: (0..count).map(|_| Arrivals(AtomicUsize::new(0))).collect() }
    }

    fn arrive(&self, index: usize) {
        let own = &self.arrivals[index].0;
        own.store(own.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    fn wait(&self, index: usize, count: usize, times: usize) {
        for other in (0..count).filter(|&other| other != index) {
            spin_until(|| {
                let ahead = self.arrivals[other].0.load(Ordering::Acquire).wrapping_sub(times);
                ahead as isize >= 0
            });
        }
    }
}

fn spin_until(done: impl Fn() -> bool) {
    let mut spins = 0;
    while !done() {
        if spins < SPINS_BEFORE_YIELD {
            spins += 1;
            if spins > EAGER {
                std::hint::spin_loop();
            }
        } else {
            std::thread::yield_now();
        }
    }
}

type Job = *const (dyn Fn(&Worker<'_>) + Sync);

struct Common {
    /// The job of the present epoch. Written only by the owner while all helpers wait.
    job: UnsafeCell<Option<Job>>,
    epoch: AtomicUsize,
    finished: AtomicUsize,
    barrier: Barrier,
    quit: AtomicBool,
    sleepers: Mutex<usize>,
    wake: Condvar,
}

// SAFETY: `job` is written by the owner only between the moment all helpers reported the last epoch finished
// and the release-store of the next epoch; helpers read it only after they acquired that epoch.
unsafe impl Sync for Common {}
// SAFETY: the raw pointer inside is only followed while `Team::run` keeps its referent alive.
unsafe impl Send for Common {}

/// A fixed set of threads that work together.
pub struct Team {
    common: Arc<Common>,
    helpers: Vec<JoinHandle<()>>,
}

impl Team {
    /// A team of `count` threads, the caller's own among them. Where threads cannot be made, the team is smaller.
    pub fn new(count: usize) -> Self {
        let count = if cfg!(target_arch = "wasm32") { 1 } else { count.max(1) };
        let common = Arc::new(Common {
            job: UnsafeCell::new(None),
            epoch: AtomicUsize::new(0),
            finished: AtomicUsize::new(0),
            barrier: Barrier::new(count),
            quit: AtomicBool::new(false),
            sleepers: Mutex::new(0),
            wake: Condvar::new(),
        });
        // Helpers learn the final size of the team only when a job comes, so a refused thread is harmless.
        let mut helpers = Vec::new();
        let size = Arc::new(AtomicUsize::new(1));
        for index in 1..count {
            let (common, size) = (common.clone(), size.clone());
            let builder = std::thread::Builder::new().name(format!("taffeta-{index}"));
            match builder.spawn(move || help(&common, index, &size)) {
                Ok(handle) => helpers.push(handle),
                Err(_) => break,
            }
        }
        size.store(helpers.len() + 1, Ordering::Release);
        Team { common, helpers }
    }

    /// How many threads there are, the caller's own among them.
    pub fn count(&self) -> usize {
        self.helpers.len() + 1
    }

    /// Runs `job` on every member and returns when all are done.
    pub fn run(&mut self, job: impl Fn(&Worker<'_>) + Sync) {
        self.run_if(true, job);
    }

    /// The same if it is `worth` it, else as a team of the caller's thread alone.
    pub fn run_if(&mut self, worth: bool, job: impl Fn(&Worker<'_>) + Sync) {
        let count = if worth { self.count() } else { 1 };
        let common = &*self.common;
        let own = Worker { index: 0, count, barrier: &common.barrier };
        if count == 1 {
            job(&own);
            return;
        }
        let erased: &(dyn Fn(&Worker<'_>) + Sync) = &job;
        // SAFETY: the lifetime is erased, but this function does not return before every helper has
        // finished with the reference (`finished` below), and helpers take it from `job` only once an epoch.
        let erased: Job = unsafe { std::mem::transmute(erased) };
        // SAFETY: all helpers have finished the last epoch and none reads `job` before the next one begins.
        unsafe { *common.job.get() = Some(erased) };
        common.finished.store(0, Ordering::Relaxed);
        common.epoch.fetch_add(1, Ordering::Release);
        if *common.sleepers.lock().expect("a helper never panics while holding this lock") > 0 {
            common.wake.notify_all();
        }
        let guard = Finish { common, helpers: count - 1 };
        job(&own);
        drop(guard);
    }
}

/// A member that panics would leave the others waiting at a barrier for ever, with the job in their hands.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        eprintln!("taffeta: a worker thread panicked; stopping");
        std::process::abort();
    }
}

/// Waits for the helpers.
struct Finish<'a> {
    common: &'a Common,
    helpers: usize,
}

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            drop(AbortOnPanic);
        }
        spin_until(|| self.common.finished.load(Ordering::Acquire) == self.helpers);
    }
}

fn help(common: &Common, index: usize, size: &AtomicUsize) {
    let mut seen = 0;
    loop {
        wait_for_epoch(common, seen);
        if common.quit.load(Ordering::Acquire) {
            return;
        }
        seen = common.epoch.load(Ordering::Acquire);
        // SAFETY: the owner stored the job before the release of this epoch, and keeps it alive until we
        // report `finished`.
        let job = unsafe { &*(*common.job.get()).expect("an epoch comes with a job") };
        let count = size.load(Ordering::Acquire);
        let abort = AbortOnPanic;
        job(&Worker { index, count, barrier: &common.barrier });
        std::mem::forget(abort);
        common.finished.fetch_add(1, Ordering::Release);
    }
}

/// Spins, then yields, then sleeps until the epoch moves on from `seen`.
fn wait_for_epoch(common: &Common, seen: usize) {
    let ready = || common.epoch.load(Ordering::Acquire) != seen || common.quit.load(Ordering::Acquire);
    for _ in 0..SPINS_BEFORE_YIELD {
        if ready() {
            return;
        }
        std::hint::spin_loop();
    }
    for _ in 0..YIELDS_BEFORE_SLEEP {
        if ready() {
            return;
        }
        std::thread::yield_now();
    }
    let mut sleepers = common.sleepers.lock().expect("the owner never panics while holding this lock");
    *sleepers += 1;
    while !ready() {
        sleepers = common.wake.wait(sleepers).expect("the owner never panics while holding this lock");
    }
    *sleepers -= 1;
}

impl Drop for Team {
    fn drop(&mut self) {
        self.common.quit.store(true, Ordering::Release);
        drop(self.common.sleepers.lock());
        self.common.wake.notify_all();
        for helper in self.helpers.drain(..) {
            let _ = helper.join();
        }
    }
}

/// A slice that the members of a team write together, each to elements that no other touches between two
/// barriers. That promise is the caller's, hence the `unsafe` methods; it is made in `wide/`, where the
/// colouring was checked when it was built, and in [`Team::for_each_chunk`], by construction.
pub struct Shared<'a, T> {
    start: *mut T,
    len: usize,
    life: PhantomData<&'a mut [T]>,
}

// SAFETY: access goes through unsafe methods whose contract excludes races.
unsafe impl<T: Send> Sync for Shared<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Shared<'_, T> {}

impl<'a, T> Shared<'a, T> {
    /// Shares a slice for the time of the borrow.
    pub fn new(slice: &'a mut [T]) -> Self {
        Shared { start: slice.as_mut_ptr(), len: slice.len(), life: PhantomData }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of element `i`.
    ///
    /// # Safety
    /// `i < self.len()`.
    #[inline(always)]
    pub unsafe fn at(&self, i: usize) -> *mut T {
        debug_assert!(i < self.len);
        // SAFETY: in bounds by contract.
        unsafe { self.start.add(i) }
    }

    /// A part of the slice for one member alone.
    ///
    /// # Safety
    /// `range` is in bounds, and no other member uses an element of it until the next barrier.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn part(&self, range: Range<usize>) -> &'a mut [T] {
        debug_assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: in bounds and exclusive by contract.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
}

/// The next of `count` numbers that nobody has taken yet.
#[inline]
fn take(next: &AtomicUsize, count: usize) -> Option<usize> {
    let i = next.fetch_add(1, Ordering::Relaxed);
    (i < count).then_some(i)
}

impl Team {
    /// Calls `work(index, item)` for every item; whoever is free takes the next one, so that items may differ in size.
    pub fn for_each_item<T: Send>(&mut self, items: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
        let shared = Shared::new(items);
        let next = AtomicUsize::new(0);
        self.run(|_| {
            while let Some(i) = take(&next, shared.len()) {
                // SAFETY: in bounds, and the counter gives every index to one member once.
                work(i, unsafe { &mut *shared.at(i) });
            }
        });
    }

    /// Does two things, side by side if there are two members.
    pub fn both(&mut self, first: impl FnOnce() + Send, second: impl FnOnce() + Send) {
        fn take<T>(once: &Mutex<Option<T>>) -> Option<T> {
            once.lock().ok()?.take()
        }
        let (first, second) = (Mutex::new(Some(first)), Mutex::new(Some(second)));
        self.run(|worker| {
            if worker.index == 0 {
                take(&first).expect("there is one first member")();
            }
            if worker.index == worker.count.min(2) - 1 {
                take(&second).expect("there is one second member")();
            }
        });
    }

    /// Cuts `items` into blocks of exactly `grain` (but for the last) and calls `work(block, items, member, own)` for each; whoever is free takes
    /// the next. `own` is what the member that does it has for itself: one of `members`, of which there are enough.
    pub fn for_each_block<T: Send, M: Send>(
        &mut self,
        items: &mut [T],
        grain: usize,
        members: &mut [M],
        work: impl Fn(usize, &mut [T], usize, &mut M) + Sync,
    ) {
        assert!(members.len() >= self.count(), "one for each member of the team");
        let (items, members, next) = (Shared::new(items), Shared::new(members), AtomicUsize::new(0));
        self.run(|worker| {
            // SAFETY: in bounds as asserted, and every member has an index of its own.
            let own = unsafe { &mut *members.at(worker.index) };
            while let Some(block) = take(&next, items.len().div_ceil(grain)) {
                let range = block * grain..((block + 1) * grain).min(items.len());
                // SAFETY: in bounds, and the counter gives every block to one member once.
                work(block, unsafe { items.part(range) }, worker.index, own);
            }
        });
    }

    /// Calls `work(item, part, own)` for every item, where `part` is its range of `all`, one of `ranges`. Each member has the items whose ranges are in its
    /// share, so that it keeps what it worked on last; `own` is what it has for itself, one of `members`, of which there are enough.
    ///
    /// # Panics
    /// If the ranges overlap, or are not in order.
    pub fn for_each_part<T: Send, U: Send, M: Send>(
        &mut self,
        items: &mut [T],
        ranges: &[Range<usize>],
        all: &mut [U],
        members: &mut [M],
        work: impl Fn(&mut T, &mut [U], &mut M) + Sync,
    ) {
        assert!(members.len() >= self.count(), "one for each member of the team");
        let end = ranges.iter().fold(0, |end, range| {
            assert!(end <= range.start && range.start <= range.end, "parts overlap");
            range.end
        });
        assert!(end <= all.len() && items.len() == ranges.len());
        let (items, all, members) = (Shared::new(items), Shared::new(all), Shared::new(members));
        self.run(|worker| {
            // SAFETY: in bounds as asserted, and every member has an index of its own.
            let own = unsafe { &mut *members.at(worker.index) };
            for (i, range) in ranges.iter().enumerate() {
                let share = (range.start + range.end) * worker.count / (2 * end).max(1);
                if share.min(worker.count - 1) == worker.index {
                    // SAFETY: in bounds, and the middle of a range is in the share of one member.
                    let item = unsafe { &mut *items.at(i) };
                    // SAFETY: in bounds, and ranges do not overlap, as asserted.
                    work(item, unsafe { all.part(range.clone()) }, own);
                }
            }
        });
    }

    /// Cuts `items` into one piece a member (in multiples of `grain`) and calls `work(first index, piece)`.
    pub fn for_each_chunk<T: Send>(
        &mut self,
        items: &mut [T],
        grain: usize,
        work: impl Fn(usize, &mut [T]) + Sync,
    ) {
        let shared = Shared::new(items);
        self.run(|worker| {
            let range = worker.share(shared.len(), grain);
            // SAFETY: `share` gives each member a range of its own, within the length.
            let part = unsafe { shared.part(range.clone()) };
            work(range.start, part);
        });
    }

    /// The same over two slices of equal length, cut at the same places.
    pub fn for_each_chunk2<T: Send, U: Send>(
        &mut self,
        a: &mut [T],
        b: &mut [U],
        grain: usize,
        work: impl Fn(usize, &mut [T], &mut [U]) + Sync,
    ) {
        self.for_each_chunk3(a, b, &mut [], grain, |first, a, b, _: &mut [()]| work(first, a, b));
    }

    /// The same over three; the third may be empty.
    pub fn for_each_chunk3<T: Send, U: Send, V: Send>(
        &mut self,
        a: &mut [T],
        b: &mut [U],
        c: &mut [V],
        grain: usize,
        work: impl Fn(usize, &mut [T], &mut [U], &mut [V]) + Sync,
    ) {
        assert!(a.len() == b.len() && (a.len() == c.len() || c.is_empty()));
        let (a, b, c) = (Shared::new(a), Shared::new(b), Shared::new(c));
        self.run(|worker| {
            let range = worker.share(a.len(), grain);
            let range_c = if c.is_empty() { 0..0 } else { range.clone() };
            // SAFETY: as in `for_each_chunk`; the slices have that length, or the range is empty.
            let (pa, pb, pc) = unsafe { (a.part(range.clone()), b.part(range.clone()), c.part(range_c)) };
            work(range.start, pa, pb, pc);
        });
    }

    /// The same over three slices in pieces of exactly `grain` items (but for the last), and the sums of the two figures that
    /// `work` gives for each. Pieces are summed in order, so the sums do not depend on the number of threads. `partial` is room
    /// for the figures of the pieces.
    pub fn sum_chunks3<T: Send, U: Send, V: Send>(
        &mut self,
        a: &mut [T],
        b: &mut [U],
        c: &mut [V],
        grain: usize,
        partial: &mut Vec<[f64; 2]>,
        work: impl Fn(&mut [T], &mut [U], &mut [V]) -> [f64; 2] + Sync,
    ) -> [f64; 2] {
        assert!(a.len() == b.len() && a.len() == c.len());
        partial.clear();
        partial.resize(a.len().div_ceil(grain), [0.0; 2]);
        let (a, b, c) = (Shared::new(a), Shared::new(b), Shared::new(c));
        self.for_each_chunk(partial, 1, |first, partial| {
            for (i, partial) in partial.iter_mut().enumerate() {
                let start = (first + i) * grain;
                let range = start..(start + grain).min(a.len());
                // SAFETY: each piece belongs to one entry of `partial`, and that to one member.
                let (pa, pb, pc) = unsafe { (a.part(range.clone()), b.part(range.clone()), c.part(range)) };
                *partial = work(pa, pb, pc);
            }
        });
        partial.iter().fold([0.0; 2], |sum, part| [sum[0] + part[0], sum[1] + part[1]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_visited_once_by_any_number_of_threads() {
        for count in [1, 2, 3, 8] {
            let mut team = Team::new(count);
            let mut items = vec![0usize; 1001];
            for round in 1..50 {
                team.for_each_chunk(&mut items, 8, |first, part| {
                    for (i, item) in part.iter_mut().enumerate() {
                        assert!(first + i < 1001);
                        *item += 1;
                    }
                });
                assert!(items.iter().all(|&n| n == round));
            }
        }
    }

    #[test]
    fn every_item_is_handed_out_once() {
        for count in [1, 2, 3] {
            let mut items = vec![0usize; 501];
            Team::new(count).for_each_item(&mut items, |i, item| *item += i + 1);
            assert!(items.iter().enumerate().all(|(i, &item)| item == i + 1));
        }
    }

    #[test]
    fn every_block_is_handed_out_once() {
        for count in [1, 2, 3] {
            let (mut items, mut sums) = (vec![0usize; 501], vec![0; count]);
            Team::new(count).for_each_block(&mut items, 8, &mut sums, |block, items, member, sum| {
                assert!(member < count && items.len() == if block == 62 { 5 } else { 8 });
                items.iter_mut().enumerate().for_each(|(i, item)| *item += 8 * block + i + 1);
                *sum += items.len();
            });
            assert!(items.iter().enumerate().all(|(i, &item)| item == i + 1));
            assert_eq!(sums.iter().sum::<usize>(), 501);
        }
    }

    #[test]
    fn both_things_are_done() {
        for count in [1, 2, 3] {
            let (mut first, mut second) = (0, 0);
            Team::new(count).both(|| first += 1, || second += 2);
            assert_eq!((first, second), (1, 2));
        }
    }

    #[test]
    fn every_part_is_handed_out_once() {
        let ranges = [0..10, 10..30, 35..35, 40..41];
        for count in [1, 2, 3, 8] {
            let (mut items, mut all, mut members) = ([0; 4], [0; 50], vec![(); count]);
            Team::new(count).for_each_part(&mut items, &ranges, &mut all, &mut members, |item, part, _| {
                *item += 1;
                part.iter_mut().for_each(|one| *one += 1);
            });
            assert_eq!(items, [1; 4]);
            assert!((0..50).all(|i| all[i] == ranges.iter().any(|range| range.contains(&i)) as i32));
        }
    }

    #[test]
    fn a_barrier_separates_phases() {
        let mut team = Team::new(3);
        let phase = AtomicUsize::new(0);
        team.run(|worker| {
            for round in 0..100 {
                assert_eq!(phase.load(Ordering::SeqCst) / worker.count, round);
                worker.arrive();
                worker.wait(worker.arrivals());
                phase.fetch_add(1, Ordering::SeqCst);
                worker.arrive();
                worker.wait(worker.arrivals());
            }
        });
        assert_eq!(phase.load(Ordering::SeqCst), 300);
    }

    #[test]
    fn sleeping_helpers_wake_up() {
        let mut team = Team::new(2);
        std::thread::sleep(std::time::Duration::from_millis(30));
        let ran = AtomicUsize::new(0);
        team.run(|_| {
            ran.fetch_add(1, Ordering::SeqCst);
        });
        assert_eq!(ran.load(Ordering::SeqCst), 2);
    }
}
