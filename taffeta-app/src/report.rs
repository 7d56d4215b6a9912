//! What a run did, as a table and as JSON.

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use taffeta::Simulation;
use taffeta::collide::Work;
use taffeta::metrics::Strain;
use taffeta::step::{Failure, Stage, StepReport};

/// So many of something.
pub fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// How long frames took.
#[derive(Default)]
pub struct Timing {
    /// Time of each frame, ms.
    frames: Vec<f64>,
    total: f64,
    stages: [f64; Stage::ALL.len()],
}

impl Timing {
    fn add(&mut self, step: &StepReport, ms: f64) {
        self.frames.push(ms);
        self.total += ms;
        for (sum, spent) in self.stages.iter_mut().zip(step.stages) {
            *sum += spent.as_secs_f64() * 1e3;
        }
    }

    /// How many there were.
    pub fn frames(&self) -> usize {
        self.frames.len()
    }

    fn mean(&self) -> f64 {
        self.total / self.frames.len().max(1) as f64
    }

    /// Frames per second of computing.
    pub fn fps(&self) -> f64 {
        if self.total > 0.0 { 1e3 * self.frames.len() as f64 / self.total } else { 0.0 }
    }

    /// The time that so much of the frames did not exceed, ms.
    fn percentile(&self, part: f64) -> f64 {
        let mut sorted = self.frames.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = (part * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
    }

    /// Mean time of each stage, ms.
    fn stages(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let count = self.frames.len().max(1) as f64;
        Stage::ALL.iter().zip(self.stages).map(move |(stage, sum)| (stage.name(), sum / count))
    }
}

/// The outcome of a run.
pub struct Report {
    scene: String,
    timing: Timing,
    worst_strain: f64,
    contacts: usize,
    /// What contact between layers took, in all frames.
    work: Work,
    /// From the first frame to the last file, s.
    pub wall_s: f64,
    /// Why it stopped early.
    pub failure: Option<Failure>,
    /// Whether the person stopped it.
    pub interrupted: bool,
    /// The files there are now.
    pub written: Vec<PathBuf>,
}

impl Report {
    /// Of a run that has not begun.
    pub fn new(scene: &str) -> Self {
        Report {
            scene: scene.into(),
            timing: Timing::default(),
            worst_strain: 0.0,
            contacts: 0,
            work: Work::default(),
            wall_s: 0.0,
            failure: None,
            interrupted: false,
            written: Vec::new(),
        }
    }

    /// Adds a good frame.
    pub fn add(&mut self, step: &StepReport, ms: f64, strain: Strain) {
        self.timing.add(step, ms);
        self.worst_strain = self.worst_strain.max(strain.max);
        self.contacts = step.contacts;
        self.work += step.work;
    }

    /// How long frames took so far.
    pub fn timing(&self) -> &Timing {
        &self.timing
    }

    /// Whether it went to its end.
    pub fn is_complete(&self) -> bool {
        self.failure.is_none() && !self.interrupted
    }

    /// The object that `--json` prints.
    pub fn json(&self, sim: &mut Simulation) -> Value {
        let residual = sim.residual();
        let (strain, energies, timing) = (sim.strain(), sim.energies(), &self.timing);
        let (model, params) = (sim.model(), sim.params());
        let stages: Map<String, Value> = timing.stages().map(|(name, ms)| (name.into(), ms.into())).collect();
        let failure = self.failure.as_ref().map(|f| {
            json!({ "frame": f.frame, "vertex": f.vertex, "cloth": f.cloth, "what": f.what, "advice": f.advice })
        });
        json!({
            "scene": self.scene,
            "method": params.method,
            "backend": "cpu",
            "threads": sim.threads(),
            "simd": sim.simd().name(),
            "vertices": model.particles(),
            "triangles": model.triangles.len(),
            "constraints": model.constraints(),
            "colors": sim.colors(),
            "frames": timing.frames(),
            // With the digits it was given with.
            "dt": params.dt.to_string().parse::<f64>().ok(),
            "substeps": sim.substeps(params.dt),
            "iterations": params.iterations,
            "wall_s": self.wall_s,
            "fps": timing.fps(),
            "ms_per_frame": {
                "mean": timing.mean(),
                "p50": timing.percentile(0.5),
                "p99": timing.percentile(0.99),
                "max": timing.percentile(1.0),
            },
            "stages_ms": stages,
            "strain": { "max": strain.max, "mean": strain.mean, "worst": self.worst_strain },
            "spring_change_rate": strain.mean,
            "residual": { "h": residual, "g": sim.gradient_residual(), "log_strain": strain.log_sum },
            "energy": {
                "kinetic": energies.kinetic,
                "elastic": energies.elastic,
                "potential": energies.potential,
            },
            "contacts": self.contacts,
            "layers": {
                "detections": self.work.detections,
                "measured": self.work.measured,
                "collections": self.work.collections,
                "rows": self.work.rows,
                "colors": self.work.colors,
                "lost": self.work.lost,
                "stopped": self.work.stopped,
                "late": self.work.late,
                "dented": self.work.dented,
            },
            "penetrating_vertices": sim.penetrating_vertices(),
            "intersecting_pairs": sim.intersecting_pairs(),
            "state_hash": hash(sim),
            "failure": failure,
            "interrupted": self.interrupted,
            "written": self.written,
        })
    }

    /// The summary for people.
    pub fn text(&self, sim: &Simulation) -> String {
        let mut text = String::new();
        let (model, params, timing) = (sim.model(), sim.params(), &self.timing);
        let (strain, energies) = (sim.strain(), sim.energies());
        let mut line = |head: &str, rest: String| {
            let _ = writeln!(text, "{}", format!("{head:<11} {rest}").trim_end());
        };
        line(
            &self.scene,
            format!("{} on cpu, {}, {}", params.method, plural(sim.threads(), "thread"), sim.simd().name()),
        );
        line(
            "cloth",
            format!(
                "{} vertices, {} triangles, {} constraints in {} colours",
                model.particles(),
                model.triangles.len(),
                model.constraints(),
                sim.colors()
            ),
        );
        line(
            "time",
            format!(
                "{} of {:.4} s, {} × {}, in {:.2} s",
                plural(timing.frames(), "frame"),
                params.dt,
                plural(sim.substeps(params.dt) as usize, "substep"),
                plural(params.iterations as usize, "iteration"),
                self.wall_s
            ),
        );
        line("", String::new());
        line("stage", format!("{:>9}{:>8}", "ms/frame", "%"));
        for (name, ms) in timing.stages() {
            line(name, format!("{ms:>9.4}{:>8.1}", 100.0 * ms / timing.mean().max(1e-12)));
        }
        line(
            "frame",
            format!(
                "{:>9.4}{:>8.1}   {:.1} fps; p50 {:.4}, p99 {:.4}, max {:.4} ms",
                timing.mean(),
                100.0,
                timing.fps(),
                timing.percentile(0.5),
                timing.percentile(0.99),
                timing.percentile(1.0)
            ),
        );
        line("", String::new());
        line(
            "strain",
            format!(
                "max {:.3} %, mean {:.3} %, worst of the run {:.3} %",
                100.0 * strain.max,
                100.0 * strain.mean,
                100.0 * self.worst_strain
            ),
        );
        line(
            "energy",
            format!(
                "kinetic {:.4e} J, elastic {:.4e} J, potential {:.4e} J",
                energies.kinetic, energies.elastic, energies.potential
            ),
        );
        line(
            "contact",
            format!(
                "{} touching, {} penetrating, {} intersecting",
                plural(self.contacts, "vertex").replace("vertexs", "vertices"),
                sim.penetrating_vertices(),
                plural(sim.intersecting_pairs(), "pair")
            ),
        );
        line("state", hash(sim));
        text.truncate(text.trim_end().len());
        text + &file_list(&self.written)
    }
}

fn hash(sim: &Simulation) -> String {
    format!("{:016x}", sim.state_hash())
}

/// A line for each file that was written, with its size; a sequence of many is cut short.
pub fn file_list(paths: &[PathBuf]) -> String {
    const SHOWN: usize = 8;
    let mut text = String::new();
    for path in paths.iter().take(SHOWN) {
        let bytes = std::fs::metadata(path).map_or(0, |data| data.len());
        let _ = write!(text, "\n{:<12}{}  {}", "written", path.display(), indicatif::HumanBytes(bytes));
    }
    if paths.len() > SHOWN {
        let _ = write!(text, "\n{:<12}… and {} more", "", paths.len() - SHOWN);
    }
    text
}
