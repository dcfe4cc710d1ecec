// Golden bits of attention in float64 and of its gradient: the same in every build.
#include <catch2/catch.hpp>

#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "schemes/registry.h"
#include "support/build.h"
#include "support/float64_case.h"
#include "support/hashes.h"

using namespace posenc;
using namespace posenc_test;

namespace {

void check_bits(const std::string& name, AttentionCase& from) {
  Float64Case test(from);
  Status status = test.run(true, true);
  INFO(name << ": " << status.message());
  REQUIRE(status.ok());
  std::vector<double> all;
  const auto add = [&](const std::vector<double>& part) { all.insert(all.end(), part.begin(), part.end()); };
  for (const std::vector<double>* part : {&test.out, &test.lse, &test.weights, &test.content, &test.unrotated,
                                          &test.relate, &test.bias, &test.capped, &test.scores}) {
    add(*part);
  }
  testing::check_hash("attention-float64/" + name, all.data(), all.size());
  status = test.differentiate();
  INFO(status.message());
  REQUIRE(status.ok());
  all.clear();
  for (const std::vector<double>* part : {&test.dq, &test.dk, &test.dv, &test.dsinks}) add(*part);
  for (const Gradients& scheme : test.parameters) {
    for (const Parameter& parameter : scheme.parameters) add(parameter.gradient);
  }
  testing::check_hash("attention-gradient/" + name, all.data(), all.size());
}

AttentionCase masked(const Shape& shape) {
  AttentionCase test(shape, 90);
  test.query_positions = run_of(static_cast<double>(shape.keys - shape.queries), shape.queries);
  test.call.causal = true;
  return test;
}

}  // namespace

TEST_CASE("attention in float64 and its gradient have the same bits in every build") {
  AttentionCase plain({2, 4, 2, 13, 140, 7, 5}, 91);
  check_bits("plain", plain);
  AttentionCase options = masked({1, 2, 1, 21, 150, 6, 4});
  options.call.window_left = 40, options.call.prefix_length = 3, options.call.softcap = 1.25;
  options.sinks = {0.5f, -1.0f};
  options.call.mask.shape[2] = 21, options.call.mask.shape[3] = 150;
  Numbers numbers(92);
  for (int n = 0; n < 21 * 150; ++n) {
    options.mask_added.push_back(numbers.below(3) ? numbers.unit() : -std::numeric_limits<float>::infinity());
  }
  check_bits("options", options);
}

TEST_CASE("attention in float64 and its gradient have the same bits in every build with every scheme") {
  const struct {
    Slot slot;
    const char *name, *options;
  } lines[] = {{Slot::kRotate, "rope", "dim=6 layout=half rotaryDim=4"},
               {Slot::kRotate, "xpos", "dim=6 scaleBase=20"},
               {Slot::kRotate, "queryScale", "law=logn trainLength=9"},
               {Slot::kBias, "alibi", "heads=2"},
               {Slot::kBias, "kerple", "heads=2 kind=power r1=0.3,0.7 r2=1.3"},
               {Slot::kBias, "t5", "heads=2 seed=3"},
               {Slot::kBias, "fire", "heads=2 hidden=6 threshold=8 seed=4"},
               {Slot::kBias, "sandwich", "heads=2 dim=8"},
               {Slot::kBias, "distance", "heads=2 tau=4"},
               {Slot::kRelate, "shaw", "dim=6 valueDim=4 clip=3 seed=5"},
               {Slot::kRelate, "deberta", "heads=2 dim=6 span=5 seed=6"},
               {Slot::kRelate, "transformerXL", "heads=2 dim=6 seed=7"},
               {Slot::kRelate, "cope", "dim=6 maxPosition=5 seed=8"}};
  for (const auto& line : lines) {
    const Built built = build(*find(line.slot, line.name), line.options);
    INFO(line.name << " " << line.options << ": " << built.status.message());
    REQUIRE(built.status.ok());
    AttentionCase test = masked({1, 2, 1, 9, 30, 6, 4});
    const Scheme* scheme = built.scheme.get();
    const auto put = [scheme](auto& list, const auto*& of_slot) {
      of_slot = static_cast<std::remove_reference_t<decltype(of_slot)>>(scheme);
      list = {&of_slot, 1};
    };
    const Rotate* rotate = nullptr;
    const Bias* bias = nullptr;
    const Relate* relate = nullptr;
    if (line.slot == Slot::kRotate) put(test.call.rotate, rotate);
    if (line.slot == Slot::kBias) put(test.call.bias, bias);
    if (line.slot == Slot::kRelate) put(test.call.relate, relate);
    check_bits(line.name, test);
  }
}
