// What posenc/worker does with the caller's arrays: `out` that is an input as well, places that errors name in calls
// cut into blocks, buffers that move and those that stay, one signal for many calls.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import * as posenc from "../../../web/src/index.js";
import * as worker from "../../../web/src/worker.js";
import { parts } from "../../../web/src/worker/parts.js";
import { noteSpeed } from "../../../web/src/worker/pool.js";

const { PosencError, Tensor, alibi, learned, randomNormal, rope, sinusoidal } = posenc;
type Floats = Float32Array | Float64Array;
type Any = (...args: unknown[]) => unknown;
type Options = Record<string, unknown>;

const sync = posenc as unknown as Readonly<Record<string, Any>>;
const later = worker as unknown as Readonly<Record<string, Any>>;
const kWorkers = [
  ["two workers", 2],
  ["no worker", 0],
] as const;

afterAll(() => worker.terminate());

// Has the next call of attention cut as if it took so many milliseconds, however fast this machine is.
function expectToTake(ms: number, [q, k, v]: readonly posenc.Tensor[]): void {
  const [width, valueWidth] = [q!.shape.at(-1)!, v!.shape.at(-1)!];
  const work = (q!.size / width) * k!.shape.at(-2)! * (width + valueWidth + 16);
  for (let i = 0; i < 50; i++) noteSpeed(work / ms, 1);
}

const numbers = (value: unknown): number[] =>
  Array.from(value instanceof Tensor ? value.data : (value as posenc.AttentionResult).out.data, Number);

// ---------------------------------------------------------------- out that is an input

// A call with an input `x` of `size` numbers, given in a shape or bare, and the options behind.
interface Case {
  readonly name: string;
  readonly input: string;
  readonly size: number;
  readonly shape: readonly number[];
  readonly wide?: boolean;
  args(x: unknown): readonly unknown[];
  options?(x: unknown): Options;
}

const square = [4, 4];
const other = randomNormal(square, { seed: 3 });
const others = { q: other, k: randomNormal(square, { seed: 4 }), v: randomNormal(square, { seed: 5 }) };
const column = randomNormal([4, 1], { seed: 6 });
const projections = Object.fromEntries(
  ["wq", "wk", "wv", "wo"].map((name, i) => [name, randomNormal(square, { seed: 7 + i })]),
);

const kCases: readonly Case[] = [
  { name: "embed", input: "x", size: 16, shape: square, args: (x) => [x, sinusoidal({ dim: 4 })] },
  {
    ...{ name: "embed", input: "positions", size: 4, shape: [4] },
    args: () => [column, learned({ length: 9, dim: 1, seed: 3 })],
    options: (positions) => ({ positions }),
  },
  {
    ...{ name: "encode", input: "positions", size: 4, shape: [4] },
    args: (x) => [learned({ length: 9, dim: 1, seed: 3 }), x],
  },
  {
    ...{ name: "encode", input: "positions", size: 4, shape: [4], wide: true },
    args: (x) => [learned({ length: 9, dim: 1, seed: 3 }), x],
    options: () => ({ dtype: "float64" }),
  },
  { name: "rotate", input: "x", size: 16, shape: square, args: (x) => [x, rope({ dim: 4 })] },
  { name: "rotate", input: "x", size: 16, shape: square, wide: true, args: (x) => [x, rope({ dim: 4 })] },
  ...(["queries", "keys"] as const).map(
    (input): Case => ({
      ...{ name: "bias", input, size: 4, shape: [4] },
      args: () => [alibi({ heads: 1 })],
      options: (x) => ({ queries: [2], keys: [2], [input]: x }),
    }),
  ),
  ...[false, true].flatMap((wide): Case[] => [
    ...(["q", "k", "v"] as const).map(
      (input): Case => ({
        ...{ name: "attention", input, size: 16, shape: square, wide },
        args: (x) => Object.values({ ...others, [input]: x }),
        options: () => (wide ? { dtype: "float64" } : {}),
      }),
    ),
    {
      ...{ name: "attention", input: "all of q, k and v", size: 16, shape: square, wide },
      args: (x) => [x, x, x],
      options: () => (wide ? { dtype: "float64" } : {}),
    },
    {
      ...{ name: "attention", input: "mask", size: 16, shape: square, wide },
      args: () => Object.values(others),
      options: (mask) => (wide ? { mask, dtype: "float64" } : { mask }),
    },
  ]),
  ...["queryPositions", "keyPositions", "queryOrder"].map(
    (input): Case => ({
      ...{ name: "attention", input, size: 4, shape: [4] },
      args: () => [others.q, others.k, column],
      options: (x) => ({ causal: input === "queryOrder", bias: alibi({ heads: 1 }), [input]: x }),
    }),
  ),
  {
    ...{ name: "attention", input: "sinks", size: 4, shape: [4] },
    args: () => Array(3).fill(randomNormal([4, 1, 1], { seed: 11 })),
    options: (sinks) => ({ sinks }),
  },
  ...["x", ...Object.keys(projections), "context"].map(
    (input): Case => ({
      ...{ name: "multiHeadAttention", input, size: 16, shape: square },
      args: (x) => [input === "x" ? x : other],
      options: (x) => ({ ...projections, heads: 2, ...(input === "x" ? {} : { [input]: x }) }),
    }),
  ),
  ...[false, true].map(
    (wide): Case => ({
      ...{ name: "similarity", input: "table", size: 16, shape: square, wide },
      args: (x) => [x],
      options: () => ({ dtype: wide ? "float64" : "float32" }),
    }),
  ),
];

function tensorOf(data: Floats, shape: readonly number[]): posenc.Tensor {
  return data instanceof Float64Array ? new Tensor(data, shape, "float64") : new Tensor(data, shape, "float32");
}

// The ways to give an array as an input and as `out`.
const kForms: Readonly<Record<string, (data: Floats, shape: readonly number[]) => { input: unknown; out: unknown }>> = {
  "data and a shape": (data, shape) => ({ input: { data, shape }, out: data }),
  "a tensor": (data, shape) => {
    const tensor = tensorOf(data, shape);
    return { input: tensor, out: tensor };
  },
  "a tensor's data": (data, shape) => ({ input: tensorOf(data, shape), out: data }),
  "a bare array": (data) => ({ input: data, out: data }),
};

describe("out that is an input as well", () => {
  it("is tried with every function that takes out", () => {
    const root = join(import.meta.dirname, "../../../web/src");
    const files = (readdirSync(root, { recursive: true }) as string[]).filter((file) => file.endsWith(".ts"));
    const reads = files.flatMap((file) => readFileSync(join(root, file), "utf8").match(/= readOut\(/g) ?? []);
    expect(new Set(kCases.map(({ name }) => name)).size).toBe(reads.length);
  });

  describe.each(kWorkers)("with %s", (_, workers) => {
    it.each(kCases)("$name reads $input before it is written (case %#)", async (one) => {
      worker.configure({ workers });
      const { name, size, shape, wide = false } = one;
      const fresh = (): Floats => {
        const data = new (wide ? Float64Array : Float32Array)(size);
        return data.map((_, i) => (i * 5) % 7);
      };
      for (const [form, give] of Object.entries(kForms)) {
        if (form === "a bare array" && shape.length > 1) continue;
        const call = (api: typeof sync, data: Floats): unknown => {
          const { input, out } = give(data, shape);
          return api[name]!(...one.args(input), { ...one.options?.(input), out });
        };
        const [apart, sameArray, away] = [fresh(), fresh(), fresh()];
        const { input } = give(apart, shape);
        const expected = numbers(sync[name]!(...one.args(input), { ...one.options?.(input) }));
        expect(Array.from(apart), form).toEqual(Array.from(fresh()));
        expect(numbers(call(sync, sameArray)), form).toEqual(expected);
        const result = (await call(later, away)) as posenc.Tensor | posenc.AttentionResult;
        expect(numbers(result), form).toEqual(expected);
        expect(Array.from(away), form).toEqual(expected);
        expect((result instanceof Tensor ? result : result.out).data, form).toBe(away);
        expect(Array.from(away), form).not.toEqual(Array.from(fresh()));
      }
    });

    it("is read whole where attention runs in blocks", async () => {
      worker.configure({ workers });
      const shape = [4, 700, 32];
      const [q, k, v] = [1, 2, 3].map((seed) => randomNormal(shape, { seed })) as [posenc.Tensor, ...posenc.Tensor[]];
      const expected = posenc.attention(q, k!, v!, { causal: true });
      for (const at of [0, 1, 2]) {
        const mine = new Tensor([q, k!, v!][at]!.data.slice() as Float32Array, shape, "float32");
        const args = [q, k!, v!].map((array, i) => (i === at ? mine : array));
        expectToTake(300, args);
        let reports = 0;
        const options = { causal: true, out: at === 1 ? mine.data : mine, onProgress: () => reports++ };
        const { out } = (await later.attention!(...args, options)) as posenc.AttentionResult;
        expect(reports).toBeGreaterThan(1);
        expect(out.data).toBe(mine.data);
        expect(Buffer.from(out.data.buffer).equals(Buffer.from(expected.out.data.buffer))).toBe(true);
      }
    });
  });
});

// ---------------------------------------------------------------- errors of blocks

describe("a call in blocks that is refused", () => {
  const outcome = (error: unknown): unknown =>
    error instanceof PosencError
      ? { ...error, message: error.message, range: error instanceof RangeError }
      : { unexpected: String(error) };
  const refused = (args: readonly unknown[]): unknown => {
    try {
      sync.attention!(...args);
    } catch (error) {
      return outcome(error);
    }
    return "nothing";
  };
  // Rows next to which some way of cutting cuts, and the middle of each block.
  const rowsBeside = (args: readonly unknown[]): number[] => {
    const rows = new Set<number>();
    const queries = (args[0] as posenc.Tensor).shape.at(-2)!;
    for (const count of [2, 3, 5]) {
      let start = 0;
      for (const make of parts.attention!.cut(args, () => count)!.args) {
        const length = (make()[0] as posenc.Tensor).shape.at(-2)!;
        if (length === queries) break;
        for (const row of [start - 1, start, start + (length >> 1)]) if (row >= 0) rows.add(row);
        start += length;
      }
    }
    return [...rows, queries - 1];
  };
  const copy = (array: posenc.Tensor): posenc.Tensor<"float32"> =>
    new Tensor(array.data.slice() as Float32Array, array.shape, "float32");

  describe.each([
    ["two workers", 2],
    ["three workers", 3],
    ["no worker", 0],
  ])("with %s", (_, workers) => {
    it.each([
      [[700, 64], 0],
      [[4, 300, 32], 0],
      [[1, 4, 300, 32], 0],
      [[2, 2, 300, 32], 0],
      [[2, 4, 300, 16], 2],
    ])("names the places of the whole: %j with %i heads for all", async (shape, kvHeads) => {
      worker.configure({ workers });
      const kShape = kvHeads === 0 ? shape : [shape[0]!, kvHeads, ...shape.slice(2)];
      const arrays = [shape, kShape, kShape].map((s, seed) => randomNormal(s, { seed }));
      const rows = rowsBeside(arrays);
      const width = shape.at(-1)!;
      const calls: (readonly unknown[])[] = [];
      rows.forEach((row, turn) => {
        for (const bad of [NaN, Infinity]) {
          const at = turn % 3;
          const wrong = copy(arrays[at]!);
          const matrices = wrong.size / (shape.at(-2)! * width);
          const matrix = (turn * 3 + 1) % matrices;
          wrong.data[(matrix * shape.at(-2)! + row) * width + (turn % width)] = bad;
          calls.push(arrays.map((array, i) => (i === at ? wrong : array)));
        }
      });
      for (const [turn, args] of calls.entries()) {
        const expected = refused(args);
        expectToTake(turn % 2 === 0 ? 60 : 400, args as posenc.Tensor[]); // by heads, and by queries
        expect(expected).toMatchObject({ code: "not-finite" });
        expect(await (later.attention!(...args) as Promise<unknown>).catch(outcome)).toEqual(expected);
      }
      // Two scores that overflow, the later of them in what is cut off first.
      for (const [turn, row] of rows.slice(0, 6).entries()) {
        const [q, k] = [copy(arrays[0]!), copy(arrays[1]!)];
        const matrices = q.size / (shape.at(-2)! * width);
        const groups = matrices / (k.size / (shape.at(-2)! * width));
        for (const matrix of new Set([(turn + 1) % matrices, matrices - 1])) {
          q.data[(matrix * shape.at(-2)! + row) * width] = 1e30;
          k.data[(Math.floor(matrix / groups) * shape.at(-2)! + 5) * width] = 1e30;
        }
        const out = new Float32Array(q.size).fill(7);
        const options = { scale: 1, ...(turn % 2 === 0 ? { out } : {}) };
        const expected = refused([q, k, arrays[2], { scale: 1 }]);
        expect(expected).toMatchObject({ code: "out-of-range", argument: "q" });
        expectToTake(turn < 3 ? 60 : 400, [q, k, arrays[2]!]);
        const got = (later.attention!(q, k, arrays[2], options) as Promise<unknown>).catch(outcome);
        q.data.fill(NaN); // nothing of the caller's is looked at any more
        expect(await got).toEqual(expected);
        expect(out.every((entry) => entry === 7)).toBe(true);
      }
    });
  });

  it("can be stopped still, and the next goes on", async () => {
    worker.configure({ workers: 2 });
    const q = randomNormal([2, 2048, 64], { seed: 1 });
    q.data[0] = q.data[64] = 1e30;
    const reason = new Error("enough");
    for (const ms of [0, 5, 20, 60]) {
      const controller = new AbortController();
      expectToTake(400, [q, q, q]);
      const call = worker.attention(q, q, q, { scale: 1, causal: true, signal: controller.signal });
      setTimeout(() => controller.abort(reason), ms);
      const error: unknown = await call.then(() => undefined, (why: unknown) => why);
      if (error !== reason) expect(error).toMatchObject({ code: "out-of-range" });
    }
    expect(numbers(await worker.encode(sinusoidal({ dim: 2 }), [0]))).toEqual([0, 1]);
  });
});

// ---------------------------------------------------------------- transfer

describe.each(kWorkers)("transfer with %s", (_, workers) => {
  const x = randomNormal([6, 4], { seed: 1 });

  it("leaves out where it is, though arguments lie in its buffer", async () => {
    worker.configure({ workers });
    const expected = numbers(posenc.attention(x, x, x));
    for (const list of [false, true]) {
      const both = new Float32Array(48);
      both.set(x.data);
      const [q, out] = [{ data: both.subarray(0, 24), shape: x.shape }, both.subarray(24)];
      const k = new Tensor(x.data.slice(), x.shape, "float32");
      const transfer = list ? [both.buffer, k] : true;
      const result = await worker.attention(q, k, k, { out, transfer });
      expect(result.out.data).toBe(out);
      expect(k.data.length).toBe(0);
      expect(Array.from(both)).toEqual([...Array.from(x.data), ...expected]);
    }
    const inPlace = new Tensor(x.data.slice(), x.shape, "float32");
    const { out } = await worker.attention(inPlace, inPlace, inPlace, { out: inPlace, transfer: true });
    expect(Array.from(inPlace.data)).toEqual(expected);
    expect(out.data).toBe(inPlace.data);
  });

  it("moves the same arrays whether the call runs in blocks or not", async () => {
    worker.configure({ workers });
    for (const [heads, length] of [[4, 8], [4, 300], [1, 700]] as const) {
      for (const among of [false, true]) {
        const shape = [heads, length, 32];
        const [q, k, v] = [1, 2, 3].map((seed) => randomNormal(shape, { seed }));
        const mask = randomNormal([1, length], { seed: 4 });
        const sinks = new Float32Array(heads);
        const keyMask = new Uint8Array(length).fill(1);
        const out = new Float32Array(q!.size);
        const options = { causal: true, mask, sinks, keyMask };
        const expected = numbers(posenc.attention(q!, k!, v!, options));
        const transfer = among ? [q!, mask, keyMask.buffer] : true;
        if (length > 8) expectToTake(300, [q!, k!, v!]);
        const call = worker.attention(q!, k!, v!, { ...options, out, transfer });
        const gone = [q!.data, k!.data, v!.data, mask.data, sinks, keyMask, out].map(({ length }) => length === 0);
        expect(gone).toEqual(among ? [true, false, false, true, false, true, false] : [...Array(6).fill(true), false]);
        expect(numbers(await call)).toEqual(expected);
      }
    }
  });

  it("takes a list of what is among the arguments only", async () => {
    worker.configure({ workers });
    const copy = (): posenc.Tensor<"float32"> => new Tensor(x.data.slice(), x.shape, "float32");
    const [q, stranger] = [copy(), new Float32Array(24)];
    const out = new Float32Array(24);
    const growing = new (ArrayBuffer as unknown as new (size: number, options: object) => ArrayBuffer)(96, {
      maxByteLength: 192,
    });
    new Float32Array(growing).set(x.data);
    const shared = new Float32Array(new SharedArrayBuffer(96));
    shared.set(x.data);
    const long = randomNormal([4, 300, 32], { seed: 1 });
    for (const wrong of [stranger, stranger.buffer, new Tensor(stranger, [24], "float32"), out, 5, {}, "q", null]) {
      const transfer = [q, wrong] as unknown as ArrayBuffer[];
      const allowed = "true, or a list of arrays among the arguments";
      const refusal = { code: "not-a-number", argument: "transfer", allowed };
      await expect(worker.attention(q, x, x, { out, transfer })).rejects.toMatchObject(refusal);
      expect([q.data.length, out.length, stranger.length]).toEqual([24, 24, 24]);
      expectToTake(300, [long, long, long]);
      const cut = worker.attention(long, long, long, { transfer: [wrong] as unknown as ArrayBuffer[] });
      await expect(cut).rejects.toMatchObject(refusal);
      expect(long.data.length).toBe(long.size);
    }
    // Those that cannot move are copied, where they are among them.
    const expected = numbers(posenc.attention(x, x, x));
    const views = [new Float32Array(growing), shared].map((data) => ({ data, shape: x.shape }));
    const still = await worker.attention(q, views[0]!, views[1]!, { transfer: [q, growing, shared] });
    expect(numbers(still)).toEqual(expected);
    expect([q.data.length, growing.byteLength, shared.length]).toEqual([0, 96, 24]);
    // Arrays within lists and options count as well.
    const rows = [new Float64Array([1, 2]), new Float64Array([3, 4])];
    const positions = new Float64Array([5, 6]);
    await worker.rotate(rows, rope({ dim: 2 }), { positions, transfer: [rows[1]!, positions] });
    expect([rows[0]!.length, rows[1]!.length, positions.length]).toEqual([2, 0, 0]);
  });
});

// ---------------------------------------------------------------- signals

describe("one signal", () => {
  const table = sinusoidal({ dim: 2 });

  it("stops any number of calls, which Node does not warn of", async () => {
    worker.configure({ workers: 2 });
    const warnings: unknown[] = [];
    const warn = (warning: unknown): void => void warnings.push(warning);
    process.on("warning", warn);
    const controller = new AbortController();
    const { signal } = controller;
    const results = await Promise.all(Array.from({ length: 40 }, () => worker.encode(table, [0], { signal })));
    for (const result of results) expect(numbers(result)).toEqual([0, 1]);
    const calls = Array.from({ length: 40 }, () => worker.encode(table, [0], { signal }));
    const reason = new Error("enough");
    controller.abort(reason);
    for (const { status, reason: why } of (await Promise.allSettled(calls)) as PromiseRejectedResult[]) {
      expect([status, why]).toEqual(["rejected", reason]);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off("warning", warn);
    expect(warnings).toEqual([]);
  });

  it("is let go when its calls are over", async () => {
    worker.configure({ workers: 2 });
    const controller = new AbortController();
    const { signal } = controller;
    let listening = 0;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    Object.assign(signal, {
      addEventListener: (...args: Parameters<typeof add>) => (listening++, add(...args)),
      removeEventListener: (...args: Parameters<typeof remove>) => (listening--, remove(...args)),
    });
    for (let round = 0; round < 3; round++) {
      const calls = [1, 2, 3].map(() => worker.encode(table, [0], { signal }));
      expect(listening).toBe(1);
      await Promise.all(calls);
      expect(listening).toBe(0);
      await expect(worker.encode(table, null as never, { signal })).rejects.toBeInstanceOf(Error);
      expect(listening).toBe(0);
    }
    const last = worker.encode(table, [0], { signal });
    controller.abort();
    await expect(last).rejects.toBe(signal.reason);
  });
});
