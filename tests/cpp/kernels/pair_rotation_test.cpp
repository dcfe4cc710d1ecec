#include "kernels/pair_rotation.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <complex>
#include <cstring>
#include <vector>

#include "core/random.h"

namespace posenc {
namespace {

template <class Real>
std::vector<Real> numbers(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Real> list(count);
  for (Real& v : list) v = static_cast<Real>(2 * random.uniform() - 1);
  return list;
}

TEMPLATE_TEST_CASE("pairs turn as complex numbers do", "", float, double) {
  using Real = TestType;
  const auto layout = GENERATE(PairLayout::kInterleaved, PairLayout::kHalf);
  const auto pairs = static_cast<std::size_t>(GENERATE(0, 1, 2, 3, 4, 5, 8, 11, 32));
  const auto rest = static_cast<std::size_t>(GENERATE(0, 1, 6));
  const bool inverse = GENERATE(false, true);
  const std::size_t tokens = 5, width = 2 * pairs + rest, stride = width + 3, table_stride = pairs + 1;
  const std::vector<Real> x = numbers<Real>(tokens * stride, 1), angles = numbers<Real>(tokens * table_stride, 2);
  std::vector<Real> cos(angles.size()), sin(angles.size()), y(tokens * stride, Real(9));
  for (std::size_t n = 0; n < angles.size(); ++n) {
    cos[n] = std::cos(3 * angles[n]);
    sin[n] = std::sin(3 * angles[n]);
  }
  const PairRotation<Real> rotation{layout, tokens, width, pairs, cos.data(), sin.data(), table_stride, inverse};
  rotate_pairs(rotation, x.data(), stride, y.data(), stride);
  std::vector<Real> in_place = x;
  rotate_pairs(rotation, in_place.data(), stride, in_place.data(), stride);
  const double tolerance = std::is_same_v<Real, float> ? 2e-7 : 1e-15;
  std::size_t wrong = 0;
  for (std::size_t t = 0; t < tokens; ++t) {
    const Real *from = x.data() + t * stride, *to = y.data() + t * stride;
    for (std::size_t i = 0; i < pairs; ++i) {
      const bool half = layout == PairLayout::kHalf;
      const std::size_t a = half ? i : 2 * i, b = half ? i + pairs : a + 1;
      const std::complex<double> z(from[a], from[b]), turn(cos[t * table_stride + i], sin[t * table_stride + i]);
      const std::complex<double> expected = z * (inverse ? std::conj(turn) : turn);
      wrong += std::abs(expected - std::complex<double>(to[a], to[b])) > tolerance;
    }
    for (std::size_t c = 2 * pairs; c < width; ++c) wrong += to[c] != from[c];
    for (std::size_t c = width; c < stride; ++c) wrong += to[c] != Real(9);
    wrong += width > 0 && std::memcmp(to, in_place.data() + t * stride, width * sizeof(Real)) != 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a pair has the same bits in a group of four and alone") {
  const std::vector<float> x = numbers<float>(22, 3), angle = numbers<float>(11, 4);
  std::vector<float> cos(11), sin(11), y(22), z(22);
  for (std::size_t i = 0; i < 11; ++i) cos[i] = std::cos(angle[i]), sin[i] = std::sin(angle[i]);
  for (const bool inverse : {false, true}) {
    const PairRotation<float> all{PairLayout::kInterleaved, 1, 22, 11, cos.data(), sin.data(), 11, inverse};
    rotate_pairs(all, x.data(), 22, y.data(), 22);
    for (std::size_t i = 0; i < 11; ++i) {
      const PairRotation<float> one{PairLayout::kHalf, 1, 2, 1, &cos[i], &sin[i], 1, inverse};
      rotate_pairs(one, &x[2 * i], 2, &z[2 * i], 2);
    }
    CHECK(std::memcmp(y.data(), z.data(), sizeof(float) * 22) == 0);
  }
}

}  // namespace
}  // namespace posenc
