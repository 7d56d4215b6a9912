//! All constraints at once: what `pbd-jacobi`, `pbd-sor`, `xpbd-jacobi` and `xpbd-chebyshev` share.
//!
//! In a Jacobi iteration every constraint is solved from the same positions and the corrections are added up. Where nᵢ
//! constraints meet, the sum overshoots nᵢ-fold and the iteration explodes. *Mass splitting* cures it: particle i is
//! taken as nᵢ copies of mass mᵢ/nᵢ, one for each constraint, and after the projections the copies are averaged,
//!
//! Δλ = −(C + α̃ λ)/(Σ nᵢ wᵢ |∇ᵢC|² + α̃),   Δxᵢ = (1/nᵢ) Σ nᵢ wᵢ ∇ᵢC Δλ = wᵢ Σ ∇ᵢC Δλ.
//!
//! Copies are of one mass and joined without a loss, so momentum is kept exactly, M (x − y) = ∇Cᵀ λ as well, and the fixed
//! point is the implicit Euler solution of XPBD. With D = diag(Σ nᵢ wᵢ |∇ᵢC|² + α̃) and A = ∇C M⁻¹ ∇Cᵀ + α̃, what is left of an
//! error is (1 − D⁻¹A) of it, and since D ≥ A (Cauchy–Schwarz) all its eigenvalues are between 0 and 1: it
//! converges without wavering, slowly for what is smooth.
//!
//! A constraint need not get as much of a particle's mass as its neighbour. A soft hinge that is counted like a stiff spring
//! halves the speed of the springs for nothing; so hinges have a share s of what springs have: nᵢ = springs + s · hinges, and a
//! hinge sees nᵢwᵢ/s.
//!
//! Tonge, Benevolenski, Voroshilov, *Mass splitting for jitter-free parallel rigid body simulation*, 2012. Averaging in position
//! based dynamics: Macklin, Müller, Chentanez, Kim, *Unified particle physics for real-time applications*, 2014.

use std::ops::Range;

use super::Substep;
use super::sweeps::{Arrangement, Compliance, Family};
use crate::color::Row;
use crate::model::Model;
use crate::step::Stage;
use crate::wide::{Blend, Block, Particle, advance_blocks, advance_particles};

/// Particles of a thread at least, and exactly those of one partial sum.
const GRAIN: usize = 512;
/// The same for blocks, which hold eight.
const BLOCK_GRAIN: usize = GRAIN / 8;

/// Constraints with room for a Jacobi iteration.
pub struct Jacobi {
    pub constraints: Arrangement,
    /// How many constraints meet at each particle: those that resist stretch, and those that resist bending.
    counts: Vec<[f32; 2]>,
    /// nᵢ for the present share of hinges.
    splits: Vec<f32>,
    share: f32,
    rest: Scratch<Particle>,
    /// The particles of cloths that are not in strips.
    loose: Vec<Range<usize>>,
    grids: Vec<Scratch<Block>>,
    partial: Vec<[f64; 2]>,
}

/// Corrections, and positions before the last iteration.
struct Scratch<T> {
    /// Sums of corrections, and in the place of the inverse mass 1/nᵢ.
    sums: Vec<T>,
    before: Vec<T>,
}

/// What an iteration saw before it moved anything; sums over all particles, in a fixed order.
pub struct Progress {
    /// ‖Δx‖, m.
    pub correction: f64,
    /// Δx · (xᵏ − xᵏ⁻¹), m²: below zero where the correction takes back what the iteration before did.
    pub along: f64,
}

impl Jacobi {
    pub fn new(model: &Model, compliance: Compliance) -> Self {
        let constraints = Arrangement::new(model, compliance);
        let mut counts = vec![[0.0; 2]; model.particles()];
        fn count<const N: usize, const P: usize>(counts: &mut [[f32; 2]], kind: usize, rows: &[Row<N, P>]) {
            rows.iter().flat_map(|row| row.particles).for_each(|i| counts[i as usize][kind] += 1.0);
        }
        count(&mut counts, 0, &model.distance);
        count(&mut counts, 0, &model.stvk);
        count(&mut counts, 1, &model.dihedral);
        count(&mut counts, 1, &model.isometric);
        count(&mut counts, 1, &model.triangle_bend);
        let len = model.items();
        let in_strips = |start| constraints.grids.iter().any(|grid| grid.map.range().start == start);
        let vertices = model.cloths.iter().map(|cloth| cloth.vertices.clone());
        let loose: Vec<_> = vertices.filter(|range| !in_strips(range.start)).collect();
        let grids = constraints.grids.iter().map(|grid| Scratch::new(grid.map.blocks())).collect();
        Jacobi {
            counts,
            splits: vec![1.0; len],
            share: f32::NAN,
            rest: Scratch::new(len),
            loose,
            grids,
            partial: Vec::new(),
            constraints,
        }
    }

    /// Splits the masses, hinges having the share `share` of a spring, and brings the grids into their strips.
    pub fn begin(&mut self, substep: &mut Substep<'_>, share: f32) {
        if substep.pins_moved {
            self.constraints.update_anchors(substep.x);
        }
        if share != self.share {
            self.set_share(substep, share);
        }
        scale_masses(substep, |x, start, split| x.w = start.w * split, &self.splits);
        self.constraints.load(substep.team, substep.level, substep.x);
    }

    fn set_share(&mut self, substep: &mut Substep<'_>, share: f32) {
        self.share = share;
        let sums = &mut self.rest.sums;
        for ((&[stretch, bend], split), sum) in self.counts.iter().zip(&mut self.splits).zip(sums.iter_mut())
        {
            *split = (stretch + share * bend).max(share);
            *sum = Particle { p: [0.0; 3], w: 1.0 / *split };
        }
        for (grid, scratch) in self.constraints.grids.iter().zip(&mut self.grids) {
            let sums = &sums[grid.map.range()];
            grid.map.load(substep.team, substep.level, sums, &mut scratch.sums);
        }
    }

    /// One iteration: x ← x + rate · Δx + momentum · (x − x before the last). Then tethers and contacts, each in place.
    /// Multipliers change in the same way.
    pub fn iterate<F: Family>(
        &mut self,
        substep: &mut Substep<'_>,
        family: F,
        blend: Blend,
        last: bool,
    ) -> Progress {
        let collide = substep.touching();
        let (team, level) = (&mut *substep.team, substep.level);
        let mut sums = [0.0; 2];
        let mut add = |part: [f64; 2]| sums = [sums[0] + part[0], sums[1] + part[1]];
        for (grid, scratch) in self.constraints.grids.iter_mut().zip(&mut self.grids) {
            let Scratch { sums, before } = scratch;
            grid.sweeps.accumulate_elastic(team, level, &mut grid.blocks, sums, family, blend);
            add(team.sum_chunks3(
                &mut grid.blocks,
                sums,
                before,
                BLOCK_GRAIN,
                &mut self.partial,
                |x, sums, before| advance_blocks(level, x, sums, before, blend),
            ));
            grid.sweeps.tie(team, level, &mut grid.blocks, family);
            if collide || last {
                grid.map.store(team, level, &grid.blocks, &mut substep.x[grid.map.range()]);
            }
        }
        if !self.loose.is_empty() {
            let Scratch { sums, before } = &mut self.rest;
            self.constraints.rest.accumulate_elastic(team, level, substep.x, sums, family, blend);
            for range in &self.loose {
                let [x, sums, before] =
                    [&mut *substep.x, sums, before].map(|particles| &mut particles[range.clone()]);
                add(team.sum_chunks3(x, sums, before, GRAIN, &mut self.partial, |x, sums, before| {
                    advance_particles(level, x, sums, before, blend)
                }));
            }
            self.constraints.rest.tie(team, level, substep.x, family);
        }
        substep.clock.lap(Stage::Solve);
        if collide {
            substep.collide();
            if !last {
                self.constraints.load(substep.team, substep.level, substep.x);
            }
        }
        Progress { correction: sums[0].sqrt(), along: sums[1] }
    }

    /// Joins the masses again.
    pub fn end(&mut self, substep: &mut Substep<'_>) {
        scale_masses(substep, |x, start, _| x.w = start.w, &self.splits);
        substep.clock.lap(Stage::Solve);
    }
}

impl<T: Clone + Default> Scratch<T> {
    fn new(len: usize) -> Self {
        Scratch { sums: vec![T::default(); len], before: vec![T::default(); len] }
    }
}

fn scale_masses(
    substep: &mut Substep<'_>,
    change: impl Fn(&mut Particle, &Particle, f32) + Sync,
    splits: &[f32],
) {
    let start = substep.start;
    substep.team.for_each_chunk(substep.x, GRAIN, |first, x| {
        for ((x, start), &split) in x.iter_mut().zip(&start[first..]).zip(&splits[first..]) {
            change(x, start, split);
        }
    });
}
