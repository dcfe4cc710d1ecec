// Softmax over whole rows, for matrices that stand in memory.
#pragma once

#include <cstddef>

namespace posenc {

// x (rows, columns), x_stride apart -> y (rows, columns), y_stride apart: e^(x - largest) / sum, each within 4 ULP plus
// what the sum is off (4 lanes, folded (0+2)+(1+3)). x == y is legal, other overlap is not. -inf gives +0; a row with
// nothing above -inf gives zeros; a NaN makes its row NaN. No +inf: its row is unspecified.
void softmax_rows(const float* x, std::size_t x_stride, std::size_t rows, std::size_t columns, float* y,
                  std::size_t y_stride);

}  // namespace posenc
