//! What moves: positions and velocities.

use crate::model::Model;
use crate::wide::Particle;

/// The moving part of a simulation, in the engine's own numbering.
#[derive(Clone, Debug)]
pub struct State {
    /// Positions and inverse masses; after the real particles come [idle](crate::color::PADDING) ones, then
    /// the vertices of colliders' meshes.
    pub x: Vec<Particle>,
    /// Positions at the start of the present substep.
    pub start: Vec<Particle>,
    /// Velocities, m/s; the fourth component is zero.
    pub v: Vec<[f32; 4]>,
    /// Simulated time, s.
    pub time: f64,
    /// Frames so far.
    pub frame: u32,
}

impl State {
    /// The state in which `model` starts.
    pub fn new(model: &Model) -> Self {
        let mut x: Vec<Particle> = (model.start.iter().zip(&model.inverse_mass))
            .map(|(p, &w)| Particle { p: (*p).into(), w })
            .collect();
        for attachment in &model.attachments {
            x[attachment.particle as usize].w = 0.0;
        }
        x.resize(model.items(), Particle::default());
        for mesh in &model.collider_meshes {
            for (x, p) in x[mesh.vertices.clone()].iter_mut().zip(&mesh.start) {
                x.p = (*p).into();
            }
        }
        let v = model.start_velocity.iter().map(|v| [v.x, v.y, v.z, 0.0]);
        let mut v: Vec<[f32; 4]> = v.collect();
        v.resize(x.len(), [0.0; 4]);
        State { start: x.clone(), x, v, time: 0.0, frame: 0 }
    }

    /// Becomes a copy of `other`, which has as many particles, without allocating.
    pub fn copy_from(&mut self, other: &State) {
        self.x.copy_from_slice(&other.x);
        self.start.copy_from_slice(&other.start);
        self.v.copy_from_slice(&other.v);
        (self.time, self.frame) = (other.time, other.frame);
    }
}
