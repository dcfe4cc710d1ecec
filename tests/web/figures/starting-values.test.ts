// Whatever scheme a figure is given, its settings are that scheme's and start where that scheme's do, not where those
// of the figure's own first scheme would.
import { beforeAll, describe, expect, it } from "vitest";
import { ready } from "../../../web/src/index.js";
import { allFields, completeValues, type Figure, type Values } from "../../../web/figures/figure.js";
import { figures } from "../../../web/figures/index.js";

beforeAll(() => ready());

const startOf = (figure: Figure, given: Values): Values => completeValues(figure, (name) => given[name]);

const choicesOf = (figure: Figure, name: string): string[] => {
  const field = allFields(figure, startOf(figure, {})).find((one) => one.name === name);
  return field?.kind === "choice" ? field.choices.map(({ value }) => value) : [];
};

describe.each(figures.map((figure) => [figure.name, figure] as const))("%s", (_, figure) => {
  it("starts every setting where its field does", () => {
    const views = choicesOf(figure, "view");
    const schemes = choicesOf(figure, "scheme");
    for (const view of views.length > 0 ? views : [undefined]) {
      for (const scheme of schemes.length > 0 ? schemes : [undefined]) {
        let values: Values;
        try {
          values = startOf(figure, { view, scheme });
        } catch {
          // Of the schemes, a view may have some.
          continue;
        }
        const starts = Object.fromEntries(allFields(figure, values).map(({ name, value }) => [name, value]));
        const given = { ...(view && { view }), ...(scheme && { scheme }) };
        expect({ ...values }, `${view} of ${scheme}`).toEqual({ ...starts, ...given });
      }
    }
  });
});
