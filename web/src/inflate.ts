// Raw DEFLATE (RFC 1951), synchronously: the inlined module is kept compressed, and the engine's own decompressors are
// asynchronous. The input is the build's own, so faults end in an error but are not told apart.

// Code lengths come in this order.
const kOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

const kFastBits = 10;

// A canonical Huffman code: how many symbols have each length, the symbols in the order of their codes, and for codes
// of up to kFastBits bits the answer to what comes next: symbol << 4 | length, 0 where the code is longer or there is
// none.
interface Code {
  readonly counts: Uint16Array;
  readonly symbols: Uint16Array;
  readonly fast: Uint16Array;
}

function makeCode(lengths: ArrayLike<number>): Code {
  const counts = new Uint16Array(16);
  for (let i = 0; i < lengths.length; i++) counts[lengths[i]!]!++;
  counts[0] = 0;
  const index = new Uint16Array(16);
  const next = new Uint16Array(16);
  for (let bits = 1; bits < 16; bits++) {
    index[bits] = index[bits - 1]! + counts[bits - 1]!;
    next[bits] = (next[bits - 1]! + counts[bits - 1]!) << 1;
  }
  const symbols = new Uint16Array(lengths.length);
  const fast = new Uint16Array(1 << kFastBits);
  for (let i = 0; i < lengths.length; i++) {
    const length = lengths[i]!;
    if (length === 0) continue;
    symbols[index[length]!++] = i;
    let code = next[length]!++;
    if (length > kFastBits) continue;
    // Codes are read from their first bit, numbers from their last.
    let reversed = 0;
    for (let bit = 0; bit < length; bit++, code >>= 1) reversed = (reversed << 1) | (code & 1);
    for (let at = reversed; at < fast.length; at += 1 << length) fast[at] = (i << 4) | length;
  }
  return { counts, symbols, fast };
}

// Base and extra bits of the symbols of lengths (from 3) and distances (from 1): the extra bits rise by one every
// `group`.
function steps(count: number, first: number, group: number): { base: Uint16Array; extra: Uint8Array } {
  const base = new Uint16Array(count);
  const extra = new Uint8Array(count);
  for (let i = 0, at = first; i < count; i++) {
    base[i] = at;
    extra[i] = i < 2 * group ? 0 : ((i / group) | 0) - 1;
    at += 1 << extra[i]!;
  }
  return { base, extra };
}

/** Inflates raw DEFLATE data; throws where it is not that. */
export function inflate(input: Uint8Array): Uint8Array<ArrayBuffer> {
  let output = new Uint8Array(Math.max(64, input.length * 4));
  let size = 0;
  let at = 0;
  let held = 0;
  let heldBits = 0;

  const bits = (count: number): number => {
    while (heldBits < count) {
      if (at >= input.length) throw new Error("compressed data ends early");
      held |= input[at++]! << heldBits;
      heldBits += 8;
    }
    const value = held & ((1 << count) - 1);
    held >>>= count;
    heldBits -= count;
    return value;
  };
  const symbol = ({ counts, symbols, fast }: Code): number => {
    while (heldBits < 15 && at < input.length) {
      held |= input[at++]! << heldBits;
      heldBits += 8;
    }
    const entry = fast[held & (fast.length - 1)]!;
    const known = entry & 15;
    if (known !== 0 && known <= heldBits) {
      held >>>= known;
      heldBits -= known;
      return entry >> 4;
    }
    for (let length = 1, code = 0, first = 0, index = 0; length < 16; length++) {
      code |= bits(1);
      const count = counts[length]!;
      if (code - first < count) return symbols[index + code - first]!;
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    throw new Error("compressed data has no such code");
  };
  const room = (count: number): void => {
    if (size + count <= output.length) return;
    const larger = new Uint8Array(Math.max(2 * output.length, size + count));
    larger.set(output.subarray(0, size));
    output = larger;
  };

  const length = steps(29, 3, 4);
  // 258, the longest, has a symbol of its own.
  length.base[28] = 258;
  length.extra[28] = 0;
  const distance = steps(30, 1, 2);

  const block = (literals: Code, distances: Code): void => {
    for (;;) {
      const code = symbol(literals);
      if (code < 256) {
        room(1);
        output[size++] = code;
        continue;
      }
      if (code === 256) return;
      const count = length.base[code - 257]! + bits(length.extra[code - 257]!);
      const far = symbol(distances);
      const back = distance.base[far]! + bits(distance.extra[far]!);
      if (!(back <= size)) throw new Error("compressed data refers to nothing");
      room(count);
      for (let i = 0; i < count; i++, size++) output[size] = output[size - back]!;
    }
  };

  for (let last = 0; last === 0;) {
    last = bits(1);
    const kind = bits(2);
    if (kind === 0) {
      // Whole bytes that were read ahead go back.
      at -= heldBits >> 3;
      held = heldBits = 0;
      const count = input[at]! | (input[at + 1]! << 8);
      at += 4;
      if (!(at + count <= input.length)) throw new Error("compressed data ends early");
      room(count);
      output.set(input.subarray(at, at + count), size);
      at += count;
      size += count;
    } else if (kind === 1) {
      const fixed = new Uint8Array(288).fill(8).fill(9, 144, 256).fill(7, 256, 280);
      block(makeCode(fixed), makeCode(new Uint8Array(30).fill(5)));
    } else if (kind === 2) {
      const literalCount = bits(5) + 257;
      const distanceCount = bits(5) + 1;
      const codeCount = bits(4) + 4;
      const codeLengths = new Uint8Array(19);
      for (let i = 0; i < codeCount; i++) codeLengths[kOrder[i]!] = bits(3);
      const code = makeCode(codeLengths);
      const lengths = new Uint8Array(literalCount + distanceCount);
      for (let i = 0; i < lengths.length;) {
        const next = symbol(code);
        if (next < 16) {
          lengths[i++] = next;
          continue;
        }
        const value = next === 16 ? lengths[i - 1]! : 0;
        const repeat = next === 16 ? 3 + bits(2) : next === 17 ? 3 + bits(3) : 11 + bits(7);
        lengths.fill(value, i, (i += repeat));
      }
      block(makeCode(lengths.subarray(0, literalCount)), makeCode(lengths.subarray(literalCount)));
    } else {
      throw new Error("not compressed data");
    }
  }
  return output.slice(0, size);
}
