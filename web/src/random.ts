// Seeded random numbers, the same on every machine.
import { refuse } from "./error.js";
import { Frame } from "./module.js";
import { kLimit, readFinite, readLeast0, readOptions, readSeed, readWhole } from "./options.js";
import { type Tensor, allowedSize, float32Tensor, readArray } from "./tensor.js";

/** Options of {@link randomNormal}. */
export interface RandomNormalOptions {
  /** A whole number from 0 to 2^53. Default 0. */
  readonly seed?: number;
  /** Default 0. */
  readonly mean?: number;
  /** The standard deviation, at least 0. Default 1. */
  readonly std?: number;
}

/** Normally distributed float32 numbers of the given shape (or of a length); equal seeds give equal numbers. */
export function randomNormal(shape: number | readonly number[], options?: RandomNormalOptions): Tensor<"float32"> {
  const subject = "randomNormal";
  const allowed = "a whole number, or a list of at most 8 of them";
  const lengths = typeof shape === "number" ? [shape] : [...readArray(subject, "shape", shape).data];
  if (lengths.length > 8) refuse("shape-mismatch", subject, "shape", allowed, shape);
  const dims = lengths.map((length) => readWhole(subject, "shape", length, allowed, kLimit));
  const given = readOptions(subject, options, ["seed", "mean", "std"]);
  const seed = readSeed(subject, given.seed);
  const mean = readFinite(subject, "mean", given.mean, 0);
  const std = readLeast0(subject, "std", given.std, 1);
  const size = allowedSize(subject, "shape", dims);
  const frame = new Frame(subject);
  const result = frame.output(size * 4);
  frame.run("random_normal", { seed, count: size, mean, std, out: result });
  return float32Tensor(frame.float32(result, size), dims);
}
