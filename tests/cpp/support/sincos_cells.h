// The cells on which tables are held against MPFR, and by whose hash every other build is bound to that comparison.
// Positions come from integer arithmetic only, so they are the same everywhere.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/frequencies.h"
#include "kernels/sincos.h"

namespace posenc::testing {

enum class CellKind { kRun, kScattered, kContinuedFraction };

/// Cells of one table call: all pairs of all positions, or one pair only.
struct CellGroup {
  CellKind kind;
  double base;
  std::int64_t dim;
  std::vector<double> positions;
  std::size_t first_pair, end_pair;
};

inline constexpr double kCellBases[] = {1e4, 5e5, 1e6};

/// Positions q <= 2^53 with q * quarter_turns nearer to a whole number than any smaller one: the denominators of the
/// convergents. There sine or cosine is as close to zero as it gets.
inline std::vector<double> near_quarter_turns(const MultiFloat& quarter_turns) {
  std::vector<double> list;
  MultiFloat x = quarter_turns;
  std::uint64_t before = 1, q = 0;  // denominators before the first term
  for (int n = 0; n < 200; ++n) {
    const double rounded = x.to_double();
    if (!(rounded < 9e15)) break;
    auto term = static_cast<std::uint64_t>(rounded);
    if (x < MultiFloat(static_cast<double>(term))) --term;
    const double size = static_cast<double>(term) * static_cast<double>(q) + static_cast<double>(before);
    if (size > 9007199254740992.0) break;
    const std::uint64_t next = term * q + before;
    before = q;
    q = next;
    if (list.empty() || list.back() != static_cast<double>(q)) list.push_back(static_cast<double>(q));
    const MultiFloat rest = x - MultiFloat(static_cast<double>(term));
    if (rest.is_zero()) break;
    x = MultiFloat(1.0) / rest;
  }
  return list;
}

inline std::vector<CellGroup> sincos_cell_groups() {
  std::vector<CellGroup> groups;
  static constexpr std::uint64_t kLargest = std::uint64_t{1} << 53;
  std::uint64_t state = 0x9e3779b97f4a7c15u;
  const auto random = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 11;
  };
  // Up to about the decade, with as many bits below the point as there is room for.
  const auto fraction = [](std::uint64_t bits, std::uint64_t of) {
    return static_cast<double>(bits) / static_cast<double>(kLargest / (of < 8 ? 1 : of / 4));
  };
  constexpr std::int64_t kDim = 64;
  constexpr std::size_t kPairs = 32, kRows = 43;
  for (const double base : kCellBases) {
    std::uint64_t decade = 1;
    for (int digits = 0; digits < 16; ++digits, decade *= 10) {
      const std::uint64_t width = (decade < kLargest / 10 ? 9 * decade : kLargest - decade);
      // Runs start anywhere in the decade and cross edges between blocks: rows 15 to 16 and 31 to 32.
      std::vector<double> run;
      std::uint64_t start = decade + random() % width;
      constexpr double kSteps[] = {1, 1, -1, 0.5, 3};
      const double step = kSteps[random() % 5];
      if (start > kLargest - 200) start -= 200;
      for (std::size_t t = 0; t < kRows; ++t) {
        const double exact = static_cast<double>(start / 2) + step * static_cast<double>(t);
        run.push_back(digits % 3 == 2 ? -exact : exact);
      }
      groups.push_back({CellKind::kRun, base, kDim, run, 0, kPairs});
      std::vector<double> scattered;
      for (std::size_t t = 0; t < kRows; ++t) {
        const std::uint64_t whole = decade + random() % width;
        double p = static_cast<double>(whole);
        if (t % 4 == 1) p = fraction(random(), decade);
        if (t % 5 == 3) p = -p;
        scattered.push_back(p);
      }
      if (digits == 15) scattered.push_back(static_cast<double>(kLargest));
      groups.push_back({CellKind::kScattered, base, kDim, scattered, 0, kPairs});
    }
    const auto frequencies = Frequencies::power_law(base, kDim, kPairs);
    for (std::size_t i = 0; i < kPairs; ++i) {
      const MultiFloat turns = frequencies->angular(i) * MultiFloat::two_over_pi();
      groups.push_back({CellKind::kContinuedFraction, base, kDim, near_quarter_turns(turns), i, i + 1});
    }
  }
  return groups;
}

/// sin, cos of the group's cells as float32: (positions, end_pair - first_pair, 2).
inline std::vector<float> sincos_cells(const CellGroup& group) {
  const std::size_t columns = 2 * group.end_pair, first = 2 * group.first_pair;
  std::vector<float> table(group.positions.size() * columns), cells;
  const auto frequencies = Frequencies::power_law(group.base, group.dim, static_cast<std::size_t>(group.dim / 2));
  fill_sin_cos(*frequencies, group.positions,
               SinCosTable<float>::interleaved(table.data(), columns, columns, PairOrder::kSinCos));
  for (std::size_t t = 0; t < group.positions.size(); ++t) {
    const float* row = table.data() + t * columns;
    cells.insert(cells.end(), row + first, row + columns);
  }
  return cells;
}

}  // namespace posenc::testing
