//! Wind: how a scene describes it, and how fast the air is where and when.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::noise::{Noise, Series, Volume};
use crate::error::BuildError;

/// Moving air. Without it there is no air at all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Wind {
    /// How it blows.
    pub kind: WindKind,
    /// Its mean speed (the greatest, of a pendulum), m/s. With 0 the air is still and only drags.
    pub speed: f32,
    /// Where it blows to; the length does not matter.
    pub direction: [f32; 3],
    /// How much gusts and eddies add or take at most, as a part of the speed.
    pub gust: f32,
    /// How far the direction of gusts and of a pendulum wanders at most, degrees.
    pub spread: f32,
    /// Time from gust to gust, or of a swing to and fro, s.
    pub period: f32,
    /// Size of the eddies of `noise`, m.
    pub length: f32,
    /// Another seed is another wind of the same kind.
    pub seed: u32,
    /// Drag coefficient. A flat plate square to the wind has 1.2.
    pub drag: f32,
    /// Lift coefficient.
    pub lift: f32,
    /// Density of the air, kg/m³.
    pub density: f32,
    /// When it begins to blow, s; before, the air is still.
    pub from: f32,
    /// When it ceases, s.
    pub until: Option<f32>,
}

impl Default for Wind {
    fn default() -> Self {
        Wind {
            kind: WindKind::Steady,
            speed: 5.0,
            direction: [1.0, 0.0, 0.0],
            gust: 0.5,
            spread: 15.0,
            period: 2.0,
            length: 1.0,
            seed: 0,
            drag: 1.2,
            lift: 1.2,
            density: 1.225,
            from: 0.0,
            until: None,
        }
    }
}

/// How wind blows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum WindKind {
    /// Always the same, everywhere.
    Steady,
    /// Stronger and weaker, and from changing directions, everywhere the same.
    Gusts,
    /// To and fro, everywhere the same.
    Pendulum,
    /// With eddies that it carries along.
    Noise,
}

/// Beyond these a scene is surely wrong: faster than anything in the air, heavier than mercury.
const FASTEST: f32 = 1e4;
const DENSEST: f32 = 2e4;
const LARGEST_COEFFICIENT: f32 = 1e4;

impl Wind {
    /// The first field that makes no sense, and what would.
    pub fn check(&self) -> Result<(), BuildError> {
        let bad = |name: &str, problem: String| Err(BuildError::field(format!("wind.{name}"), problem));
        let within = [
            ("speed", self.speed, FASTEST, "m/s"),
            ("gust", self.gust, 100.0, "times the speed"),
            ("spread", self.spread, 89.0, "degrees"),
            ("drag", self.drag, LARGEST_COEFFICIENT, "(a flat plate has 1.2)"),
            ("lift", self.lift, LARGEST_COEFFICIENT, "(about as much as drag)"),
            ("density", self.density, DENSEST, "kg/m³ (air has 1.225)"),
            ("from", self.from, f32::MAX, "s"),
        ];
        for (name, value, most, unit) in within {
            if !(0.0..=most).contains(&value) {
                let most = if most < f32::MAX {
                    format!("from 0 to {most} {unit}")
                } else {
                    format!("0 {unit} or more")
                };
                return bad(name, format!("is {value}; must be {most}"));
            }
        }
        let direction = Vec3::from(self.direction);
        if !(direction.is_finite() && direction.length() > 0.0) {
            return bad("direction", "must be three finite numbers, not all 0".into());
        }
        for (name, value, unit) in [("period", self.period, "s"), ("length", self.length, "m")] {
            if !(value > 0.0 && value.is_finite()) {
                return bad(name, format!("is {value}; must be above 0 {unit}"));
            }
        }
        match self.until {
            Some(until) if until.is_nan() || until <= self.from => {
                bad("until", format!("is {until}; must be after 'from', which is {} s", self.from))
            }
            _ => Ok(()),
        }
    }
}

/// The velocity of the air. A function of place and time alone: it has no state, so it can be asked in any order.
///
/// Gusts follow Zhou et al., *GPU-accelerated cloth animation based on module division*, 2016:
///
/// ```text
///   |V| = v₀ + a sin(ω t + φ₀) + λ d(t)      (20)
///   V   = W(t) |V|                           (22)
/// ```
///
/// d is a smooth noise of time and W a direction; four such noises are tabulated when the wind is built and read by time. We
/// take a = λ = ½ gust v₀ and ω = 2π/period, and let W wander about the mean direction by at most `spread`.
///
/// The pendulum of Zheng, Wang, Li swings: V = W(t) v₀ sin(ω t) (1 + gust d(t)).
///
/// The eddies of `noise` are a vector noise N over space, tabulated too, which the mean wind carries along as it is
/// (Taylor's hypothesis): V = v₀ W + gust v₀ N((p − v₀ W t)/length).
#[derive(Clone, Debug)]
pub struct Flow {
    wind: Wind,
    /// The mean direction and two across it.
    axes: [Vec3; 3],
    /// φ₀, rad.
    phase: f64,
    series: Option<Series>,
    volume: Option<Volume>,
}

/// The flow at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// What is the same everywhere, m/s.
    pub mean: Vec3,
    /// The eddies.
    pub eddies: Option<Eddies<'a>>,
}

/// The eddies at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Eddies<'a> {
    volume: &'a Volume,
    /// Cells in a metre.
    scale: f32,
    /// How far the wind has carried them, in cells.
    carried: Vec3,
    strength: f32,
}

impl Eddies<'_> {
    /// What they add to the mean at a point (m), m/s.
    #[inline]
    pub fn at(&self, p: Vec3) -> Vec3 {
        self.volume.at(across_the_grain(p * self.scale) - self.carried) * self.strength
    }
}

/// Turns space against the lattice of the noise: carried along one of its axes, eddies would come back soon.
#[inline]
fn across_the_grain(p: Vec3) -> Vec3 {
    // The rotation by 1 rad about (1, 2, 3).
    const ROWS: [[f32; 3]; 3] = [
        [0.573_137_86, -0.609_006_64, 0.548_291_8],
        [0.740_348_84, 0.671_644_5, -0.027_879_283],
        [-0.351_278_5, 0.421_905_88, 0.835_822_25],
    ];
    let [x, y, z] = ROWS.map(|[a, b, c]| a * p.x + b * p.y + c * p.z);
    Vec3::new(x, y, z)
}

impl Flow {
    /// Makes the tables that `wind` needs.
    pub fn new(wind: &Wind) -> Self {
        let along = Vec3::from(wind.direction).normalize();
        // Not glam's choice, which may change: the axis that is least along the wind gives the first across it.
        let least = along.abs().min_position();
        let across = along.cross(Vec3::AXES[least]).normalize();
        let noise = Noise::new(wind.seed);
        let uses_time = matches!(wind.kind, WindKind::Gusts | WindKind::Pendulum);
        Flow {
            axes: [along, across, along.cross(across)],
            phase: std::f64::consts::TAU * (noise.at([0.5, 0.5, 0.5], super::noise::PERIOD) + 1.0),
            series: uses_time.then(|| Series::new(&noise)),
            volume: (wind.kind == WindKind::Noise).then(|| Volume::new(&noise)),
            wind: wind.clone(),
        }
    }

    /// The flow at time `t` (s).
    pub fn at(&self, t: f64) -> Moment<'_> {
        let Wind { kind, speed, gust, spread, period, length, from, until, .. } = self.wind;
        if t < from as f64 || until.is_some_and(|end| t >= end as f64) {
            return Moment { mean: Vec3::ZERO, eddies: None };
        }
        let [along, side, up] = self.axes;
        let turns = t / period as f64;
        // Noise has a hill or a dale in every cell.
        let noise = self.series.as_ref().map_or([0.0; 4], |series| series.at(2.0 * turns));
        let sine = |phase: f64| libm::sin(std::f64::consts::TAU * turns + phase) as f32;
        let now = match kind {
            WindKind::Steady | WindKind::Noise => speed,
            WindKind::Gusts => (speed * (1.0 + 0.5 * gust * (sine(self.phase) + noise[3]))).max(0.0),
            WindKind::Pendulum => speed * sine(0.0) * (1.0 + gust * noise[3]),
        };
        let reach = libm::tanf(spread.to_radians()) * std::f32::consts::FRAC_1_SQRT_2;
        let direction = (along + (side * noise[0] + up * noise[1]) * reach).normalize();
        let eddies = self.volume.as_ref().map(|volume| {
            let way = speed as f64 * t / length as f64;
            // Whole periods are left out, so that single precision is enough at any time.
            let carried = across_the_grain(along).to_array().map(|c| {
                let cells = c as f64 * way;
                (cells - Volume::PERIOD * libm::floor(cells / Volume::PERIOD)) as f32
            });
            Eddies { volume, scale: 1.0 / length, carried: carried.into(), strength: gust * speed }
        });
        Moment { mean: direction * now, eddies }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wind(kind: WindKind) -> Wind {
        Wind { kind, speed: 4.0, direction: [0.0, 0.0, -2.0], ..Wind::default() }
    }

    fn times() -> impl Iterator<Item = f64> {
        (0..5000).map(|i| i as f64 * 0.0123)
    }

    #[test]
    fn steady_wind_blows_in_its_direction_while_it_blows() {
        let flow = Flow::new(&Wind { from: 1.0, until: Some(2.0), ..wind(WindKind::Steady) });
        for (t, speed) in [(0.0, 0.0), (0.999, 0.0), (1.0, 4.0), (1.5, 4.0), (2.0, 0.0)] {
            assert_eq!(flow.at(t).mean, Vec3::new(0.0, 0.0, -speed), "at {t} s");
        }
    }

    #[test]
    fn gusts_stay_within_their_bounds_and_use_them() {
        let flow = Flow::new(&Wind { gust: 0.8, spread: 20.0, seed: 4, ..wind(WindKind::Gusts) });
        let (mut low, mut high, mut turned) = (f32::MAX, 0.0f32, 0.0f32);
        let mut mean = Vec3::ZERO;
        for t in times() {
            let v = flow.at(t).mean;
            (low, high) = (low.min(v.length()), high.max(v.length()));
            turned = turned.max(v.angle_between(-Vec3::Z).to_degrees());
            mean += v / 5000.0;
            assert!((flow.at(t + 1e-4).mean - v).length() < 0.01, "no jump at {t} s");
        }
        assert!((0.8..2.0).contains(&low) && (5.5..7.2001).contains(&high), "{low} to {high} m/s");
        assert!((10.0..20.01).contains(&turned), "{turned}°");
        assert!((mean.z / -4.0 - 1.0).abs() < 0.1, "{mean}");
        assert_eq!(flow.at(7.0).mean, flow.clone().at(7.0).mean);
        let other = Flow::new(&Wind { gust: 0.8, spread: 20.0, seed: 5, ..wind(WindKind::Gusts) });
        assert!((flow.at(7.0).mean - other.at(7.0).mean).length() > 0.05);
    }

    #[test]
    fn a_pendulum_swings_to_and_fro() {
        let flow = Flow::new(&Wind { gust: 0.0, spread: 0.0, period: 3.0, ..wind(WindKind::Pendulum) });
        for (turn, speed) in [(0.0, 0.0), (0.25, 4.0), (0.5, 0.0), (0.75, -4.0), (1.25, 4.0)] {
            let v = flow.at(3.0 * turn).mean;
            assert!((v - Vec3::new(0.0, 0.0, -speed)).length() < 1e-5, "after {turn} turns: {v}");
        }
    }

    #[test]
    fn eddies_are_carried_by_the_wind() {
        let flow = Flow::new(&Wind { gust: 0.5, length: 0.7, ..wind(WindKind::Noise) });
        let at = |p: Vec3, t: f64| {
            let moment = flow.at(t);
            moment.mean + moment.eddies.unwrap().at(p)
        };
        let mut spread = 0.0f32;
        for i in 0..500 {
            let p = Vec3::new(0.11, 0.05, 0.17) * i as f32;
            let (t, later) = (0.3, 5.55);
            let moved = p + Vec3::new(0.0, 0.0, -4.0) * (later - t) as f32;
            assert!((at(p, t) - at(moved, later)).length() < 1e-3, "{p}");
            let eddy = at(p, t) - Vec3::new(0.0, 0.0, -4.0);
            assert!(eddy.abs().max_element() <= 2.0, "{eddy}");
            spread = spread.max(eddy.length());
        }
        assert!(spread > 1.0, "{spread} m/s");
    }

    #[test]
    fn space_is_turned_and_not_stretched() {
        let p = Vec3::new(0.3, -1.2, 2.0);
        let turned = across_the_grain(p);
        let exact = glam::Quat::from_axis_angle(Vec3::new(1.0, 2.0, 3.0).normalize(), 1.0) * p;
        assert!((turned - exact).length() < 1e-6, "{turned} is not {exact}");
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let ok = Wind::default();
        assert!(ok.check().is_ok());
        let cases = [
            ("wind.speed", Wind { speed: -1.0, ..ok.clone() }),
            ("wind.speed", Wind { speed: f32::NAN, ..ok.clone() }),
            ("wind.direction", Wind { direction: [0.0; 3], ..ok.clone() }),
            ("wind.direction", Wind { direction: [f32::INFINITY, 0.0, 0.0], ..ok.clone() }),
            ("wind.gust", Wind { gust: -0.1, ..ok.clone() }),
            ("wind.spread", Wind { spread: 90.0, ..ok.clone() }),
            ("wind.period", Wind { period: 0.0, ..ok.clone() }),
            ("wind.length", Wind { length: -1.0, ..ok.clone() }),
            ("wind.drag", Wind { drag: -1.0, ..ok.clone() }),
            ("wind.lift", Wind { lift: f32::INFINITY, ..ok.clone() }),
            ("wind.density", Wind { density: -1.0, ..ok.clone() }),
            ("wind.from", Wind { from: -1.0, ..ok.clone() }),
            ("wind.until", Wind { from: 2.0, until: Some(2.0), ..ok.clone() }),
        ];
        for (field, wind) in cases {
            match wind.check() {
                Err(BuildError::Field { field: named, problem }) => {
                    assert!(named == field && problem.contains("must be"), "{named}: {problem}");
                }
                other => panic!("{field}: {other:?}"),
            }
        }
    }
}
