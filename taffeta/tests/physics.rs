//! Physical truth: figures that follow from mechanics, not from another run of the engine.

mod common;

use common::{fabric, grid_cloth, irregular_sheet, pin_corner, pin_edge, run};
use glam::Vec3;
use taffeta::scene::{Bending, Cloth, Collider, ColliderShape, Load, Membrane, Pin, Scene, Select, Side};
use taffeta::{Simulation, mesh::TriMesh};

/// A strip of width W under the load F stretches by F L/(K W).
fn strip_error(cloth: Cloth, force: f32, substeps: u32, length: f32, width: f32) -> f64 {
    let stiffness = 50.0;
    let mut cloth = cloth;
    cloth.fabric = fabric(0.2, stiffness, 10.0, 0.0);
    cloth.bending = Bending::None;
    cloth.pin.push(pin_edge(Side::LowX));
    let select = Select { edges: vec![Side::HighX], ..Select::default() };
    cloth.load.push(Load { select, force: [force, 0.0, 0.0] });
    let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
    scene.simulation.gravity = [0.0; 3];
    scene.simulation.damping = 5.0;
    scene.simulation.substeps = substeps;
    scene.simulation.iterations = 500 / substeps;
    let mut sim = Simulation::new(&scene).unwrap();
    run(&mut sim, 150);
    // Measured over the middle half, away from the clamp and the load (Saint-Venant).
    let rest = Simulation::new(&scene).unwrap();
    let (mut top, mut bottom) = ((0.0, 0.0, 0), (0.0, 0.0, 0));
    let near = 0.06 * length;
    for (p0, p) in rest.positions().iter().zip(sim.positions()) {
        let add = |at: f32, sum: &mut (f64, f64, u32)| {
            if (p0[0] - at).abs() < near {
                *sum = (sum.0 + p0[0] as f64, sum.1 + p[0] as f64, sum.2 + 1);
            }
        };
        add(-0.25 * length, &mut bottom);
        add(0.25 * length, &mut top);
    }
    let mean = |s: (f64, f64, u32)| (s.0 / s.2 as f64, s.1 / s.2 as f64);
    let ((t0, t1), (b0, b1)) = (mean(top), mean(bottom));
    let strain = ((t1 - b1) - (t0 - b0)) / (t0 - b0);
    let expected = force as f64 / (stiffness as f64 * width as f64);
    strain / expected - 1.0
}

#[test]
fn strip_stretches_by_fl_over_kw_at_every_resolution() {
    for cells in [16, 32, 64] {
        let cloth = grid_cloth([0.8, 0.2], [cells, cells / 4]);
        let error = strip_error(cloth, 0.1, 50, 0.8, 0.2);
        println!("grid {cells}: {:.2} %", 100.0 * error);
        assert!(error.abs() < 0.02, "{cells} cells: {:.2} % off", 100.0 * error);
    }
    // Coarser than ten cells across, what happens at the edges of an irregular strip is more than 2 %.
    for cells in [40, 80] {
        let cloth = irregular_sheet([0.8, 0.2], [cells, cells / 4], 7);
        let error = strip_error(cloth, 0.1, 50, 0.8, 0.2);
        println!("irregular {cells}: {:.2} %", 100.0 * error);
        assert!(error.abs() < 0.02, "irregular mesh, {cells} cells: {:.2} % off", 100.0 * error);
    }
}

#[test]
fn strip_of_membrane_triangles_stretches_alike() {
    let sheets = [
        ("grid 16", grid_cloth([0.8, 0.2], [16, 4])),
        ("grid 32", grid_cloth([0.8, 0.2], [32, 8])),
        ("irregular 20", irregular_sheet([0.8, 0.2], [20, 5], 7)),
        ("irregular 40", irregular_sheet([0.8, 0.2], [40, 10], 7)),
    ];
    for (name, sheet) in sheets {
        // A fifth of the load: this material stiffens by one and a half times its strain. So little load needs longer
        // substeps, or what it adds to a position in one is near the rounding of single precision.
        let error = strip_error(Cloth { membrane: Membrane::Stvk, ..sheet }, 0.02, 10, 0.8, 0.2);
        println!("{name}: {:.2} %", 100.0 * error);
        assert!(error.abs() < 0.02, "{name}: {:.2} % off", 100.0 * error);
    }
}

/// Tip drop over length of a heavy elastic strip that is clamped level: the planar elastica
/// B θ'' = −ρ g (L − s) cos θ … integrated by shooting on θ'(0).
fn elastica_drop(gamma: f64) -> f64 {
    // θ is the angle below level, s from the clamp: θ'' = −Γ (1 − s) cos θ, θ(0) = 0, θ'(1) = 0.
    let shoot = |slope: f64| {
        let n = 4000;
        let ds = 1.0 / n as f64;
        let (mut theta, mut rate, mut drop) = (0.0f64, slope, 0.0);
        for i in 0..n {
            let s = i as f64 * ds;
            let f = |s: f64, theta: f64| -gamma * (1.0 - s) * theta.cos();
            let (k1, l1) = (rate, f(s, theta));
            let (k2, l2) = (rate + 0.5 * ds * l1, f(s + 0.5 * ds, theta + 0.5 * ds * k1));
            let (k3, l3) = (rate + 0.5 * ds * l2, f(s + 0.5 * ds, theta + 0.5 * ds * k2));
            let (k4, l4) = (rate + ds * l3, f(s + ds, theta + ds * k3));
            let next = theta + ds / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
            drop += ds * 0.5 * (theta.sin() + next.sin());
            theta = next;
            rate += ds / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4);
        }
        (rate, drop)
    };
    let (mut low, mut high) = (0.0, 3.0 * gamma.max(1.0));
    // θ'(1) grows with θ'(0) until the strip folds over; the first root is the hanging shape.
    for _ in 0..200 {
        let mid = 0.5 * (low + high);
        if shoot(mid).0 > 0.0 { high = mid } else { low = mid }
    }
    shoot(0.5 * (low + high)).1
}

#[test]
fn the_elastica_itself_is_right() {
    for (gamma, drop) in [(1.0, 0.1235), (10.0, 0.7002), (100.0, 0.9375)] {
        assert!((elastica_drop(gamma) - drop).abs() < 5e-4, "{gamma}: {}", elastica_drop(gamma));
    }
}

fn cantilever_drop(gamma: f32, bending: Bending) -> f32 {
    let (length, cells, density) = (0.2f32, 24, 0.2);
    // Two columns are clamped. The hinge at the second stands for half a cell on either side, so that is where the
    // free length begins.
    let spacing = length / (cells as f32 + 0.5);
    let bend = density * 9.81 * length.powi(3) / gamma;
    let size = (cells + 1) as f32 * spacing;
    let mut cloth = grid_cloth([size, 2.0 * spacing], [cells + 1, 2]);
    cloth.fabric = fabric(density, 1000.0, 300.0, bend);
    cloth.bending = bending;
    let bounds =
        taffeta::scene::Bounds { min: [-size, -1.0, -1.0], max: [-0.5 * size + 1.5 * spacing, 1.0, 1.0] };
    cloth.pin.push(Pin { select: Select { within: Some(bounds), ..Select::default() }, ..Pin::default() });
    let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
    scene.simulation.damping = 8.0;
    scene.simulation.substeps = 150;
    scene.simulation.iterations = 10;
    let mut sim = Simulation::new(&scene).unwrap();
    run(&mut sim, 150);
    let columns = cells as usize + 2;
    let tip = (0..3).map(|row| sim.positions()[row * columns + columns - 1][1]).sum::<f32>() / 3.0;
    -tip / length
}

#[test]
fn cantilever_takes_the_shape_of_the_elastica() {
    for bending in [Bending::Isometric, Bending::Dihedral, Bending::Triangle] {
        for gamma in [1.0, 10.0, 100.0] {
            let drop = cantilever_drop(gamma, bending) as f64;
            let exact = elastica_drop(gamma as f64);
            println!(
                "{bending:?} Γ {gamma}: {drop:.4} against {exact:.4} ({:+.2} %)",
                100.0 * (drop / exact - 1.0)
            );
            assert!((drop / exact - 1.0).abs() < 0.03, "{bending:?}, Γ {gamma}: {drop} against {exact}");
        }
    }
}

#[test]
fn cantilever_of_an_irregular_mesh_agrees_too() {
    let (length, density, gamma) = (0.2f32, 0.2, 10.0f32);
    // Ten cells across, so that the edges of the strip count for little.
    let mut cloth = irregular_sheet([1.06 * length, 0.08], [26, 10], 11);
    cloth.fabric = fabric(density, 1000.0, 400.0, density * 9.81 * length.powi(3) / gamma);
    let bounds = taffeta::scene::Bounds { min: [-1.0; 3], max: [-0.47 * length, 1.0, 1.0] };
    cloth.pin.push(Pin { select: Select { within: Some(bounds), ..Select::default() }, ..Pin::default() });
    let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
    scene.simulation.damping = 8.0;
    scene.simulation.substeps = 150;
    scene.simulation.iterations = 10;
    let mut sim = Simulation::new(&scene).unwrap();
    let rest = sim.positions().to_vec();
    run(&mut sim, 120);
    let tip: Vec<f32> = (rest.iter().zip(sim.positions()))
        .filter(|(p0, _)| p0[0] > 0.529 * length)
        .map(|(_, p)| p[1])
        .collect();
    let drop = -tip.iter().sum::<f32>() as f64 / tip.len() as f64 / length as f64;
    let exact = elastica_drop(gamma as f64);
    println!("irregular: {drop:.4} against {exact:.4}");
    // Looser than on a grid: hinges of unlike triangles are right on average only, and where the clamp begins is known
    // to half a triangle, 2 % of the length.
    assert!((drop / exact - 1.0).abs() < 0.12, "{drop} against {exact}");
}

/// A cloth on a plane tilted by `degrees`; how far it has slid after `seconds`, m.
fn slide(degrees: f32, friction: f32, frames: u32) -> f32 {
    let mut cloth = grid_cloth([0.3, 0.3], [12, 12]);
    cloth.rotation = [0.0, 0.0, -degrees];
    let margin = 0.005;
    cloth.margin = Some(margin);
    cloth.fabric = fabric(0.2, 2000.0, 500.0, 1e-5);
    let normal = Vec3::new(degrees.to_radians().sin(), degrees.to_radians().cos(), 0.0);
    cloth.position = (normal * margin).into();
    let plane = Collider {
        shape: ColliderShape::Plane,
        rotation: [0.0, 0.0, -degrees],
        friction: Some(friction),
        ..Collider::default()
    };
    let scene = Scene { cloth: vec![cloth], collider: vec![plane], ..Scene::default() };
    let mut sim = Simulation::new(&scene).unwrap();
    let center = |sim: &Simulation| {
        let n = sim.positions().len() as f32;
        sim.positions().iter().map(|&p| Vec3::from(p)).sum::<Vec3>() / n
    };
    let before = center(&sim);
    run(&mut sim, frames);
    (center(&sim) - before).length()
}

#[test]
fn incline_holds_within_the_friction_cone_and_slides_beyond() {
    let mu = 0.5f32;
    for degrees in [10.0f32, 20.0, 26.0] {
        assert!(degrees.to_radians().tan() < mu);
        let moved = slide(degrees, mu, 120);
        assert!(moved < 1e-5, "{degrees}°: crept by {moved} m in 2 s");
    }
    for degrees in [30.0f32, 45.0] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let seconds = 0.5;
        let expected = 0.5 * 9.81 * (sin - mu * cos) * seconds * seconds;
        let moved = slide(degrees, mu, 30);
        println!("{degrees}°: {moved} against {expected}");
        assert!((moved / expected - 1.0).abs() < 0.02, "{degrees}°: slid {moved} m, not {expected} m");
    }
}

/// A chain as a strip one cell wide: a catenary with its ends at the same height.
#[test]
fn a_chain_hangs_in_a_catenary() {
    let (length, span) = (1.0f64, 0.6f64);
    let cells = 40;
    let mut cloth = grid_cloth([length as f32, 0.02], [cells, 1]);
    cloth.fabric = fabric(0.2, 3000.0, 1000.0, 0.0);
    cloth.bending = Bending::None;
    // The ends move towards each other until the span is right.
    for (side, way) in [(Side::LowX, 1.0), (Side::HighX, -1.0)] {
        let offset = way * 0.5 * (length - span) as f32;
        let mut pin = pin_edge(side);
        let points = vec![[0.0, 0.0, 0.0, 0.0], [0.5, offset, 0.0, 0.0]];
        pin.motion.path = Some(taffeta::motion::Path { points, repeat: false });
        cloth.pin.push(pin);
    }
    let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
    scene.simulation.damping = 3.0;
    scene.simulation.substeps = 60;
    scene.simulation.iterations = 4;
    let mut sim = Simulation::new(&scene).unwrap();
    run(&mut sim, 300);
    // 2 a sinh(span/2a) = length; sag = a (cosh(span/2a) − 1).
    let (mut low, mut high) = (0.01, 10.0);
    for _ in 0..100 {
        let a = 0.5 * (low + high);
        if 2.0 * a * (span / (2.0 * a)).sinh() > length { low = a } else { high = a }
    }
    let sag = low * ((span / (2.0 * low)).cosh() - 1.0);
    let middle = -sim.positions()[cells as usize / 2][1] as f64;
    println!("sag {middle} against {sag}");
    assert!((middle / sag - 1.0).abs() < 0.02, "sag {middle} against {sag}");
}

/// A stiff strip hinged at its top edge swings as a rigid rod: T = 2π √(2L/3g) for small swings.
#[test]
fn a_pendulum_keeps_its_period() {
    let length = 0.5f32;
    let tilt = 5.0f32;
    let mut cloth = grid_cloth([length, 0.05], [20, 2]);
    cloth.fabric = taffeta::scene::FabricChoice(taffeta::scene::FabricTable {
        damping: Some(0.0),
        ..fabric(0.2, 20_000.0, 5_000.0, 0.2).0
    });
    cloth.rotation = [0.0, 0.0, -90.0 + tilt];
    cloth.position = [0.5 * length * tilt.to_radians().sin(), -0.5 * length * tilt.to_radians().cos(), 0.0];
    cloth.pin.push(pin_edge(Side::LowX));
    let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
    scene.simulation.substeps = 60;
    scene.simulation.iterations = 2;
    let mut sim = Simulation::new(&scene).unwrap();
    // Times at which the tip passes the lowest point, interpolated.
    let (mut crossings, mut before) = (Vec::new(), sim.positions()[20][0]);
    let dt = 1.0 / 120.0;
    for frame in 1..=480 {
        sim.step(dt);
        let now = sim.positions()[20][0];
        if before > 0.0 && now <= 0.0 || before < 0.0 && now >= 0.0 {
            crossings.push((frame as f32 - now / (now - before)) * dt);
        }
        before = now;
    }
    let half_periods = (crossings.len() - 1) as f32;
    let period = 2.0 * (crossings[crossings.len() - 1] - crossings[0]) / half_periods;
    let angle = tilt.to_radians();
    let expected =
        2.0 * std::f32::consts::PI * (2.0 * length / (3.0 * 9.81)).sqrt() * (1.0 + angle * angle / 16.0);
    println!("period {period} against {expected}");
    assert!((period / expected - 1.0).abs() < 0.01, "period {period} s, not {expected} s");
}

#[test]
fn free_flight_keeps_momentum() {
    for (name, mut cloth) in
        [("grid", grid_cloth([1.0, 1.0], [24, 24])), ("irregular", irregular_sheet([1.0, 1.0], [20, 20], 3))]
    {
        for bending in [Bending::Isometric, Bending::Dihedral] {
            cloth.bending = bending;
            cloth.fabric = taffeta::scene::FabricChoice(taffeta::scene::FabricTable {
                damping: Some(0.0),
                ..fabric(0.2, 1000.0, 100.0, 1e-4).0
            });
            cloth.velocity = [0.3, 0.2, -0.1];
            cloth.kick = vec![taffeta::scene::Kick {
                select: Select { edges: vec![Side::LowX], ..Select::default() },
                velocity: [0.3, 0.8, -0.1],
            }];
            let mut scene = Scene { cloth: vec![cloth.clone()], ..Scene::default() };
            scene.simulation.gravity = [0.0; 3];
            let mut sim = Simulation::new(&scene).unwrap();
            let (p0, l0) = common::momentum(&sim);
            run(&mut sim, 60);
            let (p1, l1) = common::momentum(&sim);
            let (dp, dl) = ((p1 - p0).length() / p0.length(), (l1 - l0).length() / l0.length());
            println!("{name} {bending:?}: {dp:.1e} {dl:.1e}");
            // Linear momentum to the rounding of positions, 3e-8 m in each of 1,200 substeps. Angular momentum to
            // first order in h, as implicit Euler keeps it: h Σ m Δv × v is left in every substep.
            assert!(dp < 1e-3 && dl < 2e-2, "{name}, {bending:?}: linear {dp:.1e}, angular {dl:.1e}");
        }
    }
}

#[test]
fn rest_stays_at_rest_and_pins_are_exact() {
    let mut cloth = grid_cloth([1.0, 1.0], [20, 20]);
    cloth.pin.push(pin_corner());
    let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
    scene.simulation.gravity = [0.0; 3];
    let mut sim = Simulation::new(&scene).unwrap();
    let before = sim.positions().to_vec();
    run(&mut sim, 60);
    let moved = |a: &[f32; 3], b: &[f32; 3]| (Vec3::from(*a) - Vec3::from(*b)).length();
    let most = before.iter().zip(sim.positions()).map(|(a, b)| moved(a, b)).fold(0.0, f32::max);
    assert!(most < 1e-5, "a flat cloth without forces moved by {most} m");
    assert_eq!(before[0], sim.positions()[0]);
}

#[test]
fn positions_come_back_in_the_order_of_the_mesh() {
    // The same sheet with its vertices numbered backwards gives the same shape, but for the order of solving.
    let mut a = irregular_sheet([1.0, 1.0], [12, 12], 5);
    let mesh = a.shape.clone().unwrap();
    let n = mesh.positions.len() as u32;
    let reversed = TriMesh {
        positions: mesh.positions.iter().rev().copied().collect(),
        triangles: mesh.triangles.iter().map(|t| t.map(|v| n - 1 - v)).collect(),
    };
    a.pin.push(Pin { select: Select { vertices: vec![0], ..Select::default() }, ..Pin::default() });
    let mut b = a.clone();
    b.shape = Some(reversed);
    b.pin[0].select.vertices = vec![n - 1];
    let mut end = Vec::new();
    for cloth in [a, b] {
        let mut sim = Simulation::new(&Scene { cloth: vec![cloth], ..Scene::default() }).unwrap();
        run(&mut sim, 30);
        end.push(sim.positions().to_vec());
    }
    end[1].reverse();
    let far = |(a, b): (&[f32; 3], &[f32; 3])| (Vec3::from(*a) - Vec3::from(*b)).length();
    let most = end[0].iter().zip(&end[1]).map(far).fold(0.0, f32::max);
    assert!(most < 0.03, "{most} m apart");
}

/// A message about a mesh names its own vertices, not those of the engine's order.
#[test]
fn a_fold_in_the_rest_shape_is_named_by_the_mesh() {
    let mut cloth = irregular_sheet([1.0, 1.0], [20, 20], 4);
    let mesh = cloth.shape.as_mut().unwrap();
    let first = mesh.positions.len() as u32;
    mesh.positions.push([-0.5, 1.0, -0.5]);
    let topology = taffeta::mesh::Topology::new(first as usize, &mesh.triangles);
    let rim = topology.edges.iter().find(|e| e.triangles[1] == taffeta::mesh::NONE).unwrap().vertices;
    mesh.triangles.push([rim[0], rim[1], first]);
    let message =
        Simulation::new(&Scene { cloth: vec![cloth], ..Scene::default() }).err().unwrap().to_string();
    let names = |a: u32, b: u32| message.contains(&format!("vertices {a} and {b})"));
    assert!(names(rim[0], rim[1]) || names(rim[1], rim[0]), "{message}, but it is {rim:?}");
}
