// Raw LZMA (Pavlov's specification of the LZMA SDK), synchronously: the inlined module is kept compressed, since gzip
// on the way finds nothing in base64; LZMA makes it a sixth smaller than DEFLATE would. web/build.mjs writes four bytes of
// size, then a stream with lc = 3, lp = 0, pb = 0. The input is the build's own, so faults end in an error but are not
// told apart.

const kLiteralContextBits = 3;
const kStates = 12;
const kInitial = 1024; // probability one half
const kTop = 0x1000000;

// How matches tell their lengths: 2 .. 9, 10 .. 17, 18 .. 273.
interface Lengths {
  readonly choice: Uint16Array;
  readonly low: Uint16Array;
  readonly middle: Uint16Array;
  readonly high: Uint16Array;
}

function odds(count: number): Uint16Array {
  return new Uint16Array(count).fill(kInitial);
}

function makeLengths(): Lengths {
  return { choice: odds(2), low: odds(8), middle: odds(8), high: odds(256) };
}

/** Undoes what the build packed; throws an Error where the data is cut or foreign. */
export function unpackLzma(packed: Uint8Array): Uint8Array<ArrayBuffer> {
  if (packed.length < 9) throw new Error("lzma: cut short");
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const size = view.getUint32(0, true);
  const out = new Uint8Array(size);
  let range = 0xffffffff;
  let code = view.getUint32(5);
  let at = 9;

  function shift(): void {
    if (at >= packed.length) throw new Error("lzma: cut short");
    range = (range << 8) >>> 0;
    code = ((code << 8) | packed[at++]!) >>> 0;
  }

  function bit(table: Uint16Array, index: number): number {
    const odd = table[index]!;
    const bound = (range >>> 11) * odd;
    let value = 0;
    if (code < bound) {
      range = bound;
      table[index] = odd + ((2048 - odd) >> 5);
    } else {
      range -= bound;
      code -= bound;
      table[index] = odd - (odd >> 5);
      value = 1;
    }
    if (range < kTop) shift();
    return value;
  }

  // A number of `bits` bits, the highest first.
  function tree(table: Uint16Array, from: number, bits: number): number {
    let node = 1;
    for (let i = 0; i < bits; i++) node = (node << 1) | bit(table, from + node);
    return node - (1 << bits);
  }

  // The lowest first.
  function reversed(table: Uint16Array, from: number, bits: number): number {
    let node = 1;
    let value = 0;
    for (let i = 0; i < bits; i++) {
      const next = bit(table, from + node);
      node = (node << 1) | next;
      value |= next << i;
    }
    return value;
  }

  // Bits of even odds.
  function direct(bits: number): number {
    let value = 0;
    for (let i = 0; i < bits; i++) {
      range >>>= 1;
      value <<= 1;
      if (code >= range) {
        code -= range;
        value |= 1;
      }
      if (range < kTop) shift();
    }
    return value;
  }

  const literals = odds(0x300 << kLiteralContextBits);
  const isMatch = odds(kStates);
  const isRepeat = odds(kStates);
  const isFirst = odds(kStates);
  const isSecond = odds(kStates);
  const isThird = odds(kStates);
  const isLong = odds(kStates);
  const slots = odds(4 * 64);
  const distances = odds(116);
  const alignment = odds(16);
  const lengths = makeLengths();
  const repeatLengths = makeLengths();

  function length(of: Lengths): number {
    if (!bit(of.choice, 0)) return 2 + tree(of.low, 0, 3);
    if (!bit(of.choice, 1)) return 10 + tree(of.middle, 0, 3);
    return 18 + tree(of.high, 0, 8);
  }

  function distance(matched: number): number {
    const slot = tree(slots, 64 * (matched < 6 ? matched - 2 : 3), 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const base = ((2 | (slot & 1)) << bits) >>> 0;
    if (slot < 14) return base + reversed(distances, base - slot, bits);
    return base + direct(bits - 4) * 16 + reversed(alignment, 0, 4);
  }

  function literal(place: number, state: number, last: number): number {
    const from = 0x300 * ((place > 0 ? out[place - 1]! : 0) >> (8 - kLiteralContextBits));
    let node = 1;
    if (state >= 7) {
      // After a match: as long as the bits agree, the byte the match would have gone on with says which odds to use.
      let guess = out[place - last - 1]!;
      while (node < 0x100) {
        const guessed = (guess >> 7) & 1;
        guess <<= 1;
        const next = bit(literals, from + ((1 + guessed) << 8) + node);
        node = (node << 1) | next;
        if (guessed !== next) break;
      }
    }
    while (node < 0x100) node = (node << 1) | bit(literals, from + node);
    return node;
  }

  const last: [number, number, number, number] = [0, 0, 0, 0]; // the latest distances, minus one
  let state = 0;
  for (let place = 0; place < size; ) {
    if (!bit(isMatch, state)) {
      out[place] = literal(place, state, last[0]);
      place += 1;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let count: number;
    if (bit(isRepeat, state)) {
      if (bit(isFirst, state)) {
        const which = !bit(isSecond, state) ? 1 : !bit(isThird, state) ? 2 : 3;
        const again = last[which];
        last.copyWithin(1, 0, which);
        last[0] = again;
      } else if (!bit(isLong, state)) {
        if (last[0] >= place) throw new Error("lzma: no such distance");
        out[place] = out[place - last[0] - 1]!;
        place += 1;
        state = state < 7 ? 9 : 11;
        continue;
      }
      count = length(repeatLengths);
      state = state < 7 ? 8 : 11;
    } else {
      last.copyWithin(1, 0, 3);
      count = length(lengths);
      last[0] = distance(count);
      state = state < 7 ? 7 : 10;
    }
    if (last[0] >= place || count > size - place) throw new Error("lzma: no such distance");
    for (const end = place + count; place < end; place++) out[place] = out[place - last[0] - 1]!;
  }
  return out;
}
