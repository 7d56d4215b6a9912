//! Forces of the air on cloth.
//!
//! [`wind`] says how fast the air is, [`aero`] what that does to one triangle; here triangles are gone through, and their
//! pushes gathered at the vertices. Each triangle's push goes into a place of its own, and each vertex adds up those
//! of its triangles in a fixed order, so the sum does not depend on how many threads there are.

pub mod aero;
pub mod noise;
pub mod wind;

use glam::Vec3;

use crate::error::BuildError;
use crate::lanes::SimdLevel;
use crate::model::Model;
use crate::par::Team;
use crate::scene::Scene;
use crate::state::State;
use crate::wide::Triangles;
use aero::Push;
use wind::{Flow, Wind};

/// Triangles or particles handed to a thread at a time.
const GRAIN: usize = 64;

/// The air of a scene.
#[derive(Clone, Debug)]
pub struct Air {
    flow: Flow,
    /// ½ ρ C_d and ½ ρ C_l, kg/m³.
    drag: f32,
    lift: f32,
    /// Mass of each triangle, kg.
    mass: Vec<f32>,
    /// The impulse that each triangle gives to each of its vertices, N·s. Before, the velocity of the air there, m/s.
    impulse: Vec<[f32; 4]>,
    /// Triangles of particle i: `around[first[i]..first[i + 1]]`, ascending.
    first: Vec<u32>,
    around: Vec<u32>,
}

impl Air {
    /// The air of a scene, if it has any.
    pub fn new(scene: &Scene, model: &Model) -> Result<Option<Self>, BuildError> {
        let Some(wind) = &scene.wind else { return Ok(None) };
        wind.check()?;
        let mut mass = Vec::with_capacity(model.triangles.len());
        for cloth in &model.cloths {
            // Densities are those of the rest shape, which is how every cloth starts.
            let area = |tri: &[u32; 3]| {
                let [a, b, c] = tri.map(|v| model.start[v as usize]);
                0.5 * (b - a).cross(c - a).length()
            };
            let triangles = &model.triangles[cloth.triangles.clone()];
            let weights = model.inverse_mass[cloth.vertices.clone()].iter().filter(|w| **w > 0.0);
            let total: f64 = weights.map(|&w| 1.0 / w as f64).sum();
            let density = total / triangles.iter().map(|t| area(t) as f64).sum::<f64>();
            mass.extend(triangles.iter().map(|t| (density * area(t) as f64) as f32));
        }
        let (first, around) = triangles_around(model);
        let Wind { drag, lift, density, .. } = *wind;
        Ok(Some(Air {
            flow: Flow::new(wind),
            drag: 0.5 * density * drag,
            lift: 0.5 * density * lift,
            impulse: vec![[0.0; 4]; mass.len()],
            mass,
            first,
            around,
        }))
    }

    /// Changes the velocities of `state` by what the air does to its cloths in `h` seconds.
    pub fn push(&mut self, team: &mut Team, level: SimdLevel, model: &Model, state: &mut State, h: f32) {
        let Air { flow, drag, lift, mass, impulse, first, around } = self;
        let State { x, v, time, .. } = state;
        let x = &x[..];
        let moment = flow.at(*time);
        let push = Push { drag: h * *drag, lift: h * *lift };
        let velocities = &v[..];
        team.for_each_chunk(impulse, GRAIN, |start, impulse| {
            let range = start..start + impulse.len();
            let particles = &model.triangles[range.clone()];
            impulse.fill([moment.mean.x, moment.mean.y, moment.mean.z, 0.0]);
            if let Some(eddies) = &moment.eddies {
                for (tri, air) in particles.iter().zip(impulse.iter_mut()) {
                    let [a, b, c] = tri.map(|i| Vec3::from(x[i as usize].p));
                    let eddy = eddies.at((a + b + c) * (1.0 / 3.0));
                    *air = [air[0] + eddy.x, air[1] + eddy.y, air[2] + eddy.z, 0.0];
                }
            }
            Triangles { particles, figures: &mass[range], x, v: velocities }.run(level, push, impulse);
        });
        let impulse = &*impulse;
        team.for_each_chunk(&mut v[..model.particles()], GRAIN, |start, v| {
            for (i, v) in v.iter_mut().enumerate().map(|(i, v)| (start + i, v)) {
                let mut sum = [0.0f32; 4];
                for &t in &around[first[i] as usize..first[i + 1] as usize] {
                    for c in 0..4 {
                        sum[c] += impulse[t as usize][c];
                    }
                }
                // Held particles have w = 0 and do not feel it.
                for c in 0..4 {
                    v[c] += x[i].w * sum[c];
                }
            }
        });
    }
}

/// The triangles of each particle, as a list of lists.
fn triangles_around(model: &Model) -> (Vec<u32>, Vec<u32>) {
    let mut first = vec![0u32; model.particles() + 1];
    for &v in model.triangles.iter().flatten() {
        first[v as usize + 1] += 1;
    }
    for i in 0..model.particles() {
        first[i + 1] += first[i];
    }
    let mut next = first.clone();
    let mut around = vec![0u32; 3 * model.triangles.len()];
    for (t, tri) in model.triangles.iter().enumerate() {
        for &v in tri {
            around[next[v as usize] as usize] = t as u32;
            next[v as usize] += 1;
        }
    }
    (first, around)
}
