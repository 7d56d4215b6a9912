//! Sweeps of short kernels in three stages.
//!
//! A projection of a spring is a chain of some sixty cycles from its loads to its stores. The instructions that wait in it
//! fill the scheduler of a processor (64 of vectors in Zen 4; a projection has a hundred) before it comes to the next
//! operation, and half of the time nothing is computed. So three operations are under way at a time: while one is
//! finished and stored, the next begins and the one after it is loaded, and no stage waits for what was issued a moment ago.

use fearless_simd::{f32x8, prelude::*};

use super::pass::{Mode, Part};
use super::{F8, Kernel, Layout, Transpose};
use crate::lanes::{Point, V3};
use crate::par::Shared;

/// Projects the operations of one share, for a kernel that is [`SPLIT`](Kernel::SPLIT), with instructions that are
/// [`ROOMY`](Transpose::ROOMY).
///
/// # Safety
/// No other thread touches the cells of the operations, which are in bounds; no two operations share any, so that they may be
/// loaded before others are stored.
#[inline(always)]
pub(super) unsafe fn staged<S, O, K, M, const N: usize, const P: usize, const R: usize>(
    simd: S,
    part: &mut Part<'_, O, N, P, R>,
    kernel: K,
    _: M,
) where
    S: Transpose,
    O: Layout<N>,
    K: Kernel<N, P, R>,
    M: Mode,
{
    let (ops, set, state, params) = (part.ops, part.set, part.state, part.params);
    // Beyond the last operation, it is loaded and begun again for nothing.
    let Some(last) = ops.len().checked_sub(1) else { return part.end() };
    let [first, second] = [part.after(0), part.after(1.min(last))];
    // SAFETY: passed on.
    let (mut points, mut next) = unsafe { (load(simd, &ops[first], state), load(simd, &ops[second], state)) };
    let mut begun = kernel.begin(&points, &values(simd, params, set[first]));
    for done in 0..ops.len() {
        let i = part.next(done);
        let mut multipliers = [f32x8::splat(simd, 0.0); R];
        if M::READ {
            for r in 0..R {
                multipliers[r] = f32x8::simd_from(simd, part.lambda[i][r].0);
            }
        }
        let old = multipliers;
        let now = values(simd, params, set[i]);
        let mut moves = if M::READ || M::WRITE {
            kernel.finish::<_, false>(&points, &now, begun, &mut multipliers)
        } else {
            kernel.finish::<_, true>(&points, &now, begun, &mut multipliers)
        };
        begun = kernel.begin(&next, &values(simd, params, set[part.after((done + 1).min(last))]));
        for n in 0..N {
            let p = if M::JACOBI { moves[n] } else { points[n].p + moves[n] };
            moves[n] = V3 { x: simd.settle(p.x), y: simd.settle(p.y), z: simd.settle(p.z) };
        }
        begun = [simd.settle(begun[0]), simd.settle(begun[1])];

        // SAFETY: passed on.
        let after = unsafe { load(simd, &ops[part.after((done + 2).min(last))], state) };
        // SAFETY: passed on.
        unsafe {
            if M::JACOBI {
                ops[i].add(part.target, &moves);
            } else {
                (0..N).for_each(|n| points[n].p = moves[n]);
                ops[i].store(state, &points);
            }
        }
        if M::WRITE && M::MOMENTUM {
            part.blend.remember::<_, R, M>(simd, old, multipliers, &mut part.lambda[i], &mut part.before[i]);
        } else if M::WRITE {
            for r in 0..R {
                part.lambda[i][r].0 = multipliers[r].into();
            }
        }
        (points, next) = (next, after);
    }
    part.end();
}

/// The points of an operation, loaded here and not where they are needed.
///
/// # Safety
/// As for [`Layout::load`].
#[inline(always)]
unsafe fn load<S: Transpose, O: Layout<N>, const N: usize>(
    simd: S,
    op: &O,
    state: &Shared<'_, O::Item>,
) -> [Point<f32x8<S>>; N] {
    // SAFETY: passed on.
    let mut points = unsafe { op.load(simd, state) };
    for n in 0..N {
        let Point { p, w } = &mut points[n];
        (p.x, p.y, p.z, *w) = (simd.settle(p.x), simd.settle(p.y), simd.settle(p.z), simd.settle(*w));
    }
    points
}

/// The parameters of an operation, by its entry of `Sweep::set`.
#[inline(always)]
pub(super) fn values<S: Transpose, const P: usize>(simd: S, params: &[[F8; P]], set: u32) -> [f32x8<S>; P] {
    // SAFETY: `Sweep::push_color` made every entry of `set` an index of `params`.
    let params = unsafe { params.get_unchecked(set as usize) };
    let mut values = [f32x8::splat(simd, 0.0); P];
    for i in 0..P {
        values[i] = f32x8::simd_from(simd, params[i].0);
    }
    values
}

#[cfg(test)]
mod tests {
    use crate::color::{PADDING, Row, gathered_sweep};
    use crate::constraint::distance;
    use crate::lanes::SimdLevel;
    use crate::par::Team;
    use crate::wide::{Keep, Particle};

    /// With no, one, two or more operations in a share: all of them are solved, and each once.
    #[test]
    fn few_operations_give_the_bits_of_one_spring_at_a_time() {
        for springs in (0..=41u32).chain([96, 97]) {
            let rows: Vec<_> = (0..springs)
                .map(|k| Row { particles: [2 * k, 2 * k + 1], params: [1e-4, 0.9 + 0.01 * k as f32] })
                .collect();
            let particles = 2 * springs as usize;
            let start: Vec<_> = (0..particles + PADDING)
                .map(|i| Particle { p: [i as f32, (0.3 * i as f32).sin(), 0.1], w: 1.0 + (i % 3) as f32 })
                .collect();
            let run = |level, threads| {
                let mut sweep = gathered_sweep::<2, 2, 1>(&rows, &vec![0; rows.len()], particles);
                let (mut x, mut team) = (start.clone(), Team::new(threads));
                for k in 0..3 {
                    let kernel = distance::Project { inv_h2: 1e4 };
                    sweep.run(&mut team, level, &mut x, kernel, Keep::within(k, 3, false));
                }
                sweep.run(&mut team, level, &mut x, distance::Project { inv_h2: 1e4 }, Keep::NOTHING);
                let bits: Vec<_> = x[..particles].iter().map(|p| p.to_array().map(f32::to_bits)).collect();
                let multipliers =
                    sweep.places().flat_map(|place| sweep.multipliers()[place][0].0.map(f32::to_bits));
                (bits, multipliers.collect::<Vec<_>>())
            };
            let expected = run(SimdLevel::Scalar, 1);
            for level in SimdLevel::all() {
                for threads in [1, 2] {
                    assert!(run(level, threads) == expected, "{springs} springs, {}", level.name());
                }
            }
        }
    }

    /// Multipliers that are kept belong to their springs, however many threads there are from one pass to the next.
    #[test]
    fn multipliers_go_along_when_the_team_changes() {
        let springs = 400;
        let rows: Vec<_> = (0..springs)
            .map(|k| Row { particles: [2 * k, 2 * k + 1], params: [1e-4, 0.5 + 0.01 * k as f32] })
            .collect();
        let particles = 2 * springs as usize;
        let run = |teams: [usize; 5]| {
            let mut sweep = gathered_sweep::<2, 2, 1>(&rows, &vec![0; rows.len()], particles);
            let mut x: Vec<_> =
                (0..particles + PADDING).map(|i| Particle { p: [i as f32, 0.0, 0.0], w: 1.0 }).collect();
            for threads in teams {
                let kernel = distance::Project { inv_h2: 1e4 };
                sweep.run(&mut Team::new(threads), SimdLevel::best(), &mut x, kernel, Keep::ALL);
            }
            x[..particles].iter().map(|x| x.p[0].to_bits()).collect::<Vec<_>>()
        };
        let expected = run([1; 5]);
        assert!(run([1, 2, 3, 2, 1]) == expected);
        assert!(run([3, 1, 2, 1, 3]) == expected);
    }
}
