// The calls of the core: schemes, their use alone, and attention.
#include <emscripten/emscripten.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/metrics.h"
#include "attention/attention.h"
#include "attention/multi_head.h"
#include "bindings/blocks.h"
#include "core/shared.h"
#include "core/status.h"
#include "kernels/normal.h"
#include "schemes/alone.h"
#include "schemes/frequency_report.h"
#include "schemes/registry.h"

namespace posenc {

namespace {

// A cell of a list or table: 0 where `false` was given, else a header of rank, three extents and the data's address.
Table table(const Param& param, double cell) {
  if (cell == 0) return Table::none();
  const double* header = at<const double>(cell);
  Table table;
  table.given = true;
  table.rank = static_cast<int>(header[0]);
  for (int axis = 0; axis < 3; ++axis) table.shape[axis] = count(header[1 + axis]);
  if (param.kind == Kind::kList) {
    table.reals = at<const double>(header[4]);
  } else {
    table.floats = at<const float>(header[4]);
  }
  return table;
}

// Schemes made of number cells alone are kept by their cells: frequencies to 150 bits cost more than a small call.
struct Kept {
  std::vector<double> cells;
  Shared<const Scheme> scheme;
};
constexpr std::size_t kKept = 16;
std::vector<Kept> kept;
std::size_t oldest = 0;

Status make(double block, Shared<const Scheme>& scheme, const Descriptor** descriptor = nullptr) {
  const double* cells = at<const double>(block);
  const Descriptor& found = *catalogue()[count(cells[0])];
  if (descriptor != nullptr) *descriptor = &found;
  Spec spec(found);
  bool plain = true;
  std::vector<double> key(cells, cells + 1 + found.params.size());
  for (std::size_t i = 0; i < found.params.size(); ++i) {
    const double cell = cells[1 + i];
    if (cell != cell) {
      key[1 + i] = -0x1p1000;  // absent, and equal to itself
      continue;
    }
    const Param& param = found.params[i];
    if (param.kind == Kind::kList || param.kind == Kind::kTable) {
      plain = plain && cell == 0;
      spec.set_table(i, table(param, cell));
    } else {
      spec.set_number(i, cell);
    }
  }
  for (const Kept& entry : kept) {
    if (!plain || entry.cells != key) continue;
    scheme = entry.scheme;
    return ok();
  }
  std::unique_ptr<Scheme> made;
  if (Status status = make_scheme(spec, made); !status.ok()) return status;
  scheme = Shared<const Scheme>(std::move(made));
  if (!plain) return ok();
  if (kept.size() < kKept) {
    kept.push_back({std::move(key), scheme});
  } else {
    kept[oldest] = {std::move(key), scheme};
    oldest = (oldest + 1) % kKept;
  }
  return ok();
}

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

}  // namespace

// ---------------------------------------------------------------- the calls

Status run(check_block& b) {
  Shared<const Scheme> scheme;
  Status status = make(b.scheme, scheme);
  if (!status.ok()) return status;
  b.heads = scheme->heads();
  b.axes = scheme->axes();
  b.width = scheme->width();
  return status;
}

Status run(encode_block& b) {
  Shared<const Scheme> scheme;
  if (Status status = make(b.scheme, scheme); !status.ok()) return status;
  const auto& embed = static_cast<const Embed&>(*scheme);
  const Positions places = positions(b.positions, b.axes, b.tokens);
  return flag(b.float64) ? encode(embed, places, b.length, at<double>(b.out))
                         : encode(embed, places, b.length, at<float>(b.out));
}

Status run(embed_block& b) {
  Shared<const Scheme> scheme;
  if (Status status = make(b.scheme, scheme); !status.ok()) return status;
  return embed({.scheme = static_cast<const Embed*>(scheme.get()),
                .positions = positions(b.positions, b.axes, b.tokens), .length = b.length,
                .batch = count(b.batch), .width = count(b.width), .x = at<const float>(b.x),
                .scale = b.scale, .alpha = b.alpha, .concat = flag(b.concat), .dropout = b.dropout,
                .seed = static_cast<std::uint64_t>(b.seed), .allow_non_finite = flag(b.allow_non_finite),
                .out = at<float>(b.out)});
}

Status run(rotate_block& b) {
  Schemes<Rotate> schemes;
  if (Status status = schemes.read(b.schemes); !status.ok()) return status;
  const RotateRows rows{.schemes = schemes.list, .positions = positions(b.positions, b.axes, b.tokens),
                        .side = flag(b.key_side) ? Side::kKey : Side::kQuery, .inverse = flag(b.inverse),
                        .length = b.length, .batch = count(b.batch), .width = count(b.width),
                        .allow_non_finite = flag(b.allow_non_finite)};
  return flag(b.float64) ? rotate(rows, at<const double>(b.x), at<double>(b.out))
                         : rotate(rows, at<const float>(b.x), at<float>(b.out));
}

Status run(bias_block& b) {
  Schemes<Bias> schemes;
  if (Status status = schemes.read(b.schemes); !status.ok()) return status;
  return bias_matrix(schemes.list, positions(b.query_positions, b.query_axes, b.queries),
                     positions(b.key_positions, b.key_axes, b.keys), at<const double>(b.heads), count(b.head_count),
                     at<float>(b.out));
}

Status run(relative_index_block& b) {
  Shared<const Scheme> scheme;
  const Descriptor* descriptor = nullptr;
  if (Status status = make(b.scheme, scheme, &descriptor); !status.ok()) return status;
  return table_rows(*scheme, descriptor->slot, positions(b.query_positions, b.query_axes, b.queries),
                    positions(b.key_positions, b.key_axes, b.keys), flag(b.raw), at<std::int32_t>(b.out));
}

Status run(frequencies_block& b) {
  Shared<const Scheme> scheme;
  if (Status status = make(b.scheme, scheme); !status.ok()) return status;
  FrequencyReport report;
  if (Status status = scheme->frequencies(b.length, report); !status.ok()) return status;
  say(to_json(report));
  return ok();
}

Status run(frequency_parts_block& b) {
  Shared<const Scheme> scheme;
  if (Status status = make(b.scheme, scheme); !status.ok()) return status;
  FrequencyReport report;
  if (Status status = scheme->frequencies(b.length, report); !status.ok()) return status;
  double* out = at<double>(b.out);
  for (std::size_t i = 0; i < report.inverse.size(); ++i) {
    *out++ = report.inverse[i];
    *out++ = report.rest[2 * i];
    *out++ = report.rest[2 * i + 1];
  }
  return ok();
}

namespace {

struct Slots {
  Schemes<Rotate> rotate;
  Schemes<Bias> bias;
  Schemes<Relate> relate;
};

// What a block asks for; the slots must outlive the call.
Status read(const attention_block& b, Slots& slots, AttentionCall& call) {
  if (Status status = slots.rotate.read(b.rotate); !status.ok()) return status;
  if (Status status = slots.bias.read(b.bias); !status.ok()) return status;
  if (Status status = slots.relate.read(b.relate); !status.ok()) return status;
  call.q = at<const float>(b.q);
  call.k = at<const float>(b.k);
  call.v = at<const float>(b.v);
  call.batch = count(b.batch);
  call.heads = count(b.heads);
  call.kv_heads = count(b.kv_heads);
  call.queries = count(b.queries);
  call.keys = count(b.keys);
  call.width = count(b.width);
  call.value_width = count(b.value_width);
  call.out = at<float>(b.out);
  call.lse = at<float>(b.lse);
  call.weights = at<float>(b.weights);
  call.trace = {.content = at<float>(b.trace_content), .unrotated = at<float>(b.trace_unrotated),
                .relate = at<float>(b.trace_relate), .bias = at<float>(b.trace_bias),
                .scores = at<float>(b.trace_scores), .masked = at<std::uint8_t>(b.trace_masked),
                .capped = at<float>(b.trace_capped)};
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
  call.mask = {.seen = at<const std::uint8_t>(b.mask_seen), .added = at<const float>(b.mask_added),
               .shape = {count(b.mask_batch), count(b.mask_heads), count(b.mask_queries), count(b.mask_keys)}};
  call.softcap = b.softcap;
  call.sinks = at<const float>(b.sinks);
  call.allow_non_finite = flag(b.allow_non_finite);
  return ok();
}

}  // namespace

Status run(attention_block& b) {
  Slots slots;
  AttentionCall call;
  if (Status status = read(b, slots, call); !status.ok()) return status;
  return attention(call);
}

Status run(multi_head_block& b) {
  Slots slots;
  MultiHeadCall call;
  if (Status status = read(*at<const attention_block>(b.attention), slots, call.attention); !status.ok()) return status;
  const auto projection = [](double weights, double bias) {
    return Projection{at<const float>(weights), at<const float>(bias)};
  };
  call.x = at<const float>(b.x);
  call.context = at<const float>(b.context);
  call.x_width = count(b.x_width);
  call.context_width = count(b.context_width);
  call.out_width = count(b.out_width);
  call.query = projection(b.wq, b.bq);
  call.key = projection(b.wk, b.bk);
  call.value = projection(b.wv, b.bv);
  call.output = projection(b.wo, b.bo);
  call.out = at<float>(b.out);
  return multi_head_attention(call);
}

Status run(random_normal_block& b) {
  fill_normal(std::span(at<float>(b.out), count(b.count)), static_cast<std::uint64_t>(b.seed), 0, b.mean, b.std);
  return ok();
}

Status run(entropy_block& b) {
  return entropy(at<const float>(b.weights), count(b.rows), count(b.keys), b.base, at<double>(b.out));
}

Status run(attention_distance_block& b) {
  return attention_distance(at<const float>(b.weights), count(b.batch), count(b.queries), count(b.keys),
                            at<const double>(b.query_positions), at<const double>(b.key_positions), at<double>(b.out));
}

Status run(layout_check_block& b) {
  return layout_check(at<const double>(b.found), at<const double>(b.expected), count(b.batch), count(b.tokens),
                      count(b.width), at<double>(b.norms), at<double>(b.errors));
}

// "slot name param param ..." of each scheme, a line each, in the order of the catalogue.
std::string scheme_lines() {
  std::string lines;
  for (const Descriptor* descriptor : catalogue()) {
    lines += slot_name(descriptor->slot);
    lines += ' ';
    lines += descriptor->name;
    for (const Param& param : descriptor->params) {
      lines += ' ';
      lines += param.name;
    }
    lines += '\n';
  }
  return lines;
}

}  // namespace posenc

extern "C" {

EMSCRIPTEN_KEEPALIVE const char* posenc_schemes() { return posenc::show(posenc::scheme_lines()); }

#ifndef POSENC_BARE
// The whole catalogue as JSON, from which the build writes schemes.gen.ts.
EMSCRIPTEN_KEEPALIVE const char* posenc_describe() { return posenc::show(posenc::describe()); }
#endif

}  // extern "C"
