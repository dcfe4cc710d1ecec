// Frequencies as the calls of this part are given them.
#pragma once

#include <span>

#include "bindings/blocks.h"
#include "kernels/frequencies.h"

namespace posenc {

// (pairs, 3) doubles, the three of a pair adding up to its frequency.
inline Frequencies::Pointer turned(double parts, double pairs) {
  return Frequencies::of_parts(std::span(at<const double>(parts), count(pairs) * kFrequencyParts));
}

}  // namespace posenc
