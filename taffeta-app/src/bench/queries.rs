//! What finding contacts costs: near boxes by three structures, then pairs, distances, bounds and rows of folded cloth.

use std::time::Instant;

use serde::Serialize;
use taffeta::collide::bound::{Detector, Settings};
use taffeta::collide::query::{Aabb, Structure};
use taffeta::collide::soup::{Part, PatchBoxes, Soup};
use taffeta::lanes::SimdLevel;
use taffeta::mesh::Grid;
use taffeta::par::Team;
use taffeta::wide::Particle;

use super::{Options, table};
use crate::fault::{Fault, mention};

/// One measurement.
#[derive(Serialize)]
struct Entry {
    scene: &'static str,
    what: &'static str,
    structure: &'static str,
    threads: usize,
    /// Boxes, or pairs whose distance was computed.
    items: usize,
    /// Pairs found, or contacts.
    found: usize,
    /// Best of several runs.
    microseconds: f64,
}

/// How often each measurement is repeated; the best counts, because the machine may be shared.
const REPEATS: usize = 40;

/// A cloth, or several, in a shape that has much to find.
struct Scene {
    name: &'static str,
    soup: Soup,
    x: Vec<Particle>,
    /// Distance of neighbouring vertices, m.
    spacing: f32,
}

/// Measures and reports.
pub fn run(options: &Options) -> Result<(), Fault> {
    let mut entries = Vec::new();
    for scene in [flat("flat 64²", 64), folded("folded 64²", 64), folded("folded 128²", 128), stack()] {
        mention(scene.name);
        for threads in [1, 2] {
            let mut team = Team::new(threads);
            boxes(&scene, &mut team, &mut entries);
            detections(&scene, &mut team, &mut entries);
        }
    }
    let header = ["scene", "what", "structure", "threads", "items", "found", "µs", "ns each"];
    let cells = |e: &Entry| {
        [
            e.scene.into(),
            e.what.into(),
            e.structure.into(),
            e.threads.to_string(),
            e.items.to_string(),
            e.found.to_string(),
            format!("{:.1}", e.microseconds),
            format!("{:.1}", 1e3 * e.microseconds / e.items.max(1) as f64),
        ]
    };
    let rows: Vec<_> = entries.iter().map(cells).collect();
    table::report(options, "queries", &header, &rows, &entries, &[])
}

fn best(mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        let clock = Instant::now();
        work();
        best = best.min(clock.elapsed().as_secs_f64() * 1e6);
    }
    best
}

/// Near pairs among the boxes of all triangles, and among those of patches, which is what a detection asks for.
fn boxes(scene: &Scene, team: &mut Team, entries: &mut Vec<Entry>) {
    let corner = |v: u32| scene.x[v as usize].p.into();
    let triangles: Vec<Aabb> = scene.soup.triangles.iter().map(|t| Aabb::around(t.map(corner))).collect();
    let mut patches = PatchBoxes::default();
    patches.refit(team, &scene.soup, &scene.x, 0.0);
    for (what, boxes) in [("triangles", &triangles), ("patches", &patches.patches)] {
        for structure in Structure::ALL {
            let mut query = structure.make();
            let mut pairs = Vec::new();
            let margin = 0.3 * scene.spacing;
            let time = best(|| query.within(team, SimdLevel::best(), boxes, boxes.len(), margin, &mut pairs));
            entries.push(Entry {
                scene: scene.name,
                what,
                structure: query.name(),
                threads: team.count(),
                items: boxes.len(),
                found: pairs.len(),
                microseconds: time,
            });
        }
    }
}

/// A detection that collects pairs, and one that measures those it has.
fn detections(scene: &Scene, team: &mut Team, entries: &mut Vec<Entry>) {
    let (reach, margin) = (0.3 * scene.spacing, 0.2 * scene.spacing);
    let settings = Settings { reach, margin, early: 0.0005, ..Settings::default() };
    let level = SimdLevel::best();
    for structure in Structure::ALL {
        let mut detector = Detector::new(structure, false);
        let mut found = detector.detect(team, level, &scene.soup, &scene.x, &settings);
        let (threads, structure_name) = (team.count(), structure.make().name());
        let mut entry = |what, microseconds, found: usize, items| {
            let structure = structure_name;
            entries.push(Entry { scene: scene.name, what, structure, threads, items, found, microseconds });
        };
        let time = best(|| {
            detector.forget();
            found = detector.detect(team, level, &scene.soup, &scene.x, &settings);
            assert!(found.collected);
        });
        entry("collect", time, detector.rows().len(), found.candidates);
        if structure == Structure::default() {
            detector.detect(team, level, &scene.soup, &scene.x, &settings);
            let time = best(|| {
                found = detector.detect(team, level, &scene.soup, &scene.x, &settings);
                assert!(!found.collected);
            });
            entry("measure", time, detector.rows().len(), found.measured);
            let mut x = scene.x.clone();
            let time = best(|| {
                detector.clamp(team, &scene.x, &mut x, None, |_| None);
            });
            entry("clamp", time, 0, x.len());
        }
    }
}

fn soup(meshes: &[(Vec<[u32; 3]>, Vec<Particle>)]) -> (Soup, Vec<Particle>) {
    let (mut x, mut parts) = (Vec::new(), Vec::new());
    for (triangles, particles) in meshes {
        let first = x.len() as u32;
        parts.push(triangles.iter().map(|t| t.map(|v| v + first)).collect::<Vec<_>>());
        x.extend_from_slice(particles);
    }
    let parts: Vec<Part> = parts.iter().map(|triangles| Part::cloth(triangles, 0.002)).collect();
    (Soup::new(&parts, &x), x)
}

fn sheet(cells: usize, place: impl Fn([f32; 3]) -> [f32; 3]) -> (Vec<[u32; 3]>, Vec<Particle>) {
    let mesh = Grid { cells_x: cells, cells_z: cells, size_x: 1.0, size_z: 1.0 }.mesh();
    let x = mesh.positions.iter().map(|&p| Particle { p: place(p), w: 1.0 }).collect();
    (mesh.triangles, x)
}

/// Nothing to find, and a search has to say so.
fn flat(name: &'static str, cells: usize) -> Scene {
    let (soup, x) = soup(&[sheet(cells, |[x, y, z]| [x, y + 0.02 * (9.0 * x).sin() * (7.0 * z).cos(), z])]);
    Scene { name, soup, x, spacing: 1.0 / cells as f32 }
}

/// A cloth of a metre folded in half, its layers 2 mm apart.
fn folded(name: &'static str, cells: usize) -> Scene {
    let place = |[x, _, z]: [f32; 3]| {
        let side = x.signum() * f32::from(x != 0.0);
        // Half of it is sheared and narrowed, so that vertices do not lie on vertices.
        let (along, across) = if side > 0.0 { (0.96 * x, z + 0.06 * x) } else { (-x, z) };
        [along, 0.01 * (11.0 * along + 5.0 * across).sin() + 0.001 * side, across]
    };
    let (mut soup, x) = soup(&[sheet(cells, place)]);
    // At rest it is flat.
    soup.rest = sheet(cells, |p| p).1;
    Scene { name, soup, x, spacing: 1.0 / cells as f32 }
}

/// Ten cloths on each other, 2 mm apart, each turned a little against the one below.
fn stack() -> Scene {
    let layers: Vec<_> = (0..10)
        .map(|layer| {
            let (sin, cos) = (0.07 * layer as f32).sin_cos();
            sheet(32, |[x, _, z]| {
                let (x, z) = (0.5 * (cos * x - sin * z), 0.5 * (sin * x + cos * z));
                [x, 0.002 * layer as f32 + 0.01 * (11.0 * x + 5.0 * z).sin(), z]
            })
        })
        .collect();
    let (soup, x) = soup(&layers);
    Scene { name: "stack of ten 32²", soup, x, spacing: 0.5 / 32.0 }
}
