#include "schemes/bias/offset.h"

namespace posenc {

// b (keys, kLanes)
void OffsetBias::values(const Tile& tile, double* b) const {
  double offsets[kKeyBlock * kLanes];
  for (int j = 0; j < tile.keys; ++j) {
    for (int l = 0; l < kLanes; ++l) offsets[j * kLanes + l] = tile.offset(j, l);
  }
  evaluate(tile.head, offsets, static_cast<std::size_t>(tile.keys) * kLanes, b);
}

void OffsetBias::differentiate(const Tile& tile, const double* db, Gradients& to) const {
  for (int n = 0; n < tile.keys * kLanes; ++n) {
    if (db[n] != 0) derive(tile.head, tile.offset(n / kLanes, n % kLanes), db[n], to);
  }
}

}  // namespace posenc
