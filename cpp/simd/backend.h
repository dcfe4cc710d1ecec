// Chooses the machine: WebAssembly SIMD128, SSE2, or plain floats in structs (-DPOSENC_SCALAR forces the last).
// All back ends give the same bits; the test of that is tests/golden/hashes.txt, which every build must reproduce.
#pragma once

#if defined(POSENC_SCALAR)
#define POSENC_BACKEND_SCALAR 1
#elif defined(__wasm_simd128__)
#define POSENC_BACKEND_WASM 1
#elif defined(__SSE2__)
#define POSENC_BACKEND_SSE 1
#else
#define POSENC_BACKEND_SCALAR 1
#endif

#if defined(__GNUC__) || defined(__clang__)
#define POSENC_INLINE inline __attribute__((always_inline))
#define POSENC_NOINLINE __attribute__((noinline))
#else
#define POSENC_INLINE inline
#define POSENC_NOINLINE
#endif

// Before a loop: leave it rolled. Unrolling mixes the loads of several turns and spills (see kernels/register_tile.h).
#if defined(__clang__)
#define POSENC_ROLLED _Pragma("clang loop unroll(disable)")
#elif defined(__GNUC__)
#define POSENC_ROLLED _Pragma("GCC unroll 1")
#else
#define POSENC_ROLLED
#endif

#if defined(__FAST_MATH__)
#error "posenc promises the same bits everywhere: do not build it with -ffast-math"
#endif

namespace posenc::simd {

/// The back end this build runs on: "wasm-simd128", "sse2" or "scalar".
#if defined(POSENC_BACKEND_WASM)
inline constexpr const char* kBackend = "wasm-simd128";
#elif defined(POSENC_BACKEND_SSE)
inline constexpr const char* kBackend = "sse2";
#else
inline constexpr const char* kBackend = "scalar";
#endif

}  // namespace posenc::simd
