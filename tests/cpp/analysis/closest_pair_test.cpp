#include "analysis/closest_pair.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/row_distance.h"
#include "support/property.h"
#include "support/tables.h"

using namespace posenc;
using namespace posenc_test;

namespace {

// In the order that the distances are defined to be summed in: lanes c mod 4, then (0+2)+(1+3).
double distance(const double* a, const double* b, std::size_t columns) {
  double lanes[4] = {};
  for (std::size_t c = 0; c < columns; ++c) lanes[c % 4] += (a[c] - b[c]) * (a[c] - b[c]);
  return std::sqrt((lanes[0] + lanes[2]) + (lanes[1] + lanes[3]));
}

// Every pair looked at, rising by i, then j; what a tie is decided by is the square, as in the search.
std::vector<Pair> all_pairs(const std::vector<double>& table, std::size_t columns) {
  std::vector<Pair> pairs;
  const std::size_t rows = table.size() / columns;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = i + 1; j < rows; ++j) {
      pairs.push_back({i, j, distance(&table[i * columns], &table[j * columns], columns)});
    }
  }
  return pairs;
}

Pair closest(const std::vector<double>& table, std::size_t columns) {
  Pair pair;
  REQUIRE(closest_pair(table.data(), table.size() / columns, columns, pair).ok());
  return pair;
}

void check_closest(const std::vector<double>& table, std::size_t columns) {
  const std::vector<Pair> pairs = all_pairs(table, columns);
  const Pair found = closest(table, columns);
  const double least =
      std::min_element(pairs.begin(), pairs.end(), [](auto& a, auto& b) { return a.distance < b.distance; })->distance;
  REQUIRE(found.distance == least);
  // Of several pairs at that distance (roots may coincide where squares differ) it is one whose square is least.
  double best = std::numeric_limits<double>::infinity();
  Pair expected;
  for (const Pair& pair : pairs) {
    double lanes[4] = {};
    for (std::size_t c = 0; c < columns; ++c) {
      const double gap = table[pair.i * columns + c] - table[pair.j * columns + c];
      lanes[c % 4] += gap * gap;
    }
    const double square = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
    if (square < best) best = square, expected = pair;
  }
  REQUIRE(found.i == expected.i);
  REQUIRE(found.j == expected.j);
}

void shuffle(Dice& dice, std::vector<double>& table, std::size_t columns) {
  for (std::size_t t = table.size() / columns; t-- > 1;) {
    const std::size_t s = whole(dice, 0, static_cast<int>(t));
    for (std::size_t c = 0; c < columns; ++c) std::swap(table[t * columns + c], table[s * columns + c]);
  }
}

}  // namespace

TEST_CASE("closest pairs worked by hand, ties to the smallest i, then j") {
  CHECK(closest({0, 10, 3, 12, 4}, 1).i == 2);
  CHECK(closest({0, 10, 3, 12, 4}, 1).j == 4);
  CHECK(closest({0, 10, 3, 12, 4}, 1).distance == 1);
  CHECK(closest({0, 3, 0, 7, 3, 3}, 2).distance == 3);
  const Pair tied = closest({5, 9, 1, 4, 8, 0}, 1);  // (0, 3), (1, 4), (2, 5) are all 1 apart
  CHECK(tied.i == 0);
  CHECK(tied.j == 3);
  const Pair equal = closest(std::vector<double>(4000, 2.5), 1);
  CHECK(equal.i == 0);
  CHECK(equal.j == 1);
  CHECK(equal.distance == 0);
}

TEST_CASE("closest pairs of the first positions, by offset and by search (errata 9)") {
  // Among the first 100,000 positions: 710 for d = 2, 84,823 for d = 4, 69,115 for d = 8, and 1 from 16 on.
  struct Known {
    std::size_t columns, offset;
    double distance;
  };
  for (const Known known : {Known{2, 710, 6.0288706719e-5}, Known{4, 84823, 1.6470065755e-3},
                            Known{8, 69115, 0.03856997764}, Known{16, 1, 1.01472533871}, Known{64, 1, 1.47184804812}}) {
    const std::size_t rows = 100000, d = known.columns;
    const std::vector<double> table = sinusoids(rows, d);
    std::vector<double> apart(rows - 1);
    REQUIRE(distances_from(table.data(), table.data() + d, rows - 1, d, apart.data()).ok());
    const auto least = std::min_element(apart.begin(), apart.end());
    CHECK(static_cast<std::size_t>(least - apart.begin()) + 1 == known.offset);
    CHECK(*least == Approx(known.distance).epsilon(1e-10));
    const Pair found = closest(table, d);
    CHECK(found.j - found.i == known.offset);
    CHECK(found.distance == Approx(known.distance).epsilon(1e-10));
  }
  // 002's "share dimension 2i" is near only: for d = 4 positions 0 and 710 are 0.794 apart.
  const std::vector<double> four = sinusoids(711, 4), two = sinusoids(711, 2);
  double apart = 0;
  REQUIRE(distances_from(four.data(), four.data() + 710 * 4, 1, 4, &apart).ok());
  CHECK(apart == Approx(0.794).epsilon(0).margin(5e-4));
  REQUIRE(distances_from(two.data(), two.data() + 710 * 2, 1, 2, &apart).ok());
  CHECK(apart == Approx(6.0e-5).epsilon(0).margin(5e-7));
}

TEST_CASE("the worked table of 002: rows are distinct, and slow columns tell near positions from far ones") {
  const std::vector<double> table = sinusoids(31, 4);
  Pair pair;
  REQUIRE(closest_pair(table.data(), 31, 4, pair).ok());
  CHECK(pair.distance > 0.1);
  // In the slow pair positions 1 and 2 lie closer than 1 and 30: 2 sin(0.005) and 2 sin(0.145).
  std::vector<double> slow;
  for (std::size_t t = 0; t < 31; ++t) slow.insert(slow.end(), {table[4 * t + 2], table[4 * t + 3]});
  double apart[31];
  REQUIRE(distances_from(slow.data() + 2, slow.data(), 31, 2, apart).ok());
  CHECK(apart[2] == Approx(2 * std::sin(0.005)).epsilon(1e-12));
  CHECK(apart[30] == Approx(2 * std::sin(0.145)).epsilon(1e-12));
  CHECK(apart[1] == 0);
}

TEST_CASE("the search refuses tables without a pair, numbers that are not finite and bad tolerances") {
  Pair pair;
  double total = 0;
  std::vector<Pair> pairs;
  const double table[] = {1, std::numeric_limits<double>::quiet_NaN()}, wide[] = {1.5e308, -1.5e308}, plain[] = {0, 1};
  CHECK(closest_pair(table, 1, 1, pair).code == Code::kShapeMismatch);
  CHECK(closest_pair(table, 2, 1, pair).message() == "closestPair: table must be finite numbers, got NaN");
  CHECK(closest_pair(wide, 2, 1, pair).code == Code::kOutOfRange);
  CHECK(near_pairs(plain, 2, 1, -1, 5, total, pairs).message() ==
        "collisions: tolerance must be a number of at least 0, got -1");
  CHECK(near_pairs(plain, 2, 1, std::nan(""), 5, total, pairs).code == Code::kNotANumber);
  CHECK(distances_from(plain, table, 2, 1, &total).code == Code::kNotFinite);
}

TEST_CASE("the search finds what looking at every pair finds, to the bit") {
  property("scattered", [](Dice& dice) {
    const std::size_t rows = whole(dice, 2, 120), columns = whole(dice, 1, 12);
    check_closest(random_table(dice, rows, columns), columns);
  });
  property("ties", [](Dice& dice) {
    const std::size_t rows = whole(dice, 2, 150), columns = whole(dice, 1, 4);
    std::vector<double> table(rows * columns);
    for (double& x : table) x = dice.integer(0, 6);
    check_closest(table, columns);
  });
  property(
      "smooth",
      [](Dice& dice) {
        const std::size_t rows = whole(dice, 2, 300), columns = 2 * whole(dice, 1, 8);
        check_closest(sinusoids(rows, columns, dice.real(2, 1e4), dice.integer(-1000, 1000)), columns);
      },
      200);
  property("shuffled", [](Dice& dice) {
    const std::size_t rows = whole(dice, 2, 300), columns = 2 * whole(dice, 1, 8);
    std::vector<double> table = sinusoids(rows, columns, dice.real(2, 1e4));
    shuffle(dice, table, columns);
    check_closest(table, columns);
  });
}

TEST_CASE("near_pairs lists what looking at every pair lists") {
  property("tolerance", [](Dice& dice) {
    const std::size_t rows = whole(dice, 2, 100), columns = whole(dice, 1, 5);
    std::vector<double> table = random_table(dice, rows, columns);
    if (dice.coin()) {
      for (double& x : table) x = std::floor(4 * x);
    }
    const double tolerance = dice.coin() ? dice.real(0, 0.6) : 1;
    const auto limit = whole(dice, 0, 60);
    std::vector<Pair> expected, found;
    for (const Pair& pair : all_pairs(table, columns)) {
      if (pair.distance <= tolerance) expected.push_back(pair);
    }
    double total = -1;
    REQUIRE(near_pairs(table.data(), rows, columns, tolerance, limit, total, found).ok());
    REQUIRE(total == static_cast<double>(expected.size()));
    REQUIRE(found.size() == std::min(limit, expected.size()));
    for (std::size_t n = 0; n < found.size(); ++n) {
      REQUIRE(found[n].i == expected[n].i);
      REQUIRE(found[n].j == expected[n].j);
      REQUIRE(found[n].distance == expected[n].distance);
    }
  });
}

TEST_CASE("a box is never farther than a row in it") {
  property("boxes", [](Dice& dice) {
    const std::size_t columns = whole(dice, 1, 40), width = padded_width(columns);
    const auto box = [&](std::vector<double>& low, std::vector<double>& high, std::vector<double>& rows) {
      low.assign(width, 0), high.assign(width, 0), rows.assign(3 * width, 0);
      const double middle = dice.real(-3, 3);
      for (std::size_t c = 0; c < columns; ++c) {
        for (std::size_t t = 0; t < 3; ++t) rows[t * width + c] = middle + dice.real(-1, 1);
        low[c] = std::min({rows[c], rows[width + c], rows[2 * width + c]});
        high[c] = std::max({rows[c], rows[width + c], rows[2 * width + c]});
      }
    };
    std::vector<double> low[2], high[2], rows[2];
    for (int side = 0; side < 2; ++side) box(low[side], high[side], rows[side]);
    const double infinity = std::numeric_limits<double>::infinity();
    const double gap = squared_gap(low[0].data(), high[0].data(), low[1].data(), high[1].data(), width, infinity);
    REQUIRE(squared_gap(low[1].data(), high[1].data(), low[0].data(), high[0].data(), width, infinity) == gap);
    for (std::size_t s = 0; s < 3; ++s) {
      for (std::size_t t = 0; t < 3; ++t) {
        const double* a = &rows[0][s * width];
        const double* b = &rows[1][t * width];
        const double square = squared_distance(a, b, width, infinity);
        REQUIRE(gap <= square);
        REQUIRE(std::sqrt(square) == distance(a, b, columns));
        if (squared_distance(a, b, width, 0.5 * square) <= 0.5 * square) REQUIRE(square == 0);
      }
    }
  });
}

TEST_CASE("pairs are told apart wherever rows lie in float64's range") {
  property("every pair", [](Dice& dice) {
    const std::size_t rows = whole(dice, 2, 40), columns = whole(dice, 1, 5);
    const int size = static_cast<int>(dice.integer(-1000, 900));
    const bool mixed = dice.coin();  // a row or two of other sizes among them
    std::vector<double> table(rows * columns);
    for (std::size_t t = 0; t < rows; ++t) {
      const int own = mixed && t % 5 == 0 ? static_cast<int>(dice.integer(-1000, 900)) : size;
      for (std::size_t c = 0; c < columns; ++c) table[t * columns + c] = std::ldexp(dice.real(-1, 1), own);
    }
    const auto apart = [&](std::size_t i, std::size_t j) {
      double length = 0;
      for (std::size_t c = 0; c < columns; ++c) {
        length = std::hypot(length, table[i * columns + c] - table[j * columns + c]);
      }
      return length;
    };
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < rows; ++j) {
      for (std::size_t i = 0; i < j; ++i) least = std::min(least, apart(i, j));
    }
    Pair pair;
    REQUIRE(closest_pair(table.data(), rows, columns, pair).ok());
    REQUIRE(pair.distance == Approx(least).epsilon(1e-14));
    REQUIRE(apart(pair.i, pair.j) == Approx(least).epsilon(1e-14));
    double total = 0;
    std::vector<Pair> pairs;
    const double tolerance = least * 1.5;
    double expected = 0;
    for (std::size_t j = 0; j < rows; ++j) {
      for (std::size_t i = 0; i < j; ++i) expected += apart(i, j) <= tolerance ? 1 : 0;
    }
    REQUIRE(near_pairs(table.data(), rows, columns, tolerance, 1000, total, pairs).ok());
    REQUIRE(total == expected);
    for (const Pair& p : pairs) REQUIRE(p.distance == Approx(apart(p.i, p.j)).epsilon(1e-14));
    std::vector<double> distances(rows);
    REQUIRE(distances_from(table.data(), table.data(), rows, columns, distances.data()).ok());
    for (std::size_t t = 0; t < rows; ++t) REQUIRE(distances[t] == Approx(apart(0, t)).epsilon(1e-14));
  });
  const double tiny[] = {0, 1e-200, 3e-200, 1e-200};
  Pair pair;
  REQUIRE(closest_pair(tiny, 3, 1, pair).ok());
  CHECK(pair.i == 0);
  CHECK(pair.j == 1);
  CHECK(pair.distance == 1e-200);
  REQUIRE(closest_pair(tiny, 4, 1, pair).ok());  // equal rows beside rows whose squares underflow
  CHECK(pair.i == 1);
  CHECK(pair.j == 3);
  CHECK(pair.distance == 0);
}
