// posenc/elements: importing it defines the <posenc-...> elements.
import { defineElements } from "../figures/index.js";

defineElements();

export type { FigureElement } from "../figures/element.js";
export type { ElementOf, PosencElements } from "../figures/element-types.js";
export type { Value, Values } from "../figures/figure.js";
export { defineElements, figures } from "../figures/index.js";
