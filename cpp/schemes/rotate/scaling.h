// Context extension: rules that change the frequencies of a rotation so that it reaches beyond the trained length.
// A new rule is a choice at the end of kScalingType, its params, and a function in scaling.cpp.
#pragma once

#include <vector>

#include "kernels/frequencies.h"
#include "schemes/frequency_report.h"
#include "schemes/scheme.h"

namespace posenc {

// Params of every scheme that can be scaled; they stand together at the end of its list.
inline constexpr Param kScalingType = {
    .name = "scaling.type", .kind = Kind::kChoice,
    .sentence = "Rule that stretches the wavelengths beyond the trained length.", .fallback = 0,
    .choices = "none|linear|ntk"};
inline constexpr Param kScalingFactor = {
    .name = "scaling.factor", .kind = Kind::kReal, .sentence = "How many times the trained length is to be reached.",
    .fallback = kNone, .min = 1, .max = 1e6, .shown = 4, .shown_min = 1, .shown_max = 32, .shown_log = true};

// Frequencies before any rule: base^(-2i/dim) for i < dim/2, or a list of dim/2 of them.
struct Unscaled {
  int dim = 0;          // rotated columns, even
  double base = kNone;  // kNone where there is a list
  std::span<const double> list;

  std::size_t pairs() const { return static_cast<std::size_t>(dim) / 2; }
};

// What is in force for a sequence of some length.
struct Turning {
  Frequencies::Pointer frequencies;
  FrequencyReport report;
};

// The rule a spec asks for, ready to use. Errors: a missing factor, a width or a list the rule cannot work with.
class Scaling {
 public:
  static Status make(const Spec& spec, const Unscaled& unscaled, Scaling& scaling);

  // `length` counts the tokens of the sequence; no rule so far depends on it.
  const Turning& at(double length) const { (void)length; return turning_; }

 private:
  Turning turning_;
};

}  // namespace posenc
