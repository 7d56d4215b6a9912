//! Shapes as signed distance functions.

use glam::Vec3;

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
    #[inline]
    pub fn distance(&self, p: Vec3) -> (f32, Vec3) {
        match *self {
            Shape::Plane => (p.y, Vec3::Y),
            Shape::Mesh => (f32::INFINITY, Vec3::Y),
            Shape::Sphere { radius } => from_center(p, radius),
            Shape::Capsule { radius, half_length } => {
                let on_axis = Vec3::new(0.0, p.y.clamp(-half_length, half_length), 0.0);
                from_center(p - on_axis, radius)
            }
            Shape::Cuboid { half } => {
                let q = p.abs() - half;
                let sign = Vec3::new(sign(p.x), sign(p.y), sign(p.z));
                let outside = q.max(Vec3::ZERO);
                let far = outside.length();
                if far > 0.0 {
                    return (far, outside / far * sign);
                }
                // Inside: out through the nearest face.
                let depth = q.max_element();
                let axis = if q.x == depth {
                    Vec3::X
                } else if q.y == depth {
                    Vec3::Y
                } else {
                    Vec3::Z
                };
                (depth, axis * sign)
            }
        }
    }
}

fn sign(v: f32) -> f32 {
    if v < 0.0 { -1.0 } else { 1.0 }
}

fn from_center(p: Vec3, radius: f32) -> (f32, Vec3) {
    let length = p.length();
    // In the very centre every way out is as good as any other: up.
    if length > 1e-12 { (length - radius, p / length) } else { (-radius, Vec3::Y) }
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
            for i in 0..200 {
                let t = i as f32;
                let p = Vec3::new((t * 0.37).sin(), (t * 0.61).cos(), (t * 0.83).sin()) * 1.2;
                let (d, n) = shape.distance(p);
                assert!((n.length() - 1.0).abs() < 1e-5);
                let (on_surface, _) = shape.distance(p - n * d);
                assert!(on_surface.abs() < 1e-5, "{shape:?} at {p}: {on_surface}");
                let step = 1e-3;
                let (ahead, _) = shape.distance(p + n * step);
                assert!((ahead - d - step).abs() < 2e-5, "{shape:?} at {p}");
            }
        }
    }
}
