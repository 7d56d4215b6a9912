//! `taffeta run`: simulate a scene and write what was asked for.

use std::io::IsTerminal;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use taffeta::params::ContactMode;
use taffeta::step::StepReport;
use taffeta::{BuildError, Simulation};
use taffeta_io::output::OutputError;
use taffeta_io::scene_file::{LoadedScene, load};

use crate::cli::RunArgs;
use crate::fault::{Fault, mention, say};
use crate::interrupt;
use crate::measure::{Metrics, metrics};
use crate::record::{self, Recorder};
use crate::report::{Report, file_list, plural};

/// Runs a scene.
pub fn run(args: &RunArgs) -> Result<(), Fault> {
    record::check(&args.out)?;
    let loaded = prepare(args)?;
    let mut sim = Simulation::new(&loaded.scene).map_err(|e| Fault::input(loaded.explain(&e)))?;
    if let Some(threads @ 1..) = args.threads {
        sim.set_threads(threads as usize);
    }
    if let Some(level) = args.simd {
        sim.set_simd(level);
    }
    let params = sim.params();
    let title = if loaded.scene.title.is_empty() { &loaded.name } else { &loaded.scene.title };
    let subtitle = format!(
        "{}, {} vertices, {:.4} s a frame in {} of {}",
        params.method,
        sim.positions().len(),
        params.dt,
        plural(sim.substeps(params.dt) as usize, "substep"),
        plural(params.iterations as usize, "iteration")
    );
    if !args.quiet {
        warn_of_crossings(&sim);
    }
    interrupt::listen();
    let recorder = Recorder::open(&args.out, &record::clip(&sim, title, subtitle)).map_err(Fault::failed)?;

    Run::new(args, &loaded, sim, recorder).finish()
}

/// Says so if something crosses at the start, and nobody asked for a mode that lets it: what nothing may cross is the default, and cannot be had then.
fn warn_of_crossings(sim: &Simulation) {
    if sim.params().contact.mode.is_none() && sim.contact_mode() == Some(ContactMode::Predictive) {
        let pairs = plural(sim.intersecting_pairs(), "pair");
        mention(&format!(
            "warning: {pairs} of triangles cross at the start, so contact is \"predictive\", which may let more through; \
             `taffeta check` says where, and simulation.contact.untangle = true undoes what can be undone"
        ));
    }
}

/// Loads the scene and applies the options that stand for fields of it.
fn prepare(args: &RunArgs) -> Result<LoadedScene, Fault> {
    let mut loaded = load(&args.scene, &args.changes.set).map_err(Fault::input)?;
    let params = &mut loaded.scene.simulation;
    params.dt = args.changes.dt.unwrap_or(params.dt);
    params.substeps = args.changes.substeps.unwrap_or(params.substeps);
    params.iterations = args.changes.iterations.unwrap_or(params.iterations);
    if let Some(method) = &args.method {
        params.method = method.clone();
    }
    params.frames = match (args.frames, args.seconds) {
        (Some(frames), _) => frames,
        // A little less, so that rounding in the division does not add a frame.
        (None, Some(seconds)) => ((seconds as f64 / params.dt as f64 - 1e-3).ceil() as u32).max(1),
        (None, None) => params.frames,
    };
    if params.frames == 0 {
        let error = BuildError::field("simulation.frames", "is 0; must be 1 or more");
        return Err(Fault::input(loaded.explain(&error)));
    }
    Ok(loaded)
}

/// A run under way.
struct Run<'a> {
    args: &'a RunArgs,
    sim: Simulation,
    recorder: Recorder,
    report: Report,
    frames: u32,
    wants_metrics: bool,
    bar: ProgressBar,
}

impl<'a> Run<'a> {
    fn new(args: &'a RunArgs, loaded: &LoadedScene, sim: Simulation, recorder: Recorder) -> Self {
        let frames = sim.params().frames;
        let visible = !args.quiet && std::io::stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(frames as u64), target);
        let style = ProgressStyle::with_template("{bar:30} frame {pos}/{len}  {msg}  {eta} left");
        bar.set_style(style.expect("the template is valid"));
        let wants_metrics = record::wants_metrics(&args.out);
        Run { args, sim, recorder, report: Report::new(&loaded.name), frames, wants_metrics, bar }
    }

    /// Simulates and records all frames; the outcome is in the report.
    fn simulate(&mut self) -> Result<(), OutputError> {
        let start = self.metrics(None, 0.0);
        self.recorder.frame(&self.sim, &start)?;
        for frame in 1..=self.frames {
            if interrupt::stopped() {
                self.report.interrupted = true;
                break;
            }
            let last = frame == self.frames;
            self.sim.measure_residual(self.wants_metrics || (last && self.args.json));
            let before = Instant::now();
            let step = self.sim.step(self.sim.params().dt);
            let ms = before.elapsed().as_secs_f64() * 1e3;
            if step.failure.is_some() {
                self.report.failure = step.failure;
                break;
            }
            self.report.add(&step, ms, self.sim.strain());
            let metrics = self.metrics(Some(&step), ms);
            self.recorder.frame(&self.sim, &metrics)?;
            self.bar.set_message(format!("{:.1} fps", self.report.timing().fps()));
            self.bar.inc(1);
        }
        Ok(())
    }

    /// The named figures of the frame that was just made; of the start if there is no step.
    fn metrics(&mut self, step: Option<&StepReport>, ms: f64) -> Metrics {
        if self.wants_metrics { metrics(&mut self.sim, step, ms, true) } else { Metrics::new() }
    }

    /// Simulates, completes the files, and says how it went.
    fn finish(mut self) -> Result<(), Fault> {
        let begin = Instant::now();
        let recorded = self.simulate();
        self.bar.finish_and_clear();
        let Run { args, mut sim, recorder, mut report, frames, .. } = self;
        let (written, unfinished) = recorder.finish();
        report.wall_s = begin.elapsed().as_secs_f64();
        report.written = written;

        let write_error = recorded.err().or(unfinished);
        let said = match (args.json, args.quiet) {
            _ if write_error.is_some() => Ok(()),
            (true, _) => say(&report.json(&mut sim).to_string()),
            (false, false) if report.is_complete() => say(&report.text(&sim)),
            (false, _) => Ok(()),
        };
        let files = file_list(&report.written);
        match (write_error, &report.failure) {
            (Some(error), _) => Err(Fault::failed(format!("{error}{files}"))),
            (None, Some(failure)) => Err(Fault::failed(format!("{failure}{files}"))),
            (None, None) if report.interrupted => {
                let done = report.timing().frames();
                Err(Fault::Interrupted(format!("stopped after {done} of {frames} frames{files}")))
            }
            (None, None) => {
                if args.json && !args.quiet && !files.is_empty() {
                    mention(files.trim_start());
                }
                said
            }
        }
    }
}
