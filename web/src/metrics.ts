// Numbers that sum up attention weights, in float64.
import { refuse, refuseShape } from "./error.js";
import { Frame } from "./module.js";
import { readFinite, readFlag, readOptions } from "./options.js";
import { type PositionsLike, type Positions, countUp, inputPositions, readPositions } from "./positions.js";
import { Tensor, type TensorLike, asFloat32, product, readNumbers } from "./tensor.js";

/** Options of {@link entropy}. */
export interface EntropyOptions {
  /** The base of the logarithm: `"e"` (default, nats), 2 (bits), or any other number above 0 but 1. */
  readonly base?: "e" | number;
  /** Lets NaN and Infinity through: a row that holds one has entropy NaN. They are `not-finite` otherwise. */
  readonly allowNonFinite?: boolean;
}

/**
 * The entropy of each row of weights [..., Tq, Tk] (or of one row [Tk]): -sum w log w with 0 log 0 = 0, float64 [...,
 * Tq].
 * A row that sees no key has entropy 0. Errors: negative or infinite weights.
 */
export function entropy(weights: TensorLike, options?: EntropyOptions): Tensor<"float64"> {
  const subject = "entropy";
  const read = readNumbers(subject, "weights", weights);
  const given = readOptions(subject, options, ["base", "allowNonFinite"]);
  const allowed = '"e", or a number above 0 and at most 2^53, other than 1';
  const base =
    given.base === undefined || given.base === "e"
      ? Math.E
      : readFinite(subject, "base", given.base, undefined, allowed);
  if (base <= 0 || base === 1) refuse("out-of-range", subject, "base", allowed, base);
  const shape = read.shape.slice(0, -1);
  const rows = product(shape);
  const frame = new Frame(subject);
  const result = frame.output(rows * 8);
  frame.run("entropy", {
    weights: frame.input(asFloat32(subject, "weights", read.data), "weights", product(read.shape)),
    rows,
    keys: read.shape[read.shape.length - 1]!,
    base,
    allow_non_finite: readFlag(subject, "allowNonFinite", given.allowNonFinite),
    out: result,
  });
  return new Tensor(frame.float64(result, rows), shape, "float64");
}

/** Options of {@link attentionDistance}. */
export interface AttentionDistanceOptions {
  /** Positions of queries and keys alike, where there are as many of both; default 0 … T - 1 on each side. */
  readonly positions?: PositionsLike;
  readonly queryPositions?: PositionsLike;
  readonly keyPositions?: PositionsLike;
  /** Lets NaN and Infinity through: a row that holds one has distance NaN. They are `not-finite` otherwise. */
  readonly allowNonFinite?: boolean;
}

/**
 * The mean distance a query looks over, sum_j w_ij |i - j|, for each row of weights [..., Tq, Tk]: float64 [..., Tq],
 * in positions. Errors: negative or infinite weights, positions that do not fit.
 */
export function attentionDistance(weights: TensorLike, options?: AttentionDistanceOptions): Tensor<"float64"> {
  const subject = "attentionDistance";
  const read = readNumbers(subject, "weights", weights);
  const given = readOptions(subject, options, ["positions", "queryPositions", "keyPositions", "allowNonFinite"]);
  const rank = read.shape.length;
  if (rank < 2)
    refuseShape(subject, "weights", "of shape [..., Tq, Tk]", read.shape);
  const side = (argument: "queryPositions" | "keyPositions", count: number): Positions => {
    const own = given[argument] === undefined ? "positions" : argument;
    if (given[own] === undefined) return countUp(0, count, subject, argument);
    const positions = readPositions(subject, own, given[own]);
    if (positions.axes !== 1 || positions.count !== count) {
      refuseShape(
        subject,
        own,
        `${count} positions on one axis`,
        positions.axes === 1 ? [positions.count] : [positions.axes, positions.count],
      );
    }
    return positions;
  };
  const [queries, keys] = [read.shape[rank - 2]!, read.shape[rank - 1]!];
  const queryPositions = side("queryPositions", queries);
  const keyPositions = side("keyPositions", keys);
  const shape = read.shape.slice(0, -1);
  const rows = product(shape);
  const frame = new Frame(subject);
  const result = frame.output(rows * 8);
  frame.run("attention_distance", {
    weights: frame.input(asFloat32(subject, "weights", read.data), "weights", product(read.shape)),
    batch: product(read.shape.slice(0, -2)),
    queries,
    keys,
    query_positions: inputPositions(frame, queryPositions, "queryPositions"),
    key_positions: inputPositions(frame, keyPositions, "keyPositions"),
    allow_non_finite: readFlag(subject, "allowNonFinite", given.allowNonFinite),
    out: result,
  });
  return new Tensor(frame.float64(result, rows), shape, "float64");
}
