// Sums of doubles that are rounded once.
#pragma once

#include <cstddef>

namespace posenc {

/// Adds doubles without loss (Shewchuk 1997, "Adaptive precision floating-point arithmetic", grow-expansion): the sum
/// is the exact one rounded to nearest, whatever the order. Inputs and their sums must stay finite.
class ExactSum {
 public:
  void add(double x) {
    std::size_t kept = 0;
    for (std::size_t n = 0; n < count_; ++n) {
      double y = parts_[n];
      if (magnitude(x) < magnitude(y)) {
        const double t = x;
        x = y;
        y = t;
      }
      const double high = x + y, low = y - (high - x);
      if (low != 0) parts_[kept++] = low;
      x = high;
    }
    parts_[kept] = x;
    count_ = kept + 1;
  }

  /// The sum, rounded to nearest, ties to even; +0 where nothing was added.
  double value() const {
    if (count_ == 0) return 0;
    std::size_t n = count_ - 1;
    double high = parts_[n], low = 0;
    while (n > 0) {
      const double x = high, y = parts_[--n];
      high = x + y;
      low = y - (high - x);
      if (low != 0) break;
    }
    // A tie of `high` is decided by the parts below it.
    if (n > 0 && ((low < 0 && parts_[n - 1] < 0) || (low > 0 && parts_[n - 1] > 0))) {
      const double y = low * 2, x = high + y;
      if (y == x - high) high = x;
    }
    return high;
  }

 private:
  static double magnitude(double x) { return x < 0 ? -x : x; }

  // Parts do not overlap, so the exponents of all doubles need no more than 2100 / 53 of them.
  double parts_[42];
  std::size_t count_ = 0;
};

}  // namespace posenc
