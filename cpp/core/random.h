// The one seeded generator of uniform bits: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2,
// 3", SC 2011). It is a function of (seed, stream, index), so any part of a sequence can be had without the rest, and
// it needs 32-bit products only.
#pragma once

#include <array>
#include <cstdint>

namespace posenc {

/// Four words of Philox4x32-10 for a 128-bit counter and a 64-bit key, each with the low word first.
inline std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xd2511f53u} * counter[0];
    const std::uint64_t b = std::uint64_t{0xcd9e8d57u} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9e3779b9u;
    key[1] += 0xbb67ae85u;
  }
  return counter;
}

/// The double in [0, 1) made of the top 53 of 64 bits.
inline double uniform_of_bits(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

/// The sequence of a seed; different streams of one seed (tables of one scheme, say) are independent.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  /// Block `index` of the sequence: two numbers of 64 bits. Block n holds numbers 2 n and 2 n + 1 of next().
  std::array<std::uint64_t, 2> block(std::uint64_t index) const {
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
    const auto w = philox({low(index), high(index), low(stream_), high(stream_)}, {low(seed_), high(seed_)});
    return {std::uint64_t{w[1]} << 32 | w[0], std::uint64_t{w[3]} << 32 | w[2]};
  }

  /// The next 64 bits.
  std::uint64_t next() {
    if (count_ % 2 == 0) block_ = block(count_ / 2);
    return block_[count_++ % 2];
  }
  /// The next double in [0, 1), a multiple of 2^-53.
  double uniform() { return uniform_of_bits(next()); }
  /// The next whole number in [0, bound), bound >= 1; biased by less than bound / 2^53.
  std::uint64_t below(std::uint32_t bound) { return static_cast<std::uint64_t>(uniform() * bound); }

 private:
  std::uint64_t seed_, stream_;
  std::uint64_t count_ = 0;
  std::array<std::uint64_t, 2> block_{};
};

}  // namespace posenc
