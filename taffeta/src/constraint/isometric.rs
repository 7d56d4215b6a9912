//! Isometric bending: the linear measure of a hinge in a sheet that hardly stretches.
//!
//! C = Σ Kᵢ pᵢ (a vector, m), with cotangents of the rest shape,
//! K = [c₀₃ + c₀₄, c₀₁ + c₀₂, −c₀₁ − c₀₃, −c₀₂ − c₀₄], numbered as in `dihedral.rs`: c₀₁ and c₀₂ are those of the
//! angles at p0, c₀₃ and c₀₄ of those at p1, in the triangles of p2 and p3. |C| = 2 l sin(θ/2) for an edge of length l.
//!
//! Bergou, Wardetzky, Harmon, Zorin, Grinspun, *A quadratic bending model for inextensible surfaces*, 2006. The energy
//! ½ Σ Qᵢⱼ pᵢ·pⱼ is quadratic in the positions; as an XPBD constraint its square root is used, the vector
//! C, which is linear and so solved exactly in one step. The rest shape of a hinge is flat.
//! Compliance α in m/N.

use glam::{DMat3, DVec3};

use super::{Energy, finite};
use crate::lanes::{Lane, Point, V3};
use crate::wide::Kernel;

/// The weights K of p1, p2, p3 for a hinge in its rest shape.
pub fn weights(x: &[DVec3; 4]) -> [f64; 3] {
    let cot = |a: DVec3, b: DVec3| a.dot(b) / a.cross(b).length();
    let edge = x[1] - x[0];
    let (c01, c02) = (cot(edge, x[2] - x[0]), cot(edge, x[3] - x[0]));
    let (c03, c04) = (cot(-edge, x[2] - x[1]), cot(-edge, x[3] - x[1]));
    [c01 + c02, -c01 - c03, -c02 - c04]
}

/// C (m), from the weights of p1, p2, p3; they sum to zero with that of p0. Its gradient by pᵢ is Kᵢ times the identity.
/// Taken relative to p0, so that where the cloth is does not matter to the last bit.
#[inline(always)]
pub fn value<L: Lane>(p: &[V3<L>; 4], k: &[L; 3]) -> V3<L> {
    (p[1] - p[0]) * k[0] + (p[2] - p[0]) * k[1] + (p[3] - p[0]) * k[2]
}

/// ½ |C|²/α for stiffness `1/α` (N/m).
pub fn energy(x: &[DVec3; 4], k: &[f64; 3], stiffness: f64) -> Energy<4> {
    let k = &[-(k[0] + k[1] + k[2]), k[0], k[1], k[2]];
    let c = x[0] * k[0] + x[1] * k[1] + x[2] * k[2] + x[3] * k[3];
    let mut energy = Energy { value: 0.5 * stiffness * c.length_squared(), ..Energy::ZERO };
    for i in 0..4 {
        energy.gradient[i] = c * (stiffness * k[i]);
        for j in 0..4 {
            energy.hessian[i][j] = DMat3::IDENTITY * (stiffness * k[i] * k[j]);
        }
    }
    energy
}

/// The XPBD projection: three rows that share one denominator.
#[derive(Clone, Copy, Debug)]
pub struct Project {
    /// 1/h², 1/s².
    pub inv_h2: f32,
    /// The part s of every particle's mass that it moves, 1 but where masses are split: wᵢ/s in the denominator, and moves that count s-fold.
    pub share: f32,
}

impl Kernel<4, 4, 3> for Project {
    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        points: &[Point<L>; 4],
        &[compliance, k1, k2, k3]: &[L; 4],
        lambda: &mut [L; 3],
    ) -> [V3<L>; 4] {
        let k = [-(k1 + k2 + k3), k1, k2, k3];
        let alpha = compliance * k1.like(self.inv_h2);
        let p = [points[0].p, points[1].p, points[2].p, points[3].p];
        let mut c = value(&p, &[k1, k2, k3]);
        if !FIRST {
            let [x, y, z] = *lambda;
            c = c + V3 { x, y, z } * finite(alpha);
        }
        // s (α̃ + Σ wᵢ Kᵢ²/s)
        let mut denominator = alpha * k1.like(self.share) + k1.like(f32::MIN_POSITIVE);
        for n in 0..4 {
            denominator = denominator + points[n].w * (k[n] * k[n]);
        }
        let step = c * (k1.like(-self.share) / denominator);
        if !FIRST {
            *lambda = [lambda[0] + step.x, lambda[1] + step.y, lambda[2] + step.z];
        }
        let mut moves = p;
        for n in 0..4 {
            moves[n] = step * (points[n].w * k[n]);
        }
        moves
    }

    fn residual(&self, points: &[Point<f32>; 4], params: &[f32; 4], lambda: &[f32; 3]) -> f64 {
        let [compliance, k @ ..] = *params;
        let alpha = compliance * self.inv_h2;
        let [x, y, z] = *lambda;
        let h = value(&points.map(|point| point.p), &k) + V3 { x, y, z } * alpha;
        h.length_squared() as f64
    }
}

/// The force −∇E on each particle, N.
#[derive(Clone, Copy, Debug)]
pub struct Force;

impl Kernel<4, 4, 3> for Force {
    const KEEPS: bool = false;

    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        points: &[Point<L>; 4],
        &[compliance, k1, k2, k3]: &[L; 4],
        _: &mut [L; 3],
    ) -> [V3<L>; 4] {
        let c = value(&[points[0].p, points[1].p, points[2].p, points[3].p], &[k1, k2, k3]);
        let f = c * (k1.like(-1.0) / compliance);
        [f * -(k1 + k2 + k3), f * k1, f * k2, f * k3]
    }

    fn residual(&self, _: &[Point<f32>; 4], _: &[f32; 4], _: &[f32; 3]) -> f64 {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::finite_difference::check_energy;
    use super::*;
    use crate::constraint::{dihedral, lanes64};

    const FLAT: [DVec3; 4] = [
        DVec3::new(0.1, 0.0, 0.0),
        DVec3::new(0.9, 0.0, 0.1),
        DVec3::new(0.3, 0.0, 0.8),
        DVec3::new(0.7, 0.0, -0.6),
    ];

    #[test]
    fn derivatives_agree_with_finite_differences() {
        let k = weights(&FLAT);
        let mut x = FLAT;
        x[2].y = 0.3;
        x[0].z = 0.2;
        check_energy(x, |x| energy(x, &k, 5.0));
    }

    #[test]
    fn it_vanishes_when_flat_and_measures_the_fold() {
        let k = weights(&FLAT);
        assert!(value(&lanes64(&FLAT), &k).length_squared() < 1e-24);
        // Fold the far triangle about the edge by 0.3 rad.
        let axis = (FLAT[1] - FLAT[0]).normalize();
        let mut x = FLAT;
        x[3] = FLAT[0] + glam::DQuat::from_axis_angle(axis, 0.3) * (FLAT[3] - FLAT[0]);
        let theta = dihedral::angle(&x).abs();
        let length = (FLAT[1] - FLAT[0]).length();
        let c = value(&lanes64(&x), &k).length_squared().sqrt();
        assert!((theta - 0.3).abs() < 1e-9);
        assert!((c - 2.0 * length * (theta / 2.0).sin()).abs() < 1e-9, "{c}");
    }
}
