// FIRE: a small network of the distance, compressed by a logarithm and measured against the query's position.
//
//   b_h(i, j) = f_h(psi(|i - j|) / psi(max(L, i))),   psi(x) = log(c x + 1)
//   f_h(x) = sum_k w2[h, k] relu(w1[k] x + b1[k]) + b2[h]
//
// Li et al. 2023 (ICLR 2024), "Functional Interpolation for Relative Positions Improves Long Context Transformers",
// equation 4. f_h is linear between the roots of its units, and is kept as those pieces.
// Conventions:
//   ahead     the distances of keys ahead are taken as distances, as the authors' code does for encoders.
//   divisor   their code adds 1e-6 to it, which L > 0 makes needless, and starts with c = 0.1, L = 512 and 32 hidden
//             units.
//   gradient  a unit at its root counts as off, and a query at position L is measured against L.
//   position  i is the query's position, so the bias is not shift-invariant beyond L.
// Good at: length generalisation: under a causal mask the argument stays within [0, 1] at positions from 0, so that no
// distance is ever new.
// Fails: needs training; two keys far away differ little once i is large.
// Picture: threshold=8 positions=24 common=false
#include <algorithm>
#include <limits>

#include "schemes/params.h"
#include "schemes/registry.h"
#include "schemes/weights.h"
#include "simd/math.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    kHeads,
    {.name = "hidden",
     .kind = Kind::kInteger,
     .sentence = "Hidden units of the network.",
     .fallback = 32,
     .min = 1,
     .max = 1024},
    {.name = "w1",
     .kind = Kind::kTable,
     .sentence = "Input weights of the units.",
     .shape = "[hidden]",
     .differentiable = true},
    {.name = "b1",
     .kind = Kind::kTable,
     .sentence = "Offsets of the units.",
     .shape = "[hidden]",
     .differentiable = true},
    {.name = "w2",
     .kind = Kind::kTable,
     .sentence = "Output weights of each head.",
     .shape = "[heads, hidden]",
     .differentiable = true},
    {.name = "b2",
     .kind = Kind::kTable,
     .sentence = "Offset of each head.",
     .shape = "[heads]",
     .differentiable = true},
    {.name = "c",
     .kind = Kind::kReal,
     .sentence = "How early the logarithm sets in.",
     .fallback = 0.1,
     .min = 1e-9,
     .max = 1e9,
     .differentiable = true,
     .shown_min = 0.01,
     .shown_max = 10,
     .shown_log = true},
    {.name = "threshold",
     .kind = Kind::kReal,
     .sentence = "Position L up to which every query is measured alike.",
     .fallback = 512,
     .min = 0.001,
     .max = 9007199254740992.0,
     .differentiable = true,
     .shown_min = 1,
     .shown_max = 1024,
     .shown_log = true},
    seed_param("Seed of tables that are not given: normal numbers of deviation 1."),
};

constexpr Claim kClaims[] = {{Law::kExtrapolates}};

class Fire final : public Bias {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto fire = std::make_unique<Fire>();
    const auto heads = static_cast<std::size_t>(spec.integer("heads"));
    const auto hidden = static_cast<std::size_t>(spec.integer("hidden"));
    fire->heads_ = static_cast<int>(heads);
    fire->c_ = spec.number("c");
    fire->threshold_ = spec.number("threshold");
    Status status = fire->w1_.take(spec, "w1", {hidden}, false, 0, 1);
    if (status.ok()) status = fire->b1_.take(spec, "b1", {hidden}, false, 1, 1);
    if (status.ok()) status = fire->w2_.take(spec, "w2", {heads, hidden}, false, 2, 1);
    if (status.ok()) status = fire->b2_.take(spec, "b2", {heads}, false, 3, 1);
    if (!status.ok()) return status;
    const float *w1 = fire->w1_.data(), *b1 = fire->b1_.data(), *w2 = fire->w2_.data(), *b2 = fire->b2_.data();

    // Units change sides at -b1 / w1; only x > 0 counts.
    std::vector<double> roots(hidden);
    for (std::size_t k = 0; k < hidden; ++k) {
      roots[k] = w1[k] == 0 ? 0 : -static_cast<double>(b1[k]) / static_cast<double>(w1[k]);
      if (roots[k] > 0) fire->knots_.push_back(roots[k]);
    }
    fire->knots_.push_back(0);
    std::sort(fire->knots_.begin(), fire->knots_.end());
    const std::size_t pieces = fire->knots_.size();
    fire->knots_.push_back(std::numeric_limits<double>::infinity());
    for (std::size_t h = 0; h < heads; ++h) {
      for (std::size_t n = 0; n < pieces; ++n) {
        const double from = fire->knots_[n];
        Piece piece = {0, static_cast<double>(b2[h])};
        for (std::size_t k = 0; k < hidden; ++k) {
          const double slope = static_cast<double>(w1[k]), offset = static_cast<double>(b1[k]);
          const bool on = slope > 0 ? roots[k] <= from : slope < 0 ? roots[k] > from : offset > 0;
          if (!on) continue;
          const double weight = static_cast<double>(w2[h * hidden + k]);
          piece.slope += weight * slope;
          piece.offset += weight * offset;
        }
        fire->pieces_.push_back(piece);
      }
    }
    scheme = std::move(fire);
    return ok();
  }

  int heads() const override { return heads_; }

  void declare(Gradients& to) const override {
    w1_.declare(to), b1_.declare(to), w2_.declare(to), b2_.declare(to);
    to.add("c"), to.add("threshold");
  }

  // b (keys, kLanes)
  void values(const Tile& tile, double* b) const override {
    const Piece* pieces = pieces_.data() + static_cast<std::size_t>(tile.head) * (knots_.size() - 1);
    double unit[kLanes], line[kKeyBlock + kLanes - 1];
    for (int l = 0; l < kLanes; ++l) {
      const double i = tile.query_positions[l];
      unit[l] = 1 / simd::log1p_double(c_ * (i > threshold_ ? i : threshold_));
    }
    const double first = tile.unit_offset - (kLanes - 1);
    for (int x = 0; tile.unit_step && x < tile.keys + kLanes - 1; ++x) line[x] = psi(first + x);
    for (int l = 0; l < kLanes; ++l) {
      const double* from = knots_.data();  // of the piece in use
      Piece piece = pieces[0];
      for (int j = 0; j < tile.keys; ++j) {
        const double x = (tile.unit_step ? line[j - l + kLanes - 1] : psi(tile.offset(j, l))) * unit[l];
        if (!(from[0] <= x && x < from[1])) {  // offsets of neighbours are near: seldom more than a step
          while (from[1] <= x) ++from;
          while (from[0] > x) --from;
          piece = pieces[from - knots_.data()];
        }
        b[j * kLanes + l] = piece.slope * x + piece.offset + 0.0;
      }
    }
  }

  void differentiate(const Tile& tile, const double* db, Gradients& to) const override {
    const std::size_t hidden = w1_.size, head = static_cast<std::size_t>(tile.head);
    const float *inputs = w1_.data(), *shifts = b1_.data(), *weights = w2_.data() + head * hidden;
    double *w1 = to["w1"], *b1 = to["b1"], *w2 = to["w2"] + head * hidden, *b2 = to["b2"] + head;
    for (int n = 0; n < tile.keys * kLanes; ++n) {
      const double g = db[n];
      if (g == 0) continue;
      const int l = n % kLanes;
      const double i = tile.query_positions[l], longest = i > threshold_ ? i : threshold_;
      const double offset = tile.offset(n / kLanes, l), distance = offset < 0 ? -offset : offset;
      const double divisor = simd::log1p_double(c_ * longest), x = psi(offset) / divisor;
      double slope = 0;
      for (std::size_t k = 0; k < hidden; ++k) {
        const double unit = static_cast<double>(inputs[k]) * x + static_cast<double>(shifts[k]);
        if (!(unit > 0)) continue;
        const double weight = static_cast<double>(weights[k]);
        w2[k] += g * unit;
        w1[k] += g * weight * x;
        b1[k] += g * weight;
        slope += weight * static_cast<double>(inputs[k]);
      }
      *b2 += g;
      const double dx = g * slope / divisor, rate = 1 + c_ * longest;
      *to["c"] += dx * (distance / (1 + c_ * distance) - x * longest / rate);
      if (!(i > threshold_)) *to["threshold"] -= dx * x * c_ / rate;
    }
  }

 private:
  struct Piece {
    double slope, offset;
  };
  double psi(double offset) const { return simd::log1p_double(c_ * (offset < 0 ? -offset : offset)); }

  int heads_ = 0;
  double c_ = 0, threshold_ = 0;
  Weights w1_, b1_, w2_, b2_;
  std::vector<double> knots_;  // 0, the roots, infinity: piece n is for x from knot n to below knot n + 1
  std::vector<Piece> pieces_;  // (heads, knots - 1)
};

}  // namespace

constinit const Descriptor schemes::bias_fire = {
    .slot = Slot::kBias,
    .name = "fire",
    .title = "FIRE",
    .summary = "A small network of the distance relative to the query's position: no distance is new in longer texts.",
    .formula = R"(b_h(i, j) = f_h\!\left(\frac{\psi(\lvert i - j \rvert)}{\psi(\max(L, i))}\right),\quad )"
               R"(\psi(x) = \log(c x + 1))",
    .reference = "Li et al. 2023, Functional Interpolation for Relative Positions, eq. 4",
    .params = kParams,
    .claims = kClaims,
    .make = Fire::make,
};

}  // namespace posenc
