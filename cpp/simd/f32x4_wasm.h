// The vocabulary of f32x4.h over WebAssembly SIMD128. Included by f32x4.h only.
#pragma once

#include <wasm_simd128.h>

namespace posenc::simd {

struct F32x4 {
  v128_t v;
};
struct I32x4 {
  v128_t v;
};

POSENC_INLINE F32x4 load(const float* p) { return {wasm_v128_load(p)}; }
POSENC_INLINE void store(float* p, F32x4 a) { wasm_v128_store(p, a.v); }
POSENC_INLINE F32x4 load_splat(const float* p) { return {wasm_v128_load32_splat(p)}; }
POSENC_INLINE F32x4 splat(float x) { return {wasm_f32x4_splat(x)}; }
POSENC_INLINE F32x4 make(float a, float b, float c, float d) { return {wasm_f32x4_make(a, b, c, d)}; }
POSENC_INLINE I32x4 load_int(const std::int32_t* p) { return {wasm_v128_load(p)}; }
POSENC_INLINE void store_int(std::int32_t* p, I32x4 a) { wasm_v128_store(p, a.v); }
POSENC_INLINE I32x4 splat_int(std::int32_t x) { return {wasm_i32x4_splat(x)}; }
POSENC_INLINE I32x4 make_int(std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d) {
  return {wasm_i32x4_make(a, b, c, d)};
}
template <int I>
POSENC_INLINE float lane(F32x4 a) {
  return wasm_f32x4_extract_lane(a.v, I);
}
template <int I>
POSENC_INLINE std::int32_t lane(I32x4 a) {
  return wasm_i32x4_extract_lane(a.v, I);
}
template <int I>
POSENC_INLINE F32x4 splat_lane(F32x4 a) {
  return {wasm_i32x4_shuffle(a.v, a.v, I, I, I, I)};
}

POSENC_INLINE F32x4 operator+(F32x4 a, F32x4 b) { return {wasm_f32x4_add(a.v, b.v)}; }
POSENC_INLINE F32x4 operator-(F32x4 a, F32x4 b) { return {wasm_f32x4_sub(a.v, b.v)}; }
POSENC_INLINE F32x4 operator*(F32x4 a, F32x4 b) { return {wasm_f32x4_mul(a.v, b.v)}; }
POSENC_INLINE F32x4 operator/(F32x4 a, F32x4 b) { return {wasm_f32x4_div(a.v, b.v)}; }
POSENC_INLINE F32x4 operator-(F32x4 a) { return {wasm_f32x4_neg(a.v)}; }
POSENC_INLINE F32x4 abs(F32x4 a) { return {wasm_f32x4_abs(a.v)}; }
POSENC_INLINE F32x4 sqrt(F32x4 a) { return {wasm_f32x4_sqrt(a.v)}; }
POSENC_INLINE F32x4 min(F32x4 a, F32x4 b) { return {wasm_f32x4_pmin(a.v, b.v)}; }
POSENC_INLINE F32x4 max(F32x4 a, F32x4 b) { return {wasm_f32x4_pmax(a.v, b.v)}; }

POSENC_INLINE I32x4 operator==(F32x4 a, F32x4 b) { return {wasm_f32x4_eq(a.v, b.v)}; }
POSENC_INLINE I32x4 operator!=(F32x4 a, F32x4 b) { return {wasm_f32x4_ne(a.v, b.v)}; }
POSENC_INLINE I32x4 operator<(F32x4 a, F32x4 b) { return {wasm_f32x4_lt(a.v, b.v)}; }
POSENC_INLINE I32x4 operator<=(F32x4 a, F32x4 b) { return {wasm_f32x4_le(a.v, b.v)}; }
POSENC_INLINE I32x4 operator>(F32x4 a, F32x4 b) { return {wasm_f32x4_gt(a.v, b.v)}; }
POSENC_INLINE I32x4 operator>=(F32x4 a, F32x4 b) { return {wasm_f32x4_ge(a.v, b.v)}; }

/// Lane by lane mask ? a : b; the mask's lanes must be all ones or zero.
POSENC_INLINE F32x4 select(I32x4 mask, F32x4 a, F32x4 b) { return {wasm_v128_bitselect(a.v, b.v, mask.v)}; }
POSENC_INLINE I32x4 select(I32x4 mask, I32x4 a, I32x4 b) { return {wasm_v128_bitselect(a.v, b.v, mask.v)}; }
/// a where the mask is set, +0 elsewhere.
POSENC_INLINE F32x4 keep(I32x4 mask, F32x4 a) { return {wasm_v128_and(a.v, mask.v)}; }
POSENC_INLINE bool any(I32x4 mask) { return wasm_v128_any_true(mask.v); }
POSENC_INLINE bool all(I32x4 mask) { return wasm_i32x4_all_true(mask.v); }

POSENC_INLINE I32x4 bits(F32x4 a) { return {a.v}; }
POSENC_INLINE F32x4 float_of_bits(I32x4 a) { return {a.v}; }
POSENC_INLINE I32x4 operator&(I32x4 a, I32x4 b) { return {wasm_v128_and(a.v, b.v)}; }
POSENC_INLINE I32x4 operator|(I32x4 a, I32x4 b) { return {wasm_v128_or(a.v, b.v)}; }
POSENC_INLINE I32x4 operator^(I32x4 a, I32x4 b) { return {wasm_v128_xor(a.v, b.v)}; }
/// a & ~b.
POSENC_INLINE I32x4 and_not(I32x4 a, I32x4 b) { return {wasm_v128_andnot(a.v, b.v)}; }
POSENC_INLINE I32x4 operator+(I32x4 a, I32x4 b) { return {wasm_i32x4_add(a.v, b.v)}; }
POSENC_INLINE I32x4 operator-(I32x4 a, I32x4 b) { return {wasm_i32x4_sub(a.v, b.v)}; }
POSENC_INLINE I32x4 operator==(I32x4 a, I32x4 b) { return {wasm_i32x4_eq(a.v, b.v)}; }
POSENC_INLINE I32x4 operator>(I32x4 a, I32x4 b) { return {wasm_i32x4_gt(a.v, b.v)}; }
/// The larger by lane.
POSENC_INLINE I32x4 max(I32x4 a, I32x4 b) { return {wasm_i32x4_max(a.v, b.v)}; }
POSENC_INLINE I32x4 operator<(I32x4 a, I32x4 b) { return {wasm_i32x4_lt(a.v, b.v)}; }
template <int N>
POSENC_INLINE I32x4 shift_left(I32x4 a) {
  return {wasm_i32x4_shl(a.v, N)};
}
/// Arithmetic shift: the sign is carried in.
template <int N>
POSENC_INLINE I32x4 shift_right(I32x4 a) {
  return {wasm_i32x4_shr(a.v, N)};
}

/// Truncates towards zero; defined for |a| < 2^31 only (the back ends differ beyond).
POSENC_INLINE I32x4 to_int(F32x4 a) { return {wasm_i32x4_trunc_sat_f32x4(a.v)}; }
POSENC_INLINE F32x4 to_float(I32x4 a) { return {wasm_f32x4_convert_i32x4(a.v)}; }

/// a0 b0 a1 b1.
POSENC_INLINE F32x4 zip_low(F32x4 a, F32x4 b) { return {wasm_i32x4_shuffle(a.v, b.v, 0, 4, 1, 5)}; }
/// a2 b2 a3 b3.
POSENC_INLINE F32x4 zip_high(F32x4 a, F32x4 b) { return {wasm_i32x4_shuffle(a.v, b.v, 2, 6, 3, 7)}; }
/// a0 a2 b0 b2.
POSENC_INLINE F32x4 even(F32x4 a, F32x4 b) { return {wasm_i32x4_shuffle(a.v, b.v, 0, 2, 4, 6)}; }
/// a1 a3 b1 b3.
POSENC_INLINE F32x4 odd(F32x4 a, F32x4 b) { return {wasm_i32x4_shuffle(a.v, b.v, 1, 3, 5, 7)}; }
/// a0 a1 b0 b1.
POSENC_INLINE F32x4 low_low(F32x4 a, F32x4 b) { return {wasm_i64x2_shuffle(a.v, b.v, 0, 2)}; }
/// a2 a3 b2 b3.
POSENC_INLINE F32x4 high_high(F32x4 a, F32x4 b) { return {wasm_i64x2_shuffle(a.v, b.v, 1, 3)}; }
/// a1 a0 a3 a2.
POSENC_INLINE F32x4 swap_pairs(F32x4 a) { return {wasm_i32x4_shuffle(a.v, a.v, 1, 0, 3, 2)}; }
/// a0 a0 a2 a2.
POSENC_INLINE F32x4 twice_even(F32x4 a) { return {wasm_i32x4_shuffle(a.v, a.v, 0, 0, 2, 2)}; }
/// a1 a1 a3 a3.
POSENC_INLINE F32x4 twice_odd(F32x4 a) { return {wasm_i32x4_shuffle(a.v, a.v, 1, 1, 3, 3)}; }
/// a3 a2 a1 a0.
POSENC_INLINE F32x4 reverse(F32x4 a) { return {wasm_i32x4_shuffle(a.v, a.v, 3, 2, 1, 0)}; }

}  // namespace posenc::simd
