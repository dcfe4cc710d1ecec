// The 256-bit arithmetic against MPFR with 700 bits.
#include <catch2/catch.hpp>
#include <mpfr.h>

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "kernels/multiprecision.h"

namespace posenc {
namespace {

class Number {
 public:
  Number() { mpfr_init2(value_, 700); }
  explicit Number(const MultiFloat& a) : Number() {
    mpfr_set_ui(value_, 0, MPFR_RNDN);
    for (int n = MultiFloat::kLimbs - 1; n >= 0; --n) {
      mpfr_mul_2ui(value_, value_, 32, MPFR_RNDN);
      mpfr_add_ui(value_, value_, a.limbs()[n], MPFR_RNDN);
    }
    mpfr_mul_2si(value_, value_, a.exponent() - 256, MPFR_RNDN);
    if (a.is_negative()) mpfr_neg(value_, value_, MPFR_RNDN);
  }
  ~Number() { mpfr_clear(value_); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  operator mpfr_ptr() { return value_; }

 private:
  mpfr_t value_;
};

// Exponent of |got - truth| / |unit|.
long error(const MultiFloat& got, mpfr_ptr truth, mpfr_ptr unit) {
  Number g(got);
  mpfr_sub(g, g, truth, MPFR_RNDN);
  mpfr_div(g, g, unit, MPFR_RNDN);
  return mpfr_zero_p(static_cast<mpfr_ptr>(g)) ? -1000 : mpfr_get_exp(static_cast<mpfr_ptr>(g));
}

// Full-width numbers of either sign and exponents around zero.
MultiFloat any_number(Random& random) {
  MultiFloat x;
  for (int n = 0; n < 6; ++n) x = x.scaled(53) + MultiFloat(std::floor(random.uniform() * 0x1p53));
  x = x.scaled(-320 + static_cast<int>(random.below(12)));
  return random.below(2) ? -x : x;
}

TEST_CASE("sums, products, quotients and comparison hold their bounds") {
  Random random(1);
  long sum = -1000, product = -1000, quotient = -1000;
  for (int n = 0; n < 4000; ++n) {
    MultiFloat x = any_number(random), y = any_number(random);
    if (n % 3 == 0) y = y.scaled(static_cast<int>(random.below(600)) - 300);
    if (n % 7 == 0) y = y.scaled(-static_cast<int>(random.below(250))) - x;  // cancels
    Number a(x), b(y), c;
    mpfr_ptr larger = mpfr_cmpabs(a, b) > 0 ? a : b;
    mpfr_add(c, a, b, MPFR_RNDN);
    sum = std::max(sum, error(x + y, c, larger));
    mpfr_sub(c, a, b, MPFR_RNDN);
    sum = std::max(sum, error(x - y, c, larger));
    mpfr_mul(c, a, b, MPFR_RNDN);
    product = std::max(product, error(x * y, c, c));
    mpfr_div(c, a, b, MPFR_RNDN);
    quotient = std::max(quotient, error(x / y, c, c));
    REQUIRE(x.to_double() == mpfr_get_d(a, MPFR_RNDN));
    REQUIRE((compare(x, y) > 0) == (mpfr_cmp(a, b) > 0));
    REQUIRE((compare(x, y) < 0) == (mpfr_cmp(a, b) < 0));
  }
  CHECK(sum <= -253);
  CHECK(product <= -253);
  CHECK(quotient <= -250);
}

TEST_CASE("exp, log, powers and roots hold their bounds") {
  Random random(2);
  long worst[5] = {-1000, -1000, -1000, -1000, -1000};
  for (int n = 0; n < 300; ++n) {
    MultiFloat x = any_number(random);
    if (n % 2) x = x.scaled(-static_cast<int>(random.below(60)));
    Number a(x), c, unit;
    mpfr_exp(c, a, MPFR_RNDN);
    mpfr_set_d(unit, std::max(1.0, std::fabs(x.to_double())), MPFR_RNDN);
    mpfr_mul(unit, unit, c, MPFR_RNDN);
    worst[0] = std::max(worst[0], error(exp(x), c, unit));
    if (x.is_negative()) x = -x;
    mpfr_abs(a, a, MPFR_RNDN);
    mpfr_log(c, a, MPFR_RNDN);
    mpfr_set_d(unit, std::max(1.0, std::fabs(mpfr_get_d(c, MPFR_RNDN))), MPFR_RNDN);
    worst[1] = std::max(worst[1], error(log(x), c, unit));
    const auto degree = static_cast<std::int64_t>(1 + random.below(n % 5 ? 1000 : 1000000));
    mpfr_rootn_ui(c, a, static_cast<unsigned long>(degree), MPFR_RNDN);
    worst[2] = std::max(worst[2], error(root(x, degree), c, c));
    const std::int64_t whole = static_cast<std::int64_t>(random.below(400)) - 200;
    mpfr_pow_si(c, a, whole, MPFR_RNDN);
    worst[3] = std::max(worst[3], error(power(x, whole), c, c));
    const MultiFloat y = any_number(random).scaled(-8);
    Number b(y);
    mpfr_pow(c, a, b, MPFR_RNDN);
    worst[4] = std::max(worst[4], error(pow(x, y), c, c));
  }
  CHECK(worst[0] <= -240);
  CHECK(worst[1] <= -240);
  CHECK(worst[2] <= -245);
  CHECK(worst[3] <= -243);
  CHECK(worst[4] <= -230);
}

TEST_CASE("constants are right to the last bit") {
  Number c;
  mpfr_const_pi(c, MPFR_RNDN);
  CHECK(error(MultiFloat::pi(), c, c) <= -255);
  mpfr_ui_div(c, 2, c, MPFR_RNDN);
  CHECK(error(MultiFloat::two_over_pi(), c, c) <= -255);
  mpfr_const_log2(c, MPFR_RNDN);
  CHECK(error(MultiFloat::ln2(), c, c) <= -255);
}

}  // namespace
}  // namespace posenc
