// Principal components of a table: the directions along which its rows differ most.
#pragma once

#include <cstddef>

#include "core/status.h"

namespace posenc {

// table (rows, columns) -> mean (columns); components (count, columns), unit vectors, the largest variance first;
// variances (count), with rows - 1 in the denominator; scores (rows, count) = (table - mean) components^T; total, the
// sum of all variances. Sign: of a component's entries the largest in magnitude is positive, the first of them where
// two are equal. O(a b^2 + b^3 + columns count^2), b the lesser of rows and columns and a the other;
// where count is rows or more, b = columns. (Pearson 1901; Jolliffe, Principal Component Analysis, 2.) Errors:
// fewer than 2 rows; a count outside 1 .. columns; numbers that are not finite.
Status principal_components(const double* table, std::size_t rows, std::size_t columns, std::size_t count,
                            double* scores, double* components, double* variances, double* mean, double* total);

}  // namespace posenc
