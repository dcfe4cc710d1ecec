// Tables for the tests of analyses.
#pragma once

#include <vector>

#include "kernels/sincos.h"
#include "support/build.h"

namespace posenc_test {

/// (rows, columns) numbers of a range.
inline std::vector<double> random_table(Dice& dice, std::size_t rows, std::size_t columns, double low = -1,
                                        double high = 1) {
  std::vector<double> table(rows * columns);
  for (double& x : table) x = dice.real(low, high);
  return table;
}

/// The interleaved table of sines and cosines of base^(-2 i / columns) at `first` and on, columns even.
inline std::vector<double> sinusoids(std::size_t rows, std::size_t columns, double base = 10000, double first = 0) {
  std::vector<double> table(rows * columns), positions(rows);
  for (std::size_t t = 0; t < rows; ++t) positions[t] = first + static_cast<double>(t);
  const auto law = posenc::Frequencies::power_law(base, static_cast<std::int64_t>(columns), columns / 2);
  posenc::fill_sin_cos(
      *law, positions,
      posenc::SinCosTable<double>::interleaved(table.data(), columns, columns, posenc::PairOrder::kSinCos));
  return table;
}

/// base^(-2 i / columns) as doubles.
inline std::vector<double> omegas(std::size_t columns, double base = 10000) {
  const auto law = posenc::Frequencies::power_law(base, static_cast<std::int64_t>(columns), columns / 2);
  std::vector<double> list(columns / 2);
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = law->omega(i);
  return list;
}

inline std::size_t whole(Dice& dice, int low, int high) { return static_cast<std::size_t>(dice.integer(low, high)); }

}  // namespace posenc_test
