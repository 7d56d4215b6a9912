//! `explicit`: a mass–spring system by symplectic Euler.
//!
//! v⁺ = v + h (g + w f(x₀)), x⁺ = x₀ + h v⁺, with f = −∇E of all constraints. It is cheap for a substep and has no
//! artificial damping, but h √(w k) must stay below 2: the substep is chosen from the stiffness of the model, and a stiff
//! or fine cloth needs very many. Provot, *Deformation constraints in a mass–spring model*, 1995, with the velocity first.
//!
//! Linear and angular momentum are kept to round-off: all forces are internal. Iterations mean nothing here.

use super::forces::{Forces, check_substep, stable_substep};
use super::sweeps;
use super::{Method, Substep};
use crate::error::BuildError;
use crate::model::Model;
use crate::params::Params;
use crate::wide::{Blend, Particle};

/// The method.
pub struct Explicit {
    forces: Forces,
    stable: f32,
}

impl Explicit {
    /// Arranges the constraints of `model`.
    pub fn new(model: &Model, params: &Params) -> Result<Self, BuildError> {
        let stable = stable_substep(model, 0.0, 1.0);
        check_substep(stable, params)?;
        Ok(Explicit { forces: Forces::new(model), stable })
    }
}

impl Method for Explicit {
    fn solve(&mut self, substep: &mut Substep<'_>) {
        self.forces.integrate(substep, sweeps::Forces, Blend::PLAIN);
    }

    fn stable_substep(&self) -> Option<f32> {
        Some(self.stable)
    }

    /// Forces need no colours; those of the sweeps only keep threads apart.
    fn colors(&self) -> usize {
        self.forces.colors()
    }

    fn residual(&mut self, _: &mut [Particle], _: f32) -> Option<f64> {
        None
    }
}
