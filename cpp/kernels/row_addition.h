// One row added to many.
#pragma once

#include <cstddef>

namespace posenc {

// row (columns)  x (rows, columns), rows `stride` apart -> x + row in place.
void add_row(const float* row, std::size_t rows, std::size_t columns, float* x, std::size_t stride);

}  // namespace posenc
