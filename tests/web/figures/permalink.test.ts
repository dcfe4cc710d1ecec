// What the address of a page may do to a figure: anything that it can draw, and nothing else.
import { beforeAll, describe, expect, it } from "vitest";
import { ready, tensor } from "../../../web/src/index.js";
import { allFields, attributeName } from "../../../web/figures/figure.js";
import { figures } from "../../../web/figures/index.js";
import { fittingValues, linkedHash, linkedTexts } from "../../../web/figures/permalink.js";
import { figureNamed, figureState } from "../../../web/figures/render.js";

beforeAll(() => ready());

const read = (name: string, hash: string, own: Record<string, string> = {}, data?: unknown): Record<string, unknown> =>
  Object.fromEntries(
    fittingValues(figureNamed(name), linkedTexts(hash, name), (field) => own[attributeName(field)], data),
  );

describe("an address", () => {
  it("sets what fits, and is passed over where it does not", () => {
    expect(read("embed", "#embed.dim=32&embed.view=waves&spectrum.dim=8")).toEqual({ dim: 32, view: "waves" });
    expect(read("embed", "#embed.dim=many&embed.view=waves&embed.nothing=1")).toEqual({ view: "waves" });
  });

  it.each([
    ["embed", "#embed.dim=1", {}],
    ["embed", "#embed.dim=1&embed.view=waves", { view: "waves" }],
    ["embed", "#embed.view=waves&embed.waves=99&embed.positions=12", { view: "waves", positions: 12 }],
    ["embed", "#embed.positions=8192&embed.dim=8192", { positions: 8192 }],
    ["rotate", "#rotate.dim=7&rotate.base=100", { base: 100 }],
    ["compare", "#compare.schemes=nonsense&compare.heads=2", { heads: 2 }],
    ["similarity", "#similarity.dim=2&similarity.compare=sinusoidal2d", { dim: 2 }],
  ])("of %s, %s, leaves out what cannot be computed", (name, hash, expected) => {
    const kept = read(name, hash);
    expect(kept).toEqual(expected);
    expect(() => figureState(name, kept)).not.toThrow();
  });

  it("takes together what can be computed together alone", () => {
    // An odd width is one of the learned scheme only.
    const both = { dim: 7, scheme: "learned" };
    expect(read("embed", "#embed.dim=7&embed.scheme=learned")).toEqual(both);
    expect(read("embed", "#embed.scheme=learned&embed.dim=7")).toEqual(both);
  });

  it("is tried with the figure's own data and attributes", () => {
    const table = tensor(new Float32Array(12), [4, 3]);
    expect(read("similarity", "#similarity.positions=4", {}, table)).toEqual({ positions: 4 });
    expect(read("embed", "#embed.dim=1", { scheme: "learned" })).toEqual({ dim: 1 });
  });

  it("is no fault of a figure that cannot be drawn without it", () => {
    expect(read("embed", "#embed.positions=12", { dim: "1" })).toEqual({ positions: 12 });
    // And mends one that it can.
    expect(read("embed", "#embed.dim=8", { dim: "1" })).toEqual({ dim: 8 });
  });

  it("is read as it is written", () => {
    const hash = linkedHash("#else=1&embed.dim=1", "embed", [["dim", 8], ["view", "waves"]]);
    expect(hash).toBe("#else=1&embed.dim=8&embed.view=waves");
    expect(read("embed", hash)).toEqual({ dim: 8, view: "waves" });
  });
});

describe("whatever an address says of", () => {
  // Each name has another text in a round, but for one in which all are huge.
  const long = "a b c d ".repeat(300);
  const rounds = [
    ["", "0", "Infinity", "2,5", "true", "[object Object]", "<img src=x onerror=alert(1)>", "-3", long],
    ["9007199254740993"],
    ["-1", "NaN", "1e-320", "0x10", "null", "constructor", "\u0000", "-1e308", "12abc"],
  ];

  it.each(figures.map((figure) => [figure.name, figure] as const))("posenc-%s, it is drawn", (name, figure) => {
    const { values, model } = figureState(name);
    const fields = allFields(figure, values, model);
    const keys = [...Object.keys(figure.attributes), ...fields.map((field) => field.name)].map(attributeName);
    const all = [...new Set([...keys, "junk", "__proto__", "constructor", "data", "on-click", "style"])];
    const known = new Set(keys);
    for (const texts of rounds) {
      const pieces = all.map((key, k) => `${name}.${key}=${encodeURIComponent(texts[k % texts.length]!)}`);
      const kept = read(name, `#${pieces.join("&")}&${name}.view=%ED%A0%80`);
      for (const [key, value] of Object.entries(kept)) {
        expect(known).toContain(attributeName(key));
        expect(["number", "string", "boolean"]).toContain(typeof value);
        if (typeof value === "number") expect(value).not.toBeNaN();
      }
      // As it comes it is drawn by every test.
      if (Object.keys(kept).length === 0) continue;
      expect(() => figureState(name, kept), JSON.stringify(kept).slice(0, 300)).not.toThrow();
    }
  });
});
