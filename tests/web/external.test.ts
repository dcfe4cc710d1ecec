// posenc/external as it ships: every module is handed over, together or when its functions are first wanted.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";

type Posenc = typeof import("../../web/src/index.js");

const kDist = join(import.meta.dirname, "../../dist");
const bytes = (name: string): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(join(kDist, name)));
const kFiles = { wasm: "posenc.wasm", analysisWasm: "posenc-analysis.wasm", exactWasm: "posenc-exact.wasm" } as const;

let copies = 0;
const fresh = (): Promise<Posenc> =>
  import(/* @vite-ignore */ `${pathToFileURL(join(kDist, "external.js")).href}?copy=${copies++}`) as Promise<Posenc>;

// What needs which module.
const kCore = ({ encode, sinusoidal }: Posenc): unknown => encode(sinusoidal({ dim: 2 }), [0]).tolist();
const kUses = {
  analysisWasm: ({ similarity }: Posenc): unknown => similarity([[1, 0], [0, 1]]).tolist(),
  exactWasm: ({ attention }: Posenc): unknown => attention([[1]], [[1]], [[2]], { dtype: "float64" }).out.tolist(),
} as const;
const kResults = { analysisWasm: [[1, 0], [0, 1]], exactWasm: [[2]] } as const;
const kParts = ["analysisWasm", "exactWasm"] as const;

const missing = (argument: string): unknown => expect.objectContaining({ code: "missing-option", argument });
const refused = expect.objectContaining({ code: "unsupported", subject: "init" });

describe("posenc/external", () => {
  it("says which module is missing, and takes it then: alone, or beside what runs already", async () => {
    for (const part of kParts) {
      for (const beside of [true, false]) {
        const posenc = await fresh();
        expect(() => kCore(posenc)).toThrow(missing("wasm"));
        const wasm = bytes(kFiles.wasm);
        posenc.init({ wasm });
        expect(kCore(posenc)).toEqual([[0, 1]]);
        expect(() => kUses[part](posenc)).toThrow(missing(part));
        const own = { [part]: bytes(kFiles[part]) };
        posenc.init(beside ? { wasm, ...own } : own);
        expect(kUses[part](posenc)).toEqual(kResults[part]);
        posenc.init(own);
        // It has started: other bytes come too late, and so do other bytes of the core.
        expect(() => posenc.init({ [part]: bytes(kFiles[part]) })).toThrow(refused);
        expect(() => posenc.init({ wasm: bytes(kFiles.wasm) })).toThrow(refused);
        expect(() => posenc.init({ backend: "js" })).toThrow(refused);
        expect(kUses[part](posenc)).toEqual(kResults[part]);
        expect(kCore(posenc)).toEqual([[0, 1]]);
      }
    }
  });

  it("takes modules before the first use in one call or in several", async () => {
    for (const calls of [
      [["wasm", "analysisWasm", "exactWasm"]],
      [["exactWasm"], ["wasm"], ["analysisWasm"]],
    ] as const) {
      const posenc = await fresh();
      for (const names of calls) posenc.init(Object.fromEntries(names.map((name) => [name, bytes(kFiles[name])])));
      for (const part of kParts) expect(kUses[part](posenc)).toEqual(kResults[part]);
    }
  });

  it("takes good bytes of a part after bad ones", async () => {
    for (const part of kParts) {
      const posenc = await fresh();
      posenc.init({ wasm: bytes(kFiles.wasm), [part]: Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 1, 127) });
      expect(() => kUses[part](posenc)).toThrow(expect.objectContaining({ code: "unsupported" }));
      posenc.init({ [part]: bytes(kFiles[part]) });
      expect(kUses[part](posenc)).toEqual(kResults[part]);
    }
  });

  it("compiles by ready() what came late, where compiling at once is refused", async () => {
    const { Module } = WebAssembly;
    for (const part of kParts) {
      const posenc = await fresh();
      posenc.init({ wasm: bytes(kFiles.wasm) });
      await posenc.ready();
      try {
        WebAssembly.Module = new Proxy(Module, {
          construct() {
            throw new WebAssembly.CompileError("too large for this thread");
          },
        });
        posenc.init({ [part]: bytes(kFiles[part]) });
        await posenc.ready();
        expect(kUses[part](posenc)).toEqual(kResults[part]);
      } finally {
        WebAssembly.Module = Module;
      }
    }
  });

  it("has its options in the documents", () => {
    const text = readFileSync(join(kDist, "../docs/api.md"), "utf8");
    for (const [option, file] of Object.entries(kFiles)) {
      expect(text).toContain(`\`${option}\``);
      expect(text).toContain(file);
    }
  });
});
