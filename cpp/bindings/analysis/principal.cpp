#include "analysis/principal.h"

#include "bindings/blocks.h"

namespace posenc {

Status run(principal_components_block& b) {
  return principal_components(at<const double>(b.table), count(b.rows), count(b.columns), count(b.count),
                              at<double>(b.scores), at<double>(b.components), at<double>(b.variances),
                              at<double>(b.mean), &b.total);
}

}  // namespace posenc
