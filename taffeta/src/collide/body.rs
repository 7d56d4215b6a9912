//! A collider in the world: shape, pose and scripted motion.

use std::sync::Arc;

use glam::{Quat, Vec3};

use super::{DistanceGrid, Shape, Solid, Surface};
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
    /// Its triangles, if it is a mesh.
    pub surface: Option<Arc<Surface>>,
    /// Its friction coefficient, or the fabric's.
    pub friction: Option<f32>,
    /// Where it is now.
    pub pose: Pose,
    /// Where it was at the start of the substep.
    pub before: Pose,
    /// Where the vertices of its surface are now, in the world, m.
    points: Vec<Vec3>,
    /// Distances to its surface, if it was baked.
    baked: Option<Arc<DistanceGrid>>,
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
        let surface = surface_of(index, c)?;
        let baked = match (&c.sdf, &surface) {
            (Some(bake), Some(surface)) => Some(Arc::new(baked(index, bake.cell, surface)?)),
            _ => None,
        };
        let shape = match c.shape {
            ColliderShape::Mesh => Shape::Mesh,
            ColliderShape::Plane => Shape::Plane,
            ColliderShape::Sphere => Shape::Sphere { radius: c.radius },
            ColliderShape::Box => Shape::Cuboid { half: Vec3::from(c.size) * 0.5 },
            ColliderShape::Capsule => Shape::Capsule { radius: c.radius, half_length: 0.5 * c.length },
        };
        let start = Pose { position: c.position.into(), rotation: scene::rotation(c.rotation) };
        let name = if c.name.is_empty() { format!("collider {index}") } else { c.name.clone() };
        let mut body = Body {
            name,
            shape,
            points: vec![Vec3::ZERO; surface.as_ref().map_or(0, |s| s.vertices())],
            surface,
            friction: c.friction,
            pose: start,
            before: start,
            bound: match shape {
                Shape::Plane => None,
                Shape::Mesh => baked.as_ref().map(|grid| grid.reach()),
                Shape::Sphere { radius } => Some(radius),
                Shape::Cuboid { half } => Some(half.length()),
                Shape::Capsule { radius, half_length } => Some(radius + half_length),
            },
            baked,
            up: start.rotation * Vec3::Y,
            start,
            motion: c.motion.clone(),
            driven: None,
        };
        body.place_points(0.0);
        Ok(body)
    }

    /// Where the vertices of its surface are now, in the world, m; none for other shapes.
    pub fn points(&self) -> &[Vec3] {
        &self.points
    }

    /// The triangles that cloth meets, by their number in [`points`](Self::points). A mesh that was baked has distances instead.
    pub fn triangles(&self) -> &[[u32; 3]] {
        match &self.surface {
            Some(surface) if self.baked.is_none() => &surface.triangles,
            _ => &[],
        }
    }

    /// Its mesh as it is now, in the world, for questions of what is inside; none for other shapes and for open meshes, which have no inside.
    pub fn solid(&self) -> Option<Solid> {
        let surface = self.surface.as_ref().filter(|surface| surface.closed())?;
        Some(Solid::new(&self.points, &surface.triangles))
    }

    fn place_points(&mut self, t: f64) {
        let Body { surface: Some(surface), points, pose, .. } = self else { return };
        surface.deform(t, points);
        points.iter_mut().for_each(|p| *p = pose.to_world(*p));
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
        if self.pose != self.before || self.surface.as_ref().is_some_and(|surface| surface.deforms()) {
            self.place_points(t);
        }
    }

    /// Hands the collider to the program: it moves to `goal` over the next frame, and stays until told again.
    pub fn drive(&mut self, goal: Pose) {
        self.driven = Some(goal);
    }

    /// The signed distance (m) of a point of the world and the outward normal there; infinite for a mesh that was not baked,
    /// which is met triangle by triangle.
    #[inline]
    pub fn distance(&self, p: Vec3) -> (f32, Vec3) {
        match self.shape {
            // A ball looks the same from all sides.
            Shape::Sphere { .. } => self.shape.distance(p - self.pose.position),
            Shape::Mesh => {
                let Some(grid) = &self.baked else { return (f32::INFINITY, Vec3::Y) };
                let (d, n) = grid.distance(self.pose.to_local(p));
                (d, self.pose.rotation * n)
            }
            _ => {
                let (d, n) = self.shape.distance(self.pose.to_local(p));
                (d, self.pose.rotation * n)
            }
        }
    }

    /// The same, but only where the distance is below `reach` (m); most of a cloth is not, and finds out cheaply.
    #[inline]
    pub fn near(&self, p: Vec3, reach: f32) -> Option<(f32, Vec3)> {
        if self.shape == Shape::Mesh && self.baked.is_none() {
            return None;
        }
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

/// The mesh of a collider, checked and scaled.
fn surface_of(index: usize, c: &scene::Collider) -> Result<Option<Arc<Surface>>, BuildError> {
    let bad =
        |field: &str, problem: String| Err(BuildError::field(format!("collider.{index}.{field}"), problem));
    let given = c.mesh.is_some() || c.generate.is_some();
    if c.shape != ColliderShape::Mesh {
        let field = if c.mesh.is_some() { "mesh" } else { "generate" };
        if given {
            return bad(field, "is given, but the shape is another; write shape = \"mesh\"".into());
        }
        return if c.sdf.is_some() {
            bad("sdf", "is for shape = \"mesh\"; this shape has distances of its own".into())
        } else {
            Ok(None)
        };
    }
    if !(c.scale > 0.0 && c.scale.is_finite()) {
        return bad("scale", format!("is {}; must be above 0", c.scale));
    }
    if c.mesh.is_some() && c.generate.is_some() {
        return bad("generate", "a mesh is given too; leave one of them out".into());
    }
    let surface = match (&c.surface, &c.generate, &c.mesh) {
        (Some(surface), ..) => surface.clone(),
        (None, Some(generate), _) => match generate.surface() {
            Ok(surface) => Arc::new(surface),
            Err((part, problem)) => return bad(&format!("generate.{part}"), problem),
        },
        (None, None, Some(path)) => return bad("mesh", format!("'{path}' has not been read")),
        (None, None, None) => {
            let right = "name a file, such as mesh = \"body.obj\", or generate one";
            return bad("mesh", format!("is missing; {right}"));
        }
    };
    if let Some(problem) = surface.problem() {
        return bad("mesh", problem.message);
    }
    Ok(Some(if c.scale == 1.0 { surface } else { Arc::new(surface.scaled(c.scale)) }))
}

fn baked(index: usize, cell: f32, surface: &Surface) -> Result<DistanceGrid, BuildError> {
    let bad = |field: &str, problem: String| BuildError::field(format!("collider.{index}.{field}"), problem);
    if surface.deforms() {
        return Err(bad("sdf", "a mesh that changes its shape cannot be baked; leave sdf out".into()));
    }
    if !surface.closed() {
        return Err(bad("sdf", "the mesh is open and has no inside; close it, or leave sdf out".into()));
    }
    let mut points = vec![Vec3::ZERO; surface.vertices()];
    surface.deform(0.0, &mut points);
    DistanceGrid::new(&Solid::new(&points, &surface.triangles), cell)
        .map_err(|problem| bad("sdf.cell", problem))
}

/// Rotation a fraction of the way, along the shorter arc.
fn nlerp(a: Quat, b: Quat, t: f32) -> Quat {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    (a * (1.0 - t) + b * t).normalize()
}
