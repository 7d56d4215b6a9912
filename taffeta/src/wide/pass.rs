//! A pass over all colours, as one member of a team does it.

use std::ops::Range;

use fearless_simd::{Level, f32x8, prelude::*};

use super::division::Share;
use super::{Blend, F8, Kernel, Layout, Transpose, layout, staged};
use crate::lanes::{LANES, Point};
use crate::par::{Shared, Worker};

/// Operations whose particles are loaded before the first of them is computed, where computing takes long.
const AHEAD: usize = 8;

/// What is done with multipliers and corrections, known when it is compiled.
pub(super) trait Mode: Copy + Sync {
    /// Whether multipliers are read, or else begin from zero.
    const READ: bool;
    /// Whether they are written, or else forgotten.
    const WRITE: bool;
    /// Whether corrections are added up elsewhere, and not made.
    const JACOBI: bool;
    /// Whether multipliers have momentum.
    const MOMENTUM: bool;
}

/// A [`Mode`].
#[derive(Clone, Copy)]
pub(super) struct Doing<const READ: bool, const WRITE: bool, const JACOBI: bool, const MOMENTUM: bool>;

impl<const READ: bool, const WRITE: bool, const JACOBI: bool, const MOMENTUM: bool> Mode
    for Doing<READ, WRITE, JACOBI, MOMENTUM>
{
    const READ: bool = READ;
    const WRITE: bool = WRITE;
    const JACOBI: bool = JACOBI;
    const MOMENTUM: bool = MOMENTUM;
}

/// What one member of a team does in a pass, colour by colour. All of it is one call: one for each share, of ten operations or so, would take as long as two of them.
pub(super) struct Pass<'a, O: Layout<N>, const N: usize, const P: usize, const R: usize> {
    pub ops: &'a [O],
    pub set: &'a [u32],
    pub params: &'a [[F8; P]],
    pub lambda: &'a Shared<'a, [F8; R]>,
    pub before: &'a Shared<'a, [F8; R]>,
    pub state: &'a Shared<'a, O::Item>,
    pub target: &'a Shared<'a, O::Item>,
    pub blend: Blend,
    /// Those of all members.
    pub shares: &'a [Share],
    pub worker: &'a Worker<'a>,
}

impl<'a, O: Layout<N>, const N: usize, const P: usize, const R: usize> Pass<'a, O, N, P, R> {
    /// What the member does of a colour, when what it needs for that is done; `begin` is how often it had arrived before the pass.
    ///
    /// # Safety
    /// Parts of other colours are not used any more.
    #[inline(always)]
    unsafe fn part(&self, color: usize, begin: usize, momentum: bool) -> Option<Part<'a, O, N, P, R>> {
        let share = self.shares.get(color * self.worker.count + self.worker.index)?;
        if share.after > 0 {
            self.worker.wait(begin.wrapping_add(share.after));
        }
        let memory = share.memory();
        // SAFETY: what shares remember does not overlap; there is one multiplier for each operation, and one before it
        // where it is used.
        let (lambda, before) = unsafe {
            let used = if momentum { memory.clone() } else { 0..0 };
            (self.lambda.part(memory), self.before.part(used))
        };
        let first = share.all.start;
        Some(Part {
            ops: &self.ops[share.all.clone()],
            set: &self.set[share.all.clone()],
            params: self.params,
            lambda,
            before,
            state: self.state,
            target: self.target,
            blend: self.blend,
            own: share.own.start - first..share.own.end - first,
            worker: self.worker,
        })
    }
}

/// One thread's share of one colour.
pub(super) struct Part<'a, O: Layout<N>, const N: usize, const P: usize, const R: usize> {
    pub ops: &'a [O],
    pub set: &'a [u32],
    pub params: &'a [[F8; P]],
    pub lambda: &'a mut [[F8; R]],
    /// Empty unless multipliers have momentum; the new ones go there.
    pub before: &'a mut [[F8; R]],
    pub state: &'a Shared<'a, O::Item>,
    /// The state itself, or the sums of a Jacobi pass.
    pub target: &'a Shared<'a, O::Item>,
    pub blend: Blend,
    /// Those that nobody waits for. All others, the border, come first.
    own: Range<usize>,
    worker: &'a Worker<'a>,
}

impl<O: Layout<N>, const N: usize, const P: usize, const R: usize> Part<'_, O, N, P, R> {
    /// What comes before and after what is own.
    #[inline(always)]
    fn border(&self) -> [Range<usize>; 2] {
        [0..self.own.start, self.own.end..self.ops.len()]
    }

    /// The operation that comes after so many: from the end of what is own to the last, and on from the first, so that the border comes first.
    #[inline(always)]
    pub fn after(&self, done: usize) -> usize {
        let i = done + self.own.end;
        if i < self.ops.len() { i } else { i - self.ops.len() }
    }

    /// The same. If by then the border is done, that is said to the others.
    #[inline(always)]
    pub fn next(&self, done: usize) -> usize {
        if done == self.ops.len() - self.own.len() {
            self.worker.arrive();
        }
        self.after(done)
    }

    /// Says that all is done, if all was border.
    #[inline(always)]
    pub fn end(&self) {
        if self.own.is_empty() {
            self.worker.arrive();
        }
    }
}

/// # Safety
/// The cells of the operations are in bounds. Those of one colour share none, and no other thread touches them unless one of the two has arrived and the other waits for that.
pub(super) unsafe fn wide<O, K, M, const N: usize, const P: usize, const R: usize>(
    level: Level,
    pass: &Pass<'_, O, N, P, R>,
    kernel: K,
    mode: M,
) where
    O: Layout<N>,
    K: Kernel<N, P, R>,
    M: Mode,
{
    #[inline(always)]
    unsafe fn body<S, O, K, M, const N: usize, const P: usize, const R: usize>(
        simd: S,
        pass: &Pass<'_, O, N, P, R>,
        kernel: K,
        mode: M,
    ) where
        S: Transpose,
        O: Layout<N>,
        K: Kernel<N, P, R>,
        M: Mode,
    {
        let begin = pass.worker.arrivals();
        let mut loaded = [[layout::zero_point(simd); N]; AHEAD];
        let mut color = 0;
        // SAFETY: the part before is not used any more.
        while let Some(mut part) = unsafe { pass.part(color, begin, M::MOMENTUM) } {
            color += 1;
            let part = &mut part;
            // SAFETY: passed on; operations of one colour share no particles.
            unsafe {
                if K::SPLIT && S::ROOMY && !O::UNIFORM {
                    staged::staged(simd, part, kernel, mode);
                } else if K::LONG && !O::UNIFORM {
                    loaded_ahead(simd, part, &mut loaded, kernel, mode);
                } else {
                    for range in part.border() {
                        one_by_one(simd, part, range, kernel, mode);
                    }
                    part.worker.arrive();
                    let own = part.own.clone();
                    one_by_one(simd, part, own, kernel, mode);
                }
            }
        }
    }
    on_level!(
        with all level,
        // SAFETY: passed on.
        simd => unsafe { body(simd, pass, kernel, mode) },
        // SAFETY: passed on.
        otherwise unsafe { scalar(pass, kernel, mode) }
    );
}

/// Some operations of a part.
///
/// # Safety
/// As for [`wide`].
#[inline(always)]
unsafe fn one_by_one<S, O, K, M, const N: usize, const P: usize, const R: usize>(
    simd: S,
    part: &mut Part<'_, O, N, P, R>,
    range: Range<usize>,
    kernel: K,
    mode: M,
) where
    S: Transpose,
    O: Layout<N>,
    K: Kernel<N, P, R>,
    M: Mode,
{
    let (ops, set) = (&part.ops[range.clone()], &part.set[range.clone()]);
    let before = &mut part.before[if M::MOMENTUM { range.clone() } else { 0..0 }];
    for (i, ((op, &set), lambda)) in ops.iter().zip(set).zip(&mut part.lambda[range]).enumerate() {
        // SAFETY: passed on.
        let points = unsafe { op.load(simd, part.state) };
        let before = if M::MOMENTUM { Some(&mut before[i]) } else { None };
        let values = staged::values(simd, part.params, set);
        // SAFETY: passed on.
        unsafe { solve(simd, op, points, values, lambda, before, part.target, part.blend, kernel, mode) };
    }
}

/// All operations of a part, several of them `loaded` before the first is solved.
///
/// # Safety
/// As for [`wide`].
#[inline(always)]
unsafe fn loaded_ahead<S, O, K, M, const N: usize, const P: usize, const R: usize>(
    simd: S,
    part: &mut Part<'_, O, N, P, R>,
    loaded: &mut [[Point<f32x8<S>>; N]; AHEAD],
    kernel: K,
    mode: M,
) where
    S: Transpose,
    O: Layout<N>,
    K: Kernel<N, P, R>,
    M: Mode,
{
    let mut chunk = 0..0;
    for done in 0..part.ops.len() {
        if done == chunk.end {
            chunk = done..(done + AHEAD).min(part.ops.len());
            for k in 0..chunk.len() {
                // SAFETY: passed on. Operations of one colour share no particles, so those before it change nothing here.
                loaded[k] = unsafe { part.ops[part.after(done + k)].load(simd, part.state) };
            }
        }
        let i = part.next(done);
        let points = loaded[done - chunk.start];
        let before = if M::MOMENTUM { Some(&mut part.before[i]) } else { None };
        let values = staged::values(simd, part.params, part.set[i]);
        let lambda = &mut part.lambda[i];
        // SAFETY: passed on.
        unsafe {
            solve(simd, &part.ops[i], points, values, lambda, before, part.target, part.blend, kernel, mode)
        };
    }
    part.end();
}

/// One operation whose points are loaded.
///
/// # Safety
/// As for [`wide`].
#[inline(always)]
unsafe fn solve<S, O, K, M, const N: usize, const P: usize, const R: usize>(
    simd: S,
    op: &O,
    mut points: [Point<f32x8<S>>; N],
    values: [f32x8<S>; P],
    lambda: &mut [F8; R],
    before: Option<&mut [F8; R]>,
    target: &Shared<'_, O::Item>,
    blend: Blend,
    kernel: K,
    _: M,
) where
    S: Transpose,
    O: Layout<N>,
    K: Kernel<N, P, R>,
    M: Mode,
{
    let mut multipliers = [f32x8::splat(simd, 0.0); R];
    if M::READ {
        for r in 0..R {
            multipliers[r] = f32x8::simd_from(simd, lambda[r].0);
        }
    }
    let now = multipliers;
    let moves = if M::READ || M::WRITE {
        kernel.correct::<_, false>(&points, &values, &mut multipliers)
    } else {
        kernel.correct::<_, true>(&points, &values, &mut multipliers)
    };
    if M::JACOBI {
        // SAFETY: passed on.
        unsafe { op.add(target, &moves) };
    } else {
        for n in 0..N {
            points[n].p = points[n].p + moves[n];
        }
        // SAFETY: passed on.
        unsafe { op.store(target, &points) };
    }
    if !M::WRITE {
        return;
    }
    if let Some(before) = before {
        blend.remember::<_, R, M>(simd, now, multipliers, lambda, before);
    } else {
        for r in 0..R {
            lambda[r].0 = multipliers[r].into();
        }
    }
}

/// # Safety
/// As for [`wide`].
pub(super) unsafe fn scalar<O, K, M, const N: usize, const P: usize, const R: usize>(
    pass: &Pass<'_, O, N, P, R>,
    kernel: K,
    _: M,
) where
    O: Layout<N>,
    K: Kernel<N, P, R>,
    M: Mode,
{
    let (begin, mut color) = (pass.worker.arrivals(), 0);
    // SAFETY: the part before is not used any more.
    while let Some(part) = unsafe { pass.part(color, begin, M::MOMENTUM) } {
        color += 1;
        for done in 0..part.ops.len() {
            let i = part.next(done);
            let (op, params) = (&part.ops[i], &part.params[part.set[i] as usize]);
            for lane in 0..LANES {
                let lambda = &mut part.lambda[i];
                // SAFETY: passed on.
                let mut points = unsafe { op.load_lane(lane, part.state) };
                let params: [f32; P] = std::array::from_fn(|i| params[i].0[lane]);
                let mut multipliers = [0.0; R];
                if M::READ {
                    multipliers = std::array::from_fn(|r| lambda[r].0[lane]);
                }
                let now = multipliers;
                let moves = if M::READ || M::WRITE {
                    kernel.correct::<_, false>(&points, &params, &mut multipliers)
                } else {
                    kernel.correct::<_, true>(&points, &params, &mut multipliers)
                };
                if M::JACOBI {
                    // SAFETY: passed on.
                    unsafe { op.add_lane(lane, part.target, &moves) };
                } else {
                    for n in 0..N {
                        points[n].p = points[n].p + moves[n];
                    }
                    // SAFETY: passed on.
                    unsafe { op.store_lane(lane, part.target, &points) };
                }
                if M::WRITE {
                    for r in 0..R {
                        if !M::MOMENTUM {
                            lambda[r].0[lane] = multipliers[r];
                        } else if M::READ {
                            let last = now[r] - part.before[i][r].0[lane];
                            let change =
                                (multipliers[r] - now[r]) * part.blend.rate + last * part.blend.momentum;
                            part.before[i][r].0[lane] = now[r] + change;
                        } else {
                            lambda[r].0[lane] = 0.0;
                            part.before[i][r].0[lane] = multipliers[r] * part.blend.rate;
                        }
                    }
                }
            }
        }
        part.end();
    }
}
