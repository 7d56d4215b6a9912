//! Contact mode `particles`: every particle is a sphere, and spheres keep apart.
//!
//! C = |xᵢ − xⱼ| − d ≥ 0 for pairs found by a spatial hash. The diameter d is larger than the mesh spacing, so that no particle slips between those of
//! another layer; particles of one cloth that start nearer than d are its neighbours and are let alone. Finding pairs is
//! the expensive part: a list is used for several substeps, as long as nobody has come so far that a pair could be missing.
//!
//! It is cheap and robust, and it leaks: what is thinner than the spheres are apart goes through at high speed. Cloth looks as thick as the spheres.
//!
//! Velvet's scheme; the spheres are those of position based fluids (Macklin, Müller 2013).

use glam::Vec3;

use super::query::{Aabb, NearPairs, SpatialHash};
use super::spheres::{Pairs, Touch, cloth_of, frictions, spacings};
use crate::lanes::SimdLevel;
use crate::model::Model;
use crate::par::Team;
use crate::wide::Particle;

/// How spheres touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Diameter in mesh spacings (mean edge lengths) of the cloth.
    pub diameter: f32,
    /// Substeps for which a list of pairs is used at most.
    pub reuse: u32,
    /// How far particles may come nearer to each other, each in diameters, before pairs are looked for again.
    pub margin: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { diameter: 1.5, reuse: 5, margin: 0.25 }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct ParticleContacts {
    settings: Settings,
    /// Diameter of each particle, m; two keep the mean of theirs.
    diameter: Vec<f32>,
    friction: Vec<f32>,
    cloth: Vec<u32>,
    rest: Vec<Vec3>,
    /// Farthest that particles may have come since the list was made, m.
    margin: f32,
    /// Distance within which pairs are in the list, m.
    reach: f32,
    /// Where particles were when the list was made.
    seen: Vec<Vec3>,
    age: u32,
    hash: SpatialHash,
    boxes: Vec<Aabb>,
    found: Vec<[u32; 2]>,
    pairs: Pairs,
}

impl ParticleContacts {
    /// For the cloths of a model.
    pub fn new(model: &Model, settings: &Settings) -> Self {
        let diameter: Vec<f32> = spacings(model).iter().map(|s| s * settings.diameter).collect();
        let largest = diameter.iter().copied().fold(0.0, f32::max);
        let margin = settings.margin * largest;
        ParticleContacts {
            settings: *settings,
            diameter,
            friction: frictions(model),
            cloth: cloth_of(model),
            rest: model.start.clone(),
            margin,
            reach: largest + 2.0 * margin,
            seen: Vec::new(),
            age: 0,
            hash: SpatialHash::default(),
            boxes: Vec::new(),
            found: Vec::new(),
            pairs: Pairs::new(model.particles()),
        }
    }

    /// Begins a substep with the prediction `x`.
    pub fn begin(&mut self, team: &mut Team, x: &[Particle]) {
        let x = &x[..self.diameter.len()];
        if !x.iter().all(|x| Vec3::from(x.p).is_finite()) {
            return;
        }
        self.age += 1;
        if self.age < self.settings.reuse && self.still_serves(x) {
            self.pairs.begin(team);
            return;
        }
        self.age = 0;
        self.seen.clear();
        self.seen.extend(x.iter().map(|x| Vec3::from(x.p)));
        self.boxes.clear();
        self.boxes.extend(self.seen.iter().map(|&p| Aabb { low: p, high: p }));
        self.hash.within(team, SimdLevel::best(), &self.boxes, self.boxes.len(), self.reach, &mut self.found);
        let (seen, rest, cloth, diameter) = (&self.seen, &self.rest, &self.cloth, &self.diameter);
        let far = self.reach * self.reach;
        self.pairs.set(team, &self.found, |i, j| {
            let (i, j) = (i as usize, j as usize);
            if (seen[i] - seen[j]).length_squared() > far {
                return None;
            }
            let gap = 0.5 * (diameter[i] + diameter[j]);
            let apart = (rest[i] - rest[j]).length();
            // Neighbours in a cloth are close all the time. Layers that start close may stay so, but come no closer.
            if cloth[i] == cloth[j] { (apart > gap).then_some(gap) } else { Some(gap.min(apart)) }
        });
    }

    /// Whether every pair that might touch is in the list: two particles have come nearer by no more than the diagonal of the box around all motions,
    /// or twice the longest.
    fn still_serves(&self, x: &[Particle]) -> bool {
        if self.seen.len() != x.len() {
            return false;
        }
        let (mut low, mut high, mut longest) = (Vec3::INFINITY, Vec3::NEG_INFINITY, 0.0f32);
        for (x, seen) in x.iter().zip(&self.seen) {
            let way = Vec3::from(x.p) - *seen;
            (low, high, longest) = (low.min(way), high.max(way), longest.max(way.length_squared()));
        }
        longest <= self.margin * self.margin || (high - low).length() <= 2.0 * self.margin
    }

    /// Pushes spheres apart that overlap, after an iteration of the solver.
    pub fn project(&mut self, team: &mut Team, x: &mut [Particle]) {
        self.pairs.project(team, x, touch);
    }

    /// Coulomb friction after the solve.
    pub fn friction(&mut self, team: &mut Team, start: &[Particle], x: &mut [Particle]) {
        self.pairs.friction(team, start, x, &self.friction);
    }

    /// How many pairs are in the list, and how many of them touched in this substep.
    pub fn count(&self) -> (usize, usize) {
        (self.pairs.len(), self.pairs.touching())
    }
}

fn touch(x: &[Particle], i: u32, j: u32, gap: f32) -> Touch {
    let (a, b) = (x[i as usize], x[j as usize]);
    let d = Vec3::from(a.p) - Vec3::from(b.p);
    let squared = d.length_squared();
    if squared >= gap * gap || squared == 0.0 || a.w + b.w == 0.0 {
        return None;
    }
    let length = squared.sqrt();
    Some((gap - length, d / length))
}

#[cfg(test)]
mod tests {
    use super::super::spheres::tests::{Mode, bits, holds, run, sheets};
    use super::*;

    impl Mode for ParticleContacts {
        fn begin(&mut self, team: &mut Team, x: &[Particle], _: &[Particle]) {
            self.begin(team, x);
        }
        fn project(&mut self, team: &mut Team, x: &mut [Particle]) {
            self.project(team, x);
        }
        fn friction(&mut self, team: &mut Team, start: &[Particle], x: &mut [Particle]) {
            self.friction(team, start, x);
        }
    }

    #[test]
    fn layers_keep_apart() {
        holds(&|model| Box::new(ParticleContacts::new(model, &Settings::default())));
    }

    #[test]
    fn an_old_list_gives_the_same_as_a_new_one() {
        let model = sheets(&[(1.0, [0.0; 3]), (1.06, [0.3, -1.0, 0.0])], 12, 0.3);
        let end = |reuse| {
            let mut mode = ParticleContacts::new(&model, &Settings { reuse, ..Settings::default() });
            (bits(&run(&model, &mut mode, 1, 200)), mode.count().0)
        };
        let (fresh, old) = (end(1), end(8));
        assert!(fresh.1 > 100);
        assert_eq!(fresh.0, old.0);
    }
}
