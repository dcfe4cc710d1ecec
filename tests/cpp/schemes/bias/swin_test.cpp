#include <vector>

#include <catch2/catch.hpp>

#include "schemes/alone.h"
#include "schemes/scheme.h"
#include "support/build.h"
#include "support/golden_sets.h"
#include "support/tiles.h"

using namespace posenc;
using namespace posenc_test;

namespace {

// Windows wide enough for the positions that hashes use.
const GoldenSets kGoldenSets(schemes::bias_swin,
                             {"window=131 heads=2", "window=140 heads=1 seed=9", "window=131 windowWidth=133 heads=3",
                              "window=200 windowWidth=131 heads=1"});

// grid(h, w): rows of the window, one after another.
Reals grid(int h, int w, double y = 0, double x = 0) {
  Reals positions;
  for (int n = 0; n < h * w; ++n) positions.push_back(y + n / w);
  for (int n = 0; n < h * w; ++n) positions.push_back(x + n % w);
  return positions;
}

}  // namespace

TEST_CASE("swin: rows of the table in a window of 2 by 2, as the authors' code lists them") {
  const Built built = build(schemes::bias_swin, "window=2 heads=1");
  REQUIRE(built.status.ok());
  const Reals cells = grid(2, 2);
  std::vector<std::int32_t> rows(16);
  REQUIRE(table_rows(*built.scheme, Slot::kBias, {cells.data(), 4, 2}, {cells.data(), 4, 2}, false, rows.data()).ok());
  CHECK(rows == std::vector<std::int32_t>{4, 3, 1, 0, 5, 4, 2, 1, 7, 6, 4, 3, 8, 7, 5, 4});
}

TEST_CASE("swin: the bias is the table's number, by row difference first, in any place") {
  const int h = 3, w = 5, heads = 2;
  std::vector<float> table((2 * h - 1) * (2 * w - 1) * heads);
  for (std::size_t n = 0; n < table.size(); ++n) table[n] = static_cast<float>(n) - 20;
  Built built = build(schemes::bias_swin, "window=3 windowWidth=5 heads=2");
  REQUIRE(built.spec->set("table", Table::of(table.data(), {45, 2})).ok());
  built.status = make_scheme(*built.spec, built.scheme);
  REQUIRE(built.status.ok());
  const Bias* const schemes[] = {&built.as<Bias>()};
  const Reals cells = grid(h, w, 6, -2);
  std::vector<float> b(2 * 15 * 15);
  REQUIRE(bias_matrix(schemes, {cells.data(), 15, 2}, {cells.data(), 15, 2}, nullptr, 2, b.data()).ok());
  for (int head = 0; head < heads; ++head) {
    for (int i = 0; i < 15; ++i) {
      for (int j = 0; j < 15; ++j) {
        const int dy = i / w - j / w, dx = i % w - j % w;
        const int row = (dy + h - 1) * (2 * w - 1) + dx + w - 1;
        REQUIRE(b[static_cast<std::size_t>((head * 15 + i) * 15 + j)] == static_cast<float>(row * heads + head) - 20);
      }
    }
  }
}

TEST_CASE("swin: patches farther apart than the window, and tables of another window, are refused") {
  const Built built = build(schemes::bias_swin, "window=2 windowWidth=4 heads=1");
  const Bias* const schemes[] = {&built.as<Bias>()};
  std::vector<float> b(256);
  const Reals wide = grid(2, 4), tall = grid(4, 2);
  CHECK(bias_matrix(schemes, {wide.data(), 8, 2}, {wide.data(), 8, 2}, nullptr, 1, b.data()).ok());
  CHECK(bias_matrix(schemes, {tall.data(), 8, 2}, {tall.data(), 8, 2}, nullptr, 1, b.data()).message() ==
        "bias: positions must be at most 1 apart for swin, got 3");
  const std::vector<float> table(13 * 13);
  Built other = build(schemes::bias_swin, "window=7 heads=1");
  REQUIRE(other.spec->set("table", Table::of(table.data(), {169})).ok());
  CHECK(make_scheme(*other.spec, other.scheme).message() == "swin: table must be of shape [169, 1], got [169]");
}
