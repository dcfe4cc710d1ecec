// <posenc-similarity> against sums of cosines written down again in double, and a small table worked by hand.
import { beforeAll, describe, expect, it } from "vitest";
import {
  offsetProfile,
  randomNormal,
  ready,
  similarity as similarityOf,
  sinusoidal,
  tensor,
} from "../../../web/src/index.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { similarity } from "../../../web/figures/similarity.js";
import { toCsv } from "../../../web/figures/take-away.js";
import { overlaps, record, runCode, textsOf } from "./drawn.js";

beforeAll(() => ready());

// p_m . p_n of the paper's encoding.
const product = (offset: number, dim: number, base: number): number => {
  let sum = 0;
  for (let i = 0; i < dim / 2; i++) sum += Math.cos(offset * base ** ((-2 * i) / dim));
  return sum;
};
const readings = (attributes: Record<string, unknown>, data?: unknown): Record<string, string> =>
  Object.fromEntries(
    similarity.readout(figureState("similarity", attributes, data)).map(({ label, value }) => [label, value]),
  );

describe("the matrix", () => {
  it.each([
    ["dot", 16, 10000],
    ["cosine", 8, 100],
    ["euclidean", 32, 1000],
  ])("holds the %s of width %d and base %d", (metric, dim, base) => {
    const { data, shape } = similarity.array!(figureState("similarity", { metric, dim, base, positions: 20 }));
    expect(shape).toEqual([20, 20]);
    for (let i = 0; i < 20; i++) {
      for (let j = 0; j < 20; j++) {
        const dot = product(i - j, dim, base);
        const wanted = { dot, cosine: dot / (dim / 2), euclidean: Math.sqrt(2 * (dim / 2 - dot)) }[metric]!;
        // Near 0 a distance is the root of what rounding left of the squares.
        expect(Math.abs(data[20 * i + j]! - wanted)).toBeLessThan(metric === "euclidean" ? 3e-6 : 3e-6 * dim);
      }
    }
  });

  it("takes a table as data, beside the scheme", () => {
    const table = tensor([[1, 0], [0, 2], [3, 4]]);
    const state = figureState("similarity", { positions: 3, dim: 2, m: 1, n: 2 }, table);
    const values = Object.fromEntries(similarity.readout(state).map(({ label, value }) => [label, value]));
    expect(values["given table"]).toBe("+8.0000");
    // Offset +1: 1 . row 1 = 0 and 8.
    expect(values["average at this offset"]).toMatch(/and \+4\.0000$/);
    expect(similarity.title(state)).toBe("Dot products of 3 positions: sinusoidal (2 dimensions) and given table (2 dimensions)");
    const cosine = readings({ positions: 3, metric: "cosine", m: 0, n: 2 }, table);
    expect(cosine["given table"]).toBe("+0.6000");
    const distance = readings({ positions: 3, metric: "euclidean", m: 0, n: 2 }, table);
    expect(distance["given table"]).toBe("4.4721");
    const dropped = figureState("similarity", { positions: 3 }, { table, name: "wpe.npy" });
    expect(similarity.title(dropped)).toContain("and wpe.npy (2 dimensions)");
    expect(similarity.caption(dropped)).toContain("the table of wpe.npy");
    expect(() => figureState("similarity", {}, tensor([1, 2, 3]))).toThrow("a table of shape [T, d]");
  });

  it("reads what a table of fewer rows does not have as a dash", () => {
    const table = tensor([[1, 0], [0, 2]]);
    expect(readings({ positions: 8, m: 5, n: 7 }, table)["given table"]).toBe("\u2013");
    expect(overlaps(record(similarity, figureState("similarity", { positions: 8, m: 5, n: 7 }, table)))).toEqual([]);
  });

  it("takes a scheme as data", async () => {
    const state = figureState("similarity", { positions: 4 }, sinusoidal({ dim: 6, base: 50, layout: "half" }));
    const { data } = similarity.array!(state);
    expect(data[3]).toBeCloseTo(product(3, 6, 50), 5);
    expect([...runCode(similarity.code!(state).javascript, "s").data]).toEqual([...data]);
    expect(await similarity.code!(state).numpy!()).toContain("table[:, :3] = np.sin(positions * omega)");
  });
});

describe("the profile", () => {
  it("is the average of each diagonal, drawn to scale", () => {
    const state = figureState("similarity", { positions: 12, dim: 10, m: 4 });
    const back = record(similarity, state);
    const curves = back.paths.filter((path) => path.length === 2 * 23);
    expect(curves).toHaveLength(1);
    const curve = curves[0]!;
    const high = product(0, 10, 10000);
    const low = Math.min(0, ...Array.from({ length: 12 }, (_, k) => product(k, 10, 10000)));
    const heights = curve.filter((_, at) => at % 2 === 1);
    const top = heights[11]!;
    const zero = top + ((heights[22]! - top) * (high - low)) / (high - product(11, 10, 10000));
    heights.forEach((y, at) => {
      const share = (high - product(at - 11, 10, 10000)) / (high - low);
      expect(y).toBeCloseTo(top + share * (zero - top), 3);
    });
    // The row of the cursor: offsets -4 to 7, on the average.
    const row = back.paths.filter((path) => path.length === 2 * 12)[0]!;
    for (let j = 0; j < 12; j++) {
      expect(row[2 * j]).toBeCloseTo(curve[2 * (j + 7)]!, 6);
      expect(row[2 * j + 1]).toBeCloseTo(curve[2 * (j + 7) + 1]!, 3);
    }
  });

  it("says whether only the offset counts, and bands what differs", () => {
    const even = figureState("similarity", { positions: 16 });
    expect(similarity.caption(even)).toContain("along each diagonal the number is the same");
    const odd = figureState("similarity", { positions: 16, scheme: "learned", dim: 8, m: 0, n: 3 });
    expect(similarity.caption(odd)).toContain("differ");
    expect(similarity.caption(odd)).toContain("before training");
    const table = randomNormal([16, 8], { seed: 0, std: 0.02 });
    const profile = offsetProfile(similarityOf(table));
    const band = record(similarity, odd).paths.find((path) => path.length === 4 * 31)!;
    // There and back: the band at offset 3 is as tall as the spread of that diagonal.
    const at = 15 + 3;
    const tall = band[2 * (61 - at) + 1]! - band[2 * at + 1]!;
    const all = [...profile.lowest.data, ...profile.highest.data];
    const [low, high] = [Math.min(0, ...all), Math.max(0, ...all)];
    const whole = Math.max(...band.filter((_, i) => i % 2)) - Math.min(...band.filter((_, i) => i % 2));
    const spreadAt = profile.highest.data[at]! - profile.lowest.data[at]!;
    expect(tall / whole).toBeCloseTo(spreadAt / (high - low), 6);
  });

  it("compares two tables side by side", () => {
    const state = figureState("similarity", { positions: 10, compare: "learned", metric: "cosine" });
    expect(similarity.caption(state)).toContain("In the sinusoidal table only the offset counts");
    expect(similarity.summary(state)).toContain("learned table");
    for (const width of [764, 300]) {
      const back = record(similarity, state, width);
      expect(textsOf(back).map(({ words }) => words)).toEqual(expect.arrayContaining(["Sinusoidal", "Learned"]));
      expect(overlaps(back)).toEqual([]);
    }
  });
});

describe("hands, words and take-aways", () => {
  it.each([880, 640, 300])("reads the cell and the offset under a point, %d pixels wide", (width) => {
    const state = figureState("similarity", { positions: 20, m: 6 });
    const back = record(similarity, state, width);
    const [, x = 0, y = 0, w = 0, h = 0] = /heatMap ([\d.]+),([\d.]+) ([\d.]+)x([\d.]+) 20 x 20/
      .exec(back.operations.find((op) => op.startsWith("heatMap"))!)!
      .map(Number);
    expect(w).toBeCloseTo(h, 1);
    for (const [row, column] of [[0, 0], [19, 19], [7, 3]] as const) {
      expect(back.cellAt(x + ((column + 0.5) * w) / 20, y + ((row + 0.5) * h) / 20)).toEqual({ row, column });
    }
    const curve = back.paths.find((path) => path.length === 2 * 39)!;
    expect(back.cellAt(curve[2 * 22]! + 0.5, curve[2 * 22 + 1]! + 3)).toEqual({ column: 9 });
    expect(overlaps(back)).toEqual([]);
    for (const { x: at, words } of textsOf(back)) expect(at, words).toBeLessThanOrEqual(width);
  });

  it("draws one position, and a thousand", () => {
    expect(readings({ positions: 1 })["dot product"]).toBe("+32.0000");
    expect(record(similarity, figureState("similarity", { positions: 1 })).operations.join()).not.toContain("NaN");
    expect(similarity.array!(figureState("similarity", { positions: 1024, dim: 2 })).shape).toEqual([1024, 1024]);
    expect(() => figureState("similarity", { positions: 1025 })).toThrow("positions must be");
    expect(() => figureState("similarity", { scheme: "alibi" })).toThrow("alibi");
    const metric = "metric must be one of dot, cosine, euclidean";
    expect(() => figureState("similarity", { metric: "manhattan" })).toThrow(metric);
  });

  it("gives programs that make the same numbers", async () => {
    const sinusoids = [{ metric: "dot" }, { metric: "cosine", base: 500 }];
    for (const attributes of [...sinusoids, { scheme: "learned" }, { scheme: "fourier" }]) {
      const state = figureState("similarity", { positions: 9, ...attributes });
      const { javascript, numpy } = similarity.code!(state);
      expect([...runCode(javascript, "s").data]).toEqual([...similarity.array!(state).data]);
      expect((await numpy?.()) !== undefined).toBe(!("scheme" in attributes));
    }
    expect(await similarity.code!(figureState("similarity", { spacing: "timing" })).numpy!()).toBeUndefined();
    const csv = toCsv(similarity.table(figureState("similarity", { positions: 2, dim: 2 }))).split("\n");
    expect(csv[0]).toBe("position,position 0,position 1");
    expect(csv[1]!.split(",").map(Number)[2]).toBeCloseTo(Math.cos(1), 6);
  });

  it("renders without a document", () => {
    expect(renderSVG("similarity", { compare: "learned" }, { theme: "dark", width: 320 })).toContain("Learned");
  });
});

it.each(["similarity", "projection"])("posenc-%s tells a second scheme of another width by its control", (name) => {
  expect(() => figureState(name, { dim: 2, compare: "sinusoidal2d" })).toThrow(
    /^compare cannot be sinusoidal2d here: .*dim must be divisible by 4, got 2\.$/,
  );
  // The first is told as itself.
  expect(() => figureState(name, { dim: 2, scheme: "sinusoidal2d" })).toThrow(/^sinusoidal2d: dim/);
});
