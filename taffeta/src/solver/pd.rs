//! `pd`: projective dynamics, with its constant matrix factored once.
//!
//! Bouaziz, Martin, Liu, Kavan, Pauly, *Projective dynamics*, 2014, and for springs Liu, Bargteil, O'Brien, Kavan, *Fast
//! simulation of mass–spring systems*, 2013: find for each constraint the nearest place where it is content (local), then
//! the positions that agree best with all of them (global). Liu, Bouaziz, Kavan, *Quasi-Newton methods for real-time
//! simulation of hyperelastic materials*, 2017, 3.1: the two together are one step of
//!
//! x ← x − A⁻¹ ∇g(x),   A = M/h² + Σ k KᵀK,
//!
//! with g(x) = 1/(2h²) (x − y)ᵀ M (x − y) + E(x) and K the linear map a constraint is measured by: the difference of a
//! spring's ends, an isometric hinge's weights, the height of triangle bending. A is the same for x, y and z and
//! stays as long as the substep and the held particles do. For these kinds ∇²g ≤ A, so g falls in each iteration. Hinges
//! by their angle and membrane triangles take the K of the same element at rest; for them the step is halved whenever g
//! has risen.
//!
//! A tether is in A whether it is taut or slack, and the stiffer it is, the more it holds back what is slack. So tethers are
//! light here, with k = m/h²: one that holds up its own vertex gives way by g h², less than 0.1 mm for substeps below 3 ms.
//!
//! A vertex that a collider holds off cannot go along its normal n, and the force of that contact is what ∇g has along n. With P the projection that takes both away, such vertices and the cloth around
//! them go by conjugate gradients, with P A⁻¹ P for a preconditioner and A for the Hessian:
//!
//! z = P A⁻¹ P ∇g,   d ← β P d − z with β = zᵀA d/dᵀA d,   x ← x + α d with α = −∇g·d/dᵀA d.
//!
//! They come to rest where P ∇g = 0. The plain step, with vertices put back after it, does not: it ends where A⁻¹ P ∇g is no more than what putting back undoes, and free vertices beside have forces left.

use glam::{DVec3, Vec3};

use super::objective::{Objective, Wanted};
use super::{Method, Substep, WarmStart};
use crate::collide::{Body, Contact};
use crate::linalg::{Entry, Factor, Rows, dot};
use crate::model::Model;
use crate::step::Stage;
use crate::wide::Particle;

/// A vertex that slides over a collider stays on it if it has come no further off than this, in margins: a round one falls away under it.
const STAY: f32 = 1.5;
/// Two colliders that hold a vertex count as one if the sine of the angle between their normals is less.
const SAME: f64 = 0.05;

/// The method.
pub struct Pd {
    objective: Objective,
    /// Σ k KᵀK, both triangles and the diagonal, N/m.
    stiffness: Rows<Entry>,
    matrix: Rows<Entry>,
    factor: Factor,
    /// What the factor was made for: the diagonal that is added, N/m; zero where a particle is held.
    factored: Vec<f64>,
    factorizations: u32,
    /// Whether some element may be stiffer than its part of A.
    guarded: bool,
    margin: Vec<f32>,
    x: Vec<DVec3>,
    last: Vec<DVec3>,
    /// P ∇g.
    gradient: Vec<DVec3>,
    /// z.
    descent: Vec<DVec3>,
    /// d.
    direction: Vec<DVec3>,
    /// A d.
    stiff: Vec<DVec3>,
    /// In the order of vertices; normals of one vertex are orthogonal.
    held: Vec<Held>,
    y: Vec<Particle>,
    warm: WarmStart,
}

/// A vertex that a collider holds off.
struct Held {
    vertex: u32,
    /// Of the collider.
    body: u32,
    normal: DVec3,
}

impl Pd {
    /// Builds the matrix of `model` and orders its elimination.
    pub fn new(model: &Model) -> Self {
        let n = model.particles();
        let mut entries: Vec<(u32, u32, f64)> = (0..n as u32).map(|i| (i, i, 0.0)).collect();
        super::elements::proxies(model, |particles, weights, k| {
            for (&i, wi) in particles.iter().zip(weights) {
                for (&j, wj) in particles.iter().zip(weights) {
                    entries.push((i, j, k * wi * wj));
                }
            }
        });
        let stiffness = Rows::matrix(n, entries);
        let mut margin = vec![0.0; n];
        model.cloths.iter().for_each(|cloth| margin[cloth.vertices.clone()].fill(cloth.margin));
        let zero = || vec![DVec3::ZERO; n];
        let objective = Objective::with_light_tethers(model);
        Pd {
            objective,
            matrix: stiffness.clone(),
            factor: Factor::new(&stiffness, &model.start),
            stiffness,
            factored: vec![-1.0; n],
            factorizations: 0,
            guarded: !(model.dihedral.is_empty() && model.stvk.is_empty()),
            margin,
            x: zero(),
            last: zero(),
            gradient: zero(),
            descent: zero(),
            direction: zero(),
            stiff: zero(),
            held: Vec::with_capacity(3 * n),
            y: vec![Particle::default(); model.items()],
            warm: WarmStart::new(model.items()),
        }
    }

    /// Factors A unless it is what it was.
    fn factor(&mut self) {
        let wanted = |i: usize| self.objective.inertia(i) * (1 + self.objective.tethers(i)) as f64;
        if self.factored.iter().enumerate().all(|(i, &diagonal)| diagonal == wanted(i)) {
            return;
        }
        for i in 0..self.factored.len() {
            self.factored[i] = wanted(i);
        }
        for i in 0..self.factored.len() {
            for (stiffness, entry) in self.stiffness.row(i).iter().zip(self.matrix.row_mut(i)) {
                let j = entry.column as usize;
                entry.value = match (i == j, self.factored[i] > 0.0 && self.factored[j] > 0.0) {
                    (true, true) => stiffness.value + self.factored[i],
                    (false, true) => stiffness.value,
                    (true, false) => 1.0,
                    (false, false) => 0.0,
                };
            }
        }
        let positive = self.factor.compute(&self.matrix);
        debug_assert!(positive, "masses are positive, and so is every k KᵀK");
        self.factorizations += 1;
    }

    /// Puts vertices back that are too near to a collider, and those that it holds off onto it.
    fn put_back(&mut self, bodies: &[Body]) {
        let mut held = &self.held[..];
        for i in 0..self.x.len() {
            let own;
            (own, held) = held.split_at(held.iter().take_while(|held| held.vertex == i as u32).count());
            for (b, body) in bodies.iter().enumerate().filter(|_| self.objective.is_free(i)) {
                let stays = own.iter().any(|held| held.body == b as u32);
                let reach = if stays { STAY * self.margin[i] } else { self.margin[i] };
                if let Some((d, n)) = body.near(self.x[i].as_vec3(), reach) {
                    self.x[i] += n.as_dvec3() * (self.margin[i] - d) as f64;
                }
            }
        }
    }

    /// Contacts balance what of the gradient would bring a vertex into a collider: takes that part away, and tells of it.
    fn balance(&mut self, bodies: &[Body], mut tell: impl FnMut(usize, Contact)) {
        self.held.clear();
        for i in 0..self.x.len() {
            for (b, body) in bodies.iter().enumerate().filter(|_| self.objective.is_free(i)) {
                // Just put on the margin, give or take the rounding of single precision.
                let Some((_, n)) = body.near(self.x[i].as_vec3(), self.margin[i] * 1.001 + 1e-6) else {
                    continue;
                };
                let others = self.held.iter().rev().take_while(|held| held.vertex == i as u32);
                let n = others.fold(n.as_dvec3(), |n, other| n - other.normal * n.dot(other.normal));
                let n = if n.length() > SAME { n.normalize() } else { continue };
                let force = self.gradient[i].dot(n);
                if force > 0.0 {
                    self.gradient[i] -= n * force;
                    let body = b as u32;
                    self.held.push(Held { vertex: i as u32, body, normal: n });
                    tell(i, Contact { push: (force / self.objective.inertia(i)) as f32, body });
                }
            }
        }
    }

    /// Decides where to go from here, given P ∇g, and how far. `first`: there was no iteration before.
    fn aim(&mut self, first: bool) -> f64 {
        let Pd { descent, direction, gradient, stiff, held, matrix, factor, .. } = self;
        descent.copy_from_slice(gradient);
        factor.solve(descent);
        if held.is_empty() {
            direction.iter_mut().zip(&*descent).for_each(|(d, z)| *d = -*z);
            stiff.iter_mut().zip(&*gradient).for_each(|(stiff, g)| *stiff = -*g);
            return 1.0;
        }
        project(held, descent);
        let along = if first { 0.0 } else { dot(direction, stiff) };
        let keep = if along > 0.0 { dot(descent, stiff) / along } else { 0.0 };
        project(held, direction);
        direction.iter_mut().zip(&*descent).for_each(|(d, z)| *d = *d * keep - *z);
        if dot(direction, gradient) >= 0.0 {
            direction.iter_mut().zip(&*descent).for_each(|(d, z)| *d = -*z);
        }
        for (i, stiff) in stiff.iter_mut().enumerate() {
            *stiff = matrix.row(i).iter().map(|entry| direction[entry.column as usize] * entry.value).sum();
        }
        let along = dot(direction, stiff);
        if along > 0.0 { -dot(direction, gradient) / along } else { 0.0 }
    }
}

/// Takes away what vertices have along the normals of what holds them off.
fn project(held: &[Held], v: &mut [DVec3]) {
    for held in held {
        let v = &mut v[held.vertex as usize];
        *v -= held.normal * v.dot(held.normal);
    }
}

impl Method for Pd {
    fn solve(&mut self, substep: &mut Substep<'_>) {
        self.objective.begin(substep.x, substep.h);
        self.factor();
        self.y.copy_from_slice(substep.x);
        self.warm.begin(substep);
        for (x, particle) in self.x.iter_mut().zip(substep.x.iter()) {
            *x = Vec3::from(particle.p).as_dvec3();
        }
        let bodies = substep.bodies;
        self.held.clear();
        self.put_back(bodies);
        let (mut lowest, mut t) = (f64::INFINITY, 1.0);
        for iteration in 0..substep.iterations {
            let value = self.objective.evaluate(substep.team, &self.x, Wanted::Nothing, &mut self.gradient);
            if self.guarded && value > lowest {
                t *= 0.5;
            } else {
                lowest = value;
                self.balance(bodies, |_, _| {});
                t = self.aim(iteration == 0);
                self.last.copy_from_slice(&self.x);
            }
            for i in 0..self.x.len() {
                self.x[i] = self.last[i] + self.direction[i] * t;
            }
            self.put_back(bodies);
        }
        if !bodies.is_empty() {
            self.objective.evaluate(substep.team, &self.x, Wanted::Nothing, &mut self.gradient);
            let contacts = &mut *substep.contacts;
            self.balance(bodies, |i, contact| contacts.set(i, contact));
        }
        for i in (0..self.x.len()).filter(|&i| self.objective.is_free(i)) {
            substep.x[i].p = Vec3::to_array(&self.x[i].as_vec3());
        }
        substep.clock.lap(Stage::Solve);
        if substep.touching() {
            substep.collide();
        }
        self.warm.end(substep, &self.y);
    }

    fn colors(&self) -> usize {
        0
    }

    fn residual(&mut self, _: &mut [Particle], _: f32) -> Option<f64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::Contacts;
    use crate::lanes::SimdLevel;
    use crate::par::Team;
    use crate::scene::{Cloth, Corner, Pair, Pin, Scene, Select};
    use crate::state::State;
    use crate::step::Stopwatch;

    #[test]
    fn the_matrix_is_factored_once_until_substep_or_pins_change() {
        let select = Select { corners: vec![Corner::LowLow], ..Select::default() };
        let pin = vec![Pin { select, ..Pin::default() }];
        let cloth = Cloth { resolution: Pair([8, 8]), pin, ..Cloth::default() };
        let model = Model::new(&Scene { cloth: vec![cloth], ..Scene::default() }).unwrap();
        let (mut state, mut pd) = (State::new(&model), Pd::new(&model));
        let (mut contacts, mut team) = (Contacts::new(state.x.len()), Team::new(1));
        let mut solve = |state: &mut State, h: f32, pd: &mut Pd| {
            pd.solve(&mut Substep {
                model: &model,
                h,
                iterations: 3,
                gravity: Vec3::NEG_Y,
                x: &mut state.x,
                start: &state.start,
                pins_moved: true,
                measure: false,
                bodies: &[],
                layers: None,
                contacts: &mut contacts,
                team: &mut team,
                level: SimdLevel::Scalar,
                clock: &mut Stopwatch::start(),
            });
            pd.factorizations
        };
        for _ in 0..5 {
            assert_eq!(solve(&mut state, 0.01, &mut pd), 1);
        }
        assert_eq!(solve(&mut state, 0.005, &mut pd), 2, "another substep");
        state.x[40].w = 0.0;
        assert_eq!(solve(&mut state, 0.005, &mut pd), 3, "another pin");
        assert_eq!(solve(&mut state, 0.005, &mut pd), 3);
    }
}
