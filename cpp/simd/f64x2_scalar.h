// The vocabulary of f64x2.h over structs of two. Included by f64x2.h only.
#pragma once

namespace posenc::simd {

struct F64x2 {
  double v[2];
};
struct U16x8 {
  std::uint16_t v[8];
};
struct Mask64x2 {
  bool v[2];
};

POSENC_INLINE F64x2 load(const double* p) { return {{p[0], p[1]}}; }
POSENC_INLINE void store(double* p, F64x2 a) { p[0] = a.v[0], p[1] = a.v[1]; }
POSENC_INLINE F64x2 splat(double x) { return {{x, x}}; }
POSENC_INLINE F64x2 load_splat(const double* p) { return splat(*p); }
POSENC_INLINE F64x2 make(double a, double b) { return {{a, b}}; }
template <int I>
POSENC_INLINE double lane(F64x2 a) {
  return a.v[I];
}

POSENC_INLINE F64x2 operator+(F64x2 a, F64x2 b) { return {{a.v[0] + b.v[0], a.v[1] + b.v[1]}}; }
POSENC_INLINE F64x2 operator-(F64x2 a, F64x2 b) { return {{a.v[0] - b.v[0], a.v[1] - b.v[1]}}; }
POSENC_INLINE F64x2 operator*(F64x2 a, F64x2 b) { return {{a.v[0] * b.v[0], a.v[1] * b.v[1]}}; }
POSENC_INLINE F64x2 operator/(F64x2 a, F64x2 b) { return {{a.v[0] / b.v[0], a.v[1] / b.v[1]}}; }
POSENC_INLINE F64x2 operator-(F64x2 a) { return {{-a.v[0], -a.v[1]}}; }
POSENC_INLINE F64x2 abs(F64x2 a) { return {{__builtin_fabs(a.v[0]), __builtin_fabs(a.v[1])}}; }
POSENC_INLINE F64x2 sqrt(F64x2 a) { return {{__builtin_sqrt(a.v[0]), __builtin_sqrt(a.v[1])}}; }
POSENC_INLINE F64x2 min(F64x2 a, F64x2 b) {
  return {{b.v[0] < a.v[0] ? b.v[0] : a.v[0], b.v[1] < a.v[1] ? b.v[1] : a.v[1]}};
}
POSENC_INLINE F64x2 max(F64x2 a, F64x2 b) {
  return {{a.v[0] < b.v[0] ? b.v[0] : a.v[0], a.v[1] < b.v[1] ? b.v[1] : a.v[1]}};
}

POSENC_INLINE Mask64x2 operator==(F64x2 a, F64x2 b) { return {{a.v[0] == b.v[0], a.v[1] == b.v[1]}}; }
POSENC_INLINE Mask64x2 operator!=(F64x2 a, F64x2 b) { return {{a.v[0] != b.v[0], a.v[1] != b.v[1]}}; }
POSENC_INLINE Mask64x2 operator<(F64x2 a, F64x2 b) { return {{a.v[0] < b.v[0], a.v[1] < b.v[1]}}; }
POSENC_INLINE Mask64x2 operator<=(F64x2 a, F64x2 b) { return {{a.v[0] <= b.v[0], a.v[1] <= b.v[1]}}; }
POSENC_INLINE Mask64x2 operator>(F64x2 a, F64x2 b) { return {{a.v[0] > b.v[0], a.v[1] > b.v[1]}}; }
POSENC_INLINE Mask64x2 operator>=(F64x2 a, F64x2 b) { return {{a.v[0] >= b.v[0], a.v[1] >= b.v[1]}}; }
POSENC_INLINE F64x2 select(Mask64x2 mask, F64x2 a, F64x2 b) {
  return {{mask.v[0] ? a.v[0] : b.v[0], mask.v[1] ? a.v[1] : b.v[1]}};
}
POSENC_INLINE bool any(Mask64x2 mask) { return mask.v[0] || mask.v[1]; }
POSENC_INLINE bool all(Mask64x2 mask) { return mask.v[0] && mask.v[1]; }

/// a0 b0.
POSENC_INLINE F64x2 zip_low(F64x2 a, F64x2 b) { return {{a.v[0], b.v[0]}}; }
/// a1 b1.
POSENC_INLINE F64x2 zip_high(F64x2 a, F64x2 b) { return {{a.v[1], b.v[1]}}; }
/// a1 a0.
POSENC_INLINE F64x2 swap(F64x2 a) { return {{a.v[1], a.v[0]}}; }

/// Rounds to float: a0 a1 0 0.
POSENC_INLINE F32x4 demote(F64x2 a) { return {{static_cast<float>(a.v[0]), static_cast<float>(a.v[1]), 0.0f, 0.0f}}; }
/// Rounds to float: a0 a1 b0 b1.
POSENC_INLINE F32x4 demote(F64x2 a, F64x2 b) {
  return {
      {static_cast<float>(a.v[0]), static_cast<float>(a.v[1]), static_cast<float>(b.v[0]), static_cast<float>(b.v[1])}};
}
/// The bits of each shifted left by 52: the low eleven become the exponent field.
POSENC_INLINE F64x2 low_bits_to_exponent(F64x2 a) {
  std::uint64_t u[2];
  std::memcpy(u, a.v, sizeof u);
  u[0] <<= 52, u[1] <<= 52;
  std::memcpy(a.v, u, sizeof u);
  return a;
}
POSENC_INLINE F64x2 promote_low(F32x4 a) { return {{a.v[0], a.v[1]}}; }
POSENC_INLINE F64x2 promote_high(F32x4 a) { return {{a.v[2], a.v[3]}}; }

/// The upper halves of the 32-bit words of the doubles' bits: that of b's first word, of a's first, and so on.
POSENC_INLINE U16x8 high_halves(F64x2 a, F64x2 b) {
  U16x8 r;
  for (int n = 0; n < 2; ++n) {
    std::uint64_t u, v;
    std::memcpy(&u, a.v + n, sizeof u);
    std::memcpy(&v, b.v + n, sizeof v);
    r.v[4 * n] = static_cast<std::uint16_t>(v >> 16), r.v[4 * n + 1] = static_cast<std::uint16_t>(u >> 16);
    r.v[4 * n + 2] = static_cast<std::uint16_t>(v >> 48), r.v[4 * n + 3] = static_cast<std::uint16_t>(u >> 48);
  }
  return r;
}
POSENC_INLINE U16x8 load(const std::uint16_t* p) {
  U16x8 r;
  std::memcpy(r.v, p, sizeof r.v);
  return r;
}
POSENC_INLINE U16x8 operator+(U16x8 a, U16x8 b) {
  for (int n = 0; n < 8; ++n) a.v[n] = static_cast<std::uint16_t>(a.v[n] + b.v[n]);
  return a;
}
/// The products' lower halves.
POSENC_INLINE U16x8 operator*(U16x8 a, U16x8 b) {
  for (int n = 0; n < 8; ++n) a.v[n] = static_cast<std::uint16_t>(std::uint32_t{a.v[n]} * b.v[n]);
  return a;
}
POSENC_INLINE U16x8 min(U16x8 a, U16x8 b) {
  for (int n = 0; n < 8; ++n) a.v[n] = b.v[n] < a.v[n] ? b.v[n] : a.v[n];
  return a;
}
POSENC_INLINE bool any_differ(U16x8 a, U16x8 b) { return std::memcmp(a.v, b.v, sizeof a.v) != 0; }

}  // namespace posenc::simd
