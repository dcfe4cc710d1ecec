#include "kernels/multiprecision.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

namespace posenc {
namespace {

TEST_CASE("doubles go in and out unchanged") {
  for (const double x : {0.0, 1.0, -3.0, 0.1, 1e300, -1e-300, 5e-324, 0x1p-1022, 0x1.fffffffffffffp1023}) {
    CHECK(MultiFloat(x).to_double() == x);
  }
  CHECK(MultiFloat(0.0).is_zero());
  CHECK_FALSE((-MultiFloat(0.0)).is_negative());
}

TEST_CASE("rounding to double breaks ties to even and handles the ends of the range") {
  const MultiFloat one(1.0), half_unit = MultiFloat(1.0).scaled(-53), little = MultiFloat(1.0).scaled(-250);
  CHECK((one + half_unit).to_double() == 1.0);
  CHECK((one + half_unit + little).to_double() == 1.0 + 0x1p-52);
  CHECK((one + half_unit.scaled(1) + half_unit).to_double() == 1.0 + 0x1p-51);
  CHECK((one - half_unit.scaled(-1)).to_double() == 1.0);
  CHECK(MultiFloat(1.0).scaled(1024).to_double() == std::numeric_limits<double>::infinity());
  CHECK((-MultiFloat(1.0).scaled(2000)).to_double() == -std::numeric_limits<double>::infinity());
  CHECK(MultiFloat(1.0).scaled(-1075).to_double() == 0.0);
  CHECK((MultiFloat(1.0).scaled(-1075) + MultiFloat(1.0).scaled(-1200)).to_double() == 5e-324);
  CHECK(MultiFloat(3.0).scaled(-1075).to_double() == 2 * 5e-324);
  CHECK(MultiFloat(1.0).scaled(-3000).to_double() == 0.0);
}

TEST_CASE("identities that need all the bits") {
  const MultiFloat third = MultiFloat(1.0) / MultiFloat(3.0);
  const MultiFloat rest = MultiFloat(1.0) - third * MultiFloat(3.0);
  CHECK((rest.is_zero() || rest.exponent() < -250));
  CHECK(MultiFloat(2.0) - MultiFloat(2.0) == MultiFloat());
  const MultiFloat two = power(root(MultiFloat(2.0), 1000), 1000) - MultiFloat(2.0);
  CHECK((two.is_zero() || two.exponent() < -235));
  const MultiFloat x(7.25);
  const MultiFloat back = exp(log(x)) - x;
  CHECK((back.is_zero() || back.exponent() < -235));
  CHECK(exp(MultiFloat()) == MultiFloat(1.0));
  CHECK(log(MultiFloat(1.0)).to_double() == Approx(0).margin(1e-70));
  CHECK(power(MultiFloat(-2.0), 3).to_double() == -8.0);
  CHECK(power(MultiFloat(2.0), -3).to_double() == 0.125);
  CHECK(power(MultiFloat(5.0), 0).to_double() == 1.0);
  CHECK(pow(MultiFloat(10000.0), MultiFloat(-0.25)).to_double() == 0.1);
  CHECK(root(MultiFloat(1e-12), 3).to_double() == 1e-4);
}

TEST_CASE("order") {
  CHECK(MultiFloat(-1.0) < MultiFloat(0.0));
  CHECK(MultiFloat(0.0) < MultiFloat(1e-300));
  CHECK(MultiFloat(-2.0) < MultiFloat(-1.0));
  CHECK_FALSE(MultiFloat(1.0) < MultiFloat(1.0));
  CHECK(MultiFloat(1.0) < MultiFloat(1.0) + MultiFloat(1.0).scaled(-250));
}

}  // namespace
}  // namespace posenc
