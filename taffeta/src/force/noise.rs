//! Smooth noise, and tables of it.
//!
//! Gradient noise: every point i of a lattice has a random gradient gᵢ, and between the points of a cell the planes
//! gᵢ · (p − i) are blended. The weight is the quintic s(t) = 6t⁵ − 15t⁴ + 10t³, whose first and second derivatives vanish at
//! both ends, so the noise is C² across cells; with the older cubic 3t² − 2t³ the second derivative jumps.
//! (Perlin, *Improving noise*, 2002.)

use glam::Vec3;

/// Cells after which the noise repeats along each axis.
pub const PERIOD: usize = 256;

/// Noise with values within [−1, 1], zero at the points of the lattice.
#[derive(Clone, Debug)]
pub struct Noise {
    /// The numbers 0 … 255 in random order.
    order: Vec<u8>,
}

impl Noise {
    /// Noise that is different for every seed.
    pub fn new(seed: u32) -> Self {
        let mut order: Vec<u8> = (0..=255).collect();
        let mut random = seed as u64;
        for last in (1..order.len()).rev() {
            order.swap(last, (split_mix(&mut random) % (last as u64 + 1)) as usize);
        }
        Noise { order }
    }

    /// The noise at a point, in cells. It repeats after `period` cells, a power of two up to [`PERIOD`].
    pub fn at(&self, p: [f64; 3], period: usize) -> f64 {
        let cell = p.map(|c| libm::floor(c) as i64);
        let t = [0, 1, 2].map(|c| p[c] - cell[c] as f64);
        let s = t.map(fade);
        let mut sum = 0.0;
        for corner in 0..8usize {
            let far = [corner & 1, corner >> 1 & 1, corner >> 2];
            let lattice = [0, 1, 2].map(|c| (cell[c] + far[c] as i64).rem_euclid(period as i64) as usize);
            let d = [0, 1, 2].map(|c| t[c] - far[c] as f64);
            let weight: f64 = (0..3).map(|c| if far[c] == 1 { s[c] } else { 1.0 - s[c] }).product();
            sum += weight * self.plane(lattice, d);
        }
        sum
    }

    /// gᵢ · d, where gᵢ points from the centre of a cube to the middle of one of its twelve edges.
    fn plane(&self, lattice: [usize; 3], d: [f64; 3]) -> f64 {
        let hash = lattice.iter().fold(0, |hash, &c| self.order[(hash + c) % PERIOD] as usize);
        let (first, second) = [(0, 1), (0, 2), (1, 2)][hash % 3];
        let sign = |bit: usize, v: f64| if hash >> bit & 1 == 0 { v } else { -v };
        sign(3, d[first]) + sign(4, d[second])
    }
}

/// 6t⁵ − 15t⁴ + 10t³.
fn fade(t: f64) -> f64 {
    t * t * t * (t * (6.0 * t - 15.0) + 10.0)
}

/// Steele, Lea, Flood, *Fast splittable pseudorandom number generators*, 2014.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Samples of a [`Series`] in each cell.
const SERIES_SAMPLES: usize = 16;

/// Four noises over one variable, sampled and scaled so that the largest value of each is 1.
#[derive(Clone, Debug)]
pub struct Series {
    samples: Vec<[f32; 4]>,
}

impl Series {
    /// Samples the noise along four lines.
    pub fn new(noise: &Noise) -> Self {
        let at = |i: usize, line: usize| {
            noise.at([i as f64 / SERIES_SAMPLES as f64, 0.5 + 17.0 * line as f64, 0.5], PERIOD) as f32
        };
        let mut samples: Vec<[f32; 4]> =
            (0..PERIOD * SERIES_SAMPLES).map(|i| [0, 1, 2, 3].map(|line| at(i, line))).collect();
        scale_to_one(&mut samples);
        Series { samples }
    }

    /// The four values at `t` cells.
    pub fn at(&self, t: f64) -> [f32; 4] {
        let t = t * SERIES_SAMPLES as f64;
        let whole = libm::floor(t);
        let between = (t - whole) as f32;
        let index = (whole as i64).rem_euclid(self.samples.len() as i64) as usize;
        let (a, b) = (self.samples[index], self.samples[(index + 1) % self.samples.len()]);
        [0, 1, 2, 3].map(|c| a[c] + between * (b[c] - a[c]))
    }
}

/// Cells of a [`Volume`] along each axis, and samples of a cell.
const VOLUME_CELLS: usize = 16;
const VOLUME_SAMPLES: usize = 4;
const SIDE: usize = VOLUME_CELLS * VOLUME_SAMPLES;

/// A vector of three noises over space, sampled and scaled so that the largest component is 1.
#[derive(Clone, Debug)]
pub struct Volume {
    /// x runs fastest. The fourth number is idle: four at a time are blended in one instruction.
    samples: Vec<[f32; 4]>,
}

impl Volume {
    /// Cells after which it repeats.
    pub const PERIOD: f64 = VOLUME_CELLS as f64;

    /// Samples the noise. The three components are read in different places, and off the points of the lattice, at which
    /// they would all be zero together.
    pub fn new(noise: &Noise) -> Self {
        let at = |i: usize, component: usize| {
            let shift = [0.31, 5.57, 10.83][component];
            let p = [i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE];
            noise.at(p.map(|c| c as f64 / VOLUME_SAMPLES as f64 + shift), VOLUME_CELLS) as f32
        };
        let mut samples: Vec<[f32; 4]> =
            (0..SIDE * SIDE * SIDE).map(|i| [at(i, 0), at(i, 1), at(i, 2), 0.0]).collect();
        scale_to_one(&mut samples);
        Volume { samples }
    }

    /// The noise at a point, in cells; linear between the samples.
    #[inline]
    pub fn at(&self, p: Vec3) -> Vec3 {
        let p = (p * VOLUME_SAMPLES as f32).to_array();
        let (mut low, mut t) = ([0usize; 3], [0.0f32; 3]);
        for c in 0..3 {
            // floor() would be a call on machines without an instruction for it.
            let toward_zero = p[c] as i32;
            let whole = toward_zero - (toward_zero as f32 > p[c]) as i32;
            t[c] = p[c] - whole as f32;
            // A power of two, so that this is right below zero too.
            low[c] = whole as usize % SIDE;
        }
        let high = low.map(|c| (c + 1) % SIDE);
        let [y, z] = [1, 2].map(|c| [low[c], high[c]]);
        let mut rows = [[0.0f32; 4]; 4];
        for (k, row) in rows.iter_mut().enumerate() {
            let start = (z[k >> 1] * SIDE + y[k & 1]) * SIDE;
            *row = blend(&self.samples[start + low[0]], &self.samples[start + high[0]], t[0]);
        }
        let (near, far) = (blend(&rows[0], &rows[1], t[1]), blend(&rows[2], &rows[3], t[1]));
        let [x, y, z, _] = blend(&near, &far, t[2]);
        Vec3::new(x, y, z)
    }
}

#[inline(always)]
fn blend(a: &[f32; 4], b: &[f32; 4], t: f32) -> [f32; 4] {
    let mut out = [0.0; 4];
    for c in 0..4 {
        out[c] = a[c] + t * (b[c] - a[c]);
    }
    out
}

fn scale_to_one(samples: &mut [[f32; 4]]) {
    for c in 0..4 {
        let most = samples.iter().map(|s| s[c].abs()).fold(f32::MIN_POSITIVE, f32::max);
        samples.iter_mut().for_each(|s| s[c] /= most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fade_is_flat_to_second_order_at_both_ends() {
        assert_eq!((fade(0.0), fade(0.5), fade(1.0)), (0.0, 0.5, 1.0));
        let e = 1e-4;
        for end in [0.0, 1.0] {
            let first = (fade(end + e) - fade(end - e)) / (2.0 * e);
            let second = (fade(end + e) - 2.0 * fade(end) + fade(end - e)) / (e * e);
            assert!(first.abs() < 1e-6 && second.abs() < 1e-2, "at {end}: {first}, {second}");
        }
    }

    #[test]
    fn noise_has_no_jump_in_its_second_derivative() {
        // Across the boundary between two cells; the cubic fade would jump by several.
        let noise = Noise::new(3);
        let e = 1e-4;
        let second = |x: f64, y: f64| {
            let f = |dx: f64| noise.at([x + dx, y, 0.7], PERIOD);
            (f(e) - 2.0 * f(0.0) + f(-e)) / (e * e)
        };
        for cell in 1..20 {
            let (before, after) = (second(cell as f64 - 2.0 * e, 4.3), second(cell as f64 + 2.0 * e, 4.3));
            assert!((before - after).abs() < 0.1, "cell {cell}: {before} and {after}");
        }
    }

    #[test]
    fn noise_is_bounded_seeded_and_zero_at_the_lattice() {
        let (a, b) = (Noise::new(1), Noise::new(2));
        let (mut most, mut differ) = (0.0f64, 0);
        for i in 0..20_000 {
            let p = [0.137, 0.271, 0.0613].map(|c| c * i as f64);
            let (na, nb) = (a.at(p, PERIOD), b.at(p, PERIOD));
            assert_eq!(na.to_bits(), Noise::at(&a.clone(), p, PERIOD).to_bits());
            most = most.max(na.abs());
            differ += ((na - nb).abs() > 0.01) as usize;
        }
        assert!(most > 0.7 && most <= 1.0, "{most}");
        assert!(differ > 18_000, "{differ}");
        assert_eq!(a.at([4.0, -7.0, 11.0], PERIOD), 0.0);
    }

    #[test]
    fn every_number_is_in_the_table_once() {
        let mut order = Noise::new(77).order;
        order.sort_unstable();
        assert!(order.iter().enumerate().all(|(i, &v)| i == v as usize) && order.len() == 256);
    }

    #[test]
    fn tables_hold_the_noise_and_repeat() {
        let noise = Noise::new(5);
        let series = Series::new(&noise);
        let most = (0..PERIOD * SERIES_SAMPLES)
            .map(|i| noise.at([i as f64 / SERIES_SAMPLES as f64, 0.5, 0.5], PERIOD).abs());
        let most = most.fold(0.0, f64::max);
        for i in 0..1000 {
            let t = 0.377 * i as f64;
            let exact = noise.at([t, 0.5, 0.5], PERIOD) / most;
            assert!((series.at(t)[0] as f64 - exact).abs() < 0.01, "{t}: {} is not {exact}", series.at(t)[0]);
            let later = series.at(t + PERIOD as f64);
            assert!((0..4).all(|c| (later[c] - series.at(t)[c]).abs() < 1e-5), "it repeats");
        }
        let volume = Volume::new(&noise);
        let scale = volume.samples.iter().map(|s| s[0].abs()).fold(0.0, f32::max);
        assert_eq!(scale, 1.0);
        for i in 0..1000 {
            let p = Vec3::new(0.013, 0.0271, 0.00613) * i as f32 - Vec3::splat(5.0);
            for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
                let again = volume.at(p + axis * VOLUME_CELLS as f32);
                assert!((again - volume.at(p)).length() < 1e-4, "it repeats: {p}");
            }
            let step = (volume.at(p + Vec3::splat(1e-3)) - volume.at(p)).length();
            assert!(step < 0.02, "no jump at {p}: {step}");
        }
    }
}
