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

Frequencies::Pointer sampled(const FrequencyLaw& law, std::int64_t dim) {
  const auto pairs = static_cast<std::size_t>(dim / 2);
  if (law.rule == FrequencyLaw::Rule::kExponential) return Frequencies::power_law(law.parameter, dim, pairs);
  std::vector<MultiFloat> omegas;
  omegas.reserve(pairs);
  const MultiFloat count(static_cast<double>(pairs)), alpha(law.parameter);
  const bool squares = law.parameter <= 16 && law.parameter == static_cast<int>(law.parameter);  // cheaper than pow
  const std::size_t last = law.samples.size() - 1;
  for (std::size_t i = 0; i < pairs; ++i) {
    if (law.rule == FrequencyLaw::Rule::kPower) {
      const MultiFloat t = MultiFloat(static_cast<double>(i)) / count;
      omegas.push_back(i == 0 ? t : squares ? power(t, static_cast<int>(law.parameter)) : pow(t, alpha));
      continue;
    }
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
