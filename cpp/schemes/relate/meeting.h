// One query and all its keys, in double: what a relate scheme is asked about off the fast path.
#pragma once

#include "schemes/scheme.h"
#include "schemes/weights.h"

namespace posenc {

// A scheme says what each pair is made of in the words add() and mix(). They are read four times over, forwards for the
// scores and the outputs and backwards for the gradients of both, so the mathematics is written once and knows nothing
// of gradients. A word counts in its own reading only.
class Meeting {
 public:
  enum class Reading { kScores, kOutput, kOutputBack, kScoresBack };

  // A vector that words are made of, and where its gradient goes (null: it has none). One of x and table is set.
  struct Vector {
    const double* x = nullptr;
    const float* table = nullptr;
    double* gradient = nullptr;
    double at(std::size_t c) const { return x != nullptr ? x[c] : static_cast<double>(table[c]); }
  };

  // Key - query along an axis.
  double offset(std::size_t j, int axis = 0) const {
    return key_positions[static_cast<std::size_t>(axis) * keys + j] - query_positions[axis];
  }
  Vector query() const { return {q, nullptr, dq}; }  // (d), raw
  Vector key(std::size_t j) const { return {k + j * d, nullptr, dk == nullptr ? nullptr : dk + j * d}; }
  // Row `row` along the last axis; of this head's table where each head has its own.
  Vector row(const Weights& table, std::size_t row) const;

  // The score of pair j += factor <a, b>, vectors of d numbers; returns <a, b>.
  double add(std::size_t j, double factor, const Vector& a, const Vector& b);
  // The output += the pair's weight times a, which has value_width numbers.
  void mix(std::size_t j, const Vector& a);
  bool scoring() const { return reading == Reading::kScores || reading == Reading::kScoresBack; }
  // What the derivative of the score of pair j is multiplied by: for factors that are no constants.
  double upstream(std::size_t j) const { return reading == Reading::kScoresBack ? r[j] : 0; }

  Reading reading = Reading::kScores;
  int head = 0;
  std::size_t keys = 0, d = 0, value_width = 0;
  double scale = 1;
  const double* query_positions = nullptr;  // (axes)
  const double* key_positions = nullptr;    // (axes, Tk)
  const double* q = nullptr;                // (d), raw
  const double* k = nullptr;                // (Tk, d), raw
  const double* content = nullptr;          // (Tk): scaled content scores, 0 where masked
  const std::uint8_t* visible = nullptr;    // (Tk)
  const std::uint8_t* wanted = nullptr;     // (Tk): pairs that are computed, all visible ones among them
  double* r = nullptr;                      // (Tk): scores; read backwards their gradient
  double* weights = nullptr;                // (Tk): read backwards their gradient is added to weight_gradient
  double* output = nullptr;                 // (dv); read backwards its gradient
  double* weight_gradient = nullptr;        // (Tk)
  double* content_gradient = nullptr;       // (Tk), beside what passes through the score
  double* dq = nullptr;                     // (d)
  double* dk = nullptr;                     // (Tk, d)
  Gradients* gradients = nullptr;           // of the scheme
};

}  // namespace posenc
