// ALiBi: attention with linear biases.
//
//   b_h(i, j) = -m_h |i - j|,   m_h = 2^(-8 (h + 1) / n) for n heads
//
// Press, Smith, Lewis 2022, "Train Short, Test Long", section 3.
// Conventions:
//   slopes     fixed, one a head, and not learned; the first of eight heads has 1/2 (some texts print 1), and the bias
//              is a penalty: -m times the distance, never plus.
//   rule       where n is no power of two: "press" is what the authors' code does, the slopes of the nearest lower
//              power, then every other slope of the next power; checkpoints (BLOOM, MPT, Baichuan) follow it.
//              "geometric" is the paper's formula for any n. They agree where n is a power of two.
//   symmetric  false penalises the past only (keys ahead get 0): causal attention never sees the difference. Codes for
//              decoders add m j alone, which the softmax cannot tell from -m (i - j); in an encoder it is wrong.
// Good at: texts longer than those of training, with no parameter.
// Fails: far content is out of reach of steep heads, and order is seen through distance only: in an encoder the bias
// cannot tell before from after.
// Picture: view=profiles
#include "kernels/frequencies.h"
#include "schemes/bias/offset.h"
#include "schemes/params.h"
#include "schemes/registry.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    kHeads,
    {.name = "slopes", .kind = Kind::kList, .sentence = "Slope of each head, in place of the rule's.", .min = 0,
     .max = 1048576, .shape = "[heads]", .differentiable = true},
    {.name = "rule", .kind = Kind::kChoice,
     .sentence = "Slopes where heads is no power of two: as the authors' code has them, or 2^(-8 (h + 1) / heads).",
     .fallback = 0, .choices = "press|geometric"},
    {.name = "symmetric", .kind = Kind::kFlag, .sentence = "Penalise both sides; false: the past only.", .fallback = 1},
};

constexpr Claim kClaims[] = {
    {Law::kShiftInvariant},
    {Law::kNonPositive},
    {.law = Law::kMonotoneInDistance, .param = "symmetric", .value = 1},
    {.law = Law::kSymmetric, .param = "symmetric", .value = 1},
    {Law::kExtrapolates},
    {Law::kIdentityAtZero},
};

class Alibi final : public OffsetBias {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    const int heads = spec.integer("heads");
    auto alibi = std::make_unique<Alibi>();
    alibi->symmetric_ = spec.flag("symmetric");
    const Table& slopes = spec.table("slopes");
    if (slopes.given) {
      if (slopes.size() != static_cast<std::size_t>(heads)) {
        return spec.refuse(Code::kShapeMismatch, "slopes", "a list of as many numbers as heads, " + to_text(heads),
                           to_text(static_cast<double>(slopes.size())));
      }
      alibi->slopes_.assign(slopes.reals, slopes.reals + heads);
    } else {
      int power = 1;  // the largest power of two in heads
      while (2 * power <= heads) power *= 2;
      const int first = spec.choice("rule") == 0 ? power : heads;
      append_slopes(first, 1, first, alibi->slopes_);
      append_slopes(2 * power, 2, heads - first, alibi->slopes_);
    }
    scheme = std::move(alibi);
    return ok();
  }

  int heads() const override { return static_cast<int>(slopes_.size()); }
  void declare(Gradients& to) const override {
    const std::size_t size = slopes_.size();
    to.add("slopes", 1, &size);
  }

 protected:
  void evaluate(int head, const double* offsets, std::size_t count, double* b) const override {
    const double m = slopes_[static_cast<std::size_t>(head)];
    if (symmetric_) {
      for (std::size_t n = 0; n < count; ++n) b[n] = penalty(m, offsets[n] < 0 ? -offsets[n] : offsets[n]);
    } else {
      for (std::size_t n = 0; n < count; ++n) b[n] = penalty(m, offsets[n] < 0 ? -offsets[n] : 0.0);
    }
  }
  void derive(int head, double offset, double db, Gradients& to) const override {
    if (symmetric_ || offset < 0) to["slopes"][head] -= db * (offset < 0 ? -offset : offset);
  }

 private:
  // +0 at distance 0: written as a sum, because g++ 12 takes 0.0 - |x| for -|x|.
  static double penalty(double m, double distance) { return -(m * distance) + 0.0; }

  // Of 2^(-8 (h + 1) / n) for h = 0, step, 2 step, ..., `count` of them, each rounded once from 256 bits: powers of two
  // come out exact.
  static void append_slopes(int n, int step, int count, std::vector<double>& slopes) {
    const MultiFloat ratio = power(root(MultiFloat(2.0), n), -8);
    for (const MultiFloat& slope : geometric(ratio, power(ratio, step), static_cast<std::size_t>(count))) {
      slopes.push_back(slope.to_double());
    }
  }

  std::vector<double> slopes_;
  bool symmetric_ = true;
};

}  // namespace

constinit const Descriptor schemes::bias_alibi = {
    .slot = Slot::kBias,
    .name = "alibi",
    .title = "ALiBi",
    .summary = "A penalty that grows with distance, steeper for some heads: goes on beyond the trained length.",
    .formula = R"(b_h(i, j) = -m_h \lvert i - j \rvert,\quad m_h = 2^{-8(h+1)/n})",
    .reference = "Press, Smith, Lewis 2022, Train Short, Test Long: Attention with Linear Biases, section 3",
    .params = kParams,
    .claims = kClaims,
    .make = Alibi::make,
};

}  // namespace posenc
