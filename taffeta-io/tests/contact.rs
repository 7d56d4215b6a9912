//! Nothing crosses and nothing is inside anything, in any scene of contact, with any kind of method, however coarse or fine the mesh and however
//! few the iterations; and contact is not felt where nothing touches.
//!
//! The scenes are smaller and shorter than they are written; `taffeta bench contact` runs them in full. That the counter of crossings itself is right is shown
//! beside it, against one that tries all pairs (metrics/crossings/tests.rs in the engine).

use taffeta::Simulation;
use taffeta::lanes::SimdLevel;
use taffeta::metrics::{state_hash, strain};
use taffeta::params::ContactMode;
use taffeta::scene::{Pair, Scene};
use taffeta_io::scene_file::load;

/// A scene, made small.
struct Case {
    name: &'static str,
    /// Quads a side of cloths that are grids.
    quads: u32,
    /// Vertices of cloths that are generated.
    vertices: u32,
    sets: &'static [&'static str],
    frames: u32,
}

const GRID: Case = Case { name: "", quads: 16, vertices: 0, sets: &[], frames: 60 };

/// What starts late starts sooner here.
const CASES: [Case; 12] = [
    Case { name: "self-collision", frames: 70, ..GRID },
    Case { name: "multiple-objects", quads: 12, ..GRID },
    Case { name: "ball-and-wind", sets: &["wind.from=0.5"], frames: 70, ..GRID },
    Case { name: "statue", sets: &["collider.0.generate.vertices=1500"], ..GRID },
    Case { name: "mannequin", vertices: 1202, frames: 30, ..GRID },
    Case { name: "sphere-drape", sets: &["collider.0.generate.vertices=400"], frames: 80, ..GRID },
    Case { name: "drop", ..GRID },
    Case { name: "tower", quads: 8, ..GRID },
    Case { name: "twist", vertices: 500, sets: &["simulation.dt=0.04"], frames: 160, ..GRID },
    Case {
        name: "funnel",
        sets: &[
            "collider.0.generate.vertices=500",
            "collider.1.motion.path.points=[[0.3,0,0,0],[1.5,0,-1.15,0]]",
        ],
        frames: 100,
        ..GRID
    },
    Case { name: "plate", quads: 8, frames: 30, ..GRID },
    Case { name: "body", vertices: 500, sets: &["collider.0.generate.vertices=1200"], frames: 40, ..GRID },
];

const METHODS: [&str; 4] = ["xpbd", "vbd", "pbd-gs", "newton"];

impl Case {
    /// The scene by one method, with meshes `scale` times as fine.
    fn scene(&self, method: &str, scale: f32) -> Scene {
        let sets: Vec<String> = self.sets.iter().map(|s| s.to_string()).collect();
        let mut scene = load(self.name, &sets).unwrap().scene;
        for cloth in &mut scene.cloth {
            match &mut cloth.generate {
                Some(generate) => generate.vertices = Some((self.vertices as f32 * scale * scale) as u32),
                None => cloth.resolution = Pair([(self.quads as f32 * scale) as u32; 2]),
            }
        }
        scene.simulation.method = method.into();
        // It solves a system in each; that takes long, and is as hard with fewer.
        if method == "newton" {
            scene.simulation.substeps = scene.simulation.substeps.div_ceil(4);
        }
        scene
    }
}

/// Runs a scene; says what crosses or is inside of what, at every tenth frame and at the end, and the hash of where everything ended.
fn run(scene: &Scene, threads: usize, frames: u32) -> (Vec<String>, u64) {
    let mut problems = Vec::new();
    let mut sim = match Simulation::new(scene) {
        Ok(sim) => sim,
        Err(error) => return (vec![error.to_string()], 0),
    };
    sim.set_threads(threads);
    let mut dented = 0;
    for frame in 1..=frames {
        let report = sim.step(scene.simulation.dt);
        dented += report.work.dented;
        if let Some(failure) = report.failure {
            problems.push(failure.to_string());
            break;
        }
        if frame % 10 == 0 || frame == frames {
            let (crossings, inside) = (sim.intersecting_pairs(), sim.penetrating_vertices());
            if crossings + inside > 0 {
                problems.push(format!("frame {frame}: {crossings} crossings, {inside} vertices inside"));
                break;
            }
        }
    }
    if dented > 0 {
        problems.push(format!("{dented} times a vertex of a collider was late"));
    }
    (problems, state_hash(sim.positions()))
}

/// Runs cases and gathers all that is wrong with any.
fn check(cases: impl Iterator<Item = (String, Scene, u32, &'static [usize])>) {
    let mut problems = Vec::new();
    for (label, scene, frames, threads) in cases {
        let started = std::time::Instant::now();
        let mut hashes = Vec::new();
        for &threads in threads {
            let (found, hash) = run(&scene, threads, frames);
            problems.extend(found.iter().map(|problem| format!("{label}, {threads} threads: {problem}")));
            hashes.push(hash);
        }
        if hashes.iter().any(|&hash| hash != hashes[0]) {
            problems.push(format!("{label}: other bits on other threads"));
        }
        println!("{label}: {:.2} s", started.elapsed().as_secs_f64());
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

fn nothing_crosses_by(method: &'static str) {
    check(CASES.iter().map(|case| {
        // Where a method takes a hundred times as long as the others, it has fewer frames and a coarser mesh.
        let (scale, frames) = match (method, case.name) {
            ("newton", "mannequin" | "twist") => (0.6, 8),
            ("newton", _) => (0.6, case.frames.min(30)),
            ("vbd", "twist") => (1.0, case.frames / 2),
            _ => (1.0, case.frames),
        };
        (format!("{} by {method}", case.name), case.scene(method, scale), frames, &[1usize, 2][..])
    }));
}

#[test]
fn nothing_crosses_by_xpbd() {
    nothing_crosses_by(METHODS[0]);
}

#[test]
fn nothing_crosses_by_vbd() {
    nothing_crosses_by(METHODS[1]);
}

/// Its skirt crumples between the arms and the hips of the figure, and has to give way to them: where it insisted on going where it wanted to, the figure went through it by frame 64.
#[test]
fn a_body_is_not_dented_by_cloth_by_vbd() {
    let mut scene = load("body", &[]).unwrap().scene;
    scene.simulation.method = "vbd".into();
    check(std::iter::once(("the whole body by vbd".to_string(), scene, 66, &[2usize][..])));
}

#[test]
fn nothing_crosses_by_pbd() {
    nothing_crosses_by(METHODS[2]);
}

#[test]
fn nothing_crosses_by_newton() {
    nothing_crosses_by(METHODS[3]);
}

/// The bound does not ask how good the solution is.
#[test]
fn nothing_crosses_with_few_iterations_or_other_meshes() {
    let few = CASES.iter().flat_map(|case| METHODS[..3].iter().map(move |method| (case, *method))).map(
        |(case, method)| {
            let mut scene = case.scene(method, 1.0);
            scene.simulation.iterations = (scene.simulation.iterations / 4).max(1);
            scene.simulation.substeps = (scene.simulation.substeps / 4).max(1);
            (format!("{} by {method}, a quarter of the work", case.name), scene, case.frames, &[1usize][..])
        },
    );
    check(few);
    let meshes = CASES.iter().flat_map(|case| [0.5, 2.0].map(|scale| (case, scale))).map(|(case, scale)| {
        let label = format!("{}, {scale} times as fine", case.name);
        (label, case.scene("xpbd", scale), case.frames * 2 / 3, &[1usize][..])
    });
    check(meshes);
}

#[test]
fn contact_gives_the_same_bits_on_any_threads_and_instructions() {
    for name in ["tower", "funnel"] {
        let case = CASES.iter().find(|case| case.name == name).unwrap();
        for mode in [ContactMode::IntersectionFree, ContactMode::Predictive] {
            let mut scene = case.scene("xpbd", 1.0);
            scene.simulation.contact.mode = Some(mode);
            let hash = |threads, level| {
                let mut sim = Simulation::new(&scene).unwrap();
                sim.set_threads(threads);
                sim.set_simd(level);
                let rows: usize = (0..12).map(|_| sim.step(scene.simulation.dt).work.rows).sum();
                assert!(rows > 0 || name == "funnel" || name == "tower", "{name}: nothing touched");
                state_hash(sim.positions())
            };
            let expected = hash(1, SimdLevel::Scalar);
            for threads in [1, 3] {
                for level in SimdLevel::all() {
                    assert_eq!(
                        hash(threads, level),
                        expected,
                        "{name}, {mode:?}, {threads} threads, {}",
                        level.name()
                    );
                }
            }
        }
    }
}

/// Where layers do not touch, contact between them changes no bit.
#[test]
fn contact_changes_nothing_where_nothing_touches() {
    let mut tried = 0;
    for (name, frames) in [
        ("hang", 40),
        ("attach", 30),
        // After that the corner by which it is led touches itself.
        ("swirl", 10),
        ("flag", 20),
        ("curtain", 20),
        ("pendulum", 40),
        ("strip", 20),
        ("cantilever", 20),
        ("incline", 30),
        ("sdf-collision", 20),
        ("pendulum-wind", 20),
    ] {
        let mut scene = load(name, &[]).unwrap().scene;
        for cloth in &mut scene.cloth {
            cloth.resolution = Pair(cloth.resolution.0.map(|n| n.div_ceil(2)));
        }
        for method in METHODS {
            scene.simulation.method = method.into();
            let mut sims = [ContactMode::None, ContactMode::IntersectionFree].map(|mode| {
                scene.simulation.contact.mode = Some(mode);
                let mut sim = Simulation::new(&scene).unwrap();
                sim.set_threads(1);
                sim
            });
            let frames = if method == "newton" { 3 } else { frames };
            let mut alone = 0;
            for frame in 1..=frames {
                let [without, with] = sims.each_mut().map(|sim| sim.step(scene.simulation.dt));
                assert!(without.failure.is_none() && with.failure.is_none());
                if with.work.rows > 0 {
                    break;
                }
                let [without, with] = sims.each_ref().map(|sim| state_hash(sim.positions()));
                assert_eq!(without, with, "{name} by {method}, frame {frame}");
                alone = frame;
            }
            tried += alone;
        }
    }
    // Where cloth moves fast, contacts are expected early.
    assert!(tried > 300, "{tried} frames");
}

/// The largest strain in the first frames of a scene by `vbd`, and in how many substeps vertices found no place.
fn worst_strain(scene: &str, frames: u32) -> (f64, u32) {
    let mut scene = load(scene, &[]).unwrap().scene;
    scene.simulation.method = "vbd".into();
    let mut sim = Simulation::new(&scene).unwrap();
    let (mut most, mut lost) = (0.0f64, 0);
    for _ in 0..frames {
        let report = sim.step(scene.simulation.dt);
        assert!(report.failure.is_none(), "{:?}", report.failure);
        most = most.max(strain(sim.model(), &sim.state().x).max);
        lost += report.work.lost;
    }
    (most, lost)
}

/// A vertex that is held back from crossing something must not tear the cloth: what moves fast and is caught goes on until its edges are whole. Full size: a coarser cloth is not caught.
#[test]
fn cloth_that_is_caught_is_not_torn() {
    let (most, lost) = worst_strain("friction", 60);
    assert!(lost > 0, "it was put to the test");
    assert!(most < 1.0, "an edge is {most:.2} longer than it should be");
}

/// Friction holds as hard as a collider pushes, and no harder: with a push that has unbalanced forces in it, `vbd` would nail the cloth to the collider and stretch it.
#[test]
fn friction_by_vbd_does_not_nail_the_cloth_to_a_collider() {
    let (most, _) = worst_strain("sdf-collision", 100);
    assert!(most < 0.35, "an edge is {most:.2} longer than it should be");
}
