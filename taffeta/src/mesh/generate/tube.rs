//! Tubes open at both ends: sleeves and skirts.

use std::f64::consts::TAU;

use super::quad;
use crate::mesh::TriMesh;

/// A tube about the y axis that faces outwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tube {
    /// Radius along x at the upper end, m.
    pub top: f32,
    /// Radius along x at the lower end, m.
    pub bottom: f32,
    /// Height, m; the middle is at y = 0.
    pub length: f32,
    /// Radius along z as a part of that along x.
    pub depth: f32,
    /// About how many vertices.
    pub vertices: usize,
}

impl Tube {
    /// Rows of vertices from the lower to the upper end, each once round.
    pub fn mesh(&self) -> TriMesh {
        let Tube { top, bottom, length, depth, vertices } = *self;
        let round = TAU * 0.5 * (top + bottom) as f64 * 0.5 * (1.0 + depth as f64);
        let (high, wide) = (length as f64, (top - bottom) as f64);
        let slant = (high * high + wide * wide).sqrt();
        // Cells as high as they are wide; an even number round, so that diagonals alternate without a seam.
        let around = 2 * ((vertices as f64 * round / slant).sqrt() / 2.0).round().max(2.0) as usize;
        let rows = (vertices as f64 / around as f64).round().max(2.0) as usize;
        let mut mesh = TriMesh::default();
        for row in 0..rows {
            let t = row as f64 / (rows - 1) as f64;
            let radius = bottom as f64 + (top - bottom) as f64 * t;
            for k in 0..around {
                let a = TAU * k as f64 / around as f64;
                let y = length as f64 * (t - 0.5);
                let p = [radius * libm::cos(a), y, depth as f64 * radius * libm::sin(a)];
                mesh.positions.push(p.map(|c| c as f32));
            }
        }
        let at = |row: usize, k: usize| (row * around + k % around) as u32;
        for row in 0..rows - 1 {
            for k in 0..around {
                let corners = [at(row, k), at(row, k + 1), at(row + 1, k), at(row + 1, k + 1)];
                mesh.triangles.extend(quad(corners, (row + k) % 2 == 0));
            }
        }
        mesh
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{NONE, Topology, check};
    use glam::Vec3;

    #[test]
    fn it_is_open_at_two_ends_and_faces_outwards() {
        let tube = Tube { top: 0.15, bottom: 0.4, length: 0.5, depth: 0.7, vertices: 2000 };
        let mesh = tube.mesh();
        assert!((1900..2100).contains(&mesh.positions.len()), "{}", mesh.positions.len());
        assert_eq!(check(&mesh), []);
        let topology = Topology::new(mesh.positions.len(), &mesh.triangles);
        let open = topology.edges.iter().filter(|e| e.triangles[1] == NONE).count();
        let round = mesh.positions.iter().filter(|p| p[1] == 0.25).count();
        assert_eq!((open, topology.components().1), (2 * round, 1));
        for t in &mesh.triangles {
            let [a, b, c] = t.map(|v| Vec3::from(mesh.positions[v as usize]));
            let out = (a + b + c) * Vec3::new(1.0, 0.0, 1.0);
            assert!((b - a).cross(c - a).dot(out) > 0.0);
        }
    }
}
