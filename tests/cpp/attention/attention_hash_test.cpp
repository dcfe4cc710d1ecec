// Golden bits of attention: every build must give them, and give them again after 10,000 calls, when engines have
// compiled the module anew.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "attention/attention.h"
#include "schemes/registry.h"
#include "support/attention_case.h"
#include "support/build.h"
#include "support/hashes.h"

using namespace posenc;
using namespace posenc_test;

namespace {

// Hashes out, lse, weights and, where it was asked for, the trace.
void check_bits(const std::string& name, AttentionCase& test, bool trace = false) {
  const Status status = test.run(true, trace);
  INFO(name << ": " << status.message());
  REQUIRE(status.ok());
  std::vector<float> all = test.out;
  std::vector<const std::vector<float>*> parts = {&test.lse, &test.weights};
  if (trace) parts.insert(parts.end(), {&test.content, &test.unrotated, &test.relate, &test.bias, &test.scores});
  if (trace && test.call.softcap > 0) parts.push_back(&test.capped);
  for (const std::vector<float>* part : parts) all.insert(all.end(), part->begin(), part->end());
  testing::check_hash("attention/" + name, all.data(), all.size());
}

struct Schemes {
  explicit Schemes(std::size_t heads, std::size_t width, std::size_t value_width)
      : alibi(build(*find(Slot::kBias, "alibi"), "heads=" + std::to_string(heads))),
        rope(build(*find(Slot::kRotate, "rope"), "dim=" + std::to_string(width))),
        shaw(build(*find(Slot::kRelate, "shaw"),
                   "dim=" + std::to_string(width) + " clip=5 seed=3 valueDim=" + std::to_string(value_width))) {
    for (const Built* built : {&alibi, &rope, &shaw}) {
      INFO(built->status.message());
      REQUIRE(built->status.ok());
    }
    bias[0] = &alibi.as<Bias>();
    rotate[0] = &rope.as<Rotate>();
    relate[0] = &shaw.as<Relate>();
  }
  Built alibi, rope, shaw;
  const Bias* bias[1];
  const Rotate* rotate[1];
  const Relate* relate[1];
};

AttentionCase masked() {
  AttentionCase test({2, 4, 2, 45, 150, 10, 6}, 50);
  test.query_positions = run_of(100, 45);
  test.call.causal = true;
  return test;
}

}  // namespace

TEST_CASE("attention has the same bits in every build") {
  AttentionCase ragged({1, 2, 2, 67, 131, 7, 5}, 40);
  check_bits("ragged", ragged);
  AttentionCase wide({1, 1, 1, 40, 300, 64, 64}, 41, 4);
  check_bits("wide", wide);
  AttentionCase grouped({2, 6, 2, 33, 70, 12, 20}, 42);
  check_bits("grouped", grouped);
  AttentionCase causal({1, 2, 1, 200, 200, 16, 16}, 43);
  causal.call.causal = true;
  check_bits("causal", causal);
  AttentionCase windowed({1, 2, 1, 200, 200, 16, 16}, 44);
  windowed.call.window_left = 20, windowed.call.window_right = 3;
  check_bits("windowed", windowed);
  AttentionCase combined = masked();
  combined.call.prefix_length = 2;
  combined.call.window_left = 60;
  combined.key_lengths = {150, 120};
  combined.key_mask.assign(150, 1);
  for (std::size_t j = 0; j < 150; j += 7) combined.key_mask[j] = 0;
  check_bits("masks", combined, true);
  AttentionCase poisoned = masked();
  poisoned.call.allow_non_finite = true;
  poisoned.k[120 * 10 + 1] = std::numeric_limits<float>::quiet_NaN();
  poisoned.v[130 * 6 + 2] = std::numeric_limits<float>::infinity();
  check_bits("not-finite", poisoned, true);
}

TEST_CASE("attention with masks of pairs, a soft-cap and sinks has the same bits in every build") {
  const Schemes schemes(4, 10, 6);
  Numbers numbers(51);
  AttentionCase boolean = masked(), additive = masked(), capped = masked(), all = masked();
  boolean.call.mask.shape[0] = 2, boolean.call.mask.shape[2] = 45, boolean.call.mask.shape[3] = 150;
  for (std::size_t n = 0; n < 2 * 45 * 150; ++n) boolean.mask_seen.push_back(numbers.below(3) != 0);
  check_bits("boolean-mask", boolean, true);
  additive.call.mask.shape[1] = 4, additive.call.mask.shape[2] = 45, additive.call.mask.shape[3] = 150;
  for (std::size_t n = 0; n < 4 * 45 * 150; ++n) {
    additive.mask_added.push_back(numbers.below(3) ? numbers.unit() : -std::numeric_limits<float>::infinity());
  }
  check_bits("additive-mask", additive, true);
  capped.call.softcap = 1.25;
  check_bits("softcap", capped, true);
  all.call.bias = schemes.bias, all.call.rotate = schemes.rotate, all.call.relate = schemes.relate;
  all.mask_added = additive.mask_added;
  std::copy(additive.call.mask.shape, additive.call.mask.shape + 4, all.call.mask.shape);
  all.call.softcap = 0.75;
  all.sinks = {0.5f, -1, 2.25f, 0};
  check_bits("all-options", all, true);
}

TEST_CASE("attention with schemes has the same bits in every build") {
  const Schemes schemes(4, 10, 6);
  AttentionCase bias = masked(), rotate = masked(), relate = masked(), all = masked();
  bias.call.bias = schemes.bias;
  check_bits("bias", bias, true);
  rotate.call.rotate = schemes.rotate;
  check_bits("rotate", rotate, true);
  relate.call.relate = schemes.relate;
  check_bits("relate", relate, true);
  all.call.bias = schemes.bias, all.call.rotate = schemes.rotate, all.call.relate = schemes.relate;
  check_bits("all-slots", all, true);
  AttentionCase fractional = masked();
  fractional.call.rotate = schemes.rotate, fractional.call.bias = schemes.bias;
  for (double& position : fractional.query_positions) position = position * 0.37 + 1099511627776.0;
  fractional.key_positions = run_of(1099511627776.25, 150);
  check_bits("far-and-fractional", fractional);
}

TEST_CASE("attention has the same bits after 10,000 calls") {
  const Schemes schemes(2, 8, 8);
  AttentionCase test({1, 2, 1, 6, 6, 8, 8}, 45);
  test.call.causal = true;
  test.call.bias = schemes.bias, test.call.rotate = schemes.rotate, test.call.relate = schemes.relate;
  check_bits("small", test);
  for (int n = 0; n < 10000; ++n) {
    if (!attention(test.call).ok()) FAIL("call " << n);
  }
  check_bits("small", test);
}
