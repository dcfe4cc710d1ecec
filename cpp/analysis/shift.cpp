#include "analysis/shift.h"

#include "analysis/finite.h"

namespace posenc {

namespace {

double magnitude(double x) { return x < 0 ? -x : x; }

// What pair i is turned by, in columns a and b: a' = c a + s b, b' = c b - s a.
struct Turn {
  std::size_t a, b;
  double c, s;
};

Turn turn_of(const PairPlaces& places, std::size_t i, double sine, double cosine) {
  const std::size_t a = places.halves ? i : 2 * i, b = places.halves ? i + places.pairs : a + 1;
  return {a, b, cosine / places.factor, (places.sine_first ? sine : 0.0 - sine) / places.factor};
}

}  // namespace

void shift_matrix(const PairPlaces& places, const double* sine, const double* cosine, double* matrix) {
  const std::size_t n = places.width;
  for (std::size_t c = 0; c < n * n; ++c) matrix[c] = 0;
  for (std::size_t c = 2 * places.pairs; c < n; ++c) matrix[c * n + c] = 1;
  for (std::size_t i = 0; i < places.pairs; ++i) {
    const auto [a, b, c, s] = turn_of(places, i, sine[i], cosine[i]);
    matrix[a * n + a] = matrix[b * n + b] = c;
    matrix[a * n + b] = s;
    matrix[b * n + a] = 0.0 - s;
  }
}

void turn_rows(const PairPlaces& places, const double* sine, const double* cosine, std::size_t count, double* rows) {
  for (std::size_t t = 0; t < count; ++t) {
    double* row = rows + t * places.width;
    for (std::size_t i = 0; i < places.pairs; ++i) {
      const auto [a, b, c, s] = turn_of(places, i, sine[t * places.pairs + i], cosine[t * places.pairs + i]);
      const double x = row[a], y = row[b];
      row[a] = c * x + s * y;
      row[b] = c * y - s * x;
    }
  }
}

Status shift_error(const double* matrix, std::size_t width, const double* rows, const double* moved, std::size_t count,
                   double* error) {
  static constexpr char kSubject[] = "shiftError";
  Status status = check_finite(matrix, width * width, kSubject, "matrix");
  if (status.ok()) status = check_finite(rows, count * width, kSubject, "table");
  if (status.ok()) status = check_finite(moved, count * width, kSubject, "table");
  if (!status.ok()) return status;
  // Nearly all of the matrix is zero: each row of it is looked through once for many positions, and each sum still
  // takes its terms in the order of the columns.
  constexpr std::size_t kTogether = 256;
  double sums[kTogether];
  for (std::size_t first = 0; first < count; first += kTogether) {
    const std::size_t many = count - first < kTogether ? count - first : kTogether;
    for (std::size_t t = 0; t < many; ++t) error[first + t] = 0;
    for (std::size_t c = 0; c < width; ++c) {
      for (std::size_t t = 0; t < many; ++t) sums[t] = 0;
      for (std::size_t e = 0; e < width; ++e) {
        const double cell = matrix[c * width + e];
        if (cell == 0) continue;
        for (std::size_t t = 0; t < many; ++t) sums[t] += cell * rows[(first + t) * width + e];
      }
      for (std::size_t t = 0; t < many; ++t) {
        const double gap = magnitude(sums[t] - moved[(first + t) * width + c]);
        if (error[first + t] < gap) error[first + t] = gap;
      }
    }
  }
  return ok();
}

Status largest_difference(const double* found, const double* expected, std::size_t count, double& difference,
                          double& size) {
  static constexpr char kSubject[] = "translationGap";
  Status status = check_finite(found, count, kSubject, "scores");
  if (status.ok()) status = check_finite(expected, count, kSubject, "scores");
  if (!status.ok()) return status;
  difference = size = 0;
  for (std::size_t n = 0; n < count; ++n) {
    const double gap = magnitude(found[n] - expected[n]);
    if (difference < gap) difference = gap;
    if (size < magnitude(expected[n])) size = magnitude(expected[n]);
  }
  return ok();
}

}  // namespace posenc
