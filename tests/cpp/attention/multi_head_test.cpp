// multi_head_attention() against matrices in double: projections, heads, biases, context, and what goes through.
#include "attention/multi_head.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "schemes/registry.h"
#include "support/attention_case.h"
#include "support/build.h"
#include "support/hashes.h"

using namespace posenc;
using namespace posenc_test;

namespace {

const float kNan = std::numeric_limits<float>::quiet_NaN();

Eigen::Index at(std::size_t n) { return static_cast<Eigen::Index>(n); }

struct Layer {
  Layer(const Shape& shape, std::size_t x_width, std::size_t context_width, std::size_t out_width, bool biases,
        std::uint32_t seed)
      : shape(shape), out_width(out_width) {
    Numbers numbers(seed);
    const bool crossed = context_width != 0;
    const std::size_t key_width = crossed ? context_width : x_width;
    const std::size_t h = shape.heads, hk = shape.kv_heads, d = shape.width, dv = shape.value_width;
    const float spread = 1 / std::sqrt(static_cast<float>(x_width));
    x = numbers.floats(shape.batch * shape.queries * x_width);
    if (crossed) context = numbers.floats(shape.batch * shape.keys * context_width);
    wq = numbers.floats(x_width * h * d, spread * 3), wk = numbers.floats(key_width * hk * d, spread * 3);
    wv = numbers.floats(key_width * hk * dv, spread * 3), wo = numbers.floats(h * dv * out_width, spread * 3);
    if (biases) {
      bq = numbers.floats(h * d), bk = numbers.floats(hk * d), bv = numbers.floats(hk * dv);
      bo = numbers.floats(out_width);
    }
    call.x_width = x_width, call.context_width = context_width, call.out_width = out_width;
    call.attention.scale = default_scale(d);
  }

  Status run(bool with_weights = false) {
    const auto data = [](const std::vector<float>& values) { return values.empty() ? nullptr : values.data(); };
    const std::size_t rows = shape.batch * shape.heads * shape.queries;
    out.assign(shape.batch * shape.queries * out_width, 99), lse.assign(rows, 99);
    weights.assign(with_weights ? rows * shape.keys : 0, 99);
    call.x = x.data(), call.context = data(context);
    call.query = {wq.data(), data(bq)}, call.key = {wk.data(), data(bk)}, call.value = {wv.data(), data(bv)};
    call.output = {wo.data(), data(bo)};
    call.out = out.data();
    AttentionCall& inner = call.attention;
    inner.batch = shape.batch, inner.heads = shape.heads, inner.kv_heads = shape.kv_heads;
    inner.queries = shape.queries, inner.keys = shape.keys;
    inner.width = shape.width, inner.value_width = shape.value_width;
    inner.lse = lse.data(), inner.weights = with_weights ? weights.data() : nullptr;
    return multi_head_attention(call);
  }

  static Matrix matrix(const std::vector<float>& values, std::size_t first, std::size_t rows, std::size_t columns) {
    Matrix m(at(rows), at(columns));
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) m(at(r), at(c)) = values[first + r * columns + c];
    }
    return m;
  }

  static Matrix projected(const Matrix& x, const std::vector<float>& w, const std::vector<float>& b) {
    const std::size_t columns = w.size() / static_cast<std::size_t>(x.cols());
    Matrix y = x * matrix(w, 0, static_cast<std::size_t>(x.cols()), columns);
    if (!b.empty()) y.rowwise() += matrix(b, 0, 1, columns).row(0);
    return y;
  }

  // The largest error of out, weights and lse against matrices in double.
  double gap() const {
    double worst = 0;
    for (std::size_t b = 0; b < shape.batch; ++b) {
      const Matrix mine = matrix(x, b * shape.queries * call.x_width, shape.queries, call.x_width);
      const Matrix theirs =
          context.empty() ? mine
                          : matrix(context, b * shape.keys * call.context_width, shape.keys, call.context_width);
      const Matrix q = projected(mine, wq, bq), k = projected(theirs, wk, bk), v = projected(theirs, wv, bv);
      Matrix joined(at(shape.queries), at(shape.heads * shape.value_width));
      for (std::size_t h = 0; h < shape.heads; ++h) {
        const std::size_t kv = h / (shape.heads / shape.kv_heads);
        OracleHead head;
        head.scale = static_cast<float>(call.attention.scale);
        head.q = q.middleCols(at(h * shape.width), at(shape.width));
        head.k = k.middleCols(at(kv * shape.width), at(shape.width));
        head.v = v.middleCols(at(kv * shape.value_width), at(shape.value_width));
        head.visible = Matrix::Ones(at(shape.queries), at(shape.keys));
        for (std::size_t i = 0; i < shape.queries && call.attention.causal; ++i) {
          for (std::size_t j = i + 1; j < shape.keys; ++j) head.visible(at(i), at(j)) = 0;
        }
        const OracleResult want = oracle(head);
        joined.middleCols(at(h * shape.value_width), at(shape.value_width)) = want.out;
        const std::size_t row = (b * shape.heads + h) * shape.queries;
        for (std::size_t i = 0; i < shape.queries; ++i) {
          worst = std::max(worst, std::abs(want.lse(at(i)) - lse[row + i]));
          for (std::size_t j = 0; j < shape.keys; ++j) {
            worst = std::max(worst, std::abs(want.weights(at(i), at(j)) - weights[(row + i) * shape.keys + j]));
          }
        }
      }
      const Matrix want = projected(joined, wo, bo);
      for (std::size_t i = 0; i < shape.queries; ++i) {
        for (std::size_t c = 0; c < out_width; ++c) {
          worst = std::max(worst, std::abs(want(at(i), at(c)) - out[(b * shape.queries + i) * out_width + c]));
        }
      }
    }
    return worst;
  }

  Shape shape;
  std::size_t out_width;
  MultiHeadCall call;
  std::vector<float> x, context, wq, wk, wv, wo, bq, bk, bv, bo, out, lse, weights;
};

}  // namespace

TEST_CASE("projected, split, attended and joined as the equations say") {
  struct {
    Shape shape;
    std::size_t x_width, context_width, out_width;
  } const cases[] = {
      {{1, 1, 1, 1, 1, 1, 1}, 1, 0, 1},        {{1, 4, 4, 9, 9, 4, 4}, 16, 0, 16}, {{2, 6, 2, 33, 33, 5, 7}, 13, 0, 11},
      {{2, 4, 1, 17, 140, 8, 6}, 24, 10, 20},  {{1, 8, 8, 12, 12, 64, 64}, 520, 0, 512},
      {{3, 2, 2, 5, 7, 3, 2}, 6, 9, 4},
  };
  std::uint32_t seed = 1;
  for (const auto& each : cases) {
    for (const bool biases : {false, true}) {
      for (const bool causal : {false, true}) {
        Layer layer(each.shape, each.x_width, each.context_width, each.out_width, biases, seed++);
        layer.call.attention.causal = causal && each.context_width == 0;
        CAPTURE(each.x_width, each.context_width, biases, causal);
        const Status status = layer.run(true);
        INFO(status.message());
        REQUIRE(status.ok());
        CHECK(layer.gap() < 3e-5);
      }
    }
  }
}

TEST_CASE("a head has the same bits alone, a batch entry too") {
  Layer all({3, 4, 2, 21, 21, 6, 5}, 12, 0, 10, true, 7);
  REQUIRE(all.run(true).ok());
  const std::size_t b = 2, h = 3, kv = 1;
  Layer one({1, 1, 1, 21, 21, 6, 5}, 12, 0, 10, true, 8);
  one.x.assign(all.x.begin() + at(b * 21 * 12), all.x.begin() + at((b + 1) * 21 * 12));
  const auto columns = [](const std::vector<float>& w, std::size_t stride, std::size_t first, std::size_t count) {
    std::vector<float> part;
    for (std::size_t row = 0; row < w.size() / stride; ++row) {
      const auto begin = w.begin() + at(row * stride + first);
      part.insert(part.end(), begin, begin + at(count));
    }
    return part;
  };
  one.wq = columns(all.wq, 24, h * 6, 6), one.bq = columns(all.bq, 24, h * 6, 6);
  one.wk = columns(all.wk, 12, kv * 6, 6), one.bk = columns(all.bk, 12, kv * 6, 6);
  one.wv = columns(all.wv, 10, kv * 5, 5), one.bv = columns(all.bv, 10, kv * 5, 5);
  REQUIRE(one.run(true).ok());
  const std::size_t row = (b * 4 + h) * 21;
  CHECK(std::equal(one.lse.begin(), one.lse.end(), all.lse.begin() + at(row)));
  CHECK(std::equal(one.weights.begin(), one.weights.end(), all.weights.begin() + at(row * 21)));
}

TEST_CASE("what a token cannot see never reaches it through the projections") {
  Layer clean({1, 2, 2, 9, 9, 4, 4}, 8, 0, 8, true, 3);
  const std::uint8_t there[] = {0, 0, 1, 1, 1, 1, 1, 1, 1};
  clean.call.attention.key_mask = there;
  clean.call.attention.causal = true;
  clean.call.attention.allow_non_finite = true;
  REQUIRE(clean.run().ok());
  // Left padding: a token that sees nothing gets the bias of the output.
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(std::equal(clean.bo.begin(), clean.bo.end(), clean.out.begin() + at(i * 8)));
  }
  Layer padded = clean;
  std::fill(padded.x.begin(), padded.x.begin() + 2 * 8, kNan);
  REQUIRE(padded.run().ok());
  CHECK(same_bits(padded.out, clean.out));
}

TEST_CASE("operands of a layer are checked by name") {
  Layer layer({2, 2, 2, 3, 3, 4, 4}, 5, 0, 6, true, 3);
  struct {
    const char* name;
    std::vector<float> Layer::*member;
  } const operands[] = {{"x", &Layer::x},   {"wq", &Layer::wq}, {"wk", &Layer::wk}, {"wv", &Layer::wv},
                        {"wo", &Layer::wo}, {"bq", &Layer::bq}, {"bk", &Layer::bk}, {"bv", &Layer::bv},
                        {"bo", &Layer::bo}};
  for (const auto& operand : operands) {
    Layer faulty = layer;
    (faulty.*operand.member).back() = kNan;
    const Status status = faulty.run();
    CHECK(status.code == Code::kNotFinite);
    CHECK(status.argument == operand.name);
  }
  Layer faulty = layer;
  faulty.x[7] = kNan;
  CHECK(faulty.run().message() == "multiHeadAttention: x must be finite numbers, got NaN at element 7");
  faulty = layer;
  faulty.wo.assign(faulty.wo.size(), 3e38f);
  faulty.wv.assign(faulty.wv.size(), 100.0f);
  CHECK(faulty.run().code == Code::kOutOfRange);
  faulty = layer;
  faulty.shape.keys = 4;
  CHECK(faulty.run().argument == "context");
}

TEST_CASE("a layer has the same bits in every build") {
  const Built rope = build(*find(Slot::kRotate, "rope"), "dim=6");
  REQUIRE(rope.status.ok());
  const Rotate* list[] = {&rope.as<Rotate>()};
  Layer layer({2, 4, 2, 37, 37, 6, 5}, 24, 0, 20, true, 11);
  layer.call.attention.causal = true;
  layer.call.attention.rotate = list;
  REQUIRE(layer.run(true).ok());
  std::vector<float> all = layer.out;
  for (const std::vector<float>* part : {&layer.lse, &layer.weights}) all.insert(all.end(), part->begin(), part->end());
  testing::check_hash("attention/multi-head", all.data(), all.size());
}
