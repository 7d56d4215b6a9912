//! Methods: one file each, behind one trait.

mod ghpbd;
mod hierarchy;
mod hpbd;
mod pbd;
mod shpbd;
mod sweeps;
mod xpbd;

use crate::collide::{Body, Contacts};
use crate::constraint::Kind;
use crate::error::BuildError;
use crate::lanes::SimdLevel;
use crate::model::Model;
use crate::par::Team;
use crate::params::Params;
use crate::step::{Stage, Stopwatch};
use crate::wide::Particle;

/// A substep as a method sees it: x⁺ = solve(x₀, y).
pub struct Substep<'a> {
    /// What is fixed.
    pub model: &'a Model,
    /// The substep, s.
    pub h: f32,
    /// Iterations to make.
    pub iterations: u32,
    /// On entry the prediction y, held particles already at their new places; on return the solution.
    pub x: &'a mut [Particle],
    /// Where the particles were at the start of the substep, x₀.
    pub start: &'a [Particle],
    /// Whether any held particle moved, or was taken or let go, in this substep.
    pub pins_moved: bool,
    /// Whether multipliers must be there afterwards, for [`Method::residual`].
    pub measure: bool,
    /// The colliders, at the end of the substep.
    pub bodies: &'a [Body],
    /// Contacts with them.
    pub contacts: &'a mut Contacts,
    /// The threads.
    pub team: &'a mut Team,
    /// The instructions.
    pub level: SimdLevel,
    /// The clock of the stages.
    pub clock: &'a mut Stopwatch,
}

impl Substep<'_> {
    /// Pushes the particles out of the colliders, as part of an iteration.
    pub fn collide(&mut self) {
        self.contacts.project(self.team, self.model, self.bodies, self.x);
        self.clock.lap(Stage::Contact);
    }
}

/// A way to solve a substep.
pub trait Method: Send {
    /// Moves `substep.x` from the prediction to the solution.
    fn solve(&mut self, substep: &mut Substep<'_>);
    /// The longest substep (s) that is stable, for methods that have such a bound; longer ones are divided.
    fn stable_substep(&self) -> Option<f32> {
        None
    }
    /// The number of colours it works in.
    fn colors(&self) -> usize;
    /// ‖C + α̃ λ‖ of the last substep, if it was measured and the method has multipliers.
    fn residual(&mut self, x: &mut [Particle], h: f32) -> Option<f64>;
}

/// What there is to know about a method without running it.
pub struct MethodInfo {
    /// Its name in scenes and on the command line.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Where it is from.
    pub citation: &'static str,
    /// The kinds of constraint it can solve.
    pub kinds: &'static [Kind],
    /// What it is good for.
    pub good_for: &'static str,
    /// For which time steps it is stable.
    pub stable: &'static str,
    build: fn(&Model, &Params) -> Result<Box<dyn Method>, BuildError>,
}

/// Every method.
pub const METHODS: &[MethodInfo] = &[
    MethodInfo {
        name: "pbd-gs",
        about: "position based dynamics, coloured Gauss–Seidel",
        citation: "Müller, Heidelberger, Hennix, Ratcliff 2007",
        kinds: &Kind::ALL,
        good_for: "cloth that need not be any given fabric; stiffness changes with iterations, substeps and mesh",
        stable: "any dt",
        build: |model, params| Ok(Box::new(pbd::PbdGs::new(model, params))),
    },
    MethodInfo {
        name: "xpbd",
        about: "extended position based dynamics, coloured Gauss–Seidel",
        citation: "Macklin, Müller, Chentanez 2016; Macklin et al., Small steps, 2019",
        kinds: &Kind::ALL,
        good_for: "real time: stiff, stable and fast; true stiffness at any iteration count that converges",
        stable: "any dt; more substeps are stiffer and less damped",
        build: |model, _| Ok(Box::new(xpbd::Xpbd::new(model))),
    },
    MethodInfo {
        name: "hpbd",
        about: "position based dynamics on coarse levels of collapsed vertices, then on the cloth",
        citation: "Müller, Hierarchical position based dynamics, 2008",
        kinds: &Kind::ALL,
        good_for: "stiffer cloth than pbd-gs for the same iterations, on any mesh",
        stable: "any dt",
        build: |model, params| Ok(Box::new(hpbd::new(model, params)?)),
    },
    MethodInfo {
        name: "shpbd",
        about: "position based dynamics on coarse levels by blue-noise sampling, then on the cloth",
        citation: "Wang, Zheng, Qian, Li, Sampling hierarchical position-based dynamics simulation, 2017",
        kinds: &Kind::ALL,
        good_for: "as hpbd, with coarse levels that stay even; on any mesh",
        stable: "any dt",
        build: |model, params| Ok(Box::new(shpbd::new(model, params)?)),
    },
    MethodInfo {
        name: "ghpbd",
        about: "position based dynamics on coarse grids of chosen rows and columns, then on the cloth",
        citation: "Zheng, Wang, Li, Cloth simulation based on grid-hierarchical dynamic simulation method, 2017",
        kinds: &Kind::ALL,
        good_for: "the stiffest of the hierarchical methods on regular grids",
        stable: "any dt",
        build: |model, params| Ok(Box::new(ghpbd::new(model, params)?)),
    },
];

/// Builds the method that `params` names for `model`.
pub fn build(model: &Model, params: &Params) -> Result<Box<dyn Method>, BuildError> {
    let info = METHODS.iter().find(|m| m.name == params.method).ok_or_else(|| BuildError::Unknown {
        field: "simulation.method".into(),
        what: "method",
        name: params.method.clone(),
        known: METHODS.iter().map(|m| m.name).collect(),
    })?;
    let used = [
        (Kind::Distance, model.distance.len()),
        (Kind::Dihedral, model.dihedral.len()),
        (Kind::Isometric, model.isometric.len()),
        (Kind::TriangleBend, model.triangle_bend.len()),
        (Kind::Stvk, model.stvk.len()),
        (Kind::Tether, model.tethers.len()),
        (Kind::Attachment, model.attachments.len()),
    ];
    for (kind, count) in used {
        if count > 0 && !info.kinds.contains(&kind) {
            return Err(BuildError::field(
                "simulation.method",
                format!(
                    "'{}' cannot solve '{}' constraints, of which the scene has {count}",
                    info.name,
                    kind.name()
                ),
            ));
        }
    }
    (info.build)(model, params)
}
