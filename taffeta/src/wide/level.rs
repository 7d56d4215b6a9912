//! Which instructions a piece of wide code is compiled for.

/// Runs an expression with the instructions of `level`. `fearless_simd::dispatch!` would hide which token
/// it found; [`Transpose`] needs to know. `with all` compiles for AVX-512 as well, where that gains something; elsewhere it
/// would be the code of AVX2 once more.
macro_rules! on_level {
    (@run $simd:ident, $token:ident, $body:expr) => {{
        let $simd = $token;
        $token.vectorize(
            #[inline(always)]
            || $body,
        )
    }};
    (with all $level:expr, $simd:ident => $body:expr, otherwise $other:expr) => {
        match $level {
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Level::Avx512(token) => on_level!(@run $simd, token, $body),
            level => on_level!(level, $simd => $body, otherwise $other),
        }
    };
    ($level:expr, $simd:ident => $body:expr, otherwise $other:expr) => {
        match $level {
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Level::Sse2(token) => on_level!(@run $simd, token, $body),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Level::Avx2(token) => on_level!(@run $simd, token, $body),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Level::Avx512(token) => {
                let token = Level::Avx512(token).as_avx2().expect("who has AVX-512 has AVX2");
                on_level!(@run $simd, token, $body)
            }
            #[cfg(target_arch = "aarch64")]
            Level::Neon(token) => on_level!(@run $simd, token, $body),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Level::WasmSimd128(token) => on_level!(@run $simd, token, $body),
            #[allow(unreachable_patterns)]
            _ => $other,
        }
    };
}
