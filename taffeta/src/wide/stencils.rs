//! Something computed for stencils of four particles, eight at a time.

use fearless_simd::{Level, f32x4, f32x8, prelude::*};

use super::Particle;
use crate::lanes::{LANES, Lane, SimdLevel, V3};
use crate::transpose::Transpose;

/// The mathematics of one stencil: R numbers from four positions (m).
pub trait StencilKernel<const R: usize>: Copy {
    /// The numbers of one stencil, or of one in each lane.
    fn apply<L: Lane>(&self, x: &[V3<L>; 4], like: L) -> [L; R];
}

/// Runs the kernel over all stencils; `out` has a place for each.
pub fn stencils<K: StencilKernel<R>, const R: usize>(
    level: SimdLevel,
    kernel: K,
    x: &[Particle],
    stencils: &[[u32; 4]],
    out: &mut [[f32; R]],
) {
    assert_eq!(stencils.len(), out.len());
    match level {
        SimdLevel::Scalar => one_by_one(kernel, x, stencils, out),
        SimdLevel::Wide(level) => on_level!(
            level,
            simd => wide(simd, kernel, x, stencils, out),
            otherwise one_by_one(kernel, x, stencils, out)
        ),
    }
}

#[inline(always)]
fn wide<S: Transpose, K: StencilKernel<R>, const R: usize>(
    simd: S,
    kernel: K,
    x: &[Particle],
    stencils: &[[u32; 4]],
    out: &mut [[f32; R]],
) {
    let zero = f32x8::splat(simd, 0.0);
    for (list, out) in stencils.chunks(LANES).zip(out.chunks_mut(LANES)) {
        let mut points = [V3 { x: zero, y: zero, z: zero }; 4];
        for n in 0..4 {
            let mut rows = [f32x4::splat(simd, 0.0); LANES];
            for lane in 0..LANES {
                // Idle lanes of the last round repeat its first stencil.
                let stencil = if lane < list.len() { &list[lane] } else { &list[0] };
                rows[lane] = f32x4::simd_from(simd, x[stencil[n] as usize].to_array());
            }
            let [x, y, z, _] = simd.to_columns(rows);
            points[n] = V3 { x, y, z };
        }
        let values = kernel.apply(&points, zero);
        for r in 0..R {
            let column: [f32; LANES] = values[r].into();
            for lane in 0..LANES {
                if lane < out.len() {
                    out[lane][r] = column[lane];
                }
            }
        }
    }
}

fn one_by_one<K: StencilKernel<R>, const R: usize>(
    kernel: K,
    x: &[Particle],
    stencils: &[[u32; 4]],
    out: &mut [[f32; R]],
) {
    for (stencil, out) in stencils.iter().zip(out) {
        let points = stencil.map(|i| {
            let [x, y, z] = x[i as usize].p;
            V3 { x, y, z }
        });
        *out = kernel.apply(&points, 0.0);
    }
}
