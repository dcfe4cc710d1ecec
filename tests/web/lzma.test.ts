// The unpacker against liblzma and against the joining that the build checks by, on data of every kind, and on data
// that is none.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { packLzma } from "../../web/lzma.mjs";
import { bytes as unpackerBytes } from "../../build/wasm/unpack_bytes.mjs";
import { joinUnpacked, type Unpacker, unpackInto, unpackLzma as unpackLzmaWith } from "../../web/src/lzma.js";
import { joinModule, splitModule } from "../../web/src/wasm-streams.js";

const compiled = new WebAssembly.Module(Buffer.from(unpackerBytes!, "base64"));
const unpacker = (): Unpacker => new WebAssembly.Instance(compiled).exports as unknown as Unpacker;
const unpackLzma = (packed: Uint8Array): Uint8Array => unpackLzmaWith(unpacker(), packed);
const unpackModule = (packed: Uint8Array): Uint8Array => joinUnpacked(unpackInto(unpacker(), packed));

// What stands beside `before` comes back where that lies in the memory, wherever it does.
const unpackBeside = (before: Uint8Array, packed: Uint8Array): Uint8Array => {
  const one = unpacker();
  return unpackLzmaWith(unpackInto(one, packLzma(before)), packed);
};

function same(data: Uint8Array): void {
  expect(Buffer.compare(unpackLzma(packLzma(data)), data)).toBe(0);
}

describe("unpackLzma", () => {
  it("undoes liblzma on short and repetitive data", () => {
    const words = fc
      .array(fc.constantFrom("the cat ", "sat on ", "\0\0\0\0\0\0\0\0\0\0", "mat", "\u00ff"), { maxLength: 400 })
      .map((parts) => new Uint8Array(Buffer.from(parts.join(""))));
    fc.assert(fc.property(fc.oneof(words, fc.uint8Array({ maxLength: 3000 })), same), { numRuns: 60 });
  });

  it("undoes long runs and far references", () => {
    const data = new Uint8Array(300_000);
    for (let i = 0; i < data.length; i++) data[i] = i % 32_768 < 300 ? i % 251 : (i * i) >>> 9;
    same(data);
    same(new Uint8Array(200_000));
    const far = new Uint8Array(1_500_000);
    for (let i = 0; i < far.length; i++) far[i] = (Math.imul(i % 700_001, 2654435761) >>> 24) & 0xff;
    same(far);
  });

  it("undoes what was packed beside other data, and may repeat it", () => {
    const text = fc.uint8Array({ maxLength: 600 });
    fc.assert(
      fc.property(text, text, fc.nat({ max: 600 }), (before, data, cut) => {
        const mixed = Buffer.concat([before.subarray(cut), data, before, data.subarray(0, cut)]);
        expect(Buffer.compare(unpackBeside(before, packLzma(mixed, { before })), mixed)).toBe(0);
      }),
      { numRuns: 60 },
    );
    const noise = Uint8Array.from({ length: 50_000 }, (_, i) => (Math.imul(i + 1, 2654435761) >>> 13) & 0xff);
    const packed = packLzma(noise, { before: noise });
    expect(packed.length).toBeLessThan(200);
    expect(Buffer.compare(unpackBeside(noise, packed), noise)).toBe(0);
    // Without it the same stream refers to what is not there.
    expect(() => unpackLzma(packed)).toThrow(/lzma/);
  });

  it.each(["posenc", "posenc-exact", "posenc-analysis"])("undoes %s.wasm, as it ships", async (name) => {
    const packed = async (part: string): Promise<Buffer> => {
      const { bytes } = (await import(`../../build/wasm/${part}_bytes.mjs`)) as { bytes: string };
      return Buffer.from(bytes, "base64");
    };
    const core = name === "posenc" ? undefined : await packed("posenc");
    const place = core ? unpackInto(unpacker(), core) : unpacker();
    const split = unpackLzmaWith(place, await packed(name));
    const module = readFileSync(join(import.meta.dirname, `../../build/wasm/${name}.wasm`));
    expect(Buffer.compare(joinModule(split), module)).toBe(0);
    // The core stays as it lies there, however much is unpacked beside it and joined.
    for (const _ of [1, 2]) {
      const joined = joinUnpacked(unpackInto(place, await packed(name)));
      expect(Buffer.compare(joined, module)).toBe(0);
    }
  });

  it("is a stream that xz itself undoes", () => {
    const data = Buffer.from("positional encodings ".repeat(50));
    const folder = mkdtempSync(join(tmpdir(), "posenc-"));
    const file = join(folder, "stream");
    writeFileSync(file, packLzma(data).subarray(4));
    const back = execFileSync("xz", ["-dc", "--format=raw", "--lzma1=lc=1,lp=0,pb=0,dict=64MiB", file]);
    rmSync(folder, { recursive: true });
    expect(Buffer.compare(back, data)).toBe(0);
  });

  it("ends in an error on what is cut, and never hangs on noise", () => {
    const packed = packLzma(new Uint8Array(Buffer.from("positional encodings ".repeat(50))));
    for (let length = 0; length < packed.length - 12; length++) {
      expect(() => unpackLzma(packed.subarray(0, length)), String(length)).toThrow(/lzma/);
    }
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 9, maxLength: 400 }), (noise) => {
        noise.set([0, 16, 0, 0]); // 4096 bytes
        try {
          unpackLzma(noise);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
      { numRuns: 500 },
    );
  });
});

// Bytes of sections and sizes, in LEB128.
const sized = (bytes: readonly number[]): number[] => [...leb(bytes.length), ...bytes];
const leb = (value: number): number[] => (value > 127 ? [(value & 127) | 128, ...leb(value >>> 7)] : [value]);

// A module as far as splitting looks at one: another section, the code section with these bodies, and data after it.
const moduleOf = (bodies: readonly (readonly number[])[], after: readonly number[] = []): Uint8Array =>
  Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...[1, ...sized([1, 0x60, 0, 0])],
    ...[10, ...sized([...leb(bodies.length), ...bodies.flatMap(sized)])],
    ...after,
  ]);

describe("splitModule and joinModule", () => {
  const number = fc.oneof(fc.nat({ max: 300 }), fc.nat()).map(leb);
  const address = fc.tuple(number, number).map((parts) => parts.flat());
  const bytes = (count: number): fc.Arbitrary<number[]> =>
    fc.array(fc.nat({ max: 255 }), { minLength: count, maxLength: count });
  const from = (low: number, high: number): fc.Arbitrary<number> => fc.integer({ min: low, max: high });
  const instruction = (opcode: fc.Arbitrary<number[]>, ...beside: fc.Arbitrary<number[]>[]): fc.Arbitrary<number[]> =>
    fc.tuple(opcode, ...beside).map((parts) => parts.flat());
  const one = (low: number, high = low): fc.Arbitrary<number[]> => from(low, high).map((opcode) => [opcode]);
  const vector = (low: number, high = low): fc.Arbitrary<number[]> => from(low, high).map((op) => [0xfd, ...leb(op)]);
  const bulk = (low: number, high = low): fc.Arbitrary<number[]> => from(low, high).map((op) => [0xfc, ...leb(op)]);
  const { instructions } = fc.letrec<{ block: number[]; instructions: number[] }>((tie) => ({
    block: fc.tuple(one(2, 4), number, tie("instructions")).map(([opcode, type, inner]) => [
      ...opcode,
      ...type,
      ...inner,
      0x0b,
    ]),
    instructions: fc
      .array(
        fc.oneof(
          { depthSize: "small" },
          fc.oneof(
            ...[instruction(one(0, 1)), instruction(one(0x0f)), instruction(one(0x1a, 0x1b)), one(0x45, 0xc4)],
            ...[instruction(one(0x0c, 0x0d), number), instruction(one(0x10), number), instruction(one(0x11), address)],
            fc.array(number, { maxLength: 5 }).map((targets) => [0x0e, ...leb(targets.length), ...targets.flat(), 0]),
            ...[instruction(one(0x20, 0x24), number), instruction(one(0x28, 0x3e), address)],
            ...[instruction(one(0x3f, 0x40), bytes(1)), instruction(one(0x41, 0x42), number)],
            ...[instruction(one(0x43), bytes(4)), instruction(one(0x44), bytes(8))],
            ...[bulk(0, 7), instruction(bulk(8), bytes(2)), instruction(bulk(10), bytes(2))],
            ...[instruction(bulk(9), bytes(1)), instruction(bulk(11), bytes(1))],
            ...[instruction(vector(0, 11), address), instruction(vector(12, 13), bytes(16)), vector(14, 20)],
            ...[instruction(vector(21, 34), bytes(1)), vector(35, 83), instruction(vector(84, 91), address, bytes(1))],
            ...[instruction(vector(92, 93), address), vector(94, 255)],
          ),
          tie("block"),
        ),
        { maxLength: 12 },
      )
      .map((parts) => parts.flat()),
  }));
  const locals = fc
    .array(fc.tuple(number, bytes(1)), { maxLength: 3 })
    .map((groups) => [...leb(groups.length), ...groups.flat(2)]);
  const body = fc.tuple(locals, instructions).map(([declared, inner]) => [...declared, ...inner, 0x0b]);

  it("give back every module made of the instructions of WebAssembly 2.0", () => {
    const after = fc.array(fc.nat({ max: 255 }), { maxLength: 40 });
    fc.assert(
      fc.property(fc.array(body, { maxLength: 6 }), after, (bodies, rest) => {
        const module = moduleOf(bodies, rest);
        expect(Buffer.compare(joinModule(splitModule(module)), module)).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  it("give back, through the unpacker, every such module", () => {
    const after = fc.array(fc.nat({ max: 255 }), { maxLength: 40 });
    fc.assert(
      fc.property(fc.array(body, { maxLength: 30 }), after, (bodies, rest) => {
        const module = moduleOf(bodies, rest);
        expect(Buffer.compare(unpackModule(packLzma(splitModule(module))), module)).toBe(0);
      }),
      { numRuns: 80 },
    );
  });

  it("tell opcodes and indices apart", () => {
    // local.get 5, local.get 200, i32.add, end
    const split = splitModule(moduleOf([[0, 0x20, 5, 0x20, ...leb(200), 0x6a, 0x0b]]));
    const cells = new DataView(split.buffer);
    const cell = (i: number): number => cells.getUint32(4 * i, true);
    const at = 4 * 16 + cell(2);
    expect([cell(3), cell(4)]).toEqual([4, 3]);
    expect([...split.subarray(at, at + 7)]).toEqual([0x20, 0x20, 0x6a, 0x0b, 5, ...leb(200)]);
  });

  it("refuse what has no code", () => {
    expect(() => splitModule(moduleOf([]).subarray(0, 14))).toThrow(/no code section/);
  });
});
