#include "analysis/cost.h"

#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "support/property.h"

using namespace posenc;
using posenc_test::Dice;
using posenc_test::property;

namespace {

Costs costs(const CostCall& call) {
  Costs result;
  REQUIRE(count_costs(call, result).ok());
  return result;
}

CostCall model(double length, double dim, double heads, double layers) {
  CostCall call;
  call.length = length;
  call.dim = dim;
  call.heads = heads;
  call.layers = layers;
  return call;
}

}  // namespace

TEST_CASE("costs of small models, counted by hand") {
  CostCall call = model(10, 4, 2, 3);
  call.embed_columns = 4;
  call.parameters = 40;
  call.table_numbers = 0;
  const Costs c = costs(call);
  CHECK(c.scheme.parameters == 40);
  CHECK(c.scheme.multiply_adds == 40);
  CHECK(c.scheme.bytes == 160);
  CHECK(c.recurrent.parameters == 3 * (16 + 16 + 4));
  CHECK(c.recurrent.multiply_adds == 3 * 10 * 32);
  CHECK(c.recurrent.sequential == 10);
  CHECK(c.recurrent.path == 10);
  CHECK(c.convolution.parameters == 3 * (3 * 16 + 4));
  CHECK(c.convolution.multiply_adds == 3 * 10 * 48);
  CHECK(c.convolution.path == 5);  // 1 + 2 n tokens reach each other after n layers of width 3
  CHECK(c.attention.parameters == 3 * 64);
  CHECK(c.attention.multiply_adds == 3 * (4 * 10 * 16 + 2 * 100 * 4));
  CHECK(c.attention.path == 1);
  CHECK(c.attention.bytes == 4 * 3 * 64);
  // Adding keeps the width. Side by side it doubles, and projections of all of it take four times as much: note 004's
  // "half the parameters" is of projections that come back to d.
  CHECK(c.adding.parameters == c.attention.parameters);
  CHECK(c.adding.multiply_adds == c.attention.multiply_adds + 40);
  CHECK(c.concatenating.parameters == 4 * c.adding.parameters);
}

TEST_CASE("costs of schemes of each slot, counted by hand") {
  CostCall rotate = model(10, 8, 2, 3);
  rotate.turned_columns = 4;
  CHECK(costs(rotate).scheme.multiply_adds == 3 * 2 * (2 * 10 * 2 * 4));  // q and k, two products a column
  CostCall bias = model(10, 8, 2, 3);
  bias.bias_heads = 2;
  CHECK(costs(bias).scheme.multiply_adds == 3 * 2 * 100);
  CostCall relate = model(10, 8, 2, 3);
  relate.pair_dots = 2;
  relate.query_rows = 5;
  relate.projected_rows = 19;
  CHECK(costs(relate).scheme.multiply_adds == 3 * (2 * 100 * 2 * 4 + 2 * 10 * 5 * 4 + 19 * 64));
}

TEST_CASE("properties of costs") {
  property("linear in layers; quadratic in the length for attention only", [](Dice& dice) {
    const double heads = dice.integer(1, 8), dim = heads * dice.integer(1, 64), length = dice.integer(1, 4096);
    const double layers = dice.integer(1, 48);
    const Costs one = costs(model(length, dim, heads, 1)), all = costs(model(length, dim, heads, layers));
    CHECK(all.recurrent.multiply_adds == layers * one.recurrent.multiply_adds);
    CHECK(all.convolution.parameters == layers * one.convolution.parameters);
    CHECK(all.attention.multiply_adds == layers * one.attention.multiply_adds);
    const Costs twice = costs(model(2 * length, dim, heads, 1));
    CHECK(twice.recurrent.multiply_adds == 2 * one.recurrent.multiply_adds);
    CHECK(twice.attention.multiply_adds - 2 * one.attention.multiply_adds == 4 * length * length * dim);
    // Attention is the cheaper one of the two just where T < d (Vaswani et al. 2017, section 4), projections apart.
    const double mixing = one.attention.multiply_adds - 4 * length * dim * dim;
    CHECK((mixing < one.recurrent.multiply_adds) == (length < dim));
  });
  property("a convolution's path covers the sequence, and no shorter one does", [](Dice& dice) {
    CostCall call = model(dice.integer(2, 5000), 1, 1, 1);
    call.kernel_width = dice.integer(2, 40);
    const double path = costs(call).convolution.path;
    CHECK(1 + path * (call.kernel_width - 1) >= call.length);
    CHECK(1 + (path - 1) * (call.kernel_width - 1) < call.length);
  });
}

TEST_CASE("what cost refuses") {
  Costs c;
  CHECK(count_costs(model(0, 4, 1, 1), c).message() ==
        "cost: length must be a whole number from 1 to 2147483648, got 0");
  CHECK(count_costs(model(1.5, 4, 1, 1), c).code == Code::kNotInteger);
  CHECK(count_costs(model(4, 6, 4, 1), c).message() == "cost: heads must be a divisor of dim, 6, got 4");
  CHECK(count_costs(model(4, 4, 1, std::numeric_limits<double>::quiet_NaN()), c).argument == "layers");
  CostCall narrow = model(7, 4, 1, 1);
  narrow.kernel_width = 1;
  CHECK(costs(narrow).convolution.path == std::numeric_limits<double>::infinity());
  narrow.length = 1;
  CHECK(costs(narrow).convolution.path == 1);
}
