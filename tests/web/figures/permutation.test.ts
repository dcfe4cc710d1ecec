// <posenc-permutation> against attention written down again in double.
import { beforeAll, describe, expect, it } from "vitest";
import { alibi, learned, permutationGap, randomNormal, ready, sinusoidal } from "../../../web/src/index.js";
import { permutation } from "../../../web/figures/permutation.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { seedOf } from "../../../web/figures/sentence.js";
import { toCsv } from "../../../web/figures/take-away.js";
import { overlaps, record, runCode, textsOf } from "./drawn.js";

beforeAll(() => ready());

type Rows = number[][];

const words = (sentence: string, head: number, width: number, heads: number): Rows =>
  sentence.split(" ").map((word) => {
    const { data } = randomNormal(heads * width, { seed: seedOf(word, 3), std: 0.6 });
    return [...data.subarray(head * width, (head + 1) * width)];
  });
const waves = (rows: Rows): Rows =>
  rows.map((row, t) =>
    row.map((value, c) => {
      const angle = t * 10000 ** (-(c - (c % 2)) / row.length);
      return value + (c % 2 === 0 ? Math.sin(angle) : Math.cos(angle));
    }),
  );
const attend = (x: Rows, bias = (_i: number, _j: number): number => 0): Rows =>
  x.map((q, i) => {
    const scores = x.map((k, j) => k.reduce((sum, v, c) => sum + v * q[c]!, 0) / Math.sqrt(q.length) + bias(i, j));
    const most = Math.max(...scores);
    const shares = scores.map((s) => Math.exp(s - most));
    const total = shares.reduce((a, b) => a + b);
    return q.map((_, c) => x.reduce((sum, v, j) => sum + (shares[j]! / total) * v[c]!, 0));
  });
const readings = (attributes: Record<string, unknown>, data?: unknown): Record<string, string> =>
  Object.fromEntries(
    permutation.readout(figureState("permutation", attributes, data)).map(({ label, value }) => [label, value]),
  );
const gapOf = (attributes: Record<string, unknown>): string =>
  readings(attributes)["largest |Attn(PX) \u2212 P Attn(X)|"]!;

describe("the outputs", () => {
  const causal = (i: number, j: number): number => (j > i ? -Infinity : 0);
  it.each([
    ["none", {}, (x: Rows) => attend(x)],
    ["none", { causal: true }, (x: Rows) => attend(x, causal)],
    ["sinusoidal", {}, (x: Rows) => attend(waves(x))],
    ["alibi", {}, (x: Rows) => attend(x, (i, j) => -0.25 * Math.abs(i - j))],
  ])("are those of %s, %o", (scheme, options, wanted) => {
    // Head 1 of 4: ALiBi's slope is 1/4.
    const state = figureState("permutation", { scheme, heads: 4, headWidth: 8, ...options });
    const { data, shape } = permutation.array!(state);
    expect(shape).toEqual([2, 3, 8]);
    const both = ["dog bites man", "man bites dog"].map((sentence) => wanted(words(sentence, 0, 8, 4)));
    both.flat(2).forEach((value, at) => expect(data[at]).toBeCloseTo(value, 5));
  });

  it("are apart, word by word and in all, by what those are", () => {
    const sentence = ["a b c d", "c a d b"] as const;
    const attributes = { sentence: sentence[0], order: sentence[1], scheme: "sinusoidal", heads: 2, headWidth: 6 };
    let gap = 0;
    const apart: number[] = [];
    for (const head of [0, 1]) {
      const [here, there] = sentence.map((s) => attend(waves(words(s, head, 6, 2)))) as [Rows, Rows];
      here.forEach((row, t) => {
        const differences = row.map((v, c) => Math.abs(v - there[[1, 3, 0, 2][t]!]![c]!));
        gap = Math.max(gap, ...differences);
        if (head === 1) apart.push(Math.hypot(...differences));
      });
    }
    expect(Number(gapOf(attributes))).toBeCloseTo(gap, 4);
    for (let token = 0; token < 4; token++) {
      const read = readings({ ...attributes, head: 2, token });
      expect(Number(read.distance)).toBeCloseTo(apart[token]!, 4);
      expect(read.places).toBe(`${token} and ${[1, 3, 0, 2][token]}`);
    }
  });

  it("are equal to the last bit where sums are sorted, and to rounding where they are not", () => {
    const sentence = "the quick brown fox jumps over the lazy dog";
    expect(gapOf({ sentence, sum: "sorted" })).toBe("0");
    expect(gapOf({ sentence })).toMatch(/\u00d710\u207b[\u2076-\u2078]$/);
    expect(gapOf({ sentence, sum: "sorted", causal: true })).toMatch(/^[01]\.\d{4}$/);
    const state = figureState("permutation", { sentence, sum: "sorted", headWidth: 8, heads: 4, head: 2 });
    expect(permutation.caption(state)).toContain("not one bit differs");
    // What is drawn and read out are those sums: of the reversed words the rows from last to first, and one mean.
    const { data, shape } = permutation.array!(state);
    const [there, here] = [1, 0].map((s) => [...data.subarray((s * data.length) / 2, ((s + 1) * data.length) / 2)]);
    const rows = (of: readonly number[]): Rows => Array.from({ length: 9 }, (_, t) => of.slice(8 * t, 8 * t + 8));
    expect([shape, rows(there!)]).toEqual([[2, 9, 8], rows(here!).reverse()]);
    attend(words(sentence, 1, 8, 4)).flat().forEach((value, at) => expect(here![at]).toBeCloseTo(value, 6));
    for (let token = 0; token < 9; token++) {
      const read = readings({ sentence, sum: "sorted", token });
      expect([read.distance, read["distance of the logits"]], `${token}`).toEqual(["0", "0"]);
    }
    const apart = textsOf(record(permutation, state)).filter(({ words: w, how }) => w === "0" && how.includes("end"));
    expect(apart).toHaveLength(9);
  });
});

describe("the classifier", () => {
  const logits = (attributes: Record<string, unknown>, sentence: string): number[] => {
    const state = figureState("permutation", attributes);
    const drawn = textsOf(record(permutation, state)).filter(({ words: w }) => /^[+\u2212]\d\.\d{3}$/.test(w));
    const own = drawn.filter(({ how }) => how.includes(sentence));
    const found = own.map(({ words: w }) => Number(w.replace("\u2212", "-")));
    expect(found).toHaveLength(3);
    return found;
  };

  it("multiplies the mean of all heads with a vector a class", () => {
    const { data } = randomNormal([3, 8], { seed: seedOf("class", 4), std: 0.4 });
    const mean = [0, 1].flatMap((head) => {
      const out = attend(words("dog bites man", head, 4, 2), (i, j) => (j > i ? -Infinity : 0));
      return out[0]!.map((_, c) => (out[0]![c]! + out[1]![c]! + out[2]![c]!) / 3);
    });
    const wanted = [0, 1, 2].map((k) => mean.reduce((sum, v, c) => sum + v * data[8 * k + c]!, 0));
    const found = logits({ heads: 2, headWidth: 4, causal: true }, "accent");
    found.forEach((value, k) => expect(value).toBeCloseTo(wanted[k]!, 3));
  });

  it("cannot tell orders apart by the words alone, and can by position or mask", () => {
    expect(logits({}, "accent")).toEqual(logits({}, "cool"));
    for (const attributes of [{ causal: true }, { scheme: "sinusoidal" }, { scheme: "rope" }, { scheme: "shaw" }]) {
      expect(logits(attributes, "accent")).not.toEqual(logits(attributes, "cool"));
      expect(permutation.summary(figureState("permutation", attributes))).toContain("tells the sentences apart");
    }
    expect(permutation.summary(figureState("permutation"))).toContain("cannot tell the sentences apart");
  });

  it("is told by a symmetric bias of another order, but not of the mirrored one", () => {
    expect(permutation.caption(figureState("permutation", { scheme: "alibi" }))).toContain("read backwards");
    expect(logits({ scheme: "alibi" }, "accent")).toEqual(logits({ scheme: "alibi" }, "cool"));
    const other = { scheme: "alibi", order: "bites dog man" };
    expect(permutation.caption(figureState("permutation", other))).toContain("ALiBi tells attention where");
    expect(logits(other, "accent")).not.toEqual(logits(other, "cool"));
  });
});

describe("orders", () => {
  it("are the sentence's own words, upper case or lower", () => {
    const state = figureState("permutation", { sentence: "To be or not to be", order: "not to be or to be" });
    const table = permutation.table(state);
    expect([6, 7, 8, 9, 10, 11].map((r) => table.cell(r, 1))).toEqual(["not", "To", "be", "or", "to", "be"]);
    const repeated = permutation.caption(figureState("permutation", { order: "dog bites man" }));
    expect(repeated).toContain("Both orders are the same");
    const refused = (order: string, sentence: string): void =>
      expect(() => figureState("permutation", { order })).toThrow(sentence);
    refused("man bites cat", "\u201ccat\u201d is too much");
    refused("man bites", "\u201cdog\u201d is missing");
    refused("man bites dog dog", "\u201cdog\u201d is too much");
    expect(() => figureState("permutation", { sentence: " " })).toThrow("the sentence is empty");
  });
});

describe("hands, words and take-aways", () => {
  it.each([764, 300])("joins the same words, and reads the one under a point, %d pixels wide", (width) => {
    const state = figureState("permutation", { sentence: "a b c d", order: "c a d b", token: 2 });
    const back = record(permutation, state, width);
    const maps = back.operations.flatMap((op) => {
      const match = /heatMap ([\d.]+),([\d.]+) ([\d.]+)x([\d.]+) 4 x 16/.exec(op);
      return match ? [match.slice(1).map(Number)] : [];
    });
    expect(maps).toHaveLength(2);
    const [left, right] = maps as [number[], number[]];
    const at = ([x = 0, y = 0, w = 0, h = 0]: number[], row: number, column: number): unknown =>
      back.cellAt(x + ((column + 0.5) * w) / 16, y + ((row + 0.5) * h) / 4);
    expect(at(left, 1, 15)).toEqual({ row: 1, column: 15 });
    // "c a d b": the third there is the fourth here.
    expect(at(right, 2, 3)).toEqual({ row: 3, column: 3 });
    expect(at(right, 0, 0)).toEqual({ row: 2, column: 0 });
    const links = back.paths.filter((path) => path.length === 8);
    const row = left[3]! / 4;
    const ends = links.map((path) => [path[1]!, path[7]!].map((y) => Math.floor((y - left[1]!) / row)));
    expect(ends).toEqual([[0, 1], [1, 3], [3, 2], [2, 0]]);
    expect(overlaps(back)).toEqual([]);
  });

  it("draws one word, and as many as it takes", () => {
    for (const sentence of ["dog", Array.from({ length: 60 }, (_, i) => `w${i}`).join(" ")]) {
      for (const width of [764, 300]) {
        const back = record(permutation, figureState("permutation", { sentence, token: 20 }), width);
        expect(overlaps(back)).toEqual([]);
        expect(back.operations.join()).not.toContain("NaN");
      }
    }
    expect(permutation.array!(figureState("permutation", { sentence: "w ".repeat(60) })).shape[1]).toBe(48);
  });

  it("gives a program that makes the same numbers", () => {
    for (const attributes of [
      {},
      { causal: true, sum: "sorted" },
      { scheme: "sinusoidal", sentence: "a b c d e", seed: 3 },
      { scheme: "t5", order: "bites dog man" },
      { scheme: "shaw", causal: true },
    ]) {
      const state = figureState("permutation", { heads: 2, headWidth: 4, head: 2, ...attributes });
      const { javascript } = permutation.code!(state);
      const [x, px] = runCode(javascript, "outputs") as unknown as { data: Float32Array; size: number }[];
      const head = [x!, px!].flatMap(({ data, size }) => [...data.subarray(size / 2)]);
      expect(head).toEqual([...permutation.array!(state).data]);
      const gap = runCode(javascript, "gap") as unknown as number;
      const model = state.model as { gap: number };
      expect(gap).toBe(model.gap);
    }
  });

  it("takes a scheme as data, with its heads and width", () => {
    const state = figureState("permutation", { head: 3 }, alibi({ heads: 3, symmetric: false }));
    expect(permutation.title(state)).toContain("ALiBi");
    expect(permutation.code!(state).javascript).toContain("alibi({ heads: 3, symmetric: false })");
    const x = runCode(permutation.code!(state).javascript, "x");
    const wanted = permutationGap(x, [2, 1, 0], { bias: alibi({ heads: 3, symmetric: false }) });
    expect((state.model as { gap: number }).gap).toBe(wanted);
    const added = figureState("permutation", { heads: 2 }, sinusoidal({ dim: 6 }));
    expect(permutation.array!(added).shape).toEqual([2, 3, 6]);
    // A table says its width by its shape, and has no number of it.
    const table = learned({ table: randomNormal([4, 10], { seed: 2 }) });
    const wide = figureState("permutation", { heads: 2 }, table);
    expect(permutation.array!(wide).shape).toEqual([2, 3, 10]);
    const rows = runCode(permutation.code!(wide).javascript, "x");
    expect((wide.model as { gap: number }).gap).toBe(permutationGap(rows, [2, 1, 0], { embed: table }));
  });

  it("writes its table, and renders without a document", () => {
    const csv = toCsv(permutation.table(figureState("permutation", { heads: 1, headWidth: 2 }))).trim().split("\n");
    expect(csv[0]).toBe("sentence,word,place,channel 0,channel 1");
    expect(csv.slice(1).map((line) => line.split(",").slice(0, 3).join())).toEqual([
      "1,dog,0",
      "1,bites,1",
      "1,man,2",
      "2,man,0",
      "2,bites,1",
      "2,dog,2",
    ]);
    expect(renderSVG("permutation", { scheme: "rope" }, { theme: "dark", width: 320 })).toContain("RoPE");
    expect(() => figureState("permutation", { scheme: "rop" })).toThrow("scheme must be one of");
  });
});
