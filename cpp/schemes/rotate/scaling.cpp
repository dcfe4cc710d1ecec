// The rules of scaling.type.
// Conventions of Hugging Face's reference functions unless a rule says otherwise; where frameworks disagree a rule is a
// choice of its own, or a note of frequencies() says so.
// Conventions:
//   letters         omega_i = base^(-2i/d), L the length of the call, M the trained length, s the factor.
//   linear          omega_i / s, the same as positions / s (Chen et al. 2023).
//   ntk             base s^(d/(d - 2)): the fastest pair is kept, the slowest divided by s (bloc97 2023).
//   dynamic         ntk with s L / M - (s - 1) in place of s beyond the trained length M, which changes with every
//                   call: keys in a cache were turned for a shorter one.
//   dynamic-static  vLLM's reading of the same config: that at L = s M, whatever the call.
//   qwen            ntk with 2^ceil(log2(L / M) + 1) - 1 beyond M (Qwen 1).
//   yarn            a ramp over the pairs from omega_i to omega_i / s between betaFast and betaSlow turns in M (Peng et
//                   al. 2023); queries and keys times 0.1 ln s + 1. An attentionFactor that is given replaces that, and
//                   never multiplies it. Where no pair does betaSlow turns in M (M < 2 pi betaSlow) all but
//                   the first are scaled; transformers' ramp then runs backwards and scales none.
//   llama3          the same idea, the ramp over the turns themselves (Llama 3.1).
//   longrope        omega_i / shortFactor_i up to M, omega_i / longFactor_i beyond (Ding et al. 2024, Phi-3); queries
//                   and keys times sqrt(1 + ln s / ln M).
//   proportional    the first share of the pairs turns, with exponents of the whole width (Gemma 4).
#include "schemes/rotate/scaling.h"

namespace posenc {

namespace {

using Band = FrequencyReport::Band;

// In the order of the choices of scaling.type.
enum Rule { kNoRule, kLinear, kNtk, kDynamic, kDynamicStatic, kQwen, kYarn, kLlama3, kLongrope, kProportional };

std::vector<MultiFloat> exact(const Unscaled& unscaled) {
  if (unscaled.list.empty()) return power_law(MultiFloat(unscaled.base), unscaled.dim, unscaled.pairs());
  std::vector<MultiFloat> omegas;
  for (const double omega : unscaled.list) omegas.push_back(MultiFloat(omega));
  return omegas;
}

// The pair, a real number, that makes `turns` turns in `length` positions.
MultiFloat pair_of(const Unscaled& unscaled, double turns, double length) {
  const MultiFloat wavelength = MultiFloat(length) / MultiFloat(turns);
  return MultiFloat(unscaled.dim) * log(wavelength / MultiFloat::pi().scaled(1)) /
         log(MultiFloat(unscaled.base)).scaled(1);
}

// 0.1 m ln s + 1
MultiFloat logarithmic(double factor, double m) {
  return MultiFloat(m) * log(MultiFloat(factor)) / MultiFloat(10) + MultiFloat(1);
}

double or_zero(const Spec& spec, const char* name) { return spec.has(name) ? spec.number(name) : 0; }

}  // namespace

bool Scaling::length_matters(const Spec& spec) {
  const int rule = spec.choice("scaling.type");
  return rule == kDynamic || rule == kQwen || rule == kLongrope;
}

double Scaling::attention_factor(const Spec& spec) {
  const int rule = spec.choice("scaling.type");
  if (rule != kYarn && rule != kLongrope) return 1;
  if (spec.has("scaling.attentionFactor")) return spec.number("scaling.attentionFactor");
  const double factor = spec.number("scaling.factor");
  if (!(factor > 1)) return 1;
  if (rule == kLongrope) {
    const MultiFloat length(spec.number("scaling.originalMaxPositionEmbeddings"));
    return root(MultiFloat(1) + log(MultiFloat(factor)) / log(length), 2).to_double();
  }
  const double m = or_zero(spec, "scaling.mscale"), all = or_zero(spec, "scaling.mscaleAllDim");
  if (m == 0 || all == 0) return logarithmic(factor, 1).to_double();
  return (logarithmic(factor, m) / logarithmic(factor, all)).to_double();
}

Status Scaling::make(const Spec& spec, const Unscaled& unscaled, Scaling& scaling) {
  const int rule = spec.choice("scaling.type");
  const auto refuse_type = [&](Code code, const char* why) {
    static constexpr const char* kNames[] = {"none", "linear", "ntk",    "dynamic",  "dynamic-static",
                                             "qwen", "yarn",   "llama3", "longrope", "proportional"};
    const std::string name = std::string("\"") + kNames[rule] + "\"";
    return spec.refuse(code, "scaling.type", "another than " + name + " where " + why, name);
  };
  scaling.rule_ = rule;
  if (scaling.by_base() && !unscaled.list.empty()) {
    return refuse_type(Code::kUnsupported, "frequencies are given: it works on the base");
  }
  if (rule >= kNtk && rule <= kQwen && unscaled.dim < 4) {
    return refuse_type(Code::kOutOfRange, "fewer than 4 columns turn: it divides by their number less 2");
  }
  scaling.unscaled_ = unscaled;
  if (spec.has("scaling.factor")) scaling.factor_ = spec.number("scaling.factor");
  scaling.attention_factor_ = attention_factor(spec);
  std::vector<std::string>& notes = scaling.notes_;
  if (length_matters(spec)) {
    notes.push_back(
        "The frequencies change with the length of the call: keys turned and cached for a shorter one are "
        "stale, turn them again.");
  }
  switch (rule) {
    case kDynamic:
      scaling.trained_ = spec.number("scaling.maxPositionEmbeddings");
      notes.push_back("vLLM turns with one base for all lengths: \"dynamic-static\".");
      break;
    case kDynamicStatic:
      notes.push_back("vLLM's reading; Hugging Face computes the base for each length: \"dynamic\".");
      break;
    case kQwen:
      scaling.trained_ = spec.number("scaling.trainLength");
      break;
    case kYarn: {
      scaling.trained_ = spec.number("scaling.originalMaxPositionEmbeddings");
      scaling.fast_ = spec.number("scaling.betaFast");
      scaling.slow_ = spec.number("scaling.betaSlow");
      scaling.truncate_ = spec.flag("scaling.truncate");
      if (!(unscaled.base > 1)) {
        return spec.refuse(Code::kOutOfRange, "base", "above 1 where scaling.type is \"yarn\"", to_text(unscaled.base));
      }
      if (scaling.fast_ < scaling.slow_) {
        return spec.refuse(Code::kOutOfRange, "scaling.betaFast", "at least betaSlow, " + to_text(scaling.slow_),
                           to_text(scaling.fast_));
      }
      const double m = or_zero(spec, "scaling.mscale"), all = or_zero(spec, "scaling.mscaleAllDim");
      if (all != 0) {
        const MultiFloat factor = logarithmic(scaling.factor_, all);
        scaling.softmax_scale_ = (factor * factor).to_double();
        notes.push_back("softmaxScale is for the caller to multiply the scale of attention by, as DeepSeek does.");
      }
      if (m != 0 && all == 0) {
        notes.push_back(
            "mscale without mscaleAllDim: Hugging Face ignores it, DeepSeek's code multiplies by 0.1 mscale "
            "ln factor + 1; give attentionFactor for that.");
      } else if (m != 0) {
        notes.push_back("attentionFactor is the ratio of the two mscales; some loaders take 0.1 ln factor + 1.");
      }
      break;
    }
    case kLlama3:
      scaling.trained_ = spec.number("scaling.originalMaxPositionEmbeddings");
      scaling.fast_ = spec.number("scaling.highFreqFactor");
      scaling.slow_ = spec.number("scaling.lowFreqFactor");
      if (scaling.fast_ < scaling.slow_) {
        return spec.refuse(Code::kOutOfRange, "scaling.highFreqFactor",
                           "at least lowFreqFactor, " + to_text(scaling.slow_), to_text(scaling.fast_));
      }
      break;
    case kLongrope:
      scaling.trained_ = spec.number("scaling.originalMaxPositionEmbeddings");
      for (const char* name : {"scaling.shortFactor", "scaling.longFactor"}) {
        const Table& list = spec.table(name);
        if (list.size() != unscaled.pairs()) {
          return spec.refuse(Code::kShapeMismatch, name,
                             "a list of " + to_text(static_cast<double>(unscaled.pairs())) + " numbers, one a pair",
                             to_text(static_cast<double>(list.size())));
        }
        (name[8] == 's' ? scaling.short_ : scaling.long_).assign(list.reals, list.reals + list.size());
      }
      notes.push_back(
          "vLLM chooses the list once, by the longest length it serves; here, as in Hugging Face, the length "
          "of the call chooses.");
      break;
    case kProportional:
      scaling.partial_ = spec.number("scaling.partialRotaryFactor");
      if (scaling.partial_ * unscaled.dim < 2) {
        return spec.refuse(Code::kOutOfRange, "scaling.partialRotaryFactor",
                           "large enough for one pair, " + to_text(2.0 / unscaled.dim), to_text(scaling.partial_));
      }
      break;
    default:
      break;
  }
  return ok();
}

bool Scaling::by_base() const { return (rule_ >= kNtk && rule_ <= kYarn) || rule_ == kProportional; }

// The number that the frequencies depend on: what multiplies the base to the power d/(d - 2); 1 short and 2 long.
double Scaling::stretch(double length) const {
  const double over = length > trained_ ? length / trained_ : 1;
  switch (rule_) {
    case kNtk:
      return factor_;
    case kDynamic:
      return factor_ * over - (factor_ - 1);
    case kDynamicStatic:
      return factor_ * factor_ - (factor_ - 1);
    case kQwen: {
      double power = 1;
      while (power < over) power *= 2;
      return 2 * power - 1;
    }
    case kLongrope:
      return length > trained_ ? 2 : 1;
    default:
      return 1;
  }
}

const Turning& Scaling::at(double length) const {
  const double wanted = stretch(length);
  if (kept_.size() == 2 && kept_[1]->stretch == wanted) kept_[0].swap(kept_[1]);
  if (kept_.empty() || kept_[0]->stretch != wanted) {
    kept_.insert(kept_.begin(), std::make_unique<Kept>());
    if (kept_.size() > 2) kept_.pop_back();
    kept_[0]->stretch = wanted;
    settle(wanted, kept_[0]->turning);
  }
  return kept_[0]->turning;
}

void Scaling::settle(double stretch, Turning& turning) const {
  const std::size_t pairs = unscaled_.pairs();
  std::vector<Band> bands(pairs, Band::kKept);
  double base = unscaled_.base, low = kNone, high = kNone;
  turning.rates.assign(by_base() ? 0 : pairs, 1);
  if (rule_ == kNoRule || (rule_ >= kNtk && rule_ <= kQwen && stretch == 1)) {
    turning.frequencies =
        unscaled_.list.empty() ? Frequencies::power_law(base, unscaled_.dim, pairs) : Frequencies::list(unscaled_.list);
  } else if (rule_ >= kNtk && rule_ <= kQwen) {
    const MultiFloat exponent = MultiFloat(unscaled_.dim) / MultiFloat(unscaled_.dim - 2);
    const MultiFloat new_base = MultiFloat(base) * pow(MultiFloat(stretch), exponent);
    turning.frequencies = Frequencies::angular(power_law(new_base, unscaled_.dim, pairs));
    base = new_base.to_double();
    bands.assign(pairs, Band::kRamped);
    bands.front() = Band::kKept;
    bands.back() = Band::kScaled;
    low = 0;
    high = static_cast<double>(pairs - 1);
  } else {
    const MultiFloat factor(factor_), one(1);
    std::vector<MultiFloat> omegas = exact(unscaled_);
    MultiFloat first, width(1);  // of the ramp: over pairs, or over turns
    if (rule_ == kYarn || (rule_ == kLlama3 && base > 1)) {
      first = pair_of(unscaled_, fast_, trained_);
      MultiFloat last = pair_of(unscaled_, slow_, trained_);
      low = first.to_double();
      high = last.to_double();
      if (rule_ == kYarn) {
        // The ends lie within the columns, not the pairs, as in the authors' code; equal ones are set apart by 0.001.
        const double most = unscaled_.dim - 1;
        const auto settle_end = [&](double& end, MultiFloat& exactly, bool up) {
          if (!(end > 0)) {
            end = 0;
          } else if (!(end < most)) {
            end = most;
          } else if (truncate_) {
            const double whole = static_cast<double>(static_cast<int>(end));
            end = up && whole < end ? whole + 1 : whole;
          } else {
            return;
          }
          exactly = MultiFloat(end);
        };
        settle_end(low, first, false);
        settle_end(high, last, true);
        if (first == last) last = last + MultiFloat(0.001);
        width = last - first;
      }
    }
    if (rule_ == kLlama3) width = MultiFloat(fast_) - MultiFloat(slow_);
    for (std::size_t i = 0; i < pairs; ++i) {
      MultiFloat& omega = omegas[i];
      MultiFloat climbed = width;  // of the ramp: 0 kept, its width divided by the factor
      if (rule_ == kYarn) {
        climbed = MultiFloat(static_cast<double>(i)) - first;
      } else if (rule_ == kLlama3) {
        const MultiFloat magnitude = omega.is_negative() ? -omega : omega;
        const MultiFloat turns = magnitude * MultiFloat(trained_) / MultiFloat::pi().scaled(1);
        climbed = MultiFloat(fast_) - turns;
      } else if (rule_ == kProportional && i >= static_cast<std::size_t>(partial_ * unscaled_.dim / 2)) {
        omega = MultiFloat();
      }
      if (rule_ == kLongrope) {
        const double divisor = (stretch == 1 ? short_ : long_)[i];
        omega = omega / MultiFloat(divisor);
        turning.rates[i] = 1 / divisor;
        bands[i] = Band::kScaled;
      } else if (!(MultiFloat() < climbed)) {
        continue;
      } else if (!(climbed < width)) {
        if (rule_ != kProportional || factor_ > 1 || omega.is_zero()) bands[i] = Band::kScaled;
        omega = omega / factor;
        if (!turning.rates.empty()) turning.rates[i] = 1 / factor_;
      } else {
        const MultiFloat ramp = climbed / width;
        omega = omega * (one - ramp) + omega / factor * ramp;
        bands[i] = Band::kRamped;
        if (rule_ == kLlama3) {  // the ramp moves with the frequency
          const double down = ramp.to_double(), turns = fast_ / (fast_ - slow_) - down;
          turning.rates[i] = (1 - down) + down / factor_ + (1 - 1 / factor_) * turns;
        }
      }
    }
    turning.frequencies = Frequencies::angular(omegas);
  }
  turning.report = FrequencyReport::of(*turning.frequencies);
  turning.report.base = base;
  turning.report.band = std::move(bands);
  turning.report.low = low;
  turning.report.high = high;
  turning.report.attention_factor = attention_factor_;
  turning.report.softmax_scale = softmax_scale_;
  turning.report.notes = notes_;
}

}  // namespace posenc
