// Golden bits of every scheme: at least four sets of options each; 1, 7, 64 and 131 tokens; positions from 0, negative,
// fractional, at 2^40 and scattered.
#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

#include "schemes/registry.h"
#include "support/build.h"
#include "support/golden_sets.h"
#include "support/hashes.h"
#include "support/tiles.h"

using namespace posenc;
using namespace posenc_test;

namespace {

std::vector<Reals> places(std::size_t tokens, bool fractions) {
  std::vector<Reals> all = {run(0, tokens), run(-65, tokens), run(fractions ? 0.37 : 0.5, tokens),
                            run(1099511627776.0, tokens), Reals(tokens)};
  for (std::size_t t = 0; t < tokens; ++t) {
    all.back()[t] = static_cast<double>(t * 37 % 101) * (fractions ? 0.731 : 1) - 20;
  }
  return all;
}

class Bytes {
 public:
  template <class Value>
  void add(const std::vector<Value>& values) {
    const auto* first = reinterpret_cast<const std::byte*>(values.data());
    bytes_.insert(bytes_.end(), first, first + values.size() * sizeof(Value));
  }
  std::span<const std::byte> all() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

template <class Real>
std::vector<Real> numbers(std::size_t count) {
  Dice dice(40);
  std::vector<Real> x(count);
  for (Real& value : x) value = static_cast<Real>(dice.real(-1, 1));
  return x;
}

// One axis given to a scheme of several, as the public functions broadcast it.
Reals on_axes(const Scheme& scheme, const Reals& positions) {
  Reals all;
  for (int axis = 0; axis < scheme.axes(); ++axis) all.insert(all.end(), positions.begin(), positions.end());
  return all;
}

template <class Real>
void add_table(const Embed& embed, const Reals& positions, Bytes& bytes) {
  std::vector<Real> table(positions.size() * static_cast<std::size_t>(embed.width()));
  const Reals places = on_axes(embed, positions);
  REQUIRE(embed.encode({places.data(), positions.size(), embed.axes()}, 0, table.data()).ok());
  bytes.add(table);
}

template <class Real>
void add_turned(const Rotate& rotate, const Reals& positions, Bytes& bytes) {
  const std::size_t d = rotate.width() > 0 ? static_cast<std::size_t>(rotate.width()) : 8;
  const Reals places = on_axes(rotate, positions);
  for (const bool inverse : {false, true}) {
    std::vector<Real> x = numbers<Real>(positions.size() * d);
    RotateCall call;
    call.side = inverse ? Side::kKey : Side::kQuery;
    call.inverse = inverse;
    call.length = 4096;
    REQUIRE(rotate.apply(call, {places.data(), positions.size(), rotate.axes()}, x.data(), d, x.data(), d).ok());
    bytes.add(x);
  }
}

// The first head, the last and one between.
std::vector<int> some_heads(const Scheme& scheme) {
  const int heads = scheme.heads();
  if (heads < 3) return heads == 2 ? std::vector<int>{0, 1} : std::vector<int>{0};
  return {0, heads / 2, heads - 1};
}

Bytes results(Slot slot, const Scheme& scheme, std::size_t tokens) {
  Bytes bytes;
  for (const Reals& positions : places(tokens, !scheme.whole_offsets())) {
    if (slot == Slot::kEmbed) {
      add_table<float>(static_cast<const Embed&>(scheme), positions, bytes);
      add_table<double>(static_cast<const Embed&>(scheme), positions, bytes);
    } else if (slot == Slot::kRotate) {
      add_turned<float>(static_cast<const Rotate&>(scheme), positions, bytes);
      add_turned<double>(static_cast<const Rotate&>(scheme), positions, bytes);
    } else if (slot == Slot::kBias) {
      const Bias& bias = static_cast<const Bias&>(scheme);
      for (const int head : some_heads(scheme)) bytes.add(bias_matrix(bias, head, positions, positions));
      bytes.add(index_matrix(bias, false, positions, positions));
    } else {
      const Relate& relate = static_cast<const Relate&>(scheme);
      const std::size_t d = relate.width() > 0 ? static_cast<std::size_t>(relate.width()) : 8;
      const std::vector<float> q = numbers<float>(tokens * d), p = numbers<float>(tokens * tokens);
      for (const int head : some_heads(scheme)) {
        const RelateResult result = relate_matrices(relate, head, q, q, d, 0.25f, p, positions, positions);
        bytes.add(result.scores);
        bytes.add(result.values);
      }
      bytes.add(index_matrix(relate, false, positions, positions));
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("every scheme gives its golden bits") {
  for (const Descriptor* descriptor : catalogue()) {
    INFO(descriptor->name << ": its test names at least four sets of options in GoldenSets");
    const std::vector<std::string>& sets = GoldenSets::of(*descriptor);
    CHECK(sets.size() >= 4);
    for (const std::string& options : sets) {
      const Built built = build(*descriptor, options);
      INFO(options << " " << built.status.message());
      REQUIRE(built.status.ok());
      for (const std::size_t tokens : {1, 7, 64, 131}) {
        std::string name = std::string(slot_name(descriptor->slot)) + "/" + descriptor->name + "/" + options + "/" +
                           std::to_string(tokens);
        for (char& c : name) c = c == ' ' ? ';' : c;  // a name ends at the first space
        posenc::testing::check_hash(name, results(descriptor->slot, *built.scheme, tokens).all());
      }
    }
  }
}
