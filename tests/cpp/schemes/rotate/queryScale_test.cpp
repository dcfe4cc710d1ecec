#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "schemes/scheme.h"
#include "support/build.h"
#include "support/golden_sets.h"

using namespace posenc;
using namespace posenc_test;

namespace {

const GoldenSets kGoldenSets(schemes::rotate_queryScale, {"floorScale=16", "floorScale=10 attnScale=0.7",
                                                          "law=logn trainLength=32", "law=logn trainLength=2"});

double factor(const char* options, double position, Side side = Side::kQuery, bool inverse = false) {
  const Built built = build(schemes::rotate_queryScale, options);
  REQUIRE(built.status.ok());
  double x[2] = {1, -3};
  RotateCall call;
  call.side = side;
  call.inverse = inverse;
  REQUIRE(built.as<Rotate>().apply(call, {&position, 1, 1}, x, 2, x, 2).ok());
  CHECK(x[1] == Approx(-3 * x[0]).epsilon(1e-15));
  return x[0];
}

}  // namespace

TEST_CASE("queryScale llama4 (golden nope-001)") {
  const double positions[] = {0, 8190, 8191, 16383, 131071};
  const double expected[] = {1.0, 1.0, 1.069314718, 1.109861229, 1.283321334};
  for (int n = 0; n < 5; ++n) {
    CHECK(factor("", positions[n]) == Approx(expected[n]).epsilon(0).margin(1e-9));
    CHECK(factor("", positions[n], Side::kKey) == 1);
    CHECK(factor("", positions[n], Side::kQuery, true) == Approx(1 / expected[n]).epsilon(1e-9));
  }
  for (double t = 0; t < 100; t += 7) {
    CHECK(factor("floorScale=9 attnScale=0.3", t) ==
          Approx(std::log(std::floor((t + 1) / 9) + 1) * 0.3 + 1).epsilon(1e-15));
  }
  CHECK(factor("", -5) == 1);
  CHECK(factor("floorScale=1", 0) == Approx(1 + 0.1 * std::log(2.0)).epsilon(1e-15));
}

TEST_CASE("queryScale logn: Qwen's, from the position of the query") {
  for (const double t : {0.0, 100.0, 2046.0, 2047.0, 2048.0, 8191.0, 1e9}) {
    CHECK(factor("law=logn trainLength=2048", t) ==
          Approx(t + 1 > 2048 ? std::log(t + 1) / std::log(2048.0) : 1).epsilon(1e-15));
    CHECK(factor("law=logn trainLength=2048", t, Side::kKey) == 1);
  }
  CHECK(factor("law=logn trainLength=2048", 2047) == 1);
  CHECK(factor("law=logn trainLength=2048", 4194303) == 2);
  CHECK(factor("law=logn trainLength=2048", -10) == 1);
}

TEST_CASE("queryScale: options belong to their law") {
  const auto message = [](const char* options) { return build(schemes::rotate_queryScale, options).status.message(); };
  CHECK(message("law=logn") == "queryScale: trainLength is missing, it must be an integer from 2 to 1000000000");
  CHECK(message("law=logn trainLength=8 floorScale=2") ==
        "queryScale: floorScale must be left out: it belongs to law \"llama4\", got law \"logn\"");
  CHECK(message("trainLength=8").find("belongs to law \"logn\"") != std::string::npos);
}
