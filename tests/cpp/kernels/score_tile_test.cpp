// Packing and the products of tiles against plain loops in the same order: every bit, every ragged size.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/score_tile.h"
#include "kernels/value_tile.h"
#include "support/attention_case.h"

using namespace posenc;
using namespace posenc_test;

TEST_CASE("rows of four: each column of four rows side by side, missing rows zero") {
  for (const std::size_t rows : {1, 2, 3, 4, 5, 7, 8, 13}) {
    for (const std::size_t columns : {1, 2, 3, 4, 5, 8, 11}) {
      const std::size_t stride = columns + 2, panels = (rows + 3) / 4;
      const std::vector<float> x = Numbers(rows * 100 + columns).floats(rows * stride);
      std::vector<float> packed(panels * 4 * columns + 1, 99.0f);
      pack_panels(x.data(), stride, rows, columns, packed.data());
      bool same = true;
      for (std::size_t r = 0; r < 4 * panels; ++r) {
        for (std::size_t c = 0; c < columns; ++c) {
          const float expected = r < rows ? x[r * stride + c] : 0;
          same = same && packed[(r / 4 * columns + c) * 4 + r % 4] == expected;
        }
      }
      CAPTURE(rows, columns);
      CHECK(same);
      CHECK(packed.back() == 99.0f);
    }
  }
}

TEST_CASE("rows in lanes: scaled, the last row repeated; and back") {
  for (int rows = 1; rows <= 8; ++rows) {
    for (const std::size_t d : {1, 3, 4, 6, 9}) {
      const std::size_t stride = d + 1;
      const std::vector<float> x =
          Numbers(static_cast<std::uint32_t>(rows) * 50 + static_cast<std::uint32_t>(d)).floats(8 * stride);
      std::vector<float> lanes(8 * d + 1, 99.0f), back(8 * stride, 99.0f);
      pack_lanes(x.data(), stride, rows, d, 0.5f, lanes.data());
      bool same = lanes.back() == 99.0f;
      for (std::size_t c = 0; c < d; ++c) {
        for (std::size_t l = 0; l < 8; ++l) {
          const std::size_t row = std::min<std::size_t>(l, static_cast<std::size_t>(rows) - 1);
          same = same && lanes[c * 8 + l] == 0.5f * x[row * stride + c];
        }
      }
      unpack_lanes(lanes.data(), d, rows, back.data(), stride);
      for (std::size_t r = 0; r < 8; ++r) {
        for (std::size_t c = 0; c < stride; ++c) {
          const bool live = r < static_cast<std::size_t>(rows) && c < d;
          same = same && back[r * stride + c] == (live ? 0.5f * x[r * stride + c] : 99.0f);
        }
      }
      CAPTURE(rows, d);
      CHECK(same);
    }
  }
}

TEST_CASE("score tile: every product summed with the channel rising") {
  for (const std::size_t d : {0, 1, 2, 3, 4, 5, 6, 7, 8, 17, 64}) {
    for (const std::size_t rows : {1, 4, 6, 12}) {
      const std::vector<float> k = Numbers(1).floats(rows * d, 3), q = Numbers(2).floats(8 * d, 3);
      const std::size_t panels = (rows + 3) / 4;
      std::vector<float> packed(panels * 4 * d), lanes(8 * d), s(panels * 32);
      pack_panels(k.data(), d, rows, d, packed.data());
      pack_lanes(q.data(), d, 8, d, 1, lanes.data());
      float most[8];
      score_tile(packed.data(), lanes.data(), d, panels, s.data(), most);
      bool same = true;
      float expected[8];  // the largest; a missing row's score is 0
      std::fill(expected, expected + 8, rows % 4 == 0 ? -std::numeric_limits<float>::infinity() : 0.0f);
      for (std::size_t j = 0; j < rows; ++j) {
        for (std::size_t l = 0; l < 8; ++l) {
          volatile float sum = 0;
          for (std::size_t c = 0; c < d; ++c) {
            volatile float product = k[j * d + c] * q[l * d + c];
            sum = sum + product;
          }
          same = same && s[j * 8 + l] == sum;
          expected[l] = std::max(expected[l], static_cast<float>(sum));
        }
      }
      CAPTURE(d, rows);
      CHECK(same);
      CHECK(std::equal(most, most + 8, expected));
    }
  }
}

TEST_CASE("value tile: folded into what was there; guarded, the same bits and no more than what is seen") {
  for (const std::size_t rows : {0, 1, 3, 5, 8, 21}) {
    for (const std::size_t dv : {1, 2, 4, 7, 12}) {
      const std::size_t panels = (dv + 3) / 4, stride = rows + 3;
      std::vector<float> v = Numbers(3).floats(rows * dv, 3), p = Numbers(4).floats(rows * 8);
      const std::vector<float> alpha = Numbers(5).floats(8), before = Numbers(6).floats(panels * 32);
      std::vector<unsigned char> visible(rows);
      for (std::size_t j = 0; j < rows; ++j) {
        visible[j] = static_cast<unsigned char>(j * 77 + 13);
        for (std::size_t l = 0; l < 8; ++l) p[j * 8 + l] = visible[j] >> l & 1 ? std::abs(p[j * 8 + l]) : 0;
      }
      std::vector<float> packed(panels * stride * 4), o = before, guarded = before;
      pack_values(v.data(), dv, rows, dv, 0.25f, stride, packed.data());
      value_tile(packed.data(), stride, p.data(), rows, panels, alpha.data(), o.data());
      value_tile_guarded(packed.data(), stride, p.data(), visible.data(), rows, panels, alpha.data(), guarded.data());
      bool same = true;
      for (std::size_t c = 0; c < dv; ++c) {
        for (std::size_t l = 0; l < 8; ++l) {
          volatile float sum = 0;
          for (std::size_t j = 0; j < rows; ++j) {
            volatile float product = v[j * dv + c] * 0.25f * p[j * 8 + l];
            sum = sum + product;
          }
          volatile float kept = before[c * 8 + l] * alpha[l];
          same = same && o[c * 8 + l] == kept + sum && guarded[c * 8 + l] == o[c * 8 + l];
        }
      }
      CAPTURE(rows, dv);
      CHECK(same);
      if (rows < 3) continue;
      v[dv * 2] = std::numeric_limits<float>::quiet_NaN();  // channel 0 of row 2, which lanes of 77 * 2 + 13 see
      pack_values(v.data(), dv, rows, dv, 0.25f, stride, packed.data());
      guarded = before;
      value_tile_guarded(packed.data(), stride, p.data(), visible.data(), rows, panels, alpha.data(), guarded.data());
      for (std::size_t l = 0; l < 8; ++l) CHECK((guarded[l] != guarded[l]) == ((visible[2] >> l & 1) != 0));
    }
  }
}
