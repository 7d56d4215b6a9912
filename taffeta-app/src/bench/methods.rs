//! Nanoseconds for a constraint in one iteration, for every method that has such a count, beside those of `xpbd`.

use serde::Serialize;
use taffeta::Simulation;
use taffeta::mesh::irregular_sheet;
use taffeta::scene::{Cloth, Pair, Pin, Scene, Select, Side};
use taffeta::solver::METHODS;
use taffeta::step::Stage;

use super::{Options, table};
use crate::fault::{Fault, mention};

/// One measurement.
#[derive(Serialize)]
struct Entry {
    mesh: &'static str,
    method: &'static str,
    threads: usize,
    constraints: usize,
    colors: usize,
    /// Best of several frames.
    ns: f64,
    /// Over `xpbd` on the same mesh and threads.
    ratio: f64,
}

/// Methods whose work is not so many constraints times so many iterations.
const OTHERWISE: [&str; 3] = ["explicit", "verlet", "newton"];
/// Frames of each method, taken in turn with those of the others because the machine may be shared; the best counts.
const REPEATS: usize = 30;
const IN_A_ROW: usize = 3;
/// Iterations of a frame's only substep.
const ITERATIONS: u32 = 10;

/// Measures and reports.
pub fn run(options: &Options) -> Result<(), Fault> {
    let mut entries = Vec::new();
    for (mesh, cloth) in meshes() {
        for threads in [1, 2] {
            mention(&format!("{mesh}, {threads} threads"));
            measure(mesh, &cloth, threads, &mut entries)?;
        }
    }
    let header = ["mesh", "method", "threads", "constraints", "colors", "ns", "ratio"];
    let cells = |e: &Entry| {
        [
            e.mesh.into(),
            e.method.into(),
            e.threads.to_string(),
            e.constraints.to_string(),
            e.colors.to_string(),
            format!("{:.2}", e.ns),
            format!("{:.2}", e.ratio),
        ]
    };
    let rows: Vec<_> = entries.iter().map(cells).collect();
    table::report(options, "methods", &header, &rows, &entries, &notes(&entries))
}

fn meshes() -> [(&'static str, Cloth); 3] {
    let grid = |quads| Cloth { resolution: Pair([quads; 2]), ..Cloth::default() };
    let sheet = irregular_sheet([1.0, 1.0], [80, 80], 1);
    [
        ("grid 64²", grid(64)),
        ("grid 128²", grid(128)),
        ("irregular 12,800", Cloth { shape: Some(sheet), ..Cloth::default() }),
    ]
}

fn measure(mesh: &'static str, cloth: &Cloth, threads: usize, entries: &mut Vec<Entry>) -> Result<(), Fault> {
    // Held by an edge, and light: ten iterations are few, and no method is to tear the cloth.
    let select = Select { edges: vec![Side::LowX], ..Select::default() };
    let cloth = Cloth { pin: vec![Pin { select, ..Pin::default() }], ..cloth.clone() };
    let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
    scene.simulation.gravity = [0.0, -0.5, 0.0];
    scene.simulation.substeps = 1;
    scene.simulation.iterations = ITERATIONS;
    let mut runs = Vec::new();
    for method in METHODS.iter().filter(|method| !OTHERWISE.contains(&method.name)) {
        scene.simulation.method = method.name.into();
        let mut sim = Simulation::new(&scene).map_err(Fault::failed)?;
        sim.set_threads(threads);
        runs.push((method.name, sim, f64::INFINITY));
    }
    for _ in 0..REPEATS {
        for (_, sim, best) in &mut runs {
            // Several in a row: in the first, what this one needs is not in the cache, since the others were there.
            for _ in 0..IN_A_ROW {
                let report = sim.step(1.0 / 60.0);
                if let Some(failure) = report.failure {
                    return Err(Fault::failed(failure));
                }
                *best = best.min(report.stages[Stage::Solve as usize].as_secs_f64());
            }
        }
    }
    let whole = |sim: &Simulation| sim.model().constraints() - sim.model().attachments.len();
    let xpbd = runs.iter().find(|run| run.0 == "xpbd").expect("there is xpbd").2;
    for (method, sim, best) in runs {
        let constraints = whole(&sim);
        let ns = best * 1e9 / (constraints as f64 * ITERATIONS as f64);
        entries.push(Entry {
            mesh,
            method,
            threads,
            constraints,
            colors: sim.colors(),
            ns,
            ratio: best / xpbd,
        });
    }
    Ok(())
}

/// The ratios that matter, in words.
fn notes(entries: &[Entry]) -> Vec<String> {
    let position = |e: &&Entry| e.method.starts_with("pbd-") || e.method.starts_with("xpbd-");
    let most = entries.iter().filter(position).max_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let gauss_seidel =
        entries.iter().filter(|e| e.method == "pbd-gs").map(|e| 1.0 / e.ratio).fold(0.0, f64::max);
    let mut notes = Vec::new();
    if let Some(e) = most {
        notes.push(format!(
            "position methods: at most {:.2} times the time of xpbd ({} on {}, {} threads)",
            e.ratio, e.method, e.mesh, e.threads
        ));
        notes.push(format!("xpbd: at most {gauss_seidel:.2} times the time of pbd-gs"));
    }
    notes
}
