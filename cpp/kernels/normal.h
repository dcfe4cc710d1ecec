// Normal deviates with the same bits everywhere, for embeddings and tables drawn from a seed.
#pragma once

#include <cstdint>
#include <span>

namespace posenc {

/// values[n] = mean + std * z(seed, stream, n), z standard normal by Box and Muller (1958) on core/random.h. Number n
/// does not depend on how many are asked for. Formed in float64 and rounded once; |z| < 8.6.
void fill_normal(std::span<float> values, std::uint64_t seed, std::uint64_t stream = 0, double mean = 0,
                 double std = 1);
void fill_normal(std::span<double> values, std::uint64_t seed, std::uint64_t stream = 0, double mean = 0,
                 double std = 1);

}  // namespace posenc
