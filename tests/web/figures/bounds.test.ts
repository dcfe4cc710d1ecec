// A value beyond its bounds is refused in a sentence that names the attribute and the bounds there are, and a value
// within them is drawn.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { ready } from "../../../web/src/index.js";
import { nearest } from "../../../web/src/error.js";
import { allFields, checkValue, completeValues, range } from "../../../web/figures/figure.js";
import { figures } from "../../../web/figures/index.js";
import { requireKnown, sentenceOf } from "../../../web/figures/refusal.js";
import { figureState } from "../../../web/figures/render.js";
import { refusedBy } from "./drawn.js";

beforeAll(() => ready());

const two53 = 2 ** 53;
const said = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  return "";
};

describe("a number", () => {
  it.each([
    [{}, "size must be a number from 2 to 9, got 10."],
    [{ least: 0 }, "size must be a number from 0 to 9, got 10."],
    [{ least: null }, "size must be a number up to 9, got 10."],
    [{ most: 9.5, integer: true }, "size must be a whole number from 2 to 9.5, got 10."],
    [{ least: 11, most: null }, "size must be a number from 11 on, got 10."],
  ])("of bounds %o names those that there are", (bounds, sentence) => {
    expect(said(() => checkValue(range("size", "size", 3, 2, 9, bounds), 10))).toBe(sentence);
  });

  it("of no bounds names none", () => {
    const free = range("size", "size", 3, 2, 9, { least: null, most: null });
    expect(checkValue(free, -1e9)).toBe(-1e9);
    expect(said(() => checkValue(free, "x"))).toBe("size must be a number, got \u201cx\u201d.");
  });

  it.each(figures.map((figure) => [figure.name, figure] as const))("of posenc-%s names its bounds", (_, figure) => {
    const tabs = figure.tabs?.({}, undefined);
    const views = tabs ? tabs.choices.map(({ value }) => ({ [tabs.name]: value })) : [{}];
    for (const view of views as Record<string, string>[]) {
      for (const field of allFields(figure, completeValues(figure, (name) => view[name]))) {
        if (field.kind !== "range") continue;
        const least = field.least === null ? undefined : (field.least ?? field.min);
        const most = field.most === null ? undefined : (field.most ?? field.max);
        const sentence = said(() => checkValue(field, "nothing"));
        expect(sentence.startsWith(`${field.name} must be a `)).toBe(true);
        for (const end of [least, most]) if (end !== undefined) expect(sentence).toContain(` ${end}`);
      }
    }
  });
});

// Where a sentence of the figure says more than which value was expected.
const far = Array.from({ length: 513 }, (_, t) => `w${t}`).join(" ");
const kRefused: readonly [figure: string, attributes: Record<string, unknown>, what: string, data?: unknown][] = [
  ["addition", { sentence: " " }, 'out-of-range sentence " "'],
  ["attention", { sentence: "" }, 'out-of-range sentence ""'],
  ["permutation", { sentence: "" }, 'out-of-range sentence ""'],
  ["permutation", { order: "man bites cat" }, 'out-of-range order "man bites cat"'],
  ["attention", { sentence: far, scheme: "swin" }, "too-large sentence 513"],
  ["attention", { sentence: "a ".repeat(2048), heads: 32 }, `too-large sentence ${32 * 2048 ** 2}`],
  ["attention", { context: "men run", scheme: "cope" }, 'unsupported context "men run"'],
  ["rotate", { view: "layouts", scheme: "xpos" }, 'unsupported view "layouts"'],
  ["rotate", { q: "1 2 3" }, 'shape-mismatch q "1 2 3"'],
  ["rotate", { k: "1 2 3 4 5 6 7 x" }, 'not-a-number k "1 2 3 4 5 6 7 x"'],
  ["compare", { schemes: "rope roope" }, 'unknown-choice schemes "roope"'],
  ["compare", {}, "out-of-range data an array of length 0", []],
  ["embed", { waves: "0 99", view: "waves" }, 'out-of-range waves "99"'],
  ["embed", { waves: "0 x" }, 'not-integer waves "x"'],
  ["embed", { waves: "0 1 2 3 4 5 6 7 8 9 10 11 12" }, "too-large waves 13"],
  ["embed", { positions: 8192, dim: 4096 }, "too-large positions 8192"],
  ["embed", { start: two53 }, `out-of-range start ${two53}`],
  ["embed", { scheme: "sinusoidal2d", cells: "7" }, 'shape-mismatch cells "7"'],
  ["embed", { scheme: "sinusoidal2d", cells: "9999 9999" }, 'too-large cells "9999 9999"'],
  ["similarity", { compare: "sinusoidal2d", dim: 6 }, 'out-of-range compare "sinusoidal2d"'],
  ["similarity", {}, 'not-a-number data "rows"', "rows"],
  ["similarity", {}, "shape-mismatch data shape [2]", [1, 2]],
  ["bias", {}, "wrong-slot data the rotate scheme rope", { slot: "rotate", name: "rope", dim: 4 }],
  ["bias", {}, "out-of-range data an object", { slot: "bias", name: "alibi", heads: 0 }],
  ["projection", { view: "tsne", positions: 513 }, "too-large positions 513"],
  ["expansion", { view: "terms", positions: 256, dim: 64 }, "too-large positions 256"],
  ["grid", {}, "shape-mismatch data 7", [1, 2, 3, 4, 5, 6, 7].map((n) => [n, 1])],
  ["config", { config: " " }, 'invalid-file config " "'],
  ["config", { config: "{" }, 'invalid-file config "{"'],
  ["config", { config: "[1]" }, 'invalid-file config "[1]"'],
  ["config", {}, "not-a-number data 3", 3],
];

describe("what a figure refuses", () => {
  it.each(figures.map((figure) => [figure.name, figure] as const))("of posenc-%s is a PosencError", (name, figure) => {
    const tabs = figure.tabs?.({}, undefined);
    const views = tabs ? tabs.choices.map(({ value }) => ({ [tabs.name]: value })) : [{}];
    for (const view of views as Record<string, string>[]) {
      const cells = figure.cells?.(figureState(name, view));
      for (const field of allFields(figure, completeValues(figure, (key) => view[key]))) {
        if (field.kind === "text") continue;
        const kind = field.kind === "range" ? "not-a-number" : "unknown-choice";
        const bad: [string | number, string][] = [["no such thing", kind]];
        if (field.kind === "range") {
          // The cursor is brought to a cell.
          const isCursor = field.name === cells?.row?.name || field.name === cells?.column?.name;
          if (field.integer && !isCursor) bad.push([(field.least ?? field.min) + 0.5, "not-integer"]);
          const most = field.most ?? field.max;
          if (field.most !== null) bad.push([2 * Math.abs(most) + 2, "out-of-range"]);
        }
        for (const [given, code] of bad) {
          const error = refusedBy(() => figureState(name, { ...view, [field.name]: given }));
          const shown = typeof given === "string" ? `"${given}"` : String(given);
          expect(error, field.name).toMatchObject({ name: "PosencError", code, argument: field.name, given: shown });
          expect(error.message).toContain(`${field.name} must be ${error.allowed}, got `);
        }
      }
    }
  });

  const cases = kRefused.map(([name, attributes, what, data]) => [name, what, attributes, data] as const);
  it.each(cases)("of posenc-%s is a PosencError: %s", (name, what, attributes, data) => {
    const { code, argument, given, allowed, message } = refusedBy(() => figureState(name, attributes, data));
    expect(`${code} ${argument} ${given}`).toBe(what);
    expect([allowed, message]).not.toContain("");
  });

  it("is thrown in one way: other errors are of what is broken, not of what is given", () => {
    const folder = join(import.meta.dirname, "../../../web/figures");
    const sources = readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"));
    const made = /new (?:Range|Type)?Error\(\s*(.*)/g;
    const thrown = sources.flatMap((text) => [...text.matchAll(made)].map((at) => at[1]));
    const broken = [/faultText/, /own file could not be loaded/, /has a property/, /gives no drawing context/];
    expect(thrown.filter((words) => !broken.some((known) => known.test(words!)))).toEqual([]);
    expect(thrown).toHaveLength(broken.length);
  });
});

describe("the ends", () => {
  it.each([
    ["decay", "base", 1e-12, 1e12, { law: "base^-t" }],
    ["decay", "base", 1e-12, 1e12, { law: "base^-t", view: "long" }],
    ["decay", "alpha", 1e-6, 1e6, { law: "t^alpha" }],
    ["decay", "alpha", 1e-6, 1e6, { law: "t^alpha", view: "long" }],
    ["decay", "dim", 2, 65536, {}],
  ])("of posenc-%s %s, %d and %d, are drawn, others are told of the attribute", (name, field, low, high, rest) => {
    for (const value of [low, high]) expect(said(() => figureState(name, { ...rest, [field]: value }))).toBe("");
    for (const value of [low - Math.abs(low), 2 * high, -1e300, 1e300]) {
      const sentence = said(() => figureState(name, { ...rest, [field]: value }));
      expect(sentence).toContain(`${field} must be a `);
      expect(sentence).toContain(` from ${low} to ${high}, got ${value}.`);
      expect(sentence.startsWith(field)).toBe(true);
    }
  });
});

// Every figure under every scheme that it offers.
const offered = figures.flatMap((figure) => {
  const tabs = figure.tabs?.({}, undefined);
  const views = tabs ? tabs.choices.map(({ value }) => ({ [tabs.name]: value })) : [{}];
  return (views as Record<string, string>[]).flatMap((view) => {
    const fields = allFields(figure, completeValues(figure, (name) => view[name]));
    const scheme = fields.find(({ name }) => name === "scheme");
    const schemes = scheme?.kind === "choice" ? scheme.choices.map(({ value }) => value) : [undefined];
    return schemes.map((value) => ({ figure, given: { ...view, ...(value === undefined ? {} : { scheme: value }) } }));
  });
});

describe("sliders", () => {
  it("at their least draw every figure under every scheme", () => {
    expect(offered.length).toBeGreaterThan(100);
    const wrong = offered.flatMap(({ figure, given }) => {
      const fields = allFields(figure, completeValues(figure, (name) => (given as Record<string, string>)[name]));
      const ends = fields.flatMap((field) =>
        field.kind === "range" && field.place !== "none" ? [[field.name, field.min] as const] : [],
      );
      const sentence = said(() => figureState(figure.name, { ...Object.fromEntries(ends), ...given }));
      return sentence === "" ? [] : [`${figure.name} ${JSON.stringify(given)}: ${sentence}`];
    });
    expect(wrong).toEqual([]);
  });

  it.each([
    ["bias", "head", 6, { heads: 8 }, { heads: 4 }, 4],
    ["relate", "head", 6, { scheme: "deberta", heads: 8 }, { scheme: "deberta", heads: 4 }, 4],
    ["attention", "head", 6, { heads: 8 }, { heads: 4 }, 4],
    ["permutation", "head", 16, { heads: 16 }, { heads: 2 }, 2],
    ["precision", "pair", 31, { view: "waves", dim: 64 }, { view: "waves", dim: 8 }, 3],
    ["grid", "dimension", 31, { view: "dimensions", dim: 64 }, { view: "dimensions", dim: 16 }, 15],
    ["attention", "headWidth", 4, { scheme: "alibi" }, { scheme: "mrope" }, 6],
    ["attention", "headWidth", 4, { compare: "nothing" }, { compare: "mrope" }, 6],
    ["permutation", "headWidth", 2, { scheme: "none" }, { scheme: "mrope" }, 6],
  ])("of posenc-%s: a %s of %d beside %o is refused beside %o, and follows to %d", (name, field, value, fit, moved, end) => {
    const figure = figures.find((one) => one.name === name)!;
    const given = (rest: object) => (key: string) => ({ [field]: value, ...rest } as Record<string, unknown>)[key];
    expect(said(() => figureState(name, { [field]: value, ...fit }))).toBe("");
    const refused = refusedBy(() => figureState(name, { [field]: value, ...moved }));
    expect(refused).toMatchObject({ code: "out-of-range", argument: field, given: String(value) });
    expect(refused.message).toMatch(new RegExp(`^${field} must be a whole number from \\d+ to \\d+, got ${value}\\.$`));
    const values = completeValues(figure, given(moved), (key) => key === field);
    expect(values[field]).toBe(end);
    expect(said(() => figureState(name, values))).toBe("");
  });

  it("show no head that a scheme does not have", () => {
    for (const name of ["bias", "relate"]) {
      const refused = refusedBy(() => figureState(name, { head: 9, ...(name === "relate" ? {} : { heads: 8 }) }));
      expect(refused).toMatchObject({ code: "out-of-range", argument: "head", given: "9" });
    }
    const heads = { slot: "bias", name: "toeplitz", values: [[0, 1, 0], [1, 0, 1]] };
    expect(said(() => figureState("bias", { positions: 2, head: 2 }, heads))).toBe("");
  });
});

describe("where positions begin", () => {
  it.each([
    ["embed", "start", 96, {}],
    ["embed", "start", 1, { positions: 1 }],
    ["embed", "start", 8192, { positions: 8192, dim: 2 }],
    ["shift", "offset", 256, {}],
    ["shift", "offset", 4096, { positions: 4096, scheme: "rope", view: "matrix" }],
  ])("posenc-%s takes its %s as far as 2^53 lets %d positions follow", (name, field, positions, rest) => {
    const high = two53 - positions;
    for (const value of [-two53, high]) expect(said(() => figureState(name, { ...rest, [field]: value }))).toBe("");
    for (const value of [high + 1, two53]) {
      const sentence = `${field} must be at most ${high}, 2^53 - positions, got ${value}.`;
      expect(said(() => figureState(name, { ...rest, [field]: value }))).toBe(sentence);
    }
    for (const value of [-2 * two53, 2 * two53, 1e300]) {
      const sentence = `${field} must be a number from ${-two53} to ${two53}, got ${value}.`;
      expect(said(() => figureState(name, { ...rest, [field]: value }))).toBe(sentence);
    }
  });
});

it("a refusal ends as one sentence", () => {
  expect(sentenceOf(new Error("rope: dim must be even, got 7"))).toBe("rope: dim must be even, got 7.");
  expect(sentenceOf(new Error("Nothing is left."))).toBe("Nothing is left.");
  expect(sentenceOf("it is broken!")).toBe("it is broken!");
  const hint = said(() => requireKnown("The option", ["rop"], ["rope", "alibi"]));
  expect(nearest("rop", ["rope", "alibi"])).toBe("rope");
  expect(sentenceOf(new Error(hint))).toMatch(/did you mean \u201crope\u201d\?$/);
  const scheme = said(() => figureState("compare", { schemes: "roope" }));
  expect(sentenceOf(new Error(scheme))).toMatch(/\u201drope|\u201crope\u201d\?$/);
});
