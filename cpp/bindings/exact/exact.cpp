// The calls of the part that works in float64: attention by the plain way, and its gradient.
#include "attention/attention_gradient.h"
#include "bindings/core/schemes.h"
#include "core/json.h"

namespace posenc {

namespace {

// A list for each scheme of what it learned, and where that lies.
std::string to_json(const std::vector<Gradients>& schemes) {
  std::string json = "[";
  for (const Gradients& scheme : schemes) {
    json += json.size() > 1 ? ",[" : "[";
    for (const Parameter& parameter : scheme.parameters) {
      json += json.back() == '[' ? "{\"name\":" : ",{\"name\":";
      append_json(json, parameter.name);
      json += ",\"data\":";
      append_json(json, static_cast<double>(reinterpret_cast<std::uintptr_t>(parameter.gradient.data())));
      json += ",\"shape\":[";
      for (int axis = 0; axis < parameter.rank; ++axis) {
        if (axis != 0) json += ',';
        append_json(json, static_cast<double>(parameter.shape[axis]));
      }
      json += "]}";
    }
    json += ']';
  }
  return json + "]";
}

}  // namespace

Status run(exact_attention_block& b) {
  static std::vector<Gradients> learned;
  learned.clear();
  Slots slots;
  AttentionGradientCall call;
  if (Status status = read(b, slots, call); !status.ok()) return status;
  if (b.d_out == 0) return attention(call);
  call.d_out = at<const double>(b.d_out);
  call.dq = at<double>(b.dq);
  call.dk = at<double>(b.dk);
  call.dv = at<double>(b.dv);
  call.dsinks = at<double>(b.dsinks);
  Status status = attention_gradient(call, learned);
  if (status.ok()) say(to_json(learned));
  return status;
}

}  // namespace posenc
