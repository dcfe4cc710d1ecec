// Attention cut into blocks of queries. A query's results depend on that query and the keys alone, so blocks give the
// bits of the whole; each says where its queries stand, which the whole may leave to be counted.
import { readCausal, readPlaces, readWindow } from "../attention.js";
import { readOptions } from "../options.js";
import { type ReadArray, Tensor, kindOfArray, product, readArray, readNumbers } from "../tensor.js";
import { fill } from "./wire.js";

/** A call of attention in blocks. */
export interface Blocks {
  /** Arguments of each block, in order. */
  readonly args: readonly unknown[][];
  /** What all blocks are given alike. */
  readonly shared: readonly object[];
  /** The work of each block, in multiply-adds. */
  readonly work: readonly number[];
  /** Writes the result of one block where it belongs. */
  take(block: number, result: unknown): void;
  /** The whole, when every block is in. */
  result(): unknown;
}

/** How many blocks to make of a call of so many multiply-adds, cut between rows of so many. */
export type Plan = (multiplyAdds: number) => number;

// Options that mean the same to a block as to the whole; all others but those of kPerQuery keep a call in one piece.
const kAlike = [
  "rotate",
  "bias",
  "relate",
  "window",
  "prefixLength",
  "keyMask",
  "keyLengths",
  "scale",
  "softcap",
  "sinks",
  "dtype",
  "weights",
  "trace",
  "allowNonFinite",
];
const kPerQuery = ["causal", "queryPositions", "keyPositions", "queryOrder", "keyOrder", "length", "mask", "out"];

// Queries that the core takes at a time: a block that is no multiple of them wastes lanes.
const kStep = 8;
// What softmax costs a pair, in multiply-adds.
const kPerPair = 16;

/**
 * Cuts a call where `plan` asks for more than one block; undefined where it stays whole: because it is small, because
 * an argument is one that the core should see (and refuse) as it is, or because its options do not let it be cut.
 */
export function cutAttention(args: readonly unknown[], plan: Plan): Blocks | undefined {
  try {
    return cut(args, plan);
  } catch {
    return undefined; // refused again, in the words of the function itself, where it runs
  }
}

class Unfit extends Error {}

function cut([q, k, v, options]: readonly unknown[], plan: Plan): Blocks | undefined {
  const [query, key, value] = [read("q", q), read("k", k), read("v", v)];
  const rank = query.shape.length;
  if (rank < 2 || rank > 4 || key.shape.length !== rank || value.shape.length !== rank) return undefined;
  const leading = query.shape.slice(0, -2);
  const [queries, width] = query.shape.slice(-2) as [number, number];
  const keys = key.shape[rank - 2]!;
  const valueWidth = value.shape[rank - 1]!;
  const rows = product(leading);
  if (queries < 2 * kStep || keys === 0) return undefined;
  const perPair = rows * (width + valueWidth + kPerPair);
  if (plan(perPair * queries * keys) < 2) return undefined;

  const given = readOptions("attention", options, [...kAlike, ...kPerQuery]);
  const causal = readCausal(given.causal);
  const places = readPlaces(given, queries, keys, causal);
  const { query: queryPlaces, key: keyPlaces } = places;
  // Where positions have several axes the index counts, which a block would count from its own start.
  const indexed = queryPlaces.axes > 1 ? Float64Array.from({ length: queries }, (_, i) => i) : undefined;
  const queryOrder = places.queryOrder ?? indexed;
  const seen = visible(
    queryOrder ?? queryPlaces.data,
    places.keyOrder ?? (keyPlaces.axes > 1 ? undefined : keyPlaces.data),
    keys,
    causal !== false,
    readWindow(given.window, causal !== false),
    typeof given.prefixLength === "number" ? given.prefixLength : 0,
  );
  const count = Math.min(plan(perPair * seen[queries]!), Math.floor(queries / kStep));
  if (count < 2) return undefined;
  const bounds = boundaries(seen, queries, count);
  if (bounds.length < 3) return undefined;

  const mask = given.mask === undefined ? undefined : readArray("attention", "mask", given.mask);
  const maskRows = mask !== undefined && mask.shape.length >= 2 ? mask.shape[mask.shape.length - 2]! : 1;
  if (mask !== undefined && (!mask.shaped || (maskRows !== 1 && maskRows !== queries))) return undefined;
  const target = readTarget(given.out, given.dtype === "float64", rows * queries * valueWidth);

  const keyTensor = wrapped(key, key.data, key.shape);
  const valueTensor = value.source === key.source && value.data.length === key.data.length
    ? wrapped(value, (keyTensor as { data: ReadArray["data"] }).data, value.shape)
    : wrapped(value, value.data, value.shape);
  const alike: Record<string, unknown> = {};
  for (const name of kAlike) if (given[name] !== undefined) alike[name] = given[name];
  if (given.length !== undefined) alike.length = given.length;
  if (causal !== false) alike.causal = true;
  alike.keyPositions = new Tensor(keyPlaces.data, [keyPlaces.axes, keys], "float64");
  if (places.keyOrder !== undefined) alike.keyOrder = new Tensor(places.keyOrder, [keys], "float64");
  if (mask !== undefined && maskRows === 1) alike.mask = wrapped(mask, mask.data, mask.shape);

  const blocks = bounds.slice(1).map((end, b): unknown[] => {
    const start = bounds[b]!;
    const own: Record<string, unknown> = { ...alike };
    own.queryPositions = new Tensor(
      rowsOf(queryPlaces.data, queryPlaces.axes, queries, 1, start, end) as Float64Array,
      [queryPlaces.axes, end - start],
      "float64",
    );
    if (queryOrder !== undefined) own.queryOrder = new Tensor(queryOrder.slice(start, end), [end - start], "float64");
    if (mask !== undefined && maskRows !== 1) {
      const shape = [...mask.shape];
      const outer = product(shape.slice(0, -2));
      shape[shape.length - 2] = end - start;
      own.mask = wrapped(mask, rowsOf(mask.data, outer, queries, mask.shape[shape.length - 1]!, start, end), shape);
    }
    const part = rowsOf(query.data, rows, queries, width, start, end);
    return [wrapped(query, part, [...leading, end - start, width]), keyTensor, valueTensor, own];
  });
  const shared = [keyTensor, valueTensor, ...Object.values(alike).filter((option) => option instanceof Tensor)];
  const joined = new Joined(bounds, rank - 2, queries, target);
  return {
    args: blocks,
    shared,
    work: bounds.slice(1).map((end, b) => perPair * (seen[end]! - seen[bounds[b]!]!)),
    take: (block, result) => joined.take(block, result),
    result: () => joined.result(),
  };
}

function read(argument: string, value: unknown): ReadArray {
  const array = readNumbers("attention", argument, value);
  if (!array.shaped || array.nested) throw new Unfit();
  return array;
}

// The array with other data of its kind, as a function takes it.
function wrapped(array: ReadArray, data: ReadArray["data"], shape: readonly number[]): object {
  if (array.boolean) return new Tensor(Uint8Array.from(data), shape, "bool");
  if (data instanceof Float32Array) return new Tensor(data, shape, "float32");
  if (data instanceof Float64Array && !array.nested) return new Tensor(data, shape, "float64");
  if (data instanceof Int32Array) return new Tensor(data, shape, "int32");
  return { data, shape };
}

// Rows `start` to `end` of each of `outer` matrices of `rows` rows of `width`, in an array of their own.
function rowsOf<T extends ReadArray["data"]>(
  data: T,
  outer: number,
  rows: number,
  width: number,
  start: number,
  end: number,
): T {
  if (outer === 1) return data.slice(start * width, end * width) as T;
  const size = (end - start) * width;
  const part = new (data.constructor as new (length: number) => T)(outer * size);
  for (let o = 0; o < outer; o++) {
    const at = (o * rows + start) * width;
    part.set(data.subarray(at, at + size), o * size);
  }
  return part;
}

// seen[i]: how many keys the queries before i see between them, as far as order tells; every query counts for one.
function visible(
  queryOrder: Float64Array,
  keyOrder: Float64Array | undefined,
  keys: number,
  causal: boolean,
  [left, right]: readonly [number, number],
  prefix: number,
): Float64Array {
  const queries = queryOrder.length;
  const seen = new Float64Array(queries + 1);
  const order = keyOrder ?? Float64Array.from({ length: keys }, (_, j) => j);
  const ordered = order.every((value, j) => j === 0 || value >= order[j - 1]!);
  // The number of keys before `limit`, or up to it.
  const below = (limit: number, inclusive: boolean): number => {
    let [low, high] = [0, keys];
    while (low < high) {
      const middle = (low + high) >> 1;
      const value = order[middle]!;
      if (value < limit || (inclusive && value === limit)) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  for (let i = 0; i < queries; i++) {
    const at = queryOrder[i]!;
    let count = keys;
    if (ordered) {
      const last = Math.min(causal ? below(at, true) : keys, right === Infinity ? keys : below(at + right, true));
      const first = left === Infinity ? 0 : below(at - left, false);
      count = Math.max(last - first, prefix);
    }
    seen[i + 1] = seen[i]! + Math.max(count, 1);
  }
  return seen;
}

// Rows between which blocks of about the same work lie.
function boundaries(seen: Float64Array, queries: number, count: number): number[] {
  const bounds = [0];
  let at = 0;
  for (let b = 1; b < count; b++) {
    const wanted = (seen[queries]! * b) / count;
    while (at < queries && seen[at]! < wanted) at++;
    const row = Math.round(at / kStep) * kStep;
    if (row > bounds[bounds.length - 1]! && row < queries) bounds.push(row);
  }
  bounds.push(queries);
  return bounds;
}

// The caller's `out`, if it is one that the core would fill.
function readTarget(out: unknown, wide: boolean, size: number): unknown {
  if (out === undefined) return undefined;
  const data: unknown = ArrayBuffer.isView(out) || typeof out !== "object" ? out : (out as { data?: unknown }).data;
  const fits = kindOfArray(data) === (wide ? "Float64Array" : "Float32Array") && (data as Float32Array).length === size;
  if (!fits) throw new Unfit();
  return out;
}

// Results of blocks put together: every tensor with an axis of queries becomes one with all of them.
class Joined {
  #whole: unknown;

  constructor(
    readonly bounds: readonly number[],
    readonly axis: number,
    readonly queries: number,
    readonly target: unknown,
  ) {}

  take(block: number, result: unknown): void {
    const [start, end] = [this.bounds[block]!, this.bounds[block + 1]!];
    const join = (whole: unknown, part: unknown, name: string): unknown => {
      if (part instanceof Tensor) {
        const outer = product(part.shape.slice(0, this.axis));
        const inner = product(part.shape.slice(this.axis + 1));
        const size = (end - start) * inner;
        const into = (whole ?? this.#empty(part, name)) as Tensor;
        for (let o = 0; o < outer; o++) {
          const from = part.data.subarray(o * size, (o + 1) * size);
          fill("attention", into.data, from, (o * this.queries + start) * inner);
        }
        return into;
      }
      const object = (whole ?? {}) as Record<string, unknown>;
      for (const [key, entry] of Object.entries(part as object)) object[key] = join(object[key], entry, key);
      return object;
    };
    this.#whole = join(this.#whole, result, "");
  }

  result(): unknown {
    return this.#whole;
  }

  #empty(part: Tensor, name: string): Tensor {
    const shape = [...part.shape];
    shape[this.axis] = this.queries;
    const { target } = this;
    if (name === "out" && target !== undefined) {
      const data = ArrayBuffer.isView(target) ? target : (target as Tensor).data;
      return new Tensor(data as Float32Array, shape, part.dtype as "float32");
    }
    const data = new (part.data.constructor as new (length: number) => Float32Array)(product(shape));
    return new Tensor(data, shape, part.dtype as "float32");
  }
}
