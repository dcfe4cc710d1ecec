// Positions beyond those a model was trained on.
import { analysisFrame } from "../analysis-part.js";
import type { Place } from "../module.js";
import { refuse } from "../error.js";
import { readFinite, readFlag, readOptions, readPositive } from "../options.js";
import type { PositionsLike } from "../positions.js";
import type { RotateScheme } from "../scheme.js";
import { Tensor } from "../tensor.js";
import { type TurningScheme, readLine, turnedPairs } from "./turned-pairs.js";

/** Options of {@link extrapolation}. */
export interface ExtrapolationOptions {
  /** Positions 0 … trained - 1 were met in training. */
  readonly trained: number;
  /** Positions 0 … length - 1 are to be met. */
  readonly length: number;
  /** The scheme of the training, where a rule has changed the frequencies since. Default the scheme itself. */
  readonly trainedWith?: TurningScheme;
}

/** Per pair, float64 [pairs], in turns of 2 pi. */
export interface Extrapolation {
  /** How often the pair went round in training; below 1 it never went round. */
  readonly seen: Tensor<"float64">;
  /** How often it goes round in the longer call. */
  readonly reached: Tensor<"float64">;
  /** The share of the circle that is met for the first time, from 0 to 1. */
  readonly unseen: Tensor<"float64">;
}

/**
 * The phases that each pair meets for the first time when a model trained on some positions is given more: where a pair
 * never went round in training, those beyond its last. Arcs between whole positions count as seen. Rules that depend on
 * the length take `trained` in training and `length` afterwards.
 */
export function extrapolation(scheme: TurningScheme, options: ExtrapolationOptions): Extrapolation {
  const subject = "extrapolation";
  const given = readOptions(subject, options, ["trained", "length", "trainedWith"]);
  const trained = readLength(subject, "trained", given.trained);
  const length = readLength(subject, "length", given.length);
  const own = given.trainedWith === undefined;
  const old = turnedPairs(subject, own ? "scheme" : "trainedWith", own ? scheme : given.trainedWith, trained);
  const now = turnedPairs(subject, "scheme", scheme, length);
  const frame = analysisFrame(subject);
  const { pairs } = old;
  const [seen, reached, unseen] = [0, 1, 2].map(() => frame.output(pairs * 8)) as [Place, Place, Place];
  frame.run("extrapolation", {
    before: frame.input(old.parts, "scheme", pairs * 3),
    pairs_before: pairs,
    after: frame.input(now.parts, "scheme", now.pairs * 3),
    pairs_after: now.pairs,
    trained,
    length,
    seen,
    reached,
    unseen,
  });
  const read = (place: Place): Tensor<"float64"> => new Tensor(frame.float64(place, pairs), [pairs], "float64");
  return { seen: read(seen), reached: read(reached), unseen: read(unseen) };
}

/** Options of {@link contextExtension}. */
export interface ContextExtensionOptions {
  /** Tokens of the call: the query stands at length - 1. Rules that depend on the length take it. */
  readonly length: number;
  /** Tokens when the cache was filled, for rules that depend on it. Default `length`. */
  readonly beforeLength?: number;
  /** Offsets at which scores are compared, at most length - 1 in magnitude. */
  readonly offsets: PositionsLike;
  /** Divides scores by the number of pairs. Default false. */
  readonly normalize?: boolean;
}

/** Two settings of a rotation compared; [n] goes by offset. */
export interface ContextExtension {
  /** omega after over omega before, [pairs]. */
  readonly ratio: Tensor<"float64">;
  /** What queries and keys are multiplied by; scores by its square. */
  readonly attentionFactor: { readonly before: number; readonly after: number };
  /** factor^2 g(k) of each setting, [n]. */
  readonly kernel: { readonly before: Tensor<"float64">; readonly after: Tensor<"float64"> };
  /** The score of a query turned by the new setting with a key |k| before it that the old one turned, [n]. */
  readonly stale: Tensor<"float64">;
  /** stale - kernel.after, [n]: what a cache that keeps old keys makes wrong. */
  readonly staleError: Tensor<"float64">;
}

/**
 * What a rule of context extension changes: the frequency of each pair, the attention factor, the score g(k) of
 * q = k = (1, 0) in every pair, and the score with keys that a cache kept from before. Both schemes have as many pairs.
 */
export function contextExtension(
  before: RotateScheme,
  after: RotateScheme,
  options: ContextExtensionOptions,
): ContextExtension {
  const subject = "contextExtension";
  const given = readOptions(subject, options, ["length", "beforeLength", "offsets", "normalize"]);
  const length = readLength(subject, "length", given.length);
  const beforeLength = readPositive(subject, "beforeLength", given.beforeLength) ?? length;
  const normalize = readFlag(subject, "normalize", given.normalize);
  const old = turnedPairs(subject, "before", before, beforeLength);
  const now = turnedPairs(subject, "after", after, length);
  const offsets = readLine(subject, "offsets", given.offsets as PositionsLike);
  const count = offsets.length;
  const { pairs } = old;
  const frame = analysisFrame(subject);
  const ratio = frame.output(pairs * 8);
  const lines = [0, 1, 2, 3].map(() => frame.output(count * 8)) as [Place, Place, Place, Place];
  const [kernelBefore, kernelAfter, stale, error] = lines;
  frame.run("context_extension", {
    before: frame.input(old.parts, "before", pairs * 3),
    pairs_before: pairs,
    after: frame.input(now.parts, "after", now.pairs * 3),
    pairs_after: now.pairs,
    factor_before: old.attentionFactor,
    factor_after: now.attentionFactor,
    length,
    offsets: frame.input(offsets, "offsets", count),
    count,
    normalize,
    ratio,
    kernel_before: kernelBefore,
    kernel_after: kernelAfter,
    stale,
    error,
  });
  const read = (place: Place, size = count): Tensor<"float64"> =>
    new Tensor(frame.float64(place, size), [size], "float64");
  return {
    ratio: read(ratio, pairs),
    attentionFactor: { before: old.attentionFactor, after: now.attentionFactor },
    kernel: { before: read(kernelBefore), after: read(kernelAfter) },
    stale: read(stale),
    staleError: read(error),
  };
}

function readLength(subject: string, argument: string, value: unknown): number {
  const allowed = "a whole number from 1 to 2^53";
  const length = readFinite(subject, argument, value, undefined, allowed);
  if (length < 1) refuse("out-of-range", subject, argument, allowed, value);
  return length;
}
