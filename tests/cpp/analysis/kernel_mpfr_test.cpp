// The kernel, RoFormer's bound, the oscillatory integrals and their Riemann sums against MPFR.
//
// The integrals are had by three routes that share nothing with the library's: the power series of the integrand with
// as many bits as its terms cancel; integration by parts from infinity, whose error is below its least term; and Gauss
// and Legendre's rule over the integral as it stands.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "analysis/kernel.h"
#include "analysis/oscillatory.h"
#include "support/big.h"
#include "support/property.h"

using namespace posenc;
using posenc_test::Big;
using posenc_test::Dice;
using posenc_test::property;

namespace {

using Rule = FrequencyLaw::Rule;

double integral(FrequencyLaw law, double x) {
  double out = 0;
  REQUIRE(oscillatory_integral(law, &x, 1, &out).ok());
  return out;
}

struct Precision {
  explicit Precision(double x) { Big::bits = 300 + static_cast<mpfr_prec_t>(3 * x); }
  ~Precision() { Big::bits = 600; }
};

// Ci(u) for u > 0: gamma + ln u + sum (-1)^n u^2n / (2n (2n)!), or from 200 on the asymptotic series, error e^-200.
Big ci(const Big& u) {
  if (u.value() < 200) {
    Big sum = Big::euler_gamma() + log(u), term = 1;
    for (int n = 2; n < 2000; n += 2) {
      term *= -(u * u) / Big(static_cast<double>(n) * (n - 1));
      sum += term / Big(n);
    }
    return sum;
  }
  // Ci = sin u / u (1 - 2!/u^2 + 4!/u^4 ...) - cos u / u^2 (1 - 3!/u^2 + 5!/u^4 ...)
  Big f = 0, g = 0, term = Big(1) / u;
  for (int n = 0; n < 190; n += 2) {
    f += term;
    g += term * Big(n + 1) / u;
    term *= -Big(static_cast<double>(n + 1) * (n + 2)) / (u * u);
  }
  return sin(u) * f - cos(u) * g;
}

Big exponential_integral(double base, double x) {
  const Big b = base, u = x;
  return (ci(u) - ci(u / b)) / log(b);
}

// sum (-1)^n x^2n / ((2n)! (2n alpha + 1)), x up to some thousands.
Big power_series(double alpha, double x) {
  Big sum = 0, term = 1;
  for (int n = 0; n < 8 * x + 400; n += 2) {
    sum += term / (Big(n) * Big(alpha) + Big(1));
    term *= -(Big(x) * Big(x)) / Big(static_cast<double>(n + 1) * (n + 2));
  }
  return sum;
}

// Gamma(s + 1) x^-s cos(pi s / 2) - s Re[e^(ix) sum_n (s - 1) ... (s - n) (-1)^n / (ix)^(n + 1) i^...], by parts.
Big power_by_parts(double alpha, double x) {
  const Big s = Big(1) / Big(alpha), u = x;
  Big whole = gamma(s + Big(1)) * exp(-(s * log(u))) * cos(Big::pi() * s / Big(2));
  // int_x^inf v^(s-1) e^(iv) dv = -e^(ix) x^(s-1) sum_n (s-1)...(s-n) (-1)^n i^-(n+1) x^-n, in parts of 1, i, -1, -i.
  Big re = 0, im = 0, term = 1;
  for (int n = 0; n < 150; ++n) {
    // (-1)^n i^-(n+1) = -i i^n
    switch (n % 4) {
      case 0: im -= term; break;
      case 1: re += term; break;
      case 2: im += term; break;
      default: re -= term;
    }
    term *= (s - Big(n + 1)) / u;
  }
  const Big tail = -(cos(u) * re - sin(u) * im) / u;
  return whole - s * tail;
}

// The nodes of Gauss and Legendre's rule of 24 points by Newton from Chebyshev's guess, in MPFR.
struct GaussLegendre {
  std::vector<Big> nodes, weights;
  GaussLegendre() {
    const mpfr_prec_t bits = std::exchange(Big::bits, 600);
    constexpr int n = 24;
    for (int k = 0; k < n; ++k) {
      Big x = std::cos(M_PI * (k + 0.75) / (n + 0.5)), slope;
      for (int step = 0; step < 8; ++step) {
        Big p = 1, q = 0;
        for (int m = 1; m <= n; ++m) {
          const Big r = q;
          q = p;
          p = (Big(2 * m - 1) * x * q - Big(m - 1) * r) / Big(m);
        }
        slope = Big(n) * (x * p - q) / (x * x - Big(1));
        x -= p / slope;
      }
      nodes.push_back(x);
      weights.push_back(Big(2) / ((Big(1) - x * x) * slope * slope));
    }
    Big::bits = bits;
  }
};

// The integral of cos(x theta_t) as it stands, over `panels` equal parts of [0, 1].
template <class Theta>
Big quadrature(Theta theta, double x, int panels) {
  static const GaussLegendre rule;
  Big sum = 0;
  for (int p = 0; p < panels; ++p) {
    for (std::size_t n = 0; n < rule.nodes.size(); ++n) {
      const Big t = (Big(p) + (rule.nodes[n] + Big(1)) / Big(2)) / Big(panels);
      sum += rule.weights[n] * cos(Big(x) * theta(t));
    }
  }
  return sum / Big(2.0 * panels);
}

double gap(double got, const Big& truth) { return std::fabs((Big(got) - truth).value()); }

double worst_integral = 0;

void check_integral(FrequencyLaw law, double x, const Big& truth) {
  const double error = gap(integral(law, x), truth);
  worst_integral = std::max(worst_integral, error);
  CAPTURE(static_cast<int>(law.rule), law.parameter, x, truth.value(), error);
  CHECK(error <= 1e-13);
}

}  // namespace

TEST_CASE("the oracles agree with each other") {
  const Precision precision(2000);
  for (const double alpha : {0.4, 1.0, 2.0, 7.5}) {
    for (const double x : {200.0, 1000.5, 2000.0}) {
      CHECK(std::fabs((power_series(alpha, x) - power_by_parts(alpha, x)).value()) < 1e-60);
    }
  }
  Big::bits = 1300;
  for (const double x : {1.0, 40.0, 300.0}) {
    const Big b = 10000;
    const Big direct = quadrature([&](const Big& t) { return pow(b, -t); }, x, 200);
    CHECK(std::fabs((direct - exponential_integral(10000, x)).value()) < 1e-25);
    const Big square = quadrature([](const Big& t) { return t * t; }, x, 120);
    CHECK(std::fabs((square - power_series(2, x)).value()) < 1e-25);
  }
}

TEST_CASE("integrals of exponential laws against MPFR") {
  for (const double base : {10000.0, 1000.0, 500000.0, 2.0, 1.5, 1.0001, 1 + 1e-9, 0.7, 1e-3, 1e-12, 1e12}) {
    for (const double x : {1e-6, 0.5, 1.0, 3.99, 4.01, 10.0, 64.0, 128.0, 1000.0, 31415.9, 123456.789, 1e6, 1e9 + 0.5,
                           0x1p52 + 1, 0x1p53}) {
      check_integral(FrequencyLaw::exponential(base), x, exponential_integral(base, x));
    }
  }
  std::printf("oscillatory integrals of exponential laws: worst error %.1e\n", worst_integral);
}

TEST_CASE("integrals of power laws against MPFR") {
  for (const double alpha : {1.0, 2.0, 3.0, 0.5, 1.5, 10.0, 0.1, 0.01, 100.0, 0.37}) {
    for (const double x : {1e-6, 0.5, 3.0, 4.5, 6.0, 10.0, 64.0, 104.5, 128.0, 150.0, 350.0, 1000.0}) {
      const Precision precision(x);
      check_integral(FrequencyLaw::power(alpha), x, power_series(alpha, x));
    }
    for (const double x : {10003.0, 123456.789, 1e6, 1e12 + 0.25, 0x1p53}) {
      check_integral(FrequencyLaw::power(alpha), x, power_by_parts(alpha, x));
    }
  }
  std::printf("oscillatory integrals of power laws: worst error %.1e\n", worst_integral);
}

TEST_CASE("integrals of sampled laws against quadrature of each segment") {
  Big::bits = 200;
  property("sampled", [](Dice& dice) {
    std::vector<double> theta(static_cast<std::size_t>(dice.integer(2, 5)));
    for (double& value : theta) value = dice.real(-1, 1);
    if (dice.coin()) theta[1] = theta[0];
    const double x = dice.real(-40, 40);
    Big truth = 0;
    for (std::size_t j = 0; j + 1 < theta.size(); ++j) {
      const Big low = theta[j], high = theta[j + 1];
      truth += quadrature([&](const Big& t) { return low + (high - low) * t; }, x, 3);
    }
    check_integral(FrequencyLaw::of_samples(theta), x, truth / Big(static_cast<double>(theta.size() - 1)));
  });
  Big::bits = 600;
}

TEST_CASE("integrals with random laws and offsets up to 10^6 against MPFR") {
  property("integral", [](Dice& dice) {
    const double x = std::exp(dice.real(std::log(1e-3), std::log(1e6)));
    const double base = std::exp(dice.real(std::log(1e-6), std::log(1e9)));
    check_integral(FrequencyLaw::exponential(base), x, exponential_integral(base, x));
    const double alpha = std::exp(dice.real(std::log(0.05), std::log(50.0)));
    const Precision precision(x < 500 ? x : 0);
    check_integral(FrequencyLaw::power(alpha), x,
                   x < 500 ? power_series(alpha, x) : power_by_parts(alpha, x));
  });
}

TEST_CASE("kernel, bound and Riemann sums of power laws against MPFR") {
  double worst = 0;
  property("kernel", [&](Dice& dice) {
    const double dim = 2 * dice.integer(1, 24), base = std::exp(dice.real(0.1, 20));
    const double k = dice.coin() ? dice.integer(0, 1e6) : std::floor(std::exp(dice.real(0, std::log(0x1p53))));
    const auto pairs = static_cast<std::size_t>(dim / 2);
    Big sum = 0, re = 0, im = 0, bound = 0;
    for (std::size_t i = 0; i < pairs; ++i) {
      const Big angle = Big(k) * pow(Big(base), Big(-2.0 * static_cast<double>(i)) / Big(dim));
      sum += cos(angle);
      re += cos(angle);
      im += sin(angle);
      bound += sqrt(re * re + im * im);
    }
    const auto frequencies = Frequencies::power_law(base, static_cast<std::int64_t>(dim), pairs);
    // Through the parts in which frequencies cross from the core, too.
    std::vector<double> parts(pairs * kFrequencyParts);
    for (std::size_t i = 0; i < pairs; ++i) split_frequency(frequencies->angular(i), &parts[i * kFrequencyParts]);
    const auto crossed = Frequencies::of_parts(parts);
    double g = 0, same = 0, b = 0, riemann = 0;
    REQUIRE(score_kernel(*frequencies, &k, 1, false, &g).ok());
    REQUIRE(score_kernel(*crossed, &k, 1, false, &same).ok());
    REQUIRE(decay_bound(*frequencies, &k, 1, &b).ok());
    CAPTURE(dim, base, k);
    CHECK(same == g);
    const double count = static_cast<double>(pairs);
    CHECK(gap(g, sum) <= count * 0x1p-53);
    worst = std::max(worst, gap(g, sum) / count * 0x1p53);
    CHECK(gap(b, bound / Big(count)) <= count * count * 0x1p-51);
    REQUIRE(riemann_sum(FrequencyLaw::exponential(base), dim, &k, 1, &riemann).ok());
    CHECK(riemann == g / count);

    const double alpha = dice.real(0.1, 4);
    REQUIRE(riemann_sum(FrequencyLaw::power(alpha), dim, &k, 1, &riemann).ok());
    Big mean = 0;
    for (std::size_t i = 0; i < pairs; ++i) {
      const Big t = Big(static_cast<double>(i)) / Big(count);
      mean += i == 0 ? Big(1) : cos(Big(k) * pow(t, Big(alpha)));
    }
    CHECK(gap(riemann, mean / Big(count)) <= 0x1p-51);
  });
  std::printf("kernel: worst error %.2f pairs * 2^-53\n", worst);
}
