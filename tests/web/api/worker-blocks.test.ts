// Attention cut into blocks of queries has the bits of the whole: every scheme, masks, positions, orders, results.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as posenc from "../../../web/src/index.js";
import { cutAttention } from "../../../web/src/worker/blocks.js";

const { Tensor, attention, fromJSON, grid, randomNormal, schemes, tensor } = posenc;
type Options = Record<string, unknown>;

// Runs the blocks one by one, as threads would, and joins them; null where the call stays whole.
function inBlocks(args: readonly unknown[], count: number): { result: unknown; blocks: number } | null {
  const blocks = cutAttention(args, () => count);
  if (blocks === undefined) return null;
  const order = blocks.args.map((_, b) => b).reverse();
  for (const b of order) blocks.take(b, attention(...(blocks.args[b] as Parameters<typeof attention>)));
  return { result: blocks.result(), blocks: order.length };
}

// Every array of a result with its place, as bytes.
function bits(value: unknown, path = "", found: Record<string, unknown> = {}): Record<string, unknown> {
  if (value instanceof Tensor) {
    const { buffer, byteOffset, byteLength } = value.data;
    found[path] = [value.dtype, [...value.shape], Buffer.from(buffer, byteOffset, byteLength).toString("base64")];
  } else if (typeof value === "object" && value !== null) {
    for (const [key, entry] of Object.entries(value)) bits(entry, `${path}.${key}`, found);
  }
  return found;
}

function expectSame(args: readonly unknown[], count = 3): void {
  const whole = bits(attention(...(args as Parameters<typeof attention>)));
  const cut = inBlocks(args, count);
  expect(cut).not.toBeNull();
  expect(cut!.blocks).toBeGreaterThan(1);
  expect(bits(cut!.result)).toEqual(whole);
}

const [heads, n, d] = [4, 61, 16];
const operands = (shape: readonly number[]): unknown[] => [1, 2, 3].map((seed) => randomNormal(shape, { seed }));

describe("blocks of queries", () => {
  const cases = schemes.flatMap(({ slot, name, params }) => {
    if (slot === "embed") return [];
    const options: Options = {};
    for (const param of params) {
      if (param.name === "heads") options.heads = heads;
      else if (param.name === "dim" && slot !== "bias") options.dim = d;
      else if (param.name === "window") options.window = 8;
      else if (param.required && param.kind === "table") options[param.name] = randomNormal([heads, 2 * n - 1]);
      else if (param.required) options[param.name] = param.shown?.value ?? 4;
    }
    return [{ slot, name, options }];
  });

  it.each(cases)("give the bits of the whole under $slot $name", ({ slot, name, options }) => {
    const scheme = fromJSON({ slot, name, ...options });
    const cells = grid(8, 8).data;
    const places = new Tensor(Float64Array.from([...cells.slice(0, n), ...cells.slice(64, 64 + n)]), [2, n], "float64");
    const where = name === "swin" ? { queryPositions: places, keyPositions: places } : {};
    for (const causal of name === "cope" ? [true] : [false, true]) {
      const options = { [slot]: scheme, causal, weights: true, trace: true, ...where };
      for (const count of [2, 3]) expectSame([...operands([heads, n, d]), options], count);
    }
  });

  it("are blocks of heads where each head stands for itself, and bring their own keys", () => {
    const [q, k, v] = [8, 4, 4].map((count, seed) => randomNormal([2, count, n, d], { seed }));
    const mask = randomNormal([8, 1, n], { seed: 9 });
    const sinks = randomNormal([8], { seed: 10 });
    const rotate = [posenc.rope({ dim: d }), posenc.queryScale({ law: "logn", trainLength: 8 })];
    const options = { causal: true, rotate, mask, sinks, keyLengths: [40, n], softcap: 3 };
    for (const count of [2, 4]) {
      const blocks = cutAttention([q, k, v, options], () => count)!;
      expect(blocks.shared).toEqual([]);
      const shapes = blocks.args.map(([part]) => (part as posenc.Tensor).shape);
      expect(shapes).toEqual(Array(count).fill([2, 8 / count, n, d]));
      expectSame([q, k, v, { ...options, weights: true, trace: true }], count);
    }
    // Three threads would have 2, 1 and 1 of the keys' heads: then queries are cut.
    expect(cutAttention([q, k, v, options], () => 3)!.shared.length).toBeGreaterThan(0);
    // A scheme made for eight heads must see all eight.
    const bias = posenc.alibi({ heads: 8 });
    expect(cutAttention([q, k, v, { ...options, bias }], () => 2)!.shared.length).toBeGreaterThan(0);
  });

  it("leave the caller's arrays alone", () => {
    const [q, k, v] = operands([heads, n, d]);
    const keyMask = new Uint8Array(n).fill(1);
    const options = { keyMask, mask: randomNormal([heads, n, n]), sinks: randomNormal([heads]), causal: true };
    const arrays = [q, k, v, options.mask, options.sinks].map((array) => (array as posenc.Tensor).data.buffer);
    for (const count of [2, 3]) {
      const { fresh } = cutAttention([q, k, v, options], () => count)!;
      for (const buffer of [...arrays, keyMask.buffer]) expect(fresh.has(buffer)).toBe(false);
    }
  });

  it("count their queries as the whole does", () => {
    const [q, k, v] = operands([heads, n, d]);
    const few = randomNormal([heads, 40, d], { seed: 4 });
    const bias = posenc.alibi({ heads });
    const late = Float64Array.from({ length: n }, (_, t) => 3 * t - 7);
    const backwards = Float64Array.from({ length: n }, (_, t) => n - t);
    const twoAxes = new Tensor(Float64Array.from([...late, ...backwards]), [2, n], "float64");
    for (const options of [
      { causal: true },
      { causal: true, queryPositions: late, keyPositions: late },
      { causal: true, queryOrder: backwards, keyOrder: backwards },
      { causal: true, queryPositions: twoAxes, keyPositions: twoAxes, bias: undefined },
      { causal: true, window: 7 },
      { window: [5, 2] },
      { window: [null, 2.5], queryPositions: late, keyPositions: late },
      { causal: true, prefixLength: 20 },
      { keyMask: Array.from({ length: n }, (_, j) => j % 3 !== 0) },
      { causal: true, keyLengths: 33, scale: 0.3 },
    ] as Options[]) {
      expectSame([q, k, v, { bias, ...options }], 4);
    }
    for (const causal of ["top-left", "bottom-right"]) {
      expectSame([few, k, v, { causal, bias }]);
      expectSame([few, k, v, { causal, keyPositions: twoAxes }]);
      expectSame([few, k, v, { causal, keyPositions: late, bias }]);
    }
    const mask = tensor(Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i * j) % 5 !== 1)));
    const row = tensor([Array.from({ length: n }, (_, j) => j % 2 === 0)]);
    const added = randomNormal([heads, n, n], { seed: 8 });
    for (const option of [mask, row, added]) expectSame([q, k, v, { causal: true, mask: option }]);
  });

  it("take batches, grouped queries, other widths, one array for all, and out", () => {
    const q = randomNormal([2, heads, n, d], { seed: 1 });
    const k = randomNormal([2, 2, n, d], { seed: 2 });
    const v = randomNormal([2, 2, n, 5], { seed: 3 });
    const keyMask = Array.from({ length: 2 }, (_, b) => Array.from({ length: n }, (_, j) => (j + b) % 4 !== 0));
    expectSame([q, k, v, { causal: true, keyMask, weights: true, trace: true }]);
    const x = randomNormal([n, d], { seed: 5 });
    expectSame([x, x, x, { causal: true }]);
    expectSame([q, k, v, { causal: true, dtype: "float64", weights: true }], 2);
    expectSame([q, k, v, { causal: true, dtype: "float64", bias: posenc.alibi({ heads }) }]);
    const out = new Float32Array(n * d);
    const blocks = cutAttention([x, x, x, { out }], () => 3)!;
    blocks.args.forEach((args, b) => blocks.take(b, attention(...(args as Parameters<typeof attention>))));
    expect((blocks.result() as posenc.AttentionResult).out.data).toBe(out);
    expect(out).toEqual(attention(x, x, x).out.data);
    expectSame([{ data: x.data, dims: [n, d] }, x, { data: new Float64Array(x.data), shape: [n, d] }, {}]);
    expect(cutAttention([{ data: Array.from(x.data), dims: [n, d] }, x, x], () => 3)).toBeUndefined();
  });

  it("give the bits of the whole whatever the shapes", () => {
    const shape = fc.record({
      queries: fc.integer({ min: 16, max: 90 }),
      keys: fc.integer({ min: 1, max: 90 }),
      heads: fc.constantFrom(1, 2, 4),
      width: fc.integer({ min: 1, max: 20 }),
      count: fc.integer({ min: 2, max: 12 }),
      causal: fc.constantFrom(false, "top-left", "bottom-right"),
      window: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
      prefixLength: fc.integer({ min: 0, max: 1 }),
    });
    fc.assert(
      fc.property(shape, ({ queries, keys, heads, width, count, ...options }) => {
        const q = randomNormal([heads, queries, width], { seed: 1 });
        const k = randomNormal([heads, keys, width], { seed: 2 });
        const v = randomNormal([heads, keys, 3], { seed: 3 });
        const args = [q, k, v, { ...options, bias: posenc.alibi({ heads }) }];
        fc.pre(cutAttention(args, () => count) !== undefined);
        expectSame(args, count);
      }),
      { numRuns: 60 },
    );
  });

  it("are of like work, and leave alone what is small, refused or unknown", () => {
    const x = randomNormal([512, 8], { seed: 1 });
    const work = cutAttention([x, x, x, { causal: true }], () => 4)!.work;
    expect(work.length).toBe(4);
    for (const amount of work) expect(amount / (work.reduce((a, b) => a + b) / 4)).toBeCloseTo(1, 0.5);
    const small = randomNormal([9, 8]);
    expect(cutAttention([small, small, small], () => 4)).toBeUndefined();
    for (const args of [
      [x, x, x, { casual: true }],
      [x, x, x, { causal: "left" }],
      [x, x, [[1]], {}],
      [x, x],
      [x, x, x, { out: new Float32Array(3) }],
      [x, x, x, { window: -1 }],
      [x, x, x, 5],
    ]) {
      expect(cutAttention(args, () => 4)).toBeUndefined();
    }
  });
});
