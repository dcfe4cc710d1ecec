#include "schemes/scheme.h"

namespace posenc {

namespace {

bool finite(double value) { return value - value == 0; }
bool whole(double value) {  // finite, |value| <= 2^53: adding and taking away 1.5 * 2^52 rounds to an integer
  const double magnitude = value < 0 ? -value : value;
  if (magnitude >= 4503599627370496.0) return true;
  return (magnitude + 4503599627370496.0) - 4503599627370496.0 == magnitude;
}

int choice_count(std::string_view choices) {
  int count = 1;
  for (const char c : choices) count += c == '|';
  return count;
}

std::string_view choice_at(std::string_view choices, double index) {
  for (; index > 0; --index) choices.remove_prefix(choices.find('|') + 1);
  return choices.substr(0, choices.find('|'));
}

bool lists(std::string_view choices, std::string_view choice) {  // "yarn|llama3" lists "yarn"
  for (std::size_t at = 0; at < choices.size();) {
    const std::size_t end = choices.find('|', at) < choices.size() ? choices.find('|', at) : choices.size();
    if (choices.substr(at, end - at) == choice) return true;
    at = end + 1;
  }
  return false;
}

std::string quoted_choices(std::string_view choices) {  // "a", "b" or "c", in quotes
  std::string text = "\"";
  int left = choice_count(choices) - 1;
  for (const char c : choices) {
    if (c != '|') {
      text += c;
    } else {
      text += --left == 0 ? "\" or \"" : "\", \"";
    }
  }
  return text + "\"";
}

std::string range_text(const Param& param) {
  if (!finite(param.min) && !finite(param.max)) return "";
  if (!finite(param.max)) return (param.above_min ? " above " : " of at least ") + to_text(param.min);
  if (param.above_min) return " above " + to_text(param.min) + " and at most " + to_text(param.max);
  return " from " + to_text(param.min) + " to " + to_text(param.max);
}

bool in_range(const Param& param, double value) {
  return (param.above_min ? value > param.min : value >= param.min) && value <= param.max;
}

}  // namespace

const char* slot_name(Slot slot) {
  static constexpr const char* kNames[] = {"embed", "rotate", "bias", "relate"};
  return kNames[static_cast<int>(slot)];
}

std::string allowed_text(const Param& param) {
  switch (param.kind) {
    case Kind::kReal: return "a number" + range_text(param);
    case Kind::kInteger: return "an integer" + range_text(param);
    case Kind::kFlag: return "true or false";
    case Kind::kChoice: return quoted_choices(param.choices);
    case Kind::kList: return "a list " + std::string(param.shape) + " of numbers" + range_text(param);
    case Kind::kTable:
      return "a table " + std::string(param.shape) +
             (param.flags ? " of true and false (or 1 and 0)" : " of finite numbers") +
             (param.can_omit ? ", or false" : "");
  }
  return "";
}

std::size_t Table::size() const {
  std::size_t size = rank > 0 ? 1 : 0;
  for (int axis = 0; axis < rank; ++axis) size *= shape[axis];
  return size;
}

Table Table::list(std::span<const double> values) {
  Table table;
  table.reals = values.data();
  table.rank = 1;
  table.shape[0] = values.size();
  table.given = true;
  return table;
}

Table Table::of(const float* values, std::initializer_list<std::size_t> shape) {
  Table table;
  table.floats = values;
  for (const std::size_t extent : shape) {
    if (table.rank < 3) table.shape[table.rank++] = extent;
  }
  table.given = true;
  return table;
}

Table Table::none() {
  Table table;
  table.given = true;
  table.omitted = true;
  return table;
}

std::string shape_text(const Table& table) {
  std::string text = "[";
  for (int axis = 0; axis < table.rank; ++axis) {
    if (axis > 0) text += ", ";
    text += to_text(static_cast<double>(table.shape[axis]));
  }
  return text + "]";
}

Spec::Spec(const Descriptor& descriptor)
    : descriptor_(&descriptor),
      numbers_(descriptor.params.size(), kNone),
      given_(descriptor.params.size(), 0),
      tables_(descriptor.params.size()) {}

std::size_t Spec::index_of(std::string_view name) const {
  std::size_t index = 0;
  while (index < descriptor_->params.size() && name != descriptor_->params[index].name) ++index;
  return index;
}

double Spec::number(std::string_view name) const {
  const std::size_t index = index_of(name);
  return index < numbers_.size() ? numbers_[index] : kNone;
}

bool Spec::has(std::string_view name) const {
  const std::size_t index = index_of(name);
  return index < given_.size() && given_[index] != 0;
}

const Table& Spec::table(std::string_view name) const {
  static const Table absent;
  const std::size_t index = index_of(name);
  return index < tables_.size() ? tables_[index] : absent;
}

bool Spec::applies(const Param& param) const {
  if (param.where[0] == '\0') return true;
  const std::size_t index = index_of(param.where);
  const double value = numbers_[index] == numbers_[index] ? numbers_[index] : descriptor_->params[index].fallback;
  const std::string_view choice = choice_at(descriptor_->params[index].choices, value);
  return lists(param.needed_by, choice) || lists(param.taken_by, choice);
}

void Spec::set_number(std::size_t index, double value) {
  numbers_[index] = value;
  given_[index] = 1;
}

void Spec::set_table(std::size_t index, const Table& table) {
  tables_[index] = table;
  given_[index] = table.given ? 1 : 0;
}

Status Spec::set(std::string_view name, double value) {
  const std::size_t index = index_of(name);
  if (index == numbers_.size()) return refuse(Code::kUnknownOption, "options", "ones it has", std::string(name));
  set_number(index, value);
  return posenc::ok();
}

Status Spec::set(std::string_view name, std::string_view choice) {
  const std::size_t index = index_of(name);
  if (index == numbers_.size()) return refuse(Code::kUnknownOption, "options", "ones it has", std::string(name));
  const Param& param = descriptor_->params[index];
  std::string_view rest = param.kind == Kind::kChoice ? param.choices : "";
  for (double value = 0; !rest.empty(); ++value) {
    const std::string_view next = rest.substr(0, rest.find('|'));
    if (next == choice) {
      set_number(index, value);
      return posenc::ok();
    }
    rest.remove_prefix(next.size() < rest.size() ? next.size() + 1 : rest.size());
  }
  return refuse(Code::kUnknownChoice, std::string(name), allowed_text(param), "\"" + std::string(choice) + "\"");
}

Status Spec::set(std::string_view name, const Table& table) {
  const std::size_t index = index_of(name);
  if (index == numbers_.size()) return refuse(Code::kUnknownOption, "options", "ones it has", std::string(name));
  set_table(index, table);
  return posenc::ok();
}

Status Spec::refuse(Code code, Words name, Words allowed, Words given) const {
  return posenc::refuse(code, descriptor_->name, name, allowed, given);
}

Status Spec::check() {
  for (std::size_t index = 0; index < descriptor_->params.size(); ++index) {
    const Param& param = descriptor_->params[index];
    const bool tabular = param.kind == Kind::kList || param.kind == Kind::kTable;
    std::string_view choice;
    if (param.where[0] != '\0') {
      choice = choice_at(descriptor_->params[index_of(param.where)].choices, number(param.where));
    }
    if (!applies(param)) {
      if (given_[index] != 0) {
        std::string choices = param.needed_by;
        if (param.taken_by[0] != '\0') choices += (choices.empty() ? "" : "|") + std::string(param.taken_by);
        return refuse(Code::kUnknownOption, param.name,
                      "left out: it belongs to " + std::string(param.where) + " " + quoted_choices(choices),
                      std::string(param.where) + " \"" + std::string(choice) + "\"");
      }
      continue;
    }
    if (given_[index] == 0) {
      if (param.required || lists(param.needed_by, choice)) {
        return refuse(Code::kMissingOption, param.name, allowed_text(param), "");
      }
      // Params a default refers to stand before it in the list.
      if (!tabular) numbers_[index] = param.fallback_param[0] != '\0' ? number(param.fallback_param) : param.fallback;
      continue;
    }
    if (tabular) {
      const Table& table = tables_[index];
      if (table.omitted) {
        if (param.can_omit) continue;
        return refuse(Code::kNotANumber, param.name, allowed_text(param), "false");
      }
      const std::size_t size = table.size();
      if (param.kind == Kind::kList ? table.rank != 1 || (size > 0 && table.reals == nullptr)
                                    : table.rank < 1 || (size > 0 && table.floats == nullptr)) {
        return refuse(Code::kShapeMismatch, param.name, allowed_text(param), shape_text(table));
      }
      for (std::size_t i = 0; i < size; ++i) {
        const double value = param.kind == Kind::kList ? table.reals[i] : static_cast<double>(table.floats[i]);
        if (!finite(value)) return refuse(Code::kNotFinite, param.name, allowed_text(param), to_text(value));
        if (param.kind == Kind::kList && !in_range(param, value)) {
          return refuse(Code::kOutOfRange, param.name, allowed_text(param), to_text(value));
        }
      }
      continue;
    }
    const double value = numbers_[index];
    const auto refuse_value = [&](Code code) { return refuse(code, param.name, allowed_text(param), to_text(value)); };
    if (value != value) return refuse_value(Code::kNotANumber);
    if (!finite(value)) return refuse_value(Code::kNotFinite);
    switch (param.kind) {
      case Kind::kFlag:
        if (value != 0 && value != 1) return refuse_value(Code::kOutOfRange);
        break;
      case Kind::kChoice:
        if (!whole(value) || value < 0 || value >= choice_count(param.choices)) {
          return refuse_value(Code::kUnknownChoice);
        }
        break;
      case Kind::kInteger:
        if (!whole(value)) return refuse_value(Code::kNotInteger);
        [[fallthrough]];
      default:
        if (!in_range(param, value)) return refuse_value(Code::kOutOfRange);
    }
  }
  return posenc::ok();
}

bool Claim::applies_to(const Spec& spec) const {
  if (param[0] != '\0' && spec.number(param) != value) return false;
  return holds == nullptr || holds(spec);
}

bool unit_steps(const double* positions, std::size_t count) {
  if (count == 0) return false;
  const double first = positions[0];
  const double magnitude = first < 0 ? -first : first;
  if (!(magnitude <= 2147483648.0) || count > 2147483648u || !whole(first * 1048576.0)) return false;
  for (std::size_t t = 1; t < count; ++t) {
    if (positions[t] != first + static_cast<double>(t)) return false;
  }
  return true;
}

void Gradients::add(const char* name, int rank, const std::size_t* shape) {
  Parameter& parameter = parameters.emplace_back();
  parameter.name = name;
  parameter.rank = rank;
  std::size_t size = 1;
  for (int axis = 0; axis < rank; ++axis) size *= parameter.shape[axis] = shape[axis];
  parameter.gradient.resize(size);
}

double* Gradients::operator[](std::string_view name) {
  for (Parameter& parameter : parameters) {
    if (name == parameter.name) return parameter.gradient.data();
  }
  return nullptr;
}

Status Scheme::frequencies(double length, FrequencyReport& report) const {
  (void)length;
  (void)report;
  return posenc::refuse(Code::kUnsupported, "frequencies", "scheme", "one that turns pairs, as sinusoidal and rope do",
                        name_);
}

Status Scheme::check_axes(const char* subject, const char* argument, int given) const {
  if (given == 1 || given == axes()) return ok();
  std::string allowed = axes() == 1 ? "of one axis" : "of one axis or of " + to_text(axes());
  allowed += chooses_axes_ ? " for this scheme, whose option axes says how many" : " for this scheme";
  return posenc::refuse(Code::kShapeMismatch, subject, argument, allowed, to_text(given) + " axes");
}

namespace {

struct Extent {
  double low, high;
};

Extent extent_of(const Positions& positions, int axis) {
  if (positions.data == nullptr) return {0, static_cast<double>(positions.count) - 1};
  const double* p = positions.axis(positions.axes == 1 ? 0 : axis);
  Extent extent = {p[0], p[0]};
  for (std::size_t t = 1; t < positions.count; ++t) {
    extent.low = p[t] < extent.low ? p[t] : extent.low;
    extent.high = extent.high < p[t] ? p[t] : extent.high;
  }
  return extent;
}

}  // namespace

Status check_reach(const Scheme& scheme, const char* subject, const Positions& queries, const Positions& keys) {
  if (queries.count == 0 || keys.count == 0) return ok();
  for (int axis = 0; axis < scheme.axes(); ++axis) {
    const double reach = scheme.reach(axis);
    if (!finite(reach)) continue;
    const Extent q = extent_of(queries, axis), k = extent_of(keys, axis);
    const double ahead = k.high - q.low, behind = q.high - k.low, farthest = ahead < behind ? behind : ahead;
    if (farthest > reach) {
      return refuse(Code::kOutOfRange, subject, "positions",
                    "at most " + to_text(reach) + " apart for " + scheme.name(), to_text(farthest));
    }
  }
  return ok();
}

}  // namespace posenc
