// Learned tables: the caller's numbers, or normal ones drawn from the scheme's seed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "schemes/scheme.h"

namespace posenc {

inline constexpr double kMaxTable = 268435456;  // numbers of a table that was not given, 1 GB

// Normal numbers of deviation `std`, dealt when they are first read: who asks only what a scheme is like, as a table of
// all schemes does, reads none.
class Dealt {
 public:
  Dealt() = default;
  Dealt(std::size_t count, double seed, std::uint64_t stream, double std)
      : seed_(static_cast<std::uint64_t>(seed)), stream_(stream), std_(std), waits_(true), values_(count) {}
  const float* data() const;

 private:
  std::uint64_t seed_ = 0, stream_ = 0;
  double std_ = 0;
  mutable bool waits_ = false;
  mutable std::vector<float> values_;
};

struct Weights {
  std::size_t heads = 0;  // 0: one table for all heads
  std::size_t size = 0;   // numbers of one table; 0: omitted
  const char* name = "";  // of the param
  std::size_t width = 0;  // numbers of a row, along the last axis

  bool omitted() const { return size == 0; }
  const float* data() const;

  // As one that learns, of the shape it was taken with; not where it is omitted.
  void declare(Gradients& to) const;

  // Row-major, of one head.
  const float* of(int head) const { return data() + (heads == 0 ? 0 : static_cast<std::size_t>(head) * size); }

  // Reads table `name`, of this shape or, `by_head`, of one more axis in front. Where it was not given its numbers have
  // deviation `std` and come from param `seed`, a stream for each table. Errors: `shape-mismatch`, `too-large`.
  Status take(const Spec& spec, const char* name, std::initializer_list<std::size_t> shape, bool by_head,
              std::uint64_t stream, double std);

 private:
  const float* given_ = nullptr;
  Dealt own_;
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
