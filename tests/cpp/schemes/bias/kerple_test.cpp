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

const GoldenSets kGoldenSets(schemes::bias_kerple,
                             {"heads=4", "heads=3 r1=0.5,1,2 r2=0.1,1e-7,30", "heads=2 kind=power r1=0.25 r2=0.5,2",
                              "heads=5 kind=power r2=0.33"});

Built kerple(std::string_view options) { return build(schemes::bias_kerple, options); }

void check_formula(std::string_view options, const Reals& r1, const Reals& r2, bool power) {
  const Built built = kerple(options);
  REQUIRE(built.status.ok());
  Reals keys = run(-300, 700);
  keys.insert(keys.end(), {0.25, -1e-9, 1e6, -1099511627776.0, 9007199254740992.0});
  for (std::size_t h = 0; h < r1.size(); ++h) {
    const std::vector<float> b = bias_matrix(built.as<Bias>(), static_cast<int>(h), {0}, keys);
    for (std::size_t n = 0; n < keys.size(); ++n) {
      const double d = std::fabs(keys[n]);
      const double expected = power ? -r1[h] * std::pow(d, r2[h]) : -r1[h] * std::log1p(r2[h] * d);
      INFO(options << ", head " << h << ", offset " << keys[n]);
      REQUIRE(static_cast<double>(b[n]) == Approx(expected).epsilon(6.1e-8).margin(0));
    }
  }
}

}  // namespace

TEST_CASE("kerple: numbers worked by hand") {
  const Built logarithm = kerple("heads=1 r1=2 r2=1"), root = kerple("heads=1 kind=power r1=2 r2=0.5");
  // -2 log 4; -2 sqrt 9
  CHECK(bias_matrix(logarithm.as<Bias>(), 0, {3}, {0})[0] == Approx(-2.772588722));
  CHECK(bias_matrix(root.as<Bias>(), 0, {9}, {0})[0] == -6.0f);
  CHECK(bias_matrix(root.as<Bias>(), 0, {0}, {9})[0] == -6.0f);
  CHECK_FALSE(std::signbit(bias_matrix(root.as<Bias>(), 0, {4}, {4})[0]));
  // ALiBi is the power kernel with r2 = 1.
  const Built line = kerple("heads=1 kind=power r1=0.5");
  for (const double d : {1.0, 2.0, 3.0, 100.0, 4097.0}) {
    CHECK(bias_matrix(line.as<Bias>(), 0, {d}, {0})[0] == static_cast<float>(-0.5 * d));
  }
}

TEST_CASE("kerple: both kernels against libm") {
  check_formula("heads=3 r1=0.5,1,2 r2=0.1,1e-7,30", {0.5, 1, 2}, {0.1, 1e-7, 30}, false);
  check_formula("heads=2", {1, 1}, {1, 1}, false);
  check_formula("heads=2 kind=power r1=0.25 r2=0.5,2", {0.25, 0.25}, {0.5, 2}, true);
}

TEST_CASE("kerple: along diagonals and pair by pair the bits are the same") {
  for (const char* options : {"heads=2 r2=0.3", "heads=2 kind=power r2=1.7"}) {
    const Built built = kerple(options);
    CHECK(bias_matrix(built.as<Bias>(), 1, run(0.375, 19), run(3, 131)) ==
          bias_matrix(built.as<Bias>(), 1, run(0.375, 19), run(3, 131), false));
  }
}

TEST_CASE("kerple: signs and powers outside the paper's are refused") {
  CHECK(kerple("heads=1 r1=0").status.code == Code::kOutOfRange);
  CHECK(kerple("heads=1 r2=-1").status.code == Code::kOutOfRange);
  CHECK(kerple("heads=1 kind=power r2=2.5").status.message() ==
        "kerple: r2 must be at most 2 for the power kernel, got 2.5");
  CHECK(kerple("heads=3 r1=1,2").status.message() == "kerple: r1 must be one number or as many as heads, 3, got 2");
}
