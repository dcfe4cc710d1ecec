// xPos: RoPE with a decay, so that the score falls with the distance.
//
//   q_i: turned by t omega_i and times zeta_i^(t/s),   k_i: turned and times zeta_i^(-t/s),   s = scaleBase,
//   zeta_i = (2i + 0.4 d) / (1.4 d),   so that pair i of a score has zeta_i^((m - n)/s)
//
// Sun et al. 2022, "A Length-Extrapolatable Transformer", section 2.2 and torchscale.
// Conventions:
//   origin  positions from any origin give the same scores (torchscale and lucidrains count from the middle); alone
//           they are about 0 here, and in attention about the middle of each block of keys, where nothing leaves
//           float32.
//   layout  interleaved is torchscale's.
// Good at: causal attention beyond the trained length.
// Fails: without a causal mask, since ahead the same factor grows; rotate() alone far from 0; keys far apart among
// 128 neighbours.
// Picture: scale-base=16
#include "kernels/pair_rotation.h"
#include "kernels/sincos.h"
#include "schemes/frequency_report.h"
#include "schemes/params.h"
#include "schemes/registry.h"
#include "simd/math.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    kTurnedWidth,
    kBase,
    {.name = "scaleBase",
     .kind = Kind::kReal,
     .sentence = "Distance s over which pair i decays by zeta_i.",
     .fallback = 512,
     .min = 1,
     .max = 1e13,
     .shown_min = 128,
     .shown_max = 4096,
     .shown_log = true},
    kPairLayout,
};

constexpr Claim kClaims[] = {
    {Law::kShiftInvariant}, {.law = Law::kInjective, .length = 4096}, {Law::kExtrapolates}, {Law::kIdentityAtZero}};

class Xpos final : public Rotate {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto made = std::make_unique<Xpos>();
    const int dim = made->dim_ = spec.integer("dim");
    if (dim % 2 != 0) return spec.refuse(Code::kOutOfRange, "dim", "even", to_text(dim));
    made->base_ = spec.number("base");
    made->layout_ = spec.choice("layout") == 0 ? PairLayout::kInterleaved : PairLayout::kHalf;
    const auto pairs = static_cast<std::size_t>(dim) / 2;
    made->frequencies_ = Frequencies::power_law(made->base_, dim, pairs);
    const MultiFloat scale(spec.number("scaleBase"));
    for (std::size_t i = 0; i < pairs; ++i) {  // (10 i + 2 d) / (7 d)
      const MultiFloat zeta = MultiFloat(static_cast<double>(10 * i) + 2.0 * dim) / MultiFloat(7.0 * dim);
      made->rates_.push_back((log(zeta) / scale).to_double());
    }
    if (pairs % 2 != 0) made->rates_.push_back(0);  // they are read two at a time
    scheme = std::move(made);
    return ok();
  }

  int width() const override { return dim_; }
  bool local() const override { return true; }

  Status apply(const RotateCall& call, const Positions& positions, const float* x, std::size_t x_stride, float* y,
               std::size_t y_stride) const override {
    return turn(call, positions, x, x_stride, y, y_stride);
  }
  Status apply(const RotateCall& call, const Positions& positions, const double* x, std::size_t x_stride, double* y,
               std::size_t y_stride) const override {
    return turn(call, positions, x, x_stride, y, y_stride);
  }

  Status frequencies(double, FrequencyReport& report) const override {
    report = FrequencyReport::of(*frequencies_);
    report.base = base_;
    return ok();
  }

  bool powers_are_apart() const override { return true; }

  Status apply_powers(const RotateCall& call, const double* positions, const float* turned, float* q) const override {
    using namespace simd;
    for (int l = 0; l < kLanes; ++l) {
      if (fits(call, positions[l])) continue;
      if (Status status = check_power(call, positions[l]); !status.ok()) return status;
    }
    F64x2 distances[kLanes / 2];
    for (int l = 0; l < kLanes; l += 2) {
      distances[l / 2] = simd::make(distance(call, positions[l]), distance(call, positions[l + 1]));
    }
    const std::size_t pairs = static_cast<std::size_t>(dim_) / 2;
    const bool half = layout_ == PairLayout::kHalf;
    const std::size_t step = half ? kLanes : 2 * kLanes, partner = half ? pairs * kLanes : kLanes;
    for (std::size_t i = 0; i < pairs; ++i, turned += step, q += step) {
      const F64x2 rate = splat(rates_[i]);
      for (std::size_t l = 0; l < kLanes; l += 4) {
        const F32x4 factor = demote(power(rate * distances[l / 2]), power(rate * distances[l / 2 + 1]));
        store(q + l, load(turned + l) * factor);
        store(q + partner + l, load(turned + partner + l) * factor);
      }
    }
    return ok();
  }

 private:
  static constexpr std::size_t kRows = 128;
  static constexpr double kMostLog = 87;  // e^87 and e^-87 are float32 numbers with all their bits

  static double distance(const RotateCall& call, double position) {
    const double sign = (call.side == Side::kQuery) == call.inverse ? -1 : 1;
    return sign * (position - (call.origin != call.origin ? 0 : call.origin));
  }

  // Certain of check_power(), without a Status.
  bool fits(const RotateCall& call, double position) const {
    const double exponent = rates_[0] * distance(call, position);
    return exponent <= kMostLog && exponent >= -kMostLog;
  }

  // What vanishes beside a far block of keys is no loss; alone it would be. The first pair decays fastest.
  Status check_power(const RotateCall& call, double position) const {
    const bool alone = call.origin != call.origin;
    const double exponent = rates_[0] * distance(call, position);
    if (!(exponent > kMostLog || (alone && exponent < -kMostLog))) return ok();
    return refuse(Code::kOutOfRange, name(), "positions",
                  "within " + to_text(static_cast<double>(static_cast<int>(kMostLog / -rates_[0]))) + " of " +
                      (alone ? "0, where its powers fit float32 (attention keeps them near its keys)"
                             : "the middle of each 128 keys, where its powers fit float32"),
                  to_text(position));
  }

  static simd::F64x2 power(simd::F64x2 exponent) {
    using namespace simd;
    const F64x2 least = splat(-kMostLog);
    return select(exponent < least, splat(0.0), exp_bounded(max(exponent, least)));
  }

  template <class Real>
  Status turn(const RotateCall& call, const Positions& positions, const Real* x, std::size_t x_stride, Real* y,
              std::size_t y_stride) const {
    if (Status status = check_positions(positions, name()); !status.ok()) return status;
    const std::size_t pairs = static_cast<std::size_t>(dim_) / 2;
    // About the middle of a block, where attention asks, powers are near 1 and rounding twice costs next to nothing:
    // there the tables are float32's, which are made many times faster. Alone, a product is rounded once.
    const bool narrow = sizeof(Real) == sizeof(float) && call.origin == call.origin;
    const std::size_t exact = narrow ? 0 : kRows * pairs;
    std::vector<double> cos(exact), sin(exact);
    std::vector<Real> cos_table(kRows * pairs), sin_table(kRows * pairs);
    PairRotation<Real> rotation;
    rotation.layout = layout_;
    rotation.width = static_cast<std::size_t>(dim_);
    rotation.pairs = rotation.table_stride = pairs;
    rotation.inverse = call.inverse || call.transposed;
    rotation.cos = cos_table.data();
    rotation.sin = sin_table.data();
    for (std::size_t t = 0; t < positions.count; t += kRows) {
      const std::size_t rows = rotation.tokens = positions.count - t < kRows ? positions.count - t : kRows;
      const std::span<const double> block{positions.data + t, rows};
      if (narrow || call.powers_apart) {
        fill_sin_cos(*frequencies_, block,
                     SinCosTable<Real>::separate(cos_table.data(), sin_table.data(), pairs, pairs));
      } else {
        fill_sin_cos(*frequencies_, block, SinCosTable<double>::separate(cos.data(), sin.data(), pairs, pairs));
      }
      for (std::size_t row = 0; row < rows && !call.powers_apart; ++row) {
        const double at = block[row];
        if (!fits(call, at)) {
          if (Status status = check_power(call, at); !status.ok()) return status;
        }
        const simd::F64x2 span = simd::splat(distance(call, at));
        for (std::size_t i = 0; i < pairs; i += 2) {
          double powers[2];
          simd::store(powers, power(simd::load(rates_.data() + i) * span));
          for (std::size_t n = 0; n < 2 && i + n < pairs; ++n) {
            const std::size_t cell = row * pairs + i + n;
            if (narrow) {
              cos_table[cell] *= static_cast<Real>(powers[n]);
              sin_table[cell] *= static_cast<Real>(powers[n]);
            } else {
              cos_table[cell] = static_cast<Real>(cos[cell] * powers[n]);
              sin_table[cell] = static_cast<Real>(sin[cell] * powers[n]);
            }
          }
        }
      }
      for (std::size_t row = t; row < call.batch * positions.count; row += positions.count) {
        rotate_pairs(rotation, x + row * x_stride, x_stride, y + row * y_stride, y_stride);
      }
    }
    return ok();
  }

  int dim_ = 0;
  double base_ = 0;
  PairLayout layout_ = PairLayout::kInterleaved;
  Frequencies::Pointer frequencies_;
  std::vector<double> rates_;  // log zeta_i / s, below 0 and rising
};

}  // namespace

constinit const Descriptor schemes::rotate_xpos = {
    .slot = Slot::kRotate,
    .name = "xpos",
    .title = "xPos",
    .summary =
        "RoPE with a decay: scores of a causal model fall with the distance and reach beyond the trained length.",
    .formula = R"(\langle R(m)\,q,\; R(n)\,k \rangle_i\,\zeta_i^{(m-n)/s},\quad \zeta_i = \frac{2i + 0.4\,d}{1.4\,d})",
    .reference = "Sun et al. 2022, A Length-Extrapolatable Transformer, section 2.2",
    .params = kParams,
    .claims = kClaims,
    .make = Xpos::make,
};

}  // namespace posenc
