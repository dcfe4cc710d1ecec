#include "kernels/sincos.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "kernels/rotators.h"
#include "kernels/sure_rounding.h"
#include "simd/address.h"
#include "simd/f64x2.h"
#include "simd/math.h"

namespace posenc {
namespace {

using simd::F32x4;
using simd::F64x2;
using simd::SinCos;
using simd::U16x8;

// ---------------------------------------------------------------- one cell, exactly

// A position as sign * mantissa * 2^exponent, the mantissa a 53-bit integer in two parts.
struct Position {
  double value = 0;
  std::uint32_t low = 0, high = 0;
  int exponent = 0;
  bool negative = false;
};

Position split(double p) {
  Position r;
  r.value = p;
  const std::uint64_t u = simd::bits_of(p);
  const int field = static_cast<int>(u >> 52 & 0x7ff);
  std::uint64_t m = u & 0x000fffffffffffffu;
  if (field != 0) m |= 0x0010000000000000u;
  r.low = static_cast<std::uint32_t>(m);
  r.high = static_cast<std::uint32_t>(m >> 32);
  r.exponent = (field == 0 ? 1 : field) - 1075;
  r.negative = (u >> 63) != 0;
  return r;
}

// A sum of two doubles, |low| <= ulp(high) / 2 after each operation.
struct Twofold {
  double high = 0, low = 0;
};

// a + b without loss, where |a| >= |b| or a is zero.
Twofold quick_sum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}

// a * b without loss while nothing under- or overflows (Dekker; there is no fused multiply-add).
Twofold product(double a, double b) {
  constexpr double kSplit = 134217729.0;  // 2^27 + 1
  const double ta = a * kSplit, tb = b * kSplit;
  const double ah = ta - (ta - a), bh = tb - (tb - b), al = a - ah, bl = b - bh, p = a * b;
  return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

// Relative error below 2^-101.
Twofold operator*(Twofold a, Twofold b) {
  const Twofold p = product(a.high, b.high);
  return quick_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

// For |a| >= |b|; relative error below 2^-102.
Twofold operator+(Twofold a, Twofold b) {
  const Twofold s = quick_sum(a.high, b.high);
  return quick_sum(s.high, s.low + (a.low + b.low));
}

// position * omega = (quadrant + fraction) * pi / 2, |fraction| <= 1/2, the quadrant modulo 4.
struct Reduced {
  std::uint32_t quadrant = 0;
  Twofold fraction;
};

// Below a quarter nothing has to be reduced: quarter turns < 2^(exponents).
bool needs_no_reduction(const QuarterTurns& w, const Position& p) { return w.exponent + p.exponent + 53 <= -2; }

// The product modulo 4 in fixed point, 190 bits below the point and 2 above, without its sign. What is cut off below
// the frequency's window is less than 2^-190, times the mantissa less than 2^-137: next to zero (no closer than some
// 2^-72 for 2^64 positions and 2^8 frequencies) that leaves 65 bits.
void multiply_modulo_4(const QuarterTurns& w, const Position& p, std::uint32_t (&r)[6]) {
  const int shift = 66 - w.exponent - p.exponent;
  std::uint32_t window[6];
  if (shift >= 0) {
    const std::uint32_t* from = w.limbs + (shift >> 5);
    const int bits = shift & 31;
    for (int n = 0; n < 6; ++n) {
      window[n] = static_cast<std::uint32_t>((static_cast<std::uint64_t>(from[n + 1]) << 32 | from[n]) >> bits);
    }
  } else {
    // Frequencies past 2^64: bits below the 256th are taken as zero.
    const int limbs = (-shift + 31) >> 5, bits = 32 * limbs + shift;
    const auto limb = [&w](int n) { return n >= 0 && n < 10 ? static_cast<std::uint64_t>(w.limbs[n]) : 0; };
    for (int n = 0; n < 6; ++n) {
      window[n] = static_cast<std::uint32_t>((limb(n - limbs + 1) << 32 | limb(n - limbs)) >> bits);
    }
  }
  std::uint64_t first = 0, second = 0;
  const std::uint64_t low = p.low, high = p.high;
  for (int n = 0; n < 6; ++n) {
    first += window[n] * low;
    if (n > 0) second += window[n - 1] * high;
    second += static_cast<std::uint32_t>(first);
    first >>= 32;
    r[n] = static_cast<std::uint32_t>(second);
    second >>= 32;
  }
}

// The fraction to 2^-137 or 100 bits, whichever is coarser.
Reduced reduce_exactly(const QuarterTurns& w, const Position& p) {
  if (w.zero || p.value == 0) return {};
  if (needs_no_reduction(w, p)) {
    const Twofold t = product(w.high, p.value);
    return {0, quick_sum(t.high, t.low + w.low * p.value)};
  }
  std::uint32_t r[6];
  multiply_modulo_4(w, p, r);
  const std::uint32_t quadrant = (r[5] + 0x20000000u) >> 30;
  r[5] = static_cast<std::uint32_t>(static_cast<std::int32_t>(r[5] << 2) >> 2);
  const bool below = (r[5] >> 31) != 0;
  if (below) {
    std::uint64_t carry = 1;
    for (std::uint32_t& limb : r) {
      carry += static_cast<std::uint32_t>(~limb);
      limb = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
  Twofold f;
  double unit = 0x1p-30;
  for (int n = 5; n >= 0; --n) {
    const Twofold s = quick_sum(f.high, r[n] * unit);
    f = {s.high, f.low + s.low};
    unit *= 0x1p-32;
  }
  f = quick_sum(f.high, f.low);
  const bool negative = w.negative != p.negative;
  if (below != negative) f = {-f.high, -f.low};
  return {negative ? 0 - quadrant : quadrant, f};
}

// The fraction to a double, relative error below 2^-52, fast.
Reduced reduce(const QuarterTurns& w, const Position& p) {
  if (w.zero || p.value == 0) return {};
  if (needs_no_reduction(w, p)) return {0, {w.high * p.value, 0}};
  std::uint32_t r[6];
  multiply_modulo_4(w, p, r);
  const std::uint32_t quadrant = (r[5] + 0x20000000u) >> 30;
  // Signed fraction: 62 bits as an integer, then 64 more, which matter next to zero only.
  const std::int64_t top = static_cast<std::int64_t>((static_cast<std::uint64_t>(r[5]) << 32 | r[4]) << 2) >> 2;
  if (top == 0 || top == -1) return reduce_exactly(w, p);
  const double f = static_cast<double>(top) * 0x1p-62 + (r[3] * 0x1p-94 + r[2] * 0x1p-126);
  const bool negative = w.negative != p.negative;
  return {negative ? 0 - quadrant : quadrant, {negative ? -f : f, 0}};
}

// Turns sine and cosine of the fraction into those of the angle.
template <class Value, class Negate>
void into_quadrant(std::uint32_t quadrant, Value& sin, Value& cos, Negate negate) {
  if (quadrant & 1) std::swap(sin, cos);
  if (quadrant & 2) sin = negate(sin);
  if ((quadrant + 1) & 2) cos = negate(cos);
}

// Relative error of both below 2^-50.6 (5.3 units of 2^-53): the fraction errs by 2^-52.
POSENC_NOINLINE SinCos evaluate(const QuarterTurns& w, const Position& p) {
  const Reduced angle = reduce(w, p);
  SinCos r = simd::sin_cos_quarter_turns(angle.fraction.high);
  into_quadrant(angle.quadrant, r.sin, r.cos, [](double x) { return -x; });
  return r;
}

struct TwofoldSinCos {
  Twofold sin, cos;
};

// Relative error of both below 2^-59: Taylor, the terms up to x^4 and x^3 as sums of two doubles.
POSENC_NOINLINE TwofoldSinCos evaluate_exactly(const QuarterTurns& w, const Position& p) {
  const Reduced angle = reduce_exactly(w, p);
  const Twofold x = angle.fraction * Twofold{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
  const Twofold z = x * x;
  // 1/5! - z/7! + ..., 1/6! - z/8! + ...
  constexpr double kSin[] = {1.0 / 51090942171709440000.0, 1.0 / 121645100408832000.0, 1.0 / 355687428096000.0,
                             1.0 / 1307674368000.0,        1.0 / 6227020800.0,         1.0 / 39916800.0,
                             1.0 / 362880.0,               1.0 / 5040.0,               1.0 / 120.0};
  constexpr double kCos[] = {1.0 / 2432902008176640000.0, 1.0 / 6402373705728000.0, 1.0 / 20922789888000.0,
                             1.0 / 87178291200.0,         1.0 / 479001600.0,        1.0 / 3628800.0,
                             1.0 / 40320.0,               1.0 / 720.0};
  double s = 0, c = 0;
  for (const double a : kSin) s = a - s * z.high;
  for (const double a : kCos) c = a - c * z.high;
  s = z.high * z.high * x.high * s;
  c = -(z.high * z.high * z.high * c);
  constexpr Twofold kSixth{-0x1.5555555555555p-3, -0x1.5555555555555p-57};
  constexpr Twofold kTwentyFourth{0x1.5555555555555p-5, 0x1.5555555555555p-59};
  TwofoldSinCos r;
  r.sin = x + (x * z * kSixth + Twofold{s, 0});
  r.cos = Twofold{1, 0} + (Twofold{-0.5 * z.high, -0.5 * z.low} + (z * z * kTwentyFourth + Twofold{c, 0}));
  into_quadrant(angle.quadrant, r.sin, r.cos, [](Twofold v) { return Twofold{-v.high, -v.low}; });
  return r;
}

Twofold scaled(Twofold v, double scale) { return scale == 1.0 ? v : v * Twofold{scale, 0}; }

// The float nearest to a sum of two doubles: first to odd, which a second rounding cannot betray.
float round_to_float(Twofold v) {
  std::uint64_t u = simd::bits_of(v.high);
  if (v.low != 0 && (u & 1) == 0) u = (v.low > 0) == (v.high > 0) ? u + 1 : u - 1;
  return static_cast<float>(simd::double_of_bits(u));
}

float plus_zero(float v) { return v == 0 ? 0.0f : v; }

// Ziv's test: is every number within `margin` of v rounded to the same float?
bool same_float(double v, double margin) {
  return static_cast<float>(v - margin) == static_cast<float>(v + margin);
}

constexpr double kCellMargin = 0x1p-50;  // relative; covers evaluate() and a product with the scale

// scale * sin and scale * cos of one cell.
struct FloatCell {
  float sin = 0, cos = 0;
};

POSENC_NOINLINE void refine(const QuarterTurns& w, const Position& p, double scale, FloatCell& cell) {
  const TwofoldSinCos t = evaluate_exactly(w, p);
  cell = {plus_zero(round_to_float(scaled(t.sin, scale))), plus_zero(round_to_float(scaled(t.cos, scale)))};
}

POSENC_NOINLINE FloatCell float_cell(const QuarterTurns& w, const Position& p, double scale) {
  SinCos v = evaluate(w, p);
  v.sin *= scale;
  v.cos *= scale;
  FloatCell cell{static_cast<float>(v.sin), static_cast<float>(v.cos)};
  if (same_float(v.sin, v.sin * kCellMargin) && same_float(v.cos, v.cos * kCellMargin)) {
    return {plus_zero(cell.sin), plus_zero(cell.cos)};
  }
  refine(w, p, scale, cell);
  return cell;
}

// ---------------------------------------------------------------- runs, by angle addition
//
// Anchors stand between rows: anchor k at a = 16 k + 7.5 steps after the first, and the rows of its block at a +- b,
// b = 0.5, 1.5 .. 7.5. e^(i omega (a + b) h) = A_a D_b is one complex product, and the rows a + b and a - b share its
// four multiplications. A_a is the product of the anchor of k with its lowest set bit cleared and of the rotator of
// that bit, so that no anchor is more than kLevels + 1 products away from exact ones.
//
// Error of a value v, with u = 2^-53: exact entries err by at most 5.3 u in norm (evaluate()), each product adds the
// errors of its factors and 2.25 u of its own (three roundings per component). A stretch has at most 2^12 anchors after
// the first, so a value has at most 14 exact factors: 14 * 5.3 u + 13 * 2.25 u + 1 u for the scale < 105 u, 8 u for
// the error of the cell computed alone and 1 u for forming v +- e: e = 128 u = 2^-46 covers cosines. A sine whose
// angles are all below theta < 1 errs in proportion, because one factor of each product is a sine <= theta; the errors
// of the cosines of the first factor meet ever longer rotators whose angles add up to at most 2 theta.
// 13 (5.3 + 5.3 + 3) u + 2 * 105 u + 15 u < 512 u: e = 2^-44 theta covers it.
// A cell is kept only if float(v - e) = float(v + e), which sure_rounding.h tells: then the cell computed alone has the
// same bits, whatever its error. Margins are at least 2^-148, so that no -0 passes.

constexpr double kCosMargin = 0x1p-46;
constexpr double kSinMargin = 0x1p-44;
constexpr std::size_t kStretch = kBlockRows << (kLevels - 1);  // rows between exact anchors
constexpr double kLeastMargin = 0x1p-148;

constexpr std::size_t kChunk = 8;  // pairs whose cells are tested together

std::size_t padded(std::size_t pairs) { return (pairs + 3) / 4 * 4; }

// Where the cosine of pair i stands in a row of rotators; its sine is two further.
POSENC_INLINE std::size_t cos_at(std::size_t i) { return 2 * i - i % 2; }

void exact_row(const Frequencies& frequencies, double position, double scale, std::vector<double>& row) {
  const std::size_t width = padded(frequencies.pairs());
  row.resize(2 * width);
  const Position p = split(position);
  for (std::size_t i = 0; i < width; ++i) {
    const SinCos v = i < frequencies.pairs() && position != 0 ? evaluate(frequencies.turns(i), p) : SinCos{};
    row[cos_at(i)] = v.cos * scale;
    row[cos_at(i) + 2] = v.sin * scale + 0.0;  // no -0
  }
}

// Exact powers of the step's rotator, made when first asked for.
const RotatorRow& near_row(const Frequencies& frequencies, Rotators& rotators, std::size_t b) {
  RotatorRow& row = rotators.near[b];
  if (row.empty()) exact_row(frequencies, rotators.step * (static_cast<double>(b) + 0.5), 1.0, row);
  return row;
}

const double* far_row(const Frequencies& frequencies, Rotators& rotators, std::size_t level) {
  RotatorRow& row = rotators.far[level];
  if (row.empty()) {
    exact_row(frequencies, rotators.step * static_cast<double>(kBlockRows << level), 1.0, row);
  }
  return row.data();
}

void scale_row(const RotatorRow& row, double scale, RotatorRow& to) {
  to.resize(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) to[i] = row[i] * scale + 0.0;  // no -0
}

void multiply_rows(const double* a, const double* b, std::size_t width, double* r) {
  for (std::size_t i = 0; i < 2 * width; i += 4) {
    const F64x2 ac = simd::load(a + i), as = simd::load(a + i + 2);
    const F64x2 bc = simd::load(b + i), bs = simd::load(b + i + 2);
    simd::store(r + i, ac * bc - as * bs);
    simd::store(r + i + 2, as * bc + ac * bs);
  }
}

// Two pairs of the rows after an anchor and before it, which share their four products.
struct Turned {
  F64x2 after_sin, after_cos, before_sin, before_cos;
};

POSENC_INLINE Turned turn(const double* anchor, const double* near) {
  const F64x2 ac = simd::load(anchor), as = simd::load(anchor + 2);
  const F64x2 bc = simd::load(near), bs = simd::load(near + 2);
  const F64x2 cc = ac * bc, ss = as * bs, sc = as * bc, cs = ac * bs;
  return {sc + cs, cc - ss, sc - cs, cc + ss};
}

// How pairs of a row reach memory, kPairs at a time.
struct Interleaved {
  static constexpr std::size_t kPairs = 2, kStride = 2;
  POSENC_INLINE static void put(float* first, float*, const F64x2 (&s)[1], const F64x2 (&c)[1]) {
    simd::store(first, zip_low(demote(s[0]), demote(c[0])));
  }
};

struct Separate {
  static constexpr std::size_t kPairs = 4, kStride = 1;
  POSENC_INLINE static void put(float* sin, float* cos, const F64x2 (&s)[2], const F64x2 (&c)[2]) {
    simd::store(sin, demote(s[0], s[1]));
    simd::store(cos, demote(c[0], c[1]));
  }
};

// Both rows, eight pairs at a time (four at the end of a row). Chunks with a cell in doubt are listed by their first
// pair; returns how many. `doubtful` has room for one more than there are chunks.
//
// No call stands in the loop: before one engines write all that the loop needs to memory, and behind it they read it
// again. Each address is formed once a turn.
template <class Layout>
POSENC_NOINLINE std::size_t rotate_rows(const double* anchor, const double* near, const std::uint16_t* offsets,
                                        std::size_t pairs, float* after_sin, float* after_cos, float* before_sin,
                                        float* before_cos, std::uint32_t* doubtful) {
  std::uint32_t* next = doubtful;
  for (std::size_t i = 0; i < pairs; i += kChunk) {
    const double *a = anchor + 2 * i, *n = near + 2 * i;
    const std::uint16_t* offset = offsets + RoundingDoubt::kOffsets * i;
    const std::size_t to = Layout::kStride * i;
    float *up_sin = after_sin + to, *up_cos = after_cos + to, *down_sin = before_sin + to, *down_cos = before_cos + to;
    simd::keep_address(a), simd::keep_address(n), simd::keep_address(offset);
    simd::keep_address(up_sin), simd::keep_address(down_sin);
    if constexpr (Layout::kStride == 1) simd::keep_address(up_cos), simd::keep_address(down_cos);
    RoundingDoubt doubt;
    for (std::size_t j = 0; j < kChunk; j += Layout::kPairs) {
      if (j == 4 && i + 4 == pairs) break;
      F64x2 after_s[Layout::kPairs / 2], after_c[Layout::kPairs / 2];
      F64x2 before_s[Layout::kPairs / 2], before_c[Layout::kPairs / 2];
      for (std::size_t m = 0; m < Layout::kPairs / 2; ++m) {
        const std::size_t k = j + 2 * m;
        const Turned t = turn(a + 2 * k, n + 2 * k);
        const U16x8 o = simd::load(offset + RoundingDoubt::kOffsets * k);
        after_s[m] = t.after_sin, after_c[m] = t.after_cos;
        doubt.add(after_s[m], after_c[m], o);
        before_s[m] = t.before_sin, before_c[m] = t.before_cos;
        doubt.add(before_s[m], before_c[m], o);
      }
      Layout::put(up_sin + Layout::kStride * j, up_cos + Layout::kStride * j, after_s, after_c);
      Layout::put(down_sin + Layout::kStride * j, down_cos + Layout::kStride * j, before_s, before_c);
    }
    *next = static_cast<std::uint32_t>(i);
    next += doubt.any();
  }
  return static_cast<std::size_t>(next - doubtful);
}

// Where the first anchor of a run from position p stands: exact wherever run_length() finds a run.
constexpr double kFirstAnchor = static_cast<double>(kNear) - 0.5;  // steps after the first row
double first_anchor(double p, double step) { return p + kFirstAnchor * step; }

// k where the run begins with block k of the run from position 0 and ends before its last anchor, else 0: then its
// anchors are products, and no row of it has to be computed alone.
std::size_t anchors_from_zero(double first, double step, std::size_t blocks) {
  const double rows = first / step;
  if (!(rows >= kBlockRows && rows + static_cast<double>(blocks * kBlockRows) <= kStretch)) return 0;
  const auto k = static_cast<std::size_t>(rows) / kBlockRows;
  const Twofold at = product(static_cast<double>(k * kBlockRows), step);
  return at.high == first && at.low == 0 && __builtin_fabs(step) > 0x1p-500 ? k : 0;
}

// One run p0 + r h, 0 <= r < count <= kStretch.
class Run {
 public:
  Run(const Frequencies& frequencies, const SinCosTable<float>& table, double scale)
      : frequencies_(frequencies), table_(table), scale_(scale), width_(padded(frequencies.pairs())),
        pairs_(std::min(table.sin_pairs, table.cos_pairs) / 4 * 4), margins_(width_),
        offsets_(RoundingDoubt::kOffsets * width_), doubtful_(width_ / 4 + 1) {
    if (table.pair_stride == 1) {
      put_ = Put::kSeparate;
    } else if (table.pair_stride == 2 && table.cos == table.sin + 1) {
      put_ = Put::kSinCos;
    } else if (table.pair_stride == 2 && table.sin == table.cos + 1) {
      put_ = Put::kCosSin;
    } else {
      pairs_ = 0;
    }
  }

  void fill(const double* positions, std::size_t first_row, std::size_t count) {
    positions_ = positions;
    first_row_ = first_row;
    const double step = positions[1] - positions[0];
    Rotators& rotators = frequencies_.rotators(step);
    const double reach = 2 * (__builtin_fabs(positions[0]) + __builtin_fabs(positions[count - 1]) +
                              16 * __builtin_fabs(step));
    const double size = __builtin_fabs(scale_);
    cos_margin_ = std::max(kCosMargin * size, kLeastMargin);
    // A frequency of zero has exact rotators and no margin.
    for (std::size_t i = 0; i < width_; ++i) {
      const double turns = i < frequencies_.pairs() ? __builtin_fabs(frequencies_.turns(i).high) : 0;
      // Quarter turns to radians, rounded up.
      const double sin_margin = kSinMargin * (turns * reach * 1.6);
      margins_[i] = turns == 0 ? 0 : std::max(size * std::min(kCosMargin, sin_margin), kLeastMargin);
      RoundingDoubt::offsets(margins_[i], cos_margin_, offsets_.data() + RoundingDoubt::kOffsets * i);
    }
    const std::size_t blocks = (count + kBlockRows - 1) / kBlockRows;
    const std::size_t origin = anchors_from_zero(positions[0], step, blocks);
    if (origin == 0 && positions[0] != 0) {
      exact_row(frequencies_, first_anchor(positions[0], step), scale_, anchors_[kLevels]);
    } else {  // 7.5 steps from zero, as the last row of a block is from its anchor
      scale_row(near_row(frequencies_, rotators, kNear - 1), scale_, anchors_[kLevels]);
    }
    const auto anchor = [&](std::size_t k) {
      if (k == 0) return anchors_[kLevels].data();
      const std::size_t parent = k & (k - 1), slot = static_cast<std::size_t>(std::countr_zero(k));
      const std::size_t from = parent == 0 ? kLevels : static_cast<std::size_t>(std::countr_zero(parent));
      anchors_[slot].resize(2 * width_);
      multiply_rows(anchors_[from].data(), far_row(frequencies_, rotators, slot), width_, anchors_[slot].data());
      return anchors_[slot].data();
    };
    // What the first of them is a product of.
    for (std::size_t bit = kLevels; bit-- > 0;) {
      if (const std::size_t k = origin >> bit << bit; (origin >> bit & 1) != 0 && k != origin) anchor(k);
    }
    for (std::size_t block = 0; block < blocks; ++block) {
      const double* a = anchor(origin + block);
      for (std::size_t b = 0; b < kNear; ++b) {
        const std::size_t before = kBlockRows * block + kNear - 1 - b, after = kBlockRows * block + kNear + b;
        if (before < count) rows(a, near_row(frequencies_, rotators, b).data(), before, after, after < count);
      }
    }
  }

 private:
  enum class Put { kSeparate, kSinCos, kCosSin };

  // A row before an anchor and one after it, which may be beyond the end of the run.
  void rows(const double* anchor, const double* near, std::size_t before, std::size_t after, bool both) {
    if (!both) spare_.resize(4 * width_);
    float* const first = put_ == Put::kCosSin ? table_.cos : table_.sin;
    const std::size_t down = (first_row_ + before) * table_.row_stride, up = (first_row_ + after) * table_.row_stride;
    float* const below = first + down;
    float* const above = both ? first + up : spare_.data();
    const auto rotate = put_ == Put::kSeparate ? rotate_rows<Separate> : rotate_rows<Interleaved>;
    const std::size_t doubtful =
        rotate(anchor, near, offsets_.data(), pairs_, above, both ? table_.cos + up : above + 2 * width_, below,
               table_.cos + down, doubtful_.data());
    if (put_ == Put::kCosSin) {
      if (both) swap_members(above);
      swap_members(below);
    }
    const auto settle_both = [&](std::size_t from, std::size_t end) {
      if (both) settle(anchor, near, 1.0, after, from, end);
      settle(anchor, near, -1.0, before, from, end);
    };
    for (std::size_t n = 0; n < doubtful; ++n) {
      const std::size_t i = doubtful_[n];
      if (!all_certain(anchor, near, i, both)) settle_both(i, std::min(i + kChunk, pairs_));
    }
    const std::size_t end = std::max(table_.sin_pairs, table_.cos_pairs);
    if (pairs_ < end) settle_both(pairs_, end);
  }

  // Sines beside cosines to cosines beside sines, in place.
  void swap_members(float* row) const {
    for (std::size_t c = 0; c < 2 * pairs_; c += 4) simd::store(row + c, swap_pairs(simd::load(row + c)));
  }

  // Ziv's test of a chunk of the row before, or of both rows.
  POSENC_NOINLINE bool all_certain(const double* anchor, const double* near, std::size_t first, bool both) const {
    const F64x2 ec = simd::splat(cos_margin_);
    for (std::size_t i = first; i < std::min(first + kChunk, pairs_); i += 2) {
      const F64x2 es = simd::load(margins_.data() + i);
      const Turned t = turn(anchor + 2 * i, near + 2 * i);
      if (!same_floats(t.before_sin, t.before_cos, es, ec)) return false;
      if (both && !same_floats(t.after_sin, t.after_cos, es, ec)) return false;
    }
    return true;
  }

  // Cells of one row, one by one: added where certain, else computed alone.
  POSENC_NOINLINE void settle(const double* anchor, const double* near, double sign, std::size_t row,
                              std::size_t first, std::size_t end) {
    const Position p = split(positions_[row]);
    const FloatCell at_zero{0, plus_zero(static_cast<float>(scale_))};
    const std::size_t base = (first_row_ + row) * table_.row_stride;
    for (std::size_t i = first; i < end; ++i) {
      const std::size_t at = cos_at(i);
      const double ac = anchor[at], as = anchor[at + 2], bc = near[at], bs = sign * near[at + 2];
      const double s = as * bc + ac * bs, c = ac * bc - as * bs;
      FloatCell cell{static_cast<float>(s - margins_[i]), static_cast<float>(c - cos_margin_)};
      // Zeros are computed alone too: comparison does not see their sign.
      if (cell.sin != static_cast<float>(s + margins_[i]) || cell.cos != static_cast<float>(c + cos_margin_) ||
          cell.sin == 0 || cell.cos == 0) {
        cell = positions_[row] == 0 ? at_zero : float_cell(frequencies_.turns(i), p, scale_);
      }
      if (i < table_.sin_pairs) table_.sin[base + i * table_.pair_stride] = cell.sin;
      if (i < table_.cos_pairs) table_.cos[base + i * table_.pair_stride] = cell.cos;
    }
  }

  const Frequencies& frequencies_;
  const SinCosTable<float>& table_;
  const double scale_;
  const std::size_t width_;
  std::size_t pairs_;  // of those that go four at a time
  std::vector<double> margins_;
  std::vector<std::uint16_t> offsets_;  // of RoundingDoubt, sines before cosines
  std::vector<std::uint32_t> doubtful_;
  std::vector<float> spare_;
  std::vector<double> anchors_[kLevels + 1];  // the last anchor of each level, the first of all at the top
  Put put_ = Put::kSeparate;
  const double* positions_ = nullptr;
  std::size_t first_row_ = 0;
  double cos_margin_ = 0;
};

// b - a if that is exact, else NaN.
double exact_step(double a, double b) {
  const double d = b - a, back = d - b;
  const double lost = (b - (d - back)) + (-a - back);
  return lost == 0 ? d : __builtin_nan("");
}

// Rows from `first` on whose positions rise by the same exact step; odd multiples of its half, up to 15 of them, must
// be doubles, and so must the place of the first anchor.
std::size_t run_length(std::span<const double> positions, std::size_t first) {
  if (first + 1 >= positions.size()) return positions.size() - first;
  const double step = exact_step(positions[first], positions[first + 1]);
  if (step != step || (simd::bits_of(step) & 15) != 0) return 1;
  const double anchor = first_anchor(positions[first], step);
  if (!(__builtin_fabs(anchor) <= 0x1p53) || exact_step(positions[first], anchor) != kFirstAnchor * step) return 1;
  std::size_t end = first + 2;
  const std::size_t limit = std::min(positions.size(), first + kStretch);
  while (end < limit && exact_step(positions[end - 1], positions[end]) == step) ++end;
  return end - first;
}

template <class Real>
void copy_row(const SinCosTable<Real>& table, std::size_t from, std::size_t to) {
  const std::size_t a = from * table.row_stride, b = to * table.row_stride;
  for (std::size_t i = 0; i < table.sin_pairs; ++i) {
    table.sin[b + i * table.pair_stride] = table.sin[a + i * table.pair_stride];
  }
  for (std::size_t i = 0; i < table.cos_pairs; ++i) {
    table.cos[b + i * table.pair_stride] = table.cos[a + i * table.pair_stride];
  }
}

template <class Real, class Cell>
void fill_row(const SinCosTable<Real>& table, std::size_t row, Cell cell) {
  const std::size_t base = row * table.row_stride;
  for (std::size_t i = 0; i < std::max(table.sin_pairs, table.cos_pairs); ++i) {
    const auto [sin, cos] = cell(i);
    if (i < table.sin_pairs) table.sin[base + i * table.pair_stride] = sin;
    if (i < table.cos_pairs) table.cos[base + i * table.pair_stride] = cos;
  }
}

}  // namespace

void fill_sin_cos(const Frequencies& frequencies, std::span<const double> positions, const SinCosTable<float>& table,
                  double scale) {
  constexpr std::size_t kShortest = 4;  // rows worth a run
  std::optional<Run> run;
  std::size_t t = 0;
  while (t < positions.size()) {
    const std::size_t count = run_length(positions, t);
    if (count > 1 && positions[t + 1] == positions[t]) {
      const Position p = split(positions[t]);
      fill_row(table, t, [&](std::size_t i) { return float_cell(frequencies.turns(i), p, scale); });
      for (std::size_t n = 1; n < count; ++n) copy_row(table, t, t + n);
      t += count;
    } else if (count >= kShortest && scale != 0) {
      if (!run) run.emplace(frequencies, table, scale);
      run->fill(positions.data() + t, t, count);
      t += count;
    } else {
      const Position p = split(positions[t]);
      fill_row(table, t, [&](std::size_t i) { return float_cell(frequencies.turns(i), p, scale); });
      ++t;
    }
  }
}

void fill_sin_cos(const Frequencies& frequencies, std::span<const double> positions, const SinCosTable<double>& table,
                  double scale) {
  for (std::size_t t = 0; t < positions.size(); ++t) {
    if (t > 0 && positions[t] == positions[t - 1]) {
      copy_row(table, t - 1, t);
      continue;
    }
    const Position p = split(positions[t]);
    fill_row(table, t, [&](std::size_t i) {
      const TwofoldSinCos v = evaluate_exactly(frequencies.turns(i), p);
      // Adding +0 makes -0 positive.
      return SinCos{scaled(v.sin, scale).high + 0.0, scaled(v.cos, scale).high + 0.0};
    });
  }
}

}  // namespace posenc
