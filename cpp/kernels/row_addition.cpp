#include "kernels/row_addition.h"

#include "simd/f32x4.h"

namespace posenc {

using namespace simd;

void add_row(const float* row, std::size_t rows, std::size_t columns, float* x, std::size_t stride) {
  // row (columns)  x (rows, columns)
  for (; rows != 0; --rows, x += stride) {
    std::size_t c = 0;
    for (; c + 4 <= columns; c += 4) store(x + c, load(x + c) + load(row + c));
    for (; c < columns; ++c) x[c] += row[c];
  }
}

}  // namespace posenc
