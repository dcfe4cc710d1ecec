#include "kernels/heat_map.h"

#include <limits>

#include "simd/f32x4.h"

namespace posenc {

using namespace simd;

namespace {

constexpr int kLastEntry = 254, kMasked = 255;

// v (count) -> pixels (count)
void colour(const HeatMap& map, const float* v, std::size_t count, std::uint32_t* pixels) {
  const F32x4 low = splat(map.low), factor = splat(map.factor);
  const F32x4 least = splat(0.0f), most = splat(static_cast<float>(kLastEntry));
  const auto entries = [&](F32x4 value) {
    const I32x4 known = value == value;
    const F32x4 place = (keep(known, value) - low) * factor;
    return select(known, round_to_int(min(max(place, least), most)), splat_int(kMasked));
  };
  const std::uint32_t* const table = map.table;
  std::size_t n = 0;
  for (; n + 4 <= count; n += 4) {
    const I32x4 entry = entries(load(v + n));
    pixels[n] = table[lane<0>(entry)];
    pixels[n + 1] = table[lane<1>(entry)];
    pixels[n + 2] = table[lane<2>(entry)];
    pixels[n + 3] = table[lane<3>(entry)];
  }
  std::int32_t rest[4];
  if (n < count) store_int(rest, entries(load_part(v + n, count - n)));
  for (std::size_t k = 0; n < count; ++n, ++k) pixels[n] = table[rest[k]];
}

// Adds a row of cells to the sums of its columns; `seen` counts downwards.
void add_row(const float* v, std::size_t columns, float* sums, std::int32_t* seen) {
  std::size_t c = 0;
  for (; c + 4 <= columns; c += 4) {
    const F32x4 value = load(v + c);
    const I32x4 known = value == value;
    store(sums + c, load(sums + c) + keep(known, value));
    store_int(seen + c, load_int(seen + c) + known);
  }
  for (; c < columns; ++c) {
    if (v[c] == v[c]) sums[c] += v[c], --seen[c];
  }
}

}  // namespace

void paint(const HeatMap& map, float* sums, std::int32_t* seen, std::uint32_t* pixels) {
  const std::size_t origin = first_cell(map.first, map.rows, map.height);
  for (std::size_t y = map.first; y < map.first + map.count; ++y, pixels += map.width) {
    const std::size_t top = first_cell(y, map.rows, map.height), bottom = first_cell(y + 1, map.rows, map.height);
    const float* const row = map.values + (top - origin) * map.stride;
    if (bottom - top == 1 && map.width == map.columns) {
      colour(map, row, map.width, pixels);
      continue;
    }
    for (std::size_t c = 0; c < map.columns; ++c) sums[c] = 0, seen[c] = 0;
    for (std::size_t r = 0; r < bottom - top; ++r) add_row(row + r * map.stride, map.columns, sums, seen);
    // Means take the place of sums: pixel x lies before the cells it stands for, or on the first.
    std::size_t c = 0;
    for (std::size_t x = 0; x < map.width; ++x) {
      const std::size_t right = first_cell(x + 1, map.columns, map.width);
      float total = 0;
      std::int32_t cells = 0;
      for (; c < right; ++c) total += sums[c], cells -= seen[c];
      sums[x] = cells == 0 ? std::numeric_limits<float>::quiet_NaN() : total / static_cast<float>(cells);
    }
    colour(map, sums, map.width, pixels);
  }
}

}  // namespace posenc
