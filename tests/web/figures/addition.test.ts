// <posenc-addition>: three strips whose numbers are the words' vectors, the paper's formula and their sum, in double.
import { beforeAll, describe, expect, it } from "vitest";
import * as posenc from "../../../web/src/index.js";
import { addition } from "../../../web/figures/addition.js";
import type { State } from "../../../web/figures/figure.js";
import { RecordingBackEnd } from "../../../web/figures/recording.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { tokensOf, vectorsOf } from "../../../web/figures/sentence.js";
import { Surface } from "../../../web/figures/surface.js";
import { makeTheme } from "../../../web/figures/theme.js";

beforeAll(() => posenc.ready());

const sentence = "The cat sat on the mat";

function record(state: State<unknown>, wide = 764): RecordingBackEnd {
  const back = new RecordingBackEnd();
  addition.draw(new Surface(back, makeTheme(false), wide, addition.height(state, wide)), state);
  return back;
}

function expected(dim: number, { scale = 1, alpha = 1, deviation = 0.3, text = sentence } = {}): number[][] {
  const words = tokensOf(text);
  const x = vectorsOf(words, dim, { std: deviation });
  const rows: number[][] = [];
  words.forEach((_, t) => {
    for (let c = 0; c < dim; c++) {
      const angle = t / 10000 ** ((c - (c % 2)) / dim);
      const parts = [scale * x[t * dim + c]!, alpha * (c % 2 === 0 ? Math.sin(angle) : Math.cos(angle))];
      rows.push([...parts, parts[0]! + parts[1]!]);
    }
  });
  return rows;
}

describe("numbers", () => {
  it.each([
    [{ dim: 6 }, {}],
    [{ dim: 8, scale: "sqrt" }, { scale: Math.sqrt(8) }],
    [
      { dim: 4, alpha: 0.5, deviation: 0.1 },
      { alpha: 0.5, deviation: 0.1 },
    ],
    [{ dim: 6, alpha: 0 }, { alpha: 0 }],
  ])("are embedding, encoding and sum at %j", (attributes, options) => {
    const state = figureState("addition", { sentence, ...attributes });
    const table = addition.table(state);
    const rows = expected(attributes.dim, options);
    expect(table.rows).toBe(rows.length);
    rows.forEach((numbers, r) => {
      numbers.forEach((value, k) => expect(table.cell(r, 3 + k)).toBeCloseTo(value, 5));
    });
  });

  it("are read out under the cursor, in words and with a true minus", () => {
    const state = figureState("addition", { sentence, dim: 6, position: 4, dimension: 1 });
    const [a, b, c] = expected(6)[4 * 6 + 1]!.map((value) => value.toFixed(3).replace("-", "\u2212"));
    const reading = addition.readout(state);
    expect(reading[0]).toMatchObject({ label: "word", value: "the" });
    expect(b![0]).toBe("\u2212");
    expect(reading[3]).toEqual({ label: "input", value: `${a} \u2212 ${b!.slice(1)} = ${c}` });
  });

  it("come from the code as well", () => {
    const state = figureState("addition", { sentence, dim: 8, scale: "sqrt", alpha: 0.5 });
    const body = addition.code!(state).javascript.replace(/^import (\{.*?\}) from "posenc";/, "const $1 = posenc;");
    const made = new Function("posenc", `${body}\nreturn input;`)(posenc) as posenc.Tensor<"float32">;
    expect(made.data).toEqual(addition.array!(state).data);
  });

  it("come from a scheme given as data, which says how wide words are", () => {
    const scheme = posenc.sinusoidal({ dim: 10, layout: "half", base: 50 });
    const state = figureState("addition", { sentence, dim: 8 }, scheme);
    const { data, shape } = addition.array!(state);
    expect(shape).toEqual([6, 10]);
    const body = addition.code!(state).javascript.replace(/^import (\{.*?\}) from "posenc";/, "const $1 = posenc;");
    expect(body).toContain('"half"');
    expect((new Function("posenc", `${body}\nreturn input;`)(posenc) as posenc.Tensor).data).toEqual(data);
    const plain = addition.array!(figureState("addition", { sentence, dim: 10 })).data;
    const [own, paper] = [scheme, posenc.sinusoidal({ dim: 10 })].map((s) => posenc.encode(s, 6).data);
    data.forEach((value, n) => expect(value - plain[n]!).toBeCloseTo(own![n]! - paper![n]!, 5));
  });

  it("exist for every scheme whose width can be that of words", () => {
    const chooser = addition.fields({}).find(({ name }) => name === "scheme")!;
    const offered = chooser.kind === "choice" ? chooser.choices.map(({ value }) => value) : [];
    expect(offered).toEqual(["sinusoidal", "learned"]);
    for (const scheme of offered) expect(renderSVG("addition", { sentence, scheme })).toContain("<svg");
  });
});

describe("strips", () => {
  const boxesOf = (back: RecordingBackEnd): number[][] =>
    back.operations
      .filter((op) => op.startsWith("heatMap") && op.includes(" 1 x 1 "))
      .map((op) => /heatMap ([\d.]+),([\d.]+) ([\d.]+)x([\d.]+)/.exec(op)!.slice(1).map(Number));

  it.each([764, 300])("read the same cells at a width of %d", (wide) => {
    const state = figureState("addition", { sentence, dim: 6 });
    const back = record(state, wide);
    const boxes = boxesOf(back);
    expect(boxes).toHaveLength(3 * 36);
    boxes.forEach(([x = 0, y = 0, w = 0, h = 0], n) => {
      expect(x + w).toBeLessThanOrEqual(wide);
      expect(y + h).toBeLessThanOrEqual(addition.height(state, wide));
      expect(back.cellAt(x + w / 2, y + h / 2)).toEqual({ row: Math.floor((n % 36) / 6), column: n % 6 });
    });
    const [first = [], second = []] = [boxes[0], boxes[36]];
    if (wide > 560) expect(second[1]).toBe(first[1]);
    else expect(second[0]).toBe(first[0]);
  });

  it("have signs between them and the numbers on their cells", () => {
    const texts = record(figureState("addition", { sentence, dim: 6 })).operations.filter((op) =>
      op.startsWith("text"),
    );
    for (const word of ['"+"', '"="', '"embedding"', '"encoding"', '"input"', '"mat"']) {
      expect(
        texts.filter((op) => op.includes(word)),
        word,
      ).toHaveLength(1);
    }
    const numbers = texts.filter((op) => /"\u2212?\d\.\d\d" (ink|paper) middle/.test(op));
    expect(numbers).toHaveLength(108);
  });

  it("become plain maps where there are many cells", () => {
    const long = Array.from({ length: 200 }, (_, i) => `w${i}`).join(" ");
    const back = record(figureState("addition", { sentence: long, dim: 64 }));
    expect(back.operations.filter((op) => op.includes(" 200 x 64 "))).toHaveLength(3);
    expect(addition.height(figureState("addition", { sentence: long }), 764)).toBeLessThan(760);
  });

  it("ask for a word where there is none", () => {
    expect(() => figureState("addition", { sentence: "" })).toThrow(/empty/);
  });
});
