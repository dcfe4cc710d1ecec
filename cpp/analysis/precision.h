// What sines and cosines of positions become in the arithmetic that frameworks form them in.
#pragma once

#include <cstddef>

#include "core/status.h"
#include "kernels/frequencies.h"

namespace posenc {

enum class Arithmetic { kFloat64, kFloat32, kFloat16, kBfloat16 };

/// x rounded to nearest, ties to even, in the format: denormals kept, beyond its largest number infinite.
double round_to(Arithmetic arithmetic, double x);

/// What is rounded, r() being the arithmetic asked for and w() float32 where that has 16 bits, else the same. The first
/// four round in one place only; the last three are whole computations.
///   table        r(sin(p omega)): all that a table of the format can hold
///   angle        r(sin(r(p omega)))
///   frequencies  r(sin(p r(omega))): a buffer of frequencies that was cast
///   positions    r(sin(r(p) omega)): positions counted in the format
///   upcast       all in w, the table cast to r
///   power        omega = w(1 / w(base^w(2i/d))) cast to r, then r(sin(r(r(p) omega)))
///   exponential  omega = w(exp(w(2i w(-ln(base) / d)))) cast to r, then as power
/// Each operation is rounded correctly where a framework's own library may be a unit off; frequencies that no base
/// makes are rounded once in power, exponential and upcast.
enum class Recipe { kTable, kAngle, kFrequencies, kPositions, kUpcast, kPower, kExponential };

struct PrecisionCall {
  const Frequencies* frequencies = nullptr;
  double base = 0, dim = 0;  // base^(-2i/dim) makes the frequencies; base 0: they are of another law
  Arithmetic arithmetic = Arithmetic::kFloat32;
  Recipe recipe = Recipe::kPower;
  const double* positions = nullptr;  // (count)
  std::size_t count = 0;
  double tolerance = 0;
};

/// -> values, exact, error (count, pairs, 2): sine and cosine as the recipe has them (NaN where an angle overflowed the
/// format), within 0.51 ULP of float64, and their distance (infinite at NaN); worst (count): the largest error of a
/// position. first: the index of the first position whose error exceeds the tolerance, or `count`; its pair in
/// first_pair. Errors: positions not finite or beyond 2^53; no pairs; a tolerance that is negative or not finite.
Status table_precision(const PrecisionCall& call, double* values, double* exact, double* error, double* worst,
                       std::size_t& first, std::size_t& first_pair);

}  // namespace posenc
