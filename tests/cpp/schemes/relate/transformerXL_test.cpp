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

const GoldenSets kGoldenSets(schemes::relate_transformerXL,
                             {"heads=2 dim=4", "heads=1 dim=6 base=100 seed=7", "heads=3 dim=10 u=random:1 v=random:2",
                              "heads=2 dim=5 u=random:1 v=random:2 wr=random:3"});

struct Tables {
  std::vector<float> u, v, wr;
  std::size_t model = 0;
};

Built made(std::string_view options, const Tables& t, std::size_t heads, std::size_t d) {
  Built built = build(schemes::relate_transformerXL, options);
  REQUIRE(built.spec->set("u", Table::of(t.u.data(), {heads, d})).ok());
  REQUIRE(built.spec->set("v", Table::of(t.v.data(), {heads, d})).ok());
  REQUIRE(built.spec->set("wr", Table::of(t.wr.data(), {t.model, heads * d})).ok());
  built.status = make_scheme(*built.spec, built.scheme);
  return built;
}

// u . k + (q + v) . r(i - j), straight from the paper.
double term(const Tables& t, std::size_t heads, std::size_t d, std::size_t head, const float* q, const float* k,
            double distance, double base) {
  double sum = 0;
  for (std::size_t c = 0; c < d; ++c) {
    double r = 0;
    for (std::size_t m = 0; m < t.model; ++m) {
      const std::size_t pair = m % (t.model / 2);
      const double angle = distance * std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(t.model));
      const double wave = m < t.model / 2 ? std::sin(angle) : std::cos(angle);
      r += wave * static_cast<double>(t.wr[m * heads * d + head * d + c]);
    }
    sum += static_cast<double>(t.u[head * d + c]) * static_cast<double>(k[c]);
    sum += (static_cast<double>(q[c]) + static_cast<double>(t.v[head * d + c])) * r;
  }
  return sum;
}

}  // namespace

TEST_CASE("transformerXL: scores of three tokens (golden txl-003)") {
  const Tables t = {{0.5f, 0.5f}, {-0.5f, 0.25f}, {1, 0, 0, 1}, 2};
  const Built built = made("heads=1 dim=2", t, 1, 2);
  REQUIRE(built.status.ok());
  const std::vector<float> q = {1, 0, 1, 1, 1, 2}, k = {0, 1, 1, 1, 2, 1};
  const double expected[] = {0.5303300859, 0, 0, 1.835729372, 3.00520382, 0, 1.427166579, 3.985547749, 5.480077554};
  const RelateResult result =
      relate_matrices(built.as<Relate>(), 0, q, k, 2, 0.70710678118654752f, {}, run(0, 3), run(0, 3));
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double content = static_cast<double>(q[2 * i] * k[2 * j] + q[2 * i + 1] * k[2 * j + 1]) * std::sqrt(0.5);
      CHECK(content + static_cast<double>(result.scores[3 * i + j]) == Approx(expected[3 * i + j]).margin(1e-6));
    }
  }
}

TEST_CASE("transformerXL: terms of every pair, with memory, ahead, far and fractional") {
  const std::size_t heads = 3, d = 5;
  Numbers numbers(8);
  const Tables t = {numbers.floats(heads * d), numbers.floats(heads * d), numbers.floats(12 * heads * d), 12};
  const Built built = made("heads=3 dim=5 base=50", t, heads, d);
  REQUIRE(built.status.ok());
  struct Case {
    Reals queries, keys;
  };
  for (const Case& c : {Case{run(130, 11), run(0, 141)}, Case{run(0, 9), run(-300, 600)},
                        Case{run(0.25, 9), run(3.125, 20)}, Case{{5, 1048576, -2.5}, {0, 1048577, 70000}}}) {
    const std::vector<float> q = numbers.floats(c.queries.size() * d), k = numbers.floats(c.keys.size() * d);
    for (const std::size_t head : {std::size_t{2}, std::size_t{0}}) {
      const auto h = static_cast<int>(head);
      const RelateResult result = relate_matrices(built.as<Relate>(), h, q, k, d, 0.25f, {}, c.queries, c.keys);
      CHECK(result.scores ==
            relate_matrices(built.as<Relate>(), h, q, k, d, 0.25f, {}, c.queries, c.keys, false).scores);
      for (std::size_t i = 0; i < c.queries.size(); ++i) {
        for (std::size_t j = 0; j < c.keys.size(); ++j) {
          const double expected = 0.25 * term(t, heads, d, head, &q[i * d], &k[j * d], c.queries[i] - c.keys[j], 50);
          REQUIRE(static_cast<double>(result.scores[i * c.keys.size() + j]) == Approx(expected).margin(5e-6));
        }
      }
    }
  }
}

TEST_CASE("transformerXL: through attention, with grouped keys and memory") {
  const std::size_t heads = 2, d = 6;
  Numbers numbers(3);
  const Tables t = {numbers.floats(heads * d), numbers.floats(heads * d), numbers.floats(8 * heads * d), 8};
  const Built built = made("heads=2 dim=6", t, heads, d);
  AttentionCase c({.batch = 2, .heads = 2, .kv_heads = 1, .queries = 21, .keys = 150, .width = 6, .value_width = 4}, 5);
  c.query_positions = run_of(129, 21);
  const Relate* const schemes[] = {&built.as<Relate>()};
  c.call.relate = schemes;
  c.call.causal = true;
  Meaning meaning;
  meaning.relate = [&](std::size_t head, const Matrix& q, const Matrix& k, const Matrix&, const Matrix&) {
    Matrix r(q.rows(), k.rows());
    for (Eigen::Index i = 0; i < q.rows(); ++i) {
      for (Eigen::Index j = 0; j < k.rows(); ++j) {
        std::vector<float> a(d), b(d);
        for (std::size_t n = 0; n < d; ++n) {
          a[n] = static_cast<float>(q(i, static_cast<Eigen::Index>(n)));
          b[n] = static_cast<float>(k(j, static_cast<Eigen::Index>(n)));
        }
        r(i, j) = c.call.scale * term(t, heads, d, head, a.data(), b.data(),
                                      129.0 + static_cast<double>(i) - static_cast<double>(j), 10000);
      }
    }
    return r;
  };
  c.check(meaning);
}

TEST_CASE("transformerXL: tables of other shapes, and odd ones, are refused") {
  const std::vector<float> table(64);
  Built built = build(schemes::relate_transformerXL, "heads=2 dim=4");
  REQUIRE(built.spec->set("wr", Table::of(table.data(), {3, 8})).ok());
  CHECK(make_scheme(*built.spec, built.scheme).message() ==
        "transformerXL: wr must be of an even number of rows, got 3");
  REQUIRE(built.spec->set("wr", Table::of(table.data(), {8, 4})).ok());
  CHECK(make_scheme(*built.spec, built.scheme).message() == "transformerXL: wr must be of shape [8, 8], got [8, 4]");
  CHECK(build(schemes::relate_transformerXL, "heads=1 dim=3").status.code == Code::kShapeMismatch);
}
