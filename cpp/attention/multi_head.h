// The layer round attention (Vaswani and others 2017, 3.2.2): tokens are projected to queries, keys and values, split
// into heads, attended and joined.
//   q = x W^Q + b^Q,  k = c W^K + b^K,  v = c W^V + b^V,  out = concat_h(o_h) W^O + b^O,  c the context, or x itself
#pragma once

#include <cstddef>

#include "attention/attention.h"
#include "core/status.h"

namespace posenc {

// y = x W + b.
struct Projection {
  const float* weights = nullptr;  // (in, out); columns of head h lie together, h d to (h + 1) d - 1
  const float* bias = nullptr;     // (out) or null
};

struct MultiHeadCall {
  const float* x = nullptr;        // (B, Tq, x_width)
  const float* context = nullptr;  // (B, Tk, context_width); null: x, and Tk is Tq
  std::size_t x_width = 0, context_width = 0, out_width = 0;
  Projection query;   // (x_width, H d)
  Projection key;     // (context_width, Hkv d)
  Projection value;   // (context_width, Hkv dv)
  Projection output;  // (H dv, out_width)
  float* out = nullptr;     // (B, Tq, out_width)
  AttentionCall attention;  // all of it but q, k, v and out
  // The parts of the layer, for who has them worked out of some tokens each. Where q, k and v are given, they are the
  // results, and the projections to them all that is done; where `attended` is, it is what attention gave, and the
  // projection of it all that is done. Every number is the one of the whole.
  float* q = nullptr;               // (B, H, Tq, d)
  float* k = nullptr;               // (B, Hkv, Tk, d)
  float* v = nullptr;               // (B, Hkv, Tk, dv)
  const float* attended = nullptr;  // (B, H, Tq, dv)
};

// Memory beside the arguments: O(B (Tq + Tk) H d). A token that sees no key gets b^O.
// Errors: those of attention(), `not-finite` x, context, weights and biases, `out-of-range` where finite ones overflow.
Status multi_head_attention(const MultiHeadCall& call);

}  // namespace posenc
