// What figures offer they draw: every scheme of a chooser in every view, at every size of text that their controls
// reach; and what they leave out of a text they say.
import { beforeAll, describe, expect, it } from "vitest";
import { cope, ready, schemes, xpos } from "../../../web/src/index.js";
import { addition } from "../../../web/figures/addition.js";
import { attention } from "../../../web/figures/attention.js";
import { bias } from "../../../web/figures/bias.js";
import { book } from "../../../web/figures/format.js";
import { allFields, type Figure } from "../../../web/figures/figure.js";
import { permutation } from "../../../web/figures/permutation.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { rotate } from "../../../web/figures/rotate.js";
import { record, refusedBy, runCode } from "./drawn.js";

beforeAll(() => ready());

const choicesOf = (figure: Figure, name: string, attributes: Record<string, unknown>): string[] => {
  const { values } = figureState(figure.name, attributes);
  const field = allFields(figure, values).find((each) => each.name === name);
  return field?.kind === "choice" ? field.choices.map(({ value }) => value) : [];
};
const wordy = (tokens: number): string => Array.from({ length: tokens }, (_, t) => `w${t}`).join(" ");

describe("rotate", () => {
  it.each(["pairs", "scores", "layouts"])("draws in view %s all that it offers there", (view) => {
    const offered = choicesOf(rotate, "scheme", { view });
    expect(offered).toContain("rope");
    for (const scheme of offered) {
      const state = figureState("rotate", { view, scheme });
      expect(record(rotate, state).operations.length, scheme).toBeGreaterThan(0);
      const tabs = rotate.tabs!(state.values, state.model)!;
      expect(tabs.choices.map(({ value }) => value)).toContain(view);
    }
  });

  it("offers every scheme that turns pairs, and no other", () => {
    const turning = schemes.filter(({ slot, name }) => slot === "rotate" && name !== "queryScale");
    expect(choicesOf(rotate, "scheme", {})).toEqual(turning.map(({ name }) => name));
    expect(() => figureState("rotate", { scheme: "queryScale" })).toThrow("scheme must be one of rope, ");
  });

  it("says in a sentence which schemes have no layouts to mix up", () => {
    for (const scheme of ["axialRope", "xpos", "mrope"]) {
      for (const mix of ["table", "sides", "both"]) {
        const asked = (): unknown => figureState("rotate", { scheme, view: "layouts", mix });
        expect(asked, scheme).toThrow("its layouts cannot be mixed up here");
        // The figure's own refusal, of its own attribute, and none that the core made of an option.
        expect(refusedBy(asked)).toMatchObject({ subject: "", argument: "view", given: '"layouts"' });
      }
    }
    expect(() => figureState("rotate", { view: "layouts" }, xpos({ dim: 8 }))).toThrow("xPos takes no list");
  });
});

describe("every scheme of the catalogue", () => {
  const sizes: readonly [string, Record<string, unknown>][] = [
    ["one word", { sentence: "dog" }],
    ["padding", { padding: 3 }],
    ["a longer sentence", { sentence: wordy(30) }],
    ["a short sentence and a long second one", { context: wordy(10) }],
  ];
  it.each(sizes)("is drawn by attention with %s", (_, attributes) => {
    const small = { heads: 2, headWidth: 8, ...attributes };
    for (const scheme of choicesOf(attention, "scheme", {})) {
      if (scheme === "cope" && "context" in attributes) continue;
      for (const asked of [{ scheme }, { scheme: "none", compare: scheme }]) {
        const { data, shape } = attention.array!(figureState("attention", { ...small, ...asked }));
        expect(data.every((weight) => weight >= 0 && weight <= 1), scheme).toBe(true);
        expect(shape[0]).toBe(2);
      }
    }
  });

  it.each([1, 3, 30, 48])("is drawn by permutation with %i words", (tokens) => {
    for (const scheme of choicesOf(permutation, "scheme", {})) {
      const state = figureState("permutation", { scheme, sentence: wordy(tokens), heads: 2, headWidth: 8 });
      const { data, shape } = permutation.array!(state);
      expect(shape).toEqual([2, tokens, 8]);
      expect(data.every(Number.isFinite), scheme).toBe(true);
    }
  });

  it("reaches as far as its window can be made", () => {
    const text = { sentence: wordy(512), scheme: "swin", heads: 1, headWidth: 4 };
    expect(attention.array!(figureState("attention", text)).shape).toEqual([1, 512, 512]);
    const far = { ...text, sentence: wordy(513) };
    expect(() => figureState("attention", far)).toThrow("Swin relative bias reaches 512 tokens, and there are 513");
    expect(() => figureState("attention", { ...far, scheme: "none", compare: "swin" })).toThrow("reaches 512 tokens");
  });

  it("has a program of the same window", () => {
    const state = figureState("attention", { scheme: "swin", sentence: wordy(10), heads: 2, headWidth: 4 });
    const scheme = runCode(attention.code!(state).javascript, "scheme") as unknown as { toJSON(): object };
    expect(scheme.toJSON()).toMatchObject({ name: "swin", window: 10, heads: 2 });
    const narrow = { scheme: "swin", sentence: wordy(10), windowWidth: 2 };
    expect(attention.code!(figureState("attention", narrow)).javascript).toContain("windowWidth: 10");
  });
});

describe("a scheme that sees back only", () => {
  it("is causal in permutation, whatever the flag says", () => {
    for (const [attributes, data] of [
      [{ scheme: "cope" }, undefined],
      [{ scheme: "cope", causal: false }, undefined],
      [{}, cope({ dim: 16, maxPosition: 4 })],
    ] as const) {
      const state = figureState("permutation", attributes, data);
      expect(permutation.title(state)).toContain("CoPE, causal");
      expect(permutation.code!(state).javascript).toContain("causal: true");
    }
    const asked = permutation.array!(figureState("permutation", { scheme: "cope", causal: true })).data;
    expect([...permutation.array!(figureState("permutation", { scheme: "cope" })).data]).toEqual([...asked]);
  });

  it("does not go with a second sentence", () => {
    const context = "Le chat dort bien";
    const told = "CoPE counts the keys up to the query, so it does not go with a second sentence";
    expect(() => figureState("attention", { scheme: "cope", context })).toThrow(told);
    expect(() => figureState("attention", { compare: "cope", context })).toThrow(told);
    expect(() => figureState("attention", { context }, cope({ dim: 16, maxPosition: 4 }))).toThrow(told);
    expect(renderSVG("attention", { scheme: "shaw", context })).toContain("<svg");
  });
});

describe("a text too long", () => {
  const small = { scheme: "none", heads: 1, headWidth: 2 };
  const cases: readonly [Figure, number, number, Record<string, unknown>][] = [
    [attention, 2048, 2100, small],
    [addition, 256, 300, {}],
    [permutation, 48, 60, { heads: 1 }],
  ];
  it.each(cases)("is said to be cut ($name)", (figure, most, total, more) => {
    const captionOf = (sentence: string): string =>
      figure.caption(figureState(figure.name, { ...more, sentence }));
    const told = captionOf(wordy(total));
    expect(told).toContain(`Drawn are the first ${book(most)} of ${book(total)} tokens`);
    expect(captionOf(wordy(most))).not.toContain("Drawn are");
    expect(captionOf("a b")).not.toContain("Drawn are");
  });

  it("is said to be cut where its characters are too many", () => {
    const sentence = `${"x".repeat(3000)} ${"y".repeat(3000)} z`;
    expect(addition.caption(figureState("addition", { sentence }))).toContain(
      "Drawn are the 2 tokens of the first 4000 characters of the sentence.",
    );
  });

  it("is said of the second sentence too, and of words in another order", () => {
    const state = figureState("attention", { ...small, sentence: "a b", context: wordy(2100) });
    expect(attention.caption(state)).toContain("Drawn are the first 2048 of 2100 tokens of the second text.");
    const sentence = wordy(60);
    const order = sentence.split(" ").reverse().join(" ");
    expect(() => figureState("permutation", { sentence, order })).toThrow("Drawn are the first 48 of 60 tokens");
  });
});

describe("what is said of a figure as it is", () => {
  it("shows m and n of the terms where they are drawn", () => {
    const { values, model } = figureState("expansion", { view: "terms", positions: 2 });
    expect([values.m, values.n]).toEqual((model as { tokens: number[] }).tokens);
    expect(() => figureState("expansion", { view: "terms", m: 40 })).toThrow("m must be a whole number from 0 to 31");
    expect(figureState("expansion", { m: 40 }).values.m).toBe(31);
  });

  it("says how many of the pairs have a circle", () => {
    const title = (dim: number): string => rotate.title(figureState("rotate", { dim }));
    expect(title(96)).toBe("RoPE, query and key in 48 pairs");
    expect(title(512)).toBe("RoPE, query and key in 43\u00a0of\u00a0256 pairs");
    const { operations } = record(rotate, figureState("rotate", { dim: 512 }));
    const circles = operations.filter((line) => line.includes("stroke=faint"));
    expect(circles.length).toBe(43);
  });

  it("keeps hands within their circles, however long a scheme makes them", () => {
    for (const asked of [{ "scaling-type": "yarn", "scaling-factor": 32 }, { scheme: "xpos", m: 31, n: 31 }]) {
      const discs = record(rotate, figureState("rotate", { dim: 64, ...asked })).operations.flatMap((line) => {
        const [, x, y, r] = /^disc ([\d.]+),([\d.]+) r ([\d.]+)/.exec(line)?.map(Number) ?? [];
        return x === undefined ? [] : [{ x, y: y!, r: r!, circle: line.includes("faint") }];
      });
      const circles = discs.filter(({ circle }) => circle);
      const out = discs.filter(({ x, y }) => circles.every((c) => Math.hypot(c.x - x, c.y - y) > c.r + 0.2));
      // The legend's two tips.
      expect(out.filter(({ y }) => y > 12), JSON.stringify(asked)).toEqual([]);
    }
  });

  it("offers no choice among one head", () => {
    for (const name of ["attention", "permutation"]) {
      const place = (heads: number): unknown => {
        const figure = name === "attention" ? attention : permutation;
        return allFields(figure, figureState(name, { heads }).values).find((field) => field.name === "head")?.place;
      };
      expect([place(1), place(2)]).toEqual(["none", "row"]);
    }
  });

  it("speaks of small maps where there are some", () => {
    const summary = (heads: number): string => attention.summary(figureState("attention", { heads }));
    expect(summary(1)).not.toContain("mall maps");
    expect(summary(2)).toContain("\u201d. Small maps show all 2 heads.");
  });

  it("keeps the scale of all heads a choice where a grid has no profiles", () => {
    const place = (asked: Record<string, string>): unknown =>
      allFields(bias, figureState("bias", { view: "profiles", ...asked }).values).find((field) => field.name === "common")
        ?.place;
    expect([place({}), place({ scheme: "swin" })]).toEqual(["none", "more"]);
  });

  it("says of a straight bias on both sides that it costs what is far, of one of the past what is back", () => {
    const caption = (asked: Record<string, unknown>): string => bias.caption(figureState("bias", asked));
    expect(caption({})).toContain("Each token further away costs this head 0.5.");
    for (const asked of [{ causal: true }, { symmetric: false }]) {
      expect(caption(asked)).toContain("Each token further back costs this head 0.5.");
    }
  });

  it("says that no causal mask goes with a second sentence, and once that a cell is masked", () => {
    const caption = (asked: Record<string, unknown>): string => attention.caption(figureState("attention", asked));
    expect(caption({ context: "Le chat dort", causal: true })).toContain("there is no causal mask");
    const masked = figureState("attention", { compare: "rope", query: 0, key: 5 });
    expect(attention.readout(masked)[0]!.value).toBe("masked");
  });
});
