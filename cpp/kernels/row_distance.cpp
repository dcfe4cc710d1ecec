#include "kernels/row_distance.h"

#include "simd/f64x2.h"

namespace posenc {

namespace {

using simd::F64x2;
using simd::load;
using simd::splat;

constexpr std::size_t kRun = 16;  // columns between two looks at the limit

// The sum of squares of gap(c), gap(c + 1) for c = 0, 2, ...
template <class Gap>
POSENC_INLINE double sum_of_squares(std::size_t width, double limit, Gap gap) {
  F64x2 low = splat(0.0), high = low;
  for (std::size_t c = 0; c < width;) {
    const std::size_t end = c + kRun < width ? c + kRun : width;
    for (; c < end; c += kDistanceStep) {
      const F64x2 a = gap(c), b = gap(c + 2);
      low += a * a;
      high += b * b;
    }
    if (simd::sum(low + high) > limit) break;
  }
  return simd::sum(low + high);
}

}  // namespace

double squared_distance(const double* a, const double* b, std::size_t width, double limit, double scale) {
  if (scale != 1) {
    const F64x2 by = splat(scale);
    return sum_of_squares(width, limit, [=](std::size_t c) { return (load(a + c) - load(b + c)) * by; });
  }
  return sum_of_squares(width, limit, [=](std::size_t c) { return load(a + c) - load(b + c); });
}

double squared_gap(const double* low_a, const double* high_a, const double* low_b, const double* high_b,
                   std::size_t width, double limit, double scale) {
  const F64x2 zero = splat(0.0), by = splat(scale);
  return sum_of_squares(width, limit, [=](std::size_t c) {
    const F64x2 over = load(low_b + c) - load(high_a + c), under = load(low_a + c) - load(high_b + c);
    return max(zero, max(over, under)) * by;
  });
}

}  // namespace posenc
