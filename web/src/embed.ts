// Embed schemes alone: their tables, and tokens with them added.
import { refuse, verbatim, printedShape } from "./error.js";
import { Frame } from "./module.js";
import { readChoice, readFinite, readFlag, readOptions, readPositive, readSeed } from "./options.js";
import { type PositionsLike, inputPositions, readPositions, readPositionsOf } from "./positions.js";
import { type EmbedScheme, readScheme } from "./scheme.js";
import {
  Tensor,
  type TensorLike,
  allowedSize,
  asFloat32,
  float32Tensor,
  product,
  readNumbers,
  readOut,
} from "./tensor.js";

/** Options of {@link encode}. */
export interface EncodeOptions {
  /** `"float64"` is within 2^-52 of the true values; default `"float32"`, correctly rounded to 0.501 ULP. */
  readonly dtype?: "float32" | "float64";
  /** Tokens in all, for schemes that depend on it; default the largest position + 1. */
  readonly length?: number;
  /** Receives the result: a Float32Array (or Float64Array) or tensor of T * dim elements. */
  readonly out?: Float32Array | Float64Array | Tensor;
}

/**
 * The table of an embed scheme: p(i) for each position, [T, dim], float32 unless `dtype` says otherwise. Position
 * -0 is position 0, whose sines are +0, where IEEE's sine of -0 is -0.
 * Errors: `wrong-slot`, `out-of-range` positions, `too-large`.
 */
export function encode(
  scheme: EmbedScheme,
  positions: PositionsLike,
  options: EncodeOptions & { readonly dtype: "float64" },
): Tensor<"float64">;
export function encode(
  scheme: EmbedScheme,
  positions: PositionsLike,
  options?: EncodeOptions & { readonly dtype?: "float32" },
): Tensor<"float32">;
export function encode(
  scheme: EmbedScheme,
  positions: PositionsLike,
  options: EncodeOptions,
): Tensor<"float32" | "float64">;
export function encode(
  scheme: EmbedScheme,
  positions: PositionsLike,
  options?: EncodeOptions,
): Tensor<"float32" | "float64"> {
  const subject = "encode";
  const spec = readScheme(subject, "scheme", scheme, ["embed"]);
  const given = readOptions(subject, options, ["dtype", "length", "out"]);
  const dtype = readChoice(subject, "dtype", given.dtype, ["float32", "float64"], "float32");
  const length = readPositive(subject, "length", given.length) ?? 0;
  const places = readPositions(subject, "positions", positions);
  const { axes, count, implied } = places;
  const shape = [count, spec.width];
  const wide = dtype === "float64";
  const size = allowedSize(subject, "positions x dim", shape, wide ? 8 : 4);
  const out = readOut(subject, given.out, size, dtype);

  // An `out` is filled in pieces, each while it is still in the cache. They begin at the end: positions that count up
  // are refused there if anywhere, before anything is written.
  const { width } = spec;
  const rows = out === undefined || !implied || spec.axes !== 1 ? count : Math.ceil(kPiece / width);
  let tokens = Math.min(rows, count);
  let first = count - tokens;
  const frame = new Frame(subject);
  const result = frame.output(tokens * width * (wide ? 8 : 4));
  const at = inputPositions(frame, places, "positions");
  frame.run("encode", {
    scheme: frame.scheme(spec),
    positions: { ...at, offset: at.offset + 8 * first },
    axes,
    tokens,
    length: Math.max(length, implied ? count : 0),
    float64: wide,
    out: result,
  });
  for (;;) {
    const filled = frame[dtype](result, tokens * width, out as never, first * width);
    if (first === 0) return new Tensor(filled, shape, dtype);
    tokens = Math.min(rows, first);
    first -= tokens;
    frame.again({ positions: frame.answer("positions") - 8 * tokens, tokens });
  }
}

// Elements of a piece of a table.
const kPiece = 2 ** 18;

/** Options of {@link embed}. */
export interface EmbedOptions {
  /** Positions of the tokens; default 0 … T - 1. */
  readonly positions?: PositionsLike;
  /** Multiplies x; `"sqrt"` is the paper's square root of the width. Default 1. */
  readonly scale?: number | "sqrt";
  /** Multiplies p. Default 1. */
  readonly alpha?: number;
  /** `"add"` (default) or `"concat"`, which puts p behind x. */
  readonly mode?: "add" | "concat";
  /** The share of entries set to zero, the rest divided by (1 - dropout): from 0 (default) to below 1. */
  readonly dropout?: number;
  /** Seed of the dropout. Default 0. */
  readonly seed?: number;
  /** Tokens in all, for schemes that depend on it; default the largest position + 1. */
  readonly length?: number;
  /** Lets NaN and Infinity in x through; they are `not-finite` otherwise. */
  readonly allowNonFinite?: boolean;
  /** Receives the result: a Float32Array or tensor of its size. */
  readonly out?: Float32Array | Tensor;
}

/**
 * Tokens with their positions: x * scale + alpha * p, for x [..., T, width]; the result has x's shape, or with
 * `mode: "concat"` [..., T, width + dim]. Adding needs a scheme of x's width, else `shape-mismatch`.
 */
export function embed(x: TensorLike, scheme: EmbedScheme, options?: EmbedOptions): Tensor<"float32"> {
  const subject = "embed";
  const read = readNumbers(subject, "x", x);
  const spec = readScheme(subject, "scheme", scheme, ["embed"]);
  const given = readOptions(subject, options, [
    "positions",
    "scale",
    "alpha",
    "mode",
    "dropout",
    "seed",
    "length",
    "allowNonFinite",
    "out",
  ]);
  const concat = readChoice(subject, "mode", given.mode, ["add", "concat"], "add") === "concat";
  const allowedScale = 'a number of at most 2^53 in magnitude, or "sqrt"';
  // NaN stands for the square root of the width, which the core takes.
  const scale = given.scale === "sqrt" ? NaN : readFinite(subject, "scale", given.scale, 1, allowedScale);
  const alpha = readFinite(subject, "alpha", given.alpha, 1);
  const allowedDropout = "a number from 0 to below 1";
  const dropout = readFinite(subject, "dropout", given.dropout, 0, allowedDropout);
  if (dropout < 0 || dropout >= 1) refuse("out-of-range", subject, "dropout", allowedDropout, dropout);
  const seed = readSeed(subject, given.seed);
  const length = readPositive(subject, "length", given.length) ?? 0;
  const allowNonFinite = readFlag(subject, "allowNonFinite", given.allowNonFinite);

  // A bare typed array is one token or several: the scheme's width says which.
  const shape = read.shaped ? read.shape : [read.data.length / spec.width, spec.width];
  const rank = shape.length;
  const width = shape[rank - 1]!;
  const tokens = shape[rank - 2]!;
  if (rank < 2 || !Number.isInteger(tokens) || (!concat && width !== spec.width)) {
    refuse(
      "shape-mismatch",
      subject,
      "x",
      `of shape [..., T, ${concat ? "width" : spec.width}]`,
      verbatim(read.shaped ? `shape ${printedShape(read.shape)}` : `${read.data.length} elements`),
    );
  }
  const positions = readPositionsOf(subject, given.positions, tokens, "token of x");
  const batch = product(shape.slice(0, -2));
  const resultShape = [...shape.slice(0, -1), concat ? width + spec.width : width];
  const size = allowedSize(subject, "x", resultShape);
  const out = readOut(subject, given.out, size, "float32");

  const frame = new Frame(subject);
  const result = frame.output(size * 4);
  frame.run("embed", {
    scheme: frame.scheme(spec),
    positions: inputPositions(frame, positions, "positions"),
    axes: positions.axes,
    tokens,
    length,
    batch,
    width,
    x: frame.input(asFloat32(subject, "x", read.data), "x", product(shape)),
    scale,
    alpha,
    concat,
    dropout,
    seed,
    allow_non_finite: allowNonFinite,
    out: result,
  });
  return float32Tensor(frame.float32(result, size, out as Float32Array | undefined), resultShape);
}
