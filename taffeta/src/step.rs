//! The frame: one function, [`Simulation::step`], reads top to bottom as all that happens.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use glam::Vec3;

use crate::collide::{Body, Contacts, Layers, Moment, Pose, Work};
use crate::error::BuildError;
use crate::force::Air;
use crate::lanes::SimdLevel;
use crate::metrics::{self, Energies, Strain};
use crate::model::{Attachment, Model};
use crate::par::Team;
use crate::params::{ContactMode, Params};
use crate::scene::Scene;
use crate::solver::objective::Objective;
use crate::solver::{self, Convergence, Limits, Method, Substep};
use crate::state::State;
use crate::wide::Particle;

/// The parts of a step, as timed and as documented in docs/step.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Scripted motion of colliders and pins, and the pre-pass for fast colliders.
    Animate,
    /// Forces and the prediction y = x + h v + h² a.
    Predict,
    /// Boxes around patches of cloth and meshes, and which of them are near each other.
    Tree,
    /// Collecting pairs of vertices and triangles, and of edges, that are near.
    Candidates,
    /// Their distances, and what of them is a contact.
    Check,
    /// Dividing contacts into colours.
    Color,
    /// The method: springs, hinges, tethers.
    Solve,
    /// Contact with colliders and between layers.
    Contact,
    /// Coulomb friction.
    Friction,
    /// Keeping vertices within what cannot cross anything.
    Bound,
    /// Velocities from positions.
    Velocity,
    /// The check for bad states, and positions in the caller's order.
    Finish,
}

impl Stage {
    /// Every stage, in order.
    pub const ALL: [Stage; 12] = [
        Stage::Animate,
        Stage::Predict,
        Stage::Tree,
        Stage::Candidates,
        Stage::Check,
        Stage::Color,
        Stage::Solve,
        Stage::Contact,
        Stage::Friction,
        Stage::Bound,
        Stage::Velocity,
        Stage::Finish,
    ];

    /// Its name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Animate => "animate",
            Stage::Predict => "predict",
            Stage::Tree => "tree",
            Stage::Candidates => "candidates",
            Stage::Check => "check",
            Stage::Color => "color",
            Stage::Solve => "solve",
            Stage::Contact => "contact",
            Stage::Friction => "friction",
            Stage::Bound => "bound",
            Stage::Velocity => "velocity",
            Stage::Finish => "finish",
        }
    }
}

/// Time spent in each stage.
#[derive(Clone, Debug)]
pub struct Stopwatch {
    #[cfg(not(target_arch = "wasm32"))]
    last: std::time::Instant,
    spent: [Duration; Stage::ALL.len()],
}

impl Stopwatch {
    /// Starts.
    pub fn start() -> Self {
        Stopwatch {
            #[cfg(not(target_arch = "wasm32"))]
            last: std::time::Instant::now(),
            spent: Default::default(),
        }
    }

    /// Books the time since the last lap under `stage`. In a browser's bare WebAssembly there is no clock: zero.
    pub fn lap(&mut self, stage: Stage) {
        #[cfg(not(target_arch = "wasm32"))]
        {
            let now = std::time::Instant::now();
            self.spent[stage as usize] += now - self.last;
            self.last = now;
        }
        #[cfg(target_arch = "wasm32")]
        let _ = stage;
    }
}

/// What a step did.
#[derive(Clone, Debug)]
pub struct StepReport {
    /// Number of the frame that was made; the first is 1.
    pub frame: u32,
    /// Time spent in each stage, in the order of [`Stage::ALL`].
    pub stages: [Duration; Stage::ALL.len()],
    /// Particles in contact with a collider in the last substep.
    pub contacts: usize,
    /// What contact between layers took.
    pub work: Work,
    /// Set if the state went bad: the simulation then stands at its last good state, and further steps do nothing.
    pub failure: Option<Failure>,
}

/// A state that cannot go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The frame in which it happened.
    pub frame: u32,
    /// The vertex, in the caller's numbering.
    pub vertex: usize,
    /// The cloth it belongs to.
    pub cloth: String,
    /// What was seen there.
    pub what: String,
    /// The likely cause and what to try.
    pub advice: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Failure { frame, vertex, cloth, what, advice } = self;
        write!(f, "the simulation exploded in frame {frame} at vertex {vertex} of {cloth}: {what}; {advice}")
    }
}

/// A cloth that is stretched to more than so many times its length has exploded. Less may be a very soft one that hangs from single vertices by a method
/// that has not converged: fifteen times, and at rest, in the scene `time-step` by `xpbd-jacobi`.
const EXPLODED_STRETCH: f32 = 20.0;
/// The same before vertices are held back from crossing anything, which may take back a jerk.
const HELD_BACK_STRETCH: f32 = 1000.0;
/// Nothing flies further than this, m.
const EXPLODED_DISTANCE: f32 = 1e7;
/// Particles a thread should have at least; below that handing out work costs more than it saves.
const PARTICLES_PER_THREAD: usize = 2_000;
const GRAIN: usize = 64;

/// Cloth in motion.
pub struct Simulation {
    model: Model,
    state: State,
    params: Params,
    bodies: Vec<Body>,
    contacts: Contacts,
    layers: Option<Box<Layers>>,
    air: Option<Air>,
    method: Box<dyn Method>,
    limits: Limits,
    team: Team,
    level: SimdLevel,
    /// Vertices held by the program: particle and where it is to go.
    grabs: Vec<(u32, Vec3)>,
    pins_changed: bool,
    measure: bool,
    /// The last substep, s.
    last_h: f32,
    /// What [`Simulation::gradient_residual`] is computed by; made when measuring begins.
    objective: Option<Box<Objective>>,
    gradient_residual: Option<f64>,
    last_good: State,
    failure: Option<Failure>,
    /// An explosion that was seen before vertices were held back.
    suspect: Option<(usize, String)>,
    positions: Vec<[f32; 3]>,
}

impl Simulation {
    /// Builds a scene.
    pub fn new(scene: &Scene) -> Result<Self, BuildError> {
        let params = scene.simulation.clone();
        check_params(&params)?;
        let mut model = Model::new(scene)?;
        let bodies = (scene.collider.iter().enumerate())
            .map(|(i, c)| Body::new(i, c))
            .collect::<Result<Vec<_>, _>>()?;
        model.sew_pins(scene, &bodies)?;
        model.add_collider_meshes(&bodies);
        let air = Air::new(scene, &model)?;
        let method = solver::build(&model, &params)?;
        let limits = Limits::new(&model, &params)?;
        let mut state = State::new(&model);
        let layers = Layers::new(&model, &bodies, &params.contact, method.keeps_pushes(), &mut state.x)?;
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let wanted = if params.threads == 0 { cores } else { params.threads as usize };
        let useful = (model.particles() / PARTICLES_PER_THREAD).max(1);
        let mut simulation = Simulation {
            contacts: Contacts::new(state.x.len()),
            positions: vec![[0.0; 3]; model.particles()],
            last_good: state.clone(),
            team: Team::new(wanted.min(useful)),
            level: SimdLevel::best(),
            grabs: Vec::new(),
            pins_changed: true,
            measure: false,
            last_h: 0.0,
            objective: None,
            gradient_residual: None,
            failure: None,
            suspect: None,
            model,
            state,
            params,
            bodies,
            layers: layers.map(Box::new),
            air,
            method,
            limits,
        };
        simulation.export_positions();
        Ok(simulation)
    }

    /// Advances the cloth by `dt` seconds: one frame. Does nothing for a `dt` that is not positive and finite, nor after a
    /// failure.
    pub fn step(&mut self, dt: f32) -> StepReport {
        let mut clock = Stopwatch::start();
        if self.failure.is_none() && dt > 0.0 && dt.is_finite() {
            self.last_good.copy_from(&self.state);
            let begin = self.state.time;
            let substeps = self.substeps(dt);
            let h = dt / substeps as f32;
            self.last_h = h;
            for substep in 1..=substeps {
                self.state.time = begin + dt as f64 * substep as f64 / substeps as f64;
                let left = substeps - substep + 1;
                let pins_moved = self.animate(h, 1.0 / left as f32, &mut clock);
                clock.lap(Stage::Animate);
                self.predict(h);
                clock.lap(Stage::Predict);
                self.expect_contacts(h, &mut clock);
                self.solve(h, pins_moved, left == 1, &mut clock);
                self.friction();
                clock.lap(Stage::Friction);
                if left == 1 && self.layers.is_some() {
                    self.suspect = self.find_explosion(HELD_BACK_STRETCH);
                }
                self.bound(h, &mut clock);
                self.velocity(h);
                clock.lap(Stage::Velocity);
            }
            self.state.frame += 1;
            self.finish();
            clock.lap(Stage::Finish);
        }
        StepReport {
            frame: self.state.frame,
            stages: clock.spent,
            contacts: self.contacts.count(),
            work: self.layers.as_mut().map_or(Work::default(), |layers| layers.take_work()),
            failure: self.failure.clone(),
        }
    }

    /// Substeps in a frame of `dt` seconds: as many as wanted, or as many as the method needs to be stable.
    pub fn substeps(&self, dt: f32) -> u32 {
        let needed = self.method.stable_substep().map_or(1.0, |h| (dt / h).ceil());
        self.params.substeps.max(needed as u32)
    }

    /// Moves colliders and held particles to the end of the substep. `fraction` is the part of the frame's remaining way
    /// that things moved by the program go now. Says whether a held particle moved.
    fn animate(&mut self, h: f32, fraction: f32, clock: &mut Stopwatch) -> bool {
        let Simulation { model, state, bodies, contacts, team, level, .. } = self;
        for body in bodies.iter_mut() {
            body.advance(state.time, fraction);
        }
        if contacts.clear_fast_colliders(team, *level, model, bodies, &mut state.x) {
            self.bound(h, clock);
        }
        let Simulation { model, state, .. } = self;
        let mut moved = std::mem::take(&mut self.pins_changed);
        let mut place = |state: &mut State, particle: u32, goal: Vec3| {
            let i = particle as usize;
            let before = Vec3::from(state.x[i].p);
            moved |= goal != before;
            // The prediction adds h v, which brings the particle exactly here.
            let v = (goal - before) / h;
            state.v[i] = [v.x, v.y, v.z, 0.0];
        };
        for attachment in &model.attachments {
            let &Attachment { particle, until, .. } = attachment;
            if state.x[particle as usize].w != 0.0 || self.grabs.iter().any(|g| g.0 == particle) {
                continue;
            }
            if state.time > until as f64 {
                state.x[particle as usize].w = model.inverse_mass[particle as usize];
                self.pins_changed = true;
                continue;
            }
            let goal = model.held_at(attachment, &self.bodies, state.time);
            place(state, particle, goal);
        }
        for &(particle, goal) in &self.grabs {
            let now = Vec3::from(state.x[particle as usize].p);
            place(state, particle, now.lerp(goal, fraction));
        }
        moved || self.pins_changed
    }

    /// Forces, then y = x + h v. Held particles have just been given the velocity of their way.
    fn predict(&mut self, h: f32) {
        self.forces(h);
        let Simulation { model, state, team, params, bodies, .. } = self;
        let [gx, gy, gz] = params.gravity.map(|g| g * h);
        let pull = [gx, gy, gz, 0.0];
        team.for_each_chunk3(&mut state.x, &mut state.start, &mut state.v, GRAIN, |_, x, start, v| {
            for ((x, start), v) in x.iter_mut().zip(start).zip(v) {
                *start = *x;
                let free = if x.w > 0.0 { 1.0 } else { 0.0 };
                // The fourth velocity is zero, so the inverse mass stays as it is.
                let mut y = x.to_array();
                for c in 0..4 {
                    v[c] += free * pull[c];
                    y[c] += h * v[c];
                }
                *x = Particle::from_array(y);
            }
        });
        for mesh in &model.collider_meshes {
            let points = bodies[mesh.collider].points();
            for (x, p) in state.x[mesh.vertices.clone()].iter_mut().zip(points) {
                x.p = (*p).into();
            }
        }
        // Rounding in x + h v must not make a pin miss its place.
        for attachment in &model.attachments {
            let i = attachment.particle as usize;
            if state.x[i].w == 0.0 && !self.grabs.iter().any(|g| g.0 == attachment.particle) {
                state.x[i].p = model.held_at(attachment, bodies, state.time).into();
            }
        }
    }

    /// Loads and wind change velocities; gravity is left to the prediction.
    fn forces(&mut self, h: f32) {
        let Simulation { model, state, team, air, level, .. } = self;
        for &(particle, force) in &model.loads {
            let (w, v) = (state.x[particle as usize].w, &mut state.v[particle as usize]);
            *v = [v[0] + h * w * force.x, v[1] + h * w * force.y, v[2] + h * w * force.z, 0.0];
        }
        if let Some(air) = air {
            air.push(team, *level, model, state, h);
        }
    }

    /// Finds what layers may touch in this substep.
    fn expect_contacts(&mut self, h: f32, clock: &mut Stopwatch) {
        let Simulation { model, bodies, team, level, state, contacts, params, layers, .. } = self;
        if let Some(layers) = layers {
            let gravity = params.gravity.into();
            let mut now = Moment { model, bodies, contacts, h, gravity, team, level: *level, clock };
            layers.begin(&mut now, &mut state.start, &mut state.x);
        }
    }

    /// Brings everything where it may be without crossing anything.
    fn bound(&mut self, h: f32, clock: &mut Stopwatch) {
        let Simulation { model, bodies, team, level, state, contacts, params, layers, .. } = self;
        if let Some(layers) = layers {
            let gravity = params.gravity.into();
            let mut now = Moment { model, bodies, contacts, h, gravity, team, level: *level, clock };
            if layers.finish(&mut now, &mut state.start, &mut state.x) {
                for mesh in &model.collider_meshes {
                    bodies[mesh.collider].dent(&state.x[mesh.vertices.clone()]);
                }
            }
        }
    }

    fn solve(&mut self, h: f32, pins_moved: bool, last: bool, clock: &mut Stopwatch) {
        self.contacts.clear();
        if let Some(objective) = self.objective.as_mut().filter(|_| last) {
            objective.begin(&self.state.x, h);
        }
        let mut substep = Substep {
            model: &self.model,
            h,
            iterations: self.params.iterations,
            gravity: self.params.gravity.into(),
            x: &mut self.state.x,
            start: &self.state.start,
            pins_moved,
            measure: self.measure && last,
            bodies: &self.bodies,
            contacts: &mut self.contacts,
            layers: self.layers.as_deref_mut(),
            team: &mut self.team,
            level: self.level,
            clock,
        };
        self.method.solve(&mut substep);
        self.limits.enforce(&mut substep);
        let Simulation { objective, team, bodies, contacts, state, .. } = self;
        if let Some(objective) = objective.as_mut().filter(|_| last) {
            self.gradient_residual = Some(objective.residual(team, bodies, contacts, &state.x));
        }
    }

    fn friction(&mut self) {
        if let Some(layers) = &mut self.layers {
            layers.rub(&mut self.team, &self.state.start, &mut self.state.x);
        }
        if !self.bodies.is_empty() {
            let Simulation { contacts, team, level, model, bodies, state, .. } = self;
            contacts.friction(team, *level, model, bodies, &state.start, &mut state.x);
        }
    }

    /// v ← v + (x − y)/h, then damping. The prediction y = x₀ + h v is made again, to the bit: written as (x − x₀)/h the
    /// same velocity would carry the rounding of y, and momentum would drift.
    fn velocity(&mut self, h: f32) {
        let Simulation { model, state, team, .. } = self;
        let State { x, start, v, .. } = state;
        team.for_each_chunk(&mut v[..model.particles()], GRAIN, |first, v| {
            for (cloth, range) in model.cloths_in(first..first + v.len()) {
                let (keep, rate) = (libm::expf(-cloth.damping * h), 1.0 / h);
                let v = &mut v[range.start - first..range.end - first];
                for ((v, x), start) in v.iter_mut().zip(&x[range.clone()]).zip(&start[range]) {
                    let (x, start) = (x.to_array(), start.to_array());
                    for c in 0..4 {
                        v[c] = (v[c] + (x[c] - (start[c] + h * v[c])) * rate) * keep;
                    }
                }
            }
        });
    }

    /// Looks for a bad state; goes back to the last good one if it finds any. Then shows positions to the caller.
    fn finish(&mut self) {
        // What cannot cross anything cannot fly apart either: it is where it wanted to go that tells.
        if let Some((particle, what)) = self.suspect.take().or_else(|| self.find_explosion(EXPLODED_STRETCH))
        {
            let cloth = self.model.cloths.iter().find(|c| c.vertices.contains(&particle));
            let cloth = cloth.expect("every particle belongs to a cloth");
            let vertex = self.model.caller[particle] as usize - cloth.vertices.start;
            let frame = self.state.frame;
            self.failure = Some(Failure {
                frame,
                vertex,
                cloth: cloth.name.clone(),
                what,
                advice: "a shorter dt, more substeps, or smaller forces may help".into(),
            });
            self.state.copy_from(&self.last_good);
        }
        self.export_positions();
    }

    /// A particle that is far away, or at an edge that is more than `most` times as long as at rest.
    fn find_explosion(&mut self, most: f32) -> Option<(usize, String)> {
        let Simulation { model, state, team, .. } = self;
        let (x, edges) = (&state.x[..model.particles()], &model.edges[..]);
        let length = |[a, b]: [u32; 2]| Vec3::from(x[a as usize].p) - Vec3::from(x[b as usize].p);
        let far = |p: &Particle| !p.p.iter().all(|c| c.abs() < EXPLODED_DISTANCE);
        let long = |&(ends, rest): &([u32; 2], f32)| length(ends).length_squared() > (most * rest).powi(2);
        let [particle, edge] = [const { AtomicUsize::new(usize::MAX) }; 2];
        let note = |first: &AtomicUsize, range: Range<usize>, found: Option<usize>| {
            if let Some(k) = found {
                first.fetch_min(range.start + k, Ordering::Relaxed);
            }
        };
        team.run(|worker| {
            let [own, lines] = [x.len(), edges.len()].map(|len| worker.share(len, GRAIN));
            note(&particle, own.clone(), x[own].iter().position(far));
            note(&edge, lines.clone(), edges[lines].iter().position(long));
        });
        let i = particle.into_inner();
        if let Some(Particle { p: [a, b, c], .. }) = x.get(i) {
            return Some((i, format!("its position is [{a:.3e}, {b:.3e}, {c:.3e}] m")));
        }
        let &(ends, rest) = edges.get(edge.into_inner())?;
        let stretch = length(ends).length() / rest;
        Some((ends[0] as usize, format!("an edge there is {stretch:.0} times its rest length")))
    }

    fn export_positions(&mut self) {
        for (x, &v) in self.state.x.iter().zip(&self.model.caller) {
            self.positions[v as usize] = x.p;
        }
    }
}

fn check_params(p: &Params) -> Result<(), BuildError> {
    let bad = |field: &str, problem: String| Err(BuildError::field(format!("simulation.{field}"), problem));
    if !(p.dt > 0.0 && p.dt.is_finite()) {
        return bad("dt", format!("is {}; must be above 0 s, for example 0.016667", p.dt));
    }
    if p.substeps == 0 {
        return bad("substeps", "is 0; must be 1 or more".into());
    }
    if p.iterations == 0 {
        return bad("iterations", "is 0; must be 1 or more".into());
    }
    if !p.gravity.iter().all(|g| g.is_finite()) {
        return bad("gravity", "must be three finite numbers, m/s²".into());
    }
    if !(p.damping >= 0.0 && p.damping.is_finite()) {
        return bad("damping", format!("is {}; must be 0 1/s or more", p.damping));
    }
    if p.strain_passes == Some(0) {
        return bad("strain_passes", "is 0; must be 1 or more".into());
    }
    if !(1..=64).contains(&p.phantom_colors) {
        return bad("phantom_colors", format!("is {}; must be 1 to 64", p.phantom_colors));
    }
    if p.verlet.hardening > 10 {
        return bad("verlet.hardening", format!("is {}; must be 0 to 10", p.verlet.hardening));
    }
    if !(p.verlet.relaxation >= 0.0 && p.verlet.relaxation.is_finite()) {
        return bad("verlet.relaxation", format!("is {}; must be 0 s or more", p.verlet.relaxation));
    }
    if !(p.verlet.strain_limit >= 0.0 && p.verlet.strain_limit.is_finite()) {
        return bad("verlet.strain_limit", format!("is {}; must be 0 or more", p.verlet.strain_limit));
    }
    let tables = [
        ("pbd", p.pbd.problem()),
        ("chebyshev", p.chebyshev.problem()),
        ("newton", p.newton.problem()),
        ("hierarchy", p.hierarchy.problem()),
    ];
    for (table, problem) in tables {
        if let Some((field, problem)) = problem {
            return bad(&format!("{table}.{field}"), problem);
        }
    }
    Ok(())
}

impl Simulation {
    /// Positions of all vertices in the caller's order, m.
    pub fn positions(&self) -> &[[f32; 3]] {
        &self.positions
    }

    /// Triangles of all cloths in the caller's numbering.
    #[allow(clippy::misnamed_getters)] // The engine's own triangles are none of the caller's business.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.model.caller_triangles
    }

    /// Writes the unit normal of every vertex, in the caller's order: the area-weighted mean of its triangles'.
    pub fn normals(&self, normals: &mut [[f32; 3]]) {
        normals.fill([0.0; 3]);
        for tri in self.triangles() {
            let [a, b, c] = tri.map(|v| Vec3::from(self.positions[v as usize]));
            let n = (b - a).cross(c - a);
            for &v in tri {
                normals[v as usize] = (Vec3::from(normals[v as usize]) + n).into();
            }
        }
        for n in normals.iter_mut() {
            *n = Vec3::from(*n).normalize_or(Vec3::Y).into();
        }
    }

    /// What is fixed.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// How contact of layers is found and kept; none if there is nothing that could touch, or it is not asked for.
    pub fn contact_mode(&self) -> Option<ContactMode> {
        self.layers.as_ref().map(|layers| layers.mode())
    }

    /// What moves.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The knobs.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The colliders.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// The instructions in use.
    pub fn simd(&self) -> SimdLevel {
        self.level
    }

    /// Uses other instructions; the results are the same.
    pub fn set_simd(&mut self, level: SimdLevel) {
        self.level = level;
    }

    /// How many threads work.
    pub fn threads(&self) -> usize {
        self.team.count()
    }

    /// Uses exactly so many threads, however small the scene; the results are the same.
    pub fn set_threads(&mut self, count: usize) {
        self.team = Team::new(count);
    }

    /// Colours of the method.
    pub fn colors(&self) -> usize {
        self.method.colors()
    }

    /// Keeps what [`Simulation::residual`] and [`Simulation::gradient_residual`] need; costs a little in the last substep of
    /// a frame.
    pub fn measure_residual(&mut self, on: bool) {
        self.measure = on;
        self.gradient_residual = None;
        self.objective = on.then(|| Box::new(Objective::new(&self.model)));
    }

    /// ‖M (x − y)/h² + ∇E(x)‖ of the last substep of the last frame, N, for any method, if it was measured: how far it is
    /// from implicit Euler. Taken before friction; what a collider can balance is left out. Positions are
    /// rounded to single precision, so that even an exact solution has about 10⁻⁷ m times the stiffness at each vertex.
    pub fn gradient_residual(&self) -> Option<f64> {
        self.gradient_residual
    }

    /// ‖C + α̃ λ‖ at the end of the last frame, if it was measured.
    pub fn residual(&mut self) -> Option<f64> {
        let measured = self.measure && self.last_h > 0.0;
        if measured { self.method.residual(&mut self.state.x, self.last_h) } else { None }
    }

    /// How far the last substep came, for methods that go on until they converge.
    pub fn convergence(&self) -> Option<Convergence> {
        self.method.convergence()
    }

    /// Stretch of the mesh edges.
    pub fn strain(&self) -> Strain {
        metrics::strain(&self.model, &self.state.x)
    }

    /// Energies, J.
    pub fn energies(&self) -> Energies {
        metrics::energies(&self.model, &self.state.x, &self.state.v, self.params.gravity)
    }

    /// How many vertices are inside a collider.
    pub fn penetrating_vertices(&self) -> usize {
        metrics::penetration(&self.model, &self.bodies, &self.state.x, 1e-5).vertices
    }

    /// How many pairs of triangles cross each other: of cloths, or of a cloth and a collider's mesh.
    pub fn intersecting_pairs(&self) -> usize {
        metrics::crossings_with_bodies(&self.positions, self.triangles(), &self.bodies).len()
    }

    /// A hash of the bits of the positions, for comparing runs.
    pub fn state_hash(&self) -> u64 {
        metrics::state_hash(&self.positions)
    }

    /// Takes hold of a vertex; it goes to `point` (m) over the next frame and stays held.
    pub fn grab(&mut self, vertex: usize, point: [f32; 3]) {
        let Some(particle) = self.particle(vertex) else { return };
        match self.grabs.iter_mut().find(|g| g.0 == particle) {
            Some(grab) => grab.1 = point.into(),
            None => {
                self.grabs.push((particle, point.into()));
                self.state.x[particle as usize].w = 0.0;
                self.pins_changed = true;
            }
        }
    }

    /// Lets go of a vertex; if it is pinned it goes back to its pin.
    pub fn release(&mut self, vertex: usize) {
        let Some(particle) = self.particle(vertex) else { return };
        if let Some(i) = self.grabs.iter().position(|g| g.0 == particle) {
            self.grabs.swap_remove(i);
            let time = self.state.time;
            let pinned = |a: &Attachment| a.particle == particle && time <= a.until as f64;
            if !self.model.attachments.iter().any(pinned) {
                self.state.x[particle as usize].w = self.model.inverse_mass[particle as usize];
            }
            self.pins_changed = true;
        }
    }

    /// Moves a collider to `pose` over the next frame, in place of its script.
    pub fn move_collider(&mut self, index: usize, pose: Pose) {
        if let Some(body) = self.bodies.get_mut(index) {
            body.drive(pose);
        }
    }

    fn particle(&self, vertex: usize) -> Option<u32> {
        let cloth = self.model.cloths.iter().find(|c| c.vertices.contains(&vertex))?;
        if cloth.grid.is_some() {
            return Some(vertex as u32);
        }
        cloth.vertices.clone().find(|&i| self.model.caller[i] as usize == vertex).map(|i| i as u32)
    }
}
