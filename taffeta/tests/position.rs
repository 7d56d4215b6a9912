//! Position based methods: what each should and should not do.

mod common;

use common::{grid_cloth, irregular_sheet, momentum, pin_edge, run};
use taffeta::Simulation;
use taffeta::scene::{Bending, Cloth, Kick, Membrane, Scene, Select, Side, Tethers};

const METHODS: [&str; 5] = ["pbd-gs", "pbd-jacobi", "pbd-sor", "xpbd-jacobi", "xpbd-chebyshev"];

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
            let select = Select { center: true, ..Select::default() };
            cloth.kick = vec![Kick { select, velocity: [0.0, 3.0, 1.0] }];
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

/// The greatest distance between vertices of two runs, m.
fn apart(a: &Simulation, b: &Simulation) -> f32 {
    let distance = |a: &[f32; 3], b: &[f32; 3]| (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f32>().sqrt();
    a.positions().iter().zip(b.positions()).map(|(a, b)| distance(a, b)).fold(0.0, f32::max)
}

#[test]
fn jacobi_and_chebyshev_come_to_the_solution_of_xpbd() {
    for (name, cloth) in
        [("grid", grid_cloth([0.5, 0.5], [16, 16])), ("mesh", irregular_sheet([0.5, 0.5], [10, 10], 4))]
    {
        let hanging = |method: &str, iterations: u32| {
            let mut cloth = cloth.clone();
            cloth.fabric = common::fabric(0.2, 200.0, 80.0, 1e-5);
            cloth.pin.push(pin_edge(Side::LowX));
            let mut scene = scene(method, cloth);
            scene.simulation.iterations = iterations;
            let mut sim = Simulation::new(&scene).unwrap();
            run(&mut sim, 20);
            sim
        };
        let goal = hanging("xpbd", 500);
        for method in ["xpbd-jacobi", "xpbd-chebyshev"] {
            let mut before = f32::INFINITY;
            let counts: &[u32] =
                if method == "xpbd-jacobi" { &[5, 20, 80, 320, 1280] } else { &[5, 20, 80, 320] };
            for &iterations in counts {
                let off = apart(&hanging(method, iterations), &goal);
                println!("{name}, {method}, {iterations}: {off} m");
                assert!(off < before, "{name}, {method}: {off} m with {iterations}, {before} m with fewer");
                before = off;
            }
            assert!(before < 0.01 * 0.5, "{name}, {method} ends {before} m from the solution");
        }
    }
}

#[test]
fn no_spectral_radius_makes_chebyshev_diverge() {
    let mut soft = grid_cloth([1.0, 1.0], [24, 24]);
    soft.fabric = common::fabric(0.2, 30.0, 10.0, 0.0);
    soft.pin.push(pin_edge(Side::LowX));
    let mut stiff = grid_cloth([1.0, 1.0], [24, 24]);
    stiff.fabric = common::fabric(0.2, 2667.0, 1000.0, 1e-5);
    stiff.pin.push(common::pin_corner());
    stiff.tethers = Some(Tethers { stretch: 1.01, nearest: 1 });
    let mut mesh = irregular_sheet([1.0, 1.0], [14, 14], 2);
    mesh.fabric = common::fabric(0.2, 500.0, 200.0, 1e-5);
    mesh.pin.push(pin_edge(Side::LowX));
    for (name, cloth) in [("soft", soft), ("stiff", stiff), ("mesh", mesh)] {
        for (substeps, iterations) in [(1, 10), (1, 60), (4, 20)] {
            let energy = |method: &str, rho: Option<f32>| {
                let mut scene = scene(method, cloth.clone());
                scene.simulation.substeps = substeps;
                scene.simulation.iterations = iterations;
                scene.simulation.chebyshev.rho = rho;
                let mut sim = Simulation::new(&scene).unwrap();
                let mut most: f64 = 0.0;
                for _ in 0..60 {
                    run(&mut sim, 1);
                    most = most.max(sim.energies().kinetic);
                }
                most
            };
            // A cloth of 0.2 kg that falls by a metre can have 2 J.
            let fallen = energy("xpbd", None);
            for rho in [None, Some(0.3), Some(0.6), Some(0.9), Some(0.97), Some(0.99), Some(0.999)] {
                let most = energy("xpbd-chebyshev", rho);
                println!("{name} {substeps} × {iterations}, ρ {rho:?}: {most:.3} J, xpbd {fallen:.3} J");
                assert!(
                    most < 1.5 * fallen,
                    "{name} {substeps} × {iterations}, ρ {rho:?}: {most} J, xpbd {fallen} J"
                );
            }
        }
    }
}

#[test]
fn figures_out_of_range_are_refused_by_name() {
    let refused = |change: fn(&mut Scene), field: &str| {
        let mut scene = scene("pbd-sor", grid_cloth([0.5, 0.5], [4, 4]));
        change(&mut scene);
        let error = Simulation::new(&scene).err().expect(field).to_string();
        assert!(error.contains(field), "{error}");
    };
    refused(|s| s.simulation.pbd.stretch = 1.5, "simulation.pbd.stretch");
    refused(|s| s.simulation.pbd.bend = -0.1, "simulation.pbd.bend");
    refused(|s| s.simulation.pbd.omega = 2.0, "simulation.pbd.omega");
    refused(|s| s.simulation.chebyshev.rho = Some(1.0), "simulation.chebyshev.rho");
    refused(|s| s.simulation.chebyshev.gamma = f32::NAN, "simulation.chebyshev.gamma");
}
