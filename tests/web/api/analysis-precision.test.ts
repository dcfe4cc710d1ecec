// Emulated arithmetics, phases never seen and context extension, through the public API.
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import * as posenc from "../../../web/src/index.js";
import { Dice, Fnv1a } from "./bits.js";
import { build, golden } from "./builds.js";

const { arange, contextExtension, encode, extrapolation, frequencies, kernel, precision, rope, rotate } = posenc;
const { sinusoidal, tensor } = posenc;
const runs = { numRuns: 200, seed: 9 };

// float32 as the engine has it: another route to the same rounding.
const f = Math.fround;

describe("precision", () => {
  it("float32 by power is what any engine computes with Math.fround", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 16 }), fc.integer({ min: 0, max: 200000 }), (pairs, p) => {
        const dim = 2 * pairs;
        const { values } = precision(rope({ dim }), [p], { arithmetic: "float32", recipe: "power" });
        for (let i = 0; i < pairs; i++) {
          const omega = f(1 / f(10000 ** f((2 * i) / dim)));
          const angle = f(f(p) * omega);
          expect(values.at(0, i, 0)).toBeCloseTo(Math.sin(angle), 7);
          expect(values.at(0, i, 1)).toBeCloseTo(Math.cos(angle), 7);
        }
      }),
      runs,
    );
  });

  it("float32 by exponential is the Annotated Transformer's div_term", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 16 }), fc.integer({ min: 0, max: 5000 }), (pairs, p) => {
        const dim = 2 * pairs;
        const { values } = precision(sinusoidal({ dim }), [p], { recipe: "exponential" });
        for (let i = 0; i < pairs; i++) {
          const omega = f(Math.exp(f(2 * i * f(-Math.log(10000) / dim))));
          expect(values.at(0, i, 0)).toBeCloseTo(Math.sin(f(p * omega)), 7);
        }
      }),
      runs,
    );
  });

  it("exact values are the float64 table, and errors their distances from it", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("table", "angle", "frequencies", "positions", "upcast", "power", "exponential"),
        fc.constantFrom("float64", "float32", "float16", "bfloat16"),
        fc.array(fc.integer({ min: 0, max: 60000 }), { minLength: 1, maxLength: 4 }),
        (recipe, arithmetic, positions) => {
          const scheme = sinusoidal({ dim: 12 });
          const { values, exact, error, worst } = precision(scheme, positions, { arithmetic, recipe });
          expect([...exact.data]).toEqual([...encode(scheme, positions, { dtype: "float64" }).data]);
          expect(values.shape).toEqual([positions.length, 6, 2]);
          values.data.forEach((value, n) => expect(error.data[n]).toBe(Math.abs(value - exact.data[n]!)));
          positions.forEach((_, t) => expect(worst.at(t)).toBe(Math.max(...error.data.slice(12 * t, 12 * t + 12))));
        },
      ),
      runs,
    );
  });

  it("bfloat16 positions collapse above 256, and float16 ones end at 65,504", () => {
    const counted = precision(rope({ dim: 2 }), 600, { arithmetic: "bfloat16", recipe: "positions", tolerance: 0.1 });
    expect(counted.first).toMatchObject({ position: 257, pair: 0 });
    expect(counted.values.slice(257, 258).data).toEqual(counted.values.slice(256, 257).data);
    const below = precision(rope({ dim: 2 }), 257, { arithmetic: "bfloat16", recipe: "positions", tolerance: 0.1 });
    expect(below.first).toBe(null);
    const half = precision(rope({ dim: 2 }), [65504, 65520], { arithmetic: "float16", tolerance: 5 });
    expect(half.first).toMatchObject({ position: 65520, error: Infinity });
    expect(half.values.at(1, 0, 0)).toBeNaN();
  });

  it("float32 angles are off by 0.03 at position 10^6 and 0.3 at 10^7", () => {
    const scheme = sinusoidal({ dim: 512 });
    const { worst } = precision(scheme, [1e6, 1e7], { recipe: "power" });
    expect(worst.at(0)).toBeGreaterThan(0.02);
    expect(worst.at(0)).toBeLessThan(0.1);
    expect(worst.at(1)).toBeGreaterThan(0.2);
    const best = precision(scheme, [1e6, 1e7], { recipe: "table" });
    expect(best.worst.at(1)).toBeLessThanOrEqual(2 ** -25);
    expect(precision(scheme, [1e6], { arithmetic: "float64" }).worst.at(0)).toBeLessThan(1e-9);
  });

  it("upcasting makes bfloat16 as good as its table up to the precision of float32", () => {
    const at = arange(0, 4096, 37);
    const table = precision(rope({ dim: 64 }), at, { arithmetic: "bfloat16", recipe: "table" });
    const upcast = precision(rope({ dim: 64 }), at, { arithmetic: "bfloat16", recipe: "upcast" });
    const all = precision(rope({ dim: 64 }), at, { arithmetic: "bfloat16", recipe: "power" });
    expect(Math.max(...upcast.worst.data)).toBeLessThanOrEqual(Math.max(...table.worst.data) + 4096 * 2 ** -23);
    expect(Math.max(...all.worst.data)).toBeGreaterThan(1);
  });

  it("frequencies that no base makes are rounded once", () => {
    const list = rope({ dim: 4, frequencies: [0.7, 0.3] });
    const { values } = precision(list, [1000], { recipe: "power" });
    expect(values.at(0, 1, 0)).toBeCloseTo(Math.sin(f(1000 * f(0.3))), 7);
    const linear = rope({ dim: 4, scaling: { type: "linear", factor: 3 } });
    expect(precision(linear, [1000], { recipe: "power" }).values.at(0, 0, 0)).toBeCloseTo(
      Math.sin(f(1000 * f(1 / 3))),
      7,
    );
  });

  it("says what it refuses", () => {
    const refused = (options: object, message: string): void =>
      expect(() => precision(rope({ dim: 4 }), 3, options as never)).toThrow(message);
    refused({ arithmetic: "fp16" }, '"float64", "float32", "float16" or "bfloat16"');
    refused({ recipe: "naive" }, "precision: recipe");
    refused({ tolerance: -1 }, "precision: tolerance must be a number from 0 to 2^53, got -1");
    expect(() => precision(posenc.learned({ length: 2, dim: 2 }), 2)).toThrow(
      expect.objectContaining({ code: "unsupported" }),
    );
    expect(() => precision(rope({ dim: 4 }), [2 ** 54])).toThrow(RangeError);
  });
});

describe("extrapolation", () => {
  it("finds the pairs that never went round, and interpolation leaves none unseen", () => {
    const plain = rope({ dim: 128 });
    const { seen, reached, unseen } = extrapolation(plain, { trained: 2049, length: 8193 });
    const { wavelength } = frequencies(plain);
    wavelength.forEach((length, i) => {
      expect(seen.at(i)).toBeCloseTo(2048 / length, 10);
      expect(reached.at(i)).toBeCloseTo(8192 / length, 9);
      expect(unseen.at(i) > 0).toBe(length > 2048);
    });
    const interpolated = rope({ dim: 128, scaling: { type: "linear", factor: 4 } });
    const kept = extrapolation(interpolated, { trained: 2049, length: 8193, trainedWith: plain });
    expect(Math.max(...kept.unseen.data)).toBeLessThan(1e-14);
  });

  it("is a share of the circle that grows with the length", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 32 }),
        fc.integer({ min: 1, max: 5000 }),
        fc.nat(9000),
        fc.nat(9000),
        (pairs, trained, more, evenMore) => {
          const scheme = sinusoidal({ dim: 2 * pairs });
          const first = extrapolation(scheme, { trained, length: trained + more }).unseen;
          const second = extrapolation(scheme, { trained, length: trained + more + evenMore }).unseen;
          for (let i = 0; i < pairs; i++) {
            expect(first.at(i)).toBeGreaterThanOrEqual(0);
            expect(second.at(i)).toBeGreaterThanOrEqual(first.at(i));
            expect(second.at(i)).toBeLessThanOrEqual(1);
          }
        },
      ),
      runs,
    );
  });

  it("says what it refuses", () => {
    const scheme = rope({ dim: 4 });
    expect(() => extrapolation(scheme, { trained: 5, length: 4 })).toThrow("length must be at least trained, 5, got 4");
    expect(() => extrapolation(scheme, { trained: 1.5, length: 4 })).toThrow(
      expect.objectContaining({ code: "not-integer" }),
    );
    expect(() => extrapolation(scheme, { trained: 2, length: 4, trainedWith: rope({ dim: 6 }) })).toThrow("3 pairs");
    expect(() => extrapolation(scheme, { length: 4 } as never)).toThrow("extrapolation: trained");
  });
});

describe("contextExtension", () => {
  const plain = rope({ dim: 64 });

  it("shows a rule's ratios, factor and scores", () => {
    const scaling = { type: "yarn", factor: 4, originalMaxPositionEmbeddings: 2048 } as const;
    const yarn = rope({ dim: 64, scaling });
    const offsets = [0, 1, 100, 2000];
    const { ratio, attentionFactor, kernel: scores } = contextExtension(plain, yarn, { length: 8192, offsets });
    const { band, attentionFactor: factor } = frequencies(yarn);
    band.forEach((kind, i) => {
      if (kind === "kept") expect(ratio.at(i)).toBe(1);
      else if (kind === "scaled") expect(ratio.at(i)).toBe(0.25);
      else expect(ratio.at(i)).toBeGreaterThan(0.25);
    });
    expect(attentionFactor).toEqual({ before: 1, after: factor });
    expect([...scores.before.data]).toEqual([...kernel(plain, offsets).data]);
    kernel(yarn, offsets).data.forEach((g, n) => expect(scores.after.at(n)).toBeCloseTo(factor * factor * g, 11));
  });

  it("a stale key scores what the two rotations give", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("linear", "ntk"),
        fc.double({ min: 1, max: 16, noNaN: true }),
        fc.integer({ min: 2, max: 9000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (type, factor, length, share) => {
          const after = rope({ dim: 8, scaling: { type, factor } });
          const before = rope({ dim: 8 });
          const k = Math.floor(share * (length - 1));
          const found = contextExtension(before, after, { length, offsets: [k] });
          const ones = tensor(Float64Array.of(1, 0, 1, 0, 1, 0, 1, 0), [1, 8]);
          const q = rotate(ones, after, { positions: [length - 1] }).data;
          const old = rotate(ones, before, { positions: [length - 1 - k] }).data;
          const fresh = rotate(ones, after, { positions: [length - 1 - k] }).data;
          const dot = (x: ArrayLike<number>): number => q.reduce((sum, value, c) => sum + value * x[c]!, 0);
          expect(found.stale.at(0)).toBeCloseTo(dot(old), 11);
          expect(found.kernel.after.at(0)).toBeCloseTo(dot(fresh), 11);
          expect(found.staleError.at(0)).toBeCloseTo(dot(old) - dot(fresh), 11);
        },
      ),
      runs,
    );
  });

  it("a dynamic rule makes its own cache stale when the call grows", () => {
    const dynamic = rope({ dim: 64, scaling: { type: "dynamic", factor: 2, maxPositionEmbeddings: 2048 } });
    const offsets = [1, 10, 100, 1000];
    const same = contextExtension(dynamic, dynamic, { length: 2048, offsets });
    expect(Math.max(...same.staleError.data.map(Math.abs))).toBeLessThan(1e-12);
    const grown = contextExtension(dynamic, dynamic, { length: 4096, beforeLength: 2048, offsets });
    expect(Math.max(...grown.staleError.data.map(Math.abs))).toBeGreaterThan(1);
    expect(grown.ratio.at(0)).toBe(1);
    expect(grown.ratio.at(31)).toBeLessThan(1);
  });

  it("says what it refuses", () => {
    const at = { length: 8, offsets: [8] };
    expect(() => contextExtension(plain, plain, at)).toThrow("at most length - 1, 7, in magnitude, got 8");
    expect(() => contextExtension(plain, rope({ dim: 32 }), { length: 8, offsets: 3 })).toThrow("after must be of 32");
    expect(() => contextExtension(plain, plain, { length: 8 } as never)).toThrow("contextExtension: offsets");
    expect(() => contextExtension(plain, plain, { length: 0.5, offsets: [0] })).toThrow("contextExtension: length");
  });
});

describe.each(["simd", "js"] as const)("the golden bits of the %s build", (backend) => {
  let built: typeof posenc;
  beforeAll(async () => {
    built = await build(backend);
  });

  it("of precision, expansion, bilinear and extension are those of the native builds", () => {
    const tables = new Fnv1a();
    for (const recipe of ["table", "angle", "frequencies", "positions", "upcast", "power", "exponential"] as const) {
      for (const arithmetic of ["float64", "float32", "float16", "bfloat16"] as const) {
        const at = [0, 1, 255, 257, 1857, 65519, 131071];
        const { values, exact, worst } = built.precision(built.rope({ dim: 16 }), at, { arithmetic, recipe });
        tables.add(values.data.map((x) => (Number.isNaN(x) ? -2 : x)));
        tables.add(exact.data);
        tables.add(worst.data);
      }
    }
    expect(tables.hex()).toBe(golden.get("analysis/precision"));

    const model = built.taylor({ tokens: 6, dim: 8, seed: 42, positions: [0, 5], scales: [0, 0.01, 0.1, 1, -3] });
    const expansion = new Fnv1a();
    expansion.add(model.terms.data);
    expansion.add(model.value.data);
    expansion.add(model.remainder.data);
    expansion.add(Float64Array.of(model.norms.tokens, model.norms.pM, model.norms.pN));
    expect(expansion.hex()).toBe(golden.get("analysis/expansion"));

    const dice = new Dice(7n);
    const h = Float64Array.from({ length: 100 }, () => dice.real(-2, 2));
    const scheme = built.sinusoidal({ dim: 10 });
    const parts = new Fnv1a();
    for (const matrix of [built.tensor(h, [10, 10]), h.slice(0, 10)]) {
      const found = built.bilinear(scheme, matrix, { queries: 3, keys: [2, 3, 10, 100.5] });
      for (const part of [found.value, found.relative, found.absolute, found.rest]) parts.add(part.data);
    }
    const table = built.encode(scheme, [0, 1, 2, 3, 10, 100.5, -7], { dtype: "float64" });
    const { covariance, ratios, diagonal, offDiagonal, dominantColumns } = built.diagonalDominance(table);
    const norms = built.normRatio(built.tensor(h, [10, 10]), table);
    parts.add(covariance.data);
    parts.add(ratios.data);
    parts.add(
      Float64Array.of(diagonal, offDiagonal, dominantColumns, norms.embeddings, norms.table, norms.ratio),
    );
    expect(parts.hex()).toBe(golden.get("analysis/bilinear"));
  });
});
