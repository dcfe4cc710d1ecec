// Params that many schemes have, written once: name, range, default, sentence, slider. A scheme says what differs.
#pragma once

#include "schemes/scheme.h"

namespace posenc {

// `param` with a sentence of its own.
constexpr Param described(Param param, Prose sentence) {
  param.sentence = sentence;
  return param;
}

// `param` with a slider that starts at `start`; its ends stay where none are given.
constexpr Param shown(Param param, double start, double min = 0, double max = 0) {
  param.shown = start;
  if (min < max) param.shown_min = min, param.shown_max = max;
  return param;
}

inline constexpr Param kHeads = {.name = "heads",
                                 .kind = Kind::kInteger,
                                 .sentence = "Number of attention heads.",
                                 .min = 1,
                                 .max = 1024,
                                 .required = true,
                                 .shown = 8,
                                 .shown_min = 1,
                                 .shown_max = 16};

// embed
inline constexpr Param kColumns = {.name = "dim",
                                   .kind = Kind::kInteger,
                                   .sentence = "Columns d of the table.",
                                   .min = 2,
                                   .max = 65536,
                                   .required = true,
                                   .shown = 64,
                                   .shown_min = 2,
                                   .shown_max = 128};

// rotate
inline constexpr Param kTurnedWidth = {.name = "dim",
                                       .kind = Kind::kInteger,
                                       .sentence = "Width d of queries and keys, even.",
                                       .min = 2,
                                       .max = 65536,
                                       .required = true,
                                       .shown = 64,
                                       .shown_min = 2,
                                       .shown_max = 128,
                                       .shown_step = 2};

// relate
inline constexpr Param kWidth = {.name = "dim",
                                 .kind = Kind::kInteger,
                                 .sentence = "Width d of queries and keys.",
                                 .min = 1,
                                 .max = 4096,
                                 .required = true,
                                 .shown = 64,
                                 .shown_min = 4,
                                 .shown_max = 128};

inline constexpr Param kBase = {.name = "base",
                                .kind = Kind::kReal,
                                .sentence = "Base of the wavelengths.",
                                .fallback = 10000,
                                .min = 1e-12,
                                .max = 1e12,
                                .shown_min = 2,
                                .shown_max = 1000000,
                                .shown_log = true};

// Of schemes that take sums of cosines and need no inverse of the base.
inline constexpr Param kFrequencyBase = {.name = "base",
                                         .kind = Kind::kReal,
                                         .sentence = "Base of the frequencies.",
                                         .fallback = 10000,
                                         .min = 0,
                                         .max = 1e12,
                                         .above_min = true,
                                         .shown_min = 10,
                                         .shown_max = 1000000,
                                         .shown_log = true};

inline constexpr Param kPairLayout = {
    .name = "layout",
    .kind = Kind::kChoice,
    .sentence = "Which columns make a pair: neighbours, or half the width apart.",
    .fallback = 0,
    .choices = "interleaved|half"};

inline constexpr Param kRotaryDim = {.name = "rotaryDim",
                                     .kind = Kind::kInteger,
                                     .sentence = "Columns that turn, the first ones; an even number.",
                                     .fallback_param = "dim",
                                     .min = 2,
                                     .max = 65536};

// Of what is drawn where it is not given; any whole number that a double holds.
constexpr Param seed_param(Prose sentence) {
  return {.name = "seed",
          .kind = Kind::kInteger,
          .sentence = sentence,
          .fallback = 0,
          .min = 0,
          .max = 9007199254740991.0};
}

}  // namespace posenc
