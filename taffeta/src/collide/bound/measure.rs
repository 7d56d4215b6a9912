//! Distances of pairs, and what follows from them: contacts, and how far vertices may go.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use glam::{DVec3, Vec3, Vec4};

use super::collect::{Collection, KINDS};
use super::judge::{APART, CONTACT, JUDGED, Judge, Verdict};
use super::{ContactRow, NEAR, Settings, USUAL_ROWS, USUAL_SLABS, lower};
use crate::collide::proximity::{self, Kind};
use crate::collide::soup::Soup;
use crate::lanes::{LANES, Lane, SimdLevel, V3};
use crate::par::Team;
use crate::wide::{F8, Particle, StencilKernel, stencils};

/// Below this part of their size, the direction between two sides is found in another way.
const TINY: f32 = 1e-3;
/// In place of a room: the pair may be a contact.
const CLOSE: f32 = -1.0;
/// Marks a distance that single precision cannot give well.
const UNSURE: f32 = -1.0;
/// Two sides that are expected to be left with less than this part of their distance are kept apart by a slab.
pub(super) const LEFT: f32 = 0.25;

/// Room for so many pairs that one piece of work looks at: usually enough.
const MEASURED: usize = 8192;

/// A distance that is never too large, or [`UNSURE`].
#[derive(Clone, Copy)]
struct Low(Kind);

impl StencilKernel<1, 1> for Low {
    #[inline(always)]
    fn apply<L: Lane>(&self, [x]: &[[V3<L>; 4]; 1], _: [L; 4], like: L) -> [L; 1] {
        [low(&proximity::near(self.0, x, like.like(f32::EPSILON)))]
    }
}

/// A distance that is never too large, or [`UNSURE`].
#[inline(always)]
fn low<L: Lane>(near: &proximity::Near<L>) -> L {
    let (distance, doubt) = (near.squared.sqrt(), near.doubt_squared.sqrt());
    // Where doubt is above a sixteenth, double precision has to tell.
    distance.select_lt(doubt * doubt.like(16.0), doubt.like(UNSURE), distance - doubt)
}

/// The same; whether the closest points are inside both sides; and the room that the pair leaves its vertices, m: infinite if it does not matter, [`CLOSE`] if it has to be looked at more
/// closely. The terms are its gap, how far its sides are expected to go against each other at worst, the distance within which it matters (all m), and the part of its room that each may use.
#[derive(Clone, Copy)]
struct Leaves {
    kind: Kind,
    /// K.
    steps: f32,
    /// What rounding may have done, m.
    epsilon: f32,
    /// More room than this is left by no pair, m.
    most: f32,
    settings: Settings,
}

impl StencilKernel<2, 3> for Leaves {
    #[inline(always)]
    fn apply<L: Lane>(&self, [x, u]: &[[V3<L>; 4]; 2], [gap, slack, far, whole]: [L; 4], like: L) -> [L; 3] {
        let near = proximity::near(self.kind, x, like.like(f32::EPSILON));
        let (n, width) = across(self.kind, x, &near.weights, like);
        let along = [n.dot(u[0]), n.dot(u[1]), n.dot(u[2]), n.dot(u[3])];
        let closing = match self.kind {
            Kind::PointTriangle => along[1].max(along[2].max(along[3])) - along[0],
            Kind::SegmentSegment => along[2].max(along[3]) - along[0].min(along[1]),
        };
        let (zero, never, close) = (like.like(0.0), like.like(f32::INFINITY), like.like(CLOSE));
        let (low, settings) = (low(&near), &self.settings);
        // At worst they go straight against each other; the direction between them may tell more.
        let worst = low - slack;
        let width = width.min(low);
        let end = worst.max(width - closing.max(zero) * like.like(self.steps));
        let end = (low * like.like(0.5)).select_lt(width, end, worst) - like.like(self.epsilon);
        let room = settings.room_of(end, gap) * whole;
        let room = room.select_lt(like.like(self.most), room, never);
        let edge = gap * like.like(NEAR) + like.like(settings.early);
        let room = end.select_lt(edge, close, room);
        let room = (low * like.like(LEFT)).select_lt(end, room, close);
        let room = low.select_lt(far, room, never);
        [low, near.inner, low.select_lt(zero, close, room)]
    }
}

/// The direction from the second side to the first, by the weights of their closest points, and how wide the slab along it is that has one side on each side of it.
#[inline(always)]
pub(super) fn across<L: Lane>(kind: Kind, x: &[V3<L>; 4], w: &[L; 4], like: L) -> (V3<L>, L) {
    // From the first point, so that far from the origin nothing is lost.
    let (a, b, c) = (x[1] - x[0], x[2] - x[0], x[3] - x[0]);
    let between = a * w[1] + b * w[2] + c * w[3];
    let length = between.length_squared().sqrt();
    let n = between * (like.like(1.0) / (length + like.like(f32::MIN_POSITIVE)));
    let (a, b, c) = (n.dot(a), n.dot(b), n.dot(c));
    let width = match kind {
        Kind::PointTriangle => like.like(0.0) - a.max(b.max(c)),
        Kind::SegmentSegment => a.min(like.like(0.0)) - b.max(c),
    };
    (n, width)
}

/// What is being looked at, and how.
pub(super) struct View<'a> {
    pub level: SimdLevel,
    pub soup: &'a Soup,
    pub x: &'a [Particle],
    /// u, m.
    pub ways: &'a [Particle],
    pub settings: &'a Settings,
    /// What rounding may have done, m.
    pub epsilon: f32,
    /// K.
    pub steps: f32,
    /// For how many substeps the detection holds.
    pub allowed: &'a AtomicU32,
    /// The most room that any vertex has, m.
    pub most: f32,
    /// The rooms of all vertices with regard to pairs without a slab, and to slabs.
    pub rooms: &'a [Vec<AtomicU32>; 2],
}

/// A slab between two sides that touch or may soon: along `normal` no vertex of either goes further towards the other than `room` (m), nor than
/// k times `speed` more or less.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slab {
    pub particles: [u32; 4],
    /// From the second side to the first.
    pub normal: [f32; 3],
    /// Below zero where rounding might be enough to cross, and only a way out is safe.
    pub room: f32,
    /// How far the slab moves along its normal in a substep, m.
    pub speed: f32,
    /// Whether it belongs to a row, or only keeps sides apart.
    pub contact: bool,
    pub kind: Kind,
    /// For how many substeps each vertex can go as expected, if not for all.
    pub holds: [f32; 4],
}

/// Where a slab is: in whose list, and its number there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SlabPlace {
    member: u32,
    number: u32,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    blocks: Vec<Block>,
    members: Vec<Member>,
}

/// In a block of patches: whose lists it is in, and where.
#[derive(Clone, Debug, Default)]
struct Block {
    member: usize,
    rows: Range<usize>,
    slabs: Range<usize>,
    measured: usize,
    near: usize,
    nearest: f32,
}

/// By one member of the team.
#[derive(Clone, Debug, Default)]
struct Member {
    rows: Vec<ContactRow>,
    slabs: Vec<Slab>,
    /// The least distance in the present block, m.
    nearest: f32,
    stencils: Vec<[u32; 4]>,
    /// See [`Leaves`].
    terms: Vec<[f32; 4]>,
    left: Vec<[F8; 3]>,
    close: Vec<[u32; 4]>,
    /// See [`Judge::judge`].
    close_terms: Vec<[f32; 4]>,
    /// Whether each may be a row.
    inside: Vec<bool>,
    judged: Vec<[F8; JUDGED]>,
}

impl Findings {
    /// Looks at all pairs that matter.
    pub fn find(&mut self, team: &mut Team, view: &View<'_>, pairs: &Collection) {
        self.blocks.reserve(pairs.most_blocks().saturating_sub(self.blocks.len()));
        self.blocks.resize_with(pairs.blocks(), Block::default);
        self.members.resize_with(team.count().max(self.members.len()), || Member::new(view.x.len()));
        for member in &mut self.members {
            member.rows.clear();
            member.slabs.clear();
        }
        team.for_each_block(&mut self.blocks, 1, &mut self.members, |k, block, index, member| {
            member.nearest = view.settings.reach;
            let begin = [member.rows.len(), member.slabs.len()];
            let [measured, near] = member.find(view, pairs, k);
            block[0] = Block {
                member: index,
                rows: begin[0]..member.rows.len(),
                slabs: begin[1]..member.slabs.len(),
                measured,
                near,
                nearest: member.nearest,
            };
        });
    }

    /// The contacts, in an order that does not depend on threads.
    pub fn rows(&self) -> impl Iterator<Item = &ContactRow> {
        self.blocks.iter().flat_map(|block| &self.members[block.member].rows[block.rows.clone()])
    }

    /// All slabs, in such an order as well.
    pub fn slabs(&self) -> impl Iterator<Item = &Slab> {
        (0..self.blocks.len()).flat_map(|block| self.slabs_of(block))
    }

    /// Where each of them is.
    pub fn places(&self) -> impl Iterator<Item = SlabPlace> {
        self.blocks.iter().flat_map(|block| {
            let member = block.member as u32;
            block.slabs.clone().map(move |number| SlabPlace { member, number: number as u32 })
        })
    }

    /// The one that is there.
    #[inline]
    pub fn slab(&self, place: SlabPlace) -> &Slab {
        &self.members[place.member as usize].slabs[place.number as usize]
    }

    /// Into how many blocks the pairs are cut, and how many there may be without more memory.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    pub fn most_blocks(&self) -> usize {
        self.blocks.capacity()
    }

    /// The slabs of one block.
    pub fn slabs_of(&self, block: usize) -> &[Slab] {
        let block = &self.blocks[block];
        &self.members[block.member].slabs[block.slabs.clone()]
    }

    /// How many pairs were measured.
    pub fn measured(&self) -> usize {
        self.blocks.iter().map(|block| block.measured).sum()
    }

    /// How many of those left less room than the most.
    pub fn near(&self) -> usize {
        self.blocks.iter().map(|block| block.near).sum()
    }

    /// The least distance, m, if it is below `most`.
    pub fn nearest(&self, most: f32) -> f32 {
        self.blocks.iter().fold(most, |least, block| least.min(block.nearest))
    }

    /// Forgets all slabs.
    #[cfg(test)]
    pub fn drop_slabs(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.slabs = 0..0);
    }
}

impl Member {
    /// With room for what `vertices` vertices usually have.
    fn new(vertices: usize) -> Self {
        Member {
            rows: Vec::with_capacity(USUAL_ROWS * vertices),
            slabs: Vec::with_capacity(USUAL_SLABS * vertices),
            nearest: 0.0,
            stencils: Vec::with_capacity(MEASURED),
            terms: Vec::with_capacity(MEASURED),
            left: Vec::with_capacity(MEASURED / LANES),
            close: Vec::with_capacity(MEASURED),
            close_terms: Vec::with_capacity(MEASURED),
            inside: Vec::with_capacity(MEASURED),
            judged: Vec::with_capacity(MEASURED / LANES),
        }
    }

    /// Looks at a block of patches, and says how many pairs it measured, and how many of them matter.
    fn find(&mut self, view: &View<'_>, pairs: &Collection, block: usize) -> [usize; 2] {
        let mut most = [0; 2];
        for partners in pairs.block(block) {
            (0..2).for_each(|k| most[k] += partners.counts[k] as usize);
        }
        let (mut measured, mut near) = (0, 0);
        for (k, kind) in KINDS.into_iter().enumerate() {
            if self.stencils.len() < most[k] {
                self.stencils.resize(most[k], [0; 4]);
                self.terms.resize(most[k], [0.0; 4]);
            }
            let (stencils, terms) = (&mut self.stencils[..most[k]], &mut self.terms[..most[k]]);
            let mut count = 0;
            for partners in pairs.block(block).filter(|partners| partners.counts[k] > 0) {
                let far = partners.reach + partners.slack;
                let own = Vec4::new(0.0, partners.slack, far, partners.whole);
                for pair in pairs.pairs(partners, k) {
                    // Written over by the next if it does not matter: which do cannot be foreseen, and branches would be slower.
                    (stencils[count], terms[count]) = (pair.stencil, own.with_x(pair.gap).to_array());
                    count += (pair.low < partners.far) as usize;
                }
            }
            measured += count;
            near += self.measure(view, kind, count);
            self.judge(view, kind);
        }
        [measured, near]
    }

    /// Lowers the rooms of what stays apart among the first `count` stencils, and notes all that may touch; says how many matter.
    fn measure(&mut self, view: &View<'_>, kind: Kind, count: usize) -> usize {
        let Member { nearest, stencils: all, terms, left, close, close_terms, inside, .. } = self;
        let (all, terms) = (&all[..count], &terms[..count]);
        close.clear();
        close_terms.clear();
        inside.clear();
        let first = first_side(kind);
        let &View { level, steps, epsilon, most, settings, .. } = view;
        let kernel = Leaves { kind, steps, epsilon, most, settings: *settings };
        stencils(level, kernel, [view.x, view.ways], all, terms, left);
        let blocks = left.iter().zip(all.chunks(LANES)).zip(terms.chunks(LANES));
        let mut matter = 0;
        for (([low, inner, room], stencils), terms) in blocks {
            // Most leave more room than matters.
            let mut near = (1u32 << stencils.len()) - 1;
            for (i, room) in room.0.iter().enumerate() {
                near &= !(((*room == f32::INFINITY) as u32) << i);
            }
            matter += near.count_ones() as usize;
            while near != 0 {
                let i = near.trailing_zeros() as usize;
                near &= near - 1;
                let (stencil, room) = (&stencils[i], room.0[i]);
                let low = match low.0[i] {
                    UNSURE => proximity::lower_distance(kind, stencil.map(|v| view.at(v))),
                    low => low,
                };
                *nearest = nearest.min(low);
                if room >= 0.0 {
                    view.lower(stencil, room);
                    continue;
                }
                close.push(*stencil);
                let [gap, _, _, whole] = terms[i];
                close_terms.push([gap, whole, view.held(&stencil[..first]), view.held(&stencil[first..])]);
                // Where an end of an edge is closest, its vertex and the triangles beside the other edge are as close.
                inside.push(inner.0[i] != 0.0 || kind == Kind::PointTriangle);
            }
        }
        matter
    }

    /// Rooms, slabs and rows of what is close.
    fn judge(&mut self, view: &View<'_>, kind: Kind) {
        let Member { rows, slabs, close, close_terms, inside, judged, .. } = self;
        let (soup, x) = (view.soup, view.x);
        let judge = Judge { kind, steps: view.steps, epsilon: view.epsilon, settings: *view.settings };
        stencils(view.level, judge, [x, view.ways], close, close_terms, judged);
        for (i, (&particles, &terms)) in close.iter().zip(&*close_terms).enumerate() {
            let numbers: [f32; JUDGED] = lane(judged, i);
            let [w0, w1, w2, w3, nx, ny, nz, distance, width, ..] = numbers;
            let [gap, whole, ..] = terms;
            let mut row = ContactRow {
                particles,
                weights: [w0, w1, w2, w3],
                normal: [nx, ny, nz],
                gap,
                distance,
                kind,
            };
            let extent = (view.at(particles[0]) - view.at(particles[3])).length();
            let slab = if width < 0.9 * distance || distance < TINY * extent {
                let width = look_closer(&mut row, x);
                match width <= 0.5 * row.distance {
                    // A direction that is not good enough leaves too narrow a slab: then a ball has to do.
                    true => Err(view.judge_as_balls(&row, whole)),
                    false => Ok(view.follow(kind, particles, &view.judge_one(&judge, &row, width, terms))),
                }
            } else {
                Ok(view.follow(kind, particles, &Verdict::from_numbers(&numbers)))
            };
            let listed = match &slab {
                Ok(slab) => slab.is_some_and(|slab| slab.contact),
                Err(listed) => *listed,
            };
            let corners = || [row.weights[1], row.weights[2], row.weights[3]].map(|w| -w);
            let contact = listed
                && inside[i]
                && (kind == Kind::SegmentSegment || soup.reports(&particles, corners(), x));
            slabs.extend(slab.ok().flatten().map(|slab| Slab { contact, ..slab }));
            if contact {
                rows.push(row);
            }
        }
    }
}

/// How far the sides of a stencil are apart along a direction, m, if its particles are at 0 and `along` in it.
#[inline(always)]
fn width(kind: Kind, along: [f32; 3]) -> f32 {
    let [a, b, c] = along;
    match kind {
        Kind::PointTriangle => -a.max(b).max(c),
        Kind::SegmentSegment => a.min(0.0) - b.max(c),
    }
}

/// How many particles of a stencil are on its first side.
#[inline(always)]
pub(super) fn first_side(kind: Kind) -> usize {
    if kind == Kind::PointTriangle { 1 } else { 2 }
}

impl View<'_> {
    #[inline(always)]
    fn at(&self, v: u32) -> Vec3 {
        Vec3::from(self.x[v as usize].p)
    }

    #[inline(always)]
    fn way(&self, v: u32) -> Vec3 {
        Vec3::from(self.ways[v as usize].p)
    }

    /// Whether any of some vertices is held, 1 or 0.
    #[inline(always)]
    fn held(&self, side: &[u32]) -> f32 {
        if side.iter().any(|&v| self.x[v as usize].w == 0.0) { 1.0 } else { 0.0 }
    }

    /// The verdict on one pair.
    fn judge_one(&self, judge: &Judge, row: &ContactRow, width: f32, terms: [f32; 4]) -> Verdict<f32> {
        let vector = |p: Vec3| V3 { x: p.x, y: p.y, z: p.z };
        let fields = [row.particles.map(|v| vector(self.at(v))), row.particles.map(|v| vector(self.way(v)))];
        judge.judge(&fields, vector(row.normal.into()), width.min(row.distance), terms)
    }

    /// Lowers the rooms of all four with regard to pairs without a slab, m.
    #[inline(always)]
    fn lower(&self, stencil: &[u32; 4], room: f32) {
        for &v in stencil {
            lower(&self.rooms[0], v, room);
        }
    }

    /// Lowers the rooms of the vertices of a pair of whose direction nothing is known, and says whether it is a contact.
    fn judge_as_balls(&self, row: &ContactRow, whole: f32) -> bool {
        let first = first_side(row.kind);
        let ways = row.particles.map(|v| self.way(v));
        let mut speed = 0.0f32;
        for a in &ways[..first] {
            for b in &ways[first..] {
                speed = speed.max((*a - *b).length_squared());
            }
        }
        let (speed, distance) = (speed.sqrt(), (row.distance - self.epsilon).max(0.0));
        let most = (1.0 - LEFT) * distance;
        let mut steps = self.steps;
        if steps * speed > most {
            steps = (most / speed).floor();
            self.allowed.fetch_min(steps as u32, Ordering::Relaxed);
        }
        let end = distance - steps * speed;
        let listed = end < NEAR * row.gap + self.settings.early;
        self.lower(&row.particles, whole * self.settings.room(end, row.gap, listed));
        listed
    }

    /// Lowers the rooms of the vertices of a pair as a verdict says, and gives the slab that keeps it apart, if any.
    #[inline(always)]
    fn follow(&self, kind: Kind, particles: [u32; 4], verdict: &Verdict<f32>) -> Option<Slab> {
        let &Verdict { kind: what, room, normal: V3 { x, y, z }, speed, towards } = verdict;
        if what == APART {
            self.lower(&particles, room);
            return None;
        }
        let mut holds = [f32::INFINITY; 4];
        for (i, &v) in particles.iter().enumerate() {
            let way = self.steps * towards[i];
            if way > room {
                holds[i] = room / towards[i];
            }
            lower(&self.rooms[1], v, (room - way).max(0.0));
        }
        let contact = what == CONTACT;
        Some(Slab { particles, normal: [x, y, z], room, speed, contact, kind, holds })
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

/// Finds weights, direction and distance of a row again, in double precision where they touch; gives the width of the slab along the direction, m.
#[cold]
fn look_closer(row: &mut ContactRow, x: &[Particle]) -> f32 {
    let at = row.particles.map(|v| Vec3::from(x[v as usize].p));
    let near = proximity::proximity(row.kind, at);
    let n = direction(row.kind, at.map(|p| p.as_dvec3()), near.direction.as_dvec3(), near.weights);
    (row.weights, row.normal, row.distance) = (near.weights, n.as_vec3().into(), near.distance);
    width(row.kind, [1, 2, 3].map(|i| n.dot((at[i] - at[0]).as_dvec3()) as f32))
}

/// The numbers of stencil i.
#[inline(always)]
fn lane<const R: usize>(blocks: &[[F8; R]], i: usize) -> [f32; R] {
    let block = &blocks[i / LANES];
    std::array::from_fn(|r| block[r].0[i % LANES])
}

/// Distances that are never too large, m.
pub(super) fn distances(
    level: SimdLevel,
    kind: Kind,
    x: &[Particle],
    list: &[[u32; 4]],
    low: &mut Vec<[F8; 1]>,
) {
    stencils(level, Low(kind), [x], list, &[], low);
    for (block, list) in low.iter_mut().zip(list.chunks(LANES)) {
        if block[0].0.iter().all(|&low| low >= 0.0) {
            continue;
        }
        for (low, stencil) in block[0].0.iter_mut().zip(list).filter(|(low, _)| **low < 0.0) {
            *low = proximity::lower_distance(kind, stencil.map(|v| Vec3::from(x[v as usize].p)));
        }
    }
}
