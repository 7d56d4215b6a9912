//! Something computed for every triangle of a mesh, eight at a time.

use fearless_simd::{Level, f32x4, f32x8, prelude::*};

use super::Particle;
use super::Transpose;
use crate::lanes::{LANES, Lane, SimdLevel, V3};

/// The mathematics of one triangle.
pub trait TriangleKernel: Copy {
    /// A vector from two edges b − a and c − a (m), the velocity of something relative to the triangle (m/s), and the
    /// triangle's own figure.
    fn apply<L: Lane>(&self, edges: [V3<L>; 2], relative: V3<L>, figure: L) -> V3<L>;
}

/// The triangles of a mesh, or some of them, and their vertices.
#[derive(Clone, Copy)]
pub struct Triangles<'a> {
    /// Particles of each triangle.
    pub particles: &'a [[u32; 3]],
    /// A figure of each triangle.
    pub figures: &'a [f32],
    /// Positions of all particles.
    pub x: &'a [Particle],
    /// Their velocities, m/s.
    pub v: &'a [[f32; 4]],
}

impl Triangles<'_> {
    /// Runs the kernel over all. `values` has a velocity for each triangle (m/s), from which the mean velocity of its
    /// vertices is taken to get the relative one; the kernel's result takes its place.
    pub fn run<K: TriangleKernel>(&self, level: SimdLevel, kernel: K, values: &mut [[f32; 4]]) {
        assert!(self.particles.len() == values.len() && self.figures.len() == values.len());
        let whole = values.len() / LANES * LANES;
        let (wide, rest) = match level {
            SimdLevel::Scalar => values.split_at_mut(0),
            SimdLevel::Wide(_) => values.split_at_mut(whole),
        };
        let first = wide.len();
        if let SimdLevel::Wide(level) = level {
            on_level!(level, simd => self.wide(simd, kernel, wide), otherwise self.one_by_one(0, kernel, wide));
        }
        self.one_by_one(first, kernel, rest);
    }

    #[inline(always)]
    fn wide<S: Transpose, K: TriangleKernel>(&self, simd: S, kernel: K, values: &mut [[f32; 4]]) {
        let third = f32x4::splat(simd, 1.0 / 3.0);
        let particles = self.particles.chunks_exact(LANES);
        for ((tri, figure), values) in
            particles.zip(self.figures.chunks_exact(LANES)).zip(values.chunks_exact_mut(LANES))
        {
            let mut rows = [[f32x4::splat(simd, 0.0); LANES]; 3];
            for lane in 0..LANES {
                let [a, b, c] = tri[lane];
                let (a, b, c) = (a as usize, b as usize, c as usize);
                let pa = f32x4::simd_from(simd, self.x[a].to_array());
                rows[0][lane] = f32x4::simd_from(simd, self.x[b].to_array()) - pa;
                rows[1][lane] = f32x4::simd_from(simd, self.x[c].to_array()) - pa;
                let sum = f32x4::simd_from(simd, self.v[a])
                    + f32x4::simd_from(simd, self.v[b])
                    + f32x4::simd_from(simd, self.v[c]);
                rows[2][lane] = f32x4::simd_from(simd, values[lane]) - sum * third;
            }
            let [e1, e2, u] = [columns(simd, rows[0]), columns(simd, rows[1]), columns(simd, rows[2])];
            let V3 { x, y, z } = kernel.apply([e1, e2], u, f32x8::from_slice(simd, figure));
            let rows = simd.to_rows([x, y, z, f32x8::splat(simd, 0.0)]);
            for lane in 0..LANES {
                values[lane] = rows[lane].into();
            }
        }
    }

    fn one_by_one<K: TriangleKernel>(&self, first: usize, kernel: K, values: &mut [[f32; 4]]) {
        let triangles = self.particles[first..].iter().zip(&self.figures[first..]);
        for ((tri, &figure), value) in triangles.zip(values) {
            let [pa, pb, pc] = tri.map(|i| vector(self.x[i as usize].to_array()));
            let [va, vb, vc] = tri.map(|i| vector(self.v[i as usize]));
            let u = vector(*value) - (va + vb + vc) * (1.0 / 3.0);
            let V3 { x, y, z } = kernel.apply([pb - pa, pc - pa], u, figure);
            *value = [x, y, z, 0.0];
        }
    }
}

#[inline(always)]
fn columns<S: Transpose>(simd: S, rows: [f32x4<S>; LANES]) -> V3<f32x8<S>> {
    let [x, y, z, _] = simd.to_columns(rows);
    V3 { x, y, z }
}

#[inline(always)]
fn vector([x, y, z, _]: [f32; 4]) -> V3<f32> {
    V3 { x, y, z }
}
