#include "kernels/frequencies.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

namespace posenc {
namespace {

// Exponent of |a / b - 1|.
int relative_exponent(const MultiFloat& a, const MultiFloat& b) {
  const MultiFloat difference = (a - b) / b;
  return difference.is_zero() ? -1000 : difference.exponent();
}

TEST_CASE("a power law satisfies omega^dim = base^(-2 i) to 190 bits") {
  const double base = GENERATE(10000.0, 500000.0, 1e12, 2.5, 0.01, 10000.1);
  const std::int64_t dim = GENERATE(1, 2, 3, 50, 64, 511, 512);
  const auto pairs = static_cast<std::size_t>((dim + 1) / 2);
  const auto f = Frequencies::power_law(base, dim, pairs);
  REQUIRE(f->pairs() == pairs);
  CHECK(f->omega(0) == 1.0);
  for (std::size_t i = 1; i < pairs; i += 1 + pairs / 9) {
    const MultiFloat left = power(f->angular(i), dim);
    const MultiFloat right = power(MultiFloat(base), -2 * static_cast<std::int64_t>(i));
    REQUIRE(relative_exponent(left, right) < -190);
    const double expected = std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(dim));
    REQUIRE(f->omega(i) == Approx(expected).epsilon(1e-12));
  }
}

TEST_CASE("round powers come out exactly") {
  const auto f = Frequencies::power_law(10000, 8, 4);
  CHECK(f->omega(0) == 1.0);
  CHECK(f->omega(1) == 0.1);
  CHECK(f->omega(2) == 0.01);
  CHECK(f->omega(3) == 0.001);
}

TEST_CASE("the timing law ends on both timescales") {
  const auto f = Frequencies::timing(1, 10000, 16);
  CHECK(f->omega(0) == 1.0);
  CHECK(f->omega(15) == 1e-4);
  CHECK(f->omega(5) == Approx(std::pow(10000.0, -5.0 / 15.0)).epsilon(1e-15));
  CHECK(Frequencies::timing(1, 10000, 1)->omega(0) == 1.0);
  const auto scaled = Frequencies::timing(2, 50, 3);
  CHECK(scaled->omega(0) == 2.0);
  CHECK(scaled->omega(2) == Approx(2.0 * 2.0 / 50.0).epsilon(1e-15));
}

TEST_CASE("lists are taken as they are") {
  const std::vector<double> omegas = {1, 0, -0.5, 1e-7, 3.25e10, 1e-310, 0x1p64};
  const auto f = Frequencies::list(omegas);
  for (std::size_t i = 0; i < omegas.size(); ++i) CHECK(f->omega(i) == omegas[i]);
  CHECK(Frequencies::list({})->pairs() == 0);
}

TEST_CASE("a law asked for again is the same object, among the last eight") {
  const auto first = Frequencies::power_law(777, 64, 32);
  CHECK(Frequencies::power_law(777, 64, 32) == first);
  CHECK(Frequencies::power_law(777, 64, 31) != first);
  for (int n = 0; n < 8; ++n) Frequencies::power_law(1000 + n, 16, 8);
  const auto again = Frequencies::power_law(777, 64, 32);
  CHECK(again != first);
  for (std::size_t i = 0; i < 32; ++i) REQUIRE(again->omega(i) == first->omega(i));
}

TEST_CASE("context extension can be composed in multiprecision") {
  // ntk: base * factor^(d / (d - 2)), whose last frequency is that of the old base divided by the factor.
  const std::int64_t dim = 64;
  const MultiFloat factor(8.0), base(10000.0);
  const MultiFloat stretched = base * root(power(factor, dim), dim - 2);
  const auto f = Frequencies::angular(power_law(stretched, dim, 32));
  const auto old = Frequencies::power_law(10000, dim, 32);
  CHECK(f->omega(0) == 1.0);
  CHECK(relative_exponent(f->angular(31) * factor, old->angular(31)) < -230);
  // A blend of two laws.
  const MultiFloat r(0.25), one(1.0);
  const std::vector<MultiFloat> blend = {(one - r) * old->angular(3) / factor + r * old->angular(3)};
  CHECK(Frequencies::angular(blend)->omega(0) == Approx(old->omega(3) * (0.75 / 8 + 0.25)).epsilon(1e-15));
}

}  // namespace
}  // namespace posenc
