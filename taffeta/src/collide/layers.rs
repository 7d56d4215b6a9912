//! Contact of cloth with cloth, and with the meshes of colliders, in the mode that was chosen.
//!
//! `predictive` and `intersection-free` are [`Barrier`]s. The modes of spheres, and none, know cloth alone: meshes of colliders, if there are any, still
//! get a barrier of their own.

use super::particles::{self, ParticleContacts};
use super::swept::{self, SweptSpheres};
use super::untangle::{self, untangle};
use super::{Barrier, Body, Moment, Work};
use crate::error::BuildError;
use crate::lanes::SimdLevel;
use crate::metrics::{Crossing, Part, crossings};
use crate::model::Model;
use crate::par::Team;
use crate::params::{Contact, ContactMode};
use crate::wide::Particle;

enum Spheres {
    Particles(ParticleContacts),
    Swept(SweptSpheres),
}

/// See the module.
pub struct Layers {
    mode: ContactMode,
    barrier: Option<Barrier>,
    spheres: Option<Spheres>,
}

impl Layers {
    /// For a model that starts at `x`, which may be changed to untangle it, and a method that [`keeps_pushes`](crate::solver::Method::keeps_pushes) or not.
    pub fn new(
        model: &Model,
        bodies: &[Body],
        params: &Contact,
        soft: bool,
        x: &mut [Particle],
    ) -> Result<Option<Self>, BuildError> {
        let field =
            |name: &str, problem: String| BuildError::field(format!("simulation.contact.{name}"), problem);
        if params.thickness.is_some_and(|t| !(t > 0.0 && t.is_finite())) {
            return Err(field("thickness", "must be above 0 m, for example 0.002".into()));
        }
        let needs_clean = !matches!(params.mode, Some(ContactMode::None | ContactMode::Predictive));
        let mut mode = params.mode.unwrap_or(ContactMode::IntersectionFree);
        let spheres = matches!(mode, ContactMode::Particles | ContactMode::SweptSpheres);
        let meshes = !model.collider_meshes.is_empty();
        if (needs_clean && !spheres) || params.untangle || meshes {
            let mut crossed = crossed(model, x, mode);
            if params.untangle && !crossed.is_empty() {
                let soup = super::soup::Soup::of_model(model, params.thickness);
                let report =
                    untangle(&mut Team::new(1), &soup, &model.edges, x, &untangle::Settings::default());
                if report.remaining > 0 {
                    let problem = format!(
                        "could not undo {} of {} crossings; move the layers apart by hand, or use mode = \"predictive\"",
                        report.remaining, report.before
                    );
                    return Err(field("untangle", problem));
                }
                crossed.clear();
            }
            if let Some(first) = crossed.first() {
                let bounded = params.mode == Some(ContactMode::IntersectionFree);
                if bounded || (meshes && mode != ContactMode::Predictive && params.mode.is_some()) {
                    return Err(field("mode", refusal(model, bodies, &crossed, first)));
                }
                if params.mode.is_none() {
                    mode = ContactMode::Predictive;
                }
            } else if let Some((cloth, problem)) = swallowed(model, bodies, x) {
                return Err(BuildError::field(format!("cloth.{cloth}.position"), problem));
            }
        }
        let barrier = |bounded, alone| Some(Barrier::new(model, bodies, params, soft, bounded, alone));
        let layers = Layers {
            mode,
            barrier: match mode {
                ContactMode::IntersectionFree => barrier(true, false),
                ContactMode::Predictive => barrier(false, false),
                _ if meshes => barrier(true, true),
                _ => None,
            },
            spheres: match mode {
                ContactMode::Particles => {
                    let settings = particles::Settings::default();
                    Some(Spheres::Particles(ParticleContacts::new(model, &settings)))
                }
                ContactMode::SweptSpheres => {
                    Some(Spheres::Swept(SweptSpheres::new(model, &swept::Settings::default())))
                }
                _ => None,
            },
        };
        Ok((layers.barrier.is_some() || layers.spheres.is_some()).then_some(layers))
    }

    /// The mode in use.
    pub fn mode(&self) -> ContactMode {
        self.mode
    }

    /// Whether there are contacts to solve.
    pub fn touching(&self) -> bool {
        let spheres = match &self.spheres {
            Some(Spheres::Particles(spheres)) => spheres.count().0 > 0,
            Some(Spheres::Swept(spheres)) => spheres.count().0 > 0,
            None => false,
        };
        spheres || self.barrier.as_ref().is_some_and(|barrier| barrier.touching())
    }

    /// How often contacts should be gone through in an iteration.
    pub fn passes(&self) -> u32 {
        self.barrier.as_ref().map_or(1, |barrier| barrier.passes())
    }

    /// What was done since the last call.
    pub fn take_work(&mut self) -> Work {
        self.barrier.as_mut().map_or(Work::default(), |barrier| barrier.take_work())
    }

    /// Begins a substep from `start` to the prediction `x`, to which it adds what contacts are known to push.
    pub fn begin(&mut self, now: &mut Moment<'_>, start: &mut [Particle], x: &mut [Particle]) {
        if let Some(barrier) = &mut self.barrier {
            barrier.begin(now, start, x);
        }
        match &mut self.spheres {
            Some(Spheres::Particles(spheres)) => spheres.begin(now.team, x),
            Some(Spheres::Swept(spheres)) => spheres.begin(now.team, x, start),
            None => return,
        }
        now.clock.lap(crate::step::Stage::Candidates);
    }

    /// Pushes layers apart, as part of an iteration that has several such passes.
    pub fn push(&mut self, team: &mut Team, level: SimdLevel, x: &mut [Particle], h: f32, pass: u32) {
        match &mut self.spheres {
            Some(Spheres::Particles(spheres)) => spheres.project(team, x),
            Some(Spheres::Swept(spheres)) => spheres.project(team, x),
            None => {}
        }
        if let Some(barrier) = &mut self.barrier {
            barrier.push(team, level, x, h, pass);
        }
    }

    /// Friction of spheres; that of a barrier is part of its push.
    pub fn rub(&mut self, team: &mut Team, start: &[Particle], x: &mut [Particle]) {
        match &mut self.spheres {
            Some(Spheres::Particles(spheres)) => spheres.friction(team, start, x),
            Some(Spheres::Swept(spheres)) => spheres.friction(team, start, x),
            None => {}
        }
    }

    /// Brings everything where it may be; says whether vertices of colliders are late.
    pub fn finish(&mut self, now: &mut Moment<'_>, start: &mut [Particle], x: &mut [Particle]) -> bool {
        self.barrier.as_mut().is_some_and(|barrier| barrier.finish(now, start, x))
    }
}

/// What crosses at the start; of modes that leave cloth alone, cloth and meshes only.
fn crossed(model: &Model, x: &[Particle], mode: ContactMode) -> Vec<Crossing> {
    let positions: Vec<[f32; 3]> = x.iter().map(|x| x.p).collect();
    let part = |triangles, collider| Part { positions: &positions, triangles, collider };
    let cloths = model.cloths.iter().map(|cloth| part(&model.triangles[cloth.triangles.clone()], false));
    let meshes = model.collider_meshes.iter().map(|mesh| part(&mesh.triangles[..], true));
    let mut found = crossings(&cloths.chain(meshes).collect::<Vec<_>>());
    if !matches!(mode, ContactMode::IntersectionFree | ContactMode::Predictive) {
        found.retain(|crossing| crossing.parts[1] as usize >= model.cloths.len());
    }
    found
}

/// The first cloth that starts inside a closed mesh and crosses it nowhere: it could never come out. Which one, and what to say.
fn swallowed(model: &Model, bodies: &[Body], x: &[Particle]) -> Option<(usize, String)> {
    for mesh in &model.collider_meshes {
        let body = &bodies[mesh.collider];
        let Some(solid) = body.solid() else { continue };
        for (k, cloth) in model.cloths.iter().enumerate() {
            let inside = |x: &&Particle| solid.contains(x.p.into());
            if let Some(Particle { p: [a, b, c], .. }) = x[cloth.vertices.clone()].iter().find(inside) {
                let problem = format!(
                    "'{}' starts inside '{}', at ({a:.4}, {b:.4}, {c:.4}) m for one, and could not come out; move it out, or leave a face of the mesh away \
                     if it is a container",
                    cloth.name, body.name
                );
                return Some((k, problem));
            }
        }
    }
    None
}

fn refusal(model: &Model, bodies: &[Body], crossed: &[Crossing], first: &Crossing) -> String {
    let name = |part: u32| match model.cloths.get(part as usize) {
        Some(cloth) => cloth.name.clone(),
        None => bodies[model.collider_meshes[part as usize - model.cloths.len()].collider].name.clone(),
    };
    let [a, b] = first.parts.map(name);
    let [x, y, z] = first.point;
    let what = if a == b { format!("'{a}' crosses itself") } else { format!("'{a}' and '{b}' cross") };
    format!(
        "needs a start without crossings, but {what} at ({x:.4}, {y:.4}, {z:.4}) m ({} pairs of triangles in all); \
         move them apart, or set simulation.contact.untangle = true, or mode = \"predictive\"",
        crossed.len()
    )
}
