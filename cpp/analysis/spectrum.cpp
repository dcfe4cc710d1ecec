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

bool whole(double x) { return std::floor(x) == x; }

// 1 / omega. The powers of a base that make whole places are rounded as frequencies: within 2^-51 they are those.
double place_of(double omega) {
  const double place = 1 / omega, nearest = std::floor(place + 0.5);
  const double gap = place < nearest ? nearest - place : place - nearest;
  return gap <= place * 0x1p-51 ? nearest : place;
}

// left - digit place, rounded once: for whole digits below 2^53 within one of left / place.
double remainder(double left, double digit, double place) {
  const Sum spent = product(digit, place);
  return (left - spent.high) - spent.low;
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
  double left = position;
  for (const std::size_t i : order) {
    const double place = place_of(omega[i]);
    if (place > position + position * 0x1p-50) continue;
    digits[i] = std::floor(left / place);
    if (!(digits[i] < kMaxPosition)) {  // the digit itself is rounded by more than the place
      left = 0;
      continue;
    }
    double remain = remainder(left, digits[i], place);
    if (remain < 0) {
      digits[i] -= 1;
      remain = remainder(left, digits[i], place);
    } else if (remain >= place) {
      digits[i] += 1;
      remain = remainder(left, digits[i], place);
    }
    // What is rounded may seem to fall short of a place that it stands on; whole numbers are not rounded.
    if (!(whole(left) && whole(place))) {
      double slack = position * 0x1p-50;
      if (place * 0x1p-20 < slack) slack = place * 0x1p-20;
      if (place - remain <= slack) {
        digits[i] += 1;
        remain = 0;
      }
    }
    left = remain;
  }
  *rest = left;
  return ok();
}

}  // namespace posenc
