#include "kernels/row_softmax.h"

#include <limits>

#include "simd/f32x4.h"
#include "simd/math.h"

namespace posenc {

using namespace simd;

void softmax_rows(const float* x, std::size_t x_stride, std::size_t rows, std::size_t columns, float* y,
                  std::size_t y_stride) {
  // x (rows, columns) -> y (rows, columns)
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  constexpr std::size_t kSome = 256;  // columns whose exponentials are under way
  float powers[kSome];
  const std::size_t whole = columns / 4 * 4, rest = columns - whole;
  for (; rows != 0; --rows, x += x_stride, y += y_stride) {
    // Four maxima side by side, so that one does not wait for another.
    F32x4 m0 = splat(kLowest), m1 = m0, m2 = m0, m3 = m0;
    std::size_t c = 0;
    for (; c + 16 <= whole; c += 16) {
      m0 = max(m0, load(x + c)), m1 = max(m1, load(x + c + 4));
      m2 = max(m2, load(x + c + 8)), m3 = max(m3, load(x + c + 12));
    }
    for (; c < whole; c += 4) m0 = max(m0, load(x + c));
    float top = largest(max(max(m0, m1), max(m2, m3)));
    for (c = whole; c < columns; ++c) top = top < x[c] ? x[c] : top;
    const F32x4 shift = splat(top == kLowest ? 0.0f : top);

    F32x4 total = splat(0.0f);
    for (std::size_t first = 0; first < whole; first += kSome) {
      const std::size_t end = whole - first < kSome ? whole - first : kSome;
      const float* const from = x + first;
      float* const to = y + first;
      POSENC_ROLLED
      for (c = 0; c < end; c += 4) {
        const ReducedExp reduced = reduce_exp(load(from + c) - shift);
        store(powers + c, reduced.power), store(to + c, reduced.r);
      }
      POSENC_ROLLED
      for (c = 0; c < end; c += 4) {
        const F32x4 p = finish_exp({load(powers + c), load(to + c)});
        store(to + c, p);
        total = total + p;
      }
    }
    if (rest != 0) {
      float last[4] = {kLowest, kLowest, kLowest, kLowest};
      for (std::size_t n = 0; n < rest; ++n) last[n] = x[whole + n];
      const F32x4 p = exp_bounded(load(last) - shift);
      store_part(y + whole, p, rest);
      total = total + p;
    }
    const float all = sum(total);
    const F32x4 factor = splat(all == 0 ? 0.0f : 1.0f / all);
    for (c = 0; c < whole; c += 4) store(y + c, load(y + c) * factor);
    for (; c < columns; ++c) y[c] *= lane<0>(factor);
  }
}

}  // namespace posenc
