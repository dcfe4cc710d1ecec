// The six terms of the expansion against differences of the same model, written plainly in MPFR with 600 bits: steps of
// 2^-120 leave errors far below a double's.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

#include "analysis/expansion.h"
#include "kernels/normal.h"
#include "support/big.h"
#include "support/property.h"

using namespace posenc;
using posenc_test::Big;
using posenc_test::Dice;
using posenc_test::property;

namespace {

// f of the doc comment, straight from it.
Big model(const Expansion& given, const Big& a, const Big& b) {
  const std::size_t tokens = given.tokens, d = given.dim;
  const auto drawn = [&](std::size_t count, std::uint64_t stream, double spread) {
    std::vector<double> list(count);
    fill_normal(std::span(list), given.seed, stream, 0, spread);
    return std::vector<Big>(list.begin(), list.end());
  };
  const double spread = 1 / std::sqrt(static_cast<double>(d));
  std::vector<Big> x = drawn(tokens * d, 0, 1);
  const std::vector<Big> wq = drawn(d * d, 1, spread), wk = drawn(d * d, 2, spread), wv = drawn(d * d, 3, spread);
  const std::vector<Big> w = drawn(d, 4, spread);
  for (std::size_t c = 0; c < d; ++c) {
    x[given.m * d + c] += a * Big(given.p_m[c]);
    x[given.n * d + c] += b * Big(given.p_n[c]);
  }
  const auto row = [&](std::size_t t, const std::vector<Big>& matrix) {
    std::vector<Big> y(d);
    for (std::size_t e = 0; e < d; ++e) {
      for (std::size_t c = 0; c < d; ++c) y[e] += x[t * d + c] * matrix[c * d + e];
    }
    return y;
  };
  const auto dot = [&](const std::vector<Big>& u, const std::vector<Big>& v) {
    Big sum = 0;
    for (std::size_t c = 0; c < d; ++c) sum += u[c] * v[c];
    return sum;
  };
  Big pooled = 0;
  for (std::size_t i = 0; i < tokens; ++i) {
    Big above = 0, below = 0;
    for (std::size_t j = 0; j < tokens; ++j) {
      const Big e = exp(dot(row(i, wq), row(j, wk)) / sqrt(Big(static_cast<double>(d))));
      below += e;
      above += e * dot(row(j, wv), w);
    }
    pooled += above / below;
  }
  return pooled / Big(static_cast<double>(tokens));
}

}  // namespace

TEST_CASE("the six terms are the derivatives of the model") {
  double worst = 0;
  const Big h = std::ldexp(1.0, -120);
  property("taylor", [&](Dice& dice) {
    Expansion given;
    given.tokens = static_cast<std::size_t>(dice.integer(2, 4));
    given.dim = static_cast<std::size_t>(dice.integer(1, 4));
    given.seed = dice.bits() >> 11;
    given.m = static_cast<std::size_t>(dice.integer(0, 1));
    given.n = 1 - given.m;
    std::vector<double> p_m(given.dim), p_n(given.dim);
    for (double& value : p_m) value = dice.real(-1, 1);
    for (double& value : p_n) value = dice.real(-1, 1);
    given.p_m = p_m.data();
    given.p_n = p_n.data();
    const double scale = dice.real(0.05, 0.5);
    double terms[6], value = 0, remainder = 0, norms[3];
    REQUIRE(expand(given, &scale, 1, terms, &value, &remainder, norms).ok());

    const auto f = [&](const Big& a, const Big& b) { return model(given, a, b); };
    const Big o = 0, here = f(o, o), s = scale, square = s * s;
    const Big mp = f(h, o), mm = f(-h, o), np = f(o, h), nm = f(o, -h);
    const Big two = 2;
    const Big truth[] = {here,
                         s * (mp - mm) / (two * h),
                         s * (np - nm) / (two * h),
                         square * (mp - two * here + mm) / (two * h * h),
                         square * (np - two * here + nm) / (two * h * h),
                         square * (f(h, h) - f(h, -h) - f(-h, h) + f(-h, -h)) / (two * two * h * h)};
    const Big moved = f(s, s);
    Big rest = moved;
    for (int n = 0; n < 6; ++n) {
      const double error = std::fabs((Big(terms[n]) - truth[n]).value());
      worst = std::max(worst, error);
      CAPTURE(n, terms[n], truth[n].value());
      CHECK(error < 2e-14);
      rest -= truth[n];
    }
    CHECK(std::fabs((Big(value) - moved).value()) < 2e-14);
    CHECK(std::fabs((Big(remainder) - rest).value()) < 1e-13);
  });
  std::printf("six terms against differences in MPFR: worst error %.1e\n", worst);
}
