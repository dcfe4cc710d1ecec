// Which schemes a reader can pick in each figure: all of the slots that it shows, but for those named here with why,
// and those of other slots that are named here.
import { beforeAll, describe, expect, it } from "vitest";
import { outlines, ready } from "../../../web/src/index.js";
import type { Outline } from "../../../web/src/scheme.js";
import { allFields, type ChoiceField, type Values } from "../../../web/figures/figure.js";
import { figures } from "../../../web/figures/index.js";
import { figureState } from "../../../web/figures/render.js";
import { record } from "./drawn.js";

beforeAll(() => ready());

const slots = ["embed", "rotate", "bias", "relate"] as const;
const noPairs = "turns no pairs of columns";
const noWidth = "has a width of its own, which is not that of words";
const noMatrix = "is none of those whose positions one matrix moves: shiftMatrix() refuses it";
const mixed = "has pairs of two axes and styles, which frequencies() does not list";

const figuresOf: Readonly<
  Record<
    string,
    readonly [slots: readonly Outline["slot"][], cannot: Readonly<Record<string, string>>, also?: readonly string[]]
  >
> = {
  embed: [["embed"], {}],
  rotate: [["rotate"], { queryScale: noPairs }],
  bias: [["bias"], {}],
  // A bias whose offsets share the rows of a table, which the figure shows.
  relate: [["relate"], {}, ["t5"]],
  addition: [["embed"], { fourier: noWidth, sinusoidal2d: "has a multiple of four dimensions, the figure any pairs" }],
  spectrum: [["embed", "rotate"], { learned: noPairs, sinusoidal2d: mixed, queryScale: noPairs }],
  precision: [["embed", "rotate"], { learned: noPairs, sinusoidal2d: mixed, queryScale: noPairs }],
  shift: [
    ["embed", "rotate"],
    {
      learned: noPairs,
      queryScale: noPairs,
      sinusoidal2d: noMatrix,
      fourier: noMatrix,
      xpos: noMatrix,
      axialRope: noMatrix,
      mrope: noMatrix,
    },
  ],
  similarity: [["embed"], {}],
  projection: [["embed"], {}],
  grid: [
    ["embed", "rotate"],
    {
      learned: "is the reader's: a table from a file or as data",
      xpos: "is of one axis, with powers",
      queryScale: noPairs,
    },
  ],
  attention: [slots, { fourier: noWidth }],
  permutation: [slots, { fourier: noWidth }],
};

// Figures of one scheme, of all at once, or of none.
const withoutChooser: Readonly<Record<string, string>> = {
  decay: "laws of frequencies, typed or as data",
  expansion: "the sinusoidal scheme, whose pairs the theory is of; others as data",
  extrapolation: "one scheme of each kind beside the others, RoPE under each rule",
  config: "what a model's config says",
  compare: "a text of any names: every scheme is a row",
};

const chooserOf = (name: string, values: Values): ChoiceField | undefined =>
  allFields(figures.find((figure) => figure.name === name)!, values).find(
    (field): field is ChoiceField => field.name === "scheme" && field.kind === "choice",
  );

it("every figure is listed, with a chooser of schemes or without", () => {
  const all = [...Object.keys(figuresOf), ...Object.keys(withoutChooser)];
  expect(all.sort()).toEqual(figures.map(({ name }) => name).sort());
  for (const name of Object.keys(withoutChooser)) {
    expect(chooserOf(name, figureState(name).values), name).toBeUndefined();
  }
});

it("the figure of all schemes has them all", () => {
  const { model } = figureState("compare");
  const { rows } = model as { rows: readonly { slot: string; name: string; refusal?: string }[] };
  const named = rows.map(({ slot, name }) => `${slot} ${name}`);
  expect(named.sort()).toEqual(outlines.map(({ slot, name }) => `${slot} ${name}`).sort());
});

describe.each(Object.entries(figuresOf))("in posenc-%s", (name, [shown, cannot, also = []]) => {
  const figure = figures.find((one) => one.name === name)!;
  const own = outlines.filter((scheme) => shown.includes(scheme.slot) || also.includes(scheme.name));

  it("every scheme of its slots can be picked but for those named", () => {
    const offered = chooserOf(name, figureState(name).values)!.choices.map(({ value }) => value);
    expect(offered.filter((value) => value !== "none").sort()).toEqual(
      own.map((scheme) => scheme.name).filter((scheme) => !(scheme in cannot)).sort(),
    );
    for (const scheme of Object.keys(cannot)) {
      expect(own.map((one) => one.name)).toContain(scheme);
      expect(() => figureState(name, { scheme }), scheme).toThrow("scheme must be one of");
    }
  });

  it("each that is picked is drawn from the name alone, in every view that it has", () => {
    const few = shown === slots ? { sentence: "to be", heads: 2 } : {};
    for (const { name: scheme, title } of own.filter((one) => !(one.name in cannot))) {
      const first = figureState(name, { ...few, scheme });
      expect(figure.title(first).toLowerCase(), scheme).toContain(title.toLowerCase());
      const tabs = figure.tabs?.(first.values, first.model);
      for (const view of tabs?.name === "view" ? tabs.choices.map(({ value }) => value) : [undefined]) {
        const state = view === undefined ? first : figureState(name, { scheme, view });
        expect(record(figure, state).operations.length, `${scheme} ${view}`).toBeGreaterThan(3);
        expect(figure.readout(state).length, `${scheme} ${view}`).toBeGreaterThan(0);
      }
    }
  });
});
