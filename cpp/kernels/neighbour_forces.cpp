#include "kernels/neighbour_forces.h"

#include "simd/f64x2.h"

namespace posenc {

double neighbour_forces(const double* p, const double* x, const double* y, std::size_t n, double* attraction,
                        double* repulsion) {
  using namespace simd;
  double *ax = attraction, *ay = attraction + n, *rx = repulsion, *ry = repulsion + n;
  for (std::size_t c = 0; c < 2 * n; ++c) attraction[c] = repulsion[c] = 0;
  const F64x2 zero = splat(0.0), one = splat(1.0);
  F64x2 total = zero;
  double rest = 0;
  for (std::size_t i = 1; i < n; ++i) {
    const F64x2 xi = splat(x[i]), yi = splat(y[i]);
    F64x2 axi = zero, ayi = zero, rxi = zero, ryi = zero;
    std::size_t j = 0;
    for (; j + 2 <= i; j += 2) {
      const F64x2 dx = xi - load(x + j), dy = yi - load(y + j);
      const F64x2 w = one / (one + (dx * dx + dy * dy));
      const F64x2 a = load(p + j) * w, r = w * w;
      total += w;
      const F64x2 adx = a * dx, ady = a * dy, rdx = r * dx, rdy = r * dy;
      axi += adx, ayi += ady, rxi += rdx, ryi += rdy;
      store(ax + j, load(ax + j) - adx), store(ay + j, load(ay + j) - ady);
      store(rx + j, load(rx + j) - rdx), store(ry + j, load(ry + j) - rdy);
    }
    ax[i] += sum(axi), ay[i] += sum(ayi), rx[i] += sum(rxi), ry[i] += sum(ryi);
    if (j < i) {
      const double dx = x[i] - x[j], dy = y[i] - y[j];
      const double w = 1 / (1 + (dx * dx + dy * dy)), a = p[j] * w, r = w * w;
      rest += w;
      ax[i] += a * dx, ay[i] += a * dy, rx[i] += r * dx, ry[i] += r * dy;
      ax[j] -= a * dx, ay[j] -= a * dy, rx[j] -= r * dx, ry[j] -= r * dy;
    }
    p += i;
  }
  return sum(total) + rest;
}

}  // namespace posenc
