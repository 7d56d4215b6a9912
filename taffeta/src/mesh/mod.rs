//! Triangle meshes.

/// A triangle mesh as it comes from a file or from the caller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Vertex positions, metres.
    pub positions: Vec<[f32; 3]>,
    /// Vertex indices of each triangle, counter-clockwise seen from the front.
    pub triangles: Vec<[u32; 3]>,
}
