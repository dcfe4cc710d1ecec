#include "analysis/expansion.h"

#include "bindings/blocks.h"

namespace posenc {

Status run(taylor_block& b) {
  const Expansion model{count(b.tokens), count(b.dim), static_cast<std::uint64_t>(b.seed), count(b.m), count(b.n),
                        at<const double>(b.p_m), at<const double>(b.p_n)};
  double norms[3] = {};
  const Status status = expand(model, at<const double>(b.scales), count(b.count), at<double>(b.terms),
                               at<double>(b.value), at<double>(b.remainder), norms);
  for (int n = 0; n < 3; ++n) at<double>(b.norms)[n] = norms[n];
  return status;
}

}  // namespace posenc
