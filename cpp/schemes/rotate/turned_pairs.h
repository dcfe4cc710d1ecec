// What schemes that turn pairs of columns share: rope, axialRope, mrope.
#pragma once

#include <vector>

#include "kernels/frequencies.h"
#include "kernels/pair_rotation.h"
#include "schemes/scheme.h"

namespace posenc {

// The pairs that one axis of positions turns, and how fast.
struct AxisPairs {
  int axis = 0;
  Frequencies::Pointer frequencies;
  std::vector<std::size_t> pairs;  // which ones, upwards; empty: all of the scheme
};

// Refuses a rotaryDim that is odd or above dim.
Status check_rotary_dim(const Spec& spec);

// Tables of cosines and sines of blocks of positions. Heads share positions, so the next head wants the same blocks.
template <class Real>
class PairTables {
 public:
  struct Block {
    double factor = 1;              // of every cell
    std::vector<double> positions;  // (parts, T)
    std::vector<Real> cos, sin;     // (T, pairs)
  };

  // Of positions first .. first + tokens - 1.
  const Block& of(std::span<const AxisPairs> parts, std::size_t pairs, double factor, const Positions& positions,
                  std::size_t first, std::size_t tokens);

 private:
  std::vector<Block> blocks_;
  std::vector<Frequencies::Pointer> frequencies_;  // what the blocks were made of
  std::size_t kept_ = 0, next_ = 0;
};

// Turns the first `2 pairs` columns by tables; what it multiplies lengths by, `factor`, is divided out by the inverse.
class TurnedPairs : public Rotate {
 public:
  int width() const override { return dim_; }

  Status apply(const RotateCall& call, const Positions& positions, const float* x, std::size_t x_stride, float* y,
               std::size_t y_stride) const override;
  Status apply(const RotateCall& call, const Positions& positions, const double* x, std::size_t x_stride, double* y,
               std::size_t y_stride) const override;
  Status frequencies(double length, FrequencyReport& report) const override;

 protected:
  // Puts what is in force for a sequence of `length` tokens into parts and factor.
  virtual void at(double length, std::span<const AxisPairs>& parts, double& factor) const {
    (void)length;
    parts = parts_;
    factor = 1;
  }

  int dim_ = 0;
  std::size_t pairs_ = 0;
  double base_ = kNone;  // for the report
  PairLayout layout_ = PairLayout::kInterleaved;
  mutable std::vector<AxisPairs> parts_;

 private:
  template <class Real>
  Status turn(const RotateCall& call, const Positions& positions, const Real* x, std::size_t x_stride, Real* y,
              std::size_t y_stride, PairTables<Real>& tables) const;

  mutable PairTables<float> float_tables_;
  mutable PairTables<double> double_tables_;
};

}  // namespace posenc
