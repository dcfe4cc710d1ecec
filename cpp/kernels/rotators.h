// Rotators of a run of positions: exact powers of two, from which sincos.cpp forms the rest by angle addition.
#pragma once

#include <cstddef>
#include <vector>

namespace posenc {

/// Row of complex doubles: the cosines of two pairs, their sines, those of the next two. The number of pairs is rounded
/// up to four; those added hold 1 + 0 i.
using RotatorRow = std::vector<double>;

inline constexpr std::size_t kBlockRows = 16;      // rows that share an anchor: eight before it, eight after
inline constexpr std::size_t kNear = kBlockRows / 2;
inline constexpr std::size_t kLevels = 13;         // a stretch has anchors 0 to 2^12

struct Rotators {
  double step = 1;
  RotatorRow near[kNear];   // near[b]: e^(i omega (b + 1/2) step)
  RotatorRow far[kLevels];  // far[l]: e^(i omega 16 2^l step)
};

}  // namespace posenc
