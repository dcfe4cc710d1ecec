// The vocabulary of f64x2.h over SSE2. Included by f64x2.h only.
#pragma once

#include <emmintrin.h>

namespace posenc::simd {

struct F64x2 {
  __m128d v;
};
struct U16x8 {
  __m128i v;
};
struct Mask64x2 {
  __m128d v;
};

POSENC_INLINE F64x2 load(const double* p) { return {_mm_loadu_pd(p)}; }
POSENC_INLINE void store(double* p, F64x2 a) { _mm_storeu_pd(p, a.v); }
POSENC_INLINE F64x2 load_splat(const double* p) { return {_mm_set1_pd(*p)}; }
POSENC_INLINE F64x2 splat(double x) { return {_mm_set1_pd(x)}; }
POSENC_INLINE F64x2 make(double a, double b) { return {_mm_setr_pd(a, b)}; }
template <int I>
POSENC_INLINE double lane(F64x2 a) {
  return _mm_cvtsd_f64(_mm_shuffle_pd(a.v, a.v, I));
}

POSENC_INLINE F64x2 operator+(F64x2 a, F64x2 b) { return {_mm_add_pd(a.v, b.v)}; }
POSENC_INLINE F64x2 operator-(F64x2 a, F64x2 b) { return {_mm_sub_pd(a.v, b.v)}; }
POSENC_INLINE F64x2 operator*(F64x2 a, F64x2 b) { return {_mm_mul_pd(a.v, b.v)}; }
POSENC_INLINE F64x2 operator/(F64x2 a, F64x2 b) { return {_mm_div_pd(a.v, b.v)}; }
POSENC_INLINE F64x2 operator-(F64x2 a) { return {_mm_xor_pd(a.v, _mm_set1_pd(-0.0))}; }
POSENC_INLINE F64x2 abs(F64x2 a) { return {_mm_andnot_pd(_mm_set1_pd(-0.0), a.v)}; }
POSENC_INLINE F64x2 sqrt(F64x2 a) { return {_mm_sqrt_pd(a.v)}; }
POSENC_INLINE F64x2 min(F64x2 a, F64x2 b) { return {_mm_min_pd(b.v, a.v)}; }
POSENC_INLINE F64x2 max(F64x2 a, F64x2 b) { return {_mm_max_pd(b.v, a.v)}; }

POSENC_INLINE Mask64x2 operator==(F64x2 a, F64x2 b) { return {_mm_cmpeq_pd(a.v, b.v)}; }
POSENC_INLINE Mask64x2 operator!=(F64x2 a, F64x2 b) { return {_mm_cmpneq_pd(a.v, b.v)}; }
POSENC_INLINE Mask64x2 operator<(F64x2 a, F64x2 b) { return {_mm_cmplt_pd(a.v, b.v)}; }
POSENC_INLINE Mask64x2 operator<=(F64x2 a, F64x2 b) { return {_mm_cmple_pd(a.v, b.v)}; }
POSENC_INLINE Mask64x2 operator>(F64x2 a, F64x2 b) { return {_mm_cmpgt_pd(a.v, b.v)}; }
POSENC_INLINE Mask64x2 operator>=(F64x2 a, F64x2 b) { return {_mm_cmpge_pd(a.v, b.v)}; }
POSENC_INLINE F64x2 select(Mask64x2 mask, F64x2 a, F64x2 b) {
  return {_mm_or_pd(_mm_and_pd(mask.v, a.v), _mm_andnot_pd(mask.v, b.v))};
}
POSENC_INLINE bool any(Mask64x2 mask) { return _mm_movemask_pd(mask.v) != 0; }
POSENC_INLINE bool all(Mask64x2 mask) { return _mm_movemask_pd(mask.v) == 3; }

/// a0 b0.
POSENC_INLINE F64x2 zip_low(F64x2 a, F64x2 b) { return {_mm_unpacklo_pd(a.v, b.v)}; }
/// a1 b1.
POSENC_INLINE F64x2 zip_high(F64x2 a, F64x2 b) { return {_mm_unpackhi_pd(a.v, b.v)}; }
/// a1 a0.
POSENC_INLINE F64x2 swap(F64x2 a) { return {_mm_shuffle_pd(a.v, a.v, 1)}; }

/// Rounds to float: a0 a1 0 0.
POSENC_INLINE F32x4 demote(F64x2 a) { return {_mm_cvtpd_ps(a.v)}; }
/// Rounds to float: a0 a1 b0 b1.
POSENC_INLINE F32x4 demote(F64x2 a, F64x2 b) { return low_low(demote(a), demote(b)); }
/// The bits of each shifted left by 52: the low eleven become the exponent field.
POSENC_INLINE F64x2 low_bits_to_exponent(F64x2 a) {
  return {_mm_castsi128_pd(_mm_slli_epi64(_mm_castpd_si128(a.v), 52))};
}
POSENC_INLINE F64x2 promote_low(F32x4 a) { return {_mm_cvtps_pd(a.v)}; }
POSENC_INLINE F64x2 promote_high(F32x4 a) { return promote_low(high_high(a, a)); }

/// The upper halves of the 32-bit words of the doubles' bits: that of b's first word, of a's first, and so on.
POSENC_INLINE U16x8 high_halves(F64x2 a, F64x2 b) {
  const __m128i upper = _mm_and_si128(_mm_castpd_si128(a.v), _mm_set1_epi32(static_cast<int>(0xffff0000u)));
  return {_mm_or_si128(_mm_srli_epi32(_mm_castpd_si128(b.v), 16), upper)};
}
POSENC_INLINE U16x8 load(const std::uint16_t* p) { return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))}; }
POSENC_INLINE U16x8 operator+(U16x8 a, U16x8 b) { return {_mm_add_epi16(a.v, b.v)}; }
/// The products' lower halves.
POSENC_INLINE U16x8 operator*(U16x8 a, U16x8 b) { return {_mm_mullo_epi16(a.v, b.v)}; }
POSENC_INLINE U16x8 min(U16x8 a, U16x8 b) { return {_mm_sub_epi16(a.v, _mm_subs_epu16(a.v, b.v))}; }
POSENC_INLINE bool any_differ(U16x8 a, U16x8 b) { return _mm_movemask_epi8(_mm_cmpeq_epi8(a.v, b.v)) != 0xffff; }

}  // namespace posenc::simd
