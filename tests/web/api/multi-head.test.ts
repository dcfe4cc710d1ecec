// multiHeadAttention() against matrices in double, and against attention() of what was projected by hand.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type MultiHeadAttentionOptions,
  Tensor,
  alibi,
  attention,
  embed,
  grid,
  multiHeadAttention,
  randomNormal,
  rope,
  sinusoidal,
  sinusoidal2d,
  tensor,
} from "../../../web/src/index.js";
import { type Matrix, attend, gap, matrix } from "./oracle.js";

const times = (a: Matrix, b: Matrix, bias?: readonly number[]): number[][] =>
  a.map((row) => b[0]!.map((_, j) => row.reduce((sum, x, c) => sum + x * b[c]![j]!, bias?.[j] ?? 0)));
const columns = (m: Matrix, first: number, count: number): number[][] =>
  m.map((row) => row.slice(first, first + count));
const rows = (t: Tensor): number[][] => t.tolist() as number[][];

describe("multiHeadAttention", () => {
  it("projects, splits, attends and joins", () => {
    fc.assert(
      fc.property(
        fc.record({
          tokens: fc.integer({ min: 1, max: 12 }),
          others: fc.option(fc.integer({ min: 1, max: 15 })),
          model: fc.integer({ min: 1, max: 9 }),
          kvHeads: fc.integer({ min: 1, max: 3 }),
          group: fc.integer({ min: 1, max: 3 }),
          d: fc.integer({ min: 1, max: 5 }),
          dv: fc.integer({ min: 1, max: 5 }),
          width: fc.integer({ min: 1, max: 7 }),
          biased: fc.boolean(),
          causal: fc.boolean(),
          batch: fc.option(fc.integer({ min: 1, max: 2 })),
          seed: fc.nat(1 << 20),
        }),
        ({ tokens, others, model, kvHeads, group, d, dv, width, biased, causal, batch, seed }) => {
          const heads = kvHeads * group;
          const entries = batch ?? 1;
          const keys = others ?? tokens;
          const [wq, wk] = [matrix(model, heads * d, seed), matrix(model, kvHeads * d, seed + 1)];
          const [wv, wo] = [matrix(model, kvHeads * dv, seed + 2), matrix(heads * dv, width, seed + 3)];
          const row = (length: number, n: number): number[] | undefined =>
            biased ? matrix(1, length, seed + n)[0] : undefined;
          const [bq, bk, bv, bo] = [row(heads * d, 4), row(kvHeads * d, 5), row(kvHeads * dv, 6), row(width, 7)];
          const xs = Array.from({ length: entries }, (_, b) => matrix(tokens, model, seed + 10 + b));
          const cs = Array.from({ length: entries }, (_, b) => matrix(keys, model, seed + 20 + b));
          const causes = causal && others === null;
          const result = multiHeadAttention(batch === null ? xs[0]! : xs, {
            wq,
            wk,
            wv,
            wo,
            heads,
            kvHeads,
            weights: true,
            causal: causes,
            ...(others === null ? {} : { context: batch === null ? cs[0]! : cs }),
            ...(biased ? { bq: bq!, bk: bk!, bv: bv!, bo: bo! } : {}),
          });
          expect(result.out.shape).toEqual([...(batch === null ? [] : [batch]), tokens, width]);
          expect(result.weights!.shape).toEqual([...(batch === null ? [] : [batch]), heads, tokens, keys]);
          xs.forEach((x, b) => {
            const c = others === null ? x : cs[b]!;
            const [q, k, v] = [times(x, wq, bq), times(c, wk, bk), times(c, wv, bv)];
            const joined: number[][] = x.map(() => []);
            for (let h = 0; h < heads; h++) {
              const kv = Math.floor(h / group);
              const head = attend({
                q: columns(q, h * d, d),
                k: columns(k, kv * d, d),
                v: columns(v, kv * dv, dv),
                visible: (i, j) => !causes || j <= i,
              });
              head.out.forEach((values, i) => joined[i]!.push(...values));
              const weights = (batch === null ? result.weights! : result.weights!.slice(b, b + 1)).data;
              const own = Array.from(weights.subarray(h * tokens * keys, (h + 1) * tokens * keys));
              expect(gap(own, head.weights.flat())).toBeLessThan(1e-5);
            }
            const out = batch === null ? rows(result.out) : (result.out.tolist() as number[][][])[b]!;
            expect(gap(out, times(joined, wo, bo))).toBeLessThan(1e-4);
          });
        },
      ),
      { numRuns: 120, seed: 5 },
    );
  });

  const layer = (seed: number, model = 16, heads = 4, kvHeads = 2): MultiHeadAttentionOptions => ({
    wq: randomNormal([model, heads * 8], { seed, std: 0.3 }),
    wk: randomNormal([model, kvHeads * 8], { seed: seed + 1, std: 0.3 }),
    wv: randomNormal([model, kvHeads * 8], { seed: seed + 2, std: 0.3 }),
    wo: randomNormal([heads * 8, model], { seed: seed + 3, std: 0.3 }),
    heads,
    kvHeads,
  });

  it("gives the bits of attention() of the projected tokens, whatever the options", () => {
    const x = randomNormal([11, 16], { seed: 1 });
    const options = layer(2);
    const identity = (n: number): Tensor =>
      tensor(
        Float32Array.from({ length: n * n }, (_, i) => (i % (n + 1) === 0 ? 1 : 0)),
        [n, n],
      );
    // A layer without mixing gives the projected rows themselves: one head, whose only key is the token.
    const project = (w: Tensor, heads: number): Tensor => {
      const self = Array.from({ length: 11 }, (_, i) => Array.from({ length: 11 }, (_, j) => i === j));
      const n = w.shape[1]!;
      const { out } = multiHeadAttention(x, { wq: w, wk: w, wv: w, wo: identity(n), heads: 1, mask: self });
      const split = new Float32Array(out.size);
      const width = n / heads;
      for (let h = 0; h < heads; h++) {
        for (let t = 0; t < 11; t++) split.set(out.row(t).subarray(h * width, (h + 1) * width), (h * 11 + t) * width);
      }
      return tensor(split, [heads, 11, width]);
    };
    const rest = {
      rotate: rope({ dim: 8 }),
      bias: alibi({ heads: 4 }),
      causal: true,
      softcap: 3,
      sinks: [1, -1, 0, 2],
      mask: Array.from({ length: 11 }, (_, j) => j % 4 !== 1),
      weights: true,
      trace: true,
    };
    const { out: _out, ...inner } = attention(
      project(options.wq as Tensor, 4),
      project(options.wk as Tensor, 2),
      project(options.wv as Tensor, 2),
      rest,
    );
    const { out: _joined, ...beside } = multiHeadAttention(x, { ...options, ...rest });
    expect(beside).toEqual(inner);
  });

  it("adds embed schemes to x at its positions before it projects", () => {
    const x = randomNormal([2, 6, 16], { seed: 4 });
    const [first, second] = [sinusoidal({ dim: 16 }), sinusoidal({ dim: 16, base: 500, layout: "half" })];
    const positions = [3, 4, 5, 9, 10, 11];
    const options = { ...layer(7), queryPositions: positions, keyPositions: positions };
    const by = embed(embed(x, first, { positions }), second, { positions });
    expect(multiHeadAttention(x, { ...options, embed: [first, second] })).toEqual(multiHeadAttention(by, options));
    expect(multiHeadAttention(x, { ...options, embed: first })).toEqual(
      multiHeadAttention(embed(x, first, { positions }), options),
    );
    // Positions of two axes.
    const cells = grid(2, 3);
    const flat = sinusoidal2d({ dim: 16 });
    const placed = { ...layer(7), queryPositions: cells, keyPositions: cells };
    expect(multiHeadAttention(x, { ...placed, embed: flat })).toEqual(
      multiHeadAttention(embed(x, flat, { positions: cells }), placed),
    );
  });

  it("takes weights as bare arrays, and writes into out", () => {
    const x = randomNormal([5, 16], { seed: 1 });
    const options = layer(3);
    const wanted = multiHeadAttention(x, options);
    const bare = Object.fromEntries(
      (["wq", "wk", "wv", "wo"] as const).map((name) => [name, (options[name] as Tensor).data]),
    );
    const out = new Float32Array(5 * 16);
    const result = multiHeadAttention(x, { ...options, ...bare, out });
    expect(result.out.data).toBe(out);
    expect([...out]).toEqual([...wanted.out.data]);
  });

  it("gives a token that sees nothing the bias of the output, whatever stands there", () => {
    const x = randomNormal([6, 16], { seed: 1 });
    const bo = Array.from({ length: 16 }, (_, c) => c / 8);
    const options = { ...layer(3), bo, causal: true, keyMask: [false, false, true, true, true, true] };
    const clean = multiHeadAttention(x, options).out;
    expect(rows(clean).slice(0, 2)).toEqual([bo, bo]);
    const dirty = tensor(Float32Array.from(x.data, (value, n) => (n < 32 ? NaN : value)), [6, 16]);
    expect(multiHeadAttention(dirty, { ...options, allowNonFinite: true }).out).toEqual(clean);
  });

  it("says which weights do not fit", () => {
    const x = randomNormal([5, 16], { seed: 1 });
    const zeros = (...shape: number[]): Tensor =>
      tensor(new Float32Array(shape.reduce((a, b) => a * b, 1)), shape);
    const wrong: [Partial<Record<keyof MultiHeadAttentionOptions, unknown>>, string][] = [
      [{ wq: zeros(15, 32) }, "wq must be of shape [16, 4 times the width of a head], got shape [15, 32]"],
      [{ wq: zeros(16, 30) }, "wq must be of shape [16, 4 times the width of a head], got shape [16, 30]"],
      [{ wk: zeros(16, 32) }, "wk must be of shape [16, 16], got shape [16, 32]"],
      [{ wo: zeros(16, 16) }, "wo must be of shape [32, dOut], got shape [16, 16]"],
      [{ bo: zeros(15) }, "bo must be of shape [16], got shape [15]"],
      [{ kvHeads: 3 }, "kvHeads must be a number that divides the 4 heads, got 3"],
      [{ context: zeros(1, 5, 16) }, "context must be of shape [Tk, dContext], as x is, got shape [1, 5, 16]"],
      [{ context: zeros(5, 12) }, "wk must be of shape [12, 16], got shape [16, 16]"],
    ];
    for (const [options, message] of wrong) {
      expect(() => multiHeadAttention(x, { ...layer(1), ...options } as MultiHeadAttentionOptions)).toThrow(
        `multiHeadAttention: ${message}`,
      );
    }
    expect(() => multiHeadAttention(zeros(5), layer(1))).toThrow("x must be of shape [T, dModel] or [B, T, dModel]");
    // A buffer taken away while the options are read.
    const { wq } = layer(1);
    const taking = Object.defineProperty({ ...layer(1), wq }, "wo", {
      enumerable: true,
      get: () => {
        structuredClone((wq as Tensor).data.buffer, { transfer: [(wq as Tensor).data.buffer as ArrayBuffer] });
        return layer(1).wo;
      },
    });
    expect(() => multiHeadAttention(x, taking)).toThrow(expect.objectContaining({ code: "detached" }));
  });
});
