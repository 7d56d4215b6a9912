//! How far every vertex may go until the next look, so that nothing can cross: see docs/contact.md.
//!
//! A detection keeps the positions c of all vertices, and a way u that each is expected to go in a substep. After k substeps, vertex v may be where
//! it was expected, or not far from there:
//!
//! ```text
//! |x_v − (c_v + k u_v)| ≤ b_v        k = 0 … K
//! ```
//!
//! A pair (vertex and triangle, or edge and edge) that shares no vertex has the distance d, along n. On the expected ways it is left with
//! d₁ = d + K min(0, minᵢ n·uᵢ − maxⱼ n·uⱼ), i and j from its two sides. Each side may use up the part γ of that, 2γ < 1:
//! b_v = γ d₁ at most, for all pairs of v. Pairs that are no contacts yet are kept from becoming contacts as well, by ½ (d₁ − gap): so every
//! contact is known beforehand. Contacts have a slab between their sides in place of balls, that moves along n by m in a substep:
//!
//! ```text
//! n·(xᵢ − cᵢ) ≥ k m − γ d        n·(xⱼ − cⱼ) ≤ k m + γ d
//! ```
//!
//! Both sets are convex in x and k together, so that the straight way from one substep to the next is in them as well.

use std::sync::atomic::{AtomicU32, Ordering};

use glam::Vec3;

use super::proximity::Kind;
use super::query::Structure;
use super::soup::Soup;
use crate::lanes::{Lane, SimdLevel};
use crate::par::Team;
use crate::step::{Stage, Stopwatch};
use crate::wide::Particle;

mod around;
mod clamp;
mod collect;
mod judge;
mod measure;
mod renew;
mod spread;
#[cfg(test)]
mod tests;

use around::Around;
use clamp::Walls;
pub use clamp::{Clamped, FREE, LOST, STOPPED};
use collect::{Collection, Horizon};
use measure::{Findings, View};
use renew::Nearby;

/// How a detection looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Pairs that are, or are expected to come, nearer than this are looked at, m. No vertex goes further than γ times this from where it is expected.
    pub reach: f32,
    /// Pairs are collected from as much further away on each side, m; they serve while nothing can have come nearer by more than that.
    pub margin: f32,
    /// γ: the part of a distance that one side may use up; below ½.
    pub gamma: f32,
    /// A contact is listed if its sides are expected to be nearer than 1.2 gaps and this, m; with −∞ none is, which is faster.
    pub early: f32,
    /// K: how many substeps to plan for at most.
    pub steps: u32,
    /// No two sides that may meet are expected to go further than this against each other, m: else there are fewer substeps.
    pub sweep: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { reach: 0.005, margin: 0.002, gamma: 0.45, early: 0.001, steps: 1, sweep: f32::INFINITY }
    }
}

impl Settings {
    /// How far each side of a pair at `distance` may go, m. One that is not `listed` as a contact must not become one unseen: it
    /// stays out of its `gap`.
    #[inline(always)]
    fn room(&self, distance: f32, gap: f32, listed: bool) -> f32 {
        if listed { (self.gamma * distance).max(0.0) } else { self.room_of(distance, gap) }
    }

    /// The same of pairs that are not listed.
    #[inline(always)]
    fn room_of<L: Lane>(&self, distance: L, gap: L) -> L {
        let room = distance * distance.like(self.gamma);
        let unseen = (distance - gap * gap.like(SEEN)) * distance.like(0.5);
        let room = if self.early >= 0.0 { room.min(unseen) } else { room };
        room.max(room.like(0.0))
    }

    /// The most room of any vertex, m: what pairs at the reach leave if they have the largest gap, and also those that are so far from what stands still that they leave as much.
    fn most(&self, reach: f32, epsilon: f32, gap: f32) -> f32 {
        let cap = |reach: f32| self.room(reach - epsilon, gap, false);
        let still = self.reach_still(self.room(reach, gap, false), gap).min(reach);
        cap(reach).min(2.0 * cap(still))
    }

    /// From which distance on a pair with such a gap is no contact, and leaves a `room` (m) to a side that faces what stands still and may use all of the distance.
    fn reach_still(&self, room: f32, gap: f32) -> f32 {
        let unseen = if self.early >= 0.0 { (room + SEEN * gap).max(NEAR * gap + self.early) } else { 0.0 };
        unseen.max(room / (2.0 * self.gamma))
    }
}

/// A vertex seldom has a part in more contacts than this, or in more slabs: there is room for as many from the first detection on.
pub const USUAL_ROWS: usize = 5;
const USUAL_SLABS: usize = 12;
/// Pairs nearer than this many gaps are listed as contacts in any case.
const NEAR: f32 = 1.2;
/// A pair that is not listed as a contact comes no nearer than this part of its gap.
const SEEN: f32 = 0.5;
/// Directions with a cosine above this are taken for the same.
const ALIKE: f32 = 0.8;
/// A plan is not made shorter for vertices that slabs would stop if those are fewer than this part of all: a new plan for everything would cost more than they lose.
const FEW: f32 = 0.002;
/// A vertex is expected to stay if its way to the end of the plan would be below this part of the reach.
const QUIET: f32 = 0.02;

/// A contact as a row C = n·Σ wᵢ pᵢ − gap ≥ 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactRow {
    /// A vertex and the corners of a triangle, or the ends of two edges.
    pub particles: [u32; 4],
    /// w, summing to zero: Σ wᵢ pᵢ is the vector from the second side to the first.
    pub weights: [f32; 4],
    /// n, of unit length, from the second side to the first: on which side each is.
    pub normal: [f32; 3],
    /// The distance they should keep, m.
    pub gap: f32,
    /// Their distance now, m.
    pub distance: f32,
    /// What the row is made of.
    pub kind: Kind,
}

impl ContactRow {
    /// C for some positions, m.
    #[inline]
    pub fn value(&self, x: &[Particle]) -> f32 {
        self.value_at(|v| x[v as usize].p.into())
    }

    /// The same, with the position of each particle.
    #[inline]
    pub fn value_at(&self, x: impl Fn(u32) -> Vec3) -> f32 {
        let first = x(self.particles[0]);
        // From the first, so that far from the origin nothing is lost: the weights sum to zero.
        let sum: Vec3 = (1..4).map(|i| (x(self.particles[i]) - first) * self.weights[i]).sum();
        Vec3::from(self.normal).dot(sum) - self.gap
    }
}

/// What a detection did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Detection {
    /// Whether pairs were collected anew.
    pub collected: bool,
    /// Pairs that are kept.
    pub candidates: usize,
    /// Pairs whose distance was computed.
    pub measured: usize,
    /// Those of them that leave less room than the most there is.
    pub near: usize,
    /// The least distance of any pair, or the reach, m.
    pub nearest: f32,
    /// For how many substeps it holds.
    pub steps: u32,
}

/// Finds distances, bounds and contacts of a soup.
pub struct Detector {
    pairs: Collection,
    findings: Findings,
    /// c.
    origin: Vec<Particle>,
    /// The same, but for vertices that got new balls since, and u, m.
    base: Vec<Particle>,
    ways: Vec<Particle>,
    /// K and k.
    steps: u32,
    done: u32,
    /// c + k u.
    center: Vec<Particle>,
    /// The least room of each vertex with regard to pairs without a slab, and to slabs, as bits.
    rooms: [Vec<AtomicU32>; 2],
    /// The least of both, and that without slabs, m. An inner room of zero: a slab may go through where the vertex is expected.
    inner: Vec<f32>,
    outer: Vec<f32>,
    /// Only so many of the first vertices can have moved.
    movers: usize,
    /// Whether each vertex is beyond its inner ball, or has to be looked at for another reason.
    beyond: Vec<bool>,
    wanted: Vec<Particle>,
    /// Those of which it may be, in order.
    astray: Vec<u32>,
    walls: Walls,
    around: Around,
    rows: Vec<ContactRow>,
    /// Two normals of contacts of each vertex while they are needed, else zero.
    facing: Vec<[Vec3; 2]>,
    /// For how many substeps slabs let vertices go as expected, where that is not for all.
    short: Vec<f32>,
    /// The most room that any vertex has, and what rounding may have done, m.
    most: f32,
    epsilon: f32,
    nearby: Nearby,
}

impl Detector {
    /// Searches with the given structure. `meshes_only`: cloth is not looked at against cloth.
    pub fn new(structure: Structure, meshes_only: bool) -> Self {
        Detector {
            pairs: Collection::new(structure, meshes_only),
            findings: Findings::default(),
            origin: Vec::new(),
            base: Vec::new(),
            ways: Vec::new(),
            steps: u32::MAX,
            done: 0,
            center: Vec::new(),
            rooms: [Vec::new(), Vec::new()],
            inner: Vec::new(),
            outer: Vec::new(),
            movers: usize::MAX,
            beyond: Vec::new(),
            wanted: Vec::new(),
            astray: Vec::new(),
            walls: Walls::default(),
            around: Around::default(),
            rows: Vec::new(),
            facing: Vec::new(),
            short: Vec::new(),
            most: 0.0,
            epsilon: 0.0,
            nearby: Nearby::default(),
        }
    }

    /// Forgets the collected pairs: the next detection searches anew. For particles that jumped, or a soup that changed.
    pub fn forget(&mut self) {
        self.pairs.forget();
    }

    /// Says that only so many of the first vertices move in this substep.
    pub fn set_movers(&mut self, count: usize) {
        self.movers = count;
    }

    fn moving_vertices(&self) -> usize {
        self.movers.min(self.center.len())
    }

    /// How far every vertex may be from where it is expected, in any direction, m; along a slab it may go further.
    pub fn bounds(&self) -> &[f32] {
        &self.inner
    }

    /// Whether a slab may stop a vertex within its ball.
    pub fn walled(&self, v: usize) -> bool {
        self.inner[v] < self.outer[v]
    }

    /// Where every vertex is expected now.
    pub fn center(&self) -> &[Particle] {
        &self.center
    }

    /// Where vertices wanted to go that clamping brought back, with [`FREE`] or [`STOPPED`] as w; 0 for all others.
    pub fn wanted(&self) -> &[Particle] {
        &self.wanted
    }

    /// The vertices of which that can be another than 0, in order.
    pub fn astray(&self) -> &[u32] {
        &self.astray
    }

    /// The contacts.
    pub fn rows(&self) -> &[ContactRow] {
        &self.rows
    }

    /// How many substeps of the plan are done.
    pub fn done(&self) -> u32 {
        self.done
    }

    /// Whether any vertex is expected to move.
    pub fn moving(&self) -> bool {
        self.steps != u32::MAX
    }

    /// Goes on to the next substep; false if the plan is at its end.
    pub fn advance(&mut self) -> bool {
        if self.done >= self.steps {
            return false;
        }
        if self.moving() {
            self.done += 1;
            let k = self.done as f32;
            for ((center, c), u) in self.center.iter_mut().zip(&self.base).zip(&self.ways) {
                let (c, u) = (c.to_array(), u.to_array());
                *center = Particle::from_array([c[0] + k * u[0], c[1] + k * u[1], c[2] + k * u[2], c[3]]);
            }
        }
        true
    }

    /// Looks at everything as it is: distances, bounds and contacts from positions without crossings. Nothing is expected to move.
    pub fn detect(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        soup: &Soup,
        x: &[Particle],
        settings: &Settings,
    ) -> Detection {
        self.detect_planned(team, level, &mut Stopwatch::start(), soup, x, &[], settings)
    }

    /// The same, with a way for each vertex that it is expected to go in a substep, m, or none; and with the stages timed.
    pub fn detect_planned(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        clock: &mut Stopwatch,
        soup: &Soup,
        x: &[Particle],
        plan: &[Particle],
        settings: &Settings,
    ) -> Detection {
        let x = &x[..soup.vertices()];
        if self.origin.is_empty() {
            self.rows.reserve(USUAL_ROWS * x.len());
            // A slab is a wall to several of its vertices.
            self.walls.reserve(2 * USUAL_SLABS * x.len(), x.len(), team.count());
            self.nearby.reserve(soup.patches());
            self.facing.resize(x.len(), [Vec3::ZERO; 2]);
            self.short.reserve(USUAL_SLABS * x.len());
            self.wanted.reserve(x.len());
            self.beyond.reserve(x.len());
            self.astray.reserve(x.len());
            self.around.reserve(x.len());
        }
        self.plan(x, plan);
        let (mut collected, mut bent) = (false, false);
        loop {
            let moving = self.quieten(settings);
            let mut horizon = Horizon {
                reach: settings.reach,
                margin: settings.margin,
                sweep: settings.sweep,
                steps: if moving { settings.steps.max(1) } else { 1 },
                epsilon: 0.0,
                most: 0.0,
            };
            collected |= self.pairs.update(team, level, clock, soup, x, &self.ways, settings, &mut horizon);
            let most = horizon.most;
            (self.most, self.epsilon) = (most, horizon.epsilon);
            for rooms in &mut self.rooms {
                rooms.resize_with(x.len(), AtomicU32::default);
                rooms.iter_mut().for_each(|room| *room.get_mut() = most.to_bits());
            }
            let steps = AtomicU32::new(if moving { horizon.steps } else { u32::MAX });
            let view = View {
                level,
                soup,
                x,
                ways: &self.ways,
                settings,
                epsilon: horizon.epsilon,
                steps: horizon.steps as f32,
                allowed: &steps,
                most,
                rooms: &self.rooms,
            };
            self.findings.find(team, &view, &self.pairs);
            self.walls.reserve_blocks(self.findings.most_blocks());
            self.steps = steps.into_inner();
            // Once more if the plan has changed.
            if bent || !moving || !self.bend(x) {
                break;
            }
            bent = true;
        }
        self.shorten();
        if self.steps == 0 {
            // Two sides whose direction is not known well would meet at once: nothing is expected to move, then.
            return self.detect_planned(team, level, clock, soup, x, &[], settings);
        }
        self.rows.clear();
        self.rows.extend(self.findings.rows());
        let report = Detection {
            collected,
            candidates: self.pairs.len(),
            measured: self.findings.measured(),
            near: self.findings.near(),
            nearest: self.findings.nearest(settings.reach),
            steps: self.steps,
        };
        let [without, slabs] = &mut self.rooms;
        let number = |n: &mut AtomicU32| f32::from_bits(*n.get_mut());
        self.outer.clear();
        self.outer.extend(without.iter_mut().map(number));
        self.inner.clear();
        self.inner.extend(self.outer.iter().zip(slabs).map(|(outer, slab)| outer.min(number(slab))));
        // What stands still has left all room to others; but no slab goes through it.
        for v in soup.still() {
            (self.inner[v], self.outer[v]) = (f32::MIN_POSITIVE, 0.0);
        }
        clock.lap(Stage::Check);
        report
    }

    /// Turns ways aside that would end far beyond a slab in a single substep, where no place would be left: what hits something is expected to be stopped by it. Says whether there are any.
    fn bend(&mut self, x: &[Particle]) -> bool {
        let Detector { findings, rooms, ways, .. } = self;
        let mut any = false;
        for slab in findings.slabs().filter(|slab| slab.room > 0.0) {
            let n = Vec3::from(slab.normal);
            let first = measure::first_side(slab.kind);
            for (i, &v) in slab.particles.iter().enumerate() {
                let v = v as usize;
                if slab.holds[i] >= 1.0 || x[v].w == 0.0 {
                    continue;
                }
                let inward = if i < first { n } else { -n };
                let level = if i < first { slab.speed } else { -slab.speed } - slab.room;
                let way = Vec3::from(ways[v].p);
                let short = level - inward.dot(way);
                if short > f32::from_bits(*rooms[0][v].get_mut()) {
                    ways[v].p = (way + inward * short).into();
                    any = true;
                }
            }
        }
        any
    }

    /// A plan is good while those that follow it stay behind their slabs: else what slides would be dragged along by what is ahead. Where a contact is about to stop a vertex
    /// anyway, it may be held back from its way by a tenth of its room.
    fn shorten(&mut self) {
        let Detector { findings, facing, short, steps, rooms, .. } = self;
        let slabs = || findings.slabs();
        let within = |holds: &&f32| **holds < *steps as f32;
        let few = (FEW * self.origin.len() as f32) as usize;
        if slabs().flat_map(|slab| &slab.holds).filter(within).nth(few).is_none() {
            return;
        }
        facing.resize(self.origin.len(), [Vec3::ZERO; 2]);
        short.clear();
        let same = |a: Vec3, b: Vec3| a.dot(b).abs() > ALIKE;
        let rows = || findings.rows();
        for row in rows() {
            let n = Vec3::from(row.normal);
            for v in row.particles {
                let [first, second] = &mut facing[v as usize];
                if *first == Vec3::ZERO {
                    *first = n;
                } else if !same(*first, n) {
                    *second = n;
                }
            }
        }
        for slab in slabs() {
            let n = Vec3::from(slab.normal);
            for (&v, &holds) in slab.particles.iter().zip(&slab.holds) {
                if holds >= *steps as f32 {
                    continue;
                }
                let stopped = facing[v as usize].iter().any(|&other| same(other, n));
                let back = if stopped { 0.1 * f32::from_bits(*rooms[0][v as usize].get_mut()) } else { 0.0 };
                let holds = holds * (1.0 + back / slab.room);
                if holds < *steps as f32 {
                    short.push(holds);
                }
            }
        }
        if short.len() > few {
            let (_, &mut holds, _) = short.select_nth_unstable_by(few, f32::total_cmp);
            *steps = (holds as u32).max(1);
        }
        rows().flat_map(|row| row.particles).for_each(|v| facing[v as usize] = [Vec3::ZERO; 2]);
    }

    /// Takes c and u.
    fn plan(&mut self, x: &[Particle], plan: &[Particle]) {
        for list in [&mut self.origin, &mut self.base, &mut self.center] {
            list.clear();
            list.extend_from_slice(x);
        }
        self.done = 0;
        self.nearby.forget();
        self.around.forget();
        self.ways.clear();
        self.ways.extend(plan.iter().take(x.len()).map(|u| Particle { p: u.p, w: 0.0 }));
        self.ways.resize(x.len(), Particle { p: [0.0; 3], w: 0.0 });
    }

    /// Takes back ways that are too short to matter; says whether anything is expected to move.
    fn quieten(&mut self, settings: &Settings) -> bool {
        let quiet = QUIET * settings.reach / settings.steps as f32;
        let mut moving = false;
        for u in &mut self.ways {
            let [a, b, c] = u.p;
            let moves = a * a + b * b + c * c > quiet * quiet;
            moving |= moves;
            if !moves {
                u.p = [0.0; 3];
            }
        }
        moving
    }
}

/// Lowers the room of a vertex, m.
#[inline(always)]
fn lower(rooms: &[AtomicU32], v: u32, room: f32) {
    // Positive numbers are ordered as their bits are.
    let (room, place) = (room.to_bits(), &rooms[v as usize]);
    // Most are no news.
    if room < place.load(Ordering::Relaxed) {
        place.fetch_min(room, Ordering::Relaxed);
    }
}
