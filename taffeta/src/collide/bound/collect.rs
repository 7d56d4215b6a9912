//! Pairs that may come near each other, kept from one detection to the next.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use glam::Vec3;

use super::measure::distances;
use super::spread::{Sheets, Spread};
use crate::collide::proximity::Kind;
use crate::collide::query::{Aabb, NearPairs, Structure};
use crate::collide::soup::{PatchBoxes, Soup, keep};
use crate::lanes::{LANES, SimdLevel};
use crate::mesh::NONE;
use crate::par::Team;
use crate::step::{Stage, Stopwatch};
use crate::wide::{F8, Particle};

/// Patches in one piece of work.
const BATCH: usize = 8;
/// Near patches are searched for so many times as far ahead as the plan goes.
const AHEAD: f32 = 8.0;

pub(super) const KINDS: [Kind; 2] = [Kind::PointTriangle, Kind::SegmentSegment];

/// How far pairs matter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Horizon {
    /// Pairs nearer than this at any time matter, m.
    pub reach: f32,
    /// The same if one side is a collider that stands still, m; not more.
    pub reach_still: f32,
    /// More than is needed on each side, so that it serves for longer, m.
    pub margin: f32,
    /// What two sides may be expected to go against each other, m.
    pub sweep: f32,
    /// Substeps.
    pub steps: u32,
    /// What rounding may have done, m.
    pub epsilon: f32,
}

impl Horizon {
    /// Pairs are collected from as much further away than they matter now, m.
    fn more(&self) -> f32 {
        2.0 * self.margin + self.epsilon
    }
}

/// A point and a triangle, or two edges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub stencil: [u32; 4],
    /// The distance the two sides should keep, m.
    pub gap: f32,
    /// Their distance when they were collected, m.
    pub low: f32,
}

/// A patch whose pairs with the patch of a piece are in its lists.
#[derive(Clone, Copy, Debug)]
pub(super) struct Partner {
    patch: u32,
    /// Of one sheet, if they touch at rest; else [`NONE`].
    link: u32,
    /// All pairs nearer than this were collected, m.
    limit: f32,
    /// By how much any of them can have come nearer since, m.
    used: f32,
    /// Pairs nearer than this at any time matter now, m.
    pub reach: f32,
    /// The part of a room that each side may use: what one that stands still does not, the other may.
    pub whole: f32,
    /// The distance of the boxes around both patches now, m.
    apart: f32,
    /// How far two sides are expected to go against each other now, m: in a substep at first, then in the whole plan.
    pub slack: f32,
    /// Pairs below this distance when they were collected may matter now, m; none if zero.
    pub far: f32,
    /// Whether its pairs have to be collected anew.
    stale: bool,
    /// Where its pairs end in each list; they begin where those of the partner before it end.
    pub ends: [u32; 2],
}

impl Partner {
    /// Of the patch at `a`, one at `b` of which nothing else is known.
    fn unknown(a: &Survey, patch: u32, b: &Survey, link: u32) -> Self {
        Partner {
            patch,
            link,
            limit: 0.0,
            used: 0.0,
            reach: 0.0,
            whole: 1.0,
            apart: apart(&a.at, &b.at),
            slack: relative(&a.plan, &b.plan),
            far: 0.0,
            stale: false,
            ends: [0; 2],
        }
    }
}

/// The pairs of one patch with itself and with patches of a higher number.
#[derive(Clone, Debug, Default)]
pub(super) struct Piece {
    /// In order of their patches.
    pub partners: Vec<Partner>,
    pub lists: [Vec<Pair>; 2],
    /// Whether any pairs have to be collected anew.
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
    raw: [Vec<[u32; 4]>; 2],
    /// Where those of each stale partner end.
    ends: Vec<[usize; 2]>,
    low: Vec<[F8; 1]>,
    list: Vec<Pair>,
    /// Those whose distance at rest has to be known, and where they are in the list.
    resting: Vec<[u32; 4]>,
    resting_pairs: Vec<u32>,
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
    sheets: Sheets,
    /// How patches are spread out, and of which that has to be known.
    spreads: Vec<Spread>,
    asked: Vec<AtomicBool>,
    /// Patches whose boxes are needed.
    chosen: Vec<AtomicBool>,
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

/// So many, all false.
fn clear(marks: &mut Vec<AtomicBool>, count: usize) {
    marks.resize_with(count, AtomicBool::default);
    marks.iter_mut().for_each(|mark| *mark.get_mut() = false);
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
            sheets: Sheets::default(),
            spreads: Vec::new(),
            asked: Vec::new(),
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
        let count = |piece: &Piece| piece.lists[0].len() + piece.lists[1].len();
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
            self.sheets = Sheets::new(soup);
        }
        self.survey(team, soup, x, ways);
        self.last.copy_from_slice(x);
        let far = |s: &Survey| s.at.high.abs().max(s.at.low.abs()).max_element();
        let far = self.surveys.iter().map(far).fold(0.0, f32::max);
        let round = |length: f32| 8.0 * f32::EPSILON * (far + length);
        self.grow_old(team, 0.5 * round(horizon.reach), horizon);
        let steps = horizon.steps as f32;
        let planned = |s: &Survey| s.plan.high.abs().max(s.plan.low.abs()).max_element();
        let planned = self.surveys.iter().map(planned).fold(0.0, f32::max);
        // Rounding of positions when they are clamped, and of these sums.
        horizon.epsilon = round(horizon.reach + horizon.margin + steps * planned);
        if anew || !self.at_home(horizon) {
            self.search(team, level, soup, horizon);
            clock.lap(Stage::Tree);
        }
        let fresh = self.choose(team, soup, horizon) && self.spare(team, level, x, ways, horizon);
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

    /// Counts what patches moved since the last detection against their pairs, and finds how far apart they are and how they are expected to move.
    /// Plans for fewer substeps if patches that may meet would go too far against each other.
    fn grow_old(&mut self, team: &mut Team, rounding: f32, horizon: &mut Horizon) {
        let (surveys, steps) = (&self.surveys[..], horizon.steps as f32);
        let (fastest, reach) = (AtomicU32::new(0), horizon.reach);
        team.for_each_item(&mut self.batches, |k, batch| {
            let mut most = 0.0f32;
            for (i, piece) in batch.pieces.iter_mut().enumerate() {
                let a = &surveys[k * BATCH + i];
                for partner in &mut piece.partners {
                    let b = &surveys[partner.patch as usize];
                    // Rounding must not make it less.
                    partner.used += relative(&a.way, &b.way) * (1.0 + 8.0 * f32::EPSILON) + rounding;
                    partner.apart = apart(&a.at, &b.at);
                    partner.slack = relative(&a.plan, &b.plan);
                    if partner.slack > most && partner.apart < reach + steps * partner.slack {
                        most = partner.slack;
                    }
                }
            }
            // Positive numbers are ordered as their bits are.
            fastest.fetch_max(most.to_bits(), Ordering::Relaxed);
        });
        let most = horizon.sweep / f32::from_bits(fastest.into_inner());
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
        let (surveys, sheets) = (&self.surveys[..], &self.sheets);
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
            fresh.clear();
            let of = |h: u32| {
                Partner::unknown(&surveys[g as usize], h, &surveys[h as usize], sheets.link_of(g, h))
            };
            fresh.extend(wanted.map(of));
            piece.meet(fresh);
        }
    }

    /// Finds which pairs matter, and which have to be collected for it; says whether there are any.
    fn choose(&mut self, team: &mut Team, soup: &Soup, horizon: &Horizon) -> bool {
        clear(&mut self.asked, soup.patches());
        let (asked, sheets) = (&self.asked[..], &self.sheets);
        let (any, steps) = (AtomicBool::new(false), horizon.steps as f32);
        team.for_each_item(&mut self.batches, |k, batch| {
            for (i, piece) in batch.pieces.iter_mut().enumerate() {
                let still = soup.stands_still(k * BATCH + i);
                piece.stale = false;
                for partner in &mut piece.partners {
                    let still = still || soup.stands_still(partner.patch as usize);
                    (partner.reach, partner.whole) =
                        if still { (horizon.reach_still, 2.0) } else { (horizon.reach, 1.0) };
                    partner.slack *= steps;
                    (partner.far, partner.stale) = (0.0, false);
                    let need = partner.reach + partner.slack + horizon.epsilon;
                    if partner.apart > need {
                        continue;
                    }
                    partner.far = need + partner.used;
                    if partner.far > partner.limit {
                        (partner.far, partner.stale) = (need, true);
                        piece.stale = true;
                        if partner.link != NONE {
                            let between = sheets.between(partner.link).iter();
                            between.for_each(|&q| asked[q as usize].store(true, Ordering::Relaxed));
                        }
                    }
                }
                if piece.stale {
                    any.store(true, Ordering::Relaxed);
                }
            }
        });
        any.into_inner()
    }

    /// Spares patches of a sheet that is spread out between them; says whether any are left whose pairs have to be collected.
    fn spare(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        x: &[Particle],
        ways: &[Particle],
        horizon: &Horizon,
    ) -> bool {
        self.spreads.resize(self.asked.len(), Spread::default());
        clear(&mut self.chosen, self.asked.len());
        let (asked, chosen, sheets) = (&self.asked[..], &self.chosen[..], &self.sheets);
        let steps = horizon.steps as f32;
        team.for_each_chunk(&mut self.spreads, BATCH, |first, spreads| {
            for (patch, spread) in (first..).zip(spreads) {
                if asked[patch].load(Ordering::Relaxed) {
                    *spread = sheets.spread(level, patch, x, ways, steps);
                }
            }
        });
        let (any, spreads) = (AtomicBool::new(false), &self.spreads[..]);
        team.for_each_item(&mut self.batches, |k, batch| {
            for (i, piece) in batch.pieces.iter_mut().enumerate().filter(|(_, piece)| piece.stale) {
                let g = k * BATCH + i;
                piece.stale = false;
                for partner in piece.partners.iter_mut().filter(|partner| partner.stale) {
                    let Partner { link, reach, .. } = *partner;
                    if link != NONE && sheets.apart(g, link, spreads) > reach + horizon.epsilon {
                        (partner.far, partner.stale) = (0.0, false);
                        continue;
                    }
                    piece.stale = true;
                    chosen[g].store(true, Ordering::Relaxed);
                    chosen[partner.patch as usize].store(true, Ordering::Relaxed);
                }
                if piece.stale {
                    any.store(true, Ordering::Relaxed);
                }
            }
        });
        any.into_inner()
    }

    /// Collects the pairs of patches that moved too far or are new.
    fn collect(&mut self, team: &mut Team, level: SimdLevel, soup: &Soup, x: &[Particle], horizon: &Horizon) {
        let chosen = &self.chosen[..];
        let grow = 0.5 * (horizon.reach + horizon.more());
        self.boxes.refit_some(team, soup, x, grow, |patch| chosen[patch].load(Ordering::Relaxed));
        let sight = Sight { level, soup, boxes: &self.boxes, x, horizon, kinds: self.kinds };
        team.for_each_item(&mut self.batches, |k, batch| {
            let Batch { pieces, work } = batch;
            for (i, piece) in pieces.iter_mut().enumerate().filter(|(_, piece)| piece.stale) {
                piece.collect(&sight, (k * BATCH + i) as u32, work);
            }
        });
    }
}

/// What pairs are collected from.
struct Sight<'a> {
    level: SimdLevel,
    soup: &'a Soup,
    /// Grown by half of the reach and what is looked for beyond it.
    boxes: &'a PatchBoxes,
    x: &'a [Particle],
    horizon: &'a Horizon,
    kinds: [bool; 2],
}

impl Piece {
    /// Takes new partners, with the pairs of those that were there before.
    fn meet(&mut self, fresh: &mut [Partner]) {
        let mut known = self.partners.iter().peekable();
        let (mut from, mut to) = ([0; 2], [0; 2]);
        for partner in fresh.iter_mut() {
            while let Some(gone) = known.next_if(|known| known.patch < partner.patch) {
                from = gone.ends;
            }
            if let Some(known) = known.next_if(|known| known.patch == partner.patch) {
                *partner = *known;
                for k in 0..2 {
                    let range = from[k] as usize..known.ends[k] as usize;
                    self.lists[k].copy_within(range.clone(), to[k] as usize);
                    to[k] += range.len() as u32;
                }
                from = known.ends;
            }
            partner.ends = to;
        }
        for (list, &end) in self.lists.iter_mut().zip(&to) {
            list.truncate(end as usize);
        }
        // Copied, not exchanged: so each keeps the memory it once needed.
        self.partners.clear();
        self.partners.extend_from_slice(fresh);
    }

    /// Collects all pairs of stale partners of a patch that may matter soon.
    fn collect(&mut self, sight: &Sight<'_>, patch: u32, work: &mut Scratch) {
        let Scratch { raw, ends, low, list, resting, resting_pairs } = work;
        let Sight { level, soup, x, horizon, .. } = *sight;
        let view = sight.boxes.view(soup);
        raw.iter_mut().for_each(|raw| raw.clear());
        ends.clear();
        let mut end = [0; 2];
        for partner in &mut self.partners {
            let begin = std::mem::replace(&mut end, partner.ends);
            if !partner.stale {
                continue;
            }
            (partner.limit, partner.used) = (partner.reach + partner.slack + horizon.more(), 0.0);
            let [points, segments] = raw;
            let patches = [patch, partner.patch];
            // Those that had pairs before will have some again.
            let separate = match partner.ends == begin {
                true => sight.boxes.separation(soup, patches, x) - horizon.epsilon,
                false => 0.0,
            };
            if separate > partner.limit {
                // Nothing is as near, so that serves for longer.
                partner.limit = separate;
            } else {
                let more = partner.reach + partner.slack - horizon.reach;
                view.cull(level, patches, more, points, segments);
            }
            ends.push([points.len(), segments.len()]);
        }
        for k in (0..2).filter(|&k| sight.kinds[k]) {
            let (raw, kind) = (&raw[k], KINDS[k]);
            distances(level, kind, x, raw, low);
            list.clear();
            resting.clear();
            resting_pairs.clear();
            let (mut begin, mut raw_begin, mut ends) = (0, 0, ends.iter());
            for partner in &mut self.partners {
                let end = partner.ends[k] as usize;
                if partner.stale {
                    let raw_end = ends.next().expect("one for each that is stale")[k];
                    for (i, stencil) in raw[raw_begin..raw_end].iter().enumerate() {
                        let low = low[(raw_begin + i) / LANES][0].0[(raw_begin + i) % LANES];
                        if low < partner.limit {
                            let (gap, less) = soup.gap(kind, stencil);
                            if less {
                                resting.push(*stencil);
                                resting_pairs.push(list.len() as u32);
                            }
                            list.push(Pair { stencil: *stencil, gap, low });
                        }
                    }
                    raw_begin = raw_end;
                } else {
                    list.extend_from_slice(&self.lists[k][begin..end]);
                }
                begin = end;
                partner.ends[k] = list.len() as u32;
            }
            distances(level, kind, &soup.rest, resting, low);
            for (i, &pair) in resting_pairs.iter().enumerate() {
                let pair = &mut list[pair as usize];
                pair.gap = keep(pair.gap, low[i / LANES][0].0[i % LANES]);
            }
            self.lists[k].clear();
            self.lists[k].extend_from_slice(list);
        }
    }
}
