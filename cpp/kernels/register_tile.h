// The 4 x 8 tile that stays in registers: eight accumulators, two operands and one broadcast fit the sixteen vector
// registers of SSE and of V8.
#pragma once

#include <cstddef>

#include "simd/address.h"
#include "simd/f32x4.h"

namespace posenc {

// Rows a to d by lanes 0-3 and 4-7.
struct RegisterTile {
  simd::F32x4 a0, a1, b0, b1, c0, c1, d0, d1;
};

// One term, its rows from four addresses. In this order V8 of 2026 leaves what it is given, and processors with two
// schedulers for vectors (those measured) fill both evenly: Chromium does 50 GFLOP/s, and 44 row by row, with the same
// instructions in the same number. V8 of 2023 (Node 20) orders them itself.
POSENC_INLINE void multiply_add(RegisterTile& t, const float* a_at, const float* b_at, const float* c_at,
                                const float* d_at, const float* right) {
  using namespace simd;
  const F32x4 r0 = load(right), r1 = load(right + 4);
  const F32x4 a = load_splat(a_at), b = load_splat(b_at), c = load_splat(c_at), d = load_splat(d_at);
  t.a0 = t.a0 + a * r0, t.a1 = t.a1 + a * r1;
  t.b1 = t.b1 + b * r1, t.c0 = t.c0 + c * r0;
  t.c1 = t.c1 + c * r1, t.b0 = t.b0 + b * r0;
  t.d1 = t.d1 + d * r1, t.d0 = t.d0 + d * r0;
}

POSENC_INLINE void multiply_add(RegisterTile& t, const float* left, const float* right) {
  multiply_add(t, left, left + 1, left + 2, left + 3, right);
}

// The k-th term after `left`, which then moves on: false where it was the last.
POSENC_INLINE bool add_term(RegisterTile& t, const float*& left, const float* last, const float* right, std::size_t k) {
  multiply_add(t, left, right + 8 * k);
  if (left == last) return false;
  left += 4;
  simd::keep_address(left);
  return true;
}

POSENC_INLINE bool add_eight(RegisterTile& t, const float*& left, const float* last, const float* right) {
  return add_term(t, left, last, right, 0) && add_term(t, left, last, right, 1) && add_term(t, left, last, right, 2) &&
         add_term(t, left, last, right, 3) && add_term(t, left, last, right, 4) && add_term(t, left, last, right, 5) &&
         add_term(t, left, last, right, 6) && add_term(t, left, last, right, 7);
}

// left (n, 4)  right (n, 8) -> (4, 8): the sum over n of left_i right_l, from zero, n rising.
//
// What bounds it is how many instructions the processor takes in (six to a cycle on the one measured): a term is
// sixteen multiplications and additions, six loads, and should be little else. In Node it does 53 GFLOP/s, and 44 with
// one term a turn.
// - Each term may be the last. The exits end a basic block, and compilers do not move additions across it; without them
//   they sink all additions of an accumulator below all loads and spill (25 GFLOP/s).
// - `left` moves on with every term. V8 forms the address of a load that broadcasts apart from it where there is an
//   offset, and takes that out of the loop only where all terms have the same four.
// - 32 terms a turn: a turn costs eleven instructions, and V8 orders the last term badly (16: 51 GFLOP/s).
POSENC_INLINE RegisterTile multiply(const float* left, const float* right, std::size_t n) {
  const simd::F32x4 zero = simd::splat(0.0f);
  RegisterTile t{zero, zero, zero, zero, zero, zero, zero, zero};
  if (n == 0) return t;
  const float* const last = left + 4 * (n - 1);
  while (add_eight(t, left, last, right) && add_eight(t, left, last, right + 64) &&
         add_eight(t, left, last, right + 128) && add_eight(t, left, last, right + 192)) {
    right += 256;
  }
  return t;
}

// Four rows that lie apart.
struct FourRows {
  const float *a, *b, *c, *d;
};

// The k-th term of four rows: false where it was the last of n.
POSENC_INLINE bool add_term(RegisterTile& t, const FourRows& x, const float* right, std::size_t k, std::size_t n) {
  multiply_add(t, x.a + k, x.b + k, x.c + k, x.d + k, right + 8 * k);
  return n != k + 1;
}

POSENC_INLINE bool add_four(RegisterTile& t, const FourRows& x, const float* right, std::size_t k, std::size_t n) {
  return add_term(t, x, right, k, n) && add_term(t, x, right, k + 1, n) && add_term(t, x, right, k + 2, n) &&
         add_term(t, x, right, k + 3, n);
}

// The same for them: x (4, n)  right (n, 8) -> (4, 8). One offset serves the four rows of a term.
POSENC_INLINE RegisterTile multiply_rows(FourRows x, const float* right, std::size_t n) {
  const simd::F32x4 zero = simd::splat(0.0f);
  RegisterTile t{zero, zero, zero, zero, zero, zero, zero, zero};
  if (n == 0) return t;
  while (add_four(t, x, right, 0, n) && add_four(t, x, right, 4, n)) {
    x = {x.a + 8, x.b + 8, x.c + 8, x.d + 8};
    right += 64;
    n -= 8;
  }
  return t;
}

}  // namespace posenc
