// Note 000's Taylor expansion of a model in the position vectors of two of its tokens, on a small attention model.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/status.h"

namespace posenc {

/// One head without a mask, pooled to a number so that no order of the tokens can be told:
///   f(X) = 1/T sum_i sum_j softmax_j(x_i W_Q (x_j W_K)^T / sqrt(d)) x_j W_V w.
/// X (T, d) is standard normal, W_Q, W_K, W_V (d, d) and w (d) normal of variance 1/d, from streams 0 to 4 of the seed.
struct Expansion {
  std::size_t tokens = 0, dim = 0;  // 2 to 256 tokens, 1 to 256 columns
  std::uint64_t seed = 0;
  std::size_t m = 0, n = 1;           // the two tokens, different
  const double* p_m = nullptr;        // (d) their position vectors
  const double* p_n = nullptr;
};

/// scales (count) -> terms (count, 6), value (count), remainder (count). With p_m and p_n times the scale, the terms
/// are
///   f,  p_m . df/dx_m,  p_n . df/dx_n,  p_m^T f_mm p_m / 2,  p_n^T f_nn p_n / 2,  p_m^T f_mn p_n
/// at X, by exact differentiation (arithmetic of polynomials in two variables cut off after the second degree, in
/// float64); value is f at the moved X and remainder what the six leave of it, which falls with the cube of the scale
/// until it meets the rounding of f, some 1e-15. norms: the mean length of the rows of X, |p_m|, |p_n|.
/// Errors: sizes and tokens out of range; scales that are not finite, or `out-of-range` where a score overflows.
Status expand(const Expansion& model, const double* scales, std::size_t count, double* terms, double* value,
              double* remainder, double (&norms)[3]);

}  // namespace posenc
