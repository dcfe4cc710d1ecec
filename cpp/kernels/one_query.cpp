#include "kernels/one_query.h"

#include "simd/f32x4.h"

namespace posenc {

using namespace simd;

namespace {

// Four rows from channel c on: sum += row_c q_c and so on for four channels, each row in its lane.
POSENC_INLINE F32x4 add_four(F32x4 sum, const float* const* row, std::size_t c, const float* query) {
  F32x4 w = load(row[0] + c), x = load(row[1] + c), y = load(row[2] + c), z = load(row[3] + c);
  transpose(w, x, y, z);
  sum = sum + w * load_splat(query + 8 * c);
  sum = sum + x * load_splat(query + 8 * c + 8);
  sum = sum + y * load_splat(query + 8 * c + 16);
  return sum + z * load_splat(query + 8 * c + 24);
}

}  // namespace

void score_rows(const float* keys, std::size_t rows, std::size_t d, const float* query, float* s) {
  // keys (rows, d)  query (d, 8) -> s (rows, 8)
  for (std::size_t j = 0; j < rows; j += 8, s += 64) {
    // Eight rows at a time, in two sums, since each waits for its last addition; missing rows repeat the last.
    const std::size_t live = rows - j < 8 ? rows - j : 8;
    const float* row[8];
    for (std::size_t i = 0; i < 8; ++i) row[i] = keys + (j + (i < live ? i : live - 1)) * d;
    F32x4 a = splat(0.0f), b = a;
    for (std::size_t c = 0; c < d; c += 4) a = add_four(a, row, c, query), b = add_four(b, row + 4, c, query);
    float sums[8];
    store(sums, a), store(sums + 4, b);
    for (std::size_t i = 0; i < live; ++i) {
      const F32x4 sum = load_splat(sums + i);
      store(s + 8 * i, sum), store(s + 8 * i + 4, sum);
    }
  }
}

void value_rows(const float* values, std::size_t rows, std::size_t dv, const float* p, float alpha, float* o) {
  // values (rows, dv)  p (rows, 8) -> o (dv, 8)
  for (std::size_t c = 0; c < dv; c += 16, o += 128) {
    const F32x4 zero = splat(0.0f);
    F32x4 w = zero, x = zero, y = zero, z = zero;
    for (std::size_t j = 0; j < rows; ++j) {
      const float* const v = values + j * dv + c;
      const F32x4 weight = load_splat(p + 8 * j);
      w = w + load(v) * weight, x = x + load(v + 4) * weight;
      y = y + load(v + 8) * weight, z = z + load(v + 12) * weight;
    }
    float sums[16];
    store(sums, w), store(sums + 4, x), store(sums + 8, y), store(sums + 12, z);
    for (std::size_t i = 0; i < 16; ++i) o[8 * i] = o[8 * i] * alpha + sums[i];
  }
}

}  // namespace posenc
