#include "analysis/precision.h"

#include <cmath>
#include <limits>
#include <vector>

#include "analysis/frequency_law.h"
#include "core/positions.h"
#include "kernels/sincos.h"
#include "simd/math.h"

namespace posenc {

namespace {

using simd::SinCos;

struct Format {
  int bits;      // of the mantissa, the leading one included
  int least;     // exponent of the smallest normal number
  double largest;
};

constexpr Format kFormats[] = {{53, -1022, std::numeric_limits<double>::max()},
                               {24, -126, std::numeric_limits<float>::max()},
                               {11, -14, 65504},
                               {8, -126, 0x1.fep127}};

double magnitude(double x) { return x < 0 ? -x : x; }

SinCos sin_cos_of(const Frequencies& frequencies, double position) {
  SinCos result;
  fill_sin_cos(frequencies, std::span(&position, 1),
               SinCosTable<double>::separate(&result.cos, &result.sin, 1, 1));
  return result;
}

// sin and cos of any finite number of radians: as a frequency an angle may have any size.
SinCos sin_cos_of(double angle) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (!(angle - angle == 0)) return {kNone, kNone};
  if (magnitude(angle) <= kMaxPosition) return sin_cos(angle);
  return sin_cos_of(*Frequencies::list(std::span(&angle, 1)), 1);
}

// omega_i as a recipe makes it in the wide format w.
double made_frequency(const PrecisionCall& call, Arithmetic w, std::size_t i, double omega) {
  if (call.base == 0) return round_to(w, omega);
  const auto r = [w](double x) { return round_to(w, x); };
  const double twice = 2.0 * static_cast<double>(i);
  if (call.recipe == Recipe::kExponential) {
    // (-ln base) / d is formed in float64, as Python's numbers are, and then meets the format.
    const double step = r(-simd::log_double(call.base) / call.dim);
    return r(simd::exp_double(r(twice * step)));
  }
  const MultiFloat power = pow(MultiFloat(call.base), MultiFloat(r(twice / call.dim)));
  return r(1 / r(power.to_double()));
}

}  // namespace

double round_to(Arithmetic arithmetic, double x) {
  const Format& format = kFormats[static_cast<int>(arithmetic)];
  if (format.bits == 53 || x == 0 || !(x - x == 0)) return x;
  int exponent = static_cast<int>(simd::bits_of(x) >> 52 & 0x7ff) - 1023;
  if (exponent < format.least) exponent = format.least;
  if (exponent > 128) exponent = 128;  // beyond the largest number of each of them
  // Adding 1.5 * 2^52 units rounds to whole units.
  const double unit = simd::power_of_two(exponent - format.bits + 1);
  const double magic = 0x1.8p52 * unit;
  const double rounded = exponent == 128 ? x : (x + magic) - magic;
  if (magnitude(rounded) > format.largest) return rounded * std::numeric_limits<double>::infinity();
  return rounded;
}

Status table_precision(const PrecisionCall& call, double* values, double* exact, double* error, double* worst,
                       std::size_t& first, std::size_t& first_pair) {
  static constexpr char kSubject[] = "precision";
  const Frequencies& frequencies = *call.frequencies;
  const std::size_t pairs = frequencies.pairs();
  Status status = check_positions({call.positions, call.count, 1}, kSubject, "positions");
  if (!status.ok()) return status;
  if (pairs == 0) return refuse(Code::kShapeMismatch, kSubject, "scheme", "a scheme that turns pairs", "no pairs");
  if (!(call.tolerance >= 0 && call.tolerance - call.tolerance == 0)) {
    return refuse(Code::kOutOfRange, kSubject, "tolerance", "a number of at least 0", to_text(call.tolerance));
  }
  const bool narrow = call.arithmetic == Arithmetic::kFloat16 || call.arithmetic == Arithmetic::kBfloat16;
  const Arithmetic w = narrow ? Arithmetic::kFloat32 : call.arithmetic;
  const auto r = [&](double x) { return round_to(call.arithmetic, x); };

  std::vector<MultiFloat> omegas(pairs);
  std::vector<double> made(pairs);
  for (std::size_t i = 0; i < pairs; ++i) {
    omegas[i] = frequencies.angular(i);
    const double omega = omegas[i].to_double();
    if (call.recipe == Recipe::kFrequencies) made[i] = r(omega);
    if (call.recipe == Recipe::kUpcast) made[i] = made_frequency(call, w, i, omega);
    if (call.recipe == Recipe::kPower || call.recipe == Recipe::kExponential) {
      made[i] = r(made_frequency(call, w, i, omega));
    }
  }
  const auto cast = Frequencies::list(made);  // for `frequencies`, whose angles are exact
  std::vector<double> true_rows(2 * pairs), rows(2 * pairs);
  first = call.count;
  first_pair = 0;
  for (std::size_t t = 0; t < call.count; ++t) {
    const double p = call.positions[t];
    SinCosTable<double> where{true_rows.data(), true_rows.data() + 1, 2 * pairs, 2, pairs, pairs};
    fill_sin_cos(frequencies, std::span(&p, 1), where);
    const bool straight = call.recipe == Recipe::kFrequencies || call.recipe == Recipe::kPositions;
    const double counted = call.recipe == Recipe::kPositions ? r(p) : p;
    const bool overflown = !(counted - counted == 0);
    if (straight && !overflown) {
      where.sin = rows.data();
      where.cos = rows.data() + 1;
      fill_sin_cos(call.recipe == Recipe::kPositions ? frequencies : *cast, std::span(&counted, 1), where);
    }
    double largest = 0;
    std::size_t largest_pair = 0;
    for (std::size_t i = 0; i < pairs; ++i) {
      const std::size_t at = 2 * (t * pairs + i);
      SinCos got{true_rows[2 * i], true_rows[2 * i + 1]};
      exact[at] = got.sin;
      exact[at + 1] = got.cos;
      switch (call.recipe) {
        case Recipe::kTable: break;
        case Recipe::kAngle: got = sin_cos_of(r((omegas[i] * MultiFloat(p)).to_double())); break;
        case Recipe::kFrequencies:
        case Recipe::kPositions:
          got = overflown ? sin_cos_of(counted) : SinCos{rows[2 * i], rows[2 * i + 1]};
          break;
        case Recipe::kUpcast: {
          const SinCos wide = sin_cos_of(round_to(w, round_to(w, p) * made[i]));
          got = {round_to(w, wide.sin), round_to(w, wide.cos)};
          break;
        }
        case Recipe::kPower:
        case Recipe::kExponential: got = sin_cos_of(r(r(p) * made[i])); break;
      }
      values[at] = r(got.sin);
      values[at + 1] = r(got.cos);
      for (std::size_t n = at; n < at + 2; ++n) {
        const double gap = magnitude(values[n] - exact[n]);
        error[n] = gap == gap ? gap : std::numeric_limits<double>::infinity();
        if (error[n] > largest) {
          largest = error[n];
          largest_pair = i;
        }
      }
    }
    worst[t] = largest;
    if (first == call.count && largest > call.tolerance) {
      first = t;
      first_pair = largest_pair;
    }
  }
  return ok();
}

}  // namespace posenc
