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
//! different operations of one colour never touch the same memory, and no index needs a check.
//! Operations and colours cannot be changed afterwards.
//!
//! Closures and iterator adaptors are kept out of the wide code on purpose: they are compiled without the
//! instruction set of their caller unless every layer is inlined, which costs a factor of ten when it fails.
#![allow(unsafe_code)]

use std::collections::HashMap;

use fearless_simd::{Level, Simd, f32x4, f32x8, prelude::*};

use crate::lanes::{LANES, Lane, Point, SimdLevel, V3};
use crate::mesh::NONE;
use crate::par::{Shared, Team};
use crate::transpose::Transpose;

/// The mathematics of one projection: N particles, P parameters, R multipliers.
pub trait Kernel<const N: usize, const P: usize, const R: usize>: Copy + Send + Sync {
    /// Moves the points and adds to the multipliers. With `FIRST` the multipliers are zero. Must leave the
    /// points as they are, and finite, where the first parameter, the compliance, is infinite: so idle
    /// lanes are marked.
    fn project<L: Lane, const FIRST: bool>(
        &self,
        points: &mut [Point<L>; N],
        params: &[L; P],
        lambda: &mut [L; R],
    );

    /// |C + α̃ λ|², what is left to solve.
    fn residual(&self, points: &[Point<f32>; N], params: &[f32; P], lambda: &[f32; R]) -> f64;
}

/// One number for each lane.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct F8(pub [f32; LANES]);

/// A particle in memory: position (m) and inverse mass (1/kg).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(16))]
pub struct Particle {
    /// Position, m.
    pub p: [f32; 3],
    /// Inverse mass, 1/kg; 0 where the particle is held.
    pub w: f32,
}

impl Particle {
    /// All four numbers. Code that treats them alike is compiled to vector instructions.
    #[inline(always)]
    pub fn to_array(self) -> [f32; 4] {
        [self.p[0], self.p[1], self.p[2], self.w]
    }

    /// From all four numbers.
    #[inline(always)]
    pub fn from_array([x, y, z, w]: [f32; 4]) -> Self {
        Particle { p: [x, y, z], w }
    }
}

/// Eight particles, one of each strip, component by component.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Block {
    /// The x of each lane.
    pub x: F8,
    /// The y of each lane.
    pub y: F8,
    /// The z of each lane.
    pub z: F8,
    /// The inverse mass of each lane.
    pub w: F8,
}

impl Default for Block {
    fn default() -> Self {
        let zero = F8([0.0; LANES]);
        Block { x: zero, y: zero, z: zero, w: zero }
    }
}

/// How an operation finds its particles in memory.
///
/// # Safety
/// `cells` lists every memory cell (an index below `cell_count(items)`) that an operation reads or writes, and
/// the loads and stores touch no other. A cell belongs to exactly one item.
pub unsafe trait Layout<const N: usize>: Sized + Send + Sync {
    /// What the state is an array of.
    type Item: Send;
    /// Whether many operations have the same parameters.
    const UNIFORM: bool;
    /// How many cells `items` items have.
    fn cell_count(items: usize) -> usize;
    /// The cells this operation touches.
    fn cells(&self) -> Vec<usize>;
    /// All points of the operation.
    ///
    /// # Safety
    /// The cells are in bounds and no other thread writes them.
    unsafe fn load<S: Transpose>(&self, simd: S, state: &Shared<'_, Self::Item>) -> [Point<f32x8<S>>; N];
    /// Puts the positions back.
    ///
    /// # Safety
    /// The cells are in bounds and no other thread uses them.
    unsafe fn store<S: Transpose>(&self, state: &Shared<'_, Self::Item>, points: &[Point<f32x8<S>>; N]);
    /// The points of one lane.
    ///
    /// # Safety
    /// As for `load`.
    unsafe fn load_lane(&self, lane: usize, state: &Shared<'_, Self::Item>) -> [Point<f32>; N];
    /// Puts the positions of one lane back.
    ///
    /// # Safety
    /// As for `store`.
    unsafe fn store_lane(&self, lane: usize, state: &Shared<'_, Self::Item>, points: &[Point<f32>; N]);
}

/// Each lane names its own particles: `[particle of the constraint][lane]`, as offsets in bytes, which saves a shift at every
/// access.
#[derive(Clone, Copy, Debug)]
pub struct Gathered<const N: usize>([[u32; LANES]; N]);

impl<const N: usize> Gathered<N> {
    /// From particle numbers.
    pub fn new(particles: [[u32; LANES]; N]) -> Self {
        let offset = |i: u32| i.checked_mul(PARTICLE).expect("fewer than 268 million particles");
        Gathered(particles.map(|lanes| lanes.map(offset)))
    }

    /// The address of a particle.
    ///
    /// # Safety
    /// The particle is in bounds.
    #[inline(always)]
    unsafe fn at(&self, n: usize, lane: usize, state: &Shared<'_, Particle>) -> *mut Particle {
        // SAFETY: in bounds by contract; the offset is a multiple of the size.
        unsafe { state.at(0).byte_add(self.0[n][lane] as usize) }
    }
}

/// Bytes of a particle.
const PARTICLE: u32 = size_of::<Particle>() as u32;

// SAFETY: a cell is a particle; loads and stores use exactly the particles named.
unsafe impl<const N: usize> Layout<N> for Gathered<N> {
    type Item = Particle;
    const UNIFORM: bool = false;

    fn cell_count(items: usize) -> usize {
        items
    }

    fn cells(&self) -> Vec<usize> {
        self.0.iter().flatten().map(|&offset| (offset / PARTICLE) as usize).collect()
    }

    #[inline(always)]
    unsafe fn load<S: Transpose>(&self, simd: S, state: &Shared<'_, Particle>) -> [Point<f32x8<S>>; N] {
        let mut points = [zero_point(simd); N];
        for n in 0..N {
            let mut rows = [f32x4::splat(simd, 0.0); LANES];
            for lane in 0..LANES {
                // SAFETY: in bounds by contract; a particle is four floats.
                let row = unsafe { &*self.at(n, lane, state).cast::<[f32; 4]>() };
                rows[lane] = f32x4::simd_from(simd, *row);
            }
            let [x, y, z, w] = simd.to_columns(rows);
            points[n] = Point { p: V3 { x, y, z }, w };
        }
        points
    }

    #[inline(always)]
    unsafe fn store<S: Transpose>(&self, state: &Shared<'_, Particle>, points: &[Point<f32x8<S>>; N]) {
        for n in 0..N {
            let Point { p, w } = points[n];
            let rows = p.x.simd.to_rows([p.x, p.y, p.z, w]);
            for lane in 0..LANES {
                // SAFETY: in bounds and ours by contract.
                unsafe { *self.at(n, lane, state).cast::<[f32; 4]>() = rows[lane].into() };
            }
        }
    }

    #[inline(always)]
    unsafe fn load_lane(&self, lane: usize, state: &Shared<'_, Particle>) -> [Point<f32>; N] {
        std::array::from_fn(|n| {
            // SAFETY: in bounds by contract.
            let Particle { p, w } = unsafe { *self.at(n, lane, state) };
            Point { p: V3 { x: p[0], y: p[1], z: p[2] }, w }
        })
    }

    #[inline(always)]
    unsafe fn store_lane(&self, lane: usize, state: &Shared<'_, Particle>, points: &[Point<f32>; N]) {
        for n in 0..N {
            let V3 { x, y, z } = points[n].p;
            // SAFETY: in bounds and ours by contract.
            unsafe { (*self.at(n, lane, state)).p = [x, y, z] };
        }
    }
}

/// Block indices of the N particles; in `next` those that belong to the strip after (lane k uses lane k + 1
/// of the block, the last lane the first).
#[derive(Clone, Copy, Debug)]
pub struct Strips<const N: usize> {
    /// The block of each particle of the constraint.
    pub block: [u32; N],
    /// Bit n: particle n is in the next strip.
    pub next: u8,
}

// SAFETY: a cell is a block; loads and stores use exactly the blocks named.
unsafe impl<const N: usize> Layout<N> for Strips<N> {
    type Item = Block;
    const UNIFORM: bool = true;

    fn cell_count(items: usize) -> usize {
        items
    }

    fn cells(&self) -> Vec<usize> {
        self.block.iter().map(|&i| i as usize).collect()
    }

    #[inline(always)]
    unsafe fn load<S: Transpose>(&self, simd: S, state: &Shared<'_, Block>) -> [Point<f32x8<S>>; N] {
        let mut points = [zero_point(simd); N];
        for n in 0..N {
            // SAFETY: in bounds by contract.
            let b = unsafe { &*state.at(self.block[n] as usize) };
            points[n] = Point {
                p: V3 {
                    x: f32x8::simd_from(simd, b.x.0),
                    y: f32x8::simd_from(simd, b.y.0),
                    z: f32x8::simd_from(simd, b.z.0),
                },
                w: f32x8::simd_from(simd, b.w.0),
            };
        }
        if self.next != 0 {
            for n in 0..N {
                if self.next >> n & 1 == 1 {
                    let Point { p, w } = &mut points[n];
                    for c in [&mut p.x, &mut p.y, &mut p.z, w] {
                        *c = c.rotate_elements_left::<1>();
                    }
                }
            }
        }
        points
    }

    #[inline(always)]
    unsafe fn store<S: Transpose>(&self, state: &Shared<'_, Block>, points: &[Point<f32x8<S>>; N]) {
        for n in 0..N {
            let V3 { mut x, mut y, mut z } = points[n].p;
            if self.next >> n & 1 == 1 {
                for c in [&mut x, &mut y, &mut z] {
                    *c = c.rotate_elements_right::<1>();
                }
            }
            // SAFETY: in bounds and ours by contract.
            let b = unsafe { &mut *state.at(self.block[n] as usize) };
            b.x.0 = x.into();
            b.y.0 = y.into();
            b.z.0 = z.into();
        }
    }

    #[inline(always)]
    unsafe fn load_lane(&self, lane: usize, state: &Shared<'_, Block>) -> [Point<f32>; N] {
        std::array::from_fn(|n| {
            let k = (lane + (self.next >> n & 1) as usize) % LANES;
            // SAFETY: in bounds by contract.
            let b = unsafe { &*state.at(self.block[n] as usize) };
            Point { p: V3 { x: b.x.0[k], y: b.y.0[k], z: b.z.0[k] }, w: b.w.0[k] }
        })
    }

    #[inline(always)]
    unsafe fn store_lane(&self, lane: usize, state: &Shared<'_, Block>, points: &[Point<f32>; N]) {
        for n in 0..N {
            let k = (lane + (self.next >> n & 1) as usize) % LANES;
            let V3 { x, y, z } = points[n].p;
            // SAFETY: in bounds and ours by contract.
            let b = unsafe { &mut *state.at(self.block[n] as usize) };
            (b.x.0[k], b.y.0[k], b.z.0[k]) = (x, y, z);
        }
    }
}

/// Constraints of one kind in colours, eight to an operation.
pub struct Sweep<O, const N: usize, const P: usize, const R: usize> {
    ops: Vec<O>,
    /// Which entry of `params` each operation uses. On a regular grid nearly all are alike, and a few entries that stay in
    /// the nearest cache serve for thousands of operations.
    set: Vec<u32>,
    params: Vec<[F8; P]>,
    lambda: Vec<[F8; R]>,
    /// Where each colour begins in `ops`, and the end.
    colors: Vec<usize>,
    /// How many items the state must have.
    items: usize,
    /// How many of the lanes carry a real constraint.
    constraints: usize,
}

impl<O: Layout<N>, const N: usize, const P: usize, const R: usize> Sweep<O, N, P, R> {
    /// Takes the operations colour by colour and checks the promise on which the sweep rests.
    ///
    /// # Panics
    /// If an operation leaves the state, or two of one colour touch the same particle.
    pub fn new(colors: Vec<Vec<(O, [F8; P])>>, items: usize) -> Self {
        let mut seen = vec![0u32; O::cell_count(items)];
        let mut starts = vec![0];
        let (mut ops, mut set, mut params) = (Vec::new(), Vec::new(), Vec::new());
        let mut known: HashMap<[[u32; LANES]; P], u32> = HashMap::new();
        let mut constraints = 0;
        for (color, list) in colors.into_iter().filter(|list| !list.is_empty()).enumerate() {
            let mark = color as u32 + 1;
            for (op, param) in list {
                for cell in op.cells() {
                    assert!(seen[cell] != mark, "two operations of one colour share a particle");
                    seen[cell] = mark;
                }
                constraints += param[0].0.iter().filter(|c| c.is_finite()).count();
                ops.push(op);
                let fresh = params.len() as u32;
                let entry = match O::UNIFORM {
                    true => *known.entry(param.map(|p| p.0.map(f32::to_bits))).or_insert(fresh),
                    false => fresh,
                };
                if entry == fresh {
                    params.push(param);
                }
                set.push(entry);
            }
            starts.push(ops.len());
        }
        let lambda = vec![[F8([0.0; LANES]); R]; ops.len()];
        Sweep { ops, set, params, lambda, colors: starts, items, constraints }
    }

    /// The number of colours.
    pub fn colors(&self) -> usize {
        self.colors.len() - 1
    }

    /// The number of constraints.
    pub fn constraints(&self) -> usize {
        self.constraints
    }

    /// Sets every multiplier to zero.
    pub fn reset(&mut self) {
        self.lambda.fill([F8([0.0; LANES]); R]);
    }

    /// Σ |C + α̃ λ|² over all constraints, in a fixed order.
    pub fn residual<K: Kernel<N, P, R>>(&self, state: &mut [O::Item], kernel: K) -> f64 {
        assert_eq!(state.len(), self.items);
        let state = Shared::new(state);
        let mut sum = 0.0;
        for ((op, &set), lambda) in self.ops.iter().zip(&self.set).zip(&self.lambda) {
            let params = &self.params[set as usize];
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

    /// Projects every constraint once. With `keep` the multipliers are read and written; without, each
    /// starts from zero and is forgotten, which is all that one iteration needs.
    pub fn run<K: Kernel<N, P, R>>(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        state: &mut [O::Item],
        kernel: K,
        keep: bool,
    ) {
        assert_eq!(state.len(), self.items);
        let state = Shared::new(state);
        let lambda = Shared::new(&mut self.lambda);
        let (ops, set, params, colors) = (&self.ops, &self.set, &self.params[..], &self.colors);
        team.run(|worker| {
            for color in colors.windows(2) {
                let share = worker.share(color[1] - color[0], 1);
                let range = color[0] + share.start..color[0] + share.end;
                let (ops, set) = (&ops[range.clone()], &set[range.clone()]);
                // SAFETY: shares of a colour do not overlap, and there is one multiplier for each operation.
                let lambda = unsafe { lambda.part(range) };
                // SAFETY: by the check in `new`, no other operation of this colour touches these cells,
                // and the barrier below keeps colours apart.
                unsafe {
                    match (level, keep) {
                        (SimdLevel::Scalar, _) => scalar(ops, set, params, lambda, &state, kernel, keep),
                        (SimdLevel::Wide(level), false) => {
                            wide::<_, _, N, P, R, false>(level, ops, set, params, lambda, &state, kernel)
                        }
                        (SimdLevel::Wide(level), true) => {
                            wide::<_, _, N, P, R, true>(level, ops, set, params, lambda, &state, kernel)
                        }
                    }
                }
                worker.barrier();
            }
        });
    }
}

/// Runs an expression with the instructions of `level`. `fearless_simd::dispatch!` would hide which token
/// it found; [`Transpose`] needs to know.
macro_rules! on_level {
    (@run $simd:ident, $token:ident, $body:expr) => {{
        let $simd = $token;
        $token.vectorize(
            #[inline(always)]
            || $body,
        )
    }};
    ($level:expr, $simd:ident => $body:expr, otherwise $other:expr) => {
        match $level {
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Level::Sse2(token) => on_level!(@run $simd, token, $body),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Level::Sse4_2(token) => on_level!(@run $simd, token, $body),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Level::Avx2(token) => on_level!(@run $simd, token, $body),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Level::Avx512(token) => on_level!(@run $simd, token, $body),
            #[cfg(target_arch = "aarch64")]
            Level::Neon(token) => on_level!(@run $simd, token, $body),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Level::WasmSimd128(token) => on_level!(@run $simd, token, $body),
            #[allow(unreachable_patterns)]
            _ => $other,
        }
    };
}

/// # Safety
/// No other thread touches the cells of `ops`, which are in bounds.
unsafe fn wide<O, K, const N: usize, const P: usize, const R: usize, const KEEP: bool>(
    level: Level,
    ops: &[O],
    set: &[u32],
    params: &[[F8; P]],
    lambda: &mut [[F8; R]],
    state: &Shared<'_, O::Item>,
    kernel: K,
) where
    O: Layout<N>,
    K: Kernel<N, P, R>,
{
    #[inline(always)]
    unsafe fn body<S: Transpose, O, K, const N: usize, const P: usize, const R: usize, const KEEP: bool>(
        simd: S,
        ops: &[O],
        set: &[u32],
        params: &[[F8; P]],
        lambda: &mut [[F8; R]],
        state: &Shared<'_, O::Item>,
        kernel: K,
    ) where
        O: Layout<N>,
        K: Kernel<N, P, R>,
    {
        let zero = f32x8::splat(simd, 0.0);
        for ((op, &set), lambda) in ops.iter().zip(set).zip(lambda) {
            // SAFETY: passed on.
            let mut points = unsafe { op.load(simd, state) };
            // SAFETY: `Sweep::new` made every entry of `set` an index of `params`.
            let params = unsafe { params.get_unchecked(set as usize) };
            let mut values = [zero; P];
            for i in 0..P {
                values[i] = f32x8::simd_from(simd, params[i].0);
            }
            let mut multipliers = [zero; R];
            if KEEP {
                for r in 0..R {
                    multipliers[r] = f32x8::simd_from(simd, lambda[r].0);
                }
            }
            if KEEP {
                kernel.project::<_, false>(&mut points, &values, &mut multipliers);
            } else {
                kernel.project::<_, true>(&mut points, &values, &mut multipliers);
            }
            // SAFETY: passed on.
            unsafe { op.store(state, &points) };
            if KEEP {
                for r in 0..R {
                    lambda[r].0 = multipliers[r].into();
                }
            }
        }
    }
    on_level!(
        level,
        // SAFETY: passed on.
        simd => unsafe { body::<_, O, K, N, P, R, KEEP>(simd, ops, set, params, lambda, state, kernel) },
        // SAFETY: passed on.
        otherwise unsafe { scalar(ops, set, params, lambda, state, kernel, KEEP) }
    );
}

/// # Safety
/// As for [`wide`].
unsafe fn scalar<O, K, const N: usize, const P: usize, const R: usize>(
    ops: &[O],
    set: &[u32],
    params: &[[F8; P]],
    lambda: &mut [[F8; R]],
    state: &Shared<'_, O::Item>,
    kernel: K,
    keep: bool,
) where
    O: Layout<N>,
    K: Kernel<N, P, R>,
{
    for ((op, &set), lambda) in ops.iter().zip(set).zip(lambda) {
        let params = &params[set as usize];
        for lane in 0..LANES {
            // SAFETY: passed on.
            let mut points = unsafe { op.load_lane(lane, state) };
            let params: [f32; P] = std::array::from_fn(|i| params[i].0[lane]);
            let mut multipliers = [0.0; R];
            if keep {
                multipliers = std::array::from_fn(|r| lambda[r].0[lane]);
            }
            if keep {
                kernel.project::<_, false>(&mut points, &params, &mut multipliers);
            } else {
                kernel.project::<_, true>(&mut points, &params, &mut multipliers);
            }
            // SAFETY: passed on.
            unsafe { op.store_lane(lane, state, &points) };
            if keep {
                for r in 0..R {
                    lambda[r].0[lane] = multipliers[r];
                }
            }
        }
    }
}

/// Copies particles into blocks; `index` names them, [`NONE`] stands for a held particle at the origin.
pub fn load_blocks(level: SimdLevel, particles: &[Particle], index: &[[u32; LANES]], blocks: &mut [Block]) {
    #[inline(always)]
    fn body<S: Transpose>(simd: S, particles: &[Particle], index: &[[u32; LANES]], blocks: &mut [Block]) {
        for (index, block) in index.iter().zip(blocks) {
            let mut rows = [f32x4::splat(simd, 0.0); LANES];
            for lane in 0..LANES {
                if index[lane] != NONE {
                    let Particle { p, w } = particles[index[lane] as usize];
                    rows[lane] = f32x4::simd_from(simd, [p[0], p[1], p[2], w]);
                }
            }
            let [x, y, z, w] = simd.to_columns(rows);
            (block.x.0, block.y.0) = (x.into(), y.into());
            (block.z.0, block.w.0) = (z.into(), w.into());
        }
    }
    let one_by_one = |blocks: &mut [Block]| {
        for (index, block) in index.iter().zip(blocks) {
            for lane in (0..LANES).filter(|&lane| index[lane] != NONE) {
                let Particle { p, w } = particles[index[lane] as usize];
                (block.x.0[lane], block.y.0[lane]) = (p[0], p[1]);
                (block.z.0[lane], block.w.0[lane]) = (p[2], w);
            }
        }
    };
    match level {
        SimdLevel::Scalar => one_by_one(blocks),
        SimdLevel::Wide(level) => {
            on_level!(level, simd => body(simd, particles, index, blocks), otherwise one_by_one(blocks))
        }
    }
}

/// Copies the positions of blocks back to their particles, on all threads of the team.
///
/// # Panics
/// If two lanes name the same particle, or one that does not exist.
pub fn store_blocks(
    team: &mut Team,
    level: SimdLevel,
    blocks: &[Block],
    index: &BlockIndex,
    particles: &mut [Particle],
) {
    #[inline(always)]
    fn body<S: Transpose>(
        simd: S,
        blocks: &[Block],
        index: &[[u32; LANES]],
        particles: &Shared<'_, Particle>,
    ) {
        for (index, block) in index.iter().zip(blocks) {
            let column = [block.x.0, block.y.0, block.z.0, block.w.0];
            let rows = simd.to_rows([
                f32x8::simd_from(simd, column[0]),
                f32x8::simd_from(simd, column[1]),
                f32x8::simd_from(simd, column[2]),
                f32x8::simd_from(simd, column[3]),
            ]);
            for lane in 0..LANES {
                if index[lane] != NONE {
                    // SAFETY: `BlockIndex` names every particle at most once and none beyond `particles`,
                    // so it is in bounds and this thread's own.
                    unsafe { *particles.at(index[lane] as usize).cast::<[f32; 4]>() = rows[lane].into() };
                }
            }
        }
    }
    fn one_by_one(blocks: &[Block], index: &[[u32; LANES]], particles: &Shared<'_, Particle>) {
        for (index, block) in index.iter().zip(blocks) {
            for lane in (0..LANES).filter(|&lane| index[lane] != NONE) {
                let p = [block.x.0[lane], block.y.0[lane], block.z.0[lane]];
                // SAFETY: as above.
                unsafe { (*particles.at(index[lane] as usize)).p = p };
            }
        }
    }
    assert!(index.particles <= particles.len() && index.lanes.len() == blocks.len());
    let particles = Shared::new(particles);
    team.run(|worker| {
        let range = worker.share(blocks.len(), 1);
        let (blocks, index) = (&blocks[range.clone()], &index.lanes[range]);
        match level {
            SimdLevel::Scalar => one_by_one(blocks, index, &particles),
            SimdLevel::Wide(level) => on_level!(
                level,
                simd => body(simd, blocks, index, &particles),
                otherwise one_by_one(blocks, index, &particles)
            ),
        }
    });
}

/// Which particle is in which lane of which block, each at most once.
#[derive(Clone, Debug)]
pub struct BlockIndex {
    lanes: Vec<[u32; LANES]>,
    /// All indices are below this.
    particles: usize,
}

impl BlockIndex {
    /// Takes the particles of each block, [`NONE`] for an idle lane.
    ///
    /// # Panics
    /// If a particle is named twice.
    pub fn new(lanes: Vec<[u32; LANES]>) -> Self {
        let mut all: Vec<u32> = lanes.iter().flatten().copied().filter(|&i| i != NONE).collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "a particle is in two blocks");
        let particles = all.last().map_or(0, |&i| i as usize + 1);
        BlockIndex { lanes, particles }
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.lanes.len()
    }

    /// Whether there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// The particles of some blocks.
    pub fn part(&self, range: std::ops::Range<usize>) -> &[[u32; LANES]] {
        &self.lanes[range]
    }
}

#[inline(always)]
fn zero_point<S: Simd>(simd: S) -> Point<f32x8<S>> {
    let zero = f32x8::splat(simd, 0.0);
    Point { p: V3 { x: zero, y: zero, z: zero }, w: zero }
}
