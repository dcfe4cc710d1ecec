#include "kernels/scan.h"

#include <cstdint>
#include <cstring>
#include <limits>

#include "simd/f32x4.h"

namespace posenc {

using namespace simd;

Scan scan_numbers(const float* x, std::size_t n) {
  // x (n)
  F32x4 magnitude = splat(0.0f), faults = splat(0.0f);  // x - x is NaN where x is NaN or Inf, else +0
  F32x4 other_magnitude = magnitude, more_faults = faults;
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const F32x4 a = load(x + i), b = load(x + i + 4), c = load(x + i + 8), d = load(x + i + 12);
    magnitude = max(magnitude, max(abs(a), abs(b)));
    other_magnitude = max(other_magnitude, max(abs(c), abs(d)));
    faults = faults + ((a - a) + (b - b));
    more_faults = more_faults + ((c - c) + (d - d));
  }
  magnitude = max(magnitude, other_magnitude), faults = faults + more_faults;
  for (; i + 4 <= n; i += 4) {
    const F32x4 a = load(x + i);
    magnitude = max(magnitude, abs(a));
    faults = faults + (a - a);
  }
  const F32x4 rest = load_part(x + i, n - i);
  magnitude = max(magnitude, abs(rest));
  faults = faults + (rest - rest);
  return {largest(magnitude), all(faults == splat(0.0f))};
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
