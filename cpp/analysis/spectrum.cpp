#include "analysis/spectrum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "analysis/finite.h"
#include "core/positions.h"

namespace posenc {

namespace {

constexpr double kTwoPi = 6.283185307179586;
// 1 / (2 pi) as a sum of two doubles.
constexpr double kTurnHigh = 0x1.45f306dc9c883p-3, kTurnLow = -0x1.6b01ec5417056p-57;

struct Sum {
  double high, low;
};

// a b exactly (Dekker 1971), for |a|, |b| below 2^500.
Sum product(double a, double b) {
  const auto halves = [](double x) {
    const double t = 134217729.0 * x, high = t - (t - x);
    return Sum{high, x - high};
  };
  const Sum x = halves(a), y = halves(b);
  const double p = a * b;
  return {p, ((x.high * y.high - p) + x.high * y.low + x.low * y.high) + x.low * y.low};
}

// The fraction of t omega / (2 pi).
double turned(double t, double omega) {
  const Sum angle = product(t, omega);
  const Sum turns = product(angle.high, kTurnHigh);
  const double rest = turns.low + (angle.high * kTurnLow + angle.low * kTurnHigh);
  double share = (turns.high - std::floor(turns.high)) + rest;
  share -= std::floor(share);
  return share < 1 ? share : 0;
}

Status check_position(double position) {
  if (position >= 0 && position <= kMaxPosition) return ok();
  const Code code = position != position ? Code::kNotANumber : Code::kOutOfRange;
  return refuse(code, "radix", "position", "a number from 0 to 2^53", to_text(position));
}

}  // namespace

Status spectrum(const double* omega, std::size_t pairs, double context, double* wavelength, double* turns,
                std::uint8_t* never_turns) {
  if (!(context > 0) || !(context - context == 0)) {
    const Code code = context != context ? Code::kNotANumber : context > 0 ? Code::kNotFinite : Code::kOutOfRange;
    return refuse(code, "spectrum", "context", "a number above 0", to_text(context));
  }
  if (Status status = check_finite(omega, pairs, "spectrum", "frequencies"); !status.ok()) return status;
  for (std::size_t i = 0; i < pairs; ++i) {
    const double speed = omega[i] < 0 ? -omega[i] : omega[i];
    wavelength[i] = speed > 0 ? kTwoPi / speed : std::numeric_limits<double>::infinity();
    turns[i] = context * speed / kTwoPi;
    never_turns[i] = turns[i] < 1;
  }
  return ok();
}

Status radix(const double* omega, std::size_t pairs, double position, double* digits, double* phase, double* rest) {
  Status status = check_position(position);
  if (status.ok()) status = check_finite(omega, pairs, "radix", "frequencies");
  if (!status.ok()) return status;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < pairs; ++i) {
    if (omega[i] < 0) {
      return refuse(Code::kOutOfRange, "radix", "frequencies", "numbers of at least 0", to_text(omega[i]));
    }
    digits[i] = 0;
    phase[i] = turned(position, omega[i]);
    if (omega[i] > 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [omega](std::size_t a, std::size_t b) { return omega[a] != omega[b] ? omega[a] < omega[b] : a < b; });
  // Places are rounded, so a position that stands on one may seem to fall short of it.
  const double slack = position * 0x1p-50;
  double left = position;
  for (const std::size_t i : order) {
    const double place = 1 / omega[i];
    digits[i] = std::floor((left + slack) / place);
    left -= digits[i] * place;
    if (left < 0) left = 0;
  }
  *rest = left;
  return ok();
}

}  // namespace posenc
