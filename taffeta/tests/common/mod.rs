//! Cloths for tests.
#![allow(dead_code)]

use glam::{DVec3, Vec2, Vec3};
use taffeta::Simulation;
use taffeta::mesh::TriMesh;
use taffeta::scene::{Cloth, Corner, FabricChoice, FabricTable, Pair, Pin, Select, Side};

pub fn fabric(density: f32, stretch: f32, shear: f32, bend: f32) -> FabricChoice {
    FabricChoice(FabricTable {
        density: Some(density),
        stretch: Some(Pair([stretch; 2])),
        shear: Some(shear),
        bend: Some(Pair([bend; 2])),
        damping: Some(0.0),
        ..FabricTable::default()
    })
}

pub fn grid_cloth(size: [f32; 2], cells: [u32; 2]) -> Cloth {
    Cloth { size: Pair(size), resolution: Pair(cells), ..Cloth::default() }
}

pub fn pin_edge(side: Side) -> Pin {
    Pin { select: Select { edges: vec![side], ..Select::default() }, ..Pin::default() }
}

pub fn pin_corner() -> Pin {
    Pin { select: Select { corners: vec![Corner::LowLow], ..Select::default() }, ..Pin::default() }
}

/// A level sheet of random points, triangulated by Delaunay flips: no two triangles alike.
pub fn irregular_sheet(size: [f32; 2], cells: [u32; 2], seed: u32) -> Cloth {
    Cloth { shape: Some(irregular_mesh(size, cells, seed)), ..Cloth::default() }
}

pub fn irregular_mesh(size: [f32; 2], cells: [u32; 2], seed: u32) -> TriMesh {
    let (nx, nz) = (cells[0] as usize + 1, cells[1] as usize + 1);
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
                (x as f32 + jitter_x) / (nx - 1) as f32 * size[0] - 0.5 * size[0],
                (z as f32 + jitter_z) / (nz - 1) as f32 * size[1] - 0.5 * size[1],
            ));
        }
    }
    let mut triangles = Vec::new();
    for z in 0..nz - 1 {
        for x in 0..nx - 1 {
            let a = (z * nx + x) as u32;
            let (b, c, d) = (a + 1, a + nx as u32, a + nx as u32 + 1);
            triangles.extend([[a, c, b], [b, c, d]]);
        }
    }
    flip_to_delaunay(&points, &mut triangles);
    TriMesh { positions: points.iter().map(|p| [p.x, 0.0, p.y]).collect(), triangles }
}

/// Flips edges until every one is locally Delaunay (or a bound on the rounds is reached).
fn flip_to_delaunay(points: &[Vec2], triangles: &mut [[u32; 3]]) {
    use std::collections::BTreeMap;
    for _ in 0..20 {
        let mut sides: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
        for (t, tri) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (tri[k], tri[(k + 1) % 3]);
                sides.entry((a.min(b), a.max(b))).or_default().push(t);
            }
        }
        let (mut touched, mut flips) = (vec![false; triangles.len()], 0);
        for ((a, b), ts) in sides {
            let [t, u] = ts[..] else { continue };
            if touched[t] || touched[u] {
                continue;
            }
            let opposite = |t: usize| triangles[t].into_iter().find(|&v| v != a && v != b).unwrap();
            let (c, d) = (opposite(t), opposite(u));
            let at = |v: u32| points[v as usize];
            let angle = |apex: Vec2, p: Vec2, q: Vec2| (p - apex).angle_to(q - apex).abs();
            if angle(at(c), at(a), at(b)) + angle(at(d), at(a), at(b)) > std::f32::consts::PI + 1e-3 {
                // The quad is a, d, b, c; both new triangles must have the orientation of the others.
                let up = |t: [u32; 3]| {
                    let [p, q, r] = t.map(at);
                    if (q - p).perp_dot(r - p) < 0.0 { t } else { [t[0], t[2], t[1]] }
                };
                let area = |t: [u32; 3]| {
                    let [p, q, r] = t.map(at);
                    (q - p).perp_dot(r - p).abs()
                };
                let (s1, s2) = ([a, d, c], [d, b, c]);
                let whole = area(triangles[t]) + area(triangles[u]);
                if (area(s1) + area(s2) - whole).abs() < 1e-4 * whole {
                    triangles[t] = up(s1);
                    triangles[u] = up(s2);
                    touched[t] = true;
                    touched[u] = true;
                    flips += 1;
                }
            }
        }
        if flips == 0 {
            return;
        }
    }
}

pub fn run(sim: &mut Simulation, frames: u32) {
    let dt = sim.params().dt;
    for _ in 0..frames {
        let report = sim.step(dt);
        assert!(report.failure.is_none(), "{}", report.failure.unwrap());
    }
}

/// Linear and angular momentum of the free particles.
pub fn momentum(sim: &Simulation) -> (DVec3, DVec3) {
    let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
    let state = sim.state();
    for i in 0..sim.model().particles() {
        let m = 1.0 / sim.model().inverse_mass[i] as f64;
        let x = Vec3::from(state.x[i].p).as_dvec3();
        let v = Vec3::new(state.v[i][0], state.v[i][1], state.v[i][2]).as_dvec3();
        linear += v * m;
        angular += x.cross(v) * m;
    }
    (linear, angular)
}
