// The packed product against plain loops in the order its header states: every bit, ragged sizes, all layouts.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/product.h"
#include "support/attention_case.h"

using namespace posenc;
using namespace posenc_test;

namespace {

struct Stored {
  std::vector<float> data;
  Factor factor;
  float at(std::size_t r, std::size_t c) const {
    return data[factor.transposed ? c * factor.stride + r : r * factor.stride + c];
  }
};

Stored random_stored(std::uint32_t seed, std::size_t rows, std::size_t columns, bool transposed) {
  Stored m;
  const std::size_t width = (transposed ? rows : columns) + 3;
  m.data = Numbers(seed).floats(width * (transposed ? columns : rows) + 1);
  m.factor = {m.data.data(), width, transposed};
  return m;
}

// In float32, by the order of the header; and beside it in double, with the sum of magnitudes for a bound.
float plain(const Stored& a, const Stored& b, std::size_t i, std::size_t j, std::size_t k, double& exact,
            double& size) {
  float total = 0;
  exact = 0, size = 0;
  for (std::size_t first = 0; first < k; first += kProductDepth) {
    float sum = 0;
    for (std::size_t c = first; c < std::min(first + kProductDepth, k); ++c) {
      sum = sum + a.at(i, c) * b.at(c, j);
      const double term = static_cast<double>(a.at(i, c)) * b.at(c, j);
      exact += term, size += std::abs(term);
    }
    total = first == 0 ? sum : total + sum;
  }
  return total;
}

bool same_bits(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

}  // namespace

TEST_CASE("product: every bit as the plain loop, whatever the sizes, strides and layouts") {
  const std::size_t shapes[][3] = {{1, 1, 1},   {1, 7, 8},    {4, 8, 8},    {5, 9, 9},     {3, 513, 2},  {13, 1, 17},
                                   {8, 0, 8},   {0, 4, 4},    {4, 4, 0},    {129, 5, 11},  {6, 3, 1025}, {37, 64, 41},
                                   {1, 600, 3}, {130, 9, 26}, {9, 1100, 8}, {260, 2, 1033}};
  for (const auto& [m, k, n] : shapes) {
    for (int layout = 0; layout < 4; ++layout) {
      CAPTURE(m, k, n, layout);
      const Stored a = random_stored(1, m, k, layout & 1), b = random_stored(2, k, n, layout & 2);
      const std::size_t stride = n + 2;
      std::vector<float> out(m * stride + 1, 99.0f), scratch(product_scratch(m, k, n) + 1, 77.0f);
      product(a.factor, b.factor, m, k, n, out.data(), stride, scratch.data());
      bool same = scratch.back() == 77.0f, near = true, untouched = out.back() == 99.0f;
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < stride; ++j) {
          if (j >= n) {
            untouched = untouched && out[i * stride + j] == 99.0f;
            continue;
          }
          double exact = 0, size = 0;
          same = same && same_bits(out[i * stride + j], plain(a, b, i, j, k, exact, size));
          near = near && std::abs(out[i * stride + j] - exact) <= 2e-5 * size;
        }
      }
      CHECK(same);
      CHECK(near);
      CHECK(untouched);
    }
  }
}

TEST_CASE("product with itself: every bit as the product with its transpose, and symmetric") {
  const std::size_t shapes[][2] = {{1, 1}, {3, 5}, {4, 4},   {8, 8},    {9, 17},  {31, 600},
                                   {0, 3}, {7, 0}, {133, 6}, {257, 12}, {100, 1}, {1100, 3}};
  for (const auto& [m, k] : shapes) {
    for (const bool transposed : {false, true}) {
      CAPTURE(m, k, transposed);
      const Stored a = random_stored(3, m, k, transposed);
      const Factor other{a.factor.data, a.factor.stride, !transposed};
      const std::size_t stride = m + 1;
      std::vector<float> whole(m * stride, 5.0f), half(m * stride, 5.0f), scratch(product_scratch(m, k, m));
      product(a.factor, other, m, k, m, whole.data(), stride, scratch.data());
      product_with_itself(a.factor, m, k, half.data(), stride, scratch.data());
      CHECK((m == 0 || std::memcmp(whole.data(), half.data(), whole.size() * sizeof(float)) == 0));
      bool symmetric = true;
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          symmetric = symmetric && same_bits(half[i * stride + j], half[j * stride + i]);
        }
      }
      CHECK(symmetric);
    }
  }
}
