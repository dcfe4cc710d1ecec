// Note 000 beyond its integrals: p_m^T H p_n, diagonal dominance, norms and the expansion, through the public API.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as posenc from "../../../web/src/index.js";
import { Dice } from "./bits.js";

const { bilinear, diagonalDominance, encode, fourier, kernel, learned, normRatio, randomNormal, rope } = posenc;
const { sinusoidal, taylor, taylorTerms, tensor } = posenc;
const runs = { numRuns: 200, seed: 8 };
const position = fc.integer({ min: -3000, max: 3000 });

describe("the note's first steps", () => {
  it("without a mask a pooled output does not know the order; each token's own output moves with it", () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 2, max: 8 }), fc.integer({ min: 1, max: 6 }), (seed, tokens, width) => {
        const x = randomNormal([tokens, 2 * width], { seed }).tolist() as number[][];
        const [m, n] = [seed % tokens, (seed + 1) % tokens];
        const swapped = x.map((row, t) => (t === m ? x[n]! : t === n ? x[m]! : row));
        const outputs = (rows: number[][]): number[][] => posenc.attention(rows, rows, rows).out.tolist() as number[][];
        const pooled = (rows: number[][]): number[] =>
          Array.from({ length: 2 * width }, (_, c) => rows.reduce((sum, row) => sum + row[c]!, 0));
        const [a, b] = [outputs(x), outputs(swapped)];
        pooled(a).forEach((sum, c) => expect(sum).toBeCloseTo(pooled(b)[c]!, 4));
        a[m]!.forEach((value, c) => expect(value).toBeCloseTo(b[n]![c]!, 5));
      }),
      runs,
    );
    // Position vectors break the symmetry: the swap shows in the pool as well.
    const x = randomNormal([4, 8], { seed: 2 });
    const swapped = [1, 0, 2, 3].map((t) => [...x.row(t)]);
    const pool = (rows: posenc.TensorLike): number => {
      const placed = posenc.embed(rows, sinusoidal({ dim: 8 }));
      return posenc.attention(placed, placed, placed).out.data.reduce((sum, value) => sum + value, 0);
    };
    expect(Math.abs(pool(x) - pool(swapped))).toBeGreaterThan(0.01);
  });

  it("in two dimensions p_m times the conjugate of p_n is p_{m-n}, and angles are an arithmetic sequence", () => {
    fc.assert(
      fc.property(position, position, fc.double({ min: -3, max: 3, noNaN: true }), (m, n, theta) => {
        const scheme = sinusoidal({ dim: 2, order: "cos-sin", frequencies: [theta] });
        const [a, b, c] = [m, n, m - n].map((t) => encode(scheme, [t], { dtype: "float64" }).data);
        expect(a![0]! * b![0]! + a![1]! * b![1]!).toBeCloseTo(c![0]!, 13);
        expect(a![1]! * b![0]! - a![0]! * b![1]!).toBeCloseTo(c![1]!, 13);
        expect(a![0]! ** 2 + a![1]! ** 2).toBeCloseTo(1, 14);
      }),
      runs,
    );
  });
});

describe("bilinear", () => {
  it("with H = I is the inner product, g(m - n) (note 000, equation 3)", () => {
    const scheme = sinusoidal({ dim: 6 });
    const { value, relative, absolute, rest } = bilinear(scheme, [1, 1, 1, 1, 1, 1], { queries: [0, 5, 100], keys: 4 });
    expect(value.shape).toEqual([3, 4]);
    for (const [a, m] of [0, 5, 100].entries()) {
      for (let n = 0; n < 4; n++) {
        const g = kernel(scheme, [m - n]).at(0);
        expect(value.at(a, n)).toBeCloseTo(g, 13);
        expect(relative.at(a, n)).toBeCloseTo(g, 13);
        expect(absolute.at(a, n)).toBe(0);
        expect(rest.at(a, n)).toBe(0);
      }
    }
  });

  it("counts pairs from 0 to d/2 - 1, not from 1 as the note's sum", () => {
    // d = 4: h = (s, c) by pair, the paper's columns. A sum from 1 to d/2 - 1 would lose the pair of omega = 1.
    const [m, n] = [7, 3];
    const { relative, absolute } = bilinear(sinusoidal({ dim: 4 }), [2, 1, 5, 3], { queries: [m], keys: [n] });
    expect(relative.at(0, 0)).toBeCloseTo(1.5 * Math.cos(4) + 4 * Math.cos(0.04), 14);
    expect(absolute.at(0, 0)).toBeCloseTo(-0.5 * Math.cos(10) - Math.cos(0.1), 14);
    expect(Math.abs(relative.at(0, 0) - 4 * Math.cos(0.04))).toBeGreaterThan(0.9);
  });

  it("splits any H into cosines of m - n, cosines of m + n, and the rest, in every layout", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.array(position, { minLength: 1, maxLength: 3 }),
        fc.array(position, { minLength: 1, maxLength: 3 }),
        fc.constantFrom("interleaved", "half"),
        fc.constantFrom("sin-cos", "cos-sin"),
        fc.bigInt({ min: 0n, max: 2n ** 60n }),
        (pairs, queries, keys, layout, order, seed) => {
          const dim = 2 * pairs;
          const dice = new Dice(seed);
          const h = Array.from({ length: dim }, () => Array.from({ length: dim }, () => dice.real(-2, 2)));
          const scheme = sinusoidal({ dim, layout, order });
          const parts = bilinear(scheme, h, { queries, keys });
          const column = (i: number, cosine: boolean): number => {
            const second = cosine === (order === "sin-cos");
            return layout === "half" ? i + (second ? pairs : 0) : 2 * i + (second ? 1 : 0);
          };
          const p = encode(scheme, queries, { dtype: "float64" });
          const q = encode(scheme, keys, { dtype: "float64" });
          queries.forEach((m, a) =>
            keys.forEach((n, b) => {
              let [relative, absolute, value] = [0, 0, 0];
              for (let i = 0; i < pairs; i++) {
                const omega = 10000 ** (-i / pairs);
                const [c, s] = [column(i, true), column(i, false)];
                relative += ((h[c]![c]! + h[s]![s]!) / 2) * Math.cos((m - n) * omega);
                absolute += ((h[c]![c]! - h[s]![s]!) / 2) * Math.cos((m + n) * omega);
              }
              h.forEach((row, x) => row.forEach((entry, y) => (value += entry * p.at(a, x) * q.at(b, y))));
              expect(parts.relative.at(a, b)).toBeCloseTo(relative, 9);
              expect(parts.absolute.at(a, b)).toBeCloseTo(absolute, 9);
              expect(parts.value.at(a, b)).toBeCloseTo(value, 11);
              expect(parts.relative.at(a, b) + parts.absolute.at(a, b) + parts.rest.at(a, b)).toBeCloseTo(value, 11);
            }),
          );
        },
      ),
      runs,
    );
  });

  it("says what it refuses", () => {
    const at = { queries: 2, keys: 2 };
    expect(() => bilinear(rope({ dim: 4 }) as never, [1], at)).toThrow("bilinear: scheme must be an embed scheme");
    expect(() => bilinear(learned({ length: 4, dim: 2 }), [1, 1], at)).toThrow("sinusoidal scheme of an even dim");
    expect(() => bilinear(fourier({ levels: 2 }), [1], at)).toThrow(expect.objectContaining({ code: "unsupported" }));
    expect(() => bilinear(sinusoidal({ dim: 5 }), [1, 1, 1, 1, 1], at)).toThrow("dim 5");
    expect(() => bilinear(sinusoidal({ dim: 4 }), [1, 1, 1], at)).toThrow("of shape [4, 4] or [4]");
    expect(() => bilinear(sinusoidal({ dim: 4 }), [[1, 2, 3, 4]], at)).toThrow("of shape [4, 4] or [4]");
    expect(() => bilinear(sinusoidal({ dim: 2 }), [1, NaN], at)).toThrow("bilinear: h");
    expect(() => bilinear(sinusoidal({ dim: 2 }), [1, 1], { queries: 2 } as never)).toThrow("bilinear: keys");
  });
});

describe("diagonalDominance and normRatio", () => {
  it("see a sinusoidal table's columns correlate, and a normal table's not", () => {
    const table = diagonalDominance(encode(sinusoidal({ dim: 32 }), 512, { dtype: "float64" }));
    const noise = diagonalDominance(randomNormal([20000, 32], { seed: 4 }));
    expect(noise.dominantColumns).toBe(32);
    expect(noise.diagonal).toBeCloseTo(1, 1);
    expect(noise.diagonal / noise.offDiagonal).toBeGreaterThan(100);
    // The slow pairs drift through the whole table together: the diagonal is larger, but does not dominate.
    expect(table.diagonal).toBeGreaterThan(2 * table.offDiagonal);
    expect(table.dominantColumns).toBeLessThan(32);
    expect(table.covariance.shape).toEqual([32, 32]);
    expect(table.ratios.shape).toEqual([32]);
  });

  it("is invariant to a shift of the table and scales with its square", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 31 }),
        fc.double({ min: 0.1, max: 9, noNaN: true }),
        fc.double({ min: -5, max: 5, noNaN: true }),
        (seed, factor, shift) => {
          const x = randomNormal([12, 5], { seed }).tolist() as number[][];
          const one = diagonalDominance(x);
          const other = diagonalDominance(x.map((row) => row.map((value) => factor * value + shift)));
          expect(other.diagonal / one.diagonal).toBeCloseTo(factor * factor, 9);
          one.ratios.data.forEach((ratio, c) => expect(other.ratios.at(c) / ratio).toBeCloseTo(1, 8));
          expect(other.dominantColumns).toBe(one.dominantColumns);
        },
      ),
      runs,
    );
  });

  it("positions are not small beside embeddings of deviation 0.02: rows of the table are sqrt(d / 2) long", () => {
    const table = encode(sinusoidal({ dim: 512 }), 64, { dtype: "float64" });
    const small = normRatio(randomNormal([64, 512], { seed: 1, std: 0.02 }), table);
    expect(small.table).toBeCloseTo(16, 12);
    expect(small.ratio).toBeLessThan(0.03);
    // Scaled by sqrt(d), as the paper does, they are about as long.
    const scaled = normRatio(randomNormal([64, 512], { seed: 1, std: 0.02 * Math.sqrt(512) }), table);
    expect(scaled.ratio).toBeCloseTo(Math.sqrt(512) * small.ratio, 6);
    expect(scaled.ratio).toBeGreaterThan(0.5);
  });

  it("say what they refuse", () => {
    expect(() => diagonalDominance([[1, 2]])).toThrow("at least two rows");
    expect(() => diagonalDominance([1, 2])).toThrow("a table of shape [T, d]");
    expect(() => normRatio([[1]], [1])).toThrow("normRatio: table");
    expect(() => normRatio(tensor([], [0, 2]), [[1]])).toThrow("normRatio: embeddings");
  });
});

describe("taylor", () => {
  it("names six terms, of which the first five see one position at most", () => {
    const { terms, value, remainder, norms } = taylor({ tokens: 8, dim: 16, scales: [0, 1e-3, 1e-2, 1e-1, 1] });
    expect(terms.shape).toEqual([5, taylorTerms.length]);
    expect(norms.pM).toBeCloseTo(Math.sqrt(8), 14);
    expect(norms.pN).toBeCloseTo(Math.sqrt(8), 14);
    expect(norms.tokens).toBeGreaterThan(3);
    for (let s = 0; s < 5; s++) {
      const sum = [...terms.row(s)].reduce((a, b) => a + b, 0);
      expect(sum + remainder.at(s)).toBeCloseTo(value.at(s), 13);
      expect(terms.at(s, 0)).toBe(terms.at(0, 0));
    }
    // First-order terms grow with the scale, second-order ones with its square, and the remainder with its cube.
    expect(terms.at(3, 1) / terms.at(2, 1)).toBeCloseTo(10, 12);
    expect(terms.at(3, 5) / terms.at(2, 5)).toBeCloseTo(100, 10);
    expect(remainder.at(2) / remainder.at(1)).toBeGreaterThan(900);
    expect(remainder.at(2) / remainder.at(1)).toBeLessThan(1100);
    expect(Math.abs(remainder.at(4))).toBeGreaterThan(Math.abs(terms.at(4, 5)) / 100);
  });

  it("the pooled model does not know which of two tokens is which", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 7 }),
        fc.integer({ min: 2, max: 6 }),
        fc.nat(),
        fc.double({ min: -1, max: 1, noNaN: true }),
        (tokens, dim, seed, scale) => {
          const n = tokens - 1;
          const forth = taylor({ tokens, dim, seed, scales: [scale], positions: [0, n] });
          const back = taylor({ tokens, dim, seed, scales: [scale], positions: [n, 0] });
          const swapped = [0, 2, 1, 4, 3, 5];
          swapped.forEach((from, to) => expect(back.terms.at(0, to)).toBeCloseTo(forth.terms.at(0, from), 12));
          expect(back.value.at(0)).toBeCloseTo(forth.value.at(0), 12);
        },
      ),
      runs,
    );
  });

  it("takes p from any embed scheme, and says what it refuses", () => {
    const table = [
      [0, 0],
      [0, 0],
    ];
    const still = taylor({ tokens: 2, dim: 2, scales: [1], scheme: learned({ table }) });
    expect([...still.terms.data].slice(1)).toEqual([0, 0, 0, 0, 0]);
    expect(still.remainder.at(0)).toBe(0);
    const refused = (options: object, message: string): void =>
      expect(() => taylor({ tokens: 4, dim: 4, scales: [1], ...options } as never)).toThrow(message);
    refused({ tokens: 1 }, "tokens must be an integer from 2 to 256");
    refused({ dim: 300 }, "dim must be an integer from 2 to 256");
    refused({ scales: [[1]] }, "scales");
    refused({ scales: undefined }, "scales");
    refused({ positions: [1, 1] }, "two different positions below tokens");
    refused({ positions: [0, 9] }, "two different positions below tokens");
    refused({ positions: 3 }, "positions");
    refused({ scheme: sinusoidal({ dim: 6 }) }, "of width 4");
    refused({ scales: [1e200] }, "no score overflows");
  });
});
