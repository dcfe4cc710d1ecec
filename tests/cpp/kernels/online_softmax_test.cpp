// The softmax over tiles against one in double over all scores, and its exact promises.
#include <catch2/catch.hpp>

#include <limits>
#include <vector>

#include "kernels/online_softmax.h"
#include "kernels/scan.h"
#include "support/attention_case.h"

using namespace posenc;
using namespace posenc_test;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("online softmax: tiles in any cut give maximum, sum and weights") {
  const std::size_t rows = 200;
  std::vector<float> scores = Numbers(1).floats(rows * 8, 30), bias = Numbers(2).floats(rows * 8, 5);
  for (std::size_t j = 0; j < 50; ++j) scores[j * 8 + 3] = -kInfinity;    // a lane whose first tiles are masked
  for (std::size_t j = 0; j < rows; ++j) scores[j * 8 + 5] = -kInfinity;  // a lane that sees nothing
  for (const std::size_t step : {1, 7, 40, 200}) {
    float m[8], l[8], alpha[8], largest[8];
    std::vector<double> running(8, 0.0);  // sum of p, kept as the output is kept
    for (int lane = 0; lane < 8; ++lane) m[lane] = -kInfinity, l[lane] = 0;
    for (std::size_t first = 0; first < rows; first += step) {
      const std::size_t count = std::min(step, rows - first);
      std::vector<float> s(scores.begin() + static_cast<std::ptrdiff_t>(first * 8),
                           scores.begin() + static_cast<std::ptrdiff_t>((first + count) * 8));
      add_and_find_largest(s.data(), bias.data() + first * 8, count, largest);
      const std::vector<float> added = s;
      softmax_tile(s.data(), count, largest, m, l, alpha);
      for (std::size_t lane = 0; lane < 8; ++lane) {
        double sum = 0;
        for (std::size_t j = 0; j < count; ++j) {
          CHECK(added[j * 8 + lane] == scores[(first + j) * 8 + lane] + bias[(first + j) * 8 + lane]);
          sum += s[j * 8 + lane];
        }
        running[lane] = running[lane] * alpha[lane] + sum;
      }
    }
    for (std::size_t lane = 0; lane < 8; ++lane) {
      double top = -kInfinity, total = 0;
      for (std::size_t j = 0; j < rows; ++j) {
        top = std::max<double>(top, scores[j * 8 + lane] + bias[j * 8 + lane]);
      }
      for (std::size_t j = 0; j < rows && top > -kInfinity; ++j) {
        total += std::exp(static_cast<double>(scores[j * 8 + lane] + bias[j * 8 + lane]) - top);
      }
      CAPTURE(step, lane);
      CHECK(m[lane] == top);
      CHECK(l[lane] == Approx(total).epsilon(1e-6));
      CHECK(running[lane] == Approx(total).epsilon(1e-6));
    }
  }
}

TEST_CASE("online softmax: a tile below the maximum leaves alpha at exactly 1") {
  float m[8], l[8], alpha[8], largest[8];
  for (int lane = 0; lane < 8; ++lane) m[lane] = 2.75f, l[lane] = 3;
  std::vector<float> s(16, -kInfinity);
  for (int lane = 0; lane < 4; ++lane) s[static_cast<std::size_t>(lane)] = 2.75f;
  add_and_find_largest(s.data(), nullptr, 2, largest);
  softmax_tile(s.data(), 2, largest, m, l, alpha);
  for (int lane = 0; lane < 8; ++lane) {
    CHECK(alpha[lane] == 1);
    CHECK(m[lane] == 2.75f);
    CHECK(l[lane] == (lane < 4 ? 4 : 3));
  }
}

TEST_CASE("weights and outputs are divided by the sum, and zero where there is none") {
  std::vector<float> s = {1, 0, -kInfinity, 0.5f, -1, 1};
  const float l = 3.25f;
  normalise_weights(s.data(), 6, 1, l);
  const double expected[] = {1, std::exp(-1.0), 0, std::exp(-0.5), std::exp(-2.0), 1};
  for (std::size_t j = 0; j < 6; ++j) CHECK(s[j] == Approx(expected[j] / l).epsilon(2e-7));
  normalise_weights(s.data(), 6, -kInfinity, 0);
  CHECK(s == std::vector<float>(6, 0.0f));
  std::vector<float> o = Numbers(3).floats(3 * 8);
  o[8] = -0.0f;
  const std::vector<float> before = o;
  const float sums[8] = {1, 2, 3, 0, 5, 6, 7, 0.5f};
  normalise_output(o.data(), 3, sums, 4);
  for (std::size_t n = 0; n < o.size(); ++n) {
    const float sum = sums[n % 8];
    CHECK(o[n] == (sum == 0 ? 0 : before[n] / sum * 4));
    CHECK((o[n] != 0 || !std::signbit(o[n])));
  }
}

TEST_CASE("a scan finds the largest magnitude and whatever is not finite, wherever it stands") {
  for (const std::size_t n : {1, 3, 4, 5, 8, 19}) {
    std::vector<float> x = Numbers(9).floats(n);
    for (std::size_t at = 0; at < n; ++at) {
      std::vector<float> y = x;
      y[at] = -7;
      CHECK(scan_numbers(y.data(), n).magnitude == 7);
      CHECK(scan_numbers(y.data(), n).finite);
      for (const float odd : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
        y[at] = odd;
        CHECK_FALSE(scan_numbers(y.data(), n).finite);
      }
    }
  }
  CHECK(scan_numbers(nullptr, 0).finite);
  // The negative NaN that x86 makes becomes the one NaN that leaves.
  std::vector<float> x(3);
  const std::uint32_t bits[] = {0xffc00000, 0x3f800000, 0x7fa00001};
  std::memcpy(x.data(), bits, sizeof bits);
  make_nan_plain(x.data(), 3);
  std::uint32_t after[3];
  std::memcpy(after, x.data(), sizeof after);
  CHECK(after[0] == 0x7fc00000);
  CHECK(after[1] == 0x3f800000);
  CHECK(after[2] == 0x7fc00000);
}
