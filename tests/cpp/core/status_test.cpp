#include "core/status.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "core/json.h"

using namespace posenc;

TEST_CASE("messages say who, what, what is allowed and what came") {
  CHECK(refuse(Code::kOutOfRange, "alibi", "heads", "an integer from 1 to 1024", "0").message() ==
        "alibi: heads must be an integer from 1 to 1024, got 0");
  CHECK(refuse(Code::kMissingOption, "rope", "dim", "an integer", "").message() ==
        "rope: dim is missing, it must be an integer");
  CHECK(refuse(Code::kUnsupported, "cope", "", "works with causal attention only", "").message() ==
        "cope: works with causal attention only");
  CHECK(ok().ok());
}

TEST_CASE("every code has the spelling of the API") {
  const std::string expected[] = {"ok",
                                  "not-a-number",
                                  "not-integer",
                                  "not-finite",
                                  "out-of-range",
                                  "shape-mismatch",
                                  "missing-option",
                                  "unknown-option",
                                  "unknown-choice",
                                  "wrong-slot",
                                  "too-large",
                                  "unsupported",
                                  "out-of-memory",
                                  "internal"};
  for (int code = 0; code < 14; ++code) CHECK(code_name(static_cast<Code>(code)) == expected[code]);
}

TEST_CASE("numbers are written as JavaScript writes them") {
  CHECK(to_text(0) == "0");
  CHECK(to_text(-0.0) == "0");
  CHECK(to_text(65) == "65");
  CHECK(to_text(-1.5) == "-1.5");
  CHECK(to_text(0.1) == "0.1");
  CHECK(to_text(0.1 + 0.2) == "0.30000000000000004");
  CHECK(to_text(10000) == "10000");
  CHECK(to_text(9007199254740992.0) == "9007199254740992");
  CHECK(to_text(123456789012345680000.0) == "123456789012345680000");
  CHECK(to_text(1e21) == "1e+21");
  CHECK(to_text(1e23) == "1e+23");
  CHECK(to_text(1e-6) == "0.000001");
  CHECK(to_text(1e-7) == "1e-7");
  CHECK(to_text(1.25e-9) == "1.25e-9");
  CHECK(to_text(5e-324) == "5e-324");
  CHECK(to_text(2.2250738585072014e-308) == "2.2250738585072014e-308");
  CHECK(to_text(1.7976931348623157e308) == "1.7976931348623157e+308");
  CHECK(to_text(std::numeric_limits<double>::quiet_NaN()) == "NaN");
  CHECK(to_text(std::numeric_limits<double>::infinity()) == "Infinity");
  CHECK(to_text(-std::numeric_limits<double>::infinity()) == "-Infinity");
}

TEST_CASE("numbers read back as the same double, and no shorter decimal does") {
  std::mt19937_64 random(20240229);
  int wrong = 0, longer = 0;
  for (int n = 0; n < 20000; ++n) {
    std::uint64_t bits = random();
    if (n % 3 == 0) bits &= ~std::uint64_t{0} << (random() % 52);  // few mantissa bits: powers of two and their like
    double value = 0;
    bits &= 0x7fffffffffffffff;
    std::memcpy(&value, &bits, sizeof value);
    if (n % 5 == 0) value = static_cast<double>(bits % 1000000) / 1000;
    if (!(value - value == 0) || value == 0) continue;
    const std::string text = to_text(value);
    wrong += std::strtod(text.c_str(), nullptr) != value;

    std::size_t digits = 0, trailing = 0;
    bool leading = true;
    for (const char c : text.substr(0, text.find('e'))) {
      if (c == '.') continue;
      leading = leading && c == '0';
      digits += !leading;
      trailing = c == '0' ? trailing + 1 : 0;
    }
    digits -= trailing;
    if (digits > 1) {
      char shorter[40];
      std::snprintf(shorter, sizeof shorter, "%.*e", static_cast<int>(digits) - 2, value);
      longer += std::strtod(shorter, nullptr) == value;
    }
  }
  CHECK(wrong == 0);
  CHECK(longer == 0);
}

TEST_CASE("JSON text is escaped and numbers are finite or null") {
  std::string json;
  append_json(json, std::string_view("a \"b\" \\ \n\t\x01 é"));
  CHECK(json == "\"a \\\"b\\\" \\\\ \\n\\t\\u0001 é\"");
  json.clear();
  append_json(json, std::numeric_limits<double>::infinity());
  append_json(json, std::numeric_limits<double>::quiet_NaN());
  append_json(json, 2.5);
  CHECK(json == "nullnull2.5");
  CHECK(
      to_json(refuse(Code::kNotInteger, "shaw", "clip", "an integer from 0 to 65536", "1.5")) ==
      "{\"code\":\"not-integer\",\"subject\":\"shaw\",\"argument\":\"clip\",\"allowed\":\"an integer from 0 to 65536\","
      "\"given\":\"1.5\"}");
}
