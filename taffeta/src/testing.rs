//! The conformance suite: what every method must show, whatever it does inside.
//!
//! A check takes a method by name, builds small scenes and says what it measured, or what is wrong. Which checks a method must
//! pass follows from what it promises.

use glam::{DVec3, Vec3};

use crate::motion::{Circle, Motion};
use crate::scene::{
    Bending, Cloth, Corner, FabricChoice, FabricTable, Kick, Load, Membrane, Pair, Pin, Scene, Select, Side,
};
use crate::step::Simulation;

/// What a method claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promises {
    /// With iterations enough, cloth has the stiffness of its fabric.
    pub true_stiffness: bool,
    /// With iterations enough, a substep is one of implicit Euler, as `newton` solves it.
    pub implicit_euler: bool,
    /// Internal forces change no momentum, beyond rounding.
    pub momentum: bool,
}

/// What the method of this name claims.
///
/// # Panics
/// If it has not been written down here.
pub fn promises(method: &str) -> Promises {
    let (true_stiffness, implicit_euler, momentum) = match method {
        "xpbd" | "xpbd-jacobi" | "xpbd-chebyshev" => (true, true, true),
        // The sum of forces vanishes only as far as the minimum is reached: to the tolerance, or by iteration.
        "newton" => (true, true, true),
        "implicit" | "implicit-chebyshev" | "vbd" | "pd" => (true, true, false),
        "explicit" => (true, false, true),
        // Its springs stiffen as they stretch, and the strain limit takes over beyond.
        "verlet" => (false, false, true),
        "pbd-gs" | "pbd-jacobi" | "pbd-sor" => (false, false, true),
        // Coarse vertices have the mass of what they move.
        "hpbd" | "shpbd" | "ghpbd" => (false, false, true),
        _ => panic!("write down what '{method}' promises"),
    };
    Promises { true_stiffness, implicit_euler, momentum }
}

/// A check of the suite.
pub struct Check {
    /// What is checked.
    pub name: &'static str,
    /// Whether a method with these promises must pass.
    pub applies: fn(Promises) -> bool,
    /// Says what was measured, or what is wrong.
    pub run: fn(&str) -> Result<String, String>,
}

/// Every check.
pub const CHECKS: &[Check] = &[
    Check { name: "rest stays at rest", applies: |_| true, run: rest },
    Check { name: "pins are exact", applies: |_| true, run: pins },
    Check { name: "momentum", applies: |p| p.momentum, run: momentum },
    Check { name: "strip", applies: |p| p.true_stiffness, run: strip },
    Check { name: "every kind", applies: |_| true, run: every_kind },
    Check { name: "converges to newton", applies: |p| p.implicit_euler, run: convergence },
];

/// A cloth of a plain fabric without damping.
fn cloth(size: [f32; 2], cells: [u32; 2], stretch: f32) -> Cloth {
    let table = FabricTable {
        density: Some(0.2),
        stretch: Some(Pair([stretch; 2])),
        shear: Some(0.2 * stretch),
        bend: Some(Pair([1e-5; 2])),
        damping: Some(0.0),
        ..FabricTable::default()
    };
    Cloth { size: Pair(size), resolution: Pair(cells), fabric: FabricChoice(table), ..Cloth::default() }
}

fn scene(method: &str, cloth: Cloth, substeps: u32, iterations: u32) -> Scene {
    let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
    scene.simulation.method = method.into();
    scene.simulation.substeps = substeps;
    scene.simulation.iterations = iterations;
    scene
}

/// Builds and runs a scene for some frames, on one thread.
fn run(scene: &Scene, frames: u32) -> Result<Simulation, String> {
    let mut sim = Simulation::new(scene).map_err(|e| e.to_string())?;
    sim.set_threads(1);
    for _ in 0..frames {
        if let Some(failure) = sim.step(scene.simulation.dt).failure {
            return Err(failure.to_string());
        }
    }
    Ok(sim)
}

fn farthest(a: &[[f32; 3]], b: &[[f32; 3]]) -> f32 {
    a.iter().zip(b).map(|(a, b)| Vec3::from(*a).distance(Vec3::from(*b))).fold(0.0, f32::max)
}

/// A flat cloth with no force does not move.
fn rest(method: &str) -> Result<String, String> {
    let mut scene = scene(method, cloth([1.0, 1.0], [16, 16], 500.0), 5, 4);
    scene.simulation.gravity = [0.0; 3];
    let start = Simulation::new(&scene).map_err(|e| e.to_string())?.positions().to_vec();
    let moved = farthest(&start, run(&scene, 30)?.positions());
    // A few roundings of single precision at a metre.
    if moved < 1e-6 { Ok(format!("{moved:.0e} m")) } else { Err(format!("moved by {moved:.1e} m")) }
}

/// Held vertices are exactly where they are held, still or moving.
fn pins(method: &str) -> Result<String, String> {
    let mut cloth = cloth([1.0, 1.0], [16, 16], 500.0);
    let circle = Circle { center: [0.2, 0.0, 0.0], axis: [0.0, 1.0, 0.0], speed: 1.5, until: None };
    let motion = Motion { circle: Some(circle), ..Motion::default() };
    let corner = |c| Select { corners: vec![c], ..Select::default() };
    cloth.pin = vec![
        Pin { select: corner(Corner::LowLow), ..Pin::default() },
        Pin { select: corner(Corner::HighLow), motion: motion.clone(), ..Pin::default() },
    ];
    let scene = scene(method, cloth, 5, 4);
    let start = Simulation::new(&scene).map_err(|e| e.to_string())?.positions().to_vec();
    let sim = run(&scene, 20)?;
    let wanted: [f32; 3] = motion.point(start[16].into(), sim.state().time).into();
    if sim.positions()[0] != start[0] || sim.positions()[16] != wanted {
        return Err(format!(
            "{:?} for {:?}, {:?} for {wanted:?}",
            sim.positions()[0],
            start[0],
            sim.positions()[16]
        ));
    }
    Ok("to the bit".into())
}

/// Linear momentum of a cloth that flies and flaps freely.
fn momentum(method: &str) -> Result<String, String> {
    let mut cloth = cloth([1.0, 1.0], [16, 16], 200.0);
    cloth.velocity = [0.3, 0.2, -0.1];
    let select = Select { edges: vec![Side::LowX], ..Select::default() };
    cloth.kick = vec![Kick { select, velocity: [0.3, 0.8, -0.1] }];
    let mut scene = scene(method, cloth, 4, 10);
    scene.simulation.gravity = [0.0; 3];
    let total = |sim: &Simulation| -> DVec3 {
        let (v, w) = (&sim.state().v, &sim.model().inverse_mass);
        w.iter().zip(v).map(|(w, v)| DVec3::new(v[0] as f64, v[1] as f64, v[2] as f64) / *w as f64).sum()
    };
    let before = total(&Simulation::new(&scene).map_err(|e| e.to_string())?);
    let after = total(&run(&scene, 30)?);
    let drift = (after - before).length() / before.length();
    // The rounding of positions, 3e-8 m, in each of at least 120 substeps.
    if drift < 1e-3 { Ok(format!("{drift:.0e}")) } else { Err(format!("changed by {drift:.1e} of itself")) }
}

/// A strip of width W under the load F stretches by F L/(K W).
fn strip(method: &str) -> Result<String, String> {
    let (stiffness, force, width) = (50.0, 0.1, 0.2);
    let mut cloth = cloth([0.8, width], [16, 4], stiffness);
    cloth.bending = Bending::None;
    let side = |side| Select { edges: vec![side], ..Select::default() };
    cloth.pin.push(Pin { select: side(Side::LowX), ..Pin::default() });
    cloth.load.push(Load { select: side(Side::HighX), force: [force, 0.0, 0.0] });
    let mut scene = scene(method, cloth, 5, 60);
    scene.simulation.gravity = [0.0; 3];
    scene.simulation.damping = 5.0;
    let start = Simulation::new(&scene).map_err(|e| e.to_string())?.positions().to_vec();
    let sim = run(&scene, 150)?;
    // Over the middle half, away from the clamp and the load (Saint-Venant).
    let at =
        |p: &[[f32; 3]], column: usize| (0..5).map(|row| p[row * 17 + column][0] as f64).sum::<f64>() / 5.0;
    let length = |p: &[[f32; 3]]| at(p, 12) - at(p, 4);
    let strain = length(sim.positions()) / length(&start) - 1.0;
    let error = strain / (force / (stiffness * width)) as f64 - 1.0;
    let text = format!("{:+.2} %", 100.0 * error);
    if error.abs() < 0.02 { Ok(text) } else { Err(format!("{text} off F L/(K W)")) }
}

/// Hanging cloths of every kind of membrane and bending stay whole; those a method cannot do are refused in words.
fn every_kind(method: &str) -> Result<String, String> {
    let mut refused = Vec::new();
    for membrane in [Membrane::Springs, Membrane::Stvk] {
        for bending in [Bending::Isometric, Bending::Dihedral, Bending::Triangle, Bending::None] {
            for mesh in [false, true] {
                if mesh && bending == Bending::Triangle {
                    continue;
                }
                let mut cloth = cloth([1.0, 1.0], [16, 16], 500.0);
                (cloth.membrane, cloth.bending) = (membrane, bending);
                cloth.tethers = Some(crate::scene::Tethers::default());
                if mesh {
                    cloth.shape = Some(crate::mesh::irregular_sheet([1.0, 1.0], [12, 12], 5));
                }
                let corners = vec![Corner::LowLow, Corner::HighLow];
                cloth.pin.push(Pin { select: Select { corners, ..Select::default() }, ..Pin::default() });
                let scene = scene(method, cloth, 5, 5);
                match Simulation::new(&scene) {
                    Err(error) if error.to_string().contains(method) => {
                        refused.push(format!("{membrane:?}/{bending:?}{}", if mesh { " mesh" } else { "" }));
                        continue;
                    }
                    Err(error) => return Err(error.to_string()),
                    Ok(_) => {}
                }
                let sim = run(&scene, 25).map_err(|e| format!("{membrane:?}, {bending:?}: {e}"))?;
                let strain = sim.strain().max;
                if strain > 0.6 {
                    return Err(format!(
                        "{membrane:?}, {bending:?}, mesh {mesh}: {:.0} % strain",
                        100.0 * strain
                    ));
                }
            }
        }
    }
    Ok(if refused.is_empty() { "all".into() } else { format!("all but {}", refused.join(", ")) })
}

/// As iterations grow the result comes to `newton`'s: the distance falls, and ends below 1 % of the cloth's size.
fn convergence(method: &str) -> Result<String, String> {
    let hanging = |method: &str, iterations: u32| {
        let mut cloth = cloth([1.0, 1.0], [16, 16], 100.0);
        let corners = vec![Corner::LowLow, Corner::HighLow];
        cloth.pin.push(Pin { select: Select { corners, ..Select::default() }, ..Pin::default() });
        Ok::<_, String>(run(&scene(method, cloth, 4, iterations), 20)?.positions().to_vec())
    };
    let reference = hanging("newton", 1)?;
    if method == "newton" {
        return Ok("itself".into());
    }
    let mut distances: Vec<f32> = Vec::new();
    for iterations in [3, 10, 30, 100, 300] {
        distances.push(farthest(&hanging(method, iterations)?, &reference));
    }
    let text = distances.iter().map(|d| format!("{d:.0e}")).collect::<Vec<_>>().join(" ");
    // Near the rounding of single precision it may rise again.
    let falls = distances.windows(2).all(|d| d[1] <= d[0] || d[1] < 1e-3);
    let end = *distances.last().expect("not empty");
    if falls && end < 0.01 { Ok(format!("{text} m")) } else { Err(format!("distances {text} m")) }
}
