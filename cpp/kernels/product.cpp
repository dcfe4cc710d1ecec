#include "kernels/product.h"

#include <cstring>

#include "kernels/register_tile.h"
#include "kernels/tile_kernels.h"
#include "simd/f32x4.h"

namespace posenc {

using namespace simd;

namespace {

// A panel of the right factor, 512 deep, lies in the first cache while a block of rows of the left goes past it out of
// the second, which holds the right block too.
constexpr std::size_t kRows = 64, kColumns = 256, kLeft = 4, kRight = 8;

std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }
std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }

// Rows `row` to row + rows - 1 and columns `column` to column + columns - 1 of a factor.
Factor part(const Factor& f, std::size_t row, std::size_t column) {
  return {f.data + (f.transposed ? column * f.stride + row : row * f.stride + column), f.stride, f.transposed};
}

// A factor's rows (rows, depth), as they lie where it is not transposed.
Factor lay_left(const Factor& a, std::size_t rows, std::size_t depth, float* to) {
  if (!a.transposed) return a;
  std::size_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    float* row = to + r * depth;
    std::size_t c = 0;
    for (; c + 4 <= depth; c += 4) {
      const float* from = a.data + c * a.stride + r;
      F32x4 e = load(from), f = load(from + a.stride), g = load(from + 2 * a.stride), h = load(from + 3 * a.stride);
      transpose(e, f, g, h);
      store(row + c, e), store(row + depth + c, f), store(row + 2 * depth + c, g), store(row + 3 * depth + c, h);
    }
    for (; c < depth; ++c) {
      for (std::size_t i = 0; i < 4; ++i) row[i * depth + c] = a.data[c * a.stride + r + i];
    }
  }
  for (; r < rows; ++r) {
    for (std::size_t c = 0; c < depth; ++c) to[r * depth + c] = a.data[c * a.stride + r];
  }
  return {to, depth};
}

// b (depth, columns) -> panels (ceil(columns / 8), depth, 8)
void pack_right(const Factor& b, std::size_t depth, std::size_t columns, float* panels) {
  for (std::size_t c = 0; c < columns; c += kRight, panels += depth * kRight) {
    const std::size_t live = smaller(columns - c, kRight);
    if (b.transposed) {
      pack_lanes(b.data + c * b.stride, b.stride, static_cast<int>(live), depth, 1.0f, panels);
      continue;
    }
    const float* from = b.data + c;
    float* to = panels;
    if (live == kRight) {
      std::size_t r = 0;
      for (; r + 2 <= depth; r += 2, from += 2 * b.stride, to += 2 * kRight) {
        const F32x4 low = load(from), high = load(from + 4);
        const F32x4 next_low = load(from + b.stride), next_high = load(from + b.stride + 4);
        store(to, low), store(to + 4, high), store(to + 8, next_low), store(to + 12, next_high);
      }
      if (r < depth) store(to, load(from)), store(to + 4, load(from + 4));
      continue;
    }
    for (std::size_t r = 0; r < depth; ++r, from += b.stride, to += kRight) {
      store(to, load_part(from, live)), store(to + 4, load_part(from + 4, live < 4 ? 0 : live - 4));
    }
  }
}

// tile (rows, 8) -> out (rows, columns), written or added.
void put_part(const float* tile, std::size_t rows, std::size_t columns, bool add, float* out, std::size_t stride) {
  for (std::size_t r = 0; r < rows; ++r, tile += kRight, out += stride) {
    for (std::size_t c = 0; c < columns; ++c) out[c] = add ? out[c] + tile[c] : tile[c];
  }
}

// left (rows, depth)  right (depth, 8) -> out (rows, columns)
void multiply_panels(const float* left, std::size_t left_stride, std::size_t rows, const float* right,
                     std::size_t columns, std::size_t depth, bool add, float* out, std::size_t stride) {
  if (columns == kRight) return kTileKernels.product(left, left_stride, rows, right, depth, add, out, stride);
  float tile[kLeft * kRight];
  for (std::size_t r = 0; r < rows; r += kLeft) {
    const std::size_t live = smaller(rows - r, kLeft);
    kTileKernels.product(left + r * left_stride, left_stride, live, right, depth, false, tile, kRight);
    put_part(tile, live, columns, add, out + r * stride, stride);
  }
}

POSENC_INLINE void put(float* out, F32x4 low, F32x4 high, bool add) {
  store(out, add ? load(out) + low : low), store(out + 4, add ? load(out + 4) + high : high);
}

// `half`: only tiles that touch the diagonal or lie below it.
void multiply(const Factor& a, const Factor& b, std::size_t m, std::size_t k, std::size_t n, bool half, float* out,
              std::size_t stride, float* scratch) {
  float* const right = scratch;
  float* const left = scratch + smaller(k, kProductDepth) * round_up(smaller(n, kColumns), kRight);
  for (std::size_t column = 0; column < n; column += kColumns) {
    const std::size_t columns = smaller(n - column, kColumns);
    for (std::size_t c = 0; c < k; c += kProductDepth) {
      const std::size_t depth = smaller(k - c, kProductDepth);
      pack_right(part(b, c, column), depth, columns, right);
      for (std::size_t row = half ? column / kRows * kRows : 0; row < m; row += kRows) {
        const std::size_t rows = smaller(m - row, kRows);
        const Factor rows_of = lay_left(part(a, row, c), rows, depth, left);
        for (std::size_t j = 0; j < columns; j += kRight) {
          std::size_t skip = 0;  // rows above the diagonal
          if (half && column + j > row) skip = (column + j - row) / kLeft * kLeft;
          if (skip >= rows) break;
          multiply_panels(rows_of.data + skip * rows_of.stride, rows_of.stride, rows - skip, right + j * depth,
                          smaller(columns - j, kRight), depth, c != 0, out + (row + skip) * stride + column + j,
                          stride);
        }
      }
    }
  }
}

}  // namespace

std::size_t product_scratch(std::size_t m, std::size_t k, std::size_t n) {
  return smaller(k, kProductDepth) * (round_up(smaller(n, kColumns), kRight) + smaller(m, kRows));
}

void product(const Factor& a, const Factor& b, std::size_t m, std::size_t k, std::size_t n, float* out,
             std::size_t out_stride, float* scratch) {
  for (std::size_t i = 0; k == 0 && i < m; ++i) std::memset(out + i * out_stride, 0, n * sizeof(float));
  multiply(a, b, m, k, n, false, out, out_stride, scratch);
}

void product_with_itself(const Factor& a, std::size_t m, std::size_t k, float* out, std::size_t out_stride,
                         float* scratch) {
  for (std::size_t i = 0; k == 0 && i < m; ++i) std::memset(out + i * out_stride, 0, m * sizeof(float));
  multiply(a, {a.data, a.stride, !a.transposed}, m, k, m, true, out, out_stride, scratch);
  // The other half, by squares that stay near.
  constexpr std::size_t kSquare = 32;
  for (std::size_t row = 0; row < m; row += kSquare) {
    for (std::size_t column = row; column < m; column += kSquare) {
      for (std::size_t i = row; i < smaller(row + kSquare, m); ++i) {
        for (std::size_t j = column < i ? i + 1 : column; j < smaller(column + kSquare, m); ++j) {
          out[i * out_stride + j] = out[j * out_stride + i];
        }
      }
    }
  }
}

void product_panel(const float* left, std::size_t left_stride, std::size_t rows, const float* right, std::size_t depth,
                   bool add, float* out, std::size_t out_stride) {
  // left (rows, depth)  right (depth, 8) -> out (rows, 8)
  for (std::size_t row = 0; row < rows; row += 4, left += 4 * left_stride, out += 4 * out_stride) {
    const std::size_t last = rows - row - 1;  // missing rows repeat the last, and are not written
    const float* const b_row = left + (last < 1 ? last : 1) * left_stride;
    const float* const c_row = left + (last < 2 ? last : 2) * left_stride;
    const float* const d_row = left + (last < 3 ? last : 3) * left_stride;
    const RegisterTile t = multiply_rows({left, b_row, c_row, d_row}, right, depth);
    put(out, t.a0, t.a1, add);
    if (last >= 1) put(out + out_stride, t.b0, t.b1, add);
    if (last >= 2) put(out + 2 * out_stride, t.c0, t.c1, add);
    if (last >= 3) put(out + 3 * out_stride, t.d0, t.d1, add);
  }
}

}  // namespace posenc
