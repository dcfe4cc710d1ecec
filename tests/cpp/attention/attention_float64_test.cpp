// attention() in float64 against the oracle, which works in double too: to 1e-13 of the terms, with every option and
// every scheme, whose formulas are written here once more.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "schemes/registry.h"
#include "support/build.h"
#include "support/float64_case.h"
#include "support/schemes_for_attention.h"

using namespace posenc;
using namespace posenc_test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Eigen::Index at(std::size_t n) { return static_cast<Eigen::Index>(n); }

// Every number of out, lse and weights within 1e-13 of the oracle's, relative to what is averaged.
void check(AttentionCase& from, const Meaning& meaning = {}, double tolerance = 1e-13) {
  Float64Case test(from);
  const Status status = test.run();
  INFO(status.message());
  REQUIRE(status.ok());
  double worst = 0;
  const auto compare = [&](double found, double wanted, double size) {
    const double error = found == wanted ? 0 : std::abs(found - wanted) / std::max(1.0, size);
    worst = std::max(worst, std::isnan(error) ? kInfinity : error);
  };
  for (std::size_t b = 0; b < from.shape.batch; ++b) {
    for (std::size_t h = 0; h < from.shape.heads; ++h) {
      const OracleResult want = from.expected(b, h, meaning);
      for (std::size_t i = 0; i < from.shape.queries; ++i) {
        const std::size_t row = (b * from.shape.heads + h) * from.shape.queries + i;
        compare(test.lse[row], want.lse(at(i)), std::abs(want.lse(at(i))));
        for (std::size_t c = 0; c < from.shape.value_width; ++c) {
          compare(test.out[row * from.shape.value_width + c], want.out(at(i), at(c)), 4);
        }
        for (std::size_t j = 0; j < from.shape.keys; ++j) {
          compare(test.weights[row * from.shape.keys + j], want.weights(at(i), at(j)), 1);
        }
      }
    }
  }
  CHECK(worst <= tolerance);
}

// A case whose scale and soft-cap, which the oracle rounds to float32, are float32 numbers.
AttentionCase make_case(const Shape& shape, std::uint32_t seed) {
  AttentionCase test(shape, seed);
  test.call.scale = 0.375;
  return test;
}

Built built_of(Slot slot, const char* name, const std::string& options) {
  Built built = build(*find(slot, name), options);
  INFO(name << ": " << built.status.message());
  REQUIRE(built.status.ok());
  return built;
}

double distance(const AttentionCase& test, std::size_t i, std::size_t j) {
  return std::abs(test.key_positions[j] - test.query_positions[i]);
}

}  // namespace

TEST_CASE("float64: masks, windows, grouped queries, soft-cap and sinks") {
  AttentionCase plain = make_case({2, 4, 2, 37, 150, 7, 5}, 60);
  check(plain);
  AttentionCase masked = make_case({2, 4, 2, 37, 150, 7, 5}, 61);
  masked.query_positions = run_of(100, 37);
  masked.call.causal = true, masked.call.window_left = 60, masked.call.prefix_length = 2;
  masked.key_lengths = {150, 120};
  masked.key_mask.assign(150, 1);
  for (std::size_t j = 0; j < 150; j += 7) masked.key_mask[j] = 0;
  check(masked);
  Numbers numbers(62);
  masked.call.mask.shape[1] = 4, masked.call.mask.shape[2] = 37, masked.call.mask.shape[3] = 150;
  for (std::size_t n = 0; n < 4 * 37 * 150; ++n) {
    masked.mask_added.push_back(numbers.below(3) ? numbers.unit() : -std::numeric_limits<float>::infinity());
  }
  masked.call.softcap = 1.25;
  masked.sinks = {0.5f, -1, 2.25f, 0};
  check(masked);
  masked.mask_seen.resize(masked.mask_added.size());
  for (std::size_t n = 0; n < masked.mask_seen.size(); ++n) masked.mask_seen[n] = n % 5 != 0;
  masked.mask_added.clear();
  check(masked);
}

TEST_CASE("float64: rows that see nothing are zero, and what is masked never leaks") {
  AttentionCase from = make_case({1, 2, 1, 9, 20, 4, 3}, 63);
  from.query_positions = run_of(-4, 9);
  from.call.causal = true;
  from.sinks = {1, 2};
  Float64Case clean(from);
  REQUIRE(clean.run().ok());
  for (std::size_t n = 0; n < 4 * 3; ++n) CHECK(clean.out[n] == 0);
  CHECK(clean.lse[3] == -kInfinity);
  CHECK(clean.lse[4] > 0);
  from.k[4 * 4 + 1] = std::numeric_limits<float>::quiet_NaN();
  from.v[4 * 3] = std::numeric_limits<float>::infinity();
  Float64Case poisoned(from);
  const Status refused = poisoned.run();
  CHECK(refused.code == Code::kNotFinite);
  poisoned.call.allow_non_finite = true;
  REQUIRE(poisoned.run().ok());
  for (std::size_t h = 0; h < 2; ++h) {
    for (std::size_t i = 0; i < 8; ++i) {  // query 8 is at position 4, and sees the poison
      for (std::size_t c = 0; c < 3; ++c) CHECK(poisoned.out[(h * 9 + i) * 3 + c] == clean.out[(h * 9 + i) * 3 + c]);
    }
    CHECK(std::isnan(poisoned.out[(h * 9 + 8) * 3]));
  }
}

TEST_CASE("float64: scores beyond float32 are no error, beyond float64 they are") {
  AttentionCase from = make_case({1, 1, 1, 2, 3, 2, 2}, 64);
  Float64Case test(from);
  for (double& x : test.q) x = 1e30;
  for (double& x : test.k) x = 1e30;
  CHECK(test.run().ok());
  for (double& x : test.q) x = 1e300;
  CHECK(test.run().code == Code::kOutOfRange);
}

TEST_CASE("float64: the trace adds up to the last bit, with and without a soft-cap") {
  const Built alibi = built_of(Slot::kBias, "alibi", "heads=2");
  const Built rope = built_of(Slot::kRotate, "rope", "dim=8");
  const Built shaw = built_of(Slot::kRelate, "shaw", "dim=8 clip=5 seed=3");
  const Bias* bias[] = {&alibi.as<Bias>()};
  const Rotate* rotate[] = {&rope.as<Rotate>()};
  const Relate* relate[] = {&shaw.as<Relate>()};
  for (const double cap : {0.0, 0.75}) {
    AttentionCase from = make_case({1, 2, 1, 19, 40, 8, 8}, 65);
    from.query_positions = run_of(21, 19);
    from.call.causal = true;
    from.call.softcap = cap;
    from.call.bias = bias, from.call.rotate = rotate, from.call.relate = relate;
    Float64Case test(from);
    REQUIRE(test.run(true).ok());
    const std::vector<double> out = test.out, weights = test.weights;
    REQUIRE(test.run(true, true).ok());
    CHECK(test.out == out);
    CHECK(test.weights == weights);
    std::size_t faults = 0;
    for (std::size_t n = 0; n < test.scores.size(); ++n) {
      if (cap == 0) faults += test.masked[n] == 0 && test.capped[n] != test.content[n] + test.relate[n];
      faults += test.scores[n] != (test.masked[n] ? -kInfinity : test.capped[n] + test.bias[n]);
      faults += test.masked[n] != (n % 40 > 21 + n / 40 % 19 ? 1 : 0);
      const bool same_place = n % 40 == 21 + n / 40 % 19;
      faults += !(std::abs(test.content[n]) < 100) || (!same_place && test.content[n] == test.unrotated[n]);
    }
    CHECK(faults == 0);
  }
}

TEST_CASE("float64: biases") {
  AttentionCase test = make_case({1, 3, 1, 30, 140, 4, 4}, 66);
  const auto with = [&](const char* name, const std::string& options, auto formula) {
    const Built built = built_of(Slot::kBias, name, options);
    const Bias* list[] = {&built.as<Bias>()};
    test.call.bias = list;
    Meaning meaning;
    meaning.bias = formula;
    check(test, meaning);
    test.call.bias = {};
    return 0;
  };
  for (const bool fractions : {false, true}) {
    test.query_positions = run_of(90, 30), test.key_positions = run_of(0, 140);
    if (fractions) {
      for (double& p : test.query_positions) p = 0.731 * p + 0.25;
      for (double& p : test.key_positions) p *= 0.731;
    }
    with("alibi", "heads=3 slopes=0.5,0.3,0.017", [&](std::size_t h, std::size_t i, std::size_t j) {
      return -(h == 0 ? 0.5 : h == 1 ? 0.3 : 0.017) * distance(test, i, j);
    });
    with("kerple", "heads=3 kind=log r1=0.3,0.7,1.1 r2=0.7", [&](std::size_t h, std::size_t i, std::size_t j) {
      return -(h == 0 ? 0.3 : h == 1 ? 0.7 : 1.1) * std::log1p(0.7 * distance(test, i, j));
    });
    with("kerple", "heads=3 kind=power r1=0.3 r2=0.7,1.3,0.1", [&](std::size_t h, std::size_t i, std::size_t j) {
      return -0.3 * std::pow(distance(test, i, j), h == 0 ? 0.7 : h == 1 ? 1.3 : 0.1);
    });
    with("distance", "heads=3 tau=7.3", [&](std::size_t, std::size_t i, std::size_t j) {
      return -std::log1p(std::pow(distance(test, i, j) / 7.3, 2));
    });
    with("sandwich", "heads=3 dim=6 base=50", [&](std::size_t h, std::size_t i, std::size_t j) {
      double sum = 0;
      for (int m = 1; m <= 3; ++m) sum += std::cos(distance(test, i, j) * std::pow(50.0, -m / 3.0)) - 1;
      return sum * 3 / (8 * (static_cast<double>(h) + 1));
    });
    const Built fire = built_of(Slot::kBias, "fire",
                                "heads=3 hidden=5 c=0.3 threshold=80 w1=random:1 b1=random:2 w2=random:3 b2=random:4");
    const auto table = [&](const char* name, std::size_t n) {
      return static_cast<double>(fire.spec->table(name).floats[n]);
    };
    with("fire", fire.text, [&](std::size_t h, std::size_t i, std::size_t j) {
      const double longest = std::max(80.0, test.query_positions[i]);
      const double x = std::log1p(0.3 * distance(test, i, j)) / std::log1p(0.3 * longest);
      double sum = table("b2", h);
      for (std::size_t n = 0; n < 5; ++n) {
        sum += table("w2", 5 * h + n) * std::max(0.0, table("w1", n) * x + table("b1", n));
      }
      return sum;
    });
  }
  test.query_positions = run_of(90, 30), test.key_positions = run_of(0, 140);
  const Built toeplitz = build(*find(Slot::kBias, "toeplitz"), "values=random:5");
  REQUIRE(toeplitz.spec->table("values").shape[0] == 140);  // heads are a free length in tests
  AttentionCase many = make_case({1, 140, 1, 5, 60, 2, 2}, 67);
  const Bias* list[] = {&toeplitz.as<Bias>()};
  many.call.bias = list;
  Meaning meaning;
  const std::size_t columns = toeplitz.spec->table("values").shape[1];
  meaning.bias = [&](std::size_t h, std::size_t i, std::size_t j) {
    return static_cast<double>(toeplitz.spec->table("values").floats[h * columns + j + columns / 2 - i]);
  };
  check(many, meaning);
}

TEST_CASE("float64: relations") {
  AttentionCase test = make_case({1, 2, 1, 30, 140, 6, 5}, 68);
  test.query_positions = run_of(90, 30);
  const auto with = [&](const Built& built, const Meaning& meaning) {
    const Relate* list[] = {&built.as<Relate>()};
    test.call.relate = list;
    check(test, meaning);
    test.call.relate = {};
  };
  using Matrices = Matrix(std::size_t, const Matrix&, const Matrix&, const Matrix&, const Matrix&);
  const auto pairs = [&](auto term) -> std::function<Matrices> {
    return [&test, term](std::size_t h, const Matrix& q, const Matrix& k, const Matrix&, const Matrix&) {
      Matrix r(q.rows(), k.rows());
      for (Eigen::Index i = 0; i < r.rows(); ++i) {
        for (Eigen::Index j = 0; j < r.cols(); ++j) {
          const double t = test.query_positions[static_cast<std::size_t>(i)] -
                           test.key_positions[static_cast<std::size_t>(j)];
          r(i, j) = 0.375 * term(h, Vector(q.row(i)), Vector(k.row(j)), t);
        }
      }
      return r;
    };
  };
  const auto row = [](const Built& built, const char* name, std::size_t row) {
    const Table& table = built.spec->table(name);
    const std::size_t width = table.shape[table.rank - 1];
    Vector x(at(width));
    for (std::size_t c = 0; c < width; ++c) x(at(c)) = static_cast<double>(table.floats[row * width + c]);
    return x;
  };

  const Built shaw = built_of(Slot::kRelate, "shaw", "dim=6 valueDim=5 clip=4 keys=random:1 values=random:2");
  const auto clipped = [](double t) { return static_cast<std::size_t>(std::clamp(-t, -4.0, 4.0) + 4); };
  Meaning meaning;
  meaning.relate = pairs([&](std::size_t, const Vector& q, const Vector&, double t) {
    return q.dot(row(shaw, "keys", clipped(t)));
  });
  meaning.value_relation = [&](std::size_t, std::size_t i, std::size_t j) {
    return row(shaw, "values", clipped(test.query_positions[i] - test.key_positions[j]));
  };
  with(shaw, meaning);

  const Built deberta = built_of(Slot::kRelate, "deberta", "heads=2 dim=6 span=7 keys=random:1 queries=random:2");
  meaning = {};
  meaning.relate = pairs([&](std::size_t h, const Vector& q, const Vector& k, double t) {
    const auto delta = [&](double n) { return 14 * h + static_cast<std::size_t>(std::clamp(n + 7, 0.0, 13.0)); };
    return q.dot(row(deberta, "keys", delta(t))) + k.dot(row(deberta, "queries", delta(-t)));
  });
  with(deberta, meaning);

  for (const double step : {1.0, 0.731}) {
    for (double& p : test.query_positions) p *= step;
    for (double& p : test.key_positions) p *= step;
    const Built xl = built_of(Slot::kRelate, "transformerXL",
                              "heads=2 dim=6 base=70 u=random:1 v=random:2 wr=random:3");
    const Table& wr = xl.spec->table("wr");
    meaning.relate = pairs([&](std::size_t h, const Vector& q, const Vector& k, double t) {
      Vector met = Vector::Zero(6);
      for (std::size_t m = 0; m < wr.shape[0]; ++m) {
        const double pair = static_cast<double>(m % (wr.shape[0] / 2));
        const double angle = t * std::pow(70.0, -2 * pair / static_cast<double>(wr.shape[0]));
        for (std::size_t c = 0; c < 6; ++c) {
          met(at(c)) += (m < wr.shape[0] / 2 ? std::sin(angle) : std::cos(angle)) *
                        static_cast<double>(wr.floats[m * 12 + 6 * h + c]);
        }
      }
      return row(xl, "u", h).dot(k) + (q + row(xl, "v", h)).dot(met);
    });
    with(xl, meaning);
  }

  test.query_positions = run_of(90, 30), test.key_positions = run_of(0, 140);
  test.call.causal = true;
  const Built cope = built_of(Slot::kRelate, "cope", "dim=6 maxPosition=9 table=random:1");
  meaning.relate = [&](std::size_t, const Matrix& q, const Matrix& k, const Matrix& content, const Matrix& visible) {
    Matrix r = Matrix::Zero(q.rows(), k.rows());
    for (Eigen::Index i = 0; i < r.rows(); ++i) {
      double count = 0;
      for (Eigen::Index j = r.cols(); j-- > 0;) {
        if (visible(i, j) == 0) continue;
        count += 1 / (1 + std::exp(-content(i, j)));
        const double place = std::min(count, 8.0), low = std::floor(place);
        const Vector e = (1 - (place - low)) * row(cope, "table", static_cast<std::size_t>(low)) +
                         (place - low) * row(cope, "table", static_cast<std::size_t>(std::min(low + 1, 8.0)));
        r(i, j) = q.row(i).dot(e);
      }
    }
    return r;
  };
  with(cope, meaning);
}

TEST_CASE("float64: rotations") {
  AttentionCase test = make_case({1, 2, 2, 30, 140, 8, 5}, 69);
  test.query_positions = run_of(90, 30);
  const auto with = [&](const char* name, const std::string& options, auto turned, double tolerance) {
    const Built built = built_of(Slot::kRotate, name, options);
    const Rotate* list[] = {&built.as<Rotate>()};
    test.call.rotate = list;
    Meaning meaning;
    meaning.rotate = [&](bool key_side, std::size_t, std::size_t t, const Vector& x) {
      return turned(key_side, key_side ? test.key_positions[t] : test.query_positions[t], x);
    };
    check(test, meaning, tolerance);
    test.call.rotate = {};
  };
  const auto turn = [](const Vector& x, std::size_t a, std::size_t b, double angle, double factor, Vector& y) {
    y(at(a)) = factor * (x(at(a)) * std::cos(angle) - x(at(b)) * std::sin(angle));
    y(at(b)) = factor * (x(at(a)) * std::sin(angle) + x(at(b)) * std::cos(angle));
  };
  with("rope", "dim=8 base=100 layout=half rotaryDim=6", [&](bool, double p, const Vector& x) {
    Vector y = x;
    for (std::size_t n = 0; n < 3; ++n) turn(x, n, n + 3, p * std::pow(100.0, -static_cast<double>(n) / 3), 1, y);
    return y;
  }, 1e-13);
  // About the middle of a block of keys here, about 0 there.
  with("xpos", "dim=8 base=100 scaleBase=50", [&](bool key_side, double p, const Vector& x) {
    Vector y = x;
    for (std::size_t n = 0; n < 4; ++n) {
      const double zeta = (2 * static_cast<double>(n) + 3.2) / 11.2;
      turn(x, 2 * n, 2 * n + 1, p * std::pow(100.0, -static_cast<double>(n) / 4),
           std::pow(zeta, (key_side ? -p : p) / 50), y);
    }
    return y;
  }, 1e-12);
  with("queryScale", "law=logn trainLength=95", [&](bool key_side, double p, const Vector& x) {
    return Vector(x * (key_side ? 1 : std::max(1.0, std::log(p + 1) / std::log(95.0))));
  }, 1e-13);
}

TEST_CASE("float64: a relation that does not say its terms is unsupported, by name where it has one") {
  GateRelation gates(std::vector<float>(3 * 4, 0.5f), 3, 4);
  const Relate* list[] = {&gates};
  AttentionCase from = make_case({1, 1, 1, 5, 5, 4, 4}, 70);
  from.call.causal = true;
  from.call.relate = list;
  Float64Case test(from);
  CHECK(test.run().code == Code::kUnsupported);
  CHECK(test.differentiate().code == Code::kUnsupported);
}
