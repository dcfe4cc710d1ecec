#include "analysis/pairwise.h"

#include <cmath>

#include "analysis/finite.h"
#include "simd/math.h"

namespace posenc {

namespace {

double magnitude(double x) { return x < 0 ? -x : x; }

Status check(const PairMatrices& m, Words subject) {
  return check_finite(m.data, m.batch * m.queries * m.keys, subject, "matrix");
}

double offset(const PairMatrices& m, std::size_t i, std::size_t j) {
  return static_cast<double>(j) - static_cast<double>(i) - m.start;
}

}  // namespace

std::size_t offset_count(const PairMatrices& m) { return m.queries == 0 || m.keys == 0 ? 0 : m.queries + m.keys - 1; }

Status offset_profile(const PairMatrices& m, double* mean, double* lowest, double* highest, double* deviation) {
  if (Status status = check(m, "offsetProfile"); !status.ok()) return status;
  const std::size_t offsets = offset_count(m);
  if (offsets == 0) return ok();  // however many matrices without an element there are
  for (std::size_t b = 0; b < m.batch; ++b) {
    const double* matrix = m.data + b * m.queries * m.keys;
    for (std::size_t o = 0; o < offsets; ++o) {
      // The diagonal from its first pair: query i meets key i + o - (queries - 1).
      const std::size_t first = o < m.queries - 1 ? m.queries - 1 - o : 0;
      const auto at = [&](std::size_t i) { return matrix[i * m.keys + (i + o - (m.queries - 1))]; };
      const auto inside = [&](std::size_t i) { return i < m.queries && i + o - (m.queries - 1) < m.keys; };
      double sum = 0, low = at(first), high = low, count = 0;
      for (std::size_t i = first; inside(i); ++i) {
        const double x = at(i);
        sum += x;
        count += 1;
        if (x < low) low = x;
        if (high < x) high = x;
      }
      const std::size_t n = b * offsets + o;
      // Equal numbers have themselves as their mean, however their sum was rounded.
      mean[n] = low == high ? low : sum / count;
      lowest[n] = low;
      highest[n] = high;
      double squares = 0;
      for (std::size_t i = first; inside(i); ++i) squares += (at(i) - mean[n]) * (at(i) - mean[n]);
      deviation[n] = std::sqrt(squares / count);
    }
  }
  return ok();
}

Status toeplitz_gap(const PairMatrices& m, double* gap) {
  if (Status status = check(m, "toeplitzGap"); !status.ok()) return status;
  for (std::size_t b = 0; b < m.batch; ++b) {
    const double* matrix = m.data + b * m.queries * m.keys;
    gap[b] = 0;
    const auto walk = [&](std::size_t i, std::size_t j) {
      double low = matrix[i * m.keys + j], high = low;
      for (; i < m.queries && j < m.keys; ++i, ++j) {
        const double x = matrix[i * m.keys + j];
        if (x < low) low = x;
        if (high < x) high = x;
      }
      if (gap[b] < high - low) gap[b] = high - low;
    };
    if (m.keys > 0) {
      for (std::size_t i = 0; i < m.queries; ++i) walk(i, 0);
    }
    if (m.queries > 0) {
      for (std::size_t j = 1; j < m.keys; ++j) walk(0, j);
    }
  }
  return ok();
}

Status symmetry(const PairMatrices& m, double* share, double* gap) {
  if (m.queries != m.keys) {
    return refuse(Code::kShapeMismatch, "symmetry", "matrix", "square, [..., T, T]",
                  to_text(static_cast<double>(m.queries)) + " rows of " + to_text(static_cast<double>(m.keys)));
  }
  if (Status status = check(m, "symmetry"); !status.ok()) return status;
  const std::size_t n = m.keys;
  for (std::size_t b = 0; b < m.batch; ++b) {
    const double* matrix = m.data + b * n * n;
    double even = 0, odd = 0;
    gap[b] = 0;
    for (std::size_t i = 0; i < n; ++i) {
      even += matrix[i * n + i] * matrix[i * n + i];
      for (std::size_t j = 0; j < i; ++j) {
        const double x = matrix[i * n + j], y = matrix[j * n + i];
        even += 0.5 * ((x + y) * (x + y));
        odd += 0.5 * ((x - y) * (x - y));
        if (gap[b] < magnitude(x - y)) gap[b] = magnitude(x - y);
      }
    }
    share[b] = odd > 0 ? even / (even + odd) : 1;
  }
  return ok();
}

Status monotonicity(const PairMatrices& m, double* share, double* rise) {
  if (Status status = check(m, "monotonicity"); !status.ok()) return status;
  for (std::size_t b = 0; b < m.batch; ++b) {
    double steps = 0, kept = 0;
    rise[b] = 0;
    for (std::size_t i = 0; i < m.queries; ++i) {
      const double* row = m.data + (b * m.queries + i) * m.keys;
      for (std::size_t j = 0; j + 1 < m.keys; ++j) {
        const double near = magnitude(offset(m, i, j)), far = magnitude(offset(m, i, j + 1));
        if (near == far) continue;
        const double change = near < far ? row[j + 1] - row[j] : row[j] - row[j + 1];
        steps += 1;
        if (change > 0) {
          if (rise[b] < change) rise[b] = change;
        } else {
          kept += 1;
        }
      }
    }
    share[b] = steps > 0 ? kept / steps : 1;
  }
  return ok();
}

Status locality(const PairMatrices& m, double radius, bool scores, double* share) {
  static constexpr char kSubject[] = "locality";
  if (!(radius >= 0) || !(radius - radius == 0)) {
    const Code code = radius != radius ? Code::kNotANumber : radius > 0 ? Code::kNotFinite : Code::kOutOfRange;
    return refuse(code, kSubject, "radius", "a number of at least 0", to_text(radius));
  }
  if (Status status = check(m, kSubject); !status.ok()) return status;
  for (std::size_t b = 0; b < m.batch; ++b) {
    double sum_of_shares = 0, rows = 0;
    for (std::size_t i = 0; i < m.queries; ++i) {
      const double* row = m.data + (b * m.queries + i) * m.keys;
      double largest = 0;
      for (std::size_t j = 0; j < m.keys; ++j) {
        if (j == 0 || largest < row[j]) largest = row[j];
        if (!scores && row[j] < 0) {
          return refuse(Code::kOutOfRange, kSubject, "matrix", "weights of at least 0, or scores with kind: \"scores\"",
                        to_text(row[j]));
        }
      }
      double near = 0, all = 0;
      for (std::size_t j = 0; j < m.keys; ++j) {
        const double weight = scores ? simd::exp_double(row[j] - largest) : row[j];
        all += weight;
        if (magnitude(offset(m, i, j)) <= radius) near += weight;
      }
      if (all > 0) {
        sum_of_shares += near / all;
        rows += 1;
      }
    }
    share[b] = rows > 0 ? sum_of_shares / rows : 0;
  }
  return ok();
}

}  // namespace posenc
