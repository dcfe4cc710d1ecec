// Status: the outcome of everything in the core that can be refused. The core never throws, prints or aborts;
// a message about a *value* is written once, here and in the schemes; TypeScript writes those about shapes.
#pragma once

#include <string>

namespace posenc {

enum class Code { kOk, kNotANumber, kNotInteger, kNotFinite, kOutOfRange, kShapeMismatch, kMissingOption,
                  kUnknownOption, kUnknownChoice, kWrongSlot, kTooLarge, kUnsupported, kOutOfMemory, kInternal };

// The stable spelling that reaches JavaScript as PosencError.code.
const char* code_name(Code code);

struct Status {
  Code code = Code::kOk;
  std::string subject;   // who speaks: a scheme or a function, e.g. "alibi"
  std::string argument;  // e.g. "heads"
  std::string allowed;   // e.g. "an integer from 1 to 1024"
  std::string given;     // e.g. "0"

  Status() = default;
  Status(const Status& other);
  Status(Status&& other) noexcept;
  Status& operator=(const Status& other);
  Status& operator=(Status&& other) noexcept;
  ~Status();

  bool ok() const { return code == Code::kOk; }
  // "alibi: heads must be an integer from 1 to 1024, got 0".
  std::string message() const;
};

inline Status ok() { return {}; }

// Words handed to refuse(): literals and strings alike, as one address, so that a refusal costs its caller few bytes.
struct Words {
  Words(const char* literal) : text(literal) {}
  Words(const std::string& string) : text(string.c_str()) {}
  const char* text;  // ends with a zero
};

Status refuse(Code code, Words subject, Words argument, Words allowed, Words given);

// A number as a person writes it: the shortest decimal that reads back as the same double; "NaN", "Infinity".
std::string to_text(double value);

}  // namespace posenc
