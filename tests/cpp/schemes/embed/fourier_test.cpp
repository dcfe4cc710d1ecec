#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/normal.h"
#include "schemes/frequency_report.h"
#include "schemes/scheme.h"
#include "support/build.h"
#include "support/golden_sets.h"

using namespace posenc;
using namespace posenc_test;

namespace {

const GoldenSets kGoldenSets(schemes::embed_fourier, {"levels=6", "levels=10 axes=3", "gaussian=0.3 features=5 seed=2",
                                                      "gaussian=10 features=7 axes=2"});
const double kPi = 3.14159265358979323846;

std::vector<double> row(const char* options, const std::vector<double>& coordinates) {
  const Built built = build(schemes::embed_fourier, options);
  INFO(built.status.message());
  REQUIRE(built.status.ok());
  const Embed& embed = built.as<Embed>();
  std::vector<double> out(static_cast<std::size_t>(embed.width()));
  REQUIRE(embed.encode({coordinates.data(), 1, embed.axes()}, 0, out.data()).ok());
  return out;
}

void check(const std::vector<double>& actual, const std::vector<double>& expected, double margin) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t c = 0; c < expected.size(); ++c) {
    INFO("column " << c);
    CHECK(actual[c] == Approx(expected[c]).epsilon(0).margin(margin));
  }
}

}  // namespace

TEST_CASE("fourier levels: NeRF's octaves (golden ff-001)") {
  check(row("levels=3", {0.25}), {0.7071067812, 0.7071067812, 1.0, 0, 0, -1.0}, 1e-9);
  CHECK(row("levels=3", {0.5}) == std::vector<double>{1, 0, 0, -1, 0, 1});  // exact turns are exact
  std::vector<double> expected;
  for (const double v : {-0.7, 0.125, 0.9}) {
    for (int k = 0; k < 5; ++k) {
      expected.push_back(std::sin(std::ldexp(kPi * v, k)));
      expected.push_back(std::cos(std::ldexp(kPi * v, k)));
    }
  }
  check(row("levels=5 axes=3", {-0.7, 0.125, 0.9}), expected, 2e-14);
  FrequencyReport report;
  REQUIRE(build(schemes::embed_fourier, "levels=3").scheme->frequencies(0, report).ok());
  CHECK(report.wavelength == std::vector<double>{2, 1, 0.5});
}

TEST_CASE("fourier gaussian: random directions, sines before cosines") {
  for (const int axes : {1, 2, 3}) {
    std::vector<double> b(static_cast<std::size_t>(4 * axes));
    fill_normal(std::span<double>(b), 9, 0, 0, 2.5);
    const std::vector<double> v = {0.3, -0.8, 0.55};
    std::vector<double> expected(8);
    for (std::size_t k = 0; k < 4; ++k) {
      double sum = 0;
      for (std::size_t a = 0; a < static_cast<std::size_t>(axes); ++a) {
        sum += b[k * static_cast<std::size_t>(axes) + a] * v[a];
      }
      expected[k] = std::sin(2 * kPi * sum);
      expected[4 + k] = std::cos(2 * kPi * sum);
    }
    check(row(("gaussian=2.5 features=4 seed=9 axes=" + std::to_string(axes)).c_str(), v), expected, 1e-13);
  }
}

TEST_CASE("fourier: one of the two kinds") {
  const auto message = [](const char* options) { return build(schemes::embed_fourier, options).status.message(); };
  CHECK(message("gaussian=1") == "fourier: features is missing, it must be given with gaussian");
  CHECK(message("features=4") == "fourier: gaussian is missing, it must be given with features");
  CHECK(message("gaussian=1 features=4 levels=3") == "fourier: levels must be left out with gaussian, got 3");
}
