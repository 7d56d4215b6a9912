//! Cloth that is caught between bodies which leave no room for it: they are late there, and nothing crosses.

mod common;

use std::sync::Arc;

use common::{fabric, grid_cloth};
use taffeta::Simulation;
use taffeta::collide::Surface;
use taffeta::mesh::generate::ball;
use taffeta::motion::{Motion, Path};
use taffeta::scene::{Cloth, Collider, ColliderShape, Scene};

const RADIUS: f32 = 0.1;
/// How far the upper ball goes into the lower one, m.
const OVERLAP: f32 = 0.02;

/// A cloth on a ball of triangles, onto which another comes down in 0.4 s, and goes up again.
fn vise(method: &str) -> Scene {
    let surface = Arc::new(Surface::rigid(&ball(RADIUS, 300)));
    let mesh = |y: f32, motion: Motion| Collider {
        shape: ColliderShape::Mesh,
        surface: Some(surface.clone()),
        mesh: Some("ball".into()),
        position: [0.0, y, 0.0],
        motion,
        ..Collider::default()
    };
    let high = 2.0 * RADIUS + 0.05;
    let down = OVERLAP + 0.05;
    let points = vec![[0.0; 4], [0.4, 0.0, -down, 0.0], [0.5, 0.0, -down, 0.0], [0.8, 0.0, 0.0, 0.0]];
    let motion = Motion { path: Some(Path { points, repeat: false }), ..Motion::default() };
    let cloth = Cloth {
        fabric: fabric(0.15, 2000.0, 600.0, 1e-5),
        position: [0.0, RADIUS + 0.01, 0.0],
        ..grid_cloth([0.3, 0.3], [16, 16])
    };
    let collider = vec![mesh(0.0, Motion::default()), mesh(high, motion)];
    let mut scene = Scene { cloth: vec![cloth], collider, ..Scene::default() };
    scene.simulation.method = method.into();
    scene.simulation.dt = 0.02;
    scene.simulation.substeps = 4;
    scene
}

/// How far the vertices of the balls are from where they should be, at most, m.
fn deepest(sim: &Simulation) -> f32 {
    let dents = sim
        .bodies()
        .iter()
        .flat_map(|body| body.points().iter().map(|p| (p.distance(body.pose.position) - RADIUS).abs()));
    dents.fold(0.0, f32::max)
}

fn a_jam_dents_and_crosses_nothing(method: &str) {
    let scene = vise(method);
    let mut sim = Simulation::new(&scene).unwrap();
    let (mut dented, mut deep) = (0, 0.0f32);
    for frame in 1..=50 {
        let report = sim.step(scene.simulation.dt);
        assert!(report.failure.is_none(), "{:?}", report.failure);
        dented += report.work.dented;
        deep = deep.max(deepest(&sim));
        assert_eq!(
            sim.intersecting_pairs(),
            0,
            "{method}, frame {frame}: {} vertices late",
            report.work.dented
        );
        assert_eq!(sim.penetrating_vertices(), 0, "{method}, frame {frame}");
    }
    assert!(
        dented > 0 && deep > 0.3 * OVERLAP,
        "{method}: {dented} were late, by {deep} m: there was no jam"
    );
    assert!(deepest(&sim) < 1e-5, "{method}: they are round again");
}

#[test]
fn a_jam_dents_by_xpbd() {
    a_jam_dents_and_crosses_nothing("xpbd");
}

#[test]
fn a_jam_dents_by_vbd() {
    a_jam_dents_and_crosses_nothing("vbd");
}

#[test]
fn a_jam_dents_by_newton() {
    a_jam_dents_and_crosses_nothing("newton");
}
