#include "schemes/offsets.h"

#include <algorithm>

#include "kernels/multiprecision.h"

namespace posenc {

std::vector<double> log_steps(double first, double last, int steps, int count, bool strict) {
  const MultiFloat ratio = root(MultiFloat(last) / MultiFloat(first), steps);
  MultiFloat t(first);
  std::vector<double> bounds;
  for (int n = 0; n < count; ++n) {
    t = t * ratio;
    const double near = t.to_double();
    if (near > kMaxPosition) break;  // no offset comes near
    double whole = (near + 4503599627370496.0) - 4503599627370496.0;
    const MultiFloat gap = MultiFloat(whole) - t;
    if (gap.is_zero() || gap.exponent() < t.exponent() - 200) {
      whole += strict ? 1 : 0;
    } else if (gap.is_negative()) {
      whole += 1;
    }
    bounds.push_back(whole);
  }
  return bounds;
}

int count_up_to(const std::vector<double>& rising, double x) {
  return static_cast<int>(std::upper_bound(rising.begin(), rising.end(), x) - rising.begin());
}

}  // namespace posenc
