//! Pairs that may come near each other, kept from one detection to the next.

use glam::Vec3;

use super::measure::distances;
use crate::collide::proximity::Kind;
use crate::collide::query::{Aabb, NearPairs, Structure};
use crate::collide::soup::{PatchBoxes, Soup};
use crate::lanes::SimdLevel;
use crate::par::Team;
use crate::step::{Stage, Stopwatch};
use crate::wide::{F8, Particle, Patches};

/// Collected pairs are filed in so many bins by distance.
const BINS: usize = 16;
/// Patches in one piece of work.
const BATCH: usize = 8;
/// Near patches are searched for so many times as far ahead as the plan goes.
const AHEAD: f32 = 2.0;

pub(super) const KINDS: [Kind; 2] = [Kind::PointTriangle, Kind::SegmentSegment];

/// How far pairs matter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Horizon {
    /// Pairs nearer than this at any time matter, m.
    pub reach: f32,
    /// More than is needed on each side, so that it serves for longer, m.
    pub margin: f32,
    /// What two sides may be expected to go against each other, m.
    pub sweep: f32,
    /// Substeps.
    pub steps: u32,
    /// What rounding may have done, m.
    pub epsilon: f32,
}

/// Pairs of one kind, in order of their bins.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    pub stencils: Vec<[u32; 4]>,
    /// The distance each should keep, m.
    pub gaps: Vec<f32>,
    /// Where each bin ends.
    ends: [u32; BINS],
}

impl List {
    /// How many may be nearer than `far` (m) of `limit`.
    pub fn within(&self, far: f32, limit: f32) -> usize {
        let bins = ((far / limit * BINS as f32) as usize + 1).min(BINS);
        self.ends[bins - 1] as usize
    }

    /// Keeps what is nearer than `limit` (m), by bins of distance.
    fn file(&mut self, raw: &[[u32; 4]], low: &[[F8; 1]], limit: f32, bins: &mut Vec<u8>) {
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

/// A patch whose pairs with the patch of a piece are in its lists.
#[derive(Clone, Copy, Debug)]
struct Partner {
    patch: u32,
    /// All pairs nearer than this were collected, m.
    limit: f32,
    /// By how much any of them can have come nearer since, m.
    used: f32,
    /// How far two sides are expected to go against each other now, m.
    slack: f32,
}

/// The pairs of one patch with itself and with patches of a higher number.
#[derive(Clone, Debug, Default)]
pub(super) struct Piece {
    partners: Vec<Partner>,
    pub lists: [List; 2],
    /// Pairs were filed by their distance up to this, m.
    pub limit: f32,
    /// Those below this distance then may matter now, m; none if zero.
    pub far: f32,
    /// How far two sides are expected to go against each other, m.
    pub slack: f32,
    /// Whether it has to be collected anew.
    stale: bool,
}

/// Neighbouring pieces: one piece of work.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    pub pieces: Vec<Piece>,
    work: Scratch,
}

#[derive(Clone, Debug, Default)]
struct Scratch {
    pairs: Vec<([u32; 2], f32)>,
    raw: [Vec<[u32; 4]>; 2],
    low: Vec<[F8; 1]>,
    bins: Vec<u8>,
}

/// Where a patch is, how it moved since the last detection, and how its vertices are expected to move in a substep.
#[derive(Clone, Copy, Debug)]
struct Survey {
    at: Aabb,
    way: Aabb,
    plan: Aabb,
}

/// All pairs that are kept.
pub(super) struct Collection {
    query: Box<dyn NearPairs>,
    boxes: PatchBoxes,
    near: Vec<[u32; 2]>,
    pub batches: Vec<Batch>,
    surveys: Vec<Survey>,
    /// Patches whose boxes are needed.
    chosen: Vec<bool>,
    /// Where each patch may be without a new search, if the mean of all is there.
    homes: Vec<Aabb>,
    mean: Vec3,
    /// Where everything was at the last detection.
    last: Vec<Particle>,
    partners: Vec<Partner>,
    meshes_only: bool,
    /// What is looked at; all but in tests that show why it must be.
    pub kinds: [bool; 2],
}

/// The longest difference of a vector in one box and one in the other.
#[inline(always)]
fn relative(a: &Aabb, b: &Aabb) -> f32 {
    (a.high - b.low).max(b.high - a.low).length()
}

/// The distance of two boxes.
#[inline(always)]
fn apart(a: &Aabb, b: &Aabb) -> f32 {
    (a.low - b.high).max(b.low - a.high).max(Vec3::ZERO).length()
}

impl Collection {
    pub fn new(structure: Structure, meshes_only: bool) -> Self {
        Collection {
            query: structure.make(),
            boxes: PatchBoxes::default(),
            near: Vec::new(),
            batches: Vec::new(),
            surveys: Vec::new(),
            chosen: Vec::new(),
            homes: Vec::new(),
            mean: Vec3::ZERO,
            last: Vec::new(),
            partners: Vec::new(),
            meshes_only,
            kinds: [true; 2],
        }
    }

    pub fn forget(&mut self) {
        self.last.clear();
        self.boxes.clear();
        self.batches.clear();
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        let count = |piece: &Piece| piece.lists[0].stencils.len() + piece.lists[1].stencils.len();
        self.pieces().map(count).sum()
    }

    fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.batches.iter().flat_map(|batch| &batch.pieces)
    }

    /// Makes sure that all pairs that matter are there, and shortens the plan if too much would; says whether any had to be collected.
    pub fn update(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        clock: &mut Stopwatch,
        soup: &Soup,
        x: &[Particle],
        ways: &[Particle],
        horizon: &mut Horizon,
    ) -> bool {
        let anew = self.last.len() != x.len();
        if anew {
            self.batches.resize_with(soup.patches().div_ceil(BATCH), Batch::default);
            let left = |k: usize| (soup.patches() - k * BATCH).min(BATCH);
            let batches = self.batches.iter_mut().enumerate();
            batches.for_each(|(k, batch)| batch.pieces.resize_with(left(k), Piece::default));
            self.last.clear();
            self.last.extend_from_slice(x);
        }
        self.survey(team, soup, x, ways);
        self.last.copy_from_slice(x);
        let far = |s: &Survey| s.at.high.abs().max(s.at.low.abs()).max_element();
        let far = self.surveys.iter().map(far).fold(0.0, f32::max);
        let round = |length: f32| 8.0 * f32::EPSILON * (far + length);
        self.grow_old(0.5 * round(horizon.reach));
        self.shorten(horizon);
        let steps = horizon.steps as f32;
        let planned = |s: &Survey| s.plan.high.abs().max(s.plan.low.abs()).max_element();
        let planned = self.surveys.iter().map(planned).fold(0.0, f32::max);
        // Rounding of positions when they are clamped, and of these sums.
        horizon.epsilon = round(horizon.reach + horizon.margin + steps * planned);
        if anew || !self.at_home(horizon) {
            self.search(team, level, soup, horizon);
            clock.lap(Stage::Tree);
        }
        let fresh = self.choose(soup, horizon);
        if fresh {
            self.collect(team, level, soup, x, horizon);
        }
        clock.lap(Stage::Candidates);
        fresh
    }

    fn survey(&mut self, team: &mut Team, soup: &Soup, x: &[Particle], ways: &[Particle]) {
        let nowhere = Survey { at: Aabb::EMPTY, way: Aabb::EMPTY, plan: Aabb::EMPTY };
        self.surveys.resize(soup.patches(), nowhere);
        let last = &self.last[..];
        team.for_each_chunk(&mut self.surveys, BATCH, |first, surveys| {
            for (i, survey) in surveys.iter_mut().enumerate() {
                let (mut low, mut high) = ([[f32::INFINITY; 4]; 3], [[f32::NEG_INFINITY; 4]; 3]);
                for &v in soup.patch_vertices(first + i) {
                    let (x, last) = (x[v as usize].to_array(), last[v as usize].to_array());
                    let u = ways[v as usize].to_array();
                    for c in 0..4 {
                        for (k, value) in [x[c], x[c] - last[c], u[c]].into_iter().enumerate() {
                            low[k][c] = if value < low[k][c] { value } else { low[k][c] };
                            high[k][c] = if value > high[k][c] { value } else { high[k][c] };
                        }
                    }
                }
                let hull = |k: usize| {
                    let ([a, b, c, _], [d, e, f, _]) = (low[k], high[k]);
                    Aabb { low: Vec3::new(a, b, c), high: Vec3::new(d, e, f) }
                };
                *survey = Survey { at: hull(0), way: hull(1), plan: hull(2) };
            }
        });
    }

    /// Counts what patches moved since the last detection against their pairs.
    fn grow_old(&mut self, rounding: f32) {
        let surveys = &self.surveys[..];
        for (g, piece) in self.batches.iter_mut().flat_map(|batch| &mut batch.pieces).enumerate() {
            for partner in &mut piece.partners {
                let way = relative(&surveys[g].way, &surveys[partner.patch as usize].way);
                // Rounding must not make it less.
                partner.used += way * (1.0 + 8.0 * f32::EPSILON) + rounding;
            }
        }
    }

    /// Plans for fewer substeps if patches that may meet would go too far against each other.
    fn shorten(&self, horizon: &mut Horizon) {
        if horizon.steps == 1 {
            return;
        }
        let (mut fastest, steps) = (0.0f32, horizon.steps as f32);
        for (piece, a) in self.pieces().zip(&self.surveys) {
            for partner in &piece.partners {
                let b = &self.surveys[partner.patch as usize];
                let speed = relative(&a.plan, &b.plan);
                if speed > fastest && apart(&a.at, &b.at) < horizon.reach + steps * speed {
                    fastest = speed;
                }
            }
        }
        let most = horizon.sweep / fastest;
        if most < steps {
            horizon.steps = (most as u32).max(1);
        }
    }

    /// The mean of where patches are, and of where they are expected to go in a substep.
    fn means(&self) -> (Vec3, Vec3) {
        let sum = |of: fn(&Survey) -> Vec3| self.surveys.iter().map(of).sum::<Vec3>();
        let count = self.surveys.len().max(1) as f32;
        (sum(|s| s.at.center()) / count, sum(|s| s.plan.center()) / count)
    }

    /// Where a patch is and will be in `steps` substeps, if everything were moved so that the mean is at rest.
    fn swept(survey: &Survey, from: Vec3, drift: Vec3, steps: f32) -> Aabb {
        let at = Aabb { low: survey.at.low - from, high: survey.at.high - from };
        let end = Aabb {
            low: at.low + (survey.plan.low - drift) * steps,
            high: at.high + (survey.plan.high - drift) * steps,
        };
        at.join(end)
    }

    /// Whether every patch is and stays where it was looked for.
    fn at_home(&self, horizon: &Horizon) -> bool {
        let (mean, drift) = self.means();
        let grow = 0.5 * (horizon.reach + 4.0 * horizon.epsilon);
        self.surveys.iter().zip(&self.homes).all(|(survey, home)| {
            let swept = Self::swept(survey, mean - self.mean, drift, horizon.steps as f32).grown(grow);
            swept.low.cmpge(home.low).all() && swept.high.cmple(home.high).all()
        })
    }

    /// Finds patches that may come near each other.
    fn search(&mut self, team: &mut Team, level: SimdLevel, soup: &Soup, horizon: &Horizon) {
        let (mean, drift) = self.means();
        self.mean = mean;
        let grow = 0.5 * (horizon.reach + 2.0 * horizon.margin) + 4.0 * horizon.epsilon;
        self.homes.clear();
        let steps = AHEAD * horizon.steps as f32;
        let homes =
            self.surveys.iter().map(|survey| Self::swept(survey, Vec3::ZERO, drift, steps).grown(grow));
        self.homes.extend(homes);
        self.query.within(team, level, &self.homes, 0.0, &mut self.near);
        let (meshes_only, fresh) = (self.meshes_only, &mut self.partners);
        let kinematic = |patch: u32| soup.groups[soup.patch_group[patch as usize] as usize].kinematic;
        // The list is in order of its first patches.
        let mut near = &self.near[..];
        for (g, piece) in self.batches.iter_mut().flat_map(|batch| &mut batch.pieces).enumerate() {
            let g = g as u32;
            let count = near.iter().take_while(|pair| pair[0] == g).count();
            let (own, rest) = near.split_at(count);
            near = rest;
            let looked_at = |&h: &u32| match (kinematic(g), kinematic(h)) {
                (true, true) => false,
                (false, false) => !meshes_only,
                _ => true,
            };
            let wanted = std::iter::once(g).chain(own.iter().map(|pair| pair[1])).filter(looked_at);
            // Both are in order of patches.
            let mut known = piece.partners.iter().copied().peekable();
            fresh.clear();
            for patch in wanted {
                while known.next_if(|partner| partner.patch < patch).is_some() {}
                let unknown = Partner { patch, limit: 0.0, used: 0.0, slack: 0.0 };
                fresh.push(known.next_if(|partner| partner.patch == patch).unwrap_or(unknown));
            }
            // Copied, not exchanged: so each keeps the memory it once needed.
            piece.partners.clear();
            piece.partners.extend_from_slice(fresh);
        }
    }

    /// Finds which pairs matter, and which pieces have to be collected for it; says whether there are any.
    fn choose(&mut self, soup: &Soup, horizon: &Horizon) -> bool {
        let (surveys, steps) = (&self.surveys[..], horizon.steps as f32);
        self.chosen.clear();
        self.chosen.resize(soup.patches(), false);
        let mut any = false;
        for (g, piece) in self.batches.iter_mut().flat_map(|batch| &mut batch.pieces).enumerate() {
            (piece.far, piece.slack, piece.stale) = (0.0, 0.0, false);
            for partner in &mut piece.partners {
                let (a, b) = (&surveys[g], &surveys[partner.patch as usize]);
                partner.slack = steps * relative(&a.plan, &b.plan);
                let need = horizon.reach + partner.slack + horizon.epsilon;
                if apart(&a.at, &b.at) > need {
                    continue;
                }
                piece.slack = piece.slack.max(partner.slack);
                piece.far = piece.far.max(need + partner.used);
                piece.stale |= need + partner.used > partner.limit;
            }
            if piece.stale {
                any = true;
                piece.far = horizon.reach + piece.slack + horizon.epsilon;
                self.chosen[g] = true;
                piece.partners.iter().for_each(|partner| self.chosen[partner.patch as usize] = true);
            }
        }
        any
    }

    /// Collects pieces that are too old or have new neighbours.
    fn collect(&mut self, team: &mut Team, level: SimdLevel, soup: &Soup, x: &[Particle], horizon: &Horizon) {
        let base = horizon.reach + 2.0 * horizon.margin + horizon.epsilon;
        self.boxes.refit_some(team, soup, x, 0.5 * base, &self.chosen);
        let (kinds, patches, surveys) = (self.kinds, self.boxes.view(soup), &self.surveys[..]);
        team.for_each_item(&mut self.batches, |k, batch| {
            let Batch { pieces, work } = batch;
            for (i, piece) in pieces.iter_mut().enumerate().filter(|(_, piece)| piece.stale) {
                let g = (k * BATCH + i) as u32;
                piece.collect(level, soup, &patches, g, x, base, kinds, surveys, work);
            }
        });
    }
}

impl Piece {
    /// Collects all pairs nearer than `base` (m) and the slack.
    fn collect(
        &mut self,
        level: SimdLevel,
        soup: &Soup,
        view: &Patches<'_>,
        patch: u32,
        x: &[Particle],
        base: f32,
        kinds: [bool; 2],
        surveys: &[Survey],
        work: &mut Scratch,
    ) {
        self.limit = base;
        work.pairs.clear();
        for partner in &mut self.partners {
            (partner.limit, partner.used) = (base + partner.slack, 0.0);
            if apart(&surveys[patch as usize].at, &surveys[partner.patch as usize].at) < partner.limit {
                self.limit = self.limit.max(partner.limit);
                work.pairs.push(([patch, partner.patch], partner.slack));
            }
        }
        let [points, segments] = &mut work.raw;
        points.clear();
        segments.clear();
        view.cull(level, &work.pairs, points, segments);
        for k in 0..2 {
            if !kinds[k] {
                work.raw[k].clear();
            }
            distances(level, KINDS[k], x, &work.raw[k], &mut work.low);
            self.lists[k].file(&work.raw[k], &work.low, self.limit, &mut work.bins);
            self.lists[k].find_gaps(KINDS[k], soup);
        }
    }
}
