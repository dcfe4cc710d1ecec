// The cells that sincos_mpfr_test.cpp proves, by their bits: what binds every other build to that proof.
#include <catch2/catch.hpp>

#include <vector>

#include "support/hashes.h"
#include "support/sincos_cells.h"

namespace posenc {

TEST_CASE("the cells proved against MPFR have the same bits in every build") {
  std::vector<float> all;
  for (const testing::CellGroup& group : testing::sincos_cell_groups()) {
    const std::vector<float> cells = testing::sincos_cells(group);
    all.insert(all.end(), cells.begin(), cells.end());
  }
  testing::check_hash("sincos/mpfr-cells", all.data(), all.size());
}

TEST_CASE("float64 tables have the same bits in every build") {
  const auto frequencies = Frequencies::timing(1, 1e4, 31);
  const double positions[] = {0, 1, 2, 3, 4, -0.5, 1e-3, 1099511627776.0, 123456789.25, -9007199254740992.0};
  std::vector<double> table(std::size(positions) * 61);
  fill_sin_cos(*frequencies, positions, SinCosTable<double>::half(table.data(), 61, 61, PairOrder::kCosSin), 0.7);
  testing::check_hash("sincos/float64", table.data(), table.size());
}

}  // namespace posenc
