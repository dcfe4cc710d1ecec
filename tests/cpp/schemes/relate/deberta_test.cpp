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

const GoldenSets kGoldenSets(schemes::relate_deberta,
                             {"heads=2 dim=8 span=4", "heads=1 dim=5 span=64 buckets=16 seed=3",
                              "heads=2 dim=6 span=7 terms=c2p keys=random:1",
                              "heads=1 dim=6 span=9 terms=p2c p2cRow=code",
                              "heads=3 dim=4 span=100 keys=random:1 queries=random:2"});

// Hugging Face's make_log_bucket_position in long double; whole logarithms are taken as whole.
long bucket(long distance, long buckets, long span) {
  const long middle = buckets / 2, n = std::labs(distance);
  if (n <= middle) return distance;
  const long double step = std::log(static_cast<long double>(n) / middle) /
                           std::log(static_cast<long double>(span - 1) / middle) * (middle - 1);
  const long double nearest = std::round(step);
  const long wide = middle + static_cast<long>(std::fabs(step - nearest) < 1e-12L ? nearest : std::ceil(step));
  return distance < 0 ? -wide : wide;
}

std::size_t row_of(long distance, long side) {
  return static_cast<std::size_t>(std::min(std::max(distance + side, 0L), 2 * side - 1));
}

}  // namespace

TEST_CASE("deberta: log buckets of v2 and v3 (golden deberta-001)") {
  const Built built = build(schemes::relate_deberta, "heads=1 dim=1 span=512 buckets=256");
  REQUIRE(built.status.ok());
  const double distances[] = {0, 1, 127, 128, 129, 200, 300, 511, 512, -129, -511};
  const int expected[] = {0, 1, 127, 128, 129, 169, 207, 255, 256, -129, -255};
  for (std::size_t n = 0; n < std::size(distances); ++n) {
    CHECK(index_matrix(built.as<Relate>(), true, {distances[n]}, {0})[0] == expected[n]);
    CHECK(index_matrix(built.as<Relate>(), false, {distances[n]}, {0})[0] == std::min(expected[n] + 256, 511));
  }
}

TEST_CASE("deberta: every bucket follows the rule, and its row is clipped") {
  struct Case {
    const char* options;
    long buckets, span;
  };
  for (const Case& c :
       {Case{"heads=1 dim=1 span=512 buckets=256", 256, 512}, Case{"heads=1 dim=1 span=65 buckets=16", 16, 65},
        Case{"heads=1 dim=1 span=100 buckets=9", 9, 100}, Case{"heads=1 dim=1 span=20 buckets=36", 36, 20}}) {
    const Built built = build(schemes::relate_deberta, c.options);
    REQUIRE(built.status.ok());
    const Reals keys = run(-700, 1401);
    const std::vector<std::int32_t> rows = index_matrix(built.as<Relate>(), false, {0}, keys);
    for (std::size_t n = 0; n < keys.size(); ++n) {
      INFO(c.options << ", offset " << keys[n]);
      REQUIRE(rows[n] == static_cast<int>(row_of(bucket(std::lround(-keys[n]), c.buckets, c.span), c.buckets)));
    }
  }
  const Built plain = build(schemes::relate_deberta, "heads=1 dim=1 span=3");
  CHECK(index_matrix(plain.as<Relate>(), false, {0}, run(-4, 9)) ==
        std::vector<std::int32_t>{5, 5, 5, 4, 3, 2, 1, 0, 0});
}

TEST_CASE("deberta: both terms through attention, by the paper and by the code") {
  const std::size_t heads = 2, d = 6;
  struct Case {
    const char* options;
    long buckets, span;
    bool c2p, p2c, code;
  };
  for (const Case& c : {Case{"heads=2 dim=6 span=5", 0, 5, true, true, false},
                        Case{"heads=2 dim=6 span=5 p2cRow=code", 0, 5, true, true, true},
                        Case{"heads=2 dim=6 span=7 terms=p2c", 0, 7, false, true, false},
                        Case{"heads=2 dim=6 span=7 terms=c2p", 0, 7, true, false, false},
                        Case{"heads=2 dim=6 span=64 buckets=16", 16, 64, true, true, false}}) {
    INFO(c.options);
    const long side = c.buckets != 0 ? c.buckets : c.span;
    const auto rows = static_cast<std::size_t>(2 * side);
    Numbers numbers(4);
    const std::vector<float> keys = numbers.floats(heads * rows * d), queries = numbers.floats(heads * rows * d);
    Built built = build(schemes::relate_deberta, c.options);
    REQUIRE(built.spec->set("keys", Table::of(keys.data(), {heads, rows, d})).ok());
    REQUIRE(built.spec->set("queries", Table::of(queries.data(), {heads, rows, d})).ok());
    built.status = make_scheme(*built.spec, built.scheme);
    REQUIRE(built.status.ok());
    AttentionCase a({.batch = 2, .heads = 2, .kv_heads = 2, .queries = 137, .keys = 137, .width = d, .value_width = 4},
                    9);
    const Relate* const schemes[] = {&built.as<Relate>()};
    a.call.relate = schemes;
    a.call.scale = 1 / std::sqrt(3.0 * static_cast<double>(d));
    Meaning meaning;
    meaning.relate = [&](std::size_t head, const Matrix& q, const Matrix& k, const Matrix&, const Matrix&) {
      const auto delta = [&](Eigen::Index i, Eigen::Index j) {
        const long n = static_cast<long>(i - j);
        return head * rows + row_of(c.buckets != 0 ? bucket(n, c.buckets, c.span) : n, side);
      };
      Matrix r = Matrix::Zero(q.rows(), k.rows());
      for (Eigen::Index i = 0; i < q.rows(); ++i) {
        for (Eigen::Index j = 0; j < k.rows(); ++j) {
          for (std::size_t n = 0; n < d; ++n) {
            const auto at = static_cast<Eigen::Index>(n);
            if (c.c2p) r(i, j) += q(i, at) * static_cast<double>(keys[delta(i, j) * d + n]);
            if (c.p2c) r(i, j) += k(j, at) * static_cast<double>(queries[(c.code ? delta(i, j) : delta(j, i)) * d + n]);
          }
        }
      }
      return Matrix(r * a.call.scale);
    };
    a.check(meaning);
  }
}

TEST_CASE("deberta: buckets that do not fit the span, and tables of other shapes, are refused") {
  CHECK(build(schemes::relate_deberta, "heads=1 dim=1 span=9 buckets=16").status.message() ==
        "deberta: buckets must be less than 2 (span - 1) = 16, got 16");
  const std::vector<float> table(48);
  Built built = build(schemes::relate_deberta, "heads=2 dim=4 span=4");
  REQUIRE(built.spec->set("keys", Table::of(table.data(), {2, 6, 4})).ok());
  CHECK(make_scheme(*built.spec, built.scheme).message() == "deberta: keys must be of shape [2, 8, 4], got [2, 6, 4]");
}
