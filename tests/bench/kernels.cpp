// The kernels alone, for the benchmarks: what a product reaches, and what a tile of attention is made of.
#include <cstdlib>
#include <cstring>
#include <limits>

#include "kernels/product.h"
#include "kernels/row_softmax.h"
#include "kernels/tile_kernels.h"
#include "simd/f64x2.h"

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

// What attention of n tokens, n a multiple of 8, cannot do without: packing, the tiles and the way out. No options, no
// checks, and under causality the eight scores by eight on the diagonal are not hidden: less than a call has to do.
// q k v (heads, n, 64) -> out (heads, n, 64)  scratch (128 n + 2176)
POSENC_EXPORT("bare_attention")
void bare_attention(const float* q, const float* k, const float* v, float* out, float* scratch, std::size_t n,
                    std::size_t heads, bool causal) {
  static volatile std::size_t width = 64;
  const std::size_t d = width, block = 128;
  float *const keys = scratch, *const values = keys + n * d, *const lanes = values + n * d, *const s = lanes + 8 * d,
               *const o = s + 8 * block;
  for (std::size_t head = 0; head < heads; ++head, q += n * d, k += n * d, v += n * d, out += n * d) {
    pack_panels(k, d, n, d, keys);
    for (std::size_t at = 0; at < n; at += block) {
      const std::size_t rows = n - at < block ? n - at : block;
      pack_values(v + at * d, d, rows, d, 1, rows, values + at * d);
    }
    for (std::size_t first = 0; first < n; first += 8) {
      float m[8], l[8], alpha[8], largest[8];
      for (int lane = 0; lane < 8; ++lane) m[lane] = -std::numeric_limits<float>::infinity(), l[lane] = 0;
      std::memset(o, 0, 8 * d * sizeof(float));
      pack_lanes(q + first * d, d, 8, d, 0.125f, lanes);
      const std::size_t end = causal ? first + 8 : n;
      for (std::size_t at = 0; at < end; at += block) {
        const std::size_t stride = n - at < block ? n - at : block, rows = end - at < stride ? end - at : stride;
        kTileKernels.score(keys + at * d, lanes, d, rows / 4, s, largest);
        kTileKernels.softmax(s, rows, largest, m, l, alpha);
        kTileKernels.value(values + at * d, stride, s, rows, d / 4, alpha, o);
      }
      normalise_output(o, d, l, 1);
      unpack_lanes(o, d, 8, out + first * d, d);
    }
  }
}

// Sixteen rows of a table of sines beside cosines by angle addition in float64, each cell rounded and nothing proven of
// it: less than a table has to do whose every cell is the nearest float. The anchor then moves on by sixteen.
// turns (10, 2 pairs): e^(i omega b) for b = 0 .. 8 and 16, the cosines first  anchor (2 pairs), of row 7
// out (16, 2 pairs)  pairs: a multiple of 2
POSENC_EXPORT("bare_table") void bare_table(const double* turns, double* anchor, float* out, std::size_t pairs) {
  using namespace posenc::simd;
  for (std::size_t b = 0; b <= 8; ++b) {
    const double* near = turns + 2 * b * pairs;
    float *const after = out + (7 + b) * 2 * pairs, *const before = out + (b < 8 ? 7 - b : 15) * 2 * pairs;
    for (std::size_t i = 0; i < pairs; i += 2) {
      const F64x2 ac = load(anchor + i), as = load(anchor + pairs + i);
      const F64x2 bc = load(near + i), bs = load(near + pairs + i);
      const F64x2 cc = ac * bc, ss = as * bs, sc = as * bc, cs = ac * bs;
      // First, for the eighth row after has no partner and goes over what was written in its stead.
      store(before + 2 * i, zip_low(demote(sc - cs), demote(cc + ss)));
      store(after + 2 * i, zip_low(demote(sc + cs), demote(cc - ss)));
    }
  }
  const double* far = turns + 18 * pairs;
  for (std::size_t i = 0; i < pairs; i += 2) {
    const F64x2 ac = load(anchor + i), as = load(anchor + pairs + i), bc = load(far + i), bs = load(far + pairs + i);
    store(anchor + i, ac * bc - as * bs);
    store(anchor + pairs + i, as * bc + ac * bs);
  }
}

}  // extern "C"
