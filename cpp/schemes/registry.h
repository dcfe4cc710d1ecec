// The catalogue of schemes, expanded from schemes.def.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "schemes/scheme.h"

namespace posenc {

// schemes::bias_alibi and so on: each scheme's file defines its own, and does not compile without its line in the list.
namespace schemes {
#define SCHEME(slot, name) extern const Descriptor slot##_##name;
#include "schemes/schemes.def"
#undef SCHEME
}  // namespace schemes

// Every descriptor in the order of schemes.def.
std::span<const Descriptor* const> catalogue();

// nullptr where the slot has no scheme of this name.
const Descriptor* find(Slot slot, std::string_view name);

// Checks the spec and builds its scheme. Errors: those of Spec::check() and of the scheme's own make().
Status make_scheme(Spec& spec, std::unique_ptr<Scheme>& scheme);

// One descriptor, and the catalogue as JSON: [{slot, name, title, summary, formula, reference, params: [{name, kind,
// sentence, allowed, required, default, ...}], laws: [{law, sentence, when?, length?}]}].
std::string describe(const Descriptor& descriptor);
std::string describe();

}  // namespace posenc
