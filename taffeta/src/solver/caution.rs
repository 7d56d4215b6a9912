//! A start that makes no energy.
//!
//! Few iterations leave a good part of the error that they start with. The prediction y knows nothing of stiff springs, so that E(y) may be far more than all the energy there was; where
//! iterations do not get rid of it, the cloth takes it along into the next substep, and crumples.
//!
//! g(x) = 1/(2h²) (x − y)ᵀ M (x − y) + E(x) is, at x₀ where everything was, all the energy that there is to begin with. So each vertex starts as far on its way d from x₀ to the
//! guess as g, or what of it is around the vertex, is no more than at x₀:
//!
//! ```text
//! x = x₀ + θ d,   θ = min(1, −s/c),   s = Σ ∇g(x₀)·d,   c = Σ g(x₀ + d) − g(x₀) − ∇g(x₀)·d
//! ```
//!
//! with g taken for a parabola along the way. The sums are over the vertices around, with weights that fall off smoothly. Over all of them, a cloth would stand still in the air wherever a part of it is caught.

use glam::{DVec3, Vec3};

use super::Substep;
use super::objective::{Objective, Wanted};
use crate::linalg::Rows;

/// Particles handed to a thread at a time.
const GRAIN: usize = 64;
/// How often sums are spread to the neighbours: over some two edges. With four times as many a cloth over a ball has more than twice the elastic energy, with a quarter it falls as in honey.
const SPREAD: u32 = 8;

/// See the module.
pub struct Caution {
    /// Those next to each particle.
    neighbors: Rows<u32>,
    before: Vec<DVec3>,
    gradient: Vec<DVec3>,
    /// g around each particle, J.
    share: Vec<f64>,
    /// s and c of each particle, J, and a second set to spread them.
    sums: [Vec<[f64; 2]>; 2],
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
            sums: [vec![[0.0; 2]; n], vec![[0.0; 2]; n]],
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
            *sums = [gradient[i].dot(x[i] - before[i]), -share[i]];
        }
        objective.evaluate(team, x, Wanted::Nothing, gradient);
        objective.shares(team, share);
        for (sums, share) in sums.iter_mut().zip(share) {
            sums[1] += *share - sums[0];
        }
        for _ in 0..SPREAD {
            let from = &sums[..];
            team.for_each_chunk(spread, GRAIN, |first, spread| {
                for (k, spread) in spread.iter_mut().enumerate() {
                    let own = from[first + k];
                    let row = neighbors.row(first + k);
                    let share = 0.5 / row.len().max(1) as f64;
                    let all = row.iter().map(|&j| from[j as usize]);
                    *spread = all.fold(own.map(|v| 0.5 * v), |[a, b], [s, c]| [a + share * s, b + share * c]);
                }
            });
            std::mem::swap(sums, spread);
        }
        for (i, &[s, c]) in sums.iter().enumerate() {
            if s + c > 0.0 {
                let part = if c > 0.0 { (-s / c).clamp(0.0, 1.0) } else { 0.0 };
                x[i] = before[i] + (x[i] - before[i]) * part;
            }
        }
    }
}
