#include "analysis/spectrum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "support/property.h"
#include "support/tables.h"

using namespace posenc;
using namespace posenc_test;

namespace {

struct Spectrum {
  std::vector<double> wavelength, turns;
  std::vector<std::uint8_t> never;
};

Spectrum spectrum_of(const std::vector<double>& omega, double context) {
  const std::size_t pairs = omega.size();
  Spectrum s{std::vector<double>(pairs), std::vector<double>(pairs), std::vector<std::uint8_t>(pairs)};
  REQUIRE(spectrum(omega.data(), pairs, context, s.wavelength.data(), s.turns.data(), s.never.data()).ok());
  return s;
}

struct Radix {
  std::vector<double> digits, phase;
  double rest = 0;
};

Radix radix_of(const std::vector<double>& omega, double position) {
  Radix r{std::vector<double>(omega.size()), std::vector<double>(omega.size()), 0};
  REQUIRE(radix(omega.data(), omega.size(), position, r.digits.data(), r.phase.data(), &r.rest).ok());
  return r;
}

}  // namespace

TEST_CASE("wavelengths of the notes") {
  // 002: 19,869 positions for d = 16 and 60,611 for d = 512; erratum 1: not 62,393.
  CHECK(spectrum_of(omegas(16), 1).wavelength.back() == Approx(19869.18).epsilon(1e-6));
  const Spectrum wide = spectrum_of(omegas(512), 5000);
  CHECK(wide.wavelength.front() == Approx(6.283185307179586).epsilon(1e-15));
  CHECK(wide.wavelength.back() == Approx(60611.4).epsilon(1e-5));
  CHECK(wide.wavelength.back() / 6.283185307179586 == Approx(9646.6).epsilon(1e-5));
  CHECK(std::abs(wide.wavelength.back() - 62393) > 1000);
  // 003's table of fifty pairs; erratum 7 has the digits.
  const Spectrum fifty = spectrum_of(omegas(100), 1);
  CHECK(fifty.wavelength[0] == Approx(6.283).epsilon(1e-4));
  CHECK(fifty.wavelength[1] == Approx(7.554).epsilon(1e-4));
  CHECK(fifty.wavelength.back() == Approx(52261.3).epsilon(1e-6));
  // 004: base 100 reaches only to about 628.
  CHECK(spectrum_of(omegas(512, 100), 1).wavelength.back() < 628.4);
}

TEST_CASE("turns within a context, and the pairs that never turn") {
  const Spectrum s = spectrum_of({1, 0.01, -0.01, 0}, 628.3185307179587);
  CHECK(s.turns[0] == Approx(100).epsilon(1e-15));
  CHECK(s.turns[1] == Approx(1).epsilon(1e-15));
  CHECK(s.turns[1] == s.turns[2]);
  CHECK(s.turns[3] == 0);
  CHECK(s.wavelength[3] == std::numeric_limits<double>::infinity());
  CHECK(spectrum_of({0.01}, 628).never[0] == 1);
  CHECK(spectrum_of({0.01}, 629).never[0] == 0);
  // Llama 2's heads: of 64 pairs, 18 never turn within 4,096 positions (wavelengths past it).
  const Spectrum llama = spectrum_of(omegas(128), 4096);
  const auto never = std::count(llama.never.begin(), llama.never.end(), 1);
  CHECK(never == std::count_if(llama.wavelength.begin(), llama.wavelength.end(), [](double l) { return l > 4096; }));
  CHECK(never == 18);
}

TEST_CASE("spectrum and radix refuse what has no meaning") {
  const double omega[] = {1}, bad[] = {std::numeric_limits<double>::infinity()}, negative[] = {-1};
  double a = 0, b = 0, c = 0;
  std::uint8_t never = 0;
  CHECK(spectrum(omega, 1, 0, &a, &b, &never).message() == "spectrum: context must be a number above 0, got 0");
  CHECK(spectrum(bad, 1, 1, &a, &b, &never).code == Code::kNotFinite);
  CHECK(radix(omega, 1, -1, &a, &b, &c).message() == "radix: position must be a number from 0 to 2^53, got -1");
  CHECK(radix(omega, 1, std::nan(""), &a, &b, &c).code == Code::kNotANumber);
  CHECK(radix(negative, 1, 1, &a, &b, &c).code == Code::kOutOfRange);
}

TEST_CASE("radix: base 10000 in four pairs is base ten, and in five pairs base 10000^(1/5) (003, erratum 7)") {
  const Radix ten = radix_of(omegas(8), 4321);
  CHECK(ten.digits == std::vector<double>{1, 2, 3, 4});
  CHECK(ten.rest == 0);
  CHECK(radix_of(omegas(8), 65432.25).digits == std::vector<double>{2, 3, 4, 65});
  CHECK(radix_of(omegas(8), 65432.25).rest == Approx(0.25).epsilon(1e-10));
  // The ratio of places is b^(1/d) for d pairs, whatever the pair.
  const std::vector<double> omega = omegas(10);
  for (std::size_t i = 0; i + 1 < omega.size(); ++i) {
    CHECK(omega[i] / omega[i + 1] == Approx(std::pow(10000.0, 1.0 / 5)).epsilon(1e-14));
  }
  const Radix none = radix_of({0, 1, 0}, 7);
  CHECK(none.digits == std::vector<double>{0, 7, 0});
  CHECK(none.phase[0] == 0);
}

TEST_CASE("radix: the phase is the share of a turn, whole turns away from the angle") {
  CHECK(radix_of({1}, 6.283185307179586).phase[0] == Approx(0).margin(1e-15).epsilon(0));
  CHECK(radix_of({6.283185307179586}, 1048576.25).phase[0] == Approx(0.25).epsilon(0).margin(1e-10));
  CHECK(radix_of({1}, 710).phase[0] == Approx(6.0288706719e-5 / 6.283185307).epsilon(1e-9));
  // 710 is 113 turns and 6.0e-5 radians (erratum 9).
}

TEST_CASE("turns, wavelengths and the context agree") {
  property("turns", [](Dice& dice) {
    const std::size_t columns = 2 * whole(dice, 1, 64);
    const double context = dice.real(1, 1e6);
    const std::vector<double> omega = omegas(columns, dice.real(2, 1e6));
    const Spectrum s = spectrum_of(omega, context);
    for (std::size_t i = 0; i < omega.size(); ++i) {
      REQUIRE(s.turns[i] * s.wavelength[i] == Approx(context).epsilon(1e-15));
      REQUIRE(s.wavelength[i] * omega[i] == Approx(2 * std::acos(-1.0)).epsilon(1e-15));
      if (i > 0) REQUIRE(s.wavelength[i] > s.wavelength[i - 1]);  // erratum 3: higher index, lower frequency
    }
  });
  property("never", [](Dice& dice) {
    const std::vector<double> omega = omegas(2 * whole(dice, 1, 64), dice.real(2, 1e6));
    const double context = dice.real(1, 1e5), longer = context * dice.real(1, 4);
    const Spectrum s = spectrum_of(omega, context), t = spectrum_of(omega, longer);
    for (std::size_t i = 0; i < omega.size(); ++i) {
      REQUIRE((s.never[i] != 0) == (s.turns[i] < 1));
      REQUIRE(t.never[i] <= s.never[i]);
      if (i > 0) REQUIRE(s.never[i] >= s.never[i - 1]);
    }
  });
}

TEST_CASE("digits spell the position") {
  property("reconstruction", [](Dice& dice) {
    const std::vector<double> omega = omegas(2 * whole(dice, 1, 40), dice.real(2, 1e6));
    const double position = dice.real(0, 1e7);
    const Radix r = radix_of(omega, position);
    double sum = r.rest;
    for (std::size_t i = 0; i < omega.size(); ++i) {
      REQUIRE(r.digits[i] == std::floor(r.digits[i]));
      REQUIRE(r.digits[i] >= 0);
      if (i + 1 < omega.size()) REQUIRE(r.digits[i] <= omega[i] / omega[i + 1] + 1e-9);
      sum += r.digits[i] / omega[i];
    }
    REQUIRE(sum == Approx(position).epsilon(1e-14));
    REQUIRE(r.rest >= 0);
    REQUIRE(r.rest < 1 / omega[0] + 1e-9);
  });
  property("whole bases", [](Dice& dice) {
    const auto base = static_cast<std::uint64_t>(dice.integer(2, 16));
    std::vector<double> omega(6);
    double place = 1;
    for (double& w : omega) {
      w = 1 / place;
      place *= static_cast<double>(base);
    }
    auto left = static_cast<std::uint64_t>(dice.integer(0, 600000));
    const Radix r = radix_of(omega, static_cast<double>(left));
    for (std::size_t i = 0; i < 5; ++i) {
      REQUIRE(r.digits[i] == static_cast<double>(left % base));
      left /= base;
    }
    REQUIRE(r.digits[5] == static_cast<double>(left));
  });
  property("order", [](Dice& dice) {
    std::vector<double> omega = omegas(12, dice.real(10, 1e5));
    const double position = dice.real(0, 1e5);
    const Radix straight = radix_of(omega, position);
    std::reverse(omega.begin(), omega.end());
    Radix turned = radix_of(omega, position);
    std::reverse(turned.digits.begin(), turned.digits.end());
    REQUIRE(turned.digits == straight.digits);
  });
}

TEST_CASE("radix: whole positions have their digits in whole bases up to 2^53") {
  // Against integers of 64 bits; the frequencies are powers of the base as the schemes round them.
  const auto check = [](std::uint64_t position, std::uint64_t base, std::size_t pairs) {
    std::vector<double> omega(pairs);
    std::uint64_t place = 1;
    for (double& w : omega) {
      w = 1 / static_cast<double>(place);
      place *= base;
    }
    const Radix r = radix_of(omega, static_cast<double>(position));
    INFO(position << " in base " << base);
    std::uint64_t left = position;
    for (std::size_t i = 0; i + 1 < pairs; ++i) {
      REQUIRE(r.digits[i] == static_cast<double>(left % base));
      left /= base;
    }
    REQUIRE(r.digits.back() == static_cast<double>(left));
    REQUIRE(r.rest == 0);
  };
  constexpr std::uint64_t most = std::uint64_t{1} << 53;
  for (std::uint64_t near = 0; near < 300; ++near) {
    for (const std::uint64_t base : {2, 3, 7, 10, 100}) {
      check(most - near, base, 3);
      check((most >> 3) - 1 - near, base, 2);
      check((most >> 2) - 1 - near, base, 5);
    }
  }
  property("any size", [&](Dice& dice) {
    const auto position = static_cast<std::uint64_t>(std::exp2(dice.real(0, 53)));
    const auto pairs = whole(dice, 1, 5);
    check(position, static_cast<std::uint64_t>(dice.integer(2, 1000)), pairs);
  });
  CHECK(radix_of(omegas(4), 0x1p53).digits == std::vector<double>{92, 90071992547409});
  CHECK(radix_of(omegas(8), 0x1p51 - 1).digits == std::vector<double>{7, 4, 2, 2251799813685});
}

TEST_CASE("radix: digits and rest add up to any position, within what counts as standing on a place") {
  property("sum", [](Dice& dice) {
    const std::vector<double> omega = omegas(2 * whole(dice, 1, 20), dice.real(2, 1e12));
    const double position = std::exp2(dice.real(-30, 53));
    const Radix r = radix_of(omega, position);
    long double sum = r.rest;
    for (std::size_t i = 0; i < omega.size(); ++i) {
      REQUIRE(r.digits[i] == std::floor(r.digits[i]));
      REQUIRE(r.digits[i] >= 0);
      sum += static_cast<long double>(r.digits[i]) / static_cast<long double>(omega[i]);
    }
    REQUIRE(std::abs(static_cast<double>(sum - static_cast<long double>(position))) <= position * 0x1p-50);
    REQUIRE(r.rest >= 0);
    REQUIRE(r.rest < 1);
  });
  const Radix huge = radix_of({1e300, 1}, 2.5), tiny = radix_of({1e-310, 1}, 7);
  CHECK(huge.digits[1] == 2);
  CHECK(huge.rest == 0);
  CHECK(tiny.digits == std::vector<double>{0, 7});
  CHECK(radix_of({10, 1}, 65432.3).digits == std::vector<double>{3, 65432});  // 0.3 stands on a place of 0.1
}
