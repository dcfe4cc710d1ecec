#include "analysis/metrics.h"

#include <cmath>
#include <limits>

#include "core/positions.h"
#include "simd/math.h"

namespace posenc {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool is_weight(float w) { return w >= 0 && w - w == 0; }
bool is_finite(float w) { return w - w == 0; }

Status refuse_weight(const char* subject, float w) {
  return refuse(is_finite(w) ? Code::kOutOfRange : Code::kNotFinite, subject, "weights", "finite numbers of at least 0",
                to_text(static_cast<double>(w)));
}

}  // namespace

Status entropy(const float* weights, std::size_t rows, std::size_t keys, double base, double* out,
               bool allow_non_finite) {
  const auto refuse_base = [&](Code code) {
    return refuse(code, "entropy", "base", "a number above 0 other than 1", to_text(base));
  };
  if (base != base) return refuse_base(Code::kNotANumber);
  if (!(base - base == 0)) return refuse_base(Code::kNotFinite);
  if (!(base > 0) || base == 1) return refuse_base(Code::kOutOfRange);
  const double unit = base == kEuler ? 1.0 : simd::log_double(base);
  for (std::size_t i = 0; i < rows; ++i) {
    const float* row = weights + i * keys;
    double sum = 0;
    bool lost = false;
    for (std::size_t j = 0; j < keys; ++j) {
      if (!is_weight(row[j])) {
        if (!allow_non_finite || is_finite(row[j])) return refuse_weight("entropy", row[j]);
        lost = true;
        continue;
      }
      const double w = row[j];
      if (w > 0) sum += w * simd::log_double(w);
    }
    out[i] = lost ? kNaN : 0.0 - sum / unit;
  }
  return ok();
}

Status attention_distance(const float* weights, std::size_t batch, std::size_t queries, std::size_t keys,
                          const double* query_positions, const double* key_positions, double* out,
                          bool allow_non_finite) {
  static constexpr char kSubject[] = "attentionDistance";
  Status status = check_positions({query_positions, queries, 1}, kSubject, "queryPositions");
  if (status.ok()) status = check_positions({key_positions, keys, 1}, kSubject, "keyPositions");
  if (!status.ok()) return status;
  for (std::size_t n = 0; n < batch * queries; ++n) {
    const float* row = weights + n * keys;
    const double i = query_positions[n % queries];
    double sum = 0;
    bool lost = false;
    for (std::size_t j = 0; j < keys; ++j) {
      if (!is_weight(row[j])) {
        if (!allow_non_finite || is_finite(row[j])) return refuse_weight(kSubject, row[j]);
        lost = true;
        continue;
      }
      const double offset = key_positions[j] - i;
      sum += static_cast<double>(row[j]) * (offset < 0 ? -offset : offset);
    }
    out[n] = lost ? kNaN : sum;
  }
  return ok();
}

Status layout_check(const double* found, const double* expected, std::size_t batch, std::size_t tokens,
                    std::size_t width, double* norms, double* errors) {
  const std::size_t rows = batch * tokens;
  for (std::size_t n = 0; n < rows * width; ++n) {
    if (!(found[n] - found[n] == 0)) {
      return refuse(Code::kNotFinite, "layoutCheck", "rotated", "finite numbers", to_text(found[n]));
    }
  }
  const auto dot = [width](const double* a, const double* b) {
    double sum = 0;
    for (std::size_t c = 0; c < width; ++c) sum += a[c] * b[c];
    return sum;
  };
  const auto keep = [errors](int kind, double gap, double size) {
    if (gap < 0) gap = -gap;
    if (size > 0) gap /= size;
    if (errors[kind] < gap) errors[kind] = gap;
  };
  errors[0] = errors[1] = errors[2] = 0;
  for (std::size_t n = 0; n < rows; ++n) {
    const double* f = found + n * width;
    const double* e = expected + n * width;
    norms[n] = std::sqrt(dot(e, e));
    norms[rows + n] = std::sqrt(dot(f, f));
    keep(0, norms[rows + n] - norms[n], norms[n]);
    for (std::size_t c = 0; c < width; ++c) keep(2, f[c] - e[c], norms[n]);
    for (std::size_t m = n - n % tokens; m < n; ++m) {
      keep(1, dot(f, found + m * width) - dot(e, expected + m * width), norms[n] * norms[m]);
    }
  }
  return ok();
}

}  // namespace posenc
