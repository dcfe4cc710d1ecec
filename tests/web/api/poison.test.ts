// NaN and Infinity behind every kind of mask, in every operand: who cannot see them has the bits of a clean call.
import { describe, expect, it } from "vitest";
import {
  type AttentionOptions,
  Tensor,
  alibi,
  attention,
  attentionGradient,
  kerple,
  randomNormal,
  rope,
  shaw,
  tensor,
  toeplitz,
} from "../../../web/src/index.js";

const [heads, queries, keys, d] = [2, 9, 13, 4];
const [q, k, v] = [1, 2, 3].map((seed) => randomNormal([heads, seed === 1 ? queries : keys, d], { seed })) as [
  Tensor<"float32">, Tensor<"float32">, Tensor<"float32">,
];
const first = keys - queries;
const seenBy = (sees: (i: number, j: number) => boolean): boolean[][] =>
  Array.from({ length: queries }, (_, i) => Array.from({ length: keys }, (_, j) => sees(i, j)));

// Each kind of mask, with what it lets query i see of key j; places of queries are those of the last keys.
type Rule = readonly [name: string, options: AttentionOptions, sees: (i: number, j: number) => boolean];
const at = Float64Array.from({ length: queries }, (_, i) => first + i);
const places = { queryPositions: at };
const odd = (_: number, j: number): boolean => j % 2 === 1;
const added = tensor(seenBy(odd).map((row) => row.map((seen) => (seen ? 0.25 : -Infinity))));
const kRules: readonly Rule[] = [
  ["causal", { causal: "bottom-right" }, (i, j) => j <= first + i],
  ["window", { ...places, window: 3 }, (i, j) => Math.abs(first + i - j) < 3],
  ["a window of two sides", { ...places, window: [2, 1] }, (i, j) => j - first - i <= 1 && first + i - j <= 2],
  ["key lengths", { keyLengths: 6 }, (_, j) => j < 6],
  ["a key mask", { keyMask: Array.from({ length: keys }, (_, j) => odd(0, j)) }, odd],
  ["left padding", { causal: "bottom-right", keyMask: Array.from({ length: keys }, (_, j) => j >= 6) },
    (i, j) => j >= 6 && j <= first + i],
  ["booleans of pairs", { mask: seenBy((i, j) => (i + j) % 3 !== 0) }, (i, j) => (i + j) % 3 !== 0],
  ["numbers of pairs", { mask: added }, odd],
  ["a prefix", { causal: "bottom-right", prefixLength: 3 }, (i, j) => j < 3 || j <= first + i],
  ["nothing seen", { keyLengths: 0 }, () => false],
];

describe.each(kRules)("behind %s", (_, rule, sees) => {
  it.each([NaN, Infinity, -Infinity])("%d in a key, a value or a query reaches nobody else", (poison) => {
    for (const dtype of ["float32", "float64"] as const) {
      const schemes = { bias: alibi({ heads }), rotate: rope({ dim: d }), relate: shaw({ dim: d, clip: 2 }) };
      for (const extra of [{}, schemes]) {
        const options = { ...rule, ...extra, dtype, weights: true, softcap: 3, sinks: [0.5, -1] };
        const clean = attention(q, k, v, options as AttentionOptions);
        const same = (got: Tensor, wanted: Tensor, i: number): void => {
          for (let h = 0; h < heads; h++) expect(rowOf(got, h, i)).toEqual(rowOf(wanted, h, i));
        };
        for (const j of [0, 5, keys - 1]) {
          for (const which of ["k", "v"] as const) {
            const dirty = { k, v, [which]: poisoned(which === "k" ? k : v, j, poison) };
            const got = attention(q, dirty.k, dirty.v, { ...options, allowNonFinite: true } as AttentionOptions);
            for (let i = 0; i < queries; i++) {
              if (sees(i, j)) continue;
              for (const name of ["out", "lse", "weights"] as const) same(got[name]!, clean[name]!, i);
            }
          }
        }
        const got = attention(poisoned(q, 4, poison), k, v, { ...options, allowNonFinite: true } as AttentionOptions);
        for (let i = 0; i < queries; i++) if (i !== 4) same(got.out, clean.out, i);
        for (let i = 0; i < queries; i++) {
          if (Array.from({ length: keys }, (_, j) => sees(i, j)).some(Boolean)) continue;
          for (let h = 0; h < heads; h++) {
            expect(clean.lse.at(h, i)).toBe(-Infinity);
            for (let c = 0; c < d; c++) expect(Object.is(clean.out.at(h, i, c), 0)).toBe(true);
          }
        }
      }
    }
  });

  it("takes no gradient there, and gives none", () => {
    const wide = (x: Tensor): Tensor<"float64"> => new Tensor(Float64Array.from(x.data, Number), x.shape, "float64");
    const dOut = wide(randomNormal([heads, queries, d]));
    const { dk, dv } = attentionGradient(wide(q), wide(k), wide(v), dOut, rule as Omit<AttentionOptions, "dtype">);
    for (let j = 0; j < keys; j++) {
      if (Array.from({ length: queries }, (_, i) => sees(i, j)).some(Boolean)) continue;
      for (let h = 0; h < heads; h++) {
        for (let c = 0; c < d; c++) expect([dk.at(h, j, c), dv.at(h, j, c)]).toEqual([0, 0]);
      }
    }
  });

  it.each([NaN, Infinity])("%d there is in no gradient: of the others, of sinks, of any scheme's parameters", (poison) => {
    const learning: readonly AttentionOptions[] = [
      { rotate: rope({ dim: d }), sinks: [0.5, -1] },
      { rotate: [rope({ dim: d, layout: "half" }), rope({ dim: d })], softcap: 3 },
      { bias: toeplitz({ values: Array.from({ length: heads }, () => new Array<number>(2 * keys - 1).fill(0.1)) }) },
      { bias: [alibi({ heads }), kerple({ heads })] },
      { relate: shaw({ dim: d, clip: 2 }) },
    ];
    const unseen = Array.from({ length: keys }, (_, j) => j).filter(
      (j) => !Array.from({ length: queries }, (_, i) => sees(i, j)).some(Boolean),
    );
    const dOut = randomNormal([heads, queries, d], { seed: 4 });
    for (const schemes of learning) {
      const options = { ...rule, ...schemes, allowNonFinite: true } as Omit<AttentionOptions, "dtype">;
      const clean = attentionGradient(q, k, v, dOut, options);
      for (const j of unseen) {
        const got = attentionGradient(q, poisoned(k, j, poison), poisoned(v, j, poison), dOut, options);
        expect(JSON.stringify(got)).toBe(JSON.stringify(clean));
      }
    }
  });
});

// What a result says of query i.
function rowOf({ data, size }: Tensor, h: number, i: number): number[] {
  const width = size / (heads * queries);
  return Array.from(data.subarray((h * queries + i) * width, (h * queries + i + 1) * width), Number);
}

function poisoned(x: Tensor<"float32">, row: number, poison: number): Tensor<"float32"> {
  const data = Float32Array.from(x.data);
  const length = x.shape[1]!;
  for (let h = 0; h < heads; h++) data.fill(poison, (h * length + row) * d, (h * length + row + 1) * d);
  return new Tensor(data, x.shape, "float32");
}
