#include "analysis/expansion.h"

#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "support/property.h"

using namespace posenc;
using posenc_test::Dice;
using posenc_test::property;

namespace {

struct Case {
  Expansion given;
  std::vector<double> p_m, p_n;

  Case(Dice& dice, std::size_t tokens, std::size_t dim) : p_m(dim), p_n(dim) {
    for (double& value : p_m) value = dice.real(-1, 1);
    for (double& value : p_n) value = dice.real(-1, 1);
    given = {.tokens = tokens, .dim = dim, .seed = dice.bits() >> 12, .m = 0, .n = 1, .p_m = p_m.data(),
             .p_n = p_n.data()};
  }
};

struct Result {
  std::vector<double> terms, value, remainder;
  double norms[3];

  Result(const Expansion& given, const std::vector<double>& scales)
      : terms(6 * scales.size()), value(scales.size()), remainder(scales.size()) {
    REQUIRE(expand(given, scales.data(), scales.size(), terms.data(), value.data(), remainder.data(), norms).ok());
  }
};

}  // namespace

TEST_CASE("properties of the expansion") {
  property("scale 0 leaves f alone; terms scale by their degrees and sum with the remainder to f", [](Dice& dice) {
    const Case c(dice, static_cast<std::size_t>(dice.integer(2, 6)), static_cast<std::size_t>(dice.integer(1, 8)));
    const double s = dice.real(-2, 2);
    const Result r(c.given, {0, 1, s});
    for (int n = 1; n < 6; ++n) CHECK(r.terms[n] == 0);
    CHECK(r.remainder[0] == Approx(0).margin(1e-15));
    CHECK(r.terms[0] == r.terms[6]);
    double sum = r.remainder[2];
    for (int n = 0; n < 6; ++n) {
      CHECK(r.terms[12 + n] == Approx(r.terms[6 + n] * (n == 0 ? 1 : n < 3 ? s : s * s)).epsilon(1e-14));
      sum += r.terms[12 + n];
    }
    CHECK(sum == Approx(r.value[2]).epsilon(0).margin(1e-13));
  });
  property("the remainder falls with the cube of the scale", [](Dice& dice) {
    const Case c(dice, 4, 6);
    const Result r(c.given, {4e-3, 2e-3, 1e-3});
    // R(s) = A s^3 + B s^4 + ..., so R(s) - 8 R(s / 2) has no cube.
    const double cube = r.remainder[0] / (4e-3 * 4e-3 * 4e-3);
    CHECK(std::fabs(r.remainder[0] - 8 * r.remainder[1]) < 0.02 * 4e-3 * 4e-3 * 4e-3 * (std::fabs(cube) + 10));
    CHECK(std::fabs(r.remainder[2]) < 1e-9 * (std::fabs(cube) + 10));
  });
  property("the two tokens may be named either way round", [](Dice& dice) {
    Case c(dice, 5, 4);
    const Result r(c.given, {0.3});
    std::swap(c.given.m, c.given.n);
    std::swap(c.given.p_m, c.given.p_n);
    const Result turned(c.given, {0.3});
    const int swapped[] = {0, 2, 1, 4, 3, 5};
    for (int n = 0; n < 6; ++n) CHECK(turned.terms[n] == Approx(r.terms[swapped[n]]).epsilon(0).margin(1e-15));
    CHECK(turned.value[0] == Approx(r.value[0]).epsilon(0).margin(1e-15));
  });
  property("terms 2 to 5 see one position each, only the sixth sees both", [](Dice& dice) {
    Case c(dice, 4, 5);
    const Result both(c.given, {1});
    const std::vector<double> none(5, 0);
    Expansion alone = c.given;
    alone.p_n = none.data();
    const Result m(alone, {1});
    alone = c.given;
    alone.p_m = none.data();
    const Result n(alone, {1});
    CHECK(m.terms[1] == both.terms[1]);
    CHECK(m.terms[3] == both.terms[3]);
    CHECK(n.terms[2] == both.terms[2]);
    CHECK(n.terms[4] == both.terms[4]);
    for (const int gone : {2, 4, 5}) CHECK(m.terms[gone] == 0);
    for (const int gone : {1, 3, 5}) CHECK(n.terms[gone] == 0);
  });
}

TEST_CASE("what an expansion refuses") {
  Dice dice(1);
  Case c(dice, 3, 2);
  double terms[6], value = 0, rest = 0, norms[3], scale = 1;
  const auto refused = [&](const Expansion& given) {
    return expand(given, &scale, 1, terms, &value, &rest, norms).message();
  };
  Expansion bad = c.given;
  bad.tokens = 1;
  CHECK(refused(bad) == "taylor: tokens must be an integer from 2 to 256, got 1");
  bad = c.given;
  bad.dim = 257;
  CHECK(refused(bad) == "taylor: dim must be an integer from 1 to 256, got 257");
  bad = c.given;
  bad.n = 3;
  CHECK(refused(bad) == "taylor: positions must be two different positions below tokens, got 0, 3");
  scale = std::numeric_limits<double>::infinity();
  CHECK(refused(c.given) == "taylor: scales must be finite numbers, got Infinity");
  scale = 1e200;
  CHECK(refused(c.given) == "taylor: scales must be numbers at which no score overflows, got 1e+200");
}
