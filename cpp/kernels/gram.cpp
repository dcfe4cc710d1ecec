#include "kernels/gram.h"

#include <algorithm>
#include <vector>

#include "simd/f64x2.h"

namespace posenc {

void centred_gram(const double* table, std::size_t rows, std::size_t columns, const double* mean, double* gram) {
  constexpr std::size_t kRows = 4;  // that share a load and a store of each sum
  // An odd column count is padded by one column of zeros.
  const std::size_t width = (columns + 1) / 2 * 2;
  std::vector<double> sums(width * width, 0), block(kRows * width, 0);
  for (std::size_t first = 0; first < rows; first += kRows) {
    std::fill(block.begin(), block.end(), 0.0);
    for (std::size_t r = 0; r < std::min(kRows, rows - first); ++r) {
      for (std::size_t c = 0; c < columns; ++c) block[r * width + c] = table[(first + r) * columns + c] - mean[c];
    }
    const double *x0 = block.data(), *x1 = x0 + width, *x2 = x1 + width, *x3 = x2 + width;
    for (std::size_t a = 0; a < columns; ++a) {
      const simd::F64x2 s0 = simd::splat(x0[a]), s1 = simd::splat(x1[a]);
      const simd::F64x2 s2 = simd::splat(x2[a]), s3 = simd::splat(x3[a]);
      double* row = sums.data() + a * width;
      for (std::size_t b = a / 2 * 2; b < width; b += 2) {
        const simd::F64x2 even = s0 * simd::load(x0 + b) + s2 * simd::load(x2 + b);
        const simd::F64x2 odd = s1 * simd::load(x1 + b) + s3 * simd::load(x3 + b);
        simd::store(row + b, simd::load(row + b) + (even + odd));
      }
    }
  }
  for (std::size_t a = 0; a < columns; ++a) {
    for (std::size_t b = a; b < columns; ++b) gram[a * columns + b] = gram[b * columns + a] = sums[a * width + b];
  }
}

}  // namespace posenc
