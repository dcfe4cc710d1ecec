#include "kernels/lane_rows.h"

#include "simd/f32x4.h"

namespace posenc {

namespace {

constexpr std::size_t kLanes = 8;

}  // namespace

void rows_times_lanes(const float* rows, std::size_t count, std::size_t width, const float* x, float scale, float* y) {
  using namespace simd;
  const F32x4 factor = splat(scale);
  std::size_t r = 0;
  for (; r + 4 <= count; r += 4) {
    const float* a = rows + r * width;
    F32x4 low[4] = {splat(0), splat(0), splat(0), splat(0)};
    F32x4 high[4] = {splat(0), splat(0), splat(0), splat(0)};
    for (std::size_t c = 0; c < width; ++c) {
      const F32x4 x_low = load(x + c * kLanes), x_high = load(x + c * kLanes + 4);
      for (std::size_t n = 0; n < 4; ++n) {
        const F32x4 a_n = load_splat(a + n * width + c);
        low[n] += a_n * x_low;
        high[n] += a_n * x_high;
      }
    }
    for (std::size_t n = 0; n < 4; ++n) {
      store(y + (r + n) * kLanes, low[n] * factor);
      store(y + (r + n) * kLanes + 4, high[n] * factor);
    }
  }
  for (; r < count; ++r) {
    F32x4 low = splat(0), high = splat(0);
    for (std::size_t c = 0; c < width; ++c) {
      const F32x4 a = load_splat(rows + r * width + c);
      low += a * load(x + c * kLanes);
      high += a * load(x + c * kLanes + 4);
    }
    store(y + r * kLanes, low * factor);
    store(y + r * kLanes + 4, high * factor);
  }
}

void add_rows_by_weight(const float* w, const float* rows, std::size_t count, std::size_t width, float* o) {
  using namespace simd;
  std::size_t c = 0;
  for (; c + 4 <= width; c += 4) {
    F32x4 low[4], high[4];
    for (std::size_t n = 0; n < 4; ++n) {
      low[n] = load(o + (c + n) * kLanes);
      high[n] = load(o + (c + n) * kLanes + 4);
    }
    for (std::size_t r = 0; r < count; ++r) {
      const F32x4 w_low = load(w + r * kLanes), w_high = load(w + r * kLanes + 4);
      for (std::size_t n = 0; n < 4; ++n) {
        const F32x4 a_n = load_splat(rows + r * width + c + n);
        low[n] += a_n * w_low;
        high[n] += a_n * w_high;
      }
    }
    for (std::size_t n = 0; n < 4; ++n) {
      store(o + (c + n) * kLanes, low[n]);
      store(o + (c + n) * kLanes + 4, high[n]);
    }
  }
  for (; c < width; ++c) {
    F32x4 low = load(o + c * kLanes), high = load(o + c * kLanes + 4);
    for (std::size_t r = 0; r < count; ++r) {
      const F32x4 a = load_splat(rows + r * width + c);
      low += a * load(w + r * kLanes);
      high += a * load(w + r * kLanes + 4);
    }
    store(o + c * kLanes, low);
    store(o + c * kLanes + 4, high);
  }
}

}  // namespace posenc
