#include <cmath>
#include <cstring>
#include <vector>

#include <catch2/catch.hpp>

#include "schemes/frequency_report.h"
#include "schemes/scheme.h"
#include "support/build.h"
#include "support/golden_sets.h"

using namespace posenc;
using namespace posenc_test;

namespace {

const GoldenSets kGoldenSets(schemes::rotate_rope,
                             {"dim=64", "dim=64 layout=half base=500000", "dim=20 rotaryDim=6",
                              "dim=14 rotaryDim=10 layout=half scaling.type=linear scaling.factor=4",
                              "dim=32 scaling.type=ntk scaling.factor=8", "dim=6 frequencies=1,0.3,-2e-7",
                              "dim=16 scaling.type=dynamic scaling.factor=3 scaling.maxPositionEmbeddings=1024",
                              "dim=16 layout=half scaling.type=dynamic-static scaling.factor=3",
                              "dim=16 scaling.type=qwen scaling.trainLength=1000",
                              "dim=64 base=150000 layout=half scaling.type=yarn scaling.factor=32 "
                              "scaling.originalMaxPositionEmbeddings=4096 scaling.truncate=false",
                              "dim=18 rotaryDim=16 scaling.type=yarn scaling.factor=40 scaling.mscale=0.707 "
                              "scaling.mscaleAllDim=1 scaling.originalMaxPositionEmbeddings=512",
                              "dim=32 layout=half base=500000 scaling.type=llama3 scaling.factor=8 "
                              "scaling.lowFreqFactor=1 scaling.highFreqFactor=4 "
                              "scaling.originalMaxPositionEmbeddings=8192",
                              "dim=8 layout=half scaling.type=longrope scaling.shortFactor=1,1.25,2,4 "
                              "scaling.longFactor=1,3,20,64 scaling.originalMaxPositionEmbeddings=4095 "
                              "scaling.factor=32",
                              "dim=16 layout=half scaling.type=proportional scaling.partialRotaryFactor=0.25"});

using Reals = std::vector<double>;

Built rope(std::string_view options) { return build(schemes::rotate_rope, options); }

// x (T, d) -> R x (T, d)
template <class Real>
std::vector<Real> turn(const Built& built, const Reals& positions, std::vector<Real> x, bool inverse = false,
                       Side side = Side::kQuery) {
  REQUIRE(built.status.ok());
  const auto d = static_cast<std::size_t>(built.scheme->width());
  REQUIRE(x.size() == positions.size() * d);
  RotateCall call;
  call.inverse = inverse;
  call.side = side;
  REQUIRE(built.as<Rotate>().apply(call, {positions.data(), positions.size(), 1}, x.data(), d, x.data(), d).ok());
  return x;
}

void check_row(std::string_view options, double position, const Reals& x, const Reals& expected) {
  const Built built = rope(options);
  const Reals y = turn<double>(built, {position}, x);
  const std::vector<float> single = turn<float>(built, {position}, std::vector<float>(x.begin(), x.end()));
  for (std::size_t c = 0; c < x.size(); ++c) {
    INFO(options << ", column " << c);
    CHECK(y[c] == Approx(expected[c]).epsilon(0).margin(1e-9));
    CHECK(static_cast<double>(single[c]) == Approx(expected[c]).epsilon(0).margin(2e-7 * 12));
  }
}

double norm(const Reals& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return std::sqrt(sum);
}

double dot(const Reals& a, const Reals& b) {
  double sum = 0;
  for (std::size_t c = 0; c < a.size(); ++c) sum += a[c] * b[c];
  return sum;
}

const Reals kQuery = {0.3, -1.2, 0.7, 0.5, 1.1, -0.4, 0.9, 0.2}, kKey = {-0.6, 0.8, 0.1, 1.0, -0.3, 0.5, 0.4, -1.1};

}  // namespace

TEST_CASE("rope: both layouts (golden rope-002, 003; transformers #25199, LLMs-from-scratch #838)") {
  check_row("dim=4", 1, {1, 2, 3, 4}, {-1.142639664, 1.922075597, 2.959850668, 4.029799502});
  check_row("dim=4 layout=half", 1, {1, 2, 3, 4}, {-1.984110649, 1.959900667, 2.462377902, 4.019799668});
}

TEST_CASE("rope: the rest of a partial rotation passes (golden rope-008; pie PR #603)") {
  check_row("dim=8 rotaryDim=4 layout=half", 1, {1, 2, 3, 4, 5, 6, 7, 8},
            {-1.984110649, 1.959900667, 2.462377902, 4.019799668, 5, 6, 7, 8});
  check_row("dim=8 rotaryDim=4", 1, {1, 2, 3, 4, 5, 6, 7, 8},
            {-1.142639664, 1.922075597, 2.959850668, 4.029799502, 5, 6, 7, 8});
  check_row("dim=5 rotaryDim=2", 1, {1, 0, 7, 8, 9}, {0.5403023059, 0.8414709848, 7, 8, 9});
}

TEST_CASE("rope: norms stay; the mixed layout that loses norm does not exist here (golden rope-006, 018)") {
  for (const char* layout : {"interleaved", "half"}) {
    const Built built = rope(std::string("dim=8 layout=") + layout);
    for (const double t : {0.0, 7.0, 100000.0}) {
      CHECK(norm(turn<double>(built, {t}, kQuery)) == Approx(2.11896201).epsilon(0).margin(1e-8));
      CHECK(norm(turn<double>(built, {t}, kQuery)) == Approx(norm(kQuery)).epsilon(1e-15));
    }
    // xformers #779, tt-metal #26844: 5.477226, not 4.962817.
    CHECK(norm(turn<double>(rope(std::string("dim=4 layout=") + layout), {1}, {1, 2, 3, 4})) ==
          Approx(5.477225575).epsilon(0).margin(1e-9));
  }
}

TEST_CASE("rope: scores depend on the offset only (golden rope-005)") {
  struct Layout {
    const char* options;
    double score;
  };
  for (const Layout& layout : {Layout{"dim=8", 1.417409697}, Layout{"dim=8 layout=half", 0.1076529955}}) {
    const Built built = rope(layout.options);
    const auto score = [&](double m, double n) {
      return dot(turn<double>(built, {m}, kQuery), turn<double>(built, {n}, kKey, false, Side::kKey));
    };
    CHECK(score(5, 2) == Approx(layout.score).epsilon(0).margin(1e-9));
    CHECK(score(1005, 1002) == Approx(layout.score).epsilon(0).margin(1e-9));
    CHECK(score(6, 3) == Approx(layout.score).epsilon(0).margin(1e-9));
    CHECK(score(1099511627781.0, 1099511627778.0) == Approx(layout.score).epsilon(0).margin(1e-9));
    CHECK(score(2.25, -0.75) == Approx(layout.score).epsilon(0).margin(1e-9));
    if (layout.score > 1) CHECK(score(2, 5) == Approx(1.149332497).epsilon(0).margin(1e-9));
  }
}

TEST_CASE("rope: equation 15 in double over widths, layouts, positions; the inverse undoes it") {
  const Reals positions = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 511, -3, 2.5, 1023.75};
  for (const int d : {2, 6, 16, 64, 80}) {
    for (const int rotary : {2, d / 2 / 2 * 2, d}) {
      if (rotary < 2) continue;
      for (const bool half : {false, true}) {
        for (const double base : {10000.0, 500000.0, 3.5}) {
          const Built built = rope("dim=" + std::to_string(d) + " rotaryDim=" + std::to_string(rotary) +
                                   (half ? " layout=half" : "") + " base=" + to_text(base));
          Reals x(positions.size() * static_cast<std::size_t>(d));
          Dice dice(7);
          for (double& value : x) value = dice.real(-1, 1);
          const Reals y = turn<double>(built, positions, x);
          const std::vector<float> single = turn<float>(built, positions, std::vector<float>(x.begin(), x.end()));
          double worst = 0, worst_single = 0;
          for (std::size_t t = 0; t < positions.size(); ++t) {
            Reals expected(x.begin() + static_cast<std::ptrdiff_t>(t) * d,
                           x.begin() + static_cast<std::ptrdiff_t>(t + 1) * d);
            for (int i = 0; i < rotary / 2; ++i) {
              const double angle = positions[t] * std::pow(base, -2.0 * i / rotary);
              const auto a = static_cast<std::size_t>(half ? i : 2 * i);
              const auto b = static_cast<std::size_t>(half ? i + rotary / 2 : 2 * i + 1);
              const double xa = expected[a], xb = expected[b];
              expected[a] = xa * std::cos(angle) - xb * std::sin(angle);
              expected[b] = xa * std::sin(angle) + xb * std::cos(angle);
            }
            for (std::size_t c = 0; c < expected.size(); ++c) {
              worst = std::max(worst, std::fabs(y[t * expected.size() + c] - expected[c]));
              worst_single =
                  std::max(worst_single, std::fabs(static_cast<double>(single[t * expected.size() + c]) - expected[c]));
            }
          }
          CHECK(worst < 1e-12);
          CHECK(worst_single < 4e-7);
          const Reals back = turn<double>(built, positions, y, true);
          double lost = 0;
          for (std::size_t n = 0; n < x.size(); ++n) lost = std::max(lost, std::fabs(back[n] - x[n]));
          CHECK(lost < 1e-15);
        }
      }
    }
  }
}

TEST_CASE("rope: far positions are exact without a table to run out of (imp #1316, nanochat #514)") {
  // Golden big-003 and big-001: the rotated unit vector reads cos and sin out.
  const auto reads = [](const char* options, double position, std::size_t pair) {
    const Built built = rope(options);
    const auto d = static_cast<std::size_t>(built.scheme->width());
    std::vector<float> x(2 * d);
    x[2 * pair] = x[d + 2 * pair] = 1;
    const std::vector<float> y = turn<float>(built, {3, position}, x);
    return std::pair<double, double>{static_cast<double>(y[d + 2 * pair]), static_cast<double>(y[d + 2 * pair + 1])};
  };
  CHECK(reads("dim=128", 131071, 1).first == Approx(-0.9782709129).epsilon(0).margin(6e-8));
  CHECK(reads("dim=128", 131071, 1).second == Approx(-0.2073307042).epsilon(0).margin(6e-8));
  CHECK(reads("dim=512", 1000000, 1).second == Approx(-0.8614445416).epsilon(0).margin(6e-8));
  CHECK(reads("dim=32", 1857, 1).first == Approx(0.3066928098).epsilon(0).margin(6e-8));  // gpt-neox #1003
  CHECK(reads("dim=2", 10000000, 0).first == Approx(std::cos(1e7)).epsilon(0).margin(6e-8));
  // mlx-lm PR #1076: neighbours differ at 2^24.
  CHECK(reads("dim=64", 16777216, 0) != reads("dim=64", 16777217, 0));
}

TEST_CASE("rope: long calls, repeated calls and strided rows give the rows of short ones") {
  const Built built = rope("dim=6");
  const std::size_t tokens = 300;
  Reals positions(tokens);
  for (std::size_t t = 0; t < tokens; ++t) positions[t] = static_cast<double>(t) - 20;
  std::vector<float> x(tokens * 6);
  Dice dice(3);
  for (float& value : x) value = static_cast<float>(dice.real(-1, 1));
  const std::vector<float> y = turn<float>(built, positions, x);
  CHECK(turn<float>(built, positions, x) == y);
  for (std::size_t t = 0; t < tokens; t += 37) {
    const std::vector<float> row(x.begin() + static_cast<std::ptrdiff_t>(t * 6),
                                 x.begin() + static_cast<std::ptrdiff_t>(t * 6 + 6));
    const std::vector<float> alone = turn<float>(rope("dim=6"), {positions[t]}, row);
    CHECK(std::memcmp(alone.data(), y.data() + t * 6, 6 * sizeof(float)) == 0);
  }
  // Rows 10 apart into rows 7 apart; what lies between is not touched.
  std::vector<float> wide(3 * 10, 5.0f), out(3 * 7, 9.0f);
  for (std::size_t t = 0; t < 3; ++t) std::copy_n(x.data() + t * 6, 6, wide.data() + t * 10);
  REQUIRE(built.as<Rotate>().apply({}, {positions.data(), 3, 1}, wide.data(), 10, out.data(), 7).ok());
  for (std::size_t t = 0; t < 3; ++t) {
    CHECK(std::memcmp(out.data() + t * 7, y.data() + t * 6, 6 * sizeof(float)) == 0);
    CHECK(out[t * 7 + 6] == 9.0f);
  }
}

TEST_CASE("rope: frequencies, plain and scaled (golden rope-001, 011, 012)") {
  FrequencyReport report;
  REQUIRE(rope("dim=128").scheme->frequencies(0, report).ok());
  const std::size_t pairs[] = {0, 1, 2, 16, 32, 63};
  const double inverse[] = {1.0, 0.8659643234, 0.7498942093, 0.1, 0.01, 0.0001154781985};
  for (std::size_t n = 0; n < 6; ++n) CHECK(report.inverse[pairs[n]] == Approx(inverse[n]).epsilon(0).margin(1e-10));
  CHECK(report.base == 10000);

  REQUIRE(rope("dim=128 scaling.type=linear scaling.factor=4").scheme->frequencies(0, report).ok());
  CHECK(report.inverse[0] == 0.25);
  CHECK(report.inverse[32] == 0.0025);
  CHECK(report.base == 10000);
  CHECK(report.band[0] == FrequencyReport::Band::kScaled);

  REQUIRE(rope("dim=128 scaling.type=ntk scaling.factor=8").scheme->frequencies(0, report).ok());
  CHECK(report.base == Approx(82684.62264).epsilon(0).margin(1e-5));
  CHECK(report.inverse[0] == 1);
  CHECK(report.inverse[1] == Approx(0.8378480019).epsilon(0).margin(1e-10));
  CHECK(report.inverse[63] == Approx(1.443477481e-05).epsilon(0).margin(1e-14));
  CHECK(report.inverse[63] * 8 == Approx(0.00011547819846894581).epsilon(1e-15));
  CHECK(report.band[0] == FrequencyReport::Band::kKept);
  CHECK(report.band[63] == FrequencyReport::Band::kScaled);

  REQUIRE(rope("dim=6 rotaryDim=4 frequencies=1,0.25 scaling.type=linear scaling.factor=2")
              .scheme->frequencies(0, report)
              .ok());
  CHECK(report.inverse == Reals{0.5, 0.125});
  CHECK(report.base != report.base);
}

TEST_CASE("rope: linear scaling is interpolation of positions, and scaled frequencies do turn") {
  const Built scaled = rope("dim=8 scaling.type=linear scaling.factor=4"), plain = rope("dim=8");
  for (const double t : {1.0, 5.0, 4096.0}) {
    CHECK(turn<double>(scaled, {4 * t}, kQuery) == turn<double>(plain, {t}, kQuery));
  }
  const Reals y = turn<double>(rope("dim=8 scaling.type=ntk scaling.factor=3"), {100}, kQuery);
  const double angle = 100 * std::pow(10000 * std::pow(3.0, 8.0 / 6), -0.75);
  CHECK(y[6] == Approx(kQuery[6] * std::cos(angle) - kQuery[7] * std::sin(angle)).epsilon(0).margin(1e-13));
}

TEST_CASE("rope: bad values are refused with the number (transformers #48101, #35233; nntrainer PR #3982)") {
  CHECK(rope("dim=128 rotaryDim=65").status.message() ==
        "rope: rotaryDim must be an even number from 2 to dim, 128, got 65");
  CHECK(rope("dim=64 rotaryDim=66").status.message() ==
        "rope: rotaryDim must be an even number from 2 to dim, 64, got 66");
  CHECK(rope("dim=65").status.message() == "rope: dim must be even where rotaryDim is not given, got 65");
  CHECK(rope("dim=65 rotaryDim=64").status.ok());
  CHECK(rope("dim=4 base=0").status.message() == "rope: base must be a number from 1e-12 to 1000000000000, got 0");
  CHECK(rope("dim=4 base=-10000").status.code == Code::kOutOfRange);
  CHECK(rope("dim=4 base=inf").status.code == Code::kNotFinite);
  CHECK(rope("dim=4 base=nan").status.code == Code::kNotANumber);
  CHECK(rope("dim=4 frequencies=1,2,3").status.message() ==
        "rope: frequencies must be a list of 2 numbers, one a pair, got 3");
  CHECK(rope("dim=4 scaling.type=linear").status.message() ==
        "rope: scaling.factor is missing, it must be a number from 1 to 1000000");
  CHECK(rope("dim=4 scaling.type=linear scaling.factor=0.5").status.code == Code::kOutOfRange);
  CHECK(rope("dim=2 scaling.type=ntk scaling.factor=2").status.code == Code::kOutOfRange);
  CHECK(rope("dim=4 frequencies=1,2 scaling.type=ntk scaling.factor=2").status.code == Code::kUnsupported);
  CHECK(rope("dim=4 scaling.type=yarn2 scaling.factor=2").status.code == Code::kUnknownChoice);
  const double bad = 1e300;
  float x[4] = {1, 2, 3, 4};
  CHECK(rope("dim=4").as<Rotate>().apply({}, {&bad, 1, 1}, x, 4, x, 4).code == Code::kOutOfRange);
}
