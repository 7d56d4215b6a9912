//! `vbd`: vertex block descent.
//!
//! Minimises g(x) = 1/(2h²) (x − y)ᵀ M (x − y) + E(x) one vertex at a time, all others standing still:
//!
//! xᵢ ← xᵢ − Hᵢ⁻¹ ∇ᵢg(x),   Hᵢ the 3 × 3 block of the Hessian, kept positive.
//!
//! Vertices that no constraint connects have one colour and move together; colours follow each other (Gauss–Seidel on
//! vertices). Chen, Liu, Yuksel, Kim, *Vertex block descent*, 2024, with their start of the iteration (`warm.rs`). Each
//! vertex does its own work in its own order, so results do not depend on threads.
//!
//! Where few iterations would leave more energy than there was, vertices start nearer to where they were (`caution.rs`): then the cloth moves as if through honey, but does not crumple.
//!
//! Contact is part of a vertex's problem: if its minimum is beyond a collider, it takes the best place on the plane that
//! touches it, xᵢ + μ Hᵢ⁻¹ n. What friction needs is the push s, the part that colliders have in the way x − y from the prediction. A step keeps of it what it keeps of
//! the way, along n:
//!
//! s ← s (1 − m/h² n·Hᵢ⁻¹n) + what it takes now to get to the margin, but no less than zero.
//!
//! Where all has converged it is μ h²/m; before that μ has in it all the forces that are not balanced yet.
//!
//! Layers are pushed apart after each iteration, and the prediction y is moved along: a push is an impulse of this substep, and the next iteration weighs it against all other forces. So the pushes
//! become the forces that layers need in the end; with pushes after the last iteration alone, whatever they bend is left to strike back in the next substep.
//!
//! Positions are double precision within a substep: vertices that are pulled from many sides balance differences of large
//! forces.

use glam::{DVec3, Vec3};

use super::caution::Caution;
use super::objective::Objective;
use super::{Method, Substep, WarmStart};
use crate::collide::{Body, Contact};
use crate::model::Model;
use crate::step::Stage;
use crate::wide::Particle;

const GRAIN: usize = 16;

/// The method.
pub struct Vbd {
    objective: Objective,
    /// The vertices, colour by colour, and where each colour begins.
    order: Vec<u32>,
    colors: Vec<usize>,
    /// Distance kept from colliders at each particle, m.
    margin: Vec<f32>,
    x: Vec<DVec3>,
    /// In the order of `order`: where each vertex goes, and what held it off.
    moves: Vec<(DVec3, Contact)>,
    y: Vec<Particle>,
    warm: WarmStart,
    caution: Caution,
}

impl Vbd {
    /// Colours the vertices of `model`.
    pub fn new(model: &Model) -> Self {
        let objective = Objective::new(model);
        let n = model.particles();
        let neighbors = objective.neighbors();
        let mut color = vec![u32::MAX; n];
        let mut lists: Vec<Vec<u32>> = Vec::new();
        for i in 0..n {
            let taken = |c: usize| neighbors.row(i).iter().any(|&j| color[j as usize] == c as u32);
            let c = (0..lists.len()).find(|&c| !taken(c)).unwrap_or(lists.len());
            if c == lists.len() {
                lists.push(Vec::new());
            }
            lists[c].push(i as u32);
            color[i] = c as u32;
        }
        let mut colors = vec![0];
        lists.iter().for_each(|list| colors.push(colors[colors.len() - 1] + list.len()));
        let mut margin = vec![0.0; n];
        model.cloths.iter().for_each(|cloth| margin[cloth.vertices.clone()].fill(cloth.margin));
        let items = model.items();
        Vbd {
            caution: Caution::new(neighbors),
            objective,
            order: lists.concat(),
            colors,
            margin,
            x: vec![DVec3::ZERO; n],
            moves: vec![(DVec3::ZERO, Contact::default()); n],
            y: vec![Particle::default(); items],
            warm: WarmStart::new(items),
        }
    }
}

/// Where vertex `i` goes, and what holds it off then; `contact` is what did an iteration ago.
fn descend(
    objective: &Objective,
    bodies: &[Body],
    margin: f32,
    i: usize,
    x: &[DVec3],
    contact: Contact,
) -> (DVec3, Contact) {
    if !objective.is_free(i) {
        return (x[i], Contact::default());
    }
    let (gradient, block) = objective.local(i, x);
    let inverse = block.inverse();
    let mut goal = x[i] - inverse * gradient;
    let mut now = Contact::default();
    for (b, body) in bodies.iter().enumerate() {
        let before = if contact.body == b as u32 { contact.push } else { 0.0 };
        // The push may have to be taken back, wherever the vertex is.
        let reach = if before > 0.0 { f32::INFINITY } else { margin };
        let Some((d, n)) = body.near(goal.as_vec3(), reach) else { continue };
        let n = n.as_dvec3();
        let along = inverse * n;
        let give = n.dot(along);
        let kept = (before as f64 * (1.0 - objective.inertia(i) * give)).max(0.0);
        let push = (kept + (margin - d) as f64).max(0.0);
        goal += along * ((push - kept) / give);
        if push as f32 > now.push {
            now = Contact { push: push as f32, body: b as u32 };
        }
    }
    (goal, now)
}

impl Method for Vbd {
    fn solve(&mut self, substep: &mut Substep<'_>) {
        self.objective.begin(substep.x, substep.h);
        self.y.copy_from_slice(substep.x);
        self.warm.begin(substep);
        for (x, particle) in self.x.iter_mut().zip(substep.x.iter()) {
            *x = Vec3::from(particle.p).as_dvec3();
        }
        self.caution.temper(&mut self.objective, substep, &mut self.x);
        let Vbd { objective, order, colors, margin, x, moves, .. } = self;
        moves.iter_mut().for_each(|(_, contact)| *contact = Contact::default());
        let touching = substep.layers.as_ref().is_some_and(|layers| layers.touching());
        for iteration in 0..substep.iterations {
            for color in colors.windows(2) {
                let order = &order[color[0]..color[1]];
                let moves = &mut moves[color[0]..color[1]];
                let (frozen, bodies) = (&x[..], substep.bodies);
                substep.team.for_each_chunk(moves, GRAIN, |first, moves| {
                    for (k, goal) in moves.iter_mut().enumerate() {
                        let i = order[first + k] as usize;
                        *goal = descend(objective, bodies, margin[i], i, frozen, goal.1);
                    }
                });
                for (&i, goal) in order.iter().zip(moves) {
                    x[i as usize] = goal.0;
                }
            }
            let last = iteration + 1 == substep.iterations;
            if !(touching || last) {
                continue;
            }
            for (x, particle) in x.iter().zip(substep.x.iter_mut()).filter(|(_, particle)| particle.w > 0.0) {
                particle.p = x.as_vec3().into();
            }
            substep.clock.lap(Stage::Solve);
            if !last {
                substep.push_layers();
                for (i, particle) in substep.x[..x.len()].iter().enumerate().filter(|(_, p)| p.w > 0.0) {
                    let pushed = (Vec3::from(particle.p) - x[i].as_vec3()).as_dvec3();
                    x[i] += pushed;
                    objective.move_prediction(i, pushed);
                }
            }
        }
        if substep.touching() {
            for (&i, (_, contact)) in order.iter().zip(moves.iter()) {
                substep.contacts.set(i as usize, *contact);
            }
            substep.collide();
        }
        self.warm.end(substep, &self.y);
    }

    fn colors(&self) -> usize {
        self.colors.len() - 1
    }

    fn keeps_pushes(&self) -> bool {
        true
    }

    fn residual(&mut self, _: &mut [Particle], _: f32) -> Option<f64> {
        None
    }
}
