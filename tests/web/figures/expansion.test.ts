// <posenc-expansion> against products of rows and sums of cosines written again in double, and against the laws that
// the terms of an expansion obey.
import { beforeAll, describe, expect, it } from "vitest";
import { randomNormal, ready, sinusoidal, taylor } from "../../../web/src/index.js";
import { expansion } from "../../../web/figures/expansion.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { overlaps, record, runCode } from "./drawn.js";

beforeAll(() => ready());

const readings = (attributes: Record<string, unknown>, data?: unknown): Record<string, string> =>
  Object.fromEntries(expansion.readout(figureState("expansion", attributes, data)).map((r) => [r.label, r.value]));

const omega = (pair: number, dim: number): number => 10000 ** ((-2 * pair) / dim);
const rowAt = (position: number, dim: number): number[] =>
  Array.from({ length: dim }, (_, c) => {
    const angle = position * omega(Math.floor(c / 2), dim);
    return c % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
  });

// value, m - n part, m + n part, rest, by the sums of the source.
function partsAt(h: readonly (readonly number[])[], m: number, n: number): number[] {
  const dim = h.length;
  const [p, q] = [rowAt(m, dim), rowAt(n, dim)];
  let [value, relative, absolute, rest] = [0, 0, 0, 0];
  h.forEach((row, a) =>
    row.forEach((entry, b) => {
      value += entry * p[a]! * q[b]!;
      if (a !== b) rest += entry * p[a]! * q[b]!;
    }),
  );
  for (let i = 0; i < dim / 2; i++) {
    const [sine, cosine] = [h[2 * i]![2 * i]!, h[2 * i + 1]![2 * i + 1]!];
    relative += ((cosine + sine) / 2) * Math.cos((m - n) * omega(i, dim));
    absolute += ((cosine - sine) / 2) * Math.cos((m + n) * omega(i, dim));
  }
  return [value, relative, absolute, rest];
}

function checkParts(attributes: Record<string, unknown>, h: readonly (readonly number[])[], data?: unknown): void {
  const positions = 9;
  const { data: all, shape } = expansion.array!(figureState("expansion", { ...attributes, positions }, data));
  expect(shape).toEqual([4, positions, positions]);
  for (let m = 0; m < positions; m++) {
    for (let n = 0; n < positions; n++) {
      partsAt(h, m, n).forEach((value, part) =>
        expect(all[(part * positions + m) * positions + n]).toBeCloseTo(value, 11),
      );
    }
  }
}

const diagonalOf = (values: ArrayLike<number>): number[][] =>
  Array.from(values, (value, i) => Array.from(values, (_, j) => (i === j ? value : 0)));

describe("the parts", () => {
  it("see m - n alone for the identity", () => {
    checkParts({ h: "identity", dim: 8 }, diagonalOf(Array<number>(8).fill(1)));
    expect(expansion.caption(figureState("expansion", { h: "identity" }))).toContain(
      "Only m\u00a0\u2212\u00a0n counts",
    );
    expect(readings({ h: "identity", m: 5, n: 5, dim: 12 })["m \u2212 n part"]).toBe("+6.0000");
  });

  it("see m - n alone for a diagonal that is equal in pairs, and m + n too for another", () => {
    const dealt = randomNormal(8, { seed: 7, mean: 1, std: 0.8 }).data;
    checkParts({ h: "diagonal", dim: 8, seed: 7, spread: 0.8 }, diagonalOf(dealt));
    const paired = Array.from(dealt, (_, c) => dealt[Math.floor(c / 2)]!);
    checkParts({ h: "paired", dim: 8, seed: 7, spread: 0.8 }, diagonalOf(paired));
    const caption = (h: string): string => expansion.caption(figureState("expansion", { h, seed: 7 }));
    expect(caption("paired")).toContain("the m\u00a0+\u00a0n part 0, the rest 0.");
    expect(caption("diagonal")).not.toContain("the m\u00a0+\u00a0n part 0,");
    expect(caption("diagonal")).toContain("the rest 0.");
  });

  it("see neither for what stands off the diagonal of a general one", () => {
    const diagonal = randomNormal(6, { seed: 2, mean: 1, std: 0.5 }).data;
    const around = randomNormal([6, 6], { seed: 3, std: 0.4 }).tolist() as number[][];
    const h = around.map((row, i) => row.map((value, j) => (i === j ? diagonal[i]! : value)));
    checkParts({ h: "general", dim: 6, seed: 2, spread: 0.5, off: 0.4 }, h);
    expect(expansion.caption(figureState("expansion", { h: "general" }))).toContain(
      "neither m\u00a0\u2212\u00a0n nor m\u00a0+\u00a0n",
    );
  });

  it("are taken of a matrix of one's own, whole or its diagonal", () => {
    const h = [
      [2, 1, 0, 0],
      [0, 1, 0, -1],
      [0, 3, 1, 0],
      [0, 0, 0, 5],
    ];
    checkParts({ dim: 4 }, h, h);
    checkParts({ dim: 4 }, diagonalOf([1, 2, 3, 4]), [1, 2, 3, 4]);
    expect(expansion.title(figureState("expansion", { dim: 4 }, h))).toContain("for your own H");
    expect(() => figureState("expansion", { dim: 8 }, h)).toThrow("h must be of shape [8, 8] or [8]");
  });

  it("draws four maps with the cursor in each, and the row of m below", () => {
    for (const width of [840, 300]) {
      const state = figureState("expansion", { h: "general", m: 20, n: 6 });
      const back = record(expansion, state, width);
      const maps = back.operations.filter((op) => / 32 x 32 signed/.test(op));
      expect(maps).toHaveLength(4);
      expect(overlaps(back)).toEqual([]);
      for (const map of maps) {
        const [, x = 0, y = 0, side = 0] = /heatMap ([\d.]+),([\d.]+) ([\d.]+)x/.exec(map)!.map(Number);
        expect(back.cellAt(x + (6.5 * side) / 32, y + (20.5 * side) / 32)).toEqual({ row: 20, column: 6 });
      }
      const lines = back.paths.filter((path) => path.length === 2 * 32);
      expect(lines).toHaveLength(4);
      // The drawn sum is that of the drawn parts: heights over a common zero.
      const { data } = expansion.array!(state);
      const heights = [3, 2, 1, 0].map((part) => (n: number) => data[(part * 32 + 20) * 32 + n]!);
      const span = lines[3]![1]! - lines[3]![11]!;
      const unit = span / (heights[3]!(5) - heights[3]!(0));
      lines.forEach((line, k) => {
        for (let n = 0; n < 32; n++) {
          const expected = lines[3]![1]! - unit * (heights[k]!(n) - heights[3]!(0));
          expect(line[2 * n + 1]).toBeCloseTo(expected, 5);
        }
      });
    }
  });
});

describe("the six terms", () => {
  const terms = { view: "terms", positions: 12, dim: 8, seed: 5, m: 4, n: 9 };
  const columnOf = (name: string): number[] => {
    const { header, rows, cell } = expansion.table(figureState("expansion", terms));
    const c = header.indexOf(name);
    expect(c).toBeGreaterThanOrEqual(0);
    return Array.from({ length: rows }, (_, r) => Number(cell(r, c)));
  };

  it("add up to the model but for what is left over", () => {
    const state = figureState("expansion", terms);
    const { data, shape } = expansion.array!(state);
    expect(shape).toEqual([81, 6]);
    const [value, remainder] = [columnOf("model"), columnOf("remainder")];
    value.forEach((whole, r) => {
      const sum = Array.from({ length: 6 }, (_, c) => data[6 * r + c]!).reduce((a, b) => a + b, 0);
      expect(sum + remainder[r]!).toBeCloseTo(whole, 12);
    });
    const direct = taylor({ tokens: 12, dim: 8, seed: 5, scales: [0.1, 10], positions: [4, 9] });
    expect([...data.slice(240, 246)]).toEqual([...direct.terms.data.slice(0, 6)]);
    expect([...data.slice(480)]).toEqual([...direct.terms.data.slice(6)]);
  });

  it("grow with the first and second power of the scale, and what is left over with the third", () => {
    const { data } = expansion.array!(figureState("expansion", terms));
    const scale = columnOf("scale");
    expect([scale[0], scale[20], scale[40], scale[80]]).toEqual([0.001, 0.01, 0.1, 10]);
    [0, 1, 1, 2, 2, 2].forEach((power, c) => {
      for (const r of [20, 60, 80]) expect(data[6 * r + c]! / data[c]!).toBeCloseTo((scale[r]! / 0.001) ** power, 4);
    });
    const remainder = columnOf("remainder");
    const ratio = remainder[40]! / remainder[20]!;
    expect(ratio).toBeGreaterThan(700);
    expect(ratio).toBeLessThan(1400);
  });

  it("need two positions: where they are the same, the second gives way", () => {
    const title = (m: number, n: number): string => expansion.title(figureState("expansion", { ...terms, m, n }));
    expect(title(4, 4)).toContain("p at 4 and 5");
    expect(title(11, 11)).toContain("p at 11 and 10");
    expect(() => title(40, 2)).toThrow("m must be a whole number from 0 to 11");
    const { values } = figureState("expansion", { view: "terms" });
    expect([values.m, values.n]).toEqual([19, 8]);
  });

  it("draws a line for each and reads the scale under a point", () => {
    for (const width of [840, 300]) {
      const state = figureState("expansion", { ...terms, step: 33 });
      const back = record(expansion, state, width);
      expect(back.paths.filter((path) => path.length === 2 * 81)).toHaveLength(7);
      expect(overlaps(back)).toEqual([]);
      const cursor = back.paths.find((path) => path.length === 4 && path[0] === path[2] && path[1] !== path[3])!;
      expect(back.cellAt(cursor[0]!, cursor[1]! + 50)).toEqual({ column: 33 });
    }
    expect(readings({ ...terms, step: 40 }).scale).toBe("0.1");
  });
});

describe("take-aways", () => {
  it("gives programs that make the same numbers", async () => {
    for (const h of ["identity", "paired", "diagonal", "general"]) {
      const state = figureState("expansion", { h, dim: 8, positions: 5, seed: 3, spread: 0.7, off: 0.2 });
      const { javascript, numpy } = expansion.code!(state);
      const found = runCode(javascript, "[value, relative, absolute, rest].flatMap((part) => [...part.data])");
      expect(found).toEqual([...expansion.array!(state).data]);
      expect(await numpy!()).toContain("value = p @ H @ p.T");
    }
    const state = figureState("expansion", { view: "terms", positions: 6, dim: 4 });
    expect([...runCode(expansion.code!(state).javascript, "terms").data]).toEqual([...expansion.array!(state).data]);
  });

  it("takes a scheme as data, and renders at its edges", () => {
    const halves = sinusoidal({ dim: 6, layout: "half" });
    expect(expansion.title(figureState("expansion", {}, halves))).toContain("d\u00a0=\u00a06");
    expect(expansion.caption(figureState("expansion", { h: "paired" }, halves))).toContain(
      "the m\u00a0+\u00a0n part 0,",
    );
    expect(renderSVG("expansion", { positions: 2, dim: 2 }, { width: 320, theme: "dark" })).toContain("n = 0");
    expect(renderSVG("expansion", { positions: 2, dim: 2, view: "terms" }, { width: 320 })).toContain("left over");
    expect(() => figureState("expansion", { dim: 5 })).toThrow();
    expect(() => figureState("expansion", { positions: 1 })).toThrow("positions must be a whole number from 2 to 256");
    expect(() => figureState("expansion", { h: "full" })).toThrow("h must be one of");
  });
});
