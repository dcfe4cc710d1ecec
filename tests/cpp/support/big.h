// MPFR numbers as values, for oracles that read like the formula they check. 600 bits unless a Big says otherwise.
#pragma once

#include <mpfr.h>

#include <cmath>
#include <utility>

namespace posenc_test {

class Big {
 public:
  static inline mpfr_prec_t bits = 600;

  Big(double value = 0) {
    mpfr_init2(value_, bits);
    mpfr_set_d(value_, value, MPFR_RNDN);
  }
  Big(const Big& other) {
    mpfr_init2(value_, bits);
    mpfr_set(value_, other.value_, MPFR_RNDN);
  }
  Big& operator=(const Big& other) {
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }
  ~Big() { mpfr_clear(value_); }

  static Big pi() {
    Big r;
    mpfr_const_pi(r.value_, MPFR_RNDN);
    return r;
  }
  static Big euler_gamma() {
    Big r;
    mpfr_const_euler(r.value_, MPFR_RNDN);
    return r;
  }

  /// Rounded to nearest in a binary format of `bits` with exponents from `least` (of its smallest normal number) on,
  /// infinite beyond `largest`.
  double rounded(int bits, int least, double largest) const {
    mpfr_t r;
    mpfr_init2(r, bits);
    const mpfr_exp_t emin = mpfr_get_emin();
    const int inexact = mpfr_set(r, value_, MPFR_RNDN);
    mpfr_set_emin(least - bits + 2);
    const int checked = mpfr_check_range(r, inexact, MPFR_RNDN);
    mpfr_subnormalize(r, checked, MPFR_RNDN);
    mpfr_set_emin(emin);
    const double result = mpfr_get_d(r, MPFR_RNDN);
    mpfr_clear(r);
    if (result > largest) return HUGE_VAL;
    return result < -largest ? -HUGE_VAL : result;
  }

  double value() const { return mpfr_get_d(value_, MPFR_RNDN); }
  long exponent() const { return mpfr_zero_p(value_) ? -1000000 : mpfr_get_exp(value_); }

  Big operator-() const {
    Big r;
    mpfr_neg(r.value_, value_, MPFR_RNDN);
    return r;
  }

#define POSENC_BIG_BINARY(symbol, call)                  \
  friend Big operator symbol(const Big& a, const Big& b) { \
    Big r;                                               \
    call(r.value_, a.value_, b.value_, MPFR_RNDN);       \
    return r;                                            \
  }                                                      \
  friend Big& operator symbol##=(Big& a, const Big& b) {  \
    call(a.value_, a.value_, b.value_, MPFR_RNDN);       \
    return a;                                            \
  }
  POSENC_BIG_BINARY(+, mpfr_add)
  POSENC_BIG_BINARY(-, mpfr_sub)
  POSENC_BIG_BINARY(*, mpfr_mul)
  POSENC_BIG_BINARY(/, mpfr_div)
#undef POSENC_BIG_BINARY

#define POSENC_BIG_UNARY(name)            \
  friend Big name(const Big& x) {         \
    Big r;                                \
    mpfr_##name(r.value_, x.value_, MPFR_RNDN); \
    return r;                             \
  }
  POSENC_BIG_UNARY(sin)
  POSENC_BIG_UNARY(cos)
  POSENC_BIG_UNARY(exp)
  POSENC_BIG_UNARY(log)
  POSENC_BIG_UNARY(gamma)
  POSENC_BIG_UNARY(sqrt)
  POSENC_BIG_UNARY(abs)
#undef POSENC_BIG_UNARY
  friend Big pow(const Big& x, const Big& y) {
    Big r;
    mpfr_pow(r.value_, x.value_, y.value_, MPFR_RNDN);
    return r;
  }

 private:
  mpfr_t value_;
};

}  // namespace posenc_test
