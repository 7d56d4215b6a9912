//! Contact of cloth with itself, with other cloths and with the meshes of colliders, in a substep; why nothing crosses is in docs/contact.md.
//!
//! 1. [`begin`](Barrier::begin): if the prediction leaves the balls of the last detection, and not only for a few vertices, look again from where everything is. In the balls there
//!    can be no new contact, so a cloth at rest is never looked at.
//! 2. [`push`](Barrier::push), after each iteration of a method: contacts are pushed apart, with friction, in colours.
//! 3. [`finish`](Barrier::finish): whatever is outside of its ball is put back onto it; then look again, and go on from there, until all have arrived or
//!    are stopped by a contact. So a vertex that is merely fast arrives where it wanted to, to the bit.
//!
//! Vertices of colliders and pins are under the same rule, since a bound that they break is none. They are given far more time to arrive; if cloth is jammed, they are late.

use glam::Vec3;

use super::bound::{Clamped, ContactRow, Detector, FREE, LOST, Settings, USUAL_ROWS};
use super::rows::{FIRM, Rows, SOFT};
use super::soup::Soup;
use super::{Body, Contacts};
use crate::color::PADDING;
use crate::lanes::SimdLevel;
use crate::model::{ColliderMesh, Model};
use crate::par::Team;
use crate::params;
use crate::step::{Stage, Stopwatch};
use crate::wide::Particle;

/// Detections in a substep at most, while vertices have not arrived and nothing touches.
const ROUNDS: u32 = 32;
/// The same if something does, but does not press; or if an edge is [`TORN`].
const TOUCH_ROUNDS: u32 = 8;
/// The same if something presses, and more than [`MANY`] have not arrived that touch nothing themselves, or any by a plan that is older than [`LONG`] substeps, [`LONG_IN_PILES`] in a pile: what is ahead of cloth that
/// slides faster and faster would drag it along.
const CONTACT_ROUNDS: u32 = 1;
const MANY: f32 = 0.04;
const LONG: u32 = 8;
const LONG_IN_PILES: u32 = 24;
/// Vertices are held back by a detection in so many substeps at most: the wall that they stand at is not there any more, and a fold whose sides lean on such walls swings for ever. In a pile
/// there are always some, and they have nowhere to go.
const HELD: u32 = 4;
/// Vertices that were held back go on if an edge is longer than so many times what it is at rest because of that: or it would be torn apart.
const TORN: f32 = 1.5;
/// Two sides press if they come nearer than their gap and this part of it.
const PRESS: f32 = 0.02;
/// Deeper than this in a collider is inside, m; friction on a round one takes vertices in by less.
const INSIDE: f32 = 1e-5;
/// Detections in a substep at most, while vertices are inside of a collider.
const INSIDE_ROUNDS: u32 = 20;
/// How often contacts are gone through after each detection in which cloth only gives way to colliders and pins.
const LATE_PASSES: u32 = 10;
/// Detections in a substep at most, while colliders and pins have not arrived. After that they are late, as they are in life if a cloth is jammed.
const MOVER_ROUNDS: u32 = 200;
/// They are late before that if, as fast as they went in so many detections, they would not arrive by then: what is jammed seldom comes free by trying again.
const PACE: u32 = 4;
/// The reach of a detection is this many times the largest gap at least, and this part of the mean edge at most, unless that is less. With the
/// margin it stays below 0.61 edges, where a flat cloth of right-angled triangles has no pairs.
const LEAST_REACH: f32 = 1.4;
const MOST_REACH: f32 = 0.32;
/// Part of the reach by which pairs are collected from further away, on each side.
const MARGIN: f32 = 0.4;

/// A larger reach lets vertices stray further from where they are expected, but with many layers it is full of pairs: it grows while there are fewer
/// pairs within it than this for each vertex, and shrinks while there are more than twice as many. How many were measured to find those does not matter: so results do not depend on how pairs are kept.
const PAIRS: f32 = 1.2;
/// Contacts are listed that are expected within so many gaps more than those that are listed in any case.
const EARLY: f32 = 0.05;
/// Substeps that a detection is to hold for at most. It holds for as many as the last did, and some more.
const MOST_STEPS: f32 = 64.0;
/// Two sides that may meet are expected to go against each other by this part of the mean edge at most: with more, there would be too many pairs.
const SWEEP: f32 = 0.4;

/// What a substep takes place in.
pub struct Moment<'a> {
    /// What is fixed.
    pub model: &'a Model,
    /// The colliders, at the end of the substep.
    pub bodies: &'a [Body],
    /// What they touch.
    pub contacts: &'a mut Contacts,
    /// The substep, s.
    pub h: f32,
    /// Gravity, m/s².
    pub gravity: Vec3,
    /// The threads.
    pub team: &'a mut Team,
    /// The instructions.
    pub level: SimdLevel,
    /// The clock of the stages.
    pub clock: &'a mut Stopwatch,
}

/// What was done in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// How often distances were computed.
    pub detections: u32,
    /// How often pairs were collected anew.
    pub collections: u32,
    /// Pairs whose distance was computed, in all detections.
    pub measured: usize,
    /// Contacts at the last detection.
    pub rows: usize,
    /// Their colours.
    pub colors: usize,
    /// Substeps in which some could not go as planned.
    pub lost: u32,
    /// Substeps in which a vertex was stopped short of where it wanted to go.
    pub stopped: u32,
    /// Pins that could not be where they should, in all substeps.
    pub late: usize,
    /// Vertices of colliders that could not be where they should, in all substeps: cloth is jammed there, and dents them.
    pub dented: usize,
}

/// Counts are added; rows and colours are those of the last.
impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, more: Work) {
        *self = Work {
            detections: self.detections + more.detections,
            collections: self.collections + more.collections,
            measured: self.measured + more.measured,
            rows: more.rows,
            colors: more.colors,
            lost: self.lost + more.lost,
            stopped: self.stopped + more.stopped,
            late: self.late + more.late,
            dented: self.dented + more.dented,
        };
    }
}

/// See the module.
pub struct Barrier {
    soup: Soup,
    detector: Detector,
    rows: Rows,
    settings: Settings,
    /// The mean edge of the finest cloth, m.
    edge: f32,
    /// The reach of the next detection, before it is checked, m.
    reach: f32,
    /// Friction of each part; none where it is that of what touches it.
    friction: Vec<Option<f32>>,
    /// Whether contacts are soft.
    soft: bool,
    /// Whether moves are bounded, or contacts only pushed apart.
    bounded: bool,
    /// Whether there was a detection before, and whether it is still good.
    begun: bool,
    ready: bool,
    /// Substeps since then in which a vertex was stopped short.
    held: u32,
    /// Whether colliders or pins were late in the last substep.
    jammed: bool,
    /// Where each vertex is expected to go in a substep, m, and for how many.
    ways: Vec<Particle>,
    steps: f32,
    /// Vertices of cloths and colliders.
    items: usize,
    work: Work,
}

impl Barrier {
    /// For all cloths of a model and its collider meshes. With `soft`, contacts are, and their pushes are remembered. With `bounded` nothing can cross.
    /// `meshes_only`: cloth passes through cloth, but not through colliders.
    pub fn new(
        model: &Model,
        bodies: &[Body],
        params: &params::Contact,
        soft: bool,
        bounded: bool,
        meshes_only: bool,
    ) -> Self {
        let soup = Soup::of_model(model, params.thickness);
        let edge = |edges: &[([u32; 2], f32)]| {
            edges.iter().map(|(_, rest)| rest).sum::<f32>() / edges.len().max(1) as f32
        };
        let edges = model.cloths.iter().map(|cloth| edge(&model.edges[cloth.edges.clone()]));
        let edge = edges.fold(f32::INFINITY, f32::min);
        let gap = soup.thickest();
        let cloths = model.cloths.iter().map(|cloth| Some(cloth.friction));
        let friction = cloths.chain(model.collider_meshes.iter().map(|mesh| bodies[mesh.collider].friction));
        Barrier {
            detector: Detector::new(params.search, meshes_only),
            rows: Rows::new(model.particles(), model.items()),
            settings: Settings { early: EARLY * gap, sweep: SWEEP * edge, ..Settings::default() },
            edge,
            reach: MOST_REACH * edge,
            friction: friction.collect(),
            soft,
            bounded,
            begun: false,
            ready: false,
            held: 0,
            jammed: false,
            ways: Vec::new(),
            steps: 1.0,
            items: model.items() - PADDING,
            work: Work::default(),
            soup,
        }
    }

    /// How often contacts should be gone through in an iteration: more often in piles.
    pub fn passes(&self) -> u32 {
        if self.piled() { 6 } else { 2 }
    }

    /// Whether layers lie on layers nearly everywhere.
    fn piled(&self) -> bool {
        self.rows.len() > self.items
    }

    /// Whether there are contacts to solve.
    pub fn touching(&self) -> bool {
        !self.rows.is_empty()
    }

    /// What was done since the last call.
    pub fn take_work(&mut self) -> Work {
        Work { rows: self.rows.len(), colors: self.rows.colors(), ..std::mem::take(&mut self.work) }
    }

    /// Chooses reach and margin.
    fn adapt(&mut self) {
        let least = LEAST_REACH * self.soup.thickest();
        self.reach = self.reach.min(MOST_REACH * self.edge).max(least);
        self.settings.reach = self.reach;
        self.settings.margin = MARGIN * self.reach;
        self.settings.steps = self.steps as u32;
    }

    fn detect(&mut self, now: &mut Moment<'_>, x: &[Particle], settings: &Settings, planned: bool) {
        if !std::mem::replace(&mut self.begun, true) {
            self.rows.reserve(USUAL_ROWS * self.items, now.team.count());
        }
        let plan = if planned { &self.ways[..] } else { &[] };
        let Moment { team, level, clock, .. } = now;
        let found = self.detector.detect_planned(team, *level, clock, &self.soup, x, plan, settings);
        let (soup, friction) = (&self.soup, &self.friction);
        let part = |v: u32| friction[soup.vertex_group[v as usize] as usize];
        let coefficient = |row: &ContactRow| {
            let [a, _, _, b] = row.particles;
            match (part(a), part(b)) {
                // A collider that has a friction of its own decides.
                (Some(own), Some(_)) if soup.is_collider(a) => own,
                (Some(_), Some(own)) if soup.is_collider(b) => own,
                (Some(a), Some(b)) => 0.5 * (a + b),
                (a, b) => a.or(b).unwrap_or(0.0),
            }
        };
        // What is moved by others has to push at once.
        let softness = |row: &ContactRow| {
            let sides = [row.particles[0], row.particles[3]];
            match self.soft {
                false => 0.0,
                true if sides.iter().any(|&v| soup.is_driven(v)) => 0.0,
                true if sides.iter().any(|&v| soup.is_collider(v)) => FIRM,
                true => SOFT,
            }
        };
        let rows = self.detector.rows();
        self.rows.set(team, rows, coefficient, softness, self.soft && rows.len() > self.items);
        now.clock.lap(Stage::Color);
        self.held = 0;
        self.work.detections += 1;
        self.work.collections += found.collected as u32;
        self.work.measured += found.measured;
        let pairs = found.near as f32 / now.model.particles() as f32;
        if pairs < PAIRS {
            self.reach *= 1.2;
        } else if pairs > 2.0 * PAIRS {
            self.reach /= 1.2;
        }
    }

    /// Goes on with the detection there is; says whether it does for going from `start` to the prediction `x`.
    fn go_on(&mut self, now: &mut Moment<'_>, start: &[Particle], x: &[Particle]) -> bool {
        let held = self.held >= HELD && !self.piled();
        if !self.ready || !self.bounded || held {
            return false;
        }
        let done = self.detector.done() as f32;
        if !self.detector.advance() {
            self.steps = (2.0 * done).clamp(1.0, MOST_STEPS);
            return false;
        }
        let strayed = self.detector.strayed(now.team, x) > 0;
        if strayed && !self.detector.renew(&self.soup, start, x) {
            self.steps = (1.25 * done).clamp(1.0, MOST_STEPS);
            return false;
        }
        true
    }

    /// What each vertex is expected to do: what it did in the last substep. Pins and colliders go their own way.
    fn expect(&mut self, now: &Moment<'_>, start: &[Particle], x: &[Particle]) {
        let [gx, gy, gz] = (now.gravity * now.h * now.h).into();
        self.ways.clear();
        for (start, x) in start.iter().zip(x) {
            let free = if x.w > 0.0 { 1.0 } else { 0.0 };
            let [a, b, c] = way(start, x);
            self.ways.push(Particle { p: [a - free * gx, b - free * gy, c - free * gz], w: 0.0 });
        }
    }

    /// Begins a substep from `start` to the prediction `x`, to which it adds what contacts pushed in the substep before.
    pub fn begin(&mut self, now: &mut Moment<'_>, start: &mut [Particle], x: &mut [Particle]) {
        let still = |mesh: &ColliderMesh| {
            let mut ways = start[mesh.vertices.clone()].iter().zip(&x[mesh.vertices.clone()]);
            ways.all(|(start, x)| start.p == x.p)
        };
        let meshes = &now.model.collider_meshes;
        let all_still = meshes.iter().all(still);
        self.detector.set_movers(if all_still { now.model.particles() } else { now.model.items() });
        let good = self.go_on(now, start, x);
        now.clock.lap(Stage::Bound);
        if !good {
            for (k, mesh) in meshes.iter().enumerate() {
                self.soup.set_still(now.model.cloths.len() + k, still(mesh));
            }
            self.adapt();
            let mut settings = self.settings;
            if !self.bounded {
                settings.early += 2.0 * longest_way(&self.soup, start, x);
                settings.reach = settings.reach.max(settings.early + self.soup.thickest());
            }
            self.expect(now, start, x);
            self.detect(now, start, &settings, self.bounded);
            self.detector.advance();
            self.ready = true;
        }
        if self.touching() {
            self.rows.begin(now.team, now.level, start);
            self.rows.push_as_before(now.team, now.level, x);
            now.clock.lap(Stage::Contact);
        }
    }

    /// Pushes contacts apart, with friction, as part of an iteration. All passes but the first are for those that are likely to press.
    pub fn push(&mut self, team: &mut Team, level: SimdLevel, x: &mut [Particle], h: f32, pass: u32) {
        if self.touching() {
            self.rows.push(team, level, x, h, pass == 0);
        }
    }

    /// Brings everything where it may be; `x` is where it would like to. Says whether vertices of colliders are late.
    pub fn finish(&mut self, now: &mut Moment<'_>, start: &mut [Particle], x: &mut [Particle]) -> bool {
        if !self.bounded {
            return false;
        }
        // Where they were late in the substep before, cloth gives way at once.
        let patience = if std::mem::take(&mut self.jammed) { 0 } else { TOUCH_ROUNDS };
        let mut pace = Pace::from(patience);
        let (mut round, mut pushed) = (0, self.touching() && self.rows.pushed());
        loop {
            let mut clamped = self.clamp(now, start, x, round > 0);
            if clamped.lost > 0 && self.detector.moving() {
                clamped = self.plan_again(now, start, x);
            }
            if clamped.outside == 0 {
                return false;
            }
            let left = self.left(now.model.particles(), x);
            let long = if self.piled() { LONG_IN_PILES } else { LONG };
            let many = left.free as f32 > MANY * now.model.particles() as f32;
            let moving = left.colliders + left.pins > 0;
            let rounds = if moving && pace.arrives(round, left.way) {
                MOVER_ROUNDS
            } else if clamped.inside > 0 {
                INSIDE_ROUNDS
            } else if !self.touching() {
                ROUNDS
            } else if (!pushed && !self.pressing(x)) || (left.free > 0 && self.torn(now.model, x)) {
                TOUCH_ROUNDS
            } else if many || (left.free > 0 && self.detector.done() > long) {
                CONTACT_ROUNDS
            } else {
                0
            };
            if round >= rounds {
                self.work.stopped += 1;
                self.work.late += left.pins;
                self.work.dented += left.colliders;
                self.jammed = left.pins + left.colliders > 0;
                self.held += 1;
                // They have no room left where they are.
                let most = MANY * now.model.particles() as f32;
                self.ready = clamped.outside as f32 <= most && left.colliders == 0;
                return left.colliders > 0;
            }
            round += 1;
            self.detect(now, x, &self.settings.clone(), true);
            // Whatever is in the way of colliders and pins for so long only gives way to them.
            let late = round > patience && moving;
            self.want_if(x, |v, x| !late || x.w == 0.0 || v >= now.model.particles());
            if self.touching() {
                self.rows.go_on(now.team, now.level, start);
                for _ in 0..if late { LATE_PASSES } else { 1 } {
                    self.rows.push(now.team, now.level, x, now.h, true);
                }
                pushed |= self.rows.pushed();
                now.clock.lap(Stage::Contact);
            }
            if pushed {
                self.push_out(now, x);
            }
        }
    }

    /// Goes from where all were once more, since some have no place in the plan. All that a slab may stop are expected to stay, then, and the others to go where they want to: were everything to
    /// stay, cloth would stand still in the air wherever a fold of it closes. If that is no good either, there is no plan.
    fn plan_again(&mut self, now: &mut Moment<'_>, start: &[Particle], x: &mut [Particle]) -> Clamped {
        self.work.lost += 1;
        self.want_if(x, |_, _| true);
        self.ways.clear();
        for (v, ((start, x), wanted)) in start.iter().zip(&*x).zip(self.detector.wanted()).enumerate() {
            let stays = wanted.w == LOST || self.detector.walled(v);
            self.ways.push(Particle { p: if stays { [0.0; 3] } else { way(start, x) }, w: 0.0 });
        }
        let settings = self.settings;
        self.detect(now, start, &settings, true);
        self.detector.advance();
        let clamped = self.clamp(now, start, x, true);
        if clamped.lost == 0 || !self.detector.moving() {
            return clamped;
        }
        self.want_if(x, |_, _| true);
        self.detect(now, start, &settings, false);
        self.clamp(now, start, x, true)
    }

    /// Clamps; `pushed`: vertices were pushed since they were last brought out of colliders.
    fn clamp(
        &mut self,
        now: &mut Moment<'_>,
        start: &[Particle],
        x: &mut [Particle],
        pushed: bool,
    ) -> Clamped {
        let bodies = now.bodies;
        let inside = |p: Vec3| {
            let depths = bodies.iter().filter_map(|body| body.near(p, -INSIDE));
            depths.min_by(|a, b| a.0.total_cmp(&b.0))
        };
        let contacts = &mut *now.contacts;
        let any = contacts.any_inside(now.team, now.level, now.model, bodies, x, INSIDE, pushed);
        let contacts = &*contacts;
        let pressed = |v: usize| v < contacts.len() && (pushed || contacts.get(v).push > 0.0);
        let clamped = self.detector.clamp(now.team, start, x, any.then_some(&pressed), inside);
        now.clock.lap(Stage::Bound);
        clamped
    }

    /// Whether the sides of any contact would press on each other, were all where they want to go.
    fn pressing(&self, x: &[Particle]) -> bool {
        let at = |v: u32| {
            let (x, wanted) = (&x[v as usize], &self.detector.wanted()[v as usize]);
            Vec3::from(if wanted.w > 0.0 { wanted.p } else { x.p })
        };
        self.detector.rows().iter().any(|row| row.value_at(at) < PRESS * row.gap)
    }

    /// The vertices that have not arrived, in order, and where they wanted to go.
    fn not_arrived(&self) -> impl Iterator<Item = (usize, &Particle)> {
        let all = self.detector.astray().iter().map(|&v| (v as usize, &self.detector.wanted()[v as usize]));
        all.filter(|(_, wanted)| wanted.w > 0.0)
    }

    /// Puts those of the vertices that have not arrived, and are `chosen`, where they wanted to go.
    fn want_if(&self, x: &mut [Particle], chosen: impl Fn(usize, &Particle) -> bool) {
        for (v, wanted) in self.not_arrived() {
            if chosen(v, &x[v]) {
                x[v].p = wanted.p;
            }
        }
    }

    /// Moves what has not arrived, and would go into a collider, to its surface.
    fn push_out(&self, now: &Moment<'_>, x: &mut [Particle]) {
        for cloth in &now.model.cloths {
            let range = cloth.vertices.clone();
            let all = x[range.clone()].iter_mut().zip(&self.detector.wanted()[range]);
            for (x, _) in all.filter(|(x, wanted)| wanted.w > 0.0 && x.w > 0.0) {
                for body in now.bodies {
                    let p = Vec3::from(x.p);
                    if let Some((d, n)) = body.near(p, cloth.margin) {
                        x.p = (p + n * (cloth.margin - d)).into();
                    }
                }
            }
        }
    }

    /// Whether any edge of a vertex that has not arrived, and touches nothing, is too long.
    fn torn(&self, model: &Model, x: &[Particle]) -> bool {
        let wanted = self.detector.wanted();
        model.edges.iter().any(|&([a, b], rest)| {
            let [a, b] = [a as usize, b as usize];
            let length = || Vec3::from(x[a].p).distance(Vec3::from(x[b].p));
            // Few have not arrived.
            (wanted[a].w == FREE || wanted[b].w == FREE) && length() > TORN * rest
        })
    }

    /// What has not arrived.
    fn left(&self, particles: usize, x: &[Particle]) -> Left {
        let mut left = Left::default();
        for (v, wanted) in self.not_arrived() {
            let (collider, held) = (v >= particles, x[v].w == 0.0);
            left.colliders += collider as usize;
            left.pins += (held && !collider) as usize;
            if collider || held {
                left.way += Vec3::from(wanted.p).distance(x[v].p.into());
            }
            left.free += (wanted.w == FREE) as usize;
        }
        left
    }
}

/// How many vertices have not arrived.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    pins: usize,
    /// Vertices of colliders.
    colliders: usize,
    /// Those that are not near anything.
    free: usize,
    /// How far pins and vertices of colliders still have to go, all together, m.
    way: f32,
}

/// How fast colliders and pins arrive.
struct Pace {
    /// In which round it is looked at next, and how far they had to go when it was last, m.
    next: u32,
    way: f32,
}

impl Pace {
    /// Looked at from `round` on.
    fn from(round: u32) -> Self {
        Pace { next: round, way: f32::INFINITY }
    }

    /// Whether they will arrive within [`MOVER_ROUNDS`] by the look of it; in this round they have to go so far, m.
    fn arrives(&mut self, round: u32, way: f32) -> bool {
        if round < self.next {
            return true;
        }
        let gained = self.way - way;
        (self.next, self.way) = (round + PACE, way);
        gained * MOVER_ROUNDS.saturating_sub(round) as f32 >= way * PACE as f32
    }
}

/// The way from one place to another, m.
#[inline(always)]
fn way(from: &Particle, to: &Particle) -> [f32; 3] {
    [0, 1, 2].map(|axis| to.p[axis] - from.p[axis])
}

/// The longest way of any vertex, m.
fn longest_way(soup: &Soup, from: &[Particle], to: &[Particle]) -> f32 {
    let ways = soup.spans.iter().flat_map(|span| from[span.clone()].iter().zip(&to[span.clone()]));
    ways.map(|(a, b)| (Vec3::from(b.p) - Vec3::from(a.p)).length_squared()).fold(0.0, f32::max).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In which round movers give up that have to go 1 m and go so far in each, m.
    fn gives_up(step: impl Fn(u32) -> f32) -> Option<u32> {
        let (mut pace, mut way) = (Pace::from(0), 1.0);
        (0..MOVER_ROUNDS).find(|&round| {
            let arrives = way <= 0.0 || pace.arrives(round, way);
            way -= step(round);
            !arrives
        })
    }

    #[test]
    fn movers_go_on_as_long_as_they_would_arrive() {
        assert_eq!(gives_up(|_| 1.0 / 190.0), None, "slow, but steady");
        assert_eq!(gives_up(|_| 1.0 / 220.0), Some(PACE), "too slow");
        assert_eq!(gives_up(|round| if round < 20 { 0.01 } else { 0.0 }), Some(24), "stuck");
    }
}
