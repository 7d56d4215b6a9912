//! What the methods with forces share: one pass over frozen positions, then the integration.
//!
//! x = y + h² w f(x₀), where y = x₀ + h v + h² g is the prediction. The velocity that follows from it is
//! v + h (g + w f), so this is symplectic Euler; written with the last two positions it is Verlet's
//! x⁺ = 2 x₀ − x₋₁ + h² a. All forces are computed before any particle moves, so their order does not matter.

use super::Substep;
use super::sweeps::{Arrangement, Compliance, Family};
use crate::error::BuildError;
use crate::model::Model;
use crate::params::Params;
use crate::step::Stage;
use crate::wide::{Blend, Block, Particle};

/// Part of the longest substep that is used: the bound is that of the shape at the start.
const SAFETY: f64 = 0.8;
/// More substeps than this in a frame are refused.
const MOST_SUBSTEPS: f32 = 20_000.0;
const GRAIN: usize = 64;

/// Forces of all constraints of a model.
pub struct Forces {
    constraints: Arrangement,
    /// Forces on the grids in strips, N.
    sums: Vec<Vec<Block>>,
    /// Forces on all particles, N.
    force: Vec<Particle>,
    /// The positions the forces are computed from, for cloths that are not grids.
    frozen: Vec<Particle>,
}

impl Forces {
    /// Arranges the constraints of `model`.
    pub fn new(model: &Model) -> Self {
        let constraints = Arrangement::new(model, Compliance::Fabric);
        let sums = constraints.grids.iter().map(|g| vec![Block::default(); g.blocks.len()]).collect();
        let items = model.items();
        let frozen = if constraints.rest.colors() > 0 { items } else { 0 };
        Forces {
            constraints,
            sums,
            force: vec![Particle::default(); items],
            frozen: vec![Particle::default(); frozen],
        }
    }

    /// Moves `substep.x` from the prediction to y + h² w f(x₀), then out of the colliders.
    pub fn integrate<F: Family>(&mut self, substep: &mut Substep<'_>, family: F, blend: Blend) {
        if substep.pins_moved {
            self.constraints.update_anchors(substep.x);
        }
        let Forces { constraints, sums, force, frozen } = self;
        let (team, level) = (&mut *substep.team, substep.level);
        constraints.load(team, level, substep.start);
        if !frozen.is_empty() {
            team.for_each_chunk2(frozen, force, GRAIN, |first, frozen, force| {
                frozen.copy_from_slice(&substep.start[first..first + frozen.len()]);
                force.fill(Particle::default());
            });
            constraints.rest.accumulate(team, level, frozen, force, family, blend);
        }
        for (grid, sums) in constraints.grids.iter_mut().zip(sums) {
            team.for_each_chunk(sums, GRAIN, |_, sums| sums.fill(Block::default()));
            grid.sweeps.accumulate(team, level, &mut grid.blocks, sums, family, blend);
            grid.map.store(team, level, sums, &mut force[grid.map.range()]);
        }
        let h2 = substep.h * substep.h;
        team.for_each_chunk(substep.x, GRAIN, |first, x| {
            for (x, force) in x.iter_mut().zip(&force[first..]) {
                for c in 0..3 {
                    x.p[c] += h2 * x.w * force.p[c];
                }
            }
        });
        substep.clock.lap(Stage::Solve);
        if substep.touching() {
            substep.collide();
        }
    }

    /// Colours of the sweeps.
    pub fn colors(&self) -> usize {
        self.constraints.colors()
    }
}

/// The longest stable substep (s).
///
/// Symplectic Euler with stiffness K and damping C stands as long as h² K + 2 h C < 4 M. With the row sums d of K and
/// c of C as bounds, the least h over all particles with h² w d + 2 h w c = 4 is safe. Damping is that of a
/// material with relaxation time τ (s), c = τ d. Pins count as if they were free, since they may be released. Stiffness may
/// grow `hardening`-fold as the cloth stretches.
pub fn stable_substep(model: &Model, relaxation: f64, hardening: f64) -> f32 {
    let mut bound = model.stiffness();
    for cloth in &model.cloths {
        for tether in &model.tethers[cloth.tethers.clone()] {
            bound[tether.particle as usize] += cloth.tether_stiffness as f64;
        }
    }
    let rate2 = bound.iter().zip(&model.inverse_mass).map(|(d, &w)| d * w as f64).fold(0.0, f64::max);
    // Grows without limit as the cloth gets soft; any finite figure will do then.
    let undamped = 4.0 / (hardening * rate2).max(1e-12);
    let relaxation = relaxation / hardening;
    let h = undamped / (relaxation + (relaxation * relaxation + undamped).sqrt());
    (SAFETY * h) as f32
}

/// Refuses a method whose longest stable substep is `h` (s) where a frame would need too many.
pub fn check_substep(h: f32, params: &Params) -> Result<(), BuildError> {
    let needed = params.dt / h;
    if needed <= MOST_SUBSTEPS {
        return Ok(());
    }
    Err(BuildError::field(
        "simulation.method",
        format!(
            "'{}' is stable for substeps of at most {h:.2e} s here, {needed:.0} in a frame of {} s; use a softer or \
             coarser cloth, or a method without that bound, such as 'xpbd'",
            params.method, params.dt
        ),
    ))
}
