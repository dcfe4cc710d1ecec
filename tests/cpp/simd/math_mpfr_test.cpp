// exp, log and the quarter-turn sines of doubles, and tanh of floats, against MPFR.
#include <catch2/catch.hpp>
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/random.h"
#include "simd/math.h"

namespace posenc::simd {
namespace {

double ulps(double got, mpfr_t truth) {
  if (mpfr_zero_p(truth)) return got == 0 ? 0 : HUGE_VAL;
  mpfr_t d;
  mpfr_init2(d, 200);
  mpfr_sub_d(d, truth, got, MPFR_RNDN);
  mpfr_mul_2si(d, d, 53 - mpfr_get_exp(truth), MPFR_RNDN);
  const double r = std::fabs(mpfr_get_d(d, MPFR_RNDU));
  mpfr_clear(d);
  return r;
}

TEST_CASE("functions of doubles keep their stated bounds") {
  Random random(11);
  double worst_exp = 0, worst_log = 0, worst_sin = 0, worst_cos = 0;
  mpfr_t a, s, c;
  mpfr_inits2(200, a, s, c, static_cast<mpfr_ptr>(nullptr));
  for (int n = 0; n < 60000; ++n) {
    const double u = random.uniform();
    const double x = n % 3 == 0 ? 2 * u - 1 : n % 3 == 1 ? -700 + 1400 * u : 60 * u - 30;
    mpfr_set_d(a, x, MPFR_RNDN);
    mpfr_exp(a, a, MPFR_RNDN);
    worst_exp = std::max(worst_exp, ulps(exp_double(x), a));
    const double y = n % 3 == 0 ? 0.5 + 1.5 * u : std::ldexp(1 + u, static_cast<int>(random.below(2000)) - 1000);
    mpfr_set_d(a, y, MPFR_RNDN);
    mpfr_log(a, a, MPFR_RNDN);
    worst_log = std::max(worst_log, ulps(log_double(y), a));
    const double f = n % 5 == 0 ? (u - 0.5) * 0x1p-20 : u - 0.5;
    mpfr_const_pi(a, MPFR_RNDN);
    mpfr_mul_d(a, a, f / 2, MPFR_RNDN);
    mpfr_sin_cos(s, c, a, MPFR_RNDN);
    const SinCos got = sin_cos_quarter_turns(f);
    // Relative errors, as stated.
    mpfr_sub_d(a, s, got.sin, MPFR_RNDN);
    mpfr_div(a, a, s, MPFR_RNDN);
    worst_sin = std::max(worst_sin, std::fabs(mpfr_get_d(a, MPFR_RNDU)));
    mpfr_sub_d(a, c, got.cos, MPFR_RNDN);
    mpfr_div(a, a, c, MPFR_RNDN);
    worst_cos = std::max(worst_cos, std::fabs(mpfr_get_d(a, MPFR_RNDU)));
  }
  mpfr_clears(a, s, c, static_cast<mpfr_ptr>(nullptr));
  mpfr_free_cache();
  std::printf("doubles against MPFR: exp %.3f ULP, log %.3f ULP, sin 2^%.2f, cos 2^%.2f\n", worst_exp, worst_log,
              std::log2(worst_sin), std::log2(worst_cos));
  CHECK(worst_exp < 1.0);
  CHECK(worst_log < 1.0);
  CHECK(worst_sin < std::exp2(-51.4));
  CHECK(worst_cos < std::exp2(-51.6));
}

TEST_CASE("tanh of floats keeps its stated bound") {
  Random random(12);
  double worst = 0;
  mpfr_t a;
  mpfr_init2(a, 200);
  for (int n = 0; n < 60000; ++n) {
    // A third below 1, where the polynomial is, a third about the seam, a third wherever floats are.
    const double u = random.uniform();
    const double any = std::ldexp(1 + u, static_cast<int>(random.below(24)) - 20);
    const float rounded = static_cast<float>(n % 3 == 0 ? u : n % 3 == 1 ? 0.6 + 0.1 * u : any);
    mpfr_set_flt(a, rounded, MPFR_RNDN);
    mpfr_tanh(a, a, MPFR_RNDN);
    const double got = lane<3>(tanh(make(0, 0, 0, rounded)));
    mpfr_sub_d(a, a, got, MPFR_RNDN);
    int exponent;
    std::frexp(std::tanh(static_cast<double>(rounded)), &exponent);
    mpfr_mul_2si(a, a, 24 - exponent, MPFR_RNDN);
    worst = std::max(worst, std::fabs(mpfr_get_d(a, MPFR_RNDU)));
  }
  mpfr_clear(a);
  mpfr_free_cache();
  std::printf("tanh of floats against MPFR: %.3f ULP\n", worst);
  CHECK(worst < 1.34);
  CHECK(worst > 1);
}

}  // namespace
}  // namespace posenc::simd
