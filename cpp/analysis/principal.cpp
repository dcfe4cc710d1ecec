#include "analysis/principal.h"

#include <vector>

#include "analysis/finite.h"
#include "analysis/symmetric_eigen.h"
#include "kernels/centred.h"
#include "kernels/row_gram.h"

namespace posenc {

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

  std::vector<double> covariance(columns * columns), scratch(gram_scratch(columns));
  gram(centred.data(), columns, rows, 1, columns, covariance.data(), scratch.data());
  const double denominator = static_cast<double>(rows - 1);
  *total = 0;
  for (std::size_t c = 0; c < columns * columns; ++c) covariance[c] /= denominator;
  for (std::size_t c = 0; c < columns; ++c) *total += covariance[c * columns + c];
  if (!(*total - *total == 0)) {
    return refuse(Code::kOutOfRange, kSubject, "table", "of numbers whose squares can be summed", to_text(*total));
  }
  symmetric_eigen(covariance.data(), columns, count, variances, components);

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
