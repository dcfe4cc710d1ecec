#include <cmath>
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

const GoldenSets kGoldenSets(schemes::bias_toeplitz,
                             {"values=random:1", "values=random:2", "values=random:3", "values=random:123456789012"});

// Of two heads and offsets -2 .. 2.
const std::vector<float> kValues = {-2, -1, -0.0f, 1, 2, 50, 40, 30, 20, 10};

Built toeplitz(const std::vector<float>& values, std::initializer_list<std::size_t> shape) {
  Built built = build(schemes::bias_toeplitz, "");
  REQUIRE(built.spec->set("values", Table::of(values.data(), shape)).ok());
  built.status = make_scheme(*built.spec, built.scheme);
  return built;
}

}  // namespace

TEST_CASE("toeplitz: column n - 1 is offset 0, columns before it are keys behind") {
  const Built built = toeplitz(kValues, {2, 5});
  REQUIRE(built.status.ok());
  CHECK(built.scheme->heads() == 2);
  const std::vector<float> b = bias_matrix(built.as<Bias>(), 0, run(7, 3), run(7, 3));
  CHECK(b == std::vector<float>{0, 1, 2, -1, 0, 1, -2, -1, 0});
  for (const float x : b) CHECK_FALSE((x == 0 && std::signbit(x)));
  CHECK(bias_matrix(built.as<Bias>(), 1, {0}, {-2, 0, 2}) == std::vector<float>{50, 30, 10});
  CHECK(index_matrix(built.as<Bias>(), false, {0}, {-2, 0, 2}) == std::vector<std::int32_t>{0, 2, 4});
  CHECK(index_matrix(built.as<Bias>(), true, {0}, {-2, 0, 2}) == std::vector<std::int32_t>{-2, 0, 2});
  CHECK(bias_matrix(built.as<Bias>(), 1, run(7, 3), run(7, 3)) ==
        bias_matrix(built.as<Bias>(), 1, run(7, 3), run(7, 3), false));
}

TEST_CASE("toeplitz: offsets that the table does not hold are refused") {
  const Built built = toeplitz(kValues, {2, 5});
  const Bias* const schemes[] = {&built.as<Bias>()};
  const Reals near = run(0, 3), far = run(0, 4);
  std::vector<float> out(32);
  CHECK(bias_matrix(schemes, {near.data(), 3, 1}, {near.data(), 3, 1}, nullptr, 2, out.data()).ok());
  const Status status = bias_matrix(schemes, {near.data(), 3, 1}, {far.data(), 4, 1}, nullptr, 2, out.data());
  CHECK(status.code == Code::kOutOfRange);
  CHECK(status.message() == "bias: positions must be at most 2 apart for toeplitz, got 3");
  std::vector<std::int32_t> rows(32);
  CHECK(table_rows(*built.scheme, Slot::kBias, {far.data(), 4, 1}, {near.data(), 3, 1}, false, rows.data()).code ==
        Code::kOutOfRange);
}

TEST_CASE("toeplitz: an even number of columns, or no matrix, is refused") {
  CHECK(toeplitz(kValues, {5, 2}).status.message() == "toeplitz: values must be of shape [heads, 2 n - 1], got [5, 2]");
  CHECK(toeplitz(kValues, {10}).status.code == Code::kShapeMismatch);
  CHECK(build(schemes::bias_toeplitz, "").status.code == Code::kMissingOption);
}
