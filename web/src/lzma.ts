// Unpacks the inlined modules, synchronously: they are kept compressed, since gzip on the way finds nothing in base64;
// LZMA makes them a sixth smaller than DEFLATE would, and what one has in common with another is not written twice.
// web/unpack.cpp does it, in a module that is small enough to stand here as it is; web/build.mjs writes four bytes of
// size, then a raw stream with lc = 1, lp = 0, pb = 0. The input is the build's own, so faults end in an error but are
// not told apart.

/** What a fresh instance of web/unpack.cpp has; each serves once. */
export interface Unpacker {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  unpack(stream: number, bytes: number, out: number, size: number, first: number): number;
  join(split: number, bytes: number, module: number): void;
}

/** Where in an unpacker's memory what it has unpacked lies. */
export interface Unpacked {
  readonly start: number;
  readonly size: number;
}

/**
 * Unpacks all, or about the first `most` bytes; throws an Error where it is all and the data is cut or foreign.
 * `before`: what the data was packed beside, unpacked in the same memory.
 */
export function unpackInto(
  { memory, unpack }: Unpacker,
  packed: Uint8Array,
  before: Unpacked = { start: 0, size: 0 },
  most = Infinity,
): Unpacked {
  if (packed.length < 9) throw new Error("lzma: cut short");
  const size = Math.min(most, new DataView(packed.buffer, packed.byteOffset, packed.byteLength).getUint32(0, true));
  const at = memory.buffer.byteLength;
  const start = Math.ceil((at + packed.length + before.size) / 4) * 4;
  const first = start - before.size;
  memory.grow(Math.ceil((start + size - at) / 65536));
  new Uint8Array(memory.buffer).set(packed.subarray(4), at);
  new Uint8Array(memory.buffer).copyWithin(first, before.start, before.start + before.size);
  // An error asks an engine for its stack, and that one for all of the script once more.
  const whole = unpack(at, packed.length - 4, start, size, first) !== 0;
  if (!whole && most === Infinity) throw new Error("lzma: cut short, or foreign");
  return { start, size };
}

/** Undoes what the build packed; throws an Error where the data is cut or foreign. */
export function unpackLzma(unpacker: Unpacker, packed: Uint8Array, before?: Unpacked): Uint8Array<ArrayBuffer> {
  const { start, size } = unpackInto(unpacker, packed, before);
  return new Uint8Array(unpacker.memory.buffer.slice(start, start + size));
}

/**
 * The same for a module whose code was told apart (wasm-streams.ts) before it was packed; `beside`: the packed module
 * that it was packed beside.
 */
export function unpackModule(unpacker: Unpacker, packed: Uint8Array, beside?: Uint8Array): Uint8Array<ArrayBuffer> {
  const { start, size } = unpackInto(unpacker, packed, beside && unpackInto(unpacker, beside));
  const { memory } = unpacker;
  const length = new DataView(memory.buffer).getUint32(start, true);
  const to = start + size;
  memory.grow(Math.ceil(length / 65536));
  unpacker.join(start, size, to);
  return new Uint8Array(memory.buffer.slice(to, to + length));
}
