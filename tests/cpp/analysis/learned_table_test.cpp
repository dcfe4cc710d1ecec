#include "analysis/learned_table.h"

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

Eigen::Index as_index(std::size_t n) { return static_cast<Eigen::Index>(n); }

Matrix matrix(const std::vector<double>& x, std::size_t rows, std::size_t columns) {
  return Eigen::Map<const Matrix>(x.data(), as_index(rows), as_index(columns));
}

Matrix fitted(const Matrix& target, std::size_t width, double& residual) {
  Matrix table(target.rows(), as_index(width));
  REQUIRE(fit_table(target.data(), static_cast<std::size_t>(target.rows()), width, table.data(), residual).ok());
  return table;
}

Matrix resampled(const std::vector<double>& table, std::size_t rows, std::size_t length, Corners corners) {
  const std::size_t width = table.size() / rows;
  Matrix out(as_index(length), as_index(width));
  REQUIRE(resample_table(table.data(), rows, width, length, corners, out.data()).ok());
  return out;
}

Matrix extended(const std::vector<double>& table, std::size_t rows, std::size_t length, double& misfit) {
  const std::size_t width = table.size() / rows;
  Matrix out(as_index(length), as_index(width));
  REQUIRE(extend_table(table.data(), rows, width, length, out.data(), misfit).ok());
  return out;
}

Matrix kernel_matrix(std::size_t n, const std::vector<double>& omega) {
  Matrix k(as_index(n), as_index(n));
  for (Eigen::Index i = 0; i < k.rows(); ++i) {
    for (Eigen::Index j = 0; j < k.cols(); ++j) {
      k(i, j) = 0;
      for (const double w : omega) k(i, j) += std::cos(w * static_cast<double>(i - j));
    }
  }
  return k;
}

}  // namespace

TEST_CASE("a table as wide as the sinusoids has their kernel, a narrower one less of it") {
  const Matrix target = kernel_matrix(40, omegas(8));
  double residual = 1;
  const Matrix table = fitted(target, 8, residual);
  CHECK(residual < 1e-14);
  CHECK((table * table.transpose() - target).cwiseAbs().maxCoeff() < 1e-13);
  double before = 0;
  for (const std::size_t width : {7, 4, 2, 1}) {
    double wanting = 0;
    fitted(target, width, wanting);
    CHECK(wanting > before);
    before = wanting;
  }
  const Matrix wide = fitted(target, 50, residual);
  CHECK(wide.rightCols(10).isZero());
  double nothing = 1;
  CHECK(fitted(Matrix::Zero(3, 3), 2, nothing).isZero());
  CHECK(nothing == 0);
  CHECK(fitted(-Matrix::Identity(3, 3), 2, nothing).isZero());  // no table has negative squares
  CHECK(nothing == 1);
}

TEST_CASE("rows spread over another length, by hand, in both conventions") {
  const std::vector<double> table = {0, 10, 20, 30};
  const Matrix align = resampled(table, 4, 7, Corners::kAlign);
  for (int t = 0; t < 7; ++t) CHECK(align(t, 0) == 5 * t);
  const Matrix half = resampled(table, 4, 8, Corners::kHalfPixel);
  const double expected[] = {0, 2.5, 7.5, 12.5, 17.5, 22.5, 27.5, 30};  // PyTorch's align_corners=False
  for (int t = 0; t < 8; ++t) CHECK(half(t, 0) == expected[t]);
  CHECK(resampled(table, 4, 2, Corners::kAlign)(1, 0) == 30);
  CHECK(resampled(table, 4, 2, Corners::kHalfPixel)(0, 0) == 5);
  CHECK(resampled(table, 4, 1, Corners::kAlign)(0, 0) == 0);
  CHECK(resampled(table, 4, 1, Corners::kHalfPixel)(0, 0) == 15);
  CHECK(resampled({7}, 1, 3, Corners::kAlign).isConstant(7));
}

TEST_CASE("a doubling row goes on doubling") {
  double misfit = 1;
  const Matrix out = extended({1, 2, 4}, 3, 6, misfit);
  for (int t = 0; t < 6; ++t) CHECK(out(t, 0) == Approx(std::ldexp(1.0, t)).epsilon(1e-14));
  CHECK(misfit < 1e-14);
  double out_of_range[4];
  const double bad[] = {1, std::numeric_limits<double>::quiet_NaN()}, plain[] = {1, 2};
  CHECK(extend_table(plain, 1, 1, 3, out_of_range, misfit).code == Code::kShapeMismatch);
  CHECK(extend_table(plain, 2, 1, 1, out_of_range, misfit).message() ==
        "extendTable: length must be a whole number from 2, the table's rows, got 1");
  CHECK(extend_table(bad, 2, 1, 3, out_of_range, misfit).code == Code::kNotFinite);
  CHECK(resample_table(bad, 2, 1, 3, Corners::kAlign, out_of_range).code == Code::kNotFinite);
  CHECK(resample_table(bad, 0, 1, 3, Corners::kAlign, out_of_range).code == Code::kShapeMismatch);
  CHECK(fit_table(bad, 1, 1, out_of_range, misfit).ok());
  CHECK(fit_table(bad + 1, 1, 1, out_of_range, misfit).code == Code::kNotFinite);
}

TEST_CASE("fitted tables are the best there are") {
  property("Eckart and Young", [](Dice& dice) {
    // What is missed is what the eigenvalues say: those left out, and those below zero.
    const std::size_t n = whole(dice, 1, 24), width = whole(dice, 1, 24);
    const Matrix x = matrix(random_table(dice, n, n), n, n), target = 0.5 * (x + x.transpose());
    double residual = 0;
    const Matrix table = fitted(target, width, residual);
    const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(target).eigenvalues().reverse();
    double missed = 0;
    for (Eigen::Index k = 0; k < values.size(); ++k) {
      if (k >= as_index(width) || values(k) < 0) missed += values(k) * values(k);
    }
    REQUIRE(residual == Approx(std::sqrt(missed) / target.norm()).epsilon(1e-10).margin(1e-14));
    REQUIRE((table * table.transpose() - target).norm() / target.norm() ==
            Approx(residual).epsilon(1e-12).margin(1e-14));
  });
  property("no neighbour is better", [](Dice& dice) {
    const std::size_t n = whole(dice, 2, 16), width = whole(dice, 1, static_cast<int>(n));
    const Matrix x = matrix(random_table(dice, n, n), n, n), target = x * x.transpose();
    double residual = 0;
    const Matrix table = fitted(target, width, residual);
    const Matrix other = table + 0.01 * matrix(random_table(dice, n, width), n, width);
    REQUIRE((other * other.transpose() - target).norm() >= residual * target.norm() - 1e-12 * target.norm());
  });
  property("kernels", [](Dice& dice) {
    const std::size_t n = whole(dice, 2, 30), columns = 2 * whole(dice, 1, 6);
    const std::vector<double> omega = omegas(columns, dice.real(2, 1e4));
    double residual = 1;
    const Matrix table = fitted(kernel_matrix(n, omega), columns, residual);
    REQUIRE(residual < 1e-13);
    for (Eigen::Index k = 0; k < table.cols(); ++k) {
      Eigen::Index peak = 0;
      const double largest = table.col(k).cwiseAbs().maxCoeff(&peak);
      REQUIRE(table(peak, k) == largest);
    }
  });
}

TEST_CASE("resampling keeps what it should") {
  property("same length", [](Dice& dice) {
    const std::size_t rows = whole(dice, 1, 30), width = whole(dice, 1, 5);
    const std::vector<double> table = random_table(dice, rows, width);
    for (const Corners corners : {Corners::kAlign, Corners::kHalfPixel}) {
      const Matrix same = resampled(table, rows, rows, corners);
      REQUIRE((same - matrix(table, rows, width)).cwiseAbs().maxCoeff() < 1e-13);
    }
  });
  property("straight lines", [](Dice& dice) {
    // A table linear in the position stays linear: align over the whole range, half-pixel away from the ends.
    const std::size_t rows = whole(dice, 2, 30), length = whole(dice, 2, 60);
    const double slope = dice.real(-2, 2), start = dice.real(-2, 2);
    std::vector<double> table(rows);
    for (std::size_t t = 0; t < rows; ++t) table[t] = start + slope * static_cast<double>(t);
    const Matrix align = resampled(table, rows, length, Corners::kAlign);
    const Matrix half = resampled(table, rows, length, Corners::kHalfPixel);
    const double last = static_cast<double>(rows) - 1, wanted = static_cast<double>(length);
    for (std::size_t t = 0; t < length; ++t) {
      const double at = static_cast<double>(t);
      REQUIRE(align(as_index(t), 0) == Approx(start + slope * at * last / (wanted - 1)).margin(1e-12));
      const double place = std::min(std::max((at + 0.5) * (last + 1) / wanted - 0.5, 0.0), last);
      REQUIRE(half(as_index(t), 0) == Approx(start + slope * place).margin(1e-12));
    }
  });
  property("within the table", [](Dice& dice) {
    const std::size_t rows = whole(dice, 1, 20), length = whole(dice, 1, 50);
    const std::vector<double> table = random_table(dice, rows, 1);
    const Matrix given = matrix(table, rows, 1);
    for (const Corners corners : {Corners::kAlign, Corners::kHalfPixel}) {
      const Matrix out = resampled(table, rows, length, corners);
      REQUIRE(out.maxCoeff() <= given.maxCoeff() + 1e-15);
      REQUIRE(out.minCoeff() >= given.minCoeff() - 1e-15);
      if (corners == Corners::kAlign && length > 1) {
        REQUIRE(out(0, 0) == table.front());
        REQUIRE(out(out.rows() - 1, 0) == table.back());
      }
    }
  });
}

TEST_CASE("sinusoids go on as sinusoids, tables without law do not (002: a learned table has no row beyond the last)") {
  property("sinusoids", [](Dice& dice) {
    const std::size_t columns = 2 * whole(dice, 1, 4), rows = whole(dice, 60, 120), length = rows + whole(dice, 0, 30);
    const double base = dice.real(2, 40);
    const std::vector<double> table = sinusoids(rows, columns, base), more = sinusoids(length, columns, base);
    double misfit = 1;
    const Matrix out = extended(table, rows, length, misfit);
    REQUIRE(out.topRows(as_index(rows)) == matrix(table, rows, columns));
    REQUIRE(misfit < 1e-8);
    REQUIRE((out - matrix(more, length, columns)).cwiseAbs().maxCoeff() < 1e-6);
  });
  property("least squares", [](Dice& dice) {
    // The steps of the extension are those of Eigen's least squares map.
    const std::size_t width = whole(dice, 1, 5), rows = width + whole(dice, 4, 20);
    const std::vector<double> table = random_table(dice, rows, width);
    double misfit = 0;
    const Matrix out = extended(table, rows, rows + 1, misfit);
    const Matrix x = matrix(table, rows, width), a = x.topRows(x.rows() - 1), b = x.bottomRows(x.rows() - 1);
    const Eigen::MatrixXd map = Eigen::MatrixXd(a).colPivHouseholderQr().solve(Eigen::MatrixXd(b));  // rows: b = a map
    REQUIRE((out.row(x.rows()) - x.row(x.rows() - 1) * map).cwiseAbs().maxCoeff() < 1e-9);
    REQUIRE(misfit == Approx((a * map - b).cwiseAbs().maxCoeff()).epsilon(1e-8).margin(1e-9));
    REQUIRE(misfit > 1e-3);
  });
}
