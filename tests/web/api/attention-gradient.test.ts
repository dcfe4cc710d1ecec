// attentionGradient() and dtype: "float64", against central differences and an oracle in double.
import { describe, expect, it } from "vitest";
import {
  type BiasScheme,
  Tensor,
  alibi,
  attention,
  attentionGradient,
  cope,
  distance,
  fire,
  multiHeadAttention,
  rope,
  shaw,
  t5,
  tensor,
  toeplitz,
  transformerXL,
} from "../../../web/src/index.js";
import { attend, gap, matrix } from "./oracle.js";

function wide(shape: readonly number[], seed: number): Tensor<"float64"> {
  const size = shape.reduce((a, b) => a * b, 1);
  return tensor(Float64Array.from(matrix(1, size, seed)[0]!), shape, "float64");
}

// The derivative of loss by entry i of x, by differences at two steps.
function slope(x: Tensor<"float64">, i: number, loss: (x: Tensor<"float64">) => number): number {
  const at = (h: number): number => {
    const moved = x.data.slice();
    moved[i]! += h;
    return loss(tensor(moved, x.shape, "float64"));
  };
  const central = (h: number): number => (at(h) - at(-h)) / (2 * h);
  return (4 * central(5e-4) - central(1e-3)) / 3;
}

const dot = (a: Tensor, b: Tensor): number => {
  let sum = 0;
  for (let i = 0; i < a.size; i++) sum += Number(a.data[i]) * Number(b.data[i]);
  return sum;
};

describe('attention with dtype "float64"', () => {
  it("is within 1e-13 of sums in double, and float32 is not", () => {
    const [q, k, v] = [matrix(9, 6, 1), matrix(12, 6, 2), matrix(12, 4, 3)];
    const expected = attend({ q, k, v, scale: 1 / Math.sqrt(6) });
    const found = attention(q, k, v, { dtype: "float64", weights: true });
    expect(found.out.dtype).toBe("float64");
    expect(found.lse.dtype).toBe("float64");
    expect(found.weights!.shape).toEqual([9, 12]);
    expect(gap(found.out.tolist() as number[][], expected.out)).toBeLessThan(1e-13);
    expect(gap(attention(q, k, v).out.tolist() as number[][], expected.out)).toBeGreaterThan(1e-9);
  });

  it("takes every option, adds its trace up to the last bit, and agrees with float32", () => {
    const [q, k, v] = [wide([2, 4, 8, 6], 4), wide([2, 2, 8, 6], 5), wide([2, 2, 8, 6], 6)];
    const options = {
      causal: true,
      window: 6,
      rotate: rope({ dim: 6 }),
      bias: [alibi({ heads: 4 }), t5({ heads: 4, seed: 3 })],
      relate: shaw({ dim: 6, clip: 3, seed: 1 }),
      mask: tensor(Float64Array.from({ length: 64 }, (_, i) => (i % 7 === 3 ? -Infinity : i / 100)), [8, 8], "float64"),
      sinks: [0.5, -1, 0, 2],
      keyLengths: [8, 7],
      trace: true,
    } as const;
    const exact = attention(q, k, v, { ...options, dtype: "float64" });
    const fast = attention(q, k, v, options);
    expect(gap([...exact.out.data], [...fast.out.data])).toBeLessThan(2e-6);
    const { content, relate, bias, scores, masked } = exact.trace!;
    for (let i = 0; i < scores.size; i++) {
      const sum = content.data[i]! + relate.data[i]! + bias.data[i]!;
      expect(scores.data[i]).toBe(masked.data[i] ? -Infinity : sum);
    }
    expect(masked.data).toEqual(fast.trace!.masked.data);
  });

  it("writes into out, and refuses other kinds", () => {
    const q = wide([4, 2], 7);
    const out = new Float64Array(8);
    expect(attention(q, q, q, { dtype: "float64", out }).out.data).toBe(out);
    expect(() => attention(q, q, q, { dtype: "float64", out: new Float32Array(8) })).toThrow(
      "attention: out must be a Float64Array or float64 Tensor of 8 elements",
    );
    expect(() => attention(q, q, q, { dtype: "int32" as "float32" })).toThrow(
      'attention: dtype must be "float32" or "float64", got "int32"',
    );
    const w = [[1, 0], [0, 1]];
    const options = { wq: w, wk: w, wv: w, wo: w, heads: 1, dtype: "float64" } as never;
    expect(() => multiHeadAttention(q, options)).toThrow("dtype");
  });
});

describe("attentionGradient", () => {
  it("is what differences of attention in float64 say, by q, k, v and sinks", () => {
    const [q, k, v] = [wide([4, 5, 6], 8), wide([2, 7, 6], 9), wide([2, 7, 3], 10)];
    const dOut = wide([4, 5, 3], 11);
    const sinks = wide([4], 12);
    const options = {
      causal: "bottom-right",
      softcap: 1.5,
      rotate: rope({ dim: 6 }),
      bias: alibi({ heads: 4 }),
      relate: cope({ dim: 6, maxPosition: 4, seed: 2 }),
    } as const;
    const gradient = attentionGradient(q, k, v, dOut, { ...options, sinks });
    const loss = (a: Tensor, b: Tensor, c: Tensor, s: Tensor): number =>
      dot(attention(a, b, c, { ...options, sinks: s, dtype: "float64" }).out, dOut);
    for (const i of [0, 17, 50, 101]) {
      expect(gradient.dq.data[i]).toBeCloseTo(slope(q, i, (x) => loss(x, k, v, sinks)), 9);
    }
    for (const i of [0, 30, 83]) {
      expect(gradient.dk.data[i]).toBeCloseTo(slope(k, i, (x) => loss(q, x, v, sinks)), 9);
    }
    for (const i of [0, 20, 41]) {
      expect(gradient.dv.data[i]).toBeCloseTo(slope(v, i, (x) => loss(q, k, x, sinks)), 9);
    }
    for (const i of [0, 3]) {
      expect(gradient.dsinks!.data[i]).toBeCloseTo(slope(sinks, i, (x) => loss(q, k, v, x)), 9);
    }
    expect([gradient.dq.shape, gradient.dk.shape, gradient.dv.shape]).toEqual([q.shape, k.shape, v.shape]);
  });

  it("gives every parameter that learns, by name and in its own shape", () => {
    const q = wide([2, 6, 4], 13);
    const { parameters } = attentionGradient(q, q, q, q, {
      causal: true,
      rotate: rope({ dim: 4 }),
      bias: [
        alibi({ heads: 2 }),
        t5({ heads: 2 }),
        distance({ heads: 2 }),
        fire({ heads: 2, hidden: 3 }),
        alibi({ heads: 2 }),
      ],
      relate: [shaw({ dim: 4, clip: 2, values: false }), transformerXL({ heads: 2, dim: 4 })],
    });
    const shapes = Object.fromEntries(
      Object.entries(parameters).map(([scheme, params]) => [
        scheme,
        Object.fromEntries(Object.entries(params).map(([name, value]) => [name, value.shape])),
      ]),
    );
    expect(shapes).toEqual({
      rope: { frequencies: [2] },
      alibi: { slopes: [2] },
      t5: { weights: [32, 2] },
      distance: { tau: [] },
      fire: { w1: [3], b1: [3], w2: [2, 3], b2: [2], c: [], threshold: [] },
      "alibi#2": { slopes: [2] },
      shaw: { keys: [5, 4] },
      transformerXL: { u: [2, 4], v: [2, 4], wr: [8, 8] },
    });
    expect(parameters["alibi#2"]!.slopes!.data).toEqual(parameters.alibi!.slopes!.data);
    expect(parameters.alibi!.slopes!.data.some((x) => x !== 0)).toBe(true);
    const rotated = rope({ dim: 4, scaling: { type: "yarn", factor: 4, originalMaxPositionEmbeddings: 64 } });
    expect(attentionGradient(q, q, q, q, { rotate: rotated }).parameters).toEqual({ rope: {} });
  });

  it("moves a table as differences say", () => {
    const q = wide([1, 5, 4], 14);
    const values = Float32Array.from({ length: 9 }, (_, i) => (i - 4) / 8);
    const of = (table: Float32Array): BiasScheme => toeplitz({ values: tensor(table, [1, 9]) });
    const { parameters } = attentionGradient(q, q, q, q, { bias: of(values) });
    const learned = parameters.toeplitz!.values!;
    expect(learned.shape).toEqual([1, 9]);
    for (const i of [1, 4, 6]) {
      const at = (h: number): number => {
        const moved = values.slice();
        moved[i]! += h;
        return dot(attention(q, q, q, { bias: of(moved), dtype: "float64" }).out, q);
      };
      const h = 2 ** -9;
      const central = (step: number): number => (at(step) - at(-step)) / (2 * step);
      expect(learned.data[i]).toBeCloseTo((4 * central(h / 2) - central(h)) / 3, 9);
    }
    // A number added to all scores changes nothing.
    expect(Math.abs(learned.data.reduce((a, b) => Number(a) + Number(b), 0) as number)).toBeLessThan(1e-14);
  });

  it("follows q's dtype, and rounds once", () => {
    const q = wide([3, 2], 15);
    const single = tensor(Float32Array.from(q.data), [3, 2]);
    const double = tensor(Float64Array.from(single.data), [3, 2], "float64");
    const a = attentionGradient(single, single, single, single, { bias: alibi({ heads: 1 }) });
    const b = attentionGradient(double, double, double, double, { bias: alibi({ heads: 1 }) });
    expect([a.dq.dtype, a.dv.dtype, a.parameters.alibi!.slopes!.dtype]).toEqual(["float32", "float32", "float32"]);
    expect([b.dq.dtype, b.dv.dtype, b.parameters.alibi!.slopes!.dtype]).toEqual(["float64", "float64", "float64"]);
    expect(a.dq.data).toEqual(Float32Array.from(b.dq.data));
    expect(attentionGradient(single, single, single, single, { dtype: "float64" }).dq.dtype).toBe("float64");
    expect(attentionGradient([[1, 2]], [[1, 2]], [[1, 2]], [[1, 2]]).dq.dtype).toBe("float32");
    expect(a.dsinks).toBeUndefined();
  });

  it("refuses what it cannot mean, in its own name or attention's", () => {
    const q = wide([3, 2], 16);
    expect(() => attentionGradient(q, q, q, wide([2, 2], 1))).toThrow(
      "attentionGradient: dOut must be of shape [3, 2], got shape [2, 2]",
    );
    expect(() => attentionGradient(q, q, q, q, { weights: true } as object)).toThrow("attentionGradient");
    expect(() => attentionGradient(q, q, wide([2, 2], 1), q)).toThrow("v must be of shape");
    const infinite = tensor(Float64Array.of(1, Infinity, 1, 1, 1, 1), [3, 2], "float64");
    expect(() => attentionGradient(q, q, q, infinite)).toThrow(
      "attentionGradient: dOut must be finite numbers, got Infinity",
    );
    expect(() => attentionGradient(q, q, q, q, { dtype: "int32" as "float32" })).toThrow("dtype");
    expect(() => attentionGradient(q, q, q, q, { relate: cope({ dim: 2, maxPosition: 3 }) })).toThrow("causal");
  });
});
