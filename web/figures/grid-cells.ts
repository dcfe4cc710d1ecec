// Figures of schemes with two axes of positions: the cells of a grid, row by row, in place of positions on a line.
import { grid, type Tensor } from "../src/core.js";
import { text, type Field, type Values } from "./figure.js";
import { book } from "./format.js";
import { refuseValue } from "./refusal.js";

export interface Grid {
  height: number;
  width: number;
  cells: number;
  /** [2, cells]. */
  positions: Tensor<"float64">;
  /** "grid(7, 7)". */
  code: string;
}

export const gridSentence =
  'Height and width of a grid, such as "7 7", whose cells, row by row, are the positions: for schemes of two axes.';

export function gridField(): Field {
  return text("cells", "cells of a grid", "", { place: "none", maxLength: 40 });
}

/** The grid that the values ask for, of at most `most` cells; undefined where they ask for none. */
export function gridOf(values: Values, most: number): Grid | undefined {
  const words = String(values.cells ?? "")
    .split(/[\s,x\u00d7]+/)
    .filter((word) => word !== "");
  if (words.length === 0) return undefined;
  const [height = 0, width = 0] = words.map(Number);
  const whole = words.length === 2 && words.every((word) => /^[1-9]\d*$/.test(word));
  if (!whole || height * width > most) {
    const allowed = `a height and a width of at most ${book(most)} cells, such as \u201c7 7\u201d`;
    refuseValue(whole ? "too-large" : "shape-mismatch", "cells", allowed, String(values.cells));
  }
  return { height, width, cells: height * width, positions: grid(height, width), code: `grid(${height}, ${width})` };
}
