#include "kernels/normal.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

#include "core/random.h"

namespace posenc {
namespace {

TEST_CASE("normal deviates are Box and Muller's, computed with the library's functions") {
  std::vector<double> z(101);
  fill_normal(z, 5, 2);
  const Random random(5, 2);
  for (std::size_t n = 0; n < z.size(); ++n) {
    const auto block = random.block(n / 2);
    const double radius = std::sqrt(-2 * std::log(1 - uniform_of_bits(block[0])));
    const double angle = 6.283185307179586 * uniform_of_bits(block[1]);
    REQUIRE(z[n] == Approx(radius * (n % 2 ? std::sin(angle) : std::cos(angle))).margin(1e-14));
  }
}

TEST_CASE("a number does not depend on how many are drawn") {
  std::vector<float> many(64), few(7);
  fill_normal(many, 9, 0, 1, 0.02);
  fill_normal(few, 9, 0, 1, 0.02);
  for (std::size_t n = 0; n < few.size(); ++n) CHECK(few[n] == many[n]);
  fill_normal(std::span<float>(), 9);
}

TEST_CASE("moments and tails are normal") {
  std::vector<double> z(200000);
  fill_normal(z, 1);
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0, inside = 0;
  for (const double v : z) {
    m1 += v;
    m2 += v * v;
    m3 += v * v * v;
    m4 += v * v * v * v;
    inside += std::fabs(v) < 1;
    REQUIRE(std::fabs(v) < 8.6);
  }
  const double count = static_cast<double>(z.size());
  // Five standard deviations of each.
  CHECK(std::fabs(m1 / count) < 0.0112);
  CHECK(m2 / count == Approx(1).margin(0.0159));
  CHECK(std::fabs(m3 / count) < 0.0434);
  CHECK(m4 / count == Approx(3).margin(0.11));
  CHECK(inside / count == Approx(0.682689492).margin(0.0052));
}

}  // namespace
}  // namespace posenc
