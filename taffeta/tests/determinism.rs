//! The same bits on any number of threads and with any instructions.

mod common;

use common::{fabric, grid_cloth, irregular_sheet, pin_corner, pin_edge};
use taffeta::lanes::SimdLevel;
use taffeta::motion::{Circle, Motion, Oscillate, Spin};
use taffeta::params::Coloring;
use taffeta::scene::{Bending, Cloth, Collider, ColliderShape, Scene, Side, Tethers, Wind, WindKind};
use taffeta::solver::METHODS;
use taffeta::{BuildError, Simulation};

/// Scenes that between them use every kind of constraint, both layouts, contact, friction, moving pins and wind.
fn scenes() -> Vec<(&'static str, Scene)> {
    let sphere = Collider {
        radius: 0.3,
        position: [0.1, -0.32, 0.0],
        friction: Some(0.4),
        motion: Motion {
            oscillate: Some(Oscillate { direction: [0.2, 0.0, 0.1], rate: 3.0, wave: Default::default() }),
            spin: Some(Spin { axis: [0.0, 1.0, 0.0], speed: 180.0, reverse_every: None }),
            ..Motion::default()
        },
        ..Collider::default()
    };
    let ground = Collider { shape: ColliderShape::Plane, position: [0.0, -0.8, 0.0], ..Collider::default() };
    let scene = |cloth: Vec<Cloth>| Scene {
        cloth,
        collider: vec![sphere.clone(), ground.clone()],
        ..Scene::default()
    };
    let mut pinned = grid_cloth([1.0, 1.0], [32, 25]);
    pinned.pin.push(pin_corner());
    pinned.pin[0].motion.circle =
        Some(Circle { center: [0.0; 3], axis: [0.0, 1.0, 0.0], speed: 2.0, until: Some(0.3) });
    pinned.tethers = Some(Tethers { stretch: 1.05, nearest: 1 });
    pinned.margin = Some(0.01);
    let mut tall = grid_cloth([0.5, 1.2], [12, 30]);
    tall.bending = Bending::Dihedral;
    tall.margin = Some(0.01);
    let mut mesh = irregular_sheet([1.0, 1.0], [20, 20], 9);
    mesh.margin = Some(0.01);
    let mut curved = mesh.clone();
    curved.bending = Bending::Dihedral;
    curved.pin.push(pin_edge(Side::LowX));
    curved.tethers = Some(Tethers::default());
    let above = Cloth { position: [0.0, 0.05, 0.0], ..mesh.clone() };
    let mut several = scene(vec![pinned.clone(), above]);
    several.simulation.iterations = 3;
    several.simulation.substeps = 5;
    let windy = |kind: WindKind| {
        let wind = Wind { kind, direction: [0.3, -0.2, 1.0], gust: 1.0, length: 0.3, ..Wind::default() };
        Scene { wind: Some(wind), ..several.clone() }
    };
    let (gusts, eddies) = (windy(WindKind::Gusts), windy(WindKind::Noise));
    // Soft, so that few substeps will do and the strain limit has work.
    let soft = |method: &str, coloring: Coloring| {
        let mut scene = several.clone();
        scene.cloth.iter_mut().for_each(|cloth| {
            cloth.fabric = fabric(0.2, 30.0, 10.0, 1e-6);
            cloth.strain_limit = Some(0.02);
        });
        if coloring == Coloring::Modules {
            scene.cloth.truncate(1);
        }
        scene.simulation.method = method.into();
        scene.simulation.coloring = coloring;
        scene
    };
    // With iterations enough to accelerate, begin anew and estimate.
    let mut accelerated = soft("xpbd-chebyshev", Coloring::Best);
    accelerated.simulation.iterations = 15;
    accelerated.simulation.substeps = 2;
    let methods = METHODS.iter().map(|method| (method.name, soft(method.name, Coloring::Best)));
    let mut scenes: Vec<(&str, Scene)> = methods.collect();
    scenes.extend([
        ("a strain limit by modules", soft("verlet", Coloring::Modules)),
        ("modules", soft("xpbd", Coloring::Modules)),
        ("greedy colours", soft("xpbd", Coloring::Greedy)),
        ("phantoms", soft("xpbd", Coloring::Phantom)),
        ("accelerated", accelerated),
        ("two cloths in gusts", gusts),
        ("two cloths among eddies", eddies),
        ("grid", scene(vec![pinned])),
        ("tall grid, dihedral", scene(vec![tall])),
        ("mesh", scene(vec![mesh])),
        ("mesh, dihedral", scene(vec![curved])),
        ("two cloths, iterations", several),
    ]);
    scenes
}

fn hash(scene: &Scene, threads: usize, level: SimdLevel) -> Result<u64, BuildError> {
    let mut sim = Simulation::new(scene)?;
    sim.set_threads(threads);
    sim.set_simd(level);
    for _ in 0..9 {
        let report = sim.step(1.0 / 60.0);
        assert!(report.failure.is_none(), "{}", report.failure.unwrap());
    }
    assert!(sim.step(1.0 / 60.0).contacts > 0, "the scene should be in contact by now");
    Ok(sim.state_hash())
}

#[test]
fn the_bits_do_not_depend_on_threads_or_instructions() {
    for (name, scene) in scenes() {
        let expected = hash(&scene, 1, SimdLevel::Scalar).unwrap();
        // With many substeps or colours, threads that outnumber the cores would wait for each other for minutes.
        let crowd = if scene.cloth[0].strain_limit.is_some() { 3 } else { 8 };
        for level in SimdLevel::all() {
            for threads in [1, 2, crowd] {
                // Every count of threads with the best instructions, and all instructions on one and two.
                let best = level.name() == SimdLevel::best().name();
                if best || threads <= 2 {
                    let got = hash(&scene, threads, level).unwrap();
                    assert_eq!(got, expected, "{name}: {threads} threads, {}", level.name());
                }
            }
        }
    }
}
