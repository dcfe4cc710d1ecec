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
  const char* name = "";        // of the param

  std::size_t width = 0;        // numbers of a row, along the last axis

  // As one that learns, of the shape it was taken with; not where it is omitted.
  void declare(Gradients& to) const;

  // Row-major, of one head.
  const float* of(int head) const { return heads == 0 ? data : data + static_cast<std::size_t>(head) * size; }

  // Reads table `name`, of this shape or, `by_head`, of one more axis in front. Where it was not given its numbers have
  // deviation `std` and come from param `seed`, a stream for each table. Errors: `shape-mismatch`, `too-large`.
  Status take(const Spec& spec, const char* name, std::initializer_list<std::size_t> shape, bool by_head,
              std::uint64_t stream, double std);

 private:
  std::vector<float> own_;
  int rank_ = 0;
  std::size_t shape_[3] = {};
};

// A list of one number for all heads, or of one for each; `fallback` for each where it was not given.
struct ByHead {
  Status take(const Spec& spec, const char* name, std::size_t heads, double fallback);

  double of(int head) const { return numbers[index(head)]; }
  std::size_t index(int head) const { return numbers.size() == 1 ? 0 : static_cast<std::size_t>(head); }
  void declare(Gradients& to) const {
    const std::size_t size = numbers.size();
    to.add(name, 1, &size);
  }

  const char* name = "";
  std::vector<double> numbers;
};

}  // namespace posenc
