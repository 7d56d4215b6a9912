//! Bringing vertices back that went further than they may.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use glam::Vec3;

use super::Detector;
use super::around::Around;
use super::measure::{Findings, Slab, first_side};
use crate::par::Team;
use crate::wide::Particle;

/// Vertices handed to a thread at a time.
const GRAIN: usize = 64;
/// So few vertices are brought back by one thread.
const ALONE: usize = 128;
/// One of so many vertices is many: for as many, all slabs are gone through.
const MANY: usize = 8;
/// Marks a vertex that went as far as it may without being in contact.
pub const FREE: f32 = 1.0;
/// Marks a vertex that was stopped by a contact.
pub const STOPPED: f32 = 2.0;
/// Marks a vertex for which no place was found.
pub const LOST: f32 = 3.0;
/// How often the walls around a vertex are gone through, and how often to find any place at all.
const SLIDES: u32 = 8;
const LAST_SLIDES: u32 = 64;
/// Part of its room by which a vertex may be beyond, so that rounding does not count: of what two sides leave each other, (1 − 2γ) d, it takes a fifth.
pub(super) const OVER: f32 = 0.02;
/// How far out of a collider a vertex is put, m.
const OUT: f32 = 1e-5;
/// How well a way is cut short.
const HALVINGS: u32 = 8;

/// What clamping did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clamped {
    /// How many vertices were brought back.
    pub outside: usize,
    /// For how many no place was found: then nothing may go by this plan.
    pub lost: usize,
    /// How many had to stay inside of a collider.
    pub inside: usize,
}

impl Detector {
    /// How many vertices are so far from where they were expected that they may have contacts which are not known.
    pub fn strayed(&self, team: &mut Team, x: &[Particle]) -> usize {
        self.beyond(team, x, &self.outer, 1.0 + OVER)
    }

    /// Whether a vertex at x is one of those.
    pub(super) fn has_strayed(&self, v: usize, x: &Particle) -> bool {
        let most = self.outer[v] * (1.0 + OVER);
        square(x, &self.center[v]) > most * most || self.outer[v] == 0.0
    }

    /// How many vertices are beyond their ball, of one of the `radii` (m) times `over`, or have none.
    fn beyond(&self, team: &mut Team, x: &[Particle], radii: &[f32], over: f32) -> usize {
        let n = self.moving_vertices();
        let (center, radii, x) = (&self.center[..n], &radii[..n], &x[..n]);
        let count = AtomicUsize::new(0);
        team.run(|worker| {
            let range = worker.share(n, GRAIN);
            let all = x[range.clone()].iter().zip(&center[range.clone()]).zip(&radii[range]);
            let mut here = 0u32;
            for ((x, c), &radius) in all {
                let most = radius * over;
                here += (square(x, c) > most * most) as u32 | (radius == 0.0) as u32;
            }
            count.fetch_add(here as usize, Ordering::Relaxed);
        });
        count.into_inner()
    }

    /// Brings vertices back that went further than they may. They come from `start`; `inside` gives the depth (m, below zero) and the outward normal of
    /// a point where none should be. Those that are `pressed`, if there are any, are tested for it wherever they are.
    /// Where they wanted to go is kept: see [`wanted`](Self::wanted).
    pub fn clamp(
        &mut self,
        team: &mut Team,
        start: &[Particle],
        x: &mut [Particle],
        pressed: Option<&(dyn Fn(usize) -> bool + Sync)>,
        inside: impl Fn(Vec3) -> Option<(f32, Vec3)> + Sync,
    ) -> Clamped {
        let n = self.moving_vertices();
        self.wanted.resize(self.center.len(), Particle::default());
        for v in self.astray.drain(..) {
            self.wanted[v as usize].w = 0.0;
        }
        // Those within the inner ball cannot break any bound; of the others some may go on along their slabs.
        if pressed.is_none() && self.beyond(team, x, &self.inner, 1.0) == 0 {
            return Clamped::default();
        }
        let pressed = |v: usize| pressed.is_some_and(|pressed| pressed(v));
        self.beyond.clear();
        self.beyond.resize(self.center.len(), false);
        let (center, inner, outer) = (&self.center[..], &self.inner[..], &self.outer[..]);
        team.for_each_chunk(&mut self.beyond[..n], GRAIN, |first, beyond| {
            for (beyond, v) in beyond.iter_mut().zip(first..) {
                *beyond = square(&x[v], &center[v]) > inner[v] * inner[v]
                    || inner[v] == 0.0
                    || (pressed(v) && inside(x[v].p.into()).is_some());
            }
        });
        let beyond = &self.beyond[..];
        self.astray.extend((0..n as u32).filter(|&v| beyond[v as usize]));
        if self.astray.is_empty() {
            return Clamped::default();
        }
        // What stops them, vertex by vertex, in an order that does not depend on threads.
        let (few, k) = (self.astray.len() < n / MANY, self.done as f32);
        if few && self.around.is_known(&self.findings, center.len()) {
            self.walls.look_up(&self.findings, &self.around, &self.astray, center.len(), k);
        } else {
            self.walls.build(team, &self.findings, beyond, k);
        }
        let (walls, starts) = (&self.walls.sorted[..], &self.walls.starts[..]);
        let origin = &self.origin[..];
        let bring_back = |v: usize, x: &mut Particle, wanted: &mut Particle, done: &mut Clamped| {
            let own = &walls[starts[v] as usize..starts[v + 1] as usize];
            let c = Vec3::from(origin[v].p);
            let room = Room { walls: own, middle: Vec3::from(center[v].p) - c, radius: outer[v] };
            let way = Vec3::from(x.p) - c;
            let fits = room.holds(way);
            if fits && !(pressed(v) && inside(x.p.into()).is_some()) {
                return;
            }
            let from = [Vec3::from(start[v].p) - c, Vec3::ZERO, room.middle];
            let (went, stopped) = if fits { (Some(way), false) } else { room.along(way, from) };
            if !fits {
                *wanted = Particle { p: x.p, w: if stopped { STOPPED } else { FREE } };
                done.outside += 1;
            }
            let Some(went) = went.and_then(|went| room.out_of(went, from, |y| inside(c + y))) else {
                *wanted = Particle { p: x.p, w: LOST };
                done.lost += 1;
                return;
            };
            x.p = (c + went).into();
            if let Some((d, n)) = inside(x.p.into()) {
                *wanted = Particle { p: (Vec3::from(x.p) + n * (OUT - d)).into(), w: STOPPED };
                done.outside += fits as usize;
                done.inside += 1;
            }
        };
        let mut done = Clamped::default();
        if self.astray.len() < ALONE {
            for &v in &self.astray {
                let v = v as usize;
                bring_back(v, &mut x[v], &mut self.wanted[v], &mut done);
            }
            return done;
        }
        let [outside, lost, within] = [0; 3].map(AtomicUsize::new);
        team.for_each_chunk2(&mut x[..n], &mut self.wanted[..n], GRAIN, |first, x, wanted| {
            let mut here = Clamped::default();
            for (i, (x, wanted)) in x.iter_mut().zip(wanted).enumerate().filter(|(i, _)| beyond[first + i]) {
                bring_back(first + i, x, wanted, &mut here);
            }
            outside.fetch_add(here.outside, Ordering::Relaxed);
            lost.fetch_add(here.lost, Ordering::Relaxed);
            within.fetch_add(here.inside, Ordering::Relaxed);
        });
        Clamped { outside: outside.into_inner(), lost: lost.into_inner(), inside: within.into_inner() }
    }
}

/// What stops vertices.
#[derive(Debug, Default)]
pub(super) struct Walls {
    /// Found by each member of a team, and where those of each block of slabs are, in the list of which member.
    members: Vec<Vec<Wall>>,
    blocks: Vec<(usize, Range<usize>)>,
    /// All in order of vertices, and where those of each begin.
    sorted: Vec<Wall>,
    starts: Vec<u32>,
}

impl Walls {
    /// Makes room for so many, around so many vertices, on so many threads.
    pub fn reserve(&mut self, walls: usize, vertices: usize, threads: usize) {
        self.members.resize_with(threads.max(self.members.len()), || Vec::with_capacity(walls));
        self.sorted.reserve(walls);
        self.starts.reserve(vertices + 2);
    }

    /// Makes room for so many blocks of slabs.
    pub fn reserve_blocks(&mut self, blocks: usize) {
        self.blocks.reserve(blocks.saturating_sub(self.blocks.len()));
    }

    /// Those of all vertices that are `beyond` their inner balls after k substeps, in an order that does not depend on threads.
    fn build(&mut self, team: &mut Team, findings: &Findings, beyond: &[bool], k: f32) {
        let Walls { members, blocks, .. } = self;
        members.resize_with(team.count().max(members.len()), Vec::new);
        members.iter_mut().for_each(Vec::clear);
        blocks.resize(findings.blocks(), (0, 0..0));
        team.for_each_block(blocks, 1, members, |b, block, index, walls| {
            let begin = walls.len();
            findings.slabs_of(b).iter().for_each(|slab| slab.walls(beyond, k, walls));
            block[0] = (index, begin..walls.len());
        });
        self.sort(beyond.len());
    }

    /// The same for some of n vertices, in order, whose slabs are known.
    fn look_up(&mut self, findings: &Findings, around: &Around, some: &[u32], n: usize, k: f32) {
        let Walls { sorted, starts, .. } = self;
        sorted.clear();
        // Those of others are not asked for.
        starts.resize(n + 2, 0);
        for &v in some {
            starts[v as usize] = sorted.len() as u32;
            for slab in around.slabs(findings, v as usize) {
                let own = slab.particles.iter().position(|&p| p == v).expect("it has a part in it");
                sorted.push(slab.wall(own, k));
            }
            starts[v as usize + 1] = sorted.len() as u32;
        }
    }

    /// Sorts walls by their vertices, of which there are n; those of one vertex stay in order.
    fn sort(&mut self, n: usize) {
        let Walls { members, blocks, sorted, starts } = self;
        let all = || blocks.iter().flat_map(|(member, range)| &members[*member][range.clone()]);
        starts.clear();
        starts.resize(n + 2, 0);
        all().for_each(|wall| starts[wall.vertex as usize + 2] += 1);
        for v in 2..n + 2 {
            starts[v] += starts[v - 1];
        }
        sorted.clear();
        sorted.resize(
            starts[n + 1] as usize,
            Wall { vertex: 0, inward: Vec3::ZERO, level: 0.0, room: 0.0, contact: false },
        );
        for wall in all() {
            // Once all are in their places, each of these is one further on.
            let next = &mut starts[wall.vertex as usize + 1];
            sorted[*next as usize] = *wall;
            *next += 1;
        }
    }
}

/// A vertex at y from its origin keeps inward·y ≥ level, m.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wall {
    vertex: u32,
    inward: Vec3,
    level: f32,
    /// Of its slab: below zero, the vertex stays at its origin or goes inward by as much.
    room: f32,
    contact: bool,
}

impl Wall {
    #[inline(always)]
    fn holds(&self, y: Vec3) -> bool {
        if self.room > 0.0 {
            self.inward.dot(y) >= self.level - OVER * self.room
        } else {
            // A way out that is not long enough to be sure of is none.
            y == Vec3::ZERO || self.inward.dot(y) >= 0.5 * self.level
        }
    }
}

/// Where a vertex may be.
struct Room<'a> {
    walls: &'a [Wall],
    middle: Vec3,
    radius: f32,
}

impl Room<'_> {
    #[inline]
    fn holds(&self, y: Vec3) -> bool {
        let most = self.radius * (1.0 + OVER);
        (y - self.middle).length_squared() <= most * most && self.walls.iter().all(|wall| wall.holds(y))
    }

    /// Puts y into the ball, and then behind one wall after the other; says whether any contact was in the way.
    fn project(&self, y: &mut Vec3) -> bool {
        let off = *y - self.middle;
        let length = off.length();
        if length > self.radius {
            *y = self.middle + off * (self.radius / length);
        }
        let mut moved = false;
        for wall in self.walls {
            let short = wall.level - wall.inward.dot(*y);
            if short > 0.0 {
                *y += wall.inward * short;
                moved |= wall.contact;
            }
        }
        moved
    }

    /// A place near y, if there is any, and whether a contact had a part in it. Along a wall it goes on; where there is no way past several, it is cut
    /// short towards one of `from`.
    fn along(&self, mut y: Vec3, from: [Vec3; 3]) -> (Option<Vec3>, bool) {
        let mut stopped = false;
        for _ in 0..SLIDES {
            stopped |= self.project(&mut y);
            if self.holds(y) {
                return (Some(y), stopped);
            }
        }
        // One vertex without a place means a detection for all: so that is looked for with more patience.
        let known = from.into_iter().find(|&from| self.holds(from));
        let from = known.or_else(|| from.into_iter().find_map(|from| self.settle(from)));
        let contact = self.walls.iter().any(|wall| wall.contact);
        (from.map(|from| halve(from, y, |y| self.holds(y))), contact)
    }

    /// A place that is found from y on, behind one wall after the other and back.
    fn settle(&self, mut y: Vec3) -> Option<Vec3> {
        (0..LAST_SLIDES).find_map(|_| {
            self.project(&mut y);
            self.holds(y).then_some(y)
        })
    }

    /// The same place, or one nearby that is not inside of anything: along its surface, or back towards one of `from`. Where it was inside before, it may have to stay there.
    fn out_of(&self, y: Vec3, from: [Vec3; 3], inside: impl Fn(Vec3) -> Option<(f32, Vec3)>) -> Option<Vec3> {
        let mut out = y;
        for _ in 0..SLIDES {
            let Some((d, n)) = inside(out) else {
                return Some(out);
            };
            out += n * (OUT - d);
            self.project(&mut out);
            if !self.holds(out) {
                break;
            }
        }
        if inside(Vec3::ZERO).is_some() {
            return Some(y);
        }
        let from = from.into_iter().find(|&from| self.holds(from) && inside(from).is_none())?;
        Some(halve(from, y, |y| inside(y).is_none()))
    }
}

/// A place between `good` and `bad` that is good too.
fn halve(good: Vec3, bad: Vec3, is_good: impl Fn(Vec3) -> bool) -> Vec3 {
    let (mut low, mut high) = (0.0f32, 1.0f32);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if is_good(good.lerp(bad, middle)) { low = middle } else { high = middle }
    }
    if low == 0.0 { good } else { good.lerp(bad, low) }
}

impl Slab {
    /// What it is after k substeps to its vertices that are beyond their inner ball.
    #[inline]
    fn walls(&self, beyond: &[bool], k: f32, walls: &mut Vec<Wall>) {
        for i in (0..4).filter(|&i| beyond[self.particles[i] as usize]) {
            walls.push(self.wall(i, k));
        }
    }

    /// What it is to its vertex number i.
    #[inline(always)]
    fn wall(&self, i: usize, k: f32) -> Wall {
        let (inward, speed) = if i < first_side(self.kind) {
            (Vec3::from(self.normal), self.speed)
        } else {
            (-Vec3::from(self.normal), -self.speed)
        };
        let level = k * speed - self.room;
        Wall { vertex: self.particles[i], inward, level, room: self.room, contact: self.contact }
    }
}

/// |x − c|², m².
#[inline(always)]
fn square(x: &Particle, c: &Particle) -> f32 {
    let (x, c) = (x.to_array(), c.to_array());
    let (dx, dy, dz) = (x[0] - c[0], x[1] - c[1], x[2] - c[2]);
    dx * dx + dy * dy + dz * dz
}
