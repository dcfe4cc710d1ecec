// Every word of the vocabulary against the plain formula, lane by lane, on ordinary and on awkward numbers.
#include "simd/f32x4.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace posenc::simd {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

const std::vector<float> kNumbers = {0.0f,   -0.0f, 1.0f,      -1.0f,      1.5f,      -2.5f,  3.25f,
                                     1e-40f, 1e38f, kInfinity, -kInfinity, kNaN,      0.1f,   -7e-3f,
                                     16777216.0f, -1e-45f};

bool same_bits(float a, float b) {
  if (std::isnan(a) && std::isnan(b)) return true;
  return std::memcmp(&a, &b, sizeof a) == 0;
}

struct Lanes {
  float v[4];
  explicit Lanes(F32x4 a) { store(v, a); }
};
struct Whole {
  std::int32_t v[4];
  explicit Whole(I32x4 a) { store_int(v, a); }
};

// Calls test(a, b, lanes of a, lanes of b) for all pairs of numbers, four at a time.
template <class Test>
void for_pairs(Test test) {
  std::vector<float> a, b;
  for (const float x : kNumbers) {
    for (const float y : kNumbers) a.push_back(x), b.push_back(y);
  }
  REQUIRE(a.size() % 4 == 0);
  for (std::size_t n = 0; n < a.size(); n += 4) test(load(&a[n]), load(&b[n]), &a[n], &b[n]);
}

TEST_CASE("f32x4 arithmetic, minimum and maximum") {
  for_pairs([](F32x4 a, F32x4 b, const float* x, const float* y) {
    const Lanes sum(a + b), difference(a - b), product(a * b), quotient(a / b), least(min(a, b)), most(max(a, b));
    const Lanes negated(-a), size(abs(a)), root(sqrt(a));
    for (int n = 0; n < 4; ++n) {
      INFO(x[n] << " and " << y[n]);
      CHECK(same_bits(sum.v[n], x[n] + y[n]));
      CHECK(same_bits(difference.v[n], x[n] - y[n]));
      CHECK(same_bits(product.v[n], x[n] * y[n]));
      CHECK(same_bits(quotient.v[n], x[n] / y[n]));
      CHECK(same_bits(least.v[n], y[n] < x[n] ? y[n] : x[n]));
      CHECK(same_bits(most.v[n], x[n] < y[n] ? y[n] : x[n]));
      CHECK(same_bits(negated.v[n], -x[n]));
      CHECK(same_bits(size.v[n], std::fabs(x[n])));
      CHECK(same_bits(root.v[n], std::sqrt(x[n])));
    }
  });
}

TEST_CASE("f32x4 comparison and selection") {
  for_pairs([](F32x4 a, F32x4 b, const float* x, const float* y) {
    const Whole equal(a == b), different(a != b), below(a < b), at_most(a <= b), above(a > b), at_least(a >= b);
    const Lanes chosen(select(a < b, a, b)), kept(keep(a < b, a));
    bool any_below = false, all_below = true;
    for (int n = 0; n < 4; ++n) {
      INFO(x[n] << " and " << y[n]);
      CHECK(equal.v[n] == (x[n] == y[n] ? -1 : 0));
      CHECK(different.v[n] == (x[n] != y[n] ? -1 : 0));
      CHECK(below.v[n] == (x[n] < y[n] ? -1 : 0));
      CHECK(at_most.v[n] == (x[n] <= y[n] ? -1 : 0));
      CHECK(above.v[n] == (x[n] > y[n] ? -1 : 0));
      CHECK(at_least.v[n] == (x[n] >= y[n] ? -1 : 0));
      CHECK(same_bits(chosen.v[n], x[n] < y[n] ? x[n] : y[n]));
      CHECK(same_bits(kept.v[n], x[n] < y[n] ? x[n] : 0.0f));
      any_below |= x[n] < y[n];
      all_below &= x[n] < y[n];
    }
    CHECK(any(a < b) == any_below);
    CHECK(all(a < b) == all_below);
  });
}

TEST_CASE("f32x4 integers") {
  const I32x4 a = make_int(1, -2, 0x7fffffff, -2147483647 - 1), b = make_int(3, -2, 1, -1);
  const Whole sum(a + b), difference(a - b), both(a & b), either(a | b), odd(a ^ b), without(and_not(a, b));
  const Whole left(shift_left<3>(a)), right(shift_right<3>(a)), equal(a == b), above(a > b), below(a < b);
  const std::int32_t x[] = {1, -2, 0x7fffffff, -2147483647 - 1}, y[] = {3, -2, 1, -1};
  for (int n = 0; n < 4; ++n) {
    const auto u = static_cast<std::uint32_t>(x[n]), w = static_cast<std::uint32_t>(y[n]);
    CHECK(sum.v[n] == static_cast<std::int32_t>(u + w));
    CHECK(difference.v[n] == static_cast<std::int32_t>(u - w));
    CHECK(both.v[n] == static_cast<std::int32_t>(u & w));
    CHECK(either.v[n] == static_cast<std::int32_t>(u | w));
    CHECK(odd.v[n] == static_cast<std::int32_t>(u ^ w));
    CHECK(without.v[n] == static_cast<std::int32_t>(u & ~w));
    CHECK(left.v[n] == static_cast<std::int32_t>(u << 3));
    CHECK(right.v[n] == (x[n] < 0 ? -((-(static_cast<std::int64_t>(x[n])) + 7) / 8) : x[n] / 8));
    CHECK(equal.v[n] == (x[n] == y[n] ? -1 : 0));
    CHECK(above.v[n] == (x[n] > y[n] ? -1 : 0));
    CHECK(below.v[n] == (x[n] < y[n] ? -1 : 0));
  }
  CHECK(lane<2>(select(splat_int(-1), a, b)) == 0x7fffffff);
  const Whole cut(to_int(make(1.9f, -1.9f, 2147483520.0f, -0.5f)));
  CHECK((cut.v[0] == 1 && cut.v[1] == -1 && cut.v[2] == 2147483520 && cut.v[3] == 0));
  const Lanes back(to_float(make_int(3, -4, 16777217, 0)));
  CHECK((back.v[0] == 3 && back.v[1] == -4 && back.v[2] == 16777216.0f && back.v[3] == 0));
  const Whole nearest(round_to_int(make(2.5f, 3.5f, -0.5f, -1234567.75f)));
  CHECK((nearest.v[0] == 2 && nearest.v[1] == 4 && nearest.v[2] == 0 && nearest.v[3] == -1234568));
  const I32x4 pattern = bits(make(1.0f, -0.0f, 2.0f, 0.0f));
  CHECK((lane<0>(pattern) == 0x3f800000 && lane<1>(pattern) == -2147483647 - 1));
  CHECK(lane<2>(float_of_bits(pattern)) == 2.0f);
}

TEST_CASE("f32x4 shuffles, reductions and partial memory") {
  const F32x4 a = make(0, 1, 2, 3), b = make(10, 11, 12, 13);
  const auto is = [](F32x4 got, float p, float q, float r, float s) {
    const Lanes g(got);
    return g.v[0] == p && g.v[1] == q && g.v[2] == r && g.v[3] == s;
  };
  CHECK(is(zip_low(a, b), 0, 10, 1, 11));
  CHECK(is(zip_high(a, b), 2, 12, 3, 13));
  CHECK(is(even(a, b), 0, 2, 10, 12));
  CHECK(is(odd(a, b), 1, 3, 11, 13));
  CHECK(is(low_low(a, b), 0, 1, 10, 11));
  CHECK(is(high_high(a, b), 2, 3, 12, 13));
  CHECK(is(swap_pairs(a), 1, 0, 3, 2));
  CHECK(is(twice_even(a), 0, 0, 2, 2));
  CHECK(is(twice_odd(a), 1, 1, 3, 3));
  CHECK(is(reverse(a), 3, 2, 1, 0));
  CHECK(is(splat_lane<2>(b), 12, 12, 12, 12));
  CHECK((lane<0>(b) == 10 && lane<1>(b) == 11 && lane<2>(b) == 12 && lane<3>(b) == 13));
  F32x4 r0 = a, r1 = b, r2 = make(20, 21, 22, 23), r3 = make(30, 31, 32, 33);
  transpose(r0, r1, r2, r3);
  CHECK((is(r0, 0, 10, 20, 30) && is(r1, 1, 11, 21, 31) && is(r2, 2, 12, 22, 32) && is(r3, 3, 13, 23, 33)));
  // The order shows: (1e8 - 1e8) + (1 + 1), where left to right would lose a one.
  CHECK(sum(make(1e8f, 1, -1e8f, 1)) == 2.0f);
  CHECK(largest(make(3, -1, 7, 2)) == 7.0f);
  CHECK(smallest(make(3, -1, 7, 2)) == -1.0f);
  const float five = 5;
  CHECK(is(load_splat(&five), 5, 5, 5, 5));
  const float memory[] = {1, 2, 3, 4};
  CHECK(is(load_part(memory, 3), 1, 2, 3, 0));
  CHECK(is(load_part(memory, 0), 0, 0, 0, 0));
  float target[] = {9, 9, 9, 9};
  store_part(target, a, 2);
  CHECK((target[0] == 0 && target[1] == 1 && target[2] == 9 && target[3] == 9));
  F32x4 c = a;
  c += b;
  c *= splat(2.0f);
  c -= a;
  CHECK(is(c, 20, 23, 26, 29));
}

}  // namespace
}  // namespace posenc::simd
