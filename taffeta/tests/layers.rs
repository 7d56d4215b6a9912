//! Layers that press on each other: the pushes between them are forces like any other.

mod common;

use std::sync::Arc;

use common::{fabric, grid_cloth, run};
use taffeta::Simulation;
use taffeta::collide::Surface;
use taffeta::mesh::generate::ball;
use taffeta::scene::{Cloth, Collider, ColliderShape, Corner, Pin, Scene, Select};

/// Radius of the ball, and what is kept between it and the cloth, m.
const RADIUS: f32 = 0.15;
const GAP: f32 = 0.006;
/// How much more the cloth may be stretched over a mesh of a ball than over the ball: the softness of its contacts, and its facets, come to 2 %.
/// Pushes that are made when all else is in balance stretch it by 7 to 10 % more.
const MORE: f64 = 0.04;

/// The elastic energy (J) of a heavy cloth that hangs from its corners over a ball, when it has come to rest.
fn stretched(method: &str, mesh: bool) -> f64 {
    let corners = vec![Corner::LowLow, Corner::LowHigh, Corner::HighLow, Corner::HighHigh];
    let cloth = Cloth {
        fabric: fabric(2.0, 300.0, 100.0, 1e-5),
        margin: Some(GAP),
        position: [0.0, 1.0, 0.0],
        pin: vec![Pin { select: Select { corners, ..Select::default() }, ..Pin::default() }],
        ..grid_cloth([0.5, 0.5], [16, 16])
    };
    let mut over = Collider {
        shape: ColliderShape::Sphere,
        radius: RADIUS,
        position: [0.0, 0.84, 0.0],
        friction: Some(0.0),
        ..Collider::default()
    };
    if mesh {
        over.shape = ColliderShape::Mesh;
        over.surface = Some(Arc::new(Surface::rigid(&ball(RADIUS, 2500))));
        over.mesh = Some("ball".into());
    }
    let mut scene = Scene { cloth: vec![cloth], collider: vec![over], ..Scene::default() };
    scene.simulation.method = method.into();
    scene.simulation.dt = 0.01;
    scene.simulation.substeps = 2;
    scene.simulation.iterations = 20;
    scene.simulation.contact.thickness = Some(GAP);
    let mut sim = Simulation::new(&scene).unwrap();
    run(&mut sim, 150);
    assert_eq!(sim.intersecting_pairs(), 0);
    sim.energies().elastic
}

#[test]
fn cloth_is_stretched_over_a_mesh_as_over_the_body_that_it_stands_for() {
    for method in ["vbd", "newton"] {
        let [mesh, body] = [true, false].map(|mesh| stretched(method, mesh));
        assert!(body > 0.04, "{method}: it presses on the ball");
        let more = mesh / body - 1.0;
        assert!(more.abs() < MORE, "{method}: {mesh:.4} J over a mesh, {body:.4} J over a ball");
    }
}

/// `pd` puts vertices back onto a collider: what that undoes must not be left to the vertices beside, or the cloth has twice the energy.
#[test]
fn projective_dynamics_comes_to_the_same_balance_over_a_ball() {
    let [pd, newton] = ["pd", "newton"].map(|method| stretched(method, false));
    assert!((pd / newton - 1.0).abs() < MORE, "{pd:.4} J by pd, {newton:.4} J by newton");
}
