//! Built-in scenes for tests.

use taffeta::Simulation;
use taffeta_io::scene_file::load;

/// Builds a scene, on one thread: tests run beside each other.
pub fn scene(name: &str, sets: &[&str]) -> Simulation {
    let sets: Vec<String> = sets.iter().map(|s| s.to_string()).collect();
    let mut sim = Simulation::new(&load(name, &sets).unwrap().scene).unwrap();
    sim.set_threads(1);
    sim
}

/// Runs it, and nothing may fail.
pub fn run(sim: &mut Simulation, frames: u32) {
    let dt = sim.params().dt;
    for _ in 0..frames {
        let report = sim.step(dt);
        assert!(report.failure.is_none(), "{}", report.failure.unwrap());
    }
}
