// Pictures of figures without a document: posenc/render.
import { attributeName, completeValues, stateOf, type State } from "./figure.js";
import { figures } from "./index.js";
import { pageSvg } from "./page.js";
import { makeTheme, type Theme } from "./theme.js";

export interface RenderOptions {
  /** Pixels of the drawing; the picture has a margin of 20 round it. 760 by default. */
  width?: number;
  theme?: "light" | "dark";
  /** What the element would take as its `data` property. */
  data?: unknown;
}

/** The state of a figure at attributes (named as in HTML or in camel case); throws where it cannot be drawn. */
export function figureState(
  name: string,
  attributes: Readonly<Record<string, unknown>> = {},
  data?: unknown,
): State<unknown> {
  const figure = figureNamed(name);
  const values = completeValues(figure, (field) => attributes[field] ?? attributes[attributeName(field)]);
  return stateOf(figure, values, figure.compute(values, data));
}

/** The figure of an element's name, with or without "posenc-"; throws where there is none. */
export function figureNamed(name: string): (typeof figures)[number] {
  const wish = name.replace(/^posenc-/, "");
  const figure = figures.find((f) => f.name === wish);
  if (!figure)
    throw new RangeError(`There is no figure \u201c${name}\u201d; there are ${figures.map((f) => f.name).join(", ")}.`);
  return figure;
}

/** The theme that options ask for; throws where they ask for what is not there. */
export function pageTheme({ width = 760, theme = "light" }: RenderOptions): Theme {
  if (!(width >= 200 && width <= 4000)) throw new RangeError(`width must be from 200 to 4000, got ${width}.`);
  return makeTheme(theme === "dark");
}

/**
 * The figure with its title, read-out and caption as SVG markup: `renderSVG("embed", {positions: 96, dim: 64})`.
 * Takes the attributes of the element of that name. Throws a sentence where the figure cannot be drawn.
 */
export function renderSVG(
  figure: string,
  attributes: Readonly<Record<string, unknown>> = {},
  options: RenderOptions = {},
): string {
  const { width = 760, data } = options;
  const theme = pageTheme(options);
  return pageSvg(figureNamed(figure), figureState(figure, attributes, data), theme, width);
}
