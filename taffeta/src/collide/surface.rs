//! The triangle mesh of a collider, and how it deforms.

mod frames;
mod orient;
mod skin;

use glam::Vec3;

use crate::mesh::{self, Problem, Severity, TriMesh};

pub use frames::Frames;
pub use skin::{Influence, Joint, MOST_JOINTS, Skin, Track};

/// A collider's triangle mesh and how it deforms, in its own frame.
///
/// Triangles of a closed mesh are turned so that they face outwards; those of an open one all face the side that most of them faced.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// Corners of the triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    rest: Vec<Vec3>,
    deformation: Deformation,
    closed: bool,
    turned: usize,
}

/// What happens to the vertices of a [`Surface`] in the course of time.
#[derive(Clone, Debug, PartialEq)]
enum Deformation {
    Rigid,
    Frames(Frames),
    Skin(Skin),
}

impl Surface {
    /// A mesh that keeps its shape.
    pub fn rigid(mesh: &TriMesh) -> Self {
        let mut triangles = mesh.triangles.clone();
        let rest: Vec<Vec3> = mesh.positions.iter().map(|&p| p.into()).collect();
        let orient::Outcome { closed, turned } = orient::outwards(&mut triangles, &rest);
        Surface { triangles, rest, deformation: Deformation::Rigid, closed, turned }
    }

    /// A mesh that goes through a sequence of shapes; says what is wrong with the sequence if it does not fit.
    pub fn animated(mesh: &TriMesh, frames: Frames) -> Result<Self, String> {
        frames.check(mesh.positions.len())?;
        Ok(Surface { deformation: Deformation::Frames(frames), ..Surface::rigid(mesh) })
    }

    /// A mesh that hangs on joints; says what is wrong with the skin if it does not fit.
    pub fn skinned(mesh: &TriMesh, skin: Skin) -> Result<Self, String> {
        skin.check(mesh.positions.len())?;
        Ok(Surface { deformation: Deformation::Skin(skin), ..Surface::rigid(mesh) })
    }

    /// The number of vertices.
    pub fn vertices(&self) -> usize {
        self.rest.len()
    }

    /// The mesh at rest, m.
    pub fn mesh(&self) -> TriMesh {
        TriMesh {
            positions: self.rest.iter().map(|&p| p.into()).collect(),
            triangles: self.triangles.clone(),
        }
    }

    /// Whether it changes its shape.
    pub fn deforms(&self) -> bool {
        self.deformation != Deformation::Rigid
    }

    /// Whether it has an inside: every edge belongs to two triangles.
    pub fn closed(&self) -> bool {
        self.closed
    }

    /// How many triangles had to be turned round to face outwards.
    pub fn turned(&self) -> usize {
        self.turned
    }

    /// Local positions at time `t` (s), m, for every vertex. Allocates nothing.
    ///
    /// # Panics
    /// If `out` has not one place for each vertex.
    pub fn deform(&self, t: f64, out: &mut [Vec3]) {
        assert_eq!(out.len(), self.rest.len());
        match &self.deformation {
            Deformation::Rigid => out.copy_from_slice(&self.rest),
            Deformation::Frames(frames) => frames.at(t, out),
            Deformation::Skin(skin) => skin.at(t, &self.rest, out),
        }
    }

    /// The same surface, `scale` times as large.
    pub fn scaled(&self, scale: f32) -> Self {
        let mut surface = self.clone();
        surface.rest.iter_mut().for_each(|p| *p *= scale);
        match &mut surface.deformation {
            Deformation::Rigid => {}
            Deformation::Frames(frames) => frames.scale(scale),
            Deformation::Skin(skin) => skin.scale(scale),
        }
        surface
    }

    /// The first fault that makes it unusable, if there is one.
    pub fn problem(&self) -> Option<Problem> {
        mesh::check(&self.mesh()).into_iter().find(|p| p.severity == Severity::Error)
    }
}

#[cfg(test)]
mod tests;
