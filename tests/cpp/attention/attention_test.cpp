// attention() without schemes against the oracle: shapes, masks, rows that see nothing, numbers at their limits.
#include "attention/attention.h"

#include <catch2/catch.hpp>
#include <limits>

#include "support/attention_case.h"
#if defined(__GLIBC__)
#include <malloc.h>

#include "support/schemes_for_attention.h"
#endif

using namespace posenc_test;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("attention agrees with the equations for every shape") {
  const Shape shapes[] = {
      {1, 1, 1, 1, 1, 1, 1},      {1, 1, 1, 1, 1, 4, 4},      {1, 1, 1, 3, 5, 3, 2},     {1, 1, 1, 8, 4, 4, 4},
      {1, 1, 1, 9, 129, 5, 7},    {1, 1, 1, 6, 6, 4, 4},      {1, 1, 1, 7, 128, 64, 64}, {1, 1, 1, 130, 257, 16, 16},
      {1, 1, 1, 1, 300, 8, 8},    {1, 1, 1, 300, 1, 8, 8},    {2, 4, 2, 17, 33, 6, 10},  {3, 6, 1, 5, 140, 4, 3},
      {1, 8, 8, 12, 12, 2, 1},    {2, 2, 1, 131, 131, 12, 5}, {1, 3, 3, 64, 64, 33, 31}, {1, 1, 1, 20, 40, 128, 128},
      {1, 1, 1, 16, 400, 1, 130},
  };
  std::uint32_t seed = 1;
  for (const Shape& shape : shapes) {
    CAPTURE(shape.batch, shape.heads, shape.kv_heads, shape.queries, shape.keys, shape.width, shape.value_width);
    AttentionCase(shape, seed++).check();
  }
}

TEST_CASE("attention agrees with the equations for random shapes and masks") {
  Numbers numbers(77);
  for (int round = 0; round < 120; ++round) {
    Shape shape;
    shape.batch = 1 + numbers.below(3);
    shape.kv_heads = 1 + numbers.below(3);
    shape.heads = shape.kv_heads * (1 + numbers.below(3));
    shape.queries = 1 + numbers.below(numbers.below(4) == 0 ? 200 : 30);
    shape.keys = 1 + numbers.below(numbers.below(4) == 0 ? 400 : 40);
    shape.width = 1 + numbers.below(20);
    shape.value_width = 1 + numbers.below(20);
    AttentionCase test(shape, static_cast<std::uint32_t>(round) + 1000);
    std::string masks;
    if (numbers.below(2)) test.call.causal = true, masks += "causal ";
    if (numbers.below(3) == 0) {
      test.call.window_left = static_cast<double>(numbers.below(shape.keys));
      masks += "left ";
    }
    if (numbers.below(3) == 0) {
      test.call.window_right = static_cast<double>(numbers.below(shape.keys));
      masks += "right ";
    }
    if (numbers.below(3) == 0) {
      test.call.prefix_length = static_cast<double>(numbers.below(shape.keys + 3));
      masks += "prefix ";
    }
    if (numbers.below(3) == 0) {
      const std::size_t batches = numbers.below(2) ? shape.batch : 1;
      for (std::size_t n = 0; n < batches * shape.keys; ++n) {
        test.key_mask.push_back(static_cast<std::uint8_t>(numbers.below(3) != 0));
      }
      masks += "mask ";
    }
    if (numbers.below(3) == 0) {
      for (std::size_t b = 0; b < shape.batch; ++b)
        test.key_lengths.push_back(static_cast<double>(numbers.below(shape.keys + 2)));
      masks += "lengths ";
    }
    switch (numbers.below(4)) {
      case 0:  // the queries are the last of the keys
        test.query_positions =
            run_of(static_cast<double>(shape.keys) - static_cast<double>(shape.queries), shape.queries);
        masks += "bottom-right ";
        break;
      case 1:  // any positions, with ties, out of order
        for (std::size_t i = 0; i < shape.queries; ++i)
          test.query_positions.push_back(static_cast<double>(numbers.below(50)) / 2);
        for (std::size_t j = 0; j < shape.keys; ++j)
          test.key_positions.push_back(static_cast<double>(numbers.below(50)) / 2 - 3);
        masks += "scattered ";
        break;
      case 2:  // orders that are not the positions
        for (std::size_t i = 0; i < shape.queries; ++i)
          test.query_order.push_back(static_cast<double>(numbers.below(60)));
        for (std::size_t j = 0; j < shape.keys; ++j) test.key_order.push_back(static_cast<double>(numbers.below(60)));
        masks += "orders ";
        break;
      default:
        break;
    }
    CAPTURE(round, masks, shape.batch, shape.heads, shape.kv_heads, shape.queries, shape.keys, shape.width,
            shape.value_width);
    test.check();
  }
}

TEST_CASE("a causal mask and a window skip tiles without changing a bit") {
  // The same call, once as it is, once with a trace, which computes every tile, and once with the mask as numbers far
  // from any block edge: rows are compared bit for bit.
  for (const double window : {std::numeric_limits<double>::infinity(), 0.0, 5.0, 127.0, 200.0}) {
    AttentionCase test({1, 2, 1, 300, 300, 12, 9}, 5);
    test.call.causal = true;
    test.call.window_left = window;
    CAPTURE(window);
    REQUIRE(test.run().ok());
    const std::vector<float> out = test.out, lse = test.lse;
    REQUIRE(test.run(true, true).ok());
    CHECK(same_bits(out, test.out));
    CHECK(same_bits(lse, test.lse));
    REQUIRE(test.run(true, false).ok());
    CHECK(same_bits(out, test.out));
    test.check();
  }
}

TEST_CASE("a row depends on its query and the keys only") {
  AttentionCase all({2, 4, 2, 141, 270, 20, 11}, 9);
  all.call.causal = true;
  all.call.window_left = 190;
  all.query_positions = run_of(120, 141);
  REQUIRE(all.run(true).ok());

  SECTION("not on the queries that run beside it") {
    for (const std::size_t first : {std::size_t{0}, std::size_t{3}, std::size_t{77}, std::size_t{140}}) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{13}, std::size_t{64}}) {
        if (first + count > 141) continue;
        AttentionCase some({1, 1, 1, count, 270, 20, 11}, 0);
        const std::size_t b = 1, h = 3;
        some.q.assign(all.q.begin() + static_cast<std::ptrdiff_t>(((b * 4 + h) * 141 + first) * 20),
                      all.q.begin() + static_cast<std::ptrdiff_t>(((b * 4 + h) * 141 + first + count) * 20));
        some.k.assign(all.k.end() - 270 * 20, all.k.end());
        some.v.assign(all.v.end() - 270 * 11, all.v.end());
        some.call.causal = true;
        some.call.window_left = 190;
        some.query_positions = run_of(120 + static_cast<double>(first), count);
        REQUIRE(some.run(true).ok());
        CAPTURE(first, count);
        const std::size_t row = (b * 4 + h) * 141 + first;
        CHECK(std::memcmp(some.out.data(), all.out.data() + row * 11, count * 11 * sizeof(float)) == 0);
        CHECK(std::memcmp(some.lse.data(), all.lse.data() + row, count * sizeof(float)) == 0);
        CHECK(std::memcmp(some.weights.data(), all.weights.data() + row * 270, count * 270 * sizeof(float)) == 0);
      }
    }
  }
  SECTION("not on the order of the queries") {
    AttentionCase turned = all;
    std::reverse(turned.query_positions.begin(), turned.query_positions.end());
    for (std::size_t row = 0; row < turned.rows(); ++row) {
      const std::size_t mirror = row / 141 * 141 + (140 - row % 141);
      std::copy_n(all.q.begin() + static_cast<std::ptrdiff_t>(mirror * 20), 20,
                  turned.q.begin() + static_cast<std::ptrdiff_t>(row * 20));
    }
    REQUIRE(turned.run().ok());
    for (std::size_t row = 0; row < turned.rows(); ++row) {
      const std::size_t mirror = row / 141 * 141 + (140 - row % 141);
      REQUIRE(std::memcmp(turned.out.data() + row * 11, all.out.data() + mirror * 11, 11 * sizeof(float)) == 0);
    }
  }
  SECTION("keys after the last visible one do not count") {
    AttentionCase longer = all;
    longer.shape.keys = 400;
    longer.key_positions.clear();
    Numbers numbers(4);
    const auto lengthen = [&](const std::vector<float>& x, std::size_t width) {
      std::vector<float> y;
      for (std::size_t head = 0; head < 4; ++head) {
        y.insert(y.end(), x.begin() + static_cast<std::ptrdiff_t>(head * 270 * width),
                 x.begin() + static_cast<std::ptrdiff_t>((head + 1) * 270 * width));
        for (std::size_t n = 0; n < 130 * width; ++n) y.push_back(numbers.unit());
      }
      return y;
    };
    longer.k = lengthen(all.k, 20), longer.v = lengthen(all.v, 11);
    REQUIRE(longer.run().ok());
    CHECK(same_bits(longer.out, all.out));
  }
}

TEST_CASE("one query alone has the bits of a query among others") {
  for (const std::size_t keys : {std::size_t{1}, std::size_t{9}, std::size_t{128}, std::size_t{301}}) {
    AttentionCase all({2, 4, 2, 3, keys, 20, 32}, 9);
    all.query_positions = run_of(static_cast<double>(keys) / 2, 3);
    all.key_lengths = {static_cast<double>(keys), static_cast<double>((keys + 1) / 2)};
    Numbers numbers(5);
    all.call.mask.shape[1] = 4, all.call.mask.shape[2] = 3, all.call.mask.shape[3] = keys;
    all.mask_added = numbers.floats(4 * 3 * keys);
    for (float& added : all.mask_added) added = added > 0.8f ? -std::numeric_limits<float>::infinity() : added;
    for (const int options : {0, 1, 2, 3}) {
      all.call.causal = (options & 1) != 0;
      all.call.softcap = (options & 2) != 0 ? 3 : 0;
      if (options == 3) all.sinks = {1, -2, 0.5f, 3};
      REQUIRE(all.run(true).ok());
      for (std::size_t i = 0; i < 3; ++i) {
        AttentionCase one = all;
        one.shape.queries = one.call.mask.shape[2] = 1;
        one.query_positions = {all.query_positions[i]};
        const auto pick = [&](const std::vector<float>& x, std::size_t width) {
          std::vector<float> y;
          for (std::size_t row = i; row * width < x.size(); row += 3) {
            const auto begin = x.begin() + static_cast<std::ptrdiff_t>(row * width);
            y.insert(y.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
          }
          return y;
        };
        one.q = pick(all.q, 20), one.mask_added = pick(all.mask_added, keys);
        REQUIRE(one.run(true).ok());
        CAPTURE(keys, options, i);
        CHECK(same_bits(one.out, pick(all.out, 32)));
        CHECK(same_bits(one.lse, pick(all.lse, 1)));
        CHECK(same_bits(one.weights, pick(all.weights, keys)));
      }
    }
  }
}

TEST_CASE("rows without a visible key are zero, and their lse -inf") {
  AttentionCase test({1, 1, 1, 5, 6, 4, 4}, 3);
  test.query_order = {-1, 0, -1, 10, 2.5};
  test.call.causal = true;
  REQUIRE(test.run(true, true).ok());
  for (const std::size_t row : {std::size_t{0}, std::size_t{2}}) {
    for (std::size_t c = 0; c < 4; ++c) CHECK(test.out[row * 4 + c] == 0);
    for (std::size_t j = 0; j < 6; ++j) {
      CHECK(test.weights[row * 6 + j] == 0);
      CHECK(test.scores[row * 6 + j] == -kInfinity);
      CHECK(test.masked[row * 6 + j] == 1);
    }
    CHECK(test.lse[row] == -kInfinity);
  }
  test.check();
  // att-002: a row of masked keys only.
  AttentionCase none({1, 1, 1, 1, 4, 2, 2}, 8);
  none.key_mask = {0, 0, 0, 0};
  REQUIRE(none.run(true).ok());
  CHECK(none.weights == std::vector<float>{0, 0, 0, 0});
  CHECK(none.out == std::vector<float>{0, 0});
}

TEST_CASE("nothing in, nothing out") {
  AttentionCase no_queries({1, 2, 1, 0, 5, 4, 4}, 1);
  CHECK(no_queries.run(true, true).ok());
  AttentionCase no_keys({1, 2, 1, 3, 0, 4, 4}, 1);
  REQUIRE(no_keys.run(true, true).ok());
  CHECK(no_keys.out == std::vector<float>(2 * 3 * 4, 0.0f));
  CHECK(no_keys.lse == std::vector<float>(2 * 3, -kInfinity));
  AttentionCase no_batch({0, 2, 1, 3, 3, 4, 4}, 1);
  CHECK(no_batch.run(true).ok());
  AttentionCase no_channels({1, 1, 1, 2, 3, 0, 2}, 1);  // every score is 0: means of the values
  no_channels.call.scale = 1;
  no_channels.check();
}

TEST_CASE("one token attends to itself") {
  AttentionCase one({1, 1, 1, 1, 1, 3, 5}, 2);
  one.call.causal = true;
  REQUIRE(one.run(true).ok());
  CHECK(same_bits(one.out, one.v));
  CHECK(one.weights[0] == 1);
}

TEST_CASE("zeros leave as +0") {
  AttentionCase test({1, 1, 1, 9, 300, 2, 2}, 7);
  std::fill(test.v.begin(), test.v.end(), -0.0f);
  // Alone, -1e-45 times a factor below one half is -0.
  for (std::size_t j = 0; j < 10; ++j) test.v[2 * j] = -1e-45f;
  for (std::size_t j = 200; j < 300; ++j) test.k[2 * j] = 90;
  for (float& value : test.q) value = std::abs(value);
  REQUIRE(test.run().ok());
  for (const float value : test.out) CHECK((value != 0 || !std::signbit(value)));
}

TEST_CASE("att-001: large scores do not overflow") {
  AttentionCase test({1, 1, 1, 1, 3, 1, 3}, 0);
  test.call.scale = 1;
  test.q = {1};
  test.k = {1000, 1001, 1002};
  test.v = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  REQUIRE(test.run(true).ok());
  const double expected[] = {0.09003057317, 0.2447284711, 0.6652409558};
  for (std::size_t j = 0; j < 3; ++j) {
    CHECK(std::abs(test.weights[j] - expected[j]) < 2e-7);
    CHECK(std::abs(test.out[j] - expected[j]) < 2e-7);
  }
  CHECK(std::abs(test.lse[0] - 1002.4076059644) < 1e-4);
  for (float& score : test.k) score *= 3e34f;
  REQUIRE(test.run(true).ok());
  CHECK(test.weights == std::vector<float>{0, 0, 1});
}

TEST_CASE("att-004: permuted tokens give permuted outputs") {
  const float x[3][2] = {{1, 0}, {0, 2}, {1, 1}};
  const std::size_t permutation[] = {2, 0, 1};
  const double expected[3][2] = {{0.8022241854, 0.796663722}, {0.2320820639, 1.722529573}, {0.5988879073, 1.203336278}};
  AttentionCase test({1, 1, 1, 3, 3, 2, 2}, 0), permuted({1, 1, 1, 3, 3, 2, 2}, 0);
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::size_t c = 0; c < 2; ++c) {
      test.q[2 * t + c] = test.k[2 * t + c] = test.v[2 * t + c] = x[t][c];
      const float y = x[permutation[t]][c];
      permuted.q[2 * t + c] = permuted.k[2 * t + c] = permuted.v[2 * t + c] = y;
    }
  }
  REQUIRE(test.run().ok());
  REQUIRE(permuted.run().ok());
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::size_t c = 0; c < 2; ++c) {
      CHECK(std::abs(test.out[2 * t + c] - expected[t][c]) < 4e-7);
      CHECK(std::abs(permuted.out[2 * t + c] - expected[permutation[t]][c]) < 4e-7);
    }
  }
}

TEST_CASE("att-006: causal alignment is a matter of orders") {
  AttentionCase test({1, 1, 1, 2, 4, 2, 2}, 0);
  test.call.causal = true;
  test.query_order = {2, 3};  // the last of the keys
  REQUIRE(test.run(false, true).ok());
  CHECK(test.masked == std::vector<std::uint8_t>{0, 0, 0, 1, 0, 0, 0, 0});
  test.query_order = {0, 1};
  REQUIRE(test.run(false, true).ok());
  CHECK(test.masked == std::vector<std::uint8_t>{0, 1, 1, 1, 0, 0, 1, 1});
}

TEST_CASE("att-009: queries and keys count their own positions") {
  const auto encoding = [](double position, std::size_t c) {
    const double angle = position * (c < 2 ? 1.0 : 0.01);
    return c % 2 == 0 ? std::sin(angle) : std::cos(angle);
  };
  AttentionCase test({1, 1, 1, 1, 1, 4, 4}, 0);
  test.q = {1, 0, 0, 0}, test.k = {0, 1, 0, 0};
  for (std::size_t c = 0; c < 4; ++c) {
    test.q[c] += static_cast<float>(encoding(2, c));
    test.k[c] += static_cast<float>(encoding(5, c));
  }
  REQUIRE(test.run(false, true).ok());
  CHECK(std::abs(test.scores[0] - -0.682756787) < 1e-6);
}

TEST_CASE("the trace adds up to the last bit and leaves the result alone") {
  AttentionCase test({2, 4, 2, 37, 150, 10, 6}, 21);
  test.call.causal = true;
  test.call.prefix_length = 3;
  test.key_lengths = {150, 60};
  test.query_positions = run_of(100, 37);
  REQUIRE(test.run().ok());
  const std::vector<float> out = test.out, lse = test.lse;
  REQUIRE(test.run(true, true).ok());
  CHECK(same_bits(out, test.out));
  CHECK(same_bits(lse, test.lse));
  CHECK(same_bits(test.content, test.unrotated));
  std::size_t wrong = 0;
  for (std::size_t n = 0; n < test.cells(); ++n) {
    const std::size_t row = n / 150, b = row / 37 / 4;
    const bool visible = test.visible(b, row / 37 % 4, row % 37, n % 150);
    wrong += test.masked[n] != (visible ? 0 : 1);
    wrong += test.scores[n] != (visible ? (test.content[n] + test.relate[n]) + test.bias[n] : -kInfinity);
    wrong += test.relate[n] != 0;
    wrong += test.bias[n] != 0;
    wrong += (test.weights[n] == 0) != !visible;
  }
  CHECK(wrong == 0);
}

TEST_CASE("numbers that are not finite are refused with their place") {
  AttentionCase test({2, 3, 1, 4, 5, 6, 7}, 1);
  test.q[((1 * 3 + 2) * 4 + 3) * 6 + 5] = kNan;
  posenc::Status status = test.run();
  CHECK(status.code == posenc::Code::kNotFinite);
  CHECK(status.message() == "attention: q must be finite numbers, got NaN at batch 1, head 2, token 3, channel 5");
  test.q[((1 * 3 + 2) * 4 + 3) * 6 + 5] = 0;
  test.k[7] = -kInfinity;
  CHECK(test.run().message() == "attention: k must be finite numbers, got -Infinity at batch 0, token 1, channel 1");
  test.k[7] = 0;
  test.v[(5 + 4) * 7 + 6] = kInfinity;
  CHECK(test.run().message() == "attention: v must be finite numbers, got Infinity at batch 1, token 4, channel 6");
  test.v[(5 + 4) * 7 + 6] = 0;
  CHECK(test.run().ok());
}

TEST_CASE("NaN and Inf reach the queries that see them, and no other") {
  for (const float poison : {kNan, kInfinity, -kInfinity}) {
    for (const bool in_keys : {false, true}) {
      AttentionCase clean({1, 2, 1, 40, 150, 8, 6}, 31);
      clean.call.causal = true;
      clean.query_positions = run_of(110, 40);
      clean.call.allow_non_finite = true;
      REQUIRE(clean.run(true).ok());
      AttentionCase test = clean;
      if (in_keys) {
        test.k[130 * 8 + 3] = poison;
      } else {
        test.v[130 * 6 + 3] = poison;
      }
      REQUIRE(test.run(true).ok());
      CAPTURE(poison, in_keys);
      std::size_t leaks = 0, reached = 0, odd = 0;
      for (std::size_t row = 0; row < test.rows(); ++row) {
        const bool sees = 110 + row % 40 >= 130;
        bool hit = false;
        for (std::size_t c = 0; c < 6; ++c) {
          const float value = test.out[row * 6 + c];
          const bool same = std::memcmp(&value, &clean.out[row * 6 + c], sizeof value) == 0;
          hit = hit || !same;
          std::uint32_t bits;
          std::memcpy(&bits, &value, sizeof bits);
          odd += value != value && bits != 0x7fc00000;
          leaks += !sees && !same;
        }
        reached += sees && hit;
      }
      CHECK(leaks == 0);
      CHECK(odd == 0);
      CHECK(reached > 0);
    }
  }
  // A column that is masked altogether: [[1]], not NaN.
  AttentionCase test({1, 1, 1, 1, 2, 1, 1}, 0);
  test.key_mask = {1, 0};
  test.call.allow_non_finite = true;
  for (const float poison : {kNan, kInfinity}) {
    test.k = {1, poison}, test.v = {1, poison};
    REQUIRE(test.run(true).ok());
    CHECK(test.out[0] == 1);
    CHECK(test.weights == std::vector<float>{1, 0});
  }
}

TEST_CASE("scores that overflow are an error, values at the limit are not") {
  AttentionCase test({1, 1, 1, 2, 3, 2, 2}, 0);
  test.q = {1e20f, 0, 1, 1};
  test.k = {1e20f, 0, 1, 1, 2, 2};
  posenc::Status status = test.run();
  CHECK(status.code == posenc::Code::kOutOfRange);
  CHECK(status.argument == "q");
  CHECK(status.given == "a score that overflows at head 0, query 0, key 0");
  test.key_mask = {0, 1, 1};  // unseen, it does no harm
  CHECK(test.run().ok());
  test.key_mask.clear();
  test.q = {0, 0, 0, 0};
  const float largest = std::numeric_limits<float>::max();
  test.v = {largest, -largest, largest, largest, largest, -largest};
  REQUIRE(test.run().ok());
  CHECK(test.out[0] == Approx(largest).epsilon(1e-6));
  CHECK(test.out[1] == Approx(-largest / 3).epsilon(1e-6));
}

TEST_CASE("shapes, positions and options are checked by name") {
  AttentionCase test({1, 4, 3, 4, 4, 4, 4}, 0);
  CHECK(test.run().message() == "attention: k must be of a number of heads that divides q's 4, got 3 heads");
  AttentionCase fine({1, 1, 1, 3, 3, 4, 4}, 0);
  fine.key_positions = {0, kNan, 2};
  CHECK(fine.run().message() == "attention: keyPositions must be finite numbers, got NaN");
  fine.key_positions = {0, 1, 1e17};
  CHECK(fine.run().code == posenc::Code::kOutOfRange);
  fine.key_positions = {0, 1, 2};
  fine.call.scale = kInfinity;
  CHECK(fine.run().argument == "scale");
  fine.call.scale = 1;
  fine.call.window_left = kNan;
  CHECK(fine.run().argument == "window");
  fine.call.window_left = 3;
  CHECK(fine.run().ok());
}

#if defined(__GLIBC__)
TEST_CASE("memory grows with the tokens, not with their square") {
  // Looked at from inside the call, by a bias.
  class Watch : public DistanceBias {
   public:
    mutable std::size_t most = 0;
    void values(const posenc::Tile& tile, double* b) const override {
      const struct mallinfo2 info = mallinfo2();
      most = std::max(most, info.uordblks + info.hblkhd);
      DistanceBias::values(tile, b);
    }
  };
  Watch watch;
  const posenc::Bias* list[] = {&watch};
  AttentionCase test({1, 1, 1, 16384, 16384, 8, 8}, 0);
  test.call.bias = list;
  test.call.window_left = test.call.window_right = 64;
  REQUIRE(test.run().ok());
  const struct mallinfo2 info = mallinfo2();
  CHECK(watch.most <= info.uordblks + info.hblkhd + 4 * 16384 * 16 * sizeof(float));
}
#endif
