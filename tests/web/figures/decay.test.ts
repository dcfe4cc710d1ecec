// <posenc-decay> against integrals by Simpson's rule and sums of cosines written again in double.
import { beforeAll, describe, expect, it, vi } from "vitest";
import { kernel, oscillatoryIntegral, ready, riemannSum, sinusoidal } from "../../../web/src/index.js";
import * as analysis from "../../../web/src/analysis/index.js";
import { decay } from "../../../web/figures/decay.js";
import { stateOf } from "../../../web/figures/figure.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { toCsv } from "../../../web/figures/take-away.js";
import { overlaps, record, runCode, textsOf } from "./drawn.js";

vi.mock("../../../web/src/analysis/index.js", { spy: true });
beforeAll(() => ready());

const laws: Record<string, (t: number) => number> = {
  "10000^-t": (t) => 10000 ** -t,
  "1000^-t": (t) => 1000 ** -t,
  t: (t) => t,
  "t^2": (t) => t * t,
  "sqrt(t)": Math.sqrt,
};

function simpson(f: (t: number) => number, steps = 20_000): number {
  let total = f(0) + f(1);
  for (let i = 1; i < steps; i++) total += (i % 2 === 1 ? 4 : 2) * f(i / steps);
  return total / (3 * steps);
}

const meanCosine = (theta: (t: number) => number, k: number, pairs: number): number => {
  let total = 0;
  for (let i = 0; i < pairs; i++) total += Math.cos(k * theta(i / pairs));
  return total / pairs;
};

const readings = (attributes: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(decay.readout(figureState("decay", attributes)).map(({ label, value }) => [label, value]));

interface Rows {
  header: readonly string[];
  rows: number[][];
}

function rowsOf(attributes: Record<string, unknown>, data?: unknown): Rows {
  const { header, rows, cell } = decay.table(figureState("decay", attributes, data));
  return { header, rows: Array.from({ length: rows }, (_, r) => header.map((_, c) => Number(cell(r, c)))) };
}

describe("numbers", () => {
  it("holds the integral of each law at whole offsets", () => {
    const { header, rows } = rowsOf({ near: 40 });
    expect(header).toEqual(["offset", "sum", ...Object.keys(laws).map((law) => `integral ${law}`)]);
    expect(rows.map(([offset]) => offset)).toEqual(Array.from({ length: 41 }, (_, k) => k));
    for (const [k = 0, , ...integrals] of rows) {
      Object.values(laws).forEach((theta, n) => {
        // The square root has no derivative at 0, which costs Simpson's rule digits.
        const close = theta === Math.sqrt ? 4 : 8;
        expect(integrals[n]).toBeCloseTo(simpson((t) => Math.cos(k * theta(t))), close);
      });
    }
  });

  it.each(Object.keys(laws))("sums the cosines of d/2 pairs for %s", (law) => {
    for (const dim of [2, 10, 128]) {
      const { rows } = rowsOf({ law, dim, near: 30 });
      for (const [k = 0, sum] of rows) expect(sum).toBeCloseTo(meanCosine(laws[law]!, k, dim / 2), 12);
    }
  });

  it("has the scores of the sinusoidal encoding for the paper's law", () => {
    const { rows } = rowsOf({ dim: 48, near: 60 });
    const scores = kernel(sinusoidal({ dim: 48 }), 61, { normalize: true }).data;
    rows.forEach(([k = 0, sum]) => expect(sum).toBeCloseTo(scores[k]!, 12));
  });

  it("tells how far apart they are, which falls as d grows", () => {
    const apart = [8, 32, 128, 512].map((dim) => Number(readings({ dim })["largest difference drawn"]));
    for (let i = 1; i < apart.length; i++) expect(apart[i]).toBeLessThan(apart[i - 1]! / 1.5);
    const { rows } = rowsOf({ dim: 32 });
    const most = Math.max(...rows.map(([, sum = 0, integral = 0]) => Math.abs(sum - integral)));
    expect(apart[1]).toBeCloseTo(most, 2);
  });

  it("reaches far, at whole offsets that end at the last", () => {
    for (const log of [false, true]) {
      const { rows } = rowsOf({ view: "long", far: 50_000, law: "1000^-t", dim: 64, log });
      expect(rows[0]![0]).toBe(1);
      expect(rows[rows.length - 1]![0]).toBe(50_000);
      rows.forEach(([k = 0], n) => {
        expect(Number.isInteger(k)).toBe(true);
        if (n > 0) expect(k).toBeGreaterThan(rows[n - 1]![0]!);
      });
      for (const [k = 0, sum] of rows.filter((_, n) => n % 50 === 0)) {
        expect(sum).toBeCloseTo(meanCosine(laws["1000^-t"]!, k, 32), 9);
      }
    }
  });

  it("takes a base, an exponent or samples of the reader's own", () => {
    const based = rowsOf({ law: "base^-t", base: 50, near: 20, dim: 16 });
    expect(based.header[7]).toBe("integral 50^-t");
    for (const [k = 0, sum, ...integrals] of based.rows) {
      expect(sum).toBeCloseTo(meanCosine((t) => 50 ** -t, k, 8), 12);
      expect(integrals[5]).toBeCloseTo(simpson((t) => Math.cos(k * 50 ** -t)), 8);
    }
    const powered = rowsOf({ law: "t^alpha", alpha: 3, near: 20, dim: 16 });
    for (const [k = 0, sum] of powered.rows) expect(sum).toBeCloseTo(meanCosine((t) => t ** 3, k, 8), 12);
    const sampled = rowsOf({ near: 20, dim: 8 }, [1, 0.5, 0]);
    for (const [k = 0, sum, ...integrals] of sampled.rows) {
      expect(sum).toBeCloseTo(meanCosine((t) => 1 - t, k, 4), 12);
      expect(integrals[5]).toBeCloseTo(simpson((t) => Math.cos(k * (1 - t))), 8);
    }
  });
});

it("computes nothing anew while the cursor moves over what is drawn, and little beyond that", () => {
  const sums = vi.mocked(analysis.riemannSum);
  const integrals = vi.mocked(analysis.oscillatoryIntegral);
  const attributes = { law: "t^alpha", alpha: 0.7, dim: 12 };
  const law = { law: "power", alpha: 0.7 } as const;
  for (const [view, from, to, most] of [
    ["short", 0, 128, 0],
    ["long", 5000, 5100, 8],
  ] as const) {
    const { values, model } = figureState("decay", { ...attributes, view });
    const before = [sums.mock.calls.length, integrals.mock.calls.length] as const;
    const first = (model as { from: number }).from;
    const told = Array.from({ length: to + 1 - from }, (_, i) => {
      const state = stateOf(decay, values, model, { column: from + i - first });
      if (i % 20 === 0) record(decay, state);
      return decay.readout(state).map(({ value }) => value);
    });
    expect(sums.mock.calls.length - before[0]).toBeLessThanOrEqual(most);
    expect(integrals.mock.calls.length - before[1]).toBeLessThanOrEqual(6 * most);
    told.forEach(([offset, integral, sum], i) => {
      const k = from + i;
      const read = (text: string): number => Number(text.replace("\u2212", "-"));
      expect(Number(offset!.replace(/\D/g, ""))).toBe(k);
      // Four decimals are written.
      expect(Math.abs(read(integral!) - oscillatoryIntegral(law, [k]).data[0]!)).toBeLessThan(5.1e-5);
      expect(Math.abs(read(sum!) - riemannSum(law, [k], { dim: 12 }).data[0]!)).toBeLessThan(5.1e-5);
    });
  }
});

describe("the drawing", () => {
  it("draws each integral and the sum through their values", () => {
    const state = figureState("decay", { near: 16, law: "t", dim: 16, offset: 5 });
    const back = record(decay, state);
    const { rows } = rowsOf({ near: 16, law: "t", dim: 16 });
    const sums = back.paths.filter((path) => path.length === 2 * 17);
    expect(sums).toHaveLength(1);
    const sum = sums[0]!;
    // g(0) = 1 and the value at k = 4 give the scale of the axis.
    const tall = (sum[9]! - sum[1]!) / (1 - rows[4]![1]!);
    rows.forEach(([, value = 0], k) => expect(sum[2 * k + 1]).toBeCloseTo(sum[1]! + tall * (1 - value), 6));
    const lines = back.paths.filter((path) => path.length === 2 * (16 * 32 + 1));
    expect(lines).toHaveLength(5);
    // The chosen law is drawn last.
    const chosen = lines[4]!;
    rows.forEach((row, k) => expect(chosen[64 * k + 1]).toBeCloseTo(sum[1]! + tall * (1 - row[4]!), 6));
  });

  it("reads the offset under a point, on both axes", () => {
    for (const [view, offset] of [
      ["short", 100],
      ["long", 1000],
    ] as const) {
      const back = record(decay, figureState("decay", { view, offset }));
      const cursor = back.paths.find((path) => path.length === 4 && path[0] === path[2])!;
      const from = view === "long" ? 1 : 0;
      const { column = 0 } = back.cellAt(cursor[0]!, (cursor[1]! + cursor[3]!) / 2)!;
      expect(column + from).toBe(offset);
    }
  });

  it("chooses a law by its name, and no name lies on another", () => {
    for (const width of [764, 300]) {
      for (const attributes of [{}, { view: "long" }, { view: "long", log: true }, { law: "base^-t", near: 16 }]) {
        const back = record(decay, figureState("decay", attributes), width);
        expect(overlaps(back)).toEqual([]);
        const named = textsOf(back).find(({ words }) => words === "t\u00b2")!;
        expect(back.cellAt(named.x + 4, named.y)).toEqual({ choose: { law: "t^2" } });
      }
    }
  });

  it("draws the largest size to come where sizes are asked for", () => {
    const back = record(decay, figureState("decay", { view: "long", log: true, far: 1000, dim: 8 }));
    const lines = back.paths.filter((path) => path.length > 400);
    expect(lines).toHaveLength(6);
    for (const line of lines) {
      for (let i = 3; i < line.length; i += 2) expect(line[i]).toBeGreaterThanOrEqual(line[i - 2]! - 1e-9);
    }
  });
});

describe("words and take-aways", () => {
  it("reads out offset, integral, sum and their distance", () => {
    // The integral of cos(k t) from 0 to 1 is sin(k) / k.
    const told = readings({ law: "t", dim: 4, offset: 3 });
    expect(told.integral).toBe(`+${(Math.sin(3) / 3).toFixed(4)}`);
    expect(told["sum of 2 pairs"]).toBe(`+${((1 + Math.cos(1.5)) / 2).toFixed(4)}`);
    expect(Number(told.apart)).toBeCloseTo((1 + Math.cos(1.5)) / 2 - Math.sin(3) / 3, 2);
  });

  it("gives a program that makes the same numbers", async () => {
    for (const [attributes, data] of [
      [{ near: 20, law: "t^alpha", alpha: 0.7, dim: 12 }, undefined],
      [{ view: "long", far: 300, law: "1000^-t" }, undefined],
      [{ near: 20 }, [1, 0.25, 0.125]],
    ] as const) {
      const state = figureState("decay", attributes, data);
      const { data: numbers, shape } = decay.array!(state);
      const { javascript } = decay.code!(state);
      expect(shape[0]).toBe(2);
      expect([...runCode(javascript, "integral").data, ...runCode(javascript, "sum").data]).toEqual([...numbers]);
    }
    expect(await decay.code!(figureState("decay")).numpy!()).toContain("theta = 10000.0 ** -t");
    const csv = toCsv(decay.table(figureState("decay", { near: 16 }))).split("\n");
    expect(csv[1]).toBe("0,1,1,1,1,1,1");
  });

  it("renders at its edges, and says what is wrong", () => {
    expect(renderSVG("decay", { near: 16, dim: 2 }, { width: 320 })).toContain("d\u00a0=\u00a02");
    expect(renderSVG("decay", { view: "long", far: 100, dim: 65536, offset: 100 })).toContain("k = 100");
    expect(() => figureState("decay", { dim: 7 })).toThrow("dim");
    expect(() => figureState("decay", { law: "base^-t", base: 0 })).toThrow("base");
    expect(() => figureState("decay", { law: "cos" })).toThrow("law must be one of");
    expect(() => figureState("decay", { near: 5000 })).toThrow("near must be a whole number from 16 to 1024");
  });
});
