//! Cloths for tests.
#![allow(dead_code)]

use glam::{DVec3, Vec3};
use taffeta::Simulation;
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

/// A level sheet in which no two triangles are alike.
pub fn irregular_sheet(size: [f32; 2], cells: [usize; 2], seed: u32) -> Cloth {
    Cloth { shape: Some(taffeta::mesh::irregular_sheet(size, cells, seed)), ..Cloth::default() }
}

/// Runs on one thread: tests run beside each other, and threads that wait for each other would only be in the way.
pub fn run(sim: &mut Simulation, frames: u32) {
    sim.set_threads(1);
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
