//! Triangle bending: a vertex keeps its distance from the centroid of itself and two neighbours.
//!
//! C = |v − c| − h₀, c = (b₀ + b₁ + v)/3, so v − c = (2v − b₀ − b₁)/3 and with n its direction
//! ∇b₀ = ∇b₁ = −n/3, ∇v = 2n/3.
//!
//! Kelager, Niebe, Erleben, *A triangle bending constraint model for position-based dynamics*, 2010. Their corrections
//! (4 w_v/W and −2 w_b/W with W = w_b₀ + w_b₁ + 2 w_v) keep momentum, but are not the least ones that satisfy C; those
//! follow from the gradients above, with the denominator (4 w_v + w_b₀ + w_b₁)/9.
//! In a flat sheet b₀, v, b₁ lie in a line and h₀ = 0: then C is a third of the second difference, that is, curvature.
//! Compliance α in m/N.

use glam::{DMat3, DVec3};

use super::{Energy, outer, xpbd_step};
use crate::lanes::{Lane, Point, V3};
use crate::wide::Kernel;

/// The share of each particle (b₀, b₁, v) in v − c.
const SHARE: [f64; 3] = [-1.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0];

/// C (m) and its gradient for the particles b₀, b₁, v and the rest height `rest` (m).
#[inline(always)]
pub fn value_grad<L: Lane>(p: &[V3<L>; 3], rest: L) -> (L, [V3<L>; 3]) {
    // From differences, so that where the cloth is does not matter to the last bit.
    let third = rest.like(1.0 / 3.0);
    let d = ((p[2] - p[0]) + (p[2] - p[1])) * third;
    let length = (d.length_squared() + rest.like(1e-30)).sqrt();
    let n = d * (rest.like(1.0) / length);
    let side = n * -third;
    (length - rest, [side, side, n * (third + third)])
}

/// ½ k C² for stiffness `k` (N/m).
pub fn energy(x: &[DVec3; 3], rest: f64, k: f64) -> Energy<3> {
    let d = x[0] * SHARE[0] + x[1] * SHARE[1] + x[2] * SHARE[2];
    let length = d.length().max(1e-15);
    let n = d / length;
    let across = (DMat3::IDENTITY - outer(n, n)) * (1.0 / length);
    let second = SHARE.map(|i| SHARE.map(|j| across * (i * j)));
    Energy::quadratic(k, length - rest, SHARE.map(|s| n * s), second)
}

/// The XPBD projection.
#[derive(Clone, Copy, Debug)]
pub struct Project {
    /// 1/h², 1/s².
    pub inv_h2: f32,
}

impl Kernel<3, 2, 1> for Project {
    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        points: &[Point<L>; 3],
        &[compliance, rest]: &[L; 2],
        lambda: &mut [L; 1],
    ) -> [V3<L>; 3] {
        let (c, grad) = value_grad(&[points[0].p, points[1].p, points[2].p], rest);
        let alpha = compliance * rest.like(self.inv_h2);
        xpbd_step::<L, 3, FIRST>(points, c, &grad, alpha, &mut lambda[0])
    }

    fn residual(&self, points: &[Point<f32>; 3], params: &[f32; 2], lambda: &[f32; 1]) -> f64 {
        let (c, _) = value_grad(&points.map(|point| point.p), params[1]);
        let h = (c + params[0] * self.inv_h2 * lambda[0]) as f64;
        h * h
    }
}

/// The force −∇E on each particle, N.
#[derive(Clone, Copy, Debug)]
pub struct Force;

impl Kernel<3, 2, 1> for Force {
    const KEEPS: bool = false;

    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        points: &[Point<L>; 3],
        &[compliance, rest]: &[L; 2],
        _: &mut [L; 1],
    ) -> [V3<L>; 3] {
        let (c, [g0, g1, g2]) = value_grad(&[points[0].p, points[1].p, points[2].p], rest);
        let f = -c / compliance;
        [g0 * f, g1 * f, g2 * f]
    }

    fn residual(&self, _: &[Point<f32>; 3], _: &[f32; 2], _: &[f32; 1]) -> f64 {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::finite_difference::{check_energy, check_gradient};
    use super::super::testing::{check_force, check_projection};
    use super::*;

    const X: [DVec3; 3] = [DVec3::new(-0.4, 0.1, 0.0), DVec3::new(0.5, 0.0, 0.2), DVec3::new(0.1, 0.3, -0.1)];

    #[test]
    fn derivatives_agree_with_finite_differences() {
        check_gradient(X, |p| value_grad(p, 0.05));
        check_energy(X, |x| energy(x, 0.05, 7.0));
        check_energy(X, |x| energy(x, 0.4, 7.0));
    }

    #[test]
    fn the_force_is_minus_the_gradient() {
        check_force::<_, 3, 2, 1>(Force, X, [1.0 / 7.0, 0.05], energy(&X, 0.05, 7.0).gradient);
    }

    #[test]
    fn one_projection_satisfies_it_and_keeps_momentum() {
        for rest in [0.0, 0.05] {
            let after = check_projection::<_, 3, 2, 1>(Project { inv_h2: 1.0 }, X, [0.0, rest]);
            let d = (after[2] * 2.0 - after[0] - after[1]) / 3.0;
            assert!((d.length() - rest).abs() < 1e-7, "{} against {rest}", d.length());
        }
    }
}
