#include "core/random.h"

#include <catch2/catch.hpp>

#include <array>

namespace posenc {
namespace {

using Words = std::array<std::uint32_t, 4>;

TEST_CASE("Philox4x32-10 gives the known answers of its authors") {
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u});
  CHECK(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) == Words{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu});
  CHECK(philox({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}) ==
        Words{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u});
}

TEST_CASE("a sequence is its blocks, and streams and seeds differ") {
  Random random(7, 3);
  for (std::uint64_t n = 0; n < 10; ++n) {
    const auto block = random.block(n);
    CHECK(random.next() == block[0]);
    CHECK(random.next() == block[1]);
  }
  CHECK(Random(7, 4).next() != Random(7, 3).next());
  CHECK(Random(8, 3).next() != Random(7, 3).next());
  CHECK(Random(std::uint64_t{1} << 40).next() != Random(0).next());
}

TEST_CASE("uniform numbers fill [0, 1) evenly") {
  CHECK(uniform_of_bits(0) == 0.0);
  CHECK(uniform_of_bits(~std::uint64_t{0}) == 1.0 - 0x1p-53);
  Random random(1);
  int tenth[10] = {};
  double sum = 0;
  for (int n = 0; n < 100000; ++n) {
    const double u = random.uniform();
    REQUIRE((u >= 0 && u < 1));
    ++tenth[static_cast<int>(u * 10)];
    sum += u;
  }
  // Five standard deviations.
  for (const int count : tenth) CHECK(std::abs(count - 10000) < 475);
  CHECK(std::abs(sum / 100000 - 0.5) < 0.0046);
  int seen[6] = {};
  for (int n = 0; n < 600; ++n) ++seen[random.below(6)];
  for (const int count : seen) CHECK((count > 50 && count < 160));
}

}  // namespace
}  // namespace posenc
