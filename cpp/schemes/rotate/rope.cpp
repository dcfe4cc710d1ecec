// RoPE: rotary position embedding.
//
//   R(t): (a, b) -> (a cos t omega_i - b sin t omega_i,  a sin t omega_i + b cos t omega_i),   omega_i = base^(-2i/d)
//
// Su et al. 2021, "RoFormer", section 3.2.2, equation 15, pair by pair, so that <R(m) q, R(n) k> depends on n - m only.
// Conventions:
//   sides      queries and keys are turned, never values.
//   layout     interleaved pairs columns (2i, 2i + 1): RoFormer, GPT-J, Meta's Llama. half pairs (i, i + d/2):
//              GPT-NeoX, Hugging Face. Weights trained with one give wrong scores with the other; layoutCheck() tells.
//   rotaryDim  only the first rotaryDim columns turn; exponents and pairing then use rotaryDim in place of d (GPT-J,
//              GPT-NeoX, GLM, Phi); the rest pass unchanged.
//   base       rope_theta in configs. Published sums of a rotated tensor hold for the base they were made with:
//              torchtune's for Llama 3.1 is that of 10000, not of the model's 500000.
//   gradient   by `frequencies`, before scaling, given or not; at the ends of llama3's ramp that of the side beyond.
//   radix      pair i as a digit: its wavelength is base^(2/d) times that of the pair before.
// Also: scaling.cpp
// Good at: relative position inside the content score, with no parameter, in any attention kernel.
// Fails: beyond the trained length slow pairs meet angles never seen; hence the scaling rules.
#include "schemes/params.h"
#include "schemes/registry.h"
#include "schemes/rotate/scaling.h"
#include "schemes/rotate/turned_pairs.h"

namespace posenc {

namespace {

constexpr Param kOwnParams[] = {
    described(kTurnedWidth, "Width d of queries and keys."),
    described(kBase, "Base of the wavelengths, rope_theta in configs."),
    described(kPairLayout,
              "Which columns make a pair: neighbours (GPT-J, Meta), or half the width apart (NeoX, Hugging Face)."),
    kRotaryDim,
    {.name = "frequencies",
     .kind = Kind::kList,
     .sentence = "Angular frequency of each pair, radians a position, in place of base.",
     .min = -1e12,
     .max = 1e12,
     .shape = "[rotaryDim / 2]",
     .differentiable = true,
     .shown_min = 0,
     .shown_max = 1},
};
constexpr auto kParams = with_scaling(kOwnParams);

bool own_frequencies(const Spec& spec) { return !spec.has("frequencies"); }

constexpr Claim kClaims[] = {
    {.law = Law::kShiftInvariant, .when = Scaling::kSameForAllLengths, .holds = Scaling::same_for_all_lengths},
    {.law = Law::kIsometry, .when = Scaling::kKeepsLengths, .holds = Scaling::keeps_lengths},
    {Law::kBounded},
    {.law = Law::kInjective, .when = "no list of frequencies is given", .holds = own_frequencies, .length = 4096},
    {Law::kExtrapolates},
    {.law = Law::kIdentityAtZero, .when = Scaling::kKeepsLengths, .holds = Scaling::keeps_lengths},
};

class Rope final : public TurnedPairs {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto rope = std::make_unique<Rope>();
    rope->dim_ = spec.integer("dim");
    const int rotary = spec.integer("rotaryDim");
    if (Status status = check_rotary_dim(spec); !status.ok()) return status;
    rope->layout_ = spec.choice("layout") == 0 ? PairLayout::kInterleaved : PairLayout::kHalf;
    Unscaled unscaled;
    unscaled.dim = rotary;
    rope->pairs_ = unscaled.pairs();
    const Table& list = spec.table("frequencies");
    if (!list.given) {
      unscaled.base = spec.number("base");
    } else if (list.size() == unscaled.pairs()) {
      unscaled.list.assign(list.reals, list.reals + list.size());
    } else {
      return spec.refuse(Code::kShapeMismatch, "frequencies",
                         "a list of " + to_text(rotary / 2) + " numbers, one a pair",
                         to_text(static_cast<double>(list.size())));
    }
    if (Status status = Scaling::make(spec, unscaled, rope->scaling_); !status.ok()) return status;
    rope->parts_.resize(1);
    scheme = std::move(rope);
    return ok();
  }

  Status frequencies(double length, FrequencyReport& report) const override {
    report = scaling_.at(length).report;
    return ok();
  }

  // Where a rule of scaling works on the base there is no list that could learn.
  void declare(Gradients& to) const override {
    if (!scaling_.by_base()) to.add("frequencies", 1, &pairs_);
  }
  void differentiate(const RotateCall& call, const Positions& positions, std::size_t d, const double* y,
                     const double* dy, Gradients& to) const override {
    const Turning& turning = scaling_.at(call.length);
    const bool half = layout_ == PairLayout::kHalf;
    for (std::size_t i = 0; i < turning.rates.size(); ++i) {
      const std::size_t a = half ? i : 2 * i, b = half ? i + pairs_ : a + 1;
      double sum = 0;
      for (std::size_t t = 0; t < positions.count; ++t) {
        const double da = dy[t * d + a], db = dy[t * d + b];
        if (da == 0 && db == 0) continue;  // what nobody sees may be NaN
        sum += positions.data[t] * (y[t * d + a] * db - y[t * d + b] * da);
      }
      to["frequencies"][i] += turning.rates[i] * sum;
    }
  }

 private:
  void at(double length, std::span<const AxisPairs>& parts, double& factor) const override {
    const Turning& turning = scaling_.at(length);
    parts_[0].frequencies = turning.frequencies;
    parts = parts_;
    factor = turning.report.attention_factor;
  }

  Scaling scaling_;
};

}  // namespace

constinit const Descriptor schemes::rotate_rope = {
    .slot = Slot::kRotate,
    .name = "rope",
    .title = "RoPE",
    .summary = "Turns pairs of queries and keys by their position: the score sees the offset only, with no parameter.",
    .formula = R"(\langle R(m)\,q,\; R(n)\,k \rangle,\quad )"
               R"(R(t)_i = \begin{pmatrix} \cos t\omega_i & -\sin t\omega_i \\ )"
               R"(\sin t\omega_i & \cos t\omega_i \end{pmatrix},\quad \omega_i = \mathrm{base}^{-2i/d})",
    .reference = "Su et al. 2021, RoFormer: Enhanced Transformer with Rotary Position Embedding, section 3.2.2",
    .params = kParams,
    .claims = kClaims,
    .make = Rope::make,
};

}  // namespace posenc
