//! `implicit` and `implicit-chebyshev`: implicit Euler by diagonally scaled descent.
//!
//! Both minimise g(x) = 1/(2h²) (x − y)ᵀ M (x − y) + E(x), each vertex going downhill on its own:
//!
//! xᵢ ← xᵢ − ∇ᵢg(x)/Dᵢ.
//!
//! `implicit` takes D = m/h² + 2 Σk, Σk the stiffness at the vertex: the Hessian of g is nowhere above it, so g falls in
//! every iteration. It is slow: each iteration carries a force one vertex further.
//!
//! `implicit-chebyshev` takes D = m/h² + Σk, for which errors fall into −ρ … ρ from one iteration to the next, and
//! combines iterations so that they fall as fast as any fixed combination can let them:
//!
//! x⁺ = x + ω γ Δ + (ω − 1)(x − x⁻),   ω = 1, 2/(2 − ρ²), 4/(4 − ρ² ω), …
//!
//! Wang, *A Chebyshev semi-iterative approach for accelerating projective and position-based dynamics*, 2015; Wang, Yang,
//! *Descent methods for elastic body simulation on the GPU*, 2016. Unless ρ is given it follows from masses and
//! stiffness: the Hessian is at least m/h², so ρ = max Σk/(m/h² + Σk). For n iterations no more than 1/cosh(3/n) is
//! taken, given or not: with it errors up to ρ fall tenfold. A larger ρ would keep the slowest errors in check at the price of all
//! others. The iteration starts over, with the small steps of `implicit` that always go downhill, when its last move
//! was too long (∇g·(x − x⁻) > 0: O'Donoghue, Candès, *Adaptive restart for accelerated gradient schemes*, 2015), or when the
//! scaled gradient Σ |∇ᵢg|²/Dᵢ exceeds what it was at the beginning, which it cannot where g is quadratic.
//!
//! Iterations start from y less the part of gravity that elastic forces answered in the last substep (`warm.rs`). From y itself n of them would
//! answer it only where the forces are D h²/(n m) times as large as they should be, and the cloth would hang as if it were as much heavier.
//!
//! Each iteration carries a force one vertex further, so a few of them hardly stop a cloth that falls into its pins: it is let down
//! as by soft rubber, though its energy is that of stiff springs. The exact step is no worse than standing still, g(x) ≤ g(x₀). Since
//! g(x) ≤ g(x₀) + ∇g(x)·(x − x₀) where g is convex, a step with
//!
//! ∇g(x)·(x − x₀) ≤ ½ (y − x₀)ᵀ M (y − x₀)/h²
//!
//! has at most made as much elastic energy as there was energy to move. Where it made more, the iterations of
//! the scene were too few, and up to three times as many are added.
//!
//! Forces are computed eight at a time in single precision. What is iterated is the way u = x − y from the prediction, which is
//! short: corrections too small to move a position in single precision still add up.
//! The stiffness of membrane triangles grows as they stretch, so that no Σk bounds it for ever. Where the scaled gradient runs
//! away, the substep begins anew with twice the stiffness in D, which goes back to Σk as long as it does not happen again.
//! Contact: a vertex that has come too near is put back in each iteration. The push is the part of its way that colliders made
//! (`Contacts::hold`).

use super::sweeps::{Arrangement, Compliance, Forces};
use super::{Method, Substep, WarmStart};
use crate::model::Model;
use crate::params::Chebyshev;
use crate::step::Stage;
use crate::wide::{Blend, Block, Particle};

const GRAIN: usize = 64;
/// Part of a step that is left in `implicit`: two springs' share at a vertex becomes four halves.
const BOUND: f32 = 2.0;

/// How many times what it was at the beginning the scaled gradient may become before the step is found too long.
const RUNAWAY: f64 = 10.0;
/// Scaled gradients below this are rounding, J.
const NOISE: f64 = 1e-9;
/// How many times the iterations of the scene are made at most, where these leave more energy than there was.
const EFFORT: u32 = 4;
/// How much the caution grows when they run away, what is left of it after a substep in which they do not, and the most.
const CAUTION: (f32, f32, f32) = (2.0, 0.95, 64.0);

/// Sums over all particles, J.
#[derive(Clone, Copy, Debug, Default)]
struct Slopes {
    /// Σ |∇g|²/D.
    norm: f64,
    /// −∇g·(x − x⁻).
    further: f64,
    /// ∇g·(x − x₀) less the kinetic energy ½ |y − x₀|² M/h², without vertices that a collider holds, on which it may do work.
    gained: f64,
}

/// What a particle adds to them, J, and its acceleration by elastic forces, m/s².
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    further: f32,
    gained: f32,
    pull: [f32; 3],
}

/// Either method.
pub struct Implicit {
    constraints: Arrangement,
    /// Forces in strips and on particles, N.
    sums: Vec<Vec<Block>>,
    force: Vec<Particle>,
    /// Σk at each particle, N/m.
    stiffness: Vec<f32>,
    /// The prediction, m.
    y: Vec<Particle>,
    /// x − y now and an iteration ago, m.
    way: Vec<[f32; 3]>,
    last_way: Vec<[f32; 3]>,
    /// Dᵢ h²/m: an iteration takes 1/ratio of the way back.
    ratio: Vec<f32>,
    parts: Vec<Part>,
    chebyshev: Option<Chebyshev>,
    /// How many times Σk the stiffness is taken for.
    caution: f32,
    warm: WarmStart,
}

impl Implicit {
    /// Arranges the constraints of `model`; with `chebyshev` for the accelerated method.
    pub fn new(model: &Model, chebyshev: Option<&Chebyshev>) -> Self {
        let constraints = Arrangement::new(model, Compliance::Fabric);
        let items = model.items();
        // The bound counts each spring twice.
        let mut stiffness: Vec<f32> = model.stiffness().iter().map(|&k| k as f32 / BOUND).collect();
        for cloth in &model.cloths {
            for tether in &model.tethers[cloth.tethers.clone()] {
                stiffness[tether.particle as usize] += cloth.tether_stiffness / BOUND;
            }
        }
        stiffness.resize(items, 0.0);
        Implicit {
            sums: constraints.grids.iter().map(|g| vec![Block::default(); g.blocks.len()]).collect(),
            constraints,
            force: vec![Particle::default(); items],
            stiffness,
            y: vec![Particle::default(); items],
            way: vec![[0.0; 3]; items],
            last_way: vec![[0.0; 3]; items],
            ratio: vec![0.0; items],
            parts: vec![Part::default(); items],
            chebyshev: chebyshev.cloned(),
            caution: 1.0,
            warm: WarmStart::new(items),
        }
    }

    /// Leaves the elastic forces at `substep.x` in `force`.
    fn forces(&mut self, substep: &mut Substep<'_>) {
        let Implicit { constraints, sums, force, .. } = self;
        let (team, level) = (&mut *substep.team, substep.level);
        team.for_each_chunk(force, GRAIN, |_, force| force.fill(Particle::default()));
        constraints.load(team, level, substep.x);
        constraints.rest.accumulate(team, level, substep.x, force, Forces, Blend::PLAIN);
        for (grid, sums) in constraints.grids.iter_mut().zip(sums) {
            team.for_each_chunk(sums, GRAIN, |_, sums| sums.fill(Block::default()));
            grid.sweeps.accumulate(team, level, &mut grid.blocks, sums, Forces, Blend::PLAIN);
            grid.map.store(team, level, sums, &mut force[grid.map.range()]);
        }
    }

    /// Turns forces into corrections −∇g/D with D = m/h² + `share` Σk.
    fn corrections(&mut self, substep: &mut Substep<'_>, share: f32) -> Slopes {
        let Implicit { stiffness, force, ratio, parts, way, last_way, .. } = self;
        let (x, y, start, stiffness) = (&*substep.x, &self.y[..], substep.start, &stiffness[..]);
        let (way, last_way, contacts) = (&way[..], &last_way[..], &*substep.contacts);
        let inv_h2 = 1.0 / (substep.h * substep.h);
        substep.team.for_each_chunk3(force, ratio, parts, GRAIN, |first, force, ratio, parts| {
            for (k, (force, ratio)) in force.iter_mut().zip(ratio).enumerate() {
                let i = first + k;
                let (inertia, free) = match x[i].w > 0.0 {
                    true => (inv_h2 / x[i].w, 1.0),
                    false => (1.0, 0.0),
                };
                let d = inertia + share * stiffness[i];
                *ratio = d / inertia;
                let pull = force.p.map(|f| f * x[i].w);
                let (mut square, mut on, mut gained) = (0.0, 0.0, 0.0);
                for c in 0..3 {
                    let downhill = free * (force.p[c] - way[i][c] * inertia);
                    force.p[c] = downhill / d;
                    square += downhill * force.p[c];
                    on += downhill * (way[i][c] - last_way[i][c]);
                    let predicted = free * (y[i].p[c] - start[i].p[c]);
                    gained -= downhill * (predicted + way[i][c]) + 0.5 * inertia * predicted * predicted;
                }
                force.w = square;
                gained *= if contacts.get(i).push > 0.0 { 0.0 } else { 1.0 };
                parts[k] = Part { further: on, gained, pull };
            }
        });
        let mut slopes = Slopes::default();
        for (force, part) in self.force.iter().zip(&self.parts) {
            slopes.norm += force.w as f64;
            slopes.further += part.further as f64;
            slopes.gained += part.gained as f64;
        }
        slopes
    }

    /// x⁺ = x + rate Δ + momentum (x − x⁻).
    fn advance(&mut self, substep: &mut Substep<'_>, rate: f32, momentum: f32) {
        let (force, y) = (&self.force, &self.y);
        let (way, last_way) = (&mut self.way, &mut self.last_way);
        substep.team.for_each_chunk3(substep.x, way, last_way, GRAIN, |first, x, way, last_way| {
            for (k, x) in x.iter_mut().enumerate() {
                let i = first + k;
                for c in 0..3 {
                    let now = way[k][c];
                    way[k][c] = now + (rate * force[i].p[c] + momentum * (now - last_way[k][c]));
                    last_way[k][c] = now;
                    x.p[c] = y[i].p[c] + way[k][c];
                }
            }
        });
    }

    /// Goes back to the guess, which knows nothing of contacts.
    fn restart(&mut self, substep: &mut Substep<'_>) {
        substep.x.copy_from_slice(&self.y);
        self.warm.begin_way(substep, &mut self.way);
        self.last_way.copy_from_slice(&self.way);
        substep.contacts.clear();
    }

    /// Puts vertices back that are too near to a collider, after a step of this rate and momentum.
    fn hold(&mut self, substep: &mut Substep<'_>, step: [f32; 2]) {
        let Substep { contacts, team, model, bodies, x, .. } = substep;
        contacts.hold(team, model, bodies, &self.y, x, &mut self.way, &self.ratio, step);
        if let Some(layers) = substep.layers.as_mut().filter(|layers| layers.touching()) {
            layers.push(substep.team, substep.level, substep.x, substep.h, 0);
            for ((way, x), y) in self.way.iter_mut().zip(substep.x.iter()).zip(&self.y) {
                for c in 0..3 {
                    way[c] = x.p[c] - y.p[c];
                }
            }
        }
        substep.clock.lap(Stage::Contact);
    }

    /// The spectral radius for D = m/h² + Σk.
    fn radius(&self, x: &[Particle], h: f32) -> f32 {
        let mut rho = 0.0f32;
        for (x, k) in x.iter().zip(&self.stiffness).filter(|(x, _)| x.w > 0.0) {
            rho = rho.max(k / (k + 1.0 / (x.w * h * h)));
        }
        rho
    }
}

impl Method for Implicit {
    fn solve(&mut self, substep: &mut Substep<'_>) {
        if substep.pins_moved {
            self.constraints.update_anchors(substep.x);
        }
        self.y.copy_from_slice(substep.x);
        self.restart(substep);
        let (grow, fade, most) = CAUTION;
        self.caution = (self.caution * fade).max(1.0);
        let rho = match &self.chebyshev {
            Some(Chebyshev { rho, .. }) => {
                let most = 1.0 / libm::coshf(3.0 / substep.iterations as f32);
                rho.unwrap_or_else(|| self.radius(substep.x, substep.h)).min(most)
            }
            None => 0.0,
        };
        let gamma = self.chebyshev.as_ref().map_or(1.0, |c| c.gamma);
        let delay = self.chebyshev.as_ref().map_or(0, |c| c.delay);
        // ω, how many iterations it has had, and the scaled gradient when they began.
        let (mut omega, mut count, mut first) = (1.0, 0, f64::INFINITY);
        // The scaled gradient at the prediction. A vertex that is put back has an unbalanced force for good, so in contact any finite one
        // is taken for right.
        let (mut start, touching) = (f64::INFINITY, substep.touching());
        for iteration in 0..EFFORT * substep.iterations {
            self.forces(substep);
            let accelerated = self.chebyshev.is_some();
            let share = self.caution * if accelerated { 1.0 } else { BOUND };
            let Slopes { norm, further, gained } = self.corrections(substep, share);
            if iteration == 0 {
                start = if touching { f64::MAX / RUNAWAY } else { norm.max(NOISE) };
            } else if !(norm <= RUNAWAY * start) && self.caution < most {
                self.caution *= grow;
                self.restart(substep);
                if touching {
                    self.hold(substep, [1.0, 0.0]);
                }
                (omega, count, first) = (1.0, 0, f64::INFINITY);
                continue;
            }
            let (mut rate, mut momentum) = (1.0, 0.0);
            if accelerated {
                if norm > first * 1.001 || count > delay && further < 0.0 {
                    // Over again, by a step that surely goes downhill.
                    (omega, count, first) = (1.0, 0, f64::INFINITY);
                    rate = 1.0 / BOUND;
                } else {
                    if count == delay {
                        first = norm;
                    }
                    omega = match count {
                        _ if count <= delay => 1.0,
                        _ if count == delay + 1 => 2.0 / (2.0 - rho * rho),
                        _ => 4.0 / (4.0 - rho * rho * omega),
                    };
                    rate = if count < delay { 1.0 / BOUND } else { omega * gamma };
                    momentum = omega - 1.0;
                    count += 1;
                }
            }
            self.advance(substep, rate, momentum);
            substep.clock.lap(Stage::Solve);
            if touching {
                self.hold(substep, [rate, momentum]);
            }
            if iteration + 1 >= substep.iterations && gained <= 0.0 {
                break;
            }
        }
        let parts = &self.parts;
        self.warm.end_way(substep, &self.way, |i| parts[i].pull.into());
    }

    /// Forces need no colours; those of the sweeps only keep threads apart.
    fn colors(&self) -> usize {
        self.constraints.colors()
    }

    fn residual(&mut self, _: &mut [Particle], _: f32) -> Option<f64> {
        None
    }
}
