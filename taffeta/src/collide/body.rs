//! A collider in the world: shape, pose and scripted motion.

use std::sync::Arc;

use glam::{Quat, Vec3};

use super::{DistanceGrid, Shape, Solid, Surface};
use crate::error::BuildError;
use crate::lanes::{LANES, Lane, Lanes, V3};
use crate::motion::Motion;
use crate::scene::{self, ColliderShape};
use crate::wide::Particle;

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

/// A pose and its way during the substep, as wide code takes them.
#[derive(Clone, Copy, Debug)]
struct Frame {
    origin: [f32; 3],
    /// The local axes, in the world.
    axes: [[f32; 3]; 3],
    /// How far the origin moved, m.
    shift: [f32; 3],
    /// Rows of 1 − R, where R turns back to where it was.
    turn: [[f32; 3]; 3],
}

impl Frame {
    fn new(pose: &Pose, before: &Pose) -> Self {
        // 1 − R is small. Written in the quaternion's imaginary parts it has no difference of large numbers.
        let q = before.rotation.as_dquat() * pose.rotation.as_dquat().conjugate();
        let (x, y, z, w) = (q.x, q.y, q.z, q.w);
        let turn = [
            [y * y + z * z, w * z - x * y, -w * y - x * z],
            [-w * z - x * y, x * x + z * z, w * x - y * z],
            [w * y - x * z, -w * x - y * z, x * x + y * y],
        ];
        Frame {
            origin: pose.position.into(),
            axes: [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| (pose.rotation * axis).into()),
            shift: (pose.position - before.position).into(),
            turn: turn.map(|row| row.map(|v| (2.0 * v) as f32)),
        }
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
    /// No point of it is further than this from its origin, m, nor would be found so with rounding; none for a plane.
    bound: Option<f32>,
    frame: Frame,
    /// Whether it moved in this substep.
    moved: bool,
    /// Whether its surface could not be where it should.
    dented: bool,
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
            }
            .map(|bound| bound * (1.0 + 1e-6)),
            baked,
            frame: Frame::new(&start, &start),
            moved: false,
            dented: false,
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
        let moves = self.pose != self.before;
        if moves || self.moved {
            self.frame = Frame::new(&self.pose, &self.before);
            self.moved = moves;
        }
        let dented = std::mem::take(&mut self.dented);
        if moves || dented || self.surface.as_ref().is_some_and(|surface| surface.deforms()) {
            self.place_points(t);
        }
    }

    /// Leaves the vertices of its surface where jammed cloth has stopped them, until the next substep.
    pub fn dent(&mut self, vertices: &[Particle]) {
        self.points.iter_mut().zip(vertices).for_each(|(point, vertex)| *point = vertex.p.into());
        self.dented = true;
    }

    /// Hands the collider to the program: it moves to `goal` over the next frame, and stays until told again.
    pub fn drive(&mut self, goal: Pose) {
        self.driven = Some(goal);
    }

    /// Whether it has distances. A mesh that was not baked has none: it is met triangle by triangle.
    #[inline(always)]
    pub fn has_distances(&self) -> bool {
        self.shape != Shape::Mesh || self.baked.is_some()
    }

    /// Whether it moved in this substep.
    #[inline(always)]
    pub fn moved(&self) -> bool {
        self.moved
    }

    /// The signed distance (m) of a point of the world and the outward normal there; infinite for a mesh without distances.
    #[inline]
    pub fn distance(&self, p: Vec3) -> (f32, Vec3) {
        let (d, n) = self.distances(V3 { x: p.x, y: p.y, z: p.z });
        (d, Vec3::new(n.x, n.y, n.z))
    }

    /// The same of one point in each lane.
    #[inline(always)]
    pub fn distances<L: Lanes>(&self, p: V3<L>) -> (L, V3<L>) {
        let like = p.x;
        let from = p - V3::splat(like, self.frame.origin);
        // A ball looks the same from all sides.
        if let Shape::Sphere { .. } = self.shape {
            return self.shape.distance(from);
        }
        let [x, y, z] = self.frame.axes;
        let (x, y, z) = (V3::splat(like, x), V3::splat(like, y), V3::splat(like, z));
        if let Shape::Plane = self.shape {
            return (from.dot(y), y);
        }
        let local = V3 { x: from.dot(x), y: from.dot(y), z: from.dot(z) };
        let (d, n) = match &self.baked {
            Some(grid) => baked_distances(grid, local),
            None => self.shape.distance(local),
        };
        (d, x * n.x + y * n.y + z * n.z)
    }

    /// Above zero wherever the distance is below `reach` (m), and not far beyond: most of a cloth is not, and finds out cheaply.
    #[inline(always)]
    pub fn nearness<L: Lane>(&self, p: V3<L>, reach: f32) -> L {
        let like = p.x;
        let from = p - V3::splat(like, self.frame.origin);
        match self.bound {
            Some(bound) => {
                let all = (bound + reach).max(0.0);
                like.like(all * all) - from.length_squared()
            }
            None => like.like(reach) - from.dot(V3::splat(like, self.frame.axes[1])),
        }
    }

    /// The distance and normal, but only where the distance is below `reach` (m).
    #[inline]
    pub fn near(&self, p: Vec3, reach: f32) -> Option<(f32, Vec3)> {
        if !(self.has_distances() && self.nearness(V3 { x: p.x, y: p.y, z: p.z }, reach) > 0.0) {
            return None;
        }
        Some(self.distance(p)).filter(|&(d, _)| d < reach)
    }

    /// How far the matter that is now at `p` moved during the substep, m.
    #[inline(always)]
    pub fn surface_motion<L: Lane>(&self, p: V3<L>) -> V3<L> {
        let Frame { origin, shift, turn, .. } = self.frame;
        let from = p - V3::splat(p.x, origin);
        let turned = V3 {
            x: from.dot(V3::splat(p.x, turn[0])),
            y: from.dot(V3::splat(p.x, turn[1])),
            z: from.dot(V3::splat(p.x, turn[2])),
        };
        turned + V3::splat(p.x, shift)
    }
}

/// A grid is looked up point by point.
#[inline(always)]
fn baked_distances<L: Lanes>(grid: &DistanceGrid, p: V3<L>) -> (L, V3<L>) {
    let (x, y, z) = (p.x.to_lanes(), p.y.to_lanes(), p.z.to_lanes());
    let (mut d, mut n) = ([0.0; LANES], [[0.0; LANES]; 3]);
    for lane in 0..L::COUNT {
        let (distance, normal) = grid.distance(Vec3::new(x[lane], y[lane], z[lane]));
        d[lane] = distance;
        (n[0][lane], n[1][lane], n[2][lane]) = (normal.x, normal.y, normal.z);
    }
    let like = p.x;
    (like.like_lanes(d), V3 { x: like.like_lanes(n[0]), y: like.like_lanes(n[1]), z: like.like_lanes(n[2]) })
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
