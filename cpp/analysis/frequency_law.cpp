#include "analysis/frequency_law.h"

#include <cstdint>
#include <vector>

#include "kernels/sincos.h"

namespace posenc {

simd::SinCos sin_cos(double x) {
  constexpr double kOne[] = {1};
  static const Frequencies::Pointer unit = Frequencies::list(kOne);
  simd::SinCos result;
  fill_sin_cos(*unit, std::span(&x, 1), SinCosTable<double>::separate(&result.cos, &result.sin, 1, 1));
  return result;
}

Status check_law(const FrequencyLaw& law, const char* subject) {
  const auto check = [subject](const char* argument, double value, double min, double max, const char* allowed) {
    if (value != value) return refuse(Code::kNotANumber, subject, argument, allowed, to_text(value));
    if (!(value - value == 0)) return refuse(Code::kNotFinite, subject, argument, allowed, to_text(value));
    if (value < min || value > max) return refuse(Code::kOutOfRange, subject, argument, allowed, to_text(value));
    return ok();
  };
  switch (law.rule) {
    case FrequencyLaw::Rule::kExponential:
      return check("base", law.parameter, 1e-12, 1e12, "a number from 1e-12 to 1e12");
    case FrequencyLaw::Rule::kPower: return check("alpha", law.parameter, 1e-6, 1e6, "a number from 1e-6 to 1e6");
    case FrequencyLaw::Rule::kSamples: break;
  }
  if (law.samples.empty()) return refuse(Code::kShapeMismatch, subject, "samples", "at least one number", "none");
  for (const double theta : law.samples) {
    Status status = check("samples", theta, -1e12, 1e12, "numbers of at most 1e12 in magnitude");
    if (!status.ok()) return status;
  }
  return ok();
}

namespace {

// i^exponent for i = 0 .. last: powers of primes, and their products.
std::vector<MultiFloat> whole_powers(std::size_t last, const MultiFloat& exponent) {
  std::vector<MultiFloat> powers(last + 1);
  powers[1] = MultiFloat(1.0);
  for (std::size_t i = 2; i <= last; ++i) {
    std::size_t prime = 2;
    while (prime * prime <= i && i % prime != 0) ++prime;
    const bool is_prime = prime * prime > i;
    powers[i] = is_prime ? pow(MultiFloat(static_cast<double>(i)), exponent) : powers[prime] * powers[i / prime];
  }
  return powers;
}

}  // namespace

Frequencies::Pointer sampled(const FrequencyLaw& law, std::int64_t dim) {
  const auto pairs = static_cast<std::size_t>(dim / 2);
  if (law.rule == FrequencyLaw::Rule::kExponential) return Frequencies::power_law(law.parameter, dim, pairs);
  std::vector<MultiFloat> omegas;
  omegas.reserve(pairs);
  const MultiFloat count(static_cast<double>(pairs));
  if (law.rule == FrequencyLaw::Rule::kPower) {
    // Who draws a law asks for a few offsets at a time.
    static Frequencies::Pointer kept;
    static double kept_alpha = 0;
    static std::int64_t kept_dim = 0;
    if (kept_dim == dim && kept_alpha == law.parameter) return kept;
    if (law.parameter <= 16 && law.parameter == static_cast<int>(law.parameter)) {  // cheaper than pow
      for (std::size_t i = 0; i < pairs; ++i) {
        omegas.push_back(power(MultiFloat(static_cast<double>(i)) / count, static_cast<int>(law.parameter)));
      }
    } else {
      const std::vector<MultiFloat> powers = whole_powers(pairs, MultiFloat(law.parameter));
      for (std::size_t i = 0; i < pairs; ++i) omegas.push_back(powers[i] / powers[pairs]);
    }
    kept_alpha = law.parameter;
    kept_dim = dim;
    return kept = Frequencies::angular(omegas);
  }
  const std::size_t last = law.samples.size() - 1;
  for (std::size_t i = 0; i < pairs; ++i) {
    // t = i / pairs lies in segment j, the fraction f / pairs into it.
    const std::uint64_t along = static_cast<std::uint64_t>(i) * last;  // a size_t of 32 bits would overflow
    const auto j = static_cast<std::size_t>(along / pairs), f = static_cast<std::size_t>(along % pairs);
    const MultiFloat low(law.samples[j]);
    const MultiFloat within(static_cast<double>(f));
    omegas.push_back(f == 0 ? low : low + (MultiFloat(law.samples[j + 1]) - low) * within / count);
  }
  return Frequencies::angular(omegas);
}

}  // namespace posenc
