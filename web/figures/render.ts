// Pictures of figures without a document: posenc/render.
import { type ErrorCode, nearest, printed, readAll } from "../src/error.js";
import { attributeName, completeValues, knownNames, stateOf, type State } from "./figure.js";
import { figures } from "./index.js";
import { pageSvg } from "./page.js";
import { refuseValue, requireKnown, requireObject } from "./refusal.js";
import { makeTheme, type Theme } from "./theme.js";

export interface RenderOptions {
  /** Pixels of the drawing; the picture has a margin of 20 round it. 760 by default. */
  width?: number;
  theme?: "light" | "dark";
  /** What the element would take as its `data` property. */
  data?: unknown;
}

/**
 * The state of a figure at attributes (named as in HTML or in camel case); throws where it cannot be drawn and where an
 * attribute has a name that the figure does not know.
 */
export function figureState(
  name: string,
  attributes: Readonly<Record<string, unknown>> = {},
  data?: unknown,
): State<unknown> {
  const figure = figureNamed(name);
  requireObject("The attributes of a figure", attributes);
  const given = readAll(attributes);
  const values = completeValues(figure, (field) => withText(field, given[field] ?? given[attributeName(field)]));
  const known = knownNames(figure, values);
  const asked = Object.keys(given).filter((key) => !known.some((field) => attributeName(field) === key));
  requireKnown(`The attribute of posenc-${figure.name}`, asked, known);
  return stateOf(figure, values, figure.compute(values, data));
}

// An attribute is a text in the end; the error of one that cannot become any is not the engine's.
function withText(field: string, value: unknown): unknown {
  try {
    String(value);
    return value;
  } catch {
    return refuseValue("unknown-choice", attributeName(field), "a text, a number, true or false", value);
  }
}

/** The figure of an element's name, with or without "posenc-"; throws where there is none. */
export function figureNamed(name: string): (typeof figures)[number] {
  const names = figures.map((f) => f.name).join(", ");
  const refuse = (sentence: string): never =>
    refuseValue("unknown-choice", "figure", `one of ${names}`, name, sentence);
  if (typeof name !== "string") return refuse(`A figure is named by one of ${names}; got ${printed(name)}.`);
  const wish = name.replace(/^posenc-/, "");
  const figure = figures.find((f) => f.name === wish);
  if (figure) return figure;
  const guess = nearest(
    wish,
    figures.map((f) => f.name),
  );
  const hint = guess === undefined ? "" : ` Did you mean \u201c${guess}\u201d?`;
  return refuse(`There is no figure \u201c${name}\u201d; there are ${names}.${hint}`);
}

/**
 * What options say, with the theme that they ask for; throws where they ask for what is not there. `known` names all
 * options.
 */
export function pageOptions<Options extends RenderOptions>(
  options: Options,
  known: readonly string[] = ["width", "theme", "data"],
): Omit<Options, "theme" | "width"> & { width: number; theme: Theme } {
  requireObject("The options of a picture", options);
  const said = readAll(options);
  requireKnown("The option", Object.keys(said), known);
  const { width = 760, theme = "light" } = said;
  const refuse = (code: ErrorCode, name: string, allowed: string, given: unknown): never =>
    refuseValue(code, name, allowed, given, `${name} must be ${allowed}, got ${printed(given)}.`);
  if (typeof width !== "number" || !(width >= 200 && width <= 4000))
    refuse(typeof width === "number" ? "out-of-range" : "not-a-number", "width", "from 200 to 4000", width);
  if (theme !== "light" && theme !== "dark") refuse("unknown-choice", "theme", "light or dark", theme);
  return Object.assign(said, { width, theme: makeTheme(theme === "dark") });
}

/**
 * The figure with its title, read-out and caption as SVG markup: `renderSVG("embed", {positions: 96, dim: 64})`.
 * Takes the attributes of the element of that name. A PosencError, whose message is a sentence, where the figure cannot
 * be drawn, and where an attribute or an option is not known.
 */
export function renderSVG(
  figure: string,
  attributes: Readonly<Record<string, unknown>> = {},
  options: RenderOptions = {},
): string {
  const { width, theme, data } = pageOptions(options);
  return pageSvg(figureNamed(figure), figureState(figure, attributes, data), theme, width);
}
