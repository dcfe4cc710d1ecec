#include "analysis/symmetric_eigen.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/random.h"
#include "kernels/householder.h"
#include "simd/math.h"

namespace posenc {

namespace {

double magnitude(double x) { return x < 0 ? -x : x; }

// Three diagonals without a zero beside the middle one, scaled to a largest entry near 1: part of a larger matrix.
struct Tridiagonal {
  std::span<const double> diagonal, below;  // below[i] between i - 1 and i; below[0] is not of it
  std::size_t size() const { return diagonal.size(); }

  // Eigenvalues above x, by the signs of the pivots of T - x I (Sylvester's law of inertia).
  std::size_t above(double x) const {
    std::size_t count = 0;
    double pivot = 1;
    for (std::size_t i = 0; i < size(); ++i) {
      pivot = (diagonal[i] - x) - (i == 0 ? 0.0 : below[i] * (below[i] / pivot));
      if (pivot == 0) pivot = -0x1p-500;
      if (pivot > 0) ++count;
    }
    return count;
  }
};

// The eigenvalue with `rank` larger ones, to the last bit that bisection gives.
double bisect(const Tridiagonal& t, std::size_t rank) {
  double low = 0, high = 0;  // Gershgorin
  for (std::size_t i = 0; i < t.size(); ++i) {
    const double reach = (i > 0 ? magnitude(t.below[i]) : 0) + (i + 1 < t.size() ? magnitude(t.below[i + 1]) : 0);
    if (i == 0 || t.diagonal[i] - reach < low) low = t.diagonal[i] - reach;
    if (i == 0 || t.diagonal[i] + reach > high) high = t.diagonal[i] + reach;
  }
  low -= 0x1p-40, high += 0x1p-40;
  for (;;) {
    const double middle = 0.5 * (low + high);
    if (!(low < middle && middle < high) || high - low < 0x1p-60) return middle;
    (t.above(middle) > rank ? low : high) = middle;
  }
}

// (T - value I) y = x in place of x, by elimination with row exchanges; zero pivots become tiny ones.
class Shifted {
 public:
  Shifted(const Tridiagonal& t, double value) {
    const std::size_t n = t.size();
    u0_.resize(n), u1_.assign(n, 0), u2_.assign(n, 0), factor_.assign(n, 0), swapped_.assign(n, false);
    double d = t.diagonal[0] - value, next = n > 1 ? t.below[1] : 0;
    for (std::size_t i = 0; i + 1 < n; ++i) {
      const double under = t.below[i + 1], under_d = t.diagonal[i + 1] - value;
      const double under_next = i + 2 < n ? t.below[i + 2] : 0;
      if (magnitude(d) < magnitude(under)) {
        swapped_[i] = true;
        factor_[i] = d / under;
        u0_[i] = under, u1_[i] = under_d, u2_[i] = under_next;
        d = next - factor_[i] * under_d;
        next = -factor_[i] * under_next;
      } else {
        const double pivot = nonzero(d);
        factor_[i] = under / pivot;
        u0_[i] = pivot, u1_[i] = next;
        d = under_d - factor_[i] * next;
        next = under_next;
      }
    }
    u0_[n - 1] = nonzero(d);
  }

  void solve(double* x) const {
    const std::size_t n = u0_.size();
    for (std::size_t i = 0; i + 1 < n; ++i) {
      if (swapped_[i]) {
        const double kept = x[i];
        x[i] = x[i + 1];
        x[i + 1] = kept;
      }
      x[i + 1] -= factor_[i] * x[i];
    }
    for (std::size_t i = n; i-- > 0;) {
      double sum = x[i];
      if (i + 1 < n) sum -= u1_[i] * x[i + 1];
      if (i + 2 < n) sum -= u2_[i] * x[i + 2];
      x[i] = sum / u0_[i];
    }
  }

 private:
  static double nonzero(double pivot) { return magnitude(pivot) < 0x1p-53 ? (pivot < 0 ? -0x1p-53 : 0x1p-53) : pivot; }

  std::vector<double> u0_, u1_, u2_, factor_;
  std::vector<bool> swapped_;
};

double dot(const double* a, const double* b, std::size_t n) {
  double sum = 0;
  for (std::size_t c = 0; c < n; ++c) sum += a[c] * b[c];
  return sum;
}

// Makes x a unit vector at right angles to the others; false where nothing of it is left.
bool normalise(double* x, std::size_t n, const std::vector<const double*>& others) {
  for (int pass = 0; pass < 2; ++pass) {
    double largest = 0;
    for (std::size_t c = 0; c < n; ++c) largest = largest < magnitude(x[c]) ? magnitude(x[c]) : largest;
    if (!(largest > 0)) return false;
    for (std::size_t c = 0; c < n; ++c) x[c] /= largest;
    const double before = std::sqrt(dot(x, x, n));
    for (std::size_t c = 0; c < n; ++c) x[c] /= before;
    for (const double* other : others) {
      const double share = dot(x, other, n);
      for (std::size_t c = 0; c < n; ++c) x[c] -= share * other[c];
    }
    const double after = std::sqrt(dot(x, x, n));
    if (after < 0x1p-40) return false;
    for (std::size_t c = 0; c < n; ++c) x[c] /= after;
  }
  return true;
}

constexpr double kNegligible = 0x1p-52, kApart = 0x1p-49;

// A part of the matrix, and what has been found of it.
struct Part {
  std::size_t begin;
  Tridiagonal matrix;
  std::vector<const double*> vectors;
  double last;  // the value that the last of them was sought at
};

struct Value {
  double value;
  std::size_t part;
};

}  // namespace

void symmetric_eigen(double* a, std::size_t n, std::size_t count, double* values, double* vectors) {
  if (n == 0) return;
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double size = magnitude(a[i * n + j]);
      largest = largest < size ? size : largest;
    }
  }
  // By a power of two, so that the scale leaves no trace.
  double scale = 1;
  if (largest > 0) {
    int exponent = static_cast<int>(simd::bits_of(largest) >> 52 & 0x7ff) - 1023;
    exponent = exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent;
    scale = simd::power_of_two(exponent);
    for (std::size_t c = 0; c < n * n; ++c) a[c] /= scale;
  }

  std::vector<double> diagonal(n), below(n), factor(n), scratch(4 * n);
  tridiagonalise(a, n, diagonal.data(), below.data(), factor.data(), scratch.data());

  // Where an entry beside the diagonal is lost in the rounding of the matrix, it falls into parts with eigenvectors of
  // their own; within a part no eigenvalue is twofold.
  std::vector<Part> parts;
  std::vector<Value> found;
  for (std::size_t begin = 0, end = 1; begin < n; begin = end, ++end) {
    while (end < n && magnitude(below[end]) > kNegligible) ++end;
    const auto of = [=](const std::vector<double>& x) { return std::span(x).subspan(begin, end - begin); };
    parts.push_back({begin, {of(diagonal), of(below)}, {}, 0});
    for (std::size_t rank = 0; rank < end - begin && rank < count; ++rank) {
      found.push_back({bisect(parts.back().matrix, rank), parts.size() - 1});
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Value& x, const Value& y) { return x.value > y.value; });

  for (std::size_t c = 0; c < count * n; ++c) vectors[c] = 0;
  std::uint64_t stream = 0;
  for (std::size_t k = 0; k < count; ++k) {
    values[k] = found[k].value * scale;
    Part& part = parts[found[k].part];
    const std::size_t size = part.matrix.size();
    double* x = vectors + k * n + part.begin;
    // Apart, so that each is nearest to a vector of its own.
    double value = found[k].value;
    if (!part.vectors.empty() && part.last - value < kApart) value = part.last - kApart;
    const Shifted shifted(part.matrix, value);
    bool well = false;
    // The first attempt serves unless its start lies in the space of the vectors before; numbers that are not finite
    // would never find anything.
    for (int attempt = 0; attempt < 16 && !well; ++attempt) {
      Random random(0, stream++);
      for (std::size_t c = 0; c < size; ++c) x[c] = 2 * random.uniform() - 1;
      well = normalise(x, size, part.vectors);
      for (int step = 0; step < 4 && well; ++step) {
        shifted.solve(x);
        well = normalise(x, size, part.vectors);
      }
    }
    part.vectors.push_back(x);
    part.last = value;
  }
  for (std::size_t k = 0; k < count; ++k) apply_reflections(a, n, factor.data(), vectors + k * n);
}

}  // namespace posenc
