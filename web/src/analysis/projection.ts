// Tables drawn in few dimensions: principal components, and exact t-SNE.
import { analysisFrame } from "../analysis-part.js";
import { readOptions, readWhole } from "../options.js";
import { Tensor, type TensorLike } from "../tensor.js";
import { readTable } from "./table.js";
import { tsneInSlices } from "./tsne-slices.js";

/** Options of {@link pca}. */
export interface PcaOptions {
  /** How many, from 1 to the table's columns. Default 2 (1 for a table of one column). */
  readonly components?: number;
}

/** The principal components of a table, float64. */
export interface PrincipalComponents {
  /** (table - mean) components^T, [T, k]. */
  readonly scores: Tensor<"float64">;
  /** Unit vectors, the largest variance first, [k, d]. */
  readonly components: Tensor<"float64">;
  /** The variance along each, with T - 1 in the denominator, [k]. */
  readonly explained: Tensor<"float64">;
  /** The variance of the whole table, of which `explained` are parts. */
  readonly total: number;
  /** [d]. */
  readonly mean: Tensor<"float64">;
}

/**
 * The directions along which the rows of a table [T, d] differ most. Sign: of a component's entries the largest in
 * magnitude is positive, the first of them where two are equal; components of equal variance are some basis of their
 * space, the same in every build. O(T d² + d³). (Jolliffe, Principal Component Analysis, 2.)
 * Errors: `shape-mismatch` for fewer than two rows, `out-of-range` components, `not-finite` numbers.
 */
export function pca(table: TensorLike, options?: PcaOptions): PrincipalComponents {
  const subject = "pca";
  const { data, rows, columns } = readTable(subject, "table", table);
  const given = readOptions(subject, options, ["components"]);
  const allowed = `a whole number from 1 to ${columns}`;
  const count = readWhole(subject, "components", given.components, allowed, columns, Math.min(2, columns));
  const frame = analysisFrame(subject);
  const scores = frame.output(rows * count * 8);
  const components = frame.output(count * columns * 8);
  const variances = frame.output(count * 8);
  const mean = frame.output(columns * 8);
  frame.run("principal_components", {
    table: frame.input(data, "table", rows * columns),
    rows,
    columns,
    count,
    scores,
    components,
    variances,
    mean,
    total: 0,
  });
  return {
    scores: new Tensor(frame.float64(scores, rows * count), [rows, count], "float64"),
    components: new Tensor(frame.float64(components, count * columns), [count, columns], "float64"),
    explained: new Tensor(frame.float64(variances, count), [count], "float64"),
    total: frame.answer("total"),
    mean: new Tensor(frame.float64(mean, columns), [columns], "float64"),
  };
}

/** Options of {@link tsne}. */
export interface TsneOptions {
  /** About how many neighbours count, from 1 to (T - 1) / 3; default 30, or that. */
  readonly perplexity?: number;
  /** Steps of gradient descent. Default 1000. */
  readonly iterations?: number;
  /** Of the points it starts from. Default 0. */
  readonly seed?: number;
}

/** A map of a table's rows. */
export interface TsneMap {
  /** [T, 2], centred on the origin. */
  readonly points: Tensor<"float64">;
  /** KL(P | Q) in nats: what the map gets wrong. */
  readonly divergence: number;
}

/**
 * Exact t-SNE (van der Maaten and Hinton 2008) of a table of 4 to 2,048 rows [T, d]: gradient descent in float64 from
 * seeded points, early exaggeration 12 (none for fewer than 6 rows), momentum 0.5 then 0.8, gains per coordinate;
 * the same bits everywhere.
 * O(T² iterations): for 2,048 rows some seconds, so call it from a worker. Distances between clusters and their sizes
 * mean little. Errors: `shape-mismatch` rows, `out-of-range` perplexity, `not-finite` numbers.
 */
export function tsne(table: TensorLike, options?: TsneOptions): TsneMap {
  const making = tsneInSlices(table, options, Infinity);
  for (;;) {
    const { done, value } = making.next();
    if (done) return value;
  }
}
