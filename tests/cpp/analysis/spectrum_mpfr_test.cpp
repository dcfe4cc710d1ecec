// Phases against MPFR: t omega / (2 pi) to 400 bits.
#include "analysis/spectrum.h"

#include <mpfr.h>

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "support/property.h"

using namespace posenc;
using namespace posenc_test;

TEST_CASE("phases are within 2^-50 of a turn at any position") {
  mpfr_t pi, turns, factor, whole_turns;
  mpfr_inits2(400, pi, turns, factor, whole_turns, static_cast<mpfr_ptr>(nullptr));
  mpfr_const_pi(pi, MPFR_RNDN);
  double worst = 0;
  property(
      "phase",
      [&](Dice& dice) {
        const double omega = std::exp2(dice.real(-40, 8));
        const double position = dice.coin() ? std::floor(std::exp2(dice.real(0, 53))) : std::exp2(dice.real(-20, 30));
        double digit = 0, phase = 0, rest = 0;
        REQUIRE(radix(&omega, 1, position, &digit, &phase, &rest).ok());
        REQUIRE(phase >= 0);
        REQUIRE(phase < 1);
        mpfr_set_d(turns, position, MPFR_RNDN);
        mpfr_mul_d(turns, turns, omega, MPFR_RNDN);
        mpfr_div(turns, turns, pi, MPFR_RNDN);
        mpfr_div_ui(turns, turns, 2, MPFR_RNDN);
        mpfr_sub_d(turns, turns, phase, MPFR_RNDN);
        mpfr_rint(whole_turns, turns, MPFR_RNDN);
        mpfr_sub(turns, turns, whole_turns, MPFR_RNDN);
        worst = std::max(worst, std::abs(mpfr_get_d(turns, MPFR_RNDN)));
      },
      2000);
  CHECK(worst < 0x1p-50);
  mpfr_clears(pi, turns, factor, whole_turns, static_cast<mpfr_ptr>(nullptr));
}
