// The call of an AttentionCase in float64, and its gradient.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <vector>

#include "attention/attention_gradient.h"
#include "support/attention_case.h"

namespace posenc_test {

class Float64Case {
 public:
  // Takes the numbers and options of `from`; what its call points to must live on.
  explicit Float64Case(AttentionCase& from)
      : shape(from.shape), q(from.q.begin(), from.q.end()), k(from.k.begin(), from.k.end()),
        v(from.v.begin(), from.v.end()), sinks(from.sinks.begin(), from.sinks.end()),
        mask_added(from.mask_added.begin(), from.mask_added.end()), mask_seen(from.mask_seen) {
    from.connect();
    static_cast<posenc::AttentionOptions&>(call) = from.call;
    std::copy(from.call.mask.shape, from.call.mask.shape + 4, call.mask.shape);
    Numbers numbers(7);
    for (std::size_t n = 0; n < from.rows() * shape.value_width; ++n) {
      d_out.push_back(static_cast<double>(numbers.unit()));
    }
  }

  posenc::Status run(bool with_weights = true, bool with_trace = false) {
    connect();
    const std::size_t rows = shape.batch * shape.heads * shape.queries, cells = rows * shape.keys;
    out.assign(rows * shape.value_width, kUnwritten), lse.assign(rows, kUnwritten);
    call.out = out.data(), call.lse = lse.data();
    if (with_weights) weights.assign(cells, kUnwritten), call.weights = weights.data();
    if (with_trace) {
      for (std::vector<double>* matrix : {&content, &unrotated, &relate, &bias, &scores, &capped}) {
        matrix->assign(cells, kUnwritten);
      }
      masked.assign(cells, 7);
      call.trace = {content.data(), unrotated.data(), relate.data(), bias.data(), scores.data(), masked.data(),
                    capped.data()};
    }
    const posenc::Status status = posenc::attention(call);
    call.out = call.lse = call.weights = nullptr, call.trace = {};
    return status;
  }

  // sum of out times d_out: what differentiate() takes the gradient of.
  double loss() {
    const posenc::Status status = run(false);
    INFO(status.message());
    REQUIRE(status.ok());
    double sum = 0;
    for (std::size_t n = 0; n < out.size(); ++n) sum += out[n] * d_out[n];
    return sum;
  }

  posenc::Status differentiate() {
    connect();
    dq.assign(q.size(), kUnwritten), dk.assign(k.size(), kUnwritten), dv.assign(v.size(), kUnwritten);
    dsinks.assign(sinks.size(), kUnwritten);
    call.d_out = d_out.data();
    call.dq = dq.data(), call.dk = dk.data(), call.dv = dv.data();
    call.dsinks = sinks.empty() ? nullptr : dsinks.data();
    return posenc::attention_gradient(call, parameters);
  }

  static constexpr double kUnwritten = 12345;

  Shape shape;
  posenc::AttentionGradientCall call;
  std::vector<double> q, k, v, sinks, mask_added, d_out;
  std::vector<std::uint8_t> mask_seen;
  std::vector<double> out, lse, weights, content, unrotated, relate, bias, scores, capped;
  std::vector<std::uint8_t> masked;
  std::vector<double> dq, dk, dv, dsinks;
  std::vector<posenc::Gradients> parameters;

 private:
  void connect() {
    call.q = q.data(), call.k = k.data(), call.v = v.data();
    call.sinks = sinks.empty() ? nullptr : sinks.data();
    call.mask.added = mask_added.empty() ? nullptr : mask_added.data();
    call.mask.seen = mask_seen.empty() ? nullptr : mask_seen.data();
  }
};

}  // namespace posenc_test
