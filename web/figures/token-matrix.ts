// A matrix of tokens by tokens: separate cells with their numbers while there is room, one heat map beyond that, the
// words at its sides cut, turned and thinned as they must.
import type { ColourScale } from "./colour.js";
import { book } from "./format.js";
import { inkOn, labelSize } from "./marks.js";
import { charactersOf } from "./sentence.js";
import { estimateWidth, type Box, type Ink, type Surface } from "./surface.js";

export interface TokenMatrix {
  /** Row-major; NaN is a masked cell. */
  values: ArrayLike<number>;
  rows: readonly string[];
  columns: readonly string[];
  scale: ColourScale;
  /** The cursor. */
  row: number;
  column: number;
  /** Rows and columns from these on are written in grey. */
  greyRow?: number;
  greyColumn?: number;
}

export interface TokenLayout {
  /** Side of a cell. */
  side: number;
  /** Where cells begin. */
  left: number;
  top: number;
  width: number;
  height: number;
  /** Degrees that the words above are turned by; 0 where they fit. */
  turn: 0 | -50 | -90;
}

const largestSide = 46;
const longestRowLabel = 92;
const longestColumnLabel = 78;
const numbersFrom = 31;
const gapsFrom = 10;

/** Sides and margins of a matrix of these words in the room there is. */
export function tokenLayout(
  rows: readonly string[],
  columns: readonly string[],
  room: Box["width"],
  most: number,
): TokenLayout {
  const wide = (words: readonly string[], longest: number): number =>
    Math.min(
      longest,
      words.reduce((width, word) => Math.max(width, 1.24 * estimateWidth(word, {})), 0),
    );
  const left = wide(rows, Math.min(longestRowLabel, 0.3 * room)) + 9;
  const widest = wide(columns, Infinity);
  let side = Math.min(largestSide, (room - left - 2) / columns.length);
  const turn = widest <= side * 1.02 ? 0 : side >= 17 ? -50 : -90;
  const label = Math.min(widest, longestColumnLabel);
  const top = turn === 0 ? 24 : turn === -50 ? 0.77 * label + 18 : label + 12;
  // Slanted words reach beyond the last column.
  if (turn === -50) side = Math.min(side, (room - left - Math.max(0, 0.64 * label - 0.5 * side)) / columns.length);
  side = Math.min(side, (most - top) / rows.length);
  return { side, left, top, turn, width: left + side * columns.length, height: top + side * rows.length };
}

/**
 * A word of at most `width` pixels, with an ellipsis where it was cut. Measured bold unless told otherwise: words turn
 * bold under the cursor and must not grow out of their room, nor be cut elsewhere.
 */
export function cutWord(surface: Surface, word: string, width: number, size = labelSize, bold = true): string {
  if (surface.textWidth(word, { size, bold }) <= width) return word;
  const characters = charactersOf(word);
  for (let kept = characters.length - 1; kept > 0; kept--) {
    const short = `${characters.slice(0, kept).join("")}\u2026`;
    if (surface.textWidth(short, { size, bold }) <= width) return short;
  }
  return "\u2026";
}

// Which of `total` labels stand, `gap` pixels apart or more: the cursor's always, then every n-th that is not too near.
function standing(total: number, side: number, gap: number, cursor: number): number[] {
  const step = Math.max(1, Math.ceil(gap / side));
  return Array.from({ length: total }, (_, i) => i).filter(
    (i) => i === cursor || (i % step === 0 && (step === 1 || Math.abs(i - cursor) * side >= gap)),
  );
}

/** Draws the matrix at the surface's origin; the words of the cursor's row and column are bold. */
export function drawTokenMatrix(
  surface: Surface,
  matrix: TokenMatrix,
  layout: TokenLayout,
  cursor: Ink = "accent",
): void {
  const { rows, columns, values, scale, row, column } = matrix;
  const { side, left, top, turn } = layout;
  const box = { x: left, y: top, width: side * columns.length, height: side * rows.length };
  drawLabels(surface, matrix, layout);
  if (side < gapsFrom) surface.heatMap(box, { values, rows: rows.length, columns: columns.length, scale });
  else {
    const gap = side < 20 ? 1 : 2;
    for (let r = 0; r < rows.length; r++) {
      for (let c = 0; c < columns.length; c++) {
        const value = values[r * columns.length + c] as number;
        const cell = { x: left + c * side, y: top + r * side, width: side - gap, height: side - gap };
        surface.heatMap(cell, { values: [value], rows: 1, columns: 1, scale });
        if (Number.isNaN(value) || side < numbersFrom) continue;
        surface.text(cell.x + cell.width / 2, cell.y + cell.height / 2, book(value, { decimals: 2 }), {
          align: "middle",
          size: side < 38 ? 10 : 11,
          ink: inkOn(surface.theme, scale, value),
        });
      }
    }
  }
  const frame = side < 7 ? 7 : side < gapsFrom ? side + 2 : side;
  const lift = side < gapsFrom ? (frame - side) / 2 : 1;
  surface.rect(left + column * side - lift, top + row * side - lift, frame, frame, {
    stroke: cursor,
    width: side < 20 ? 1.5 : 2,
  });
  surface.region(box, (u, v) => ({ row: Math.floor(v * rows.length), column: Math.floor(u * columns.length) }));
  if (turn === 0) surface.region({ ...box, y: 0, height: top }, (u) => ({ column: Math.floor(u * columns.length) }));
  surface.region({ ...box, x: 0, width: left }, (_, v) => ({ row: Math.floor(v * rows.length) }));
}

function drawLabels(surface: Surface, matrix: TokenMatrix, layout: TokenLayout): void {
  const { rows, columns, row, column, greyRow = Infinity, greyColumn = Infinity } = matrix;
  const { side, left, top, turn } = layout;
  const small = side < 14;
  const size = small ? 11 : labelSize;
  const ink = (i: number, cursor: number, grey: number): Ink =>
    i >= grey ? "grey" : small && i !== cursor ? "grey" : "ink";
  for (const i of standing(rows.length, side, 13, row)) {
    const word = cutWord(surface, rows[i] as string, left - 8, size);
    const bold = i === row;
    surface.text(left - 8, top + (i + 0.5) * side - 0.5, word, { align: "end", size, bold, ink: ink(i, row, greyRow) });
  }
  const gap = turn === 0 ? 0 : turn === -50 ? 15 : 13;
  for (const i of standing(columns.length, side, gap, column)) {
    const x = left + (i + 0.5) * side;
    const style = { size, bold: i === column, ink: ink(i, column, greyColumn) };
    const word = cutWord(surface, columns[i] as string, turn === 0 ? side * 1.15 : longestColumnLabel, size);
    if (turn === 0) surface.text(x - 1, top - 12, word, { ...style, align: "middle" });
    else surface.text(turn === -90 ? x : x - 2, top - 7, word, { ...style, align: "start", turn });
  }
}
