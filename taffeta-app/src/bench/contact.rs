//! Every scene of contact as it is written, or with another mesh or less work, by methods of four kinds, on one thread and on two: what crosses, and what the stages cost.

use std::time::{Duration, Instant};

use serde::Serialize;
use taffeta::Simulation;
use taffeta::scene::{Pair, Scene};
use taffeta::step::Stage;
use taffeta_io::scene_file::load;

use super::{Options, table};
use crate::fault::{Fault, mention};
use crate::interrupt;

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
const METHODS: [&str; 4] = ["xpbd", "vbd", "pbd-gs", "newton"];
/// How a scene is run.
const VARIANTS: [&str; 4] = [AS_WRITTEN, HALF, DOUBLE, QUARTER];
const AS_WRITTEN: &str = "full";
/// With half and with twice as many edges of cloth along each side.
const HALF: &str = "half";
const DOUBLE: &str = "double";
/// With a quarter of the iterations, or of substeps and iterations where there are fewer than four.
const QUARTER: &str = "quarter";
/// A quarter of what `newton`, which makes as many iterations as it needs, usually takes.
const FEW_ITERATIONS: u32 = 2;
/// What it may take on meshes that are twice as fine. As many as it needs, a dozen, would take half a day for `twist` and `body`; and what cannot cross does not depend on it.
const FINE_ITERATIONS: u32 = 4;
const THREADS: [usize; 2] = [1, 2];
/// What crosses is counted in every so many frames, and at the end.
const EVERY: u32 = 10;
/// How often a long run says how far it is.
const TELL: Duration = Duration::from_secs(10);

/// One run.
#[derive(Serialize)]
struct Entry {
    scene: &'static str,
    method: &'static str,
    variant: &'static str,
    threads: usize,
    frames: u32,
    /// The most pairs of triangles that cross in any frame that was looked at.
    crossings: usize,
    /// The most vertices inside a collider, likewise.
    inside: usize,
    /// Vertices of colliders that jammed cloth kept from where they should be, in all substeps.
    dented: usize,
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

impl Entry {
    fn case(&self) -> Case {
        let Entry { scene, method, variant, threads, .. } = *self;
        Case { scene, method, variant, threads }
    }
}

const NUMBERS: usize = 11;

/// Measures and reports.
pub fn run(options: &Options) -> Result<(), Fault> {
    interrupt::listen();
    let mut words: Vec<&str> = options.only.as_deref().unwrap_or_default().split_whitespace().collect();
    if !words.iter().any(|word| VARIANTS.contains(word)) {
        words.push(AS_WRITTEN);
    }
    let wanted = |case: &Case| {
        let Case { scene, method, variant, threads } = case;
        let threads = threads.to_string();
        words.iter().all(|word| [scene, method, variant, &threads.as_str()].contains(&word))
    };
    let mut entries = Vec::new();
    for case in Case::all().filter(wanted) {
        if interrupt::stopped() {
            break;
        }
        mention(&case.to_string());
        entries.push(measure(&case)?);
    }
    if entries.is_empty() {
        let words = options.only.as_deref().unwrap_or_default();
        let message = format!(
            "--only {words}: no row has these words; name a scene ({}), a method ({}), a variant ({}), 1 or 2 threads, or several of them",
            SCENES.join(", "),
            METHODS.join(", "),
            VARIANTS.join(", ")
        );
        return Err(Fault::Input(message));
    }
    let mut header = [""; NUMBERS + Stage::ALL.len()];
    header[..NUMBERS].copy_from_slice(&[
        "scene",
        "method",
        "variant",
        "threads",
        "frames",
        "crossings",
        "inside",
        "dented",
        "fastest",
        "ms",
        "worst",
    ]);
    header[NUMBERS..].copy_from_slice(&Stage::ALL.map(Stage::name));
    let rows: Vec<_> = entries.iter().map(cells).collect();
    table::report(options, "contact", &header, &rows, &entries, &notes(&entries))?;
    match interrupt::stopped() {
        true => {
            Err(Fault::Interrupted(format!("stopped after {} runs; the last is not whole", entries.len())))
        }
        false => Ok(()),
    }
}

/// What is run.
#[derive(Clone, Copy, Debug)]
struct Case {
    scene: &'static str,
    method: &'static str,
    variant: &'static str,
    threads: usize,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Case { scene, method, variant, threads } = self;
        let variant = if *variant == AS_WRITTEN { String::new() } else { format!(", {variant}") };
        write!(f, "{scene} by {method}{variant}, {threads} threads")
    }
}

impl Case {
    /// All there are.
    fn all() -> impl Iterator<Item = Case> {
        let cases = SCENES.into_iter().flat_map(|scene| METHODS.map(|method| (scene, method)));
        let cases = cases.flat_map(|both| VARIANTS.map(|variant| (both, variant)));
        cases.flat_map(|((scene, method), variant)| {
            THREADS.map(|threads| Case { scene, method, variant, threads })
        })
    }

    /// Its scene.
    fn scene(&self) -> Result<Scene, Fault> {
        let mut scene = load(self.scene, &[]).map_err(Fault::failed)?.scene;
        scene.simulation.method = self.method.into();
        match self.variant {
            HALF => refine(&mut scene, 0.5),
            DOUBLE => {
                refine(&mut scene, 2.0);
                scene.simulation.newton.iterations = FINE_ITERATIONS;
            }
            QUARTER => {
                let params = &mut scene.simulation;
                params.newton.iterations = FEW_ITERATIONS;
                if params.iterations >= 4 {
                    params.iterations /= 4;
                } else {
                    params.substeps = (params.substeps * params.iterations / 4).max(1);
                    params.iterations = 1;
                }
            }
            _ => {}
        }
        Ok(scene)
    }
}

/// Makes the meshes of all cloths so many times as fine.
fn refine(scene: &mut Scene, times: f32) {
    for cloth in &mut scene.cloth {
        cloth.resolution = Pair(cloth.resolution.0.map(|quads| (quads as f32 * times) as u32));
        let vertices = cloth.generate.as_mut().and_then(|generate| generate.vertices.as_mut());
        if let Some(vertices) = vertices {
            *vertices = (*vertices as f32 * times * times) as u32;
        }
    }
}

fn cells(e: &Entry) -> [String; NUMBERS + Stage::ALL.len()] {
    let mut cells = std::array::from_fn(|_| String::new());
    let numbers: [String; NUMBERS] = [
        e.scene.into(),
        e.method.into(),
        e.variant.into(),
        e.threads.to_string(),
        e.frames.to_string(),
        e.crossings.to_string(),
        e.inside.to_string(),
        e.dented.to_string(),
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

fn measure(case: &Case) -> Result<Entry, Fault> {
    let &Case { scene, method, variant, threads } = case;
    let written = case.scene()?;
    let wanted = written.simulation.frames;
    let mut sim = Simulation::new(&written).map_err(Fault::failed)?;
    sim.set_threads(threads);
    let mut entry = Entry {
        scene,
        method,
        variant,
        threads,
        frames: 0,
        crossings: 0,
        inside: 0,
        dented: 0,
        fastest: 0.0,
        frame_ms: 0.0,
        worst_ms: 0.0,
        stages_ms: [0.0; Stage::ALL.len()],
        failure: None,
    };
    let mut told = Instant::now();
    for frame in 1..=wanted {
        let report = sim.step(written.simulation.dt);
        if told.elapsed() > TELL {
            mention(&format!("  frame {frame} of {wanted}"));
            told = Instant::now();
        }
        entry.frames = frame;
        let spent = report.stages.map(|stage| 1e3 * stage.as_secs_f64());
        entry.stages_ms.iter_mut().zip(spent).for_each(|(sum, ms)| *sum += ms);
        let whole: f64 = spent.iter().sum();
        entry.frame_ms += whole;
        entry.worst_ms = entry.worst_ms.max(whole);
        entry.dented += report.work.dented;
        let stopped = interrupt::stopped();
        if frame % EVERY == 0 || frame == wanted || stopped {
            entry.crossings = entry.crossings.max(sim.intersecting_pairs());
            entry.inside = entry.inside.max(sim.penetrating_vertices());
        }
        if let Some(failure) = report.failure {
            entry.failure = Some(failure.to_string());
            break;
        }
        if stopped {
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
    for e in entries {
        if let Some(what) = &e.failure {
            notes.push(format!("{}: {what}", e.case()));
        }
    }
    for one in entries.iter().filter(|e| e.threads == 1) {
        let same = |e: &&Entry| {
            e.threads == 2 && (e.scene, e.method, e.variant) == (one.scene, one.method, one.variant)
        };
        if let Some(two) = entries.iter().find(same) {
            let gain = one.frame_ms / two.frame_ms;
            notes.push(format!("{}: {gain:.2} times as fast as one", two.case()));
        }
    }
    notes
}
