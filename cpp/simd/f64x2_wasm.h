// The vocabulary of f64x2.h over WebAssembly SIMD128. Included by f64x2.h only.
#pragma once

#include <wasm_simd128.h>

namespace posenc::simd {

struct F64x2 {
  v128_t v;
};
struct U16x8 {
  v128_t v;
};
struct Mask64x2 {
  v128_t v;
};

POSENC_INLINE F64x2 load(const double* p) { return {wasm_v128_load(p)}; }
POSENC_INLINE void store(double* p, F64x2 a) { wasm_v128_store(p, a.v); }
POSENC_INLINE F64x2 load_splat(const double* p) { return {wasm_v128_load64_splat(p)}; }
POSENC_INLINE F64x2 splat(double x) { return {wasm_f64x2_splat(x)}; }
POSENC_INLINE F64x2 make(double a, double b) { return {wasm_f64x2_make(a, b)}; }
template <int I>
POSENC_INLINE double lane(F64x2 a) {
  return wasm_f64x2_extract_lane(a.v, I);
}

POSENC_INLINE F64x2 operator+(F64x2 a, F64x2 b) { return {wasm_f64x2_add(a.v, b.v)}; }
POSENC_INLINE F64x2 operator-(F64x2 a, F64x2 b) { return {wasm_f64x2_sub(a.v, b.v)}; }
POSENC_INLINE F64x2 operator*(F64x2 a, F64x2 b) { return {wasm_f64x2_mul(a.v, b.v)}; }
POSENC_INLINE F64x2 operator/(F64x2 a, F64x2 b) { return {wasm_f64x2_div(a.v, b.v)}; }
POSENC_INLINE F64x2 operator-(F64x2 a) { return {wasm_f64x2_neg(a.v)}; }
POSENC_INLINE F64x2 abs(F64x2 a) { return {wasm_f64x2_abs(a.v)}; }
POSENC_INLINE F64x2 sqrt(F64x2 a) { return {wasm_f64x2_sqrt(a.v)}; }
POSENC_INLINE F64x2 min(F64x2 a, F64x2 b) { return {wasm_f64x2_pmin(a.v, b.v)}; }
POSENC_INLINE F64x2 max(F64x2 a, F64x2 b) { return {wasm_f64x2_pmax(a.v, b.v)}; }

POSENC_INLINE Mask64x2 operator==(F64x2 a, F64x2 b) { return {wasm_f64x2_eq(a.v, b.v)}; }
POSENC_INLINE Mask64x2 operator!=(F64x2 a, F64x2 b) { return {wasm_f64x2_ne(a.v, b.v)}; }
POSENC_INLINE Mask64x2 operator<(F64x2 a, F64x2 b) { return {wasm_f64x2_lt(a.v, b.v)}; }
POSENC_INLINE Mask64x2 operator<=(F64x2 a, F64x2 b) { return {wasm_f64x2_le(a.v, b.v)}; }
POSENC_INLINE Mask64x2 operator>(F64x2 a, F64x2 b) { return {wasm_f64x2_gt(a.v, b.v)}; }
POSENC_INLINE Mask64x2 operator>=(F64x2 a, F64x2 b) { return {wasm_f64x2_ge(a.v, b.v)}; }
POSENC_INLINE F64x2 select(Mask64x2 mask, F64x2 a, F64x2 b) { return {wasm_v128_bitselect(a.v, b.v, mask.v)}; }
POSENC_INLINE bool any(Mask64x2 mask) { return wasm_v128_any_true(mask.v); }
POSENC_INLINE bool all(Mask64x2 mask) { return wasm_i64x2_all_true(mask.v); }

/// a0 b0.
POSENC_INLINE F64x2 zip_low(F64x2 a, F64x2 b) { return {wasm_i64x2_shuffle(a.v, b.v, 0, 2)}; }
/// a1 b1.
POSENC_INLINE F64x2 zip_high(F64x2 a, F64x2 b) { return {wasm_i64x2_shuffle(a.v, b.v, 1, 3)}; }
/// a1 a0.
POSENC_INLINE F64x2 swap(F64x2 a) { return {wasm_i64x2_shuffle(a.v, a.v, 1, 0)}; }

/// Rounds to float: a0 a1 0 0.
POSENC_INLINE F32x4 demote(F64x2 a) { return {wasm_f32x4_demote_f64x2_zero(a.v)}; }
/// Rounds to float: a0 a1 b0 b1.
POSENC_INLINE F32x4 demote(F64x2 a, F64x2 b) { return low_low(demote(a), demote(b)); }
/// The bits of each shifted left by 52: the low eleven become the exponent field.
POSENC_INLINE F64x2 low_bits_to_exponent(F64x2 a) { return {wasm_i64x2_shl(a.v, 52)}; }
POSENC_INLINE F64x2 promote_low(F32x4 a) { return {wasm_f64x2_promote_low_f32x4(a.v)}; }
POSENC_INLINE F64x2 promote_high(F32x4 a) { return promote_low(high_high(a, a)); }

/// The upper halves of the 32-bit words of the doubles' bits: that of b's first word, of a's first, and so on.
POSENC_INLINE U16x8 high_halves(F64x2 a, F64x2 b) {
  return {wasm_i16x8_shuffle(wasm_u32x4_shr(b.v, 16), a.v, 0, 9, 2, 11, 4, 13, 6, 15)};
}
POSENC_INLINE U16x8 load(const std::uint16_t* p) { return {wasm_v128_load(p)}; }
POSENC_INLINE U16x8 operator+(U16x8 a, U16x8 b) { return {wasm_i16x8_add(a.v, b.v)}; }
/// The products' lower halves.
POSENC_INLINE U16x8 operator*(U16x8 a, U16x8 b) { return {wasm_i16x8_mul(a.v, b.v)}; }
POSENC_INLINE U16x8 min(U16x8 a, U16x8 b) { return {wasm_u16x8_min(a.v, b.v)}; }
POSENC_INLINE bool any_differ(U16x8 a, U16x8 b) { return wasm_v128_any_true(wasm_v128_xor(a.v, b.v)); }

}  // namespace posenc::simd
