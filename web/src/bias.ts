// Schemes of pairs alone: the matrix of a bias scheme, and the table rows that pairs fall on.
import { printed, refuse, verbatim } from "./error.js";
import { Frame } from "./module.js";
import { readFlag, readOptions, readWhole } from "./options.js";
import { type Positions, type PositionsLike, inputPositions, readPositions } from "./positions.js";
import { type BiasScheme, type IndexedScheme, readScheme, readSchemes } from "./scheme.js";
import { Tensor, allowedSize, float32Tensor, readArray, readOut } from "./tensor.js";

// The places of queries and keys, as fields of a call.
function placesOf(frame: Frame, queries: Positions, keys: Positions): Parameters<Frame["run"]>[1] {
  return {
    query_positions: inputPositions(frame, queries, "queries"),
    query_axes: queries.axes,
    queries: queries.count,
    key_positions: inputPositions(frame, keys, "keys"),
    key_axes: keys.axes,
    keys: keys.count,
  };
}

/** Options of {@link bias}. */
export interface BiasOptions {
  /** Positions of the queries, Tq of them. */
  readonly queries: PositionsLike;
  /** Positions of the keys, Tk of them. */
  readonly keys: PositionsLike;
  /** Which heads, by index, in this order; default all. */
  readonly heads?: readonly number[];
  /** Receives the result: a Float32Array or tensor of H * Tq * Tk elements. */
  readonly out?: Float32Array | Tensor;
}

/**
 * b_h(i, j), the numbers a bias scheme adds to the scores: float32 [H, Tq, Tk]. Several schemes are added in order.
 * Errors: `wrong-slot`, `missing-option`, `out-of-range` heads, `not-integer` offsets where a scheme counts whole ones.
 */
export function bias(scheme: BiasScheme | readonly BiasScheme[], options: BiasOptions): Tensor<"float32"> {
  const subject = "bias";
  const specs = readSchemes(subject, "scheme", scheme, "bias");
  if (specs.length === 0) refuse("missing-option", subject, "scheme", "a bias scheme or a list of them", scheme);
  const given = readOptions(subject, options, ["queries", "keys", "heads", "out"]);
  const queries = readPositions(subject, "queries", given.queries);
  const keys = readPositions(subject, "keys", given.keys);
  const sized = specs.filter((spec) => spec.heads !== 0);
  const total = sized[0]?.heads ?? 1;
  for (const spec of sized) {
    if (spec.heads !== total) {
      refuse(
        "shape-mismatch",
        subject,
        "scheme",
        `schemes of the same number of heads, as ${total}`,
        verbatim(`${spec.descriptor.name} of ${spec.heads} heads`),
      );
    }
  }
  const heads = given.heads === undefined ? undefined : readHeads(subject, given.heads, total);
  const count = heads?.length ?? total;
  const shape = [count, queries.count, keys.count];
  const size = allowedSize(subject, "heads x queries x keys", shape);
  const out = readOut(subject, given.out, size, "float32");

  const frame = new Frame(subject);
  const result = frame.output(size * 4);
  frame.run("bias", {
    schemes: frame.schemes(specs),
    ...placesOf(frame, queries, keys),
    heads: frame.inputIf(heads, "heads", count),
    head_count: count,
    out: result,
  });
  return float32Tensor(frame.float32(result, size, out as Float32Array | undefined), shape);
}

function readHeads(subject: string, value: unknown, total: number): Float64Array {
  const allowed = `a list of whole numbers from 0 to ${total - 1}`;
  const read = readArray(subject, "heads", value);
  if (read.shape.length !== 1) refuse("shape-mismatch", subject, "heads", allowed, verbatim(printed(value)));
  return Float64Array.from(read.data, (head) => readWhole(subject, "heads", head, allowed, total - 1));
}

/** Options of {@link relativeIndex}. */
export interface RelativeIndexOptions {
  readonly queries: PositionsLike;
  readonly keys: PositionsLike;
  /** The offset before clipping or bucketing, instead of the table row. Default false. */
  readonly raw?: boolean;
}

/**
 * The row of a scheme's table that each pair (query, key) falls on: int32 [Tq, Tk]. Only for schemes with such a table
 * (shaw …), else `unsupported`.
 */
export function relativeIndex(scheme: IndexedScheme, options: RelativeIndexOptions): Tensor<"int32"> {
  const subject = "relativeIndex";
  const spec = readScheme(subject, "scheme", scheme, ["relate", "bias"]);
  const given = readOptions(subject, options, ["queries", "keys", "raw"]);
  const queries = readPositions(subject, "queries", given.queries);
  const keys = readPositions(subject, "keys", given.keys);
  const raw = readFlag(subject, "raw", given.raw);
  const shape = [queries.count, keys.count];
  const size = allowedSize(subject, "queries x keys", shape);

  const frame = new Frame(subject);
  const result = frame.output(size * 4);
  frame.run("relative_index", {
    scheme: frame.scheme(spec),
    ...placesOf(frame, queries, keys),
    raw,
    out: result,
  });
  return new Tensor(frame.int32(result, size), shape, "int32");
}
