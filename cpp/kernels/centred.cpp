#include "kernels/centred.h"

#include "simd/f64x2.h"

namespace posenc {

using simd::load;
using simd::splat;
using simd::store;

void centre_columns(const double* table, std::size_t rows, std::size_t columns, double* mean, double* centred) {
  // table (rows, columns) -> mean (columns)  centred (rows, columns)
  const double* const end = table + rows * columns;
  for (std::size_t c = 0; c < columns; ++c) mean[c] = 0;
  for (const double* row = table; row != end; row += columns) {
    std::size_t c = 0;
    for (; c + 2 <= columns; c += 2) store(mean + c, load(mean + c) + load(row + c));
    for (; c < columns; ++c) mean[c] += row[c];
  }
  for (std::size_t c = 0; c < columns; ++c) mean[c] /= static_cast<double>(rows);
  for (const double* row = table; row != end; row += columns, centred += columns) {
    std::size_t c = 0;
    for (; c + 2 <= columns; c += 2) store(centred + c, load(row + c) - load(mean + c));
    for (; c < columns; ++c) centred[c] = row[c] - mean[c];
  }
}

void project_rows(const double* x, std::size_t rows, std::size_t columns, const double* directions, std::size_t count,
                  double* out) {
  // x (rows, columns)  directions (count, columns) -> out (rows, count)
  // Four rows at once, for a sum waits on itself.
  for (std::size_t t = 0; t < rows; t += 4) {
    const double* row[4];
    for (std::size_t l = 0; l < 4; ++l) row[l] = x + (t + l < rows ? t + l : rows - 1) * columns;
    for (std::size_t k = 0; k < count; ++k) {
      const double* direction = directions + k * columns;
      double a = 0, b = 0, c = 0, d = 0;
      for (std::size_t n = 0; n < columns; ++n) {
        a += row[0][n] * direction[n];
        b += row[1][n] * direction[n];
        c += row[2][n] * direction[n];
        d += row[3][n] * direction[n];
      }
      const double sums[] = {a, b, c, d};
      for (std::size_t l = 0; l < 4 && t + l < rows; ++l) out[(t + l) * count + k] = sums[l];
    }
  }
}

}  // namespace posenc
