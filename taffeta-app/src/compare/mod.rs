//! `taffeta compare`: methods side by side on one scene.

mod entrant;
mod page;
mod precision;
mod race;
mod words;

use std::path::Path;

use taffeta_io::output::{self, Clip};

use crate::cli::CompareArgs;
use crate::fault::{Fault, mention, say};
use crate::{hardware, interrupt};
use entrant::Entrant;
pub use entrant::field;
use precision::{Course, Line, Reference};
use race::Race;

/// Everything that was found out.
pub struct Comparison {
    pub scene: String,
    pub title: String,
    pub dt: f32,
    pub frames: u32,
    /// Of the scene, which methods may change for themselves.
    pub substeps: u32,
    pub iterations: u32,
    pub threads: u32,
    pub horizon: u32,
    pub machine: String,
    pub vertices: usize,
    pub triangles: usize,
    /// The methods, in the order they were asked for.
    pub races: Vec<Race>,
    pub reference: Reference,
    pub lines: Vec<Line>,
    /// What stays the same of the cloth; nothing if no method began.
    pub clip: Option<Clip>,
    /// Whether it was stopped before all was measured.
    pub interrupted: bool,
}

impl Comparison {
    /// The look of a method, or of one that differs in its counts only: the number of the first of its kind.
    pub fn style(&self, entrants: &[Entrant], line: &Line) -> usize {
        entrants.iter().position(|e| e.variant().name == line.name).unwrap_or(0)
    }
}

/// Compares.
pub fn compare(args: &CompareArgs) -> Result<(), Fault> {
    let entrants = Entrant::parse_list(&args.methods)?;
    let reference = Entrant::parse(&args.reference, "--reference").map_err(|fault| match fault {
        // The default may be missing in a build; then it was not the person who named it.
        Fault::Input(text) if args.reference == "newton" => {
            Fault::Input(format!("{text}; give another reference, such as --reference xpbd:iterations=500"))
        }
        fault => fault,
    })?;
    if let Some(path) = &args.out {
        check(path)?;
    }
    let sets = sets(args);
    let plain = taffeta_io::scene_file::load(&args.scene, &sets).map_err(Fault::input)?;
    let params = &plain.scene.simulation;
    let frames = match (args.frames, args.seconds) {
        (Some(frames), _) => frames,
        (None, Some(seconds)) => ((seconds as f64 / params.dt as f64 - 1e-3).ceil() as u32).max(1),
        (None, None) => params.frames.max(1),
    };
    let horizon = args.horizon.min(frames);
    let loaded = entrants.iter().map(|e| e.load(&args.scene, &sets, &[])).collect::<Result<Vec<_>, _>>()?;
    reference.load(&args.scene, &sets, &[])?;
    // A scene that its own method cannot do is wrong in itself.
    let sim = taffeta::Simulation::new(&plain.scene).map_err(|e| Fault::input(plain.explain(&e)))?;
    let size = taffeta::metrics::size(sim.model()).max(1e-9);
    let (vertices, triangles) = (sim.model().particles(), sim.triangles().len());
    drop(sim);

    interrupt::listen();
    let (mut races, mut clip) = (Vec::new(), None);
    for (entrant, loaded) in entrants.iter().zip(&loaded) {
        if interrupt::stopped() {
            break;
        }
        if !args.quiet {
            mention(&format!("{}: {frames} frames", entrant.name));
        }
        let (race, found) = race::race(&entrant.name, loaded, args.threads, frames, horizon)?;
        races.push(race);
        clip = clip.or(found);
    }
    let course = Course {
        scene: &args.scene,
        sets,
        substeps: params.substeps,
        iterations: params.iterations,
        threads: args.threads,
        horizon,
        quiet: args.quiet,
    };
    let mut reference = Reference::new(reference, size, args.fine);
    let mut lines = Vec::new();
    let mut measured = precision::draw(&course, &entrants, &mut reference, &mut lines);
    for race in races.iter().filter(|race| race.ran) {
        measured = measured.and_then(|()| reference.prepare(&course, race.substeps));
    }
    let interrupted = match measured {
        Err(Fault::Interrupted(_)) => true,
        other => other.map(|()| false)?,
    };
    let title = if plain.scene.title.is_empty() { &plain.name } else { &plain.scene.title };
    let comparison = Comparison {
        scene: plain.name.clone(),
        title: title.clone(),
        dt: params.dt,
        frames,
        substeps: params.substeps,
        iterations: params.iterations,
        threads: args.threads,
        horizon,
        machine: hardware::describe(),
        vertices,
        triangles,
        races,
        reference,
        lines,
        clip,
        interrupted,
    };
    let mut files = String::new();
    if let Some(path) = args.out.as_ref().filter(|_| !interrupted || comparison.clip.is_some()) {
        let text = page::page(&comparison, &entrants)?;
        let path = output::write_text(path, &text).map_err(Fault::failed)?;
        files = crate::report::file_list(&[path]);
        if !args.quiet && !interrupted {
            mention(files.trim_start());
        }
    }
    say(&if args.json { words::json(&comparison).to_string() } else { words::text(&comparison) })?;
    if interrupted {
        let (done, all) = (comparison.races.iter().filter(|race| !race.stopped).count(), entrants.len());
        return Err(Fault::Interrupted(format!(
            "stopped after {done} of {all} methods and {} of their lines of work and precision{files}",
            comparison.lines.len()
        )));
    }
    Ok(())
}

/// Says whether the report can be written, before anything is simulated.
fn check(path: &Path) -> Result<(), Fault> {
    let name = path.display();
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    if ending != "html" {
        return Err(Fault::Input(format!(
            "--out {name}: the report is a page; give it a name that ends in .html"
        )));
    }
    output::check(path).map_err(|error| Fault::Input(format!("--out {error}")))
}

/// The options that stand for fields of the scene, as settings of those fields.
fn sets(args: &CompareArgs) -> Vec<String> {
    let mut sets = args.changes.set.clone();
    sets.extend(args.changes.dt.map(|dt| format!("simulation.dt={dt}")));
    sets.extend(args.changes.substeps.map(|n| format!("simulation.substeps={n}")));
    sets.extend(args.changes.iterations.map(|n| format!("simulation.iterations={n}")));
    sets
}
