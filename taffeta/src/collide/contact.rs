//! Contact of particles with colliders.
//!
//! Normal: C = d(p) − margin ≥ 0, solved as an inequality whose multiplier (the total push of this substep) never
//! pulls. Friction: after the solve, the tangential motion relative to the surface over the substep is taken back
//! by at most μ × push (Coulomb). Because it acts on positions, a contact within the cone does not creep at all; a
//! friction of velocities lets gravity move it by h² g sin θ every substep.

use std::sync::atomic::{AtomicBool, Ordering};

use glam::Vec3;

use super::Body;
use crate::model::Model;
use crate::par::Team;
use crate::wide::Particle;

/// What holds one particle off a collider during a substep.
#[derive(Clone, Copy, Debug, Default)]
pub struct Contact {
    /// How far it was pushed in all, m.
    pub push: f32,
    /// Which collider pushed.
    pub body: u32,
}

/// The contacts of every particle.
#[derive(Clone, Debug)]
pub struct Contacts {
    of: Vec<Contact>,
}

/// Particles handed to a thread at a time.
const GRAIN: usize = 64;

impl Contacts {
    /// No contacts for `particles` particles.
    pub fn new(particles: usize) -> Self {
        Contacts { of: vec![Contact::default(); particles] }
    }

    /// How many particles there are.
    pub fn len(&self) -> usize {
        self.of.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// How many particles are being pushed.
    pub fn count(&self) -> usize {
        self.of.iter().filter(|c| c.push > 0.0).count()
    }

    /// The contact of a particle; without push if there is none.
    pub fn get(&self, particle: usize) -> Contact {
        self.of[particle]
    }

    /// Sets the contact of a particle, for methods that find its push by other means.
    pub fn set(&mut self, particle: usize, contact: Contact) {
        self.of[particle] = contact;
    }

    /// Forgets all contacts.
    pub fn clear(&mut self) {
        self.of.fill(Contact::default());
    }

    /// Pushes particles out of the colliders.
    pub fn project(&mut self, team: &mut Team, model: &Model, bodies: &[Body], x: &mut [Particle]) {
        for cloth in &model.cloths {
            let (x, of) = (&mut x[cloth.vertices.clone()], &mut self.of[cloth.vertices.clone()]);
            team.for_each_chunk2(x, of, GRAIN, |_, x, of| {
                for (body_index, body) in bodies.iter().enumerate() {
                    for (x, contact) in x.iter_mut().zip(of.iter_mut()) {
                        if x.w == 0.0 {
                            continue;
                        }
                        let p = Vec3::from(x.p);
                        let same = contact.body == body_index as u32;
                        let before = if same { contact.push } else { 0.0 };
                        // One that was pushed must be looked at wherever it is: the push may have to be taken back.
                        let reach = if before > 0.0 { f32::INFINITY } else { cloth.margin };
                        let Some((d, n)) = body.near(p, reach) else { continue };
                        let depth = cloth.margin - d;
                        // A multiplier that was too large is taken back, but never below zero.
                        let push = (before + depth).max(0.0);
                        if push != before {
                            x.p = (p + n * (push - before)).into();
                            if same || push > contact.push {
                                *contact = Contact { push, body: body_index as u32 };
                            }
                        }
                    }
                }
            });
        }
    }

    /// Puts particles that are too near back, for methods that look for the way from the prediction `y`: it is changed
    /// along with the positions. The push is taken from how stiffly they resist: `ratio` is their stiffness as
    /// a multiple of m/h², and they have just made `rate` of a full step. Each call counts anew.
    pub fn hold(
        &mut self,
        team: &mut Team,
        model: &Model,
        bodies: &[Body],
        y: &[Particle],
        x: &mut [Particle],
        way: &mut [[f32; 3]],
        ratio: &[f32],
        rate: f32,
    ) {
        for cloth in &model.cloths {
            let vertices = cloth.vertices.clone();
            let (ratio, y, of) =
                (&ratio[vertices.clone()], &y[vertices.clone()], &mut self.of[vertices.clone()]);
            let (x, way) = (&mut x[vertices.clone()], &mut way[vertices]);
            team.for_each_chunk3(x, way, of, GRAIN, |first, x, way, of| {
                of.fill(Contact::default());
                for (body_index, body) in bodies.iter().enumerate() {
                    for (k, (x, contact)) in x.iter_mut().zip(of.iter_mut()).enumerate() {
                        if x.w == 0.0 {
                            continue;
                        }
                        let Some((d, n)) = body.near(x.p.into(), cloth.margin) else { continue };
                        let depth = cloth.margin - d;
                        way[k] = (Vec3::from(way[k]) + n * depth).into();
                        x.p = (Vec3::from(y[first + k].p) + Vec3::from(way[k])).into();
                        let push = depth * ratio[first + k] / rate;
                        if push > contact.push {
                            *contact = Contact { push, body: body_index as u32 };
                        }
                    }
                }
            });
        }
    }

    /// Coulomb friction of all contacts; `start` is where the particles were at the start of the substep.
    pub fn friction(
        &mut self,
        team: &mut Team,
        model: &Model,
        bodies: &[Body],
        start: &[Particle],
        x: &mut [Particle],
    ) {
        for cloth in &model.cloths {
            let start = &start[cloth.vertices.clone()];
            let (x, of) = (&mut x[cloth.vertices.clone()], &mut self.of[cloth.vertices.clone()]);
            team.for_each_chunk2(x, of, GRAIN, |first, x, of| {
                for (i, (x, contact)) in x.iter_mut().zip(of.iter()).enumerate() {
                    if contact.push <= 0.0 {
                        continue;
                    }
                    let body = &bodies[contact.body as usize];
                    let p = Vec3::from(x.p);
                    let (_, n) = body.distance(p);
                    // Where it would be now had it stuck to the surface.
                    let stuck = Vec3::from(start[first + i].p) + body.surface_motion(p);
                    let moved = p - stuck;
                    let normal = n * moved.dot(n);
                    let slip = moved - normal;
                    let limit = body.friction.unwrap_or(cloth.friction) * contact.push;
                    let length = slip.length();
                    // Sticking goes back to `stuck` itself rather than by −slip: rounding must not creep.
                    let held = if length <= limit { stuck + normal } else { p - slip * (limit / length) };
                    x.p = held.into();
                }
            });
        }
    }

    /// Moves particles out of colliders that came at them faster than one margin in a substep, without giving them
    /// speed: solved as contacts, such a jump would become a velocity and make the cloth explode.
    /// Says whether there were any.
    pub fn clear_fast_colliders(team: &mut Team, model: &Model, bodies: &[Body], x: &mut [Particle]) -> bool {
        let moved = AtomicBool::new(false);
        for cloth in &model.cloths {
            team.for_each_chunk(&mut x[cloth.vertices.clone()], GRAIN, |_, x| {
                for body in bodies.iter().filter(|body| body.pose != body.before) {
                    for x in x.iter_mut().filter(|x| x.w != 0.0) {
                        let p = Vec3::from(x.p);
                        if let Some((d, n)) = body.near(p, -cloth.margin) {
                            x.p = (p + n * (cloth.margin - d)).into();
                            moved.store(true, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
        moved.into_inner()
    }
}
