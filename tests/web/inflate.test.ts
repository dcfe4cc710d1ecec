// inflate() against zlib, in every kind of block, and on data that is none.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { constants, deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inflate } from "../../web/src/inflate.js";

const same = (data: Uint8Array, packed: Uint8Array): void => {
  const out = inflate(packed);
  expect(out.length).toBe(data.length);
  expect(Buffer.compare(out, data)).toBe(0);
};

describe("inflate", () => {
  it("undoes zlib at every level and strategy", () => {
    const words = fc
      .array(fc.constantFrom("the cat ", "sat on ", "\0\0\0\0\0\0\0\0\0\0", "mat", "\u00ff"), { maxLength: 400 })
      .map((parts) => new Uint8Array(Buffer.from(parts.join(""))));
    fc.assert(
      fc.property(
        fc.oneof(words, fc.uint8Array({ maxLength: 3000 })),
        fc.integer({ min: 0, max: 9 }),
        fc.constantFrom(0, 1, 2, 3, 4),
        (data, level, strategy) => same(data, deflateRawSync(data, { level, strategy })),
      ),
      { numRuns: 300 },
    );
  });

  it("undoes runs, far references and stored blocks past 65,535 bytes", () => {
    const data = new Uint8Array(300_000);
    for (let i = 0; i < data.length; i++) data[i] = i % 32_768 < 300 ? i % 251 : (i * i) >>> 9;
    for (const level of [0, 1, 6, 9]) same(data, deflateRawSync(data, { level }));
    same(new Uint8Array(200_000), deflateRawSync(new Uint8Array(200_000)));
    same(data, deflateRawSync(data, { strategy: constants.Z_FIXED }));
  });

  it("undoes the module that ships", () => {
    const bytes = readFileSync(join(import.meta.dirname, "../../build/wasm/posenc.wasm"));
    same(bytes, deflateRawSync(bytes, { level: 9 }));
  });

  it("ends in an error on what is cut or foreign, and never hangs", () => {
    const packed = deflateRawSync(Buffer.from("positional encodings ".repeat(50)));
    for (let length = 0; length < packed.length; length++) expect(() => inflate(packed.subarray(0, length))).toThrow();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (noise) => {
        try {
          inflate(noise);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
      { numRuns: 500 },
    );
  });
});
