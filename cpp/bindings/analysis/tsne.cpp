#include "analysis/tsne.h"

#include "bindings/blocks.h"

namespace posenc {

Status run(tsne_block& b) {
  return tsne(at<const double>(b.table), count(b.rows), count(b.columns), b.perplexity, count(b.iterations),
              static_cast<std::uint64_t>(b.seed), at<double>(b.points), b.divergence);
}

}  // namespace posenc
