#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "schemes/scheme.h"
#include "support/attention_case.h"
#include "support/build.h"
#include "support/golden_sets.h"
#include "support/tiles.h"

using namespace posenc;
using namespace posenc_test;

namespace {

const GoldenSets kGoldenSets(schemes::relate_cope, {"dim=8 maxPosition=16", "dim=5 maxPosition=1 seed=3",
                                                    "dim=6 maxPosition=64 table=random:5", "dim=3 maxPosition=2"});

// q . e[p] for q = 1 (golden cope-001).
const std::vector<float> kTable = {0, 1, 4};

Built cope(std::string_view options, const std::vector<float>& table, std::initializer_list<std::size_t> shape) {
  Built built = build(schemes::relate_cope, options);
  REQUIRE(built.spec->set("table", Table::of(table.data(), shape)).ok());
  built.status = make_scheme(*built.spec, built.scheme);
  return built;
}

}  // namespace

TEST_CASE("cope: the last row of four tokens (golden cope-001)") {
  // q = 1: scores are the keys, and q . e[p] = 0, 1, 4.
  const Built built = cope("dim=1 maxPosition=3", kTable, {3, 1});
  REQUIRE(built.status.ok());
  const std::vector<float> q = {1}, k = {2, -1, 0, 1};
  const RelateResult result = relate_matrices(built.as<Relate>(), 0, q, k, 1, 1, {}, {3}, run(0, 4));
  const double expected[] = {4.0, 2.5, 1.693175736, 0.7310585786};
  for (std::size_t j = 0; j < 4; ++j) {
    CHECK(static_cast<double>(result.scores[j]) == Approx(expected[j]).epsilon(0).margin(1e-6));
  }
}

TEST_CASE("cope: through attention against the formula in double") {
  const std::size_t d = 6, rows = 24;
  Numbers numbers(12);
  const std::vector<float> table = numbers.floats(2 * rows * d);
  const Built built = cope("dim=6 maxPosition=24", table, {2, rows, d});
  REQUIRE(built.status.ok());
  REQUIRE(built.scheme->heads() == 2);
  AttentionCase c({.batch = 1, .heads = 2, .kv_heads = 2, .queries = 150, .keys = 150, .width = 6, .value_width = 5},
                  6);
  const Relate* const schemes[] = {&built.as<Relate>()};
  c.call.relate = schemes;
  c.call.causal = true;
  Meaning meaning;
  meaning.relate = [&](std::size_t head, const Matrix& q, const Matrix&, const Matrix& content, const Matrix& visible) {
    Matrix r = Matrix::Zero(content.rows(), content.cols());
    for (Eigen::Index i = 0; i < r.rows(); ++i) {
      double count = 0;
      for (Eigen::Index j = r.cols() - 1; j >= 0; --j) {
        if (visible(i, j) == 0) continue;
        count += 1 / (1 + std::exp(-content(i, j)));
        const double p = std::min(count, static_cast<double>(rows - 1));
        const auto low = static_cast<std::size_t>(std::floor(p));
        const std::size_t high = std::min(low + 1, rows - 1);
        double a = 0, b = 0;
        for (std::size_t n = 0; n < d; ++n) {
          a += q(i, static_cast<Eigen::Index>(n)) * static_cast<double>(table[(head * rows + low) * d + n]);
          b += q(i, static_cast<Eigen::Index>(n)) * static_cast<double>(table[(head * rows + high) * d + n]);
        }
        r(i, j) = a + (b - a) * (p - std::floor(p));
      }
    }
    return r;
  };
  c.check(meaning);
}

TEST_CASE("cope: huge scores open and close gates without a NaN") {
  const Built built = cope("dim=1 maxPosition=3", kTable, {3, 1});
  const std::vector<float> q = {1}, k = {1e30f, -1e30f, 1e30f, -1e30f};
  const RelateResult result = relate_matrices(built.as<Relate>(), 0, q, k, 1, 1, {}, {3}, run(0, 4));
  CHECK(result.scores == std::vector<float>{4, 1, 1, 0});
}

TEST_CASE("cope: needs a causal call, and its table's shape") {
  const Built built = build(schemes::relate_cope, "dim=4 maxPosition=8");
  AttentionCase c({.queries = 3, .keys = 3, .width = 4, .value_width = 4}, 6);
  const Relate* const schemes[] = {&built.as<Relate>()};
  c.call.relate = schemes;
  CHECK(c.run().code == Code::kUnsupported);
  CHECK(cope("dim=2 maxPosition=3", kTable, {3, 1}).status.message() ==
        "cope: table must be of shape [3, 2] or [heads, 3, 2], got [3, 1]");
}
