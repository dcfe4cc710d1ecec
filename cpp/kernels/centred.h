// What principal components do with every number of a table beside their covariance.
#pragma once

#include <cstddef>

namespace posenc {

/// table (rows, columns) -> mean (columns), each column summed from zero, row by row, and divided; centred (rows,
/// columns) = table - mean.
void centre_columns(const double* table, std::size_t rows, std::size_t columns, double* mean, double* centred);

/// x (rows, columns), directions (count, columns) -> out (rows, count): every product of a row with a direction, each
/// summed from zero, c rising.
void project_rows(const double* x, std::size_t rows, std::size_t columns, const double* directions, std::size_t count,
                  double* out);

}  // namespace posenc
