// <posenc-embed> as recorded: its curves are the paper's formula (computed here in double), its cells are where they
// show.
import { beforeAll, describe, expect, it } from "vitest";
import { ready } from "../../../web/src/index.js";
import { embed } from "../../../web/figures/embed.js";
import { completeValues, stateOf, type State } from "../../../web/figures/figure.js";
import { RecordingBackEnd } from "../../../web/figures/recording.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { Surface } from "../../../web/figures/surface.js";
import { toCsv, toJson, toNpyBytes } from "../../../web/figures/take-away.js";
import { makeTheme } from "../../../web/figures/theme.js";
import { refusedBy } from "./drawn.js";

beforeAll(() => ready());

function record(state: State<unknown>, width = 764): RecordingBackEnd {
  const back = new RecordingBackEnd();
  embed.draw(new Surface(back, makeTheme(false), width, embed.height(state, width)), state);
  return back;
}

const texts = (back: RecordingBackEnd): string[] =>
  back.operations.filter((op) => op.startsWith("text")).map((op) => op.replace(/^text [^ ]+ /, ""));

// The paper's formula: sine and cosine of pair i at a position.
function paper(position: number, dimension: number, width: number): number {
  const angle = position / 10000 ** ((dimension - (dimension % 2)) / width);
  return dimension % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
}

describe("heat map", () => {
  it("draws the column as a curve and the row as bars, from the numbers of the core", () => {
    const back = record(figureState("embed", { positions: 96, dim: 64, position: 37, dimension: 22 }));
    const curve = back.paths.find((path) => path.length === 2 * 96)!;
    const base = back.paths[0]![0]!;
    for (let t = 0; t < 96; t++) expect(curve[2 * t]! - base).toBeCloseTo(30 * paper(t, 22, 64), 4);
    const bars = back.operations.filter((op) => op.includes("fill=accent"));
    const tall = bars.map((op) => Number(/x([\d.]+) fill/.exec(op)![1]));
    const expected = Array.from({ length: 64 }, (_, c) => Math.abs(28 * paper(37, c, 64)));
    expect(tall).toHaveLength(64);
    tall.forEach((height, c) => expect(Math.abs(height - expected[c]!)).toBeLessThan(0.06));
    expect(bars.filter((op) => !op.includes("alpha"))).toHaveLength(1);
  });

  it("labels what it draws", () => {
    expect(texts(record(figureState("embed", { positions: 96, dim: 64, position: 37, dimension: 22 })))).toEqual([
      ...["0", "20", "40", "60", "80"].map((tick) => `"${tick}" grey end`),
      '"position" grey middle turn -90',
      ...["0", "16", "32", "48", "63"].map((tick) => `"${tick}" grey middle`),
      '"dimension 22" cool middle', '"position 37" accent start',
      '"\u22121" grey end', '"0" grey end', '"1" grey end',
    ]);
  });

  it.each([764, 300])("reads the cell under a point, %d pixels wide", (width) => {
    const state = figureState("embed", { positions: 30, dim: 8 });
    const back = record(state, width);
    const [, x = 0, y = 0, w = 0, h = 0] = /heatMap ([\d.]+),([\d.]+) ([\d.]+)x([\d.]+) 30 x 8/.exec(
      back.operations.find((op) => op.startsWith("heatMap"))!)!.map(Number);
    for (const [row, column] of [[0, 0], [29, 7], [12, 3]] as const) {
      expect(back.cellAt(x + ((column + 0.5) * w) / 8, y + ((row + 0.5) * h) / 30)).toEqual({ row, column });
    }
    expect(x + w).toBeLessThan(width);
  });
});

describe("views", () => {
  it("draws waves over position, the cursor's among them", () => {
    const state = figureState("embed", { view: "waves", dim: 16, positions: 48, position: 17, dimension: 2 });
    const back = record(state);
    const waves = back.paths.filter((path) => path.length === 96);
    expect(waves).toHaveLength(5);
    const fast = waves[0]!;
    const [low, high] = [Math.min(...fast.filter((_, i) => i % 2)), Math.max(...fast.filter((_, i) => i % 2))];
    for (let t = 0; t < 48; t++) {
      const value = 2 * (high - fast[2 * t + 1]!) / (high - low) - 1;
      expect(Math.abs(value - paper(t, 0, 16))).toBeLessThan(0.002);
    }
    expect(texts(back).filter((text) => text.includes("dimension"))).toEqual(
      [0, 2, 4, 8, 12].map((c) => `"dimension ${c}" ${c === 2 ? "cool" : "ink"} start`));
  });

  it("turns the clock hands by the values, in either layout", () => {
    for (const layout of ["interleaved", "half"]) {
      const attributes = { view: "circle", dim: 8, layout, positions: 20, position: 5, dimension: 0 };
      const back = record(figureState("embed", attributes));
      const dials = back.operations.filter((op) => op.startsWith("disc") && op.includes("stroke"));
      const hands = back.paths.filter((path) => path.length === 4 && Math.abs(path[0]! - path[2]!) > 1e-9);
      expect([dials.length, hands.length], layout).toEqual([4, 4]);
      hands.forEach(([x0, y0, x1, y1], pair) => {
        const radius = Math.hypot(x1! - x0!, y1! - y0!);
        expect((x1! - x0!) / radius).toBeCloseTo(paper(5, 2 * pair, 8), 4);
        expect((y0! - y1!) / radius).toBeCloseTo(paper(5, 2 * pair + 1, 8), 4);
      });
    }
  });
});

describe("words and take-aways", () => {
  const state = figureState("embed", { positions: 96, dim: 64, position: 37, dimension: 22 });

  it("reads out position, dimension, wavelength and value", () => {
    expect(embed.readout(state)).toEqual([
      { label: "position", value: "37" },
      { label: "dimension", value: "22", unit: "(sine of pair 11)" },
      { label: "wavelength", value: "149.0", unit: "tokens" },
      { label: "value", value: "+0.9999" },
    ]);
    expect(embed.title(state)).toBe("Sinusoidal encoding, 96 positions \u00d7\u00a064 dimensions");
    expect(embed.summary(state)).toContain("turns once in 6.283 tokens, the last in 47\u202f117.");
  });

  it("names sines and cosines in every layout, and columns of neither", () => {
    const unit = (attributes: Record<string, unknown>): unknown =>
      embed.readout(figureState("embed", attributes))[1]!.unit;
    expect(unit({ dim: 8, dimension: 5 })).toBe("(cosine of pair 2)");
    expect(unit({ dim: 8, dimension: 5, order: "cos-sin" })).toBe("(sine of pair 2)");
    expect(unit({ dim: 8, dimension: 5, layout: "half" })).toBe("(cosine of pair 1)");
    expect(unit({ dim: 8, dimension: 5, "pad-index": 0 })).toBe("(cosine of pair 2)");
    expect(unit({ dim: 5, dimension: 4, "odd-dim": "pad" })).toBeUndefined();
  });

  it("counts positions from where it is told", () => {
    const far = figureState("embed", { start: 1000000, positions: 8, dim: 4, position: 1000003 });
    expect(far.row).toBe(3);
    expect(embed.readout(far)[0]!.value).toBe("1\u202f000\u202f003");
  });

  it("writes CSV, JSON and NPY with the numbers in full", () => {
    const small = figureState("embed", { positions: 3, dim: 4 });
    const lines = toCsv(embed.table(small)).trim().split("\n").map((line) => line.split(","));
    expect(lines[0]).toEqual(["position", "d0", "d1", "d2", "d3"]);
    expect(lines.slice(1).map((line) => line.map(Number))).toEqual([0, 1, 2].map((t) =>
      [t, ...[0, 1, 2, 3].map((c) => Math.fround(paper(t, c, 4)))]));
    expect(JSON.parse(toJson(embed, small))).toMatchObject({ figure: "embed", attributes: { positions: 3, dim: 4 } });
    const npy = Buffer.from(toNpyBytes(embed.array!(small)));
    expect(npy.subarray(1, 6).toString()).toBe("NUMPY");
    const head = npy.readUInt16LE(8);
    expect((10 + head) % 64).toBe(0);
    expect(npy.subarray(10, 10 + head).toString()).toContain("'<f4', 'fortran_order': False, 'shape': (3, 4)");
    expect(npy.readFloatLE(10 + head + 4 * 4)).toBe(Math.fround(Math.sin(1)));
  });

  it("gives the code that makes the same numbers", async () => {
    const code = embed.code!(figureState("embed", { positions: 12, dim: 6, base: 100, layout: "half" }));
    expect(code.javascript).toContain('encode(sinusoidal({ dim: 6, base: 100, layout: "half" }), 12)');
    expect(await code.numpy!()).toContain("table[:, 3:] = np.cos(positions * omega)");
  });

  it("renders without a document", () => {
    const svg = renderSVG("embed", { positions: 96, dim: 64 });
    expect(svg).toMatch(/^<svg [^>]*viewBox="0 0 800 \d+" role="img"/);
    expect(svg).toContain("Sinusoidal encoding, 96 positions");
    expect(renderSVG("posenc-embed", { view: "waves" }, { theme: "dark", width: 320 })).toContain('fill="#171614"');
    expect(() => renderSVG("embd")).toThrow("There is no figure \u201cembd\u201d; there are embed");
    const dumb = Object.create(null) as never;
    expect(() => renderSVG(dumb)).toThrow("A figure is named by one of");
    expect(() => renderSVG("embed", { dim: dumb })).toThrow("dim must be a text, a number, true or false, got an object");
    expect(() => renderSVG("embed", {}, { width: dumb })).toThrow("width must be from 200 to 4000, got an object");
    expect(() => renderSVG("embd")).toThrow("Did you mean \u201cembed\u201d?");
  });

  it.each([
    ["nothing at all", [], "unknown-choice figure", "A figure is named by one of embed, "],
    ["another name", ["embd"], "unknown-choice figure", "There is no figure \u201cembd\u201d; there are embed, "],
    ["no attributes", ["embed", null], "not-a-number The attributes of a figure", "must be an object, got null."],
    ["a list", ["embed", []], "not-a-number The attributes of a figure", "an object, got an array of length 0."],
    ["text", ["embed", "dim=8"], "not-a-number The attributes of a figure", 'must be an object, got "dim=8".'],
    ["no options", ["embed", {}, null], "not-a-number The options of a picture", "must be an object, got null."],
    ["an odd option", ["embed", {}, { widht: 9 }], "unknown-option widht", "known; did you mean \u201cwidth\u201d?"],
    ["an option of renderPNG", ["embed", {}, { scale: 2 }], "unknown-option scale", "there are width, theme, data."],
    ["another theme", ["embed", {}, { theme: "sepia" }], "unknown-choice theme", 'light or dark, got "sepia".'],
    ["a width in words", ["embed", {}, { width: "400" }], "not-a-number width", 'from 200 to 4000, got "400".'],
    ["a flag for a number", ["embed", { dim: true }], "not-a-number dim", "dim must be a whole number"],
    ["a flag, and says so", ["embed", { dim: true }], "not-a-number dim", ", got true."],
    ["a symbol", ["embed", { dim: Symbol("x") }], "not-a-number dim", ", got a symbol."],
    ["a function", ["embed", { positions: () => 1 }], "not-a-number positions", ", got a function."],
    ["a wide picture", ["embed", {}, { width: 4001 }], "out-of-range width", "must be from 200 to 4000, got 4001."],
  ] as const)("refuses %s in a sentence", (_, given, what, sentence) => {
    const error = refusedBy(() => (renderSVG as (...all: readonly unknown[]) => string)(...given));
    expect(`${error.code} ${error.argument}`).toBe(what);
    expect(error.message).toContain(sentence);
    expect(error).toBeInstanceOf(error.code === "out-of-range" ? RangeError : TypeError);
  });
});

describe("attributes", () => {
  it("take defaults where nothing is given, and the cursor stays inside", () => {
    const values = completeValues(embed, () => undefined);
    expect(values).toMatchObject({ view: "heatmap", scheme: "sinusoidal", positions: 96, dim: 64 });
    const state = stateOf(embed, { ...values, position: 1e9, dimension: -4 }, embed.compute(values, undefined));
    expect([state.row, state.column]).toEqual([95, 0]);
  });
  it.each([
    [{ positions: "abc" }, "positions must be a whole number from 1 to 8192, got \u201cabc\u201d."],
    [{ positions: "" }, "positions must be a whole number"],
    [{ positions: 2.5 }, "positions must be a whole number"],
    [{ view: "pie" }, "view must be one of heatmap, waves, circle, got \u201cpie\u201d."],
    [{ scheme: "sinusoid" }, "sinusoid"],
    [{ dim: 0 }, "dim must be"],
    [{ start: 2 ** 54 }, "start must be a number from -9007199254740992 to 9007199254740992, got 18014398509481984."],
    [{ waves: "0 99 x" }, "waves must be dimensions such as \u201c0 4 8 12\u201d, got \u201cx\u201d."],
    [{ waves: "0 99", view: "waves" }, "waves must be dimensions from 0 to 63, got \u201c99\u201d."],
    [{ waves: "0 1 2 3 4 5 6 7 8 9 10 11 12" }, "waves must be at most 12 dimensions."],
    [{ position: "x" }, "position must be"],
    [{ positons: 8 }, "posenc-embed \u201cpositons\u201d is not known; did you mean \u201cpositions\u201d?"],
    [{ rotaryDim: 8 }, "\u201crotaryDim\u201d is not known; there are scheme, positions,"],
  ])("%j are refused in a sentence", (attributes, sentence) => {
    expect(() => figureState("embed", attributes)).toThrow(sentence);
  });

  it("may start at the last position there is", () => {
    const { values, model } = figureState("embed", { start: 2 ** 53 - 8, positions: 8, dim: 4 });
    expect(values.start).toBe(2 ** 53 - 8);
    expect(model).toMatchObject({ start: 2 ** 53 - 8, rows: 8 });
  });

  it("say true and false as HTML does, and nothing else", () => {
    const causal = (given: unknown): unknown => figureState("bias", { causal: given }).values.causal;
    for (const yes of [true, "", "true", "causal"]) expect(causal(yes)).toBe(true);
    for (const no of [false, "false", null, undefined]) expect(causal(no)).toBe(false);
    for (const odd of ["maybe", "no", "0", 1]) expect(() => causal(odd)).toThrow("causal must be true or false, got");
  });
});
