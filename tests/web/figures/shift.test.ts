// <posenc-shift> against rotations, products and differences written again in double.
import { beforeAll, describe, expect, it } from "vitest";
import { ready, rope, sinusoidal } from "../../../web/src/index.js";
import { shift } from "../../../web/figures/shift.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { toCsv } from "../../../web/figures/take-away.js";
import { overlaps, record, runCode, textsOf } from "./drawn.js";

beforeAll(() => ready());

const readings = (attributes: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(shift.readout(figureState("shift", attributes)).map(({ label, value }) => [label, value]));
const omega = (pair: number, pairs: number, base = 10000): number => base ** (-pair / pairs);
const shown = (value: number, decimals = 4): string => {
  const digits = Math.abs(value).toFixed(decimals);
  return /[1-9]/.test(digits) ? `${value < 0 ? "\u2212" : "+"}${digits}` : digits;
};

describe("the matrix", () => {
  it.each([
    ["sinusoidal", "interleaved", 3],
    ["sinusoidal", "half", -7],
    ["rope", "interleaved", 12],
    ["rope", "half", 1],
  ])("turns each pair of %s, %s, by k times its frequency (k = %d)", (scheme, layout, k) => {
    const state = figureState("shift", { view: "matrix", scheme, layout, offset: k, dim: 12 });
    const { data, shape } = shift.array!(state);
    expect(shape).toEqual([12, 12]);
    const expected = new Float64Array(144);
    for (let i = 0; i < 6; i++) {
      const [a, b] = layout === "half" ? [i, 6 + i] : [2 * i, 2 * i + 1];
      const [c, s] = [Math.cos(k * omega(i, 6)), Math.sin(k * omega(i, 6))];
      expected[12 * a + a] = expected[12 * b + b] = c;
      // The encoding has its sine first, so it turns as a clock does.
      expected[12 * a + b] = scheme === "sinusoidal" ? s : -s;
      expected[12 * b + a] = scheme === "sinusoidal" ? -s : s;
    }
    data.forEach((value, n) => expect(value).toBeCloseTo(expected[n]!, 12));
  });

  it("is drawn whole, and read out by row and column", () => {
    const state = figureState("shift", { view: "matrix", dim: 8, row: 4, column: 5, offset: 9 });
    const back = record(shift, state);
    expect(back.operations.some((op) => / 8 x 8 signed/.test(op))).toBe(true);
    const told = readings({ view: "matrix", dim: 8, row: 4, column: 5, offset: 9 });
    expect(told).toMatchObject({ row: "4", column: "5", value: shown(Math.sin(9 * omega(2, 4))) });
  });
});

describe("one pair", () => {
  it("has the hands at t and t + k, and the numbers of the equation", () => {
    // The source's example: d = 4, one step.
    for (const [scheme, k, t, pair] of [
      ["sinusoidal", 1, 3, 0],
      ["sinusoidal", -4, 100, 1],
      ["rope", 20, 7, 1],
    ] as const) {
      const state = figureState("shift", { scheme, offset: k, position: t, pair, dim: 4 });
      const words = textsOf(record(shift, state)).map((text) => text.words);
      const at = (position: number): number[] => {
        const angle = position * omega(pair, 2);
        if (scheme === "sinusoidal") return [Math.sin(angle), Math.cos(angle)];
        return [Math.cos(angle) - Math.sin(angle), Math.cos(angle) + Math.sin(angle)];
      };
      const turn = k * omega(pair, 2);
      const sine = scheme === "sinusoidal" ? Math.sin(turn) : -Math.sin(turn);
      const numbers = [...at(t + k), Math.cos(turn), -sine, sine, Math.cos(turn), ...at(t)];
      const from = words.indexOf(shown(at(t + k)[0]!));
      const found = words.slice(from).filter((text) => /^[+\u2212]?\d\.\d{4}$/.test(text));
      expect(found).toEqual(numbers.map((value) => shown(value)));
      // M times the hand at t is the hand at t + k.
      const [a = 0, b = 0] = at(t);
      expect(Math.cos(turn) * a + sine * b).toBeCloseTo(at(t + k)[0]!, 12);
    }
  });

  it("draws the hands where the numbers say, sine to the right and cosine upwards", () => {
    const back = record(shift, figureState("shift", { position: 2, offset: 3, pair: 0, dim: 2 }));
    const axis = back.paths[0]!;
    const radius = (axis[2]! - axis[0]!) / 2;
    const lines = back.paths.filter((path) => path.length === 4 && path[1] !== path[3]);
    const hands = lines.filter((path) => path[0] === axis[0]! + radius);
    const ends = hands.map((hand) => [(hand[2]! - hand[0]!) / radius, (hand[1]! - hand[3]!) / radius]);
    for (const position of [2, 5]) {
      const hit = ends.some(
        ([x, y]) => Math.abs(x! - Math.sin(position)) < 1e-9 && Math.abs(y! - Math.cos(position)) < 1e-9,
      );
      expect(hit, `t = ${position}`).toBe(true);
    }
  });

  it("has errors of rounding alone at all positions", () => {
    for (const [scheme, positions, offset] of [
      ["sinusoidal", 4096, 64],
      ["rope", 300, 0.5],
    ] as const) {
      const { data, shape } = shift.array!(figureState("shift", { scheme, positions, offset, dim: 32 }));
      expect(shape).toEqual([positions]);
      expect(Math.max(...data)).toBeGreaterThan(0);
      expect(Math.max(...data)).toBeLessThanOrEqual(32 * 2 ** -52 * 2);
    }
  });

  it("reads the position under a point of the error, and moves by pairs the other way", () => {
    const state = figureState("shift", { positions: 64, position: 40 });
    const back = record(shift, state);
    const cursor = back.paths.filter((path) => path.length === 4 && path[0] === path[2] && path[1] !== path[3]).at(-1)!;
    expect(back.cellAt(cursor[0]!, cursor[1]! + 30)).toEqual({ row: 40 });
    const cells = shift.cells!(state);
    expect([cells.row?.name, cells.column?.name, cells.transposed]).toEqual(["position", "pair", true]);
    expect(cells.column?.count).toBe(8);
  });

  it("lays no words on others, however the hands stand", () => {
    for (const width of [840, 640, 300]) {
      for (const [offset, position] of [
        [5, 3],
        [0, 3],
        [-1, 63],
        [64, 17],
      ]) {
        const back = record(shift, figureState("shift", { offset, position, pair: 0 }), width);
        expect(overlaps(back), `${width} ${offset} ${position}`).toEqual([]);
      }
    }
  });
});

describe("words and take-aways", () => {
  it("reads out t, t + k, the turn and the errors", () => {
    const told = readings({ position: 10, offset: -3, pair: 2, dim: 8 });
    expect(told).toMatchObject({ t: "10", "t + k": "7", pair: "2" });
    expect(told["turned by"]).toBe(shown((-3 * omega(2, 4)) / (2 * Math.PI)));
    expect(shift.title(figureState("shift", { offset: -3 }))).toContain("moved by \u22123");
  });

  it("gives programs that make the same numbers", () => {
    for (const attributes of [
      { scheme: "sinusoidal", order: "cos-sin", dim: 6 },
      { scheme: "rope", layout: "half", offset: 11, dim: 8, base: 500 },
      { scheme: "rope", "scaling-type": "dynamic", positions: 3000, offset: 40, dim: 8 },
    ]) {
      const state = figureState("shift", attributes);
      const { javascript } = shift.code!(state);
      expect([...runCode(javascript, "error").data]).toEqual([...shift.array!(state).data]);
      const whole = figureState("shift", { ...attributes, view: "matrix" });
      expect([...runCode(javascript, "matrix").data]).toEqual([...shift.array!(whole).data]);
    }
    const lines = toCsv(shift.table(figureState("shift", { dim: 2, positions: 3, offset: 1 }))).split("\n");
    expect(lines[0]).toBe("t,p(t) 0,p(t) 1,p(t + k) 0,p(t + k) 1,largest error");
    expect(lines[1]!.split(",").slice(0, 4).map(Number)).toEqual([0, 0, 1, expect.closeTo(Math.sin(1), 14)]);
  });

  it("takes a scheme as data, and says what has no such matrix", () => {
    const own = sinusoidal({ dim: 4, frequencies: [1, 0.5] });
    const { data } = shift.array!(figureState("shift", { view: "matrix", offset: 2 }, own));
    expect(data[10]).toBeCloseTo(Math.cos(1), 14);
    const partial = rope({ dim: 8, rotaryDim: 4 });
    expect(shift.cells!(figureState("shift", {}, partial)).column?.count).toBe(2);
    expect(() => figureState("shift", { scheme: "xpos" })).toThrow("scheme must be one of sinusoidal, rope");
    expect(() => figureState("shift", { dim: 7 })).toThrow();
    expect(() => figureState("shift", { view: "matrix", dim: 2050 })).toThrow("dim must be a whole number up to 2048");
    const whole = (): unknown => figureState("shift", { view: "matrix" }, sinusoidal({ dim: 2050 }));
    expect(whole).toThrow("of at most 2048 columns");
    const wide = figureState("shift", { dim: 8192, positions: 5, pair: 4095 });
    expect(shift.array!(wide).shape).toEqual([5]);
    expect(shift.cells!(wide).column?.count).toBe(4096);
    expect(() => figureState("shift", { positions: 5000 })).toThrow("positions must be a whole number from 1 to 4096");
    expect(renderSVG("shift", { positions: 1, dim: 2 }, { width: 320, theme: "dark" })).toContain("t = 0");
    expect(renderSVG("shift", { offset: 2 ** 40, position: 9, view: "matrix", dim: 2 })).toContain("M(k)");
  });
});
