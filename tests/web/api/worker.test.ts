// posenc/worker in Node: every function on other threads with the bits and the refusals of this one, cancelled,
// followed, given away, on threads that die and where there are none.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, expectTypeOf, it } from "vitest";
import * as atOnceCatalogue from "../../../web/src/catalogue.js";
import * as atOnceError from "../../../web/src/error.js";
import * as posenc from "../../../web/src/index.js";
import * as atOnceModule from "../../../web/src/module.js";
import * as atOncePositions from "../../../web/src/positions.js";
import * as atOnceSentences from "../../../web/src/sentences.js";
import * as atOnceSchemes from "../../../web/src/schemes.gen.js";
import * as atOnceTensor from "../../../web/src/tensor.js";
import * as worker from "../../../web/src/worker.js";
import { noteSpeed } from "../../../web/src/worker/pool.js";
// @ts-expect-error -- a script without types
import { threadText as untypedThreadText } from "../../../web/build.mjs";

const { PosencError, Tensor, alibi, learned, randomNormal, rope, shaw, sinusoidal, t5, tensor } = posenc;
const kRoot = join(import.meta.dirname, "../../..");
type Any = (...args: unknown[]) => unknown;
type Progress = worker.Progress;
type Triple = [posenc.Tensor, posenc.Tensor, posenc.Tensor];

// Node's own module of threads, whose class of workers the tests replace to see and to hurt what is made.
interface NodeWorker {
  terminate(): Promise<number>;
  threadId: number;
}
const threads = process.getBuiltinModule("node:worker_threads") as unknown as {
  Worker: new (source: string, options: object) => NodeWorker;
};
const Original = threads.Worker;

// Hears of every worker made from here on, with what is changed about it.
function watchWorkers(change: (source: string, options: object) => [string, object] = (...all) => all): NodeWorker[] {
  const made: NodeWorker[] = [];
  threads.Worker = class extends Original {
    constructor(source: string, options: object) {
      super(...change(source, options));
      made.push(this);
    }
  };
  return made;
}

afterEach(() => {
  threads.Worker = Original;
  worker.configure({ workers: 2 });
  worker.terminate();
});

// A result as text: every array with its kind, shape and bytes, numbers with their sign.
function written(value: unknown): string {
  return JSON.stringify(value, (_, entry: unknown) => {
    if (entry instanceof Tensor) return { dtype: entry.dtype, shape: entry.shape, data: bytes(entry.data) };
    if (ArrayBuffer.isView(entry)) return { kind: Object.prototype.toString.call(entry), data: bytes(entry) };
    return typeof entry === "number" ? `number ${Object.is(entry, -0) ? "-0" : entry}` : entry;
  });
}
// Tensors write themselves as JSON before a replacer sees them.
function bytes({ buffer, byteOffset, byteLength }: ArrayBufferView): string {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength).toString("base64");
}
function plain(value: unknown): unknown {
  if (value instanceof Tensor) return { dtype: value.dtype, shape: value.shape, data: bytes(value.data) };
  if (ArrayBuffer.isView(value)) return { kind: Object.prototype.toString.call(value), data: bytes(value) };
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, plain(entry)]));
  }
  return value;
}
const same = (a: unknown, b: unknown): void => expect(written(plain(a))).toBe(written(plain(b)));

const heads = 4;
const x = randomNormal([heads, 24, 8], { seed: 1 });
const weights = posenc.attention(x, x, x, { weights: true }).weights;
const scheme = rope({ dim: 8, scaling: { type: "yarn", factor: 2, originalMaxPositionEmbeddings: 16 } });

// Arguments that each function takes, with options last where it has some.
const kCalls: Readonly<Record<string, readonly unknown[]>> = {
  embed: [randomNormal([5, 8], { seed: 2 }), sinusoidal({ dim: 8 }), { scale: "sqrt", positions: [1, 2, 3, 4, 5n] }],
  encode: [learned({ length: 9, dim: 6, seed: 3 }), [0, 8, 3], { dtype: "float64" }],
  convertLayout: [randomNormal([3, 8]), { from: "half", to: "interleaved" }],
  rotate: [x, scheme, { side: "key", inverse: true }],
  layoutCheck: [x, posenc.rotate(x, rope({ dim: 8, layout: "half" })), rope({ dim: 8 }), { tolerance: 0.1 }],
  bias: [t5({ heads, weights: randomNormal([32, heads], { seed: 4 }) }), { queries: 7, keys: [3, 1], heads: [2, 0] }],
  relativeIndex: [shaw({ dim: 4, clip: 2 }), { queries: 5, keys: 5 }],
  frequencies: [scheme, { length: 64 }],
  attention: [x, x, x, { causal: true, rotate: [scheme], bias: alibi({ heads }), weights: true, trace: true }],
  attentionDistance: [weights, { positions: 24 }],
  entropy: [weights, { base: 2 }],
  randomNormal: [[3, 4], { seed: 5, mean: 1 }],
  multiHeadAttention: [
    randomNormal([6, 8], { seed: 6 }),
    Object.fromEntries([
      ...["wq", "wk", "wv", "wo"].map((name, i) => [name, randomNormal([8, 8], { seed: 7 + i })]),
      ...[["heads", 2], ["embed", sinusoidal({ dim: 8 })], ["causal", true]],
    ]),
  ],
};

const sync = posenc as unknown as Readonly<Record<string, Any>>;
const later = worker as unknown as Readonly<Record<string, Any>>;
const computing = Object.keys(posenc).filter((name) => later[name] !== sync[name]);

describe("the exports", () => {
  it("are those of posenc, and two of its own", () => {
    expect(Object.keys(worker).sort()).toEqual([...Object.keys(posenc), "configure", "terminate"].sort());
  });

  it("are promises but for what costs nothing", () => {
    const cheap = { ...atOnceModule, ...atOnceError, ...atOnceTensor, ...atOncePositions, ...atOnceSchemes };
    const words = { schemes: posenc.schemes, ...atOnceSentences };
    const atOnce = { ...cheap, ...words, ...atOnceCatalogue } as Readonly<Record<string, unknown>>;
    for (const name of Object.keys(posenc)) {
      expect(name in atOnce || typeof sync[name] !== "function", name).toBe(!computing.includes(name));
    }
    expect(computing).toEqual(expect.arrayContaining(Object.keys(kCalls)));
  });

  it("have the arguments and results of posenc, with the run options", () => {
    const q = [[1, 2]];
    const { signal } = new AbortController();
    const table = sinusoidal({ dim: 2 });
    // Only looked at, never called.
    const narrow = () => worker.encode(table, 3);
    const wide = () => worker.encode(table, 3, { dtype: "float64", onProgress: () => 1 });
    const attended = () => worker.attention(q, q, q, { causal: true, signal, transfer: [new ArrayBuffer(1)] });
    expectTypeOf(narrow).returns.toEqualTypeOf<Promise<posenc.Tensor<"float32">>>();
    expectTypeOf(wide).returns.toEqualTypeOf<Promise<posenc.Tensor<"float64">>>();
    expectTypeOf(attended).returns.toEqualTypeOf<Promise<posenc.AttentionResult<"float32", false, false>>>();
    // @ts-expect-error -- no such option
    void (() => worker.attention(q, q, q, { casual: true }));
    // @ts-expect-error -- from and to are required
    void (() => worker.convertLayout(q, { signal }));
    // A function without options takes the run options behind its arguments.
    type Bare = worker.Later<(scheme: posenc.Scheme, k: number) => posenc.Tensor>;
    expectTypeOf<Parameters<Bare>>().toEqualTypeOf<[scheme: posenc.Scheme, k: number, run?: worker.RunOptions]>();
    expectTypeOf<ReturnType<worker.Later<() => Promise<number>>>>().toEqualTypeOf<Promise<number>>();
  });

  it("come with a script of the worker that is built from what stands here", async () => {
    const { text } = await import("../../../build/worker/thread_text.mjs");
    expect((await (untypedThreadText as () => Promise<string>)()) === text, "stale: npm run build").toBe(true);
  });
});

describe.each([
  ["two workers", 2],
  ["no worker", 0],
])("with %s", (_, workers) => {
  it.each(Object.keys(kCalls))("%s gives the bits that posenc gives", async (name) => {
    worker.configure({ workers });
    const progress: Progress[] = [];
    const args = [...kCalls[name]!];
    const options = { ...(args.pop() as object), onProgress: (now: Progress) => progress.push(now) };
    same(await later[name]!(...args, options), sync[name]!(...kCalls[name]!));
    expect(progress.at(-1)).toEqual({ done: progress.at(-1)!.total, total: progress.at(-1)!.total });
    same(await later[name]!(...kCalls[name]!), sync[name]!(...kCalls[name]!));
  });

  it("a long attention goes in blocks, with the bits of the whole, while this thread has its turn", async () => {
    worker.configure({ workers });
    const [q, k, v] = [1, 2, 3].map((seed) => randomNormal([heads, 1500, 32], { seed })) as Triple;
    const options = { causal: true, rotate: rope({ dim: 32 }), bias: alibi({ heads }) } as const;
    const whole = posenc.attention(q, k, v, options);
    // The length of a block is one of time: what is long for a slow machine may be one block for a fast one.
    for (let i = 0; i < 50; i++) noteSpeed(1e6, 1);
    const keyMask = new Uint8Array(1500).fill(1);
    const progress: Progress[] = [];
    let turns = 0;
    const turn = setInterval(() => turns++, 1);
    const out = new Float32Array(whole.out.size);
    const call = worker.attention(q, k, v, { ...options, keyMask, out, onProgress: (now) => progress.push(now) });
    q.data.fill(NaN); // nothing of the caller's is looked at any more
    k.data.fill(NaN);
    const result = await call;
    clearInterval(turn);
    expect(result.out.data).toBe(out);
    expect(keyMask.length).toBe(1500);
    same(result, whole);
    expect(progress.length).toBeGreaterThan(1);
    // Without a worker the blocks run here, with a turn between two of them.
    expect(turns).toBeGreaterThanOrEqual(workers === 0 ? progress.length - 1 : 2);
    progress.forEach(({ done, total }, i) => {
      expect(total).toBe(progress[0]!.total);
      expect(done).toBeGreaterThan(i === 0 ? 0 : progress[i - 1]!.done);
    });
    expect(progress.at(-1)!.done).toBe(progress[0]!.total);
  });

  it("refusals are those of posenc", async () => {
    worker.configure({ workers });
    const gone = new Float32Array(4);
    structuredClone(gone.buffer, { transfer: [gone.buffer] });
    const goneTensor = new Tensor(new Float32Array(16), [2, 8], "float32");
    structuredClone(goneTensor.data.buffer, { transfer: [goneTensor.data.buffer as ArrayBuffer] });
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    const wrong: unknown[] = [
      undefined, null, NaN, -1, 1.5, Infinity, "5", true, 5n, Symbol("s"), () => 1, {}, [], [[1, 2], [3]], [null],
      new DataView(new ArrayBuffer(8)), new Date(0), new Map(), gone, goneTensor, cyclic, new Float32Array([NaN]),
      alibi({ heads: 3 }), scheme, shaw({ dim: 3, clip: 1 }), sinusoidal({ dim: 3 }), tensor([[true]]), { shape: [1] },
      { data: [1, 2], shape: [3] }, { [Symbol.for("posenc.scheme")]: true, slot: "bias", name: "alibi" },
    ];
    const outcome = (error: unknown): unknown =>
      error instanceof PosencError
        ? {
            range: error instanceof RangeError,
            ...{ code: error.code, subject: error.subject, argument: error.argument },
            ...{ allowed: error.allowed, given: error.given, message: error.message },
          }
        : String(error);
    let refused = 0;
    const compare = async (name: string, args: readonly unknown[]): Promise<void> => {
      let expected: unknown;
      let result: unknown;
      try {
        result = sync[name]!(...args);
      } catch (error) {
        expected = outcome(error);
        refused++;
      }
      const got = await (later[name]!(...args) as Promise<unknown>).then(
        (value) => (expected === undefined ? same(value, result) : value),
        outcome,
      );
      if (expected !== undefined) expect(got, name).toEqual(expected);
    };
    // Those of a function that came after these tests, too.
    await Promise.all(computing.flatMap((name) => [[], [null], [x, {}, 5]].map((args) => compare(name, args))));
    for (const [name, args] of Object.entries(kCalls)) {
      const all: unknown[][] = [];
      for (const value of wrong) {
        args.forEach((_, i) => all.push(args.map((arg, at) => (at === i ? value : arg))));
        const options = args.at(-1) as object;
        for (const key of [...Object.keys(options), "out", "unknown"]) {
          all.push([...args.slice(0, -1), { ...options, [key]: value }]);
        }
      }
      await Promise.all(all.map((call) => compare(name, call)));
    }
    expect(refused).toBeGreaterThan(500);
  });

  it("a call that is cancelled rejects with the reason, and the others go on", async () => {
    worker.configure({ workers });
    const long = randomNormal([2, 4096, 64], { seed: 1 });
    const controller = new AbortController();
    const reason = new Error("enough");
    const early = worker.encode(sinusoidal({ dim: 4 }), 3, { signal: AbortSignal.abort(reason) });
    await expect(early).rejects.toBe(reason);
    const reports: number[] = [];
    let rejected = false;
    let atOnce = false;
    const cancelled = worker.attention(long, long, long, {
      signal: controller.signal,
      onProgress: ({ done, total }) => {
        reports.push(done / total);
        if (reports.length !== 2) return;
        controller.abort(reason);
        // Before the thread has its next turn.
        setImmediate(() => (atOnce = rejected));
      },
    });
    void cancelled.catch(() => (rejected = true));
    const other = worker.attention(x, x, x, { causal: true });
    await expect(cancelled).rejects.toBe(reason);
    await new Promise((resolve) => setImmediate(resolve));
    expect(atOnce).toBe(true);
    expect(reports.length).toBe(2);
    expect(reports[1]).toBeLessThan(0.9);
    same(await other, posenc.attention(x, x, x, { causal: true }));
    same(await worker.encode(sinusoidal({ dim: 4 }), 3), posenc.encode(sinusoidal({ dim: 4 }), 3));
    const plainReason = worker.attention(long, long, long, { signal: AbortSignal.timeout(1) });
    await expect(plainReason).rejects.toMatchObject({ name: "TimeoutError" });
  });

  it("buffers are moved where asked, else copied", async () => {
    worker.configure({ workers });
    const expected = posenc.attention(x, x, x);
    const copy = (): posenc.Tensor<"float32"> => new Tensor(x.data.slice(), x.shape, "float32");
    const [q, k] = [copy(), copy()];
    same(await worker.attention(q, k, k), expected);
    expect(q.data.length).toBe(x.size);
    const moved = worker.attention(q, k, k, { transfer: true });
    expect([q.data.length, k.data.length]).toEqual([0, 0]); // at once
    same(await moved, expected);
    const [a, b] = [copy(), copy()];
    same(await worker.attention(a, b, x, { transfer: [a] }), expected);
    expect([a.data.length, b.data.length, x.data.length]).toEqual([0, x.size, x.size]);
    // Two arrays in one buffer, one that is shared, and one that no one may move.
    const both = new Float32Array(2 * x.size);
    both.set(x.data);
    both.set(x.data, x.size);
    const halves = [both.subarray(0, x.size), both.subarray(x.size)];
    const [first, second] = halves.map((data) => ({ data, shape: x.shape }));
    const shared = new Float32Array(new SharedArrayBuffer(4 * x.size));
    shared.set(x.data);
    same(await worker.attention(first!, second!, { data: shared, shape: x.shape }, { transfer: true }), expected);
    expect([both.length, shared.length]).toEqual([0, x.size]);
    const memory = new Float32Array(new WebAssembly.Memory({ initial: 1 }).buffer, 0, x.size);
    memory.set(x.data);
    same(await worker.attention({ data: memory, shape: x.shape }, x, x, { transfer: [memory] }), expected);
    const long = new Tensor(randomNormal([2048, 64], { seed: 1 }).data, [2, 1024, 64], "float32");
    const whole = posenc.attention(long, long, long);
    same(await worker.attention(long, long, long, { transfer: true }), whole);
    expect(long.data.length).toBe(0);
    for (const transfer of [5, "all", [5], [{}]]) {
      const call = worker.attention(x, x, x, { transfer: transfer as unknown as true });
      await expect(call).rejects.toMatchObject({ code: "not-a-number", argument: "transfer" });
    }
  });

  it("out is filled and returned, and may be gone when the result comes", async () => {
    worker.configure({ workers });
    const table = sinusoidal({ dim: 16 });
    const out = new Float32Array(80);
    const result = await worker.encode(table, 5, { out });
    expect(result.data).toBe(out);
    same(result, posenc.encode(table, 5));
    const held = new Tensor(new Float64Array(80), [80], "float64");
    const wide = await worker.encode(table, 5, { out: held, dtype: "float64" });
    expect(wide.data).toBe(held.data);
    expect(wide.shape).toEqual([5, 16]);
    const late = worker.encode(table, 5, { out });
    structuredClone(out.buffer, { transfer: [out.buffer] });
    await expect(late).rejects.toMatchObject({ code: "detached", argument: "out" });
  });
});

describe("options", () => {
  it("may come from a class, from other options, or be the run options alone", async () => {
    class Options {
      get causal(): boolean {
        return true;
      }
      unrelated(): void {}
    }
    const expected = posenc.attention(x, x, x, { causal: true });
    same(await worker.attention(x, x, x, new Options()), expected);
    const inherited = Object.create({ causal: true }) as object;
    same(await worker.attention(x, x, x, Object.assign(inherited, { signal: undefined })), expected);
    same(await worker.attention(x, x, x, { onProgress: () => undefined }), posenc.attention(x, x, x));
    const tfjs = { dataSync: () => x.data, shape: x.shape, dtype: "float32" };
    same(await worker.attention(tfjs, x, x), posenc.attention(x, x, x));
  });

  it("that are wrong are refused by name", async () => {
    const call = (options: object): Promise<unknown> => worker.encode(sinusoidal({ dim: 2 }), 2, options);
    await expect(call({ signal: 5 })).rejects.toMatchObject({ code: "not-a-number", argument: "signal" });
    await expect(call({ onProgress: 5 })).rejects.toMatchObject({ code: "not-a-number", argument: "onProgress" });
    await expect(
      call({
        onProgress: () => {
          throw new Error("no more");
        },
      }),
    ).rejects.toThrow("no more");
    for (const [options, code] of [
      [{ workers: -1 }, "out-of-range"],
      [{ workers: 1.5 }, "not-integer"],
      [{ workers: "2" }, "not-a-number"],
      [{ workers: 65 }, "out-of-range"],
      [{ url: 5 }, "not-a-number"],
      [{ threads: 2 }, "unknown-option"],
    ] as const) {
      expect(() => worker.configure(options as object)).toThrow(expect.objectContaining({ code }) as Error);
    }
  });
});

describe("schemes", () => {
  it("cross with their tables, once each", async () => {
    const table = randomNormal([700, 32], { seed: 3 });
    const own = learned({ table });
    same(await worker.encode(own, [5, 699]), posenc.encode(own, [5, 699]));
    // More of them than a thread keeps, in turn.
    const many = Array.from({ length: 150 }, (_, i) => learned({ length: 3, dim: 2, seed: i }));
    for (const round of [0, 1]) {
      const results = await Promise.all(many.map((one) => worker.encode(one, 3)));
      results.forEach((result, i) => same(result, posenc.encode(many[i]!, 3)));
      expect(round).toBeLessThan(2);
    }
  });
});

describe("several workers", () => {
  it("are made when there is work for them, and no more than configured", async () => {
    worker.terminate();
    const made = watchWorkers();
    worker.configure({ workers: 3 });
    await worker.encode(sinusoidal({ dim: 2 }), 2);
    expect(made.length).toBe(1);
    await worker.encode(sinusoidal({ dim: 2 }), 2);
    expect(made.length).toBe(1);
    const long = randomNormal([2, 1024, 64], { seed: 1 });
    const results = await Promise.all([1, 2, 3, 4, 5].map(() => worker.attention(long, long, long)));
    expect(made.length).toBe(3);
    for (const result of results) same(result, results[0]);
    same(results[0], posenc.attention(long, long, long));
  });
});

describe("a worker that dies", () => {
  const lost = { code: "worker-lost", name: "PosencError" };
  const long = randomNormal([2, 4096, 64], { seed: 1 });
  const next = async (): Promise<void> =>
    same(await worker.encode(sinusoidal({ dim: 4 }), 3), posenc.encode(sinusoidal({ dim: 4 }), 3));

  it("at work rejects its call, and the next call has another", async () => {
    worker.terminate();
    const made = watchWorkers();
    let ended = false;
    const call = worker.attention(long, long, long, {
      onProgress: () => {
        if (!ended) for (const thread of made) void thread.terminate();
        ended = true;
      },
    });
    await expect(call).rejects.toMatchObject(lost);
    await next();
    expect(made.length).toBeGreaterThan(1);
  });

  it("idle is replaced without a word", async () => {
    worker.terminate();
    const made = watchWorkers();
    await next();
    await made[0]!.terminate();
    await next();
    expect(made.length).toBe(2);
  });

  it("for want of memory rejects its call", async () => {
    worker.terminate();
    watchWorkers((source, options) => [source, { ...options, resourceLimits: { maxOldGenerationSizeMb: 12 } }]);
    await next();
    const big = Array.from({ length: 3000 }, (_, i) => Array.from({ length: 1000 }, (_, j) => i + j / 7));
    await expect(worker.entropy(big)).rejects.toMatchObject(lost);
    await next();
  });

  it("by terminate() rejects what runs and what waits", async () => {
    worker.configure({ workers: 1 });
    await next();
    const calls = [worker.attention(long, long, long), worker.encode(sinusoidal({ dim: 2 }), 2)];
    worker.terminate();
    for (const call of calls) await expect(call).rejects.toMatchObject(lost);
    await next();
  });

  it("before it is ready, or that cannot be made, leaves the calls to this thread", async () => {
    for (const change of [
      (_: string, options: object): [string, object] => ["throw new Error('broken')", options],
      (): [string, object] => {
        throw new Error("forbidden");
      },
      (_: string, options: object): [string, object] => ["process.exit(3)", options],
    ]) {
      worker.terminate();
      watchWorkers(change);
      await next();
      same(await worker.attention(x, x, x), posenc.attention(x, x, x));
    }
  });
});

describe("a process", () => {
  const run = (source: string): { status: number | null; stdout: string; stderr: string } => {
    const options = { cwd: kRoot, encoding: "utf8", timeout: 60_000 } as const;
    return spawnSync(process.execPath, ["--input-type=module", "-e", source], options);
  };

  it("ends by itself when no call is left, and waits for those there are", () => {
    for (const workers of [0, 1, 2]) {
      const { status, stdout, stderr } = run(`
        import { configure, encode, sinusoidal } from "posenc/worker";
        configure({ workers: ${workers} });
        void encode(sinusoidal({ dim: 2 }), [0]).then((table) => console.log(table.tolist().join()));
      `);
      expect(stderr).toBe("");
      expect(stdout).toBe("0,1\n");
      expect(status).toBe(0);
    }
  });

  it("starts nothing by importing", () => {
    const { status, stdout } = run(`
      const { Worker } = process.getBuiltinModule("node:worker_threads");
      process.getBuiltinModule("node:worker_threads").Worker = class { constructor() { console.log("made"); } };
      const { attention } = await import("posenc/worker");
      console.log(typeof attention, process.getActiveResourcesInfo().filter((name) => /Message|Worker/.test(name)));
    `);
    expect(stdout).toBe("function []\n");
    expect(status).toBe(0);
  });

  it("runs the plain-JavaScript build in its workers too, if told to", () => {
    const { status, stdout, stderr } = run(`
      import { encode, info, init, ready, sinusoidal } from "posenc/worker";
      init({ backend: "js" });
      await ready();
      console.log(info().backend, (await encode(sinusoidal({ dim: 2 }), [0])).tolist().join());
    `);
    expect(stderr).toBe("");
    expect(stdout).toBe("js 0,1\n");
    expect(status).toBe(0);
  });
});

it("is described in the documents", () => {
  const api = readFileSync(join(kRoot, "docs/api.md"), "utf8");
  for (const word of ["posenc/worker", "onProgress", "transfer", "configure(", "terminate()", "worker-lost"]) {
    expect(api, word).toContain(word);
  }
});
