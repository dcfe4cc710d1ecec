// What holds for any arguments, tried on many: formulas in double on one side, the public API on the other.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as posenc from "../../../web/src/index.js";
import { gap, sinusoid, turned } from "./oracle.js";

const {
  PosencError,
  alibi,
  attention,
  attentionDistance,
  bias,
  encode,
  entropy,
  fromJSON,
  frequencies,
  randomNormal,
  rope,
  rotate,
} = posenc;
const { schemes, shaw, relativeIndex, sinusoidal, tensor } = posenc;

const runs = { numRuns: 150, seed: 11 };
// Where sines in double of the engine are good to a few units: angles below 2^20.
const position = fc.oneof(fc.integer({ min: -1000, max: 1000 }), fc.double({ min: -1e5, max: 1e5, noNaN: true }));

describe("tables", () => {
  it("are the formula, rounded once", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.double({ min: 2, max: 1e6, noNaN: true }),
        fc.array(position, { maxLength: 20 }),
        (pairs, base, positions) => {
          const rows = encode(sinusoidal({ dim: 2 * pairs, base }), positions).tolist() as number[][];
          const wanted = positions.map((t) => sinusoid(t, 2 * pairs, base));
          expect(gap(rows, wanted)).toBeLessThan(2 ** -24 + 1e-9);
          const wide = encode(sinusoidal({ dim: 2 * pairs, base }), positions, { dtype: "float64" }).tolist();
          expect(gap(wide, wanted)).toBeLessThan(1e-9);
        },
      ),
      runs,
    );
  });

  it("depend on each position alone, however many there are and in whatever order", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(position, fc.integer({ min: -(2 ** 40), max: 2 ** 40 })), { minLength: 1, maxLength: 40 }),
        fc.nat(),
        (positions, pick) => {
          const scheme = sinusoidal({ dim: 16 });
          const t = pick % positions.length;
          const [together, alone] = [encode(scheme, positions).row(t), encode(scheme, [positions[t]!]).row(0)];
          // Runs go by angle addition: within half an ulp of the true value like all, so at most one apart.
          expect(gap([...together], [...alone])).toBeLessThan(1.2e-7);
          expect(encode(scheme, [...positions].reverse()).row(positions.length - 1 - t)).toEqual(
            expect.any(Float32Array),
          );
        },
      ),
      runs,
    );
  });

  it("have unit pairs and dot products of differences", () => {
    fc.assert(
      fc.property(
        position,
        fc.integer({ min: -500, max: 500 }),
        fc.integer({ min: 1, max: 32 }),
        (first, offset, pairs) => {
          const dim = 2 * pairs;
          const dot = (a: Float64Array, b: Float64Array): number => a.reduce((sum, x, c) => sum + x * b[c]!, 0);
          const table = encode(sinusoidal({ dim }), [first, first + offset, 0, offset], { dtype: "float64" });
          const rows = [0, 1, 2, 3].map((t) => table.row(t)) as [
            Float64Array,
            Float64Array,
            Float64Array,
            Float64Array,
          ];
          expect(dot(rows[0], rows[0])).toBeCloseTo(pairs, 10);
          // first + offset is rounded: the difference is then not quite `offset`.
          expect(Math.abs(dot(rows[0], rows[1]) - dot(rows[2], rows[3]))).toBeLessThan(1e-9);
        },
      ),
      runs,
    );
  });
});

describe("rotations", () => {
  it("are the formula, keep lengths, and see differences only", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 16 }),
        position,
        fc.integer({ min: -1000, max: 1000 }),
        fc.constantFrom("interleaved" as const, "half" as const),
        fc.nat(9999),
        (pairs, i, offset, layout, seed) => {
          const dim = 2 * pairs;
          const scheme = rope({ dim, layout });
          const [q, k] = [
            Float64Array.from(randomNormal(dim, { seed }).data),
            Float64Array.from(randomNormal(dim, { seed: seed + 1 }).data),
          ];
          const turn = (x: Float64Array, t: number): number[] => [...rotate(x, scheme, { positions: [t] }).data];
          const dot = (a: readonly number[], b: readonly number[]): number =>
            a.reduce((sum, x, c) => sum + x * b[c]!, 0);
          expect(gap(turn(q, i), turned([...q], i, layout))).toBeLessThan(1e-9);
          expect(dot(turn(q, i), turn(q, i))).toBeCloseTo(dot([...q], [...q]), 9);
          const score = dot(turn(q, 7), turn(k, 7 + offset));
          expect(Math.abs(dot(turn(q, 1007), turn(k, 1007 + offset)) - score)).toBeLessThan(1e-10);
        },
      ),
      runs,
    );
  });
});

describe("biases and indices", () => {
  it("alibi is -m |i - j| for any heads and positions", () => {
    const slopes = (n: number): number[] => {
      const power = (heads: number): number[] => Array.from({ length: heads }, (_, h) => 2 ** ((-8 * (h + 1)) / heads));
      const lower = 2 ** Math.floor(Math.log2(n));
      return [...power(lower), ...power(2 * lower).filter((_, h) => h % 2 === 0)].slice(0, n);
    };
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.array(position, { maxLength: 12 }),
        fc.array(position, { maxLength: 12 }),
        fc.boolean(),
        (heads, queries, keys, symmetric) => {
          const matrix = bias(alibi({ heads, symmetric }), { queries, keys }).tolist() as number[][][];
          const wanted = slopes(heads).map((m) =>
            queries.map((i) => keys.map((j) => (symmetric || j < i ? -m * Math.abs(i - j) : 0))),
          );
          matrix.forEach((rows, h) =>
            rows.forEach((row, i) =>
              row.forEach((b, j) => {
                const exact = wanted[h]![i]![j]!;
                expect(Math.abs(b - exact)).toBeLessThanOrEqual(Math.abs(exact) * 1.3e-7 + 1e-44);
              }),
            ),
          );
          expect(matrix.map((rows) => rows.length)).toEqual(Array(heads).fill(queries.length));
        },
      ),
      runs,
    );
  });

  it("shaw's rows are clipped offsets", () => {
    const whole = fc.array(fc.integer({ min: -(2 ** 40), max: 2 ** 40 }), { maxLength: 20 });
    fc.assert(
      fc.property(fc.nat(30), whole, whole, (clip, queries, keys) => {
        const rows = relativeIndex(shaw({ dim: 2, clip }), { queries, keys }).tolist();
        expect(rows).toEqual(queries.map((i) => keys.map((j) => Math.min(Math.max(j - i, -clip), clip) + clip)));
      }),
      runs,
    );
  });
});

describe("weights", () => {
  it("sum to one, and their entropy and distance are the formulas", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 140 }),
        fc.nat(9999),
        fc.double({ min: 0, max: 20, noNaN: true }),
        (tq, tk, seed, scale) => {
          const [q, k] = [randomNormal([tq, 3], { seed }), randomNormal([tk, 3], { seed: seed + 1 })];
          const { weights } = attention(q, k, k, { weights: true, scale });
          const rows = weights!.tolist() as number[][];
          for (const row of rows) expect(Math.abs(row.reduce((a, b) => a + b, 0) - 1)).toBeLessThan(2e-6);
          const nats = rows.map((row) => row.reduce((sum, w) => (w > 0 ? sum - w * Math.log(w) : sum), 0));
          expect(gap(entropy(weights!).tolist(), nats)).toBeLessThan(1e-12);
          expect(
            gap(
              entropy(weights!, { base: 2 }).tolist(),
              nats.map((h) => h / Math.LN2),
            ),
          ).toBeLessThan(1e-12);
          const reach = rows.map((row, i) => row.reduce((sum, w, j) => sum + w * Math.abs(i - j), 0));
          expect(gap(attentionDistance(weights!).tolist(), reach)).toBeLessThan(1e-10);
        },
      ),
      runs,
    );
  });
});

describe("tensors", () => {
  it("give back the nested arrays that they were made of", () => {
    const shapes = fc
      .array(fc.nat(4), { minLength: 1, maxLength: 4 })
      .filter((shape) => shape.indexOf(0) < 0 || shape.indexOf(0) === shape.length - 1);
    fc.assert(
      fc.property(shapes, fc.array(fc.float({ noNaN: true }), { minLength: 1, maxLength: 8 }), (shape, values) => {
        let n = 0;
        const build = (axis: number): unknown =>
          axis === shape.length
            ? values[n++ % values.length]!
            : Array.from({ length: shape[axis]! }, () => build(axis + 1));
        const nested = build(0) as number[];
        const t = tensor(nested);
        expect(t.tolist()).toEqual(nested);
        expect(t.shape).toEqual(shape);
        expect(tensor(t).tolist()).toEqual(nested);
        expect(tensor(t.data, t.shape).tolist()).toEqual(nested);
        if (t.size > 0) expect(t.at(...shape.map(() => -1))).toBe(t.data[t.size - 1]);
      }),
      runs,
    );
  });
});

describe("every scheme of the catalogue", () => {
  // Options drawn from the descriptor, each that may be left out in one run of two: what comes out is a scheme or a
  // refusal, and a scheme survives its JSON.
  const value = (param: posenc.Param): fc.Arbitrary<unknown> => {
    const low = Math.max(param.min ?? -1e6, -1e6);
    const high = Math.min(param.max ?? 1e6, param.shown?.max ?? 512);
    switch (param.kind) {
      case "flag":
        return fc.boolean();
      case "choice":
        return fc.constantFrom(...param.choices!);
      case "integer":
        return fc.integer({ min: Math.ceil(low), max: Math.floor(Math.max(high, low)) });
      case "real":
        return fc.double({ min: low, max: Math.max(high, low), noNaN: true });
      case "list":
        return fc.array(fc.double({ min: low, max: Math.max(high, low), noNaN: true }), {
          minLength: 64,
          maxLength: 64,
        });
      case "table": // of a length that only the table tells: [heads, 2 n - 1]
        return fc.constant(param.required ? [[0.5, 0, -1]] : undefined);
    }
  };
  // Lists whose numbers must fit other numbers: no draw hits them. Their own tests have them.
  const fitted = new Set(["learned grid", "mrope sections", "axialRope axisOrder"]);
  // The length that a list's shape asks for, by the options drawn: "[rotaryDim / 2]", "[heads] or [1]", "[2]".
  const lengthOf = (shape: string, flat: Record<string, unknown>, params: readonly posenc.Param[]): number => {
    const known = (name: string): unknown => {
      const param = params.find((p) => p.name === name);
      return flat[name] ?? param?.default ?? (param?.defaultParam ? known(param.defaultParam) : undefined);
    };
    const first = /^\[([^\]]*)\]/.exec(shape)![1]!;
    const [, head, , by] = /^(\w+)( \/ (\d+))?$/.exec(first) ?? [];
    const whole = /^\d+$/.test(head ?? "") ? Number(head) : Number(known(head ?? ""));
    return Math.min(64, Math.max(1, Math.floor(whole / Number(by ?? 1)) || 1));
  };
  it.each(schemes)("$slot $name is made or refused, and survives its JSON", (descriptor) => {
    let made = 0;
    const drawn = new Map(descriptor.params.map(({ name }) => [name, 0]));
    const options = fc.record(
      Object.fromEntries(
        descriptor.params.map((param) => [
          param.name,
          param.required ? value(param) : fc.option(value(param), { nil: undefined, freq: 2 }),
        ]),
      ),
    );
    fc.assert(
      fc.property(options, (flat) => {
        const nested: Record<string, unknown> = {};
        for (const [name, whole] of Object.entries(flat)) {
          const param = descriptor.params.find((p) => p.name === name)!;
          // Mostly what belongs to the choice; what does not is refused at once, and would leave little else.
          const { where, neededBy = [], takenBy = [] } = param;
          if (where) {
            const chosen = flat[where] ?? descriptor.params.find((p) => p.name === where)!.default;
            if (![...neededBy, ...takenBy].includes(String(chosen))) continue;
          }
          const entry =
            param.kind === "list" && Array.isArray(whole)
              ? whole.slice(0, lengthOf(param.shape!, flat, descriptor.params))
              : whole;
          const [outer, inner] = name.split(".") as [string, string?];
          if (inner === undefined) nested[outer] = entry;
          else if (entry !== undefined) ((nested[outer] ??= {}) as Record<string, unknown>)[inner] = entry;
        }
        let scheme: posenc.Scheme;
        try {
          scheme = (posenc as unknown as Record<string, (options: object) => posenc.Scheme>)[descriptor.name]!(nested);
        } catch (error) {
          expect(error).toBeInstanceOf(PosencError);
          expect((error as posenc.PosencError).subject).toBe(descriptor.name);
          return;
        }
        made++;
        for (const [name, entry] of Object.entries(flat)) {
          if (entry !== undefined) drawn.set(name, drawn.get(name)! + 1);
        }
        const text = JSON.stringify(scheme);
        expect(JSON.stringify(fromJSON(JSON.parse(text) as posenc.SchemeJSON))).toBe(text);
        if (scheme.slot === "embed") {
          const rows = Math.min(3, (scheme as { length?: number }).length ?? 3);
          const table = encode(scheme as posenc.EmbedScheme, rows);
          expect(table.data.every(Number.isFinite)).toBe(true);
          expect(encode(fromJSON(JSON.parse(text) as posenc.SchemeJSON) as posenc.EmbedScheme, rows).data).toEqual(
            table.data,
          );
        }
      }),
      { numRuns: 300, seed: 5 },
    );
    expect(made).toBeGreaterThan(20);
    // Every option was there in some scheme that came out, but for tables, whose sizes are not drawn.
    const never = descriptor.params.filter(
      ({ name, kind }) => kind !== "table" && !fitted.has(`${descriptor.name} ${name}`) && drawn.get(name) === 0,
    );
    expect(never.map(({ name }) => name)).toEqual([]);
  });

  it("has wavelengths of 2 pi over frequencies", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), fc.double({ min: 1.5, max: 1e7, noNaN: true }), (pairs, base) => {
        const { inverse, wavelength } = frequencies(rope({ dim: 2 * pairs, base }));
        inverse.forEach((omega, i) => {
          expect(Math.abs(omega / base ** (-i / pairs) - 1)).toBeLessThan(1e-14);
          expect(Math.abs((wavelength[i]! * omega) / (2 * Math.PI) - 1)).toBeLessThan(1e-15);
        });
      }),
      runs,
    );
  });
});
