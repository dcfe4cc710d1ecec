// Unpacks the inlined modules, synchronously: they are kept compressed, since gzip on the way finds nothing in base64;
// LZMA makes them a sixth smaller than DEFLATE would. web/unpack.cpp does it, in a module that is small enough to stand
// here as it is; web/build.mjs writes four bytes of size, then a raw stream with lc = 3, lp = 0, pb = 0. The input is
// the build's own, so faults end in an error but are not told apart.
import { bytes as unpacker } from "../../build/wasm/unpack_bytes.mjs";
import { fromBase64 } from "./base64.js";

interface Unpacker {
  readonly memory: WebAssembly.Memory;
  unpack(stream: number, bytes: number, out: number, size: number): number;
  join(split: number, bytes: number, module: number): void;
}

// The packed stream, what it holds, and `more` bytes told by that: where they start.
function unpackInto(packed: Uint8Array): { exports: Unpacker; start: number; size: number } {
  if (packed.length < 9) throw new Error("lzma: cut short");
  const size = new DataView(packed.buffer, packed.byteOffset, packed.byteLength).getUint32(0, true);
  const module = new WebAssembly.Module(fromBase64(unpacker!)!);
  const exports = new WebAssembly.Instance(module).exports as unknown as Unpacker;
  const at = exports.memory.buffer.byteLength;
  const start = Math.ceil((at + packed.length) / 4) * 4;
  exports.memory.grow(Math.ceil((start + size - at) / 65536));
  new Uint8Array(exports.memory.buffer).set(packed.subarray(4), at);
  if (exports.unpack(at, packed.length - 4, start, size) === 0) throw new Error("lzma: cut short, or foreign");
  return { exports, start, size };
}

/** Undoes what the build packed; throws an Error where the data is cut or foreign. */
export function unpackLzma(packed: Uint8Array): Uint8Array<ArrayBuffer> {
  const { exports, start, size } = unpackInto(packed);
  return new Uint8Array(exports.memory.buffer.slice(start, start + size) as ArrayBuffer);
}

/** The same for a module whose code was told apart (wasm-streams.ts) before it was packed. */
export function unpackModule(packed: Uint8Array): Uint8Array<ArrayBuffer> {
  const { exports, start, size } = unpackInto(packed);
  const length = new DataView(exports.memory.buffer).getUint32(start, true);
  const to = start + size;
  exports.memory.grow(Math.ceil(length / 65536));
  exports.join(start, size, to);
  return new Uint8Array(exports.memory.buffer.slice(to, to + length) as ArrayBuffer);
}
