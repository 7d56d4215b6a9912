//! What each set of instructions does in its own way: eight rows of four numbers to four columns of eight and back, and keeping
//! the order in which the work is written.

use fearless_simd::{Simd, f32x4, f32x8};

use crate::lanes::LANES;

/// Turning eight particles `[x, y, z, w]` into eight x, eight y, eight z, eight w, and back.
///
/// The portable form transposes two 4×4 squares; AVX2 and AVX-512 can do both at once, which is worth its own lines.
pub trait Transpose: Simd {
    /// Whether there are registers enough, 32 of eight lanes, to have three operations under way at a time; then
    /// [`settle`](Self::settle) does what it says.
    const ROOMY: bool = false;

    /// The same number; it is computed before what is written after this, and what is computed from it comes later. Compilers
    /// move arithmetic to where its result is needed, which puts chains that wait for each other end to end.
    #[inline(always)]
    fn settle(self, v: f32x8<Self>) -> f32x8<Self> {
        v
    }

    /// Eight rows of four to four columns of eight.
    #[inline(always)]
    fn to_columns(self, r: [f32x4<Self>; LANES]) -> [f32x8<Self>; 4] {
        let low = transpose(self, [r[0], r[1], r[2], r[3]]);
        let high = transpose(self, [r[4], r[5], r[6], r[7]]);
        [
            self.combine_f32x4(low[0], high[0]),
            self.combine_f32x4(low[1], high[1]),
            self.combine_f32x4(low[2], high[2]),
            self.combine_f32x4(low[3], high[3]),
        ]
    }

    /// The inverse of `to_columns`.
    #[inline(always)]
    fn to_rows(self, [x, y, z, w]: [f32x8<Self>; 4]) -> [f32x4<Self>; LANES] {
        let ((x0, x1), (y0, y1)) = (self.split_f32x8(x), self.split_f32x8(y));
        let ((z0, z1), (w0, w1)) = (self.split_f32x8(z), self.split_f32x8(w));
        let [r0, r1, r2, r3] = transpose(self, [x0, y0, z0, w0]);
        let [r4, r5, r6, r7] = transpose(self, [x1, y1, z1, w1]);
        [r0, r1, r2, r3, r4, r5, r6, r7]
    }
}

/// Transposes four rows of four.
#[inline(always)]
fn transpose<S: Simd>(simd: S, [a, b, c, d]: [f32x4<S>; 4]) -> [f32x4<S>; 4] {
    let (ac_low, ac_high) = (simd.zip_low_f32x4(a, c), simd.zip_high_f32x4(a, c));
    let (bd_low, bd_high) = (simd.zip_low_f32x4(b, d), simd.zip_high_f32x4(b, d));
    [
        simd.zip_low_f32x4(ac_low, bd_low),
        simd.zip_high_f32x4(ac_low, bd_low),
        simd.zip_low_f32x4(ac_high, bd_high),
        simd.zip_high_f32x4(ac_high, bd_high),
    ]
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod x86 {
    use super::Transpose;
    use crate::lanes::LANES;
    use core::arch::asm;
    #[cfg(target_arch = "x86")]
    use core::arch::x86::{__m256, _mm256_unpackhi_ps, _mm256_unpacklo_ps};
    #[cfg(target_arch = "x86_64")]
    use core::arch::x86_64::{__m256, _mm256_unpackhi_ps, _mm256_unpacklo_ps};
    use fearless_simd::x86::{Avx2, Avx512, Sse2};
    use fearless_simd::{f32x4, f32x8, prelude::*};

    impl Transpose for Sse2 {}

    /// AVX-512 is used with the width of AVX2, for its registers.
    macro_rules! transpose {
        ($token:ident { $($own:item)* }) => {
            const _: () = {
                fearless_simd::kernel!(
                    #[inline(always)]
                    fn transpose_pairs(simd: $token, v: [f32x8<$token>; 4]) -> [f32x8<$token>; 4] {
                        let [a, b, c, d] = [v[0].into(), v[1].into(), v[2].into(), v[3].into()];
                        let (ac_low, ac_high) = (_mm256_unpacklo_ps(a, c), _mm256_unpackhi_ps(a, c));
                        let (bd_low, bd_high) = (_mm256_unpacklo_ps(b, d), _mm256_unpackhi_ps(b, d));
                        [
                            _mm256_unpacklo_ps(ac_low, bd_low).simd_into(simd),
                            _mm256_unpackhi_ps(ac_low, bd_low).simd_into(simd),
                            _mm256_unpacklo_ps(ac_high, bd_high).simd_into(simd),
                            _mm256_unpackhi_ps(ac_high, bd_high).simd_into(simd),
                        ]
                    }
                );

                impl Transpose for $token {
                    $($own)*

                    #[inline(always)]
                    fn to_columns(self, r: [f32x4<Self>; LANES]) -> [f32x8<Self>; 4] {
                        let pairs = [
                            self.combine_f32x4(r[0], r[4]),
                            self.combine_f32x4(r[1], r[5]),
                            self.combine_f32x4(r[2], r[6]),
                            self.combine_f32x4(r[3], r[7]),
                        ];
                        transpose_pairs(self, pairs)
                    }

                    #[inline(always)]
                    fn to_rows(self, columns: [f32x8<Self>; 4]) -> [f32x4<Self>; LANES] {
                        let [a, b, c, d] = transpose_pairs(self, columns);
                        // For AVX-512 the compiler would take the halves apart before it turns them, which is more work.
                        let [a, b, c, d] = [self.settle(a), self.settle(b), self.settle(c), self.settle(d)];
                        let ((r0, r4), (r1, r5)) = (self.split_f32x8(a), self.split_f32x8(b));
                        let ((r2, r6), (r3, r7)) = (self.split_f32x8(c), self.split_f32x8(d));
                        [r0, r1, r2, r3, r4, r5, r6, r7]
                    }
                }
            };
        };
    }

    fearless_simd::kernel!(
        #[inline(always)]
        fn settle(simd: Avx512, v: f32x8<Avx512>) -> f32x8<Avx512> {
            let mut v: __m256 = v.into();
            // SAFETY: there is no instruction in it. To the compiler it may change the register and memory, so nothing that
            // makes or uses the register, nor any load or store, is moved across.
            unsafe { asm!("/* {0} */", inout(ymm_reg) v, options(nostack, preserves_flags)) };
            v.simd_into(simd)
        }
    );

    transpose!(Avx2 {});
    transpose!(Avx512 {
        const ROOMY: bool = true;

        #[inline(always)]
        fn settle(self, v: f32x8<Self>) -> f32x8<Self> {
            settle(self, v)
        }
    });
}
#[cfg(target_arch = "aarch64")]
impl Transpose for fearless_simd::aarch64::Neon {}
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
impl Transpose for fearless_simd::wasm32::WasmSimd128 {}
