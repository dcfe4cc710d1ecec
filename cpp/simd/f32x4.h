// Four floats and four 32-bit integers: the whole vocabulary kernels are written in.
//
//   load store splat load_splat lane         + - * / neg abs sqrt           min max (b < a ? b : a,  a < b ? b : a)
//   == != < <= > >= select any all           bits float_of_bits  & | ^ and_not + - shift_left shift_right on I32x4
//   to_int to_float round_to_int             zip_low zip_high even odd swap_pairs low_low high_high reverse transpose
//   sum largest smallest, folded in the fixed order (0,2),(1,3)         load_part store_part
//
// Comparisons give an I32x4 of all-ones or zero lanes. A mask is never kept as a float: all ones is a NaN, and plain
// JavaScript does not keep the bits of a NaN. There is no fused multiply-add, because not every target has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simd/backend.h"

#if defined(POSENC_BACKEND_WASM)
#include "simd/f32x4_wasm.h"
#elif defined(POSENC_BACKEND_SSE)
#include "simd/f32x4_sse.h"
#else
#include "simd/f32x4_scalar.h"
#endif

namespace posenc::simd {

POSENC_INLINE F32x4& operator+=(F32x4& a, F32x4 b) { return a = a + b; }
POSENC_INLINE F32x4& operator-=(F32x4& a, F32x4 b) { return a = a - b; }
POSENC_INLINE F32x4& operator*=(F32x4& a, F32x4 b) { return a = a * b; }
POSENC_INLINE I32x4& operator|=(I32x4& a, I32x4 b) { return a = a | b; }
POSENC_INLINE I32x4& operator&=(I32x4& a, I32x4 b) { return a = a & b; }

/// Rows to columns, in place: afterwards a holds lane 0 of the four, b lane 1, c lane 2, d lane 3.
POSENC_INLINE void transpose(F32x4& a, F32x4& b, F32x4& c, F32x4& d) {
  const F32x4 ab_low = zip_low(a, b), ab_high = zip_high(a, b);
  const F32x4 cd_low = zip_low(c, d), cd_high = zip_high(c, d);
  a = low_low(ab_low, cd_low);
  b = high_high(ab_low, cd_low);
  c = low_low(ab_high, cd_high);
  d = high_high(ab_high, cd_high);
}

/// (a0 + a2) + (a1 + a3): the one order in which lanes are summed.
POSENC_INLINE float sum(F32x4 a) { return (lane<0>(a) + lane<2>(a)) + (lane<1>(a) + lane<3>(a)); }

/// The largest lane, folded as max(max(a0, a2), max(a1, a3)).
POSENC_INLINE float largest(F32x4 a) {
  const F32x4 m = max(a, high_high(a, a));
  const float x = lane<0>(m), y = lane<1>(m);
  return x < y ? y : x;
}

/// The smallest lane, folded as min(min(a0, a2), min(a1, a3)).
POSENC_INLINE float smallest(F32x4 a) {
  const F32x4 m = min(a, high_high(a, a));
  const float x = lane<0>(m), y = lane<1>(m);
  return y < x ? y : x;
}

/// Nearest integer, ties to even, for |a| < 2^22; by magic number, so that every back end agrees.
POSENC_INLINE I32x4 round_to_int(F32x4 a) {
  return bits(a + splat(12582912.0f)) - splat_int(0x4b400000);
}

/// First `count` (0 to 4) floats of p, the other lanes zero.
POSENC_INLINE F32x4 load_part(const float* p, std::size_t count) {
  float buffer[4] = {0, 0, 0, 0};
  for (std::size_t n = 0; n < count && n < 4; ++n) buffer[n] = p[n];
  return load(buffer);
}

/// Writes the first `count` (0 to 4) lanes only.
POSENC_INLINE void store_part(float* p, F32x4 a, std::size_t count) {
  float buffer[4];
  store(buffer, a);
  for (std::size_t n = 0; n < count && n < 4; ++n) p[n] = buffer[n];
}

}  // namespace posenc::simd
