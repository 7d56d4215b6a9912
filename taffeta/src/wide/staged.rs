//! Sweeps of short kernels in three stages.
//!
//! A projection of a spring is a chain of some sixty cycles from its loads to its stores, and the instructions that wait for their
//! operands fill the scheduler of a processor before it comes to the next operation: half of the time nothing is computed. So
//! three operations are under way at a time. While one is finished and stored, the next begins and the one after it is loaded,
//! and no stage waits for what was issued a moment ago.

use fearless_simd::f32x8;
use fearless_simd::prelude::*;

use super::{F8, Kernel, Layout, Part, Transpose};
use crate::lanes::Point;

/// Projects the operations of one share, for a kernel that is [`SPLIT`](Kernel::SPLIT).
///
/// # Safety
/// No other thread touches the cells of the operations, which are in bounds; no two operations share any, so they may be loaded
/// before others are stored.
#[inline(always)]
pub(super) unsafe fn staged<
    S,
    O,
    K,
    const N: usize,
    const P: usize,
    const R: usize,
    const READ: bool,
    const WRITE: bool,
>(
    simd: S,
    part: &mut Part<'_, O, N, P, R>,
    kernel: K,
) where
    S: Transpose,
    O: Layout<N>,
    K: Kernel<N, P, R>,
{
    let count = part.ops.len();
    let Some(last) = count.checked_sub(1) else { return };
    let (ops, set, lambda, params) = (part.ops, &part.set[..count], &mut part.lambda[..count], part.params);
    // Beyond the last operation it is loaded and begun again, for nothing.
    let second = 1.min(last);
    // SAFETY: passed on.
    let (mut points, mut next) = unsafe { (ops[0].load(simd, part.state), ops[second].load(simd, part.state)) };
    let mut begun = kernel.begin(&points, &values(simd, params, set[0]));
    for i in 0..count {
        let mut multipliers = [f32x8::splat(simd, 0.0); R];
        if READ {
            for r in 0..R {
                multipliers[r] = f32x8::simd_from(simd, lambda[i][r].0);
            }
        }
        let now = values(simd, params, set[i]);
        let moves = if READ || WRITE {
            kernel.finish::<_, false>(&points, &now, begun, &mut multipliers)
        } else {
            kernel.finish::<_, true>(&points, &now, begun, &mut multipliers)
        };
        for n in 0..N {
            points[n].p = points[n].p + moves[n];
            settle(simd, &mut points[n]);
        }
        begun = kernel.begin(&next, &values(simd, params, set[(i + 1).min(last)]));
        begun = [simd.settle(begun[0]), simd.settle(begun[1])];

        let mut after = next;
        let third = &ops[(i + 2).min(last)];
        if S::ROOMY {
            // SAFETY: passed on.
            after = unsafe { third.load(simd, part.state) };
            for n in 0..N {
                settle(simd, &mut after[n]);
            }
        }
        // SAFETY: passed on.
        unsafe { ops[i].store(part.state, &points) };
        if WRITE {
            for r in 0..R {
                lambda[i][r].0 = multipliers[r].into();
            }
        }
        if !S::ROOMY {
            // What was stored has left its registers free.
            // SAFETY: passed on.
            after = unsafe { third.load(simd, part.state) };
            for n in 0..N {
                settle(simd, &mut after[n]);
            }
        }
        (points, next) = (next, after);
    }
}

#[inline(always)]
fn settle<S: Transpose>(simd: S, point: &mut Point<f32x8<S>>) {
    let Point { p, w } = point;
    (p.x, p.y, p.z, *w) = (simd.settle(p.x), simd.settle(p.y), simd.settle(p.z), simd.settle(*w));
}

/// The parameters of an operation whose entry in `set` is `set`.
#[inline(always)]
pub(super) fn values<S: Transpose, const P: usize>(simd: S, params: &[[F8; P]], set: u32) -> [f32x8<S>; P] {
    // SAFETY: `Sweep::new` made every entry of `set` an index of `params`.
    let params = unsafe { params.get_unchecked(set as usize) };
    let mut values = [f32x8::splat(simd, 0.0); P];
    for i in 0..P {
        values[i] = f32x8::simd_from(simd, params[i].0);
    }
    values
}
