// Heat maps against their definition, cell by cell in double.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/heat_map.h"
#include "support/attention_case.h"

using namespace posenc;
using namespace posenc_test;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Colours that say their entry.
std::vector<std::uint32_t> entry_table() {
  std::vector<std::uint32_t> table(256);
  for (std::uint32_t e = 0; e < 256; ++e) table[e] = 0xab000000u + 0x10101u * e;
  return table;
}

std::vector<std::uint32_t> painted(const HeatMap& map) {
  std::vector<float> sums(map.columns);
  std::vector<std::int32_t> seen(map.columns);
  std::vector<std::uint32_t> pixels(map.count * map.width + 1, 7u);
  paint(map, sums.data(), seen.data(), pixels.data());
  REQUIRE(pixels.back() == 7u);
  pixels.pop_back();
  return pixels;
}

// The mean of the cells whose pixel is (y, x): a cell belongs to the last pixel that starts no later than it.
double mean_of(const std::vector<float>& values, std::size_t stride, const HeatMap& map, std::size_t y,
               std::size_t x) {
  const auto inside = [](std::size_t cell, std::size_t pixel, std::size_t cells, std::size_t pixels) {
    const auto starts = [&](std::size_t p) { return std::floor(static_cast<double>(p * cells) / pixels); };
    return starts(pixel) <= cell && (pixel + 1 == pixels || cell < starts(pixel + 1));
  };
  double sum = 0;
  int count = 0;
  for (std::size_t r = 0; r < map.rows; ++r) {
    for (std::size_t c = 0; c < map.columns; ++c) {
      if (!inside(r, y, map.rows, map.height) || !inside(c, x, map.columns, map.width)) continue;
      const float value = values[r * stride + c];
      if (!std::isnan(value)) sum += value, ++count;
    }
  }
  return count == 0 ? std::nan("") : sum / count;
}

}  // namespace

TEST_CASE("a heat map: the mean of a pixel's cells, to the nearest entry") {
  const std::vector<std::uint32_t> table = entry_table();
  const std::size_t sizes[][4] = {{1, 1, 1, 1},     {3, 5, 3, 5},      {7, 19, 7, 19},    {8, 16, 4, 8},
                                  {9, 23, 4, 7},    {31, 40, 31, 9},   {40, 31, 11, 31},  {64, 65, 63, 64},
                                  {50, 3, 1, 1},    {2, 129, 1, 128}};
  for (const auto& [rows, columns, height, width] : sizes) {
    const std::size_t stride = columns + 3;
    Numbers numbers(static_cast<std::uint32_t>(rows * columns));
    std::vector<float> values = numbers.floats(rows * stride, 2);
    for (std::size_t n = 0; n < values.size(); n += 1 + numbers.below(4)) values[n] = kNan;
    for (std::size_t c = 0; c < columns; ++c) values[c] = c < columns / 2 ? kNan : values[c];
    // Wider and narrower than the values, which then take the ends.
    for (const float extent : {0.7f, 2.0f, 100.0f}) {
      const HeatMap map{.rows = rows, .columns = columns, .height = height, .width = width, .first = 0,
                        .count = height, .values = values.data(), .stride = stride, .low = -extent,
                        .factor = 127 / extent, .table = table.data()};
      const std::vector<std::uint32_t> pixels = painted(map);
      bool right = true;
      int masked = 0;
      for (std::size_t y = 0; y < height; ++y) {
        for (std::size_t x = 0; x < width; ++x) {
          const std::uint32_t pixel = pixels[y * width + x];
          const double entry = pixel & 255u, mean = mean_of(values, stride, map, y, x);
          right = right && pixel == table[pixel & 255u];
          if (std::isnan(mean)) {
            ++masked;
            right = right && entry == 255;
            continue;
          }
          const double place = std::min(254.0, std::max(0.0, (mean + extent) * (127 / static_cast<double>(extent))));
          right = right && std::abs(place - entry) <= 0.5 + 1e-4;
        }
      }
      CAPTURE(rows, columns, height, width, extent);
      CHECK(right);
      if (width == columns && height == rows && columns > 1) CHECK(masked > 0);
    }
  }
}

TEST_CASE("a heat map: pieces of it are the pieces of the whole") {
  const std::vector<std::uint32_t> table = entry_table();
  const std::size_t rows = 61, columns = 50;
  std::vector<float> values = Numbers(5).floats(rows * columns);
  for (std::size_t n = 3; n < values.size(); n += 7) values[n] = kNan;
  for (const std::size_t height : {13u, 60u, 61u}) {
    HeatMap map{.rows = rows, .columns = columns, .height = height, .width = 17, .first = 0, .count = height,
                .values = values.data(), .stride = columns, .low = -1, .factor = 127, .table = table.data()};
    const std::vector<std::uint32_t> whole = painted(map);
    std::vector<std::uint32_t> pieces;
    for (std::size_t first = 0; first < height; first += map.count) {
      map.first = first;
      map.count = std::min<std::size_t>(5, height - first);
      map.values = values.data() + first_cell(first, rows, height) * columns;
      const std::vector<std::uint32_t> piece = painted(map);
      pieces.insert(pieces.end(), piece.begin(), piece.end());
    }
    CHECK(pieces == whole);
  }
}

TEST_CASE("a heat map: zero is the middle entry, infinities are the ends, ties go to the even entry") {
  const std::vector<std::uint32_t> table = entry_table();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {0, -0.0f, 3, -3, infinity, -infinity, kNan, 1e30f, -3e38f, 0.5f, 1.5f, 2.5f};
  const auto entries = [&](float low, float factor) {
    std::vector<int> found;
    for (const std::uint32_t pixel :
         painted({.rows = 1, .columns = values.size(), .height = 1, .width = values.size(), .first = 0, .count = 1,
                  .values = values.data(), .stride = values.size(), .low = low, .factor = factor,
                  .table = table.data()})) {
      found.push_back(static_cast<int>(pixel & 255u));
    }
    return found;
  };
  CHECK(entries(-3, 127.0f / 3) == std::vector<int>{127, 127, 254, 0, 254, 0, 255, 254, 0, 148, 190, 233});
  CHECK(entries(0, 1) == std::vector<int>{0, 0, 3, 0, 254, 0, 255, 254, 0, 0, 2, 2});
  // What was infinities of both signs has no mean.
  const std::vector<float> both = {infinity, -infinity};
  CHECK(painted({.rows = 1, .columns = 2, .height = 1, .width = 1, .first = 0, .count = 1, .values = both.data(),
                 .stride = 2, .low = 0, .factor = 1, .table = table.data()}) ==
        std::vector<std::uint32_t>{table[255]});
}
