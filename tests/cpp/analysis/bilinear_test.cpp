#include "analysis/bilinear.h"

#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/Dense>
#include <catch2/catch.hpp>

#include "support/property.h"

using namespace posenc;
using posenc_test::Dice;
using posenc_test::property;

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// A table of cosines and sines of given frequencies, in columns 2 i and 2 i + 1 or in halves.
struct PairTable {
  std::vector<double> omegas, m, n, queries, keys, columns;
  PairedRows rows;

  PairTable(const std::vector<double>& frequencies, const std::vector<double>& at_m, const std::vector<double>& at_n,
        bool half = false)
      : omegas(frequencies), m(at_m), n(at_n) {
    const std::size_t dim = 2 * omegas.size();
    for (std::size_t i = 0; i < omegas.size(); ++i) {
      columns.push_back(static_cast<double>(half ? i : 2 * i));
      columns.push_back(static_cast<double>(half ? omegas.size() + i : 2 * i + 1));
    }
    queries = table(m);
    keys = table(n);
    rows = {queries.data(), keys.data(), m.size(), n.size(), dim, columns.data()};
  }

  std::vector<double> table(const std::vector<double>& positions) const {
    std::vector<double> out(positions.size() * 2 * omegas.size());
    for (std::size_t t = 0; t < positions.size(); ++t) {
      for (std::size_t i = 0; i < omegas.size(); ++i) {
        double* row = out.data() + t * 2 * omegas.size();
        row[static_cast<std::size_t>(columns[2 * i])] = std::cos(positions[t] * omegas[i]);
        row[static_cast<std::size_t>(columns[2 * i + 1])] = std::sin(positions[t] * omegas[i]);
      }
    }
    return out;
  }
};

struct Parts {
  std::vector<double> value, relative, absolute, rest;

  Parts(const PairTable& table, const std::vector<double>& h) {
    const std::size_t size = table.m.size() * table.n.size();
    for (auto* part : {&value, &relative, &absolute, &rest}) part->resize(size);
    REQUIRE(bilinear(table.rows, h.data(), h.size() == table.rows.dim, value.data(), relative.data(), absolute.data(),
                     rest.data())
                .ok());
  }
};

std::vector<double> reals(Dice& dice, std::size_t count, double size = 2) {
  std::vector<double> list(count);
  for (double& x : list) x = dice.real(-size, size);
  return list;
}

PairTable random_table(Dice& dice) {
  const auto count = [&](double most) { return static_cast<std::size_t>(dice.integer(1, most)); };
  return {reals(dice, count(8)), reals(dice, count(4), 50), reals(dice, count(4), 50), dice.coin()};
}

}  // namespace

TEST_CASE("a diagonal H worked by hand: product to sum (note 000)") {
  // d = 4, omega = 1, 0.5; H = diag(1, 2, 3, 5); m = 3, n = 1. The pairs are i = 0 and 1, not 1 and 2.
  const PairTable table({1, 0.5}, {3}, {1});
  const Parts parts(table, {1, 2, 3, 5});
  const double relative = 1.5 * std::cos(2.0) + 4 * std::cos(1.0), absolute = -0.5 * std::cos(4.0) - std::cos(2.0);
  CHECK(parts.relative[0] == Approx(relative).epsilon(0).margin(1e-14));
  CHECK(parts.absolute[0] == Approx(absolute).epsilon(0).margin(1e-14));
  CHECK(parts.rest[0] == 0);
  CHECK(parts.value[0] == Approx(relative + absolute).epsilon(0).margin(1e-14));
  // Sums that start at i = 1 lose the first pair.
  CHECK(std::fabs(parts.relative[0] - 4 * std::cos(1.0)) > 0.6);
}

TEST_CASE("H = I leaves the inner product, and equal entries of a pair cancel m + n (note 000)") {
  const PairTable table({1, 0.1, 0.01}, {0, 5, 100}, {7, 64});
  const Parts identity(table, {1, 1, 1, 1, 1, 1});
  const Parts paired(table, {2, 2, -1, -1, 0.5, 0.5});
  for (std::size_t at = 0; at < 6; ++at) {
    const double k = table.m[at / 2] - table.n[at % 2];
    CHECK(identity.absolute[at] == 0);
    CHECK(identity.relative[at] ==
          Approx(std::cos(k) + std::cos(0.1 * k) + std::cos(0.01 * k)).epsilon(0).margin(1e-13));
    CHECK(paired.absolute[at] == 0);
    CHECK(paired.value[at] ==
          Approx(2 * std::cos(k) - std::cos(0.1 * k) + 0.5 * std::cos(0.01 * k)).epsilon(0).margin(1e-13));
  }
}

TEST_CASE("properties of the parts of p_m^T H p_n") {
  property("the parts add up to Eigen's product", [](Dice& dice) {
    const PairTable table = random_table(dice);
    const std::size_t dim = table.rows.dim, keys = table.n.size();
    const auto h = reals(dice, dim * dim);
    const Parts parts(table, h);
    const Matrix product = Eigen::Map<const Matrix>(table.queries.data(), table.m.size(), dim) *
                           Eigen::Map<const Matrix>(h.data(), dim, dim) *
                           Eigen::Map<const Matrix>(table.keys.data(), keys, dim).transpose();
    for (std::size_t at = 0; at < parts.value.size(); ++at) {
      CHECK(parts.value[at] == Approx(product(at / keys, at % keys)).epsilon(0).margin(1e-12));
      CHECK(parts.relative[at] + parts.absolute[at] + parts.rest[at] ==
            Approx(parts.value[at]).epsilon(0).margin(1e-12));
    }
  });
  property("cosines of m - n and of m + n", [](Dice& dice) {
    const PairTable table = random_table(dice);
    const auto h = reals(dice, table.rows.dim);
    const Parts parts(table, h);
    for (std::size_t at = 0; at < parts.value.size(); ++at) {
      const double m = table.m[at / table.n.size()], n = table.n[at % table.n.size()];
      double relative = 0, absolute = 0;
      for (std::size_t i = 0; i < table.omegas.size(); ++i) {
        const double hc = h[static_cast<std::size_t>(table.columns[2 * i])];
        const double hs = h[static_cast<std::size_t>(table.columns[2 * i + 1])];
        relative += (hc + hs) / 2 * std::cos((m - n) * table.omegas[i]);
        absolute += (hc - hs) / 2 * std::cos((m + n) * table.omegas[i]);
      }
      CHECK(parts.relative[at] == Approx(relative).epsilon(0).margin(1e-11));
      CHECK(parts.absolute[at] == Approx(absolute).epsilon(0).margin(1e-11));
    }
  });
  property("a vector is the diagonal matrix of it", [](Dice& dice) {
    const PairTable table = random_table(dice);
    const std::size_t dim = table.rows.dim;
    const auto h = reals(dice, dim);
    std::vector<double> matrix(dim * dim, 0);
    for (std::size_t c = 0; c < dim; ++c) matrix[c * dim + c] = h[c];
    const Parts vector(table, h), whole(table, matrix);
    CHECK(vector.relative == whole.relative);
    CHECK(vector.absolute == whole.absolute);
    for (std::size_t at = 0; at < vector.value.size(); ++at) {
      CHECK(vector.value[at] == Approx(whole.value[at]).epsilon(0).margin(1e-13));
      CHECK(whole.rest[at] == 0);
    }
  });
  property("the relative part sees the offset only, and a transposed H turns queries and keys round", [](Dice& dice) {
    const PairTable table = random_table(dice);
    const std::size_t dim = table.rows.dim;
    auto h = reals(dice, dim * dim);
    const Parts parts(table, h);
    const double shift = dice.integer(-100, 100);
    auto m = table.m, n = table.n;
    for (double& t : m) t += shift;
    for (double& t : n) t += shift;
    const Parts moved(PairTable(table.omegas, m, n, table.columns[1] != 1), h);
    for (std::size_t at = 0; at < parts.value.size(); ++at) {
      CHECK(moved.relative[at] == Approx(parts.relative[at]).epsilon(0).margin(1e-11));
    }
    for (std::size_t a = 0; a < dim; ++a) {
      for (std::size_t b = 0; b < a; ++b) std::swap(h[a * dim + b], h[b * dim + a]);
    }
    const Parts turned(PairTable(table.omegas, table.n, table.m, table.columns[1] != 1), h);
    for (std::size_t i = 0; i < m.size(); ++i) {
      for (std::size_t j = 0; j < n.size(); ++j) {
        CHECK(turned.value[j * m.size() + i] == Approx(parts.value[i * n.size() + j]).epsilon(0).margin(1e-12));
        CHECK(turned.rest[j * m.size() + i] == Approx(parts.rest[i * n.size() + j]).epsilon(0).margin(1e-12));
      }
    }
  });
}

TEST_CASE("covariance and its dominance against Eigen") {
  property("covariance", [](Dice& dice) {
    const auto rows = static_cast<std::size_t>(dice.integer(2, 30)), dim = static_cast<std::size_t>(dice.integer(1, 9));
    const auto table = reals(dice, rows * dim, 5);
    std::vector<double> covariance(dim * dim), ratios(dim);
    Dominance found;
    REQUIRE(diagonal_dominance(table.data(), rows, dim, covariance.data(), ratios.data(), found).ok());
    const Matrix x = Eigen::Map<const Matrix>(table.data(), rows, dim);
    const Matrix centred = x.rowwise() - x.colwise().mean();
    const Matrix expected = centred.transpose() * centred / static_cast<double>(rows - 1);
    double dominant = 0;
    for (std::size_t a = 0; a < dim; ++a) {
      for (std::size_t b = 0; b < dim; ++b) {
        CHECK(covariance[a * dim + b] == Approx(expected(a, b)).epsilon(0).margin(1e-12));
        CHECK(covariance[a * dim + b] == covariance[b * dim + a]);
      }
      const double others = expected.row(a).cwiseAbs().sum() - std::fabs(expected(a, a));
      if (dim > 1) CHECK(ratios[a] == Approx(std::fabs(expected(a, a)) / others).epsilon(1e-10));
      if (std::fabs(expected(a, a)) > others) dominant += 1;
    }
    CHECK(found.rows == dominant);
    CHECK(found.diagonal == Approx(expected.diagonal().cwiseAbs().mean()));
    const double off = expected.cwiseAbs().sum() - expected.diagonal().cwiseAbs().sum();
    const double pairs = static_cast<double>(dim * (dim - 1));
    CHECK(found.off_diagonal == Approx(dim > 1 ? off / pairs : 0).margin(1e-13));
  });
}

TEST_CASE("diagonal dominance, worked by hand, and its limits") {
  // Columns (1, -1, 1, -1), (1, 1, -1, -1), and twice the second and a little of the first.
  const double table[] = {1, 1, 2.25, -1, 1, 1.75, 1, -1, -1.75, -1, -1, -2.25};
  double covariance[9], ratios[3];
  Dominance found;
  REQUIRE(diagonal_dominance(table, 4, 3, covariance, ratios, found).ok());
  const double third = 4.0 / 3;
  const double expected[] = {1, 0, 0.25, 0, 1, 2, 0.25, 2, 4.0625};
  for (int n = 0; n < 9; ++n) CHECK(covariance[n] == Approx(third * expected[n]).epsilon(0).margin(1e-15));
  CHECK(ratios[0] == Approx(4));
  CHECK(ratios[1] == Approx(0.5));
  CHECK(ratios[2] == Approx(4.0625 / 2.25));
  CHECK(found.rows == 2);
  CHECK(found.diagonal == Approx(third * 6.0625 / 3));
  CHECK(found.off_diagonal == Approx(third * 4.5 / 6));
  const double apart[] = {1, 0, 0, 0};  // columns (1, 0) and (0, 0)
  REQUIRE(diagonal_dominance(apart, 2, 2, covariance, ratios, found).ok());
  CHECK(ratios[0] == std::numeric_limits<double>::infinity());
  CHECK(ratios[1] == 0);
  CHECK(diagonal_dominance(apart, 1, 2, covariance, ratios, found).message() ==
        "diagonalDominance: table must be of at least two rows, got 1");
}

TEST_CASE("the ratio of norms") {
  const double embeddings[] = {3, 4, 0, 5}, table[] = {0.6, 0.8, 0, 2, 0, 0};
  double means[3];
  REQUIRE(norm_ratio(embeddings, 2, 2, table, 3, 2, means).ok());
  CHECK(means[0] == 5);
  CHECK(means[1] == Approx(1));
  CHECK(means[2] == Approx(5));
  REQUIRE(norm_ratio(embeddings, 2, 2, table + 4, 1, 2, means).ok());
  CHECK(means[2] == std::numeric_limits<double>::infinity());
  CHECK(norm_ratio(embeddings, 0, 2, table, 1, 2, means).argument == "embeddings");
  CHECK(norm_ratio(embeddings, 1, 2, table, 0, 2, means).argument == "table");
  property("rows of a sinusoidal table are sqrt(d / 2) long, and a factor of the embeddings is one of the ratio",
           [](Dice& dice) {
             const auto rows = static_cast<std::size_t>(dice.integer(1, 6));
             const PairTable pairs(reals(dice, 6), reals(dice, rows, 1000), {0});
             const auto x = reals(dice, rows * 12);
             double once[3], scaled[3];
             REQUIRE(norm_ratio(x.data(), rows, 12, pairs.queries.data(), rows, 12, once).ok());
             CHECK(once[1] == Approx(std::sqrt(6.0)).epsilon(1e-14));
             CHECK(once[2] == Approx(once[0] / once[1]).epsilon(1e-15));
             auto larger = x;
             const double factor = dice.real(0.1, 9);
             for (double& value : larger) value *= factor;
             REQUIRE(norm_ratio(larger.data(), rows, 12, pairs.queries.data(), rows, 12, scaled).ok());
             CHECK(scaled[2] == Approx(factor * once[2]).epsilon(1e-13));
           });
}

TEST_CASE("numbers that are not finite are refused by name") {
  const PairTable table({1}, {0}, {1});
  const double nan = std::numeric_limits<double>::quiet_NaN(), h[] = {1, nan};
  double out = 0, ratios[2], covariance[4], means[3];
  Dominance found;
  CHECK(bilinear(table.rows, h, true, &out, &out, &out, &out).message() ==
        "bilinear: h must be finite numbers, got NaN");
  CHECK(diagonal_dominance(h, 2, 1, covariance, ratios, found).argument == "table");
  CHECK(norm_ratio(h, 1, 2, h, 1, 1, means).argument == "embeddings");
  CHECK(norm_ratio(h, 1, 1, h, 1, 2, means).argument == "table");
}
