//! Something computed for stencils of four particles, eight at a time.

use fearless_simd::{Level, f32x4, f32x8, prelude::*};

use super::Transpose;
use super::{F8, Particle};
use crate::lanes::{LANES, Lane, SimdLevel, V3};

/// The mathematics of one stencil: R numbers from F vectors of each of its four particles (positions and ways, m), and four terms of its own.
pub trait StencilKernel<const F: usize, const R: usize>: Copy {
    /// The numbers of one stencil, or of one in each lane.
    fn apply<L: Lane>(&self, x: &[[V3<L>; 4]; F], terms: [L; 4], like: L) -> [L; R];
}

/// Runs the kernel over all stencils with their terms, which are zero if none are given; the numbers of stencil i are in lane i % 8 of block i / 8. Further lanes of the last block mean nothing, nor do further blocks.
///
/// # Panics
/// If a stencil names a particle that does not exist, or has no terms where others have.
pub fn stencils<K: StencilKernel<F, R>, const F: usize, const R: usize>(
    level: SimdLevel,
    kernel: K,
    fields: [&[Particle]; F],
    stencils: &[[u32; 4]],
    terms: &[[f32; 4]],
    out: &mut Vec<[F8; R]>,
) {
    assert!(terms.is_empty() || terms.len() == stencils.len(), "each stencil has terms, or none");
    let blocks = stencils.len().div_ceil(LANES);
    if out.len() < blocks {
        out.resize(blocks, [F8([0.0; LANES]); R]);
    }
    let (whole, rest) = stencils.as_chunks::<LANES>();
    let (whole_terms, rest_terms) = terms.as_chunks::<LANES>();
    // The last block is filled up with its first stencil.
    let last = [filled(rest)];
    let last_terms = [filled(rest_terms)];
    let last_terms = if terms.is_empty() { &[][..] } else { &last_terms };
    let (blocks, tail) = out[..blocks].split_at_mut(whole.len());
    for (list, terms, out) in [(whole, whole_terms, blocks), (&last, last_terms, tail)] {
        run(level, kernel, fields, list, terms, out);
    }
}

/// The same of just eight.
pub fn eight_stencils<K: StencilKernel<F, R>, const F: usize, const R: usize>(
    level: SimdLevel,
    kernel: K,
    fields: [&[Particle]; F],
    stencils: &[[u32; 4]; LANES],
    terms: &[[f32; 4]; LANES],
) -> [F8; R] {
    let mut out = [[F8([0.0; LANES]); R]];
    run(level, kernel, fields, std::slice::from_ref(stencils), std::slice::from_ref(terms), &mut out);
    out[0]
}

fn run<K: StencilKernel<F, R>, const F: usize, const R: usize>(
    level: SimdLevel,
    kernel: K,
    fields: [&[Particle]; F],
    list: &[[[u32; 4]; LANES]],
    terms: &[[[f32; 4]; LANES]],
    out: &mut [[F8; R]],
) {
    match level {
        SimdLevel::Scalar => one_by_one(kernel, fields, list, terms, out),
        SimdLevel::Wide(level) => on_level!(
            level,
            simd => wide(simd, kernel, fields, list, terms, out),
            otherwise one_by_one(kernel, fields, list, terms, out)
        ),
    }
}

/// Eight of fewer, the first in place of those that are missing.
fn filled<T: Copy + Default>(rest: &[T]) -> [T; LANES] {
    let mut all = [rest.first().copied().unwrap_or_default(); LANES];
    all[..rest.len()].copy_from_slice(rest);
    all
}

#[inline(always)]
fn wide<S: Transpose, K: StencilKernel<F, R>, const F: usize, const R: usize>(
    simd: S,
    kernel: K,
    fields: [&[Particle]; F],
    list: &[[[u32; 4]; LANES]],
    terms: &[[[f32; 4]; LANES]],
    out: &mut [[F8; R]],
) {
    let zero = f32x8::splat(simd, 0.0);
    for (block, (stencils, out)) in list.iter().zip(out).enumerate() {
        // One comparison for the whole block: the highest of its particles.
        let mut highest = [0u32; 4];
        for lane in 0..LANES {
            for n in 0..4 {
                highest[n] = highest[n].max(stencils[lane][n]);
            }
        }
        let highest = highest[0].max(highest[1]).max(highest[2].max(highest[3]));
        let mut points = [[V3 { x: zero, y: zero, z: zero }; 4]; F];
        for f in 0..F {
            let field = fields[f];
            assert!((highest as usize) < field.len(), "a stencil leaves the particles");
            for n in 0..4 {
                let mut rows = [f32x4::splat(simd, 0.0); LANES];
                for lane in 0..LANES {
                    // SAFETY: not above the highest, which is in bounds.
                    let particle = unsafe { field.get_unchecked(stencils[lane][n] as usize) };
                    rows[lane] = f32x4::simd_from(simd, particle.to_array());
                }
                let [x, y, z, _] = simd.to_columns(rows);
                points[f][n] = V3 { x, y, z };
            }
        }
        let mut own = [zero; 4];
        if !terms.is_empty() {
            let mut rows = [f32x4::splat(simd, 0.0); LANES];
            for lane in 0..LANES {
                rows[lane] = f32x4::simd_from(simd, terms[block][lane]);
            }
            own = simd.to_columns(rows);
        }
        let values = kernel.apply(&points, own, zero);
        for r in 0..R {
            out[r].0 = values[r].into();
        }
    }
}

fn one_by_one<K: StencilKernel<F, R>, const F: usize, const R: usize>(
    kernel: K,
    fields: [&[Particle]; F],
    list: &[[[u32; 4]; LANES]],
    terms: &[[[f32; 4]; LANES]],
    out: &mut [[F8; R]],
) {
    for (block, (stencils, out)) in list.iter().zip(out).enumerate() {
        for lane in 0..LANES {
            let points = fields.map(|field| {
                stencils[lane].map(|i| {
                    let [x, y, z] = field[i as usize].p;
                    V3 { x, y, z }
                })
            });
            let own = if terms.is_empty() { [0.0; 4] } else { terms[block][lane] };
            let values = kernel.apply(&points, own, 0.0);
            for r in 0..R {
                out[r].0[lane] = values[r];
            }
        }
    }
}
