#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "schemes/scheme.h"
#include "support/build.h"
#include "support/golden_sets.h"

using namespace posenc;
using namespace posenc_test;

namespace {

const GoldenSets kGoldenSets(schemes::embed_sinusoidal2d,
                             {"dim=16", "dim=8 style=detr", "dim=8 style=detr normalize=true scale=3 combine=add",
                              "dim=10 style=multidim", "dim=20 style=multidim axes=3", "dim=7 style=multidim axes=1",
                              "dim=12 combine=add base=100", "dim=16 style=detr normalize=true grid=7,9"});

using Reals = std::vector<double>;

// cells [row, column, ...] -> (T, dim)
std::vector<Reals> encode(const Scheme& scheme, const std::vector<Reals>& cells) {
  const auto& embed = static_cast<const Embed&>(scheme);
  Reals positions;
  for (int a = 0; a < embed.axes(); ++a) {
    for (const Reals& cell : cells) positions.push_back(cell[static_cast<std::size_t>(a)]);
  }
  const auto width = static_cast<std::size_t>(embed.width());
  Reals out(cells.size() * width);
  REQUIRE(embed.encode({positions.data(), cells.size(), embed.axes()}, 0, out.data()).ok());
  std::vector<Reals> rows;
  for (std::size_t t = 0; t < cells.size(); ++t) {
    rows.emplace_back(out.begin() + static_cast<std::ptrdiff_t>(t * width),
                      out.begin() + static_cast<std::ptrdiff_t>((t + 1) * width));
  }
  return rows;
}

std::vector<Reals> of(const char* options, const std::vector<Reals>& cells) {
  const Built built = build(schemes::embed_sinusoidal2d, options);
  INFO(built.status.message());
  REQUIRE(built.status.ok());
  return encode(*built.scheme, cells);
}

void check(const Reals& actual, const Reals& expected, double margin = 1e-9) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t c = 0; c < expected.size(); ++c) {
    INFO("column " << c);
    CHECK(actual[c] == Approx(expected[c]).epsilon(0).margin(margin));
  }
}

const std::vector<Reals> kGrid23 = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}};

}  // namespace

TEST_CASE("sinusoidal2d mae: the first half is the column's (golden mae-001; mae #18, #67, #218, diffusers #10877)") {
  const auto rows = of("dim=8", {{0, 0}, {0, 1}, {1, 0}, {1, 1}});
  const double s = 0.8414709848, c = 0.5403023059, t = 0.009999833334, u = 0.9999500004;
  check(rows[0], {0, 0, 1, 1, 0, 0, 1, 1});
  check(rows[1], {s, t, c, u, 0, 0, 1, 1});
  check(rows[2], {0, 0, 1, 1, s, t, c, u});
  check(rows[3], {s, t, c, u, s, t, c, u});
}

TEST_CASE("sinusoidal2d detr: rows first, counted from 1, normalised or not (golden detr-001, detr-002)") {
  const auto normal = of("dim=8 style=detr normalize=true", kGrid23);
  check(normal[0],
        {1.570795542e-06, -1.0, 0.03141074338, 0.9995065609, 0.8660257528, -0.4999993954, 0.0209424129, 0.9997806836},
        1e-6);
  check(normal[2],
        {1.570795542e-06, -1.0, 0.03141074338, 0.9995065609, -2.094394405e-06, 1.0, 0.06279049863, 0.9980267297}, 1e-6);
  check(normal[4],
        {-3.141591084e-06, 1.0, 0.06279048818, 0.9980267304, -0.8660247057, -0.5000012092, 0.04187563978, 0.9991228307},
        1e-6);
  const auto raw = of("dim=8 style=detr", {{0, 0}, {1, 2}});
  check(raw[0], {0.8414709848, 0.5403023059, 0.009999833334, 0.9999500004, 0.8414709848, 0.5403023059, 0.009999833334,
                 0.9999500004});
  check(raw[1], {0.9092974268, -0.4161468365, 0.01999866669, 0.9998000067, 0.1411200081, -0.9899924966, 0.0299955002,
                 0.9995500337});
  // A grid that is known beforehand: one cell alone has the numbers it has among the others.
  CHECK(of("dim=8 style=detr normalize=true grid=2,3", {{0, 2}})[0] == normal[2]);
}

TEST_CASE("sinusoidal2d detr: with a mask, counts skip padding") {
  const float mask[6] = {1, 1, 0, 1, 0, 0};
  Spec spec(schemes::embed_sinusoidal2d);
  std::unique_ptr<Scheme> scheme;
  REQUIRE(spec.set("dim", 4.0).ok());
  REQUIRE(spec.set("style", std::string_view("detr")).ok());
  REQUIRE(spec.set("normalize", 1.0).ok());
  REQUIRE(spec.set("mask", Table::of(mask, {2, 3})).ok());
  REQUIRE(make_scheme(spec, scheme).ok());
  const auto rows = encode(*scheme, kGrid23);
  // (count down the column, its total, count along the row, its total) of each cell, by hand
  const double counts[6][4] = {{1, 2, 1, 2}, {1, 1, 2, 2}, {0, 0, 2, 2}, {2, 2, 1, 1}, {1, 1, 1, 1}, {0, 0, 1, 1}};
  for (std::size_t t = 0; t < 6; ++t) {
    const double y = counts[t][0] / (counts[t][1] + 1e-6) * 2 * 3.14159265358979323846;
    const double x = counts[t][2] / (counts[t][3] + 1e-6) * 2 * 3.14159265358979323846;
    check(rows[t], {std::sin(y), std::cos(y), std::sin(x), std::cos(x)}, 1e-14);
  }
  const double outside[2] = {2, 0};
  Reals out(4);
  CHECK(static_cast<const Embed&>(*scheme).encode({outside, 1, 2}, 0, out.data()).code == Code::kOutOfRange);
}

TEST_CASE("sinusoidal2d multidim: axis 0 first, columns rounded up an axis, then cut (golden tat-002)") {
  check(of("dim=8 style=multidim", {{1, 2}})[0], {0.8414709848, 0.5403023059, 0.009999833334, 0.9999500004,
                                                  0.9092974268, -0.4161468365, 0.01999866669, 0.9998000067});
  // 10 columns in 2-D are 6 an axis, in 3-D 4 an axis; 7 in 1-D are 8.
  for (const auto& [dim, axes, share] : {std::tuple{10, 2, 6}, std::tuple{10, 3, 4}, std::tuple{7, 1, 8}}) {
    const std::string options =
        "dim=" + std::to_string(dim) + " style=multidim axes=" + std::to_string(axes) + " base=500";
    const Reals cell = {3, 7, 11};
    Reals expected;
    for (int a = 0; a < axes; ++a) {
      for (int c = 0; c < share; ++c) {
        const double angle =
            cell[static_cast<std::size_t>(a)] * std::pow(500.0, -static_cast<double>(c / 2 * 2) / share);
        expected.push_back(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
      }
    }
    expected.resize(static_cast<std::size_t>(dim));
    check(of(options.c_str(), {cell})[0], expected, 1e-14);
  }
}

TEST_CASE("sinusoidal2d: added codes have all columns each") {
  const auto row = of("dim=4 combine=add", {{2, 5}})[0];
  check(row,
        {std::sin(2.0) + std::sin(5.0), std::sin(0.02) + std::sin(0.05), std::cos(2.0) + std::cos(5.0),
         std::cos(0.02) + std::cos(0.05)},
        1e-14);
}

TEST_CASE("sinusoidal2d: what does not fit is refused") {
  const auto message = [](const char* options) { return build(schemes::embed_sinusoidal2d, options).status.message(); };
  CHECK(message("dim=6") == "sinusoidal2d: dim must be divisible by 4, got 6");
  CHECK(message("dim=7 style=detr combine=add") == "sinusoidal2d: dim must be divisible by 2, got 7");
  CHECK(message("dim=8 normalize=true") ==
        "sinusoidal2d: normalize must be left out: it belongs to style \"detr\", got style \"mae\"");
  CHECK(message("dim=8 axes=3").find("belongs to style \"multidim\"") != std::string::npos);
}
