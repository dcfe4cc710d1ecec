// The little JSON the core writes itself: the catalogue, frequency reports and errors.
#pragma once

#include <string>
#include <string_view>

namespace posenc {

// Appends text in double quotes, control characters, quotes and backslashes escaped; UTF-8 passes through.
void append_json(std::string& json, std::string_view text);

// Appends the shortest decimal that reads back as the same double, or null: JSON has no NaN and no Infinity.
void append_json(std::string& json, double value);

// {"code", "subject", "argument", "allowed", "given"} of a refusal.
struct Status;
std::string to_json(const Status& status);

}  // namespace posenc
