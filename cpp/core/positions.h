// Positions are explicit data: real numbers, one row an axis, never an implied loop index.
#pragma once

#include <cstddef>
#include <string>

#include "core/status.h"

namespace posenc {

struct Positions {
  const double* data = nullptr;  // (axes, count), row-major; |p| <= 2^53
  std::size_t count = 0;         // tokens
  int axes = 1;

  double at(std::size_t t, int axis = 0) const { return data[static_cast<std::size_t>(axis) * count + t]; }
  const double* axis(int a) const { return data + static_cast<std::size_t>(a) * count; }
};

// Every integer up to here, 2^53, is a double.
inline constexpr double kMaxPosition = 9007199254740992.0;  // 2^53

// Refuses positions that are not finite numbers of magnitude up to 2^53, in the voice of `subject`.
Status check_positions(const Positions& positions, std::string subject, std::string argument = "positions");

}  // namespace posenc
