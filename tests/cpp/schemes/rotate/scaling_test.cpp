// The context-extension rules of rope: frequencies against the frameworks' formulas in double, published snapshots, and
// what they report. Sources of the numbers: the frameworks' own tests, or the formula worked apart.
#include "schemes/rotate/scaling.h"

#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "schemes/frequency_report.h"
#include "support/build.h"

using namespace posenc;
using namespace posenc_test;

namespace {

using Reals = std::vector<double>;
using Band = FrequencyReport::Band;
const double kPi = 3.14159265358979323846;

Built rope(const std::string& options) { return build(schemes::rotate_rope, options); }

FrequencyReport report(const std::string& options, double length = 0) {
  const Built built = rope(options);
  INFO(options << ": " << built.status.message());
  REQUIRE(built.status.ok());
  FrequencyReport report;
  REQUIRE(built.scheme->frequencies(length, report).ok());
  return report;
}

Reals plain(double base, int d) {
  Reals omega;
  for (int i = 0; i < d / 2; ++i) omega.push_back(std::pow(base, -2.0 * i / d));
  return omega;
}

void check_close(const Reals& actual, const Reals& expected, double epsilon = 1e-12) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("pair " << i);
    CHECK(actual[i] == Approx(expected[i]).epsilon(epsilon).margin(0));
  }
}

void check_pairs(const FrequencyReport& report, const std::vector<std::pair<std::size_t, double>>& expected) {
  for (const auto& [i, omega] : expected) {
    INFO("pair " << i);
    CHECK(report.inverse[i] == Approx(omega).epsilon(1e-8).margin(0));
  }
}

// Hugging Face's reference in double.
Reals yarn(double base, int d, double s, double length, double fast, double slow, bool truncate) {
  const auto pair = [&](double turns) { return d * std::log(length / (turns * 2 * kPi)) / (2 * std::log(base)); };
  double low = pair(fast), high = pair(slow);
  if (truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0), high = std::min(high, d - 1.0);
  if (low == high) high += 0.001;
  Reals omega = plain(base, d);
  for (int i = 0; i < d / 2; ++i) {
    const double ramp = std::min(1.0, std::max(0.0, (i - low) / (high - low)));
    omega[static_cast<std::size_t>(i)] *= (1 - ramp) + ramp / s;
  }
  return omega;
}

bool mentions(const FrequencyReport& report, const std::string& word) {
  for (const std::string& note : report.notes) {
    if (note.find(word) != std::string::npos) return true;
  }
  return false;
}

const std::string kDynamic = "dim=128 scaling.type=dynamic scaling.factor=10 scaling.maxPositionEmbeddings=2048";

}  // namespace

TEST_CASE(
    "scaling dynamic: the base goes with the call and comes back (golden rope-013; transformers #25104, #27227)") {
  const Built built = rope(kDynamic);
  const std::pair<double, double> bases[] = {{1, 10000},          {2048, 10000},       {2049, 10049.60509},
                                             {4096, 114267.5005}, {8192, 327366.3993}, {16384, 759702.2311},
                                             {4096, 114267.5005}, {0, 10000}};
  FrequencyReport at;
  for (const auto& [length, base] : bases) {
    REQUIRE(built.scheme->frequencies(length, at).ok());
    INFO(length);
    CHECK(at.base == Approx(base).epsilon(1e-9));
    check_close(at.inverse, plain(10000 * std::pow(length > 2048 ? 10 * length / 2048 - 9 : 1, 128.0 / 126), 128));
    CHECK(at.attention_factor == 1);
    CHECK(mentions(at, "stale"));
  }
  REQUIRE(built.scheme->frequencies(16384, at).ok());
  check_pairs(at, {{1, 0.8093100749}, {63, 1.6264535e-06}});
  CHECK(at.band[0] == Band::kKept);
  CHECK(at.band[63] == Band::kScaled);
}

TEST_CASE("scaling dynamic: what turns is of the call's length, and short calls after long ones are as before") {
  const Built scaled = rope("dim=8 scaling.type=dynamic scaling.factor=2 scaling.maxPositionEmbeddings=16");
  const Reals x = {0.3, -1.2, 0.7, 0.5, 1.1, -0.4, 0.9, 0.2};
  const auto turn = [&](const Built& built, double length, double position) {
    Reals y = x;
    RotateCall call;
    call.length = length;
    REQUIRE(built.as<Rotate>().apply(call, {&position, 1, 1}, y.data(), 8, y.data(), 8).ok());
    return y;
  };
  const Reals before = turn(scaled, 16, 7), longer = turn(scaled, 64, 7);
  CHECK(before == turn(rope("dim=8"), 0, 7));
  CHECK(longer != before);
  CHECK(turn(scaled, 16, 7) == before);
  const double omega = std::pow(10000 * std::pow(2 * 4 - 1.0, 8.0 / 6), -0.25), angle = 7 * omega;
  CHECK(longer[2] == Approx(x[2] * std::cos(angle) - x[3] * std::sin(angle)).margin(1e-13));
}

TEST_CASE("scaling dynamic-static: one base for all lengths (vLLM)") {
  const std::string options = "dim=64 scaling.type=dynamic-static scaling.factor=4";
  for (const double length : {1.0, 100000.0}) {
    check_close(report(options, length).inverse, plain(10000 * std::pow(4 * 4 - 3.0, 64.0 / 62), 64));
  }
  CHECK_FALSE(mentions(report(options), "stale"));
  CHECK(report(options + " scaling.maxPositionEmbeddings=2048").inverse == report(options).inverse);
  // What the dynamic rule has at factor times the trained length.
  CHECK(report(options).inverse ==
        report("dim=64 scaling.type=dynamic scaling.factor=4 scaling.maxPositionEmbeddings=512", 2048).inverse);
}

TEST_CASE("scaling qwen: steps at powers of two (Qwen #401)") {
  const std::string options = "dim=128 scaling.type=qwen scaling.trainLength=2048";
  const std::pair<double, double> alphas[] = {{1, 1},    {2048, 1}, {2049, 3}, {4096, 3},
                                              {4097, 7}, {8192, 7}, {8193, 15}};
  for (const auto& [length, alpha] : alphas) {
    INFO(length);
    const double from_log = std::max(1.0, std::pow(2.0, std::ceil(std::log2(length / 2048) + 1)) - 1);
    CHECK(alpha == from_log);
    check_close(report(options, length).inverse, plain(10000 * std::pow(alpha, 128.0 / 126), 128));
  }
  CHECK(mentions(report(options), "stale"));
}

TEST_CASE("scaling yarn: published snapshots (golden yarn-001, yarn-002)") {
  const FrequencyReport first =
      report("dim=128 scaling.type=yarn scaling.factor=10 scaling.originalMaxPositionEmbeddings=2048");
  CHECK(first.low == 16);
  CHECK(first.high == 41);
  check_pairs(first, {{16, 0.1},
                      {17, 0.08347896077},
                      {18, 0.06959018263},
                      {40, 0.0004300697618},
                      {41, 0.0002738419634},
                      {63, 1.154781985e-05}});
  CHECK(first.attention_factor == Approx(1.230258509).epsilon(1e-9));
  CHECK(first.band[16] == Band::kKept);
  CHECK(first.band[17] == Band::kRamped);
  CHECK(first.band[40] == Band::kRamped);
  CHECK(first.band[41] == Band::kScaled);
  CHECK(first.softmax_scale != first.softmax_scale);

  const FrequencyReport qwen =
      report("dim=128 base=1000000 scaling.type=yarn scaling.factor=4 scaling.originalMaxPositionEmbeddings=32768");
  CHECK(qwen.low == 23);
  CHECK(qwen.high == 40);
  check_pairs(qwen, {{0, 1},
                     {22, 0.008659643234},
                     {24, 0.005375321491},
                     {30, 0.001064360981},
                     {39, 6.490394321e-05},
                     {63, 3.102344402e-07}});
  CHECK(qwen.attention_factor == Approx(1.138629436).epsilon(1e-9));
  // The ends before they are rounded.
  const FrequencyReport raw = report(
      "dim=128 scaling.type=yarn scaling.factor=10 scaling.originalMaxPositionEmbeddings=2048 scaling.truncate=false");
  CHECK(raw.low == Approx(16.12800169).epsilon(1e-9));
  CHECK(raw.high == Approx(40.21040134).epsilon(1e-9));
}

TEST_CASE("scaling yarn: gpt-oss keeps fractional ends, and the factor stays outside the power (tvm PR #18576)") {
  const FrequencyReport oss = report(
      "dim=64 base=150000 scaling.type=yarn scaling.factor=32 scaling.originalMaxPositionEmbeddings=4096 "
      "scaling.truncate=false");
  CHECK(oss.inverse[12] == Approx(0.00679496).epsilon(0).margin(5e-9));
  const FrequencyReport rounded =
      report("dim=64 base=150000 scaling.type=yarn scaling.factor=32 scaling.originalMaxPositionEmbeddings=4096");
  CHECK(rounded.inverse[12] == Approx(0.00701571).epsilon(0).margin(5e-9));
}

TEST_CASE("scaling yarn: the reference in double over widths, bases, lengths and factors") {
  for (const int d : {2, 8, 64, 128}) {
    for (const double base : {5.0, 10000.0, 1e6}) {
      for (const double length : {4.0, 512.0, 131072.0}) {
        for (const double s : {1.0, 1.7, 40.0}) {
          for (const bool truncate : {true, false}) {
            const std::string options = "dim=" + std::to_string(d) + " base=" + to_text(base) +
                                        " scaling.type=yarn scaling.factor=" + to_text(s) +
                                        " scaling.originalMaxPositionEmbeddings=" + to_text(length) +
                                        " scaling.betaFast=20 scaling.betaSlow=0.5" +
                                        (truncate ? "" : " scaling.truncate=false");
            // Where all pairs are fast, or all slow, the reference's clamped ramp runs backwards; here it does not.
            const double low = d * std::log(length / (40 * kPi)) / (2 * std::log(base));
            const double high = d * std::log(length / kPi) / (2 * std::log(base));
            if (low > d - 1)
              CHECK(report(options).inverse == report("dim=" + std::to_string(d) + " base=" + to_text(base)).inverse);
            if (high < 0 || low > d - 1) continue;
            INFO(options);
            check_close(report(options).inverse, yarn(base, d, s, length, 20, 0.5, truncate), 1e-9);
          }
        }
      }
    }
  }
}

TEST_CASE("scaling yarn: attention factors (golden yarn-006..008; vllm #46280, mlx-lm #1507, sglang #33558)") {
  const std::string start = "dim=64 scaling.type=yarn scaling.originalMaxPositionEmbeddings=4096 scaling.factor=";
  CHECK(report(start + "64").attention_factor == Approx(1.415888308).epsilon(1e-9));
  CHECK(report(start + "64 scaling.attentionFactor=1").attention_factor == 1);
  CHECK(report(start + "128").attention_factor == Approx(1.485203026).epsilon(1e-9));  // once, not 2.20582803
  CHECK(report(start + "1").attention_factor == 1);
  const FrequencyReport equal = report(start + "16 scaling.mscale=1 scaling.mscaleAllDim=1");
  CHECK(equal.attention_factor == 1);
  CHECK(equal.softmax_scale == Approx(std::pow(0.1 * std::log(16.0) + 1, 2)).epsilon(1e-14));
  CHECK(mentions(equal, "ratio"));
  // DeepSeek-V2: 40, 0.707 and 0.707; the softmax scale takes mscale squared.
  const FrequencyReport deepseek = report(start + "40 scaling.mscale=0.707 scaling.mscaleAllDim=0.707");
  CHECK(deepseek.attention_factor == 1);
  CHECK(deepseek.softmax_scale == Approx(1.5896261651).epsilon(1e-9));
  const FrequencyReport both = report(start + "40 scaling.mscale=1 scaling.mscaleAllDim=0.5");
  CHECK(both.attention_factor == Approx((0.1 * std::log(40.0) + 1) / (0.05 * std::log(40.0) + 1)).epsilon(1e-14));
  // mscale alone: ignored, and the note says who does what.
  CHECK(report(start + "40 scaling.mscale=0.5").attention_factor == report(start + "40").attention_factor);
  CHECK(mentions(report(start + "40 scaling.mscale=0.5"), "DeepSeek"));
}

TEST_CASE("scaling: the attention factor multiplies queries and keys once, and the inverse takes it out") {
  const Built built = rope(
      "dim=4 rotaryDim=2 scaling.type=yarn scaling.factor=8 scaling.originalMaxPositionEmbeddings=64 "
      "scaling.attentionFactor=1.5");
  const double position = 3;
  Reals x = {0.5, -2, 7, 9};
  REQUIRE(built.as<Rotate>().apply({}, {&position, 1, 1}, x.data(), 4, x.data(), 4).ok());
  CHECK(std::hypot(x[0], x[1]) == Approx(1.5 * std::hypot(0.5, -2)).epsilon(1e-14));
  CHECK(x[2] == 7);  // columns that do not turn stay
  CHECK(x[3] == 9);
  RotateCall back;
  back.inverse = true;
  REQUIRE(built.as<Rotate>().apply(back, {&position, 1, 1}, x.data(), 4, x.data(), 4).ok());
  CHECK(x[0] == Approx(0.5).epsilon(1e-14));
  CHECK(x[1] == Approx(-2).epsilon(1e-14));
}

TEST_CASE("scaling llama3: Llama 3.1 (golden llama3-001), and the reference in double") {
  const FrequencyReport at = report(
      "dim=128 base=500000 scaling.type=llama3 scaling.factor=8 scaling.lowFreqFactor=1 scaling.highFreqFactor=4 "
      "scaling.originalMaxPositionEmbeddings=8192");
  check_pairs(at, {{0, 1},
                   {1, 0.8146172339},
                   {28, 0.003211445995},
                   {29, 0.002166570764},
                   {30, 0.001371893568},
                   {31, 0.0008567514129},
                   {32, 0.000524846161},
                   {33, 0.0003126937504},
                   {34, 0.0001785078128},
                   {35, 9.556212354e-05},
                   {36, 7.784655274e-05},
                   {63, 3.068925989e-07}});
  int counts[3] = {0, 0, 0};
  for (const Band band : at.band) ++counts[static_cast<int>(band)];
  CHECK(counts[0] == 29);
  CHECK(counts[1] == 6);
  CHECK(counts[2] == 29);
  CHECK(at.attention_factor == 1);
  CHECK((at.low > 28 && at.low < 29));
  CHECK((at.high > 34 && at.high < 35));

  for (const double s : {2.0, 32.0}) {
    Reals omega = plain(10000, 64);
    for (double& w : omega) {
      const double turns = 1000 * w / (2 * kPi);
      const double keep = std::min(1.0, std::max(0.0, (turns - 0.5) / (3 - 0.5)));
      w = keep * w + (1 - keep) * w / s;
    }
    check_close(report("dim=64 scaling.type=llama3 scaling.lowFreqFactor=0.5 scaling.highFreqFactor=3 "
                       "scaling.originalMaxPositionEmbeddings=1000 scaling.factor=" +
                       to_text(s))
                    .inverse,
                omega);
  }
  // Equal factors, as in Llama 4 Scout's config: a step. Turns of these three pairs are 163, 1.63 and 0.016.
  CHECK(report("dim=6 frequencies=1,0.01,0.0001 scaling.type=llama3 scaling.factor=16 scaling.lowFreqFactor=1 "
               "scaling.highFreqFactor=1 scaling.originalMaxPositionEmbeddings=1024")
            .inverse == Reals{1, 0.01, 0.00000625});
  // Works on a list of frequencies too; a pair that does not turn is slow.
  CHECK(report("dim=6 frequencies=1,-0.001,0 scaling.type=llama3 scaling.factor=8 scaling.lowFreqFactor=1 "
               "scaling.highFreqFactor=4 scaling.originalMaxPositionEmbeddings=1024")
            .inverse == Reals{1, -0.000125, 0});
}

TEST_CASE("scaling longrope: the list goes with the length (golden long-001, 003; onnxruntime-genai PR #1161)") {
  const std::string lists = "dim=8 scaling.type=longrope scaling.shortFactor=1,1.5,2,4 scaling.longFactor=1,3,20,64 ";
  const std::string options = lists + "scaling.originalMaxPositionEmbeddings=4096";
  const Reals omega = plain(10000, 8);
  const Reals shorter = {omega[0], omega[1] / 1.5, omega[2] / 2, omega[3] / 4};
  const Reals longer = {omega[0], omega[1] / 3, omega[2] / 20, omega[3] / 64};
  check_close(report(options, 4095).inverse, shorter);
  check_close(report(options, 4096).inverse, shorter);
  check_close(report(options, 4097).inverse, longer);
  CHECK(mentions(report(options), "stale"));
  CHECK(mentions(report(options), "vLLM"));
  CHECK(report(options + " scaling.factor=32").attention_factor == Approx(std::sqrt(17.0 / 12)).epsilon(1e-15));
  CHECK(report(options + " scaling.factor=32").attention_factor == Approx(1.190238071).epsilon(1e-9));
  CHECK(report(lists + "scaling.originalMaxPositionEmbeddings=2048 scaling.factor=10").attention_factor ==
        Approx(1.141049282).epsilon(1e-9));
  CHECK(report(options + " scaling.factor=1").attention_factor == 1);
  CHECK(report(options).attention_factor == 1);
  CHECK(report(options + " scaling.factor=32 scaling.attentionFactor=1.25").attention_factor == 1.25);
}

TEST_CASE("scaling proportional: exponents of the whole width (Gemma 4)") {
  const FrequencyReport at =
      report("dim=16 layout=half base=1000000 scaling.type=proportional scaling.partialRotaryFactor=0.25");
  CHECK(at.inverse == Reals{1, at.inverse[1], 0, 0, 0, 0, 0, 0});
  CHECK(at.inverse[1] == Approx(std::pow(1e6, -2.0 / 16)).epsilon(1e-15));
  CHECK(at.band[1] == Band::kKept);
  CHECK(at.band[2] == Band::kScaled);
  check_close(report("dim=16 scaling.type=proportional scaling.partialRotaryFactor=1 scaling.factor=8").inverse,
              report("dim=16 scaling.type=linear scaling.factor=8").inverse);
}

TEST_CASE("scaling: works on the columns that turn (pie PR #603)") {
  for (const char* type : {"scaling.type=ntk scaling.factor=4",
                           "scaling.type=yarn scaling.factor=4 scaling.originalMaxPositionEmbeddings=512"}) {
    CHECK(report(std::string("dim=80 rotaryDim=32 ") + type).inverse == report(std::string("dim=32 ") + type).inverse);
  }
}

TEST_CASE("scaling: an option belongs to its rules, and what a rule needs is asked for") {
  CHECK(rope("dim=4 scaling.type=linear scaling.factor=2 scaling.betaFast=32").status.message() ==
        "rope: scaling.betaFast must be left out: it belongs to scaling.type \"yarn\", got scaling.type \"linear\"");
  CHECK(rope("dim=4 scaling.betaFast=32").status.code == Code::kUnknownOption);
  CHECK(rope("dim=4 scaling.factor=2").status.code == Code::kUnknownOption);
  CHECK(rope("dim=4 scaling.type=yarn scaling.factor=2").status.message() ==
        "rope: scaling.originalMaxPositionEmbeddings is missing, it must be an integer from 2 to 1000000000");
  CHECK(rope("dim=4 scaling.type=qwen").status.code == Code::kMissingOption);
  CHECK(rope("dim=4 scaling.type=dynamic scaling.factor=2").status.argument == "scaling.maxPositionEmbeddings");
  CHECK(rope("dim=8 scaling.type=longrope scaling.originalMaxPositionEmbeddings=64 scaling.shortFactor=1,1 "
             "scaling.longFactor=1,1,1,1")
            .status.message() == "rope: scaling.shortFactor must be a list of 4 numbers, one a pair, got 2");
  CHECK(rope("dim=4 base=1 scaling.type=yarn scaling.factor=2 scaling.originalMaxPositionEmbeddings=64")
            .status.message() == "rope: base must be above 1 where scaling.type is \"yarn\", got 1");
  CHECK(rope("dim=2 scaling.type=dynamic scaling.factor=2 scaling.maxPositionEmbeddings=8").status.code ==
        Code::kOutOfRange);
  CHECK(rope("dim=4 frequencies=1,2 scaling.type=yarn scaling.factor=2 scaling.originalMaxPositionEmbeddings=64")
            .status.code == Code::kUnsupported);
  CHECK(rope("dim=4 scaling.type=llama3 scaling.factor=8 scaling.lowFreqFactor=4 scaling.highFreqFactor=3 "
             "scaling.originalMaxPositionEmbeddings=64")
            .status.argument == "scaling.highFreqFactor");
  CHECK(rope("dim=4 scaling.type=yarn scaling.factor=2 scaling.originalMaxPositionEmbeddings=64 scaling.betaFast=0.5")
            .status.argument == "scaling.betaFast");
  CHECK(rope("dim=8 scaling.type=proportional scaling.partialRotaryFactor=0.2").status.code == Code::kOutOfRange);
}
