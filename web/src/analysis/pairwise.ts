// What a matrix of numbers of pairs (a bias, weights, similarities) says of distance.
import { analysisFrame } from "../analysis-part.js";
import type { Frame, Place } from "../module.js";
import { readChoice, readFinite, readLeast0, readNoOptions, readOptions } from "../options.js";
import { Tensor, type TensorLike } from "../tensor.js";
import { type Matrices, readMatrices } from "./table.js";

/** Options that say where a matrix's queries stand. */
export interface StartOptions {
  /** The position of the first query where the first key is at 0, as in attention over a cache. Default 0. */
  readonly start?: number;
}

/** Numbers of pairs by offset, each float64 [..., Tq + Tk - 1]. */
export interface OffsetProfile {
  /** key - query, rising, from -(start + Tq - 1): as in scores and biases everywhere here. */
  readonly offsets: Float64Array;
  /** The average over all pairs at the offset. */
  readonly mean: Tensor<"float64">;
  readonly lowest: Tensor<"float64">;
  readonly highest: Tensor<"float64">;
  /** The root of the mean squared distance from the mean. */
  readonly deviation: Tensor<"float64">;
}

function tensors(frame: Frame, places: readonly Place[], shape: readonly number[], count: number): Tensor<"float64">[] {
  return places.map((place) => new Tensor(frame.float64(place, count), shape, "float64"));
}

function fields(frame: Frame, { data, batch, queries, keys }: Matrices): Record<string, number | Place> {
  return { matrices: frame.input(data, "matrix", batch * queries * keys), batch, queries, keys };
}

/**
 * A pairwise score as a function of the offset: averages over the many positions that have it, for each matrix of
 * [..., Tq, Tk] (a bias, weights, similarities, scores of a trace). Where lowest and highest agree, the matrix is
 * Toeplitz. Errors: `not-finite`, `shape-mismatch`.
 */
export function offsetProfile(matrix: TensorLike, options?: StartOptions): OffsetProfile {
  const subject = "offsetProfile";
  const read = readMatrices(subject, "matrix", matrix);
  const given = readOptions(subject, options, ["start"]);
  const start = readFinite(subject, "start", given.start, 0);
  const count = read.queries === 0 || read.keys === 0 ? 0 : read.queries + read.keys - 1;
  const size = read.batch * count;
  const frame = analysisFrame(subject);
  const places = [0, 1, 2, 3].map(() => frame.output(size * 8)) as [Place, Place, Place, Place];
  const [mean, lowest, highest, deviation] = places;
  frame.run("offset_profile", { ...fields(frame, read), start, mean, lowest, highest, deviation });
  const made = tensors(frame, places, [...read.leading, count], size) as [
    Tensor<"float64">,
    Tensor<"float64">,
    Tensor<"float64">,
    Tensor<"float64">,
  ];
  return {
    offsets: Float64Array.from({ length: count }, (_, n) => n - (start + read.queries - 1)),
    mean: made[0],
    lowest: made[1],
    highest: made[2],
    deviation: made[3],
  };
}

/**
 * The Toeplitz test of any bias, or of weights: for each matrix of [..., Tq, Tk] the largest difference of two numbers
 * at one offset, float64 [...], 0 exactly where the numbers depend on the offset alone (003). Errors as
 * {@link offsetProfile}.
 */
export function toeplitzGap(matrix: TensorLike): Tensor<"float64"> {
  const subject = "toeplitzGap";
  readNoOptions(subject, arguments, 1);
  const read = readMatrices(subject, "matrix", matrix);
  const frame = analysisFrame(subject);
  const gap = frame.output(read.batch * 8);
  frame.run("toeplitz_gap", { ...fields(frame, read), gap });
  return new Tensor(frame.float64(gap, read.batch), read.leading, "float64");
}

/** How symmetric matrices are, each [...]. */
export interface Symmetry {
  /** |(M + Mᵀ) / 2|² / |M|² in Frobenius norms: 1 symmetric (and for zeros), 0 antisymmetric. */
  readonly share: Tensor<"float64">;
  /** The largest |m_ij - m_ji|. */
  readonly gap: Tensor<"float64">;
}

/**
 * Whether a key n before counts as one n behind, for each square matrix of [..., T, T] (Wang et al. 2021).
 * Errors: `shape-mismatch` for others, `not-finite`.
 */
export function symmetry(matrix: TensorLike): Symmetry {
  const subject = "symmetry";
  readNoOptions(subject, arguments, 1);
  const read = readMatrices(subject, "matrix", matrix);
  const frame = analysisFrame(subject);
  const places: [Place, Place] = [frame.output(read.batch * 8), frame.output(read.batch * 8)];
  frame.run("symmetry", { ...fields(frame, read), share: places[0], gap: places[1] });
  const [share, gap] = tensors(frame, places, read.leading, read.batch);
  return { share: share!, gap: gap! };
}

/** How monotone matrices are in the distance, each [...]. */
export interface Monotonicity {
  /** Of the steps from a key to the next one farther from the query, on either side, the share that do not rise. */
  readonly share: Tensor<"float64">;
  /** The largest rise; 0 for a matrix that is monotone. */
  readonly rise: Tensor<"float64">;
}

/**
 * Whether nearer keys count at least as much as farther ones, for each matrix of [..., Tq, Tk] (Wang et al. 2021).
 * Errors: `not-finite`, `shape-mismatch`.
 */
export function monotonicity(matrix: TensorLike, options?: StartOptions): Monotonicity {
  const subject = "monotonicity";
  const read = readMatrices(subject, "matrix", matrix);
  const given = readOptions(subject, options, ["start"]);
  const start = readFinite(subject, "start", given.start, 0);
  const frame = analysisFrame(subject);
  const places: [Place, Place] = [frame.output(read.batch * 8), frame.output(read.batch * 8)];
  frame.run("monotonicity", { ...fields(frame, read), start, share: places[0], rise: places[1] });
  const [share, rise] = tensors(frame, places, read.leading, read.batch);
  return { share: share!, rise: rise! };
}

/** Options of {@link locality}. */
export interface LocalityOptions extends StartOptions {
  /** Keys at most this far from the query are near. Default 1. */
  readonly radius?: number;
  /** `"weights"` (default): numbers of at least 0; `"scores"`: a bias, whose softmax is taken first. */
  readonly kind?: "weights" | "scores";
}

/**
 * How much of a query's weight lies on keys at most `radius` away: the mean over the queries that have any, float64
 * [...], for each matrix of [..., Tq, Tk]. Errors: `not-finite`, negative weights, a negative radius.
 */
export function locality(matrix: TensorLike, options?: LocalityOptions): Tensor<"float64"> {
  const subject = "locality";
  const read = readMatrices(subject, "matrix", matrix);
  const given = readOptions(subject, options, ["start", "radius", "kind"]);
  const start = readFinite(subject, "start", given.start, 0);
  const radius = readLeast0(subject, "radius", given.radius, 1);
  const scores = readChoice(subject, "kind", given.kind, ["weights", "scores"], "weights") === "scores";
  const frame = analysisFrame(subject);
  const share = frame.output(read.batch * 8);
  frame.run("locality", { ...fields(frame, read), start, radius, scores, share });
  return new Tensor(frame.float64(share, read.batch), read.leading, "float64");
}
