// What holds of tables beside their accuracy (sincos_mpfr_test.cpp): bits that do not depend on neighbours, layouts,
// edges.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/sincos.h"

namespace posenc {
namespace {

std::vector<float> table_of(const Frequencies& f, const std::vector<double>& positions, double scale = 1) {
  const std::size_t columns = 2 * f.pairs();
  std::vector<float> out(positions.size() * columns, -7.0f);
  fill_sin_cos(f, positions, SinCosTable<float>::interleaved(out.data(), columns, columns, PairOrder::kSinCos), scale);
  return out;
}

std::vector<double> rise(double start, double step, int count) {
  std::vector<double> list;
  for (int t = 0; t < count; ++t) list.push_back(start + step * t);
  return list;
}

TEST_CASE("a row has the same bits in a table and alone") {
  const double base = GENERATE(100.0, 1e4, 1e6, 1e12);
  const auto f = Frequencies::power_law(base, 44, 22);
  const double scale = GENERATE(1.0, -0.37, 1e-40);
  const std::vector<std::vector<double>> lists = {
      rise(0, 1, 300),      rise(5, 1, 9),      rise(-40, 1, 77),         rise(1e9, 1, 33),   rise(7, -1, 31),
      rise(0.5, 0.25, 65),  rise(-3, 0, 5),     rise(4503599627370496.0, 1, 20), rise(100, 1000, 50), rise(0, 0.1, 40),
      rise(592, 1, 50),     rise(4096, 1, 300), rise(65376, 1, 200),      rise(-96, -2, 40),  rise(20, 0.25, 40),
      rise(24, 1, 20),      rise(48, -1, 60),   rise(1.6, 0.1, 40),
      rise(1e-9, 0x1p-40, 40), {0, 1, 2, 7, 8, 9, 9, 9, 3, 0, 1, 2, 3, 0, 1, 2, 3}};
  for (const auto& positions : lists) {
    const std::vector<float> table = table_of(*f, positions, scale);
    std::size_t different = 0;
    for (std::size_t t = 0; t < positions.size(); ++t) {
      const std::vector<float> row = table_of(*f, {positions[t]}, scale);
      different += std::memcmp(row.data(), table.data() + t * 44, 44 * sizeof(float)) != 0;
    }
    INFO("from " << positions.front() << ", " << positions.size() << " rows, scale " << scale);
    CHECK(different == 0);
  }
}

TEST_CASE("a run of more than one stretch joins without a seam") {
  const auto f = Frequencies::power_law(1e4, 8, 4);
  const std::vector<double> positions = rise(-1000, 1, 66000);
  const std::vector<float> table = table_of(*f, positions);
  std::size_t different = 0;
  for (std::size_t t = 65500; t < positions.size(); ++t) {
    const std::vector<float> row = table_of(*f, {positions[t]});
    different += std::memcmp(row.data(), table.data() + t * 8, 8 * sizeof(float)) != 0;
  }
  CHECK(different == 0);
}

TEST_CASE("small angles agree with the library's double functions") {
  const auto f = Frequencies::power_law(10000, 16, 8);
  const std::vector<double> positions = rise(-20, 1, 60);
  const std::vector<float> table = table_of(*f, positions);
  for (std::size_t t = 0; t < positions.size(); ++t) {
    for (std::size_t i = 0; i < 8; ++i) {
      const double angle = positions[t] * std::pow(10000.0, -2.0 * static_cast<double>(i) / 16.0);
      REQUIRE(std::fabs(table[t * 16 + 2 * i] - std::sin(angle)) < 3.1e-8);
      REQUIRE(std::fabs(table[t * 16 + 2 * i + 1] - std::cos(angle)) < 3.1e-8);
    }
  }
}

TEST_CASE("layouts and orders are permutations of one table") {
  const auto columns = static_cast<std::size_t>(GENERATE(1, 2, 7, 16, 31));
  const auto f = Frequencies::power_law(500, 31, 16);
  const std::size_t first = (columns + 1) / 2, second = columns / 2, stride = columns + 3, rows = 40;
  const std::vector<double> positions = rise(3, 1, static_cast<int>(rows));
  const std::vector<float> plain = table_of(*f, positions);  // 32 columns
  for (const PairOrder order : {PairOrder::kSinCos, PairOrder::kCosSin}) {
    for (const bool half : {false, true}) {
      std::vector<float> out(rows * stride, 9.0f);
      const auto table = half ? SinCosTable<float>::half(out.data() + 1, stride, columns, order)
                              : SinCosTable<float>::interleaved(out.data() + 1, stride, columns, order);
      fill_sin_cos(*f, positions, table);
      std::size_t wrong = 0;
      for (std::size_t t = 0; t < rows; ++t) {
        const float* row = out.data() + t * stride;
        wrong += row[0] != 9.0f || row[columns + 1] != 9.0f || row[columns + 2] != 9.0f;  // nothing beside the table
        for (std::size_t c = 0; c < columns; ++c) {
          const bool is_first = half ? c < first : c % 2 == 0;
          const std::size_t pair = half ? (is_first ? c : c - first) : c / 2;
          const bool is_sin = is_first == (order == PairOrder::kSinCos);
          wrong += row[c + 1] != plain[t * 32 + 2 * pair + (is_sin ? 0 : 1)];
        }
      }
      INFO(columns << " columns, half " << half << ", sines first " << (order == PairOrder::kSinCos));
      CHECK(wrong == 0);
      CHECK(first + second == columns);
    }
  }
}

TEST_CASE("separate tables, pair strides of any size, and float64") {
  const auto f = Frequencies::timing(1, 1e4, 9);
  const std::vector<double> positions = rise(-2, 1, 21);
  const std::vector<float> plain = table_of(*f, positions);
  std::vector<float> sin(positions.size() * 9), cos(sin.size()), loose(positions.size() * 60, 5.0f);
  fill_sin_cos(*f, positions, SinCosTable<float>::separate(cos.data(), sin.data(), 9, 9));
  fill_sin_cos(*f, positions, SinCosTable<float>{loose.data(), loose.data() + 1, 60, 6, 9, 4});
  std::vector<double> wide(positions.size() * 18);
  fill_sin_cos(*f, positions, SinCosTable<double>::interleaved(wide.data(), 18, 18, PairOrder::kSinCos));
  for (std::size_t t = 0; t < positions.size(); ++t) {
    for (std::size_t i = 0; i < 9; ++i) {
      const float s = plain[t * 18 + 2 * i], c = plain[t * 18 + 2 * i + 1];
      REQUIRE(sin[t * 9 + i] == s);
      REQUIRE(cos[t * 9 + i] == c);
      REQUIRE(loose[t * 60 + 6 * i] == s);
      REQUIRE(loose[t * 60 + 6 * i + 1] == (i < 4 ? c : 5.0f));
      REQUIRE(static_cast<float>(wide[t * 18 + 2 * i]) == s);
      REQUIRE(static_cast<float>(wide[t * 18 + 2 * i + 1]) == c);
      REQUIRE(wide[t * 18 + 2 * i] == Approx(std::sin(positions[t] * f->omega(i))).margin(1e-15));
    }
  }
}

TEST_CASE("zeros are positive, symmetric positions give symmetric values, nothing is written for no tokens") {
  const auto f = Frequencies::list(std::vector<double>{1.0, 0.0, 0.25, 0.0, 3.0});
  const std::vector<float> table = table_of(*f, rise(-30, 1, 61), -1.0);
  for (std::size_t t = 0; t < 61; ++t) {
    for (std::size_t c = 0; c < 10; ++c) {
      const float v = table[t * 10 + c], mirrored = table[(60 - t) * 10 + c];
      REQUIRE((v != 0 || !std::signbit(v)));
      REQUIRE(v == (c % 2 == 0 ? -mirrored : mirrored));
    }
    REQUIRE(table[t * 10 + 2] == 0.0f);
    REQUIRE(table[t * 10 + 3] == -1.0f);
  }
  const std::vector<float> none = table_of(*f, rise(0, 1, 20), 0.0);
  CHECK(std::all_of(none.begin(), none.end(), [](float v) { return v == 0 && !std::signbit(v); }));
  float untouched = 4;
  fill_sin_cos(*f, {}, SinCosTable<float>::interleaved(&untouched, 10, 10, PairOrder::kSinCos));
  CHECK(untouched == 4);
}

}  // namespace
}  // namespace posenc
