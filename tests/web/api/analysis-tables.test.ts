// Analyses of tables, of schemes as clocks and shifts, and of matrices of pairs, through the public API: numbers worked
// by hand and in the notes, formulas in double written another way, and the same bits from both builds.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as posenc from "../../../web/src/index.js";
import { Fnv1a } from "./bits.js";
import { build } from "./builds.js";

const { alibi, arange, bias, encode, frequencies, learned, randomNormal, rope, sinusoidal, tensor } = posenc;
const { closestPair, collisions, extendTable, fitTable, kernel, locality, monotonicity, offsetProfile } = posenc;
const { pca, permutationGap, radix, resampleTable, shiftError, shiftMatrix, similarity, spectrum } = posenc;
const { symmetry, toeplitzGap, translationGap, tsne } = posenc;

const runs = { numRuns: 200, seed: 20170612 };
const number = fc.double({ min: -4, max: 4, noNaN: true });

function table(rows: number, columns: number, values: readonly number[]): posenc.Tensor<"float64"> {
  const data = Float64Array.from({ length: rows * columns }, (_, n) => values[n % values.length]! * (1 + (n % 7)));
  return tensor(data, [rows, columns], "float64");
}

function code(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
  return "nothing refused";
}

const sized = fc.tuple(
  fc.integer({ min: 2, max: 12 }),
  fc.integer({ min: 1, max: 9 }),
  fc.array(number, { minLength: 5 }),
);

describe("similarity", () => {
  it("compares rows as the formulas do", () => {
    fc.assert(
      fc.property(sized, ([rows, columns, values]) => {
        const given = table(rows, columns, values);
        const x = given.tolist() as number[][];
        const dot = (a: number[], b: number[]): number => a.reduce((sum, value, c) => sum + value * b[c]!, 0);
        const [products, cosines, distances] = (["dot", "cosine", "euclidean"] as const).map((metric) =>
          similarity(given, { metric }),
        ) as [posenc.Tensor, posenc.Tensor, posenc.Tensor];
        for (let i = 0; i < rows; i++) {
          for (let j = 0; j < rows; j++) {
            const [a, b] = [x[i]!, x[j]!];
            const lengths = Math.sqrt(dot(a, a)) * Math.sqrt(dot(b, b));
            expect(Math.abs((products.at(i, j) as number) - dot(a, b))).toBeLessThanOrEqual(1e-13 * (1 + lengths));
            if (lengths > 1e-100) expect(cosines.at(i, j)).toBeCloseTo(dot(a, b) / lengths, 12);
            expect(distances.at(i, j)).toBeCloseTo(Math.hypot(...a.map((value, c) => value - b[c]!)), 11);
          }
        }
      }),
      runs,
    );
  });

  it("holds where squares leave float64", () => {
    const half = Math.SQRT1_2;
    for (const unit of [2 ** -1060, 2 ** -700, 2 ** -500, 1, 2 ** 500, 2 ** 1000]) {
      const rows = tensor(Float64Array.of(unit, 2 * unit, 3 * unit, unit), [2, 2], "float64");
      expect(similarity(rows, { metric: "cosine" }).at(0, 1)).toBeCloseTo(half, 14);
      expect((similarity(rows, { metric: "euclidean" }).at(0, 1) as number) / unit).toBeCloseTo(Math.sqrt(5), 0);
      const line = tensor(Float64Array.of(0, unit, 3 * unit), [3, 1], "float64");
      expect(closestPair(line)).toEqual({ i: 0, j: 1, distance: unit });
      expect(collisions(line).total).toBe(0);
      expect(collisions(line, { tolerance: Math.min(unit, 2 ** 53) }).total).toBe(unit > 2 ** 53 ? 0 : 1);
    }
    const alike = tensor(Float64Array.of(1e-200, 1e-200), [2, 1], "float64");
    expect(similarity(alike, { metric: "cosine" }).at(0, 1)).toBe(1);
  });

  it("gives float32 where asked, into `out`, and refuses what is no table", () => {
    const x = randomNormal([40, 30]);
    const out = new Float32Array(1600);
    const narrow = similarity(x, { metric: "cosine", dtype: "float32", out });
    expect(narrow.dtype).toBe("float32");
    expect(narrow.data).toBe(out);
    const wide = similarity(x, { metric: "cosine" });
    expect(Math.max(...wide.data.map((value, n) => Math.abs(value - out[n]!)))).toBeLessThan(1e-6);
    expect(code(() => similarity([1, 2, 3]))).toBe("shape-mismatch");
    expect(code(() => similarity(new Float32Array(4)))).toBe("shape-mismatch");
    expect(code(() => similarity([[NaN]]))).toBe("not-finite");
    expect(code(() => similarity([[1]], { metric: "l1" as "dot" }))).toBe("unknown-choice");
  });

  it("of a sinusoidal table is the kernel of the offset (001, 002)", () => {
    const scheme = sinusoidal({ dim: 64 });
    const profile = offsetProfile(similarity(encode(scheme, 60, { dtype: "float64" })));
    const g = kernel(scheme, profile.offsets).data;
    expect(Math.max(...profile.mean.data.map((value, n) => Math.abs(value - g[n]!)))).toBeLessThan(1e-13);
    expect(Math.max(...profile.deviation.data)).toBeLessThan(1e-13);
  });
});

describe("spectrum and radix", () => {
  it("know the notes' wavelengths, and not the wrong ones (errata 1, 7)", () => {
    const wide = spectrum(sinusoidal({ dim: 512 }), { context: 10000 });
    expect(wide.wavelength[255]).toBeCloseTo(60611.4, 0);
    expect(Math.abs(wide.wavelength[255]! - 62393)).toBeGreaterThan(1000);
    expect(spectrum(sinusoidal({ dim: 16 }), { context: 1 }).wavelength[7]).toBeCloseTo(19869, 0);
    const timing = spectrum(sinusoidal({ dim: 512, spacing: "timing" }), { context: 1 });
    expect(timing.wavelength[255]).toBeCloseTo(62831.85, 1); // 2 pi 10000 holds for this spacing only
    const fifty = spectrum(rope({ dim: 100 }), { context: 1 }).wavelength;
    expect([fifty[0], fifty[1], fifty[49]].map((length) => length!.toFixed(1))).toEqual(["6.3", "7.6", "52261.3"]);
    expect(wide.frequency).toEqual(frequencies(sinusoidal({ dim: 512 })).inverse);
  });

  it("count turns, and pairs that never make one", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 64 }),
        fc.double({ min: 2, max: 1e6, noNaN: true }),
        fc.integer({ min: 1, max: 100000 }),
        (pairs, base, context) => {
          const { wavelength, turns, neverTurn } = spectrum(rope({ dim: 2 * pairs, base }), { context });
          turns.forEach((turned, i) => expect(turned).toBeCloseTo(context / wavelength[i]!, 8));
          expect(neverTurn).toEqual([...wavelength.keys()].filter((i) => turns[i]! < 1));
        },
      ),
      runs,
    );
    expect(code(() => spectrum(alibi({ heads: 2 }) as never, { context: 1 }))).toBe("wrong-slot");
    expect(code(() => spectrum(learned({ length: 4, dim: 2 }), { context: 1 }))).toBe("unsupported");
    expect(code(() => spectrum(rope({ dim: 4 }), {} as never))).toBe("missing-option");
    expect(code(() => spectrum(rope({ dim: 4 }), { context: 0 }))).toBe("out-of-range");
  });

  it("write positions in base ten where four pairs share base 10000", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99999 }), (position) => {
        const { digits, phase, rest } = radix(sinusoidal({ dim: 8 }), position);
        const text = String(position).padStart(4, "0");
        expect([...digits]).toEqual([text.at(-1), text.at(-2), text.at(-3), text.slice(0, -3)].map(Number));
        expect(rest).toBeLessThan(1e-9);
        phase.forEach((share, i) => {
          const turn = (position * 10 ** -i) / (2 * Math.PI);
          const off = Math.abs(share - (turn - Math.floor(turn)));
          expect(Math.min(off, 1 - off)).toBeLessThan(1e-10);
        });
      }),
      runs,
    );
    expect(code(() => radix(rope({ dim: 4 }), -1))).toBe("out-of-range");
  });

  it("write whole positions in base ten and a hundred up to 2^53, by BigInt", () => {
    const whole = fc.oneof(fc.integer({ min: 0, max: 400 }).map((n) => 2 ** 53 - n), fc.maxSafeNat());
    fc.assert(
      fc.property(whole, fc.constantFrom(4, 8), (position, dim) => {
        const { digits, rest } = radix(sinusoidal({ dim }), position);
        const base = dim === 4 ? 100n : 10n;
        let left = BigInt(position);
        for (let i = 0; i < dim / 2 - 1; i++) {
          expect(digits[i]).toBe(Number(left % base));
          left /= base;
        }
        expect(digits[dim / 2 - 1]).toBe(Number(left));
        expect(rest).toBe(0);
      }),
      runs,
    );
    expect([...radix(sinusoidal({ dim: 4 }), 2 ** 53).digits]).toEqual([92, 90071992547409]);
  });
});

describe("shifts", () => {
  const scheme = fc.oneof(
    fc
      .record({
        dim: fc.integer({ min: 1, max: 20 }).map((pairs) => 2 * pairs),
        base: fc.double({ min: 2, max: 1e6, noNaN: true }),
        layout: fc.constantFrom("interleaved" as const, "half" as const),
        order: fc.constantFrom("sin-cos" as const, "cos-sin" as const),
        scale: fc.constantFrom(1, 0.25, 3),
      })
      .map((options) => sinusoidal(options)),
    fc
      .record({
        dim: fc.integer({ min: 2, max: 10 }).map((pairs) => 2 * pairs),
        layout: fc.constantFrom("interleaved" as const, "half" as const),
        partial: fc.boolean(),
      })
      .map(({ dim, layout, partial }) => rope({ dim, layout, ...(partial ? { rotaryDim: dim - 2 } : {}) })),
  );
  const whole = fc.integer({ min: -(2 ** 40), max: 2 ** 40 });

  it("are one rotation of the encoding wherever it starts, at any position", () => {
    fc.assert(
      fc.property(scheme, whole, fc.array(whole, { minLength: 1, maxLength: 5 }), (made, k, positions) => {
        const size = (made as { scale?: number }).scale ?? 2;
        expect(Math.max(...shiftError(made, k, positions).data)).toBeLessThan(4 * size * 2 ** -50);
        const matrix = shiftMatrix(made, k).tolist() as number[][];
        matrix.forEach((row, i) =>
          row.forEach((_, j) => {
            const product = matrix[i]!.reduce((sum, value, c) => sum + value * matrix[j]![c]!, 0);
            expect(Math.abs(product - (i === j ? 1 : 0))).toBeLessThan(1e-15 * 4);
          }),
        );
      }),
      runs,
    );
  });

  it("are measured at t + k itself, also where no double is", () => {
    const place = fc.oneof(
      fc.double({ min: -(2 ** 52), max: 2 ** 52, noNaN: true }),
      fc.double({ min: -10, max: 10, noNaN: true }),
      fc.integer({ min: 2 ** 52 - 100, max: 2 ** 52 }),
    );
    fc.assert(
      fc.property(scheme, place, fc.array(place, { minLength: 1, maxLength: 5 }), (made, k, positions) => {
        const size = (made as { scale?: number }).scale ?? 2;
        const bound = 4 * size * 2 ** -50;
        expect(Math.max(...shiftError(made, k, positions).data)).toBeLessThan(bound);
      }),
      runs,
    );
    const four = sinusoidal({ dim: 4 });
    const errors = shiftError(four, 0.1, [12345, 1e9, 1e15]).data;
    errors.forEach((error) => expect(error).toBeLessThanOrEqual(4 * 2 ** -52));
    // A sum that rounds to the padded position is not padded, and one that is exact there is.
    const padded = sinusoidal({ dim: 4, padIndex: 2 ** 30 });
    expect(shiftError(padded, 2 ** -30, [2 ** 30 - 1]).data[0]).toBeLessThan(2 ** -50);
    expect(shiftError(padded, 2 ** -60, [2 ** 30 + 0.5]).data[0]).toBeLessThan(2 ** -50);
    expect(shiftError(padded, 1, [2 ** 30 - 1]).data[0]).toBeGreaterThan(0.5);
    for (const [k, t] of [
      [1, 2 ** 53],
      [-1, -(2 ** 53)],
      [2 ** 53, 2 ** 53],
    ] as const) {
      expect(code(() => shiftError(four, k, [0, t]))).toBe("out-of-range");
      expect(code(() => shiftError(four, -k, [0, t]))).toBe("nothing refused");
    }
    // Rules that depend on the length see one length in all of it.
    const dynamic = rope({ dim: 8, scaling: { type: "dynamic", factor: 4, maxPositionEmbeddings: 32 } });
    expect(Math.max(...shiftError(dynamic, 50, [0, 20, 100]).data)).toBeLessThan(1e-14);
  });

  it("hold 004's worked example, transposed against 001 (erratum 3)", () => {
    const m = shiftMatrix(sinusoidal({ dim: 4 }), 1).tolist() as number[][];
    const p2 = [0.9093, -0.4161, 0.02, 0.9998];
    const p3 = m.map((row) => row.reduce((sum, value, c) => sum + value * p2[c]!, 0));
    [0.1411, -0.99, 0.03, 0.9996].forEach((value, c) => expect(p3[c]).toBeCloseTo(value, 3));
    expect(m[0]![1]).toBeCloseTo(Math.sin(1), 12);
    expect(m[1]![0]).toBeCloseTo(-Math.sin(1), 12);
    // RoPE turns the other way round: (cos, -sin; sin, cos).
    expect(shiftMatrix(rope({ dim: 2 }), 1).at(0, 1)).toBeCloseTo(-Math.sin(1), 12);
  });

  it("leave the length of scaled ropes out, and refuse tables without the identity", () => {
    const yarn = rope({
      dim: 8,
      scaling: { type: "yarn", factor: 4, originalMaxPositionEmbeddings: 32 },
    });
    expect(frequencies(yarn).attentionFactor).toBeGreaterThan(1.1);
    expect(shiftMatrix(yarn, 0).data).toEqual(shiftMatrix(rope({ dim: 8 }), 0).data);
    expect(Math.max(...shiftError(yarn, 5, [0, 3, 100]).data)).toBeLessThan(1e-14);
    expect(code(() => shiftMatrix(sinusoidal({ dim: 5 }), 1))).toBe("unsupported");
    expect(shiftMatrix(sinusoidal({ dim: 5, oddDim: "pad" }), 1).at(4, 4)).toBe(1);
    expect(code(() => shiftMatrix(learned({ length: 4, dim: 2 }), 1))).toBe("unsupported");
    expect(code(() => shiftMatrix(rope({ dim: 4 }), NaN))).toBe("not-a-number");
    // padIndex: its row is zero, so the one map misses there, and only there.
    const padded = shiftError(sinusoidal({ dim: 8, padIndex: 3 }), 1, [0, 1, 2, 3]).data;
    expect([...padded].map((miss) => miss > 0.5)).toEqual([false, false, true, true]);
  });
});

describe("translationGap measures what laws claim", () => {
  const gapOf = (scheme: posenc.AnyScheme, shift = 1): number => {
    const { gap, size } = translationGap(scheme, { shift });
    return size > 0 ? gap / size : gap;
  };
  it.each([
    ["sinusoidal", sinusoidal({ dim: 32 })],
    ["rope", rope({ dim: 16 })],
    ["alibi", alibi({ heads: 4 })],
    ["t5", posenc.t5({ heads: 2 })],
    ["shaw", posenc.shaw({ dim: 8, clip: 4 })],
    ["transformerXL", posenc.transformerXL({ heads: 2, dim: 8 })],
    ["cope", posenc.cope({ dim: 8, maxPosition: 8 })],
  ] as [string, posenc.AnyScheme][])("%s: nothing changes", (_, scheme) => {
    for (const shift of [1, 100, -7, 2 ** 30]) expect(gapOf(scheme, shift)).toBeLessThan(2 ** -19);
  });
  it.each([
    ["learned", learned({ length: 64, dim: 16 })],
    ["sinusoidal of odd width", sinusoidal({ dim: 3, base: 4 })],
    ["queryScale", posenc.queryScale({ law: "logn", trainLength: 8 })],
  ] as [string, posenc.AnyScheme][])("%s: scores change", (_, scheme) => {
    expect(gapOf(scheme, 13)).toBeGreaterThan(0.01);
  });
  it("refuses shifts that are no whole numbers, and positions that the scheme refuses", () => {
    expect(code(() => translationGap(rope({ dim: 4 }), { shift: 0.5 }))).toBe("not-integer");
    expect(code(() => translationGap(learned({ length: 32, dim: 4 })))).toBe("out-of-range");
  });
});

describe("closestPair and collisions", () => {
  it("know the closest of the first 100,000 positions (erratum 9)", () => {
    for (const [dim, offset] of [
      [2, 710],
      [4, 84823],
      [8, 69115],
      [16, 1],
      [32, 1],
      [64, 1],
    ] as const) {
      const found = closestPair(sinusoidal({ dim }), { length: 100000 });
      expect([found.i, found.j]).toEqual([0, offset]);
    }
    expect(closestPair(sinusoidal({ dim: 2 }), { length: 1000 }).distance).toBeCloseTo(6.0289e-5, 8);
    expect(closestPair(rope({ dim: 4 }), { length: 100000 }).j).toBe(84823);
  });

  it("are what looking at every pair gives", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 60 }),
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 240, maxLength: 240 }),
        (rows, columns, values) => {
          const given = tensor(Float64Array.from(values.slice(0, rows * columns)), [rows, columns], "float64");
          const x = given.tolist() as number[][];
          const all = x.flatMap((a, i) =>
            x.slice(i + 1).map((b, n) => ({
              i,
              j: i + 1 + n,
              distance: Math.sqrt(a.reduce((sum, value, c) => sum + (value - b[c]!) ** 2, 0)),
            })),
          );
          const best = all.reduce((least, pair) => (pair.distance < least.distance ? pair : least));
          expect(closestPair(given)).toEqual(best);
          const near = all.filter(({ distance }) => distance <= 1);
          expect(collisions(given, { tolerance: 1, limit: 20 })).toEqual({
            total: near.length,
            pairs: near.slice(0, 20),
          });
        },
      ),
      runs,
    );
  });

  it("agree, for a scheme by its offsets and for its table by the search", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 10, max: 300 }),
        fc.double({ min: 0.01, max: 0.7, noNaN: true }),
        (pairs, length, tolerance) => {
          const scheme = sinusoidal({ dim: 2 * pairs, base: 50 });
          const rows = encode(scheme, length, { dtype: "float64" });
          const [byOffset, bySearch] = [closestPair(scheme, { length }), closestPair(rows)];
          expect(bySearch.distance).toBeCloseTo(byOffset.distance, 13);
          const [some, others] = [scheme, rows].map((given) => collisions(given, { length, tolerance, limit: 9 })) as [
            posenc.Collisions,
            posenc.Collisions,
          ];
          expect(others.total).toBe(some.total);
          expect(others.pairs.map(({ i, j }) => [i, j])).toEqual(some.pairs.map(({ i, j }) => [i, j]));
        },
      ),
      runs,
    );
  });

  it("tell offsets apart that float32 does not", () => {
    // Next to whole turns: of 3,000 offsets all are within 2^-23 of one another, and the last lies closest.
    const turn = 2 * Math.PI;
    const near = Array.from({ length: 3 }, (_, n) => turn * (1 + 2 ** -44 * (n + 1)));
    for (const frequencies of [near, [turn], [...near, 1e-9]]) {
      const scheme = sinusoidal({ dim: 2 * frequencies.length, frequencies, scale: 3 });
      for (const length of [3000, 70_000]) {
        const rows = encode(scheme, length, { dtype: "float64" });
        const origin = rows.row(0);
        let best = { j: 0, distance: Infinity };
        for (let j = 1; j < length; j++) {
          const distance = rows.row(j).reduce((sum, x, c) => sum + (x - origin[c]!) ** 2, 0);
          if (distance < best.distance) best = { j, distance };
        }
        const found = closestPair(scheme, { length });
        expect([found.i, found.j]).toEqual([0, best.j]);
        expect(found.distance).toBeCloseTo(Math.sqrt(best.distance), 12);
      }
    }
  });

  it("read tables that wrap as colliding, and refuse what has no pairs", () => {
    const wrapped = learned({ length: 10, dim: 4, outOfRange: "wrap" });
    expect(collisions(wrapped, { length: 25 })).toMatchObject({ total: 10 + 5 + 5 });
    expect(collisions(wrapped, { length: 25, limit: 1 }).pairs).toEqual([{ i: 0, j: 10, distance: 0 }]);
    expect(closestPair(sinusoidal({ dim: 4, padIndex: 2 }), { length: 9 }).j).toBeGreaterThan(0);
    expect(code(() => closestPair(sinusoidal({ dim: 4 })))).toBe("missing-option");
    expect(code(() => closestPair(sinusoidal({ dim: 4 }), { length: 1 }))).toBe("out-of-range");
    expect(code(() => closestPair([[1]]))).toBe("shape-mismatch");
    expect(code(() => collisions([[1], [2]], { tolerance: -1 }))).toBe("out-of-range");
    expect(code(() => collisions(alibi({ heads: 1 }) as never, { length: 5 }))).toBe("wrong-slot");
  });
});

describe("pca and tsne", () => {
  it("rebuild a table from all of its components", () => {
    fc.assert(
      fc.property(sized, ([rows, columns, values]) => {
        const given = table(rows, columns, values);
        const { scores, components, explained, mean, total } = pca(given, { components: columns });
        const x = given.tolist() as number[][];
        const size = 1 + Math.max(...given.data.map(Math.abs));
        x.forEach((row, t) =>
          row.forEach((value, c) => {
            let sum = mean.data[c]!;
            for (let k = 0; k < columns; k++) sum += (scores.at(t, k) as number) * (components.at(k, c) as number);
            expect(Math.abs(sum - value)).toBeLessThan(1e-12 * size);
          }),
        );
        const variances = explained.data.reduce((sum, value) => sum + value, 0);
        expect(Math.abs(variances - total)).toBeLessThan(1e-12 * size * size);
      }),
      runs,
    );
  });

  it("take defaults, and refuse what they cannot project", () => {
    expect(pca(randomNormal([9, 5])).components.shape).toEqual([2, 5]);
    expect(pca([[1], [2]]).components.shape).toEqual([1, 1]);
    expect(code(() => pca([[1, 2]]))).toBe("shape-mismatch");
    expect(code(() => pca(randomNormal([9, 5]), { components: 6 }))).toBe("out-of-range");
    const map = tsne(randomNormal([20, 5]), { iterations: 50, seed: 3 });
    expect(map.points.shape).toEqual([20, 2]);
    expect(map.divergence).toBeGreaterThan(0);
    expect(tsne(randomNormal([20, 5]), { iterations: 50, seed: 3 }).points.data).toEqual(map.points.data);
    expect(code(() => tsne(randomNormal([3, 5])))).toBe("shape-mismatch");
    expect(code(() => tsne(randomNormal([20, 5]), { perplexity: 10 }))).toBe("out-of-range");
  });
});

describe("permutationGap (001's invariance is equivariance: erratum 2)", () => {
  const case_ = fc.tuple(fc.integer({ min: 2, max: 40 }), fc.nat(1000)).chain(([tokens, seed]) =>
    fc.tuple(
      fc.constant(randomNormal([tokens, 8], { seed })),
      fc.shuffledSubarray(
        Array.from({ length: tokens }, (_, t) => t),
        { minLength: tokens },
      ),
    ),
  );

  it("is exactly zero with sorted sums, a few roundings without", () => {
    fc.assert(
      fc.property(case_, ([x, order]) => {
        expect(permutationGap(x, order, { sum: "sorted" })).toBe(0);
        const size = Math.max(...x.data.map(Math.abs));
        expect(permutationGap(x, order)).toBeLessThan(16 * size * 2 ** -24);
      }),
      runs,
    );
  });

  it("is broken by positions in every slot, and by a causal mask", () => {
    const x = randomNormal([12, 8]);
    const order = [3, 1, 2, 0, 11, 10, 4, 6, 5, 8, 7, 9];
    for (const sum of ["index", "sorted"] as const) {
      expect(permutationGap(x, order, { sum, embed: sinusoidal({ dim: 8 }) })).toBeGreaterThan(0.05);
      expect(permutationGap(x, order, { sum, rotate: rope({ dim: 8 }) })).toBeGreaterThan(0.05);
      expect(permutationGap(x, order, { sum, bias: alibi({ heads: 1, slopes: [0.5] }) })).toBeGreaterThan(0.05);
      expect(permutationGap(x, order, { sum, causal: true })).toBeGreaterThan(0.05);
      expect(permutationGap(x, [...order.keys()], { sum, causal: true })).toBe(0);
    }
    expect(permutationGap(x, order, { relate: posenc.shaw({ dim: 8, clip: 3 }) })).toBeGreaterThan(0.01);
    // 002: "dog bites man" and "man bites dog" are the same three vectors in another order.
    const words = randomNormal([3, 16], { seed: 9 });
    expect(permutationGap(words, [2, 1, 0], { sum: "sorted" })).toBe(0);
    expect(permutationGap(randomNormal([2, 3, 5, 4]), [4, 3, 2, 1, 0], { sum: "sorted" })).toBe(0);
  });

  it("refuses what is no permutation", () => {
    const x = randomNormal([3, 4]);
    expect(code(() => permutationGap(x, [0, 0, 1]))).toBe("out-of-range");
    expect(code(() => permutationGap(x, [0, 1, 3]))).toBe("out-of-range");
    expect(code(() => permutationGap(x, [0, 1]))).toBe("shape-mismatch");
    expect(code(() => permutationGap(x, [0, 1, 1.5]))).toBe("not-integer");
    expect(code(() => permutationGap(x, [2, 1, 0], { weights: true } as never))).toBe("unknown-option");
    const relate = posenc.shaw({ dim: 4, clip: 1 });
    expect(code(() => permutationGap(x, [2, 1, 0], { sum: "sorted", relate }))).toBe("unsupported");
  });
});

describe("sortedAttention", () => {
  // Two batches of four heads over two of keys, with slopes, a soft-cap, causal by position and a masked key.
  const [q, k, v] = [[2, 4, 5, 6], [2, 2, 7, 6], [2, 2, 7, 3]].map((shape, seed) => randomNormal(shape, { seed }));
  const slopes = [0.5, 0.25, 0.1, 0];
  const places = [0, 1, 2, 3, 4, 5, 6];
  const keyMask = [true, true, false, true, true, true, true];
  const seen = { causal: true, keyMask, queryPositions: [2, 3, 4, 5, 6] };
  const options = { bias: alibi({ heads: 4, slopes }), softcap: 3, ...seen };

  it("is softmax attention, head by head", () => {
    const { data, shape, dtype } = posenc.sortedAttention(q!, k!, v!, { ...options, keyPositions: places });
    expect([dtype, shape]).toEqual(["float64", [2, 4, 5, 3]]);
    let at = 0;
    for (let b = 0; b < 2; b++) {
      for (let h = 0; h < 4; h++) {
        for (let i = 0; i < 5; i++) {
          const shares = places.map((j) => {
            if (j > i + 2 || !keyMask[j]) return 0;
            let product = 0;
            for (let c = 0; c < 6; c++) product += q!.at(b, h, i, c) * k!.at(b, h >> 1, j, c);
            return Math.exp(3 * Math.tanh(product / Math.sqrt(6) / 3) - slopes[h]! * (i + 2 - j));
          });
          const total = shares.reduce((sum, share) => sum + share);
          for (let c = 0; c < 3; c++) {
            const wanted = places.reduce((sum, j) => sum + (shares[j]! / total) * v!.at(b, h >> 1, j, c), 0);
            expect(Math.abs(data[at++]! - wanted)).toBeLessThan(1e-6);
          }
        }
      }
    }
  });

  it("does not change a bit where keys stand in another order", () => {
    const straight = posenc.sortedAttention(q!, k!, v!, { ...options, keyPositions: places });
    fc.assert(
      fc.property(fc.shuffledSubarray(places, { minLength: 7 }), (order) => {
        const taken = (x: posenc.Tensor): posenc.Tensor =>
          tensor((x.tolist() as number[][][][]).map((b) => b.map((h) => order.map((t) => h[t]!))));
        const moved = { ...options, keyPositions: order, keyMask: order.map((t) => keyMask[t]!) };
        expect(posenc.sortedAttention(q!, taken(k!), taken(v!), moved).data).toEqual(straight.data);
      }),
      runs,
    );
  });

  it("gives zeros to a query that sees nothing", () => {
    const blind = { mask: [[false, false], [true, false]] };
    expect(posenc.sortedAttention([[1], [1]], [[1], [2]], [[3], [4]], blind).tolist()).toEqual([[0], [3]]);
  });
});

describe("matrices of pairs", () => {
  it("find a linear bias Toeplitz, symmetric, monotone, and local by its slope", () => {
    const b = bias(alibi({ heads: 4 }), { queries: 20, keys: 20 });
    expect([...toeplitzGap(b).data]).toEqual([0, 0, 0, 0]);
    expect([...symmetry(b).share.data]).toEqual([1, 1, 1, 1]);
    expect([...monotonicity(b).share.data]).toEqual([1, 1, 1, 1]);
    expect([...monotonicity(b).rise.data]).toEqual([0, 0, 0, 0]);
    const near = locality(b, { radius: 2, kind: "scores" }).data;
    for (let h = 1; h < 4; h++) expect(near[h]).toBeLessThan(near[h - 1]!); // later heads look farther
    const { offsets, mean } = offsetProfile(b);
    offsets.forEach((k, n) => expect(mean.at(0, n)).toBe(0 - 0.25 * Math.abs(k)));
  });

  it("measure a cache's queries from where they stand", () => {
    const b = bias(alibi({ heads: 1 }), { queries: [5, 6], keys: 7 });
    const { offsets, mean } = offsetProfile(b, { start: 5 });
    offsets.forEach((k, n) => expect(mean.at(0, n)).toBeCloseTo(-(2 ** -8) * Math.abs(k), 12));
    expect(monotonicity(b, { start: 5 }).share.data[0]).toBe(1);
    expect(monotonicity(b).share.data[0]).toBeLessThan(1);
  });

  it("agree with sums over pairs", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 8 }),
        fc.array(number, { minLength: 64, maxLength: 64 }),
        (queries, keys, values) => {
          const m = tensor(Float64Array.from(values.slice(0, queries * keys)), [queries, keys], "float64");
          const { offsets, mean, lowest, highest } = offsetProfile(m);
          offsets.forEach((k, n) => {
            const found: number[] = [];
            for (let i = 0; i < queries; i++) if (i + k >= 0 && i + k < keys) found.push(m.at(i, i + k));
            expect(mean.at(n)).toBeCloseTo(found.reduce((sum, x) => sum + x, 0) / found.length, 12);
            expect([lowest.at(n), highest.at(n)]).toEqual([Math.min(...found), Math.max(...found)]);
          });
          const gaps = offsets.map((_, n) => (highest.at(n) as number) - (lowest.at(n) as number));
          expect(toeplitzGap(m).data[0]).toBe(Math.max(...gaps));
        },
      ),
      runs,
    );
    expect(code(() => toeplitzGap([1, 2]))).toBe("shape-mismatch");
    expect(code(() => symmetry([[1, 2]]))).toBe("shape-mismatch");
    expect(code(() => locality([[-1]]))).toBe("out-of-range");
    expect(code(() => locality([[1]], { radius: -1 }))).toBe("out-of-range");
    expect(code(() => offsetProfile([[Infinity]]))).toBe("not-finite");
  });
});

describe("learned tables", () => {
  it("meet the sinusoids' kernel from their width on", () => {
    const scheme = sinusoidal({ dim: 8 });
    const g = kernel(scheme, 40);
    const { table: fitted, residual } = fitTable(g, { dim: 8 });
    expect(residual).toBeLessThan(1e-13);
    const again = offsetProfile(similarity(fitted)).mean.data.slice(39);
    again.forEach((value, k) => expect(value).toBeCloseTo(g.data[k]!, 12));
    expect(fitTable(g, { dim: 4 }).residual).toBeGreaterThan(0.01);
    expect(fitTable(similarity(encode(scheme, 40)), { dim: 8 }).residual).toBeLessThan(1e-6);
    expect(code(() => fitTable([[1, 2]], { dim: 1 }))).toBe("shape-mismatch");
    expect(code(() => fitTable([1], {} as never))).toBe("missing-option");
  });

  it("are spread as the learned scheme spreads them, in both conventions", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 20 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 0, max: 40 }),
        fc.constantFrom("align" as const, "half-pixel" as const),
        fc.nat(1000),
        (rows, columns, more, corners, seed) => {
          const given = randomNormal([rows, columns], { seed });
          const length = rows + more;
          const scheme = learned({ table: given, outOfRange: "interpolate", corners });
          const expected = encode(scheme, length, { length, dtype: "float64" }).data;
          resampleTable(given, length, { corners }).data.forEach((value, n) =>
            expect(Math.abs(value - expected[n]!)).toBeLessThan(1e-14 * 8),
          );
        },
      ),
      runs,
    );
  });

  it("go on where they have a law, and say when they have none", () => {
    const scheme = sinusoidal({ dim: 6, base: 20 });
    const { table: longer, misfit } = extendTable(encode(scheme, 80, { dtype: "float64" }), 100);
    const truth = encode(scheme, 100, { dtype: "float64" }).data;
    expect(misfit).toBeLessThan(1e-12);
    longer.data.forEach((value, n) => expect(value).toBeCloseTo(truth[n]!, 9));
    expect(extendTable(randomNormal([80, 6]), 90).misfit).toBeGreaterThan(1);
    expect(code(() => extendTable([[1], [2]], 1))).toBe("out-of-range");
    expect(code(() => resampleTable(arange(3), 2))).toBe("shape-mismatch");
  });
});

describe("both builds", () => {
  it("give the same bits", async () => {
    const hash = async (backend: "simd" | "js"): Promise<string> => {
      const other = await build(backend);
      const bytes = new Fnv1a();
      const x = other.randomNormal([60, 12]);
      const wide = other.tensor(Float64Array.from(x.data), [60, 12], "float64");
      for (const metric of ["dot", "cosine", "euclidean"] as const) {
        bytes.add(other.similarity(wide, { metric }).data);
        bytes.add(other.similarity(x, { metric, dtype: "float32" }).data);
      }
      const { scores, components, explained } = other.pca(wide, { components: 4 });
      for (const part of [scores, components, explained]) bytes.add(part.data);
      bytes.add(other.tsne(wide, { iterations: 100 }).points.data);
      const scheme = other.sinusoidal({ dim: 12 });
      bytes.add(other.shiftMatrix(scheme, 12345).data);
      bytes.add(other.spectrum(scheme, { context: 512 }).turns);
      bytes.add(other.radix(scheme, 98765).phase);
      const square = other.similarity(wide);
      const profile = other.offsetProfile(square);
      for (const part of [profile.mean, profile.deviation]) bytes.add(part.data);
      bytes.add(other.locality(square, { kind: "scores", radius: 3 }).data);
      const fitted = other.fitTable(square, { dim: 9 }).table;
      bytes.add(fitted.data);
      bytes.add(other.resampleTable(fitted, 77, { corners: "half-pixel" }).data);
      bytes.add(other.extendTable(fitted, 70).table.data);
      const pair = other.closestPair(wide);
      const gap = other.permutationGap(x, [...x.row(0).keys(), ...Array.from({ length: 48 }, (_, t) => 59 - t)]);
      bytes.add(Float64Array.of(pair.i, pair.j, pair.distance, gap));
      return bytes.hex();
    };
    expect(await hash("js")).toBe(await hash("simd"));
  });
});
