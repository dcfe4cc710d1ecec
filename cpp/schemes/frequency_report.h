// What posenc.frequencies() tells of a scheme that turns pairs.
#pragma once

#include <string>
#include <vector>

#include "kernels/frequencies.h"
#include "schemes/scheme.h"

namespace posenc {

// All numbers are float64, rounded once from the exact frequencies. kNone: nothing to say.
struct FrequencyReport {
  enum class Band { kKept, kRamped, kScaled };
  std::vector<double> inverse;     // omega_i of each pair, radians a position
  std::vector<double> rest;        // (pairs, 2): what rounding took from each omega_i, so that the three add up to it
  std::vector<double> wavelength;  // 2 pi / |omega_i|, positions; infinite (null in JSON) where omega_i is 0
  double base = kNone;             // the base in force at this length; kNone where no base makes the frequencies
  double attention_factor = 1;     // multiplies queries and keys
  double softmax_scale = kNone;    // multiplies the softmax scale
  std::vector<Band> band;          // what a scaling rule did to each pair
  double low = kNone, high = kNone;  // the pairs between which a rule ramps
  std::vector<std::string> notes;

  // A report of frequencies no rule has touched.
  static FrequencyReport of(const Frequencies& frequencies);
};

// {inverse, wavelength, base, attentionFactor, softmaxScale?, band: "kept" | "ramped" | "scaled" of each pair, low?,
// high?, notes}.
std::string to_json(const FrequencyReport& report);

}  // namespace posenc
