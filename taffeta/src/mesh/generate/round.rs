//! Balls and rings.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use glam::Vec3;

use super::quad;
use crate::mesh::TriMesh;

/// A ball about the origin of about `vertices` vertices: an icosahedron whose edges are cut into n parts has 10 n² + 2.
pub fn ball(radius: f32, vertices: usize) -> TriMesh {
    let exact = (vertices.saturating_sub(2) as f64 / 10.0).sqrt();
    let n = (exact.round() as u32).max(1);
    let (corners, faces) = icosahedron();
    let mut mesh = TriMesh::default();
    // A point is known by its corners and their weights; points on edges belong to two faces, corners to five.
    let mut numbers: BTreeMap<Vec<(u32, u32)>, u32> = BTreeMap::new();
    let mut vertex = |mesh: &mut TriMesh, face: [u32; 3], weights: [u32; 3]| {
        let mut key: Vec<(u32, u32)> = face.into_iter().zip(weights).filter(|(_, w)| *w > 0).collect();
        key.sort_unstable();
        *numbers.entry(key.clone()).or_insert_with(|| {
            let p: Vec3 = key.iter().map(|&(corner, w)| corners[corner as usize] * w as f32).sum();
            mesh.positions.push((p.normalize() * radius).into());
            mesh.positions.len() as u32 - 1
        })
    };
    for face in faces {
        for i in 0..n {
            for j in 0..n - i {
                let mut at = |i: u32, j: u32| vertex(&mut mesh, face, [n - i - j, i, j]);
                let [a, b, c] = [at(i, j), at(i + 1, j), at(i, j + 1)];
                let d = (i + j + 2 <= n).then(|| at(i + 1, j + 1));
                mesh.triangles.push([a, b, c]);
                mesh.triangles.extend(d.map(|d| [b, d, c]));
            }
        }
    }
    mesh
}

fn icosahedron() -> ([Vec3; 12], [[u32; 3]; 20]) {
    let g = 0.5 * (1.0 + 5f32.sqrt());
    let corners = [
        [-1.0, g, 0.0],
        [1.0, g, 0.0],
        [-1.0, -g, 0.0],
        [1.0, -g, 0.0],
        [0.0, -1.0, g],
        [0.0, 1.0, g],
        [0.0, -1.0, -g],
        [0.0, 1.0, -g],
        [g, 0.0, -1.0],
        [g, 0.0, 1.0],
        [-g, 0.0, -1.0],
        [-g, 0.0, 1.0],
    ];
    let faces = [
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    (corners.map(|c| Vec3::from(c).normalize()), faces)
}

/// A ring about the y axis: a circle of `radius` metres, `tube` metres thick to each side, with about `vertices` vertices.
pub fn torus(radius: f32, tube: f32, vertices: usize) -> TriMesh {
    // Cells as long as they are wide.
    let ratio = (radius / tube).max(1.0) as f64;
    let around = ((vertices as f64 * ratio).sqrt().round() as usize).max(6);
    let across = (vertices / around).max(4);
    let mut mesh = TriMesh::default();
    for i in 0..around {
        let a = TAU * i as f64 / around as f64;
        for j in 0..across {
            let b = TAU * j as f64 / across as f64;
            let out = radius as f64 + tube as f64 * libm::cos(b);
            let p = [out * libm::cos(a), tube as f64 * libm::sin(b), out * libm::sin(a)];
            mesh.positions.push(p.map(|c| c as f32));
        }
    }
    let at = |i: usize, j: usize| ((i % around) * across + j % across) as u32;
    for i in 0..around {
        for j in 0..across {
            let corners = [at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)];
            // Alternating diagonals prefer no way round.
            mesh.triangles.extend(quad(corners, (i + j) % 2 == 0));
        }
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::Surface;
    use crate::mesh::check;

    #[test]
    fn they_are_closed_smooth_and_face_outwards() {
        let ball = ball(0.35, 2500);
        assert_eq!((ball.positions.len(), ball.triangles.len()), (2562, 5120));
        let off = |p: &[f32; 3]| (Vec3::from(*p).length() - 0.35).abs();
        assert!(ball.positions.iter().all(|p| off(p) < 1e-6));
        let ring = torus(0.4, 0.05, 1000);
        assert!((900..=1100).contains(&ring.positions.len()), "{}", ring.positions.len());
        for mesh in [ball, ring] {
            assert_eq!(check(&mesh), []);
            let surface = Surface::rigid(&mesh);
            assert!(surface.closed());
            assert_eq!(surface.turned(), 0);
        }
    }
}
