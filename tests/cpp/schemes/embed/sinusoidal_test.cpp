#include <algorithm>
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

const GoldenSets kGoldenSets(schemes::embed_sinusoidal,
                             {"dim=64", "dim=6 base=500000 layout=half",
                              "dim=8 spacing=timing order=cos-sin padIndex=1", "dim=7",
                              "dim=7 oddDim=pad spacing=timing layout=half", "dim=9 oddDim=sentinel",
                              "dim=9 oddDim=round-up scale=0.3", "dim=6 frequencies=1,0.3,-2e-7"});

using Reals = std::vector<double>;

Built sinusoidal(std::string_view options) { return build(schemes::embed_sinusoidal, options); }

template <class Real>
std::vector<Real> encode(const Built& built, const Reals& positions) {
  REQUIRE(built.status.ok());
  const Embed& embed = built.as<Embed>();
  std::vector<Real> table(positions.size() * static_cast<std::size_t>(embed.width()));
  REQUIRE(embed.encode({positions.data(), positions.size(), 1}, 0, table.data()).ok());
  return table;
}

// Both precisions against numbers good to `margin`.
void check_table(std::string_view options, const Reals& positions, const Reals& expected, double margin = 1e-9) {
  const Built built = sinusoidal(options);
  INFO(options);
  const std::vector<double> exact = encode<double>(built, positions);
  const std::vector<float> single = encode<float>(built, positions);
  REQUIRE(exact.size() == expected.size());
  for (std::size_t n = 0; n < expected.size(); ++n) {
    INFO("cell " << n);
    CHECK(exact[n] == Approx(expected[n]).epsilon(0).margin(margin));
    CHECK(static_cast<double>(single[n]) == Approx(expected[n]).epsilon(6e-8).margin(margin));
  }
}

// The law of api.md, written a column at a time: which pair, sine or cosine, which frequency.
double cell(int d, const std::string& layout, bool cos_first, bool timing, const std::string& odd, double base,
            double t, int c) {
  const bool is_odd = d % 2 != 0;
  int columns = d;
  double exponent_dim = d;
  if (is_odd && odd == "pad") {
    if (c == d - 1) return 0;
    columns = d - 1;
    exponent_dim = d - 1;
  }
  if (is_odd && odd == "round-up") exponent_dim = d + 1;
  const int pairs = (columns + 1) / 2;
  const bool half = layout == "half" || (is_odd && odd == "sentinel");
  const int i = half ? c % pairs : c / 2;
  const bool first = half ? c < pairs : c % 2 == 0;
  const double omega = timing ? std::pow(base, -static_cast<double>(i) / std::max(pairs - 1, 1))
                              : std::pow(base, -2.0 * i / exponent_dim);
  return first != cos_first ? std::sin(t * omega) : std::cos(t * omega);
}

}  // namespace

TEST_CASE("sinusoidal: the worked table of d = 4 (golden sin-001, sin-018, sin-019)") {
  check_table("dim=4", {0, 1, 2, 3},
              {0.0, 1.0, 0.0, 1.0, 0.8414709848, 0.5403023059, 0.009999833334, 0.9999500004, 0.9092974268,
               -0.4161468365, 0.01999866669, 0.9998000067, 0.1411200081, -0.9899924966, 0.0299955002, 0.9995500337});
  check_table("dim=4", {-3, 2.5},
              {-0.1411200081, -0.9899924966, -0.0299955002, 0.9995500337, 0.5984721441, -0.8011436155, 0.02499739591,
               0.9996875163});
  // SamLynnEvans/Transformer #25 doubled the exponent: columns 2 and 3 were 9.999999983e-05 and 1.
  const std::vector<double> row = encode<double>(sinusoidal("dim=4"), {1});
  CHECK(row[2] == Approx(0.009999833334).epsilon(0).margin(1e-11));
  CHECK(row[3] == Approx(0.9999500004).epsilon(0).margin(1e-10));
}

TEST_CASE("sinusoidal: timing signal, even and odd, and fairseq's padding row (golden sin-010, 011, 014)") {
  check_table("dim=8 layout=half spacing=timing", {0, 1, 3},
              {0.0,
               0.0,
               0.0,
               0.0,
               1.0,
               1.0,
               1.0,
               1.0,
               0.8414709848,
               0.04639922346,
               0.002154433023,
               9.999999983e-05,
               0.5403023059,
               0.998922976,
               0.9999976792,
               0.999999995,
               0.1411200081,
               0.1387981011,
               0.00646325907,
               0.0002999999955,
               -0.9899924966,
               0.9903206991,
               0.9999791129,
               0.999999955});
  check_table("dim=5 layout=half spacing=timing oddDim=pad", {2},
              {0.9092974268, 0.0001999999987, -0.4161468365, 0.99999998, 0.0});
  check_table("dim=4 layout=half spacing=timing padIndex=1", {1, 2},
              {0.0, 0.0, 0.0, 0.0, 0.9092974268, 0.0001999999987, -0.4161468365, 0.99999998});
  // One pair: its frequency is 1, not 0 / 0.
  check_table("dim=2 spacing=timing", {1}, {0.8414709848, 0.5403023059});
  // Own timescales; tensor2tensor multiplies by the first.
  check_table("dim=4 layout=half spacing=timing minTimescale=0.5 maxTimescale=50", {1},
              {std::sin(0.5), std::sin(0.005), std::cos(0.5), std::cos(0.005)}, 1e-15);
}

TEST_CASE("sinusoidal: odd d gives numbers or a clear refusal (golden sin-015; BERT-pytorch #78, Informer2020 #224)") {
  check_table("dim=5", {1, 2},
              {0.8414709848, 0.5403023059, 0.02511622291, 0.9996845379, 0.0006309573026, 0.9092974268, -0.4161468365,
               0.05021659939, 0.9987383507, 0.001261914354});
  // BART's split of the same numbers: three sines, two cosines.
  check_table("dim=5 oddDim=sentinel", {1}, {0.8414709848, 0.02511622291, 0.0006309573026, 0.5403023059, 0.9996845379});
  // d + 1 = 6 columns, exponents 2i/6, without the last cosine.
  check_table("dim=5 oddDim=round-up", {1},
              {std::sin(1.0), std::cos(1.0), std::sin(std::pow(1e4, -1.0 / 3)), std::cos(std::pow(1e4, -1.0 / 3)),
               std::sin(std::pow(1e4, -2.0 / 3))},
              1e-15);
  // d - 1 = 4 columns and a zero.
  check_table("dim=5 oddDim=pad", {1}, {0.8414709848, 0.5403023059, 0.009999833334, 0.9999500004, 0});
  CHECK(sinusoidal("dim=5 oddDim=reject").status.message() ==
        "sinusoidal: dim must be even where oddDim is \"reject\", got 5");
  CHECK(sinusoidal("dim=6 oddDim=reject").status.ok());
}

TEST_CASE("sinusoidal: every combination of options by the formula in double") {
  const Reals positions = {0, 1, 2, 17, 500, -3, 2.5, -0.125};
  for (const int d : {2, 3, 6, 7, 16, 33}) {
    for (const char* layout : {"interleaved", "half"}) {
      for (const char* order : {"sin-cos", "cos-sin"}) {
        for (const char* spacing : {"paper", "timing"}) {
          for (const char* odd : {"truncate", "pad", "sentinel", "round-up"}) {
            for (const double base : {10000.0, 77.5, 500000.0}) {
              const std::string options = "dim=" + std::to_string(d) + " layout=" + layout + " order=" + order +
                                          " spacing=" + spacing + " oddDim=" + odd + " base=" + to_text(base);
              const std::vector<double> table = encode<double>(sinusoidal(options), positions);
              INFO(options);
              for (std::size_t t = 0; t < positions.size(); ++t) {
                for (int c = 0; c < d; ++c) {
                  const double expected =
                      cell(d, layout, order[0] == 'c', spacing[0] == 't', odd, base, positions[t], c);
                  const double got = table[t * static_cast<std::size_t>(d) + static_cast<std::size_t>(c)];
                  if (std::fabs(got - expected) > 5e-13)
                    FAIL("t " << positions[t] << " c " << c << ": " << got << " not " << expected);
                }
              }
            }
          }
        }
      }
    }
  }
  SUCCEED();
}

TEST_CASE("sinusoidal: sum with embeddings of 'The cat sat' (golden sin-003)") {
  const std::vector<double> p = encode<double>(sinusoidal("dim=4"), {0, 1, 2});
  const double x[] = {0.2, -0.5, 0.8, 0.1, -0.3, 0.4, 0.2, -0.6, 0.7, 0.1, -0.4, 0.3};
  const double expected[] = {0.2,          0.5,          0.8,         1.1,           0.5414709848,  0.9403023059,
                             0.2099998333, 0.3999500004, 1.609297427, -0.3161468365, -0.3800013333, 1.299800007};
  for (std::size_t n = 0; n < 12; ++n) CHECK(x[n] + p[n] == Approx(expected[n]).epsilon(0).margin(1e-9));
}

TEST_CASE("sinusoidal: far positions are right to the last digit (golden big-001, 003, 006, 007)") {
  struct Far {
    const char* options;
    double position;
    std::size_t pair;
    double sin, cos;
  };
  const Far cells[] = {
      {"dim=512", 1000000, 0, -0.3499935022, 0.9367521275},    {"dim=512", 1000000, 1, -0.8614445416, -0.5078516533},
      {"dim=512", 1000000, 2, 0.7713819233, 0.6363724762},     {"dim=512", 1000000, 64, 0.03574879797, -0.9993608074},
      {"dim=512", 1000000, 128, -0.3056143889, -0.9521553683}, {"dim=512", 1000000, 255, 0.009264592154, -0.9999570827},
      {"dim=128", 131071, 0, -0.5752416838, -0.8179834994},    {"dim=128", 131071, 1, -0.2073307042, -0.9782709129},
      {"dim=128", 131071, 2, 0.9985073268, 0.05461793094},     {"dim=128", 131071, 16, 0.3666904979, 0.9303429898},
      {"dim=128", 131071, 32, -0.6177383683, -0.7863836903},   {"dim=128", 131071, 63, 0.5414159308, -0.8407548928}};
  for (const Far& far : cells) {
    // Within a run and alone: no table to run out of, no recurrence to drift (kekzl/imp #1316, nanochat #514).
    const Reals positions = {far.position - 1, far.position, far.position + 1, 10000000, far.position};
    const Built built = sinusoidal(far.options);
    const std::vector<double> table = encode<double>(built, positions);
    const std::vector<float> single = encode<float>(built, positions);
    const std::size_t d = static_cast<std::size_t>(built.scheme->width());
    for (const std::size_t t : {std::size_t{1}, std::size_t{4}}) {
      CHECK(table[t * d + 2 * far.pair] == Approx(far.sin).epsilon(0).margin(6e-11));
      CHECK(table[t * d + 2 * far.pair + 1] == Approx(far.cos).epsilon(0).margin(6e-11));
      CHECK(static_cast<double>(single[t * d + 2 * far.pair]) == Approx(far.sin).epsilon(0).margin(6e-8));
    }
  }
  // gpt-neox #1003: the half-precision angle 1045 gave cos -0.408.
  CHECK(encode<double>(sinusoidal("dim=32"), {1857})[3] == Approx(0.3066928098).epsilon(0).margin(1e-9));
  CHECK(encode<double>(sinusoidal("dim=2"), {15962})[1] == Approx(-0.9080159013).epsilon(0).margin(1e-9));
}

TEST_CASE("sinusoidal: neighbours stay apart far out (mlx-lm PR #1076) and 710 is nearly 0 (golden uniq-001)") {
  const Reals far = {16777216, 16777217};
  const std::vector<float> table = encode<float>(sinusoidal("dim=64"), far);
  CHECK(std::memcmp(table.data(), table.data() + 64, 64 * sizeof(float)) != 0);
  // sin(1) apart along the first pair.
  const double apart = std::hypot(static_cast<double>(table[0] - table[64]), static_cast<double>(table[1] - table[65]));
  CHECK(apart == Approx(2 * std::sin(0.5)).epsilon(1e-6));

  const std::vector<double> p = encode<double>(sinusoidal("dim=2"), {0, 44, 710});
  CHECK(std::hypot(p[2] - p[0], p[3] - p[1]) == Approx(0.01770261858).epsilon(0).margin(1e-10));
  CHECK(std::hypot(p[4] - p[0], p[5] - p[1]) == Approx(6.028870672e-05).epsilon(0).margin(1e-13));
}

TEST_CASE("sinusoidal: dot products are the kernel of the distance (golden sim-001, sim-003, sim-004)") {
  const Built built = sinusoidal("dim=512");
  const Reals offsets = {0, 1, 10, 100, 1000, 10000};
  const double kernel[] = {256.0, 249.1020978, 173.7897249, 111.9502086, 44.97160484, -16.49039987};
  for (const double first : {0.0, 12345.0}) {
    Reals positions = {first};
    for (const double k : offsets) positions.push_back(first + k);
    const std::vector<double> p = encode<double>(built, positions);
    for (std::size_t n = 0; n < offsets.size(); ++n) {
      double dot = 0;
      for (std::size_t c = 0; c < 512; ++c) dot += p[c] * p[(n + 1) * 512 + c];
      CHECK(dot == Approx(kernel[n]).epsilon(0).margin(6e-8));
    }
  }
  const std::vector<double> p = encode<double>(sinusoidal("dim=4"), {0, 1, 2, 3});
  const double cosine[] = {1.0, 0.7701261531, 0.2918265851, 0.004778768574};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      double dot = 0;
      for (std::size_t c = 0; c < 4; ++c) dot += p[i * 4 + c] * p[j * 4 + c];
      CHECK(dot / 2 == Approx(cosine[i > j ? i - j : j - i]).epsilon(0).margin(1e-10));
    }
  }
}

TEST_CASE("sinusoidal: one step turns each pair by its matrix (golden sin-008)") {
  const std::vector<double> p = encode<double>(sinusoidal("dim=4"), {6, 7});
  const double m[2][2][2] = {{{0.5403023059, 0.8414709848}, {-0.8414709848, 0.5403023059}},
                             {{0.9999500004, 0.009999833334}, {-0.009999833334, 0.9999500004}}};
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t r = 0; r < 2; ++r) {
      CHECK(m[i][r][0] * p[2 * i] + m[i][r][1] * p[2 * i + 1] == Approx(p[4 + 2 * i + r]).epsilon(0).margin(2e-10));
    }
  }
}

TEST_CASE("sinusoidal: given frequencies, scale and the padding row") {
  check_table("dim=4 frequencies=1,0.25", {2}, {std::sin(2.0), std::cos(2.0), std::sin(0.5), std::cos(0.5)}, 1e-15);
  check_table("dim=5 frequencies=1,0.25,-2", {2},
              {std::sin(2.0), std::cos(2.0), std::sin(0.5), std::cos(0.5), std::sin(-4.0)}, 1e-15);
  check_table("dim=2 scale=0.5", {2}, {0.5 * std::sin(2.0), 0.5 * std::cos(2.0)}, 1e-15);
  // A scaled cell is rounded once.
  const std::vector<float> scaled = encode<float>(sinusoidal("dim=2 scale=0.3"), {1});
  CHECK(scaled[0] == static_cast<float>(0.3 * std::sin(1.0)));
  check_table("dim=2 padIndex=-1", {-1, -2, -1}, {0, 0, std::sin(-2.0), std::cos(-2.0), 0, 0}, 1e-15);
  CHECK(sinusoidal("dim=4 frequencies=1").status.message() ==
        "sinusoidal: frequencies must be a list of 2 numbers, one a pair, got 1");
}

TEST_CASE("sinusoidal: wavelengths (golden sin-005, sin-007)") {
  FrequencyReport report;
  REQUIRE(sinusoidal("dim=512").scheme->frequencies(0, report).ok());
  REQUIRE(report.inverse.size() == 256);
  const double two_pi = 6.283185307179586;
  CHECK(report.wavelength[0] == two_pi);
  CHECK(report.wavelength[1] == Approx(6.513356785).epsilon(0).margin(1e-9));
  CHECK(report.wavelength[128] == Approx(628.3185307).epsilon(0).margin(1e-7));
  CHECK(report.wavelength[255] == Approx(60611.47717).epsilon(0).margin(1e-5));
  CHECK(report.base == 10000);
  CHECK(report.attention_factor == 1);
  for (std::size_t i = 0; i < 256; ++i) {
    CHECK(report.inverse[i] == Approx(std::pow(10000.0, -static_cast<double>(i) / 256)).epsilon(4e-16));
  }
  REQUIRE(sinusoidal("dim=100").scheme->frequencies(0, report).ok());
  CHECK(report.wavelength[1] == Approx(7.554050231).epsilon(0).margin(1e-9));
  CHECK(report.wavelength[49] == Approx(52261.25906).epsilon(0).margin(1e-5));
  // The timing spacing reaches 2 pi 10000; a list has no base and zero has no wavelength.
  REQUIRE(sinusoidal("dim=512 spacing=timing").scheme->frequencies(0, report).ok());
  CHECK(report.wavelength[255] == Approx(two_pi * 10000).epsilon(1e-15));
  CHECK(report.base != report.base);
  REQUIRE(sinusoidal("dim=4 frequencies=0,-0.5").scheme->frequencies(0, report).ok());
  CHECK(std::isinf(report.wavelength[0]));
  CHECK(report.inverse[1] == -0.5);
  CHECK(report.wavelength[1] == 2 * two_pi);
  CHECK(to_json(report).find("\"wavelength\":[null,12.566370614359172]") != std::string::npos);
}

TEST_CASE("sinusoidal: bad values and bad positions are refused") {
  CHECK(sinusoidal("dim=0").status.message() == "sinusoidal: dim must be an integer from 2 to 65536, got 0");
  CHECK(sinusoidal("dim=4 base=0").status.message() ==
        "sinusoidal: base must be a number from 1e-12 to 1000000000000, got 0");
  CHECK(sinusoidal("dim=4 oddDim=drop").status.code == Code::kUnknownChoice);
  const Built built = sinusoidal("dim=4");
  float out[4];
  for (const double bad : {9007199254740994.0, -1e300, std::numeric_limits<double>::infinity()}) {
    CHECK_FALSE(built.as<Embed>().encode({&bad, 1, 1}, 0, out).ok());
  }
  const double nan = std::numeric_limits<double>::quiet_NaN(), big = 1e16;
  CHECK(built.as<Embed>().encode({&nan, 1, 1}, 0, out).code == Code::kNotFinite);
  CHECK(built.as<Embed>().encode({&big, 1, 1}, 0, out).message() ==
        "sinusoidal: positions must be finite numbers of magnitude up to 2^53, got 10000000000000000");
  CHECK(built.as<Embed>().encode({nullptr, 0, 1}, 0, out).ok());
}
