// Do all numbers within a margin of a double round to the same float? Ziv's test, and a cheaper one in front of it.
#pragma once

#include <cstdint>

#include "simd/f64x2.h"
#include "simd/math.h"

namespace posenc {

/// Ziv's test of four doubles: do a - ea and a + ea, b - eb and b + eb round alike?
POSENC_INLINE bool same_floats(simd::F64x2 a, simd::F64x2 b, simd::F64x2 ea, simd::F64x2 eb) {
  return !any(bits(demote(a - ea, b - eb)) ^ bits(demote(a + ea, b + eb)));
}

/// A test of the bits of doubles v with margins e, of which all but about a thousandth pass that Ziv's test passes, and
/// none that it does not pass.
///
/// A float has no room for the last 29 bits of v. Where they are at least 2^17 away from one half and e < 2^17 ulp(v),
/// v - e and v + e round alike; the latter holds where |v| >= 2^36 e, because ulp(v) > 2^-53 |v|. Sixteen bits tell the
/// first: bits 16 to 28, as 8 times their word modulo 2^16, are not among the four values about 2^15. Sixteen tell the
/// second: exponent and four more bits, as twice the highest word, are not below those of 2^36 e. Both become
/// word * factor + offset, modulo 2^16, below a bound where the test fails.
class RoundingDoubt {
 public:
  static constexpr int kOffsets = 4;  // a pair of doubles

  /// The offsets of a pair with margins ea and eb, at least 2^-148; ea may be 0 where a is 0.
  static void offsets(double ea, double eb, std::uint16_t* to) {
    to[0] = to[1] = 0x8000 + 16;
    to[2] = of_size(eb), to[3] = of_size(ea);
  }

  /// Two pairs (a0, b0), (a1, b1) with their offsets.
  POSENC_INLINE void add(simd::F64x2 a, simd::F64x2 b, simd::U16x8 offsets) {
    least_ = min(least_, high_halves(a, b) * simd::load(kFactors) + offsets);
  }
  /// Did any fail?
  POSENC_INLINE bool any() const { return any_differ(least_, simd::load(kBounds)); }

 private:
  static std::uint16_t of_size(double margin) {
    if (margin == 0) return 0xffff;  // zero passes
    return static_cast<std::uint16_t>(simd::bits_of(0x1p36 * margin) << 1 >> 48);
  }

  static constexpr std::uint16_t kFactors[] = {8, 8, 0xfffe, 0xfffe, 8, 8, 0xfffe, 0xfffe};
  static constexpr std::uint16_t kBounds[] = {32, 32, 0xe000, 0xe000, 32, 32, 0xe000, 0xe000};
  simd::U16x8 least_ = simd::load(kBounds);
};

}  // namespace posenc
