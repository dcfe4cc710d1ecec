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

const GoldenSets kGoldenSets(schemes::bias_distance,
                             {"heads=1", "heads=4 tau=1", "heads=2 tau=0.01", "heads=1 tau=100000"});

}  // namespace

TEST_CASE("distance: the softmax is multiplied by 1 / (1 + (d / tau)^2)") {
  for (const double tau : {0.01, 1.0, 32.0, 1e5}) {
    const Built built = build(schemes::bias_distance, "heads=2 tau=" + to_text(tau));
    REQUIRE(built.status.ok());
    Reals keys = run(-40, 90);
    keys.insert(keys.end(), {0.5, 1e-6, -1099511627776.0});
    const std::vector<float> b = bias_matrix(built.as<Bias>(), 1, {2}, keys);
    for (std::size_t n = 0; n < keys.size(); ++n) {
      const double x = (keys[n] - 2) / tau;
      REQUIRE(static_cast<double>(b[n]) == Approx(-std::log1p(x * x)).epsilon(6.1e-8).margin(0));
    }
  }
  // At d = tau a weight is halved.
  const Built built = build(schemes::bias_distance, "heads=1");
  CHECK(bias_matrix(built.as<Bias>(), 0, {32}, {0})[0] == Approx(-0.69314718056));
  CHECK_FALSE(std::signbit(bias_matrix(built.as<Bias>(), 0, {32}, {32})[0]));
  CHECK(build(schemes::bias_distance, "heads=1 tau=0").status.code == Code::kOutOfRange);
}
