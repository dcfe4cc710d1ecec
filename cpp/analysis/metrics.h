// Numbers that sum up attention weights or compare rotated rows, in float64.
#pragma once

#include <cstddef>

#include "core/status.h"

namespace posenc {

inline constexpr double kEuler = 2.718281828459045;  // e as a double: the natural base

// weights (rows, keys) -> out (rows): H = -sum_j w_j log w_j with 0 log 0 = 0, in units of log(base): nats for kEuler,
// bits for 2. Rows are taken as they are: one without a visible key (all zeros) has 0.
// Errors: base not finite, not above 0, or 1; a weight that is negative or not finite. With allow_non_finite a row that
// holds NaN or an infinity is NaN.
Status entropy(const float* weights, std::size_t rows, std::size_t keys, double base, double* out,
               bool allow_non_finite = false);

// weights (batch, Tq, Tk), query_positions (Tq), key_positions (Tk) -> out (batch, Tq): sum_j w_ij |i - j|, the mean
// distance a query looks over (positions along one axis). Errors: a weight that is negative or not finite. With
// allow_non_finite a row that holds NaN or an infinity is NaN.
Status attention_distance(const float* weights, std::size_t batch, std::size_t queries, std::size_t keys,
                          const double* query_positions, const double* key_positions, double* out,
                          bool allow_non_finite = false);

// How far rows that somebody rotated, found (batch, T, d), are from those of a scheme, expected (batch, T, d).
// norms (2, batch, T): the length of each row, expected and then found.
// errors (3): the largest of each kind, relative to the lengths of the expected rows (absolute where those are 0):
//   norm   ||f_i| - |e_i|| / |e_i|
//   score  |<f_i, f_j> - <e_i, e_j>| / (|e_i| |e_j|) over the pairs of a batch entry; T^2 d multiply-adds
//   value  max_c |f_ic - e_ic| / |e_i|
// Errors: a number of `found` that is not finite. `expected` is the core's own.
Status layout_check(const double* found, const double* expected, std::size_t batch, std::size_t tokens,
                    std::size_t width, double* norms, double* errors);

}  // namespace posenc
