//! Regular grids.

use super::TriMesh;

/// A rectangle of cells, cut into triangles along alternating diagonals.
///
/// Alternating ("union jack") diagonals leave no direction preferred: with all diagonals one way a cloth
/// bends more easily along them and a strip curls to one side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// Cells along the local x axis (warp).
    pub cells_x: usize,
    /// Cells along the local z axis (weft).
    pub cells_z: usize,
    /// Size along x, m.
    pub size_x: f32,
    /// Size along z, m.
    pub size_z: f32,
}

impl Grid {
    /// Vertices along x.
    pub fn columns(&self) -> usize {
        self.cells_x + 1
    }

    /// Vertices along z.
    pub fn rows(&self) -> usize {
        self.cells_z + 1
    }

    /// The vertex in column `x` and row `z`. Rows follow each other in memory.
    pub fn vertex(&self, x: usize, z: usize) -> u32 {
        (z * self.columns() + x) as u32
    }

    /// Spacing along x and z, m.
    pub fn spacing(&self) -> [f32; 2] {
        [self.size_x / self.cells_x as f32, self.size_z / self.cells_z as f32]
    }

    /// Whether the diagonal of cell (x, z) goes from its lowest to its highest corner.
    pub fn rising(&self, x: usize, z: usize) -> bool {
        (x + z).is_multiple_of(2)
    }

    /// The mesh, level in the plane y = 0, centred on the origin, facing up.
    pub fn mesh(&self) -> TriMesh {
        let [dx, dz] = self.spacing();
        let mut mesh = TriMesh::default();
        for z in 0..self.rows() {
            for x in 0..self.columns() {
                mesh.positions.push([
                    x as f32 * dx - 0.5 * self.size_x,
                    0.0,
                    z as f32 * dz - 0.5 * self.size_z,
                ]);
            }
        }
        for z in 0..self.cells_z {
            for x in 0..self.cells_x {
                let [a, b] = [self.vertex(x, z), self.vertex(x + 1, z)];
                let [c, d] = [self.vertex(x, z + 1), self.vertex(x + 1, z + 1)];
                if self.rising(x, z) {
                    mesh.triangles.extend([[a, d, b], [a, c, d]]);
                } else {
                    mesh.triangles.extend([[a, c, b], [b, c, d]]);
                }
            }
        }
        mesh
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Topology, check};

    #[test]
    fn a_grid_is_a_clean_sheet_of_the_right_size() {
        let grid = Grid { cells_x: 6, cells_z: 4, size_x: 3.0, size_z: 2.0 };
        let mesh = grid.mesh();
        assert!(check(&mesh).is_empty());
        assert_eq!(mesh.positions.len(), 35);
        assert_eq!(mesh.triangles.len(), 48);
        let area: f32 = mesh
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| glam::Vec3::from(mesh.positions[i as usize]));
                let normal = (b - a).cross(c - a);
                assert!(normal.y > 0.0, "triangles face up");
                0.5 * normal.length()
            })
            .sum();
        assert!((area - 6.0).abs() < 1e-4);
        let topology = Topology::new(35, &mesh.triangles);
        assert_eq!(topology.edges.len(), 6 * 5 + 4 * 7 + 24);
        assert_eq!(topology.components().1, 1);
    }
}
