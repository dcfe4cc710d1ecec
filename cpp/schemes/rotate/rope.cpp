// RoPE: rotary position embedding.
//
//   R(t): (a, b) -> (a cos t omega_i - b sin t omega_i,  a sin t omega_i + b cos t omega_i),   omega_i = base^(-2i/d)
//
// Su et al. 2021, "RoFormer", section 3.2.2, equation 15: on queries and keys (never values), pair by pair, so that
// <R(m) q, R(n) k> depends on n - m only.
// Conventions:
//   layout     interleaved pairs columns (2i, 2i + 1): RoFormer, GPT-J, Meta's Llama. half pairs (i, i + d/2):
//              GPT-NeoX, Hugging Face. Weights trained with one give wrong scores with the other.
//   rotaryDim  only the first rotaryDim columns turn; exponents and pairing then use rotaryDim in place of d (GPT-J,
//              GPT-NeoX, GLM, Phi); the rest pass unchanged.
//   scaling    see scaling.h.
// Good at: relative position inside the content score, with no parameter, in any attention kernel. Fails: beyond the
// trained length slow pairs meet angles never seen; hence the scaling rules.
#include <cstring>

#include "kernels/pair_rotation.h"
#include "kernels/sincos.h"
#include "schemes/registry.h"
#include "schemes/rotate/scaling.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    {.name = "dim", .kind = Kind::kInteger, .sentence = "Width d of queries and keys.", .min = 2, .max = 65536,
     .required = true, .shown = 64, .shown_min = 2, .shown_max = 128, .shown_step = 2},
    {.name = "base", .kind = Kind::kReal, .sentence = "Base of the wavelengths, rope_theta in configs.",
     .fallback = 10000, .min = 1e-12, .max = 1e12, .shown_min = 2, .shown_max = 1000000, .shown_log = true},
    {.name = "layout", .kind = Kind::kChoice,
     .sentence = "Which columns make a pair: neighbours (GPT-J, Meta), or half the width apart (NeoX, Hugging Face).",
     .fallback = 0, .choices = "interleaved|half"},
    {.name = "rotaryDim", .kind = Kind::kInteger, .sentence = "Columns that turn, the first ones; an even number.",
     .fallback_param = "dim", .min = 2, .max = 65536},
    {.name = "frequencies", .kind = Kind::kList,
     .sentence = "Angular frequency of each pair, radians a position, in place of base.", .min = -1e12, .max = 1e12,
     .shape = "[rotaryDim / 2]", .shown_min = 0, .shown_max = 1},
    kScalingType,
    kScalingFactor,
};

bool own_frequencies(const Spec& spec) { return !spec.has("frequencies"); }

constexpr Claim kClaims[] = {
    {Law::kShiftInvariant},
    {Law::kIsometry},
    {Law::kBounded},
    {.law = Law::kInjective, .when = "no list of frequencies is given", .holds = own_frequencies, .length = 4096},
    {Law::kExtrapolates},
    {Law::kIdentityAtZero},
};

// Tables of cosines and sines of blocks of positions. Heads share positions, so the next head wants the same blocks.
template <class Real>
class Tables {
 public:
  struct Block {
    std::vector<double> positions;
    std::vector<Real> cos, sin;  // (T, pairs)
  };

  const Block& of(const Frequencies& frequencies, std::span<const double> positions) {
    for (std::size_t n = 0; n < blocks_.size(); ++n) {  // blocks come in the same order every time
      const Block& block = blocks_[(next_ + n) % blocks_.size()];
      if (block.positions.size() != positions.size() ||
          std::memcmp(block.positions.data(), positions.data(), positions.size_bytes()) != 0) {
        continue;
      }
      next_ = (next_ + n + 1) % blocks_.size();
      return block;
    }
    const std::size_t pairs = frequencies.pairs(), size = positions.size() * pairs;
    if (kept_ + size > kMostKept) {
      blocks_.clear();
      kept_ = next_ = 0;
    }
    kept_ += size;
    Block& block = blocks_.emplace_back();
    block.positions.assign(positions.begin(), positions.end());
    block.cos.resize(size);
    block.sin.resize(size);
    fill_sin_cos(frequencies, positions,
                 SinCosTable<Real>::separate(block.cos.data(), block.sin.data(), pairs, pairs));
    return block;
  }

 private:
  static constexpr std::size_t kMostKept = std::size_t{1} << 21;  // cells, 16 MB of float32

  std::vector<Block> blocks_;
  std::size_t kept_ = 0, next_ = 0;
};

class Rope final : public Rotate {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto rope = std::make_unique<Rope>();
    rope->dim_ = spec.integer("dim");
    const int rotary = spec.integer("rotaryDim");
    if (rotary % 2 != 0 || rotary > rope->dim_) {
      if (!spec.has("rotaryDim")) {
        return spec.refuse(Code::kOutOfRange, "dim", "even where rotaryDim is not given", to_text(rotary));
      }
      return spec.refuse(Code::kOutOfRange, "rotaryDim", "an even number from 2 to dim, " + to_text(rope->dim_),
                         to_text(rotary));
    }
    rope->layout_ = spec.choice("layout") == 0 ? PairLayout::kInterleaved : PairLayout::kHalf;
    Unscaled unscaled;
    unscaled.dim = rotary;
    const Table& list = spec.table("frequencies");
    if (!list.given) {
      unscaled.base = spec.number("base");
    } else if (list.size() == unscaled.pairs()) {
      unscaled.list = {list.reals, unscaled.pairs()};
    } else {
      return spec.refuse(Code::kShapeMismatch, "frequencies",
                         "a list of " + to_text(rotary / 2) + " numbers, one a pair",
                         to_text(static_cast<double>(list.size())));
    }
    if (Status status = Scaling::make(spec, unscaled, rope->scaling_); !status.ok()) return status;
    scheme = std::move(rope);
    return ok();
  }

  int width() const override { return dim_; }

  Status apply(const RotateCall& call, const Positions& positions, const float* x, std::size_t x_stride, float* y,
               std::size_t y_stride) const override {
    return turn(call, positions, x, x_stride, y, y_stride, float_tables_);
  }
  Status apply(const RotateCall& call, const Positions& positions, const double* x, std::size_t x_stride, double* y,
               std::size_t y_stride) const override {
    return turn(call, positions, x, x_stride, y, y_stride, double_tables_);
  }

  Status frequencies(double length, FrequencyReport& report) const override {
    report = scaling_.at(length).report;
    return ok();
  }

 private:
  template <class Real>
  Status turn(const RotateCall& call, const Positions& positions, const Real* x, std::size_t x_stride, Real* y,
              std::size_t y_stride, Tables<Real>& tables) const {
    if (Status status = check_positions(positions, name()); !status.ok()) return status;
    const Frequencies& frequencies = *scaling_.at(call.length).frequencies;
    PairRotation<Real> rotation;
    rotation.layout = layout_;
    rotation.width = static_cast<std::size_t>(dim_);
    rotation.pairs = rotation.table_stride = frequencies.pairs();
    rotation.inverse = call.inverse;
    for (std::size_t t = 0; t < positions.count; t += kRows) {
      rotation.tokens = positions.count - t < kRows ? positions.count - t : kRows;
      const auto& table = tables.of(frequencies, {positions.data + t, rotation.tokens});
      rotation.cos = table.cos.data();
      rotation.sin = table.sin.data();
      rotate_pairs(rotation, x + t * x_stride, x_stride, y + t * y_stride, y_stride);
    }
    return ok();
  }

  static constexpr std::size_t kRows = 128;

  int dim_ = 0;
  PairLayout layout_ = PairLayout::kInterleaved;
  Scaling scaling_;
  mutable Tables<float> float_tables_;
  mutable Tables<double> double_tables_;
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
