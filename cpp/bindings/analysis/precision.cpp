#include "analysis/precision.h"

#include "bindings/analysis/turned.h"
#include "bindings/blocks.h"

namespace posenc {

Status run(precision_block& b) {
  const auto frequencies = turned(b.frequencies, b.pairs);
  const PrecisionCall call{frequencies.get(), b.base, b.dim, static_cast<Arithmetic>(static_cast<int>(b.arithmetic)),
                           static_cast<Recipe>(static_cast<int>(b.recipe)), at<const double>(b.positions),
                           count(b.count), b.tolerance};
  std::size_t first = 0, first_pair = 0;
  const Status status = table_precision(call, at<double>(b.values), at<double>(b.exact), at<double>(b.error),
                                        at<double>(b.worst), first, first_pair);
  b.first = static_cast<double>(first);
  b.first_pair = static_cast<double>(first_pair);
  return status;
}

}  // namespace posenc
