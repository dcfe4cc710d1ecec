#include "analysis/tsne.h"

#include <cmath>
#include <span>
#include <vector>

#include "analysis/finite.h"
#include "kernels/neighbour_forces.h"
#include "kernels/normal.h"
#include "kernels/row_distance.h"
#include "simd/math.h"

namespace posenc {

namespace {

constexpr double kLeast = 1e-300;  // of an affinity, so that its logarithm is one

// beta at which the densities exp(-beta d) have the entropy wanted; d are distances squared, the least of them 0.
double precision_of(const double* d, std::size_t n, std::size_t self, double entropy, double* density) {
  double beta = 1, low = 0, high = 0;  // high 0: none yet
  for (int turn = 0; turn < 200; ++turn) {
    double sum = 0, weighted = 0;
    for (std::size_t j = 0; j < n; ++j) {
      density[j] = j == self ? 0 : simd::exp_double(-beta * d[j]);
      sum += density[j];
      weighted += density[j] * d[j];
    }
    const double found = simd::log_double(sum) + beta * (weighted / sum);
    for (std::size_t j = 0; j < n; ++j) density[j] /= sum;
    const double over = found - entropy;
    if (-1e-10 < over && over < 1e-10) break;
    if (over > 0) {
      low = beta;
      beta = high > 0 ? 0.5 * (low + high) : 2 * beta;
    } else {
      high = beta;
      beta = 0.5 * (low + high);
    }
    if (!(beta - beta == 0)) break;  // distances of which all but a few are one: no density is that narrow
  }
  return beta;
}

Status check(const double* table, std::size_t rows, std::size_t columns, double perplexity) {
  static constexpr char kSubject[] = "tsne";
  if (rows < 4 || rows > kMaxTsneRows) {
    return refuse(Code::kShapeMismatch, kSubject, "table",
                  "of 4 to " + to_text(static_cast<double>(kMaxTsneRows)) + " rows",
                  to_text(static_cast<double>(rows)));
  }
  const double most = static_cast<double>(rows - 1) / 3;
  if (!(perplexity >= 1 && perplexity <= most)) {
    return refuse(perplexity != perplexity ? Code::kNotANumber : Code::kOutOfRange, kSubject, "perplexity",
                  "a number from 1 to " + to_text(most) + ", a third of the other rows", to_text(perplexity));
  }
  return check_finite(table, rows * columns, kSubject, "table");
}

std::size_t place(std::size_t i, std::size_t j) { return i > j ? i * (i - 1) / 2 + j : j * (j - 1) / 2 + i; }

}  // namespace

Status tsne_squares(const double* table, std::size_t rows, std::size_t columns, double perplexity, std::size_t first,
                    std::size_t end, double* pairs) {
  if (Status status = check(table, rows, columns, perplexity); !status.ok()) return status;
  // Affinities do not change with the unit of distance: squares of small ones must not underflow.
  double most = 0;
  for (std::size_t n = 0; n < rows * columns; ++n) {
    const double size = table[n] < 0 ? -table[n] : table[n];
    if (most < size) most = size;
  }
  const double unit = most < 0x1p-200 ? kRaise : 1;
  for (std::size_t i = first; i < end; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      double sum = 0;
      for (std::size_t c = 0; c < columns; ++c) {
        const double gap = (table[i * columns + c] - table[j * columns + c]) * unit;
        sum += gap * gap;
      }
      if (!(sum - sum == 0)) {
        return refuse(Code::kOutOfRange, "tsne", "table", "of rows whose distances float64 holds", to_text(sum));
      }
      pairs[place(i, j)] = sum;
    }
  }
  return ok();
}

void tsne_densities(std::size_t rows, double perplexity, double* pairs) {
  const std::size_t count = rows * (rows - 1) / 2;
  const double entropy = simd::log_double(perplexity);
  std::vector<double> distance(rows), density(rows), affinities(count, 0.0);
  for (std::size_t i = 0; i < rows; ++i) {
    double least = 0, mean = 0;
    for (std::size_t j = 0; j < rows; ++j) {
      distance[j] = j == i ? 0 : pairs[place(i, j)];
      if (j == i) continue;
      if (least == 0 || distance[j] < least) least = distance[j];
      mean += distance[j];
    }
    // The density is that of the differences from the nearest, in units of the mean: neither moves its entropy.
    mean /= static_cast<double>(rows - 1);
    for (std::size_t j = 0; j < rows; ++j) {
      if (j != i && mean > 0) distance[j] = (distance[j] - least) / mean;
    }
    precision_of(distance.data(), rows, i, entropy, density.data());
    for (std::size_t j = 0; j < rows; ++j) {
      if (j != i) affinities[place(i, j)] += density[j];
    }
  }
  for (std::size_t n = 0; n < count; ++n) {
    pairs[n] = affinities[n] / (2 * static_cast<double>(rows));
    if (pairs[n] < kLeast) pairs[n] = kLeast;
  }
}

Status tsne_affinities(const double* table, std::size_t rows, std::size_t columns, double perplexity,
                       double* affinities) {
  Status status = tsne_squares(table, rows, columns, perplexity, 0, rows, affinities);
  if (status.ok()) tsne_densities(rows, perplexity, affinities);
  return status;
}

void tsne_start(std::size_t rows, std::uint64_t seed, double* state) {
  fill_normal(std::span<double>(state, 2 * rows), seed, 0, 0, 1e-4);
  for (std::size_t c = 0; c < 2 * rows; ++c) {
    state[2 * rows + c] = 0;
    state[4 * rows + c] = 1;
  }
}

void tsne_descend(const double* affinities, std::size_t rows, std::size_t iterations, std::size_t first,
                  std::size_t end, double* state) {
  double *const x = state, *const y = x + rows, *const step = y + rows, *const gain = step + 2 * rows;
  std::vector<double> attraction(2 * rows), repulsion(2 * rows);
  const auto centre = [rows](double* axis) {
    double sum = 0;
    for (std::size_t i = 0; i < rows; ++i) sum += axis[i];
    sum /= static_cast<double>(rows);
    for (std::size_t i = 0; i < rows; ++i) axis[i] -= sum;
  };

  const std::size_t early = iterations < 500 ? iterations / 2 : 250;
  // Of fewer than six rows each pair's affinity is so large that steps of 50, or exaggerated ones, throw neighbours
  // apart for good.
  const bool few = rows < 6;
  const double given = static_cast<double>(rows) / 48, rate = few ? 4 : given < 50 ? 50 : given;
  for (std::size_t turn = first; turn < end; ++turn) {
    const double exaggeration = turn < early && !few ? 12 : 1, momentum = turn < early ? 0.5 : 0.8;
    const double sum = 2 * neighbour_forces(affinities, x, y, rows, attraction.data(), repulsion.data());
    for (std::size_t c = 0; c < 2 * rows; ++c) {
      const double slope = 4 * (exaggeration * attraction[c] - repulsion[c] / sum);
      const bool turned = (slope > 0) == (step[c] > 0) && step[c] != 0;
      gain[c] = turned ? gain[c] * 0.8 : gain[c] + 0.2;
      if (gain[c] < 0.01) gain[c] = 0.01;
      step[c] = momentum * step[c] - rate * gain[c] * slope;
      x[c] += step[c];
    }
    centre(x);
    centre(y);
  }
}

void tsne_map(const double* affinities, std::size_t rows, const double* state, double* points, double& divergence) {
  const double *const x = state, *const y = x + rows;
  double sum = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < i; ++j)
      sum += 1 / (1 + ((x[i] - x[j]) * (x[i] - x[j]) + (y[i] - y[j]) * (y[i] - y[j])));
  }
  divergence = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double w = 1 / (1 + ((x[i] - x[j]) * (x[i] - x[j]) + (y[i] - y[j]) * (y[i] - y[j])));
      const double share = affinities[place(i, j)];
      divergence += 2 * share * (simd::log_double(share) - simd::log_double(w / (2 * sum)));
    }
    points[2 * i] = x[i];
    points[2 * i + 1] = y[i];
  }
}

Status tsne(const double* table, std::size_t rows, std::size_t columns, double perplexity, std::size_t iterations,
            std::uint64_t seed, double* points, double& divergence) {
  if (Status status = check(table, rows, columns, perplexity); !status.ok()) return status;
  std::vector<double> affinities(rows * (rows - 1) / 2), state(6 * rows);
  if (Status status = tsne_affinities(table, rows, columns, perplexity, affinities.data()); !status.ok()) return status;
  tsne_start(rows, seed, state.data());
  tsne_descend(affinities.data(), rows, iterations, 0, iterations, state.data());
  tsne_map(affinities.data(), rows, state.data(), points, divergence);
  return ok();
}

}  // namespace posenc
