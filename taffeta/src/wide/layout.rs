//! How the particles lie in memory, and how an operation finds its own.

use fearless_simd::{Simd, f32x4, f32x8, prelude::*};

use super::Transpose;
use crate::lanes::{LANES, Point, V3};
use crate::par::Shared;

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
    fn each_cell(&self, visit: impl FnMut(usize));
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
    /// Adds to the positions.
    ///
    /// # Safety
    /// As for `store`.
    unsafe fn add<S: Transpose>(&self, state: &Shared<'_, Self::Item>, moves: &[V3<f32x8<S>>; N]);
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
    /// Adds to the positions of one lane.
    ///
    /// # Safety
    /// As for `store`.
    unsafe fn add_lane(&self, lane: usize, state: &Shared<'_, Self::Item>, moves: &[V3<f32>; N]);
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

    fn each_cell(&self, visit: impl FnMut(usize)) {
        self.0.iter().flatten().map(|&offset| (offset / PARTICLE) as usize).for_each(visit);
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
    unsafe fn add<S: Transpose>(&self, state: &Shared<'_, Particle>, moves: &[V3<f32x8<S>>; N]) {
        for n in 0..N {
            let V3 { x, y, z } = moves[n];
            let simd = x.simd;
            let rows = simd.to_rows([x, y, z, f32x8::splat(simd, 0.0)]);
            for lane in 0..LANES {
                // SAFETY: in bounds and ours by contract; a particle is four floats.
                let row = unsafe { &mut *self.at(n, lane, state).cast::<[f32; 4]>() };
                *row = (f32x4::simd_from(simd, *row) + rows[lane]).into();
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

    #[inline(always)]
    unsafe fn add_lane(&self, lane: usize, state: &Shared<'_, Particle>, moves: &[V3<f32>; N]) {
        for n in 0..N {
            let V3 { x, y, z } = moves[n];
            // SAFETY: in bounds and ours by contract.
            let p = unsafe { &mut (*self.at(n, lane, state)).p };
            *p = [p[0] + x, p[1] + y, p[2] + z];
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

    fn each_cell(&self, visit: impl FnMut(usize)) {
        self.block.iter().map(|&i| i as usize).for_each(visit);
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
    unsafe fn add<S: Transpose>(&self, state: &Shared<'_, Block>, moves: &[V3<f32x8<S>>; N]) {
        for n in 0..N {
            let V3 { mut x, mut y, mut z } = moves[n];
            let simd = x.simd;
            if self.next >> n & 1 == 1 {
                for c in [&mut x, &mut y, &mut z] {
                    *c = c.rotate_elements_right::<1>();
                }
            }
            // SAFETY: in bounds and ours by contract.
            let b = unsafe { &mut *state.at(self.block[n] as usize) };
            b.x.0 = (f32x8::simd_from(simd, b.x.0) + x).into();
            b.y.0 = (f32x8::simd_from(simd, b.y.0) + y).into();
            b.z.0 = (f32x8::simd_from(simd, b.z.0) + z).into();
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

    #[inline(always)]
    unsafe fn add_lane(&self, lane: usize, state: &Shared<'_, Block>, moves: &[V3<f32>; N]) {
        for n in 0..N {
            let k = (lane + (self.next >> n & 1) as usize) % LANES;
            let V3 { x, y, z } = moves[n];
            // SAFETY: in bounds and ours by contract.
            let b = unsafe { &mut *state.at(self.block[n] as usize) };
            (b.x.0[k], b.y.0[k], b.z.0[k]) = (b.x.0[k] + x, b.y.0[k] + y, b.z.0[k] + z);
        }
    }
}

#[inline(always)]
pub(super) fn zero_point<S: Simd>(simd: S) -> Point<f32x8<S>> {
    let zero = f32x8::splat(simd, 0.0);
    Point { p: V3 { x: zero, y: zero, z: zero }, w: zero }
}
