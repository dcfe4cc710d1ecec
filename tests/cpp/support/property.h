// Properties held against numbers drawn from a seed, which a failure prints. POSENC_SEED=<number> draws others.
#pragma once

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstdlib>

#include "support/build.h"

namespace posenc_test {

/// check(dice) for `runs` seeds in a row.
template <class Check>
void property(const char* what, Check check, int runs = 200) {
  const char* given = std::getenv("POSENC_SEED");
  const std::uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : 20170612;
  for (int run = 0; run < runs; ++run) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(run);
    INFO(what << ", seed " << seed);
    Dice dice(seed);
    check(dice);
  }
}

}  // namespace posenc_test
