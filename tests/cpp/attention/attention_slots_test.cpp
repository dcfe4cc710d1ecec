// attention() with schemes in its slots, against the oracle: each test scheme leans on another part of the interfaces.
#include <catch2/catch.hpp>
#include <limits>

#include "attention/attention.h"
#include "support/attention_case.h"
#include "support/schemes_for_attention.h"

using namespace posenc_test;
using posenc::Bias;
using posenc::Relate;
using posenc::Rotate;

namespace {

Eigen::Index at(std::size_t n) { return static_cast<Eigen::Index>(n); }

std::size_t count_trace_faults(const AttentionCase& test) {
  std::size_t faults = 0;
  for (std::size_t n = 0; n < test.cells(); ++n) {
    const float sum = (test.content[n] + test.relate[n]) + test.bias[n];
    faults += test.masked[n] != 0 ? test.scores[n] != -std::numeric_limits<float>::infinity() : test.scores[n] != sum;
  }
  return faults;
}

// The result has the same bits with and without weights and trace, and the trace adds up.
void check_trace(AttentionCase& test) {
  REQUIRE(test.run().ok());
  const std::vector<float> out = test.out, lse = test.lse;
  REQUIRE(test.run(true).ok());
  CHECK(same_bits(out, test.out));
  REQUIRE(test.run(true, true).ok());
  CHECK(same_bits(out, test.out));
  CHECK(same_bits(lse, test.lse));
  CHECK(count_trace_faults(test) == 0);
}

}  // namespace

TEST_CASE("bias: added per head, and summed over a list") {
  DistanceBias distance;
  distance.head_count = 4;
  const Bias* one[] = {&distance};
  const Bias* two[] = {&distance, &distance};
  for (const bool causal : {false, true}) {
    AttentionCase test({2, 4, 2, 45, 140, 8, 8}, 3);
    test.call.causal = causal;
    test.query_positions = run_of(95, 45);
    const auto offset = [&](std::size_t i, std::size_t j) { return test.key_positions[j] - test.query_positions[i]; };
    Meaning meaning;
    meaning.bias = [&](std::size_t h, std::size_t i, std::size_t j) { return DistanceBias::at(h, offset(i, j)); };
    test.call.bias = one;
    test.check(meaning);
    check_trace(test);
    meaning.bias = [&](std::size_t h, std::size_t i, std::size_t j) { return 2 * DistanceBias::at(h, offset(i, j)); };
    test.call.bias = two;
    test.check(meaning);
    check_trace(test);
  }
}

TEST_CASE("several axes reach a scheme of several axes, and one axis is broadcast") {
  DistanceBias distance;
  distance.axis_count = 2;
  const Bias* list[] = {&distance};
  AttentionCase test({1, 2, 2, 12, 12, 4, 4}, 3);
  for (int axis = 0; axis < 2; ++axis) {
    for (std::size_t t = 0; t < 12; ++t) test.query_positions.push_back(static_cast<double>(axis == 0 ? t / 4 : t % 4));
  }
  test.key_positions = test.query_positions;
  test.call.bias = list;
  Meaning meaning;
  meaning.bias = [&](std::size_t h, std::size_t i, std::size_t j) {
    return DistanceBias::at(h, std::abs(test.key_positions[j] - test.query_positions[i]) +
                                   std::abs(test.key_positions[12 + j] - test.query_positions[12 + i]));
  };
  test.check(meaning);
  SECTION("causal order of several axes is the index") {
    test.call.causal = true;
    test.query_order = run_of(0, 12), test.key_order = run_of(0, 12);
    test.check(meaning);
    const std::vector<float> with_orders = test.out;
    test.query_order.clear(), test.key_order.clear();
    REQUIRE(test.run().ok());
    CHECK(same_bits(with_orders, test.out));
  }
  SECTION("broadcast") {
    test.query_positions = run_of(0, 12), test.key_positions = run_of(5, 12);
    meaning.bias = [&](std::size_t h, std::size_t i, std::size_t j) {
      return DistanceBias::at(h, 2 * std::abs(test.key_positions[j] - test.query_positions[i]));
    };
    test.check(meaning);
  }
}

TEST_CASE("rotate: queries and keys differ, lists compose from left to right") {
  const PoweredTurn turn(8, 512, false);
  const ChannelFactor factor(8, 0.25, -0.125);
  const Rotate* turned[] = {&turn};
  const Rotate* turn_first[] = {&turn, &factor};
  const Rotate* factor_first[] = {&factor, &turn};
  AttentionCase test({2, 4, 2, 33, 150, 8, 5}, 12);
  test.query_positions = run_of(117, 33);
  const auto position = [&](bool key_side, std::size_t t) {
    return key_side ? test.key_positions[t] : test.query_positions[t];
  };
  const auto turn_row = [&](bool key_side, std::size_t t, const Vector& x) {
    Vector y(8);
    turn.turn(key_side, position(key_side, t), 0.0, x.data(), y.data());
    return y;
  };
  const auto factor_row = [&](bool key_side, const Vector& x) {
    Vector y = x;
    for (std::size_t c = 0; c < 8; ++c) y(at(c)) *= factor.factor(key_side, c);
    return y;
  };
  Meaning meaning;
  test.call.rotate = turned;
  meaning.rotate = [&](bool key_side, std::size_t, std::size_t t, const Vector& x) { return turn_row(key_side, t, x); };
  test.check(meaning);
  check_trace(test);
  CHECK_FALSE(same_bits(test.content, test.unrotated));
  test.call.rotate = turn_first;
  meaning.rotate = [&](bool key_side, std::size_t, std::size_t t, const Vector& x) {
    return factor_row(key_side, turn_row(key_side, t, x));
  };
  test.check(meaning);
  test.call.rotate = factor_first;
  meaning.rotate = [&](bool key_side, std::size_t, std::size_t t, const Vector& x) {
    return turn_row(key_side, t, factor_row(key_side, x));
  };
  test.check(meaning);
}

TEST_CASE("rotate: powers far from zero are taken about the keys") {
  // At position 2e5 the powers of one side are near 1e-300 and 1e300: about zero they are lost, about the tile they are
  // of order one.
  const PoweredTurn local(8, 512, true), fixed(8, 512, false);
  AttentionCase test({1, 2, 1, 60, 300, 8, 8}, 4);
  test.call.causal = true;
  test.key_positions = run_of(200000, 300);
  test.query_positions = run_of(200240, 60);
  Meaning meaning;
  meaning.rotate = [&](bool key_side, std::size_t, std::size_t t, const Vector& x) {
    Vector y(8);
    local.turn(key_side, key_side ? test.key_positions[t] : test.query_positions[t], 200150.0, x.data(), y.data());
    return y;
  };
  const Rotate* list[] = {&local};
  test.call.rotate = list;
  test.check(meaning);
  check_trace(test);
  const Rotate* lost[] = {&fixed};
  test.call.rotate = lost;
  CHECK_FALSE(test.run().ok());
}

TEST_CASE("xpos-002: scores do not depend on the origin") {
  const PoweredTurn turn(8, 512, true);
  const Rotate* list[] = {&turn};
  AttentionCase test({1, 1, 1, 3, 2, 8, 2}, 0);
  const float q[] = {0.3f, -1.2f, 0.7f, 0.5f, 1.1f, -0.4f, 0.9f, 0.2f};
  const float k[] = {-0.6f, 0.8f, 0.1f, 1.0f, -0.3f, 0.5f, 0.4f, -1.1f};
  for (std::size_t c = 0; c < 8; ++c) {
    for (std::size_t i = 0; i < 3; ++i) test.q[8 * i + c] = q[c];
    test.k[c] = test.k[8 + c] = k[c];
  }
  test.query_positions = {5, 300, 600};
  test.key_positions = {2, 302};
  test.call.rotate = list;
  test.call.scale = 1;
  REQUIRE(test.run(false, true).ok());
  CHECK(std::abs(test.scores[0] - 1.407525707) < 2e-6);
  CHECK(std::abs(test.scores[2] - 0.2590610063) < 2e-6);
  CHECK(std::abs(test.scores[5] - 0.2590610063) < 2e-6);
}

TEST_CASE("relate: gates on content, from the last key to the first") {
  const std::size_t rows = 12, d = 6;
  const std::vector<float> table = Numbers(8).floats(rows * d);
  const GateRelation gates(table, rows, d);
  const Relate* list[] = {&gates};
  AttentionCase test({2, 2, 1, 50, 290, d, 4}, 6);
  test.call.causal = true;
  test.query_positions = run_of(240, 50);
  test.key_lengths = {290, 270};
  test.call.relate = list;
  Meaning meaning;
  meaning.relate = [&](std::size_t, const Matrix& q, const Matrix&, const Matrix& content, const Matrix& visible) {
    Matrix relate = Matrix::Zero(content.rows(), content.cols());
    for (Eigen::Index i = 0; i < content.rows(); ++i) {
      double position = 0;
      for (Eigen::Index j = content.cols() - 1; j >= 0; --j) {
        if (visible(i, j) == 0) continue;
        position += 1 / (1 + std::exp(-content(i, j)));
        const double p = std::min(position, static_cast<double>(rows - 1));
        const std::size_t low = static_cast<std::size_t>(p), high = std::min(low + 1, rows - 1);
        for (std::size_t c = 0; c < d; ++c) {
          const double part = p - static_cast<double>(low);
          relate(i, j) += q(i, at(c)) * ((1 - part) * table[low * d + c] + part * table[high * d + c]);
        }
      }
    }
    return relate;
  };
  test.check(meaning);
  check_trace(test);
  SECTION("a row is the same alone") {
    AttentionCase alone({1, 1, 1, 1, 290, d, 4}, 0);
    alone.q.assign(test.q.begin() + 7 * d, test.q.begin() + 8 * d);
    alone.k.assign(test.k.begin(), test.k.begin() + 290 * d);
    alone.v.assign(test.v.begin(), test.v.begin() + 290 * 4);
    alone.call.causal = true;
    alone.query_positions = {247};
    alone.call.relate = list;
    REQUIRE(alone.run().ok());
    CHECK(std::memcmp(alone.out.data(), test.out.data() + 7 * 4, 4 * sizeof(float)) == 0);
  }
  SECTION("refused where it may see the future") {
    test.call.causal = false;
    const posenc::Status status = test.run();
    CHECK(status.code == posenc::Code::kUnsupported);
    CHECK(status.message() == "attention: causal must be true for this relate scheme, got false");
  }
}

TEST_CASE("cope-001") {
  // Channels 0-3 make the logits [2, -1, 0, 1] of row 3, channels 4-6 the products q . e[p] = [0, 1, 4].
  std::vector<float> table(3 * 7, 0.0f);
  for (std::size_t p = 0; p < 3; ++p) table[p * 7 + 4 + p] = 1;
  const GateRelation gates(table, 3, 7);
  const Relate* list[] = {&gates};
  AttentionCase test({1, 1, 1, 1, 4, 7, 2}, 0);
  test.q = {2, -1, 0, 1, 0, 1, 4};
  test.k.assign(4 * 7, 0.0f);
  for (std::size_t j = 0; j < 4; ++j) test.k[j * 7 + j] = 1;
  test.query_positions = {3};
  test.call.scale = 1;
  test.call.causal = true;
  test.call.relate = list;
  REQUIRE(test.run(false, true).ok());
  const double expected[] = {4.0, 2.5, 1.693175736, 0.7310585786};
  for (std::size_t j = 0; j < 4; ++j) CHECK(std::abs(test.relate[j] - expected[j]) < 1e-6);
}

TEST_CASE("relate: a term that meets the keys alone (txl-003)") {
  const KeyTermRelation relation({0.5f, 0.5f}, {-0.5f, 0.25f}, {1.0});
  const Relate* list[] = {&relation};
  AttentionCase test({1, 1, 1, 3, 3, 2, 2}, 0);
  for (std::size_t t = 0; t < 3; ++t) {
    test.q[2 * t] = 1, test.q[2 * t + 1] = static_cast<float>(t);
    test.k[2 * t] = static_cast<float>(t), test.k[2 * t + 1] = 1;
  }
  test.call.causal = true;
  test.call.relate = list;
  REQUIRE(test.run(false, true).ok());
  const double expected[3][3] = {
      {0.5303300859, 0, 0}, {1.835729372, 3.00520382, 0}, {1.427166579, 3.985547749, 5.480077554}};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      if (j > i) {
        CHECK(test.masked[3 * i + j] == 1);
      } else {
        CHECK(std::abs(test.scores[3 * i + j] - expected[i][j]) < 2e-6);
      }
    }
  }
}

TEST_CASE("relate: both sides and several at once, on several heads") {
  const std::size_t d = 6, dv = 5, heads = 4;
  const std::vector<float> keys = Numbers(1).floats(9 * d), values = Numbers(2).floats(9 * dv);
  const std::vector<float> u = Numbers(3).floats(heads * d), w = Numbers(4).floats(heads * d);
  std::vector<float> large_values = values;
  for (float& value : large_values) value *= 1e37f;
  const std::vector<float>* value_table = &values;
  const ClippedRelation clipped(4, keys, values, dv);
  const KeyTermRelation terms(u, w, {1.0, 0.25, 0.0625});
  AttentionCase test({2, heads, 2, 41, 141, d, dv}, 15);
  test.query_positions = run_of(100, 41);
  test.call.causal = true;
  const auto offset = [&](Eigen::Index i, Eigen::Index j) {
    return test.key_positions[static_cast<std::size_t>(j)] - test.query_positions[static_cast<std::size_t>(i)];
  };
  const auto clipped_term = [&](const Matrix& q) {
    Matrix relate(q.rows(), 141);
    for (Eigen::Index i = 0; i < relate.rows(); ++i) {
      for (Eigen::Index j = 0; j < relate.cols(); ++j) {
        double sum = 0;
        for (std::size_t c = 0; c < d; ++c) {
          sum += q(i, at(c)) * keys[static_cast<std::size_t>(clipped.row(offset(i, j))) * d + c];
        }
        relate(i, j) = sum * static_cast<float>(test.call.scale);
      }
    }
    return relate;
  };
  const auto key_term = [&](std::size_t h, const Matrix& q, const Matrix& k) {
    const double frequencies[] = {1.0, 0.25, 0.0625};
    Matrix relate(q.rows(), k.rows());
    for (Eigen::Index i = 0; i < relate.rows(); ++i) {
      for (Eigen::Index j = 0; j < relate.cols(); ++j) {
        double sum = 0;
        for (std::size_t c = 0; c < d; ++c) {
          const double angle = -offset(i, j) * frequencies[c % 3];
          sum +=
              u[h * d + c] * k(j, at(c)) + (q(i, at(c)) + w[h * d + c]) * (c < 3 ? std::sin(angle) : std::cos(angle));
        }
        relate(i, j) = sum * static_cast<float>(test.call.scale);
      }
    }
    return relate;
  };
  Meaning meaning;
  meaning.value_relation = [&](std::size_t, std::size_t i, std::size_t j) {
    Vector a(static_cast<Eigen::Index>(dv));
    for (std::size_t c = 0; c < dv; ++c) {
      a(at(c)) = (*value_table)[static_cast<std::size_t>(clipped.row(offset(at(i), at(j)))) * dv + c];
    }
    return a;
  };
  SECTION("Shaw's alone") {
    const Relate* list[] = {&clipped};
    test.call.relate = list;
    meaning.relate = [&](std::size_t, const Matrix& q, const Matrix&, const Matrix&, const Matrix&) {
      return clipped_term(q);
    };
    test.check(meaning);
    check_trace(test);
  }
  SECTION("with values so large that they are taken smaller") {
    for (float& value : test.v) value *= 8e37f;
    // Relations of the same size, so that a relation which is not taken smaller shows.
    const ClippedRelation large(4, keys, large_values, dv);
    const Relate* large_list[] = {&large};
    test.call.relate = large_list;
    value_table = &large_values;
    meaning.relate = [&](std::size_t, const Matrix& q, const Matrix&, const Matrix&, const Matrix&) {
      return clipped_term(q);
    };
    test.check(meaning);
  }
  SECTION("both") {
    const Relate* list[] = {&clipped, &terms};
    test.call.relate = list;
    meaning.relate = [&](std::size_t h, const Matrix& q, const Matrix& k, const Matrix&, const Matrix&) {
      return Matrix(clipped_term(q) + key_term(h, q, k));
    };
    test.check(meaning);
    check_trace(test);
  }
  SECTION("beside a bias and a rotation") {
    const Relate* list[] = {&clipped, &terms};
    const DistanceBias distance;
    const Bias* biases[] = {&distance};
    const PoweredTurn turn(d, 512, true);
    const Rotate* rotations[] = {&turn};
    test.call.relate = list, test.call.bias = biases, test.call.rotate = rotations;
    meaning.relate = [&](std::size_t h, const Matrix& q, const Matrix& k, const Matrix&, const Matrix&) {
      return Matrix(clipped_term(q) + key_term(h, q, k));
    };
    meaning.bias = [&](std::size_t h, std::size_t i, std::size_t j) {
      return DistanceBias::at(h, offset(at(i), at(j)));
    };
    meaning.rotate = [&](bool key_side, std::size_t, std::size_t t, const Vector& x) {
      Vector y = x;
      turn.turn(key_side, key_side ? test.key_positions[t] : test.query_positions[t], 0.0, x.data(), y.data());
      return y;
    };
    test.check(meaning);
    check_trace(test);
  }
}

TEST_CASE("relate: content that is masked is zero, whatever the key holds") {
  // Gates that multiply by `visible` would let NaN through: 0 * NaN.
  const GateRelation gates(Numbers(8).floats(5 * 6), 5, 6);
  const Relate* list[] = {&gates};
  AttentionCase clean({1, 1, 1, 20, 150, 6, 4}, 6);
  clean.call.causal = clean.call.allow_non_finite = true;
  clean.query_positions = run_of(120, 20);
  clean.call.relate = list;
  AttentionCase test = clean;
  test.k[145 * 6 + 2] = std::numeric_limits<float>::quiet_NaN();
  test.v[145 * 4 + 1] = std::numeric_limits<float>::infinity();
  REQUIRE(clean.run().ok());
  REQUIRE(test.run().ok());
  CHECK(same_bits(clean.out, test.out));
}

TEST_CASE("schemes must fit the operands") {
  AttentionCase test({1, 4, 2, 3, 3, 8, 8}, 0);
  DistanceBias distance;
  const Bias* biases[] = {&distance};
  test.call.bias = biases;
  distance.head_count = 12;
  CHECK(test.run().message() == "attention: bias must be a scheme for 4 heads, as q has, got one for 12 heads");
  CHECK(test.run().code == posenc::Code::kShapeMismatch);
  distance.head_count = 4;
  CHECK(test.run().ok());

  test.query_positions = {0, 1, 2, 0, 1, 2};
  CHECK(test.run().message() == "attention: queryPositions must be of one axis for this scheme, got 2 axes");
  test.query_positions = {0, 1, 2};

  distance.whole = true;
  test.key_positions = {0, 1, 2.5};
  CHECK(test.run().code == posenc::Code::kNotInteger);
  CHECK(test.run().given == "2.5");
  test.query_positions = {0.5, 1.5, -3.5}, test.key_positions = {0.5, 7.5, -8.5};
  CHECK(test.run().ok());
  test.query_positions = {0.1, 1.1, 2.1}, test.key_positions = {0.1, 1.1, 2.1};  // whole apart in float64
  CHECK(test.run().ok());

  test.call.bias = {};
  const ClippedRelation narrow(1, std::vector<float>(3 * 8), std::vector<float>(3 * 6), 6);
  const Relate* relations[] = {&narrow};
  test.call.relate = relations;
  CHECK(test.run().code == posenc::Code::kShapeMismatch);
}
