// How analyses read the tables that they are given.
import { printedShape, refuse, verbatim } from "../error.js";
import { allowedSize, asFloat64, product, readNumbers } from "../tensor.js";

/** The rows of a table, in float64. */
export interface Rows {
  readonly data: Float64Array;
  readonly rows: number;
  readonly columns: number;
}

/** A table [T, d]; other shapes are `shape-mismatch`. */
export function readTable(subject: string, argument: string, value: unknown): Rows {
  const read = readNumbers(subject, argument, value);
  if (!read.shaped || read.shape.length !== 2) {
    const given = verbatim(read.shaped ? `shape ${printedShape(read.shape)}` : `${read.data.length} bare numbers`);
    refuse("shape-mismatch", subject, argument, "a table of shape [T, d]", given);
  }
  const [rows, columns] = read.shape as [number, number];
  allowedSize(subject, argument, read.shape, 8);
  return { data: asFloat64(read.data), rows, columns };
}

/** Matrices [..., Tq, Tk] of numbers of pairs, in float64. */
export interface Matrices {
  readonly data: Float64Array;
  readonly leading: readonly number[];
  readonly batch: number;
  readonly queries: number;
  readonly keys: number;
}

/** Matrices [..., Tq, Tk]; fewer axes are `shape-mismatch`. */
export function readMatrices(subject: string, argument: string, value: unknown): Matrices {
  const read = readNumbers(subject, argument, value);
  const rank = read.shape.length;
  if (!read.shaped || rank < 2) {
    const given = verbatim(read.shaped ? `shape ${printedShape(read.shape)}` : `${read.data.length} bare numbers`);
    refuse("shape-mismatch", subject, argument, "of shape [..., Tq, Tk]", given);
  }
  allowedSize(subject, argument, read.shape, 8);
  const leading = read.shape.slice(0, -2);
  const [queries, keys] = read.shape.slice(-2) as [number, number];
  return { data: asFloat64(read.data), leading, batch: product(leading), queries, keys };
}
