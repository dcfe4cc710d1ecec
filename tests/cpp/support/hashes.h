// Golden hashes: bytes that must come out the same in every build. tests/golden/hashes.txt holds one `name hex` a line;
// the build turns it into hashes_gen.h, because a program under wasm has no files.
#pragma once

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "hashes_gen.h"

namespace posenc::testing {

/// FNV-1a, 64 bits.
inline std::uint64_t fnv1a(std::span<const std::byte> bytes) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const std::byte b : bytes) h = (h ^ static_cast<std::uint64_t>(b)) * 0x100000001b3u;
  return h;
}

/// The golden hex of a name, empty if there is none.
inline std::string golden_hash(std::string_view name) {
  std::string_view rest = kHashes;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    const std::size_t space = line.find(' ');
    if (space != std::string_view::npos && line.substr(0, space) == name) return std::string(line.substr(space + 1));
  }
  return {};
}

/// Fails unless the hash of the bytes is the golden one. With POSENC_UPDATE_HASHES=1 in the environment it prints
/// `HASH name hex` instead, to be put into hashes.txt.
inline void check_hash(std::string_view name, std::span<const std::byte> bytes) {
  char hex[17];
  std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(fnv1a(bytes)));
  if (const char* update = std::getenv("POSENC_UPDATE_HASHES"); update && std::string_view(update) == "1") {
    std::printf("HASH %.*s %s\n", static_cast<int>(name.size()), name.data(), hex);
    return;
  }
  INFO("hash of " << name << "; an empty golden value means that hashes.txt lacks the line");
  CHECK(std::string(hex) == golden_hash(name));
}

template <class Value>
void check_hash(std::string_view name, const Value* values, std::size_t count) {
  check_hash(name, std::as_bytes(std::span(values, count)));
}

}  // namespace posenc::testing
