#include "analysis/principal.h"

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

struct Components {
  Matrix scores, components;
  Eigen::VectorXd variances, mean;
  double total = 0;
};

Components components_of(const Matrix& table, Eigen::Index count) {
  Components p{Matrix(table.rows(), count), Matrix(count, table.cols()), Eigen::VectorXd(count),
               Eigen::VectorXd(table.cols()), 0};
  REQUIRE(principal_components(table.data(), static_cast<std::size_t>(table.rows()),
                               static_cast<std::size_t>(table.cols()), static_cast<std::size_t>(count), p.scores.data(),
                               p.components.data(), p.variances.data(), p.mean.data(), &p.total)
              .ok());
  return p;
}

Matrix random_matrix(Dice& dice, std::size_t rows, std::size_t columns) {
  const std::vector<double> x = random_table(dice, rows, columns);
  return Eigen::Map<const Matrix>(x.data(), static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
}

}  // namespace

TEST_CASE("components worked by hand") {
  Matrix table(4, 2);
  table << 1, 1, 3, 3, 1, 3, 3, 1;  // a square about (2, 2), and twice as long along the diagonal once stretched
  table.row(0) << 0, 0;
  table.row(1) << 4, 4;
  const Components p = components_of(table, 2);
  CHECK(p.mean == Eigen::Vector2d(2, 2));
  CHECK(p.variances(0) == Approx(16.0 / 3).epsilon(1e-14));
  CHECK(p.variances(1) == Approx(4.0 / 3).epsilon(1e-14));
  CHECK(p.total == Approx(20.0 / 3).epsilon(1e-14));
  const double r = std::sqrt(0.5);
  CHECK((p.components.row(0) - Eigen::RowVector2d(r, r)).norm() < 1e-15);
  CHECK(std::abs(p.components(1, 0) + p.components(1, 1)) < 1e-15);
  CHECK(p.scores(0, 0) == Approx(-std::sqrt(8.0)).epsilon(1e-14));
}

TEST_CASE("components of tables without variance, and refusals") {
  const Components flat = components_of(Matrix::Constant(5, 3, 7), 3);
  CHECK(flat.total == 0);
  CHECK(flat.variances.isZero());
  CHECK(flat.scores.isZero());
  CHECK((flat.components * flat.components.transpose() - Matrix::Identity(3, 3)).cwiseAbs().maxCoeff() < 1e-14);
  double out[8];
  const double table[] = {1, 2, std::numeric_limits<double>::infinity(), 3}, wide[] = {1e200, 0, -1e200, 0};
  CHECK(principal_components(table, 1, 2, 1, out, out, out, out, out).code == Code::kShapeMismatch);
  CHECK(principal_components(table, 2, 2, 3, out, out, out, out, out).message() ==
        "pca: components must be a whole number from 1 to 2, got 3");
  CHECK(principal_components(table, 2, 2, 1, out, out, out, out, out).code == Code::kNotFinite);
  CHECK(principal_components(wide, 2, 2, 1, out, out + 2, out + 4, out + 5, out + 7).code == Code::kOutOfRange);
}

TEST_CASE("a sinusoidal table is a curve of few dimensions") {
  // Slow pairs are nearly straight lines together: a few components hold most of the variance, and all of them all of
  // it.
  const std::vector<double> table = sinusoids(256, 64);
  const Components p = components_of(Eigen::Map<const Matrix>(table.data(), 256, 64), 64);
  CHECK(p.variances.sum() == Approx(p.total).epsilon(1e-12));
  CHECK(p.variances.head(3).sum() / p.total > 0.3);
  for (Eigen::Index k = 1; k < 64; ++k) CHECK(p.variances(k) <= p.variances(k - 1));
}

TEST_CASE("principal components hold against Eigen's singular values") {
  property("variances", [](Dice& dice) {
    const Matrix table = random_matrix(dice, whole(dice, 2, 40), whole(dice, 1, 20));
    const Eigen::Index count = std::min(table.cols(), table.rows());
    const Components p = components_of(table, count);
    const Matrix centred = table.rowwise() - table.colwise().mean();
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(centred, Eigen::ComputeThinV);
    for (Eigen::Index k = 0; k < count; ++k) {
      const double value = svd.singularValues()(k), variance = value * value / static_cast<double>(table.rows() - 1);
      REQUIRE(p.variances(k) == Approx(variance).epsilon(0).margin(1e-13));
      const bool alone = (k == 0 || svd.singularValues()(k - 1) - value > 0.05) &&
                         (k + 1 >= count || value - svd.singularValues()(k + 1) > 0.05) && value > 0.05;
      if (alone) REQUIRE(std::abs(p.components.row(k).dot(svd.matrixV().col(k))) == Approx(1).epsilon(1e-11));
    }
    REQUIRE(p.total == Approx(centred.squaredNorm() / static_cast<double>(table.rows() - 1)).epsilon(1e-13));
  });
  property("fewer rows than columns", [](Dice& dice) {
    // Found from the products of rows, they are those of the covariances: of any rank, the zero of all included.
    const Eigen::Index rows = whole(dice, 2, 20), columns = rows + whole(dice, 1, 30), rank = whole(dice, 0, rows);
    const Matrix table = random_matrix(dice, rows, rank) * random_matrix(dice, rank, columns);
    const Eigen::Index count = whole(dice, 1, rows - 1);
    const Components p = components_of(table, count);
    const Matrix centred = table.rowwise() - table.colwise().mean();
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(centred, Eigen::ComputeThinV);
    const double largest = svd.singularValues()(0), n = static_cast<double>(rows - 1);
    for (Eigen::Index k = 0; k < count; ++k) {
      const double value = svd.singularValues()(k);
      REQUIRE(std::abs(p.variances(k) - value * value / n) <= 1e-14 * largest * largest);
      const double below = svd.singularValues()(k + 1), above = k == 0 ? 2 * largest : svd.singularValues()(k - 1);
      if (std::min(value - below, above - value) > 0.05 * largest && largest > 0.01) {
        REQUIRE(std::abs(p.components.row(k).dot(svd.matrixV().col(k))) == Approx(1).epsilon(1e-11));
      }
    }
    REQUIRE((p.components * p.components.transpose() - Matrix::Identity(count, count)).cwiseAbs().maxCoeff() < 1e-14);
    REQUIRE((p.scores - centred * p.components.transpose()).cwiseAbs().maxCoeff() <= 1e-13 * (1 + largest));
    REQUIRE(p.total == Approx(centred.squaredNorm() / n).epsilon(1e-13).margin(1e-300));
  });
  property("scores", [](Dice& dice) {
    // Scores are centred, uncorrelated, and of the variances stated; all components rebuild the table.
    const Matrix table = random_matrix(dice, whole(dice, 2, 40), whole(dice, 1, 16));
    const Components p = components_of(table, table.cols());
    REQUIRE(p.scores.colwise().sum().cwiseAbs().maxCoeff() < 1e-12);
    const Matrix square = p.scores.transpose() * p.scores / static_cast<double>(table.rows() - 1);
    REQUIRE((square - Matrix(p.variances.asDiagonal())).cwiseAbs().maxCoeff() < 1e-13);
    const Matrix rebuilt = (p.scores * p.components).rowwise() + p.mean.transpose();
    REQUIRE((rebuilt - table).cwiseAbs().maxCoeff() < 1e-13);
  });
  property("sign", [](Dice& dice) {
    // Turned about its middle, a table has the same components: their sign is theirs.
    const Matrix table = random_matrix(dice, whole(dice, 3, 30), whole(dice, 1, 10));
    const Components p = components_of(table, table.cols());
    for (Eigen::Index k = 0; k < table.cols(); ++k) {
      Eigen::Index peak = 0;
      const double largest = p.components.row(k).cwiseAbs().maxCoeff(&peak);
      REQUIRE(p.components(k, peak) == largest);
    }
    const Components turned = components_of(-table, table.cols());
    REQUIRE(turned.components == p.components);
    REQUIRE(turned.scores == -p.scores);
  });
  property("moved", [](Dice& dice) {
    const Matrix table = random_matrix(dice, whole(dice, 2, 30), whole(dice, 1, 10));
    const Eigen::RowVectorXd by = Eigen::RowVectorXd::Constant(table.cols(), dice.integer(-4, 4));
    const Components p = components_of(table, 1), moved = components_of(table.rowwise() + by, 1);
    REQUIRE(moved.variances(0) == Approx(p.variances(0)).epsilon(1e-12));
    REQUIRE((moved.mean - p.mean - by.transpose()).cwiseAbs().maxCoeff() < 1e-14);
  });
}
