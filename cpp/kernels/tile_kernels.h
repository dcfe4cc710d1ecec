// The kernels of attention and of products, called through pointers. A whole-program optimiser (wasm-opt) inlines a
// function that has one caller, and in the large function that results V8 spills the accumulators of the tiles; through
// a table they stay functions of their own (measured in Node: 40 GFLOP/s against 31).
#pragma once

#include "kernels/online_softmax.h"
#include "kernels/product.h"
#include "kernels/score_tile.h"
#include "kernels/value_tile.h"

namespace posenc {

struct TileKernels {
  decltype(&score_tile) score;
  decltype(&add_and_find_largest) find_largest;
  decltype(&softmax_tile) softmax;
  decltype(&value_tile) value;
  decltype(&product_panel) product;
};

extern const TileKernels kTileKernels;

}  // namespace posenc
