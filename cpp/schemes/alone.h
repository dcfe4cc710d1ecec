// Schemes by themselves, outside attention: tables, tokens with positions added, turned rows, matrices of pairs.
// Each takes whole operands, checks their values and leaves results complete; shapes are the caller's to keep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/positions.h"
#include "core/status.h"
#include "schemes/scheme.h"

namespace posenc {

// positions (axes, T) -> out (T, width). length 0: the largest position + 1. One axis is broadcast to a scheme of
// several.
// Errors: positions not finite or beyond 2^53, a number of axes that the scheme does not read.
Status encode(const Embed& scheme, const Positions& positions, double length, float* out);
Status encode(const Embed& scheme, const Positions& positions, double length, double* out);

// x (batch, T, width) -> out (batch, T, width) = x * scale + alpha * p, each sum in float64 and rounded once; or with
// `concat` out (batch, T, width + dim), p behind x.
struct EmbedCall {
  const Embed* scheme = nullptr;
  Positions positions;
  double length = 0;
  std::size_t batch = 1, width = 0;
  const float* x = nullptr;
  double scale = 1;  // NaN: the square root of the width
  double alpha = 1;
  bool concat = false;
  double dropout = 0;  // share of entries set to zero, the others divided by 1 - dropout
  std::uint64_t seed = 0;
  bool allow_non_finite = false;
  float* out = nullptr;
};
// Errors: as encode(); `not-finite` x, `out-of-range` dropout, or where finite x overflows.
Status embed(const EmbedCall& call);

// x (batch, T, width) -> out, the same shape: every scheme in order, or undone in reverse order with `inverse`.
struct RotateRows {
  std::span<const Rotate* const> schemes;
  Positions positions;
  Side side = Side::kQuery;
  bool inverse = false;
  double length = 0;  // 0: the largest position + 1
  std::size_t batch = 1, width = 0;
  bool allow_non_finite = false;
};
Status rotate(const RotateRows& call, const float* x, float* out);
Status rotate(const RotateRows& call, const double* x, double* out);

// queries (axes, Tq), keys (axes, Tk) -> out (count, Tq, Tk): the sum of the schemes, one or more, for each of `count`
// head indices (heads null: 0 ... count - 1). Errors: positions as encode(); `out-of-range` heads; `not-integer`
// offsets where a scheme counts whole ones.
Status bias_matrix(std::span<const Bias* const> schemes, const Positions& queries, const Positions& keys,
                   const double* heads, std::size_t count, float* out);

// queries, keys -> out (Tq, Tk): the row of the scheme's table for each pair; with `raw` the offset before clipping.
// Errors: as bias_matrix(); `unsupported` where the scheme (bias or relate) has no such table.
Status table_rows(const Scheme& scheme, Slot slot, const Positions& queries, const Positions& keys, bool raw,
                  std::int32_t* out);

}  // namespace posenc
