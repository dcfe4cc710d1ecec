// Finite inputs whose sums leave the numbers: an error that names the argument at fault, whichever way they leave.
import { describe, expect, it } from "vitest";
import {
  type AttentionOptions,
  PosencError,
  type RelateScheme,
  alibi,
  attention,
  attentionGradient,
  cope,
  deberta,
  multiHeadAttention,
  randomNormal,
  shaw,
  tensor,
  toeplitz,
  transformerXL,
  xpos,
} from "../../../web/src/index.js";

const caught = (call: () => unknown): PosencError | undefined => {
  try {
    call();
  } catch (error) {
    if (error instanceof PosencError) return error;
    throw error;
  }
  return undefined;
};

describe("scores whose terms are finite", () => {
  const terms = [0, 1, -1, 1e38, -1e38, 2.5e38, -2.5e38, 3.4e38, -3.4e38].map(Math.fround);
  // One query with two keys, of which the first has the terms. Its content is q . k.
  const run = (content: number, bias: number | undefined, mask: number | undefined, more: AttentionOptions = {}) =>
    caught(() =>
      attention([[1]], [[content], [0]], [[1], [3]], {
        scale: 1,
        ...(bias === undefined ? {} : { bias: toeplitz({ values: [[0, bias, 0]] }) }),
        ...(mask === undefined ? {} : { mask: [[mask, 0]] }),
        ...more,
      }),
    );

  it("are refused exactly where their sum in float32 is not finite, under weights, trace, causality and a cap", () => {
    let over = 0;
    for (const options of [{}, { weights: true }, { trace: true, weights: true }, { causal: "top-left" }] as const) {
      for (const content of terms) {
        for (const bias of [undefined, ...terms]) {
          for (const mask of [undefined, ...terms, -Infinity]) {
            const hidden = mask === -Infinity;
            const added = Math.fround((bias ?? 0) + (hidden ? 0 : (mask ?? 0)));
            const fits = hidden || Number.isFinite(Math.fround(content + added));
            const error = run(content, bias, mask, options);
            const named = JSON.stringify([options, content, bias, mask]);
            if (fits) {
              expect(error, named).toBeUndefined();
              continue;
            }
            over++;
            expect(error, named).toMatchObject({ code: "out-of-range", given: expect.stringContaining("key 0") });
            const sizes = { q: content, bias: bias ?? 0, mask: mask ?? 0 };
            const largest = Math.max(...Object.values(sizes).map(Math.abs));
            expect(Math.abs(sizes[error!.argument as "q"]), named).toBe(largest);
          }
        }
      }
    }
    expect(over).toBeGreaterThan(400);
    // The cap binds the content, and what is added may overflow beside it.
    expect(run(3.4e38, undefined, 3.4e38, { softcap: 5 })).toBeUndefined();
    expect(run(1, -3.4e38, -3.4e38, { softcap: 5 })).toMatchObject({ code: "out-of-range" });
  });

  it("are looked at where they are seen alone, in every block of keys and for every mask's shape", () => {
    const [queries, keys] = [20, 300];
    for (const key of [0, 7, 130, 299]) {
      for (const query of [0, 9, 19]) {
        const mask = new Float32Array(queries * keys);
        mask[query * keys + key] = -3.4e38;
        const values = new Float32Array(queries + keys + 281).fill(-3.4e38);
        const bias = toeplitz({ values: tensor(values, [1, values.length]) });
        const options = { mask: tensor(mask, [queries, keys]), bias };
        const q = randomNormal([queries, 4]);
        const k = randomNormal([keys, 4], { seed: 2 });
        expect(caught(() => attention(q, k, k, options))).toMatchObject({
          code: "out-of-range",
          given: `a score that overflows at head 0, query ${query}, key ${key}`,
        });
        const keyMask = Uint8Array.from({ length: keys }, (_, j) => (j === key ? 0 : 1));
        expect(caught(() => attention(q, k, k, { ...options, keyMask }))).toBeUndefined();
        expect(caught(() => attention(q, k, k, { ...options, allowNonFinite: true, bias: [] }))).toBeUndefined();
      }
    }
  });

  it("name a term where infinities of both signs meet, as where one is too large", () => {
    const found = caught(() => attention([[1e25, 1e25]], [[1e25, -1e25]], [[1]]));
    expect([found?.code, found?.argument]).toEqual(["out-of-range", "q"]);
  });

  it("name relate where its vectors are the cause, as q where q . k is, in both widths", () => {
    const [heads, dim] = [1, 1];
    const row = (length: number, large: number): number[][] => Array.from({ length }, () => [large]);
    // Each scheme with vectors of one size, so that relate's term is about q (or k) times it.
    const schemes: Record<string, (large: number) => RelateScheme> = {
      shaw: (large) => shaw({ dim, clip: 1, keys: row(3, large), values: false }),
      deberta: (large) => deberta({ heads, dim, span: 2, keys: [row(4, large)], queries: [row(4, large)] }),
      c2p: (large) => deberta({ heads, dim, span: 2, terms: "c2p", keys: [row(4, large)] }),
      p2c: (large) => deberta({ heads, dim, span: 2, terms: "p2c", queries: [row(4, large)] }),
      transformerXL: (large) => transformerXL({ heads, dim, u: [[large]], v: [[0]], wr: [[large], [large]] }),
      cope: (large) => cope({ dim, maxPosition: 2, table: row(2, large) }),
    };
    for (const [name, make] of Object.entries(schemes)) {
      const at = (q: number, k: number, large: number, more: AttentionOptions = {}): string | undefined => {
        const options = { relate: make(large), causal: true, scale: 1, ...more };
        const error = caught(() => attention([[q]], [[k]], [[1]], options));
        return error && `${error.code} ${error.argument}`;
      };
      for (const sign of [1, -1]) {
        expect(at(1e20, name === "p2c" ? 1e20 : 1e10, sign * 1e20), name).toBe("out-of-range relate");
        expect(at(1e20, sign * 1e20, 1), name).toBe("out-of-range q");
        expect(at(1e20, sign * 1e20, 1, { softcap: 5 }), name).toBe("out-of-range q");
        // A sum of finite terms names the larger one, a mask too.
        if (name === "shaw") {
          expect(at(1e19, sign * 1.5e19, sign * 3e19)).toBe("out-of-range relate");
          expect(at(1e19, sign * 3e19, sign * 1.5e19)).toBe("out-of-range q");
          expect(at(1e19, sign * 1e19, sign * 2e19, { mask: [[sign * 1.5e38]] })).toBe("out-of-range relate");
          expect(at(1e19, sign * 1e19, sign * 1e19, { mask: [[sign * 3e38]] })).toBe("out-of-range mask");
        }
      }
      expect(at(1e10, 1e10, 1e10), name).toBeUndefined();
    }
    const wide = (content: number, large: number): string | undefined => {
      const k = tensor(Float64Array.of(content), [1, 1]);
      const q = tensor(Float64Array.of(1e300), [1, 1]);
      return caught(() => attention(q, k, k, { relate: schemes.shaw!(large), scale: 1, dtype: "float64" }))?.argument;
    };
    expect([wide(1, 1e38), wide(1e10, 1), wide(1, 1)]).toEqual(["relate", "q", undefined]);
  });

  it("of xpos are refused where keys of one block lie too far apart for one origin, and taken in blocks apart", () => {
    const two = randomNormal([2, 4]);
    const rotate = xpos({ dim: 4 });
    const far = { rotate, causal: true, queryPositions: [0, 72000], keyPositions: [0, 72000] };
    expect(caught(() => attention(two, two, two, far))?.message).toBe(
      "xpos: positions must be within 35556 of the middle of each 128 keys, where its powers fit float32, got 72000",
    );
    const x = randomNormal([256, 4]);
    const first = x.slice(0, 128) as typeof x;
    const places = Array.from({ length: 256 }, (_, t) => t + (t < 128 ? 0 : 1e6));
    const run = (of: typeof x, positions: number[]): Float32Array =>
      attention(of, of, of, { rotate, causal: true, queryPositions: positions, keyPositions: positions }).out.data;
    const whole = run(x, places);
    expect(whole.every(Number.isFinite)).toBe(true);
    expect(whole.subarray(0, 512)).toEqual(run(first, places.slice(0, 128)));
  });

  it("are refused beside rows of NaN that were let through, in both widths", () => {
    const [n, d] = [20, 4];
    for (const dtype of ["float32", "float64"] as const) {
      const huge = dtype === "float32" ? 1e25 : 1e200;
      const run = (where: string, given: number, more: AttentionOptions = {}): PosencError | undefined => {
        const normal = (seed: number): Float64Array => Float64Array.from(randomNormal([n * d], { seed }).data);
        const [q, k] = [normal(1), normal(2)];
        q.fill(huge, 9 * d, 10 * d);
        k.fill(huge, 11 * d, 12 * d);
        if (where === "q") q[3 * d] = given;
        if (where === "k") k[3 * d] = given;
        const mask = new Float64Array(n * n);
        if (where === "mask") mask[3 * n + 3] = given;
        const options = { allowNonFinite: true, dtype, mask: tensor(mask, [n, n]), ...more };
        return caught(() => attention(tensor(q, [n, d]), tensor(k, [n, d]), tensor(k, [n, d]), options));
      };
      for (const where of ["q", "k", "mask", "nowhere"]) {
        for (const given of [NaN, Infinity]) {
          const named = `${dtype} ${where} ${given}`;
          const given9 = "a score that overflows at head 0, query 9, key 11";
          expect(run(where, given), named).toMatchObject({ code: "out-of-range", argument: "q", given: given9 });
          expect(run(where, given, { weights: true, trace: true }), named).toMatchObject({ given: given9 });
          expect(run(where, given, { causal: true }), named).toBeUndefined();
        }
      }
    }
    // What is not finite meets what is: let through, as it was asked.
    const x = [[NaN, 1], [Infinity, 1], [1, 2]];
    const { out } = attention(x, x, [[1], [2], [3]], { allowNonFinite: true });
    expect([...out.data].every(Number.isNaN)).toBe(true);
  });

  it("name v where relations' vectors take its sums beyond float32, whatever the values' own size", () => {
    for (const [value, vector] of [[3e38, 3e38], [-3e38, -3e38], [0, 3.4e38], [3e38, 0.9e38]] as const) {
      const relate = shaw({ dim: 1, clip: 0, keys: false, values: [[vector]] });
      const found = caught(() => attention([[1], [1]], [[1], [1]], [[value], [value]], { relate }));
      expect([found?.code, found?.argument, found?.given], `${value} ${vector}`).toEqual([
        "out-of-range",
        "v",
        "an output that overflows at head 0, query 0, channel 0",
      ]);
    }
    const relate = shaw({ dim: 1, clip: 0, keys: false, values: [[-3e38]] });
    expect(Math.abs(attention([[1]], [[1]], [[3e38]], { relate }).out.data[0]!)).toBeLessThan(1e32);
  });

  it("name the argument in float64 too", () => {
    const big = 1.7e308;
    for (const sign of [1, -1]) {
      const mask = tensor(Float64Array.of(sign * big, 0), [1, 2]);
      const at = (content: number): PosencError | undefined =>
        caught(() => {
          const k = tensor(Float64Array.of(content, 0), [2, 1]);
          return attention([[1]], k, [[1], [3]], { mask, scale: 1, dtype: "float64" });
        });
      expect(at(sign * 1e308)).toMatchObject({ code: "out-of-range", argument: "mask" });
      expect(at(-sign * 1e308)).toBeUndefined();
    }
  });
});

describe("projections of finite tokens", () => {
  const one = [[1e38, 0], [0, 1e38]];
  const small = [[1e-3, 0], [0, 1e-3]];

  it("are refused by the weights that make them overflow, with what they meet", () => {
    for (const context of [undefined, [[2, 1e3]]]) {
      for (const name of ["wq", "wk", "wv"] as const) {
        const options = { wq: small, wk: small, wv: small, wo: small, heads: 1, ...(context && { context }) };
        const error = caught(() => multiHeadAttention([[1e3, 2]], { ...options, [name]: one }));
        const met = context !== undefined && name !== "wq" ? "context" : "x";
        expect(error).toMatchObject({ code: "out-of-range", subject: "multiHeadAttention", argument: name });
        expect(error!.message).toContain(`with ${met} `);
        expect(caught(() => multiHeadAttention([[1e3, 2]], options))).toBeUndefined();
      }
    }
    const scores = { wq: [[1e19]], wk: [[1e19]], wv: [[1]], wo: [[1]], heads: 1 };
    expect(caught(() => multiHeadAttention([[10]], scores))).toMatchObject({
      code: "out-of-range",
      subject: "multiHeadAttention",
      argument: "wq",
    });
  });
});

describe("who speaks", () => {
  const x = [[1, 2], [3, 4]];
  const eye = [[1, 0], [0, 1]];
  const wrong: readonly (readonly [string, Record<string, unknown>])[] = [
    ["causal", { causal: "left" }],
    ["window", { window: -1 }],
    ["prefixLength", { prefixLength: 9 }],
    ["keyMask", { keyMask: [true] }],
    ["keyLengths", { keyLengths: 7 }],
    ["mask", { mask: [[1, 2, 3]] }],
    ["mask", { mask: Uint8Array.of(7, 0) }],
    ["softcap", { softcap: -1 }],
    ["softcap", { softcap: 1e-60 }],
    ["sinks", { sinks: [1, 2] }],
    ["sinks", { sinks: [NaN] }],
    ["scale", { scale: "1" }],
    ["queryPositions", { queryPositions: [1] }],
    ["keyOrder", { keyOrder: [1] }],
    ["length", { length: 0 }],
    ["bias", { bias: alibi({ heads: 2 }) }],
  ];

  it("is the function that was called, for each option it shares with attention", () => {
    for (const [argument, options] of wrong) {
      const calls = {
        attention: () => attention(x, x, x, options),
        attentionGradient: () => attentionGradient(x, x, x, x, options),
        multiHeadAttention: () => multiHeadAttention(x, { wq: eye, wk: eye, wv: eye, wo: eye, heads: 1, ...options }),
      };
      for (const [subject, call] of Object.entries(calls)) {
        expect(caught(call), `${subject} ${argument}`).toMatchObject({ subject, argument });
      }
    }
    const narrow = caught(() => attentionGradient(x, [[1]], x, x));
    expect(narrow).toMatchObject({ subject: "attentionGradient", argument: "k" });
  });

  it("says which number a mask held, and the least cap that float32 holds", () => {
    expect(caught(() => attention(x, x, x, { mask: Uint8Array.of(1, 7) }))).toMatchObject({ given: "7" });
    for (const softcap of [1e-46, 1e-300]) {
      const error = caught(() => attention(x, x, x, { softcap }));
      expect(error).toMatchObject({ argument: "softcap", allowed: expect.stringContaining("7.01e-46") });
    }
    expect(caught(() => attention(x, x, x, { softcap: 7.01e-46 }))).toBeUndefined();
  });
});
