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

// The last update and the next product, of one reflection each: v, q the update's, w the next.
struct Turn {
  const double *v, *q, *w;
  double* p;

  // Row r of the lower triangle -= v_r q + q_r v, then p += w_r row (off the diagonal), and p_r += row . w.
  void row(double* a, std::size_t r) const {
    F64x2 sum = splat(0.0);
    std::size_t c = 0;
    for (; c + 2 <= r; c += 2) {
      const F64x2 x = load(a + c) - (splat(v[r]) * load(q + c) + splat(q[r]) * load(v + c));
      simd::store(a + c, x);
      simd::store(p + c, load(p + c) + splat(w[r]) * x);
      sum += x * load(w + c);
    }
    finish(a, r, c, simd::sum(sum));
  }

  // Rows r and r + 1, r even: one pass over v, q, w and p for both, with the bits of one after the other.
  void two_rows(double* a, double* b, std::size_t r) const {
    const F64x2 va = splat(v[r]), qa = splat(q[r]), wa = splat(w[r]);
    const F64x2 vb = splat(v[r + 1]), qb = splat(q[r + 1]), wb = splat(w[r + 1]);
    F64x2 sum_a = splat(0.0), sum_b = sum_a;
    for (std::size_t c = 0; c < r; c += 2) {
      const F64x2 vc = load(v + c), qc = load(q + c), wc = load(w + c);
      const F64x2 x = load(a + c) - (va * qc + qa * vc);
      const F64x2 y = load(b + c) - (vb * qc + qb * vc);
      simd::store(a + c, x);
      simd::store(b + c, y);
      simd::store(p + c, (load(p + c) + wa * x) + wb * y);
      sum_a += x * wc;
      sum_b += y * wc;
    }
    finish(a, r, r, simd::sum(sum_a));
    finish(b, r + 1, r, simd::sum(sum_b));
  }

 private:
  void finish(double* a, std::size_t r, std::size_t c, double total) const {
    for (; c < r; ++c) {
      a[c] -= v[r] * q[c] + q[r] * v[c];
      p[c] += w[r] * a[c];
      total += a[c] * w[c];
    }
    a[r] -= 2 * (v[r] * q[r]);
    p[r] += total + a[r] * w[r];
  }
};

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
    const Turn turn{v, q, row, p};
    std::size_t r = 0;
    for (; r + 2 <= i; r += 2) turn.two_rows(a + r * n, a + (r + 1) * n, r);
    if (r < i) turn.row(a + r * n, r);
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
