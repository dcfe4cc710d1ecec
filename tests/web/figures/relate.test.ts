// <posenc-relate> against Shaw's equations 3 to 5 and T5's buckets in double.
import { beforeAll, describe, expect, it } from "vitest";
import { alibi, randomNormal, ready, relativeIndex, shaw, sinusoidal, t5 } from "../../../web/src/index.js";
import { relate } from "../../../web/figures/relate.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { overlaps, record, runCode, textsOf } from "./drawn.js";

beforeAll(() => ready());

const clipped = (offset: number, clip: number): number => Math.max(-clip, Math.min(clip, offset)) + clip;
const readings = (attributes: Record<string, unknown>): [string, string][] =>
  relate
    .readout(figureState("relate", attributes))
    .map(({ label, value, unit }) => [label, unit ? `${value} ${unit}` : value]);

describe("rows of the table", () => {
  it.each([0, 1, 3, 20])("are the clipped offsets, clip %d", (clip) => {
    const { data } = relate.array!(figureState("relate", { clip, tokens: 9 }));
    expect([...data]).toEqual(Array.from({ length: 81 }, (_, at) => clipped((at % 9) - Math.floor(at / 9), clip)));
  });

  it("are T5's buckets: near offsets apart, far ones by the logarithm, both sides or the past alone", () => {
    const bucket = (offset: number, buckets: number, most: number, both: boolean): number => {
      const side = both ? buckets / 2 : buckets;
      const first = both && offset > 0 ? side : 0;
      const far = both ? Math.abs(offset) : Math.max(0, -offset);
      const exact = side / 2;
      if (far < exact) return first + far;
      const log = Math.floor((Math.log(far / exact) / Math.log(most / exact)) * (side - exact));
      return first + Math.min(side - 1, exact + log);
    };
    for (const [buckets, most, both] of [[8, 20, true], [12, 17, true], [16, 40, false]] as const) {
      const attributes = { scheme: "t5", tokens: 24, buckets, "max-distance": most, bidirectional: both };
      const { data } = relate.array!(figureState("relate", attributes));
      const wanted = Array.from({ length: 576 }, (_, at) => (at % 24) - Math.floor(at / 24));
      expect([...data]).toEqual(wanted.map((offset) => bucket(offset, buckets, most, both)));
    }
    const state = figureState("relate", { scheme: "t5" });
    expect(relate.caption(state)).toContain("4 of the 7 rows stand for several offsets.");
    const chooser = relate.fields(state.values).find(({ name }) => name === "scheme")!;
    const offered = ["shaw", "transformerXL", "deberta", "cope", "t5"];
    expect(chooser.kind === "choice" && chooser.choices.map(({ value }) => value)).toEqual(offered);
    expect(() => figureState("relate", { scheme: "alibi" })).toThrow("scheme must be one of shaw, transformerXL, deberta, cope, t5");
  });

  it("are those of a scheme that is handed over too, of whichever slot, and of no scheme without rows", () => {
    const scheme = t5({ heads: 2, weights: randomNormal([12, 2]), buckets: 12, maxDistance: 40 });
    const given = figureState("relate", { tokens: 24 }, scheme);
    expect([...relate.array!(given).data]).toEqual([...relativeIndex(scheme, { queries: 24, keys: 24 }).data]);
    const json = figureState("relate", { tokens: 24 }, scheme.toJSON());
    expect([...relate.array!(json).data]).toEqual([...relate.array!(given).data]);
    expect(() => figureState("relate", {}, alibi({ heads: 2 }))).toThrow(
      "data must be a relate scheme, a bias scheme of rows that offsets share, or its JSON, got the bias scheme alibi",
    );
    expect(() => figureState("relate", {}, sinusoidal({ dim: 4 }))).toThrow("got the embed scheme sinusoidal");
  });

  it("keeps every word inside the drawing, at any width", () => {
    for (const scheme of ["shaw", "deberta", "cope", "t5"]) {
      const state = figureState("relate", { scheme });
      for (const width of [300, 499, 560, 640, 700, 764]) {
        const back = record(relate, state, width);
        for (const { x, words, how } of textsOf(back)) {
          if (how.includes("turn") || how.includes("end")) continue;
          const wide = back.textWidth(words, { size: 11 }) * (how.includes("middle") ? 0.5 : 1);
          expect(x + wide, `${scheme} at ${width}: ${words}`).toBeLessThanOrEqual(width + 1);
        }
      }
    }
  });

  it("are written on their cells and named by their offsets", () => {
    const back = record(relate, figureState("relate", { tokens: 6, clip: 2 }));
    const cells = textsOf(back)
      .filter(({ how }) => /^(ink|paper) middle/.test(how))
      .slice(0, 36)
      .map(({ words }) => Number(words));
    expect(cells).toEqual(Array.from({ length: 36 }, (_, at) => clipped((at % 6) - Math.floor(at / 6), 2)));
    const words = textsOf(back).map((text) => text.words);
    for (const label of ["\u2264 \u22122", "\u22121", "0", "+1", "\u2265 +2"]) expect(words).toContain(label);
    expect(relate.caption(figureState("relate", { tokens: 6, clip: 2 }))).toContain(
      "Row 0 stands for offsets \u22125 to \u22122, row 4 stands for offsets +2 to +5.",
    );
    expect(relate.caption(figureState("relate", { tokens: 6, clip: 8 }))).toContain(
      "Every offset here has a row of its own.",
    );
  });

  it("colours keys of one row alike in the bars", () => {
    const back = record(relate, figureState("relate", { tokens: 10, clip: 3, query: 6, key: 1 }));
    const fills = back.operations.flatMap((op) => /^rect .* fill=(#\w+)$/.exec(op)?.[1] ?? []);
    expect(fills).toHaveLength(10);
    expect(fills.slice(0, 4)).toEqual(Array(4).fill(fills[0]));
    expect(new Set(fills).size).toBe(7);
  });

  it("reads out the row, its offsets and the term", () => {
    const read = readings({ tokens: 10, clip: 3, query: 6, key: 1 });
    expect(read.slice(0, 4)).toEqual([
      ["query", "6"],
      ["key", "1"],
      ["key \u2212 query", "\u22125"],
      ["table row", "0 (offsets \u22129 to \u22123)"],
    ]);
    expect(readings({ tokens: 10, clip: 3, query: 6, key: 5 })[3]).toEqual(["table row", "2 (offset \u22121)"]);
    expect(readings({ causal: true, query: 2, key: 5 })).toHaveLength(4);
    expect(readings({ causal: true, query: 2, key: 5 })[3]).toEqual(["adds to the score", "masked"]);
  });
});

describe("what is added", () => {
  const [tokens, dim, clip] = [7, 6, 2];
  const keys = Array.from({ length: 5 }, (_, r) => Array.from({ length: dim }, (_, c) => Math.sin(r * 7 + c)));
  const values = Array.from({ length: 5 }, (_, r) => Array.from({ length: dim }, (_, c) => Math.cos(r * 3 - 2 * c)));
  const [q, k] = [20, 21].map((seed) => () => randomNormal([tokens, dim], { seed }).tolist() as number[][]);
  const dot = (x: readonly number[], y: readonly number[]): number => x.reduce((sum, v, c) => sum + v * y[c]!, 0);

  it.each([false, true])("to the scores and outputs is the equations' (causal: %s)", (causal) => {
    const state = figureState(
      "relate",
      { tokens, causal, view: "terms", "token-seed": 10, query: 4 },
      shaw({ dim, clip, keys, values }),
    );
    const { data } = relate.array!(state);
    const [queries, given] = [q!(), k!()];
    const row = (i: number, j: number): number => clipped(j - i, clip);
    for (let i = 0; i < tokens; i++) {
      for (let j = 0; j < tokens; j++) {
        const term = dot(queries[i]!, keys[row(i, j)]!) / Math.sqrt(dim);
        if (causal && j > i) expect(data[i * tokens + j]).toBe(0);
        else expect(Math.abs(data[i * tokens + j]! - term)).toBeLessThan(1e-6);
      }
    }
    // The bars of query 4: sum over keys of the weight times the row of values.
    const seen = Array.from({ length: causal ? 5 : tokens }, (_, j) => j);
    const scores = seen.map(
      (j) =>
        dot(
          queries[4]!,
          given[j]!.map((v, c) => v + keys[row(4, j)]![c]!),
        ) / Math.sqrt(dim),
    );
    const total = scores.reduce((sum, score) => sum + Math.exp(score), 0);
    const added = Array.from({ length: dim }, (_, c) =>
      seen.reduce((sum, j) => sum + (Math.exp(scores[j]!) / total) * values[row(4, j)]![c]!, 0),
    );
    const drawn = (state.model as { added: Float32Array }).added.subarray(4 * dim, 5 * dim);
    drawn.forEach((value, c) => expect(Math.abs(value - added[c]!)).toBeLessThan(1e-6));
    const rows = relate.readout({ ...state, view: "rows" });
    expect(rows.length).toBeGreaterThan(3);
  });

  it("leaves the outputs alone where the scheme has no values", () => {
    const state = figureState("relate", { tokens: 5 }, shaw({ dim: 4, clip: 1, values: false }));
    expect(textsOf(record(relate, state)).some(({ words }) => words.startsWith("mixed into"))).toBe(false);
    expect(textsOf(record(relate, figureState("relate"))).some(({ words }) => words.startsWith("mixed into"))).toBe(
      true,
    );
  });
});

describe("all views", () => {
  it.each(["rows", "terms"])("keep their words apart: %s", (view) => {
    for (const width of [764, 300]) {
      for (const attributes of [
        {},
        { tokens: 32, clip: 16 },
        { tokens: 24, causal: true, query: 23 },
        { tokens: 2, clip: 0 },
      ]) {
        const state = figureState("relate", { view, ...attributes });
        const back = record(relate, state, width);
        expect(overlaps(back), `${width} ${JSON.stringify(attributes)}`).toEqual([]);
        const height = relate.height(state, width);
        for (const { y, words } of textsOf(back)) expect(y, words).toBeLessThan(height);
      }
    }
  });

  it("deal queries and keys by seeds that both can have", () => {
    expect(() => figureState("relate", { "token-seed": 2 ** 52 - 1, tokens: 2 })).not.toThrow();
    const far = (): unknown => figureState("relate", { "token-seed": 2 ** 52 });
    expect(far).toThrow(/^(token-seed|tokenSeed|seed of the tokens) must be/);
  });

  it("give programs that make the same numbers", () => {
    const rows = figureState("relate", { tokens: 8, clip: 2 });
    expect([...runCode(relate.code!(rows).javascript, "rows").data]).toEqual([...relate.array!(rows).data]);
    const terms = figureState("relate", { view: "terms", tokens: 8, dim: 12, "token-seed": 4 });
    expect([...runCode(relate.code!(terms).javascript, "terms").data]).toEqual([...relate.array!(terms).data]);
    const masked = figureState("relate", { view: "terms", tokens: 5, clip: 1, causal: true, "token-seed": 4 });
    expect([...runCode(relate.code!(masked).javascript, "terms").data]).toEqual([...relate.array!(masked).data]);
    const buckets = figureState("relate", { scheme: "t5", view: "terms", tokens: 9, head: 3 });
    expect([...runCode(relate.code!(buckets).javascript, "terms").data]).toEqual([...relate.array!(buckets).data]);
    const counted = figureState("relate", { scheme: "cope", view: "terms", tokens: 6, "max-position": 3 });
    expect([...runCode(relate.code!(counted).javascript, "terms").data]).toEqual([...relate.array!(counted).data]);
    expect(relate.caption(counted)).toContain("later ones are masked");
    // A box that could change nothing is not shown.
    const causal = relate.fields(counted.values).find(({ name }) => name === "causal");
    expect(causal).toMatchObject({ place: "none" });
  });

  it("render without a document, and say what is wrong", () => {
    expect(renderSVG("relate", {}, { width: 320 })).toContain("added to the scores of");
    expect(() => figureState("relate", { clip: -1 })).toThrow("clip must be");
    expect(() => figureState("relate", { tokens: 0 })).toThrow("tokens must be");
  });
});
