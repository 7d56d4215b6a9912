//! A start that makes no energy.
//!
//! Few iterations leave a good part of the error that they start with. The prediction y knows nothing of stiff springs, so that E(y) may be far more than all the energy there was; where
//! iterations do not get rid of it, the cloth takes it along into the next substep, and crumples.
//!
//! So each vertex starts as far on its way d from x₀, where it was, to the guess as leaves no more elastic and kinetic energy around it than there was:
//!
//! ```text
//! x = x₀ + θ d,   E(x₀ + θ d) + θ² T ≤ E(x₀) + T,   T = 1/(2h²) dᵀ M d
//! ```
//!
//! E is taken for a parabola along the way: with e = Σ ∇E(x₀)·d and c = T + Σ E(x₀ + d) − E(x₀) − e, θ is the root of c θ² + e θ = T, or 1 if that is less. The
//! sums are over the vertices around, with weights that fall off smoothly. Over all of them, a cloth would stand still in the air wherever a part of it is caught.

use glam::{DVec3, Vec3};

use super::Substep;
use super::objective::{Objective, Wanted};
use crate::linalg::Rows;

/// Particles handed to a thread at a time.
const GRAIN: usize = 64;
/// How often sums are spread to the neighbours: over some two edges.
const SPREAD: u32 = 8;

/// See the module.
pub struct Caution {
    /// Those next to each particle.
    neighbors: Rows<u32>,
    before: Vec<DVec3>,
    gradient: Vec<DVec3>,
    /// g around each particle, J.
    share: Vec<f64>,
    /// T, e and c of each particle, J, and a second set to spread them.
    sums: [Vec<[f64; 3]>; 2],
}

impl Caution {
    /// For particles of which each has such neighbours.
    pub fn new(neighbors: Rows<u32>) -> Self {
        let n = neighbors.rows();
        Caution {
            neighbors,
            before: vec![DVec3::ZERO; n],
            gradient: vec![DVec3::ZERO; n],
            share: vec![0.0; n],
            sums: [vec![[0.0; 3]; n], vec![[0.0; 3]; n]],
        }
    }

    /// Takes the guess `x` back as far as it has to.
    pub fn temper(&mut self, objective: &mut Objective, substep: &mut Substep<'_>, x: &mut [DVec3]) {
        let Caution { neighbors, before, gradient, share, sums: [sums, spread] } = self;
        for (i, before) in before.iter_mut().enumerate() {
            *before = if objective.is_free(i) { Vec3::from(substep.start[i].p).as_dvec3() } else { x[i] };
        }
        let team = &mut *substep.team;
        objective.evaluate(team, before, Wanted::Nothing, gradient);
        objective.shares(team, share);
        for (i, sums) in sums.iter_mut().enumerate() {
            let (d, inertia) = (x[i] - before[i], objective.inertia(i));
            let slope = gradient[i].dot(d);
            let pull = (before[i] - objective.prediction()[i]) * inertia;
            *sums = [0.5 * inertia * d.length_squared(), slope - pull.dot(d), -share[i] - slope];
        }
        objective.evaluate(team, x, Wanted::Nothing, gradient);
        objective.shares(team, share);
        for (sums, share) in sums.iter_mut().zip(share) {
            sums[2] += *share;
        }
        for _ in 0..SPREAD {
            let from = &sums[..];
            team.for_each_chunk(spread, GRAIN, |first, spread| {
                for (k, spread) in spread.iter_mut().enumerate() {
                    let own = from[first + k];
                    let row = neighbors.row(first + k);
                    let share = 0.5 / row.len().max(1) as f64;
                    let sum = |k: usize| row.iter().map(|&j| from[j as usize][k]).sum::<f64>();
                    *spread = [0, 1, 2].map(|k| 0.5 * own[k] + share * sum(k));
                }
            });
            std::mem::swap(sums, spread);
        }
        for (i, &[t, e, c]) in sums.iter().enumerate() {
            if c + e > t {
                let root = (e * e + 4.0 * c * t).max(0.0).sqrt();
                // The same root, without a difference where e is positive.
                let part = if e > 0.0 { 2.0 * t / (e + root) } else { (root - e) / (2.0 * c) };
                x[i] = before[i] + (x[i] - before[i]) * part.clamp(0.0, 1.0);
            }
        }
    }
}
