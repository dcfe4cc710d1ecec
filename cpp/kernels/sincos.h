// Exact tables of sines and cosines of position * omega.
//
// float32: the nearest float (within 0.5 + 2^-30 ULP, proven). float64: within 0.51 ULP, or 2^-1050 max(1, |scale|)
// among the denormals. The bits of a cell depend on its position, frequency and scale alone, never on its neighbours:
// row 5 of a table is the table of position 5.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/frequencies.h"

namespace posenc {

enum class PairOrder { kSinCos, kCosSin };

/// Where a table goes: the sine of pair i of token t to sin[t * row_stride + i * pair_stride] when i < sin_pairs, the
/// cosine likewise. Strides count elements.
template <class Real>
struct SinCosTable {
  Real* sin = nullptr;
  Real* cos = nullptr;
  std::size_t row_stride = 0;
  std::size_t pair_stride = 1;
  std::size_t sin_pairs = 0;
  std::size_t cos_pairs = 0;

  /// Columns 2 i and 2 i + 1 of rows of `columns` columns (odd: the last pair has its first member only).
  static SinCosTable interleaved(Real* out, std::size_t row_stride, std::size_t columns, PairOrder order) {
    const std::size_t first = (columns + 1) / 2, second = columns / 2;
    return order == PairOrder::kSinCos ? SinCosTable{out, out + 1, row_stride, 2, first, second}
                                       : SinCosTable{out + 1, out, row_stride, 2, second, first};
  }
  /// Columns i and (columns + 1) / 2 + i (odd: the first block is the longer one).
  static SinCosTable half(Real* out, std::size_t row_stride, std::size_t columns, PairOrder order) {
    const std::size_t first = (columns + 1) / 2, second = columns / 2;
    return order == PairOrder::kSinCos ? SinCosTable{out, out + first, row_stride, 1, first, second}
                                       : SinCosTable{out + first, out, row_stride, 1, second, first};
  }
  /// Two tables (T, pairs), as rotations want them.
  static SinCosTable separate(Real* cos, Real* sin, std::size_t row_stride, std::size_t pairs) {
    return {sin, cos, row_stride, 1, pairs, pairs};
  }
};

/// Writes scale * sin and scale * cos of positions[t] * omega_i, rounded once. Positions are any doubles with
/// |p| <= 2^53; runs with a constant step are many times faster than scattered positions. Zeros are +0. The table must
/// not have more pairs than the frequencies.
void fill_sin_cos(const Frequencies& frequencies, std::span<const double> positions, const SinCosTable<float>& table,
                  double scale = 1.0);
void fill_sin_cos(const Frequencies& frequencies, std::span<const double> positions, const SinCosTable<double>& table,
                  double scale = 1.0);

}  // namespace posenc
