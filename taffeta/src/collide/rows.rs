//! Contacts of four particles, solved in colours.
//!
//! A row C = n·Σ wᵢ pᵢ − gap ≥ 0 has the normal and the weights of the moment when it was found, so it is linear. Its multiplier λ, the push of
//! this substep, never pulls:
//!
//! ```text
//! λ⁺ = max(0, λ − C/W)          W = Σ mᵢ⁻¹ wᵢ²
//! ```
//!
//! Sides that start a substep too near are pushed apart no faster than [`RECOVERY`], or the push would become speed.
//!
//! Friction (Coulomb) has a multiplier τ of its own, along the contact, which takes back the tangential way t of the first side against the second
//! over the substep as far as the push allows. As it acts on positions, what sticks does not creep:
//!
//! ```text
//! τ⁺ = τ − t/W, made as short as μ λ⁺          Δpᵢ = mᵢ⁻¹ wᵢ (n (λ⁺ − λ) + τ⁺ − τ)
//! ```
//!
//! Both are solved at once, in every pass. Friction that is left to the end moves what is pressed by several contacts out along one and into another, and cloth at
//! rest trembles for ever.
//!
//! With methods that let pushes stay, contacts with cloth and with colliders that stand still are *soft*: they give way by s W λ, and a substep begins with a part of the multipliers of the one before. A pile of n layers takes about n²
//! passes to find how hard each has to press on the next; so it is found in the course of many substeps, and layers at rest do not tremble. Without softness several contacts of
//! the same sides would hand the push to and fro, and what is kept would only make that worse.
//!
//! ```text
//! λ₀ = ζ λ of the substep before          λ⁺ = max(0, λ − (C/W + s λ)/(1 + s))
//! ```
//!
//! Müller et al. 2007; the multipliers as in projected Gauss–Seidel (Erleben 2007).

use super::bound::ContactRow;
use super::paint::{Painter, USUAL_GROUPS};
use super::pushes::Pushes;
use crate::color::{Group, Row, refill_gathered};
use crate::lanes::{LANES, Lane, Point, SimdLevel, V3};
use crate::par::Team;
use crate::wide::{Gathered, Keep, Kernel, Marks, Particle, Sweep};

/// How fast sides that are too near are pushed apart, m/s.
const RECOVERY: f32 = 0.1;
/// s: what contacts of cloth with cloth give way to their push, as a part of what the push moves them.
pub(super) const SOFT: f32 = 0.3;
/// The same of cloth with a collider that stands still. As soft as cloth, it would change how cloth folds over it.
pub(super) const FIRM: f32 = 0.05;
/// ζ: the part of the multipliers of soft contacts that the next substep begins with.
const KEPT: f32 = 0.9;
/// So many contacts are put into halves for two threads.
const ENOUGH: usize = 600;
/// Keeps 0/0 away where all four particles are held.
const TINY: f32 = 1e-20;
/// The same where nothing slips, (kg m)². Friction of thin cloth in short substeps is about 10⁻⁹ kg m.
const TINY_HOLD: f32 = 1e-34;

/// Idle where infinite, w, n, gap, μ, s.
pub(super) const PARAMS: usize = 11;
/// λ, Σ wᵢ pᵢ at the start of the substep, and τ.
pub(super) const MEMORY: usize = 7;

/// Contacts in colours.
pub struct Rows {
    sweep: Sweep<Gathered<4>, 4, PARAMS, MEMORY>,
    marks: Marks,
    painter: Painter,
    sorted: Vec<Row<4, PARAMS>>,
    last: Last,
    particles: usize,
    /// Whether any is soft: others have nothing to remember.
    soft: bool,
    before: Pushes,
}

/// The contacts before the present ones.
#[derive(Default)]
struct Last {
    sorted: Vec<Row<4, PARAMS>>,
    groups: Vec<Group>,
}

impl Rows {
    /// No contacts yet, among `items` particles, of which those from `particles` on are idle.
    pub fn new(particles: usize, items: usize) -> Self {
        Rows {
            sweep: Sweep::new(Vec::new(), items),
            marks: Marks::new(items),
            painter: Painter::new(items),
            sorted: Vec::new(),
            last: Last::default(),
            particles,
            soft: false,
            before: Pushes::default(),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// How many colours they have.
    pub fn colors(&self) -> usize {
        self.sweep.colors()
    }

    /// Makes room for so many, on so many threads.
    pub fn reserve(&mut self, rows: usize, threads: usize) {
        self.painter.reserve(rows);
        self.sorted.reserve(rows);
        self.last.sorted.reserve(rows);
        self.last.groups.reserve(USUAL_GROUPS);
        self.before.reserve(rows);
        self.sweep.reserve(rows.div_ceil(LANES) + USUAL_GROUPS, USUAL_GROUPS, threads);
    }

    /// Takes new contacts, each with its coefficient of friction, and how soft it is. Soft ones that were there before keep their multipliers.
    pub fn set(
        &mut self,
        team: &mut Team,
        rows: &[ContactRow],
        friction: impl Fn(&ContactRow) -> f32 + Sync,
        softness: impl Fn(&ContactRow) -> f32 + Sync,
        piled: bool,
    ) {
        let Rows { sweep, marks, painter, sorted, last, before, .. } = self;
        let halves = team.count() > 1 && !piled && rows.len() >= ENOUGH;
        let pushed = std::mem::take(&mut self.soft);
        let any_soft = &mut self.soft;
        std::mem::swap(sorted, &mut last.sorted);
        painter.swap(&mut last.groups);
        // The team may be another than when they were arranged.
        sweep.list_places(before.places());
        let remember = || match pushed {
            true => before.take(&last.sorted, &last.groups, sweep.multipliers()),
            false => before.forget(),
        };
        let paint = || {
            sorted.clear();
            sorted.resize(rows.len(), Row { particles: [0; 4], params: [f32::INFINITY; PARAMS] });
            painter.paint(rows, piled, halves, |place, row| {
                let ([a, b, c, d], [x, y, z]) = (row.weights, row.normal);
                let softness = softness(row);
                *any_soft |= softness > 0.0;
                let params = [0.0, a, b, c, d, x, y, z, row.gap, friction(row), softness];
                sorted[place] = Row { particles: row.particles, params };
            });
        };
        team.both(paint, remember);
        refill_gathered(sweep, marks, sorted, painter.groups(), self.particles);
        if let Some(places) = painter.places(LANES) {
            sweep.place(places);
        }
        sweep.arrange(team);
        sweep.list_places(before.places());
        before.give(team, sorted, painter.groups(), sweep.multipliers_mut());
    }

    /// Begins a substep in which the particles were at `start`.
    pub fn begin(&mut self, team: &mut Team, level: SimdLevel, start: &mut [Particle]) {
        self.sweep.run(team, level, start, Begin { kept: KEPT }, Keep::ALL);
    }

    /// Goes on with other contacts in a substep that began at `start`.
    pub fn go_on(&mut self, team: &mut Team, level: SimdLevel, start: &mut [Particle]) {
        self.sweep.run(team, level, start, Begin { kept: 1.0 }, Keep::ALL);
    }

    /// Moves particles as the contacts did that are known from the substep before.
    pub fn push_as_before(&mut self, team: &mut Team, level: SimdLevel, x: &mut [Particle]) {
        if self.soft {
            self.sweep.run(team, level, x, Again, Keep::ALL);
        }
    }

    /// Pushes sides apart that are too near, in a substep of `h` seconds, and rubs them. Unless it is `all`, only those that are likely to press, in a pile: there
    /// they are half, and a few passes later it is early enough for others.
    pub fn push(&mut self, team: &mut Team, level: SimdLevel, x: &mut [Particle], h: f32, all: bool) {
        let colors = if all { self.sweep.colors() } else { self.painter.likely() };
        self.sweep.run_first(team, level, x, Push { recovery: RECOVERY * h }, Keep::ALL, colors);
    }

    /// Whether any contact has pushed in this substep.
    pub fn pushed(&self) -> bool {
        self.sweep.multipliers().iter().any(|memory| memory[0].0.iter().any(|&push| push > 0.0))
    }
}

/// Σ wᵢ pᵢ.
#[inline(always)]
fn between<L: Lane>(points: &[Point<L>; 4], params: &[L; PARAMS]) -> V3<L> {
    // From the first point, so that far from the origin nothing is lost: the weights sum to zero.
    let first = points[0].p;
    (points[1].p - first) * params[2] + (points[2].p - first) * params[3] + (points[3].p - first) * params[4]
}

#[inline(always)]
fn normal<L: Lane>(params: &[L; PARAMS]) -> V3<L> {
    V3 { x: params[5], y: params[6], z: params[7] }
}

/// W, 1/kg.
#[inline(always)]
fn inertia<L: Lane>(points: &[Point<L>; 4], params: &[L; PARAMS]) -> L {
    let mut sum = params[0].like(TINY);
    for i in 0..4 {
        sum = sum + points[i].w * params[1 + i] * params[1 + i];
    }
    sum
}

/// Each point by its own part of `way`, zero where idle.
#[inline(always)]
fn moves<L: Lane>(points: &[Point<L>; 4], params: &[L; PARAMS], way: V3<L>) -> [V3<L>; 4] {
    let mut moves = [way; 4];
    for i in 0..4 {
        moves[i] = way * (points[i].w * params[1 + i]);
    }
    moves
}

/// Forgets the multipliers, or a part of them, and remembers where the sides are.
#[derive(Clone, Copy, Debug)]
struct Begin {
    /// The part that soft contacts keep.
    kept: f32,
}

impl Kernel<4, PARAMS, MEMORY> for Begin {
    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        points: &[Point<L>; 4],
        params: &[L; PARAMS],
        memory: &mut [L; MEMORY],
    ) -> [V3<L>; 4] {
        let zero = params[0].like(0.0);
        let kept = zero.select_lt(params[10], zero.like(self.kept), zero);
        let V3 { x, y, z } = between(points, params);
        let [push, _, _, _, a, b, c] = *memory;
        *memory = [push * kept, x, y, z, a * kept, b * kept, c * kept];
        [V3 { x: zero, y: zero, z: zero }; 4]
    }

    fn residual(&self, _: &[Point<f32>; 4], _: &[f32; PARAMS], _: &[f32; MEMORY]) -> f64 {
        0.0
    }
}

/// Moves the sides as the multipliers say.
#[derive(Clone, Copy, Debug)]
struct Again;

impl Kernel<4, PARAMS, MEMORY> for Again {
    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        points: &[Point<L>; 4],
        params: &[L; PARAMS],
        memory: &mut [L; MEMORY],
    ) -> [V3<L>; 4] {
        let [push, _, _, _, x, y, z] = *memory;
        moves(points, params, normal(params) * push + V3 { x, y, z })
    }

    fn residual(&self, _: &[Point<f32>; 4], _: &[f32; PARAMS], _: &[f32; MEMORY]) -> f64 {
        0.0
    }
}

#[derive(Clone, Copy, Debug)]
struct Push {
    /// How far sides that are too near may be pushed apart in this substep, m.
    recovery: f32,
}

impl Kernel<4, PARAMS, MEMORY> for Push {
    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        points: &[Point<L>; 4],
        params: &[L; PARAMS],
        memory: &mut [L; MEMORY],
    ) -> [V3<L>; 4] {
        let [push, x, y, z, held @ ..] = *memory;
        let (n, before, held) = (normal(params), V3 { x, y, z }, V3 { x: held[0], y: held[1], z: held[2] });
        let (now, inertia) = (between(points, params), inertia(points, params));
        let gap = params[8].min(n.dot(before) + push.like(self.recovery));
        let soft = params[10];
        let pushed = push - ((n.dot(now) - gap) / inertia + soft * push) / (soft + push.like(1.0));
        let pushed = pushed.max(push.like(0.0));
        let way = now - before;
        let slip = way - n * n.dot(way);
        let hold = held - slip * (push.like(1.0) / inertia);
        let length = (hold.length_squared() + push.like(TINY_HOLD)).sqrt();
        let hold = hold * ((params[9] * pushed).min(length) / length);
        *memory = [pushed, x, y, z, hold.x, hold.y, hold.z];
        moves(points, params, n * (pushed - push) + hold - held)
    }

    fn residual(&self, points: &[Point<f32>; 4], params: &[f32; PARAMS], _: &[f32; MEMORY]) -> f64 {
        let c = (normal(params).dot(between(points, params)) - params[8]).min(0.0) as f64;
        c * c
    }
}
