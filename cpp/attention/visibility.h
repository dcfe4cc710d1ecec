// Which query sees which key: causal order, window, prefix, key mask and key lengths, decided per tile where it can be.
#pragma once

#include <cstddef>
#include <cstdint>

#include "schemes/scheme.h"

namespace posenc {

// Up to kKeyBlock keys, and what can be said of them at once.
struct KeyBlock {
  std::size_t first = 0, count = 0;
  double least_order = 0, largest_order = 0;
  bool some_allowed = true, all_allowed = true;  // by key mask and key lengths
  bool rising = false;                           // no key comes before its predecessor in order
  double density = 0;                            // keys per unit of order, on average
};

// Up to kLanes queries; lanes past `live` repeat the last.
struct QueryBlock {
  std::size_t first = 0;
  int live = 0;
  double order[kLanes] = {};
  double least_order = 0, largest_order = 0;
};

class Visibility {
 public:
  bool causal = false;                     // the key's order <= the query's
  double window_left = 0;                  // query - key at most
  double window_right = 0;                 // key - query at most
  double prefix_length = 0;                // keys of index below it are visible whatever the order
  const double* key_order = nullptr;       // (Tk)
  const double* query_order = nullptr;     // (Tq)
  const std::uint8_t* key_mask = nullptr;  // (Tk) of this batch entry, or null
  double key_length = 0;                   // keys of index >= it are masked

  void describe(KeyBlock& block) const;    // fills the orders and the flags
  void describe(QueryBlock& block) const;  // fills the orders

  enum class Extent { kNone, kSome, kAll };
  // O(1). kNone and kAll are certain; kSome may turn out to be either.
  Extent extent(const QueryBlock& queries, const KeyBlock& keys) const;

  // lanes (keys.count): bit l of row j is set where lane l sees the key. Rows outside first .. last - 1 are unseen.
  void rows(const QueryBlock& queries, const KeyBlock& keys, std::uint8_t* lanes, std::size_t& first,
            std::size_t& last) const;

 private:
  void rising_rows(const QueryBlock& queries, const KeyBlock& keys, std::uint8_t* lanes, std::size_t& first,
                   std::size_t& last) const;
  bool allowed(std::size_t key) const {
    return static_cast<double>(key) < key_length && (key_mask == nullptr || key_mask[key] != 0);
  }
  bool in_order(double query, double key) const {
    return (!causal || key <= query) && query - key <= window_left && key - query <= window_right;
  }
  // Rounded differences are monotone in both operands, so the extremes speak for all pairs.
  bool all_in_order(const QueryBlock& queries, double key) const {
    return in_order(queries.least_order, key) && in_order(queries.largest_order, key);
  }
  bool none_in_order(const QueryBlock& queries, double least_key, double largest_key) const {
    return (causal && least_key > queries.largest_order) || queries.least_order - largest_key > window_left ||
           least_key - queries.largest_order > window_right;
  }
};

}  // namespace posenc
