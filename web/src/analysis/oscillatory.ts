// Integrals of e^(i x theta_t), and the Riemann sums that encodings make of them.
import { analysisFrame } from "../analysis-part.js";
import { refuse, refuseMissing, verbatim } from "../error.js";
import type { FieldValue, Frame } from "../module.js";
import { readChoice, readFinite, readNoOptions, readOptions } from "../options.js";
import type { PositionsLike } from "../positions.js";
import { Tensor, type TensorLike, asFloat64, readNumbers } from "../tensor.js";
import { readLine } from "./turned-pairs.js";

/**
 * theta_t for t from 0 to 1, in radians a position: base^-t (the paper's is base 10000), t^alpha, or samples at equal
 * steps of t from 0 to 1, linear in between.
 */
export type FrequencyLaw =
  | { readonly law: "exponential"; readonly base: number }
  | { readonly law: "power"; readonly alpha: number }
  | { readonly samples: TensorLike };

type LawFields = { readonly rule: number; readonly parameter: number; readonly samples: Float64Array };

function readLaw(subject: string, law: unknown): LawFields {
  const allowed = '{law: "exponential", base}, {law: "power", alpha} or {samples}';
  if (law === undefined) refuseMissing(subject, "law", allowed);
  if (typeof law !== "object" || law === null) refuse("not-a-number", subject, "law", allowed, law);
  const given = readOptions(subject, law, ["law", "base", "alpha", "samples"]);
  const nothing = new Float64Array(0);
  if (given.samples !== undefined) {
    if (given.law !== undefined) refuse("unknown-option", subject, "law", "left out beside samples", given.law);
    const read = readNumbers(subject, "samples", given.samples);
    if (read.shape.length !== 1 || read.data.length === 0) {
      refuse("shape-mismatch", subject, "samples", "at least one number, [n]", verbatim(`${read.shape.length} axes`));
    }
    return { rule: 2, parameter: 0, samples: asFloat64(read.data) };
  }
  if (given.law === undefined) refuseMissing(subject, "law", allowed);
  const named = readChoice(subject, "law", given.law, ["exponential", "power"], "exponential");
  const parameter = named === "power" ? "alpha" : "base";
  const other = named === "power" ? "base" : "alpha";
  if (given[other] !== undefined) {
    refuse("unknown-option", subject, other, `left out of a law that is ${named}`, given[other]);
  }
  return {
    rule: named === "power" ? 1 : 0,
    parameter: readFinite(subject, parameter, given[parameter]),
    samples: nothing,
  };
}

function run(
  subject: string,
  call: string,
  law: FrequencyLaw,
  offsets: PositionsLike,
  more: Readonly<Record<string, FieldValue>>,
): Tensor<"float64"> {
  const { rule, parameter, samples } = readLaw(subject, law);
  const places = readLine(subject, "offsets", offsets);
  const count = places.length;
  const frame: Frame = analysisFrame(subject);
  const out = frame.output(count * 8);
  frame.run(call, {
    rule,
    parameter,
    samples: frame.input(samples, "samples", samples.length),
    sample_count: samples.length,
    offsets: frame.input(places, "offsets", count),
    count,
    out,
    ...more,
  });
  return new Tensor(frame.float64(out, count), [count], "float64");
}

/**
 * Re of the integral of e^(i x theta_t) dt over [0, 1] for each offset x, float64 [n]: what (2/d) <p(m), p(n)> tends
 * to at m - n = x as the width grows. Absolute error at most 1e-10 at every |x| <= 2^53 (measured: 1e-14). Exponential
 * laws by [Ci(|x|) - Ci(|x| / b)] / ln b, powers by the incomplete gamma function, samples segment by segment.
 * Errors: base outside 1e-12 … 1e12, alpha outside 1e-6 … 1e6, samples beyond 1e12.
 */
export function oscillatoryIntegral(law: FrequencyLaw, offsets: PositionsLike): Tensor<"float64"> {
  readNoOptions("oscillatoryIntegral", arguments, 2);
  return run("oscillatoryIntegral", "oscillatory_integral", law, offsets, {});
}

/** Options of {@link riemannSum}. */
export interface RiemannSumOptions {
  /** Columns d of the encoding, an even number from 2 to 65536: d/2 terms. */
  readonly dim: number;
}

/**
 * 1 / (d/2) sum_{i < d/2} cos(x theta_{2i/d}) for each offset x, float64 [n]: the left Riemann sum of
 * {@link oscillatoryIntegral} that an encoding of `dim` columns makes, within |x| (theta_max - theta_min) 2/d of it for
 * a monotone law. Errors as there.
 */
export function riemannSum(law: FrequencyLaw, offsets: PositionsLike, options: RiemannSumOptions): Tensor<"float64"> {
  const subject = "riemannSum";
  const { dim } = readOptions(subject, options, ["dim"]);
  const allowed = "an even integer from 2 to 65536";
  return run(subject, "riemann_sum", law, offsets, { dim: readFinite(subject, "dim", dim, undefined, allowed) });
}
