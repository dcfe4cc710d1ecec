// Positions are data: real numbers up to 2^53 in magnitude, one row an axis. These are the ways to write them down.
import { CountUp, type Frame, type Place } from "./module.js";
import { isList, refuse, refuseMissing, refuseShape, refuseUnknown, verbatim } from "./error.js";
import { kLimit, readFinite, readMask, readOptions, readWhole } from "./options.js";
import {
  type BigIntsLike,
  type MaskLike,
  type NestedNumbers,
  type NumberArray,
  type Shaped,
  Tensor,
  allowedSize,
  asFloat64,
  readArray,
} from "./tensor.js";

/**
 * `n` (0 … n - 1), an array of reals or BigInts, a BigInt64Array, or [axes, T] nested or as a tensor, of another library
 * too. Whole numbers are exact to 2^53.
 */
export type PositionsLike =
  | number
  | readonly (number | bigint)[]
  | readonly (readonly (number | bigint)[])[]
  | NumberArray
  | BigIntsLike
  | Tensor
  | Shaped
  | NestedNumbers;

/** Positions as they were read: (axes, count) doubles, row-major. */
export interface Positions {
  readonly data: Float64Array;
  readonly axes: number;
  readonly count: number;
  /** True: they are 0 … count - 1. */
  readonly implied?: boolean;
  /** Those that count up, which need not be written down. */
  readonly counted?: CountUp;
}

/** Moves positions in. */
export function inputPositions(frame: Frame, positions: Positions, argument: string): Place {
  return frame.input(positions.counted ?? positions.data, argument, positions.axes * positions.count);
}

const kAllowed = "a count, or an array of numbers of at most 2^53 in magnitude, [T] or [axes, T]";

/** Reads positions; numbers in it are checked by the core, BigInts here. */
export function readPositions(subject: string, argument: string, value: unknown): Positions {
  if (typeof value === "number")
    return countUp(0, readWhole(subject, argument, value, kAllowed, kLimit), subject, argument);
  if (value === undefined) refuseMissing(subject, argument, kAllowed);
  const read = readArray(subject, argument, value, (entry) => {
    if (entry > 9007199254740992n || entry < -9007199254740992n) {
      refuse("out-of-range", subject, argument, "at most 2^53 in magnitude", entry);
    }
    return Number(entry);
  });
  if (read.boolean) refuse("not-a-number", subject, argument, kAllowed, verbatim("booleans"));
  if (
    read.shape.length < 1 ||
    read.shape.length > 2 ||
    (read.shape.length === 2 && !(read.shape[0]! >= 1 && read.shape[0]! <= 8))
  ) {
    refuseShape(subject, argument, "of shape [T] or [axes, T] with 1 to 8 axes", read.shape);
  }
  const data = asFloat64(read.data);
  return read.shape.length === 1
    ? { data, axes: 1, count: read.shape[0]! }
    : { data, axes: read.shape[0]!, count: read.shape[1]! };
}

/** The option `positions` of a call on `tokens` rows: 0 … tokens - 1 where not given; `each` says what has one. */
export function readPositionsOf(subject: string, value: unknown, tokens: number, each: string): Positions {
  if (value === undefined) return countUp(0, tokens, subject, "positions");
  const positions = readPositions(subject, "positions", value);
  if (positions.count !== tokens) {
    const given = verbatim(`${positions.count}`);
    refuse("shape-mismatch", subject, "positions", `${tokens} in number, one a ${each}`, given);
  }
  return positions;
}

/** Positions `start` … `start + count - 1`, written down when they are asked for: the core counts from 0 by itself. */
export function countUp(start: number, count: number, subject: string, argument: string): Positions {
  allowedSize(subject, argument, [count], 8);
  return new Counted(start, count);
}

// A class, since an object with a getter of its own is slow to make.
class Counted implements Positions {
  readonly axes = 1;
  readonly implied: boolean;
  readonly counted: CountUp;
  #data: Float64Array | undefined;

  constructor(
    start: number,
    readonly count: number,
  ) {
    this.counted = new CountUp(start, count);
    this.implied = start === 0;
  }

  get data(): Float64Array {
    if (this.#data === undefined) {
      // A loop over locals: map() takes eight times as long, and a list for Float64Array.from() longer still.
      const data = new Float64Array(this.count);
      const { start } = this.counted;
      for (let t = 0; t < data.length; t++) data[t] = start + t;
      this.#data = data;
    }
    return this.#data;
  }
}

/** One number for each of `count` tokens, such as `queryOrder`; undefined where not given. */
export function readOrder(subject: string, argument: string, value: unknown, count: number): Float64Array | undefined {
  if (value === undefined) return undefined;
  const { data, axes, count: given } = readPositions(subject, argument, value);
  if (axes !== 1 || given !== count) {
    refuse("shape-mismatch", subject, argument, `${count} numbers, one a token`, verbatim(`${axes * given} numbers`));
  }
  return data;
}

/**
 * `arange(stop)`, `arange(start, stop)` or `arange(start, stop, step)`: start, start + step, … before stop, float64
 * [T].
 * Each entry is start + t * step, so nothing accumulates. A step of zero is `out-of-range`.
 */
export function arange(start: number, stop?: number, step = 1): Tensor<"float64"> {
  const from = stop === undefined ? 0 : readFinite("arange", "start", start);
  const to = readFinite("arange", "stop", stop === undefined ? start : stop);
  const allowed = "a number other than 0, of at most 2^53 in magnitude";
  const by = readFinite("arange", "step", step, undefined, allowed);
  if (by === 0) refuse("out-of-range", "arange", "step", allowed, by);
  const count = Math.max(0, Math.ceil((to - from) / by));
  const data = new Float64Array(allowedSize("arange", "stop", [count], 8));
  for (let t = 0; t < count; t++) data[t] = from + t * by;
  return new Tensor(data, [count], "float64");
}

/** The cells of an image, float64 [2, height * width], row by row; axis 0 is the row (height), axis 1 the column. */
export function grid(height: number, width: number): Tensor<"float64"> {
  const rows = readWhole("grid", "height", height);
  const columns = readWhole("grid", "width", width);
  const count = allowedSize("grid", "height x width", [2, rows, columns], 8) / 2;
  const data = new Float64Array(2 * count);
  for (let t = 0; t < count; t++) {
    data[t] = Math.floor(t / columns);
    data[count + t] = t % columns;
  }
  return new Tensor(data, [2, count], "float64");
}

/** Options of {@link paddedPositions}. */
export interface PaddedPositionsOptions {
  /** On which side the padding must lie; not given: anywhere. */
  readonly padding?: "left" | "right";
  /** The position that padding tokens get. Default 1, as Hugging Face fills it. */
  readonly fill?: number;
}

/**
 * Positions of a padded sequence from its mask, [T] or [1, T] (true, 1 or 1n = token): tokens count 0, 1, 2 … whatever
 * lies before them, padding gets `fill` (the cumulative-sum rule of Hugging Face). A mask padded on the other side than
 * `padding` says is `shape-mismatch`.
 */
export function paddedPositions(
  mask: MaskLike,
  options: PaddedPositionsOptions = {},
): Tensor<"float64"> {
  const subject = "paddedPositions";
  const { padding, fill = 1 } = readOptions(subject, options, ["padding", "fill"]) as PaddedPositionsOptions;
  if (padding !== undefined && padding !== "left" && padding !== "right") {
    refuse("unknown-choice", subject, "padding", '"left" or "right"', padding);
  }
  const filled = readFinite(subject, "fill", fill);
  const tokens = readMask(subject, "mask", mask, 1).data;
  const side = padding === "left" ? 1 : 0;
  if (padding !== undefined) {
    const wrong = tokens.findIndex((token, t) => t > 0 && token !== side && tokens[t - 1] === side);
    if (wrong >= 0) {
      refuse(
        "shape-mismatch",
        subject,
        "mask",
        `padded on the ${padding} only`,
        verbatim(`a token turning to ${tokens[wrong]} at ${wrong}`),
      );
    }
  }
  let next = 0;
  return new Tensor(
    Float64Array.from(tokens, (token) => (token !== 0 ? next++ : filled)),
    [tokens.length],
    "float64",
  );
}

/**
 * fairseq's positions of tokens [T]: padIndex + 1, padIndex + 2, … for tokens other than `padIndex`, which get padIndex
 * itself (and a zero row, with `sinusoidal({padIndex})`). RoBERTa and the first OPT count so.
 */
export function fairseqPositions(tokens: PositionsLike, padIndex: number): Tensor<"float64"> {
  const subject = "fairseqPositions";
  const pad = readWhole(subject, "padIndex", padIndex);
  if (typeof tokens === "number") refuse("not-a-number", subject, "tokens", "an array of token numbers [T]", tokens);
  const { data, axes } = readPositions(subject, "tokens", tokens);
  if (axes !== 1) refuse("shape-mismatch", subject, "tokens", "of shape [T]", verbatim(`${axes} axes`));
  let next = pad + 1;
  return new Tensor(
    Float64Array.from(data, (token) => {
      if (!Number.isFinite(token)) refuse("not-finite", subject, "tokens", "whole numbers", token);
      if (!Number.isInteger(token)) refuse("not-integer", subject, "tokens", "whole numbers", token);
      return token === pad ? pad : next++;
    }),
    [data.length],
    "float64",
  );
}

/**
 * A stretch of a multimodal sequence: `{text: tokens}`, `{image: [t, h, w]}` or `{video: [t, h, w]}` in merged patches.
 */
export type MultimodalPart =
  | { readonly text: number }
  | { readonly image: readonly [t: number, h: number, w: number] }
  | { readonly video: readonly [t: number, h: number, w: number] };

/**
 * Positions of text and images together, float64 [3, T] with the axes time, height, width (Qwen2-VL): text counts on
 * all three alike, an image starts at the next number and counts its frames, rows and columns, and what follows resumes
 * after the largest number so far.
 */
export function multimodalPositions(parts: readonly MultimodalPart[]): Tensor<"float64"> {
  const subject = "multimodalPositions";
  if (parts === undefined) refuseMissing(subject, "parts", "a list of {text: n} and {image: [t, h, w]}");
  if (!isList(parts))
    refuse("not-a-number", subject, "parts", "a list of {text: n} and {image: [t, h, w]}", parts);
  // Array.from sees what map leaves out: a hole is a part that is missing.
  const read = Array.from(parts, (part: unknown, p) => readPart(subject, `parts[${p}]`, part));
  const count = read.reduce((sum, [t, h, w]) => sum + t * h * w, 0);
  const data = new Float64Array((3 * allowedSize(subject, "parts", [3, count], 8)) / 3);
  let at = 0;
  let next = 0;
  for (const [frames, rows, columns, flat] of read) {
    for (let n = 0; n < frames * rows * columns; n++, at++) {
      data[at] = next + (flat ? n : Math.floor(n / (rows * columns)));
      data[count + at] = next + (flat ? n : Math.floor(n / columns) % rows);
      data[2 * count + at] = next + (flat ? n : n % columns);
    }
    next += frames * rows * columns === 0 ? 0 : Math.max(frames, rows, columns);
  }
  return new Tensor(data, [3, count], "float64");
}

function readPart(subject: string, argument: string, part: unknown): [t: number, h: number, w: number, flat: boolean] {
  const allowed = "{text: n}, {image: [t, h, w]} or {video: [t, h, w]}";
  if (typeof part !== "object" || part === null) refuse("not-a-number", subject, argument, allowed, part);
  const entries = Object.entries(part as Record<string, unknown>);
  const [kind, value] = entries[0] ?? [];
  if (kind === undefined) refuse("missing-option", subject, argument, allowed, part);
  if (entries.length > 1) refuse("unknown-option", subject, argument, allowed, part);
  if (kind === "text") return [readWhole(subject, `${argument}.text`, value), 1, 1, true];
  if (kind !== "image" && kind !== "video")
    refuseUnknown(subject, `${argument}.${kind}`, [`${argument}.text`, `${argument}.image`, `${argument}.video`]);
  const size = isList(value) ? (value as unknown[]) : [];
  if (size.length !== 3) refuse("shape-mismatch", subject, `${argument}.${kind}`, "[t, h, w]", value);
  const [t, h, w] = size.map((length) =>
    readWhole(subject, `${argument}.${kind}`, length, "three whole numbers from 0"),
  );
  return [t!, h!, w!, false];
}
