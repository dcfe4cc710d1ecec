// The catalogue of schemes, expanded from schemes.def.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "schemes/scheme.h"

namespace posenc {

// Every descriptor in the order of schemes.def.
std::span<const Descriptor* const> catalogue();

// nullptr where the slot has no scheme of this name.
const Descriptor* find(Slot slot, std::string_view name);

// Checks the spec and builds its scheme.
Status make_scheme(Spec& spec, std::unique_ptr<Scheme>& scheme);

// The catalogue as JSON: [{slot, name, title, summary, formula, reference, params: [...], laws: [...]}].
std::string describe();

}  // namespace posenc
