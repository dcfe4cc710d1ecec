#include "analysis/symmetric_eigen.h"

#include <cmath>
#include <vector>

#include <Eigen/Dense>
#include <catch2/catch.hpp>

#include "support/property.h"
#include "support/tables.h"

using namespace posenc;
using namespace posenc_test;

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Solved {
  Eigen::VectorXd values;
  Matrix vectors;  // a row each
};

Solved solve(const Matrix& a, Eigen::Index count) {
  Solved s{Eigen::VectorXd(count), Matrix(count, a.rows())};
  std::vector<double> copy(a.data(), a.data() + a.size());
  symmetric_eigen(copy.data(), static_cast<std::size_t>(a.rows()), static_cast<std::size_t>(count), s.values.data(),
                  s.vectors.data());
  return s;
}

Matrix symmetric(Dice& dice, std::size_t n) {
  const std::vector<double> x = random_table(dice, n, n);
  const Matrix a = Eigen::Map<const Matrix>(x.data(), static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n));
  return a + a.transpose();
}

// Of orthonormal rows that span the eigenspaces of a: how far they are from that.
double fault(const Matrix& a, const Solved& s) {
  const Eigen::Index count = s.values.size();
  const double skew = (s.vectors * s.vectors.transpose() - Matrix::Identity(count, count)).cwiseAbs().maxCoeff();
  const Matrix missed = a * s.vectors.transpose() - s.vectors.transpose() * s.values.asDiagonal();
  const double size = a.cwiseAbs().maxCoeff();
  return std::max(skew, missed.cwiseAbs().maxCoeff() / (size > 0 ? size : 1));
}

}  // namespace

TEST_CASE("eigenvalues of small matrices by hand") {
  const Matrix a = Matrix::Identity(2, 2) + Matrix::Ones(2, 2);
  const Solved s = solve(a, 2);
  CHECK(s.values(0) == Approx(3).epsilon(1e-15));
  CHECK(s.values(1) == Approx(1).epsilon(1e-15));
  CHECK(std::abs(s.vectors(0, 0) - s.vectors(0, 1)) < 1e-15);
  const Matrix one = Matrix::Constant(1, 1, -7);
  CHECK(solve(one, 1).values(0) == Approx(-7).epsilon(1e-15));
  CHECK(std::abs(solve(one, 1).vectors(0, 0)) == 1);
  CHECK(solve(Matrix::Zero(5, 5), 5).values.isZero());
  CHECK(fault(Matrix::Zero(5, 5), solve(Matrix::Zero(5, 5), 5)) < 1e-14);
  // 2 - 2 cos(k pi / (n + 1)): the second difference.
  const Eigen::Index n = 60;
  Matrix difference = 2 * Matrix::Identity(n, n);
  for (Eigen::Index i = 0; i + 1 < n; ++i) difference(i, i + 1) = difference(i + 1, i) = -1;
  const Solved d = solve(difference, n);
  for (Eigen::Index k = 0; k < n; ++k) {
    const double expected = 2 - 2 * std::cos(static_cast<double>(n - k) * std::acos(-1.0) / static_cast<double>(n + 1));
    CHECK(d.values(k) == Approx(expected).epsilon(0).margin(1e-14));
  }
  CHECK(fault(difference, d) < 1e-13);
}

TEST_CASE("eigenvalues and vectors hold against Eigen's") {
  property("values", [](Dice& dice) {
    const std::size_t n = whole(dice, 1, 40);
    const Matrix a = symmetric(dice, n);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> oracle(a);
    const Eigen::Index count = static_cast<Eigen::Index>(whole(dice, 1, static_cast<int>(n)));
    const Solved s = solve(a, count);
    for (Eigen::Index k = 0; k < count; ++k) {
      REQUIRE(s.values(k) == Approx(oracle.eigenvalues()(a.rows() - 1 - k)).epsilon(0).margin(1e-13 * a.norm()));
    }
    REQUIRE(fault(a, s) < 1e-13);
  });
  property("clusters", [](Dice& dice) {
    // A few values many times over: any basis of an eigenspace serves, so what counts is its projector.
    const std::size_t n = whole(dice, 2, 30);
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(symmetric(dice, n));
    const Eigen::MatrixXd q = qr.householderQ();
    Eigen::VectorXd values(q.rows());
    for (double& value : values) value = dice.integer(-1, 2);
    const Matrix b = q * values.asDiagonal() * q.transpose(), a = 0.5 * (b + b.transpose());
    CAPTURE(values.transpose(), 1e15 * fault(a, solve(a, a.rows())));
    const Solved s = solve(a, a.rows());
    REQUIRE(fault(a, s) < 1e-13);
    for (const double value : {-1.0, 0.0, 1.0, 2.0}) {
      Eigen::MatrixXd found = Eigen::MatrixXd::Zero(a.rows(), a.rows()), expected = found;
      for (Eigen::Index k = 0; k < a.rows(); ++k) {
        if (std::abs(s.values(k) - value) < 1e-10) found += s.vectors.row(k).transpose() * s.vectors.row(k);
        if (values(k) == value) expected += q.col(k) * q.col(k).transpose();
      }
      REQUIRE((found - expected).cwiseAbs().maxCoeff() < 1e-12);
    }
  });
  property("low rank", [](Dice& dice) {
    const std::size_t n = whole(dice, 2, 40), rank = whole(dice, 1, static_cast<int>(n));
    const std::vector<double> x = random_table(dice, n, rank);
    const auto map = Eigen::Map<const Matrix>(x.data(), static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(rank));
    const Matrix a = map * map.transpose();
    const Solved s = solve(a, a.rows());
    REQUIRE(fault(a, s) < 1e-13);
    for (Eigen::Index k = static_cast<Eigen::Index>(rank); k < a.rows(); ++k) {
      REQUIRE(std::abs(s.values(k)) < 1e-13 * a.norm());
    }
  });
  property("ranges", [](Dice& dice) {
    // Entries of very different sizes, squares of which leave the range of a double.
    const std::size_t n = whole(dice, 1, 10);
    Matrix a = symmetric(dice, n);
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
      for (Eigen::Index j = 0; j <= i; ++j) {
        a(i, j) = a(j, i) = dice.coin() ? a(i, j) * std::ldexp(1.0, static_cast<int>(dice.integer(-1000, 0))) : 0.0;
      }
    }
    REQUIRE(fault(a, solve(a, a.rows())) < 1e-13);
  });
  property("scale", [](Dice& dice) {
    const std::size_t n = whole(dice, 1, 12);
    const Matrix a = symmetric(dice, n);
    const double scale = std::ldexp(1.0, static_cast<int>(dice.integer(-400, 400)));
    const Solved s = solve(a, a.rows()), t = solve(a * scale, a.rows());
    REQUIRE(t.values == s.values * scale);  // to the bit
    REQUIRE(t.vectors == s.vectors);
  });
}
