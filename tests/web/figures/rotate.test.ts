// <posenc-rotate> against rotations by complex numbers in double, and the known numbers of mixed layouts.
import { beforeAll, describe, expect, it } from "vitest";
import { randomNormal, ready, rope } from "../../../web/src/index.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { rotate } from "../../../web/figures/rotate.js";
import { overlaps, record, runCode, textsOf } from "./drawn.js";

beforeAll(() => ready());

type Pair = [number, number];
const pairsOf = (dim: number, layout: string): Pair[] =>
  Array.from({ length: dim / 2 }, (_, i): Pair => (layout === "half" ? [i, i + dim / 2] : [2 * i, 2 * i + 1]));
const seeded = (dim: number, seed = 0): [number[], number[]] =>
  randomNormal([2, dim], { seed }).tolist() as [number[], number[]];

// x turned to position t: columns a, b of pair i times e^(i t omega).
function turned(x: readonly number[], t: number, layout: string, base = 10000): number[] {
  const out = [...x];
  pairsOf(x.length, layout).forEach(([a, b], i) => {
    const angle = t * base ** ((-2 * i) / x.length);
    out[a] = x[a]! * Math.cos(angle) - x[b]! * Math.sin(angle);
    out[b] = x[a]! * Math.sin(angle) + x[b]! * Math.cos(angle);
  });
  return out;
}
const dot = (x: readonly number[], y: readonly number[]): number => x.reduce((sum, v, c) => sum + v * y[c]!, 0);
const norm = (x: readonly number[]): number => Math.sqrt(dot(x, x));

// cat(f, f) or repeat(f, 2) as the table of angles, whatever the pairs of the rotation are.
function mixed(x: readonly number[], t: number, rotation: string, base = 10000): number[] {
  const half = x.length / 2;
  const frequency = (c: number): number =>
    base ** ((-2 * (rotation === "half" ? Math.floor(c / 2) : c % half)) / x.length);
  const out = [...x];
  for (const [a, b] of pairsOf(x.length, rotation)) {
    out[a] = x[a]! * Math.cos(t * frequency(a)) - x[b]! * Math.sin(t * frequency(a));
    out[b] = x[b]! * Math.cos(t * frequency(b)) + x[a]! * Math.sin(t * frequency(b));
  }
  return out;
}

const readings = (attributes: Record<string, unknown>): [string, string][] =>
  rotate.readout(figureState("rotate", attributes)).map(({ label, value }) => [label, value]);

describe("pairs", () => {
  it.each(["interleaved", "half"])("turns the hands of query and key, %s", (layout) => {
    const state = figureState("rotate", { dim: 6, layout, m: 7, n: 2 });
    const back = record(rotate, state);
    const [q, k] = seeded(6);
    const [q7, k2] = [turned(q, 7, layout), turned(k, 2, layout)];
    const hands = back.paths.filter((path) => path.length === 4 && path[1] !== 9); // not the legend
    expect(hands).toHaveLength(12);
    const pairs = pairsOf(6, layout);
    const reach = Math.max(...[q, k].flatMap((x) => pairs.map(([a, b]) => Math.hypot(x[a]!, x[b]!))));
    const radius = Math.max(...hands.map(([x0, y0, x1, y1]) => Math.hypot(x1! - x0!, y1! - y0!)));
    pairs.forEach(([a, b], p) => {
      [k, k2, q, q7].forEach((x, h) => {
        const [x0, y0, x1, y1] = hands[4 * p + h]!;
        expect((x1! - x0!) / radius).toBeCloseTo(x[a]! / reach, 4);
        expect((y0! - y1!) / radius).toBeCloseTo(x[b]! / reach, 4);
      });
    });
  });

  it("gives each pair its part of the score, and the parts make the score", () => {
    const state = figureState("rotate", { dim: 8, m: 9, n: 4 });
    const parts = textsOf(record(rotate, state)).filter(({ words }) => words.endsWith("to the score"));
    const values = parts.map(({ words }) => Number(words.split(" ")[0]!.replace("\u2212", "-")));
    const [q, k] = seeded(8);
    const [qm, kn] = [turned(q, 9, "interleaved"), turned(k, 4, "interleaved")];
    values.forEach((value, p) => {
      const exact = (qm[2 * p]! * kn[2 * p]! + qm[2 * p + 1]! * kn[2 * p + 1]!) / Math.sqrt(8);
      expect(Math.abs(value - exact)).toBeLessThan(0.00051);
    });
    expect(Math.abs(values.reduce((a, b) => a + b) - dot(qm, kn) / Math.sqrt(8))).toBeLessThan(0.0021);
  });

  it.each([320, 700, 880])("says what each of many pairs adds, %d pixels wide", (width) => {
    const back = record(rotate, figureState("rotate", { dim: 32, m: 9, n: 4 }), width);
    const values = textsOf(back)
      .filter(({ words }) => /^[+\u2212]?\d\.\d{3}/.test(words))
      .map(({ words }) => Number.parseFloat(words.replace("\u2212", "-")));
    const [q, k] = seeded(32);
    const score = dot(turned(q, 9, "interleaved"), turned(k, 4, "interleaved")) / Math.sqrt(32);
    expect(values).toHaveLength(16);
    expect(Math.abs(values.reduce((a, b) => a + b) - score)).toBeLessThan(16 * 0.00051);
    expect(overlaps(back)).toEqual([]);
  });

  it("draws no columns that do not turn", () => {
    const state = figureState("rotate", { dim: 8, "rotary-dim": 4 });
    expect(rotate.title(state)).toContain("2 pairs");
  });
});

describe("scores", () => {
  it.each(["interleaved", "half"])("are those of the offset, %s", (layout) => {
    const { data } = rotate.array!(
      figureState("rotate", { view: "scores", dim: 10, layout, positions: 12, "token-seed": 3 }),
    );
    const [q, k] = seeded(10, 3);
    for (let m = 0; m < 12; m++) {
      for (let n = 0; n < 12; n++) {
        const exact = dot(turned(q, m - n, layout), k) / Math.sqrt(10);
        expect(Math.abs(data[m * 12 + n]! - exact)).toBeLessThan(2e-6);
      }
    }
  });

  it("are read out beside their neighbour on the diagonal", () => {
    const [q, k] = seeded(8);
    const score = (dot(turned(q, 5, "interleaved"), k) / Math.sqrt(8)).toFixed(4).replace("-", "\u2212");
    expect(readings({ m: 9, n: 4 })).toEqual([
      ["m", "9"],
      ["n", "4"],
      ["m \u2212 n", "+5"],
      ["score", score],
      ["score at (10, 5)", score],
    ]);
    expect(readings({ m: 31, n: 4, view: "scores" })[4]![0]).toBe("score at (30, 3)");
    expect(readings({ m: 31, n: 0 })).toHaveLength(4);
  });

  it("show the diagonal of the cursor through the middle of its cells", () => {
    const back = record(rotate, figureState("rotate", { view: "scores", positions: 20, m: 12, n: 5 }));
    const [, x = 0, y = 0, w = 0, h = 0] = /heatMap ([\d.]+),([\d.]+) ([\d.]+)x([\d.]+) 20 x 20/
      .exec(back.operations.find((op) => op.startsWith("heatMap"))!)!
      .map(Number);
    const line = back.paths[back.paths.length - 1]!;
    expect(
      [(line[0]! - x) / w, (line[1]! - y) / h, (line[2]! - x) / w, (line[3]! - y) / h].map((v) => v.toFixed(2)),
    ).toEqual([0, 7 / 20, 13 / 20, 1].map((v) => v.toFixed(2)));
  });
});

describe("layouts", () => {
  it("gives the known norms of a table in halves under an interleaved rotation", () => {
    const read = readings({ view: "layouts", dim: 4, q: "1 2 3 4", k: "1, 2, 3, 4", m: 1, n: 0 });
    expect(read.slice(5)).toEqual([
      ["norm of q", "5.477226"],
      ["mixed norm", "4.962817"],
    ]);
    const caption = rotate.caption(figureState("rotate", { view: "layouts" }));
    expect(caption).toContain("[1,\u00a02,\u00a03,\u00a04] at position 1 keeps its norm 5.477226, mixed it has 4.962817.");
    expect(caption).toMatch(/^Mixed up: the norm of the query, .* runs from .* so the offset alone no longer decides/);
  });

  it.each(["interleaved", "half"])("computes the mixed table as the bug does, %s", (layout) => {
    const { data } = rotate.array!(figureState("rotate", { view: "layouts", dim: 8, layout, positions: 9 }));
    const [q, k] = seeded(8);
    for (let m = 0; m < 9; m++) {
      for (let n = 0; n < 9; n++) {
        const exact = dot(mixed(q, m, layout), mixed(k, n, layout)) / Math.sqrt(8);
        expect(Math.abs(data[m * 9 + n]! - exact)).toBeLessThan(3e-6);
      }
    }
    const state = figureState("rotate", { view: "layouts", dim: 8, layout, positions: 9, m: 6 });
    const read = rotate
      .readout(state)
      .slice(5)
      .map(({ value }) => Number(value));
    expect(read[0]).toBeCloseTo(norm(q), 5);
    expect(read[1]).toBeCloseTo(norm(mixed(q, 6, layout)), 5);
  });

  it("says what the norm cannot tell and what nothing tells", () => {
    const words = (mix: string): string => rotate.caption(figureState("rotate", { view: "layouts", mix }));
    expect(words("sides")).toMatch(/^Mixed up: the norm of the query stays .*, but scores of one m\u00a0\u2212\u00a0n differ by/);
    expect(words("both")).toMatch(/^No alarm goes off: the norm of the query stays .*, and every diagonal is constant/);
    // Of one pair, and of vectors of nothing, no layout differs from the other.
    for (const alike of [{ dim: 2 }, { q: "0 0 0 0 0 0 0 0" }]) {
      for (const mix of ["table", "sides", "both"]) {
        const said = rotate.caption(figureState("rotate", { view: "layouts", mix, ...alike }));
        expect(said).toMatch(/^No alarm goes off: the norm of the query stays .*, and every score is the right one\./);
      }
    }
    const { data } = rotate.array!(figureState("rotate", { view: "layouts", mix: "sides", dim: 6, positions: 5 }));
    const [q, k] = seeded(6);
    data.forEach((score, at) => {
      const exact = dot(turned(q, Math.floor(at / 5), "interleaved"), turned(k, at % 5, "half")) / Math.sqrt(6);
      expect(Math.abs(score - exact)).toBeLessThan(2e-6);
    });
  });
});

describe("all views", () => {
  it.each(["pairs", "scores", "layouts"])("keep their words apart: %s", (view) => {
    for (const width of [764, 300]) {
      for (const attributes of [{}, { m: 0, n: 31 }, { m: 31, n: 30, dim: 64 }, { mix: "both", dim: 4 }]) {
        const state = figureState("rotate", { view, ...attributes });
        const back = record(rotate, state, width);
        expect(overlaps(back), `${width} ${JSON.stringify(attributes)}`).toEqual([]);
        const height = rotate.height(state, width);
        for (const { y, words } of textsOf(back)) expect(y, words).toBeLessThan(height);
      }
    }
  });

  it("give programs that make the same numbers", () => {
    for (const attributes of [
      { dim: 6, base: 500 },
      { dim: 4, q: "1 2 3 4", k: "0 1 0 -1", layout: "half" },
    ]) {
      const state = figureState("rotate", { view: "scores", positions: 9, ...attributes });
      expect([...runCode(rotate.code!(state).javascript, "scores").data]).toEqual([...rotate.array!(state).data]);
    }
  });

  it("give programs of mixed layouts, and of the turned pairs", () => {
    for (const layout of ["interleaved", "half"]) {
      for (const mix of ["table", "sides", "both"]) {
        const state = figureState("rotate", { view: "layouts", positions: 9, dim: 6, layout, mix });
        const scores = runCode(rotate.code!(state).javascript, "scores");
        expect([...scores.data], `${layout} ${mix}`).toEqual([...rotate.array!(state).data]);
      }
    }
    const state = figureState("rotate", { view: "pairs", positions: 9, dim: 6 });
    const { javascript } = rotate.code!(state);
    const both = [...runCode(javascript, "queries").data, ...runCode(javascript, "keys").data];
    expect(both).toEqual([...rotate.array!(state).data]);
  });

  it("say what is wrong", () => {
    expect(() => figureState("rotate", { dim: 4, q: "1 2 3" })).toThrow("The query must be 4 numbers, one a dimension");
    expect(() => figureState("rotate", { dim: 4, k: "1 2 x 4" })).toThrow("The key must be 4 numbers");
    expect(() => figureState("rotate", { dim: 5 })).toThrow("dim");
    const wide = "dim must be at most 4096 here, got 65536";
    expect(() => figureState("rotate", { dim: 65536 })).toThrow(wide);
    expect(() => figureState("rotate", {}, rope({ dim: 65536 }))).toThrow(wide);
    expect(renderSVG("rotate", { view: "layouts" }, { width: 320, theme: "dark" })).toContain("norm of the query");
  });
});
