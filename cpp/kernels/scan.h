// One pass over numbers that are about to be computed with.
#pragma once

#include <cstddef>
#include <cstdint>

namespace posenc {

struct Scan {
  float magnitude = 0;  // the largest |x|; Inf or NaN where one is
  bool finite = true;   // no NaN, no Inf
};

// x (n)
Scan scan_numbers(const float* x, std::size_t n);

// x (n): every number is finite or -inf. magnitude: the largest |x| of the finite ones.
bool mask_is_legal(const float* x, std::size_t n, float& magnitude);

// a (n)  b (n): no sum a + b is NaN, inf or -inf.
bool sums_are_finite(const float* a, const float* b, std::size_t n);

// x (n): every byte is 0 or 1.
bool all_flags(const std::uint8_t* x, std::size_t n);

// x (n): every NaN becomes 0x7fc00000, the one NaN that leaves the core, since raw NaN bits differ between builds.
void make_nan_plain(float* x, std::size_t n);

}  // namespace posenc
