// A reader keeps a view and picks another scheme, which may not have it: what is drawn is one of the tabs.
import { beforeAll, expect, it } from "vitest";
import { ready } from "../../../web/src/index.js";
import { allFields, type Figure, type State } from "../../../web/figures/figure.js";
import { figures } from "../../../web/figures/index.js";
import { figureState } from "../../../web/figures/render.js";
import { record } from "./drawn.js";

beforeAll(() => ready());

const viewsOf = (figure: Figure, state: State<unknown>): string[] => {
  const field = figure.tabs?.(state.values, state.model);
  return field?.name === "view" ? field.choices.map(({ value }) => value) : [];
};

// What a figure says and draws of a scheme, if it has such a view.
const shown = (figure: Figure, attributes: Record<string, string>): State<unknown> | undefined => {
  try {
    return figureState(figure.name, attributes);
  } catch {
    return undefined;
  }
};

it.each(figures.filter(({ attributes }) => "view" in attributes).map((figure) => [figure.name, figure] as const))(
  "draws one of the views it offers, whichever is asked for: %s",
  (_, figure) => {
    const scheme = allFields(figure, figureState(figure.name).values).find(({ name }) => name === "scheme");
    const schemes = scheme?.kind === "choice" ? scheme.choices.map(({ value }) => ({ scheme: value })) : [{}];
    const plain = schemes.flatMap((attributes) => shown(figure, attributes) ?? []);
    const known = new Set(plain.flatMap((state) => viewsOf(figure, state)));
    expect(known.size).toBeGreaterThan(0);
    for (const attributes of schemes) {
      const first = shown(figure, attributes);
      for (const view of known) {
        const state = shown(figure, { ...attributes, view });
        if (!state || !first) continue;
        const offered = viewsOf(figure, state);
        expect(offered).toContain(state.view);
        if (offered.includes(view)) continue;
        expect(record(figure, state).operations).toEqual(record(figure, first).operations);
        const controls = (of: State<unknown>): string[] =>
          allFields(figure, of.values).map(({ name, place }) => `${name} ${place ?? "row"}`);
        expect(controls(state), `${JSON.stringify(attributes)} ${view}`).toEqual(controls(first));
        expect(Object.keys(state.values).sort()).toEqual(Object.keys(first.values).sort());
        for (const words of [figure.title, figure.caption, figure.summary]) expect(words(state)).toBe(words(first));
      }
    }
  },
);
