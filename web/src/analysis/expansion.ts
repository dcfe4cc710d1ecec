// The Taylor expansion of note 000 on a small attention model.
import { analysisFrame } from "../analysis-part.js";
import { encode } from "../embed.js";
import { isList, printedShape, refuse, verbatim } from "../error.js";
import { readOptions, readSeed, readWhole } from "../options.js";
import { type EmbedScheme, readScheme } from "../scheme.js";
import { sinusoidal } from "../schemes.gen.js";
import { served } from "../served.js";
import { Tensor, type TensorLike, asFloat64, readNumbers } from "../tensor.js";

/** Options of {@link taylor}. */
export interface TaylorOptions {
  /** Tokens of the model: 2 to 256. */
  readonly tokens: number;
  /** Columns: 1 to 256. */
  readonly dim: number;
  /** Seed of tokens and weights. Default 0. */
  readonly seed?: number;
  /** What p is multiplied by, [n]. */
  readonly scales: TensorLike;
  /** The two tokens m and n whose vectors p move them, at their own positions. Default [0, 1]. */
  readonly positions?: readonly [m: number, n: number];
  /** Where p comes from, of width dim. Default sinusoidal({dim}). */
  readonly scheme?: EmbedScheme;
}

/** The terms of the expansion, in its order. */
export const taylorTerms = ["f", "p_m f_m", "p_n f_n", "p_m f_mm p_m / 2", "p_n f_nn p_n / 2", "p_m f_mn p_n"] as const;

/** What {@link taylor} returns, in float64. */
export interface Taylor {
  /** [scales, 6]: the terms named by {@link taylorTerms}. The first five see one position at most. */
  readonly terms: Tensor<"float64">;
  /** [scales]: the model with x_m + scale p_m and x_n + scale p_n in place of x_m and x_n. */
  readonly value: Tensor<"float64">;
  /** [scales]: what the six terms leave of it. Falls with the cube of the scale, down to some 1e-15. */
  readonly remainder: Tensor<"float64">;
  /** The mean length of the tokens, and the lengths of p_m and p_n at scale 1. */
  readonly norms: { readonly tokens: number; readonly pM: number; readonly pN: number };
}

/**
 * The second-order expansion of f(…, x_m + p_m, …, x_n + p_n, …) in p, term by term: how large each of the six is and
 * what they leave, as p is scaled. f is one attention head without a mask, its outputs averaged and read out by one
 * vector, with normal tokens and weights drawn from the seed; derivatives are exact, not differences.
 */
export function taylor(options: TaylorOptions): Taylor {
  const subject = "taylor";
  const given = readOptions(subject, options, ["tokens", "dim", "seed", "scales", "positions", "scheme"]);
  const tokens = readWhole(subject, "tokens", given.tokens, "an integer from 2 to 256", 256);
  const allowedDim = "an integer from 2 to 256";
  const dim = readWhole(subject, "dim", given.dim, allowedDim, 256);
  if (dim < 2) refuse("out-of-range", subject, "dim", allowedDim, dim);
  const seed = readSeed(subject, given.seed);
  const scales = readNumbers(subject, "scales", given.scales);
  if (scales.shape.length !== 1) {
    refuse("shape-mismatch", subject, "scales", "numbers, [n]", verbatim(`shape ${printedShape(scales.shape)}`));
  }
  const allowed = "two different positions below tokens";
  const pair = given.positions === undefined ? [0, 1] : given.positions;
  if (!isList(pair) || pair.length !== 2) refuse("shape-mismatch", subject, "positions", allowed, pair);
  const [m, n] = pair.map((at: unknown) => readWhole(subject, "positions", at, allowed, 255)) as [number, number];
  const scheme = given.scheme === undefined ? sinusoidal({ dim }) : (given.scheme as EmbedScheme);
  const spec = readScheme(subject, "scheme", scheme, ["embed"]);
  if (spec.width !== dim) {
    refuse("shape-mismatch", subject, "scheme", `of width ${dim}`, verbatim(`width ${spec.width}`));
  }
  const rows = served(subject, {}, () => encode(scheme, [m, n], { dtype: "float64" }));
  const count = scales.data.length;
  const frame = analysisFrame(subject);
  const terms = frame.output(count * 6 * 8);
  const value = frame.output(count * 8);
  const remainder = frame.output(count * 8);
  const norms = frame.output(3 * 8);
  frame.run("taylor", {
    tokens,
    dim,
    seed,
    m,
    n,
    p_m: frame.input(rows.data.slice(0, dim), "scheme", dim),
    p_n: frame.input(rows.data.slice(dim), "scheme", dim),
    scales: frame.input(asFloat64(scales.data), "scales", count),
    count,
    terms,
    value,
    remainder,
    norms,
  });
  const lengths = frame.float64(norms, 3);
  return {
    terms: new Tensor(frame.float64(terms, count * 6), [count, 6], "float64"),
    value: new Tensor(frame.float64(value, count), [count], "float64"),
    remainder: new Tensor(frame.float64(remainder, count), [count], "float64"),
    norms: { tokens: lengths[0]!, pM: lengths[1]!, pN: lengths[2]! },
  };
}
