//! `newton`: implicit Euler solved to convergence, the reference that others are measured against.
//!
//! Minimises g(x) = 1/(2h²) (x − y)ᵀ M (x − y) + E(x) by Newton's method in double precision:
//!
//! H p = −∇g(x),   x ← x + t p,   t = 1, ½, ¼ … until g(x + t p) ≤ g(x) + 10⁻⁴ t ∇g·p (Armijo),
//!
//! H p = −∇g is solved by conjugate gradients with the inverse diagonal blocks for a preconditioner, only as far as it pays
//! (Eisenstat, Walker, *Choosing the forcing terms in an inexact Newton method*, 1996). Where they meet
//! negative curvature at once, which cloth has wherever it is about to buckle, the Hessian is projected so that p leads downhill
//! (Teran, Sifakis, Irving, Fedkiw, *Robust quasistatic finite elements and flesh simulation*, 2005). The
//! projected one alone would do, but near the solution it needs ten times as many iterations.
//!
//! Where values of g differ by rounding only, t is taken if the slope ∇g·p there has fallen (approximate Wolfe condition of
//! Hager, Zhang, *A new conjugate gradient method with guaranteed descent*, 2005).
//!
//! It ends when no particle's unbalanced force |∇ᵢg| exceeds `simulation.newton.tolerance` times the greatest force on any
//! particle, or when `simulation.newton.iterations` are made; [`Method::convergence`] says which. The
//! scene's own `iterations` do not matter. The solution is then rounded to single precision like all positions: at 1 m
//! from the origin to 6·10⁻⁸ m, which shakes a spring of 3,000 N/m by 2·10⁻⁴ N. So the force that is left at the
//! positions as others see them is larger than the one that was reached.
//!
//! It starts where g is no more than at x₀, where everything was, and g only falls. So however few iterations are made, E(x) ≤ g(x₀) = E(x₀) + ½ (y − x₀)ᵀ M (y − x₀)/h²: no more
//! elastic energy comes of a substep than there was energy to begin with. From the prediction alone, which may be far off where cloth is held back, two iterations made more and more of it.
//!
//! Contact is a stiff penalty on the planes that touch the colliders; they are taken anew in each iteration. Planes that a step would
//! go beyond count as felt when the step is computed, as in active-set methods: else the line search would stop at one after another.
//! What penetration is left is projected out at the end.
//!
//! Where the projected Hessian is too stiff, a step that is still steep at its end is doubled.

use glam::{DMat3, DVec3, Vec3};

use super::objective::{Hessian, Objective, Wanted};
use super::{Convergence, Method, Substep};
use crate::linalg::{ConjugateGradients, Solved, dot};
use crate::model::Model;
use crate::par::Team;
use crate::params;
use crate::step::Stage;
use crate::wide::Particle;

/// Armijo's constant.
const DECREASE: f64 = 1e-4;
/// The shortest step tried, as a part of the full one.
const SHORTEST: f64 = 1e-10;
/// The longest step tried.
const LONGEST: f64 = 1000.0;
/// A step is too short if this part of the slope is left at its end.
const STEEP: f64 = 0.3;
/// Part of g below which a difference may be rounding.
const ROUNDING: f64 = 1e-6;
/// Iterations with the projected Hessian after the exact one was found to be indefinite.
const PROJECTED: u32 = 2;
/// How often contacts to come are looked for in an iteration, at most.
const EXPECTATIONS: u32 = 3;
/// If conjugate gradients meet negative curvature after so many iterations, the way that they have found by then is taken: it leads downhill.
const FAR: u32 = 5;
/// Iterations of conjugate gradients at most.
const INNER: u32 = 2000;

/// The method.
pub struct Newton {
    objective: Objective,
    params: params::Newton,
    cg: ConjugateGradients,
    x: Vec<DVec3>,
    trial: Vec<DVec3>,
    gradient: Vec<DVec3>,
    downhill: Vec<DVec3>,
    direction: Vec<DVec3>,
    inverse: Vec<DMat3>,
    /// x − y of the last substep, m, and its length, s.
    last: Vec<DVec3>,
    last_h: f64,
    convergence: Convergence,
}

impl Newton {
    /// For all of `model`.
    pub fn new(model: &Model, params: &params::Newton) -> Self {
        let n = model.particles();
        let zero = || vec![DVec3::ZERO; n];
        Newton {
            objective: Objective::new(model),
            params: params.clone(),
            cg: ConjugateGradients::new(n),
            x: zero(),
            trial: zero(),
            gradient: zero(),
            downhill: zero(),
            direction: zero(),
            inverse: vec![DMat3::IDENTITY; n],
            last: zero(),
            last_h: 0.0,
            convergence: Convergence::default(),
        }
    }

    /// Starts from the prediction moved as the last substep moved it, since forces change little from one to the next; or from where everything was, if g is less there.
    fn start(&mut self, substep: &mut Substep<'_>) {
        let h = substep.h as f64;
        let scale = if self.last_h > 0.0 { (h / self.last_h).powi(2) } else { 0.0 };
        for (i, y) in self.objective.prediction().iter().enumerate() {
            let free = self.objective.is_free(i);
            self.x[i] = *y + if free { self.last[i] * scale } else { DVec3::ZERO };
            self.trial[i] = if free { Vec3::from(substep.start[i].p).as_dvec3() } else { *y };
        }
        self.last_h = h;
        let mut value =
            |x: &[DVec3]| self.objective.evaluate(substep.team, x, Wanted::Nothing, &mut self.gradient);
        if value(&self.trial) < value(&self.x) {
            std::mem::swap(&mut self.x, &mut self.trial);
        }
    }

    /// Solves H p = `downhill` for the direction.
    fn direct(&mut self, team: &mut Team, forcing: f64) -> Solved {
        self.objective.diagonal(team, &self.x, &mut self.inverse);
        self.inverse.iter_mut().for_each(|block| *block = block.inverse());
        let hessian = Hessian { objective: &self.objective, x: &self.x };
        self.cg.solve(team, &hessian, &self.inverse, &self.downhill, &mut self.direction, forcing, INNER)
    }

    /// Doubles the step `t` while it is still as steep at its end: the projected Hessian is too stiff in directions in which
    /// cloth is about to buckle, and would leave the unstable shape by small steps. `slope` is that at the beginning.
    /// Returns g (J) at the new end, which is left in `trial`.
    fn lengthen(&mut self, team: &mut Team, mut t: f64, mut value: f64, slope: f64) -> f64 {
        while t < LONGEST && dot(&self.gradient, &self.direction) < STEEP * slope {
            t *= 2.0;
            let further = &mut self.downhill;
            for i in 0..self.x.len() {
                further[i] = self.x[i] + self.direction[i] * t;
            }
            let new = self.objective.evaluate(team, further, Wanted::Nothing, &mut self.gradient);
            if new >= value {
                self.objective.evaluate(team, &self.trial, Wanted::Nothing, &mut self.gradient);
                break;
            }
            std::mem::swap(&mut self.trial, &mut self.downhill);
            value = new;
        }
        value
    }
}

fn largest(gradient: &[DVec3]) -> f64 {
    gradient.iter().map(|g| g.length_squared()).fold(0.0, f64::max).sqrt()
}

impl Method for Newton {
    fn solve(&mut self, substep: &mut Substep<'_>) {
        self.objective.begin(substep.x, substep.h);
        self.start(substep);
        let collide = substep.touching();
        let mut value = f64::INFINITY;
        let mut convergence = Convergence::default();
        let mut projected = 0;
        for iteration in 0..=self.params.iterations {
            let team = &mut *substep.team;
            if collide {
                self.objective.touch(team, substep.model, substep.bodies, &self.x);
            }
            if collide || iteration == 0 {
                value = self.objective.evaluate(team, &self.x, Wanted::Nothing, &mut self.gradient);
            }
            let norm = largest(&self.gradient);
            let greatest = self.objective.greatest_force(&self.x);
            let goal = (self.params.tolerance * greatest).max(self.objective.least_force());
            convergence.reached(iteration, norm, goal);
            if convergence.converged || iteration == self.params.iterations {
                break;
            }
            let wanted = if projected == 0 { Wanted::Exact } else { Wanted::Projected };
            self.objective.evaluate(team, &self.x, wanted, &mut self.gradient);
            // Far from the solution a rough direction does; near it, one good enough to end with.
            let forcing = (0.3 * goal / norm).max(0.1 * (norm / greatest).sqrt().min(1.0));
            self.downhill.iter_mut().zip(&self.gradient).for_each(|(d, g)| *d = -*g);
            let mut solved = self.direct(team, forcing);
            convergence.inner += solved.iterations;
            // Contacts that the step would make are counted in before it is made; else the line search would make them one
            // by one.
            for _ in 0..EXPECTATIONS {
                let new = collide && !solved.indefinite;
                if !new || !self.objective.expect(&self.x, &self.direction, &mut self.downhill) {
                    break;
                }
                solved = self.direct(team, forcing);
                convergence.inner += solved.iterations;
            }
            self.objective.expect_nothing();
            if solved.indefinite && solved.iterations < FAR {
                projected = PROJECTED + 1;
                continue;
            }
            let mut slope = dot(&self.gradient, &self.direction);
            if slope >= 0.0 {
                // What was expected leads uphill; without it the direction cannot.
                self.downhill.iter_mut().zip(&self.gradient).for_each(|(d, g)| *d = -*g);
                convergence.inner += self.direct(team, forcing).iterations;
                slope = dot(&self.gradient, &self.direction);
            }
            projected = projected.saturating_sub(1);
            let mut t = 1.0;
            let improved = loop {
                for i in 0..self.x.len() {
                    self.trial[i] = self.x[i] + self.direction[i] * t;
                }
                let new = self.objective.evaluate(team, &self.trial, Wanted::Nothing, &mut self.gradient);
                let armijo = new <= value + DECREASE * t * slope;
                let close = new <= value + ROUNDING * value.abs();
                if armijo || close && dot(&self.gradient, &self.direction) <= (2.0 * DECREASE - 1.0) * slope {
                    value = new;
                    break true;
                }
                t *= 0.5;
                if t < SHORTEST {
                    break false;
                }
            };
            if !improved {
                break;
            }
            value = self.lengthen(team, t, value, slope);
            std::mem::swap(&mut self.x, &mut self.trial);
        }
        self.convergence = convergence;
        for i in (0..self.x.len()).filter(|&i| self.objective.is_free(i)) {
            self.last[i] = self.x[i] - self.objective.prediction()[i];
            substep.x[i].p = Vec3::to_array(&self.x[i].as_vec3());
        }
        substep.clock.lap(Stage::Solve);
        if collide {
            self.objective.record_contacts(&self.x, substep.contacts);
            substep.collide();
        }
    }

    fn colors(&self) -> usize {
        0
    }

    fn keeps_pushes(&self) -> bool {
        true
    }

    fn residual(&mut self, _: &mut [Particle], _: f32) -> Option<f64> {
        None
    }

    fn convergence(&self) -> Option<Convergence> {
        Some(self.convergence)
    }
}
