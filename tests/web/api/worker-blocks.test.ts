// Attention cut into blocks of queries has the bits of the whole: every scheme, masks, positions, orders, results.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as posenc from "../../../web/src/index.js";
import { type Blocks, snapshot } from "../../../web/src/worker/blocks.js";
import { parts } from "../../../web/src/worker/parts.js";

const { Tensor, attention, fromJSON, grid, randomNormal, schemes, tensor } = posenc;
type Options = Record<string, unknown>;
type Any = (...args: readonly unknown[]) => unknown;


const sync = posenc as unknown as Readonly<Record<string, Any>>;

// The blocks of a call; undefined where it stays whole, for which cutting may throw.
function cutCall(name: string, args: readonly unknown[], count: number): Blocks | undefined {
  try {
    return parts[name]!.cut(args, () => count);
  } catch {
    return undefined;
  }
}
const cutAttention = (args: readonly unknown[], count: number): Blocks | undefined => cutCall("attention", args, count);

// Runs the blocks one by one, as threads would, the last of each stage first, and joins them; null where the call stays
// whole. Arguments and results cross as messages, so that nothing in them is shared.
function inBlocks(name: string, args: readonly unknown[], count: number): { result: unknown; blocks: number } | null {
  let blocks = cutCall(name, args, count);
  if (blocks === undefined) return null;
  for (let most = 0; ; blocks = blocks.next()) {
    const { name: part, args: all } = blocks;
    const made = all.map((make) => snapshot(make()));
    for (let b = made.length; b-- > 0; ) {
      blocks.take(b, snapshot((parts[name]!.functions[part] as Any)(...made[b]!)));
    }
    most = Math.max(most, made.length);
    if (blocks.next === undefined) return { result: blocks.result(), blocks: most };
  }
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

function expectSame(args: readonly unknown[], count = 3, name = "attention"): void {
  const whole = bits(sync[name]!(...args));
  const cut = inBlocks(name, args, count);
  expect(cut).not.toBeNull();
  expect(cut!.blocks).toBeGreaterThan(1);
  expect(bits(cut!.result)).toEqual(whole);
}

const [heads, n, d] = [4, 61, 16];
const operands = (shape: readonly number[]): unknown[] => [1, 2, 3].map((seed) => randomNormal(shape, { seed }));

// Schemes of every slot but embed, as blocks of heads and of queries meet them.
function schemeCases(): { slot: string; name: string; options: Options }[] {
  return schemes.flatMap(({ slot, name, params }) => {
    if (slot === "embed") return [];
    const options: Options = {};
    for (const param of params) {
      if (param.name === "heads") options.heads = heads;
      else if (param.name === "dim" && slot !== "bias") options.dim = d;
      else if (param.name === "window") options.window = 12; // for grids up to 12 x 12
      else if (param.required && param.kind === "table") options[param.name] = randomNormal([heads, 2 * 140 - 1]);
      else if (param.required) options[param.name] = param.shown?.value ?? 4;
    }
    return [{ slot, name, options }];
  });
}

describe("blocks of queries", () => {
  it.each(schemeCases())("give the bits of the whole under $slot $name", ({ slot, name, options }) => {
    const scheme = fromJSON({ slot, name, ...options } as posenc.SchemeJSON);
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
      const blocks = cutAttention([q, k, v, options], count)!;
      expect(blocks.shared).toEqual([]);
      const shapes = blocks.args.map((make) => (make()[0] as posenc.Tensor).shape);
      expect(shapes).toEqual(Array(count).fill([2, 8 / count, n, d]));
      expectSame([q, k, v, { ...options, weights: true, trace: true }], count);
    }
    // Three threads would have 2, 1 and 1 of the keys' heads: then queries are cut.
    expect(cutAttention([q, k, v, options], 3)!.shared.length).toBeGreaterThan(0);
    // A scheme made for eight heads counts them from the block's first.
    const bias = posenc.alibi({ heads: 8 });
    expect(cutAttention([q, k, v, { ...options, bias }], 2)!.shared).toEqual([]);
    expectSame([q, k, v, { ...options, bias, trace: true }], 2);
  });

  it("leave the caller's arrays alone", () => {
    const [q, k, v] = operands([heads, n, d]);
    const keyMask = new Uint8Array(n).fill(1);
    const options = { keyMask, mask: randomNormal([heads, n, n]), sinks: randomNormal([heads]), causal: true };
    const arrays = [q, k, v, options.mask, options.sinks].map((array) => (array as posenc.Tensor).data.buffer);
    for (const count of [2, 3]) {
      const { fresh, args } = cutAttention([q, k, v, options], count)!;
      for (const make of args) make();
      expect(fresh.size).toBeGreaterThan(count);
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

  it("take masks of BigInts as flags", () => {
    const flags = (shape: readonly number[], offset: number): object => ({
      data: BigInt64Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => BigInt((i + offset) % 3 > 0)),
      dims: shape,
    });
    const args = operands([2, 1, n, d]);
    for (const mask of [flags([n, n], 0), flags([1, n], 1), flags([2, 1, n, n], 2)]) {
      expectSame([...args, { mask, keyMask: flags([2, n], 1), keyLengths: BigInt64Array.of(60n, 55n), weights: true }]);
    }
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
    const blocks = cutAttention([x, x, x, { out }], 3)!;
    blocks.args.forEach((make, b) => blocks.take(b, (parts.attention!.functions[blocks.name] as Any)(...make())));
    expect((blocks.result() as posenc.AttentionResult).out.data).toBe(out);
    expect(out).toEqual(attention(x, x, x).out.data);
    expectSame([{ data: x.data, dims: [n, d] }, x, { data: new Float64Array(x.data), shape: [n, d] }, {}]);
    expect(cutAttention([{ data: Array.from(x.data), dims: [n, d] }, x, x], 3)).toBeUndefined();
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
        fc.pre(cutAttention(args, count) !== undefined);
        expectSame(args, count);
      }),
      { numRuns: 60 },
    );
  });

  it("are of like work, and leave alone what is small, refused or unknown", () => {
    const x = randomNormal([512, 8], { seed: 1 });
    const work = cutAttention([x, x, x, { causal: true }], 4)!.work;
    expect(work.length).toBe(4);
    for (const amount of work) expect(amount / (work.reduce((a, b) => a + b) / 4)).toBeCloseTo(1, 0.5);
    const small = randomNormal([9, 8]);
    expect(cutAttention([small, small, small], 4)).toBeUndefined();
    for (const args of [
      [x, x, x, { casual: true }],
      [x, x, x, { causal: "left" }],
      [x, x, [[1]], {}],
      [x, x],
      [x, x, x, { out: new Float32Array(3) }],
      [x, x, x, { window: -1 }],
      [x, x, x, 5],
    ]) {
      expect(cutAttention(args, 4)).toBeUndefined();
    }
  });
});

describe("pieces of the gradient", () => {
  // More than two pieces a head, of which the last is small.
  const tokens = 140;
  const cells = grid(12, 12).data;
  const data = Float64Array.from([...cells.slice(0, tokens), ...cells.slice(144, 144 + tokens)]);
  const places = new Tensor(data, [2, tokens], "float64");
  const [q, dOut] = [1, 4].map((seed) => randomNormal([heads, tokens, d], { seed }));
  const [k, v] = [2, 3].map((seed) => randomNormal([2, tokens, d], { seed }));

  it.each(schemeCases())("add up to the bits of the whole under $slot $name", ({ slot, name, options }) => {
    const where = name === "swin" ? { queryPositions: places, keyPositions: places } : {};
    const scheme = fromJSON({ slot, name, ...options } as posenc.SchemeJSON);
    const given = { [slot]: scheme, causal: true, ...where, dtype: "float64" };
    expectSame([q, k, v, dOut, given], 3, "attentionGradient");
  });

  it("take batches, masks, sinks, caps, orders, other widths and lengths, and follow q's dtype", () => {
    const [query, key] = [randomNormal([2, heads, 70, d], { seed: 1 }), randomNormal([2, 2, 90, d], { seed: 2 })];
    const [value, up] = [randomNormal([2, 2, 90, 5], { seed: 3 }), randomNormal([2, heads, 70, 5], { seed: 4 })];
    const bias = posenc.t5({ heads, seed: 1 });
    const keyMask = Array.from({ length: 2 }, (_, b) => Array.from({ length: 90 }, (_, j) => (j + b) % 4 !== 0));
    const order = Float64Array.from({ length: 90 }, (_, j) => 90 - j);
    for (const options of [
      { causal: "bottom-right", keyLengths: [90, 50], keyMask, softcap: 2 },
      { mask: randomNormal([2, 1, 70, 90], { seed: 5 }), sinks: [1, -1, 0.5, 3], rotate: posenc.rope({ dim: d }) },
      { mask: randomNormal([heads, 1, 90], { seed: 6 }), window: [20, 3], bias: [bias, bias] },
      { causal: true, queryOrder: order.slice(0, 70), keyOrder: order, prefixLength: 3 },
      { mask: tensor(keyMask[0]!), relate: posenc.cope({ dim: d, maxPosition: 9 }), causal: "top-left" },
    ] as Options[]) {
      expectSame([query, key, value, up, options], 4, "attentionGradient");
    }
    const wide = (x: posenc.Tensor): posenc.Tensor => new Tensor(Float64Array.from(x.data, Number), x.shape, "float64");
    expectSame([wide(query), key, value, up, { bias }], 4, "attentionGradient");
    const one = randomNormal([150, d], { seed: 7 });
    expectSame([one, one, one, one.data, { causal: true, rotate: posenc.xpos({ dim: d }) }], 4, "attentionGradient");
  });

  it("leave to the whole what only it can say", () => {
    const cut = (...args: unknown[]): unknown => cutCall("attentionGradient", args, 4);
    expect(cut(q, k, v, dOut, {})).toBeDefined();
    expect(cut(q, k, v, dOut, { allowNonFinite: true })).toBeUndefined();
    for (const options of [{ weights: true }, { dtype: "int8" }, { casual: true }, { causal: 1 }]) {
      expect(cut(q, k, v, dOut, options) === undefined, JSON.stringify(options)).toBe(true);
    }
    expect(cut(q, k, v, randomNormal([3, 2]), {})).toBeUndefined();
    // Sums beyond float64 are refused in the words of the whole.
    const huge = new Tensor(new Float64Array(heads * tokens * d).fill(1e308), [heads, tokens, d], "float64");
    expect(() => inBlocks("attentionGradient", [q, k, v, huge, { dtype: "float64" }], 4)).toThrow();
  });
});

describe("a layer in stages", () => {
  const weights = (shapes: Readonly<Record<string, readonly number[]>>): Options => {
    const made = Object.entries(shapes).map(([name, shape], seed) => [name, randomNormal(shape, { seed, std: 0.3 })]);
    return Object.fromEntries(made) as Options;
  };
  const inward = weights({ wq: [20, 24], wk: [20, 12], wv: [20, 10], wo: [20, 17] });
  const layer = { ...inward, ...weights({ bq: [24], bk: [12], bv: [10], bo: [17] }) };

  it.each([2, 3, 5])("gives the bits of the whole in %i blocks", (count) => {
    const x = randomNormal([61, 20], { seed: 9 });
    const batch = randomNormal([2, 61, 20], { seed: 10 });
    const base = { ...layer, heads: 4, kvHeads: 2 };
    for (const options of [
      { ...base, causal: true, bias: posenc.alibi({ heads: 4 }), weights: true, trace: true },
      { ...base, embed: posenc.sinusoidal({ dim: 20 }), rotate: posenc.rope({ dim: 6 }), window: 9 },
      { ...base, embed: [posenc.learned({ length: 70, dim: 20 }), posenc.sinusoidal({ dim: 20 })], softcap: 2 },
    ]) {
      for (const tokens of [x, batch]) expectSame([tokens, options], count, "multiHeadAttention");
    }
    const cross = weights({ wk: [9, 12], wv: [9, 10], context: [2, 33, 9] });
    const crossed = { ...base, ...cross, causal: "top-left", keyLengths: [33, 20], sinks: [0, 1, 2, 3] };
    expectSame([batch, crossed], count, "multiHeadAttention");
    const mask = tensor(Array.from({ length: 61 }, (_, i) => Array.from({ length: 61 }, (_, j) => (i * j) % 5 !== 1)));
    expectSame([batch, { ...base, mask }], count, "multiHeadAttention");
    const out = new Float32Array(61 * 17);
    const { result } = inBlocks("multiHeadAttention", [x, { ...base, out }], count)!;
    expect((result as posenc.AttentionResult).out.data).toBe(out);
    expect(out).toEqual(posenc.multiHeadAttention(x, base as never).out.data);
  });

  it("is left to the whole where a part of it would be refused, or is", () => {
    const x = randomNormal([61, 20], { seed: 9 });
    const good = { ...layer, heads: 4, kvHeads: 2 };
    expect(cutCall("multiHeadAttention", [x, good], 3)).toBeDefined();
    const wrong = [{ heads: 3 }, { wq: [[1]] }, { out: new Float32Array(3) }, { wo: undefined }, { casual: 1 }];
    for (const options of wrong) {
      expect(cutCall("multiHeadAttention", [x, { ...good, ...options }], 3)).toBeUndefined();
    }
    expect(cutCall("multiHeadAttention", [x], 3)).toBeUndefined();
  });
});
