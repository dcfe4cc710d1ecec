#include "simd/f64x2.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace posenc::simd {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool same_bits(double a, double b) {
  if (std::isnan(a) && std::isnan(b)) return true;
  return std::memcmp(&a, &b, sizeof a) == 0;
}

TEST_CASE("f64x2 against the plain formulas") {
  const std::vector<double> numbers = {0.0, -0.0, 1.0, -1.5, 1e-310, 1e308, kInfinity, -kInfinity, kNaN, 0.1};
  for (const double x : numbers) {
    for (const double y : numbers) {
      INFO(x << " and " << y);
      const F64x2 a = make(x, y), b = make(y, 2.0);
      CHECK(same_bits(lane<0>(a + b), x + y));
      CHECK(same_bits(lane<0>(a - b), x - y));
      CHECK(same_bits(lane<0>(a * b), x * y));
      CHECK(same_bits(lane<1>(a / b), y / 2.0));
      CHECK(same_bits(lane<0>(a / b), x / y));
      CHECK(same_bits(lane<0>(min(a, b)), y < x ? y : x));
      CHECK(same_bits(lane<0>(max(a, b)), x < y ? y : x));
      CHECK(same_bits(lane<1>(min(b, a)), y < 2.0 ? y : 2.0));
      CHECK(same_bits(lane<0>(-a), -x));
      CHECK(same_bits(lane<1>(abs(a)), std::fabs(y)));
      CHECK(same_bits(lane<0>(sqrt(a)), std::sqrt(x)));
      CHECK(same_bits(lane<0>(select(a < b, a, b)), x < y ? x : y));
      CHECK(any(a < b) == (x < y || y < 2.0));
      CHECK(all(a < b) == (x < y && y < 2.0));
      CHECK(all(a <= b) == (x <= y && y <= 2.0));
      CHECK(all(a > b) == (x > y && y > 2.0));
      CHECK(all(a >= b) == (x >= y && y >= 2.0));
      CHECK(all(a == b) == (x == y && y == 2.0));
      CHECK(any(a != b) == (x != y || y != 2.0));
    }
  }
}

TEST_CASE("eight halves of the words of two pairs of doubles") {
  const auto of = [](std::uint64_t u) {
    double x;
    std::memcpy(&x, &u, sizeof x);
    return x;
  };
  const F64x2 a = make(of(0x0123456789abcdef), of(0x1111222233334444));
  const F64x2 b = make(of(0xfedcba9876543210), of(0x0000ffff0000eeee));
  const std::uint16_t words[] = {0x7654, 0x89ab, 0xfedc, 0x0123, 0x0000, 0x3333, 0x0000, 0x1111};
  const std::uint16_t ones[] = {1, 1, 1, 1, 1, 1, 1, 1};
  CHECK_FALSE(any_differ(high_halves(a, b), load(words)));
  for (int lane = 0; lane < 8; ++lane) {
    std::uint16_t other[8], factors[8], sums[8], least[8];
    for (int n = 0; n < 8; ++n) {
      other[n] = static_cast<std::uint16_t>(words[n] ^ (n == lane ? 0x8000 : 0));
      factors[n] = static_cast<std::uint16_t>(0xfffe - 3 * n + lane);
      sums[n] = static_cast<std::uint16_t>(words[n] * std::uint32_t{factors[n]} + other[n]);
      least[n] = words[n] < other[n] ? words[n] : other[n];
    }
    CHECK(any_differ(load(words), load(other)));
    CHECK_FALSE(any_differ(load(words) * load(factors) + load(other), load(sums)));
    CHECK_FALSE(any_differ(min(load(words), load(other)), load(least)));
    CHECK_FALSE(any_differ(min(load(other), load(words)), load(least)));
    CHECK_FALSE(any_differ(load(words) * load(ones), load(words)));
  }
}

TEST_CASE("f64x2 moves and conversions") {
  const F64x2 a = make(1, 2), b = make(3, 4);
  CHECK((lane<0>(zip_low(a, b)) == 1 && lane<1>(zip_low(a, b)) == 3));
  CHECK((lane<0>(zip_high(a, b)) == 2 && lane<1>(zip_high(a, b)) == 4));
  CHECK((lane<0>(swap(a)) == 2 && lane<1>(swap(a)) == 1));
  CHECK(sum(b) == 7);
  float out[4];
  store(out, demote(make(1.0 + 0x1p-24, 1.0 + 0x1.8p-23), make(1e300, 1e-300)));  // ties to even, overflow, underflow
  CHECK((out[0] == 1.0f && out[1] == 1.0f + 0x1p-22f && std::isinf(out[2]) && out[3] == 0));
  store(out, demote(make(5, 6)));
  CHECK((out[0] == 5 && out[1] == 6 && out[2] == 0 && out[3] == 0));
  const F32x4 f = make(0.1f, 0.2f, 0.3f, 0.4f);
  CHECK((lane<0>(promote_low(f)) == 0.1f && lane<1>(promote_low(f)) == 0.2f));
  CHECK((lane<0>(promote_high(f)) == 0.3f && lane<1>(promote_high(f)) == 0.4f));
  const double memory[] = {8, 9};
  double target[2];
  store(target, load(memory) + load_splat(memory));
  CHECK((target[0] == 16 && target[1] == 17));
}

}  // namespace
}  // namespace posenc::simd
