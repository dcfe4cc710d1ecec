// A module's code with its parts told apart: all opcodes together, all indices of locals together, and so on. LZMA
// packs that a sixteenth smaller than the module as it is, since what follows a `local.get` has more in common with
// other indices than with opcodes. The build splits, the browser joins; both walk the code by the one function below,
// which moves byte after byte between the module and the streams, and so needs to know the grammar only once.
// (WebAssembly core specification 2.0, section 5.4.)

// The streams, by what they hold.
const kOpcode = 0;
const kLocal = 1;
const kConstant = 2;
const kOffset = 3;
const kAlign = 4;
const kCall = 5;
const kFloat = 6;
const kType = 7;
const kBranch = 8;
const kGlobal = 9;
const kVector = 10;
const kVectorOpcode = 11;
const kDeclaration = 12;
const kStreams = 13;

// Moves the body of one function without its size: declarations of locals, then instructions to the last `end`.
function moveBody(move: (stream: number) => number): void {
  const moves = (stream: number, bytes: number): void => {
    for (let i = 0; i < bytes; i++) move(stream);
  };
  // A number in LEB128; the low 28 bits of it come back.
  const number = (stream: number): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = move(stream);
      if (shift < 28) value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const address = (): void => {
    number(kAlign);
    number(kOffset);
  };

  for (let groups = number(kDeclaration); groups > 0; groups--) {
    number(kDeclaration);
    move(kDeclaration);
  }
  for (let depth = 1; depth > 0; ) {
    const opcode = move(kOpcode);
    if (opcode >= 0x20 && opcode <= 0x22) {
      number(kLocal);
    } else if (opcode >= 0x28 && opcode <= 0x3e) {
      address();
    } else if (opcode >= 0x45 && opcode <= 0xc4) {
      // Arithmetic has nothing beside it.
    } else if (opcode === 0x41 || opcode === 0x42) {
      number(kConstant);
    } else if (opcode === 0x43 || opcode === 0x44) {
      moves(kFloat, opcode === 0x43 ? 4 : 8);
    } else if (opcode === 0x0b) {
      depth--;
    } else if (opcode >= 0x02 && opcode <= 0x04) {
      depth++;
      number(kType);
    } else if (opcode === 0x0c || opcode === 0x0d) {
      number(kBranch);
    } else if (opcode === 0x0e) {
      for (let targets = number(kBranch); targets >= 0; targets--) number(kBranch);
    } else if (opcode === 0x10) {
      number(kCall);
    } else if (opcode === 0x11) {
      number(kType);
      number(kType);
    } else if (opcode === 0x23 || opcode === 0x24) {
      number(kGlobal);
    } else if (opcode === 0x3f || opcode === 0x40) {
      move(kType);
    } else if (opcode === 0xfc) {
      const bulk = number(kOpcode);
      if (bulk > 7) moves(kType, bulk === 9 || bulk === 11 ? 1 : 2);
    } else if (opcode === 0xfd) {
      const vector = number(kVectorOpcode);
      if (vector <= 11 || (vector >= 84 && vector <= 93)) address();
      if (vector === 12 || vector === 13) moves(kVector, 16);
      if ((vector >= 21 && vector <= 34) || (vector >= 84 && vector <= 91)) move(kVector);
    }
  }
}

// Bytes of a size in LEB128, as few as can be.
function sizeBytes(size: number): number[] {
  const bytes: number[] = [];
  for (; size > 127; size >>>= 7) bytes.push((size & 127) | 128);
  return [...bytes, size];
}

/**
 * The module whose code section {@link splitModule} told apart: [size of the module, functions, bytes before the
 * bodies, bytes of each stream], each four bytes, little-endian; then the bytes before, the streams, the bytes after.
 */
export function joinModule(split: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new DataView(split.buffer, split.byteOffset, split.byteLength);
  const cell = (i: number): number => head.getUint32(4 * i, true);
  const module = new Uint8Array(cell(0));
  let from = 4 * (3 + kStreams) + cell(2);
  module.set(split.subarray(from - cell(2), from));
  const next = new Uint32Array(kStreams).map((_, stream) => (from += cell(3 + stream)) - cell(3 + stream));
  let to = cell(2);
  const move = (stream: number): number => (module[to++] = split[next[stream]!++]!);
  for (let functions = cell(1); functions > 0; functions--) {
    // The size comes first, and is known last.
    const start = to;
    moveBody(move);
    const size = sizeBytes(to - start);
    module.copyWithin(start + size.length, start, to);
    module.set(size, start);
    to += size.length;
  }
  module.set(split.subarray(from), to);
  return module;
}

/** Tells the code section of a module apart, for {@link joinModule}. The build checks that joining gives it back. */
export function splitModule(module: Uint8Array): Uint8Array<ArrayBuffer> {
  let at = 8;
  const number = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = module[at++]!;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (module[at++] !== 10) {
    const size = number();
    at += size;
    if (at >= module.length) throw new Error("the module has no code section");
  }
  number(); // the section's size
  const functions = number();
  const before = at;
  const streams: number[][] = Array.from({ length: kStreams }, () => []);
  const move = (stream: number): number => {
    const byte = module[at++]!;
    streams[stream]!.push(byte);
    return byte;
  };
  for (let i = 0; i < functions; i++) {
    number(); // the body's size, which follows from the body
    moveBody(move);
  }
  const head = Uint32Array.of(module.length, functions, before, ...streams.map(({ length }) => length));
  const parts = [new Uint8Array(head.buffer), module.subarray(0, before), ...streams, module.subarray(at)];
  const split = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let to = 0;
  for (const part of parts) {
    split.set(part, to);
    to += part.length;
  }
  return split;
}
