#include "analysis/bilinear.h"

#include "bindings/blocks.h"

namespace posenc {

Status run(bilinear_block& b) {
  const PairedRows rows{at<const double>(b.query_rows), at<const double>(b.key_rows), count(b.queries), count(b.keys),
                        count(b.dim), at<const double>(b.columns)};
  return bilinear(rows, at<const double>(b.h), flag(b.diagonal), at<double>(b.value), at<double>(b.relative),
                  at<double>(b.absolute), at<double>(b.rest));
}

Status run(diagonal_dominance_block& b) {
  Dominance dominance;
  const Status status = diagonal_dominance(at<const double>(b.table), count(b.rows), count(b.dim),
                                           at<double>(b.covariance), at<double>(b.ratios), dominance);
  double* summary = at<double>(b.summary);
  summary[0] = dominance.diagonal;
  summary[1] = dominance.off_diagonal;
  summary[2] = dominance.rows;
  return status;
}

Status run(norm_ratio_block& b) {
  double means[3] = {};
  const Status status = norm_ratio(at<const double>(b.embeddings), count(b.rows), count(b.dim),
                                   at<const double>(b.table), count(b.table_rows), count(b.table_dim), means);
  for (int n = 0; n < 3; ++n) at<double>(b.out)[n] = means[n];
  return status;
}

}  // namespace posenc
