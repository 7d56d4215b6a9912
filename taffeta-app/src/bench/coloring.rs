//! What each colouring costs and gains: colours, time of a projection, and how far equal iterations come.

use serde::Serialize;
use taffeta::mesh::irregular_sheet;
use taffeta::params::Coloring;
use taffeta::scene::{Bending, Cloth, Corner, Pair, Pin, Scene, Select};
use taffeta::step::Stage;
use taffeta::{BuildError, Simulation};

use super::{Options, table};
use crate::fault::{Fault, mention};

/// One measurement.
#[derive(Serialize)]
struct Entry {
    mesh: &'static str,
    coloring: String,
    constraints: usize,
    colors: usize,
    /// Nanoseconds for a projection on one thread, copying and averaging included; the best of several frames.
    ns_1: f64,
    /// The same on two threads.
    ns_2: f64,
    /// ‖C + α̃ λ‖ after equal iterations of the first frame, as a part of what it was with the best colouring.
    residual: f64,
}

/// For the residual.
const ITERATIONS: u32 = 40;
/// Iterations of a frame that is timed: short, so that some frames are left in peace by the rest of the machine.
const TIMED: u32 = 4;
const FRAMES: usize = 150;

/// Measures and reports.
pub fn run(options: &Options) -> Result<(), Fault> {
    let grid = |quads| Cloth { resolution: Pair([quads; 2]), ..Cloth::default() };
    let irregular = Cloth { shape: Some(irregular_sheet([1.0, 1.0], [70, 60], 1)), ..Cloth::default() };
    let meshes = [("grid 64²", grid(64)), ("grid 128²", grid(128)), ("irregular 8k", irregular)];
    let colorings = [
        ("best", Coloring::Best, 4),
        ("greedy", Coloring::Greedy, 4),
        ("modules", Coloring::Modules, 4),
        ("phantom 6", Coloring::Phantom, 6),
        ("phantom 4", Coloring::Phantom, 4),
        ("phantom 2", Coloring::Phantom, 2),
    ];
    let mut entries: Vec<Entry> = Vec::new();
    for (mesh, cloth) in &meshes {
        mention(mesh);
        let first = entries.len();
        for (name, coloring, cap) in colorings {
            // Modules are for grids; that is for the engine to say.
            if let Ok(entry) = measure(mesh, name, &scene(cloth, coloring, cap)) {
                entries.push(entry);
            }
        }
        let best = entries[first].residual;
        entries[first..].iter_mut().for_each(|entry| entry.residual /= best);
    }
    let header =
        ["mesh", "coloring", "constraints", "colors", "ns 1 thread", "ns 2 threads", "residual to best"];
    let cells = |e: &Entry| {
        [
            e.mesh.into(),
            e.coloring.clone(),
            e.constraints.to_string(),
            e.colors.to_string(),
            format!("{:.2}", e.ns_1),
            format!("{:.2}", e.ns_2),
            format!("{:.3}", e.residual),
        ]
    };
    let rows: Vec<_> = entries.iter().map(cells).collect();
    let notes = [format!(
        "Springs alone, hung from two corners; xpbd in a step of 1/60 s. The residual is that of the first frame \
         after {ITERATIONS} iterations; times are those of frames of {TIMED}, copying and averaging included."
    )];
    table::report(options, "coloring", &header, &rows, &entries, &notes)
}

fn scene(cloth: &Cloth, coloring: Coloring, cap: u32) -> Scene {
    let corners = vec![Corner::LowLow, Corner::HighLow];
    let pin = Pin { select: Select { corners, ..Select::default() }, ..Pin::default() };
    let cloth = Cloth { pin: vec![pin], bending: Bending::None, ..cloth.clone() };
    let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
    scene.simulation.substeps = 1;
    scene.simulation.coloring = coloring;
    scene.simulation.phantom_colors = cap;
    scene
}

fn measure(mesh: &'static str, coloring: &str, scene: &Scene) -> Result<Entry, BuildError> {
    let build = |scene: &Scene, iterations: u32, threads: usize| {
        let mut scene = scene.clone();
        scene.simulation.iterations = iterations;
        let mut sim = Simulation::new(&scene)?;
        sim.set_threads(threads);
        Ok::<_, BuildError>(sim)
    };
    let mut sim = build(scene, ITERATIONS, 1)?;
    sim.measure_residual(true);
    sim.step(sim.params().dt);
    let residual = sim.residual().unwrap_or(f64::NAN);
    let (constraints, colors) = (sim.model().distance.len(), sim.colors());
    let mut ns = [f64::INFINITY; 2];
    for threads in [1, 2] {
        let mut timed = scene.clone();
        // So few iterations would let the cloth be torn from its pins.
        timed.simulation.gravity = [0.0; 3];
        let mut sim = build(&timed, TIMED, threads)?;
        for _ in 0..FRAMES {
            let report = sim.step(sim.params().dt);
            assert!(report.failure.is_none(), "a cloth without weight stays where it is");
            let time = report.stages[Stage::Solve as usize].as_secs_f64();
            ns[threads - 1] = ns[threads - 1].min(time * 1e9 / (constraints as f64 * TIMED as f64));
        }
    }
    Ok(Entry { mesh, coloring: coloring.into(), constraints, colors, ns_1: ns[0], ns_2: ns[1], residual })
}
