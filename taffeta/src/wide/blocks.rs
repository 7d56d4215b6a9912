//! Particles into blocks of strips, and back.

use fearless_simd::{Level, f32x4, f32x8, prelude::*};

use super::Transpose;
use super::{Blend, Block, Particle};
use crate::lanes::{LANES, SimdLevel};
use crate::mesh::NONE;
use crate::par::{Shared, Team};

/// Copies particles into blocks; `index` names them, [`NONE`] stands for a held particle at the origin.
pub fn load_blocks(level: SimdLevel, particles: &[Particle], index: &[[u32; LANES]], blocks: &mut [Block]) {
    #[inline(always)]
    fn body<S: Transpose>(simd: S, particles: &[Particle], index: &[[u32; LANES]], blocks: &mut [Block]) {
        for (index, block) in index.iter().zip(blocks) {
            let mut rows = [f32x4::splat(simd, 0.0); LANES];
            for lane in 0..LANES {
                if index[lane] != NONE {
                    let Particle { p, w } = particles[index[lane] as usize];
                    rows[lane] = f32x4::simd_from(simd, [p[0], p[1], p[2], w]);
                }
            }
            let [x, y, z, w] = simd.to_columns(rows);
            (block.x.0, block.y.0) = (x.into(), y.into());
            (block.z.0, block.w.0) = (z.into(), w.into());
        }
    }
    let one_by_one = |blocks: &mut [Block]| {
        for (index, block) in index.iter().zip(blocks) {
            for lane in (0..LANES).filter(|&lane| index[lane] != NONE) {
                let Particle { p, w } = particles[index[lane] as usize];
                (block.x.0[lane], block.y.0[lane]) = (p[0], p[1]);
                (block.z.0[lane], block.w.0[lane]) = (p[2], w);
            }
        }
    };
    match level {
        SimdLevel::Scalar => one_by_one(blocks),
        SimdLevel::Wide(level) => {
            on_level!(level, simd => body(simd, particles, index, blocks), otherwise one_by_one(blocks))
        }
    }
}

/// Copies the positions of blocks back to their particles, on all threads of the team.
///
/// # Panics
/// If two lanes name the same particle, or one that does not exist.
pub fn store_blocks(
    team: &mut Team,
    level: SimdLevel,
    blocks: &[Block],
    index: &BlockIndex,
    particles: &mut [Particle],
) {
    #[inline(always)]
    fn body<S: Transpose>(
        simd: S,
        blocks: &[Block],
        index: &[[u32; LANES]],
        particles: &Shared<'_, Particle>,
    ) {
        for (index, block) in index.iter().zip(blocks) {
            let column = [block.x.0, block.y.0, block.z.0, block.w.0];
            let rows = simd.to_rows([
                f32x8::simd_from(simd, column[0]),
                f32x8::simd_from(simd, column[1]),
                f32x8::simd_from(simd, column[2]),
                f32x8::simd_from(simd, column[3]),
            ]);
            for lane in 0..LANES {
                if index[lane] != NONE {
                    // SAFETY: `BlockIndex` names every particle at most once and none beyond `particles`,
                    // so it is in bounds and this thread's own.
                    unsafe { *particles.at(index[lane] as usize).cast::<[f32; 4]>() = rows[lane].into() };
                }
            }
        }
    }
    fn one_by_one(blocks: &[Block], index: &[[u32; LANES]], particles: &Shared<'_, Particle>) {
        for (index, block) in index.iter().zip(blocks) {
            for lane in (0..LANES).filter(|&lane| index[lane] != NONE) {
                let p = [block.x.0[lane], block.y.0[lane], block.z.0[lane]];
                // SAFETY: as above.
                unsafe { (*particles.at(index[lane] as usize)).p = p };
            }
        }
    }
    assert!(index.particles <= particles.len() && index.lanes.len() == blocks.len());
    let particles = Shared::new(particles);
    team.run(|worker| {
        let range = worker.share(blocks.len(), 1);
        let (blocks, index) = (&blocks[range.clone()], &index.lanes[range]);
        match level {
            SimdLevel::Scalar => one_by_one(blocks, index, &particles),
            SimdLevel::Wide(level) => on_level!(
                level,
                simd => body(simd, blocks, index, &particles),
                otherwise one_by_one(blocks, index, &particles)
            ),
        }
    });
}

/// Applies the sums of a Jacobi iteration and clears them: x ← x + rate · Σ/n + momentum · (x − before), where the sums have
/// 1/n in the place of the inverse mass; `before` becomes the old x. Gives the sums of |Σ/n|² and Σ/n · (x − before), m².
pub fn advance_blocks(
    level: SimdLevel,
    x: &mut [Block],
    sums: &mut [Block],
    before: &mut [Block],
    blend: Blend,
) -> [f64; 2] {
    #[inline(always)]
    fn body<S: Simd>(
        simd: S,
        x: &mut [Block],
        sums: &mut [Block],
        before: &mut [Block],
        blend: Blend,
        totals: &mut [[f32; LANES]; 2],
    ) {
        let (rate, momentum) = (f32x8::splat(simd, blend.rate), f32x8::splat(simd, blend.momentum));
        let zero = f32x8::splat(simd, 0.0);
        let (mut squares, mut products) = (zero, zero);
        for ((x, sum), before) in x.iter_mut().zip(sums).zip(before) {
            let inverse = f32x8::simd_from(simd, sum.w.0);
            let parts = [
                (&mut x.x.0, &mut sum.x.0, &mut before.x.0),
                (&mut x.y.0, &mut sum.y.0, &mut before.y.0),
                (&mut x.z.0, &mut sum.z.0, &mut before.z.0),
            ];
            for (x, sum, before) in parts {
                let (now, then) = (f32x8::simd_from(simd, *x), f32x8::simd_from(simd, *before));
                let step = f32x8::simd_from(simd, *sum) * inverse;
                let change = now - then;
                squares += step * step;
                products += step * change;
                *x = (now + (rate * step + momentum * change)).into();
                *before = now.into();
                *sum = zero.into();
            }
        }
        *totals = [squares.into(), products.into()];
    }
    fn one_by_one(
        x: &mut [Block],
        sums: &mut [Block],
        before: &mut [Block],
        Blend { rate, momentum, .. }: Blend,
        [squares, products]: &mut [[f32; LANES]; 2],
    ) {
        for ((x, sum), before) in x.iter_mut().zip(sums).zip(before) {
            let inverse = sum.w.0;
            let parts = [
                (&mut x.x.0, &mut sum.x.0, &mut before.x.0),
                (&mut x.y.0, &mut sum.y.0, &mut before.y.0),
                (&mut x.z.0, &mut sum.z.0, &mut before.z.0),
            ];
            for (x, sum, before) in parts {
                for lane in 0..LANES {
                    let now = x[lane];
                    let step = sum[lane] * inverse[lane];
                    let change = now - before[lane];
                    squares[lane] += step * step;
                    products[lane] += step * change;
                    x[lane] = now + (rate * step + momentum * change);
                    (before[lane], sum[lane]) = (now, 0.0);
                }
            }
        }
    }
    let mut totals = [[0.0; LANES]; 2];
    match level {
        SimdLevel::Scalar => one_by_one(x, sums, before, blend, &mut totals),
        SimdLevel::Wide(level) => on_level!(
            level,
            simd => body(simd, x, sums, before, blend, &mut totals),
            otherwise one_by_one(x, sums, before, blend, &mut totals)
        ),
    }
    totals.map(|lanes| lanes.iter().map(|&s| s as f64).sum())
}

/// The same for particles, two at a time. All numbers are treated alike; inverse masses stay as they are, since they do not change from iteration to iteration.
pub fn advance_particles(
    level: SimdLevel,
    x: &mut [Particle],
    sums: &mut [Particle],
    before: &mut [Particle],
    blend: Blend,
) -> [f64; 2] {
    /// The fourth number does not count.
    const COUNTS: [f32; LANES] = [1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0];
    type Two = [Particle; 2];

    #[inline(always)]
    fn body<S: Simd>(
        simd: S,
        [x, sums, before]: [&mut [Two]; 3],
        blend: Blend,
        totals: &mut [[f32; LANES]; 2],
    ) {
        let (rate, momentum) = (f32x8::splat(simd, blend.rate), f32x8::splat(simd, blend.momentum));
        let counts = f32x8::simd_from(simd, COUNTS);
        let [mut squares, mut products] = totals.map(|lanes| f32x8::simd_from(simd, lanes));
        let load = |[a, b]: &Two| {
            let [a, b] = [a, b].map(|particle| f32x4::simd_from(simd, particle.to_array()));
            simd.combine_f32x4(a, b)
        };
        for ((x, sums), before) in x.iter_mut().zip(sums).zip(before) {
            let [a, b] = [sums[0].w, sums[1].w].map(|inverse| f32x4::splat(simd, inverse));
            let (now, change) = (load(x), load(x) - load(before));
            let step = load(sums) * (simd.combine_f32x4(a, b) * counts);
            squares += step * step;
            products += step * change;
            let (first, second) = simd.split_f32x8(now + (rate * step + momentum * change));
            *before = *x;
            *x = [first, second].map(|particle| Particle::from_array(particle.into()));
            sums.iter_mut().for_each(|sum| sum.p = [0.0; 3]);
        }
        *totals = [squares.into(), products.into()];
    }
    fn one_by_one(
        [x, sums, before]: [&mut [Two]; 3],
        Blend { rate, momentum, .. }: Blend,
        [squares, products]: &mut [[f32; LANES]; 2],
    ) {
        for ((x, sums), before) in x.iter_mut().zip(sums).zip(before) {
            for (k, ((x, sum), before)) in x.iter_mut().zip(sums).zip(before).enumerate() {
                let (now, total, then) = (x.to_array(), sum.to_array(), before.to_array());
                let mut next = now;
                for axis in 0..4 {
                    let lane = 4 * k + axis;
                    let step = total[axis] * (sum.w * COUNTS[lane]);
                    let change = now[axis] - then[axis];
                    squares[lane] += step * step;
                    products[lane] += step * change;
                    next[axis] = now[axis] + (rate * step + momentum * change);
                }
                (*before, *x) = (*x, Particle::from_array(next));
                sum.p = [0.0; 3];
            }
        }
    }
    let mut totals = [[0.0; LANES]; 2];
    let ((x, last_x), (sums, last_sum)) = (x.as_chunks_mut::<2>(), sums.as_chunks_mut::<2>());
    let (before, last_before) = before.as_chunks_mut::<2>();
    let all = [x, sums, before];
    match level {
        SimdLevel::Scalar => one_by_one(all, blend, &mut totals),
        SimdLevel::Wide(level) => on_level!(
            level,
            simd => body(simd, all, blend, &mut totals),
            otherwise one_by_one(all, blend, &mut totals)
        ),
    }
    for ((x, sum), before) in last_x.iter_mut().zip(last_sum).zip(last_before) {
        // Beside one that stays where it is.
        let mut pairs = [*x, *sum, *before].map(|last| [[last, Particle::default()]]);
        one_by_one(pairs.each_mut().map(|pair| &mut pair[..]), blend, &mut totals);
        [*x, *sum, *before] = pairs.map(|[[last, _]]| last);
    }
    totals.map(|lanes| lanes.iter().map(|&s| s as f64).sum())
}

/// Which particle is in which lane of which block, each at most once.
#[derive(Clone, Debug)]
pub struct BlockIndex {
    lanes: Vec<[u32; LANES]>,
    /// All indices are below this.
    particles: usize,
}

impl BlockIndex {
    /// Takes the particles of each block, [`NONE`] for an idle lane.
    ///
    /// # Panics
    /// If a particle is named twice.
    pub fn new(lanes: Vec<[u32; LANES]>) -> Self {
        let mut all: Vec<u32> = lanes.iter().flatten().copied().filter(|&i| i != NONE).collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "a particle is in two blocks");
        let particles = all.last().map_or(0, |&i| i as usize + 1);
        BlockIndex { lanes, particles }
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.lanes.len()
    }

    /// Whether there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// The particles of some blocks.
    pub fn part(&self, range: std::ops::Range<usize>) -> &[[u32; LANES]] {
        &self.lanes[range]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wide::Keep;

    /// An odd number, so that one is left over; the same bits with all instructions.
    #[test]
    fn corrections_of_particles_are_applied_alike_and_cleared() {
        let particle = |i: usize, scale: f32| {
            let number = |k: usize| ((i * 31 + k * 17) % 23) as f32 * scale - 0.1;
            Particle { p: [number(1), number(2), number(3)], w: 0.5 + i as f32 }
        };
        let list = |scale: f32| (0..7).map(|i| particle(i, scale)).collect::<Vec<_>>();
        let blend = Blend { rate: 0.75, momentum: 0.25, recall: true, keep: Keep::ALL };
        let (x, sums, before) = (list(0.01), list(0.02), list(0.03));
        let [mut squares, mut products] = [0.0f64; 2];
        for level in SimdLevel::all() {
            let (mut new, mut cleared, mut last) = (x.clone(), sums.clone(), before.clone());
            let totals = advance_particles(level, &mut new, &mut cleared, &mut last, blend);
            [squares, products] = [0.0; 2];
            for i in 0..x.len() {
                for axis in 0..3 {
                    let step = sums[i].p[axis] * sums[i].w;
                    let change = x[i].p[axis] - before[i].p[axis];
                    assert_eq!(new[i].p[axis], x[i].p[axis] + (0.75 * step + 0.25 * change), "{level:?} {i}");
                    squares += (step * step) as f64;
                    products += (step * change) as f64;
                }
                assert_eq!(new[i].w, x[i].w);
                assert_eq!((cleared[i].p, cleared[i].w), ([0.0; 3], sums[i].w));
                assert_eq!(last[i].to_array(), x[i].to_array());
            }
            for (total, expected) in totals.into_iter().zip([squares, products]) {
                assert!((total - expected).abs() < 1e-5 * squares, "{level:?}: {total}, not {expected}");
            }
        }
        assert!(squares > 0.0 && products != 0.0);
    }
}
