// Tables of rows against eight queries in lanes: what relate schemes compute with their tables.
#pragma once

#include <cstddef>

namespace posenc {

// rows (count, width)  x (width, 8) -> y (count, 8) = scale * rows x; sums run over c upwards.
void rows_times_lanes(const float* rows, std::size_t count, std::size_t width, const float* x, float scale, float* y);

// w (count, 8)  rows (count, width) -> o (width, 8) += rows^T w; sums run over rows upwards.
void add_rows_by_weight(const float* w, const float* rows, std::size_t count, std::size_t width, float* o);

}  // namespace posenc
