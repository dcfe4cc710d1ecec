// The matrix product of attention, for eight queries at a time: queries lie in lanes, so that neither the maximum nor
// the sum of the softmax crosses lanes, and a tile of scores is already the packed operand of the product with the
// values.
#pragma once

#include <cstddef>

namespace posenc {

// Rows of four, as score_tile and value_tile read them: x (rows, columns), row_stride apart, -> panels (ceil(rows / 4),
// columns, 4), where panel p holds column c of rows 4p .. 4p + 3 side by side. Missing rows are zero.
void pack_panels(const float* x, std::size_t row_stride, std::size_t rows, std::size_t columns, float* panels);

// Rows in lanes: x (rows, d), row_stride apart, -> lanes (d, 8) times `scale`; rows is 1 to 8 and the last one fills
// the lanes past it.
void pack_lanes(const float* x, std::size_t row_stride, int rows, std::size_t d, float scale, float* lanes);

// keys (panels, d, 4)  queries (d, 8) -> s (4 panels, 8): s_jl = sum_c k_jc q_lc, summed with c rising; and the largest
// of each lane -> most (8), as add_and_find_largest takes it, while the scores are in registers. Missing rows of the
// last panel count there too.
void score_tile(const float* keys, const float* queries, std::size_t d, std::size_t panels, float* s, float* most);

// Lanes to rows: tile (n, 8) -> out (rows, n), row_stride apart; rows is 1 to 8.
void unpack_lanes(const float* tile, std::size_t n, int rows, float* out, std::size_t row_stride);

}  // namespace posenc
