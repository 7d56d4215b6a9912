//! Levels of a regular grid: some of its rows and columns.
//!
//! A level has so many rows and so many columns, spread evenly, each at the nearest row or column of the cloth: so every
//! vertex of the level is a vertex of the cloth. Each vertex of the cloth has three parents, the corners of the triangle of
//! the level in which it lies, with w such that p = w₁ a + w₂ b + w₃ c. That system has Σ w = 1, as it must so that
//! a correction which is the same everywhere stays so, exactly where w are the barycentric coordinates; these are used.

use super::{Level, Parents, Sheet, barycentric};
use crate::mesh::Grid;

/// One level for each of `counts`: vertices along x and along z, at least 2 and no more than the grid has.
pub fn lattice(sheet: &Sheet<'_>, grid: &Grid, counts: &[[usize; 2]]) -> Vec<Level> {
    counts.iter().map(|&counts| level(sheet, grid, counts)).collect()
}

/// `count` of `all` lines, the first and the last among them.
fn lines(all: usize, count: usize) -> Vec<usize> {
    let last = all - 1;
    (0..count).map(|k| (2 * k * last + (count - 1)) / (2 * (count - 1))).collect()
}

fn level(sheet: &Sheet<'_>, grid: &Grid, [nx, nz]: [usize; 2]) -> Level {
    let (columns, rows) = (lines(grid.columns(), nx), lines(grid.rows(), nz));
    let coarse = Grid { cells_x: nx - 1, cells_z: nz - 1, ..*grid };
    let mut vertices: Vec<u32> =
        rows.iter().flat_map(|&z| columns.iter().map(move |&x| grid.vertex(x, z))).collect();
    let mut own = vec![u32::MAX; sheet.rest.len()];
    vertices.iter().enumerate().for_each(|(k, &v)| own[v as usize] = k as u32);

    let mut springs: Vec<[u32; 2]> = Vec::new();
    for z in 0..nz {
        for x in 0..nx {
            let (right, up) = (x + 1 < nx, z + 1 < nz);
            let at = |dx: usize, dz: usize| coarse.vertex(x + dx, z + dz);
            springs.extend(right.then(|| [at(0, 0), at(1, 0)]));
            springs.extend(up.then(|| [at(0, 0), at(0, 1)]));
            if right && up {
                springs.extend([[at(0, 0), at(1, 1)], [at(1, 0), at(0, 1)]]);
            }
        }
    }

    let corners = |v: u32| {
        let (x, z) = (v as usize % grid.columns(), v as usize / grid.columns());
        let i = columns.partition_point(|&c| c <= x).clamp(1, nx - 1) - 1;
        let j = rows.partition_point(|&r| r <= z).clamp(1, nz - 1) - 1;
        let across =
            |lines: &[usize], k: usize, at: usize| (at - lines[k]) as f32 / (lines[k + 1] - lines[k]) as f32;
        let (s, t) = (across(&columns, i, x), across(&rows, j, z));
        let [a, b] = [coarse.vertex(i, j), coarse.vertex(i + 1, j)];
        let [c, d] = [coarse.vertex(i, j + 1), coarse.vertex(i + 1, j + 1)];
        // The diagonals alternate, as those of the cloth do.
        match coarse.rising(i, j) {
            true if s >= t => [a, b, d],
            true => [a, c, d],
            false if s + t <= 1.0 => [a, b, c],
            false => [b, c, d],
        }
    };
    // Held vertices between the lines are tied to the corners of their triangle, unless that hangs on a held one already:
    // from a held edge there would be hundreds of ties.
    for v in (0..sheet.rest.len() as u32).filter(|&v| sheet.held[v as usize]) {
        if own[v as usize] == u32::MAX {
            let corners = corners(v);
            if !corners.iter().any(|&k| sheet.held[vertices[k as usize] as usize]) {
                springs.extend(corners.map(|corner| [corner, vertices.len() as u32]));
            }
            own[v as usize] = vertices.len() as u32;
            vertices.push(v);
        }
    }

    let parents = Parents::new((0..sheet.rest.len() as u32).map(|v| {
        if own[v as usize] != u32::MAX {
            return vec![(own[v as usize], 1.0)];
        }
        let corners = corners(v);
        let at = corners.map(|k| sheet.rest[vertices[k as usize] as usize]);
        let weights = barycentric(sheet.rest[v as usize], at).expect("cells have an area");
        let links = corners.iter().zip(weights).map(|(&k, w)| (k, w.clamp(0.0, 1.0)));
        links.filter(|l| l.1 > 1e-6).collect()
    }));
    let mut springs: Vec<([u32; 2], f32)> = springs
        .into_iter()
        .map(|s| {
            let s = [s[0].min(s[1]), s[0].max(s[1])];
            (s, sheet.straight(vertices[s[0] as usize], vertices[s[1] as usize]))
        })
        .collect();
    springs.sort_by_key(|s| s.0);
    Level { vertices, springs, grid: Some(coarse), parents }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Cloth, check};
    use super::*;

    #[test]
    fn lines_are_even_and_keep_the_ends() {
        assert_eq!(lines(5, 5), [0, 1, 2, 3, 4]);
        assert_eq!(lines(5, 4), [0, 1, 3, 4]);
        assert_eq!(lines(5, 3), [0, 2, 4]);
        assert_eq!(lines(65, 2), [0, 64]);
        for count in 2..=37 {
            let lines = lines(37, count);
            assert!(lines.windows(2).all(|w| w[0] < w[1]) && lines[count - 1] == 36);
        }
    }

    #[test]
    fn linear_fields_are_reproduced() {
        let grid = Grid { cells_x: 23, cells_z: 11, size_x: 2.0, size_z: 1.0 };
        let cloth = Cloth::new(grid.mesh());
        // A held vertex on no line of any level but the finest.
        let sheet = cloth.sheet(&[23, 4 * 24 + 7]);
        let levels = lattice(&sheet, &grid, &[[16, 8], [9, 5], [2, 2]]);
        check(&sheet, &levels, true);
        for level in &levels {
            for (v, p) in sheet.rest.iter().enumerate() {
                let field = |p: glam::Vec3| 0.3 + 2.0 * p.x - 0.7 * p.z;
                let sum: f32 = (level.parents.of(v).iter())
                    .map(|&(k, w)| w * field(sheet.rest[level.vertices[k as usize] as usize]))
                    .sum();
                assert!((sum - field(*p)).abs() < 1e-5, "{v}: {sum} against {}", field(*p));
            }
        }
        assert_eq!(levels[2].vertices.len(), 5);
        assert_eq!(levels[2].springs.len(), 6 + 3, "a cell with both diagonals, and the held vertex's ties");
    }
}
