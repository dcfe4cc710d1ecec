// What a table of free parameters can be, beside a formula: fitted to a kernel, spread over another length, continued.
import { analysisFrame } from "../analysis-part.js";
import { refuse, verbatim, printedShape } from "../error.js";
import { readChoice, readNoOptions, readOptions, readWhole } from "../options.js";
import { Tensor, type TensorLike, allowedSize, asFloat64, readNumbers } from "../tensor.js";
import { readTable } from "./table.js";

const kMostPositions = 4096;

/** Options of {@link fitTable}. */
export interface FitTableOptions {
  /** Columns of the table. */
  readonly dim: number;
}

/** A table fitted to a kernel. */
export interface FittedTable {
  /** [n, dim], float64. */
  readonly table: Tensor<"float64">;
  /** |P Pᵀ - K| / |K| in Frobenius norms: 0 where the width suffices. */
  readonly residual: number;
}

/**
 * The table [n, dim] whose products of rows come nearest to a kernel: the best that training could find (Eckart and
 * Young 1936). The kernel is a matrix [n, n], of which the symmetric part counts, or numbers g(0), …, g(n - 1) of an
 * offset, as `kernel()` gives them. Columns are eigenvectors times the roots of the eigenvalues, the largest first, the
 * largest entry of each positive; of negative and missing eigenvalues zeros. The sinusoids' kernel is met exactly from
 * their own width on. O(n³), n at most 4,096. Errors: `shape-mismatch`, `not-finite`, `too-large`.
 */
export function fitTable(kernel: TensorLike, options: FitTableOptions): FittedTable {
  const subject = "fitTable";
  const read = readNumbers(subject, "kernel", kernel);
  const rows = read.shape[0] ?? 0;
  const line = read.shape.length === 1;
  if (rows < 1 || read.shape.length > 2 || (!line && read.shape[1] !== rows)) {
    const given = verbatim(`shape ${printedShape(read.shape)}`);
    refuse("shape-mismatch", subject, "kernel", "of shape [n, n] or [n]", given);
  }
  if (rows > kMostPositions) {
    refuse("too-large", subject, "kernel", `of at most ${kMostPositions} positions`, rows);
  }
  const given = readOptions(subject, options, ["dim"]);
  const width = readWhole(subject, "dim", given.dim, "a whole number from 1 to 65536", 65536);
  if (width < 1) refuse("out-of-range", subject, "dim", "a whole number from 1 to 65536", width);
  const size = allowedSize(subject, "positions x dim", [rows, width], 8);
  const values = asFloat64(read.data);
  const target = line
    ? Float64Array.from({ length: rows * rows }, (_, n) => values[Math.abs((n % rows) - Math.floor(n / rows))]!)
    : values;
  const frame = analysisFrame(subject);
  const out = frame.output(size * 8);
  frame.run("fit_table", { target: frame.input(target, "kernel", rows * rows), rows, width, residual: 0, out });
  return {
    table: new Tensor(frame.float64(out, size), [rows, width], "float64"),
    residual: frame.answer("residual"),
  };
}

/** Options of {@link resampleTable}. */
export interface ResampleTableOptions {
  /**
   * Where rows lie. `"align"` (default): the first and the last stay the first and the last, row t (T - 1) / (L - 1).
   * `"half-pixel"`: rows are the middles of cells, (t + 1/2) T / L - 1/2 held within the table, PyTorch's
   * align_corners=False.
   */
  readonly corners?: "align" | "half-pixel";
}

/**
 * The rows of a table [T, d] spread over another length, linear in between: float64 [length, d], the convention of
 * `learned({outOfRange: "interpolate", corners})`. Errors: `shape-mismatch` for a table without rows, `not-finite`.
 */
export function resampleTable(
  table: TensorLike,
  length: number,
  options?: ResampleTableOptions,
): Tensor<"float64"> {
  const subject = "resampleTable";
  const { data, rows, columns } = readTable(subject, "table", table);
  const wanted = readWhole(subject, "length", length);
  const given = readOptions(subject, options, ["corners"]);
  const corners = readChoice(subject, "corners", given.corners, ["align", "half-pixel"], "align");
  const size = allowedSize(subject, "length x dim", [wanted, columns], 8);
  const frame = analysisFrame(subject);
  const out = frame.output(size * 8);
  frame.run("resample_table", {
    table: frame.input(data, "table", rows * columns),
    rows,
    width: columns,
    length: wanted,
    half_pixel: corners === "half-pixel",
    out,
  });
  return new Tensor(frame.float64(out, size), [wanted, columns], "float64");
}

/** A table that goes on past its end. */
export interface ExtendedTable {
  /** [length, d], float64: the rows given, and more. */
  readonly table: Tensor<"float64">;
  /** The largest entry by which a step within the table misses: near 0 for one that turns, as sinusoids do. */
  readonly misfit: number;
}

/**
 * A table [T, d] continued to `length` rows, each the linear map of the one before that fits the table's own steps best
 * (least squares, of least norm): sinusoids go on as sinusoids, for them the map is their shift matrix; of a table
 * without such a law the rows past its end mean nothing, which `misfit` tells where T is well above d. O(T d² + d³).
 * Errors: `shape-mismatch` for fewer than two rows, `out-of-range` for a shorter length, `not-finite`.
 */
export function extendTable(table: TensorLike, length: number): ExtendedTable {
  const subject = "extendTable";
  readNoOptions(subject, arguments, 2);
  const { data, rows, columns } = readTable(subject, "table", table);
  const allowed = `a whole number from ${rows}, the table's rows, to 2^32`;
  const wanted = readWhole(subject, "length", length, allowed);
  if (rows > 1 && wanted < rows) refuse("out-of-range", subject, "length", allowed, wanted);
  const size = allowedSize(subject, "length x dim", [Math.max(wanted, rows), columns], 8);
  const frame = analysisFrame(subject);
  const out = frame.output(size * 8);
  frame.run("extend_table", {
    table: frame.input(data, "table", rows * columns),
    rows,
    width: columns,
    length: wanted,
    misfit: 0,
    out,
  });
  return {
    table: new Tensor(frame.float64(out, wanted * columns), [wanted, columns], "float64"),
    misfit: frame.answer("misfit"),
  };
}
