#include <algorithm>
#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "schemes/scheme.h"
#include "support/build.h"
#include "support/golden_sets.h"
#include "support/tiles.h"

using namespace posenc;
using namespace posenc_test;

namespace {

const GoldenSets kGoldenSets(schemes::relate_shaw,
                             {"dim=8 clip=4", "dim=5 clip=0 valueDim=3 seed=7", "dim=16 clip=40 keys=false",
                              "dim=6 clip=2 values=false seed=123456789012",
                              "dim=7 clip=3 keys=random:5 values=random:6"});

// A shaw with given tables.
struct Tables {
  std::vector<float> keys, values;
};

Built shaw(std::string_view options, const Tables& tables, std::initializer_list<std::size_t> keys_shape,
           std::initializer_list<std::size_t> values_shape) {
  Built built = build(schemes::relate_shaw, options);
  if (keys_shape.size() > 0) REQUIRE(built.spec->set("keys", Table::of(tables.keys.data(), keys_shape)).ok());
  if (values_shape.size() > 0) REQUIRE(built.spec->set("values", Table::of(tables.values.data(), values_shape)).ok());
  built.status = make_scheme(*built.spec, built.scheme);
  return built;
}

// Numbers of no pattern in [-1, 1).
std::vector<float> numbers(std::size_t count, double step) {
  std::vector<float> x(count);
  for (std::size_t n = 0; n < count; ++n) {
    const double t = static_cast<double>(n + 1) * step;
    x[n] = static_cast<float>(2 * (t - std::floor(t)) - 1);
  }
  return x;
}

constexpr double kGolden = 0.6180339887498949, kRoot2 = 0.41421356237309515, kRoot3 = 0.7320508075688772;

int row_of(double offset, int clip) {
  return static_cast<int>(std::min(std::max(offset, -1.0 * clip), 1.0 * clip)) + clip;
}

}  // namespace

TEST_CASE("shaw: logits and outputs of five tokens (golden shaw-002)") {
  Tables tables;
  for (int r = -2; r <= 2; ++r) {
    tables.keys.insert(tables.keys.end(), {static_cast<float>(r), 1.0f});
    tables.values.insert(tables.values.end(), {static_cast<float>(r), 0.0f});
  }
  const Built built = shaw("dim=2 clip=2", tables, {5, 2}, {5, 2});
  REQUIRE(built.status.ok());
  const float scale = 0.70710678118654752f;
  const std::vector<float> q = {1, 0, 1, 0, 1, 0, 1, 0, 1, 0}, k(10, 0.0f);
  const Reals positions = run(0, 5);
  const RelateResult logits = relate_matrices(built.as<Relate>(), 0, q, k, 2, scale, {}, positions, positions);
  const double row0[] = {0.0, 0.7071067812, 1.414213562, 1.414213562, 1.414213562};
  for (std::size_t j = 0; j < 5; ++j) {
    CHECK(static_cast<double>(logits.scores[j]) == Approx(row0[j]).epsilon(0).margin(3e-7));
  }
  std::vector<float> p(25);
  const double weights2[] = {0.0308619698, 0.06259162331, 0.126943009, 0.2574550183, 0.5221483797};
  const double z[] = {4.278732333, 4.41253174, 4.354872429, 3.22010236, 1.915384714};
  for (std::size_t i = 0; i < 5; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < 5; ++j) sum += std::exp(static_cast<double>(logits.scores[i * 5 + j]));
    for (std::size_t j = 0; j < 5; ++j) {
      const double weight = std::exp(static_cast<double>(logits.scores[i * 5 + j])) / sum;
      p[i * 5 + j] = static_cast<float>(weight);
      if (i == 2) CHECK(weight == Approx(weights2[j]).margin(2e-7));
    }
  }
  const RelateResult mixed = relate_matrices(built.as<Relate>(), 0, q, k, 2, scale, p, positions, positions);
  for (std::size_t i = 0; i < 5; ++i) {
    double v = 0;  // the values themselves, v_j = [j, 1], are attention's
    for (std::size_t j = 0; j < 5; ++j) v += static_cast<double>(p[i * 5 + j]) * static_cast<double>(j);
    CHECK(v + static_cast<double>(mixed.values[i * 2]) == Approx(z[i]).margin(2e-6));
    CHECK(mixed.values[i * 2 + 1] == 0);
  }
}

TEST_CASE("shaw: terms by equations 3 to 5 in double, one table and one a head, over tiles and edges") {
  struct Case {
    std::size_t dim, value_dim, heads;
    int clip;
    double first_query, first_key;
    std::size_t queries, keys;
  };
  const Case cases[] = {{6, 6, 0, 3, 0, 0, 20, 20},        {5, 7, 2, 4, 10, 0, 9, 140},
                        {4, 9, 3, 0, 0, 0, 8, 8},          {16, 16, 0, 40, -30, -60, 17, 131},
                        {3, 2, 0, 200, 0.5, 7.5, 33, 270}, {1, 1, 1, 1, 1e12, 1e12, 5, 5}};
  for (const Case& c : cases) {
    const std::size_t rows = 2 * static_cast<std::size_t>(c.clip) + 1, heads = c.heads == 0 ? 1 : c.heads;
    const Tables tables = {numbers(heads * rows * c.dim, kGolden), numbers(heads * rows * c.value_dim, kRoot2)};
    const std::string options =
        "dim=" + std::to_string(c.dim) + " clip=" + std::to_string(c.clip) + " valueDim=" + std::to_string(c.value_dim);
    const Built built = c.heads == 0 ? shaw(options, tables, {rows, c.dim}, {rows, c.value_dim})
                                     : shaw(options, tables, {heads, rows, c.dim}, {heads, rows, c.value_dim});
    REQUIRE(built.status.ok());
    const Relate& relate = built.as<Relate>();
    CHECK(relate.heads() == static_cast<int>(c.heads));
    CHECK(relate.value_width() == static_cast<int>(c.value_dim));
    const Reals queries = run(c.first_query, c.queries), keys = run(c.first_key, c.keys);
    const std::vector<float> q = numbers(c.queries * c.dim, kRoot3), k = numbers(c.keys * c.dim, kRoot2),
                             p = numbers(c.queries * c.keys, kGolden);
    const float scale = 0.3f;
    for (std::size_t h = 0; h < heads; ++h) {
      const RelateResult got = relate_matrices(relate, static_cast<int>(h), q, k, c.dim, scale, p, queries, keys);
      for (std::size_t i = 0; i < c.queries; ++i) {
        std::vector<double> o(c.value_dim), size(c.value_dim);
        for (std::size_t j = 0; j < c.keys; ++j) {
          const std::size_t r = h * rows + static_cast<std::size_t>(row_of(keys[j] - queries[i], c.clip));
          double s = 0, magnitude = 0;
          for (std::size_t n = 0; n < c.dim; ++n) {
            const double term = static_cast<double>(q[i * c.dim + n]) * static_cast<double>(tables.keys[r * c.dim + n]);
            s += term;
            magnitude += std::fabs(term);
          }
          REQUIRE(static_cast<double>(got.scores[i * c.keys + j]) ==
                  Approx(s * static_cast<double>(scale)).epsilon(0).margin(4e-7 * magnitude * 0.3));
          for (std::size_t n = 0; n < c.value_dim; ++n) {
            const double term =
                static_cast<double>(p[i * c.keys + j]) * static_cast<double>(tables.values[r * c.value_dim + n]);
            o[n] += term;
            size[n] += std::fabs(static_cast<double>(p[i * c.keys + j]));
          }
        }
        for (std::size_t n = 0; n < c.value_dim; ++n) {
          REQUIRE(static_cast<double>(got.values[i * c.value_dim + n]) ==
                  Approx(o[n]).epsilon(0).margin(4e-7 * size[n]));
        }
      }
      const RelateResult pairwise =
          relate_matrices(relate, static_cast<int>(h), q, k, c.dim, scale, p, queries, keys, false);
      REQUIRE(pairwise.scores == got.scores);
      REQUIRE(pairwise.values == got.values);
    }
  }
}

TEST_CASE("shaw: the state follows the softmax when it is rescaled") {
  const Tables tables = {numbers(15, kGolden), numbers(15, kRoot2)};
  const Built built = shaw("dim=3 clip=2", tables, {5, 3}, {5, 3});
  const Relate& relate = built.as<Relate>();
  const Reals positions = run(0, 8);
  std::vector<float> q(24, 1.0f), state(relate.query_state_size());
  std::vector<float> p(64, 0.25f), o(24);
  for_each_tile(positions, positions, 0, true, false, [&](RelateTile& tile) {
    tile.q = q.data();
    tile.d = 3;
    relate.begin(tile, state.data());
    relate.accumulate(tile, p.data(), state.data());
    const float alpha[kLanes] = {0.5f, 1, 2, 0, 0.5f, 1, 2, 0};
    relate.rescale(alpha, state.data());
    relate.finish(0, state.data(), o.data());
    std::vector<float> plain(24), plain_state(relate.query_state_size());
    relate.begin(tile, plain_state.data());
    relate.accumulate(tile, p.data(), plain_state.data());
    relate.finish(0, plain_state.data(), plain.data());
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t l = 0; l < kLanes; ++l) CHECK(o[c * kLanes + l] == alpha[l] * plain[c * kLanes + l]);
    }
  });
}

TEST_CASE("shaw: rows of the index are clipped, also for clip 0 (music-transformer #6, transformers PR #9164)") {
  const Built built = build(schemes::relate_shaw, "dim=2 clip=2");
  REQUIRE(built.status.ok());
  const Relate& relate = built.as<Relate>();
  CHECK(index_matrix(relate, false, run(0, 4), run(0, 4)) ==
        std::vector<std::int32_t>{2, 3, 4, 4, 1, 2, 3, 4, 0, 1, 2, 3, 0, 0, 1, 2});
  CHECK(index_matrix(relate, true, run(0, 3), run(0, 4)) ==
        std::vector<std::int32_t>{0, 1, 2, 3, -1, 0, 1, 2, -2, -1, 0, 1});
  CHECK(index_matrix(relate, false, {5}, {1e15, -1e15, 5}) == std::vector<std::int32_t>{4, 0, 2});
  CHECK(index_matrix(relate, true, {0}, {1e15, -1e15}) == std::vector<std::int32_t>{2147483647, -2147483647});
  CHECK(relate.whole_offsets());

  const Built one = build(schemes::relate_shaw, "dim=2 clip=0");
  REQUIRE(one.status.ok());
  CHECK(index_matrix(one.as<Relate>(), false, run(0, 3), run(7, 3)) == std::vector<std::int32_t>(9, 0));
}

TEST_CASE("shaw: false leaves a term out") {
  const Reals positions = run(0, 6);
  const std::vector<float> q = numbers(24, kGolden), k(24, 0.0f), p(36, 0.5f);
  const Built no_values = build(schemes::relate_shaw, "dim=4 clip=2 values=false");
  REQUIRE(no_values.status.ok());
  CHECK(no_values.as<Relate>().value_width() == 0);
  const Built no_keys = build(schemes::relate_shaw, "dim=4 clip=2 keys=false");
  REQUIRE(no_keys.status.ok());
  const Built both = build(schemes::relate_shaw, "dim=4 clip=2");
  const RelateResult full = relate_matrices(both.as<Relate>(), 0, q, k, 4, 1, p, positions, positions);
  const RelateResult scores = relate_matrices(no_values.as<Relate>(), 0, q, k, 4, 1, p, positions, positions);
  const RelateResult values = relate_matrices(no_keys.as<Relate>(), 0, q, k, 4, 1, p, positions, positions);
  CHECK(scores.scores == full.scores);
  CHECK(values.values == full.values);
  CHECK(std::all_of(values.scores.begin(), values.scores.end(), [](float s) { return s == 0; }));
  CHECK(build(schemes::relate_shaw, "dim=4 clip=2 keys=false values=false").status.message() ==
        "shaw: keys is missing, it must be a table where values is false");
}

TEST_CASE("shaw: default tables are normal with deviation 0.02, differ by seed and by table") {
  const auto scores = [](std::string_view options) {
    // q = unit vectors read the rows of the table out.
    const Built built = build(schemes::relate_shaw, options);
    REQUIRE(built.status.ok());
    const Reals keys = run(-100, 201);
    std::vector<float> table, q(16, 0.0f), k(201 * 16, 0.0f);
    for (std::size_t c = 0; c < 16; ++c) {
      std::fill(q.begin(), q.end(), 0.0f);
      q[c] = 1;
      const RelateResult row = relate_matrices(built.as<Relate>(), 0, q, k, 16, 1, {}, {0}, keys);
      table.insert(table.end(), row.scores.begin(), row.scores.end());
    }
    return table;
  };
  const std::vector<float> table = scores("dim=16 clip=100");
  double mean = 0, variance = 0;
  for (const float a : table) mean += static_cast<double>(a) / static_cast<double>(table.size());
  for (const float a : table)
    variance += (static_cast<double>(a) - mean) * (static_cast<double>(a) - mean) / static_cast<double>(table.size());
  CHECK(std::fabs(mean) < 4 * 0.02 / std::sqrt(3216.0));
  CHECK(std::sqrt(variance) == Approx(0.02).epsilon(0.06));
  CHECK(table == scores("dim=16 clip=100 seed=0"));
  CHECK(table != scores("dim=16 clip=100 seed=1"));
}

TEST_CASE("shaw: shapes that do not fit are refused with the shape") {
  const Tables tables = {numbers(64, kGolden), numbers(64, kRoot2)};
  CHECK(shaw("dim=4 clip=1", tables, {4, 4}, {}).status.message() ==
        "shaw: keys must be of shape [3, 4] or [heads, 3, 4], got [4, 4]");
  CHECK(shaw("dim=4 clip=1 valueDim=2", tables, {}, {3, 4}).status.code == Code::kShapeMismatch);
  CHECK(shaw("dim=4 clip=1", tables, {2, 3, 4}, {3, 3, 4}).status.message() ==
        "shaw: values must be for as many heads as keys, which are 2, got [3, 3, 4]");
  CHECK(shaw("dim=4 clip=1", tables, {12}, {}).status.code == Code::kShapeMismatch);
  CHECK(build(schemes::relate_shaw, "dim=4 clip=-1").status.message() ==
        "shaw: clip must be an integer from 0 to 65536, got -1");
  CHECK(build(schemes::relate_shaw, "dim=4096 clip=65536").status.code == Code::kTooLarge);
  Tables bad = tables;
  bad.keys[5] = INFINITY;
  CHECK(shaw("dim=4 clip=1", bad, {3, 4}, {}).status.code == Code::kNotFinite);
}
