#include "analysis/tsne.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/neighbour_forces.h"
#include "support/property.h"
#include "support/tables.h"

using namespace posenc;
using namespace posenc_test;

namespace {

std::size_t place(std::size_t i, std::size_t j) { return i > j ? i * (i - 1) / 2 + j : j * (j - 1) / 2 + i; }

std::vector<double> affinities_of(const std::vector<double>& table, std::size_t rows, double perplexity) {
  std::vector<double> p(rows * (rows - 1) / 2);
  REQUIRE(tsne_affinities(table.data(), rows, table.size() / rows, perplexity, p.data()).ok());
  return p;
}

struct Map {
  std::vector<double> points;
  double divergence = 0;
};

Map map_of(const std::vector<double>& table, std::size_t rows, double perplexity, std::size_t iterations,
           std::uint64_t seed = 0) {
  Map map{std::vector<double>(2 * rows), 0};
  REQUIRE(tsne(table.data(), rows, table.size() / rows, perplexity, iterations, seed, map.points.data(), map.divergence)
              .ok());
  return map;
}

// p_{j|i} for a precision found by bisection on libm's exp and log, in another parametrisation (sigma, not beta).
std::vector<double> oracle_affinities(const std::vector<double>& table, std::size_t rows, double perplexity) {
  const std::size_t columns = table.size() / rows;
  std::vector<double> joint(rows * (rows - 1) / 2, 0.0), d(rows), p(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    double low = 1e-6, high = 1e6, least = high;
    for (std::size_t j = 0; j < rows; ++j) {
      d[j] = 0;
      for (std::size_t c = 0; c < columns; ++c) d[j] += std::pow(table[i * columns + c] - table[j * columns + c], 2);
      if (j != i) least = std::min(least, d[j]);
    }
    for (int turn = 0; turn < 300; ++turn) {
      const double sigma = std::sqrt(low * high);
      double sum = 0, entropy = 0;
      for (std::size_t j = 0; j < rows; ++j) {
        p[j] = j == i ? 0 : std::exp(-(d[j] - least) / (2 * sigma * sigma));
        sum += p[j];
      }
      for (double& share : p) {
        share /= sum;
        if (share > 0) entropy -= share * std::log(share);
      }
      (entropy < std::log(perplexity) ? low : high) = sigma;
    }
    for (std::size_t j = 0; j < rows; ++j) {
      if (j != i) joint[place(i, j)] += p[j] / (2 * static_cast<double>(rows));
    }
  }
  return joint;
}

}  // namespace

TEST_CASE("t-SNE keeps clusters together, and centres them") {
  // Three clusters far apart: every point's nearest neighbour on the map is of its own cluster.
  Dice dice(5);
  const std::size_t rows = 60;
  std::vector<double> table(rows * 5);
  for (std::size_t t = 0; t < rows; ++t) {
    for (std::size_t c = 0; c < 5; ++c) table[t * 5 + c] = (c == t % 3 ? 20.0 : 0.0) + dice.real(-1, 1);
  }
  const Map map = map_of(table, rows, 8, 500);
  double x = 0, y = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    std::size_t nearest = rows;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < rows; ++j) {
      const double d = std::hypot(map.points[2 * i] - map.points[2 * j], map.points[2 * i + 1] - map.points[2 * j + 1]);
      if (j != i && d < least) least = d, nearest = j;
    }
    CHECK(nearest % 3 == i % 3);
    x += map.points[2 * i];
    y += map.points[2 * i + 1];
  }
  CHECK(std::abs(x) < 1e-9);
  CHECK(std::abs(y) < 1e-9);
  CHECK(map.divergence > 0);
  CHECK(map.divergence < map_of(table, rows, 8, 20).divergence);
}

TEST_CASE("a table of sinusoids unrolls into a curve") {
  // Rows of one slow turn lie on a circle, so the neighbours on the map are the neighbours in position.
  std::vector<double> table;
  for (int t = 0; t < 80; ++t) {
    table.push_back(std::sin(t * 0.05));
    table.push_back(std::cos(t * 0.05));
  }
  const Map map = map_of(table, 80, 6, 750);
  int kept = 0;
  for (std::size_t i = 1; i + 1 < 80; ++i) {
    const auto apart = [&](std::size_t j) {
      return std::hypot(map.points[2 * i] - map.points[2 * j], map.points[2 * i + 1] - map.points[2 * j + 1]);
    };
    bool best = true;
    for (std::size_t j = 0; j < 80; ++j) {
      if (j + 3 < i || j > i + 3) best = best && apart(j) > std::min(apart(i - 1), apart(i + 1));
    }
    kept += best;
  }
  CHECK(kept > 70);
}

TEST_CASE("t-SNE refuses too few and too many rows, and perplexities without enough neighbours") {
  const std::vector<double> table(20, 1.0);
  double points[20], divergence = 0;
  CHECK(tsne(table.data(), 3, 2, 1, 10, 0, points, divergence).code == Code::kShapeMismatch);
  CHECK(tsne(table.data(), 2049, 0, 1, 10, 0, points, divergence).message() ==
        "tsne: table must be of 4 to 2048 rows, got 2049");
  CHECK(tsne(table.data(), 10, 2, 4, 10, 0, points, divergence).code == Code::kOutOfRange);
  CHECK(tsne(table.data(), 10, 2, std::nan(""), 10, 0, points, divergence).code == Code::kNotANumber);
  CHECK(tsne(table.data(), 10, 2, 3, 10, 0, points, divergence).ok());  // equal rows: every density is flat
  for (const double x : points) CHECK(std::abs(x) < 1e6);
  const std::vector<double> bad(20, std::numeric_limits<double>::infinity()), wide = {1e300, -1e300, 0, 1};
  CHECK(tsne(bad.data(), 10, 2, 3, 10, 0, points, divergence).code == Code::kNotFinite);
  CHECK(tsne(wide.data(), 4, 1, 1, 10, 0, points, divergence).code == Code::kOutOfRange);
}

TEST_CASE("affinities have the perplexity asked for") {
  property("affinities", [](Dice& dice) {
    const std::size_t rows = whole(dice, 8, 24), columns = whole(dice, 1, 6);
    const std::vector<double> table = random_table(dice, rows, columns, -2, 2);
    const double perplexity = dice.real(1.5, static_cast<double>(rows - 1) / 3);
    const std::vector<double> found = affinities_of(table, rows, perplexity);
    const std::vector<double> expected = oracle_affinities(table, rows, perplexity);
    double sum = 0;
    for (std::size_t n = 0; n < found.size(); ++n) {
      REQUIRE(found[n] == Approx(expected[n]).epsilon(0).margin(1e-8));
      sum += 2 * found[n];
    }
    REQUIRE(sum == Approx(1).epsilon(1e-12));
  });
  property("moved and scaled", [](Dice& dice) {
    // Distances in units of themselves: neither a shift nor a scale of the rows shows.
    const std::size_t rows = whole(dice, 7, 20);
    const std::vector<double> table = random_table(dice, rows, 3);
    std::vector<double> moved = table;
    const double scale = dice.real(0.01, 100), by = dice.integer(-3, 3);
    for (double& x : moved) x = scale * (x + by);
    const std::vector<double> a = affinities_of(table, rows, 2), b = affinities_of(moved, rows, 2);
    for (std::size_t n = 0; n < a.size(); ++n) REQUIRE(b[n] == Approx(a[n]).epsilon(1e-7).margin(1e-10));
  });
}

TEST_CASE("forces are those of the formula, and the slope of the divergence") {
  property("forces", [](Dice& dice) {
    const std::size_t n = whole(dice, 1, 20);
    const std::vector<double> x = random_table(dice, 1, n, -2, 2), y = random_table(dice, 1, n, -2, 2);
    const std::vector<double> p = random_table(dice, 1, n * (n - 1) / 2, 0, 1);
    std::vector<double> attraction(2 * n), repulsion(2 * n);
    const double sum = neighbour_forces(p.data(), x.data(), y.data(), n, attraction.data(), repulsion.data());
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double force[4] = {};
      for (std::size_t j = 0; j < n; ++j) {
        if (i == j) continue;
        const double dx = x[i] - x[j], dy = y[i] - y[j], w = 1 / (1 + dx * dx + dy * dy);
        total += 0.5 * w;
        force[0] += p[place(i, j)] * w * dx;
        force[1] += p[place(i, j)] * w * dy;
        force[2] += w * w * dx;
        force[3] += w * w * dy;
      }
      REQUIRE(attraction[i] == Approx(force[0]).epsilon(0).margin(1e-13));
      REQUIRE(attraction[n + i] == Approx(force[1]).epsilon(0).margin(1e-13));
      REQUIRE(repulsion[i] == Approx(force[2]).epsilon(0).margin(1e-13));
      REQUIRE(repulsion[n + i] == Approx(force[3]).epsilon(0).margin(1e-13));
    }
    REQUIRE(sum == Approx(total).epsilon(1e-13));
  });
  property("slope", [](Dice& dice) {
    // d KL / d y = 4 (attraction - repulsion / sum_of_both_ways), by central differences of the divergence itself.
    const std::size_t n = whole(dice, 3, 9);
    std::vector<double> at = random_table(dice, 2, n), p = random_table(dice, 1, n * (n - 1) / 2, 0.1, 1);
    double all = 0;
    for (const double share : p) all += 2 * share;
    for (double& share : p) share /= all;
    const auto divergence = [&] {
      double sum = 0, kl = 0;
      const auto w = [&](std::size_t i, std::size_t j) {
        return 1 / (1 + std::pow(at[i] - at[j], 2) + std::pow(at[n + i] - at[n + j], 2));
      };
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j) sum += 2 * w(i, j);
      }
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j) kl += 2 * p[place(i, j)] * std::log(p[place(i, j)] * sum / w(i, j));
      }
      return kl;
    };
    std::vector<double> attraction(2 * n), repulsion(2 * n);
    const double sum = 2 * neighbour_forces(p.data(), at.data(), at.data() + n, n, attraction.data(), repulsion.data());
    const std::size_t c = whole(dice, 0, static_cast<int>(2 * n) - 1);
    const double kept = at[c], step = 1e-5;
    at[c] = kept + step;
    const double above = divergence();
    at[c] = kept - step;
    const double below = divergence();
    REQUIRE(4 * (attraction[c] - repulsion[c] / sum) == Approx((above - below) / (2 * step)).epsilon(0).margin(1e-8));
  });
}

TEST_CASE("maps are seeded, and say their divergence") {
  property("seed", [](Dice& dice) {
    const std::size_t rows = whole(dice, 7, 16);
    const std::vector<double> table = random_table(dice, rows, 4);
    const auto seed = static_cast<std::uint64_t>(dice.integer(0, 1 << 20));
    const Map a = map_of(table, rows, 2, 60, seed), b = map_of(table, rows, 2, 60, seed);
    REQUIRE(std::memcmp(a.points.data(), b.points.data(), a.points.size() * sizeof(double)) == 0);
    REQUIRE(a.points != map_of(table, rows, 2, 60, seed + 1).points);
    const std::vector<double> p = affinities_of(table, rows, 2);
    double sum = 0, kl = 0;
    const auto w = [&](std::size_t i, std::size_t j) {
      return 1 / (1 + std::pow(a.points[2 * i] - a.points[2 * j], 2) +
                  std::pow(a.points[2 * i + 1] - a.points[2 * j + 1], 2));
    };
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < i; ++j) sum += 2 * w(i, j);
    }
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < i; ++j) kl += 2 * p[place(i, j)] * std::log(p[place(i, j)] * sum / w(i, j));
    }
    REQUIRE(a.divergence == Approx(kl).epsilon(1e-11).margin(1e-12));
  });
}

TEST_CASE("t-SNE of the fewest rows finds the map, whatever the seed") {
  // Two pairs far from each other have a map that gets almost nothing wrong; one torn apart gets ln 4 nats wrong.
  for (const std::vector<double>& table :
       {std::vector<double>{0, 1, 5, 6}, {0, 1, 102, 103}, {6, 0, 5, 1}, {0, 0.01, 3, 3.5}}) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      INFO(table[1] << ' ' << table[2] << ", seed " << seed);
      CHECK(map_of(table, 4, 1, 1000, seed).divergence < 0.01);
    }
  }
  // Of more rows no seed is much worse than the best one.
  for (const std::vector<double>& table :
       {std::vector<double>{0, 1, 5, 6, 20}, {0, 1, 2, 10, 11, 12}, {0, 0.1, 3, 9}, {0, 1, 2, 3, 4}}) {
    double best = 1e9, worst = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const double perplexity = table.size() < 5 ? 1 : 4.0 / 3;
      const double divergence = map_of(table, table.size(), perplexity, 1000, seed).divergence;
      best = std::min(best, divergence);
      worst = std::max(worst, divergence);
    }
    INFO(table.size() << " rows: " << best << " to " << worst);
    CHECK(worst < best + 0.1);
  }
}

TEST_CASE("affinities do not depend on the unit, however small") {
  property("unit", [](Dice& dice) {
    const std::size_t rows = whole(dice, 4, 12);
    const int down = static_cast<int>(dice.integer(-900, 0));
    std::vector<double> table(3 * rows), scaled(3 * rows);
    for (std::size_t n = 0; n < table.size(); ++n) scaled[n] = std::ldexp(table[n] = dice.real(-1, 1), down);
    const std::vector<double> p = affinities_of(table, rows, 1), q = affinities_of(scaled, rows, 1);
    for (std::size_t n = 0; n < p.size(); ++n) REQUIRE(q[n] == Approx(p[n]).epsilon(1e-12));
  });
}
