// The product of a tile of weights with the values, folded into the running output of the online softmax.
#pragma once

#include <cstddef>

namespace posenc {

// values (panels, stride, 4): channel c of row j at [c / 4][j][c % 4]   p (rows, 8) unnormalised weights   alpha (8)
// o (4 panels, 8): o_cl = alpha_l o_cl + sum_j v_jc p_jl, the sum formed apart, j rising.
void value_tile(const float* values, std::size_t stride, const float* p, std::size_t rows, std::size_t panels,
                const float* alpha, float* o);

// The same, bit for bit, for values that hold NaN or Inf: rows not `visible` (rows; bit l for lane l) to a lane are
// left out of its sum, since 0 * NaN is NaN.
void value_tile_guarded(const float* values, std::size_t stride, const float* p, const unsigned char* visible,
                        std::size_t rows, std::size_t panels, const float* alpha, float* o);

// v (rows, dv), row_stride apart, times `scale` -> panels (ceil(dv / 4), stride, 4), missing channels zero.
void pack_values(const float* v, std::size_t row_stride, std::size_t rows, std::size_t dv, float scale,
                 std::size_t stride, float* panels);

}  // namespace posenc
