// Swin: a learned number for each offset within a window of h by w patches.
//
//   b_h(i, j) = table[(y_i - y_j + h - 1) (2w - 1) + (x_i - x_j + w - 1), h]
//
// Liu et al. 2021, "Swin Transformer: Hierarchical Vision Transformer using Shifted Windows", equation 4; rows as in the
// authors' code and Hugging Face: differences are query - key, axis 0 (height) is the slower one. Positions have two axes;
// those of one window are grid(h, w). Attention across windows is masked or split by the caller.
// Good at: neighbourhoods in images. Fails: the table ends with the window; Swin resizes it for another one.
#include <limits>

#include "schemes/registry.h"
#include "schemes/weights.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    {.name = "window", .kind = Kind::kInteger, .sentence = "Height h of the window in patches.", .min = 1, .max = 512,
     .required = true, .shown = 7, .shown_min = 1, .shown_max = 16},
    {.name = "windowWidth", .kind = Kind::kInteger, .sentence = "Width w of the window.", .fallback_param = "window",
     .min = 1, .max = 512},
    {.name = "heads", .kind = Kind::kInteger, .sentence = "Number of attention heads.", .min = 1, .max = 1024,
     .required = true, .shown = 3, .shown_min = 1, .shown_max = 16},
    {.name = "table", .kind = Kind::kTable, .sentence = "Number of each offset and head.",
     .shape = "[(2 window - 1) (2 windowWidth - 1), heads]", .differentiable = true},
    {.name = "seed", .kind = Kind::kInteger,
     .sentence = "Seed of a table that is not given: normal numbers of deviation 0.02.", .fallback = 0, .min = 0,
     .max = 9007199254740991.0},
};

constexpr Claim kClaims[] = {{Law::kShiftInvariant}};

class Swin final : public Bias {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto swin = std::make_unique<Swin>();
    swin->heads_ = spec.integer("heads");
    swin->reach_[0] = spec.integer("window") - 1;
    swin->reach_[1] = spec.integer("windowWidth") - 1;
    const auto rows = static_cast<std::size_t>((2 * swin->reach_[0] + 1) * swin->columns());
    Status status =
        swin->table_.take(spec, "table", {rows, static_cast<std::size_t>(swin->heads_)}, false, 0, 0.02);
    if (status.ok()) scheme = std::move(swin);
    return status;
  }

  int heads() const override { return heads_; }
  int axes() const override { return 2; }
  bool whole_offsets() const override { return true; }
  double reach(int axis) const override { return reach_[axis]; }

  // b (keys, kLanes)
  void fill(const Tile& tile, float* b) const override {
    const float* table = table_.data + tile.head;
    for (int j = 0; j < tile.keys; ++j) {
      for (int l = 0; l < kLanes; ++l) {
        const int row = row_of(tile, j, l);
        b[j * kLanes + l] = row < 0 ? std::numeric_limits<float>::quiet_NaN() : table[row * heads_] + 0.0f;
      }
    }
  }
  bool index(const Tile& tile, bool, std::int32_t* rows) const override {
    for (int j = 0; j < tile.keys; ++j) {
      for (int l = 0; l < kLanes; ++l) rows[j * kLanes + l] = row_of(tile, j, l);
    }
    return true;
  }

 private:
  int columns() const { return 2 * reach_[1] + 1; }
  // -1 beyond the window, which callers refuse before.
  int row_of(const Tile& tile, int j, int l) const {
    const double y = reach_[0] - tile.offset(j, l, 0), x = reach_[1] - tile.offset(j, l, 1);
    if (!(y >= 0 && x >= 0 && y <= 2 * reach_[0] && x <= 2 * reach_[1])) return -1;
    return static_cast<int>(y) * columns() + static_cast<int>(x);
  }

  int heads_ = 0;
  int reach_[2] = {0, 0};
  Weights table_;
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
