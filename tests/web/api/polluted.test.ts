// What stands on Object.prototype is nobody's key, option or attribute, and what is read-only there stops nothing: all
// names that configs, schemes and figures know are put there at once.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { figures } from "../../../web/figures/index.js";
import { renderPNG } from "../../../web/figures/raster-page.js";
import { renderSVG } from "../../../web/figures/render.js";
import { fromConfig } from "../../../web/src/config.js";
import { type AnyScheme, PosencError, Tensor, fromJSON, ready, schemes } from "../../../web/src/index.js";

const kRoot = join(import.meta.dirname, "../../..");
const kConfigs = join(kRoot, "tests/golden/configs");

// Names by which engines ask any object for something (property descriptors, iterators, promises, errors, JSON): on
// Object.prototype they break the language, with this package or without.
const kEngines = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  ...["get", "set", "value", "writable", "enumerable", "configurable", "next", "done", "return", "throw", "then"],
  ...["toJSON", "cause", "raw"],
]);

function wordsOf(...texts: string[]): string[] {
  const words = texts.flatMap((text) => text.match(/[A-Za-z_]\w*/g) ?? []);
  return [...new Set(words)].filter((word) => !kEngines.has(word));
}

function under<T>(names: readonly string[], value: unknown, writable: boolean, work: () => T): T {
  try {
    for (const name of names) {
      Object.defineProperty(Object.prototype, name, { value, writable, configurable: true, enumerable: true });
    }
    return work();
  } finally {
    for (const name of names) delete (Object.prototype as Record<string, unknown>)[name];
  }
}

const kKinds = [
  ["numbers", 7, true],
  ["words", "x", true],
  ["objects", {}, true],
  ["numbers that are read-only", 7, false],
] as const;

// Own properties only, whatever a table or a scheme calls itself.
function plain(value: unknown): unknown {
  if (value instanceof Tensor) return [...value.shape];
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.keys(value).map((key) => [key, plain((value as Record<string, unknown>)[key])]));
}

beforeAll(() => ready());

describe("configs under an Object.prototype with", () => {
  const texts = readdirSync(kConfigs).filter((name) => name.endsWith(".json")).map((name) => [
    name, readFileSync(join(kConfigs, name), "utf8"),
  ] as const);
  const configs = texts.map(([name, text]) => [name, (JSON.parse(text) as { config: object }).config] as const);
  const sources = readdirSync(join(kRoot, "web/src/config")).map((name) =>
    readFileSync(join(kRoot, "web/src/config", name), "utf8"),
  );
  const names = wordsOf(...sources, ...texts.map(([, text]) => text));

  it.each(kKinds)("%s say the same", (_, value, writable) => {
    expect(names.length).toBeGreaterThan(1000);
    const read = (): unknown[] => configs.map(([name, config]) => [name, fromConfig(config)]);
    expect(plain(under(names, value, writable, read))).toEqual(plain(read()));
  });

  it.each(kKinds)("%s miss what they leave out", (_, value, writable) => {
    for (const config of [{}, { model_type: "llama" }, { model_type: "bert", hidden_size: 8 }, { rope_scaling: {} }]) {
      const refused = (): string => {
        try {
          return JSON.stringify(plain(fromConfig(config)));
        } catch (error) {
          return (error as PosencError).message;
        }
      };
      expect(under(names, value, writable, refused)).toBe(refused());
    }
  });

  it.each([new Map([["model_type", "llama"]]), new Date(), Promise.resolve()])("%s is no config", (config) => {
    expect(() => fromConfig(config)).toThrow("config must be an object: a parsed config.json");
    const heads = { model_type: "llama", num_attention_heads: 2, hidden_size: 8, num_hidden_layers: 1 };
    expect(() => fromConfig({ ...heads, rope_scaling: config })).toThrow("rope_scaling must be an object");
  });
});

describe("pictures under an Object.prototype with", () => {
  const params = schemes.flatMap((scheme) => scheme.params);
  const options = ["width", "theme", "data", "scale"];
  const own = params.flatMap(({ name, shown }) => [...name.split("."), ...Object.keys(shown ?? {})]);
  const names = wordsOf(
    ...figures.flatMap((figure) => Object.keys(figure.attributes)), ...own, ...options, ...params.flatMap(Object.keys),
    "step table",
  // What any object calls itself: errors and functions are asked for it by engines.
  ).filter((name) => name !== "name");

  it.each(figures.map(({ name }) => name))("of posenc-%s are the same", (name) => {
    const draw = (): string => renderSVG(name);
    const wanted = draw();
    for (const [, value, writable] of kKinds) expect(under(names, value, writable, draw) === wanted).toBe(true);
  });

  it("in pixels too", () => {
    const draw = (): Uint8Array => renderPNG("embed", { positions: 4, dim: 4 }, { width: 200 });
    const wanted = draw();
    for (const [, value, writable] of kKinds) {
      expect(Buffer.compare(under(options, value, writable, draw), wanted)).toBe(0);
    }
  });

  it("and schemes come back from their JSON", () => {
    const sine = { slot: "rotate", name: "rope", dim: 8, scaling: { type: "linear", factor: 2 } } as const;
    const made = (): AnyScheme => fromJSON(sine);
    for (const [, value, writable] of kKinds) {
      expect(under(names, value, writable, () => fromJSON(made().toJSON())).toJSON()).toEqual(made().toJSON());
    }
  });

  it("are asked for by objects of classes, and refused what these do not know", () => {
    class Settings {
      positions = 4;
    }
    expect(renderSVG("embed", new Settings() as never)).toBe(renderSVG("embed", { positions: 4 }));
    expect(() => renderSVG("embed", Object.create({ position_s: 4 }) as object as never)).toThrow("position_s");
  });
});
