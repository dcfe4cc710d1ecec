// The product of two float32 matrices, packed and tiled for the machine's multiply-add peak.
#pragma once

#include <cstddef>

namespace posenc {

// A factor as it lies in memory: rows `stride` elements apart. A transposed factor is stored as (columns, rows).
struct Factor {
  const float* data = nullptr;
  std::size_t stride = 0;
  bool transposed = false;
};

// Terms of a sum that are added in one go. Part of the definition of the result, like the order within a go.
inline constexpr std::size_t kProductDepth = 512;

// Floats of scratch memory that product() and product_with_itself() need; at most 163,840 whatever the sizes.
std::size_t product_scratch(std::size_t m, std::size_t k, std::size_t n);

// a (m, k)  b (k, n) -> out (m, n), rows `out_stride` apart: out_ij = sum_c a_ic b_cj, c rising, summed from zero over
// every kProductDepth terms and those sums in turn. An element depends on its row of a and its column of b alone, so
// neither the sizes nor the neighbours show in its bits. Zeros where k is 0. Operands and `out` may not overlap.
void product(const Factor& a, const Factor& b, std::size_t m, std::size_t k, std::size_t n, float* out,
             std::size_t out_stride, float* scratch);

// a (m, k) -> out (m, m) = a a^T, bit for bit product(a, a^T), for half the work: scratch is product_scratch(m, k, m).
void product_with_itself(const Factor& a, std::size_t m, std::size_t k, float* out, std::size_t out_stride,
                         float* scratch);

// left (rows, depth), rows left_stride apart  right (depth, 8) -> out (rows, 8), rows out_stride apart: written, or
// added where `add`.
void product_panel(const float* left, std::size_t left_stride, std::size_t rows, const float* right, std::size_t depth,
                   bool add, float* out, std::size_t out_stride);

}  // namespace posenc
