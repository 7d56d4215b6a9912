//! How far every vertex may go until the next look, so that nothing can cross: see docs/contact.md.
//!
//! A detection keeps the positions c. With the distances d of all pairs (vertex and triangle, edge and edge) that share no vertex and
//! are nearer than the reach r,
//!
//! ```text
//! d_v = min(r, all d in which v takes part)        b_v = γ max(0, d_v − ε)        |x_v − c_v| ≤ b_v
//! ```
//!
//! Points of a primitive are fixed convex combinations of its vertices, so each side of a pair moves by at most γ d, and 2γ < 1.
//! Pairs that are no contacts yet are kept from becoming contacts as well, by ½ (d − gap): so every contact is known beforehand.
//!
//! Pairs are collected with a margin s more than needed, r + 2s, and kept while no vertex has moved by more than s. They are filed by their distance then, so
//! that a detection after a motion m looks at those below r + 2m only.

use std::sync::atomic::{AtomicU32, Ordering};

use glam::{DVec3, Vec3};

use super::proximity::{self, Kind};
use super::query::{Aabb, NearPairs, Structure};
use super::soup::{PatchBoxes, Soup};
use crate::lanes::{LANES, Lane, SimdLevel, V3};
use crate::par::Team;
use crate::step::{Stage, Stopwatch};
use crate::wide::{F8, Particle, Patches, StencilKernel, stencils};

/// How a detection looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// r: pairs nearer than this are looked at, m. No vertex goes further than γ r until the next detection.
    pub reach: f32,
    /// s: pairs are collected that are nearer than r + 2s, m; they serve while nothing can have come nearer by more than that.
    pub margin: f32,
    /// γ: the part of a distance that one side may use up; below ½.
    pub gamma: f32,
    /// A contact is listed if its sides are nearer than 1.2 gaps and this, m; with −∞ none is, which is faster.
    pub early: f32,
    /// A motion that all vertices are about to make together, m: the bound is for the rest. Zero if any is held.
    pub drift: Vec3,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { reach: 0.005, margin: 0.002, gamma: 0.45, early: 0.001, drift: Vec3::ZERO }
    }
}

impl Settings {
    /// How far each side of a pair at `distance` may go, m. One that is not `listed` as a contact must not become one unseen: it
    /// stays out of its `gap`.
    #[inline(always)]
    fn room(&self, distance: f32, gap: f32, listed: bool) -> f32 {
        let room = self.gamma * distance;
        let unseen = !listed && self.early >= 0.0;
        let room = if unseen { room.min(0.5 * (distance - SEEN * gap)) } else { room };
        room.max(0.0)
    }
}

/// Collected pairs are filed in so many bins by distance.
const BINS: usize = 16;
/// Patches in one piece of work.
const BATCH: usize = 8;
/// Pairs nearer than this many gaps are listed as contacts in any case.
const NEAR: f32 = 1.2;
/// A pair that is not listed as a contact comes no nearer than this part of its gap.
const SEEN: f32 = 0.5;
/// Below this part of their size, the direction between two sides is found in another way.
const CLOSE: f32 = 1e-3;
/// Marks a distance that single precision cannot give well.
const UNSURE: f32 = -1.0;

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
        let mut sum = Vec3::ZERO;
        for i in 0..4 {
            sum += Vec3::from(x[self.particles[i] as usize].p) * self.weights[i];
        }
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
    /// The least distance of any pair, or the reach, m.
    pub nearest: f32,
}

/// Two sides that touch or may soon, and a slab between them: along `normal` no vertex of either goes further towards the other
/// than `room` (m).
#[derive(Clone, Copy, Debug)]
struct Slab {
    particles: [u32; 4],
    /// From the second side to the first.
    normal: [f32; 3],
    room: f32,
    kind: Kind,
}

/// Pairs of one kind, in order of their bins.
#[derive(Clone, Debug, Default)]
struct List {
    stencils: Vec<[u32; 4]>,
    /// The distance each should keep, m.
    gaps: Vec<f32>,
    /// Where each bin ends.
    ends: [u32; BINS],
}

/// The pairs of one patch with itself and with patches of a higher number.
#[derive(Clone, Debug, Default)]
struct Piece {
    /// The patches that were looked at.
    partners: Vec<u32>,
    lists: [List; 2],
    /// How near they were, m.
    limit: f32,
    /// By how much any of them can have come nearer since, m.
    used: f32,
    /// Whether it has to be collected anew.
    stale: bool,
}

/// Neighbouring pieces: one piece of work.
#[derive(Clone, Debug, Default)]
struct Batch {
    pieces: Vec<Piece>,
    rows: Vec<ContactRow>,
    slabs: Vec<Slab>,
    walls: Vec<Wall>,
    measured: usize,
    nearest: f32,
    work: Scratch,
}

#[derive(Clone, Debug, Default)]
struct Scratch {
    pairs: Vec<[u32; 2]>,
    raw: [Vec<[u32; 4]>; 2],
    low: Vec<[F8; 2]>,
    bins: Vec<u8>,
    touching: Vec<[u32; 4]>,
    /// The gap of each, and whether it may be a row.
    touching_gaps: Vec<(f32, bool)>,
    closest: Vec<[F8; 9]>,
}

const KINDS: [Kind; 2] = [Kind::PointTriangle, Kind::SegmentSegment];

/// Finds distances, bounds and contacts of a soup.
pub struct Detector {
    query: Box<dyn NearPairs>,
    boxes: PatchBoxes,
    near: Vec<[u32; 2]>,
    batches: Vec<Batch>,
    /// Patches whose boxes are needed.
    chosen: Vec<bool>,
    /// Where everything was when near patches were searched for, and how near they were, m.
    reference: Vec<Particle>,
    limit: f32,
    /// Where everything was at the last detection, and how the patches moved since.
    last: Vec<Particle>,
    ways: Vec<Aabb>,
    /// c, with the drift added.
    center: Vec<Particle>,
    /// The least room of each vertex with regard to all pairs, and to those without a slab, as bits.
    nearest: [Vec<AtomicU32>; 2],
    /// The same as numbers, m.
    inner: Vec<f32>,
    outer: Vec<f32>,
    /// Whether each vertex is beyond its inner ball.
    beyond: Vec<bool>,
    walls: Vec<Wall>,
    rows: Vec<ContactRow>,
    meshes_only: bool,
    /// What is looked at; all but in tests that show why it must be.
    kinds: [bool; 2],
}

/// How far vertices have moved.
#[derive(Clone, Copy, Debug)]
struct Motion {
    /// Half of what the distance of any two can have changed by, m.
    half: f32,
    /// The largest coordinate, m.
    far: f32,
}

impl Detector {
    /// Searches with the given structure. `meshes_only`: cloth is not looked at against cloth.
    pub fn new(structure: Structure, meshes_only: bool) -> Self {
        Detector {
            meshes_only,
            query: structure.make(),
            boxes: PatchBoxes::default(),
            near: Vec::new(),
            batches: Vec::new(),
            chosen: Vec::new(),
            reference: Vec::new(),
            limit: 0.0,
            last: Vec::new(),
            ways: Vec::new(),
            center: Vec::new(),
            nearest: [Vec::new(), Vec::new()],
            inner: Vec::new(),
            outer: Vec::new(),
            beyond: Vec::new(),
            walls: Vec::new(),
            rows: Vec::new(),
            kinds: [true; 2],
        }
    }

    /// Forgets the collected pairs: the next detection searches anew. For particles that jumped, or a soup that changed.
    pub fn forget(&mut self) {
        self.reference.clear();
        self.boxes.clear();
        self.batches.clear();
    }

    /// How far every vertex may go in any direction, m; along a slab it may go further.
    pub fn bounds(&self) -> &[f32] {
        &self.inner
    }

    /// c, where every vertex was at the detection, with the drift added.
    pub fn center(&self) -> &[Particle] {
        &self.center
    }

    /// The contacts.
    pub fn rows(&self) -> &[ContactRow] {
        &self.rows
    }

    /// Looks at everything as it is: distances, bounds and contacts from positions without crossings.
    pub fn detect(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        soup: &Soup,
        x: &[Particle],
        settings: &Settings,
    ) -> Detection {
        self.detect_timed(team, level, &mut Stopwatch::start(), soup, x, settings)
    }

    /// The same, with the stages timed.
    pub fn detect_timed(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        clock: &mut Stopwatch,
        soup: &Soup,
        x: &[Particle],
        settings: &Settings,
    ) -> Detection {
        let Settings { reach, margin, drift, .. } = *settings;
        let x = &x[..soup.vertices()];
        let motion = motion(soup, &self.reference, x);
        // Rounding of positions when they are clamped, and of these sums.
        let epsilon = 8.0 * f32::EPSILON * (motion.far + reach + margin);
        let anew = self.reference.len() != x.len();
        if anew {
            self.batches.resize_with(soup.patches().div_ceil(BATCH), Batch::default);
            let left = |k: usize| (soup.patches() - k * BATCH).min(BATCH);
            let pieces = self.batches.iter_mut().enumerate();
            pieces.for_each(|(k, batch)| batch.pieces.resize_with(left(k), Piece::default));
            self.batches.iter_mut().flat_map(|b| &mut b.pieces).for_each(|piece| piece.stale = true);
        } else {
            self.grow_old(soup, x, reach + epsilon, 0.5 * epsilon);
        }
        self.last.clear();
        self.last.extend_from_slice(x);
        let limit = reach + 2.0 * margin + epsilon;
        if anew || reach + 2.0 * motion.half + epsilon > self.limit {
            self.search(team, level, soup, x, limit);
            clock.lap(Stage::Tree);
        }
        let fresh = self.collect(team, level, soup, x, limit);
        clock.lap(Stage::Candidates);
        self.center.clear();
        self.center.extend(x.iter().map(|x| Particle { p: (Vec3::from(x.p) + drift).into(), w: x.w }));
        // Pairs that are not listed are beyond the reach, and no contact.
        let cap = settings.room(reach - epsilon, soup.thickest(), false).to_bits();
        for nearest in &mut self.nearest {
            nearest.resize_with(x.len(), AtomicU32::default);
            nearest.iter_mut().for_each(|n| *n.get_mut() = cap);
        }
        let (nearest, view) = (&self.nearest, View { level, soup, x, settings, epsilon });
        team.for_each_item(&mut self.batches, |_, batch| batch.measure(&view, nearest));
        let mut report = Detection { collected: fresh, candidates: 0, measured: 0, nearest: reach };
        self.rows.clear();
        for batch in &self.batches {
            let kept = |piece: &Piece| piece.lists[0].stencils.len() + piece.lists[1].stencils.len();
            report.candidates += batch.pieces.iter().map(kept).sum::<usize>();
            report.measured += batch.measured;
            report.nearest = report.nearest.min(batch.nearest);
            self.rows.extend_from_slice(&batch.rows);
        }
        let [nearest, without] = &mut self.nearest;
        let number = |n: &mut AtomicU32| f32::from_bits(*n.get_mut());
        self.inner.clear();
        self.inner.extend(nearest.iter_mut().map(number));
        self.outer.clear();
        self.outer.extend(without.iter_mut().map(number));
        clock.lap(Stage::Check);
        report
    }

    /// Counts what patches moved since the last detection against their pairs, which are to serve for a reach (m).
    fn grow_old(&mut self, soup: &Soup, x: &[Particle], reach: f32, rounding: f32) {
        let Detector { ways, last, batches, .. } = self;
        ways.clear();
        ways.extend((0..soup.patches()).map(|patch| {
            let (mut low, mut high) = ([f32::INFINITY; 4], [f32::NEG_INFINITY; 4]);
            for &v in soup.patch_vertices(patch) {
                let (x, last) = (x[v as usize].to_array(), last[v as usize].to_array());
                for c in 0..4 {
                    let way = x[c] - last[c];
                    low[c] = if way < low[c] { way } else { low[c] };
                    high[c] = if way > high[c] { way } else { high[c] };
                }
            }
            Aabb { low: Vec3::new(low[0], low[1], low[2]), high: Vec3::new(high[0], high[1], high[2]) }
        }));
        for (g, piece) in batches.iter_mut().flat_map(|batch| &mut batch.pieces).enumerate() {
            let mut most = 0.0f32;
            for &h in &piece.partners {
                let (a, b) = (&ways[g], &ways[h as usize]);
                most = most.max((a.high - b.low).max(b.high - a.low).length_squared());
            }
            // Rounding must not make it less.
            piece.used += most.sqrt() * (1.0 + 8.0 * f32::EPSILON) + rounding;
            piece.stale |= reach + piece.used > piece.limit;
        }
    }

    /// Finds patches within `limit` (m) of each other, and pieces that have new neighbours.
    fn search(&mut self, team: &mut Team, level: SimdLevel, soup: &Soup, x: &[Particle], limit: f32) {
        self.reference.clear();
        self.reference.extend_from_slice(x);
        self.limit = limit;
        self.boxes.refit(team, soup, x, 0.5 * limit);
        // Further than needed, so that a piece does not get new neighbours all the time.
        self.query.within(team, level, &self.boxes.patches, 0.25 * limit, &mut self.near);
        let (boxes, meshes_only) = (&self.boxes.patches, self.meshes_only);
        let kinematic = |patch: u32| soup.groups[soup.patch_group[patch as usize] as usize].kinematic;
        // The list is in order of its first patches.
        let mut near = &self.near[..];
        for (g, piece) in self.batches.iter_mut().flat_map(|batch| &mut batch.pieces).enumerate() {
            let g = g as u32;
            let count = near.iter().take_while(|pair| pair[0] == g).count();
            let (own, rest) = near.split_at(count);
            near = rest;
            let looked_at = |h: u32| match (kinematic(g), kinematic(h)) {
                (true, true) => false,
                (false, false) => !meshes_only,
                _ => true,
            };
            let wanted = own.iter().map(|pair| pair[1]).filter(|&h| looked_at(h));
            let mut needed = wanted.clone().filter(|&h| boxes[g as usize].meets(&boxes[h as usize]));
            piece.stale |= !needed.all(|h| piece.partners.contains(&h));
            if piece.stale {
                piece.partners.clear();
                piece.partners.extend(looked_at(g).then_some(g).into_iter().chain(wanted));
            }
        }
    }

    /// Collects all pairs within `limit` (m) of pieces that are too old or have new neighbours; says whether there were any.
    fn collect(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        soup: &Soup,
        x: &[Particle],
        limit: f32,
    ) -> bool {
        self.chosen.clear();
        self.chosen.resize(soup.patches(), false);
        let mut any = false;
        for (g, piece) in self.batches.iter_mut().flat_map(|batch| &mut batch.pieces).enumerate() {
            // Without a partner there is nothing to grow old.
            piece.stale &= !piece.partners.is_empty();
            if piece.stale {
                any = true;
                self.chosen[g] = true;
                piece.partners.iter().for_each(|&h| self.chosen[h as usize] = true);
            }
        }
        if !any {
            return false;
        }
        self.boxes.refit_some(team, soup, x, 0.5 * limit, &self.chosen);
        let (kinds, patches) = (self.kinds, self.boxes.view(soup));
        team.for_each_item(&mut self.batches, |k, batch| {
            let Batch { pieces, work, .. } = batch;
            for (i, piece) in pieces.iter_mut().enumerate().filter(|(_, piece)| piece.stale) {
                let g = (k * BATCH + i) as u32;
                piece.collect(level, soup, &patches, g, x, limit, kinds, work);
            }
        });
        true
    }
}

/// How far `x` is from `from`. What all have in common does not bring any two closer: of the box around all motions, half the diagonal counts, if it is
/// less than the longest.
fn motion(soup: &Soup, from: &[Particle], x: &[Particle]) -> Motion {
    let (mut low, mut high) = ([f32::INFINITY; 4], [f32::NEG_INFINITY; 4]);
    let (mut far, mut longest) = ([0.0f32; 4], 0.0f32);
    for span in &soup.spans {
        for x in &x[span.clone()] {
            let x = x.to_array();
            for c in 0..4 {
                let size = x[c].abs();
                far[c] = if size > far[c] { size } else { far[c] };
            }
        }
        if from.len() != x.len() {
            continue;
        }
        for (x, from) in x[span.clone()].iter().zip(&from[span.clone()]) {
            let (x, from) = (x.to_array(), from.to_array());
            let mut square = 0.0;
            for c in 0..4 {
                let way = x[c] - from[c];
                low[c] = if way < low[c] { way } else { low[c] };
                high[c] = if way > high[c] { way } else { high[c] };
                if c < 3 {
                    square += way * way;
                }
            }
            longest = if square > longest { square } else { longest };
        }
    }
    let diagonal = Vec3::new(high[0] - low[0], high[1] - low[1], high[2] - low[2]).length();
    Motion { half: longest.sqrt().min(0.5 * diagonal), far: far[0].max(far[1]).max(far[2]) }
}

/// A distance that is never too large, or [`UNSURE`]; and whether the closest points are inside both sides.
#[derive(Clone, Copy)]
struct Low(Kind);

impl StencilKernel<2> for Low {
    #[inline(always)]
    fn apply<L: Lane>(&self, x: &[V3<L>; 4], like: L) -> [L; 2] {
        let near = proximity::near(self.0, x, like.like(f32::EPSILON));
        let (distance, doubt) = (near.squared.sqrt(), near.doubt_squared.sqrt());
        // Where doubt is above a sixteenth, double precision has to tell.
        let low = distance.select_lt(doubt * like.like(16.0), like.like(UNSURE), distance - doubt);
        [low, near.inner]
    }
}

/// Weights, direction, distance, and how wide the slab along the direction is that has one side on each side of it.
#[derive(Clone, Copy)]
struct Closest(Kind);

impl StencilKernel<9> for Closest {
    #[inline(always)]
    fn apply<L: Lane>(&self, x: &[V3<L>; 4], like: L) -> [L; 9] {
        let near = proximity::near(self.0, x, like.like(f32::EPSILON));
        let w = near.weights;
        // From the first point, so that far from the origin nothing is lost.
        let (a, b, c) = (x[1] - x[0], x[2] - x[0], x[3] - x[0]);
        let between = a * w[1] + b * w[2] + c * w[3];
        let length = between.length_squared().sqrt();
        let n = between * (like.like(1.0) / (length + like.like(f32::MIN_POSITIVE)));
        let (a, b, c) = (n.dot(a), n.dot(b), n.dot(c));
        let width = match self.0 {
            Kind::PointTriangle => like.like(0.0) - a.max(b.max(c)),
            Kind::SegmentSegment => a.min(like.like(0.0)) - b.max(c),
        };
        [w[0], w[1], w[2], w[3], n.x, n.y, n.z, near.squared.sqrt(), width]
    }
}

/// What is being looked at, and how.
struct View<'a> {
    level: SimdLevel,
    soup: &'a Soup,
    x: &'a [Particle],
    settings: &'a Settings,
    /// What rounding may have done, m.
    epsilon: f32,
}

impl Piece {
    fn collect(
        &mut self,
        level: SimdLevel,
        soup: &Soup,
        view: &Patches<'_>,
        patch: u32,
        x: &[Particle],
        limit: f32,
        kinds: [bool; 2],
        work: &mut Scratch,
    ) {
        (self.limit, self.used, self.stale) = (limit, 0.0, false);
        work.pairs.clear();
        work.pairs.extend(self.partners.iter().map(|&h| [patch, h]));
        let [points, segments] = &mut work.raw;
        points.clear();
        segments.clear();
        view.cull(level, &work.pairs, points, segments);
        for k in 0..2 {
            if !kinds[k] {
                work.raw[k].clear();
            }
            distances(level, KINDS[k], x, &work.raw[k], &mut work.low);
            self.lists[k].file(&work.raw[k], &work.low, limit, &mut work.bins);
            self.lists[k].find_gaps(KINDS[k], soup);
        }
    }
}

impl Batch {
    fn measure(&mut self, view: &View<'_>, nearest: &[Vec<AtomicU32>; 2]) {
        self.measured = 0;
        self.nearest = view.settings.reach;
        self.rows.clear();
        self.slabs.clear();
        let Batch { pieces, rows, slabs, work, .. } = self;
        for k in 0..2 {
            work.touching.clear();
            work.touching_gaps.clear();
            for piece in pieces.iter().filter(|piece| !piece.partners.is_empty()) {
                // Bins that can hold a pair which is within reach by now.
                let far = view.settings.reach + piece.used + view.epsilon;
                let bins = ((far / piece.limit * BINS as f32) as usize + 1).min(BINS);
                let list = &piece.lists[k];
                let count = list.ends[bins - 1] as usize;
                self.measured += count;
                let least =
                    work.measure(view, KINDS[k], &list.stencils[..count], &list.gaps[..count], nearest);
                self.nearest = self.nearest.min(least);
            }
            work.touch(view, KINDS[k], nearest, rows, slabs);
        }
    }
}

impl Scratch {
    /// Takes the minima of room, and notes what touches; gives the least distance, m.
    fn measure(
        &mut self,
        view: &View<'_>,
        kind: Kind,
        stencils: &[[u32; 4]],
        gaps: &[f32],
        nearest: &[Vec<AtomicU32>; 2],
    ) -> f32 {
        let Settings { reach, early, .. } = *view.settings;
        let mut least = reach;
        distances(view.level, kind, view.x, stencils, &mut self.low);
        let blocks = self.low.iter().zip(stencils.chunks(LANES)).zip(gaps.chunks(LANES));
        for (([low, inner], stencils), gaps) in blocks {
            for (i, stencil) in stencils.iter().enumerate() {
                let low = low.0[i];
                if low >= reach {
                    continue;
                }
                least = least.min(low);
                let listed = low < NEAR * gaps[i] + early;
                let room = view.room(stencil, low, gaps[i], listed);
                lower(&nearest[0], stencil, room);
                if listed {
                    // Where an end of an edge is closest, its vertex and the triangles beside the other edge are as close.
                    let inside = inner.0[i] != 0.0 || kind == Kind::PointTriangle;
                    self.touching.push(*stencil);
                    self.touching_gaps.push((gaps[i], inside));
                } else {
                    lower(&nearest[1], stencil, room);
                }
            }
        }
        least
    }

    /// Rows and slabs of what touches.
    fn touch(
        &mut self,
        view: &View<'_>,
        kind: Kind,
        nearest: &[Vec<AtomicU32>; 2],
        rows: &mut Vec<ContactRow>,
        slabs: &mut Vec<Slab>,
    ) {
        let (soup, x) = (view.soup, view.x);
        stencils(view.level, Closest(kind), x, &self.touching, &mut self.closest);
        for (i, (&particles, &(gap, inside))) in self.touching.iter().zip(&self.touching_gaps).enumerate() {
            let (row, width) = row(kind, particles, gap, lane(&self.closest, i), x);
            // A direction that is not good enough leaves too narrow a slab: then a ball has to do.
            if width > 0.5 * row.distance {
                let room = view.slab_room(&particles, width.min(row.distance));
                lower(&nearest[0], &particles, room.max(0.0));
                slabs.push(Slab { particles, normal: row.normal, room, kind });
            } else {
                lower(&nearest[1], &particles, view.room(&particles, row.distance, gap, true));
            }
            let corners = [row.weights[1], row.weights[2], row.weights[3]].map(|w| -w);
            if inside && (kind == Kind::SegmentSegment || soup.reports(&particles, corners, x)) {
                rows.push(row);
            }
        }
    }
}

impl View<'_> {
    /// How far each side of a slab may go, m; below zero where rounding might be enough to cross, and only a way out is safe.
    fn slab_room(&self, stencil: &[u32; 4], width: f32) -> f32 {
        let room = self.settings.gamma * (width - self.epsilon);
        if room > 0.0 && self.soup.meets_still(stencil) { 2.0 * room } else { room }
    }

    /// How far each side of a pair may go, m.
    #[inline(always)]
    fn room(&self, stencil: &[u32; 4], distance: f32, gap: f32, listed: bool) -> f32 {
        let room = self.settings.room(distance - self.epsilon, gap, listed);
        // What one side does not use, the other may.
        if self.soup.meets_still(stencil) { 2.0 * room } else { room }
    }
}

/// Lowers the room of four vertices, m.
#[inline(always)]
fn lower(nearest: &[AtomicU32], stencil: &[u32; 4], room: f32) {
    // Positive numbers are ordered as their bits are.
    let room = room.to_bits();
    for &v in stencil {
        let place = &nearest[v as usize];
        // Most are no news.
        if room < place.load(Ordering::Relaxed) {
            place.fetch_min(room, Ordering::Relaxed);
        }
    }
}

/// The direction in which two sides that are very near are apart. The way between their closest points is mostly rounding then; where those are
/// inside both, the direction is also that across both.
fn direction(kind: Kind, x: [DVec3; 4], between: DVec3, weights: [f32; 4]) -> DVec3 {
    let across = match kind {
        Kind::PointTriangle => (x[2] - x[1]).cross(x[3] - x[1]),
        Kind::SegmentSegment => (x[1] - x[0]).cross(x[3] - x[2]),
    };
    let size = (x[2] - x[1]).length_squared() + (x[3] - x[1]).length_squared();
    if weights.contains(&0.0) || across.length() < 1e-3 * size {
        return between;
    }
    let n = across.normalize();
    if n.dot(between) < 0.0 { -n } else { n }
}

/// A row and the width of the slab from what was computed, in double precision where they touch.
fn row(kind: Kind, particles: [u32; 4], gap: f32, values: [f32; 9], x: &[Particle]) -> (ContactRow, f32) {
    let [w0, w1, w2, w3, nx, ny, nz, distance, width] = values;
    let (mut weights, mut normal, mut distance, mut width) =
        ([w0, w1, w2, w3], [nx, ny, nz], distance, width);
    let at = particles.map(|v| Vec3::from(x[v as usize].p));
    if width < 0.9 * distance || distance < CLOSE * (at[0] - at[3]).length() {
        let near = proximity::proximity(kind, at);
        let n = direction(kind, at.map(|p| p.as_dvec3()), near.direction.as_dvec3(), near.weights);
        (weights, normal, distance) = (near.weights, n.as_vec3().into(), near.distance);
        let [a, b, c] = [1, 2, 3].map(|i| n.dot((at[i] - at[0]).as_dvec3()));
        width = match kind {
            Kind::PointTriangle => -a.max(b).max(c) as f32,
            Kind::SegmentSegment => (a.min(0.0) - b.max(c)) as f32,
        };
    }
    (ContactRow { particles, weights, normal, gap, distance, kind }, width)
}

/// The numbers of stencil i.
#[inline(always)]
fn lane<const R: usize>(blocks: &[[F8; R]], i: usize) -> [f32; R] {
    let block = &blocks[i / LANES];
    std::array::from_fn(|r| block[r].0[i % LANES])
}

/// Distances that are never too large, m, and whether the closest points are inside.
fn distances(level: SimdLevel, kind: Kind, x: &[Particle], list: &[[u32; 4]], low: &mut Vec<[F8; 2]>) {
    stencils(level, Low(kind), x, list, low);
    for (block, list) in low.iter_mut().zip(list.chunks(LANES)) {
        if block[0].0.iter().all(|&low| low >= 0.0) {
            continue;
        }
        for (low, stencil) in block[0].0.iter_mut().zip(list).filter(|(low, _)| **low < 0.0) {
            *low = proximity::lower_distance(kind, stencil.map(|v| Vec3::from(x[v as usize].p)));
        }
    }
}

impl List {
    /// Keeps what is nearer than `limit` (m), by bins of distance.
    fn file(&mut self, raw: &[[u32; 4]], low: &[[F8; 2]], limit: f32, bins: &mut Vec<u8>) {
        let scale = BINS as f32 / limit;
        let mut counts = [0u32; BINS + 1];
        bins.clear();
        for block in low {
            for &low in &block[0].0 {
                let bin = if low < limit { ((low * scale) as usize).min(BINS - 1) } else { BINS };
                bins.push(bin as u8);
            }
        }
        bins.truncate(raw.len());
        bins.iter().for_each(|&bin| counts[bin as usize] += 1);
        let mut begin = 0;
        let mut next = [0u32; BINS + 1];
        for bin in 0..BINS {
            next[bin] = begin;
            begin += counts[bin];
            self.ends[bin] = begin;
        }
        self.stencils.clear();
        self.stencils.resize(begin as usize, [0; 4]);
        for (stencil, &bin) in raw.iter().zip(bins.iter()) {
            if (bin as usize) < BINS {
                self.stencils[next[bin as usize] as usize] = *stencil;
                next[bin as usize] += 1;
            }
        }
    }

    fn find_gaps(&mut self, kind: Kind, soup: &Soup) {
        self.gaps.clear();
        self.gaps.extend(self.stencils.iter().map(|stencil| soup.gap(kind, stencil)));
    }
}

mod clamp;
#[cfg(test)]
mod tests;

use clamp::Wall;
pub use clamp::{FREE, STOPPED};
