//! Methods: one file each, behind one trait.

mod assembly;
mod caution;
mod chebyshev;
mod elements;
mod explicit;
mod forces;
mod ghpbd;
mod hierarchy;
mod hpbd;
mod implicit;
mod jacobi;
mod limits;
mod newton;
pub mod objective;
mod palette;
mod pbd;
mod pd;
mod shpbd;
mod sweeps;
mod vbd;
mod verlet;
mod warm;
mod xpbd;
mod xpbd_jacobi;

use glam::Vec3;

use crate::collide::{Body, Contacts, Layers};
use crate::constraint::Kind;
use crate::error::BuildError;
use crate::lanes::SimdLevel;
use crate::model::Model;
use crate::par::Team;
use crate::params::{Coloring, Params};
use crate::step::{Stage, Stopwatch};
use crate::wide::Particle;

pub use limits::Limits;
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
    /// Contact of cloth with cloth and meshes.
    pub layers: Option<&'a mut Layers>,
    /// The threads.
    pub team: &'a mut Team,
    /// The instructions.
    pub level: SimdLevel,
    /// The clock of the stages.
    pub clock: &'a mut Stopwatch,
}

impl Substep<'_> {
    /// Whether there is anything to collide with.
    pub fn touching(&self) -> bool {
        !self.bodies.is_empty() || self.layers.as_ref().is_some_and(|layers| layers.touching())
    }

    /// Pushes layers apart and particles out of the colliders, as part of an iteration.
    pub fn collide(&mut self) {
        if let Some(layers) = self.layers.as_mut().filter(|layers| layers.touching()) {
            // What is pressed between a collider and a layer is pushed to and fro.
            for pass in 0..layers.passes() {
                layers.push(self.team, self.level, self.x, self.h, pass);
                self.contacts.project(self.team, self.level, self.model, self.bodies, self.x);
            }
            self.clock.lap(Stage::Contact);
            return;
        }
        self.contacts.project(self.team, self.level, self.model, self.bodies, self.x);
        self.clock.lap(Stage::Contact);
    }

    /// Pushes layers apart alone, as part of an iteration of a method that deals with colliders by itself.
    pub fn push_layers(&mut self) {
        let Some(layers) = &mut self.layers else { return };
        for pass in 0..layers.passes() {
            layers.push(self.team, self.level, self.x, self.h, pass);
        }
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
    /// Whether what contacts have pushed stays until the end of a substep, so that their multipliers are the push that the next one needs as well. Methods that
    /// take it back in every iteration, to weigh it against all else, have it pushed anew in each, and the multipliers add up to many times as much.
    fn keeps_pushes(&self) -> bool {
        false
    }
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

type Build = fn(&Model, &Params) -> Result<Box<dyn Method>, BuildError>;

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
    build: Build,
}

/// Every method.
pub const METHODS: &[MethodInfo] = &[
    MethodInfo {
        name: "explicit",
        about: "mass–spring forces, symplectic Euler",
        citation: "Provot 1995",
        kinds: &Kind::ALL,
        good_for: "soft or coarse cloth; motion without artificial damping, to compare with",
        stable: "h < 2/√(w k): takes as many substeps as that needs, and refuses more than 20,000 a frame",
        build: |model, params| Ok(Box::new(explicit::Explicit::new(model, params)?)),
    },
    MethodInfo {
        name: "verlet",
        about: "mass–spring forces, Verlet, with hardening springs, damped neighbours and a strain limit",
        citation: "Zhou et al. 2016; Provot 1995",
        kinds: &Kind::ALL,
        good_for: "soft springs that look stiff: the strain limit does what stiffness would need many substeps for",
        stable: "as explicit; iterations are passes of the strain limit",
        build: |model, params| Ok(Box::new(verlet::Verlet::new(model, params)?)),
    },
    MethodInfo {
        name: "pbd-gs",
        about: "position based dynamics, coloured Gauss–Seidel",
        citation: "Müller, Heidelberger, Hennix, Ratcliff 2007",
        kinds: &Kind::ALL,
        good_for: "cloth that need not be any given fabric; stiffness changes with iterations, substeps and mesh",
        stable: "any dt",
        build: |model, params| Ok(Box::new(pbd::PbdGs::new(model, params)?)),
    },
    MethodInfo {
        name: "pbd-jacobi",
        about: "position based dynamics, Jacobi: the mean of all corrections at a vertex",
        citation: "Macklin, Müller, Chentanez, Kim, Unified particle physics, 2014; masses split after Tonge et al. 2012",
        kinds: &Kind::ALL,
        good_for: "comparison: no order of solving, but soft, since every correction is divided by its neighbours",
        stable: "any dt",
        build: |model, params| Ok(Box::new(pbd::PbdJacobi::new(model, params, 1.0))),
    },
    MethodInfo {
        name: "pbd-sor",
        about: "position based dynamics, Jacobi with over-relaxation: ω times the mean correction",
        citation: "Macklin, Müller, Chentanez, Kim, Unified particle physics, 2014; masses split after Tonge et al. 2012",
        kinds: &Kind::ALL,
        good_for: "as pbd-jacobi, in fewer iterations",
        stable: "any dt, for ω from 0 to below 2",
        build: |model, params| Ok(Box::new(pbd::PbdJacobi::new(model, params, params.pbd.omega))),
    },
    MethodInfo {
        name: "xpbd",
        about: "extended position based dynamics, coloured Gauss–Seidel",
        citation: "Macklin, Müller, Chentanez 2016; Macklin et al., Small steps, 2019",
        kinds: &Kind::ALL,
        good_for: "real time: stiff, stable and fast; true stiffness at any iteration count that converges",
        stable: "any dt; more substeps are stiffer and less damped",
        build: |model, params| Ok(Box::new(xpbd::Xpbd::new(model, params)?)),
    },
    MethodInfo {
        name: "xpbd-jacobi",
        about: "extended position based dynamics, all constraints at once, with split masses",
        citation: "Macklin, Müller, Chentanez 2016; Tonge, Benevolenski, Voroshilov 2012",
        kinds: &Kind::ALL,
        good_for: "comparison: no order of solving; needs many more iterations than xpbd for the same solution",
        stable: "any dt",
        build: |model, _| Ok(Box::new(xpbd_jacobi::XpbdJacobi::new(model))),
    },
    MethodInfo {
        name: "xpbd-chebyshev",
        about: "xpbd-jacobi with Chebyshev acceleration of positions and multipliers",
        citation: "Wang, A Chebyshev semi-iterative approach, 2015; Hageman, Young, Applied iterative methods, 1981",
        kinds: &Kind::ALL,
        good_for: "many iterations a substep, where it needs about the root of those of xpbd-jacobi",
        stable: "any dt; falls back to plain iterations where the acceleration would diverge",
        build: |model, params| Ok(Box::new(chebyshev::XpbdChebyshev::new(model, params))),
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
        stable: "any dt; makes up to four times the iterations where these leave too much energy; with few, cloth looks soft and heavily damped",
        build: |model, _| Ok(Box::new(implicit::Implicit::new(model, None))),
    },
    MethodInfo {
        name: "implicit-chebyshev",
        about: "implicit Euler by descent with Chebyshev acceleration",
        citation: "Wang 2015; Wang, Yang 2016",
        kinds: ENERGIES,
        good_for: "wide machines: no colours, and far fewer iterations than plain descent",
        stable: "any dt; makes up to four times the iterations where these leave too much energy; starts over where it would diverge",
        build: |model, params| Ok(Box::new(implicit::Implicit::new(model, Some(&params.chebyshev)))),
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
    MethodInfo {
        name: "vbd",
        about: "vertex block descent: coloured vertices, each solved exactly for its own three coordinates",
        citation: "Chen, Liu, Yuksel, Kim 2024",
        kinds: ENERGIES,
        good_for: "unconditional stability at a fixed cost, heavy on light",
        stable: "any dt; with few iterations cloth is heavily damped",
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

/// The kinds that have an energy, and the strain limit, which has none but is enforced after the solve.
const ENERGIES: &[Kind] = &[
    Kind::Distance,
    Kind::Dihedral,
    Kind::Isometric,
    Kind::TriangleBend,
    Kind::Stvk,
    Kind::StrainLimit,
    Kind::Attachment,
    Kind::Tether,
];

/// The methods whose colouring can be chosen.
const COLORED: [&str; 2] = ["xpbd", "pbd-gs"];

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
        (Kind::StrainLimit, model.strain_limit.len()),
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
    // A strain limit is enforced in colours after any method.
    let colored = COLORED.contains(&info.name)
        || (params.coloring != Coloring::Phantom && !model.strain_limit.is_empty());
    if params.coloring != Coloring::Best && !colored {
        return Err(BuildError::field(
            "simulation.coloring",
            format!(
                "is for the methods {}, not for '{}'; leave it out, or use one of them",
                COLORED.join(" and "),
                info.name
            ),
        ));
    }
    (info.build)(model, params)
}
