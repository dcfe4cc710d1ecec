// What masks and the soft-cap do to a tile of scores, eight queries in lanes. Bit l of a key's byte in `lanes` (keys)
// is set where query l sees the key.
#pragma once

#include <cstddef>
#include <cstdint>

namespace posenc {

// How a tile of a mask lies in memory: rows (queries) and entries (keys) this many elements apart; 0: one for all, and
// key_step is 0 or 1. Lanes from `rows` on repeat the last row.
struct MaskRows {
  std::size_t row_step = 0, key_step = 1;
  int rows = 0;
};

// seen (rows, keys), entries 0 or 1 -> lanes (keys): bits of entries that are 0 are cleared.
void hide_unseen(const std::uint8_t* seen, const MaskRows& at, std::size_t keys, std::uint8_t* lanes);

// added (rows, keys) -> tile (keys, 8): what is to be added to the scores. The bits of -inf are cleared; +0 stands in
// the tile for every -inf, inf and NaN that is not seen. With `sums` all scores and entries but -inf are finite: then
// -inf stays in the tile, since the sum hides as well, and bits are cleared only where the tile holds nothing else.
void hide_infinite(const float* added, const MaskRows& at, std::size_t keys, bool sums, std::uint8_t* lanes,
                   float* tile);

// s (keys, 8) becomes -inf where it is not seen.
void hide_scores(const std::uint8_t* lanes, std::size_t keys, float* s);

// s (keys, 8) -> cap tanh(s / cap).
void cap_scores(float cap, std::size_t keys, float* s);

}  // namespace posenc
