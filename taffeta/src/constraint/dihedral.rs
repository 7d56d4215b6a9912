//! Dihedral bending: the angle between two triangles that share an edge.
//!
//! ```text
//!          p2               N₁ = (p0 − p2) × (p1 − p2)
//!         /  \              N₂ = (p1 − p3) × (p0 − p3)
//!       p0 —— p1            e = (p1 − p0)/|p1 − p0|
//!         \  /              θ = atan2((N₂ × N₁)·e, N₁·N₂)
//!          p3               C = θ − θ₀
//! ```
//!
//! The signed form is used rather than acos(n₁·n₂), which loses the sign of the fold and whose gradient blows
//! up when the hinge is flat, that is, nearly always.
//! Gradients after Bridson, Marino, Fedkiw, *Simulation of clothing with folds and wrinkles*, 2003:
//! ∇₂θ = |p1 − p0| N₁/|N₁|², ∇₃θ likewise with N₂, and those of the edge by the lever rule.
//! Compliance α in rad/(N·m).

use glam::{DMat3, DVec3};

use super::{Energy, lanes64, outer, xpbd_step};
use crate::lanes::{Lane, Point, V3};
use crate::wide::Kernel;

/// C (rad) and its gradient (rad/m) for the rest angle `rest` (rad).
#[inline(always)]
pub fn value_grad<L: Lane>(p: &[V3<L>; 4], rest: L) -> (L, [V3<L>; 4]) {
    let one = rest.like(1.0);
    let (edge, a, b) = (p[1] - p[0], p[2] - p[0], p[3] - p[0]);
    // Large enough that nothing overflows where an idle hinge has all its points in one place.
    let tiny = rest.like(1e-20);
    let square = edge.length_squared() + tiny;
    let (length, inverse_square) = (square.sqrt(), one / square);
    // N₁ and N₂ by their three common vectors.
    let (n1, n2) = (edge.cross(a), b.cross(edge));
    // N₂ × N₁ = (N₁·(p3 − p0)) (p1 − p0), both normals being across the edge.
    let theta = (n1.dot(b) * length).atan2(n1.dot(n2));
    // The squared heights of the two triangles over the edge, inverted by one division for both.
    let (h1, h2) = (n1.length_squared() * inverse_square, n2.length_squared() * inverse_square);
    let both = (length * inverse_square) / (h1 * h2 + tiny);
    let (g2, g3) = (n1 * (both * h2), n2 * (both * h1));
    // Where the heights meet the edge, as a part of it from p0.
    let (r1, r2) = (a.dot(edge) * inverse_square, b.dot(edge) * inverse_square);
    let grad = [g2 * (r1 - one) + g3 * (r2 - one), g2 * -r1 + g3 * -r2, g2, g3];
    (wrap(theta - rest), grad)
}

/// An angle in (−2π, 2π) brought into [−π, π].
#[inline(always)]
fn wrap<L: Lane>(angle: L) -> L {
    let (pi, turn) = (angle.like(std::f32::consts::PI), angle.like(std::f32::consts::TAU));
    let angle = pi.select_lt(angle, angle - turn, angle);
    angle.select_lt(-pi, angle + turn, angle)
}

/// The angle of a hinge, rad.
pub fn angle(x: &[DVec3; 4]) -> f64 {
    value_grad(&lanes64(x), 0.0).0
}

/// What one triangle has in ∇²θ. With the unit normal n, the unit vector ê along the edge of length l and m = ±n × ê from there towards the opposite corner, at the height h
/// over the edge and at the part r of it,
///
/// ```text
/// ∇θ = n ⊗ α of both triangles,   α = (r − 1, −r, 1)/h and β = (−1, 1, 0)/l of p0, p1 and the corner
/// dn = −Σⱼ (αⱼ m + βⱼ ê) n·dxⱼ,   dα = −α Σⱼ αⱼ m·dxⱼ − β Σⱼ (αⱼ ê + βⱼ m)·dxⱼ
/// ∇²θ = −(U Vᵀ + V Uᵀ) of both,   U = [n ⊗ α, n ⊗ β],   V = [m ⊗ α, ê ⊗ α + ½ m ⊗ β]
/// ```
///
/// (of β m nᵀ β half is written, since the other half is taken back by the other triangle).
struct Side {
    u: [[DVec3; 3]; 2],
    v: [[DVec3; 3]; 2],
    /// UᵀU and VᵀV, each as its two diagonal entries and the one beside them, 1/m⁴.
    grams: [[f64; 3]; 2],
}

impl Side {
    /// Of the triangle with `corner` opposite to the edge from `p0` to `p1`.
    fn new(p0: DVec3, p1: DVec3, corner: DVec3, normal: DVec3) -> Self {
        const TINY: f64 = 1e-30;
        let (edge, a) = (p1 - p0, corner - p0);
        let length = edge.length().max(TINY);
        let along = edge / length;
        let r = a.dot(along) / length;
        let rise = a - edge * r;
        let height = rise.length().max(TINY);
        let (n, m) = (normal.normalize_or_zero(), rise / height);
        let alpha = [r - 1.0, -r, 1.0].map(|weight| weight / height);
        let beta = [-1.0 / length, 1.0 / length, 0.0];
        let dot = |a: &[f64; 3], b: &[f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let [aa, ab, bb] = [dot(&alpha, &alpha), dot(&alpha, &beta), dot(&beta, &beta)];
        Side {
            u: [alpha.map(|w| n * w), beta.map(|w| n * w)],
            v: [alpha.map(|w| m * w), std::array::from_fn(|i| along * alpha[i] + m * (0.5 * beta[i]))],
            grams: [[aa, bb, ab], [aa, aa + 0.25 * bb, 0.5 * ab]],
        }
    }

    /// The nearest matrix to ±∇²θ without negative eigenvalues is ½ Z Zᵀ: Z of two columns.
    ///
    /// U and V are across each other, so |∇²θ| = U X Uᵀ + V X⁻¹ Vᵀ with X UᵀU X = VᵀV, that is the geometric mean of (UᵀU)⁻¹ and VᵀV, and with X = L Lᵀ, Z = U L ∓ V L⁻ᵀ.
    fn positive(&self, sign: f64) -> [[DVec3; 3]; 2] {
        let [[a, b, c], [d, e, f]] = self.grams;
        // Of two matrices of size 2: A/√|A| + B/√|B|, made as large as the mean.
        let (du, dv) = ((a * b - c * c).sqrt(), (d * e - f * f).sqrt());
        let [x, y, z] = [b / du + d / dv, a / du + e / dv, f / dv - c / du];
        let scale = (dv / du / (x * y - z * z)).sqrt();
        let [x, y, z] = [x * scale, y * scale, z * scale];
        let l = x.sqrt();
        let (low, lowest) = (z / l, (y - z * z / x).sqrt());
        let ([u1, u2], [v1, v2]) = (&self.u, &self.v);
        let first = |i: usize| u1[i] * l + u2[i] * low - v1[i] * (sign / l);
        let second = |i: usize| u2[i] * lowest - (v2[i] - v1[i] * (low / l)) * (sign / lowest);
        [std::array::from_fn(first), std::array::from_fn(second)]
    }
}

/// Which particles of a hinge the two triangles have.
const SIDES: [[usize; 3]; 2] = [[0, 1, 2], [0, 1, 3]];

/// ½ k C² for stiffness `k` (N·m/rad), with the exact Hessian k (∇C ∇Cᵀ + C ∇²θ), or one that has no negative eigenvalue: there C ∇²θ of each triangle is replaced by the nearest such
/// matrix. The sum of the two is no less than the exact one, and a little stiffer than the nearest to it would be, which takes twenty times as long to find.
pub fn energy(x: &[DVec3; 4], rest: f64, k: f64, projected: bool) -> Energy<4> {
    let (c, grad) = value_grad(&lanes64(x), rest);
    let grad = grad.map(|g| DVec3::new(g.x, g.y, g.z));
    let mut energy = Energy::quadratic(k, c, grad, [[DMat3::ZERO; 4]; 4]);
    for at in SIDES {
        let side = Side::new(x[0], x[1], x[at[2]], grad[at[2]]);
        let hessian = &mut energy.hessian;
        let mut add = |a: &[DVec3; 3], b: &[DVec3; 3], scale: f64| {
            for i in 0..3 {
                for j in 0..3 {
                    hessian[at[i]][at[j]] += outer(a[i] * scale, b[j]);
                }
            }
        };
        if projected {
            for z in &side.positive(c.signum()) {
                add(z, z, 0.5 * k * c.abs());
            }
        } else {
            for (u, v) in side.u.iter().zip(&side.v) {
                add(u, v, -k * c);
                add(v, u, -k * c);
            }
        }
    }
    energy
}

/// The XPBD projection.
#[derive(Clone, Copy, Debug)]
pub struct Project {
    /// 1/h², 1/s².
    pub inv_h2: f32,
}

impl Kernel<4, 2, 1> for Project {
    const LONG: bool = true;

    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        points: &[Point<L>; 4],
        &[compliance, rest]: &[L; 2],
        lambda: &mut [L; 1],
    ) -> [V3<L>; 4] {
        let p = [points[0].p, points[1].p, points[2].p, points[3].p];
        let (c, grad) = value_grad(&p, rest);
        let alpha = compliance * rest.like(self.inv_h2);
        xpbd_step::<L, 4, FIRST>(points, c, &grad, alpha, &mut lambda[0])
    }

    fn residual(&self, points: &[Point<f32>; 4], params: &[f32; 2], lambda: &[f32; 1]) -> f64 {
        let (c, _) = value_grad(&points.map(|point| point.p), params[1]);
        let h = (c + params[0] * self.inv_h2 * lambda[0]) as f64;
        h * h
    }
}

/// The force −∇E on each particle, N.
#[derive(Clone, Copy, Debug)]
pub struct Force;

impl Kernel<4, 2, 1> for Force {
    const KEEPS: bool = false;

    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        points: &[Point<L>; 4],
        &[compliance, rest]: &[L; 2],
        _: &mut [L; 1],
    ) -> [V3<L>; 4] {
        let (c, [g0, g1, g2, g3]) = value_grad(&[points[0].p, points[1].p, points[2].p, points[3].p], rest);
        let f = -c / compliance;
        [g0 * f, g1 * f, g2 * f, g3 * f]
    }

    fn residual(&self, _: &[Point<f32>; 4], _: &[f32; 2], _: &[f32; 1]) -> f64 {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::finite_difference::{check_energy, check_gradient};
    use super::*;

    fn hinge(fold: f64) -> [DVec3; 4] {
        [
            DVec3::new(0.1, 0.0, 0.0),
            DVec3::new(0.9, 0.1, 0.1),
            DVec3::new(0.4, 0.0, 0.8),
            DVec3::new(0.6, 0.5 * fold.sin(), -0.7 * fold.cos()),
        ]
    }

    #[test]
    fn derivatives_agree_with_finite_differences() {
        for fold in [-2.5, -0.4, 0.0, 0.01, 1.0, 2.8] {
            check_gradient(hinge(fold), |p| value_grad(p, 0.3));
            check_energy(hinge(fold), |x| energy(x, 0.2, 2.0, false));
        }
    }

    #[test]
    fn the_sign_tells_the_side_and_flat_is_zero() {
        let flat = [DVec3::ZERO, DVec3::X, DVec3::new(0.5, 0.0, 1.0), DVec3::new(0.5, 0.0, -1.0)];
        assert!(angle(&flat).abs() < 1e-12);
        let mut up = flat;
        up[3].y = 0.2;
        let mut down = flat;
        down[3].y = -0.2;
        assert!((angle(&up) + angle(&down)).abs() < 1e-12 && angle(&up).abs() > 0.19);
    }

    #[test]
    fn an_idle_lane_stays_where_it_is() {
        let points = [Point { p: V3 { x: 0.0f32, y: 0.0, z: 0.0 }, w: 0.0 }; 4];
        let moves = Project { inv_h2: 1e6 }.correct::<f32, false>(&points, &[f32::INFINITY, 0.0], &mut [0.0]);
        assert!(moves.iter().all(|m| m.length_squared() == 0.0), "{moves:?}");
    }

    #[test]
    fn a_projection_keeps_momentum() {
        let mut points = hinge(0.8).map(|x| Point { p: V3 { x: x.x, y: x.y, z: x.z }, w: 1.5 });
        let before = points;
        Project { inv_h2: 1e4 }.project::<f64, true>(&mut points, &[1e-6, 0.0], &mut [0.0]);
        let mut total = V3 { x: 0.0, y: 0.0, z: 0.0 };
        let mut turning = total;
        for (a, b) in points.iter().zip(&before) {
            total = total + (a.p - b.p);
            turning = turning + b.p.cross(a.p - b.p);
        }
        assert!(total.length_squared() < 1e-24 && turning.length_squared() < 1e-24);
    }
}
