//! What the hierarchical methods share: from the coarsest level to the finest.
//!
//! In one iteration of Gauss–Seidel an error travels by one spring, so that the weight of a cloth of n rows takes n
//! iterations to reach the pins. On a coarse level the way is short. From the coarsest level down, for each level:
//!
//! - qⱼ ← where its vertices are; project its springs, n times; Δⱼ = pⱼ − qⱼ;
//! - every vertex below takes over what its parents did: xᵢ ← xᵢ + Σⱼ wᵢⱼ Δⱼ;
//!
//! then the cloth itself is solved as `pbd-gs` does, with its hinges, tethers and contacts.
//!
//! A coarse spring is one-sided, C = max(0, |p₁ − p₂| − d): it is as long as the cloth between its ends, and cloth that is
//! pushed together folds. A two-sided one would be a rod along which it could not.
//!
//! Momentum: a coarse vertex has the mass that its children lend it, Mⱼ = Σᵢ wᵢⱼ mᵢ, so a projection that keeps Σ Mⱼ Δⱼ = 0 keeps
//! the linear momentum of the cloth, Σᵢ mᵢ Δᵢ = Σⱼ Mⱼ Δⱼ. Angular momentum is not kept: the children of a vertex
//! are moved alike, but they are not all where it is.

use std::ops::Range;

use super::pbd::Partly;
use super::sweeps::{Arrangement, Compliance};
use super::{Method, Substep};
use crate::color::{PADDING, Row, StripMap, edge_colors, gathered_sweep};
use crate::error::BuildError;
use crate::lanes::{Lane, Point, SimdLevel, V3};
use crate::mesh::hierarchy::{Heirs, Level, Parents, Sheet};
use crate::model::{ClothPart, Model};
use crate::par::Team;
use crate::params::{Params, Pbd};
use crate::wide::{Block, Gathered, Keep, Kernel, Particle, Strips, Sweep};

/// Coarse levels of a cloth if the scene does not say.
pub const LEVELS: usize = 3;
/// Levels with fewer vertices are solved by one thread: waiting for each other at every colour would take longer.
const SOLO: usize = 2_000;
/// Particles that are handed to a thread together.
const GRAIN: usize = 64;

/// A method with coarse levels.
pub struct Hierarchical {
    cloth: Arrangement,
    stiffness: Pbd,
    parts: Vec<Part>,
    /// The calling thread alone.
    solo: Team,
}

/// The levels of one cloth.
struct Part {
    particles: Range<usize>,
    heirs: Heirs,
    /// The finest first.
    levels: Vec<CoarseLevel>,
}

struct CoarseLevel {
    /// The particles that are its vertices.
    particles: Vec<u32>,
    /// Their inverse masses on this level, 1/kg.
    weight: Vec<f32>,
    state: Vec<Particle>,
    /// Where they were before, then by how much they have moved, m.
    change: Vec<[f32; 4]>,
    grid: Option<CoarseGrid>,
    /// Springs that are not swept in strips.
    springs: Sweep<Gathered<2>, 2, 2, 1>,
    parents: Parents,
}

/// A level that is a regular grid and large enough for strips.
struct CoarseGrid {
    map: StripMap,
    blocks: Vec<Block>,
    springs: Sweep<Strips<2>, 2, 2, 1>,
}

/// How a method chooses the levels of a cloth, at most so many.
pub type Choose<'a> = dyn Fn(&Sheet<'_>, &ClothPart, usize) -> Vec<Level> + 'a;

impl Hierarchical {
    /// Arranges the constraints of `model` and of the levels that `choose` finds. If so many are `wanted`, it is an error
    /// if a cloth is too small for them.
    pub fn new(
        model: &Model,
        params: &Params,
        wanted: Option<usize>,
        heirs: Heirs,
        choose: &Choose<'_>,
    ) -> Result<Self, BuildError> {
        let mut parts = Vec::new();
        for cloth in &model.cloths {
            let sheet = sheet_of(model, cloth);
            let levels = choose(&sheet, cloth, wanted.unwrap_or(LEVELS));
            if let Some(wanted) = wanted.filter(|&wanted| levels.len() < wanted) {
                let (method, name) = (&params.method, &cloth.name);
                return Err(BuildError::field(
                    "simulation.hierarchy.levels",
                    match levels.len() {
                        0 => format!("'{name}' is too small for any level of '{method}'; use 'pbd-gs'"),
                        most => {
                            format!("is {wanted}, but '{name}' has room for {most} of '{method}' at most")
                        }
                    },
                ));
            }
            parts.push(Part::new(model, cloth, heirs, levels));
        }
        Ok(Hierarchical {
            cloth: Arrangement::new(model, Compliance::Rigid),
            stiffness: params.pbd.clone(),
            parts,
            solo: Team::new(1),
        })
    }
}

/// The most levels, up to `most`, of which `build` can make as many as it is asked for.
pub fn most_that_fit(most: usize, build: impl Fn(usize) -> Vec<Level>) -> Vec<Level> {
    let full = |levels: usize| Some(build(levels)).filter(|built| built.len() == levels);
    (1..=most).rev().find_map(full).unwrap_or_default()
}

/// A cloth of the model as something to make coarser.
fn sheet_of<'a>(model: &'a Model, cloth: &ClothPart) -> Sheet<'a> {
    let first = cloth.vertices.start as u32;
    let mut springs: Vec<[u32; 2]> =
        model.edges[cloth.edges.clone()].iter().map(|e| e.0.map(|v| v - first)).collect();
    if let Some(grid) = &cloth.grid {
        for z in 0..grid.cells_z {
            for x in 0..grid.cells_x {
                // The diagonal that is no edge of a triangle.
                springs.push(match grid.rising(x, z) {
                    true => [grid.vertex(x + 1, z), grid.vertex(x, z + 1)],
                    false => [grid.vertex(x, z), grid.vertex(x + 1, z + 1)],
                });
            }
        }
    }
    let mut held: Vec<bool> = model.inverse_mass[cloth.vertices.clone()].iter().map(|&w| w == 0.0).collect();
    for attachment in model.attachments.iter().filter(|a| cloth.vertices.contains(&(a.particle as usize))) {
        held[(attachment.particle - first) as usize] = true;
    }
    Sheet {
        rest: &model.start[cloth.vertices.clone()],
        triangles: model.triangles[cloth.triangles.clone()].iter().map(|t| t.map(|v| v - first)).collect(),
        springs,
        held,
    }
}

impl Part {
    fn new(model: &Model, cloth: &ClothPart, heirs: Heirs, levels: Vec<Level>) -> Self {
        let mass = |w: &f32| if *w > 0.0 { 1.0 / *w as f64 } else { 0.0 };
        let fine: Vec<f64> = model.inverse_mass[cloth.vertices.clone()].iter().map(mass).collect();
        let (mut below, mut coarse) = (fine.clone(), Vec::new());
        for level in levels {
            let children = if heirs == Heirs::Finest { &fine } else { &below };
            let masses = level.parents.gather(children, level.vertices.len());
            coarse.push(CoarseLevel::new(level, &masses, cloth.vertices.start as u32));
            below = masses;
        }
        Part { particles: cloth.vertices.clone(), heirs, levels: coarse }
    }

    fn solve(&mut self, substep: &mut Substep<'_>, solo: &mut Team, kernel: Taut) {
        for l in (0..self.levels.len()).rev() {
            let (finer, coarser) = self.levels.split_at_mut(l + 1);
            let level = &mut finer[l];
            let count = level.particles.len();
            let team = if count < SOLO { &mut *solo } else { &mut *substep.team };
            level.load(team, substep.x);
            if let (Heirs::Finer, Some(coarser)) = (self.heirs, coarser.first()) {
                coarser.hand_down(team, &mut level.state[..count]);
            }
            level.project(team, substep.level, kernel, substep.iterations);
            level.measure(team);
            if l == 0 || self.heirs == Heirs::Finest {
                level.hand_down(substep.team, &mut substep.x[self.particles.clone()]);
            }
        }
    }
}

impl CoarseLevel {
    fn new(level: Level, masses: &[f64], first: u32) -> Self {
        let count = level.vertices.len();
        let row = |&(particles, rest): &([u32; 2], f32)| Row { particles, params: [0.0, rest] };
        let mut rows: Vec<Row<2, 2>> = level.springs.iter().map(row).collect();
        let map = level.grid.and_then(|grid| Some((StripMap::new(&grid, 0)?, grid.columns() * grid.rows())));
        let grid = map.map(|(map, regular)| {
            let inside = |row: &Row<2, 2>| row.particles.iter().all(|&p| (p as usize) < regular);
            let (in_strips, others): (Vec<_>, Vec<_>) = rows.iter().partition(|row| inside(row));
            rows = others;
            let blocks = vec![Block::default(); map.blocks()];
            CoarseGrid { springs: map.sweep(&in_strips), blocks, map }
        });
        let ends: Vec<[u32; 2]> = rows.iter().map(|row| row.particles).collect();
        CoarseLevel {
            particles: level.vertices.iter().map(|v| v + first).collect(),
            weight: masses.iter().map(|&m| if m > 0.0 { (1.0 / m) as f32 } else { 0.0 }).collect(),
            state: vec![Particle::default(); count + PADDING],
            change: vec![[0.0; 4]; count],
            grid,
            springs: gathered_sweep(&rows, &edge_colors(count, &ends), count),
            parents: level.parents,
        }
    }

    /// Takes over where its vertices are, and which of them are held.
    fn load(&mut self, team: &mut Team, x: &[Particle]) {
        let (particles, weight) = (&self.particles, &self.weight);
        let state = &mut self.state[..particles.len()];
        team.for_each_chunk2(state, &mut self.change, GRAIN, |first, state, change| {
            for (i, (state, change)) in state.iter_mut().zip(change).enumerate() {
                let particle = x[particles[first + i] as usize];
                let w = if particle.w > 0.0 { weight[first + i] } else { 0.0 };
                *state = Particle { p: particle.p, w };
                *change = state.to_array();
            }
        });
    }

    fn project(&mut self, team: &mut Team, simd: SimdLevel, kernel: Taut, iterations: u32) {
        let others = self.springs.constraints() > 0;
        for iteration in 0..iterations {
            if let Some(CoarseGrid { map, blocks, springs }) = &mut self.grid {
                if iteration == 0 || others {
                    map.load(team, simd, &self.state, blocks);
                }
                springs.run(team, simd, blocks, kernel, Keep::NOTHING);
                if iteration + 1 == iterations || others {
                    map.store(team, simd, blocks, &mut self.state);
                }
            }
            if others {
                self.springs.run(team, simd, &mut self.state, kernel, Keep::NOTHING);
            }
        }
    }

    /// How far its vertices have moved.
    fn measure(&mut self, team: &mut Team) {
        let state = &self.state;
        team.for_each_chunk(&mut self.change, GRAIN, |first, change| {
            for (change, state) in change.iter_mut().zip(&state[first..]) {
                let now = state.to_array();
                for c in 0..4 {
                    change[c] = now[c] - change[c];
                }
            }
        });
    }

    /// Moves those below as their parents have moved; held ones stay.
    fn hand_down(&self, team: &mut Team, below: &mut [Particle]) {
        let (parents, change) = (&self.parents, &self.change);
        team.for_each_chunk(below, GRAIN, |first, below| {
            for (i, particle) in below.iter_mut().enumerate() {
                let mut sum = [0.0f32; 4];
                for &(parent, weight) in parents.of(first + i) {
                    let change = change[parent as usize];
                    for c in 0..4 {
                        sum[c] += weight * change[c];
                    }
                }
                if particle.w > 0.0 {
                    for c in 0..3 {
                        particle.p[c] += sum[c];
                    }
                }
            }
        });
    }

    fn colors(&self) -> usize {
        self.springs.colors() + self.grid.as_ref().map_or(0, |grid| grid.springs.colors())
    }
}

impl Method for Hierarchical {
    fn keeps_pushes(&self) -> bool {
        true
    }

    fn solve(&mut self, substep: &mut Substep<'_>) {
        let family = Partly::new(&self.stiffness, substep.iterations);
        let kernel = Taut { factor: family.stretch };
        for part in &mut self.parts {
            part.solve(substep, &mut self.solo, kernel);
        }
        self.cloth.gauss_seidel(substep, family);
    }

    fn colors(&self) -> usize {
        let levels = |part: &Part| part.levels.iter().map(CoarseLevel::colors).sum::<usize>();
        self.cloth.colors() + self.parts.iter().map(levels).max().unwrap_or(0)
    }

    fn residual(&mut self, x: &mut [Particle], _: f32) -> Option<f64> {
        Some(self.cloth.residual(x, Partly::new(&self.stiffness, 1)))
    }
}

/// The projection of a coarse spring: what is too long is shortened in part. Parameters: 0 (infinite for an idle lane) and
/// the length, m.
#[derive(Clone, Copy, Debug)]
struct Taut {
    /// The part of an error that is corrected.
    factor: f32,
}

/// An inverse mass (1/kg) that is nothing beside that of any vertex: keeps springs between held ends from dividing by zero.
const NO_WEIGHT: f32 = 1e-12;

impl Kernel<2, 2, 1> for Taut {
    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        &[a, b]: &[Point<L>; 2],
        &[idle, rest]: &[L; 2],
        _: &mut [L; 1],
    ) -> [V3<L>; 2] {
        let d = a.p - b.p;
        let square = d.length_squared() + rest.like(1e-30);
        let inverse = rest.like(self.factor) / ((a.w + b.w + idle + rest.like(NO_WEIGHT)) * square);
        let length = square.sqrt();
        let excess = (length - rest).max(rest.like(0.0)) * length;
        [d * -(excess * (inverse * a.w)), d * (excess * (inverse * b.w))]
    }

    fn residual(&self, points: &[Point<f32>; 2], params: &[f32; 2], _: &[f32; 1]) -> f64 {
        let length = (points[0].p - points[1].p).length_squared().sqrt();
        let excess = (length - params[1]).max(0.0) as f64;
        excess * excess
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::constraint::testing::check_projection;

    const X: [DVec3; 2] = [DVec3::new(0.1, 0.2, -0.3), DVec3::new(0.5, -0.2, 0.4)];

    #[test]
    fn a_coarse_spring_pulls_and_does_not_push() {
        let length = (X[0] - X[1]).length();
        let after = check_projection::<_, 2, 2, 1>(Taut { factor: 1.0 }, X, [0.0, 0.6]);
        assert!(((after[0] - after[1]).length() - 0.6).abs() < 1e-6);
        let half = check_projection::<_, 2, 2, 1>(Taut { factor: 0.5 }, X, [0.0, 0.6]);
        assert!(((half[0] - half[1]).length() - 0.5 * (0.6 + length)).abs() < 1e-6);
        assert_eq!(check_projection::<_, 2, 2, 1>(Taut { factor: 1.0 }, X, [0.0, length + 0.1]), X);
    }

    #[test]
    fn held_ends_and_idle_lanes_stay() {
        let at = |x: DVec3, w: f32| Point { p: V3 { x: x.x as f32, y: x.y as f32, z: x.z as f32 }, w };
        for (w, idle) in [(0.0, 0.0), (3.0, f32::INFINITY)] {
            let points = [at(X[0], w), at(X[1], w)];
            let moves = Taut { factor: 1.0 }.correct::<f32, true>(&points, &[idle, 0.1], &mut [0.0]);
            assert!(moves.iter().all(|m| m.length_squared() == 0.0), "{moves:?}");
        }
    }
}
