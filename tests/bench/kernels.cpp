// The kernels alone, for the benchmarks: what a product reaches, and what a tile of attention is made of.
#include <cstdlib>

#include "kernels/product.h"
#include "kernels/row_softmax.h"
#include "kernels/tile_kernels.h"

#define POSENC_EXPORT(name) __attribute__((export_name(name), used))

using namespace posenc;

extern "C" {

// Floats between -1 and 1.
POSENC_EXPORT("floats") float* floats(int count) {
  float* p = static_cast<float*>(std::aligned_alloc(64, (static_cast<std::size_t>(count) * 4 + 63) / 64 * 64));
  unsigned state = 1;
  for (int i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    p[i] = static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
  }
  return p;
}

// a (n, k)  b (k, n) -> out (n, n); a a^T where b is null.
POSENC_EXPORT("product")
void run_product(float* a, float* b, float* out, float* scratch, std::size_t n, std::size_t k) {
  if (b == nullptr) return product_with_itself({a, k}, n, k, out, n, scratch);
  product({a, k}, {b, n}, n, k, n, out, n, scratch);
}
POSENC_EXPORT("scratch") std::size_t scratch(std::size_t n, std::size_t k) { return product_scratch(n, k, n); }

POSENC_EXPORT("softmax") void run_softmax(float* x, float* y, std::size_t n) { softmax_rows(x, n, n, n, y, n); }

// One kernel of a tile of 128 keys by 8 queries, 64 wide, over and over: 0 scores, 1 maximum, 2 softmax, 3 values.
POSENC_EXPORT("tile") void run_tile(int kernel, float* panels, float* queries, float* s, float* o, int times) {
  // Where the compiler knows the sizes it makes other loops, which no call of attention runs.
  static volatile std::size_t sizes[] = {64, 32, 128, 16};
  const std::size_t d = sizes[0], panels_of_keys = sizes[1], keys = sizes[2], panels_of_values = sizes[3];
  float m[8], l[8], alpha[8], largest[8];
  for (int lane = 0; lane < 8; ++lane) m[lane] = 0, l[lane] = 1, alpha[lane] = 1, largest[lane] = 1;
  for (int n = 0; n < times; ++n) {
    if (kernel == 0) kTileKernels.score(panels, queries, d, panels_of_keys, s, largest);
    if (kernel == 1) kTileKernels.find_largest(s, nullptr, keys, largest);
    if (kernel == 2) kTileKernels.softmax(s, keys, largest, m, l, alpha);
    if (kernel == 3) kTileKernels.value(panels, keys, s, keys, panels_of_values, alpha, o);
  }
}

}  // extern "C"
