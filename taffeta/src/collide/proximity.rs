//! How near a point is to a triangle and a segment to a segment.
//!
//! Four points make a *stencil*: a point and a triangle (p, a, b, c), or two segments (a₀, a₁, b₀, b₁). Its closest points are
//! fixed combinations of the four, so that the vector from the second side to the first is Σ wᵢ xᵢ with Σ wᵢ = 0.
//!
//! Both functions take the least of several candidates, each the distance of two points that really belong to the two sides:
//! the three edges of the triangle and its inside; the four ends against the other segment and the two insides. A clamped
//! parameter never leaves its side, so a candidate can only be too large, and the ends are right where the insides are ill
//! conditioned (slivers, segments that are nearly parallel). What rounding may still add is in [`Near::doubt_squared`]:
//! distance − doubt is never more than the true distance of the stencil.
//!
//! The code is written over [`Lane`], for one stencil in double precision and for eight in single precision.
//!
//! Ericson, Real-Time Collision Detection (2005), 5.1; the remarks on parallel edges are our own.

use glam::{DVec3, Vec3};

use crate::lanes::{Lane, V3};

/// What a stencil is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A point and the three corners of a triangle.
    PointTriangle,
    /// The ends of two segments.
    SegmentSegment,
}

/// The closest points of a stencil.
#[derive(Clone, Copy, Debug)]
pub struct Near<L> {
    /// Squared distance, m².
    pub squared: L,
    /// w: the vector from the second side to the first is Σ wᵢ xᵢ.
    pub weights: [L; 4],
    /// How much too large the distance may be by rounding, squared, m².
    pub doubt_squared: L,
    /// 1 where the closest points are inside the triangle or inside both segments, else 0.
    pub inner: L,
}

/// Insides count only where the squared sine between the two directions is above (this × ε)².
const FLAT: f32 = 64.0;
/// Rounding of a distance in units of ε × size, well conditioned; see the test that measures it.
const ROUNDING: f32 = 4.0;

#[inline(always)]
fn zero_to_one<L: Lane>(t: L) -> L {
    t.max(t.like(0.0)).min(t.like(1.0))
}

/// Takes `candidate` where it is nearer.
#[inline(always)]
fn nearer<L: Lane>(best: Near<L>, squared: L, weights: [L; 4]) -> Near<L> {
    let mut out = best;
    for i in 0..4 {
        out.weights[i] = squared.select_lt(best.squared, weights[i], best.weights[i]);
    }
    out.squared = squared.min(best.squared);
    out
}

/// What rounding may add to a distance, squared. With the sides' directions u and v (for a triangle two of its edges), n = u × v
/// and the size ℓ of the stencil, the inside candidate is wrong by about ε ℓ |u||v|/|n|. It is never wrong by more than what leaving it out costs:
/// |n|/|longer side|, the height of the sliver or how far nearly parallel segments diverge.
#[inline(always)]
fn doubt<L: Lane>(epsilon: L, size2: L, uu: L, vv: L, nn: L, inverse_nn: L) -> L {
    let big = epsilon.like(1e30);
    let unit = epsilon * epsilon.like(ROUNDING);
    let unit2 = unit * unit;
    let condition = ((uu * vv).min(big) * inverse_nn).min(big);
    let inside = unit2 * size2 * (epsilon.like(1.0) + condition);
    let left_out = unit2 * size2 * epsilon.like(4.0)
        + epsilon.like(2.0) * nn / (uu.max(vv) + epsilon.like(f32::MIN_POSITIVE));
    inside.min(left_out)
}

/// A point and a triangle. `epsilon` is that of the arithmetic.
#[inline(always)]
pub fn point_triangle<L: Lane>(x: &[V3<L>; 4], epsilon: L) -> Near<L> {
    let [p, a, b, c] = *x;
    let (zero, one, tiny) = (epsilon.like(0.0), epsilon.like(1.0), epsilon.like(f32::MIN_POSITIVE));
    let (ab, ac, bc) = (b - a, c - a, c - b);
    let (ap, bp) = (p - a, p - b);
    let (ab2, ac2, bc2) = (ab.length_squared(), ac.length_squared(), bc.length_squared());

    let t = zero_to_one(ap.dot(ab) / (ab2 + tiny));
    let mut best = Near {
        squared: (ap - ab * t).length_squared(),
        weights: [one, t - one, -t, zero],
        doubt_squared: zero,
        inner: zero,
    };
    let t = zero_to_one(ap.dot(ac) / (ac2 + tiny));
    best = nearer(best, (ap - ac * t).length_squared(), [one, t - one, zero, -t]);
    let t = zero_to_one(bp.dot(bc) / (bc2 + tiny));
    best = nearer(best, (bp - bc * t).length_squared(), [one, zero, t - one, -t]);

    // Inside, in units of n²: p = a + (β ab + γ ac) + height · n.
    let n = ab.cross(ac);
    let nn = n.length_squared();
    let inverse = one / (nn + tiny);
    let (beta, gamma) = (ap.cross(ac).dot(n), ab.cross(ap).dot(n));
    let least = beta.min(gamma).min(nn - beta - gamma);
    let height = ap.dot(n);
    let flat = epsilon * epsilon.like(FLAT);
    let far = epsilon.like(f32::MAX);
    let inside = least.select_lt(zero, far, height * height * inverse);
    let inside = nn.select_lt(flat * flat * (ab2 * ac2) + tiny, far, inside);
    let (beta, gamma) = (beta * inverse, gamma * inverse);
    let inner = inside.select_lt(best.squared, one, zero);
    best = nearer(best, inside, [one, beta + gamma - one, -beta, -gamma]);
    best.inner = inner;

    let size2 = ap.length_squared() + ab2.max(ac2);
    best.doubt_squared = doubt(epsilon, size2, ab2, ac2, nn, inverse);
    best
}

/// Two segments. `epsilon` is that of the arithmetic.
#[inline(always)]
pub fn segment_segment<L: Lane>(x: &[V3<L>; 4], epsilon: L) -> Near<L> {
    let [a0, a1, b0, b1] = *x;
    let (zero, one, tiny) = (epsilon.like(0.0), epsilon.like(1.0), epsilon.like(f32::MIN_POSITIVE));
    let (u, v, r) = (a1 - a0, b1 - b0, a0 - b0);
    let (a1b0, a0b1) = (a1 - b0, a0 - b1);
    let (uu, vv) = (u.length_squared(), v.length_squared());
    let (inverse_uu, inverse_vv) = (one / (uu + tiny), one / (vv + tiny));

    let t = zero_to_one(r.dot(v) * inverse_vv);
    let mut best = Near {
        squared: (r - v * t).length_squared(),
        weights: [one, zero, t - one, -t],
        doubt_squared: zero,
        inner: zero,
    };
    let t = zero_to_one(a1b0.dot(v) * inverse_vv);
    best = nearer(best, (a1b0 - v * t).length_squared(), [zero, one, t - one, -t]);
    let s = zero_to_one(-r.dot(u) * inverse_uu);
    best = nearer(best, (r + u * s).length_squared(), [one - s, s, -one, zero]);
    let s = zero_to_one(-a0b1.dot(u) * inverse_uu);
    best = nearer(best, (a0b1 + u * s).length_squared(), [one - s, s, zero, -one]);

    // Insides: r + s u − t v is along n = u × v.
    let n = u.cross(v);
    let nn = n.length_squared();
    let inverse = one / (nn + tiny);
    let (s, t) = (v.cross(r).dot(n), u.cross(r).dot(n));
    let least = s.min(t).min(nn - s).min(nn - t);
    let height = r.dot(n);
    let flat = epsilon * epsilon.like(FLAT);
    let far = epsilon.like(f32::MAX);
    let inside = least.select_lt(zero, far, height * height * inverse);
    let inside = nn.select_lt(flat * flat * (uu * vv) + tiny, far, inside);
    let (s, t) = (s * inverse, t * inverse);
    let inner = inside.select_lt(best.squared, one, zero);
    best = nearer(best, inside, [one - s, s, t - one, -t]);
    best.inner = inner;

    let size2 = r.length_squared() + uu.max(vv);
    best.doubt_squared = doubt(epsilon, size2, uu, vv, nn, inverse);
    best
}

/// The closest points of either kind.
#[inline(always)]
pub fn near<L: Lane>(kind: Kind, x: &[V3<L>; 4], epsilon: L) -> Near<L> {
    match kind {
        Kind::PointTriangle => point_triangle(x, epsilon),
        Kind::SegmentSegment => segment_segment(x, epsilon),
    }
}

/// The closest points of two things.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proximity {
    /// How far apart they are, m; too large by at most a few ε of double precision × the size of the stencil.
    pub distance: f32,
    /// w: the vector from the second thing to the first is Σ wᵢ xᵢ.
    pub weights: [f32; 4],
    /// Unit vector from the second to the first. Where they touch, the normal of the two sides; zero if there is none.
    pub direction: Vec3,
}

/// The closest points of a stencil, in double precision from its first point.
pub fn proximity(kind: Kind, x: [Vec3; 4]) -> Proximity {
    let x = x.map(|p| p.as_dvec3());
    let near = double(kind, x);
    let mut between = DVec3::ZERO;
    for i in 1..4 {
        between += (x[i] - x[0]) * near.weights[i];
    }
    if between == DVec3::ZERO {
        between = match kind {
            Kind::PointTriangle => (x[2] - x[1]).cross(x[3] - x[1]),
            Kind::SegmentSegment => (x[1] - x[0]).cross(x[3] - x[2]),
        };
    }
    Proximity {
        distance: near.squared.sqrt() as f32,
        weights: near.weights.map(|w| w as f32),
        direction: between.normalize_or_zero().as_vec3(),
    }
}

/// No more than the true distance of a stencil (m), and hardly less.
pub fn lower_distance(kind: Kind, x: [Vec3; 4]) -> f32 {
    let near = double(kind, x.map(|p| p.as_dvec3()));
    // Half a unit in the last place of single precision is lost on the way back.
    (near.squared.sqrt() - near.doubt_squared.sqrt()).max(0.0) as f32 * (1.0 - f32::EPSILON)
}

fn double(kind: Kind, x: [DVec3; 4]) -> Near<f64> {
    // Differences of single-precision numbers are exact to the last place of double precision, so the origin does not matter.
    near(kind, &x.map(|p| V3 { x: p.x, y: p.y, z: p.z }), f64::EPSILON)
}

#[cfg(test)]
mod tests;
