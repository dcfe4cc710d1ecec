#include "analysis/permutation.h"

#include <algorithm>
#include <vector>

#include "analysis/finite.h"
#include "simd/math.h"

namespace posenc {

Status sorted_attention(const float* scores, const float* values, std::size_t batch, std::size_t groups,
                        std::size_t queries, std::size_t keys, std::size_t width, double* out) {
  static constexpr char kSubject[] = "sortedAttention";
  constexpr float kMasked = -__builtin_inff();
  std::vector<std::size_t> by_value(keys), rank(keys), order;
  std::vector<double> weights;
  for (std::size_t b = 0; b < batch; ++b) {
    const float* rows = values + b / groups * keys * width;
    for (std::size_t c = 0; c < keys * width; ++c) {
      if (!(rows[c] - rows[c] == 0)) {
        return refuse(Code::kNotFinite, kSubject, "v", "finite numbers", to_text(static_cast<double>(rows[c])));
      }
    }
    // Equal rows of values share a rank: which of them comes first shows nowhere.
    const auto less = [&](std::size_t s, std::size_t t) {
      return std::lexicographical_compare(rows + s * width, rows + (s + 1) * width, rows + t * width,
                                          rows + (t + 1) * width);
    };
    for (std::size_t j = 0; j < keys; ++j) by_value[j] = j;
    std::sort(by_value.begin(), by_value.end(), less);
    for (std::size_t n = 0; n < keys; ++n) {
      rank[by_value[n]] = n > 0 && !less(by_value[n - 1], by_value[n]) ? rank[by_value[n - 1]] : n;
    }
    for (std::size_t i = 0; i < queries; ++i) {
      const float* row = scores + (b * queries + i) * keys;
      double* result = out + (b * queries + i) * width;
      for (std::size_t c = 0; c < width; ++c) result[c] = 0;
      order.clear();
      for (std::size_t j = 0; j < keys; ++j) {
        if (row[j] == kMasked) continue;
        if (!(row[j] - row[j] == 0)) {
          return refuse(Code::kNotFinite, kSubject, "scores", "finite numbers", to_text(static_cast<double>(row[j])));
        }
        order.push_back(j);
      }
      if (order.empty()) continue;
      std::sort(order.begin(), order.end(),
                [&](std::size_t s, std::size_t t) { return row[s] != row[t] ? row[s] < row[t] : rank[s] < rank[t]; });
      const double largest = row[order.back()];
      weights.resize(order.size());
      double sum = 0;
      for (std::size_t n = 0; n < order.size(); ++n) {
        weights[n] = simd::exp_double(row[order[n]] - largest);
        sum += weights[n];
      }
      for (std::size_t n = 0; n < order.size(); ++n) {
        const float* value = rows + order[n] * width;
        for (std::size_t c = 0; c < width; ++c) result[c] += weights[n] * static_cast<double>(value[c]);
      }
      for (std::size_t c = 0; c < width; ++c) result[c] /= sum;
    }
  }
  return ok();
}

Status permutation_gap(const double* straight, const double* permuted, const double* permutation, std::size_t batch,
                       std::size_t tokens, std::size_t width, double& gap) {
  static constexpr char kSubject[] = "permutationGap";
  std::vector<bool> seen(tokens, false);
  for (std::size_t t = 0; t < tokens; ++t) {
    const double from = permutation[t];
    const bool inside = from >= 0 && from < static_cast<double>(tokens);
    const std::size_t index = inside ? static_cast<std::size_t>(from) : 0;
    if (!inside || static_cast<double>(index) != from || seen[index]) {
      return refuse(Code::kOutOfRange, kSubject, "permutation",
                    "each of 0 to " + to_text(static_cast<double>(tokens) - 1) + " once", to_text(from));
    }
    seen[index] = true;
  }
  Status status = check_finite(straight, batch * tokens * width, kSubject, "x");
  if (status.ok()) status = check_finite(permuted, batch * tokens * width, kSubject, "x");
  if (!status.ok()) return status;
  gap = 0;
  for (std::size_t b = 0; b < batch; ++b) {
    for (std::size_t t = 0; t < tokens; ++t) {
      const double* there = permuted + (b * tokens + t) * width;
      const double* here = straight + (b * tokens + static_cast<std::size_t>(permutation[t])) * width;
      for (std::size_t c = 0; c < width; ++c) {
        const double difference = there[c] < here[c] ? here[c] - there[c] : there[c] - here[c];
        if (gap < difference) gap = difference;
      }
    }
  }
  return ok();
}

}  // namespace posenc
