#include "simd/math.h"

#include <limits>

namespace posenc::simd {

double exp_double(double x) {
  using namespace exp_constants;
  if (x != x) return x;
  if (x > 709.79) return std::numeric_limits<double>::infinity();
  if (x < -745.2) return 0.0;
  constexpr double kMagic = 0x1.8p52;
  const double t = x * kLog2EDouble + kMagic;
  const double n = t - kMagic;
  const double high = x - n * kLn2HighDouble, low = n * kLn2LowDouble;
  const double r = high - low;
  const double lost = (high - r) - low;
  const double r2 = r * r;
  double q = kTerms[0];
  for (int n = 1; n < kTermCount; ++n) q = q * r + kTerms[n];
  const double p = 1.0 + (r + (r2 * q + lost));
  const int exponent = static_cast<int>(n), half = exponent / 2;
  return p * power_of_two(half) * power_of_two(exponent - half);
}

double log_double(double x) {
  using namespace exp_constants;
  if (x != x) return x;
  if (x < 0) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return -std::numeric_limits<double>::infinity();
  if (x > std::numeric_limits<double>::max()) return x;
  int exponent = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    exponent = -54;
  }
  // x = 2^exponent m with m in [sqrt(1/2), sqrt(2)).
  const std::uint64_t u = bits_of(x);
  exponent += static_cast<int>(u >> 52) - 1023;
  double m = double_of_bits((u & 0x000fffffffffffffu) | 0x3ff0000000000000u);
  if (m > 0x1.6a09e667f3bcdp0) {
    m *= 0.5;
    ++exponent;
  }
  // log m = 2 s + s^3 R(s^2) with s = f / (2 + f), f = m - 1; R minimax with relative error 2^-58.5.
  const double f = m - 1.0;
  const double s = f / (2.0 + f), z = s * s;
  double r = 0x1.2f0634a5f7592p-3;
  r = r * z + 0x1.39a1a6f3b88a4p-3;
  r = r * z + 0x1.74663fa24cd53p-3;
  r = r * z + 0x1.c71c520607208p-3;
  r = r * z + 0x1.24924941f4fcap-2;
  r = r * z + 0x1.999999997fd77p-2;
  r = r * z + 0x1.5555555555592p-1;
  const double half_square = 0.5 * f * f;
  const double k = exponent;
  // 2 s = f - f^2 / 2 + s f^2 / 2 keeps the leading term exact.
  return k * kLn2HighDouble + (f - (half_square - (s * (half_square + z * r) + k * kLn2LowDouble)));
}

SinCos sin_cos_turns(double u) {
  constexpr double kMagic = 0x1.8p52;
  const double t = 4.0 * u + kMagic, n = t - kMagic;
  const SinCos v = sin_cos_quarter_turns(4.0 * u - n);
  switch (bits_of(t) & 3) {
    case 0:
      return v;
    case 1:
      return {v.cos, -v.sin};
    case 2:
      return {-v.sin, -v.cos};
    default:
      return {-v.cos, v.sin};
  }
}

}  // namespace posenc::simd
