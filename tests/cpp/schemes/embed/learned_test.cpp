#include <cmath>
#include <cstring>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/normal.h"
#include "schemes/scheme.h"
#include "support/build.h"
#include "support/golden_sets.h"

using namespace posenc;
using namespace posenc_test;

namespace {

const GoldenSets kGoldenSets(schemes::embed_learned,
                             {"length=32 dim=5 outOfRange=wrap", "length=31 dim=8 std=1 seed=7 outOfRange=clamp",
                              "length=16 dim=6 outOfRange=interpolate",
                              "length=16 dim=6 outOfRange=interpolate corners=half-pixel",
                              "length=12 dim=4 outOfRange=wrap grid=3,4",
                              "length=12 dim=4 outOfRange=interpolate grid=3,4"});

using Reals = std::vector<double>;

// Row r of the table is [r, r^2]: what comes out says which rows were blended.
struct Squares {
  explicit Squares(std::size_t rows, std::initializer_list<std::pair<const char*, const char*>> choices = {},
                   std::vector<double> grid = {})
      : grid_(std::move(grid)) {
    for (std::size_t r = 0; r < rows; ++r) {
      table_.push_back(static_cast<float>(r));
      table_.push_back(static_cast<float>(r * r));
    }
    Spec spec(schemes::embed_learned);
    REQUIRE(spec.set("table", Table::of(table_.data(), {rows, 2})).ok());
    if (!grid_.empty()) REQUIRE(spec.set("grid", Table::list(grid_)).ok());
    for (const auto& [name, value] : choices) REQUIRE(spec.set(name, std::string_view(value)).ok());
    status = make_scheme(spec, scheme_);
  }
  Status encode(const Reals& positions, Reals& out, double length = 0) const {
    const auto axes = static_cast<std::size_t>(scheme_->axes());
    out.assign(positions.size() / axes * 2, -1);
    return static_cast<const Embed&>(*scheme_).encode({positions.data(), positions.size() / axes, scheme_->axes()},
                                                      length, out.data());
  }
  Reals of(const Reals& positions, double length = 0) const {
    Reals out;
    REQUIRE(encode(positions, out, length).ok());
    return out;
  }

  Status status;

 private:
  std::vector<float> table_;
  std::vector<double> grid_;
  std::unique_ptr<Scheme> scheme_;
};

}  // namespace

TEST_CASE("learned: rows of a table, at positions and between them") {
  CHECK(Squares(4).of({0, 3, 1}) == Reals{0, 0, 3, 9, 1, 1});
  CHECK(Squares(4).of({0.5, 2.25}) == Reals{0.5, 0.5, 2.25, 4 + 0.25 * 5});
}

TEST_CASE("learned: outside the table (golden lrn-002)") {
  Reals out;
  const Squares strict(32);
  CHECK(strict.of({31}) == Reals{31, 961});
  for (const double position : {32.0, 33.0, -1.0, 31.5, 1e15}) {
    const Status status = strict.encode({0, position}, out);
    CHECK(status.code == Code::kOutOfRange);
    CHECK(status.message().find("positions must be from 0 to 31") != std::string::npos);
    CHECK(status.message().find("got " + to_text(position)) != std::string::npos);
  }
  const Squares wrapped(32, {{"outOfRange", "wrap"}});
  CHECK(wrapped.of({31, 32, 33, -1, 9007199254740992.0}) == Reals{31, 961, 0, 0, 1, 1, 31, 961, 0, 0});
  CHECK(wrapped.of({31.5}) == Reals{15.5, 480.5});  // between the last row and the first
  CHECK(wrapped.of({-1e-18}) == Reals{0, 0});
  const Squares held(32, {{"outOfRange", "clamp"}});
  CHECK(held.of({31, 32, 1e15, -7}) == Reals{31, 961, 31, 961, 31, 961, 0, 0});
}

TEST_CASE("learned: rows spread over a longer call, as linear resizing has it") {
  const Squares aligned(5, {{"outOfRange", "interpolate"}});
  // PyTorch: interpolate(mode="linear", align_corners=True) of 5 rows to 9.
  CHECK(aligned.of({0, 1, 2, 3, 8}, 9) == Reals{0, 0, 0.5, 0.5, 1, 1, 1.5, 2.5, 4, 16});
  CHECK(aligned.of({8}) == Reals{4, 16});                    // the call is as long as its positions
  CHECK(aligned.of({0, 2, 4}) == Reals{0, 0, 2, 4, 4, 16});  // and reads the rows as they are where it fits
  const Squares half(4, {{"outOfRange", "interpolate"}, {"corners", "half-pixel"}});
  // align_corners=False of 4 rows to 8: (t + 1/2) / 2 - 1/2.
  CHECK(half.of({0, 1, 2, 3, 7}, 8) == Reals{0, 0, 0.25, 0.25, 0.75, 0.75, 1.25, 1.75, 3, 9});
}

TEST_CASE("learned: a grid is read and spread in two directions") {
  // Cells 0 1 2 / 3 4 5.
  CHECK(Squares(6, {}, {2, 3}).of({0, 1, 1, 2}) == Reals{1, 1, 5, 25});
  const Squares grid(6, {}, {2, 3});
  CHECK(grid.of({0, 1, 0, 2}) == Reals{0, 0, 5, 25});
  CHECK(grid.of({0.5, 0.5})[0] == 0.25 * (0 + 1 + 3 + 4));
  Reals out;
  CHECK(grid.encode({2, 0}, out).code == Code::kOutOfRange);
  CHECK(grid.encode({0, 3}, out).code == Code::kOutOfRange);
  const Squares wide(6, {{"outOfRange", "interpolate"}}, {2, 3});
  // To 3 x 5: rows 0, 1/2, 1; columns 0, 1/2, 1, 3/2, 2.
  const Reals larger = wide.of({0, 1, 2, 0, 1, 4});
  CHECK(larger[0] == 0);
  CHECK(larger[2] == 0.5 * 3 + 0.5);
  CHECK(larger[4] == 5);
  CHECK(Squares(6, {}, {2, 2}).status.message() ==
        "learned: grid must be of as many cells as the table has rows, 6, got 2 x 2");
}

TEST_CASE("learned: drawn rows are the seed's normal numbers, of any width (golden lrn-001)") {
  for (const auto& [rows, columns, parameters] :
       {std::tuple{512, 768, 393216}, std::tuple{1024, 768, 786432}, std::tuple{514, 768, 394752}}) {
    const Built built =
        build(schemes::embed_learned, "length=" + std::to_string(rows) + " dim=" + std::to_string(columns) + " seed=3");
    REQUIRE(built.status.ok());
    Reals positions;
    for (int t = 0; t < rows; ++t) positions.push_back(t);
    std::vector<float> table(static_cast<std::size_t>(parameters)), expected(table.size());
    REQUIRE(built.as<Embed>().encode({positions.data(), positions.size(), 1}, 0, table.data()).ok());
    fill_normal(std::span<float>(expected), 3, 0, 0, 0.02);
    CHECK(table == expected);
    double square = 0;
    for (const float x : table) square += static_cast<double>(x) * static_cast<double>(x);
    CHECK(std::sqrt(square / parameters) == Approx(0.02).epsilon(0.01));
  }
}

TEST_CASE("learned: what does not fit is refused") {
  const auto message = [](const char* options) { return build(schemes::embed_learned, options).status.message(); };
  CHECK(message("dim=4") == "learned: length is missing, it must be given where no table is");
  CHECK(message("length=4") == "learned: dim is missing, it must be given where no table is");
  CHECK(message("length=16777216 dim=65536").find("length must be at most 4096") != std::string::npos);
  CHECK(message("length=4 dim=2 corners=half-pixel") ==
        "learned: corners must be left out: it belongs to outOfRange \"interpolate\", got outOfRange \"error\"");
  Spec spec(schemes::embed_learned);
  const float table[6] = {};
  std::unique_ptr<Scheme> scheme;
  REQUIRE(spec.set("table", Table::of(table, {3, 2})).ok());
  REQUIRE(spec.set("dim", 3.0).ok());
  CHECK(make_scheme(spec, scheme).message() == "learned: table must be of shape [length, 3], got [3, 2]");
}
