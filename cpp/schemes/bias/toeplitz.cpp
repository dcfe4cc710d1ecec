// Toeplitz: any bias of the offset, written out.
//
//   b_h(i, j) = values[h, (j - i) + n - 1],   |j - i| <= n - 1
//
// A table [heads, 2n - 1] over the offsets -(n - 1) .. n - 1: every translation-invariant bias of n tokens, so every
// other bias of the offset is one of these.
// Conventions:
//   offset  key - query; column 0 is the farthest key behind.
// Good at: whatever was measured or learned.
// Fails: the table ends; farther positions are refused.
// Example: toeplitz({ values: [[-1, 0, 1, 2, 3, 2, 0, -2, -3]] }) at 5, 5 tokens
// Picture: data positions=5
#include <limits>

#include "schemes/bias/offset.h"
#include "schemes/offsets.h"
#include "schemes/registry.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    {.name = "values",
     .kind = Kind::kTable,
     .sentence = "Bias of each head at the offsets -(n - 1) to n - 1.",
     .shape = "[heads, 2 n - 1]",
     .required = true,
     .differentiable = true},
};

constexpr Claim kClaims[] = {{Law::kShiftInvariant}};

class Toeplitz final : public OffsetBias {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    const Table& values = spec.table("values");
    if (values.rank != 2 || values.shape[0] == 0 || values.shape[0] > 65536 || values.shape[1] % 2 == 0) {
      return spec.refuse(Code::kShapeMismatch, "values", "of shape [heads, 2 n - 1]", shape_text(values));
    }
    auto toeplitz = std::make_unique<Toeplitz>();
    toeplitz->values_ = values;
    scheme = std::move(toeplitz);
    return ok();
  }

  int heads() const override { return static_cast<int>(values_.shape[0]); }
  void declare(Gradients& to) const override { to.add("values", 2, values_.shape); }
  bool whole_offsets() const override { return true; }
  double reach(int) const override { return static_cast<double>(values_.shape[1] / 2); }
  bool index(const Tile& tile, bool raw, std::int32_t* rows) const override {
    const double middle = raw ? 0 : reach(0);
    index_offsets(tile, rows, [middle](double offset) { return raw_offset(offset + middle); });
    return true;
  }

 protected:
  void evaluate(int head, const double* offsets, std::size_t count, double* b) const override {
    const double middle = reach(0);
    const float* values = values_.floats + static_cast<std::size_t>(head) * values_.shape[1];
    for (std::size_t n = 0; n < count; ++n) {
      const double at = offsets[n] + middle;
      // Beyond the table only in lanes that nobody reads.
      b[n] = at >= 0 && at <= 2 * middle ? values[static_cast<std::size_t>(at)] + 0.0
                                         : std::numeric_limits<double>::quiet_NaN();
    }
  }
  void derive(int head, double offset, double db, Gradients& to) const override {
    to["values"][static_cast<std::size_t>(head) * values_.shape[1] + static_cast<std::size_t>(offset + reach(0))] += db;
  }

 private:
  Table values_;
};

}  // namespace

constinit const Descriptor schemes::bias_toeplitz = {
    .slot = Slot::kBias,
    .name = "toeplitz",
    .title = "Toeplitz",
    .summary = "Any bias of the offset, given as a table: every other one up to some length is a case of it.",
    .formula = R"(b_h(i, j) = v_{h,\,j - i + n - 1})",
    .reference = "The general translation-invariant bias",
    .params = kParams,
    .claims = kClaims,
    .make = Toeplitz::make,
};

}  // namespace posenc
