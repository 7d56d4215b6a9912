//! Shapes as signed distance functions.

use glam::Vec3;

use crate::lanes::{Lane, V3};

/// The shape of a collider, in its own frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// The half-space y ≤ 0: the surface is the local plane y = 0, its normal is +y.
    Plane,
    /// A ball of `radius` metres about the origin.
    Sphere {
        /// Radius, m.
        radius: f32,
    },
    /// A box with these half extents, m.
    Cuboid {
        /// Half the side lengths, m.
        half: Vec3,
    },
    /// All points within `radius` of the segment from (0, −half_length, 0) to (0, half_length, 0).
    Capsule {
        /// Radius, m.
        radius: f32,
        /// Half the length of the inner segment, m.
        half_length: f32,
    },
    /// A triangle mesh, which its [`Body`](super::Body) has. It is met triangle by triangle and has no distance here.
    Mesh,
}

impl Shape {
    /// The signed distance of `p` to the surface (m, negative inside) and the direction in which it grows.
    #[inline(always)]
    pub fn distance<L: Lane>(&self, p: V3<L>) -> (L, V3<L>) {
        let (zero, one) = (p.x.like(0.0), p.x.like(1.0));
        match *self {
            Shape::Plane => (p.y, V3::splat(one, [0.0, 1.0, 0.0])),
            Shape::Mesh => (one.like(f32::INFINITY), V3::splat(one, [0.0, 1.0, 0.0])),
            Shape::Sphere { radius } => from_center(p, radius),
            Shape::Capsule { radius, half_length } => {
                let on_axis = p.y.max(one.like(-half_length)).min(one.like(half_length));
                from_center(V3 { y: p.y - on_axis, ..p }, radius)
            }
            Shape::Cuboid { half } => {
                let abs = V3 { x: p.x.abs(), y: p.y.abs(), z: p.z.abs() };
                let q = abs - V3::splat(one, half.to_array());
                let outside = V3 { x: q.x.max(zero), y: q.y.max(zero), z: q.z.max(zero) };
                let far = outside.length_squared().sqrt();
                // Inside: out through the nearest face.
                let depth = q.x.max(q.y).max(q.z);
                let by_x = q.x.select_lt(depth, zero, one);
                let by_y = q.y.select_lt(depth, zero, one - by_x);
                let inside = V3 { x: by_x, y: by_y, z: one - by_x - by_y };
                let n = (outside * (one / far)).where_positive(far, inside);
                let sign = V3 { x: sign(p.x), y: sign(p.y), z: sign(p.z) };
                let n = V3 { x: n.x * sign.x, y: n.y * sign.y, z: n.z * sign.z };
                (zero.select_lt(far, far, depth), n)
            }
        }
    }
}

#[inline(always)]
fn sign<L: Lane>(v: L) -> L {
    v.select_lt(v.like(0.0), v.like(-1.0), v.like(1.0))
}

#[inline(always)]
fn from_center<L: Lane>(p: V3<L>, radius: f32) -> (L, V3<L>) {
    let length = p.length_squared().sqrt();
    // In the very centre every way out is as good as any other: up.
    let off = length - length.like(1e-12);
    let n = (p * (length.like(1.0) / length)).where_positive(off, V3::splat(length, [0.0, 1.0, 0.0]));
    (length - length.like(radius), n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_is_the_gradient_and_leads_to_the_surface() {
        let shapes = [
            Shape::Plane,
            Shape::Sphere { radius: 0.7 },
            Shape::Cuboid { half: Vec3::new(0.5, 0.3, 0.9) },
            Shape::Capsule { radius: 0.3, half_length: 0.6 },
        ];
        for shape in shapes {
            let distance = |p: Vec3| {
                let (d, n) = shape.distance(V3 { x: p.x, y: p.y, z: p.z });
                (d, Vec3::new(n.x, n.y, n.z))
            };
            for i in 0..200 {
                let t = i as f32;
                let p = Vec3::new((t * 0.37).sin(), (t * 0.61).cos(), (t * 0.83).sin()) * 1.2;
                let (d, n) = distance(p);
                assert!((n.length() - 1.0).abs() < 1e-5);
                let (on_surface, _) = distance(p - n * d);
                assert!(on_surface.abs() < 1e-5, "{shape:?} at {p}: {on_surface}");
                let step = 1e-3;
                let (ahead, _) = distance(p + n * step);
                assert!((ahead - d - step).abs() < 2e-5, "{shape:?} at {p}");
            }
        }
    }
}
