// Distances between rows of a float64 table, and between boxes round such rows.
#pragma once

#include <cstddef>

namespace posenc {

// Columns are summed in fours: rows are padded with zeros to a multiple of it.
inline constexpr std::size_t kDistanceStep = 4;
constexpr std::size_t padded_width(std::size_t width) {
  return (width + kDistanceStep - 1) / kDistanceStep * kDistanceStep;
}

/// |a - b|^2 over `width` columns, a multiple of four, in lanes c mod 4 added as (0+2)+(1+3). Stops once the sum so far
/// is above `limit`, which the rest can only raise.
double squared_distance(const double* a, const double* b, std::size_t width, double limit);

/// The same of the nearest points of two boxes [low, high]: never above the rounded distance of any row in one to any
/// row in the other, for every step of it is monotone in the gaps.
double squared_gap(const double* low_a, const double* high_a, const double* low_b, const double* high_b,
                   std::size_t width, double limit);

}  // namespace posenc
