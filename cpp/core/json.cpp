#include "core/json.h"

#include "core/status.h"

namespace posenc {

void append_json(std::string& json, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  json += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"': json += "\\\""; break;
      case '\\': json += "\\\\"; break;
      case '\n': json += "\\n"; break;
      case '\t': json += "\\t"; break;
      default:
        if (byte < 0x20) {
          json += "\\u00";
          json += kHex[byte >> 4];
          json += kHex[byte & 15];
        } else {
          json += c;
        }
    }
  }
  json += '"';
}

void append_json(std::string& json, double value) {
  const bool finite = value - value == 0;
  json += finite ? to_text(value) : "null";
}

std::string to_json(const Status& status) {
  std::string json = "{\"code\":";
  append_json(json, code_name(status.code));
  json += ",\"subject\":";
  append_json(json, status.subject);
  json += ",\"argument\":";
  append_json(json, status.argument);
  json += ",\"allowed\":";
  append_json(json, status.allowed);
  json += ",\"given\":";
  append_json(json, status.given);
  return json + "}";
}

}  // namespace posenc
