// The blocks that calls arrive in, and what every call needs to read one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/positions.h"
#include "core/status.h"

namespace posenc {

// The block of each call, field by field as calls.def lists them, and the function that answers it.
#define CALL(name) struct name##_block {
#define FIELD(name) double name;
#define END };
#include "bindings/calls.def"
#undef CALL
#undef FIELD
#undef END

#define CALL(name) Status run(name##_block& block);
#define FIELD(name)
#define END
#include "bindings/calls.def"
#undef CALL
#undef FIELD
#undef END

template <class T>
T* at(double address) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

inline std::size_t count(double value) { return static_cast<std::size_t>(value); }
inline bool flag(double value) { return value != 0; }

inline Positions positions(double data, double axes, double tokens) {
  return {.data = at<const double>(data), .count = count(tokens), .axes = static_cast<int>(axes)};
}

// The answer of a call that answers in text.
void say(std::string text);
// Keeps a text for JavaScript to read before the next exported function is called.
const char* show(std::string text);

}  // namespace posenc
