//! Scripted motion of pins and colliders.

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

/// How something moves. Every part that is given is added to the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Motion {
    /// Straight from point to point.
    pub path: Option<Path>,
    /// Round a circle.
    pub circle: Option<Circle>,
    /// To and fro.
    pub oscillate: Option<Oscillate>,
    /// Turning about its own origin (colliders only).
    pub spin: Option<Spin>,
    /// Constant acceleration from rest.
    pub accelerate: Option<Accelerate>,
}

/// Straight motion from point to point, given as offsets from the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// `[time in s, x, y, z in m]`, times increasing; the last offset is kept after the end.
    pub points: Vec<[f32; 4]>,
    /// Starts again from the first point after the last.
    #[serde(default)]
    pub repeat: bool,
}

/// Motion round an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Circle {
    /// The centre, m.
    pub center: [f32; 3],
    /// Direction of the axis.
    #[serde(default = "up")]
    pub axis: [f32; 3],
    /// Angular speed, rad/s.
    pub speed: f32,
    /// When it ends, s.
    #[serde(default)]
    pub until: Option<f32>,
}

/// direction · (wave(rate · t) − wave(0)) with wave = sin or cos.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Oscillate {
    /// Direction and amplitude, m.
    pub direction: [f32; 3],
    /// Angular rate, rad/s.
    pub rate: f32,
    /// `sin` (default) or `cos`.
    #[serde(default)]
    pub wave: Wave,
}

/// The shape of an oscillation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Wave {
    /// Starts in the middle.
    #[default]
    Sin,
    /// Starts at one end.
    Cos,
}

/// Turning about the own origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Spin {
    /// Direction of the axis.
    #[serde(default = "up")]
    pub axis: [f32; 3],
    /// Angular speed, degrees/s.
    pub speed: f32,
    /// Turns the other way after every so many seconds.
    #[serde(default)]
    pub reverse_every: Option<f32>,
}

/// Constant acceleration from rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Accelerate {
    /// Acceleration, m/s².
    pub by: [f32; 3],
}

fn up() -> [f32; 3] {
    [0.0, 1.0, 0.0]
}

impl Motion {
    /// Whether nothing moves.
    pub fn is_still(&self) -> bool {
        *self == Motion::default()
    }

    /// Where a point that starts at `start` is at time `t` (s).
    pub fn point(&self, start: Vec3, t: f64) -> Vec3 {
        let mut offset = Vec3::ZERO;
        if let Some(path) = &self.path {
            offset += path.at(t);
        }
        if let Some(circle) = &self.circle {
            let center = Vec3::from(circle.center);
            let angle = circle.speed as f64 * circle.until.map_or(t, |end| t.min(end as f64));
            offset += turn_about(circle.axis, angle) * (start - center) + center - start;
        }
        if let Some(o) = &self.oscillate {
            let phase = o.rate as f64 * t;
            let wave = match o.wave {
                Wave::Sin => libm::sin(phase),
                Wave::Cos => libm::cos(phase) - 1.0,
            };
            offset += Vec3::from(o.direction) * wave as f32;
        }
        if let Some(a) = &self.accelerate {
            offset += Vec3::from(a.by) * (0.5 * t * t) as f32;
        }
        start + offset
    }

    /// How far something has turned about its own origin at time `t` (s).
    pub fn turn(&self, t: f64) -> Quat {
        let Some(spin) = &self.spin else { return Quat::IDENTITY };
        let t = match spin.reverse_every {
            Some(period) if period > 0.0 => {
                let (period, phase) = (period as f64, t % (2.0 * period as f64));
                if phase < period { phase } else { 2.0 * period - phase }
            }
            _ => t,
        };
        turn_about(spin.axis, (spin.speed as f64).to_radians() * t)
    }

    /// What is wrong with it, if anything: the field and the reason.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        if let Some(path) = &self.path {
            if path.points.is_empty() {
                return Some(("path.points", "needs at least one point".into()));
            }
            if path.points.windows(2).any(|p| p[1][0] <= p[0][0]) || path.points[0][0] < 0.0 {
                return Some(("path.points", "times must begin at 0 or later and increase".into()));
            }
        }
        let axes = [
            ("circle.axis", self.circle.as_ref().map(|c| c.axis)),
            ("spin.axis", self.spin.as_ref().map(|s| s.axis)),
        ];
        for (field, axis) in axes {
            if axis.is_some_and(|a| Vec3::from(a).length() < 1e-6) {
                return Some((field, "must not be zero".into()));
            }
        }
        None
    }
}

impl Path {
    fn at(&self, t: f64) -> Vec3 {
        let (first, last) = (self.points[0], self.points[self.points.len() - 1]);
        let mut t = t as f32;
        if self.repeat && last[0] > first[0] && t > last[0] {
            t = first[0] + (t - first[0]) % (last[0] - first[0]);
        }
        let offset = |p: [f32; 4]| Vec3::new(p[1], p[2], p[3]);
        let after = self.points.iter().position(|p| p[0] > t);
        match after {
            Some(0) => offset(first),
            None => offset(last),
            Some(i) => {
                let (a, b) = (self.points[i - 1], self.points[i]);
                offset(a).lerp(offset(b), (t - a[0]) / (b[0] - a[0]))
            }
        }
    }
}

/// A rotation by `angle` (rad) about `axis`. Sine and cosine come from `libm`, so that they are the same everywhere.
pub fn turn_about(axis: [f32; 3], angle: f64) -> Quat {
    let axis = Vec3::from(axis).normalize_or(Vec3::Y) * libm::sin(0.5 * angle) as f32;
    Quat::from_xyzw(axis.x, axis.y, axis.z, libm::cos(0.5 * angle) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_added_and_begin_at_the_start() {
        let start = Vec3::new(1.0, 0.0, 0.0);
        let motion = Motion {
            circle: Some(Circle { center: [0.0; 3], axis: up(), speed: 2.0, until: None }),
            oscillate: Some(Oscillate { direction: [0.0, 0.0, -1.0], rate: 2.0, wave: Wave::Cos }),
            path: Some(Path { points: vec![[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 3.0, 0.0]], repeat: false }),
            ..Motion::default()
        };
        assert!((motion.point(start, 0.0) - start).length() < 1e-6);
        let t = std::f64::consts::FRAC_PI_4;
        let expected = Vec3::new(0.0, 3.0 * t as f32, -1.0 + 1.0);
        assert!((motion.point(start, t) - expected).length() < 1e-5, "{}", motion.point(start, t));
        assert!((motion.point(start, 9.0).y - 3.0).abs() < 1e-6);
    }

    #[test]
    fn a_spin_can_turn_back() {
        let spin = Spin { axis: up(), speed: 90.0, reverse_every: Some(1.0) };
        let motion = Motion { spin: Some(spin), ..Motion::default() };
        assert!(motion.turn(2.0).angle_between(Quat::IDENTITY) < 1e-3);
        assert!((motion.turn(1.5).angle_between(Quat::IDENTITY).to_degrees() - 45.0).abs() < 0.1);
    }
}
