//! Runs of scenes for the documents' figures; what several figures ask for is run once.

use std::collections::BTreeMap;
use std::time::Instant;

use taffeta::solver::METHODS;
use taffeta::{Simulation, metrics};
use taffeta_io::scene_file::{BUILT_IN, load};

use super::entries::Setup;
use crate::compare::field;
use crate::fault::mention;
use crate::hardware::cpu_time;

/// What came out of a run.
pub struct Run {
    /// Time of a frame, ms: the mean, as frames a second are published; processor time on one thread, wall clock on several.
    pub ms: f64,
    /// The same of all frames together.
    pub total_ms: f64,
    pub strain_max: f64,
    pub strain_mean: f64,
    /// The largest stretch of any frame.
    pub stretch_worst: f64,
    pub log_strain: f64,
    pub residual_h: f64,
    pub shape: Vec<[f32; 3]>,
    /// Size of the cloth, m.
    pub size: f64,
}

/// Why there is no figure of ours.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing {
    /// The scene or the method is not there.
    NotBuilt(String),
    /// The machine has not as many cores.
    TooFewCores(String),
    /// It was tried.
    Failed(String),
}

impl Missing {
    pub fn text(&self) -> &str {
        let (Missing::NotBuilt(text) | Missing::TooFewCores(text) | Missing::Failed(text)) = self;
        text
    }
}

/// All runs so far.
#[derive(Default)]
pub struct Runs {
    done: BTreeMap<Setup, Result<Run, Missing>>,
}

impl Runs {
    /// Runs a scene unless it was.
    pub fn get(&mut self, setup: &Setup) -> Result<&Run, Missing> {
        if !self.done.contains_key(setup) {
            self.done.insert(*setup, run(setup));
        }
        self.done[setup].as_ref().map_err(Clone::clone)
    }

    /// A run that was made and went well.
    pub fn found(&self, setup: &Setup) -> Option<&Run> {
        self.done.get(setup)?.as_ref().ok()
    }
}

/// What of a setup is not in this build or this machine.
fn lack(setup: &Setup) -> Option<Missing> {
    let missing =
        |what: &str, name: &str| Some(Missing::NotBuilt(format!("{what} '{name}' is not in this build")));
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    if !BUILT_IN.iter().any(|scene| scene.name == setup.scene) {
        missing("scene", setup.scene)
    } else if !METHODS.iter().any(|method| method.name == setup.method) {
        missing("method", setup.method)
    } else if setup.threads as usize > cores {
        Some(Missing::TooFewCores(format!("needs {} cores, this machine has {cores}", setup.threads)))
    } else {
        None
    }
}

fn run(setup: &Setup) -> Result<Run, Missing> {
    if let Some(missing) = lack(setup) {
        return Err(missing);
    }
    mention(format!("{} with {} {}", setup.scene, setup.method, setup.sets.join(" ")).trim_end());
    let mut sets = vec![format!("simulation.method={}", setup.method)];
    for set in setup.sets {
        let (name, value) = set.split_once('=').unwrap_or((set, ""));
        let path = if name.contains('.') { name.to_string() } else { format!("simulation.{}", field(name)) };
        sets.push(format!("{path}={value}"));
    }
    let loaded = load(setup.scene, &sets).map_err(|e| Missing::Failed(e.to_string()))?;
    let mut sim =
        Simulation::new(&loaded.scene).map_err(|e| Missing::Failed(loaded.explain(&e).to_string()))?;
    sim.set_threads(setup.threads as usize);
    let frames = if setup.frames == 0 { sim.params().frames } else { setup.frames };
    let (mut times, mut worst) = (Vec::new(), 0.0f64);
    for frame in 1..=frames {
        sim.measure_residual(frame == frames);
        let (wall, cpu) = (Instant::now(), cpu_time());
        let step = sim.step(sim.params().dt);
        let spent = if setup.threads == 1 { cpu_time() - cpu } else { wall.elapsed() };
        times.push(spent.as_secs_f64() * 1e3);
        if let Some(failure) = step.failure {
            return Err(Missing::Failed(failure.to_string()));
        }
        worst = worst.max(sim.strain().stretch);
    }
    let strain = sim.strain();
    let total_ms: f64 = times.iter().sum();
    Ok(Run {
        ms: total_ms / times.len() as f64,
        total_ms,
        strain_max: strain.max,
        strain_mean: strain.mean,
        stretch_worst: worst,
        log_strain: strain.log_sum,
        residual_h: sim.residual().unwrap_or(f64::NAN),
        shape: sim.positions().to_vec(),
        size: metrics::size(sim.model()).max(1e-9),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_said_and_what_is_there_runs_once() {
        let mut runs = Runs::default();
        let setup = |scene, method, threads| Setup {
            scene,
            method,
            sets: &["cloth.0.resolution=6", "iterations=2"],
            threads,
            frames: 3,
        };
        let text = |found: Result<&Run, Missing>| found.err().unwrap().text().to_string();
        assert_eq!(text(runs.get(&setup("no-scene", "xpbd", 1))), "scene 'no-scene' is not in this build");
        assert_eq!(text(runs.get(&setup("hang", "no-method", 1))), "method 'no-method' is not in this build");
        assert!(matches!(runs.get(&setup("hang", "xpbd", 500)), Err(Missing::TooFewCores(_))));
        let one = runs.get(&setup("hang", "xpbd", 1)).unwrap();
        assert_eq!(one.shape.len(), 49);
        assert!(one.total_ms >= 2.0 * one.ms, "three frames, not {} and {} ms", one.total_ms, one.ms);
        assert!(one.ms > 0.0 && one.stretch_worst > 0.0);
        let first = one.ms;
        assert_eq!(runs.get(&setup("hang", "xpbd", 1)).unwrap().ms, first);
    }
}
