// Transformer-XL: queries meet the sinusoid of the distance, and two vectors stand for a query that knows no position.
//
//   s_ij = ((q_i + u_h) . k_j + (q_i + v_h) . r_h(i - j)) scale,   r_h(t) = W_h^T [sin(t w_0) ... | cos(t w_0) ...]
//
// Dai et al. 2019, "Transformer-XL: Attentive Language Models beyond a Fixed-Length Context", section 3.3.
// Conventions:
//   terms   q_i . k_j is attention's content, the other three are this scheme's, scaled alike. u meets the keys, v the
//           distances: some texts exchange them, drop W, or print the whole under Shaw's name.
//   r       as in the authors' code: t = query - key, sines first and cosines after them (not interleaved),
//           w_m = base^(-2m / dModel); u and v (their r_w_bias, r_r_bias) one row a head.
//   wr      the paper's W_{k,R} as it multiplies rows from the right, [dModel, heads dim]: the transpose of a PyTorch
//           Linear's weight.
//   memory  keys at earlier positions: give keyPositions that start before queryPositions; the authors' shift of a
//           computed matrix ("rel_shift") gives the same numbers where keys are not ahead, and nothing meaningful
//           beyond.
// Good at: recurrence over segments, and distances never trained.
// Fails: costs a second product of the size of q . k.
// Cost: r of a whole offset is made once per head; a fractional one for each pair.
#include "kernels/lane_rows.h"
#include "kernels/sincos.h"
#include "schemes/offsets.h"
#include "schemes/params.h"
#include "schemes/registry.h"
#include "schemes/relate/meeting.h"
#include "schemes/weights.h"
#include "simd/math.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    kHeads,
    kWidth,
    {.name = "u",
     .kind = Kind::kTable,
     .sentence = "In place of the query where it meets keys.",
     .shape = "[heads, dim]",
     .differentiable = true},
    {.name = "v",
     .kind = Kind::kTable,
     .sentence = "In place of the query where it meets distances.",
     .shape = "[heads, dim]",
     .differentiable = true},
    {.name = "wr",
     .kind = Kind::kTable,
     .sentence = "From the sinusoid to r, an even number of rows; heads dim of them where absent.",
     .shape = "[dModel, heads dim]",
     .differentiable = true},
    kFrequencyBase,
    seed_param("Seed of the tables that are not given: normal numbers of deviation 0.02."),
};

constexpr Claim kClaims[] = {{Law::kShiftInvariant}, {Law::kExtrapolates}};

class TransformerXL final : public Relate {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto xl = std::make_unique<TransformerXL>();
    const auto heads = static_cast<std::size_t>(spec.integer("heads")),
               d = static_cast<std::size_t>(spec.integer("dim"));
    const Table& wr = spec.table("wr");
    xl->heads_ = spec.integer("heads");
    xl->dim_ = d;
    xl->model_ = wr.given ? wr.shape[0] : heads * d;
    if (xl->model_ % 2 != 0) {
      return spec.refuse(Code::kShapeMismatch, "wr", "of an even number of rows",
                         to_text(static_cast<double>(xl->model_)));
    }
    Status status = xl->u_.take(spec, "u", {heads, d}, false, 0, 0.02);
    if (status.ok()) status = xl->v_.take(spec, "v", {heads, d}, false, 1, 0.02);
    if (status.ok()) status = xl->wr_.take(spec, "wr", {xl->model_, heads * d}, false, 2, 0.02);
    if (!status.ok()) return status;
    xl->frequencies_ =
        Frequencies::power_law(spec.number("base"), static_cast<std::int64_t>(xl->model_), xl->model_ / 2);
    scheme = std::move(xl);
    return ok();
  }

  int heads() const override { return heads_; }
  int width() const override { return static_cast<int>(dim_); }
  void declare(Gradients& to) const override { u_.declare(to), v_.declare(to), wr_.declare(to); }
  std::size_t key_state_size(std::size_t keys) const override { return keys; }  // u . k_j
  std::size_t query_state_size() const override { return dim_ * kLanes; }       // q + v (dim, kLanes)

  void prepare_keys(int head, const float* k, std::size_t keys, std::size_t d, const Positions&,
                    float* key_state) const override {
    const float* u = u_.data() + static_cast<std::size_t>(head) * d;
    for (std::size_t j = 0; j < keys; ++j) {
      float sum = 0;
      for (std::size_t c = 0; c < d; ++c) sum += u[c] * k[j * d + c];
      key_state[j] = sum;
    }
  }

  void begin(const RelateTile& tile, float* query_state) const override {
    const float* v = v_.data() + static_cast<std::size_t>(tile.head) * dim_;
    for (std::size_t n = 0; n < dim_ * kLanes; ++n) query_state[n] = tile.q[n] + v[n / kLanes];
  }

  void scores(const RelateTile& tile, const float* key_state, float* query_state, float* r) const override {
    const float* uk = key_state + tile.first_key;
    if (tile.unit_step) {
      // Distances query - key along the tile: line[x] of distance first + x, pair (j, l) at x = keys - 1 - j + l.
      float line[(kKeyBlock + kLanes - 1) * kLanes];
      const double first = -tile.unit_offset - (tile.keys - 1);
      const int count = tile.keys + tile.queries - 1;
      for (int x = 0; x < count;) {
        int left = 1;
        const float* rows = rows_of(tile.head, first + x, left);
        left = left < count - x ? left : count - x;
        rows_times_lanes(rows, static_cast<std::size_t>(left), dim_, query_state, tile.scale, line + x * kLanes);
        x += left;
      }
      for (int j = 0; j < tile.keys; ++j) {
        const float* at = line + (tile.keys - 1 - j) * kLanes;
        for (int l = 0; l < kLanes; ++l) {
          r[j * kLanes + l] = uk[j] * tile.scale + (l < tile.queries ? at[l * kLanes + l] : 0);
        }
      }
      return;
    }
    float met[kLanes];
    for (int j = 0; j < tile.keys; ++j) {
      for (int l = 0; l < tile.queries; ++l) {
        int left = 1;
        const float* row = rows_of(tile.head, -tile.offset(j, l), left);
        rows_times_lanes(row, 1, dim_, query_state, tile.scale, met);
        r[j * kLanes + l] = uk[j] * tile.scale + met[l];
      }
      for (int l = tile.queries; l < kLanes; ++l) r[j * kLanes + l] = r[j * kLanes + tile.queries - 1];
    }
  }

  bool meet(Meeting& meeting) const override {
    if (!meeting.scoring()) return true;
    const auto head = static_cast<std::size_t>(meeting.head);
    const Meeting::Vector q = meeting.query(), u = meeting.row(u_, head), v = meeting.row(v_, head);
    for (std::size_t j = 0; j < meeting.keys; ++j) {
      if (meeting.wanted[j] == 0) continue;
      double* r = exact_row(meeting.head, -meeting.offset(j), meeting.gradients);
      const Meeting::Vector met{r, nullptr, meeting.gradients == nullptr ? nullptr : r + dim_};
      meeting.add(j, meeting.scale, meeting.key(j), u);
      meeting.add(j, meeting.scale, q, met);
      meeting.add(j, meeting.scale, v, met);
    }
    return true;
  }

  void settle(int head, Gradients& to) const override {
    for (std::size_t at = 0; at < held_.size(); ++at) pay(at, head, to);
  }

 private:
  // In double: r_h of a distance, and behind it the gradient that it has gathered for `wr`, which is passed on when the
  // row makes way for another one and when all is settled.
  double* exact_row(int head, double distance, Gradients* to) const {
    if (head != held_for_) {
      held_.resize(kHeld);
      exact_.resize(kHeld * 2 * dim_);
      for (double& held : held_) held = kNone;
      held_for_ = head;
    }
    const std::size_t at = (whole(distance) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(distance))
                                            : simd::bits_of(distance) * 0x9e3779b97f4a7c15u >> 40) % kHeld;
    double* r = exact_.data() + at * 2 * dim_;
    if (held_[at] == distance) return r;
    if (to != nullptr) pay(at, head, *to);
    held_[at] = distance;
    const double* wave = exact_sinusoid(distance);
    const float* w = wr_.data() + static_cast<std::size_t>(head) * dim_;
    for (std::size_t c = 0; c < dim_; ++c) r[c] = r[dim_ + c] = 0;
    for (std::size_t m = 0; m < model_; ++m, w += wr_.width) {
      for (std::size_t c = 0; c < dim_; ++c) r[c] += wave[m] * static_cast<double>(w[c]);
    }
    return r;
  }

  void pay(std::size_t at, int head, Gradients& to) const {
    double* gathered = exact_.data() + at * 2 * dim_ + dim_;
    bool any = false;
    for (std::size_t c = 0; c < dim_; ++c) any = any || gathered[c] != 0;
    if (!any) return;
    const double* wave = exact_sinusoid(held_[at]);
    double* w = to["wr"] + static_cast<std::size_t>(head) * dim_;
    for (std::size_t m = 0; m < model_; ++m, w += wr_.width) {
      for (std::size_t c = 0; c < dim_; ++c) w[c] += wave[m] * gathered[c];
    }
    for (std::size_t c = 0; c < dim_; ++c) gathered[c] = 0;
  }

  // (model)
  const double* exact_sinusoid(double distance) const {
    wave_.resize(model_);
    fill_sin_cos(*frequencies_, {&distance, 1},
                 SinCosTable<double>::half(wave_.data(), model_, model_, PairOrder::kSinCos));
    return wave_.data();
  }

  static bool whole(double distance) {
    const double magnitude = distance < 0 ? -distance : distance;
    return !(magnitude < 4503599627370496.0) || (magnitude + 4503599627370496.0) - 4503599627370496.0 == magnitude;
  }

  // r_h of a distance and, where it is whole, of `left` in all from there on.
  const float* rows_of(int head, double distance, int& left) const {
    if (head != made_for_) {
      rows_.forget();
      made_for_ = head;
    }
    if (!whole(distance)) {
      left = 1;
      single_.resize(dim_);
      make_rows(head, distance, 1, single_.data());
      return single_.data();
    }
    return rows_.row(distance, dim_, left, [this, head](double first, float* rows) {
      make_rows(head, first, OffsetRows<float>::kPage, rows);
    });
  }

  // r_h of distances first, first + 1, ... -> rows (count, dim); sums run over the rows of wr upwards.
  void make_rows(int head, double first, std::size_t count, float* rows) const {
    std::vector<double> distances(count);
    std::vector<float> sinusoid(count * model_), columns(model_ * kLanes), met(count * kLanes);
    for (std::size_t t = 0; t < count; ++t) distances[t] = first + static_cast<double>(t);
    fill_sin_cos(*frequencies_, distances,
                 SinCosTable<float>::half(sinusoid.data(), model_, model_, PairOrder::kSinCos));
    const std::size_t stride = static_cast<std::size_t>(heads_) * dim_;
    for (std::size_t c = 0; c < dim_; c += kLanes) {
      const std::size_t live = dim_ - c < kLanes ? dim_ - c : kLanes;
      const float* w = wr_.data() + static_cast<std::size_t>(head) * dim_ + c;
      for (std::size_t m = 0; m < model_; ++m) {
        for (std::size_t l = 0; l < live; ++l) columns[m * kLanes + l] = w[m * stride + l];
      }
      rows_times_lanes(sinusoid.data(), count, model_, columns.data(), 1, met.data());
      for (std::size_t t = 0; t < count; ++t) {
        for (std::size_t l = 0; l < live; ++l) rows[t * dim_ + c + l] = met[t * kLanes + l];
      }
    }
  }

  int heads_ = 0;
  std::size_t dim_ = 0, model_ = 0;
  Weights u_, v_, wr_;
  Frequencies::Pointer frequencies_;
  mutable OffsetRows<float> rows_;
  mutable int made_for_ = -1;
  mutable std::vector<float> single_;

  static constexpr std::size_t kHeld = 2048;  // rows of exact_row(), each in the place of its distance
  mutable int held_for_ = -1;
  mutable std::vector<double> held_;   // the distance of each; NaN: none
  mutable std::vector<double> exact_;  // (kHeld, 2, dim)
  mutable std::vector<double> wave_;
};

}  // namespace

constinit const Descriptor schemes::relate_transformerXL = {
    .slot = Slot::kRelate,
    .name = "transformerXL",
    .title = "Transformer-XL",
    .summary =
        "Queries meet a sinusoid of the distance: works across segments with memory, at the cost of a second product.",
    .formula = R"(s_{ij} = \frac{(q_i + u) \cdot k_j + (q_i + v) \cdot W_R^\top R_{i - j}}{\sqrt{d}})",
    .reference = "Dai et al. 2019, Transformer-XL, section 3.3",
    .params = kParams,
    .claims = kClaims,
    .make = TransformerXL::make,
};

}  // namespace posenc
