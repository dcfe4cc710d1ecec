#include "analysis/extension.h"

#include <limits>
#include <vector>

#include "analysis/kernel.h"
#include "core/positions.h"
#include "kernels/exact_sum.h"
#include "kernels/sincos.h"

namespace posenc {

namespace {

double magnitude(double x) { return x < 0 ? -x : x; }

Status check_length(const char* subject, const char* argument, double value) {
  constexpr char kAllowed[] = "a whole number from 1 to 2^53";
  if (!(value >= 1 && value <= kMaxPosition)) {
    return refuse(Code::kOutOfRange, subject, argument, kAllowed, to_text(value));
  }
  // Every double of this size that is not whole is below 2^52.
  if (value < 0x1p52 && (value + 0x1p52) - 0x1p52 != value) {
    return refuse(Code::kNotInteger, subject, argument, kAllowed, to_text(value));
  }
  return ok();
}

Status check_pairs(const char* subject, const char* argument, const Frequencies& first, const Frequencies& second) {
  if (first.pairs() == 0) {
    return refuse(Code::kShapeMismatch, subject, "scheme", "a scheme that turns pairs", "no pairs");
  }
  if (first.pairs() == second.pairs()) return ok();
  return refuse(Code::kShapeMismatch, subject, argument, "of " + to_text(static_cast<double>(first.pairs())) + " pairs",
                to_text(static_cast<double>(second.pairs())));
}

double turns_of(const MultiFloat& omega, double position) {
  const MultiFloat turns = ((omega.is_negative() ? -omega : omega) * MultiFloat::two_over_pi()).scaled(-2);
  return (turns * MultiFloat(position)).to_double();
}

}  // namespace

Status unseen_phases(const Frequencies& old, const Frequencies& now, double trained, double length, double* seen,
                     double* reached, double* unseen) {
  static constexpr char kSubject[] = "extrapolation";
  Status status = check_pairs(kSubject, "scheme", old, now);
  if (status.ok()) status = check_length(kSubject, "trained", trained);
  if (status.ok()) status = check_length(kSubject, "length", length);
  if (!status.ok()) return status;
  if (length < trained) {
    return refuse(Code::kOutOfRange, kSubject, "length", "at least trained, " + to_text(trained), to_text(length));
  }
  for (std::size_t i = 0; i < old.pairs(); ++i) {
    seen[i] = turns_of(old.angular(i), trained - 1);
    reached[i] = turns_of(now.angular(i), length - 1);
    const double share = (reached[i] < 1 ? reached[i] : 1) - (seen[i] < 1 ? seen[i] : 1);
    unseen[i] = share > 0 ? share : 0;
  }
  return ok();
}

Status extend_context(const Extension& extension, double length, const double* offsets, std::size_t count,
                      bool normalize, double* ratio, double* kernel_before, double* kernel_after, double* stale,
                      double* error) {
  static constexpr char kSubject[] = "contextExtension";
  const Frequencies &before = *extension.before, &after = *extension.after;
  const std::size_t pairs = before.pairs();
  Status status = check_pairs(kSubject, "after", before, after);
  if (status.ok()) status = check_length(kSubject, "length", length);
  if (!status.ok()) return status;
  status = score_kernel(before, offsets, count, normalize, kernel_before, kSubject);
  if (status.ok()) status = score_kernel(after, offsets, count, normalize, kernel_after, kSubject);
  if (!status.ok()) return status;
  const double last = length - 1;
  for (std::size_t n = 0; n < count; ++n) {
    if (magnitude(offsets[n]) <= last) continue;
    return refuse(Code::kOutOfRange, kSubject, "offsets", "at most length - 1, " + to_text(last) + ", in magnitude",
                  to_text(offsets[n]));
  }
  for (std::size_t i = 0; i < pairs; ++i) {
    const MultiFloat from = before.angular(i), to = after.angular(i);
    ratio[i] = !from.is_zero()  ? (to / from).to_double()
               : to.is_zero()   ? 1
                                : std::numeric_limits<double>::infinity();
  }
  std::vector<double> q(2 * pairs), k(2 * pairs);  // cosines, then sines
  const auto fill = [pairs](const Frequencies& frequencies, double position, std::vector<double>& row) {
    fill_sin_cos(frequencies, std::span(&position, 1),
                 SinCosTable<double>::separate(row.data(), row.data() + pairs, 2 * pairs, pairs));
  };
  fill(after, last, q);
  const double divisor = normalize ? static_cast<double>(pairs) : 1;
  for (std::size_t n = 0; n < count; ++n) {
    kernel_before[n] *= extension.factor_before * extension.factor_before;
    kernel_after[n] *= extension.factor_after * extension.factor_after;
    fill(before, last - magnitude(offsets[n]), k);
    ExactSum sum;
    for (std::size_t c = 0; c < 2 * pairs; ++c) sum.add(q[c] * k[c]);
    stale[n] = sum.value() / divisor * (extension.factor_before * extension.factor_after);
    error[n] = stale[n] - kernel_after[n];
  }
  return ok();
}

}  // namespace posenc
