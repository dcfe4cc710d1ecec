// What drawings are made of: ticks, axes, legends, curves.
import { colourOf, luminance, toHex, type ColourScale } from "./colour.js";
import { book } from "./format.js";
import { defaultSize, type Box, type Ink, type Paint, type Surface, type TextStyle } from "./surface.js";
import type { Theme } from "./theme.js";

export const labelSize = defaultSize;
// Pixels between the last two labels of an axis, whatever the steps of the others.
const lastGap = 36;

/** Indices to label among `total`, at least `gap` of `length` pixels apart; steps of 1, 2, 5 or of powers of two. */
export function indexTicks(total: number, length: number, gap: number, binary = false): number[] {
  const least = Math.max(1, (gap * total) / Math.max(1, length));
  let step = 1;
  for (let k = 0; step < least; k++) {
    step = binary ? 2 ** (k + 1) : ([2, 5, 10][k % 3] as number) * 10 ** Math.floor(k / 3);
  }
  const ticks: number[] = [];
  for (let i = 0; i < total; i += step) ticks.push(i);
  if (binary && total > 1) {
    // The last index closes the axis; a tick too near it gives way.
    const near = Math.min(0.7 * step, (lastGap * total) / Math.max(1, length));
    while (ticks.length > 1 && total - 1 - (ticks[ticks.length - 1] as number) < near) ticks.pop();
    ticks.push(total - 1);
  }
  return ticks;
}

/** Round values from `min` to `max`, about `wish` of them. */
export function valueTicks(min: number, max: number, wish = 5): number[] {
  const rough = (max - min) / Math.max(1, wish);
  if (!(rough > 0)) return [min];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((m) => m * power >= rough * 0.999) ?? 10) * power;
  const ticks: number[] = [];
  for (let k = Math.ceil(min / step - 1e-9); k * step <= max + 1e-9 * step; k++) ticks.push(k * step);
  return ticks;
}

/** Those of them that are whole: what is counted has no parts. */
export const wholeTicks: typeof valueTicks = (...range) => valueTicks(...range).filter(Number.isInteger);

/** Round values from `min` to `max` for a log axis, both above 0: powers of ten, and 2 and 5 of them where few are. */
export function logTicks(min: number, max: number, wish = 5): number[] {
  const decades = Math.log10(max) - Math.log10(min);
  const step = Math.max(1, Math.ceil(decades / Math.max(1, wish)));
  const parts = decades * 3 <= wish + 1 ? [1, 2, 5] : [1];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(min)); power <= Math.log10(max) + 1e-9; power++) {
    if (power % step !== 0) continue;
    for (const part of parts) {
      const value = power < 0 ? part / 10 ** -power : part * 10 ** power;
      if (value >= min * (1 - 1e-9) && value <= max * (1 + 1e-9)) ticks.push(value);
    }
  }
  return ticks;
}

/** Whether a label in the middle of `at` has room beside a name in the middle of `middle`, in pixels along a line. */
export function hasRoom(surface: Surface, label: string, at: number, name: string, middle: number): boolean {
  const wide = (words: string): number => surface.textWidth(words, { size: labelSize });
  return Math.abs(at - middle) > (wide(label) + wide(name)) / 2 + 8;
}

/** Values along a line of pixels, where equal steps, or on a log scale equal ratios, are equally far. */
export interface Scale {
  /** The pixel of a value; NaN for values that a log scale has no place for. */
  place: (value: number) => number;
  /** The value at a share of the way, from 0 to 1. */
  value: (share: number) => number;
}

export function scaleOf(min: number, max: number, from: number, to: number, log = false): Scale {
  const [low, high] = log ? [Math.log10(min), Math.log10(max)] : [min, max];
  const span = high - low || 1;
  return {
    place: (value) => {
      const at = log ? (value > 0 ? Math.log10(value) : Number.NaN) : value;
      return from + ((at - low) * (to - from)) / span;
    },
    value: (share) => (log ? min * (max / min) ** share : min + (max - min) * share),
  };
}

/**
 * A slim legend of a colour scale: upright with its numbers at the left, or lying with its numbers below. Of a signed
 * scale only one side, where all values are on it.
 */
export function legend(
  surface: Surface,
  scale: ColourScale,
  x: number,
  y: number,
  length: number,
  upright = true,
  side?: "below" | "above",
): void {
  const steps = 127;
  const labels = legendValues(scale, side);
  const [low, , high] = labels as [number, number, number];
  const values = Float64Array.from({ length: steps }, (_, i) => {
    const u = i / (steps - 1);
    return low + (high - low) * (upright ? 1 - u : u);
  });
  if (upright) {
    surface.heatMap({ x, y, width: 9, height: length }, { values, rows: steps, columns: 1, scale });
    labels.forEach((value, i) => {
      const place = y + length * (1 - i / 2);
      surface.text(x - 6, place + [-4, 0, 4][i]!, legendText(value), { align: "end", size: labelSize });
    });
  } else {
    surface.heatMap({ x, y, width: length, height: 7 }, { values, rows: 1, columns: steps, scale });
    const words = labels.map(legendText);
    const wide = words.map((text) => surface.textWidth(text, { size: 11 }));
    const [first, middle, last] = wide as [number, number, number];
    words.forEach((text, i) => {
      // The number in the middle only where it stands apart from the others.
      if (i === 1 && middle / 2 + Math.max(first, last) + 6 > length / 2) return;
      const align = (["start", "middle", "end"] as const)[i]!;
      surface.text(x + (length * i) / 2, y + 17, text, { align, size: 11 });
    });
  }
}

function legendValues(scale: ColourScale, side?: "below" | "above"): number[] {
  const [low, high] = scale.kind === "signed" ? [-scale.extent, scale.extent] : [scale.min, scale.max];
  const ends = [side === "above" ? 0 : low, side === "below" ? 0 : high] as const;
  return [ends[0], (ends[0] + ends[1]) / 2, ends[1]];
}

function legendText(value: number): string {
  return book(value, { decimals: decimalsOf(value) });
}

/** Room that the numbers at the left of an upright legend take. */
export function legendWidth(surface: Surface, scale: ColourScale, side?: "below" | "above"): number {
  const style = { size: labelSize };
  return Math.max(...legendValues(scale, side).map((value) => surface.textWidth(legendText(value), style)));
}

// Decimals that three digits of a value have, without zeros at the end: 0.05, 2.08, 1.
function decimalsOf(value: number): number {
  const digits = Number(value.toPrecision(3));
  for (let decimals = 0; decimals < 8; decimals++) if (Number(digits.toFixed(decimals)) === digits) return decimals;
  return 8;
}

/** Frames on the cells of a heat map, on lines of paper: cells may be as dark as the ink. */
export function drawFrames(surface: Surface, frames: readonly Box[], width = 1, ink: Ink = "ink"): void {
  const all = (out: number, paint: Paint): void =>
    frames.forEach((at) => surface.rect(at.x - out, at.y - out, at.width + 2 * out, at.height + 2 * out, paint));
  all((width + 1) / 2, { stroke: "paper", alpha: 0.7 });
  all(0, { stroke: ink, width });
}

/** The cursor's cell of a square heat map of `total` rows, never smaller than can be seen. */
export function drawCell(surface: Surface, map: Box, total: number, row: number, column: number): void {
  const cell = map.width / total;
  const size = Math.max(cell, 5);
  const at = (from: number, i: number): number => from + (i + 0.5) * cell - size / 2;
  drawFrames(surface, [{ x: at(map.x, column), y: at(map.y, row), width: size, height: size }], 1.5);
}

/** A dashed line over cells, likewise. */
export function drawDashes(surface: Surface, points: readonly number[]): void {
  surface.path(points, { stroke: "paper", width: 3.2, alpha: 0.7 });
  surface.path(points, { stroke: "ink", width: 1.2, dash: [4, 3] });
}

/** The line of all cells of one row minus column, through their middles and to the edges of the first and last. */
export function drawDiagonal(surface: Surface, map: Box, total: number, offset: number): void {
  const [row, column] = [Math.max(0, offset), Math.max(0, -offset)];
  const size = total - Math.abs(offset);
  const [x, y] = [(c: number) => map.x + (c * map.width) / total, (r: number) => map.y + (r * map.height) / total];
  drawDashes(surface, [x(column), y(row), x(column + size), y(row + size)]);
}

/** Ink or paper, whichever reads better on the colour of a value. */
export function inkOn(theme: Theme, scale: ColourScale, value: number): Ink {
  const colour = colourOf(scale.kind === "signed" ? theme.signed : theme.amount, scale, value);
  const bright = luminance(colour) > 0.3;
  return bright === theme.dark ? "paper" : "ink";
}

/** The colour of a value, as an ink. */
export function inkOf(theme: Theme, scale: ColourScale, value: number): Ink {
  return toHex(colourOf(scale.kind === "signed" ? theme.signed : theme.amount, scale, value)) as Ink;
}

/** Words on a plate of paper, which hides the lines behind them. */
export function drawPlate(surface: Surface, x: number, y: number, words: string, style: TextStyle): void {
  const width = surface.textWidth(words, style);
  const left = style.align === "middle" ? x - width / 2 : style.align === "end" ? x - width : x;
  surface.rect(left - 2, y - 7, width + 4, 14, { fill: "paper", alpha: 0.85 });
  surface.text(x, y, words, style);
}

/** Text that is broken at spaces into lines of at most `width` pixels. */
export function brokenLines(
  surface: Pick<Surface, "textWidth">,
  text: string,
  width: number,
  size = labelSize,
): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && surface.textWidth(longer, { size }) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  if (line !== "") lines.push(line);
  return lines;
}

/** As {@link brokenLines}, with no word alone on the last line. */
export const paragraph: typeof brokenLines = (surface, text, width, size = labelSize) => {
  const lines = brokenLines(surface, text, width, size);
  const [, rest, word] = /^(.* .*) (.*)$/.exec(lines.at(-2) ?? "") ?? [];
  const last = `${word} ${lines.at(-1)}`;
  if (rest !== undefined && last.split(" ").length === 2 && surface.textWidth(last, { size }) <= width) {
    lines.splice(-2, 2, rest, last);
  }
  return lines;
};

/** Places for labels: near the wished ones and in their order, at least `gap` apart, from `low` to `high`. */
export function spread(wishes: readonly number[], gap: number, low: number, high: number): number[] {
  const order = wishes.map((_, i) => i).sort((a, b) => (wishes[a] as number) - (wishes[b] as number));
  // With the gaps taken out the places must only not fall: neighbours that would are pooled at their mean.
  const pools: { mean: number; size: number }[] = [];
  order.forEach((index, k) => {
    let pool = { mean: (wishes[index] as number) - k * gap, size: 1 };
    for (let last = pools[pools.length - 1]; last && last.mean > pool.mean; last = pools[pools.length - 1]) {
      const size = last.size + pool.size;
      pool = { mean: (last.mean * last.size + pool.mean * pool.size) / size, size };
      pools.pop();
    }
    pools.push(pool);
  });
  const most = Math.max(low, high - gap * (wishes.length - 1));
  const level = pools.flatMap(({ mean, size }) => Array<number>(size).fill(Math.max(low, Math.min(most, mean))));
  const places = new Array<number>(wishes.length);
  order.forEach((index, k) => (places[index] = (level[k] as number) + k * gap));
  return places;
}
