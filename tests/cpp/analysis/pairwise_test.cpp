#include "analysis/pairwise.h"

#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include <Eigen/Dense>
#include <catch2/catch.hpp>

#include "support/property.h"
#include "support/tables.h"

using namespace posenc;
using namespace posenc_test;

namespace {

struct Profile {
  std::vector<double> mean, lowest, highest, deviation;
};

Profile profile_of(const PairMatrices& m) {
  const std::size_t n = m.batch * offset_count(m);
  Profile p{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
  REQUIRE(offset_profile(m, p.mean.data(), p.lowest.data(), p.highest.data(), p.deviation.data()).ok());
  return p;
}

struct Both {
  double share = 0, size = 0;
};

Both symmetry_of(const PairMatrices& m) {
  Both both;
  REQUIRE(symmetry(m, &both.share, &both.size).ok());
  return both;
}

Both monotonicity_of(const PairMatrices& m) {
  Both both;
  REQUIRE(monotonicity(m, &both.share, &both.size).ok());
  return both;
}

double locality_of(const PairMatrices& m, double radius, bool scores) {
  double share = 0;
  REQUIRE(locality(m, radius, scores, &share).ok());
  return share;
}

double toeplitz_of(const PairMatrices& m) {
  double gap = 0;
  REQUIRE(toeplitz_gap(m, &gap).ok());
  return gap;
}

PairMatrices view(const std::vector<double>& matrix, std::size_t queries, std::size_t keys, double start = 0) {
  return {matrix.data(), 1, queries, keys, start};
}

// 003's B as its matrix has it, -|j - i| (erratum 7: not |j - i|).
std::vector<double> linear_bias(std::size_t n, double slope = 1) {
  std::vector<double> b(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      b[i * n + j] = -slope * std::abs(static_cast<double>(j) - static_cast<double>(i));
  }
  return b;
}

}  // namespace

TEST_CASE("the linear bias of 003 is Toeplitz, symmetric, monotone and local") {
  const std::vector<double> b = linear_bias(12);
  CHECK(toeplitz_of(view(b, 12, 12)) == 0);
  CHECK(symmetry_of(view(b, 12, 12)).share == 1);
  CHECK(symmetry_of(view(b, 12, 12)).size == 0);
  CHECK(monotonicity_of(view(b, 12, 12)).share == 1);
  std::vector<double> noted = b;  // |j - i|, as the note's text says: farther keys would weigh more
  for (double& x : noted) x = -x;
  CHECK(monotonicity_of(view(noted, 12, 12)).share == 0);
  CHECK(monotonicity_of(view(noted, 12, 12)).size == 1);
  const Profile p = profile_of(view(b, 12, 12));
  REQUIRE(p.mean.size() == 23);
  for (std::size_t o = 0; o < 23; ++o) CHECK(p.mean[o] == -std::abs(static_cast<double>(o) - 11));
  // Within one key: (1 + 2 / e) / (sum of e^-|k|), for a query far from both ends.
  const std::vector<double> row = {-3, -2, -1, 0, -1, -2, -3};
  const double e = std::exp(-1.0);
  CHECK(locality_of(view(row, 1, 7, 3), 1, true) == Approx((1 + 2 * e) / (1 + 2 * (e + e * e + e * e * e))));
}

TEST_CASE("profiles, shares and rises by hand") {
  const std::vector<double> m = {1, 2, 3, 5, 1, 2, 7, 5, 4};
  const Profile p = profile_of(view(m, 3, 3));
  CHECK(p.mean == std::vector<double>{7, 5, 2, 2, 3});
  CHECK(p.lowest == std::vector<double>{7, 5, 1, 2, 3});
  CHECK(p.highest == std::vector<double>{7, 5, 4, 2, 3});
  CHECK(p.deviation == std::vector<double>{0, 0, std::sqrt(2.0), 0, 0});
  CHECK(toeplitz_of(view(m, 3, 3)) == 3);
  const std::vector<double> odd = {0, 1, -1, 0}, even = {1, 2, 2, 5}, half = {0, 2, 0, 0};
  CHECK(symmetry_of(view(odd, 2, 2)).share == 0);
  CHECK(symmetry_of(view(odd, 2, 2)).size == 2);
  CHECK(symmetry_of(view(even, 2, 2)).share == 1);
  CHECK(symmetry_of(view(half, 2, 2)).share == 0.5);
  CHECK(symmetry_of(view({0, 0, 0, 0}, 2, 2)).share == 1);
  CHECK(monotonicity_of(view({3}, 1, 1)).share == 1);
  CHECK(monotonicity_of(view({1, 3, 2}, 1, 3)).share == 0.5);
  CHECK(monotonicity_of(view({1, 3, 2}, 1, 3)).size == 2);
  // The query stands at key 2: both steps lead away from it, and rise by 2 and fall.
  CHECK(monotonicity_of(view({1, 3, 2}, 1, 3, 2)).share == 0.5);
  CHECK(monotonicity_of(view({1, 3, 2}, 1, 3, 2)).size == 1);
  CHECK(locality_of(view({0.5, 0.25, 0.25, 0}, 2, 2), 0, false) == Approx(0.5 * (2.0 / 3 + 0)));
  CHECK(locality_of(view({0, 0, 1, 0}, 2, 2), 0, false) == 0);  // a row of zeros does not count
  CHECK(offset_count(view({}, 0, 4)) == 0);
}

TEST_CASE("matrices without an element take no time, however many there are") {
  double untouched = 7;
  const std::size_t many = std::numeric_limits<std::size_t>::max();
  for (const PairMatrices& m : {PairMatrices{nullptr, many, 0, 3, 0}, PairMatrices{nullptr, many, 3, 0, 1}}) {
    CHECK(offset_count(m) == 0);
    CHECK(offset_profile(m, &untouched, &untouched, &untouched, &untouched).ok());
  }
  CHECK(untouched == 7);
}

TEST_CASE("matrices that are refused") {
  const std::vector<double> bad = {1, std::numeric_limits<double>::infinity()}, plain = {1, 2}, negative = {-1, 1};
  double a = 0, b = 0;
  CHECK(toeplitz_gap(view(bad, 1, 2), &a).message() == "toeplitzGap: matrix must be finite numbers, got Infinity");
  CHECK(symmetry(view(plain, 1, 2), &a, &b).message() ==
        "symmetry: matrix must be square, [..., T, T], got 1 rows of 2");
  CHECK(locality(view(negative, 1, 2), 1, false, &a).code == Code::kOutOfRange);
  CHECK(locality(view(plain, 1, 2), -1, false, &a).code == Code::kOutOfRange);
  CHECK(locality(view(plain, 1, 2), std::nan(""), false, &a).code == Code::kNotANumber);
}

TEST_CASE("profiles hold against sums by offset") {
  property("profile", [](Dice& dice) {
    const std::size_t queries = whole(dice, 1, 12), keys = whole(dice, 1, 12), batch = whole(dice, 1, 3);
    const std::vector<double> m = random_table(dice, batch * queries, keys);
    const Profile p = profile_of({m.data(), batch, queries, keys, dice.integer(0, 9)});
    for (std::size_t b = 0; b < batch; ++b) {
      std::map<int, std::vector<double>> by_offset;
      for (std::size_t i = 0; i < queries; ++i) {
        for (std::size_t j = 0; j < keys; ++j) {
          by_offset[static_cast<int>(j) - static_cast<int>(i)].push_back(m[(b * queries + i) * keys + j]);
        }
      }
      std::size_t n = b * (queries + keys - 1);
      for (const auto& [offset, values] : by_offset) {
        const Eigen::Map<const Eigen::ArrayXd> x(values.data(), static_cast<Eigen::Index>(values.size()));
        REQUIRE(p.mean[n] == Approx(x.mean()).epsilon(0).margin(1e-15));
        REQUIRE(p.lowest[n] == x.minCoeff());
        REQUIRE(p.highest[n] == x.maxCoeff());
        REQUIRE(p.deviation[n] == Approx(std::sqrt((x - x.mean()).square().mean())).epsilon(0).margin(1e-15));
        ++n;
      }
    }
  });
  property("toeplitz", [](Dice& dice) {
    const std::size_t queries = whole(dice, 1, 12), keys = whole(dice, 1, 12);
    const std::vector<double> values = random_table(dice, 1, queries + keys - 1);
    std::vector<double> m(queries * keys);
    for (std::size_t i = 0; i < queries; ++i) {
      for (std::size_t j = 0; j < keys; ++j) m[i * keys + j] = values[j + queries - 1 - i];
    }
    REQUIRE(toeplitz_of(view(m, queries, keys)) == 0);
    REQUIRE(profile_of(view(m, queries, keys)).mean == values);
    const std::size_t at = whole(dice, 0, static_cast<int>(m.size()) - 1);
    const double was = m[at];
    m[at] += 0.25;
    const std::size_t i = at / keys, j = at % keys;
    const bool alone = std::min(queries - 1 - i, keys - 1 - j) + std::min(i, j) == 0;
    REQUIRE(toeplitz_of(view(m, queries, keys)) == (alone ? 0 : m[at] - was));
  });
}

TEST_CASE("symmetry, monotonicity and locality are what they say") {
  property("symmetry", [](Dice& dice) {
    const std::size_t n = whole(dice, 1, 10);
    const std::vector<double> m = random_table(dice, n, n);
    const Eigen::Map<const Eigen::MatrixXd> x(m.data(), static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n));
    const Both both = symmetry_of(view(m, n, n));
    REQUIRE(both.share == Approx((0.5 * (x + x.transpose())).squaredNorm() / x.squaredNorm()).epsilon(1e-13));
    REQUIRE(both.size == (x - x.transpose()).cwiseAbs().maxCoeff());
  });
  property("monotonicity", [](Dice& dice) {
    const std::size_t queries = whole(dice, 1, 8), keys = whole(dice, 1, 12);
    const double start = dice.integer(-3, 12);
    std::vector<double> m = random_table(dice, queries, keys);
    for (double& x : m) x = std::floor(3 * x);
    double steps = 0, kept = 0, rise = 0;
    for (std::size_t i = 0; i < queries; ++i) {
      const double q = static_cast<double>(i) + start;
      for (std::size_t j = 0; j < keys; ++j) {
        for (std::size_t far = 0; far < keys; ++far) {  // from j to its neighbour on the side away from q
          const double d = static_cast<double>(j) - q, e = static_cast<double>(far) - q;
          if (std::abs(e) != std::abs(d) + 1 || d * e < 0 || (d == 0 && e == 0)) continue;
          const double change = m[i * keys + far] - m[i * keys + j];
          steps += 1;
          kept += change <= 0;
          rise = std::max(rise, change);
        }
      }
    }
    const Both both = monotonicity_of(view(m, queries, keys, start));
    REQUIRE(both.share == (steps > 0 ? kept / steps : 1));
    REQUIRE(both.size == rise);
  });
  property("falling", [](Dice& dice) {
    // Any function that does not rise with the distance is monotone; scaling by a power of two keeps every number's
    // bits.
    const std::size_t n = whole(dice, 1, 14);
    std::vector<double> value(n);
    double level = dice.real(-1, 1);
    for (double& x : value) x = level, level -= dice.coin() ? dice.real(0, 1) : 0;
    std::vector<double> m(n * n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) m[i * n + j] = value[i < j ? j - i : i - j];
    }
    REQUIRE(monotonicity_of(view(m, n, n)).share == 1);
    REQUIRE(monotonicity_of(view(m, n, n)).size == 0);
    REQUIRE(symmetry_of(view(m, n, n)).share == 1);
    REQUIRE(toeplitz_of(view(m, n, n)) == 0);
  });
  property("locality", [](Dice& dice) {
    const std::size_t queries = whole(dice, 1, 8), keys = whole(dice, 1, 12);
    const double start = dice.integer(0, 4), radius = dice.real(0, 8);
    const std::vector<double> scores = random_table(dice, queries, keys, -5, 5);
    std::vector<double> weights(scores.size());
    double expected = 0;
    for (std::size_t i = 0; i < queries; ++i) {
      double near = 0, all = 0;
      for (std::size_t j = 0; j < keys; ++j) {
        const double w = std::exp(scores[i * keys + j]);
        weights[i * keys + j] = w;
        all += w;
        if (std::abs(static_cast<double>(j) - static_cast<double>(i) - start) <= radius) near += w;
      }
      expected += near / all / static_cast<double>(queries);
    }
    REQUIRE(locality_of(view(scores, queries, keys, start), radius, true) == Approx(expected).epsilon(1e-13));
    REQUIRE(locality_of(view(weights, queries, keys, start), radius, false) == Approx(expected).epsilon(1e-13));
    REQUIRE(locality_of(view(scores, queries, keys, start), radius + 1, true) >=
            locality_of(view(scores, queries, keys, start), radius, true));
    REQUIRE(locality_of(view(scores, queries, keys, start), 40, true) == Approx(1).epsilon(1e-15));
  });
}
