//! Levels by collapsing vertices into their neighbours.
//!
//! Müller, *Hierarchical position based dynamics*, 2008, section 4.1: one after the other, a vertex is taken out if it has
//! at least k neighbours that stay, and if every neighbour that was taken out before still has k without it. Each
//! one that is taken out collapses into its nearest neighbour that stays, and its springs go with it.

use super::{Level, Parents, Sheet, inverse_distance, neighbours};

/// Neighbours that a vertex which is taken out must keep.
const K: usize = 2;

/// At most `most` levels, each from the one below; fewer if nothing can be taken out any more.
pub fn collapse(sheet: &Sheet<'_>, most: usize) -> Vec<Level> {
    let flat = sheet.is_flat();
    let mut levels: Vec<Level> = Vec::new();
    let mut vertices: Vec<u32> = (0..sheet.rest.len() as u32).collect();
    let mut springs: Vec<([u32; 2], f32)> =
        sheet.springs.iter().map(|&[a, b]| ([a, b], sheet.straight(a, b))).collect();
    while levels.len() < most {
        let held: Vec<bool> = vertices.iter().map(|&v| sheet.held[v as usize]).collect();
        let around = neighbours(vertices.len(), springs.iter().map(|s| s.0));
        let stays = pick(&around, &held);
        let kept: Vec<u32> = (0..vertices.len() as u32).filter(|&i| stays[i as usize]).collect();
        let mut place = vec![u32::MAX; vertices.len()];
        kept.iter().enumerate().for_each(|(k, &i)| place[i as usize] = k as u32);

        let length = |a: u32, b: u32| sheet.straight(vertices[a as usize], vertices[b as usize]);
        let near: Vec<Vec<(u32, f32)>> = (0..vertices.len() as u32)
            .map(|i| match stays[i as usize] {
                true => vec![(i, 0.0)],
                false => (around[i as usize].iter().filter(|&&j| stays[j as usize]))
                    .map(|&j| (j, length(i, j)))
                    .collect(),
            })
            .collect();
        let into: Vec<(u32, f32)> = near
            .iter()
            .map(|list| *list.iter().min_by(|a, b| a.1.total_cmp(&b.1)).expect("K neighbours stay"))
            .collect();
        let mut coarse: Vec<([u32; 2], f32)> = Vec::new();
        for &([a, b], rest) in &springs {
            let ((ja, da), (jb, db)) = (into[a as usize], into[b as usize]);
            let [pa, pb] = [place[ja as usize], place[jb as usize]];
            if pa != pb {
                // On a curved cloth the straight way may leave it, so the way by which the vertices went is taken.
                let rest = if flat { length(ja, jb) } else { da + rest + db };
                coarse.push(([pa.min(pb), pa.max(pb)], rest));
            }
        }
        coarse.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        coarse.dedup_by_key(|s| s.0);
        if kept.len() == vertices.len() || coarse.is_empty() {
            break;
        }
        let parents = Parents::new(near.iter().map(|list| match list[..] {
            [(own, _)] => vec![(place[own as usize], 1.0)],
            _ => inverse_distance(list).into_iter().map(|(j, w)| (place[j as usize], w)).collect(),
        }));
        vertices = kept.iter().map(|&i| vertices[i as usize]).collect();
        springs = coarse;
        levels.push(Level { vertices: vertices.clone(), springs: springs.clone(), grid: None, parents });
    }
    levels
}

/// Which vertices stay.
fn pick(around: &[Vec<u32>], held: &[bool]) -> Vec<bool> {
    let mut stays = vec![true; around.len()];
    let mut staying: Vec<usize> = around.iter().map(Vec::len).collect();
    for i in 0..around.len() {
        let spared = |&j: &u32| stays[j as usize] || staying[j as usize] > K;
        if !held[i] && staying[i] >= K && around[i].iter().all(spared) {
            stays[i] = false;
            around[i].iter().for_each(|&j| staying[j as usize] -= 1);
        }
    }
    stays
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Cloth, check};
    use super::*;
    use crate::mesh::{Grid, irregular_sheet};

    #[test]
    fn every_vertex_that_goes_keeps_two_neighbours() {
        let cloth = Cloth::new(irregular_sheet([1.0, 1.0], [20, 20], 4));
        let sheet = cloth.sheet(&[0, 20]);
        let levels = collapse(&sheet, 20);
        assert!(levels.len() >= 4, "{}", levels.len());
        check(&sheet, &levels, false);
        let mut below: Vec<u32> = (0..sheet.rest.len() as u32).collect();
        for level in &levels {
            for (i, v) in below.iter().enumerate() {
                if !level.vertices.contains(v) {
                    assert!(level.parents.of(i).len() >= K, "{v}");
                }
            }
            below = level.vertices.clone();
        }
    }

    #[test]
    fn a_curved_cloth_keeps_its_length() {
        // Half a cylinder: the straight way between its edges is 2/π of that along the cloth.
        let grid = Grid { cells_x: 30, cells_z: 10, size_x: 1.0, size_z: 0.5 };
        let mut mesh = grid.mesh();
        let radius = 1.0 / std::f32::consts::PI;
        for p in &mut mesh.positions {
            let angle = p[0] / radius;
            *p = [radius * angle.sin(), radius * angle.cos(), p[2]];
        }
        let cloth = Cloth::new(mesh);
        let sheet = cloth.sheet(&[0, 30]);
        assert!(!sheet.is_flat());
        let levels = collapse(&sheet, 20);
        check(&sheet, &levels, false);
        let last = &levels[levels.len() - 1];
        let over = last.springs.iter().find(|s| s.0.map(|i| last.vertices[i as usize]) == [0, 30]);
        if let Some((_, rest)) = over {
            assert!(*rest >= 0.99, "{rest}");
        }
        for level in &levels {
            for &([a, b], rest) in &level.springs {
                let [a, b] = [a, b].map(|i| level.vertices[i as usize] as usize);
                let along = (a % 31).abs_diff(b % 31) as f32 / 30.0;
                assert!(rest >= 0.99 * along, "{rest} m for {along} m of cloth");
            }
        }
    }
}
