//! Something computed for stencils of four particles, eight at a time.

use fearless_simd::{Level, f32x4, f32x8, prelude::*};

use super::{F8, Particle};
use crate::lanes::{LANES, Lane, SimdLevel, V3};
use crate::transpose::Transpose;

/// The mathematics of one stencil: R numbers from four positions (m).
pub trait StencilKernel<const R: usize>: Copy {
    /// The numbers of one stencil, or of one in each lane.
    fn apply<L: Lane>(&self, x: &[V3<L>; 4], like: L) -> [L; R];
}

/// Runs the kernel over all stencils; the numbers of stencil i are in lane i % 8 of block i / 8. Further lanes of the last block mean nothing.
///
/// # Panics
/// If a stencil names a particle that does not exist.
pub fn stencils<K: StencilKernel<R>, const R: usize>(
    level: SimdLevel,
    kernel: K,
    x: &[Particle],
    stencils: &[[u32; 4]],
    out: &mut Vec<[F8; R]>,
) {
    out.clear();
    out.resize(stencils.len().div_ceil(LANES), [F8([0.0; LANES]); R]);
    let (whole, rest) = stencils.as_chunks::<LANES>();
    // The last block is filled up with its first stencil.
    let mut last = [rest.first().copied().unwrap_or_default(); LANES];
    last[..rest.len()].copy_from_slice(rest);
    let (blocks, tail) = out.split_at_mut(whole.len());
    for (list, out) in [(whole, blocks), (&[last][..], tail)] {
        match level {
            SimdLevel::Scalar => one_by_one(kernel, x, list, out),
            SimdLevel::Wide(level) => on_level!(
                level,
                simd => wide(simd, kernel, x, list, out),
                otherwise one_by_one(kernel, x, list, out)
            ),
        }
    }
}

#[inline(always)]
fn wide<S: Transpose, K: StencilKernel<R>, const R: usize>(
    simd: S,
    kernel: K,
    x: &[Particle],
    list: &[[[u32; 4]; LANES]],
    out: &mut [[F8; R]],
) {
    let zero = f32x8::splat(simd, 0.0);
    for (stencils, out) in list.iter().zip(out) {
        // One comparison for the whole block: the highest of its particles.
        let mut highest = [0u32; 4];
        for lane in 0..LANES {
            for n in 0..4 {
                highest[n] = highest[n].max(stencils[lane][n]);
            }
        }
        let highest = highest[0].max(highest[1]).max(highest[2].max(highest[3]));
        assert!((highest as usize) < x.len(), "a stencil leaves the particles");
        let mut points = [V3 { x: zero, y: zero, z: zero }; 4];
        for n in 0..4 {
            let mut rows = [f32x4::splat(simd, 0.0); LANES];
            for lane in 0..LANES {
                // SAFETY: not above the highest, which is in bounds.
                let particle = unsafe { x.get_unchecked(stencils[lane][n] as usize) };
                rows[lane] = f32x4::simd_from(simd, particle.to_array());
            }
            let [x, y, z, _] = simd.to_columns(rows);
            points[n] = V3 { x, y, z };
        }
        let values = kernel.apply(&points, zero);
        for r in 0..R {
            out[r].0 = values[r].into();
        }
    }
}

fn one_by_one<K: StencilKernel<R>, const R: usize>(
    kernel: K,
    x: &[Particle],
    list: &[[[u32; 4]; LANES]],
    out: &mut [[F8; R]],
) {
    for (stencils, out) in list.iter().zip(out) {
        for lane in 0..LANES {
            let points = stencils[lane].map(|i| {
                let [x, y, z] = x[i as usize].p;
                V3 { x, y, z }
            });
            let values = kernel.apply(&points, 0.0);
            for r in 0..R {
                out[r].0[lane] = values[r];
            }
        }
    }
}
