// Heat maps coloured by the core against the plainest loop, and drawings of a part of a matrix.
import { describe, expect, it } from "vitest";
import { lawOf, type ColourScale } from "../../../web/figures/colour.js";
import { drawMatrix } from "../../../web/figures/matrix.js";
import { RecordingBackEnd } from "../../../web/figures/recording.js";
import { rasterOf } from "../../../web/figures/shrink.js";
import { Surface, type Part } from "../../../web/figures/surface.js";
import { makeTheme } from "../../../web/figures/theme.js";
import { paint } from "../../../web/src/pixels.js";
import { figureState } from "../../../web/figures/render.js";
import { bias } from "../../../web/figures/bias.js";
import { record, textsOf } from "./drawn.js";

// Colours that say their entry.
const table = Uint8Array.from({ length: 1024 }, (_, i) => (i % 4 === 3 ? 255 : i >> 2));

// Uneven numbers with masked ones among them.
const numbers = (count: number): number[] =>
  Array.from({ length: count }, (_, i) => (i % 11 === 3 ? Number.NaN : ((i * 7919) % 2003) / 700 - 1.3));

// The entry of each pixel, by the definition: every cell looked at for every pixel.
function entries(
  values: ArrayLike<number>,
  [rows, columns, height, width]: readonly [number, number, number, number],
  scale: ColourScale,
): number[] {
  const [low, high] = scale.kind === "signed" ? [-scale.extent, scale.extent] : [scale.min, scale.max];
  return Array.from({ length: height * width }, (_, pixel) => {
    const [y, x] = [Math.floor(pixel / width), pixel % width];
    const inside = Array.from({ length: rows * columns }, (_, cell) => cell).filter((cell) => {
      const [r, c] = [Math.floor(cell / columns), cell % columns];
      const on = (i: number, p: number, cells: number, pixels: number): boolean =>
        i >= Math.floor((p * cells) / pixels) && i < Math.floor(((p + 1) * cells) / pixels);
      return on(r, y, rows, height) && on(c, x, columns, width) && !Number.isNaN(values[cell]);
    });
    if (inside.length === 0) return Number.NaN;
    const mean = inside.reduce((sum, cell) => sum + values[cell]!, 0) / inside.length;
    return Math.max(0, Math.min(254, (254 * (mean - low)) / (high - low)));
  });
}

describe("a heat map painted by the core", () => {
  const scales: ColourScale[] = [
    { kind: "signed", extent: 1.2 },
    { kind: "amount", min: -0.5, max: 1.5 },
  ];
  const sizes = [
    [1, 1, 1, 1],
    [5, 9, 5, 9],
    [12, 31, 5, 30],
    [40, 17, 39, 4],
  ] as const;
  it.each(sizes)("shows the means of %i x %i cells in %i x %i pixels", (rows, columns, height, width) => {
    for (const scale of scales) {
      for (const values of [numbers(rows * columns), new Float32Array(numbers(rows * columns))]) {
        const out = new Uint8ClampedArray(4 * height * width);
        paint({ values, start: 0, stride: columns, rows, columns }, width, height, { ...lawOf(scale), table }, out);
        const expected = entries(values, [rows, columns, height, width], scale);
        expected.forEach((place, i) => {
          const [red, green, blue, alpha] = out.subarray(4 * i, 4 * i + 4);
          expect([green, blue, alpha]).toEqual([red, red, 255]);
          if (Number.isNaN(place)) expect(red).toBe(255);
          else expect(Math.abs(red! - place)).toBeLessThanOrEqual(0.5 + 1e-4);
        });
      }
    }
  });

  it("shows a part as the whole of a smaller matrix, in however many strips", () => {
    const [rows, columns] = [900, 700];
    const values = Float32Array.from(numbers(rows * columns));
    const part = { row: 41, rows: 820, column: 13, columns: 650 };
    const cut = Float32Array.from({ length: part.rows * part.columns }, (_, i) => {
      return values[(part.row + Math.floor(i / part.columns)) * columns + part.column + (i % part.columns)]!;
    });
    for (const [width, height] of [
      [101, 333],
      [650, 820],
    ] as const) {
      const [some, same] = [0, 1].map(() => new Uint8ClampedArray(4 * width * height));
      const law = { ...lawOf({ kind: "signed", extent: 1 }), table };
      const start = part.row * columns + part.column;
      const size = { rows: part.rows, columns: part.columns };
      paint({ values, start, stride: columns, ...size }, width, height, law, some!);
      paint({ values: cut, start: 0, stride: part.columns, ...size }, width, height, law, same!);
      expect(Buffer.compare(Buffer.from(some!), Buffer.from(same!))).toBe(0);
      // The pictures without the core shrink by the same rule.
      const raster = rasterOf({ values, rows, columns, scale: { kind: "signed", extent: 1 }, part }, width, height);
      const apart = Array.from(raster.entries, (entry, i) => Math.abs(entry - some![4 * i]!));
      expect(apart.every((by) => by <= 1)).toBe(true);
      expect(apart.filter((by) => by > 0).length).toBeLessThan(0.01 * apart.length);
    }
  });
});

describe("a part of a matrix", () => {
  const [rows, columns] = [3000, 2000];
  const values = new Float32Array(rows * columns).map((_, i) => Math.floor(i / columns) - (i % columns) / 4096);
  const drawn = (part: Part | undefined, at: [number, number]): RecordingBackEnd => {
    const back = new RecordingBackEnd();
    drawMatrix(new Surface(back, makeTheme(false), 764, 500), {
      values,
      rows,
      columns,
      part,
      row: at[0],
      column: at[1],
      scale: { kind: "signed", extent: 3000 },
      rowAxis: { name: `row ${at[0]}` },
      columnAxis: { name: `column ${at[1]}` },
    });
    return back;
  };

  it("has its own cells under the pointer and its own ticks", () => {
    const part = { row: 1200, rows: 20, column: 500, columns: 40 };
    const back = drawn(part, [1210, 510]);
    const map = /^heatMap ([\d.]+),([\d.]+) ([\d.]+)x([\d.]+) 20 x 40 of 3000 x 2000 from 1200, 500/;
    const [, x, y, wide, tall] = back.operations.map((line) => map.exec(line)).find((match) => match)!.map(Number);
    expect(back.cellAt(x! + 0.1, y! + 0.1)).toEqual({ row: 1200, column: 500 });
    expect(back.cellAt(x! + wide! - 0.1, y! + tall! - 0.1)).toEqual({ row: 1219, column: 539 });
    // The legend has numbers of its own.
    const ticks = textsOf(back)
      .filter(({ x, words }) => /^\d+$/.test(words) && x < 700)
      .map(({ words }) => Number(words));
    expect(ticks.filter((tick) => tick >= 1200 && tick < 1220).length).toBeGreaterThan(2);
    expect(ticks.every((tick) => (tick >= 1200 && tick < 1220) || (tick >= 500 && tick < 540))).toBe(true);
    const frames = (of: RecordingBackEnd): number =>
      of.operations.filter((line) => line.startsWith("rect") && line.includes("stroke=ink")).length;
    expect(frames(back)).toBe(2);
    expect(frames(drawn(part, [0, 510]))).toBe(1);
    expect(frames(drawn(part, [0, 0]))).toBe(0);
  });

  it("draws no more marks than there are pixels, and leaves out no peak", () => {
    const back = drawn(undefined, [2999, 3]);
    expect(back.operations.length).toBeLessThan(900);
    values[2999 * columns + 1234] = -2500;
    const peak = drawn(undefined, [2999, 3]);
    values[2999 * columns + 1234] = 2999;
    // The row is one shape: from bar to bar above, and back below.
    const shape = (of: RecordingBackEnd): Float64Array => {
      const paths = of.operations.filter((line) => line.startsWith("path"));
      return of.paths[paths.findIndex((line) => line.includes("fill=accent"))]!;
    };
    expect(shape(back).length / 2).toBeLessThanOrEqual(4 * 764);
    const lowest = (of: RecordingBackEnd): number => Math.max(...shape(of).filter((_, i) => i % 2 === 1));
    expect(lowest(peak)).toBeGreaterThan(lowest(back) + 20);
  });

  it("is that of a figure's state", () => {
    const state = figureState("bias", { positions: 400, query: 300, key: 200 });
    const part = { row: 290, rows: 12, column: 195, columns: 12 };
    const map = record(bias, { ...state, part }).operations.find((line) => line.startsWith("heatMap"));
    expect(map).toContain("12 x 12 of 400 x 400 from 290, 195");
    expect(record(bias, state).operations.find((line) => line.startsWith("heatMap"))).toContain("400 x 400 signed");
  });
});
