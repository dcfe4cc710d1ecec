// The recording back end: every operation as a line of text, colours by role, numbers to a tenth of a pixel. Tests read
// it.
import { entryOf } from "./colour.js";
import { partOf } from "./shrink.js";
import {
  estimateWidth,
  locateCell,
  type BackEnd,
  type Box,
  type Cell,
  type HeatMap,
  type Locate,
  type Paint,
  type Run,
  type TextStyle,
} from "./surface.js";

export class RecordingBackEnd implements BackEnd {
  readonly operations: string[] = [];
  /** The points of every path, in order. */
  readonly paths: Float64Array[] = [];
  private readonly regions: { box: Box; locate: Locate }[] = [];

  /** The cell a pointer at (x, y) would read. */
  cellAt(x: number, y: number): Cell | undefined {
    return locateCell(this.regions, x, y);
  }

  rect(box: Box, paint: Paint): void {
    this.operations.push(`rect ${boxText(box)} ${paintText(paint)}`);
  }

  path(points: ArrayLike<number>, paint: Paint): void {
    this.paths.push(Float64Array.from(points));
    const n = points.length;
    const ends =
      n < 2 ? "" : `${tenth(points[0])},${tenth(points[1])} … ${tenth(points[n - 2])},${tenth(points[n - 1])}`;
    this.operations.push(`path ${n / 2} points ${ends} ${paintText(paint)}`);
  }

  disc(x: number, y: number, radius: number, paint: Paint): void {
    this.operations.push(`disc ${tenth(x)},${tenth(y)} r ${tenth(radius)} ${paintText(paint)}`);
  }

  text(x: number, y: number, text: string | readonly Run[], style: TextStyle): void {
    const words = typeof text === "string" ? text : text.map((run) => run.text).join("");
    const turn = style.turn === undefined ? "" : ` turn ${style.turn}`;
    const bold = style.bold === true ? " bold" : "";
    const how = `${style.ink ?? "grey"} ${style.align ?? "start"}${bold}${turn}`;
    this.operations.push(`text ${tenth(x)},${tenth(y)} ${JSON.stringify(words)} ${how}`);
  }

  heatMap(box: Box, map: HeatMap): void {
    const { row, rows, column, columns } = partOf(map);
    const first = Array.from({ length: Math.min(8, columns) }, (_, c) =>
      entryOf(map.scale, map.values[row * map.columns + column + c] as number),
    );
    const of = map.part ? ` of ${map.rows} x ${map.columns} from ${row}, ${column}` : "";
    const what = `${rows} x ${columns}${of} ${map.scale.kind}`;
    this.operations.push(`heatMap ${boxText(box)} ${what} first row ${first.join(" ")}`);
  }

  region(box: Box, locate: Locate): void {
    this.regions.push({ box, locate });
    this.operations.push(`region ${boxText(box)}`);
  }

  textWidth(text: string, style: TextStyle): number {
    return estimateWidth(text, style);
  }
}

function tenth(value: number | undefined): string {
  return String(Math.round((value ?? Number.NaN) * 10) / 10);
}

function boxText(box: Box): string {
  return `${tenth(box.x)},${tenth(box.y)} ${tenth(box.width)}x${tenth(box.height)}`;
}

function paintText(paint: Paint): string {
  return Object.entries(paint)
    .map(([key, value]) => `${key}=${Array.isArray(value) ? value.join("/") : value}`)
    .join(" ");
}
