// Every function of every entry, given what nobody means: nothing, numbers, texts, proxies that are gone. It answers,
// or refuses with a PosencError that names the argument and what was given; never in the engine's own words.
import { afterAll, expect, it } from "vitest";
import * as anywidget from "../../../web/src/anywidget.js";
import * as config from "../../../web/src/config.js";
import * as files from "../../../web/src/files.js";
import * as posenc from "../../../web/src/index.js";
import * as onnx from "../../../web/src/onnx.js";
import * as render from "../../../web/src/render.js";
import * as worker from "../../../web/src/worker.js";

type Any = (...args: unknown[]) => unknown;

afterAll(() => {
  worker.terminate();
  worker.configure({ workers: 2 });
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const kOdd: readonly (readonly [what: string, make: () => unknown])[] = [
  ["undefined", () => undefined],
  ["null", () => null],
  ["a number", () => 0],
  ["NaN", () => NaN],
  ["a text", () => "x"],
  ["an empty text", () => ""],
  ["a flag", () => true],
  ["a symbol", () => Symbol("x")],
  ["a BigInt", () => 5n],
  ["a function", () => () => 1],
  ["an object", () => ({})],
  ["no text", () => Object.create(null) as unknown],
  ["a list", () => []],
  ["a list of nothing", () => [null]],
  ["a date", () => new Date(0)],
  ["a map", () => new Map()],
  ["a promise", () => Promise.resolve(1)],
  ["bytes", () => new Uint8Array(3)],
  ["a buffer", () => new ArrayBuffer(0)],
  ["a revoked proxy", revoked],
];

const kEntries: readonly (readonly [entry: string, api: object])[] = [
  ["posenc", posenc],
  ["posenc/worker", worker],
  ["posenc/config", config],
  ["posenc/files", files],
  ["posenc/onnx", onnx],
  ["posenc/render", render],
  ["posenc/anywidget", anywidget],
];

// What may stand before the odd argument.
const kBefore: Readonly<Record<string, readonly unknown[]>> = {
  renderSVG: ["addition", {}],
  renderPNG: ["addition", {}],
  readSafetensors: [files.toSafetensors({})],
  safetensorsHeader: [files.toSafetensors({})],
  readNpy: [files.toNpy([1])],
  toSafetensors: [{}],
  toNpy: [[1]],
  toCsv: [[1]],
  toOnnx: [{ dim: 2, length: 2 }],
  fromConfig: [{ rope_type: "default", head_dim: 2 }],
};

it.each(kEntries)("%s answers or refuses with a PosencError, whatever it is given", async (entry, api) => {
  worker.configure({ workers: 0 });
  let refused = 0;
  for (const [name, run] of Object.entries(api)) {
    // Classes are made, and the anywidget protocol's default object is no function.
    if (typeof run !== "function" || /^[A-Z]/.test(name)) continue;
    for (const [what, make] of kOdd) {
      for (let place = 0; place <= (kBefore[name]?.length ?? 0); place++) {
        const args = [...(kBefore[name] ?? []).slice(0, place), make()];
        const where = `${entry}: ${name}, argument ${place}, ${what}`;
        try {
          await (run as Any)(...args);
        } catch (error) {
          if (error instanceof ReferenceError && entry === "posenc/anywidget") continue; // there is no document here
          if (!(error instanceof posenc.PosencError)) throw new Error(where, { cause: error });
          refused += 1;
          expect(error.argument, where).not.toBe("");
          expect(error.message, where).toMatch(/ (must be|is missing|there is no|not known|no reader for|named by)|There is/);
          if (what === "a revoked proxy" && error.given !== "undefined") {
            expect(error.given, where).toMatch(/^a revoked proxy$|^an array/);
          }
        }
      }
    }
  }
  worker.configure({ workers: 2 });
  expect(refused).toBeGreaterThan(entry === "posenc/anywidget" ? 2 : 10);
});

it("a revoked proxy is refused in the worker as it is here, as options, scheme and data", async () => {
  const x = posenc.randomNormal([64, 16]);
  const refusal = async (call: () => unknown): Promise<unknown> => {
    try {
      await call();
      return "taken";
    } catch (error) {
      const { code, subject, argument, allowed, given, message } = error as posenc.PosencError;
      return { ours: error instanceof posenc.PosencError, code, subject, argument, allowed, given, message };
    }
  };
  for (const workers of [2, 0]) {
    worker.configure({ workers });
    for (const [name, ...args] of [
      ["attention", x, x, x, revoked()],
      ["attention", x, revoked(), x],
      ["attention", x, x, x, { bias: revoked() }],
      ["attention", x, x, x, { rotate: [revoked()], causal: true }],
      ["encode", posenc.sinusoidal({ dim: 4 }), revoked()],
      ["encode", revoked(), 3],
      ["similarity", x, revoked()],
      ["multiHeadAttention", x, revoked()],
    ] as const) {
      const here = await refusal(() => (posenc[name] as Any)(...args));
      expect(here, name).toMatchObject({ ours: true, given: "a revoked proxy" });
      expect(await refusal(() => (worker[name] as Any)(...args)), name).toEqual(here);
    }
  }
});
