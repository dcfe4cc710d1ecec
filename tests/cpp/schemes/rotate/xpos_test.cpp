#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "attention/attention.h"
#include "schemes/scheme.h"
#include "support/build.h"
#include "support/golden_sets.h"

using namespace posenc;
using namespace posenc_test;

namespace {

// Far positions of the golden runs are beyond its reach alone: scaleBase is large.
const GoldenSets kGoldenSets(schemes::rotate_xpos, {"dim=64 scaleBase=1e12", "dim=8 scaleBase=1e12 layout=half",
                                                    "dim=2 base=3 scaleBase=1e12", "dim=20 scaleBase=5e11"});

using Reals = std::vector<double>;
const Reals kQuery = {0.3, -1.2, 0.7, 0.5, 1.1, -0.4, 0.9, 0.2}, kKey = {-0.6, 0.8, 0.1, 1.0, -0.3, 0.5, 0.4, -1.1};

Reals turn(const Built& built, Reals x, double position, Side side, double origin = kNone, bool inverse = false) {
  REQUIRE(built.status.ok());
  RotateCall call;
  call.side = side;
  call.origin = origin;
  call.inverse = inverse;
  REQUIRE(built.as<Rotate>().apply(call, {&position, 1, 1}, x.data(), x.size(), x.data(), x.size()).ok());
  return x;
}

double dot(const Reals& a, const Reals& b) {
  double sum = 0;
  for (std::size_t c = 0; c < a.size(); ++c) sum += a[c] * b[c];
  return sum;
}

}  // namespace

TEST_CASE("xpos: the decay of each pair (golden xpos-001)") {
  const Built built = build(schemes::rotate_xpos, "dim=8");
  const double zeta[] = {0.2857142857, 0.4642857143, 0.6428571429, 0.8214285714};
  const Reals ones(8, 1);
  const Reals q = turn(built, ones, 512, Side::kQuery), k = turn(built, ones, 512, Side::kKey);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(std::hypot(q[2 * i], q[2 * i + 1]) == Approx(std::sqrt(2.0) * zeta[i]).epsilon(1e-9));
    CHECK(std::hypot(k[2 * i], k[2 * i + 1]) == Approx(std::sqrt(2.0) / zeta[i]).epsilon(1e-9));
  }
}

TEST_CASE("xpos: scores, from any origin (golden xpos-002)") {
  const Built built = build(schemes::rotate_xpos, "dim=8");
  for (const double origin : {kNone, 0.0, 150.0, -3000.0}) {
    const auto score = [&](double m, double n) {
      return dot(turn(built, kQuery, m, Side::kQuery, origin), turn(built, kKey, n, Side::kKey, origin));
    };
    CHECK(score(5, 2) == Approx(1.407525707).epsilon(0).margin(1e-9));
    CHECK(score(300, 2) == Approx(0.2590610063).epsilon(0).margin(1e-9));
    CHECK(score(600, 302) == Approx(0.2590610063).epsilon(0).margin(1e-9));
  }
}

TEST_CASE("xpos: the inverse takes turn and power back") {
  const Built built = build(schemes::rotate_xpos, "dim=8 layout=half");
  for (const Side side : {Side::kQuery, Side::kKey}) {
    const Reals back = turn(built, turn(built, kQuery, 777, side), 777, side, kNone, true);
    for (std::size_t c = 0; c < 8; ++c) CHECK(back[c] == Approx(kQuery[c]).epsilon(1e-13));
  }
}

TEST_CASE("xpos: alone it stops where its powers leave float32") {
  const Built built = build(schemes::rotate_xpos, "dim=8");
  Reals x = kQuery;
  for (const double position : {40000.0, -40000.0, 1e15}) {
    RotateCall call;
    const Status status = built.as<Rotate>().apply(call, {&position, 1, 1}, x.data(), 8, x.data(), 8);
    CHECK(status.code == Code::kOutOfRange);
    CHECK(status.message().find("xpos: positions must be within 35556 of 0") == 0);
  }
  turn(built, kQuery, 35000, Side::kQuery);
  turn(built, kQuery, 35000, Side::kKey);
}

TEST_CASE("xpos: causal attention far out is finite, and the same as near (torchscale)") {
  const Built built = build(schemes::rotate_xpos, "dim=8");
  const std::size_t tokens = 300;
  Dice dice(3);
  std::vector<float> q(tokens * 8), k(tokens * 8), v(tokens * 8), near(tokens * 8), far(tokens * 8), lse(tokens);
  for (auto* x : {&q, &k, &v}) {
    for (float& value : *x) value = static_cast<float>(dice.real(-1, 1));
  }
  const Rotate* rotate[] = {&built.as<Rotate>()};
  const auto run = [&](double first, double gap, std::vector<float>& out) {
    Reals positions(tokens);
    // Keys in two stretches, `gap` apart.
    for (std::size_t t = 0; t < tokens; ++t) positions[t] = first + static_cast<double>(t) + (t >= 150 ? gap : 0);
    AttentionCall call;
    call.q = q.data(), call.k = k.data(), call.v = v.data();
    call.batch = call.heads = call.kv_heads = 1;
    call.queries = call.keys = tokens;
    call.width = call.value_width = 8;
    call.scale = 0.5;
    call.causal = true;
    call.out = out.data(), call.lse = lse.data();
    call.rotate = rotate;
    call.query_positions = call.key_positions = {positions.data(), tokens, 1};
    return attention(call);
  };
  REQUIRE(run(0, 0, near).ok());
  REQUIRE(run(1048576, 0, far).ok());
  double gap = 0;
  for (std::size_t n = 0; n < near.size(); ++n) gap = std::max(gap, std::fabs(static_cast<double>(near[n] - far[n])));
  CHECK(gap < 2e-6);
  // Score by score in double, straight from the definition.
  double worst = 0;
  for (std::size_t i = 0; i < tokens; i += 23) {
    Reals weight(i + 1);
    double sum = 0;
    for (std::size_t j = 0; j <= i; ++j) {
      double score = 0;
      for (std::size_t p = 0; p < 4; ++p) {
        const double d = static_cast<double>(i) - static_cast<double>(j);
        const double angle = d * std::pow(10000.0, -2.0 * static_cast<double>(p) / 8);
        const double a = static_cast<double>(q[i * 8 + 2 * p]), b = static_cast<double>(q[i * 8 + 2 * p + 1]);
        const double c = static_cast<double>(k[j * 8 + 2 * p]), e = static_cast<double>(k[j * 8 + 2 * p + 1]);
        const double zeta = (2 * static_cast<double>(p) + 3.2) / 11.2;
        score += std::pow(zeta, d / 512) * ((a * c + b * e) * std::cos(angle) + (a * e - b * c) * std::sin(angle));
      }
      weight[j] = std::exp(0.5 * score);
      sum += weight[j];
    }
    for (std::size_t c = 0; c < 8; ++c) {
      double expected = 0;
      for (std::size_t j = 0; j <= i; ++j) expected += weight[j] / sum * static_cast<double>(v[j * 8 + c]);
      worst = std::max(worst, std::fabs(expected - static_cast<double>(near[i * 8 + c])));
    }
  }
  CHECK(worst < 2e-6);
  REQUIRE(run(0, 30000, far).ok());  // what is far behind has faded to a score of 0
  for (const float value : far) CHECK(std::isfinite(value));
}

// Attention turns queries once and multiplies by powers per block of keys: scores by the definition, in double, for
// both layouts, an odd number of pairs and a turn before; and the same bits for one query alone.
TEST_CASE("xpos: scores of attention by the definition, whatever the layout and the number of queries") {
  for (const char* options : {"dim=6", "dim=6 layout=half", "dim=8 layout=half scaleBase=300"}) {
    for (const bool composed : {false, true}) {
      const bool half = std::string(options).find("half") != std::string::npos;
      const Built built = build(schemes::rotate_xpos, options);
      const Built before = build(schemes::rotate_rope, std::string("dim=") + options[4] + " base=50");
      const std::size_t tokens = 270, d = static_cast<std::size_t>(options[4] - '0'), pairs = d / 2;
      const double span = std::string(options).find("300") != std::string::npos ? 300 : 512;
      Dice dice(7);
      std::vector<float> q(tokens * d), k(tokens * d), v(tokens * d), out(tokens * d), scores(tokens * tokens);
      for (auto* x : {&q, &k, &v}) {
        for (float& value : *x) value = static_cast<float>(dice.real(-1, 1));
      }
      std::vector<const Rotate*> rotate;
      if (composed && !half) rotate.push_back(&before.as<Rotate>());
      rotate.push_back(&built.as<Rotate>());
      Reals positions(tokens);
      for (std::size_t t = 0; t < tokens; ++t) positions[t] = 100.5 + 3 * static_cast<double>(t);
      AttentionCall call;
      call.q = q.data(), call.k = k.data(), call.v = v.data();
      call.queries = call.keys = tokens;
      call.width = call.value_width = d;
      call.scale = 0.4;
      call.causal = true;
      call.out = out.data(), call.trace.scores = scores.data();
      call.rotate = rotate;
      call.query_positions = call.key_positions = {positions.data(), tokens, 1};
      REQUIRE(attention(call).ok());
      double worst = 0;
      for (std::size_t i = 0; i < tokens; i += 7) {
        for (std::size_t j = 0; j <= i; j += 5) {
          double score = 0;
          for (std::size_t p = 0; p < pairs; ++p) {
            const double gap = positions[i] - positions[j], width = static_cast<double>(d);
            const double exponent = -2.0 * static_cast<double>(p) / width;
            const double angle =
                gap * (std::pow(10000.0, exponent) + (rotate.size() == 2 ? std::pow(50.0, exponent) : 0));
            const std::size_t first = half ? p : 2 * p, second = half ? p + pairs : 2 * p + 1;
            const double a = static_cast<double>(q[i * d + first]), b = static_cast<double>(q[i * d + second]);
            const double c = static_cast<double>(k[j * d + first]), e = static_cast<double>(k[j * d + second]);
            const double zeta = (2 * static_cast<double>(p) + 0.4 * width) / (1.4 * width);
            score +=
                std::pow(zeta, gap / span) * ((a * c + b * e) * std::cos(angle) + (a * e - b * c) * std::sin(angle));
          }
          worst = std::max(worst, std::fabs(0.4 * score - static_cast<double>(scores[i * tokens + j])));
        }
      }
      CAPTURE(options, composed);
      CHECK(worst < 2e-6);
      for (const std::size_t i : {std::size_t{3}, std::size_t{131}, tokens - 1}) {
        std::vector<float> one(d);
        AttentionCall single = call;
        single.trace = {};
        single.q = q.data() + i * d, single.out = one.data();
        single.queries = 1;
        single.query_positions = {positions.data() + i, 1, 1};
        REQUIRE(attention(single).ok());
        CHECK(std::memcmp(one.data(), out.data() + i * d, d * sizeof(float)) == 0);
      }
    }
  }
}

TEST_CASE("xpos: odd widths are refused") {
  CHECK(build(schemes::rotate_xpos, "dim=7").status.message() == "xpos: dim must be even, got 7");
}
