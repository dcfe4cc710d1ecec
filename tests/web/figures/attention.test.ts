// <posenc-attention>: its weights and terms are the textbook's, computed here in double from the words' vectors; what
// it draws and says is what it computed.
import { beforeAll, describe, expect, it } from "vitest";
import * as posenc from "../../../web/src/index.js";
import { attention } from "../../../web/figures/attention.js";
import { cutWord } from "../../../web/figures/cut-word.js";
import { completeValues, stateOf, type State } from "../../../web/figures/figure.js";
import { book, lowered } from "../../../web/figures/format.js";
import { labelSize } from "../../../web/figures/marks.js";
import { RecordingBackEnd } from "../../../web/figures/recording.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { tokensOf, vectorsOf } from "../../../web/figures/sentence.js";
import { Surface } from "../../../web/figures/surface.js";
import { toCsv } from "../../../web/figures/take-away.js";
import { makeTheme } from "../../../web/figures/theme.js";
import { textsOf } from "./drawn.js";

beforeAll(() => posenc.ready());

const sentence = "The cat sat on the mat";
const [heads, width] = [8, 16];

function record(state: State<unknown>, wide = 764): RecordingBackEnd {
  const back = new RecordingBackEnd();
  attention.draw(new Surface(back, makeTheme(false), wide, attention.height(state, wide)), state);
  return back;
}

const texts = (back: RecordingBackEnd): string[] =>
  back.operations.filter((op) => op.startsWith("text")).map((op) => op.replace(/^text [^ ]+ /, ""));

const named = (state: State<unknown>, label: string): string =>
  attention.readout(state).find((reading) => reading.label === label)!.value;

type Turn = (vector: number[], position: number) => number[];
type Pair = (q: number[], i: number, j: number, head: number) => number;

// softmax over what is visible of <turn(q + p_i), turn(k + p_j)> / sqrt(d) + pair(i, j), in double.
function oracle(
  text: string,
  {
    context = text,
    seed = 91,
    encode = () => 0,
    turn = (x) => x,
    pair = () => 0,
    visible = (i, j) => j <= i,
  }: {
    context?: string;
    seed?: number;
    encode?: (position: number, dimension: number) => number;
    turn?: Turn;
    pair?: Pair;
    visible?: (i: number, j: number) => boolean;
  } = {},
): number[] {
  const [queries, keys] = [tokensOf(text), tokensOf(context)];
  const options = { seed, mean: 0.6, std: 0.8 };
  const q = vectorsOf(queries, heads * width, { ...options, purpose: 1 });
  const k = vectorsOf(keys, heads * width, { ...options, purpose: 2 });
  const slice = (rows: Float32Array, t: number, h: number): number[] =>
    Array.from({ length: width }, (_, c) => rows[t * heads * width + h * width + c]! + encode(t, h * width + c));
  const weights: number[] = [];
  for (let h = 0; h < heads; h++) {
    for (let i = 0; i < queries.length; i++) {
      const query = turn(slice(q, i, h), i);
      const scores = keys.map((_, j) => {
        if (!visible(i, j)) return -Infinity;
        const key = turn(slice(k, j, h), j);
        return query.reduce((sum, x, c) => sum + x * key[c]!, 0) / Math.sqrt(width) + pair(query, i, j, h);
      });
      const total = scores.reduce((sum, s) => sum + Math.exp(s), 0);
      weights.push(...scores.map((s) => (s === -Infinity ? 0 : Math.exp(s) / total)));
    }
  }
  return weights;
}

function expectClose(given: ArrayLike<number>, expected: readonly number[], tolerance = 2e-6): void {
  expect(given.length).toBe(expected.length);
  expected.forEach((weight, n) => {
    // What is masked has a weight of nought, nothing near it.
    if (weight === 0) expect(given[n]).toBe(0);
    else expect(Math.abs(given[n]! - weight)).toBeLessThan(tolerance);
  });
}

const weightsOf = (attributes: Record<string, unknown>): ArrayLike<number> =>
  attention.array!(figureState("attention", { sentence, ...attributes })).data;

const slope = (h: number): number => 2 ** -(h + 1);
const omega = (pair: number, dim: number): number => 10000 ** ((-2 * pair) / dim);

// Fourier features have no width of their own, so they cannot be added to words.
const inAttention = posenc.schemes.map((scheme) => scheme.name).filter((name) => name !== "fourier");

describe("weights", () => {
  it("of the words alone", () => expectClose(weightsOf({ scheme: "none" }), oracle(sentence)));

  it("under ALiBi", () => {
    expectClose(weightsOf({ scheme: "alibi" }), oracle(sentence, { pair: (_, i, j, h) => -slope(h) * (i - j) }));
  });

  it("under the sinusoidal encoding, added to queries and keys", () => {
    const encode = (t: number, c: number): number =>
      (c % 2 === 0 ? Math.sin : Math.cos)(t * omega(Math.floor(c / 2), heads * width));
    expectClose(weightsOf({ scheme: "sinusoidal" }), oracle(sentence, { encode }), 1e-5);
  });

  it("under RoPE", () => {
    const turn: Turn = (x, t) =>
      x.map((_, c) => {
        const [a, b] = [x[c - (c % 2)]!, x[c - (c % 2) + 1]!];
        const angle = t * omega(Math.floor(c / 2), width);
        return c % 2 === 0 ? a * Math.cos(angle) - b * Math.sin(angle) : a * Math.sin(angle) + b * Math.cos(angle);
      });
    expectClose(weightsOf({ scheme: "rope" }), oracle(sentence, { turn }), 1e-5);
  });

  it("across two sentences, without a mask, and with another seed", () => {
    const context = "Le chat dort bien";
    const pair: Pair = (_, i, j, h) => -slope(h) * Math.abs(i - j);
    const expected = oracle(sentence, { context, pair, visible: () => true, seed: 5 });
    expectClose(weightsOf({ scheme: "alibi", context, seed: 5 }), expected);
  });

  it("within a window, before padding, and looking ahead", () => {
    const near = oracle(sentence, { visible: (i, j) => j <= i && i - j < 3 });
    expectClose(weightsOf({ scheme: "none", window: 3 }), near);
    expectClose(weightsOf({ scheme: "none", causal: "false" }), oracle(sentence, { visible: () => true }));
    const state = figureState("attention", { sentence, scheme: "none", padding: 1, causal: false });
    const { data, shape } = attention.array!(state);
    expect(shape).toEqual([8, 7, 7]);
    const plain = oracle(sentence, { visible: () => true });
    for (let i = 0; i < 6; i++) {
      for (let j = 0; j < 6; j++) expect(data[i * 7 + j]).toBeCloseTo(plain[i * 6 + j]!, 5);
      expect(data[i * 7 + 6]).toBe(0);
    }
  });

  it("change visibly under every scheme of the catalogue", () => {
    const plain = weightsOf({ scheme: "none", causal: "true" });
    // Queries grow beyond thousands of positions only; a sentence has six.
    const names = inAttention.filter((name) => name !== "queryScale");
    expect(names.length).toBeGreaterThan(1);
    for (const scheme of names) {
      const moved = weightsOf({ scheme, causal: "true" });
      let most = 0;
      for (let n = 0; n < plain.length; n++)
        most = Math.max(most, Math.abs(moved[n]! - plain[n]!));
      expect(most, scheme).toBeGreaterThan(0.05);
    }
  });
});

describe("a cell taken apart", () => {
  it("names the terms, whose sum is the score, and the weight without the bias", () => {
    const state = figureState("attention", { sentence, scheme: "alibi", query: 5, key: 2 });
    const drawn = texts(record(state));
    const plain = oracle(sentence);
    const biased = oracle(sentence, { pair: (_, i, j, h) => -slope(h) * (i - j) });
    expect(drawn).toContain('"score of mat \u2192 sat, three tokens back" ink start');
    expect(drawn).toContain('"\u22121.500" ink end');
    expect(drawn).toContain(`"${biased[32]!.toFixed(3)}" ink end`);
    const remark = drawn.filter((line) => line.includes("Slope") || line.includes("would")).join(" ");
    expect(remark).toContain("Slope m = 2\u207b\u00b9.");
    expect(remark).toContain(plain[32]!.toFixed(3));
  });

  it.each(inAttention)("adds up under %s", (scheme) => {
    const state = figureState("attention", { sentence, scheme, head: 2, query: 4, key: 1, causal: true });
    const lines = texts(record(state));
    const score = lines.findIndex((line) => line.startsWith('"score" '));
    const number = (line: string): number => Number(/"([^"]*)"/.exec(line)![1]!.replace("\u2212", "-"));
    const first = lines.findIndex((line) => line.startsWith('"score of '));
    const terms: number[] = [];
    for (let n = first + 1; n + 1 < score; n += 2) if (!lines[n]!.includes("before")) terms.push(number(lines[n + 1]!));
    expect(terms.length).toBeGreaterThan(0);
    expect(Math.abs(terms.reduce((a, b) => a + b) - number(lines[score + 1]!))).toBeLessThan(0.0021 + 1e-9);
  });

  it("says why a cell is masked", () => {
    const remark = (attributes: Record<string, unknown>): string =>
      texts(record(figureState("attention", { sentence, ...attributes }))).join(" ");
    expect(remark({ query: 1, key: 4 })).toContain("does not look ahead");
    expect(remark({ query: 5, key: 0, window: 2 })).toContain("outside the window");
    expect(remark({ query: 2, key: 6, padding: 2, causal: false })).toContain("Padding");
    expect(named(figureState("attention", { sentence, query: 1, key: 4 }), "cat \u2192 the")).toBe("masked");
  });
});

describe("reading", () => {
  it("gives the entropy and the mean distance of the row", () => {
    const row = oracle(sentence, { pair: (_, i, j, h) => -slope(h) * (i - j) }).slice(30, 36);
    const state = figureState("attention", { sentence, scheme: "alibi", query: 5 });
    expect(named(state, "entropy")).toBe((-row.reduce((sum, w) => sum + w * Math.log(w), 0)).toFixed(2));
    expect(named(state, "mean distance")).toBe(row.reduce((sum, w, j) => sum + w * (5 - j), 0).toFixed(2));
    const both = figureState("attention", { sentence, scheme: "alibi", compare: "none", query: 5 });
    expect(named(both, "entropy").split(" and ")).toHaveLength(2);
    expect(
      attention.readout(figureState("attention", { sentence, context: "a b" })).map(({ label }) => label),
    ).not.toContain("mean distance");
  });

  it("finds the cell, the word and the head under a point, at every width", () => {
    for (const wide of [764, 300]) {
      const state = figureState("attention", { sentence, scheme: "alibi" });
      const back = record(state, wide);
      const boxes = back.operations.filter((op) => op.startsWith("heatMap"));
      const box = (op: string): number[] =>
        /heatMap ([\d.]+),([\d.]+) ([\d.]+)x([\d.]+)/.exec(op)!.slice(1).map(Number);
      const cells = boxes.filter((op) => op.includes(" 1 x 1 ")).map(box);
      expect(cells).toHaveLength(36);
      cells.forEach(([x = 0, y = 0, w = 0, h = 0], n) => {
        expect(back.cellAt(x + w / 2, y + h / 2)).toEqual({ row: Math.floor(n / 6), column: n % 6 });
      });
      const thumbs = boxes.filter((op) => op.includes(" 6 x 6 ")).map(box);
      expect(thumbs).toHaveLength(8);
      thumbs.forEach(([x = 0, y = 0, w = 0, h = 0], n) => {
        expect(x + w).toBeLessThanOrEqual(wide + 0.1);
        expect(y + h).toBeLessThanOrEqual(attention.height(state, wide));
        expect(back.cellAt(x + w / 2, y + h / 2)).toEqual({ choose: { head: n + 1 } });
      });
    }
  });

  it("hands out the numbers", () => {
    const state = figureState("attention", { sentence, scheme: "alibi", head: 3 });
    const lines = toCsv(attention.table(state)).split("\n");
    expect(lines[0]).toBe("query,The,cat,sat,on,the,mat");
    expect(lines[1]).toBe("The,1,,,,,");
    expect(lines).toHaveLength(8);
  });

  it.each(["none", ...inAttention])(
    "gives code that makes the same weights: %s",
    (scheme) => {
      const state = figureState("attention", { sentence, scheme, window: 4, padding: 1, heads: 2, causal: true });
      const { javascript } = attention.code!(state);
      const body = javascript.replace(/^import (\{.*?\}) from "posenc";/, "const $1 = posenc;");
      const made = new Function("posenc", `${body}\nreturn weights;`)(posenc) as posenc.Tensor<"float32">;
      const { data, shape } = attention.array!(state);
      expect(made.shape).toEqual(shape);
      made.data.forEach((weight, n) => expect(data[n]).toBe(weight));
    },
  );
});

describe("two schemes", () => {
  // Each once in either place; under CoPE both are causal.
  it.each([
    ["alibi", "sinusoidal"],
    ["sinusoidal", "rope"],
    ["none", "cope"],
    ["deberta", "none"],
  ])("have their files and their program: %s beside %s", (scheme, compare) => {
    const given = { sentence, scheme, compare, heads: 2, headWidth: 6, head: 2, window: 4, causal: false, seed: 3 };
    const state = figureState("attention", given);
    const { data, shape } = attention.array!(state);
    expect(shape).toEqual([2, 2, 6, 6]);
    const { javascript } = attention.code!(state);
    const body = javascript.replace(/^import (\{.*?\}) from "posenc";/, "const $1 = posenc;");
    const made = new Function("posenc", `${body}\nreturn [weights, compared];`)(posenc) as posenc.Tensor[];
    expect(made.flatMap((weights) => [...weights.data])).toEqual([...data]);
    const causal = scheme === "cope" || compare === "cope";
    expect(javascript.match(/causal: true/g) ?? []).toHaveLength(causal ? 2 : 0);

    const { header, rows, cell } = attention.table(state);
    expect(header).toEqual(["scheme", "query", ...sentence.split(" ")]);
    expect(rows).toBe(12);
    const names = [scheme, compare].map((name) => posenc.schemes.find((s) => s.name === name)?.title ?? "no position");
    for (let r = 0; r < rows; r++) {
      expect([cell(r, 0), cell(r, 1)]).toEqual([names[Math.floor(r / 6)], sentence.split(" ")[r % 6]]);
      for (let c = 0; c < 6; c++) {
        const weight = data[(Math.floor(r / 6) * 2 + 1) * 36 + (r % 6) * 6 + c];
        const shown = cell(r, c + 2) as number;
        expect(Number.isNaN(shown) ? 0 : shown).toBe(weight);
      }
    }
  });

  it("need no causal mask of the reader's where one of them is CoPE", () => {
    const places = (values: Record<string, unknown>): unknown =>
      attention.fields(figureState("attention", { sentence, ...values }).values).find(({ name }) => name === "causal")!
        .place;
    expect([places({ scheme: "cope" }), places({ compare: "cope" }), places({})]).toEqual(["none", "none", "row"]);
  });

  it("tell a weight of nearly nought from none", () => {
    const steep = posenc.alibi({ heads: 2, slopes: [9, 9] });
    const state = figureState("attention", { sentence, compare: "none", query: 5, key: 0 }, steep);
    expect((state.model as { sides: { weights: Float32Array }[] }).sides[0]!.weights[30]).toBeGreaterThan(0);
    expect(attention.readout(state)[0]!.value).toMatch(/^<\u20090\.001 and 0\.\d{3}$/);
  });
});

describe("a scheme given as data", () => {
  const { alibi, kerple, rope, shaw, sinusoidal, toeplitz } = posenc;
  const table = posenc.randomNormal([3, 7, 6], { seed: 8 });
  it.each([
    ["alibi", alibi({ heads: 3, slopes: [2, 1, 0.5] }), 3, 16],
    ["kerple", kerple({ heads: 2, r1: [2, 3], r2: 0.5 }), 2, 16],
    ["toeplitz", toeplitz({ values: [[5, 4, 3, 2, 1, 0, -1, -2, -3, -4, -5]] }), 1, 16],
    ["rope", rope({ dim: 6, base: 7 }), 8, 6],
    ["shaw", shaw({ dim: 6, clip: 3, keys: table, values: false }), 3, 6],
    ["sinusoidal", sinusoidal({ dim: 48, layout: "half" }), 8, 6],
  ] as const)("is drawn, sized as it is, and comes from the code: %s", (name, scheme, heads, width) => {
    const state = figureState("attention", { sentence, scheme: "none", causal: true }, scheme);
    expect(attention.title(state)).toContain(`, ${lowered(posenc.schemes.find((s) => s.name === name)!.title)}`);
    const { data, shape } = attention.array!(state);
    expect(shape).toEqual([heads, 6, 6]);
    const size = { sentence, heads, headWidth: width, scheme: "none" };
    expect(data).not.toEqual(attention.array!(figureState("attention", size)).data);
    const { javascript } = attention.code!(state);
    const body = javascript.replace(/^import (\{.*?\}) from "posenc";/, "const $1 = posenc;");
    const made = new Function("posenc", `${body}\nreturn weights;`)(posenc) as posenc.Tensor<"float32">;
    expect(made.data).toEqual(data);
    expect(body).toContain(`[heads, width] = [${heads}, ${width}]`);
  });

  it("stands beside what it is compared with", () => {
    const state = figureState("attention", { sentence, compare: "none" }, alibi({ heads: 4, slopes: [9, 9, 9, 9] }));
    expect(attention.title(state)).toContain("ALiBi and no position");
    expect(attention.title(state)).toContain("of\u00a04");
  });
});

describe("a narrow drawing", () => {
  it("leaves no line empty between the remark and the heads, wherever the cursor is", () => {
    for (const scheme of ["alibi", "rope", "none", "shaw", "sinusoidal"]) {
      for (const wide of [300, 340, 440]) {
        const gaps = [0, 2, 5].flatMap((query) =>
          [0, 3, 5].map((key) => {
            const state = figureState("attention", { sentence, scheme, query, key });
            const drawn = textsOf(record(state, wide));
            const head = drawn.find(({ words }) => words === "every head")!;
            const above = drawn.filter(({ y }) => y < head.y).map(({ y }) => y);
            return head.y - Math.max(...above);
          }),
        );
        // Lines are 17 apart, and the longest remark leaves the usual space.
        expect(Math.min(...gaps), `${scheme} at ${wide}`).toBeGreaterThanOrEqual(17);
        expect(Math.min(...gaps), `${scheme} at ${wide}`).toBeLessThan(34);
      }
    }
  });
});

describe("sentences of any kind", () => {
  it("draws two hundred tokens as one map with thinned labels", () => {
    const long = Array.from({ length: 200 }, (_, i) => `word${i % 61}`).join(" ");
    const state = figureState("attention", { sentence: long, scheme: "alibi" });
    const back = record(state);
    expect(back.operations.filter((op) => op.startsWith("heatMap") && op.includes(" 200 x 200 "))).toHaveLength(9);
    expect(texts(back).length).toBeLessThan(160);
    const places = back.operations
      .filter((op) => op.startsWith("text") && op.includes("turn -90"))
      .map((op) => Number(/text ([\d.]+),/.exec(op)![1]))
      .sort((a, b) => a - b);
    for (let n = 1; n < places.length; n++) expect(places[n]! - places[n - 1]!).toBeGreaterThanOrEqual(12.9);
  });

  it.each([
    "Hello",
    "Donaudampfschifffahrtsgesellschaftskapit\u00e4n unbeabsichtigterweise",
    "שלום עולם",
    "\u{1F469}\u200D\u{1F680} \u{1F1EB}\u{1F1F7}",
  ])("keeps %s inside the drawing", (given) => {
    for (const wide of [764, 300]) {
      const state = figureState("attention", { sentence: given });
      const back = record(state, wide);
      for (const op of back.operations.filter((o) => o.startsWith("heatMap"))) {
        const [x = 0, y = 0, w = 0, h = 0] = /heatMap ([\d.]+),([\d.]+) ([\d.]+)x([\d.]+)/
          .exec(op)!
          .slice(1)
          .map(Number);
        expect(x + w).toBeLessThanOrEqual(wide + 0.1);
        expect(y + h).toBeLessThanOrEqual(attention.height(state, wide) + 0.1);
        expect(w * h).toBeGreaterThan(0);
      }
    }
  });

  it("asks for a word where there is none", () => {
    expect(() => figureState("attention", { sentence: "  " })).toThrow(/empty/);
  });

  it("sets two schemes side by side, and one above the other where it is narrow", () => {
    const svg = renderSVG("attention", { sentence, scheme: "rope", compare: "alibi" });
    expect(svg).toContain("RoPE and ALiBi");
    const state = figureState("attention", { sentence, scheme: "rope", compare: "alibi" });
    expect(attention.height(state, 300)).toBeGreaterThan(1.5 * attention.height(state, 764));
  });
});

describe("long texts", () => {
  const words = ["cat", "mat", "sat", "hat", "rat", "bat", "fat"];
  const long = Array.from({ length: 300 }, (_, i) => `${words[(i * i) % 7]!}${i % 13}`).join(" ");
  const valuesOf = (given: Record<string, unknown>) => completeValues(attention, (name) => given[name]);
  const run = async (given: Record<string, unknown>, step: (done: number, total: number) => void = () => {}) => {
    const values = valuesOf(given);
    const controller = new AbortController();
    const model = await attention.later!.task(values, undefined)!({
      signal: controller.signal,
      step: async (done, total) => {
        await Promise.resolve();
        step(done, total);
        controller.signal.throwIfAborted();
      },
    });
    return stateOf(attention, values, model);
  };

  it("are cut into slices that say how far they are, with the bits of one call", async () => {
    const given = { sentence: long, scheme: "rope", compare: "t5", heads: 6, headWidth: 8, head: 2, window: 40 };
    const told: [number, number][] = [];
    const state = await run(given, (done, total) => told.push([done, total]));
    expect(told.length).toBeGreaterThan(4);
    expect(told.every(([done, total], n) => done <= total && (n === 0 || done >= told[n - 1]![0]))).toBe(true);
    expect(told[told.length - 1]![0]).toBe(told[told.length - 1]![1]);
    const tokens = tokensOf(long, 2048);
    expect(tokens.length).toBe(300);
    const rows = (purpose: number): posenc.Tensor => {
      const options = { purpose, seed: 91, mean: 0.6, std: 0.8 };
      const all = vectorsOf(tokens, 48, options);
      return posenc.tensor(
        Array.from({ length: 6 }, (_, h) =>
          tokens.map((_, t) => [...all.subarray(t * 48 + h * 8, t * 48 + h * 8 + 8)]),
        ),
      );
    };
    const [q, k] = [rows(1), rows(2)];
    const whole = posenc.attention(q, k, k, {
      rotate: posenc.rope({ dim: 8 }),
      causal: true,
      window: 40,
      weights: true,
      trace: true,
    });
    const shown = attention.array!(state);
    // What it is compared with follows.
    expect(shown.shape).toEqual([2, 6, 300, 300]);
    const first = Buffer.from(shown.data.buffer, 0, shown.data.byteLength / 2);
    expect(Buffer.compare(first, Buffer.from(whole.weights!.data.buffer))).toBe(0);
    // Masked cells are told from cells that weigh nothing.
    const table = attention.table(state);
    const masked = whole.trace!.masked;
    for (const [i, j] of [
      [0, 0],
      [5, 6],
      [299, 299],
      [299, 100],
    ] as const) {
      expect(Number.isNaN(table.cell(i, j + 2) as number)).toBe(Boolean(masked.at(1, i, j)));
    }
    // A cell taken apart has the terms of the whole.
    const at = stateOf(attention, { ...state.values, query: 250, key: 240 }, state.model);
    const drawn = texts(record(at)).join(" ");
    expect(drawn).toContain(book(whole.trace!.scores.at(1, 250, 240) as number, { decimals: 3, signed: true }));
    const read = Object.fromEntries(attention.readout(at).map(({ label, value }) => [label, value.split(" and ")[0]]));
    const own = whole.weights!;
    expect(read.entropy).toBe(book(posenc.entropy(own).at(1, 250) as number, { decimals: 2 }));
    expect(read["mean distance"]).toBe(book(posenc.attentionDistance(own).at(1, 250) as number, { decimals: 2 }));
  });

  it("give the same model at once, for pictures without a page", async () => {
    const given = { sentence: long, scheme: "alibi", heads: 2, headWidth: 4 };
    const [later, now] = [await run(given), figureState("attention", given)];
    const [a, b] = [later, now].map((state) => attention.array!(state).data.buffer);
    expect(Buffer.compare(Buffer.from(a!), Buffer.from(b!))).toBe(0);
  });

  it("stop when they are told to, and are not sliced where they are short", async () => {
    expect(attention.later!.task(valuesOf({ sentence }), undefined)).toBeUndefined();
    const controller = new AbortController();
    let steps = 0;
    const stopped = attention.later!.task(valuesOf({ sentence: long }), undefined)!({
      signal: controller.signal,
      step: (): Promise<void> => {
        if (++steps === 3) controller.abort(new Error("enough"));
        return controller.signal.aborted ? Promise.reject(controller.signal.reason as Error) : Promise.resolve();
      },
    });
    await expect(stopped).rejects.toThrow("enough");
    expect(steps).toBe(3);
  });

  it("are refused where their weights do not fit into a page", () => {
    const endless = Array.from({ length: 2500 }, (_, i) => `w${i}`).join(" ");
    expect(tokensOf(endless, 2048).length).toBe(2048);
    const many = { sentence: endless, scheme: "none", heads: 32 };
    const told = "134 217 728 weights do not fit".replace(/ (?=\d)/g, "\u202f");
    expect(() => figureState("attention", many)).toThrow(told);
  });

  it("can be seen closer, cell by cell, with their words", () => {
    const state = figureState("attention", { sentence: long, scheme: "none", heads: 1, query: 200, key: 150 });
    const part = { row: 195, rows: 12, column: 145, columns: 12 };
    const whole = record(state);
    const closer = record({ ...state, part }, 880);
    const tokens = tokensOf(long, 2048);
    const drawn = textsOf(closer).map(({ words }) => words);
    for (const word of tokens.slice(195, 207)) expect(drawn).toContain(word);
    expect(texts(whole).length).toBeLessThan(200);
    const weights = attention.array!(state).data;
    expect(drawn).toContain(book(weights[200 * 300 + 150]!, { decimals: 2 }));
  });
});

it("cuts a word as long as a page where its room ends", () => {
  const surface = new Surface(new RecordingBackEnd(), makeTheme(false), 400, 100);
  const family = "👩‍👩‍👧‍👦";
  for (const [word, width] of [
    ["a".repeat(20_000), 90],
    [family.repeat(500), 120],
    ["word", 12],
    ["word", 1],
  ] as const) {
    const cut = cutWord(surface, word, width);
    const one = word.startsWith(family) ? family : word[0]!;
    const longer = word === "word" ? `${word.slice(0, cut.length)}…` : cut.replace("…", `${one}…`);
    const wide = (text: string): number => surface.textWidth(text, { size: labelSize, bold: true });
    expect(cut.endsWith("…")).toBe(true);
    expect(cut === "…" || wide(cut) <= width).toBe(true);
    expect(wide(longer)).toBeGreaterThan(width);
  }
});
