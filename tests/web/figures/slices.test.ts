// Models that take long are made in slices, between which the page has its turn: the same numbers as at once.
import { isDeepStrictEqual } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { completeValues, type Figure } from "../../../web/figures/figure.js";
import { figures } from "../../../web/figures/index.js";
import { shiftError, shiftMatrix, similarity } from "../../../web/src/analysis/index.js";
import { encode, ready, rope, rotate, schemes, sinusoidal, tensor } from "../../../web/src/index.js";

beforeAll(() => ready());

const figureOf = (name: string): Figure => figures.find((figure) => figure.name === name)!;

// Just beyond what is made at once, and the least number of slices.
const heavy = [
  ["similarity", { positions: 256, dim: 4100, metric: "euclidean" }, 40],
  ["shift", { dim: 514 }, 2],
  ["shift", { positions: 4096, dim: 66 }, 5],
  ["expansion", { h: "general", positions: 256, dim: 258 }, 2],
  ["expansion", { view: "terms", positions: 182, dim: 32 }, 5],
  ["decay", { near: 1024, dim: 2050 }, 9],
  ["projection", { view: "tsne", compare: "nothing", positions: 256, dim: 8, iterations: 520 }, 8],
  ["precision", { dim: 98 }, 8],
  ["extrapolation", { view: "rules", trained: 8192, factor: 8, dim: 66 }, 5],
] as const;

// Without functions, which are no numbers: those of two models are never the same.
const numbersOf = (model: unknown): unknown =>
  Object.fromEntries(Object.entries(model as object).filter(([, value]) => typeof value !== "function"));

it.each(heavy)("%s makes a heavy model in slices, and what it shows first at once", async (name, given, least) => {
  const { later, compute, ...figure } = figureOf(name);
  const plain = completeValues({ later, compute, ...figure } as Figure, () => undefined);
  expect(later!.task(plain, undefined)).toBeUndefined();
  const values = completeValues(figureOf(name), (field) => (given as Record<string, unknown>)[field]);
  const told: [number, number][] = [];
  const step = (done: number, total: number): Promise<void> => Promise.resolve(void told.push([done, total]));
  const model = await later!.task(values, undefined)!({ signal: new AbortController().signal, step });
  // Of arrays so long a difference would take longer to write than to find.
  expect(isDeepStrictEqual(numbersOf(model), numbersOf(compute(values, undefined)))).toBe(true);
  expect(told.length).toBeGreaterThanOrEqual(least);
  told.forEach(([done, total], i) => {
    expect(done).toBeLessThanOrEqual(total);
    expect(done).toBeGreaterThanOrEqual(told[i - 1]?.[0] ?? 0);
  });
  // What is thrown between two slices, as when a reader cancels, ends it there.
  let slices = 0;
  const cancel = (): Promise<void> => (++slices === 2 ? Promise.reject(new Error("cancelled")) : Promise.resolve());
  const cancelled = later!.task(values, undefined)!({ signal: new AbortController().signal, step: cancel });
  await expect(cancelled).rejects.toThrow("cancelled");
  expect(slices).toBe(2);
});

it("takes for a first drawing the steps that compute() takes at once", () => {
  const stepped = figures.filter(({ steps }) => steps);
  expect(stepped.map(({ name }) => name)).toEqual(expect.arrayContaining(["compare", "precision"]));
  for (const figure of stepped) {
    const values = completeValues(figure, () => undefined);
    const making = figure.steps!(values, undefined);
    let pauses = 0;
    let step = making.next();
    for (; !step.done; step = making.next()) pauses++;
    const whole = figure.compute(values, undefined);
    expect(isDeepStrictEqual(numbersOf(step.value), numbersOf(whole)), figure.name).toBe(true);
    // One scheme, and one of four formats and what is looked for in it, at a time.
    const least = { compare: schemes.length, precision: 8 }[figure.name] ?? 0;
    expect(pauses, figure.name).toBeGreaterThanOrEqual(least);
  }
});

it.each(["dot", "cosine", "euclidean"] as const)("similarity's slices are the matrix made at once (%s)", (metric) => {
  const figure = figureOf("similarity");
  const values = completeValues(figure, (name) => ({ positions: 256, dim: 4100, metric })[name]);
  const { sides } = figure.compute(values, undefined) as { sides: { values: Float64Array }[] };
  const whole = similarity(encode(sinusoidal({ dim: 4100 }), 256), { metric, dtype: "float64" });
  expect(Buffer.compare(Buffer.from(sides[0]!.values.buffer), Buffer.from(whole.data.buffer))).toBe(0);
});

it("shift's slices, and its rows one by one, are those of all positions at once", () => {
  const figure = figureOf("shift");
  const given: Record<string, unknown> = { scheme: "rope", offset: 7, positions: 300, dim: 514 };
  const values = completeValues(figure, (name) => given[name]);
  const model = figure.compute(values, undefined) as {
    errors: Float64Array;
    blocks: Float64Array;
    matrix: unknown;
    at: (t: number) => { row: Float64Array; moved: Float64Array };
  };
  const scheme = rope({ dim: 514 });
  expect(model.errors).toEqual(shiftError(scheme, 7, 300, { length: 307 }).data);
  const whole = shiftMatrix(scheme, 7, { length: 307 });
  for (const pair of [0, 1, 256]) {
    const [a, b] = [2 * pair, 2 * pair + 1];
    const block = [whole.at(a, a), whole.at(a, b), whole.at(b, a), whole.at(b, b)];
    expect([...model.blocks.subarray(4 * pair, 4 * pair + 4)]).toEqual(block);
  }
  expect(model.matrix).toBeUndefined();
  const ones = tensor(new Float64Array(307 * 514).fill(1), [307, 514], "float64");
  const rows = rotate(ones, scheme, { length: 307 }).data;
  for (const t of [0, 299, 128]) {
    const { row, moved } = model.at(t);
    expect(row).toEqual(rows.subarray(t * 514, (t + 1) * 514));
    expect(moved).toEqual(rows.subarray((t + 7) * 514, (t + 8) * 514));
  }
});
