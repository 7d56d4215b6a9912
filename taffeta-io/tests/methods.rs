//! Every method runs every built-in scene with its settings as they are, at 60 frames a second, and nothing explodes.

use taffeta::Simulation;
use taffeta::scene::{Pair, Scene};
use taffeta::solver::METHODS;
use taffeta_io::scene_file::{BUILT_IN, load};

/// Quads a side to which scenes are coarsened, so that fifteen methods times all scenes take seconds.
const QUADS: u32 = 16;
const FRAMES: u32 = 12;

fn coarse(name: &str) -> Scene {
    let mut scene = load(name, &[]).unwrap().scene;
    scene.simulation.dt = 1.0 / 60.0;
    for cloth in &mut scene.cloth {
        let [x, z] = cloth.resolution.0;
        let ratio = QUADS as f32 / x.max(z) as f32;
        if ratio < 1.0 {
            cloth.resolution = Pair([x, z].map(|n| ((n as f32 * ratio).round() as u32).max(2)));
        }
    }
    // As many as there is room for.
    scene.simulation.hierarchy.levels = None;
    scene
}

#[test]
fn no_method_explodes_in_any_scene() {
    let mut problems = Vec::new();
    for built_in in BUILT_IN {
        let scene = coarse(built_in.name);
        // Meshes made by code take long to make and are not coarsened; tests/contact.rs runs those.
        if scene.collider.iter().any(|c| c.generate.is_some())
            || scene.cloth.iter().any(|c| c.generate.is_some())
        {
            continue;
        }
        for method in METHODS {
            let mut scene = scene.clone();
            scene.simulation.method = method.name.into();
            let mut problem =
                |what: String| problems.push(format!("{} by {}: {what}", built_in.name, method.name));
            match Simulation::new(&scene) {
                Err(error) => problem(error.to_string()),
                Ok(mut sim) => {
                    sim.set_threads(1);
                    let failure = (0..FRAMES).find_map(|_| sim.step(scene.simulation.dt).failure);
                    if let Some(failure) = failure {
                        problem(failure.to_string());
                    }
                }
            }
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}
