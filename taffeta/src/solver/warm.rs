//! Where to start from: a guess at the solution of a substep.
//!
//! The prediction y knows nothing of what holds the cloth up; x₀ + h v nothing of what pulls it down. So gravity is taken back
//! as far as the last substep did, along the direction n of the acceleration a by which all else answered it:
//!
//! x = y + h² min(|a|, max(0, −g·n)) n.
//!
//! What hangs or lies starts near where it was, what falls starts falling, and what slides starts sliding; a blow, however
//! hard, is not repeated. After the adaptive initialisation of Chen, Liu, Yuksel, Kim, *Vertex block descent*, 2024, 3.7, which
//! looks along gravity alone and so holds back what slides.

use glam::Vec3;

use super::Substep;
use crate::wide::Particle;

const GRAIN: usize = 64;

/// What is kept of the last substep.
pub struct WarmStart {
    /// Accelerations by all but gravity, (x − y)/h², m/s².
    last: Vec<[f32; 3]>,
}

impl WarmStart {
    /// For so many particles; nothing is known yet, and the first guess is the prediction.
    pub fn new(particles: usize) -> Self {
        WarmStart { last: vec![[0.0; 3]; particles] }
    }

    /// A cloth that nothing holds starts from the prediction: its momentum is kept, and when it is let go it falls.
    fn forget_free(&mut self, substep: &Substep<'_>) {
        for cloth in &substep.model.cloths {
            if substep.x[cloth.vertices.clone()].iter().all(|x| x.w > 0.0) {
                self.last[cloth.vertices.clone()].fill([0.0; 3]);
            }
        }
    }

    /// Moves `substep.x` from the prediction to the guess.
    pub fn begin(&mut self, substep: &mut Substep<'_>) {
        self.forget_free(substep);
        let (g, h2, last) = (substep.gravity, substep.h * substep.h, &self.last);
        substep.team.for_each_chunk(substep.x, GRAIN, |first, x| {
            for (x, last) in x.iter_mut().zip(&last[first..]).filter(|(x, _)| x.w > 0.0) {
                x.p = (Vec3::from(x.p) + answer(*last, g) * h2).into();
            }
        });
    }

    /// The same for methods that iterate on the way (m) from the prediction, which is left there unrounded.
    pub fn begin_way(&mut self, substep: &mut Substep<'_>, way: &mut [[f32; 3]]) {
        self.forget_free(substep);
        let (g, h2, last) = (substep.gravity, substep.h * substep.h, &self.last);
        substep.team.for_each_chunk2(substep.x, way, GRAIN, |first, x, way| {
            for ((x, way), last) in x.iter_mut().zip(way).zip(&last[first..]) {
                *way = if x.w > 0.0 { (answer(*last, g) * h2).into() } else { [0.0; 3] };
                for c in 0..3 {
                    x.p[c] += way[c];
                }
            }
        });
    }

    /// Keeps the way (m) that this substep went, as far as `pull`, the acceleration (m/s²) by elastic forces, bears it out. A guess
    /// that nothing bears out would take many iterations to unlearn: a cloth that is let go would hover. What a collider held
    /// starts from the prediction again: the collider answers at once, and what it has to push is what friction needs.
    pub fn end_way(
        &mut self,
        substep: &mut Substep<'_>,
        way: &[[f32; 3]],
        pull: impl Fn(usize) -> Vec3 + Sync,
    ) {
        let (inv_h2, contacts) = (1.0 / (substep.h * substep.h), &*substep.contacts);
        substep.team.for_each_chunk(&mut self.last, GRAIN, |first, last| {
            for (k, last) in last.iter_mut().enumerate() {
                let a = Vec3::from(way[first + k]) * inv_h2;
                let (borne, square) = (a.dot(pull(first + k)), a.length_squared());
                let held = contacts.get(first + k).push > 0.0;
                *last = match held || !(borne > 0.0) {
                    true => [0.0; 3],
                    false => (a * (borne / square).min(1.0)).into(),
                };
            }
        });
    }

    /// Keeps what this substep did; `y` is its prediction. What a collider held starts from the prediction again, as in
    /// [`end_way`](Self::end_way).
    pub fn end(&mut self, substep: &mut Substep<'_>, y: &[Particle]) {
        let (inv_h2, x, contacts) = (1.0 / (substep.h * substep.h), &*substep.x, &*substep.contacts);
        substep.team.for_each_chunk(&mut self.last, GRAIN, |first, last| {
            for (k, last) in last.iter_mut().enumerate() {
                let i = first + k;
                let part = if i < contacts.len() && contacts.get(i).push > 0.0 { 0.0 } else { inv_h2 };
                for c in 0..3 {
                    last[c] = (x[i].p[c] - y[i].p[c]) * part;
                }
            }
        });
    }
}

/// min(|a|, max(0, −g·n)) n, m/s², n the direction of `a`.
fn answer(a: [f32; 3], g: Vec3) -> Vec3 {
    let a = Vec3::from(a);
    let size = a.length();
    if size == 0.0 {
        return Vec3::ZERO;
    }
    let n = a / size;
    n * size.min((-g.dot(n)).max(0.0))
}
