// Schemes that exist for tests only, each leaning on one part of the interfaces that no shipped scheme may lean on yet.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "schemes/scheme.h"
#include "simd/math.h"

namespace posenc_test {

// b = -(h + 1) / 16 |key - query|
class DistanceBias : public posenc::Bias {
 public:
  int head_count = 0, axis_count = 1;
  bool whole = false;
  int heads() const override { return head_count; }
  int axes() const override { return axis_count; }
  bool whole_offsets() const override { return whole; }
  static double at(std::size_t head, double offset) { return -static_cast<double>(head + 1) / 16 * std::abs(offset); }
  void values(const posenc::Tile& tile, double* b) const override {
    for (int j = 0; j < tile.keys; ++j) {
      for (int l = 0; l < posenc::kLanes; ++l) {
        double distance = 0;
        for (int a = 0; a < axis_count; ++a) distance += std::abs(tile.offset(j, l, a));
        b[j * posenc::kLanes + l] = at(static_cast<std::size_t>(tile.head), distance);
      }
    }
  }
};

// CoPE (Golovneva and others 2024): gate_ij = sigmoid(content), pos_ij = sum of the gates from j to i, at most P - 1,
// term = q_i . e[pos_ij], interpolated. Needs the content, keys from last to first, state per query; causal only.
class GateRelation : public posenc::Relate {
 public:
  GateRelation(std::vector<float> table, std::size_t rows, std::size_t d)
      : table_(std::move(table)), rows_(rows), d_(d) {}
  std::size_t query_state_size() const override { return (rows_ + 1) * posenc::kLanes; }
  bool descending() const override { return true; }
  bool causal_only() const override { return true; }
  void begin(const posenc::RelateTile& tile, float* state) const override {
    for (std::size_t p = 0; p < rows_; ++p) {
      for (std::size_t l = 0; l < posenc::kLanes; ++l) {
        float sum = 0;
        for (std::size_t c = 0; c < d_; ++c) sum += tile.q[c * posenc::kLanes + l] * table_[p * d_ + c];
        state[p * posenc::kLanes + l] = sum;
      }
    }
  }
  void scores(const posenc::RelateTile& tile, const float*, float* state, float* r) const override {
    float* const position = state + rows_ * posenc::kLanes;
    for (int j = tile.keys - 1; j >= 0; --j) {
      for (int l = 0; l < posenc::kLanes; ++l) {
        const int at = j * posenc::kLanes + l;
        const double gate = 1 / (1 + posenc::simd::exp_double(-static_cast<double>(tile.content[at])));
        position[l] += static_cast<float>(gate) * tile.visible[at];
        const float p = std::min(position[l], static_cast<float>(rows_ - 1));
        const int low = std::min(static_cast<int>(p), static_cast<int>(rows_) - 1);
        const int high = std::min(low + 1, static_cast<int>(rows_) - 1);
        const float part = p - static_cast<float>(low);
        r[at] = state[low * posenc::kLanes + l] * (1 - part) + state[high * posenc::kLanes + l] * part;
      }
    }
  }

 private:
  std::vector<float> table_;
  std::size_t rows_, d_;
};

// Transformer-XL (Dai and others 2019): scale (u_h . k_j + (q_i + v_h) . R_(i - j)), with R_r = [sin, cos] of r times
// each frequency. Has a term that meets the keys alone, and one that meets a table by offset.
class KeyTermRelation : public posenc::Relate {
 public:
  KeyTermRelation(std::vector<float> u, std::vector<float> v, std::vector<double> frequencies)
      : u_(std::move(u)), v_(std::move(v)), frequencies_(std::move(frequencies)) {}
  std::size_t key_state_size(std::size_t keys) const override { return keys; }
  void prepare_keys(int head, const float* k, std::size_t keys, std::size_t d, const posenc::Positions&,
                    float* key_state) const override {
    for (std::size_t j = 0; j < keys; ++j) {
      key_state[j] = 0;
      for (std::size_t c = 0; c < d; ++c) key_state[j] += u_[static_cast<std::size_t>(head) * d + c] * k[j * d + c];
    }
  }
  void scores(const posenc::RelateTile& tile, const float* key_state, float*, float* r) const override {
    const std::size_t pairs = frequencies_.size();
    for (int j = 0; j < tile.keys; ++j) {
      for (int l = 0; l < posenc::kLanes; ++l) {
        double sum = key_state[tile.first_key + static_cast<std::size_t>(j)];
        for (std::size_t c = 0; c < 2 * pairs; ++c) {
          const double angle = -tile.offset(j, l) * frequencies_[c % pairs];
          const double wave = c < pairs ? std::sin(angle) : std::cos(angle);
          sum += (tile.q[c * posenc::kLanes + static_cast<std::size_t>(l)] +
                  v_[static_cast<std::size_t>(tile.head) * tile.d + c]) *
                 wave;
        }
        r[j * posenc::kLanes + l] = static_cast<float>(sum * tile.scale);
      }
    }
  }

 private:
  std::vector<float> u_, v_;
  std::vector<double> frequencies_;
};

// Shaw and others (2018): q_i . a^K(clip(j - i)) scale, and a^V on the value side; tables (2 clip + 1, d).
class ClippedRelation : public posenc::Relate {
 public:
  ClippedRelation(int clip, std::vector<float> keys, std::vector<float> values, std::size_t dv)
      : clip_(clip), keys_(std::move(keys)), values_(std::move(values)), dv_(dv) {}
  int row(double offset) const {
    return static_cast<int>(std::max<double>(-clip_, std::min<double>(clip_, offset))) + clip_;
  }
  std::size_t query_state_size() const override { return static_cast<std::size_t>(2 * clip_ + 1) * posenc::kLanes; }
  void scores(const posenc::RelateTile& tile, const float*, float*, float* r) const override {
    for (int j = 0; j < tile.keys; ++j) {
      for (int l = 0; l < posenc::kLanes; ++l) {
        float sum = 0;
        const std::size_t entry = static_cast<std::size_t>(row(tile.offset(j, l))) * tile.d;
        for (std::size_t c = 0; c < tile.d; ++c) {
          sum += tile.q[c * posenc::kLanes + static_cast<std::size_t>(l)] * keys_[entry + c];
        }
        r[j * posenc::kLanes + l] = sum * tile.scale;
      }
    }
  }
  int value_width() const override { return static_cast<int>(dv_); }
  void accumulate(const posenc::RelateTile& tile, const float* p, float* state) const override {
    for (int j = 0; j < tile.keys; ++j) {
      for (int l = 0; l < posenc::kLanes; ++l) {
        state[row(tile.offset(j, l)) * posenc::kLanes + l] += p[j * posenc::kLanes + l];
      }
    }
  }
  void rescale(const float* alpha, float* state) const override {
    for (std::size_t i = 0; i < query_state_size(); ++i) state[i] *= alpha[i % posenc::kLanes];
  }
  void finish(int, const float* state, float* o) const override {
    for (std::size_t entry = 0; entry < static_cast<std::size_t>(2 * clip_ + 1); ++entry) {
      for (std::size_t c = 0; c < dv_; ++c) {
        for (std::size_t l = 0; l < posenc::kLanes; ++l) {
          o[c * posenc::kLanes + l] += state[entry * posenc::kLanes + l] * values_[entry * dv_ + c];
        }
      }
    }
  }

 private:
  int clip_;
  std::vector<float> keys_, values_;
  std::size_t dv_;
};

// xPos (Sun and others 2022), pairs (2i, 2i + 1): a turn by position * omega_i, times zeta_i^(position / base) for
// queries and its inverse for keys. Told no origin, its powers leave float32 far from zero.
class PoweredTurn : public posenc::Rotate {
 public:
  PoweredTurn(std::size_t d, double base, bool local) : d_(d), base_(base), local_(local) {}
  bool local() const override { return local_; }
  double zeta(std::size_t pair) const {
    const double d = static_cast<double>(d_);
    return (2 * static_cast<double>(pair) + 0.4 * d) / (1.4 * d);
  }
  double omega(std::size_t pair) const {
    return std::pow(10000.0, -2 * static_cast<double>(pair) / static_cast<double>(d_));
  }
  template <class T>
  void turn(bool key_side, double position, double origin, const T* x, T* y) const {
    for (std::size_t i = 0; i < d_ / 2; ++i) {
      const double power = std::pow(zeta(i), (key_side ? -1 : 1) * (position - origin) / base_);
      const double cosine = std::cos(position * omega(i)) * power, sine = std::sin(position * omega(i)) * power;
      const double a = x[2 * i], b = x[2 * i + 1];
      y[2 * i] = static_cast<T>(a * cosine - b * sine);
      y[2 * i + 1] = static_cast<T>(a * sine + b * cosine);
    }
  }
  posenc::Status apply(const posenc::RotateCall& call, const posenc::Positions& positions, const float* x,
                       std::size_t x_stride, float* y, std::size_t y_stride) const override {
    for (std::size_t t = 0; t < positions.count; ++t) {
      turn(call.side == posenc::Side::kKey, positions.at(t), call.origin, x + t * x_stride, y + t * y_stride);
    }
    return posenc::ok();
  }
  posenc::Status apply(const posenc::RotateCall& call, const posenc::Positions& positions, const double* x,
                       std::size_t x_stride, double* y, std::size_t y_stride) const override {
    for (std::size_t t = 0; t < positions.count; ++t) {
      turn(call.side == posenc::Side::kKey, positions.at(t), call.origin, x + t * x_stride, y + t * y_stride);
    }
    return posenc::ok();
  }

 private:
  std::size_t d_;
  double base_;
  bool local_;
};

// Multiplies channel c by 1 + c times a factor of the side, which does not commute with a turn: shows the order of a
// list
// of rotations.
class ChannelFactor : public posenc::Rotate {
 public:
  ChannelFactor(std::size_t d, double query, double key) : d_(d), query_(query), key_(key) {}
  double factor(bool key_side, std::size_t c) const { return 1 + static_cast<double>(c) * (key_side ? key_ : query_); }
  posenc::Status apply(const posenc::RotateCall& call, const posenc::Positions& positions, const float* x,
                       std::size_t x_stride, float* y, std::size_t y_stride) const override {
    return multiply(call, positions, x, x_stride, y, y_stride);
  }
  posenc::Status apply(const posenc::RotateCall& call, const posenc::Positions& positions, const double* x,
                       std::size_t x_stride, double* y, std::size_t y_stride) const override {
    return multiply(call, positions, x, x_stride, y, y_stride);
  }

 private:
  template <class T>
  posenc::Status multiply(const posenc::RotateCall& call, const posenc::Positions& positions, const T* x,
                          std::size_t x_stride, T* y, std::size_t y_stride) const {
    for (std::size_t t = 0; t < positions.count; ++t) {
      for (std::size_t c = 0; c < d_; ++c) {
        y[t * y_stride + c] = static_cast<T>(x[t * x_stride + c] * factor(call.side == posenc::Side::kKey, c));
      }
    }
    return posenc::ok();
  }
  std::size_t d_;
  double query_, key_;
};

}  // namespace posenc_test
