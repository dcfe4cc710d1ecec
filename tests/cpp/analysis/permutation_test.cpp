#include "analysis/permutation.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "support/property.h"
#include "support/tables.h"

using namespace posenc;
using namespace posenc_test;

namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();

std::vector<double> some_permutation(Dice& dice, std::size_t n) {
  std::vector<double> order(n);
  for (std::size_t t = 0; t < n; ++t) order[t] = static_cast<double>(t);
  for (std::size_t t = n; t-- > 1;) std::swap(order[t], order[whole(dice, 0, static_cast<int>(t))]);
  return order;
}

std::vector<float> floats(Dice& dice, std::size_t n, double low, double high) {
  std::vector<float> x(n);
  for (float& value : x) value = static_cast<float>(dice.real(low, high));
  return x;
}

std::vector<double> attended(const std::vector<float>& scores, const std::vector<float>& values, std::size_t queries,
                             std::size_t keys, std::size_t width) {
  std::vector<double> out(queries * width);
  REQUIRE(sorted_attention(scores.data(), values.data(), 1, 1, queries, keys, width, out.data()).ok());
  return out;
}

}  // namespace

TEST_CASE("attention over sorted keys, by hand") {
  const std::vector<float> scores = {0, 0, kMasked, kMasked, kMasked, kMasked};
  const std::vector<double> out = attended(scores, {1, 10, 3, 20, 100, 100}, 2, 3, 2);
  CHECK(out == std::vector<double>{2, 15, 0, 0});
  // Four heads of queries over two of keys: the first two share the first.
  const std::vector<float> even(8, 0), rows = {1, 3, 10, 30};
  std::vector<double> grouped(4);
  REQUIRE(sorted_attention(even.data(), rows.data(), 4, 2, 1, 2, 1, grouped.data()).ok());
  CHECK(grouped == std::vector<double>{2, 2, 20, 20});
  double result[2];
  const float nan[] = {std::numeric_limits<float>::quiet_NaN()}, one[] = {1};
  CHECK(sorted_attention(nan, one, 1, 1, 1, 1, 1, result).code == Code::kNotFinite);
  CHECK(sorted_attention(one, nan, 1, 1, 1, 1, 1, result).code == Code::kNotFinite);
}

TEST_CASE("the gap of a permutation, by hand, and what is no permutation") {
  const double straight[] = {1, 2, 3}, permuted[] = {3, 1, 2.5}, order[] = {2, 0, 1}, twice[] = {0, 0, 1};
  double gap = -1;
  REQUIRE(permutation_gap(straight, permuted, order, 1, 3, 1, gap).ok());
  CHECK(gap == 0.5);
  CHECK(permutation_gap(straight, permuted, twice, 1, 3, 1, gap).message() ==
        "permutationGap: permutation must be each of 0 to 2 once, got 0");
  const double outside[] = {0, 1, 3}, part[] = {0, 1, 1.5}, negative[] = {0, 1, -1};
  for (const double* bad : {outside, part, negative}) {
    CHECK(permutation_gap(straight, permuted, bad, 1, 3, 1, gap).code == Code::kOutOfRange);
  }
}

TEST_CASE("attention over sorted keys is softmax attention") {
  property("softmax", [](Dice& dice) {
    const std::size_t queries = whole(dice, 1, 8), keys = whole(dice, 1, 30), width = whole(dice, 1, 6);
    std::vector<float> scores = floats(dice, queries * keys, -8, 8);
    const std::vector<float> values = floats(dice, keys * width, -1, 1);
    for (float& score : scores) {
      if (dice.real(0, 1) < 0.2) score = kMasked;
    }
    const std::vector<double> out = attended(scores, values, queries, keys, width);
    for (std::size_t i = 0; i < queries; ++i) {
      std::vector<double> expected(width, 0.0);
      double sum = 0;
      for (std::size_t j = 0; j < keys; ++j) {
        const double w = std::exp(static_cast<double>(scores[i * keys + j]));
        sum += w;
        for (std::size_t c = 0; c < width; ++c) expected[c] += w * static_cast<double>(values[j * width + c]);
      }
      for (std::size_t c = 0; c < width; ++c) {
        REQUIRE(out[i * width + c] == Approx(sum > 0 ? expected[c] / sum : 0).epsilon(0).margin(1e-14));
      }
    }
  });
}

TEST_CASE("attention over sorted keys does not see their order: exactly zero where theory says zero (001, 002)") {
  property("permuted", [](Dice& dice) {
    const std::size_t tokens = whole(dice, 1, 40), width = whole(dice, 1, 6);
    std::vector<float> scores = floats(dice, tokens * tokens, -6, 6), values = floats(dice, tokens * width, -1, 1);
    if (dice.coin()) {  // ties of scores and of whole rows
      for (float& x : scores) x = std::floor(x / 3);
      for (float& x : values) x = std::floor(2 * x);
    }
    for (float& score : scores) {
      if (dice.real(0, 1) < 0.1) score = kMasked;
    }
    const std::vector<double> order = some_permutation(dice, tokens);
    std::vector<float> moved_scores(scores.size()), moved_values(values.size());
    for (std::size_t i = 0; i < tokens; ++i) {
      const auto s = static_cast<std::size_t>(order[i]);
      for (std::size_t j = 0; j < tokens; ++j) {
        moved_scores[i * tokens + j] = scores[s * tokens + static_cast<std::size_t>(order[j])];
      }
      for (std::size_t c = 0; c < width; ++c) moved_values[i * width + c] = values[s * width + c];
    }
    const std::vector<double> straight = attended(scores, values, tokens, tokens, width);
    const std::vector<double> moved = attended(moved_scores, moved_values, tokens, tokens, width);
    double gap = -1;
    REQUIRE(permutation_gap(straight.data(), moved.data(), order.data(), 1, tokens, width, gap).ok());
    REQUIRE(gap == 0);
  });
}

TEST_CASE("the gap is the largest difference from the permuted output") {
  property("gap", [](Dice& dice) {
    const std::size_t batch = whole(dice, 1, 3), tokens = whole(dice, 1, 12), width = whole(dice, 1, 5);
    const std::vector<double> order = some_permutation(dice, tokens);
    const std::vector<double> straight = random_table(dice, batch * tokens, width);
    std::vector<double> permuted(straight.size());
    double expected = 0;
    for (std::size_t b = 0; b < batch; ++b) {
      for (std::size_t t = 0; t < tokens; ++t) {
        for (std::size_t c = 0; c < width; ++c) {
          const double from = straight[(b * tokens + static_cast<std::size_t>(order[t])) * width + c];
          const double by = dice.real(0, 1) < 0.3 ? dice.integer(-8, 8) / 16 : 0;
          permuted[(b * tokens + t) * width + c] = from + by;
          expected = std::max(expected, std::abs(from + by - from));
        }
      }
    }
    double gap = -1;
    REQUIRE(permutation_gap(straight.data(), permuted.data(), order.data(), batch, tokens, width, gap).ok());
    REQUIRE(gap == expected);
  });
}
