#include "analysis/precision.h"

#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "support/property.h"

using namespace posenc;
using posenc_test::Dice;
using posenc_test::property;

namespace {

struct Result {
  std::vector<double> values, exact, error, worst;
  std::size_t first = 0, first_pair = 0;

  Result(Recipe recipe, Arithmetic arithmetic, double dim, const std::vector<double>& positions, double base = 10000,
         double tolerance = 0) {
    const auto pairs = static_cast<std::size_t>(dim / 2);
    const auto frequencies = Frequencies::power_law(base, static_cast<std::int64_t>(dim), pairs);
    PrecisionCall call{frequencies.get(), base, dim, arithmetic, recipe, positions.data(), positions.size(), tolerance};
    const std::size_t size = 2 * pairs * positions.size();
    values.resize(size);
    exact.resize(size);
    error.resize(size);
    worst.resize(positions.size());
    REQUIRE(table_precision(call, values.data(), exact.data(), error.data(), worst.data(), first, first_pair).ok());
  }
};

constexpr Arithmetic kNarrow[] = {Arithmetic::kFloat32, Arithmetic::kFloat16, Arithmetic::kBfloat16};

}  // namespace

TEST_CASE("float32 angles at positions 10^6 and 131,071 (golden big-001, big-003)") {
  const Result far(Recipe::kPower, Arithmetic::kFloat32, 512, {1000000});
  const double naive[] = {-0.3499935022, -0.8937766012, 0.7849281582};
  for (std::size_t i = 0; i < 3; ++i) CHECK(far.values[2 * i] == Approx(naive[i]).epsilon(0).margin(5e-8));
  CHECK(far.error[2] == Approx(0.03233205961).epsilon(0).margin(5e-8));
  CHECK(far.error[4] == Approx(0.01354623492).epsilon(0).margin(5e-8));
  CHECK(far.exact[2] == Approx(-0.8614445416).epsilon(0).margin(1e-10));
  const Result near(Recipe::kPower, Arithmetic::kFloat32, 128, {131071});
  CHECK(near.error[2] == Approx(0.002614050063).epsilon(0).margin(5e-8));
  CHECK(near.error[2 * 16] == Approx(0.0005450598678).epsilon(0).margin(5e-8));
}

TEST_CASE("half-precision traps (golden big-006, big-007)") {
  // 1857 * 10000^(-2/32) = 1044.27 becomes 1045 in float16.
  const Result half(Recipe::kPower, Arithmetic::kFloat16, 32, {1857});
  CHECK(half.exact[3] == Approx(0.3066928098).epsilon(0).margin(1e-9));
  CHECK(half.values[3] == Approx(-0.4081646206).epsilon(0).margin(2.5e-4));
  // bfloat16 holds 15962 as 15936, 257 as 256 and 1857 as 1856.
  CHECK(round_to(Arithmetic::kBfloat16, 15962) == 15936);
  CHECK(round_to(Arithmetic::kBfloat16, 257) == 256);
  CHECK(round_to(Arithmetic::kBfloat16, 1857) == 1856);
  const Result coarse(Recipe::kPositions, Arithmetic::kBfloat16, 2, {15962});
  CHECK(coarse.exact[1] == Approx(-0.9080159013).epsilon(0).margin(1e-9));
  CHECK(coarse.values[1] == Approx(-0.2679500711).epsilon(0).margin(1e-3));
}

TEST_CASE("float16 has no positions past 65,504") {
  const Result half(Recipe::kPower, Arithmetic::kFloat16, 4, {65504, 65520, 1e6}, 10000, 10);
  CHECK(std::isfinite(half.values[0]));
  CHECK(std::isnan(half.values[4]));
  CHECK(half.error[4] == std::numeric_limits<double>::infinity());
  CHECK(half.worst[2] == std::numeric_limits<double>::infinity());
  CHECK(half.first == 1);
  const Result counted(Recipe::kPositions, Arithmetic::kFloat16, 4, {1e6});
  CHECK(std::isnan(counted.values[0]));
  // Frequencies alone, and angles below 65,504, survive.
  CHECK(Result(Recipe::kFrequencies, Arithmetic::kFloat16, 4, {1e6}).worst[0] <= 2);
  CHECK(Result(Recipe::kUpcast, Arithmetic::kFloat16, 4, {1e6}).worst[0] < 0.1);
}

TEST_CASE("the first position past a tolerance") {
  std::vector<double> positions(600);
  for (std::size_t t = 0; t < positions.size(); ++t) positions[t] = static_cast<double>(t);
  // Consecutive positions collapse in bfloat16 above 256: 257 is the first to lose its own angle.
  const Result counted(Recipe::kPositions, Arithmetic::kBfloat16, 2, positions, 10000, 0.1);
  CHECK(counted.first == 257);
  CHECK(counted.first_pair == 0);
  const Result never(Recipe::kTable, Arithmetic::kBfloat16, 2, positions, 10000, 0x1p-9);
  CHECK(never.first == positions.size());
  const Result at_once(Recipe::kTable, Arithmetic::kBfloat16, 2, positions, 10000, 0);
  CHECK(at_once.first == 1);
}

TEST_CASE("properties of emulated tables") {
  property("a rounded table is within half a unit", [](Dice& dice) {
    const double p = dice.integer(-1e6, 1e6), dim = 2 * dice.integer(1, 20);
    const double units[] = {0x1p-25, 0x1p-12, 0x1p-9};
    for (int n = 0; n < 3; ++n) CHECK(Result(Recipe::kTable, kNarrow[n], dim, {p}).worst[0] <= units[n]);
    CHECK(Result(Recipe::kTable, Arithmetic::kFloat64, dim, {p}).worst[0] == 0);
  });
  property("an angle errs by half a unit of its size, and so does its sine", [](Dice& dice) {
    const double p = dice.integer(1, 60000), dim = 2 * dice.integer(1, 20);
    const int bits[] = {24, 11, 8};
    for (int n = 0; n < 3; ++n) {
      const double unit = std::ldexp(1.0, std::ilogb(p) + 1 - bits[n]);
      CHECK(Result(Recipe::kAngle, kNarrow[n], dim, {p}).worst[0] <= 0.5 * unit + std::ldexp(1.0, -bits[n]));
    }
  });
  property("float64 by any recipe is far better than float32 by the best", [](Dice& dice) {
    const double p = dice.integer(0, 1e5);
    for (int recipe = 0; recipe <= 6; ++recipe) {
      CHECK(Result(static_cast<Recipe>(recipe), Arithmetic::kFloat64, 16, {p}).worst[0] < 1e-9);
    }
  });
  property("rounding is monotone, odd, and leaves what it made", [](Dice& dice) {
    const double x = std::ldexp(dice.real(-1, 1), static_cast<int>(dice.integer(-40, 17)));
    const double y = x + std::fabs(x) * dice.real(0, 1e-2);
    for (const Arithmetic a : kNarrow) {
      CHECK(round_to(a, x) <= round_to(a, y));
      CHECK(round_to(a, -x) == -round_to(a, x));
      CHECK(round_to(a, round_to(a, x)) == round_to(a, x));
    }
    CHECK(round_to(Arithmetic::kFloat32, x) == static_cast<double>(static_cast<float>(x)));
  });
}

TEST_CASE("what precision refuses") {
  const auto frequencies = Frequencies::power_law(10000, 4, 2);
  double position = 0x1p54, out[4], worst;
  std::size_t first, pair;
  PrecisionCall call{frequencies.get(), 10000, 4, Arithmetic::kFloat32, Recipe::kPower, &position, 1, 0};
  CHECK(table_precision(call, out, out, out, &worst, first, pair).argument == "positions");
  position = 1;
  call.tolerance = -1;
  CHECK(table_precision(call, out, out, out, &worst, first, pair).message() ==
        "precision: tolerance must be a number of at least 0, got -1");
  const auto none = Frequencies::list({});
  call.frequencies = none.get();
  CHECK(table_precision(call, out, out, out, &worst, first, pair).code == Code::kShapeMismatch);
}
