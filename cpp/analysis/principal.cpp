#include "analysis/principal.h"

#include <cmath>
#include <vector>

#include "analysis/finite.h"
#include "analysis/symmetric_eigen.h"
#include "kernels/centred.h"
#include "kernels/row_gram.h"

namespace posenc {
namespace {

// Makes `vector` (n) one of length 1 and gives the length that it had; nothing of 0 is left as it is.
double make_unit(double* vector, std::size_t n) {
  double square = 0;
  project_rows(vector, 1, n, vector, 1, &square);
  const double length = std::sqrt(square);
  for (std::size_t c = 0; c < n && length > 0; ++c) vector[c] /= length;
  return length;
}

// Takes out of a unit vector (n) what lies along the `count` before it; false where little is left, so that its
// direction would be mostly rounding. Twice is enough (Parlett, The Symmetric Eigenvalue Problem, 6.9).
bool hold_at_right_angles(double* vector, std::size_t n, const double* before, std::size_t count, double* along) {
  for (int pass = 0; pass < 2; ++pass) {
    if (count > 0) project_rows(vector, 1, n, before, count, along);
    for (std::size_t j = 0; j < count; ++j) {
      for (std::size_t c = 0; c < n; ++c) vector[c] -= along[j] * before[j * n + c];
    }
    if (make_unit(vector, n) < 0.1) return false;
  }
  return true;
}

// The components of a table with fewer rows than columns lie among its rows: u^T centred, for the vectors u (count,
// rows) of the products of rows. Where a table has less than `count` of them, unit vectors of columns fill up.
void components_of_rows(const double* centred, std::size_t rows, std::size_t columns, std::size_t count,
                        const double* u, double* components) {
  std::vector<double> along(count);
  std::size_t column = 0;
  for (std::size_t k = 0; k < count; ++k) {
    double* const component = components + k * columns;
    for (std::size_t c = 0; c < columns; ++c) component[c] = 0;
    for (std::size_t t = 0; t < rows; ++t) {
      const double weight = u[k * rows + t];
      for (std::size_t c = 0; c < columns; ++c) component[c] += weight * centred[t * columns + c];
    }
    make_unit(component, columns);
    while (!hold_at_right_angles(component, columns, components, k, along.data())) {
      for (std::size_t c = 0; c < columns; ++c) component[c] = c == column ? 1 : 0;
      ++column;
    }
  }
}

}  // namespace

Status principal_components(const double* table, std::size_t rows, std::size_t columns, std::size_t count,
                            double* scores, double* components, double* variances, double* mean, double* total) {
  static constexpr char kSubject[] = "pca";
  if (rows < 2) {
    return refuse(Code::kShapeMismatch, kSubject, "table", "of at least 2 rows", to_text(static_cast<double>(rows)));
  }
  if (count < 1 || count > columns) {
    return refuse(Code::kOutOfRange, kSubject, "components",
                  "a whole number from 1 to " + to_text(static_cast<double>(columns)),
                  to_text(static_cast<double>(count)));
  }
  if (Status status = check_finite(table, rows * columns, kSubject, "table"); !status.ok()) return status;

  std::vector<double> centred(rows * columns);
  centre_columns(table, rows, columns, mean, centred.data());

  // Covariances of columns, or the products of rows, which have the same values beside zeros.
  const bool wide = rows < columns && count < rows;
  const std::size_t n = wide ? rows : columns;
  std::vector<double> products(n * n), scratch(gram_scratch(n));
  gram(centred.data(), n, wide ? columns : rows, wide ? columns : 1, wide ? 1 : columns, products.data(),
       scratch.data());
  const double denominator = static_cast<double>(rows - 1);
  *total = 0;
  for (std::size_t i = 0; i < n * n; ++i) products[i] /= denominator;
  for (std::size_t i = 0; i < n; ++i) *total += products[i * n + i];
  if (!(*total - *total == 0)) {
    return refuse(Code::kOutOfRange, kSubject, "table", "of numbers whose squares can be summed", to_text(*total));
  }
  std::vector<double> u(wide ? count * rows : 0);
  symmetric_eigen(products.data(), n, count, variances, wide ? u.data() : components);
  if (wide) components_of_rows(centred.data(), rows, columns, count, u.data(), components);

  for (std::size_t k = 0; k < count; ++k) {
    double* component = components + k * columns;
    std::size_t peak = 0;
    const auto size = [component](std::size_t c) { return component[c] < 0 ? -component[c] : component[c]; };
    for (std::size_t c = 1; c < columns; ++c) {
      if (size(peak) < size(c)) peak = c;
    }
    if (component[peak] < 0) {
      for (std::size_t c = 0; c < columns; ++c) component[c] = -component[c];
    }
    // Rounding may leave a variance of nothing below it.
    if (variances[k] < 0) variances[k] = 0;
  }
  project_rows(centred.data(), rows, columns, components, count, scores);
  return ok();
}

}  // namespace posenc
