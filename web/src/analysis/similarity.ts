// How alike the rows of a table are.
import { analysisFrame } from "../analysis-part.js";
import { readChoice, readFlag, readOptions } from "../options.js";
import { Tensor, type TensorLike, allowedSize, asFloat32, float32Tensor, readNumbers, readOut } from "../tensor.js";
import { readTable } from "./table.js";

const kMetrics = ["dot", "cosine", "euclidean"] as const;

/** Options of {@link similarity}. */
export interface SimilarityOptions<D extends "float32" | "float64" = "float32" | "float64"> {
  /** x · y (default), x · y / (|x| |y|) (0 where a row is zero), or the distance |x - y|. */
  readonly metric?: "dot" | "cosine" | "euclidean";
  /** Default `"float64"`; `"float32"` computes at the machine's peak and suits tables of thousands of rows. */
  readonly dtype?: D;
  /**
   * Lets NaN and Infinity through: a row that holds one has NaN with every row, and the others are as without it. They
   * are `not-finite` otherwise.
   */
  readonly allowNonFinite?: boolean;
  /** Receives the result: an array or tensor of T * T elements of the dtype. */
  readonly out?: Float32Array | Float64Array | Tensor;
}

/**
 * Every pair of rows of a table [T, d] compared: [T, T], symmetric to the bit, half of it computed. float64 cosines are
 * within (d + 4) 2^-52, and distances, formed from differences, within d 2^-52 of themselves; in float32 distances are
 * formed from products, so that near rows lose digits.
 * Errors: `not-finite`; `out-of-range` where products leave the type; `shape-mismatch` for what is no table.
 */
export function similarity(table: TensorLike, options: SimilarityOptions<"float32">): Tensor<"float32">;
export function similarity(table: TensorLike, options?: SimilarityOptions<"float64">): Tensor<"float64">;
export function similarity(table: TensorLike, options: SimilarityOptions): Tensor<"float32" | "float64">;
export function similarity(table: TensorLike, options?: SimilarityOptions): Tensor<"float32" | "float64"> {
  const subject = "similarity";
  const given = readOptions(subject, options, ["metric", "dtype", "allowNonFinite", "out"]);
  const metric = kMetrics.indexOf(readChoice(subject, "metric", given.metric, kMetrics, "dot"));
  const wide = readChoice(subject, "dtype", given.dtype, ["float32", "float64"], "float64") === "float64";
  const shaped = readNumbers(subject, "table", table);
  const narrow = !wide && shaped.shaped && shaped.shape.length === 2;
  const { data, rows, columns } = narrow
    ? { data: asFloat32(subject, "table", shaped.data), rows: shaped.shape[0]!, columns: shaped.shape[1]! }
    : readTable(subject, "table", table);
  const shape = [rows, rows];
  const size = allowedSize(subject, "rows x rows", shape, wide ? 8 : 4);
  const out = readOut(subject, given.out, size, wide ? "float64" : "float32");

  const frame = analysisFrame(subject);
  const result = frame.output(size * (wide ? 8 : 4));
  frame.run("similarity", {
    table: frame.input(data, "table", rows * columns),
    rows,
    columns,
    metric,
    float64: wide,
    allow_non_finite: readFlag(subject, "allowNonFinite", given.allowNonFinite),
    out: result,
  });
  return wide
    ? new Tensor(frame.float64(result, size, out as Float64Array | undefined), shape, "float64")
    : float32Tensor(frame.float32(result, size, out as Float32Array | undefined), shape);
}
