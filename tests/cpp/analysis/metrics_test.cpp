#include "analysis/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

using namespace posenc;

TEST_CASE("entropy of one row, in nats, bits and any base (golden att-008)") {
  const float row[] = {0.5f, 0.25f, 0.125f, 0.125f};
  double h = 0;
  REQUIRE(entropy(row, 1, 4, kEuler, &h).ok());
  CHECK(h == Approx(1.213007566).epsilon(0).margin(1e-9));
  REQUIRE(entropy(row, 1, 4, 2, &h).ok());
  CHECK(h == Approx(1.75).epsilon(0).margin(1e-15));
  REQUIRE(entropy(row, 1, 4, 10, &h).ok());
  CHECK(h == Approx(1.75 * std::log10(2.0)).epsilon(1e-15));
  REQUIRE(entropy(row, 1, 4, 0.5, &h).ok());
  CHECK(h == Approx(-1.75).epsilon(0).margin(1e-15));
}

TEST_CASE("entropy: certain, empty and uniform rows") {
  const float rows[] = {0, 1, 0, 0, 0, 0, 0, 0, 0.25f, 0.25f, 0.25f, 0.25f};
  double h[3];
  REQUIRE(entropy(rows, 3, 4, kEuler, h).ok());
  CHECK(h[0] == 0);
  CHECK_FALSE(std::signbit(h[0]));
  CHECK(h[1] == 0);  // att-002: a row without a visible key
  CHECK_FALSE(std::signbit(h[1]));
  CHECK(h[2] == Approx(1.386294361).epsilon(0).margin(1e-9));
  REQUIRE(entropy(nullptr, 0, 4, 2, h).ok());
}

TEST_CASE("entropy agrees with libm over weights of every size") {
  std::vector<float> row;
  double expected = 0;
  for (int n = 0; n < 3000; ++n) {
    row.push_back(std::ldexp(1.0f + 0.37f * static_cast<float>(n % 7) / 7, -n % 149));
    expected -= static_cast<double>(row.back()) * std::log(static_cast<double>(row.back()));
  }
  double h = 0;
  REQUIRE(entropy(row.data(), 1, row.size(), kEuler, &h).ok());
  CHECK(h == Approx(expected).epsilon(1e-13));
}

TEST_CASE("entropy refuses bad bases and bad weights with what was given") {
  const float row[] = {0.5f, -0.5f};
  const float nan[] = {0.5f, std::numeric_limits<float>::quiet_NaN()};
  double h = 0;
  CHECK(entropy(row, 1, 1, 1, &h).code == Code::kOutOfRange);
  CHECK(entropy(row, 1, 1, 0, &h).message() == "entropy: base must be a number above 0 other than 1, got 0");
  CHECK(entropy(row, 1, 1, -2, &h).code == Code::kOutOfRange);
  CHECK(entropy(row, 1, 1, std::numeric_limits<double>::infinity(), &h).code == Code::kNotFinite);
  CHECK(entropy(row, 1, 1, std::numeric_limits<double>::quiet_NaN(), &h).code == Code::kNotANumber);
  CHECK(entropy(row, 1, 2, 2, &h).message() == "entropy: weights must be finite numbers of at least 0, got -0.5");
  CHECK(entropy(nan, 1, 2, 2, &h).code == Code::kNotFinite);
}

TEST_CASE("mean distance of a row (golden att-008) and of explicit positions") {
  const float row[] = {0.5f, 0.25f, 0.125f, 0.125f};
  const double keys[] = {0, 1, 2, 3}, query[] = {3};
  double d = 0;
  REQUIRE(attention_distance(row, 1, 1, 4, query, keys, &d).ok());
  CHECK(d == 2.125);

  // Two batches of two queries on fractional, negative, far positions.
  const float weights[] = {1, 0, 0, 1, 0.5f, 0.5f, 0, 0};
  const double q[] = {-2.5, 1099511627776.0}, k[] = {-2, 1099511627777.0};
  double out[4];
  REQUIRE(attention_distance(weights, 2, 2, 2, q, k, out).ok());
  CHECK(out[0] == 0.5);
  CHECK(out[1] == 1);
  CHECK(out[2] == 0.5 * 0.5 + 0.5 * (1099511627777.0 + 2.5));
  CHECK(out[3] == 0);
  const float negative[] = {-1};
  CHECK(attention_distance(negative, 1, 1, 1, q, k, out).code == Code::kOutOfRange);
}

TEST_CASE("layout_check measures lengths, scores and values against the expected rows (golden rope-018)") {
  // Worked by hand: rows of a table cat(f, f) met by the interleaved rotation of [1, 2, 3, 4] at position 1.
  const double expected[] = {1, 2, 3, 4, 0, 3, 4, 0, 0, 0, 0, 0};
  const double found[] = {-1.142639664, 2.009899834, -1.744977022, 4.029799502, 3, 0, 0, 4, 0, 0, 0, 0.5};
  double norms[6];
  double errors[3];
  REQUIRE(layout_check(found, expected, 1, 3, 4, norms, errors).ok());
  CHECK(norms[0] == Approx(5.477225575).epsilon(0).margin(1e-9));
  CHECK(norms[3] == Approx(4.962816899).epsilon(0).margin(1e-8));
  CHECK(norms[1] == 5);
  CHECK(norms[4] == 5);
  CHECK(errors[0] == 0.5);  // the last row ought to be zero: its error is absolute
  const double score = 3 * -1.142639664 + 4 * 4.029799502 - 18;  // <f1, f0> - <e1, e0>, the largest
  const double other = 0.5 * 4.029799502;                        // <f2, f0> - 0, absolute again
  CHECK(errors[1] == Approx(std::max(std::abs(score) / (5 * std::sqrt(30.0)), other)).epsilon(1e-14));
  CHECK(errors[2] == Approx((3 + 1.744977022) / std::sqrt(30.0)).epsilon(1e-14));

  REQUIRE(layout_check(expected, expected, 3, 1, 4, norms, errors).ok());
  CHECK(errors[0] + errors[1] + errors[2] == 0);
  // Rows of different batch entries never meet.
  const double apart[] = {1, 0, 1, 0};
  const double turned[] = {0, 1, 1, 0};
  REQUIRE(layout_check(turned, apart, 2, 1, 2, norms, errors).ok());
  CHECK(errors[0] == 0);
  CHECK(errors[1] == 0);
  CHECK(errors[2] == 1);
  REQUIRE(layout_check(turned, apart, 1, 2, 2, norms, errors).ok());
  CHECK(errors[1] == 1);
  REQUIRE(layout_check(nullptr, nullptr, 0, 3, 4, norms, errors).ok());

  const double bad[] = {1, std::numeric_limits<double>::infinity()};
  CHECK(layout_check(bad, apart, 1, 1, 2, norms, errors).message() ==
        "layoutCheck: rotated must be finite numbers, got Infinity");
}
