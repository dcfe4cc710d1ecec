// What schemes that count whole offsets share: rows of a table by offset, buckets that widen like a logarithm, and
// numbers kept by offset.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "schemes/scheme.h"

namespace posenc {

// rows[j * kLanes + l] = row(key - query) of every pair of the tile; once for each diagonal where the tile has such.
template <class Row>
void index_offsets(const Tile& tile, std::int32_t* rows, Row row) {
  if (!tile.unit_step) {
    for (int j = 0; j < tile.keys; ++j) {
      for (int l = 0; l < kLanes; ++l) rows[j * kLanes + l] = row(tile.offset(j, l));
    }
    return;
  }
  std::int32_t line[kKeyBlock + kLanes - 1];
  const double first = tile.unit_offset - (kLanes - 1);
  for (int x = 0; x < tile.keys + kLanes - 1; ++x) line[x] = row(first + x);
  for (int j = 0; j < tile.keys; ++j) {
    for (int l = 0; l < kLanes; ++l) rows[j * kLanes + l] = line[j - l + kLanes - 1];
  }
}

inline double clamp_offset(double offset, double low, double high) {
  return offset < low ? low : high < offset ? high : offset;
}

// The offset itself, as relativeIndex(raw) tells it.
inline std::int32_t raw_offset(double offset) {
  return static_cast<std::int32_t>(clamp_offset(offset, -2147483647.0, 2147483647.0));
}

// t_n = first (last / first)^(n / steps) for n = 1 .. count, as the smallest whole number that is at least t_n, or
// above it where `strict`: a distance belongs to a bucket by comparing whole numbers, where floats of log(distance) go
// wrong by one. Formed in 256 bits; a t_n within 2^-200 of a whole number is that number. 1 <= first < last.
std::vector<double> log_steps(double first, double last, int steps, int count, bool strict);

// How many of rising numbers are at most x.
int count_up_to(const std::vector<double>& rising, double x);

// Rows of numbers for whole offsets, made when first asked for, kPage neighbours at a time. Use by one thread.
template <class Number>
class OffsetRows {
 public:
  static constexpr int kPage = 128;

  // The row of `offset`, whole, |offset| <= 2^54; the rows of the next ones follow up to its page's end, `left` in all.
  // make(first, rows) makes the rows of offsets first .. first + kPage - 1.
  template <class Make>
  const Number* row(double offset, std::size_t width, int& left, Make make) {
    const auto whole = static_cast<std::int64_t>(offset);
    const std::int64_t page = whole >= 0 ? whole / kPage : -((kPage - 1 - whole) / kPage);
    if (pages_.empty()) pages_.resize(kPages);
    Page& held = pages_[static_cast<std::uint64_t>(page) % kPages];
    if (held.rows == nullptr) held.rows.reset(new Number[kPage * width]);
    if (!held.made || held.number != page) {
      make(static_cast<double>(page * kPage), held.rows.get());
      held.number = page;
      held.made = true;
    }
    const auto at = static_cast<int>(whole - page * kPage);
    left = kPage - at;
    return held.rows.get() + static_cast<std::size_t>(at) * width;
  }
  // They are to be made anew.
  void forget() {
    for (Page& page : pages_) page.made = false;
  }

 private:
  static constexpr std::size_t kPages = 4096;  // 524,288 offsets; a power of two, so that pages meet only far apart
  struct Page {
    std::int64_t number = 0;
    bool made = false;
    std::unique_ptr<Number[]> rows;
  };
  std::vector<Page> pages_;
};

}  // namespace posenc
