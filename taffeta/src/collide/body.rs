//! A collider in the world: shape, pose and scripted motion.

use glam::{Quat, Vec3};

use super::Shape;
use crate::error::BuildError;
use crate::motion::Motion;
use crate::scene::{self, ColliderShape};

/// Where a collider is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Position of the local origin, m.
    pub position: Vec3,
    /// Rotation from the local frame to the world.
    pub rotation: Quat,
}

impl Pose {
    /// A local point in the world.
    #[inline]
    pub fn to_world(&self, local: Vec3) -> Vec3 {
        self.rotation * local + self.position
    }

    /// A point of the world in the local frame.
    #[inline]
    pub fn to_local(&self, world: Vec3) -> Vec3 {
        self.rotation.conjugate() * (world - self.position)
    }
}

/// A collider of a simulation.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its name in messages.
    pub name: String,
    /// Its shape.
    pub shape: Shape,
    /// Its friction coefficient, or the fabric's.
    pub friction: Option<f32>,
    /// Where it is now.
    pub pose: Pose,
    /// Where it was at the start of the substep.
    pub before: Pose,
    /// No point of it is further than this from its origin, m; none for a plane.
    bound: Option<f32>,
    /// Its y axis in the world.
    up: Vec3,
    start: Pose,
    motion: Motion,
    /// Set while the program moves it instead of its script.
    driven: Option<Pose>,
}

impl Body {
    /// Builds collider number `index` of a scene.
    pub fn new(index: usize, c: &scene::Collider) -> Result<Self, BuildError> {
        let bad =
            |field: &str, problem: &str| Err(BuildError::field(format!("collider.{index}.{field}"), problem));
        let finite = |v: [f32; 3]| v.iter().all(|c| c.is_finite());
        if !finite(c.position) || !finite(c.rotation) {
            return bad("position", "must be finite numbers");
        }
        let positive = |v: f32| v > 0.0 && v.is_finite();
        let round = matches!(c.shape, ColliderShape::Sphere | ColliderShape::Capsule);
        if round && !positive(c.radius) {
            return bad("radius", &format!("is {}; must be above 0 m", c.radius));
        }
        if c.shape == ColliderShape::Box && !c.size.into_iter().all(positive) {
            return bad("size", "must be three lengths above 0 m");
        }
        if c.shape == ColliderShape::Capsule && !(c.length >= 0.0 && c.length.is_finite()) {
            return bad("length", &format!("is {}; must be 0 m or more", c.length));
        }
        if c.friction.is_some_and(|f| !(f >= 0.0 && f.is_finite())) {
            return bad("friction", "must be 0 or more");
        }
        if let Some((field, problem)) = c.motion.problem() {
            return bad(&format!("motion.{field}"), &problem);
        }
        let shape = match c.shape {
            ColliderShape::Plane => Shape::Plane,
            ColliderShape::Sphere => Shape::Sphere { radius: c.radius },
            ColliderShape::Box => Shape::Cuboid { half: Vec3::from(c.size) * 0.5 },
            ColliderShape::Capsule => Shape::Capsule { radius: c.radius, half_length: 0.5 * c.length },
        };
        let start = Pose { position: c.position.into(), rotation: scene::rotation(c.rotation) };
        let name = if c.name.is_empty() { format!("collider {index}") } else { c.name.clone() };
        Ok(Body {
            name,
            shape,
            friction: c.friction,
            pose: start,
            before: start,
            bound: match shape {
                Shape::Plane => None,
                Shape::Sphere { radius } => Some(radius),
                Shape::Cuboid { half } => Some(half.length()),
                Shape::Capsule { radius, half_length } => Some(radius + half_length),
            },
            up: start.rotation * Vec3::Y,
            start,
            motion: c.motion.clone(),
            driven: None,
        })
    }

    /// Moves on to time `t` (s); `fraction` is how much of the frame's way a driven collider goes.
    pub fn advance(&mut self, t: f64, fraction: f32) {
        self.before = self.pose;
        match self.driven {
            Some(goal) => {
                self.pose.position = self.pose.position.lerp(goal.position, fraction);
                self.pose.rotation = nlerp(self.pose.rotation, goal.rotation, fraction);
            }
            None if self.motion.is_still() => {}
            None => {
                self.pose.position = self.motion.point(self.start.position, t);
                self.pose.rotation = self.motion.turn(t) * self.start.rotation;
            }
        }
        self.up = self.pose.rotation * Vec3::Y;
    }

    /// Hands the collider to the program: it moves to `goal` over the next frame, and stays until told again.
    pub fn drive(&mut self, goal: Pose) {
        self.driven = Some(goal);
    }

    /// The signed distance (m) of a point of the world and the outward normal there.
    #[inline]
    pub fn distance(&self, p: Vec3) -> (f32, Vec3) {
        match self.shape {
            // A ball looks the same from all sides.
            Shape::Sphere { .. } => self.shape.distance(p - self.pose.position),
            _ => {
                let (d, n) = self.shape.distance(self.pose.to_local(p));
                (d, self.pose.rotation * n)
            }
        }
    }

    /// The same, but only where the distance is below `reach` (m); most of a cloth is not, and finds out cheaply.
    #[inline]
    pub fn near(&self, p: Vec3, reach: f32) -> Option<(f32, Vec3)> {
        let from = p - self.pose.position;
        if let Some(bound) = self.bound
            && from.length() > bound + reach
        {
            return None;
        }
        let (d, n) = match self.shape {
            Shape::Plane => (from.dot(self.up), self.up),
            _ => self.distance(p),
        };
        (d < reach).then_some((d, n))
    }

    /// How far the matter that is now at `p` moved during the substep, m.
    #[inline]
    pub fn surface_motion(&self, p: Vec3) -> Vec3 {
        if self.pose == self.before {
            return Vec3::ZERO;
        }
        p - self.before.to_world(self.pose.to_local(p))
    }
}

/// Rotation a fraction of the way, along the shorter arc.
fn nlerp(a: Quat, b: Quat, t: f32) -> Quat {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    (a * (1.0 - t) + b * t).normalize()
}
