// M-RoPE: one RoPE whose pairs are dealt to time, height and width.
//
//   pair i turns by t_a(i) base^(-2i/d),   a(i) the axis of the section that i falls into
//
// Wang et al. 2024, "Qwen2-VL", section 2.1.
// Conventions:
//   positions    a text token has the same position on every axis, and is then turned exactly as by rope;
//                multimodalPositions() makes the positions of text and images.
//   sections     pairs of each axis. interleaved false: in runs, time first (Qwen2-VL, Qwen2.5-VL: 16, 24, 24 of 64).
//                interleaved true: axis a > 0 has pairs a, a + 3, a + 6, ... as many as its section says, axis 0 all
//                others (Qwen3-VL: 24, 20, 20). By default sections in those proportions.
//   layout       half pairs (i, i + d/2), as every published model; interleaved pairs columns (2i, 2i + 1).
//   rotaryDim    as rope's; exponents and sections are of the columns that turn (Qwen3.5: 64 of 256).
//   scaling      the rules are rope's, over all pairs before they are dealt (Qwen2.5-VL with yarn).
// Good at: text, images and video in one sequence.
// Fails: in runs, time has the fast pairs only and width the slow ones; hence the interleaved kind.
// Example: mrope({ dim: 64 }) at multimodalPositions([{ text: 4 }, { image: [1, 3, 4] }]), 16 tokens
#include "schemes/params.h"
#include "schemes/registry.h"
#include "schemes/rotate/scaling.h"
#include "schemes/rotate/turned_pairs.h"

namespace posenc {

namespace {

constexpr Param kOwnParams[] = {
    {.name = "dim",
     .kind = Kind::kInteger,
     .sentence = "Width d of queries and keys, even.",
     .min = 6,
     .max = 65536,
     .required = true,
     .shown = 64,
     .shown_min = 8,
     .shown_max = 128,
     .shown_step = 2},
    described(kBase, "Base of the wavelengths, rope_theta in configs."),
    {.name = "layout",
     .kind = Kind::kChoice,
     .sentence = "Which columns make a pair: neighbours, or half the width apart (Qwen).",
     .fallback = 1,
     .choices = "interleaved|half"},
    kRotaryDim,
    {.name = "sections",
     .kind = Kind::kList,
     .sentence = "Pairs of each axis, rotaryDim / 2 in all: time, height, width.",
     .min = 0,
     .max = 32768,
     .shape = "[3]"},
    {.name = "interleaved",
     .kind = Kind::kFlag,
     .sentence = "Deals pairs to the axes in turn (Qwen3-VL), not in runs (Qwen2-VL).",
     .fallback = 0},
};
constexpr auto kParams = with_scaling(kOwnParams);

constexpr Claim kClaims[] = {
    {.law = Law::kShiftInvariant, .when = Scaling::kSameForAllLengths, .holds = Scaling::same_for_all_lengths},
    {.law = Law::kIsometry, .when = Scaling::kKeepsLengths, .holds = Scaling::keeps_lengths},
    {Law::kBounded},
    {.law = Law::kInjective, .length = 4096},
    {Law::kExtrapolates},
    {.law = Law::kIdentityAtZero, .when = Scaling::kKeepsLengths, .holds = Scaling::keeps_lengths},
};

class Mrope final : public TurnedPairs {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto made = std::make_unique<Mrope>();
    made->dim_ = spec.integer("dim");
    if (Status status = check_rotary_dim(spec); !status.ok()) return status;
    Unscaled unscaled;
    unscaled.dim = spec.integer("rotaryDim");
    unscaled.base = spec.number("base");
    const std::size_t pairs = made->pairs_ = unscaled.pairs();
    made->layout_ = spec.choice("layout") == 0 ? PairLayout::kInterleaved : PairLayout::kHalf;
    const bool interleaved = spec.flag("interleaved");
    const Table& list = spec.table("sections");
    std::vector<double> sections;
    if (list.given) {
      sections.assign(list.reals, list.reals + list.size());
    } else {
      const auto side = static_cast<double>(interleaved ? 5 * pairs / 16 : 3 * pairs / 8);
      sections = {static_cast<double>(pairs) - 2 * side, side, side};
    }
    made->axes_ = sections.size();
    double sum = 0;
    bool whole = made->axes_ > 0 && made->axes_ <= 8;
    for (const double section : sections) {
      whole = whole && static_cast<double>(static_cast<int>(section)) == section;
      sum += section;
    }
    if (!whole || sum != static_cast<double>(pairs)) {
      return spec.refuse(Code::kOutOfRange, "sections",
                         "1 to 8 whole numbers that sum to rotaryDim / 2, " + to_text(static_cast<double>(pairs)),
                         "a sum of " + to_text(sum));
    }
    // The axis of each pair.
    std::vector<std::size_t> axis_of(pairs, 0);
    std::size_t next = 0;
    for (std::size_t a = 0; a < made->axes_; ++a) {
      for (double n = 0; n < sections[a]; ++n) {
        const std::size_t pair = interleaved ? a + static_cast<std::size_t>(n) * made->axes_ : next++;
        if (interleaved && a == 0) break;  // what the others leave
        if (pair >= pairs) {
          return spec.refuse(Code::kOutOfRange, "sections", "short enough for pairs dealt in turn",
                             to_text(sections[a]));
        }
        axis_of[pair] = a;
      }
    }
    for (std::size_t a = 0; a < made->axes_; ++a) {
      AxisPairs part;
      part.axis = static_cast<int>(a);
      for (std::size_t i = 0; i < pairs; ++i) {
        if (axis_of[i] == a) part.pairs.push_back(i);
      }
      if (!part.pairs.empty()) made->parts_.push_back(std::move(part));
    }
    Status status = Scaling::make(spec, unscaled, made->scaling_);
    if (status.ok()) scheme = std::move(made);
    return status;
  }

  int axes() const override { return static_cast<int>(axes_); }
  Status frequencies(double length, FrequencyReport& report) const override {
    report = scaling_.at(length).report;
    return ok();
  }

 private:
  // Rules see all pairs at once; each axis then has its own.
  void at(double length, std::span<const AxisPairs>& parts, double& factor) const override {
    const Turning& turning = scaling_.at(length);
    if (turning.frequencies != dealt_) {
      dealt_ = turning.frequencies;
      for (AxisPairs& part : parts_) {
        std::vector<MultiFloat> own;
        for (const std::size_t pair : part.pairs) own.push_back(dealt_->angular(pair));
        part.frequencies = Frequencies::angular(own);
      }
    }
    parts = parts_;
    factor = turning.report.attention_factor;
  }

  std::size_t axes_ = 3;
  Scaling scaling_;
  mutable Frequencies::Pointer dealt_;  // what parts_ have, dealt to the axes
};

}  // namespace

constinit const Descriptor schemes::rotate_mrope = {
    .slot = Slot::kRotate,
    .name = "mrope",
    .title = "M-RoPE",
    .summary = "RoPE whose pairs are dealt to time, height and width: text, images and video in one sequence.",
    .formula = R"(R(t)_i = \mathrm{turn}(t_{a(i)}\,\mathrm{base}^{-2i/d}))",
    .reference = "Wang et al. 2024, Qwen2-VL, section 2.1",
    .params = kParams,
    .claims = kClaims,
    .make = Mrope::make,
};

}  // namespace posenc
