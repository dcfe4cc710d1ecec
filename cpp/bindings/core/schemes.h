// Schemes and calls of attention out of the blocks that JavaScript fills, for the parts that link schemes.
#pragma once

#include <cstdint>
#include <vector>

#include "attention/attention.h"
#include "bindings/blocks.h"
#include "core/shared.h"
#include "schemes/registry.h"

namespace posenc {

// The scheme of a spec block, and its descriptor.
Status make(double block, Shared<const Scheme>& scheme, const Descriptor** descriptor = nullptr);

// The schemes of one slot: kept alive by `owners`, seen as the slot's interface.
template <class Interface>
struct Schemes {
  std::vector<Shared<const Scheme>> owners;
  std::vector<const Interface*> list;

  Status read(double block) {
    if (block == 0) return ok();
    const double* cells = at<const double>(block);
    for (std::size_t n = 0; n < count(cells[0]); ++n) {
      if (Status status = make(cells[1 + n], owners.emplace_back()); !status.ok()) return status;
      list.push_back(static_cast<const Interface*>(owners.back().get()));
    }
    return ok();
  }
};

struct Slots {
  Schemes<Rotate> rotate;
  Schemes<Bias> bias;
  Schemes<Relate> relate;
};

// What a block asks for that has the fields of attention_fields.def; the slots must outlive the call.
template <class Block>
Status read_options(const Block& b, Slots& slots, AttentionOptions& call) {
  if (Status status = slots.rotate.read(b.rotate); !status.ok()) return status;
  if (Status status = slots.bias.read(b.bias); !status.ok()) return status;
  if (Status status = slots.relate.read(b.relate); !status.ok()) return status;
  call.batch = count(b.batch);
  call.heads = count(b.heads);
  call.kv_heads = count(b.kv_heads);
  call.queries = count(b.queries);
  call.keys = count(b.keys);
  call.width = count(b.width);
  call.value_width = count(b.value_width);
  call.first_head = count(b.first_head);
  call.all_heads = count(b.all_heads);
  call.rotate = slots.rotate.list;
  call.bias = slots.bias.list;
  call.relate = slots.relate.list;
  call.query_positions = positions(b.query_positions, b.query_axes, b.queries);
  call.key_positions = positions(b.key_positions, b.key_axes, b.keys);
  call.query_order = at<const double>(b.query_order);
  call.key_order = at<const double>(b.key_order);
  call.length = b.length;
  call.scale = b.scale == b.scale ? b.scale : default_scale(call.width);
  call.causal = flag(b.causal);
  call.window_left = b.window_left;
  call.window_right = b.window_right;
  call.prefix_length = b.prefix_length;
  call.key_mask = at<const std::uint8_t>(b.key_mask);
  call.key_mask_batched = flag(b.key_mask_batched);
  call.key_lengths = at<const double>(b.key_lengths);
  call.softcap = b.softcap;
  call.allow_non_finite = flag(b.allow_non_finite);
  return ok();
}

template <class Block, class Real>
Status read(const Block& b, Slots& slots, AttentionCallOf<Real>& call) {
  call.q = at<const Real>(b.q);
  call.k = at<const Real>(b.k);
  call.v = at<const Real>(b.v);
  call.mask = {.seen = at<const std::uint8_t>(b.mask_seen), .added = at<const Real>(b.mask_added),
               .shape = {count(b.mask_batch), count(b.mask_heads), count(b.mask_queries), count(b.mask_keys)}};
  call.sinks = at<const Real>(b.sinks);
  call.out = at<Real>(b.out);
  call.lse = at<Real>(b.lse);
  call.weights = at<Real>(b.weights);
  call.trace = {.content = at<Real>(b.trace_content), .unrotated = at<Real>(b.trace_unrotated),
                .relate = at<Real>(b.trace_relate), .bias = at<Real>(b.trace_bias),
                .scores = at<Real>(b.trace_scores), .masked = at<std::uint8_t>(b.trace_masked),
                .capped = at<Real>(b.trace_capped)};
  return read_options(b, slots, call);
}

}  // namespace posenc
