// axialRope and mrope: pairs turned by several axes of positions.
#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "schemes/frequency_report.h"
#include "schemes/scheme.h"
#include "support/build.h"
#include "support/golden_sets.h"

using namespace posenc;
using namespace posenc_test;

namespace {

const GoldenSets kAxialSets(schemes::rotate_axialRope,
                            {"dim=8", "dim=64 axes=3 layout=half", "dim=12 axisOrder=1,0", "dim=10 axes=1 base=100"});
const GoldenSets kMropeSets(schemes::rotate_mrope, {"dim=128", "dim=128 sections=24,20,20 interleaved=true",
                                                    "dim=16 layout=interleaved sections=2,6", "dim=20 base=1000000"});

using Reals = std::vector<double>;

// The angle of every pair at positions (axes), read out of turned unit vectors; |angle| <= pi.
Reals angles(const Built& built, const Reals& place, bool half) {
  REQUIRE(built.status.ok());
  const Rotate& rotate = built.as<Rotate>();
  const auto d = static_cast<std::size_t>(rotate.width()), pairs = d / 2;
  Reals x(d, 0), out;
  for (std::size_t i = 0; i < pairs; ++i) x[half ? i : 2 * i] = 1;
  REQUIRE(rotate.apply({}, {place.data(), 1, rotate.axes()}, x.data(), d, x.data(), d).ok());
  for (std::size_t i = 0; i < pairs; ++i) {
    out.push_back(std::atan2(x[half ? i + pairs : 2 * i + 1], x[half ? i : 2 * i]));
  }
  return out;
}

void check(const Reals& actual, const Reals& expected) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("pair " << i);
    CHECK(actual[i] == Approx(std::remainder(expected[i], 2 * 3.14159265358979323846)).epsilon(0).margin(1e-12));
  }
}

}  // namespace

TEST_CASE("axialRope: torchtune's vision encoder (golden axial-001)") {
  const Built built = build(schemes::rotate_axialRope, "dim=8 axisOrder=1,0");
  const double patches[4][4] = {{1, 0.01, 1, 0.01}, {2, 0.02, 1, 0.01}, {1, 0.01, 2, 0.02}, {2, 0.02, 2, 0.02}};
  for (int n = 0; n < 4; ++n) {  // [row, column], from 1
    check(angles(built, {1.0 + n / 2, 1.0 + n % 2}, false), Reals(patches[n], patches[n] + 4));
  }
  check(angles(built, {0, 0}, false), {0, 0, 0, 0});  // the class token
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
    check(angles(built, place, half), expected);
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

TEST_CASE("mrope: sections in runs and dealt in turn (golden mrope-002)") {
  const Reals place = {0.5, 0.25, 0.125};
  const auto expected = [&](auto axis_of) {
    Reals angle;
    for (int i = 0; i < 64; ++i) {
      angle.push_back(place[static_cast<std::size_t>(axis_of(i))] * std::pow(10000.0, -i / 64.0));
    }
    return angle;
  };
  const auto runs = [](int i) { return i < 16 ? 0 : i < 40 ? 1 : 2; };
  check(angles(build(schemes::rotate_mrope, "dim=128 sections=16,24,24"), place, true), expected(runs));
  check(angles(build(schemes::rotate_mrope, "dim=128"), place, true), expected(runs));
  const auto dealt = [](int i) { return i < 60 && i % 3 != 0 ? i % 3 : 0; };  // 1, 4 .. 58 and 2, 5 .. 59
  check(angles(build(schemes::rotate_mrope, "dim=128 sections=24,20,20 interleaved=true"), place, true),
        expected(dealt));
  check(angles(build(schemes::rotate_mrope, "dim=128 interleaved=true"), place, true), expected(dealt));
  // A section of no pairs; two axes.
  check(angles(build(schemes::rotate_mrope, "dim=128 sections=0,64"), place, true), expected([](int) { return 1; }));
}

TEST_CASE("axialRope and mrope: what does not fit is refused") {
  const auto axial = [](const char* options) { return build(schemes::rotate_axialRope, options).status.message(); };
  CHECK(axial("dim=7") == "axialRope: dim must be even, with a pair for each of 2 axes, got 7");
  CHECK(axial("dim=4 axes=3").find("a pair for each of 3 axes") != std::string::npos);
  CHECK(axial("dim=8 axisOrder=0,0").find("axisOrder must be each axis from 0 to 1 once") != std::string::npos);
  CHECK(axial("dim=8 axisOrder=0").find("axisOrder") != std::string::npos);
  CHECK(axial("dim=8 axisOrder=0,0.5").find("axisOrder") != std::string::npos);
  const auto mrope = [](const char* options) { return build(schemes::rotate_mrope, options).status.message(); };
  CHECK(mrope("dim=128 sections=16,24,23") ==
        "mrope: sections must be 1 to 8 whole numbers that sum to dim / 2, 64, got a sum of 63");
  CHECK(mrope("dim=8 sections=1.5,1.5,1").find("whole numbers") != std::string::npos);
  CHECK(mrope("dim=8 sections=0,2,2 interleaved=true").find("dealt in turn") != std::string::npos);
  CHECK(mrope("dim=9") == "mrope: dim must be even, got 9");
}
