#include "analysis/similarity.h"

#include "bindings/blocks.h"

namespace posenc {

Status run(similarity_block& b) {
  const auto metric = static_cast<Metric>(static_cast<int>(b.metric));
  const bool lax = flag(b.allow_non_finite);
  return flag(b.float64)
             ? similarity(at<const double>(b.table), count(b.rows), count(b.columns), metric, at<double>(b.out), lax)
             : similarity(at<const float>(b.table), count(b.rows), count(b.columns), metric, at<float>(b.out), lax);
}

Status run(row_products_block& b) {
  row_products(at<const double>(b.left), count(b.rows), at<const double>(b.right), count(b.others), count(b.columns),
               at<double>(b.out));
  return ok();
}

}  // namespace posenc
