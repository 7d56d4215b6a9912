//! Writes a player page with a made-up motion: a cloth falls, drapes over a turning ball and sways.
//!
//! Nothing is simulated; the motion is a formula. `player_demo [FILE [SIDE [FRAMES]]]`

use std::path::PathBuf;

use taffeta::collide::{Pose, Shape};
use taffeta_io::output::{Clip, Frame, HtmlSink, OutputError, Part, Sink};

const BALL: f32 = 0.32;
const SIZE: f32 = 1.4;

fn main() -> Result<(), OutputError> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().unwrap_or_else(|| "player_demo.html".into()));
    let mut number = |otherwise: usize| {
        let given = arguments.next().and_then(|a| a.parse().ok());
        given.unwrap_or(otherwise)
    };
    let (side, frames) = (number(81).max(2), number(240).max(1));

    let clip = clip(side);
    let mut sink = HtmlSink::create(&path, &clip)?;
    let mut positions = vec![[0.0f32; 3]; side * side];
    for f in 0..frames {
        let time = f as f32 / clip.fps;
        for (v, p) in positions.iter_mut().enumerate() {
            let along = |i: usize| (i as f32 / (side - 1) as f32 - 0.5) * SIZE;
            *p = place(along(v % side), along(v / side), time);
        }
        let mut pose = identity();
        pose.position.y = BALL + 0.25;
        let half = 0.3 * time;
        (pose.rotation.y, pose.rotation.w) = half.sin_cos();
        sink.frame(&Frame {
            index: f as u32,
            time: f64::from(time),
            positions: &positions,
            colliders: &[identity(), pose],
            metrics: &[("fall_m", f64::from(fall(time)))],
        })?;
    }
    for written in Box::new(sink).finish()? {
        println!("{}", written.display());
    }
    Ok(())
}

fn clip(side: usize) -> Clip {
    let n = side as u32;
    let cell = SIZE / (side - 1) as f32;
    let (mut triangles, mut edges) = (Vec::new(), Vec::new());
    for v in 0..n * n {
        let (right, down) = (v % n + 1 < n, v / n + 1 < n);
        if right {
            edges.push(([v, v + 1], cell));
        }
        if down {
            edges.push(([v, v + n], cell));
        }
        if right && down {
            triangles.push([v, v + n, v + 1]);
            triangles.push([v + 1, v + n, v + n + 1]);
            edges.push(([v + 1, v + n], cell * 2.0f32.sqrt()));
        }
    }
    Clip {
        title: "Cloth over a turning ball".into(),
        subtitle: format!("Made-up motion, {side} × {side} vertices, 60 frames per second"),
        fps: 60.0,
        vertices: side * side,
        cloths: vec![Part { name: "cloth".into(), vertices: 0..side * side, triangles: 0..triangles.len() }],
        triangles,
        edges,
        bodies: Vec::new(),
        colliders: vec![Shape::Plane, Shape::Sphere { radius: BALL }],
    }
}

/// How far the cloth has come down.
fn fall(time: f32) -> f32 {
    (0.5 * 9.81 * time * time).min(0.45)
}

/// Where the point (x, z) of the cloth is: flat first, then bent down around the ball with folds.
fn place(x: f32, z: f32, time: f32) -> [f32; 3] {
    let top = BALL * 2.0 + 0.25 + 0.003;
    let height = top + 0.45 - fall(time);
    let draped = ((time - 0.3) / 0.9).clamp(0.0, 1.0);
    let draped = draped * draped * (3.0 - 2.0 * draped);
    let r = x.hypot(z).max(1e-6);
    let angle = z.atan2(x);
    // Along the ball up to the side, then straight down, in folds that deepen and sway.
    let ball = BALL + 0.003;
    let reach = ball * 1.25;
    let bend = r.min(reach) / ball;
    let hang = (r - reach).max(0.0);
    let sway = (time * 2.6).sin() * 0.05 * draped;
    let fold = (hang * 0.42).min(0.16) * (angle * 7.0 + sway * 5.0 + time * 0.4).cos();
    let out = ball * bend.sin() + hang * 0.34 + fold;
    let down = ball * (1.0 - bend.cos()) + hang * 0.90;
    let turn = sway * hang * 4.0;
    let (s, c) = (angle + turn).sin_cos();
    let flutter = 0.02 * (1.0 - draped) * (x * 9.0 + time * 11.0).sin() * (z * 7.0).cos();
    let mix = |a: f32, b: f32| a + (b - a) * draped;
    [mix(x, out * c), (height + flutter - down * draped).max(0.002 + 0.02 * fold.abs()), mix(z, out * s)]
}

fn identity() -> Pose {
    Pose { position: Default::default(), rotation: Default::default() }
}
