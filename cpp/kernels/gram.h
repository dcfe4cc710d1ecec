// Products of the columns of a table with each other.
#pragma once

#include <cstddef>

namespace posenc {

/// table (rows, columns), mean (columns) -> gram (columns, columns): sum_t (x_ta - mean_a) (x_tb - mean_b), row-major
/// and symmetric to the bit. rows columns^2 / 2 multiply-adds.
void centred_gram(const double* table, std::size_t rows, std::size_t columns, const double* mean, double* gram);

}  // namespace posenc
