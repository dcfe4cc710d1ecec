// Golden bits of the functions that tables, rotations, softmax and seeded values are made of.
#include <catch2/catch.hpp>

#include <limits>
#include <vector>

#include "core/random.h"
#include "kernels/heat_map.h"
#include "kernels/normal.h"
#include "kernels/pair_rotation.h"
#include "kernels/product.h"
#include "kernels/row_softmax.h"
#include "simd/math.h"
#include "support/hashes.h"

namespace posenc {

TEST_CASE("exp has the same bits in every build") {
  std::vector<float> y;
  for (int n = 0; n < 40000; n += 4) {
    float x[4], v[4];
    for (int k = 0; k < 4; ++k) x[k] = static_cast<float>(n + k) * (193.0f / 40000.0f) - 104.0f;
    simd::store(v, simd::exp(simd::load(x)));
    y.insert(y.end(), v, v + 4);
  }
  testing::check_hash("simd/exp", y.data(), y.size());
}

TEST_CASE("tanh has the same bits in every build") {
  std::vector<float> y;
  for (int n = 0; n < 40000; n += 4) {
    float x[4], v[4];
    for (int k = 0; k < 4; ++k) x[k] = static_cast<float>(n + k) * (22.0f / 40000.0f) - 11.0f;
    simd::store(v, simd::tanh(simd::load(x)));
    y.insert(y.end(), v, v + 4);
  }
  testing::check_hash("simd/tanh", y.data(), y.size());
}

TEST_CASE("exp and log of doubles have the same bits in every build") {
  Random random(3);
  std::vector<double> y;
  for (int n = 0; n < 5000; ++n) {
    y.push_back(simd::exp_double(1500 * random.uniform() - 750));
    y.push_back(simd::log_double(random.uniform() * simd::power_of_two(static_cast<int>(random.below(1800)) - 900)));
    const simd::SinCos v = simd::sin_cos_turns(100 * random.uniform());
    y.push_back(v.sin);
    y.push_back(v.cos);
  }
  testing::check_hash("simd/double-functions", y.data(), y.size());
}

TEST_CASE("normal deviates have the same bits in every build") {
  std::vector<float> z(5001);
  fill_normal(z, 12345, 6, 0, 0.02);
  testing::check_hash("normal/seed-12345", z.data(), z.size());
}

TEST_CASE("rotated pairs have the same bits in every build") {
  std::vector<float> x(16 * 46), cos(16 * 23), sin(16 * 23);
  fill_normal(x, 1);
  fill_normal(cos, 2);
  fill_normal(sin, 3);
  std::vector<float> all;
  for (const PairLayout layout : {PairLayout::kInterleaved, PairLayout::kHalf}) {
    for (const bool inverse : {false, true}) {
      std::vector<float> y(x.size());
      const PairRotation<float> rotation{layout, 16, 46, 22, cos.data(), sin.data(), 23, inverse};
      rotate_pairs(rotation, x.data(), 46, y.data(), 46);
      all.insert(all.end(), y.begin(), y.end());
    }
  }
  testing::check_hash("pair-rotation/float32", all.data(), all.size());
}

TEST_CASE("products and softmax of rows have the same bits in every build") {
  const std::size_t m = 29, k = 530, n = 27;
  std::vector<float> a(m * k), b(k * n), c(m * n), square(m * m), all;
  fill_normal(a, 4);
  fill_normal(b, 5);
  std::vector<float> scratch(product_scratch(m, k, 29));
  product({a.data(), k}, {b.data(), n}, m, k, n, c.data(), n, scratch.data());
  product_with_itself({a.data(), k}, m, k, square.data(), m, scratch.data());
  all.insert(all.end(), c.begin(), c.end());
  all.insert(all.end(), square.begin(), square.end());
  softmax_rows(c.data(), n, m, n, c.data(), n);
  all.insert(all.end(), c.begin(), c.end());
  testing::check_hash("product/float32", all.data(), all.size());
}

TEST_CASE("a heat map has the same bits in every build") {
  const std::size_t rows = 150, columns = 131;
  std::vector<float> values(rows * columns), sums(columns);
  std::vector<std::int32_t> seen(columns);
  fill_normal(values, 6);
  for (std::size_t n = 1; n < values.size(); n += 5) values[n] = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::uint32_t> table(256), all;
  for (std::uint32_t e = 0; e < 256; ++e) table[e] = 0x01010101u * e;
  for (const std::size_t side : {1u, 10u, 77u, 130u, 131u}) {
    std::vector<std::uint32_t> pixels(side * side);
    paint({.rows = rows, .columns = columns, .height = side, .width = side, .first = 0, .count = side,
           .values = values.data(), .stride = columns, .low = -1.1f, .factor = 115.3f, .table = table.data()},
          sums.data(), seen.data(), pixels.data());
    all.insert(all.end(), pixels.begin(), pixels.end());
  }
  testing::check_hash("heat-map/colours", all.data(), all.size());
}

}  // namespace posenc
