//! Methods: one file each, behind one trait.

mod elements;
mod implicit;
mod newton;
pub mod objective;
mod pd;
mod sweeps;
mod vbd;
mod warm;
mod xpbd;

use glam::Vec3;

use crate::collide::{Body, Contacts};
use crate::constraint::Kind;
use crate::error::BuildError;
use crate::lanes::SimdLevel;
use crate::model::Model;
use crate::par::Team;
use crate::params::Params;
use crate::step::{Stage, Stopwatch};
use crate::wide::Particle;

use warm::WarmStart;

/// A substep as a method sees it: x⁺ = solve(x₀, y).
pub struct Substep<'a> {
    /// What is fixed.
    pub model: &'a Model,
    /// The substep, s.
    pub h: f32,
    /// Iterations to make.
    pub iterations: u32,
    /// Gravity, m/s²; it is in the prediction already.
    pub gravity: Vec3,
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
    /// How far the last substep came, for methods that go on until they converge.
    fn convergence(&self) -> Option<Convergence> {
        None
    }
}

/// How far a substep came.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Convergence {
    /// Whether the goal was reached.
    pub converged: bool,
    /// Iterations made.
    pub iterations: u32,
    /// Iterations of the linear solver in all of them.
    pub inner: u32,
    /// The largest unbalanced force on a particle, N.
    pub norm: f64,
    /// What it was to be, N.
    pub goal: f64,
}

impl Convergence {
    fn reached(&mut self, iterations: u32, norm: f64, goal: f64) {
        *self = Convergence { converged: norm <= goal, iterations, norm, goal, inner: self.inner };
    }
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
        name: "xpbd",
        about: "extended position based dynamics, coloured Gauss–Seidel",
        citation: "Macklin, Müller, Chentanez 2016; Macklin et al., Small steps, 2019",
        kinds: &Kind::ALL,
        good_for: "real time: stiff, stable and fast; true stiffness at any iteration count that converges",
        stable: "any dt; more substeps are stiffer and less damped",
        build: |model, _| Ok(Box::new(xpbd::Xpbd::new(model))),
    },
    MethodInfo {
        name: "newton",
        about: "implicit Euler to convergence: Newton's method with line search, in double precision",
        citation: "Baraff, Witkin 1998; Martin et al. 2011; projected Hessian after Teran et al. 2005",
        kinds: ENERGIES,
        good_for: "the reference that others are measured against; not real time",
        stable: "any dt; longer substeps are more damped",
        build: |model, params| Ok(Box::new(newton::Newton::new(model, &params.newton))),
    },
    MethodInfo {
        name: "implicit",
        about: "implicit Euler by descent, each vertex on its own",
        citation: "Wang, Yang 2016",
        kinds: ENERGIES,
        good_for: "to compare with: cheap iterations that need no colours, but very many of them",
        stable: "any dt; with few iterations forces do not reach far, and cloth looks soft and heavily damped",
        build: |model, _| Ok(Box::new(implicit::Implicit::new(model, None))),
    },
    MethodInfo {
        name: "implicit-chebyshev",
        about: "implicit Euler by descent with Chebyshev acceleration",
        citation: "Wang 2015; Wang, Yang 2016",
        kinds: ENERGIES,
        good_for: "wide machines: no colours, and far fewer iterations than plain descent",
        stable: "any dt; starts over where the acceleration would diverge",
        build: |model, params| Ok(Box::new(implicit::Implicit::new(model, Some(&params.chebyshev)))),
    },
    MethodInfo {
        name: "vbd",
        about: "vertex block descent: coloured vertices, each solved exactly for its own three coordinates",
        citation: "Chen, Liu, Yuksel, Kim 2024",
        kinds: ENERGIES,
        good_for: "unconditional stability at a fixed cost, heavy on light",
        stable: "any dt; with few iterations cloth looks soft",
        build: |model, _| Ok(Box::new(vbd::Vbd::new(model))),
    },
    MethodInfo {
        name: "pd",
        about: "projective dynamics: a constant matrix, factored once, as a quasi-Newton step",
        citation: "Liu et al. 2013; Bouaziz et al. 2014; Liu, Bouaziz, Kavan 2017",
        kinds: ENERGIES,
        good_for: "long substeps: each iteration carries forces through the whole cloth",
        stable: "any dt; a change of substep or pins costs a factorisation",
        build: |model, _| Ok(Box::new(pd::Pd::new(model))),
    },
];

/// The kinds that have an energy; a strain limit has none.
const ENERGIES: &[Kind] = &[
    Kind::Distance,
    Kind::Dihedral,
    Kind::Isometric,
    Kind::TriangleBend,
    Kind::Stvk,
    Kind::Attachment,
    Kind::Tether,
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
