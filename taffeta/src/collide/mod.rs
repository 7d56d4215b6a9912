//! Colliders and contact.

use glam::{Quat, Vec3};

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
}

/// Where a collider is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Position of the local origin, m.
    pub position: Vec3,
    /// Rotation from the local frame to the world.
    pub rotation: Quat,
}
