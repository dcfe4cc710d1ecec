// What attention() asks of its arguments before it computes: shapes, schemes, positions, finite numbers.
#pragma once

#include "attention/attention.h"
#include "core/status.h"

namespace posenc {

// What was learnt of the operands on the way.
struct Operands {
  bool values_finite = true;  // v holds no NaN and no Inf
  bool inputs_finite = true;  // nor do q and k
  float query_magnitude = 0;  // largest |q|, Inf or NaN where one is
  float key_magnitude = 0;    // largest |k|, likewise
  float value_magnitude = 0;  // largest |v|, likewise
  float mask_magnitude = 0;   // largest number that an additive mask holds, not counting -Infinity
  int axes = 1;               // axes of positions after broadcasting
};

Status check_operands(const AttentionCall& call, Operands& operands);
Status check_operands(const AttentionCallOf<double>& call, Operands& operands);

// The argument by which a score overflows, that of its largest term: "q", "relate", "bias" or "mask".
const char* largest_term(double content, double relation, double bias, double mask);

}  // namespace posenc
