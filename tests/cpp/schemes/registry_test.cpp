#include "schemes/registry.h"

#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "schemes/frequency_report.h"
#include "schemes/laws.h"
#include "support/build.h"

using namespace posenc;
using namespace posenc_test;

namespace {

// Skips one JSON value from `at`; npos at a fault. A reader of its own, so that describe() is not its own judge.
std::size_t skip_json(const std::string& json, std::size_t at) {
  const auto fault = std::string::npos;
  if (at >= json.size()) return fault;
  if (json[at] == '"') {
    for (++at; at < json.size() && json[at] != '"'; ++at) {
      if (static_cast<unsigned char>(json[at]) < 0x20) return fault;
      if (json[at] == '\\') ++at;
    }
    return at < json.size() ? at + 1 : fault;
  }
  if (json[at] == '{' || json[at] == '[') {
    const bool object = json[at] == '{';
    const char close = object ? '}' : ']';
    if (json[++at] == close) return at + 1;
    for (;;) {
      if (object) {
        if (json[at] != '"') return fault;
        at = skip_json(json, at);
        if (at == fault || json[at++] != ':') return fault;
      }
      at = skip_json(json, at);
      if (at == fault) return fault;
      if (json[at] == close) return at + 1;
      if (json[at++] != ',') return fault;
    }
  }
  for (const char* word : {"true", "false", "null"}) {
    if (json.compare(at, std::string(word).size(), word) == 0) return at + std::string(word).size();
  }
  const std::size_t end = json.find_first_not_of("0123456789+-.e", at);
  return end == at ? fault : end;
}

Status make_nothing(const Spec&, std::unique_ptr<Scheme>&) { return ok(); }

constexpr Param kParams[] = {
    {.name = "count",
     .kind = Kind::kInteger,
     .sentence = "A \"count\".",
     .min = 1,
     .max = 10,
     .required = true,
     .shown = 3,
     .shown_min = 1,
     .shown_max = 8,
     .shown_log = true,
     .shown_step = 0.5},
    {.name = "half",
     .kind = Kind::kReal,
     .sentence = "S.",
     .fallback_param = "count",
     .min = 0,
     .max = 10,
     .above_min = true},
    {.name = "maybe", .kind = Kind::kReal, .sentence = "S.", .fallback = kNone, .min = -1, .max = 1},
    {.name = "open",
     .kind = Kind::kReal,
     .sentence = "S.",
     .fallback = 2,
     .min = 0,
     .max = std::numeric_limits<double>::infinity(),
     .above_min = true},
    {.name = "mode.kind", .kind = Kind::kChoice, .sentence = "S.", .fallback = 1, .choices = "one|two|three"},
    {.name = "on", .kind = Kind::kFlag, .sentence = "S.", .fallback = 1},
    {.name = "list", .kind = Kind::kList, .sentence = "S.", .min = 0, .max = 1, .shape = "[count]"},
    {.name = "table",
     .kind = Kind::kTable,
     .sentence = "S.",
     .shape = "[count, 2]",
     .can_omit = true,
     .differentiable = true},
};
constexpr Claim kClaims[] = {
    {Law::kExtrapolates},
    {.law = Law::kSymmetric, .param = "mode.kind", .value = 2},
    {.law = Law::kBounded, .when = "count is odd", .holds = [](const Spec& s) { return s.integer("count") % 2 == 1; }},
    {.law = Law::kShiftInvariant, .length = 4096},
};
constexpr Descriptor kDescriptor = {Slot::kBias, "probe", "P", "S.", "x^{2}", "R", kParams, kClaims, make_nothing};

Status check(std::string_view options, void (*more)(Spec&) = nullptr) {
  Built built;
  built.spec = std::make_unique<Spec>(kDescriptor);
  built = build(kDescriptor, options);
  if (more == nullptr) return built.status;
  more(*built.spec);
  return built.spec->check();
}

}  // namespace

TEST_CASE("catalogue: every scheme is found by its slot and name, once, and says what it is") {
  std::set<std::string> names;
  for (const Descriptor* descriptor : catalogue()) {
    INFO(descriptor->name);
    CHECK(find(descriptor->slot, descriptor->name) == descriptor);
    CHECK(names.insert(descriptor->name).second);
    for (const std::string_view text : std::initializer_list<std::string_view>{
             descriptor->title, descriptor->summary, descriptor->formula, descriptor->reference}) {
      CHECK(std::string(text).size() > 2);
      CHECK(std::string(text).find("TODO") == std::string::npos);
    }
    CHECK(std::string(descriptor->summary).back() == '.');
    std::set<std::string> params;
    for (const Param& param : descriptor->params) {
      INFO(param.name);
      CHECK(params.insert(param.name).second);
      CHECK(std::string(param.sentence).back() == '.');
      const bool number = param.kind == Kind::kReal || param.kind == Kind::kInteger;
      if (number || param.kind == Kind::kList) CHECK(param.min < param.max);
      if (param.kind == Kind::kList || param.kind == Kind::kTable) CHECK(param.shape[0] == '[');
      if (param.kind == Kind::kChoice) CHECK(std::string(param.choices).find('|') != std::string::npos);
      if (param.fallback_param[0] != '\0') CHECK(params.count(param.fallback_param) == 1);  // stands before it
      if (param.shown_min < param.shown_max) {
        const double start = param.required || param.fallback != param.fallback ? param.shown : param.fallback;
        CHECK((param.min <= param.shown_min && param.shown_max <= param.max));
        if (number) CHECK((param.shown_min <= start && start <= param.shown_max));
        if (param.shown_log) CHECK(param.shown_min > 0);
      }
      // A figure can start without being asked.
      if (param.required && number) CHECK((param.min <= param.shown && param.shown <= param.max));
    }
    for (const Claim& claim : descriptor->claims) {
      INFO(law_name(claim.law));
      CHECK(law_sentence(claim.law, descriptor->slot) != nullptr);
      if (claim.param[0] != '\0') CHECK(params.count(claim.param) == 1);
      CHECK(std::string_view(claim.when).empty() == (claim.holds == nullptr));
      CHECK((claim.length > 0) == (claim.law == Law::kInjective));
    }
  }
  CHECK(find(Slot::kEmbed, "nothing") == nullptr);
  CHECK(find(Slot::kEmbed, "alibi") == nullptr);
}

TEST_CASE("catalogue: describe() is JSON and holds every scheme") {
  const std::string json = describe();
  CHECK(skip_json(json, 0) == json.size());
  CHECK(json.find("nan") == std::string::npos);
  CHECK(json.find("nfinity") == std::string::npos);
  for (const Descriptor* descriptor : catalogue()) {
    CHECK(json.find("{\"slot\":\"" + std::string(slot_name(descriptor->slot)) + "\",\"name\":\"" + descriptor->name +
                    "\"") != std::string::npos);
  }
}

TEST_CASE("catalogue: a descriptor becomes JSON member by member") {
  CHECK(describe(kDescriptor) ==
        R"({"slot":"bias","name":"probe","title":"P","summary":"S.","formula":"x^{2}","reference":"R","params":[)"
        R"({"name":"count","kind":"integer","sentence":"A \"count\".","allowed":"an integer from 1 to 10",)"
        R"("required":true,"default":null,"min":1,"max":10,"aboveMin":false,)"
        R"("shown":{"value":3,"min":1,"max":8,"log":true,"step":0.5}},)"
        R"({"name":"half","kind":"real","sentence":"S.","allowed":"a number above 0 and at most 10",)"
        R"("required":false,"default":null,"defaultParam":"count","min":0,"max":10,"aboveMin":true},)"
        R"({"name":"maybe","kind":"real","sentence":"S.","allowed":"a number from -1 to 1","required":false,)"
        R"("default":null,"min":-1,"max":1,"aboveMin":false},)"
        R"({"name":"open","kind":"real","sentence":"S.","allowed":"a number above 0","required":false,"default":2,)"
        R"("min":0,"max":null,"aboveMin":true},)"
        R"({"name":"mode.kind","kind":"choice","sentence":"S.","allowed":"\"one\", \"two\" or \"three\"",)"
        R"("required":false,"default":"two","choices":["one","two","three"]},)"
        R"({"name":"on","kind":"flag","sentence":"S.","allowed":"true or false","required":false,"default":true},)"
        R"({"name":"list","kind":"list","sentence":"S.","allowed":"a list [count] of numbers from 0 to 1",)"
        R"("required":false,"default":null,"min":0,"max":1,"aboveMin":false,"shape":"[count]"},)"
        R"({"name":"table","kind":"table","sentence":"S.","allowed":"a table [count, 2] of finite numbers, or false",)"
        R"("required":false,"default":null,"shape":"[count, 2]","canOmit":true,"differentiable":true}],"laws":[)"
        R"({"law":"extrapolates","sentence":"It is defined at every distance: no table ends."},)"
        R"({"law":"symmetric","sentence":"Looking back and looking ahead by the same distance get the same bias.",)"
        R"("when":{"param":"mode.kind","value":"three","text":"mode.kind is \"three\""}},)"
        R"({"law":"bounded","sentence":"The bias does not grow with the distance.","when":{"text":"count is odd"}},)"
        R"({"law":"shift_invariant","sentence":"The bias depends on the offset only.","length":4096}]})");
}

TEST_CASE("spec: defaults are filled in, given values are kept") {
  const Built built = build(kDescriptor, "count=4 mode.kind=three list=0,0.5,1");
  REQUIRE(built.status.ok());
  const Spec& spec = *built.spec;
  CHECK(spec.integer("count") == 4);
  CHECK(spec.number("half") == 4);
  CHECK(spec.number("maybe") != spec.number("maybe"));
  CHECK(spec.choice("mode.kind") == 2);
  CHECK(spec.flag("on"));
  CHECK(spec.has("count"));
  CHECK_FALSE(spec.has("half"));
  CHECK(spec.has("list"));
  CHECK_FALSE(spec.has("table"));
  CHECK(spec.table("list").size() == 3);
  CHECK(kClaims[0].applies_to(spec));
  CHECK(kClaims[1].applies_to(spec));
  CHECK_FALSE(kClaims[2].applies_to(spec));
}

TEST_CASE("spec: each fault has its code, its name and what is allowed") {
  CHECK(check("count=3").ok());
  CHECK(check("").message() == "probe: count is missing, it must be an integer from 1 to 10");
  CHECK(check("").code == Code::kMissingOption);
  CHECK(check("count=3 half=0").message() == "probe: half must be a number above 0 and at most 10, got 0");
  CHECK(check("count=3 open=-0.5").message() == "probe: open must be a number above 0, got -0.5");
  CHECK(check("count=3 open=inf").code == Code::kNotFinite);
  CHECK(check("count=3 maybe=nan").code == Code::kNotANumber);
  CHECK(check("count=3 maybe=1.0000000000000002").message() ==
        "probe: maybe must be a number from -1 to 1, got 1.0000000000000002");
  CHECK(check("count=2.5").code == Code::kNotInteger);
  CHECK(check("count=11").code == Code::kOutOfRange);
  CHECK(check("count=1e300").code == Code::kOutOfRange);
  CHECK(check("count=3 mode.kind=four").message() ==
        "probe: mode.kind must be \"one\", \"two\" or \"three\", got \"four\"");
  CHECK(check("count=3 nothing=1").code == Code::kUnknownOption);
  CHECK(check("count=3 list=0,2").message() == "probe: list must be a list [count] of numbers from 0 to 1, got 2");
  CHECK(check("count=3 list=0,nan").code == Code::kNotFinite);
  CHECK(check("count=3 list=false").code == Code::kNotANumber);
  CHECK(check("count=3 table=false").ok());
  CHECK(check("count=3", [](Spec& spec) { spec.set_number(4, 3); }).code == Code::kUnknownChoice);
  CHECK(check("count=3", [](Spec& spec) { spec.set_number(4, 0.5); }).code == Code::kUnknownChoice);
  CHECK(check("count=3", [](Spec& spec) { spec.set_number(5, 2); }).code == Code::kOutOfRange);
  static const float table[] = {0, 1, NAN};
  CHECK(check("count=3", [](Spec& spec) { spec.set_table(7, Table::of(table, {3})); }).code == Code::kNotFinite);
  CHECK(check("count=3", [](Spec& spec) { spec.set_table(7, Table::of(table, {2})); }).ok());
}

TEST_CASE("tiles: unit steps are those whose differences are exact") {
  const double whole[] = {5, 6, 7}, fraction[] = {0.375, 1.375, 2.375}, tenth[] = {0.1, 1.1, 2.1}, gap[] = {0, 1, 3},
               far[] = {1099511627776.0, 1099511627777.0}, back[] = {2, 1};
  CHECK(unit_steps(whole, 3));
  CHECK(unit_steps(whole, 1));
  CHECK(unit_steps(fraction, 3));
  CHECK_FALSE(unit_steps(tenth, 3));
  CHECK_FALSE(unit_steps(gap, 3));
  CHECK_FALSE(unit_steps(far, 2));
  CHECK_FALSE(unit_steps(back, 2));
  CHECK_FALSE(unit_steps(whole, 0));
}

TEST_CASE("frequency reports become JSON without Infinity, and other schemes have none") {
  FrequencyReport report;
  report.inverse = {1, 0};
  report.wavelength = {6.25, std::numeric_limits<double>::infinity()};
  report.base = 10000;
  report.band = {FrequencyReport::Band::kKept, FrequencyReport::Band::kScaled};
  report.low = 3;
  report.notes = {"a \"b\""};
  CHECK(to_json(report) ==
        R"({"inverse":[1,0],"wavelength":[6.25,null],"base":10000,"attentionFactor":1,"band":["kept","scaled"],)"
        R"("low":3,"notes":["a \"b\""]})");
  const Built built = build(schemes::bias_alibi, "heads=2");
  const Status status = built.scheme->frequencies(0, report);
  CHECK(status.code == Code::kUnsupported);
  CHECK(status.message() == "frequencies: scheme must be one that turns pairs, as sinusoidal and rope do, got alibi");
}
