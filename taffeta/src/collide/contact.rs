//! Contact of particles with colliders.
//!
//! Normal: C = d(p) − margin ≥ 0, solved as an inequality whose multiplier (the total push of this substep) never
//! pulls. Friction: after the solve, the tangential motion relative to the surface over the substep is taken back
//! by at most μ × push (Coulomb). Because it acts on positions, a contact within the cone does not creep at all; a
//! friction of velocities lets gravity move it by h² g sin θ every substep.

use std::sync::atomic::{AtomicBool, Ordering};

use glam::Vec3;

use super::Body;
use crate::lanes::{Lanes, Point, SimdLevel, V3};
use crate::model::{ClothPart, Model};
use crate::par::Team;
use crate::wide::{Contacting, Particle, ParticleKernel};

/// What holds one particle off a collider during a substep.
#[derive(Clone, Copy, Debug, Default)]
pub struct Contact {
    /// How far it was pushed in all, m.
    pub push: f32,
    /// Which collider pushed.
    pub body: u32,
}

/// The contacts of every particle.
#[derive(Clone, Debug)]
pub struct Contacts {
    /// How far each was pushed in all, m.
    push: Vec<f32>,
    /// Which collider pushed, as a number that lanes can compare.
    body: Vec<f32>,
    /// The push an iteration ago, m; empty until [`hold`](Self::hold) is used.
    last: Vec<f32>,
}

/// Particles handed to a thread at a time.
const GRAIN: usize = 64;

impl Contacts {
    /// No contacts for `particles` particles.
    pub fn new(particles: usize) -> Self {
        Contacts { push: vec![0.0; particles], body: vec![0.0; particles], last: Vec::new() }
    }

    /// How many particles there are.
    pub fn len(&self) -> usize {
        self.push.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.push.is_empty()
    }

    /// How many particles are being pushed.
    pub fn count(&self) -> usize {
        self.push.iter().filter(|&&push| push > 0.0).count()
    }

    /// The contact of a particle; without push if there is none.
    pub fn get(&self, particle: usize) -> Contact {
        Contact { push: self.push[particle], body: self.body[particle] as u32 }
    }

    /// Sets the contact of a particle, for methods that find its push by other means.
    pub fn set(&mut self, particle: usize, contact: Contact) {
        (self.push[particle], self.body[particle]) = (contact.push, contact.body as f32);
    }

    /// Forgets all contacts.
    pub fn clear(&mut self) {
        self.push.fill(0.0);
        self.body.fill(0.0);
        self.last.fill(0.0);
    }

    /// Runs the kernel of each cloth over its particles. Says whether that changed anything.
    fn run<K: ParticleKernel>(
        &mut self,
        (team, level): (&mut Team, SimdLevel),
        model: &Model,
        start: Option<&[Particle]>,
        x: &mut [Particle],
        kernel: impl Fn(&ClothPart) -> K + Sync,
    ) -> bool {
        let changed = AtomicBool::new(false);
        // All cloths at once, so that each member has the particles that it has everywhere else.
        let count = model.particles();
        let (x, push, body) = (&mut x[..count], &mut self.push[..count], &mut self.body[..count]);
        team.for_each_chunk3(x, push, body, GRAIN, |first, x, push, body| {
            for (cloth, range) in model.cloths_in(first..first + x.len()) {
                let start = start.map(|start| &start[range.clone()]);
                let own = range.start - first..range.end - first;
                let (x, push, body) = (&mut x[own.clone()], &mut push[own.clone()], &mut body[own]);
                if (Contacting { x, start, push, body }).run(level, kernel(cloth)) {
                    changed.store(true, Ordering::Relaxed);
                }
            }
        });
        changed.into_inner()
    }

    /// Pushes particles out of the colliders.
    pub fn project(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        model: &Model,
        bodies: &[Body],
        x: &mut [Particle],
    ) {
        if bodies.iter().any(Body::has_distances) {
            self.run((team, level), model, None, x, |cloth| Push { bodies, margin: cloth.margin });
        }
    }

    /// Puts particles that are too near back, for methods that iterate on the way u = x − y from the prediction: it is changed along
    /// with the positions. An iteration was
    ///
    /// u⁺ = u + rate (f − u m/h²)/D + momentum (u − u⁻),
    ///
    /// with elastic forces f; `ratio` is D h²/m. What colliders did to the way, s, is a part of u, so every iteration keeps as much of it as of u
    /// itself:
    ///
    /// s⁺ = s (1 − rate/ratio) + momentum (s − s⁻) + what it takes now to get to the margin, but no less than zero.
    ///
    /// It is the push. Taken from the last iteration alone, as D times the way that was put back, it would have in it all the forces that
    /// are not balanced yet, a hundred times too much where the cloth is stiff, and friction would nail the cloth to the collider.
    pub fn hold(
        &mut self,
        team: &mut Team,
        model: &Model,
        bodies: &[Body],
        y: &[Particle],
        x: &mut [Particle],
        way: &mut [[f32; 3]],
        ratio: &[f32],
        [rate, momentum]: [f32; 2],
    ) {
        self.last.resize(self.push.len(), 0.0);
        team.for_each_chunk2(&mut self.push, &mut self.last, GRAIN, |first, push, last| {
            for ((push, last), ratio) in push.iter_mut().zip(last).zip(&ratio[first..]) {
                let kept = *push * (1.0 - rate / ratio) + momentum * (*push - *last);
                *last = std::mem::replace(push, kept.max(0.0));
            }
        });
        for cloth in &model.cloths {
            let vertices = cloth.vertices.clone();
            let (push, number) = (&mut self.push[vertices.clone()], &mut self.body[vertices.clone()]);
            let (x, y) = (&mut x[vertices.clone()], &y[vertices.clone()]);
            let way = &mut way[vertices];
            team.for_each_chunk3(way, push, number, GRAIN, |first, way, push, number| {
                for (k, y) in y[first..first + way.len()].iter().enumerate().filter(|(_, y)| y.w > 0.0) {
                    let (y, mut u) = (Vec3::from(y.p), Vec3::from(way[k]));
                    for (body_index, body) in bodies.iter().enumerate() {
                        let same = number[k] == body_index as f32;
                        let before = if same { push[k] } else { 0.0 };
                        // As in `Push`.
                        let reach = if before > 0.0 { f32::INFINITY } else { cloth.margin };
                        let Some((d, n)) = body.near(y + u, reach) else { continue };
                        let pushed = (before + cloth.margin - d).max(0.0);
                        u += n * (pushed - before);
                        if same || pushed > push[k] {
                            (push[k], number[k]) = (pushed, body_index as f32);
                        }
                    }
                    way[k] = u.into();
                }
            });
            let way = &*way;
            team.for_each_chunk(x, GRAIN, |first, x| {
                for ((x, y), way) in x.iter_mut().zip(&y[first..]).zip(&way[first..]) {
                    x.p = (Vec3::from(y.p) + Vec3::from(*way)).into();
                }
            });
        }
    }

    /// Coulomb friction of all contacts; `start` is where the particles were at the start of the substep.
    pub fn friction(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        model: &Model,
        bodies: &[Body],
        start: &[Particle],
        x: &mut [Particle],
    ) {
        if bodies.iter().any(Body::has_distances) {
            let kernel = |cloth: &ClothPart| Rub { bodies, friction: cloth.friction };
            self.run((team, level), model, Some(start), x, kernel);
        }
    }

    /// Whether any particle that was pushed, or any at all with `everywhere`, is deeper than `deep` (m) in a collider. Moves nothing.
    pub fn any_inside(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        model: &Model,
        bodies: &[Body],
        x: &mut [Particle],
        deep: f32,
        everywhere: bool,
    ) -> bool {
        let kernel = Inside { bodies, deep, everywhere };
        bodies.iter().any(Body::has_distances) && self.run((team, level), model, None, x, |_| kernel)
    }

    /// Moves particles out of colliders that came at them faster than one margin in a substep, without giving them
    /// speed: solved as contacts, such a jump would become a velocity and make the cloth explode.
    /// Says whether there were any.
    pub fn clear_fast_colliders(
        &mut self,
        team: &mut Team,
        level: SimdLevel,
        model: &Model,
        bodies: &[Body],
        x: &mut [Particle],
    ) -> bool {
        bodies.iter().any(|body| body.moved() && body.has_distances())
            && self.run((team, level), model, None, x, |cloth| Clear { bodies, margin: cloth.margin })
    }
}

/// In each lane the push, m, if it is by collider number `body`, else zero.
#[inline(always)]
fn push_by<L: Lanes>(body: usize, [push, by]: [L; 2]) -> L {
    let other = (by - by.like(body as f32)).abs();
    other.select_lt(by.like(0.5), push, by.like(0.0))
}

/// [`Contacts::project`] of a cloth with this margin, m.
#[derive(Clone, Copy)]
struct Push<'a> {
    bodies: &'a [Body],
    margin: f32,
}

impl ParticleKernel for Push<'_> {
    #[inline(always)]
    fn apply<L: Lanes>(&self, x: &mut Point<L>, _: V3<L>, contact: &mut [L; 2]) -> bool {
        let zero = x.w.like(0.0);
        let mut any = false;
        for k in 0..self.bodies.len() {
            let body = &self.bodies[k];
            if !body.has_distances() {
                continue;
            }
            let before = push_by(k, *contact);
            // One that was pushed must be looked at wherever it is: the push may have to be taken back.
            let look = body.nearness(x.p, self.margin).max(before);
            if !look.any_positive() {
                continue;
            }
            let (d, n) = body.distances(x.p);
            let depth = x.w.like(self.margin) - d;
            // A multiplier that was too large is taken back, but never below zero.
            let push = (before + depth).max(zero);
            // Held particles stay, and so do those too far away to be looked at.
            let change = zero.select_lt(x.w.min(look), push - before, zero);
            let changed = change.abs();
            x.p = (x.p + n * change).where_positive(changed, x.p);
            // The collider that pushes most is the one that is remembered.
            let own = zero.select_lt(before, before, push - contact[0]);
            let taken = zero.select_lt(changed, own, zero);
            contact[0] = zero.select_lt(taken, push, contact[0]);
            contact[1] = zero.select_lt(taken, x.w.like(k as f32), contact[1]);
            any |= changed.any_positive();
        }
        any
    }
}

/// [`Contacts::friction`] of a cloth with this coefficient.
#[derive(Clone, Copy)]
struct Rub<'a> {
    bodies: &'a [Body],
    friction: f32,
}

impl ParticleKernel for Rub<'_> {
    #[inline(always)]
    fn concerns<L: Lanes>(&self, push: L) -> bool {
        push.any_positive()
    }

    #[inline(always)]
    fn apply<L: Lanes>(&self, x: &mut Point<L>, start: V3<L>, contact: &mut [L; 2]) -> bool {
        // Each particle has one contact, so nothing is moved twice.
        for k in 0..self.bodies.len() {
            let body = &self.bodies[k];
            let push = push_by(k, *contact);
            if !push.any_positive() {
                continue;
            }
            let (_, n) = body.distances(x.p);
            // Where it would be now had it stuck to the surface.
            let stuck = if body.moved() { start + body.surface_motion(x.p) } else { start };
            let moved = x.p - stuck;
            let normal = n * moved.dot(n);
            let slip = moved - normal;
            let limit = push * push.like(body.friction.unwrap_or(self.friction));
            let length = slip.length_squared().sqrt();
            // Sticking goes back to `stuck` itself rather than by −slip: rounding must not creep.
            let held = (x.p - slip * (limit / length)).where_positive(length - limit, stuck + normal);
            x.p = held.where_positive(push, x.p);
        }
        true
    }
}

/// See [`Contacts::any_inside`].
#[derive(Clone, Copy)]
struct Inside<'a> {
    bodies: &'a [Body],
    deep: f32,
    everywhere: bool,
}

impl ParticleKernel for Inside<'_> {
    #[inline(always)]
    fn concerns<L: Lanes>(&self, push: L) -> bool {
        self.everywhere || push.any_positive()
    }

    #[inline(always)]
    fn apply<L: Lanes>(&self, x: &mut Point<L>, _: V3<L>, _: &mut [L; 2]) -> bool {
        let mut any = false;
        for k in 0..self.bodies.len() {
            let body = &self.bodies[k];
            if body.has_distances() && body.nearness(x.p, -self.deep).any_positive() {
                let (d, _) = body.distances(x.p);
                any |= (-(d + x.w.like(self.deep))).any_positive();
            }
        }
        any
    }
}

/// [`Contacts::clear_fast_colliders`] of a cloth with this margin, m.
#[derive(Clone, Copy)]
struct Clear<'a> {
    bodies: &'a [Body],
    margin: f32,
}

impl ParticleKernel for Clear<'_> {
    #[inline(always)]
    fn apply<L: Lanes>(&self, x: &mut Point<L>, _: V3<L>, _: &mut [L; 2]) -> bool {
        let margin = x.w.like(self.margin);
        let mut any = false;
        for k in 0..self.bodies.len() {
            let body = &self.bodies[k];
            if !(body.moved() && body.has_distances()) {
                continue;
            }
            if !body.nearness(x.p, -self.margin).any_positive() {
                continue;
            }
            let (d, n) = body.distances(x.p);
            let deep = x.w.min(-(d + margin));
            x.p = (x.p + n * (margin - d)).where_positive(deep, x.p);
            any |= deep.any_positive();
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::collide::Surface;
    use crate::collide::random::Random;
    use crate::mesh::generate::ball;
    use crate::motion::{Motion, Oscillate, Spin, Wave};
    use crate::scene::{Bake, Cloth, Collider, ColliderShape, Pair, Scene};

    const MARGIN: f32 = 0.02;
    const FRICTION: f32 = 0.3;

    /// One collider of every kind, some of them in motion, after a substep.
    fn colliders() -> Vec<Body> {
        let collider = |shape, position, moving: bool| {
            let mut motion = Motion::default();
            if moving {
                motion.spin = Some(Spin { axis: [0.3, 1.0, 0.2], speed: 400.0, reverse_every: None });
                motion.oscillate =
                    Some(Oscillate { direction: [0.1, 0.05, -0.2], rate: 3.0, wave: Wave::Sin });
            }
            let rotation = [20.0, 30.0, 40.0];
            let base = Collider { shape, position, rotation, motion, radius: 0.3, ..Collider::default() };
            Collider { length: 0.5, size: [0.5, 0.4, 0.3], ..base }
        };
        let baked = Collider {
            surface: Some(Arc::new(Surface::rigid(&ball(0.2, 400)))),
            sdf: Some(Bake { cell: 0.05 }),
            ..collider(ColliderShape::Mesh, [0.2, 0.6, 0.1], true)
        };
        let list = [
            collider(ColliderShape::Sphere, [0.0; 3], false),
            collider(ColliderShape::Box, [0.4, 0.1, 0.0], true),
            collider(ColliderShape::Capsule, [-0.3, 0.0, 0.3], true),
            collider(ColliderShape::Plane, [0.0, -0.4, 0.0], false),
            baked,
        ];
        let mut bodies: Vec<Body> = list.iter().enumerate().map(|(i, c)| Body::new(i, c).unwrap()).collect();
        for k in 0..3 {
            bodies.iter_mut().for_each(|body| body.advance(k as f64 / 60.0, 1.0));
        }
        bodies
    }

    /// A cloth whose particles are anywhere; some are held. Their number is no multiple of eight.
    fn scattered() -> (Model, Vec<Particle>) {
        let mut cloth = Cloth { resolution: Pair([36, 44]), margin: Some(MARGIN), ..Cloth::default() };
        cloth.fabric.0.friction = Some(FRICTION);
        let model = Model::new(&Scene { cloth: vec![cloth], ..Scene::default() }).unwrap();
        assert!(!model.particles().is_multiple_of(8));
        let mut random = Random(5);
        let x = (0..model.particles())
            .map(|i| Particle { p: random.vector().into(), w: if i % 9 == 4 { 0.0 } else { 1.0 } })
            .collect();
        (model, x)
    }

    /// Three iterations between which particles go on a little, then friction.
    fn substep(level: SimdLevel, threads: usize) -> (Vec<Particle>, Contacts, bool) {
        let (model, start) = scattered();
        let (bodies, mut team) = (colliders(), Team::new(threads));
        let (mut x, mut contacts, mut random) = (start.clone(), Contacts::new(start.len()), Random(8));
        let cleared = contacts.clear_fast_colliders(&mut team, level, &model, &bodies, &mut x);
        for _ in 0..3 {
            contacts.project(&mut team, level, &model, &bodies, &mut x);
            for x in x.iter_mut().filter(|x| x.w > 0.0) {
                x.p = (Vec3::from(x.p) + random.vector() * 0.01).into();
            }
        }
        contacts.friction(&mut team, level, &model, &bodies, &start, &mut x);
        (x, contacts, cleared)
    }

    #[test]
    fn contact_is_the_same_to_the_bit_at_every_level_and_number_of_threads() {
        let bits = |(x, contacts, cleared): (Vec<Particle>, Contacts, bool)| {
            let x: Vec<_> = x.iter().map(|x| x.to_array().map(f32::to_bits)).collect();
            let held: Vec<_> =
                contacts.push.iter().zip(&contacts.body).map(|(p, b)| (p.to_bits(), b.to_bits())).collect();
            (x, held, cleared)
        };
        let expected = bits(substep(SimdLevel::Scalar, 1));
        assert!(expected.2 && expected.1.iter().filter(|held| held.0 != 0).count() > 300);
        for level in SimdLevel::all() {
            for threads in [1, 3] {
                assert!(bits(substep(level, threads)) == expected, "{} on {threads}", level.name());
            }
        }
    }

    #[test]
    fn contact_pushes_and_rubs_as_the_equations_say() {
        let (_, start) = scattered();
        let (bodies, mut x, mut random) = (colliders(), start.clone(), Random(8));
        let mut contacts = vec![Contact::default(); x.len()];
        let vector = |x: &Particle| Vec3::from(x.p);
        for x in x.iter_mut().filter(|x| x.w > 0.0) {
            for body in bodies.iter().filter(|body| body.pose != body.before) {
                let (d, n) = body.distance(x.p.into());
                let out = if d < -MARGIN { MARGIN - d } else { 0.0 };
                x.p = (vector(x) + n * out).into();
            }
        }
        for _ in 0..3 {
            for (x, contact) in x.iter_mut().zip(&mut contacts).filter(|(x, _)| x.w > 0.0) {
                for (k, body) in bodies.iter().enumerate() {
                    let (d, n) = body.distance(x.p.into());
                    let before = if contact.body == k as u32 { contact.push } else { 0.0 };
                    let push = (before + MARGIN - d).max(0.0);
                    x.p = (vector(x) + n * (push - before)).into();
                    if before > 0.0 || push > contact.push {
                        *contact = Contact { push, body: k as u32 };
                    }
                }
            }
            for x in x.iter_mut().filter(|x| x.w > 0.0) {
                x.p = (vector(x) + random.vector() * 0.01).into();
            }
        }
        let (mut stuck, mut slid) = (0, 0);
        for ((x, contact), start) in x.iter_mut().zip(&contacts).zip(&start).filter(|(c, _)| c.1.push > 0.0) {
            let body = &bodies[contact.body as usize];
            let was = body.before.to_world(body.pose.to_local(vector(x)));
            let moved = was - vector(start);
            let (_, n) = body.distance(x.p.into());
            let slip = moved - n * moved.dot(n);
            let held = slip.length().min(FRICTION * contact.push);
            x.p = (vector(x) - slip.normalize_or_zero() * held).into();
            *(if held < slip.length() { &mut slid } else { &mut stuck }) += 1;
        }
        assert!(stuck > 50 && slid > 50, "{stuck} {slid}");
        let (got, found, _) = substep(SimdLevel::best(), 1);
        for i in 0..x.len() {
            let (a, b) = (vector(&x[i]), vector(&got[i]));
            assert!(a.distance(b) < 3e-6, "particle {i}: {b} rather than {a}, {:?}", contacts[i]);
            assert!((found.get(i).push - contacts[i].push).abs() < 1e-6, "particle {i}");
        }
    }

    #[test]
    fn it_is_known_whether_any_particle_is_inside() {
        let (bodies, (model, mut x)) = (colliders(), scattered());
        let inside = |x: &Particle| bodies.iter().any(|body| body.near(x.p.into(), -1e-5).is_some());
        let one = x.iter().position(inside).expect("some are");
        let mut team = Team::new(2);
        for level in SimdLevel::all() {
            let mut contacts = Contacts::new(x.len());
            let mut ask = |contacts: &mut Contacts, x: &mut [Particle], everywhere| {
                contacts.any_inside(&mut team, level, &model, &bodies, x, 1e-5, everywhere)
            };
            assert!(ask(&mut contacts, &mut x, true) && !ask(&mut contacts, &mut x, false));
            contacts.set(one, Contact { push: 0.01, body: 0 });
            assert!(ask(&mut contacts, &mut x, false), "{}", level.name());
            let mut above: Vec<Particle> = x.clone();
            above.iter_mut().for_each(|x| x.p[1] += 50.0);
            assert!(!ask(&mut contacts, &mut above, true), "{}", level.name());
        }
    }
}
