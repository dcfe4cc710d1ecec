#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "schemes/frequency_report.h"
#include "schemes/scheme.h"
#include "support/build.h"
#include "support/golden_sets.h"
#include "support/turned_angles.h"

using namespace posenc;
using namespace posenc_test;

namespace {

const GoldenSets kGoldenSets(schemes::rotate_axialRope,
                             {"dim=8", "dim=64 axes=3 layout=half", "dim=12 axisOrder=1,0", "dim=10 axes=1 base=100"});

using Reals = std::vector<double>;

}  // namespace

TEST_CASE("axialRope: torchtune's vision encoder (golden axial-001)") {
  const Built built = build(schemes::rotate_axialRope, "dim=8 axisOrder=1,0");
  const double patches[4][4] = {{1, 0.01, 1, 0.01}, {2, 0.02, 1, 0.01}, {1, 0.01, 2, 0.02}, {2, 0.02, 2, 0.02}};
  for (int n = 0; n < 4; ++n) {  // [row, column], from 1
    check_angles(angles(built, {1.0 + n / 2, 1.0 + n % 2}, false), Reals(patches[n], patches[n] + 4));
  }
  check_angles(angles(built, {0, 0}, false), {0, 0, 0, 0});  // the class token
}

TEST_CASE("axialRope: shares of the axes, one rule for all (diffusers #12538)") {
  for (const bool half : {false, true}) {
    const Built built =
        build(schemes::rotate_axialRope, std::string("dim=64 axes=3 base=100") + (half ? " layout=half" : ""));
    const Reals place = {0.3, 0.2, 0.1};
    Reals expected;
    for (const auto& [axis, share] : {std::pair{0, 24}, std::pair{1, 20}, std::pair{2, 20}}) {
      for (int i = 0; i < share / 2; ++i) {
        expected.push_back(place[static_cast<std::size_t>(axis)] * std::pow(100.0, -2.0 * i / share));
      }
    }
    check_angles(angles(built, place, half), expected);
    FrequencyReport report;
    REQUIRE(built.scheme->frequencies(0, report).ok());
    CHECK(report.inverse.size() == 32);
    CHECK(report.inverse[12] == 1);
    CHECK(report.inverse[13] == Approx(std::pow(100.0, -0.1)).epsilon(1e-15));
  }
}

TEST_CASE("axialRope and mrope: one axis is rope; blocks of many positions are their rows") {
  const Built axial = build(schemes::rotate_axialRope, "dim=12 axes=1"), rope = build(schemes::rotate_rope, "dim=12");
  const Built text = build(schemes::rotate_mrope, "dim=12"), half = build(schemes::rotate_rope, "dim=12 layout=half");
  Dice dice(5);
  const std::size_t tokens = 300;
  std::vector<float> x(tokens * 12);
  for (float& value : x) value = static_cast<float>(dice.real(-1, 1));
  Reals positions(3 * tokens);
  for (std::size_t t = 0; t < positions.size(); ++t) positions[t] = static_cast<double>(t % tokens) * 0.5 - 9;
  const auto turn = [&](const Built& built) {
    std::vector<float> y = x;
    const Rotate& rotate = built.as<Rotate>();
    REQUIRE(rotate.apply({}, {positions.data(), tokens, rotate.axes()}, y.data(), 12, y.data(), 12).ok());
    return y;
  };
  CHECK(turn(axial) == turn(rope));
  CHECK(turn(text) == turn(half));  // a text token has the same position on all axes
  CHECK(turn(text) == turn(half));  // also from kept tables
}

TEST_CASE("axialRope: what does not fit is refused") {
  const auto axial = [](const char* options) { return build(schemes::rotate_axialRope, options).status.message(); };
  CHECK(axial("dim=7") == "axialRope: dim must be even, with a pair for each of 2 axes, got 7");
  CHECK(axial("dim=4 axes=3").find("a pair for each of 3 axes") != std::string::npos);
  CHECK(axial("dim=8 axisOrder=0,0").find("axisOrder must be each axis from 0 to 1 once") != std::string::npos);
  CHECK(axial("dim=8 axisOrder=0").find("axisOrder") != std::string::npos);
  CHECK(axial("dim=8 axisOrder=0,0.5").find("axisOrder") != std::string::npos);
}
