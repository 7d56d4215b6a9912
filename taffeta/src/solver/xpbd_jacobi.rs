//! `xpbd-jacobi`: extended position based dynamics, all constraints at once.
//!
//! The equations of `xpbd`, M (x − y) = ∇Cᵀ λ and C + α̃ λ = 0, by Jacobi iteration with split masses (see `jacobi.rs`),
//!
//! Δλ = −(C + α̃ λ)/(Σ nᵢ wᵢ |∇ᵢC|² + α̃),   Δx = M⁻¹ ∇Cᵀ Δλ.
//!
//! The result does not depend on the order of constraints, so it has none of the bias of a sweep; what it lacks is
//! speed, since news travels one constraint an iteration. Macklin, Müller, Chentanez, *XPBD*, 2016.

use super::jacobi::Jacobi;
use super::sweeps::{Compliance, Compliant, Family};
use super::{Method, Substep};
use crate::color::Row;
use crate::constraint::{dihedral, isometric, stvk, tether};
use crate::lanes::{Lane, Point, V3};
use crate::model::Model;
use crate::wide::{Blend, Keep, Kernel, Particle};

/// The method.
pub struct XpbdJacobi {
    jacobi: Jacobi,
    stiffness: Stiffness,
}

impl XpbdJacobi {
    /// Arranges the constraints of `model`.
    pub fn new(model: &Model) -> Self {
        XpbdJacobi { jacobi: Jacobi::new(model, Compliance::Fabric), stiffness: Stiffness::new(model) }
    }
}

impl Method for XpbdJacobi {
    fn keeps_pushes(&self) -> bool {
        true
    }

    fn solve(&mut self, substep: &mut Substep<'_>) {
        let family = SplitCompliant::new(&self.stiffness, substep.h);
        let iterations = substep.iterations;
        self.jacobi.begin(substep, family.share);
        for iteration in 0..iterations {
            let keep = Keep::within(iteration, iterations, substep.measure);
            let blend = Blend { keep, ..Blend::PLAIN };
            self.jacobi.iterate(substep, family, blend, iteration + 1 == iterations);
        }
        self.jacobi.end(substep);
    }

    fn colors(&self) -> usize {
        self.jacobi.constraints.colors()
    }

    fn residual(&mut self, x: &mut [Particle], h: f32) -> Option<f64> {
        Some(self.jacobi.constraints.residual(x, Compliant { inv_h2: 1.0 / (h * h) }))
    }
}

/// How stiff the constraints are beside the masses: the mean of Σ wᵢ |∇ᵢC|²/α (1/s²), the square of the frequency of a
/// constraint alone.
#[derive(Clone, Copy, Debug)]
pub struct Stiffness {
    stretch: f32,
    bend: f32,
    /// How many constraints of either sort meet at a particle, on average.
    meet: [f32; 2],
}

impl Stiffness {
    /// Of a model in its rest shape.
    pub fn new(model: &Model) -> Self {
        let w = |i: u32| model.inverse_mass[i as usize] as f64;
        fn mean<const N: usize, const P: usize>(
            rows: &[Row<N, P>],
            square: impl Fn(&Row<N, P>) -> f64,
        ) -> (f64, f64) {
            (rows.iter().map(square).sum(), rows.len() as f64)
        }
        let springs = mean(&model.distance, |row| {
            row.particles.iter().map(|&i| w(i)).sum::<f64>() / row.params[0] as f64
        });
        let triangles = mean(&model.stvk, |row| {
            let [inverse_area, m0, m1, m2, m3, s11, _, s22, _] = row.params.map(f64::from);
            let [w0, w1, w2] = row.particles.map(w);
            let warp = w0 * m0 * m0 + w1 * m2 * m2 + w2 * (m0 + m2) * (m0 + m2);
            let weft = w0 * m1 * m1 + w1 * m3 * m3 + w2 * (m1 + m3) * (m1 + m3);
            0.5 * (warp / s11 + weft / s22) / inverse_area
        });
        let hinges = mean(&model.dihedral, |row| {
            let p = row.particles.map(|i| {
                let p = model.start[i as usize].as_dvec3();
                V3 { x: p.x, y: p.y, z: p.z }
            });
            let (_, grad) = dihedral::value_grad(&p, row.params[1] as f64);
            (0..4).map(|n| w(row.particles[n]) * grad[n].length_squared()).sum::<f64>() / row.params[0] as f64
        });
        let isometric = mean(&model.isometric, |row| {
            let [alpha, k1, k2, k3] = row.params.map(f64::from);
            let k = [k1 + k2 + k3, k1, k2, k3];
            (0..4).map(|n| w(row.particles[n]) * k[n] * k[n]).sum::<f64>() / alpha
        });
        let bends = mean(&model.triangle_bend, |row| {
            let [b0, b1, v] = row.particles.map(w);
            (b0 + b1 + 4.0 * v) / (9.0 * row.params[0] as f64)
        });
        let all = |parts: &[(f64, f64)]| {
            let (sum, count) = parts.iter().fold((0.0, 0.0), |all, part| (all.0 + part.0, all.1 + part.1));
            if count > 0.0 { (sum / count) as f32 } else { 0.0 }
        };
        let particles = model.particles() as f64;
        let stretch = (2.0 * springs.1 + 3.0 * triangles.1) / particles;
        let bend = (4.0 * (hinges.1 + isometric.1) + 3.0 * bends.1) / particles;
        Stiffness {
            stretch: all(&[springs, triangles]),
            bend: all(&[hinges, isometric, bends]),
            meet: [stretch as f32, bend as f32],
        }
    }

    /// About the spectral radius of the Jacobi iteration: R/(1 + R) with R = Σ nᵢ wᵢ |∇ᵢC|²/α̃ of the stiffer sort. A little
    /// less, because too much is worse than too little.
    pub fn spectral_radius(&self, h: f32) -> f32 {
        let share = self.share(h);
        let n = self.meet[0] + share * self.meet[1];
        let r = 0.8 * n * h * h * self.stretch.max(self.bend / share);
        r / (1.0 + r)
    }

    /// The share of a particle's mass that a hinge gets beside a spring. A constraint alone is solved at the rate
    /// (r + 1)/(n r + 1) with r = h² Σ w |∇C|²/α; shares in proportion to r/(1 + r) make these rates alike.
    fn share(&self, h: f32) -> f32 {
        let part = |q: f32| q * h * h / (1.0 + q * h * h);
        if self.stretch > 0.0 { (part(self.bend) / part(self.stretch)).clamp(1e-3, 1.0) } else { 1.0 }
    }
}

/// A projection that sees 1/share of the masses' inverse, and whose moves count share-fold.
#[derive(Clone, Copy, Debug)]
pub struct Split<K> {
    kernel: K,
    share: f32,
}

impl<K: Kernel<N, P, R>, const N: usize, const P: usize, const R: usize> Kernel<N, P, R> for Split<K> {
    const LONG: bool = K::LONG;

    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        points: &[Point<L>; N],
        params: &[L; P],
        lambda: &mut [L; R],
    ) -> [V3<L>; N] {
        let mut points = *points;
        let (share, inverse) = (params[0].like(self.share), params[0].like(1.0 / self.share));
        for n in 0..N {
            points[n].w = points[n].w * inverse;
        }
        let mut moves = self.kernel.correct::<L, FIRST>(&points, params, lambda);
        for n in 0..N {
            moves[n] = moves[n] * share;
        }
        moves
    }

    fn residual(&self, points: &[Point<f32>; N], params: &[f32; P], lambda: &[f32; R]) -> f64 {
        self.kernel.residual(points, params, lambda)
    }
}

/// XPBD on split masses.
#[derive(Clone, Copy, Debug)]
pub struct SplitCompliant {
    whole: Compliant,
    /// The share of hinges.
    pub share: f32,
}

impl SplitCompliant {
    /// For substeps of `h` (s).
    pub fn new(stiffness: &Stiffness, h: f32) -> Self {
        SplitCompliant { whole: Compliant { inv_h2: 1.0 / (h * h) }, share: stiffness.share(h) }
    }

    fn split<K>(&self, kernel: K) -> Split<K> {
        Split { kernel, share: self.share }
    }
}

impl Family for SplitCompliant {
    fn distance(&self) -> impl Kernel<2, 2, 1> {
        self.whole.distance()
    }
    fn dihedral(&self) -> impl Kernel<4, 2, 1> {
        self.split(self.whole.dihedral())
    }
    fn isometric(&self) -> impl Kernel<4, 4, 3> {
        isometric::Project { inv_h2: self.whole.inv_h2, share: self.share }
    }
    fn triangle_bend(&self) -> impl Kernel<3, 2, 1> {
        self.split(self.whole.triangle_bend())
    }
    fn stvk(&self) -> impl Kernel<3, { stvk::PARAMS }, 3> {
        self.whole.stvk()
    }
    fn tether(&self, _: f32) -> impl Kernel<1, 6, 1> {
        tether::Project { inv_h2: self.whole.inv_h2 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The isometric projection with a share is the plain one between scaled masses and scaled moves.
    #[test]
    fn a_share_of_the_masses_is_the_same_inside_the_projection() {
        let share = 0.3;
        let place = |x, y, z, w| Point { p: V3 { x, y, z }, w };
        let points = [
            place(0.0, 0.0, 0.0, 2.0),
            place(1.0, 0.1, 0.0, 3.0),
            place(0.5, 0.3, 0.8, 0.0),
            place(0.4, 0.2, -0.9, 1.5),
        ];
        let params = [1e-3, 0.7, -0.9, -0.6];
        let inside = isometric::Project { inv_h2: 900.0, share };
        let around = Split { kernel: isometric::Project { share: 1.0, ..inside }, share };
        let mut lambda = [[0.1, -0.2, 0.3]; 2];
        let a = inside.correct::<f32, false>(&points, &params, &mut lambda[0]);
        let b = around.correct::<f32, false>(&points, &params, &mut lambda[1]);
        let numbers = |moves: [V3<f32>; 4], lambda: [f32; 3]| {
            moves.into_iter().flat_map(|m| [m.x, m.y, m.z]).chain(lambda).collect::<Vec<_>>()
        };
        let [a, b] = [numbers(a, lambda[0]), numbers(b, lambda[1])];
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-5 * (1.0 + b.abs())), "{a:?} {b:?}");
        assert!(a[0].abs() > 1e-3, "something moves");
    }
}
