//! What is fixed: topology, rest shape, masses, constraints.

mod anchor;
mod build;
mod select;
mod stiffness;

pub use anchor::Anchor;

use std::ops::Range;

use glam::Vec3;

use crate::color::{PADDING, Row};
use crate::constraint::stvk;
use crate::mesh::Grid;
use crate::motion::Motion;

/// All cloths of a scene as one set of particles, in the engine's own numbering.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The cloths.
    pub cloths: Vec<ClothPart>,
    /// Where each particle starts, m.
    pub start: Vec<Vec3>,
    /// The velocity with which it starts, m/s.
    pub start_velocity: Vec<Vec3>,
    /// Inverse mass of each particle, 1/kg, before pins.
    pub inverse_mass: Vec<f32>,
    /// Triangles of all cloths.
    pub triangles: Vec<[u32; 3]>,
    /// Mesh edges with their rest lengths (m): what strain is measured on.
    pub edges: Vec<([u32; 2], f32)>,
    /// Springs: compliance (m/N), rest length (m).
    pub distance: Vec<Row<2, 2>>,
    /// Dihedral hinges: compliance (rad/(N·m)), rest angle (rad).
    pub dihedral: Vec<Row<4, 2>>,
    /// Isometric hinges: compliance (m/N), weights of the last three particles.
    pub isometric: Vec<Row<4, 4>>,
    /// Triangle bending: compliance (m/N), rest height (m).
    pub triangle_bend: Vec<Row<3, 2>>,
    /// Membrane triangles; see [`stvk::PARAMS`].
    pub stvk: Vec<Row<3, { stvk::PARAMS }>>,
    /// Strain limits: 0, greatest length (m).
    pub strain_limit: Vec<Row<2, 2>>,
    /// Tethers.
    pub tethers: Vec<Tether>,
    /// Held particles.
    pub attachments: Vec<Attachment>,
    /// The motions that attachments refer to.
    pub motions: Vec<Motion>,
    /// The places on colliders that attachments refer to.
    pub anchors: Vec<Anchor>,
    /// Constant forces: particle, N.
    pub loads: Vec<(u32, Vec3)>,
    /// Meshes of colliders.
    pub collider_meshes: Vec<ColliderMesh>,
    /// `caller[i]` is the caller's number of particle i.
    pub caller: Vec<u32>,
    /// Triangles in the caller's order and numbering.
    pub caller_triangles: Vec<[u32; 3]>,
}

/// The mesh of a collider, as particles that the collider moves.
#[derive(Clone, Debug)]
pub struct ColliderMesh {
    /// Which collider of the scene it is.
    pub collider: usize,
    /// Its vertices among the particles of a state: after those of all cloths and the idle ones.
    pub vertices: Range<usize>,
    /// Its triangles, by particle.
    pub triangles: Vec<[u32; 3]>,
    /// Where its vertices start, m.
    pub start: Vec<Vec3>,
}

/// One cloth within a [`Model`].
#[derive(Clone, Debug)]
pub struct ClothPart {
    /// Its name.
    pub name: String,
    /// Its particles; the same range in the caller's numbering.
    pub vertices: Range<usize>,
    /// Its triangles.
    pub triangles: Range<usize>,
    /// Its part of [`Model::edges`].
    pub edges: Range<usize>,
    /// Its part of [`Model::distance`].
    pub distance: Range<usize>,
    /// Its part of [`Model::dihedral`].
    pub dihedral: Range<usize>,
    /// Its part of [`Model::isometric`].
    pub isometric: Range<usize>,
    /// Its part of [`Model::triangle_bend`].
    pub triangle_bend: Range<usize>,
    /// Its part of [`Model::stvk`].
    pub stvk: Range<usize>,
    /// Its part of [`Model::strain_limit`].
    pub strain_limit: Range<usize>,
    /// Its part of [`Model::tethers`].
    pub tethers: Range<usize>,
    /// Stiffness of a tether for methods that cannot hold it rigidly, N/m: about that of all springs at a vertex.
    pub tether_stiffness: f32,
    /// If it is a regular grid: which.
    pub grid: Option<Grid>,
    /// Distance kept from colliders, m.
    pub margin: f32,
    /// Distance kept from other cloth and itself, m.
    pub thickness: f32,
    /// Friction coefficient.
    pub friction: f32,
    /// Decay of velocities, 1/s.
    pub damping: f32,
}

/// A particle kept within reach of an attached one.
#[derive(Clone, Copy, Debug)]
pub struct Tether {
    /// The free particle.
    pub particle: u32,
    /// The attached one.
    pub anchor: u32,
    /// How far apart they may be, m.
    pub reach: f32,
}

/// A particle held to a point that may move.
#[derive(Clone, Copy, Debug)]
pub struct Attachment {
    /// The particle.
    pub particle: u32,
    /// Which motion it follows.
    pub motion: u32,
    /// Which of [`Model::anchors`] it follows instead; [`NONE`](crate::mesh::NONE) if none.
    pub anchor: u32,
    /// When it is let go, s.
    pub until: f32,
}

impl Model {
    /// The number of particles.
    pub fn particles(&self) -> usize {
        self.start.len()
    }

    /// The number of particles of a state: those of the cloths, [`PADDING`] idle ones, and those of colliders' meshes.
    pub fn items(&self) -> usize {
        let colliders: usize = self.collider_meshes.iter().map(|mesh| mesh.vertices.len()).sum();
        self.particles() + PADDING + colliders
    }

    /// The cloths that have any of some particles, and which those are.
    pub fn cloths_in(&self, particles: Range<usize>) -> impl Iterator<Item = (&ClothPart, Range<usize>)> {
        self.cloths.iter().filter_map(move |cloth| {
            let vertices = &cloth.vertices;
            let range = vertices.start.max(particles.start)..vertices.end.min(particles.end);
            (!range.is_empty()).then_some((cloth, range))
        })
    }

    /// The number of constraints of all kinds.
    pub fn constraints(&self) -> usize {
        self.distance.len()
            + self.dihedral.len()
            + self.isometric.len()
            + self.triangle_bend.len()
            + self.stvk.len()
            + self.strain_limit.len()
            + self.tethers.len()
            + self.attachments.len()
    }
}
