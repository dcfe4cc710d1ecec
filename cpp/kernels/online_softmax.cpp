#include "kernels/online_softmax.h"

#include <limits>

#include "simd/f32x4.h"
#include "simd/math.h"

namespace posenc {

using namespace simd;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// What to subtract: the maximum, or 0 while there is none (-inf - -inf is NaN).
POSENC_INLINE F32x4 shift_of(F32x4 m) { return keep(m != splat(-kInfinity), m); }

// x (rows, 4 of 8) -> exp(x - shift), and its sums by lane. Four lanes at a time: with eight in one turn V8 of 2026
// takes a quarter longer (0.92 us a tile of 128 rows, 0.74 so), and V8 of 2023 as long.
POSENC_INLINE F32x4 exponentials(float* x, std::size_t rows, F32x4 shift) {
  F32x4 total = splat(0.0f);
  constexpr std::size_t kSome = 32;  // rows whose exponentials are under way
  float powers[4 * kSome];
  while (rows != 0) {
    const std::size_t some = rows < kSome ? rows : kSome;
    POSENC_ROLLED
    for (std::size_t j = 0; j < some; ++j) {
      const ReducedExp reduced = reduce_exp(load(x + 8 * j) - shift);
      store(powers + 4 * j, reduced.power), store(x + 8 * j, reduced.r);
    }
    POSENC_ROLLED
    for (std::size_t j = 0; j < some; ++j) {
      const F32x4 p = finish_exp({load(powers + 4 * j), load(x + 8 * j)});
      store(x + 8 * j, p);
      total = total + p;
    }
    rows -= some, x += 8 * some;
  }
  return total;
}

}  // namespace

void add_and_find_largest(float* s, const float* b, std::size_t rows, float* m) {
  // s (rows, 8)  b (rows, 8) -> m (8)
  F32x4 m0 = splat(-kInfinity), m1 = m0;
  if (b != nullptr) {
    for (std::size_t j = 0; j < rows; ++j, s += 8, b += 8) {
      const F32x4 s0 = load(s) + load(b), s1 = load(s + 4) + load(b + 4);
      m0 = max(m0, s0), m1 = max(m1, s1);
      store(s, s0), store(s + 4, s1);
    }
  } else {
    // Every other row apart, so that no maximum waits for the one before it.
    F32x4 n0 = m0, n1 = m1;
    for (; rows >= 2; rows -= 2, s += 16) {
      m0 = max(m0, load(s)), m1 = max(m1, load(s + 4));
      n0 = max(n0, load(s + 8)), n1 = max(n1, load(s + 12));
    }
    if (rows != 0) m0 = max(m0, load(s)), m1 = max(m1, load(s + 4));
    m0 = max(m0, n0), m1 = max(m1, n1);
  }
  store(m, m0), store(m + 4, m1);
}

void softmax_tile(float* s, std::size_t rows, const float* tile_largest, float* m, float* l, float* alpha) {
  // s (rows, 8)  tile_largest m l (8) -> s (rows, 8)  m l alpha (8)
  POSENC_ROLLED
  for (std::size_t half = 0; half < 8; half += 4) {
    const F32x4 before = load(m + half), after = max(before, load(tile_largest + half)), shift = shift_of(after);
    const F32x4 total = exponentials(s + half, rows, shift), factor = exp_bounded(before - shift);
    store(m + half, after);
    store(l + half, load(l + half) * factor + total);
    store(alpha + half, factor);
  }
}

void normalise_output(float* o, std::size_t channels, const float* l, float scale) {
  // o (channels, 8)  l (8)
  const F32x4 l0 = load(l), l1 = load(l + 4), zero = splat(0.0f), factor = splat(scale);
  const I32x4 live0 = l0 != zero, live1 = l1 != zero;
  for (std::size_t c = 0; c < channels; ++c, o += 8) {
    store(o, keep(live0, load(o) / l0) * factor + zero);
    store(o + 4, keep(live1, load(o + 4) / l1) * factor + zero);
  }
}

void normalise_weights(float* s, std::size_t n, float m, float l) {
  // s (n) -> (n)
  if (l == 0) {
    for (std::size_t j = 0; j < n; ++j) s[j] = 0;
    return;
  }
  const F32x4 shift = splat(m == -kInfinity ? 0.0f : m), total = splat(l);
  std::size_t j = 0;
  for (; j + 4 <= n; j += 4) store(s + j, exp_bounded(load(s + j) - shift) / total);
  if (j < n) store_part(s + j, exp_bounded(load_part(s + j, n - j) - shift) / total, n - j);
}

}  // namespace posenc
