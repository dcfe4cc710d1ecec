#include "kernels/value_tile.h"

#include "kernels/register_tile.h"
#include "simd/f32x4.h"

namespace posenc {

using namespace simd;

namespace {

// o (1, 8) = alpha o + sum
POSENC_INLINE void fold(float* o, F32x4 alpha0, F32x4 alpha1, F32x4 sum0, F32x4 sum1) {
  store(o, load(o) * alpha0 + sum0);
  store(o + 4, load(o + 4) * alpha1 + sum1);
}

}  // namespace

void value_tile(const float* values, std::size_t stride, const float* p, std::size_t rows, std::size_t panels,
                const float* alpha, float* o) {
  // values (panels, stride, 4)  p (rows, 8)  alpha (8) -> o (4 panels, 8)
  for (; panels != 0; --panels, values += 4 * stride, o += 32) {
    const RegisterTile t = multiply(values, p, rows);
    const F32x4 alpha0 = load(alpha), alpha1 = load(alpha + 4);
    fold(o, alpha0, alpha1, t.a0, t.a1);
    fold(o + 8, alpha0, alpha1, t.b0, t.b1);
    fold(o + 16, alpha0, alpha1, t.c0, t.c1);
    fold(o + 24, alpha0, alpha1, t.d0, t.d1);
  }
}

void value_tile_guarded(const float* values, std::size_t stride, const float* p, const unsigned char* visible,
                        std::size_t rows, std::size_t panels, const float* alpha, float* o) {
  // values (panels, stride, 4)  p (rows, 8)  visible (rows)  alpha (8) -> o (4 panels, 8)
  for (std::size_t c = 0; c < 4 * panels; ++c, o += 8) {
    const float* column = values + (c / 4) * 4 * stride + c % 4;
    for (int l = 0; l < 8; ++l) {
      float sum = 0;
      for (std::size_t j = 0; j < rows; ++j) {
        if (visible[j] >> l & 1) sum += column[4 * j] * p[8 * j + static_cast<std::size_t>(l)];
      }
      o[l] = o[l] * alpha[l] + sum;
    }
  }
}

void pack_values(const float* v, std::size_t row_stride, std::size_t rows, std::size_t dv, float scale,
                 std::size_t stride, float* panels) {
  // v (rows, dv) -> panels (ceil(dv / 4), stride, 4)
  const F32x4 factor = splat(scale);
  std::size_t c = 0;
  for (; c + 4 <= dv; c += 4, panels += 4 * stride) {
    for (std::size_t j = 0; j < rows; ++j) store(panels + 4 * j, load(v + j * row_stride + c) * factor);
  }
  if (c < dv) {
    for (std::size_t j = 0; j < rows; ++j) {
      store(panels + 4 * j, load_part(v + j * row_stride + c, dv - c) * factor);
    }
  }
}

}  // namespace posenc
