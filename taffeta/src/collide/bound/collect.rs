//! Pairs that may come near each other, kept from one detection to the next.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use glam::Vec3;

use super::Settings;
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

/// Patches in one piece of work, and pairs of patches.
const BATCH: usize = 8;
pub(super) const BLOCK: usize = 128;
/// The same where pairs are collected, of few of them.
const STALE: usize = 48;
/// Near patches are searched for so many times as far ahead as the plan goes.
const AHEAD: f32 = 8.0;

/// Room for so many pairs of each kind for each vertex, pairs of patches for each patch, and pairs that one piece of work looks at: usually enough.
const PAIRS: usize = 56;
const MOST_PAIRS: usize = 2 << 20;
const PARTNERS: usize = 48;
const RAW: usize = 8192;
/// Pairs that are no good are put up with while they are not many more than those that are.
const UNTIDY: usize = 10_000;

pub(super) const KINDS: [Kind; 2] = [Kind::PointTriangle, Kind::SegmentSegment];

/// How far pairs matter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Horizon {
    /// Pairs nearer than this at any time may matter, m.
    pub reach: f32,
    /// More than is needed on each side, so that it serves for longer, m.
    pub margin: f32,
    /// What two sides may be expected to go against each other, m.
    pub sweep: f32,
    /// Substeps.
    pub steps: u32,
    /// What rounding may have done, m.
    pub epsilon: f32,
    /// The room that a pair at the reach leaves, m: no vertex has more, so that pairs which leave as much do not matter.
    pub most: f32,
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

/// Two patches whose pairs are kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Partners {
    /// The second has the higher number, or they are the same.
    patches: [u32; 2],
    /// Of one sheet, if they touch at rest; else [`NONE`].
    link: u32,
    /// All pairs nearer than this were collected, m; and the least distance of any.
    limit: f32,
    least: f32,
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
    /// Pairs below this distance when they were collected may matter now, m; none, or there are none, if zero.
    pub far: f32,
    /// Whether their pairs have to be collected anew.
    stale: bool,
    /// In whose lists the pairs are, where they begin in each, and how many there are.
    member: u32,
    begins: [u32; 2],
    pub counts: [u32; 2],
}

impl Partners {
    /// Two patches of which nothing else is known than where they are.
    fn unknown(patches: [u32; 2], link: u32, surveys: &[Survey]) -> Self {
        let [a, b] = patches.map(|patch| &surveys[patch as usize]);
        Partners {
            patches,
            link,
            limit: 0.0,
            least: 0.0,
            used: 0.0,
            reach: 0.0,
            whole: 1.0,
            apart: apart(&a.at, &b.at),
            slack: relative(&a.plan, &b.plan),
            far: 0.0,
            stale: false,
            member: 0,
            begins: [0; 2],
            counts: [0; 2],
        }
    }

    /// Begins anew: all pairs nearer than this (m) are known from here on, and so far there are none.
    fn begin_anew(&mut self, distance: f32) {
        (self.limit, self.least, self.used, self.counts) = (distance, distance, 0.0, [0; 2]);
    }

    fn range(&self, k: usize) -> std::ops::Range<usize> {
        let begin = self.begins[k] as usize;
        begin..begin + self.counts[k] as usize
    }
}

/// What one member of a team has collected. Whose lists the pairs of two patches are in makes no difference; and one long list for each asks for memory
/// far less often than one for each patch would.
#[derive(Clone, Debug, Default)]
struct Store {
    lists: [Vec<Pair>; 2],
    raw: [Vec<[u32; 4]>; 2],
    /// Where those of each stale pair of patches end.
    ends: Vec<[usize; 2]>,
    low: Vec<[F8; 1]>,
    /// Those whose distance at rest has to be known, and where they are in the list.
    resting: Vec<[u32; 4]>,
    resting_pairs: Vec<u32>,
}

/// So many pairs of a kind there is room for from the first.
fn usual_pairs(vertices: usize) -> usize {
    (PAIRS * vertices).min(MOST_PAIRS)
}

impl Store {
    /// With room for what `vertices` vertices usually have, so that none has to be asked for later.
    fn new(vertices: usize) -> Self {
        Store {
            lists: [0, 1].map(|_| Vec::with_capacity(usual_pairs(vertices))),
            raw: [0, 1].map(|_| Vec::with_capacity(RAW)),
            ends: Vec::with_capacity(BLOCK),
            low: Vec::with_capacity(RAW / LANES),
            resting: Vec::with_capacity(RAW),
            resting_pairs: Vec::with_capacity(RAW),
        }
    }

    fn len(&self) -> usize {
        self.lists[0].len() + self.lists[1].len()
    }
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
    /// In order of their patches; and room for the next.
    partners: Vec<Partners>,
    next: Vec<Partners>,
    /// One for each member of the team, and room to put them in order.
    stores: Vec<Store>,
    tidy: [Vec<Pair>; 2],
    /// How many pairs are kept.
    kept: usize,
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
    pub meshes_only: bool,
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
            partners: Vec::new(),
            next: Vec::new(),
            stores: Vec::new(),
            tidy: [Vec::new(), Vec::new()],
            kept: 0,
            surveys: Vec::new(),
            sheets: Sheets::default(),
            spreads: Vec::new(),
            asked: Vec::new(),
            chosen: Vec::new(),
            homes: Vec::new(),
            mean: Vec3::ZERO,
            last: Vec::new(),
            meshes_only,
            kinds: [true; 2],
        }
    }

    pub fn forget(&mut self) {
        self.last.clear();
        self.boxes.clear();
        self.partners.clear();
        self.stores.clear();
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.kept
    }

    /// Into how many blocks they are cut.
    pub fn blocks(&self) -> usize {
        self.partners.len().div_ceil(BLOCK)
    }

    /// How many there may be without more memory.
    pub fn most_blocks(&self) -> usize {
        self.partners.capacity().div_ceil(BLOCK)
    }

    /// A block of patches that may have pairs that matter.
    pub fn block(&self, k: usize) -> impl Iterator<Item = &Partners> + Clone {
        let end = ((k + 1) * BLOCK).min(self.partners.len());
        self.partners[k * BLOCK..end].iter().filter(|partners| partners.far > 0.0)
    }

    /// The pairs of two patches, of one of the [`KINDS`].
    pub fn pairs(&self, partners: &Partners, k: usize) -> &[Pair] {
        &self.stores[partners.member as usize].lists[k][partners.range(k)]
    }

    /// The box that the vertices of a patch are expected to be in, from one count of substeps to another.
    pub fn swept_patch(&self, patch: usize, steps: [f32; 2]) -> Aabb {
        let Survey { at, plan, .. } = &self.surveys[patch];
        let then = |k: f32| Aabb { low: at.low + plan.low * k, high: at.high + plan.high * k };
        then(steps[0]).join(then(steps[1]))
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
        settings: &Settings,
        horizon: &mut Horizon,
    ) -> bool {
        let anew = self.last.len() != x.len();
        if anew {
            self.last.clear();
            self.last.extend_from_slice(x);
            self.sheets = Sheets::new(soup);
            self.boxes.resize(soup);
            self.spreads.resize(soup.patches(), Spread::default());
            let partners = PARTNERS * soup.patches();
            self.near.reserve(partners);
            self.partners.reserve(partners);
            self.next.reserve(partners);
            self.tidy.iter_mut().for_each(|list| list.reserve(usual_pairs(x.len())));
        }
        self.stores.resize_with(team.count().max(self.stores.len()), || Store::new(x.len()));
        let [far, planned] = self.survey(team, soup, x, ways);
        self.last.copy_from_slice(x);
        let round = |length: f32| 8.0 * f32::EPSILON * (far + length);
        self.grow_old(team, 0.5 * round(horizon.reach), horizon);
        let steps = horizon.steps as f32;
        // Rounding of positions when they are clamped, and of these sums.
        horizon.epsilon = round(horizon.reach + horizon.margin + steps * planned);
        horizon.most = settings.most(horizon.reach, horizon.epsilon, soup.thickest());
        if anew || !self.at_home(horizon) {
            self.search(team, level, soup, horizon);
            clock.lap(Stage::Tree);
        }
        let fresh = self.choose(team, soup, settings, horizon) && self.spare(team, level, x, ways, horizon);
        if fresh {
            self.collect(team, level, soup, x, horizon);
        }
        clock.lap(Stage::Candidates);
        fresh
    }

    /// Surveys all patches; gives the largest coordinate of a position and of a way, m.
    fn survey(&mut self, team: &mut Team, soup: &Soup, x: &[Particle], ways: &[Particle]) -> [f32; 2] {
        let nowhere = Survey { at: Aabb::EMPTY, way: Aabb::EMPTY, plan: Aabb::EMPTY };
        self.surveys.resize(soup.patches(), nowhere);
        let (last, most) = (&self.last[..], [0; 2].map(AtomicU32::new));
        team.for_each_chunk(&mut self.surveys, BATCH, |first, surveys| {
            let mut here = [Vec3::ZERO; 2];
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
                for (here, hull) in here.iter_mut().zip([&survey.at, &survey.plan]) {
                    *here = here.max(hull.high.abs()).max(hull.low.abs());
                }
            }
            for (most, here) in most.iter().zip(here) {
                // Positive numbers are ordered as their bits are.
                most.fetch_max(here.max_element().to_bits(), Ordering::Relaxed);
            }
        });
        most.map(|most| f32::from_bits(most.into_inner()))
    }

    /// Counts what patches moved since the last detection against their pairs, and finds how far apart they are and how they are expected to move.
    /// Plans for fewer substeps if patches that may meet would go too far against each other.
    fn grow_old(&mut self, team: &mut Team, rounding: f32, horizon: &mut Horizon) {
        let (surveys, steps) = (&self.surveys[..], horizon.steps as f32);
        let (fastest, reach) = (AtomicU32::new(0), horizon.reach);
        team.for_each_chunk(&mut self.partners, BLOCK, |_, all| {
            let mut most = 0.0f32;
            for partners in all {
                let [a, b] = partners.patches.map(|patch| &surveys[patch as usize]);
                // Rounding must not make it less.
                partners.used += relative(&a.way, &b.way) * (1.0 + 8.0 * f32::EPSILON) + rounding;
                partners.apart = apart(&a.at, &b.at);
                partners.slack = relative(&a.plan, &b.plan);
                if partners.slack > most && partners.apart < reach + steps * partners.slack {
                    most = partners.slack;
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
        // Colliders come after all cloths, and are not looked at against each other.
        let kinematic = |group: &u32| soup.groups[*group as usize].kinematic;
        let cloths = soup.patch_group.iter().rposition(|group| !kinematic(group)).map_or(0, |last| last + 1);
        self.query.within(team, level, &self.homes, cloths, 0.0, &mut self.near);
        let Collection { surveys, sheets, partners, next, meshes_only, .. } = self;
        let looked_at = |patches: [u32; 2]| {
            let kinematic =
                patches.map(|patch| soup.groups[soup.patch_group[patch as usize] as usize].kinematic);
            kinematic != [true; 2] && (kinematic != [false; 2] || !*meshes_only)
        };
        // Both lists are in order.
        let (mut near, mut known) = (self.near.iter().peekable(), partners.iter().peekable());
        next.clear();
        for g in 0..soup.patches() as u32 {
            let mut patches = Some([g, g]);
            while let Some(both) = patches {
                if looked_at(both) {
                    while known.next_if(|known| known.patches < both).is_some() {}
                    let before = known.next_if(|known| known.patches == both).copied();
                    let unknown = || Partners::unknown(both, sheets.link_of(g, both[1]), surveys);
                    next.push(before.unwrap_or_else(unknown));
                }
                patches = near.next_if(|pair| pair[0] == g).copied();
            }
        }
        std::mem::swap(partners, next);
    }

    /// Finds which pairs matter, and which have to be collected for it; says whether there are any.
    fn choose(&mut self, team: &mut Team, soup: &Soup, settings: &Settings, horizon: &Horizon) -> bool {
        clear(&mut self.asked, soup.patches());
        let (asked, sheets) = (&self.asked[..], &self.sheets);
        let (any, steps) = (AtomicBool::new(false), horizon.steps as f32);
        team.for_each_chunk(&mut self.partners, BLOCK, |_, all| {
            let mut stale = false;
            for partners in all {
                let [a, b] = partners.patches.map(|patch| soup.patch_group[patch as usize]);
                (partners.reach, partners.whole) =
                    match [a, b].iter().any(|&part| soup.groups[part as usize].still) {
                        true => {
                            let reach = settings.reach_still(horizon.most, soup.thickness_between(a, b));
                            ((reach + horizon.epsilon).min(horizon.reach), 2.0)
                        }
                        false => (horizon.reach, 1.0),
                    };
                partners.slack *= steps;
                (partners.far, partners.stale) = (0.0, false);
                let need = partners.reach + partners.slack + horizon.epsilon;
                if partners.apart > need {
                    continue;
                }
                partners.far = need + partners.used;
                if partners.far <= partners.limit {
                    if partners.far <= partners.least {
                        partners.far = 0.0;
                    }
                } else {
                    (partners.far, partners.stale) = (need, true);
                    stale = true;
                    if partners.link != NONE {
                        let between = sheets.between(partners.link).iter();
                        between.for_each(|&q| asked[q as usize].store(true, Ordering::Relaxed));
                    }
                }
            }
            if stale {
                any.store(true, Ordering::Relaxed);
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
        team.for_each_chunk(&mut self.partners, BLOCK, |_, all| {
            let mut stale = false;
            for partners in all.iter_mut().filter(|partners| partners.stale) {
                let Partners { patches, link, reach, .. } = *partners;
                if link != NONE {
                    let apart = sheets.apart(patches[0] as usize, link, spreads) - horizon.epsilon;
                    if apart > reach {
                        (partners.far, partners.stale) = (0.0, false);
                        // Nothing is as near, so that serves for longer.
                        partners.begin_anew(apart);
                        continue;
                    }
                }
                stale = true;
                patches.iter().for_each(|&patch| chosen[patch as usize].store(true, Ordering::Relaxed));
            }
            if stale {
                any.store(true, Ordering::Relaxed);
            }
        });
        any.into_inner()
    }

    /// Collects the pairs of patches that moved too far or are new.
    fn collect(&mut self, team: &mut Team, level: SimdLevel, soup: &Soup, x: &[Particle], horizon: &Horizon) {
        self.tidy();
        let chosen = &self.chosen[..];
        let grow = 0.5 * (horizon.reach + horizon.more());
        self.boxes.refit_some(team, soup, x, grow, |patch| chosen[patch].load(Ordering::Relaxed));
        let sight = Sight { level, soup, boxes: &self.boxes, x, horizon, kinds: self.kinds };
        let before = self.stored();
        team.for_each_block(&mut self.partners, STALE, &mut self.stores, |_, partners, member, store| {
            if partners.iter().any(|partners| partners.stale) {
                store.collect(&sight, partners, member as u32);
            }
        });
        self.kept += self.stored() - before;
    }

    fn stored(&self) -> usize {
        self.stores.iter().map(Store::len).sum()
    }

    /// Counts the pairs that are still good, and puts them in order if most that are stored are not.
    fn tidy(&mut self) {
        let Collection { partners, stores, tidy, kept, .. } = self;
        let good = || partners.iter().filter(|partners| !partners.stale);
        *kept = good().flat_map(|partners| partners.counts).map(|count| count as usize).sum();
        let stored = stores.iter().map(Store::len).sum::<usize>();
        if stored < 2 * *kept + UNTIDY {
            return;
        }
        for (k, tidy) in tidy.iter_mut().enumerate() {
            tidy.clear();
            for partners in partners.iter_mut() {
                let begin = tidy.len() as u32;
                if partners.stale {
                    // What matters of those is whether there were any.
                    continue;
                }
                tidy.extend_from_slice(&stores[partners.member as usize].lists[k][partners.range(k)]);
                partners.begins[k] = begin;
            }
            stores.iter_mut().for_each(|store| store.lists[k].clear());
            stores[0].lists[k].extend_from_slice(tidy);
        }
        partners.iter_mut().for_each(|partners| partners.member = 0);
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

impl Store {
    /// Collects all pairs of patches that are stale, as far as they may matter soon. This is the store of `member`.
    fn collect(&mut self, sight: &Sight<'_>, partners: &mut [Partners], member: u32) {
        let Store { lists, raw, ends, low, resting, resting_pairs } = self;
        let Sight { level, soup, x, horizon, .. } = *sight;
        let view = sight.boxes.view(soup);
        raw.iter_mut().for_each(|raw| raw.clear());
        ends.clear();
        for partners in partners.iter_mut().filter(|partners| partners.stale) {
            let limit = partners.reach + partners.slack + horizon.more();
            let [points, segments] = raw;
            // Those that had pairs before will have some again.
            let separate = match partners.counts == [0; 2] {
                true => sight.boxes.separation(soup, partners.patches, x) - horizon.epsilon,
                false => 0.0,
            };
            // If nothing is as near, that serves for longer.
            partners.begin_anew(separate.max(limit));
            if separate <= limit {
                let more = partners.reach + partners.slack - horizon.reach;
                view.cull(level, partners.patches, more, points, segments);
            }
            ends.push([points.len(), segments.len()]);
        }
        for k in (0..2).filter(|&k| sight.kinds[k]) {
            let (raw, kind, list) = (&raw[k], KINDS[k], &mut lists[k]);
            distances(level, kind, x, raw, low);
            resting.clear();
            resting_pairs.clear();
            let mut begin = 0;
            for (partners, ends) in partners.iter_mut().filter(|partners| partners.stale).zip(&*ends) {
                partners.member = member;
                partners.begins[k] = list.len() as u32;
                for (i, stencil) in (begin..ends[k]).zip(&raw[begin..]) {
                    let low = low[i / LANES][0].0[i % LANES];
                    if low < partners.limit {
                        partners.least = partners.least.min(low);
                        let (gap, less) = soup.gap(kind, stencil);
                        if less {
                            resting.push(*stencil);
                            resting_pairs.push(list.len() as u32);
                        }
                        list.push(Pair { stencil: *stencil, gap, low });
                    }
                }
                partners.counts[k] = list.len() as u32 - partners.begins[k];
                begin = ends[k];
            }
            distances(level, kind, &soup.rest, resting, low);
            for (i, &pair) in resting_pairs.iter().enumerate() {
                let pair = &mut list[pair as usize];
                pair.gap = keep(pair.gap, low[i / LANES][0].0[i % LANES]);
            }
        }
    }
}
