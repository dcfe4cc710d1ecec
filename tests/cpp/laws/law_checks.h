// Tries the laws of schemes/laws.h on schemes, and compares what holds with what a descriptor claims.
#pragma once

#include <string>
#include <vector>

#include "schemes/laws.h"
#include "schemes/scheme.h"
#include "support/build.h"

namespace posenc_test {

struct Verdict {
  bool holds = true;
  std::string counterexample;  // where it does not
};

// Whether `law` holds of this scheme, whose slot must be one the law speaks of. `length` is for injective.
Verdict try_law(posenc::Law law, posenc::Slot slot, const posenc::Scheme& scheme, double length = 4096);

// Option lines that span a descriptor's values: the defaults, every flag and choice value on its own and among random
// others, random numbers of the shown ranges, lists and tables given or left out. Each builds.
std::vector<std::string> sample_options(const posenc::Descriptor& descriptor);

// One line for each claim that fails, each claim that was never tried, each claim about another slot, and each law that
// holds unclaimed: of every sample outside its claims, or of every sample in which a flag or choice has one value.
std::vector<std::string> law_faults(const posenc::Descriptor& descriptor);

}  // namespace posenc_test
