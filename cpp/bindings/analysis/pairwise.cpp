#include "analysis/pairwise.h"

#include "bindings/blocks.h"

namespace posenc {

namespace {

template <class Block>
PairMatrices matrices(const Block& b, double start = 0) {
  return {at<const double>(b.matrices), count(b.batch), count(b.queries), count(b.keys), start};
}

}  // namespace

Status run(offset_profile_block& b) {
  return offset_profile(matrices(b, b.start), at<double>(b.mean), at<double>(b.lowest), at<double>(b.highest),
                        at<double>(b.deviation));
}

Status run(toeplitz_gap_block& b) { return toeplitz_gap(matrices(b), at<double>(b.gap)); }

Status run(symmetry_block& b) { return symmetry(matrices(b), at<double>(b.share), at<double>(b.gap)); }

Status run(monotonicity_block& b) {
  return monotonicity(matrices(b, b.start), at<double>(b.share), at<double>(b.rise));
}

Status run(locality_block& b) { return locality(matrices(b, b.start), b.radius, flag(b.scores), at<double>(b.share)); }

}  // namespace posenc
