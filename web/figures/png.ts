// A small PNG writer for heat maps: 8-bit palette images, packed with deflate's fixed codes (RFC 1950, 1951, 2083).

let crcTable: Uint32Array | undefined;

function crc32(bytes: Uint8Array): number {
  crcTable ??= Uint32Array.from({ length: 256 }, (_, n) => {
    for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
    return n;
  });
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crcTable[(crc ^ byte) & 255] as number) ^ (crc >>> 8);
  return ~crc >>> 0;
}

function adler32(bytes: Uint8Array): number {
  let a = 1;
  let b = 0;
  for (const byte of bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return b * 65536 + a;
}

class BitWriter {
  private bytes = new Uint8Array(1024);
  private length = 0;
  private hold = 0;
  private held = 0;

  // Lowest bit first, at most 16 bits.
  bits(value: number, count: number): void {
    this.hold |= value << this.held;
    this.held += count;
    while (this.held >= 8) this.byte();
  }

  // A Huffman code: highest bit first.
  code(code: number, count: number): void {
    for (let i = count - 1; i >= 0; i--) this.bits((code >> i) & 1, 1);
  }

  finish(): Uint8Array {
    if (this.held > 0) this.byte();
    return this.bytes.subarray(0, this.length);
  }

  private byte(): void {
    if (this.length === this.bytes.length) {
      const grown = new Uint8Array(2 * this.length);
      grown.set(this.bytes);
      this.bytes = grown;
    }
    this.bytes[this.length++] = this.hold & 255;
    this.hold >>>= 8;
    this.held -= 8;
  }
}

function literal(out: BitWriter, symbol: number): void {
  if (symbol < 144) out.code(0x30 + symbol, 8);
  else if (symbol < 256) out.code(0x190 + symbol - 144, 9);
  else if (symbol < 280) out.code(symbol - 256, 7);
  else out.code(0xc0 + symbol - 280, 8);
}

// Code of a match length or distance and its extra bits, by deflate's rule: `step` codes share each bit count.
function ranged(value: number, step: number): { code: number; extra: number; bits: number } {
  if (value < 2 * step) return { code: value, extra: 0, bits: 0 };
  let bits = 0;
  while (value >> bits >= 2 * step) bits++;
  return { code: bits * step + (value >> bits), extra: value & ((1 << bits) - 1), bits };
}

function match(out: BitWriter, length: number, distance: number): void {
  if (length === 258) literal(out, 285);
  else {
    const size = ranged(length - 3, 4);
    literal(out, 257 + size.code);
    out.bits(size.extra, size.bits);
  }
  const back = ranged(distance - 1, 2);
  out.code(back.code, 5);
  out.bits(back.extra, back.bits);
}

function zlib(data: Uint8Array): Uint8Array {
  const out = new BitWriter();
  out.bits(0x0178, 16);
  out.bits(1, 1);
  out.bits(1, 2);
  const seen = new Int32Array(1 << 15).fill(-1);
  for (let at = 0; at < data.length;) {
    let length = 0;
    let from = -1;
    if (at + 3 <= data.length) {
      const key =
        (((data[at] as number) << 16) | ((data[at + 1] as number) << 8) | (data[at + 2] as number)) * 2654435761;
      const slot = (key >>> 0) >>> 17;
      from = seen[slot] as number;
      seen[slot] = at;
      if (from >= 0 && at - from <= 32768) {
        const limit = Math.min(258, data.length - at);
        while (length < limit && data[from + length] === data[at + length]) length++;
      }
    }
    if (length >= 3) {
      match(out, length, at - from);
      at += length;
    } else {
      literal(out, data[at] as number);
      at++;
    }
  }
  literal(out, 256);
  const body = out.finish();
  const whole = new Uint8Array(body.length + 4);
  whole.set(body);
  new DataView(whole.buffer).setUint32(body.length, adler32(data));
  return whole;
}

/** A chunk of a PNG file. */
export function chunk(type: string, data: Uint8Array): Uint8Array {
  const out = new Uint8Array(data.length + 12);
  const view = new DataView(out.buffer);
  view.setUint32(0, data.length);
  for (let i = 0; i < 4; i++) out[4 + i] = type.charCodeAt(i);
  out.set(data, 8);
  view.setUint32(8 + data.length, crc32(out.subarray(4, 8 + data.length)));
  return out;
}

/** A PNG of palette entries, row-major; `palette` holds 256 x (r, g, b). */
export function encodePng(entries: Uint8Array, width: number, height: number, palette: Uint8Array): Uint8Array {
  const lines = new Uint8Array((width + 1) * height);
  for (let y = 0; y < height; y++) lines.set(entries.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  return pngFile(width, height, 3, [chunk("PLTE", palette), chunk("IDAT", zlib(lines))]);
}

/** A PNG file of 8 bits a channel; `colourType` is 2 for red, green, blue, 3 for a palette. */
export function pngFile(width: number, height: number, colourType: 2 | 3, chunks: readonly Uint8Array[]): Uint8Array {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set([8, colourType, 0, 0, 0], 8);
  const signature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
  const parts = [signature, chunk("IHDR", header), ...chunks, chunk("IEND", new Uint8Array(0))];
  const file = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    file.set(part, at);
    at += part.length;
  }
  return file;
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

export function base64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const word = ((bytes[i] as number) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    text += base64Digits.charAt(word >> 18) + base64Digits.charAt((word >> 12) & 63);
    text += i + 1 < bytes.length ? base64Digits.charAt((word >> 6) & 63) : "=";
    text += i + 2 < bytes.length ? base64Digits.charAt(word & 63) : "=";
  }
  return text;
}
