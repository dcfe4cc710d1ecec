#include "core/positions.h"

namespace posenc {

Status check_positions(const Positions& positions, std::string subject, std::string argument) {
  const std::size_t size = positions.count * static_cast<std::size_t>(positions.axes);
  for (std::size_t n = 0; n < size; ++n) {
    const double p = positions.data[n];
    if (p >= -kMaxPosition && p <= kMaxPosition) continue;
    const Code code = p - p == 0 ? Code::kOutOfRange : Code::kNotFinite;
    return refuse(code, std::move(subject), std::move(argument), "finite numbers of magnitude up to 2^53", to_text(p));
  }
  return ok();
}

}  // namespace posenc
