// Swin: a learned number for each offset within a window of h by w patches.
//
//   b_h(i, j) = table[(y_i - y_j + h - 1) (2w - 1) + (x_i - x_j + w - 1), h]
//
// Liu et al. 2021, "Swin Transformer: Hierarchical Vision Transformer using Shifted Windows", equation 4.
// Conventions:
//   rows       as in the authors' code and Hugging Face: differences are query - key, axis 0 (height) is the slower
//              one.
//   positions  have two axes; those of one window are grid(h, w). Attention across windows is masked or split by the
//              caller.
// Good at: neighbourhoods in images.
// Fails: the table ends with the window; Swin resizes it for another one.
// Example: swin({ window: 7, heads: 3 }) at grid(7, 7), 49 tokens
// Picture: data cells="7 7"
#include <limits>

#include "schemes/offsets.h"
#include "schemes/params.h"
#include "schemes/registry.h"
#include "schemes/weights.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    {.name = "window",
     .kind = Kind::kInteger,
     .sentence = "Height h of the window in patches.",
     .min = 1,
     .max = 512,
     .required = true,
     .shown = 7,
     .shown_min = 1,
     .shown_max = 16},
    {.name = "windowWidth",
     .kind = Kind::kInteger,
     .sentence = "Width w of the window.",
     .fallback_param = "window",
     .min = 1,
     .max = 512},
    shown(kHeads, 3),
    {.name = "table",
     .kind = Kind::kTable,
     .sentence = "Number of each offset and head.",
     .shape = "[(2 window - 1) (2 windowWidth - 1), heads]",
     .differentiable = true},
    seed_param("Seed of a table that is not given: normal numbers of deviation 0.02."),
};

constexpr Claim kClaims[] = {{Law::kShiftInvariant}};

class Swin final : public Bias {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto swin = std::make_unique<Swin>();
    swin->heads_ = spec.integer("heads");
    swin->reach_[0] = spec.integer("window") - 1;
    swin->reach_[1] = spec.integer("windowWidth") - 1;
    const auto rows = swin->rows(), heads = static_cast<std::size_t>(swin->heads_);
    Weights& table = swin->table_;
    if (Status status = table.take(spec, "table", {rows, heads}, false, 0, 0.02); !status.ok()) return status;
    swin->by_head_.resize(heads * rows);
    for (std::size_t n = 0; n < heads * rows; ++n) swin->by_head_[n % heads * rows + n / heads] = table.data()[n];
    scheme = std::move(swin);
    return ok();
  }

  int heads() const override { return heads_; }
  int axes() const override { return 2; }
  bool whole_offsets() const override { return true; }
  double reach(int axis) const override { return reach_[axis]; }
  void declare(Gradients& to) const override { table_.declare(to); }

  // b (keys, kLanes)
  void values(const Tile& tile, double* b) const override {
    const float* table = by_head_.data() + static_cast<std::size_t>(tile.head) * rows();
    each_row(tile, [=](int pair, int row) {
      b[pair] = row < 0 ? std::numeric_limits<double>::quiet_NaN() : table[row] + 0.0;
    });
  }
  void differentiate(const Tile& tile, const double* db, Gradients& to) const override {
    double* table = to["table"] + tile.head;
    std::int32_t rows[kKeyBlock * kLanes];
    index(tile, false, rows);
    for (int n = 0; n < tile.keys * kLanes; ++n) {
      if (db[n] != 0) table[rows[n] * heads_] += db[n];
    }
  }
  bool index(const Tile& tile, bool, std::int32_t* rows) const override {
    each_row(tile, [rows](int pair, int row) { rows[pair] = row; });
    return true;
  }

 private:
  int columns() const { return 2 * reach_[1] + 1; }
  std::size_t rows() const { return static_cast<std::size_t>((2 * reach_[0] + 1) * columns()); }

  // Of a position along an axis, from the first query's: whole, and enough to tell what is beyond the window.
  static int place(double position, double origin) {
    return static_cast<int>(clamp_offset(position - origin, -1048576, 1048576));
  }

  // visit(pair, row) of every pair; row -1 beyond the window, which callers refuse before.
  template <class Visit>
  void each_row(const Tile& tile, Visit visit) const {
    if (tile.keys == 0) return;
    int y[kLanes], x[kLanes];
    const double *query = tile.query_positions, *key = tile.key_positions;
    for (int l = 0; l < kLanes; ++l) {
      y[l] = place(query[l], query[0]) + reach_[0];
      x[l] = place(query[kLanes + l], query[kLanes]) + reach_[1];
    }
    for (int j = 0; j < tile.keys; ++j) {
      const int key_y = place(key[j], query[0]);
      const int key_x = place(key[tile.key_stride + static_cast<std::size_t>(j)], query[kLanes]);
      for (int l = 0; l < kLanes; ++l) {
        const int dy = y[l] - key_y, dx = x[l] - key_x;
        const bool inside = dy >= 0 && dx >= 0 && dy <= 2 * reach_[0] && dx <= 2 * reach_[1];
        visit(j * kLanes + l, inside ? dy * columns() + dx : -1);
      }
    }
  }

  int heads_ = 0;
  int reach_[2] = {0, 0};
  Weights table_;
  std::vector<float> by_head_;  // (heads, rows)
};

}  // namespace

constinit const Descriptor schemes::bias_swin = {
    .slot = Slot::kBias,
    .name = "swin",
    .title = "Swin relative bias",
    .summary = "A learned number for each offset in a window of image patches: sees both directions apart.",
    .formula = R"(b_h(i, j) = B_{(y_i - y_j + h - 1)(2w - 1) + x_i - x_j + w - 1,\,h})",
    .reference = "Liu et al. 2021, Swin Transformer, eq. 4",
    .params = kParams,
    .claims = kClaims,
    .make = Swin::make,
};

}  // namespace posenc
