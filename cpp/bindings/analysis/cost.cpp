#include "analysis/cost.h"

#include "bindings/blocks.h"

namespace posenc {

Status run(cost_block& b) {
  Costs costs;
  const Status status = count_costs(
      {b.length, b.dim, b.heads, b.layers, b.kernel_width, b.parameters, b.embed_columns, b.turned_columns,
       b.bias_heads, b.pair_dots, b.query_rows, b.projected_rows, b.table_numbers},
      costs);
  double* out = at<double>(b.out);
  const Cost* const each[] = {&costs.scheme,    &costs.recurrent, &costs.convolution,
                              &costs.attention, &costs.adding,    &costs.concatenating};
  for (const Cost* cost : each) {
    *out++ = cost->parameters;
    *out++ = cost->multiply_adds;
    *out++ = cost->bytes;
  }
  for (const ModelCost* model : {&costs.recurrent, &costs.convolution, &costs.attention}) {
    *out++ = model->sequential;
    *out++ = model->path;
  }
  return status;
}

}  // namespace posenc
