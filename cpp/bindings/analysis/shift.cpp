#include "analysis/shift.h"

#include "bindings/blocks.h"

namespace posenc {

Status run(shift_matrix_block& b) {
  const auto make = flag(b.blocks) ? shift_blocks : shift_matrix;
  make({count(b.width), count(b.pairs), flag(b.halves), flag(b.sine_first), b.factor}, at<const double>(b.sine),
       at<const double>(b.cosine), at<double>(b.out));
  return ok();
}

Status run(shift_error_block& b) {
  const PairPlaces places{count(b.width), count(b.pairs), flag(b.halves), flag(b.sine_first), b.factor};
  if (b.sine != 0) {
    turn_rows(places, at<const double>(b.sine), at<const double>(b.cosine), count(b.count), at<double>(b.moved));
  }
  return shift_error(places, at<const double>(b.blocks), at<const double>(b.rows), at<const double>(b.moved),
                     count(b.count), at<double>(b.out));
}

Status run(largest_difference_block& b) {
  return largest_difference(at<const double>(b.found), at<const double>(b.expected), count(b.count), b.difference,
                            b.size);
}

}  // namespace posenc
