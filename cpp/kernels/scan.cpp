#include "kernels/scan.h"

#include <cstdint>
#include <cstring>
#include <limits>

#include "simd/f32x4.h"

namespace posenc {

using namespace simd;

Scan scan_numbers(const float* x, std::size_t n) {
  // x (n)
  // Without their sign, floats are ordered as integers are, with NaN above Inf.
  const I32x4 no_sign = splat_int(0x7fffffff);
  I32x4 most = splat_int(0), other = most;
  const auto size = [&](const float* at) { return bits(load(at)) & no_sign; };
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    most = max(most, max(size(x + i), size(x + i + 4)));
    other = max(other, max(size(x + i + 8), size(x + i + 12)));
  }
  for (; i + 4 <= n; i += 4) most = max(most, size(x + i));
  most = max(max(most, other), bits(load_part(x + i, n - i)) & no_sign);
  const I32x4 folded = max(most, bits(high_high(float_of_bits(most), float_of_bits(most))));
  const F32x4 sizes = float_of_bits(folded);
  const float magnitude = lane<0>(folded) < lane<1>(folded) ? lane<1>(sizes) : lane<0>(sizes);
  return {magnitude, magnitude - magnitude == 0};
}

bool mask_is_legal(const float* x, std::size_t n, float& magnitude) {
  // x (n)
  const F32x4 limit = splat(std::numeric_limits<float>::infinity());
  I32x4 below = splat_int(-1);
  F32x4 most = splat(0.0f);
  const auto look = [&](F32x4 a) {
    below &= a < limit;
    const F32x4 size = abs(a);
    most = max(most, keep(size < limit, size));
  };
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) look(load(x + i));
  look(load_part(x + i, n - i));
  magnitude = largest(most);
  return all(below);
}

bool sums_are_finite(const float* a, const float* b, std::size_t n) {
  // a (n)  b (n)
  F32x4 faults = splat(0.0f);  // x - x is NaN where x is NaN or Inf, else +0
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const F32x4 sum = load(a + i) + load(b + i);
    faults = faults + (sum - sum);
  }
  const F32x4 sum = load_part(a + i, n - i) + load_part(b + i, n - i);
  return all(faults + (sum - sum) == splat(0.0f));
}

bool all_flags(const std::uint8_t* x, std::size_t n) {
  // x (n)
  int bits = 0;
  for (std::size_t i = 0; i < n; ++i) bits |= x[i];
  return bits <= 1;
}

void make_nan_plain(float* x, std::size_t n) {
  const std::uint32_t plain = 0x7fc00000;
  for (std::size_t i = 0; i < n; ++i) {
    if (x[i] != x[i]) std::memcpy(x + i, &plain, sizeof plain);
  }
}

}  // namespace posenc
