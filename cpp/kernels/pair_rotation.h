// Rotation of pairs of columns: what a rotate scheme does to q and k.
#pragma once

#include <cstddef>

namespace posenc {

/// kInterleaved: pairs (2 i, 2 i + 1), as in RoFormer, GPT-J and Meta's Llama.
/// kHalf: pairs (i, i + pairs), as in GPT-NeoX and Hugging Face's Llama.
enum class PairLayout { kInterleaved, kHalf };

/// What turns x (T, width) into y: row t by the angles whose cosines and sines are in row t of the tables (T, pairs),
/// `table_stride` elements apart: (a, b) -> (a cos - b sin, a sin + b cos), by the opposite angles when `inverse`.
/// Columns from 2 * pairs on are copied (partial rotary); 2 * pairs <= width.
template <class Real>
struct PairRotation {
  PairLayout layout = PairLayout::kInterleaved;
  std::size_t tokens = 0, width = 0, pairs = 0;
  const Real* cos = nullptr;
  const Real* sin = nullptr;
  std::size_t table_stride = 0;
  bool inverse = false;
};

/// Rows of x and y are x_stride and y_stride elements apart; x == y is legal, other overlap is not.
void rotate_pairs(const PairRotation<float>& rotation, const float* x, std::size_t x_stride, float* y,
                  std::size_t y_stride);
void rotate_pairs(const PairRotation<double>& rotation, const double* x, std::size_t x_stride, double* y,
                  std::size_t y_stride);

}  // namespace posenc
