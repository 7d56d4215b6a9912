//! `pbd-gs`, `pbd-jacobi`, `pbd-sor`: position based dynamics, by coloured Gauss–Seidel and by Jacobi iteration.
//!
//! Constraints have no compliance. Each in turn is satisfied in part,
//!
//! Δx = −k′ M⁻¹ ∇Cᵀ C/(∇C M⁻¹ ∇Cᵀ),   k′ = 1 − (1 − k)^{1/n},
//!
//! with a stiffness k from 0 to 1 and n iterations: of a lone constraint's error, (1 − k′)ⁿ = 1 − k is left after
//! the substep. For many constraints this says little. They share their particles, so that the stiffness of the cloth still grows
//! with the number of iterations, shrinks with the mesh and changes with the substep, which is what XPBD cured.
//!
//! `pbd-gs` solves them colour after colour. `pbd-jacobi` solves all from the same positions and takes the mean of the
//! corrections at each particle, Δxᵢ = (1/nᵢ) Σ Δx, with split masses so that momentum is kept (see `jacobi.rs`). `pbd-sor`
//! goes ω times as far, Δxᵢ = (ω/nᵢ) Σ Δx, which converges for ω < 2.
//!
//! Müller, Heidelberger, Hennix, Ratcliff, *Position based dynamics*, 2007; Macklin, Müller, Chentanez, Kim, *Unified particle
//! physics for real-time applications*, 2014.

use super::jacobi::Jacobi;
use super::sweeps::{Arrangement, Compliance, Family, RIGID};
use super::{Method, Substep};
use crate::constraint::{dihedral, distance, isometric, stvk, tether, triangle_bend};
use crate::error::BuildError;
use crate::lanes::{Lane, Point, V3};
use crate::model::Model;
use crate::params::{Params, Pbd};
use crate::wide::{Blend, Kernel, Particle};

/// A projection of which only a part is done. Multipliers are neither read nor written.
#[derive(Clone, Copy, Debug)]
pub struct Relaxed<K> {
    /// The whole projection.
    pub kernel: K,
    /// The part of it, k′.
    pub factor: f32,
}

impl<K: Kernel<N, P, R>, const N: usize, const P: usize, const R: usize> Kernel<N, P, R> for Relaxed<K> {
    const KEEPS: bool = false;
    const LONG: bool = K::LONG;

    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        points: &[Point<L>; N],
        params: &[L; P],
        _: &mut [L; R],
    ) -> [V3<L>; N] {
        let mut moves = self.kernel.correct::<L, true>(points, params, &mut [params[0].like(0.0); R]);
        let factor = params[0].like(self.factor);
        for n in 0..N {
            moves[n] = moves[n] * factor;
        }
        moves
    }

    fn residual(&self, points: &[Point<f32>; N], params: &[f32; P], _: &[f32; R]) -> f64 {
        self.kernel.residual(points, params, &[0.0; R])
    }
}

/// Springs, of which those that skip a vertex resist bending; they are told apart by their compliance.
#[derive(Clone, Copy, Debug)]
pub struct RelaxedSpring {
    stretch: f32,
    bend: f32,
}

impl Kernel<2, 2, 1> for RelaxedSpring {
    const KEEPS: bool = false;
    const SPLIT: bool = true;

    #[inline(always)]
    fn begin<L: Lane>(&self, points: &[Point<L>; 2], params: &[L; 2]) -> [L; 2] {
        RIGID_SPRING.begin(points, params)
    }

    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        points: &[Point<L>; 2],
        params: &[L; 2],
        lambda: &mut [L; 1],
    ) -> [V3<L>; 2] {
        self.finish::<L, FIRST>(points, params, self.begin(points, params), lambda)
    }

    #[inline(always)]
    fn finish<L: Lane, const FIRST: bool>(
        &self,
        points: &[Point<L>; 2],
        params: &[L; 2],
        begun: [L; 2],
        _: &mut [L; 1],
    ) -> [V3<L>; 2] {
        let compliance = params[0];
        let [a, b] = RIGID_SPRING.finish::<L, true>(points, params, begun, &mut [compliance.like(0.0)]);
        let (stretch, bend) = (compliance.like(self.stretch), compliance.like(self.bend));
        let factor = compliance.select_lt(compliance.like(1.5 * RIGID), stretch, bend);
        [a * factor, b * factor]
    }

    fn residual(&self, points: &[Point<f32>; 2], params: &[f32; 2], _: &[f32; 1]) -> f64 {
        RIGID_SPRING.residual(points, params, &[0.0])
    }
}

/// [`RIGID`] is an α̃ already.
const RIGID_SPRING: distance::Project = distance::Project { inv_h2: 1.0 };

/// PBD: each constraint satisfied in part. For rows that are [`Compliance::Rigid`].
#[derive(Clone, Copy, Debug)]
pub struct Partly {
    /// k′ of stretch: springs and membrane triangles.
    pub stretch: f32,
    /// k′ of bending.
    pub bend: f32,
}

impl Partly {
    /// For `iterations` iterations of a substep.
    pub fn new(pbd: &Pbd, iterations: u32) -> Self {
        let factor = |k: f32| 1.0 - libm::powf(1.0 - k, 1.0 / iterations as f32);
        Partly { stretch: factor(pbd.stretch), bend: factor(pbd.bend) }
    }
}

impl Family for Partly {
    fn distance(&self) -> impl Kernel<2, 2, 1> {
        RelaxedSpring { stretch: self.stretch, bend: self.bend }
    }
    fn dihedral(&self) -> impl Kernel<4, 2, 1> {
        Relaxed { kernel: dihedral::Project { inv_h2: 1.0 }, factor: self.bend }
    }
    fn isometric(&self) -> impl Kernel<4, 4, 3> {
        Relaxed { kernel: isometric::Project { inv_h2: 1.0, share: 1.0 }, factor: self.bend }
    }
    fn triangle_bend(&self) -> impl Kernel<3, 2, 1> {
        Relaxed { kernel: triangle_bend::Project { inv_h2: 1.0 }, factor: self.bend }
    }
    fn stvk(&self) -> impl Kernel<3, { stvk::PARAMS }, 3> {
        Relaxed { kernel: stvk::Project { inv_h2: 1.0 }, factor: self.stretch }
    }
    fn tether(&self, _: f32) -> impl Kernel<1, 6, 1> {
        tether::Project { inv_h2: 1.0 }
    }
}

/// The method `pbd-gs`.
pub struct PbdGs {
    constraints: Arrangement,
    stiffness: Pbd,
}

impl PbdGs {
    /// Arranges the constraints of `model`.
    pub fn new(model: &Model, params: &Params) -> Result<Self, BuildError> {
        let constraints = Arrangement::colored(model, Compliance::Rigid, params)?;
        Ok(PbdGs { constraints, stiffness: params.pbd.clone() })
    }
}

impl Method for PbdGs {
    fn keeps_pushes(&self) -> bool {
        true
    }

    fn solve(&mut self, substep: &mut Substep<'_>) {
        let family = Partly::new(&self.stiffness, substep.iterations);
        self.constraints.gauss_seidel(substep, family);
    }

    fn colors(&self) -> usize {
        self.constraints.colors()
    }

    fn residual(&mut self, x: &mut [Particle], _: f32) -> Option<f64> {
        Some(self.constraints.residual(x, Partly::new(&self.stiffness, 1)))
    }
}

/// The methods `pbd-jacobi` and `pbd-sor`.
pub struct PbdJacobi {
    jacobi: Jacobi,
    stiffness: Pbd,
    /// How far to go along the mean correction.
    omega: f32,
}

impl PbdJacobi {
    /// Arranges the constraints of `model`; `omega` is 1 for the plain mean.
    pub fn new(model: &Model, params: &Params, omega: f32) -> Self {
        let jacobi = Jacobi::new(model, Compliance::Rigid);
        PbdJacobi { jacobi, stiffness: params.pbd.clone(), omega }
    }
}

impl Method for PbdJacobi {
    fn keeps_pushes(&self) -> bool {
        true
    }

    fn solve(&mut self, substep: &mut Substep<'_>) {
        let family = Partly::new(&self.stiffness, substep.iterations);
        // What is corrected in part only counts in part when the mean is taken.
        let share = (family.bend / family.stretch.max(1e-6)).clamp(1e-3, 1.0);
        let blend = Blend { rate: self.omega, ..Blend::PLAIN };
        self.jacobi.begin(substep, share);
        for iteration in 1..=substep.iterations {
            self.jacobi.iterate(substep, family, blend, iteration == substep.iterations);
        }
        self.jacobi.end(substep);
    }

    fn colors(&self) -> usize {
        self.jacobi.constraints.colors()
    }

    fn residual(&mut self, x: &mut [Particle], _: f32) -> Option<f64> {
        Some(self.jacobi.constraints.residual(x, Partly::new(&self.stiffness, 1)))
    }
}
