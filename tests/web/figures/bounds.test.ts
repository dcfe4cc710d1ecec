// A value beyond its bounds is refused in a sentence that names the attribute and the bounds there are, and a value
// within them is drawn.
import { beforeAll, describe, expect, it } from "vitest";
import { ready } from "../../../web/src/index.js";
import { nearest } from "../../../web/src/error.js";
import { allFields, checkValue, completeValues, range } from "../../../web/figures/figure.js";
import { figures } from "../../../web/figures/index.js";
import { requireKnown, sentenceOf } from "../../../web/figures/refusal.js";
import { figureState } from "../../../web/figures/render.js";

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
