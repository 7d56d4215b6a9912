//! The only SIMD of the engine: sweeps of one kind of constraint over coloured particles.
//!
//! A [`Kernel`] is the mathematics of one projection, over any [`Lane`]. A [`Sweep`] is a list of
//! *operations*, eight constraints each, in colours; it runs the kernel over all of them, colour after
//! colour, on every thread of a team. Two layouts of the particles can be swept:
//!
//! * [`Gathered`]: particles are `[x, y, z, w]`, each lane names its own (any mesh);
//! * [`Strips`]: a regular grid cut into eight strips, lane k holds strip k, so that an operation is
//!   N plain vector loads and stores (see `color/strips.rs`).
//!
//! # Why the `unsafe` here is sound
//! [`Sweep::new`] checks once, for every operation, that its particles exist and that no two
//! operations of a colour (nor two lanes of one) touch the same particle. After that, threads which work on
//! different operations of one colour never touch the same memory, and no index needs a check. Colours need not be
//! done everywhere before the next begins: `division.rs` finds, for every thread, the operations whose particles no other
//! thread touches in any colour, and only the rest, the border, is kept apart by waiting.
//! Operations and colours cannot be changed afterwards, but for [`Sweep::refill`], which checks again.
//!
//! Closures and iterator adaptors are kept out of the wide code on purpose: they are compiled without the
//! instruction set of their caller unless every layer is inlined, which costs a factor of ten when it fails.
#![allow(unsafe_code)]

mod layout;
#[macro_use]
mod level;
mod blocks;
mod boxes;
mod division;
mod particles;
mod pass;
mod staged;
mod stencils;
mod transpose;
mod triangles;

use std::collections::HashMap;

use fearless_simd::{f32x8, prelude::*};

use crate::lanes::{LANES, Lane, Point, SimdLevel, V3};
use crate::par::{Shared, Team};
use division::{Division, Share};
use pass::{Doing, Mode, Pass, scalar, wide};

pub use blocks::{BlockIndex, advance_blocks, advance_particles, load_blocks, store_blocks};
pub use boxes::{Boxes8, LEVELS, Patches, Reach, Tree, sort_row};
pub use layout::{Block, F8, Gathered, Layout, Particle, Strips};
pub use particles::{Contacting, ParticleKernel};
pub use stencils::{StencilKernel, eight_stencils, stencils};
pub use transpose::Transpose;
pub use triangles::{TriangleKernel, Triangles};

/// As many colours as there are.
const ALL_COLORS: usize = usize::MAX;
/// Operations that each member of a team should have in a colour on average; with fewer it takes longer to wait for the others than to do all alone.
const WORTH_SHARING: usize = 4;

/// The mathematics of one projection: N particles, P parameters, R multipliers.
pub trait Kernel<const N: usize, const P: usize, const R: usize>: Copy + Send + Sync {
    /// Whether it has any use for multipliers that were kept. Code that keeps them is not even compiled otherwise.
    const KEEPS: bool = true;
    /// Whether it takes so long that the next particles, gathered one by one, should be on their way before it begins. Where it does not, that costs more than it gains.
    const LONG: bool = false;
    /// Whether [`begin`](Self::begin) does a part of the work, up to a root or quotient that takes long. It is for kernels of which
    /// a processor should do several at a time.
    const SPLIT: bool = false;

    /// How far each point is to move; adds to the multipliers. With `FIRST` the multipliers are zero. Must be zero
    /// where the first parameter, the compliance, is infinite: so idle lanes are marked.
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        points: &[Point<L>; N],
        params: &[L; P],
        lambda: &mut [L; R],
    ) -> [V3<L>; N];

    /// The first half of [`correct`](Self::correct), of a kernel that is [`SPLIT`](Self::SPLIT).
    #[inline(always)]
    fn begin<L: Lane>(&self, points: &[Point<L>; N], _: &[L; P]) -> [L; 2] {
        [points[0].w; 2]
    }

    /// The second half, from what the first gave.
    #[inline(always)]
    fn finish<L: Lane, const FIRST: bool>(
        &self,
        points: &[Point<L>; N],
        params: &[L; P],
        _: [L; 2],
        lambda: &mut [L; R],
    ) -> [V3<L>; N] {
        self.correct::<L, FIRST>(points, params, lambda)
    }

    /// Moves the points there.
    #[inline(always)]
    fn project<L: Lane, const FIRST: bool>(
        &self,
        points: &mut [Point<L>; N],
        params: &[L; P],
        lambda: &mut [L; R],
    ) {
        let moves = self.correct::<L, FIRST>(points, params, lambda);
        for n in 0..N {
            points[n].p = points[n].p + moves[n];
        }
    }

    /// |C + α̃ λ|², what is left to solve.
    fn residual(&self, points: &[Point<f32>; N], params: &[f32; P], lambda: &[f32; R]) -> f64;
}

/// Constraints of one kind in colours, eight to an operation.
pub struct Sweep<O, const N: usize, const P: usize, const R: usize> {
    ops: Vec<O>,
    /// Which entry of `params` each operation uses. On a regular grid nearly all are alike, and a few entries that stay in
    /// the nearest cache serve for thousands of operations.
    set: Vec<u32>,
    params: Vec<[F8; P]>,
    lambda: Vec<[F8; R]>,
    /// The multipliers before the last pass, for methods with momentum; empty until they are used.
    before: Vec<[F8; R]>,
    /// Where each colour begins in `ops`, and the end.
    colors: Vec<usize>,
    division: Division,
    /// How many items the state must have.
    items: usize,
    /// How many of the lanes carry a real constraint.
    constraints: usize,
}

/// Remembers which particles a colour has.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// The last colour of each cell.
    seen: Vec<u32>,
    last: u32,
}

impl Marks {
    /// For so many cells.
    pub fn new(cells: usize) -> Self {
        Marks { seen: vec![0; cells], last: 0 }
    }

    /// A mark that none of `cells` cells has.
    fn next(&mut self, cells: usize) -> u32 {
        if self.seen.len() != cells || self.last == u32::MAX {
            self.seen.clear();
            self.seen.resize(cells, 0);
            self.last = 0;
        }
        self.last += 1;
        self.last
    }
}

impl<O: Layout<N>, const N: usize, const P: usize, const R: usize> Sweep<O, N, P, R> {
    /// Takes the operations colour by colour and checks the promise on which the sweep rests.
    ///
    /// # Panics
    /// If an operation leaves the state, or two of one colour touch the same particle.
    pub fn new(colors: Vec<Vec<(O, [F8; P])>>, items: usize) -> Self {
        let mut sweep = Sweep {
            ops: Vec::new(),
            set: Vec::new(),
            params: Vec::new(),
            lambda: Vec::new(),
            before: Vec::new(),
            colors: vec![0],
            division: Division::default(),
            items,
            constraints: 0,
        };
        let mut marks = Marks::default();
        let mut known: HashMap<[[u32; LANES]; P], u32> = HashMap::new();
        for list in colors {
            sweep.push_color(&mut marks, list, |param, fresh| match O::UNIFORM {
                true => *known.entry(param.map(|p| p.0.map(f32::to_bits))).or_insert(fresh),
                false => fresh,
            });
        }
        sweep
    }

    /// Whether multipliers are kept apart for each member of a team: where those of an operation do not fill lines of the cache, of which two hold four of [`F8`].
    const APART: bool = R % 2 == 1;

    /// Shares operations out among a team, unless that is done; says whether it is worth it to share them. Multipliers of operations that were shared out otherwise go along.
    fn share_out(&mut self, team: &Team) -> bool {
        let together = self.ops.len() >= WORTH_SHARING * self.colors() * team.count();
        let members = if together { team.count() } else { 1 };
        let cells = O::cell_count(self.items);
        let before = self.division.members();
        let others = before > 0 && before != members;
        let known: Vec<[F8; R]> =
            if others { self.places().map(|place| self.lambda[place]).collect() } else { Vec::new() };
        let room = self.division.divide(members, &self.ops, &self.colors, cells, Self::APART);
        if self.lambda.len() < room {
            self.lambda.resize(room, [F8([0.0; LANES]); R]);
        }
        if others {
            self.lambda.fill([F8([0.0; LANES]); R]);
            let places: Vec<usize> = self.places().collect();
            places.into_iter().zip(known).for_each(|(place, own)| self.lambda[place] = own);
        }
        together
    }

    /// Where among all multipliers those of each operation are, in the order of operations: threads keep theirs apart from those of others.
    fn places(&self) -> impl Iterator<Item = usize> {
        let shares = self.division.shares();
        let places = shares.iter().flat_map(Share::memory);
        // Before they are shared out.
        places.chain(if shares.is_empty() { 0..self.ops.len() } else { 0..0 })
    }

    /// All multipliers, where [`list_places`](Self::list_places) says. Some belong to no operation, and stay zero.
    pub fn multipliers(&self) -> &[[F8; R]] {
        &self.lambda
    }

    /// The same, to be changed.
    pub fn multipliers_mut(&mut self) -> &mut [[F8; R]] {
        &mut self.lambda
    }

    /// Arranges multipliers for a team. They stay where they are until operations change, or the team.
    pub fn arrange(&mut self, team: &Team) {
        if !self.ops.is_empty() {
            self.share_out(team);
        }
    }

    /// Lists where among all multipliers those of each operation are.
    pub fn list_places(&self, places: &mut Vec<usize>) {
        places.clear();
        places.extend(self.places());
    }

    /// Adds the operations of one more colour. `entry` says which parameters of all so far are the same as some, or
    /// gives back the number of the next.
    fn push_color(
        &mut self,
        marks: &mut Marks,
        list: impl IntoIterator<Item = (O, [F8; P])>,
        mut entry: impl FnMut(&[F8; P], u32) -> u32,
    ) {
        let mark = marks.next(O::cell_count(self.items));
        for (op, param) in list {
            op.each_cell(|cell| {
                assert!(marks.seen[cell] != mark, "two operations of one colour share a particle");
                marks.seen[cell] = mark;
            });
            self.constraints += param[0].0.iter().filter(|c| c.is_finite()).count();
            self.ops.push(op);
            let fresh = self.params.len() as u32;
            let entry = entry(&param, fresh);
            if entry == fresh {
                self.params.push(param);
            }
            assert!((entry as usize) < self.params.len());
            self.set.push(entry);
        }
        self.lambda.resize(self.ops.len(), [F8([0.0; LANES]); R]);
        if self.colors.last() != Some(&self.ops.len()) {
            self.colors.push(self.ops.len());
        }
    }

    /// Replaces everything by other operations, colour by colour, in the same memory; all multipliers are zero.
    ///
    /// # Panics
    /// As [`Sweep::new`].
    pub fn refill<L: IntoIterator<Item = (O, [F8; P])>>(
        &mut self,
        marks: &mut Marks,
        colors: impl IntoIterator<Item = L>,
    ) {
        self.ops.clear();
        self.set.clear();
        self.params.clear();
        self.lambda.clear();
        self.before.clear();
        self.colors.truncate(1);
        self.division.forget();
        self.constraints = 0;
        for list in colors {
            self.push_color(marks, list, |_, fresh| fresh);
        }
    }

    /// Says where operations are, from 0 to 1, for how they are shared among the members of a team; else that is found out.
    pub fn place(&mut self, places: impl Iterator<Item = f32>) {
        self.division.place(places);
        assert_eq!(self.division.places(), self.ops.len(), "one place for each operation");
    }

    /// Makes room for so many operations in so many colours, shared among so many members of a team, so that none has to be asked for when they come.
    pub fn reserve(&mut self, ops: usize, colors: usize, members: usize) {
        self.ops.reserve(ops);
        self.set.reserve(ops);
        self.params.reserve(ops);
        self.lambda.reserve(ops);
        self.colors.reserve(colors);
        self.division.reserve(ops, colors * members, O::cell_count(self.items));
    }

    /// The number of colours.
    pub fn colors(&self) -> usize {
        self.colors.len() - 1
    }

    /// The number of constraints.
    pub fn constraints(&self) -> usize {
        self.constraints
    }

    /// Σ |C + α̃ λ|² over all constraints, in a fixed order.
    pub fn residual<K: Kernel<N, P, R>>(&self, state: &mut [O::Item], kernel: K) -> f64 {
        assert!(state.len() >= self.items);
        let state = Shared::new(state);
        let mut sum = 0.0;
        for ((op, &set), place) in self.ops.iter().zip(&self.set).zip(self.places()) {
            let (params, lambda) = (&self.params[set as usize], &self.lambda[place]);
            for lane in (0..LANES).filter(|&lane| params[0].0[lane].is_finite()) {
                // SAFETY: in bounds by the check in `new`, and the borrow is exclusive.
                let points = unsafe { op.load_lane(lane, &state) };
                let params = std::array::from_fn(|i| params[i].0[lane]);
                sum += kernel.residual(&points, &params, &std::array::from_fn(|r| lambda[r].0[lane]));
            }
        }
        sum
    }

    /// Changes parameters. Operations with equal parameters share them, so the new ones may depend on the old alone.
    pub fn update_params(&mut self, change: impl FnMut(&mut [F8; P])) {
        self.params.iter_mut().for_each(change);
    }

    /// Projects every constraint once, each on what the ones before it left (Gauss–Seidel).
    pub fn run<K: Kernel<N, P, R>>(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        state: &mut [O::Item],
        kernel: K,
        keep: Keep,
    ) {
        self.run_first(team, level, state, kernel, keep, ALL_COLORS);
    }

    /// The same for those of the first `colors` colours.
    pub fn run_first<K: Kernel<N, P, R>>(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        state: &mut [O::Item],
        kernel: K,
        keep: Keep,
        colors: usize,
    ) {
        let state = &Shared::new(state);
        let over = Over { level, state, target: state, kernel, blend: Blend::PLAIN, colors };
        if K::KEEPS {
            match (keep.read, keep.write) {
                (false, true) => {
                    return self.pass(Doing::<false, true, false, false>, team, over);
                }
                (true, true) => {
                    return self.pass(Doing::<true, true, false, false>, team, over);
                }
                (true, false) => {
                    return self.pass(Doing::<true, false, false, false>, team, over);
                }
                (false, false) => {}
            }
        }
        self.pass(Doing::<false, false, false, false>, team, over)
    }

    /// Adds the corrections of all constraints to `sums`, each computed from `state` as it is (Jacobi). Multipliers that are kept
    /// change as `blend` says; the corrections are whole.
    pub fn accumulate<K: Kernel<N, P, R>>(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        state: &mut [O::Item],
        sums: &mut [O::Item],
        kernel: K,
        blend: Blend,
    ) {
        let (state, sums) = (&Shared::new(state), &Shared::new(sums));
        let over = Over { level, state, target: sums, kernel, blend, colors: ALL_COLORS };
        if K::KEEPS {
            let momentum = blend != Blend { keep: blend.keep, ..Blend::PLAIN };
            match (blend.keep.read, blend.keep.write, momentum) {
                (false, true, false) => {
                    return self.pass(Doing::<false, true, true, false>, team, over);
                }
                (false, true, true) => {
                    return self.pass(Doing::<false, true, true, true>, team, over);
                }
                (true, true, false) => {
                    return self.pass(Doing::<true, true, true, false>, team, over);
                }
                (true, true, true) => {
                    return self.pass(Doing::<true, true, true, true>, team, over);
                }
                (true, false, _) => {
                    return self.pass(Doing::<true, false, true, false>, team, over);
                }
                (false, false, _) => {}
            }
        }
        self.pass(Doing::<false, false, true, false>, team, over)
    }

    fn pass<K: Kernel<N, P, R>, M: Mode>(&mut self, mode: M, team: &mut Team, over: Over<'_, O::Item, K>) {
        let Over { level, state, target, kernel, blend, colors: first } = over;
        // A state may have more, which is then left alone.
        assert!(state.len() >= self.items && target.len() >= self.items);
        if self.ops.is_empty() {
            return;
        }
        let together = self.share_out(team);
        if M::MOMENTUM && self.before.len() < self.lambda.len() {
            self.before.resize(self.lambda.len(), [F8([0.0; LANES]); R]);
        }
        let (ops, set, params) = (&self.ops[..], &self.set[..], &self.params[..]);
        let (lambda, before) = (&Shared::new(&mut self.lambda), &Shared::new(&mut self.before));
        let shares = self.division.shares();
        let shares = &shares[..first.saturating_mul(self.division.members()).min(shares.len())];
        // Where nobody waits and nothing is loaded ahead, one colour simply follows the other.
        let all = Share::new(0..shares.last().map_or(0, |share| share.all.end));
        let shares = if together || K::LONG || K::SPLIT { shares } else { std::slice::from_ref(&all) };
        team.run_if(together, |worker| {
            let pass = Pass { ops, set, params, lambda, before, state, target, blend, shares, worker };
            // SAFETY: by the check in `new`, no two operations of a colour touch the same cells. Operations of other
            // colours that do are this member's own, or wait until it has arrived.
            unsafe {
                match level {
                    SimdLevel::Scalar => scalar(&pass, kernel, mode),
                    SimdLevel::Wide(level) => wide(level, &pass, kernel, mode),
                }
            }
        });
        if M::MOMENTUM {
            // What was written over is older than what was read.
            std::mem::swap(&mut self.lambda, &mut self.before);
        }
    }
}

/// What a pass goes over, and how.
struct Over<'a, I, K> {
    level: SimdLevel,
    state: &'a Shared<'a, I>,
    /// The state itself, or the sums of a Jacobi pass.
    target: &'a Shared<'a, I>,
    kernel: K,
    blend: Blend,
    /// Only so many of the first.
    colors: usize,
}

/// What a pass does with the multipliers. Of the iterations of a substep the first need not read them, since they are zero, and the
/// last need not write them: with few iterations that saves much of what multipliers cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Whether they are read; otherwise each begins from zero.
    pub read: bool,
    /// Whether they are written; otherwise each is forgotten.
    pub write: bool,
}

impl Keep {
    /// Neither read nor written, which is all that one iteration needs.
    pub const NOTHING: Keep = Keep { read: false, write: false };
    /// Read and written.
    pub const ALL: Keep = Keep { read: true, write: true };

    /// What iteration `k` of `n` needs, the first being 0, if after the last they are wanted or not.
    pub fn within(k: u32, n: u32, wanted: bool) -> Keep {
        Keep { read: k > 0, write: k + 1 < n || wanted }
    }
}

/// How changes computed side by side are applied: change ← rate · correction + momentum · last change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blend {
    /// Factor of the correction.
    pub rate: f32,
    /// Factor of the last change.
    pub momentum: f32,
    /// Whether the next pass needs this one's changes.
    pub recall: bool,
    /// What is done with the multipliers.
    pub keep: Keep,
}

impl Blend {
    /// Writes multipliers that have momentum, in the place of those before the last pass. With `READ` they were `now` until this pass, else zero.
    #[inline(always)]
    fn remember<S: Simd, const R: usize, M: Mode>(
        &self,
        simd: S,
        now: [f32x8<S>; R],
        new: [f32x8<S>; R],
        lambda: &mut [F8; R],
        before: &mut [F8; R],
    ) {
        let (rate, momentum) = (f32x8::splat(simd, self.rate), f32x8::splat(simd, self.momentum));
        for r in 0..R {
            if M::READ {
                let last = now[r] - f32x8::simd_from(simd, before[r].0);
                let change = (new[r] - now[r]) * rate + last * momentum;
                before[r].0 = (now[r] + change).into();
            } else {
                lambda[r].0 = [0.0; LANES];
                before[r].0 = (new[r] * rate).into();
            }
        }
    }

    /// Each correction as it is, and no multipliers.
    pub const PLAIN: Blend = Blend { rate: 1.0, momentum: 0.0, recall: false, keep: Keep::NOTHING };
}
