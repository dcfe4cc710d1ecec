// Shaw: learned vectors per clipped offset, met by the query and mixed into the output.
//
//   s_ij = q_i . (k_j + a^K_r) / sqrt(d),   o_i = sum_j p_ij (v_j + a^V_r),   r = clip(j - i, -k, k) + k
//
// Shaw, Uszkoreit, Vaswani 2018, "Self-Attention with Relative Position Representations", equations 3 to 5.
// Conventions:
//   terms   the content term q_i . k_j is attention's; this scheme adds q_i . a^K_r, with the softmax scale, and a^V_r.
//           A score of four terms with two free vectors is transformerXL's, though texts print it under Shaw's name.
//   offset  key - query, row 0 of a table is the farthest key behind, row 2k the farthest ahead. clip 0 leaves one row.
// Good at: order and short distances, in both directions, with 2k + 1 rows whatever the length.
// Fails: every key beyond k looks alike, so long distances cannot be told apart.
// Cost: q is multiplied with the 2k + 1 rows once per block of queries, and weights are summed per row before they meet
// a^V, so nothing here grows with keys x width.
// Picture: clip=4
#include "kernels/lane_rows.h"
#include "schemes/offsets.h"
#include "schemes/params.h"
#include "schemes/registry.h"
#include "schemes/relate/meeting.h"
#include "schemes/weights.h"
#include "simd/f32x4.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    kWidth,
    {.name = "clip", .kind = Kind::kInteger,
     .sentence = "Distance k from which on all keys of a side share one row; 0 leaves one row for all.", .min = 0,
     .max = 65536, .required = true, .shown = 8, .shown_min = 0, .shown_max = 32},
    {.name = "keys", .kind = Kind::kTable, .sentence = "Rows a^K that queries meet; false leaves the term out.",
     .shape = "[2 clip + 1, dim] or [heads, 2 clip + 1, dim]", .can_omit = true, .differentiable = true},
    {.name = "values", .kind = Kind::kTable, .sentence = "Rows a^V mixed into the output; false leaves them out.",
     .shape = "[2 clip + 1, valueDim] or [heads, 2 clip + 1, valueDim]", .can_omit = true, .differentiable = true},
    {.name = "valueDim", .kind = Kind::kInteger, .sentence = "Width of the values.", .fallback_param = "dim", .min = 1,
     .max = 4096},
    seed_param("Seed of the tables that are not given: normal numbers of deviation 0.02."),
};

constexpr Claim kClaims[] = {{Law::kShiftInvariant}, {Law::kBounded}, {Law::kExtrapolates}};

class Shaw final : public Relate {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto shaw = std::make_unique<Shaw>();
    shaw->dim_ = spec.integer("dim");
    shaw->clip_ = spec.integer("clip");
    if (spec.table("keys").omitted && spec.table("values").omitted) {
      return spec.refuse(Code::kMissingOption, "keys", "a table where values is false", "");
    }
    shaw->value_dim_ = static_cast<std::size_t>(spec.integer("valueDim"));
    Status status = shaw->keys_.take(spec, "keys", {shaw->rows(), static_cast<std::size_t>(shaw->dim_)}, true, 0, 0.02);
    if (status.ok()) status = shaw->values_.take(spec, "values", {shaw->rows(), shaw->value_dim_}, true, 1, 0.02);
    if (!status.ok()) return status;
    const std::size_t key_heads = shaw->keys_.heads, value_heads = shaw->values_.heads;
    if (key_heads != 0 && value_heads != 0 && key_heads != value_heads) {
      return spec.refuse(Code::kShapeMismatch, "values", "for as many heads as keys, which are " +
                         to_text(static_cast<double>(key_heads)), shape_text(spec.table("values")));
    }
    scheme = std::move(shaw);
    return ok();
  }

  int heads() const override { return static_cast<int>(keys_.heads != 0 ? keys_.heads : values_.heads); }
  int width() const override { return dim_; }
  int value_width() const override { return values_.omitted() ? 0 : static_cast<int>(value_dim_); }
  bool whole_offsets() const override { return true; }
  void declare(Gradients& to) const override { keys_.declare(to), values_.declare(to); }
  // state: q . a^K scaled (R, kLanes), then the weight that fell to each row (R, kLanes)
  std::size_t query_state_size() const override { return 2 * rows() * kLanes; }

  void begin(const RelateTile& tile, float* query_state) const override {
    if (!keys_.omitted()) {
      rows_times_lanes(keys_.of(tile.head), rows(), static_cast<std::size_t>(dim_), tile.q, tile.scale, query_state);
    }
    float* weights = query_state + rows() * kLanes;
    for (std::size_t n = 0; n < rows() * kLanes; ++n) weights[n] = 0;
  }

  void scores(const RelateTile& tile, const float* key_state, float* query_state, float* r) const override {
    (void)key_state;
    if (keys_.omitted()) {
      for (int n = 0; n < tile.keys * kLanes; ++n) r[n] = 0;
      return;
    }
    for_each_row(tile, [&](int j, const std::int32_t* rows, bool one_row) {
      float* out = r + j * kLanes;
      if (one_row) {
        const float* met = query_state + rows[0] * kLanes;
        simd::store(out, simd::load(met));
        simd::store(out + 4, simd::load(met + 4));
      } else {
        for (int l = 0; l < kLanes; ++l) out[l] = query_state[rows[l] * kLanes + l];
      }
    });
  }

  void accumulate(const RelateTile& tile, const float* p, float* query_state) const override {
    float* weights = query_state + rows() * kLanes;
    for_each_row(tile, [&](int j, const std::int32_t* rows, bool one_row) {
      const float* in = p + j * kLanes;
      if (one_row) {
        float* sum = weights + rows[0] * kLanes;
        simd::store(sum, simd::load(sum) + simd::load(in));
        simd::store(sum + 4, simd::load(sum + 4) + simd::load(in + 4));
      } else {
        for (int l = 0; l < kLanes; ++l) weights[rows[l] * kLanes + l] += in[l];
      }
    });
  }

  void rescale(const float* alpha, float* query_state) const override {
    const simd::F32x4 low = simd::load(alpha), high = simd::load(alpha + 4);
    float* weights = query_state + rows() * kLanes;
    for (std::size_t r = 0; r < rows(); ++r) {
      simd::store(weights + r * kLanes, simd::load(weights + r * kLanes) * low);
      simd::store(weights + r * kLanes + 4, simd::load(weights + r * kLanes + 4) * high);
    }
  }

  void finish(int head, const float* query_state, float* o) const override {
    if (values_.omitted()) return;
    add_rows_by_weight(query_state + rows() * kLanes, values_.of(head), rows(), value_dim_, o);
  }

  bool index(const Tile& tile, bool raw, std::int32_t* out) const override {
    if (!raw) {
      for_each_row(tile, [&](int j, const std::int32_t* rows, bool) {
        for (int l = 0; l < kLanes; ++l) out[j * kLanes + l] = rows[l];
      });
      return true;
    }
    index_offsets(tile, out, raw_offset);
    return true;
  }

  bool meet(Meeting& meeting) const override {
    for (std::size_t j = 0; j < meeting.keys; ++j) {
      const auto row = static_cast<std::size_t>(row_of(meeting.offset(j)));
      if (!keys_.omitted()) meeting.add(j, meeting.scale, meeting.query(), meeting.row(keys_, row));
      if (!values_.omitted()) meeting.mix(j, meeting.row(values_, row));
    }
    return true;
  }

 private:
  std::size_t rows() const { return 2 * static_cast<std::size_t>(clip_) + 1; }

  std::int32_t row_of(double offset) const {
    return static_cast<std::int32_t>(clamp_offset(offset, -clip_, clip_)) + clip_;
  }

  // visit(j, rows (kLanes), whether all lanes have the same row) for every key of the tile, upwards
  template <class Visit>
  void for_each_row(const Tile& tile, Visit visit) const {
    std::int32_t rows[kLanes];
    for (int j = 0; j < tile.keys; ++j) {
      if (tile.unit_step) {
        const double nearest = tile.unit_offset + j;
        const bool ahead = nearest - (kLanes - 1) >= clip_, behind = nearest <= -clip_;
        if (ahead || behind) {
          for (int l = 0; l < kLanes; ++l) rows[l] = ahead ? 2 * clip_ : 0;
          visit(j, rows, true);
          continue;
        }
        for (int l = 0; l < kLanes; ++l) rows[l] = row_of(nearest - l);
      } else {
        for (int l = 0; l < kLanes; ++l) rows[l] = row_of(tile.offset(j, l));
      }
      visit(j, rows, false);
    }
  }

  int dim_ = 0, clip_ = 0;
  std::size_t value_dim_ = 0;
  Weights keys_, values_;
};

}  // namespace

constinit const Descriptor schemes::relate_shaw = {
    .slot = Slot::kRelate,
    .name = "shaw",
    .title = "Shaw relative positions",
    .summary = "Learned vectors for every offset up to a clip: precise nearby, blind to how far beyond it.",
    .formula = R"(s_{ij} = \frac{q_i \cdot (k_j + a^K_r)}{\sqrt{d}},\quad o_i = \sum_j p_{ij} (v_j + a^V_r),\quad )"
               R"(r = \operatorname{clip}(j - i, -k, k) + k)",
    .reference = "Shaw, Uszkoreit, Vaswani 2018, Self-Attention with Relative Position Representations, eq. 3-5",
    .params = kParams,
    .claims = kClaims,
    .make = Shaw::make,
};

}  // namespace posenc
