// Rotate schemes alone, and the two layouts of their pairs.
import { refuse, refuseShape, verbatim } from "./error.js";
import { Frame } from "./module.js";
import { readChoice, readFlag, readOptions, readPositive } from "./options.js";
import { type PositionsLike, inputPositions, readPositionsOf } from "./positions.js";
import { type RotateScheme, type Spec, readSchemes } from "./scheme.js";
import {
  Tensor,
  type TensorLike,
  allowedSize,
  asFloat32,
  asFloat64,
  product,
  readNumbers,
  readOut,
} from "./tensor.js";

/** Options of {@link rotate}. */
export interface RotateOptions {
  /** Positions of the T rows; default 0 … T - 1. */
  readonly positions?: PositionsLike;
  /** Whether the rows are queries (default) or keys; it matters where a scheme treats them differently. */
  readonly side?: "query" | "key";
  /** Turns back: `rotate(rotate(x, s), s, {inverse: true})` is x to within rounding. */
  readonly inverse?: boolean;
  /** Tokens in all, for scaling rules that depend on it; default the largest position + 1. */
  readonly length?: number;
  /** Lets NaN and Infinity in x through; they are `not-finite` otherwise. */
  readonly allowNonFinite?: boolean;
  /** Receives the result: an array or tensor of x's size and of the result's type. */
  readonly out?: Float32Array | Float64Array | Tensor;
}

/**
 * Queries or keys turned by their positions: R(i) x_i for x [..., T, dim], in x's shape. Several schemes compose from
 * left to right. A Float64Array (or float64 tensor) gives float64, all else float32.
 */
export function rotate(
  x: Float64Array | Tensor<"float64">,
  scheme: RotateScheme | readonly RotateScheme[],
  options?: RotateOptions,
): Tensor<"float64">;
export function rotate(
  x: Exclude<TensorLike, Float64Array | Tensor> | Tensor<"float32">,
  scheme: RotateScheme | readonly RotateScheme[],
  options?: RotateOptions,
): Tensor<"float32">;
export function rotate(
  x: TensorLike,
  scheme: RotateScheme | readonly RotateScheme[],
  options?: RotateOptions,
): Tensor<"float32" | "float64">;
export function rotate(
  x: TensorLike,
  scheme: RotateScheme | readonly RotateScheme[],
  options?: RotateOptions,
): Tensor<"float32" | "float64"> {
  const subject = "rotate";
  const read = readNumbers(subject, "x", x);
  const specs = readSchemes(subject, "scheme", scheme, "rotate");
  if (specs.length === 0) refuse("missing-option", subject, "scheme", "a rotate scheme or a list of them", scheme);
  const given = readOptions(subject, options, ["positions", "side", "inverse", "length", "allowNonFinite", "out"]);
  const keySide = readChoice(subject, "side", given.side, ["query", "key"], "query") === "key";
  const inverse = readFlag(subject, "inverse", given.inverse);
  const length = readPositive(subject, "length", given.length) ?? 0;
  const allowNonFinite = readFlag(subject, "allowNonFinite", given.allowNonFinite);

  const wide = read.data instanceof Float64Array && !read.nested;
  const shape = read.shaped ? read.shape : impliedShape(subject, read.data.length, specs);
  const width = shape[shape.length - 1]!;
  const tokens = shape[shape.length - 2]!;
  const wanted = specs.find((spec) => spec.width !== 0)?.width ?? width;
  if (shape.length < 2 || width !== wanted) {
    refuseShape(subject, "x", `of shape [..., T, ${wanted}]`, shape);
  }
  const positions = readPositionsOf(subject, given.positions, tokens, "row of x");
  const size = allowedSize(subject, "x", shape, wide ? 8 : 4);
  const dtype = wide ? "float64" : "float32";
  const out = readOut(subject, given.out, size, dtype);

  const frame = new Frame(subject);
  const result = frame.output(size * (wide ? 8 : 4));
  frame.run("rotate", {
    schemes: frame.schemes(specs),
    positions: inputPositions(frame, positions, "positions"),
    axes: positions.axes,
    tokens,
    length,
    batch: product(shape.slice(0, -2)),
    width,
    key_side: keySide,
    inverse,
    float64: wide,
    allow_non_finite: allowNonFinite,
    x: frame.input(wide ? (read.data as Float64Array) : asFloat32(subject, "x", read.data), "x", size),
    out: result,
  });
  return new Tensor(frame[dtype](result, size, out as never), shape, dtype);
}

// A bare typed array is rows of the scheme's width.
function impliedShape(subject: string, size: number, specs: readonly Spec[]): readonly number[] {
  const width = specs.find((spec) => spec.width !== 0)?.width ?? 0;
  if (width === 0 || size % width !== 0) {
    refuse(
      "shape-mismatch",
      subject,
      "x",
      width === 0 ? "an array with a shape" : `of shape [..., T, ${width}]`,
      verbatim(`${size} elements`),
    );
  }
  return [size / width, width];
}

/** Options of {@link convertLayout}. */
export interface ConvertLayoutOptions {
  /** `"interleaved"` pairs columns (2i, 2i + 1) (GPT-J, Meta), `"half"` pairs (i, i + d/2) (NeoX, Hugging Face). */
  readonly from: "interleaved" | "half";
  readonly to: "interleaved" | "half";
}

/**
 * Permutes the last axis of x [..., d], d even, from one layout of pairs to the other; values, shape, float64 and
 * int32 stay (a Uint32Array becomes float64, which holds its values; other kinds float32).
 * Rotating in one layout equals converting, rotating in the other and converting back.
 */
export function convertLayout(x: TensorLike, options: ConvertLayoutOptions): Tensor<"float32" | "float64" | "int32"> {
  const subject = "convertLayout";
  const given = readOptions(subject, options, ["from", "to"]);
  const read = readNumbers(subject, "x", x);
  const choices = ["interleaved", "half"] as const;
  for (const key of ["from", "to"] as const) {
    if (given[key] === undefined) refuse("missing-option", subject, key, '"interleaved" or "half"', undefined);
  }
  const from = readChoice(subject, "from", given.from, choices, "interleaved");
  const to = readChoice(subject, "to", given.to, choices, "half");
  const width = read.shape[read.shape.length - 1]!;
  if (width % 2 !== 0) {
    refuseShape(subject, "x", "of an even last axis", read.shape);
  }
  const dtype =
    read.data instanceof Int32Array
      ? "int32"
      : read.data instanceof Uint32Array || (read.data instanceof Float64Array && !read.nested)
        ? "float64"
        : "float32";
  const source =
    dtype === "int32" ? read.data : dtype === "float64" ? asFloat64(read.data) : asFloat32(subject, "x", read.data);
  const data = source.slice() as Float32Array | Float64Array | Int32Array;
  const half = width / 2;
  if (from !== to) {
    for (let start = 0; start < data.length; start += width) {
      for (let c = 0; c < half; c++) {
        const [a, b] = [start + 2 * c, start + c];
        if (to === "half") {
          data[b] = source[a]!;
          data[b + half] = source[a + 1]!;
        } else {
          data[a] = source[b]!;
          data[a + 1] = source[b + half]!;
        }
      }
    }
  }
  return new Tensor<"float32" | "float64" | "int32">(data, read.shape, dtype);
}
