//! A mesh of one's own: a round tablecloth over a ball.
//! `cargo run --release -p taffeta-io --example own_mesh [-- FILE.obj]`
//!
//! Shows how any triangle mesh becomes a cloth (`Cloth::shape`), how to check it first, and how the draped shape is
//! written with `taffeta-io`. Vertices keep the numbers they have here, whatever order the engine uses inside.

use std::f32::consts::TAU;
use std::path::PathBuf;

use taffeta::Simulation;
use taffeta::mesh::{self, TriMesh};
use taffeta::scene::{Cloth, Collider, ColliderShape, FabricChoice, FabricTable, Scene};
use taffeta_io::output::{self, Clip, Frame};

const RADIUS: f32 = 0.8;
const RINGS: u32 = 24;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let disc = disc(RADIUS, RINGS);
    for problem in mesh::check(&disc) {
        println!("{}", problem.message);
    }
    let cloth = Cloth {
        name: "tablecloth".into(),
        shape: Some(disc),
        position: [0.0, 1.05, 0.0],
        margin: Some(0.006),
        fabric: FabricChoice(FabricTable { preset: Some("cotton".into()), ..FabricTable::default() }),
        ..Cloth::default()
    };
    let ball =
        Collider { radius: 0.4, position: [0.0, 0.6, 0.0], friction: Some(0.5), ..Collider::default() };
    let ground = Collider { shape: ColliderShape::Plane, ..Collider::default() };
    let mut scene = Scene { cloth: vec![cloth], collider: vec![ball, ground], ..Scene::default() };
    scene.simulation.damping = 1.0;

    let mut sim = Simulation::new(&scene)?;
    let (vertices, triangles) = (sim.positions().len(), sim.triangles().len());
    println!("{vertices} vertices, {triangles} triangles, {} constraints", sim.model().constraints());
    for _ in 0..150 {
        if let Some(failure) = sim.step(scene.simulation.dt).failure {
            return Err(failure.to_string().into());
        }
    }

    // The hem was a circle; where it comes down in folds its height varies with the angle.
    let hem = &sim.positions()[vertices - 6 * RINGS as usize..];
    let (low, high) = hem.iter().fold((f32::MAX, f32::MIN), |(low, high), p| (low.min(p[1]), high.max(p[1])));
    let out = hem.iter().map(|p| p[0].hypot(p[2])).sum::<f32>() / hem.len() as f32;
    println!(
        "the hem hangs between {low:.2} and {high:.2} m, on average {out:.2} m from the axis (flat: {RADIUS})"
    );
    println!(
        "strain max {:.2} %, {} vertices inside a collider",
        100.0 * sim.strain().max,
        sim.penetrating_vertices()
    );

    let path = match std::env::args_os().nth(1) {
        Some(path) => PathBuf::from(path),
        None => std::env::temp_dir().join("taffeta-tablecloth.obj"),
    };
    let clip =
        Clip { title: "Tablecloth".into(), vertices, triangles: sim.triangles().to_vec(), ..Clip::default() };
    let mut sink = output::open(&path, &clip)?;
    let last = Frame {
        index: sim.state().frame,
        time: sim.state().time,
        positions: sim.positions(),
        colliders: &[],
        metrics: &[],
    };
    sink.frame(&last)?;
    for file in sink.finish()? {
        println!("written {}", file.display());
    }
    Ok(())
}

/// A level disc about the origin: ring r has 6 r vertices, so that all triangles are of nearly one size.
fn disc(radius: f32, rings: u32) -> TriMesh {
    let mut mesh = TriMesh { positions: vec![[0.0; 3]], triangles: Vec::new() };
    let first = |ring: u32| if ring == 0 { 0 } else { 1 + 3 * ring * (ring - 1) };
    for ring in 1..=rings {
        let (count, r) = (6 * ring, radius * ring as f32 / rings as f32);
        for k in 0..count {
            let angle = TAU * k as f32 / count as f32;
            mesh.positions.push([r * angle.cos(), 0.0, r * angle.sin()]);
        }
        // Six sectors; in each the outer ring has one vertex more than the inner.
        for sector in 0..6 {
            let inner = |k: u32| first(ring - 1) + (sector * (ring - 1) + k) % (6 * (ring - 1)).max(1);
            let outer = |k: u32| first(ring) + (sector * ring + k) % count;
            for k in 0..ring {
                mesh.triangles.push([inner(k), outer(k + 1), outer(k)]);
                if k + 1 < ring {
                    mesh.triangles.push([inner(k), inner(k + 1), outer(k + 1)]);
                }
            }
        }
    }
    mesh
}
