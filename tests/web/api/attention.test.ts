// attention() against the equations in double, and what other projects got wrong: each such test names its cause.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AttentionOptions,
  Tensor,
  alibi,
  attention,
  encode,
  entropy,
  randomNormal,
  rope,
  rotate,
  shaw,
  sinusoidal,
  tensor,
} from "../../../web/src/index.js";
import { attend, gap, matrix, numbers, turned } from "./oracle.js";

const rows = (t: Tensor): number[][] => t.tolist() as number[][];

describe("attention against the equations", () => {
  it("holds for any sizes, masks and options", () => {
    fc.assert(
      fc.property(
        fc.record({
          queries: fc.integer({ min: 0, max: 20 }),
          keys: fc.integer({ min: 0, max: 150 }),
          d: fc.integer({ min: 1, max: 9 }),
          dv: fc.integer({ min: 1, max: 9 }),
          seed: fc.integer({ min: 0, max: 1 << 20 }),
          causal: fc.constantFrom(false, "top-left", "bottom-right"),
          window: fc.option(
            fc.oneof(fc.integer({ min: 1, max: 30 }), fc.tuple(fc.option(fc.nat(9)), fc.option(fc.nat(9)))),
          ),
          prefix: fc.double({ min: 0, max: 1, noNaN: true }),
          masked: fc.double({ min: 0, max: 1, noNaN: true }),
          length: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
          slope: fc.option(fc.double({ min: 0, max: 2, noNaN: true })),
        }),
        ({ queries, keys, d, dv, seed, causal, window, prefix, masked, length, slope }) => {
          const [q, k, v] = [matrix(queries, d, seed), matrix(keys, d, seed + 1), matrix(keys, dv, seed + 2)];
          const keyMask = numbers(keys, seed + 3).map((x) => (x + 1) / 2 >= masked);
          const prefixLength = Math.floor(prefix * keys);
          const keyLength = length === null ? keys : Math.floor(length * keys);
          const first = causal === "bottom-right" ? keys - queries : 0;
          const inWindow = (i: number, j: number): boolean => {
            if (window === null) return true;
            if (typeof window === "number") return (causal === false ? Math.abs(i - j) : i - j) < window;
            return i - j <= (window[0] ?? Infinity) && j - i <= (window[1] ?? Infinity);
          };
          const options: AttentionOptions = {
            causal: causal as AttentionOptions["causal"],
            prefixLength,
            weights: true,
            ...(keys === 0 ? {} : { keyMask }),
            ...(window === null ? {} : { window: window as AttentionOptions["window"] }),
            ...(length === null ? {} : { keyLengths: [keyLength] }),
            ...(slope === null ? {} : { bias: alibi({ heads: 1, slopes: [slope] }) }),
          };
          const shaped = (m: number[][], width: number): Tensor => tensor(m.flat(), [m.length, width]);
          const result = attention(shaped(q, d), shaped(k, d), shaped(v, dv), options);
          const wanted = attend({
            q,
            k,
            v,
            bias: (i, j) => -(slope ?? 0) * Math.abs(i + first - j),
            visible: (i, j) => {
              if (!keyMask[j] || j >= keyLength) return false;
              return j < prefixLength || ((causal === false || j <= i + first) && inWindow(i + first, j));
            },
          });
          expect(
            gap(
              rows(result.out),
              wanted.out.map((row) => (row.length === 0 ? Array<number>(dv).fill(0) : row)),
            ),
          ).toBeLessThan(4e-6);
          expect(gap(rows(result.weights!), wanted.weights)).toBeLessThan(2e-6);
          expect(gap([...result.lse.data], wanted.lse)).toBeLessThan(1e-5);
        },
      ),
      { numRuns: 200, seed: 7 },
    );
  });

  it("groups queries: heads share keys and values", () => {
    const [q, k, v] = [
      randomNormal([2, 6, 5, 4], { seed: 1 }),
      randomNormal([2, 2, 7, 4], { seed: 2 }),
      randomNormal([2, 2, 7, 3], { seed: 3 }),
    ];
    const { out, weights, lse } = attention(q, k, v, { weights: true });
    expect([out.shape, weights!.shape, lse.shape]).toEqual([
      [2, 6, 5, 3],
      [2, 6, 5, 7],
      [2, 6, 5],
    ]);
    const [ql, kl, vl] = [q, k, v].map((t) => t.tolist() as number[][][][]) as [
      number[][][][],
      number[][][][],
      number[][][][],
    ];
    for (let b = 0; b < 2; b++) {
      for (let h = 0; h < 6; h++) {
        const g = Math.floor(h / 3);
        const wanted = attend({ q: ql[b]![h]!, k: kl[b]![g]!, v: vl[b]![g]! });
        expect(gap((out.tolist() as number[][][][])[b]![h], wanted.out)).toBeLessThan(2e-6);
      }
    }
  });

  it("turns, relates and adds as each slot says", () => {
    const [n, d] = [11, 6];
    const [q, k, v] = [matrix(n, d, 1), matrix(n, d, 2), matrix(n, d, 3)];
    const keys = matrix(7, d, 4);
    const values = matrix(7, d, 5);
    const row = (i: number, j: number): number => Math.min(Math.max(j - i, -3), 3) + 3;
    const { out, trace } = attention(q, k, v, {
      rotate: rope({ dim: d, layout: "half" }),
      bias: alibi({ heads: 1 }),
      relate: shaw({ dim: d, clip: 3, keys, values }),
      causal: true,
      trace: true,
    });
    const plain = attend({ q, k, v });
    const rotated = attend({
      q: q.map((x, t) => turned(x, t, "half")),
      k: k.map((x, t) => turned(x, t, "half")),
      v,
      bias: (i, j) =>
        q[i]!.reduce((sum, x, c) => sum + x * keys[row(i, j)]![c]!, 0) / Math.sqrt(d) - Math.abs(i - j) / 256,
      valueTerm: (i, j) => values[row(i, j)]!,
      visible: (i, j) => j <= i,
    });
    expect(gap(rows(out), rotated.out)).toBeLessThan(3e-6);
    expect(gap(rows(trace!.unrotated), plain.scores)).toBeLessThan(1e-6);
    expect(gap(rows(trace!.scores), rotated.scores)).toBeLessThan(2e-6);
  });

  it("traces terms that sum to the scores to the last bit", () => {
    const [q, k, v] = [1, 2, 3].map((seed) => randomNormal([3, 40, 8], { seed })) as [Tensor, Tensor, Tensor];
    const { trace } = attention(q, k, v, {
      rotate: rope({ dim: 8 }),
      bias: [alibi({ heads: 3 }), alibi({ heads: 3, rule: "geometric" })],
      relate: shaw({ dim: 8, clip: 4, seed: 9 }),
      causal: true,
      trace: true,
    });
    const { content, relate, bias, scores, masked } = trace!;
    expect(masked.dtype).toBe("bool");
    for (let n = 0; n < scores.size; n++) {
      const sum = Math.fround(Math.fround(content.data[n]! + relate.data[n]!) + bias.data[n]!);
      expect(scores.data[n]).toBe(masked.data[n] ? -Infinity : sum);
    }
  });

  it("gives the same whether or not the weights are asked for", () => {
    const [q, k, v] = [1, 2, 3].map((seed) => randomNormal([2, 150, 16], { seed })) as [Tensor, Tensor, Tensor];
    const options = { causal: true, rotate: rope({ dim: 16 }) } as const;
    const alone = attention(q, k, v, options);
    const shown = attention(q, k, v, { ...options, weights: true, trace: true });
    expect(shown.out.data).toEqual(alone.out.data);
    expect(shown.lse.data).toEqual(alone.lse.data);
  });

  it("takes the same array three times, and writes into out", () => {
    const x = randomNormal([5, 8]);
    const copies = attention(x, tensor(x.data.slice(), [5, 8]), tensor(x.data.slice(), [5, 8]));
    const out = new Float32Array(40).fill(NaN);
    const result = attention(x, x, x, { out });
    expect(result.out.data).toBe(out);
    expect(out).toEqual(copies.out.data);
    const target = tensor(new Float32Array(40), [5, 8]);
    expect(attention(x, x, x, { out: target as Tensor<"float32"> }).out.data).toBe(target.data);
  });

  it("scales by 1 / sqrt(d) unless told", () => {
    const x = randomNormal([4, 9]);
    expect(attention(x, x, x).out.data).toEqual(attention(x, x, x, { scale: 1 / 3 }).out.data);
  });

  it("follows q's axes in every result", () => {
    for (const leading of [[], [2], [3, 2]]) {
      const x = randomNormal([...leading, 4, 6]);
      const { out, lse, weights, trace } = attention(x, x, x, { weights: true, trace: true });
      expect(out.shape).toEqual([...leading, 4, 6]);
      expect(lse.shape).toEqual([...leading, 4]);
      for (const t of [weights!, ...(Object.values(trace!) as Tensor[])]) expect(t.shape).toEqual([...leading, 4, 4]);
    }
  });
});

describe("what others got wrong", () => {
  it("a fully masked row is zeros, not NaN, uniform or junk (pytorch #103963, #41508)", () => {
    const x = randomNormal([3, 4]);
    const { out, weights, lse } = attention(x, x, x, { keyMask: [false, false, false], weights: true });
    expect([...out.data, ...weights!.data].every((value) => Object.is(value, 0))).toBe(true);
    expect([...lse.data]).toEqual([-Infinity, -Infinity, -Infinity]);
    expect(JSON.stringify(lse)).toContain("null");
  });

  it("NaN and Infinity behind the mask do not leak (pytorch #101967)", () => {
    for (const bad of [NaN, Infinity, -Infinity]) {
      const { out, weights } = attention([[1]], [[1], [bad]], [[1], [bad]], {
        keyMask: [true, false],
        allowNonFinite: true,
        weights: true,
      });
      expect(out.tolist()).toEqual([[1]]);
      expect(weights!.tolist()).toEqual([[1, 0]]);
      const causal = attention([[1], [1]], [[1], [bad]], [[1], [bad]], { causal: true, allowNonFinite: true });
      expect(causal.out.at(0, 0)).toBe(1);
    }
  });

  it("causal with Tq != Tk must say how it is aligned (pytorch #103082, flash-attention)", () => {
    const [q, k] = [randomNormal([2, 4]), randomNormal([4, 4], { seed: 1 })];
    expect(() => attention(q, k, k, { causal: true })).toThrow(
      expect.objectContaining({ code: "missing-option", argument: "causal" }),
    );
    expect(() => attention(q, k, k, { causal: true, queryPositions: [2, 3] })).not.toThrow();
    expect(attention(q, k, k, { causal: true, queryPositions: [2, 3] }).out.data).toEqual(
      attention(q, k, k, { causal: "bottom-right" }).out.data,
    );
    expect(attention(q, k, k, { causal: true, queryPositions: [0, 1] }).out.data).toEqual(
      attention(q, k, k, { causal: "top-left" }).out.data,
    );
  });

  it("one new token after 50 cached has position 50 (mlx-lm PR #93)", () => {
    const [x, scheme] = [randomNormal([51, 8]), rope({ dim: 8 })];
    const whole = attention(x, x, x, { causal: true, rotate: scheme });
    const last = x.slice(50);
    const step = attention(last, x, x, { causal: "bottom-right", rotate: scheme });
    expect(step.out.data).toEqual(whole.out.row(50));
    expect(attention(last, x, x, { causal: true, queryPositions: [50], rotate: scheme }).out.data).toEqual(
      whole.out.row(50),
    );
    expect(rotate(last, scheme, { positions: [50] }).data).toEqual(rotate(x, scheme).row(50));
  });

  it("finite inputs whose scores overflow are an error, not a NaN", () => {
    expect(() => attention([[3e38]], [[3e38]], [[1]])).toThrow(expect.objectContaining({ code: "out-of-range" }));
    expect(attention([[1e3]], [[1e3]], [[1]]).out.tolist()).toEqual([[1]]);
  });

  it("positions past any table work: computed, never cached to a size (nanochat #514)", () => {
    const far = encode(sinusoidal({ dim: 8 }), [1e7, 2 ** 53]);
    expect(gap([...far.row(0)].slice(0, 2), [Math.sin(1e7), Math.cos(1e7)])).toBeLessThan(1e-7);
    const x = randomNormal([2, 8]);
    expect(
      gap(
        [
          ...attention(x, x, x, {
            rotate: rope({ dim: 8 }),
            queryPositions: [1e7, 1e7 + 1],
            keyPositions: [1e7, 1e7 + 1],
          }).out.data,
        ],
        [...attention(x, x, x, { rotate: rope({ dim: 8 }) }).out.data],
      ),
    ).toBeLessThan(1e-6);
  });

  it("neighbouring large positions differ (mlx-lm PR #1076)", () => {
    const table = encode(sinusoidal({ dim: 4 }), [16777216, 16777217]);
    expect(gap([...table.row(0)], [...table.row(1)])).toBeGreaterThan(0.5);
  });
});

describe("who sees whom", () => {
  const seen = (tq: number, tk: number, options: AttentionOptions): number[][] => {
    const { trace } = attention(
      tensor(new Float32Array(tq), [tq, 1]),
      tensor(new Float32Array(tk), [tk, 1]),
      tensor(new Float32Array(tk), [tk, 1]),
      { ...options, trace: true },
    );
    return (trace!.masked.tolist() as boolean[][]).map((row) => row.flatMap((masked, j) => (masked ? [] : [j])));
  };

  it("a window of w sees w keys behind when causal, w - 1 on each side otherwise", () => {
    expect(seen(4, 4, { causal: true, window: 2 })).toEqual([[0], [0, 1], [1, 2], [2, 3]]);
    expect(seen(4, 4, { window: 2 })).toEqual([
      [0, 1],
      [0, 1, 2],
      [1, 2, 3],
      [2, 3],
    ]);
    expect(seen(4, 4, { window: [1, 0] })).toEqual([[0], [0, 1], [1, 2], [2, 3]]);
    expect(seen(4, 4, { window: [null, 1] })).toEqual([
      [0, 1],
      [0, 1, 2],
      [0, 1, 2, 3],
      [0, 1, 2, 3],
    ]);
    expect(seen(3, 3, { window: 1.5, queryPositions: [0, 0.5, 3], keyPositions: [0, 1.5, 2] })).toEqual([
      [0],
      [0, 1],
      [2],
    ]);
  });

  it("a prefix is seen by all", () => {
    expect(seen(4, 4, { causal: true, prefixLength: 2 })).toEqual([
      [0, 1],
      [0, 1],
      [0, 1, 2],
      [0, 1, 2, 3],
    ]);
  });

  it("equal order sees each other, and order may be given apart from positions", () => {
    expect(seen(3, 3, { causal: true, queryPositions: [0, 0, 1], keyPositions: [0, 0, 1] })).toEqual([
      [0, 1],
      [0, 1],
      [0, 1, 2],
    ]);
    expect(seen(3, 3, { causal: true, queryOrder: [2, 1, 0], keyOrder: [2, 1, 0] })).toEqual([[0, 1, 2], [1, 2], [2]]);
  });

  it("several axes have no order of their own: the index counts", () => {
    const grid = [
      [0, 0, 1, 1],
      [0, 1, 0, 1],
    ];
    expect(seen(4, 4, { causal: true, queryPositions: grid, keyPositions: grid })).toEqual([
      [0],
      [0, 1],
      [0, 1, 2],
      [0, 1, 2, 3],
    ]);
    expect(
      seen(2, 4, {
        causal: "bottom-right",
        queryPositions: [
          [1, 1],
          [0, 1],
        ],
        keyPositions: grid,
      }),
    ).toEqual([
      [0, 1, 2],
      [0, 1, 2, 3],
    ]);
  });

  it("key lengths and masks go by batch entry", () => {
    const x = randomNormal([2, 1, 3, 2]);
    const { trace } = attention(x, x, x, {
      keyLengths: [1, 3],
      keyMask: [
        [true, true, true],
        [true, false, true],
      ],
      trace: true,
    });
    expect(trace!.masked.tolist()).toEqual([
      [Array(3).fill([false, true, true])],
      [Array(3).fill([false, true, false])],
    ]);
    expect(seen(1, 3, { keyLengths: 2 })).toEqual([[0, 1]]);
  });
});

describe("small sizes are defined", () => {
  it("no tokens", () => {
    const none = tensor(new Float32Array(0), [0, 4]);
    const { out, lse, weights } = attention(none, none, none, { weights: true, trace: true });
    expect([out.shape, lse.shape, weights!.shape]).toEqual([[0, 4], [0], [0, 0]]);
    const some = randomNormal([2, 4]);
    expect(attention(some, none, none).out.tolist()).toEqual([
      [0, 0, 0, 0],
      [0, 0, 0, 0],
    ]);
    expect(encode(sinusoidal({ dim: 4 }), 0).shape).toEqual([0, 4]);
    expect(rotate(none, rope({ dim: 4 })).shape).toEqual([0, 4]);
  });

  it("one token sees itself", () => {
    expect(attention([[3, -1]], [[2, 5]], [[7, 8, 9]], { causal: true }).out.tolist()).toEqual([[7, 8, 9]]);
    expect(entropy([[1]]).tolist()).toEqual([0]);
  });

  it("two and odd columns", () => {
    expect(rows(encode(sinusoidal({ dim: 2 }), [1])).map((row) => row.map((x) => x.toFixed(6)))).toEqual([
      ["0.841471", "0.540302"],
    ]);
    expect(encode(sinusoidal({ dim: 5 }), 3).shape).toEqual([3, 5]);
    expect(() => sinusoidal({ dim: 5, oddDim: "reject" })).toThrow(/dim/);
    expect(() => rope({ dim: 5 })).toThrow(/5/);
    expect(
      rows(rotate([[1, 0]], rope({ dim: 2 }), { positions: [1] })).map((row) => row.map((x) => x.toFixed(6))),
    ).toEqual([["0.540302", "0.841471"]]);
  });
});
