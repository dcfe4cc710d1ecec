#include "analysis/spectrum.h"

#include "bindings/blocks.h"

namespace posenc {

Status run(spectrum_block& b) {
  return spectrum(at<const double>(b.omega), count(b.pairs), b.context, at<double>(b.wavelength), at<double>(b.turns),
                  at<std::uint8_t>(b.never_turns));
}

Status run(radix_block& b) {
  return radix(at<const double>(b.omega), count(b.pairs), b.position, at<double>(b.digits), at<double>(b.phase),
               &b.rest);
}

}  // namespace posenc
