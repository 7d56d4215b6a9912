//! Contact of cloth with itself, with other cloths and with the meshes of colliders, in a substep; why nothing crosses is in docs/contact.md.
//!
//! 1. [`begin`](Barrier::begin): if the prediction leaves the balls of the last detection, look again from where everything is. In the balls there
//!    can be no new contact, so a cloth at rest is never looked at.
//! 2. [`push`](Barrier::push), after each iteration of a method: contacts are pushed apart, in colours.
//! 3. [`rub`](Barrier::rub): friction.
//! 4. [`finish`](Barrier::finish): whatever is outside of its ball is put back onto it; then look again, and go on from there, until all have arrived or
//!    are stopped by a contact. So a vertex that is merely fast arrives where it wanted to, to the bit.
//!
//! Vertices of colliders and pins are under the same rule, since a bound that they break is none; but they have to arrive.

use glam::Vec3;

use super::Body;
use super::bound::{ContactRow, Detection, Detector, FREE, Settings};
use super::rows::Rows;
use super::soup::Soup;
use crate::lanes::SimdLevel;
use crate::model::Model;
use crate::par::Team;
use crate::params;
use crate::step::{Stage, Stopwatch};
use crate::wide::Particle;

/// Detections in a substep at most, while vertices have not arrived and nothing touches.
const ROUNDS: u32 = 32;
/// The same if something touches, and more than [`MANY`] have not arrived that touch nothing themselves.
const CONTACT_ROUNDS: u32 = 2;
const MANY: f32 = 0.01;
/// The same while colliders and pins have not arrived.
const MOVER_ROUNDS: u32 = 200;
/// The reach of a detection is this many times the largest gap at least, and this part of the mean edge at most, unless that is less. With the
/// margin it stays below 0.61 edges, where a flat cloth of right-angled triangles has no pairs.
const LEAST_REACH: f32 = 2.2;
const MOST_REACH: f32 = 0.32;
/// Part of the reach by which pairs are collected from further away, on each side.
const MARGIN: f32 = 0.4;
/// A larger reach lets vertices go further between detections, but with many layers it is full of pairs: it grows while there are fewer
/// pairs than this for each vertex, and shrinks while there are more than twice as many.
const PAIRS: f32 = 5.0;
/// The reach is at least so many times what most vertices go in a substep.
const WAYS: f32 = 3.0;
/// Contacts are listed that may come to be in so many substeps.
const AHEAD: f32 = 4.0;

/// What a substep takes place in.
pub struct Moment<'a> {
    /// What is fixed.
    pub model: &'a Model,
    /// The colliders, at the end of the substep.
    pub bodies: &'a [Body],
    /// The substep, s.
    pub h: f32,
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
    /// Contacts at the last detection.
    pub rows: usize,
    /// Their colours.
    pub colors: usize,
    /// Substeps in which a vertex was stopped short of where it wanted to go.
    pub stopped: u32,
    /// Pins and vertices of colliders that went on though they had no room left: crossings are possible.
    pub forced: usize,
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
    /// Whether moves are bounded, or contacts only pushed apart.
    bounded: bool,
    /// Whether the detection is still good.
    ready: bool,
    /// Whether any vertex is moved from outside.
    movers: bool,
    wanted: Vec<Particle>,
    work: Work,
}

impl Barrier {
    /// For all cloths of a model and its collider meshes. With `bounded` nothing can cross.
    /// `meshes_only`: cloth passes through cloth, but not through colliders.
    pub fn new(
        model: &Model,
        bodies: &[Body],
        params: &params::Contact,
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
            settings: Settings { early: 0.5 * gap, ..Settings::default() },
            edge,
            reach: MOST_REACH * edge,
            friction: friction.collect(),
            bounded,
            ready: false,
            movers: !model.attachments.is_empty() || !model.collider_meshes.is_empty(),
            wanted: vec![Particle::default(); model.items()],
            work: Work::default(),
            soup,
        }
    }

    /// How often contacts should be gone through in an iteration: more often in piles.
    pub fn passes(&self) -> u32 {
        if self.rows.len() > self.wanted.len() { 4 } else { 2 }
    }

    /// Whether there are contacts to solve.
    pub fn touching(&self) -> bool {
        !self.rows.is_empty()
    }

    /// What was done since the last call.
    pub fn take_work(&mut self) -> Work {
        Work { rows: self.rows.len(), colors: self.rows.colors(), ..std::mem::take(&mut self.work) }
    }

    /// Looks anew before the next substep: positions were changed from outside.
    pub fn forget(&mut self) {
        self.ready = false;
        self.detector.forget();
    }

    /// Whether a particle is held from now on by the program.
    pub fn hold(&mut self) {
        self.movers = true;
    }

    /// Chooses reach and margin for what most vertices go in a substep, m.
    fn adapt(&mut self, way: f32) {
        let (gap, edge) = (self.soup.thickest(), self.edge);
        let least = (LEAST_REACH * gap).max((gap + WAYS * way).min(MOST_REACH * edge));
        let most = (MOST_REACH * edge).max(least);
        self.reach = self.reach.min(most).max(least);
        self.settings.reach = self.reach;
        self.settings.margin = MARGIN * self.reach;
        self.settings.early = (AHEAD * way).min(0.5 * (self.reach - gap));
    }

    fn detect(&mut self, now: &mut Moment<'_>, x: &[Particle], settings: &Settings) -> Detection {
        let found = self.detector.detect_timed(now.team, now.level, now.clock, &self.soup, x, settings);
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
        self.rows.set(self.detector.rows(), coefficient);
        now.clock.lap(Stage::Color);
        self.work.detections += 1;
        self.work.collections += found.collected as u32;
        let pairs = found.measured as f32 / now.model.particles() as f32;
        if pairs < PAIRS {
            self.reach *= 1.2;
        } else if pairs > 2.0 * PAIRS {
            self.reach /= 1.2;
        }
        found
    }

    /// Begins a substep from `start` to the prediction `x`. `alone`: no cloth touches a collider.
    pub fn begin(&mut self, now: &mut Moment<'_>, alone: bool, start: &mut [Particle], x: &[Particle]) {
        let stale = !self.ready || !self.bounded || self.detector.strayed(now.team, x);
        now.clock.lap(Stage::Bound);
        if stale {
            for (k, mesh) in now.model.collider_meshes.iter().enumerate() {
                let mut ways = start[mesh.vertices.clone()].iter().zip(&x[mesh.vertices.clone()]);
                let still = ways.all(|(start, x)| start.p == x.p);
                self.soup.set_still(now.model.cloths.len() + k, still);
            }
            if self.bounded && alone && !self.movers {
                self.settings.drift = mean_way(&self.soup, start, x);
            }
            let (mean, way) = ways(&self.soup, start, x, self.settings.drift);
            self.adapt((2.0 * mean).min(way));
            let mut settings = self.settings;
            if !self.bounded {
                settings.early += 2.0 * way;
                settings.reach = settings.reach.max(settings.early + self.soup.thickest());
            }
            self.detect(now, start, &settings);
            self.settings.drift = Vec3::ZERO;
            self.ready = true;
        }
        if self.touching() {
            self.rows.begin(now.team, now.level, start);
            now.clock.lap(Stage::Contact);
        }
    }

    /// Pushes contacts apart, as part of an iteration.
    pub fn push(&mut self, team: &mut Team, level: SimdLevel, x: &mut [Particle], h: f32) {
        if self.touching() {
            self.rows.push(team, level, x, h);
        }
    }

    /// Friction.
    pub fn rub(&mut self, team: &mut Team, level: SimdLevel, x: &mut [Particle]) {
        if self.touching() {
            self.rows.rub(team, level, x);
        }
    }

    /// Brings everything where it may be; `x` is where it would like to.
    pub fn finish(&mut self, now: &mut Moment<'_>, start: &mut [Particle], x: &mut [Particle]) {
        if !self.bounded {
            return;
        }
        let mut round = 0;
        loop {
            let outside = self.detector.clamp(now.team, x, &mut self.wanted);
            now.clock.lap(Stage::Bound);
            if outside == 0 {
                return;
            }
            self.stay_out(now, x);
            let left = self.left(x);
            let many = left.free as f32 > MANY * now.model.particles() as f32;
            let rounds = match left {
                Left { movers: 1.., .. } => MOVER_ROUNDS,
                Left { free: 1.., .. } if !self.touching() => ROUNDS,
                _ if many => CONTACT_ROUNDS,
                _ => 0,
            };
            if round >= rounds {
                self.work.stopped += 1;
                self.work.forced += self.force(x);
                // They have no room left where they are.
                self.ready = false;
                return;
            }
            round += 1;
            self.detect(now, x, &self.settings.clone());
            for (x, wanted) in x.iter_mut().zip(&self.wanted).filter(|(_, wanted)| wanted.w > 0.0) {
                x.p = wanted.p;
            }
            if self.touching() {
                self.rows.begin(now.team, now.level, start);
                self.rows.push(now.team, now.level, x, now.h);
                now.clock.lap(Stage::Contact);
            }
            self.push_out(now, x);
        }
    }

    /// Moves what has not arrived, and would go into a collider, to its surface.
    fn push_out(&self, now: &Moment<'_>, x: &mut [Particle]) {
        for cloth in &now.model.cloths {
            let range = cloth.vertices.clone();
            let all = x[range.clone()].iter_mut().zip(&self.wanted[range]);
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

    /// What has not arrived.
    fn left(&self, x: &[Particle]) -> Left {
        let mut left = Left::default();
        for (x, wanted) in x.iter().zip(&self.wanted).filter(|(_, wanted)| wanted.w > 0.0) {
            left.movers += (x.w == 0.0) as usize;
            left.free += (wanted.w == FREE) as usize;
        }
        left
    }

    /// Puts pins and colliders where they have to be, come what may; says how many had not arrived.
    fn force(&mut self, x: &mut [Particle]) -> usize {
        let mut count = 0;
        for (x, wanted) in x.iter_mut().zip(&self.wanted).filter(|(x, wanted)| wanted.w > 0.0 && x.w == 0.0) {
            x.p = wanted.p;
            count += 1;
        }
        count
    }

    /// Vertices that were put back onto their balls, and so into a collider, go back along their way until they are out of it.
    fn stay_out(&self, now: &Moment<'_>, x: &mut [Particle]) {
        let center = self.detector.center();
        let inside = |p: Vec3| now.bodies.iter().any(|body| body.near(p, 0.0).is_some());
        let all = x.iter_mut().zip(&self.wanted).zip(center);
        for ((x, _), c) in all.filter(|((x, wanted), _)| wanted.w > 0.0 && x.w > 0.0) {
            let (c, p) = (Vec3::from(c.p), Vec3::from(x.p));
            if !inside(p) || inside(c) {
                continue;
            }
            let (mut out, mut within) = (0.0f32, 1.0f32);
            for _ in 0..8 {
                let middle = 0.5 * (out + within);
                if inside(c.lerp(p, middle)) { within = middle } else { out = middle }
            }
            x.p = c.lerp(p, out).into();
        }
    }
}

/// How many vertices have not arrived.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    /// Pins, and vertices of colliders.
    movers: usize,
    /// Those that are not near anything.
    free: usize,
}

/// The mean way of all vertices beside the drift, as the root of the mean square, and the longest, m.
fn ways(soup: &Soup, from: &[Particle], to: &[Particle], drift: Vec3) -> (f32, f32) {
    let (mut longest, mut sum, mut count) = (0.0f32, 0.0f64, 0);
    for span in &soup.spans {
        for (a, b) in from[span.clone()].iter().zip(&to[span.clone()]) {
            let square = (Vec3::from(b.p) - Vec3::from(a.p) - drift).length_squared();
            longest = longest.max(square);
            sum += square as f64;
        }
        count += span.len();
    }
    ((sum / count.max(1) as f64).sqrt() as f32, longest.sqrt())
}

/// The mean way of all vertices, m.
fn mean_way(soup: &Soup, from: &[Particle], to: &[Particle]) -> Vec3 {
    let (mut sum, mut count) = ([0.0f32; 4], 0);
    for span in &soup.spans {
        for (a, b) in from[span.clone()].iter().zip(&to[span.clone()]) {
            let (a, b) = (a.to_array(), b.to_array());
            for c in 0..4 {
                sum[c] += b[c] - a[c];
            }
        }
        count += span.len();
    }
    Vec3::new(sum[0], sum[1], sum[2]) / count.max(1) as f32
}
