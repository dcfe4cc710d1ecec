// A call cut into blocks that run apart. A result of attention depends on its query and the keys of its head alone, so
// blocks of heads, or of queries that say where they stand, give the bits of the whole.
import { type ReadArray, Tensor, kindOfArray, product, readArray, readNumbers } from "../tensor.js";
import { type Places, kAttentionOptions, readCausal, readMaskArray, readPlaces, readWindow } from "../attention.js";
import { readMask, readOptions } from "../options.js";
import { bufferOf, keep } from "./spares.js";
import { Packer, Unpacker, dataOfOut, fill } from "./wire.js";

/** A call in blocks. */
export interface Blocks {
  /** The function that runs each. */
  readonly name: string;
  /** Makes the arguments of each block, copies of the caller's, in order. */
  readonly args: readonly (() => readonly unknown[])[];
  /** What all blocks are given alike. */
  readonly shared: readonly object[];
  /** Buffers of the arguments that nobody else has. */
  readonly fresh: ReadonlySet<ArrayBufferLike>;
  /** The work of each block, in multiply-adds; 0 where nobody should learn from it. */
  readonly work: readonly number[];
  /** The work of the call, where more than that of these blocks. */
  readonly total?: number;
  /** Takes the result of one block. */
  take(block: number, result: unknown): void;
  /** The whole, when every block is in and nothing comes after; throws where only the whole call can say what it is. */
  result(): unknown;
  /** Arguments of the whole, without the options, out of those of its blocks; `back` says what became of a buffer. */
  restored?(back: (buffer: ArrayBufferLike) => ArrayBufferLike): unknown[];
  /** The blocks that come after, when every one of these is in. */
  next?(): Blocks;
}

/** How many blocks to make of a call of so many multiply-adds. */
export type Plan = (multiplyAdds: number) => number;

/**
 * Cuts the arguments of a call. Undefined or an exception where it stays whole: because it is small, because the core
 * should see (and refuse) an argument as it is, or because its options do not let it be cut.
 */
export type Cut = (args: readonly unknown[], plan: Plan) => Blocks | undefined;

/** How a function of the API runs in blocks, and the functions that these run. */
export interface Parts {
  readonly cut: Cut;
  readonly functions: Readonly<Record<string, unknown>>;
}

/** Thrown where a call is not to be cut. */
export class Unfit extends Error {}

/** Options that were read. */
export type Given = Readonly<Record<string, unknown>>;

const kOptions = [...kAttentionOptions, "dtype"];
// Options that are cut with the queries; others mean the same to a block of queries as to the whole.
const kPerQuery = ["causal", "queryPositions", "keyPositions", "queryOrder", "keyOrder", "mask", "out"];

/** What softmax costs a pair, in multiply-adds. */
export const kPerPair = 16;
/** How much longer a multiply-add in float64 takes, by the plain way. */
export const kExactly = 12;

type Span = readonly [start: number, end: number];

/** Where `count` shares of about the same length begin, and where the last ends. */
export function evenBounds(length: number, count: number): number[] {
  return Array.from({ length: count + 1 }, (_, b) => Math.round((length * b) / count));
}

/** A call of attention as the ways to cut it read it. */
export class Call {
  readonly query: ReadArray;
  readonly key: ReadArray;
  readonly value: ReadArray;
  readonly given: Given;
  readonly mask: ReadArray | undefined;
  readonly places: Places;
  readonly causal: boolean;
  readonly rank: number;
  readonly batch: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly queries: number;
  readonly keys: number;
  readonly width: number;
  readonly valueWidth: number;
  /** seen[i]: how many keys the queries before i see between them, as far as order tells; each query counts for one. */
  readonly seen: Float64Array;
  readonly fresh = new Set<ArrayBufferLike>();

  /** Throws where the call is not `worth` cutting by its sizes, or cannot be read: the core should see it as it is. */
  constructor(
    subject: string,
    [q, k, v, options]: readonly unknown[],
    worth: (call: Call) => boolean,
    without: readonly string[] = [],
  ) {
    const [query, key, value] = [read(subject, "q", q), read(subject, "k", k), read(subject, "v", v)];
    const rank = query.shape.length;
    if (rank < 2 || rank > 4 || key.shape.length !== rank || value.shape.length !== rank) throw new Unfit();
    [this.query, this.key, this.value, this.rank] = [query, key, value, rank];
    [this.queries, this.width] = query.shape.slice(-2) as [number, number];
    this.keys = key.shape[rank - 2]!;
    this.valueWidth = value.shape[rank - 1]!;
    this.batch = rank === 4 ? query.shape[0]! : 1;
    this.heads = rank === 2 ? 1 : query.shape[rank - 3]!;
    this.kvHeads = rank === 2 ? 1 : key.shape[rank - 3]!;
    const kvShape = key.shape.slice(0, -1).join();
    if (kvShape !== value.shape.slice(0, -1).join() || !Number.isInteger(this.group)) throw new Unfit();
    if (this.queries === 0 || this.keys === 0 || this.batch * this.heads === 0 || !worth(this)) throw new Unfit();

    const known = kOptions.filter((name) => !without.includes(name));
    const given = (this.given = readOptions(subject, options, known));
    this.mask = given.mask === undefined ? undefined : readMaskArray(subject, given.mask);
    if (this.mask?.shaped === false) throw new Unfit();
    const causal = readCausal(subject, given.causal);
    this.causal = causal !== false;
    const places = readPlaces(subject, given, this.queries, this.keys, causal);
    const { query: queryPlaces, key: keyPlaces, keyOrder } = places;
    // Where positions have several axes the index counts, which a block of queries would count from its own start.
    const indexed = queryPlaces.axes > 1 ? Float64Array.from({ length: this.queries }, (_, i) => i) : undefined;
    const queryOrder = places.queryOrder ?? indexed;
    this.places = { ...places, queryOrder };
    this.seen = visible(
      queryOrder ?? queryPlaces.data,
      keyOrder ?? (keyPlaces.axes > 1 ? undefined : keyPlaces.data),
      this.keys,
      this.causal,
      readWindow(subject, given.window, this.causal),
      typeof given.prefixLength === "number" ? given.prefixLength : 0,
    );
  }

  get group(): number {
    return this.heads / this.kvHeads;
  }

  /** Some of an array's entries along its last axes, in an array of their own. Axes of size 1 serve all. */
  part(array: ReadArray, spans: readonly (Span | undefined)[]): object {
    const shape = [...array.shape];
    let { data } = array;
    const first = shape.length - spans.length;
    spans.forEach((span, s) => {
      const axis = first + s;
      const length = shape[axis];
      if (span === undefined || length === undefined || length === 1) return;
      const [start, end] = span;
      const [outer, inner] = [product(shape.slice(0, axis)), product(shape.slice(axis + 1))];
      // Neighbours in memory are taken as they lie, and copied at the end.
      data = outer === 1 ? data.subarray(start * inner, end * inner) : rowsOf(data, outer, length, inner, start, end);
      shape[axis] = end - start;
    });
    const own = data.buffer === array.data.buffer ? rowsOf(data, 1, 1, data.length, 0, 1) : data;
    this.fresh.add(own.buffer);
    return wrapped(array, own, shape);
  }

  /** Options that mean the same to blocks of queries, but for the mask; and what those share. */
  alike(): { readonly options: Readonly<Record<string, unknown>>; readonly shared: readonly object[] } {
    const { given, places } = this;
    const options: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(given)) if (!kPerQuery.includes(name)) options[name] = value;
    if (this.causal) options.causal = true;
    options.keyPositions = new Tensor(places.key.data, [places.key.axes, this.keys], "float64");
    if (places.keyOrder !== undefined) options.keyOrder = new Tensor(places.keyOrder, [this.keys], "float64");
    return { options, shared: Object.values(options).filter((option) => option instanceof Tensor) };
  }

  /** What the options say of some queries. */
  ofQueries(span: Span): Readonly<Record<string, unknown>> {
    const { query, queryOrder } = this.places;
    const doubles = (data: Float64Array, axes: number): object => {
      const shape = [axes, this.queries];
      return this.part({ ...this.query, data, shape, boolean: false, nested: false }, [span]);
    };
    return {
      queryPositions: doubles(query.data, query.axes),
      ...(queryOrder === undefined ? {} : { queryOrder: doubles(queryOrder, 1) }),
    };
  }

  /** The mask of some batch entries, heads and queries. */
  ofMask(batch: Span | undefined, heads: Span | undefined, rows: Span | undefined): Readonly<Record<string, unknown>> {
    const { mask } = this;
    if (mask === undefined) return {};
    return { mask: this.part(mask, [batch, heads, rows, undefined].slice(-mask.shape.length)) };
  }

  /** What is said a batch entry, of one. */
  ofBatch(b: number): Readonly<Record<string, unknown>> {
    const { keyMask, keyLengths } = this.given;
    const own: Record<string, unknown> = {};
    if (this.batch === 1) return own;
    if (keyMask !== undefined) {
      const { data, shape } = readMask("attention", "keyMask", keyMask, 2);
      const [start, end] = [b * this.keys, (b + 1) * this.keys];
      if (shape.length === 2) own.keyMask = new Tensor(data.slice(start, end), [this.keys], "bool");
    }
    if (keyLengths !== undefined) own.keyLengths = [readArray("attention", "keyLengths", keyLengths, Number).data[b]];
    return own;
  }

  /** The sinks of some heads. */
  ofSinks(heads: Span): Readonly<Record<string, unknown>> {
    const { sinks } = this.given;
    return sinks === undefined ? {} : { sinks: this.part(readNumbers("attention", "sinks", sinks), [heads]) };
  }
}

function read(subject: string, argument: string, value: unknown): ReadArray {
  const array = readNumbers(subject, argument, value);
  if (!array.shaped || array.nested) throw new Unfit();
  return array;
}

/** True where both are one array of the caller's. */
export function sameArray(a: ReadArray, b: ReadArray): boolean {
  const [first, second] = [a.data, b.data];
  return (
    first.buffer === second.buffer &&
    first.byteOffset === second.byteOffset &&
    kindOfArray(first) === kindOfArray(second) &&
    a.shape.length === b.shape.length &&
    a.shape.every((length, axis) => length === b.shape[axis])
  );
}

/** The array with other data of its kind, as a function takes it. */
export function wrapped(array: ReadArray, data: ReadArray["data"], shape: readonly number[]): object {
  if (array.boolean) return new Tensor(data instanceof Uint8Array ? data : Uint8Array.from(data), shape, "bool");
  if (data instanceof Float32Array) return new Tensor(data, shape, "float32");
  if (data instanceof Float64Array && !array.nested) return new Tensor(data, shape, "float64");
  if (data instanceof Int32Array) return new Tensor(data, shape, "int32");
  return { data, shape };
}

/** Rows `start` to `end` of each of `outer` matrices of `rows` rows of `width`, in an array of their own. */
export function rowsOf<T extends ReadArray["data"]>(
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

/** The caller's `out`, if it is one that the core would fill. */
export function readTarget(out: unknown, wide: boolean, size: number): unknown {
  if (out === undefined) return undefined;
  const data = dataOfOut(out);
  const fits = kindOfArray(data) === (wide ? "Float64Array" : "Float32Array") && (data as Float32Array).length === size;
  if (!fits) throw new Unfit();
  return out;
}

/** A copy that stays what it is, whatever becomes of the caller's arrays. */
export function snapshot<T>(value: T): T {
  const { value: packed, schemes } = new Packer().packed(value);
  return new Unpacker({ schemes }).unpack(packed) as T;
}

/** Results of blocks put together: every tensor becomes one with all of the axis that was cut. */
export class Joined {
  #whole: Readonly<Record<string, unknown>> | undefined;
  // The caller's `out` is filled in the end: a call that is refused or stopped leaves it as it was.
  readonly #outs: Tensor[] = [];

  constructor(
    readonly subject: string,
    readonly bounds: readonly number[],
    readonly axis: number,
    readonly target?: unknown,
  ) {}

  take(block: number, result: unknown): void {
    const { out, ...rest } = result as { readonly out?: Tensor };
    const waits = out !== undefined && this.target !== undefined;
    if (waits) this.#outs[block] = out;
    this.#whole = this.#join(this.#whole, waits ? rest : (result as object), block) as Record<string, unknown>;
    if (out !== undefined && !waits) keep(out.data.buffer as ArrayBuffer);
  }

  result(): Readonly<Record<string, unknown>> {
    const { target } = this;
    const [first] = this.#outs;
    if (first === undefined) return this.#whole!;
    const shape = this.#shape(first);
    let data: unknown;
    this.#outs.forEach((out, block) => {
      this.#place(out, block, (from, at) => (data = fill(this.subject, target, from as Float32Array, at)));
      keep(out.data.buffer as ArrayBuffer);
    });
    return { out: new Tensor(data as Float32Array, shape, first.dtype as "float32"), ...this.#whole };
  }

  #join(whole: unknown, part: unknown, block: number): unknown {
    if (part instanceof Tensor) {
      const into = (whole ?? this.#empty(part)) as Tensor;
      this.#place(part, block, (from, at) => into.data.set(from as never, at));
      return into;
    }
    const object = (whole ?? {}) as Record<string, unknown>;
    for (const [key, entry] of Object.entries(part as object)) object[key] = this.#join(object[key], entry, block);
    return object;
  }

  // Hands out the runs of a block's tensor, with where each goes.
  #place(part: Tensor, block: number, put: (from: Tensor["data"], at: number) => void): void {
    const [start, end] = [this.bounds[block]!, this.bounds[block + 1]!];
    const outer = product(part.shape.slice(0, this.axis));
    const inner = product(part.shape.slice(this.axis + 1));
    const size = (end - start) * inner;
    const length = this.bounds[this.bounds.length - 1]!;
    for (let o = 0; o < outer; o++) {
      put(part.data.subarray(o * size, (o + 1) * size) as Tensor["data"], (o * length + start) * inner);
    }
  }

  #shape({ shape }: Tensor): number[] {
    return shape.map((length, axis) => (axis === this.axis ? this.bounds[this.bounds.length - 1]! : length));
  }

  #empty(part: Tensor): Tensor {
    const shape = this.#shape(part);
    const data = new (part.data.constructor as new (length: number) => Float32Array)(product(shape));
    return new Tensor(data, shape, part.dtype as "float32");
  }
}
