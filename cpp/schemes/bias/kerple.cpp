// KERPLE: biases from conditionally positive definite kernels, two learned numbers a head.
//
//   log:    b_h(i, j) = -r1 log(1 + r2 |i - j|),   r1, r2 > 0
//   power:  b_h(i, j) = -r1 |i - j|^r2,            r1 > 0, 0 < r2 <= 2
//
// Chi, Fan, Ramadge, Rudnicky 2022, "KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation",
// equation 3.
// Conventions:
//   names     the authors' code calls them p and a, keeps them above 0.01 and starts from uniform numbers.
//   defaults  only trained numbers mean something, so the default here is 1. ALiBi is the power kernel with r2 = 1.
// Good at: long texts after short training; "log" fades slowly enough to use far keys.
// Fails: order is seen through distance only.
// Example: kerple({ heads: 4, r1: [2, 1, 0.5, 0.25], r2: [1, 1, 1, 1] })
// Picture: data view=profiles
#include "schemes/bias/offset.h"
#include "schemes/params.h"
#include "schemes/registry.h"
#include "schemes/weights.h"
#include "simd/math.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    kHeads,
    {.name = "kind",
     .kind = Kind::kChoice,
     .sentence = "-r1 log(1 + r2 |i - j|), or -r1 |i - j|^r2.",
     .fallback = 0,
     .choices = "log|power"},
    {.name = "r1",
     .kind = Kind::kList,
     .sentence = "Weight of each head, or one for all; 1 where absent.",
     .min = 0,
     .max = 65536,
     .above_min = true,
     .shape = "[heads] or [1]",
     .differentiable = true,
     .shown_min = 0.05,
     .shown_max = 2},
    {.name = "r2",
     .kind = Kind::kList,
     .sentence = "Rate (log) or power (at most 2) of each head, or one for all; 1 where absent.",
     .min = 0,
     .max = 65536,
     .above_min = true,
     .shape = "[heads] or [1]",
     .differentiable = true,
     .shown_min = 0.05,
     .shown_max = 2},
};

constexpr Claim kClaims[] = {{Law::kShiftInvariant}, {Law::kNonPositive},  {Law::kMonotoneInDistance},
                             {Law::kSymmetric},      {Law::kExtrapolates}, {Law::kIdentityAtZero}};

class Kerple final : public OffsetBias {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto kerple = std::make_unique<Kerple>();
    kerple->power_ = spec.choice("kind") == 1;
    const auto heads = static_cast<std::size_t>(spec.integer("heads"));
    kerple->heads_ = spec.integer("heads");
    Status status = kerple->r1_.take(spec, "r1", heads, 1);
    if (status.ok()) status = kerple->r2_.take(spec, "r2", heads, 1);
    if (!status.ok()) return status;
    for (const double r2 : kerple->r2_.numbers) {
      if (kerple->power_ && r2 > 2) {
        return spec.refuse(Code::kOutOfRange, "r2", "at most 2 for the power kernel", to_text(r2));
      }
    }
    scheme = std::move(kerple);
    return ok();
  }

  int heads() const override { return heads_; }
  void declare(Gradients& to) const override { r1_.declare(to), r2_.declare(to); }

 protected:
  void evaluate(int head, const double* offsets, std::size_t count, double* b) const override {
    const double r1 = r1_.of(head), r2 = r2_.of(head);
    for (std::size_t n = 0; n < count; ++n) b[n] = -(r1 * kernel(r2, offsets[n] < 0 ? -offsets[n] : offsets[n])) + 0.0;
  }
  void derive(int head, double offset, double db, Gradients& to) const override {
    const double r1 = r1_.of(head), r2 = r2_.of(head), d = offset < 0 ? -offset : offset;
    if (d == 0) return;
    const double k = kernel(r2, d);
    to["r1"][r1_.index(head)] -= db * k;
    to["r2"][r2_.index(head)] -= db * r1 * (power_ ? k * simd::log_double(d) : d / (1 + r2 * d));
  }

 private:
  double kernel(double r2, double d) const {
    return power_ ? (d == 0 ? 0 : simd::exp_double(r2 * simd::log_double(d))) : simd::log1p_double(r2 * d);
  }

  int heads_ = 0;
  bool power_ = false;
  ByHead r1_, r2_;
};

}  // namespace

constinit const Descriptor schemes::bias_kerple = {
    .slot = Slot::kBias,
    .name = "kerple",
    .title = "KERPLE",
    .summary =
        "A learned penalty that grows like a logarithm or a power of the distance: goes on beyond the trained "
        "length.",
    .formula = R"(b_h(i, j) = -r_1 \log(1 + r_2 \lvert i - j \rvert)\ \text{or}\ -r_1 \lvert i - j \rvert^{r_2})",
    .reference = "Chi, Fan, Ramadge, Rudnicky 2022, KERPLE, eq. 3",
    .params = kParams,
    .claims = kClaims,
    .make = Kerple::make,
};

}  // namespace posenc
