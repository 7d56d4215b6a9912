//! A mesh that goes through a sequence of shapes.

use glam::Vec3;

/// Shapes of one mesh at increasing times; straight in between.
#[derive(Clone, Debug, PartialEq)]
pub struct Frames {
    /// When each shape is taken, s.
    pub times: Vec<f64>,
    /// The positions of all vertices in each, m.
    pub positions: Vec<Vec<Vec3>>,
    /// Goes from the last shape back to the first, in the mean time between two, and starts again. Otherwise the last is kept.
    pub repeat: bool,
}

impl Frames {
    /// Shapes at `rate` a second, the first at time 0.
    pub fn at_rate(rate: f32, positions: Vec<Vec<Vec3>>, repeat: bool) -> Self {
        let times = (0..positions.len()).map(|i| i as f64 / rate as f64).collect();
        Frames { times, positions, repeat }
    }

    /// What is wrong, for a mesh with so many vertices.
    pub(super) fn check(&self, vertices: usize) -> Result<(), String> {
        if self.positions.is_empty() || self.times.len() != self.positions.len() {
            return Err(format!(
                "the animation has {} frames at {} times; there must be one or more, each with its time",
                self.positions.len(),
                self.times.len()
            ));
        }
        if !self.times.iter().all(|t| t.is_finite()) || self.times.windows(2).any(|t| t[1] <= t[0]) {
            return Err("the times of the animation's frames must be finite and increase".into());
        }
        for (i, frame) in self.positions.iter().enumerate() {
            if frame.len() != vertices {
                return Err(format!(
                    "frame {i} of the animation has {} vertices, but the mesh has {vertices}; all must have the same",
                    frame.len()
                ));
            }
            if let Some(v) = frame.iter().position(|p| !p.is_finite()) {
                return Err(format!(
                    "vertex {v} in frame {i} of the animation is at {}; every coordinate must be a finite number",
                    frame[v]
                ));
            }
        }
        Ok(())
    }

    /// Positions at time `t` (s).
    pub(super) fn at(&self, t: f64, out: &mut [Vec3]) {
        let count = self.times.len();
        let (first, last) = (self.times[0], self.times[count - 1]);
        let mut t = t;
        if self.repeat && count > 1 {
            let pause = (last - first) / (count - 1) as f64;
            let period = last - first + pause;
            t = first + (t - first).rem_euclid(period);
            if t > last {
                let part = ((t - last) / pause) as f32;
                return blend(&self.positions[count - 1], &self.positions[0], part, out);
            }
        }
        match self.times.partition_point(|&time| time <= t) {
            0 => out.copy_from_slice(&self.positions[0]),
            after if after == count => out.copy_from_slice(&self.positions[count - 1]),
            after => {
                let (from, to) = (self.times[after - 1], self.times[after]);
                let part = ((t - from) / (to - from)) as f32;
                blend(&self.positions[after - 1], &self.positions[after], part, out);
            }
        }
    }

    pub(super) fn scale(&mut self, scale: f32) {
        self.positions.iter_mut().flatten().for_each(|p| *p *= scale);
    }
}

fn blend(a: &[Vec3], b: &[Vec3], part: f32, out: &mut [Vec3]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = *a + (*b - *a) * part;
    }
}
