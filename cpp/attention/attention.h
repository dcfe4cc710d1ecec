// Attention over all four slots: the only place that knows their order.
//   s_ij = <R(i) q_i, R(j) k_j> * scale + relate terms,  then cap tanh(s / cap),  then + b_h(i, j),  then masks
//   o_i  = sum_j p_ij (v_j + a^V(i, j)),  p_ij = e^s_ij / (e^sink_h + sum_j e^s_ij)
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "core/positions.h"
#include "core/status.h"
#include "schemes/scheme.h"

namespace posenc {

// A mask of one entry a pair, (B, H, Tq, Tk); an axis of size 1 in `shape` is broadcast. One of the two, or none.
template <class Real>
struct PairMask {
  const std::uint8_t* seen = nullptr;  // 1 visible, 0 masked; no other number
  const Real* added = nullptr;         // added to the scores as the last of the biases; -inf masks
  std::size_t shape[4] = {1, 1, 1, 1};

  bool given() const { return seen != nullptr || added != nullptr; }
};

// What is computed of the operands: schemes, positions, and who sees whom. The same for every kind of number.
struct AttentionOptions {
  std::size_t batch = 1, heads = 1, kv_heads = 1, queries = 0, keys = 0, width = 0, value_width = 0;
  // These are `first_head` and those after it of `all_heads` heads, which schemes count; 0: there are no others.
  std::size_t first_head = 0, all_heads = 0;

  std::span<const Rotate* const> rotate;  // composed left to right
  std::span<const Bias* const> bias;      // added
  std::span<const Relate* const> relate;  // added

  Positions query_positions, key_positions;
  const double* query_order = nullptr;  // (Tq); null: the position where it has one axis, else the index
  const double* key_order = nullptr;    // (Tk)
  double length = 0;                    // 0: largest key position + 1
  double scale = 1;

  bool causal = false;  // visible when the key's order <= the query's
  double window_left = std::numeric_limits<double>::infinity();   // i - j <= left
  double window_right = std::numeric_limits<double>::infinity();  // j - i <= right
  double prefix_length = 0;                                       // keys of index below it are visible to all
  const std::uint8_t* key_mask = nullptr;  // (Tk) or (B, Tk); 1 visible
  bool key_mask_batched = false;
  const double* key_lengths = nullptr;     // (B) keys of index >= length are masked
  double softcap = 0;                      // above 0: content + relate -> cap tanh((content + relate) / cap)
  bool allow_non_finite = false;           // NaN and Inf are let through where visible, never where masked
};

// Extra outputs, each (B, H, Tq, Tk) or null. Masked cells of `masked` are 1; of `scores`, -inf.
// content + relate + bias is the score to the last bit, in that order; with a soft-cap, capped + bias is. The additive
// mask is part of `bias`; entries of it that are not finite count as 0 there where they are not seen.
template <class Real>
struct TraceOf {
  Real* content = nullptr;    // rotated
  Real* unrotated = nullptr;  // beside the sum
  Real* relate = nullptr;
  Real* bias = nullptr;
  Real* scores = nullptr;
  std::uint8_t* masked = nullptr;
  Real* capped = nullptr;  // cap tanh((content + relate) / cap); content + relate without a cap
};

// A call in float32 or float64.
template <class Real>
struct AttentionCallOf : AttentionOptions {
  // q (B, H, Tq, d)  k (B, Hkv, Tk, d)  v (B, Hkv, Tk, dv) -> out (B, H, Tq, dv), lse (B, H, Tq)
  const Real* q = nullptr;
  const Real* k = nullptr;
  const Real* v = nullptr;
  PairMask<Real> mask;
  const Real* sinks = nullptr;  // (H) logits, not scaled, that take a share of the softmax and give no value
  Real* out = nullptr;
  Real* lse = nullptr;
  Real* weights = nullptr;  // (B, H, Tq, Tk) or null
  TraceOf<Real> trace;
};

using Trace = TraceOf<float>;
using AttentionCall = AttentionCallOf<float>;

// Head h of a call, as schemes count.
inline int scheme_head(const AttentionOptions& call, std::size_t h) { return static_cast<int>(call.first_head + h); }

// 1 / sqrt(d), the paper's scale; 1 where there are no channels.
inline double default_scale(std::size_t width) {
  return width == 0 ? 1 : 1 / std::sqrt(static_cast<double>(width));
}

// Memory beside the arguments: O((Tq + Tk) d). A row without a visible key has zero output, zero weights, lse -inf,
// with a sink too; elsewhere lse counts the sink.
// Errors: shape and head-count mismatches between schemes and operands, `not-finite` inputs, `out-of-range` overflow.
Status attention(const AttentionCall& call);
// The same in float64 by the plain way: to about 1e-13, many times slower. Errors: also `unsupported` for a relate
// scheme that does not say its terms in float64.
Status attention(const AttentionCallOf<double>& call);

}  // namespace posenc
