//! One method over the whole scene, and over its first frames.

use taffeta::Simulation;
use taffeta::collide::Pose;
use taffeta::metrics::{Gap, gap};
use taffeta_io::output::Clip;
use taffeta_io::scene_file::LoadedScene;

use crate::fault::Fault;
use crate::hardware::cpu_time;
use crate::interrupt;
use crate::measure::metrics;
use crate::record;

/// Positions of all vertices, one list for each frame from the first on.
pub type Path = Vec<Vec<[f32; 3]>>;

/// What became of a method in the scene.
pub struct Race {
    pub name: String,
    pub method: String,
    pub substeps: u32,
    pub iterations: u32,
    pub colors: usize,
    /// The names of the figures in `rows`.
    pub names: Vec<&'static str>,
    /// The figures of every frame, the start first.
    pub rows: Vec<(u32, Vec<f64>)>,
    /// Processor time of every frame, ms.
    pub cpu_ms: Vec<f64>,
    /// Positions in the first frames.
    pub path: Path,
    /// The last shape, and where the colliders were.
    pub shape: Vec<[f32; 3]>,
    pub poses: Vec<Pose>,
    pub penetrating: usize,
    pub crossing: usize,
    /// Why it did not begin, or not get to the end.
    pub failure: Option<String>,
    /// Whether it began.
    pub ran: bool,
    /// Whether Ctrl-C ended it.
    pub stopped: bool,
}

impl Race {
    /// The figure of a frame by its name.
    pub fn figure(&self, row: usize, name: &str) -> f64 {
        let column = self.names.iter().position(|n| *n == name);
        column.and_then(|c| self.rows.get(row)?.1.get(c).copied()).unwrap_or(f64::NAN)
    }

    /// The figure of the last frame.
    pub fn last(&self, name: &str) -> f64 {
        self.figure(self.rows.len().wrapping_sub(1), name)
    }

    /// Processor time of the middle frame when all are sorted by it, ms.
    pub fn median_ms(&self) -> f64 {
        let mut sorted = self.cpu_ms.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

/// Builds a scene for a method. A scene that no method could do is the fault of the scene.
fn build(loaded: &LoadedScene, threads: u32) -> Result<Result<Simulation, String>, Fault> {
    match Simulation::new(&loaded.scene) {
        Ok(mut sim) => {
            sim.set_threads(threads as usize);
            Ok(Ok(sim))
        }
        Err(error) => {
            let text = loaded.explain(&error).to_string();
            let field = error.to_string();
            if field.starts_with("simulation.") { Ok(Err(text)) } else { Err(Fault::Input(text)) }
        }
    }
}

/// Runs a scene for `frames`, keeping positions of the first `horizon`; what stays the same of it comes along, if it began.
pub fn race(
    name: &str,
    loaded: &LoadedScene,
    threads: u32,
    frames: u32,
    horizon: u32,
) -> Result<(Race, Option<Clip>), Fault> {
    let params = &loaded.scene.simulation;
    let mut race = Race {
        name: name.into(),
        method: params.method.clone(),
        substeps: params.substeps,
        iterations: params.iterations,
        colors: 0,
        names: Vec::new(),
        rows: Vec::new(),
        cpu_ms: Vec::new(),
        path: Vec::new(),
        shape: Vec::new(),
        poses: Vec::new(),
        penetrating: 0,
        crossing: 0,
        failure: None,
        ran: false,
        stopped: false,
    };
    let mut sim = match build(loaded, threads)? {
        Ok(sim) => sim,
        Err(problem) => {
            race.failure = Some(problem);
            return Ok((race, None));
        }
    };
    race.ran = true;
    race.colors = sim.colors();
    let start = metrics(&mut sim, None, 0.0, false);
    race.names = start.iter().map(|&(name, _)| name).collect();
    race.rows.push((0, start.iter().map(|&(_, value)| value).collect()));
    sim.measure_residual(true);
    for frame in 1..=frames {
        if interrupt::stopped() {
            race.stopped = true;
            break;
        }
        let before = cpu_time();
        let step = sim.step(sim.params().dt);
        let ms = (cpu_time() - before).as_secs_f64() * 1e3;
        if let Some(failure) = &step.failure {
            race.failure = Some(failure.to_string());
            break;
        }
        race.cpu_ms.push(ms);
        let figures = metrics(&mut sim, Some(&step), ms, false);
        race.rows.push((frame, figures.iter().map(|&(_, value)| value).collect()));
        if frame <= horizon {
            race.path.push(sim.positions().to_vec());
        }
    }
    record::positions(&sim, &mut race.shape);
    race.poses = sim.bodies().iter().map(|body| body.pose).collect();
    race.penetrating = sim.penetrating_vertices();
    race.crossing = sim.intersecting_pairs();
    let clip = record::clip(&sim, &loaded.name, String::new());
    Ok((race, Some(clip)))
}

/// The first frames of a scene: positions, and processor time of a frame in ms, the best of a few runs.
pub fn sprint(loaded: &LoadedScene, threads: u32, horizon: u32, repeats: u32) -> Result<(Path, f64), String> {
    /// A second of measuring is enough; slow methods are run once.
    const ENOUGH: f64 = 1.0;
    let (mut path, mut best, mut total) = (Path::new(), f64::INFINITY, 0.0);
    for _ in 0..repeats {
        let mut sim = match build(loaded, threads) {
            Ok(sim) => sim?,
            Err(Fault::Input(problem)) => return Err(problem),
            Err(_) => return Err("the scene cannot be built".into()),
        };
        let mut spent = 0.0;
        let first = path.is_empty();
        for _ in 0..horizon {
            if interrupt::stopped() {
                return Err("stopped".into());
            }
            let before = cpu_time();
            let step = sim.step(sim.params().dt);
            spent += (cpu_time() - before).as_secs_f64();
            if let Some(failure) = step.failure {
                return Err(failure.to_string());
            }
            if first {
                path.push(sim.positions().to_vec());
            }
        }
        best = best.min(spent);
        total += spent;
        if total > ENOUGH {
            break;
        }
    }
    Ok((path, 1e3 * best / horizon as f64))
}

/// How far a path is from another, over all vertices and all frames that both have, m. Nothing if it is the shorter one.
pub fn distance(path: &Path, reference: &Path) -> Option<Gap> {
    if path.len() < reference.len() || reference.is_empty() {
        return None;
    }
    let gaps: Vec<Gap> = path.iter().zip(reference).map(|(a, b)| gap(a, b)).collect();
    let mean = gaps.iter().map(|g| g.rms * g.rms).sum::<f64>() / gaps.len() as f64;
    Some(Gap { rms: mean.sqrt(), max: gaps.iter().map(|g| g.max).fold(0.0, f64::max) })
}
