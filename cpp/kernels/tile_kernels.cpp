#include "kernels/tile_kernels.h"

namespace posenc {

const TileKernels kTileKernels = {score_tile, add_and_find_largest, softmax_tile, value_tile, product_panel};

}  // namespace posenc
