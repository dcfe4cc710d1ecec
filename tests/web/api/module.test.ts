// The module behind the functions: when it is compiled, what happens where it cannot be, and that nothing breaks for
// good.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";

type Posenc = typeof import("../../../web/src/index.js");

const { digest } = (await import("../../browser/digest.mjs" as string)) as {
  digest(posenc: Posenc, rounds?: number): string;
};

const kWasm = join(import.meta.dirname, "../../../build/wasm");

// A copy of the package that nothing has used yet.
async function fresh(): Promise<Posenc> {
  vi.resetModules();
  return import("../../../web/src/index.js");
}

function patched(name: "Module" | "compile", value: unknown): void {
  (vi.spyOn(WebAssembly, name as "compile") as { mockImplementation(value: unknown): unknown }).mockImplementation(
    value,
  );
}

const refuseModule = function refuseModule(): never {
  throw new WebAssembly.CompileError("Wasm code generation disallowed by embedder");
};

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const bytes = (): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(join(kWasm, "posenc.wasm")));
const works = ({ encode, sinusoidal }: Posenc): void =>
  expect(Array.from(encode(sinusoidal({ dim: 4 }), [3]).data, (x) => x.toFixed(4))).toEqual([
    "0.1411",
    "-0.9900",
    "0.0300",
    "0.9996",
  ]);

describe("importing", () => {
  it("does nothing: no global, no listener, no compilation", async () => {
    const names = Object.getOwnPropertyNames(globalThis).sort();
    const listeners = process.eventNames().map((event) => [event, process.listenerCount(event)]);
    const Module = vi.spyOn(WebAssembly, "Module");
    const compile = vi.spyOn(WebAssembly, "compile");
    const posenc = await fresh();
    expect(Module).not.toHaveBeenCalled();
    works(posenc);
    await posenc.ready();
    expect(Module).toHaveBeenCalledTimes(2); // what unpacks, and the core
    expect(compile).not.toHaveBeenCalled();
    expect(Object.getOwnPropertyNames(globalThis).sort()).toEqual(names);
    expect(process.eventNames().map((event) => [event, process.listenerCount(event)])).toEqual(listeners);
  });
});

describe("where WebAssembly is refused", () => {
  it("says to await ready(), which loads the plain-JavaScript build with the same bits", async () => {
    const simd = await fresh();
    const expected = digest(simd);
    const posenc = await fresh();
    patched("Module", refuseModule);
    patched("compile", () => Promise.reject(new WebAssembly.CompileError("disallowed")));
    for (const call of [() => posenc.sinusoidal({ dim: 4 }), () => posenc.info(), () => posenc.randomNormal(3)]) {
      expect(call).toThrow(
        expect.objectContaining({
          name: "PosencError",
          code: "unsupported",
          message: expect.stringContaining("await ready()"),
        }),
      );
    }
    await posenc.ready();
    expect(posenc.info()).toMatchObject({ backend: "js", lanes: "scalar" });
    works(posenc);
    expect(digest(posenc)).toBe(expected);
  });

  it.each([undefined, null, {}])("does so where WebAssembly is %o, whatever bytes it was given", async (none) => {
    vi.stubGlobal("WebAssembly", none);
    const posenc = await fresh();
    posenc.init({ wasm: bytes(), analysisWasm: bytes().buffer });
    expect(() => posenc.init({ exactWasm: {} as never })).toThrow(expect.objectContaining({ code: "not-a-number" }));
    expect(() => posenc.info()).toThrow(/no WebAssembly/);
    await posenc.ready();
    expect(posenc.info().backend).toBe("js");
    works(posenc);
  });

  it("compiles asynchronously where only the synchronous way is refused", async () => {
    const posenc = await fresh();
    patched("Module", function tooLarge() {
      throw new RangeError(
        "WebAssembly.Module is disallowed on the main thread, if the buffer size is larger than 4KB",
      );
    });
    expect(() => posenc.info()).toThrow(/ready\(\)/);
    await posenc.ready();
    expect(posenc.info().backend).toBe("simd");
    works(posenc);
  });

  it("does without the engine's own decompressor", async () => {
    for (const missing of [
      undefined,
      class {
        constructor() {
          throw new TypeError("unsupported format");
        }
      },
    ]) {
      vi.stubGlobal("DecompressionStream", missing);
      const posenc = await fresh();
      await posenc.ready();
      expect(posenc.info().backend).toBe("simd");
      works(posenc);
    }
  });

  it("lets a synchronous call overtake ready()", async () => {
    const posenc = await fresh();
    const pending = posenc.ready();
    const before = posenc.encode(posenc.sinusoidal({ dim: 4 }), 3);
    await pending;
    await posenc.ready();
    expect(posenc.encode(posenc.sinusoidal({ dim: 4 }), 3).data).toEqual(before.data);
  });

  it("takes the plain-JavaScript build where SIMD gives wrong answers", async () => {
    const wrong = bytes();
    let changed = 0;
    // f32x4.add becomes f32x4.sub.
    for (let i = 0; i + 2 < wrong.length; i++) {
      if (wrong[i] !== 0xfd || wrong[i + 1] !== 0xe4 || wrong[i + 2] !== 0x01) continue;
      wrong[i + 1] = 0xe5;
      changed++;
    }
    expect(changed).toBeGreaterThan(10);
    expect(WebAssembly.validate(wrong)).toBe(true);
    const posenc = await fresh();
    posenc.init({ wasm: wrong });
    expect(() => posenc.info()).toThrow(/self-test/);
    await posenc.ready();
    expect(posenc.info().backend).toBe("js");
    works(posenc);
  });

  it("gives up with a reason where nothing can be had, and may be asked again", async () => {
    const posenc = await fresh();
    patched("Module", refuseModule);
    patched("compile", () => Promise.reject(new WebAssembly.CompileError("disallowed")));
    posenc.init({ fallbackUrl: "data:text/javascript,export%20default%201" });
    await expect(posenc.ready()).rejects.toMatchObject({ code: "unsupported", argument: "fallbackUrl" });
    expect(() => posenc.info()).toThrow(/ready\(\)/);
    vi.restoreAllMocks();
    await posenc.ready();
    works(posenc);
  });
});

describe("init", () => {
  it("forces the plain-JavaScript build, from where it is told", async () => {
    const posenc = await fresh();
    const options = { backend: "js", fallbackUrl: pathToFileURL(join(kWasm, "posenc_fallback.mjs")) } as const;
    posenc.init(options);
    posenc.init({ ...options });
    expect(() => posenc.info()).toThrow(/ready\(\)/);
    await posenc.ready();
    posenc.init(options);
    posenc.init({ backend: "js" });
    expect(posenc.info().backend).toBe("js");
    works(posenc);
    expect(() => posenc.init({ backend: "simd" })).toThrow(expect.objectContaining({ code: "unsupported" }));
  });

  it("takes bytes, a view of them, or a compiled module", async () => {
    for (const wasm of [bytes().buffer, bytes(), new DataView(bytes().buffer), new WebAssembly.Module(bytes())]) {
      const posenc = await fresh();
      posenc.init({ wasm });
      works(posenc);
      expect(posenc.info().backend).toBe("simd");
      posenc.init({ wasm });
    }
  });

  it("refuses what it does not know", async () => {
    const { init } = await fresh();
    for (const [options, code] of [
      [null, "not-a-number"],
      [{ backend: "gpu" }, "unknown-choice"],
      [{ wasm: "x" }, "not-a-number"],
      [{ wasm: null }, "not-a-number"],
      [{ fallbackUrl: 5 }, "not-a-number"],
      [{ backends: "js" }, "unknown-option"],
    ] as const) {
      expect(() => init(options as never), JSON.stringify(options)).toThrow(
        expect.objectContaining({ name: "PosencError", code }),
      );
    }
    works(await fresh());
  });

  it("is asked for where no module is inlined, as in posenc/external", async () => {
    vi.doMock("../../../build/wasm/posenc_bytes.mjs", () => ({ bytes: undefined }));
    const posenc = await fresh();
    const asks = expect.objectContaining({ code: "missing-option", message: expect.stringContaining("init({wasm})") });
    expect(() => posenc.info()).toThrow(asks);
    await expect(posenc.ready()).rejects.toEqual(asks);
    posenc.init({ wasm: bytes() });
    works(posenc);
    vi.doUnmock("../../../build/wasm/posenc_bytes.mjs");
  });

  it("refuses bytes of anything but a whole module at once", async () => {
    const whole = bytes();
    const page = new TextEncoder().encode("<!doctype html><title>404</title>");
    const lost = bytes();
    structuredClone(0, { transfer: [lost.buffer] });
    const wrong = [new Uint8Array(0), Uint8Array.of(1, 2, 3), page, whole.subarray(0, 7), whole.subarray(1), lost];
    for (const cut of [9, 10, 11, 1000, whole.length - 1]) wrong.push(whole.subarray(0, cut));
    const longer = new Uint8Array(whole.length + 1);
    longer.set(whole);
    wrong.push(longer);
    const posenc = await fresh();
    for (const option of ["wasm", "analysisWasm", "exactWasm"] as const) {
      for (const given of [...wrong, page.buffer, new DataView(page.buffer)]) {
        expect(() => posenc.init({ [option]: given })).toThrow(
          expect.objectContaining({ name: "PosencError", code: "invalid-file", argument: option }),
        );
      }
    }
    works(posenc);
  });

  it("falls back where the engine refuses what the module holds", async () => {
    // A section of types of one byte, which says that 127 follow.
    const strange = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 1, 127);
    const posenc = await fresh();
    posenc.init({ wasm: strange });
    expect(() => posenc.info()).toThrow(expect.objectContaining({ code: "unsupported" }));
    await posenc.ready();
    expect(posenc.info().backend).toBe("js");
    const strict = await fresh();
    strict.init({ backend: "simd", wasm: strange });
    await expect(strict.ready()).rejects.toMatchObject({ code: "unsupported" });
  });
});

describe("after a fault the next call works", () => {
  // The module with another maximum of its memory, in pages of 64 KiB: the engine refuses to go beyond.
  function limitedTo(pages: number): Uint8Array<ArrayBuffer> {
    const limited = bytes();
    let at = 8;
    const number = (): number => {
      let value = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = limited[at++]!;
        value += (byte & 127) * 2 ** shift;
        if (byte < 128) return value;
      }
    };
    for (;;) {
      const section = limited[at++];
      const size = number();
      if (section === 5) break;
      at += size;
    }
    expect([number(), limited[at++]]).toEqual([1, 1]); // one memory, which has a maximum
    number();
    const start = at;
    expect(number()).toBe(65536);
    // As many bytes as 65,536 takes.
    limited.set([128 | (pages & 127), 128 | ((pages >> 7) & 127), pages >> 14], start);
    expect(at).toBe(start + 3);
    return limited;
  }

  it("memory that cannot grow is out-of-memory", async () => {
    const posenc = await fresh();
    posenc.init({ wasm: limitedTo(512) });
    works(posenc);
    for (let round = 0; round < 3; round++) {
      let error: unknown;
      try {
        posenc.randomNormal([4096, 4096]);
      } catch (caught) {
        error = caught;
      }
      expect(error).toBeInstanceOf(RangeError);
      expect(error).toMatchObject({ name: "PosencError", code: "out-of-memory", argument: "arguments and results" });
      works(posenc);
      expect(posenc.randomNormal([1024, 1024]).size).toBe(2 ** 20);
    }
  });

  it("memory that cannot grow in the midst of a call is no lasting harm either", async () => {
    const posenc = await fresh();
    const q = posenc.randomNormal([3000, 64]);
    const expected = posenc.attention(q, q, q).out.data;
    const failures: string[] = [];
    // The module starts with 32 pages; arguments and result take 47.
    for (let pages = 40; pages <= 80; pages += 5) {
      const other = await fresh();
      other.init({ wasm: limitedTo(pages) });
      works(other);
      try {
        expect(other.attention(q as never, q as never, q as never).out.data).toEqual(expected);
      } catch (error) {
        failures.push((error as { code: string }).code);
      }
      works(other);
    }
    expect(failures.length).toBeGreaterThan(1);
    expect(failures.length).toBeLessThan(8);
    expect(new Set(failures)).toEqual(new Set(["out-of-memory"]));
  });

  it("a stack that runs out while starting is no lasting harm", async () => {
    const posenc = await fresh();
    let caught = 0;
    const dive = (): void => {
      try {
        dive();
      } catch {
        caught++;
      }
      if (caught > 60) return;
      try {
        posenc.info();
      } catch {
        caught++;
      }
    };
    dive();
    works(posenc);
  });

  it("a stack that runs out anywhere in a call is no lasting harm", async () => {
    const posenc = await fresh();
    const scheme = posenc.sinusoidal({ dim: 64 });
    const x = posenc.randomNormal([9, 8]);
    const wanted = [posenc.encode(scheme, 20).data, posenc.attention(x, x, x).out.data];
    let overflows = 0;
    const dive = (): void => {
      try {
        dive();
      } catch {
        overflows++;
      }
      // Near the end of the stack, on the way back up.
      if (overflows > 400) return;
      try {
        posenc.encode(scheme, 20);
        posenc.attention(x, x, x);
      } catch {
        overflows++;
      }
    };
    dive();
    expect(overflows).toBeGreaterThan(1);
    expect([posenc.encode(scheme, 20).data, posenc.attention(x, x, x).out.data]).toEqual(wanted);
  });
});

describe("memory", () => {
  it("two large results stay as they are while it grows (emscripten #17524, #6747)", async () => {
    const { alibi, bias, encode, sinusoidal } = await fresh();
    const scheme = alibi({ heads: 1, slopes: [0.5] });
    const first = bias(scheme, { queries: 2502, keys: 2502 });
    const second = bias(alibi({ heads: 1, slopes: [0.25] }), { queries: 2502, keys: 2502 });
    const table = encode(sinusoidal({ dim: 1024 }), 16384);
    for (const [tensor, slope] of [
      [first, 0.5],
      [second, 0.25],
    ] as const) {
      expect(tensor.data.length).toBe(2502 * 2502);
      let wrong = 0;
      for (let i = 0; i < 2502; i++) {
        for (let j = 0; j < 2502; j++) if (tensor.data[i * 2502 + j] !== -slope * Math.abs(i - j)) wrong++;
      }
      expect(wrong).toBe(0);
    }
    expect(table.at(0, 1)).toBe(1);
  });

  it("no result is a view of it", async () => {
    const posenc = await fresh();
    const x = posenc.randomNormal([2, 3, 4]);
    const { out, lse, weights, trace } = posenc.attention(x, x, x, { weights: true, trace: true });
    const results = [
      x,
      out,
      lse,
      weights!,
      ...(Object.values(trace!) as (typeof x)[]),
      posenc.encode(posenc.sinusoidal({ dim: 4 }), 3),
      posenc.entropy(weights!),
      posenc.relativeIndex(posenc.shaw({ dim: 4, clip: 1 }), { queries: 2, keys: 2 }),
    ];
    for (const { data } of results) {
      expect(data.buffer.byteLength).toBe(data.byteLength);
      expect(Object.prototype.toString.call(data.buffer)).toBe("[object ArrayBuffer]");
    }
    expect(new Set(results.map(({ data }) => data.buffer)).size).toBe(results.length);
  });

  it("is given back after a very large call", async () => {
    const posenc = await fresh();
    let instances = 0;
    vi.stubGlobal(
      "WebAssembly",
      Object.create(WebAssembly, {
        Instance: {
          value: class extends WebAssembly.Instance {
            constructor(module: WebAssembly.Module, imports: WebAssembly.Imports) {
              super(module, imports);
              instances++;
            }
          },
        },
      }),
    );
    expect(posenc.encode(posenc.sinusoidal({ dim: 1024 }), 140000).size).toBe(1024 * 140000);
    works(posenc);
    works(posenc);
    expect(instances).toBe(3); // what unpacks, and the core twice
  });
});

describe("the same bits", () => {
  it("hold in both builds, and after ten thousand calls", async () => {
    const simd = await fresh();
    const js = await fresh();
    js.init({ backend: "js" });
    await js.ready();
    const expected = digest(simd);
    expect(digest(js)).toBe(expected);
    for (const posenc of [simd, js]) {
      const x = posenc.randomNormal([17, 8], { seed: 2 });
      const [scheme, turn, table] = [
        posenc.alibi({ heads: 1 }),
        posenc.rope({ dim: 8 }),
        posenc.sinusoidal({ dim: 8 }),
      ];
      for (let call = 0; call < 2500; call++) {
        posenc.attention(x, x, x, { causal: true, bias: scheme, rotate: turn });
        posenc.encode(table, 17);
        posenc.rotate(x, turn);
        posenc.bias(scheme, { queries: 9, keys: 9 });
      }
      expect(digest(posenc)).toBe(expected);
    }
  });
});

describe("starting", () => {
  it("takes a self-test of known answers along", async () => {
    const compiled = new WebAssembly.Module(bytes());
    const calls: string[] = [];
    const memories: { memory: WebAssembly.Memory; bytes: number }[] = [];
    const { Instance } = WebAssembly;
    const watched = function (module: WebAssembly.Module, imports: WebAssembly.Imports): object {
      const exports = Object.entries(new Instance(module, imports).exports).map(([name, value]) => {
        if (value instanceof WebAssembly.Memory) memories.push({ memory: value, bytes: value.buffer.byteLength });
        if (typeof value !== "function") return [name, value];
        return [name, (...given: unknown[]): unknown => (calls.push(name), value(...given) as unknown)];
      });
      return { exports: Object.fromEntries(exports) as object };
    };
    vi.spyOn(WebAssembly, "Instance").mockImplementation(watched as never);
    const posenc = await fresh();
    posenc.init({ wasm: compiled });
    expect(calls).toEqual([]);
    posenc.info();
    // Of one instance: a table and an attention, in the memory that it starts with.
    const times = (name: string): number => calls.filter((call) => call === name).length;
    expect(["_initialize", "posenc_layout", "posenc_schemes", "posenc_call"].map(times)).toEqual([1, 1, 1, 2]);
    expect(memories).toHaveLength(1);
    for (const { memory, bytes } of memories) expect(memory.buffer.byteLength).toBe(bytes);
    // And never again: a scheme is checked, and encodes.
    works(posenc);
    expect(["_initialize", "posenc_layout", "posenc_schemes", "posenc_call"].map(times)).toEqual([1, 1, 1, 4]);
  });
});
