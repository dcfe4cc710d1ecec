#include "kernels/multiprecision.h"

#include <bit>
#include <limits>

#include "simd/math.h"

namespace posenc {
namespace {

constexpr int kLimbs = MultiFloat::kLimbs;

}  // namespace

MultiFloat MultiFloat::pi() {
  return {{0x3b139b22u, 0x020bbea6u, 0x8a67cc74u, 0x29024e08u, 0x80dc1cd1u, 0xc4c6628bu, 0x2168c234u, 0xc90fdaa2u}, 2};
}

MultiFloat MultiFloat::two_over_pi() {
  return {{0xdebbc562u, 0xfe5163abu, 0x3c439041u, 0xdb629599u, 0xf534ddc0u, 0xfc2757d1u, 0x4e441529u, 0xa2f9836eu}, 0};
}

MultiFloat MultiFloat::ln2() {
  return {{0x8baafa2cu, 0x8a0d175bu, 0x7298b62du, 0x40f34326u, 0x03f2f6afu, 0xc9e3b398u, 0xd1cf79abu, 0xb17217f7u}, 0};
}

MultiFloat::MultiFloat(double value) {
  const std::uint64_t u = simd::bits_of(value);
  const int field = static_cast<int>(u >> 52 & 0x7ff);
  std::uint64_t m = u & 0x000fffffffffffffu;
  if (field != 0) m |= 0x0010000000000000u;
  const std::uint32_t limbs[2] = {static_cast<std::uint32_t>(m), static_cast<std::uint32_t>(m >> 32)};
  *this = normalised(limbs, 2, (field == 0 ? 1 : field) - 1075 + 64, (u >> 63) != 0);
}

MultiFloat MultiFloat::normalised(const std::uint32_t* limbs, int count, std::int32_t exponent, bool negative) {
  int top = count - 1;
  while (top >= 0 && limbs[top] == 0) --top;
  MultiFloat r;
  if (top < 0) return r;
  const int shift = std::countl_zero(limbs[top]);
  for (int n = 0; n < kLimbs; ++n) {
    const int from = top - n;
    if (from < 0) break;
    std::uint64_t pair = static_cast<std::uint64_t>(limbs[from]) << 32;
    if (from > 0) pair |= limbs[from - 1];
    r.limbs_[kLimbs - 1 - n] = static_cast<std::uint32_t>(pair << shift >> 32);
  }
  r.exponent_ = exponent - 32 * (count - 1 - top) - shift;
  r.negative_ = negative;
  return r;
}

MultiFloat MultiFloat::of_limbs(const std::uint32_t* limbs, std::int32_t exponent, bool negative) {
  return normalised(limbs, kLimbs, exponent, negative);
}

double MultiFloat::to_double() const {
  if (is_zero()) return 0.0;
  const double sign = negative_ ? -1.0 : 1.0;
  if (exponent_ > 1024) return sign * std::numeric_limits<double>::infinity();
  // Bits kept: 53, fewer among the denormals.
  const int kept = exponent_ >= -1021 ? 53 : exponent_ + 1074;
  if (kept < 0) return sign * 0.0;
  const std::uint64_t high = static_cast<std::uint64_t>(limbs_[7]) << 32 | limbs_[6];
  std::uint64_t below = 0;
  for (int n = 0; n < 6; ++n) below |= limbs_[n];
  std::uint64_t m = kept == 0 ? 0 : high >> (64 - kept);
  const std::uint64_t rest = high << kept, half = std::uint64_t{1} << 63;
  if (rest > half || (rest == half && (below != 0 || (m & 1) != 0))) ++m;
  // In two steps: 2^(exponent - kept) may itself be denormal.
  const int scale = exponent_ - kept, part = scale / 2;
  return sign * (static_cast<double>(m) * simd::power_of_two(part) * simd::power_of_two(scale - part));
}

MultiFloat MultiFloat::operator-() const {
  MultiFloat r = *this;
  r.negative_ = !negative_ && !is_zero();
  return r;
}

MultiFloat MultiFloat::scaled(int n) const {
  MultiFloat r = *this;
  if (!is_zero()) r.exponent_ += n;
  return r;
}

namespace {

int compare_magnitude(const MultiFloat& a, const MultiFloat& b) {
  if (a.is_zero() || b.is_zero()) return (a.is_zero() ? 0 : 1) - (b.is_zero() ? 0 : 1);
  if (a.exponent() != b.exponent()) return a.exponent() < b.exponent() ? -1 : 1;
  for (int n = kLimbs - 1; n >= 0; --n) {
    if (a.limbs()[n] != b.limbs()[n]) return a.limbs()[n] < b.limbs()[n] ? -1 : 1;
  }
  return 0;
}

}  // namespace

int compare(const MultiFloat& a, const MultiFloat& b) {
  if (a.negative_ != b.negative_) return a.negative_ ? -1 : 1;
  return a.negative_ ? -compare_magnitude(a, b) : compare_magnitude(a, b);
}

MultiFloat operator+(const MultiFloat& a, const MultiFloat& b) {
  const MultiFloat& large = compare_magnitude(a, b) >= 0 ? a : b;
  const MultiFloat& small = &large == &a ? b : a;
  if (small.is_zero()) return large;
  const std::int32_t gap = large.exponent_ - small.exponent_;
  if (gap > 32 * (kLimbs + 1)) return large;
  // One guard limb below, one for the carry above.
  std::uint32_t x[kLimbs + 2] = {}, y[kLimbs + 2] = {};
  const int limbs = gap / 32, bits = gap % 32;
  for (int n = 0; n < kLimbs; ++n) x[n + 1] = large.limbs_[n];
  for (int n = 0; n <= kLimbs; ++n) {
    const int from = n + limbs - 1;  // y[n] takes the bits of small.limbs_[from] and of the limb above
    const std::uint64_t low = from >= 0 && from < kLimbs ? small.limbs_[from] : 0;
    const std::uint64_t high = from + 1 >= 0 && from + 1 < kLimbs ? small.limbs_[from + 1] : 0;
    y[n] = static_cast<std::uint32_t>((high << 32 | low) >> bits);
  }
  const bool subtract = large.negative_ != small.negative_;
  std::uint64_t carry = subtract ? 1 : 0;
  for (int n = 0; n < kLimbs + 2; ++n) {
    carry += static_cast<std::uint64_t>(x[n]) + (subtract ? ~y[n] : y[n]);
    x[n] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  return MultiFloat::normalised(x, kLimbs + 2, large.exponent_ + 32, large.negative_);
}

MultiFloat operator-(const MultiFloat& a, const MultiFloat& b) { return a + (-b); }

MultiFloat operator*(const MultiFloat& a, const MultiFloat& b) {
  if (a.is_zero() || b.is_zero()) return {};
  // Columns below kLimbs - 2 weigh less than 2^-28 of the last bit and are left out.
  constexpr int kFirst = kLimbs - 2;
  std::uint32_t r[2 * kLimbs] = {};
  for (int i = 0; i < kLimbs; ++i) {
    std::uint64_t carry = 0;
    const std::uint64_t x = a.limbs_[i];
    for (int j = i < kFirst ? kFirst - i : 0; j < kLimbs; ++j) {
      carry += x * b.limbs_[j] + r[i + j];
      r[i + j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    r[i + kLimbs] = static_cast<std::uint32_t>(carry);
  }
  return MultiFloat::normalised(r, 2 * kLimbs, a.exponent_ + b.exponent_, a.negative_ != b.negative_);
}

MultiFloat operator/(const MultiFloat& a, const MultiFloat& b) {
  // Newton's reciprocal of the mantissa: 52, 104, 208, 256 bits.
  const MultiFloat mantissa = b.scaled(-b.exponent_);
  const MultiFloat one(1.0);
  MultiFloat y(1.0 / mantissa.to_double());
  for (int n = 0; n < 3; ++n) y = y + y * (one - mantissa * y);
  return (a * y).scaled(-b.exponent_);
}

MultiFloat power(const MultiFloat& x, std::int64_t n) {
  std::uint64_t bits = n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
  MultiFloat r(1.0), square = x;
  while (bits != 0) {
    if (bits & 1) r = r * square;
    bits >>= 1;
    if (bits != 0) square = square * square;
  }
  return n < 0 ? MultiFloat(1.0) / r : r;
}

MultiFloat root(const MultiFloat& x, std::int64_t n) {
  const MultiFloat one(1.0);
  if (n == 1) return x;
  // y <- y (1 + (1 - y^n / x) / n); errors e go to about n e^2 / 2, starting from 2^-46 of a double.
  const double log_x = simd::log_double(x.scaled(-x.exponent()).to_double()) + x.exponent() * 0x1.62e42fefa39efp-1;
  MultiFloat y(simd::exp_double(log_x / static_cast<double>(n)));
  const MultiFloat inverse = one / x, share = one / MultiFloat(static_cast<double>(n));
  for (int step = 0; step < 4; ++step) {
    const MultiFloat residue = one - power(y, n) * inverse;
    if (residue.is_zero()) break;
    y = y + y * residue * share;
    if (residue.exponent() < -140) break;  // the next residue is below the last bit
  }
  return y;
}

namespace {

// 1 / k for k = 1 .. kTerms, the terms of e^x: divisions are the dearest of all.
constexpr int kTerms = 22;
const MultiFloat* inverses() {
  static MultiFloat table[kTerms + 1];
  for (int k = 1; table[kTerms].is_zero(); ++k) table[k] = MultiFloat(1.0) / MultiFloat(static_cast<double>(k));
  return table;
}

}  // namespace

MultiFloat exp(const MultiFloat& x) {
  if (x.is_zero()) return MultiFloat(1.0);
  // x = n ln 2 + 2^8 r, |r| < 2^-9.
  constexpr double kMagic = 0x1.8p52;
  const double n = (x.to_double() * 0x1.71547652b82fep0 + kMagic) - kMagic;
  const MultiFloat r = (x - MultiFloat(n) * MultiFloat::ln2()).scaled(-8);
  const MultiFloat one(1.0);
  MultiFloat sum = one;
  const MultiFloat* inverse = inverses();
  for (int k = kTerms; k > 0; --k) sum = one + sum * r * inverse[k];
  for (int k = 0; k < 8; ++k) sum = sum * sum;
  return sum.scaled(static_cast<int>(n));
}

MultiFloat log(const MultiFloat& x) {
  // Halley on the mantissa: y + 2 (m - e^y) / (m + e^y), 50, 150, 256 bits.
  const MultiFloat m = x.scaled(-x.exponent());
  MultiFloat y(simd::log_double(m.to_double()));
  for (int n = 0; n < 2; ++n) {
    const MultiFloat e = exp(y);
    y = y + ((m - e) / (m + e)).scaled(1);
  }
  return y + MultiFloat(static_cast<double>(x.exponent())) * MultiFloat::ln2();
}

MultiFloat pow(const MultiFloat& x, const MultiFloat& y) { return exp(y * log(x)); }

}  // namespace posenc
