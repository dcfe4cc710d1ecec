// Golden bits of what measures attention, rotated rows and permutations, and of the reports of frequencies.
#include <catch2/catch.hpp>

#include <span>
#include <string>
#include <vector>

#include "analysis/metrics.h"
#include "analysis/permutation.h"
#include "analysis/shift.h"
#include "analysis/similarity.h"
#include "kernels/normal.h"
#include "schemes/frequency_report.h"
#include "schemes/registry.h"
#include "support/build.h"
#include "support/hashes.h"
#include "support/tables.h"

using namespace posenc;
using namespace posenc_test;

namespace {

template <class Real>
std::vector<Real> normal(std::size_t count, std::uint64_t seed) {
  std::vector<Real> x(count);
  fill_normal(std::span<Real>(x), seed);
  return x;
}

}  // namespace

TEST_CASE("entropies and distances of attention have the same bits in every build") {
  constexpr std::size_t kQueries = 9, kKeys = 31;
  std::vector<float> weights = normal<float>(2 * kQueries * kKeys, 1);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = i % 7 == 0 || i / kKeys == 4 ? 0 : weights[i] * weights[i];  // as masks leave them, one row empty
  }
  std::vector<double> queries(kQueries), keys(kKeys), all(5 * 2 * kQueries);
  for (std::size_t i = 0; i < kQueries; ++i) queries[i] = 1000.25 - 3 * static_cast<double>(i);
  for (std::size_t j = 0; j < kKeys; ++j) keys[j] = static_cast<double>(j * j);
  double* out = all.data();
  for (const double base : {kEuler, 2.0, 10.0, 0.5}) {
    REQUIRE(entropy(weights.data(), 2 * kQueries, kKeys, base, out).ok());
    out += 2 * kQueries;
  }
  REQUIRE(attention_distance(weights.data(), 2, kQueries, kKeys, queries.data(), keys.data(), out).ok());
  posenc::testing::check_hash("analysis/metrics", all.data(), all.size());
}

TEST_CASE("checks of rotated rows have the same bits in every build") {
  const std::vector<double> expected = normal<double>(2 * 13 * 10, 2);
  std::vector<double> found = expected, all(2 * 2 * 13 + 3);
  for (std::size_t i = 0; i < found.size(); i += 3) found[i] *= 1.0625;
  REQUIRE(layout_check(found.data(), expected.data(), 2, 13, 10, all.data(), all.data() + 52).ok());
  posenc::testing::check_hash("analysis/layout-check", all.data(), all.size());
}

TEST_CASE("gaps, products of rows and turned rows have the same bits in every build") {
  const std::vector<double> straight = normal<double>(2 * 5 * 6, 3), permuted = normal<double>(2 * 5 * 6, 4);
  const double permutation[] = {3, 1, 4, 0, 2};
  std::vector<double> all(3);
  REQUIRE(permutation_gap(straight.data(), permuted.data(), permutation, 2, 5, 6, all[0]).ok());
  REQUIRE(largest_difference(straight.data(), permuted.data(), straight.size(), all[1], all[2]).ok());
  all.resize(3 + 10 * 10);
  row_products(straight.data(), 10, permuted.data(), 10, 6, all.data() + 3);
  for (const bool halves : {false, true}) {
    std::vector<double> rows = straight;
    const std::vector<double> angles = sinusoids(10, 6, 10000, 100);
    std::vector<double> sine, cosine;
    for (std::size_t i = 0; i < angles.size(); i += 2) {
      sine.push_back(angles[i]);
      cosine.push_back(angles[i + 1]);
    }
    turn_rows({6, 3, halves, !halves}, sine.data(), cosine.data(), 10, rows.data());
    all.insert(all.end(), rows.begin(), rows.end());
  }
  posenc::testing::check_hash("analysis/rows", all.data(), all.size());
}

TEST_CASE("reports of frequencies have the same bits in every build") {
  std::vector<double> all;
  for (const char* options :
       {"dim=64", "dim=64 rotaryDim=32 base=500000", "dim=64 scaling.type=linear scaling.factor=4",
        "dim=64 scaling.type=ntk scaling.factor=3",
        "dim=64 scaling.type=dynamic scaling.factor=10 scaling.maxPositionEmbeddings=2048",
        "dim=64 scaling.type=dynamic-static scaling.factor=3", "dim=64 scaling.type=qwen scaling.trainLength=2048",
        "dim=64 scaling.type=yarn scaling.factor=32 scaling.originalMaxPositionEmbeddings=4096 scaling.truncate=false",
        "dim=64 scaling.type=llama3 scaling.factor=8 scaling.lowFreqFactor=1 scaling.highFreqFactor=4 "
        "scaling.originalMaxPositionEmbeddings=8192",
        "dim=64 scaling.type=proportional scaling.partialRotaryFactor=0.25"}) {
    const Built built = build(*find(Slot::kRotate, "rope"), options);
    for (const double length : {1.0, 16384.0}) {
      FrequencyReport report;
      REQUIRE(built.scheme->frequencies(length, report).ok());
      all.insert(all.end(), report.inverse.begin(), report.inverse.end());
      all.insert(all.end(), report.rest.begin(), report.rest.end());
      all.insert(all.end(), report.wavelength.begin(), report.wavelength.end());
      for (const FrequencyReport::Band band : report.band) all.push_back(static_cast<double>(band));
      for (const double x : {report.base, report.attention_factor, report.softmax_scale, report.low, report.high}) {
        all.push_back(x != x ? -2 : x);  // bits of NaN differ
      }
    }
  }
  posenc::testing::check_hash("analysis/frequencies", all.data(), all.size());
}
