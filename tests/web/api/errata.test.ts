// Where the notes behind this package are wrong or loose, it states the right fact: each test fails on the note's.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as posenc from "../../../web/src/index.js";

const { alibi, attention, encode, frequencies, learned, randomNormal, rope, shaw, sinusoidal, tensor } = posenc;

const rows = (x: { tolist(): unknown }): number[][] => x.tolist() as number[][];
const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, x, c) => sum + x * b[c]!, 0);
const largestGap = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((x, n) => Math.abs(x - b[n]!)));

describe("errata", () => {
  it("1: the last wavelength of 512 columns is 60,611, and only timing spacing reaches 2 pi 10000", () => {
    const { wavelength, inverse } = frequencies(sinusoidal({ dim: 512 }));
    expect(1 / inverse[255]!).toBeCloseTo(9646.616, 3); // not 9930
    expect(wavelength[255]).toBeCloseTo(60611.477, 3); // not 62,393
    expect(wavelength[255]! / (2 * Math.PI * 10000 ** (1 - 2 / 512))).toBeCloseTo(1, 13);
    const timing = frequencies(sinusoidal({ dim: 512, spacing: "timing" })).wavelength[255]!;
    expect(timing / (2 * Math.PI * 10000)).toBeCloseTo(1, 13);
  });

  it("2: unmasked self-attention is equivariant, not invariant; the kernel's sum has d/2 terms", () => {
    const x = randomNormal([4, 6], { seed: 3 });
    const order = [2, 0, 3, 1];
    const moved = tensor(order.map((t) => [...x.row(t)]));
    const [plain, permuted] = [attention(x, x, x).out, attention(moved, moved, moved).out];
    const equivariant = Math.max(...order.map((t, i) => largestGap([...permuted.row(i)], [...plain.row(t)])));
    expect(equivariant).toBeLessThan(1e-6);
    expect(largestGap([...permuted.data], [...plain.data])).toBeGreaterThan(0.1); // the note: unchanged
    const omega = [1, 0.1, 0.01, 0.001];
    const sum = (terms: number): number => omega.slice(0, terms).reduce((g, w) => g + Math.cos(7 * w), 0);
    const [g] = [...posenc.kernel(rope({ dim: 8 }), [7]).data] as [number];
    expect(g).toBeCloseTo(sum(4), 13);
    // One term further, i = d/2, would be omega = 1e-4.
    expect(Math.abs(g - (sum(4) + Math.cos(7e-4)))).toBeGreaterThan(0.9);
  });

  it("3: a higher index turns slower, and 001's M(k) stands to the right of rows", () => {
    const { inverse } = frequencies(sinusoidal({ dim: 16 }));
    inverse.forEach((omega, i) => i > 0 && expect(omega).toBeLessThan(inverse[i - 1]!));
    const scheme = sinusoidal({ dim: 4 });
    const m = rows(posenc.shiftMatrix(scheme, 5));
    const [from, to] = rows(encode(scheme, [2, 7], { dtype: "float64" })) as [number[], number[]];
    const left = m.map((row) => dot(row, from));
    const right = m.map((_, c) => dot(from, m.map((row) => row[c]!)));
    expect(largestGap(left, to)).toBeLessThan(1e-14);
    expect(largestGap(right, to)).toBeGreaterThan(0.5);
    const transposed = m.map((_, c) => m.map((row) => row[c]!));
    expect(largestGap(m.map((_, c) => dot(from, transposed.map((row) => row[c]!))), to)).toBeLessThan(1e-14);
  });

  it("4: Shaw's score is q . (k + a) / sqrt(d), with a + value side, and u and v are Transformer-XL's", () => {
    const [q, k, v] = [1, 2, 3].map((seed) => randomNormal([3, 4], { seed })) as [never, never, never];
    const [keys, values] = [4, 5].map((seed) => randomNormal([5, 4], { seed }));
    const { out, trace, weights } = attention(q, k, v, {
      relate: shaw({ dim: 4, clip: 2, keys: keys!, values: values! }),
      trace: true,
      weights: true,
    });
    const [Q, K, V, A, B] = [q, k, v, keys!, values!].map((x) => rows(x)) as [
      number[][],
      number[][],
      number[][],
      number[][],
      number[][],
    ];
    for (let i = 0; i < 3; i++) {
      const output = [0, 0, 0, 0];
      for (let j = 0; j < 3; j++) {
        const [a, b] = [A[j - i + 2]!, B[j - i + 2]!];
        expect(trace!.scores.at(i, j)).toBeCloseTo(dot(Q[i]!, K[j]!.map((x, c) => x + a[c]!)) / 2, 5);
        output.forEach((_, c) => (output[c]! += weights!.at(i, j) * (V[j]![c]! + b[c]!)));
      }
      expect(largestGap([...out.row(i)], output)).toBeLessThan(1e-6);
    }
    // The four terms the note prints under Shaw's name, with W_kR: (q + u) . k + (q + v) . W_kR R.
    const [u, w] = [6, 7].map((seed) => randomNormal([1, 4], { seed })) as [never, never];
    const wr = randomNormal([4, 4], { seed: 8 });
    const four = attention(q, k, v, {
      relate: posenc.transformerXL({ heads: 1, dim: 4, u, v: w, wr }),
      trace: true,
    }).trace!;
    const [U, W, R] = [u, w, wr].map((x) => rows(x)) as [number[][], number[][], number[][]];
    const added = (x: number[], y: number[]): number[] => x.map((value, c) => value + y[c]!);
    for (let i = 0; i < 3; i++) {
      for (let j = 0; j < 3; j++) {
        // R_{i - j}: all sines before all cosines.
        const at = i - j;
        const code = [Math.sin(at), Math.sin(at / 100), Math.cos(at), Math.cos(at / 100)];
        const turned = R[0]!.map((_, c) => dot(code, R.map((row) => row[c]!)));
        const score = (dot(added(Q[i]!, U[0]!), K[j]!) + dot(added(Q[i]!, W[0]!), turned)) / 2;
        expect(four.scores.at(i, j)).toBeCloseTo(score, 5);
        const without = (dot(added(Q[i]!, U[0]!), K[j]!) + dot(added(Q[i]!, W[0]!), code)) / 2; // the note has no W_kR
        expect(Math.abs(score - without)).toBeGreaterThan(1e-3);
      }
    }
  });

  it("5: figures without a source are printed nowhere", () => {
    const root = join(import.meta.dirname, "../../..");
    const texts = ["README.md", "docs", "web/site", "web/examples"].flatMap((path) => {
      const full = join(root, path);
      if (path.endsWith(".md")) return [full];
      return readdirSync(full, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.(md|html|ts|mjs|js|css)$/.test(entry.name))
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
    });
    expect(texts.length).toBeGreaterThan(40);
    for (const path of texts) {
      const text = readFileSync(path, "utf8");
      expect(text, path).not.toMatch(/BLEU[^.]{0,40}29\.1|29\.1[^.]{0,40}BLEU/i);
      expect(text, path).not.toMatch(/73\s?% of (the )?variance|15\s?[-–]\s?20\s?%/i);
      expect(text, path).not.toMatch(/\btau\s?=\s?32\b|τ\s?=\s?32\b/);
    }
    // The curve is drawn as a claim.
    expect(posenc.schemes.find(({ name }) => name === "distance")!.summary).toMatch(/claim/i);
  });

  it("6: a learned table says where it ends", () => {
    const scheme = learned({ length: 4, dim: 2 });
    expect(encode(scheme, 4).shape).toEqual([4, 2]);
    const refused = expect.objectContaining({ code: "out-of-range" });
    for (const positions of [[4], [-1], 5]) expect(() => encode(scheme, positions)).toThrow(refused);
  });

  it("7: ALiBi is -m |j - i| with fixed slopes, RoPE leaves values alone, the radix is b^(1/pairs)", () => {
    const scheme = alibi({ heads: 8 });
    const b = posenc.bias(scheme, { queries: 3, keys: 3 });
    for (const [i, j] of [[0, 2], [2, 0], [1, 1]] as const) {
      expect(b.at(0, i, j)).toBe(0 - 0.5 * Math.abs(i - j)); // the note: |j - i|
    }
    const x = randomNormal([3, 8], { seed: 2 });
    const [q, k, v] = [x, randomNormal([3, 8], { seed: 4 }), randomNormal([3, 8], { seed: 5 })];
    const turned = rope({ dim: 8 });
    const { out } = attention(q, k, v, { rotate: turned });
    const by = (queries: never, keys: never, values: never): number =>
      largestGap([...attention(queries, keys, values).out.data], [...out.data]);
    const turn = (y: unknown, side: "query" | "key"): never => posenc.rotate(y as never, turned, { side }) as never;
    expect(by(turn(q, "query"), turn(k, "key"), v as never)).toBeLessThan(1e-6);
    expect(by(turn(q, "query"), k as never, turn(v, "key"))).toBeGreaterThan(0.01); // the note: values
    const { inverse, wavelength } = frequencies(sinusoidal({ dim: 100 }));
    expect(inverse[0]! / inverse[1]!).toBeCloseTo(10000 ** (1 / 50), 12);
    const printed = [wavelength[0]!.toFixed(3), wavelength[1]!.toFixed(3), wavelength[49]!.toFixed(1)];
    expect(printed).toEqual(["6.283", "7.554", "52261.3"]);
    const { digits } = posenc.radix(sinusoidal({ dim: 8 }), 4321);
    expect([...digits]).toEqual([1, 2, 3, 4]); // base 10 = 10000^(1/4)
  });

  it("8: the diagonal sum counts pairs from 0 to d/2 - 1", () => {
    const h = [1, 2, 3, 4, 5, 6];
    const scheme = sinusoidal({ dim: 6, order: "cos-sin" });
    const omega = [...frequencies(scheme).inverse];
    const [m, n] = [3, 3];
    const term = (i: number, w: number): number =>
      h[2 * i]! * Math.cos(m * w) * Math.cos(n * w) + h[2 * i + 1]! * Math.sin(m * w) * Math.sin(n * w);
    const found = posenc.bilinear(scheme, h, { queries: [m], keys: [n] }).value.data[0]!;
    expect(found).toBeCloseTo(omega.reduce((sum, w, i) => sum + term(i, w), 0), 12);
    // From 1 on, as the note's limits have it over its own subscripts.
    const late = omega.slice(1).reduce((sum, w, i) => sum + term(i + 1, w), 0);
    expect(Math.abs(found - late)).toBeGreaterThan(0.5);
  });

  it("9: whole positions share a dimension only nearly: 710 is 113 turns to 6.0e-5", () => {
    const apart = (dim: number): number => posenc.closestPair(sinusoidal({ dim }), { length: 711 }).distance;
    expect(apart(2)).toBeCloseTo(6.0288706691585265e-5, 12);
    expect(apart(2)).toBeGreaterThan(0); // the note: the same
    const [origin, far] = rows(encode(sinusoidal({ dim: 4 }), [0, 710], { dtype: "float64" })) as [number[], number[]];
    expect(Math.hypot(...origin.map((x, c) => x - far[c]!))).toBeCloseTo(2 * Math.abs(Math.sin(3.55)), 6); // 0.794
    expect(2 * Math.abs(Math.sin(3.55))).toBeCloseTo(0.794, 3);
  });

  it("10: rows of the encoding are sqrt(d / 2) long, not small beside embeddings of deviation 0.02", () => {
    const words = randomNormal([64, 128], { std: 0.02 });
    const { table, ratio } = posenc.normRatio(words, encode(sinusoidal({ dim: 128 }), 64));
    expect(table).toBeCloseTo(8, 6);
    expect(ratio).toBeLessThan(0.03);
  });

  it("elsewhere: ALiBi's first slope of 8 heads is 0.5; an attention factor replaces YaRN's", () => {
    expect(posenc.bias(alibi({ heads: 8 }), { queries: [1], keys: [0] }).data[0]).toBe(-0.5); // printed elsewhere: 1.0
    const yarn = { type: "yarn", factor: 64, originalMaxPositionEmbeddings: 4096 } as const;
    const factor = (more: object): number =>
      frequencies(rope({ dim: 8, scaling: { ...yarn, ...more } })).attentionFactor;
    expect(factor({})).toBeCloseTo(0.1 * Math.log(64) + 1, 12);
    expect(factor({ attentionFactor: 1 })).toBe(1);
    expect(factor({ attentionFactor: 1.25 })).toBe(1.25); // multiplied it would be 1.77
  });
});
