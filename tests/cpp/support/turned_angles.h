// What a rotation turns its pairs by, read out of turned unit vectors.
#pragma once

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

#include "schemes/scheme.h"
#include "support/build.h"

namespace posenc_test {

// The angle of every pair at positions (axes), read out of turned unit vectors; |angle| <= pi.
inline std::vector<double> angles(const Built& built, const std::vector<double>& place, bool half) {
  REQUIRE(built.status.ok());
  const posenc::Rotate& rotate = built.as<posenc::Rotate>();
  const auto d = static_cast<std::size_t>(rotate.width()), pairs = d / 2;
  std::vector<double> x(d, 0), out;
  for (std::size_t i = 0; i < pairs; ++i) x[half ? i : 2 * i] = 1;
  REQUIRE(rotate.apply({}, {place.data(), 1, rotate.axes()}, x.data(), d, x.data(), d).ok());
  for (std::size_t i = 0; i < pairs; ++i) {
    out.push_back(std::atan2(x[half ? i + pairs : 2 * i + 1], x[half ? i : 2 * i]));
  }
  return out;
}

inline void check_angles(const std::vector<double>& actual, const std::vector<double>& expected) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("pair " << i);
    CHECK(actual[i] == Approx(std::remainder(expected[i], 2 * 3.14159265358979323846)).epsilon(0).margin(1e-12));
  }
}

}  // namespace posenc_test
