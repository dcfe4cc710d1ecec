// The score that turned pairs make of an offset alone, and how it decays.
import { analysisFrame } from "../analysis-part.js";
import { readFlag, readOptions } from "../options.js";
import type { PositionsLike } from "../positions.js";
import { Tensor } from "../tensor.js";
import { type TurningScheme, readLine, turnedPairs } from "./turned-pairs.js";

/** Options of {@link kernel}. */
export interface KernelOptions {
  /** Divides by the number of pairs, so that g(0) = 1. Default false. */
  readonly normalize?: boolean;
  /** Tokens in all, for scaling rules that depend on it. */
  readonly length?: number;
}

/**
 * g(k) = sum_i cos(omega_i k) for each offset k, float64 [n]: the dot product <p(m), p(n)> of a sinusoidal table at
 * m - n = k, and the score of RoPE for q = k = (1, 0, 1, 0, …). For any scheme with frequencies; its `scale` and
 * attention factor are left out. Each cosine is exact to 0.51 ULP and their sum rounded once.
 * Errors: `unsupported` schemes that turn no pairs; offsets beyond 2^53.
 */
export function kernel(scheme: TurningScheme, offsets: PositionsLike, options?: KernelOptions): Tensor<"float64"> {
  const subject = "kernel";
  const given = readOptions(subject, options, ["normalize", "length"]);
  const normalize = readFlag(subject, "normalize", given.normalize);
  const { parts, pairs } = turnedPairs(subject, "scheme", scheme, given.length);
  const places = readLine(subject, "offsets", offsets);
  const count = places.length;
  const frame = analysisFrame(subject);
  const out = frame.output(count * 8);
  frame.run("kernel", {
    frequencies: frame.input(parts, "scheme", pairs * 3),
    pairs,
    offsets: frame.input(places, "offsets", count),
    count,
    normalize,
    out,
  });
  return new Tensor(frame.float64(out, count), [count], "float64");
}

/** Options of {@link decayBound}. */
export interface DecayBoundOptions {
  /** Tokens in all, for scaling rules that depend on it. */
  readonly length?: number;
}

/**
 * RoFormer's bound B(k) = 1 / (d/2) sum_{j=1}^{d/2} |sum_{i<j} e^(i k omega_i)| for each offset k, float64 [n] (Su et
 * al. 2021, section 3.4.3): with h_i = q_i conj(k_i) pair by pair and h_{d/2} = 0, |<R(m) q, R(n) k>| is at most
 * d/2 max |h_{i+1} - h_i| B(m - n). Errors as {@link kernel}.
 */
export function decayBound(
  scheme: TurningScheme,
  offsets: PositionsLike,
  options?: DecayBoundOptions,
): Tensor<"float64"> {
  const subject = "decayBound";
  const given = readOptions(subject, options, ["length"]);
  const { parts, pairs } = turnedPairs(subject, "scheme", scheme, given.length);
  const places = readLine(subject, "offsets", offsets);
  const count = places.length;
  const frame = analysisFrame(subject);
  const out = frame.output(count * 8);
  frame.run("decay_bound", {
    frequencies: frame.input(parts, "scheme", pairs * 3),
    pairs,
    offsets: frame.input(places, "offsets", count),
    count,
    out,
  });
  return new Tensor(frame.float64(out, count), [count], "float64");
}
