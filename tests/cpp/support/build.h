// Builds schemes for tests from a line of options: "dim=8 layout=half frequencies=1,0.25 keys=false values=random:3".
// random:<seed> fills a list (from its shown range) or a table, lowest a list with the low end of its range.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "schemes/registry.h"

namespace posenc_test {

// A generator of the tests' own: splitmix64.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double real(double low, double high) {
    return low + (high - low) * static_cast<double>(bits() >> 11) / 9007199254740992.0;
  }
  double integer(double low, double high) {
    return low + static_cast<double>(bits() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool coin() { return (bits() >> 40) % 2 == 0; }

 private:
  std::uint64_t state_;
};

// A scheme with the arrays it refers to.
struct Built {
  posenc::Status status;
  std::unique_ptr<posenc::Scheme> scheme;
  std::unique_ptr<posenc::Spec> spec;
  std::deque<std::vector<double>> lists;
  std::deque<std::vector<float>> tables;
  std::string text;  // the options

  template <class Interface>
  const Interface& as() const {
    return static_cast<const Interface&>(*scheme);
  }
};

// The length that a table is given where its shape names one that is no param ("[heads, 2 n - 1]").
inline constexpr double kFreeLength = 140;

// What a number will be once defaults are filled in.
inline double value_of(const posenc::Spec& spec, std::string_view name) {
  if (spec.has(name)) return spec.number(name);
  for (const posenc::Param& param : spec.descriptor().params) {
    if (name != param.name) continue;
    return param.fallback_param[0] != '\0' ? value_of(spec, param.fallback_param) : param.fallback;
  }
  return kFreeLength;
}

// The extents of a shape text: "[2 clip + 1, dim] or ..." with the values of a spec. Fractions are rounded up.
inline std::vector<std::size_t> shape_of(const posenc::Spec& spec, std::string_view shape) {
  std::vector<std::size_t> extents;
  double total = 0, term = 1;
  bool divide = false, minus = false;
  const auto close_term = [&] {
    total += minus ? -term : term;
    term = 1;
    minus = false;
  };
  for (std::size_t at = 1; at < shape.size(); ++at) {
    const char c = shape[at];
    if (c == ']' || c == ',') {
      close_term();
      const auto floor = static_cast<std::size_t>(total);
      extents.push_back(static_cast<double>(floor) < total ? floor + 1 : floor);
      total = 0;
      if (c == ']') break;
    } else if (c == '+' || c == '-') {
      close_term();
      minus = c == '-';
    } else if (c == '/') {
      divide = true;
    } else if (c == '(') {
      const std::size_t end = shape.find(')', at);
      term *= static_cast<double>(shape_of(spec, "[" + std::string(shape.substr(at + 1, end - at - 1)) + "]")[0]);
      at = end;
    } else if (c != ' ' && c != '*') {
      const std::size_t end = shape.find_first_of(" ,]+-*/", at);
      const std::string word(shape.substr(at, end - at));
      const double value = word[0] <= '9' ? std::strtod(word.c_str(), nullptr) : value_of(spec, word);
      term = divide ? term / value : term * value;
      divide = false;
      at = end - 1;
    }
  }
  return extents;
}

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
    const bool lowest = value == "lowest", random = lowest || value.substr(0, 7) == "random:";
    Dice dice(random && !lowest ? std::strtoull(std::string(value.substr(7)).c_str(), nullptr, 10) : 0);
    if (param.kind == Kind::kTable) {
      if (!random) {
        return spec.refuse(Code::kUnsupported, std::string(name), "random:<seed> in a test", std::string(value));
      }
      Table table;
      std::size_t size = 1;
      for (const std::size_t extent : shape_of(spec, param.shape)) {
        table.shape[table.rank++] = extent;
        size *= extent;
      }
      std::vector<float>& numbers = built.tables.emplace_back(size);
      for (float& number : numbers) number = static_cast<float>(dice.real(-1, 1));
      table.floats = numbers.data();
      table.given = true;
      return spec.set(name, table);
    }
    if (param.kind != Kind::kList) return spec.set(name, std::strtod(std::string(value).c_str(), nullptr));
    std::vector<double>& list = built.lists.emplace_back();
    if (random) {
      list.resize(shape_of(spec, param.shape)[0]);
      const bool shown = param.shown_min < param.shown_max;
      for (double& entry : list) {
        const double low = shown ? param.shown_min : param.min, high = shown ? param.shown_max : param.max;
        entry = lowest ? low : dice.real(low, high);
      }
      value = "";
    }
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
