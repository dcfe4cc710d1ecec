#include "analysis/tsne.h"

#include "bindings/blocks.h"

namespace posenc {

Status run(tsne_block& b) {
  const std::size_t rows = count(b.rows), first = count(b.first), end = count(b.end);
  double *const pairs = at<double>(b.kept), *const state = pairs + rows * (rows - 1) / 2;
  if (b.table != 0) {
    Status status = tsne_squares(at<const double>(b.table), rows, count(b.columns), b.perplexity, first, end, pairs);
    if (status.ok() && end == rows) {
      tsne_densities(rows, b.perplexity, pairs);
      tsne_start(rows, static_cast<std::uint64_t>(b.seed), state);
    }
    return status;
  }
  tsne_descend(pairs, rows, count(b.iterations), first, end, state);
  if (end == count(b.iterations)) tsne_map(pairs, rows, state, at<double>(b.points), b.divergence);
  return ok();
}

}  // namespace posenc
