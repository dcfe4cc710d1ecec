// Every case of tests/golden/cases.json, through the public API. Expected values come from elsewhere (papers' code,
// fifty digits); a case without a test here must name what it waits for, and that must truly not be there yet.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as posenc from "../../../web/src/index.js";
import { gap } from "./oracle.js";

const {
  alibi,
  attention,
  attentionDistance,
  bias,
  cope,
  deberta,
  embed,
  encode,
  entropy,
  fairseqPositions,
  frequencies,
  layoutCheck,
  multimodalPositions,
  oscillatoryIntegral,
  paddedPositions,
  relativeIndex,
  riemannSum,
  rope,
  rotate,
  shaw,
  sinusoidal,
  t5,
  transformerXL,
} = posenc;

interface Case {
  readonly id: string;
  // The papers' and frameworks' own names, a different shape in every case.
  readonly params: Record<string, never>;
  readonly input: Record<string, never>;
  readonly expected: never;
  readonly tol: number;
}

const cases = readFileSync(join(import.meta.dirname, "../../golden/cases.json"), "utf8");
const list = JSON.parse(cases) as Case[];

// float32 results against numbers printed to ten digits: 2e-7 times the magnitudes of their terms.
const kFloat32 = 2e-7;

function near(actual: unknown, expected: unknown, tolerance: number): void {
  expect(gap(actual, expected), `${JSON.stringify(actual)} against ${JSON.stringify(expected)}`).toBeLessThanOrEqual(
    tolerance,
  );
}

// Ten printed digits carry an error of half a unit in the tenth, whatever a case's own tolerance says.
const kPrinted = 6e-10;

const table = (dim: number, positions: readonly number[], more: object = {}): number[][] =>
  encode(sinusoidal({ dim, ...more }), positions, { dtype: "float64" }).tolist() as number[][];
const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, x, c) => sum + x * b[c]!, 0);
const distance = (a: readonly number[], b: readonly number[]): number =>
  Math.sqrt(a.reduce((sum, x, c) => sum + (x - b[c]!) ** 2, 0));
const turn = (x: readonly number[][], options: posenc.RopeOptions, positions: readonly number[]): number[][] =>
  rotate(posenc.tensor(x, undefined, "float64"), rope(options), { positions }).tolist() as number[][];
const slopes = (options: posenc.AlibiOptions): number[] =>
  Array.from(bias(alibi(options), { queries: [1], keys: [0] }).data, (b) => -b);

type Run = (given: {
  params: Record<string, never>;
  input: Record<string, never>;
  expected: never;
  tol: number;
}) => void;

const paperRows: Run = ({ params, input, expected, tol }) => near(table(params.d, input.pos), expected, tol);

const exactAtLargePositions: Run = ({ params, input, expected }) => {
  const pairs = Object.entries(
    expected as Record<string, Record<"sin" | "cos" | "naive_f32_sin" | "naive_f32_abs_err", number>>,
  );
  const [double] = table(params.d, [input.pos]);
  const [single] = encode(sinusoidal({ dim: params.d }), [input.pos]).tolist() as number[][];
  for (const [name, { sin, cos, naive_f32_sin: naive, naive_f32_abs_err: error }] of pairs) {
    const i = Number(name.slice(2));
    near(double!.slice(2 * i, 2 * i + 2), [sin, cos], kPrinted);
    near(single!.slice(2 * i, 2 * i + 2), [sin, cos], 6e-8 + kPrinted);
    if (error > 1e-5) expect(Math.abs(single![2 * i]! - naive)).toBeGreaterThan(error / 2);
  }
};

const turnedRow: (options: (params: Record<string, never>) => posenc.RopeOptions) => Run =
  (options) =>
  ({ params, input, expected, tol }) =>
    near(turn([input.x], options(params), [input.pos])[0], expected, tol);

const slopeCase: Run = ({ params, expected }) =>
  near(slopes({ heads: params.n_heads, rule: (params.mode ?? "press") as "press" | "geometric" }), expected, 5e-8);

type Yarn = Extract<NonNullable<posenc.RopeOptions["scaling"]>, { type: "yarn" }>;

const yarnFactor = (options: Omit<Yarn, "type" | "originalMaxPositionEmbeddings">): number =>
  frequencies(rope({ dim: 64, scaling: { type: "yarn", originalMaxPositionEmbeddings: 4096, ...options } }))
    .attentionFactor;

const yarnCase = ({ params, input, expected, tol }: Omit<Case, "id">): void => {
  const scaling = {
    type: "yarn",
    factor: params.factor,
    originalMaxPositionEmbeddings: params.original_max_position_embeddings,
    betaFast: params.beta_fast,
    betaSlow: params.beta_slow,
  } as const;
  const of = (more: object): posenc.Frequencies =>
    frequencies(rope({ dim: params.d, base: params.base, scaling: { ...scaling, ...more } }));
  const { inverse, low, high, attentionFactor } = of({});
  const wanted = expected as { low: number; high: number; raw: number[]; inv: number[]; attention_factor: number };
  expect([low, high]).toEqual([wanted.low, wanted.high]);
  (input.i as number[]).forEach((i, n) => near(inverse[i]! / wanted.inv[n]!, 1, tol));
  near(attentionFactor, wanted.attention_factor, tol);
  const unrounded = of({ truncate: false });
  near([unrounded.low, unrounded.high], wanted.raw, tol);
};

const longrope = (originalMaxPositionEmbeddings: number, more: { factor?: number } = {}): posenc.Rope =>
  rope({
    dim: 4,
    scaling: { type: "longrope", shortFactor: [2, 2], longFactor: [8, 8], originalMaxPositionEmbeddings, ...more },
  });

const detrCase = ({ params, input, expected, tol }: Omit<Case, "id">): void => {
  const rows = encode(
    posenc.sinusoidal2d({ dim: 2 * params.num_pos_feats, style: "detr", normalize: params.normalize }),
    posenc.grid(input.H, input.W),
    { dtype: "float64" },
  ).tolist() as number[][];
  near(
    (input.cells as [number, number][]).map(([y, x]) => rows[y * (input.W as number) + x]),
    expected,
    Math.max(tol, kPrinted),
  );
};

const runs: Record<string, Run> = {
  "sin-001": paperRows,
  "sin-003": ({ input, expected }) =>
    near(embed(input.embeddings, sinusoidal({ dim: 4 }), { positions: input.pos }).tolist(), expected, kFloat32 * 2),
  "sin-004": ({ input, expected }) =>
    near(
      embed(input.embeddings, sinusoidal({ dim: 4 }), { positions: input.pos, scale: "sqrt" }).tolist(),
      expected,
      kFloat32 * 3,
    ),
  "sin-005": ({ params, input, expected, tol }) => {
    const { wavelength } = frequencies(sinusoidal({ dim: params.d, base: params.base }));
    (input.i as number[]).forEach((i, n) => near(wavelength[i]! / expected[n]!, 1, tol));
  },
  "sin-007": ({ params, input, expected, tol }) => {
    const { wavelength } = frequencies(sinusoidal({ dim: 2 * params.d_half, base: params.base }));
    (input.k as number[]).forEach((k, n) => near(wavelength[k - 1]! / expected[n]!, 1, tol));
  },
  "sin-008": ({ params, input, expected }) => {
    const blocks = expected as number[][][];
    const rows = table(params.d, [7, 7 + (input.k as number)]);
    blocks.forEach((m, i) => {
      const [sin, cos] = rows[0]!.slice(2 * i, 2 * i + 2) as [number, number];
      near(
        [m[0]![0]! * sin + m[0]![1]! * cos, m[1]![0]! * sin + m[1]![1]! * cos],
        rows[1]!.slice(2 * i, 2 * i + 2),
        2 * kPrinted,
      );
    });
  },
  "sin-010": ({ params, input, expected, tol }) =>
    near(
      table(params.d, input.pos, {
        layout: "half",
        spacing: "timing",
        minTimescale: params.min_timescale,
        maxTimescale: params.max_timescale,
      }),
      expected,
      tol,
    ),
  "sin-011": ({ params, input, expected, tol }) =>
    near(table(params.d, input.pos, { layout: "half", spacing: "timing", oddDim: "pad" }), expected, tol),
  "sin-012": ({ params, input, expected }) =>
    expect(fairseqPositions(input.tokens, params.padding_idx).tolist()).toEqual(expected),
  "sin-014": ({ params, input, expected, tol }) =>
    near(
      table(params.d, input.position_index, { layout: "half", spacing: "timing", padIndex: params.padding_idx }),
      expected,
      tol,
    ),
  "sin-015": paperRows,
  "sin-018": ({ params, input, expected, tol }) => {
    const { correct, wrong } = expected as { correct: number[]; wrong: number[] };
    const row = table(params.d, [input.pos])[0]!;
    const columns = (input.col as number[]).map((c) => row[c]!);
    near(columns, correct, tol);
    expect(gap(columns, wrong)).toBeGreaterThan(1e-5);
  },
  "sin-019": paperRows,
  "big-001": exactAtLargePositions,
  "big-003": exactAtLargePositions,
  "big-006": ({ params, input, expected, tol }) => {
    const { angle, cos, cos_if_angle_is_fp16_1045: wrong } = expected as Record<string, number>;
    near((input.pos as number) * frequencies(sinusoidal({ dim: params.d })).inverse[input.i]!, angle, 1e-6);
    const value = encode(sinusoidal({ dim: params.d }), [input.pos]).at(0, 2 * (input.i as number) + 1);
    near(value, cos, tol);
    expect(Math.abs(value - wrong!)).toBeGreaterThan(0.5);
  },
  "big-007": ({ input, expected, tol }) => {
    const { cos_true_15962: own, cos_15936: below, cos_15968: above } = expected as Record<string, number>;
    const [first] = input.pos as number[];
    near(
      encode(sinusoidal({ dim: 2 }), [first!, 15936, 15968]).tolist(),
      [first!, 15936, 15968].map((t, n) => [Math.fround(Math.sin(t)), [own, below, above][n]]),
      tol,
    );
  },
  "uniq-001": ({ params, input, expected }) => {
    const { dist_0_44: near44, dist_0_710: near710 } = expected as Record<string, number>;
    const [zero, a, b] = table(params.d, input.pos) as [number[], number[], number[]];
    near([distance(zero, a), distance(zero, b)], [near44, near710], kPrinted);
  },
  "sim-001": ({ params, input, expected, tol }) => {
    const rows = table(params.d, [1000, ...(input.delta as number[]).map((delta) => 1000 + delta)]);
    near(
      rows.slice(1).map((row) => dot(rows[0]!, row)),
      expected,
      tol * 10,
    );
  },
  "sim-003": ({ params, input, expected }) => {
    const rows = table(params.d, input.pos);
    near(
      rows.map((a) => rows.map((b) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)))),
      expected,
      kPrinted,
    );
  },
  "sim-004": ({ params, input, expected, tol }) =>
    near(
      table(params.d, input.pos).map((row) => Math.sqrt(dot(row, row))),
      expected,
      tol,
    ),
  "lrn-004": ({ input, expected }) => {
    const { hf_cumsum_minus_1_pad_fill_1: one, pad_fill_0: zero } = expected as Record<string, number[]>;
    expect(paddedPositions(input.mask).tolist()).toEqual(one);
    expect(paddedPositions(input.mask, { padding: "left", fill: 0 }).tolist()).toEqual(zero);
  },
  "rope-001": ({ params, input, expected, tol }) => {
    const { inverse } = frequencies(rope({ dim: params.d, base: params.base }));
    near(
      (input.i as number[]).map((i) => inverse[i]),
      expected,
      tol,
    );
  },
  "rope-002": turnedRow((params) => ({ dim: params.d, layout: "interleaved" })),
  "rope-003": turnedRow((params) => ({ dim: params.d, layout: "half" })),
  "rope-005": ({ params, input, expected }) => {
    const scores = (layout: "interleaved" | "half", pairs: readonly (readonly [number, number])[]): number[] =>
      pairs.map(([i, j]) =>
        dot(turn([input.q], { dim: params.d, layout }, [i])[0]!, turn([input.k], { dim: params.d, layout }, [j])[0]!),
      );
    const {
      interleaved,
      half,
      delta_minus3: back,
    } = expected as { interleaved: number[]; half: number[]; delta_minus3: number };
    near(scores("interleaved", input.pairs), interleaved, 2 * kPrinted);
    near(scores("half", input.pairs), half, 2 * kPrinted);
    near(scores("interleaved", [[2, 5]]), [back], 2 * kPrinted);
  },
  "rope-006": ({ params, input, expected }) =>
    near(
      (input.pos as number[]).map((t) => {
        const [row] = turn([input.q], { dim: params.d }, [t]);
        return Math.sqrt(dot(row!, row!));
      }),
      expected,
      2 * kPrinted,
    ),
  "rope-008": turnedRow((params) => ({ dim: params.head_dim, rotaryDim: params.rotary_dim, layout: "half" })),
  "rope-011": ({ params, input, expected, tol }) => {
    const { inverse, band } = frequencies(
      rope({ dim: params.d, base: params.base, scaling: { type: "linear", factor: params.factor } }),
    );
    near(
      (input.i as number[]).map((i) => inverse[i]),
      expected,
      tol,
    );
    expect(new Set(band)).toEqual(new Set(["scaled"]));
  },
  "rope-012": ({ params, input, expected, tol }) => {
    const {
      base_prime: base,
      inv,
      ratio_last: ratio,
    } = expected as { base_prime: number; inv: number[]; ratio_last: number };
    const plain = frequencies(rope({ dim: params.d, base: params.base }));
    const scaled = frequencies(
      rope({ dim: params.d, base: params.base, scaling: { type: "ntk", factor: params.alpha } }),
    );
    near(scaled.base! / base, 1, tol);
    (input.i as number[]).forEach((i, n) => near(scaled.inverse[i]! / inv[n]!, 1, tol));
    near(plain.inverse.at(-1)! / scaled.inverse.at(-1)!, ratio, 1e-12);
  },
  "rope-018": ({ params, input, expected }) => {
    const {
      wrong,
      wrong_norm: wrongNorm,
      right_norm: rightNorm,
    } = expected as { wrong: number[]; wrong_norm: number; right_norm: number };
    for (const layout of ["interleaved", "half"] as const) {
      const [row] = turn([input.x], { dim: params.d, layout }, [input.pos]);
      near(Math.sqrt(dot(row!, row!)), rightNorm, 2 * kPrinted);
      expect(gap(row, wrong)).toBeGreaterThan(0.01);
    }
    const told = layoutCheck([input.x], [wrong], rope({ dim: params.d }), { positions: [input.pos] });
    near([told.norms.found.at(0), told.norms.expected.at(0)], [wrongNorm, rightNorm], 2 * kPrinted);
    expect(told).toMatchObject({ normAlarm: true, finding: "table of the other layout" });
  },
  "mrope-001": ({ input, expected }) => {
    const { t, h, w } = expected as Record<"t" | "h" | "w", number[]>;
    expect(
      multimodalPositions([
        { text: input.text },
        { image: input.image_grid_merged },
        { text: input.text_after },
      ]).tolist(),
    ).toEqual([t, h, w]);
  },
  "lrn-001": ({ input, expected }) =>
    (input.models as [string, number, number][]).forEach(([name, length, dim], n) => {
      const rows = encode(posenc.learned({ length, dim }), length);
      expect(rows.size, name).toBe((expected as number[])[n]);
      expect(rows.shape).toEqual([length, dim]);
    }),
  "lrn-002": ({ params, input, expected }) => {
    const { wrap_mod: wrapped } = expected as { wrap_mod: number[] };
    const length = params.n_max as number;
    const rows = Array.from({ length }, (_, row) => [row]);
    const strict = posenc.learned({ table: rows });
    expect(encode(strict, [31]).tolist()).toEqual([[31]]);
    for (const position of [32, 33]) {
      expect(() => encode(strict, [position])).toThrow(RangeError);
      expect(() => encode(strict, [position])).toThrow("learned: positions must be from 0 to 31");
    }
    const wrap = posenc.learned({ table: rows, outOfRange: "wrap" });
    expect(encode(wrap, input.pos).tolist()).toEqual(wrapped.map((row) => [row]));
  },
  "rope-013": ({ params, input, expected, tol }) => {
    const bases = (expected as { base_prime: number[] }).base_prime;
    const scheme = rope({
      dim: params.d,
      base: params.base,
      scaling: { type: "dynamic", factor: params.factor, maxPositionEmbeddings: params.max_position_embeddings },
    });
    (input.seq_len as number[]).forEach((length, n) => near(frequencies(scheme, { length }).base! / bases[n]!, 1, tol));
    const long = frequencies(scheme, { length: 16384 });
    near(long.inverse[1]! / (expected as { inv_1_at_16384: number }).inv_1_at_16384, 1, tol);
    near(long.inverse[63]! / (expected as { inv_63_at_16384: number }).inv_63_at_16384, 1, tol);
    expect(long.notes.join(" ")).toContain("stale");
  },
  "yarn-001": yarnCase,
  "yarn-002": yarnCase,
  "yarn-006": ({ params, input, expected, tol }) =>
    near(
      (input.attention_factor as (number | null)[]).map((attentionFactor) =>
        yarnFactor({ factor: params.factor, ...(attentionFactor === null ? {} : { attentionFactor }) }),
      ),
      expected,
      tol,
    ),
  "yarn-007": ({ params, expected, tol }) =>
    near(yarnFactor({ factor: params.factor }), (expected as { correct: number }).correct, tol),
  "yarn-008": ({ params, expected, tol }) =>
    near(
      yarnFactor({ factor: params.factor, mscale: 1, mscaleAllDim: 1 }),
      (expected as { hf: number }).hf,
      tol,
    ),
  "llama3-001": ({ params, input, expected, tol }) => {
    const { inverse, band, attentionFactor } = frequencies(
      rope({
        dim: params.d,
        base: params.base,
        scaling: {
          type: "llama3",
          factor: params.factor,
          lowFreqFactor: params.low_freq_factor,
          highFreqFactor: params.high_freq_factor,
          originalMaxPositionEmbeddings: params.original_max_position_embeddings,
        },
      }),
    );
    const { counts_kept_smoothed_scaled: counts, inv } = expected as Record<string, number[]>;
    (input.i as number[]).forEach((i, n) => near(inverse[i]! / inv![n]!, 1, tol));
    expect(["kept", "ramped", "scaled"].map((name) => band.filter((word) => word === name).length)).toEqual(counts);
    expect(attentionFactor).toBe(1);
  },
  "long-001": ({ input, expected, tol }) =>
    near(
      (input.cases as [string, number, number][]).map(([, factor, length]) =>
        frequencies(longrope(length, { factor })).attentionFactor,
      ),
      expected,
      tol,
    ),
  "long-003": ({ params, input, expected }) => {
    const scheme = longrope(params.original_max_position_embeddings);
    (input.seq_len as number[]).forEach((length, n) =>
      expect(frequencies(scheme, { length }).inverse[0]).toBe((expected as string[])[n] === "short" ? 1 / 2 : 1 / 8),
    );
  },
  "xpos-001": ({ params, expected }) => {
    const ones = posenc.tensor([Array.from({ length: params.d as number }, () => 1)], undefined, "float64");
    const scheme = posenc.xpos({ dim: params.d, scaleBase: params.scale_base });
    const row = rotate(ones, scheme, { positions: [params.scale_base] }).row(0);
    (expected as number[]).forEach((zeta, i) =>
      near(Math.hypot(row[2 * i]!, row[2 * i + 1]!) / Math.SQRT2, zeta, kPrinted),
    );
  },
  "xpos-002": ({ params, input, expected }) => {
    const scheme = posenc.xpos({ dim: params.d, scaleBase: params.scale_base });
    const turned = (x: readonly number[], position: number, side: "query" | "key"): readonly number[] =>
      Array.from(rotate(posenc.tensor([x], undefined, "float64"), scheme, { positions: [position], side }).row(0));
    const scores = (input.pairs as [number, number][]).map(([m, n]) =>
      dot(turned(input.q, m, "query"), turned(input.k, n, "key")),
    );
    near(scores, (expected as { center0: number[] }).center0, 2 * kPrinted);
    // In attention, from another origin.
    for (const start of [0, 5000]) {
      const { trace } = attention([input.q], [input.k], [[0]], {
        rotate: scheme,
        scale: 1,
        queryPositions: [300 + start],
        keyPositions: [2 + start],
        trace: true,
      });
      near(trace!.scores.at(0, 0), scores[1]!, 4 * kFloat32);
    }
  },
  "mrope-002": ({ params, expected }) => {
    const { t_pairs: t, h_pairs: h, w_pairs: w } = expected as Record<string, [number, number]>;
    const moved = (scheme: posenc.RotateScheme, axis: number): number[] => {
      const x = [Array.from({ length: params.head_dim as number }, () => 1)];
      const [row] = rotate(x, scheme, { positions: [0, 1, 2].map((a) => [a === axis ? 1 : 0]) }).tolist() as number[][];
      return Array.from({ length: row!.length / 2 }, (_, i) => i).filter((i) => row![i] !== 1);
    };
    const run = ([first, last]: [number, number]): number[] =>
      Array.from({ length: last - first + 1 }, (_, n) => first + n);
    const runs = posenc.mrope({ dim: params.head_dim, sections: params.mrope_section });
    [t, h, w].forEach((pairs, axis) => expect(moved(runs, axis)).toEqual(run(pairs!)));
    const dealt = posenc.mrope({ dim: params.head_dim, sections: [24, 20, 20], interleaved: true });
    expect(moved(dealt, 1)).toEqual(Array.from({ length: 20 }, (_, n) => 1 + 3 * n));
    expect(moved(dealt, 2)).toEqual(Array.from({ length: 20 }, (_, n) => 2 + 3 * n));
    expect(moved(dealt, 0)).toHaveLength(24);
  },
  "axial-001": ({ params, input, expected }) => {
    const { angles, cls } = expected as { angles: number[][]; cls: number[] };
    const grid = params.grid as number;
    const dim = params.head_dim_over_2 as number;
    const scheme = posenc.axialRope({ dim, axisOrder: [1, 0] });
    const at = [...(input.patches as number[]).map((p) => [Math.floor(p / grid) + 1, (p % grid) + 1]), [0, 0]];
    const x = at.map(() => Array.from({ length: dim }, (_, c) => 1 - (c % 2)));
    const rows = rotate(posenc.tensor(x, undefined, "float64"), scheme, {
      positions: [0, 1].map((axis) => at.map((cell) => cell[axis]!)),
    }).tolist() as number[][];
    near(
      rows.map((row) => Array.from({ length: dim / 2 }, (_, i) => Math.atan2(row[2 * i + 1]!, row[2 * i]!))),
      [...angles, cls],
      1e-10,
    );
  },
  "nope-001": ({ params, input, expected, tol }) => {
    const { uses_rope: uses, q_scale: scales } = expected as Record<string, number[]>;
    const scheme = posenc.queryScale({ law: "llama4", floorScale: params.floor_scale, attnScale: params.attn_scale });
    const ones = posenc.tensor(
      (input.pos as number[]).map(() => [1]),
      undefined,
      "float64",
    );
    near(rotate(ones, scheme, { positions: input.pos }).tolist(), scales!.map((scale) => [scale]), tol);
    expect([...rotate(ones, scheme, { positions: input.pos, side: "key" }).data]).toEqual(scales!.map(() => 1));
    // A layer is a call: every fourth has no rotation, and that one the scale.
    const turns = rope({ dim: 2 });
    (input.layers as number[]).forEach((layer, n) => {
      const plain = (layer + 1) % params.no_rope_layer_interval === 0;
      expect(plain ? 0 : 1).toBe(uses![n]);
      const { trace } = attention([[1, 0]], [[1, 0]], [[0]], {
        rotate: plain ? scheme : turns,
        queryPositions: [8191],
        keyPositions: [8190],
        scale: 1,
        trace: true,
      });
      near(trace!.scores.at(0, 0), plain ? scales![2] : Math.cos(1), 4 * kFloat32);
    });
  },
  "ff-001": ({ params, input, expected, tol }) =>
    near(
      encode(posenc.fourier({ levels: params.L }), [input.x], { dtype: "float64" }).tolist(),
      [expected],
      tol,
    ),
  "mae-001": ({ params, expected }) =>
    near(
      encode(posenc.sinusoidal2d({ dim: params.embed_dim }), posenc.grid(params.grid, params.grid), {
        dtype: "float64",
      }).tolist(),
      expected,
      kPrinted,
    ),
  "detr-001": detrCase,
  "detr-002": detrCase,
  "tat-002": ({ params, input, expected }) =>
    near(
      encode(posenc.sinusoidal2d({ dim: params.channels, style: "multidim" }), [[input.x], [input.y]], {
        dtype: "float64",
      }).tolist(),
      [expected],
      kPrinted,
    ),
  "alibi-008": slopeCase,
  "alibi-016": slopeCase,
  "alibi-012": slopeCase,
  "alibi-101": slopeCase,
  "alibi-102": ({ params, expected }) => {
    const x = Array.from({ length: params.n as number }, () => [0]);
    const { trace } = attention(x, x, x, {
      causal: true,
      bias: alibi({ heads: 1, slopes: [params.slope] }),
      trace: true,
    });
    expect((JSON.parse(JSON.stringify(trace!.scores)) as { data: unknown }).data).toEqual(
      (expected as unknown[][]).flat(),
    );
  },
  "alibi-103": ({ params, expected }) => {
    const [matrix] = bias(alibi({ heads: 1, slopes: [params.slope] }), {
      queries: params.n,
      keys: params.n,
    }).tolist() as number[][][];
    expect(gap(matrix, expected)).toBe(0);
    expect(matrix!.flat().some((b) => Object.is(b, -0))).toBe(false);
  },
  "alibi-104": ({ params, input, expected }) => {
    const { minus_m_dist: wanted } = expected as { minus_m_dist: number[] };
    const n = (input.row as number) + 1;
    const x = Array.from({ length: n }, () => [0]);
    const { weights } = attention(x, x, x, {
      causal: true,
      bias: alibi({ heads: 1, slopes: [params.slope] }),
      weights: true,
    });
    near([...weights!.row(input.row)], wanted, kFloat32);
  },
  "shaw-002": ({ params, expected }) => {
    const { k, n, d } = params as Record<"k" | "n" | "d", number>;
    const {
      logits_row0: logits,
      attn_row2: row2,
      z,
    } = expected as { logits_row0: number[]; attn_row2: number[]; z: number[][] };
    const rows = Array.from({ length: 2 * k + 1 }, (_, row) => row - k); // r of the case is the clipped offset itself
    const scheme = shaw({ dim: d, clip: k, keys: rows.map((r) => [r, 1]), values: rows.map((r) => [r, 0]) });
    const of = (value: (j: number) => number[]): number[][] => Array.from({ length: n }, (_, j) => value(j));
    const { out, weights, trace } = attention(
      of(() => [1, 0]),
      of(() => [0, 0]),
      of((j) => [j, 1]),
      { relate: scheme, weights: true, trace: true },
    );
    near([...trace!.relate.row(0)], logits, kFloat32 * 2);
    near([...weights!.row(2)], row2, kFloat32);
    near(out.tolist(), z, 4e-6);
    expect(relativeIndex(scheme, { queries: n, keys: n }).at(0, n - 1)).toBe(2 * k);
  },
  "t5-001": ({ params, input, expected }) => {
    const scheme = t5({ heads: 1, buckets: params.num_buckets, maxDistance: params.max_distance });
    expect([...relativeIndex(scheme, { queries: [0], keys: input.rel_j_minus_i }).data]).toEqual(expected);
  },
  "t5-003": ({ params, input, expected }) => {
    const { num_buckets: buckets, max_distance: maxDistance, bidirectional } = params;
    const scheme = t5({ heads: 1, buckets, maxDistance, bidirectional });
    expect(relativeIndex(scheme, { queries: input.n, keys: input.n }).tolist()).toEqual(expected);
  },
  "txl-001": ({ params, input, expected }) => {
    // Column m of X is distance klen - 1 - m, as their pos_seq runs down. With dModel 4, `wr` is chosen so that the
    // sinusoid of distance t comes out as e_(klen - 1 - t): q_i = X_i then meets column klen - 1 - t.
    const x = input.X as number[][];
    const n = params.qlen as number;
    const wave = (t: number): number[] => [Math.sin(t), Math.sin(t / 100), Math.cos(t), Math.cos(t / 100)];
    const rows = [0, 1, 2].map((t) => [
      ...wave(t).filter((_, m) => m !== 1),
      ...[0, 1, 2].map((c) => Number(c === n - 1 - t)),
    ]);
    const solved = [0, 1, 2].reduce((m, c) => {
      const pivot = m[c]!.map((value) => value / m[c]![c]!);
      return m.map((row, r) => (r === c ? pivot : row.map((value, k) => value - row[c]! * pivot[k]!)));
    }, rows.slice().sort((a, b) => Math.abs(b[0]!) - Math.abs(a[0]!)));
    const [sin, cos, slow] = solved.map((row) => row.slice(3)) as [number[], number[], number[]];
    const none = [[0, 0, 0]];
    const scheme = transformerXL({ heads: 1, dim: 3, u: none, v: none, wr: [sin, none[0]!, cos, slow] });
    const { trace } = attention(x, x, x, { relate: scheme, causal: true, scale: 1, trace: true });
    const wanted = expected as number[][];
    x.forEach((_, i) => near([...trace!.relate.row(i)].slice(0, i + 1), wanted[i]!.slice(0, i + 1), 1e-4));
  },
  "txl-003": ({ params, expected }) => {
    const wr = posenc.tensor([1, 0, 0, 1], [2, 2]);
    const scheme = transformerXL({ heads: 1, dim: params.d, u: [params.u], v: [params.v], wr });
    const q = [0, 1, 2].map((i) => [1, i]);
    const k = [0, 1, 2].map((j) => [j, 1]);
    const { trace } = attention(q, k, k, { relate: scheme, causal: true, trace: true });
    const wanted = expected as (number | null)[][];
    wanted.forEach((row, i) => near([...trace!.scores.row(i)].slice(0, i + 1), row.slice(0, i + 1), 1e-6));
    // With memory: the last query alone, its keys before it.
    const places = { queryPositions: [2], keyPositions: [0, 1, 2] };
    const last = attention([q[2]!], k, k, { relate: scheme, ...places, causal: true, trace: true });
    near([...last.trace!.scores.row(0)], wanted[2], 1e-6);
  },
  "deberta-001": ({ params, input, expected }) => {
    const scheme = deberta({ heads: 1, dim: 1, span: params.max_position, buckets: params.position_buckets });
    const rows = (raw: boolean): number[] =>
      [...relativeIndex(scheme, { queries: input.rel, keys: [0], raw }).data]; // query - key is the paper's sign
    expect(rows(true)).toEqual(expected);
    expect(rows(false)).toEqual((expected as number[]).map((bucket) => Math.min(bucket + 256, 511)));
  },
  "cope-001": ({ params, input, expected }) => {
    const { bias: wanted } = expected as { bias: number[] };
    const scheme = cope({ dim: 1, maxPosition: params.max_pos, table: (input.z_int as number[]).map((z) => [z]) });
    const k = (input.logits_row3 as number[]).map((x) => [x]);
    const { trace } = attention([[1]], k, k, { relate: scheme, causal: "bottom-right", scale: 1, trace: true });
    near([...trace!.relate.row(0)], wanted, 1e-6);
  },
  "att-001": ({ input, expected }) => {
    const logits = input.logits as number[];
    const { weights, lse } = attention(
      [[1]],
      logits.map((x) => [x]),
      logits.map(() => [0]),
      { scale: 1, weights: true },
    );
    near([...weights!.data], expected, kFloat32);
    near(lse.at(0), 1002.40760596, 1e-4);
  },
  "att-002": ({ input, expected }) => {
    const mask = input.mask_row as number[];
    const x = mask.map((_, j) => [j, -j]);
    const { out, weights, lse } = attention([[1, 2]], x, x, { keyMask: mask, weights: true });
    expect([...weights!.data]).toEqual(expected);
    expect([...out.data]).toEqual([0, 0]);
    expect(lse.at(0)).toBe(-Infinity);
    expect(entropy(weights!).tolist()).toEqual([0]);
  },
  "att-004": ({ input, expected }) => {
    const { attn_X: straight, attn_PX: permuted } = expected as { attn_X: number[][]; attn_PX: number[][] };
    const x = input.X as number[][];
    const px = (input.perm as number[]).map((i) => x[i]!);
    near(attention(x, x, x).out.tolist(), straight, 4 * kFloat32);
    near(attention(px, px, px).out.tolist(), permuted, 4 * kFloat32);
  },
  "att-006": ({ expected }) => {
    const { bottom_right: bottomRight, top_left: topLeft } = expected as Record<string, number[][]>;
    const visible = (causal: "top-left" | "bottom-right"): number[][] => {
      const { trace } = attention([[0], [0]], [[0], [0], [0], [0]], [[0], [0], [0], [0]], { causal, trace: true });
      return (trace!.masked.tolist() as boolean[][]).map((row) => row.map((masked) => (masked ? 0 : 1)));
    };
    expect(visible("bottom-right")).toEqual(bottomRight);
    expect(visible("top-left")).toEqual(topLeft);
  },
  "att-008": ({ input, expected }) => {
    const { entropy_nats: nats, entropy_bits: bits, mean_distance: mean } = expected as Record<string, number>;
    const row = [input.attn_row as number[]];
    near(entropy(row).tolist(), [nats], kPrinted);
    near(entropy(row, { base: 2 }).tolist(), [bits], kPrinted);
    near(attentionDistance(row, { queryPositions: [input.i] }).tolist(), [mean], kPrinted);
  },
  "att-009": ({ params, input, expected }) => {
    const scheme = sinusoidal({ dim: params.d });
    const q = embed([input.q], scheme, { positions: [input.i] });
    const k = embed([input.k], scheme, { positions: [input.j] });
    const { trace } = attention(q, k, [[0]], { trace: true });
    near(trace!.scores.at(0, 0), expected, 4e-7);
  },
  "osc-001": ({ params, input, expected }) =>
    near(oscillatoryIntegral({ law: "exponential", base: params.base }, input.x).tolist(), expected, kPrinted),
  "osc-003": ({ input, expected }) =>
    near(oscillatoryIntegral({ law: "power", alpha: 1 }, input.x).tolist(), expected, kPrinted),
  "osc-006": ({ params, input, expected }) => {
    const law = { law: "exponential", base: params.base } as const;
    const { discrete, integral } = expected as { discrete: Record<string, number>; integral: number };
    near(oscillatoryIntegral(law, [input.x]).tolist(), [integral], kPrinted);
    for (const dim of params.d as number[]) {
      near(riemannSum(law, [input.x], { dim }).tolist(), [discrete[dim]], kPrinted);
      near(posenc.kernel(sinusoidal({ dim }), [input.x], { normalize: true }).tolist(), [discrete[dim]], kPrinted);
    }
  },
};

/** What a case waits for: a scheme, a parameter's choice, or a function. */
const waiting: Record<
  string,
  { scheme?: string; choice?: [scheme: string, param: string, value: string]; export?: string }
> = {};

describe("golden cases", () => {
  it("has each case either run or waiting, and none twice", () => {
    expect([...Object.keys(runs), ...Object.keys(waiting)].sort()).toEqual(list.map(({ id }) => id).sort());
  });

  it.each(list.filter(({ id }) => id in runs))("$id comes out", (entry) => runs[entry.id]!(entry));

  it.each(Object.entries(waiting))("%s waits for what is not there yet", (_, { scheme, choice, export: name }) => {
    if (scheme !== undefined) expect(posenc.schemes.map((known) => known.name)).not.toContain(scheme);
    if (choice !== undefined) {
      const param = posenc.schemes
        .find((known) => known.name === choice[0])
        ?.params.find((known) => known.name === choice[1]);
      expect(param?.choices ?? []).not.toContain(choice[2]);
    }
    if (name !== undefined) expect(Object.keys(posenc)).not.toContain(name);
  });
});
