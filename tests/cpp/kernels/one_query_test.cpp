// The products of one query against plain loops in the order of score_tile and value_tile: every bit, every
// number of rows, and nothing written beside.
#include <catch2/catch.hpp>

#include <vector>

#include "kernels/one_query.h"
#include "support/attention_case.h"

using namespace posenc;
using namespace posenc_test;

TEST_CASE("one query's scores: every product summed with the channel rising, the same in every lane") {
  for (const std::size_t d : {0, 4, 8, 20, 64}) {
    for (const std::size_t rows : {0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 21}) {
      const std::vector<float> keys = Numbers(1).floats(rows * d, 3), query = Numbers(2).floats(8 * d, 3);
      std::vector<float> s(8 * rows + 8, 99.0f);
      score_rows(keys.data(), rows, d, query.data(), s.data());
      bool same = true;
      for (std::size_t j = 0; j < rows; ++j) {
        volatile float sum = 0;
        for (std::size_t c = 0; c < d; ++c) {
          volatile float product = keys[j * d + c] * query[8 * c];
          sum = sum + product;
        }
        for (std::size_t l = 0; l < 8; ++l) same = same && s[8 * j + l] == sum;
      }
      for (std::size_t l = 0; l < 8; ++l) same = same && s[8 * rows + l] == 99.0f;
      CAPTURE(d, rows);
      CHECK(same);
    }
  }
}

TEST_CASE("one query's values: summed with the key rising, then folded into what was there, in its lane alone") {
  for (const std::size_t dv : {0, 16, 48, 64}) {
    for (const std::size_t rows : {0, 1, 5, 30}) {
      const std::vector<float> values = Numbers(3).floats(rows * dv, 3), p = Numbers(4).floats(8 * rows);
      const std::vector<float> before = Numbers(5).floats(8 * dv);
      const float alpha = 0.625f;
      std::vector<float> o = before;
      value_rows(values.data(), rows, dv, p.data(), alpha, o.data());
      bool same = true;
      for (std::size_t c = 0; c < dv; ++c) {
        volatile float sum = 0;
        for (std::size_t j = 0; j < rows; ++j) {
          volatile float product = values[j * dv + c] * p[8 * j];
          sum = sum + product;
        }
        volatile float kept = before[8 * c] * alpha;
        same = same && o[8 * c] == kept + sum;
        for (std::size_t l = 1; l < 8; ++l) same = same && o[8 * c + l] == before[8 * c + l];
      }
      CAPTURE(dv, rows);
      CHECK(same);
    }
  }
}
