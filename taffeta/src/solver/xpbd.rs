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

use super::{Method, Substep};
use crate::color::{Row, StripMap, edge_colors, gathered_sweep, greedy_colors};
use crate::constraint::{dihedral, distance, isometric, tether};
use crate::lanes::{LANES, SimdLevel};
use crate::model::{Model, Tether};
use crate::par::Team;
use crate::step::Stage;
use crate::wide::{Block, Gathered, Layout, Particle, Strips, Sweep};

/// The sweeps over one set of particles, in either layout.
struct Sweeps<D, H, T>
where
    D: Layout<2>,
    H: Layout<4>,
    T: Layout<1>,
{
    distance: Sweep<D, 2, 2, 1>,
    dihedral: Sweep<H, 4, 2, 1>,
    isometric: Sweep<H, 4, 4, 3>,
    tether: Sweep<T, 1, 6, 1>,
}

impl<D, H, T, I> Sweeps<D, H, T>
where
    D: Layout<2, Item = I>,
    H: Layout<4, Item = I>,
    T: Layout<1, Item = I>,
{
    fn iterate(&mut self, team: &mut Team, level: SimdLevel, state: &mut [I], inv_h2: f32, keep: bool) {
        self.isometric.run(team, level, state, isometric::Project { inv_h2 }, keep);
        self.dihedral.run(team, level, state, dihedral::Project { inv_h2 }, keep);
        self.distance.run(team, level, state, distance::Project { inv_h2 }, keep);
        self.tether.run(team, level, state, tether::Project { inv_h2 }, false);
    }

    fn reset(&mut self) {
        self.distance.reset();
        self.isometric.reset();
        self.dihedral.reset();
    }

    fn colors(&self) -> usize {
        self.distance.colors() + self.dihedral.colors() + self.isometric.colors() + self.tether.colors()
    }

    fn residual(&self, state: &mut [I], inv_h2: f32) -> f64 {
        self.distance.residual(state, distance::Project { inv_h2 })
            + self.dihedral.residual(state, dihedral::Project { inv_h2 })
            + self.isometric.residual(state, isometric::Project { inv_h2 })
    }
}

/// A regular grid, solved in strips.
struct GridCloth {
    map: StripMap,
    blocks: Vec<Block>,
    sweeps: Sweeps<Strips<2>, Strips<4>, Strips<1>>,
}

/// The method.
pub struct Xpbd {
    grids: Vec<GridCloth>,
    /// All cloths that are not regular grids.
    rest: Sweeps<Gathered<2>, Gathered<4>, Gathered<1>>,
}

/// A tether as a row; where the anchor is changes as the pins move.
fn tether_rows(tethers: &[Tether], model: &Model) -> Vec<Row<1, 6>> {
    let row = |t: &Tether| {
        let a = model.start[t.anchor as usize];
        Row { particles: [t.particle], params: [0.0, t.reach, a.x, a.y, a.z, f32::from_bits(t.anchor)] }
    };
    tethers.iter().map(row).collect()
}

impl Xpbd {
    /// Arranges the constraints of `model`.
    pub fn new(model: &Model) -> Self {
        let (mut distance, mut dihedral, mut isometric, mut tether) = (vec![], vec![], vec![], vec![]);
        let mut grids = Vec::new();
        for cloth in &model.cloths {
            let tethers = tether_rows(&model.tethers[cloth.tethers.clone()], model);
            let map = cloth.grid.and_then(|grid| StripMap::new(&grid, cloth.vertices.start));
            if let Some(map) = map {
                let sweeps = Sweeps {
                    distance: map.sweep(&model.distance[cloth.distance.clone()]),
                    dihedral: map.sweep(&model.dihedral[cloth.dihedral.clone()]),
                    isometric: map.sweep(&model.isometric[cloth.isometric.clone()]),
                    tether: map.sweep(&tethers),
                };
                grids.push(GridCloth { blocks: vec![Block::default(); map.blocks()], map, sweeps });
            } else {
                distance.extend_from_slice(&model.distance[cloth.distance.clone()]);
                dihedral.extend_from_slice(&model.dihedral[cloth.dihedral.clone()]);
                isometric.extend_from_slice(&model.isometric[cloth.isometric.clone()]);
                tether.extend(tethers);
            }
        }
        let n = model.particles();
        let hinges = |rows: &[[u32; 4]]| greedy_colors(n, rows);
        let pairs: Vec<_> = distance.iter().map(|r| r.particles).collect();
        let quads: Vec<_> = dihedral.iter().map(|r| r.particles).collect();
        let flat: Vec<_> = isometric.iter().map(|r| r.particles).collect();
        let single: Vec<_> = tether.iter().map(|r| r.particles).collect();
        let rest = Sweeps {
            distance: gathered_sweep(&distance, &edge_colors(n, &pairs), n),
            dihedral: gathered_sweep(&dihedral, &hinges(&quads), n),
            isometric: gathered_sweep(&isometric, &hinges(&flat), n),
            tether: gathered_sweep(&tether, &greedy_colors(n, &single), n),
        };
        Xpbd { grids, rest }
    }
}

/// Puts the tethers' anchors where their particles are now; those of released pins go idle.
fn update_anchors<T: Layout<1>>(sweep: &mut Sweep<T, 1, 6, 1>, x: &[Particle]) {
    sweep.update_params(|params| {
        for lane in 0..LANES {
            // Idle lanes have no reach.
            if params[1].0[lane] <= 0.0 {
                continue;
            }
            let anchor = x[params[5].0[lane].to_bits() as usize];
            params[0].0[lane] = if anchor.w == 0.0 { 0.0 } else { f32::INFINITY };
            for c in 0..3 {
                params[2 + c].0[lane] = anchor.p[c];
            }
        }
    });
}

impl Method for Xpbd {
    fn solve(&mut self, substep: &mut Substep<'_>) {
        let inv_h2 = 1.0 / (substep.h * substep.h);
        let keep = substep.iterations > 1 || substep.measure;
        if substep.pins_moved {
            self.grids.iter_mut().for_each(|g| update_anchors(&mut g.sweeps.tether, substep.x));
            update_anchors(&mut self.rest.tether, substep.x);
        }
        let (team, level) = (&mut *substep.team, substep.level);
        for grid in &mut self.grids {
            grid.map.load(team, level, substep.x, &mut grid.blocks);
        }
        if keep {
            self.grids.iter_mut().for_each(|grid| grid.sweeps.reset());
            self.rest.reset();
        }
        for iteration in 0..substep.iterations {
            let (team, level) = (&mut *substep.team, substep.level);
            let last = iteration + 1 == substep.iterations;
            let collide = !substep.bodies.is_empty();
            for grid in &mut self.grids {
                if iteration > 0 && collide {
                    grid.map.load(team, level, substep.x, &mut grid.blocks);
                }
                grid.sweeps.iterate(team, level, &mut grid.blocks, inv_h2, keep);
                if last || collide {
                    grid.map.store(team, level, &grid.blocks, substep.x);
                }
            }
            self.rest.iterate(team, level, substep.x, inv_h2, keep);
            substep.clock.lap(Stage::Solve);
            if collide {
                substep.collide();
            }
        }
    }

    fn colors(&self) -> usize {
        let grids = self.grids.iter().map(|g| g.sweeps.colors()).max().unwrap_or(0);
        grids.max(self.rest.colors())
    }

    fn residual(&mut self, x: &mut [Particle], h: f32) -> Option<f64> {
        let inv_h2 = 1.0 / (h * h);
        let grids: f64 = self.grids.iter_mut().map(|g| g.sweeps.residual(&mut g.blocks, inv_h2)).sum();
        Some((grids + self.rest.residual(x, inv_h2)).sqrt())
    }
}
