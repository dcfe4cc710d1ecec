// <posenc-spectrum> against wavelengths, Llama 3's rule and digits written down again in double.
import { beforeAll, describe, expect, it } from "vitest";
import { mrope, ready, rope } from "../../../web/src/index.js";
import { spectrum } from "../../../web/figures/spectrum.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { overlaps, record, runCode, textsOf } from "./drawn.js";

beforeAll(() => ready());

const wavelength = (pair: number, pairs: number, base = 10000): number => 2 * Math.PI * base ** (pair / pairs);
const readings = (attributes: Record<string, unknown>, data?: unknown): Record<string, string> =>
  Object.fromEntries(spectrum.readout(figureState("spectrum", attributes, data)).map((r) => [r.label, r.value]));

function near(found: number, expected: number, parts = 1e-12): void {
  expect(Math.abs(found - expected)).toBeLessThanOrEqual(parts * Math.abs(expected));
}

const llama = {
  "scaling-type": "llama3",
  "scaling-factor": 8,
  "scaling-low-freq-factor": 1,
  "scaling-high-freq-factor": 4,
  "scaling-original-max-position-embeddings": 8192,
  dim: 128,
  base: 500000,
  context: 131072,
};

// Llama 3.1's rule: turns in the original context decide, smoothly between 1 and 4.
function llamaWavelength(pair: number): number {
  const plain = wavelength(pair, 64, 500000);
  const turns = 8192 / plain;
  if (turns > 4) return plain;
  if (turns < 1) return 8 * plain;
  const smooth = (turns - 1) / 3;
  return 1 / ((1 - smooth) / (8 * plain) + smooth / plain);
}

describe("wavelengths", () => {
  it.each([
    ["rope", 64, 10000],
    ["sinusoidal", 512, 10000],
    ["xpos", 32, 500],
  ])("are a geometric series for %s", (scheme, dim, base) => {
    const { data, shape } = spectrum.array!(figureState("spectrum", { scheme, dim, base }));
    expect(shape).toEqual([dim / 2]);
    data.forEach((value, pair) => near(value, wavelength(pair, dim / 2, base)));
  });

  it("ends where the source's example for d = 512 does", () => {
    expect(readings({ scheme: "sinusoidal", dim: 512, pair: 255 }).wavelength).toBe("60\u202f611");
    expect(readings({ scheme: "sinusoidal", dim: 512, pair: 0 }).wavelength).toBe("6.283");
  });

  it.each([64, 4096, 100_000])("counts the pairs that never complete a turn within %d", (context) => {
    const state = figureState("spectrum", { context });
    const never = Array.from({ length: 32 }, (_, i) => i).filter((i) => wavelength(i, 32) > context);
    expect(spectrum.caption(state)).toContain(`(${never.length} of 32)`);
    const back = record(spectrum, state);
    const discs = back.operations.filter((op) => op.startsWith("disc"));
    expect(discs.filter((op) => op.includes("fill=accent"))).toHaveLength(never.length);
    expect(discs).toHaveLength(32);
  });

  it("holds them before and after Llama 3's rule, and says what became of each pair", () => {
    const state = figureState("spectrum", llama);
    const { data, shape } = spectrum.array!(state);
    expect(shape).toEqual([2, 64]);
    for (let pair = 0; pair < 64; pair++) {
      near(data[pair]!, wavelength(pair, 64, 500000));
      near(data[64 + pair]!, llamaWavelength(pair));
    }
    const turns = (pair: number): number => 8192 / wavelength(pair, 64, 500000);
    const kept = Array.from({ length: 64 }, (_, i) => i).filter((i) => turns(i) > 4).length;
    const scaled = Array.from({ length: 64 }, (_, i) => i).filter((i) => turns(i) < 1).length;
    expect(spectrum.caption(state)).toContain(`kept ${kept}, ramped ${64 - kept - scaled}, scaled ${scaled}`);
    expect(readings({ ...llama, pair: 63 })).toMatchObject({ "this pair is": "scaled" });
    expect(readings({ ...llama, pair: 3 })["this pair is"]).toBe("kept");
  });

  it.each(["linear", "ntk", "dynamic", "yarn", "proportional"])("draws the rule %s beside what was before", (rule) => {
    for (const width of [840, 300]) {
      const state = figureState("spectrum", { "scaling-type": rule, pair: 9 });
      const back = record(spectrum, state, width);
      expect(overlaps(back)).toEqual([]);
      const words = textsOf(back).map((text) => text.words);
      expect(words).toContain("before");
      expect(words).toContain("after");
    }
    expect(Object.keys(readings({ "scaling-type": rule }))).toContain("before");
  });

  it("says which pairs stand still", () => {
    expect(readings({ "scaling-type": "proportional", "scaling-partial-rotary-factor": 0.5, pair: 31 })).toMatchObject({
      wavelength: "stands still",
      "turns in the context": "0",
    });
  });

  it("reads the pair under a point", () => {
    const back = record(spectrum, figureState("spectrum", { dim: 20, pair: 7 }));
    const cursor = back.paths.find((path) => path.length === 4 && path[0] === path[2])!;
    expect(back.cellAt(cursor[0]!, cursor[1]! + 40)).toEqual({ column: 7 });
  });
});

describe("a position as a number", () => {
  it("has decimal digits in four pairs of base 10000", () => {
    for (const position of [0, 7, 4273, 4095, 9999]) {
      const state = figureState("spectrum", { view: "number", position, context: 10000 });
      const digits = [...spectrum.array!(state).data].reverse();
      expect(digits.join("")).toBe(String(position).padStart(4, "0"));
      const shown = textsOf(record(spectrum, state)).map(({ words }) => words);
      expect(shown.filter((words) => /^\d$/.test(words)).join("")).toBe(String(position).padStart(4, "0"));
      const worth = shown.filter((words) => words.startsWith("\u00d7"));
      expect(worth).toEqual(["1000", "100", "10", "1"].map((value) => `\u00d7 ${value}`));
    }
  });

  it("has greedy digits in other places, whose sum is the position but for what is left", () => {
    const state = figureState("spectrum", { view: "number", dim: 24, base: 5000, position: 3210 });
    const digits = [...spectrum.array!(state).data];
    let rest = 3210;
    for (let i = 11; i >= 0; i--) {
      const worth = 5000 ** (i / 12);
      expect(digits[i]).toBe(Math.floor(rest / worth));
      rest -= digits[i]! * worth;
    }
    expect(Number(readings({ view: "number", dim: 24, base: 5000, position: 3210 })["left over"])).toBeCloseTo(rest, 2);
  });

  it("turns the hand of each pair by its phase", () => {
    const back = record(spectrum, figureState("spectrum", { view: "number", position: 57, dim: 12, place: 2 }), 764);
    const hands = back.paths.filter((path) => path.length === 4 && path[0] !== path[2]);
    expect(hands).toHaveLength(6);
    const length = Math.hypot(hands[0]![2]! - hands[0]![0]!, hands[0]![3]! - hands[0]![1]!);
    hands.forEach((hand, k) => {
      const angle = 57 / 10000 ** ((5 - k) / 6);
      expect(hand[2]! - hand[0]!).toBeCloseTo(length * Math.sin(angle), 6);
      expect(hand[1]! - hand[3]!).toBeCloseTo(length * Math.cos(angle), 6);
    });
    expect(readings({ view: "number", position: 57, dim: 12, place: 2 })).toMatchObject({ pair: "3", worth: "100" });
  });

  it("follows the position and reads the place under a point", () => {
    const state = figureState("spectrum", { view: "number", position: 99_999, context: 4096 });
    expect(state.row).toBe(4095);
    const back = record(spectrum, state);
    const third = textsOf(back).find(({ words }) => words === "pair 1")!;
    expect(back.cellAt(third.x, third.y - 20)).toEqual({ column: 2 });
  });
});

describe("words and take-aways", () => {
  it("gives programs that make the same numbers", async () => {
    for (const attributes of [{ dim: 32 }, { scheme: "sinusoidal", dim: 10 }, llama]) {
      const state = figureState("spectrum", attributes);
      const { javascript, numpy } = spectrum.code!(state);
      const { data, shape } = spectrum.array!(state);
      const found = runCode(javascript, shape.length === 2 ? "[...before, ...wavelength]" : "wavelength");
      expect([...(found as unknown as Iterable<number>)]).toEqual([...data]);
      expect(await numpy!()).toContain("wavelength = 2 * np.pi / omega");
    }
    const state = figureState("spectrum", { view: "number", dim: 14, position: 1234 });
    const digits = runCode(spectrum.code!(state).javascript, "digits") as unknown as Iterable<number>;
    expect([...digits]).toEqual([...spectrum.array!(state).data]);
    const timing = figureState("spectrum", { scheme: "sinusoidal", spacing: "timing" });
    expect(await spectrum.code!(timing).numpy!()).toBeUndefined();
  });

  it("takes a scheme as data, with tables that no attribute can say", () => {
    const scheme = rope({
      dim: 8,
      scaling: {
        type: "longrope",
        shortFactor: [1, 1, 2, 4],
        longFactor: [1, 2, 8, 16],
        originalMaxPositionEmbeddings: 100,
      },
    });
    for (const [context, factors] of [
      [100, [1, 1, 2, 4]],
      [5000, [1, 2, 8, 16]],
    ] as const) {
      const { data } = spectrum.array!(figureState("spectrum", { context }, scheme));
      factors.forEach((factor, pair) => near(data[4 + pair]!, factor * wavelength(pair, 4)));
    }
    const sections = mrope({ dim: 12, sections: [2, 2, 2] });
    expect(spectrum.array!(figureState("spectrum", {}, sections)).shape).toEqual([6]);
  });

  it("renders at its edges, and says what is wrong", () => {
    expect(renderSVG("spectrum", { dim: 2 }, { width: 320, theme: "dark" })).toContain("context");
    expect(renderSVG("spectrum", { dim: 2, view: "number", context: 1 }, { width: 320 })).toContain("pair 0");
    expect(renderSVG("spectrum", { dim: 512, view: "number" })).toContain("pair 0");
    expect(() => figureState("spectrum", { scheme: "alibi" })).toThrow("scheme must be one of");
    expect(() => figureState("spectrum", { context: 0 })).toThrow("context must be a whole number");
    expect(() => figureState("spectrum", { dim: 7 })).toThrow("dim");
  });
});
