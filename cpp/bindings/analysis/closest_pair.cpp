#include "analysis/closest_pair.h"

#include "bindings/blocks.h"

namespace posenc {

Status run(closest_pair_block& b) {
  Pair pair;
  Status status = closest_pair(at<const double>(b.table), count(b.rows), count(b.columns), pair);
  b.i = static_cast<double>(pair.i);
  b.j = static_cast<double>(pair.j);
  b.distance = pair.distance;
  return status;
}

Status run(near_pairs_block& b) {
  std::vector<Pair> pairs;
  Status status = near_pairs(at<const double>(b.table), count(b.rows), count(b.columns), b.tolerance, count(b.limit),
                             b.total, pairs);
  b.listed = static_cast<double>(pairs.size());
  for (std::size_t n = 0; n < pairs.size(); ++n) {
    at<std::int32_t>(b.i)[n] = static_cast<std::int32_t>(pairs[n].i);
    at<std::int32_t>(b.j)[n] = static_cast<std::int32_t>(pairs[n].j);
    at<double>(b.distance)[n] = pairs[n].distance;
  }
  return status;
}

Status run(distances_from_block& b) {
  return distances_from(at<const double>(b.origin), at<const double>(b.rows), count(b.count), count(b.columns),
                        at<double>(b.out));
}

}  // namespace posenc
