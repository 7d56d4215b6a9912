//! Tether (long-range attachment): a vertex stays within reach of a held one.
//!
//! C = |p − a| − L ≥ … only when positive; L is the geodesic distance at rest times a stretch factor.
//! Kim, Chentanez, Müller, *Long range attachments*, 2012. A sheet hung from a few points needs very many iterations to
//! stop stretching; a tether carries the load there at once. It acts on one particle alone (the other is held), so
//! all tethers are of one colour.

use glam::DVec3;

use super::{Energy, distance, finite};
use crate::lanes::{Lane, Point, V3};
use crate::wide::Kernel;

/// C (m, zero when slack) and its gradient by the free particle.
#[inline(always)]
pub fn value_grad<L: Lane>(p: V3<L>, anchor: V3<L>, reach: L) -> (L, V3<L>) {
    let (c, [grad, _]) = distance::value_grad(&[p, anchor], reach);
    let zero = reach.like(0.0);
    let on = |v: L| zero.select_lt(c, v, zero);
    (on(c), V3 { x: on(grad.x), y: on(grad.y), z: on(grad.z) })
}

/// ½ k C² for stiffness `k` (N/m) by the free particle; zero when slack.
pub fn energy(x: &[DVec3; 1], anchor: DVec3, reach: f64, k: f64) -> Energy<1> {
    if (x[0] - anchor).length() <= reach {
        return Energy::ZERO;
    }
    let taut = distance::energy(&[x[0], anchor], reach, k);
    Energy { value: taut.value, gradient: [taut.gradient[0]], hessian: [[taut.hessian[0][0]]] }
}

/// The XPBD projection. Parameters: compliance (m/N), reach (m), anchor (m), and the anchor's particle number as bits.
#[derive(Clone, Copy, Debug)]
pub struct Project {
    /// 1/h², 1/s².
    pub inv_h2: f32,
}

impl Kernel<1, 6, 1> for Project {
    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        [point]: &[Point<L>; 1],
        &[compliance, reach, x, y, z, _]: &[L; 6],
        lambda: &mut [L; 1],
    ) -> [V3<L>; 1] {
        let d = point.p - V3 { x, y, z };
        let length = (d.length_squared() + reach.like(1e-30)).sqrt();
        let alpha = compliance * reach.like(self.inv_h2);
        let mut c = (length - reach).max(reach.like(0.0));
        if !FIRST {
            c = c + finite(alpha) * lambda[0];
        }
        // w + tiny: a held particle with a rigid tether stays where it is.
        let step = -c / ((point.w + alpha + reach.like(f32::MIN_POSITIVE)) * length);
        if !FIRST {
            lambda[0] = lambda[0] + step * length;
        }
        [d * (step * point.w)]
    }

    fn residual(&self, points: &[Point<f32>; 1], params: &[f32; 6], lambda: &[f32; 1]) -> f64 {
        let [compliance, reach, x, y, z, _] = *params;
        let (c, _) = value_grad(points[0].p, V3 { x, y, z }, reach);
        let h = (c + compliance * self.inv_h2 * lambda[0]) as f64;
        h * h
    }
}

/// The force −∇E on the free particle, N.
#[derive(Clone, Copy, Debug)]
pub struct Force {
    /// Stiffness of a taut tether, N/m.
    pub stiffness: f32,
}

impl Kernel<1, 6, 1> for Force {
    const KEEPS: bool = false;

    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        [point]: &[Point<L>; 1],
        &[compliance, reach, x, y, z, _]: &[L; 6],
        _: &mut [L; 1],
    ) -> [V3<L>; 1] {
        let (c, grad) = value_grad(point.p, V3 { x, y, z }, reach);
        // The compliance only says whether the anchor is held: 0 or infinite.
        [grad * (-c * reach.like(self.stiffness) / (reach.like(1.0) + compliance))]
    }

    fn residual(&self, _: &[Point<f32>; 1], _: &[f32; 6], _: &[f32; 1]) -> f64 {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::finite_difference::{check_energy, check_gradient};
    use super::*;

    #[test]
    fn derivatives_agree_with_finite_differences() {
        let anchor = DVec3::new(0.2, -0.1, 0.3);
        let lane = V3 { x: anchor.x, y: anchor.y, z: anchor.z };
        for reach in [0.5, 2.0] {
            let x = [DVec3::new(1.0, 0.5, 0.2)];
            check_gradient(x, |p| {
                let (c, grad) = value_grad(p[0], lane, reach);
                (c, [grad])
            });
            check_energy(x, |x| energy(x, anchor, reach, 3.0));
        }
    }

    #[test]
    fn slack_does_nothing_and_taut_brings_back() {
        let tether = Project { inv_h2: 1e4 };
        let start = Point { p: V3 { x: 3.0, y: 4.0, z: 0.0 }, w: 2.0 };
        let mut points = [start];
        tether.project::<f64, true>(&mut points, &[0.0, 6.0, 0.0, 0.0, 0.0, 0.0], &mut [0.0]);
        assert_eq!(points[0].p.x, 3.0);
        tether.project::<f64, true>(&mut points, &[0.0, 2.5, 0.0, 0.0, 0.0, 0.0], &mut [0.0]);
        assert!((points[0].p.x - 1.5).abs() < 1e-6 && (points[0].p.y - 2.0).abs() < 1e-6);
        points[0] = Point { w: 0.0, ..start };
        tether.project::<f64, true>(&mut points, &[0.0, 2.5, 0.0, 0.0, 0.0, 0.0], &mut [0.0]);
        assert_eq!(points[0].p.x, 3.0);
    }
}
