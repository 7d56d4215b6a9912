//! Saint Venant–Kirchhoff triangles: the membrane of an orthotropic sheet.
//!
//! ```text
//! F = [f₁ f₂] = [p0 − p2, p1 − p2] Dm⁻¹        warp and weft directions in space
//! C = (E₁₁, E₂₂, 2E₁₂),  E = ½ (FᵀF − I)       Green strain, a vector of three
//! E = ½ A Cᵀ S⁻¹ C                             energy for area A and compliance tensor S (m/N)
//! ```
//!
//! With a = Dm⁻¹'s first column, b its second, each completed by minus its sum for p2,
//! ∇ᵢE₁₁ = aᵢ f₁, ∇ᵢE₂₂ = bᵢ f₂, ∇ᵢ2E₁₂ = bᵢ f₁ + aᵢ f₂.
//!
//! As an XPBD constraint the three strains are solved together, with the 3 × 3 compliance S/A: the square root of the energy
//! as one scalar would hide two of three directions from each projection.
//! S = [1/K₁, −ν/√(K₁K₂), 0; ·, 1/K₂, 0; ·, ·, 1/G]: a strip with free sides then has the stiffness K₁ along the warp.

use glam::{DMat3, DVec3};

use super::{Energy, outer};
use crate::lanes::{Lane, Point, V3};
use crate::wide::Kernel;

/// How many parameters a triangle has: 1/A (1/m²), Dm⁻¹ by rows (1/m), then S₁₁, S₁₂, S₂₂, S₃₃ (m/N).
pub const PARAMS: usize = 9;

/// Dm⁻¹ by rows for a rest triangle given in warp–weft coordinates (m), relative to its third corner.
pub fn inverse_shape(d1: [f64; 2], d2: [f64; 2]) -> [f64; 4] {
    let det = d1[0] * d2[1] - d2[0] * d1[1];
    [d2[1] / det, -d2[0] / det, -d1[1] / det, d1[0] / det]
}

/// f₁ and f₂, and the weights a and b of the three corners.
#[inline(always)]
fn frame<L: Lane>(p: &[V3<L>; 3], m: &[L; 4]) -> ([V3<L>; 2], [L; 3], [L; 3]) {
    let (d1, d2) = (p[0] - p[2], p[1] - p[2]);
    let f = [d1 * m[0] + d2 * m[2], d1 * m[1] + d2 * m[3]];
    (f, [m[0], m[2], -(m[0] + m[2])], [m[1], m[3], -(m[1] + m[3])])
}

/// The three strains and their gradients, `[strain][corner]`.
#[inline(always)]
pub fn value_grad<L: Lane>(p: &[V3<L>; 3], m: &[L; 4]) -> ([L; 3], [[V3<L>; 3]; 3]) {
    let (f, a, b) = frame(p, m);
    let (half, one) = (m[0].like(0.5), m[0].like(1.0));
    let strain = [half * (f[0].dot(f[0]) - one), half * (f[1].dot(f[1]) - one), f[0].dot(f[1])];
    let mut grad = [*p; 3];
    for i in 0..3 {
        grad[0][i] = f[0] * a[i];
        grad[1][i] = f[1] * b[i];
        grad[2][i] = f[0] * b[i] + f[1] * a[i];
    }
    (strain, grad)
}

/// The elasticity tensor S⁻¹ (N/m) as c₁₁, c₁₂, c₂₂, c₃₃.
pub fn tensor([s11, s12, s22, s33]: [f64; 4]) -> [f64; 4] {
    let det = s11 * s22 - s12 * s12;
    [s22 / det, -s12 / det, s11 / det, 1.0 / s33]
}

/// The energy of a triangle (J) with the parameters of its row.
pub fn energy(x: &[DVec3; 3], params: &[f64; PARAMS]) -> Energy<3> {
    let [inverse_area, m0, m1, m2, m3, s @ ..] = *params;
    let (p, m, area) = (super::lanes64(x), [m0, m1, m2, m3], 1.0 / inverse_area);
    let [c11, c12, c22, c33] = tensor(s);
    let (e, grad) = value_grad(&p, &m);
    let (_, a, b) = frame(&p, &m);
    let c = [[c11, c12, 0.0], [c12, c22, 0.0], [0.0, 0.0, c33]];
    let stress: [f64; 3] = std::array::from_fn(|k| (0..3).map(|l| c[k][l] * e[l]).sum());
    let grad = grad.map(|g| g.map(|v| DVec3::new(v.x, v.y, v.z)));
    let mut energy = Energy::ZERO;
    for k in 0..3 {
        energy.value += 0.5 * area * stress[k] * e[k];
        for i in 0..3 {
            energy.gradient[i] += grad[k][i] * (area * stress[k]);
        }
    }
    for i in 0..3 {
        for j in 0..3 {
            let second =
                stress[0] * a[i] * a[j] + stress[1] * b[i] * b[j] + stress[2] * (a[i] * b[j] + b[i] * a[j]);
            let mut block = DMat3::IDENTITY * second;
            for k in 0..3 {
                for l in 0..3 {
                    if c[k][l] != 0.0 {
                        block += outer(grad[k][i], grad[l][j]) * c[k][l];
                    }
                }
            }
            energy.hessian[i][j] = block * area;
        }
    }
    energy
}

/// The XPBD projection of all three strains at once.
#[derive(Clone, Copy, Debug)]
pub struct Project {
    /// 1/h², 1/s².
    pub inv_h2: f32,
}

impl Kernel<3, PARAMS, 3> for Project {
    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        points: &[Point<L>; 3],
        &[inverse_area, m0, m1, m2, m3, s11, s12, s22, s33]: &[L; PARAMS],
        lambda: &mut [L; 3],
    ) -> [V3<L>; 3] {
        let m = [m0, m1, m2, m3];
        let p = [points[0].p, points[1].p, points[2].p];
        let (f, a, b) = frame(&p, &m);
        let (zero, one, half) = (m0.like(0.0), m0.like(1.0), m0.like(0.5));
        // An idle lane has no shape, so its gradients vanish; the one on the diagonal keeps its solution finite.
        let busy = inverse_area.select_lt(m0.like(f32::MAX), one, zero);
        let guard = one - busy;
        let scale = inverse_area.min(m0.like(f32::MAX)) * busy * m0.like(self.inv_h2);
        let (t11, t12, t22, t33) = (s11 * scale, s12 * scale, s22 * scale, s33 * scale);
        let (f11, f12, f22) = (f[0].dot(f[0]), f[0].dot(f[1]), f[1].dot(f[1]));
        let (mut aa, mut ab, mut bb) = (zero, zero, zero);
        for i in 0..3 {
            aa = aa + points[i].w * (a[i] * a[i]);
            ab = ab + points[i].w * (a[i] * b[i]);
            bb = bb + points[i].w * (b[i] * b[i]);
        }
        let mut r = [half * (f11 - one), half * (f22 - one), f12];
        if !FIRST {
            r[0] = r[0] + (t11 * lambda[0] + t12 * lambda[1]);
            r[1] = r[1] + (t12 * lambda[0] + t22 * lambda[1]);
            r[2] = r[2] + t33 * lambda[2];
        }
        // ∇C M⁻¹ ∇Cᵀ + α̃, then its LDLᵀ solution.
        let tiny = m0.like(1e-30);
        let g11 = aa * f11 + t11 + guard + tiny;
        let g12 = ab * f12 + t12;
        let g13 = ab * f11 + aa * f12;
        let i1 = one / g11;
        let (l21, l31) = (g12 * i1, g13 * i1);
        let g22 = bb * f22 + t22 + guard + tiny - l21 * g12;
        let g23 = bb * f12 + ab * f22 - l21 * g13;
        let i2 = one / g22.max(g11 * m0.like(1e-7));
        let l32 = g23 * i2;
        let g33 = bb * f11 + (ab * f12 + ab * f12) + aa * f22 + t33 + guard + tiny - l31 * g13 - l32 * g23;
        let i3 = one / g33.max(g11 * m0.like(1e-7));
        let y1 = -r[0];
        let y2 = -r[1] - l21 * y1;
        let y3 = -r[2] - l31 * y1 - l32 * y2;
        let z3 = y3 * i3;
        let z2 = y2 * i2 - l32 * z3;
        let z1 = y1 * i1 - l21 * z2 - l31 * z3;
        *lambda = [lambda[0] + z1, lambda[1] + z2, lambda[2] + z3];
        // Σₖ ∇ᵢCₖ Δλₖ = aᵢ (f₁ z₁ + f₂ z₃) + bᵢ (f₂ z₂ + f₁ z₃).
        let (along, across) = (f[0] * z1 + f[1] * z3, f[1] * z2 + f[0] * z3);
        let mut moves = p;
        for i in 0..3 {
            moves[i] = (along * a[i] + across * b[i]) * points[i].w;
        }
        moves
    }

    fn residual(&self, points: &[Point<f32>; 3], params: &[f32; PARAMS], lambda: &[f32; 3]) -> f64 {
        let [inverse_area, m0, m1, m2, m3, s11, s12, s22, s33] = *params;
        let (e, _) = value_grad(&points.map(|point| point.p), &[m0, m1, m2, m3]);
        let scale = inverse_area * self.inv_h2;
        let h = [
            e[0] + scale * (s11 * lambda[0] + s12 * lambda[1]),
            e[1] + scale * (s12 * lambda[0] + s22 * lambda[1]),
            e[2] + scale * s33 * lambda[2],
        ];
        h.iter().map(|&h| h as f64 * h as f64).sum()
    }
}

/// The force −∇E on each corner, N.
#[derive(Clone, Copy, Debug)]
pub struct Force;

impl Kernel<3, PARAMS, 3> for Force {
    const KEEPS: bool = false;

    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        points: &[Point<L>; 3],
        &[inverse_area, m0, m1, m2, m3, s11, s12, s22, s33]: &[L; PARAMS],
        _: &mut [L; 3],
    ) -> [V3<L>; 3] {
        let m = [m0, m1, m2, m3];
        let p = [points[0].p, points[1].p, points[2].p];
        let (f, a, b) = frame(&p, &m);
        let (one, half, tiny) = (m0.like(1.0), m0.like(0.5), m0.like(1e-30));
        let e = [half * (f[0].dot(f[0]) - one), half * (f[1].dot(f[1]) - one), f[0].dot(f[1])];
        // S⁻¹ C times −A; an idle lane has no compliance and no shape, and so no force.
        let scale = m0.like(-1.0) / inverse_area;
        let det = scale / (s11 * s22 - s12 * s12 + tiny);
        let (z1, z2) = ((s22 * e[0] - s12 * e[1]) * det, (s11 * e[1] - s12 * e[0]) * det);
        let z3 = e[2] * (scale / (s33 + tiny));
        let (along, across) = (f[0] * z1 + f[1] * z3, f[1] * z2 + f[0] * z3);
        let mut forces = p;
        for i in 0..3 {
            forces[i] = along * a[i] + across * b[i];
        }
        forces
    }

    fn residual(&self, _: &[Point<f32>; 3], _: &[f32; PARAMS], _: &[f32; 3]) -> f64 {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::finite_difference::{check_energy, check_gradient};
    use super::super::testing::{check_force, check_projection};
    use super::*;

    const X: [DVec3; 3] =
        [DVec3::new(0.4, 0.1, 0.0), DVec3::new(0.05, 0.3, 0.2), DVec3::new(-0.02, 0.0, 0.1)];

    fn params() -> [f64; PARAMS] {
        let m = inverse_shape([0.35, 0.02], [-0.03, 0.4]);
        [1.0 / 0.07, m[0], m[1], m[2], m[3], 1.0 / 300.0, -0.3 / 250.0, 1.0 / 200.0, 1.0 / 40.0]
    }

    #[test]
    fn derivatives_agree_with_finite_differences() {
        let [_, m0, m1, m2, m3, ..] = params();
        for k in 0..3 {
            check_gradient(X, |p| {
                let (value, grad) = value_grad(p, &[m0, m1, m2, m3]);
                (value[k], grad[k])
            });
        }
        check_energy(X, |x| energy(x, &params()));
    }

    #[test]
    fn the_force_is_minus_the_gradient() {
        check_force::<_, 3, PARAMS, 3>(Force, X, params(), energy(&X, &params()).gradient);
    }

    #[test]
    fn one_projection_nearly_satisfies_and_keeps_momentum() {
        let mut rigid = params();
        rigid[0] = 0.0;
        let after = check_projection::<_, 3, PARAMS, 3>(Project { inv_h2: 1.0 }, X, rigid);
        let [_, m0, m1, m2, m3, ..] = params();
        let size = |x: &[DVec3; 3]| {
            let e = value_grad(&super::super::lanes64(x), &[m0, m1, m2, m3]).0;
            e.iter().map(|e| e * e).sum::<f64>().sqrt()
        };
        assert!(size(&after) < 0.3 * size(&X), "{} after {}", size(&after), size(&X));
    }
}
