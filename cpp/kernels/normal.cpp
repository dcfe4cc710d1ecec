#include "kernels/normal.h"

#include <utility>

#include "core/random.h"
#include "simd/math.h"

namespace posenc {
namespace {

// Two independent deviates: sqrt(-2 log(1 - u)) at the angle of v turns.
std::pair<double, double> normal_pair(std::uint64_t u, std::uint64_t v) {
  const double radius = __builtin_sqrt(-2.0 * simd::log_double(1.0 - uniform_of_bits(u)));
  const simd::SinCos angle = simd::sin_cos_turns(uniform_of_bits(v));
  return {radius * angle.cos, radius * angle.sin};
}

template <class Real>
void fill(std::span<Real> values, std::uint64_t seed, std::uint64_t stream, double mean, double std) {
  const Random random(seed, stream);
  for (std::size_t n = 0; n < values.size(); n += 2) {
    const auto [u, v] = random.block(n / 2);
    const auto [first, second] = normal_pair(u, v);
    values[n] = static_cast<Real>(mean + std * first);
    if (n + 1 < values.size()) values[n + 1] = static_cast<Real>(mean + std * second);
  }
}

}  // namespace

void fill_normal(std::span<float> values, std::uint64_t seed, std::uint64_t stream, double mean, double std) {
  fill(values, seed, stream, mean, std);
}

void fill_normal(std::span<double> values, std::uint64_t seed, std::uint64_t stream, double mean, double std) {
  fill(values, seed, stream, mean, std);
}

}  // namespace posenc
