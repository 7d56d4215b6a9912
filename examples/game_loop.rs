//! Cloth in a game: a fixed time step, a collider the game moves, a corner the player drags.
//! `cargo run --release -p taffeta --example game_loop`
//!
//! The screen's frames are not of one length, but the simulation's are: time is saved up and spent in steps of 1/60 s, so
//! the cloth does the same on every machine. `move_collider` and `grab` say where things shall be at the end of the next
//! step; the engine takes them there smoothly over its substeps.

use std::time::{Duration, Instant};

use taffeta::Simulation;
use taffeta::scene::{Cloth, Collider, Pair, Pin, Scene, Select, Side, Tethers};

const DT: f32 = 1.0 / 60.0;
const CELLS: usize = 24;
/// After a hitch, steps beyond this are dropped rather than made up for.
const MOST_STEPS: u32 = 4;

fn main() -> Result<(), taffeta::BuildError> {
    // A curtain on a rod, level at first; it swings down while the game begins.
    let curtain = Cloth {
        size: Pair([1.2, 1.2]),
        resolution: Pair([CELLS as u32; 2]),
        position: [0.0, 2.0, 0.6],
        tethers: Some(Tethers::default()),
        margin: Some(0.01),
        pin: vec![Pin { select: Select { edges: vec![Side::LowZ], ..Select::default() }, ..Pin::default() }],
        ..Cloth::default()
    };
    let player = Collider { radius: 0.25, position: [0.0, 1.2, -1.2], ..Collider::default() };
    let mut sim =
        Simulation::new(&Scene { cloth: vec![curtain], collider: vec![player], ..Scene::default() })?;
    let corner = sim.positions().len() - 1;

    let (mut saved, mut slowest) = (0.0, Duration::ZERO);
    for screen_frame in 0..400 {
        // In a game this comes from the clock; here a display that wavers between 45 and 144 Hz.
        let elapsed = if screen_frame % 100 < 30 { 1.0 / 45.0 } else { 1.0 / 144.0 };
        saved += elapsed;
        let mut steps = 0;
        while saved >= DT && steps < MOST_STEPS {
            saved -= DT;
            steps += 1;
            let t = sim.state().time as f32 + DT;

            // The player walks through the curtain and back.
            let mut pose = sim.bodies()[0].pose;
            pose.position.z = if t < 1.0 { -1.2 } else { -1.2 * (2.0 * (t - 1.0)).cos() };
            sim.move_collider(0, pose);

            // From 1 s to 2 s a hand lifts the free corner, then lets it go.
            if (1.0..2.0).contains(&t) {
                sim.grab(corner, [0.6, 0.8 + 0.5 * (t - 1.0), 0.3]);
            } else {
                sim.release(corner);
            }

            let before = Instant::now();
            let report = sim.step(DT);
            slowest = slowest.max(before.elapsed());
            if let Some(failure) = report.failure {
                // The simulation stands at its last good state; a game would go on drawing it.
                panic!("{failure}");
            }
            if report.frame.is_multiple_of(30) {
                let [x, y, z] = sim.positions()[corner];
                println!(
                    "{t:>5.2} s   ball at z {:>5.2} m   corner [{x:>5.2}, {y:>5.2}, {z:>5.2}] m   {:>3} vertices touch",
                    pose.position.z, report.contacts
                );
            }
        }
        if steps == MOST_STEPS {
            saved = 0.0;
        }
        // `saved / DT` is how far between two steps the picture is, should one want to blend positions.
    }
    println!("slowest step {:.2} ms of the {:.2} ms there are", slowest.as_secs_f64() * 1e3, DT * 1e3);
    Ok(())
}
