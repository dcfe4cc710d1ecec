// What is said of a whole tile must be true of each of its pairs; ordinary sequences must be decided without looking.
#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <vector>

#include "attention/visibility.h"
#include "support/attention_case.h"

using namespace posenc;
using namespace posenc_test;

namespace {

constexpr double kOpen = std::numeric_limits<double>::infinity();

struct Sides {
  std::vector<double> queries, keys;
  std::vector<std::uint8_t> mask;
  Visibility visibility;

  void connect() {
    visibility.query_order = queries.data(), visibility.key_order = keys.data();
    visibility.key_mask = mask.empty() ? nullptr : mask.data();
  }
  QueryBlock query_block(std::size_t first) const {
    QueryBlock block;
    block.first = first;
    block.live = static_cast<int>(std::min<std::size_t>(kLanes, queries.size() - first));
    visibility.describe(block);
    return block;
  }
  KeyBlock key_block(std::size_t first) const {
    KeyBlock block;
    block.first = first;
    block.count = std::min<std::size_t>(kKeyBlock, keys.size() - first);
    visibility.describe(block);
    return block;
  }
  bool sees(std::size_t i, std::size_t j) const {
    if (!mask.empty() && mask[j] == 0) return false;
    if (!(static_cast<double>(j) < visibility.key_length)) return false;
    if (static_cast<double>(j) < visibility.prefix_length) return true;
    const double ahead = keys[j] - queries[i];
    return !(visibility.causal && ahead > 0) && -ahead <= visibility.window_left && ahead <= visibility.window_right;
  }
};

}  // namespace

TEST_CASE("extents and rows tell the truth") {
  Numbers numbers(5);
  for (int round = 0; round < 400; ++round) {
    Sides sides;
    const bool scattered = numbers.below(2) != 0;
    const std::size_t keys = 1 + numbers.below(300), queries = 1 + numbers.below(40);
    for (std::size_t j = 0; j < keys; ++j)
      sides.keys.push_back(scattered ? numbers.unit() * 40 : static_cast<double>(j));
    for (std::size_t i = 0; i < queries; ++i) {
      sides.queries.push_back(scattered ? numbers.unit() * 40 : static_cast<double>(i + numbers.below(3)) + 100);
    }
    if (numbers.below(2) != 0) std::sort(sides.keys.begin(), sides.keys.end());
    if (numbers.below(4) == 0) {  // tied orders
      for (double& order : sides.keys) order = static_cast<double>(static_cast<int>(order / 4));
    }
    if (numbers.below(3) == 0) {
      for (std::size_t j = 0; j < keys; ++j) sides.mask.push_back(static_cast<std::uint8_t>(numbers.below(2)));
    }
    sides.visibility.causal = numbers.below(2) != 0;
    sides.visibility.window_left = numbers.below(2) ? kOpen : static_cast<double>(numbers.below(100));
    sides.visibility.window_right = numbers.below(2) ? kOpen : static_cast<double>(numbers.below(100));
    sides.visibility.prefix_length = numbers.below(3) ? 0 : static_cast<double>(numbers.below(keys + 1));
    sides.visibility.key_length =
        numbers.below(3) ? static_cast<double>(keys) : static_cast<double>(numbers.below(keys + 1));
    sides.connect();
    std::size_t lies = 0;
    for (std::size_t i = 0; i < queries; i += kLanes) {
      for (std::size_t j = 0; j < keys; j += kKeyBlock) {
        const QueryBlock q = sides.query_block(i);
        const KeyBlock k = sides.key_block(j);
        const Visibility::Extent extent = sides.visibility.extent(q, k);
        std::uint8_t lanes[kKeyBlock];
        std::size_t first = 0, last = 0;
        sides.visibility.rows(q, k, lanes, first, last);
        for (std::size_t r = 0; r < k.count; ++r) {
          for (std::size_t l = 0; l < static_cast<std::size_t>(q.live); ++l) {
            const bool sees = sides.sees(i + l, j + r);
            lies += extent == Visibility::Extent::kAll && !sees;
            lies += extent == Visibility::Extent::kNone && sees;
            lies += (lanes[r] >> l & 1) != sees;
            lies += sees && (r < first || r >= last);
          }
        }
      }
    }
    CAPTURE(round);
    CHECK(lies == 0);
  }
}

TEST_CASE("tiles of a causal sequence are decided at once, but for the diagonal") {
  Sides sides;
  sides.queries = sides.keys = run_of(0, 1024);
  sides.visibility.causal = true;
  sides.visibility.window_left = 300, sides.visibility.window_right = kOpen;
  sides.visibility.key_length = 1024;
  sides.connect();
  int none = 0, some = 0, all = 0;
  for (std::size_t i = 0; i < 1024; i += kLanes) {
    for (std::size_t j = 0; j < 1024; j += kKeyBlock) {
      switch (sides.visibility.extent(sides.query_block(i), sides.key_block(j))) {
        case Visibility::Extent::kNone:
          ++none;
          break;
        case Visibility::Extent::kSome:
          ++some;
          break;
        case Visibility::Extent::kAll:
          ++all;
          break;
      }
    }
  }
  CHECK(some <= 2 * 128);  // one tile on the diagonal and one on the window's edge a block of queries
  CHECK(none > 600);
  CHECK(all > 100);
}
