// Axial RoPE: a rotation for grids, each axis of positions turning its own share of the pairs.
//
//   pair i of axis a turns by t_a base^(-2i/d_a),   d_a columns for axis a,   sum of d_a = d
//
// EVA-02 (Fang et al. 2023), Heo et al. 2024, "Rotary Position Embedding for Vision Transformer", torchtune's vision
// encoder. The score depends on the offset along each axis.
// Conventions:
//   shares     d_a = 2 floor(d / 2 axes); the first axis in axisOrder takes what is left over (as Wan and Hunyuan do
//              for time: 64 columns and 3 axes give 24, 20, 20; other codes of the same models round differently).
//   axisOrder  which axis takes the first pairs: by default axis 0 (the row of a grid). torchtune gives them to the
//              column, [1, 0], and counts both from 1; the row of its class token is all zeros.
//   layout     interleaved pairs columns (2i, 2i + 1); half pairs (i, i + d/2) over the whole width (DINOv3, Qwen2-VL's
//              vision encoder).
// Good at: images and video at sizes never seen.
// Fails: diagonals, since no pair sees two axes at once.
// Example: axialRope({ dim: 64 }) at grid(4, 4), 16 tokens
#include "schemes/frequency_report.h"
#include "schemes/params.h"
#include "schemes/registry.h"
#include "schemes/rotate/turned_pairs.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    shown(kTurnedWidth, 64, 4, 128),
    {.name = "axes",
     .kind = Kind::kInteger,
     .sentence = "Axes of positions.",
     .fallback = 2,
     .min = 1,
     .max = 8,
     .shown_min = 1,
     .shown_max = 3},
    kBase,
    kPairLayout,
    {.name = "axisOrder",
     .kind = Kind::kList,
     .sentence = "Axes in the order in which they take the pairs.",
     .min = 0,
     .max = 7,
     .shape = "[axes]"},
};

constexpr Claim kClaims[] = {{Law::kShiftInvariant}, {Law::kIsometry},
                             {Law::kBounded},        {.law = Law::kInjective, .length = 4096},
                             {Law::kExtrapolates},   {Law::kIdentityAtZero}};

class AxialRope final : public TurnedPairs {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto made = std::make_unique<AxialRope>();
    const int dim = made->dim_ = spec.integer("dim"), axes = made->axes_ = spec.integer("axes");
    if (dim % 2 != 0 || dim < 2 * axes) {
      return spec.refuse(Code::kOutOfRange, "dim", "even, with a pair for each of " + to_text(axes) + " axes",
                         to_text(dim));
    }
    made->layout_ = spec.choice("layout") == 0 ? PairLayout::kInterleaved : PairLayout::kHalf;
    made->pairs_ = static_cast<std::size_t>(dim) / 2;
    made->base_ = spec.number("base");
    const Table& order = spec.table("axisOrder");
    const int share = dim / (2 * axes), first = dim / 2 - share * (axes - 1);
    unsigned seen = 0;
    std::size_t pair = 0;
    for (int n = 0; n < axes; ++n) {
      const double axis = order.given ? (static_cast<int>(order.size()) == axes ? order.reals[n] : -1) : n;
      const int whole = static_cast<int>(axis);
      if (whole != axis || whole < 0 || whole >= axes || (seen >> whole & 1) != 0) {
        return spec.refuse(
            Code::kOutOfRange, "axisOrder", "each axis from 0 to " + to_text(axes - 1) + " once",
            order.size() == 0 ? "none" : to_text(order.reals[n < static_cast<int>(order.size()) ? n : 0]));
      }
      seen |= 1u << whole;
      const auto own = static_cast<std::size_t>(n == 0 ? first : share);
      AxisPairs& part = made->parts_.emplace_back();
      part.axis = whole;
      part.frequencies = Frequencies::power_law(made->base_, static_cast<std::int64_t>(2 * own), own);
      for (std::size_t i = 0; i < own; ++i) part.pairs.push_back(pair++);
    }
    scheme = std::move(made);
    return ok();
  }

  int axes() const override { return axes_; }

 private:
  int axes_ = 2;
};

}  // namespace

constinit const Descriptor schemes::rotate_axialRope = {
    .slot = Slot::kRotate,
    .name = "axialRope",
    .title = "Axial RoPE",
    .summary = "RoPE on grids: each axis turns its own pairs, so the score sees the offset along each axis.",
    .formula = R"(R(t)_{a,i} = \mathrm{turn}(t_a\,\mathrm{base}^{-2i/d_a}),\quad \textstyle\sum_a d_a = d)",
    .reference = "Heo et al. 2024, Rotary Position Embedding for Vision Transformer, section 3.2",
    .params = kParams,
    .claims = kClaims,
    .make = AxialRope::make,
};

}  // namespace posenc
