// Numbers that sum up a matrix of attention weights, one a row, in float64.
#pragma once

#include <cstddef>

#include "core/status.h"

namespace posenc {

inline constexpr double kEuler = 2.718281828459045;  // e as a double: the natural base

// weights (rows, keys) -> out (rows): H = -sum_j w_j log w_j with 0 log 0 = 0, in units of log(base): nats for kEuler,
// bits for 2. Rows are taken as they are: one without a visible key (all zeros) has 0.
// Errors: base not finite, not above 0, or 1; a weight that is negative or not finite.
Status entropy(const float* weights, std::size_t rows, std::size_t keys, double base, double* out);

// weights (batch, Tq, Tk), query_positions (Tq), key_positions (Tk) -> out (batch, Tq): sum_j w_ij |i - j|, the mean
// distance a query looks over (positions along one axis). Errors: a weight that is negative or not finite.
Status attention_distance(const float* weights, std::size_t batch, std::size_t queries, std::size_t keys,
                          const double* query_positions, const double* key_positions, double* out);

}  // namespace posenc
