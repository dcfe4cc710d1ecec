// Rotators of a run of positions: exact powers of two, from which sincos.cpp forms the rest by angle addition.
#pragma once

#include <cstddef>
#include <vector>

namespace posenc {

/// Row of complex doubles: `width` cosines, then `width` sines. The width is the number of pairs rounded up to four;
/// the pairs added hold 1 + 0 i.
using RotatorRow = std::vector<double>;

inline constexpr std::size_t kBlockRows = 16;      // rows that share an anchor: seven before it, itself, eight after
inline constexpr std::size_t kNear = kBlockRows / 2;
inline constexpr std::size_t kLevels = 13;         // a stretch has anchors 0 to 2^12

struct Rotators {
  double step = 1;
  RotatorRow near[kNear + 1];  // near[b]: e^(i omega b step), b = 0 .. 8
  RotatorRow far[kLevels];     // far[l]: e^(i omega 16 2^l step)
};

}  // namespace posenc
