// The general case of note 000: p_m^T H p_n taken apart, and how nearly diagonal and how small tables are.
import { analysisFrame } from "../analysis-part.js";
import { encode } from "../embed.js";
import { printedShape, refuse, verbatim } from "../error.js";
import { readNoOptions, readOptions } from "../options.js";
import type { PositionsLike } from "../positions.js";
import { type EmbedScheme, readScheme } from "../scheme.js";
import { served } from "../served.js";
import { Tensor, type TensorLike, allowedSize, asFloat64, readNumbers } from "../tensor.js";
import { readTable } from "./table.js";
import { readLine } from "./turned-pairs.js";

/** Options of {@link bilinear}. */
export interface BilinearOptions {
  /** Positions m. */
  readonly queries: PositionsLike;
  /** Positions n. */
  readonly keys: PositionsLike;
}

/** p_m^T H p_n and its parts, each float64 [queries, keys]; value = relative + absolute + rest but for rounding. */
export interface Bilinear {
  /** p_m^T H p_n. */
  readonly value: Tensor<"float64">;
  /** sum_i (h_cc + h_ss) / 2 cos (m - n) omega_i, c and s being the columns of pair i = 0 … d/2 - 1. */
  readonly relative: Tensor<"float64">;
  /** sum_i (h_cc - h_ss) / 2 cos (m + n) omega_i. */
  readonly absolute: Tensor<"float64">;
  /** sum over a != b of h_ab p_ma p_nb: what is off the diagonal. */
  readonly rest: Tensor<"float64">;
}

// The columns of cosine and sine of each pair, (pairs, 2).
function columnsOf(subject: string, scheme: EmbedScheme): Float64Array {
  const { name, dim, layout, order } = scheme as EmbedScheme & { dim: number; layout: string; order: string };
  if (name !== "sinusoidal" || dim % 2 !== 0) {
    const given = verbatim(name === "sinusoidal" ? `dim ${dim}` : `the embed scheme ${name}`);
    refuse("unsupported", subject, "scheme", "a sinusoidal scheme of an even dim", given);
  }
  const pairs = dim / 2;
  return Float64Array.from({ length: dim }, (_, n) => {
    const i = n >> 1;
    const second = (n % 2 === 0) === (order === "sin-cos"); // cosines come second there
    if (layout === "half") return second ? pairs + i : i;
    return second ? 2 * i + 1 : 2 * i;
  });
}

/**
 * p_m^T H p_n for rows of a sinusoidal table, and what of it sees the offset m - n only, what m + n, and what neither.
 * `h` is a matrix [dim, dim], or a vector [dim] for a diagonal one, over the table's columns as `encode` gives them.
 * Errors: `unsupported` schemes other than sinusoidal of an even dim; h of another shape.
 */
export function bilinear(scheme: EmbedScheme, h: TensorLike, options: BilinearOptions): Bilinear {
  const subject = "bilinear";
  readScheme(subject, "scheme", scheme, ["embed"]);
  const columns = columnsOf(subject, scheme);
  const dim = columns.length;
  const read = readNumbers(subject, "h", h);
  const size = read.data.length;
  const diagonal = read.shaped && read.shape.length === 2 ? false : size === dim;
  const fits = read.shaped && read.shape.length === 2 ? read.shape.every((extent) => extent === dim) : true;
  if (!fits || size !== (diagonal ? dim : dim * dim) || read.shape.length > 2) {
    const given = verbatim(`shape ${printedShape(read.shape)}`);
    refuse("shape-mismatch", subject, "h", `of shape [${dim}, ${dim}] or [${dim}]`, given);
  }
  const given = readOptions(subject, options, ["queries", "keys"]) as unknown as BilinearOptions;
  const m = readLine(subject, "queries", given.queries);
  const n = readLine(subject, "keys", given.keys);
  const shape = [m.length, n.length];
  const count = allowedSize(subject, "queries x keys", [...shape, 4], 8) / 4;
  const [rows, others] = ([m, n] as const).map((positions, side) => {
    const names = { positions: side === 0 ? "queries" : "keys" };
    return served(subject, names, () => encode(scheme, positions, { dtype: "float64" }).data);
  }) as [Float64Array, Float64Array];
  const frame = analysisFrame(subject);
  const names = ["value", "relative", "absolute", "rest"] as const;
  const places = names.map(() => frame.output(count * 8));
  frame.run("bilinear", {
    query_rows: frame.input(rows, "queries", m.length * dim),
    key_rows: frame.input(others, "keys", n.length * dim),
    queries: m.length,
    keys: n.length,
    dim,
    columns: frame.input(columns, "scheme", dim),
    h: frame.input(asFloat64(read.data), "h", size),
    diagonal,
    ...Object.fromEntries(names.map((name, i) => [name, places[i]])),
  });
  const [value, relative, absolute, rest] = places.map(
    (place) => new Tensor(frame.float64(place, count), shape, "float64"),
  ) as [Tensor<"float64">, Tensor<"float64">, Tensor<"float64">, Tensor<"float64">];
  return { value, relative, absolute, rest };
}

/** What {@link diagonalDominance} returns. */
export interface DiagonalDominance {
  /** [columns, columns], divided by rows - 1. */
  readonly covariance: Tensor<"float64">;
  /** |C_aa| over the sum of |C_ab|, b != a, for each column: above 1 where the diagonal dominates. */
  readonly ratios: Tensor<"float64">;
  /** Mean |C_aa|. */
  readonly diagonal: number;
  /** Mean |C_ab|, a != b. */
  readonly offDiagonal: number;
  /** Columns whose ratio is above 1. */
  readonly dominantColumns: number;
}

/**
 * How nearly diagonal the covariance of a table [rows, columns] is, over its rows: what note 000 asks of BERT's
 * embeddings before it takes H for a multiple of I. Errors: fewer than two rows.
 */
export function diagonalDominance(table: TensorLike): DiagonalDominance {
  const subject = "diagonalDominance";
  readNoOptions(subject, arguments, 1);
  const { data, rows, columns: dim } = readTable(subject, "table", table);
  const size = allowedSize(subject, "columns x columns", [dim, dim], 8);
  const frame = analysisFrame(subject);
  const covariance = frame.output(size * 8);
  const ratios = frame.output(dim * 8);
  const summary = frame.output(3 * 8);
  frame.run("diagonal_dominance", {
    table: frame.input(data, "table", rows * dim),
    rows,
    dim,
    covariance,
    ratios,
    summary,
  });
  const [diagonal, offDiagonal, dominantColumns] = frame.float64(summary, 3) as unknown as [number, number, number];
  return {
    covariance: new Tensor(frame.float64(covariance, size), [dim, dim], "float64"),
    ratios: new Tensor(frame.float64(ratios, dim), [dim], "float64"),
    diagonal,
    offDiagonal,
    dominantColumns,
  };
}

/** Mean lengths of rows, and the first over the second. */
export interface NormRatio {
  readonly embeddings: number;
  readonly table: number;
  readonly ratio: number;
}

/**
 * The mean Euclidean length of the rows of embeddings [n, d] over that of a position table's [m, d']: whether p is
 * small beside x, which note 000's expansion takes for granted. Rows of a sinusoidal table are sqrt(d / 2) long.
 */
export function normRatio(embeddings: TensorLike, table: TensorLike): NormRatio {
  const subject = "normRatio";
  readNoOptions(subject, arguments, 2);
  const x = readTable(subject, "embeddings", embeddings);
  const p = readTable(subject, "table", table);
  const frame = analysisFrame(subject);
  const out = frame.output(3 * 8);
  frame.run("norm_ratio", {
    embeddings: frame.input(x.data, "embeddings", x.rows * x.columns),
    rows: x.rows,
    dim: x.columns,
    table: frame.input(p.data, "table", p.rows * p.columns),
    table_rows: p.rows,
    table_dim: p.columns,
    out,
  });
  const [first, second, ratio] = frame.float64(out, 3) as unknown as [number, number, number];
  return { embeddings: first, table: second, ratio };
}
