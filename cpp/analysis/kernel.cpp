#include "analysis/kernel.h"

#include <cmath>
#include <vector>

#include "core/positions.h"
#include "kernels/exact_sum.h"
#include "kernels/sincos.h"

namespace posenc {

namespace {

// Calls use(cos, sin, k) with the row of each offset.
template <class Use>
Status each_row(const Frequencies& frequencies, const char* subject, const double* offsets, std::size_t count,
                Use use) {
  if (Status status = check_positions({offsets, count, 1}, subject, "offsets"); !status.ok()) return status;
  const std::size_t pairs = frequencies.pairs();
  if (pairs == 0) return refuse(Code::kShapeMismatch, subject, "scheme", "a scheme that turns pairs", "no pairs");
  std::vector<double> cos(pairs), sin(pairs);
  for (std::size_t n = 0; n < count; ++n) {
    fill_sin_cos(frequencies, std::span(offsets + n, 1),
                 SinCosTable<double>::separate(cos.data(), sin.data(), pairs, pairs));
    use(cos.data(), sin.data(), n);
  }
  return ok();
}

}  // namespace

Status score_kernel(const Frequencies& frequencies, const double* offsets, std::size_t count, bool normalize,
                    double* out, const char* subject) {
  const std::size_t pairs = frequencies.pairs();
  return each_row(frequencies, subject, offsets, count, [=](const double* cos, const double*, std::size_t n) {
    ExactSum sum;
    for (std::size_t i = 0; i < pairs; ++i) sum.add(cos[i]);
    out[n] = normalize ? sum.value() / static_cast<double>(pairs) : sum.value();
  });
}

Status decay_bound(const Frequencies& frequencies, const double* offsets, std::size_t count, double* out) {
  const std::size_t pairs = frequencies.pairs();
  return each_row(frequencies, "decayBound", offsets, count, [=](const double* cos, const double* sin, std::size_t n) {
    double re = 0, im = 0, sum = 0;
    for (std::size_t i = 0; i < pairs; ++i) {
      re += cos[i];
      im += sin[i];
      sum += std::sqrt(re * re + im * im);
    }
    out[n] = sum / static_cast<double>(pairs);
  });
}

}  // namespace posenc
