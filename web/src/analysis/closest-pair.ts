// Which positions an encoding tells apart worst.
import { analysisFrame } from "../analysis-part.js";
import { encode } from "../embed.js";
import { isRecord, refuse } from "../error.js";
import { frequenciesFor } from "../frequencies.js";
import { readLeast0, readOptions, readWhole } from "../options.js";
import { arange } from "../positions.js";
import { type EmbedScheme, type RotateScheme, readScheme } from "../scheme.js";
import { sinusoidal } from "../schemes.gen.js";
import { served } from "../served.js";
import { type TensorLike, allowedSize } from "../tensor.js";
import { type Rows, readTable } from "./table.js";

/** Options of {@link closestPair}. */
export interface ClosestPairOptions {
  /** Positions 0 … length - 1 of a scheme, at least 2; of a table, its first rows (default all). */
  readonly length?: number;
}

/** Two positions, i < j, and the Euclidean distance of their rows. */
export interface ClosestPair {
  readonly i: number;
  readonly j: number;
  readonly distance: number;
}

// Rows encoded at a time where a scheme's distances depend on the offset alone.
const kChunk = 512;
// Offsets kept at most of those that may be the nearest.
const kNear = 2 ** 16;

// A scheme whose rows' distances depend on the offset alone, or a table.
type Uniform = EmbedScheme & { readonly dim: number; readonly scale: number };
type Target = { readonly uniform: Uniform; readonly length: number } | { readonly table: Rows };

function readTarget(subject: string, target: unknown, wanted: unknown): Target {
  const allowed = "a whole number from 2 to 2^32";
  const isScheme = isRecord(target) && "slot" in target;
  if (!isScheme) {
    const table = readTable(subject, "table", target);
    if (table.rows < 2) refuse("shape-mismatch", subject, "table", "of at least 2 rows", table.rows);
    const rows = readWhole(subject, "length", wanted, `a whole number from 2 to ${table.rows}`, table.rows, table.rows);
    return { table: { ...table, data: table.data.subarray(0, rows * table.columns), rows } };
  }
  const { descriptor } = readScheme(subject, "scheme", target, ["embed", "rotate"]);
  const length = readWhole(subject, "length", wanted, allowed);
  if (length < 2) refuse("out-of-range", subject, "length", allowed, length);
  if (descriptor.slot === "rotate") {
    const frequencies = [...frequenciesFor(subject, target, { length }).inverse];
    return { uniform: sinusoidal({ dim: 2 * frequencies.length, frequencies }) as unknown as Uniform, length };
  }
  const scheme = target as unknown as Uniform & { oddDim: string; padIndex: number | null };
  const whole = descriptor.name === "sinusoidal" && scheme.padIndex === null;
  if (whole && (scheme.dim % 2 === 0 || scheme.oddDim === "pad")) return { uniform: scheme, length };
  allowedSize(subject, "length x dim", [length, 1], 8);
  const names = { positions: "length" };
  return { table: readTable(subject, "scheme", served(subject, names, () => encode(scheme, length, { dtype: "float64" }))) };
}

// 1 … length - 1, a chunk at a time.
function* offsetsBelow(length: number): Generator<Float64Array> {
  for (let first = 1; first < length; first += kChunk) yield arange(first, Math.min(first + kChunk, length)).data;
}

// |p(k) - p(0)| for each k of `chunks`, with p(k) as a table of `dtype` holds it.
function eachOffset(
  subject: string,
  scheme: EmbedScheme,
  chunks: Iterable<Float64Array>,
  dtype: "float32" | "float64",
  visit: (k: number, distance: number) => void,
): void {
  const origin = encode(scheme, [0], { dtype: "float64" }).data;
  const columns = origin.length;
  const wide = new Float64Array(dtype === "float32" ? kChunk * columns : 0);
  for (const chunk of chunks) {
    const count = chunk.length;
    let rows = encode(scheme, chunk, { dtype }).data as Float64Array;
    if (dtype === "float32") {
      wide.set(rows);
      rows = wide;
    }
    const frame = analysisFrame(subject);
    const out = frame.output(count * 8);
    frame.run("distances_from", {
      origin: frame.input(origin, "scheme", columns),
      rows: frame.input(rows.subarray(0, count * columns), "scheme", count * columns),
      count,
      columns,
      out,
    });
    frame.float64(out, count).forEach((distance, n) => visit(chunk[n]!, distance));
  }
}

// The offsets that may be the nearest by a table in float32, which takes a tenth of the time and whose numbers are
// within 2^-23 of the true ones times the table's scale; all, where they are too many.
function nearOffsets(subject: string, scheme: Uniform, length: number): Iterable<Float64Array> {
  const margin = scheme.dim * 2 ** -22 * scheme.scale;
  let near: [k: number, distance: number][] = [];
  let least = Infinity;
  let many = false;
  eachOffset(subject, scheme, offsetsBelow(length), "float32", (k, distance) => {
    if (many || distance > least + margin) return;
    if (distance < least) least = distance;
    near.push([k, distance]);
    if (near.length < kNear) return;
    near = near.filter(([, rough]) => rough <= least + margin);
    many = near.length > kNear / 2;
  });
  if (many) return offsetsBelow(length);
  const kept = Float64Array.from(near.filter(([, rough]) => rough <= least + margin), ([k]) => k);
  return Array.from({ length: Math.ceil(kept.length / kChunk) }, (_, c) => kept.subarray(c * kChunk, (c + 1) * kChunk));
}

/**
 * The two rows that lie closest, of equal pairs that of the smallest i, then j. For a table [T, d] exactly what
 * comparing every pair gives: groups of rows whose boxes lie too far apart are left out, so a table that is smooth
 * along its index, or of few dimensions, takes moments and rows without structure T² d / 2 operations. A sinusoidal
 * scheme whose every sine has its cosine, and a rotate scheme, taken as the table of the cosines and sines it turns
 * by, have distances that depend on the offset alone: O(T d), and i = 0.
 * Errors: `shape-mismatch` for fewer than two rows, `not-finite` numbers.
 */
export function closestPair(
  target: TensorLike | EmbedScheme | RotateScheme,
  options?: ClosestPairOptions,
): ClosestPair {
  const subject = "closestPair";
  const { length } = readOptions(subject, options, ["length"]);
  const read = readTarget(subject, target, length);
  if ("uniform" in read) {
    let best: ClosestPair = { i: 0, j: 0, distance: Infinity };
    const near = nearOffsets(subject, read.uniform, read.length);
    eachOffset(subject, read.uniform, near, "float64", (j, distance) => {
      if (distance < best.distance) best = { i: 0, j, distance };
    });
    return best;
  }
  const { data, rows, columns } = read.table;
  const frame = analysisFrame(subject);
  frame.run("closest_pair", {
    table: frame.input(data, "table", rows * columns),
    rows,
    columns,
    i: 0,
    j: 0,
    distance: 0,
  });
  return { i: frame.answer("i"), j: frame.answer("j"), distance: frame.answer("distance") };
}

/** Options of {@link collisions}. */
export interface CollisionsOptions extends ClosestPairOptions {
  /** The largest distance that counts, from 0. Default 0: equal rows. */
  readonly tolerance?: number;
  /** Pairs listed at most; all are counted. Default 1000. */
  readonly limit?: number;
}

/** Pairs of positions that an encoding does not tell apart. */
export interface Collisions {
  /** How many there are. */
  readonly total: number;
  /** The first of them, by i, then j. */
  readonly pairs: readonly ClosestPair[];
}

/**
 * The pairs of rows at most `tolerance` apart (Euclidean, float64), of what {@link closestPair} takes; errors as there.
 */
export function collisions(target: TensorLike | EmbedScheme | RotateScheme, options?: CollisionsOptions): Collisions {
  const subject = "collisions";
  const given = readOptions(subject, options, ["length", "tolerance", "limit"]);
  const tolerance = readLeast0(subject, "tolerance", given.tolerance, 0);
  const limit = readWhole(subject, "limit", given.limit, "a whole number from 0 to 2^24", 2 ** 24, 1000);
  const read = readTarget(subject, target, given.length);
  if ("uniform" in read) {
    const near: { readonly k: number; readonly distance: number }[] = [];
    let total = 0;
    eachOffset(subject, read.uniform, offsetsBelow(read.length), "float64", (k, distance) => {
      if (distance > tolerance) return;
      total += read.length - k;
      if (near.length < limit) near.push({ k, distance });
    });
    const pairs: ClosestPair[] = [];
    for (let i = 0; near.length > 0 && i + near[0]!.k < read.length && pairs.length < limit; i++) {
      for (const { k, distance } of near) {
        if (i + k >= read.length || pairs.length >= limit) break;
        pairs.push({ i, j: i + k, distance });
      }
    }
    return { total, pairs };
  }
  const { data, rows, columns } = read.table;
  const frame = analysisFrame(subject);
  const places = { i: frame.output(limit * 4), j: frame.output(limit * 4), distance: frame.output(limit * 8) };
  frame.run("near_pairs", {
    table: frame.input(data, "table", rows * columns),
    rows,
    columns,
    tolerance,
    limit,
    total: 0,
    listed: 0,
    ...places,
  });
  const listed = frame.answer("listed");
  const i = frame.int32(places.i, listed);
  const j = frame.int32(places.j, listed);
  const distance = frame.float64(places.distance, listed);
  return {
    total: frame.answer("total"),
    pairs: Array.from(i, (first, n) => ({ i: first, j: j[n]!, distance: distance[n]! })),
  };
}
