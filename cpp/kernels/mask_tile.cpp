#include "kernels/mask_tile.h"

#include <cstring>
#include <limits>

#include "kernels/score_tile.h"
#include "simd/math.h"

namespace posenc {

using namespace simd;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::size_t start_of(const MaskRows& at, int lane) {
  return static_cast<std::size_t>(lane < at.rows ? lane : at.rows - 1) * at.row_step;
}

// The bits of lanes 0-3 and 4-7 in a byte.
POSENC_INLINE I32x4 low_bits() { return make_int(1, 2, 4, 8); }
POSENC_INLINE I32x4 high_bits() { return make_int(16, 32, 64, 128); }
POSENC_INLINE I32x4 seen_of(std::uint8_t lanes, I32x4 bit) { return (splat_int(lanes) & bit) == bit; }

}  // namespace

void hide_unseen(const std::uint8_t* seen, const MaskRows& at, std::size_t keys, std::uint8_t* lanes) {
  // seen (rows, keys) -> lanes (keys)
  std::size_t j = 0;
  for (; at.key_step != 0 && j + 4 <= keys; j += 4) {  // four keys to a word; a byte shifted by its lane stays a byte
    std::uint32_t word = 0, before;
    for (int l = 0; l < 8; ++l) {
      std::uint32_t row;
      std::memcpy(&row, seen + start_of(at, l) + j, sizeof row);
      word |= row << l;
    }
    std::memcpy(&before, lanes + j, sizeof before);
    word &= before;
    std::memcpy(lanes + j, &word, sizeof word);
  }
  for (; j < keys; ++j) {
    int byte = 0;
    for (int l = 0; l < 8; ++l) byte |= seen[start_of(at, l) + j * at.key_step] << l;
    lanes[j] = static_cast<std::uint8_t>(lanes[j] & byte);
  }
}

void hide_infinite(const float* added, const MaskRows& at, std::size_t keys, bool sums, std::uint8_t* lanes,
                   float* tile) {
  // added (rows, keys) -> tile (keys, 8)  lanes (keys)
  if (at.key_step != 0) {
    pack_lanes(added, at.row_step, at.rows, keys, 1.0f, tile);
  } else {
    for (std::size_t i = 0; i < 8 * keys; ++i) tile[i] = added[start_of(at, static_cast<int>(i % 8))];
  }
  if (sums) {
    std::size_t i = 0;
    while (i < 8 * keys && all(load(tile + i) == splat(-kInfinity))) i += 4;
    if (i == 8 * keys) std::memset(lanes, 0, keys);
    return;
  }
  const I32x4 low = low_bits(), high = high_bits();
  const F32x4 hidden = splat(-kInfinity), zero = splat(0.0f);
  for (std::size_t j = 0; j < keys; ++j, tile += 8) {
    const F32x4 a = load(tile), b = load(tile + 4);
    const I32x4 finite_a = a - a == zero, finite_b = b - b == zero;
    if (all(finite_a & finite_b)) continue;
    const I32x4 shown = ((a != hidden) & low) | ((b != hidden) & high);
    const int byte = lane<0>(shown) | lane<1>(shown) | lane<2>(shown) | lane<3>(shown);
    lanes[j] = static_cast<std::uint8_t>(lanes[j] & byte);
    store(tile, keep(finite_a | seen_of(lanes[j], low), a));
    store(tile + 4, keep(finite_b | seen_of(lanes[j], high), b));
  }
}

void hide_scores(const std::uint8_t* lanes, std::size_t keys, float* s) {
  // lanes (keys) -> s (keys, 8)
  const I32x4 low = low_bits(), high = high_bits();
  const F32x4 hidden = splat(-kInfinity);
  for (std::size_t j = 0; j < keys;) {
    std::uint64_t eight = 0;
    if (j + 8 <= keys) std::memcpy(&eight, lanes + j, sizeof eight);
    if (eight == ~std::uint64_t{0}) {  // most keys before a diagonal
      j += 8;
      continue;
    }
    if (lanes[j] != 0xff) {
      store(s + 8 * j, select(seen_of(lanes[j], low), load(s + 8 * j), hidden));
      store(s + 8 * j + 4, select(seen_of(lanes[j], high), load(s + 8 * j + 4), hidden));
    }
    ++j;
  }
}

void cap_scores(float cap, std::size_t keys, float* s) {
  // s (keys, 8)
  const F32x4 c = splat(cap);
  for (std::size_t i = 0; i < 8 * keys; i += 4) store(s + i, c * tanh(load(s + i) / c));
}

}  // namespace posenc
