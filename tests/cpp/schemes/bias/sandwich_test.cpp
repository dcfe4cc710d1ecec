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

const GoldenSets kGoldenSets(schemes::bias_sandwich,
                             {"heads=8", "heads=3 dim=2", "heads=1 dim=64 base=500000", "heads=5 dim=20 base=10"});

}  // namespace

TEST_CASE("sandwich: the dot product of two sinusoids less its greatest value, over 8 h / n") {
  for (const int dim : {2, 20, 128}) {
    const Built built = build(schemes::bias_sandwich, "heads=4 dim=" + std::to_string(dim));
    REQUIRE(built.status.ok());
    Reals keys = run(-130, 400);
    keys.insert(keys.end(), {0.5, -2.25, 1000.125, 100000});
    for (int h = 0; h < 4; ++h) {
      const std::vector<float> b = bias_matrix(built.as<Bias>(), h, {3}, keys);
      for (std::size_t n = 0; n < keys.size(); ++n) {
        double product = 0;
        for (int m = 1; m <= dim / 2; ++m) {
          const double w = std::pow(10000.0, -2.0 * m / dim);
          product += std::sin(3 * w) * std::sin(keys[n] * w) + std::cos(3 * w) * std::cos(keys[n] * w);
        }
        INFO("dim " << dim << ", head " << h << ", key " << keys[n]);
        const double ratio = 8.0 * (h + 1) / 4;
        REQUIRE(static_cast<double>(b[n]) == Approx((product - dim / 2) / ratio).epsilon(6.1e-8).margin(1e-10 * dim));
      }
    }
  }
}

TEST_CASE("sandwich: a number worked by hand, and heads in proportion") {
  // d = 2: one frequency, 1 / base.  (cos(0.5) - 1) / 8 for the only head.
  const Built one = build(schemes::bias_sandwich, "heads=1 dim=2 base=2");
  CHECK(static_cast<double>(bias_matrix(one.as<Bias>(), 0, {1}, {0})[0]) == Approx(-0.01530217976));
  const Built eight = build(schemes::bias_sandwich, "heads=8");
  const float first = bias_matrix(eight.as<Bias>(), 0, {9}, {0})[0],
              last = bias_matrix(eight.as<Bias>(), 7, {9}, {0})[0];
  CHECK(first == Approx(8 * last));
  CHECK(build(schemes::bias_sandwich, "heads=1 dim=5").status.message() == "sandwich: dim must be even, got 5");
}

TEST_CASE("sandwich: kept rows and single ones have the same bits") {
  const Built built = build(schemes::bias_sandwich, "heads=2 dim=32"),
              other = build(schemes::bias_sandwich, "heads=2 dim=32");
  const std::vector<float> b = bias_matrix(built.as<Bias>(), 1, run(0, 19), run(-200, 500));
  CHECK(b == bias_matrix(built.as<Bias>(), 1, run(0, 19), run(-200, 500), false));
  for (const double d : {0.0, 1.0, 127.0, 128.0, 200.0}) {
    CHECK(bias_matrix(other.as<Bias>(), 1, {d}, {0})[0] == bias_matrix(built.as<Bias>(), 1, {0}, {d})[0]);
  }
  // Pages that share a place in the store.
  const std::vector<float> far = bias_matrix(built.as<Bias>(), 0, {0}, {5, 524293, 5});
  CHECK(far[0] == far[2]);
  CHECK(far[0] != far[1]);
}
