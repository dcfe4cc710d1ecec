// Attention in double, straight from the equations: whole n x n matrices, one head at a time, nothing clever.
//   s_ij = cap tanh((<q_i, k_j> scale + relate_ij) / cap) + bias_ij + mask_ij where visible and mask_ij > -inf;
//   w_ij = e^s_ij / (e^sink + sum_j e^s_ij);  o_i = sum_j w_ij (v_j + a_ij)
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <functional>
#include <limits>

namespace posenc_test {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

struct OracleHead {
  Matrix q, k, v;  // (Tq, d) (Tk, d) (Tk, dv), q and k as the content score meets them
  double scale = 1;
  Matrix relate, bias;                                                   // (Tq, Tk); empty: none
  Matrix visible;                                                        // (Tq, Tk), 1 visible
  Matrix mask;                                                           // (Tq, Tk), added; empty: none
  double softcap = 0;                                                    // 0: none
  double sink = -std::numeric_limits<double>::infinity();                // -inf: none
  std::function<Vector(Eigen::Index i, Eigen::Index j)> value_relation;  // a^V (dv); empty: none
};

struct OracleResult {
  Matrix content, capped, scores, weights, out;
  Vector lse;
  Matrix out_tolerance, weight_tolerance;  // what float32 may differ by, from the magnitudes of the terms
};

inline OracleResult oracle(const OracleHead& head) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Eigen::Index queries = head.q.rows(), keys = head.k.rows(), width = head.v.cols();
  OracleResult r;
  r.content = head.scale * head.q * head.k.transpose();
  r.scores = r.content;
  if (head.relate.size() != 0) r.scores += head.relate;
  if (head.softcap > 0) {
    r.scores = r.scores.unaryExpr([&](double s) { return head.softcap * std::tanh(s / head.softcap); }).eval();
  }
  r.capped = r.scores;
  if (head.bias.size() != 0) r.scores += head.bias;
  Matrix visible = head.visible;
  if (head.mask.size() != 0) {
    for (Eigen::Index i = 0; i < queries; ++i) {
      for (Eigen::Index j = 0; j < keys; ++j) {
        if (head.mask(i, j) == -infinity) visible(i, j) = 0;
        else r.scores(i, j) += head.mask(i, j);
      }
    }
  }
  r.weights = Matrix::Zero(queries, keys);
  r.out = Matrix::Zero(queries, width);
  r.lse = Vector::Constant(queries, -infinity);
  r.out_tolerance = Matrix::Zero(queries, width);
  r.weight_tolerance = Matrix::Zero(queries, keys);
  // Sums of n rounded terms wander like sqrt(n); four of those, and eight for what surrounds them.
  const double unit = std::ldexp(1.0, -24);
  const double d_steps = 4 * std::sqrt(static_cast<double>(head.q.cols())) + 8;
  const double n_steps = 4 * std::sqrt(static_cast<double>(keys)) + 8;
  for (Eigen::Index i = 0; i < queries; ++i) {
    double largest = -infinity;
    for (Eigen::Index j = 0; j < keys; ++j) {
      if (visible(i, j) == 0) r.scores(i, j) = -infinity;
      largest = std::max(largest, r.scores(i, j));
    }
    if (largest == -infinity) continue;
    largest = std::max(largest, head.sink);
    double sum = std::exp(head.sink - largest), score_error = unit * std::abs(largest);
    for (Eigen::Index j = 0; j < keys; ++j) {
      if (visible(i, j) == 0) continue;
      r.weights(i, j) = std::exp(r.scores(i, j) - largest);
      sum += r.weights(i, j);
      double magnitude = std::abs(r.scores(i, j)) + std::abs(largest);
      for (Eigen::Index c = 0; c < head.q.cols(); ++c) {
        magnitude += std::abs(head.scale * head.q(i, c) * head.k(j, c)) * d_steps;
      }
      if (head.relate.size() != 0) magnitude += std::abs(head.relate(i, j)) * d_steps;
      if (head.bias.size() != 0) magnitude += std::abs(head.bias(i, j)) * 2;
      if (head.mask.size() != 0) magnitude += std::abs(head.mask(i, j)) * 2;
      if (r.weights(i, j) > 1e-12) score_error = std::max(score_error, unit * magnitude);
    }
    r.weights.row(i) /= sum;
    r.lse(i) = largest + std::log(sum);
    for (Eigen::Index j = 0; j < keys; ++j) {
      r.weight_tolerance(i, j) = r.weights(i, j) * (2 * score_error + n_steps * unit) + 1e-30;
      if (r.weights(i, j) == 0) continue;
      for (Eigen::Index c = 0; c < width; ++c) {
        double value = head.v(j, c), magnitude = std::abs(value);
        if (head.value_relation) {
          value += head.value_relation(i, j)(c);
          magnitude += std::abs(head.value_relation(i, j)(c));
        }
        r.out(i, c) += r.weights(i, j) * value;
        r.out_tolerance(i, c) += r.weights(i, j) * magnitude * (2 * score_error + n_steps * unit);
      }
    }
  }
  return r;
}

}  // namespace posenc_test
