#include "analysis/bilinear.h"

#include <cmath>
#include <limits>
#include <vector>

#include "analysis/finite.h"
#include "kernels/exact_sum.h"
#include "kernels/row_gram.h"

namespace posenc {

namespace {

double magnitude(double x) { return x < 0 ? -x : x; }

double dot(const double* a, const double* b, std::size_t count) {
  double sum = 0;
  for (std::size_t c = 0; c < count; ++c) sum += a[c] * b[c];
  return sum;
}

double mean_length(const double* rows, std::size_t count, std::size_t dim) {
  ExactSum sum;
  for (std::size_t t = 0; t < count; ++t) sum.add(std::sqrt(dot(rows + t * dim, rows + t * dim, dim)));
  return sum.value() / static_cast<double>(count);
}

}  // namespace

Status bilinear(const PairedRows& rows, const double* h, bool diagonal, double* value, double* relative,
                double* absolute, double* rest) {
  const std::size_t dim = rows.dim, pairs = dim / 2;
  const std::size_t step = diagonal ? 1 : dim + 1;  // from one entry of the diagonal to the next
  if (Status status = check_finite(h, diagonal ? dim : dim * dim, "bilinear", "h"); !status.ok()) return status;
  std::vector<double> whole(dim), off(dim);  // H^T p_m, and without the diagonal
  for (std::size_t m = 0; m < rows.query_count; ++m) {
    const double* p = rows.queries + m * dim;
    for (std::size_t b = 0; b < dim; ++b) whole[b] = off[b] = 0;
    for (std::size_t a = 0; a < dim; ++a) {
      for (std::size_t b = 0; b < dim && !diagonal; ++b) {
        const double term = h[a * dim + b] * p[a];
        whole[b] += term;
        if (a != b) off[b] += term;
      }
      if (diagonal) whole[a] = h[a] * p[a];
    }
    for (std::size_t n = 0; n < rows.key_count; ++n) {
      const double* q = rows.keys + n * dim;
      const std::size_t at = m * rows.key_count + n;
      double difference = 0, sum = 0;
      for (std::size_t i = 0; i < pairs; ++i) {
        const auto c = static_cast<std::size_t>(rows.columns[2 * i]);
        const auto s = static_cast<std::size_t>(rows.columns[2 * i + 1]);
        const double hc = h[c * step], hs = h[s * step];
        const double cosines = p[c] * q[c], sines = p[s] * q[s];
        difference += 0.5 * (hc + hs) * (cosines + sines);
        sum += 0.5 * (hc - hs) * (cosines - sines);
      }
      value[at] = dot(whole.data(), q, dim);
      relative[at] = difference;
      absolute[at] = sum;
      rest[at] = dot(off.data(), q, dim);
    }
  }
  return ok();
}

Status diagonal_dominance(const double* table, std::size_t rows, std::size_t dim, double* covariance, double* ratios,
                          Dominance& dominance) {
  static constexpr char kSubject[] = "diagonalDominance";
  if (rows < 2) {
    return refuse(Code::kOutOfRange, kSubject, "table", "of at least two rows", to_text(static_cast<double>(rows)));
  }
  if (Status status = check_finite(table, rows * dim, kSubject, "table"); !status.ok()) return status;
  std::vector<double> mean(dim);
  for (std::size_t c = 0; c < dim; ++c) {
    ExactSum sum;
    for (std::size_t t = 0; t < rows; ++t) sum.add(table[t * dim + c]);
    mean[c] = sum.value() / static_cast<double>(rows);
  }
  std::vector<double> centred(rows * dim), scratch(gram_scratch(dim));
  for (std::size_t n = 0; n < centred.size(); ++n) centred[n] = table[n] - mean[n % dim];
  gram(centred.data(), dim, rows, 1, dim, covariance, scratch.data());
  dominance = {};
  double off_diagonal = 0;
  for (std::size_t a = 0; a < dim; ++a) {
    double others = 0;
    for (std::size_t b = 0; b < dim; ++b) {
      double& entry = covariance[a * dim + b];
      entry /= static_cast<double>(rows - 1);
      if (a != b) others += magnitude(entry);
    }
    const double own = magnitude(covariance[a * dim + a]);
    ratios[a] = others > 0 ? own / others : own > 0 ? std::numeric_limits<double>::infinity() : 0;
    dominance.diagonal += own;
    off_diagonal += others;
    if (own > others) dominance.rows += 1;
  }
  const double count = static_cast<double>(dim);
  dominance.diagonal = dim > 0 ? dominance.diagonal / count : 0;
  dominance.off_diagonal = dim > 1 ? off_diagonal / (count * (count - 1)) : 0;
  return ok();
}

Status norm_ratio(const double* embeddings, std::size_t rows, std::size_t dim, const double* table,
                  std::size_t table_rows, std::size_t table_dim, double (&means)[3]) {
  static constexpr char kSubject[] = "normRatio";
  if (rows == 0) return refuse(Code::kOutOfRange, kSubject, "embeddings", "of at least one row", "0");
  if (table_rows == 0) return refuse(Code::kOutOfRange, kSubject, "table", "of at least one row", "0");
  Status status = check_finite(embeddings, rows * dim, kSubject, "embeddings");
  if (status.ok()) status = check_finite(table, table_rows * table_dim, kSubject, "table");
  if (!status.ok()) return status;
  means[0] = mean_length(embeddings, rows, dim);
  means[1] = mean_length(table, table_rows, table_dim);
  means[2] = means[1] > 0 ? means[0] / means[1] : means[0] > 0 ? std::numeric_limits<double>::infinity() : 0;
  return ok();
}

}  // namespace posenc
