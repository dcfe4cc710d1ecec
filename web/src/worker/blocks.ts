// Attention cut into blocks of heads or of queries. A query's results depend on that query and the keys of its head
// alone, so blocks give the bits of the whole; those of queries say where these stand, which the whole may leave to be
// counted.
import { readCausal, readPlaces, readWindow } from "../attention.js";
import { readOptions } from "../options.js";
import { readSchemes } from "../scheme.js";
import { type ReadArray, Tensor, kindOfArray, product, readArray, readNumbers } from "../tensor.js";
import { bufferOf } from "./spares.js";
import { dataOfOut, fill } from "./wire.js";

/** A call of attention in blocks. */
export interface Blocks {
  /** Arguments of each block, in order. */
  readonly args: readonly unknown[][];
  /** What all blocks are given alike. */
  readonly shared: readonly object[];
  /** Buffers of the arguments that nobody else has. */
  readonly fresh: ReadonlySet<ArrayBufferLike>;
  /** The work of each block, in multiply-adds. */
  readonly work: readonly number[];
  /** Writes the result of one block where it belongs. */
  take(block: number, result: unknown): void;
  /** The whole, when every block is in. */
  result(): unknown;
}

/** How many blocks to make of a call of so many multiply-adds. */
export type Plan = (multiplyAdds: number) => number;

// Options that mean the same to a block of queries as to the whole …
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
  "length",
];
// … and those that are cut with the queries. Any other keeps a call in one piece.
const kPerQuery = ["causal", "queryPositions", "keyPositions", "queryOrder", "keyOrder", "mask", "out"];

// Queries that the core takes at a time: a block that is no multiple of them wastes lanes.
const kStep = 8;
// What softmax costs a pair, in multiply-adds.
const kPerPair = 16;
// Blocks of heads may differ by so much in size.
const kUneven = 1.1;

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

type Given = Readonly<Record<string, unknown>>;

// A call as both ways of cutting read it.
interface Call {
  readonly query: ReadArray;
  readonly key: ReadArray;
  readonly value: ReadArray;
  readonly rank: number;
  readonly given: Given;
  readonly mask: ReadArray | undefined;
  readonly target: unknown;
}

function cut([q, k, v, options]: readonly unknown[], plan: Plan): Blocks | undefined {
  const [query, key, value] = [read("q", q), read("k", k), read("v", v)];
  const rank = query.shape.length;
  if (rank < 2 || rank > 4 || key.shape.length !== rank || value.shape.length !== rank) return undefined;
  const [queries, width] = query.shape.slice(-2) as [number, number];
  const keys = key.shape[rank - 2]!;
  const valueWidth = value.shape[rank - 1]!;
  const rows = product(query.shape.slice(0, -2));
  if (queries === 0 || keys === 0) return undefined;
  const perPair = rows * (width + valueWidth + kPerPair);
  if (plan(perPair * queries * keys) < 2) return undefined;

  const given = readOptions("attention", options, [...kAlike, ...kPerQuery]);
  const mask = given.mask === undefined ? undefined : readArray("attention", "mask", given.mask);
  if (mask !== undefined && !mask.shaped) return undefined;
  const target = readTarget(given.out, given.dtype === "float64", rows * queries * valueWidth);
  const call = { query, key, value, rank, given, mask, target };

  const causal = readCausal("attention", given.causal) !== false;
  const places = readPlaces("attention", given, queries, keys, readCausal("attention", given.causal));
  const { query: queryPlaces, key: keyPlaces, keyOrder } = places;
  // Where positions have several axes the index counts, which a block of queries would count from its own start.
  const indexed = queryPlaces.axes > 1 ? Float64Array.from({ length: queries }, (_, i) => i) : undefined;
  const queryOrder = places.queryOrder ?? indexed;
  const seen = visible(
    queryOrder ?? queryPlaces.data,
    keyOrder ?? (keyPlaces.axes > 1 ? undefined : keyPlaces.data),
    keys,
    causal,
    readWindow("attention", given.window, causal),
    typeof given.prefixLength === "number" ? given.prefixLength : 0,
  );
  const work = perPair * seen[queries]!;
  const count = plan(work);
  if (count < 2) return undefined;
  return byHeads(call, count, work) ?? byQueries(call, count, seen, perPair, { ...places, queryOrder }, causal);
}

// ---------------------------------------------------------------- by heads

// Heads bring their own keys along, so nothing is copied twice; but schemes made for a number of heads must see them
// all.
function byHeads(call: Call, count: number, work: number): Blocks | undefined {
  const { query, key, value, rank, given, mask, target } = call;
  const axis = rank - 3;
  if (axis < 0) return undefined;
  const kvHeads = key.shape[axis]!;
  const group = query.shape[axis]! / kvHeads;
  if (!Number.isInteger(group) || value.shape[axis] !== kvHeads || count > kvHeads) return undefined;
  if (Math.ceil(kvHeads / count) > (kUneven * kvHeads) / count) return undefined;
  const specs = (["rotate", "bias", "relate"] as const).flatMap((slot) =>
    readSchemes("attention", slot, given[slot], slot),
  );
  if (specs.some(({ heads }) => heads !== 0)) return undefined;

  const fresh = new Set<ArrayBufferLike>();
  const part = (array: ReadArray, at: number, start: number, end: number): object => {
    const shape = [...array.shape];
    const [outer, inner] = [product(shape.slice(0, at)), product(shape.slice(at + 1))];
    const data = rowsOf(array.data, outer, shape[at]!, inner, start, end);
    shape[at] = end - start;
    fresh.add(data.buffer);
    return wrapped(array, data, shape);
  };
  const { out: _, ...rest } = given;
  const maskAxis = mask === undefined ? -1 : mask.shape.length - 3;
  const sinks = given.sinks === undefined ? undefined : readNumbers("attention", "sinks", given.sinks);
  const bounds = Array.from({ length: count + 1 }, (_, b) => Math.round((kvHeads * b) / count));
  const args = bounds.slice(1).map((end, b): unknown[] => {
    const start = bounds[b]!;
    const own: Record<string, unknown> = { ...rest };
    if (mask !== undefined && maskAxis >= 0 && mask.shape[maskAxis] !== 1) {
      own.mask = part(mask, maskAxis, start * group, end * group);
    }
    if (sinks !== undefined) own.sinks = part(sinks, 0, start * group, end * group);
    const keys = part(key, axis, start, end);
    const values = sameArray(key, value) ? keys : part(value, axis, start, end);
    const same = sameArray(query, key) && group === 1;
    return [same ? keys : part(query, axis, start * group, end * group), keys, values, own];
  });
  const joined = new Joined(bounds.map((bound) => bound * group), axis, kvHeads * group, target);
  const share = bounds.slice(1).map((end, b) => (work * (end - bounds[b]!)) / kvHeads);
  return { args, shared: [], fresh, work: share, ...joined.ends() };
}

// ---------------------------------------------------------------- by queries

function byQueries(
  { query, key, value, rank, given, mask, target }: Call,
  wanted: number,
  seen: Float64Array,
  perPair: number,
  { query: queryPlaces, key: keyPlaces, queryOrder, keyOrder }: ReturnType<typeof readPlaces>,
  causal: boolean,
): Blocks | undefined {
  const leading = query.shape.slice(0, -2);
  const [queries, width] = query.shape.slice(-2) as [number, number];
  const keys = key.shape[rank - 2]!;
  const count = Math.min(wanted, Math.floor(queries / kStep));
  if (count < 2) return undefined;
  const bounds = boundaries(seen, queries, count);
  if (bounds.length < 3) return undefined;
  const maskRows = mask !== undefined && mask.shape.length >= 2 ? mask.shape[mask.shape.length - 2]! : 1;
  if (maskRows !== 1 && maskRows !== queries) return undefined;

  const keyTensor = wrapped(key, key.data, key.shape);
  const valueTensor = sameArray(key, value) ? keyTensor : wrapped(value, value.data, value.shape);
  const alike: Record<string, unknown> = {};
  for (const name of kAlike) if (given[name] !== undefined) alike[name] = given[name];
  if (causal) alike.causal = true;
  alike.keyPositions = new Tensor(keyPlaces.data, [keyPlaces.axes, keys], "float64");
  if (keyOrder !== undefined) alike.keyOrder = new Tensor(keyOrder, [keys], "float64");
  if (mask !== undefined && maskRows === 1) alike.mask = wrapped(mask, mask.data, mask.shape);

  const fresh = new Set<ArrayBufferLike>();
  const part = (array: ReadArray, outer: number, inner: number, start: number, end: number): object => {
    const data = rowsOf(array.data, outer, queries, inner, start, end);
    fresh.add(data.buffer);
    const shape = [...array.shape];
    shape[shape.length - 2] = end - start;
    return wrapped(array, data, shape);
  };
  const doubles = (data: Float64Array, axes: number, start: number, end: number): Tensor => {
    const own = rowsOf(data, axes, queries, 1, start, end);
    fresh.add(own.buffer);
    return new Tensor(own, [axes, end - start], "float64");
  };
  const args = bounds.slice(1).map((end, b): unknown[] => {
    const start = bounds[b]!;
    const own: Record<string, unknown> = { ...alike };
    own.queryPositions = doubles(queryPlaces.data, queryPlaces.axes, start, end);
    if (queryOrder !== undefined) own.queryOrder = doubles(queryOrder, 1, start, end);
    if (mask !== undefined && maskRows !== 1) {
      own.mask = part(mask, product(mask.shape.slice(0, -2)), mask.shape[mask.shape.length - 1]!, start, end);
    }
    return [part(query, product(leading), width, start, end), keyTensor, valueTensor, own];
  });
  const shared = [keyTensor, valueTensor, ...Object.values(alike).filter((option) => option instanceof Tensor)];
  const joined = new Joined(bounds, rank - 2, queries, target);
  const work = bounds.slice(1).map((end, b) => perPair * (seen[end]! - seen[bounds[b]!]!));
  return { args, shared, fresh, work, ...joined.ends() };
}

// ---------------------------------------------------------------- arrays

function read(argument: string, value: unknown): ReadArray {
  const array = readNumbers("attention", argument, value);
  if (!array.shaped || array.nested) throw new Unfit();
  return array;
}

function sameArray(a: ReadArray, b: ReadArray): boolean {
  const [first, second] = [a.data, b.data];
  return (
    first.buffer === second.buffer &&
    first.byteOffset === second.byteOffset &&
    kindOfArray(first) === kindOfArray(second) &&
    a.shape.length === b.shape.length &&
    a.shape.every((length, axis) => length === b.shape[axis])
  );
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
  const size = (end - start) * width;
  const buffer = bufferOf(outer * size * data.BYTES_PER_ELEMENT);
  const part = new (data.constructor as new (buffer: ArrayBuffer) => T)(buffer);
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
  const data = dataOfOut(out);
  const fits = kindOfArray(data) === (wide ? "Float64Array" : "Float32Array") && (data as Float32Array).length === size;
  if (!fits) throw new Unfit();
  return out;
}

// Results of blocks put together: every tensor becomes one with all of the axis that was cut.
class Joined {
  #whole: unknown;

  constructor(
    readonly bounds: readonly number[],
    readonly axis: number,
    readonly length: number,
    readonly target: unknown,
  ) {}

  ends(): Pick<Blocks, "take" | "result"> {
    return { take: (block, result) => this.take(block, result), result: () => this.result() };
  }

  // The caller's `out` is filled only here: a call that is refused or stopped leaves it as it was.
  result(): unknown {
    const { target } = this;
    if (target === undefined) return this.#whole;
    const { out, ...rest } = this.#whole as { readonly out: Tensor };
    const data = fill("attention", target, out.data) as Float32Array;
    return { out: new Tensor(data, out.shape, out.dtype as "float32"), ...rest };
  }

  take(block: number, result: unknown): void {
    const [start, end] = [this.bounds[block]!, this.bounds[block + 1]!];
    const join = (whole: unknown, part: unknown): unknown => {
      if (part instanceof Tensor) {
        const outer = product(part.shape.slice(0, this.axis));
        const inner = product(part.shape.slice(this.axis + 1));
        const size = (end - start) * inner;
        const into = (whole ?? this.#empty(part)) as Tensor;
        for (let o = 0; o < outer; o++) {
          const from = part.data.subarray(o * size, (o + 1) * size);
          into.data.set(from as never, (o * this.length + start) * inner);
        }
        return into;
      }
      const object = (whole ?? {}) as Record<string, unknown>;
      for (const [key, entry] of Object.entries(part as object)) object[key] = join(object[key], entry);
      return object;
    };
    this.#whole = join(this.#whole, result);
  }

  #empty(part: Tensor): Tensor {
    const shape = [...part.shape];
    shape[this.axis] = this.length;
    const data = new (part.data.constructor as new (length: number) => Float32Array)(product(shape));
    return new Tensor(data, shape, part.dtype as "float32");
  }
}
