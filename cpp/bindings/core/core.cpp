// The calls of the core: schemes, their use alone, and attention.
#include <emscripten/emscripten.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/metrics.h"
#include "attention/multi_head.h"
#include "bindings/core/schemes.h"
#include "core/status.h"
#include "kernels/heat_map.h"
#include "kernels/normal.h"
#include "schemes/alone.h"
#include "schemes/frequency_report.h"
#include "schemes/registry.h"

namespace posenc {

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
  call.q = at<float>(b.q);
  call.k = at<float>(b.k);
  call.v = at<float>(b.v);
  call.attended = at<const float>(b.attended);
  return multi_head_attention(call);
}

Status run(random_normal_block& b) {
  fill_normal(std::span(at<float>(b.out), count(b.count)), static_cast<std::uint64_t>(b.seed), 0, b.mean, b.std);
  return ok();
}

Status run(entropy_block& b) {
  return entropy(at<const float>(b.weights), count(b.rows), count(b.keys), b.base, at<double>(b.out),
                 flag(b.allow_non_finite));
}

Status run(attention_distance_block& b) {
  return attention_distance(at<const float>(b.weights), count(b.batch), count(b.queries), count(b.keys),
                            at<const double>(b.query_positions), at<const double>(b.key_positions), at<double>(b.out),
                            flag(b.allow_non_finite));
}

Status run(layout_check_block& b) {
  return layout_check(at<const double>(b.found), at<const double>(b.expected), count(b.batch), count(b.tokens),
                      count(b.width), at<double>(b.norms), at<double>(b.errors));
}

Status run(paint_block& b) {
  paint({.rows = count(b.rows), .columns = count(b.columns), .height = count(b.height), .width = count(b.width),
         .first = count(b.first), .count = count(b.count), .values = at<const float>(b.values),
         .stride = count(b.stride), .low = static_cast<float>(b.low), .factor = static_cast<float>(b.factor),
         .table = at<const std::uint32_t>(b.table)},
        at<float>(b.sums), at<std::int32_t>(b.seen), at<std::uint32_t>(b.out));
  return ok();
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
