#include "schemes/bias/offset.h"

#include "simd/f32x4.h"

namespace posenc {

// b (keys, kLanes)
void OffsetBias::fill(const Tile& tile, float* b) const {
  if (!tile.unit_step) {
    double offsets[kKeyBlock * kLanes];
    for (int j = 0; j < tile.keys; ++j) {
      for (int l = 0; l < kLanes; ++l) offsets[j * kLanes + l] = tile.offset(j, l);
    }
    evaluate(tile.head, offsets, static_cast<std::size_t>(tile.keys) * kLanes, b);
    return;
  }
  // Offsets fall along the line as lanes rise along a row: row j of the tile is line[keys - 1 - j ...] as it stands.
  double offsets[kKeyBlock + kLanes - 1];
  float line[kKeyBlock + kLanes - 1];
  const int count = tile.keys + kLanes - 1;
  const double last = tile.unit_offset + (tile.keys - 1);
  for (int x = 0; x < count; ++x) offsets[x] = last - x;
  evaluate(tile.head, offsets, static_cast<std::size_t>(count), line);
  const float* row = line + (tile.keys - 1);
  for (int j = 0; j < tile.keys; ++j) {
    simd::store(b + j * kLanes, simd::load(row - j));
    simd::store(b + j * kLanes + 4, simd::load(row - j + 4));
  }
}

}  // namespace posenc
