//! Kinds of constraint, one file each: pure functions that know no solver.
//!
//! Every kind gives its value and gradient over any [`Lane`] for position methods, its energy ½ C²/α with
//! gradient and Hessian in double precision for energy methods, and its XPBD projection as a
//! [`Kernel`](crate::wide::Kernel). Adding a kind means its file and a line in [`Kind`].

pub mod attachment;
pub mod dihedral;
pub mod distance;
pub mod isometric;
pub mod strain_limit;
pub mod stvk;
pub mod tether;
pub mod triangle_bend;

use glam::{DMat3, DVec3};

use crate::lanes::{Lane, Point, V3};

/// The list of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Springs along edges and diagonals.
    Distance,
    /// Bending by the angle between two triangles.
    Dihedral,
    /// Bending by the linear measure of an inextensible hinge.
    Isometric,
    /// Bending by the distance of a vertex from the middle of its neighbours.
    TriangleBend,
    /// Orthotropic membrane of triangles.
    Stvk,
    /// The greatest stretch of a spring, enforced after integration.
    StrainLimit,
    /// A vertex held to a point.
    Attachment,
    /// A vertex kept within reach of a held one.
    Tether,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 8] = [
        Kind::Distance,
        Kind::Dihedral,
        Kind::Isometric,
        Kind::TriangleBend,
        Kind::Stvk,
        Kind::StrainLimit,
        Kind::Attachment,
        Kind::Tether,
    ];

    /// Its name in tables and messages.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Distance => "distance",
            Kind::Dihedral => "dihedral",
            Kind::Isometric => "isometric",
            Kind::TriangleBend => "triangle_bend",
            Kind::Stvk => "stvk",
            Kind::StrainLimit => "strain_limit",
            Kind::Attachment => "attachment",
            Kind::Tether => "tether",
        }
    }
}

/// An energy (J), its gradient (N) and its Hessian (N/m) by blocks.
#[derive(Clone, Copy, Debug)]
pub struct Energy<const N: usize> {
    /// Energy, J.
    pub value: f64,
    /// Its gradient by each particle, N.
    pub gradient: [DVec3; N],
    /// Its second derivatives by each pair of particles, N/m.
    pub hessian: [[DMat3; N]; N],
}

impl<const N: usize> Energy<N> {
    /// No energy at all.
    pub const ZERO: Self = Energy { value: 0.0, gradient: [DVec3::ZERO; N], hessian: [[DMat3::ZERO; N]; N] };

    /// ½ k C² from C, its gradient and its second derivatives:
    /// ∇E = k C ∇C, ∇²E = k (∇C ∇Cᵀ + C ∇²C).
    pub fn quadratic(k: f64, c: f64, grad: [DVec3; N], second: [[DMat3; N]; N]) -> Self {
        let mut energy = Energy { value: 0.5 * k * c * c, ..Self::ZERO };
        for i in 0..N {
            energy.gradient[i] = grad[i] * (k * c);
            for j in 0..N {
                energy.hessian[i][j] = (outer(grad[i], grad[j]) + second[i][j] * c) * k;
            }
        }
        energy
    }
}

/// a bᵀ.
pub fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// One XPBD step of a scalar constraint with value `c` and gradient `grad`:
/// Δλ = −(C + α̃ λ)/(Σ w |∇C|² + α̃), Δx = w ∇C Δλ (Macklin, Müller, Chentanez 2016, eq. 17–18).
#[inline(always)]
pub(crate) fn xpbd_step<L: Lane, const N: usize, const FIRST: bool>(
    points: &[Point<L>; N],
    c: L,
    grad: &[V3<L>; N],
    alpha: L,
    lambda: &mut L,
) -> [V3<L>; N] {
    let mut denominator = alpha;
    for n in 0..N {
        denominator = denominator + points[n].w * grad[n].length_squared();
    }
    let residual = if FIRST { c } else { c + finite(alpha) * *lambda };
    let step = -residual / (denominator + c.like(f32::MIN_POSITIVE));
    *lambda = *lambda + step;
    let mut moves = *grad;
    for n in 0..N {
        moves[n] = grad[n] * (points[n].w * step);
    }
    moves
}

/// Idle lanes have infinite compliance and λ = 0; their product must be 0, not NaN.
#[inline(always)]
pub(crate) fn finite<L: Lane>(alpha: L) -> L {
    alpha.min(alpha.like(f32::MAX))
}

/// Lane vectors of double-precision points.
pub(crate) fn lanes64<const N: usize>(x: &[DVec3; N]) -> [V3<f64>; N] {
    x.map(|p| V3 { x: p.x, y: p.y, z: p.z })
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::wide::Kernel;

    fn points<const N: usize>(x: [DVec3; N], w: impl Fn(usize) -> f64) -> [Point<f64>; N] {
        std::array::from_fn(|i| Point { p: lanes64(&x)[i], w: w(i) })
    }

    /// Asserts that a force kernel gives minus the gradient of the energy.
    pub fn check_force<K: Kernel<N, P, R>, const N: usize, const P: usize, const R: usize>(
        kernel: K,
        x: [DVec3; N],
        params: [f64; P],
        gradient: [DVec3; N],
    ) {
        let forces = kernel.correct::<f64, true>(&points(x, |_| 1.0), &params, &mut [0.0; R]);
        let scale = gradient.iter().map(|g| g.length()).fold(0.0, f64::max);
        assert!(scale > 1e-6, "the test has a force");
        for (f, g) in forces.iter().zip(gradient) {
            let off = (DVec3::new(f.x, f.y, f.z) + g).length();
            assert!(off < 1e-6 * scale, "{f:?} against {g}");
        }
    }

    /// Projects once, with unequal masses, and asserts that the centre of mass stays; returns the new positions.
    pub fn check_projection<K: Kernel<N, P, R>, const N: usize, const P: usize, const R: usize>(
        kernel: K,
        x: [DVec3; N],
        params: [f64; P],
    ) -> [DVec3; N] {
        let weight = |i: usize| 0.5 + i as f64;
        let moves = kernel.correct::<f64, true>(&points(x, weight), &params, &mut [0.0; R]);
        let moves = moves.map(|m| DVec3::new(m.x, m.y, m.z));
        let momentum: DVec3 = moves.iter().enumerate().map(|(i, &m)| m / weight(i)).sum();
        let size = moves.iter().map(|m| m.length()).fold(0.0, f64::max);
        assert!(momentum.length() <= 1e-6 * size, "momentum {momentum}");
        std::array::from_fn(|i| x[i] + moves[i])
    }
}

#[cfg(test)]
pub(crate) mod finite_difference {
    use super::*;

    /// Asserts that `energy`'s gradient and Hessian agree with central differences at `x`.
    pub fn check_energy<const N: usize>(x: [DVec3; N], energy: impl Fn(&[DVec3; N]) -> Energy<N>) {
        let at = energy(&x);
        let step = 1e-6;
        let scale = at.gradient.iter().map(|g| g.length()).fold(1e-9, f64::max);
        let stiffness = at
            .hessian
            .iter()
            .flatten()
            .flat_map(|m| m.to_cols_array())
            .fold(1e-9, |a: f64, b| a.max(b.abs()));
        for i in 0..N {
            for c in 0..3 {
                let moved = |s: f64| {
                    let mut y = x;
                    y[i][c] += s;
                    energy(&y)
                };
                let (plus, minus) = (moved(step), moved(-step));
                let slope = (plus.value - minus.value) / (2.0 * step);
                assert!(
                    (slope - at.gradient[i][c]).abs() < 1e-5 * scale,
                    "gradient {i}.{c}: {} against {slope}",
                    at.gradient[i][c]
                );
                for j in 0..N {
                    let change = (plus.gradient[j] - minus.gradient[j]) / (2.0 * step);
                    let column = at.hessian[j][i].col(c);
                    assert!(
                        (change - column).length() < 1e-5 * stiffness,
                        "hessian {j},{i}.{c}: {column} against {change}"
                    );
                }
            }
        }
        let total: DVec3 = at.gradient.iter().sum();
        assert!(N == 1 || total.length() < 1e-9 * scale.max(1.0), "internal forces sum to zero");
    }

    /// Asserts that `value_grad`'s gradient agrees with central differences at `x`.
    pub fn check_gradient<const N: usize>(
        x: [DVec3; N],
        value_grad: impl Fn(&[V3<f64>; N]) -> (f64, [V3<f64>; N]),
    ) {
        let step = 1e-6;
        let (_, grad) = value_grad(&lanes64(&x));
        let scale = grad.iter().map(|g| g.length_squared().sqrt()).fold(1e-9, f64::max);
        for i in 0..N {
            for c in 0..3 {
                let moved = |s: f64| {
                    let mut y = x;
                    y[i][c] += s;
                    value_grad(&lanes64(&y)).0
                };
                let slope = (moved(step) - moved(-step)) / (2.0 * step);
                let got = [grad[i].x, grad[i].y, grad[i].z][c];
                assert!((slope - got).abs() < 1e-6 * scale, "{i}.{c}: {got} against {slope}");
            }
        }
    }
}
