#include "analysis/learned_table.h"

#include "bindings/blocks.h"

namespace posenc {

Status run(fit_table_block& b) {
  return fit_table(at<const double>(b.target), count(b.rows), count(b.width), at<double>(b.out), b.residual);
}

Status run(resample_table_block& b) {
  return resample_table(at<const double>(b.table), count(b.rows), count(b.width), count(b.length),
                        flag(b.half_pixel) ? Corners::kHalfPixel : Corners::kAlign, at<double>(b.out));
}

Status run(extend_table_block& b) {
  return extend_table(at<const double>(b.table), count(b.rows), count(b.width), count(b.length), at<double>(b.out),
                      b.misfit);
}

}  // namespace posenc
