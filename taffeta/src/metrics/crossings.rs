//! Which triangles cross each other, whatever the contact method believes.

use glam::{DVec3, Vec3};

use crate::collide::Body;

/// Pairs of triangles (lower index first) that share no vertex and cross: an edge of one passes through the other.
///
/// Candidates come from a uniform grid over the triangles' bounds; each is tested with its six edges, in double precision.
pub fn intersecting_pairs(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let at = |v: u32| Vec3::from(positions[v as usize]);
    let bounds: Vec<(Vec3, Vec3)> = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(at);
            (a.min(b).min(c), a.max(b).max(c))
        })
        .collect();
    if bounds.iter().any(|(low, high)| !(low.is_finite() && high.is_finite())) {
        return Vec::new();
    }
    // Cells of twice the mean size: a triangle lies in few of them.
    let mean: f32 = bounds.iter().map(|(low, high)| (*high - *low).max_element()).sum::<f32>()
        / bounds.len().max(1) as f32;
    let low = bounds.iter().fold(Vec3::INFINITY, |m, b| m.min(b.0));
    let high = bounds.iter().fold(Vec3::NEG_INFINITY, |m, b| m.max(b.1));
    let cell = (2.0 * mean).max((high - low).max_element() / 1e6).max(1e-12);
    // Cell numbers, within the 21 bits a key has for each.
    let cell_of = |p: Vec3| ((p - low) / cell).to_array().map(|c| c.clamp(0.0, 2_097_151.0) as u64);

    let mut entries: Vec<(u64, u32)> = Vec::new();
    for (t, b) in bounds.iter().enumerate() {
        let (from, to) = (cell_of(b.0), cell_of(b.1));
        for x in from[0]..=to[0] {
            for y in from[1]..=to[1] {
                for z in from[2]..=to[2] {
                    entries.push((x << 42 | y << 21 | z, t as u32));
                }
            }
        }
    }
    entries.sort_unstable();
    let mut pairs = Vec::new();
    for group in entries.chunk_by(|a, b| a.0 == b.0) {
        for (i, &(key, t)) in group.iter().enumerate() {
            for &(_, u) in &group[i + 1..] {
                let (a, b) = (&bounds[t as usize], &bounds[u as usize]);
                let lowest = a.0.max(b.0);
                if !lowest.cmple(a.1.min(b.1)).all() {
                    continue;
                }
                // A pair may meet in several cells: it counts in the one that holds the lowest common point.
                let [x, y, z] = cell_of(lowest);
                if key != (x << 42 | y << 21 | z) {
                    continue;
                }
                let (p, q) = (triangles[t as usize], triangles[u as usize]);
                if !p.iter().any(|v| q.contains(v))
                    && cross(p.map(|v| at(v).as_dvec3()), q.map(|v| at(v).as_dvec3()))
                {
                    pairs.push([t.min(u), t.max(u)]);
                }
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

/// The same, with the triangles of collider meshes numbered on after those of the cloths. Bodies may cross bodies and themselves.
pub fn crossings_with_bodies(
    positions: &[[f32; 3]],
    triangles: &[[u32; 3]],
    bodies: &[Body],
) -> Vec<[u32; 2]> {
    if bodies.iter().all(|body| body.triangles().is_empty()) {
        return intersecting_pairs(positions, triangles);
    }
    let (mut all, mut corners) = (positions.to_vec(), triangles.to_vec());
    for body in bodies {
        let first = all.len() as u32;
        all.extend(body.points().iter().map(|p| p.to_array()));
        corners.extend(body.triangles().iter().map(|t| t.map(|v| v + first)));
    }
    let mut pairs = intersecting_pairs(&all, &corners);
    pairs.retain(|pair| (pair[0] as usize) < triangles.len());
    pairs
}

fn cross(p: [DVec3; 3], q: [DVec3; 3]) -> bool {
    (0..3).any(|k| pierces(p[k], p[(k + 1) % 3], q) || pierces(q[k], q[(k + 1) % 3], p))
}

/// Whether the segment from `a` to `b` passes through the triangle's inside.
fn pierces(a: DVec3, b: DVec3, [p, q, r]: [DVec3; 3]) -> bool {
    let volume = |a: DVec3, b: DVec3, c: DVec3, d: DVec3| (b - a).cross(c - a).dot(d - a);
    let (above, below) = (volume(p, q, r, a), volume(p, q, r, b));
    if above * below >= 0.0 {
        return false;
    }
    let sides = [volume(a, b, p, q), volume(a, b, q, r), volume(a, b, r, p)];
    sides.iter().all(|s| *s > 0.0) || sides.iter().all(|s| *s < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Grid;

    fn brute_force(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
        let at = |v: u32| Vec3::from(positions[v as usize]).as_dvec3();
        let mut pairs = Vec::new();
        for t in 0..triangles.len() {
            for u in t + 1..triangles.len() {
                let (p, q) = (triangles[t], triangles[u]);
                if !p.iter().any(|v| q.contains(v)) && cross(p.map(at), q.map(at)) {
                    pairs.push([t as u32, u as u32]);
                }
            }
        }
        pairs
    }

    #[test]
    fn agrees_with_brute_force_on_a_crumpled_sheet() {
        let mesh = Grid { cells_x: 14, cells_z: 14, size_x: 1.0, size_z: 1.0 }.mesh();
        assert!(intersecting_pairs(&mesh.positions, &mesh.triangles).is_empty());
        let mut crumpled = mesh.positions.clone();
        for (i, p) in crumpled.iter_mut().enumerate() {
            let t = i as f32;
            *p = [
                0.3 * p[0] + 0.05 * (7.3 * t).sin(),
                0.08 * (3.1 * t).sin(),
                0.3 * p[2] + 0.05 * (5.7 * t).cos(),
            ];
        }
        let fast = intersecting_pairs(&crumpled, &mesh.triangles);
        assert!(fast.len() > 100);
        assert_eq!(fast, brute_force(&crumpled, &mesh.triangles));
    }
}
