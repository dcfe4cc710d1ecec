#include "kernels/row_gram.h"

#include "simd/f64x2.h"

namespace posenc {

namespace {

constexpr std::size_t kRows = 4;   // of a tile: 4 x 4 doubles fill eight registers of two
constexpr std::size_t kGroup = 4;  // panels on the right that stay in the first-level cache

struct Tile {
  simd::F64x2 v[kRows][2];
};

// left (depth, 4)  right (depth, 4) -> (4, 4)
POSENC_INLINE Tile multiply(const double* left, const double* right, std::size_t depth) {
  using namespace simd;
  F64x2 a0 = splat(0.0), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, d0 = a0, d1 = a0;
  for (std::size_t n = 0; n < depth; ++n, left += 4, right += 4) {
    const F64x2 r0 = load(right), r1 = load(right + 2);
    const F64x2 a = load_splat(left), b = load_splat(left + 1);
    a0 += a * r0, a1 += a * r1;
    b0 += b * r0, b1 += b * r1;
    const F64x2 c = load_splat(left + 2), d = load_splat(left + 3);
    c0 += c * r0, c1 += c * r1;
    d0 += d * r0, d1 += d * r1;
  }
  return {{{a0, a1}, {b0, b1}, {c0, c1}, {d0, d1}}};
}

// Rows 4 p .. 4 p + 3 side by side, missing rows zero.
void pack(const double* a, std::size_t m, std::size_t row_stride, std::size_t column_stride, std::size_t depth,
          double* panels) {
  for (std::size_t first = 0; first < m; first += kRows) {
    const std::size_t rows = m - first < kRows ? m - first : kRows;
    for (std::size_t c = 0; c < depth; ++c) {
      const double* column = a + first * row_stride + c * column_stride;
      for (std::size_t i = 0; i < kRows; ++i) *panels++ = i < rows ? column[i * row_stride] : 0.0;
    }
  }
}

}  // namespace

std::size_t gram_scratch(std::size_t m) { return (m + kRows - 1) / kRows * kRows * kGramDepth; }

void gram(const double* a, std::size_t m, std::size_t k, std::size_t row_stride, std::size_t column_stride, double* out,
          double* scratch) {
  const std::size_t panels = (m + kRows - 1) / kRows;
  for (std::size_t n = 0; n < m * m; ++n) out[n] = 0;
  for (std::size_t from = 0; from < k; from += kGramDepth) {
    const std::size_t depth = k - from < kGramDepth ? k - from : kGramDepth;
    pack(a + from * column_stride, m, row_stride, column_stride, depth, scratch);
    for (std::size_t group = 0; group < panels; group += kGroup) {
      const std::size_t group_end = group + kGroup < panels ? group + kGroup : panels;
      for (std::size_t p = 0; p < group_end; ++p) {
        for (std::size_t q = p < group ? group : p; q < group_end; ++q) {
          const Tile tile = multiply(scratch + p * depth * kRows, scratch + q * depth * kRows, depth);
          double values[kRows][4];
          for (std::size_t i = 0; i < kRows; ++i) {
            simd::store(values[i], tile.v[i][0]);
            simd::store(values[i] + 2, tile.v[i][1]);
          }
          const std::size_t rows = m - p * kRows < kRows ? m - p * kRows : kRows;
          const std::size_t columns = m - q * kRows < kRows ? m - q * kRows : kRows;
          double* corner = out + p * kRows * m + q * kRows;
          for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t j = 0; j < columns; ++j) corner[i * m + j] += values[i][j];
          }
        }
      }
    }
  }
  // By blocks, so that the lines that are written stay in the cache.
  constexpr std::size_t kBlock = 32;
  for (std::size_t i0 = 0; i0 < m; i0 += kBlock) {
    for (std::size_t j0 = 0; j0 <= i0; j0 += kBlock) {
      for (std::size_t i = i0; i < m && i < i0 + kBlock; ++i) {
        for (std::size_t j = j0; j < i && j < j0 + kBlock; ++j) out[i * m + j] = out[j * m + i];
      }
    }
  }
}

}  // namespace posenc
