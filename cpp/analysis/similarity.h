// How alike the rows of a table are.
#pragma once

#include <cstddef>

#include "core/status.h"

namespace posenc {

enum class Metric { kDot, kCosine, kEuclidean };

// table (rows, columns) -> out (rows, rows), symmetric to the bit, half of it computed: x . y; x . y / (|x| |y|), held
// within [-1, 1] and 0 where a row is zero; or |x - y|. In float64 each product is summed in a fixed order; cosines are
// within a few (columns + 4) 2^-53, distances within a few columns 2^-53 relative (formed from differences, so equal
// rows are 0 apart). In float32 products run at the machine's peak and distances are formed from them, |x|^2 + |y|^2 -
// 2 x . y floored at 0: near rows lose digits. float64 cosines and distances are as near where squares under- or
// overflow. The diagonal is exactly 1 in cosines (0 for a zero row) and 0 in distances. Errors: numbers that are not
// finite; products past the type's range. With allow_non_finite a row that holds NaN or an infinity has NaN with every
// row, and the others have what they have without it.
Status similarity(const double* table, std::size_t rows, std::size_t columns, Metric metric, double* out,
                  bool allow_non_finite = false);
Status similarity(const float* table, std::size_t rows, std::size_t columns, Metric metric, float* out,
                  bool allow_non_finite = false);

// left (rows, columns), right (others, columns) -> out (rows, others): every product of a row of one with a row of the
// other, c rising.
void row_products(const double* left, std::size_t rows, const double* right, std::size_t others, std::size_t columns,
                  double* out);

}  // namespace posenc
