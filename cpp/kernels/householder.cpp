#include "kernels/householder.h"

#include <cmath>

#include "simd/f64x2.h"

namespace posenc {

namespace {

using simd::F64x2;
using simd::load;
using simd::splat;

double dot(const double* a, const double* b, std::size_t n) {
  F64x2 even = splat(0.0), odd = even;
  std::size_t c = 0;
  for (; c + 4 <= n; c += 4) {
    even += load(a + c) * load(b + c);
    odd += load(a + c + 2) * load(b + c + 2);
  }
  double sum = simd::sum(even + odd);
  for (; c < n; ++c) sum += a[c] * b[c];
  return sum;
}

// y += s x
void add(double s, const double* x, std::size_t n, double* y) {
  std::size_t c = 0;
  for (; c + 2 <= n; c += 2) simd::store(y + c, load(y + c) + splat(s) * load(x + c));
  for (; c < n; ++c) y[c] += s * x[c];
}

// row -= vi q + qi v, then p += wi row; gives row . w: a row of the rank-two update and its part in the next product.
double update_row(double* row, std::size_t n, double vi, const double* v, double qi, const double* q, double wi,
                  const double* w, double* p) {
  F64x2 sum = splat(0.0);
  std::size_t c = 0;
  for (; c + 2 <= n; c += 2) {
    const F64x2 r = load(row + c) - (splat(vi) * load(q + c) + splat(qi) * load(v + c));
    simd::store(row + c, r);
    simd::store(p + c, load(p + c) + splat(wi) * r);
    sum += r * load(w + c);
  }
  double total = simd::sum(sum);
  for (; c < n; ++c) {
    row[c] -= vi * q[c] + qi * v[c];
    p[c] += wi * row[c];
    total += row[c] * w[c];
  }
  return total;
}

// x (n) -> v in its place and alpha: (I - factor v v^T) x = (0, ..., 0, alpha). The factor is 0 where x is so already.
double reflect(double* x, std::size_t n, double& alpha) {
  const double rest = dot(x, x, n - 1), last = x[n - 1];
  alpha = last;
  // So small that the squares leave the range, beside entries near 1.
  if (rest < 0x1p-900) return 0;
  const double length = std::sqrt(rest + last * last);
  alpha = last > 0 ? -length : length;
  x[n - 1] = last - alpha;
  return 2 / (rest + x[n - 1] * x[n - 1]);
}

}  // namespace

void tridiagonalise(double* a, std::size_t n, double* diagonal, double* below, double* factor, double* scratch) {
  if (n == 0) return;
  double* const q = scratch;
  double* const p = scratch + n;
  for (std::size_t c = 0; c < 2 * n; ++c) scratch[c] = 0;
  factor[0] = below[0] = 0;
  // In each turn the rows below `size` still lack the update by the reflection v, q of the turn before.
  double* zeros = scratch + 2 * n;
  for (std::size_t c = 0; c < n; ++c) zeros[c] = 0;
  const double* v = zeros;
  for (std::size_t i = n; i-- > 0;) {
    // Row i first, for it holds the next reflection.
    double* row = a + i * n;
    const double vi = v[i], qi = q[i];
    for (std::size_t c = 0; c <= i; ++c) row[c] -= vi * q[c] + qi * v[c];
    diagonal[i] = row[i];
    if (i == 0) return;
    factor[i] = reflect(row, i, below[i]);
    for (std::size_t c = 0; c < i; ++c) p[c] = 0;
    for (std::size_t r = 0; r < i; ++r) {
      double* other = a + r * n;
      const double w = update_row(other, r, v[r], v, q[r], q, row[r], row, p);
      other[r] -= 2 * (v[r] * q[r]);
      p[r] += w + other[r] * row[r];
    }
    for (std::size_t c = 0; c < i; ++c) p[c] *= factor[i];
    const double half = 0.5 * factor[i] * dot(p, row, i);
    for (std::size_t c = 0; c < i; ++c) q[c] = p[c] - half * row[c];
    v = row;
  }
}

void apply_reflections(const double* a, std::size_t n, const double* factor, double* z) {
  for (std::size_t i = 1; i < n; ++i) {
    if (factor[i] != 0) add(-factor[i] * dot(a + i * n, z, i), a + i * n, i, z);
  }
}

}  // namespace posenc
