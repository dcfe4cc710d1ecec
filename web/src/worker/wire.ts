// Arguments and results as messages between threads: tensors, schemes and options become plain nodes, and every array
// goes in a buffer of its own, so that nothing of the caller's is shared, changed or copied twice. What functions would
// refuse stays what it is, for the thread that runs them to refuse.
import { fromJSON } from "../catalogue.js";
import { PosencError, type Refusal, isRevoked, kindOf, refusal } from "../error.js";
import { type AnyScheme, type Scheme, isOwnScheme, isScheme, paramsOf, strangeScheme } from "../scheme.js";
import { Tensor, bytesOf, kNumberArrays, kindOfArray, lengthOf, refuseDetached } from "../tensor.js";
import { copyOf, isWorthKeeping } from "./spares.js";

type AnyArray = ArrayBufferView & { readonly length: number };
type ArrayKind = new (buffer: ArrayBuffer | number, start?: number, length?: number) => AnyArray;

const kKinds = new Map<string, ArrayKind>([
  ...(kNumberArrays as ReadonlyMap<string, ArrayKind>),
  ...[BigInt64Array, BigUint64Array].map((kind) => [kind.name, kind as unknown as ArrayKind] as const),
]);

// What is not itself in a message. Plain arrays of primitives and typed arrays are.
type Node =
  | { readonly is: "function" | "symbol" | "revoked" }
  | { readonly is: "list"; readonly items: unknown[] }
  | { readonly is: "tensor"; readonly data: unknown; readonly shape: readonly number[]; readonly dtype: string }
  | { readonly is: "scheme"; readonly id: number }
  | { readonly is: "strange"; readonly slot: unknown; readonly name: unknown }
  | {
      readonly is: "object";
      readonly listed: [string, unknown][];
      readonly unlisted: [string, unknown][];
      readonly tag: string;
    }
  // A view of a buffer that was moved.
  | { readonly is: "view"; readonly kind: string; buffer: ArrayBuffer; readonly start: number; readonly length: number }
  // An array whose buffer was gone already.
  | { readonly is: "gone"; readonly kind: string; readonly tag?: string | undefined }
  // Room for a result, in an object of this tag if not bare; and the room filled.
  | { readonly is: "room"; readonly kind: string; readonly length: number; readonly tag: string | undefined }
  | { readonly is: "filled"; readonly data: unknown }
  | { readonly is: "shared"; readonly index: number };

/** A value packed, with what has to go along. */
export interface Packed {
  readonly value: unknown;
  readonly buffers: readonly ArrayBuffer[];
  /** The schemes in it, by their number. */
  readonly schemes: ReadonlyMap<number, Scheme>;
}

const numbers = new WeakMap<object, number>();
let schemeCount = 0;

function numberOf(scheme: object): number {
  let number = numbers.get(scheme);
  if (number === undefined) numbers.set(scheme, (number = ++schemeCount));
  return number;
}

function isGone(view: ArrayBufferView): boolean {
  try {
    refuseDetached("", "", view);
    return false;
  } catch {
    return true;
  }
}

/** True for a buffer that can be moved to another thread. */
export function isMovable(buffer: unknown): buffer is ArrayBuffer {
  return buffer instanceof ArrayBuffer && (buffer as { resizable?: boolean }).resizable !== true;
}

// Moves the bytes into a new buffer and detaches the old one; undefined where the engine or the buffer refuses, as a
// WebAssembly memory does.
function moved(buffer: ArrayBuffer): ArrayBuffer | undefined {
  try {
    return structuredClone(buffer, { transfer: [buffer] });
  } catch {
    return undefined;
  }
}

// Deeper than any argument is: functions refuse such an array, whatever lies below.
const kDeepest = 12;

/** How a {@link Packer} treats what it meets. */
export interface PackerOptions {
  /** Asked for the buffer of every array: true to move it, where it can be, rather than copy. */
  readonly moves?: (buffer: ArrayBufferLike) => boolean;
  /** Arrays that are no one else's go as they are: all, or those in these buffers. */
  readonly own?: true | ReadonlySet<ArrayBufferLike>;
  /** Objects that the other side has already, by their place in its list. */
  readonly shared?: readonly object[];
  /** The options whose `out` is this: only room for it goes over. As an argument the same array is one to be read. */
  readonly room?: { readonly options: object; readonly out: unknown } | undefined;
  /** The array that was such room. */
  readonly filled?: ArrayBufferView | undefined;
}

/** Packs values: each object once, however often it occurs. */
export class Packer {
  readonly #options: PackerOptions;
  readonly #buffers = new Set<ArrayBuffer>();
  readonly #schemes = new Map<number, Scheme>();
  readonly #seen = new Map<object, unknown>();
  readonly #leaving = new Map<ArrayBuffer, { buffer: ArrayBuffer }[]>();

  constructor(options: PackerOptions = {}) {
    this.#options = options;
    options.shared?.forEach((object, index) => this.#seen.set(object, { is: "shared", index } satisfies Node));
  }

  /** A value packed, and all that was packed before it. Buffers that are to move leave now, all views at once. */
  packed(value: unknown): Packed {
    const packed = this.pack(value);
    for (const [buffer, nodes] of this.#leaving) {
      const gone = moved(buffer) ?? buffer.slice(0);
      this.#buffers.add(gone);
      for (const node of nodes) node.buffer = gone;
    }
    this.#leaving.clear();
    return { value: packed, buffers: [...this.#buffers], schemes: this.#schemes };
  }

  pack(value: unknown, depth = 0): unknown {
    if (typeof value === "function" || typeof value === "symbol") return { is: typeof value };
    if (typeof value !== "object" || value === null) return value;
    const seen = this.#seen.get(value);
    if (seen !== undefined) return seen;
    const note = (node: unknown): unknown => {
      this.#seen.set(value, node);
      return node;
    };
    if (isRevoked(value)) return note({ is: "revoked" } satisfies Node);
    if (ArrayBuffer.isView(value)) return note(this.#array(value));
    if (isScheme(value)) {
      const { slot, name } = value;
      if (!isOwnScheme(value)) return note({ is: "strange", slot, name } satisfies Node);
      const id = numberOf(value);
      this.#schemes.set(id, value);
      return note({ is: "scheme", id } satisfies Node);
    }
    if (value instanceof Tensor) {
      const { shape, dtype } = value;
      return note({ is: "tensor", data: this.pack(value.data, depth), shape: [...shape], dtype } satisfies Node);
    }
    if (depth > kDeepest) return { is: "list", items: [] } satisfies Node;
    if (!Array.isArray(value)) return this.#object(value, depth);
    if (!value.some(isReference)) return note(value.slice());
    const items: unknown[] = [];
    const node = note({ is: "list", items } satisfies Node);
    for (const item of value as unknown[]) items.push(this.pack(item, depth + 1));
    return node;
  }

  #object(value: object, depth: number): unknown {
    const listed: [string, unknown][] = [];
    const unlisted: [string, unknown][] = [];
    const tag = kindOf(value);
    const node = { is: "object", listed, unlisted, tag } satisfies Node;
    this.#seen.set(value, node);
    const { room } = this.#options;
    const space = value === room?.options ? roomFor(room.out) : undefined;
    for (const [name, entry, isListed] of shapedProperties(value) ?? properties(value)) {
      const packed = name === "out" && space !== undefined ? space : this.pack(entry, depth + 1);
      (isListed ? listed : unlisted).push([name, packed]);
    }
    return node;
  }

  // The elements in a buffer that can be sent away.
  #array(view: ArrayBufferView): unknown {
    const kind = kindOfArray(view) ?? "DataView";
    const moves = this.#options.moves?.(view.buffer) === true;
    if (isGone(view)) return { is: "gone", kind } satisfies Node;
    const Kind = kKinds.get(kind);
    if (Kind === undefined) return view; // of no kind that any function takes: a copy goes
    const bytes = bytesOf(view);
    const { buffer } = bytes;
    const { own } = this.#options;
    if (isMovable(buffer) && own !== undefined && (own === true || own.has(buffer))) {
      this.#buffers.add(buffer);
      return view === this.#options.filled ? ({ is: "filled", data: view } satisfies Node) : view;
    }
    if (moves && isMovable(buffer)) {
      const node = { is: "view", kind, buffer, start: bytes.byteOffset, length: lengthOf(view) } satisfies Node;
      if (!this.#leaving.has(buffer)) this.#leaving.set(buffer, []);
      this.#leaving.get(buffer)!.push(node);
      return node;
    }
    const copy = copyOf(bytes);
    this.#buffers.add(copy);
    return new Kind(copy);
  }
}

/** The array of an `out`, which may be one or hold one. */
export function dataOfOut(out: unknown): unknown {
  if (ArrayBuffer.isView(out) || typeof out !== "object" || out === null) return out;
  return (out as { readonly data?: unknown }).data;
}

// What goes over of an `out`: how large it is.
function roomFor(out: unknown): Node | undefined {
  const data = dataOfOut(out);
  const kind = kindOfArray(data);
  if (kind === undefined || !kKinds.has(kind)) return undefined;
  const array = data as ArrayBufferView;
  const tag = array === out ? undefined : kindOf(out as object);
  return isGone(array) ? { is: "gone", kind, tag } : { is: "room", kind, length: lengthOf(array), tag };
}

function isReference(value: unknown): boolean {
  return (typeof value === "object" && value !== null) || typeof value === "function" || typeof value === "symbol";
}

type Property = readonly [name: string, value: unknown, listed: boolean];

// What functions read of an array of another library, each once.
function shapedProperties(value: object): Property[] | undefined {
  const array = value as Record<string, unknown>;
  const { dataSync } = array;
  const data = typeof dataSync === "function" ? (dataSync as () => unknown).call(array) : array.data;
  const { shape, dims } = array;
  if (data === undefined || (shape ?? dims) === undefined) return undefined;
  const rest = ["dtype", "stride", "strides", "offset"].map((name): Property => [name, array[name], true]);
  const all: Property[] = [["data", data, true], ["shape", shape, true], ["dims", dims, true], ...rest];
  return all.filter(([, entry]) => entry !== undefined);
}

// The properties that options are read from: its own, and those of its class and of what it inherits from, but none of
// Object.prototype's. A class has its getters unlisted.
function* properties(value: object, without: readonly string[] = []): Iterable<Property> {
  const told = new Set(without);
  for (let level: object | null = value; level !== null; level = Object.getPrototypeOf(level) as object | null) {
    if (Object.getPrototypeOf(level) === null && Object.hasOwn(level, "hasOwnProperty")) return;
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(level))) {
      const listed = property.enumerable === true;
      if (told.has(name) || (!listed && property.get === undefined)) continue;
      told.add(name);
      yield [name, (value as Record<string, unknown>)[name], listed];
    }
  }
}

/** A copy of options without some; undefined where none is left. */
export function withoutProperties(options: object, names: readonly string[]): object | undefined {
  const rest = {};
  let some = false;
  for (const [name, value, enumerable] of properties(options, names)) {
    Object.defineProperty(rest, name, { value, enumerable, writable: true, configurable: true });
    some = true;
  }
  return some ? rest : undefined;
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** What an {@link Unpacker} takes references from. */
export interface Known {
  readonly schemes?: ReadonlyMap<number, AnyScheme>;
  readonly shared?: readonly unknown[];
  /** The caller's `out`, to be filled, and the function that was called. */
  readonly out?: unknown;
  readonly subject?: string;
}

/** Makes values of what a {@link Packer} packed. */
export class Unpacker {
  readonly #known: Known;
  readonly #made = new Map<object, unknown>();
  /** The room made for a result. */
  room: ArrayBufferView | undefined;
  /** Buffers of arrays that came with the message, worth sending back when they have been read. */
  readonly read = new Set<ArrayBuffer>();

  constructor(known: Known = {}) {
    this.#known = known;
  }

  unpack(value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (ArrayBuffer.isView(value) && isWorthKeeping(value.buffer)) this.read.add(value.buffer as ArrayBuffer);
    if (!("is" in value)) return value;
    if (this.#made.has(value)) return this.#made.get(value);
    const node = value as Node;
    const note = <T>(made: T): T => {
      this.#made.set(node, made);
      return made;
    };
    switch (node.is) {
      case "function":
        return () => undefined;
      case "symbol":
        return Symbol();
      case "revoked":
        return note(revoked());
      case "list": {
        const list: unknown[] = note([]);
        for (const item of node.items) list.push(this.unpack(item));
        return list;
      }
      case "view":
        return note(new (kKinds.get(node.kind)!)(node.buffer, node.start, node.length));
      case "tensor":
        return note(this.#tensor(node.data, node.shape, node.dtype));
      case "scheme":
        return this.#known.schemes!.get(node.id);
      case "strange":
        return note(strangeScheme(node.slot, node.name));
      case "object": {
        const made: object = note({});
        const define = (enumerable: boolean, [name, entry]: [string, unknown]): void => {
          const property = { value: this.unpack(entry), enumerable, writable: true, configurable: true };
          Object.defineProperty(made, name, property);
        };
        for (const entry of node.listed) define(true, entry);
        for (const entry of node.unlisted) define(false, entry);
        return tagged(made, node.tag);
      }
      case "gone":
        return note(inObject(goneArray(node.kind), node.tag));
      case "room":
        this.room = new (kKinds.get(node.kind)!)(node.length);
        return note(inObject(this.room, node.tag));
      case "filled":
        return note(fill(this.#known.subject ?? "", this.#known.out, node.data as ArrayBufferView));
      case "shared":
        return this.#known.shared![node.index];
    }
  }

  #tensor(packed: unknown, shape: readonly number[], dtype: string): Tensor {
    const size = shape.reduce((product, length) => product * length, 1);
    const gone = (packed as Partial<Node>).is === "gone";
    const data = gone
      ? new (kKinds.get((packed as { kind: string }).kind)!)(size)
      : (this.unpack(packed) as ArrayBufferView);
    const made = new Tensor(data as Float32Array, shape, dtype as "float32");
    // Taken away after the tensor was made, as it was there.
    if (gone) moved((data as Float32Array).buffer as ArrayBuffer);
    return made;
  }
}

function tagged(object: object, tag: string): object {
  return tag === "Object" ? object : Object.defineProperty(object, Symbol.toStringTag, { value: tag });
}

function inObject(data: ArrayBufferView, tag: string | undefined): object {
  return tag === undefined ? data : tagged({ data }, tag);
}

function goneArray(kind: string): ArrayBufferView {
  const buffer = new ArrayBuffer(8);
  const view = kind === "DataView" ? new DataView(buffer) : new (kKinds.get(kind) ?? Uint8Array)(buffer);
  moved(buffer);
  return view;
}

const kSet = (Object.getPrototypeOf(Uint8Array) as { prototype: Uint8Array }).prototype.set as (
  this: unknown,
  from: unknown,
  at: number,
) => void;

/** Writes elements into the caller's array or tensor, from `at` on, and gives the array back. */
export function fill(subject: string, out: unknown, elements: ArrayBufferView, at = 0): ArrayBufferView {
  const target = dataOfOut(out) as ArrayBufferView;
  refuseDetached(subject, "out", target);
  kSet.call(target, elements, at);
  return target;
}

/** The options that make a scheme again in another thread, which {@link madeAgain} takes. */
export function packScheme(scheme: Scheme): Packed {
  return new Packer().packed(paramsOf(scheme));
}

/** The scheme of packed options. */
export function madeAgain(packed: unknown): AnyScheme {
  return fromJSON(new Unpacker().unpack(packed) as Scheme);
}

// ---------------------------------------------------------------- errors

type PackedError =
  | { readonly refusal: Refusal; readonly message: string }
  | { readonly name: string; readonly message: string };

/** An error as a message. */
export function packError(error: unknown): PackedError {
  if (error instanceof PosencError) {
    const { code, subject, argument, allowed, given, message } = error;
    return { refusal: { code, subject, argument, allowed, given }, message };
  }
  const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
  return { name, message };
}

/** The error of a message, of the class it was. */
export function unpackError(packed: PackedError): Error {
  if ("refusal" in packed) return refusal(packed.refusal, packed.message);
  const { name, message } = packed;
  const kinds: Readonly<Record<string, ErrorConstructor>> = { RangeError, TypeError, SyntaxError };
  return new (kinds[name] ?? Error)(message);
}
