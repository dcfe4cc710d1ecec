#include "analysis/extension.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "analysis/kernel.h"
#include "support/property.h"

using namespace posenc;
using posenc_test::Dice;
using posenc_test::property;

namespace {

struct Phases {
  std::vector<double> seen, reached, unseen;

  Phases(const Frequencies& frequencies, double trained, double length)
      : seen(frequencies.pairs()), reached(seen.size()), unseen(seen.size()) {
    REQUIRE(unseen_phases(frequencies, frequencies, trained, length, seen.data(), reached.data(), unseen.data()).ok());
  }
};

struct Changed {
  std::vector<double> ratio, before, after, stale, error;

  Changed(const Extension& extension, double length, const std::vector<double>& offsets, bool normalize = false)
      : ratio(extension.before->pairs()), before(offsets.size()), after(before), stale(before), error(before) {
    REQUIRE(extend_context(extension, length, offsets.data(), offsets.size(), normalize, ratio.data(), before.data(),
                           after.data(), stale.data(), error.data())
                .ok());
  }
};

std::vector<double> list_of(Dice& dice, std::size_t count) {
  std::vector<double> list(count);
  for (double& omega : list) omega = dice.real(-1, 1);
  return list;
}

constexpr double kTurn = 6.283185307179586;

}  // namespace

TEST_CASE("phases never seen, worked by hand") {
  const double list[] = {1, -0.01, 0, 0.001};
  const auto frequencies = Frequencies::list(list);
  const Phases p(*frequencies, 501, 2001);
  CHECK(p.seen[0] == Approx(500 / kTurn).epsilon(1e-15));
  CHECK(p.reached[0] == Approx(2000 / kTurn).epsilon(1e-15));
  CHECK(p.unseen[0] == 0);
  CHECK(p.seen[1] == Approx(5 / kTurn).epsilon(1e-15));
  CHECK(p.unseen[1] == Approx(1 - 5 / kTurn).epsilon(1e-14));
  CHECK(p.seen[2] == 0);
  CHECK(p.unseen[2] == 0);
  CHECK(p.unseen[3] == Approx(1.5 / kTurn).epsilon(1e-14));
}

TEST_CASE("a model trained on 2,048 positions meets new phases in its slow pairs only") {
  const auto paper = Frequencies::power_law(10000, 128, 64);
  const Phases p(*paper, 2048, 8192);
  for (std::size_t i = 0; i < 64; ++i) {
    const double wavelength = kTurn * std::pow(10000, static_cast<double>(i) / 64);
    CAPTURE(i);
    CHECK((p.unseen[i] > 0) == (wavelength > 2047));
  }
}

TEST_CASE("properties of extrapolation") {
  property("unseen is what a longer call adds, within one circle", [](Dice& dice) {
    const auto frequencies = Frequencies::list(list_of(dice, 6));
    const double trained = dice.integer(1, 2000), length = trained + dice.integer(0, 5000);
    const Phases p(*frequencies, trained, length);
    for (std::size_t i = 0; i < 6; ++i) {
      CHECK(p.unseen[i] >= 0);
      CHECK(p.unseen[i] <= 1);
      CHECK(p.reached[i] >= p.seen[i]);
      if (p.seen[i] >= 1) CHECK(p.unseen[i] == 0);
      CHECK(p.seen[i] == Approx(std::fabs(frequencies->omega(i)) * (trained - 1) / kTurn).epsilon(1e-14));
    }
    const Phases same(*frequencies, trained, trained);
    CHECK(std::all_of(same.unseen.begin(), same.unseen.end(), [](double share) { return share == 0; }));
  });
}

TEST_CASE("position interpolation meets no new phase, extrapolation does") {
  const auto paper = Frequencies::power_law(10000, 128, 64);
  std::vector<double> slower;
  for (std::size_t i = 0; i < 64; ++i) slower.push_back(paper->omega(i) / 4);
  std::vector<double> seen(64), reached(64), unseen(64);
  const auto scaled = Frequencies::list(slower);
  REQUIRE(unseen_phases(*paper, *scaled, 2049, 8193, seen.data(), reached.data(), unseen.data()).ok());
  for (std::size_t i = 0; i < 64; ++i) {
    CHECK(reached[i] == Approx(seen[i]).epsilon(1e-14));
    CHECK(unseen[i] < 1e-14);
  }
  CHECK(Phases(*paper, 2049, 8193).unseen[63] > 0.1);
}

TEST_CASE("position interpolation by 4, worked by hand") {
  const double list[] = {1, 0.1}, slower[] = {0.25, 0.025};
  const auto before = Frequencies::list(list), after = Frequencies::list(slower);
  const Changed c({before.get(), after.get(), 1, 2}, 101, {0, 4, -100});
  CHECK(c.ratio == std::vector<double>{0.25, 0.25});
  CHECK(c.before[1] == Approx(std::cos(4.0) + std::cos(0.4)).epsilon(0).margin(1e-15));
  CHECK(c.after[1] == Approx(4 * (std::cos(1.0) + std::cos(0.1))).epsilon(0).margin(1e-14));
  // The query stands at 100, the key at 96 and at 0.
  CHECK(c.stale[1] == Approx(2 * (std::cos(25.0 - 96) + std::cos(2.5 - 9.6))).epsilon(0).margin(1e-13));
  CHECK(c.error[1] == c.stale[1] - c.after[1]);
  CHECK(c.stale[2] == Approx(2 * (std::cos(25.0) + std::cos(2.5))).epsilon(0).margin(1e-13));
  // A key at position 0 was not turned: nothing of it is stale but the factor.
  CHECK(c.stale[2] * 2 == Approx(c.after[2]).epsilon(0).margin(1e-13));
}

TEST_CASE("properties of context extension") {
  property("without a change nothing is stale", [](Dice& dice) {
    const auto list = list_of(dice, 5);
    const auto frequencies = Frequencies::list(list);
    const double length = dice.integer(2, 5000), factor = dice.real(0.5, 2);
    const Changed c({frequencies.get(), frequencies.get(), factor, factor}, length, {0, 1, length - 1});
    for (const double ratio : c.ratio) CHECK(ratio == 1);
    CHECK(c.before == c.after);
    for (const double error : c.error) CHECK(std::fabs(error) < 1e-13);
  });
  property("stale scores are the turned rows' products, in double", [](Dice& dice) {
    const auto from = list_of(dice, 4), to = list_of(dice, 4);
    const auto before = Frequencies::list(from), after = Frequencies::list(to);
    const double length = dice.integer(2, 500), k = dice.integer(0, length - 1);
    const double f = dice.real(0.5, 2), g = dice.real(0.5, 2);
    const Changed c({before.get(), after.get(), f, g}, length, {k}, true);
    double stale = 0, fresh = 0, old = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      stale += std::cos((length - 1) * to[i] - (length - 1 - k) * from[i]);
      fresh += std::cos(k * to[i]);
      old += std::cos(k * from[i]);
      CHECK(c.ratio[i] == Approx(to[i] / from[i]).epsilon(1e-15));
    }
    CHECK(c.stale[0] == Approx(f * g * stale / 4).epsilon(0).margin(1e-11));
    CHECK(c.after[0] == Approx(g * g * fresh / 4).epsilon(0).margin(1e-11));
    CHECK(c.before[0] == Approx(f * f * old / 4).epsilon(0).margin(1e-11));
    CHECK(c.error[0] == c.stale[0] - c.after[0]);
  });
}

TEST_CASE("what extrapolation and context extension refuse") {
  const double list[] = {1, 0.5}, zero[] = {0, 0.5};
  const auto two = Frequencies::list(list), none = Frequencies::list({}), still = Frequencies::list(zero);
  double a[2], b[2], c[2], d[2], e[2];
  const double offsets[] = {0, 5};
  CHECK(unseen_phases(*two, *two, 0, 4, a, b, c).message() ==
        "extrapolation: trained must be a whole number from 1 to 2^53, got 0");
  CHECK(unseen_phases(*two, *two, 1.5, 4, a, b, c).code == Code::kNotInteger);
  CHECK(unseen_phases(*two, *two, 8, 4, a, b, c).message() ==
        "extrapolation: length must be at least trained, 8, got 4");
  CHECK(unseen_phases(*none, *none, 1, 4, a, b, c).code == Code::kShapeMismatch);
  CHECK(unseen_phases(*two, *none, 1, 4, a, b, c).message() == "extrapolation: scheme must be of 2 pairs, got 0");
  CHECK(extend_context({two.get(), none.get(), 1, 1}, 9, offsets, 2, false, a, b, c, d, e).message() ==
        "contextExtension: after must be of 2 pairs, got 0");
  CHECK(extend_context({two.get(), two.get(), 1, 1}, 5, offsets, 2, false, a, b, c, d, e).message() ==
        "contextExtension: offsets must be at most length - 1, 4, in magnitude, got 5");
  CHECK(extend_context({two.get(), two.get(), 1, 1}, 0.5, offsets, 2, false, a, b, c, d, e).argument == "length");
  REQUIRE(extend_context({still.get(), two.get(), 1, 1}, 9, offsets, 2, false, a, b, c, d, e).ok());
  CHECK(a[0] == std::numeric_limits<double>::infinity());
  REQUIRE(extend_context({still.get(), still.get(), 1, 1}, 9, offsets, 2, false, a, b, c, d, e).ok());
  CHECK(a[0] == 1);
}
