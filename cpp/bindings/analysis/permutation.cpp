#include "analysis/permutation.h"

#include "bindings/blocks.h"

namespace posenc {

Status run(sorted_attention_block& b) {
  return sorted_attention(at<const float>(b.scores), at<const float>(b.values), count(b.batch), count(b.groups),
                          count(b.queries), count(b.keys), count(b.width), at<double>(b.out));
}

Status run(permutation_gap_block& b) {
  return permutation_gap(at<const double>(b.straight), at<const double>(b.permuted), at<const double>(b.permutation),
                         count(b.batch), count(b.tokens), count(b.width), b.gap);
}

}  // namespace posenc
