// The NumPy programs beside figures make the figures' numbers, away from the settings they come with; and which views
// have none.
import { beforeAll, describe, expect, it } from "vitest";
import { ready } from "../../../web/src/index.js";
import { figures } from "../../../web/figures/index.js";
import { figureNamed, figureState } from "../../../web/figures/render.js";
import { runInNumpy } from "../../numpy.mjs";

// Laws and lengths that the core finds out by asking schemes; a map by t-SNE, which is no matter of a few lines.
const kWithout: readonly string[] = [
  "projection tsne",
  ...["all", "embed", "rotate", "bias", "relate"].map((view) => `compare ${view}`),
];

// Whose numbers are sums that the core takes in float32.
const summed: readonly string[] = ["rotate", "relate", "permutation", "attention"];

const settings: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  addition: [
    { scale: "sqrt", alpha: 0.3, seed: 5, deviation: 0.02, layout: "half" },
    { sentence: "a b c d e f g h i j k l", dim: 10, base: 100 },
  ],
  rotate: [
    { view: "layouts", mix: "sides", positions: 9 },
    { view: "layouts", mix: "table", layout: "half", "rotary-dim": 6, "scaling-type": "ntk", "scaling-factor": 3 },
    { view: "scores", "scaling-type": "proportional", "scaling-factor": 2, "scaling-partial-rotary-factor": 0.5 },
  ],
  relate: [{ clip: 2, tokens: 7 }, { view: "terms", clip: 4, dim: 6, causal: true, "token-seed": 3, seed: 8 }],
  permutation: [
    { scheme: "alibi", causal: true, heads: 6, head: 5 },
    { scheme: "rope", order: "bites dog man", head: 2 },
    { scheme: "sinusoidal", seed: 3 },
  ],
  attention: [
    { scheme: "none", compare: "rope", causal: false, window: 2 },
    { scheme: "sinusoidal", context: "a mat on which it sat", heads: 2 },
    { scheme: "alibi", heads: 6, padding: 2, window: 2, symmetric: false },
  ],
  grid: [
    ...["sinusoidal2d", "sinusoidal", "rope", "axialRope", "mrope", "fourier"].map((scheme) => {
      return { view: "dimensions", scheme, rows: 3, columns: 5 };
    }),
    ...["detr", "multidim"].map((style) => ({ style, rows: 4, columns: 3, dim: 8, metric: "euclidean" })),
    { rows: 3, columns: 4, metric: "dot", row: 2, column: 1 },
  ],
  expansion: [{ view: "terms", positions: 6, dim: 4, base: 20, m: 1, n: 4 }],
  spectrum: [
    { "scaling-type": "dynamic", "scaling-factor": 4, "scaling-max-position-embeddings": 2048, context: 9000 },
    { "scaling-type": "dynamic-static", "scaling-factor": 4, dim: 12 },
    { "scaling-type": "qwen", "scaling-train-length": 2048, context: 9000 },
    { "scaling-type": "yarn", "scaling-factor": 4, "scaling-original-max-position-embeddings": 2048 },
    { "scaling-type": "yarn", "scaling-factor": 4, "scaling-original-max-position-embeddings": 4, base: 90 },
    { "scaling-type": "proportional", "scaling-partial-rotary-factor": 0.3, dim: 32, view: "number" },
  ],
  projection: [{ positions: 20, dim: 8, base: 50, horizontal: 2, vertical: 3 }],
  extrapolation: [
    ...["none", "dynamic", "yarn"].map((scaling) => ({ scaling, trained: 100, factor: 3, head: 2 })),
    { view: "rules", trained: 100, factor: 3, dim: 12, base: 500 },
    { view: "phases", scaling: "linear", trained: 64, factor: 3, dim: 8, base: 70 },
  ],
  precision: [
    { decades: 3, dim: 8, base: 100 },
    { view: "waves", start: 12345, pair: 2, dim: 16, scheme: "sinusoidal" },
  ],
  config: [
    { config: '{"rope_scaling": {"type": "linear", "factor": 4.0}, "head_dim": 16}' },
    { config: '{"rope_scaling": {"type": "ntk", "factor": 4.0}, "head_dim": 16, "rope_theta": 500.0}' },
  ],
};

describe("programs in NumPy", () => {
  beforeAll(() => ready());

  it("stand beside every view that a short one makes the numbers of", async () => {
    const without: string[] = [];
    for (const figure of figures) {
      const { values, model } = figureState(figure.name);
      const tabs = figure.tabs?.(values, model);
      for (const view of tabs?.choices.map(({ value }) => ({ [tabs.name]: value })) ?? [{}]) {
        const numpy = await figure.code!(figureState(figure.name, view)).numpy?.();
        if (numpy === undefined) without.push([figure.name, ...Object.values(view)].join(" "));
      }
    }
    // What they are is said in docs/figures.md.
    expect(without).toEqual(kWithout);
  });

  it("make the numbers of the figures' files", async () => {
    const asked = Object.entries(settings).flatMap(([figure, several]) =>
      several.map(async (values) => {
        const state = figureState(figure, values);
        const { code, array } = figureNamed(figure);
        return {
          figure,
          name: `${figure} ${JSON.stringify(values)}`,
          numpy: (await code!(state).numpy?.()) as string,
          array: array!(state),
        };
      }),
    );
    const jobs = await Promise.all(asked);
    expect(jobs.filter(({ numpy }) => numpy === undefined)).toEqual([]);
    const results = runInNumpy(jobs.map(({ numpy }) => numpy));
    const failed = results.flatMap((made, k) => (typeof made === "string" ? [`${jobs[k]!.name}: ${made}`] : []));
    expect(failed).toEqual([]);
    const far = jobs.flatMap(({ name, figure, array: { data, shape } }, k) => {
      // An entry is off by the rounding of the table's format, a file's largest entry taken as its unit.
      let largest = 1;
      for (const value of data) if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value));
      const float32 = summed.includes(figure) ? 2e-6 : 2e-7;
      const bound = (data instanceof Float32Array ? float32 : 1e-12) * largest;
      const rows = shape[0] as number;
      const wide = data.length / rows;
      // Whole, or row by row.
      const pieces = (results[k] as number[][]).flatMap((made) =>
        made.length % wide > 0
          ? []
          : Array.from({ length: made.length / wide }, (_, r) => made.slice(r * wide, (r + 1) * wide)),
      );
      const apart = (row: number, made: readonly number[]): number =>
        made.reduce<number>((most, value, c) => {
          const own = data[row * wide + c] as number;
          if (Number.isFinite(value) && Number.isFinite(own)) return Math.max(most, Math.abs(value - own));
          return Number.isFinite(value) || Number.isFinite(own) ? Infinity : most;
        }, 0);
      const worst = Math.max(
        ...Array.from({ length: rows }, (_, row) => Math.min(Infinity, ...pieces.map((made) => apart(row, made)))),
      );
      return worst <= bound ? [] : [`${name}: off by ${worst}`];
    });
    expect(far).toEqual([]);
  });
});
