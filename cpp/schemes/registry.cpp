#include "schemes/registry.h"

#include <iterator>

#include "core/json.h"
#include "schemes/laws.h"

namespace posenc {

namespace {

constexpr const Descriptor* kCatalogue[] = {
#define SCHEME(slot, name) &schemes::slot##_##name,
#include "schemes/schemes.def"
#undef SCHEME
    nullptr,  // so that the list may be empty
};

const char* kind_name(Kind kind) {
  static constexpr const char* kNames[] = {"real", "integer", "flag", "choice", "list", "table"};
  return kNames[static_cast<int>(kind)];
}

std::string_view choice_text(std::string_view choices, double value) {
  for (; value > 0; --value) choices.remove_prefix(choices.find('|') + 1);
  return choices.substr(0, choices.find('|'));
}

// A value as its kind is written in JavaScript: true, "press", 0.5; null where there is none.
void append_value(std::string& json, const Param& param, double value) {
  if (value != value || param.kind == Kind::kList || param.kind == Kind::kTable) {
    json += "null";
  } else if (param.kind == Kind::kFlag) {
    json += value != 0 ? "true" : "false";
  } else if (param.kind == Kind::kChoice) {
    append_json(json, choice_text(param.choices, value));
  } else {
    append_json(json, value);
  }
}

void append_member(std::string& json, const char* key, std::string_view text) {
  json += ",\"";
  json += key;
  json += "\":";
  append_json(json, text);
}

void append_choices(std::string& json, const char* key, std::string_view rest) {
  json += key;
  while (!rest.empty()) {
    const std::string_view next = rest.substr(0, rest.find('|'));
    append_json(json, next);
    if (next.size() == rest.size()) break;
    rest.remove_prefix(next.size() + 1);
    json += ',';
  }
  json += ']';
}

void append_param(std::string& json, const Param& param) {
  json += "{\"name\":";
  append_json(json, std::string_view(param.name));
  append_member(json, "kind", kind_name(param.kind));
  append_member(json, "sentence", param.sentence);
  append_member(json, "allowed", allowed_text(param));
  json += param.required ? ",\"required\":true" : ",\"required\":false";
  json += ",\"default\":";
  append_value(json, param, param.required || param.fallback_param[0] != '\0' ? kNone : param.fallback);
  if (param.fallback_param[0] != '\0') append_member(json, "defaultParam", param.fallback_param);
  if (param.kind == Kind::kReal || param.kind == Kind::kInteger || param.kind == Kind::kList) {
    json += ",\"min\":";
    append_json(json, param.min);
    json += ",\"max\":";
    append_json(json, param.max);
    json += param.above_min ? ",\"aboveMin\":true" : ",\"aboveMin\":false";
  }
  if (param.kind == Kind::kChoice) append_choices(json, ",\"choices\":[", param.choices);
  if (param.where[0] != '\0') {
    append_member(json, "where", param.where);
    append_choices(json, ",\"neededBy\":[", param.needed_by);
    append_choices(json, ",\"takenBy\":[", param.taken_by);
  }
  if (param.shape[0] != '\0') append_member(json, "shape", param.shape);
  if (param.flags) json += ",\"flags\":true";
  if (param.can_omit) json += ",\"canOmit\":true";
  if (param.differentiable) json += ",\"differentiable\":true";
  if (param.shown_min < param.shown_max && param.kind != Kind::kList) {
    const double start = param.required || param.fallback != param.fallback ? param.shown : param.fallback;
    json += ",\"shown\":{\"value\":";
    append_json(json, start);
    json += ",\"min\":";
    append_json(json, param.shown_min);
    json += ",\"max\":";
    append_json(json, param.shown_max);
    json += param.shown_log ? ",\"log\":true" : ",\"log\":false";
    if (param.shown_step > 0) {
      json += ",\"step\":";
      append_json(json, param.shown_step);
    }
    json += '}';
  }
  json += '}';
}

void append_claim(std::string& json, const Descriptor& descriptor, const Claim& claim) {
  json += "{\"law\":";
  append_json(json, std::string_view(law_name(claim.law)));
  const char* sentence = law_sentence(claim.law, descriptor.slot);
  append_member(json, "sentence", sentence == nullptr ? "" : sentence);
  for (const Param& param : descriptor.params) {
    if (std::string_view(param.name) != claim.param) continue;
    std::string value;
    append_value(value, param, claim.value);
    json += ",\"when\":{\"param\":";
    append_json(json, std::string_view(param.name));
    json += ",\"value\":" + value;
    append_member(json, "text", std::string(param.name) + " is " + value);
    json += '}';
  }
  if (!std::string_view(claim.when).empty()) {
    json += ",\"when\":{\"text\":";
    append_json(json, std::string_view(claim.when));
    json += '}';
  }
  if (claim.length > 0) {
    json += ",\"length\":";
    append_json(json, claim.length);
  }
  json += '}';
}

}  // namespace

std::span<const Descriptor* const> catalogue() { return {kCatalogue, std::size(kCatalogue) - 1}; }

const Descriptor* find(Slot slot, std::string_view name) {
  for (const Descriptor* descriptor : catalogue()) {
    if (descriptor->slot == slot && descriptor->name == name) return descriptor;
  }
  return nullptr;
}

Status make_scheme(Spec& spec, std::unique_ptr<Scheme>& scheme) {
  Status status = spec.check();
  if (!status.ok()) return status;
  status = spec.descriptor().make(spec, scheme);
  if (!status.ok() || scheme == nullptr) return status;
  scheme->name_ = spec.descriptor().name;
  for (const Param& param : spec.descriptor().params) {
    scheme->chooses_axes_ = scheme->chooses_axes_ || (std::string_view(param.name) == "axes" && spec.applies(param));
  }
  return status;
}

std::string describe(const Descriptor& descriptor) {
  std::string json = "{\"slot\":";
  append_json(json, std::string_view(slot_name(descriptor.slot)));
  append_member(json, "name", descriptor.name);
  append_member(json, "title", descriptor.title);
  append_member(json, "summary", descriptor.summary);
  append_member(json, "formula", descriptor.formula);
  append_member(json, "reference", descriptor.reference);
  json += ",\"params\":[";
  for (std::size_t i = 0; i < descriptor.params.size(); ++i) {
    if (i > 0) json += ',';
    append_param(json, descriptor.params[i]);
  }
  json += "],\"laws\":[";
  for (std::size_t i = 0; i < descriptor.claims.size(); ++i) {
    if (i > 0) json += ',';
    append_claim(json, descriptor, descriptor.claims[i]);
  }
  return json + "]}";
}

std::string describe() {
  std::string json = "[";
  for (const Descriptor* descriptor : catalogue()) {
    if (json.size() > 1) json += ',';
    json += describe(*descriptor);
  }
  return json + "]";
}

}  // namespace posenc
