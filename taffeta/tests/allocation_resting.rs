//! Cloth that rests on a mesh and on cloth allocates nothing, though it is in contact all the time. Alone in its file: what is counted
//! is the whole program.

mod common;
#[path = "common/counting.rs"]
mod counting;

use std::sync::Arc;

use common::grid_cloth;
use counting::allocations;
use taffeta::Simulation;
use taffeta::collide::Surface;
use taffeta::mesh::Grid;
use taffeta::scene::{Cloth, Collider, ColliderShape, Scene};

#[test]
fn cloth_at_rest_on_a_mesh_and_on_cloth_allocates_nothing() {
    let mesh = Grid { cells_x: 9, cells_z: 9, size_x: 1.0, size_z: 1.0 }.mesh();
    let table = Collider {
        shape: ColliderShape::Mesh,
        surface: Some(Arc::new(Surface::rigid(&mesh))),
        mesh: Some("table".into()),
        friction: Some(0.5),
        ..Collider::default()
    };
    let layer = |y, turn| Cloth {
        position: [0.0, y, 0.0],
        rotation: [0.0, turn, 0.0],
        ..grid_cloth([0.5, 0.5], [16, 16])
    };
    for method in ["xpbd", "vbd", "pbd-gs", "newton"] {
        let mut scene = Scene {
            cloth: vec![layer(0.005, 0.0), layer(0.012, 20.0)],
            collider: vec![table.clone()],
            ..Scene::default()
        };
        scene.simulation.method = method.into();
        scene.simulation.substeps = 5;
        // With one it does not come to rest: a single descent undoes much of what contacts did.
        scene.simulation.iterations = if method == "vbd" { 10 } else { 1 };
        let mut sim = Simulation::new(&scene).unwrap();
        sim.set_threads(2);
        // Newton's method takes its time; the others have come to rest by then.
        let frames = if method == "newton" { 20 } else { 120 };
        for _ in 0..frames {
            sim.step(1.0 / 60.0);
        }
        let speed = |v: &[f32; 4]| (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
        let fastest = sim.state().v.iter().map(speed).fold(0.0, f32::max);
        assert!(fastest < 5e-3, "{method}: {fastest} m/s is not at rest");
        let before = allocations();
        for _ in 0..10 {
            let report = sim.step(1.0 / 60.0);
            assert!(report.failure.is_none() && report.work.rows > 0, "{method}: nothing touches");
        }
        assert_eq!(allocations() - before, 0, "{method}");
    }
}
