#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "schemes/scheme.h"
#include "support/build.h"
#include "support/golden_sets.h"
#include "support/tiles.h"

using namespace posenc;
using namespace posenc_test;

namespace {

const GoldenSets kGoldenSets(schemes::bias_alibi, {"heads=8", "heads=12", "heads=12 rule=geometric symmetric=false",
                                                   "heads=5 symmetric=false", "heads=3 slopes=1,0.3,0"});

Built alibi(std::string_view options) { return build(schemes::bias_alibi, options); }

// Slope of head h, as the bias at distance 1.
double slope(const Built& built, int h) { return -static_cast<double>(bias_matrix(built.as<Bias>(), h, {1}, {0})[0]); }

void check_slopes(std::string_view options, const std::vector<double>& expected) {
  const Built built = alibi(options);
  REQUIRE(built.status.ok());
  REQUIRE(built.scheme->heads() == static_cast<int>(expected.size()));
  for (int h = 0; h < built.scheme->heads(); ++h) {
    INFO(options << ", head " << h);
    const double m = expected[static_cast<std::size_t>(h)];
    CHECK(slope(built, h) == Approx(m).epsilon(1e-7).margin(0));
    // The slope itself is kept in float64: seen at a distance where float32 is exact to it.
    CHECK(static_cast<double>(bias_matrix(built.as<Bias>(), h, {0}, {1048576})[0]) ==
          Approx(-m * 1048576).epsilon(1e-7).margin(0));
  }
}

}  // namespace

TEST_CASE("alibi: slopes of the paper and of the authors' code (golden alibi-008, 016, 012, 101)") {
  check_slopes("heads=8", {0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625});
  check_slopes("heads=16", {0.70710678118654752, 0.5, 0.35355339059327376, 0.25, 0.17677669529663688, 0.125,
                            0.088388347648318441, 0.0625, 0.044194173824159221, 0.03125, 0.02209708691207961, 0.015625,
                            0.011048543456039805, 0.0078125, 0.0055242717280199026, 0.00390625});
  // Press's rule for 12 heads: bug reports mlx #343, Baichuan2 #225, Press repo #17.
  check_slopes("heads=12", {0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625, 0.70710678118654752,
                            0.35355339059327376, 0.17677669529663688, 0.088388347648318441});
  check_slopes("heads=12 rule=geometric",
               {0.629960525, 0.396850263, 0.25, 0.157490131, 0.0992125657, 0.0625, 0.0393725328, 0.0248031414, 0.015625,
                0.0098431332, 0.00620078536, 0.00390625});
  check_slopes("heads=1", {0.00390625});
  check_slopes("heads=2", {0.0625, 0.00390625});
  check_slopes("heads=3", {0.0625, 0.00390625, 0.25});
  check_slopes("heads=3 slopes=1,0,0.3", {1, 0, 0.3});
}

TEST_CASE("alibi: slopes of any number of heads equal 2^(-8 (h + 1) / n) by libm") {
  for (const int n : {4, 5, 7, 32, 40, 71, 112, 128, 1000, 1024}) {
    const Built press = alibi("heads=" + std::to_string(n)),
                geometric = alibi("heads=" + std::to_string(n) + " rule=geometric");
    REQUIRE(press.status.ok());
    const int power = 1 << static_cast<int>(std::log2(n));
    for (int h = 0; h < n; ++h) {
      const double paper = std::exp2(-8.0 * (h + 1) / n);
      const double code =
          h < power ? std::exp2(-8.0 * (h + 1) / power) : std::exp2(-4.0 * (2 * (h - power) + 1) / power);
      REQUIRE(slope(geometric, h) == static_cast<double>(static_cast<float>(paper)));
      REQUIRE(slope(press, h) == static_cast<double>(static_cast<float>(code)));
    }
  }
}

TEST_CASE("alibi: the matrix is -m |i - j| (golden alibi-103), zeros are +0") {
  const Built built = alibi("heads=8");
  const float expected[] = {0, -0.5f, -1, -1.5f, -0.5f, 0, -0.5f, -1, -1, -0.5f, 0, -0.5f, -1.5f, -1, -0.5f, 0};
  const std::vector<float> b = bias_matrix(built.as<Bias>(), 0, run(0, 4), run(0, 4));
  for (std::size_t n = 0; n < 16; ++n) {
    CHECK(b[n] == expected[n]);
    if (b[n] == 0) CHECK_FALSE(std::signbit(b[n]));
  }
}

TEST_CASE("alibi: symmetric false penalises the past only (golden alibi-102; Press repo #5, voicebox #10)") {
  const Built built = alibi("heads=8 symmetric=false");
  const float expected[] = {0, 0, 0, 0, -0.5f, 0, 0, 0, -1, -0.5f, 0, 0, -1.5f, -1, -0.5f, 0};
  const std::vector<float> b = bias_matrix(built.as<Bias>(), 0, run(0, 4), run(0, 4));
  for (std::size_t n = 0; n < 16; ++n) {
    CHECK(b[n] == expected[n]);
    CHECK_FALSE((b[n] == 0 && std::signbit(b[n])));
  }
}

TEST_CASE("alibi: under the causal mask -m |i - j| and m j give the same weights (golden alibi-104)") {
  const Built built = alibi("heads=8");
  const std::vector<float> b = bias_matrix(built.as<Bias>(), 0, {3}, run(0, 4));
  const double expected[] = {0.1015363241, 0.1674050973, 0.2760043447, 0.4550542339};
  double distances = 0, positions = 0;
  for (std::size_t j = 0; j < 4; ++j) {
    distances += std::exp(static_cast<double>(b[j]));
    positions += std::exp(0.5 * static_cast<double>(j));
  }
  for (std::size_t j = 0; j < 4; ++j) {
    CHECK(std::exp(static_cast<double>(b[j])) / distances == Approx(expected[j]).epsilon(0).margin(1e-10));
    CHECK(std::exp(0.5 * static_cast<double>(j)) / positions == Approx(expected[j]).epsilon(0).margin(1e-10));
  }
}

TEST_CASE("alibi: offsets are formed in float64, far, negative and fractional positions are exact") {
  const Built built = alibi("heads=8");
  const Bias& bias = built.as<Bias>();
  // 2^24 and 2^24 + 1 are the same float.
  CHECK(bias_matrix(bias, 0, {16777216}, {16777217})[0] == -0.5f);
  CHECK(bias_matrix(bias, 0, {1099511627776.0}, {1099511627779.0})[0] == -1.5f);
  CHECK(bias_matrix(bias, 1, {-2.5}, {0.25})[0] == -0.6875f);
  CHECK(bias_matrix(bias, 0, {-9007199254740992.0}, {9007199254740992.0})[0] == -9007199254740992.0f);
  const Reals queries = run(-70.25, 75), keys = run(1000000.25, 300);
  const std::vector<float> b = bias_matrix(bias, 2, queries, keys);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    for (std::size_t j = 0; j < keys.size(); ++j) {
      REQUIRE(b[i * keys.size() + j] == static_cast<float>(-0.125 * std::fabs(keys[j] - queries[i])));
    }
  }
}

TEST_CASE("alibi: along diagonals and pair by pair the bits are the same") {
  for (const char* options : {"heads=12", "heads=5 symmetric=false rule=geometric"}) {
    const Built built = alibi(options);
    for (const double first : {0.0, -64.0, 0.375, 1048576.0, 2147483000.0}) {
      for (int h = 0; h < built.scheme->heads(); h += 3) {
        const Reals queries = run(first, 19), keys = run(3, 131);
        REQUIRE(bias_matrix(built.as<Bias>(), h, queries, keys) ==
                bias_matrix(built.as<Bias>(), h, queries, keys, false));
      }
    }
  }
}

TEST_CASE("alibi: bad values are refused in its own words") {
  CHECK(alibi("heads=0").status.message() == "alibi: heads must be an integer from 1 to 1024, got 0");
  CHECK(alibi("heads=0").status.code == Code::kOutOfRange);
  CHECK(alibi("heads=1.5").status.message() == "alibi: heads must be an integer from 1 to 1024, got 1.5");
  CHECK(alibi("heads=1.5").status.code == Code::kNotInteger);
  CHECK(alibi("heads=nan").status.code == Code::kNotANumber);
  CHECK(alibi("heads=inf").status.code == Code::kNotFinite);
  CHECK(alibi("").status.message() == "alibi: heads is missing, it must be an integer from 1 to 1024");
  CHECK(alibi("heads=8 rule=powers").status.message() ==
        "alibi: rule must be \"press\" or \"geometric\", got \"powers\"");
  CHECK(alibi("heads=8 slope=1").status.code == Code::kUnknownOption);
  CHECK(alibi("heads=3 slopes=1,2").status.message() ==
        "alibi: slopes must be a list of as many numbers as heads, 3, got 2");
  CHECK(alibi("heads=1 slopes=inf").status.code == Code::kNotFinite);
  CHECK(alibi("heads=1 slopes=-1").status.code == Code::kOutOfRange);
}
