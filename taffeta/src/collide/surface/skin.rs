//! A mesh that hangs on moving joints: linear blend skinning.
//!
//! A joint j has the transform M_j = M_parent · T R S from its own frame to the mesh's, where translation, rotation and scale follow their
//! keys. With the inverse B_j of the transform it was bound with, a vertex that rests at x is at Σ w_j M_j B_j x.
//!
//! Magnenat-Thalmann, Laperrière, Thalmann, Joint-dependent local deformations for hand animation and object grasping (1988); glTF 2.0, 3.7.3.

use glam::{Affine3A, Quat, Vec3};

/// Joints of a skin at most: their transforms are kept on the stack.
pub const MOST_JOINTS: usize = 256;

/// Joints, and what hangs on them.
#[derive(Clone, Debug, PartialEq)]
pub struct Skin {
    /// The joints; a parent comes before its children.
    pub joints: Vec<Joint>,
    /// What moves each vertex.
    pub influences: Vec<Influence>,
    /// When the animation ends, s; 0 if nothing moves.
    pub duration: f32,
    /// Starts again after its end; it should end as it begins. Otherwise the last pose is kept.
    pub repeat: bool,
}

/// A joint of a [`Skin`].
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// The joint it hangs on.
    pub parent: Option<u32>,
    /// From the mesh's frame at rest to its own.
    pub inverse_bind: Affine3A,
    /// Where it is in its parent's frame, m.
    pub translation: Track<Vec3>,
    /// How it is turned there.
    pub rotation: Track<Quat>,
    /// How it is scaled there.
    pub scale: Track<Vec3>,
}

/// The joints that move a vertex, and with what weights; they sum to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Influence {
    /// Numbers of the joints.
    pub joints: [u16; 4],
    /// Their weights; 0 where there are fewer than four.
    pub weights: [f32; 4],
}

/// A value that changes from key to key; before the first and after the last it stays.
#[derive(Clone, Debug, PartialEq)]
pub struct Track<T> {
    /// Times of the keys, s, increasing.
    pub times: Vec<f32>,
    /// The value at each.
    pub values: Vec<T>,
}

impl<T> Track<T> {
    /// A value that stays as it is.
    pub fn fixed(value: T) -> Self {
        Track { times: vec![0.0], values: vec![value] }
    }

    fn complete(&self) -> bool {
        !self.values.is_empty()
            && self.times.len() == self.values.len()
            && self.times.windows(2).all(|t| t[0] < t[1])
    }
}

impl<T: Copy> Track<T> {
    fn at(&self, t: f32, between: impl Fn(T, T, f32) -> T) -> T {
        match self.times.partition_point(|&time| time <= t) {
            0 => self.values[0],
            after if after == self.values.len() => self.values[after - 1],
            after => {
                let (from, to) = (self.times[after - 1], self.times[after]);
                between(self.values[after - 1], self.values[after], (t - from) / (to - from))
            }
        }
    }
}

impl Skin {
    /// What is wrong, for a mesh with so many vertices.
    pub(super) fn check(&self, vertices: usize) -> Result<(), String> {
        let count = self.joints.len();
        if count == 0 || count > MOST_JOINTS {
            return Err(format!("the skin has {count} joints; must be 1 to {MOST_JOINTS}"));
        }
        if self.influences.len() != vertices {
            return Err(format!(
                "the skin holds {} vertices, but the mesh has {vertices}; it must hold each",
                self.influences.len()
            ));
        }
        for (i, joint) in self.joints.iter().enumerate() {
            if joint.parent.is_some_and(|p| p as usize >= i) {
                return Err(format!("joint {i} comes before its parent; parents must come first"));
            }
            if !(joint.translation.complete() && joint.rotation.complete() && joint.scale.complete()) {
                return Err(format!(
                    "the keys of joint {i} are not complete, or their times do not increase"
                ));
            }
        }
        for (v, influence) in self.influences.iter().enumerate() {
            let sum: f32 = influence.weights.iter().sum();
            if influence.joints.iter().any(|&j| j as usize >= count) {
                return Err(format!(
                    "vertex {v} hangs on joint {}, but there are {count}",
                    influence.joints.iter().max().unwrap_or(&0)
                ));
            }
            if !((sum - 1.0).abs() < 1e-3) {
                return Err(format!("the weights of vertex {v} sum to {sum}; must be 1"));
            }
        }
        Ok(())
    }

    /// Positions at time `t` (s).
    pub(super) fn at(&self, t: f64, rest: &[Vec3], out: &mut [Vec3]) {
        let duration = self.duration as f64;
        let t = if self.repeat && duration > 0.0 { t.rem_euclid(duration) } else { t } as f32;
        let mut transforms = [Affine3A::IDENTITY; MOST_JOINTS];
        for (i, joint) in self.joints.iter().enumerate() {
            let lerp = |a: Vec3, b: Vec3, part: f32| a + (b - a) * part;
            let own = Affine3A::from_scale_rotation_translation(
                joint.scale.at(t, lerp),
                joint.rotation.at(t, slerp),
                joint.translation.at(t, lerp),
            );
            transforms[i] = match joint.parent {
                Some(parent) => transforms[parent as usize] * own,
                None => own,
            };
        }
        for (transform, joint) in transforms.iter_mut().zip(&self.joints) {
            *transform *= joint.inverse_bind;
        }
        for ((out, &rest), influence) in out.iter_mut().zip(rest).zip(&self.influences) {
            *out = Vec3::ZERO;
            for (&joint, &weight) in influence.joints.iter().zip(&influence.weights) {
                if weight != 0.0 {
                    *out += transforms[joint as usize].transform_point3(rest) * weight;
                }
            }
        }
    }

    pub(super) fn scale(&mut self, scale: f32) {
        // S M S⁻¹ for every transform M: only translations change.
        for joint in &mut self.joints {
            joint.inverse_bind.translation *= scale;
            joint.translation.values.iter_mut().for_each(|v| *v *= scale);
        }
    }
}

/// Rotation a part of the way along the shorter great arc, with the sines of `libm`.
fn slerp(a: Quat, b: Quat, part: f32) -> Quat {
    let (b, cos) = if a.dot(b) < 0.0 { (-b, -a.dot(b)) } else { (b, a.dot(b)) };
    if cos > 0.9995 {
        return (a * (1.0 - part) + b * part).normalize();
    }
    let angle = libm::acosf(cos);
    let (from, to) = (libm::sinf((1.0 - part) * angle), libm::sinf(part * angle));
    ((a * from + b * to) / libm::sinf(angle)).normalize()
}
