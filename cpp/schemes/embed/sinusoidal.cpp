// Sinusoidal: the clock hands of "Attention Is All You Need".
//
//   p(t)_{2i} = sin(t omega_i),   p(t)_{2i+1} = cos(t omega_i),   omega_i = base^(-2i/d),   i = 0 .. d/2 - 1
//
// Vaswani et al. 2017, section 3.5. Positions count from 0 and may be negative or fractional.
// Conventions:
//   layout    interleaved: (sin, cos) in columns 2i, 2i + 1, the paper's. half: all sines, then all cosines
//             (tensor2tensor, fairseq). order cos-sin exchanges the two in either.
//   spacing   paper: base^(-2i/d). timing: minTimescale (maxTimescale / minTimescale)^(-i/(P-1)) over P pairs,
//             tensor2tensor's signal (as its code has it, minTimescale multiplies; with the usual 1 the slowest
//             wavelength is 2 pi maxTimescale). frequencies: any list of omega_i in place of both.
//   longest   the paper's wavelengths end at 2 pi base^(1 - 2/d), 60,611 positions for its width of 512; 2 pi base is
//             the last one of the timing spacing only. A higher column is a lower frequency.
//   oddDim    what an odd d means, and d in the exponent of the paper's spacing:
//             truncate: ceil(d/2) sines and floor(d/2) cosines, exponent 2i/d (most PyTorch code, once repaired);
//             pad: the table of d - 1 columns and a column of zeros (tensor2tensor, fairseq);
//             sentinel: truncate's numbers, all sines first whatever the layout (BART, Marian, Pegasus);
//             round-up: the table of d + 1 columns without its last one; reject: an error.
//             timing counts pairs, not columns: there truncate and round-up agree. The list of frequencies has d/2
//             entries, rounded down for pad and up otherwise.
//   padIndex  the row of that position is zero (fairseq's padding row).
//   shifts    R(k) p(t) = p(t + k) with p a column; as rows, p(t + k) = p(t) M(k) with M(k) its transpose.
//   repeats   2 pi / omega is irrational, so a column comes back only nearly at whole positions: 710 is 113 turns to
//             6.0e-5, which is how close positions 0 and 710 come for d = 2; for d = 4 they are 0.794 apart.
//   size      each row has the norm sqrt(d / 2), large beside embeddings of deviation 0.02: hence the paper's factor
//             sqrt(d) of the embeddings, embed's scale "sqrt".
// Good at: any position, no parameter, p(t + k) is a rotation of p(t).
// Fails: the model must learn to read distances out of it, and lengths never seen in training are phases never seen.
#include "kernels/sincos.h"
#include "schemes/frequency_report.h"
#include "schemes/params.h"
#include "schemes/registry.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    kColumns,
    described(kBase, "Base of the wavelengths, which go from 2 pi towards 2 pi base."),
    {.name = "layout", .kind = Kind::kChoice, .sentence = "Sine beside its cosine, or all sines before all cosines.",
     .fallback = 0, .choices = "interleaved|half"},
    {.name = "order", .kind = Kind::kChoice, .sentence = "Which of a pair comes first.", .fallback = 0,
     .choices = "sin-cos|cos-sin"},
    {.name = "spacing", .kind = Kind::kChoice,
     .sentence = "Exponents 2i/d as in the paper, or i/(d/2 - 1) as in tensor2tensor's timing signal.", .fallback = 0,
     .choices = "paper|timing"},
    {.name = "oddDim", .kind = Kind::kChoice, .sentence = "What an odd number of columns means.", .fallback = 0,
     .choices = "truncate|pad|sentinel|round-up|reject"},
    {.name = "frequencies", .kind = Kind::kList,
     .sentence = "Angular frequency of each pair, radians a position, in place of base and spacing.", .min = -1e12,
     .max = 1e12, .shape = "[dim / 2]", .shown_min = 0, .shown_max = 1},
    {.name = "scale", .kind = Kind::kReal, .sentence = "Factor of the whole table.", .fallback = 1, .min = 1e-6,
     .max = 1e6},
    {.name = "padIndex", .kind = Kind::kInteger, .sentence = "Position whose row is zero.", .fallback = kNone,
     .min = -kMaxPosition, .max = kMaxPosition},
    {.name = "minTimescale", .kind = Kind::kReal,
     .sentence = "Frequency of the timing spacing's first pair, radians a position: tensor2tensor multiplies by it.",
     .fallback = 1, .min = 1e-6, .max = 1e12, .where = "spacing", .taken_by = "timing"},
    {.name = "maxTimescale", .kind = Kind::kReal,
     .sentence = "The timing spacing's last pair turns at minTimescale^2 / maxTimescale radians a position.",
     .fallback_param = "base", .min = 1e-12, .max = 1e12, .where = "spacing", .taken_by = "timing"},
};

enum OddDim { kTruncate, kPad, kSentinel, kRoundUp, kReject };

bool whole_pairs(const Spec& spec) {
  return !spec.has("padIndex") && (spec.integer("dim") % 2 == 0 || spec.choice("oddDim") == kPad);
}
bool own_frequencies(const Spec& spec) { return !spec.has("frequencies"); }

constexpr Claim kClaims[] = {
    {.law = Law::kShiftInvariant,
     .when = "every sine has its cosine (dim even, or oddDim \"pad\") and no padIndex is given", .holds = whole_pairs},
    {Law::kBounded},
    {.law = Law::kInjective, .when = "no list of frequencies is given", .holds = own_frequencies, .length = 4096},
    {Law::kExtrapolates},
};

class Sinusoidal final : public Embed {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto made = std::make_unique<Sinusoidal>();
    const int dim = spec.integer("dim"), odd_dim = spec.choice("oddDim");
    if (dim % 2 != 0 && odd_dim == kReject) {
      return spec.refuse(Code::kOutOfRange, "dim", "even where oddDim is \"reject\"", to_text(dim));
    }
    made->columns_ = static_cast<std::size_t>(dim);
    made->pad_column_ = dim % 2 != 0 && odd_dim == kPad;
    made->half_ = spec.choice("layout") == 1 || (dim % 2 != 0 && odd_dim == kSentinel);
    made->order_ = spec.choice("order") == 0 ? PairOrder::kSinCos : PairOrder::kCosSin;
    made->scale_ = spec.number("scale");
    made->pad_index_ = spec.number("padIndex");

    const std::size_t pairs = (made->columns_ + (made->pad_column_ ? 0 : 1)) / 2;
    const Table& list = spec.table("frequencies");
    if (list.given) {
      if (list.size() != pairs) {
        return spec.refuse(Code::kShapeMismatch, "frequencies",
                           "a list of " + to_text(static_cast<double>(pairs)) + " numbers, one a pair",
                           to_text(static_cast<double>(list.size())));
      }
      made->frequencies_ = Frequencies::list({list.reals, pairs});
    } else if (spec.choice("spacing") == 1) {
      made->frequencies_ = Frequencies::timing(spec.number("minTimescale"), spec.number("maxTimescale"), pairs);
    } else {
      const int exponent_dim = dim % 2 == 0 ? dim : odd_dim == kPad ? dim - 1 : odd_dim == kRoundUp ? dim + 1 : dim;
      made->base_ = spec.number("base");
      made->frequencies_ = Frequencies::power_law(made->base_, exponent_dim, pairs);
    }
    scheme = std::move(made);
    return ok();
  }

  int width() const override { return static_cast<int>(columns_); }

  Status encode(const Positions& positions, double, float* out) const override { return fill(positions, out); }
  Status encode(const Positions& positions, double, double* out) const override { return fill(positions, out); }

  Status frequencies(double, FrequencyReport& report) const override {
    report = FrequencyReport::of(*frequencies_);
    report.base = base_;
    return ok();
  }

 private:
  // out (T, d)
  template <class Real>
  Status fill(const Positions& positions, Real* out) const {
    if (Status status = check_positions(positions, name()); !status.ok()) return status;
    const std::size_t filled = columns_ - (pad_column_ ? 1 : 0);
    const auto table = half_ ? SinCosTable<Real>::half(out, columns_, filled, order_)
                             : SinCosTable<Real>::interleaved(out, columns_, filled, order_);
    fill_sin_cos(*frequencies_, {positions.data, positions.count}, table, scale_);
    for (std::size_t t = 0; t < positions.count; ++t) {
      if (pad_column_) out[t * columns_ + filled] = 0;
      if (positions.data[t] != pad_index_) continue;
      for (std::size_t c = 0; c < columns_; ++c) out[t * columns_ + c] = 0;
    }
    return ok();
  }

  Frequencies::Pointer frequencies_;
  std::size_t columns_ = 0;
  bool pad_column_ = false, half_ = false;
  PairOrder order_ = PairOrder::kSinCos;
  double scale_ = 1, pad_index_ = kNone, base_ = kNone;
};

}  // namespace

constinit const Descriptor schemes::embed_sinusoidal = {
    .slot = Slot::kEmbed,
    .name = "sinusoidal",
    .title = "Sinusoidal",
    .summary = "Sines and cosines of geometric wavelengths: any position, no parameter, distance in the dot product.",
    .formula = R"(p(t)_{2i} = \sin(t\,\omega_i),\quad p(t)_{2i+1} = \cos(t\,\omega_i),\quad )"
               R"(\omega_i = \mathrm{base}^{-2i/d})",
    .reference = "Vaswani et al. 2017, Attention Is All You Need, section 3.5",
    .params = kParams,
    .claims = kClaims,
    .make = Sinusoidal::make,
};

}  // namespace posenc
