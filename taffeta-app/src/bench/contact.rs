//! Every scene of contact as it is written, by methods of four kinds, on one thread and on two: what crosses, and what the stages cost.

use serde::Serialize;
use taffeta::Simulation;
use taffeta::step::Stage;
use taffeta_io::scene_file::load;

use super::{Options, table};
use crate::fault::{Fault, mention};

const SCENES: [&str; 12] = [
    "self-collision",
    "multiple-objects",
    "ball-and-wind",
    "statue",
    "mannequin",
    "sphere-drape",
    "drop",
    "tower",
    "twist",
    "funnel",
    "plate",
    "body",
];
/// Methods, and the part of a scene's frames that they run: the last takes long.
const METHODS: [(&str, f64); 4] = [("xpbd", 1.0), ("vbd", 1.0), ("pbd-gs", 1.0), ("newton", 0.1)];
const THREADS: [usize; 2] = [1, 2];
/// What crosses is counted in every so many frames, and at the end.
const EVERY: u32 = 10;

/// One run.
#[derive(Serialize)]
struct Entry {
    scene: &'static str,
    method: &'static str,
    threads: usize,
    frames: u32,
    /// The most pairs of triangles that cross in any frame that was looked at.
    crossings: usize,
    /// The most vertices inside a collider, likewise.
    inside: usize,
    /// Pins and vertices of colliders that had no room left and went on.
    forced: usize,
    /// Speed of the fastest vertex at the end, m/s.
    fastest: f32,
    /// Mean time of a frame, ms.
    frame_ms: f64,
    /// Of the slowest frame, ms.
    worst_ms: f64,
    /// Mean time of each stage in a frame, ms.
    stages_ms: [f64; Stage::ALL.len()],
    /// Why it did not go on.
    failure: Option<String>,
}

const NUMBERS: usize = 10;

/// Measures and reports.
pub fn run(options: &Options) -> Result<(), Fault> {
    let wanted = |scene: &str, method: &str, threads: usize| {
        let label = format!("{scene} {method} {threads}");
        options
            .only
            .as_ref()
            .is_none_or(|words| words.split_whitespace().all(|w| label.split(' ').any(|l| l == w)))
    };
    let mut entries = Vec::new();
    for scene in SCENES {
        for (method, part) in METHODS {
            for threads in THREADS.into_iter().filter(|&threads| wanted(scene, method, threads)) {
                mention(&format!("{scene} by {method}, {threads} threads"));
                entries.push(measure(scene, method, part, threads)?);
            }
        }
    }
    if entries.is_empty() {
        let words = options.only.as_deref().unwrap_or_default();
        let message = format!(
            "--only {words}: no row has these words; name a scene ({}), a method ({}), 1 or 2 threads, or several of them",
            SCENES.join(", "),
            METHODS.map(|(method, _)| method).join(", ")
        );
        return Err(Fault::Input(message));
    }
    let mut header = [""; NUMBERS + Stage::ALL.len()];
    header[..NUMBERS].copy_from_slice(&[
        "scene",
        "method",
        "threads",
        "frames",
        "crossings",
        "inside",
        "forced",
        "fastest",
        "ms",
        "worst",
    ]);
    header[NUMBERS..].copy_from_slice(&Stage::ALL.map(Stage::name));
    let rows: Vec<_> = entries.iter().map(cells).collect();
    table::report(options, "contact", &header, &rows, &entries, &notes(&entries))
}

fn cells(e: &Entry) -> [String; NUMBERS + Stage::ALL.len()] {
    let mut cells = std::array::from_fn(|_| String::new());
    let numbers: [String; NUMBERS] = [
        e.scene.into(),
        e.method.into(),
        e.threads.to_string(),
        e.frames.to_string(),
        e.crossings.to_string(),
        e.inside.to_string(),
        e.forced.to_string(),
        format!("{:.4}", e.fastest),
        format!("{:.2}", e.frame_ms),
        format!("{:.2}", e.worst_ms),
    ];
    for (cell, number) in cells.iter_mut().zip(numbers) {
        *cell = number;
    }
    for (cell, ms) in cells[NUMBERS..].iter_mut().zip(e.stages_ms) {
        *cell = format!("{ms:.2}");
    }
    cells
}

fn measure(scene: &'static str, method: &'static str, part: f64, threads: usize) -> Result<Entry, Fault> {
    let mut written = load(scene, &[]).map_err(Fault::failed)?.scene;
    written.simulation.method = method.into();
    let wanted = ((written.simulation.frames as f64 * part) as u32).max(EVERY);
    let mut sim = Simulation::new(&written).map_err(Fault::failed)?;
    sim.set_threads(threads);
    let mut entry = Entry {
        scene,
        method,
        threads,
        frames: 0,
        crossings: 0,
        inside: 0,
        forced: 0,
        fastest: 0.0,
        frame_ms: 0.0,
        worst_ms: 0.0,
        stages_ms: [0.0; Stage::ALL.len()],
        failure: None,
    };
    for frame in 1..=wanted {
        let report = sim.step(written.simulation.dt);
        entry.frames = frame;
        let spent = report.stages.map(|stage| 1e3 * stage.as_secs_f64());
        entry.stages_ms.iter_mut().zip(spent).for_each(|(sum, ms)| *sum += ms);
        let whole: f64 = spent.iter().sum();
        entry.frame_ms += whole;
        entry.worst_ms = entry.worst_ms.max(whole);
        entry.forced += report.work.forced;
        if frame % EVERY == 0 || frame == wanted {
            entry.crossings = entry.crossings.max(sim.intersecting_pairs());
            entry.inside = entry.inside.max(sim.penetrating_vertices());
        }
        if let Some(failure) = report.failure {
            entry.failure = Some(failure.to_string());
            break;
        }
    }
    let frames = entry.frames as f64;
    entry.frame_ms /= frames;
    entry.stages_ms.iter_mut().for_each(|ms| *ms /= frames);
    let speed = |v: &[f32; 4]| (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
    let cloth = &sim.state().v[..sim.model().particles()];
    entry.fastest = cloth.iter().map(speed).fold(0.0, f32::max);
    Ok(entry)
}

/// Whether all is well, and what a second thread brings.
fn notes(entries: &[Entry]) -> Vec<String> {
    let mut notes = Vec::new();
    let bad = entries.iter().filter(|e| e.crossings + e.inside > 0).count();
    notes.push(match bad {
        0 => format!("{} runs: nothing crosses, nothing is inside anything", entries.len()),
        _ => format!("{bad} of {} runs have crossings, or vertices inside a collider", entries.len()),
    });
    for e in entries.iter().filter(|e| e.failure.is_some()) {
        let what = e.failure.as_deref().unwrap_or_default();
        notes.push(format!("{} by {}, {} threads: {what}", e.scene, e.method, e.threads));
    }
    for one in entries.iter().filter(|e| e.threads == 1) {
        let same = |e: &&Entry| e.threads == 2 && (e.scene, e.method) == (one.scene, one.method);
        if let Some(two) = entries.iter().find(same) {
            let gain = one.frame_ms / two.frame_ms;
            notes.push(format!(
                "{} by {}: two threads are {gain:.2} times as fast as one",
                one.scene, one.method
            ));
        }
    }
    notes
}
