#include "analysis/oscillatory.h"

#include <cmath>
#include <vector>

#include "analysis/kernel.h"
#include "core/positions.h"
#include "kernels/exact_sum.h"
#include "kernels/sincos.h"

namespace posenc {

namespace {

using simd::SinCos;

struct Complex {
  double re = 0, im = 0;
};

Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
Complex reciprocal(Complex a) {
  const double norm = a.re * a.re + a.im * a.im;
  return {a.re / norm, -a.im / norm};
}
double magnitude(double x) { return x < 0 ? -x : x; }

// Gamma(s, z) e^z z^-s at z = -i u for u >= s + 4: Legendre's continued fraction
//   1 / (z + 1 - s - 1 (1 - s) / (z + 3 - s - 2 (2 - s) / (z + 5 - s - ...)))
// by Lentz's method (Lentz 1976, modified by Thompson and Barnett). At most 60 steps there; ends by itself for whole s.
Complex incomplete_gamma_tail(double s, double u) {
  Complex b{1 - s, -u};
  Complex d = reciprocal(b), c{1e300, 0}, h = d;
  for (int n = 1; n < 500; ++n) {
    const double a = n * (s - n);
    b.re += 2;
    d = reciprocal(Complex{a * d.re, a * d.im} + b);
    const Complex inverse = reciprocal(c);
    c = b + Complex{a * inverse.re, a * inverse.im};
    const Complex step = c * d;
    h = h * step;
    if (magnitude(step.re - 1) + magnitude(step.im) < 0x1p-52) break;
  }
  return h;
}

// The least argument that goes by the continued fraction; below it the power series loses two digits at most.
constexpr double kSeriesEnd = 4;

// Cin(u) = integral from 0 to u of (1 - cos v) / v dv = sum (-1)^(n+1) u^2n / (2n (2n)!), 0 <= u <= kSeriesEnd.
double cin_series(double u) {
  const double square = u * u;
  double term = 1, sum = 0;
  for (int n = 2; n < 60; n += 2) {
    term *= -square / (static_cast<double>(n) * (n - 1));
    const double next = sum - term / n;
    if (next == sum) break;
    sum = next;
  }
  return sum;
}

// Ci(u) for u > kSeriesEnd, given the exact sine and cosine of u: -Re(e^(iu) Gamma(0, -iu) e^(-iu)).
double ci_tail(double u, const SinCos& angle) {
  const Complex g = incomplete_gamma_tail(0, u);
  return angle.sin * g.im - angle.cos * g.re;
}

// 1 - e^-y, |y| <= 1/2.
double one_less_exp(double y) {
  double term = y, sum = y;
  for (int n = 2; n < 24; ++n) {
    term *= -y / n;
    sum += term;
  }
  return sum;
}

// Gauss and Legendre's sixteen points: the positive abscissas and their weights.
constexpr double kAbscissas[] = {0x1.852bd6676a9f9p-4, 0x1.205cae642337cp-2, 0x1.d50259a43a772p-2,
                                 0x1.3c5a466d5e8b8p-1, 0x1.82c45dda4726bp-1, 0x1.bb3403514e483p-1,
                                 0x1.e39f56616f9b0p-1, 0x1.fa92c264d787ep-1};
constexpr double kWeights[] = {0x1.83feae80e4dfcp-3, 0x1.75f8c77e0c00fp-3, 0x1.5a6ebbb5a75fcp-3,
                               0x1.325f61bca3cbfp-3, 0x1.fe7af2bad386ap-4, 0x1.85c4ee79cc258p-4,
                               0x1.fdfb1a2c1265dp-5, 0x1.bcddab4b7c211p-6};

// theta = b^-t.
class Exponential {
 public:
  explicit Exponential(double base)
      : base_(base), log_(simd::log_double(base)),
        inverse_(Frequencies::angular(std::vector{MultiFloat(1.0) / MultiFloat(base)})) {}

  double operator()(double x) const {
    if (x == 0) return 1;
    if (base_ == 1) return sin_cos(x).cos;
    const double u = x / base_;
    // [Ci(x) - Ci(u)] / ln b, in the form in which nothing cancels.
    if (x <= kSeriesEnd && u <= kSeriesEnd) {
      if (magnitude(log_) > 0.5) return 1 - (cin_series(x) - cin_series(u)) / log_;
      return near_one(x);
    }
    if (magnitude(log_) <= 0.5 && magnitude(x - u) <= 64) return near_one(x);
    const double difference = ci(x, [x] { return sin_cos(x); }) - ci(u, [this, x] { return divided(x); });
    return difference / log_;
  }

 private:
  // sin and cos of x / b, the quotient exact: rounded it would err by its whole self past 2^53.
  SinCos divided(double x) const {
    SinCos result;
    fill_sin_cos(*inverse_, std::span(&x, 1), SinCosTable<double>::separate(&result.cos, &result.sin, 1, 1));
    return result;
  }

  template <class Angle>
  static double ci(double u, Angle angle) {
    constexpr double kEulerGamma = 0x1.2788cfc6fb619p-1;
    if (u <= kSeriesEnd) return kEulerGamma + simd::log_double(u) - cin_series(u);
    return ci_tail(u, angle());
  }

  // |ln b| <= 1/2 and a phase x (1 - 1/b) of at most 64: by quadrature, as Ci(x) and Ci(u) are nearly the same.
  // cos(x b^-t) = cos(x - D), D = x (1 - b^-t), which is small and thus precise.
  double near_one(double x) const {
    const double phase = magnitude(x * one_less_exp(log_));
    const int panels = 1 + static_cast<int>(phase * 0.125);
    const SinCos start = sin_cos(x);
    ExactSum sum;
    for (int p = 0; p < panels; ++p) {
      for (int n = 0; n < 8; ++n) {
        for (const double side : {-kAbscissas[n], kAbscissas[n]}) {
          const double t = (p + 0.5 + 0.5 * side) / panels;
          const SinCos turn = sin_cos(x * one_less_exp(log_ * t));
          sum.add(kWeights[n] * (start.cos * turn.cos + start.sin * turn.sin));
        }
      }
    }
    return sum.value() / (2 * panels);
  }

  double base_, log_;
  Frequencies::Pointer inverse_;
};

// ln Gamma(x), x >= 1, absolute error below 1e-14 max(1, value): Stirling's series from 16 on.
double log_gamma(double x) {
  double product = 1;
  for (; x < 16; x += 1) product *= x;
  const double i = 1 / x, z = i * i;
  constexpr double kHalfLogTwoPi = 0x1.d67f1c864beb5p-1;
  const double series = i * (1 / 12.0 - z * (1 / 360.0 - z * (1 / 1260.0 - z * (1 / 1680.0 - z * (1 / 1188.0)))));
  return (x - 0.5) * simd::log_double(x) - x + kHalfLogTwoPi + series - simd::log_double(product);
}

// theta = t^alpha; with s = 1 / alpha the integral is s x^-s int_0^x u^(s-1) e^(iu) du (u = x t^alpha).
class Power {
 public:
  explicit Power(double alpha) : s_(1 / alpha), log_gamma_(log_gamma(s_ + 1)), cos_(simd::sin_cos_turns(s_ / 4).cos) {}

  double operator()(double x) const {
    if (x == 0) return 1;
    const SinCos angle = sin_cos(x);
    return x <= s_ + kSeriesEnd ? series(x, angle) : tail(x, angle);
  }

 private:
  // Kummer: e^(ix) sum_n (-ix)^n / ((s + 1) ... (s + n)), whose terms fall from n = x - s on.
  double series(double x, const SinCos& angle) const {
    double sums[2] = {0, 0};
    double term = 1;
    for (int n = 0; n < 200000; ++n) {
      sums[n & 1] += (n & 2) ? -term : term;
      term *= x / (s_ + (n + 1));
      if (term < 0x1p-60) break;
    }
    return angle.cos * sums[0] + angle.sin * sums[1];
  }

  // Gamma(s + 1) x^-s cos(pi s / 2), what the integral to infinity has, less the tail from x on.
  double tail(double x, const SinCos& angle) const {
    const Complex g = incomplete_gamma_tail(s_, x);
    const double whole = simd::exp_double(log_gamma_ - s_ * simd::log_double(x)) * cos_;
    return whole - s_ * (angle.cos * g.re - angle.sin * g.im);
  }

  double s_, log_gamma_, cos_;
};

// theta linear between samples: each segment has a closed form.
class Samples {
 public:
  explicit Samples(std::span<const double> samples) : samples_(samples), frequencies_(Frequencies::list(samples)) {}

  double operator()(double x) {
    const std::size_t count = samples_.size();
    cos_.resize(count);
    sin_.resize(count);
    fill_sin_cos(*frequencies_, std::span(&x, 1),
                 SinCosTable<double>::separate(cos_.data(), sin_.data(), count, count));
    if (count == 1) return cos_[0];
    ExactSum sum;
    for (std::size_t j = 0; j + 1 < count; ++j) {
      // Half the phase of the segment; its middle is the start and that.
      const double half = 0.5 * x * (samples_[j + 1] - samples_[j]);
      if (magnitude(half) > 0.5) {
        sum.add((sin_[j + 1] - sin_[j]) / (2 * half));
        continue;
      }
      const SinCos turn = sin_cos(half);
      sum.add((cos_[j] * turn.cos - sin_[j] * turn.sin) * (half == 0 ? 1 : turn.sin / half));
    }
    return sum.value() / static_cast<double>(count - 1);
  }

 private:
  std::span<const double> samples_;
  Frequencies::Pointer frequencies_;
  std::vector<double> cos_, sin_;
};

template <class Integral>
void fill(Integral integral, const double* offsets, std::size_t count, double* out) {
  for (std::size_t n = 0; n < count; ++n) out[n] = integral(magnitude(offsets[n]));
}

}  // namespace

Status oscillatory_integral(const FrequencyLaw& law, const double* offsets, std::size_t count, double* out) {
  static constexpr char kSubject[] = "oscillatoryIntegral";
  if (Status status = check_law(law, kSubject); !status.ok()) return status;
  if (Status status = check_positions({offsets, count, 1}, kSubject, "offsets"); !status.ok()) return status;
  switch (law.rule) {
    case FrequencyLaw::Rule::kExponential: fill(Exponential(law.parameter), offsets, count, out); break;
    case FrequencyLaw::Rule::kPower: fill(Power(law.parameter), offsets, count, out); break;
    case FrequencyLaw::Rule::kSamples: fill(Samples(law.samples), offsets, count, out); break;
  }
  return ok();
}

Status riemann_sum(const FrequencyLaw& law, double dim, const double* offsets, std::size_t count, double* out) {
  static constexpr char kSubject[] = "riemannSum";
  if (Status status = check_law(law, kSubject); !status.ok()) return status;
  constexpr char kAllowed[] = "an even integer from 2 to 65536";
  if (!(dim >= 2 && dim <= 65536)) return refuse(Code::kOutOfRange, kSubject, "dim", kAllowed, to_text(dim));
  const auto columns = static_cast<std::int64_t>(dim);
  if (static_cast<double>(columns) != dim || columns % 2 != 0) {
    return refuse(Code::kNotInteger, kSubject, "dim", kAllowed, to_text(dim));
  }
  return score_kernel(*sampled(law, columns), offsets, count, true, out, kSubject);
}

}  // namespace posenc
