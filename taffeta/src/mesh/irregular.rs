//! An irregular sheet, for tests and measurements.

use glam::Vec2;

use super::{NONE, Topology, TriMesh};

/// Rounds of flips at the most; a jittered sheet needs about five.
const ROUNDS: usize = 20;

/// A level sheet of `size` (m) with shifted and jittered vertices, triangulated as Delaunay would: no two triangles alike,
/// degrees from 3 to 9. The same seed gives the same sheet.
pub fn irregular_sheet(size: [f32; 2], cells: [usize; 2], seed: u32) -> TriMesh {
    let (nx, nz) = (cells[0] + 1, cells[1] + 1);
    let mut state = seed.wrapping_mul(747_796_405).wrapping_add(1);
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 - 0.5
    };
    let mut points = Vec::new();
    for z in 0..nz {
        for x in 0..nx {
            // Every other row is shifted, and all inner points are jittered.
            let shift = if z % 2 == 1 && x > 0 && x + 1 < nx { 0.35 } else { 0.0 };
            let jitter_x = if x == 0 || x + 1 == nx { 0.0 } else { 0.5 * random() + shift - 0.17 };
            let jitter_z = if z == 0 || z + 1 == nz { 0.0 } else { 0.5 * random() };
            points.push(Vec2::new(
                (x as f32 + jitter_x) / cells[0] as f32 * size[0] - 0.5 * size[0],
                (z as f32 + jitter_z) / cells[1] as f32 * size[1] - 0.5 * size[1],
            ));
        }
    }
    let mut triangles = Vec::new();
    for z in 0..cells[1] {
        for x in 0..cells[0] {
            let a = (z * nx + x) as u32;
            let (b, c, d) = (a + 1, a + nx as u32, a + nx as u32 + 1);
            triangles.extend([[a, c, b], [b, c, d]]);
        }
    }
    flip_to_delaunay(&points, &mut triangles);
    TriMesh { positions: points.iter().map(|p| [p.x, 0.0, p.y]).collect(), triangles }
}

/// Flips edges until the angles opposite to each sum to less than 180°.
fn flip_to_delaunay(points: &[Vec2], triangles: &mut [[u32; 3]]) {
    let at = |v: u32| points[v as usize];
    let area = |t: [u32; 3]| {
        let [p, q, r] = t.map(at);
        (q - p).perp_dot(r - p)
    };
    for _ in 0..ROUNDS {
        let topology = Topology::new(points.len(), triangles);
        let (mut touched, mut flips) = (vec![false; triangles.len()], 0);
        for edge in topology.edges.iter().filter(|e| e.triangles[1] != NONE) {
            let ([a, b], [c, d]) = (edge.vertices, edge.opposite);
            let [t, u] = edge.triangles.map(|t| t as usize);
            if touched[t] || touched[u] {
                continue;
            }
            // sin(γ + δ) < 0 for the angles γ and δ opposite to the edge.
            let angle = |apex: u32| {
                let (p, q) = (at(a) - at(apex), at(b) - at(apex));
                (p.perp_dot(q).abs(), p.dot(q))
            };
            let ((s1, c1), (s2, c2)) = (angle(c), angle(d));
            let (first, second) = ([a, d, c], [d, b, c]);
            let convex = area(first) * area(second) > 0.0;
            if s1 * c2 + c1 * s2 < -1e-7 * (s1 + s2) && convex {
                // All triangles of the sheet wind the same way.
                let wind = |t: [u32; 3]| if area(t) < 0.0 { t } else { [t[0], t[2], t[1]] };
                (triangles[t], triangles[u]) = (wind(first), wind(second));
                (touched[t], touched[u]) = (true, true);
                flips += 1;
            }
        }
        if flips == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::check;

    #[test]
    fn it_is_clean_irregular_and_of_the_right_size() {
        let mesh = irregular_sheet([2.0, 1.0], [40, 20], 1);
        assert_eq!(check(&mesh), []);
        assert_eq!(mesh.triangles.len(), 1600);
        let topology = Topology::new(mesh.positions.len(), &mesh.triangles);
        let mut degree = vec![0; mesh.positions.len()];
        topology.edges.iter().flat_map(|e| e.vertices).for_each(|v| degree[v as usize] += 1);
        assert!(*degree.iter().max().unwrap() >= 7, "{degree:?}");
        assert_eq!(topology.components().1, 1);
    }
}
