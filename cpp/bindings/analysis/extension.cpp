#include "analysis/extension.h"

#include "bindings/analysis/turned.h"
#include "bindings/blocks.h"

namespace posenc {

Status run(extrapolation_block& b) {
  return unseen_phases(*turned(b.before, b.pairs_before), *turned(b.after, b.pairs_after), b.trained, b.length,
                       at<double>(b.seen), at<double>(b.reached), at<double>(b.unseen));
}

Status run(context_extension_block& b) {
  const auto before = turned(b.before, b.pairs_before), after = turned(b.after, b.pairs_after);
  return extend_context({before.get(), after.get(), b.factor_before, b.factor_after}, b.length,
                        at<const double>(b.offsets), count(b.count), flag(b.normalize), at<double>(b.ratio),
                        at<double>(b.kernel_before), at<double>(b.kernel_after), at<double>(b.stale),
                        at<double>(b.error));
}

}  // namespace posenc
