// Learned tables: the caller's numbers, or normal ones drawn from the scheme's seed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "schemes/scheme.h"

namespace posenc {

struct Weights {
  const float* data = nullptr;  // null: omitted
  std::size_t heads = 0;        // 0: one table for all heads
  std::size_t size = 0;         // numbers of one table

  // Row-major, of one head.
  const float* of(int head) const { return heads == 0 ? data : data + static_cast<std::size_t>(head) * size; }

  // Reads table `name`, of this shape or, `by_head`, of one more axis in front. Where it was not given its numbers have
  // deviation `std` and come from param `seed`, a stream for each table. Errors: `shape-mismatch`, `too-large`.
  Status take(const Spec& spec, const char* name, std::initializer_list<std::size_t> shape, bool by_head,
              std::uint64_t stream, double std);

 private:
  std::vector<float> own_;
};

// A list of one number for all heads, or of one for each; `fallback` where it was not given.
Status take_by_head(const Spec& spec, const char* name, std::size_t heads, double fallback,
                    std::vector<double>& numbers);

}  // namespace posenc
