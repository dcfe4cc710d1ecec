// <posenc-config> against the rules written down again: Llama 3's ramp, linear scaling, ALiBi's slopes, T5's buckets.
import { beforeAll, describe, expect, it } from "vitest";
import { ready } from "../../../web/src/index.js";
import * as configPart from "../../../web/src/config.js";
import * as posenc from "../../../web/src/index.js";
import { config } from "../../../web/figures/config.js";
import { jsonFault } from "../../../web/figures/json-fault.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { overlaps, record, textsOf } from "./drawn.js";

beforeAll(() => ready());

const gemma3 = {
  model_type: "gemma3_text",
  hidden_size: 2560,
  num_hidden_layers: 12,
  num_attention_heads: 8,
  num_key_value_heads: 4,
  head_dim: 16,
  sliding_window: 1024,
  rope_theta: 1e6,
  rope_local_base_freq: 1e4,
  rope_scaling: { rope_type: "linear", factor: 8 },
  max_position_embeddings: 131072,
};
const t5 = { model_type: "t5", d_model: 512, d_kv: 64, num_heads: 8, num_layers: 6 };
const bloom = { model_type: "bloom", hidden_size: 64, n_head: 4, n_layer: 2 };
const bert = {
  model_type: "bert",
  hidden_size: 768,
  num_attention_heads: 12,
  num_hidden_layers: 12,
  max_position_embeddings: 512,
};

const stateOf = (given: object, attributes: Record<string, unknown> = {}) =>
  figureState("config", { config: JSON.stringify(given), ...attributes });
const rowsOf = (state: ReturnType<typeof stateOf>): (string | number)[][] => {
  const table = config.table(state);
  return Array.from({ length: table.rows }, (_, r) => table.header.map((_, c) => table.cell(r, c)));
};
const readings = (state: ReturnType<typeof stateOf>): Record<string, string> =>
  Object.fromEntries(config.readout(state).map(({ label, value }) => [label, value]));

describe("pairs", () => {
  it("shows what Llama 3.1's rule keeps, ramps and scales", () => {
    const state = figureState("config", {});
    const rows = rowsOf(state);
    expect(rows).toHaveLength(64);
    const total = { kept: 0, ramped: 0, scaled: 0 };
    rows.forEach(([pair, wavelength, plain, speed, band], i) => {
      const before = 2 * Math.PI * 500000 ** (i / 64);
      const turns = 8192 / before;
      const keep = Math.max(0, Math.min(1, (turns - 1) / (4 - 1)));
      const ratio = keep + (1 - keep) / 8;
      expect(pair).toBe(i);
      expect(Number(plain) / before).toBeCloseTo(1, 9);
      expect(Number(speed)).toBeCloseTo(ratio, 9);
      expect((Number(wavelength) * ratio) / before).toBeCloseTo(1, 9);
      const own = keep === 1 ? "kept" : keep === 0 ? "scaled" : "ramped";
      expect(band).toBe(own);
      total[own]++;
    });
    const words = textsOf(record(config, state)).map((text) => text.words);
    for (const [band, pairs] of Object.entries(total)) expect(words).toContain(`${pairs} ${band}`);
    expect(words).toContain("trained 8192");
    expect(words).toContain("reached 131\u202f072");
    // The cursor starts at the first pair of the ramp.
    expect(readings(state).pair).toBe(String(total.kept));
    expect([...config.array!(state).data]).toEqual(rows.map((row) => row[1]));
  });

  it("draws a mark a pair, where the log of its wavelength lies", () => {
    const back = record(config, figureState("config", {}));
    // Dots and rings by their middles, squares by a corner.
    const dots = back.operations.flatMap((op) => {
      const round = /^disc ([\d.]+),([\d.]+) r 2\.4 (?:fill=paper stroke|fill)=(\w+)/.exec(op);
      const square = /^rect ([\d.]+),([\d.]+) 4\.8x4\.8 fill=(\w+)/.exec(op);
      const [match, half] = round ? [round, 0] : [square, 2.4];
      return match ? [{ x: Number(match[1]) + half, y: Number(match[2]) + half, ink: match[3] }] : [];
    });
    expect(dots).toHaveLength(64);
    expect(dots[0]!.ink).toBe("ink");
    expect(dots[63]!.ink).toBe("cool");
    const rows = rowsOf(figureState("config", {}));
    const slope = (a: number, b: number): number =>
      (dots[a]!.y - dots[b]!.y) / Math.log(Number(rows[b]![1]) / Number(rows[a]![1]));
    expect(slope(0, 20) / slope(40, 63)).toBeCloseTo(1, 1);
    expect(slope(0, 20) / slope(20, 63)).toBeCloseTo(1, 1);
    expect(back.cellAt(dots[33]!.x, dots[33]!.y)).toEqual({ column: 33 });
  });

  it("has a line for each kind of layer and reads the one under a point", () => {
    const state = stateOf(gemma3);
    expect(readings(state).in).toBe("full attention");
    const rows = rowsOf(state);
    rows.forEach(([, wavelength], i) => expect(Number(wavelength)).toBeCloseTo(2 * Math.PI * 8 * 1e6 ** (i / 8), 3));
    const local = rowsOf(stateOf(gemma3, { kind: 0 }));
    local.forEach(([, wavelength], i) => expect(Number(wavelength)).toBeCloseTo(2 * Math.PI * 1e4 ** (i / 8), 4));
    const back = record(config, state);
    const words = textsOf(back).map((text) => text.words);
    expect(words).toContain("sliding attention");
    const line = back.paths.filter((path) => path.length === 16)[0]!;
    expect(back.cellAt(line[6]!, line[7]! - 1)).toEqual({ row: 0, column: 3 });
  });

  it("asks rules of the length at the length", () => {
    const dynamic = {
      model_type: "llama",
      hidden_size: 64,
      num_attention_heads: 4,
      num_hidden_layers: 2,
      max_position_embeddings: 2048,
      rope_scaling: { type: "dynamic", factor: 2 },
    };
    const last = (length: number): number => Number(rowsOf(stateOf(dynamic, { length })).at(-1)![3]);
    expect(last(2048)).toBe(1);
    // base' / base = (factor length / trained - (factor - 1))^(d / (d - 2)), to the power -(d - 2) / d.
    expect(last(8192)).toBeCloseTo(1 / 7, 12);
    const field = config.fields({ config: JSON.stringify(dynamic) }).find(({ name }) => name === "length")!;
    expect(field.place).toBe("row");
    expect(config.fields({ config: JSON.stringify(bert) }).find(({ name }) => name === "length")!.place).toBe("none");
  });
});

describe("layers, distances, facts", () => {
  it("marks each layer in the row of its kind", () => {
    const state = stateOf(gemma3, { view: "layers", layer: 5 });
    const rows = rowsOf(state);
    expect(rows.map((row) => row[1])).toEqual(
      Array.from({ length: 12 }, (_, l) => (l % 6 === 5 ? "full attention" : "sliding attention")),
    );
    expect(rows.map((row) => row[2])).toEqual(Array.from({ length: 12 }, (_, l) => (l % 6 === 5 ? Number.NaN : 1024)));
    expect(readings(state)).toMatchObject({
      layer: "5",
      kind: "full attention",
      base: "1\u202f000\u202f000",
      sees: "all",
    });
    for (const width of [764, 300]) {
      const back = record(config, state, width);
      const bars = back.operations.filter((op) => /^rect .*x17 fill=(cool|accent)/.test(op));
      expect(bars).toHaveLength(12);
      expect(bars.filter((op) => op.includes("accent"))).toHaveLength(1);
    }
  });

  it("draws ALiBi's penalties and T5's buckets over the distance", () => {
    const alibi = rowsOf(stateOf(bloom));
    expect(alibi).toHaveLength(129);
    alibi.forEach(([offset, ...heads], t) => {
      expect(offset).toBe(t - 128);
      heads.forEach((value, h) => expect(Number(value)).toBeCloseTo(2 ** (-2 * (h + 1)) * (t - 128), 6));
    });
    const buckets = new Map(rowsOf(stateOf(t5)).map(([offset, bucket]) => [offset, bucket]));
    // Eight exact ones a side, keys after the query from 16 on; the last from 91.
    expect([0, -1, -7, 1, 7].map((offset) => buckets.get(offset))).toEqual([0, 1, 7, 17, 23]);
    expect([-8, -11, -12, -90, -91, -128, 128].map((o) => buckets.get(o))).toEqual([8, 8, 9, 14, 15, 15, 31]);
    expect(readings(stateOf(t5, { offset: -12 }))).toEqual({
      "key \u2212 query": "\u221212",
      "row of the learned table": "9",
    });
  });

  it("has facts and notes where there is nothing to plot, and for every part of a model", () => {
    const words = textsOf(record(config, stateOf(bert))).map((text) => text.words);
    expect(words).toContain("learned({length: 512, dim: 768})");
    expect(words.some((text) => text.startsWith("A learned table, seeded here"))).toBe(true);
    expect(config.cells!(stateOf(bert))).toEqual({});
    expect(rowsOf(stateOf(bert))[0]).toEqual(["embed", "learned({length: 512, dim: 768})"]);
    const parts = textsOf(record(config, stateOf(t5))).map((text) => text.words);
    expect(parts).toContain("encoder bias");
    expect(parts).toContain("decoder bias");
  });

  it("shows the first view there is where the one asked for is not there", () => {
    expect(config.table(stateOf(bloom, { view: "layers" })).header).toHaveLength(5);
    expect(config.tabs!(stateOf(gemma3).values, stateOf(gemma3).model)!.choices.map(({ value }) => value)).toEqual([
      "pairs",
      "layers",
    ]);
  });

  it.each([764, 300, 240])("lays no words on others, %d pixels wide", (width) => {
    for (const given of [gemma3, t5, bloom, bert]) {
      for (const view of ["pairs", "layers"]) {
        expect(overlaps(record(config, stateOf(given, { view }), width))).toEqual([]);
      }
    }
    expect(overlaps(record(config, figureState("config", {}), width))).toEqual([]);
  });
});

describe("jsonFault", () => {
  it.each([
    ["", "line 1, column 1: a value was expected, got its end"],
    ['{"a": 1,}', "line 1, column 9: a key in double quotes was expected, got }"],
    ['{"a" 1}', "line 1, column 6: a colon was expected, got 1"],
    ["{'a': 1}", "line 1, column 2: a key in double quotes was expected, got '"],
    ['{"a": 1 "b": 2}', 'line 1, column 9: a comma or } was expected, got "b"'],
    ["[1, 2\n", "line 2, column 1: a comma or ] was expected, got its end"],
    ["[1, 2}", "line 1, column 6: a comma or ] was expected, got }"],
    ['{"a": [1}', "line 1, column 9: a comma or ] was expected, got }"],
    ["[1] 2", "line 1, column 5: nothing more was expected, got 2"],
    ["{\n  // rope\n}", "line 2, column 3: a key in double quotes was expected, got /"],
    ['{"a": NaN}', "line 1, column 7: a value was expected, got NaN"],
    ['{"a": 01}', "line 1, column 7: a value was expected, got 01"],
    ['{"a": "b\n"}', 'line 1, column 7: a value was expected, got "b'],
    ["[,]", "line 1, column 2: a value was expected, got ,"],
    ["}", "line 1, column 1: a value was expected, got }"],
  ])("says where %j stops", (words, sentence) => {
    expect(() => JSON.parse(words)).toThrow();
    expect(jsonFault(words)).toBe(sentence);
  });

  it("agrees with the engine on what is JSON, with any piece left out", () => {
    const words = '{"a": [1, -2.5e3, true, null, {}, []], "b\\u0041\\n": {"c": "\\"x", "d": []}}';
    const given = [words, ` ${words}\n`, "3", '"x"', "[[[]]]"];
    for (let i = 0; i < words.length; i++) {
      for (let size = 1; size < 4; size++) given.push(words.slice(0, i) + words.slice(i + size));
    }
    for (const each of given) {
      let valid = true;
      try {
        JSON.parse(each);
      } catch {
        valid = false;
      }
      expect([each, jsonFault(each) === undefined]).toEqual([each, valid]);
    }
  });
});

it("has an array where there are numbers, and none where a model adds a learned table alone", () => {
  const of = (model: object): boolean => {
    const state = figureState("config", { config: JSON.stringify(model) });
    const there = config.hasArray!(state);
    expect(config.array!(state).data.length > 0).toBe(there);
    return there;
  };
  expect(of({ model_type: "gpt2", n_embd: 64, n_head: 4, n_layer: 2, n_positions: 1024 })).toBe(false);
  expect(of({ model_type: "bloom", hidden_size: 64, n_head: 4, n_layer: 2 })).toBe(true);
  expect(of({ model_type: "llama", hidden_size: 64, num_attention_heads: 4, num_hidden_layers: 2 })).toBe(true);
});

describe("what it takes", () => {
  it("says what is wrong, and names the key", () => {
    const refused = (words: string): unknown => figureState("config", { config: words });
    expect(() => refused("  ")).toThrow("there is no config");
    expect(() => refused('{\n  "model_type": "llama",\n  oops\n}')).toThrow(
      "the text is not JSON: line 3, column 3: a key in double quotes was expected, got oops",
    );
    expect(() => refused("[1, 2]")).toThrow("a config.json is an object");
    expect(() => refused('{"model_type": "llama", "hidden_size": 64}')).toThrow("num_attention_heads");
    expect(() => refused('{"model_type": "lamda"}')).toThrow("lamda");
    const wrong = { ...gemma3, rope_scaling: { rope_type: "linear", factor: 0.5 } };
    expect(() => stateOf(wrong)).toThrow("rope_scaling.factor");
  });

  it("takes a file, and refuses one before the figure changes", async () => {
    const file = (words: string): File => new File([words], "config.json");
    const words = JSON.stringify(bert);
    expect(await config.files!.read(file(words))).toEqual({ values: { config: words }, data: undefined });
    await expect(config.files!.read(file("{"))).rejects.toThrow("the text is not JSON");
    await expect(config.files!.read(file('{"model_type": "bert"}'))).rejects.toThrow(
      "max_position_embeddings is missing",
    );
    await expect(config.files!.read(file(" ".repeat(2_000_001)))).rejects.toThrow("no larger than");
  });

  it("takes a parsed config as data, before the text", () => {
    const state = figureState("config", {}, bloom);
    expect(config.title(state)).toContain("\u201cbloom\u201d");
    expect(config.code!(state).javascript).toContain('"n_head": 4');
  });

  it("gives programs that make the same numbers", async () => {
    for (const state of [figureState("config", {}), stateOf(gemma3), stateOf(gemma3, { kind: 0 })]) {
      const body = config.code!(state).javascript.replace(/import \{ (.*) \} from .*;/g, "");
      const names = ["frequencies", "fromConfig"] as const;
      const run = new Function(...names, `${body}\nreturn [...wavelength];`) as (...given: unknown[]) => number[];
      expect(run(posenc.frequencies, configPart.fromConfig)).toEqual([...config.array!(state).data]);
    }
    // Of lines over the distance: a bias's numbers, the rows of a table.
    for (const state of [stateOf(bloom), stateOf(t5)]) {
      const body = config.code!(state).javascript.replace(/import \{ (.*) \} from .*;/g, "");
      const run = new Function("bias", "relativeIndex", "fromConfig", `${body}\nreturn [...lines.data];`) as (
        ...given: unknown[]
      ) => number[];
      const made = run(posenc.bias, posenc.relativeIndex, configPart.fromConfig);
      expect(made).toEqual([...config.array!(state).data]);
    }
    expect(await config.code!(figureState("config", {})).numpy!()).toContain("turns = 8192 * omega / (2 * np.pi)");
    expect(await config.code!(stateOf(gemma3)).numpy!()).toContain("omega = 1000000 ** (-np.arange(0, 16, 2) / 16)\nomega = omega / 8");
    expect(config.code!(stateOf(t5)).numpy).toBeUndefined();
    expect(config.summary(figureState("config", {}))).toContain("29 are kept, 6 are ramped, 29 are scaled");
  });

  it("renders without a document", () => {
    expect(renderSVG("config", {}, { theme: "dark", width: 320 })).toContain("29 kept");
  });
});
