// Schemes that came after the figures: another of each slot, and a relate scheme without a table of offsets.
import { beforeAll, describe, expect, it, vi } from "vitest";

const catalogue = vi.hoisted(() => ({ outlines: [] as readonly Outline[] }));

vi.mock("../../../web/src/outline.js", async (original) => ({
  ...(await original<typeof import("../../../web/src/outline.js")>()),
  outlineOf: (slot: string, name: string) => entryOf(catalogue.outlines, slot, name),
}));

vi.mock("../../../web/src/core.js", async (original) => {
  const real = await original<typeof import("../../../web/src/core.js")>();
  const copies = real.outlines.flatMap((scheme) => {
    const extra = {
      name: "mood",
      kind: "choice",
      sentence: "How it feels.",
      required: false,
      default: "calm",
      choices: ["calm", "keen"],
      allowed: "",
    } as const;
    return [
      scheme,
      { ...scheme, name: `${scheme.name}2`, title: `New ${scheme.title}`, params: [...scheme.params, extra] },
    ];
  });
  catalogue.outlines = copies;
  let tableless = false;
  return {
    ...real,
    outlines: copies,
    fromJSON: ({ mood: _, ...spec }: Parameters<typeof real.fromJSON>[0]) => {
      tableless = spec.name === "shaw2";
      return real.fromJSON({ ...spec, name: spec.name.replace(/(?<=.{2})2$/, "") } as typeof spec);
    },
    relativeIndex: (...given: Parameters<typeof real.relativeIndex>) =>
      tableless ? real.relativeIndex(real.alibi({ heads: 1 }) as BiasScheme, given[1]) : real.relativeIndex(...given),
  };
});

import { ready } from "../../../web/src/core.js";
import { entryOf } from "../../../web/src/outline.js";
import type { BiasScheme, Outline } from "../../../web/src/scheme.js";
import { bias } from "../../../web/figures/bias.js";
import { allFields } from "../../../web/figures/figure.js";
import { relate } from "../../../web/figures/relate.js";
import { figureState, renderSVG } from "../../../web/figures/render.js";
import { rotate } from "../../../web/figures/rotate.js";
import { record, textsOf } from "./drawn.js";

beforeAll(() => ready());

describe("a new scheme", () => {
  it.each([
    [bias, "alibi"],
    [rotate, "rope"],
    [relate, "shaw"],
  ] as const)("is offered with its controls ($name)", (figure, old) => {
    const { values } = figureState(figure.name, { scheme: `${old}2`, mood: "keen" });
    expect(values.mood).toBe("keen");
    const fields = allFields(figure, values);
    const chooser = fields.find(({ name }) => name === "scheme")!;
    expect(chooser.place).toBe("row");
    expect(chooser.kind === "choice" && chooser.choices.map(({ value }) => value)).toEqual(
      expect.arrayContaining([old, `${old}2`]),
    );
    expect(fields.find(({ name }) => name === "mood")).toMatchObject({ kind: "choice", value: "calm", place: "more" });
    expect(figureState(figure.name, { scheme: old }).values.mood).toBeUndefined();
    expect(figure.code!(figureState(figure.name, { scheme: `${old}2`, mood: "keen" })).javascript).toContain(
      'mood: "keen"',
    );
    expect(renderSVG(figure.name, { scheme: `${old}2` })).toContain("<svg");
  });

  it("without a table of offsets shows its terms", () => {
    const state = figureState("relate", { scheme: "shaw2" });
    expect(relate.tabs!(state.values, state.model)!.choices.map(({ value }) => value)).toEqual(["terms"]);
    expect(relate.title(state)).toContain("terms of the scores");
    expect(relate.readout(state).map(({ label }) => label)).toEqual([
      "query",
      "key",
      "key \u2212 query",
      "adds to the score",
    ]);
    expect(textsOf(record(relate, state)).map(({ words }) => words)).toContain("query 6");
    const old = figureState("relate", { scheme: "shaw" });
    expect(relate.tabs!(old.values, old.model)!.choices.map(({ value }) => value)).toEqual(["rows", "terms"]);
  });
});
