//! What moving air does to one triangle: drag and lift.
//!
//! ```text
//!        n                     u   velocity of the air relative to the triangle, wind − v, m/s
//!        |  /  u               n   its unit normal,  uₙ = n·u,  uₜ = u − uₙ n
//!        | /                   A, m  area now, mass
//!   _____|/_α____  triangle    α   angle between u and the plane,  sin α = |uₙ|/|u|
//!
//!   drag   F = ½ ρ C_d |u|² A sin α          along u      (A sin α is the area that the wind sees)
//!   lift   F = ½ ρ C_l |u|² A sin α cos α    across u, in the plane of u and n
//! ```
//!
//! Air along the plane does nothing, and lift vanishes for a plate square to the wind. Drag on the projected area is that of
//! Zhou et al., *GPU-accelerated cloth animation based on module division*, 2016, (23)–(25), with C = C_d/2; facing the
//! wind at rest it is F = ½ Ĉ ρ v² S of Zheng, Wang, Li, *Cloth simulation based on grid-hierarchical dynamic simulation
//! method*, 2018, (16), with Ĉ = C_d.
//!
//! # A step that cannot overshoot
//!
//! Written as m dv/dt = F, drag on a light cloth in a strong wind is stiff: an explicit step makes u turn round and
//! grow. But each of the two forces can be integrated exactly while α and n stand still. With c = ½ ρ C A/m:
//!
//! ```text
//!   drag   d|u|/dt = −c_d sin α |u|²                 |u| ← |u| / (1 + c_d h |uₙ|)
//!   lift   dα/dt   = −c_l |u| sin α cos α            tan α ← tan α · exp(−c_l h |u|)      at constant |u|
//! ```
//!
//! Drag never turns u round, and lift, which does no work in the frame of the air, turns u towards the plane but never
//! through it. The exponential is taken as 1/(1 + c_l h |u|), which agrees to first order and needs no table.
//! So |u| never grows, whatever h, ρ, C and the wind. For small h both are the forces above.
//!
//! Nor does the kinetic energy of a whole cloth, seen from a uniform wind, grow: vertex i gets the mean of its
//! triangles' changes δ weighted by mass, and by convexity Σ mᵢ |vᵢ'|² − Σ mᵢ |vᵢ|² ≤ Σ mₜ (|uₜ − δₜ|² − |uₜ|²) ≤ 0, velocities
//! being relative to the wind and uₜ made of the mean velocity of the triangle's vertices.

use crate::lanes::{Lane, V3};
use crate::wide::TriangleKernel;

/// ½ h ρ C of drag and of lift: c h, before it is multiplied by area over mass.
#[derive(Clone, Copy, Debug)]
pub struct Push {
    /// Of drag, kg·s/m³.
    pub drag: f32,
    /// Of lift, kg·s/m³.
    pub lift: f32,
}

impl Push {
    /// How the velocity of a triangle changes, m/s: `edges` are two of its edges (m), `u` is the relative wind (m/s) and `mass` its
    /// mass (kg).
    #[inline(always)]
    pub fn change<L: Lane>(&self, edges: [V3<L>; 2], u: V3<L>, mass: L) -> V3<L> {
        let [one, tiny] = [mass.like(1.0), mass.like(f32::MIN_POSITIVE)];
        let cross = edges[0].cross(edges[1]);
        let twice_area = cross.length_squared().sqrt();
        // A triangle without area has no normal and feels nothing.
        let n = cross * (one / twice_area.max(tiny));
        let per_mass = mass.like(0.5) * twice_area / mass;
        let un = n.dot(u);
        let ut = u - n * un;
        let speed = u.length_squared().sqrt();
        let turned = un / (one + per_mass * mass.like(self.lift) * speed);
        let kept = (turned * turned + ut.length_squared()).sqrt().max(tiny);
        let slowed = one + per_mass * mass.like(self.drag) * un.abs();
        u - (ut + n * turned) * (speed / (kept * slowed))
    }
}

/// A third of the impulse on the triangle, N·s: what each of its vertices gets. The figure is its mass, kg.
impl TriangleKernel for Push {
    #[inline(always)]
    fn apply<L: Lane>(&self, edges: [V3<L>; 2], relative: V3<L>, mass: L) -> V3<L> {
        self.change(edges, relative, mass) * (mass * mass.like(1.0 / 3.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    const AREA: f32 = 0.5;

    fn lane(v: Vec3) -> V3<f32> {
        V3 { x: v.x, y: v.y, z: v.z }
    }

    /// The change for a triangle of 0.5 m² and 0.1 kg with normal n.
    fn change(push: Push, n: Vec3, u: Vec3) -> Vec3 {
        let n = n.normalize();
        let along = n.any_orthonormal_vector();
        let edges = [along, n.cross(along)].map(lane);
        let c = push.change(edges, lane(u), 0.1);
        Vec3::new(c.x, c.y, c.z)
    }

    /// The forces as the equations at the top have them, N.
    fn force(drag: f32, lift: f32, n: Vec3, u: Vec3) -> Vec3 {
        let n = n.normalize() * n.dot(u).signum();
        let (flow, pressure) = (u.normalize(), 0.5 * 1.225 * u.length_squared() * AREA);
        let (sin, across) = (n.dot(flow), n - flow * n.dot(flow));
        // |across| is cos α already.
        flow * (pressure * drag * sin) + across * (pressure * lift * sin)
    }

    fn push(h: f32, drag: f32, lift: f32) -> Push {
        Push { drag: 0.5 * h * 1.225 * drag, lift: 0.5 * h * 1.225 * lift }
    }

    fn directions() -> impl Iterator<Item = (Vec3, Vec3)> {
        (1..60).map(|i| {
            let (a, b) = (0.7 * i as f32, 1.3 * i as f32);
            (Vec3::new(a.cos(), b.sin(), a.sin()), 6.0 * Vec3::new(b.cos(), (a + b).sin(), 0.4))
        })
    }

    #[test]
    fn a_short_step_is_the_force() {
        let h = 1e-4;
        for (n, u) in directions() {
            for (drag, lift) in [(1.2, 0.0), (0.0, 0.9), (0.45, 1.1)] {
                let expected = force(drag, lift, n, u);
                let got = change(push(h, drag, lift), n, u) * 0.1 / h;
                let scale = 0.5 * 1.225 * u.length_squared() * AREA;
                assert!((got - expected).length() < 0.01 * scale, "{n} {u}: {got} N is not {expected} N");
            }
        }
    }

    #[test]
    fn pendulum_wind_has_its_published_value() {
        // F = ½ Ĉ ρ v² S for a triangle that faces the wind: ½ · 0.45 · 1.225 · 4² · 0.5 = 2.205 N.
        let got = change(push(1e-5, 0.45, 1.0), Vec3::Z, 4.0 * Vec3::Z) * 0.1 / 1e-5;
        assert!((got.z / 2.205 - 1.0).abs() < 3e-3 && got.x == 0.0 && got.y == 0.0, "{got} N");
    }

    #[test]
    fn drag_is_along_the_wind_and_lift_across_it() {
        for (n, u) in directions() {
            let drag = change(push(1e-3, 1.2, 0.0), n, u);
            assert!(drag.cross(u).length() < 1e-4 * u.length() && drag.dot(u) >= 0.0, "{drag} {u}");
            let lift = change(push(1e-4, 0.0, 1.2), n, u);
            assert!(lift.dot(u).abs() < 0.05 * lift.length() * u.length() + 1e-5, "{lift} {u}");
            assert!(lift.dot(n) * u.dot(n) >= -1e-6, "lift is towards the side the wind blows to");
        }
    }

    #[test]
    fn wind_along_the_plane_and_still_air_do_nothing() {
        let silly = push(1.0, 100.0, 100.0);
        assert_eq!(change(silly, Vec3::Y, Vec3::new(3.0, 0.0, -2.0)), Vec3::ZERO);
        assert_eq!(change(silly, Vec3::Y, Vec3::ZERO), Vec3::ZERO);
        let flat = [lane(Vec3::X), lane(2.0 * Vec3::X)];
        let change = silly.change(flat, lane(Vec3::new(1.0, 5.0, 2.0)), 0.1);
        assert_eq!([change.x, change.y, change.z], [0.0; 3], "a triangle without area");
    }

    #[test]
    fn the_relative_wind_never_grows_nor_turns_round() {
        for (n, u) in directions() {
            for h in [1e-4, 1.0 / 60.0, 1.0, 100.0] {
                for (drag, lift) in [(1.0, 1.0), (0.0, 50.0), (1000.0, 0.0), (1e4, 1e4)] {
                    for scale in [1e-3, 1.0, 1e3] {
                        let u = u * scale;
                        let left = u - change(push(h, drag, lift), n, u);
                        assert!(left.length() <= 1.00001 * u.length(), "{left} after {u}");
                        let (before, after) = (n.dot(u), n.dot(left));
                        assert!(before * after >= -1e-6 * u.length_squared(), "{after} after {before}");
                    }
                }
            }
        }
    }

    #[test]
    fn drag_alone_is_the_exact_solution() {
        // Integrated in 10,000 short steps and in one long one: the same.
        let (h, u0) = (0.2, 8.0f64);
        let c = 0.5 * 1.225 * 1.2 * AREA as f64 / 0.1;
        let mut u = u0;
        for _ in 0..10_000 {
            u -= h / 10_000.0 * c * u * u;
        }
        let one = u0 as f32 - change(push(h as f32, 1.2, 0.0), Vec3::X, Vec3::X * u0 as f32).x;
        assert!((one as f64 / u - 1.0).abs() < 1e-3, "{one} against {u}");
    }
}
