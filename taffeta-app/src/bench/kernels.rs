//! The time of one projection of each kind of constraint, for each set of instructions and on one and two threads.

use std::time::Instant;

use serde::Serialize;
use taffeta::color::{PADDING, Row, StripMap, edge_colors, gathered_sweep, greedy_colors};
use taffeta::constraint::{dihedral, distance, isometric};
use taffeta::lanes::SimdLevel;
use taffeta::mesh::{Grid, irregular_sheet};
use taffeta::model::Model;
use taffeta::par::Team;
use taffeta::scene::{Bending, Cloth, Pair, Scene};
use taffeta::wide::{Block, Keep, Kernel, Layout, Particle, Sweep};

use super::{Options, table};
use crate::fault::{Fault, mention};

/// One measurement.
#[derive(Serialize)]
struct Entry {
    mesh: String,
    kind: &'static str,
    layout: &'static str,
    constraints: usize,
    colors: usize,
    simd: &'static str,
    threads: usize,
    /// Best of several runs.
    ns: f64,
}

/// How often each measurement is repeated at least, and for how long, s; the best counts, because the machine may be shared and others
/// keep a core from us for some milliseconds at a time.
const REPEATS: usize = 60;
const SECONDS: f64 = 0.15;
/// Projections in one repetition, at least.
const PROJECTIONS: usize = 500_000;
/// 1/h² of a substep of 1/1200 s.
const INV_H2: f32 = 1.44e6;

/// Measures and reports.
pub fn run(options: &Options) -> Result<(), Fault> {
    let mut entries = Vec::new();
    for quads in [64, 128, 256] {
        mention(&format!("grid {quads} × {quads}"));
        measure_grid(quads, &mut entries);
    }
    mention("irregular mesh of 100,000 triangles");
    measure_irregular(&mut entries);
    let header = ["mesh", "kind", "layout", "constraints", "colors", "simd", "threads", "ns"];
    let cells = |e: &Entry| {
        [
            e.mesh.clone(),
            e.kind.into(),
            e.layout.into(),
            e.constraints.to_string(),
            e.colors.to_string(),
            e.simd.into(),
            e.threads.to_string(),
            format!("{:.2}", e.ns),
        ]
    };
    let rows: Vec<_> = entries.iter().map(cells).collect();
    let notes = ratios(&entries);
    table::report(options, "kernels", &header, &rows, &entries, &notes)
}

/// The ratios that matter, in words.
fn ratios(entries: &[Entry]) -> Vec<String> {
    let best = SimdLevel::best().name();
    let find = |mesh: &str, kind: &str, simd: &str, threads: usize| {
        entries
            .iter()
            .find(|e| e.mesh == mesh && e.kind == kind && e.simd == simd && e.threads == threads)
            .map_or(f64::NAN, |e| e.ns)
    };
    let mut meshes: Vec<&str> = entries.iter().map(|e| e.mesh.as_str()).collect();
    meshes.dedup();
    meshes
        .iter()
        .map(|mesh| {
            let ns = |simd, threads| find(mesh, "distance", simd, threads);
            format!(
                "{mesh}: distance {:.2} ns, {:.1} × as fast as scalar; two threads {:.2} × one",
                ns(best, 1),
                ns("scalar", 1) / ns(best, 1),
                ns(best, 1) / ns(best, 2)
            )
        })
        .collect()
}

fn measure_grid(quads: u32, entries: &mut Vec<Entry>) {
    let springs =
        scene(Cloth { resolution: Pair([quads; 2]), bending: Bending::Springs, ..Cloth::default() });
    let isometric = scene(Cloth { resolution: Pair([quads; 2]), ..Cloth::default() });
    let dihedral =
        scene(Cloth { resolution: Pair([quads; 2]), bending: Bending::Dihedral, ..Cloth::default() });
    let grid = springs.cloths[0].grid.expect("a cloth without a mesh is a grid");
    let mesh = format!("grid {quads}²");
    let map = StripMap::new(&grid, 0).expect("the grid is large enough");
    let blocks = blocks(&map, &springs, &grid);
    let mut bench = Bench { mesh: &mesh, layout: "strips", entries };
    bench.sweep(
        "distance",
        map.sweep::<2, 2, 1>(&springs.distance),
        &blocks,
        distance::Project { inv_h2: INV_H2 },
    );
    bench.sweep(
        "isometric",
        map.sweep::<4, 4, 3>(&isometric.isometric),
        &blocks,
        isometric::Project { inv_h2: INV_H2, share: 1.0 },
    );
    bench.sweep(
        "dihedral",
        map.sweep::<4, 2, 1>(&dihedral.dihedral),
        &blocks,
        dihedral::Project { inv_h2: INV_H2 },
    );
}

fn measure_irregular(entries: &mut Vec<Entry>) {
    let sheet = irregular_sheet([1.0, 1.0], [250, 200], 1);
    let isometric = scene(Cloth { shape: Some(sheet.clone()), ..Cloth::default() });
    let dihedral = scene(Cloth { shape: Some(sheet), bending: Bending::Dihedral, ..Cloth::default() });
    let n = isometric.particles();
    let x = particles(&isometric);
    let mut bench = Bench { mesh: "irregular 100k", layout: "gathered", entries };
    let pairs: Vec<_> = isometric.distance.iter().map(|r| r.particles).collect();
    let sweep = gathered_sweep::<2, 2, 1>(&isometric.distance, &edge_colors(n, &pairs), n);
    bench.sweep("distance", sweep, &x, distance::Project { inv_h2: INV_H2 });
    let sweep = gathered_sweep::<4, 4, 3>(&isometric.isometric, &hinge_colors(n, &isometric.isometric), n);
    bench.sweep("isometric", sweep, &x, isometric::Project { inv_h2: INV_H2, share: 1.0 });
    let sweep = gathered_sweep::<4, 2, 1>(&dihedral.dihedral, &hinge_colors(n, &dihedral.dihedral), n);
    bench.sweep("dihedral", sweep, &x, dihedral::Project { inv_h2: INV_H2 });
}

fn hinge_colors<const P: usize>(n: usize, rows: &[Row<4, P>]) -> Vec<u32> {
    greedy_colors(n, &rows.iter().map(|r| r.particles).collect::<Vec<_>>())
}

fn scene(cloth: Cloth) -> Model {
    Model::new(&Scene { cloth: vec![cloth], ..Scene::default() }).expect("the scene is sound")
}

/// The particles at rest, a little stretched and waved, so that every projection has work to do.
fn particles(model: &Model) -> Vec<Particle> {
    let mut x: Vec<Particle> = (model.start.iter().zip(&model.inverse_mass))
        .map(|(p, &w)| Particle { p: [1.01 * p.x, 0.02 * (9.0 * p.x).sin() * (7.0 * p.z).cos(), p.z], w })
        .collect();
    x.resize(x.len() + PADDING, Particle::default());
    x
}

fn blocks(map: &StripMap, model: &Model, grid: &Grid) -> Vec<Block> {
    assert_eq!(grid.columns() * grid.rows(), model.particles());
    let mut blocks = vec![Block::default(); map.blocks()];
    map.load(&mut Team::new(1), SimdLevel::Scalar, &particles(model), &mut blocks);
    blocks
}

struct Bench<'a> {
    mesh: &'a str,
    layout: &'static str,
    entries: &'a mut Vec<Entry>,
}

impl Bench<'_> {
    fn sweep<O, K, const N: usize, const P: usize, const R: usize>(
        &mut self,
        kind: &'static str,
        mut sweep: Sweep<O, N, P, R>,
        start: &[O::Item],
        kernel: K,
    ) where
        O: Layout<N>,
        O::Item: Clone,
        K: Kernel<N, P, R>,
    {
        for threads in [1, 2] {
            let mut team = Team::new(threads);
            for level in SimdLevel::all() {
                let mut state = start.to_vec();
                let runs = PROJECTIONS.div_ceil(sweep.constraints());
                let mut best = f64::INFINITY;
                let (begin, mut repeats) = (Instant::now(), 0);
                while repeats < REPEATS || begin.elapsed().as_secs_f64() < SECONDS {
                    repeats += 1;
                    let clock = Instant::now();
                    for _ in 0..runs {
                        sweep.run(&mut team, level, &mut state, kernel, Keep::NOTHING);
                    }
                    best = best.min(clock.elapsed().as_secs_f64());
                }
                self.entries.push(Entry {
                    mesh: self.mesh.into(),
                    kind,
                    layout: self.layout,
                    constraints: sweep.constraints(),
                    colors: sweep.colors(),
                    simd: level.name(),
                    threads,
                    ns: best * 1e9 / (runs * sweep.constraints()) as f64,
                });
            }
        }
    }
}
