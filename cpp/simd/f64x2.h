// Two doubles: the part of the vocabulary of f32x4.h that tables and the unhurried float64 paths need.
//
//   load store splat load_splat lane   + - * / neg abs sqrt   min max (b < a ? b : a,  a < b ? b : a)
//   == != < <= > >= select any all on a Mask64x2              zip_low zip_high swap   demote promote_low promote_high
//   low_bits_to_exponent          high_halves, of two, as U16x8: load + * min any_differ
#pragma once

#include "simd/f32x4.h"

#if defined(POSENC_BACKEND_WASM)
#include "simd/f64x2_wasm.h"
#elif defined(POSENC_BACKEND_SSE)
#include "simd/f64x2_sse.h"
#else
#include "simd/f64x2_scalar.h"
#endif

namespace posenc::simd {

POSENC_INLINE F64x2& operator+=(F64x2& a, F64x2 b) { return a = a + b; }
POSENC_INLINE F64x2& operator-=(F64x2& a, F64x2 b) { return a = a - b; }
POSENC_INLINE F64x2& operator*=(F64x2& a, F64x2 b) { return a = a * b; }

/// a0 + a1.
POSENC_INLINE double sum(F64x2 a) { return lane<0>(a) + lane<1>(a); }

}  // namespace posenc::simd
