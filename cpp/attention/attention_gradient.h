// The gradient of attention, exact and in double: through the softmax, soft-cap, scale, rotations, biases, relations
// and their value side, to q, k, v and to every parameter that the schemes declare differentiable.
#pragma once

#include <vector>

#include "attention/attention.h"

namespace posenc {

// What attention() is called with (of its results all may be null, and none is written) and the gradient of its output.
struct AttentionGradientCall : AttentionCallOf<double> {
  const double* d_out = nullptr;  // (B, H, Tq, dv)
  double* dq = nullptr;           // as q
  double* dk = nullptr;           // as k
  double* dv = nullptr;           // as v
  double* dsinks = nullptr;       // (H), where sinks are given
};

// Queries of a head whose gradients are summed before they are added to those of the queries before them. Part of the
// definition of the results: those of calls with one head and so many queries each add up to the same bits, in order
// of batch entries, heads and queries.
inline constexpr std::size_t kGradientPiece = 64;

// Fills dq, dk, dv, dsinks, and `parameters`, one entry a scheme: rotate, bias, relate, each in the call's order.
// Masked pairs and rows that see nothing give zeros. Memory beside the arguments: O((Tq + Tk) d). Errors: those of
// attention(); `unsupported` for a scheme that cannot; `out-of-range` where finite operands have gradients beyond float64.
Status attention_gradient(const AttentionGradientCall& call, std::vector<Gradients>& parameters);

}  // namespace posenc
