//! Triangle meshes: regular grids, topology, checks, numbering, geodesic distance, coarse levels, and some made by code.

mod check;
pub mod generate;
mod geodesic;
mod grid;
pub mod hierarchy;
mod irregular;
mod order;
mod topology;

pub use check::{Problem, Severity, check};
pub use geodesic::distances_from;
pub use grid::Grid;
pub use irregular::irregular_sheet;
pub use order::locality_order;
pub use topology::{Edge, Hinge, NONE, Topology};

/// A triangle mesh as it comes from a file or from the caller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Vertex positions, metres.
    pub positions: Vec<[f32; 3]>,
    /// Vertex indices of each triangle, counter-clockwise seen from the front.
    pub triangles: Vec<[u32; 3]>,
}
