//! Attachment: a vertex held to a point, which may move.
//!
//! C = |p − a|. With zero compliance, the only case the engine makes of it, the vertex has infinite mass (w = 0)
//! and is put on its point at the start of every substep, before anything is solved: it is exactly there at the
//! end, without lag. The functions below are the soft form, for methods that pull rather than hold.

use glam::{DMat3, DVec3};

use super::{Energy, distance};
use crate::lanes::{Lane, V3};

/// C (m) and its gradient for the point `target` (m).
#[inline(always)]
pub fn value_grad<L: Lane>(p: V3<L>, target: V3<L>) -> (L, V3<L>) {
    let (c, [grad, _]) = distance::value_grad(&[p, target], p.x.like(0.0));
    (c, grad)
}

/// ½ k |p − a|² for stiffness `k` (N/m).
pub fn energy(x: &[DVec3; 1], target: DVec3, k: f64) -> Energy<1> {
    let d = x[0] - target;
    Energy { value: 0.5 * k * d.length_squared(), gradient: [d * k], hessian: [[DMat3::IDENTITY * k]] }
}

#[cfg(test)]
mod tests {
    use super::super::finite_difference::{check_energy, check_gradient};
    use super::*;

    #[test]
    fn derivatives_agree_with_finite_differences() {
        let target = DVec3::new(0.2, -0.1, 0.3);
        let lane = V3 { x: target.x, y: target.y, z: target.z };
        check_gradient([DVec3::new(1.0, 0.5, 0.2)], |p| {
            let (c, grad) = value_grad(p[0], lane);
            (c, [grad])
        });
        check_energy([DVec3::new(1.0, 0.5, 0.2)], |x| energy(x, target, 3.0));
    }
}
