// The frequencies of a scheme read as clocks, and as the places of a number system.
import { refuse } from "../error.js";
import { analysisFrame } from "../analysis-part.js";
import { frequenciesFor } from "../frequencies.js";
import { readFinite, readOptions, readPositive } from "../options.js";
import type { EmbedScheme, RotateScheme } from "../scheme.js";

/** Options of {@link spectrum}. */
export interface SpectrumOptions {
  /** Positions in a context, above 0. */
  readonly context: number;
  /** Tokens in all, for scaling rules that depend on it; default `context`. */
  readonly length?: number;
}

/** What each pair of a scheme does within a context, in float64. */
export interface Spectrum {
  /** 2 pi / |omega_i|, positions a turn; Infinity where a pair stands still. */
  readonly wavelength: Float64Array;
  /** omega_i, radians a position. */
  readonly frequency: Float64Array;
  /** Turns within the context. */
  readonly turns: Float64Array;
  /** The pairs, by index, that do not make one whole turn within the context. */
  readonly neverTurn: readonly number[];
}

/**
 * The clocks of an embed or rotate scheme: wavelengths and turns within `context` positions, within 2 ULP (Vaswani et
 * al. 2017, 3.5; Peng et al. 2023, 3.1). `unsupported` for schemes that turn no pairs.
 */
export function spectrum(scheme: EmbedScheme | RotateScheme, options: SpectrumOptions): Spectrum {
  const subject = "spectrum";
  const given = readOptions(subject, options, ["context", "length"]);
  const allowed = "a number above 0 and at most 2^53";
  const context = readFinite(subject, "context", given.context, undefined, allowed);
  if (context <= 0) refuse("out-of-range", subject, "context", allowed, context);
  const length = readPositive(subject, "length", given.length) ?? (context > 0 ? context : 1);
  const { inverse } = frequenciesFor(subject, scheme, { length });
  const pairs = inverse.length;
  const frame = analysisFrame(subject);
  const wavelength = frame.output(pairs * 8);
  const turns = frame.output(pairs * 8);
  const never = frame.output(pairs);
  frame.run("spectrum", {
    omega: frame.input(inverse, "scheme", pairs),
    pairs,
    context,
    wavelength,
    turns,
    never_turns: never,
  });
  return {
    wavelength: frame.float64(wavelength, pairs),
    frequency: inverse,
    turns: frame.float64(turns, pairs),
    neverTurn: [...frame.uint8(never, pairs)].flatMap((flag, i) => (flag === 1 ? [i] : [])),
  };
}

/** Options of {@link radix}. */
export interface RadixOptions {
  /** Tokens in all, for scaling rules that depend on it; default the position + 1. */
  readonly length?: number;
}

/** A position as a number whose places are 1 / omega_i. */
export interface Radix {
  /** A whole number for each pair: position = sum_i digits_i / omega_i + rest. */
  readonly digits: Float64Array;
  /** Where each pair's hand stands, as a share of a turn in [0, 1). */
  readonly phase: Float64Array;
  /** What is left, below the smallest place. */
  readonly rest: number;
}

/**
 * A position (0 … 2^53) in the number system of a scheme, whose places are 1 / omega_i: base b^(1/pairs) for
 * omega_i = b^(-i/pairs), so base 10 in four pairs of base 10000. Digits are as large as they can be from the greatest
 * place down (Rényi 1957), which also spells positions where the ratio of places is not whole. Phases are within 2^-50
 * of the frequencies as doubles. `unsupported` for schemes that turn no pairs, `out-of-range` for negative positions.
 */
export function radix(scheme: EmbedScheme | RotateScheme, position: number, options?: RadixOptions): Radix {
  const subject = "radix";
  const given = readOptions(subject, options, ["length"]);
  const place = readFinite(subject, "position", position, undefined, "a number from 0 to 2^53");
  const length = readPositive(subject, "length", given.length) ?? (place >= 0 ? place + 1 : 1);
  const { inverse } = frequenciesFor(subject, scheme, { length });
  const pairs = inverse.length;
  const frame = analysisFrame(subject);
  const digits = frame.output(pairs * 8);
  const phase = frame.output(pairs * 8);
  frame.run("radix", {
    omega: frame.input(inverse, "scheme", pairs),
    pairs,
    position: place,
    digits,
    phase,
    rest: 0,
  });
  return {
    digits: frame.float64(digits, pairs),
    phase: frame.float64(phase, pairs),
    rest: frame.answer("rest"),
  };
}
