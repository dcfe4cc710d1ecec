// The angular frequencies of the pairs of a scheme, kept to 256 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/shared.h"
#include "kernels/multiprecision.h"

namespace posenc {

/// |omega * 2 / pi|: quarter turns per unit of position, ready for the integer reduction in sincos.cpp.
struct QuarterTurns {
  std::uint32_t limbs[10] = {};  // 0.limbs[7] ... limbs[0] * 2^exponent; two zero limbs on top
  std::int32_t exponent = 0;
  bool negative = false;
  bool zero = true;
  double high = 0, low = 0;      // signed, as a sum of two doubles
};

/// cos and sin of (multiples of one step) * omega, what runs of positions are built from; filled on demand.
struct Rotators;

/// Frequencies omega_i of `pairs()` pairs, immutable. Angles formed from them are exact as long as |omega| <= 2^64 and
/// |position| <= 2^53. An object keeps the rotators of runs it has served: use it from one thread at a time.
class Frequencies {
 public:
  using Pointer = Shared<const Frequencies>;

  /// omega_i = base^(-2 i / dim), i < pairs, for any base > 0 and dim >= 1 (Vaswani et al. 2017, section 3.5).
  /// The last eight laws asked for are remembered.
  static Pointer power_law(double base, std::int64_t dim, std::size_t pairs);
  /// omega_i = min_timescale (max_timescale / min_timescale)^(-i / (pairs - 1)): the spacing of tensor2tensor.
  static Pointer timing(double min_timescale, double max_timescale, std::size_t pairs);
  /// Each number taken as exact.
  static Pointer list(std::span<const double> omegas);
  /// From frequencies formed in multiprecision, as the context-extension rules do.
  static Pointer angular(std::span<const MultiFloat> omegas);
  /// omega_i = parts[3 i] + parts[3 i + 1] + parts[3 i + 2], exactly: frequencies that crossed between modules.
  static Pointer of_parts(std::span<const double> parts);

  std::size_t pairs() const { return turns_.size(); }
  /// Radians per unit of position, rounded to double.
  double omega(std::size_t i) const { return angular(i).to_double(); }
  /// Radians per unit of position, to 2^-250.
  MultiFloat angular(std::size_t i) const;
  const QuarterTurns& turns(std::size_t i) const { return turns_[i]; }

  /// The rotators of a step between positions; odd multiples of its half, up to 15 of them, must be doubles.
  Rotators& rotators(double step) const;

  explicit Frequencies(std::span<const MultiFloat> quarter_turns);
  ~Frequencies();

 private:
  std::vector<QuarterTurns> turns_;
  // One place for step 1, one for the last other step.
  mutable std::unique_ptr<Rotators> unit_, other_;
};

/// A frequency crosses between modules as the sum of this many doubles, the largest first: 159 bits hold the angle of
/// every position up to 2^53 to 2^-100.
inline constexpr std::size_t kFrequencyParts = 3;

/// omega -> the kFrequencyParts doubles whose sum is nearest to it.
void split_frequency(const MultiFloat& omega, double* parts);

/// first * ratio^i for i < count.
std::vector<MultiFloat> geometric(const MultiFloat& first, const MultiFloat& ratio, std::size_t count);

/// base^(-2 i / dim), i < pairs, for bases that are not doubles themselves (base * factor^(dim / (dim - 2))).
std::vector<MultiFloat> power_law(const MultiFloat& base, std::int64_t dim, std::size_t pairs);

}  // namespace posenc
