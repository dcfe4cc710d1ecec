#include "analysis/cost.h"

#include <limits>

namespace posenc {

namespace {

constexpr double kBytes = 4;  // float32

double floor_of(double x) {
  const double rounded = (x + 0x1.8p52) - 0x1.8p52;
  return rounded > x ? rounded - 1 : rounded;
}

Status check(const char* argument, double value) {
  constexpr char kAllowed[] = "a whole number from 1 to 2147483648";
  if (!(value >= 1 && value <= 2147483648.0)) {
    return refuse(Code::kOutOfRange, "cost", argument, kAllowed, to_text(value));
  }
  return floor_of(value) == value ? ok() : refuse(Code::kNotInteger, "cost", argument, kAllowed, to_text(value));
}

Cost attention_of(const CostCall& c, double width) {
  Cost cost;
  cost.parameters = c.layers * 4 * width * width;
  cost.multiply_adds = c.layers * (4 * c.length * width * width + 2 * c.length * c.length * width);
  cost.bytes = kBytes * cost.parameters;
  return cost;
}

}  // namespace

Status count_costs(const CostCall& c, Costs& costs) {
  Status status = check("length", c.length);
  if (status.ok()) status = check("dim", c.dim);
  if (status.ok()) status = check("heads", c.heads);
  if (status.ok()) status = check("layers", c.layers);
  if (status.ok()) status = check("kernelWidth", c.kernel_width);
  if (!status.ok()) return status;
  const double head_width = floor_of(c.dim / c.heads);
  if (head_width * c.heads != c.dim) {
    return refuse(Code::kOutOfRange, "cost", "heads", "a divisor of dim, " + to_text(c.dim), to_text(c.heads));
  }
  const double t = c.length, d = c.dim;
  costs = {};

  costs.scheme.parameters = c.parameters;
  costs.scheme.multiply_adds =
      t * c.embed_columns +
      c.layers * (4 * t * c.heads * c.turned_columns + c.bias_heads * t * t +
                  c.heads * t * head_width * (t * c.pair_dots + c.query_rows) + c.projected_rows * d * d);
  costs.scheme.bytes = kBytes * (c.parameters + c.table_numbers);

  costs.recurrent.parameters = c.layers * (2 * d * d + d);
  costs.recurrent.multiply_adds = c.layers * 2 * t * d * d;
  costs.recurrent.sequential = t;
  costs.recurrent.path = t;
  costs.convolution.parameters = c.layers * (c.kernel_width * d * d + d);
  costs.convolution.multiply_adds = c.layers * c.kernel_width * t * d * d;
  costs.convolution.path = t == 1                ? 1
                           : c.kernel_width == 1 ? std::numeric_limits<double>::infinity()
                                                 : -floor_of(-(t - 1) / (c.kernel_width - 1));
  static_cast<Cost&>(costs.attention) = attention_of(c, d);
  for (ModelCost* model : {&costs.recurrent, &costs.convolution, &costs.attention}) {
    model->bytes = kBytes * model->parameters;
  }
  costs.adding = attention_of(c, d);
  costs.adding.multiply_adds += t * c.embed_columns;
  costs.concatenating = attention_of(c, d + c.embed_columns);
  return ok();
}

}  // namespace posenc
