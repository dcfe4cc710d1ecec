// The one drawing surface. A figure draws on a Surface in CSS pixels and in roles of colour; a back end (canvas.ts,
// svg.ts, recording.ts) turns that into pixels, markup or a list of operations.
import { readAll } from "../src/error.js";
import type { ColourScale } from "./colour.js";
import type { Values } from "./figure.js";
import type { Palette, Theme } from "./theme.js";

/** A role of the theme, or a colour of its own. */
export type Ink = keyof Palette | `#${string}`;

export interface Paint {
  fill?: Ink;
  stroke?: Ink;
  /** Width of the stroke, in pixels; 1 by default. */
  width?: number;
  alpha?: number;
  dash?: readonly number[];
}

export interface TextStyle {
  /** Pixels; 12 by default. */
  size?: number;
  bold?: boolean;
  /** "grey" by default. */
  ink?: Ink;
  align?: "start" | "middle" | "end";
  /** Where `y` lies: the middle of the x-height ("middle", the default) or the base line. */
  base?: "middle" | "line";
  /** Degrees, clockwise, about (x, y). */
  turn?: number;
}

/** A piece of a line of text with its own weight and ink. */
export interface Run {
  text: string;
  bold?: boolean;
  ink?: Ink;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Some rows and columns of a matrix: the first of them and how many. */
export interface Part {
  row: number;
  rows: number;
  column: number;
  columns: number;
}

export interface HeatMap {
  /** Row-major, rows x columns; NaN is a masked cell. */
  values: ArrayLike<number>;
  rows: number;
  columns: number;
  scale: ColourScale;
  /** The cells that are drawn; all by default. */
  part?: Part | undefined;
}

/** What a place of a region means to the reader's cursor; an axis left out keeps its place. */
export interface Cell {
  row?: number;
  column?: number;
  /** Fields that a click here sets (another head, another pair); a pointer that only passes sets none. */
  choose?: Values;
}

/** From a place inside a region (u to the right, v downwards, both 0 to 1) to a cell. */
export type Locate = (u: number, v: number) => Cell;

export interface BackEnd {
  rect(box: Box, paint: Paint): void;
  /** Points x0, y0, x1, y1, …; a NaN coordinate lifts the pen. */
  path(points: ArrayLike<number>, paint: Paint): void;
  disc(x: number, y: number, radius: number, paint: Paint): void;
  text(x: number, y: number, text: string | readonly Run[], style: TextStyle): void;
  heatMap(box: Box, map: HeatMap): void;
  region(box: Box, locate: Locate): void;
  textWidth(text: string, style: TextStyle): number;
}

/** The cell under (x, y): of the last region that holds the point. */
export function locateCell(regions: readonly { box: Box; locate: Locate }[], x: number, y: number): Cell | undefined {
  for (let i = regions.length - 1; i >= 0; i--) {
    const { box, locate } = regions[i] as { box: Box; locate: Locate };
    const u = (x - box.x) / box.width;
    const v = (y - box.y) / box.height;
    if (u >= 0 && u < 1 && v >= 0 && v < 1) return locate(u, v);
  }
  return undefined;
}

export class Surface {
  constructor(
    private readonly backEnd: BackEnd,
    readonly theme: Theme,
    readonly width: number,
    readonly height: number,
    private readonly left = 0,
    private readonly top = 0,
  ) {}

  /** True where there is no room for what stands beside a drawing. */
  get narrow(): boolean {
    return this.width < 500;
  }

  /** A part of this surface with its own origin. */
  inset(x: number, y: number, width: number, height: number): Surface {
    return new Surface(this.backEnd, this.theme, width, height, this.left + x, this.top + y);
  }

  rect(x: number, y: number, width: number, height: number, paint: Paint): void {
    this.backEnd.rect({ x: this.left + x, y: this.top + y, width, height }, readAll(paint));
  }

  /** Straight lines through x0, y0, x1, y1, …; a NaN coordinate lifts the pen. */
  path(points: ArrayLike<number>, paint: Paint): void {
    const moved = new Float64Array(points.length);
    for (let i = 0; i < points.length; i++) moved[i] = (points[i] as number) + (i % 2 === 0 ? this.left : this.top);
    this.backEnd.path(moved, readAll(paint));
  }

  disc(x: number, y: number, radius: number, paint: Paint): void {
    this.backEnd.disc(this.left + x, this.top + y, radius, readAll(paint));
  }

  /** A line of text; runs follow one another and start at x. */
  text(x: number, y: number, text: string | readonly Run[], style: TextStyle = {}): void {
    this.backEnd.text(this.left + x, this.top + y, text, readAll(style));
  }

  heatMap(box: Box, map: HeatMap): void {
    this.backEnd.heatMap({ ...box, x: this.left + box.x, y: this.top + box.y }, map);
  }

  /** Tells pointers which cells lie in `box`. Later regions lie above earlier ones. */
  region(box: Box, locate: Locate): void {
    this.backEnd.region({ ...box, x: this.left + box.x, y: this.top + box.y }, locate);
  }

  textWidth(text: string, style: TextStyle = {}): number {
    return this.backEnd.textWidth(text, readAll(style));
  }
}

export const defaultSize = 12;

// Advance widths of a common sans face (Helvetica's, in thousandths of the size) for U+0020 to U+007E: what the back
// ends without a DOM measure text with. Real faces differ by a tenth, which the margins of a drawing allow for.
const advances =
  "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 " +
  "278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 " +
  "667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 " +
  "556 333 500 278 556 500 722 500 500 500 334 260 334 584";
const advanceTable = advances.split(" ").map(Number);

/** Width of text in pixels without a font at hand. */
export function estimateWidth(text: string, style: TextStyle): number {
  let width = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    width += code === 0x2009 || code === 0x202f ? 200 : (advanceTable[code - 32] ?? (code > 0x2e80 ? 1000 : 584));
  }
  return (width * (style.size ?? defaultSize) * (style.bold === true ? 1.13 : 1.08)) / 1000;
}
