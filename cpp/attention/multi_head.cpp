#include "attention/multi_head.h"

#include <cstring>

#include "attention/buffer.h"
#include "kernels/product.h"
#include "kernels/row_addition.h"
#include "kernels/scan.h"

namespace posenc {

namespace {

constexpr char kSubject[] = "multiHeadAttention";

double real(std::size_t n) { return static_cast<double>(n); }

struct Operand {
  const char* name;
  const float* data;
  std::size_t size;
};

// x (B, tokens, width)  W (width, heads columns) -> (B, heads, tokens, columns)
void project(const float* x, std::size_t batch, std::size_t tokens, std::size_t width, const Projection& projection,
             std::size_t heads, std::size_t columns, float* scratch, float* out) {
  const std::size_t stride = heads * columns;
  for (std::size_t b = 0; b < batch; ++b, x += tokens * width) {
    for (std::size_t h = 0; h < heads; ++h, out += tokens * columns) {
      product({x, width}, {projection.weights + h * columns, stride}, tokens, width, columns, out, columns, scratch);
      if (projection.bias != nullptr) add_row(projection.bias + h * columns, tokens, columns, out, columns);
    }
  }
}

}  // namespace

Status multi_head_attention(const MultiHeadCall& call) {
  AttentionCall inner = call.attention;
  const std::size_t batch = inner.batch, heads = inner.heads, kv_heads = inner.kv_heads;
  const std::size_t queries = inner.queries, keys = inner.keys, d = inner.width, dv = inner.value_width;
  const bool crossed = call.context != nullptr, projects = call.attended == nullptr, joins = call.q == nullptr;
  if (projects && !crossed && keys != queries) {
    return refuse(Code::kShapeMismatch, kSubject, "context", "given where keys are other tokens than x", "none");
  }
  const float* const context = crossed ? call.context : call.x;
  const std::size_t context_width = crossed ? call.context_width : call.x_width;
  const std::size_t joined_width = heads * dv;
  bool finite = true;
  const Operand operands[] = {{"x", call.x, batch * queries * call.x_width},
                              {"context", call.context, batch * keys * context_width},
                              {"wq", call.query.weights, call.x_width * heads * d},
                              {"wk", call.key.weights, context_width * kv_heads * d},
                              {"wv", call.value.weights, context_width * kv_heads * dv},
                              {"wo", call.output.weights, joined_width * call.out_width},
                              {"bq", call.query.bias, heads * d},
                              {"bk", call.key.bias, kv_heads * d},
                              {"bv", call.value.bias, kv_heads * dv},
                              {"bo", call.output.bias, call.out_width}};
  for (const Operand& operand : operands) {
    if (operand.data == nullptr || scan_numbers(operand.data, operand.size).finite) continue;
    finite = false;
    if (inner.allow_non_finite) continue;
    std::size_t at = 0;
    while (operand.data[at] - operand.data[at] == 0) ++at;
    return refuse(Code::kNotFinite, kSubject, operand.name, "finite numbers",
                  to_text(operand.data[at]) + " at element " + to_text(real(at)));
  }

  const std::size_t tall = queries < keys ? keys : queries;
  const std::size_t deep = call.x_width < context_width ? context_width : call.x_width;
  const std::size_t inward = product_scratch(tall, deep, d < dv ? dv : d);
  const std::size_t outward = product_scratch(queries, joined_width, call.out_width);
  Buffer<float> q, k, v, o, joined, scratch;
  const double tokens = real(batch) * real(queries), key_tokens = real(batch) * real(keys);
  bool fits = scratch.allocate(real(inward < outward ? outward : inward));
  if (projects && joins) {
    fits = fits && q.allocate(tokens * real(heads * d)) && k.allocate(key_tokens * real(kv_heads * d)) &&
           v.allocate(key_tokens * real(kv_heads * dv)) && o.allocate(tokens * real(joined_width));
  }
  if (joins) fits = fits && joined.allocate(real(queries) * real(joined_width));
  if (!fits) {
    return refuse(Code::kOutOfMemory, kSubject, "x", "small enough for the memory at hand",
                  to_text(real(queries)) + " tokens and " + to_text(real(keys)) + " keys");
  }
  if (projects) {
    float* const to[] = {joins ? q.get() : call.q, joins ? k.get() : call.k, joins ? v.get() : call.v};
    project(call.x, batch, queries, call.x_width, call.query, heads, d, scratch.get(), to[0]);
    project(context, batch, keys, context_width, call.key, kv_heads, d, scratch.get(), to[1]);
    project(context, batch, keys, context_width, call.value, kv_heads, dv, scratch.get(), to[2]);
    const Operand projected[] = {{"wq", to[0], batch * queries * heads * d},
                                 {"wk", to[1], batch * keys * kv_heads * d},
                                 {"wv", to[2], batch * keys * kv_heads * dv}};
    for (const Operand& operand : projected) {
      if (!finite || scan_numbers(operand.data, operand.size).finite) continue;
      const bool of_x = !crossed || operand.name[1] == 'q';
      return refuse(Code::kOutOfRange, kSubject, operand.name,
                    of_x ? "small enough for its products with x to stay within float32"
                         : "small enough for its products with context to stay within float32",
                    "one that overflows");
    }
    if (!joins) return ok();
    inner.q = q.get(), inner.k = k.get(), inner.v = v.get(), inner.out = o.get();
    if (Status status = attention(inner); !status.ok()) {
      if (status.argument == "q" || status.argument == "v") status.argument.insert(0, "w");  // projected
      if (status.subject == "attention") status.subject = kSubject;
      return status;
    }
  }

  const float* from = projects ? o.get() : call.attended;
  for (std::size_t b = 0; b < batch; ++b) {
    for (std::size_t h = 0; h < heads; ++h) {
      for (std::size_t i = 0; i < queries; ++i, from += dv) {
        std::memcpy(joined.get() + i * joined_width + h * dv, from, dv * sizeof(float));
      }
    }
    float* const out = call.out + b * queries * call.out_width;
    product({joined.get(), joined_width}, {call.output.weights, call.out_width}, queries, joined_width,
            call.out_width, out, call.out_width, scratch.get());
    if (call.output.bias != nullptr) add_row(call.output.bias, queries, call.out_width, out, call.out_width);
  }
  const std::size_t size = batch * queries * call.out_width;
  if (scan_numbers(call.out, size).finite) return ok();
  if (finite) {
    return refuse(Code::kOutOfRange, kSubject, "wo", "small enough for its products to stay within float32",
                  "one that overflows");
  }
  make_nan_plain(call.out, size);
  return ok();
}

}  // namespace posenc
