#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

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

TEST_CASE("mrope: what does not fit is refused") {
  const auto mrope = [](const char* options) { return build(schemes::rotate_mrope, options).status.message(); };
  CHECK(mrope("dim=128 sections=16,24,23") ==
        "mrope: sections must be 1 to 8 whole numbers that sum to dim / 2, 64, got a sum of 63");
  CHECK(mrope("dim=8 sections=1.5,1.5,1").find("whole numbers") != std::string::npos);
  CHECK(mrope("dim=8 sections=0,2,2 interleaved=true").find("dealt in turn") != std::string::npos);
  CHECK(mrope("dim=9") == "mrope: dim must be even, got 9");
}
