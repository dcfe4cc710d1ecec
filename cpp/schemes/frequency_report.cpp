#include "schemes/frequency_report.h"

#include <limits>

#include "core/json.h"

namespace posenc {

FrequencyReport FrequencyReport::of(const Frequencies& frequencies) {
  FrequencyReport report;
  const MultiFloat turn = MultiFloat::pi().scaled(1);
  for (std::size_t i = 0; i < frequencies.pairs(); ++i) {
    const MultiFloat omega = frequencies.angular(i);
    double parts[kFrequencyParts];
    split_frequency(omega, parts);
    report.inverse.push_back(parts[0]);
    report.rest.insert(report.rest.end(), parts + 1, parts + kFrequencyParts);
    const MultiFloat magnitude = omega.is_negative() ? -omega : omega;
    report.wavelength.push_back(omega.is_zero() ? std::numeric_limits<double>::infinity()
                                                : (turn / magnitude).to_double());
  }
  report.band.assign(frequencies.pairs(), Band::kKept);
  return report;
}

std::string to_json(const FrequencyReport& report) {
  static constexpr const char* kBands[] = {"kept", "ramped", "scaled"};
  const auto list = [](std::string& json, const char* key, const auto& values, const auto& append) {
    json += key;
    json += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) json += ',';
      append(json, values[i]);
    }
    json += ']';
  };
  const auto real = [](std::string& json, double value) { append_json(json, value); };
  std::string json = "{";
  list(json, "\"inverse\":", report.inverse, real);
  list(json, ",\"wavelength\":", report.wavelength, real);
  json += ",\"base\":";
  append_json(json, report.base);
  json += ",\"attentionFactor\":";
  append_json(json, report.attention_factor);
  const auto optional = [&json](const char* key, double value) {
    if (value != value) return;
    json += key;
    append_json(json, value);
  };
  optional(",\"softmaxScale\":", report.softmax_scale);
  list(json, ",\"band\":", report.band, [](std::string& text, FrequencyReport::Band band) {
    append_json(text, std::string_view(kBands[static_cast<int>(band)]));
  });
  optional(",\"low\":", report.low);
  optional(",\"high\":", report.high);
  list(json, ",\"notes\":", report.notes,
       [](std::string& text, const std::string& note) { append_json(text, std::string_view(note)); });
  return json + "}";
}

}  // namespace posenc
