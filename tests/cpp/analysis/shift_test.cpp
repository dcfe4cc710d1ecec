#include "analysis/shift.h"

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include <Eigen/Dense>
#include <Eigen/Eigenvalues>
#include <catch2/catch.hpp>

#include "kernels/pair_rotation.h"
#include "support/property.h"
#include "support/tables.h"

using namespace posenc;
using namespace posenc_test;

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// With libm's sines: an oracle of its own beside the tables.
struct Shift {
  PairPlaces places;
  std::vector<double> sine, cosine, blocks;

  Shift(double k, const std::vector<double>& omega, bool halves, bool sine_first, std::size_t extra = 0)
      : places{2 * omega.size() + extra, omega.size(), halves, sine_first}, blocks(4 * omega.size()) {
    for (const double w : omega) {
      sine.push_back(std::sin(w * k));
      cosine.push_back(std::cos(w * k));
    }
    shift_blocks(places, sine.data(), cosine.data(), blocks.data());
  }

  Matrix matrix() const {
    Matrix m(places.width, places.width);
    shift_matrix(places, sine.data(), cosine.data(), m.data());
    return m;
  }
};

Matrix moved_by(double k, const std::vector<double>& omega, bool halves, bool sine_first, std::size_t extra = 0) {
  return Shift(k, omega, halves, sine_first, extra).matrix();
}

}  // namespace

TEST_CASE("the shift matrix of the notes") {
  // 002 and 004: a pair moved by k is [[cos, sin], [-sin, cos]] (sin, cos)^T; 001's M(k) is its transpose (erratum 3).
  const Matrix m = moved_by(1, {1, 0.01}, false, true);
  Matrix expected = Matrix::Zero(4, 4);
  expected << std::cos(1.0), std::sin(1.0), 0, 0, -std::sin(1.0), std::cos(1.0), 0, 0, 0, 0, std::cos(0.01),
      std::sin(0.01), 0, 0, -std::sin(0.01), std::cos(0.01);
  CHECK(m == expected);
  const Eigen::Vector4d p2(std::sin(2.0), std::cos(2.0), std::sin(0.02), std::cos(0.02));
  const Eigen::Vector4d p3 = m * p2;  // 004's worked PE(3)
  CHECK(p3(0) == Approx(0.1411).epsilon(0).margin(5e-5));
  CHECK(p3(1) == Approx(-0.9900).epsilon(0).margin(5e-5));
  CHECK(p3(2) == Approx(0.0300).epsilon(0).margin(5e-5));
  CHECK(p3(3) == Approx(0.9996).epsilon(0).margin(5e-5));
  CHECK((m.transpose() * p2 - p3).norm() > 1);
}

TEST_CASE("a factor of the sines and cosines leaves no trace") {
  const double sine[] = {1.5 * std::sin(2.0)}, cosine[] = {1.5 * std::cos(2.0)};
  double matrix[4];
  shift_matrix({2, 1, false, false, 1.5}, sine, cosine, matrix);
  CHECK(matrix[0] == Approx(std::cos(2.0)).epsilon(1e-15));
  CHECK(matrix[1] == Approx(-std::sin(2.0)).epsilon(1e-15));
  CHECK(matrix[2] == Approx(std::sin(2.0)).epsilon(1e-15));
}

TEST_CASE("shift_error is the largest entry of what is missed") {
  const Matrix m = moved_by(1, {1}, false, true);
  const double rows[] = {0, 1, 1, 0}, moved[] = {std::sin(1.0), std::cos(1.0), std::cos(1.0) + 0.25, -std::sin(1.0)};
  double error[2];
  REQUIRE(shift_error({2, 1, false, true}, m.data(), rows, moved, 2, error).ok());
  CHECK(error[0] == 0);
  CHECK(error[1] == 0.25);
  const double bad[] = {0, std::numeric_limits<double>::infinity()};
  CHECK(shift_error({2, 1, false, true}, m.data(), bad, moved, 1, error).code == Code::kNotFinite);
  double difference = 0, size = 0;
  const double a[] = {1, -2}, b[] = {1.5, -4};
  REQUIRE(largest_difference(a, b, 2, difference, size).ok());
  CHECK(difference == 2);
  CHECK(size == 4);
  CHECK(largest_difference(bad, b, 2, difference, size).code == Code::kNotFinite);
}

TEST_CASE("a shift is one linear map of the encoding, wherever it starts") {
  property("tables", [](Dice& dice) {
    const std::size_t columns = 2 * whole(dice, 1, 24);
    const double base = dice.real(2, 1e5), k = dice.integer(-3000, 3000), start = dice.integer(-5000, 5000);
    const std::vector<double> omega = omegas(columns, base);
    const Shift shift(k, omega, false, true);
    const std::vector<double> rows = sinusoids(5, columns, base, start), moved = sinusoids(5, columns, base, start + k);
    double error[5];
    REQUIRE(shift_error(shift.places, shift.blocks.data(), rows.data(), moved.data(), 5, error).ok());
    for (const double e : error) REQUIRE(e < 1e-12);  // libm's angle of 3000 is off by 2^-42
  });
  property("vectors that turn", [](Dice& dice) {
    const std::size_t pairs = whole(dice, 1, 12), extra = whole(dice, 0, 3), width = 2 * pairs + extra;
    const bool halves = dice.coin();
    const double k = dice.real(-20, 20);
    const std::vector<double> omega = omegas(2 * pairs), x = random_table(dice, 1, width);
    std::vector<double> cosine, sine, y(width);
    for (const double w : omega) {
      cosine.push_back(std::cos(w * k));
      sine.push_back(std::sin(w * k));
    }
    const PairRotation<double> rotation{halves ? PairLayout::kHalf : PairLayout::kInterleaved,
                                        1,
                                        width,
                                        pairs,
                                        cosine.data(),
                                        sine.data(),
                                        pairs,
                                        false};
    rotate_pairs(rotation, x.data(), width, y.data(), width);
    const Eigen::VectorXd found = moved_by(k, omega, halves, false, extra) *
                                  Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(width));
    for (std::size_t c = 0; c < width; ++c) {
      REQUIRE(found(static_cast<Eigen::Index>(c)) == Approx(y[c]).epsilon(0).margin(1e-15));
    }
  });
}

TEST_CASE("shift matrices are rotations") {
  property("determinant", [](Dice& dice) {
    const std::vector<double> omega = omegas(2 * whole(dice, 1, 16), dice.real(2, 1e5));
    const Matrix m = moved_by(dice.real(-1e4, 1e4), omega, dice.coin(), dice.coin(), whole(dice, 0, 2));
    REQUIRE(m.determinant() == Approx(1).epsilon(1e-13));
    REQUIRE((m * m.transpose() - Matrix::Identity(m.rows(), m.cols())).cwiseAbs().maxCoeff() < 1e-15);
  });
  property("eigenvalues", [](Dice& dice) {
    // 001 5.2: they lie on the unit circle; they are e^(+-i omega k).
    const std::vector<double> omega = omegas(2 * whole(dice, 1, 10), dice.real(2, 1e5));
    const double k = dice.real(-500, 500);
    const Matrix m = moved_by(k, omega, dice.coin(), dice.coin());
    const Eigen::EigenSolver<Eigen::MatrixXd> solver(m, false);
    std::vector<std::complex<double>> left(solver.eigenvalues().begin(), solver.eigenvalues().end());
    for (const auto& value : left) REQUIRE(std::abs(value) == Approx(1).epsilon(1e-13));
    for (const double w : omega) {
      for (const double sign : {1.0, -1.0}) {
        const std::complex<double> expected = std::polar(1.0, sign * w * k);
        const auto nearest = std::min_element(left.begin(), left.end(), [&](const auto& a, const auto& b) {
          return std::abs(a - expected) < std::abs(b - expected);
        });
        REQUIRE(std::abs(*nearest - expected) < 1e-7);  // double eigenvalues are found to the root of a rounding
        left.erase(nearest);
      }
    }
  });
  property("group", [](Dice& dice) {
    const std::vector<double> omega = omegas(2 * whole(dice, 1, 16), dice.real(2, 1e5));
    const bool halves = dice.coin(), sine_first = dice.coin();
    const double k = dice.real(-100, 100), l = dice.real(-100, 100);
    const Matrix a = moved_by(k, omega, halves, sine_first), b = moved_by(l, omega, halves, sine_first);
    REQUIRE((a * b - moved_by(k + l, omega, halves, sine_first)).cwiseAbs().maxCoeff() < 1e-13);
    REQUIRE(moved_by(-k, omega, halves, sine_first) == Matrix(a.transpose()));
    REQUIRE(moved_by(0, omega, halves, sine_first) == Matrix::Identity(a.rows(), a.cols()));
  });
}

TEST_CASE("blocks are all that a shift matrix holds, and miss as much as the whole of it") {
  property("blocks", [](Dice& dice) {
    const std::size_t pairs = whole(dice, 1, 12), extra = whole(dice, 0, 3);
    const bool halves = dice.coin();
    const Shift shift(dice.coin() ? 0 : dice.real(-500, 500), omegas(2 * pairs), halves, dice.coin(), extra);
    const Matrix m = shift.matrix();
    const auto n = m.rows();
    Matrix rest = m - Matrix::Identity(n, n);
    for (std::size_t i = 0; i < pairs; ++i) {
      const auto a = static_cast<Eigen::Index>(halves ? i : 2 * i);
      const auto b = static_cast<Eigen::Index>(halves ? i + pairs : 2 * i + 1);
      const double* block = shift.blocks.data() + 4 * i;
      REQUIRE(m(a, a) == block[0]);
      REQUIRE(m(a, b) == block[1]);
      REQUIRE(m(b, a) == block[2]);
      REQUIRE(m(b, b) == block[3]);
      rest(a, a) = rest(a, b) = rest(b, a) = rest(b, b) = 0;
    }
    REQUIRE(rest.isZero(0));
    const std::vector<double> rows = random_table(dice, 3, shift.places.width);
    const std::vector<double> moved = random_table(dice, 3, shift.places.width);
    double error[3];
    REQUIRE(shift_error(shift.places, shift.blocks.data(), rows.data(), moved.data(), 3, error).ok());
    for (std::size_t t = 0; t < 3; ++t) {
      double most = 0;
      for (Eigen::Index c = 0; c < n; ++c) {
        double sum = 0;
        for (Eigen::Index e = 0; e < n; ++e) {
          sum += m(c, e) * rows[t * shift.places.width + static_cast<std::size_t>(e)];
        }
        most = std::max(most, std::fabs(sum - moved[t * shift.places.width + static_cast<std::size_t>(c)]));
      }
      REQUIRE(error[t] == most);
    }
  });
}

TEST_CASE("turn_rows moves each row by its own rest") {
  for (const bool halves : {false, true}) {
    for (const bool sine_first : {false, true}) {
      const PairPlaces places{5, 2, halves, sine_first, 1.5};
      const double angle[] = {0.25, -2.5, 1e-3, 40};  // two rows of two pairs
      double sine[4], cosine[4], rows[10], expected[10];
      for (std::size_t n = 0; n < 4; ++n) sine[n] = 1.5 * std::sin(angle[n]), cosine[n] = 1.5 * std::cos(angle[n]);
      for (std::size_t t = 0; t < 2; ++t) {
        for (std::size_t i = 0; i < 2; ++i) {
          const std::size_t a = t * 5 + (halves ? i : 2 * i), b = t * 5 + (halves ? i + 2 : 2 * i + 1);
          const std::complex<double> z = std::polar(2.0, 0.7 + static_cast<double>(t + i));
          const std::complex<double> w = z * std::polar(1.0, angle[2 * t + i]);
          const std::size_t x = sine_first ? b : a, y = sine_first ? a : b;
          rows[x] = z.real(), rows[y] = z.imag(), expected[x] = w.real(), expected[y] = w.imag();
        }
        rows[t * 5 + 4] = expected[t * 5 + 4] = 9;
      }
      turn_rows(places, sine, cosine, 2, rows);
      for (std::size_t n = 0; n < 10; ++n) CHECK(rows[n] == Approx(expected[n]).epsilon(0).margin(1e-14));
    }
  }
}
