// The vocabulary of f32x4.h over SSE2. Included by f32x4.h only.
#pragma once

#include <emmintrin.h>

namespace posenc::simd {

struct F32x4 {
  __m128 v;
};
struct I32x4 {
  __m128i v;
};

POSENC_INLINE F32x4 load(const float* p) { return {_mm_loadu_ps(p)}; }
POSENC_INLINE void store(float* p, F32x4 a) { _mm_storeu_ps(p, a.v); }
POSENC_INLINE F32x4 load_splat(const float* p) { return {_mm_set1_ps(*p)}; }
POSENC_INLINE F32x4 splat(float x) { return {_mm_set1_ps(x)}; }
POSENC_INLINE F32x4 make(float a, float b, float c, float d) { return {_mm_setr_ps(a, b, c, d)}; }
POSENC_INLINE I32x4 load_int(const std::int32_t* p) {
  return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))};
}
POSENC_INLINE void store_int(std::int32_t* p, I32x4 a) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), a.v); }
POSENC_INLINE I32x4 splat_int(std::int32_t x) { return {_mm_set1_epi32(x)}; }
POSENC_INLINE I32x4 make_int(std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d) {
  return {_mm_setr_epi32(a, b, c, d)};
}
template <int I>
POSENC_INLINE float lane(F32x4 a) {
  return _mm_cvtss_f32(_mm_shuffle_ps(a.v, a.v, _MM_SHUFFLE(I, I, I, I)));
}
template <int I>
POSENC_INLINE std::int32_t lane(I32x4 a) {
  return _mm_cvtsi128_si32(_mm_shuffle_epi32(a.v, _MM_SHUFFLE(I, I, I, I)));
}
template <int I>
POSENC_INLINE F32x4 splat_lane(F32x4 a) {
  return {_mm_shuffle_ps(a.v, a.v, _MM_SHUFFLE(I, I, I, I))};
}

POSENC_INLINE F32x4 operator+(F32x4 a, F32x4 b) { return {_mm_add_ps(a.v, b.v)}; }
POSENC_INLINE F32x4 operator-(F32x4 a, F32x4 b) { return {_mm_sub_ps(a.v, b.v)}; }
POSENC_INLINE F32x4 operator*(F32x4 a, F32x4 b) { return {_mm_mul_ps(a.v, b.v)}; }
POSENC_INLINE F32x4 operator/(F32x4 a, F32x4 b) { return {_mm_div_ps(a.v, b.v)}; }
POSENC_INLINE F32x4 operator-(F32x4 a) { return {_mm_xor_ps(a.v, _mm_set1_ps(-0.0f))}; }
POSENC_INLINE F32x4 abs(F32x4 a) { return {_mm_andnot_ps(_mm_set1_ps(-0.0f), a.v)}; }
POSENC_INLINE F32x4 sqrt(F32x4 a) { return {_mm_sqrt_ps(a.v)}; }
// The instruction gives its second operand when neither is smaller (equal zeros, a NaN): b < a ? b : a.
POSENC_INLINE F32x4 min(F32x4 a, F32x4 b) { return {_mm_min_ps(b.v, a.v)}; }
POSENC_INLINE F32x4 max(F32x4 a, F32x4 b) { return {_mm_max_ps(b.v, a.v)}; }

POSENC_INLINE I32x4 operator==(F32x4 a, F32x4 b) { return {_mm_castps_si128(_mm_cmpeq_ps(a.v, b.v))}; }
POSENC_INLINE I32x4 operator!=(F32x4 a, F32x4 b) { return {_mm_castps_si128(_mm_cmpneq_ps(a.v, b.v))}; }
POSENC_INLINE I32x4 operator<(F32x4 a, F32x4 b) { return {_mm_castps_si128(_mm_cmplt_ps(a.v, b.v))}; }
POSENC_INLINE I32x4 operator<=(F32x4 a, F32x4 b) { return {_mm_castps_si128(_mm_cmple_ps(a.v, b.v))}; }
POSENC_INLINE I32x4 operator>(F32x4 a, F32x4 b) { return {_mm_castps_si128(_mm_cmpgt_ps(a.v, b.v))}; }
POSENC_INLINE I32x4 operator>=(F32x4 a, F32x4 b) { return {_mm_castps_si128(_mm_cmpge_ps(a.v, b.v))}; }

/// Lane by lane mask ? a : b; the mask's lanes must be all ones or zero.
POSENC_INLINE F32x4 select(I32x4 mask, F32x4 a, F32x4 b) {
  const __m128 m = _mm_castsi128_ps(mask.v);
  return {_mm_or_ps(_mm_and_ps(m, a.v), _mm_andnot_ps(m, b.v))};
}
POSENC_INLINE I32x4 select(I32x4 mask, I32x4 a, I32x4 b) {
  return {_mm_or_si128(_mm_and_si128(mask.v, a.v), _mm_andnot_si128(mask.v, b.v))};
}
/// a where the mask is set, +0 elsewhere.
POSENC_INLINE F32x4 keep(I32x4 mask, F32x4 a) { return {_mm_and_ps(_mm_castsi128_ps(mask.v), a.v)}; }
POSENC_INLINE bool any(I32x4 mask) {
  return _mm_movemask_epi8(_mm_cmpeq_epi32(mask.v, _mm_setzero_si128())) != 0xffff;
}
POSENC_INLINE bool all(I32x4 mask) {
  return _mm_movemask_epi8(_mm_cmpeq_epi32(mask.v, _mm_setzero_si128())) == 0;
}

POSENC_INLINE I32x4 bits(F32x4 a) { return {_mm_castps_si128(a.v)}; }
POSENC_INLINE F32x4 float_of_bits(I32x4 a) { return {_mm_castsi128_ps(a.v)}; }
POSENC_INLINE I32x4 operator&(I32x4 a, I32x4 b) { return {_mm_and_si128(a.v, b.v)}; }
POSENC_INLINE I32x4 operator|(I32x4 a, I32x4 b) { return {_mm_or_si128(a.v, b.v)}; }
POSENC_INLINE I32x4 operator^(I32x4 a, I32x4 b) { return {_mm_xor_si128(a.v, b.v)}; }
/// a & ~b.
POSENC_INLINE I32x4 and_not(I32x4 a, I32x4 b) { return {_mm_andnot_si128(b.v, a.v)}; }
POSENC_INLINE I32x4 operator+(I32x4 a, I32x4 b) { return {_mm_add_epi32(a.v, b.v)}; }
POSENC_INLINE I32x4 operator-(I32x4 a, I32x4 b) { return {_mm_sub_epi32(a.v, b.v)}; }
POSENC_INLINE I32x4 operator==(I32x4 a, I32x4 b) { return {_mm_cmpeq_epi32(a.v, b.v)}; }
POSENC_INLINE I32x4 operator>(I32x4 a, I32x4 b) { return {_mm_cmpgt_epi32(a.v, b.v)}; }
POSENC_INLINE I32x4 operator<(I32x4 a, I32x4 b) { return {_mm_cmplt_epi32(a.v, b.v)}; }
/// The larger by lane.
POSENC_INLINE I32x4 max(I32x4 a, I32x4 b) { return select(a > b, a, b); }
template <int N>
POSENC_INLINE I32x4 shift_left(I32x4 a) {
  return {_mm_slli_epi32(a.v, N)};
}
/// Arithmetic shift: the sign is carried in.
template <int N>
POSENC_INLINE I32x4 shift_right(I32x4 a) {
  return {_mm_srai_epi32(a.v, N)};
}

/// Truncates towards zero; defined for |a| < 2^31 only (the back ends differ beyond).
POSENC_INLINE I32x4 to_int(F32x4 a) { return {_mm_cvttps_epi32(a.v)}; }
POSENC_INLINE F32x4 to_float(I32x4 a) { return {_mm_cvtepi32_ps(a.v)}; }

/// a0 b0 a1 b1.
POSENC_INLINE F32x4 zip_low(F32x4 a, F32x4 b) { return {_mm_unpacklo_ps(a.v, b.v)}; }
/// a2 b2 a3 b3.
POSENC_INLINE F32x4 zip_high(F32x4 a, F32x4 b) { return {_mm_unpackhi_ps(a.v, b.v)}; }
/// a0 a2 b0 b2.
POSENC_INLINE F32x4 even(F32x4 a, F32x4 b) { return {_mm_shuffle_ps(a.v, b.v, _MM_SHUFFLE(2, 0, 2, 0))}; }
/// a1 a3 b1 b3.
POSENC_INLINE F32x4 odd(F32x4 a, F32x4 b) { return {_mm_shuffle_ps(a.v, b.v, _MM_SHUFFLE(3, 1, 3, 1))}; }
/// a0 a1 b0 b1.
POSENC_INLINE F32x4 low_low(F32x4 a, F32x4 b) { return {_mm_movelh_ps(a.v, b.v)}; }
/// a2 a3 b2 b3.
POSENC_INLINE F32x4 high_high(F32x4 a, F32x4 b) { return {_mm_movehl_ps(b.v, a.v)}; }
/// a1 a0 a3 a2.
POSENC_INLINE F32x4 swap_pairs(F32x4 a) { return {_mm_shuffle_ps(a.v, a.v, _MM_SHUFFLE(2, 3, 0, 1))}; }
/// a0 a0 a2 a2.
POSENC_INLINE F32x4 twice_even(F32x4 a) { return {_mm_shuffle_ps(a.v, a.v, _MM_SHUFFLE(2, 2, 0, 0))}; }
/// a1 a1 a3 a3.
POSENC_INLINE F32x4 twice_odd(F32x4 a) { return {_mm_shuffle_ps(a.v, a.v, _MM_SHUFFLE(3, 3, 1, 1))}; }
/// a3 a2 a1 a0.
POSENC_INLINE F32x4 reverse(F32x4 a) { return {_mm_shuffle_ps(a.v, a.v, _MM_SHUFFLE(0, 1, 2, 3))}; }

}  // namespace posenc::simd
