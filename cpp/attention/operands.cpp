#include "attention/operands.h"

#include <string>

#include "kernels/scan.h"

namespace posenc {

namespace {

constexpr char kSubject[] = "attention";

bool finite(double x) { return x - x == 0; }
bool whole(double x) {  // |x| <= 2^54
  const double magnitude = x < 0 ? -x : x;
  return magnitude >= 4503599627370496.0 || (magnitude + 4503599627370496.0) - 4503599627370496.0 == magnitude;
}
std::string count_text(double n, const char* one) { return to_text(n) + " " + one + (n == 1 ? "" : "s"); }

// Numbers of either width: looked at one by one only where something is wrong.
struct Numbers {
  Numbers(const float* x) : floats(x) {}
  Numbers(const double* x) : doubles(x) {}
  bool given() const { return floats != nullptr || doubles != nullptr; }
  double at(std::size_t i) const { return doubles != nullptr ? doubles[i] : static_cast<double>(floats[i]); }
  Scan scan(std::size_t n) const {
    if (floats != nullptr) return scan_numbers(floats, n);
    Scan found;  // its magnitude is for sums in float32
    for (std::size_t i = 0; i < n; ++i) found.finite = found.finite && finite(doubles[i]);
    return found;
  }

  const float* floats = nullptr;
  const double* doubles = nullptr;
};

struct Inputs {
  Numbers q, k, v, sinks, added;
  const std::uint8_t* seen;
  const std::size_t* mask_shape;
};

Status check_shapes(const AttentionOptions& call, const Inputs& inputs) {
  if (call.heads == 0 || call.kv_heads == 0 || call.heads % call.kv_heads != 0) {
    return refuse(Code::kShapeMismatch, kSubject, "k",
                  "of a number of heads that divides q's " + to_text(static_cast<double>(call.heads)),
                  count_text(static_cast<double>(call.kv_heads), "head"));
  }
  const std::size_t full[] = {call.batch, call.heads, call.queries, call.keys};
  for (int axis = 0; axis < 4 && (inputs.seen != nullptr || inputs.added.given()); ++axis) {
    const std::size_t size = inputs.mask_shape[axis];
    if (size == 1 || size == full[axis]) continue;
    return refuse(Code::kShapeMismatch, kSubject, "mask", "of size 1 or the full size along each of [B, H, Tq, Tk]",
                  to_text(static_cast<double>(size)));
  }
  return ok();
}

// heads, width and axes of one scheme of a slot against the operands.
Status check_scheme(const AttentionOptions& call, const Scheme& scheme, const char* slot, int& axes) {
  const auto mismatch = [&](double needed, const char* noun, double has) {
    return refuse(Code::kShapeMismatch, kSubject, slot, "a scheme for " + count_text(needed, noun) + ", as q has",
                  std::string(scheme.name()) + (scheme.name()[0] ? " for " : "one for ") + count_text(has, noun));
  };
  const std::size_t heads = call.all_heads == 0 ? call.heads : call.all_heads;
  if (scheme.heads() != 0 && static_cast<std::size_t>(scheme.heads()) != heads) {
    return mismatch(static_cast<double>(heads), "head", scheme.heads());
  }
  if (scheme.width() != 0 && static_cast<std::size_t>(scheme.width()) != call.width) {
    return mismatch(static_cast<double>(call.width), "channel", scheme.width());
  }
  Status status = scheme.check_axes(kSubject, "queryPositions", call.query_positions.axes);
  if (status.ok()) status = scheme.check_axes(kSubject, "keyPositions", call.key_positions.axes);
  if (!status.ok()) return status;
  axes = scheme.axes() > axes ? scheme.axes() : axes;
  return ok();
}

Status check_numbers(const double* data, double count, double limit, const char* name) {
  if (data == nullptr) return ok();
  for (std::size_t t = 0; t < static_cast<std::size_t>(count); ++t) {
    const double x = data[t];
    if (!finite(x)) return refuse(Code::kNotFinite, kSubject, name, "finite numbers", to_text(x));
    if (x > limit || x < -limit) {
      return refuse(Code::kOutOfRange, kSubject, name, "numbers of magnitude up to " + to_text(limit), to_text(x));
    }
  }
  return ok();
}

double fraction(double x) {  // exact: x less the whole number next to it
  const double magnitude = x < 0 ? -x : x;
  if (magnitude >= 4503599627370496.0) return 0;
  double nearest = (magnitude + 4503599627370496.0) - 4503599627370496.0;
  double rest = magnitude - nearest;
  if (x < 0) rest = -rest;
  return rest < 0 ? rest + 1 : rest;
}

// Every key - query, formed in float64, is whole.
Status check_whole_offsets(const Positions& queries, const Positions& keys, const Scheme& scheme) {
  if (queries.data == nullptr || keys.data == nullptr || queries.count == 0 || keys.count == 0) return ok();
  const int axes = queries.axes < keys.axes ? keys.axes : queries.axes;
  for (int axis = 0; axis < axes; ++axis) {
    const double* q = queries.axis(queries.axes == 1 ? 0 : axis);
    const double* k = keys.axis(keys.axes == 1 ? 0 : axis);
    const double common = fraction(q[0]);
    bool shared = true;
    for (std::size_t i = 0; i < queries.count && shared; ++i) shared = fraction(q[i]) == common;
    for (std::size_t j = 0; j < keys.count && shared; ++j) shared = fraction(k[j]) == common;
    if (shared) continue;
    for (std::size_t i = 0; i < queries.count; ++i) {
      for (std::size_t j = 0; j < keys.count; ++j) {
        if (whole(k[j] - q[i])) continue;
        return refuse(Code::kNotInteger, scheme.name()[0] ? scheme.name() : kSubject, "positions",
                      "a whole number apart", to_text(k[j] - q[i]));
      }
    }
  }
  return ok();
}

Status check_schemes(const AttentionOptions& call, int& axes) {
  for (const Rotate* scheme : call.rotate) {
    if (Status status = check_scheme(call, *scheme, "rotate", axes); !status.ok()) return status;
  }
  for (const Bias* scheme : call.bias) {
    if (Status status = check_scheme(call, *scheme, "bias", axes); !status.ok()) return status;
  }
  for (const Relate* scheme : call.relate) {
    if (Status status = check_scheme(call, *scheme, "relate", axes); !status.ok()) return status;
    if (scheme->value_width() != 0 && static_cast<std::size_t>(scheme->value_width()) != call.value_width) {
      return refuse(
          Code::kShapeMismatch, kSubject, "relate",
          "a scheme for values of " + count_text(static_cast<double>(call.value_width), "channel") + ", as v has",
          "one for " + count_text(scheme->value_width(), "channel"));
    }
    if (scheme->causal_only() && !call.causal) {
      return refuse(Code::kUnsupported, kSubject, "causal", "true for this relate scheme", "false");
    }
  }
  for (const Positions* side : {&call.query_positions, &call.key_positions})
    axes = side->axes > axes ? side->axes : axes;
  const auto check_offsets = [&](const Scheme* scheme) {
    Positions queries = call.query_positions, keys = call.key_positions;
    if (queries.data == nullptr) queries.count = call.queries;
    if (keys.data == nullptr) keys.count = call.keys;
    Status status = check_reach(*scheme, kSubject, queries, keys);
    if (!status.ok() || !scheme->whole_offsets()) return status;
    return check_whole_offsets(call.query_positions, call.key_positions, *scheme);
  };
  for (const Rotate* scheme : call.rotate) {
    if (Status status = check_offsets(scheme); !status.ok()) return status;
  }
  for (const Bias* scheme : call.bias) {
    if (Status status = check_offsets(scheme); !status.ok()) return status;
  }
  for (const Relate* scheme : call.relate) {
    if (Status status = check_offsets(scheme); !status.ok()) return status;
  }
  return ok();
}

Status check_positions(const AttentionOptions& call) {
  const auto size = [](const Positions& p) { return static_cast<double>(p.count) * p.axes; };
  const auto fits = [](const Positions& p, std::size_t tokens) { return p.data == nullptr || p.count == tokens; };
  if (!fits(call.query_positions, call.queries)) {
    return refuse(Code::kShapeMismatch, kSubject, "queryPositions",
                  "one for each of " + count_text(static_cast<double>(call.queries), "query token"),
                  to_text(static_cast<double>(call.query_positions.count)));
  }
  if (!fits(call.key_positions, call.keys)) {
    return refuse(Code::kShapeMismatch, kSubject, "keyPositions",
                  "one for each of " + count_text(static_cast<double>(call.keys), "key token"),
                  to_text(static_cast<double>(call.key_positions.count)));
  }
  if (Status status =
          check_numbers(call.query_positions.data, size(call.query_positions), kMaxPosition, "queryPositions");
      !status.ok()) {
    return status;
  }
  if (Status status = check_numbers(call.key_positions.data, size(call.key_positions), kMaxPosition, "keyPositions");
      !status.ok()) {
    return status;
  }
  const double largest = std::numeric_limits<double>::max();
  if (Status status = check_numbers(call.query_order, static_cast<double>(call.queries), largest, "queryOrder");
      !status.ok()) {
    return status;
  }
  return check_numbers(call.key_order, static_cast<double>(call.keys), largest, "keyOrder");
}

Status check_options(const AttentionOptions& call) {
  const auto number = [](double x, const char* name) {
    if (x != x) return refuse(Code::kNotANumber, kSubject, name, "a number", to_text(x));
    return ok();
  };
  const float scale = static_cast<float>(call.scale);
  if (!finite(call.scale) || !finite(scale)) {
    return refuse(Code::kNotFinite, kSubject, "scale", "a finite number", to_text(call.scale));
  }
  const float cap = static_cast<float>(call.softcap);
  if (!finite(cap) || cap < 0 || (cap == 0 && call.softcap != 0)) {
    return refuse(Code::kOutOfRange, kSubject, "softcap", "a number above 7.01e-46 and at most 3.4028235e38",
                  to_text(call.softcap));
  }
  if (!finite(call.length) || call.length < 0) {
    return refuse(Code::kOutOfRange, kSubject, "length", "a finite number of at least 0", to_text(call.length));
  }
  if (Status status = number(call.window_left, "window"); !status.ok()) return status;
  if (Status status = number(call.window_right, "window"); !status.ok()) return status;
  if (Status status = number(call.prefix_length, "prefixLength"); !status.ok()) return status;
  for (std::size_t b = 0; call.key_lengths != nullptr && b < call.batch; ++b) {
    if (Status status = number(call.key_lengths[b], "keyLengths"); !status.ok()) return status;
  }
  return ok();
}

// "NaN at batch 0, head 2, token 17, channel 5": batch and head only where there are several.
std::string place_text(const Numbers& x, std::size_t at, std::size_t batch, std::size_t heads, std::size_t tokens,
                       std::size_t width) {
  const auto number = [](std::size_t n) { return to_text(static_cast<double>(n)); };
  std::string text = to_text(x.at(at)) + " at ";
  if (batch > 1) text += "batch " + number(at / (heads * tokens * width)) + ", ";
  if (heads > 1) text += "head " + number(at / (tokens * width) % heads) + ", ";
  return text + "token " + number(at / width % tokens) + ", channel " + number(at % width);
}

Status check_mask(const AttentionOptions& call, const Inputs& inputs, Operands& operands) {
  const std::size_t* shape = inputs.mask_shape;
  const std::size_t size = shape[0] * shape[1] * shape[2] * shape[3];
  if (inputs.seen != nullptr && !all_flags(inputs.seen, size)) {
    std::size_t at = 0;
    while (inputs.seen[at] <= 1) ++at;
    return refuse(Code::kOutOfRange, kSubject, "mask", "true or false (or 1 or 0) for each pair",
                  to_text(inputs.seen[at]));
  }
  const Numbers& added = inputs.added;
  if (!added.given()) return ok();
  if (added.floats != nullptr && mask_is_legal(added.floats, size, operands.mask_magnitude)) return ok();
  std::size_t at = 0;
  while (at < size && added.at(at) < std::numeric_limits<double>::infinity()) ++at;
  if (at == size) return ok();
  operands.inputs_finite = false;
  if (call.allow_non_finite) return ok();
  return refuse(Code::kNotFinite, kSubject, "mask", "finite numbers or -Infinity", to_text(added.at(at)));
}

Status check_finite(const AttentionOptions& call, const Inputs& all, Operands& operands) {
  const struct {
    const char* name;
    const Numbers& data;
    std::size_t heads, tokens, width;
    float& magnitude;
  } inputs[] = {{"q", all.q, call.heads, call.queries, call.width, operands.query_magnitude},
                {"k", all.k, call.kv_heads, call.keys, call.width, operands.key_magnitude},
                {"v", all.v, call.kv_heads, call.keys, call.value_width, operands.value_magnitude}};
  for (const auto& input : inputs) {
    const Scan scan = input.data.scan(call.batch * input.heads * input.tokens * input.width);
    input.magnitude = scan.magnitude;
    operands.values_finite = scan.finite;  // v comes last
    if (scan.finite) continue;
    operands.inputs_finite = false;
    if (call.allow_non_finite) continue;
    std::size_t at = 0;
    while (finite(input.data.at(at))) ++at;
    return refuse(Code::kNotFinite, kSubject, input.name, "finite numbers",
                  place_text(input.data, at, call.batch, input.heads, input.tokens, input.width));
  }
  for (std::size_t h = 0; all.sinks.given() && h < call.heads; ++h) {
    if (finite(all.sinks.at(h))) continue;
    operands.inputs_finite = false;
    if (call.allow_non_finite) continue;
    return refuse(Code::kNotFinite, kSubject, "sinks", "finite numbers", to_text(all.sinks.at(h)));
  }
  return check_mask(call, all, operands);
}

Status check(const AttentionOptions& call, const Inputs& inputs, Operands& operands) {
  if (Status status = check_shapes(call, inputs); !status.ok()) return status;
  if (Status status = check_options(call); !status.ok()) return status;
  if (Status status = check_positions(call); !status.ok()) return status;
  if (Status status = check_schemes(call, operands.axes); !status.ok()) return status;
  return check_finite(call, inputs, operands);
}

template <class Real>
Inputs inputs_of(const AttentionCallOf<Real>& call) {
  return {call.q, call.k, call.v, call.sinks, call.mask.added, call.mask.seen, call.mask.shape};
}

}  // namespace

Status check_operands(const AttentionCall& call, Operands& operands) {
  return check(call, inputs_of(call), operands);
}

Status check_operands(const AttentionCallOf<double>& call, Operands& operands) {
  return check(call, inputs_of(call), operands);
}

const char* largest_term(double content, double relation, double bias, double mask) {
  // NaN too: products that overflow either way.
  const auto magnitude = [](double x) { return x < 0 ? -x : x == x ? x : std::numeric_limits<double>::infinity(); };
  content = magnitude(content), relation = magnitude(relation), bias = magnitude(bias), mask = magnitude(mask);
  if (content > relation && content > bias && content > mask) return "q";
  if (relation > bias && relation > mask) return "relate";
  return bias > mask ? "bias" : "mask";
}

}  // namespace posenc
