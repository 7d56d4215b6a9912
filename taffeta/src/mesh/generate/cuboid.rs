//! Boxes.

use std::collections::BTreeMap;

use super::quad;
use crate::mesh::TriMesh;

/// A box about the origin, of such sides (m) and about `vertices` vertices: faces are cut into cells that are as square as they can be.
pub fn cuboid(size: [f32; 3], vertices: usize) -> TriMesh {
    let [x, y, z] = size.map(f64::from);
    // A closed surface of n quads has n + 2 vertices.
    let cell = (2.0 * (x * y + y * z + z * x) / vertices.saturating_sub(2).max(1) as f64).sqrt();
    let cells = size.map(|side| ((side as f64 / cell).round() as u32).max(1));
    let mut mesh = TriMesh::default();
    // Points on edges belong to two faces, corners to three.
    let mut numbers: BTreeMap<[u32; 3], u32> = BTreeMap::new();
    let mut vertex = |mesh: &mut TriMesh, at: [u32; 3]| {
        *numbers.entry(at).or_insert_with(|| {
            mesh.positions
                .push([0, 1, 2].map(|axis| size[axis] * (at[axis] as f32 / cells[axis] as f32 - 0.5)));
            mesh.positions.len() as u32 - 1
        })
    };
    for axis in 0..3 {
        let (across, along) = ((axis + 1) % 3, (axis + 2) % 3);
        for end in [0, cells[axis]] {
            for i in 0..cells[across] {
                for j in 0..cells[along] {
                    let mut corner = |i: u32, j: u32| {
                        let mut at = [end; 3];
                        (at[across], at[along]) = (i, j);
                        vertex(&mut mesh, at)
                    };
                    let [a, b, c, d] =
                        [corner(i, j), corner(i, j + 1), corner(i + 1, j), corner(i + 1, j + 1)];
                    // Outwards on both sides.
                    let corners = if end == 0 { [a, c, b, d] } else { [a, b, c, d] };
                    mesh.triangles.extend(quad(corners, (i + j) % 2 == 0));
                }
            }
        }
    }
    mesh
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;

    #[test]
    fn a_box_is_closed_and_looks_outwards() {
        for (size, vertices, exact) in
            [([1.0, 1.0, 1.0], 386, 386), ([1.0, 1.0, 1.0], 8, 8), ([0.4, 2.0, 1.0], 500, 542)]
        {
            let mesh = cuboid(size, vertices);
            assert_eq!(mesh.positions.len(), exact, "{size:?}");
            // Euler's formula, with three sides a triangle and two triangles a side.
            assert_eq!(mesh.triangles.len(), 2 * (exact - 2), "{size:?}");
            let corners = |t: &[u32; 3]| t.map(|v| Vec3::from(mesh.positions[v as usize]));
            let volume = |t| {
                let [a, b, c] = corners(t);
                a.dot(b.cross(c)) / 6.0
            };
            let volume: f32 = mesh.triangles.iter().map(volume).sum();
            assert!((volume - size.iter().product::<f32>()).abs() < 1e-5, "{size:?}: {volume} m³");
        }
    }
}
