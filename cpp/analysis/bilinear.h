// Note 000's general case: p_m^T H p_n taken apart, and how nearly diagonal and how small a table is.
#pragma once

#include <cstddef>

#include "core/status.h"

namespace posenc {

/// A table's rows p_m (queries, dim) and p_n (keys, dim), and which columns are the cosine and the sine of each pair.
struct PairedRows {
  const double* queries = nullptr;
  const double* keys = nullptr;
  std::size_t query_count = 0, key_count = 0;
  std::size_t dim = 0;              // 2 pairs
  const double* columns = nullptr;  // (dim / 2, 2): the column of the cosine and that of the sine
};

/// h (dim, dim), or (dim) where `diagonal` -> four tables (queries, keys):
///   value     p_m^T H p_n, summed as it stands
///   relative  sum_i (h_cc + h_ss) / 2 cos (m - n) omega_i
///   absolute  sum_i (h_cc - h_ss) / 2 cos (m + n) omega_i
///   rest      sum_{a != b} h_ab p_ma p_nb, what is off the diagonal
/// c and s being the columns of pair i, i = 0 .. d/2 - 1 (the note's sums start at 1, its subscripts at 0).
/// value = relative + absolute + rest but for rounding: within 2 dim 2^-53 times the sum of |h_ab|. dim (dim + keys)
/// multiply-adds a query. Errors: h not finite.
Status bilinear(const PairedRows& rows, const double* h, bool diagonal, double* value, double* relative,
                double* absolute, double* rest);

/// What diagonal_dominance sums up; each a mean over entries of the covariance.
struct Dominance {
  double diagonal = 0;      // mean |C_aa|
  double off_diagonal = 0;  // mean |C_ab|, a != b; 0 for one column
  double rows = 0;          // columns a with |C_aa| > sum_{b != a} |C_ab|: strictly dominant in the sense of Gershgorin
};

/// table (rows, dim), rows >= 2 -> covariance (dim, dim), divided by rows - 1, and ratios (dim): |C_aa| over
/// sum_{b != a} |C_ab| (infinite where that is 0 and C_aa is not, 0 where both are).
/// Errors: fewer than two rows; a number that is not finite.
Status diagonal_dominance(const double* table, std::size_t rows, std::size_t dim, double* covariance, double* ratios,
                          Dominance& dominance);

/// Mean Euclidean lengths of the rows of embeddings (rows, dim) and of a table (table_rows, table_dim), and the first
/// over the second: above 1 where positions are the smaller part (infinite where the table is 0). What the note asks of
/// p before it expands in it. Errors: no rows; a number that is not finite.
Status norm_ratio(const double* embeddings, std::size_t rows, std::size_t dim, const double* table,
                  std::size_t table_rows, std::size_t table_dim, double (&means)[3]);

}  // namespace posenc
