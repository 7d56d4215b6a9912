//! Position based methods: what each should and should not do.

mod common;

use common::{grid_cloth, irregular_sheet, momentum, pin_edge, run};
use taffeta::Simulation;
use taffeta::scene::{Bending, Cloth, Membrane, Scene, Side};

const METHODS: [&str; 1] = ["pbd-gs"];

/// Cloths of every kind of constraint in both layouts.
fn cloths() -> Vec<(&'static str, Cloth)> {
    let grid = grid_cloth([0.6, 0.5], [18, 15]);
    let mesh = irregular_sheet([0.6, 0.5], [12, 10], 3);
    let with = |cloth: &Cloth, bending, membrane| Cloth { bending, membrane, ..cloth.clone() };
    vec![
        ("grid, isometric", with(&grid, Bending::Isometric, Membrane::Springs)),
        ("grid, dihedral", with(&grid, Bending::Dihedral, Membrane::Springs)),
        ("grid, bend springs", with(&grid, Bending::Springs, Membrane::Springs)),
        ("grid, triangles", with(&grid, Bending::Triangle, Membrane::Stvk)),
        ("mesh, isometric", with(&mesh, Bending::Isometric, Membrane::Springs)),
        ("mesh, triangles, dihedral", with(&mesh, Bending::Dihedral, Membrane::Stvk)),
    ]
}

fn scene(method: &str, cloth: Cloth) -> Scene {
    let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
    scene.simulation.method = method.into();
    scene.simulation.substeps = 2;
    scene.simulation.iterations = 10;
    scene
}

#[test]
fn rest_stays_at_rest_even_where_whole_constraints_are_held() {
    for method in METHODS {
        for (name, mut cloth) in cloths() {
            cloth.pin.push(pin_edge(Side::LowX));
            let mut scene = scene(method, cloth);
            scene.simulation.gravity = [0.0; 3];
            let mut sim = Simulation::new(&scene).unwrap();
            let before = sim.positions().to_vec();
            run(&mut sim, 30);
            for (a, b) in before.iter().zip(sim.positions()) {
                let off = (0..3).map(|c| (a[c] - b[c]).abs()).fold(0.0, f32::max);
                assert!(off < 1e-5, "{method}, {name}: moved by {off} m");
            }
        }
    }
}

#[test]
fn momentum_is_kept_in_free_flight() {
    for method in METHODS {
        for (name, mut cloth) in cloths() {
            cloth.velocity = [1.0, 2.0, -0.5];
            cloth.kick = vec![taffeta::scene::Kick {
                select: taffeta::scene::Select { center: true, ..Default::default() },
                velocity: [0.0, 3.0, 1.0],
            }];
            cloth.fabric = common::fabric(0.2, 500.0, 200.0, 1e-4);
            let mut scene = scene(method, cloth);
            scene.simulation.gravity = [0.0; 3];
            let mut sim = Simulation::new(&scene).unwrap();
            let (before, _) = momentum(&sim);
            run(&mut sim, 30);
            let (after, _) = momentum(&sim);
            let off = (after - before).length() / before.length();
            println!("{method}, {name}: {off:.1e}");
            // Positions are rounded to 3e-8 m in each of 10 iterations of 60 substeps of 1/120 s, at 2.3 m/s.
            assert!(off < 3e-4, "{method}, {name}: momentum {before} to {after}");
        }
    }
}
