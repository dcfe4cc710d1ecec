// One pass over numbers that are about to be computed with.
#pragma once

#include <cstddef>
#include <cstdint>

namespace posenc {

struct Scan {
  float magnitude = 0;  // the largest |x|, not counting NaN
  bool finite = true;   // no NaN, no Inf
};

// x (n)
Scan scan_numbers(const float* x, std::size_t n);

// x (n): every number is below +inf, none is NaN; -inf is.
bool all_below_infinity(const float* x, std::size_t n);

// x (n): every byte is 0 or 1.
bool all_flags(const std::uint8_t* x, std::size_t n);

// x (n): every NaN becomes 0x7fc00000, the one NaN that leaves the core, since raw NaN bits differ between builds.
void make_nan_plain(float* x, std::size_t n);

}  // namespace posenc
