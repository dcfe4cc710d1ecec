// The figures: one line each.
import { addition } from "./addition.js";
import { attention } from "./attention.js";
import { defineElement } from "./element.js";
import { embed } from "./embed.js";
import type { Figure } from "./figure.js";

export const figures: readonly Figure[] = [
  embed, // an embedding table: heat map, waves, circles
  addition, // embeddings + encoding = input, of a typed sentence
  attention, // who looks at whom, under any scheme, and why
];

/** Defines the element of every figure; harmless where it is done already and where there is no document. */
export function defineElements(): void {
  for (const figure of figures) defineElement(figure);
}
