#include "attention/attention.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "attention/buffer.h"
#include "attention/operands.h"
#include "attention/places.h"
#include "kernels/mask_tile.h"
#include "kernels/one_query.h"
#include "kernels/scan.h"
#include "kernels/tile_kernels.h"
#include "simd/math.h"

namespace posenc {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::size_t kBlock = kKeyBlock, kQueries = kLanes;
// Queries whose running state is held at once: a block of keys is read for all of them while it is near. Does not show
// in results.
constexpr std::size_t kChunk = 16;
// Content scores whose bound stays below this, with added terms whose bound does, cannot overflow: none is looked at.
constexpr double kSafe = 1e38;

std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }
double real(std::size_t n) { return static_cast<double>(n); }

// What is kept of a block of keys beside its packed rows.
struct Keys : KeyBlock {
  bool unit_step = false;
  double origin = 0;    // for local() rotations: the middle of the block
  float magnitude = 0;  // no rotated element is larger
};

// A block of queries on its way through the keys.
struct Group : QueryBlock {
  bool unit_step = false;
  float magnitude = 0;
  float m[kLanes], l[kLanes];
  float* q = nullptr;           // (d, 8) rotated, scaled
  float* turned = nullptr;      // (d, 8) q without the powers of the last scheme, or null
  float* raw = nullptr;         // (d, 8)
  float* o = nullptr;           // (dv rounded up to 4, 8)
  float* state = nullptr;       // of every relate scheme, one after another
  double* positions = nullptr;  // (axes, 8)
};

class Run {
 public:
  Run(const AttentionCall& call, const Operands& operands) : call_(call), operands_(operands) {}

  Status run() {
    if (!allocate()) {
      return refuse(Code::kOutOfMemory, "attention", "q", "small enough for the memory at hand",
                    to_text(real(call_.queries)) + " queries and " + to_text(real(call_.keys)) + " keys");
    }
    describe_positions();
    clear_absent_terms();
    const std::size_t group = call_.heads / call_.kv_heads;
    for (std::size_t b = 0; b < call_.batch; ++b) {
      begin_batch(b);
      for (std::size_t h = 0; h < call_.heads; ++h) {
        if (h % group == 0) pack_values_of(b, h / group);
        if (h % group == 0 || keys_differ_by_head_) {
          if (Status status = pack_keys(b, h / group, h); !status.ok()) return status;
        }
        if (Status status = run_head(b, h, h / group); !status.ok()) return status;
      }
    }
    if (!operands_.inputs_finite) make_results_plain();
    return ok();
  }

 private:
  const AttentionCall& call_;
  const Operands operands_;

  std::size_t d_ = 0, dv_ = 0, channels_ = 0;  // channels_: dv rounded up to a whole panel
  std::size_t blocks_ = 0;
  int axes_ = 1;
  float scale_ = 1, value_scale_ = 1, value_unscale_ = 1;
  bool local_ = false, keys_differ_by_head_ = false, descending_ = false;
  bool powers_apart_ = false;  // of local rotations the last alone is, and it has powers: queries are turned once
  bool full_ = false;          // the trace wants every cell, masked or not
  bool alone_ = false;         // one query: keys and values are read where they lie, since packing takes as long
  Status fault_;

  Places places_;
  Buffer<double> axes_block_, group_positions_;
  Buffer<Keys> keys_;
  Buffer<Group> groups_;
  Buffer<float> key_panels_, value_panels_, raw_panels_, rotated_, query_lanes_, turned_lanes_, raw_lanes_, outputs_;
  Buffer<float> s_, b_, extra_, r_, visible_, unrotated_, scaled_, relation_output_;
  Buffer<float> query_states_, key_states_, mask_tile_;
  Buffer<std::uint8_t> lanes_;
  std::size_t mask_steps_[4] = {};  // from one entry of the mask to the next along an axis; 0 where it is broadcast

  bool traced() const {
    const Trace& t = call_.trace;
    return t.content || t.unrotated || t.relate || t.bias || t.scores || t.masked || t.capped;
  }

  bool allocate() {
    d_ = call_.width, dv_ = call_.value_width, channels_ = round_up(dv_, 4);
    blocks_ = (call_.keys + kBlock - 1) / kBlock;
    axes_ = operands_.axes;
    scale_ = static_cast<float>(call_.scale);
    full_ = traced();
    for (const Rotate* scheme : call_.rotate) {
      local_ = local_ || scheme->local();
      keys_differ_by_head_ = keys_differ_by_head_ || scheme->heads() != 0;
    }
    powers_apart_ = local_ && call_.rotate.back()->local() && call_.rotate.back()->powers_are_apart();
    for (const Rotate* scheme : call_.rotate.first(local_ ? call_.rotate.size() - 1 : 0)) {
      powers_apart_ = powers_apart_ && !scheme->local();
    }
    // Unnormalised sums of values may pass float32 where the means do not: values are taken smaller by a power of two.
    if (operands_.values_finite) {
      while (static_cast<double>(operands_.value_magnitude) * value_scale_ * real(call_.keys) > kSafe) {
        value_scale_ *= 0.5f, value_unscale_ *= 2.0f;
      }
    }

    alone_ = call_.queries == 1 && d_ % 4 == 0 && dv_ % 16 == 0 && call_.rotate.empty() && call_.relate.empty() &&
             !full_ && operands_.values_finite && value_scale_ == 1;

    const double tk = real(alone_ ? 0 : call_.keys), d = real(d_), channels = real(channels_);
    const double chunk = real(kChunk), lanes = real(kQueries), tile = real(kBlock * kQueries);
    bool fits = keys_.allocate(real(blocks_)) && groups_.allocate(chunk) && lanes_.allocate(real(kBlock));
    fits = fits && key_panels_.allocate((tk + 4) * d) && value_panels_.allocate(tk * channels);
    fits = fits && query_lanes_.allocate(chunk * lanes * d) && outputs_.allocate(chunk * lanes * channels);
    fits = fits && group_positions_.allocate(chunk * lanes * axes_);
    fits = fits && s_.allocate(tile);
    if (!call_.bias.empty()) fits = fits && b_.allocate(tile);
    if (call_.bias.size() > 1 || !call_.relate.empty()) fits = fits && extra_.allocate(tile);
    if (call_.mask.added != nullptr) fits = fits && mask_tile_.allocate(tile);
    for (std::size_t axis = 4, step = 1; axis-- != 0; step *= call_.mask.shape[axis]) {
      mask_steps_[axis] = call_.mask.shape[axis] == 1 ? 0 : step;
    }
    const bool rotates = !call_.rotate.empty();
    if (rotates) fits = fits && rotated_.allocate(real(kBlock) * d);
    if (powers_apart_) fits = fits && turned_lanes_.allocate(chunk * lanes * d);
    if (rotates && axes_ > 1) fits = fits && axes_block_.allocate(real(kBlock) * axes_);
    if (!call_.relate.empty() || call_.trace.unrotated) fits = fits && raw_lanes_.allocate(chunk * lanes * d);
    if (call_.trace.unrotated) {
      fits = fits && raw_panels_.allocate(real(kBlock) * d) && unrotated_.allocate(tile) && scaled_.allocate(lanes * d);
    }
    if (!call_.relate.empty()) {
      double query_state = 0, key_state = 0;
      for (const Relate* scheme : call_.relate) {
        query_state += real(scheme->query_state_size());
        key_state += real(scheme->key_state_size(call_.keys));
        descending_ = descending_ || scheme->descending();
      }
      fits = fits && r_.allocate(tile) && visible_.allocate(tile) && relation_output_.allocate(lanes * channels);
      fits = fits && query_states_.allocate(chunk * query_state) && key_states_.allocate(key_state);
    }
    return fits && places_.make(call_, axes_);
  }

  void describe_positions() {
    for (std::size_t n = 0; n < blocks_; ++n) {
      Keys& block = keys_[n];
      block = Keys{};
      block.first = n * kBlock;
      block.count = call_.keys - block.first < kBlock ? call_.keys - block.first : kBlock;
      const double* positions = places_.keys + block.first;
      block.unit_step = axes_ == 1 && unit_steps(positions, block.count);
      double least = positions[0], largest = positions[0];
      for (std::size_t j = 1; local_ && j < block.count; ++j) {
        least = positions[j] < least ? positions[j] : least;
        largest = largest < positions[j] ? positions[j] : largest;
      }
      block.origin = local_ ? least + (largest - least) * 0.5 : 0;
    }
  }

  void begin_batch(std::size_t b) {
    places_.enter_batch(call_, b);
    for (std::size_t n = 0; n < blocks_; ++n) places_.visibility.describe(keys_[n]);
  }

  const float* keys_of(std::size_t b, std::size_t kv_head) const {
    return call_.k + (b * call_.kv_heads + kv_head) * call_.keys * d_;
  }

  const float* values_of(std::size_t b, std::size_t kv_head) const {
    return call_.v + (b * call_.kv_heads + kv_head) * call_.keys * dv_;
  }

  // x (rows, d) -> rotated_ (rows, d); rows <= kBlock, tokens first .. first + rows - 1 of a side. Also their largest
  // magnitude, Inf or NaN where one is.
  Status rotate_rows(const RotateCall& rotation, std::size_t first, std::size_t rows, const float* x,
                     float& magnitude) {
    const bool query = rotation.side == Side::kQuery;
    const double* all = query ? places_.queries : places_.keys;
    const std::size_t tokens = query ? call_.queries : call_.keys;
    Positions positions{all + first, rows, 1};
    if (axes_ > 1) {
      for (int a = 0; a < axes_; ++a) {
        const std::size_t axis = static_cast<std::size_t>(a);
        std::memcpy(axes_block_.get() + axis * rows, all + axis * tokens + first, rows * sizeof(double));
      }
      positions.data = axes_block_.get();
    }
    for (const Rotate* scheme : call_.rotate) {
      positions.axes = scheme->axes();
      if (Status status = scheme->apply(rotation, positions, x, d_, rotated_.get(), d_); !status.ok()) return status;
      x = rotated_.get();
    }
    magnitude = scan_numbers(x, rows * d_).magnitude;
    return ok();
  }

  Status pack_keys(std::size_t b, std::size_t kv_head, std::size_t head) {
    const float* k = keys_of(b, kv_head);
    RotateCall rotation;
    rotation.side = Side::kKey;
    const std::size_t group = call_.heads / call_.kv_heads;
    rotation.head = keys_differ_by_head_ ? scheme_head(call_, head)
                                         : static_cast<int>(call_.first_head / group + kv_head);
    rotation.length = places_.length;
    for (std::size_t n = 0; n < blocks_; ++n) {
      Keys& block = keys_[n];
      block.magnitude = operands_.key_magnitude;
      if (alone_) continue;
      const float* rows = k + block.first * d_;
      if (!call_.rotate.empty()) {
        rotation.origin = block.origin;
        if (Status status = rotate_rows(rotation, block.first, block.count, rows, block.magnitude); !status.ok()) {
          return status;
        }
        rows = rotated_.get();
      }
      pack_panels(rows, d_, block.count, d_, key_panels_.get() + block.first * d_);
    }
    return ok();
  }

  void pack_values_of(std::size_t b, std::size_t kv_head) {
    if (alone_) return;
    const float* v = values_of(b, kv_head);
    for (std::size_t n = 0; n < blocks_; ++n) {
      const Keys& block = keys_[n];
      pack_values(v + block.first * dv_, dv_, block.count, dv_, value_scale_, block.count,
                  value_panels_.get() + block.first * channels_);
    }
  }

  // q (count, d), count <= kBlock: the queries of `groups` and of those after it.
  Status pack_queries(const float* q, std::size_t head, double origin, Group* groups, std::size_t count) {
    float magnitude = operands_.query_magnitude;
    if (!call_.rotate.empty()) {
      RotateCall rotation;
      rotation.head = scheme_head(call_, head);
      rotation.length = places_.length;
      rotation.origin = origin;
      rotation.powers_apart = powers_apart_;
      if (Status status = rotate_rows(rotation, groups->first, count, q, magnitude); !status.ok()) return status;
      q = rotated_.get();
    }
    for (; count != 0; ++groups) {
      pack_lanes(q, d_, groups->live, d_, scale_, groups->turned == nullptr ? groups->q : groups->turned);
      groups->magnitude = magnitude * (scale_ < 0 ? -scale_ : scale_);
      q += kQueries * d_;
      count -= static_cast<std::size_t>(groups->live);
    }
    return ok();
  }

  Tile tile_of(const Group& group, std::size_t head) const {
    Tile tile;
    tile.head = scheme_head(call_, head);
    tile.queries = group.live;
    tile.first_query = group.first;
    tile.query_positions = group.positions;
    tile.query_axes = tile.key_axes = axes_;
    tile.key_stride = call_.keys;
    return tile;
  }

  // Rows first .. last - 1 of a block of keys.
  void show_keys(Tile& tile, const Group& group, const Keys& block, std::size_t first, std::size_t last) const {
    tile.keys = static_cast<int>(last - first);
    tile.first_key = block.first + first;
    tile.key_positions = places_.keys + tile.first_key;
    tile.unit_step = block.unit_step && group.unit_step;
    tile.unit_offset = tile.key_positions[0] - group.positions[0];
  }

  void begin_group(Group& group, std::size_t slot, std::size_t first, std::size_t head, const float* q) {
    group = Group{};
    group.first = first;
    group.live = static_cast<int>(call_.queries - first < kQueries ? call_.queries - first : kQueries);
    places_.visibility.describe(group);
    group.q = query_lanes_.get() + slot * kQueries * d_;
    if (powers_apart_) group.turned = turned_lanes_.get() + slot * kQueries * d_;
    group.o = outputs_.get() + slot * kQueries * channels_;
    group.positions = group_positions_.get() + slot * kQueries * static_cast<std::size_t>(axes_);
    for (int a = 0; a < axes_; ++a) {
      const double* axis = places_.queries + static_cast<std::size_t>(a) * call_.queries;
      for (int l = 0; l < kLanes; ++l) {
        group.positions[a * kLanes + l] = axis[first + static_cast<std::size_t>(l < group.live ? l : group.live - 1)];
      }
    }
    group.unit_step = axes_ == 1 && unit_steps(group.positions, static_cast<std::size_t>(group.live));
    for (int l = 0; l < kLanes; ++l) group.m[l] = -kInfinity, group.l[l] = 0;
    for (std::size_t i = 0; i < channels_ * kQueries; i += 4) simd::store(group.o + i, simd::splat(0.0f));
    if (raw_lanes_.get() != nullptr) {
      group.raw = raw_lanes_.get() + slot * kQueries * d_;
      pack_lanes(q, d_, group.live, d_, 1.0f, group.raw);
    }
    if (call_.relate.empty()) return;
    std::size_t size = 0;
    for (const Relate* scheme : call_.relate) size += scheme->query_state_size();
    group.state = query_states_.get() + slot * size;
    if (size != 0) std::memset(group.state, 0, size * sizeof(float));
    RelateTile tile;
    static_cast<Tile&>(tile) = tile_of(group, head);
    tile.q = group.raw, tile.d = d_, tile.scale = scale_;
    float* state = group.state;
    for (const Relate* scheme : call_.relate) {
      scheme->begin(tile, state);
      state += scheme->query_state_size();
    }
  }

  Status run_head(std::size_t b, std::size_t head, std::size_t kv_head) {
    float* key_state = key_states_.get();
    const Positions all_keys{places_.keys, call_.keys, axes_};
    for (const Relate* scheme : call_.relate) {
      scheme->prepare_keys(scheme_head(call_, head), keys_of(b, kv_head), call_.keys, d_, all_keys, key_state);
      key_state += scheme->key_state_size(call_.keys);
    }
    const std::size_t row = (b * call_.heads + head) * call_.queries;
    for (std::size_t first = 0; first < call_.queries; first += kChunk * kQueries) {
      const std::size_t left = call_.queries - first, count = left < kChunk * kQueries ? left : kChunk * kQueries;
      const std::size_t groups = (count + kQueries - 1) / kQueries;
      const float* q = call_.q + (row + first) * d_;
      for (std::size_t g = 0; g < groups; ++g) {
        begin_group(groups_[g], g, first + g * kQueries, head, q + g * kQueries * d_);
      }
      if (!local_ || powers_apart_) {
        if (Status status = pack_queries(q, head, 0, groups_.get(), count); !status.ok()) return status;
      }
      for (std::size_t n = 0; n < blocks_; ++n) {
        const Keys& block = keys_[descending_ ? blocks_ - 1 - n : n];
        for (std::size_t g = 0; g < groups; ++g) {
          if (!visit(groups_[g], block, b, head, kv_head)) return std::move(fault_);
        }
      }
      for (std::size_t g = 0; g < groups; ++g) {
        if (!finish_group(groups_[g], row, head)) return std::move(fault_);
      }
    }
    return ok();
  }

  // (rows, 8) of a tile -> the (B, H, Tq, Tk) matrix, or nothing where it is not wanted.
  void write(float* matrix, const Group& group, const Keys& block, std::size_t matrix_row, std::size_t first,
             std::size_t last, const float* tile) const {
    if (matrix == nullptr || first >= last) return;
    unpack_lanes(tile + first * kQueries, last - first, group.live,
                 matrix + (matrix_row + group.first) * call_.keys + block.first + first, call_.keys);
  }
  void write_unseen(float* matrix, const Group& group, const Keys& block, std::size_t matrix_row, std::size_t first,
                    std::size_t last) const {
    if (matrix == nullptr) return;
    for (int l = 0; l < group.live; ++l) {
      float* row = matrix + (matrix_row + group.first + static_cast<std::size_t>(l)) * call_.keys + block.first;
      for (std::size_t j = first; j < last; ++j) row[j] = -kInfinity;
    }
  }

  bool may_overflow(const Group& group, const Keys& block) const {
    return !(static_cast<double>(group.magnitude) * block.magnitude * real(d_) < kSafe);
  }

  // Keeps the first fault.
  [[gnu::noinline]] bool passes(Status&& status) {
    if (status.ok()) return true;
    fault_ = std::move(status);
    return false;
  }

  // One block of queries meets one block of keys. False where fault_ says why not: a Status a tile costs as much as the
  // checks it reports.
  bool visit(Group& group, const Keys& block, std::size_t b, std::size_t head, std::size_t kv_head) {
    const std::size_t matrix_row = (b * call_.heads + head) * call_.queries;
    Visibility::Extent extent = places_.visibility.extent(group, block);
    std::uint8_t* lanes = lanes_.get();
    std::size_t first = 0, last = block.count;
    const bool whole = full_ || !call_.relate.empty();  // rows that nobody sees are computed too
    if (extent == Visibility::Extent::kAll) {
      if (whole || !operands_.values_finite || call_.mask.given()) std::memset(lanes, 0xff, block.count);
    } else if (extent == Visibility::Extent::kSome || full_) {
      places_.visibility.rows(group, block, lanes, first, last);
    } else {
      last = 0;
    }
    if (call_.mask.given() && (first < last || full_)) extent = meet_mask(group, block, b, head, whole, first, last);
    if (first >= last && !full_) {
      write_unseen(call_.weights, group, block, matrix_row, 0, block.count);
      return true;
    }
    first = whole ? 0 : first / 4 * 4;
    last = whole ? block.count : last;
    const std::size_t rows = last - first;
    float* const s = s_.get();
    float* const s0 = s + first * kQueries;

    if (powers_apart_) {
      RotateCall rotation;
      rotation.head = scheme_head(call_, head);
      rotation.length = places_.length;
      rotation.origin = block.origin;
      const Rotate& scheme = *call_.rotate.back();
      if (!passes(scheme.apply_powers(rotation, group.positions, group.turned, group.q))) return false;
      group.magnitude = scan_numbers(group.q, d_ * kQueries).magnitude;
    } else if (local_) {
      const std::size_t live = static_cast<std::size_t>(group.live);
      const float* q = call_.q + (matrix_row + group.first) * d_;
      if (!passes(pack_queries(q, head, block.origin, &group, live))) return false;
    }
    float largest[kLanes], alpha[kLanes];
    if (alone_) {
      score_rows(keys_of(b, kv_head) + (block.first + first) * d_, rows, d_, group.q, s0);
    } else {
      kTileKernels.score(key_panels_.get() + (block.first + first) * d_, group.q, d_, (rows + 3) / 4, s0, largest);
    }
    bool checked = may_overflow(group, block);
    if (full_) {
      write(call_.trace.content, group, block, matrix_row, first, last, s);
      write_unrotated(group, block, b, kv_head, matrix_row);
    }

    Tile tile;
    if (!call_.bias.empty() || !call_.relate.empty()) {
      tile = tile_of(group, head);
      show_keys(tile, group, block, first, last);
    }
    RelateTile relation;
    if (!call_.relate.empty()) {
      checked = true;
      static_cast<Tile&>(relation) = tile;
      relation.q = group.raw, relation.d = d_, relation.scale = scale_;
      relation.k = keys_of(b, kv_head) + block.first * d_;
      relation.content = s, relation.visible = visible_.get();
      add_relations(relation, group, lanes);
      write(call_.trace.relate, group, block, matrix_row, first, last, r_.get());
    }

    const float* bias = nullptr;
    double added_bound = static_cast<double>(operands_.mask_magnitude);  // no bias with its mask is larger
    if (!call_.bias.empty()) {
      float* const b0 = b_.get() + first * kQueries;
      bool added = false;
      for (const Bias* scheme : call_.bias) {
        float* const to = added ? extra_.get() : b0;
        scheme->fill(tile, to);
        for (std::size_t i = 0; added && i < rows * kQueries; ++i) b0[i] += to[i];
        added = true;
      }
      bias = b0;
      if (operands_.inputs_finite) {
        const Scan terms = scan_numbers(b0, rows * kQueries);
        added_bound += terms.finite ? static_cast<double>(terms.magnitude) : static_cast<double>(kInfinity);
      }
    }
    if (call_.mask.added != nullptr) {
      float* const m0 = mask_tile_.get() + first * kQueries;
      for (std::size_t i = 0; bias != nullptr && i < rows * kQueries; ++i) m0[i] = bias[i] + m0[i];
      bias = m0;
    }
    if (bias != nullptr) write(call_.trace.bias, group, block, matrix_row, first, last, bias);  // traced: first is 0

    // What an infinite gate of a relation comes to is no fault of the pair.
    const bool refuses = operands_.inputs_finite || call_.relate.empty();
    if (checked && refuses) {
      if (!passes(check_scores(group, block, b, head, extent, first, last, nullptr))) return false;
    }
    const bool as_multiplied = !alone_ && bias == nullptr && call_.relate.empty() && !(call_.softcap > 0) &&
                               extent == Visibility::Extent::kAll && rows % 4 == 0;
    if (call_.softcap > 0) cap_scores(static_cast<float>(call_.softcap), rows, s0);
    write(call_.trace.capped, group, block, matrix_row, first, last, s);
    if (bias != nullptr && refuses && (checked || !(added_bound < kSafe)) &&
        !sums_are_finite(s0, bias, rows * kQueries)) {
      if (!passes(check_scores(group, block, b, head, extent, first, last, bias))) return false;
    }
    if (extent != Visibility::Extent::kAll) hide_scores(lanes + first, rows, s0);

    if (!as_multiplied) kTileKernels.find_largest(s0, bias, rows, largest);
    if (full_) {
      write(call_.trace.scores, group, block, matrix_row, first, last, s);
      write_masked(group, block, matrix_row, lanes);
    }
    if (call_.weights != nullptr) {
      write_unseen(call_.weights, group, block, matrix_row, 0, first);
      write(call_.weights, group, block, matrix_row, first, last, s);
      write_unseen(call_.weights, group, block, matrix_row, last, block.count);
    }

    kTileKernels.softmax(s0, rows, largest, group.m, group.l, alpha);
    if (!call_.relate.empty()) accumulate_relations(relation, group, alpha, s);
    if (alone_) {
      value_rows(values_of(b, kv_head) + (block.first + first) * dv_, rows, dv_, s0, alpha[0], group.o);
      return true;
    }
    const float* values = value_panels_.get() + block.first * channels_ + 4 * first;
    if (operands_.values_finite) {
      kTileKernels.value(values, block.count, s0, rows, channels_ / 4, alpha, group.o);
    } else {
      value_tile_guarded(values, block.count, s0, lanes + first, rows, channels_ / 4, alpha, group.o);
    }
    return true;
  }

  // s (keys, 8) content -> content + relations; r_ gets the sum of the relations.
  void add_relations(RelateTile& tile, Group& group, const std::uint8_t* lanes) {
    const std::size_t size = static_cast<std::size_t>(tile.keys) * kQueries;
    float* const s = s_.get();
    for (std::size_t j = 0, i = 0; i < size; ++j) {
      for (std::size_t l = 0; l < kQueries; ++l, ++i) {
        const bool seen = lanes[j] >> l & 1;
        visible_[i] = seen ? 1.0f : 0.0f;
        s[i] = seen ? s[i] : 0.0f;
      }
    }
    float* state = group.state;
    const float* key_state = key_states_.get();
    bool added = false;
    for (const Relate* scheme : call_.relate) {
      float* const to = added ? extra_.get() : r_.get();
      scheme->scores(tile, key_state, state, to);
      for (std::size_t i = 0; added && i < size; ++i) r_[i] += to[i];
      added = true;
      state += scheme->query_state_size();
      key_state += scheme->key_state_size(call_.keys);
    }
    for (std::size_t i = 0; i < size; ++i) s[i] += r_[i];
  }

  void accumulate_relations(const RelateTile& tile, Group& group, const float* alpha, const float* p) const {
    bool changed = false;
    for (int l = 0; l < kLanes; ++l) changed = changed || alpha[l] != 1.0f;
    float* state = group.state;
    for (const Relate* scheme : call_.relate) {
      if (scheme->value_width() != 0) {
        if (changed) scheme->rescale(alpha, state);
        scheme->accumulate(tile, p, state);
      }
      state += scheme->query_state_size();
    }
  }

  // Clears the lanes that the mask hides and fills mask_tile_; first .. last - 1 are then the rows that someone sees.
  Visibility::Extent meet_mask(const Group& group, const Keys& block, std::size_t b, std::size_t head, bool whole,
                               std::size_t& first, std::size_t& last) {
    const PairMask<float>& mask = call_.mask;
    const std::size_t* step = mask_steps_;
    const std::size_t at = b * step[0] + head * step[1] + group.first * step[2] + block.first * step[3];
    const MaskRows rows{step[2], step[3], group.live};
    std::uint8_t* lanes = lanes_.get();
    if (mask.seen != nullptr) hide_unseen(mask.seen + at, rows, block.count, lanes);
    if (mask.added != nullptr) {
      const bool sums = operands_.inputs_finite && !whole && !local_ && !may_overflow(group, block);
      hide_infinite(mask.added + at, rows, block.count, sums, lanes, mask_tile_.get());
    }
    first = block.count, last = 0;
    bool all = true;
    for (std::size_t j = 0; j < block.count; ++j) {
      all = all && lanes[j] == 0xff;
      if (lanes[j] == 0) continue;
      first = first < j ? first : j;
      last = j + 1;
    }
    return all ? Visibility::Extent::kAll : Visibility::Extent::kSome;
  }

  // Rows first .. last - 1 of s_, with bias (last - first, 8) or nothing added, are finite where they are seen and what
  // they were made of is.
  Status check_scores(const Group& group, const Keys& block, std::size_t b, std::size_t head,
                      Visibility::Extent extent, std::size_t first, std::size_t last, const float* bias) const {
    const std::size_t* step = mask_steps_;
    for (std::size_t j = first; j < last; ++j) {
      const unsigned seen = extent == Visibility::Extent::kAll ? 0xffu : lanes_[j];
      for (int l = 0; l < group.live; ++l) {
        const std::size_t at = j * kQueries + static_cast<std::size_t>(l);
        const float score = s_[at] + (bias == nullptr ? 0 : bias[at - first * kQueries]);
        if (!(seen >> l & 1) || score - score == 0) continue;
        const std::size_t query = group.first + static_cast<std::size_t>(l), key = block.first + j;
        float added = 0;
        if (bias != nullptr && call_.mask.added != nullptr) {
          added = call_.mask.added[b * step[0] + head * step[1] + query * step[2] + key * step[3]];
        }
        if (added == -kInfinity) continue;
        if (!operands_.inputs_finite) {
          const float* const q = call_.q + ((b * call_.heads + head) * call_.queries + query) * d_;
          const float* const k = keys_of(b, head / (call_.heads / call_.kv_heads)) + key * d_;
          if (added - added != 0 || !scan_numbers(q, d_).finite || !scan_numbers(k, d_).finite) continue;
        }
        const bool biased = bias != nullptr && !call_.bias.empty();
        const bool capped = bias != nullptr && call_.softcap > 0;  // no large term
        float relation = call_.relate.empty() || capped ? 0 : r_[at];
        const float content = s_[at] - relation;
        // In an infinite sum what is more than half of the largest number has its share.
        if (content - content != 0) relation *= 2;
        const char* const term = largest_term(content, relation, biased ? b_[at] : 0, added);
        return refuse(Code::kOutOfRange, "attention", term,
                      term[0] == 'q' ? "small enough for its scores with k to stay within float32"
                                     : "small enough for the scores to stay within float32",
                      "a score that overflows at head " + to_text(real(head)) + ", query " + to_text(real(query)) +
                          ", key " + to_text(real(key)));
      }
    }
    return ok();
  }

  void write_unrotated(const Group& group, const Keys& block, std::size_t b, std::size_t kv_head,
                       std::size_t matrix_row) const {
    if (call_.trace.unrotated == nullptr) return;
    pack_panels(keys_of(b, kv_head) + block.first * d_, d_, block.count, d_, raw_panels_.get());
    // Scaled before the product, as the rotated queries are.
    for (std::size_t i = 0; i < d_ * kQueries; ++i) scaled_[i] = group.raw[i] * scale_;
    float unread[kLanes];
    kTileKernels.score(raw_panels_.get(), scaled_.get(), d_, (block.count + 3) / 4, unrotated_.get(), unread);
    write(call_.trace.unrotated, group, block, matrix_row, 0, block.count, unrotated_.get());
  }

  void write_masked(const Group& group, const Keys& block, std::size_t matrix_row, const std::uint8_t* lanes) const {
    if (call_.trace.masked == nullptr) return;
    for (int l = 0; l < group.live; ++l) {
      const std::size_t row = matrix_row + group.first + static_cast<std::size_t>(l);
      std::uint8_t* to = call_.trace.masked + row * call_.keys + block.first;
      for (std::size_t j = 0; j < block.count; ++j) to[j] = lanes[j] >> l & 1 ? 0 : 1;
    }
  }

  // A key of that score for every query that sees any, without a value.
  void add_sink(Group& group, float sink) {
    float score[kLanes], alpha[kLanes];
    for (int l = 0; l < kLanes; ++l) score[l] = group.l[l] == 0 ? -kInfinity : sink;
    kTileKernels.softmax(score, 1, score, group.m, group.l, alpha);
    kTileKernels.value(nullptr, 0, score, 0, channels_ / 4, alpha, group.o);
    float* state = group.state;
    for (const Relate* scheme : call_.relate) {
      if (scheme->value_width() != 0) scheme->rescale(alpha, state);
      state += scheme->query_state_size();
    }
  }

  // False where fault_ says why not.
  bool finish_group(Group& group, std::size_t matrix_row, std::size_t head) {
    bool related = false;  // vectors of relations are in the output
    if (call_.sinks != nullptr) add_sink(group, call_.sinks[head]);
    const float* state = group.state;
    for (const Relate* scheme : call_.relate) {
      if (scheme->value_width() != 0) {
        related = true;
        // Apart, since the values may have been scaled.
        std::memset(relation_output_.get(), 0, channels_ * kQueries * sizeof(float));
        scheme->finish(scheme_head(call_, head), state, relation_output_.get());
        for (std::size_t i = 0; i < dv_ * kQueries; ++i) group.o[i] += relation_output_[i] * value_scale_;
      }
      state += scheme->query_state_size();
    }
    normalise_output(group.o, dv_, group.l, value_unscale_);
    if (related) {
      if (!passes(check_output(group, head))) return false;
    } else if (value_scale_ != 1) {  // a mean of values next to the largest float may round past it
      constexpr float kLargest = std::numeric_limits<float>::max();
      for (std::size_t i = 0; i < dv_ * kQueries; ++i) {
        group.o[i] = group.o[i] > kLargest ? kLargest : group.o[i] < -kLargest ? -kLargest : group.o[i];
      }
    }
    const std::size_t row = matrix_row + group.first;
    unpack_lanes(group.o, dv_, group.live, call_.out + row * dv_, dv_);
    for (int l = 0; l < group.live; ++l) {
      const std::size_t at = row + static_cast<std::size_t>(l);
      if (call_.lse != nullptr) {
        const double sum = group.l[l];
        call_.lse[at] = sum == 0 ? -kInfinity : static_cast<float>(group.m[l] + simd::log_double(sum));
      }
      if (call_.weights != nullptr)
        normalise_weights(call_.weights + at * call_.keys, call_.keys, group.m[l], group.l[l]);
    }
    return true;
  }

  Status check_output(const Group& group, std::size_t head) const {
    if (!operands_.inputs_finite || scan_numbers(group.o, dv_ * kQueries).finite) return ok();
    std::size_t at = 0;
    while (group.o[at] - group.o[at] == 0) ++at;
    return refuse(Code::kOutOfRange, "attention", "v",
                  "small enough, with the relations' vectors added, for its weighted sums to stay within float32",
                  "an output that overflows at head " + to_text(real(head)) + ", query " +
                      to_text(real(group.first + at % kQueries)) + ", channel " + to_text(real(at / kQueries)));
  }

  // The trace of a slot without schemes is zero.
  void clear_absent_terms() const {
    const std::size_t cells = call_.batch * call_.heads * call_.queries * call_.keys;
    if (call_.trace.relate && call_.relate.empty()) std::memset(call_.trace.relate, 0, cells * sizeof(float));
    if (call_.trace.bias && call_.bias.empty() && !call_.mask.added) {
      std::memset(call_.trace.bias, 0, cells * sizeof(float));
    }
  }

  void make_results_plain() const {
    const std::size_t rows = call_.batch * call_.heads * call_.queries;
    make_nan_plain(call_.out, rows * dv_);
    if (call_.lse != nullptr) make_nan_plain(call_.lse, rows);
    for (float* matrix : {call_.weights, call_.trace.content, call_.trace.unrotated, call_.trace.relate,
                          call_.trace.bias, call_.trace.scores, call_.trace.capped}) {
      if (matrix != nullptr) make_nan_plain(matrix, rows * call_.keys);
    }
  }
};

}  // namespace

Status attention(const AttentionCall& call) {
  Operands operands;
  if (Status status = check_operands(call, operands); !status.ok()) return status;
  return Run(call, operands).run();
}

}  // namespace posenc
