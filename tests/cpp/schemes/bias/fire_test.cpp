#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "schemes/scheme.h"
#include "support/build.h"
#include "support/golden_sets.h"
#include "support/tiles.h"

using namespace posenc;
using namespace posenc_test;

namespace {

const GoldenSets kGoldenSets(schemes::bias_fire,
                             {"heads=8", "heads=2 c=3 threshold=20 seed=5", "heads=1 hidden=1 threshold=1",
                              "heads=3 hidden=64 c=0.01 threshold=70"});

struct Tables {
  std::vector<float> w1, b1, w2, b2;
};

Built fire(std::string_view options, const Tables& t, std::size_t heads) {
  Built built = build(schemes::bias_fire, options);
  const std::size_t hidden = t.w1.size();
  REQUIRE(built.spec->set("w1", Table::of(t.w1.data(), {hidden})).ok());
  REQUIRE(built.spec->set("b1", Table::of(t.b1.data(), {hidden})).ok());
  REQUIRE(built.spec->set("w2", Table::of(t.w2.data(), {heads, hidden})).ok());
  REQUIRE(built.spec->set("b2", Table::of(t.b2.data(), {heads})).ok());
  built.status = make_scheme(*built.spec, built.scheme);
  REQUIRE(built.status.ok());
  return built;
}

// The network unit by unit, as the paper draws it.
double network(const Tables& t, std::size_t head, double x) {
  const std::size_t hidden = t.w1.size();
  double sum = static_cast<double>(t.b2[head]);
  for (std::size_t k = 0; k < hidden; ++k) {
    const double unit = static_cast<double>(t.w1[k]) * x + static_cast<double>(t.b1[k]);
    sum += static_cast<double>(t.w2[head * hidden + k]) * (unit > 0 ? unit : 0);
  }
  return sum;
}

}  // namespace

TEST_CASE("fire: a number worked by hand") {
  // f(x) = 3 relu(2 x - 1) + 0.5; c = 1, L = 7: psi(L) = log 8, psi(7) = log 8, psi(1) = log 2.
  const Tables t = {{2}, {-1}, {3}, {0.5f}};
  const Built built = fire("heads=1 hidden=1 c=1 threshold=7", t, 1);
  CHECK(bias_matrix(built.as<Bias>(), 0, {7}, {0})[0] == Approx(3.5));
  CHECK(bias_matrix(built.as<Bias>(), 0, {3}, {2})[0] == Approx(0.5));
  // Query 63: psi = log 64; a distance of 31 is x = 5 / 6, 3 (5 / 3 - 1) + 0.5.
  CHECK(bias_matrix(built.as<Bias>(), 0, {63}, {32})[0] == Approx(2.5));
}

TEST_CASE("fire: pieces are the network, at any query") {
  Dice dice(3);
  Tables t;
  for (int k = 0; k < 32; ++k) {
    t.w1.push_back(k == 5 ? 0 : static_cast<float>(dice.real(-2, 2)));
    t.b1.push_back(static_cast<float>(dice.real(-1, 1)));
  }
  for (int n = 0; n < 64; ++n) t.w2.push_back(static_cast<float>(dice.real(-1, 1)));
  t.b2 = {0.25f, -1};
  const Built built = fire("heads=2 c=0.3 threshold=40", t, 2);
  const Reals queries = {0, 1, 39, 40, 41, 100, 1000.5, -7, 1e9}, keys = run(-3, 300);
  for (std::size_t h = 0; h < 2; ++h) {
    const std::vector<float> b = bias_matrix(built.as<Bias>(), static_cast<int>(h), queries, keys);
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const double whole = std::log(0.3 * std::max(40.0, queries[i]) + 1);
      for (std::size_t j = 0; j < keys.size(); ++j) {
        const double x = std::log(0.3 * std::fabs(keys[j] - queries[i]) + 1) / whole;
        REQUIRE(static_cast<double>(b[i * keys.size() + j]) == Approx(network(t, h, x)).epsilon(1e-6).margin(1e-6));
      }
    }
    CHECK(bias_matrix(built.as<Bias>(), static_cast<int>(h), run(30, 20), keys) ==
          bias_matrix(built.as<Bias>(), static_cast<int>(h), run(30, 20), keys, false));
  }
}

TEST_CASE("fire: the same distance counts less for later queries, and alike up to the threshold") {
  const Tables t = {{1}, {0}, {1}, {0}};
  const Built built = fire("heads=1 hidden=1 threshold=100", t, 1);
  const auto at = [&](double i) { return bias_matrix(built.as<Bias>(), 0, {i}, {i - 10})[0]; };
  CHECK(at(10) == at(100));
  CHECK(at(1000) < at(100));
  CHECK(build(schemes::bias_fire, "heads=1 threshold=0").status.code == Code::kOutOfRange);
}
