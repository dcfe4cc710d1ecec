#include "attention/visibility.h"

namespace posenc {

void Visibility::describe(KeyBlock& block) const {
  block.least_order = block.largest_order = key_order[block.first];
  block.some_allowed = false, block.all_allowed = true;
  for (std::size_t j = block.first; j < block.first + block.count; ++j) {
    const double order = key_order[j];
    block.least_order = order < block.least_order ? order : block.least_order;
    block.largest_order = block.largest_order < order ? order : block.largest_order;
    const bool may = allowed(j);
    block.some_allowed = block.some_allowed || may;
    block.all_allowed = block.all_allowed && may;
  }
}

void Visibility::describe(QueryBlock& block) const {
  for (int l = 0; l < kLanes; ++l) {
    const int live = l < block.live ? l : block.live - 1;
    const double order = query_order[block.first + static_cast<std::size_t>(live)];
    block.order[l] = order;
    block.least_order = l == 0 || order < block.least_order ? order : block.least_order;
    block.largest_order = l == 0 || block.largest_order < order ? order : block.largest_order;
  }
}

Visibility::Extent Visibility::extent(const QueryBlock& queries, const KeyBlock& keys) const {
  if (!keys.some_allowed) return Extent::kNone;
  if (static_cast<double>(keys.first) >= prefix_length &&
      none_in_order(queries, keys.least_order, keys.largest_order)) {
    return Extent::kNone;
  }
  const bool prefixed = static_cast<double>(keys.first + keys.count) <= prefix_length;
  if (keys.all_allowed && (prefixed || (in_order(queries.least_order, keys.largest_order) &&
                                        in_order(queries.largest_order, keys.least_order)))) {
    return Extent::kAll;
  }
  return Extent::kSome;
}

void Visibility::rows(const QueryBlock& queries, const KeyBlock& keys, std::uint8_t* lanes, std::size_t& first,
                      std::size_t& last) const {
  first = keys.count, last = 0;
  for (std::size_t j = 0; j < keys.count; ++j) {
    const std::size_t key = keys.first + j;
    const double order = key_order[key];
    std::uint8_t seen = 0;
    if (allowed(key)) {
      if (static_cast<double>(key) < prefix_length || all_in_order(queries, order)) {
        seen = 0xff;
      } else if (!none_in_order(queries, order, order)) {
        for (int l = 0; l < kLanes; ++l)
          seen = static_cast<std::uint8_t>(seen | in_order(queries.order[l], order) << l);
      }
    }
    lanes[j] = seen;
    if (seen != 0) {
      first = first < j ? first : j;
      last = j + 1;
    }
  }
}

}  // namespace posenc
