// Costs and the table of schemes, through the public API.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as posenc from "../../../web/src/index.js";

const { compare, cost } = posenc;

// The learned numbers of every scheme that has some, counted by hand.
const learned: readonly [posenc.AnyScheme, number][] = [
  [posenc.learned({ length: 512, dim: 768 }), 512 * 768],
  [posenc.learned({ length: 1024, dim: 768 }), 1024 * 768],
  [posenc.learned({ table: [[1, 2, 3]] }), 3],
  [posenc.sinusoidal({ dim: 8 }), 0],
  [posenc.rope({ dim: 8 }), 0],
  [posenc.alibi({ heads: 8 }), 0],
  [posenc.t5({ heads: 12 }), 32 * 12],
  [posenc.t5({ heads: 2, buckets: 64 }), 128],
  [posenc.toeplitz({ values: [[1, 2, 3]] }), 3],
  [posenc.kerple({ heads: 4, r1: [1], r2: [1] }), 2],
  [posenc.alibi({ heads: 8, slopes: [1, 2, 3, 4, 5, 6, 7, 8] }), 8],
  [posenc.rope({ dim: 8, frequencies: [1, 0.5, 0.25, 0.125] }), 4],
  [posenc.kerple({ heads: 4 }), 8],
  [posenc.fire({ heads: 2, hidden: 8 }), 8 + 8 + 2 * 8 + 2 + 2],
  [posenc.distance({ heads: 4 }), 1],
  [posenc.swin({ window: 7, heads: 3 }), 13 * 13 * 3],
  [posenc.swin({ window: 7, windowWidth: 2, heads: 3 }), 13 * 3 * 3],
  [posenc.shaw({ dim: 16, clip: 4 }), 2 * 9 * 16],
  [posenc.shaw({ dim: 16, clip: 4, values: false }), 9 * 16],
  [posenc.transformerXL({ heads: 2, dim: 4 }), 2 * 8 + 8 * 8],
  [posenc.deberta({ heads: 2, dim: 4, span: 8 }), 2 * 2 * 16 * 4],
  [posenc.deberta({ heads: 2, dim: 4, span: 8, terms: "c2p" }), 2 * 16 * 4],
  [posenc.cope({ dim: 8, maxPosition: 5 }), 40],
];

describe("cost", () => {
  it.each(learned)("counts the learned numbers of %s", (scheme, count) => {
    expect(compare([scheme])[0]!.parameters).toBe(count);
  });

  it("has the orders of note 001, section 1.3, and their words", () => {
    const [n, d, k] = [100, 64, 5];
    const { rnn, cnn, transformer, scheme } = cost({ length: n, dim: d, kernelWidth: k });
    expect(rnn.multiplyAdds).toBe(2 * n * d * d);
    expect(rnn.sequentialSteps).toBe(n);
    expect(cnn.multiplyAdds).toBe(k * n * d * d);
    expect(cnn.sequentialSteps).toBe(1);
    expect(cnn.pathLength).toBe(Math.ceil((n - 1) / (k - 1)));
    expect(transformer.multiplyAdds).toBe(4 * n * d * d + 2 * n * n * d);
    expect([transformer.sequentialSteps, transformer.pathLength]).toEqual([1, 1]);
    expect(transformer.bytes).toBe(4 * transformer.parameters);
    expect(scheme).toMatchObject({ parameters: 0, multiplyAdds: 0, bytes: 0, words: { parameters: "none" } });
    expect(transformer.words.multiplyAdds).toContain("4 T d^2 + 2 T^2 d");
  });

  it("compares adding with concatenating (note 004)", () => {
    const scheme = posenc.sinusoidal({ dim: 64 });
    const { adding, concatenating, transformer, rnn } = cost({ scheme, length: 100, dim: 64 });
    expect(adding!.parameters).toBe(transformer.parameters);
    expect(adding!.multiplyAdds).toBe(transformer.multiplyAdds + 100 * 64);
    expect(concatenating!.parameters).toBe(4 * transformer.parameters);
    expect(concatenating!.multiplyAdds).toBe(4 * 100 * 128 ** 2 + 2 * 100 ** 2 * 128);
    expect(rnn.parameters).toBe(2 * 64 * 64 + 64);
    expect(cost({ length: 100, dim: 64 }).adding).toBe(null);
    expect(cost({ scheme, length: 100, dim: 32 }).adding).toBe(null);
    expect(cost({ scheme, length: 100, dim: 32 }).concatenating!.parameters).toBe(4 * 96 ** 2);
  });

  it("counts what each slot does", () => {
    const of = (scheme: posenc.AnyScheme, more: object = {}): posenc.Cost =>
      cost({ scheme, length: 10, dim: 8, heads: 2, layers: 3, ...more }).scheme;
    expect(of(posenc.rope({ dim: 4 })).multiplyAdds).toBe(3 * 4 * 10 * 8);
    expect(of(posenc.rope({ dim: 4, rotaryDim: 2 })).multiplyAdds).toBe(3 * 4 * 10 * 4);
    expect(of(posenc.queryScale({ law: "llama4" })).multiplyAdds).toBe(3 * 10 * 8);
    expect(of(posenc.alibi({ heads: 2 })).multiplyAdds).toBe(3 * 2 * 100);
    expect(of(posenc.alibi({ heads: 2 })).bytes).toBe(4 * 2 * 19);
    expect(of(posenc.shaw({ dim: 4, clip: 2 })).multiplyAdds).toBe(3 * 2 * 100 * 8);
    expect(of(posenc.shaw({ dim: 4, clip: 2, values: false })).multiplyAdds).toBe(3 * 100 * 8);
    expect(of(posenc.transformerXL({ heads: 2, dim: 4 })).multiplyAdds).toBe(3 * (100 * 8 + 10 * 8 + 19 * 64));
    expect(of(posenc.deberta({ heads: 2, dim: 4, span: 8 })).multiplyAdds).toBe(3 * 2 * 10 * 16 * 8);
    expect(of(posenc.cope({ dim: 4, maxPosition: 5 })).multiplyAdds).toBe(3 * 10 * 5 * 8);
    expect(of(posenc.learned({ length: 16, dim: 8 }))).toMatchObject({ parameters: 128, multiplyAdds: 80, bytes: 512 });
  });

  it("is linear in the layers, whatever the scheme", () => {
    const schemes = [posenc.alibi({ heads: 4 }), posenc.shaw({ dim: 8, clip: 3 }), posenc.rope({ dim: 8 })];
    fc.assert(
      fc.property(
        fc.constantFrom(...schemes),
        fc.integer({ min: 1, max: 5000 }),
        fc.integer({ min: 1, max: 96 }),
        (scheme, length, layers) => {
          const one = cost({ scheme, length, dim: 32, heads: 4 });
          const all = cost({ scheme, length, dim: 32, heads: 4, layers });
          expect(all.scheme.multiplyAdds).toBe(layers * one.scheme.multiplyAdds);
          expect(all.scheme.parameters).toBe(one.scheme.parameters);
          expect(all.transformer.parameters).toBe(layers * one.transformer.parameters);
          expect(all.cnn.pathLength).toBe(one.cnn.pathLength);
        },
      ),
      { numRuns: 200, seed: 3 },
    );
  });

  it("says what it refuses", () => {
    const refused = (options: object, message: string): void =>
      expect(() => cost({ length: 10, dim: 8, ...options })).toThrow(message);
    refused({ length: 0 }, "cost: length must be a whole number from 1");
    refused({ heads: 3 }, "a divisor of dim, 8, got 3");
    refused({ layers: 1.5 }, "cost: layers");
    refused({ scheme: posenc.alibi({ heads: 2 }), heads: 4 }, "cost: heads must be 2");
    refused({ scheme: posenc.rope({ dim: 6 }) }, "of head width dim / heads, 8");
    refused({ scheme: {} }, "cost: scheme");
    refused({ width: 3 }, "width");
  });
});

describe("compare", () => {
  it("is note 002's table, computed", () => {
    const rows = compare([
      posenc.sinusoidal({ dim: 64 }),
      posenc.learned({ length: 512, dim: 64 }),
      posenc.alibi({ heads: 8 }),
      posenc.t5({ heads: 8 }),
      posenc.rope({ dim: 64 }),
    ]);
    expect(rows.map(({ where }) => where)).toEqual([
      "added to the input",
      "added to the input",
      "added to attention scores",
      "added to attention scores",
      "applied to queries and keys",
    ]);
    expect(rows.map(({ parameters }) => parameters)).toEqual([0, 512 * 64, 0, 32 * 8, 0]);
    expect(rows.map(({ maxLength }) => maxLength)).toEqual([Infinity, 512, Infinity, Infinity, Infinity]);
    expect(rows.map(({ encodes }) => encodes)).toEqual([
      "absolute position, with shift structure",
      "absolute position",
      "relative offset",
      "relative offset",
      "relative offset in the dot product",
    ]);
    const laws = rows.map((row) => row.laws.map(({ law }) => law));
    expect(laws[0]).toContain("shift_invariant");
    expect(laws[1]).not.toContain("extrapolates");
    expect(laws[2]).toEqual(expect.arrayContaining(["non_positive", "monotone_in_distance", "symmetric"]));
    expect(laws[4]).toContain("isometry");
    expect(rows[2]!.scheme).toBe("alibi({heads: 8})");
  });

  it("drops a law whose condition the scheme does not meet", () => {
    const [both, past] = compare([posenc.alibi({ heads: 2 }), posenc.alibi({ heads: 2, symmetric: false })]);
    expect(both!.laws.some(({ law }) => law === "symmetric")).toBe(true);
    expect(past!.laws.some(({ law }) => law === "symmetric")).toBe(false);
  });

  it("finds where tables end", () => {
    const ends = compare([
      posenc.learned({ length: 3, dim: 2 }),
      posenc.learned({ length: 3, dim: 2, outOfRange: "wrap" }),
      posenc.toeplitz({ values: [[1, 2, 3, 4, 5]] }),
      posenc.swin({ window: 7, heads: 1 }),
    ]).map(({ maxLength }) => maxLength);
    expect(ends).toEqual([3, Infinity, 3, 7]);
  });

  it("takes every scheme of the catalogue", () => {
    const more = [
      posenc.sinusoidal2d({ dim: 8 }),
      posenc.fourier({ levels: 2 }),
      posenc.xpos({ dim: 4 }),
      posenc.axialRope({ dim: 8 }),
      posenc.mrope({ dim: 8, sections: [2, 1, 1] }),
      posenc.queryScale({ law: "llama4" }),
      posenc.sandwich({ heads: 2, dim: 8 }),
    ];
    const rows = compare([...learned.map(([scheme]) => scheme), ...more]);
    const names = posenc.schemes.map(({ slot, name }) => `${slot} ${name}`);
    expect(new Set(rows.map(({ slot, name }) => `${slot} ${name}`))).toEqual(new Set(names));
    for (const row of rows) {
      expect(row.title.length).toBeGreaterThan(2);
      expect(row.maxLength).toBeGreaterThanOrEqual(1);
    }
    expect(compare([])).toEqual([]);
    expect(() => compare(3 as never)).toThrow("compare: schemes must be a list of schemes");
    expect(() => compare([{}] as never)).toThrow("compare: schemes[0]");
  });
});
