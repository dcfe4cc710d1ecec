// Masks of pairs, soft-cap and sinks against the oracle, alone, together and with every other rule of visibility.
#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>

#include "attention/attention.h"
#include "support/attention_case.h"
#include "support/schemes_for_attention.h"

using namespace posenc_test;
using posenc::Bias;
using posenc::Code;
using posenc::Relate;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

// A mask with entries of the full size along the axes of `full` (B, H, Tq, Tk), broadcast along the others.
void give_mask(AttentionCase& test, Numbers& numbers, unsigned full, bool added, std::size_t hidden_of_8) {
  const std::size_t sizes[] = {test.shape.batch, test.shape.heads, test.shape.queries, test.shape.keys};
  std::size_t count = 1;
  for (unsigned axis = 0; axis < 4; ++axis) {
    test.call.mask.shape[axis] = full >> axis & 1 ? sizes[axis] : 1;
    count *= test.call.mask.shape[axis];
  }
  for (std::size_t n = 0; n < count; ++n) {
    const bool hidden = numbers.below(8) < hidden_of_8;
    if (added) {
      test.mask_added.push_back(hidden ? -kInfinity : numbers.unit() * 3);
    } else {
      test.mask_seen.push_back(hidden ? 0 : 1);
    }
  }
}

// The trace adds up to the last bit, through the cap where there is one, and leaves the result alone.
void check_trace(AttentionCase& test) {
  REQUIRE(test.run().ok());
  const std::vector<float> out = test.out, lse = test.lse;
  REQUIRE(test.run(true, true).ok());
  CHECK(same_bits(out, test.out));
  CHECK(same_bits(lse, test.lse));
  std::size_t wrong = 0;
  double worst = 0;
  const double cap = static_cast<float>(test.call.softcap);
  for (std::size_t n = 0; n < test.cells(); ++n) {
    const std::size_t j = n % test.shape.keys, i = n / test.shape.keys % test.shape.queries;
    const std::size_t row = n / test.shape.keys / test.shape.queries;
    const bool visible = test.visible(row / test.shape.heads, row % test.shape.heads, i, j);
    wrong += test.masked[n] != (visible ? 0 : 1);
    wrong += test.weights[n] != 0 && !visible;
    wrong += test.scores[n] != (visible ? test.capped[n] + test.bias[n] : -kInfinity);
    if (!visible) continue;
    const float sum = test.content[n] + test.relate[n];
    wrong += cap == 0 && test.capped[n] != sum;
    if (cap > 0) {
      const double truth = cap * std::tanh(sum / cap);
      worst = std::max(worst, std::abs(test.capped[n] - truth) / std::max(std::abs(truth), 1e-30));
    }
  }
  CHECK(wrong == 0);
  CHECK(worst < 4 * 0x1p-24);
}

}  // namespace

TEST_CASE("masks of pairs broadcast over any axes, boolean and additive") {
  Numbers numbers(31);
  for (unsigned full = 0; full < 16; ++full) {
    for (const bool added : {false, true}) {
      AttentionCase test({2, 4, 2, 21, 139, 6, 5}, 100 + full);
      give_mask(test, numbers, full, added, full == 15 ? 3 : 2);
      CAPTURE(full, added);
      test.check();
      check_trace(test);
    }
  }
}

TEST_CASE("masks of pairs, soft-cap and sinks agree with the equations beside every other option") {
  Numbers numbers(78);
  DistanceBias distance;
  const Bias* biases[] = {&distance};
  for (int round = 0; round < 100; ++round) {
    Shape shape;
    shape.batch = 1 + numbers.below(3);
    shape.kv_heads = 1 + numbers.below(2);
    shape.heads = shape.kv_heads * (1 + numbers.below(3));
    shape.queries = 1 + numbers.below(numbers.below(4) == 0 ? 150 : 30);
    shape.keys = 1 + numbers.below(numbers.below(3) == 0 ? 300 : 40);
    shape.width = 1 + numbers.below(20);
    shape.value_width = 1 + numbers.below(20);
    AttentionCase test(shape, static_cast<std::uint32_t>(round) + 5000);
    std::string options;
    if (numbers.below(4) != 0) {
      const bool added = numbers.below(2) != 0;
      give_mask(test, numbers, static_cast<unsigned>(numbers.below(16)), added, 1 + numbers.below(7));
      options += added ? "additive mask " : "boolean mask ";
    }
    if (numbers.below(2)) test.call.softcap = 0.25 + numbers.below(8), options += "softcap ";
    if (numbers.below(2)) {
      test.sinks = numbers.floats(shape.heads, 5);
      options += "sinks ";
    }
    if (numbers.below(2)) test.call.causal = true, options += "causal ";
    if (numbers.below(3) == 0) {
      test.call.window_left = static_cast<double>(numbers.below(shape.keys));
      options += "left ";
    }
    if (numbers.below(3) == 0) test.call.prefix_length = static_cast<double>(numbers.below(9)), options += "prefix ";
    if (numbers.below(3) == 0) {
      for (std::size_t j = 0; j < shape.keys; ++j) {
        test.key_mask.push_back(static_cast<std::uint8_t>(numbers.below(4) != 0));
      }
      options += "keyMask ";
    }
    if (numbers.below(3) == 0) {
      for (std::size_t b = 0; b < shape.batch; ++b) {
        test.key_lengths.push_back(static_cast<double>(numbers.below(shape.keys + 2)));
      }
      options += "keyLengths ";
    }
    if (numbers.below(2)) {
      const double first = static_cast<double>(shape.keys) - static_cast<double>(shape.queries);
      test.query_positions = run_of(first, shape.queries);
      options += "bottom-right ";
    }
    Meaning meaning;
    if (numbers.below(2)) {
      test.call.bias = biases;
      meaning.bias = [&](std::size_t h, std::size_t i, std::size_t j) {
        const double query = test.query_positions.empty() ? static_cast<double>(i) : test.query_positions[i];
        return DistanceBias::at(h, static_cast<double>(j) - query);
      };
      options += "bias ";
    }
    CAPTURE(round, options, shape.batch, shape.heads, shape.kv_heads, shape.queries, shape.keys);
    test.check(meaning);
    check_trace(test);
  }
}

TEST_CASE("relations meet masks of pairs, the soft-cap and sinks") {
  const std::size_t d = 6, dv = 5;
  const std::vector<float> keys = Numbers(1).floats(9 * d), values = Numbers(2).floats(9 * dv);
  const ClippedRelation clipped(4, keys, values, dv);
  const Relate* list[] = {&clipped};
  AttentionCase test({2, 4, 2, 41, 141, d, dv}, 15);
  Numbers numbers(6);
  give_mask(test, numbers, 0b1101, true, 3);
  test.query_positions = run_of(100, 41);
  test.call.causal = true;
  test.call.relate = list;
  test.call.softcap = 1.5;
  test.sinks = {0.5f, -1, 3, 12};
  const auto row_of = [&](Eigen::Index i, Eigen::Index j) {
    return static_cast<std::size_t>(clipped.row(test.key_positions[static_cast<std::size_t>(j)] -
                                                test.query_positions[static_cast<std::size_t>(i)]));
  };
  Meaning meaning;
  meaning.relate = [&](std::size_t, const Matrix& q, const Matrix&, const Matrix&, const Matrix&) {
    Matrix relate = Matrix::Zero(q.rows(), 141);
    for (Eigen::Index i = 0; i < relate.rows(); ++i) {
      for (Eigen::Index j = 0; j < relate.cols(); ++j) {
        for (std::size_t c = 0; c < d; ++c) {
          relate(i, j) += q(i, static_cast<Eigen::Index>(c)) * keys[row_of(i, j) * d + c];
        }
      }
    }
    return Matrix(relate * static_cast<float>(test.call.scale));
  };
  meaning.value_relation = [&](std::size_t, std::size_t i, std::size_t j) {
    Vector a(static_cast<Eigen::Index>(dv));
    for (std::size_t c = 0; c < dv; ++c) {
      a(static_cast<Eigen::Index>(c)) =
          values[row_of(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) * dv + c];
    }
    return a;
  };
  test.check(meaning);
  check_trace(test);
}

TEST_CASE("a mask of pairs gives the bits of the rule it spells out") {
  AttentionCase rule({2, 2, 1, 150, 300, 10, 7}, 12);
  rule.call.causal = true;
  rule.call.window_left = 140;
  rule.query_positions = run_of(150, 150);
  rule.key_lengths = {300, 210};
  REQUIRE(rule.run(true).ok());
  for (const bool added : {false, true}) {
    AttentionCase mask = rule;
    mask.call.causal = false, mask.call.window_left = std::numeric_limits<double>::infinity();
    mask.key_lengths.clear();
    const std::size_t shape[] = {2, 1, 150, 300};
    std::copy(shape, shape + 4, mask.call.mask.shape);
    for (std::size_t b = 0; b < 2; ++b) {
      for (std::size_t i = 0; i < 150; ++i) {
        for (std::size_t j = 0; j < 300; ++j) {
          const bool seen = rule.visible(b, 0, i, j);
          if (added) mask.mask_added.push_back(seen ? 0 : -kInfinity);
          else mask.mask_seen.push_back(seen);
        }
      }
    }
    REQUIRE(mask.run(true).ok());
    CAPTURE(added);
    CHECK(same_bits(mask.out, rule.out));
    CHECK(same_bits(mask.lse, rule.lse));
    CHECK(same_bits(mask.weights, rule.weights));
    REQUIRE(mask.run().ok());
    CHECK(same_bits(mask.out, rule.out));
  }
}

namespace {

// Watches attention: a bias is asked for every tile that is computed.
class Count : public DistanceBias {
 public:
  mutable std::size_t tiles = 0;
  void fill(const posenc::Tile& tile, float* b) const override {
    ++tiles;
    DistanceBias::fill(tile, b);
  }
};

// Tiles of `queries` by `keys` in which a pair is seen, one by one.
template <class Seen>
std::size_t tiles_with(std::size_t queries, std::size_t keys, Seen seen) {
  std::size_t tiles = 0;
  for (std::size_t i = 0; i < queries; i += posenc::kLanes) {
    for (std::size_t j = 0; j < keys; j += posenc::kKeyBlock) {
      bool any = false;
      for (std::size_t pair = 0; pair < posenc::kLanes * posenc::kKeyBlock; ++pair) {
        const std::size_t y = i + pair / posenc::kKeyBlock, x = j + pair % posenc::kKeyBlock;
        any = any || (y < queries && x < keys && seen(static_cast<double>(y), static_cast<double>(x)));
      }
      tiles += any ? 1 : 0;
    }
  }
  return tiles;
}

}  // namespace

TEST_CASE("tiles that the causal rule or a window hides altogether are not computed") {
  constexpr std::size_t n = 1024;
  const double whole = static_cast<double>(n / posenc::kLanes * (n / posenc::kKeyBlock));
  const auto computed = [](auto set) {
    Count count;
    const Bias* list[] = {&count};
    AttentionCase test({1, 1, 1, n, n, 4, 4}, 1);
    test.query_positions = run_of(0, n);
    test.call.bias = list;
    set(test);
    REQUIRE(test.run().ok());
    return count.tiles;
  };
  CHECK(static_cast<double>(computed([](AttentionCase&) {})) == whole);

  // Half of the square, and the tiles on its diagonal: n / lanes rows of tiles, each of which ends in half a block more.
  const std::size_t causal = computed([](AttentionCase& test) { test.call.causal = true; });
  CHECK(causal == tiles_with(n, n, [](double i, double j) { return j <= i; }));
  CHECK(static_cast<double>(causal) <= whole / 2 + static_cast<double>(n / posenc::kLanes) / 2);

  for (const std::size_t width : {std::size_t{1}, std::size_t{64}, std::size_t{200}}) {
    for (const bool one_sided : {true, false}) {
      CAPTURE(width, one_sided);
      const std::size_t window = computed([=](AttentionCase& test) {
        test.call.causal = one_sided;
        test.call.window_left = static_cast<double>(width - 1);
        if (!one_sided) test.call.window_right = static_cast<double>(width - 1);
      });
      const double reach = static_cast<double>(width);
      CHECK(window == tiles_with(n, n, [=](double i, double j) {
              return i - j < reach && (one_sided ? j <= i : j - i < reach);
            }));
      // Eight queries side by side see so many keys, which touch one block more than they fill, at most.
      const double seen = (one_sided ? reach : 2 * reach - 1) + posenc::kLanes - 1;
      const double row = seen / posenc::kKeyBlock + 1;
      CHECK(static_cast<double>(window) <= row * static_cast<double>(n / posenc::kLanes));
      CHECK(static_cast<double>(window) <= (seen + posenc::kKeyBlock) / static_cast<double>(n) * whole);
    }
  }
}

TEST_CASE("tiles that a mask hides altogether are not computed") {
  for (const bool added : {false, true}) {
    Count count;
    const Bias* list[] = {&count};
    AttentionCase test({1, 1, 1, 256, 512, 4, 4}, 1);
    test.call.bias = list;
    test.call.mask.shape[2] = 256, test.call.mask.shape[3] = 512;
    for (std::size_t i = 0; i < 256; ++i) {
      for (std::size_t j = 0; j < 512; ++j) {
        const bool seen = j / 128 == i / 64;
        if (added) test.mask_added.push_back(seen ? 0 : -kInfinity);
        else test.mask_seen.push_back(seen);
      }
    }
    REQUIRE(test.run().ok());
    CHECK(count.tiles == 256 / posenc::kLanes);
  }
}

TEST_CASE("with masks of pairs, cap and sinks a row depends on its query and the keys only") {
  AttentionCase all({2, 4, 2, 141, 270, 20, 11}, 9);
  Numbers numbers(3);
  give_mask(all, numbers, 0b1111, true, 4);
  all.call.softcap = 2;
  all.sinks = {1, -2, 0.5f, 3};
  REQUIRE(all.run(true).ok());
  for (const std::size_t first : {std::size_t{0}, std::size_t{3}, std::size_t{77}, std::size_t{140}}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{13}, std::size_t{64}}) {
      if (first + count > 141) continue;
      AttentionCase some({1, 1, 1, count, 270, 20, 11}, 0);
      const std::size_t row = (1 * 4 + 3) * 141 + first;
      const auto part = [&](const std::vector<float>& x, std::size_t width) {
        const auto begin = x.begin() + static_cast<std::ptrdiff_t>(row * width);
        return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(count * width));
      };
      some.q = part(all.q, 20), some.mask_added = part(all.mask_added, 270);
      some.k.assign(all.k.end() - 270 * 20, all.k.end());
      some.v.assign(all.v.end() - 270 * 11, all.v.end());
      some.call.mask.shape[2] = count, some.call.mask.shape[3] = 270;
      some.call.softcap = 2;
      some.sinks = {3};
      REQUIRE(some.run(true).ok());
      CAPTURE(first, count);
      CHECK(same_bits(some.out, part(all.out, 11)));
      CHECK(same_bits(some.lse, part(all.lse, 1)));
      CHECK(same_bits(some.weights, part(all.weights, 270)));
    }
  }
}

TEST_CASE("NaN and Inf behind a mask of pairs never leak") {
  for (const bool added : {false, true}) {
    for (const float poison : {kNan, kInfinity, -kInfinity}) {
      for (const int where : {0, 1, 2}) {  // keys, values, or an additive mask behind the causal rule
        AttentionCase clean({1, 2, 1, 40, 150, 8, 6}, 31);
        clean.call.allow_non_finite = true;
        clean.call.causal = where == 2;
        clean.query_positions = run_of(110, 40);
        clean.call.mask.shape[2] = 40, clean.call.mask.shape[3] = 150;
        for (std::size_t i = 0; i < 40; ++i) {
          for (std::size_t j = 0; j < 150; ++j) {
            const bool seen = where == 2 || j != 130 || i % 3 == 0;
            if (added) clean.mask_added.push_back(seen ? static_cast<float>(j % 5) : -kInfinity);
            else clean.mask_seen.push_back(seen);
          }
        }
        if (where == 2 && !added) continue;
        clean.sinks = {1, 2};
        REQUIRE(clean.run(true).ok());
        AttentionCase test = clean;
        if (where == 0) test.k[130 * 8 + 3] = poison;
        if (where == 1) test.v[130 * 6 + 3] = poison;
        if (where == 2) {
          for (std::size_t i = 0; i < 40; ++i) test.mask_added[i * 150 + 130] = poison;
        }
        for (const bool traced : {false, true}) {
          REQUIRE(test.run(true, traced).ok());
          CAPTURE(added, poison, where, traced);
          std::size_t leaks = 0, reached = 0;
          for (std::size_t row = 0; row < test.rows(); ++row) {
            const std::size_t i = row % 40;
            const bool sees = where == 2 ? 110 + i >= 130 : i % 3 == 0;
            const bool same = std::memcmp(&test.out[row * 6], &clean.out[row * 6], 6 * sizeof(float)) == 0 &&
                              std::memcmp(&test.lse[row], &clean.lse[row], sizeof(float)) == 0;
            leaks += !sees && !same;
            reached += sees && !same;
          }
          CHECK(leaks == 0);
          CHECK(reached > 0);
        }
      }
    }
  }
  // A column that is masked altogether: [[1]], not NaN.
  for (const bool added : {false, true}) {
    AttentionCase test({1, 1, 1, 1, 2, 1, 1}, 0);
    test.call.allow_non_finite = true;
    test.call.mask.shape[3] = 2;
    if (added) test.mask_added = {0, -kInfinity};
    else test.mask_seen = {1, 0};
    for (const float poison : {kNan, kInfinity}) {
      test.k = {1, poison}, test.v = {1, poison};
      REQUIRE(test.run(true).ok());
      CHECK(test.out[0] == 1);
      CHECK(test.weights == std::vector<float>{1, 0});
    }
  }
}

TEST_CASE("rows that a mask of pairs empties are zero, sinks or not") {
  for (const bool added : {false, true}) {
    for (const bool sinks : {false, true}) {
      AttentionCase test({1, 2, 1, 12, 140, 4, 4}, 3);
      test.call.mask.shape[2] = 12;
      for (std::size_t i = 0; i < 12; ++i) {
        if (added) test.mask_added.push_back(i % 4 == 1 ? -kInfinity : 0);
        else test.mask_seen.push_back(i % 4 != 1);
      }
      if (sinks) test.sinks = {4, -4};
      test.check();
      CAPTURE(added, sinks);
      REQUIRE(test.run(true, true).ok());
      for (std::size_t row = 0; row < 24; ++row) {
        const bool empty = row % 4 == 1;
        double sum = 0;
        for (std::size_t j = 0; j < 140; ++j) sum += test.weights[row * 140 + j];
        CHECK((test.lse[row] == -kInfinity) == empty);
        CHECK((sum == 0) == empty);
        CHECK((test.out[row * 4] == 0) == empty);
      }
    }
  }
}

TEST_CASE("left padding: early rows are zero, the others those of the tokens alone") {
  AttentionCase tokens({1, 2, 1, 9, 9, 6, 5}, 4);
  tokens.call.causal = true;
  REQUIRE(tokens.run().ok());
  for (const bool by_mask : {false, true}) {
    AttentionCase padded({1, 2, 1, 14, 14, 6, 5}, 8);
    padded.call.causal = true;
    padded.call.allow_non_finite = true;
    const auto place = [](std::vector<float>& to, const std::vector<float>& from, std::size_t heads,
                          std::size_t width) {
      std::fill(to.begin(), to.end(), kNan);  // what padding holds is nobody's
      for (std::size_t h = 0; h < heads; ++h) {
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(h * 9 * width), 9 * width,
                    to.begin() + static_cast<std::ptrdiff_t>((h * 14 + 5) * width));
      }
    };
    place(padded.q, tokens.q, 2, 6), place(padded.k, tokens.k, 1, 6), place(padded.v, tokens.v, 1, 5);
    const std::vector<std::uint8_t> there = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    if (by_mask) padded.mask_seen = there, padded.call.mask.shape[3] = 14;
    else padded.key_mask = there;
    REQUIRE(padded.run().ok());
    for (std::size_t h = 0; h < 2; ++h) {
      for (std::size_t i = 0; i < 14; ++i) {
        const std::size_t row = h * 14 + i;
        for (std::size_t c = 0; c < 5; ++c) {
          const float wanted = i < 5 ? 0 : tokens.out[(h * 9 + i - 5) * 5 + c];
          CHECK(padded.out[row * 5 + c] == Approx(wanted).epsilon(1e-6));
        }
        CHECK((padded.lse[row] == -kInfinity) == (i < 5));
      }
    }
  }
}

TEST_CASE("sinks by hand") {
  // Three keys of score 0 and a sink of ln 3: the sink has one half, each key a sixth.
  AttentionCase test({1, 1, 1, 1, 3, 2, 1}, 0);
  test.q = {0, 0};
  test.v = {6, 12, 18};
  test.sinks = {1.0986123f};
  REQUIRE(test.run(true, true).ok());
  for (const float weight : test.weights) CHECK(weight == Approx(1.0 / 6).epsilon(1e-6));
  CHECK(test.out[0] == Approx(6).epsilon(1e-6));
  CHECK(test.lse[0] == Approx(std::log(6.0)).epsilon(1e-6));
  CHECK(test.scores == std::vector<float>{0, 0, 0});
  // Not scaled, and not capped.
  test.call.scale = 0.001, test.call.softcap = 0.5;
  REQUIRE(test.run(true).ok());
  CHECK(test.lse[0] == Approx(std::log(6.0)).epsilon(1e-6));
  // Far above every score it takes all; far below it changes no bit.
  test.sinks = {200};
  REQUIRE(test.run(true).ok());
  CHECK(test.out[0] == 0);
  CHECK(test.weights == std::vector<float>{0, 0, 0});
  CHECK(test.lse[0] == 200);
  AttentionCase without({1, 2, 1, 20, 150, 6, 5}, 2), with = without;
  with.sinks = {-200, -300};
  REQUIRE(without.run(true).ok());
  REQUIRE(with.run(true).ok());
  CHECK(same_bits(with.out, without.out));
  CHECK(same_bits(with.lse, without.lse));
  CHECK(same_bits(with.weights, without.weights));
}

TEST_CASE("a soft-cap bounds content and relation, not the bias") {
  DistanceBias distance;
  const Bias* list[] = {&distance};
  AttentionCase test({1, 2, 1, 30, 140, 8, 4}, 6, 40);
  test.call.bias = list;
  test.call.softcap = 3;
  REQUIRE(test.run(false, true).ok());
  const std::vector<float> content = test.content, bias = test.bias;
  float largest = 0, steepest = 0;
  for (std::size_t n = 0; n < test.cells(); ++n) {
    largest = std::max(largest, std::abs(test.capped[n]));
    steepest = std::max(steepest, std::abs(test.scores[n]));
  }
  CHECK(largest == 3);
  CHECK(steepest > 4);
  test.call.softcap = 0;
  REQUIRE(test.run(false, true).ok());
  CHECK(same_bits(test.content, content));
  CHECK(same_bits(test.bias, bias));
  // A cap far above every score is no cap.
  test.call.softcap = 1e30;
  REQUIRE(test.run(false, true).ok());
  for (std::size_t n = 0; n < test.cells(); ++n) REQUIRE(test.capped[n] == Approx(content[n]).epsilon(1e-6));
  // What overflows is an error under a cap too.
  std::fill(test.q.begin(), test.q.end(), 1e20f);
  std::fill(test.k.begin(), test.k.end(), 1e20f);
  CHECK(test.run().code == Code::kOutOfRange);
}

TEST_CASE("masks, soft-cap and sinks are checked by name") {
  AttentionCase test({2, 3, 1, 4, 5, 6, 7}, 1);
  test.mask_seen.assign(6, 1);
  test.call.mask.shape[1] = 2, test.call.mask.shape[3] = 3;
  const std::string shapes = "attention: mask must be of size 1 or the full size along each of [B, H, Tq, Tk], got ";
  CHECK(test.run().message() == shapes + "2");
  test.call.mask.shape[1] = 1;
  CHECK(test.run().message() == shapes + "3");
  test.mask_seen = {1, 0, 255, 1, 1};
  test.call.mask.shape[3] = 5;
  CHECK(test.run().message() == "attention: mask must be true or false (or 1 or 0) for each pair, got 255");
  test.mask_seen.clear();
  for (const float fault : {kNan, kInfinity}) {
    test.mask_added = {0, -kInfinity, 1, 2, fault};
    const posenc::Status status = test.run();
    CHECK(status.code == Code::kNotFinite);
    CHECK(status.argument == "mask");
    CHECK(status.allowed == "finite numbers or -Infinity");
    test.call.allow_non_finite = true;
    CHECK(test.run().ok());
    test.call.allow_non_finite = false;
  }
  test.mask_added = {0, -kInfinity, 1, 2, -3e38f};
  CHECK(test.run().ok());
  test.mask_added = {0, 3e38f, 1, 2, 3};
  CHECK(test.run().ok());
  for (const double cap : {-1.0, std::nan(""), 1e39, 1e-60}) {
    test.call.softcap = cap;
    CHECK(test.run().code == Code::kOutOfRange);
    CHECK(test.run().argument == "softcap");
  }
  test.call.softcap = 0;
  test.sinks = {0, kNan, 1};
  CHECK(test.run().message() == "attention: sinks must be finite numbers, got NaN");
}

TEST_CASE("sums of scores and masks that leave float32 are an error, upwards and downwards, where they are seen") {
  const float large[] = {0, 1e38f, -1e38f, 2.5e38f, -2.5e38f, 3.4e38f, -3.4e38f};
  for (const std::size_t keys : {1u, 9u, 200u}) {
    for (const float content : large) {
      for (const float added : large) {
        AttentionCase test({1, 1, 1, 3, keys, 1, 2}, 0);
        test.call.scale = 1;
        test.q = {0, 1, 0};
        test.k.assign(keys, 0);
        test.k.back() = content;
        test.call.mask.shape[2] = 3, test.call.mask.shape[3] = keys;
        test.call.mask.shape[0] = test.call.mask.shape[1] = 1;
        test.mask_added.assign(3 * keys, -kInfinity);
        for (std::size_t i = 0; i < 3; ++i) test.mask_added[i * keys] = 0;
        float& entry = test.mask_added[2 * keys - 1];  // of query 1 and the last key
        entry = added;
        const float sum = content + added;
        for (const bool traced : {false, true}) {
          CAPTURE(keys, content, added, traced);
          const posenc::Status status = test.run(traced, traced);
          REQUIRE(status.ok() == (sum - sum == 0));
          if (!status.ok()) {
            CHECK(status.code == Code::kOutOfRange);
            CHECK(status.argument == (std::abs(content) > std::abs(added) ? "q" : "mask"));
            CHECK(status.given ==
                  "a score that overflows at head 0, query 1, key " + posenc::to_text(static_cast<double>(keys - 1)));
          }
        }
        entry = -kInfinity;  // hidden, whatever the content
        CHECK(test.run().ok());
      }
    }
  }
}
