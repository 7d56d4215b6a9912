//! Pins that are sewn to a collider.

use glam::{Mat3, Vec3};

use super::{Attachment, ColliderMesh, Model};
use crate::collide::{Body, Solid};
use crate::error::BuildError;
use crate::mesh::NONE;
use crate::scene::Scene;

/// A place that moves along with a collider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Anchor {
    /// A point of the collider's own frame, m.
    Rigid {
        /// Which collider.
        collider: u32,
        /// The point.
        local: Vec3,
    },
    /// A point over a triangle of the collider's mesh.
    Skin {
        /// Which collider.
        collider: u32,
        /// Which triangle of its surface.
        triangle: u32,
        /// Weights of its corners for the point of it below.
        weights: [f32; 3],
        /// From there along the first edge, across it, and along the normal, m.
        offset: Vec3,
    },
}

impl Anchor {
    /// Sews the point `p` of the world to a collider as it is now.
    fn new(collider: usize, body: &Body, solid: Option<&Solid>, p: Vec3) -> Self {
        let closest = solid.and_then(|solid| solid.closest(p, f32::INFINITY));
        let collider = collider as u32;
        match (closest, &body.surface) {
            (Some(closest), Some(surface)) => {
                let corners = surface.triangles[closest.triangle as usize].map(|v| body.points()[v as usize]);
                let (below, frame) = frame(corners, closest.weights);
                let offset = frame.transpose() * (p - below);
                Anchor::Skin { collider, triangle: closest.triangle, weights: closest.weights, offset }
            }
            _ => Anchor::Rigid { collider, local: body.pose.to_local(p) },
        }
    }

    /// Where it is now, m.
    pub fn place(&self, bodies: &[Body]) -> Vec3 {
        match *self {
            Anchor::Rigid { collider, local } => bodies[collider as usize].pose.to_world(local),
            Anchor::Skin { collider, triangle, weights, offset } => {
                let body = &bodies[collider as usize];
                let Some(surface) = &body.surface else { return body.pose.position };
                let corners = surface.triangles[triangle as usize].map(|v| body.points()[v as usize]);
                let (below, frame) = frame(corners, weights);
                below + frame * offset
            }
        }
    }
}

/// The point of a triangle with these weights, and its edge, what is across it, and its normal.
fn frame([a, b, c]: [Vec3; 3], weights: [f32; 3]) -> (Vec3, Mat3) {
    let edge = (b - a).normalize_or(Vec3::X);
    let normal = edge.cross(c - a).normalize_or(Vec3::Y);
    (a * weights[0] + b * weights[1] + c * weights[2], Mat3::from_cols(edge, normal.cross(edge), normal))
}

impl Model {
    /// Sews the pins that follow a collider to it. Bodies are where they start.
    pub fn sew_pins(&mut self, scene: &Scene, bodies: &[Body]) -> Result<(), BuildError> {
        // Every pin has a motion of its own, in this order.
        let pins = scene.cloth.iter().enumerate().flat_map(|(c, cloth)| {
            cloth.pin.iter().enumerate().map(move |(i, pin)| (format!("cloth.{c}.pin.{i}"), pin))
        });
        for (motion, (field, pin)) in pins.enumerate() {
            let Some(name) = &pin.follow else { continue };
            let Some(collider) = scene.collider.iter().position(|c| c.name == *name) else {
                let names: Vec<&str> = scene.collider.iter().map(|c| c.name.as_str()).collect();
                let hint = crate::error::suggestion(name, &names);
                return Err(BuildError::field(
                    format!("{field}.follow"),
                    format!("there is no collider '{name}'; {hint}"),
                ));
            };
            if !pin.motion.is_still() {
                let problem = "follows a collider and has no motion of its own; leave one of them out";
                return Err(BuildError::field(format!("{field}.motion"), problem));
            }
            let body = &bodies[collider];
            let solid = body.surface.as_ref().map(|surface| Solid::new(body.points(), &surface.triangles));
            for attachment in self.attachments.iter_mut().filter(|a| a.motion == motion as u32) {
                attachment.anchor = self.anchors.len() as u32;
                let p = self.start[attachment.particle as usize];
                self.anchors.push(Anchor::new(collider, body, solid.as_ref(), p));
            }
        }
        Ok(())
    }

    /// Takes the meshes of colliders that are met triangle by triangle. Bodies are where they start.
    pub fn add_collider_meshes(&mut self, bodies: &[Body]) {
        for (collider, body) in bodies.iter().enumerate().filter(|(_, body)| !body.triangles().is_empty()) {
            let first = self.items();
            let triangles = body.triangles().iter().map(|t| t.map(|v| v + first as u32)).collect();
            let start = body.points().to_vec();
            let vertices = first..first + start.len();
            self.collider_meshes.push(ColliderMesh { collider, vertices, triangles, start });
        }
    }

    /// Where a held particle is to be at time `t` (s), m.
    pub fn held_at(&self, attachment: &Attachment, bodies: &[Body], t: f64) -> Vec3 {
        if attachment.anchor != NONE {
            return self.anchors[attachment.anchor as usize].place(bodies);
        }
        let start = self.start[attachment.particle as usize];
        let motion = &self.motions[attachment.motion as usize];
        if motion.is_still() { start } else { motion.point(start, t) }
    }
}
