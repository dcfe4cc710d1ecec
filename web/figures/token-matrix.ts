// A matrix of tokens by tokens: separate cells with their numbers while there is room, one heat map beyond that, the
// words at its sides cut, turned and thinned as they must.
import type { ColourScale } from "./colour.js";
import { book } from "./format.js";
import { cutWord } from "./cut-word.js";
import { drawFrames, inkOn, labelSize } from "./marks.js";
import { estimateWidth, type Box, type Ink, type Part, type Surface } from "./surface.js";

export { cutWord } from "./cut-word.js";

export interface TokenMatrix {
  /** Row-major; NaN is a masked cell. */
  values: ArrayLike<number>;
  rows: readonly string[];
  columns: readonly string[];
  scale: ColourScale;
  /** The cells that are drawn: the state's part. */
  part?: Part | undefined;
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

// Thousands of words are not measured anew for every place of the cursor.
const widths = new WeakMap<readonly string[], number>();

function widestOf(words: readonly string[]): number {
  let widest = widths.get(words);
  if (widest === undefined) {
    widest = words.reduce((width, word) => Math.max(width, 1.24 * estimateWidth(word, {})), 0);
    widths.set(words, widest);
  }
  return widest;
}

/**
 * Sides and margins of a matrix of these words in the room there is, or of a part of it: its margins are those of the
 * whole, so that nothing moves with the part.
 */
export function tokenLayout(
  rows: readonly string[],
  columns: readonly string[],
  room: Box["width"],
  most: number,
  part: Part | undefined = undefined,
): TokenLayout {
  const [down, across] = [part?.rows ?? rows.length, part?.columns ?? columns.length];
  const wide = (words: readonly string[], longest: number): number => Math.min(longest, widestOf(words));
  const left = wide(rows, Math.min(longestRowLabel, 0.3 * room)) + 9;
  const widest = wide(columns, Infinity);
  let side = Math.min(largestSide, (room - left - 2) / across);
  const turn = widest <= side * 1.02 ? 0 : side >= 17 ? -50 : -90;
  const label = Math.min(widest, longestColumnLabel);
  const top = turn === 0 ? 24 : turn === -50 ? 0.77 * label + 18 : label + 12;
  // Slanted words reach beyond the last column.
  if (turn === -50) side = Math.min(side, (room - left - Math.max(0, 0.64 * label + 4 - 0.5 * side)) / across);
  // Upright ones are as wide as letters are tall.
  if (turn === -90) side = Math.min(side, (room - left - 7) / (across - 0.5));
  side = Math.min(side, (most - top) / down);
  return { side, left, top, turn, width: left + side * across, height: top + side * down };
}

// Which of `total` labels stand, `gap` pixels apart or more: the cursor's always, then every n-th that is not too near.
function standing(first: number, count: number, side: number, gap: number, cursor: number): number[] {
  const step = Math.max(1, Math.ceil(gap / side));
  return Array.from({ length: count }, (_, i) => first + i).filter(
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
  const { rows, columns, values, scale, row, column, part } = matrix;
  const { side, left, top, turn } = layout;
  const seen = part ?? { row: 0, rows: rows.length, column: 0, columns: columns.length };
  const box = { x: left, y: top, width: side * seen.columns, height: side * seen.rows };
  drawLabels(surface, matrix, layout, seen);
  if (side < gapsFrom) surface.heatMap(box, { values, rows: rows.length, columns: columns.length, scale, part });
  else {
    const gap = side < 20 ? 1 : 2;
    for (let r = 0; r < seen.rows; r++) {
      for (let c = 0; c < seen.columns; c++) {
        const value = values[(seen.row + r) * columns.length + seen.column + c] as number;
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
  const [across, down] = [column - seen.column, row - seen.row];
  if (across >= 0 && across < seen.columns && down >= 0 && down < seen.rows) {
    const at = { x: left + across * side - lift, y: top + down * side - lift, width: frame, height: frame };
    drawFrames(surface, [at], side < 20 ? 1.5 : 2, cursor);
  }
  const rowAt = (v: number): number => seen.row + Math.floor(v * seen.rows);
  const columnAt = (u: number): number => seen.column + Math.floor(u * seen.columns);
  surface.region(box, (u, v) => ({ row: rowAt(v), column: columnAt(u) }));
  if (turn === 0) surface.region({ ...box, y: 0, height: top }, (u) => ({ column: columnAt(u) }));
  surface.region({ ...box, x: 0, width: left }, (_, v) => ({ row: rowAt(v) }));
}

function drawLabels(surface: Surface, matrix: TokenMatrix, layout: TokenLayout, seen: Part): void {
  const { rows, columns, row, column, greyRow = Infinity, greyColumn = Infinity } = matrix;
  const { side, left, top, turn } = layout;
  const small = side < 14;
  const size = small ? 11 : labelSize;
  const ink = (i: number, cursor: number, grey: number): Ink =>
    i >= grey ? "grey" : small && i !== cursor ? "grey" : "ink";
  for (const i of standing(seen.row, seen.rows, side, 13, row)) {
    const word = cutWord(surface, rows[i] as string, left - 8, size);
    const bold = i === row;
    const y = top + (i - seen.row + 0.5) * side - 0.5;
    surface.text(left - 8, y, word, { align: "end", size, bold, ink: ink(i, row, greyRow) });
  }
  const gap = turn === 0 ? 0 : turn === -50 ? 15 : 13;
  for (const i of standing(seen.column, seen.columns, side, gap, column)) {
    const x = left + (i - seen.column + 0.5) * side;
    const style = { size, bold: i === column, ink: ink(i, column, greyColumn) };
    const word = cutWord(surface, columns[i] as string, turn === 0 ? side * 1.15 : longestColumnLabel, size);
    if (turn === 0) surface.text(x - 1, top - 12, word, { ...style, align: "middle" });
    else surface.text(turn === -90 ? x : x - 2, top - 7, word, { ...style, align: "start", turn });
  }
}
