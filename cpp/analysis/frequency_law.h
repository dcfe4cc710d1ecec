// Laws theta_t, 0 <= t <= 1, that frequencies are samples of.
#pragma once

#include <cstddef>
#include <span>

#include "core/status.h"
#include "kernels/frequencies.h"
#include "simd/math.h"

namespace posenc {

/// sin and cos of x radians, |x| <= 2^53, within 0.51 ULP.
simd::SinCos sin_cos(double x);

/// theta_t on [0, 1], radians a position.
struct FrequencyLaw {
  enum class Rule { kExponential, kPower, kSamples };
  Rule rule = Rule::kExponential;
  double parameter = 10000;         // exponential: the base b of b^-t; power: the exponent alpha of t^alpha
  std::span<const double> samples;  // theta at t = j / (count - 1), linear in between; one sample: constant

  static FrequencyLaw exponential(double base) { return {Rule::kExponential, base, {}}; }
  static FrequencyLaw power(double alpha) { return {Rule::kPower, alpha, {}}; }
  static FrequencyLaw of_samples(std::span<const double> samples) { return {Rule::kSamples, 0, samples}; }
};

/// Refuses a base outside [1e-12, 1e12], an alpha outside [1e-6, 1e6], no samples, and samples that are not finite or
/// beyond 1e12 in magnitude, in the voice of `subject`.
Status check_law(const FrequencyLaw& law, const char* subject);

/// theta at t = 2 i / dim, i < dim / 2, exactly or to 2^-210 (2^-228 of powers up to 8): what a scheme of `dim` columns
/// samples.
Frequencies::Pointer sampled(const FrequencyLaw& law, std::int64_t dim);

}  // namespace posenc
