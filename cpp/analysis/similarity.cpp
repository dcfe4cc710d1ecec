#include "analysis/similarity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "analysis/finite.h"
#include "kernels/product.h"
#include "kernels/row_distance.h"
#include "kernels/row_gram.h"

namespace posenc {

namespace {

constexpr char kSubject[] = "similarity";

template <class Real>
Status check_finite(const Real* x, std::size_t n, Code code, Words allowed) {
  for (std::size_t c = 0; c < n; ++c) {
    if (!(x[c] - x[c] == 0)) return refuse(code, kSubject, "table", allowed, to_text(static_cast<double>(x[c])));
  }
  return ok();
}

template <class Real>
Real held(Real cosine) {
  return cosine > 1 ? Real{1} : cosine < -1 ? Real{-1} : cosine;
}

// out (rows, rows) of products -> cosines, given the length of each row; 0 where a row is zero.
template <class Real>
void divide_by_lengths(const std::vector<Real>& length, std::size_t rows, Real* out) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < rows; ++j) {
      Real& x = out[i * rows + j];
      if (length[i] == 0 || length[j] == 0)
        x = 0;
      else
        x = i == j ? Real{1} : held(x / (length[i] * length[j]));
    }
  }
}

// Cosines do not change with the length of a row: where squares could leave float64, rows are multiplied by powers of
// two that bring their largest number near 1. `level` holds them then.
const double* levelled(const double* table, std::size_t rows, std::size_t columns, std::vector<double>& level) {
  for (std::size_t i = 0; i < rows; ++i) {
    double most = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      const double x = table[i * columns + c], size = x < 0 ? -x : x;
      if (most < size) most = size;
    }
    if (most == 0 || (most >= 0x1p-200 && most <= 0x1p200)) continue;
    if (level.empty()) level.assign(table, table + rows * columns);
    const int exponent = -std::ilogb(most);
    for (std::size_t c = 0; c < columns; ++c) level[i * columns + c] = std::scalbn(table[i * columns + c], exponent);
  }
  return level.empty() ? table : level.data();
}

void fill_distances(const double* table, std::size_t rows, std::size_t columns, double* out) {
  const std::size_t width = padded_width(columns);
  std::vector<double> padded(rows * width, 0.0);
  for (std::size_t i = 0; i < rows; ++i) std::copy(table + i * columns, table + (i + 1) * columns, &padded[i * width]);
  for (std::size_t i = 0; i < rows; ++i) {
    out[i * rows + i] = 0;
    for (std::size_t j = 0; j < i; ++j) {
      const double* row = padded.data();
      const auto squared = [=](double scale) {
        return squared_distance(row + i * width, row + j * width, width, std::numeric_limits<double>::infinity(),
                                scale);
      };
      out[i * rows + j] = out[j * rows + i] = root_of(squared(1), squared);
    }
  }
}

// The similarities of a table some of whose rows may be lost to NaN and infinities.
template <class Real>
Status around_lost_rows(const Real* table, std::size_t rows, std::size_t columns, Metric metric, Real* out) {
  std::vector<Real> kept(table, table + rows * columns);
  std::vector<bool> lost(rows, false);
  for (std::size_t i = 0; i < rows; ++i) {
    Real* row = kept.data() + i * columns;
    for (std::size_t c = 0; c < columns; ++c) lost[i] = lost[i] || !(row[c] - row[c] == 0);
    if (lost[i]) std::fill(row, row + columns, Real{0});
  }
  Status status = similarity(kept.data(), rows, columns, metric, out);
  for (std::size_t i = 0; i < rows && status.ok(); ++i) {
    for (std::size_t j = 0; j < rows; ++j) {
      if (lost[i] || lost[j]) out[i * rows + j] = std::numeric_limits<Real>::quiet_NaN();
    }
  }
  return status;
}

}  // namespace

Status similarity(const double* table, std::size_t rows, std::size_t columns, Metric metric, double* out,
                  bool allow_non_finite) {
  if (allow_non_finite) return around_lost_rows(table, rows, columns, metric, out);
  Status status = check_finite(table, rows * columns, Code::kNotFinite, "finite numbers");
  if (!status.ok()) return status;
  if (metric == Metric::kEuclidean) {
    fill_distances(table, rows, columns, out);
  } else {
    std::vector<double> scratch(gram_scratch(rows)), level;
    if (metric == Metric::kCosine) table = levelled(table, rows, columns, level);
    gram(table, rows, columns, columns, 1, out, scratch.data());
    if (metric == Metric::kCosine) {
      std::vector<double> length(rows);
      for (std::size_t i = 0; i < rows; ++i) length[i] = std::sqrt(out[i * rows + i]);
      divide_by_lengths(length, rows, out);
    }
  }
  return check_finite(out, rows * rows, Code::kOutOfRange, "of numbers whose products float64 holds");
}

Status similarity(const float* table, std::size_t rows, std::size_t columns, Metric metric, float* out,
                  bool allow_non_finite) {
  if (allow_non_finite) return around_lost_rows(table, rows, columns, metric, out);
  Status status = check_finite(table, rows * columns, Code::kNotFinite, "finite numbers");
  if (!status.ok()) return status;
  std::vector<float> unit, scratch(product_scratch(rows, columns, rows));
  const float* factor = table;
  std::vector<bool> zero(metric == Metric::kCosine ? rows : 0, false);
  if (metric == Metric::kCosine) {
    // Unit rows, so that the products are the cosines.
    unit.resize(rows * columns);
    for (std::size_t i = 0; i < rows; ++i) {
      double square = 0;
      for (std::size_t c = 0; c < columns; ++c) {
        const double x = table[i * columns + c];
        square += x * x;
      }
      zero[i] = square == 0;
      const double length = zero[i] ? 1 : std::sqrt(square);
      for (std::size_t c = 0; c < columns; ++c) {
        unit[i * columns + c] = static_cast<float>(static_cast<double>(table[i * columns + c]) / length);
      }
    }
    factor = unit.data();
  }
  product_with_itself({.data = factor, .stride = columns}, rows, columns, out, rows, scratch.data());
  if (metric == Metric::kCosine) {
    for (std::size_t n = 0; n < rows * rows; ++n) out[n] = held(out[n]);
    for (std::size_t i = 0; i < rows; ++i) out[i * rows + i] = zero[i] ? 0.0f : 1.0f;
    return ok();
  }
  status = check_finite(out, rows * rows, Code::kOutOfRange, "of numbers whose products float32 holds");
  if (!status.ok() || metric == Metric::kDot) return status;
  std::vector<float> square(rows);
  for (std::size_t i = 0; i < rows; ++i) square[i] = out[i * rows + i];
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < rows; ++j) {
      float& x = out[i * rows + j];
      const float apart = (square[i] - x) + (square[j] - x);
      x = apart > 0 ? std::sqrt(apart) : 0.0f;
    }
  }
  return check_finite(out, rows * rows, Code::kOutOfRange, "of numbers whose products float32 holds");
}

void row_products(const double* left, std::size_t rows, const double* right, std::size_t others, std::size_t columns,
                  double* out) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < others; ++j) {
      double sum = 0;
      for (std::size_t c = 0; c < columns; ++c) sum += left[i * columns + c] * right[j * columns + c];
      out[i * others + j] = sum;
    }
  }
}

}  // namespace posenc
