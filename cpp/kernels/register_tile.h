// The 4 x 8 tile that stays in registers: eight accumulators, two operands and one broadcast fit the sixteen vector
// registers of SSE and of V8.
#pragma once

#include <cstddef>

#include "simd/f32x4.h"

namespace posenc {

// Rows a to d by lanes 0-3 and 4-7.
struct RegisterTile {
  simd::F32x4 a0, a1, b0, b1, c0, c1, d0, d1;
};

// What each of the four rows is times, four elements `apart`.
POSENC_INLINE void multiply_add(RegisterTile& t, const float* a_at, const float* b_at, const float* c_at,
                                const float* d_at, const float* right) {
  using namespace simd;
  const F32x4 r0 = load(right), r1 = load(right + 4);
  const F32x4 a = load_splat(a_at), b = load_splat(b_at), c = load_splat(c_at), d = load_splat(d_at);
  t.a0 = t.a0 + a * r0, t.a1 = t.a1 + a * r1;
  t.b0 = t.b0 + b * r0, t.b1 = t.b1 + b * r1;
  t.c0 = t.c0 + c * r0, t.c1 = t.c1 + c * r1;
  t.d0 = t.d0 + d * r0, t.d1 = t.d1 + d * r1;
}

POSENC_INLINE void multiply_add(RegisterTile& t, const float* left, const float* right) {
  multiply_add(t, left, left + 1, left + 2, left + 3, right);
}

// left (n, 4)  right (n, 8) -> (4, 8): the sum over n of left_i right_l, from zero, n rising.
//
// Unrolled by steps that may each be the last. The exits end a basic block, and compilers do not move additions across
// it; without them they sink all additions of an accumulator below all loads and spill (Node: 48 GFLOP/s as it stands,
// 44 rolled, 25 unrolled four times without exits).
POSENC_INLINE RegisterTile multiply(const float* left, const float* right, std::size_t n) {
  const simd::F32x4 zero = simd::splat(0.0f);
  RegisterTile t{zero, zero, zero, zero, zero, zero, zero, zero};
  if (n == 0) return t;
  for (;;) {
    multiply_add(t, left, right);
    if (n == 1) return t;
    multiply_add(t, left + 4, right + 8);
    if (n == 2) return t;
    multiply_add(t, left + 8, right + 16);
    if (n == 3) return t;
    multiply_add(t, left + 12, right + 24);
    n -= 4;
    if (n == 0) return t;
    left += 16, right += 32;
  }
}

// The same for four rows that lie apart: a, b, c, d (n)  right (n, 8) -> (4, 8).
POSENC_INLINE RegisterTile multiply_rows(const float* a, const float* b, const float* c, const float* d,
                                         const float* right, std::size_t n) {
  const simd::F32x4 zero = simd::splat(0.0f);
  RegisterTile t{zero, zero, zero, zero, zero, zero, zero, zero};
  if (n == 0) return t;
  for (;;) {
    multiply_add(t, a, b, c, d, right);
    if (n == 1) return t;
    multiply_add(t, a + 1, b + 1, c + 1, d + 1, right + 8);
    if (n == 2) return t;
    multiply_add(t, a + 2, b + 2, c + 2, d + 2, right + 16);
    if (n == 3) return t;
    multiply_add(t, a + 3, b + 3, c + 3, d + 3, right + 24);
    n -= 4;
    if (n == 0) return t;
    a += 4, b += 4, c += 4, d += 4, right += 32;
  }
}

}  // namespace posenc
