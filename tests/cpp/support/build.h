// Builds schemes for tests from a line of options: "dim=8 layout=half frequencies=1,0.25 keys=false".
#pragma once

#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "schemes/registry.h"

namespace posenc_test {

// A scheme with the arrays it refers to.
struct Built {
  posenc::Status status;
  std::unique_ptr<posenc::Scheme> scheme;
  std::unique_ptr<posenc::Spec> spec;
  std::deque<std::vector<double>> lists;
  std::deque<std::vector<float>> tables;
  std::string text;  // the options

  template <class Interface>
  const Interface& as() const { return static_cast<const Interface&>(*scheme); }
};

inline posenc::Status set_option(Built& built, std::string_view name, std::string_view value) {
  using namespace posenc;
  Spec& spec = *built.spec;
  for (const Param& param : spec.descriptor().params) {
    if (name != param.name) continue;
    if (value == "false" || value == "true") {
      if (param.kind == Kind::kFlag) return spec.set(name, value == "true" ? 1.0 : 0.0);
      return spec.set(name, Table::none());
    }
    if (param.kind == Kind::kChoice) return spec.set(name, value);
    if (param.kind != Kind::kList) return spec.set(name, std::strtod(std::string(value).c_str(), nullptr));
    std::vector<double>& list = built.lists.emplace_back();
    while (!value.empty()) {
      const std::string_view entry = value.substr(0, value.find(','));
      list.push_back(std::strtod(std::string(entry).c_str(), nullptr));
      value.remove_prefix(entry.size() < value.size() ? entry.size() + 1 : value.size());
    }
    return spec.set(name, Table::list(list));
  }
  return spec.set(name, 0.0);  // unknown-option
}

inline Built build(const posenc::Descriptor& descriptor, std::string_view options) {
  Built built;
  built.text = options;
  built.spec = std::make_unique<posenc::Spec>(descriptor);
  while (!options.empty() && built.status.ok()) {
    const std::string_view option = options.substr(0, options.find(' '));
    const std::size_t equals = option.find('=');
    built.status = set_option(built, option.substr(0, equals), option.substr(equals + 1));
    options.remove_prefix(option.size() < options.size() ? option.size() + 1 : options.size());
  }
  if (built.status.ok()) built.status = make_scheme(*built.spec, built.scheme);
  return built;
}

}  // namespace posenc_test
