// What the analysis part is told of a scheme that turns pairs: its frequencies, to more bits than a double has.
import type { Frequencies } from "../frequencies.js";
import { Frame } from "../module.js";
import { readPositive } from "../options.js";
import { type PositionsLike, readPositions } from "../positions.js";
import { type EmbedScheme, type RotateScheme, readScheme } from "../scheme.js";
import { printedShape, refuse, verbatim } from "../error.js";

/** A scheme that turns pairs: sinusoidal, rope, xpos and the like. */
export type TurningScheme = EmbedScheme | RotateScheme;

/** The frequencies of a scheme as exact sums of three doubles each, (pairs, 3). */
export interface TurnedPairs {
  readonly parts: Float64Array;
  readonly pairs: number;
  readonly attentionFactor: number;
  /** The base in force; null where no base makes the frequencies. */
  readonly base: number | null;
}

/** The pairs of a scheme for a call of `length` tokens; `unsupported` for schemes that turn none. */
export function turnedPairs(subject: string, argument: string, scheme: unknown, length?: unknown): TurnedPairs {
  const spec = readScheme(subject, argument, scheme, ["embed", "rotate"]);
  const tokens = readPositive(subject, "length", length) ?? 0;
  const told = new Frame(subject);
  const { inverse, attentionFactor, base } = told
    .run("frequencies", { scheme: told.scheme(spec), length: tokens })
    .json() as Frequencies;
  const pairs = inverse.length;
  const frame = new Frame(subject);
  const out = frame.output(pairs * 3 * 8);
  frame.run("frequency_parts", { scheme: frame.scheme(spec), length: tokens, out });
  return { parts: frame.float64(out, pairs * 3), pairs, attentionFactor, base };
}

/** Offsets or positions along one axis, as the core wants them. */
export function readLine(subject: string, argument: string, value: PositionsLike): Float64Array {
  const { data, axes, count } = readPositions(subject, argument, value);
  if (axes !== 1) {
    const given = verbatim(`shape ${printedShape([axes, count])}`);
    refuse("shape-mismatch", subject, argument, "numbers on one axis", given);
  }
  return data;
}
