//! Levels by blue-noise sampling and re-meshing.
//!
//! Vertices are visited in random order (the same for the same seed) and taken if no taken one is nearer than a radius:
//! Poisson disks, by dart throwing. Every vertex of the cloth then belongs to the nearest sample along the
//! cloth; samples whose cells touch are joined by a spring, and three cells that meet in a triangle of the cloth give a
//! triangle of the level: the dual of the cells, which on fine meshes is the geodesic Delaunay triangulation. After Wang,
//! Zheng, Qian, Li, *Sampling hierarchical position-based dynamics simulation*, 2017.

use super::{Heirs, Level, Parents, Sheet, barycentric, inverse_distance, neighbours};
use crate::mesh::distances_from;

/// Poisson disks of radius r leave about so many vertices for an area of r².
pub const DISK_DENSITY: f32 = 0.7;

/// A level for each of `radii` (m), increasing, with samples taken from those of the level below; ends early when a level
/// would be no coarser than the one below, or too coarse for a single spring.
pub fn sample(
    sheet: &Sheet<'_>,
    radii: impl IntoIterator<Item = f32>,
    seed: u32,
    heirs: Heirs,
) -> Vec<Level> {
    let all: Vec<u32> = (0..sheet.rest.len() as u32).collect();
    let around = neighbours(sheet.rest.len(), sheet.springs.iter().copied());
    let flat = sheet.is_flat();
    let mut levels: Vec<Level> = Vec::new();
    for radius in radii {
        let below = levels.last().map_or(&all, |level| &level.vertices);
        let samples = poisson_disks(sheet, &around, below, radius, seed);
        let children = if heirs == Heirs::Finest { &all } else { below };
        let level = remesh(sheet, samples, children, flat);
        if level.vertices.len() == below.len() || level.springs.is_empty() {
            break;
        }
        levels.push(level);
    }
    levels
}

/// As many of `candidates` as there is room for, held ones first.
fn poisson_disks(
    sheet: &Sheet<'_>,
    around: &[Vec<u32>],
    candidates: &[u32],
    radius: f32,
    seed: u32,
) -> Vec<u32> {
    let mut order = candidates.to_vec();
    let mut state = seed.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    for i in (1..order.len()).rev() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        order.swap(i, ((state as u64 * (i as u64 + 1)) >> 32) as usize);
    }
    order.sort_by_key(|&v| !sheet.held[v as usize]);
    // Distances that differ by rounding alone count as equal.
    let reach = radius * 0.999;
    let (mut covered, mut samples) = (vec![false; sheet.rest.len()], Vec::new());
    let (mut seen, mut front) = (vec![u32::MAX; sheet.rest.len()], Vec::new());
    for v in order {
        if covered[v as usize] {
            continue;
        }
        // The disk is flooded from its middle, so that it does not reach another sheet that happens to be near.
        let mark = samples.len() as u32;
        samples.push(v);
        seen[v as usize] = mark;
        front.push(v);
        while let Some(u) = front.pop() {
            covered[u as usize] = true;
            for &t in &around[u as usize] {
                if seen[t as usize] != mark && sheet.straight(v, t) < reach {
                    seen[t as usize] = mark;
                    front.push(t);
                }
            }
        }
    }
    samples.sort_unstable();
    samples
}

/// The level of these samples. Held vertices that are none, because another held one is near, are in it as well, so that they
/// are at rest on every level; springs to each of them would say nothing new.
fn remesh(sheet: &Sheet<'_>, samples: Vec<u32>, children: &[u32], flat: bool) -> Level {
    let mut place = vec![u32::MAX; sheet.rest.len()];
    samples.iter().enumerate().for_each(|(k, &v)| place[v as usize] = k as u32);
    let mut vertices = samples.clone();
    for v in (0..sheet.rest.len() as u32).filter(|&v| sheet.held[v as usize]) {
        if place[v as usize] == u32::MAX {
            place[v as usize] = vertices.len() as u32;
            vertices.push(v);
        }
    }
    let nearest = distances_from(&samples, sheet.rest, &sheet.triangles);
    // Every piece of the cloth has a sample, since the first of its vertices to be visited was not covered.
    let cell = |v: u32| place[nearest[v as usize].1 as usize];

    let mut springs: Vec<([u32; 2], f32)> = Vec::new();
    for &[u, v] in &sheet.springs {
        let (a, b) = (cell(u), cell(v));
        if a != b {
            let along = nearest[u as usize].0 + sheet.straight(u, v) + nearest[v as usize].0;
            let straight = sheet.straight(samples[a as usize], samples[b as usize]);
            springs.push(([a.min(b), a.max(b)], if flat { straight } else { along.max(straight) }));
        }
    }
    springs.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    springs.dedup_by_key(|s| s.0);

    let mut triangles: Vec<[u32; 3]> = sheet.triangles.iter().map(|t| t.map(cell)).collect();
    triangles.iter_mut().for_each(|t| t.sort_unstable());
    triangles.retain(|t| t[0] != t[1] && t[1] != t[2]);
    triangles.sort_unstable();
    triangles.dedup();
    let mut meeting = vec![Vec::new(); samples.len()];
    for (i, t) in triangles.iter().enumerate() {
        t.iter().for_each(|&k| meeting[k as usize].push(i as u32));
    }
    let around = neighbours(samples.len(), springs.iter().map(|s| s.0));
    let at = |k: u32| sheet.rest[samples[k as usize] as usize];

    let parents = Parents::new(children.iter().map(|&v| {
        let (p, home) = (sheet.rest[v as usize], cell(v));
        if place[v as usize] != u32::MAX {
            return vec![(place[v as usize], 1.0)];
        }
        let ring = std::iter::once(&home).chain(&around[home as usize]);
        let candidates = ring.flat_map(|&k| &meeting[k as usize]).map(|&t| triangles[t as usize]);
        let inside = candidates.filter_map(|t| barycentric(p, t.map(at)).map(|w| (t, w)));
        let depth = |w: &[f32; 3]| w.iter().copied().fold(f32::INFINITY, f32::min);
        match inside.max_by(|a, b| depth(&a.1).total_cmp(&depth(&b.1)).then(b.0.cmp(&a.0))) {
            // Beyond the rim the nearest point of the triangle is taken: weights below zero would exaggerate.
            Some((t, w)) => {
                let w = w.map(|w| w.max(0.0));
                let sum: f32 = w.iter().sum();
                t.into_iter().zip(w.map(|w| w / sum)).filter(|l| l.1 > 0.0).collect()
            }
            None => by_distance(home, &around[home as usize], |k| (at(k) - p).length()),
        }
    }));
    Level { vertices, springs, grid: None, parents }
}

/// The cell's own sample and at most two of its neighbours, by inverse distance.
fn by_distance(home: u32, around: &[u32], distance: impl Fn(u32) -> f32) -> Vec<(u32, f32)> {
    let mut near: Vec<(u32, f32)> = std::iter::once(&home).chain(around).map(|&k| (k, distance(k))).collect();
    near.sort_by(|a, b| a.1.total_cmp(&b.1));
    near.truncate(3);
    inverse_distance(&near)
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::super::testing::{Cloth, check};
    use super::*;
    use crate::mesh::irregular_sheet;

    #[test]
    fn samples_keep_their_distance_and_leave_no_hole() {
        let cloth = Cloth::new(irregular_sheet([1.0, 1.0], [30, 30], 2));
        let sheet = cloth.sheet(&[0, 30]);
        let s = sheet.spacing();
        let levels = sample(&sheet, (1..5).map(|l| s * f32::powi(2.0, l)), 7, Heirs::Finer);
        assert!(levels.len() == 4, "{}", levels.len());
        check(&sheet, &levels, false);
        for (l, level) in levels.iter().enumerate() {
            let radius = s * f32::powi(2.0, l as i32 + 1);
            for (i, &a) in level.vertices.iter().enumerate() {
                for &b in &level.vertices[..i] {
                    assert!(sheet.straight(a, b) >= 0.99 * radius, "level {l}: {a} and {b}");
                }
            }
            let samples = |v: u32| level.vertices.iter().map(move |&k| (k, v));
            for v in 0..sheet.rest.len() as u32 {
                let nearest = samples(v).map(|(k, v)| sheet.straight(k, v)).fold(f32::INFINITY, f32::min);
                // Samples come from those of the level below, so holes add up.
                assert!(nearest < 2.0 * radius, "level {l}: {v} is {nearest} m from any sample");
            }
        }
    }

    #[test]
    fn the_dual_is_a_triangulation_that_reproduces_linear_fields() {
        let cloth = Cloth::new(irregular_sheet([1.0, 1.0], [40, 40], 2));
        let sheet = cloth.sheet(&[]);
        let level = &sample(&sheet, [4.0 / 40.0], 1, Heirs::Finest)[0];
        check(&sheet, std::slice::from_ref(level), true);
        // Euler: a triangulated disk has fewer than three edges for each vertex.
        assert!(level.springs.len() < 3 * level.vertices.len());
        assert!(level.springs.len() > 2 * level.vertices.len());
        let field = |p: Vec3| 0.3 + 2.0 * p.x - 0.7 * p.z;
        for (v, p) in sheet.rest.iter().enumerate().filter(|(_, p)| p.x.abs().max(p.z.abs()) < 0.35) {
            let sum: f32 = (level.parents.of(v).iter())
                .map(|&(k, w)| w * field(sheet.rest[level.vertices[k as usize] as usize]))
                .sum();
            assert!((sum - field(*p)).abs() < 0.03, "{v}: {sum} against {}", field(*p));
        }
    }
}
