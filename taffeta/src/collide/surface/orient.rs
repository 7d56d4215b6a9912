//! Which way the triangles of a mesh face.

use glam::Vec3;

use crate::mesh::NONE;

/// What was found.
pub(super) struct Outcome {
    /// Every edge belongs to two triangles.
    pub closed: bool,
    /// Triangles that were turned round.
    pub turned: usize,
}

/// Turns triangles so that neighbours agree and a closed mesh faces outwards. What faces which way within a connected piece is decided by
/// the larger area, so that a cavity stays one. A mesh that is not fit for it is left as it is.
pub(super) fn outwards(triangles: &mut [[u32; 3]], positions: &[Vec3]) -> Outcome {
    if triangles.iter().flatten().any(|&v| v as usize >= positions.len()) {
        return Outcome { closed: false, turned: 0 };
    }
    let sides = neighbours(triangles);
    let Some((across, closed)) = sides else { return Outcome { closed: false, turned: 0 } };
    let normal = |t: [u32; 3]| {
        let [a, b, c] = t.map(|v| positions[v as usize]);
        0.5 * (b - a).cross(c - a)
    };
    // 0: not seen, 1: as it is, 2: to be turned.
    let mut side = vec![0u8; triangles.len()];
    let mut piece = Vec::new();
    for first in 0..triangles.len() {
        if side[first] != 0 {
            continue;
        }
        side[first] = 1;
        piece.clear();
        piece.push(first);
        let (mut next, mut areas) = (0, [0.0f64; 2]);
        while next < piece.len() {
            let t = piece[next];
            next += 1;
            areas[side[t] as usize - 1] += normal(triangles[t]).length() as f64;
            for (k, &u) in across[t].iter().enumerate().filter(|(_, u)| **u != NONE) {
                let u = u as usize;
                if side[u] == 0 {
                    let agrees = !has_edge(triangles[u], triangles[t][k], triangles[t][(k + 1) % 3]);
                    side[u] = if agrees { side[t] } else { 3 - side[t] };
                    piece.push(u);
                }
            }
        }
        if areas[1] > areas[0] {
            piece.iter().for_each(|&t| side[t] = 3 - side[t]);
        }
    }
    let turned_if = |turn: bool, t: [u32; 3]| if turn { [t[0], t[2], t[1]] } else { t };
    let middle = positions.iter().map(|p| p.as_dvec3()).sum::<glam::DVec3>() / positions.len().max(1) as f64;
    let volume: f64 = (triangles.iter().zip(&side))
        .map(|(&t, &side)| {
            let [a, b, c] = turned_if(side == 2, t).map(|v| positions[v as usize].as_dvec3() - middle);
            a.dot(b.cross(c))
        })
        .sum();
    let inside_out = closed && volume < 0.0;
    let mut turned = 0;
    for (t, &side) in triangles.iter_mut().zip(&side) {
        let turn = (side == 2) != inside_out;
        *t = turned_if(turn, *t);
        turned += usize::from(turn);
    }
    Outcome { closed, turned }
}

/// Whether the triangle goes from `a` to `b`.
fn has_edge(t: [u32; 3], a: u32, b: u32) -> bool {
    (0..3).any(|k| t[k] == a && t[(k + 1) % 3] == b)
}

/// The triangle across each side, and whether every side has one. None if three meet at an edge.
fn neighbours(triangles: &[[u32; 3]]) -> Option<(Vec<[u32; 3]>, bool)> {
    let mut sides = Vec::with_capacity(3 * triangles.len());
    for (t, tri) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (tri[k], tri[(k + 1) % 3]);
            sides.push((a.min(b), a.max(b), t as u32, k));
        }
    }
    sides.sort_unstable();
    let (mut across, mut closed) = (vec![[NONE; 3]; triangles.len()], !triangles.is_empty());
    for group in sides.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        match group {
            [_] => closed = false,
            [a, b] => {
                across[a.2 as usize][a.3] = b.2;
                across[b.2 as usize][b.3] = a.2;
            }
            _ => return None,
        }
    }
    Some((across, closed))
}
