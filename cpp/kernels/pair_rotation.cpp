#include "kernels/pair_rotation.h"

#include <cstring>

#include "simd/f32x4.h"

namespace posenc {
namespace {

using simd::F32x4;

// Pairs first to last, one by one.
template <class Real>
void rotate_plainly(const PairRotation<Real>& r, const Real* cos, const Real* sin, std::size_t first, const Real* x,
                    Real* y) {
  const bool half = r.layout == PairLayout::kHalf;
  const std::size_t step = half ? 1 : 2, partner = half ? r.pairs : 1;
  for (std::size_t i = first; i < r.pairs; ++i) {
    const Real c = cos[i], s = r.inverse ? -sin[i] : sin[i];
    const Real a = x[i * step], b = x[i * step + partner];
    y[i * step] = a * c - b * s;
    y[i * step + partner] = b * c + a * s;
  }
}

// Four pairs at a time; returns how many were done.
template <bool kInverse>
std::size_t rotate_interleaved(std::size_t pairs, const float* cos, const float* sin, const float* x, float* y) {
  std::size_t i = 0;
  for (; i + 4 <= pairs; i += 4) {
    const F32x4 c = simd::load(cos + i), s = simd::load(sin + i), negated = -s;
    const F32x4 first = kInverse ? s : negated, second = kInverse ? negated : s;
    const F32x4 x0 = simd::load(x + 2 * i), x1 = simd::load(x + 2 * i + 4);
    simd::store(y + 2 * i, x0 * zip_low(c, c) + swap_pairs(x0) * zip_low(first, second));
    simd::store(y + 2 * i + 4, x1 * zip_high(c, c) + swap_pairs(x1) * zip_high(first, second));
  }
  return i;
}

template <bool kInverse>
std::size_t rotate_halves(std::size_t pairs, const float* cos, const float* sin, const float* x, float* y) {
  std::size_t i = 0;
  for (; i + 4 <= pairs; i += 4) {
    const F32x4 c = simd::load(cos + i), s = simd::load(sin + i);
    const F32x4 a = simd::load(x + i), b = simd::load(x + pairs + i);
    simd::store(y + i, kInverse ? a * c + b * s : a * c - b * s);
    simd::store(y + pairs + i, kInverse ? b * c - a * s : b * c + a * s);
  }
  return i;
}

std::size_t rotate_fast(const PairRotation<float>& r, const float* cos, const float* sin, const float* x, float* y) {
  if (r.layout == PairLayout::kHalf) {
    return r.inverse ? rotate_halves<true>(r.pairs, cos, sin, x, y) : rotate_halves<false>(r.pairs, cos, sin, x, y);
  }
  return r.inverse ? rotate_interleaved<true>(r.pairs, cos, sin, x, y)
                   : rotate_interleaved<false>(r.pairs, cos, sin, x, y);
}

std::size_t rotate_fast(const PairRotation<double>&, const double*, const double*, const double*, double*) {
  return 0;
}

template <class Real>
void rotate(const PairRotation<Real>& r, const Real* x, std::size_t x_stride, Real* y, std::size_t y_stride) {
  for (std::size_t t = 0; t < r.tokens; ++t) {
    const Real* cos = r.cos + t * r.table_stride;
    const Real* sin = r.sin + t * r.table_stride;
    const Real* from = x + t * x_stride;
    Real* to = y + t * y_stride;
    rotate_plainly(r, cos, sin, rotate_fast(r, cos, sin, from, to), from, to);
    if (from != to && r.width > 2 * r.pairs) {
      std::memcpy(to + 2 * r.pairs, from + 2 * r.pairs, (r.width - 2 * r.pairs) * sizeof(Real));
    }
  }
}

}  // namespace

void rotate_pairs(const PairRotation<float>& rotation, const float* x, std::size_t x_stride, float* y,
                  std::size_t y_stride) {
  rotate(rotation, x, x_stride, y, y_stride);
}

void rotate_pairs(const PairRotation<double>& rotation, const double* x, std::size_t x_stride, double* y,
                  std::size_t y_stride) {
  rotate(rotation, x, x_stride, y, y_stride);
}

}  // namespace posenc
