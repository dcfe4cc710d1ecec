// <posenc-grid> against sums of cosines written down again, for each scheme that places patches.
import { beforeAll, describe, expect, it } from "vitest";
import * as posenc from "../../../web/src/index.js";
import { axialRope, randomNormal, ready, tensor } from "../../../web/src/index.js";
import { toNpy } from "../../../web/src/files.js";
import { grid } from "../../../web/figures/grid.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { readTable } from "../../../web/figures/table-file.js";
import { overlaps, record, textsOf } from "./drawn.js";

beforeAll(() => ready());

const readings = (attributes: Record<string, unknown>, data?: unknown): Record<string, string> =>
  Object.fromEntries(grid.readout(figureState("grid", attributes, data)).map(({ label, value }) => [label, value]));
const cellsOf = (attributes: Record<string, unknown>, data?: unknown): number[][] => {
  const table = grid.table(figureState("grid", attributes, data));
  return Array.from({ length: table.rows }, (_, r) =>
    Array.from({ length: table.header.length - 1 }, (_, c) => Number(table.cell(r, c + 1))),
  );
};
// The mean of cos(base^(-k / count) x) over k.
const meanCosine = (count: number, base: number, x: number): number =>
  Array.from({ length: count }, (_, k) => Math.cos(base ** (-k / count) * x)).reduce((sum, v) => sum + v, 0) / count;

describe("similarity", () => {
  it.each([300, 640, 764])("draws the dimension of its control, %d pixels wide", (width) => {
    const drawnOf = (dimension: number) => record(grid, figureState("grid", { dimension }), width);
    const words = (back: ReturnType<typeof drawnOf>): string[] => textsOf(back).map((text) => text.words);
    expect(words(drawnOf(5))).toContain("dimension 5 over the image");
    expect(words(drawnOf(0))).toContain("dimension 0 over the image");
    const maps = [0, 5].map((dimension) => drawnOf(dimension).operations.filter((op) => op.startsWith("heatMap")));
    expect(maps[0]).not.toEqual(maps[1]);
    // A range stays in its line.
    expect(words(drawnOf(0)).some((line) => line.includes("from\u00a0\u22121\u00a0to\u00a01"))).toBe(true);
  });

  it.each([
    ["sinusoidal2d", (dr: number, dc: number) => (meanCosine(8, 1e4, dr) + meanCosine(8, 1e4, dc)) / 2],
    ["axialRope", (dr: number, dc: number) => (meanCosine(8, 1e4, dr) + meanCosine(8, 1e4, dc)) / 2],
    ["sinusoidal", (dr: number, dc: number) => meanCosine(16, 1e4, 5 * dr + dc)],
    ["rope", (dr: number, dc: number) => meanCosine(16, 1e4, 5 * dr + dc)],
  ] as const)("of %s depends on the steps between patches as it should", (scheme, law) => {
    const cells = cellsOf({ scheme, dim: 32, rows: 4, columns: 5, row: 1, column: 2 });
    expect(cells).toHaveLength(4);
    cells.forEach((line, r) => line.forEach((value, c) => expect(value).toBeCloseTo(law(r - 1, c - 2), 6)));
  });

  it("of Fourier features is the product's sum over levels", () => {
    // [sin, cos](2^l pi x) of both axes: the dot product is the sum of cos(2^l pi dx) + cos(2^l pi dy).
    const cells = cellsOf({ scheme: "fourier", levels: 2, rows: 3, columns: 3, row: 0, column: 0, metric: "dot" });
    const own = cells[0]![0]!;
    expect(own).toBeCloseTo(4, 6);
    const at = (x: number): number => Math.cos(Math.PI * x) + Math.cos(2 * Math.PI * x);
    cells.forEach((line, r) => line.forEach((value, c) => expect(value).toBeCloseTo(at(r) + at(c), 5)));
  });

  it("has dot products and distances too", () => {
    const shape = { dim: 16, rows: 3, columns: 4, row: 2, column: 0 };
    const cosine = cellsOf(shape);
    const dot = cellsOf({ ...shape, metric: "dot" });
    const far = cellsOf({ ...shape, metric: "euclidean" });
    cosine.forEach((line, r) =>
      line.forEach((value, c) => {
        expect(dot[r]![c]).toBeCloseTo(8 * value, 5);
        expect(far[r]![c]).toBeCloseTo(Math.sqrt(16 - 16 * value), 3);
      }),
    );
  });

  it("draws the map of the patch under the cursor, its colours the same for all patches", () => {
    const state = figureState("grid", { rows: 5, columns: 8, row: 4, column: 7 });
    const back = record(grid, state);
    expect(back.operations.some((op) => /^heatMap .* 5 x 8 amount/.test(op))).toBe(true);
    const scale = (row: number): unknown =>
      (figureState("grid", { rows: 5, columns: 8, row }).model as { scale: unknown }).scale;
    expect(scale(0)).toEqual(scale(4));
    const [, x = 0, y = 0, w = 0, h = 0] = /heatMap ([\d.]+),([\d.]+) ([\d.]+)x([\d.]+) 5 x 8/
      .exec(back.operations.find((op) => op.startsWith("heatMap"))!)!
      .map(Number);
    // Patches are square.
    expect(w / 8 / (h / 5)).toBeCloseTo(1, 1);
    expect(back.cellAt(x + (2.5 * w) / 8, y + (3.5 * h) / 5)).toEqual({ row: 3, column: 2 });
  });
});

describe("dimensions", () => {
  it("follow one axis each in the 2-D encoding", () => {
    const cells = cellsOf({ view: "dimensions", dim: 16, rows: 3, columns: 4, dimension: 0 });
    // The first half of the columns belongs to the axis that runs along the row.
    cells.forEach((line) => line.forEach((value, c) => expect(value).toBeCloseTo(Math.sin(c), 6)));
    const second = cellsOf({ view: "dimensions", dim: 16, rows: 3, columns: 4, dimension: 12 });
    second.forEach((line, r) => line.forEach((value) => expect(value).toBeCloseTo(Math.cos(r), 6)));
    const summary = grid.summary(figureState("grid", { view: "dimensions", dim: 16, rows: 3, columns: 4 }));
    expect(summary).toContain("8 follow the row alone, 8 the column alone");
    expect(grid.summary(figureState("grid", { view: "dimensions", scheme: "sinusoidal", dim: 16 }))).toContain(
      "0 follow the row alone, 0 the column alone",
    );
  });

  it("are tiles that a click chooses", () => {
    const state = figureState("grid", { view: "dimensions", dim: 8, rows: 2, columns: 2, dimension: 3 });
    const back = record(grid, state);
    const tiles = back.operations.filter((op) => /^heatMap .* 2 x 2 signed/.test(op));
    expect(tiles).toHaveLength(8);
    const [, x = 0, y = 0, w = 0, h = 0] = /heatMap ([\d.]+),([\d.]+) ([\d.]+)x([\d.]+)/.exec(tiles[5]!)!.map(Number);
    expect(back.cellAt(x + 0.75 * w, y + 0.25 * h)).toEqual({ row: 0, column: 1, choose: { dimension: 5 } });
    // More than there is room for are thinned, the chosen one among them.
    const many = figureState("grid", { view: "dimensions", dim: 512, rows: 2, columns: 2, dimension: 77 });
    const words = textsOf(record(grid, many)).map((text) => text.words);
    // And the three numbers of the colours.
    expect(words.slice(0, 3)).toEqual(["\u22121", "0", "1"]);
    expect(words.length - 3).toBeLessThanOrEqual(64);
    expect(words).toContain("77");
  });
});

describe("sequence", () => {
  const attributes = { scheme: "mrope", view: "sequence", dim: 32, rows: 2, columns: 3, text: 3 };
  it("has the positions of text, image and text", () => {
    const table = grid.table(figureState("grid", { ...attributes, token: 10 }));
    const rows = Array.from({ length: table.rows }, (_, r) => table.header.map((_, c) => table.cell(r, c)).slice(1, 5));
    expect(rows).toEqual([
      ["text", 0, 0, 0],
      ["text", 1, 1, 1],
      ["text", 2, 2, 2],
      ["patch (0, 0)", 3, 3, 3],
      ["patch (0, 1)", 3, 3, 4],
      ["patch (0, 2)", 3, 3, 5],
      ["patch (1, 0)", 3, 4, 3],
      ["patch (1, 1)", 3, 4, 4],
      ["patch (1, 2)", 3, 4, 5],
      ["text", 6, 6, 6],
      ["text", 7, 7, 7],
      ["text", 8, 8, 8],
    ]);
    // Between texts M-RoPE is RoPE: positions agree on every axis.
    const alike = (token: number): number => Number(table.cell(token, 5));
    for (const [token, place] of [
      [0, 0],
      [2, 2],
      [9, 6],
      [11, 8],
    ] as const) {
      expect(alike(token)).toBeCloseTo(meanCosine(16, 1e4, 7 - place), 6);
    }
    expect(readings({ ...attributes, token: 7 })).toMatchObject({
      is: "patch (1, 1)",
      time: "3",
      height: "4",
      width: "4",
    });
  });

  it("leaves the map to the patches alone", () => {
    const cells = cellsOf({ ...attributes, view: "similarity", row: 0, column: 0 });
    expect([cells.length, cells[0]!.length, cells[0]![0]!.toFixed(6)]).toEqual([2, 3, "1.000000"]);
  });

  it("is a view where there are three axes only", () => {
    const tabs = (scheme: string): string[] => {
      const state = figureState("grid", { scheme });
      return grid.tabs!(state.values, state.model)!.choices.map(({ value }) => value);
    };
    expect(tabs("mrope")).toEqual(["similarity", "dimensions", "sequence"]);
    expect(tabs("axialRope")).toEqual(["similarity", "dimensions"]);
    expect(grid.title(figureState("grid", { view: "sequence" }))).toContain("compared with all");
  });

  it("draws a step line an axis and a bar a token, and reads the token under a point", () => {
    const state = figureState("grid", attributes);
    const back = record(grid, state);
    expect(back.paths.filter((path) => path.length === 4 * 12)).toHaveLength(3);
    expect(back.operations.filter((op) => /^rect .* fill=accent/.test(op))).toHaveLength(12);
    const time = back.paths.filter((path) => path.length === 4 * 12)[2]!;
    expect(back.cellAt((time[20]! + time[22]!) / 2, time[21]!)).toEqual({ column: 5 });
  });
});

describe("words and take-aways", () => {
  it.each([764, 640, 300, 240])("lays no words on others, %d pixels wide", (width) => {
    for (const attributes of [
      {},
      { rows: 2, columns: 32 },
      { rows: 32, columns: 2 },
      { view: "dimensions" },
      { scheme: "mrope", view: "sequence" },
      { scheme: "mrope", view: "sequence", text: 0, rows: 2, columns: 2, token: 3 },
      { metric: "euclidean" },
    ]) {
      expect(overlaps(record(grid, figureState("grid", attributes), width))).toEqual([]);
    }
  });

  it("gives programs that make the same numbers", () => {
    for (const attributes of [
      { dim: 16, rows: 3, columns: 4 },
      { scheme: "fourier", levels: 3, rows: 3, columns: 3, metric: "dot" },
      { scheme: "axialRope", dim: 8, rows: 2, columns: 5 },
      { scheme: "mrope", dim: 16, rows: 3, columns: 3, text: 2 },
      { scheme: "mrope", dim: 16, rows: 2, columns: 2, text: 0 },
      { scheme: "rope", dim: 8, rows: 2, columns: 2 },
    ]) {
      const state = figureState("grid", { row: 1, column: 1, ...attributes });
      const body = grid.code!(state).javascript.replace(/import \{ (.*) \} from "posenc";/, "const { $1 } = posenc;");
      const run = new Function("posenc", `${body}\nreturn alike;`) as (api: unknown) => Float64Array;
      const { first, rows, columns } = state.model as { first: number; rows: number; columns: number };
      const all = [...run(posenc)];
      expect(all.slice(first, first + rows * columns)).toEqual([...grid.array!(state).data]);
    }
  });

  it("takes the table of a Vision Transformer, with and without its class token", async () => {
    const rows = randomNormal([17, 6], { seed: 3 }).data;
    const read = async (data: Float32Array): Promise<unknown> => {
      const bytes = toNpy(tensor(data, [data.length / 6, 6]));
      return readTable(new File([bytes], "pos.npy"));
    };
    for (const [data, skipped] of [
      [rows, 1],
      [rows.slice(0, 96), 0],
    ] as const) {
      const cells = cellsOf({ rows: 9, columns: 9, metric: "dot", row: 1, column: 2 }, await read(data));
      expect([cells.length, cells[0]!.length]).toEqual([4, 4]);
      const row = (t: number): number[] => [...data.slice(6 * (t + skipped), 6 * (t + skipped) + 6)];
      const dot = (a: number, b: number): number => row(a).reduce((sum, value, d) => sum + value * row(b)[d]!, 0);
      cells.forEach((line, r) => line.forEach((value, c) => expect(value).toBeCloseTo(dot(6, 4 * r + c), 5)));
    }
    const oblong = cellsOf({ rows: 2, columns: 7 }, await read(rows.slice(0, 84)));
    expect([oblong.length, oblong[0]!.length]).toEqual([2, 7]);
    const wrong = await read(rows.slice(0, 84));
    expect(() => figureState("grid", { rows: 5, columns: 5 }, wrong)).toThrow(
      "pos.npy has 14 rows, which are no square grid",
    );
    expect(grid.code!(figureState("grid", {}, await read(rows))).javascript).toContain("readNpy");
  });

  it("takes a scheme as data, and says what is wrong", () => {
    const state = figureState("grid", { rows: 3, columns: 3 }, axialRope({ dim: 8, base: 100 }));
    expect(grid.title(state)).toContain("Axial RoPE");
    expect(renderSVG("grid", {}, { theme: "dark", width: 320 })).toContain("row 6");
    expect(() => figureState("grid", { rows: 1 })).toThrow("rows must be");
    expect(() => figureState("grid", { dim: 30 })).toThrow("dim");
    expect(() => figureState("grid", { scheme: "alibi" })).toThrow("scheme must be one of");
  });
});
