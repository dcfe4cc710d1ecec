// unpackLzma() against xz, on data of every kind, and on data that is none.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { unpackLzma } from "../../web/src/lzma.js";
import { packLzma } from "../../web/lzma.mjs";

function same(data: Uint8Array): void {
  expect(Buffer.compare(unpackLzma(packLzma(data)), data)).toBe(0);
}

describe("unpackLzma", () => {
  it("undoes xz on short and repetitive data", () => {
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

  it("undoes the module that ships, as it ships", async () => {
    const { bytes } = await import("../../build/wasm/posenc_bytes.mjs");
    const module = readFileSync(join(import.meta.dirname, "../../build/wasm/posenc.wasm"));
    expect(Buffer.compare(unpackLzma(Buffer.from(bytes!, "base64")), module)).toBe(0);
  });

  it("is a stream that xz itself undoes", () => {
    const data = Buffer.from("positional encodings ".repeat(50));
    const folder = mkdtempSync(join(tmpdir(), "posenc-"));
    const file = join(folder, "stream");
    writeFileSync(file, packLzma(data).subarray(4));
    const back = execFileSync("xz", ["-dc", "--format=raw", "--lzma1=lc=3,lp=0,pb=0,dict=64MiB", file]);
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
