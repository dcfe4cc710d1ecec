// exp and tanh for four floats, exp for two doubles at a time, and exp and log for one double: own polynomials, the
// same bits on every back end.
#pragma once

#include <cstdint>
#include <cstring>

#include "simd/f64x2.h"

namespace posenc::simd {

namespace exp_constants {
inline constexpr float kLog2E = 0x1.715476p+0f;
// ln 2 in two parts; the first has 15 bits, so its product with any exponent is exact.
inline constexpr float kLn2High = 0x1.62e4p-1f;
inline constexpr float kLn2Low = 0x1.7f7d1cp-20f;
// Adding this rounds to an integer n and leaves n + 126 in the low bits: shifted into the exponent field they read
// 2^(n - 1), and +0 for n = -126. The polynomial carries the missing factor 2.
inline constexpr float kRound = 12582912.0f + 126.0f;
// exp(-inf) and everything that would come near the denormals land on n = -126, hence on +0.
inline constexpr float kLowest = -87.3f;
inline constexpr float kHighest = 89.0f;
// Twice the minimax coefficients of e^r = 1 + r + r^2 (c2 + c3 r + ...) on |r| <= ln 2 / 2, relative error 2^-28.3.
inline constexpr float kC2 = 2 * 0x1.fffffcp-2f;
inline constexpr float kC3 = 2 * 0x1.555492p-3f;
inline constexpr float kC4 = 2 * 0x1.5558f2p-5f;
inline constexpr float kC5 = 2 * 0x1.123a20p-7f;
inline constexpr float kC6 = 2 * 0x1.6a23d0p-10f;
}  // namespace exp_constants

/// The two halves of exp_bounded: x = n ln 2 + r, with n in the low bits of `power`; and e^r 2^n. A loop over many x
/// that does one half and then the other is a third faster than one over exp_bounded: its chains of dependent steps are
/// short enough for processors to overlap.
struct ReducedExp {
  F32x4 power, r;
};
POSENC_INLINE ReducedExp reduce_exp(F32x4 x) {
  using namespace exp_constants;
  x = max(x, splat(kLowest));
  const F32x4 t = x * splat(kLog2E) + splat(kRound);
  const F32x4 n = t - splat(kRound);
  return {t, (x - n * splat(kLn2High)) - n * splat(kLn2Low)};
}
POSENC_INLINE F32x4 finish_exp(ReducedExp reduced) {
  using namespace exp_constants;
  const F32x4 r = reduced.r, r2 = r * r;
  const F32x4 q = (splat(kC2) + splat(kC3) * r) + r2 * ((splat(kC4) + splat(kC5) * r) + splat(kC6) * r2);
  const F32x4 p = splat(2.0f) + ((r + r) + r2 * q);
  return p * float_of_bits(shift_left<23>(bits(reduced.power)));
}

/// e^x for x <= 88.7, without a look at larger x (there the result is unspecified): the exp of softmax.
/// At most 1 ULP (0.990, over every float) on [-86.98, 88.7]; +0 below -86.99, so that no denormal is ever made;
/// exp(-inf) = +0; exp(+-0) = 1 exactly; NaN stays NaN.
POSENC_INLINE F32x4 exp_bounded(F32x4 x) { return finish_exp(reduce_exp(x)); }

/// e^x for every x: as exp_bounded, and +inf above 88.7228.
POSENC_INLINE F32x4 exp(F32x4 x) { return exp_bounded(min(x, splat(exp_constants::kHighest))); }

/// tanh x within 1.34 ULP (1.332, over every float), odd and never falling: an odd minimax polynomial (2^-27.7) below
/// 5/8, so that small x keep their digits, and 1 - 2 / (e^2x + 1) above; +-1 from 9.02 on, zeros as they are, NaN
/// stays NaN.
POSENC_INLINE F32x4 tanh(F32x4 x) {
  const F32x4 a = min(abs(x), splat(10.0f)), z = a * a;
  const F32x4 p = splat(-0x1.b83c58p-5f) + z * (splat(0x1.522692p-6f) + z * splat(-0x1.75e1a4p-8f));
  const F32x4 small = a + (a * z) * (splat(-0x1.555532p-2f) + z * (splat(0x1.110726p-3f) + z * p));
  const F32x4 large = splat(1.0f) - splat(2.0f) / (exp_bounded(a + a) + splat(1.0f));
  const I32x4 sign = bits(x) & bits(splat(-0.0f));
  return float_of_bits(bits(select(a < splat(0.625f), small, large)) | sign);
}

// ---------------------------------------------------------------- one double at a time, for set-up and for log-sums

namespace exp_constants {
// ln 2 in two parts; the first has 33 bits, so its product with any exponent of a double is exact.
inline constexpr double kLn2HighDouble = 0x1.62e42feep-1;
inline constexpr double kLn2LowDouble = 0x1.a39ef35793c76p-33;
inline constexpr double kLog2EDouble = 0x1.71547652b82fep0;
// e^r = 1 + r + r^2 q(r), minimax on |r| <= ln 2 / 2 with relative error 2^-57.9: q from its highest power down.
inline constexpr int kTermCount = 10;
inline constexpr double kTerms[kTermCount] = {
    0x1.ad7f6f0799ee2p-26, 0x1.28ad72cc30daap-22, 0x1.71df2552390c2p-19, 0x1.a0199a0c677acp-16, 0x1.a01a012a57b51p-13,
    0x1.6c16c1842a11dp-10, 0x1.1111111127be5p-7,  0x1.555555555087cp-5,  0x1.55555555554fap-3,  0x1.000000000000ap-1};
}  // namespace exp_constants

inline std::uint64_t bits_of(double x) {
  std::uint64_t u;
  std::memcpy(&u, &x, sizeof u);
  return u;
}

inline double double_of_bits(std::uint64_t u) {
  double x;
  std::memcpy(&x, &u, sizeof x);
  return x;
}

/// 2^n for -1022 <= n <= 1023.
inline double power_of_two(int n) { return double_of_bits(static_cast<std::uint64_t>(n + 1023) << 52); }

/// e^x within 1 ULP (0.91 measured); denormal results are rounded once more. exp(0) = 1, exp(-inf) = 0, NaN stays NaN.
double exp_double(double x);

/// e^x for |x| <= 700, two at a time: the bits of exp_double(x).
POSENC_INLINE F64x2 exp_bounded(F64x2 x) {
  using namespace exp_constants;
  // Rounds to an integer n and leaves n + 1022 in the low bits, which read 2^(n - 1) in the exponent field.
  const F64x2 round = splat(0x1.8p52 + 1022);
  const F64x2 t = x * splat(kLog2EDouble) + round;
  const F64x2 n = t - round;
  const F64x2 high = x - n * splat(kLn2HighDouble), low = n * splat(kLn2LowDouble);
  const F64x2 r = high - low, lost = (high - r) - low, r2 = r * r;
  F64x2 q = splat(kTerms[0]);
  for (int i = 1; i < kTermCount; ++i) q = q * r + splat(kTerms[i]);
  const F64x2 p = splat(1.0) + (r + (r2 * q + lost));
  return (p + p) * low_bits_to_exponent(t);
}

/// Natural logarithm within 1 ULP (0.84 measured); log(1) = +0, log(0) = -inf, NaN below zero, denormals as they are.
double log_double(double x);

/// log(1 + x) for x >= 0, within 2 ULP, however small x is (Kahan's quotient: what 1 + x lost cancels).
inline double log1p_double(double x) {
  const double u = 1.0 + x;
  return u == 1.0 ? x : log_double(u) * (x / (u - 1.0));
}

struct SinCos {
  double sin = 0, cos = 1;
};

/// sin and cos of f quarter turns (f pi / 2), |f| <= 1/2; relative errors below 2^-51.4 and 2^-51.6: polynomials in
/// f^2, minimax to 2^-57.9 and 2^-54.1, pi / 2 to 2^-54.5, two roundings at the full size of a sine, one of a cosine.
inline SinCos sin_cos_quarter_turns(double f) {
  const double g = f * f;
  double s = 0x1.e3ff247e120b4p-25;
  s = s * g - 0x1.e300988e8d8f4p-19;
  s = s * g + 0x1.5078300c39455p-13;
  s = s * g - 0x1.32d2cce3240b5p-8;
  s = s * g + 0x1.466bc67758cb1p-4;
  s = s * g - 0x1.4abbce625be46p-1;
  double c = 0x1.f3ef3e5b231b2p-22;
  c = c * g - 0x1.a6ca008bc0984p-16;
  c = c * g + 0x1.e1f4fbfbec603p-11;
  c = c * g - 0x1.55d3c7dcb5e2cp-6;
  c = c * g + 0x1.03c1f081b14bdp-2;
  c = c * g - 0x1.3bd3cc9be45a5p+0;
  return {f * 0x1.921fb54442d18p+0 + f * (g * s), 1.0 + g * c};
}

/// sin and cos of u whole turns (2 pi u), |u| < 2^50, as precise as sin_cos_quarter_turns.
SinCos sin_cos_turns(double u);

}  // namespace posenc::simd
