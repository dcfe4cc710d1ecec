#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "schemes/scheme.h"
#include "support/build.h"
#include "support/golden_sets.h"
#include "support/tiles.h"

using namespace posenc;
using namespace posenc_test;

namespace {

const GoldenSets kGoldenSets(schemes::bias_t5,
                             {"heads=4", "heads=2 buckets=8 maxDistance=20 seed=7", "heads=3 bidirectional=false",
                              "heads=1 buckets=64 maxDistance=1000000"});

Built t5(std::string_view options) { return build(schemes::bias_t5, options); }

int bucket_at(const Built& built, double offset) { return index_matrix(built.as<Bias>(), false, {0}, {offset})[0]; }

// The rule in whole numbers, another way round: n is in wide bucket m or later where n^w E^m >= M^m E^w. Long double
// logarithms decide but where they come close, and there the powers of two of the defaults are exact.
int rule(double offset, int buckets, double furthest, bool bidirectional) {
  int side = buckets, first = 0;
  double n = offset;
  if (bidirectional) {
    side /= 2;
    first = offset > 0 ? side : 0;
    n = std::fabs(offset);
  } else {
    n = offset > 0 ? 0 : -offset;
  }
  const int single = side / 2;
  if (n < single) return first + static_cast<int>(n);
  const long double step = std::log(static_cast<long double>(n) / single) /
                           std::log(static_cast<long double>(furthest) / single) * (side - single);
  const long double nearest = std::round(step);
  const int wide = static_cast<int>(std::fabs(step - nearest) < 1e-12L ? nearest : std::floor(step));
  return first + std::min(single + wide, side - 1);
}

}  // namespace

TEST_CASE("t5: buckets of Hugging Face and Mesh TensorFlow (golden t5-001)") {
  const Built built = t5("heads=1");
  const int offsets[] = {-200, -129, -128, -127, -91, -90, -64, -46, -45, -32, -23, -22, -16, -12,
                         -11,  -8,   -7,   -1,   0,   1,   7,   8,   11,  12,  16,  64,  128, 200};
  const int expected[] = {15, 15, 15, 15, 15, 14, 14, 13, 12, 12, 11, 10, 10, 9,
                          8,  8,  7,  1,  0,  17, 23, 24, 24, 25, 26, 30, 31, 31};
  for (std::size_t n = 0; n < std::size(offsets); ++n) CHECK(bucket_at(built, offsets[n]) == expected[n]);
}

TEST_CASE("t5: the first row of ten tokens (golden t5-003; x-transformers PR 10, mlx-examples PR 113)") {
  const Built built = t5("heads=1");
  CHECK(index_matrix(built.as<Bias>(), false, {0}, run(0, 10)) ==
        std::vector<std::int32_t>{0, 17, 18, 19, 20, 21, 22, 23, 24, 24});
  CHECK(index_matrix(built.as<Bias>(), true, {3}, run(0, 5)) == std::vector<std::int32_t>{-3, -2, -1, 0, 1});
}

TEST_CASE("t5: bounds are exact where logarithms are whole") {
  // log(n / 8) / log(16) 8 is whole at 16, 32, 64; causal: E = 16, M / E = 8, 16 steps, whole at 32 (5.33 is not)
  // and 64.
  const Built both = t5("heads=1"), past = t5("heads=1 bidirectional=false");
  CHECK(bucket_at(both, -15) == 9);
  CHECK(bucket_at(both, -16) == 10);
  CHECK(bucket_at(both, -31) == 11);
  CHECK(bucket_at(both, -32) == 12);
  CHECK(bucket_at(both, -63) == 13);
  CHECK(bucket_at(both, -64) == 14);
  CHECK(bucket_at(past, 1) == 0);
  CHECK(bucket_at(past, 1000) == 0);
  CHECK(bucket_at(past, -15) == 15);
  CHECK(bucket_at(past, -127) == 31);
  CHECK(bucket_at(past, -1e15) == 31);
}

TEST_CASE("t5: every bucket of every offset follows the rule") {
  struct Case {
    const char* options;
    int buckets;
    double furthest;
    bool both;
  };
  for (const Case& c :
       {Case{"heads=1", 32, 128, true}, Case{"heads=1 bidirectional=false", 32, 128, false},
        Case{"heads=1 buckets=9 maxDistance=40", 9, 40, true}, Case{"heads=1 buckets=4 maxDistance=2", 4, 2, true},
        Case{"heads=1 buckets=320 maxDistance=800", 320, 800, true},
        Case{"heads=1 buckets=64 maxDistance=100000 bidirectional=false", 64, 100000, false}}) {
    const Built built = t5(c.options);
    REQUIRE(built.status.ok());
    const Reals keys = run(-1500, 3001);
    const std::vector<std::int32_t> rows = index_matrix(built.as<Bias>(), false, {0}, keys);
    for (std::size_t n = 0; n < keys.size(); ++n) {
      INFO(c.options << ", offset " << keys[n]);
      REQUIRE(rows[n] == rule(keys[n], c.buckets, c.furthest, c.both));
    }
  }
}

TEST_CASE("t5: the bias is the weight of the bucket and the head") {
  std::vector<float> weights(32 * 3);
  for (std::size_t n = 0; n < weights.size(); ++n) weights[n] = static_cast<float>(n) * 0.25f - 3;
  Built built = t5("heads=3");
  REQUIRE(built.spec->set("weights", Table::of(weights.data(), {32, 3})).ok());
  built.status = make_scheme(*built.spec, built.scheme);
  REQUIRE(built.status.ok());
  const Reals queries = run(5, 20), keys = run(-9, 150);
  for (int h = 0; h < 3; ++h) {
    const std::vector<float> b = bias_matrix(built.as<Bias>(), h, queries, keys);
    CHECK(b == bias_matrix(built.as<Bias>(), h, queries, keys, false));
    for (std::size_t i = 0; i < queries.size(); ++i) {
      for (std::size_t j = 0; j < keys.size(); ++j) {
        const auto row = static_cast<std::size_t>(rule(keys[j] - queries[i], 32, 128, true));
        REQUIRE(b[i * keys.size() + j] == weights[row * 3 + static_cast<std::size_t>(h)]);
      }
    }
  }
}

TEST_CASE("t5: bad values are refused in its own words") {
  CHECK(t5("heads=2 buckets=32 maxDistance=8").status.message() ==
        "t5: maxDistance must be above the 8 distances that have a bucket of their own, got 8");
  CHECK(t5("heads=2 buckets=3").status.code == Code::kOutOfRange);
  const std::vector<float> weights(64);
  Built built = t5("heads=2");
  REQUIRE(built.spec->set("weights", Table::of(weights.data(), {2, 32})).ok());
  CHECK(make_scheme(*built.spec, built.scheme).message() == "t5: weights must be of shape [32, 2], got [2, 32]");
}
