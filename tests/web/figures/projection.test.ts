// <posenc-projection>: principal components against the equation that defines them, maps against the core's.
import { beforeAll, describe, expect, it } from "vitest";
import { ready, sinusoidal, tensor, tsne, encode, randomNormal } from "../../../web/src/index.js";
import { toNpy } from "../../../web/src/files.js";
import { projection } from "../../../web/figures/projection.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { toCsv } from "../../../web/figures/take-away.js";
import type { RecordingBackEnd } from "../../../web/figures/recording.js";
import { overlaps, record, runCode, textsOf } from "./drawn.js";

beforeAll(() => ready());

const waves = (rows: number, dim: number, base: number): number[][] =>
  Array.from({ length: rows }, (_, t) =>
    Array.from({ length: dim }, (_, c) => {
      const angle = t * base ** (-(c - (c % 2)) / dim);
      return c % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
    }),
  );
const readings = (attributes: Record<string, unknown>, data?: unknown): Record<string, string> =>
  Object.fromEntries(
    projection.readout(figureState("projection", attributes, data)).map(({ label, value }) => [label, value]),
  );
// Where the positions of a table were drawn, in order: one disc each, of one radius.
const discs = (back: RecordingBackEnd, radius: string): [number, number][] =>
  back.operations.flatMap((op) => {
    const match = new RegExp(`^disc ([\\d.]+),([\\d.]+) r ${radius} fill=#`).exec(op);
    return match ? [[Number(match[1]), Number(match[2])]] : [];
  });

describe("principal components", () => {
  it("are the columns that the table's products map to multiples of themselves, largest first", () => {
    const rows = 24;
    const attributes = { positions: rows, dim: 6, base: 100, compare: "nothing" };
    const table = waves(rows, 6, 100);
    const mean = table[0]!.map((_, c) => table.reduce((sum, row) => sum + row[c]!, 0) / rows);
    const centred = table.map((row) => row.map((value, c) => value - mean[c]!));
    const products = centred.map((a) => centred.map((b) => a.reduce((sum, value, c) => sum + value * b[c]!, 0)));
    const total = products.reduce((sum, row, t) => sum + row[t]!, 0);
    const { data } = projection.array!(figureState("projection", attributes));
    const sizes = [0, 1].map((axis) => {
      const own = Array.from({ length: rows }, (_, t) => data[2 * t + axis]!);
      const size = own.reduce((sum, value) => sum + value * value, 0);
      products.forEach((row, t) => {
        const image = row.reduce((sum, value, s) => sum + value * own[s]!, 0);
        expect(image).toBeCloseTo(size * own[t]!, 4);
      });
      return size;
    });
    // By the power method: no direction has more.
    let vector = products.map((_, t) => 1 + (t % 3));
    let most = 0;
    for (let round = 0; round < 400; round++) {
      const image = products.map((row) => row.reduce((sum, value, s) => sum + value * vector[s]!, 0));
      most = Math.hypot(...image);
      vector = image.map((value) => value / most);
    }
    expect(sizes[0]).toBeCloseTo(most, 4);
    expect(sizes[1]).toBeLessThanOrEqual(sizes[0]!);
    const share = Math.round((100 * (sizes[0]! + sizes[1]!)) / total);
    expect(readings(attributes)["variance shown"]).toBe(`${share}\u00a0%`);
    const one = readings({ ...attributes, horizontal: 1, vertical: 1 });
    expect(one["variance shown"]).toBe(`${Math.round((100 * sizes[0]!) / total)}\u00a0%`);
  });

  it("are those that the axes name", () => {
    const at = (horizontal: number, vertical: number): ArrayLike<number> =>
      projection.array!(figureState("projection", { positions: 20, horizontal, vertical })).data;
    const [straight, turned] = [at(3, 5), at(5, 3)];
    for (let t = 0; t < 20; t++) {
      expect(straight[2 * t]).toBe(turned[2 * t + 1]);
      expect(straight[2 * t + 1]).toBe(turned[2 * t]);
    }
    const words = textsOf(record(projection, figureState("projection", { horizontal: 3, vertical: 5 })));
    expect(words.some(({ words: w }) => w.startsWith("component 3, "))).toBe(true);
    expect(() => figureState("projection", { dim: 2, vertical: 3 })).toThrow("components must be");
  });

  it("are drawn with one scale for both axes, the path through all positions", () => {
    const state = figureState("projection", { positions: 30, compare: "nothing", dim: 8 });
    const back = record(projection, state);
    const places = discs(back, "2\\.8");
    expect(places).toHaveLength(30);
    const { data } = projection.array!(state);
    const far = (t: number): number => Math.hypot(data[2 * t]! - data[0]!, data[2 * t + 1]! - data[1]!);
    const drawn = (t: number): number => Math.hypot(places[t]![0] - places[0]![0], places[t]![1] - places[0]![1]);
    const zoom = drawn(29) / far(29);
    for (let t = 1; t < 30; t++) expect(Math.abs(drawn(t) - zoom * far(t))).toBeLessThan(0.25);
    expect(back.paths.filter((path) => path.length === 4)).toHaveLength(29 + 1);
    for (const t of [0, 13, 29]) expect(back.cellAt(places[t]![0] + 0.3, places[t]![1] - 0.2)).toEqual({ column: t });
  });
});

describe("maps", () => {
  it("are t-SNE's of the core", () => {
    const options = { view: "tsne", iterations: 40, perplexity: 5, mapSeed: 2 };
    const state = figureState("projection", { positions: 24, dim: 8, ...options });
    const table = encode(sinusoidal({ dim: 8 }), 24);
    const { points, divergence } = tsne(table, { perplexity: 5, iterations: 40, seed: 2 });
    expect([...projection.array!(state).data]).toEqual([...points.data]);
    const second = tsne(randomNormal([24, 8], { seed: 0, std: 0.02 }), { perplexity: 5, iterations: 40, seed: 2 });
    const read = Object.fromEntries(projection.readout(state).map(({ label, value }) => [label, value]));
    expect(read.divergence).toBe(`${divergence.toFixed(3)} and ${second.divergence.toFixed(3)}`);
  });

  it("of few positions have as many neighbours as there are, and too many positions are refused", () => {
    const { data } = projection.array!(figureState("projection", { view: "tsne", positions: 10, iterations: 20 }));
    const { points } = tsne(encode(sinusoidal({ dim: 64 }), 10), { iterations: 20 });
    expect([...data]).toEqual([...points.data]);
    expect(() => figureState("projection", { view: "tsne", positions: 513 })).toThrow("takes too long here, got 513");
    expect(() => figureState("projection", { view: "tsne", positions: 3 })).toThrow("tsne");
  });
});

describe("a table from a file", () => {
  it("takes the place of the second scheme", async () => {
    const table = tensor(Array.from({ length: 12 }, (_, t) => [3 * t, 4 * t, 0]));
    const file = new File([toNpy(table)], "line.npy");
    const { data } = await projection.files!.read(file);
    const state = figureState("projection", { positions: 10, position: 2 }, data);
    expect(projection.title(state)).toBe(
      "Principal components of 10 positions: sinusoidal and line.npy",
    );
    const read = Object.fromEntries(projection.readout(state).map(({ label, value }) => [label, value]));
    // Steps of (3, 4): a straight line along one component, position 2 of 0 to 9 is 2.5 steps before the middle.
    expect(read["line.npy"]).toMatch(/^\(\u221212\.5, /);
    expect(read["distance to the next one"]).toMatch(/ and 5$/);
    expect(read["variance shown"]).toMatch(/ and 100\u00a0%$/);
    expect(projection.caption(state)).not.toContain("before training");
    expect(projection.caption(figureState("projection"))).toContain("before training");
    expect(record(projection, state).operations.join()).not.toContain("NaN");
  });

  it("may have fewer rows than there are positions", () => {
    const state = figureState("projection", { positions: 9, position: 7 }, tensor([[1, 0], [0, 1], [1, 1]]));
    const read = Object.fromEntries(projection.readout(state).map(({ label, value }) => [label, value]));
    expect(read["given table"]).toBe("\u2013");
    const csv = toCsv(projection.table(state)).trim().split("\n");
    expect(csv).toHaveLength(10);
    expect(csv[9]!.endsWith(",,")).toBe(true);
  });
});

describe("words and take-aways", () => {
  it.each([880, 764, 300])("overlap nothing and stay inside, %d pixels wide", (width) => {
    for (const attributes of [{}, { compare: "nothing" }, { view: "tsne", iterations: 30 }, { positions: 400 }]) {
      for (const position of [0, 60, 127]) {
        const back = record(projection, figureState("projection", { ...attributes, position }), width);
        expect(overlaps(back)).toEqual([]);
        for (const { x, words } of textsOf(back)) expect(x, words).toBeLessThanOrEqual(width);
      }
    }
  });

  it("draws two positions, and a thousand", () => {
    const two = record(projection, figureState("projection", { positions: 2 }));
    expect(two.operations.join()).not.toContain("NaN");
    const many = record(projection, figureState("projection", { positions: 1024, compare: "nothing" }));
    expect(many.paths.length).toBeLessThan(300);
    expect(() => figureState("projection", { positions: 1 })).toThrow("pca");
  });

  it("gives programs that make the same numbers", async () => {
    for (const attributes of [
      {},
      { horizontal: 2, vertical: 4, base: 300 },
      { scheme: "learned" },
      { view: "tsne", iterations: 25, mapSeed: 7 },
      { view: "tsne", iterations: 25, positions: 9 },
    ]) {
      const state = figureState("projection", { positions: 50, dim: 12, ...attributes });
      const { javascript, numpy } = projection.code!(state);
      expect([...runCode(javascript, "points").data]).toEqual([...projection.array!(state).data]);
      expect((await numpy?.()) !== undefined).toBe(!("scheme" in attributes || "view" in attributes));
    }
    expect(renderSVG("projection", {}, { theme: "dark", width: 320 })).toContain("Learned");
    expect(projection.summary(figureState("projection"))).toContain("a path through 128 positions");
  });
});

describe("the numbers of positions", () => {
  it("hide no other point of a path that leaves them room", () => {
    for (const column of [0, 38, 64, 127]) {
      const state = figureState("projection", { positions: 128, compare: "nothing", position: column });
      const back = record(projection, state);
      const points = discs(back, "2\\.1");
      expect(points).toHaveLength(128);
      const plates = back.operations.flatMap((op) => {
        const match = /^rect ([\d.]+),([\d.]+) ([\d.]+)x14 fill=paper/.exec(op);
        return match ? [match.slice(1).map(Number) as [number, number, number]] : [];
      });
      expect(plates.length).toBeGreaterThanOrEqual(2);
      for (const [x, y, wide] of plates) {
        expect(points.filter(([px, py]) => px > x && px < x + wide && py > y && py < y + 14)).toEqual([]);
      }
    }
  });
});
