// What JavaScript sees of a module: a few plain functions, behind which stand the calls of its part of calls.def.
// Nothing is computed here. They are not embind's, which would weigh as much as three schemes and make a small call a
// quarter dearer.
#include <emscripten/emscripten.h>

#include <utility>

#include "bindings/blocks.h"
#include "core/json.h"
#include "simd/backend.h"

namespace posenc {

namespace {

std::string said;   // the JSON of the last error, or of the last call that answers in text
std::string shown;  // what the last of the functions below pointed to

template <class Block>
Status run_block(double address) {
  return run(*at<Block>(address));
}

constexpr Status (*kCalls[])(double) = {
#define CALL(name) run_block<name##_block>,
#define FIELD(name)
#define END
#include "bindings/calls.def"
#undef CALL
#undef FIELD
#undef END
};

// "name field field ..." of each call, a line each, in the order of calls.def.
constexpr char kLayout[] =
#define CALL(name) #name
#define FIELD(name) " " #name
#define END "\n"
#include "bindings/calls.def"
#undef CALL
#undef FIELD
#undef END
    "";

// What info() shows: version, compiler and vector unit, a line each.
#define TEXT_OF(x) #x
#define VERSION(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)
constexpr char kAbout[] = POSENC_VERSION
    "\nEmscripten " VERSION(__EMSCRIPTEN_major__, __EMSCRIPTEN_minor__, __EMSCRIPTEN_tiny__)
    ", clang " VERSION(__clang_major__, __clang_minor__, __clang_patchlevel__) "\n";
#undef VERSION
#undef TEXT_OF

}  // namespace

void say(std::string text) { said = std::move(text); }

const char* show(std::string text) {
  shown = std::move(text);
  return shown.c_str();
}

}  // namespace posenc

// Texts are UTF-8 and end with a zero; each is to be read before the next function is called.
extern "C" {

// The library's own says what happened, for which it brings all of printf.
void __cxa_pure_virtual() { __builtin_trap(); }

// Runs call `index` on its block: 0, or the number of a Code with the error in posenc_text().
EMSCRIPTEN_KEEPALIVE int posenc_call(int index, double block) {
  const posenc::Status status = posenc::kCalls[index](block);
  if (!status.ok()) posenc::said = posenc::to_json(status);
  return static_cast<int>(status.code);
}

EMSCRIPTEN_KEEPALIVE const char* posenc_text() { return posenc::said.c_str(); }

EMSCRIPTEN_KEEPALIVE const char* posenc_layout() { return posenc::kLayout; }

EMSCRIPTEN_KEEPALIVE const char* posenc_about() {
  return posenc::show(std::string(posenc::kAbout) + posenc::simd::kBackend);
}

}  // extern "C"
