#include "analysis/learned_table.h"

#include <cmath>
#include <vector>

#include "analysis/finite.h"
#include "analysis/symmetric_eigen.h"
#include "kernels/row_gram.h"

namespace posenc {

namespace {

double magnitude(double x) { return x < 0 ? -x : x; }

Status refuse_table(Words subject, Words allowed, std::size_t given) {
  return refuse(Code::kShapeMismatch, subject, "table", allowed, to_text(static_cast<double>(given)));
}

}  // namespace

Status fit_table(const double* target, std::size_t n, std::size_t width, double* table, double& residual) {
  if (Status status = check_finite(target, n * n, "fitTable", "kernel"); !status.ok()) return status;
  const std::size_t count = width < n ? width : n;
  std::vector<double> symmetric(n * n), values(count), vectors(count * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) symmetric[i * n + j] = 0.5 * target[i * n + j] + 0.5 * target[j * n + i];
  }
  symmetric_eigen(symmetric.data(), n, count, values.data(), vectors.data());
  for (std::size_t c = 0; c < n * width; ++c) table[c] = 0;
  for (std::size_t k = 0; k < count; ++k) {
    if (!(values[k] > 0)) continue;
    const double scale = std::sqrt(values[k]);
    double peak = 0;
    for (std::size_t t = 0; t < n; ++t) {
      const double x = table[t * width + k] = vectors[k * n + t] * scale;
      if (magnitude(peak) < magnitude(x)) peak = x;
    }
    for (std::size_t t = 0; t < n && peak < 0; ++t) table[t * width + k] = -table[t * width + k];
  }
  std::vector<double> products(n * n), scratch(gram_scratch(n));
  gram(table, n, width, width, 1, products.data(), scratch.data());
  double missed = 0, all = 0;
  for (std::size_t c = 0; c < n * n; ++c) {
    missed += (products[c] - target[c]) * (products[c] - target[c]);
    all += target[c] * target[c];
  }
  residual = all > 0 ? std::sqrt(missed / all) : 0;
  return ok();
}

Status resample_table(const double* table, std::size_t rows, std::size_t width, std::size_t length, Corners corners,
                      double* out) {
  if (rows < 1) return refuse_table("resampleTable", "of at least 1 row", rows);
  if (Status status = check_finite(table, rows * width, "resampleTable", "table"); !status.ok()) return status;
  const double last = static_cast<double>(rows - 1), given = static_cast<double>(rows);
  const double wanted = static_cast<double>(length);
  for (std::size_t t = 0; t < length; ++t) {
    const double at = static_cast<double>(t);
    double place = corners == Corners::kHalfPixel ? (at + 0.5) * given / wanted - 0.5
                   : length > 1                   ? at * last / (wanted - 1)
                                                  : 0;
    place = place < 0 ? 0 : last < place ? last : place;
    const double low = std::floor(place), part = place - low;
    const double* a = table + static_cast<std::size_t>(low) * width;
    const double* b = part > 0 ? a + width : a;
    for (std::size_t c = 0; c < width; ++c) out[t * width + c] = a[c] + part * (b[c] - a[c]);
  }
  return ok();
}

Status extend_table(const double* table, std::size_t rows, std::size_t width, std::size_t length, double* out,
                    double& misfit) {
  static constexpr char kSubject[] = "extendTable";
  if (rows < 2) return refuse_table(kSubject, "of at least 2 rows", rows);
  if (length < rows) {
    return refuse(Code::kOutOfRange, kSubject, "length",
                  "a whole number from " + to_text(static_cast<double>(rows)) + ", the table's rows",
                  to_text(static_cast<double>(length)));
  }
  if (Status status = check_finite(table, rows * width, kSubject, "table"); !status.ok()) return status;

  // M = (sum next row^T) (sum row row^T)^+, over the steps.
  const std::size_t w = width;
  std::vector<double> square(w * w), scratch(gram_scratch(w)), values(w), vectors(w * w), cross(w * w, 0.0);
  gram(table, w, rows - 1, 1, w, square.data(), scratch.data());
  for (std::size_t t = 0; t + 1 < rows; ++t) {
    for (std::size_t c = 0; c < w; ++c) {
      const double next = table[(t + 1) * w + c];
      for (std::size_t e = 0; e < w; ++e) cross[c * w + e] += next * table[t * w + e];
    }
  }
  symmetric_eigen(square.data(), w, w, values.data(), vectors.data());
  std::vector<double> map(w * w, 0.0), along(w);
  for (std::size_t k = 0; k < w && values[k] > 1e-12 * values[0]; ++k) {
    const double* vector = vectors.data() + k * w;
    for (std::size_t c = 0; c < w; ++c) {
      double sum = 0;
      for (std::size_t e = 0; e < w; ++e) sum += cross[c * w + e] * vector[e];
      sum /= values[k];
      for (std::size_t e = 0; e < w; ++e) map[c * w + e] += sum * vector[e];
    }
  }
  const auto move = [&](const double* row, double* next) {
    for (std::size_t c = 0; c < w; ++c) {
      double sum = 0;
      for (std::size_t e = 0; e < w; ++e) sum += map[c * w + e] * row[e];
      next[c] = sum;
    }
  };
  misfit = 0;
  for (std::size_t t = 0; t + 1 < rows; ++t) {
    move(table + t * w, along.data());
    for (std::size_t c = 0; c < w; ++c) {
      const double gap = magnitude(along[c] - table[(t + 1) * w + c]);
      if (misfit < gap) misfit = gap;
    }
  }
  for (std::size_t c = 0; c < rows * w; ++c) out[c] = table[c];
  for (std::size_t t = rows; t < length; ++t) move(out + (t - 1) * w, out + t * w);
  return ok();
}

}  // namespace posenc
