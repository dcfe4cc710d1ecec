// Moving every position by k as one linear map, and what a scheme's scores make of moving.
import { analysisFrame } from "../analysis-part.js";
import { attention } from "../attention.js";
import { bias } from "../bias.js";
import { fromJSON } from "../catalogue.js";
import { encode } from "../embed.js";
import { readAll, refuse, verbatim } from "../error.js";
import { frequencies } from "../frequencies.js";
import { kLimit, readFinite, readFlag, readOptions, readPositive, readSeed, readWhole } from "../options.js";
import { type PositionsLike, arange } from "../positions.js";
import { randomNormal } from "../random.js";
import { rotate } from "../rotate.js";
import { type AnyScheme, type EmbedScheme, type RotateScheme, readScheme } from "../scheme.js";
import { served } from "../served.js";
import { Tensor, allowedSize } from "../tensor.js";
import { readLine } from "./turned-pairs.js";

/** Options of {@link shiftMatrix} and {@link shiftError}. */
export interface ShiftOptions {
  /** Tokens in all, for scaling rules that depend on it; default the largest position + 1. */
  readonly length?: number;
}

/** Options of {@link shiftMatrix}. */
export interface ShiftMatrixOptions extends ShiftOptions {
  /** The blocks of the pairs alone, [pairs, 2, 2]: all of M that is not the identity. Default false. */
  readonly blocks?: boolean;
}

// What the two shift functions read of a scheme.
interface Turning {
  readonly scheme: EmbedScheme | RotateScheme;
  readonly width: number;
  readonly pairs: number;
  readonly halves: boolean;
  readonly sineFirst: boolean;
}

const kTurning = "a sinusoidal scheme in which every sine has its cosine, or rope";

function readTurning(subject: string, scheme: unknown): Turning {
  const { descriptor, width } = readScheme(subject, "scheme", scheme, ["embed", "rotate"]);
  const { name } = descriptor;
  const refused = (why: string): never => refuse("unsupported", subject, "scheme", kTurning, verbatim(why));
  if (name === "rope") {
    const rope = readAll(scheme as RotateScheme) as RotateScheme & { dim: number; rotaryDim: number; layout: string };
    const { dim, rotaryDim, layout } = rope;
    const turned = rotaryDim ?? dim;
    const halves = layout === "half";
    return { scheme: scheme as RotateScheme, width, pairs: Math.floor(turned / 2), halves, sineFirst: false };
  }
  if (name !== "sinusoidal") return refused(name);
  const table = scheme as EmbedScheme & { layout: string; order: string; oddDim: string };
  if (width % 2 !== 0 && table.oddDim !== "pad") refused(`${width} columns with oddDim "${table.oddDim}"`);
  return {
    scheme: table,
    width,
    pairs: Math.floor(width / 2),
    halves: table.layout === "half",
    sineFirst: table.order === "sin-cos",
  };
}

// The sines and cosines of omega_i k for each k, as exact as the scheme's own tables: (offsets, pairs).
function turnedBy(
  subject: string,
  turning: Turning,
  offsets: Float64Array,
  length: number | undefined,
): { sine: Float64Array; cosine: Float64Array } {
  const { scheme, pairs, width } = turning;
  const count = offsets.length;
  const sine = new Float64Array(count * pairs);
  const cosine = new Float64Array(count * pairs);
  const json = scheme.toJSON();
  let rows: Float64Array;
  if (scheme.slot === "embed") {
    const unit = { ...json, layout: "interleaved", order: "cos-sin", scale: 1, padIndex: null };
    const turn = fromJSON(unit) as EmbedScheme;
    rows = served(subject, { positions: "k" }, () => encode(turn, offsets, { dtype: "float64" }).data);
  } else {
    const first = new Float64Array(count * width).map((_, n) => ((n % width) % 2 === 0 ? 1 : 0));
    const turn = fromJSON({ ...json, layout: "interleaved" }) as RotateScheme;
    const options = { positions: offsets, ...(length === undefined ? {} : { length }) };
    const ones = new Tensor(first, [count, width], "float64");
    rows = served(subject, { positions: "k", x: "k" }, () => rotate(ones, turn, options).data);
  }
  for (let t = 0; t < count; t++) {
    for (let i = 0; i < pairs; i++) {
      cosine[t * pairs + i] = rows[t * width + 2 * i]!;
      sine[t * pairs + i] = rows[t * width + 2 * i + 1]!;
    }
  }
  return { sine, cosine };
}

/**
 * M(k) [dim, dim], float64, with p(t + k) = M(k) p(t) for every position t: a rotation of each pair, the
 * angle-addition identity (Vaswani et al. 2017, 3.5; for rope R(t + k) = M(k) R(t), Su et al. 2021, 3.2.2). Its
 * determinant is 1, its eigenvalues e^(±i omega k) lie on the unit circle, M(k) M(l) = M(k + l). Of sinusoidal tables
 * whose every sine has its cosine, and of rope, in their layouts; `unsupported` for other schemes. k is any number of
 * at most 2^53. With `blocks` only what stands in the rows and columns of each pair's two members, in O(dim).
 */
export function shiftMatrix(
  scheme: EmbedScheme | RotateScheme,
  k: number,
  options?: ShiftMatrixOptions,
): Tensor<"float64"> {
  const subject = "shiftMatrix";
  const turning = readTurning(subject, scheme);
  const given = readOptions(subject, options, ["length", "blocks"]);
  const length = readPositive(subject, "length", given.length);
  const blocks = readFlag(subject, "blocks", given.blocks);
  return matrixOf(subject, turning, readFinite(subject, "k", k), length, blocks);
}

// What the sines and cosines of a turning are multiplied by.
function factorOf({ scheme }: Turning, length: number | undefined): number {
  return scheme.slot === "embed" ? 1 : frequencies(scheme, { length: length ?? 1 }).attentionFactor;
}

function matrixOf(
  subject: string,
  turning: Turning,
  k: number,
  length: number | undefined,
  blocks: boolean,
): Tensor<"float64"> {
  const { sine, cosine } = turnedBy(subject, turning, Float64Array.of(k), length);
  const { width, pairs } = turning;
  const factor = factorOf(turning, length);
  const frame = analysisFrame(subject);
  const shape = blocks ? [pairs, 2, 2] : [width, width];
  const size = allowedSize(subject, "scheme", shape, 8);
  const out = frame.output(size * 8);
  frame.run("shift_matrix", {
    sine: frame.input(sine, "scheme", pairs),
    cosine: frame.input(cosine, "scheme", pairs),
    factor,
    pairs,
    width,
    halves: turning.halves,
    sine_first: turning.sineFirst,
    blocks,
    out,
  });
  return new Tensor(frame.float64(out, size), shape, "float64");
}

// t + k - sum exactly, sum being t + k rounded (Knuth's two-sum).
function restOfSum(t: number, k: number, sum: number): number {
  const back = sum - t;
  return t - (sum - back) + (k - back);
}

/**
 * How far M(k) p(t) is from p(t + k) at each position t: the largest entry, float64 [T] (for rope p(t) is R(t) times a
 * vector of ones). Rounding alone, whatever the position: within dim 2^-52 times the largest entry, t + k being the sum
 * itself and not the double nearest to it.
 * Errors as {@link shiftMatrix}; `out-of-range` where t + k is beyond 2^53 in magnitude.
 */
export function shiftError(
  scheme: EmbedScheme | RotateScheme,
  k: number,
  positions: PositionsLike,
  options?: ShiftOptions,
): Tensor<"float64"> {
  const subject = "shiftError";
  const turning = readTurning(subject, scheme);
  const given = readOptions(subject, options, ["length"]);
  const wanted = readPositive(subject, "length", given.length);
  const offset = readFinite(subject, "k", k);
  const places = readLine(subject, "positions", positions);
  const { width, pairs } = turning;
  const count = places.length;
  const rowsAt = (scheme: EmbedScheme | RotateScheme, at: Float64Array, length?: number): Float64Array => {
    if (scheme.slot === "embed") return encode(scheme as EmbedScheme, at, { dtype: "float64" }).data;
    const ones = new Tensor(new Float64Array(count * width).fill(1), [count, width], "float64");
    return rotate(ones, scheme as RotateScheme, { positions: at, ...(length === undefined ? {} : { length }) }).data;
  };
  places.forEach((t) => {
    if (t >= -kLimit && t <= kLimit) return;
    const code = t - t === 0 ? "out-of-range" : "not-finite";
    refuse(code, subject, "positions", "numbers of at most 2^53 in magnitude", t);
  });
  const sums = places.map((t) => t + offset);
  const rests = places.map((t, n) => restOfSum(t, offset, sums[n]!));
  sums.forEach((sum, n) => {
    const beyond = Math.abs(sum) > kLimit || (Math.abs(sum) === kLimit && rests[n]! * sum > 0);
    if (beyond) refuse("out-of-range", subject, "k", "such that t + k is at most 2^53 in magnitude", offset);
  });
  // One length for all rows and the matrix: they are of one table.
  const length = wanted ?? sums.reduce((most, sum, n) => Math.max(most, sum + 1, places[n]! + 1), 1);
  const matrix = matrixOf(subject, turning, offset, length, true);
  const rows = rowsAt(turning.scheme, places, length);
  let moved = rowsAt(turning.scheme, sums, length);
  if (rests.some((rest, n) => rest !== 0 && sums[n] === (turning.scheme as { padIndex?: unknown }).padIndex)) {
    // A sum that only rounds to the padded position is not it.
    const padded = moved;
    moved = rowsAt(fromJSON({ ...turning.scheme.toJSON(), padIndex: null } as never) as EmbedScheme, sums);
    rests.forEach((rest, n) => {
      if (rest === 0) moved.set(padded.subarray(n * width, (n + 1) * width), n * width);
    });
  }
  const frame = analysisFrame(subject);
  // Whole numbers and most others: to be turned by nothing is to stay.
  const past = rests.some((rest) => rest !== 0) ? turnedBy(subject, turning, rests, length) : undefined;
  const out = frame.output(count * 8);
  frame.run("shift_error", {
    blocks: frame.input(matrix.data, "matrix", 4 * pairs),
    width,
    rows: frame.input(rows, "positions", count * width),
    moved: frame.input(moved, "positions", count * width),
    sine: past ? frame.input(past.sine, "positions", count * pairs) : 0,
    cosine: past ? frame.input(past.cosine, "positions", count * pairs) : 0,
    pairs,
    halves: turning.halves,
    sine_first: turning.sineFirst,
    factor: factorOf(turning, length),
    count,
    out,
  });
  return new Tensor(frame.float64(out, count), [count], "float64");
}

/** Options of {@link translationGap}. */
export interface TranslationGapOptions {
  /** By how many positions everything is moved: a whole number, default 1. */
  readonly shift?: number;
  /** Positions 0 … length - 1 are scored against each other. Default 32. */
  readonly length?: number;
  /** Seed of the queries and keys that rotate and relate schemes are tried on. Default 0. */
  readonly seed?: number;
}

/** How much a scheme's scores change when all positions move. */
export interface TranslationGap {
  /** The largest change of a score. */
  readonly gap: number;
  /** The largest score, to hold the gap against. */
  readonly size: number;
}

/**
 * Translation invariance of any scheme, measured: the scores of positions 0 … length - 1 against those of the same
 * moved by `shift`. embed: the products <p(i), p(j)> of float64 rows; rotate: <R(i) q, R(j) k> in float64, and bias:
 * b(i, j), and relate: the terms of the scores, on seeded normal queries and keys. A gap of 0, or one of rounding
 * beside `size` (2^-40 of it for rows, 2^-20 for float32 terms), says that scores depend on the offset alone.
 * Errors: as the scheme refuses positions; `unsupported` where a scheme takes no such call.
 */
export function translationGap(scheme: AnyScheme, options?: TranslationGapOptions): TranslationGap {
  const subject = "translationGap";
  const spec = readScheme(subject, "scheme", scheme, ["embed", "rotate", "bias", "relate"]);
  const given = readOptions(subject, options, ["shift", "length", "seed"]);
  const shift = readFinite(subject, "shift", given.shift, 1, "a whole number of at most 2^53 in magnitude");
  if (!Number.isInteger(shift)) refuse("not-integer", subject, "shift", "a whole number", shift);
  const length = readWhole(subject, "length", given.length, "a whole number from 1 to 2^53", kLimit, 32);
  allowedSize(subject, "length", [length], 8);
  const most = kLimit - length;
  if (shift > most) refuse("out-of-range", subject, "shift", `at most ${most}, 2^53 - length`, shift);
  const seed = readSeed(subject, given.seed);
  const width = spec.width === 0 ? 8 : spec.width;
  const random = (heads: number, salt: number): Tensor<"float32"> =>
    randomNormal(heads === 0 ? [length, width] : [heads, length, width], { seed: seed + salt });

  const scores = (first: number): Float64Array => {
    const positions = arange(first, first + length);
    switch (spec.descriptor.slot) {
      case "embed": {
        const rows = encode(scheme as EmbedScheme, positions, { dtype: "float64" }).data;
        return products(subject, rows, rows, length, spec.width);
      }
      case "rotate": {
        const turned = (salt: number, side: "query" | "key"): Float64Array => {
          const x = new Tensor(Float64Array.from(random(0, salt).data), [length, width], "float64");
          return rotate(x, scheme as RotateScheme, { positions, side }).data;
        };
        return products(subject, turned(0, "query"), turned(1, "key"), length, width);
      }
      case "bias":
        return Float64Array.from(bias(scheme as never, { queries: positions, keys: positions }).data);
      case "relate": {
        const heads = spec.heads === 0 ? 1 : spec.heads;
        const keys = random(heads, 1);
        const { trace } = attention(random(heads, 0), keys, keys, {
          relate: scheme as never,
          queryPositions: positions,
          keyPositions: positions,
          causal: spec.descriptor.name === "cope",
          trace: true,
        });
        return Float64Array.from(trace.relate.data);
      }
    }
  };
  const names = { positions: "shift", queries: "shift", keys: "shift", queryPositions: "shift", keyPositions: "shift" };
  const [expected, found] = [0, shift].map((first) => served(subject, names, () => scores(first))) as [
    Float64Array,
    Float64Array,
  ];
  const count = expected.length;
  const frame = analysisFrame(subject);
  frame.run("largest_difference", {
    found: frame.input(found, "scores", count),
    expected: frame.input(expected, "scores", count),
    count,
    difference: 0,
    size: 0,
  });
  return { gap: frame.answer("difference"), size: frame.answer("size") };
}

function products(
  subject: string,
  left: Float64Array,
  right: Float64Array,
  rows: number,
  columns: number,
): Float64Array {
  const frame = analysisFrame(subject);
  const out = frame.output(rows * rows * 8);
  frame.run("row_products", {
    left: frame.input(left, "scheme", rows * columns),
    rows,
    right: frame.input(right, "scheme", rows * columns),
    others: rows,
    columns,
    out,
  });
  return frame.float64(out, rows * rows);
}
