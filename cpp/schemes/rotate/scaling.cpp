#include "schemes/rotate/scaling.h"

namespace posenc {

namespace {

using Band = FrequencyReport::Band;

std::vector<MultiFloat> exact(const Unscaled& unscaled) {
  if (unscaled.list.empty()) return power_law(MultiFloat(unscaled.base), unscaled.dim, unscaled.pairs());
  std::vector<MultiFloat> omegas;
  for (const double omega : unscaled.list) omegas.push_back(MultiFloat(omega));
  return omegas;
}

void settle(Frequencies::Pointer frequencies, double base, Turning& turning) {
  turning.frequencies = std::move(frequencies);
  turning.report = FrequencyReport::of(*turning.frequencies);
  turning.report.base = base;
}

Status none(const Spec&, const Unscaled& unscaled, Turning& turning) {
  settle(unscaled.list.empty() ? Frequencies::power_law(unscaled.base, unscaled.dim, unscaled.pairs())
                               : Frequencies::list(unscaled.list),
         unscaled.base, turning);
  return ok();
}

// Position interpolation (Chen et al. 2023): omega_i / factor, the same as positions / factor.
Status linear(const Spec& spec, const Unscaled& unscaled, Turning& turning) {
  const MultiFloat factor(spec.number("scaling.factor"));
  std::vector<MultiFloat> omegas = exact(unscaled);
  for (MultiFloat& omega : omegas) omega = omega / factor;
  settle(Frequencies::angular(omegas), unscaled.base, turning);
  turning.report.band.assign(unscaled.pairs(), Band::kScaled);
  return ok();
}

// NTK-aware (bloc97 2023): base' = base factor^(d/(d - 2)), so the fastest pair is kept and the slowest divided by the
// factor.
Status ntk(const Spec& spec, const Unscaled& unscaled, Turning& turning) {
  if (unscaled.dim < 4) {
    return spec.refuse(Code::kOutOfRange, "scaling.type",
                       "another than \"ntk\" where fewer than 4 columns turn: it divides by their number less 2",
                       "\"ntk\" for " + to_text(unscaled.dim));
  }
  if (!unscaled.list.empty()) {
    return spec.refuse(Code::kUnsupported, "scaling.type",
                       "another than \"ntk\" where frequencies are given: it changes the base", "\"ntk\"");
  }
  const MultiFloat exponent = MultiFloat(unscaled.dim) / MultiFloat(unscaled.dim - 2);
  const MultiFloat base = MultiFloat(unscaled.base) * pow(MultiFloat(spec.number("scaling.factor")), exponent);
  settle(Frequencies::angular(power_law(base, unscaled.dim, unscaled.pairs())), base.to_double(), turning);
  turning.report.band.assign(unscaled.pairs(), Band::kRamped);
  turning.report.band.front() = Band::kKept;
  turning.report.band.back() = Band::kScaled;
  turning.report.low = 0;
  turning.report.high = static_cast<double>(unscaled.pairs() - 1);
  return ok();
}

// In the order of the choices of scaling.type.
constexpr Status (*kRules[])(const Spec&, const Unscaled&, Turning&) = {none, linear, ntk};

}  // namespace

Status Scaling::make(const Spec& spec, const Unscaled& unscaled, Scaling& scaling) {
  const int rule = spec.choice("scaling.type");
  if (rule != 0 && !spec.has("scaling.factor")) {
    return spec.refuse(Code::kMissingOption, "scaling.factor", allowed_text(kScalingFactor), "");
  }
  return kRules[rule](spec, unscaled, scaling.turning_);
}

}  // namespace posenc
