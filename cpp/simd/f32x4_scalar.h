// The vocabulary of f32x4.h over structs of four: the reference for the other back ends, and what the plain-JavaScript
// build runs. Included by f32x4.h only.
#pragma once

namespace posenc::simd {

struct F32x4 {
  float v[4];
};
struct I32x4 {
  std::uint32_t v[4];
};

template <class Op>
POSENC_INLINE F32x4 each(F32x4 a, F32x4 b, Op op) {
  return {{op(a.v[0], b.v[0]), op(a.v[1], b.v[1]), op(a.v[2], b.v[2]), op(a.v[3], b.v[3])}};
}
template <class Op>
POSENC_INLINE I32x4 each(I32x4 a, I32x4 b, Op op) {
  return {{op(a.v[0], b.v[0]), op(a.v[1], b.v[1]), op(a.v[2], b.v[2]), op(a.v[3], b.v[3])}};
}
template <class Op>
POSENC_INLINE I32x4 each_test(F32x4 a, F32x4 b, Op op) {
  return {{op(a.v[0], b.v[0]) ? ~0u : 0u, op(a.v[1], b.v[1]) ? ~0u : 0u, op(a.v[2], b.v[2]) ? ~0u : 0u,
           op(a.v[3], b.v[3]) ? ~0u : 0u}};
}
template <class Op>
POSENC_INLINE I32x4 each_test(I32x4 a, I32x4 b, Op op) {
  const auto test = [op](std::uint32_t x, std::uint32_t y) {
    return op(static_cast<std::int32_t>(x), static_cast<std::int32_t>(y)) ? ~0u : 0u;
  };
  return {{test(a.v[0], b.v[0]), test(a.v[1], b.v[1]), test(a.v[2], b.v[2]), test(a.v[3], b.v[3])}};
}

POSENC_INLINE F32x4 load(const float* p) { return {{p[0], p[1], p[2], p[3]}}; }
POSENC_INLINE void store(float* p, F32x4 a) {
  p[0] = a.v[0], p[1] = a.v[1], p[2] = a.v[2], p[3] = a.v[3];
}
POSENC_INLINE F32x4 splat(float x) { return {{x, x, x, x}}; }
POSENC_INLINE F32x4 load_splat(const float* p) { return splat(*p); }
POSENC_INLINE F32x4 make(float a, float b, float c, float d) { return {{a, b, c, d}}; }
POSENC_INLINE I32x4 make_int(std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d) {
  return {{static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(c),
           static_cast<std::uint32_t>(d)}};
}
POSENC_INLINE I32x4 splat_int(std::int32_t x) { return make_int(x, x, x, x); }
POSENC_INLINE I32x4 load_int(const std::int32_t* p) { return make_int(p[0], p[1], p[2], p[3]); }
POSENC_INLINE void store_int(std::int32_t* p, I32x4 a) {
  for (int n = 0; n < 4; ++n) p[n] = static_cast<std::int32_t>(a.v[n]);
}
template <int I>
POSENC_INLINE float lane(F32x4 a) {
  return a.v[I];
}
template <int I>
POSENC_INLINE std::int32_t lane(I32x4 a) {
  return static_cast<std::int32_t>(a.v[I]);
}
template <int I>
POSENC_INLINE F32x4 splat_lane(F32x4 a) {
  return splat(a.v[I]);
}

POSENC_INLINE F32x4 operator+(F32x4 a, F32x4 b) {
  return each(a, b, [](float x, float y) { return x + y; });
}
POSENC_INLINE F32x4 operator-(F32x4 a, F32x4 b) {
  return each(a, b, [](float x, float y) { return x - y; });
}
POSENC_INLINE F32x4 operator*(F32x4 a, F32x4 b) {
  return each(a, b, [](float x, float y) { return x * y; });
}
POSENC_INLINE F32x4 operator/(F32x4 a, F32x4 b) {
  return each(a, b, [](float x, float y) { return x / y; });
}
POSENC_INLINE F32x4 operator-(F32x4 a) { return {{-a.v[0], -a.v[1], -a.v[2], -a.v[3]}}; }
POSENC_INLINE F32x4 abs(F32x4 a) {
  return {{__builtin_fabsf(a.v[0]), __builtin_fabsf(a.v[1]), __builtin_fabsf(a.v[2]), __builtin_fabsf(a.v[3])}};
}
POSENC_INLINE F32x4 sqrt(F32x4 a) {
  return {{__builtin_sqrtf(a.v[0]), __builtin_sqrtf(a.v[1]), __builtin_sqrtf(a.v[2]), __builtin_sqrtf(a.v[3])}};
}
POSENC_INLINE F32x4 min(F32x4 a, F32x4 b) {
  return each(a, b, [](float x, float y) { return y < x ? y : x; });
}
POSENC_INLINE F32x4 max(F32x4 a, F32x4 b) {
  return each(a, b, [](float x, float y) { return x < y ? y : x; });
}

POSENC_INLINE I32x4 operator==(F32x4 a, F32x4 b) {
  return each_test(a, b, [](float x, float y) { return x == y; });
}
POSENC_INLINE I32x4 operator!=(F32x4 a, F32x4 b) {
  return each_test(a, b, [](float x, float y) { return x != y; });
}
POSENC_INLINE I32x4 operator<(F32x4 a, F32x4 b) {
  return each_test(a, b, [](float x, float y) { return x < y; });
}
POSENC_INLINE I32x4 operator<=(F32x4 a, F32x4 b) {
  return each_test(a, b, [](float x, float y) { return x <= y; });
}
POSENC_INLINE I32x4 operator>(F32x4 a, F32x4 b) {
  return each_test(a, b, [](float x, float y) { return x > y; });
}
POSENC_INLINE I32x4 operator>=(F32x4 a, F32x4 b) {
  return each_test(a, b, [](float x, float y) { return x >= y; });
}

/// Lane by lane mask ? a : b; the mask's lanes must be all ones or zero.
POSENC_INLINE F32x4 select(I32x4 mask, F32x4 a, F32x4 b) {
  return {{mask.v[0] ? a.v[0] : b.v[0], mask.v[1] ? a.v[1] : b.v[1], mask.v[2] ? a.v[2] : b.v[2],
           mask.v[3] ? a.v[3] : b.v[3]}};
}
POSENC_INLINE I32x4 select(I32x4 mask, I32x4 a, I32x4 b) {
  return {{mask.v[0] ? a.v[0] : b.v[0], mask.v[1] ? a.v[1] : b.v[1], mask.v[2] ? a.v[2] : b.v[2],
           mask.v[3] ? a.v[3] : b.v[3]}};
}
/// a where the mask is set, +0 elsewhere.
POSENC_INLINE F32x4 keep(I32x4 mask, F32x4 a) { return select(mask, a, splat(0.0f)); }
POSENC_INLINE bool any(I32x4 mask) { return (mask.v[0] | mask.v[1] | mask.v[2] | mask.v[3]) != 0; }
POSENC_INLINE bool all(I32x4 mask) { return mask.v[0] && mask.v[1] && mask.v[2] && mask.v[3]; }

POSENC_INLINE I32x4 bits(F32x4 a) {
  I32x4 r;
  std::memcpy(&r, &a, sizeof r);
  return r;
}
POSENC_INLINE F32x4 float_of_bits(I32x4 a) {
  F32x4 r;
  std::memcpy(&r, &a, sizeof r);
  return r;
}
POSENC_INLINE I32x4 operator&(I32x4 a, I32x4 b) {
  return each(a, b, [](std::uint32_t x, std::uint32_t y) { return x & y; });
}
POSENC_INLINE I32x4 operator|(I32x4 a, I32x4 b) {
  return each(a, b, [](std::uint32_t x, std::uint32_t y) { return x | y; });
}
POSENC_INLINE I32x4 operator^(I32x4 a, I32x4 b) {
  return each(a, b, [](std::uint32_t x, std::uint32_t y) { return x ^ y; });
}
/// a & ~b.
POSENC_INLINE I32x4 and_not(I32x4 a, I32x4 b) {
  return each(a, b, [](std::uint32_t x, std::uint32_t y) { return x & ~y; });
}
POSENC_INLINE I32x4 operator+(I32x4 a, I32x4 b) {
  return each(a, b, [](std::uint32_t x, std::uint32_t y) { return x + y; });
}
POSENC_INLINE I32x4 operator-(I32x4 a, I32x4 b) {
  return each(a, b, [](std::uint32_t x, std::uint32_t y) { return x - y; });
}
POSENC_INLINE I32x4 operator==(I32x4 a, I32x4 b) {
  return each_test(a, b, [](std::int32_t x, std::int32_t y) { return x == y; });
}
POSENC_INLINE I32x4 operator>(I32x4 a, I32x4 b) {
  return each_test(a, b, [](std::int32_t x, std::int32_t y) { return x > y; });
}
POSENC_INLINE I32x4 operator<(I32x4 a, I32x4 b) {
  return each_test(a, b, [](std::int32_t x, std::int32_t y) { return x < y; });
}
/// The larger by lane.
POSENC_INLINE I32x4 max(I32x4 a, I32x4 b) { return select(a > b, a, b); }
template <int N>
POSENC_INLINE I32x4 shift_left(I32x4 a) {
  return {{a.v[0] << N, a.v[1] << N, a.v[2] << N, a.v[3] << N}};
}
/// Arithmetic shift: the sign is carried in.
template <int N>
POSENC_INLINE I32x4 shift_right(I32x4 a) {
  const auto shift = [](std::uint32_t x) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(x) >> N);
  };
  return {{shift(a.v[0]), shift(a.v[1]), shift(a.v[2]), shift(a.v[3])}};
}

/// Truncates towards zero; defined for |a| < 2^31 only (the back ends differ beyond).
POSENC_INLINE I32x4 to_int(F32x4 a) {
  return make_int(static_cast<std::int32_t>(a.v[0]), static_cast<std::int32_t>(a.v[1]),
                  static_cast<std::int32_t>(a.v[2]), static_cast<std::int32_t>(a.v[3]));
}
POSENC_INLINE F32x4 to_float(I32x4 a) {
  const auto convert = [](std::uint32_t x) { return static_cast<float>(static_cast<std::int32_t>(x)); };
  return {{convert(a.v[0]), convert(a.v[1]), convert(a.v[2]), convert(a.v[3])}};
}

/// a0 b0 a1 b1.
POSENC_INLINE F32x4 zip_low(F32x4 a, F32x4 b) { return {{a.v[0], b.v[0], a.v[1], b.v[1]}}; }
/// a2 b2 a3 b3.
POSENC_INLINE F32x4 zip_high(F32x4 a, F32x4 b) { return {{a.v[2], b.v[2], a.v[3], b.v[3]}}; }
/// a0 a2 b0 b2.
POSENC_INLINE F32x4 even(F32x4 a, F32x4 b) { return {{a.v[0], a.v[2], b.v[0], b.v[2]}}; }
/// a1 a3 b1 b3.
POSENC_INLINE F32x4 odd(F32x4 a, F32x4 b) { return {{a.v[1], a.v[3], b.v[1], b.v[3]}}; }
/// a0 a1 b0 b1.
POSENC_INLINE F32x4 low_low(F32x4 a, F32x4 b) { return {{a.v[0], a.v[1], b.v[0], b.v[1]}}; }
/// a2 a3 b2 b3.
POSENC_INLINE F32x4 high_high(F32x4 a, F32x4 b) { return {{a.v[2], a.v[3], b.v[2], b.v[3]}}; }
/// a1 a0 a3 a2.
POSENC_INLINE F32x4 swap_pairs(F32x4 a) { return {{a.v[1], a.v[0], a.v[3], a.v[2]}}; }
/// a0 a0 a2 a2.
POSENC_INLINE F32x4 twice_even(F32x4 a) { return {{a.v[0], a.v[0], a.v[2], a.v[2]}}; }
/// a1 a1 a3 a3.
POSENC_INLINE F32x4 twice_odd(F32x4 a) { return {{a.v[1], a.v[1], a.v[3], a.v[3]}}; }
/// a3 a2 a1 a0.
POSENC_INLINE F32x4 reverse(F32x4 a) { return {{a.v[3], a.v[2], a.v[1], a.v[0]}}; }

}  // namespace posenc::simd
