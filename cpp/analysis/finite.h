// The one check of numbers that every analysis makes.
#pragma once

#include <cstddef>

#include "core/status.h"

namespace posenc {

// Refuses the first of x (n) that is NaN or infinite, in the voice of `subject`.
inline Status check_finite(const double* x, std::size_t n, Words subject, Words argument) {
  for (std::size_t c = 0; c < n; ++c) {
    if (!(x[c] - x[c] == 0)) return refuse(Code::kNotFinite, subject, argument, "finite numbers", to_text(x[c]));
  }
  return ok();
}

}  // namespace posenc
