// A matrix as a heat map with a cross-hair; the column under it as a curve at the right, the row as bars below, in the
// two colours that name them. The body of most figures.
import type { ColourScale } from "./colour.js";
import { book } from "./format.js";
import { brokenLines, drawFrames, indexTicks, inkOn, labelSize, legend, legendWidth } from "./marks.js";
import type { Box, Part, Surface } from "./surface.js";

export interface MatrixAxis {
  /** Drawn along the axis: "position". */
  label?: string;
  /** The name of the row or column under the cursor: "position 37". */
  name: string;
  /** The text of a tick; the index by default. */
  tick?: (index: number) => string;
  /** Tick steps are powers of two and the last index is labelled. */
  binary?: boolean;
}

export interface Matrix {
  /** Row-major, rows x columns; NaN is a masked cell. */
  values: ArrayLike<number>;
  rows: number;
  columns: number;
  scale: ColourScale;
  /** The cells that are drawn: the state's part. */
  part?: Part | undefined;
  /** All values of a signed scale are on this side of zero: then the curve and the bars have the whole room. */
  side?: "below" | "above" | undefined;
  /** The cursor. */
  row: number;
  column: number;
  rowAxis: MatrixAxis;
  columnAxis: MatrixAxis;
}

const barsHeight = 56;
const barsGap = 16;
const ticksHeight = 26;
const topMargin = 20;

interface Layout {
  map: Box;
  curve: { middle: number; reach: number };
  legendX: number | undefined;
}

function layoutOf(surface: Surface, matrix: Matrix): Layout {
  const { narrow, width, height } = surface;
  const widest = (matrix.rowAxis.tick ?? String)(matrix.rows - 1);
  const left = surface.textWidth(widest, { size: labelSize }) + 10 + (matrix.rowAxis.label && !narrow ? 18 : 0);
  // The numbers of the legend keep off the curve.
  const right = narrow ? 62 : Math.max(150, 118 + legendWidth(surface, matrix.scale, matrix.side));
  const foot = barsGap + barsHeight + ticksHeight + (narrow ? 30 : 0);
  const map = { x: left, y: topMargin, width: width - left - right, height: height - topMargin - foot };
  const curve = { middle: map.x + map.width + (narrow ? 35 : 50), reach: narrow ? 22 : 30 };
  return { map, curve, legendX: narrow ? undefined : width - 22 };
}

/** Height of a matrix drawing on a surface of this width; `aspect` is the heat map's height by its width. */
export function matrixHeight(width: number, aspect = 0.57): number {
  const narrow = width < 500;
  const map = (width - (narrow ? 92 : 200)) * (narrow ? Math.max(0.9, aspect) : aspect);
  return Math.round(topMargin + map + barsGap + barsHeight + ticksHeight + (narrow ? 30 : 0));
}

/** Draws it and says where the heat map lies. */
export function drawMatrix(surface: Surface, matrix: Matrix): Box {
  const { rows, columns, values, scale, row, column, part } = matrix;
  const { map, curve, legendX } = layoutOf(surface, matrix);
  const seen = part ?? { row: 0, rows, column: 0, columns };
  const cellWidth = map.width / seen.columns;
  const cellHeight = map.height / seen.rows;
  surface.heatMap(map, { values, rows, columns, scale, part });
  surface.region(map, (u, v) => ({
    row: seen.row + Math.floor(v * seen.rows),
    column: seen.column + Math.floor(u * seen.columns),
  }));
  drawRowAxis(surface, matrix, map, seen);
  drawColumnAxis(surface, matrix, map, seen);

  // The cross-hair: a frame round the row and one round the column, never thinner than can be seen.
  const frame = (from: number, size: number): [number, number] =>
    size >= 5 ? [from, size] : [from + size / 2 - 2.5, 5];
  const [top, tall] = frame(map.y + (row - seen.row) * cellHeight, cellHeight);
  const [left, wide] = frame(map.x + (column - seen.column) * cellWidth, cellWidth);
  const across = row >= seen.row && row < seen.row + seen.rows;
  const along = column >= seen.column && column < seen.column + seen.columns;
  const hairs: Box[] = [
    ...(across ? [{ x: map.x - 0.5, y: top, width: map.width + 1, height: tall }] : []),
    ...(along ? [{ x: left, y: map.y - 0.5, width: wide, height: map.height + 1 }] : []),
  ];
  drawFrames(surface, hairs);

  drawColumn(surface, matrix, map, curve, seen);
  drawRow(surface, matrix, map, seen);
  const upright = legendX !== undefined;
  const length = upright ? Math.min(150, map.height * 0.46) : Math.min(140, map.width);
  legend(surface, scale, legendX ?? map.x, upright ? map.y : surface.height - 26, length, upright, matrix.side);
  return map;
}

// Ticks of the part that is seen: of the whole, at its own round indices; of a part, at round indices inside it.
function ticksOf(first: number, count: number, total: number, length: number, gap: number, binary?: boolean): number[] {
  if (count === total) return indexTicks(total, length, gap, binary);
  const step = indexTicks(count, length, gap)[1] ?? count;
  const ticks: number[] = [];
  for (let i = Math.ceil(first / step) * step; i < first + count; i += step) ticks.push(i);
  return ticks;
}

function drawRowAxis(surface: Surface, matrix: Matrix, map: Box, seen: Part): void {
  const tick = matrix.rowAxis.tick ?? String;
  const cell = map.height / seen.rows;
  const gap = surface.narrow ? 30 : 36;
  for (const i of ticksOf(seen.row, seen.rows, matrix.rows, map.height, gap, matrix.rowAxis.binary)) {
    const y = map.y + Math.max(5, (i - seen.row + 0.5) * cell);
    surface.text(map.x - 8, y, tick(i), { align: "end", size: labelSize });
  }
  const label = matrix.rowAxis.label;
  if (label && !surface.narrow) {
    surface.text(7, map.y + map.height / 2, label, { align: "middle", turn: -90, size: labelSize });
  }
}

function drawColumnAxis(surface: Surface, matrix: Matrix, map: Box, seen: Part): void {
  const cell = map.width / seen.columns;
  const gap = surface.narrow ? 40 : 80;
  const tick = matrix.columnAxis.tick ?? String;
  const y = map.y + map.height + barsGap + barsHeight + 14;
  for (const i of ticksOf(seen.column, seen.columns, matrix.columns, map.width, gap, matrix.columnAxis.binary)) {
    surface.text(map.x + (i - seen.column + 0.5) * cell, y, tick(i), { align: "middle", size: labelSize });
  }
}

// Share of the reach that a value takes, from the base line: -1 to 1, or 0 to 1 for amounts.
function share(scale: ColourScale, value: number): number {
  const u = scale.kind === "signed" ? value / (scale.extent || 1) : (value - scale.min) / (scale.max - scale.min || 1);
  return u < -1 ? -1 : u > 1 ? 1 : u;
}

// Where zero lies in the room for values, from -1 (least) to 1, and the room for the largest in units of half of it.
function zeroOf({ scale, side }: Matrix): { zero: number; room: number } {
  if (scale.kind !== "signed" || side === "above") return { zero: -1, room: 2 };
  return side === "below" ? { zero: 1, room: 2 } : { zero: 0, room: 1 };
}

// Where more cells than twice the pixels are drawn, the least and the greatest of each pixel stand for them.
function extremes(count: number, pixels: number, value: (i: number) => number): [number, number, number][] {
  return Array.from({ length: pixels }, (_, p): [number, number, number] => {
    const [first, end] = [Math.floor((p * count) / pixels), Math.floor(((p + 1) * count) / pixels)];
    let [low, high] = [Number.NaN, Number.NaN];
    for (let i = first; i < end; i++) {
      const at = value(i);
      if (!(at >= low)) low = Number.isNaN(at) ? low : at;
      if (!(at <= high)) high = Number.isNaN(at) ? high : at;
    }
    return [(first + end - 1) / 2, low, high];
  });
}

function drawColumn(surface: Surface, matrix: Matrix, map: Box, curve: Layout["curve"], seen: Part): void {
  const { columns, values, scale, row, column } = matrix;
  const { zero, room } = zeroOf(matrix);
  const base = curve.middle + zero * curve.reach;
  const reach = room * curve.reach;
  const x = (i: number): number => base + reach * share(scale, values[i * columns + column] as number);
  const y = (i: number): number => map.y + ((i - seen.row + 0.5) * map.height) / seen.rows;
  surface.path([base, map.y, base, map.y + map.height], { stroke: "faint" });
  const crowded = seen.rows > 2 * map.height;
  const points = crowded
    ? extremes(seen.rows, Math.floor(map.height), (i) => x(seen.row + i)).flatMap(([i, low, high]) => {
        return [low, y(seen.row + i), high, y(seen.row + i)];
      })
    : Array.from({ length: seen.rows }, (_, i) => [x(seen.row + i), y(seen.row + i)]).flat();
  surface.path(points, { stroke: "cool", width: crowded ? 1 : 1.6 });
  const at = x(row);
  const inside = row >= seen.row && row < seen.row + seen.rows;
  if (!Number.isNaN(at) && inside) surface.disc(at, y(row), 3.2, { fill: "cool" });
  const style = { ink: "cool", size: labelSize } as const;
  const wide = surface.textWidth(matrix.columnAxis.name, style);
  const middle = Math.min(curve.middle, surface.width - wide / 2);
  surface.text(middle, map.y - 11, matrix.columnAxis.name, { ...style, align: "middle" });
  const strip = { x: curve.middle - curve.reach, y: map.y, width: 2 * curve.reach, height: map.height };
  surface.region(strip, (_, v) => ({ row: seen.row + Math.floor(v * seen.rows) }));
}

function drawRow(surface: Surface, matrix: Matrix, map: Box, seen: Part): void {
  const { columns, values, scale, row } = matrix;
  const top = map.y + map.height + barsGap;
  const { zero, room: reachShare } = zeroOf(matrix);
  const base = top + ((1 - zero) * barsHeight) / 2;
  const reach = (reachShare * barsHeight) / 2;
  const tall = (c: number): number => reach * share(scale, values[row * columns + c] as number);
  drawBars(surface, { ...map, y: base }, { ...seen, chosen: matrix.column, tall });
  const room = surface.width - map.x - map.width - 10;
  const lines = brokenLines(surface, matrix.rowAxis.name, room);
  lines.forEach((line, k) => {
    const y = base + 8 * zero + 15 * (k - (lines.length - 1) / 2);
    surface.text(map.x + map.width + 10, y, line, { ink: "accent", size: labelSize });
  });
  const strip = { x: map.x, y: top, width: map.width, height: barsHeight };
  surface.region(strip, (u) => ({ column: seen.column + Math.floor(u * seen.columns) }));
}

/**
 * Bars along a line at the top of `line`, of the columns from `column` on: `tall` says how far each rises above it, in
 * pixels; the chosen one's stands out.
 */
export function drawBars(
  surface: Surface,
  { x: left, y: base, width }: Box,
  bars: { column: number; columns: number; chosen: number; tall: (column: number) => number },
): void {
  const { column, columns, chosen, tall } = bars;
  const cell = width / columns;
  const gap = cell > 4 ? Math.min(4, 0.25 * cell) : 0;
  surface.path([left, base, left + width, base], { stroke: "faint" });
  const bar = (c: number): void => {
    const t = tall(c);
    const x = left + (c - column) * cell + gap / 2;
    const paint = { fill: "accent", ...(c === chosen ? {} : { alpha: 0.55 }) } as const;
    // None of 0, nor of NaN.
    if (t) surface.rect(x, base - Math.max(0, t), Math.max(cell - gap, 1), Math.abs(t), paint);
  };
  const end = column + columns;
  if (gap === 0) {
    // Bars that touch are one shape: edge by edge, each would show through its neighbour.
    const shown = Math.min(columns, Math.floor(width));
    const [above, below]: [number[], number[]] = [[], []];
    extremes(columns, shown, (i) => tall(column + i)).forEach(([, low, high], p) => {
      const [from, to] = [left + (p * width) / shown, left + ((p + 1) * width) / shown];
      const [top, foot] = [base - Math.max(0, high || 0), base - Math.min(0, low || 0)];
      above.push(from, top, to, top);
      below.push(foot, from, foot, to);
    });
    surface.path([...above, ...below.reverse()], { fill: "accent", alpha: 0.55 });
    if (chosen >= column && chosen < end) bar(chosen);
  } else for (let c = column; c < end; c++) bar(c);
}

// ---------------------------------------------------------------- few cells

export interface CellTable {
  values: ArrayLike<number>;
  rows: number;
  columns: number;
  scale: ColourScale;
  row: number;
  column: number;
  rowLabels: readonly string[];
  columnLabels: readonly string[];
  /** The number on a cell; none where the cell is too small. */
  format?: (value: number) => string;
}

/** A small matrix as separate cells with their numbers on them and words at its sides; fits itself into the surface. */
export function drawCells(surface: Surface, table: CellTable): void {
  const { rows, columns, values, scale } = table;
  const size = labelSize;
  const left = Math.max(...table.rowLabels.map((label) => surface.textWidth(label, { size }))) + 10;
  const side = Math.min((surface.width - left) / columns, (surface.height - 24) / rows, 46);
  const top = 24;
  const format = table.format ?? ((v: number) => book(v, { decimals: 2 }));
  const numberSize = side < 38 ? 10 : 11;
  table.columnLabels.forEach((label, c) => {
    if (surface.textWidth(label, { size }) < side * 1.3 || c % 2 === 0) {
      surface.text(left + (c + 0.5) * side, top - 12, label, { ink: "ink", align: "middle", size });
    }
  });
  for (let r = 0; r < rows; r++) {
    surface.text(left - 8, top + (r + 0.5) * side, table.rowLabels[r] ?? "", { ink: "ink", align: "end", size });
    for (let c = 0; c < columns; c++) {
      const value = values[r * columns + c] as number;
      const x = left + c * side;
      const y = top + r * side;
      surface.heatMap(
        { x: x + 1, y: y + 1, width: side - 2, height: side - 2 },
        { values: [value], rows: 1, columns: 1, scale },
      );
      if (!Number.isNaN(value) && side >= 30) {
        surface.text(x + side / 2, y + side / 2, format(value), {
          align: "middle",
          size: numberSize,
          ink: inkOn(surface.theme, scale, value),
        });
      }
    }
  }
  surface.rect(left + table.column * side, top + table.row * side, side, side, { stroke: "accent", width: 2 });
  surface.region({ x: left, y: top, width: side * columns, height: side * rows }, (u, v) => ({
    row: Math.floor(v * rows),
    column: Math.floor(u * columns),
  }));
}
