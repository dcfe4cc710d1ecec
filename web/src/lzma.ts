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

/** The same, and where in its memory what it has unpacked lies. */
export interface Unpacked extends Unpacker {
  readonly start: number;
  readonly size: number;
}

/**
 * Unpacks all, or about the first `most` bytes; throws an Error where it is all and the data is cut or foreign. What
 * was packed beside other data needs the place where that was unpacked.
 */
export function unpackInto(place: Unpacker | Unpacked, packed: Uint8Array, most = Infinity): Unpacked {
  const { memory, unpack, start: from = 0, size: before = 0 } = place as Unpacker & Partial<Unpacked>;
  if (packed.length < 9) throw new Error("lzma: cut short, or foreign");
  const size = Math.min(most, new DataView(packed.buffer, packed.byteOffset).getUint32(0, true));
  const at = memory.buffer.byteLength;
  const start = (at + packed.length + before + 3) & -4;
  const first = start - before;
  memory.grow(((start + size - at) >> 16) + 1);
  const bytes = new Uint8Array(memory.buffer);
  bytes.set(packed.subarray(4), at);
  bytes.copyWithin(first, from, from + before);
  // An error asks an engine for its stack, and that one for all of the script once more.
  const whole = unpack(at, packed.length - 4, start, size, first);
  if (!whole && size < most) throw new Error("lzma: cut short, or foreign");
  return { ...place, start, size };
}

/** Undoes what the build packed; throws an Error where the data is cut or foreign. */
export function unpackLzma(place: Unpacker | Unpacked, packed: Uint8Array): Uint8Array<ArrayBuffer> {
  const { memory, start, size } = unpackInto(place, packed);
  return new Uint8Array(memory.buffer.slice(start, start + size));
}

/** The module whose code was told apart (wasm-streams.ts) before it was packed. */
export function joinUnpacked({ memory, join, start, size }: Unpacked): Uint8Array<ArrayBuffer> {
  const length = new DataView(memory.buffer).getUint32(start, true);
  const to = start + size;
  memory.grow((length >> 16) + 1);
  join(start, size, to);
  return new Uint8Array(memory.buffer.slice(to, to + length));
}
