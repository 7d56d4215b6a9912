//! Distance along a surface, by fast marching.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::Vec3;

use super::NONE;

/// The distance (m) along the mesh from the nearest of `sources` to every vertex, and which of them it is; infinite
/// where there is no way.
///
/// Kimmel and Sethian, *Computing geodesic paths on manifolds*, PNAS 1998: vertices are settled in the order of their
/// distance as in Dijkstra's method, and a vertex is updated not only along edges but across triangles,
/// where the front is taken as straight. Along edges alone a diagonal of a grid would be up to 8 % too long.
pub fn distances_from(sources: &[u32], positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<(f32, u32)> {
    let at = |v: u32| positions[v as usize];
    let mut start = vec![0u32; positions.len() + 1];
    triangles.iter().flatten().for_each(|&v| start[v as usize + 1] += 1);
    (0..positions.len()).for_each(|v| start[v + 1] += start[v]);
    let mut around = vec![0u32; 3 * triangles.len()];
    let mut next = start.clone();
    for (t, tri) in triangles.iter().enumerate() {
        for &v in tri {
            around[next[v as usize] as usize] = t as u32;
            next[v as usize] += 1;
        }
    }
    let mut distance = vec![f32::INFINITY; positions.len()];
    let mut nearest = vec![NONE; positions.len()];
    let mut settled = vec![false; positions.len()];
    let mut heap = BinaryHeap::new();
    // Non-negative floats order like their bits.
    let key = |d: f32, v: u32| Reverse((d.to_bits(), v));
    for &source in sources {
        distance[source as usize] = 0.0;
        nearest[source as usize] = source;
        heap.push(key(0.0, source));
    }
    while let Some(Reverse((_, v))) = heap.pop() {
        if std::mem::replace(&mut settled[v as usize], true) {
            continue;
        }
        for &t in &around[start[v as usize] as usize..start[v as usize + 1] as usize] {
            let tri = triangles[t as usize];
            for &c in tri.iter().filter(|&&c| c != v && !settled[c as usize]) {
                let other =
                    tri.into_iter().find(|&u| u != v && u != c).expect("a triangle has three corners");
                let mut d = distance[v as usize] + (at(c) - at(v)).length();
                if settled[other as usize] && nearest[other as usize] == nearest[v as usize] {
                    d = d.min(across(
                        at(v),
                        at(other),
                        at(c),
                        distance[v as usize],
                        distance[other as usize],
                    ));
                }
                if d < distance[c as usize] {
                    distance[c as usize] = d;
                    nearest[c as usize] = nearest[v as usize];
                    heap.push(key(d, c));
                }
            }
        }
    }
    distance.into_iter().zip(nearest).collect()
}

/// The distance at `c` of a source that is `da` from `a` and `db` from `b`, unfolded into the triangle's plane.
/// Infinite if the way from the source to `c` does not pass between `a` and `b`.
fn across(a: Vec3, b: Vec3, c: Vec3, da: f32, db: f32) -> f32 {
    let (ab, ac) = (b - a, c - a);
    let length = ab.length();
    let axis = ab / length;
    // The plane's coordinates: a at the origin, b on the first axis, c on the positive side of it.
    let cx = ac.dot(axis);
    let cy = (ac - axis * cx).length();
    let sx = (da * da - db * db + length * length) / (2.0 * length);
    let sy2 = da * da - sx * sx;
    if sy2 < 0.0 {
        return f32::INFINITY;
    }
    let sy = -sy2.sqrt();
    // Where the straight way crosses the line through a and b.
    let cross = if cy - sy > 0.0 { sx + (cx - sx) * (-sy) / (cy - sy) } else { sx };
    if !(0.0..=length).contains(&cross) {
        return f32::INFINITY;
    }
    ((cx - sx) * (cx - sx) + (cy - sy) * (cy - sy)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Grid;

    #[test]
    fn a_flat_sheet_gives_straight_lines() {
        let grid = Grid { cells_x: 20, cells_z: 20, size_x: 1.0, size_z: 1.0 };
        let mesh = grid.mesh();
        let positions: Vec<Vec3> = mesh.positions.iter().map(|&p| p.into()).collect();
        let d = distances_from(&[0], &positions, &mesh.triangles);
        for (v, p) in positions.iter().enumerate() {
            let straight = (*p - positions[0]).length();
            let d = d[v].0;
            assert!(d >= straight * (1.0 - 1e-5), "never shorter than the straight line");
            assert!(d <= straight * 1.005 + 1e-6, "{d} against {straight}");
        }
        let two = distances_from(&[0, 20], &positions, &mesh.triangles);
        assert_eq!((two[3].1, two[17].1), (0, 20));
        assert!((two[17].0 - 0.15).abs() < 1e-5);
    }
}
