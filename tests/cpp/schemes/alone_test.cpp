#include "schemes/alone.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "support/build.h"
#include "support/tiles.h"

using namespace posenc;
using namespace posenc_test;

namespace {

const std::vector<float> kTheCatSat = {0.2f, -0.5f, 0.8f, 0.1f, -0.3f, 0.4f, 0.2f, -0.6f, 0.7f, 0.1f, -0.4f, 0.3f};
const Reals kThree = {0, 1, 2};

struct Embedding {
  Built built;
  EmbedCall call;
  std::vector<float> out;

  Embedding(std::string_view options, const std::vector<float>& x, std::size_t width, const Reals& positions)
      : built(build(schemes::embed_sinusoidal, options)), out(4 * x.size()) {
    REQUIRE(built.status.ok());
    call.scheme = &built.as<Embed>();
    call.positions = {positions.data(), positions.size(), 1};
    call.batch = x.size() / width / positions.size();
    call.width = width;
    call.x = x.data();
    call.out = out.data();
  }
};

void check_near(const std::vector<float>& got, const std::vector<double>& expected) {
  for (std::size_t n = 0; n < expected.size(); ++n) {
    INFO("element " << n);
    CHECK(static_cast<double>(got[n]) == Approx(expected[n]).epsilon(0).margin(4e-7));
  }
}

const double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("embed: 'The cat sat', plain and scaled by sqrt(d) (golden sin-003, sin-004)") {
  Embedding plain("dim=4", kTheCatSat, 4, kThree);
  REQUIRE(embed(plain.call).ok());
  check_near(plain.out, {0.2, 0.5, 0.8, 1.1, 0.5414709848, 0.9403023059, 0.2099998333, 0.3999500004, 1.609297427,
                         -0.3161468365, -0.3800013333, 1.299800007});
  Embedding scaled("dim=4", kTheCatSat, 4, kThree);
  scaled.call.scale = kNan;  // the square root of the width
  REQUIRE(embed(scaled.call).ok());
  check_near(scaled.out, {0.4, 0.0, 1.6, 1.2, 0.2414709848, 1.340302306, 0.4099998333, -0.2000499996, 2.309297427,
                          -0.2161468365, -0.7800013333, 1.599800007});
}

TEST_CASE("embed: alpha, batches and concatenation") {
  std::vector<float> x = kTheCatSat;
  x.insert(x.end(), kTheCatSat.rbegin(), kTheCatSat.rend());
  Embedding two("dim=4", x, 4, kThree);
  two.call.scale = 3;
  two.call.alpha = -0.5;
  REQUIRE(embed(two.call).ok());
  Embedding apart("dim=2", x, 4, kThree);
  apart.call.concat = true;
  apart.call.alpha = 2;
  REQUIRE(embed(apart.call).ok());
  std::vector<double> sum, beside;
  for (std::size_t n = 0; n < x.size(); ++n) {
    const double t = static_cast<double>(n / 4 % 3), omega = n % 4 < 2 ? 1 : 0.01;
    const double p = n % 2 == 0 ? std::sin(t * omega) : std::cos(t * omega);
    sum.push_back(3 * static_cast<double>(x[n]) - 0.5 * p);
    beside.push_back(static_cast<double>(x[n]));
    if (n % 4 == 3) beside.insert(beside.end(), {2 * std::sin(t), 2 * std::cos(t)});
  }
  check_near(two.out, sum);
  check_near(apart.out, beside);
}

TEST_CASE("embed: dropout zeroes a share, scales the rest, follows its seed") {
  const std::vector<float> x(20000, 1.0f);
  const Reals positions = run(0, 2500);
  const auto dropped = [&](double share, std::uint64_t seed) {
    Embedding made("dim=8", x, 8, positions);
    made.call.alpha = 0;
    made.call.dropout = share;
    made.call.seed = seed;
    REQUIRE(embed(made.call).ok());
    made.out.resize(x.size());
    return made.out;
  };
  const std::vector<float> out = dropped(0.25, 1);
  int zeros = 0;
  for (const float y : out) {
    zeros += y == 0;
    if (y != 0 && y != static_cast<float>(1 / 0.75)) FAIL("neither dropped nor scaled: " << y);
  }
  CHECK(std::abs(zeros - 5000) < 5 * std::sqrt(20000 * 0.25 * 0.75));
  CHECK(out == dropped(0.25, 1));
  CHECK(out != dropped(0.25, 2));
  CHECK(dropped(0, 1) == x);
  Embedding bad("dim=4", kTheCatSat, 4, kThree);
  for (const double share : {1.0, -0.1, kNan}) {
    bad.call.dropout = share;
    CHECK(embed(bad.call).code == Code::kOutOfRange);
  }
}

TEST_CASE("embed: faults in the tokens and positions") {
  std::vector<float> x = kTheCatSat;
  x[5] = INFINITY;
  Embedding infinite("dim=4", x, 4, kThree);
  CHECK(embed(infinite.call).message() == "embed: x must be finite numbers, got Infinity at element 5");
  infinite.call.allow_non_finite = true;
  CHECK(embed(infinite.call).ok());
  CHECK(infinite.out[5] == INFINITY);
  x[5] = 3e38f;
  Embedding large("dim=4", x, 4, kThree);
  large.call.scale = 10;
  CHECK(embed(large.call).code == Code::kOutOfRange);
  Embedding narrow("dim=6", kTheCatSat, 4, kThree);
  CHECK(embed(narrow.call).code == Code::kShapeMismatch);
  const Reals far = {0, 1e300, 2};
  Embedding lost("dim=4", kTheCatSat, 4, far);
  CHECK(embed(lost.call).message() == "embed: positions must be finite numbers of magnitude up to 2^53, got 1e+300");
  Embedding two_axes("dim=4", kTheCatSat, 4, kThree);
  two_axes.call.positions.axes = 2;
  CHECK(embed(two_axes.call).code == Code::kShapeMismatch);
}

TEST_CASE("rotate: schemes compose left to right and come undone in reverse") {
  const Built first = build(schemes::rotate_rope, "dim=4"), second = build(schemes::rotate_rope, "dim=4 layout=half");
  const std::vector<const Rotate*> both = {&first.as<Rotate>(), &second.as<Rotate>()};
  const Reals positions = {5, -2, 0.5};
  std::vector<double> x(24), y(24), back(24), expected(24);
  Dice dice(9);
  for (double& value : x) value = dice.real(-1, 1);
  RotateRows call;
  call.schemes = both;
  call.positions = {positions.data(), 3, 1};
  call.batch = 2;
  call.width = 4;
  REQUIRE(rotate(call, x.data(), y.data()).ok());
  for (std::size_t n = 0; n < 24; n += 4) {
    const double t = positions[n / 4 % 3], c = std::cos(t), s = std::sin(t), c1 = std::cos(t / 100),
                 s1 = std::sin(t / 100);
    const double a[] = {x[n] * c - x[n + 1] * s, x[n] * s + x[n + 1] * c, x[n + 2] * c1 - x[n + 3] * s1,
                        x[n + 2] * s1 + x[n + 3] * c1};
    expected[n] = a[0] * c - a[2] * s;
    expected[n + 2] = a[0] * s + a[2] * c;
    expected[n + 1] = a[1] * c1 - a[3] * s1;
    expected[n + 3] = a[1] * s1 + a[3] * c1;
  }
  for (std::size_t n = 0; n < 24; ++n) CHECK(y[n] == Approx(expected[n]).epsilon(0).margin(1e-14));
  call.inverse = true;
  REQUIRE(rotate(call, y.data(), back.data()).ok());
  for (std::size_t n = 0; n < 24; ++n) CHECK(back[n] == Approx(x[n]).epsilon(0).margin(1e-14));
  call.batch = 1;
  call.width = 6;
  CHECK(rotate(call, x.data(), y.data()).code == Code::kShapeMismatch);
}

namespace {

// Each row turned by a scheme that has seen no other.
template <class Real>
std::vector<Real> one_by_one(const Descriptor& scheme, const char* options, RotateRows call,
                             const std::vector<Real>& x) {
  std::vector<Real> out(x.size());
  const Positions all = call.positions;
  call.batch = 1;
  for (std::size_t row = 0; row < x.size() / call.width; ++row) {
    const Built built = build(scheme, options);
    const std::vector<const Rotate*> one = {&built.as<Rotate>()};
    call.schemes = one;
    call.positions = {all.data + row % all.count, 1, 1};
    REQUIRE(rotate(call, x.data() + row * call.width, out.data() + row * call.width).ok());
  }
  return out;
}

template <class Real>
void check_batch(const Descriptor& scheme, const char* options, const RotateRows& call, Dice& dice) {
  std::vector<Real> x(call.batch * call.positions.count * call.width), out(x.size());
  for (Real& value : x) value = static_cast<Real>(dice.real(-1, 1));
  const std::vector<Real> expected = one_by_one(scheme, options, call, x);
  REQUIRE(rotate(call, x.data(), out.data()).ok());
  CHECK(std::memcmp(out.data(), expected.data(), out.size() * sizeof(Real)) == 0);
  REQUIRE(rotate(call, x.data(), x.data()).ok());  // in place
  CHECK(std::memcmp(x.data(), expected.data(), out.size() * sizeof(Real)) == 0);
}

}  // namespace

// What depends on positions alone is worked out once and kept: more rows than are worked out at a time, and positions,
// sides and directions that change from call to call.
TEST_CASE("rotate: rows are turned as each alone, to the bit, whatever was turned before") {
  Dice dice(4);
  for (const auto& [scheme, options] : {std::pair{&schemes::rotate_rope, "dim=10 rotaryDim=6"},
                                        {&schemes::rotate_rope, "dim=10 layout=half"},
                                        {&schemes::rotate_xpos, "dim=10"},
                                        {&schemes::rotate_xpos, "dim=10 layout=half scaleBase=300"},
                                        {&schemes::rotate_queryScale, "law=logn trainLength=4"}}) {
    INFO(scheme->name << " " << options);
    const Built built = build(*scheme, options);
    REQUIRE(built.status.ok());
    const std::vector<const Rotate*> one = {&built.as<Rotate>()};
    for (const std::size_t count : {140, 3}) {
      Reals positions(count);
      for (double& t : positions) t = dice.coin() ? dice.integer(0, 500) : dice.real(-300, 300);
      for (const Side side : {Side::kQuery, Side::kKey}) {
        for (const bool inverse : {false, true}) {
          RotateRows call;
          call.schemes = one;
          call.positions = {positions.data(), positions.size(), 1};
          call.side = side;
          call.inverse = inverse;
          call.batch = 2;
          call.width = 10;
          check_batch<float>(*scheme, options, call, dice);
          check_batch<double>(*scheme, options, call, dice);
        }
      }
    }
  }
}

TEST_CASE("bias: sums of schemes for chosen heads, and heads that do not exist") {
  const Built steep = build(schemes::bias_alibi, "heads=4 slopes=1,2,3,4");
  const Built ahead = build(schemes::bias_alibi, "heads=4 slopes=8,8,8,16 symmetric=false");
  const std::vector<const Bias*> both = {&steep.as<Bias>(), &ahead.as<Bias>()};
  const Reals queries = {0, 10}, keys = {3, 9, 10.5};
  const double heads[] = {3, 0};
  float out[12];
  const auto matrix = [&](const double* chosen, std::size_t count) {
    return bias_matrix(both, {queries.data(), 2, 1}, {keys.data(), 3, 1}, chosen, count, out);
  };
  REQUIRE(matrix(heads, 2).ok());
  const float expected[] = {-12, -36, -42, -28 - 112, -4 - 16, -2, -3, -9, -10.5, -7 - 56, -1 - 8, -0.5};
  for (int n = 0; n < 12; ++n) CHECK(out[n] == expected[n]);
  const double missing[] = {4};
  CHECK(matrix(missing, 1).message() == "bias: heads must be head indices from 0 to 3, got 4");
  CHECK(matrix(nullptr, 5).code == Code::kOutOfRange);
}

TEST_CASE("relativeIndex: rows of the table, whole offsets only, schemes that have a table only") {
  const Built shaw = build(schemes::relate_shaw, "dim=2 clip=2"), alibi = build(schemes::bias_alibi, "heads=2");
  const Reals places = {0.5, 1.5, 7.5}, odd = {0, 0.25, 1};
  std::int32_t rows[9];
  REQUIRE(table_rows(*shaw.scheme, Slot::kRelate, {places.data(), 3, 1}, {places.data(), 3, 1}, false, rows).ok());
  const std::int32_t expected[] = {2, 3, 4, 1, 2, 4, 0, 0, 2};
  for (int n = 0; n < 9; ++n) CHECK(rows[n] == expected[n]);
  REQUIRE(table_rows(*shaw.scheme, Slot::kRelate, {places.data(), 3, 1}, {places.data(), 3, 1}, true, rows).ok());
  CHECK(rows[2] == 7);
  const Reals origin = {0}, far = {2147483648.0}, near = {2147483647.0};
  for (const auto& [from, to] : {std::pair(&origin, &far), std::pair(&far, &origin)}) {
    const Status past = table_rows(*shaw.scheme, Slot::kRelate, {from->data(), 1, 1}, {to->data(), 1, 1}, true, rows);
    CHECK(past.code == Code::kOutOfRange);
    REQUIRE(table_rows(*shaw.scheme, Slot::kRelate, {from->data(), 1, 1}, {to->data(), 1, 1}, false, rows).ok());
    CHECK(rows[0] == (from == &origin ? 4 : 0));
  }
  REQUIRE(table_rows(*shaw.scheme, Slot::kRelate, {near.data(), 1, 1}, {origin.data(), 1, 1}, true, rows).ok());
  CHECK(rows[0] == -2147483647);
  const Status fraction =
      table_rows(*shaw.scheme, Slot::kRelate, {places.data(), 3, 1}, {odd.data(), 3, 1}, false, rows);
  CHECK(fraction.code == Code::kNotInteger);
  const Status none = table_rows(*alibi.scheme, Slot::kBias, {places.data(), 3, 1}, {places.data(), 3, 1}, false, rows);
  CHECK(none.code == Code::kUnsupported);
}
