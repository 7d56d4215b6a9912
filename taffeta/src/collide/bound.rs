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

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use glam::Vec3;

use super::proximity::{self, Kind};
use super::query::{NearPairs, Structure};
use super::soup::{PatchBoxes, Soup};
use crate::lanes::{LANES, Lane, SimdLevel, V3};
use crate::par::Team;
use crate::wide::{F8, Particle, Patches, StencilKernel, stencils};

/// How a detection looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// r: pairs nearer than this are looked at, m. No vertex goes further than γ r until the next detection.
    pub reach: f32,
    /// s: collected pairs serve while no vertex has moved by more than this, m.
    pub margin: f32,
    /// γ: the part of a distance that one side may use up; below ½.
    pub gamma: f32,
    /// A contact is listed if its sides are nearer than its gap and this, m; with −∞ none is, which is faster.
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
        let room = if unseen { room.min(0.5 * (distance - gap)) } else { room };
        room.max(0.0)
    }
}

/// Collected pairs are filed in so many bins by distance.
const BINS: usize = 16;
/// Pairs of patches in one piece of work.
const PAIRS: usize = 32;
/// Vertices handed to a thread at a time.
const GRAIN: usize = 64;
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

/// x, brought back to within `b` of `c`.
#[inline]
pub fn clamp(c: Vec3, b: f32, x: Vec3) -> Vec3 {
    let way = x - c;
    let length = way.length();
    // A little less, so that rounding does not leave it outside.
    if length > b { c + way * (b / length * (1.0 - 4.0 * f32::EPSILON)) } else { x }
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

/// What a piece of work keeps.
#[derive(Clone, Debug, Default)]
struct Piece {
    lists: [List; 2],
    raw: [Vec<[u32; 4]>; 2],
    low: Vec<[F8; 2]>,
    bins: Vec<u8>,
    touching: [Vec<[u32; 4]>; 2],
    touching_gaps: [Vec<f32>; 2],
    closest: Vec<[F8; 8]>,
    rows: Vec<ContactRow>,
    measured: usize,
    nearest: f32,
}

const KINDS: [Kind; 2] = [Kind::PointTriangle, Kind::SegmentSegment];

/// Finds distances, bounds and contacts of a soup.
pub struct Detector {
    query: Box<dyn NearPairs>,
    boxes: PatchBoxes,
    near: Vec<[u32; 2]>,
    work: Vec<[u32; 2]>,
    pieces: Vec<Piece>,
    /// How many pieces are in use.
    used: usize,
    /// Where everything was when pairs were collected, and with what settings.
    reference: Vec<Particle>,
    collected: Option<[f32; 2]>,
    /// c, with the drift added.
    center: Vec<Particle>,
    nearest: Vec<AtomicU32>,
    bounds: Vec<f32>,
    rows: Vec<ContactRow>,
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
    /// Searches with the given structure.
    pub fn new(structure: Structure) -> Self {
        Detector {
            query: structure.make(),
            boxes: PatchBoxes::default(),
            near: Vec::new(),
            work: Vec::new(),
            pieces: Vec::new(),
            used: 0,
            reference: Vec::new(),
            collected: None,
            center: Vec::new(),
            nearest: Vec::new(),
            bounds: Vec::new(),
            rows: Vec::new(),
            kinds: [true; 2],
        }
    }

    /// Forgets the collected pairs: the next detection searches anew. For particles that jumped, or a soup that changed.
    pub fn forget(&mut self) {
        self.collected = None;
        self.boxes.clear();
    }

    /// b of every vertex, m.
    pub fn bounds(&self) -> &[f32] {
        &self.bounds
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
        let Settings { reach, margin, drift, .. } = *settings;
        let x = &x[..soup.vertices()];
        let mut motion = motion(soup, &self.reference, x);
        let fresh = self.collected != Some([reach, margin])
            || self.reference.len() != x.len()
            || motion.half > margin;
        // Rounding of positions when they are clamped, and of these sums.
        let epsilon = 8.0 * f32::EPSILON * (motion.far + reach + margin);
        let limit = reach + 2.0 * margin + epsilon;
        if fresh {
            self.collect(team, level, soup, x, limit);
            self.collected = Some([reach, margin]);
            motion.half = 0.0;
        }
        self.center.clear();
        self.center.extend(x.iter().map(|x| Particle { p: (Vec3::from(x.p) + drift).into(), w: x.w }));
        self.nearest.resize_with(x.len(), AtomicU32::default);
        // Pairs that are not listed are beyond the reach, and no contact.
        let cap = settings.room(reach - epsilon, soup.thickest(), false);
        self.nearest.iter_mut().for_each(|n| *n.get_mut() = cap.to_bits());

        // Bins that can hold a pair which is within reach by now.
        let bin_width = limit / BINS as f32;
        let bins = (((reach + 2.0 * motion.half + epsilon) / bin_width) as usize + 1).min(BINS);
        let (nearest, pieces) = (&self.nearest, &mut self.pieces[..self.used]);
        team.for_each_item(pieces, |_, piece| {
            piece.measure(level, soup, x, settings, epsilon, bins, nearest);
        });
        let mut report = Detection { collected: fresh, candidates: 0, measured: 0, nearest: reach };
        self.rows.clear();
        for piece in &self.pieces[..self.used] {
            report.candidates += piece.lists[0].stencils.len() + piece.lists[1].stencils.len();
            report.measured += piece.measured;
            report.nearest = report.nearest.min(piece.nearest);
            self.rows.extend_from_slice(&piece.rows);
        }
        self.bounds.clear();
        self.bounds.extend(self.nearest.iter_mut().map(|n| f32::from_bits(*n.get_mut())));
        report
    }

    /// Collects all pairs within `limit` (m).
    fn collect(&mut self, team: &mut Team, level: SimdLevel, soup: &Soup, x: &[Particle], limit: f32) {
        self.reference.clear();
        self.reference.extend_from_slice(x);
        self.boxes.refit(team, soup, x, 0.5 * limit);
        self.query.within(team, level, &self.boxes.patches, 0.0, &mut self.near);
        let kinematic = |patch: u32| soup.groups[soup.patch_group[patch as usize] as usize].kinematic;
        self.work.clear();
        self.work.extend((0..soup.patches() as u32).filter(|&g| !kinematic(g)).map(|g| [g, g]));
        self.work.extend(self.near.iter().filter(|[g, h]| !(kinematic(*g) && kinematic(*h))));
        self.used = self.work.len().div_ceil(PAIRS);
        if self.pieces.len() < self.used {
            self.pieces.resize_with(self.used, Piece::default);
        }
        let (work, kinds, view) = (&self.work, self.kinds, self.boxes.view(soup));
        team.for_each_item(&mut self.pieces[..self.used], |k, piece| {
            let pairs = &work[k * PAIRS..((k + 1) * PAIRS).min(work.len())];
            piece.collect(level, soup, &view, pairs, x, limit, kinds);
        });
    }

    /// How many vertices are further than they may go.
    pub fn outside(&self, team: &mut Team, x: &[Particle]) -> usize {
        let count = AtomicUsize::new(0);
        let (center, bounds) = (&self.center[..], &self.bounds[..]);
        let x = &x[..center.len()];
        team.run(|worker| {
            let range = worker.share(x.len(), GRAIN);
            let all = x[range.clone()].iter().zip(&center[range.clone()]).zip(&bounds[range]);
            let mut here = 0u32;
            for ((x, c), &b) in all {
                here += beyond(x, c, b) as u32;
            }
            count.fetch_add(here as usize, Ordering::Relaxed);
        });
        count.into_inner()
    }

    /// Brings vertices back that went further than they may, and says how many. Where they wanted to go is kept in `wanted`,
    /// with w = 1 for those and 0 for all others.
    pub fn clamp(&self, team: &mut Team, x: &mut [Particle], wanted: &mut [Particle]) -> usize {
        let count = AtomicUsize::new(0);
        let (center, bounds) = (&self.center, &self.bounds);
        let (x, wanted) = (&mut x[..center.len()], &mut wanted[..center.len()]);
        team.for_each_chunk2(x, wanted, GRAIN, |first, x, wanted| {
            let mut here = 0;
            let (center, bounds) = (&center[first..first + x.len()], &bounds[first..first + x.len()]);
            for (((x, wanted), c), &b) in x.iter_mut().zip(wanted).zip(center).zip(bounds) {
                wanted.w = 0.0;
                if beyond(x, c, b) {
                    *wanted = Particle { p: x.p, w: 1.0 };
                    x.p = clamp(c.p.into(), b, x.p.into()).into();
                    here += 1;
                }
            }
            count.fetch_add(here, Ordering::Relaxed);
        });
        count.into_inner()
    }
}

/// Whether `x` is further than `b` (m) from `c`.
#[inline(always)]
fn beyond(x: &Particle, c: &Particle, b: f32) -> bool {
    let (x, c) = (x.to_array(), c.to_array());
    let (dx, dy, dz) = (x[0] - c[0], x[1] - c[1], x[2] - c[2]);
    dx * dx + dy * dy + dz * dz > b * b
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

/// Weights, direction and distance.
#[derive(Clone, Copy)]
struct Closest(Kind);

impl StencilKernel<8> for Closest {
    #[inline(always)]
    fn apply<L: Lane>(&self, x: &[V3<L>; 4], like: L) -> [L; 8] {
        let near = proximity::near(self.0, x, like.like(f32::EPSILON));
        let w = near.weights;
        // From the first point, so that far from the origin nothing is lost.
        let between = (x[1] - x[0]) * w[1] + (x[2] - x[0]) * w[2] + (x[3] - x[0]) * w[3];
        let length = between.length_squared().sqrt();
        let n = between * (like.like(1.0) / (length + like.like(f32::MIN_POSITIVE)));
        [w[0], w[1], w[2], w[3], n.x, n.y, n.z, near.squared.sqrt()]
    }
}

impl Piece {
    fn collect(
        &mut self,
        level: SimdLevel,
        soup: &Soup,
        view: &Patches<'_>,
        pairs: &[[u32; 2]],
        x: &[Particle],
        limit: f32,
        kinds: [bool; 2],
    ) {
        let [points, segments] = &mut self.raw;
        points.clear();
        segments.clear();
        view.cull(level, pairs, points, segments);
        for k in 0..2 {
            if !kinds[k] {
                self.raw[k].clear();
            }
            distances(level, KINDS[k], x, &self.raw[k], &mut self.low);
            self.lists[k].file(&self.raw[k], &self.low, limit, &mut self.bins);
            self.lists[k].find_gaps(KINDS[k], soup);
        }
    }

    fn measure(
        &mut self,
        level: SimdLevel,
        soup: &Soup,
        x: &[Particle],
        settings: &Settings,
        epsilon: f32,
        bins: usize,
        nearest: &[AtomicU32],
    ) {
        let Settings { reach, early, .. } = *settings;
        let colliders = soup.groups.iter().any(|g| g.still);
        let still = |v: u32| soup.groups[soup.vertex_group[v as usize] as usize].still;
        self.measured = 0;
        let mut least = reach.to_bits();
        self.rows.clear();
        for k in 0..2 {
            let list = &self.lists[k];
            let count = list.ends[bins - 1] as usize;
            self.measured += count;
            distances(level, KINDS[k], x, &list.stencils[..count], &mut self.low);
            let (touching, gaps) = (&mut self.touching[k], &mut self.touching_gaps[k]);
            touching.clear();
            gaps.clear();
            let (all, all_gaps) = (&list.stencils[..count], &list.gaps[..count]);
            let blocks = self.low.iter().zip(all.chunks(LANES)).zip(all_gaps.chunks(LANES));
            for (([low, inner], stencils), gaps_here) in blocks {
                for (i, stencil) in stencils.iter().enumerate() {
                    let low = low.0[i];
                    if low >= reach {
                        continue;
                    }
                    // Positive numbers are ordered as their bits are.
                    least = least.min(low.to_bits());
                    let gap = gaps_here[i];
                    let listed = low < gap + early;
                    let mut room = settings.room(low - epsilon, gap, listed);
                    // What one side does not use, the other may.
                    if colliders && (still(stencil[0]) || still(stencil[3])) {
                        room *= 2.0;
                    }
                    let room = room.to_bits();
                    for &v in stencil {
                        let place = &nearest[v as usize];
                        // Most are no news.
                        if room < place.load(Ordering::Relaxed) {
                            place.fetch_min(room, Ordering::Relaxed);
                        }
                    }
                    // Where an end of an edge is closest, its vertex and the triangles beside the other edge are as close.
                    let inside = inner.0[i] != 0.0 || KINDS[k] == Kind::PointTriangle;
                    if inside && listed {
                        touching.push(*stencil);
                        gaps.push(gap);
                    }
                }
            }
            stencils(level, Closest(KINDS[k]), x, touching, &mut self.closest);
            for (i, (&particles, &gap)) in touching.iter().zip(gaps.iter()).enumerate() {
                let values = lane(&self.closest, i);
                let row = row(KINDS[k], particles, gap, values, x);
                let corners = [row.weights[1], row.weights[2], row.weights[3]].map(|w| -w);
                if row.kind == Kind::SegmentSegment || soup.reports(&particles, corners, x) {
                    self.rows.push(row);
                }
            }
        }
        self.nearest = f32::from_bits(least);
    }
}

/// A row from weights, direction and distance; in double precision where they touch.
fn row(kind: Kind, particles: [u32; 4], gap: f32, values: [f32; 8], x: &[Particle]) -> ContactRow {
    let [w0, w1, w2, w3, nx, ny, nz, distance] = values;
    let (mut weights, mut normal, mut distance) = ([w0, w1, w2, w3], [nx, ny, nz], distance);
    let size = Vec3::from(x[particles[0] as usize].p) - Vec3::from(x[particles[3] as usize].p);
    if distance < 1e-4 * size.length() {
        let near = proximity::proximity(kind, particles.map(|v| Vec3::from(x[v as usize].p)));
        (weights, normal, distance) = (near.weights, near.direction.into(), near.distance);
    }
    ContactRow { particles, weights, normal, gap, distance, kind }
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

#[cfg(test)]
mod tests;
