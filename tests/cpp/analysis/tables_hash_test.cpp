// Golden bits of the analyses of tables and of matrices of pairs.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "analysis/closest_pair.h"
#include "analysis/learned_table.h"
#include "analysis/pairwise.h"
#include "analysis/permutation.h"
#include "analysis/principal.h"
#include "analysis/shift.h"
#include "analysis/similarity.h"
#include "analysis/spectrum.h"
#include "analysis/tsne.h"
#include "kernels/normal.h"
#include "support/hashes.h"
#include "support/tables.h"

using namespace posenc;
using namespace posenc_test;

namespace {

std::vector<double> normal(std::size_t count, std::uint64_t seed) {
  std::vector<double> x(count);
  fill_normal(std::span<double>(x), seed);
  return x;
}

}  // namespace

TEST_CASE("similarities have the same bits in every build") {
  const std::vector<double> table = normal(37 * 150, 1);
  const std::vector<float> narrow(table.begin(), table.end());
  std::vector<double> wide(37 * 37), all;
  std::vector<float> thin(37 * 37), all_thin;
  for (const Metric metric : {Metric::kDot, Metric::kCosine, Metric::kEuclidean}) {
    REQUIRE(similarity(table.data(), 37, 150, metric, wide.data()).ok());
    all.insert(all.end(), wide.begin(), wide.end());
    REQUIRE(similarity(narrow.data(), 37, 150, metric, thin.data()).ok());
    all_thin.insert(all_thin.end(), thin.begin(), thin.end());
  }
  posenc::testing::check_hash("analysis/similarity/float64", all.data(), all.size());
  posenc::testing::check_hash("analysis/similarity/float32", all_thin.data(), all_thin.size());
}

TEST_CASE("spectra, radices and shifts have the same bits in every build") {
  const std::vector<double> omega = omegas(64);
  std::vector<double> wavelength(32), turns(32), all;
  std::vector<std::uint8_t> never(32);
  REQUIRE(spectrum(omega.data(), 32, 2048, wavelength.data(), turns.data(), never.data()).ok());
  all.insert(all.end(), wavelength.begin(), wavelength.end());
  all.insert(all.end(), turns.begin(), turns.end());
  all.insert(all.end(), never.begin(), never.end());
  posenc::testing::check_hash("analysis/spectrum", all.data(), all.size());

  all.clear();
  for (const double position : {0.0, 1.0, 710.0, 98765.4321, 9007199254740991.0}) {
    double rest = 0;
    REQUIRE(radix(omega.data(), 32, position, wavelength.data(), turns.data(), &rest).ok());
    all.insert(all.end(), wavelength.begin(), wavelength.end());
    all.insert(all.end(), turns.begin(), turns.end());
    all.push_back(rest);
  }
  posenc::testing::check_hash("analysis/radix", all.data(), all.size());

  const std::vector<double> at = sinusoids(1, 64, 10000, 1000);
  std::vector<double> sine, cosine, matrix(64 * 64), rows = sinusoids(20, 64), moved = sinusoids(20, 64, 10000, 1000);
  for (std::size_t i = 0; i < 32; ++i) {
    sine.push_back(at[2 * i]);
    cosine.push_back(at[2 * i + 1]);
  }
  shift_matrix({64, 32, false, true}, sine.data(), cosine.data(), matrix.data());
  std::vector<double> error(20);
  double blocks[32 * 4];
  shift_blocks({64, 32, false, true}, sine.data(), cosine.data(), blocks);
  REQUIRE(shift_error({64, 32}, blocks, rows.data(), moved.data(), 20, error.data()).ok());
  matrix.insert(matrix.end(), error.begin(), error.end());
  posenc::testing::check_hash("analysis/shift", matrix.data(), matrix.size());
}

TEST_CASE("closest pairs and collisions have the same bits in every build") {
  std::vector<double> all;
  const std::vector<double> scattered = normal(500 * 7, 2), smooth = sinusoids(3000, 8);
  Pair pair;
  std::vector<Pair> pairs;
  double total = 0;
  REQUIRE(closest_pair(scattered.data(), 500, 7, pair).ok());
  REQUIRE(near_pairs(scattered.data(), 500, 7, 0.9, 50, total, pairs).ok());
  pairs.push_back(pair);
  REQUIRE(closest_pair(smooth.data(), 3000, 8, pair).ok());
  pairs.push_back(pair);
  all.push_back(total);
  for (const Pair& found : pairs) {
    all.push_back(static_cast<double>(found.i));
    all.push_back(static_cast<double>(found.j));
    all.push_back(found.distance);
  }
  std::vector<double> distances(2999);
  REQUIRE(distances_from(smooth.data(), smooth.data() + 8, 2999, 8, distances.data()).ok());
  all.insert(all.end(), distances.begin(), distances.end());
  posenc::testing::check_hash("analysis/closest-pair", all.data(), all.size());
}

TEST_CASE("principal components and t-SNE have the same bits in every build") {
  std::vector<double> scores(90 * 5), components(5 * 33), rest(5 + 33 + 1);
  const std::vector<double> table = normal(90 * 33, 3);
  REQUIRE(principal_components(table.data(), 90, 33, 5, scores.data(), components.data(), rest.data(), rest.data() + 5,
                               rest.data() + 38)
              .ok());
  rest.insert(rest.end(), scores.begin(), scores.end());
  rest.insert(rest.end(), components.begin(), components.end());
  posenc::testing::check_hash("analysis/pca", rest.data(), rest.size());

  std::vector<double> points(2 * 51);
  double divergence = 0;
  REQUIRE(tsne(table.data(), 51, 33, 9.5, 300, 42, points.data(), divergence).ok());
  points.push_back(divergence);
  posenc::testing::check_hash("analysis/tsne", points.data(), points.size());
}

TEST_CASE("matrices of pairs have the same bits in every build") {
  const std::vector<double> values = normal(3 * 11 * 17, 4);
  const PairMatrices m{values.data(), 3, 11, 17, 6}, square{values.data(), 2, 13, 13, 0};
  std::vector<double> all(4 * 3 * 27 + 3 + 4 + 6 + 6);
  double* out = all.data();
  REQUIRE(offset_profile(m, out, out + 81, out + 162, out + 243).ok());
  REQUIRE(toeplitz_gap(m, out + 324).ok());
  REQUIRE(symmetry(square, out + 327, out + 329).ok());
  REQUIRE(monotonicity(m, out + 331, out + 334).ok());
  REQUIRE(locality(m, 3, true, out + 337).ok());
  posenc::testing::check_hash("analysis/pairwise", all.data(), all.size());

  std::vector<float> scores(values.begin(), values.end()), v(3 * 17 * 4);
  fill_normal(std::span<float>(v), 5);
  std::vector<double> attended(3 * 11 * 4);
  REQUIRE(sorted_attention(scores.data(), v.data(), 3, 1, 11, 17, 4, attended.data()).ok());
  posenc::testing::check_hash("analysis/sorted-attention", attended.data(), attended.size());
}

TEST_CASE("learned tables have the same bits in every build") {
  std::vector<double> kernel(30 * 30), table(30 * 12), resampled(47 * 12), extended(40 * 12), all;
  const std::vector<double> rows = sinusoids(30, 16);
  REQUIRE(similarity(rows.data(), 30, 16, Metric::kDot, kernel.data()).ok());
  double residual = 0, misfit = 0;
  REQUIRE(fit_table(kernel.data(), 30, 12, table.data(), residual).ok());
  for (const Corners corners : {Corners::kAlign, Corners::kHalfPixel}) {
    REQUIRE(resample_table(table.data(), 30, 12, 47, corners, resampled.data()).ok());
    all.insert(all.end(), resampled.begin(), resampled.end());
  }
  REQUIRE(extend_table(table.data(), 30, 12, 40, extended.data(), misfit).ok());
  all.insert(all.end(), table.begin(), table.end());
  all.insert(all.end(), extended.begin(), extended.end());
  all.insert(all.end(), {residual, misfit});
  posenc::testing::check_hash("analysis/learned-table", all.data(), all.size());
}
