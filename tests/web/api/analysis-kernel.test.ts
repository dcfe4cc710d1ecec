// The kernel, RoFormer's bound and the oscillatory integrals, through the public API.
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import * as posenc from "../../../web/src/index.js";
import { Fnv1a } from "./bits.js";
import { build, golden } from "./builds.js";

const { alibi, decayBound, encode, frequencies, kernel, oscillatoryIntegral, riemannSum, rope, rotate } = posenc;
const { sinusoidal, tensor, xpos } = posenc;
const runs = { numRuns: 200, seed: 5 };
const offset = fc.integer({ min: -100000, max: 100000 });
const pairs = fc.integer({ min: 1, max: 24 });
const base = fc.double({ min: 2, max: 1e6, noNaN: true });

describe("kernel", () => {
  it("is the dot product of two rows of a sinusoidal table, whatever its layout", () => {
    fc.assert(
      fc.property(
        pairs,
        base,
        offset,
        offset,
        fc.constantFrom("interleaved", "half"),
        fc.constantFrom("sin-cos", "cos-sin"),
        (half, b, m, n, layout, order) => {
          const scheme = sinusoidal({ dim: 2 * half, base: b, layout, order });
          const rows = encode(scheme, [m, n], { dtype: "float64" });
          const dot = rows.row(0).reduce((sum, x, c) => sum + x * rows.at(1, c), 0);
          expect(kernel(scheme, [m - n]).at(0)).toBeCloseTo(dot, 12);
        },
      ),
      runs,
    );
  });

  it("is RoPE's score for q = k = (1, 0) in every pair, with scaling rules and axes too", () => {
    fc.assert(
      fc.property(pairs, offset, offset, fc.constantFrom(1, 4), (half, m, n, factor) => {
        const scheme = rope({
          dim: 2 * half,
          ...(factor === 1 ? {} : { scaling: { type: "linear", factor } as const }),
        });
        const ones = tensor(Float64Array.from({ length: 2 * half }, (_, c) => 1 - (c % 2)), [1, 2 * half]);
        const q = rotate(ones, scheme, { positions: [m] }).data;
        const k = rotate(ones, scheme, { positions: [n] }).data;
        expect(kernel(scheme, [n - m]).at(0)).toBeCloseTo(
          q.reduce((sum, x, c) => sum + x * k[c]!, 0),
          11,
        );
      }),
      runs,
    );
  });

  it("keeps frequencies to more bits than a double has", () => {
    // At 2^53 a frequency rounded to a double turns the angle by up to half a radian.
    const far = 2 ** 53;
    const exact = kernel(sinusoidal({ dim: 16 }), [far]).at(0);
    const table = encode(sinusoidal({ dim: 16 }), [0, far], { dtype: "float64" });
    expect(exact).toBeCloseTo(
      table.row(0).reduce((sum, x, c) => sum + x * table.at(1, c), 0),
      12,
    );
    const rounded = [...frequencies(sinusoidal({ dim: 16 })).inverse];
    expect(Math.abs(kernel(sinusoidal({ dim: 16, frequencies: rounded }), [far]).at(0) - exact)).toBeGreaterThan(1e-4);
  });

  it("takes one offset for all axes, the length of a dynamic rule, and options", () => {
    expect(kernel(posenc.axialRope({ dim: 8 }), [3]).at(0)).toBeCloseTo(2 * (Math.cos(3) + Math.cos(0.03)), 12);
    const dynamic = rope({ dim: 8, scaling: { type: "dynamic", factor: 2, maxPositionEmbeddings: 64 } });
    expect(kernel(dynamic, [50], { length: 64 }).at(0)).toBe(kernel(rope({ dim: 8 }), [50]).at(0));
    expect(kernel(dynamic, [50], { length: 128 }).at(0)).not.toBe(kernel(rope({ dim: 8 }), [50]).at(0));
    expect(kernel(xpos({ dim: 4 }), 3, { normalize: true }).tolist()).toEqual(
      kernel(rope({ dim: 4 }), [0, 1, 2], { normalize: true }).tolist(),
    );
    expect(kernel(rope({ dim: 4 }), []).shape).toEqual([0]);
  });

  it("says what it refuses", () => {
    expect(() => kernel(alibi({ heads: 2 }) as never, 3)).toThrow("kernel: scheme");
    expect(() => kernel(posenc.learned({ length: 4, dim: 4 }), 3)).toThrow(
      expect.objectContaining({ code: "unsupported" }),
    );
    expect(() => kernel(rope({ dim: 4 }), [2 ** 54])).toThrow(RangeError);
    expect(() => kernel(rope({ dim: 4 }), [[1], [2]])).toThrow(expect.objectContaining({ code: "shape-mismatch" }));
    expect(() => kernel(rope({ dim: 4 }), 3, { normalise: true } as never)).toThrow("normalize");
    expect(() => decayBound(rope({ dim: 4 }), [NaN])).toThrow(expect.objectContaining({ argument: "offsets" }));
  });
});

describe("decayBound", () => {
  it("bounds the score of any rotated query and key", () => {
    fc.assert(
      fc.property(pairs, base, offset, fc.integer({ min: 0, max: 2 ** 31 }), (half, b, k, seed) => {
        const scheme = rope({ dim: 2 * half, base: b });
        const x = posenc.randomNormal([2, 2 * half], { seed });
        const q = x.row(0) as Float32Array;
        const key = rotate(tensor(Float64Array.from(x.row(1)), [1, 2 * half]), scheme, { positions: [k] }).data;
        const score = q.reduce((sum, value, c) => sum + value * key[c]!, 0);
        const h = Array.from({ length: half + 1 }, (_, i) => {
          if (i === half) return [0, 0] as const;
          const [a, c, d, e] = [q[2 * i]!, q[2 * i + 1]!, x.at(1, 2 * i), x.at(1, 2 * i + 1)];
          return [a * d + c * e, c * d - a * e] as const;
        });
        const steps = h.slice(1).map(([re, im], i) => Math.hypot(re - h[i]![0], im - h[i]![1]));
        expect(Math.abs(score)).toBeLessThanOrEqual(
          half * Math.max(...steps) * decayBound(scheme, [k]).at(0) * (1 + 1e-9) + 1e-9,
        );
      }),
      runs,
    );
  });

  it("decays, as RoFormer's figure 2 draws it for d = 128", () => {
    const bound = decayBound(rope({ dim: 128 }), [0, 16, 64, 250]).tolist() as number[];
    expect(bound[0]).toBe(32.5);
    expect(bound[1]).toBeLessThan(22);
    expect(bound[2]).toBeLessThan(bound[1]!);
    expect(bound[3]).toBeLessThan(10);
  });
});

describe("oscillatoryIntegral and riemannSum", () => {
  it("meet the kernel: (2/d) g is the Riemann sum of the paper's law", () => {
    fc.assert(
      fc.property(pairs, base, offset, (half, b, x) => {
        const sum = riemannSum({ law: "exponential", base: b }, [x], { dim: 2 * half }).at(0);
        expect(sum).toBe(kernel(sinusoidal({ dim: 2 * half, base: b }), [x], { normalize: true }).at(0));
      }),
      runs,
    );
  });

  it("take laws of every kind", () => {
    const x = [0.5, 10, 1e6];
    expect(oscillatoryIntegral({ law: "power", alpha: 1 }, x).tolist()).toEqual(
      x.map((at) => expect.closeTo(Math.sin(at) / at, 13) as number),
    );
    const line = oscillatoryIntegral({ samples: [0, 1] }, x).tolist() as number[];
    line.forEach((value, n) => expect(value).toBeCloseTo(Math.sin(x[n]!) / x[n]!, 13));
    expect(oscillatoryIntegral({ samples: Float32Array.of(0.5) }, [3]).at(0)).toBeCloseTo(Math.cos(1.5), 14);
    expect(riemannSum({ samples: [0, 1] }, [2], { dim: 4 }).at(0)).toBeCloseTo((1 + Math.cos(1)) / 2, 14);
  });

  it("say what they refuse", () => {
    const refused = (law: unknown, message: string): void =>
      expect(() => oscillatoryIntegral(law as never, [1])).toThrow(message);
    refused(undefined, "oscillatoryIntegral: law");
    refused({}, "oscillatoryIntegral: law");
    refused({ law: "linear" }, '"exponential" or "power"');
    refused({ law: "exponential" }, "oscillatoryIntegral: base");
    refused({ law: "exponential", base: 0 }, "base must be a number from 1e-12 to 1e12, got 0");
    refused({ law: "power", alpha: -1 }, "alpha must be a number from 1e-6 to 1e6, got -1");
    refused({ law: "power", alpha: 1, base: 3 }, "base must be left out");
    refused({ samples: [] }, "samples");
    refused({ samples: [1], law: "power" }, "law must be left out");
    expect(() => riemannSum({ law: "power", alpha: 2 }, [1], { dim: 3 })).toThrow("dim must be an even integer");
    expect(() => riemannSum({ law: "power", alpha: 2 }, [1], {} as never)).toThrow(
      expect.objectContaining({ code: "missing-option" }),
    );
  });
});

describe.each(["simd", "js"] as const)("the golden bits of the %s build", (backend) => {
  let built: typeof posenc;
  beforeAll(async () => {
    built = await build(backend);
  });

  it("are those of the native builds", () => {
    const x = [0, 1, -2.5, 3.9, 4.1, 64, 710, 1000.5, 123456.789, 1e6, 2 ** 53];
    const scheme = built.sinusoidal({ dim: 64 });
    const first = new Fnv1a();
    first.add(built.kernel(scheme, x).data);
    first.add(built.kernel(scheme, x, { normalize: true }).data);
    first.add(built.decayBound(scheme, x).data);
    expect(first.hex()).toBe(golden.get("analysis/kernel"));
    const second = new Fnv1a();
    for (const law of [
      { law: "exponential", base: 10000 },
      { law: "power", alpha: 1 },
      { law: "exponential", base: 1.01 },
      { law: "exponential", base: 1e-3 },
      { law: "power", alpha: 2 },
      { law: "power", alpha: 0.013 },
      { samples: [1, 0.25, 0.25, -0.5, 1e-3] },
    ] as const) {
      second.add(built.oscillatoryIntegral(law, x).data);
      second.add(built.riemannSum(law, x, { dim: 24 }).data);
    }
    expect(second.hex()).toBe(golden.get("analysis/oscillatory"));
  });
});
