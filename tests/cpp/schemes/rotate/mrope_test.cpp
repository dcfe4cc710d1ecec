#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

#include "schemes/frequency_report.h"
#include "schemes/scheme.h"
#include "support/build.h"
#include "support/golden_sets.h"
#include "support/turned_angles.h"

using namespace posenc;
using namespace posenc_test;

namespace {

const GoldenSets kGoldenSets(schemes::rotate_mrope, {"dim=128", "dim=128 sections=24,20,20 interleaved=true",
                                                     "dim=16 layout=interleaved sections=2,6", "dim=20 base=1000000"});

using Reals = std::vector<double>;

}  // namespace

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
  check_angles(angles(build(schemes::rotate_mrope, "dim=128 sections=16,24,24"), place, true), expected(runs));
  check_angles(angles(build(schemes::rotate_mrope, "dim=128"), place, true), expected(runs));
  const auto dealt = [](int i) { return i < 60 && i % 3 != 0 ? i % 3 : 0; };  // 1, 4 .. 58 and 2, 5 .. 59
  check_angles(angles(build(schemes::rotate_mrope, "dim=128 sections=24,20,20 interleaved=true"), place, true),
               expected(dealt));
  check_angles(angles(build(schemes::rotate_mrope, "dim=128 interleaved=true"), place, true), expected(dealt));
  // A section of no pairs; two axes.
  check_angles(angles(build(schemes::rotate_mrope, "dim=128 sections=0,64"), place, true),
               expected([](int) { return 1; }));
}

TEST_CASE("mrope: scaled and partial as rope is, where all axes stand at one place") {
  for (const char* options : {"dim=32 base=1000000 scaling.type=yarn scaling.factor=4 "
                              "scaling.originalMaxPositionEmbeddings=32768",
                              "dim=32 rotaryDim=16 base=10000000", "dim=32 scaling.type=dynamic scaling.factor=4 "
                              "scaling.maxPositionEmbeddings=64",
                              "dim=32 rotaryDim=12 scaling.type=linear scaling.factor=8"}) {
    INFO(options);
    const Built plain = build(schemes::rotate_rope, std::string("layout=half ") + options);
    for (const char* dealt : {" interleaved=true", ""}) {
      const Built scheme = build(schemes::rotate_mrope, options + std::string(dealt));
      REQUIRE(scheme.status.ok());
      const Reals line = {0, 1, 17, 40000, -3, 0.5};
      Reals place;
      for (int axis = 0; axis < 3; ++axis) place.insert(place.end(), line.begin(), line.end());
      std::vector<double> x(line.size() * 32), one(x.size()), three(x.size());
      for (std::size_t n = 0; n < x.size(); ++n) x[n] = std::cos(static_cast<double>(3 * n)) + 0.1;
      for (const double length : {0.0, 512.0, 64.0}) {
        const RotateCall call = {.length = length};
        REQUIRE(plain.as<Rotate>().apply(call, {line.data(), 6, 1}, x.data(), 32, one.data(), 32).ok());
        REQUIRE(scheme.as<Rotate>().apply(call, {place.data(), 6, 3}, x.data(), 32, three.data(), 32).ok());
        CHECK(one == three);
        FrequencyReport rope, mrope;
        REQUIRE(plain.scheme->frequencies(length, rope).ok());
        REQUIRE(scheme.scheme->frequencies(length, mrope).ok());
        CHECK(rope.inverse == mrope.inverse);
        CHECK(rope.attention_factor == mrope.attention_factor);
      }
    }
  }
  // The width alone is dealt: pairs of height and time stay at their place.
  const Built scheme = build(schemes::rotate_mrope,
                             "dim=16 base=100 sections=2,3,3 scaling.type=linear scaling.factor=4");
  const Reals place = {0, 0, 7};
  const Reals turned = angles(scheme, place, true);
  for (int i = 0; i < 8; ++i) {
    const double expected = i < 5 ? 0 : 7 * std::pow(100.0, -i / 8.0) / 4;
    CHECK(turned[static_cast<std::size_t>(i)] == Approx(expected).epsilon(0).margin(1e-12));
  }
}

TEST_CASE("mrope: what does not fit is refused") {
  const auto mrope = [](const char* options) { return build(schemes::rotate_mrope, options).status.message(); };
  CHECK(mrope("dim=128 sections=16,24,23") ==
        "mrope: sections must be 1 to 8 whole numbers that sum to rotaryDim / 2, 64, got a sum of 63");
  CHECK(mrope("dim=8 sections=1.5,1.5,1").find("whole numbers") != std::string::npos);
  CHECK(mrope("dim=8 sections=0,2,2 interleaved=true").find("dealt in turn") != std::string::npos);
  CHECK(mrope("dim=8 rotaryDim=10") == "mrope: rotaryDim must be an even number from 2 to dim, 8, got 10");
  CHECK(mrope("dim=8 scaling.type=linear").find("scaling.factor") != std::string::npos);
  CHECK(mrope("dim=9") == "mrope: dim must be even where rotaryDim is not given, got 9");
}
