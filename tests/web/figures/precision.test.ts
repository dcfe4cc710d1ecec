// <posenc-precision> against roundings done here: to bits of significand by hand, of angles and sines in double.
import { beforeAll, describe, expect, it } from "vitest";
import { frequencies, ready, rope, sinusoidal, type Tensor } from "../../../web/src/index.js";
import { precision } from "../../../web/figures/precision.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { toCsv } from "../../../web/figures/take-away.js";
import { overlaps, record, runCode, textsOf } from "./drawn.js";

beforeAll(() => ready());

interface Shown {
  positions: Float64Array;
  lines: { arithmetic: string; worst: Float64Array; first?: { position: number; certain: boolean } }[];
}
const modelOf = (attributes: Record<string, unknown>): Shown => figureState("precision", attributes).model as Shown;
const readings = (attributes: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(precision.readout(figureState("precision", attributes)).map(({ label, value }) => [label, value]));

// Rounds to `bits` bits of significand, to nearest, ties to even.
function rounded(value: number, bits: number): number {
  if (value === 0) return 0;
  const unit = 2 ** (Math.floor(Math.log2(Math.abs(value))) - bits + 1);
  const scaled = value / unit;
  const low = Math.floor(scaled);
  const rest = scaled - low;
  return unit * (rest > 0.5 || (rest === 0.5 && low % 2 !== 0) ? low + 1 : low);
}

describe("errors", () => {
  it("asks at whole positions that climb evenly on a log axis, powers of ten among them", () => {
    const { positions } = modelOf({ decades: 12 });
    // Each once: all to 10, then 24 a decade.
    expect([...positions.slice(0, 10)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(positions).toHaveLength(10 + 11 * 24);
    positions.slice(9).forEach((position, k) => {
      expect(position).toBe(Math.round(position));
      expect(Math.abs(position - 10 ** (1 + k / 24))).toBeLessThan(0.5 + 1e-3 * position);
    });
    expect([1, 6, 9, 12].map((d) => positions[9 + 24 * (d - 1)])).toEqual([10, 1e6, 1e9, 1e12]);
    expect(new Set(positions).size).toBe(positions.length);
  });

  it.each([
    ["bfloat16", 3, 8],
    ["float32", 2, 24],
  ] as const)("has what the rounding of the angle to %s does", (arithmetic, format, bits) => {
    const state = figureState("precision", { recipe: "angle", dim: 8, decades: 6, format });
    const { positions, lines } = state.model as Shown;
    const worst = lines.find((line) => line.arithmetic === arithmetic)!.worst;
    const { inverse } = frequencies(rope({ dim: 8 }));
    positions.forEach((p, t) => {
      const errors = [...inverse].flatMap((omega) => {
        const angle = rounded(p * omega, bits);
        return [Math.sin, Math.cos].map((f) => Math.abs(rounded(f(angle), bits) - f(p * omega)));
      });
      expect(Math.abs(worst[t]! - Math.max(...errors))).toBeLessThan(1e-9);
    });
    const { data, shape } = precision.array!(state);
    expect(shape).toEqual([4, positions.length]);
    expect([...data.slice((format - 1) * positions.length, format * positions.length)]).toEqual([...worst]);
  });

  it("orders the formats by their digits, at every decade to a million", () => {
    const { lines } = modelOf({ decades: 7 });
    for (const t of [9, 33, 57, 81]) {
      const [wide, single, brain, half] = lines.map(({ worst }) => worst[t]!);
      expect(wide!).toBeLessThan(1e-6 * single!);
      expect(single!).toBeLessThan(1e-2 * half!);
      expect(half!).toBeLessThanOrEqual(brain!);
    }
  });

  it("finds the first position beyond the tolerance", () => {
    // By rounding of whole numbers alone: the first that bfloat16 (8 bits) and float16 (11 bits) have not.
    const { lines } = modelOf({ recipe: "positions", dim: 8, tolerance: 0.1 });
    const first = Object.fromEntries(lines.map((line) => [line.arithmetic, line.first]));
    expect(first.bfloat16).toMatchObject({ position: 257, certain: true });
    expect(first.float16).toMatchObject({ position: 2049, certain: true });
    expect(first.float64).toBeUndefined();
    expect(first.float32!.certain).toBe(false);
    expect(first.float32!.position).toBeGreaterThan(2 ** 24);
    const shown = readings({ recipe: "positions", dim: 8, tolerance: 0.1, format: 4 });
    expect(shown["exceeds 0.1"]).toBe("from 2049");
    expect(readings({ recipe: "positions", dim: 8, format: 1 })["exceeds 0.001"]).toBe("nowhere here");
    // Found among samples, it may be somewhat earlier. The legend is sentences.
    const attributes = { recipe: "positions", dim: 8, tolerance: 0.1 };
    expect(readings({ ...attributes, format: 2 })["exceeds 0.1"]).toMatch(/^from about \d/);
    const legend = textsOf(record(precision, figureState("precision", attributes))).map(({ words }) => words);
    expect(legend).toEqual(expect.arrayContaining(["float16 above it at 2049", "float64 below it", "tolerance 0.1"]));
  });

  it("says where float16 overflows and draws its line no further", () => {
    expect(readings({ format: 4, place: 120 })["largest error"]).toBe("overflowed");
    const state = figureState("precision", { format: 4 });
    const back = record(precision, state);
    const { positions, lines } = state.model as Shown;
    const lost = lines[3]!.worst.findIndex((error) => error === Infinity);
    expect(positions[lost]).toBeGreaterThan(65504);
    const line = back.paths.filter((path) => path.length === 2 * positions.length).at(-1)!;
    positions.forEach((_, t) => expect(Number.isNaN(line[2 * t + 1]!)).toBe(t >= lost));
    expect(textsOf(back).map(({ words }) => words)).toContain("float16 above it at 8");
    // A cross stands at the last place it had.
    const [x, y] = [line[2 * lost - 2]!, line[2 * lost - 1]!];
    const cross = back.paths.filter((path) => path.length === 10 && Number.isNaN(path[4]!));
    expect(cross.map((path) => [path[0]! + 4, path[1]! + 4])).toEqual([[x, y]]);
  });

  it.each([764, 300])("reads the line under a point and lays no words on others, %d pixels wide", (width) => {
    for (const attributes of [{}, { recipe: "positions", decades: 15 }, { decades: 3, tolerance: 0.5 }]) {
      const state = figureState("precision", { format: 2, ...attributes });
      const back = record(precision, state, width);
      expect(overlaps(back)).toEqual([]);
      const count = (state.model as Shown).positions.length;
      const line = back.paths.filter((path) => path.length === 2 * count).at(-1)!;
      const t = Math.floor(count / 2);
      expect(back.cellAt(line[2 * t]!, line[2 * t + 1]!)).toEqual({ row: 1, column: t });
    }
  });
});

describe("waves", () => {
  it("draws the exact sine and each format's values", () => {
    const attributes = { view: "waves", start: 5000, pair: 2, dim: 16, format: 2, offset: 3 };
    const table = precision.table(figureState("precision", attributes));
    expect(table.header).toEqual(["position", "exact", "float64", "float32", "bfloat16", "float16"]);
    const omega = frequencies(rope({ dim: 16 })).inverse[2]!;
    for (let r = 0; r < table.rows; r++) {
      const row = table.header.map((_, c) => Number(table.cell(r, c)));
      expect(row[0]).toBe(5000 + r);
      expect(row[1]).toBeCloseTo(Math.sin((5000 + r) * omega), 12);
      expect(row[2]).toBeCloseTo(row[1]!, 10);
      expect(Math.abs(row[3]! - row[1]!)).toBeLessThan(5e-4);
      expect(Math.fround(row[3]!)).toBe(row[3]);
    }
    expect(readings(attributes).exact).toBe(
      Math.sin(5003 * omega)
        .toFixed(4)
        .replace("-", "\u2212")
        .replace(/^(?=\d)/, "+"),
    );
    const back = record(precision, figureState("precision", attributes));
    expect(overlaps(back)).toEqual([]);
    expect(back.operations.filter((op) => op.startsWith("disc"))).toHaveLength(4 * 64);
  });

  it("leaves out what overflowed", () => {
    const state = figureState("precision", { view: "waves", start: 1e6, format: 4 });
    expect(precision.readout(state).find(({ label }) => label === "sine")!.value).toBe("overflowed");
    expect(record(precision, state, 300).operations.filter((op) => op.startsWith("disc"))).toHaveLength(3 * 64);
    expect(toCsv(precision.table(state)).split("\n")[1]).toMatch(/,$/);
  });
});

describe("words and take-aways", () => {
  it("gives programs that make the same numbers", async () => {
    for (const attributes of [
      { format: 3, decades: 4 },
      { format: 2, recipe: "upcast", dim: 16, decades: 3, tolerance: 0.01 },
      { view: "waves", format: 4, start: 99, scheme: "sinusoidal" },
    ]) {
      const state = figureState("precision", attributes);
      const { javascript } = precision.code!(state);
      const { data, shape } = precision.array!(state);
      const made = runCode(javascript, attributes.view === "waves" ? "sines" : "worst");
      const rows = Array.from(made as Iterable<number[] | Tensor>, (row) => [...("data" in row ? row.data : row)]);
      expect([rows.length, rows[0]!.length]).toEqual(shape);
      expect(rows.flat()).toEqual([...data]);
    }
    const numpy = (attributes: Record<string, unknown>): Promise<string | undefined> =>
      precision.code!(figureState("precision", { decades: 3, ...attributes })).numpy!();
    expect(await numpy({ dim: 6, base: 50 })).toContain("omega = r(wide(1 / wide(50 ** wide(i / 6))))");
    expect(await numpy({ format: 2, recipe: "angle" })).toBeUndefined();
    expect(await numpy({ format: 2, "scaling.type": "linear", "scaling.factor": 2 })).toBeUndefined();
  });

  it("takes a scheme as data, and says what is wrong", () => {
    const given = figureState("precision", { decades: 3 }, sinusoidal({ dim: 6, base: 100 }));
    expect((given.model as unknown as { pairs: number }).pairs).toBe(3);
    expect(precision.code!(given).javascript).toContain("sinusoidal({ dim: 6, base: 100");
    expect(precision.title(given)).toContain("Sinusoidal");
    expect(renderSVG("precision", {}, { theme: "dark", width: 320 })).toContain("bfloat16");
    expect(() => figureState("precision", { decades: 16 })).toThrow("decades must be");
    expect(() => figureState("precision", { recipe: "none" })).toThrow("recipe must be one of");
    expect(() => figureState("precision", { dim: 7 })).toThrow("dim");
    expect(() => figureState("precision", { scheme: "alibi" })).toThrow("scheme must be one of");
  });

  it("draws a single pair, and the first position 0", () => {
    expect(() => figureState("precision", { dim: 2, view: "waves", pair: 1 })).toThrow("pair must be");
    const state = figureState("precision", { dim: 2, view: "waves", start: 0 });
    expect(precision.title(state)).toContain("pair 0: 64 positions from 0");
    record(precision, figureState("precision", { dim: 2, decades: 2 }), 240);
  });
});
