//! What is to be made of a pair that is close: a contact, a slab that keeps its sides apart, or nothing but a room.

use super::measure::{LEFT, across};
use super::{NEAR, Settings};
use crate::collide::proximity::{self, Kind};
use crate::lanes::{Lane, V3};
use crate::wide::StencilKernel;

/// A slab may be narrower by this than it could be, if it lets its sides go on.
const PAST: f32 = 0.1;
/// Two sides that go past each other at more than this part of their gap are no contact, if the direction between them is another by a cosine below this.
const PASSING: f32 = 0.4;
const ASLANT: f32 = 0.95;
/// Below this, the square of the part of a direction of unit length that is across another is rounding.
const ROUNDING: f32 = 1e-12;

/// Values of [`Verdict::kind`]: the sides stay apart by a room, they are kept apart by a slab, and that of a contact.
pub(super) const APART: f32 = 0.0;
pub(super) const CONTACT: f32 = 2.0;
const KEPT_APART: f32 = 1.0;

/// Numbers that a [`Judge`] gives: nine of how the sides are, ten of the [`Verdict`].
pub(super) const JUDGED: usize = 9 + 10;

/// Weights, direction, distance, and how wide the slab along the direction is that has one side on each side of it; then the [`Verdict`].
#[derive(Clone, Copy)]
pub(super) struct Judge {
    pub kind: Kind,
    /// K.
    pub steps: f32,
    /// What rounding may have done, m.
    pub epsilon: f32,
    pub settings: Settings,
}

/// What is to be made of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Verdict<L> {
    /// [`APART`], or [`CONTACT`], or in between: a slab without a contact.
    pub kind: L,
    /// The room that it leaves its vertices, or that of the slab, m.
    pub room: L,
    /// The slab's direction.
    pub normal: V3<L>,
    /// How far it moves along that in a substep, m.
    pub speed: L,
    /// How far each vertex is expected to go towards it in a substep, m.
    pub towards: [L; 4],
}

impl Verdict<f32> {
    /// From the numbers of a [`Judge`].
    pub fn from_numbers(numbers: &[f32; JUDGED]) -> Self {
        let [.., kind, room, x, y, z, speed, a, b, c, d] = *numbers;
        Verdict { kind, room, normal: V3 { x, y, z }, speed, towards: [a, b, c, d] }
    }
}

/// Two sides along a direction.
#[derive(Clone, Copy)]
struct Between<L> {
    n: V3<L>,
    /// How far they are apart, m.
    width: L,
    /// How far they are expected to be at least, m.
    end: L,
    /// What each vertex is expected to go along n in a substep, and the least of the first side and the most of the second, m.
    along: [L; 4],
    a: L,
    b: L,
}

/// The least of the first side and the most of the second.
#[inline(always)]
fn ends<L: Lane>(kind: Kind, [a, b, c, d]: [L; 4]) -> [L; 2] {
    match kind {
        Kind::PointTriangle => [a, b.max(c).max(d)],
        Kind::SegmentSegment => [a.min(b), c.max(d)],
    }
}

/// How far the first side goes against the second in the mean.
#[inline(always)]
fn mean_way<L: Lane>(kind: Kind, [a, b, c, d]: &[V3<L>; 4], like: L) -> V3<L> {
    match kind {
        Kind::PointTriangle => *a - (*b + *c + *d) * like.like(1.0 / 3.0),
        Kind::SegmentSegment => (*a + *b - *c - *d) * like.like(0.5),
    }
}

impl Judge {
    /// What a direction n and a width (m) along it are worth, for vertices that go the ways u.
    #[inline(always)]
    fn between<L: Lane>(&self, u: &[V3<L>; 4], n: V3<L>, width: L) -> Between<L> {
        let along = [n.dot(u[0]), n.dot(u[1]), n.dot(u[2]), n.dot(u[3])];
        let [a, b] = ends(self.kind, along);
        let width = width - width.like(self.epsilon);
        let closing = (a - b).min(width.like(0.0));
        Between { n, width, end: width + closing * width.like(self.steps), along, a, b }
    }

    /// The verdict on vertices at x that go the ways u, with the direction n between them, the width along it and the distance, m. The terms are the gap, m, the part of its
    /// room that each side may use, and whether each side has anything that is held (1 or 0).
    #[inline(always)]
    pub fn judge<L: Lane>(
        &self,
        [x, u]: &[[V3<L>; 4]; 2],
        n: V3<L>,
        width: L,
        [gap, whole, held_a, held_b]: [L; 4],
    ) -> Verdict<L> {
        let (like, settings) = (|value: f32| gap.like(value), &self.settings);
        let (zero, one) = (like(0.0), like(1.0));
        let edge = gap * like(NEAR) + like(settings.early);
        let straight = self.between(u, n, width);
        // What slides comes nearer to all that is ahead, but goes past it: next to n there is a direction across which it does.
        let way = mean_way(self.kind, u, gap);
        let way = way * (one / (way.length_squared().sqrt() + like(f32::MIN_POSITIVE)));
        let aside = n - way * n.dot(way);
        let square = aside.length_squared();
        let aside = aside * (one / (square.sqrt() + like(f32::MIN_POSITIVE)));
        let at = [zero, aside.dot(x[1] - x[0]), aside.dot(x[2] - x[0]), aside.dot(x[3] - x[0])];
        let [low, high] = ends(self.kind, at);
        let past = self.between(u, aside, low - high);
        // The better slab is the one that leaves more to those that go as expected.
        let share = like(0.5) + like(0.5) * (held_a - held_b).abs();
        let left =
            |slab: &Between<L>| whole * slab.width * like(settings.gamma) + share * (slab.end - slab.width);
        let better = left(&straight).select_lt(left(&past), one, zero);
        let better = (straight.width * like(PAST)).select_lt(past.width, better, zero);
        let better = like(ROUNDING).select_lt(square, better, zero);
        let better = straight.end.select_lt(edge, better, zero);
        let choose = |past: L, straight: L| zero.select_lt(better, past, straight);
        let aslant = past.n.dot(straight.n).select_lt(like(ASLANT), better, zero);
        let passes = (gap * like(PASSING)).select_lt(past.end, aslant, zero);
        let n = past.n.where_positive(better, straight.n);
        let (width, end) = (choose(past.width, straight.width), choose(past.end, straight.end));
        let (a, b) = (choose(past.a, straight.a), choose(past.b, straight.b));
        let apart = end.select_lt(edge, zero, (width * like(LEFT)).select_lt(end, one, zero));
        let room = width * like(settings.gamma);
        // What cannot give way takes the slab with it.
        let speed = (a + b) * like(0.5);
        let speed = held_b.select_lt(held_a, a, held_a.select_lt(held_b, b, speed));
        let speed = zero.select_lt(room, whole.select_lt(like(1.5), speed, zero), zero);
        let room = zero.select_lt(room, room * whole, room);
        let mut towards = past.along;
        for i in 0..4 {
            let along = choose(past.along[i], straight.along[i]);
            let first = i == 0 || (i == 1 && self.kind == Kind::SegmentSegment);
            towards[i] = if first { speed - along } else { along - speed }.max(zero);
        }
        let contact = zero.select_lt(passes, like(KEPT_APART), like(CONTACT));
        let contact = end.select_lt(edge, contact, like(KEPT_APART));
        Verdict {
            kind: zero.select_lt(apart, like(APART), contact),
            room: zero.select_lt(apart, settings.room_of(end, gap) * whole, room),
            normal: n,
            speed,
            towards,
        }
    }
}

impl StencilKernel<2, JUDGED> for Judge {
    #[inline(always)]
    fn apply<L: Lane>(&self, fields: &[[V3<L>; 4]; 2], terms: [L; 4], like: L) -> [L; JUDGED] {
        let x = &fields[0];
        let near = proximity::near(self.kind, x, like.like(f32::EPSILON));
        let w = near.weights;
        let (n, width) = across(self.kind, x, &w, like);
        let distance = near.squared.sqrt();
        let Verdict { kind, room, normal, speed, towards } =
            self.judge(fields, n, width.min(distance), terms);
        [
            w[0], w[1], w[2], w[3], n.x, n.y, n.z, distance, width, //
            kind, room, normal.x, normal.y, normal.z, speed, towards[0], towards[1], towards[2], towards[3],
        ]
    }
}
