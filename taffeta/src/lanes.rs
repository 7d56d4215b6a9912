//! Numbers that may be one or eight at a time.
//!
//! The mathematics of a constraint is written once, over [`Lane`]; `f32` gives the scalar path and
//! `f32x8` the wide one. Only IEEE + − × ÷ √ and comparisons are used, never a fused multiply-add or an
//! approximate reciprocal, so every path gives the same bits.

use std::ops::{Add, Div, Mul, Neg, Sub};

use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, f32x8};

/// Lanes of the wide path. Data layouts are built on this number, so it is the same on every machine.
pub const LANES: usize = 8;

/// One real number, or one in each lane.
pub trait Lane:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// `v` in every lane. Takes `self` because a vector knows the instruction set, a number does not.
    fn like(self, v: f32) -> Self;
    /// Square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// The larger. Neither may be NaN: what happens then differs between instruction sets.
    fn max(self, other: Self) -> Self;
    /// The smaller. Neither may be NaN.
    fn min(self, other: Self) -> Self;
    /// The angle of the point (x, self) in (−π, π].
    fn atan2(self, x: Self) -> Self;
    /// In each lane `then` where `self < bound`, else `otherwise`.
    fn select_lt(self, bound: Self, then: Self, otherwise: Self) -> Self;
}

impl Lane for f32 {
    #[inline(always)]
    fn like(self, v: f32) -> f32 {
        v
    }
    #[inline(always)]
    fn sqrt(self) -> f32 {
        f32::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> f32 {
        f32::abs(self)
    }
    #[inline(always)]
    fn max(self, other: f32) -> f32 {
        if self > other { self } else { other }
    }
    #[inline(always)]
    fn min(self, other: f32) -> f32 {
        if self < other { self } else { other }
    }
    #[inline(always)]
    fn atan2(self, x: f32) -> f32 {
        atan2(self, x)
    }
    #[inline(always)]
    fn select_lt(self, bound: f32, then: f32, otherwise: f32) -> f32 {
        if self < bound { then } else { otherwise }
    }
}

impl<S: Simd> Lane for f32x8<S> {
    #[inline(always)]
    fn like(self, v: f32) -> Self {
        f32x8::splat(self.simd, v)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.simd.sqrt_f32x8(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.simd.abs_f32x8(self)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.simd.max_f32x8(self, other)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.simd.min_f32x8(self, other)
    }
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        atan2(self, x)
    }
    #[inline(always)]
    fn select_lt(self, bound: Self, then: Self, otherwise: Self) -> Self {
        let mask = self.simd.simd_lt_f32x8(self, bound);
        self.simd.select_f32x8(mask, then, otherwise)
    }
}

impl Lane for f64 {
    #[inline(always)]
    fn like(self, v: f32) -> f64 {
        v as f64
    }
    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> f64 {
        f64::abs(self)
    }
    #[inline(always)]
    fn max(self, other: f64) -> f64 {
        if self > other { self } else { other }
    }
    #[inline(always)]
    fn min(self, other: f64) -> f64 {
        if self < other { self } else { other }
    }
    #[inline(always)]
    fn atan2(self, x: f64) -> f64 {
        libm::atan2(self, x)
    }
    #[inline(always)]
    fn select_lt(self, bound: f64, then: f64, otherwise: f64) -> f64 {
        if self < bound { then } else { otherwise }
    }
}

/// Numbers whose lanes can be looked at one by one: what decides whether work can be left out, and what no vector can do.
pub trait Lanes: Lane {
    /// How many there are.
    const COUNT: usize;
    /// Whether any is above zero.
    fn any_positive(self) -> bool;
    /// All of them; those beyond [`COUNT`](Self::COUNT) are zero.
    fn to_lanes(self) -> [f32; LANES];
    /// The first [`COUNT`](Self::COUNT) of `lanes`. Takes `self` as [`like`](Lane::like) does.
    fn like_lanes(self, lanes: [f32; LANES]) -> Self;
}

impl Lanes for f32 {
    const COUNT: usize = 1;
    #[inline(always)]
    fn any_positive(self) -> bool {
        self > 0.0
    }
    #[inline(always)]
    fn to_lanes(self) -> [f32; LANES] {
        let mut lanes = [0.0; LANES];
        lanes[0] = self;
        lanes
    }
    #[inline(always)]
    fn like_lanes(self, lanes: [f32; LANES]) -> f32 {
        lanes[0]
    }
}

impl<S: Simd> Lanes for f32x8<S> {
    const COUNT: usize = LANES;
    #[inline(always)]
    fn any_positive(self) -> bool {
        self.simd.any_true_mask32x8(self.simd.simd_gt_f32x8(self, f32x8::splat(self.simd, 0.0)))
    }
    #[inline(always)]
    fn to_lanes(self) -> [f32; LANES] {
        self.into()
    }
    #[inline(always)]
    fn like_lanes(self, lanes: [f32; LANES]) -> Self {
        f32x8::simd_from(self.simd, lanes)
    }
}

/// atan2 in single precision, to 7e-7 relative, from IEEE operations alone so that all lanes and machines agree.
///
/// On t = min/max in [0, 1], atan t = t (1 + s P(s)) with s = t²; P was fitted at Chebyshev nodes. The form keeps
/// full relative precision near zero, where almost all hinges of a cloth are.
#[inline(always)]
fn atan2<L: Lane>(y: L, x: L) -> L {
    const P: [f32; 7] =
        [-0.33333275, 0.1999407, -0.141832, 0.10422379, -0.06742212, 0.030317046, -0.006496914];
    let (ax, ay) = (x.abs(), y.abs());
    let t = ax.min(ay) / (ax.max(ay) + x.like(f32::MIN_POSITIVE));
    let s = t * t;
    let mut p = x.like(P[6]);
    for i in (0..6).rev() {
        p = p * s + x.like(P[i]);
    }
    let r = t + t * (s * p);
    let r = ax.select_lt(ay, x.like(std::f32::consts::FRAC_PI_2) - r, r);
    let zero = x.like(0.0);
    let r = x.select_lt(zero, x.like(std::f32::consts::PI) - r, r);
    y.select_lt(zero, -r, r)
}

/// A vector of three numbers, each in lanes.
#[derive(Clone, Copy, Debug)]
pub struct V3<L> {
    /// x component.
    pub x: L,
    /// y component.
    pub y: L,
    /// z component.
    pub z: L,
}

impl<L: Lane> V3<L> {
    /// The same vector in every lane of a number like `like`.
    #[inline(always)]
    pub fn splat(like: L, [x, y, z]: [f32; 3]) -> Self {
        V3 { x: like.like(x), y: like.like(y), z: like.like(z) }
    }
    /// In each lane `self` where `figure > 0`, else `otherwise`.
    #[inline(always)]
    pub fn where_positive(self, figure: L, otherwise: Self) -> Self {
        let zero = figure.like(0.0);
        V3 {
            x: zero.select_lt(figure, self.x, otherwise.x),
            y: zero.select_lt(figure, self.y, otherwise.y),
            z: zero.select_lt(figure, self.z, otherwise.z),
        }
    }
    /// Dot product.
    #[inline(always)]
    pub fn dot(self, o: Self) -> L {
        self.x * o.x + self.y * o.y + self.z * o.z
    }
    /// Cross product.
    #[inline(always)]
    pub fn cross(self, o: Self) -> Self {
        V3 { x: self.y * o.z - self.z * o.y, y: self.z * o.x - self.x * o.z, z: self.x * o.y - self.y * o.x }
    }
    /// Squared length.
    #[inline(always)]
    pub fn length_squared(self) -> L {
        self.dot(self)
    }
}

impl<L: Lane> Add for V3<L> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        V3 { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
}

impl<L: Lane> Sub for V3<L> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        V3 { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }
}

impl<L: Lane> Mul<L> for V3<L> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: L) -> Self {
        V3 { x: self.x * s, y: self.y * s, z: self.z * s }
    }
}

/// A particle as a constraint sees it: where it is and its inverse mass.
#[derive(Clone, Copy, Debug)]
pub struct Point<L> {
    /// Position, m.
    pub p: V3<L>,
    /// Inverse mass, 1/kg; 0 where the particle is held.
    pub w: L,
}

/// Which instructions the wide path uses.
#[derive(Clone, Copy, Debug)]
pub enum SimdLevel {
    /// One constraint at a time.
    Scalar,
    /// Eight at a time, with these instructions.
    Wide(Level),
}

impl SimdLevel {
    /// The best this machine has. Of the x86 family three sets are used. With eight lanes SSE 4.2 gains nothing over SSE 2;
    /// AVX-512 has twice the registers of AVX 2, which sweeps gain from, and nothing else is compiled for it.
    pub fn best() -> Self {
        let level = Level::new();
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        let level = (level.as_avx512().map(Level::Avx512))
            .or(level.as_avx2().map(Level::Avx2))
            .or(level.as_sse2().map(Level::Sse2))
            .unwrap_or(level);
        SimdLevel::Wide(level)
    }

    /// Everything this machine has, from scalar to the best.
    pub fn all() -> Vec<Self> {
        #[allow(unused_mut)]
        let mut levels = vec![SimdLevel::Scalar];
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        {
            let best = Level::new();
            levels.extend(best.as_sse2().map(|t| SimdLevel::Wide(Level::Sse2(t))));
            levels.extend(best.as_avx2().map(|t| SimdLevel::Wide(Level::Avx2(t))));
            levels.extend(best.as_avx512().map(|t| SimdLevel::Wide(Level::Avx512(t))));
        }
        #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
        levels.push(SimdLevel::best());
        levels
    }

    /// A short lower-case name: `scalar`, `sse2`, `avx2`, `avx512`, …
    pub fn name(self) -> &'static str {
        match self {
            SimdLevel::Scalar => "scalar",
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            SimdLevel::Wide(Level::Sse2(_)) => "sse2",
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            SimdLevel::Wide(Level::Avx2(_)) => "avx2",
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            SimdLevel::Wide(Level::Avx512(_)) => "avx512",
            #[cfg(target_arch = "aarch64")]
            SimdLevel::Wide(Level::Neon(_)) => "neon",
            #[cfg(target_arch = "wasm32")]
            SimdLevel::Wide(_) => "wasm",
            #[allow(unreachable_patterns)]
            SimdLevel::Wide(_) => "portable",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atan2_is_accurate_all_round_and_near_zero() {
        for i in -1800..=1800 {
            let angle = (i as f64 * 0.1).to_radians();
            for r in [1e-6, 0.3, 40.0] {
                let (y, x) = ((r * angle.sin()) as f32, (r * angle.cos()) as f32);
                let exact = (y as f64).atan2(x as f64);
                let got = Lane::atan2(y, x) as f64;
                assert!((got - exact).abs() <= 8e-7 * exact.abs() + 1e-12, "{got} against {exact}");
            }
        }
        assert_eq!(Lane::atan2(0.0f32, 0.0), 0.0);
    }
}
