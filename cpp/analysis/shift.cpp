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

struct Columns {
  std::size_t a, b;
};

Columns columns_of(const PairPlaces& places, std::size_t i) {
  return places.halves ? Columns{i, i + places.pairs} : Columns{2 * i, 2 * i + 1};
}

Turn turn_of(const PairPlaces& places, std::size_t i, double sine, double cosine) {
  const auto [a, b] = columns_of(places, i);
  return {a, b, cosine / places.factor, (places.sine_first ? sine : 0.0 - sine) / places.factor};
}

}  // namespace

void shift_blocks(const PairPlaces& places, const double* sine, const double* cosine, double* blocks) {
  for (std::size_t i = 0; i < places.pairs; ++i, blocks += 4) {
    const Turn turn = turn_of(places, i, sine[i], cosine[i]);
    blocks[0] = blocks[3] = turn.c;
    blocks[1] = turn.s;
    blocks[2] = 0.0 - turn.s;
  }
}

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

Status shift_error(const PairPlaces& places, const double* blocks, const double* rows, const double* moved,
                   std::size_t count, double* error) {
  static constexpr char kSubject[] = "shiftError";
  const std::size_t width = places.width;
  Status status = check_finite(blocks, 4 * places.pairs, kSubject, "matrix");
  if (status.ok()) status = check_finite(rows, count * width, kSubject, "table");
  if (status.ok()) status = check_finite(moved, count * width, kSubject, "table");
  if (!status.ok()) return status;
  for (std::size_t t = 0; t < count; ++t, rows += width, moved += width) {
    double most = 0;
    const auto miss = [&](double found, std::size_t c) {
      const double gap = magnitude(found - moved[c]);
      if (most < gap) most = gap;
    };
    for (std::size_t i = 0; i < places.pairs; ++i) {
      const double* block = blocks + 4 * i;
      const auto [a, b] = columns_of(places, i);
      miss(block[0] * rows[a] + block[1] * rows[b], a);
      miss(block[2] * rows[a] + block[3] * rows[b], b);
    }
    for (std::size_t c = 2 * places.pairs; c < width; ++c) miss(rows[c], c);
    error[t] = most;
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
