#include "kernels/score_tile.h"

#include <cstring>
#include <limits>

#include "kernels/register_tile.h"
#include "simd/f32x4.h"

namespace posenc {

using namespace simd;

void pack_panels(const float* x, std::size_t row_stride, std::size_t rows, std::size_t columns, float* panels) {
  // x (rows, columns) -> panels (ceil(rows / 4), columns, 4)
  for (std::size_t row = 0; row < rows; row += 4) {
    const std::size_t live = rows - row < 4 ? rows - row : 4;
    const float* r[4];
    for (std::size_t i = 0; i < 4; ++i) r[i] = x + (row + (i < live ? i : 0)) * row_stride;
    const I32x4 keep_row = make_int(-1, live > 1 ? -1 : 0, live > 2 ? -1 : 0, live > 3 ? -1 : 0);
    std::size_t c = 0;
    for (; c + 4 <= columns; c += 4, panels += 16) {
      F32x4 a = load(r[0] + c), b = load(r[1] + c), e = load(r[2] + c), f = load(r[3] + c);
      transpose(a, b, e, f);
      store(panels, keep(keep_row, a)), store(panels + 4, keep(keep_row, b));
      store(panels + 8, keep(keep_row, e)), store(panels + 12, keep(keep_row, f));
    }
    for (; c < columns; ++c, panels += 4) store(panels, keep(keep_row, make(r[0][c], r[1][c], r[2][c], r[3][c])));
  }
}

void pack_lanes(const float* x, std::size_t row_stride, int rows, std::size_t d, float scale, float* lanes) {
  // x (rows, d) -> lanes (d, 8)
  if (d == 0) return;  // apart, as in score_tile
  const F32x4 factor = splat(scale);
  for (int half = 0; half < 2; ++half) {
    const float* r[4];
    for (int i = 0; i < 4; ++i) {
      const int row = 4 * half + i < rows ? 4 * half + i : rows - 1;
      r[i] = x + static_cast<std::size_t>(row) * row_stride;
    }
    float* to = lanes + 4 * half;
    std::size_t c = 0;
    for (; c + 4 <= d; c += 4, to += 32) {
      F32x4 a = load(r[0] + c), b = load(r[1] + c), e = load(r[2] + c), f = load(r[3] + c);
      transpose(a, b, e, f);
      store(to, a * factor), store(to + 8, b * factor), store(to + 16, e * factor), store(to + 24, f * factor);
    }
    for (; c < d; ++c, to += 8) store(to, make(r[0][c], r[1][c], r[2][c], r[3][c]) * factor);
  }
}

void score_tile(const float* keys, const float* queries, std::size_t d, std::size_t panels, float* s, float* most) {
  // keys (panels, d, 4)  queries (d, 8) -> s (4 panels, 8)  most (8)
  F32x4 m0 = splat(-std::numeric_limits<float>::infinity()), m1 = m0;
  if (d == 0) {  // apart, or compilers write the loop down once more for it
    if (panels != 0) m0 = m1 = splat(0.0f);
    std::memset(s, 0, 32 * panels * sizeof(float));
    panels = 0;
  }
  for (std::size_t p = 0; p < panels; ++p, keys += 4 * d, s += 32) {
    const RegisterTile t = multiply(keys, queries, d);
    m0 = max(max(max(max(m0, t.a0), t.b0), t.c0), t.d0);
    m1 = max(max(max(max(m1, t.a1), t.b1), t.c1), t.d1);
    store(s, t.a0), store(s + 4, t.a1);
    store(s + 8, t.b0), store(s + 12, t.b1);
    store(s + 16, t.c0), store(s + 20, t.c1);
    store(s + 24, t.d0), store(s + 28, t.d1);
  }
  store(most, m0), store(most + 4, m1);
}

void unpack_lanes(const float* tile, std::size_t n, int rows, float* out, std::size_t row_stride) {
  // tile (n, 8) -> out (rows, n)
  std::size_t j = 0;
  for (; j + 4 <= n; j += 4) {
    for (int half = 0; half < rows; half += 4) {
      const float* from = tile + 8 * j + half;
      F32x4 a = load(from), b = load(from + 8), c = load(from + 16), d = load(from + 24);
      transpose(a, b, c, d);
      float* to = out + static_cast<std::size_t>(half) * row_stride + j;
      store(to, a);
      if (half + 1 < rows) store(to + row_stride, b);
      if (half + 2 < rows) store(to + 2 * row_stride, c);
      if (half + 3 < rows) store(to + 3 * row_stride, d);
    }
  }
  for (; j < n; ++j) {
    for (int l = 0; l < rows; ++l)
      out[static_cast<std::size_t>(l) * row_stride + j] = tile[8 * j + static_cast<std::size_t>(l)];
  }
}

}  // namespace posenc
