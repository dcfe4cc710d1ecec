// Query scale: queries grow with their position, so that attention stays sharp over many keys. Keys pass unchanged.
//
//   llama4   q_t times 1 + attnScale ln(floor((t + 1) / floorScale) + 1)    Llama 4, on its layers without rotation
//   logn     q_t times max(1, ln(t + 1) / ln(trainLength))                  Su 2021, Qwen 1
//
// Conventions:
//   positions  count from 0, hence t + 1. Below position 0 nothing is scaled.
//   logn       Qwen takes the position of each query, as here; Su's text takes the length of the sequence, the same for
//              all queries, which is a scale of attention.
//   llama4     scales only where a layer has no rotation (every fourth).
// Good at: lengths beyond training, with rope or with no position at all.
// Fails: alone it tells no order.
// Example: queryScale({ law: "logn", trainLength: 4 })
// Picture: attention law=logn train-length=2 compare=none
#include <cmath>

#include "schemes/registry.h"
#include "simd/math.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    {.name = "law",
     .kind = Kind::kChoice,
     .sentence = "Llama 4's temperature, or the logarithm of the position.",
     .fallback = 0,
     .choices = "llama4|logn"},
    {.name = "floorScale",
     .kind = Kind::kInteger,
     .sentence = "Positions of a step.",
     .fallback = 8192,
     .min = 1,
     .max = 1e9,
     .where = "law",
     .taken_by = "llama4",
     .shown_min = 16,
     .shown_max = 16384,
     .shown_log = true},
    {.name = "attnScale",
     .kind = Kind::kReal,
     .sentence = "How much the logarithm counts.",
     .fallback = 0.1,
     .min = 0,
     .max = 100,
     .where = "law",
     .taken_by = "llama4",
     .shown_min = 0.05,
     .shown_max = 1},
    {.name = "trainLength",
     .kind = Kind::kInteger,
     .sentence = "Trained length; queries within it stay.",
     .fallback = kNone,
     .min = 2,
     .max = 1e9,
     .where = "law",
     .needed_by = "logn",
     .shown = 2048,
     .shown_min = 16,
     .shown_max = 8192,
     .shown_log = true},
};

bool zero_is_within(const Spec& spec) { return spec.choice("law") != 0 || spec.number("floorScale") > 1; }

constexpr Claim kClaims[] = {
    {Law::kExtrapolates},
    {.law = Law::kIdentityAtZero, .when = "floorScale is not 1", .holds = zero_is_within},
};

class QueryScale final : public Rotate {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto made = std::make_unique<QueryScale>();
    made->logn_ = spec.choice("law") == 1;
    made->step_ = spec.number(made->logn_ ? "trainLength" : "floorScale");
    made->scale_ = made->logn_ ? simd::log_double(made->step_) : spec.number("attnScale");
    scheme = std::move(made);
    return ok();
  }

  Status apply(const RotateCall& call, const Positions& positions, const float* x, std::size_t x_stride, float* y,
               std::size_t y_stride) const override {
    return scale(call, positions, x, x_stride, y, y_stride);
  }
  Status apply(const RotateCall& call, const Positions& positions, const double* x, std::size_t x_stride, double* y,
               std::size_t y_stride) const override {
    return scale(call, positions, x, x_stride, y, y_stride);
  }

 private:
  double factor(double position) const {
    const double count = position + 1;
    if (count <= step_ && (logn_ || count < step_)) return 1;
    return logn_ ? simd::log_double(count) / scale_ : 1 + scale_ * simd::log_double(std::floor(count / step_) + 1);
  }

  template <class Real>
  Status scale(const RotateCall& call, const Positions& positions, const Real* x, std::size_t x_stride, Real* y,
               std::size_t y_stride) const {
    if (Status status = check_positions(positions, name()); !status.ok()) return status;
    const std::size_t width = x_stride < y_stride ? x_stride : y_stride;  // it has no width of its own
    for (std::size_t t = 0; t < positions.count; ++t) {
      const double own = call.side == Side::kQuery ? factor(positions.data[t]) : 1;
      for (std::size_t row = t; row < call.batch * positions.count; row += positions.count) {
        for (std::size_t c = 0; c < width; ++c) {
          const double value = static_cast<double>(x[row * x_stride + c]);
          y[row * y_stride + c] = static_cast<Real>(call.inverse ? value / own : value * own);
        }
      }
    }
    return ok();
  }

  bool logn_ = false;
  double step_ = 1, scale_ = 0;
};

}  // namespace

constinit const Descriptor schemes::rotate_queryScale = {
    .slot = Slot::kRotate,
    .name = "queryScale",
    .title = "Query scale",
    .summary = "Queries grow slowly with their position, so attention stays sharp over many keys; it tells no order.",
    .formula = R"(q_t \left(1 + \alpha \ln\!\left(\lfloor \tfrac{t+1}{F} \rfloor + 1\right)\right) \;\text{or}\; )"
               R"(q_t \max\!\left(1, \tfrac{\ln(t+1)}{\ln N}\right))",
    .reference = "Llama 4 (Meta 2025), inference-time temperature; Su 2021, log n scaling; Qwen (2023), section 2.3",
    .params = kParams,
    .claims = kClaims,
    .make = QueryScale::make,
};

}  // namespace posenc
