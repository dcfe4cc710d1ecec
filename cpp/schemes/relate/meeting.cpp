#include "schemes/relate/meeting.h"

namespace posenc {

Meeting::Vector Meeting::row(const Weights& table, std::size_t row) const {
  const std::size_t at = row * table.width;
  double* gradient = nullptr;
  if (gradients != nullptr) {
    gradient = (*gradients)[table.name] + (table.heads == 0 ? 0 : static_cast<std::size_t>(head) * table.size) + at;
  }
  return {nullptr, table.of(head) + at, gradient};
}

double Meeting::add(std::size_t j, double factor, const Vector& a, const Vector& b) {
  if (wanted[j] == 0 || !scoring()) return 0;
  double sum = 0;
  for (std::size_t c = 0; c < d; ++c) sum += a.at(c) * b.at(c);
  if (reading == Reading::kScores) {
    r[j] += factor * sum;
    return sum;
  }
  const double g = factor * r[j];
  for (std::size_t c = 0; c < d; ++c) {
    if (a.gradient != nullptr) a.gradient[c] += g * b.at(c);
    if (b.gradient != nullptr) b.gradient[c] += g * a.at(c);
  }
  return sum;
}

void Meeting::mix(std::size_t j, const Vector& a) {
  if (visible[j] == 0) return;
  if (reading == Reading::kOutput) {
    for (std::size_t c = 0; c < value_width; ++c) output[c] += weights[j] * a.at(c);
  } else if (reading == Reading::kOutputBack) {
    for (std::size_t c = 0; c < value_width; ++c) {
      weight_gradient[j] += output[c] * a.at(c);
      if (a.gradient != nullptr) a.gradient[c] += weights[j] * output[c];
    }
  }
}

}  // namespace posenc
