//! What implicit Euler minimises: the incremental potential.
//!
//! g(x) = 1/(2h²) (x − y)ᵀ M (x − y) + E(x) over the free particles, y the prediction. Its gradient
//! M (x − y)/h² + ∇E(x) is the unbalanced force (N) at each particle; where it vanishes, x is the implicit Euler step.
//! Martin, Thomaszewski, Grinspun, Gross, *Example-based elastic materials*, 2011.
//!
//! E is the sum of all kinds. A tether is ½ k (|p − a| − reach)² while it is taut and its anchor is held, with the
//! stiffness of its cloth. Contact with a collider is ½ k (margin − d)² while d < margin, with d as seen from the plane that
//! touches the collider nearest to the particle.
//!
//! Everything is in double precision. The Hessian of springs and isometric hinges is never written down as a matrix; each keeps
//! what is needed to multiply with it. That of other elements is. A spring's is k n nᵀ + k (1 − d/l) (I − n nᵀ). It may be had exactly, or projected so
//! that no element has a negative eigenvalue: then a spring's second term is left out while it is pushed together.

use glam::{DMat3, DVec3, Vec3};

use super::assembly::Assembly;
use super::elements::{Blocks, Element, NO_BLOCKS, Response};
use crate::collide::{Body, Contact, Contacts};
use crate::constraint::outer;
use crate::linalg::{Entry, Operator, Rows};
use crate::model::Model;
use crate::par::Team;
use crate::wide::Particle;

/// Particles or springs handed to a thread at a time.
const GRAIN: usize = 64;
/// Stiffness of contact, as a multiple of all else at a particle: what is left of a penetration is a small part of how
/// far the same force would stretch the cloth.
const CONTACT_STIFFNESS: f64 = 10.0;
/// A plane is good for this part of the margin around the place where it was taken.
const STAY: f64 = 0.01;
/// Marks the first end of a spring in its particle's list.
const FIRST: u32 = 1 << 31;

/// A spring, or a tether from its particle (first) to its anchor.
#[derive(Clone, Copy, Debug)]
struct Spring {
    ends: [u32; 2],
    stiffness: f64,
    rest: f64,
    tether: bool,
}

/// Force on the first end (N) and energy (J).
#[derive(Clone, Copy, Debug, Default)]
struct Pull {
    force: DVec3,
    energy: f64,
}

/// The Hessian of a spring as a function of the difference of its ends: a I + u uᵀ, N/m.
#[derive(Clone, Copy, Debug, Default)]
struct Curvature {
    u: DVec3,
    a: f64,
}

/// The half-space a particle must stay in: n·p ≥ offset.
#[derive(Clone, Copy, Debug, Default)]
struct Plane {
    n: DVec3,
    offset: f64,
    stiffness: f64,
    body: u32,
    /// Where the particle was when it was taken, m.
    taken_at: DVec3,
}

impl Plane {
    /// How far (m) a point is beyond it.
    fn depth(&self, p: DVec3) -> f64 {
        (self.offset - self.n.dot(p)).max(0.0)
    }
}

/// What an evaluation computes of the Hessian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Nothing.
    Nothing,
    /// The true one, which may be indefinite.
    Exact,
    /// The one projected so that it is not.
    Projected,
}

/// The objective of one substep, and all buffers it needs.
pub struct Objective {
    /// m/h², N/m; zero where a particle is held.
    inertia: Vec<f64>,
    y: Vec<DVec3>,
    h: f64,
    springs: Vec<Spring>,
    pulls: Vec<Pull>,
    curvatures: Vec<Curvature>,
    /// For each particle the springs at it: the other end, and the number with [`FIRST`].
    at: Rows<(u32, u32)>,
    /// Σ k Kᵀ K of all isometric hinges, which is constant; the diagonal is left out, since rows sum to zero.
    isometric: Rows<Entry>,
    elements: Vec<Element>,
    responses: Vec<Response>,
    hessians: Vec<Blocks>,
    assembly: Assembly,
    /// For each particle the elements at it and its place there.
    in_elements: Rows<(u32, u32)>,
    planes: Vec<Plane>,
    /// Planes that the step at hand would go beyond; the Hessian counts them as if they were felt already.
    expected: Vec<bool>,
    /// A bound on the elastic stiffness at each particle, N/m.
    stiffness: Vec<f64>,
    energies: Vec<f64>,
    /// Only for [`Objective::residual`], and only made by it.
    measured: [Vec<DVec3>; 2],
    light_tethers: bool,
}

impl Objective {
    /// For all of `model`.
    pub fn new(model: &Model) -> Self {
        Self::build(model, false)
    }

    /// The same with light tethers: their stiffness is the particle's m/h². One that holds up its own particle alone gives
    /// way by g h².
    pub fn with_light_tethers(model: &Model) -> Self {
        Self::build(model, true)
    }

    fn build(model: &Model, light_tethers: bool) -> Self {
        let n = model.particles();
        let mut springs: Vec<Spring> = (model.distance.iter())
            .map(|row| {
                let [compliance, rest] = row.params.map(f64::from);
                Spring { ends: row.particles, stiffness: 1.0 / compliance, rest, tether: false }
            })
            .collect();
        for cloth in &model.cloths {
            springs.extend(model.tethers[cloth.tethers.clone()].iter().map(|t| Spring {
                ends: [t.particle, t.anchor],
                stiffness: cloth.tether_stiffness as f64,
                rest: t.reach as f64,
                tether: true,
            }));
        }
        let mut at = Vec::new();
        for (s, spring) in springs.iter().enumerate() {
            let [a, b] = spring.ends;
            at.push((a, (b, s as u32 | FIRST)));
            // An anchor is held whenever its tether acts.
            if !spring.tether {
                at.push((b, (a, s as u32)));
            }
        }
        let mut isometric = Vec::new();
        for row in &model.isometric {
            let [compliance, k1, k2, k3] = row.params.map(f64::from);
            let k = [-(k1 + k2 + k3), k1, k2, k3];
            for i in 0..4 {
                for j in (0..4).filter(|&j| j != i) {
                    isometric.push((row.particles[i], row.particles[j], k[i] * k[j] / compliance));
                }
            }
        }
        let elements = Element::all(model);
        let mut in_elements = Vec::new();
        for (e, element) in elements.iter().enumerate() {
            for (place, &particle) in element.particles().iter().enumerate() {
                in_elements.push((particle, (e as u32, place as u32)));
            }
        }
        Objective {
            inertia: vec![0.0; n],
            y: vec![DVec3::ZERO; n],
            h: 0.0,
            pulls: vec![Pull::default(); springs.len()],
            curvatures: vec![Curvature::default(); springs.len()],
            at: Rows::new(n, &at),
            isometric: Rows::matrix(n, isometric),
            responses: vec![Response::default(); elements.len()],
            hessians: Vec::new(),
            assembly: Assembly::new(n, &elements),
            in_elements: Rows::new(n, &in_elements),
            planes: vec![Plane::default(); n],
            expected: vec![false; n],
            stiffness: model.stiffness(),
            energies: vec![0.0; n],
            measured: Default::default(),
            light_tethers,
            springs,
            elements,
        }
    }

    /// Begins a substep of `h` seconds with the prediction `y`; particles without inverse mass are held there.
    pub fn begin(&mut self, y: &[Particle], h: f32) {
        self.h = h as f64;
        for i in 0..self.y.len() {
            let w = y[i].w as f64;
            self.inertia[i] = if w > 0.0 { 1.0 / (w * self.h * self.h) } else { 0.0 };
            self.y[i] = Vec3::from(y[i].p).as_dvec3();
        }
        // A tether acts only while its anchor is held.
        for spring in self.springs.iter_mut().rev().take_while(|spring| spring.tether) {
            spring.rest = spring.rest.abs() * if y[spring.ends[1] as usize].w == 0.0 { 1.0 } else { -1.0 };
            if self.light_tethers {
                spring.stiffness = self.inertia[spring.ends[0] as usize];
            }
        }
        self.planes.fill(Plane::default());
        self.expected.fill(false);
    }

    /// Whether particle `i` at `p` feels its plane, or is expected to.
    #[inline(always)]
    fn feels(&self, i: usize, p: DVec3) -> bool {
        self.expected[i] || self.planes[i].depth(p) > 0.0
    }

    /// Expects every plane that the step `direction` from `x` goes beyond, and adds the force (N) with which they would
    /// answer at x to `downhill`; says whether there are any new ones.
    pub fn expect(&mut self, x: &[DVec3], direction: &[DVec3], downhill: &mut [DVec3]) -> bool {
        let mut any = false;
        for (i, plane) in self.planes.iter().enumerate().filter(|(_, plane)| plane.stiffness > 0.0) {
            if !self.expected[i] && plane.depth(x[i]) == 0.0 && plane.depth(x[i] + direction[i]) > 0.0 {
                self.expected[i] = true;
                downhill[i] += plane.n * (plane.stiffness * (plane.offset - plane.n.dot(x[i])));
                any = true;
            }
        }
        any
    }

    /// Expects nothing.
    pub fn expect_nothing(&mut self) {
        self.expected.fill(false);
    }

    /// The prediction, m.
    pub fn prediction(&self) -> &[DVec3] {
        &self.y
    }

    /// Moves the prediction of a particle by a way (m): that by which an impulse of this substep takes it further.
    pub fn move_prediction(&mut self, i: usize, way: DVec3) {
        self.y[i] += way;
    }

    /// Whether particle `i` is free.
    #[inline(always)]
    pub fn is_free(&self, i: usize) -> bool {
        self.inertia[i] > 0.0
    }

    /// Takes the planes of contact for particles at `x`. One that is near enough is kept: distances are in single
    /// precision, and taken anew each time they would tremble.
    pub fn touch(&mut self, team: &mut Team, model: &Model, bodies: &[Body], x: &[DVec3]) {
        let Objective { planes, inertia, stiffness, y, .. } = self;
        for cloth in &model.cloths {
            let begin = cloth.vertices.start;
            team.for_each_chunk(&mut planes[cloth.vertices.clone()], GRAIN, |first, planes| {
                for (k, plane) in planes.iter_mut().enumerate() {
                    let i = begin + first + k;
                    let near = plane.stiffness > 0.0
                        && x[i].distance_squared(plane.taken_at) < (STAY * cloth.margin as f64).powi(2);
                    if inertia[i] == 0.0 || near {
                        continue;
                    }
                    *plane = Plane::default();
                    let p = x[i].as_vec3();
                    // Far enough that no contact comes as a surprise to the line search.
                    let mut reach = 2.0 * cloth.margin + (x[i] - y[i]).length() as f32;
                    for (b, body) in bodies.iter().enumerate() {
                        if let Some((d, n)) = body.near(p, reach) {
                            reach = d;
                            let n = n.as_dvec3();
                            *plane = Plane {
                                n,
                                offset: n.dot(p.as_dvec3()) + (cloth.margin - d) as f64,
                                stiffness: CONTACT_STIFFNESS * (inertia[i] + stiffness[i]),
                                body: b as u32,
                                taken_at: x[i],
                            };
                        }
                    }
                }
            });
        }
    }

    /// Tells friction how far each contact would have pushed its particle alone: the force times h² w.
    pub fn record_contacts(&self, x: &[DVec3], contacts: &mut Contacts) {
        for (i, plane) in self.planes.iter().enumerate() {
            let depth = plane.depth(x[i]);
            if depth > 0.0 {
                let push = (depth * plane.stiffness / self.inertia[i]) as f32;
                contacts.set(i, Contact { push, body: plane.body });
            }
        }
    }

    /// g (J) at `x`, and its gradient (N), which is zero at held particles. Makes the Hessian ready for
    /// [`Operator::apply`] and [`Objective::diagonal`] if it is wanted.
    pub fn evaluate(&mut self, team: &mut Team, x: &[DVec3], wanted: Wanted, gradient: &mut [DVec3]) -> f64 {
        let springs = &self.springs;
        team.for_each_chunk2(&mut self.pulls, &mut self.curvatures, GRAIN, |first, pulls, curvatures| {
            let springs = &springs[first..first + pulls.len()];
            for ((spring, pull), curvature) in springs.iter().zip(pulls).zip(curvatures) {
                (*pull, *curvature) = spring.respond(x, wanted);
            }
        });
        let elements = &self.elements;
        if wanted == Wanted::Nothing {
            team.for_each_chunk(&mut self.responses, GRAIN, |first, responses| {
                let mut unused = NO_BLOCKS;
                for (element, response) in elements[first..].iter().zip(responses) {
                    *response = element.respond(x, wanted, &mut unused);
                }
            });
        } else {
            self.hessians.resize(elements.len(), NO_BLOCKS);
            team.for_each_chunk2(&mut self.responses, &mut self.hessians, 8, |first, responses, hessians| {
                for ((element, response), hessian) in elements[first..].iter().zip(responses).zip(hessians) {
                    *response = element.respond(x, wanted, hessian);
                }
            });
            self.assembly.add_up(team, &self.hessians);
        }
        let Objective { inertia, y, pulls, at, isometric, in_elements, responses, planes, energies, .. } =
            self;
        let (pulls, responses) = (&pulls[..], &responses[..]);
        team.for_each_chunk2(gradient, energies, GRAIN, |first, gradient, energies| {
            for (k, (gradient, energy)) in gradient.iter_mut().zip(energies).enumerate() {
                let i = first + k;
                let (p, moved) = (x[i], x[i] - y[i]);
                let mut bend = DVec3::ZERO;
                for entry in isometric.row(i) {
                    bend += (x[entry.column as usize] - p) * entry.value;
                }
                let mut sum = moved * inertia[i];
                // Forces of bending add up to zero, so the energy may be counted from any origin.
                *energy = 0.5 * (sum.dot(moved) + bend.dot(p));
                sum += bend;
                for &(_, s) in at.row(i) {
                    let force = pulls[(s & !FIRST) as usize].force;
                    if s & FIRST != 0 { sum -= force } else { sum += force }
                }
                for &(e, place) in in_elements.row(i) {
                    sum += responses[e as usize].gradient[place as usize];
                }
                let depth = planes[i].depth(p);
                if depth > 0.0 {
                    *energy += 0.5 * planes[i].stiffness * depth * depth;
                    sum -= planes[i].n * (planes[i].stiffness * depth);
                }
                *gradient = if inertia[i] > 0.0 { sum } else { DVec3::ZERO };
            }
        });
        let kept: f64 = self.energies.iter().sum();
        let springs: f64 = self.pulls.iter().map(|pull| pull.energy).sum();
        let elements: f64 = self.responses.iter().map(|response| response.energy).sum();
        kept + springs + elements
    }

    /// What each particle has of g at the `x` of the last evaluation, J: its own part, and an equal one of all that it takes part in.
    pub fn shares(&self, team: &mut Team, shares: &mut [f64]) {
        team.for_each_chunk(shares, GRAIN, |first, shares| {
            for (k, share) in shares.iter_mut().enumerate() {
                let i = first + k;
                let springs = self.at.row(i).iter().map(|&(_, s)| (s & !FIRST) as usize);
                let springs: f64 = springs.map(|s| self.pulls[s].energy / self.springs[s].bearers()).sum();
                let elements = self.in_elements.row(i).iter().map(|&(e, _)| e as usize);
                let part = |e: usize| self.responses[e].energy / self.elements[e].particles().len() as f64;
                *share = self.energies[i] + springs + elements.map(part).sum::<f64>();
            }
        });
    }

    /// ‖∇g‖ (N) at `x`, without what the contacts can balance.
    pub fn residual(&mut self, team: &mut Team, bodies: &[Body], contacts: &Contacts, x: &[Particle]) -> f64 {
        let [mut at, mut gradient] = std::mem::take(&mut self.measured);
        at.clear();
        at.extend(x[..self.y.len()].iter().map(|x| Vec3::from(x.p).as_dvec3()));
        gradient.resize(at.len(), DVec3::ZERO);
        self.evaluate(team, &at, Wanted::Nothing, &mut gradient);
        for (i, g) in gradient.iter_mut().enumerate() {
            let contact = contacts.get(i);
            if contact.push > 0.0 {
                let n = bodies[contact.body as usize].distance(x[i].p.into()).1.as_dvec3();
                *g -= n * g.dot(n).max(0.0);
            }
        }
        let norm = crate::linalg::dot(&gradient, &gradient).sqrt();
        self.measured = [at, gradient];
        norm
    }

    /// The gradient (N) at one free particle and its diagonal block (N/m), positive definite, at any `x` and without contact.
    pub fn local(&self, i: usize, x: &[DVec3]) -> (DVec3, DMat3) {
        let p = x[i];
        let mut gradient = (p - self.y[i]) * self.inertia[i];
        let (mut even, mut block) = (self.inertia[i], DMat3::ZERO);
        for entry in self.isometric.row(i) {
            gradient += (x[entry.column as usize] - p) * entry.value;
            even -= entry.value;
        }
        for &(_, s) in self.at.row(i) {
            let (pull, Curvature { u, a }) =
                self.springs[(s & !FIRST) as usize].respond(x, Wanted::Projected);
            if s & FIRST != 0 {
                gradient -= pull.force
            } else {
                gradient += pull.force
            }
            even += a;
            block += outer(u, u);
        }
        for &(e, place) in self.in_elements.row(i) {
            let (g, h) = self.elements[e as usize].local(x, place as usize);
            gradient += g;
            block += h;
        }
        (gradient, block + DMat3::from_diagonal(DVec3::splat(even)))
    }

    /// m/h² (N/m) of particle `i`; zero where it is held.
    #[inline(always)]
    pub fn inertia(&self, i: usize) -> f64 {
        self.inertia[i]
    }

    /// The number of tethers at particle `i` that are held.
    pub fn tethers(&self, i: usize) -> usize {
        let springs = self.at.row(i).iter().map(|(_, s)| &self.springs[(s & !FIRST) as usize]);
        springs.filter(|spring| spring.tether && spring.rest > 0.0).count()
    }

    /// For each particle the others that its local gradient depends on, but for anchors.
    pub fn neighbors(&self) -> Rows<u32> {
        let mut pairs = Vec::new();
        for i in 0..self.inertia.len() {
            let springs = self.at.row(i).iter().filter(|(_, s)| !self.springs[(s & !FIRST) as usize].tether);
            let hinges = self.isometric.row(i).iter().map(|entry| entry.column);
            let elements = self.in_elements.row(i).iter();
            let elements = elements.flat_map(|&(e, _)| self.elements[e as usize].particles().iter().copied());
            let mut others: Vec<u32> = springs.map(|s| s.0).chain(hinges).chain(elements).collect();
            others.sort_unstable();
            others.dedup();
            pairs.extend(others.into_iter().filter(|&j| j != i as u32).map(|j| (i as u32, j)));
        }
        Rows::new(self.inertia.len(), &pairs)
    }

    /// The greatest force (N) of anything on any particle at the `x` of the last evaluation.
    pub fn greatest_force(&self, x: &[DVec3]) -> f64 {
        let mut most = 0.0f64;
        for pull in &self.pulls {
            most = most.max(pull.force.length_squared());
        }
        for response in &self.responses {
            most = response.gradient.iter().fold(most, |most, g| most.max(g.length_squared()));
        }
        for i in 0..x.len() {
            most = most.max(((x[i] - self.y[i]) * self.inertia[i]).length_squared());
        }
        most.sqrt()
    }

    /// A force (N) that would move no particle by more than 10⁻¹³ m against the stiffness at it: below it, differences of
    /// positions are rounding.
    pub fn least_force(&self) -> f64 {
        1e-13 * self.stiffness.iter().zip(&self.inertia).map(|(k, m)| k + m).fold(0.0, f64::max)
    }

    /// The diagonal blocks of the Hessian, N/m, without what springs that are pushed together take away; the identity
    /// for held particles.
    pub fn diagonal(&self, team: &mut Team, x: &[DVec3], blocks: &mut [DMat3]) {
        team.for_each_chunk(blocks, GRAIN, |first, blocks| {
            for (k, block) in blocks.iter_mut().enumerate() {
                *block = self.diagonal_block(first + k, x);
            }
        });
    }

    fn diagonal_block(&self, i: usize, x: &[DVec3]) -> DMat3 {
        if !self.is_free(i) {
            return DMat3::IDENTITY;
        }
        let mut even = self.inertia[i];
        let mut block = DMat3::ZERO;
        // The diagonal of a row that sums to zero.
        self.isometric.row(i).iter().for_each(|entry| even -= entry.value);
        for &(_, s) in self.at.row(i) {
            let Curvature { u, a } = self.curvatures[(s & !FIRST) as usize];
            even += a.max(0.0);
            block += outer(u, u);
        }
        block += self.assembly.diagonal(i);
        let plane = &self.planes[i];
        if self.feels(i, x[i]) {
            block += outer(plane.n, plane.n) * plane.stiffness;
        }
        block + DMat3::from_diagonal(DVec3::splat(even))
    }
}

impl Spring {
    /// Of how many particles its energy is: an anchor is held.
    fn bearers(&self) -> f64 {
        if self.tether { 1.0 } else { 2.0 }
    }

    #[inline(always)]
    fn respond(&self, x: &[DVec3], wanted: Wanted) -> (Pull, Curvature) {
        let d = x[self.ends[0] as usize] - x[self.ends[1] as usize];
        let length = d.length().max(1e-15);
        let n = d * (1.0 / length);
        let c = length - self.rest;
        if self.tether && (c <= 0.0 || self.rest < 0.0) {
            return Default::default();
        }
        let k = self.stiffness;
        let pull = Pull { force: n * (-k * c), energy: 0.5 * k * c * c };
        let across = match wanted {
            Wanted::Nothing => return (pull, Curvature::default()),
            Wanted::Exact => c / length,
            Wanted::Projected => (c / length).max(0.0),
        };
        (pull, Curvature { u: n * (k * (1.0 - across)).sqrt(), a: k * across })
    }
}

/// The Hessian at the `x` of the last evaluation, with its planes of contact as they were felt there.
pub struct Hessian<'a> {
    /// The objective.
    pub objective: &'a Objective,
    /// The `x` of the last evaluation, m.
    pub x: &'a [DVec3],
}

impl Operator for Hessian<'_> {
    fn apply(&self, team: &mut Team, p: &[DVec3], q: &mut [DVec3]) {
        let Objective { inertia, curvatures, at, isometric, assembly, planes, .. } = self.objective;
        let curvatures = &curvatures[..];
        team.for_each_chunk(q, GRAIN, |first, q| {
            for (k, q) in q.iter_mut().enumerate() {
                let i = first + k;
                if inertia[i] == 0.0 {
                    *q = DVec3::ZERO;
                    continue;
                }
                let own = p[i];
                let mut sum = own * inertia[i];
                for entry in isometric.row(i) {
                    sum += (p[entry.column as usize] - own) * entry.value;
                }
                for &(other, s) in at.row(i) {
                    let Curvature { u, a } = curvatures[(s & !FIRST) as usize];
                    let d = own - p[other as usize];
                    sum += d * a + u * u.dot(d);
                }
                sum += assembly.product(i, p);
                let plane = &planes[i];
                if self.objective.feels(i, self.x[i]) {
                    sum += plane.n * (plane.stiffness * plane.n.dot(own));
                }
                *q = sum;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Bending, Cloth, Corner, Membrane, Pair, Pin, Scene, Select, Tethers};

    /// A little cloth of the given kinds, crumpled, with tethers that are taut and a plane that some particles are beyond.
    fn crumpled(bending: Bending, membrane: Membrane) -> (Objective, Vec<DVec3>) {
        let select = Select { corners: vec![Corner::LowLow], ..Select::default() };
        let cloth = Cloth {
            size: Pair([0.5, 0.4]),
            resolution: Pair([5, 4]),
            bending,
            membrane,
            tethers: Some(Tethers { stretch: 1.01, nearest: 1 }),
            pin: vec![Pin { select, ..Pin::default() }],
            ..Cloth::default()
        };
        let model = Model::new(&Scene { cloth: vec![cloth], ..Scene::default() }).unwrap();
        let mut objective = Objective::new(&model);
        let state = crate::state::State::new(&model);
        objective.begin(&state.x, 0.01);
        let x: Vec<DVec3> = (0..model.particles())
            .map(|i| {
                let noise = |k: usize| ((i * 7919 + k * 104729) % 1009) as f64 / 1009.0 - 0.5;
                objective.y[i] * 1.1 + DVec3::new(noise(1), noise(2), noise(3)) * 0.03
            })
            .collect();
        for plane in &mut objective.planes {
            *plane = Plane { n: DVec3::Y, offset: 0.005, stiffness: 1e4, ..Plane::default() };
        }
        (objective, x)
    }

    fn kinds() -> Vec<(Bending, Membrane)> {
        vec![
            (Bending::Isometric, Membrane::Springs),
            (Bending::Dihedral, Membrane::Stvk),
            (Bending::Triangle, Membrane::Springs),
        ]
    }

    #[test]
    fn gradient_and_hessian_agree_with_finite_differences() {
        let mut team = Team::new(1);
        for (bending, membrane) in kinds() {
            let (mut objective, x) = crumpled(bending, membrane);
            let n = x.len();
            assert!(
                objective.springs.iter().any(|s| s.tether && s.respond(&x, Wanted::Exact).0.energy > 0.0)
            );
            assert!(objective.planes.iter().zip(&x).any(|(plane, x)| plane.depth(*x) > 0.0));
            // Along one direction that moves every free particle.
            let along: Vec<DVec3> = (0..n)
                .map(|i| {
                    let d = DVec3::new((i % 5) as f64 - 2.0, (i % 3) as f64 - 1.0, (i % 7) as f64 - 3.0);
                    if objective.is_free(i) { d } else { DVec3::ZERO }
                })
                .collect();
            let step = 1e-7;
            let mut at = |s: f64| {
                let moved: Vec<DVec3> = x.iter().zip(&along).map(|(x, d)| *x + *d * s).collect();
                let mut gradient = vec![DVec3::ZERO; n];
                let value = objective.evaluate(&mut team, &moved, Wanted::Exact, &mut gradient);
                (value, gradient)
            };
            let ((plus, up), (minus, down), (_, gradient)) = (at(step), at(-step), at(0.0));
            let slope = crate::linalg::dot(&gradient, &along);
            let expected = (plus - minus) / (2.0 * step);
            assert!((slope - expected).abs() < 1e-6 * slope.abs(), "{slope} against {expected}");
            let mut product = vec![DVec3::ZERO; n];
            Hessian { objective: &objective, x: &x }.apply(&mut team, &along, &mut product);
            let size = product.iter().map(|p| p.length()).fold(0.0, f64::max);
            for i in 0..n {
                let expected = (up[i] - down[i]) / (2.0 * step);
                assert!(
                    (product[i] - expected).length() < 1e-5 * size,
                    "{i}: {} against {expected}",
                    product[i]
                );
            }
        }
    }

    #[test]
    fn the_projected_hessian_is_symmetric_positive_and_has_its_diagonal_blocks() {
        let mut team = Team::new(1);
        for (bending, membrane) in kinds() {
            let (mut objective, x) = crumpled(bending, membrane);
            let n = x.len();
            let mut gradient = vec![DVec3::ZERO; n];
            objective.evaluate(&mut team, &x, Wanted::Projected, &mut gradient);
            let mut blocks = vec![DMat3::ZERO; n];
            objective.diagonal(&mut team, &x, &mut blocks);
            let hessian = Hessian { objective: &objective, x: &x };
            let (mut p, mut q) = (vec![DVec3::ZERO; n], vec![DVec3::ZERO; n]);
            let mut column = |k: usize| -> Vec<f64> {
                p.fill(DVec3::ZERO);
                if objective.is_free(k / 3) {
                    p[k / 3][k % 3] = 1.0;
                }
                hessian.apply(&mut team, &p, &mut q);
                q.iter().flat_map(|q| q.to_array()).collect()
            };
            let columns: Vec<Vec<f64>> = (0..3 * n).map(&mut column).collect();
            for i in 0..3 * n {
                for j in 0..3 * n {
                    assert!((columns[i][j] - columns[j][i]).abs() < 1e-9 * columns[i][i].max(1.0));
                    if i / 3 == j / 3 && objective.is_free(i / 3) {
                        let block = blocks[i / 3].col(i % 3)[j % 3];
                        assert!((columns[i][j] - block).abs() < 1e-9 * columns[i][i], "{i} {j}");
                    }
                }
            }
            // Cholesky's pivots of what is free are all above the least inertia.
            let free: Vec<usize> = (0..3 * n).filter(|&k| objective.is_free(k / 3)).collect();
            let mut a: Vec<Vec<f64>> =
                free.iter().map(|&i| free.iter().map(|&j| columns[i][j]).collect()).collect();
            let least = objective.inertia.iter().copied().filter(|&m| m > 0.0).fold(f64::MAX, f64::min);
            for k in 0..free.len() {
                assert!(a[k][k] > 0.99 * least, "pivot {k} is {}", a[k][k]);
                for i in k + 1..free.len() {
                    let factor = a[i][k] / a[k][k];
                    for j in k..free.len() {
                        a[i][j] -= factor * a[k][j];
                    }
                }
            }
        }
    }
}
