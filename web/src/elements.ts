// posenc/elements: importing it defines the <posenc-...> elements.
import { defineElement } from "../figures/element.js";
import { figureFiles } from "../figures/later.js";

/** Defines the element of every figure; harmless where it is done already and where there is no document. */
export function defineElements(): void {
  for (const [name, source] of Object.entries(figureFiles)) defineElement(name, source);
}

defineElements();

export type { FigureElement } from "../figures/element.js";
export type { ElementOf, FigureEvents, FigureFault, PosencElements } from "../figures/element-types.js";
export type { Value, Values } from "../figures/figure.js";
