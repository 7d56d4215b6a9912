//! How long a large mesh takes from file to first frame.

use std::time::Instant;

use serde::Serialize;
use taffeta::Simulation;
use taffeta::mesh::irregular_sheet;
use taffeta::scene::{Cloth, Pin, Scene, Select, Side};
use taffeta_io::mesh_file::read_mesh;
use taffeta_io::output::{self, Clip, Frame};

use super::{Options, table};
use crate::fault::{Fault, mention};

#[derive(Serialize)]
struct Entry {
    triangles: usize,
    what: &'static str,
    seconds: f64,
}

/// Measures and reports.
pub fn run(options: &Options) -> Result<(), Fault> {
    let mut entries = Vec::new();
    for cells in [[250, 200], [1000, 500]] {
        measure(cells, &mut entries)?;
    }
    let header = ["triangles", "what", "seconds"];
    let rows: Vec<_> = entries
        .iter()
        .map(|e| [e.triangles.to_string(), e.what.to_string(), format!("{:.3}", e.seconds)])
        .collect();
    table::report(options, "start", &header, &rows, &entries, &[])
}

fn measure(cells: [usize; 2], entries: &mut Vec<Entry>) -> Result<(), Fault> {
    let mesh = irregular_sheet([2.0, 1.0], cells, 1);
    let triangles = mesh.triangles.len();
    mention(&format!("{triangles} triangles"));
    let path = std::env::temp_dir().join(format!("taffeta-bench-{}.ply", std::process::id()));
    let clip = Clip { vertices: mesh.positions.len(), triangles: mesh.triangles, ..Clip::default() };
    let frame = Frame { index: 0, time: 0.0, positions: &mesh.positions, colliders: &[], metrics: &[] };
    let mut sink = output::open(&path, &clip).map_err(Fault::failed)?;
    sink.frame(&frame).map_err(Fault::failed)?;
    sink.finish().map_err(Fault::failed)?;

    let mut clock = Instant::now();
    let mut total = 0.0;
    let mut lap = |what| {
        let seconds = clock.elapsed().as_secs_f64();
        entries.push(Entry { triangles, what, seconds });
        total += seconds;
        clock = Instant::now();
    };
    let shape = read_mesh(&path);
    let _ = std::fs::remove_file(&path);
    let shape = Some(shape.map_err(Fault::failed)?);
    lap("load");
    let select = Select { edges: vec![Side::LowX], ..Select::default() };
    let cloth = Cloth { shape, pin: vec![Pin { select, ..Pin::default() }], ..Cloth::default() };
    let mut sim =
        Simulation::new(&Scene { cloth: vec![cloth], ..Scene::default() }).map_err(Fault::failed)?;
    lap("build and colour");
    sim.step(1.0 / 60.0);
    lap("first frame");
    entries.push(Entry { triangles, what: "total", seconds: total });
    Ok(())
}
