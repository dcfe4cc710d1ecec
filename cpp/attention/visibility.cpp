#include "attention/visibility.h"

#include <cstring>

namespace posenc {

void Visibility::describe(KeyBlock& block) const {
  block.least_order = block.largest_order = key_order[block.first];
  block.some_allowed = false, block.all_allowed = block.rising = true;
  for (std::size_t j = block.first; j < block.first + block.count; ++j) {
    const double order = key_order[j];
    block.rising = block.rising && (j == block.first || key_order[j - 1] <= order);
    block.least_order = order < block.least_order ? order : block.least_order;
    block.largest_order = block.largest_order < order ? order : block.largest_order;
    const bool may = allowed(j);
    block.some_allowed = block.some_allowed || may;
    block.all_allowed = block.all_allowed && may;
  }
  const double span = block.largest_order - block.least_order;
  block.density = span > 0 ? static_cast<double>(block.count - 1) / span : 0;
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

namespace {

// The first of 0 .. count - 1 that does not hold, for what holds up to some point; looked for from `at` on, the place
// of the lane before (a binary search takes as long as a tile of scores: its branches cannot be foreseen).
template <class Holds>
std::size_t first_that_fails(std::size_t count, std::size_t at, Holds holds) {
  while (at < count && holds(at)) ++at;
  while (at != 0 && !holds(at - 1)) --at;
  return at;
}

}  // namespace

// Each lane sees one run of keys, beside the prefix: its ends are searched for.
void Visibility::rising_rows(const QueryBlock& queries, const KeyBlock& keys, std::uint8_t* lanes, std::size_t& first,
                             std::size_t& last) const {
  const double* const order = key_order + keys.first;
  std::size_t from[kLanes], to[kLanes], common_first = 0, common_last = keys.count;
  // Where evenly spaced orders pass `bound`.
  const auto guess = [&](double bound) {
    const double at = (bound - order[0]) * keys.density, last = static_cast<double>(keys.count) - 1;
    return !(at > 0) ? std::size_t{0} : static_cast<std::size_t>(at < last ? at : last);
  };
  const double ahead = causal && window_right > 0 ? 0 : window_right;
  first = keys.count, last = 0;
  std::size_t near_from = guess(queries.order[0] - window_left), near_to = guess(queries.order[0] + ahead) + 1;
  for (int l = 0; l < kLanes; ++l) {
    const double query = queries.order[l];
    from[l] = near_from =
        first_that_fails(keys.count, near_from, [&](std::size_t j) { return query - order[j] > window_left; });
    to[l] = near_to = first_that_fails(keys.count, near_to, [&](std::size_t j) {
      return (!causal || order[j] <= query) && order[j] - query <= window_right;
    });
    if (from[l] < to[l]) {
      first = from[l] < first ? from[l] : first;
      last = last < to[l] ? to[l] : last;
    }
    common_first = common_first < from[l] ? from[l] : common_first;
    common_last = to[l] < common_last ? to[l] : common_last;
  }
  if (common_first >= common_last) common_first = common_last = keys.count;
  std::memset(lanes, 0, keys.count);
  for (int l = 0; l < kLanes; ++l) {
    const auto bit = static_cast<std::uint8_t>(1 << l);
    for (std::size_t j = from[l]; j < to[l] && j < common_first; ++j)
      lanes[j] = static_cast<std::uint8_t>(lanes[j] | bit);
    for (std::size_t j = from[l] < common_last ? common_last : from[l]; j < to[l]; ++j) {
      lanes[j] = static_cast<std::uint8_t>(lanes[j] | bit);
    }
  }
  std::memset(lanes + common_first, 0xff, common_last - common_first);
  if (static_cast<double>(keys.first) < prefix_length) {
    const double length = prefix_length - static_cast<double>(keys.first);
    std::size_t prefix = 0;
    while (prefix < keys.count && static_cast<double>(prefix) < length) ++prefix;
    std::memset(lanes, 0xff, prefix);
    first = 0;
    last = last < prefix ? prefix : last;
  }
  if (keys.all_allowed) return;
  for (std::size_t j = first; j < last; ++j) lanes[j] = allowed(keys.first + j) ? lanes[j] : std::uint8_t{0};
  while (last > first && lanes[last - 1] == 0) --last;
  while (first < last && lanes[first] == 0) ++first;
  if (first == last) first = keys.count, last = 0;
}

void Visibility::rows(const QueryBlock& queries, const KeyBlock& keys, std::uint8_t* lanes, std::size_t& first,
                      std::size_t& last) const {
  if (keys.rising) return rising_rows(queries, keys, lanes, first, last);
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
