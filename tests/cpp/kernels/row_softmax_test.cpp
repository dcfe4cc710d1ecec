// Softmax of rows against the definition in double.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/row_softmax.h"
#include "support/attention_case.h"

using namespace posenc;
using namespace posenc_test;

TEST_CASE("softmax of rows: the definition in double, every width, in place or not") {
  for (const std::size_t columns : {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 100, 1023}) {
    for (const float spread : {1.0f, 20.0f, 300.0f}) {
      const std::size_t rows = 3, stride = columns + 2;
      const std::vector<float> x = Numbers(static_cast<std::uint32_t>(columns)).floats(rows * stride, spread);
      std::vector<float> y(rows * stride, 99.0f), in_place = x;
      softmax_rows(x.data(), stride, rows, columns, y.data(), stride);
      softmax_rows(in_place.data(), stride, rows, columns, in_place.data(), stride);
      bool near = true, same = true, untouched = true;
      for (std::size_t r = 0; r < rows; ++r) {
        const float* row = x.data() + r * stride;
        double top = row[0], total = 0;
        for (std::size_t c = 0; c < columns; ++c) top = std::max(top, static_cast<double>(row[c]));
        for (std::size_t c = 0; c < columns; ++c) total += std::exp(row[c] - top);
        for (std::size_t c = 0; c < columns; ++c) {
          const double exact = std::exp(row[c] - top) / total;
          near = near && std::abs(y[r * stride + c] - exact) <= 1e-6 * exact + 1e-37;
          same = same && y[r * stride + c] == in_place[r * stride + c];
        }
        for (std::size_t c = columns; c < stride; ++c) untouched = untouched && y[r * stride + c] == 99.0f;
      }
      CAPTURE(columns, spread);
      CHECK(near);
      CHECK(same);
      CHECK(untouched);
    }
  }
}

TEST_CASE("softmax of rows: -inf weighs nothing, a row of them is zero, NaN stays in its row") {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::size_t columns : {1, 3, 4, 6, 19}) {
    std::vector<float> x(3 * columns, -infinity);
    x[columns - 1] = -1e30f;
    for (std::size_t c = 0; c < columns; ++c) x[2 * columns + c] = 1;
    x[2 * columns] = nan;
    softmax_rows(x.data(), columns, 3, columns, x.data(), columns);
    CHECK(x[columns - 1] == 1.0f);
    for (std::size_t c = 0; c + 1 < columns; ++c) CHECK(x[c] == 0.0f);
    for (std::size_t c = 0; c < columns; ++c) {
      CHECK(x[columns + c] == 0.0f);
      CHECK(std::isnan(x[2 * columns + c]));
    }
  }
}
