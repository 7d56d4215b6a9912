//! Something done to every particle that may touch a collider, eight at a time.

use fearless_simd::{Level, f32x4, f32x8, prelude::*};

use super::Particle;
use super::Transpose;
use crate::lanes::{LANES, Lanes, Point, SimdLevel, V3};

/// What happens to one particle, or to one in each lane.
pub trait ParticleKernel: Copy {
    /// Whether anything can happen to particles that were pushed this far (m).
    #[inline(always)]
    fn concerns<L: Lanes>(&self, _push: L) -> bool {
        true
    }

    /// Moves the particle from where it is; `start` is where it was, if that is known. Its contact is how far it was pushed, m, and the number of the collider
    /// that did it. Says whether anything changed.
    fn apply<L: Lanes>(&self, x: &mut Point<L>, start: V3<L>, contact: &mut [L; 2]) -> bool;
}

/// Particles and their contacts, in slices of equal length.
pub struct Contacting<'a> {
    /// Where they are.
    pub x: &'a mut [Particle],
    /// Where they were, if the kernel wants to know.
    pub start: Option<&'a [Particle]>,
    /// How far each was pushed, m.
    pub push: &'a mut [f32],
    /// The number of the collider that did it.
    pub body: &'a mut [f32],
}

impl Contacting<'_> {
    /// Runs the kernel over all. Says whether anything changed.
    pub fn run<K: ParticleKernel>(&mut self, level: SimdLevel, kernel: K) -> bool {
        let count = self.x.len();
        assert!(self.start.is_none_or(|start| start.len() == count));
        assert!(self.push.len() == count && self.body.len() == count);
        let (done, changed) = match level {
            SimdLevel::Scalar => (0, false),
            SimdLevel::Wide(level) => {
                on_level!(level, simd => self.wide(simd, kernel), otherwise (0, false))
            }
        };
        self.one_by_one(done, kernel) | changed
    }

    /// All whole blocks of eight. Says how many particles that were, and whether anything changed.
    #[inline(always)]
    fn wide<S: Transpose, K: ParticleKernel>(&mut self, simd: S, kernel: K) -> (usize, bool) {
        let mut changed = false;
        let start = self.start.unwrap_or_default().as_chunks::<LANES>().0;
        let x = self.x.as_chunks_mut::<LANES>().0;
        let (push, body) = (self.push.as_chunks_mut::<LANES>().0, self.body.as_chunks_mut::<LANES>().0);
        for k in 0..x.len() {
            let pushed = f32x8::simd_from(simd, push[k]);
            if !kernel.concerns(pushed) {
                continue;
            }
            let mut contact = [pushed, f32x8::simd_from(simd, body[k])];
            let mut point = load(simd, &x[k]);
            let from = if start.is_empty() { point.p } else { load(simd, &start[k]).p };
            if kernel.apply(&mut point, from, &mut contact) {
                changed = true;
                let rows = simd.to_rows([point.p.x, point.p.y, point.p.z, point.w]);
                for lane in 0..LANES {
                    x[k][lane] = Particle::from_array(rows[lane].into());
                }
                (push[k], body[k]) = (contact[0].into(), contact[1].into());
            }
        }
        (x.len() * LANES, changed)
    }

    fn one_by_one<K: ParticleKernel>(&mut self, first: usize, kernel: K) -> bool {
        let mut changed = false;
        for i in first..self.x.len() {
            if !kernel.concerns(self.push[i]) {
                continue;
            }
            let mut contact = [self.push[i], self.body[i]];
            let mut point = Point { p: vector(self.x[i].p), w: self.x[i].w };
            let from = self.start.map_or(point.p, |start| vector(start[i].p));
            if kernel.apply(&mut point, from, &mut contact) {
                changed = true;
                self.x[i].p = [point.p.x, point.p.y, point.p.z];
                [self.push[i], self.body[i]] = contact;
            }
        }
        changed
    }
}

#[inline(always)]
fn load<S: Transpose>(simd: S, particles: &[Particle; LANES]) -> Point<f32x8<S>> {
    let mut rows = [f32x4::splat(simd, 0.0); LANES];
    for lane in 0..LANES {
        rows[lane] = f32x4::simd_from(simd, particles[lane].to_array());
    }
    let [x, y, z, w] = simd.to_columns(rows);
    Point { p: V3 { x, y, z }, w }
}

#[inline(always)]
fn vector([x, y, z]: [f32; 3]) -> V3<f32> {
    V3 { x, y, z }
}
