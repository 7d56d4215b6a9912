//! Particles as spheres: what the contact modes `particles` and `swept-spheres` have in common.
//!
//! A list of pairs, each kept once for either side, so that every particle gathers what is done to it and nothing is summed across threads.
//! Corrections are Jacobi's: all from the same positions. Where a particle is in several contacts each is taken in part, 1/max(nᵢ, nⱼ) of it,
//! with n the contacts of either side: the same part for both, so momentum is kept.

use glam::Vec3;

use crate::model::Model;
use crate::par::Team;
use crate::wide::Particle;

/// Particles in a block, which one thread does at a time.
const BLOCK: usize = 64;

/// One side of a pair.
#[derive(Clone, Copy, Debug)]
struct Entry {
    particle: u32,
    other: u32,
    /// Distance they keep, m.
    gap: f32,
    /// How far they were pushed apart in this substep, m.
    push: f32,
}

#[derive(Clone, Debug, Default)]
struct Block {
    entries: Vec<Entry>,
    moves: Vec<(u32, Vec3)>,
}

/// Pairs of particles, and what has been done to them in the present substep.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    particles: usize,
    blocks: Vec<Block>,
    /// Contacts of every particle.
    counts: Vec<u32>,
    count: usize,
}

/// How a pair touches: how much too near it is (m, above 0), and the unit vector from the other to the particle.
pub(super) type Touch = Option<(f32, Vec3)>;

impl Pairs {
    pub fn new(particles: usize) -> Self {
        let blocks = vec![Block::default(); particles.div_ceil(BLOCK)];
        Pairs { particles, blocks, counts: vec![0; particles], count: 0 }
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// How many pairs have been pushed apart in this substep.
    pub fn touching(&self) -> usize {
        self.blocks.iter().flat_map(|b| &b.entries).filter(|e| e.push > 0.0 && e.particle < e.other).count()
    }

    /// Takes a list, and for each pair the gap it keeps (m); none leaves the pair out.
    pub fn set(&mut self, team: &mut Team, list: &[[u32; 2]], gap: impl Fn(u32, u32) -> Option<f32>) {
        self.blocks.iter_mut().for_each(|block| block.entries.clear());
        self.count = 0;
        for &[i, j] in list {
            let Some(gap) = gap(i, j) else { continue };
            self.count += 1;
            for (particle, other) in [(i, j), (j, i)] {
                let entry = Entry { particle, other, gap, push: 0.0 };
                self.blocks[particle as usize / BLOCK].entries.push(entry);
            }
        }
        team.for_each_item(&mut self.blocks, |_, block| {
            block.entries.sort_unstable_by_key(|e| (e.particle, e.other));
        });
    }

    /// Forgets what was done in the last substep.
    pub fn begin(&mut self, team: &mut Team) {
        team.for_each_item(&mut self.blocks, |_, block| block.entries.iter_mut().for_each(|e| e.push = 0.0));
    }

    /// Counts the contacts of every particle.
    fn tally(&mut self, team: &mut Team, touches: impl Fn(&Entry) -> bool + Sync) {
        let blocks = &self.blocks;
        team.for_each_chunk(&mut self.counts, BLOCK, |first, counts| {
            for (k, counts) in counts.chunks_mut(BLOCK).enumerate() {
                counts.fill(0);
                for e in blocks[first / BLOCK + k].entries.iter().filter(|e| touches(e)) {
                    counts[e.particle as usize % BLOCK] += 1;
                }
            }
        });
    }

    /// Makes the moves that the blocks have gathered.
    fn apply(&mut self, team: &mut Team, x: &mut [Particle]) {
        let blocks = &self.blocks;
        team.for_each_chunk(&mut x[..self.particles], BLOCK, |first, x| {
            for (k, x) in x.chunks_mut(BLOCK).enumerate() {
                for &(i, by) in &blocks[first / BLOCK + k].moves {
                    let x = &mut x[i as usize % BLOCK];
                    x.p = (Vec3::from(x.p) + by).into();
                }
            }
        });
    }

    /// Pushes apart what touches. `touch(i, j, gap)` says how; seen from the other side it must say the same.
    pub fn project(
        &mut self,
        team: &mut Team,
        x: &mut [Particle],
        touch: impl Fn(&[Particle], u32, u32, f32) -> Touch + Sync,
    ) {
        if self.count == 0 {
            return;
        }
        let now = &*x;
        self.tally(team, |e| touch(now, e.particle, e.other, e.gap).is_some());
        let counts = &self.counts;
        team.for_each_item(&mut self.blocks, |_, block| {
            block.moves.clear();
            for row in block.entries.chunk_by_mut(|a, b| a.particle == b.particle) {
                let i = row[0].particle;
                if counts[i as usize] == 0 {
                    continue;
                }
                let (w, mut sum) = (now[i as usize].w, Vec3::ZERO);
                for e in row {
                    let Some((depth, n)) = touch(now, i, e.other, e.gap) else { continue };
                    let part = depth / counts[i as usize].max(counts[e.other as usize]) as f32;
                    e.push += part;
                    sum += n * (part * (w / (w + now[e.other as usize].w)));
                }
                if w > 0.0 {
                    block.moves.push((i, sum));
                }
            }
        });
        self.apply(team, x);
    }

    /// Coulomb friction: of every pair that was pushed by p, the tangential part of the relative motion since `start` is taken back
    /// by at most μ p. `friction` is μ of each particle; a pair has the mean.
    pub fn friction(&mut self, team: &mut Team, start: &[Particle], x: &mut [Particle], friction: &[f32]) {
        if self.count == 0 {
            return;
        }
        let now = &*x;
        self.tally(team, |e| e.push > 0.0);
        let counts = &self.counts;
        team.for_each_item(&mut self.blocks, |_, block| {
            block.moves.clear();
            for row in block.entries.chunk_by(|a, b| a.particle == b.particle) {
                let i = row[0].particle as usize;
                if counts[i] == 0 || now[i].w == 0.0 {
                    continue;
                }
                let mut sum = Vec3::ZERO;
                let way = |i: usize| Vec3::from(now[i].p) - Vec3::from(start[i].p);
                for e in row.iter().filter(|e| e.push > 0.0) {
                    let j = e.other as usize;
                    let n = (Vec3::from(now[i].p) - Vec3::from(now[j].p)).normalize_or_zero();
                    let moved = way(i) - way(j);
                    let slip = moved - n * moved.dot(n);
                    let limit = 0.5 * (friction[i] + friction[j]) * e.push;
                    // Pushes are parts already, and add up; sticking must not be made several times.
                    let whole = 1.0 / counts[i].max(counts[j]) as f32;
                    let part = whole.min(limit / slip.length().max(f32::MIN_POSITIVE));
                    sum -= slip * (part * (now[i].w / (now[i].w + now[j].w)));
                }
                block.moves.push((i as u32, sum));
            }
        });
        self.apply(team, x);
    }
}

/// Mean edge length of the cloth that each particle belongs to, m.
pub(super) fn spacings(model: &Model) -> Vec<f32> {
    let mut spacing = vec![0.0; model.particles()];
    for cloth in &model.cloths {
        let edges = &model.edges[cloth.edges.clone()];
        let sum: f64 = edges.iter().map(|e| e.1 as f64).sum();
        spacing[cloth.vertices.clone()].fill((sum / edges.len().max(1) as f64) as f32);
    }
    spacing
}

/// Friction coefficient of each particle.
pub(super) fn frictions(model: &Model) -> Vec<f32> {
    let mut friction = vec![0.0; model.particles()];
    model.cloths.iter().for_each(|cloth| friction[cloth.vertices.clone()].fill(cloth.friction));
    friction
}

/// Which cloth each particle belongs to.
pub(super) fn cloth_of(model: &Model) -> Vec<u32> {
    let mut of = vec![0; model.particles()];
    model.cloths.iter().zip(0..).for_each(|(cloth, k)| of[cloth.vertices.clone()].fill(k));
    of
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::metrics::intersecting_pairs;
    use crate::scene::{Cloth, Pair, Scene};
    use crate::state::State;

    /// What the two modes have in common, for tests.
    pub trait Mode {
        fn begin(&mut self, team: &mut Team, x: &[Particle], start: &[Particle]);
        fn project(&mut self, team: &mut Team, x: &mut [Particle]);
        fn friction(&mut self, team: &mut Team, start: &[Particle], x: &mut [Particle]);
    }

    /// Level sheets of half a metre above each other, at these heights and velocities.
    pub fn sheets(of: &[(f32, [f32; 3])], cells: u32, friction: f32) -> Model {
        let sheet = |&(height, velocity): &(f32, [f32; 3])| {
            let mut cloth = Cloth { size: Pair([0.5; 2]), resolution: Pair([cells; 2]), ..Cloth::default() };
            cloth.position = [0.003 * height, height, 0.002];
            cloth.rotation = [0.0, 40.0 * height, 0.0];
            (cloth.velocity, cloth.fabric.0.friction) = (velocity, Some(friction));
            cloth
        };
        let cloth = of.iter().map(sheet).collect();
        Model::new(&Scene { cloth, ..Scene::default() }).unwrap()
    }

    /// Some substeps of position based dynamics without gravity.
    pub fn run(model: &Model, mode: &mut dyn Mode, threads: usize, substeps: usize) -> State {
        let (mut state, mut team, h) = (State::new(model), Team::new(threads), 1.0 / 1200.0);
        let n = model.particles();
        for _ in 0..substeps {
            let State { x, start, v, .. } = &mut state;
            start.copy_from_slice(x);
            for i in 0..n {
                x[i].p = (Vec3::from(x[i].p) + Vec3::new(v[i][0], v[i][1], v[i][2]) * h).into();
            }
            mode.begin(&mut team, x, start);
            for _ in 0..2 {
                for &([a, b], rest) in &model.edges {
                    let d = Vec3::from(x[a as usize].p) - Vec3::from(x[b as usize].p);
                    let by = d * (0.5 * (1.0 - rest / d.length()));
                    x[a as usize].p = (Vec3::from(x[a as usize].p) - by).into();
                    x[b as usize].p = (Vec3::from(x[b as usize].p) + by).into();
                }
                mode.project(&mut team, x);
            }
            mode.friction(&mut team, start, x);
            for i in 0..n {
                let way = (Vec3::from(x[i].p) - Vec3::from(start[i].p)) / h;
                v[i] = [way.x, way.y, way.z, 0.0];
            }
        }
        state
    }

    pub fn bits(state: &State) -> Vec<[u32; 3]> {
        state.x.iter().map(|x| x.p.map(f32::to_bits)).collect()
    }

    fn momentum(model: &Model, state: &State) -> glam::DVec3 {
        (model.inverse_mass.iter().zip(&state.v))
            .map(|(&w, v)| glam::DVec3::new(v[0] as f64, v[1] as f64, v[2] as f64) / w as f64)
            .sum()
    }

    /// What must hold for either mode; `make` makes one for a model.
    pub fn holds(make: &dyn Fn(&Model) -> Box<dyn Mode>) {
        // One falls on the other: it does not go through, and what one loses the other gets.
        let model = sheets(&[(1.0, [0.0; 3]), (1.06, [0.0, -1.0, 0.0])], 16, 0.3);
        let end = run(&model, &mut *make(&model), 1, 300);
        let positions: Vec<[f32; 3]> = end.x.iter().map(|x| x.p).collect();
        assert_eq!(intersecting_pairs(&positions, &model.triangles), [[0u32; 2]; 0]);
        let height = |k: usize| {
            let of = &end.x[model.cloths[k].vertices.clone()];
            of.iter().map(|x| x.p[1]).sum::<f32>() / of.len() as f32
        };
        assert!(height(1) > height(0) + 0.001 && height(0) < 0.99, "{} {}", height(0), height(1));
        let (before, after) = (momentum(&model, &State::new(&model)), momentum(&model, &end));
        assert!((before - after).length() < 1e-3 * before.length(), "{before} {after}");
        // On any number of threads.
        for threads in [2, 3] {
            assert_eq!(bits(&run(&model, &mut *make(&model), threads, 300)), bits(&end), "{threads}");
        }

        // Where nothing touches, nothing happens.
        struct Nothing;
        impl Mode for Nothing {
            fn begin(&mut self, _: &mut Team, _: &[Particle], _: &[Particle]) {}
            fn project(&mut self, _: &mut Team, _: &mut [Particle]) {}
            fn friction(&mut self, _: &mut Team, _: &[Particle], _: &mut [Particle]) {}
        }
        let apart = sheets(&[(1.0, [0.1, -2.0, 0.3]), (1.3, [0.0, -1.0, 0.0])], 16, 0.3);
        let [with, without] = [&mut *make(&apart), &mut Nothing as &mut dyn Mode];
        assert_eq!(bits(&run(&apart, with, 1, 60)), bits(&run(&apart, without, 1, 60)));

        // Pressed together and sliding: friction takes speed from one and gives it to the other.
        let slide = |friction: f32| {
            let model = sheets(&[(1.0, [0.0, 0.2, 0.0]), (1.05, [0.5, -0.2, 0.0])], 16, friction);
            let end = run(&model, &mut *make(&model), 1, 300);
            let of = &end.v[model.cloths[0].vertices.clone()];
            of.iter().map(|v| v[0] as f64).sum::<f64>() / of.len() as f64
        };
        let (smooth, rough) = (slide(0.0), slide(0.8));
        assert!(rough > smooth + 0.02, "{smooth} {rough}");
    }
}
