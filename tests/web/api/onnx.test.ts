// posenc/onnx: the models run in ONNX Runtime and give what attention() and embed() give.
import * as ort from "onnxruntime-web";
import { PbfReader } from "pbf";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import {
  type AttentionOptions,
  type Descriptor,
  type EmbedScheme,
  PosencError,
  type PositionsLike,
  type Scheme,
  Tensor,
  alibi,
  attention,
  cope,
  deberta,
  embed,
  encode,
  fromJSON,
  grid,
  randomNormal,
  rope,
  schemes,
  shaw,
  sinusoidal,
  tensor,
  transformerXL,
} from "../../../web/src/index.js";
import { type OnnxAttentionOptions, toOnnx } from "../../../web/src/onnx.js";
import { attend } from "./oracle.js";

beforeAll(() => {
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = "error";
});

type Arrays = Record<string, Tensor>;

async function session(model: Uint8Array): Promise<ort.InferenceSession> {
  return ort.InferenceSession.create(model, { executionProviders: ["wasm"], logSeverityLevel: 4 });
}

async function run(model: Uint8Array | ort.InferenceSession, arrays: Arrays): Promise<Arrays> {
  const made = model instanceof Uint8Array ? await session(model) : model;
  const feeds = Object.fromEntries(
    Object.entries(arrays).map(([name, { data, shape, dtype }]) => [
      name,
      new ort.Tensor(dtype as "float32", data as Float32Array, [...shape]),
    ]),
  );
  const results = await made.run(feeds);
  return Object.fromEntries(
    Object.entries(results).map(([name, { data, dims }]) => [name, new Tensor(data as Float32Array, dims, "float32")]),
  );
}

interface Sizes {
  readonly batch?: number;
  readonly heads?: number;
  readonly kvHeads?: number;
  readonly queries: number;
  readonly keys: number;
  readonly dim: number;
  readonly valueDim?: number;
}

function operands({ batch = 2, heads = 1, kvHeads = heads, queries, keys, dim, valueDim = dim }: Sizes): Arrays {
  return {
    q: randomNormal([batch, heads, queries, dim], { seed: 1 }),
    k: randomNormal([batch, kvHeads, keys, dim], { seed: 2 }),
    v: randomNormal([batch, kvHeads, keys, valueDim], { seed: 3 }),
  };
}

// Outputs are means of values of size 1 to 4; both sides err by some units of 2^-24 a score of size up to 20.
function near(actual: Tensor, expected: Tensor, tolerance = 1e-5): void {
  expect(actual.shape).toEqual(expected.shape);
  let worst = 0;
  actual.data.forEach((x, i) => {
    const gap = Math.abs(x - expected.data[i]!);
    worst = gap <= worst ? worst : gap; // NaN stays
  });
  expect(worst).toBeLessThanOrEqual(tolerance);
}

async function same(
  sizes: Sizes,
  options: Omit<OnnxAttentionOptions, "dim" | "keyMask">,
  more: { also?: readonly Sizes[]; ours?: AttentionOptions; mask?: Tensor } = {},
): Promise<void> {
  const { heads = 1, kvHeads = heads, dim, valueDim = dim } = sizes;
  const model = await session(toOnnx({ heads, kvHeads, dim, valueDim, ...options, weights: true }));
  for (const each of [sizes, ...(more.also ?? []).map((other) => ({ ...sizes, ...other }))]) {
    const arrays = operands(each);
    const { format: _, mask: __, ...ours } = options;
    const expected = attention(arrays.q!, arrays.k!, arrays.v!, {
      ...(ours as AttentionOptions),
      ...more.ours,
      ...(more.mask === undefined ? {} : { mask: more.mask }),
      weights: true,
    });
    const { out, weights } = await run(model, { ...arrays, ...(more.mask === undefined ? {} : { mask: more.mask }) });
    near(out!, expected.out);
    near(weights!, expected.weights!, 2e-6);
  }
}

describe("attention in ONNX Runtime", () => {
  it("without positions, of any lengths and batch", async () => {
    const also = [
      { batch: 1, queries: 3, keys: 3, dim: 8 },
      { batch: 3, queries: 1, keys: 16, dim: 8 },
    ];
    await same({ queries: 5, keys: 9, dim: 8 }, { length: 16 }, { also });
  });

  it.each(["interleaved", "half"] as const)("turned by rope, %s, whole and partial", async (layout) => {
    const sizes = { heads: 2, queries: 12, keys: 12, dim: 8 };
    const also = [{ queries: 7, keys: 7, dim: 8 }];
    await same(sizes, { rotate: rope({ dim: 8, layout }), length: 16, causal: true }, { also });
    await same(sizes, { rotate: rope({ dim: 8, layout, rotaryDim: 4 }), length: 16, causal: true }, { also });
    await same(sizes, { rotate: [rope({ dim: 8, layout }), rope({ dim: 8, base: 100 })], length: 12 });
    await same(sizes, { rotate: rope({ dim: 8, layout, scaling: { type: "linear", factor: 4 } }), length: 12 });
  });

  it("at positions a long way out, where tables made elsewhere lose their digits", async () => {
    const queryPositions = [1e6 + 5, 1e6 + 6];
    const keyPositions = [1e6, 1e6 + 1, 999_990.5];
    await same({ queries: 2, keys: 3, dim: 8 }, { rotate: rope({ dim: 8 }), queryPositions, keyPositions });
  });

  it("biased by alibi, both ways, with grouped queries", async () => {
    const sizes = { heads: 6, kvHeads: 2, queries: 9, keys: 9, dim: 4, valueDim: 3 };
    await same(sizes, { bias: alibi({ heads: 6 }), length: 12 }, { also: [{ queries: 4, keys: 11, dim: 4 }] });
    await same(sizes, { bias: alibi({ heads: 6, symmetric: false }), length: 12, causal: true });
    await same(sizes, { bias: [alibi({ heads: 6 }), alibi({ heads: 6, rule: "geometric" })], length: 9 });
    await same(sizes, { bias: alibi({ heads: 6 }), queryPositions: [0, 2.5, 3, 3, 9, -4, 1, 1, 0], keyPositions: 9 });
  });

  it("with shaw's keys and values, shared and one a head", async () => {
    const sizes = { heads: 2, queries: 7, keys: 7, dim: 4, valueDim: 3 };
    const also = [{ queries: 3, keys: 8, dim: 4 }];
    await same(sizes, { relate: shaw({ dim: 4, clip: 2, valueDim: 3, seed: 5 }), length: 8 }, { also });
    await same(sizes, { relate: shaw({ dim: 4, clip: 3, values: false, seed: 6 }), length: 8, causal: true });
    await same(sizes, { relate: shaw({ dim: 4, clip: 0, keys: false, valueDim: 3, seed: 6 }), length: 8 });
    const keys = randomNormal([2, 5, 4], { seed: 7 });
    const values = randomNormal([2, 5, 3], { seed: 8 });
    const each = shaw({ dim: 4, clip: 2, valueDim: 3, keys, values });
    await same(sizes, { relate: each, length: 8, window: 3 }, { also });
    await same(sizes, { relate: each, rotate: rope({ dim: 4 }), bias: alibi({ heads: 2 }), length: 8, causal: true });
    await same({ ...sizes, kvHeads: 1 }, { relate: each, length: 8, scale: 0.3 });
    await same(sizes, { relate: each, queryPositions: [3, 1, 4, 1, 5, 9, 2], keyPositions: [6, 5, 3, 5, 8, 9, 7] });
  });

  it("masked: causal from either end, windows, prefixes, orders", async () => {
    const sizes = { queries: 5, keys: 9, dim: 4, heads: 2 };
    const also = [
      { queries: 1, keys: 10, dim: 4 },
      { queries: 9, keys: 9, dim: 4 },
    ];
    const rotating = { rotate: rope({ dim: 4 }), bias: alibi({ heads: 2 }), length: 12 };
    for (const causal of ["top-left", "bottom-right"] as const) {
      await same(sizes, { ...rotating, causal }, { also });
      await same(sizes, { ...rotating, causal, window: 3 }, { also });
      await same(sizes, { ...rotating, causal, window: [2.5, null], prefixLength: 2 }, { also });
    }
    await same(sizes, { ...rotating, window: 2 }, { also });
    await same(sizes, { ...rotating, window: [1, 3] }, { also });
    await same(sizes, { ...rotating, window: [null, 0] }, { also });
    await same(sizes, { ...rotating, window: 1e9, prefixLength: 3 });
    const given = { queryPositions: [4, 5, 6, 7, 8], keyPositions: 9, causal: true } as const;
    await same(sizes, { ...given, window: 4, rotate: rope({ dim: 4 }) });
    await same(sizes, {
      ...given,
      queryOrder: [0, 8, 2, 1, 1],
      keyOrder: [0, 1, 2, 3, 4, 5, 6, 7, 8],
      prefixLength: 1,
    });
  });

  it("gives zeros, not NaN, to a query that sees nothing", async () => {
    const arrays = operands({ queries: 4, keys: 4, dim: 4 });
    const model = toOnnx({ dim: 4, length: 4, keyMask: true, causal: true, weights: true });
    const mask = [
      [false, true, true, false],
      [true, true, false, true],
    ];
    const { out, weights } = await run(model, { ...arrays, key_mask: tensor(mask) });
    const expected = attention(arrays.q!, arrays.k!, arrays.v!, { causal: true, keyMask: mask, weights: true });
    near(out!, expected.out);
    near(weights!, expected.weights!, 2e-6);
    expect([...out!.data.slice(0, 4)]).toEqual([0, 0, 0, 0]);
  });

  it("with relations that queries and keys meet: transformerXL with memory, deberta's terms and buckets", async () => {
    const sizes = { heads: 2, kvHeads: 1, queries: 7, keys: 9, dim: 4, valueDim: 3 };
    const also = [{ ...sizes, queries: 3, keys: 3 }];
    const [u, v] = [randomNormal([2, 4], { seed: 1 }), randomNormal([2, 4], { seed: 2 })];
    const xl = transformerXL({ heads: 2, dim: 4, u, v, wr: randomNormal([6, 8], { seed: 3 }) });
    await same(sizes, { relate: xl, length: 9, causal: "bottom-right", scale: 0.4 }, { also });
    await same(sizes, { relate: xl, length: 12, rotate: rope({ dim: 4 }), softcap: 2 }, { also });
    const queryPositions = [4, 5, 6, 7, 8, 8.5, 1e6];
    await same(sizes, { relate: xl, queryPositions, keyPositions: [0, 1, 2, 3, 4, 5, 6, 7.25, 1e6 - 1] });
    for (const buckets of [undefined, 4]) {
      for (const terms of ["c2p", "p2c", "c2p+p2c"] as const) {
        for (const p2cRow of ["paper", "code"] as const) {
          const rows = 2 * (buckets ?? 6);
          const tables = {
            ...(terms === "p2c" ? {} : { keys: randomNormal([2, rows, 4], { seed: 4 }) }),
            ...(terms === "c2p" ? {} : { queries: randomNormal([2, rows, 4], { seed: 5 }) }),
          };
          const relate = deberta({
            heads: 2,
            dim: 4,
            span: 6,
            terms,
            p2cRow,
            ...tables,
            ...(buckets === undefined ? {} : { buckets }),
          });
          await same(sizes, { relate, length: 20, scale: 1 / Math.sqrt(12) }, { also: [{ ...sizes, keys: 20 }] });
          await same(sizes, { relate, queryPositions: [9, 0, 3, 3, 50, 1, 2], keyPositions: 9 });
        }
      }
    }
    const both = [xl, shaw({ dim: 4, clip: 2, valueDim: 3, seed: 5 })];
    await same(sizes, { relate: both, length: 12, window: 4, bias: alibi({ heads: 2 }) }, { also });
  });

  it("counted by cope, whose gates see the turned scores and the masks", async () => {
    const sizes = { heads: 2, kvHeads: 1, queries: 6, keys: 11, dim: 4, valueDim: 3 };
    const also = [{ ...sizes, queries: 11, keys: 11 }];
    const each = cope({ dim: 4, maxPosition: 4, table: randomNormal([2, 4, 4], { seed: 9 }) });
    const one = cope({ dim: 4, maxPosition: 9, table: randomNormal([9, 4], { seed: 9 }) });
    for (const relate of [each, one, cope({ dim: 4, maxPosition: 1, seed: 3 })]) {
      await same(sizes, { relate, length: 12, causal: "bottom-right" }, { also });
      await same(sizes, { relate, length: 12, causal: "bottom-right", rotate: rope({ dim: 4 }), window: 3 }, { also });
      const given = { queryPositions: [3, 5, 7, 0, 9, 10], keyPositions: 11, causal: true } as const;
      await same(sizes, { relate, ...given, scale: 0.2, softcap: 3, bias: alibi({ heads: 2 }) });
    }
    const arrays = operands(sizes);
    const mask = [0, 1].map((b) => Array.from({ length: 11 }, (_, j) => (j + b) % 3 !== 0));
    const options = { heads: 2, kvHeads: 1, dim: 4, valueDim: 3, relate: one, causal: "bottom-right" } as const;
    const { out } = await run(toOnnx({ ...options, length: 12, keyMask: true }), { ...arrays, key_mask: tensor(mask) });
    const { q, k, v } = arrays as Record<"q" | "k" | "v", Tensor>;
    near(out!, attention(q, k, v, { relate: one, causal: "bottom-right", keyMask: mask }).out);
    expect(() => toOnnx({ dim: 4, length: 8, relate: one })).toThrow(expect.objectContaining({ code: "unsupported" }));
  });

  it("masked by pairs, of bool and added, shared or one a head", async () => {
    const sizes = { heads: 2, queries: 5, keys: 7, dim: 4 };
    const seen = (...shape: number[]): Tensor => {
      const x = randomNormal(shape, { seed: 6 });
      return new Tensor(Uint8Array.from(x.data, (y) => Number(y > -0.3)), shape, "bool");
    };
    const added = (...shape: number[]): Tensor => {
      const x = randomNormal(shape, { seed: 7 });
      return new Tensor(x.data.map((y) => (y > 0.8 ? -Infinity : y)), shape, "float32");
    };
    for (const shape of [
      [1, 1, 5, 7],
      [2, 1, 1, 7],
      [2, 2, 5, 7],
    ]) {
      await same(sizes, { length: 8, mask: "visible" }, { mask: seen(...shape) });
      await same(sizes, { length: 8, mask: "additive", softcap: 2, sinks: [0.5, -1] }, { mask: added(...shape) });
    }
    const shut = new Tensor(new Float32Array(35).fill(-Infinity), [1, 1, 5, 7], "float32");
    await same(sizes, { length: 8, mask: "additive", causal: "bottom-right" }, { mask: shut });
    const biased = { length: 8, bias: alibi({ heads: 2 }), window: 3 };
    await same(sizes, { ...biased, mask: "additive" }, { mask: added(1, 1, 5, 7) });
  });

  it("softcapped and with sinks, as attention has it", async () => {
    const sizes = { heads: 4, kvHeads: 2, queries: 6, keys: 6, dim: 4 };
    const also = [{ ...sizes, queries: 3, keys: 5 }];
    const sinks = [0.5, -2, 0, 7];
    await same(sizes, { length: 8, softcap: 0.7, bias: alibi({ heads: 4 }), causal: "top-left" }, { also });
    await same(sizes, { length: 8, sinks, rotate: rope({ dim: 4 }), window: 2 }, { also });
    await same(sizes, { length: 8, sinks, softcap: 1.5, relate: shaw({ dim: 4, clip: 2, seed: 1 }) }, { also });
  });

  it("softcapped and with sinks, as the equations have it", async () => {
    const sizes = { batch: 1, heads: 2, queries: 6, keys: 6, dim: 4 };
    const arrays = operands(sizes);
    const [softcap, sinks] = [1.5, [0.7, -1]];
    const model = toOnnx({ heads: 2, dim: 4, length: 6, softcap, sinks, causal: true, bias: alibi({ heads: 2 }) });
    const { out } = await run(model, arrays);
    const rows = (x: Tensor, h: number): number[][] => (x.tolist() as number[][][][])[0]![h]!;
    for (const h of [0, 1]) {
      const [q, k, v] = ["q", "k", "v"].map((name) => rows(arrays[name]!, h)) as [number[][], number[][], number[][]];
      const score = (i: number, j: number): number => {
        const content = q[i]!.reduce((sum, x, c) => sum + x * k[j]![c]!, 0) / 2;
        return softcap * Math.tanh(content / softcap) - 2 ** (-4 * (h + 1)) * (i - j);
      };
      const wanted = q.map((_, i) => {
        const e = k.map((__, j) => (j <= i ? Math.exp(score(i, j)) : 0));
        const total = e.reduce((a, b) => a + b, Math.exp(sinks[h]!));
        return v[0]!.map((__, c) => e.reduce((sum, x, j) => sum + (x / total) * v[j]![c]!, 0));
      });
      near(tensor(rows(out!, h)), tensor(wanted));
    }
  });

  it("agrees with the equations in double, not with this package alone", async () => {
    const arrays = operands({ batch: 1, queries: 6, keys: 6, dim: 4 });
    const [q, k, v] = ["q", "k", "v"].map((name) => (arrays[name]!.tolist() as number[][][][])[0]![0]!);
    const turned = (x: number[][]): number[][] =>
      x.map(([a, b, c, d], t) => {
        const [c0, s0, c1, s1] = [Math.cos(t), Math.sin(t), Math.cos(t / 100), Math.sin(t / 100)];
        return [a! * c0 - c! * s0, b! * c1 - d! * s1, c! * c0 + a! * s0, d! * c1 + b! * s1];
      });
    const { out } = attend({ q: turned(q!), k: turned(k!), v: v!, visible: (i, j) => j <= i });
    const model = toOnnx({ dim: 4, length: 8, rotate: rope({ dim: 4, layout: "half" }), causal: true });
    near((await run(model, arrays)).out!, tensor([[out]]));
  });

  it("gives packed heads the numbers of heads apart (pytorch PR #162865)", async () => {
    const sizes = { heads: 4, kvHeads: 2, queries: 5, keys: 7, dim: 6, valueDim: 3 };
    const packed = ({ data, shape: [b, h, t, d] }: Tensor): Tensor => {
      const to = new Float32Array(data.length);
      for (let n = 0; n < data.length; n++) {
        const [c, token, head, entry] = [
          n % d!,
          Math.floor(n / d!) % t!,
          Math.floor(n / d! / t!) % h!,
          Math.floor(n / d! / t! / h!),
        ];
        to[((entry * t! + token) * h! + head) * d! + c] = data[n]!;
      }
      return new Tensor(to, [b!, t!, h! * d!], "float32");
    };
    const arrays = operands(sizes);
    for (const layout of ["interleaved", "half"] as const) {
      const options = {
        heads: 4,
        kvHeads: 2,
        dim: 6,
        valueDim: 3,
        length: 8,
        rotate: rope({ dim: 6, layout, rotaryDim: 4 }),
        causal: "bottom-right",
      } as const;
      const apart = await run(toOnnx(options), arrays);
      const together = await run(
        toOnnx({ ...options, format: "packed" }),
        Object.fromEntries(Object.entries(arrays).map(([name, x]) => [name, packed(x)])),
      );
      expect(together.out!.data).toEqual(packed(apart.out!).data);
    }
  });

  it("fails, and never wraps, past the length of its tables", async () => {
    const model = await session(toOnnx({ dim: 4, length: 6, rotate: rope({ dim: 4 }), causal: "bottom-right" }));
    await expect(run(model, operands({ queries: 2, keys: 7, dim: 4 }))).rejects.toThrow();
    await expect(run(model, operands({ queries: 4, keys: 3, dim: 4 }))).rejects.toThrow();
    await run(model, operands({ queries: 2, keys: 6, dim: 4 }));
  });

  it("holds for schemes and masks at random", async () => {
    const cases = fc.sample(
      fc.record({
        kvHeads: fc.integer({ min: 1, max: 2 }),
        group: fc.integer({ min: 1, max: 3 }),
        half: fc.integer({ min: 1, max: 5 }),
        tokens: fc.integer({ min: 1, max: 20 }),
        layout: fc.constantFrom("interleaved", "half"),
        parts: fc.record({ rotate: fc.boolean(), bias: fc.boolean(), relate: fc.boolean(), causal: fc.boolean() }),
        window: fc.option(fc.integer({ min: 1, max: 8 })),
      }),
      { numRuns: 25, seed: 4 },
    );
    for (const { kvHeads, group, half, tokens, layout, parts, window } of cases) {
      const [heads, dim] = [kvHeads * group, 2 * half];
      await same(
        { heads, kvHeads, dim, queries: tokens, keys: tokens, batch: 1 },
        {
          length: tokens,
          causal: parts.causal,
          ...(window === null ? {} : { window }),
          ...(parts.rotate ? { rotate: rope({ dim, layout }) } : {}),
          ...(parts.bias ? { bias: alibi({ heads }) } : {}),
          ...(parts.relate ? { relate: shaw({ dim, clip: 2, seed: 1 }) } : {}),
        },
      );
    }
  });
});

// Every scheme of the catalogue, with what it must be given: any number of the right kind, 8 columns and 2 heads.
const kMade: Record<string, object> = {
  toeplitz: { values: randomNormal([2, 23], { seed: 1 }) },
  mrope: { sections: [2, 1, 1] },
  learned: { length: 12, dim: 8 },
  fourier: { levels: 2 },
  swin: { window: 12 },
};

function made({ slot, name, params }: Descriptor): Scheme {
  const options = params
    .filter((param) => param.required)
    .map((param) => {
      const value =
        param.name === "dim" ? 8 : param.name === "heads" ? 2 : (param.shown?.value ?? param.min ?? param.choices?.[0]);
      return [param.name, value];
    });
  return fromJSON({ slot, name, ...Object.fromEntries(options), ...kMade[name] });
}

describe("the catalogue in ONNX Runtime", () => {
  const sizes = { heads: 2, queries: 9, keys: 9, dim: 8, batch: 1 };
  const of = (slot: string): string[] => schemes.filter((known) => known.slot === slot).map(({ name }) => name);
  const find = (name: string): Scheme => made(schemes.find((known) => known.name === name)!);
  const pairs = [...of("rotate"), ...of("bias"), ...of("relate")];

  it.each(pairs)("%s, counted and at positions of one axis and two", async (name) => {
    const scheme = find(name);
    const slots = { [scheme.slot]: scheme };
    const backwards = name === "cope";
    const also = [{ ...sizes, queries: 12, keys: 12 }];
    const causal = backwards ? "top-left" : false;
    await same(sizes, { ...slots, length: 12, causal }, { also, ours: { length: 12 } });
    await same(sizes, { ...slots, length: 12, causal: "bottom-right" }, { ours: { length: 12 } });
    const one = [4, 1, 0, 9, 9, 2, 3, 8, 5];
    await same(sizes, { ...slots, queryPositions: one, keyPositions: 9, causal: backwards });
    const two = { queryPositions: grid(3, 3), keyPositions: grid(3, 3) };
    const arrays = operands(sizes);
    let takes = true;
    try {
      attention(arrays.q!, arrays.k!, arrays.v!, { ...slots, ...two, causal: backwards });
    } catch (error) {
      expect((error as PosencError).code).toBe("shape-mismatch");
      takes = false;
    }
    if (takes) await same(sizes, { ...slots, ...two, causal: backwards });
    else expect(() => toOnnx({ dim: 8, heads: 2, ...slots, ...two, causal: backwards })).toThrow(PosencError);
  });

  it.each(of("embed"))("%s, to the bit", async (name) => {
    const scheme = find(name) as EmbedScheme;
    const positions = grid(3, 3);
    let given: { positions: PositionsLike } | { length: number } = { positions };
    try {
      encode(scheme, positions);
    } catch (error) {
      expect((error as PosencError).code).toBe("shape-mismatch");
      given = { length: 9 };
    }
    const columns = encode(scheme, "length" in given ? 9 : positions).shape[1]!;
    const x = randomNormal([2, 9, columns], { seed: 3 });
    const { out } = await run(toOnnx({ embed: scheme, ...given }), { x });
    expect(out!.data).toEqual(embed(x, scheme, "length" in given ? {} : given).data);
  });
});

describe("an embedding in ONNX Runtime", () => {
  it("adds or joins the table, to the bit where nothing is scaled", async () => {
    const scheme = sinusoidal({ dim: 6 });
    const x = randomNormal([2, 5, 6], { seed: 1 });
    const exact = [{}, { scale: 2 }, { mode: "concat" }] as const;
    const rounded = [
      { scale: "sqrt", alpha: 0.5 },
      { mode: "concat", scale: "sqrt" },
      { scale: 0.1 },
      { alpha: 0.3 },
    ] as const;
    for (const options of [...exact, ...rounded]) {
      const { out } = await run(toOnnx({ embed: scheme, length: 8, ...options }), { x });
      const expected = embed(x, scheme, options);
      // embed() scales in double: sqrt(6) has no float32.
      near(out!, expected, (exact as readonly object[]).includes(options) ? 0 : 1e-6);
    }
    const positions = [1e7, 0.5, -3, 2, 2];
    const { out } = await run(toOnnx({ embed: scheme, positions }), { x });
    expect(out!.data).toEqual(embed(x, scheme, { positions }).data);
    const narrow = randomNormal([1, 4, 3], { seed: 2 });
    const joined = await run(toOnnx({ embed: scheme, dim: 3, length: 4, mode: "concat" }), { x: narrow });
    expect(joined.out!.data).toEqual(embed(narrow, scheme, { mode: "concat" }).data);
  });
});

describe("the file", () => {
  // The fields of ONNX's schema by another reader of the wire format.
  const fields = (bytes: Uint8Array): [number, unknown][] => {
    const all: [number, unknown][] = [];
    new PbfReader(bytes).readFields((tag, list: [number, unknown][], pbf) => {
      list.push([tag, pbf.type === 2 ? pbf.readBytes().slice() : pbf.readVarint()]);
    }, all);
    return all;
  };
  const text = (bytes: unknown): string => new TextDecoder().decode(bytes as Uint8Array);
  const only = (list: [number, unknown][], tag: number): unknown[] => list.filter(([t]) => t === tag).map(([, x]) => x);

  it("says its versions, its shapes and what it computes, with operators of the default domain", () => {
    const scheme = rope({ dim: 4 });
    const model = fields(toOnnx({ heads: 2, dim: 4, length: 8, rotate: scheme, causal: true }));
    expect(only(model, 1)).toEqual([8]);
    expect(text(only(model, 2)[0])).toBe("posenc");
    expect(text(only(model, 6)[0])).toBe(
      "attention(q, k, v, {heads: 2, dim: 4, length: 8, rotate: rope({dim: 4}), causal: true}) for up to 8 tokens",
    );
    const opset = fields(only(model, 8)[0] as Uint8Array);
    expect([text(only(opset, 1)[0]), only(opset, 2)]).toEqual(["", [17]]);
    const graph = fields(only(model, 7)[0] as Uint8Array);
    const names = (tag: number): string[] => only(graph, tag).map((x) => text(only(fields(x as Uint8Array), 1)[0]));
    expect([names(11), names(12)]).toEqual([["q", "k", "v"], ["out"]]);
    for (const node of only(graph, 1)) expect(only(fields(node as Uint8Array), 7)).toEqual([]);
    const outputs = only(graph, 1).flatMap((node) => only(fields(node as Uint8Array), 2).map(text));
    expect(new Set(outputs).size).toBe(outputs.length);
  });

  it("keeps biases of an offset by the offset: it grows with the length, not its square", () => {
    const size = (length: number): number =>
      toOnnx({ heads: 8, dim: 4, length, bias: alibi({ heads: 8 }), causal: true }).length;
    expect(size(2048) - size(1024)).toBe(8 * 2048 * 4);
  });
});

describe("what is asked wrongly", () => {
  const refused = (options: object): PosencError => {
    try {
      toOnnx(options as never);
    } catch (error) {
      expect(error).toBeInstanceOf(PosencError);
      return error as PosencError;
    }
    throw new Error("not refused");
  };

  it.each<[string, object, object]>([
    ["no width", { length: 4 }, { code: "missing-option", argument: "dim" }],
    ["no length", { dim: 4 }, { code: "missing-option", argument: "length" }],
    ["a broken length", { dim: 4, length: 2.5 }, { code: "not-integer", argument: "length" }],
    ["no keys' positions", { dim: 4, queryPositions: 3 }, { code: "missing-option", argument: "keyPositions" }],
    ["an order alone", { dim: 4, length: 4, keyOrder: [1] }, { code: "missing-option" }],
    [
      "heads that do not divide",
      { dim: 4, length: 4, heads: 3, kvHeads: 2 },
      { code: "shape-mismatch", argument: "kvHeads" },
    ],
    ["another width", { dim: 4, length: 4, rotate: rope({ dim: 8 }) }, { code: "shape-mismatch" }],
    ["other heads", { dim: 4, length: 4, heads: 2, bias: alibi({ heads: 3 }) }, { code: "shape-mismatch" }],
    ["a wrong slot", { dim: 4, length: 4, bias: rope({ dim: 4 }) }, { code: "wrong-slot", argument: "bias" }],
    ["an unknown option", { dim: 4, length: 4, casual: true }, { code: "unknown-option" }],
    ["sinks of other heads", { dim: 4, length: 4, sinks: [1, 2] }, { code: "shape-mismatch", argument: "sinks" }],
    ["a cap of zero", { dim: 4, length: 4, softcap: 0 }, { code: "out-of-range", argument: "softcap" }],
    ["too much", { dim: 4096, length: 2 ** 20, rotate: rope({ dim: 4096 }) }, { code: "too-large" }],
    ["an embedding's length", { embed: sinusoidal({ dim: 4 }) }, { code: "missing-option", argument: "length" }],
    [
      "an embedding's width",
      { embed: sinusoidal({ dim: 4 }), dim: 3, length: 4 },
      { code: "shape-mismatch", argument: "dim" },
    ],
    ["both kinds", { embed: sinusoidal({ dim: 4 }), length: 4, causal: true }, { code: "unknown-option" }],
    ["nothing", {}, { code: "missing-option" }],
  ])("%s", (_, options, error) => expect(refused(options)).toMatchObject(error));
});
