//! Strain limit: a spring that is stretched beyond a threshold is shortened to it, after integration.
//!
//! C = max(0, |p₁ − p₂| − (1 + ε) d), rigid; with equal masses each end moves half of the way, and a held end not at
//! all.
//!
//! Provot, *Deformation constraints in a mass–spring model to describe rigid cloth behavior*, 1995; the threshold ε is 10 %
//! there.

use super::distance;
use crate::lanes::{Lane, Point, V3};
use crate::wide::Kernel;

/// C (m, zero within the limit) and its gradient, for the greatest length allowed (m).
#[inline(always)]
pub fn value_grad<L: Lane>(p: &[V3<L>; 2], limit: L) -> (L, [V3<L>; 2]) {
    let (c, [g0, g1]) = distance::value_grad(p, limit);
    let zero = limit.like(0.0);
    let on = zero.select_lt(c, limit.like(1.0), zero);
    (c * on, [g0 * on, g1 * on])
}

/// Shortens springs that are too long. Parameters: 0 (infinite for an idle lane) and the greatest length, m.
#[derive(Clone, Copy, Debug)]
pub struct Project;

impl Kernel<2, 2, 1> for Project {
    const KEEPS: bool = false;

    #[inline(always)]
    fn correct<L: Lane, const FIRST: bool>(
        &self,
        &[a, b]: &[Point<L>; 2],
        &[compliance, limit]: &[L; 2],
        _: &mut [L; 1],
    ) -> [V3<L>; 2] {
        let d = a.p - b.p;
        let length = (d.length_squared() + limit.like(1e-30)).sqrt();
        let excess = (length - limit).max(limit.like(0.0));
        let step = excess / ((a.w + b.w + compliance + limit.like(f32::MIN_POSITIVE)) * length);
        [d * -(step * a.w), d * (step * b.w)]
    }

    fn residual(&self, points: &[Point<f32>; 2], params: &[f32; 2], _: &[f32; 1]) -> f64 {
        let (c, _) = value_grad(&[points[0].p, points[1].p], params[1]);
        c as f64 * c as f64
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::super::finite_difference::check_gradient;
    use super::super::testing::check_projection;
    use super::*;

    const X: [DVec3; 2] = [DVec3::new(0.1, 0.2, -0.3), DVec3::new(0.5, -0.2, 0.4)];

    #[test]
    fn derivatives_agree_with_finite_differences() {
        for limit in [0.5, 1.2] {
            check_gradient(X, |p| value_grad(p, limit));
        }
    }

    #[test]
    fn what_is_too_long_is_shortened_and_the_rest_left_alone() {
        let length = (X[0] - X[1]).length();
        let after = check_projection::<_, 2, 2, 1>(Project, X, [0.0, 0.6]);
        assert!(((after[0] - after[1]).length() - 0.6).abs() < 1e-6);
        let after = check_projection::<_, 2, 2, 1>(Project, X, [0.0, length + 0.01]);
        assert_eq!(after, X);
    }
}
