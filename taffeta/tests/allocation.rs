//! A step allocates nothing once it has begun.

mod common;
#[path = "common/counting.rs"]
mod counting;

use common::{fabric, grid_cloth, irregular_sheet, pin_corner};
use counting::allocations;
use taffeta::Simulation;
use taffeta::params::Coloring;
use taffeta::scene::{Cloth, Collider, Scene, Tethers, Wind, WindKind};
use taffeta::solver::METHODS;

#[test]
fn no_allocation_after_the_first_frames() {
    let mut grid = grid_cloth([1.0, 1.0], [40, 40]);
    grid.pin.push(pin_corner());
    grid.tethers = Some(Tethers::default());
    let mesh = Cloth { position: [0.0, 0.1, 0.0], ..irregular_sheet([1.0, 1.0], [30, 30], 2) };
    let collider = Collider { position: [0.0, -0.6, 0.0], ..Collider::default() };
    let still = Scene { cloth: vec![grid, mesh], collider: vec![collider], ..Scene::default() };
    let mut scenes: Vec<(String, Scene)> = [None, Some(WindKind::Gusts), Some(WindKind::Noise)]
        .map(|kind| {
            let wind = kind.map(|kind| Wind { kind, ..Wind::default() });
            (format!("wind {kind:?}"), Scene { wind, ..still.clone() })
        })
        .into();
    // Soft, so that few substeps will do.
    let mut soft = still.clone();
    soft.cloth.iter_mut().for_each(|cloth| cloth.fabric = fabric(0.2, 30.0, 10.0, 1e-6));
    soft.cloth[0].strain_limit = Some(0.1);
    soft.simulation.substeps = 5;
    soft.simulation.iterations = 3;
    let mut phantom = soft.clone();
    phantom.simulation.coloring = Coloring::Phantom;
    scenes.push(("phantoms".into(), phantom));
    for method in METHODS {
        let mut scene = soft.clone();
        scene.simulation.method = method.name.into();
        scenes.push((method.name.into(), scene));
    }
    for (name, scene) in scenes {
        let mut sim = Simulation::new(&scene).unwrap();
        sim.set_threads(2);
        for _ in 0..3 {
            sim.step(1.0 / 60.0);
        }
        let before = allocations();
        for _ in 0..10 {
            assert!(sim.step(1.0 / 60.0).failure.is_none());
        }
        assert_eq!(allocations() - before, 0, "{name}");
    }
}
