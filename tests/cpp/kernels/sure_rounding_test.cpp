// The cheap test lets nothing pass that Ziv's test stops, and stops little beside.
#include "kernels/sure_rounding.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

namespace posenc {
namespace {

using simd::make;

// The same question put to the doubles one by one.
bool alike(double v, double e) {
  const float low = static_cast<float>(v - e), high = static_cast<float>(v + e);
  return low == high && std::signbit(low) == std::signbit(high);
}

bool doubtful(double a0, double b0, double a1, double b1, double e) {
  std::uint16_t offsets[2 * RoundingDoubt::kOffsets];
  RoundingDoubt::offsets(e, e, offsets);
  RoundingDoubt::offsets(e, e, offsets + RoundingDoubt::kOffsets);
  RoundingDoubt doubt;
  doubt.add(make(a0, a1), make(b0, b1), simd::load(offsets));
  return doubt.any();
}

// v in each of the four places, among ones, of which there is no doubt.
int doubtful_places(double v, double e) {
  return doubtful(v, 1, 1, 1, e) + doubtful(1, v, 1, 1, e) + doubtful(1, 1, v, 1, e) + doubtful(1, 1, 1, v, e);
}

TEST_CASE("no double passes whose margin holds two floats, at whatever place") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(0, 1);
  for (const double e : {0x1p-46, 0x1p-44, 0x1.8p-47, 0x1p-60, 0x1p-100, 0x1p-148}) {
    int alike_seen = 0, apart_seen = 0, passed_apart = 0, places = 0;
    for (int n = 0; n < 40000; ++n) {
      // From one half between two floats, at up to some margins; of all sizes, which zero is among.
      const double size = std::ldexp(1 + unit(random), -static_cast<int>(random() % 60));
      const float f = static_cast<float>(n % 97 == 0 ? 0 : n % 2 == 0 ? size : size * e * 0x1p46);
      const double half = (static_cast<double>(f) + std::nextafter(f, 2.0f)) / 2;
      const double v = (n % 3 == 0 ? -1 : 1) * (half + (4 * unit(random) - 2) * e * (n % 5 == 0 ? 64 : 1));
      const int doubts = doubtful_places(v, e);
      places += doubts != 0 && doubts != 4;
      if (alike(v, e)) {
        ++alike_seen;
      } else {
        ++apart_seen;
        passed_apart += doubts != 4;
      }
    }
    INFO("e = " << e);
    CHECK(passed_apart == 0);
    CHECK(places == 0);
    CHECK(apart_seen > 5000);
    CHECK(alike_seen > 5000);
  }
}

TEST_CASE("the sines and cosines of a table pass but for a thousandth or two") {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> angle(0, 6.283185307179586);
  int doubts = 0;
  for (int n = 0; n < 100000; ++n) doubts += doubtful(std::sin(angle(random)), 1, 1, 1, 0x1p-46);
  // 2^-11 near one half, 2 / pi 2^-10 small.
  CHECK(doubts > 50);
  CHECK(doubts < 200);
}

TEST_CASE("an exact zero is in no doubt") {
  std::uint16_t offsets[2 * RoundingDoubt::kOffsets];
  for (const int pair : {0, 1}) RoundingDoubt::offsets(0, 0x1p-46, offsets + pair * RoundingDoubt::kOffsets);
  RoundingDoubt doubt;
  doubt.add(make(0, 0), make(1, -0.25), simd::load(offsets));
  CHECK_FALSE(doubt.any());
}

}  // namespace
}  // namespace posenc
