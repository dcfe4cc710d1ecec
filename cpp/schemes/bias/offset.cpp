#include "schemes/bias/offset.h"

#include "simd/f32x4.h"

namespace posenc {

// What is slower and smaller stands in offset_exact.cpp: this file is compiled for speed where that is one of the two.
// b (keys, kLanes)
void Bias::fill(const Tile& tile, float* b) const {
  double exact[kKeyBlock * kLanes];
  values(tile, exact);
  for (int n = 0; n < tile.keys * kLanes; ++n) b[n] = static_cast<float>(exact[n]) + 0.0f;
}

// b (keys, kLanes)
void OffsetBias::fill(const Tile& tile, float* b) const {
  if (!tile.unit_step) return Bias::fill(tile, b);
  // Offsets fall along the line as lanes rise along a row: row j of the tile is line[keys - 1 - j ...] as it stands.
  double offsets[kKeyBlock + kLanes - 1], exact[kKeyBlock + kLanes - 1];
  float line[kKeyBlock + kLanes - 1];
  const int count = tile.keys + kLanes - 1;
  const double last = tile.unit_offset + (tile.keys - 1);
  offsets[0] = last;
  for (int x = 1; x < count; ++x) offsets[x] = last - x;
  evaluate(tile.head, offsets, static_cast<std::size_t>(count), exact);
  for (int x = 0; x < count; ++x) line[x] = static_cast<float>(exact[x]);
  const float* row = line + (tile.keys - 1);
  for (int j = 0; j < tile.keys; ++j) {
    simd::store(b + j * kLanes, simd::load(row - j));
    simd::store(b + j * kLanes + 4, simd::load(row - j + 4));
  }
}

}  // namespace posenc
