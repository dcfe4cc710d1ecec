// Fourier features: coordinates as sines and cosines of many frequencies.
//
//   levels    [ sin(2^k pi v_a), cos(2^k pi v_a) ],   k = 0 .. levels - 1, all levels of axis 0 first
//   gaussian  [ sin(2 pi B v), cos(2 pi B v) ],   B (features, axes) normal of deviation gaussian
//
// Mildenhall et al. 2020, "NeRF", equation 4; Tancik et al. 2020, "Fourier Features Let Networks Learn High Frequency
// Functions in Low Dimensional Domains", section 5.
// Conventions:
//   columns   the coordinates themselves are not among the columns (embed's mode "concat" adds them).
//   levels    sine beside cosine, as equation 4 is read; the NeRF code orders by level, then function, then axis.
//   gaussian  all sines, then all cosines, as the authors' code; the paper prints the cosines first.
// Good at: coordinates from -1 to 1.
// Fails: whole positions, where the sines of all levels are zero.
// Either: levels? | gaussian features seed?
// Example: fourier({ gaussian: 0.02, features: 16 })
// Picture: data
#include "kernels/normal.h"
#include "kernels/sincos.h"
#include "schemes/frequency_report.h"
#include "schemes/params.h"
#include "schemes/registry.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    {.name = "levels",
     .kind = Kind::kInteger,
     .sentence = "Octaves of each coordinate, 6 where absent; left out with gaussian.",
     .fallback = kNone,
     .min = 1,
     .max = 60,
     .shown = 6,
     .shown_min = 1,
     .shown_max = 12},
    {.name = "gaussian",
     .kind = Kind::kReal,
     .sentence = "Deviation of random frequencies, in place of octaves.",
     .fallback = kNone,
     .min = 1e-6,
     .max = 1e6},
    {.name = "features",
     .kind = Kind::kInteger,
     .sentence = "Random frequencies, each with a sine and a cosine.",
     .fallback = kNone,
     .min = 1,
     .max = 32768},
    seed_param("Seed of the random frequencies."),
    {.name = "axes",
     .kind = Kind::kInteger,
     .sentence = "Coordinates of a position.",
     .fallback = 1,
     .min = 1,
     .max = 8,
     .shown_min = 1,
     .shown_max = 3},
};

// A default here and not of the param: one that is filled in could not be told from one given beside gaussian.
constexpr std::size_t kLevels = 6;

bool is_gaussian(const Spec& spec) { return spec.has("gaussian"); }

constexpr Claim kClaims[] = {
    {Law::kShiftInvariant},
    {Law::kBounded},
    {.law = Law::kInjective, .when = "gaussian is given", .holds = is_gaussian, .length = 4096},
    {Law::kExtrapolates},
};

class Fourier final : public Embed {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto made = std::make_unique<Fourier>();
    made->gaussian_ = is_gaussian(spec);
    made->axes_ = spec.integer("axes");
    const auto axes = static_cast<std::size_t>(made->axes_);
    if (made->gaussian_ != spec.has("features")) {
      const char* name = made->gaussian_ ? "features" : "gaussian";
      return spec.refuse(Code::kMissingOption, name, made->gaussian_ ? "given with gaussian" : "given with features",
                         "");
    }
    if (made->gaussian_ && spec.has("levels")) {
      return spec.refuse(Code::kUnknownOption, "levels", "left out with gaussian", to_text(spec.number("levels")));
    }
    const double pairs = spec.number(made->gaussian_ ? "features" : "levels");
    made->pairs_ = pairs != pairs ? kLevels : static_cast<std::size_t>(pairs);
    std::vector<double> b(made->gaussian_ ? made->pairs_ * axes : 0);
    if (made->gaussian_) {
      fill_normal(std::span<double>(b), static_cast<std::uint64_t>(spec.number("seed")), 0, 0, spec.number("gaussian"));
    }
    for (std::size_t a = 0; a < (made->gaussian_ ? axes : 1); ++a) {
      std::vector<MultiFloat> omegas;
      for (std::size_t k = 0; k < made->pairs_; ++k) {
        omegas.push_back(made->gaussian_ ? MultiFloat(b[k * axes + a]) * MultiFloat::pi().scaled(1)
                                         : MultiFloat::pi().scaled(static_cast<int>(k)));
      }
      made->frequencies_.push_back(Frequencies::angular(omegas));
    }
    scheme = std::move(made);
    return ok();
  }

  int width() const override { return static_cast<int>(2 * pairs_) * (gaussian_ ? 1 : axes_); }
  int axes() const override { return axes_; }

  Status encode(const Positions& positions, double, float* out) const override { return fill(positions, out); }
  Status encode(const Positions& positions, double, double* out) const override { return fill(positions, out); }

  Status frequencies(double length, FrequencyReport& report) const override {
    if (gaussian_ && axes_ > 1) return Scheme::frequencies(length, report);
    report = FrequencyReport::of(*frequencies_[0]);
    return ok();
  }

 private:
  // out (T, columns)
  template <class Real>
  Status fill(const Positions& positions, Real* out) const {
    if (Status status = check_positions(positions, name()); !status.ok()) return status;
    const auto columns = static_cast<std::size_t>(width());
    const std::size_t tokens = positions.count, own = 2 * pairs_;
    if (!gaussian_ || axes_ == 1) {
      for (int a = 0; a < axes_; ++a) {
        Real* const to = out + static_cast<std::size_t>(a) * own;
        fill_sin_cos(*frequencies_[0], {positions.axis(a), tokens},
                     gaussian_ ? SinCosTable<Real>::half(to, columns, own, PairOrder::kSinCos)
                               : SinCosTable<Real>::interleaved(to, columns, own, PairOrder::kSinCos));
      }
      return ok();
    }
    // Angles of several axes are added as rotations in float64.
    std::vector<double> sum(tokens * own), next(tokens * own);
    for (int a = 0; a < axes_; ++a) {
      fill_sin_cos(*frequencies_[static_cast<std::size_t>(a)], {positions.axis(a), tokens},
                   SinCosTable<double>::half(a == 0 ? sum.data() : next.data(), own, own, PairOrder::kSinCos));
      for (std::size_t t = 0; a > 0 && t < tokens; ++t) {
        for (std::size_t k = 0; k < pairs_; ++k) {
          double& sin = sum[t * own + k];
          double& cos = sum[t * own + pairs_ + k];
          const double s = next[t * own + k], c = next[t * own + pairs_ + k], old = sin;
          sin = old * c + cos * s;
          cos = cos * c - old * s;
        }
      }
    }
    for (std::size_t n = 0; n < sum.size(); ++n) out[n] = static_cast<Real>(sum[n]);
    return ok();
  }

  std::vector<Frequencies::Pointer> frequencies_;  // levels: one for all axes
  std::size_t pairs_ = 0;
  int axes_ = 1;
  bool gaussian_ = false;
};

}  // namespace

constinit const Descriptor schemes::embed_fourier = {
    .slot = Slot::kEmbed,
    .name = "fourier",
    .title = "Fourier features",
    .summary = "Octaves or random frequencies of coordinates, so that a network sees fine detail; made for -1 to 1.",
    .formula = R"([\sin(2^k \pi v), \cos(2^k \pi v)]_{k<L} \;\text{or}\; [\sin(2\pi B v), \cos(2\pi B v)])",
    .reference = "Mildenhall et al. 2020, NeRF, equation 4; Tancik et al. 2020, Fourier Features, section 5",
    .params = kParams,
    .claims = kClaims,
    .make = Fourier::make,
};

}  // namespace posenc
