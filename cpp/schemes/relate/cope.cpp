// CoPE: positions counted by content. Each key between a query and another is counted by how much the query minds it.
//
//   g_ij = sigmoid(s_ij),  p_ij = min(sum_{k = j}^{i} g_ik, P - 1),  term = q_i . e[p_ij], e interpolated linearly
//
// Golovneva, Wang, Weston, Sukhbaatar 2024, "Contextual Position Encoding: Learning to Count What's Important",
// section 4.
// Conventions:
//   gates   take the scaled score q . k scale (with rotations, if there are any), as the authors' code does with its
//           scaled queries; masked keys count nothing.
//   term    is not scaled again.
//   counts  over the keys from j to i as they stand in the arrays, whatever their positions; P = maxPosition rows, the
//           last one for every larger count.
//   slopes  at a whole count that of larger ones, from P - 1 on none.
//   table   one for all heads as in the paper, or one for each.
// Good at: counting words or sentences rather than tokens.
// Fails: needs the scores before the positions, and keys from last to first: causal attention only.
#include "kernels/lane_rows.h"
#include "schemes/params.h"
#include "schemes/registry.h"
#include "schemes/relate/meeting.h"
#include "schemes/weights.h"
#include "simd/math.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    kWidth,
    {.name = "maxPosition",
     .kind = Kind::kInteger,
     .sentence = "Rows P of the table; counts end at P - 1.",
     .min = 1,
     .max = 65536,
     .required = true,
     .shown = 16,
     .shown_min = 2,
     .shown_max = 64},
    {.name = "table",
     .kind = Kind::kTable,
     .sentence = "Vector e of each count.",
     .shape = "[maxPosition, dim] or [heads, maxPosition, dim]",
     .differentiable = true},
    seed_param("Seed of a table that is not given: normal numbers of deviation 0.02."),
};

constexpr Claim kClaims[] = {{Law::kShiftInvariant}, {Law::kBounded}, {Law::kExtrapolates}};

class Cope final : public Relate {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto cope = std::make_unique<Cope>();
    cope->dim_ = static_cast<std::size_t>(spec.integer("dim"));
    cope->rows_ = static_cast<std::size_t>(spec.integer("maxPosition"));
    Status status = cope->table_.take(spec, "table", {cope->rows_, cope->dim_}, true, 0, 0.02);
    if (status.ok()) scheme = std::move(cope);
    return status;
  }

  int heads() const override { return static_cast<int>(table_.heads); }
  int width() const override { return static_cast<int>(dim_); }
  bool descending() const override { return true; }
  bool causal_only() const override { return true; }
  void declare(Gradients& to) const override { table_.declare(to); }
  // q . e (rows, kLanes), then the count so far (kLanes) and what its rounding took (kLanes)
  std::size_t query_state_size() const override { return (rows_ + 2) * kLanes; }

  void begin(const RelateTile& tile, float* query_state) const override {
    rows_times_lanes(table_.of(tile.head), rows_, dim_, tile.q, 1, query_state);
    for (int n = 0; n < 2 * kLanes; ++n) query_state[rows_ * kLanes + static_cast<std::size_t>(n)] = 0;
  }

  void scores(const RelateTile& tile, const float*, float* query_state, float* r) const override {
    using namespace simd;
    float* const count = query_state + rows_ * kLanes;
    const F32x4 one = splat(1.0f), last = splat(static_cast<float>(rows_ - 1));
    for (int j = tile.keys - 1; j >= 0; --j) {
      for (int half = 0; half < kLanes; half += 4) {
        const int at = j * kLanes + half;
        const F32x4 gate = load(tile.visible + at) / (one + exp(-load(tile.content + at)));
        // Kahan's sum: thousands of gates may go into a count.
        const F32x4 before = load(count + half), part = gate - load(count + kLanes + half), sum = before + part;
        store(count + kLanes + half, (sum - before) - part);
        store(count + half, sum);
        float places[4];
        store(places, min(sum, last));
        for (int l = 0; l < 4; ++l) {
          const int low = static_cast<int>(places[l]);
          const float share = places[l] - static_cast<float>(low);
          const float* met = query_state + low * kLanes + half + l;
          r[at + l] = share == 0 ? met[0] : met[0] * (1 - share) + met[kLanes] * share;
        }
      }
    }
  }

  bool meet(Meeting& meeting) const override {
    if (!meeting.scoring()) return true;
    const bool back = meeting.reading == Meeting::Reading::kScoresBack;
    const auto gate = [&](std::size_t j) { return 1 / (1 + simd::exp_double(-meeting.content[j])); };
    std::vector<double> slopes(back ? meeting.keys : 0);  // of the scores by the counts
    const double last = static_cast<double>(rows_ - 1);
    double count = 0;
    for (std::size_t j = meeting.keys; j-- > 0;) {
      if (meeting.visible[j] != 0) count += gate(j);
      const double place = last < count ? last : count;
      const auto low = static_cast<std::size_t>(place);
      const double share = place - static_cast<double>(low);
      const double below = meeting.add(j, 1 - share, meeting.query(), meeting.row(table_, low));
      if (!(place < last)) continue;
      const double above = meeting.add(j, share, meeting.query(), meeting.row(table_, low + 1));
      if (back) slopes[j] = meeting.upstream(j) * (above - below);
    }
    double sum = 0;  // a gate counts for its own key and all before it
    for (std::size_t j = 0; back && j < meeting.keys; ++j) {
      sum += slopes[j];
      if (meeting.visible[j] != 0) meeting.content_gradient[j] += sum * gate(j) * (1 - gate(j));
    }
    return true;
  }

 private:
  std::size_t dim_ = 0, rows_ = 0;
  Weights table_;
};

}  // namespace

constinit const Descriptor schemes::relate_cope = {
    .slot = Slot::kRelate,
    .name = "cope",
    .title = "CoPE",
    .summary = "Counts the keys that matter to the query instead of all of them; causal attention only.",
    .formula = R"(q_i \cdot e[p_{ij}],\quad p_{ij} = \min\Bigl(\sum_{k=j}^{i} \sigma(s_{ik}),\ P - 1\Bigr))",
    .reference = "Golovneva, Wang, Weston, Sukhbaatar 2024, Contextual Position Encoding, section 4",
    .params = kParams,
    .claims = kClaims,
    .make = Cope::make,
};

}  // namespace posenc
