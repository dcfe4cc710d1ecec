// Context extension: rules that change the frequencies of a rotation so that it reaches beyond the trained length.
// A new rule is a choice at the end of kScalingType, its params, and a function in scaling.cpp.
#pragma once

#include <array>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "kernels/frequencies.h"
#include "schemes/frequency_report.h"
#include "schemes/scheme.h"

namespace posenc {

// Params of every scheme that can be scaled; they stand together at the end of its list.
inline constexpr Param kScalingType = {
    .name = "scaling.type",
    .kind = Kind::kChoice,
    .sentence = "Rule that stretches the wavelengths beyond the trained length.",
    .fallback = 0,
    .choices = "none|linear|ntk|dynamic|dynamic-static|qwen|yarn|llama3|longrope|proportional"};
inline constexpr Param kScalingFactor = {.name = "scaling.factor",
                                         .kind = Kind::kReal,
                                         .sentence = "How many times the trained length is to be reached.",
                                         .fallback = kNone,
                                         .min = 1,
                                         .max = 1e6,
                                         .where = "scaling.type",
                                         .needed_by = "linear|ntk|dynamic|dynamic-static|yarn|llama3",
                                         .taken_by = "longrope|proportional",
                                         .shown = 4,
                                         .shown_min = 1,
                                         .shown_max = 32,
                                         .shown_log = true};
inline constexpr Param kScalingMaxPositions = {.name = "scaling.maxPositionEmbeddings",
                                               .kind = Kind::kInteger,
                                               .sentence = "Trained length; the frequencies stay up to it.",
                                               .fallback = kNone,
                                               .min = 1,
                                               .max = 1e9,
                                               .where = "scaling.type",
                                               .needed_by = "dynamic",
                                               .taken_by = "dynamic-static",
                                               .shown = 2048,
                                               .shown_min = 256,
                                               .shown_max = 8192,
                                               .shown_log = true};
inline constexpr Param kScalingTrainLength = {.name = "scaling.trainLength",
                                              .kind = Kind::kInteger,
                                              .sentence = "Trained length, seq_length in Qwen's configs.",
                                              .fallback = kNone,
                                              .min = 1,
                                              .max = 1e9,
                                              .where = "scaling.type",
                                              .needed_by = "qwen",
                                              .shown = 2048,
                                              .shown_min = 256,
                                              .shown_max = 8192,
                                              .shown_log = true};
inline constexpr Param kScalingOriginalLength = {.name = "scaling.originalMaxPositionEmbeddings",
                                                 .kind = Kind::kInteger,
                                                 .sentence = "Trained length before the extension.",
                                                 .fallback = kNone,
                                                 .min = 2,
                                                 .max = 1e9,
                                                 .where = "scaling.type",
                                                 .needed_by = "yarn|llama3|longrope",
                                                 .shown = 2048,
                                                 .shown_min = 256,
                                                 .shown_max = 8192,
                                                 .shown_log = true};
inline constexpr Param kScalingBetaFast = {.name = "scaling.betaFast",
                                           .kind = Kind::kReal,
                                           .sentence = "Pairs of more turns in the trained length are kept.",
                                           .fallback = 32,
                                           .min = 1e-6,
                                           .max = 1e6,
                                           .where = "scaling.type",
                                           .taken_by = "yarn"};
inline constexpr Param kScalingBetaSlow = {
    .name = "scaling.betaSlow",
    .kind = Kind::kReal,
    .sentence = "Pairs of fewer turns in the trained length are divided by the factor.",
    .fallback = 1,
    .min = 1e-6,
    .max = 1e6,
    .where = "scaling.type",
    .taken_by = "yarn"};
inline constexpr Param kScalingAttentionFactor = {.name = "scaling.attentionFactor",
                                                  .kind = Kind::kReal,
                                                  .sentence = "Factor of queries and keys, in place of the rule's own.",
                                                  .fallback = kNone,
                                                  .min = 1e-3,
                                                  .max = 1e3,
                                                  .where = "scaling.type",
                                                  .taken_by = "yarn|longrope"};
inline constexpr Param kScalingMscale = {
    .name = "scaling.mscale",
    .kind = Kind::kReal,
    .sentence = "DeepSeek's: multiplies the logarithm in the factor of queries and keys; with mscaleAllDim.",
    .fallback = kNone,
    .min = 0,
    .max = 100,
    .where = "scaling.type",
    .taken_by = "yarn"};
inline constexpr Param kScalingMscaleAllDim = {
    .name = "scaling.mscaleAllDim",
    .kind = Kind::kReal,
    .sentence = "DeepSeek's: divides that factor again, and multiplies the softmax scale by its square.",
    .fallback = kNone,
    .min = 0,
    .max = 100,
    .where = "scaling.type",
    .taken_by = "yarn"};
inline constexpr Param kScalingTruncate = {
    .name = "scaling.truncate",
    .kind = Kind::kFlag,
    .sentence = "Rounds the ends of the ramp outwards to whole pairs; gpt-oss does not.",
    .fallback = 1,
    .where = "scaling.type",
    .taken_by = "yarn"};
inline constexpr Param kScalingLowFreqFactor = {
    .name = "scaling.lowFreqFactor",
    .kind = Kind::kReal,
    .sentence = "Pairs of fewer turns in the trained length are divided by the factor.",
    .fallback = kNone,
    .min = 1e-6,
    .max = 1e6,
    .where = "scaling.type",
    .needed_by = "llama3",
    .shown = 1,
    .shown_min = 0.5,
    .shown_max = 2};
inline constexpr Param kScalingHighFreqFactor = {
    .name = "scaling.highFreqFactor",
    .kind = Kind::kReal,
    .sentence = "Pairs of more turns in the trained length are kept; with lowFreqFactor equal, a step.",
    .fallback = kNone,
    .min = 1e-6,
    .max = 1e6,
    .where = "scaling.type",
    .needed_by = "llama3",
    .shown = 4,
    .shown_min = 2.5,
    .shown_max = 16};
inline constexpr Param kScalingShortFactor = {.name = "scaling.shortFactor",
                                              .kind = Kind::kList,
                                              .sentence = "Divisor of each pair's frequency up to the trained length.",
                                              .min = 1e-6,
                                              .max = 1e9,
                                              .shape = "[rotaryDim / 2]",
                                              .where = "scaling.type",
                                              .needed_by = "longrope",
                                              .shown_min = 1,
                                              .shown_max = 4};
inline constexpr Param kScalingLongFactor = {.name = "scaling.longFactor",
                                             .kind = Kind::kList,
                                             .sentence = "Divisor of each pair's frequency beyond the trained length.",
                                             .min = 1e-6,
                                             .max = 1e9,
                                             .shape = "[rotaryDim / 2]",
                                             .where = "scaling.type",
                                             .needed_by = "longrope",
                                             .shown_min = 4,
                                             .shown_max = 64};
inline constexpr Param kScalingPartial = {
    .name = "scaling.partialRotaryFactor",
    .kind = Kind::kReal,
    .sentence = "Share of the pairs that turn, the fastest ones; the exponents stay those of the whole width.",
    .fallback = kNone,
    .min = 0,
    .max = 1,
    .above_min = true,
    .where = "scaling.type",
    .needed_by = "proportional",
    .shown = 0.25,
    .shown_min = 0.125,
    .shown_max = 1};

inline constexpr Param kScalingParams[] = {
    kScalingType,           kScalingFactor,       kScalingMaxPositions, kScalingTrainLength,
    kScalingOriginalLength, kScalingBetaFast,     kScalingBetaSlow,     kScalingAttentionFactor,
    kScalingMscale,         kScalingMscaleAllDim, kScalingTruncate,     kScalingLowFreqFactor,
    kScalingHighFreqFactor, kScalingShortFactor,  kScalingLongFactor,   kScalingPartial};

// The params of a scheme with those of scaling behind them.
template <std::size_t kOwn>
constexpr auto with_scaling(const Param (&own)[kOwn]) {
  std::array<Param, kOwn + std::size(kScalingParams)> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i < kOwn ? own[i] : kScalingParams[i - kOwn];
  return all;
}

// Frequencies before any rule: base^(-2i/dim) for i < dim/2, or a list of dim/2 of them.
struct Unscaled {
  int dim = 0;          // rotated columns, even
  double base = kNone;  // kNone where there is a list
  std::vector<double> list;

  std::size_t pairs() const { return static_cast<std::size_t>(dim) / 2; }
};

// What is in force for a sequence of some length.
struct Turning {
  Frequencies::Pointer frequencies;
  FrequencyReport report;  // its attention factor multiplies the cosines and sines, so queries and keys
  std::vector<double> rates;  // derivative of each frequency by what it was before the rule; none where by_base()
};

// The rule a spec asks for, ready to use. Errors: a width, a base or a list the rule cannot work with.
class Scaling {
 public:
  static Status make(const Spec& spec, const Unscaled& unscaled, Scaling& scaling);

  // `length` counts the tokens of the sequence; 0: no longer than was trained. What the last lengths gave is kept.
  const Turning& at(double length) const;

  // The rule works on the base: then no list of frequencies may be given, nor learn.
  bool by_base() const;

  static bool length_matters(const Spec& spec);      // dynamic, qwen, longrope
  static double attention_factor(const Spec& spec);  // what queries and keys are multiplied by

  // Claims of schemes that are scaled hang on these.
  static bool same_for_all_lengths(const Spec& spec) { return !length_matters(spec); }
  static bool keeps_lengths(const Spec& spec) { return attention_factor(spec) == 1; }
  static constexpr char kSameForAllLengths[] = "the frequencies do not change with the length of the call";
  static constexpr char kKeepsLengths[] = "the scaling has no attention factor";

 private:
  double stretch(double length) const;
  void settle(double stretch, Turning& turning) const;

  struct Kept {
    double stretch = 0;
    Turning turning;
  };
  int rule_ = 0;
  Unscaled unscaled_;
  double factor_ = 1, trained_ = 0, attention_factor_ = 1, softmax_scale_ = kNone;
  double fast_ = 0, slow_ = 0, partial_ = 1;
  bool truncate_ = true;
  std::vector<double> short_, long_;
  std::vector<std::string> notes_;
  mutable std::vector<std::unique_ptr<Kept>> kept_;  // at most two, the last used first
};

}  // namespace posenc
