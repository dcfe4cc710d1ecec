// <posenc-bias> against ALiBi written down again in double, and its lines and labels as recorded.
import { beforeAll, describe, expect, it } from "vitest";
import { alibi, randomNormal, ready, swin, toeplitz } from "../../../web/src/index.js";
import { bias } from "../../../web/figures/bias.js";
import { allFields } from "../../../web/figures/figure.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { toCsv } from "../../../web/figures/take-away.js";
import { overlaps, record, runCode, textsOf } from "./drawn.js";

beforeAll(() => ready());

const slope = (head: number, heads: number): number => 2 ** ((-8 * head) / heads);
const readings = (attributes: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(bias.readout(figureState("bias", attributes)).map(({ label, value }) => [label, value]));

describe("a lying legend", () => {
  it("keeps its numbers apart, and has none in the middle where that is not so", () => {
    for (const [attributes, middle] of [[{}, true], [{ positions: 4, heads: 1 }, false]] as const) {
      const back = record(bias, figureState("bias", attributes), 264);
      const numbers = textsOf(back).filter(({ y }, _, all) => y === Math.max(...all.map((text) => text.y)));
      expect(numbers.length).toBe(middle ? 3 : 2);
      const wide = numbers.map(({ words }) => back.textWidth(words, { size: 11 }));
      const part = (how: string): number => (how.includes("middle") ? 0.5 : how.includes("end") ? 1 : 0);
      const left = numbers.map(({ x, how }, n) => x - wide[n]! * part(how));
      for (let n = 1; n < left.length; n++) expect(left[n]! - left[n - 1]! - wide[n - 1]!).toBeGreaterThan(5);
    }
  });
});

describe("matrix", () => {
  it.each([
    [1, false],
    [3, false],
    [8, true],
  ])("holds -m |i - j| of head %d (causal: %s)", (head, causal) => {
    const state = figureState("bias", { head, causal, positions: 12 });
    const { data, shape } = bias.array!(state);
    expect(shape).toEqual([12, 12]);
    for (let i = 0; i < 12; i++) {
      for (let j = 0; j < 12; j++) {
        const value = data[i * 12 + j]!;
        if (causal && j > i) expect(value).toBe(-Infinity);
        else expect(value).toBeCloseTo(-slope(head, 8) * Math.abs(i - j), 10);
      }
    }
  });

  it("hangs the bars of the row from zero, as long as the values", () => {
    const back = record(bias, figureState("bias", { positions: 16, query: 15, key: 4, head: 1 }));
    const bars = back.operations.filter((op) => op.startsWith("rect") && op.includes("fill=accent"));
    const tall = bars.map((op) => Number(/x([\d.]+) fill/.exec(op)![1]));
    expect(tall).toHaveLength(15); // the query's own key has none
    tall.forEach((height, j) => expect(Math.abs(height - (56 * (15 - j)) / 15)).toBeLessThan(0.06));
    const tops = new Set(bars.map((op) => /^rect [\d.]+,([\d.]+)/.exec(op)![1]));
    expect(tops.size).toBe(1);
  });

  it("keeps one colour scale for all heads unless told otherwise", () => {
    const scale = (attributes: Record<string, unknown>): string[] =>
      textsOf(record(bias, figureState("bias", { positions: 9, ...attributes })))
        .slice(-3)
        .map(({ words }) => words);
    expect(scale({ head: 8 })).toEqual(["\u22124", "\u22122", "0"]);
    expect(scale({ head: 8, common: false })).toEqual(["\u22120.0313", "\u22120.0156", "0"]);
  });

  it.each([764, 300])("reads the cell under a point, %d pixels wide", (width) => {
    const back = record(bias, figureState("bias", { positions: 20 }), width);
    const [, x = 0, y = 0, w = 0, h = 0] = /heatMap ([\d.]+),([\d.]+) ([\d.]+)x([\d.]+) 20 x 20/
      .exec(back.operations.find((op) => op.startsWith("heatMap"))!)!
      .map(Number);
    for (const [row, column] of [
      [0, 0],
      [19, 19],
      [7, 3],
    ] as const) {
      expect(back.cellAt(x + ((column + 0.5) * w) / 20, y + ((row + 0.5) * h) / 20)).toEqual({ row, column });
    }
  });
});

describe("profiles", () => {
  it("draws one line a head, through the values", () => {
    const state = figureState("bias", { view: "profiles", positions: 10, heads: 4, head: 2 });
    const lines = record(bias, state).paths.filter((path) => path.length === 2 * 19);
    expect(lines).toHaveLength(4);
    // The chosen head is drawn last.
    const order = [1, 3, 4, 2];
    const scale = Math.max(...lines[0]!.filter((_, i) => i % 2)) - Math.min(...lines[0]!.filter((_, i) => i % 2));
    lines.forEach((line, k) => {
      for (let at = 0; at < 19; at++) {
        const drop = (line[2 * at + 1]! - line[2 * 9 + 1]!) / scale;
        expect(drop).toBeCloseTo((slope(order[k]!, 4) * Math.abs(at - 9)) / (slope(1, 4) * 9), 6);
      }
    });
  });

  it("names every line with its slope, and no name lies on another", () => {
    // What the authors' code has for 12 heads.
    const golden = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.01563, 0.007813, 0.003906, 0.7071, 0.3536, 0.1768, 0.08839];
    for (const width of [764, 300]) {
      for (const causal of [true, false]) {
        const back = record(bias, figureState("bias", { view: "profiles", heads: 12, causal }), width);
        const names = textsOf(back)
          .map(({ words }) => words)
          .filter((words) => words.startsWith("head"));
        const wanted = golden.map((m, h) => (width > 500 ? `head ${h + 1}, slope ${m}` : `head ${h + 1}`));
        expect(names).toEqual(wanted);
        expect(overlaps(back)).toEqual([]);
      }
    }
  });

  it("says that the slopes are a geometric series only where they are", () => {
    const caption = (attributes: Record<string, unknown>): string =>
      bias.caption(figureState("bias", { view: "profiles", ...attributes }));
    expect(caption({ heads: 8 })).toContain("each is 0.5 times the one before, from 0.5 to 0.003906");
    expect(caption({ heads: 12 })).toContain("differ from head to head, from 0.7071 to 0.003906");
    expect(caption({ heads: 12, rule: "geometric" })).toContain("each is 0.63 times the one before");
  });

  it("moves from head to head and reads the line under a point", () => {
    const state = figureState("bias", { view: "profiles", head: 3, offset: -4 });
    expect([state.row, state.column]).toEqual([2, 27]);
    const back = record(bias, state);
    const line = back.paths.filter((path) => path.length === 2 * 63)[0]!;
    expect(back.cellAt(line[0]! + 1, line[1]! - 2)).toEqual({ row: 0, column: 0 });
  });
});

describe("words and take-aways", () => {
  it("reads out query, key, offset, bias and slope", () => {
    expect(readings({ query: 20, key: 12, head: 2 })).toEqual({
      query: "20",
      key: "12",
      "key \u2212 query": "\u22128",
      bias: "\u22122.0000",
      slope: "0.25",
    });
    expect(readings({ query: 3, key: 12, causal: true }).bias).toBe("masked");
    expect(readings({ view: "profiles", head: 9, heads: 12, offset: -2 })).toEqual({
      head: "9",
      "key \u2212 query": "\u22122",
      bias: "\u22121.4142",
      slope: "0.7071",
    });
  });

  it("refuses a head that there is not", () => {
    expect(() => figureState("bias", { heads: 4, head: 8 })).toThrow("head must be a whole number from 1 to 4, got 8.");
    expect(bias.title(figureState("bias", { heads: 16, head: 12 }))).toContain("head 12\u00a0of\u00a016");
  });

  it("takes a scheme as data", async () => {
    const state = figureState("bias", { positions: 4 }, alibi({ heads: 2, slopes: [3, 5], symmetric: false }));
    expect([...bias.array!(state).data]).toEqual([0, 0, 0, 0, -3, 0, 0, 0, -6, -3, 0, 0, -9, -6, -3, 0]);
    expect(await bias.code!(state).numpy!()).toBeUndefined();
    const { javascript } = bias.code!(state);
    expect(javascript).toContain("slopes: ");
    expect([...runCode(javascript, "b").data]).toEqual([0, 0, 0, 0, -3, 0, 0, 0, -6, -3, 0, 0, -9, -6, -3, 0]);
  });

  it("draws the cells of a grid for schemes of two axes", () => {
    const scheme = swin({ window: 3, windowWidth: 2, heads: 2, seed: 4 });
    const state = figureState("bias", { cells: "3 2", head: 2, query: 5, key: 0 }, scheme);
    const { data, shape } = bias.array!(state);
    expect(shape).toEqual([6, 6]);
    const table = scheme.table === null ? randomNormal([15, 2], { seed: 4, std: 0.02 }).data : scheme.table.data;
    for (let i = 0; i < 6; i++) {
      for (let j = 0; j < 6; j++) {
        const [dy, dx] = [Math.floor(i / 2) - Math.floor(j / 2), (i % 2) - (j % 2)];
        expect(data[6 * i + j]).toBe(table[2 * ((dy + 2) * 3 + dx + 1) + 1]);
      }
    }
    expect([...runCode(bias.code!(state).javascript, "b").data]).toEqual([...data]);
    expect(bias.readout(state).find(({ label }) => label === "key \u2212 query")?.value).toBe("(\u22122, \u22121)");
    for (const cells of ["7", "0 3", "3 x", "2.5 2", "100 100"])
      expect(() => figureState("bias", { cells }, scheme)).toThrow("cells must be a height and a width");
  });

  it("seeds the table of Toeplitz for its heads and positions, and says so until it is given one", () => {
    const numbers = new Map<string, readonly number[]>();
    for (const [seed, heads, positions] of [
      [0, 8, 32],
      [7, 3, 5],
      [8, 3, 5],
    ] as const) {
      const state = figureState("bias", { scheme: "toeplitz", seed, heads, positions, head: heads });
      const { data, shape } = bias.array!(state);
      expect(shape).toEqual([positions, positions]);
      // One value a diagonal, all of them different.
      const along = new Map<number, number>();
      data.forEach((value, at) => {
        const offset = (at % positions) - Math.floor(at / positions);
        expect(value).toBe(along.get(offset) ?? value);
        along.set(offset, value);
      });
      expect(new Set(along.values()).size).toBe(2 * positions - 1);
      expect(bias.title(state)).toContain(`head ${heads}\u00a0of\u00a0${heads}`);
      expect(bias.caption(state)).toMatch(/^The scheme\u2019s numbers are random until .* is given as data\. Only the/);
      const { javascript } = bias.code!(state);
      expect(javascript).toContain(`randomNormal([${heads}, ${2 * positions - 1}], { seed: `);
      expect([...runCode(javascript, "b").data]).toEqual([...data]);
      numbers.set(`${seed}`, [...data]);
      const profiles = figureState("bias", { scheme: "toeplitz", seed, heads, positions, view: "profiles" });
      const of = bias.array!(profiles);
      expect(of.shape).toEqual([heads, 2 * positions - 1]);
      const last = of.data.slice((heads - 1) * (2 * positions - 1));
      expect([...last]).toEqual([...along].sort(([a], [b]) => a - b).map(([, value]) => value));
      expect([...runCode(bias.code!(profiles).javascript, "b").data]).toEqual([...of.data]);
    }
    expect(numbers.get("7")).not.toEqual(numbers.get("8"));
    const given = figureState("bias", { positions: 2 }, toeplitz({ values: [[3, 1, 2]] }));
    expect([...bias.array!(given).data]).toEqual([1, 2, 3, 1]);
    expect(bias.caption(given)).toMatch(/^Only the offset counts/);
    expect(bias.caption(figureState("bias"))).toMatch(/^Only the offset counts/);
  });

  it("has the cells of its window for Swin where no others are asked for, and no profiles", () => {
    for (const view of ["matrix", "profiles"]) {
      const window = { window: 3, windowWidth: 2 };
      const state = figureState("bias", { scheme: "swin", ...window, seed: 4, heads: 2, head: 2, view });
      const { data, shape } = bias.array!(state);
      expect(shape).toEqual([6, 6]);
      const table = randomNormal([15, 2], { seed: 4, std: 0.02 }).data;
      for (let i = 0; i < 6; i++) {
        for (let j = 0; j < 6; j++) {
          const [dy, dx] = [Math.floor(i / 2) - Math.floor(j / 2), (i % 2) - (j % 2)];
          expect(data[6 * i + j]).toBe(table[2 * ((dy + 2) * 3 + dx + 1) + 1]);
        }
      }
      expect([...runCode(bias.code!(state).javascript, "b").data]).toEqual([...data]);
      expect(bias.caption(state)).toContain("are the cells of a grid of 3 by 2");
      expect(bias.tabs!(state.values, state.model)!.choices.map(({ value }) => value)).toEqual(["matrix"]);
      expect(allFields(bias, state.values, state.model).find(({ name }) => name === "positions")!.place).toBe("none");
    }
    // Of a large window, the cells that can be drawn.
    expect(bias.array!(figureState("bias", { scheme: "swin", window: 40 })).shape).toEqual([256, 256]);
    expect(bias.array!(figureState("bias", { scheme: "swin", cells: "2 7" })).shape).toEqual([14, 14]);
  });

  it("gives programs that make the same numbers", async () => {
    for (const [view, causal] of [
      ["matrix", false],
      ["matrix", true],
      ["profiles", false],
      ["profiles", true],
    ] as const) {
      const state = figureState("bias", { view, causal, positions: 7, heads: 6, head: 5, rule: "geometric" });
      const { javascript, numpy } = bias.code!(state);
      expect([...runCode(javascript, "b").data]).toEqual([...bias.array!(state).data]);
      expect(await numpy!()).toContain("slopes = np.array([0.3968502");
    }
    const csv = toCsv(bias.table(figureState("bias", { positions: 3, causal: true })))
      .trim()
      .split("\n");
    expect(csv).toEqual(["query,key 0,key 1,key 2", "0,0,,", "1,-0.5,0,", "2,-1,-0.5,0"]);
  });

  it("renders without a document, and says what is wrong", () => {
    expect(renderSVG("bias", { view: "profiles" }, { theme: "dark", width: 320 })).toContain("head 8");
    expect(() => figureState("bias", { heads: 0 })).toThrow("heads must be");
    expect(() => figureState("bias", { scheme: "alibu" })).toThrow("alibu");
  });
});
