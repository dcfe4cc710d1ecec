// Set-up arithmetic with 256 bits: frequencies are formed in it once, angles are then reduced by integer products.
#pragma once

#include <cstdint>

namespace posenc {

/// A binary floating number with a mantissa of 256 bits: sign * 0.limbs * 2^exponent, the top bit of the mantissa set
/// unless the number is zero. There is no infinity and no NaN; exponents far beyond those of a double are fine.
/// + - * have a relative error below 2^-253, / below 2^-250. Results are the same on every machine.
class MultiFloat {
 public:
  static constexpr int kLimbs = 8;

  constexpr MultiFloat() = default;
  /// Exact; the value must be finite.
  explicit MultiFloat(double value);
  /// From eight limbs, the least significant first; the top bit must be set.
  static MultiFloat of_limbs(const std::uint32_t* limbs, std::int32_t exponent, bool negative);
  static MultiFloat pi();
  static MultiFloat two_over_pi();
  static MultiFloat ln2();

  /// Rounded to nearest, ties to even; overflows to infinity, underflows through the denormals.
  double to_double() const;

  bool is_zero() const { return limbs_[kLimbs - 1] == 0; }
  bool is_negative() const { return negative_; }
  /// |value| is in [2^(exponent - 1), 2^exponent); meaningless for zero.
  std::int32_t exponent() const { return exponent_; }
  /// Limb 0 is the least significant.
  const std::uint32_t* limbs() const { return limbs_; }

  MultiFloat operator-() const;
  /// value * 2^n, exact.
  MultiFloat scaled(int n) const;

  friend MultiFloat operator+(const MultiFloat& a, const MultiFloat& b);
  friend MultiFloat operator-(const MultiFloat& a, const MultiFloat& b);
  friend MultiFloat operator*(const MultiFloat& a, const MultiFloat& b);
  friend MultiFloat operator/(const MultiFloat& a, const MultiFloat& b);
  /// -1, 0 or 1 as a is below, equal to or above b.
  friend int compare(const MultiFloat& a, const MultiFloat& b);

 private:
  constexpr MultiFloat(const std::uint32_t (&limbs)[kLimbs], std::int32_t exponent) : exponent_(exponent) {
    for (int n = 0; n < kLimbs; ++n) limbs_[n] = limbs[n];
  }
  // Takes the 256 bits below the top set bit of `count` limbs, whose value is 0.limbs * 2^exponent.
  static MultiFloat normalised(const std::uint32_t* limbs, int count, std::int32_t exponent, bool negative);

  std::uint32_t limbs_[kLimbs] = {};
  std::int32_t exponent_ = 0;
  bool negative_ = false;
};

inline bool operator<(const MultiFloat& a, const MultiFloat& b) { return compare(a, b) < 0; }
inline bool operator==(const MultiFloat& a, const MultiFloat& b) { return compare(a, b) == 0; }

/// x^n for any integer n, by squaring: relative error about |n| * 2^-252.
MultiFloat power(const MultiFloat& x, std::int64_t n);

/// Positive x^(1 / n) for x > 0, n >= 1, where it is within the range of a double: Newton, relative error below 2^-245.
MultiFloat root(const MultiFloat& x, std::int64_t n);

/// e^x for |x| < 2^20, relative error below 2^-240 max(1, |x|).
MultiFloat exp(const MultiFloat& x);

/// Natural logarithm of x > 0, error below 2^-240 max(1, |log x|).
MultiFloat log(const MultiFloat& x);

/// x^y for x > 0, relative error below 2^-236 max(1, |y log x|).
MultiFloat pow(const MultiFloat& x, const MultiFloat& y);

}  // namespace posenc
