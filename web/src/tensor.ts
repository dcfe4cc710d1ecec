// Tensor: what every function returns, and how every function reads the arrays it is given.
import {
  isList,
  isRecord,
  isRevoked,
  printed,
  printedShape,
  refusal,
  refuse,
  refuseMissing,
  refuseShape,
  verbatim,
} from "./error.js";
import { kMaxBytes } from "./module.js";

/** The element types of a tensor; `bool` is kept as bytes of 0 and 1. */
export type DType = "float32" | "float64" | "int32" | "bool";

interface Storage {
  float32: Float32Array;
  float64: Float64Array;
  int32: Int32Array;
  bool: Uint8Array;
}

/** The value of one element: a boolean for `bool`, else a number. */
export type Element<D extends DType> = D extends "bool" ? boolean : number;

/** Nested plain arrays, as {@link Tensor.tolist} gives them. */
export type Nested<T> = T | readonly Nested<T>[];

/** A typed array of numbers. */
export type NumberArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array;

/** A typed array of BigInts. */
export type BigInts = BigInt64Array | BigUint64Array;

/**
 * Anything with a shape: a tensor of this package, of transformers.js or tfjs, or an ndarray. BigInts are taken where
 * {@link BigIntsLike} is; transformers.js has one type for all its tensors.
 */
export type Shaped =
  | { readonly data: NumberArray | BigInts | readonly number[]; readonly shape: readonly number[] }
  | { readonly data: NumberArray | BigInts | readonly number[]; readonly dims: readonly number[] }
  | { dataSync(): NumberArray; readonly shape: readonly number[] };

/** Nested arrays of numbers; the innermost may be typed arrays. */
export type NestedNumbers = readonly (number | NumberArray | NestedNumbers)[];

/** BigInts in any form, such as the int64 tensors of tokenizers: taken as positions, counts and masks. */
export type BigIntsLike =
  | BigInts
  | readonly Nested<bigint | BigInts>[]
  | { readonly data: readonly bigint[]; readonly shape: readonly number[] }
  | { readonly data: readonly bigint[]; readonly dims: readonly number[] };

/** Booleans, nested in rows. */
export type NestedBooleans = readonly (readonly boolean[] | NestedBooleans)[];

/** A mask of true and false, 1 and 0, or 1n and 0n. */
export type MaskLike = readonly boolean[] | NestedBooleans | TensorLike | BigIntsLike;

/** Whatever is taken where an array is asked for. A bare typed array serves where the shape is implied. */
export type TensorLike = Tensor | Shaped | NumberArray | NestedNumbers;

/** @internal The arrays that hold the elements of each dtype. */
export const kStorage = { float32: Float32Array, float64: Float64Array, int32: Int32Array, bool: Uint8Array } as const;
const kInspect: unique symbol = Symbol.for("nodejs.util.inspect.custom") as never;
const kDenoInspect: unique symbol = Symbol.for("Deno.customInspect") as never;
const kJupyter: unique symbol = Symbol.for("Jupyter.display") as never;

/** A row-major array of numbers (or booleans) with a shape. The data is the owner's: nothing else refers to it. */
export class Tensor<D extends DType = DType> implements Iterable<Element<D> | Tensor<D>> {
  readonly data: Storage[D];
  readonly shape: readonly number[];
  readonly dtype: D;
  /** The number of elements. */
  readonly size: number;

  /**
   * Wraps data of the right kind and size without a copy; `tensor()` is the friendly way. Data of another kind than
   * the dtype's is `not-a-number`, of another size than the shape's `shape-mismatch`.
   */
  constructor(data: Storage[D], shape: readonly number[], dtype: D) {
    checkType("Tensor", dtype);
    const kind = kStorage[dtype].name;
    if (kindOfArray(data) !== kind) refuse("not-a-number", "Tensor", "data", `a ${kind} for ${dtype}`, data);
    refuseDetached("Tensor", "data", data);
    const dims = checkedShape("Tensor", "shape", shape);
    const size = lengthOf(data);
    if (product(dims) !== size) {
      const allowed = `of ${product(dims)} elements for the shape ${printedShape(dims)}`;
      refuse("shape-mismatch", "Tensor", "data", allowed, size);
    }
    if (dtype === "bool") checkFlags("Tensor", "data", data);
    this.data = data;
    this.shape = Object.freeze(dims);
    this.dtype = dtype;
    this.size = size;
  }

  /** The shape under its other name. */
  get dims(): readonly number[] {
    return this.shape;
  }

  /** One element by its indices; negative ones count from the end. Outside: `out-of-range`. */
  at(...indices: number[]): Element<D> {
    if (indices.length !== this.shape.length) {
      refuse(
        "shape-mismatch",
        "Tensor.at",
        "indices",
        `${this.shape.length} in number`,
        verbatim(printedShape(indices)),
      );
    }
    return this.#element(this.#offset("Tensor.at", indices));
  }

  /** A copy of one row: all indices but the last, so `row(t)` of a matrix and `row(h, i)` of three axes. */
  row(...indices: number[]): Storage[D] {
    const rank = this.shape.length;
    if (rank === 0 || indices.length !== rank - 1) {
      refuse(
        "shape-mismatch",
        "Tensor.row",
        "indices",
        `${Math.max(rank - 1, 0)} in number`,
        verbatim(printedShape(indices)),
      );
    }
    const width = this.shape[rank - 1]!;
    const start = this.#offset("Tensor.row", indices) * width;
    return this.data.slice(start, start + width) as Storage[D];
  }

  /** A copy of the entries `start` to `end` (excluded) of the first axis, as Array.prototype.slice counts them. */
  slice(start = 0, end?: number): Tensor<D> {
    const [length, ...rest] = this.shape;
    if (length === undefined)
      refuse("shape-mismatch", "Tensor.slice", "this tensor", "of one axis or more", verbatim("a scalar"));
    const clamp = (value: number, name: string): number => {
      if (!Number.isInteger(value)) refuse("not-integer", "Tensor.slice", name, "an integer", value);
      return Math.min(Math.max(value < 0 ? value + length : value, 0), length);
    };
    const from = clamp(start, "start");
    const to = Math.max(from, clamp(end ?? length, "end"));
    const stride = product(rest);
    return new Tensor(this.data.slice(from * stride, to * stride) as Storage[D], [to - from, ...rest], this.dtype);
  }

  /** Nested plain arrays, numbers as they are (a float32 as the double it equals). */
  tolist(): Nested<Element<D>> {
    const build = (axis: number, start: number): Nested<Element<D>> => {
      if (axis === this.shape.length) return this.#element(start);
      const stride = product(this.shape.slice(axis + 1));
      return Array.from({ length: this.shape[axis]! }, (_, i) => build(axis + 1, start + i * stride));
    };
    return build(0, 0);
  }

  /**
   * Walks the first axis: elements where there is one axis, else tensors (copies). Types do not know how many axes
   * there are, so each serves as either: `const [q, k, v] = tensor` are three tensors to `attention`.
   */
  *[Symbol.iterator](): Iterator<Element<D> & Tensor<D>> {
    const [length, ...rest] = this.shape;
    if (length === undefined)
      refuse("shape-mismatch", "Tensor", "this tensor", "of one axis or more to iterate", verbatim("a scalar"));
    const stride = product(rest);
    for (let i = 0; i < length; i++) {
      yield (
        rest.length === 0
          ? this.#element(i)
          : new Tensor(this.data.slice(i * stride, (i + 1) * stride) as Storage[D], rest, this.dtype)
      ) as Element<D> & Tensor<D>;
    }
  }

  /** Arguments of Observable Plot's raster: `Plot.raster(...tensor.toPlotRaster())`, the first row at the top. */
  toPlotRaster(): [
    data: Storage[D],
    options: { width: number; height: number; x1: number; y1: number; x2: number; y2: number },
  ] {
    if (this.shape.length !== 2) refuse("shape-mismatch", "Tensor.toPlotRaster", "this tensor", "of two axes", this);
    const [height, width] = this.shape as [number, number];
    return [this.data, { width, height, x1: 0, y1: height, x2: width, y2: 0 }];
  }

  /** `{shape, dtype, data}` with data a flat array; what JSON cannot say (NaN, Infinity) is null. */
  toJSON(): { shape: readonly number[]; dtype: D; data: (number | boolean | null)[] } {
    const data = Array.from(this.data as ArrayLike<number>, (value) =>
      this.dtype === "bool" ? value !== 0 : Number.isFinite(value) ? value : null,
    );
    return { shape: this.shape, dtype: this.dtype, data };
  }

  /** Readable, long axes abridged. */
  toString(): string {
    const text = (value: Element<D>): string =>
      typeof value === "boolean"
        ? value
          ? "true"
          : "false"
        : this.dtype === "float32"
          ? String(Number((value as number).toPrecision(7)))
          : String(value);
    const draw = (axis: number, start: number, indent: string): string => {
      if (axis === this.shape.length) return text(this.#element(start));
      const length = this.shape[axis]!;
      const stride = product(this.shape.slice(axis + 1));
      const last = axis === this.shape.length - 1;
      const kept = length > 8 ? [0, 1, 2, -1, length - 3, length - 2, length - 1] : Array.from({ length }, (_, i) => i);
      const parts = kept.map((i) => (i < 0 ? "…" : draw(axis + 1, start + i * stride, `${indent} `)));
      return `[${parts.join(last ? ", " : `,\n${indent} `)}]`;
    };
    const head = `Tensor ${this.dtype} [${this.shape.join(", ")}]`;
    return this.size === 0 ? `${head} []` : `${head}\n${draw(0, 0, "")}`;
  }

  [kInspect](): string {
    return this.toString();
  }

  [kDenoInspect](): string {
    return this.toString();
  }

  [kJupyter](): { "text/plain": string } {
    return { "text/plain": this.toString() };
  }

  get [Symbol.toStringTag](): string {
    return "Tensor";
  }

  #offset(subject: string, indices: readonly number[]): number {
    let offset = 0;
    indices.forEach((index, axis) => {
      const length = this.shape[axis]!;
      if (!Number.isInteger(index)) refuse("not-integer", subject, "indices", "integers", index);
      const i = index < 0 ? index + length : index;
      if (i < 0 || i >= length) {
        refuse("out-of-range", subject, "indices", `from ${-length} to ${length - 1} on axis ${axis}`, index);
      }
      offset = offset * length + i;
    });
    return offset;
  }

  #element(i: number): Element<D> {
    const value = (this.data as ArrayLike<number>)[i]!;
    return (this.dtype === "bool" ? value !== 0 : value) as Element<D>;
  }
}

/**
 * Builds a tensor from nested arrays, a typed array with a shape, or anything shaped. Without `dtype`, nested numbers
 * become float32, nested booleans bool, and a Float32Array, Float64Array or Int32Array keeps its type without a copy;
 * other typed arrays become float32. Errors: `shape-mismatch` for ragged arrays and shapes that do not fit.
 */
export function tensor(values: TensorLike | Nested<boolean> | number | boolean, shape?: readonly number[]): Tensor;
export function tensor<D extends DType>(
  values: TensorLike | Nested<boolean> | number | boolean,
  shape: readonly number[] | undefined,
  dtype: D,
): Tensor<D>;
export function tensor(values: unknown, shape?: readonly number[], dtype?: DType): Tensor {
  if (dtype !== undefined) checkType("tensor", dtype);
  const read = readArray("tensor", "values", values);
  let dims = read.shape;
  if (shape !== undefined) {
    dims = checkedShape("tensor", "shape", shape);
    if (product(dims) !== read.data.length) {
      refuse("shape-mismatch", "tensor", "shape", `of ${read.data.length} elements`, verbatim(printedShape(dims)));
    }
  }
  const kind =
    dtype ??
    (read.boolean
      ? "bool"
      : read.data instanceof Float64Array && !read.nested
        ? "float64"
        : read.data instanceof Int32Array
          ? "int32"
          : "float32");
  return new Tensor(converted(read, kind), dims, kind);
}

// What is no text is not made one: a list of a name is no name.
function checkType(subject: string, dtype: unknown): void {
  if (typeof dtype !== "string" || !Object.hasOwn(kStorage, dtype)) {
    refuse("unknown-choice", subject, "dtype", '"float32", "float64", "int32" or "bool"', dtype);
  }
}

/** Refuses entries other than 0 and 1. */
export function checkFlags(subject: string, argument: string, data: NumberArray): void {
  const at = data.findIndex((value: number) => value !== 0 && value !== 1);
  if (at >= 0) refuse("out-of-range", subject, argument, "true and false (or 1 and 0)", data[at]);
}

function converted<D extends DType>({ data, source }: ReadArray, dtype: D): Storage[D] {
  const Constructor = kStorage[dtype];
  if (dtype === "bool") checkFlags("tensor", "values", data);
  if (data instanceof Constructor && ownsItsBuffer(data)) return (source ?? data) as Storage[D];
  if (dtype === "int32") {
    for (const value of data) {
      if (!Number.isInteger(value)) refuse("not-integer", "tensor", "values", "integers for int32", value);
      if (value !== (value | 0)) refuse("out-of-range", "tensor", "values", "from -2147483648 to 2147483647", value);
    }
  }
  if (data instanceof Float64Array && dtype === "float32") return asFloat32("tensor", "values", data) as Storage[D];
  return new Constructor(data) as Storage[D];
}

// ---------------------------------------------------------------- reading what users hand in

/** An array as it was read: flat, with the shape if it has one. */
export interface ReadArray {
  /** Of this realm and of its true length, whatever properties the array it was read from has. */
  readonly data: NumberArray;
  /** The array that was read, over the same elements, where `data` is a view of it. */
  readonly source?: NumberArray;
  readonly shape: readonly number[];
  /** False for a bare typed array: its shape [length] is only a guess. */
  readonly shaped: boolean;
  readonly boolean: boolean;
  readonly nested: boolean;
}

/** The product of a shape, in doubles: never wraps. */
export function product(shape: readonly number[]): number {
  let size = 1;
  for (const length of shape) size *= length;
  return size;
}

/** `size` elements if they fit a call, else `too-large`; the sizes are multiplied as doubles. */
export function allowedSize(subject: string, argument: string, shape: readonly number[], bytesPerElement = 4): number {
  const size = product(shape);
  const limit = Math.floor(kMaxBytes / bytesPerElement);
  if (!(size <= limit)) {
    throw refusal({
      code: "too-large",
      subject,
      argument,
      allowed: `at most ${limit} elements`,
      given: shape.length === 1 ? String(size) : `${shape.join(" x ")} = ${size}`,
    });
  }
  return size;
}

/** True for a typed array over a plain, unshared buffer of fixed size. */
function ownsItsBuffer(view: ArrayBufferView): boolean {
  const { buffer } = view;
  return buffer instanceof ArrayBuffer && (buffer as { resizable?: boolean }).resizable !== true;
}

const kTypedArray = Object.getPrototypeOf(Uint8Array) as { prototype: { at(this: unknown, i: number): unknown } };

// What an array says of itself may be overridden by properties of its own or of its class; these ask its slots, and
// answer for arrays of other realms (frames, vm contexts) too.
function slot<T>(name: PropertyKey): (view: ArrayBufferView) => T {
  const { get } = Object.getOwnPropertyDescriptor(kTypedArray.prototype, name)!;
  return (view) => get!.call(view) as T;
}
/** The number of elements of a typed array; 0 where its buffer is detached or has shrunk under it. */
export const lengthOf = slot<number>("length");
const bufferOf = slot<ArrayBuffer>("buffer");
const startOf = slot<number>("byteOffset");
const bytesIn = slot<number>("byteLength");
const tagOf = slot<string>(Symbol.toStringTag);

/** The kinds of typed arrays that hold numbers, by name. */
export const kNumberArrays: ReadonlyMap<
  string,
  new (buffer: ArrayBuffer, start: number, length: number) => NumberArray
> = new Map(
  [
    Float32Array,
    Float64Array,
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
  ].map((kind) => [kind.name, kind]),
);

/** The kind of a typed array of any realm, `"Float32Array"`; undefined for whatever is none. */
export function kindOfArray(value: unknown): string | undefined {
  return ArrayBuffer.isView(value) ? tagOf(value) : undefined;
}

/** The bytes of an attached view, in place. */
export function bytesOf(view: ArrayBufferView): Uint8Array {
  return tagOf(view) === undefined
    ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
    : new Uint8Array(bufferOf(view), startOf(view), bytesIn(view));
}

// A view of the elements, of this realm's kind and with nothing of the owner's properties. Attached arrays only.
function plainView(array: NumberArray): NumberArray {
  const Kind = kNumberArrays.get(tagOf(array))!;
  return new Kind(bufferOf(array), startOf(array), lengthOf(array));
}

/** Refuses an array whose buffer was transferred away, or shrunk under it: it would read as empty. */
export function refuseDetached(subject: string, argument: string, view: ArrayBufferView): void {
  try {
    if (tagOf(view) === undefined) {
      void view.byteLength; // a DataView, which throws
      return;
    }
    if (lengthOf(view) !== 0) return;
    kTypedArray.prototype.at.call(view, 0);
  } catch {
    // A buffer that was transferred says that it may grow to nothing.
    const { maxByteLength = 0 } = (tagOf(view) ? bufferOf(view) : Object(view.buffer)) as { maxByteLength?: number };
    const given = maxByteLength > 0 ? "an array outside its buffer, which has shrunk" : "a detached array";
    refuse("detached", subject, argument, "an array whose buffer is attached and long enough", verbatim(given));
  }
}

function isNumberArray(value: unknown): value is NumberArray {
  return kNumberArrays.has(kindOfArray(value) ?? "");
}

function isBigInts(value: unknown): value is BigInts {
  return /^Big/.test(kindOfArray(value) ?? "");
}

function readTyped(subject: string, argument: string, array: NumberArray): NumberArray {
  refuseDetached(subject, argument, array);
  return plainView(array);
}

function checkedShape(subject: string, argument: string, shape: unknown): readonly number[] {
  if (isNumberArray(shape)) refuseDetached(subject, argument, shape);
  const axes = isList(shape) ? shape.length : isNumberArray(shape) ? lengthOf(shape) : Infinity;
  if (!(axes <= 8)) refuse("shape-mismatch", subject, argument, "a list of at most 8 whole numbers", shape);
  const list: number[] = [];
  for (let axis = 0; axis < axes; axis++) {
    const length = (shape as ArrayLike<unknown>)[axis];
    if (typeof length !== "number" || !Number.isInteger(length) || length < 0) {
      refuse("shape-mismatch", subject, argument, "a list of whole numbers from 0", length);
    }
    list.push(length);
  }
  return list;
}

/** What a BigInt counts as, where there may be any. */
export type Whole = (entry: bigint) => number;

/**
 * Reads anything listed in {@link TensorLike}, and with `whole` in {@link BigIntsLike}; elements that are not numbers
 * (or booleans) are `not-a-number`.
 */
export function readArray(subject: string, argument: string, value: unknown, whole?: Whole): ReadArray {
  if (isRevoked(value)) refuse("not-a-number", subject, argument, "an array of numbers", value);
  if (value instanceof Tensor) {
    const { data: source, dtype } = value;
    if (!isNumberArray(source)) refuse("not-a-number", subject, argument, "a tensor of numbers", source);
    const shape = checkedShape(subject, `${argument}.shape`, value.shape);
    const data = readTyped(subject, argument, source);
    if (data.length !== product(shape)) {
      const kept = `a tensor whose buffer keeps its ${product(shape)} elements`;
      refuse("detached", subject, argument, kept, verbatim(`${data.length} in a buffer that was resized`));
    }
    return { data, source, shape, shaped: true, boolean: dtype === "bool", nested: false };
  }
  if (isNumberArray(value)) {
    const data = readTyped(subject, argument, value);
    return { data, source: value, shape: [data.length], shaped: false, boolean: false, nested: false };
  }
  const rows = isList(value);
  if (rows || (whole && isBigInts(value))) return { ...readNested(subject, argument, value, whole), shaped: rows };
  if (value === undefined) refuseMissing(subject, argument, "an array of numbers");
  if (typeof value === "number" || typeof value === "boolean") {
    if (subject === "tensor") {
      return {
        data: Float64Array.of(Number(value)),
        shape: [],
        shaped: true,
        boolean: value === true || value === false,
        nested: true,
      };
    }
  }
  if (typeof value === "object" && value !== null && !ArrayBuffer.isView(value)) {
    return readShaped(subject, argument, value as Record<string, unknown>, whole);
  }
  refuse("not-a-number", subject, argument, "an array of numbers", value);
}

function readShaped(subject: string, argument: string, value: Record<string, unknown>, whole?: Whole): ReadArray {
  const shape = value.shape ?? value.dims;
  if (shape === undefined || (value.data === undefined && typeof value.dataSync !== "function")) {
    refuse("not-a-number", subject, argument, "an array of numbers, or an object with data and shape", value);
  }
  const dims = checkedShape(subject, `${argument}.shape`, shape);
  const raw = typeof value.dataSync === "function" ? (value.dataSync as () => unknown)() : value.data;
  if (isRevoked(raw) || (!isList(raw) && !ArrayBuffer.isView(raw) && !(raw instanceof Tensor))) {
    refuse("not-a-number", subject, `${argument}.data`, "a flat array of numbers", raw);
  }
  const kind = value.dtype ?? value.type;
  if (kindOfArray(raw) === "Uint16Array" && (kind === "float16" || kind === "bfloat16")) {
    refuse("unsupported", subject, `${argument}.data`, `numbers, decoded from ${kind}`, raw);
  }
  const boolean = kind === "bool";
  const strides = value.stride ?? value.strides;
  const offset = value.offset;
  // Nothing of the object is read after its elements: a getter could take them away.
  const read = readArray(subject, `${argument}.data`, raw, whole);
  if (read.shaped && read.shape.length !== 1) {
    refuseShape(subject, `${argument}.data`, "a flat array", read.shape);
  }
  const size = product(dims);
  if (strides !== undefined && isList(strides)) {
    return {
      data: gathered(subject, argument, read.data, dims, [...(strides as unknown[])], offset),
      shape: dims,
      shaped: true,
      boolean: read.boolean || boolean,
      nested: read.nested,
    };
  }
  if (size !== read.data.length) {
    refuse(
      "shape-mismatch",
      subject,
      `${argument}.data`,
      `of ${size} elements for the shape ${printedShape(dims)}`,
      read.data.length,
    );
  }
  return {
    data: read.data,
    ...(read.source === undefined ? {} : { source: read.source }),
    shape: dims,
    shaped: true,
    boolean: read.boolean || boolean,
    nested: read.nested,
  };
}

// An ndarray may be a strided view: its elements in row-major order.
function gathered(
  subject: string,
  argument: string,
  data: NumberArray,
  shape: readonly number[],
  strides: unknown[],
  offset: unknown,
): NumberArray {
  const start = offset ?? 0;
  const refuseStrides = (): never =>
    refuse(
      "shape-mismatch",
      subject,
      argument,
      "an ndarray whose strides stay inside its data",
      verbatim(`strides ${printedShape(strides)} from ${printed(start)}`),
    );
  if (strides.length !== shape.length || ![...strides, start].every((step) => Number.isInteger(step))) refuseStrides();
  let low = start as number;
  let high = start as number;
  shape.forEach((length, axis) => {
    const reach = (length - 1) * (strides[axis] as number);
    if (reach < 0) low += reach;
    else high += reach;
  });
  const size = allowedSize(subject, argument, shape, 8);
  if (size > 0 && (low < 0 || high >= data.length)) refuseStrides();
  const result = data instanceof Float64Array ? new Float64Array(size) : new Float32Array(size);
  const index = shape.map(() => 0);
  let at = start as number;
  for (let n = 0; n < size; n++) {
    result[n] = data[at]!;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      const step = strides[axis] as number;
      at += step;
      if (++index[axis]! < shape[axis]!) break;
      at -= step * shape[axis]!;
      index[axis] = 0;
    }
  }
  return result;
}

type Row = readonly unknown[] | BigInts;

function readNested(subject: string, argument: string, value: Row, whole?: Whole): ReadArray {
  const isRow = (item: unknown): item is Row => isList(item) || (whole !== undefined && isBigInts(item));
  const lengthIn = (row: Row): number => {
    if (isList(row)) return row.length;
    refuseDetached(subject, argument, row as BigInts);
    return lengthOf(row as BigInts);
  };
  const shape: number[] = [];
  let leaf: unknown = value;
  while (isRow(leaf)) {
    shape.push(lengthIn(leaf));
    if (shape.length > 8)
      refuse("shape-mismatch", subject, argument, "nested at most 8 deep", verbatim("a deeper array"));
    leaf = leaf[0];
  }
  const typedLeaves = isNumberArray(leaf);
  if (typedLeaves) shape.push(lengthOf(leaf as NumberArray));
  const boolean = typeof leaf === "boolean";
  const size = allowedSize(subject, argument, shape, 8);
  const data = new Float64Array(size);
  const depth = shape.length;
  let next = 0;
  const ragged = (item: unknown, axis: number): never => {
    const length = isRow(item)
      ? `one of length ${lengthIn(item)}`
      : isNumberArray(item)
        ? `one of length ${lengthOf(item)}`
        : printed(item);
    refuse(
      "shape-mismatch",
      subject,
      argument,
      `a regular array: entries of length ${shape[axis]} on axis ${axis}`,
      verbatim(length),
    );
  };
  const walk = (item: unknown, axis: number): void => {
    if (typedLeaves && axis === depth - 1) {
      if (!isNumberArray(item)) ragged(item, axis);
      const row = readTyped(subject, argument, item as NumberArray);
      if (row.length !== shape[axis]) ragged(item, axis);
      data.set(row, next);
      next += row.length;
      return;
    }
    if (!isRow(item) || lengthIn(item) !== shape[axis]) {
      // A stray element among rows is no number's fault but the shape's, unless it is no array at all.
      if (isRow(item) || typeof item === "number" || isNumberArray(item)) ragged(item, axis);
      refuse("not-a-number", subject, argument, "an array of numbers", item);
    }
    if (axis < depth - 1) {
      for (let i = 0; i < shape[axis]!; i++) walk(item[i], axis + 1);
      return;
    }
    for (let i = 0; i < shape[axis]!; i++) {
      const element = item[i] as unknown;
      if (typeof element === "number" && !boolean) data[next++] = element;
      else if (typeof element === "boolean" && boolean) data[next++] = element ? 1 : 0;
      else if (typeof element === "bigint" && whole && !boolean) data[next++] = whole(element);
      else if (isRow(element) || isNumberArray(element)) {
        refuse("shape-mismatch", subject, argument, "a regular array", verbatim("rows among numbers"));
      } else refuse("not-a-number", subject, argument, boolean ? "all booleans" : "an array of numbers", element);
    }
  };
  if (depth > 0) walk(value, 0);
  return { data, shape, shaped: true, boolean, nested: true };
}

/** Data for the core: float32 (or float64 where `wide`) elements, refused where they are booleans. */
export function readNumbers(subject: string, argument: string, value: unknown): ReadArray {
  const read = readArray(subject, argument, value);
  if (read.boolean) refuse("not-a-number", subject, argument, "an array of numbers", verbatim("booleans"));
  return read;
}

/**
 * The elements as float32: as they are where they are float32 already. A finite number that float32 would make infinite
 * is `out-of-range`.
 */
export function asFloat32(subject: string, argument: string, data: NumberArray): Float32Array {
  if (data instanceof Float32Array) return data;
  // A detached array cannot be copied. Empty, it is refused where it is to be moved in.
  if (data.length === 0) return new Float32Array(0);
  const narrow = new Float32Array(data);
  if (data instanceof Float64Array) {
    for (let i = 0; i < narrow.length; i++) {
      if (narrow[i]! - narrow[i]! !== 0 && data[i]! - data[i]! === 0) {
        refuse("out-of-range", subject, argument, "numbers that float32 holds, of at most 3.4028235e38", data[i]);
      }
    }
  }
  return narrow;
}

/** The elements as float64. */
export function asFloat64(data: NumberArray): Float64Array {
  if (data instanceof Float64Array) return data;
  return data.length === 0 ? new Float64Array(0) : new Float64Array(data);
}

/** `out:` as a typed array of the right kind and size, or undefined; the result is written there. */
export function readOut(
  subject: string,
  out: unknown,
  size: number,
  dtype: "float32" | "float64",
): Float32Array | Float64Array | undefined {
  if (out === undefined) return undefined;
  // Known by what it is, as inputs are: from another realm or another copy of the package it serves as well.
  const data: unknown = isRecord(out) ? (out as { data?: unknown }).data : out;
  const kind = kStorage[dtype].name;
  const allowed = `a ${kind} or ${dtype} Tensor of ${size} elements`;
  if (kindOfArray(data) !== kind) refuse("not-a-number", subject, "out", allowed, out);
  const array = data as Float32Array | Float64Array;
  refuseDetached(subject, "out", array);
  const length = lengthOf(array);
  if (length !== size) refuse("shape-mismatch", subject, "out", allowed, verbatim(`${length} elements`));
  return array;
}

/** A float32 tensor over a result. */
export function float32Tensor(data: Float32Array, shape: readonly number[]): Tensor<"float32"> {
  return new Tensor(data, shape, "float32");
}
