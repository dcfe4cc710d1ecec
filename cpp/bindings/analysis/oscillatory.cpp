#include "analysis/oscillatory.h"

#include "bindings/blocks.h"

namespace posenc {

namespace {

template <class Block>
FrequencyLaw law(const Block& b) {
  return {static_cast<FrequencyLaw::Rule>(static_cast<int>(b.rule)), b.parameter,
          std::span(at<const double>(b.samples), count(b.sample_count))};
}

}  // namespace

Status run(oscillatory_integral_block& b) {
  return oscillatory_integral(law(b), at<const double>(b.offsets), count(b.count), at<double>(b.out));
}

Status run(riemann_sum_block& b) {
  return riemann_sum(law(b), b.dim, at<const double>(b.offsets), count(b.count), at<double>(b.out));
}

}  // namespace posenc
