#include "schemes/rotate/turned_pairs.h"

#include <cstring>

#include "kernels/sincos.h"
#include "schemes/frequency_report.h"

namespace posenc {

namespace {

constexpr std::size_t kRows = 128;
constexpr std::size_t kMostKept = std::size_t{1} << 21;  // cells, 16 MB of float32

}  // namespace

template <class Real>
const typename PairTables<Real>::Block& PairTables<Real>::of(std::span<const AxisPairs> parts, std::size_t pairs,
                                                             double factor, const Positions& positions,
                                                             std::size_t first, std::size_t tokens) {
  bool same = frequencies_.size() == parts.size();
  for (std::size_t p = 0; same && p < parts.size(); ++p) same = frequencies_[p] == parts[p].frequencies;
  const std::size_t size = tokens * pairs;
  if (!same) {
    frequencies_.clear();
    for (const AxisPairs& part : parts) frequencies_.push_back(part.frequencies);
    blocks_.clear();
    kept_ = next_ = 0;
  }
  for (std::size_t n = 0; n < blocks_.size(); ++n) {  // blocks come in the same order every time
    const std::size_t at = (next_ + n) % blocks_.size();
    const Block& block = blocks_[at];
    bool hit = block.factor == factor && block.positions.size() == parts.size() * tokens;
    for (std::size_t p = 0; hit && p < parts.size(); ++p) {
      hit = std::memcmp(block.positions.data() + p * tokens, positions.axis(parts[p].axis) + first,
                        tokens * sizeof(double)) == 0;
    }
    if (!hit) continue;
    next_ = (at + 1) % blocks_.size();
    return block;
  }
  if (kept_ + size > kMostKept) {
    blocks_.clear();
    kept_ = next_ = 0;
  }
  kept_ += size;
  Block& block = blocks_.emplace_back();
  block.factor = factor;
  block.cos.resize(size);
  block.sin.resize(size);
  std::vector<Real> cos, sin;
  for (const AxisPairs& part : parts) {
    const double* from = positions.axis(part.axis) + first;
    block.positions.insert(block.positions.end(), from, from + tokens);
    if (part.pairs.empty()) {
      fill_sin_cos(*part.frequencies, {from, tokens},
                   SinCosTable<Real>::separate(block.cos.data(), block.sin.data(), pairs, pairs), factor);
      continue;
    }
    const std::size_t own = part.pairs.size();
    cos.resize(tokens * own);
    sin.resize(tokens * own);
    fill_sin_cos(*part.frequencies, {from, tokens}, SinCosTable<Real>::separate(cos.data(), sin.data(), own, own),
                 factor);
    for (std::size_t t = 0; t < tokens; ++t) {
      for (std::size_t i = 0; i < own; ++i) {
        block.cos[t * pairs + part.pairs[i]] = cos[t * own + i];
        block.sin[t * pairs + part.pairs[i]] = sin[t * own + i];
      }
    }
  }
  return block;
}

template <class Real>
Status TurnedPairs::turn(const RotateCall& call, const Positions& positions, const Real* x, std::size_t x_stride,
                         Real* y, std::size_t y_stride, PairTables<Real>& tables) const {
  if (Status status = check_positions(positions, name()); !status.ok()) return status;
  std::span<const AxisPairs> parts;
  double factor = 1;
  at(call.length, parts, factor);
  PairRotation<Real> rotation;
  rotation.layout = layout_;
  rotation.width = static_cast<std::size_t>(dim_);
  rotation.pairs = rotation.table_stride = pairs_;
  rotation.inverse = call.inverse || call.transposed;
  for (std::size_t t = 0; t < positions.count; t += kRows) {
    rotation.tokens = positions.count - t < kRows ? positions.count - t : kRows;
    const auto& table = tables.of(parts, pairs_, call.inverse ? 1 / factor : factor, positions, t, rotation.tokens);
    rotation.cos = table.cos.data();
    rotation.sin = table.sin.data();
    for (std::size_t row = t; row < call.batch * positions.count; row += positions.count) {
      rotate_pairs(rotation, x + row * x_stride, x_stride, y + row * y_stride, y_stride);
    }
  }
  return ok();
}

Status TurnedPairs::apply(const RotateCall& call, const Positions& positions, const float* x, std::size_t x_stride,
                          float* y, std::size_t y_stride) const {
  return turn(call, positions, x, x_stride, y, y_stride, float_tables_);
}

Status TurnedPairs::apply(const RotateCall& call, const Positions& positions, const double* x, std::size_t x_stride,
                          double* y, std::size_t y_stride) const {
  return turn(call, positions, x, x_stride, y, y_stride, double_tables_);
}

Status check_rotary_dim(const Spec& spec) {
  const int dim = spec.integer("dim"), rotary = spec.integer("rotaryDim");
  if (rotary % 2 == 0 && rotary <= dim) return ok();
  if (!spec.has("rotaryDim")) {
    return spec.refuse(Code::kOutOfRange, "dim", "even where rotaryDim is not given", to_text(rotary));
  }
  return spec.refuse(Code::kOutOfRange, "rotaryDim", "an even number from 2 to dim, " + to_text(dim), to_text(rotary));
}

Status TurnedPairs::frequencies(double, FrequencyReport& report) const {
  report.base = base_;
  report.inverse.resize(pairs_);
  report.rest.resize(2 * pairs_);
  report.wavelength.resize(pairs_);
  report.band.assign(pairs_, FrequencyReport::Band::kKept);
  for (const AxisPairs& part : parts_) {
    const FrequencyReport own = FrequencyReport::of(*part.frequencies);
    for (std::size_t i = 0; i < own.inverse.size(); ++i) {
      const std::size_t pair = part.pairs.empty() ? i : part.pairs[i];
      report.inverse[pair] = own.inverse[i];
      report.rest[2 * pair] = own.rest[2 * i];
      report.rest[2 * pair + 1] = own.rest[2 * i + 1];
      report.wavelength[pair] = own.wavelength[i];
    }
  }
  return ok();
}

}  // namespace posenc
