// Biases that depend on the offset key - query only: b_h(i, j) = f_h(j - i).
#pragma once

#include <cstddef>

#include "schemes/scheme.h"

namespace posenc {

// The base of such a scheme: it gives f over a run of offsets, and tiles come out of that. Where both sides step by
// one, a tile of 8 x K holds only K + 7 different values, along its diagonals: f is evaluated once for each.
class OffsetBias : public Bias {
 public:
  void values(const Tile& tile, double* b) const final;
  void fill(const Tile& tile, float* b) const final;
  void differentiate(const Tile& tile, const double* db, Gradients& to) const final;

 protected:
  // f of head `head` at offsets (count) -> b (count); each value must depend on its own offset alone.
  virtual void evaluate(int head, const double* offsets, std::size_t count, double* b) const = 0;
  // Adds db times the derivatives of f at an offset to those of the scheme's parameters.
  virtual void derive([[maybe_unused]] int head, [[maybe_unused]] double offset, [[maybe_unused]] double db,
                      [[maybe_unused]] Gradients& to) const {}
};

}  // namespace posenc
