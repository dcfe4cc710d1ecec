// Bytes as text, for the inlined module and for tables in JSON.

interface Base64Bytes {
  toBase64?(): string;
}
interface Base64Constructor {
  fromBase64?(text: string): Uint8Array<ArrayBuffer>;
}
interface BufferLike {
  from(text: string, encoding: "base64"): Uint8Array<ArrayBuffer>;
}

/** Decodes base64; undefined where the text is not base64, which is not looked for where it is known to be (`own`). */
export function fromBase64(text: string, own = false): Uint8Array<ArrayBuffer> | undefined {
  if (!own && (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text))) return undefined;
  const native = (Uint8Array as Base64Constructor).fromBase64;
  if (native !== undefined) return native.call(Uint8Array, text);
  const buffer = (globalThis as { Buffer?: BufferLike }).Buffer;
  if (buffer !== undefined) return new Uint8Array(buffer.from(text, "base64"));
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Encodes bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  const native = (bytes as Base64Bytes).toBase64;
  if (native !== undefined) return native.call(bytes);
  let binary = "";
  for (let start = 0; start < bytes.length; start += 8192) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 8192));
  }
  return btoa(binary);
}
