#include "simd/math.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace posenc::simd {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float float_of(std::uint32_t u) {
  float x;
  std::memcpy(&x, &u, sizeof x);
  return x;
}

std::uint32_t bits_of_float(float x) {
  std::uint32_t u;
  std::memcpy(&u, &x, sizeof u);
  return u;
}

// Worst error of exp in ULP of the true value over floats first, first + stride, ... up to last (by their bits), the
// library's double exp being the truth.
double worst_error(float first, float last, std::uint32_t stride) {
  double worst = 0;
  std::uint32_t u = bits_of_float(first);
  while (u <= bits_of_float(last)) {
    float x[4], y[4];
    for (float& v : x) v = float_of(std::min(u, bits_of_float(last))), u += stride;
    store(y, exp_bounded(load(x)));
    for (int n = 0; n < 4; ++n) {
      const double truth = std::exp(static_cast<double>(x[n]));
      int exponent;
      std::frexp(truth, &exponent);
      worst = std::max(worst, std::fabs(y[n] - truth) * std::ldexp(1.0, 24 - exponent));
    }
  }
  return worst;
}

float exp_of(float x) { return lane<2>(exp(make(0, 0, x, 0))); }

TEST_CASE("exp is within 1 ULP where it is not flushed") {
  const double below = worst_error(-1e-10f, -86.98f, 997), above = worst_error(1e-10f, 88.7228f, 997);
  std::printf("exp: worst error in ULP %.4f below zero, %.4f above\n", below, above);
  CHECK(below <= 0.9900);
  CHECK(above <= 0.9900);
  CHECK(below > 0.5);  // the sweep saw something
  // The worst of all floats, found by a complete sweep.
  CHECK(worst_error(-0x1.76f06cp+2f, -0x1.76f06cp+2f, 1) == Approx(0.9896).margin(1e-3));
}

TEST_CASE("exp at the edges") {
  CHECK(exp_of(0.0f) == 1.0f);
  CHECK(exp_of(-0.0f) == 1.0f);
  CHECK(exp_of(-kInfinity) == 0.0f);
  CHECK_FALSE(std::signbit(exp_of(-kInfinity)));
  CHECK(exp_of(kInfinity) == kInfinity);
  CHECK(exp_of(88.7229f) == kInfinity);
  CHECK(exp_of(1e30f) == kInfinity);
  CHECK(std::isfinite(exp_of(88.7228f)));
  CHECK(std::isnan(exp_of(std::numeric_limits<float>::quiet_NaN())));
  CHECK(std::isnan(exp_of(float_of(0x7f800001u))));  // any payload
  CHECK(std::isnan(exp_of(float_of(0xffffffffu))));
  // Zero well above the denormals, and nothing denormal ever.
  CHECK(exp_of(-86.99f) == 0.0f);
  CHECK(exp_of(-104.0f) == 0.0f);
  CHECK(exp_of(-std::numeric_limits<float>::max()) == 0.0f);
  for (float x = -86.5f; x > -88.0f; x = std::nextafter(x, -100.0f)) {
    const float y = exp_of(x);
    REQUIRE((y == 0 || y >= std::numeric_limits<float>::min()));
  }
}

float tanh_of(float x) { return lane<1>(tanh(make(0, x, 0, 0))); }

// Worst error of tanh in ULP of the true value over floats as above; the library's double tanh is the truth.
double worst_tanh(float first, float last, std::uint32_t stride) {
  double worst = 0;
  for (std::uint32_t u = bits_of_float(first); u <= bits_of_float(last); u += stride) {
    const float x = float_of(u);
    const double truth = std::tanh(static_cast<double>(x));
    int exponent;
    std::frexp(truth, &exponent);
    worst = std::max(worst, std::fabs(tanh_of(x) - truth) * std::ldexp(1.0, 24 - exponent));
  }
  return worst;
}

TEST_CASE("tanh is within 1.34 ULP, odd, and never falls") {
  const double worst = worst_tanh(1e-4f, 9.5f, 997);
  std::printf("tanh: worst error in ULP %.4f\n", worst);
  CHECK(worst <= 1.333);
  CHECK(worst > 0.9);  // the sweep saw something
  // The worst of all floats, found by a complete sweep.
  CHECK(worst_tanh(0x1.43183ap-1f, 0x1.43183ap-1f, 1) == Approx(1.332).margin(1e-3));
  std::size_t uneven = 0, falls = 0;
  float before = 0;
  for (std::uint32_t u = 0; u < bits_of_float(12.0f); u += 1009) {
    const float x = float_of(u), y = tanh_of(x);
    uneven += bits_of_float(tanh_of(-x)) != (bits_of_float(y) ^ 0x80000000u);
    falls += y < before;
    before = y;
  }
  // Step by step where the polynomial gives way to the quotient.
  before = 0;
  for (float x = 0.62f; x < 0.63f; x = std::nextafter(x, 1.0f)) {
    falls += tanh_of(x) < before;
    before = tanh_of(x);
  }
  CHECK(uneven == 0);
  CHECK(falls == 0);
}

TEST_CASE("tanh at the edges") {
  CHECK(bits_of_float(tanh_of(0.0f)) == 0);
  CHECK(bits_of_float(tanh_of(-0.0f)) == 0x80000000u);
  CHECK(tanh_of(1e-30f) == 1e-30f);
  CHECK(tanh_of(1e-42f) == 1e-42f);  // a denormal
  CHECK(tanh_of(0x1p-13f) == 0x1p-13f);
  CHECK(tanh_of(9.0f) < 1.0f);
  for (const float x : {9.02f, 10.0f, 44.0f, 1e30f, kInfinity}) {
    CHECK(tanh_of(x) == 1.0f);
    CHECK(tanh_of(-x) == -1.0f);
  }
  CHECK(std::isnan(tanh_of(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("exp of two doubles has the bits of exp of one") {
  double differ = 0;
  for (int n = -70000; n <= 70000; ++n) {
    const double x = n * 0.01 + 0.001234, y = -x * 0.37;
    const F64x2 pair = exp_bounded(make(x, y));
    differ += (lane<0>(pair) != exp_double(x)) + (lane<1>(pair) != exp_double(y));
  }
  CHECK(differ == 0);
  CHECK(lane<0>(exp_bounded(splat(0.0))) == 1.0);
}

TEST_CASE("exp and log of doubles agree with the library's to 2 ULP") {
  double worst_exp = 0, worst_log = 0;
  for (int n = -7450; n <= 7097; ++n) {
    const double x = n * 0.1 + 0.0123, truth = std::exp(x);
    if (truth < 0x1p-1020 || truth > 1e308) continue;
    worst_exp = std::max(worst_exp, std::fabs(exp_double(x) / truth - 1));
  }
  for (int n = 1; n < 20000; ++n) {
    const double x = n < 10000 ? n * 2e-4 : std::ldexp(1.0 + n * 1e-6, (n - 15000) / 5);
    const double truth = std::log(x);
    if (truth != 0) worst_log = std::max(worst_log, std::fabs((log_double(x) - truth) / truth));
  }
  CHECK(worst_exp < 2 * 0x1p-52);
  CHECK(worst_log < 2 * 0x1p-52);
  CHECK(exp_double(0.0) == 1.0);
  CHECK(exp_double(-HUGE_VAL) == 0.0);
  CHECK(exp_double(710.0) == HUGE_VAL);
  CHECK(exp_double(-746.0) == 0.0);
  CHECK(exp_double(-745.0) == 5e-324);
  CHECK(std::isnan(exp_double(std::nan(""))));
  CHECK(log_double(1.0) == 0.0);
  CHECK_FALSE(std::signbit(log_double(1.0)));
  CHECK(log_double(0.0) == -HUGE_VAL);
  CHECK(log_double(HUGE_VAL) == HUGE_VAL);
  CHECK(std::isnan(log_double(-1.0)));
  CHECK(log_double(5e-324) == Approx(-744.4400719213812));
}

TEST_CASE("sine and cosine of turns") {
  for (int n = -4000; n <= 4000; ++n) {
    const double u = n / 1000.0;
    const SinCos v = sin_cos_turns(u);
    // The library's angle is rounded; its error is that of 2 pi u.
    REQUIRE(v.sin == Approx(std::sin(6.283185307179586 * u)).margin(6e-15));
    REQUIRE(v.cos == Approx(std::cos(6.283185307179586 * u)).margin(6e-15));
  }
  CHECK(sin_cos_turns(0.25).sin == 1.0);
  CHECK(sin_cos_turns(0.25).cos == 0.0);
  CHECK(sin_cos_turns(123456.5).cos == -1.0);
  CHECK(sin_cos_turns(-0.75).sin == 1.0);
}

}  // namespace
}  // namespace posenc::simd
