//! `verlet`: springs that harden, damping between neighbours, and a limit on stretch.
//!
//! x⁺ = 2 x₀ − x₋₁ + h² a with the forces of each spring, l its length and d its rest length,
//!
//! f = k φ(l) (d − l) n − τ k l̇ n,   φ = ((l + d)/(2 d))ⁿ,   l̇ = (l(x₀) − l(x₋₁))/h,
//!
//! then stretch beyond a limit is taken back by [`Limits`](super::limits::Limits). Zhou et al., *GPU-accelerated cloth animation based on
//! module division*, 2016, equations (1)–(5) and section 4.3. There φ is (l + d)ⁿ/dⁿ, which makes a spring 2ⁿ times
//! as stiff at rest as it says; the 2 gives it the fabric's stiffness there. The damping (n·Δv) n of two neighbours is the rate
//! of their distance, taken as velocities are from the last two positions: turning as a whole is not damped at all. Its
//! coefficient is τ k instead of one number for all, so that a finer mesh is not damped otherwise.
//!
//! All forces come from the same positions before anything moves, so their order does not matter.
//! Linear and angular momentum are kept to round-off.

use super::forces::{Forces, check_substep, stable_substep};
use super::sweeps::{self, Family};
use super::{Method, Substep};
use crate::constraint::stvk;
use crate::error::BuildError;
use crate::lanes::{Lane, Point, V3};
use crate::model::Model;
use crate::params::Params;
use crate::wide::{Blend, Keep, Kernel, Particle};

/// Springs without a limit harden up to this strain and no further, so that a stable substep exists.
const HARDENED: f32 = 0.5;

/// The method.
pub struct Verlet {
    forces: Forces,
    springs: Springs,
    /// The last substep, s; 0 before the first.
    last_h: f32,
    stable: f32,
}

impl Verlet {
    /// Arranges the constraints of `model`.
    pub fn new(model: &Model, params: &Params) -> Result<Self, BuildError> {
        let verlet = &params.verlet;
        // Twice the limit: it is kept by a few passes only.
        let strain = if verlet.strain_limit > 0.0 { 2.0 * verlet.strain_limit } else { HARDENED };
        let springs = Springs {
            exponent: verlet.hardening,
            most: 1.0 + 0.5 * strain,
            relaxation: verlet.relaxation,
            inv_h: 0.0,
        };
        let stable = stable_substep(model, verlet.relaxation as f64, springs.stiffening());
        check_substep(stable, params)?;
        Ok(Verlet { forces: Forces::new(model), springs, last_h: 0.0, stable })
    }
}

impl Method for Verlet {
    fn solve(&mut self, substep: &mut Substep<'_>) {
        self.springs.inv_h = if self.last_h > 0.0 { 1.0 / self.last_h } else { 0.0 };
        self.last_h = substep.h;
        self.forces.integrate(substep, self.springs, Blend { keep: Keep::ALL, ..Blend::PLAIN });
    }

    fn stable_substep(&self) -> Option<f32> {
        Some(self.stable)
    }

    fn colors(&self) -> usize {
        self.forces.colors()
    }

    fn residual(&mut self, _: &mut [Particle], _: f32) -> Option<f64> {
        None
    }
}

/// Forces in which springs harden and are damped; other kinds are as they are.
#[derive(Clone, Copy, Debug)]
struct Springs {
    /// n.
    exponent: u32,
    /// The greatest (l + d)/(2 d) that counts.
    most: f32,
    /// τ, s.
    relaxation: f32,
    /// One over the substep before this, 1/s.
    inv_h: f32,
}

impl Springs {
    /// How much stiffer than at rest a spring gets: d/dl (φ (l − d)) = φ (1 + n (l − d)/(l + d)).
    fn stiffening(&self) -> f64 {
        let (n, most) = (self.exponent as f64, self.most as f64);
        let phi = (0..self.exponent).fold(1.0, |phi, _| phi * most);
        phi * (1.0 + n * (most - 1.0) / most)
    }
}

impl Family for Springs {
    fn distance(&self) -> impl Kernel<2, 2, 1> {
        *self
    }
    fn dihedral(&self) -> impl Kernel<4, 2, 1> {
        sweeps::Forces.dihedral()
    }
    fn isometric(&self) -> impl Kernel<4, 4, 3> {
        sweeps::Forces.isometric()
    }
    fn triangle_bend(&self) -> impl Kernel<3, 2, 1> {
        sweeps::Forces.triangle_bend()
    }
    fn stvk(&self) -> impl Kernel<3, { stvk::PARAMS }, 3> {
        sweeps::Forces.stvk()
    }
    fn tether(&self, stiffness: f32) -> impl Kernel<1, 6, 1> {
        sweeps::Forces.tether(stiffness)
    }
}

/// What a spring keeps from substep to substep, where others have their multiplier, is its length (m; 0 before the first).
impl Kernel<2, 2, 1> for Springs {
    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        &[a, b]: &[Point<L>; 2],
        &[compliance, rest]: &[L; 2],
        last: &mut [L; 1],
    ) -> [V3<L>; 2] {
        let zero = rest.like(0.0);
        let d = a.p - b.p;
        let length = (d.length_squared() + rest.like(1e-30)).sqrt();
        let before = zero.select_lt(last[0], last[0], length);
        last[0] = length;
        let rate = (length - before) * rest.like(self.inv_h);
        let ratio = (length + rest) / (rest + rest + rest.like(f32::MIN_POSITIVE));
        let ratio = ratio.min(rest.like(self.most));
        let mut phi = rest.like(1.0);
        for _ in 0..self.exponent {
            phi = phi * ratio;
        }
        let pull = (phi * (rest - length) - rate * rest.like(self.relaxation)) / (compliance * length);
        [d * pull, d * -pull]
    }

    fn residual(&self, _: &[Point<f32>; 2], _: &[f32; 2], _: &[f32; 1]) -> f64 {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pull(springs: Springs, length: f64, before: f64) -> f64 {
        let point = |x: f64| Point { p: V3 { x, y: 0.0, z: 0.0 }, w: 1.0 };
        let mut last = [before];
        let [a, b] = springs.correct::<f64, false>(&[point(length), point(0.0)], &[0.01, 2.0], &mut last);
        assert_eq!((a.x + b.x, last[0]), (0.0, length));
        a.x
    }

    #[test]
    fn a_spring_is_linear_at_rest_hardens_and_stops_hardening() {
        let springs = Springs { exponent: 3, most: 1.25, relaxation: 0.0, inv_h: 0.0 };
        let slope = |l: f64| (pull(springs, l - 1e-6, 0.0) - pull(springs, l + 1e-6, 0.0)) / 2e-6;
        assert!((slope(2.0) - 100.0).abs() < 1e-3, "the fabric's stiffness at rest: {}", slope(2.0));
        assert!((pull(springs, 2.4, 0.0) + 100.0 * 0.4 * 1.1f64.powi(3)).abs() < 1e-5);
        // At the bound, from below, it is as stiff as the stable substep was made for; beyond, it is softer.
        let worst = slope(3.0 - 1e-3);
        assert!((worst / (100.0 * springs.stiffening()) - 1.0).abs() < 1e-2 && slope(3.1) < worst, "{worst}");
    }

    #[test]
    fn a_spring_is_damped_by_the_rate_of_its_length() {
        let springs = Springs { exponent: 0, most: 1.1, relaxation: 0.002, inv_h: 100.0 };
        assert!(pull(springs, 2.0, 2.0).abs() < 1e-12);
        assert!(pull(springs, 2.0, 0.0).abs() < 1e-12, "nothing is known before the first substep");
        // τ k l̇ = 0.002 · 100 · 100 · 0.1 N.
        assert!((pull(springs, 2.0, 1.9) + 2.0).abs() < 1e-6);
    }
}
