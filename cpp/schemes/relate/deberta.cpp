// DeBERTa: content meets position both ways, with one vector per clipped or bucketed distance.
//
//   c2p: q_i . K^r[delta(i, j)] scale,  p2c: k_j . Q^r[delta(j, i)] scale,  delta(i, j) = clip(i - j + k, 0, 2k - 1)
//
// He, Liu, Gao, Chen 2021, "DeBERTa: Decoding-enhanced BERT with Disentangled Attention", equations 2 to 4.
// Conventions:
//   sign     the paper's: query - key, row 0 is the farthest key ahead.
//   tables   `keys` (K^r) and `queries` (Q^r) are the shared relative embeddings after the layer's projections.
//   scale    the paper's 1 / sqrt(3 d), 1 / sqrt(2 d) with one term: pass it to attention, it scales content and terms
//            alike.
//   p2cRow   where sources disagree: the paper takes delta(j, i); the authors' code and Hugging Face gather row
//            i - j + k, which is delta(i, j), and checkpoints are trained so: p2cRow "code".
//   buckets  v1: k = span. v2 and v3: k = buckets, and a distance n beyond m = buckets / 2 counts as
//            m + ceil(log(n / m) / log((span - 1) / m) (m - 1)). Frameworks take logarithms in float32; here bounds are
//            exact.
// Good at: word order in encoders.
// Fails: alike beyond k; keys need a table of Tk x 2k numbers for p2c.
// Example: deberta({ heads: 8, dim: 64, span: 16 }) with scale: 1 / Math.sqrt(3 * 64)
#include "kernels/lane_rows.h"
#include "kernels/score_tile.h"
#include "schemes/offsets.h"
#include "schemes/params.h"
#include "schemes/registry.h"
#include "schemes/relate/meeting.h"
#include "schemes/weights.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    kHeads,
    kWidth,
    {.name = "span",
     .kind = Kind::kInteger,
     .sentence = "Distance from which on keys of a side look alike (max_relative_positions).",
     .min = 1,
     .max = 65536,
     .required = true,
     .shown = 16,
     .shown_min = 2,
     .shown_max = 64},
    {.name = "buckets",
     .kind = Kind::kInteger,
     .sentence = "Rows a side where distances share buckets (position_buckets, v2 and v3); absent: span.",
     .fallback = kNone,
     .min = 4,
     .max = 65536},
    {.name = "terms",
     .kind = Kind::kChoice,
     .sentence = "Query meets position, key meets position, or both.",
     .fallback = 0,
     .choices = "c2p+p2c|c2p|p2c"},
    {.name = "p2cRow",
     .kind = Kind::kChoice,
     .sentence = "Row of p2c: delta(j, i), or delta(i, j) as the authors' code and checkpoints have it.",
     .fallback = 0,
     .choices = "paper|code"},
    {.name = "keys",
     .kind = Kind::kTable,
     .sentence = "Rows K^r that queries meet; 2 buckets of them where those are.",
     .shape = "[heads, 2 span, dim]",
     .differentiable = true},
    {.name = "queries",
     .kind = Kind::kTable,
     .sentence = "Rows Q^r that keys meet.",
     .shape = "[heads, 2 span, dim]",
     .differentiable = true},
    seed_param("Seed of the tables that are not given: normal numbers of deviation 0.02."),
};

constexpr Claim kClaims[] = {{Law::kShiftInvariant}, {Law::kBounded}, {Law::kExtrapolates}};

class Deberta final : public Relate {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto deberta = std::make_unique<Deberta>();
    const int span = spec.integer("span"), terms = spec.choice("terms");
    const auto heads = static_cast<std::size_t>(spec.integer("heads"));
    deberta->heads_ = spec.integer("heads");
    deberta->dim_ = static_cast<std::size_t>(spec.integer("dim"));
    deberta->single_ = deberta->side_ = span;
    deberta->mirrored_ = spec.choice("p2cRow") == 0;
    if (spec.has("buckets")) {
      const int buckets = spec.integer("buckets"), middle = buckets / 2;
      if (span - 1 <= middle) {
        return spec.refuse(Code::kOutOfRange, "buckets", "less than 2 (span - 1) = " + to_text(2.0 * (span - 1)),
                           to_text(buckets));
      }
      deberta->side_ = buckets;
      deberta->single_ = middle;
      deberta->bounds_ = log_steps(middle, span - 1, middle - 1, buckets - middle, true);
    }
    const std::size_t rows = deberta->rows();
    Status status = ok();
    if (terms != 2) status = deberta->keys_.take(spec, "keys", {heads, rows, deberta->dim_}, false, 0, 0.02);
    if (terms != 1 && status.ok()) {
      status = deberta->queries_.take(spec, "queries", {heads, rows, deberta->dim_}, false, 1, 0.02);
    }
    if (status.ok()) scheme = std::move(deberta);
    return status;
  }

  int heads() const override { return heads_; }
  int width() const override { return static_cast<int>(dim_); }
  bool whole_offsets() const override { return true; }
  void declare(Gradients& to) const override { keys_.declare(to), queries_.declare(to); }
  // q . K^r scaled (rows, kLanes)
  std::size_t query_state_size() const override { return keys_.omitted() ? 0 : rows() * kLanes; }
  // k . Q^r, eight keys at a time: (ceil(keys / 8), rows, 8)
  std::size_t key_state_size(std::size_t keys) const override {
    return queries_.omitted() ? 0 : (keys + kLanes - 1) / kLanes * kLanes * rows();
  }

  void prepare_keys(int head, const float* k, std::size_t keys, std::size_t d, const Positions&,
                    float* key_state) const override {
    if (queries_.omitted()) return;
    std::vector<float> lanes(d * kLanes);
    for (std::size_t j = 0; j < keys; j += kLanes) {
      pack_lanes(k + j * d, d, keys - j < kLanes ? static_cast<int>(keys - j) : kLanes, d, 1, lanes.data());
      rows_times_lanes(table(queries_, head), rows(), d, lanes.data(), 1, key_state + j * rows());
    }
  }

  void begin(const RelateTile& tile, float* query_state) const override {
    if (!keys_.omitted()) rows_times_lanes(table(keys_, tile.head), rows(), dim_, tile.q, tile.scale, query_state);
  }

  void scores(const RelateTile& tile, const float* key_state, float* query_state, float* r) const override {
    std::int32_t distances[kKeyBlock * kLanes];
    index(tile, true, distances);
    for (int j = 0; j < tile.keys; ++j) {
      const std::size_t key = tile.first_key + static_cast<std::size_t>(j);
      const float* met = queries_.omitted() ? nullptr : key_state + key / kLanes * kLanes * rows() + key % kLanes;
      for (int l = 0; l < kLanes; ++l) {
        const std::int32_t distance = distances[j * kLanes + l];
        float sum = keys_.omitted() ? 0 : query_state[row_of(distance) * kLanes + l];
        if (met != nullptr) sum += met[row_of(mirrored_ ? -distance : distance) * kLanes] * tile.scale;
        r[j * kLanes + l] = sum;
      }
    }
  }

  bool index(const Tile& tile, bool raw, std::int32_t* rows) const override {
    index_offsets(tile, rows, [this, raw](double offset) {
      const std::int32_t distance = bucket(-offset);
      return raw ? distance : row_of(distance);
    });
    return true;
  }

  bool meet(Meeting& meeting) const override {
    const std::size_t first = static_cast<std::size_t>(meeting.head) * rows();
    const auto row = [&](const Weights& table, std::int32_t distance) {
      return meeting.row(table, first + static_cast<std::size_t>(row_of(distance)));
    };
    for (std::size_t j = 0; j < meeting.keys; ++j) {
      const std::int32_t distance = bucket(-meeting.offset(j));
      if (!keys_.omitted()) meeting.add(j, meeting.scale, meeting.query(), row(keys_, distance));
      if (!queries_.omitted()) {
        meeting.add(j, meeting.scale, meeting.key(j), row(queries_, mirrored_ ? -distance : distance));
      }
    }
    return true;
  }

 private:
  std::size_t rows() const { return 2 * static_cast<std::size_t>(side_); }
  const float* table(const Weights& weights, int head) const {
    return weights.data() + static_cast<std::size_t>(head) * rows() * dim_;
  }
  int row_of(std::int32_t distance) const {
    return distance < -side_ ? 0 : distance < side_ ? distance + side_ : 2 * side_ - 1;
  }

  // Signed; beyond the last bucket one more.
  std::int32_t bucket(double distance) const {
    if (bounds_.empty()) return raw_offset(distance);
    const double magnitude = distance < 0 ? -distance : distance;
    if (magnitude <= single_) return static_cast<std::int32_t>(distance);
    const int wide = single_ + 1 + count_up_to(bounds_, magnitude);
    return distance < 0 ? -wide : wide;
  }

  int heads_ = 0, side_ = 0, single_ = 0;  // side_: rows of a side, k; single_: distances of one bucket each
  bool mirrored_ = true;
  std::size_t dim_ = 0;
  std::vector<double> bounds_;  // first distance of each bucket after single_ + 1
  Weights keys_, queries_;
};

}  // namespace

constinit const Descriptor schemes::relate_deberta = {
    .slot = Slot::kRelate,
    .name = "deberta",
    .title = "DeBERTa",
    .summary = "Content meets relative position both ways: strong in encoders, blind beyond its span.",
    .formula = R"(q_i \cdot K^r_{\delta(i,j)} + k_j \cdot Q^r_{\delta(j,i)},\quad )"
               R"(\delta(i, j) = \operatorname{clip}(i - j + k, 0, 2k - 1))",
    .reference = "He, Liu, Gao, Chen 2021, DeBERTa, eq. 2-4",
    .params = kParams,
    .claims = kClaims,
    .make = Deberta::make,
};

}  // namespace posenc
