//! All constraints of a model as coloured sweeps: what every position method runs on.
//!
//! Regular grids are swept in strips, everything else particle by particle. What is done to each
//! constraint is a [`Family`] of kernels, one for each kind: projections with compliance, rigid ones, forces.

use std::ops::Range;

use super::Substep;
use super::palette::Palette;
use crate::color::{Phantoms, Row, Splitting, StripMap, gathered_sweep};
use crate::constraint::{dihedral, distance, isometric, stvk, tether, triangle_bend};
use crate::error::BuildError;
use crate::lanes::{LANES, SimdLevel};
use crate::model::{ClothPart, Model, Tether};
use crate::par::Team;
use crate::params::{Coloring, Params};
use crate::step::Stage;
use crate::wide::{Blend, Block, Gathered, Keep, Kernel, Layout, Particle, Strips, Sweep};

/// One kernel for each kind of constraint.
pub trait Family: Copy + Sync {
    /// For springs.
    fn distance(&self) -> impl Kernel<2, 2, 1>;
    /// For dihedral hinges.
    fn dihedral(&self) -> impl Kernel<4, 2, 1>;
    /// For isometric hinges.
    fn isometric(&self) -> impl Kernel<4, 4, 3>;
    /// For triangle bending.
    fn triangle_bend(&self) -> impl Kernel<3, 2, 1>;
    /// For membrane triangles.
    fn stvk(&self) -> impl Kernel<3, { stvk::PARAMS }, 3>;
    /// For tethers; `stiffness` (N/m) is for families that cannot hold them rigidly.
    fn tether(&self, stiffness: f32) -> impl Kernel<1, 6, 1>;
}

/// XPBD: each constraint with its compliance.
#[derive(Clone, Copy, Debug)]
pub struct Compliant {
    /// 1/h², 1/s².
    pub inv_h2: f32,
}

impl Family for Compliant {
    fn distance(&self) -> impl Kernel<2, 2, 1> {
        distance::Project { inv_h2: self.inv_h2 }
    }
    fn dihedral(&self) -> impl Kernel<4, 2, 1> {
        dihedral::Project { inv_h2: self.inv_h2 }
    }
    fn isometric(&self) -> impl Kernel<4, 4, 3> {
        isometric::Project { inv_h2: self.inv_h2, share: 1.0 }
    }
    fn triangle_bend(&self) -> impl Kernel<3, 2, 1> {
        triangle_bend::Project { inv_h2: self.inv_h2 }
    }
    fn stvk(&self) -> impl Kernel<3, { stvk::PARAMS }, 3> {
        stvk::Project { inv_h2: self.inv_h2 }
    }
    fn tether(&self, _: f32) -> impl Kernel<1, 6, 1> {
        tether::Project { inv_h2: self.inv_h2 }
    }
}

/// Elastic forces, N.
#[derive(Clone, Copy, Debug)]
pub struct Forces;

impl Family for Forces {
    fn distance(&self) -> impl Kernel<2, 2, 1> {
        distance::Force
    }
    fn dihedral(&self) -> impl Kernel<4, 2, 1> {
        dihedral::Force
    }
    fn isometric(&self) -> impl Kernel<4, 4, 3> {
        isometric::Force
    }
    fn triangle_bend(&self) -> impl Kernel<3, 2, 1> {
        triangle_bend::Force
    }
    fn stvk(&self) -> impl Kernel<3, { stvk::PARAMS }, 3> {
        stvk::Force
    }
    fn tether(&self, stiffness: f32) -> impl Kernel<1, 6, 1> {
        tether::Force { stiffness }
    }
}

/// What kind of particles are swept.
pub trait Space {
    /// An element of the state.
    type Item: Send;
    /// An operation on N of them.
    type Op<const N: usize>: Layout<N, Item = Self::Item>;
}

/// A grid in strips.
pub struct OnStrips;

impl Space for OnStrips {
    type Item = Block;
    type Op<const N: usize> = Strips<N>;
}

/// Any particles.
pub struct OnParticles;

impl Space for OnParticles {
    type Item = Particle;
    type Op<const N: usize> = Gathered<N>;
}

/// The sweeps over one set of particles.
pub struct Sweeps<S: Space> {
    /// Springs.
    pub distance: Sweep<S::Op<2>, 2, 2, 1>,
    /// Dihedral hinges.
    pub dihedral: Sweep<S::Op<4>, 4, 2, 1>,
    /// Isometric hinges.
    pub isometric: Sweep<S::Op<4>, 4, 4, 3>,
    /// Triangle bending.
    pub triangle_bend: Sweep<S::Op<3>, 3, 2, 1>,
    /// Membrane triangles.
    pub stvk: Sweep<S::Op<3>, 3, { stvk::PARAMS }, 3>,
    /// Tethers.
    pub tether: Sweep<S::Op<1>, 1, 6, 1>,
    /// Stiffness of tethers where they are not rigid, N/m.
    tether_stiffness: f32,
}

impl<S: Space> Sweeps<S> {
    /// Solves every constraint once, in place: bending first, so that what is stiffest has the last word.
    pub fn iterate<F: Family>(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        state: &mut [S::Item],
        family: F,
        keep: Keep,
    ) {
        self.isometric.run(team, level, state, family.isometric(), keep);
        self.dihedral.run(team, level, state, family.dihedral(), keep);
        self.triangle_bend.run(team, level, state, family.triangle_bend(), keep);
        self.stvk.run(team, level, state, family.stvk(), keep);
        self.distance.run(team, level, state, family.distance(), keep);
        self.tie(team, level, state, family);
    }

    /// Adds what every constraint asks for, from the state as it is, to `sums`.
    pub fn accumulate<F: Family>(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        state: &mut [S::Item],
        sums: &mut [S::Item],
        family: F,
        blend: Blend,
    ) {
        let tether = family.tether(self.tether_stiffness);
        self.accumulate_elastic(team, level, state, sums, family, blend);
        self.tether.accumulate(team, level, state, sums, tether, Blend::PLAIN);
    }

    /// The same without the tethers.
    pub fn accumulate_elastic<F: Family>(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        state: &mut [S::Item],
        sums: &mut [S::Item],
        family: F,
        blend: Blend,
    ) {
        self.isometric.accumulate(team, level, state, sums, family.isometric(), blend);
        self.dihedral.accumulate(team, level, state, sums, family.dihedral(), blend);
        self.triangle_bend.accumulate(team, level, state, sums, family.triangle_bend(), blend);
        self.stvk.accumulate(team, level, state, sums, family.stvk(), blend);
        self.distance.accumulate(team, level, state, sums, family.distance(), blend);
    }

    /// Brings every particle back within the reach of its tethers, in place.
    pub fn tie<F: Family>(&mut self, team: &mut Team, level: SimdLevel, state: &mut [S::Item], family: F) {
        self.tether.run(team, level, state, family.tether(self.tether_stiffness), Keep::NOTHING);
    }

    /// The number of colours of all kinds.
    pub fn colors(&self) -> usize {
        self.distance.colors()
            + self.dihedral.colors()
            + self.isometric.colors()
            + self.triangle_bend.colors()
            + self.stvk.colors()
            + self.tether.colors()
    }

    /// Σ |C + α̃ λ|², tethers left out.
    pub fn residual<F: Family>(&self, state: &mut [S::Item], family: F) -> f64 {
        self.distance.residual(state, family.distance())
            + self.dihedral.residual(state, family.dihedral())
            + self.isometric.residual(state, family.isometric())
            + self.triangle_bend.residual(state, family.triangle_bend())
            + self.stvk.residual(state, family.stvk())
    }

    /// Puts the tethers' anchors where their particles are now; those of released pins go idle.
    pub fn update_anchors(&mut self, x: &[Particle]) {
        self.tether.update_params(|params| {
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
}

/// A regular grid, swept in strips.
pub struct GridCloth {
    /// Where its particles are in the strips.
    pub map: StripMap,
    /// The strips.
    pub blocks: Vec<Block>,
    /// The constraints.
    pub sweeps: Sweeps<OnStrips>,
}

/// How many of the largest grids each member of a team must have room for in its share, or one of them has too much to do.
const MANY_GRIDS: usize = 4;

/// Whether constraints have the compliance of the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compliance {
    /// That of the fabric.
    Fabric,
    /// None: position based dynamics has stiffness by repetition only.
    Rigid,
}

/// Compliance of rows without any, as α̃ (1/kg). It is nothing beside the inverse mass of a vertex, but where all
/// particles of a constraint are held it keeps 0/0 away. Springs that skip a vertex have twice as much: so a kernel can
/// tell those that resist bending.
pub const RIGID: f32 = 1e-7;

/// A model's constraints, arranged.
pub struct Arrangement {
    /// The regular grids.
    pub grids: Vec<GridCloth>,
    /// The particles of each.
    ranges: Vec<Range<usize>>,
    /// Teams of one, one for each member of the team, for members that solve whole grids.
    alone: Vec<Team>,
    /// All cloths that are not regular grids.
    pub rest: Sweeps<OnParticles>,
    /// With phantom vertices: the particles that `rest` works on.
    phantoms: Option<Phantoms>,
}

impl Arrangement {
    /// Arranges the constraints of `model` with the colouring that `params` ask for.
    pub fn colored(model: &Model, compliance: Compliance, params: &Params) -> Result<Self, BuildError> {
        if params.coloring == Coloring::Best {
            return Ok(Self::new(model, compliance));
        }
        let mut rows = Rows::default();
        for cloth in 0..model.cloths.len() {
            rows.join(Rows::with(model, cloth, compliance));
        }
        let (rest, phantoms) = match params.coloring {
            Coloring::Phantom => {
                let (rest, phantoms) = rows.divided(model.particles(), params.phantom_colors as usize);
                (rest, Some(phantoms))
            }
            _ => (rows.colored(model.particles(), &Palette::new(model, params.coloring)?), None),
        };
        Ok(Arrangement { grids: Vec::new(), ranges: Vec::new(), alone: Vec::new(), rest, phantoms })
    }

    /// Arranges the constraints of `model`.
    pub fn new(model: &Model, compliance: Compliance) -> Self {
        let mut grids = Vec::new();
        let mut rest = Rows::default();
        for cloth in 0..model.cloths.len() {
            let rows = Rows::with(model, cloth, compliance);
            let part = &model.cloths[cloth];
            match part.grid.and_then(|grid| StripMap::new(&grid, part.vertices.start)) {
                Some(map) => {
                    let blocks = vec![Block::default(); map.blocks()];
                    grids.push(GridCloth { blocks, sweeps: rows.in_strips(&map), map });
                }
                None => rest.join(rows),
            }
        }
        let rest = rest.colored(model.particles(), &Palette::Best);
        let ranges = grids.iter().map(|grid| grid.map.range()).collect();
        Arrangement { grids, ranges, alone: Vec::new(), rest, phantoms: None }
    }

    /// Copies the grids' particles into their strips, and all particles to their phantoms.
    pub fn load(&mut self, team: &mut Team, level: SimdLevel, x: &[Particle]) {
        if let Some(phantoms) = &mut self.phantoms {
            phantoms.load(team, x);
        }
        for grid in &mut self.grids {
            grid.map.load(team, level, &x[grid.map.range()], &mut grid.blocks);
        }
    }

    /// Solves every constraint once, in place: grids in their strips, the rest in `x` or on its phantoms. These are `load`ed from `x` before, and `store`d
    /// there afterwards, if they are to be.
    fn iterate<F: Family>(
        &mut self,
        (team, level): (&mut Team, SimdLevel),
        x: &mut [Particle],
        family: F,
        keep: Keep,
        [load, store]: [bool; 2],
    ) {
        self.each_grid(team, x, |grid, team, x| {
            if load {
                grid.map.load(team, level, x, &mut grid.blocks);
            }
            grid.sweeps.iterate(team, level, &mut grid.blocks, family, keep);
            if store {
                grid.map.store(team, level, &grid.blocks, x);
            }
        });
        let Some(phantoms) = &mut self.phantoms else {
            return self.rest.iterate(team, level, x, family, keep);
        };
        if load {
            phantoms.load(team, x);
        }
        self.rest.iterate(team, level, &mut phantoms.x, family, keep);
        phantoms.average(team);
        if store {
            phantoms.store(team, x);
        }
    }

    /// Calls `work(grid, team, particles)` for every grid. Where there are several, each member of the team does whole ones by itself: there is nothing to wait for.
    fn each_grid(
        &mut self,
        team: &mut Team,
        x: &mut [Particle],
        work: impl Fn(&mut GridCloth, &mut Team, &mut [Particle]) + Sync,
    ) {
        let Arrangement { grids, ranges, alone, .. } = self;
        let largest = ranges.iter().map(|range| range.len()).max().unwrap_or(0);
        let all: usize = ranges.iter().map(|range| range.len()).sum();
        if team.count() > 1 && all > 0 && all >= MANY_GRIDS * largest * team.count() {
            alone.resize_with(team.count(), || Team::new(1));
            team.for_each_part(grids, ranges, x, alone, |grid, x, alone| work(grid, alone, x));
            return;
        }
        for (grid, range) in grids.iter_mut().zip(ranges) {
            work(grid, team, &mut x[range.clone()]);
        }
    }

    /// A substep by Gauss–Seidel: every iteration solves all constraints in place, then the contacts. Multipliers start from
    /// zero, and are there afterwards if they are to be measured.
    pub fn gauss_seidel<F: Family>(&mut self, substep: &mut Substep<'_>, family: F) {
        if substep.pins_moved {
            self.update_anchors(substep.x);
        }
        let collide = substep.touching();
        for iteration in 0..substep.iterations {
            let (team, level) = (&mut *substep.team, substep.level);
            let keep = Keep::within(iteration, substep.iterations, substep.measure);
            let copy = [iteration == 0 || collide, iteration + 1 == substep.iterations || collide];
            self.iterate((team, level), substep.x, family, keep, copy);
            substep.clock.lap(Stage::Solve);
            if collide {
                substep.collide();
            }
        }
    }

    /// Puts the tethers' anchors where their particles are now.
    pub fn update_anchors(&mut self, x: &[Particle]) {
        self.grids.iter_mut().for_each(|grid| grid.sweeps.update_anchors(x));
        self.rest.update_anchors(x);
    }

    /// The number of colours that are solved one after the other.
    pub fn colors(&self) -> usize {
        self.grids.iter().map(|g| g.sweeps.colors()).max().unwrap_or(0).max(self.rest.colors())
    }

    /// ‖C + α̃ λ‖; the strips must hold what `x` does.
    pub fn residual<F: Family>(&mut self, x: &mut [Particle], family: F) -> f64 {
        let grids: f64 = self.grids.iter_mut().map(|g| g.sweeps.residual(&mut g.blocks, family)).sum();
        let x = self.phantoms.as_mut().map_or(x, |phantoms| &mut phantoms.x[..]);
        (grids + self.rest.residual(x, family)).sqrt()
    }
}

/// The constraints of some cloths as plain rows.
#[derive(Clone, Default)]
struct Rows {
    distance: Vec<Row<2, 2>>,
    dihedral: Vec<Row<4, 2>>,
    isometric: Vec<Row<4, 4>>,
    triangle_bend: Vec<Row<3, 2>>,
    stvk: Vec<Row<3, { stvk::PARAMS }>>,
    tether: Vec<Row<1, 6>>,
    tether_stiffness: f32,
}

impl Rows {
    fn of(model: &Model, cloth: usize) -> Self {
        let cloth = &model.cloths[cloth];
        // Where the anchor is changes as the pins move.
        let tether = |t: &Tether| {
            let a = model.start[t.anchor as usize];
            Row { particles: [t.particle], params: [0.0, t.reach, a.x, a.y, a.z, f32::from_bits(t.anchor)] }
        };
        Rows {
            distance: model.distance[cloth.distance.clone()].to_vec(),
            dihedral: model.dihedral[cloth.dihedral.clone()].to_vec(),
            isometric: model.isometric[cloth.isometric.clone()].to_vec(),
            triangle_bend: model.triangle_bend[cloth.triangle_bend.clone()].to_vec(),
            stvk: model.stvk[cloth.stvk.clone()].to_vec(),
            tether: model.tethers[cloth.tethers.clone()].iter().map(tether).collect(),
            tether_stiffness: cloth.tether_stiffness,
        }
    }

    fn with(model: &Model, cloth: usize, compliance: Compliance) -> Self {
        let mut rows = Rows::of(model, cloth);
        if compliance == Compliance::Rigid {
            rows.stiffen(&model.cloths[cloth]);
        }
        rows
    }

    fn stiffen(&mut self, cloth: &ClothPart) {
        let skips = |[a, b]: [u32; 2]| {
            cloth.grid.is_some_and(|grid| {
                let at = |i: u32| {
                    let i = i as usize - cloth.vertices.start;
                    (i % grid.columns(), i / grid.columns())
                };
                let ((xa, za), (xb, zb)) = (at(a), at(b));
                xa.abs_diff(xb).max(za.abs_diff(zb)) > 1
            })
        };
        for row in &mut self.distance {
            row.params[0] = if skips(row.particles) { 2.0 * RIGID } else { RIGID };
        }
        self.dihedral.iter_mut().for_each(|row| row.params[0] = RIGID);
        self.isometric.iter_mut().for_each(|row| row.params[0] = RIGID);
        self.triangle_bend.iter_mut().for_each(|row| row.params[0] = RIGID);
        // 1/A, a factor of the whole compliance; that projection has its own guard.
        self.stvk.iter_mut().for_each(|row| row.params[0] = 0.0);
    }

    fn join(&mut self, other: Rows) {
        self.distance.extend(other.distance);
        self.dihedral.extend(other.dihedral);
        self.isometric.extend(other.isometric);
        self.triangle_bend.extend(other.triangle_bend);
        self.stvk.extend(other.stvk);
        if !other.tether.is_empty() {
            // One figure for all: the softest, which is stable for each.
            let known = if self.tether.is_empty() { f32::INFINITY } else { self.tether_stiffness };
            self.tether_stiffness = known.min(other.tether_stiffness);
        }
        self.tether.extend(other.tether);
    }

    fn in_strips(&self, map: &StripMap) -> Sweeps<OnStrips> {
        Sweeps {
            distance: map.sweep(&self.distance),
            dihedral: map.sweep(&self.dihedral),
            isometric: map.sweep(&self.isometric),
            triangle_bend: map.sweep(&self.triangle_bend),
            stvk: map.sweep(&self.stvk),
            tether: map.sweep(&self.tether),
            tether_stiffness: self.tether_stiffness,
        }
    }

    fn colored(&self, particles: usize, palette: &Palette) -> Sweeps<OnParticles> {
        fn color<const N: usize, const P: usize, const R: usize>(
            rows: &[Row<N, P>],
            particles: usize,
            palette: &Palette,
        ) -> Sweep<Gathered<N>, N, P, R> {
            gathered_sweep(rows, &palette.colors(particles, rows), particles)
        }
        Sweeps {
            distance: gathered_sweep(
                &self.distance,
                &palette.pair_colors(particles, &self.distance),
                particles,
            ),
            dihedral: color(&self.dihedral, particles, palette),
            isometric: color(&self.isometric, particles, palette),
            triangle_bend: color(&self.triangle_bend, particles, palette),
            stvk: color(&self.stvk, particles, palette),
            tether: color(&self.tether, particles, palette),
            tether_stiffness: self.tether_stiffness,
        }
    }

    /// In at most `colors` colours for each kind, on phantoms where more constraints meet.
    fn divided(&self, particles: usize, colors: usize) -> (Sweeps<OnParticles>, Phantoms) {
        let mut splitting = Splitting::new(particles, colors);
        let distance = splitting.divide(&self.distance);
        let dihedral = splitting.divide(&self.dihedral);
        let isometric = splitting.divide(&self.isometric);
        let triangle_bend = splitting.divide(&self.triangle_bend);
        let stvk = splitting.divide(&self.stvk);
        let tether = splitting.divide(&self.tether);
        let phantoms = splitting.finish();
        let all = phantoms.particles();
        let sweeps = Sweeps {
            distance: gathered_sweep(&phantoms.rows(&self.distance, &distance), &distance.colors, all),
            dihedral: gathered_sweep(&phantoms.rows(&self.dihedral, &dihedral), &dihedral.colors, all),
            isometric: gathered_sweep(&phantoms.rows(&self.isometric, &isometric), &isometric.colors, all),
            triangle_bend: gathered_sweep(
                &phantoms.rows(&self.triangle_bend, &triangle_bend),
                &triangle_bend.colors,
                all,
            ),
            stvk: gathered_sweep(&phantoms.rows(&self.stvk, &stvk), &stvk.colors, all),
            tether: gathered_sweep(&phantoms.rows(&self.tether, &tether), &tether.colors, all),
            tether_stiffness: self.tether_stiffness,
        };
        (sweeps, phantoms)
    }
}
