//! Distance: structural, shear and bend springs.
//!
//! C = |p₁ − p₂| − d, ∇₁C = n, ∇₂C = −n, n = (p₁ − p₂)/|p₁ − p₂|.
//!
//! Müller, Heidelberger, Hennix, Ratcliff, *Position based dynamics*, 2007; with compliance α in m/N after Macklin,
//! Müller, Chentanez, *XPBD*, 2016.

use glam::{DMat3, DVec3};

use super::{Energy, finite, outer};
use crate::lanes::{Lane, Point, V3};
use crate::wide::Kernel;

/// Added to the squared length so that coincident particles give no NaN. It vanishes in any length above 1e-11 m.
const TINY: f32 = 1e-30;

/// C (m) and its gradient for rest length `rest` (m).
#[inline(always)]
pub fn value_grad<L: Lane>(p: &[V3<L>; 2], rest: L) -> (L, [V3<L>; 2]) {
    let d = p[0] - p[1];
    let length = (d.length_squared() + rest.like(TINY)).sqrt();
    let n = d * (rest.like(1.0) / length);
    (length - rest, [n, n * rest.like(-1.0)])
}

/// ½ k C² for stiffness `k` (N/m); ∇²C = ±(I − n nᵀ)/l.
pub fn energy(x: &[DVec3; 2], rest: f64, k: f64) -> Energy<2> {
    let d = x[0] - x[1];
    let length = d.length().max(1e-15);
    let n = d / length;
    let across = (DMat3::IDENTITY - outer(n, n)) * (1.0 / length);
    Energy::quadratic(k, length - rest, [n, -n], [[across, across * -1.0], [across * -1.0, across]])
}

/// l², m².
#[inline(always)]
fn square<L: Lane>([a, b]: &[Point<L>; 2]) -> L {
    let d = a.p - b.p;
    (d.x * d.x + d.y * d.y) + (d.z * d.z + a.w.like(TINY))
}

/// The XPBD projection, with one root and one division.
#[derive(Clone, Copy, Debug)]
pub struct Project {
    /// 1/h², 1/s²: turns α into α̃.
    pub inv_h2: f32,
}

impl Kernel<2, 2, 1> for Project {
    const SPLIT: bool = true;

    /// 1/(l² (w₁ + w₂ + α̃)) and l.
    #[inline(always)]
    fn begin<L: Lane>(&self, points: &[Point<L>; 2], &[compliance, _]: &[L; 2]) -> [L; 2] {
        // Root and division must not wait for each other.
        let [a, b] = points;
        let square = square(points);
        let alpha = compliance * a.w.like(self.inv_h2);
        [a.w.like(1.0) / ((a.w + b.w + alpha) * square), square.sqrt()]
    }

    #[inline(always)]
    fn finish<L: Lane, const FIRST: bool>(
        &self,
        points: &[Point<L>; 2],
        &[compliance, rest]: &[L; 2],
        [inverse, length]: [L; 2],
        lambda: &mut [L; 1],
    ) -> [V3<L>; 2] {
        let [a, b] = points;
        let d = a.p - b.p;
        let (wa, wb) = (inverse * a.w, inverse * b.w);
        let mut c = rest - length;
        if !FIRST {
            c = c - finite(compliance * rest.like(self.inv_h2)) * lambda[0];
            lambda[0] = lambda[0] + c * (inverse * square(points));
        }
        // Δx = w n Δλ = −w (C + α̃ λ) l/(l² (w₁ + w₂ + α̃)) · (p₁ − p₂).
        [d * (c * (length * wa)), d * -(c * (length * wb))]
    }

    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        points: &[Point<L>; 2],
        params: &[L; 2],
        lambda: &mut [L; 1],
    ) -> [V3<L>; 2] {
        self.finish::<L, FIRST>(points, params, self.begin(points, params), lambda)
    }

    fn residual(&self, points: &[Point<f32>; 2], params: &[f32; 2], lambda: &[f32; 1]) -> f64 {
        let (c, _) = value_grad(&[points[0].p, points[1].p], params[1]);
        let h = (c + params[0] * self.inv_h2 * lambda[0]) as f64;
        h * h
    }
}

/// The force −∇E on each particle, N.
#[derive(Clone, Copy, Debug)]
pub struct Force;

impl Kernel<2, 2, 1> for Force {
    const KEEPS: bool = false;

    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        &[a, b]: &[Point<L>; 2],
        &[compliance, rest]: &[L; 2],
        _: &mut [L; 1],
    ) -> [V3<L>; 2] {
        let d = a.p - b.p;
        let length = (d.length_squared() + rest.like(TINY)).sqrt();
        let pull = (rest - length) / (compliance * length);
        [d * pull, d * -pull]
    }

    fn residual(&self, _: &[Point<f32>; 2], _: &[f32; 2], _: &[f32; 1]) -> f64 {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::finite_difference::{check_energy, check_gradient};
    use super::super::testing::check_force;
    use super::*;

    const X: [DVec3; 2] = [DVec3::new(0.1, 0.2, -0.3), DVec3::new(0.5, -0.2, 0.4)];

    #[test]
    fn derivatives_agree_with_finite_differences() {
        check_gradient(X, |p| value_grad(p, 0.7));
        for rest in [0.4, 1.2] {
            check_energy(X, |x| energy(x, rest, 30.0));
        }
    }

    #[test]
    fn the_force_is_minus_the_gradient() {
        check_force::<_, 2, 2, 1>(Force, X, [1.0 / 30.0, 0.4], energy(&X, 0.4, 30.0).gradient);
    }

    #[test]
    fn a_rigid_spring_is_satisfied_in_one_step_and_keeps_momentum() {
        let mut points = X.map(|x| Point { p: V3 { x: x.x, y: x.y, z: x.z }, w: 2.0 });
        points[1].w = 0.5;
        let before = points;
        Project { inv_h2: 1e4 }.project::<f64, true>(&mut points, &[0.0, 0.6], &mut [0.0]);
        let d = points[0].p - points[1].p;
        assert!((d.length_squared().sqrt() - 0.6).abs() < 1e-7);
        let moved = |i: usize| (points[i].p - before[i].p) * (1.0 / points[i].w);
        assert!((moved(0) + moved(1)).length_squared() < 1e-20);
    }
}
