// Sandwich: the dot product of two sinusoidal embeddings, less its greatest value, flatter for later heads.
//
//   b_h(i, j) = (sum_{m = 1}^{d/2} cos((i - j) base^(-2m/d)) - d/2) / (8 (h + 1) / n)   for head h of n
//
// Chi, Fan, Rudnicky, Ramadge 2023, "Dissecting Transformer Length Extrapolation via the Lens of Receptive Field
// Analysis", section 7, with their compression ratio 8 h / n, h = 1 .. n.
// Conventions:
//   first  the sum runs from m = 1 (frequency base^(-2/d) first), in the paper and in NeMo; the sinusoidal embedding
//          itself starts at m = 0.
//   dim    the width d of the embedding, a number of its own (128 in the paper), not the width of a head.
// Good at: texts longer than those of training, without parameters.
// Fails: as ALiBi, it sees distance and no order.
// Cost: d / 2 cosines once per whole distance, whatever the heads; fractional distances pay for each pair.
// Picture: view=profiles
#include "kernels/sincos.h"
#include "schemes/bias/offset.h"
#include "schemes/offsets.h"
#include "schemes/params.h"
#include "schemes/registry.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    kHeads,
    {.name = "dim",
     .kind = Kind::kInteger,
     .sentence = "Width d of the embedding, even.",
     .fallback = 128,
     .min = 2,
     .max = 4096,
     .shown_min = 2,
     .shown_max = 256,
     .shown_step = 2},
    kFrequencyBase,
};

constexpr Claim kClaims[] = {
    {Law::kShiftInvariant}, {Law::kNonPositive}, {Law::kSymmetric}, {Law::kExtrapolates}, {Law::kIdentityAtZero}};

class Sandwich final : public OffsetBias {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    const int dim = spec.integer("dim");
    if (dim % 2 != 0) return spec.refuse(Code::kOutOfRange, "dim", "even", to_text(dim));
    auto sandwich = std::make_unique<Sandwich>();
    sandwich->heads_ = spec.integer("heads");
    sandwich->pairs_ = static_cast<std::size_t>(dim / 2);
    const std::vector<MultiFloat> omegas = power_law(MultiFloat(spec.number("base")), dim, sandwich->pairs_ + 1);
    sandwich->frequencies_ = Frequencies::angular(std::span(omegas).subspan(1));
    scheme = std::move(sandwich);
    return ok();
  }

  int heads() const override { return heads_; }

 protected:
  void evaluate(int head, const double* offsets, std::size_t count, double* b) const override {
    const double ratio = 8.0 * (head + 1) / heads_;
    for (std::size_t n = 0; n < count; ++n) {
      const double distance = offsets[n] < 0 ? -offsets[n] : offsets[n];
      double fall;
      if ((distance + 4503599627370496.0) - 4503599627370496.0 == distance || distance > 4503599627370496.0) {
        int left = 0;
        fall = *falls_.row(distance, 1, left,
                           [this](double first, double* rows) { falls(first, OffsetRows<double>::kPage, rows); });
      } else {
        falls(distance, 1, &fall);
      }
      b[n] = fall / ratio + 0.0;
    }
  }

 private:
  // sum of cosines - d/2 at distances first, first + 1, ...
  void falls(double first, std::size_t count, double* rows) const {
    std::vector<double> distances(count), cosines(count * pairs_);
    for (std::size_t t = 0; t < count; ++t) distances[t] = first + static_cast<double>(t);
    fill_sin_cos(*frequencies_, distances, SinCosTable<double>{nullptr, cosines.data(), pairs_, 1, 0, pairs_});
    for (std::size_t t = 0; t < count; ++t) {
      double sum = 0;
      for (std::size_t i = 0; i < pairs_; ++i) sum += cosines[t * pairs_ + i] - 1;
      rows[t] = sum;
    }
  }

  int heads_ = 0;
  std::size_t pairs_ = 0;
  Frequencies::Pointer frequencies_;
  mutable OffsetRows<double> falls_;
};

}  // namespace

constinit const Descriptor schemes::bias_sandwich = {
    .slot = Slot::kBias,
    .name = "sandwich",
    .title = "Sandwich",
    .summary = "The fall of a sinusoidal dot product with distance, scaled by head: goes on beyond the trained length.",
    .formula = R"(b_h(i, j) = \frac{n}{8(h+1)} \Bigl(\sum_{m=1}^{d/2} \cos\frac{i - j}{\mathrm{base}^{2m/d}} - )"
               R"(\frac{d}{2}\Bigr))",
    .reference = "Chi, Fan, Rudnicky, Ramadge 2023, Dissecting Transformer Length Extrapolation, section 7",
    .params = kParams,
    .claims = kClaims,
    .make = Sandwich::make,
};

}  // namespace posenc
