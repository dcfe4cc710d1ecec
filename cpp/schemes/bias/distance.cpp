// Distance weights: the logarithm of a bell over the distance, so that the softmax is multiplied by the bell.
//
//   b(i, j) = log(1 / (1 + (|i - j| / tau)^2)) = -log(1 + (|i - j| / tau)^2)
//
// No paper: it states what is often written, that attention falls off as an inverse square with tau = 32.
// Conventions:
//   claim  it has no source, and no number that is told with it has one. The curve is here to be looked at beside the
//          others, and the same for every head.
// Good at: showing what a fall by the square would be: near keys alike, far ones thousands of times fainter.
// Fails: as a fact. Nothing trained is known to have this shape.
// Picture: view=profiles tau=8 heads=1
#include "schemes/bias/offset.h"
#include "schemes/params.h"
#include "schemes/registry.h"
#include "simd/math.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    shown(kHeads, 1),
    {.name = "tau",
     .kind = Kind::kReal,
     .sentence = "Distance at which a weight is halved.",
     .fallback = 32,
     .min = 0.001,
     .max = 9007199254740992.0,
     .differentiable = true,
     .shown_min = 1,
     .shown_max = 128,
     .shown_log = true},
};

constexpr Claim kClaims[] = {{Law::kShiftInvariant}, {Law::kNonPositive},  {Law::kMonotoneInDistance},
                             {Law::kSymmetric},      {Law::kExtrapolates}, {Law::kIdentityAtZero}};

class Distance final : public OffsetBias {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto distance = std::make_unique<Distance>();
    distance->heads_ = spec.integer("heads");
    distance->tau_ = spec.number("tau");
    scheme = std::move(distance);
    return ok();
  }

  int heads() const override { return heads_; }
  void declare(Gradients& to) const override { to.add("tau"); }

 protected:
  void evaluate(int, const double* offsets, std::size_t count, double* b) const override {
    for (std::size_t n = 0; n < count; ++n) {
      const double x = offsets[n] / tau_;
      b[n] = -simd::log1p_double(x * x) + 0.0;
    }
  }
  void derive(int, double offset, double db, Gradients& to) const override {
    const double x = offset / tau_;
    *to["tau"] += db * (2 / tau_) * (x * x / (1 + x * x));
  }

 private:
  int heads_ = 0;
  double tau_ = 32;
};

}  // namespace

constinit const Descriptor schemes::bias_distance = {
    .slot = Slot::kBias,
    .name = "distance",
    .title = "Inverse-square distance",
    .summary =
        "The unproven claim that attention fades as an inverse square of distance: a curve to compare, of no paper.",
    .formula = R"(b(i, j) = \log\frac{1}{1 + (\lvert i - j \rvert / \tau)^2})",
    .reference = "Often written, without a source",
    .params = kParams,
    .claims = kClaims,
    .make = Distance::make,
};

}  // namespace posenc
