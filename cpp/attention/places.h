// Where the queries and keys of a call stand, with what was left out filled in: positions, order, length, visibility.
#pragma once

#include "attention/attention.h"
#include "attention/buffer.h"
#include "attention/visibility.h"

namespace posenc {

class Places {
 public:
  // False where memory does not hold them. `axes` of positions; what has one is repeated. The call must outlive this.
  [[nodiscard]] bool make(const AttentionOptions& call, int axes);
  // Puts the key mask and key length of batch entry b into visibility.
  void enter_batch(const AttentionOptions& call, std::size_t b);

  const double* queries = nullptr;  // (axes, Tq): indices where none are given
  const double* keys = nullptr;     // (axes, Tk)
  double length = 0;                // tokens in all: the largest key position + 1 unless given
  Visibility visibility;

 private:
  bool spread(const Positions& given, std::size_t tokens, int axes, Buffer<double>& made, const double*& positions);

  Buffer<double> indices_, queries_made_, keys_made_;
};

}  // namespace posenc
