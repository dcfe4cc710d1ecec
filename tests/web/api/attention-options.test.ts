// mask, softcap and sinks of attention() against nested loops in double, and what other projects got wrong.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromConfig } from "../../../web/src/config.js";
import {
  type AttentionOptions,
  type AttentionResult,
  Tensor,
  alibi,
  attention,
  randomNormal,
  shaw,
  tensor,
} from "../../../web/src/index.js";
import { numbers } from "./oracle.js";

const size = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

// Entry of a mask for pair (b, h, i, j): axes from the right, one of size 1 serves all (NumPy's rule).
function entry(shape: readonly number[], place: readonly [number, number, number, number]): number {
  let at = 0;
  shape.forEach((length, axis) => {
    const index = place[4 - shape.length + axis]!;
    at = at * length + (length === 1 ? 0 : index);
  });
  return at;
}

interface Case {
  readonly batch: number;
  readonly heads: number;
  readonly queries: number;
  readonly keys: number;
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
}

const d = 3;

function makeCase(batch: number, heads: number, queries: number, keys: number, seed: number): Case {
  const filled = (rows: number, s: number): Tensor =>
    tensor(Float32Array.from(numbers(batch * heads * rows * d, s)), [batch, heads, rows, d]);
  const [q, k, v] = [filled(queries, seed), filled(keys, seed + 1), filled(keys, seed + 2)] as const;
  return { batch, heads, queries, keys, q, k, v };
}

interface Rules {
  readonly added?: (b: number, h: number, i: number, j: number) => number;
  readonly seen?: (b: number, h: number, i: number, j: number) => boolean;
  readonly bias?: (h: number, i: number, j: number) => number;
  readonly cap?: number;
  readonly sinks?: readonly number[];
}

// Every row of out, weights and lse, one loop inside another.
function expectEquations(given: Case, result: AttentionResult, rules: Rules): void {
  const { batch, heads, queries, keys, q, k, v } = given;
  let worst = 0;
  const differ = (got: number, wanted: number): void => {
    const gap = got === wanted ? 0 : Math.abs(got - wanted);
    worst = Number.isNaN(gap) ? Infinity : Math.max(worst, gap);
  };
  for (let b = 0; b < batch; b++) {
    for (let h = 0; h < heads; h++) {
      for (let i = 0; i < queries; i++) {
        const scores: number[] = [];
        for (let j = 0; j < keys; j++) {
          let score = 0;
          for (let c = 0; c < d; c++) score += Number(q.at(b, h, i, c)) * Number(k.at(b, h, j, c));
          score /= Math.sqrt(d);
          if (rules.cap !== undefined) score = rules.cap * Math.tanh(score / rules.cap);
          score += (rules.bias?.(h, i, j) ?? 0) + (rules.added?.(b, h, i, j) ?? 0);
          scores.push(rules.seen?.(b, h, i, j) ?? true ? score : -Infinity);
        }
        const empty = scores.every((score) => score === -Infinity);
        const sink = empty ? 0 : Math.exp(rules.sinks?.[h] ?? -Infinity);
        const total = scores.reduce((sum, score) => sum + Math.exp(score), sink);
        differ(result.lse.at(b, h, i) as number, empty ? -Infinity : Math.log(total));
        const row = Array<number>(d).fill(0);
        for (let j = 0; j < keys; j++) {
          const weight = empty ? 0 : Math.exp(scores[j]!) / total;
          differ(result.weights!.at(b, h, i, j) as number, weight);
          for (let c = 0; c < d; c++) row[c]! += weight * Number(v.at(b, h, j, c));
        }
        for (let c = 0; c < d; c++) differ(result.out.at(b, h, i, c) as number, row[c]!);
      }
    }
  }
  expect(worst).toBeLessThan(1e-5);
}

describe("a mask of pairs", () => {
  it("broadcasts to [B, H, Tq, Tk] from the right, beside every other option", () => {
    fc.assert(
      fc.property(
        fc.record({
          batch: fc.integer({ min: 1, max: 2 }),
          heads: fc.integer({ min: 1, max: 3 }),
          queries: fc.integer({ min: 1, max: 11 }),
          keys: fc.integer({ min: 1, max: 19 }),
          rank: fc.integer({ min: 1, max: 4 }),
          ones: fc.nat(15),
          kind: fc.constantFrom("bool tensor", "bytes", "booleans", "floats", "doubles", "numbers"),
          hidden: fc.double({ min: -1, max: 1, noNaN: true }),
          cap: fc.option(fc.double({ min: 0.05, max: 20, noNaN: true })),
          sunk: fc.boolean(),
          biased: fc.boolean(),
          causal: fc.constantFrom(false, "top-left", "bottom-right"),
          keyed: fc.boolean(),
          seed: fc.nat(1 << 20),
        }),
        ({ batch, heads, queries, keys, rank, ones, kind, hidden, cap, sunk, biased, causal, keyed, seed }) => {
          const given = makeCase(batch, heads, queries, keys, seed);
          const full = [batch, heads, queries, keys];
          const shape = full.map((length, axis) => ((ones >> axis) & 1 ? 1 : length)).slice(4 - rank);
          const chance = numbers(size(shape), seed + 3);
          const height = numbers(size(shape), seed + 4);
          const additive = kind === "floats" || kind === "doubles" || kind === "numbers";
          const shown = chance.map((x) => x >= hidden);
          const values = shown.map((seen, n) => (seen ? height[n]! * 3 : -Infinity));
          const nested = <T>(flat: readonly T[]): unknown =>
            shape.slice(1).reduceRight<readonly unknown[]>(
              (rows, length) =>
                Array.from({ length: rows.length / length }, (_, n) => rows.slice(n * length, (n + 1) * length)),
              flat,
            );
          const mask = {
            "bool tensor": () => tensor(Uint8Array.from(shown, Number), shape, "bool"),
            bytes: () => ({ data: Uint8Array.from(shown, Number), shape }),
            booleans: () => nested(shown),
            floats: () => tensor(Float32Array.from(values), shape),
            doubles: () => tensor(Float64Array.from(values), shape, "float64"),
            numbers: () => nested(values),
          }[kind]();
          const keyMask = numbers(keys, seed + 5).map((x) => x > -0.6);
          const sinks = numbers(heads, seed + 6).map((x) => Math.fround(4 * x));
          const options: Omit<AttentionOptions, "dtype"> = {
            mask: mask as NonNullable<AttentionOptions["mask"]>,
            weights: true,
            trace: true,
            causal: causal as AttentionOptions["causal"],
            ...(cap === null ? {} : { softcap: cap }),
            ...(sunk ? { sinks } : {}),
            ...(keyed ? { keyMask } : {}),
            ...(biased ? { bias: alibi({ heads, slopes: sinks.map(Math.abs) }) } : {}),
          };
          const first = causal === "bottom-right" ? keys - queries : 0;
          const result = attention(given.q, given.k, given.v, options);
          expectEquations(given, result, {
            ...(cap === null ? {} : { cap }),
            ...(sunk ? { sinks } : {}),
            ...(biased ? { bias: (h, i, j) => -Math.abs(sinks[h]! * (i + first - j)) } : {}),
            added: (b, h, i, j) => {
              const value = values[entry(shape, [b, h, i, j])]!;
              return additive && value !== -Infinity ? Math.fround(value) : 0;
            },
            seen: (b, h, i, j) =>
              shown[entry(shape, [b, h, i, j])]! && (!keyed || keyMask[j]!) && (causal === false || j <= i + first),
          });
          // The terms sum to the score to the last bit, through the cap where there is one.
          const { content, relate, capped, bias, scores, masked } = result.trace!;
          expect(capped === undefined).toBe(cap === null);
          scores.data.forEach((score, n) => {
            const met = Math.fround(content.data[n]! + relate.data[n]!);
            const sum = Math.fround((capped === undefined ? met : capped.data[n]!) + bias.data[n]!);
            expect(score).toBe(masked.data[n] === 1 ? -Infinity : sum);
            if (cap !== null) expect(capped!.data[n]).toBeCloseTo(cap * Math.tanh(met / cap), 4);
          });
        },
      ),
      { numRuns: 150, seed: 11 },
    );
  });

  it("is [Tk], [Tq, Tk], [H, Tq, Tk] or [B, H, Tq, Tk] where a typed array has no shape", () => {
    const { q, k, v } = makeCase(2, 3, 4, 5, 1);
    for (const shape of [[5], [4, 5], [3, 4, 5], [2, 3, 4, 5]]) {
      for (const additive of [false, true]) {
        const shown = numbers(size(shape), 7).map((x) => x > 0);
        const bare = additive
          ? Float32Array.from(shown, (seen) => (seen ? 0 : -Infinity))
          : Uint8Array.from(shown, Number);
        const shaped = tensor(Uint8Array.from(shown, Number), shape, "bool");
        expect(attention(q, k, v, { mask: bare }).out).toEqual(attention(q, k, v, { mask: shaped }).out);
      }
    }
    expect(() => attention(q, k, v, { mask: new Uint8Array(7) })).toThrow(
      "attention: mask must be of a shape that broadcasts to [2, 3, 4, 5], [B, H, Tq, Tk], got 7 elements",
    );
  });

  it("of zeros and -Infinity gives the bits of the booleans, and causal those of causal: true", () => {
    const [q, k, v] = [1, 2, 3].map((seed) => randomNormal([2, 150, 8], { seed })) as [Tensor, Tensor, Tensor];
    const lower = Array.from({ length: 150 }, (_, i) => Array.from({ length: 150 }, (_, j) => j <= i));
    const added = tensor(
      lower.map((row) => row.map((seen) => (seen ? 0 : -Infinity))),
    );
    const wanted = attention(q, k, v, { causal: true, weights: true });
    expect(attention(q, k, v, { mask: lower, weights: true })).toEqual(wanted);
    expect(attention(q, k, v, { mask: added, weights: true })).toEqual(wanted);
  });

  it("that hides whole rows leaves zeros, sinks or not (pytorch #103963, PR #131060, mlx #2395)", () => {
    const { q, k, v } = makeCase(1, 2, 4, 5, 9);
    const mask = [0, 1, 2, 3].map((i) => Array<boolean>(5).fill(i !== 2));
    for (const sinks of [undefined, [3, -3]]) {
      for (const given of [mask, tensor(mask.map((row) => row.map((seen) => (seen ? 0.5 : -Infinity))))]) {
        const { out, weights, lse } = attention(q, k, v, {
          mask: given,
          weights: true,
          ...(sinks === undefined ? {} : { sinks }),
        });
        for (const h of [0, 1]) {
          expect(lse.at(0, h, 2)).toBe(-Infinity);
          for (let j = 0; j < 5; j++) expect(weights!.at(0, h, 2, j)).toBe(0);
          for (let c = 0; c < d; c++) expect(out.at(0, h, 2, c)).toBe(0);
          expect(lse.at(0, h, 1)).toBeGreaterThan(-Infinity);
        }
      }
    }
  });

  it("lets no NaN or Infinity through that stands behind it (pytorch #101967)", () => {
    const clean = makeCase(1, 1, 6, 7, 4);
    const seen = Array.from({ length: 6 }, () => Array.from({ length: 7 }, (_, j) => j !== 3 && j !== 6));
    const masks = [seen, tensor(seen.map((row) => row.map((shown) => (shown ? 0 : -Infinity))))];
    for (const mask of masks) {
      const { out } = attention(clean.q, clean.k, clean.v, { mask });
      for (const poison of [NaN, Infinity, -Infinity]) {
        const [k, v] = [clean.k, clean.v].map(({ data, shape }) => {
          const copy = Float32Array.from(data);
          copy.fill(poison, 3 * d, 4 * d);
          return tensor(copy, shape);
        }) as [Tensor, Tensor];
        const dirty = attention(clean.q, k, v, { mask, allowNonFinite: true, trace: true, weights: true });
        expect(dirty.out).toEqual(out);
        expect([...dirty.weights!.data].every(Number.isFinite)).toBe(true);
      }
    }
    // [[1]] where the other key is hidden.
    const one = attention([[1]], [[1], [NaN]], [[1], [Infinity]], { mask: [true, false], allowNonFinite: true });
    expect(one.out.tolist()).toEqual([[1]]);
    // In the mask itself, behind the causal rule.
    const later = attention(clean.q, clean.q, clean.q, {
      mask: tensor(Array.from({ length: 6 }, (_, i) => Array.from({ length: 6 }, (_, j) => (j > i ? NaN : 0)))),
      causal: true,
      allowNonFinite: true,
    });
    expect(later.out).toEqual(attention(clean.q, clean.q, clean.q, { causal: true }).out);
  });

  it("leaves JSON as null beside what is masked, never as -1e9 (the ALiBi page of crackedaicode.com)", () => {
    const { q, k, v } = makeCase(1, 1, 2, 3, 4);
    const { trace } = attention(q, k, v, { mask: [[0, -Infinity, 1.5]], causal: "bottom-right", trace: true });
    const text = JSON.stringify(trace);
    expect(text).not.toMatch(/Infinity|NaN|1e9/);
    const read = JSON.parse(text) as Record<string, { data: unknown[] }>;
    expect(read.masked!.data.map(Number)).toEqual([0, 1, 1, 0, 1, 0]);
    expect(read.scores!.data.map((score) => score === null)).toEqual([false, true, true, false, true, false]);
    // A large number masks nothing: a row of it alone is a mean of what was to be hidden.
    const { weights } = attention(q, k, v, { mask: [[-1e9, -1e9, -1e9]], weights: true });
    for (const weight of weights!.data) expect(weight).toBeGreaterThan(0.2);
  });

  it("pads on the left: early rows are zero, the others those of the tokens alone", () => {
    const [q, k, v] = [1, 2, 3].map((seed) => randomNormal([2, 5, 4], { seed })) as [Tensor, Tensor, Tensor];
    const padded = ({ data }: Tensor): Tensor => {
      const all = new Float32Array(2 * 8 * 4).fill(NaN);
      for (const h of [0, 1]) all.set(data.subarray(h * 20, (h + 1) * 20) as Float32Array, h * 32 + 12);
      return tensor(all, [2, 8, 4]);
    };
    const there = [false, false, false, true, true, true, true, true];
    const alone = attention(q, k, v, { causal: true });
    for (const option of [{ mask: there }, { keyMask: there }]) {
      const { out, lse } = attention(padded(q), padded(k), padded(v), {
        causal: true,
        allowNonFinite: true,
        ...option,
      });
      for (const h of [0, 1]) {
        for (let i = 0; i < 8; i++) {
          expect(lse.at(h, i) === -Infinity).toBe(i < 3);
          for (let c = 0; c < 4; c++) {
            expect(out.at(h, i, c)).toBeCloseTo(i < 3 ? 0 : (alone.out.at(h, i - 3, c) as number), 6);
          }
        }
      }
    }
  });

  it("is refused where its shape, its kind or its numbers are wrong", () => {
    const { q, k, v } = makeCase(2, 3, 4, 5, 1);
    const refused = (mask: unknown): Error => {
      try {
        attention(q, k, v, { mask: mask as NonNullable<AttentionOptions["mask"]> });
      } catch (error) {
        return error as Error;
      }
      throw new Error("not refused");
    };
    const zeros = (...shape: number[]): Tensor => tensor(new Float32Array(size(shape)), shape);
    expect(refused(zeros(2, 5)).message).toBe(
      "attention: mask must be of a shape that broadcasts to [2, 3, 4, 5], [B, H, Tq, Tk], got shape [2, 5]",
    );
    for (const shape of [[3], [2, 4, 5], [1, 2, 3, 4, 5], [0, 5]]) {
      expect(refused(zeros(...shape))).toMatchObject({ code: "shape-mismatch", argument: "mask" });
    }
    expect(refused(tensor([[1, 0, 1, 1, 1]], undefined, "int32"))).toMatchObject({
      code: "not-a-number",
      argument: "mask",
    });
    expect(refused(Uint8Array.of(1, 0, 255, 1, 1))).toMatchObject({ code: "out-of-range", argument: "mask" });
    expect(refused([0, NaN, 0, 0, 0])).toMatchObject({ code: "not-finite", argument: "mask", given: "NaN" });
    expect(refused([0, Infinity, 0, 0, 0])).toMatchObject({ code: "not-finite", argument: "mask" });
    expect(refused([0, -1e300, 0, 0, 0])).toMatchObject({ code: "out-of-range", argument: "mask" });
    expect(refused("causal")).toMatchObject({ code: "not-a-number", argument: "mask" });
  });
});

describe("softcap and sinks", () => {
  it("the cap bounds content and relation; the bias comes after it", () => {
    const [q, k, v] = [1, 2, 3].map((seed) => randomNormal([2, 30, 8], { seed, std: 6 })) as [Tensor, Tensor, Tensor];
    const options = { bias: alibi({ heads: 2 }), relate: shaw({ dim: 8, clip: 3, seed: 4 }), trace: true } as const;
    const free = attention(q, k, v, options).trace!;
    const { content, relate, bias, capped, scores } = attention(q, k, v, { ...options, softcap: 2 }).trace!;
    expect([content, relate, bias]).toEqual([free.content, free.relate, free.bias]);
    expect(free.capped).toBeUndefined();
    capped!.data.forEach((value, n) => {
      const met = Math.fround(content.data[n]! + relate.data[n]!);
      expect(Math.abs(value)).toBeLessThanOrEqual(2);
      expect(value).toBeCloseTo(2 * Math.tanh(met / 2), 6);
      expect(scores.data[n]).toBe(Math.fround(value + bias.data[n]!));
    });
  });

  it("a sink takes its share and gives nothing", () => {
    const { out, weights, lse } = attention([[0, 0]], [[1, 2], [3, 4], [5, 6]], [[6], [12], [18]], {
      sinks: [Math.log(3)],
      scale: 0.01,
      softcap: 0.5,
      weights: true,
    });
    for (const weight of weights!.data) expect(weight).toBeCloseTo(1 / 6, 6);
    expect(out.at(0, 0)).toBeCloseTo(6, 5);
    expect(lse.at(0)).toBeCloseTo(Math.log(6), 6);
  });

  it("are refused where they are no numbers of their kind", () => {
    const { q, k, v } = makeCase(1, 2, 3, 3, 1);
    const wrong: [AttentionOptions, object][] = [
      [{ softcap: 0 }, { code: "out-of-range", argument: "softcap" }],
      [{ softcap: -1 }, { code: "out-of-range", argument: "softcap" }],
      [{ softcap: NaN }, { code: "not-a-number", argument: "softcap" }],
      [{ softcap: 1e-60 }, { code: "out-of-range", argument: "softcap" }],
      [{ sinks: [1, 2, 3] }, { code: "shape-mismatch", argument: "sinks" }],
      [{ sinks: [[1, 2]] }, { code: "shape-mismatch", argument: "sinks" }],
      [{ sinks: [1, Infinity] }, { code: "not-finite", argument: "sinks" }],
    ];
    for (const [options, error] of wrong) {
      let thrown: unknown;
      try {
        attention(q, k, v, options);
      } catch (caught) {
        thrown = caught;
      }
      expect(thrown).toMatchObject(error);
    }
  });
});

describe("options read from a config", () => {
  const config = (name: string): object => {
    const path = join(import.meta.dirname, "../../golden/configs", `${name}.json`);
    return (JSON.parse(readFileSync(path, "utf8")) as { config: object }).config;
  };
  const narrow = (heads: number, kvHeads: number, width: number): [Tensor, Tensor, Tensor] => [
    randomNormal([heads, 9, width], { seed: 1, std: 8 }),
    randomNormal([kvHeads, 9, width], { seed: 2 }),
    randomNormal([kvHeads, 9, width], { seed: 3 }),
  ];

  it("Gemma 2 caps its scores", () => {
    const gemma = fromConfig(config("gemma-2-9b"));
    const [q, k, v] = narrow(gemma.heads as number, gemma.kvHeads!, gemma.headDim!);
    const { trace } = attention(q, k, v, { ...gemma.attention, ...gemma.layers![0], trace: true });
    expect(gemma.attention.softcap).toBe(50);
    const { content, capped, scores } = trace!;
    let moved = 0;
    capped!.data.forEach((value, n) => {
      expect(value).toBeCloseTo(50 * Math.tanh(content.data[n]! / 50), 4);
      if (scores.data[n] !== -Infinity) expect(scores.data[n]).toBe(value);
      moved = Math.max(moved, Math.abs(value - content.data[n]!));
    });
    expect(moved).toBeGreaterThan(0.01);
  });

  it("gpt-oss brings its sinks from the weights, as its note says", () => {
    const oss = fromConfig(config("gpt-oss-20b"));
    expect(oss.notes.join("\n")).toContain("self_attn.sinks of the weights, as `sinks`");
    const heads = oss.heads as number;
    const [q, k, v] = narrow(heads, oss.kvHeads!, oss.headDim!);
    const sinks = Array.from({ length: heads }, (_, h) => h / 8 - 2);
    const options = { ...oss.attention, ...oss.layers![0] };
    const [without, within] = [attention(q, k, v, options), attention(q, k, v, { ...options, sinks })];
    within.lse.data.forEach((lse, row) => {
      const before = without.lse.data[row]!;
      const sink = sinks[Math.floor(row / 9)]!;
      const top = Math.max(before, sink);
      expect(lse).toBeCloseTo(top + Math.log(Math.exp(before - top) + Math.exp(sink - top)), 4);
    });
  });
});
