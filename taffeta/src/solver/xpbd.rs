//! `xpbd`: extended position based dynamics by coloured Gauss–Seidel.
//!
//! Implicit Euler asks for x with M (x − y) = ∇C(x)ᵀ λ and C(x) + α̃ λ = 0, where y is the prediction and
//! α̃ = α/h². Each constraint is solved in turn for its own multiplier,
//!
//! Δλ = −(C + α̃ λ)/(∇C M⁻¹ ∇Cᵀ + α̃),   Δx = M⁻¹ ∇Cᵀ Δλ,
//!
//! colour after colour, all of one colour at once. Macklin, Müller, Chentanez, *XPBD*, 2016; many substeps of one iteration
//! after Macklin et al., *Small steps in physics simulation*, 2019. With one iteration λ starts from zero and need
//! not be kept.

use super::sweeps::{Arrangement, Compliance, Compliant};
use super::{Method, Substep};
use crate::error::BuildError;
use crate::model::Model;
use crate::params::Params;
use crate::wide::Particle;

/// The method.
pub struct Xpbd {
    constraints: Arrangement,
}

impl Xpbd {
    /// Arranges the constraints of `model`.
    pub fn new(model: &Model, params: &Params) -> Result<Self, BuildError> {
        Ok(Xpbd { constraints: Arrangement::colored(model, Compliance::Fabric, params)? })
    }
}

impl Method for Xpbd {
    fn keeps_pushes(&self) -> bool {
        true
    }

    fn solve(&mut self, substep: &mut Substep<'_>) {
        let family = Compliant { inv_h2: 1.0 / (substep.h * substep.h) };
        self.constraints.gauss_seidel(substep, family);
    }

    fn colors(&self) -> usize {
        self.constraints.colors()
    }

    fn residual(&mut self, x: &mut [Particle], h: f32) -> Option<f64> {
        Some(self.constraints.residual(x, Compliant { inv_h2: 1.0 / (h * h) }))
    }
}
