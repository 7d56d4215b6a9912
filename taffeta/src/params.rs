//! The knobs of a simulation, with units.

use serde::{Deserialize, Serialize};

use crate::collide::query::Structure;
use crate::mesh::hierarchy::Decision;

/// How a scene is simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// The method that solves the cloth; see `taffeta list methods`.
    pub method: String,
    /// Time of one frame, s.
    pub dt: f32,
    /// How many frames to run by default.
    pub frames: u32,
    /// Substeps of a frame.
    pub substeps: u32,
    /// Iterations of a substep.
    pub iterations: u32,
    /// Gravity, m/s².
    pub gravity: [f32; 3],
    /// Rate at which all velocities decay, 1/s; added to the fabric's.
    pub damping: f32,
    /// Threads; 0 takes one for each core. Small scenes use fewer.
    pub threads: u32,
    /// Passes of the strain limit after each substep; as many as iterations if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strain_passes: Option<u32>,
    /// How `xpbd` and `pbd-gs` divide constraints into colours, and the strain limit of any method.
    pub coloring: Coloring,
    /// Colours of each kind of constraint at most, for `coloring = "phantom"`.
    pub phantom_colors: u32,
    /// For the method `verlet`.
    pub verlet: Verlet,
    /// For the methods `pbd-gs`, `pbd-jacobi`, `pbd-sor` and the hierarchical ones.
    pub pbd: Pbd,
    /// For the methods `xpbd-chebyshev` and `implicit-chebyshev`.
    pub chebyshev: Chebyshev,
    /// For the method `newton`.
    pub newton: Newton,
    /// For the methods `hpbd`, `shpbd` and `ghpbd`.
    pub hierarchy: Hierarchy,
    /// Contact of cloth with itself, other cloths and meshes.
    pub contact: Contact,
}

/// Contact of cloth with itself, other cloths and the meshes of colliders.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Contact {
    /// How it is found and kept; `intersection-free` if not given, or `predictive` if the cloth crosses itself at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ContactMode>,
    /// Distance that layers keep from each other, m; the fabric's thickness, or a twelfth of the mean edge where that is more, if not
    /// given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thickness: Option<f32>,
    /// Whether cloth that crosses at the start is untangled first.
    pub untangle: bool,
    /// How near pairs are searched for; the results are the same.
    pub search: Structure,
}

/// How contact of cloth with itself, other cloths and meshes is found and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ContactMode {
    /// Not at all, but for meshes of colliders.
    None,
    /// Every vertex is a sphere wider than the mesh; cheap, and looks thick.
    Particles,
    /// Small spheres at vertices, followed along their ways in one pass; cheap, and leaks between vertices.
    SweptSpheres,
    /// Contacts that are expected in the substep are pushed apart; what is missed passes through.
    Predictive,
    /// As `predictive`, and no vertex moves so far that anything could cross.
    IntersectionFree,
}

/// How constraints are divided into colours: those of one colour share no vertex and are solved at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Coloring {
    /// Grids in strips with the fewest colours; meshes with at most one colour more than edges meet at a vertex.
    #[default]
    Best,
    /// One constraint after another takes the emptiest colour that is free.
    Greedy,
    /// Rows and columns of a grid, level by level (grids only).
    Modules,
    /// At most `phantom_colors`; where more constraints meet, a vertex is split and its copies are averaged.
    Phantom,
}

/// Springs of the method `verlet`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Verlet {
    /// Exponent n of the stiffness k ((l + d)/(2 d))ⁿ of a spring of length l, d at rest: 0 is linear, 10 at most.
    pub hardening: u32,
    /// Relaxation time τ of a spring, s: neighbours are damped by τ k for each m/s at which their distance changes.
    pub relaxation: f32,
    /// Greatest stretch of cloths that have no `strain_limit` of their own: 0.1 is 10 %, 0 leaves it out.
    pub strain_limit: f32,
}

impl Default for Verlet {
    fn default() -> Self {
        Verlet { hardening: 2, relaxation: 2e-5, strain_limit: 0.1 }
    }
}

/// Stiffness of position based dynamics, which knows no units: the part of an error that is corrected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Pbd {
    /// Part of a stretch that is taken back in a substep, 0 to 1.
    pub stretch: f32,
    /// Part of a bend that is taken back in a substep, 0 to 1.
    pub bend: f32,
    /// Over-relaxation of `pbd-sor`, 0 to 2.
    pub omega: f32,
}

impl Default for Pbd {
    fn default() -> Self {
        Pbd { stretch: 1.0, bend: 0.01, omega: 1.5 }
    }
}

/// Chebyshev semi-iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Chebyshev {
    /// Spectral radius of the plain iteration, 0 to 1; estimated while running if not given.
    pub rho: Option<f32>,
    /// Under-relaxation, 0 to 1.
    pub gamma: f32,
    /// Plain iterations before the acceleration begins.
    pub delay: u32,
}

impl Default for Chebyshev {
    fn default() -> Self {
        Chebyshev { rho: None, gamma: 1.0, delay: 2 }
    }
}

/// Newton's method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Newton {
    /// The solution is good when no vertex's unbalanced force exceeds this part of the greatest force on any; above 0, below 1.
    pub tolerance: f64,
    /// Iterations of a substep at most.
    pub iterations: u32,
}

impl Default for Newton {
    fn default() -> Self {
        Newton { tolerance: 1e-6, iterations: 300 }
    }
}

/// Coarse levels of the hierarchical methods.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Hierarchy {
    /// Coarse levels above the cloth itself; 3, or as many as there is room for, if not given.
    pub levels: Option<u32>,
    /// Of `ghpbd`: how the rows and columns of a grid become fewer from level to level.
    pub decision: Decision,
    /// Of `ghpbd`: the same for the rows alone, along z, if they go another way than the columns.
    pub decision_z: Option<Decision>,
    /// Of `shpbd` and `ghpbd`: rows and columns of the coarsest level, 2 or more.
    pub coarsest: u32,
    /// Of `shpbd`, and of `ghpbd` on meshes: where the random numbers start.
    pub seed: u32,
}

impl Default for Hierarchy {
    fn default() -> Self {
        Hierarchy { levels: None, decision: Decision::Linear, decision_z: None, coarsest: 3, seed: 1 }
    }
}

impl Pbd {
    /// The field that is wrong, if any, and how.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        for (field, k) in [("stretch", self.stretch), ("bend", self.bend)] {
            if !(0.0..=1.0).contains(&k) {
                let problem = format!("is {k}; must be from 0 to 1, the part of an error that is taken back");
                return Some((field, problem));
            }
        }
        let omega = self.omega;
        let bad = !(omega > 0.0 && omega < 2.0);
        bad.then(|| ("omega", format!("is {omega}; must be above 0 and below 2, for example 1.5")))
    }
}

impl Chebyshev {
    /// The field that is wrong, if any, and how.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        if let Some(rho) = self.rho.filter(|rho| !(0.0..1.0).contains(rho)) {
            let problem = format!("is {rho}; must be 0 or more and below 1, or left out to be estimated");
            return Some(("rho", problem));
        }
        let gamma = self.gamma;
        let bad = !(gamma > 0.0 && gamma <= 1.0);
        bad.then(|| ("gamma", format!("is {gamma}; must be above 0 and at most 1")))
    }
}

impl Newton {
    /// The field that is wrong, if any, and how.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let Newton { tolerance, iterations } = *self;
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return Some((
                "tolerance",
                format!("is {tolerance}; must be above 0 and below 1, for example 1e-6"),
            ));
        }
        (iterations == 0).then(|| ("iterations", "is 0; must be 1 or more".into()))
    }
}

impl Hierarchy {
    /// The field that is wrong, if any, and how.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let Hierarchy { levels, decision, decision_z, coarsest, .. } = self;
        if *levels == Some(0) {
            return Some(("levels", "is 0; must be 1 or more ('pbd-gs' has no coarse levels)".into()));
        }
        if *coarsest < 2 {
            return Some(("coarsest", format!("is {coarsest}; must be 2 rows and columns or more")));
        }
        let named = [("decision", Some(decision)), ("decision_z", decision_z.as_ref())];
        let mut known = levels.map(|levels| (levels as usize, "levels"));
        for (name, decision) in named {
            let Some(decision) = decision else { continue };
            if let Some(problem) = decision.problem() {
                return Some((name, problem));
            }
            match (decision.levels(), known) {
                (Some(given), Some((wanted, other))) if given != wanted => {
                    return Some((name, format!("is for {given} levels, but {other} is for {wanted}")));
                }
                (Some(given), None) => known = Some((given, name)),
                _ => {}
            }
        }
        None
    }
}

impl Default for Params {
    fn default() -> Self {
        Params {
            method: "xpbd".into(),
            dt: 1.0 / 60.0,
            frames: 300,
            substeps: 20,
            iterations: 1,
            gravity: [0.0, -9.81, 0.0],
            damping: 0.0,
            threads: 0,
            strain_passes: None,
            coloring: Coloring::Best,
            phantom_colors: 4,
            verlet: Verlet::default(),
            pbd: Pbd::default(),
            chebyshev: Chebyshev::default(),
            newton: Newton::default(),
            hierarchy: Hierarchy::default(),
            contact: Contact::default(),
        }
    }
}
