#include "kernels/frequencies.h"

#include "kernels/rotators.h"

namespace posenc {
namespace {

QuarterTurns prepare(const MultiFloat& value) {
  QuarterTurns t;
  t.zero = value.is_zero();
  if (t.zero) return t;
  for (int n = 0; n < MultiFloat::kLimbs; ++n) t.limbs[n] = value.limbs()[n];
  t.exponent = value.exponent();
  t.negative = value.is_negative();
  t.high = value.to_double();
  t.low = (value - MultiFloat(t.high)).to_double();
  return t;
}

// base^(-2 / dim), by a root because it is cheaper than exp and log: x^dim = base^-2.
MultiFloat power_law_ratio(const MultiFloat& base, std::int64_t dim) {
  const MultiFloat inverse = MultiFloat(1.0) / base;
  return dim % 2 == 0 ? root(inverse, dim / 2) : root(inverse * inverse, dim);
}

struct PowerLaw {
  double base = 0;
  std::int64_t dim = 0;
  std::size_t pairs = 0;
  Frequencies::Pointer frequencies;
};

}  // namespace

Frequencies::Frequencies(std::span<const MultiFloat> quarter_turns) {
  turns_.reserve(quarter_turns.size());
  for (const MultiFloat& value : quarter_turns) turns_.push_back(prepare(value));
}

Frequencies::~Frequencies() = default;

std::vector<MultiFloat> geometric(const MultiFloat& first, const MultiFloat& ratio, std::size_t count) {
  std::vector<MultiFloat> list;
  list.reserve(count);
  for (std::size_t i = 0; i < count; ++i) list.push_back(i == 0 ? first : list.back() * ratio);
  return list;
}

std::vector<MultiFloat> power_law(const MultiFloat& base, std::int64_t dim, std::size_t pairs) {
  return geometric(MultiFloat(1.0), power_law_ratio(base, dim), pairs);
}

Frequencies::Pointer Frequencies::power_law(double base, std::int64_t dim, std::size_t pairs) {
  constexpr std::size_t kRemembered = 8;
  static PowerLaw remembered[kRemembered];
  static std::size_t oldest = 0;
  for (const PowerLaw& law : remembered) {
    if (law.base == base && law.dim == dim && law.pairs == pairs && law.frequencies) return law.frequencies;
  }
  const MultiFloat ratio = power_law_ratio(MultiFloat(base), dim);
  auto made = Pointer::make(geometric(MultiFloat::two_over_pi(), ratio, pairs));
  remembered[oldest] = {base, dim, pairs, made};
  oldest = (oldest + 1) % kRemembered;
  return made;
}

Frequencies::Pointer Frequencies::timing(double min_timescale, double max_timescale, std::size_t pairs) {
  const MultiFloat first(min_timescale);
  const std::int64_t steps = pairs > 1 ? static_cast<std::int64_t>(pairs) - 1 : 1;
  const MultiFloat ratio = root(first / MultiFloat(max_timescale), steps);
  return Pointer::make(geometric(first * MultiFloat::two_over_pi(), ratio, pairs));
}

Frequencies::Pointer Frequencies::list(std::span<const double> omegas) {
  std::vector<MultiFloat> exact;
  exact.reserve(omegas.size());
  for (const double omega : omegas) exact.push_back(MultiFloat(omega));
  return angular(exact);
}

Frequencies::Pointer Frequencies::angular(std::span<const MultiFloat> omegas) {
  std::vector<MultiFloat> turns;
  turns.reserve(omegas.size());
  const MultiFloat unit = MultiFloat::two_over_pi();
  for (const MultiFloat& omega : omegas) turns.push_back(omega * unit);
  return Pointer::make(turns);
}

Frequencies::Pointer Frequencies::of_parts(std::span<const double> parts) {
  std::vector<MultiFloat> omegas;
  omegas.reserve(parts.size() / kFrequencyParts);
  for (const double* part = parts.data(); part != parts.data() + parts.size(); part += kFrequencyParts) {
    omegas.push_back(MultiFloat(part[0]) + (MultiFloat(part[1]) + MultiFloat(part[2])));
  }
  return angular(omegas);
}

void split_frequency(const MultiFloat& omega, double* parts) {
  MultiFloat rest = omega;
  for (std::size_t n = 0; n < kFrequencyParts; ++n) {
    parts[n] = rest.to_double();
    rest = rest - MultiFloat(parts[n]);
  }
}

MultiFloat Frequencies::angular(std::size_t i) const {
  const QuarterTurns& t = turns_[i];
  if (t.zero) return {};
  const MultiFloat value = MultiFloat::of_limbs(t.limbs, t.exponent, t.negative);
  return (value * MultiFloat::pi()).scaled(-1);
}

Rotators& Frequencies::rotators(double step) const {
  std::unique_ptr<Rotators>& place = step == 1 ? unit_ : other_;
  if (!place || place->step != step) {
    place = std::make_unique<Rotators>();
    place->step = step;
  }
  return *place;
}

}  // namespace posenc
