// T5: a learned number per bucket of offsets, buckets widening with distance.
//
//   b_h(i, j) = w[bucket(j - i), h]
//   of B' = B / 2 buckets a side (B where not bidirectional), E = B' / 2 hold one distance each; distance n >= E is in
//   bucket E + floor(log(n / E) / log(M / E) (B' - E)), at most B' - 1, for M = maxDistance
//
// Raffel et al. 2020, "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer", section 2.1.
// Conventions:
//   buckets    as in Mesh TensorFlow and Hugging Face, which agree: keys ahead come after the B / 2 buckets of keys
//              behind; where not bidirectional, every key ahead shares bucket 0. The first query of a long text has its
//              keys in buckets 0, 17 .. 23, 24, 24 of 32.
//   logarithm  frameworks take it in float32; here the bounds are exact.
//   scale      T5 does not scale its scores: pass scale: 1.
//   cross      T5 gives its cross-attention no bias.
// Good at: near offsets one by one and far ones roughly, in both directions, with few numbers.
// Fails: beyond maxDistance all keys of a side look alike.
// Example: t5({ heads: 8 }) with scale: 1
// Picture: positions=28
#include <limits>

#include "schemes/bias/offset.h"
#include "schemes/offsets.h"
#include "schemes/params.h"
#include "schemes/registry.h"
#include "schemes/weights.h"

namespace posenc {

namespace {

constexpr Param kParams[] = {
    kHeads,
    {.name = "buckets",
     .kind = Kind::kInteger,
     .sentence = "Number of buckets of offsets.",
     .fallback = 32,
     .min = 4,
     .max = 65536,
     .shown_min = 8,
     .shown_max = 64,
     .shown_step = 2},
    {.name = "maxDistance",
     .kind = Kind::kInteger,
     .sentence = "Distance from which on all keys of a side share the last bucket.",
     .fallback = 128,
     .min = 2,
     .max = 1073741824,
     .shown_min = 33,
     .shown_max = 512},
    {.name = "bidirectional",
     .kind = Kind::kFlag,
     .sentence = "Half of the buckets for keys ahead; false: one for all.",
     .fallback = 1},
    {.name = "weights",
     .kind = Kind::kTable,
     .sentence = "Number of each bucket and head.",
     .shape = "[buckets, heads]",
     .differentiable = true},
    seed_param("Seed of weights that are not given: normal numbers of deviation 1."),
};

constexpr Claim kClaims[] = {{Law::kShiftInvariant}, {Law::kBounded}, {Law::kExtrapolates}};

class T5 final : public OffsetBias {
 public:
  static Status make(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
    auto t5 = std::make_unique<T5>();
    const int buckets = spec.integer("buckets");
    t5->heads_ = spec.integer("heads");
    t5->ahead_ = spec.flag("bidirectional") ? buckets / 2 : 0;
    const int side = t5->ahead_ != 0 ? t5->ahead_ : buckets;
    t5->single_ = side / 2;
    const double furthest = spec.number("maxDistance");
    if (!(furthest > t5->single_)) {
      return spec.refuse(Code::kOutOfRange, "maxDistance",
                         "above the " + to_text(t5->single_) + " distances that have a bucket of their own",
                         to_text(furthest));
    }
    const int wide = side - t5->single_;
    t5->bounds_ = log_steps(t5->single_, furthest, wide, wide - 1, false);
    Status status = t5->weights_.take(
        spec, "weights", {static_cast<std::size_t>(buckets), static_cast<std::size_t>(t5->heads_)}, false, 0, 1);
    if (status.ok()) scheme = std::move(t5);
    return status;
  }

  int heads() const override { return heads_; }
  void declare(Gradients& to) const override { weights_.declare(to); }
  bool whole_offsets() const override { return true; }
  bool index(const Tile& tile, bool raw, std::int32_t* rows) const override {
    if (raw) {
      index_offsets(tile, rows, raw_offset);
    } else {
      index_offsets(tile, rows, [this](double offset) { return bucket(offset); });
    }
    return true;
  }

 protected:
  void evaluate(int head, const double* offsets, std::size_t count, double* b) const override {
    // Offsets of a tile follow one another: the bucket of the last one holds until they leave it.
    bool ahead = false;
    double from = 1, to = 0, weight = 0;  // distances of that bucket
    for (std::size_t n = 0; n < count; ++n) {
      const double distance = offsets[n] < 0 ? -offsets[n] : offsets[n];
      if (!(from <= distance && distance < to) || ahead != (offsets[n] > 0)) {
        ahead = offsets[n] > 0;
        const std::int32_t found = bucket(offsets[n]);
        weight = weights_.data()[found * heads_ + head];
        const int wide = found - (ahead ? ahead_ : 0) - single_;
        from = distance, to = 0;
        if (wide >= 0) {
          from = wide == 0 ? single_ : bounds_[static_cast<std::size_t>(wide) - 1];
          const bool last = static_cast<std::size_t>(wide) == bounds_.size();
          to = last ? std::numeric_limits<double>::infinity() : bounds_[static_cast<std::size_t>(wide)];
        }
      }
      b[n] = weight;
    }
  }
  void derive(int head, double offset, double db, Gradients& to) const override {
    to["weights"][bucket(offset) * heads_ + head] += db;
  }

 private:
  std::int32_t bucket(double offset) const {
    if (offset > 0 && ahead_ == 0) return 0;
    const double distance = offset < 0 ? -offset : offset;
    return (offset > 0 ? ahead_ : 0) +
           (distance < single_ ? static_cast<int>(distance) : single_ + count_up_to(bounds_, distance));
  }

  int heads_ = 0, ahead_ = 0, single_ = 0;  // ahead_: first bucket of keys ahead; single_: buckets of one distance
  std::vector<double> bounds_;              // first distance of each bucket after single_
  Weights weights_;
};

}  // namespace

constinit const Descriptor schemes::bias_t5 = {
    .slot = Slot::kBias,
    .name = "t5",
    .title = "T5 relative bias",
    .summary = "A learned number per bucket of offsets: fine nearby, coarse far away, flat beyond the last bucket.",
    .formula = R"(b_h(i, j) = w_{\operatorname{bucket}(j - i),\,h})",
    .reference = "Raffel et al. 2020, Exploring the Limits of Transfer Learning, section 2.1",
    .params = kParams,
    .claims = kClaims,
    .make = T5::make,
};

}  // namespace posenc
