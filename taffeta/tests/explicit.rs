//! Methods with forces, the strain limit, and the choice of colours.

mod common;

use common::{fabric, grid_cloth, irregular_sheet, momentum, pin_corner, run};
use taffeta::Simulation;
use taffeta::params::{Coloring, ContactMode};
use taffeta::scene::{Bending, Cloth, Corner, Pair, Pin, Scene, Select, Tethers};

fn hanging(cells: [u32; 2], stretch: f32) -> Cloth {
    let corners = vec![Corner::LowLow, Corner::HighLow];
    Cloth {
        fabric: fabric(0.2, stretch, 0.3 * stretch, 1e-5),
        pin: vec![Pin { select: Select { corners, ..Select::default() }, ..Pin::default() }],
        ..grid_cloth([1.0, 1.0], cells)
    }
}

fn scene(method: &str, cloth: Cloth) -> Scene {
    let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
    scene.simulation.method = method.into();
    scene.simulation.substeps = 1;
    scene
}

fn farthest(a: &Simulation, b: &Simulation) -> f32 {
    let apart = |a: &[f32; 3], b: &[f32; 3]| (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f32>().sqrt();
    a.positions().iter().zip(b.positions()).map(|(a, b)| apart(a, b)).fold(0.0, f32::max)
}

/// The greatest stretch of an edge. Strain as it is measured elsewhere counts compression too, which is not limited.
fn stretch(sim: &Simulation) -> f32 {
    let at = |i: u32| glam::Vec3::from(sim.state().x[i as usize].p);
    sim.model().edges.iter().map(|&([a, b], rest)| at(a).distance(at(b)) / rest - 1.0).fold(0.0, f32::max)
}

/// The energy of a cloth that swings without damping neither grows nor shrinks: the substep is stable, and the method has no
/// damping of its own.
#[test]
fn the_chosen_substep_is_stable_and_keeps_energy() {
    let mut tethered = hanging([10, 10], 2000.0);
    tethered.tethers = Some(Tethers { stretch: 1.0, nearest: 2 });
    let mut mesh = hanging([10, 10], 500.0);
    mesh.shape = irregular_sheet([1.0, 1.0], [9, 9], 4).shape;
    for (name, cloth) in [("grid", hanging([10, 10], 2000.0)), ("tethered", tethered), ("mesh", mesh)] {
        // Layers that meet lose energy.
        let mut scene = scene("explicit", cloth);
        scene.simulation.contact.mode = Some(ContactMode::None);
        let mut sim = Simulation::new(&scene).unwrap();
        let total = |sim: &Simulation| {
            let e = sim.energies();
            e.kinetic + e.elastic + e.potential
        };
        let (start, weight) = (total(&sim), 0.2 * 9.81);
        run(&mut sim, 120);
        // Tethers carry energy too, which is not counted: up to ½ k C².
        let most = if name == "tethered" { 0.05 } else { 0.01 };
        let change = (total(&sim) - start) / weight;
        assert!(change.abs() < most, "{name}: the energy changed by {change} of the weight at a metre");
    }
}

#[test]
fn more_substeps_than_sensible_are_refused_with_the_one_that_would_do() {
    for method in ["explicit", "verlet"] {
        let error = Simulation::new(&scene(method, hanging([40, 40], 1e9))).err().unwrap().to_string();
        assert!(error.contains(method) && error.contains("substeps of at most"), "{error}");
    }
}

#[test]
fn stiffer_and_finer_cloth_gets_more_substeps() {
    let substeps = |cells: u32, stretch: f32| {
        Simulation::new(&scene("explicit", hanging([cells; 2], stretch))).unwrap().substeps(1.0 / 60.0) as f64
    };
    let base = substeps(16, 1000.0);
    assert!(
        (substeps(16, 4000.0) / base - 2.0).abs() < 0.1 && (substeps(32, 1000.0) / base - 2.0).abs() < 0.1
    );
    let mut scene = scene("explicit", hanging([16, 16], 1000.0));
    scene.simulation.substeps = 1000;
    assert_eq!(Simulation::new(&scene).unwrap().substeps(1.0 / 60.0), 1000, "those asked for, if more");
}

/// Springs of `verlet` are linear without hardening, and damped only as they change length: a cloth that turns as a whole
/// keeps its angular momentum and its energy.
#[test]
fn neighbours_are_damped_but_not_a_turning_cloth() {
    let mut cloth = grid_cloth([1.0, 1.0], [8, 8]);
    cloth.fabric = fabric(0.2, 50.0, 15.0, 0.0);
    cloth.bending = Bending::None;
    let mut scene = scene("verlet", cloth);
    scene.simulation.gravity = [0.0; 3];
    scene.simulation.verlet.relaxation = 1e-3;
    let turn = |scene: &mut Scene| {
        // About the axis through the middle, 2 rad/s, and some stretching.
        let n = 9;
        scene.cloth[0].kick = (0..n * n)
            .map(|v| {
                let (x, z) = ((v % n) as f32 / 8.0 - 0.5, (v / n) as f32 / 8.0 - 0.5);
                taffeta::scene::Kick {
                    select: Select { vertices: vec![v], ..Select::default() },
                    velocity: [2.0 * z + 0.5 * x, 0.0, -2.0 * x],
                }
            })
            .collect();
    };
    turn(&mut scene);
    let mut sim = Simulation::new(&scene).unwrap();
    let (_, before) = momentum(&sim);
    let start = sim.energies().kinetic;
    run(&mut sim, 60);
    let (_, after) = momentum(&sim);
    assert!((after - before).length() < 1e-3 * before.length(), "{before} to {after}");
    // What turns has 2 rad/s; the stretching, a twentieth of the energy, is gone.
    let stretching = 0.5f64.powi(2) / (0.5f64.powi(2) + 8.0);
    let left = sim.energies().kinetic / start;
    assert!((left - (1.0 - stretching)).abs() < 0.01, "{left}");
}

/// A soft cloth hung from two corners is torn from them; a strain limit keeps it whole, with any method.
#[test]
fn a_strain_limit_holds_for_every_method() {
    for (method, mesh) in [("xpbd", false), ("xpbd", true), ("explicit", false), ("pbd-gs", false)] {
        let strain = |limit: Option<f32>| {
            let mut cloth = hanging([16, 16], 20.0);
            if mesh {
                cloth.shape = irregular_sheet([1.0, 1.0], [14, 14], 3).shape;
            }
            cloth.strain_limit = limit;
            let mut scene = scene(method, cloth);
            scene.simulation.substeps = 20;
            scene.simulation.strain_passes = Some(4);
            scene.simulation.damping = 1.0;
            // Soft in its own way.
            (scene.simulation.pbd.stretch, scene.simulation.pbd.bend) = (0.02, 0.0);
            let mut sim = Simulation::new(&scene).unwrap();
            run(&mut sim, 90);
            stretch(&sim)
        };
        let (free, limited) = (strain(None), strain(Some(0.1)));
        assert!(free > 0.2, "{method}: {free} without a limit");
        assert!(limited < 0.11, "{method}, mesh {mesh}: {limited} with a limit of 0.1");
    }
}

#[test]
fn a_strain_limit_leaves_what_is_within_it_alone() {
    let run_with = |limit| {
        let mut cloth = hanging([16, 16], 2000.0);
        cloth.strain_limit = limit;
        let mut sim = Simulation::new(&scene("xpbd", Cloth { tethers: None, ..cloth })).unwrap();
        run(&mut sim, 1);
        sim.state_hash()
    };
    assert_eq!(run_with(None), run_with(Some(5.0)));
}

/// Colours decide in which order constraints are solved, not what is solved.
#[test]
fn every_colouring_comes_to_the_same_shape() {
    let solve = |coloring: Coloring, colors: u32| {
        let mut cloth = hanging([18, 18], 40.0);
        cloth.tethers = Some(Tethers::default());
        let mut scene = scene("xpbd", cloth);
        scene.simulation.coloring = coloring;
        scene.simulation.phantom_colors = colors;
        (scene.simulation.substeps, scene.simulation.iterations) = (4, 60);
        let mut sim = Simulation::new(&scene).unwrap();
        run(&mut sim, 20);
        sim
    };
    let best = solve(Coloring::Best, 4);
    for (coloring, colors) in
        [(Coloring::Greedy, 4), (Coloring::Modules, 4), (Coloring::Phantom, 4), (Coloring::Phantom, 1)]
    {
        let other = solve(coloring, colors);
        let apart = farthest(&best, &other);
        assert!(apart < 0.01, "{coloring:?} {colors}: {apart} m apart");
        if coloring == Coloring::Phantom {
            // Springs, hinges and tethers.
            assert!(other.colors() <= 3 * colors as usize, "{}", other.colors());
        }
    }
}

#[test]
fn phantoms_keep_momentum() {
    let mut cloth = grid_cloth([1.0, 1.0], [12, 12]);
    cloth.fabric = fabric(0.2, 2000.0, 500.0, 1e-5);
    cloth.velocity = [0.3, 0.2, -0.1];
    let select = Select { center: true, ..Select::default() };
    cloth.kick = vec![taffeta::scene::Kick { select, velocity: [0.0, 3.0, 0.0] }];
    let mut scene = scene("xpbd", cloth);
    scene.simulation.gravity = [0.0; 3];
    scene.simulation.coloring = Coloring::Phantom;
    scene.simulation.phantom_colors = 3;
    scene.simulation.iterations = 5;
    let mut sim = Simulation::new(&scene).unwrap();
    let (before, _) = momentum(&sim);
    run(&mut sim, 30);
    let (after, _) = momentum(&sim);
    assert!((after - before).length() < 1e-4 * before.length(), "{before} to {after}");
}

#[test]
fn colourings_that_cannot_be_are_refused() {
    let refuse = |method: &str, cloth: Cloth, coloring: Coloring| {
        let mut scene = scene(method, cloth);
        scene.simulation.coloring = coloring;
        Simulation::new(&scene).err().map(|e| e.to_string()).unwrap_or_default()
    };
    let mesh = irregular_sheet([1.0, 1.0], [6, 6], 1);
    let grid = grid_cloth([1.0, 1.0], [6, 6]);
    let error = refuse("xpbd", mesh.clone(), Coloring::Modules);
    assert!(error.contains("simulation.coloring") && error.contains("is a mesh"), "{error}");
    let error = refuse("explicit", grid.clone(), Coloring::Greedy);
    assert!(error.contains("xpbd and pbd-gs"), "{error}");
    let error = refuse("verlet", grid.clone(), Coloring::Phantom);
    assert!(error.contains("xpbd and pbd-gs"), "{error}");
    // Its strain limit is enforced by modules.
    assert_eq!(refuse("verlet", grid, Coloring::Modules), "");
    let error = refuse("verlet", mesh, Coloring::Modules);
    assert!(error.contains("is a mesh"), "{error}");
}

#[test]
fn figures_out_of_range_are_refused() {
    let refuse = |change: fn(&mut Scene)| {
        let mut scene = scene("verlet", Cloth { resolution: Pair([4, 4]), ..Cloth::default() });
        scene.cloth[0].pin.push(pin_corner());
        change(&mut scene);
        Simulation::new(&scene).err().map(|e| e.to_string()).unwrap_or_default()
    };
    type Change = fn(&mut Scene);
    let cases: [(Change, &str); 6] = [
        (|s| s.cloth[0].strain_limit = Some(0.0), "cloth.0.strain_limit"),
        (|s| s.simulation.strain_passes = Some(0), "simulation.strain_passes"),
        (|s| s.simulation.phantom_colors = 0, "simulation.phantom_colors"),
        (|s| s.simulation.verlet.hardening = 11, "simulation.verlet.hardening"),
        (|s| s.simulation.verlet.relaxation = -1.0, "simulation.verlet.relaxation"),
        (|s| s.simulation.verlet.strain_limit = f32::NAN, "simulation.verlet.strain_limit"),
    ];
    for (change, field) in cases {
        let error = refuse(change);
        assert!(error.starts_with(field), "{field}: {error}");
    }
    assert_eq!(refuse(|_| ()), "");
}
