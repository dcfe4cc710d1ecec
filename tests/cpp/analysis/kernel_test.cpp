#include "analysis/kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <catch2/catch.hpp>

#include "analysis/frequency_law.h"
#include "analysis/oscillatory.h"
#include "kernels/exact_sum.h"
#include "kernels/multiprecision.h"
#include "support/property.h"

using namespace posenc;
using posenc_test::Dice;
using posenc_test::property;

namespace {

using Rule = FrequencyLaw::Rule;
const FrequencyLaw kPaper = FrequencyLaw::exponential(10000);
const FrequencyLaw kLinear = FrequencyLaw::power(1);

double integral(const FrequencyLaw& law, double x) {
  double out = 0;
  REQUIRE(oscillatory_integral(law, &x, 1, &out).ok());
  return out;
}

double riemann(const FrequencyLaw& law, double dim, double x) {
  double out = 0;
  REQUIRE(riemann_sum(law, dim, &x, 1, &out).ok());
  return out;
}

double kernel(const Frequencies& frequencies, double k, bool normalize = false) {
  double out = 0;
  REQUIRE(score_kernel(frequencies, &k, 1, normalize, &out).ok());
  return out;
}

double bound(const Frequencies& frequencies, double k) {
  double out = 0;
  REQUIRE(decay_bound(frequencies, &k, 1, &out).ok());
  return out;
}

std::vector<double> random_list(Dice& dice, std::size_t most, double low = -3, double high = 3) {
  std::vector<double> list(static_cast<std::size_t>(dice.integer(1, static_cast<double>(most))));
  for (double& value : list) value = dice.real(low, high);
  return list;
}

FrequencyLaw random_law(Dice& dice, std::vector<double>& samples) {
  switch (static_cast<int>(dice.integer(0, 2))) {
    case 0: return FrequencyLaw::exponential(std::exp(dice.real(-5, 15)));
    case 1: return FrequencyLaw::power(std::exp(dice.real(-2, 2)));
    default: samples = random_list(dice, 9); return FrequencyLaw::of_samples(samples);
  }
}

}  // namespace

// Products of the powers of primes, beside a power of every t of its own; and laws asked for in turn.
TEST_CASE("power laws are t^alpha at every t, whatever law was asked for before") {
  for (const double alpha : {0.5, 1.5, 1e-6, 7.25, 2.0, 300.5, 1e6, 0.5}) {
    for (const int dim : {2, 4, 6, 64, 122}) {
      const auto found = sampled(FrequencyLaw::power(alpha), dim);
      REQUIRE(found->pairs() == static_cast<std::size_t>(dim / 2));
      CHECK(found->omega(0) == 0);
      for (int i = 1; i < dim / 2; ++i) {
        INFO("alpha " << alpha << ", " << i << " of " << dim / 2);
        const MultiFloat t = MultiFloat(static_cast<double>(i)) / MultiFloat(static_cast<double>(dim / 2));
        CHECK(found->omega(static_cast<std::size_t>(i)) == pow(t, MultiFloat(alpha)).to_double());
      }
    }
  }
}

TEST_CASE("integrals of the note's laws (golden osc-001, osc-003)") {
  const double x[] = {0, 1, 10, 64, 128, 1000, 100000};
  const double expected[] = {1.0,          0.9739627712, 0.6823942631, 0.4873353819,
                             0.4111476824, 0.1876906425, 0.00493540833};
  for (int n = 0; n < 7; ++n) CHECK(integral(kPaper, x[n]) == Approx(expected[n]).epsilon(0).margin(1e-10));
  const double y[] = {1, 4, 10, 128};
  const double sinc[] = {0.8414709848, -0.1892006238, -0.05440211109, 0.005633107113};
  for (int n = 0; n < 4; ++n) CHECK(integral(kLinear, y[n]) == Approx(sinc[n]).epsilon(0).margin(1e-10));
}

TEST_CASE("what the note reads off its pictures") {
  // Every law decays; theta = t alone crosses the axis among the note's laws at short range.
  const FrequencyLaw square = FrequencyLaw::power(2), root = FrequencyLaw::power(0.5);
  const FrequencyLaw thousand = FrequencyLaw::exponential(1000);
  CHECK(integral(kLinear, 4) < 0);
  for (double x = 0; x <= 128; x += 0.5) {
    CHECK(integral(kPaper, x) > 0);
    CHECK(integral(thousand, x) > 0);
    CHECK(integral(square, x) > 0);
  }
  for (const FrequencyLaw& law : {kPaper, kLinear, square, root, thousand}) {
    CHECK(std::fabs(integral(law, 1e6)) < 1e-2);
    CHECK(std::fabs(integral(law, 1e6)) < std::fabs(integral(law, 10.25)) / 20);
  }
  // Power laws decay faster at short range, exponential ones at long range.
  CHECK(integral(square, 30) < integral(kPaper, 30));
  CHECK(std::fabs(integral(kPaper, 1e6 + 1)) < std::fabs(integral(square, 1e6 + 1)));
  // The closer theta is to 0, the slower: base 10000 lies above base 1000.
  for (double x = 2; x <= 1000; x *= 2) CHECK(integral(thousand, x) < integral(kPaper, x));
}

TEST_CASE("the sum of d/2 cosines is a Riemann sum of the integral, for every even d (golden osc-006)") {
  CHECK(riemann(kPaper, 16, 64) == Approx(0.6134414196).epsilon(0).margin(1e-9));
  CHECK(riemann(kPaper, 128, 64) == Approx(0.476875922).epsilon(0).margin(1e-9));
  CHECK(riemann(kPaper, 512, 64) == Approx(0.4853902711).epsilon(0).margin(1e-9));
  const FrequencyLaw square = FrequencyLaw::power(2);
  const double offsets[] = {1, 8, 64};
  for (const FrequencyLaw& law : {kPaper, kLinear, square}) {
    double truth[3], sums[3];
    REQUIRE(oscillatory_integral(law, offsets, 3, truth).ok());
    // |sum - integral| is at most the variation of cos(x theta) over the number of terms, and that at most x.
    for (int d = 2; d <= 512; d += 2) {
      REQUIRE(riemann_sum(law, d, offsets, 3, sums).ok());
      CAPTURE(law.parameter, d);
      for (int n = 0; n < 3; ++n) CHECK(std::fabs(sums[n] - truth[n]) <= offsets[n] * 2 / d);
    }
    // Its first order is (f(0) - f(1)) / d, which no other sampling of the law meets.
    for (const double x : offsets) {
      const double ends = law.rule == Rule::kExponential ? std::cos(x) - std::cos(x / 10000) : 1 - std::cos(x);
      CHECK((riemann(law, 4096, x) - integral(law, x)) * 4096 == Approx(ends).epsilon(0).margin(0.02 * x));
    }
  }
}

TEST_CASE("the kernel of lists worked by hand") {
  const double list[] = {1, 0.01};
  const auto frequencies = Frequencies::list(list);
  CHECK(kernel(*frequencies, 3) == Approx(-0.9899924966 + 0.9995500337).epsilon(0).margin(1e-10));
  CHECK(kernel(*frequencies, 3, true) == Approx(0.5 * (-0.9899924966 + 0.9995500337)).epsilon(0).margin(1e-10));
  // S_1 = e^3i, S_2 = e^3i + e^0.03i = 2 cos(1.485) e^(...)
  CHECK(bound(*frequencies, 3) == Approx(0.5 * (1 + 2 * std::cos(1.485))).epsilon(0).margin(1e-14));
  CHECK(bound(*frequencies, 0) == 1.5);
}

TEST_CASE("many samples along a line make the line's Riemann sum") {
  // 32,768 terms of 200,001 samples: their product does not fit 32 bits.
  std::vector<double> line(200001);
  for (std::size_t j = 0; j < line.size(); ++j) line[j] = static_cast<double>(j) / 200000;
  CHECK(riemann(FrequencyLaw::of_samples(line), 65536, 50) ==
        Approx(riemann(kLinear, 65536, 50)).epsilon(0).margin(1e-12));
}

TEST_CASE("offsets, laws and widths that are refused") {
  double out = 0;
  const double nan = std::numeric_limits<double>::quiet_NaN(), far = 0x1p54, zero = 0;
  const auto paper = Frequencies::power_law(10000, 4, 2);
  CHECK(score_kernel(*paper, &nan, 1, false, &out).subject == "kernel");
  CHECK(score_kernel(*paper, &far, 1, false, &out).argument == "offsets");
  CHECK(decay_bound(*paper, &far, 1, &out).subject == "decayBound");
  CHECK(score_kernel(*Frequencies::list({}), &zero, 1, false, &out).code == Code::kShapeMismatch);
  CHECK(oscillatory_integral(kPaper, &far, 1, &out).code == Code::kOutOfRange);
  CHECK(oscillatory_integral(FrequencyLaw::exponential(0), &zero, 1, &out).message() ==
        "oscillatoryIntegral: base must be a number from 1e-12 to 1e12, got 0");
  CHECK(oscillatory_integral(FrequencyLaw::power(-1), &zero, 1, &out).argument == "alpha");
  CHECK(oscillatory_integral(FrequencyLaw::power(nan), &zero, 1, &out).code == Code::kNotANumber);
  CHECK(oscillatory_integral(FrequencyLaw::of_samples({}), &zero, 1, &out).code == Code::kShapeMismatch);
  const double bad[] = {1, std::numeric_limits<double>::infinity()};
  CHECK(riemann_sum(FrequencyLaw::of_samples(bad), 4, &zero, 1, &out).code == Code::kNotFinite);
  CHECK(riemann_sum(kPaper, 5, &zero, 1, &out).code == Code::kNotInteger);
  CHECK(riemann_sum(kPaper, 0, &zero, 1, &out).message() ==
        "riemannSum: dim must be an even integer from 2 to 65536, got 0");
}

TEST_CASE("exact sums do not depend on the order and round once") {
  ExactSum none;
  CHECK(none.value() == 0);
  ExactSum tie;
  for (const double x : {1.0, 0x1p-53, 0x1p-1000}) tie.add(x);
  CHECK(tie.value() == 1 + 0x1p-52);
  property("sum", [](Dice& dice) {
    std::vector<double> list(static_cast<std::size_t>(dice.integer(1, 60)));
    for (double& x : list) x = std::ldexp(dice.real(-1, 1), static_cast<int>(dice.integer(-300, 300)));
    for (double x : std::vector(list)) list.push_back(-x);
    const double rest = dice.real(-1, 1);
    list.push_back(rest);
    for (std::size_t n = list.size(); n-- > 1;) std::swap(list[n], list[dice.bits() % (n + 1)]);
    ExactSum sum;
    for (const double x : list) sum.add(x);
    CHECK(sum.value() == rest);
  });
}

TEST_CASE("properties of the kernel") {
  property("even, largest at 0, and within its bound", [](Dice& dice) {
    const auto list = random_list(dice, 40);
    const auto frequencies = Frequencies::list(list);
    const double k = dice.coin() ? dice.integer(-1e6, 1e6) : dice.real(-1e3, 1e3);
    const double count = static_cast<double>(list.size());
    CHECK(kernel(*frequencies, -k) == kernel(*frequencies, k));
    CHECK(kernel(*frequencies, 0) == count);
    CHECK(std::fabs(kernel(*frequencies, k)) <= count);
    CHECK(kernel(*frequencies, k, true) == kernel(*frequencies, k) / count);
    CHECK(bound(*frequencies, 0) == (count + 1) / 2);
    CHECK(bound(*frequencies, k) <= (count + 1) / 2 + 1e-12);
    // |S_{d/2}| is one of the terms.
    CHECK(bound(*frequencies, k) * count >= std::fabs(kernel(*frequencies, k)) - 1e-12);
  });
  property("the order of the pairs does not change a bit", [](Dice& dice) {
    auto list = random_list(dice, 40);
    const double k = dice.real(-1e9, 1e9), before = kernel(*Frequencies::list(list), k);
    std::reverse(list.begin(), list.end());
    CHECK(kernel(*Frequencies::list(list), k) == before);
  });
  property("<p_m, p_n> = g(m - n)", [](Dice& dice) {
    const auto list = random_list(dice, 20);
    const double m = dice.integer(-1000, 1000), n = dice.integer(-1000, 1000);
    double dot = 0;
    for (const double omega : list) {
      dot += std::cos(m * omega) * std::cos(n * omega) + std::sin(m * omega) * std::sin(n * omega);
    }
    CHECK(kernel(*Frequencies::list(list), m - n) == Approx(dot).epsilon(0).margin(1e-10));
  });
  property("RoFormer's bound holds for any queries and keys", [](Dice& dice) {
    const auto list = random_list(dice, 20);
    const double k = dice.real(-300, 300);
    std::vector<double> re(list.size() + 1), im(list.size() + 1);
    double score = 0, largest = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      re[i] = dice.real(-2, 2);
      im[i] = dice.real(-2, 2);
      score += re[i] * std::cos(k * list[i]) - im[i] * std::sin(k * list[i]);
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      largest = std::max(largest, std::hypot(re[i + 1] - re[i], im[i + 1] - im[i]));
    }
    CHECK(std::fabs(score) <=
          static_cast<double>(list.size()) * largest * bound(*Frequencies::list(list), k) * (1 + 1e-10) + 1e-10);
  });
}

TEST_CASE("properties of the integrals") {
  property("even, 1 at 0, at most 1", [](Dice& dice) {
    std::vector<double> samples;
    const FrequencyLaw law = random_law(dice, samples);
    const double x = dice.coin() ? dice.real(-50, 50) : dice.real(-1e6, 1e6);
    CHECK(integral(law, -x) == integral(law, x));
    CHECK(integral(law, 0) == 1);
    CHECK(std::fabs(integral(law, x)) <= 1 + 1e-14);
  });
  property("b^t = b b^-(1 - t): the law of 1 / b is that of b, stretched", [](Dice& dice) {
    const double b = std::ldexp(1.0, static_cast<int>(dice.integer(1, 20))), x = dice.real(0, 1000);
    CHECK(integral(FrequencyLaw::exponential(1 / b), x) ==
          Approx(integral(FrequencyLaw::exponential(b), x * b)).epsilon(0).margin(1e-13));
  });
  property("samples on a line are the line", [](Dice& dice) {
    std::vector<double> line(static_cast<std::size_t>(dice.integer(2, 30)));
    for (std::size_t j = 0; j < line.size(); ++j) {
      line[j] = static_cast<double>(j) / static_cast<double>(line.size() - 1);
    }
    const double x = dice.real(-2000, 2000);
    CHECK(integral(FrequencyLaw::of_samples(line), x) ==
          Approx(integral(kLinear, x)).epsilon(0).margin(1e-13));
  });
  property("samples say what quadrature of their polygon says", [](Dice& dice) {
    const auto theta = random_list(dice, 6);
    const double x = dice.real(-8, 8);
    constexpr int kSteps = 2000;  // Simpson's rule, in each segment
    double sum = 0;
    const std::size_t segments = std::max<std::size_t>(theta.size() - 1, 1);
    for (std::size_t j = 0; j < segments; ++j) {
      const double low = theta[j], high = theta[std::min(j + 1, theta.size() - 1)];
      for (int n = 0; n <= kSteps; ++n) {
        const double weight = n == 0 || n == kSteps ? 1 : n % 2 == 1 ? 4 : 2;
        sum += weight * std::cos(x * (low + (high - low) * n / kSteps));
      }
    }
    CHECK(integral(FrequencyLaw::of_samples(theta), x) ==
          Approx(sum / (3.0 * kSteps * static_cast<double>(segments))).epsilon(0).margin(1e-11));
  });
  property("by parts: (x d/dx + 1 / alpha) I = cos(x) / alpha for t^alpha", [](Dice& dice) {
    const double alpha = std::exp(dice.real(-2, 2)), x = dice.real(0.5, 200), h = 1e-3;
    const FrequencyLaw law = FrequencyLaw::power(alpha);
    const double slope = (8 * (integral(law, x + h) - integral(law, x - h)) -
                          (integral(law, x + 2 * h) - integral(law, x - 2 * h))) / (12 * h);
    CHECK(x * slope + integral(law, x) / alpha == Approx(std::cos(x) / alpha).epsilon(0).margin(2e-8));
  });
  property("x ln b dI/dx = cos x - cos(x / b) for b^-t", [](Dice& dice) {
    const double b = std::exp(dice.real(0.1, 12)), x = dice.real(0.5, 200), h = 1e-3;
    const FrequencyLaw law = FrequencyLaw::exponential(b);
    const double slope = (8 * (integral(law, x + h) - integral(law, x - h)) -
                          (integral(law, x + 2 * h) - integral(law, x - 2 * h))) / (12 * h);
    CHECK(x * std::log(b) * slope == Approx(std::cos(x) - std::cos(x / b)).epsilon(0).margin(2e-8));
  });
  property("a Riemann sum errs by the variation over the number of terms at most", [](Dice& dice) {
    std::vector<double> samples;
    FrequencyLaw law = random_law(dice, samples);
    if (law.rule == Rule::kExponential && law.parameter < 1) law.parameter = 1 / law.parameter;
    double variation = 1;  // of theta
    if (law.rule == Rule::kSamples) {
      variation = 0;
      for (std::size_t j = 0; j + 1 < samples.size(); ++j) variation += std::fabs(samples[j + 1] - samples[j]);
    }
    const double x = dice.real(-100, 100), pairs = dice.integer(1, 300);
    CHECK(std::fabs(riemann(law, 2 * pairs, x) - integral(law, x)) <= std::fabs(x) * variation / pairs + 1e-13);
  });
}
