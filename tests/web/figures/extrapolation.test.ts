// <posenc-extrapolation> against turns, rules and biases written down again in double.
import { beforeAll, describe, expect, it } from "vitest";
import { alibi, mrope, ready, resampleTable, rope, randomNormal } from "../../../web/src/index.js";
import { extrapolation } from "../../../web/figures/extrapolation.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { toCsv } from "../../../web/figures/take-away.js";
import { overlaps, record, runCode, textsOf } from "./drawn.js";

beforeAll(() => ready());

const omega = (i: number, dim: number, base = 10000): number => base ** ((-2 * i) / dim);
const turns = (frequency: number, last: number): number => (last * frequency) / (2 * Math.PI);
const share = (old: number, now: number, trained: number, length: number): number =>
  Math.max(0, Math.min(1, turns(now, length - 1)) - Math.min(1, turns(old, trained - 1)));
const readings = (attributes: Record<string, unknown>, data?: unknown): Record<string, string> =>
  Object.fromEntries(
    extrapolation.readout(figureState("extrapolation", attributes, data)).map(({ label, value }) => [label, value]),
  );
const numbers = (attributes: Record<string, unknown>, data?: unknown): number[] => [
  ...extrapolation.array!(figureState("extrapolation", attributes, data)).data,
];

describe("phases", () => {
  it("are those that each pair meets for the first time", () => {
    const found = numbers({ view: "phases", trained: 300, factor: 5, dim: 16, base: 2000 });
    const wanted = Array.from({ length: 8 }, (_, i) => share(omega(i, 16, 2000), omega(i, 16, 2000), 300, 1500));
    found.forEach((value, i) => expect(value).toBeCloseTo(wanted[i]!, 12));
    expect(wanted.some((value) => value > 0.2)).toBe(true);
  });

  it("are gone under linear scaling, all but the last step, and fewer under NTK-aware scaling", () => {
    const at = { view: "phases", trained: 512, factor: 4, dim: 64 };
    const linear = numbers({ ...at, scaling: "linear" });
    linear.forEach((value, i) => expect(value).toBeCloseTo(share(omega(i, 64), omega(i, 64) / 4, 512, 2048), 12));
    const ntk = numbers({ ...at, scaling: "ntk" });
    const base = 10000 * 4 ** (64 / 62);
    ntk.forEach((value, i) => expect(value).toBeCloseTo(share(omega(i, 64), omega(i, 64, base), 512, 2048), 10));
    const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b);
    expect(sum(ntk)).toBeLessThan(0.5 * sum(numbers(at)));
    const told = (scaling: string): string => extrapolation.caption(figureState("extrapolation", { ...at, scaling }));
    expect(told("none")).toContain("16 of 32 pairs never went round in training; 16 meet new phases");
    expect(told("linear")).toContain("none meets new phases");
    expect(told("ntk")).toMatch(/; \d+ meet new phases/);
  });

  it("are drawn as arcs from the top, clockwise, blue before orange", () => {
    // Pair 2 of 4: omega 0.01, 101 positions make 1 of 6.28 turns, 401 make 4.
    const state = figureState("extrapolation", { view: "phases", trained: 101, factor: 4, dim: 8 });
    const back = record(extrapolation, state);
    const circle = back.operations.filter((op) => op.startsWith("disc") && op.includes("stroke=faint"));
    const [, x = 0, y = 0, radius = 0] = /disc ([\d.]+),([\d.]+) r ([\d.]+)/.exec(circle[2]!)!.map(Number);
    const onCircle = (path: Float64Array | readonly number[]): boolean =>
      Math.abs(path[0]! - x) <= radius + 1 && Math.abs(path[1]! - y) <= radius + 1 && path.length > 4;
    const [seen, met] = back.paths.filter((path) => onCircle(path));
    const angle = (path: ArrayLike<number>, at: number): number => Math.atan2(path[at]! - x, y - path[at + 1]!);
    expect(angle(seen!, 0)).toBeCloseTo(0, 2);
    expect(angle(seen!, seen!.length - 2)).toBeCloseTo(1, 2);
    expect(angle(met!, 0)).toBeCloseTo(1, 2);
    expect(angle(met!, met!.length - 2)).toBeCloseTo(403 / 100 - 2 * Math.PI, 2);
    expect(back.cellAt(x, y)).toEqual({ column: 2 });
  });

  it("reads the turns, the new share and the frequency under the cursor", () => {
    const read = readings({ view: "phases", trained: 1001, factor: 2, dim: 4, pair: 1, scaling: "linear" });
    // 1000 x 0.01 and 2001 / 2 x 0.01 radians.
    expect(read).toMatchObject({ pair: "1", "turns in training": "1.592", now: "1.592", "frequency \u00d7": "0.5" });
    const yarn = readings({ view: "phases", scaling: "yarn", factor: 4 });
    expect(yarn["attention factor"]).toBe((0.1 * Math.log(4) + 1).toPrecision(4));
  });
});

describe("rules", () => {
  it("stand in one matrix, each of those that numbers make", () => {
    const state = figureState("extrapolation", { view: "rules", dim: 16, trained: 256, factor: 8 });
    const { data, shape } = extrapolation.array!(state);
    const slow = ["dynamic NTK", "dynamic, static", "Qwen", "YaRN", "Llama 3"];
    const names = ["as it is", "linear scaling", "NTK-aware", ...slow];
    const rows = extrapolation.table(state);
    expect(Array.from({ length: rows.rows }, (_, r) => rows.cell(r, 0))).toEqual([...names, "proportional"]);
    expect(shape).toEqual([9, 8]);
    ["none", "linear", "ntk", "dynamic", "dynamic-static", "qwen", "yarn", "llama3"].forEach((scaling, r) => {
      const own = numbers({ view: "phases", dim: 16, trained: 256, factor: 8, scaling });
      expect([...data.subarray(8 * r, 8 * r + 8)]).toEqual(own);
    });
  });

  it("are given as data where they need lists", () => {
    const factors = Array.from({ length: 4 }, (_, i) => 1 + i);
    const scaling = {
      type: "longrope" as const,
      shortFactor: [1, 1, 1, 1],
      longFactor: factors,
      originalMaxPositionEmbeddings: 64,
    };
    const scheme = rope({ dim: 8, scaling });
    const at = { view: "rules", dim: 8, trained: 64, factor: 4, rule: 9, pair: 2 };
    expect(readings(at, scheme)).toMatchObject({ rule: "given", "frequency \u00d7": "0.3333" });
    const phases = figureState("extrapolation", { view: "phases" }, scheme);
    expect(extrapolation.title(phases)).toMatch(/^Phases of RoPE as given at /);
    const found = numbers(at, scheme).slice(-4);
    found.forEach((value, i) =>
      expect(value).toBeCloseTo(share(omega(i, 8), omega(i, 8) / factors[i]!, 64, 256), 10),
    );
    // With a base of its own, whatever the attribute says, it is compared with plain RoPE of that base.
    const wide = rope({ dim: 8, base: 500000, scaling: { type: "linear", factor: 2 } });
    for (const base of [10000, 700]) {
      expect(readings({ ...at, base }, wide)).toMatchObject({ rule: "given", "frequency \u00d7": "0.5" });
    }
    expect(() => figureState("extrapolation", {}, alibi({ heads: 2 }))).toThrow("data must be a rotate scheme");
  });

  it.each([764, 300])("read the cell under a point and overlap nothing, %d pixels wide", (width) => {
    const state = figureState("extrapolation", { view: "rules", rule: 6 });
    const back = record(extrapolation, state, width);
    const [, x = 0, y = 0, w = 0, h = 0] = /heatMap ([\d.]+),([\d.]+) ([\d.]+)x([\d.]+) 9 x 32/
      .exec(back.operations.find((op) => op.includes("9 x 32"))!)!
      .map(Number);
    expect(back.cellAt(x + (10.5 * w) / 32, y + (2.5 * h) / 9)).toEqual({ row: 2, column: 10 });
    expect(overlaps(back)).toEqual([]);
    for (const view of ["schemes", "phases"]) {
      for (const scaling of ["none", "yarn"]) {
        const other = record(extrapolation, figureState("extrapolation", { view, scaling }), width);
        expect(overlaps(other)).toEqual([]);
        for (const { x: at } of textsOf(other)) expect(at).toBeLessThanOrEqual(width);
      }
    }
  });
});

describe("a scheme that turns a part of its width", () => {
  const yarn = { type: "yarn", factor: 4, originalMaxPositionEmbeddings: 300 } as const;
  const linear = { type: "linear", factor: 4 } as const;
  const own = [1, 0.1, 0.003];
  it.each([
    ["rope", rope({ dim: 80, rotaryDim: 16 }), (i: number) => omega(i, 16)],
    ["rope of halves", rope({ dim: 64, rotaryDim: 16, layout: "half" }), (i: number) => omega(i, 16)],
    ["rope under a rule", rope({ dim: 80, rotaryDim: 16, scaling: linear }), (i: number) => omega(i, 16) / 4],
    ["rope with frequencies", rope({ dim: 80, rotaryDim: 6, frequencies: own }), (i: number) => own[i]!],
    ["mrope", mrope({ dim: 80, rotaryDim: 16, sections: [2, 3, 3] }), (i: number) => omega(i, 16)],
  ] as const)("is compared with RoPE of as many pairs: %s", (_, scheme, frequency) => {
    const { rotaryDim } = scheme.toJSON() as unknown as { rotaryDim: number };
    const pairs = rotaryDim / 2;
    const wanted = Array.from({ length: pairs }, (_, i) => share(omega(i, rotaryDim), frequency(i), 300, 1200));
    const close = (found: readonly number[]): void => {
      expect(found).toHaveLength(pairs);
      found.forEach((value, i) => expect(value).toBeCloseTo(wanted[i]!, 10));
    };
    const at = { trained: 300, factor: 4 };
    close(numbers({ ...at, view: "phases" }, scheme));
    close(numbers({ ...at, view: "rules" }, scheme).slice(-pairs));
    const score = numbers(at, scheme).slice(2400);
    for (const k of [0, 5, 777]) {
      const cosines = wanted.map((_, i) => Math.cos(k * frequency(i)));
      expect(score[k]).toBeCloseTo(cosines.reduce((a, b) => a + b) / pairs, 10);
    }
  });

  it("stands beside rules of as many pairs, in words and code too", () => {
    const state = figureState("extrapolation", { view: "rules" }, rope({ dim: 80, rotaryDim: 32, scaling: yarn }));
    expect(extrapolation.array!(state).shape).toEqual([10, 16]);
    const unseen = runCode(extrapolation.code!(state).javascript, "unseen") as unknown as { data: Float64Array }[];
    expect(unseen.flatMap(({ data }) => [...data])).toEqual([...extrapolation.array!(state).data]);
  });
});

describe("schemes", () => {
  const at = { trained: 40, factor: 3, dim: 8, head: 2 };
  it("go on: ALiBi by its slope, T5 at its last bucket, RoPE turning", () => {
    const found = numbers(at);
    expect(found).toHaveLength(3 * 120);
    for (let d = 0; d < 120; d++) {
      expect(found[d]).toBeCloseTo(-0.25 * d, 6);
      const kernel = [0, 1, 2, 3].reduce((sum, i) => sum + Math.cos(d * omega(i, 8)), 0) / 4;
      expect(found[240 + d]).toBeCloseTo(kernel, 12);
    }
    const far = numbers({ ...at, factor: 10 }).slice(400, 800);
    expect(new Set(far.slice(128)).size).toBe(1);
    expect(new Set(far.slice(0, 128)).size).toBeGreaterThan(8);
  });

  it("end where a table does, or do what it is told to do", () => {
    const table = randomNormal([40, 8], { seed: 0, std: 1 }).data;
    const lane = (past: string): Float32Array =>
      (figureState("extrapolation", { ...at, past }).model as { lanes: { table: Float32Array } }).lanes.table;
    const stretched = resampleTable({ data: table, shape: [40, 8] }, 120);
    const [error, wrap, clamp, interpolate] = ["error", "wrap", "clamp", "interpolate"].map(lane) as Float32Array[];
    for (let c = 0; c < 8; c++) {
      for (let t = 0; t < 120; t++) {
        const own = (row: number): number => table[8 * row + c]!;
        expect(error![120 * c + t]).toBe(t < 40 ? own(t) : Number.NaN);
        expect(wrap![120 * c + t]).toBe(own(t % 40));
        expect(clamp![120 * c + t]).toBe(own(Math.min(39, t)));
        expect(interpolate![120 * c + t]).toBeCloseTo(stretched.at(t, c), 6);
      }
    }
    expect(readings({ ...at, position: 50 })["learned table"]).toBe("no row");
    expect(readings({ ...at, position: 30 })["learned table"]).toBe("row 30");
    expect(readings({ ...at, position: 50, past: "clamp" })["learned table"]).toBe("row 39");
    expect(extrapolation.caption(figureState("extrapolation", at))).toContain("no row from 40 on");
  });

  it("are marked where training ended, and read under a point", () => {
    const back = record(extrapolation, figureState("extrapolation", { ...at, position: 100 }));
    const maps = back.operations.flatMap((op) => {
      const match = /heatMap ([\d.]+),([\d.]+) ([\d.]+)x([\d.]+) 8 x 120/.exec(op);
      return match ? [match.slice(1).map(Number)] : [];
    });
    const [left = 0, top = 0, wide = 0] = maps[0]!;
    const edge = left + wide / 3;
    expect(back.paths.some((path) => path.length === 4 && Math.abs(path[0]! - edge) < 0.1)).toBe(true);
    expect(back.cellAt(left + (wide * 77.5) / 120, top + 5)).toEqual({ column: 77 });
    expect(textsOf(back).map(({ words }) => words)).toEqual(expect.arrayContaining(["trained to 40", "ends", "100"]));
  });

  it("draws two positions, and a quarter of a million", () => {
    expect(() => figureState("extrapolation", { dim: 2, scaling: "ntk" })).toThrow("fewer than 4 columns");
    const few = extrapolation.array!(figureState("extrapolation", { view: "rules", dim: 2 }));
    expect(few.shape[0]).toBeGreaterThan(3);
    for (const attributes of [{ trained: 2, factor: 1, dim: 2 }, { trained: 8192, factor: 32, dim: 4 }]) {
      for (const view of ["schemes", "phases", "rules"]) {
        const state = figureState("extrapolation", { ...attributes, view });
        expect(extrapolation.array!(state).data.length).toBeLessThanOrEqual(3 * 2048);
        const texts = textsOf(record(extrapolation, state)).map(({ words }) => words);
        expect(texts.join()).not.toContain("NaN");
      }
    }
    expect(() => figureState("extrapolation", { trained: 1 })).toThrow("trained must be");
    expect(() => figureState("extrapolation", { scaling: "longrope" })).toThrow("scaling must be one of none, linear");
    expect(() => figureState("extrapolation", { dim: 7 })).toThrow("rope");
  });
});

it("gives programs that make the same numbers", async () => {
  const at = { trained: 100, factor: 3, dim: 12, base: 500 };
  for (const scaling of ["none", "linear", "yarn"]) {
    const phases = figureState("extrapolation", { ...at, view: "phases", scaling });
    const { javascript, numpy } = extrapolation.code!(phases);
    expect([...runCode(javascript, "unseen").data]).toEqual([...extrapolation.array!(phases).data]);
    expect(await numpy!()).toContain("unseen = np.maximum(0, np.minimum(1, reached) - np.minimum(1, seen))");
    const schemes = figureState("extrapolation", { ...at, scaling, head: 3 });
    const program = extrapolation.code!(schemes).javascript;
    const lines = runCode(program, "[...lines, kernel.after]") as unknown as { data: Float32Array }[];
    expect(lines.flatMap(({ data }) => [...data])).toEqual([...extrapolation.array!(schemes).data]);
  }
  const rules = figureState("extrapolation", { ...at, view: "rules" });
  const unseen = runCode(extrapolation.code!(rules).javascript, "unseen") as unknown as { data: Float64Array }[];
  expect(unseen.flatMap(({ data }) => [...data])).toEqual([...extrapolation.array!(rules).data]);
  const csv = toCsv(extrapolation.table(rules)).split("\n");
  expect(csv[0]).toBe("rule,pair 0,pair 1,pair 2,pair 3,pair 4,pair 5");
  expect(csv[2]!.startsWith("linear scaling,")).toBe(true);
  expect(renderSVG("extrapolation", { view: "phases" }, { theme: "dark", width: 320 })).toContain("Phases of RoPE");
});

describe("the scales of curves", () => {
  it("say no other number where the line of zero is", () => {
    for (const view of ["schemes", "rules"]) {
      const back = record(extrapolation, figureState("extrapolation", { view }));
      const numbers = textsOf(back).filter(({ x, how }) => x === 44 && how.includes("end"));
      expect(numbers.map(({ words }) => words)).toContain("0");
      for (const zero of numbers.filter(({ words }) => words === "0")) {
        const near = numbers.filter(({ y, words }) => words !== "0" && Math.abs(y - zero.y) < 12);
        expect(near).toEqual([]);
      }
      // RoPE's curve falls a little below zero: its own end has no room beside it.
      expect(numbers.some(({ words }) => /^\u22120\.\d/.test(words))).toBe(false);
    }
  });
});
