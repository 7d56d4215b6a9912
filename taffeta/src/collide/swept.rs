//! Contact mode `swept-spheres`: a small sphere at every particle, followed along its way through the substep.
//!
//! Two spheres with the relative position p₀ at the start and p₀ + d at the end touch at the first root t of
//!
//! ```text
//! |p₀ + t d|² = g²      t = (−p₀·d − √((p₀·d)² − d²(p₀² − g²)))/d²
//! ```
//!
//! and from there on they may slide but come no nearer along n = (p₀ + t d)/g. Pairs come from boxes around the ways. All contacts are found and answered
//! from the same copy of the positions, in one pass. Radii below half the mesh spacing leave neighbours alone without any filter.
//!
//! Fast spheres do not pass through each other, but an edge may pass between spheres.

use glam::{DVec3, Vec3};

use super::query::{Aabb, NearPairs, SpatialHash};
use super::spheres::{Pairs, Touch, frictions, spacings};
use crate::lanes::SimdLevel;
use crate::model::Model;
use crate::par::Team;
use crate::wide::Particle;

/// How swept spheres touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Radius in mesh spacings (mean edge lengths) of the cloth, 0.3 to 0.4. Above 0.354 no particle fits between four of a square grid.
    pub radius: f32,
    /// How far the solver may bring particles from their prediction, in radii, without a pair being missed.
    pub margin: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { radius: 0.38, margin: 0.5 }
    }
}

/// Part of an overlap at the start of a substep that is taken back in it.
const RECOVERY: f32 = 0.2;
/// Part of their distance at rest that particles keep where it is less than the sum of the radii.
const REST: f32 = 0.9;

/// See the module.
#[derive(Clone, Debug)]
pub struct SweptSpheres {
    settings: Settings,
    /// Radius of each particle, m.
    radius: Vec<f32>,
    friction: Vec<f32>,
    rest: Vec<Vec3>,
    /// Where particles were at the start of the substep.
    start: Vec<Vec3>,
    hash: SpatialHash,
    boxes: Vec<Aabb>,
    found: Vec<[u32; 2]>,
    pairs: Pairs,
}

impl SweptSpheres {
    /// For the cloths of a model.
    pub fn new(model: &Model, settings: &Settings) -> Self {
        SweptSpheres {
            settings: *settings,
            radius: spacings(model).iter().map(|s| s * settings.radius).collect(),
            friction: frictions(model),
            rest: model.start.clone(),
            start: Vec::new(),
            hash: SpatialHash::default(),
            boxes: Vec::new(),
            found: Vec::new(),
            pairs: Pairs::new(model.particles()),
        }
    }

    /// Begins a substep with the prediction `x`; `start` is where it began.
    pub fn begin(&mut self, team: &mut Team, x: &[Particle], start: &[Particle]) {
        let n = self.radius.len();
        let (x, start) = (&x[..n], &start[..n]);
        if !x.iter().all(|x| Vec3::from(x.p).is_finite()) {
            return;
        }
        self.start.clear();
        self.start.extend(start.iter().map(|x| Vec3::from(x.p)));
        // What all do together brings nobody nearer: boxes around what is left of the ways are smaller.
        let sum: DVec3 = x.iter().zip(&self.start).map(|(x, s)| (Vec3::from(x.p) - *s).as_dvec3()).sum();
        let drift = (sum / n.max(1) as f64).as_vec3();
        self.boxes.clear();
        for ((x, &from), &radius) in x.iter().zip(&self.start).zip(&self.radius) {
            let to = Vec3::from(x.p) - drift;
            let around = Aabb { low: from.min(to), high: from.max(to) };
            self.boxes.push(around.grown(radius * (1.0 + self.settings.margin)));
        }
        self.hash.within(team, SimdLevel::best(), &self.boxes, self.boxes.len(), 0.0, &mut self.found);
        let (radius, rest) = (&self.radius, &self.rest);
        self.pairs.set(team, &self.found, |i, j| {
            let (i, j) = (i as usize, j as usize);
            Some((radius[i] + radius[j]).min(REST * (rest[i] - rest[j]).length()))
        });
    }

    /// Stops spheres that met on their way from the start to `x`, after an iteration of the solver.
    pub fn project(&mut self, team: &mut Team, x: &mut [Particle]) {
        let start = &self.start;
        self.pairs.project(team, x, |x, i, j, gap| touch(start, x, i, j, gap));
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

fn touch(start: &[Vec3], x: &[Particle], i: u32, j: u32, gap: f32) -> Touch {
    let (i, j) = (i as usize, j as usize);
    if x[i].w + x[j].w == 0.0 {
        return None;
    }
    let before = start[i] - start[j];
    let after = Vec3::from(x[i].p) - Vec3::from(x[j].p);
    let way = after - before;
    let (squared, approach) = (before.length_squared(), before.dot(way));
    let (n, keep) = if squared <= gap * gap {
        // They overlap already: no nearer than they were, and out again slowly, so that nothing explodes.
        let length = squared.sqrt();
        (before / length.max(f32::MIN_POSITIVE), length + RECOVERY * (gap - length))
    } else {
        let way_squared = way.length_squared();
        let root = approach * approach - way_squared * (squared - gap * gap);
        if approach >= 0.0 || root < 0.0 {
            return None;
        }
        let t = (-approach - root.sqrt()) / way_squared;
        if t > 1.0 {
            return None;
        }
        ((before + way * t) / gap, gap)
    };
    let depth = keep - n.dot(after);
    (depth > 0.0).then_some((depth, n))
}

#[cfg(test)]
mod tests {
    use super::super::spheres::tests::{Mode, holds};
    use super::*;

    impl Mode for SweptSpheres {
        fn begin(&mut self, team: &mut Team, x: &[Particle], start: &[Particle]) {
            self.begin(team, x, start);
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
        holds(&|model| Box::new(SweptSpheres::new(model, &Settings::default())));
    }

    #[test]
    fn spheres_that_would_pass_through_each_other_meet_on_the_way() {
        let p = |x: f32, y: f32| Particle { p: [x, y, 0.0], w: 1.0 };
        let at = |x: [Particle; 2]| x.map(|x| Vec3::from(x.p));
        let start = at([p(0.0, 1.0), p(0.0, -1.0)]);
        // They change places within the substep.
        let (depth, n) = touch(&start, &[p(0.0, -1.0), p(0.0, 1.0)], 0, 1, 0.5).unwrap();
        assert!((depth - 2.5).abs() < 1e-6 && (n - Vec3::Y).length() < 1e-6);
        assert!(touch(&start, &[p(2.0, -1.0), p(-2.0, 1.0)], 0, 1, 0.5).is_none());
        assert!(touch(&start, &[p(0.0, 0.3), p(0.0, -0.3)], 0, 1, 0.5).is_none());
        // Seen from the other side it is the same.
        let back = touch(&start, &[p(0.1, -1.0), p(0.0, 1.0)], 1, 0, 0.5).unwrap();
        let forth = touch(&start, &[p(0.1, -1.0), p(0.0, 1.0)], 0, 1, 0.5).unwrap();
        assert_eq!((back.0, back.1), (forth.0, -forth.1));
    }
}
