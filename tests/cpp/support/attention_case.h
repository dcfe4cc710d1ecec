// An attention call with its arrays, and its comparison with the oracle, head by head.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "attention/attention.h"
#include "support/oracle.h"

namespace posenc_test {

// Numbers from integer arithmetic only, the same in every build: multiples of 2^-12 in [-1, 1).
class Numbers {
 public:
  explicit Numbers(std::uint32_t seed) : state_(seed * 2654435761u + 12345u) {}
  std::uint32_t next() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 8;
  }
  std::size_t below(std::size_t n) { return next() % n; }
  float unit() { return static_cast<float>(static_cast<int>(next() % 8192) - 4096) / 4096.0f; }
  std::vector<float> floats(std::size_t n, float spread = 1) {
    std::vector<float> x(n);
    for (float& value : x) value = unit() * spread;
    return x;
  }

 private:
  std::uint32_t state_;
};

inline std::vector<double> run_of(double first, std::size_t count) {
  std::vector<double> positions(count);
  for (std::size_t t = 0; t < count; ++t) positions[t] = first + static_cast<double>(t);
  return positions;
}

struct Shape {
  std::size_t batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1, width = 4, value_width = 4;
};

// What the schemes of a call mean, in double. Rotations give the row as the content score meets it.
struct Meaning {
  std::function<Vector(bool key_side, std::size_t head, std::size_t token, const Vector& row)> rotate;
  std::function<double(std::size_t head, std::size_t i, std::size_t j)> bias;
  // q (Tq, d), k (Tk, d) raw, content, visible (Tq, Tk) -> (Tq, Tk)
  std::function<Matrix(std::size_t head, const Matrix& q, const Matrix& k, const Matrix& content,
                       const Matrix& visible)>
      relate;
  std::function<Vector(std::size_t head, std::size_t i, std::size_t j)> value_relation;
};

class AttentionCase {
 public:
  AttentionCase(const Shape& shape, std::uint32_t seed, float spread = 2) : shape(shape) {
    Numbers numbers(seed);
    q = numbers.floats(shape.batch * shape.heads * shape.queries * shape.width, spread);
    k = numbers.floats(shape.batch * shape.kv_heads * shape.keys * shape.width, spread);
    v = numbers.floats(shape.batch * shape.kv_heads * shape.keys * shape.value_width, spread);
    call.scale = 1 / std::sqrt(static_cast<double>(shape.width));
  }

  // Cells of the (B, H, Tq, Tk) matrices.
  std::size_t cells() const { return shape.batch * shape.heads * shape.queries * shape.keys; }
  std::size_t rows() const { return shape.batch * shape.heads * shape.queries; }

  // Points the call to the arrays, but for the results.
  void connect() {
    call.batch = shape.batch, call.heads = shape.heads, call.kv_heads = shape.kv_heads;
    call.queries = shape.queries, call.keys = shape.keys;
    call.width = shape.width, call.value_width = shape.value_width;
    call.q = q.data(), call.k = k.data(), call.v = v.data();
    if (query_positions.empty()) query_positions = run_of(0, shape.queries);
    if (key_positions.empty()) key_positions = run_of(0, shape.keys);
    call.query_positions = {query_positions.data(), shape.queries,
                            shape.queries == 0 ? 1 : static_cast<int>(query_positions.size() / shape.queries)};
    call.key_positions = {key_positions.data(), shape.keys,
                          shape.keys == 0 ? 1 : static_cast<int>(key_positions.size() / shape.keys)};
    call.query_order = query_order.empty() ? nullptr : query_order.data();
    call.key_order = key_order.empty() ? nullptr : key_order.data();
    call.key_mask = key_mask.empty() ? nullptr : key_mask.data();
    call.key_mask_batched = key_mask.size() > shape.keys;
    call.key_lengths = key_lengths.empty() ? nullptr : key_lengths.data();
    call.mask.seen = mask_seen.empty() ? nullptr : mask_seen.data();
    call.mask.added = mask_added.empty() ? nullptr : mask_added.data();
    call.sinks = sinks.empty() ? nullptr : sinks.data();
  }

  posenc::Status run(bool with_weights = false, bool with_trace = false) {
    connect();
    out.assign(rows() * shape.value_width, kUnwritten), lse.assign(rows(), kUnwritten);
    call.out = out.data(), call.lse = lse.data();
    call.weights = nullptr, call.trace = {};
    if (with_weights) {
      weights.assign(cells(), kUnwritten);
      call.weights = weights.data();
    }
    if (with_trace) {
      for (std::vector<float>* matrix : {&content, &unrotated, &relate, &bias, &scores, &capped}) {
        matrix->assign(cells(), kUnwritten);
      }
      masked.assign(cells(), 7);
      call.trace = {content.data(), unrotated.data(), relate.data(), bias.data(), scores.data(), masked.data(),
                    capped.data()};
    }
    return posenc::attention(call);
  }

  // The mask's entry for a pair, by its shape.
  std::size_t mask_entry(std::size_t b, std::size_t h, std::size_t i, std::size_t j) const {
    const std::size_t* size = call.mask.shape;
    const std::size_t place[] = {b, h, i, j};
    std::size_t entry = 0;
    for (int axis = 0; axis < 4; ++axis) entry = entry * size[axis] + (size[axis] == 1 ? 0 : place[axis]);
    return entry;
  }

  bool visible(std::size_t b, std::size_t h, std::size_t i, std::size_t j) const {
    if (!mask_seen.empty() && mask_seen[mask_entry(b, h, i, j)] == 0) return false;
    if (!mask_added.empty() && mask_added[mask_entry(b, h, i, j)] == -std::numeric_limits<float>::infinity()) {
      return false;
    }
    if (!key_mask.empty() && key_mask[(key_mask.size() > shape.keys ? b * shape.keys : 0) + j] == 0) return false;
    if (!key_lengths.empty() && !(static_cast<double>(j) < key_lengths[b])) return false;
    if (static_cast<double>(j) < call.prefix_length) return true;
    const double qi = query_order.empty() ? query_positions[i] : query_order[i];
    const double kj = key_order.empty() ? key_positions[j] : key_order[j];
    if (call.causal && kj > qi) return false;
    return qi - kj <= call.window_left && kj - qi <= call.window_right;
  }

  OracleResult expected(std::size_t b, std::size_t h, const Meaning& meaning = {}) const {
    const std::size_t kv = h / (shape.heads / shape.kv_heads);
    OracleHead head;
    head.scale = static_cast<float>(call.scale);
    const Matrix raw_q = matrix(q, b * shape.heads + h, shape.queries, shape.width);
    const Matrix raw_k = matrix(k, b * shape.kv_heads + kv, shape.keys, shape.width);
    head.q = raw_q, head.k = raw_k;
    head.v = matrix(v, b * shape.kv_heads + kv, shape.keys, shape.value_width);
    const auto at = [](std::size_t n) { return static_cast<Eigen::Index>(n); };
    if (meaning.rotate) {
      for (std::size_t i = 0; i < shape.queries; ++i) {
        head.q.row(at(i)) = meaning.rotate(false, h, i, raw_q.row(at(i)).transpose()).transpose();
      }
      for (std::size_t j = 0; j < shape.keys; ++j) {
        head.k.row(at(j)) = meaning.rotate(true, kv, j, raw_k.row(at(j)).transpose()).transpose();
      }
    }
    head.visible = Matrix::Zero(at(shape.queries), at(shape.keys));
    for (std::size_t i = 0; i < shape.queries; ++i) {
      for (std::size_t j = 0; j < shape.keys; ++j) head.visible(at(i), at(j)) = visible(b, h, i, j);
    }
    if (!mask_added.empty()) {
      head.mask = Matrix::Zero(at(shape.queries), at(shape.keys));
      for (std::size_t i = 0; i < shape.queries; ++i) {
        for (std::size_t j = 0; j < shape.keys; ++j) head.mask(at(i), at(j)) = mask_added[mask_entry(b, h, i, j)];
      }
    }
    head.softcap = static_cast<float>(call.softcap);
    if (!sinks.empty()) head.sink = sinks[h];
    if (meaning.bias) {
      head.bias = Matrix::Zero(at(shape.queries), at(shape.keys));
      for (std::size_t i = 0; i < shape.queries; ++i) {
        for (std::size_t j = 0; j < shape.keys; ++j) head.bias(at(i), at(j)) = meaning.bias(h, i, j);
      }
    }
    if (meaning.relate) {
      const Matrix met = head.scale * head.q * head.k.transpose();
      head.relate = meaning.relate(h, raw_q, raw_k, met, head.visible);
    }
    if (meaning.value_relation) {
      head.value_relation = [&meaning, h](Eigen::Index i, Eigen::Index j) {
        return meaning.value_relation(h, static_cast<std::size_t>(i), static_cast<std::size_t>(j));
      };
    }
    return oracle(head);
  }

  // Runs and holds every number of out, lse and weights against the oracle.
  void check(const Meaning& meaning = {}) {
    const posenc::Status status = run(true);
    INFO(status.message());
    REQUIRE(status.ok());
    double worst = 0;  // as a share of the tolerance
    for (std::size_t b = 0; b < shape.batch; ++b) {
      for (std::size_t h = 0; h < shape.heads; ++h) {
        const OracleResult want = expected(b, h, meaning);
        for (std::size_t i = 0; i < shape.queries; ++i) {
          const std::size_t row = (b * shape.heads + h) * shape.queries + i;
          const Eigen::Index at = static_cast<Eigen::Index>(i);
          for (std::size_t c = 0; c < shape.value_width; ++c) {
            const Eigen::Index channel = static_cast<Eigen::Index>(c);
            const double error = std::abs(out[row * shape.value_width + c] - want.out(at, channel));
            worst = share(worst, error, want.out_tolerance(at, channel));
          }
          for (std::size_t j = 0; j < shape.keys; ++j) {
            const Eigen::Index key = static_cast<Eigen::Index>(j);
            const double error = std::abs(weights[row * shape.keys + j] - want.weights(at, key));
            worst = share(worst, error, want.weight_tolerance(at, key));
          }
          if (std::isinf(want.lse(at))) {
            CHECK(lse[row] == -std::numeric_limits<float>::infinity());
          } else {
            CHECK(lse[row] == Approx(want.lse(at)).epsilon(1e-5).margin(1e-5));
          }
        }
      }
    }
    CHECK(worst <= 1);
  }

  static constexpr float kUnwritten = 12345.0f;

  Shape shape;
  posenc::AttentionCall call;
  std::vector<float> q, k, v, out, lse, weights, content, unrotated, relate, bias, scores, capped;
  std::vector<float> mask_added, sinks;
  std::vector<std::uint8_t> masked, key_mask, mask_seen;
  std::vector<double> query_positions, key_positions, query_order, key_order, key_lengths;

 private:
  static double share(double worst, double error, double tolerance) {
    if (error == 0) return worst;
    return std::max(worst, std::isnan(error) ? std::numeric_limits<double>::infinity() : error / tolerance);
  }
  static Matrix matrix(const std::vector<float>& x, std::size_t index, std::size_t rows, std::size_t columns) {
    Matrix m(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        m(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c)) = x[(index * rows + r) * columns + c];
      }
    }
    return m;
  }
};

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

}  // namespace posenc_test
