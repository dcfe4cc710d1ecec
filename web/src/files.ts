// posenc/files: tables out of files and into files. A format's parser asks for ranges of bytes and never sees the
// source, so that bytes in memory, a Blob on a disk and a reader over a network go through the same checks.
import { hasOrder, littleBytes } from "./byte-order.js";
import {
  isList,
  isRecord,
  isRevoked,
  nearest,
  printed,
  printedShape,
  refuse,
  refuseShape,
  verbatim,
} from "./error.js";
import { readOptions } from "./options.js";
import {
  type DType,
  Tensor,
  type TensorLike,
  allowedSize,
  bytesOf,
  kStorage,
  product,
  refuseDetached,
  tensor,
} from "./tensor.js";

/** Bytes in memory. */
export type Bytes = ArrayBuffer | ArrayBufferView | SharedArrayBuffer;

/** A file elsewhere: `read` gives the bytes from `start` to `end` (excluded), at once or later. */
export interface RangeReader {
  readonly size: number;
  read(start: number, end: number): Bytes | PromiseLike<Bytes>;
}

/** What is read without being held in memory as a whole. */
export type RemoteFile = Blob | RangeReader;

// ---------------------------------------------------------------- sources of bytes

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Asks for ranges one at a time and gets their bytes; each range lies inside the file. */
type Parser<T> = Generator<Range, T, Uint8Array>;
type Parse<T> = (size: number) => Parser<T>;

function asBytes(subject: string, argument: string, value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) {
    refuseDetached(subject, argument, value);
    return bytesOf(value);
  }
  if (isRevoked(value)) return undefined;
  const name = Object.prototype.toString.call(value);
  if (name !== "[object ArrayBuffer]" && name !== "[object SharedArrayBuffer]") return undefined;
  const bytes = new Uint8Array(value as ArrayBuffer);
  refuseDetached(subject, argument, bytes);
  return bytes;
}

const kSources = "bytes, a Blob, or a reader {size, read(start, end)}";

function parsed<T>(subject: string, file: unknown, parse: Parse<T>): T | Promise<T> {
  const bytes = asBytes(subject, "file", file);
  if (bytes === undefined) return parsedLater(subject, remote(subject, file), parse);
  const parser = parse(bytes.length);
  let step = parser.next();
  while (step.done !== true) step = parser.next(bytes.subarray(step.value.start, step.value.end));
  return step.value;
}

async function parsedLater<T>(subject: string, { size, read }: Remote, parse: Parse<T>): Promise<T> {
  const parser = parse(size);
  let step = parser.next();
  while (step.done !== true) {
    const { start, end } = step.value;
    const bytes = asBytes(subject, "file.read()", await read(start, end));
    if (bytes === undefined || bytes.length !== end - start) {
      refuse("invalid-file", subject, "file.read()", `the ${end - start} bytes from ${start} to ${end}`, bytes);
    }
    step = parser.next(bytes);
  }
  return step.value;
}

interface Remote {
  readonly size: number;
  readonly read: (start: number, end: number) => unknown;
}

function remote(subject: string, file: unknown): Remote {
  const given = (isRecord(file) ? file : {}) as Partial<RangeReader> & Partial<Blob>;
  const { size } = given;
  const isBlob = typeof given.slice === "function" && typeof given.arrayBuffer === "function";
  if (typeof size !== "number" || (!isBlob && typeof given.read !== "function")) {
    refuse("not-a-number", subject, "file", kSources, file);
  }
  if (!Number.isSafeInteger(size) || size < 0) {
    refuse("out-of-range", subject, "file.size", "a whole number from 0 to 2^53", size);
  }
  return {
    size,
    read: isBlob ? (start, end) => given.slice!(start, end).arrayBuffer() : (start, end) => given.read!(start, end),
  };
}

/** Refuses a file: `where` in it, what ought to stand there, and what does. */
function refuseFile(subject: string, where: string, allowed: string, given: unknown): never {
  refuse("invalid-file", subject, where, allowed, given);
}

// Elements are read in pieces of this many bytes: what is held beside the result stays small.
const kPiece = 2 ** 22;

// ---------------------------------------------------------------- elements

/** How the elements of a file become those of a tensor. */
interface Elements {
  readonly bytes: number;
  readonly dtype: DType;
  /** The element at a byte of the view; a bigint is a whole number that no double need hold. */
  readonly read: (view: DataView, offset: number, little: boolean) => number | bigint;
  /** The bytes of a little-endian file are those of the result. */
  readonly same?: true;
}

const kScratch = new DataView(new ArrayBuffer(4));

function float32(bits: number): number {
  kScratch.setUint32(0, bits);
  return kScratch.getFloat32(0);
}

// Exact: float32 has room for all of both formats, the smallest of float16 included.
const fromBfloat16 = (bits: number): number => float32(bits << 16);

function fromFloat16(bits: number): number {
  const sign = (bits & 0x8000) << 16;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return (sign === 0 ? fraction : -fraction) / 16777216;
  return float32(sign | ((exponent === 31 ? 255 : exponent + 112) << 23) | (fraction << 13));
}

const kExact = 9007199254740992n; // 2^53

const exactly = (value: bigint): number | bigint => (value >= -kExact && value <= kExact ? Number(value) : value);

// int32 takes what fits it; wider whole numbers become doubles, which hold them up to 2^53.
const kElements = {
  bool: { bytes: 1, dtype: "bool", read: (view, at) => (view.getUint8(at) === 0 ? 0 : 1) },
  int8: { bytes: 1, dtype: "int32", read: (view, at) => view.getInt8(at) },
  uint8: { bytes: 1, dtype: "int32", read: (view, at) => view.getUint8(at) },
  int16: { bytes: 2, dtype: "int32", read: (view, at, little) => view.getInt16(at, little) },
  uint16: { bytes: 2, dtype: "int32", read: (view, at, little) => view.getUint16(at, little) },
  int32: { bytes: 4, dtype: "int32", read: (view, at, little) => view.getInt32(at, little), same: true },
  uint32: { bytes: 4, dtype: "float64", read: (view, at, little) => view.getUint32(at, little) },
  int64: { bytes: 8, dtype: "float64", read: (view, at, little) => exactly(view.getBigInt64(at, little)) },
  uint64: { bytes: 8, dtype: "float64", read: (view, at, little) => exactly(view.getBigUint64(at, little)) },
  bfloat16: { bytes: 2, dtype: "float32", read: (view, at, little) => fromBfloat16(view.getUint16(at, little)) },
  float16: { bytes: 2, dtype: "float32", read: (view, at, little) => fromFloat16(view.getUint16(at, little)) },
  float32: { bytes: 4, dtype: "float32", read: (view, at, little) => view.getFloat32(at, little), same: true },
  float64: { bytes: 8, dtype: "float64", read: (view, at, little) => view.getFloat64(at, little), same: true },
} as const satisfies Record<string, Elements>;

type Data = Float32Array | Float64Array | Int32Array | Uint8Array;

function allocated(subject: string, name: string, dtype: DType, size: number): Data {
  try {
    return new kStorage[dtype](size);
  } catch {
    const allowed = "small enough for the memory there is";
    refuse("out-of-memory", subject, name, allowed, verbatim(`${size} elements`));
  }
}

// size elements from byte `start`, copied: whatever the alignment in the file.
function* readElements(
  subject: string,
  name: string,
  elements: Elements,
  { start, size, little }: { start: number; size: number; little: boolean },
): Parser<Data> {
  const data = allocated(subject, name, elements.dtype, size);
  const plain = elements.same === true && hasOrder(little) ? new Uint8Array(data.buffer) : undefined;
  const piece = kPiece / elements.bytes;
  for (let first = 0; first < size; first += piece) {
    const count = Math.min(piece, size - first);
    const at = start + first * elements.bytes;
    const bytes = yield { start: at, end: at + count * elements.bytes };
    if (plain !== undefined) {
      plain.set(bytes, first * elements.bytes);
      continue;
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let i = 0; i < count; i++) {
      const value = elements.read(view, i * elements.bytes, little);
      if (typeof value === "bigint") {
        refuse("out-of-range", subject, name, "of whole numbers of at most 2^53 in magnitude", value);
      }
      data[first + i] = value;
    }
  }
  return data;
}

const kMaxRank = 8;

// ---------------------------------------------------------------- safetensors

/** What the header of a safetensors file says of one tensor. */
export interface SafetensorsEntry {
  /** As the file has it: `"F16"`, `"BF16"` … */
  readonly dtype: string;
  readonly shape: readonly number[];
  /** How many bytes it takes in the file. */
  readonly bytes: number;
}

/** The header of a safetensors file: what one can ask for. */
export interface SafetensorsHeader {
  readonly tensors: Readonly<Record<string, SafetensorsEntry>>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Options of {@link readSafetensors}. */
export interface ReadSafetensorsOptions {
  /** The tensors wanted; nothing else of the file is read. Default: all. */
  readonly names?: readonly string[];
}

// The format's own limit of the header.
const kMaxHeader = 100_000_000;

// Bytes an element of every type of the format, and how this package reads those it does.
const kSafetensorsTypes: Readonly<Record<string, Elements | number>> = {
  BOOL: kElements.bool,
  I8: kElements.int8,
  U8: kElements.uint8,
  I16: kElements.int16,
  U16: kElements.uint16,
  I32: kElements.int32,
  U32: kElements.uint32,
  I64: kElements.int64,
  U64: kElements.uint64,
  BF16: kElements.bfloat16,
  F16: kElements.float16,
  F32: kElements.float32,
  F64: kElements.float64,
  F8_E5M2: 1,
  F8_E4M3: 1,
  F8_E8M0: 1,
  C64: 8,
};

interface Located extends SafetensorsEntry {
  readonly start: number;
}

interface LocatedHeader {
  readonly tensors: ReadonlyMap<string, Located>;
  readonly metadata: Readonly<Record<string, string>>;
}

const named = (name: string): string => `tensor ${printed(name)}`;

function* readHeader(subject: string, size: number): Parser<LocatedHeader> {
  if (size < 8) refuseFile(subject, "the file", "of at least 8 bytes, the length of its header", verbatim(`${size}`));
  const first = yield { start: 0, end: 8 };
  const length = new DataView(first.buffer, first.byteOffset, 8).getBigUint64(0, true);
  if (length > BigInt(kMaxHeader) || length > BigInt(size - 8)) {
    const allowed = `at most ${Math.min(kMaxHeader, size - 8)}`;
    refuseFile(subject, "the header's length in bytes 0 to 7", allowed, verbatim(String(length)));
  }
  const dataStart = 8 + Number(length);
  const bytes = yield { start: 8, end: dataStart };
  const header = parseHeader(subject, bytes);
  const metadata: Record<string, string> = Object.create(null) as Record<string, string>;
  const found: [name: string, entry: Located][] = [];
  for (const [name, value] of Object.entries(header)) {
    if (name === "__metadata__") {
      if (!isRecord(value)) refuseFile(subject, "the header's __metadata__", "an object of texts", value);
      for (const [key, text] of Object.entries(value)) {
        if (typeof text !== "string") refuseFile(subject, `__metadata__ ${printed(key)}`, "a text", text);
        metadata[key] = text;
      }
    } else {
      found.push([name, readEntry(subject, name, value, dataStart, size)]);
    }
  }
  // The format wants the data covered whole: what overlaps, or lies in no tensor, is a fault or a smuggled file.
  let end = dataStart;
  for (const [name, entry] of [...found].sort(([, a], [, b]) => a.start - b.start || a.bytes - b.bytes)) {
    if (entry.start !== end) {
      const allowed = `from byte ${end - dataStart} of the data, where the tensor before it ends`;
      refuseFile(subject, `${named(name)}'s data_offsets`, allowed, verbatim(`${entry.start - dataStart}`));
    }
    end += entry.bytes;
  }
  if (end !== size) refuseFile(subject, "the file", `of ${end} bytes, where its last tensor ends`, verbatim(`${size}`));
  return { tensors: new Map(found), metadata };
}

// Deep or endless nesting is refused before JSON.parse builds it in memory many times the size of its text.
const kMaxHeaderParts = 2 ** 23;

function parseHeader(subject: string, bytes: Uint8Array): Record<string, unknown> {
  let depth = 0;
  let parts = 0;
  let names = 0;
  let inText = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (inText) {
      if (byte === 0x5c) i++;
      else if (byte === 0x22) inText = false;
    } else if (byte === 0x22) inText = true;
    else if (byte === 0x7b || byte === 0x5b) {
      depth++;
      parts++;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
    else if (byte === 0x2c) parts++;
    else if (byte === 0x3a) names++;
    if (depth > 3 || parts > kMaxHeaderParts) {
      const allowed = `nested at most 3 deep, of at most ${kMaxHeaderParts} parts`;
      refuseFile(subject, "the header", allowed, verbatim(`more at byte ${8 + i}`));
    }
  }
  let header: unknown;
  let text = "";
  let decoded = false;
  const kept: string[] = [];
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    decoded = true;
    // Called for all that is kept, the whole last and by the name "".
    header = JSON.parse(text, function (this: unknown, name: string, value: unknown) {
      if (!Array.isArray(this)) kept.push(name);
      return value;
    });
  } catch {
    const fault = decoded ? "a text that is no JSON" : "bytes that are no UTF-8";
    refuseFile(subject, "the header from byte 8", "a JSON object in UTF-8", verbatim(fault));
  }
  if (!isRecord(header)) refuseFile(subject, "the header from byte 8", "a JSON object", header);
  // The format's own rules beyond JSON's: nothing before the object, and no name twice, which JSON.parse keeps once.
  if (bytes[0] !== 0x7b) refuseFile(subject, "the header's first byte, 8,", "the object's {", verbatim("a blank"));
  if (kept.length - 1 !== names) {
    const said = Array.from(text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?/g), ([, name, colon]) =>
      colon === undefined ? "" : (JSON.parse(name!) as string),
    );
    const twice = said.find((name) => {
      const at = kept.indexOf(name);
      return name !== "" && (at < 0 || void kept.splice(at, 1));
    });
    refuseFile(subject, "the header", "of distinct names in each object", verbatim(`${printed(twice ?? "")} twice`));
  }
  return header;
}

function readEntry(subject: string, name: string, value: unknown, dataStart: number, size: number): Located {
  const { dtype, shape, data_offsets: offsets } = isRecord(value) ? value : {};
  const isSize = (n: unknown): n is number => Number.isSafeInteger(n) && (n as number) >= 0;
  if (typeof dtype !== "string") refuseFile(subject, `${named(name)}'s dtype`, "a text", dtype);
  if (!Array.isArray(shape) || !shape.every(isSize)) {
    refuseFile(subject, `${named(name)}'s shape`, "a list of whole numbers from 0", shape);
  }
  const limit = size - dataStart;
  const list: readonly unknown[] = Array.isArray(offsets) ? offsets : [];
  const [start, end] = list as [unknown, unknown];
  if (list.length !== 2 || !isSize(start) || !isSize(end) || start > end || end > limit) {
    const given = list.length === 2 ? verbatim(`[${list.map(printed).join(", ")}]`) : offsets;
    refuseFile(subject, `${named(name)}'s data_offsets`, `[begin, end] with begin <= end <= ${limit}`, given);
  }
  const known = Object.hasOwn(kSafetensorsTypes, dtype) ? kSafetensorsTypes[dtype] : undefined;
  const width = typeof known === "object" ? known.bytes : known;
  const bytes = end - start;
  // Types that came after this was written may take parts of bytes: then only their place is known.
  if (width !== undefined && product(shape) * width !== bytes) {
    const allowed = `${product(shape) * width} bytes long for ${dtype} of shape ${printedShape(shape)}`;
    refuseFile(subject, `${named(name)}'s data_offsets`, allowed, verbatim(`${bytes} bytes`));
  }
  return { dtype, shape, bytes, start: dataStart + start };
}

/**
 * Tensors of a safetensors file by name: F64 as float64; F32, F16 and BF16 as float32, exactly; I8 to I32, U8 and U16
 * as int32; U32, I64 and U64 as float64; BOOL as bool. Of a Blob or a reader, only the header and the tensors asked for
 * are read, in pieces, and the answer is a promise; bytes are answered at once, with copies.
 *
 * Errors: `invalid-file`, saying where (the header at most 100 MB, every tensor inside the file, of the size that its
 * type and shape ask for, none overlapping, no byte left over); `unknown-choice` for a name that is not there;
 * `unsupported` for other types; `out-of-range` for whole numbers beyond 2^53; `too-large`.
 */
export function readSafetensors(file: Bytes, options?: ReadSafetensorsOptions): Record<string, Tensor>;
export function readSafetensors(file: RemoteFile, options?: ReadSafetensorsOptions): Promise<Record<string, Tensor>>;
export function readSafetensors(
  file: Bytes | RemoteFile,
  options?: ReadSafetensorsOptions,
): Record<string, Tensor> | Promise<Record<string, Tensor>> {
  const subject = "readSafetensors";
  return parsed(subject, file, function* (size) {
    const names = readNames(subject, readOptions(subject, options, ["names"]).names);
    const { tensors } = yield* readHeader(subject, size);
    for (const name of names ?? []) {
      if (tensors.has(name)) continue;
      const known = [...tensors.keys()];
      const guess = nearest(name, known.slice(0, 10_000));
      const some = `${known.slice(0, 8).map(printed).join(", ")}${known.length > 8 ? ` … (${known.length})` : ""}`;
      const allowed = guess === undefined ? `among the file's ${some}` : `in the file, such as ${printed(guess)}`;
      refuse("unknown-choice", subject, "names", allowed, name);
    }
    // No prototype: a tensor may be called anything.
    const result = Object.create(null) as Record<string, Tensor>;
    for (const name of names ?? tensors.keys()) {
      const { dtype, shape, start } = tensors.get(name)!;
      const elements = Object.hasOwn(kSafetensorsTypes, dtype) ? kSafetensorsTypes[dtype] : undefined;
      if (typeof elements !== "object" || shape.length > kMaxRank) {
        const allowed = `of a type that is read here and of at most ${kMaxRank} axes (name others in names)`;
        refuse("unsupported", subject, named(name), allowed, verbatim(`${dtype} of shape ${printedShape(shape)}`));
      }
      const size = allowedSize(subject, named(name), shape, kStorage[elements.dtype].BYTES_PER_ELEMENT);
      const data = yield* readElements(subject, named(name), elements, { start, size, little: true });
      result[name] = new Tensor(data, shape, elements.dtype);
    }
    return result;
  });
}

function isTexts(value: unknown): value is readonly string[] {
  return isList(value) && Array.from(value).every((name) => typeof name === "string");
}

function readNames(subject: string, value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (!isTexts(value)) refuse("not-a-number", subject, "names", "a list of texts", value);
  return value;
}

/**
 * What a safetensors file holds, from its header alone: the type, shape and bytes of every tensor, and the file's own
 * notes. Errors: `invalid-file`, as {@link readSafetensors}.
 */
export function safetensorsHeader(file: Bytes): SafetensorsHeader;
export function safetensorsHeader(file: RemoteFile): Promise<SafetensorsHeader>;
export function safetensorsHeader(file: Bytes | RemoteFile): SafetensorsHeader | Promise<SafetensorsHeader> {
  const subject = "safetensorsHeader";
  return parsed(subject, file, function* (size) {
    const { tensors: located, metadata } = yield* readHeader(subject, size);
    const tensors = Object.create(null) as Record<string, SafetensorsEntry>;
    for (const [name, { dtype, shape, bytes }] of located) tensors[name] = { dtype, shape, bytes };
    return { tensors, metadata };
  });
}

// ---------------------------------------------------------------- npy

// numpy's own descriptions are a line; only records of many fields, which are not read here, take more.
const kMaxDescription = 2 ** 20;

const kNpyTypes: Readonly<Record<string, Elements>> = {
  b1: kElements.bool,
  "?": kElements.bool,
  i1: kElements.int8,
  u1: kElements.uint8,
  i2: kElements.int16,
  u2: kElements.uint16,
  i4: kElements.int32,
  u4: kElements.uint32,
  i8: kElements.int64,
  u8: kElements.uint64,
  f2: kElements.float16,
  f4: kElements.float32,
  f8: kElements.float64,
};

/**
 * The array of an .npy file of versions 1 to 3, in either byte order and stored by rows or by columns: f2 and f4 as
 * float32, f8 as float64, b1 as bool, i1 to i4, u1 and u2 as int32, u4, i8 and u8 as float64. Answers at once for
 * bytes, with a promise for a Blob or a reader.
 *
 * Errors: `invalid-file`, saying where; `unsupported` for records, texts, objects, dates and complex numbers;
 * `out-of-range` for whole numbers beyond 2^53; `too-large`.
 */
export function readNpy(file: Bytes): Tensor;
export function readNpy(file: RemoteFile): Promise<Tensor>;
export function readNpy(file: Bytes | RemoteFile): Tensor | Promise<Tensor> {
  const subject = "readNpy";
  return parsed(subject, file, function* (size) {
    if (size < 10) refuseFile(subject, "the file", "of at least 10 bytes", verbatim(`${size}`));
    const head = yield { start: 0, end: 10 };
    const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
    if (!magic.every((byte, i) => head[i] === byte)) {
      refuseFile(subject, "the file", "one that begins with \\x93NUMPY", verbatim("other bytes"));
    }
    const version = head[6]!;
    if (version < 1 || version > 3 || head[7] !== 0) {
      refuseFile(subject, "the version in bytes 6 and 7", "1.0, 2.0 or 3.0", verbatim(`${version}.${head[7]}`));
    }
    let from = 10;
    let length = head[8]! + 256 * head[9]!;
    if (version > 1) {
      from = 12;
      if (size < from) refuseFile(subject, "the file", "of at least 12 bytes", verbatim(`${size}`));
      const more = yield { start: 10, end: 12 };
      length += 65536 * (more[0]! + 256 * more[1]!);
    }
    if (length > kMaxDescription || from + length > size) {
      const allowed = `at most ${Math.min(kMaxDescription, size - from)}`;
      refuseFile(subject, `the header's length in bytes 8 to ${from - 1}`, allowed, verbatim(`${length}`));
    }
    const text = yield { start: from, end: from + length };
    const { descr, columns, shape } = readDescription(subject, text, from, version);
    const [, order, type] = /^([<>|]?)(\?|[a-z]\d+)$/.exec(descr) ?? [];
    const elements = type !== undefined && Object.hasOwn(kNpyTypes, type) ? kNpyTypes[type]! : undefined;
    if (elements === undefined) {
      refuse("unsupported", subject, "the header's descr", `one of ${Object.keys(kNpyTypes).join(", ")}`, descr);
    }
    if (elements.bytes > 1 && (order === "" || order === "|")) {
      refuseFile(subject, "the header's descr", "one with its byte order, < or >", descr);
    }
    if (shape.length > kMaxRank) {
      refuse(
        "unsupported",
        subject,
        "the header's shape",
        `of at most ${kMaxRank} axes`,
        verbatim(printedShape(shape)),
      );
    }
    const start = from + length;
    const bytes = product(shape) * elements.bytes;
    if (bytes !== size - start) {
      const allowed = `${bytes} bytes for ${descr} of shape ${printedShape(shape)}`;
      refuseFile(subject, `the data from byte ${start}`, allowed, verbatim(`${size - start}`));
    }
    const count = allowedSize(subject, "the array", shape, kStorage[elements.dtype].BYTES_PER_ELEMENT);
    const data = yield* readElements(subject, "the array", elements, { start, size: count, little: order !== ">" });
    return new Tensor(columns ? byRows(subject, data, shape, elements.dtype) : data, shape, elements.dtype);
  });
}

interface Description {
  readonly descr: string;
  readonly columns: boolean;
  readonly shape: readonly number[];
}

// The header is a dict as Python writes one, with three known keys: read as that and nothing more.
function readDescription(subject: string, bytes: Uint8Array, from: number, version: number): Description {
  const text = new TextDecoder(version === 3 ? "utf-8" : "latin1").decode(bytes);
  const token = /\s*(?:([{}()[\]:,])|'([^'\\]*)'|"([^"\\]*)"|(\d+)L?|(True|False))/y;
  type Token = { readonly mark?: string; readonly text?: string; readonly number?: number; readonly flag?: boolean };
  let at = 0;
  const fault = (allowed: string): never =>
    refuseFile(subject, `the header at byte ${from + at}`, allowed, text.slice(at).trimStart().slice(0, 24));
  const next = (): Token => {
    token.lastIndex = at;
    const match = token.exec(text) ?? fault("a dict of descr, fortran_order and shape");
    const [, mark, single, double, digits, flag] = match;
    const found: Token =
      mark !== undefined
        ? { mark }
        : digits !== undefined
          ? { number: Number(digits) }
          : flag !== undefined
            ? { flag: flag === "True" }
            : { text: single ?? double! };
    at = token.lastIndex;
    return found;
  };
  const expectMark = (mark: string): void => {
    const before = at;
    if (next().mark === mark) return;
    at = before;
    fault(mark);
  };
  const readShape = (): readonly number[] => {
    expectMark("(");
    const shape: number[] = [];
    for (;;) {
      const before = at;
      const { mark, number } = next();
      if (mark === ")" && shape.length !== 1) return shape;
      if (!Number.isSafeInteger(number) || shape.length >= 64) {
        at = before;
        fault("a tuple of at most 64 whole numbers, as (2, 3) or (2,)");
      }
      shape.push(number!);
      const after = at;
      const close = next().mark;
      if (close === ")" && shape.length !== 1) return shape;
      if (close !== ",") {
        at = after;
        fault("a comma");
      }
      if (shape.length === 1) {
        // (2,) alone has its comma.
        const here = at;
        if (next().mark === ")") return shape;
        at = here;
      }
    }
  };
  let descr: string | undefined;
  let columns: boolean | undefined;
  let shape: readonly number[] | undefined;
  expectMark("{");
  for (;;) {
    const before = at;
    const key = next();
    if (key.mark === "}") break;
    if (key.text !== "descr" && key.text !== "fortran_order" && key.text !== "shape") {
      at = before;
      fault("descr, fortran_order or shape");
    }
    expectMark(":");
    const here = at;
    if (key.text === "shape") {
      shape = readShape();
    } else {
      const value = next();
      if (key.text === "descr") {
        if (value.mark === "[" || value.mark === "(") {
          refuse("unsupported", subject, "the header's descr", "a plain type", verbatim("a record"));
        }
        descr = value.text;
      } else columns = value.flag;
      if ((key.text === "descr" ? descr : columns) === undefined) {
        at = here;
        fault(key.text === "descr" ? "a quoted type" : "True or False");
      }
    }
    const after = at;
    const mark = next().mark;
    if (mark === "}") break;
    if (mark !== ",") {
      at = after;
      fault("a comma");
    }
  }
  if (text.slice(at).trim() !== "") fault("blanks to its end");
  if (descr === undefined || columns === undefined || shape === undefined) {
    fault("a dict of descr, fortran_order and shape");
  }
  return { descr: descr!, columns: columns!, shape: shape! };
}

// Stored by columns (the first index runs fastest), given by rows.
function byRows(subject: string, data: Data, shape: readonly number[], dtype: DType): Data {
  if (shape.length < 2 || data.length === 0) return data;
  const rows = allocated(subject, "the array", dtype, data.length);
  const steps: number[] = [];
  for (let axis = 0, step = 1; axis < shape.length; step *= shape[axis++]!) steps.push(step);
  const index = shape.map(() => 0);
  let at = 0;
  for (let n = 0; n < rows.length; n++) {
    rows[n] = data[at]!;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      at += steps[axis]!;
      if (++index[axis]! < shape[axis]!) break;
      at -= steps[axis]! * shape[axis]!;
      index[axis] = 0;
    }
  }
  return rows;
}

// ---------------------------------------------------------------- writing

const kWritten = {
  float32: { npy: "<f4", safetensors: "F32", bytes: 4 },
  float64: { npy: "<f8", safetensors: "F64", bytes: 8 },
  int32: { npy: "<i4", safetensors: "I32", bytes: 4 },
  bool: { npy: "|b1", safetensors: "BOOL", bytes: 1 },
} as const;

function allowedFile(subject: string, bytes: number): Uint8Array<ArrayBuffer> {
  allowedSize(subject, "the file", [bytes], 1);
  return new Uint8Array(bytes);
}

/** An .npy file (version 1.0, little-endian, by rows) of an array, in the dtype that the tensor has. */
export function toNpy(values: TensorLike): Uint8Array<ArrayBuffer> {
  const array = tensor(values);
  const shape = array.shape.length === 1 ? `(${array.shape[0]},)` : `(${array.shape.join(", ")})`;
  const text = `{'descr': '${kWritten[array.dtype].npy}', 'fortran_order': False, 'shape': ${shape}, }`;
  // The data begins at a multiple of 64 bytes, as numpy writes it.
  const length = Math.ceil((10 + text.length + 1) / 64) * 64 - 10;
  const file = allowedFile("toNpy", 10 + length + array.data.byteLength);
  file.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, length & 255, length >> 8]);
  file.set(new TextEncoder().encode(`${text.padEnd(length - 1)}\n`), 10);
  file.set(littleBytes(array.data), 10 + length);
  return file;
}

/** Options of {@link toSafetensors}. */
export interface ToSafetensorsOptions {
  /** Notes kept in the header, texts only. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * A safetensors file of arrays by name, from an object or a Map: F32, F64, I32 or BOOL, as the tensors are; the widest
 * elements first, so that every tensor is aligned. Errors: `out-of-range` for the name `__metadata__`; `too-large`.
 */
export function toSafetensors(
  tensors: Readonly<Record<string, TensorLike>> | ReadonlyMap<string, TensorLike>,
  options?: ToSafetensorsOptions,
): Uint8Array<ArrayBuffer> {
  const subject = "toSafetensors";
  if (!isRecord(tensors) || tensors instanceof Tensor) {
    refuse("not-a-number", subject, "tensors", "an object or a Map of arrays by name", tensors);
  }
  const { metadata } = readOptions(subject, options, ["metadata"]);
  const header = Object.create(null) as Record<string, unknown>;
  if (metadata !== undefined) {
    if (!isRecord(metadata) || !Object.values(metadata).every((text) => typeof text === "string")) {
      refuse("not-a-number", subject, "metadata", "an object of texts", metadata);
    }
    header.__metadata__ = { ...metadata };
  }
  const entries = [...(tensors instanceof Map ? (tensors as Map<string, TensorLike>) : Object.entries(tensors))]
    .map(([name, values]) => {
      if (typeof name !== "string") refuse("not-a-number", subject, "tensors", "an object or a Map by texts", name);
      if (name === "__metadata__") refuse("out-of-range", subject, "tensors", "of names other than __metadata__", name);
      const array = tensor(values);
      return { name, array, ...kWritten[array.dtype] };
    })
    .sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
  let end = 0;
  for (const { name, array, safetensors: dtype } of entries) {
    const start = end;
    end += array.data.byteLength;
    header[name] = { dtype, shape: array.shape, data_offsets: [start, end] };
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = Math.ceil(text.length / 8) * 8;
  if (length > kMaxHeader) {
    refuse("too-large", subject, "the header", `at most ${kMaxHeader} bytes`, length);
  }
  const file = allowedFile(subject, 8 + length + end);
  new DataView(file.buffer).setUint32(0, length, true);
  file.fill(0x20, 8, 8 + length).set(text, 8);
  let at = 8 + length;
  for (const { array } of entries) {
    file.set(littleBytes(array.data), at);
    at += array.data.byteLength;
  }
  return file;
}

/** Options of {@link toCsv}. */
export interface ToCsvOptions {
  /** The first line: names of the columns, or true for their indices 0, 1 … Default false: none. */
  readonly header?: boolean | readonly string[];
}

/**
 * Comma-separated values after RFC 4180, lines ended by CR LF, of an array of one axis (a line each) or two (rows). The
 * shortest numbers that read back as the same float32 or float64; true and false for bool; NaN and Infinity as such.
 */
export function toCsv(values: TensorLike, options?: ToCsvOptions): string {
  const subject = "toCsv";
  const array = tensor(values);
  const { header } = readOptions(subject, options, ["header"]);
  const { shape, data, dtype } = array;
  if (shape.length < 1 || shape.length > 2) {
    refuseShape(subject, "values", "of one or two axes", shape);
  }
  const [rows, width = 1] = shape as [number, number?];
  const lines: string[] = [];
  if (header !== undefined && header !== false) {
    const names: unknown = header === true ? Array.from({ length: width }, (_, c) => String(c)) : header;
    const allowed = `true, false or a list of ${width} texts`;
    if (!isTexts(names)) refuse("not-a-number", subject, "header", allowed, header);
    if (names.length !== width) refuse("shape-mismatch", subject, "header", allowed, header);
    lines.push(names.map(field).join(","));
  }
  const written =
    dtype === "bool"
      ? (value: number): string => (value === 0 ? "false" : "true")
      : dtype === "float32"
        ? shortFloat32
        : decimal;
  for (let i = 0; i < rows; i++) lines.push(Array.from(data.subarray(i * width, (i + 1) * width), written).join(","));
  return lines.map((line) => `${line}\r\n`).join("");
}

// Quoted where it holds a mark of the format, or would be an empty line by itself.
function field(text: string): string {
  return /[",\r\n]/.test(text) || text === "" ? `"${text.replaceAll('"', '""')}"` : text;
}

const decimal = (value: number): string => (Object.is(value, -0) ? "-0" : String(value));

const kRounded = new Float32Array(1);

// More digits are never farther away, so that the fewest that suffice are found by halving; nine always do.
function shortFloat32(value: number): string {
  if (Number.isInteger(value) && value > -1e6 && value < 1e6) return decimal(value);
  if (!Number.isFinite(value)) return String(value);
  let [low, high] = [1, 9];
  while (low < high) {
    const middle = (low + high) >> 1;
    kRounded[0] = Number(value.toPrecision(middle));
    if (kRounded[0] === value) high = middle;
    else low = middle + 1;
  }
  return decimal(Number(value.toPrecision(low)));
}
