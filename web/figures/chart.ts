// Lines over one axis: ticks, lines with their names at their ends, and the cursor as an upright line whose places on
// the lines are dots.
import { readAll } from "../src/error.js";
import type { Values } from "./figure.js";
import { tickText } from "./format.js";
import { labelSize, logTicks, scaleOf, spread, valueTicks, wholeTicks, type Scale } from "./marks.js";
import type { Box, Ink, Locate, Surface } from "./surface.js";

export interface ChartAxis {
  min: number;
  max: number;
  log?: boolean;
  /** What is drawn along it, at the end of the ticks. */
  label?: string;
  tick?: (value: number) => string;
  /** About how many ticks. */
  wish?: number;
}

export interface ChartLine {
  x: ArrayLike<number>;
  /** As many as x; NaN lifts the pen. */
  y: ArrayLike<number>;
  ink: Ink;
  width?: number;
  alpha?: number;
  dash?: readonly number[];
  /** Radius of a dot on each point; none by default. */
  dots?: number;
  /** Drawn at the right end. */
  name?: string;
  /** Fields that a click on the name sets. */
  choose?: Values;
}

export interface ChartCursor {
  /** Along the x axis. */
  at: number;
  /** Drawn under it. */
  name: string;
  ink?: Ink;
  dots: readonly { y: number; ink: Ink }[];
}

export interface Chart {
  /** The whole of it, ticks and names included. */
  box: Box;
  x: ChartAxis;
  y: ChartAxis;
  /** In the order of drawing. */
  lines: readonly ChartLine[];
  cursor?: ChartCursor;
  /** From a value on the x axis to the reader's cursor. */
  locate?: (x: number) => ReturnType<Locate>;
}

/** Where a chart has been drawn. */
export interface Charted {
  /** The field of the lines. */
  plot: Box;
  x: Scale;
  y: Scale;
}

const nameGap = 14;
const footHeight = 26;
const headHeight = 24;

/** Draws a chart and says where. */
export function drawChart(surface: Surface, { x: along, y: up, lines: all, ...rest }: Chart): Charted {
  const said = { x: readAll(along), y: readAll(up), lines: all.map((line) => readAll(line)) };
  const chart = Object.assign(readAll(rest), said);
  const { box, lines } = chart;
  const size = labelSize;
  const yTick = chart.y.tick ?? tickText;
  const yTicks = ticksOf(chart.y);
  const left = Math.max(...yTicks.map((value) => surface.textWidth(yTick(value), { size }))) + 10;
  const named = lines.filter((line) => line.name !== undefined);
  const right = named.length === 0 ? 8 : Math.max(...named.map((line) => surface.textWidth(line.name!, { size }))) + 26;
  const head = chart.y.label === undefined ? 8 : headHeight;
  const plot = {
    x: box.x + left,
    y: box.y + head,
    width: box.width - left - right,
    height: box.height - head - footHeight,
  };
  const [end, foot] = [plot.x + plot.width, plot.y + plot.height];
  const x = scaleOf(chart.x.min, chart.x.max, plot.x, end, chart.x.log);
  const y = scaleOf(chart.y.min, chart.y.max, foot, plot.y, chart.y.log);
  if (chart.y.label !== undefined) surface.text(box.x, box.y + 6, chart.y.label, { size });
  for (const value of yTicks) {
    surface.path([plot.x, y.place(value), end, y.place(value)], { stroke: "faint" });
    surface.text(plot.x - 8, y.place(value), yTick(value), { align: "end", size });
  }
  const { cursor } = chart;
  if (cursor) surface.path([x.place(cursor.at), plot.y, x.place(cursor.at), foot], { stroke: cursor.ink ?? "cool" });
  for (const line of lines) drawLine(surface, line, x, y);
  for (const dot of cursor?.dots ?? []) {
    const place = y.place(dot.y);
    if (place >= plot.y - 4 && place <= foot + 4) surface.disc(x.place(cursor!.at), place, 3.2, { fill: dot.ink });
  }
  drawXAxis(surface, chart, plot, x);
  if (chart.locate) surface.region(plot, (share) => chart.locate!(x.value(share)));
  drawNames(surface, named, plot, y);
  return { plot, x, y };
}

// Along x it is counted: positions, offsets, pairs.
function ticksOf(axis: ChartAxis, whole = false): number[] {
  return (axis.log === true ? logTicks : whole ? wholeTicks : valueTicks)(axis.min, axis.max, axis.wish);
}

function drawLine(surface: Surface, line: ChartLine, x: Scale, y: Scale): void {
  const points = new Float64Array(2 * line.x.length);
  for (let i = 0; i < line.x.length; i++) {
    points[2 * i] = x.place(line.x[i] as number);
    points[2 * i + 1] = y.place(line.y[i] as number);
  }
  const { ink, width = 1.2, alpha, dash, dots } = line;
  surface.path(points, { stroke: ink, width, ...(alpha === undefined ? {} : { alpha }), ...(dash ? { dash } : {}) });
  if (dots === undefined) return;
  for (let i = 0; i < line.x.length; i++) {
    if (Number.isFinite(points[2 * i + 1])) surface.disc(points[2 * i]!, points[2 * i + 1]!, dots, { fill: ink });
  }
}

// Ticks give way to the name of the cursor and to that of the axis.
function drawXAxis(surface: Surface, { x: axis, cursor, box }: Chart, plot: Box, x: Scale): void {
  const size = labelSize;
  const line = plot.y + plot.height + 15;
  const taken: [number, number][] = [];
  const room = (from: number, to: number): boolean => taken.every(([low, high]) => to < low - 12 || from > high + 12);
  if (cursor) {
    const half = surface.textWidth(cursor.name, { size }) / 2;
    const middle = Math.max(box.x + half, Math.min(box.x + box.width - half, x.place(cursor.at)));
    surface.text(middle, line, cursor.name, { ink: cursor.ink ?? "cool", align: "middle", size });
    taken.push([middle - half, middle + half]);
  }
  const end = plot.x + plot.width;
  if (axis.label !== undefined) {
    const wide = surface.textWidth(axis.label, { size });
    const from = Math.min(end + 10, box.x + box.width - wide);
    if (room(from, from + wide)) {
      surface.text(from, line, axis.label, { size });
      taken.push([from, from + wide]);
    }
  }
  const write = axis.tick ?? tickText;
  for (const value of ticksOf(axis, true)) {
    const half = surface.textWidth(write(value), { size }) / 2;
    const place = x.place(value);
    if (!room(place - half, place + half)) continue;
    surface.text(place, line, write(value), { align: "middle", size });
    taken.push([place - half, place + half]);
  }
}

// Each name joined to the end of its line.
function drawNames(surface: Surface, named: readonly ChartLine[], plot: Box, y: Scale): void {
  const end = plot.x + plot.width;
  const wishes = named.map((line) => {
    for (let i = line.x.length - 1; i >= 0; i--) {
      const place = y.place(line.y[i] as number);
      if (Number.isFinite(place)) return Math.max(plot.y, Math.min(plot.y + plot.height, place));
    }
    return plot.y + plot.height;
  });
  const places = spread(wishes, nameGap, plot.y, plot.y + plot.height);
  named.forEach((line, k) => {
    const [wish, place] = [wishes[k] as number, places[k] as number];
    surface.path([end + 3, wish, end + 8, wish, end + 15, place, end + 18, place], { stroke: line.ink, alpha: 0.5 });
    surface.text(end + 22, place, line.name!, { ink: line.ink, size: labelSize });
    if (!line.choose) return;
    const width = surface.textWidth(line.name!, { size: labelSize }) + 22;
    const choose = line.choose;
    surface.region({ x: end, y: place - nameGap / 2, width, height: nameGap }, () => ({ choose }));
  });
}
