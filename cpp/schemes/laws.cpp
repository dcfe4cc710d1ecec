#include "schemes/laws.h"

namespace posenc {

namespace {

struct Sentences {
  const char* name;
  const char* of[4];  // by slot: embed, rotate, bias, relate
};

constexpr Sentences kLaws[kLawCount] = {
    {"shift_invariant",
     {"The dot product of two positions depends on their distance only.",
      "The score of a query and a key depends on their offset only.",
      "The bias depends on the offset only.",
      "What it adds for given vectors depends on the offset only."}},
    {"isometry", {nullptr, "It keeps the length of every vector.", nullptr, nullptr}},
    {"non_positive", {nullptr, nullptr, "It never raises a score.", nullptr}},
    {"monotone_in_distance", {nullptr, nullptr, "A key farther away never gets a higher bias.", nullptr}},
    {"bounded",
     {"The vectors do not grow with the position.",
      "Lengths do not grow with the position.",
      "The bias does not grow with the distance.",
      "What it adds does not grow with the distance."}},
    {"symmetric",
     {nullptr, nullptr, "Looking back and looking ahead by the same distance get the same bias.",
      "Looking back and looking ahead by the same distance add the same."}},
    {"injective",
     {"No two positions have the same vector in float32.", "No two positions turn a vector alike in float32.", nullptr,
      nullptr}},
    {"extrapolates",
     {"It is defined at every position: no table ends.", "It is defined at every position: no table ends.",
      "It is defined at every distance: no table ends.", "It is defined at every distance: no table ends."}},
    {"identity_at_zero",
     {"Position 0 adds nothing.", "Position 0 changes nothing.", "A query's own position gets no bias.",
      "A query's own position adds nothing."}},
};

}  // namespace

const char* law_name(Law law) { return kLaws[static_cast<int>(law)].name; }

const char* law_sentence(Law law, Slot slot) { return kLaws[static_cast<int>(law)].of[static_cast<int>(slot)]; }

}  // namespace posenc
