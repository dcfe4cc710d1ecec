// Distances between rows of a float64 table, and between boxes round such rows.
#pragma once

#include <cmath>
#include <cstddef>

namespace posenc {

// Columns are summed in fours: rows are padded with zeros to a multiple of it.
inline constexpr std::size_t kDistanceStep = 4;
constexpr std::size_t padded_width(std::size_t width) {
  return (width + kDistanceStep - 1) / kDistanceStep * kDistanceStep;
}

/// |a - b|^2 over `width` columns, a multiple of four, in lanes c mod 4 added as (0+2)+(1+3). Stops once the sum so far
/// is above `limit`, which the rest can only raise. Each gap is multiplied by `scale`, a power of two, before it is
/// squared.
double squared_distance(const double* a, const double* b, std::size_t width, double limit, double scale = 1);

/// The same of the nearest points of two boxes [low, high]: never above the rounded distance of any row in one to any
/// row in the other, for every step of it is monotone in the gaps.
double squared_gap(const double* low_a, const double* high_a, const double* low_b, const double* high_b,
                   std::size_t width, double limit, double scale = 1);

// Squares below this may have lost what underflowed; gaps of such rows, and of rows whose squares overflow, are scaled.
inline constexpr double kLeastSquare = 0x1p-900;
inline constexpr double kRaise = 0x1p600, kLower = 0x1p-600;

/// square = `squared(1)`, where squared(scale) is the square of a distance times scale -> the distance, also where its
/// square is no float64.
template <class Squared>
double root_of(double square, const Squared& squared) {
  if (square >= kLeastSquare && square - square == 0) return std::sqrt(square);
  const double scale = square < kLeastSquare ? kRaise : kLower;
  return std::sqrt(squared(scale)) / scale;
}

}  // namespace posenc
