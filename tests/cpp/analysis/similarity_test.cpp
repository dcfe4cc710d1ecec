#include "analysis/similarity.h"

#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/Dense>
#include <catch2/catch.hpp>

#include "support/property.h"
#include "support/tables.h"

using namespace posenc;
using namespace posenc_test;

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix mapped(const std::vector<double>& table, std::size_t rows, std::size_t columns) {
  return Eigen::Map<const Matrix>(table.data(), static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
}

std::vector<double> similar(const std::vector<double>& table, std::size_t rows, std::size_t columns, Metric metric) {
  std::vector<double> out(rows * rows);
  REQUIRE(similarity(table.data(), rows, columns, metric, out.data()).ok());
  return out;
}

std::vector<float> similar(const std::vector<float>& table, std::size_t rows, std::size_t columns, Metric metric) {
  std::vector<float> out(rows * rows);
  REQUIRE(similarity(table.data(), rows, columns, metric, out.data()).ok());
  return out;
}

std::vector<float> narrow(const std::vector<double>& table) { return {table.begin(), table.end()}; }

}  // namespace

TEST_CASE("similarities of rows worked by hand") {
  const std::vector<double> table = {3, 4, -3, -4, 0, 0, 4, -3};
  CHECK(similar(table, 4, 2, Metric::kDot) ==
        std::vector<double>{25, -25, 0, 0, -25, 25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 25});
  CHECK(similar(table, 4, 2, Metric::kCosine) == std::vector<double>{1, -1, 0, 0, -1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  const double r = std::sqrt(50.0);
  CHECK(similar(table, 4, 2, Metric::kEuclidean) ==
        std::vector<double>{0, 10, 5, r, 10, 0, 5, r, 5, 5, 0, 5, r, r, 5, 0});
  CHECK(similar(narrow(table), 4, 2, Metric::kCosine) ==
        std::vector<float>{1, -1, 0, 0, -1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  CHECK(similar(narrow(table), 4, 2, Metric::kEuclidean)[1] == 10.0f);
  CHECK(similar(std::vector<double>{}, 0, 3, Metric::kCosine).empty());
}

TEST_CASE("the products of a sinusoidal table depend on the offset alone, and are sums of cosines") {
  // 001 2.3, 002: P_pos . P_pos+k = sum cos(omega k); for k = 0 the d / 2 of erratum 10.
  const std::vector<double> dot = similar(sinusoids(200, 32), 200, 32, Metric::kDot);
  const std::vector<double> omega = omegas(32);
  for (std::size_t i = 0; i < 200; i += 7) {
    for (std::size_t j = 0; j < 200; ++j) {
      double expected = 0;
      for (const double w : omega) expected += std::cos(w * (static_cast<double>(j) - static_cast<double>(i)));
      REQUIRE(dot[i * 200 + j] == Approx(expected).epsilon(0).margin(1e-13));
    }
    CHECK(std::sqrt(dot[i * 200 + i]) == Approx(4).epsilon(1e-15));  // sqrt(d / 2), not small beside anything
  }
}

TEST_CASE("similarities refuse what is not finite, and products past the range") {
  std::vector<double> out(4);
  const double nan[] = {1, std::numeric_limits<double>::quiet_NaN()};
  CHECK(similarity(nan, 2, 1, Metric::kDot, out.data()).message() ==
        "similarity: table must be finite numbers, got NaN");
  const double large[] = {1e200, 1};
  CHECK(similarity(large, 2, 1, Metric::kDot, out.data()).code == Code::kOutOfRange);
  const float wide[] = {1e30f, 1};
  std::vector<float> narrow_out(4);
  CHECK(similarity(wide, 2, 1, Metric::kDot, narrow_out.data()).code == Code::kOutOfRange);
  CHECK(similarity(wide, 2, 1, Metric::kCosine, narrow_out.data()).ok());
}

TEST_CASE("products, cosines and distances are those of Eigen") {
  property("dot", [](Dice& dice) {
    const std::size_t rows = whole(dice, 1, 40), columns = whole(dice, 1, 300);
    const std::vector<double> table = random_table(dice, rows, columns);
    const Matrix x = mapped(table, rows, columns), expected = x * x.transpose();
    const Matrix found = mapped(similar(table, rows, columns, Metric::kDot), rows, rows);
    // The sum of n rounded products is within n roundings of the sum of their magnitudes.
    const Matrix size = x.cwiseAbs() * x.cwiseAbs().transpose();
    const double roundings = static_cast<double>(columns + 4) * 0x1p-52;
    REQUIRE(((found - expected).cwiseAbs() - roundings * size).maxCoeff() < 0);
  });
  property("cosine", [](Dice& dice) {
    const std::size_t rows = whole(dice, 1, 30), columns = whole(dice, 1, 60);
    const std::vector<double> table = random_table(dice, rows, columns);
    Matrix x = mapped(table, rows, columns);
    x.rowwise().normalize();
    const Matrix found = mapped(similar(table, rows, columns, Metric::kCosine), rows, rows);
    REQUIRE((found - x * x.transpose()).cwiseAbs().maxCoeff() < static_cast<double>(columns + 4) * 0x1p-52);
    REQUIRE(found.diagonal() == Eigen::VectorXd::Ones(static_cast<Eigen::Index>(rows)));
    REQUIRE(found.cwiseAbs().maxCoeff() <= 1);
  });
  property("euclidean", [](Dice& dice) {
    const std::size_t rows = whole(dice, 1, 30), columns = whole(dice, 1, 60);
    const std::vector<double> table = random_table(dice, rows, columns, -3, 5);
    const Matrix x = mapped(table, rows, columns);
    const std::vector<double> found = similar(table, rows, columns, Metric::kEuclidean);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < rows; ++j) {
        const double expected = (x.row(static_cast<Eigen::Index>(i)) - x.row(static_cast<Eigen::Index>(j))).norm();
        REQUIRE(found[i * rows + j] == Approx(expected).epsilon(1e-14));
      }
    }
  });
}

TEST_CASE("similarities are symmetric to the bit, and of two rows alone") {
  property("symmetric", [](Dice& dice) {
    const std::size_t rows = whole(dice, 1, 24), columns = whole(dice, 1, 40);
    const std::vector<double> table = random_table(dice, rows, columns);
    for (const Metric metric : {Metric::kDot, Metric::kCosine, Metric::kEuclidean}) {
      const std::vector<double> wide = similar(table, rows, columns, metric);
      const std::vector<float> thin = similar(narrow(table), rows, columns, metric);
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          REQUIRE(wide[i * rows + j] == wide[j * rows + i]);
          REQUIRE(thin[i * rows + j] == thin[j * rows + i]);
        }
      }
    }
  });
  property("rows alone", [](Dice& dice) {
    const std::size_t rows = whole(dice, 3, 24), columns = whole(dice, 1, 300);
    const std::vector<double> table = random_table(dice, rows, columns);
    const std::size_t i = whole(dice, 0, static_cast<int>(rows) - 1), j = whole(dice, 0, static_cast<int>(rows) - 1);
    std::vector<double> two(table.begin() + static_cast<std::ptrdiff_t>(i * columns),
                            table.begin() + static_cast<std::ptrdiff_t>((i + 1) * columns));
    two.insert(two.end(), table.begin() + static_cast<std::ptrdiff_t>(j * columns),
               table.begin() + static_cast<std::ptrdiff_t>((j + 1) * columns));
    REQUIRE(similar(table, rows, columns, Metric::kDot)[i * rows + j] == similar(two, 2, columns, Metric::kDot)[1]);
  });
}

TEST_CASE("float32 similarities are near those in float64") {
  property("float32", [](Dice& dice) {
    const std::size_t rows = whole(dice, 1, 30), columns = whole(dice, 1, 200);
    const std::vector<float> table = narrow(random_table(dice, rows, columns));
    const std::vector<double> exact(table.begin(), table.end());
    const double bound = static_cast<double>(columns + 8) * 0x1p-24;
    const double longest = static_cast<double>(columns);  // a bound of |x| |y|, which a cosine has divided away
    for (const Metric metric : {Metric::kDot, Metric::kCosine}) {
      const std::vector<float> found = similar(table, rows, columns, metric);
      const std::vector<double> expected = similar(exact, rows, columns, metric);
      const double size = metric == Metric::kDot ? longest : 1;
      for (std::size_t n = 0; n < found.size(); ++n) REQUIRE(std::abs(found[n] - expected[n]) < bound * size);
    }
    const std::vector<float> apart = similar(table, rows, columns, Metric::kEuclidean);
    const std::vector<double> expected = similar(exact, rows, columns, Metric::kEuclidean);
    for (std::size_t n = 0; n < apart.size(); ++n) {
      REQUIRE(std::abs(apart[n] * apart[n] - expected[n] * expected[n]) < 4 * bound * longest);
    }
  });
}

TEST_CASE("row_products are those of Eigen") {
  property("products", [](Dice& dice) {
    const std::size_t rows = whole(dice, 1, 12), others = whole(dice, 1, 12), columns = whole(dice, 1, 20);
    const std::vector<double> left = random_table(dice, rows, columns), right = random_table(dice, others, columns);
    std::vector<double> out(rows * others);
    row_products(left.data(), rows, right.data(), others, columns, out.data());
    const Matrix expected = mapped(left, rows, columns) * mapped(right, others, columns).transpose();
    REQUIRE((mapped(out, rows, others) - expected).cwiseAbs().maxCoeff() < 1e-14);
  });
}

TEST_CASE("float64 cosines and distances hold wherever rows lie in float64's range") {
  // Powers of two change neither cosines nor, but for themselves, distances: the same rows near 1 are the oracle.
  property("scaled", [](Dice& dice) {
    const std::size_t rows = whole(dice, 2, 9), columns = whole(dice, 1, 9);
    const int up = static_cast<int>(dice.integer(-900, 900));
    std::vector<double> table(rows * columns), scaled(rows * columns), apart(rows * columns);
    std::vector<double> expected(rows * rows), found(rows * rows);
    for (double& x : table) x = dice.real(-1, 1);
    for (std::size_t i = 0; i < rows; ++i) {
      const int own = static_cast<int>(dice.integer(-900, 900));
      for (std::size_t c = 0; c < columns; ++c) {
        scaled[i * columns + c] = std::ldexp(table[i * columns + c], up);
        apart[i * columns + c] = std::ldexp(table[i * columns + c], own);
      }
    }
    for (const Metric metric : {Metric::kCosine, Metric::kEuclidean}) {
      REQUIRE(similarity(table.data(), rows, columns, metric, expected.data()).ok());
      REQUIRE(similarity(scaled.data(), rows, columns, metric, found.data()).ok());
      for (std::size_t n = 0; n < rows * rows; ++n) {
        const double wanted = metric == Metric::kCosine ? expected[n] : std::ldexp(expected[n], up);
        REQUIRE(std::abs(found[n] - wanted) <= 0x1p-48 * std::abs(wanted));
      }
    }
    REQUIRE(similarity(table.data(), rows, columns, Metric::kCosine, expected.data()).ok());
    REQUIRE(similarity(apart.data(), rows, columns, Metric::kCosine, found.data()).ok());
    for (std::size_t n = 0; n < rows * rows; ++n) REQUIRE(std::abs(found[n] - expected[n]) <= 0x1p-48);
    // Distances of rows of unlike sizes, by hypot.
    REQUIRE(similarity(apart.data(), rows, columns, Metric::kEuclidean, found.data()).ok());
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < rows; ++j) {
        double length = 0;
        for (std::size_t c = 0; c < columns; ++c) {
          length = std::hypot(length, apart[i * columns + c] - apart[j * columns + c]);
        }
        REQUIRE(std::abs(found[i * rows + j] - length) <= 0x1p-48 * length);
      }
    }
  });
  double out[4];
  const double tiny[] = {1e-160, 2e-160, 3e-160, 1e-160}, least[] = {5e-324, 0, 5e-324, 5e-324};
  REQUIRE(similarity(tiny, 2, 2, Metric::kCosine, out).ok());
  CHECK(out[1] == Approx(0.70710678118654752).epsilon(1e-15));
  REQUIRE(similarity(least, 2, 2, Metric::kCosine, out).ok());
  CHECK(out[1] == Approx(0.70710678118654752).epsilon(1e-15));
  REQUIRE(similarity(least, 2, 2, Metric::kEuclidean, out).ok());
  CHECK(out[1] == 5e-324);
}
