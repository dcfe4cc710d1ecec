#include "analysis/kernel.h"

#include "bindings/analysis/turned.h"
#include "bindings/blocks.h"

namespace posenc {

Status run(kernel_block& b) {
  return score_kernel(*turned(b.frequencies, b.pairs), at<const double>(b.offsets), count(b.count), flag(b.normalize),
                      at<double>(b.out));
}

Status run(decay_bound_block& b) {
  return decay_bound(*turned(b.frequencies, b.pairs), at<const double>(b.offsets), count(b.count), at<double>(b.out));
}

}  // namespace posenc
