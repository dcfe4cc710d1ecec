// The canvas back end: device pixels, edges snapped to them, heat maps without smoothing.
import { paint } from "../src/pixels.js";
import { colourOf, lawOf, toHex } from "./colour.js";
import { partOf, pixelsFor } from "./shrink.js";
import {
  defaultSize,
  locateCell,
  type BackEnd,
  type Box,
  type Cell,
  type HeatMap,
  type Ink,
  type Locate,
  type Paint,
  type Run,
  type TextStyle,
} from "./surface.js";
import type { Palette, Theme } from "./theme.js";

// The smallest budget among browsers (iOS Safari's), and Chromium's longest side.
const mostPixels = 16_000_000;
const longestSide = 16_384;

// Of each map's values, the tiles drawn last: a map may stand in a drawing at two sizes.
const tiles = new WeakMap<object, { key: string; table: Uint8Array; tile: HTMLCanvasElement }[]>();
const mostTiles = 3;
const tables = new WeakMap<Uint8Array, Uint8Array>();

// A colour table as the core takes it, with the alpha of pixels.
function withAlpha(table: Uint8Array): Uint8Array {
  let wide = tables.get(table);
  if (!wide) {
    wide = new Uint8Array(1024).fill(255);
    for (let i = 0; i < 256; i++) wide.set(table.subarray(3 * i, 3 * i + 3), 4 * i);
    tables.set(table, wide);
  }
  return wide;
}

export class CanvasBackEnd implements BackEnd {
  private readonly context: CanvasRenderingContext2D;
  private readonly regions: { box: Box; locate: Locate }[] = [];
  private lastFont = "";
  /** Device pixels per CSS pixel: the ratio asked for, or less where the canvas would be too large. */
  readonly ratio: number;

  /** Sizes and clears `canvas` for a drawing of width x height CSS pixels. */
  constructor(
    canvas: HTMLCanvasElement,
    private readonly theme: Theme,
    width: number,
    height: number,
    ratio: number,
  ) {
    const largest = Math.min(Math.sqrt(mostPixels / (width * height)), longestSide / Math.max(width, height));
    this.ratio = Math.min(ratio, largest);
    const pixelWidth = Math.max(1, Math.round(width * this.ratio));
    const pixelHeight = Math.max(1, Math.round(height * this.ratio));
    if (canvas.width !== pixelWidth) canvas.width = pixelWidth;
    if (canvas.height !== pixelHeight) canvas.height = pixelHeight;
    const context = canvas.getContext("2d");
    if (!context) throw new Error("This browser gives no drawing context for a canvas.");
    this.context = context;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, pixelWidth, pixelHeight);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
  }

  cellAt(x: number, y: number): Cell | undefined {
    return locateCell(this.regions, x, y);
  }

  rect(box: Box, paint: Paint): void {
    const c = this.context;
    const x = this.snap(box.x);
    const y = this.snap(box.y);
    const width = this.snap(box.x + box.width) - x;
    const height = this.snap(box.y + box.height) - y;
    c.globalAlpha = paint.alpha ?? 1;
    if (paint.fill) {
      c.fillStyle = this.ink(paint.fill);
      c.fillRect(x, y, width, height);
    }
    if (paint.stroke) {
      const line = this.stroke(paint, paint.stroke);
      c.strokeRect(x + line / 2, y + line / 2, Math.max(0, width - line), Math.max(0, height - line));
    }
  }

  path(points: ArrayLike<number>, paint: Paint): void {
    const c = this.context;
    c.globalAlpha = paint.alpha ?? 1;
    c.beginPath();
    let down = false;
    const straight = points.length === 4 && !paint.fill && (points[0] === points[2] || points[1] === points[3]);
    const half = straight ? Math.max(1, Math.round((paint.width ?? 1) * this.ratio)) / this.ratio / 2 : 0;
    for (let i = 0; i + 1 < points.length; i += 2) {
      let x = points[i] as number;
      let y = points[i + 1] as number;
      if (Number.isNaN(x) || Number.isNaN(y)) {
        down = false;
        continue;
      }
      if (straight && points[0] === points[2]) x = this.snap(x) + half;
      if (straight && points[1] === points[3]) y = this.snap(y) + half;
      if (down) c.lineTo(x, y);
      else c.moveTo(x, y);
      down = true;
    }
    this.finish(paint);
  }

  disc(x: number, y: number, radius: number, paint: Paint): void {
    this.context.globalAlpha = paint.alpha ?? 1;
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.finish(paint);
  }

  text(x: number, y: number, text: string | readonly Run[], style: TextStyle): void {
    const c = this.context;
    if (typeof text !== "string") {
      let at = x;
      for (const run of text) {
        this.text(at, y, run.text, { ...style, ...run });
        at += this.textWidth(run.text, { ...style, ...run });
      }
      return;
    }
    this.font(style);
    c.globalAlpha = 1;
    c.fillStyle = this.ink(style.ink ?? "grey");
    c.textAlign = style.align === "middle" ? "center" : (style.align ?? "start");
    c.textBaseline = "alphabetic";
    const drop = (style.base ?? "middle") === "middle" ? 0.35 * (style.size ?? defaultSize) : 0;
    if (style.turn === undefined) c.fillText(text, x, y + drop);
    else {
      c.save();
      c.translate(x, y);
      c.rotate((style.turn * Math.PI) / 180);
      c.fillText(text, 0, drop);
      c.restore();
    }
  }

  heatMap(box: Box, map: HeatMap): void {
    const x = this.snap(box.x);
    const y = this.snap(box.y);
    const width = this.snap(box.x + box.width) - x;
    const height = this.snap(box.y + box.height) - y;
    const table = map.scale.kind === "signed" ? this.theme.signed : this.theme.amount;
    this.context.globalAlpha = 1;
    const { row, rows, column, columns } = partOf(map);
    if (rows * columns === 1) {
      this.context.fillStyle = toHex(colourOf(table, map.scale, map.values[row * map.columns + column] as number));
      this.context.fillRect(x, y, width, height);
      return;
    }
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(this.tile(map, width * this.ratio, height * this.ratio, table), x, y, width, height);
  }

  // The map at one pixel a cell, or fewer where there is no room. Kept while its values live, so that a cursor that
  // moves over a large map colours nothing anew.
  private tile(map: HeatMap, room: number, tall: number, table: Uint8Array): HTMLCanvasElement {
    const part = partOf(map);
    const [width, height] = pixelsFor(part, room, tall);
    const key = JSON.stringify([part, map.columns, map.scale, width, height]);
    const known = tiles.get(map.values) ?? [];
    tiles.set(map.values, known);
    const same = known.find((one) => one.key === key && one.table === table);
    if (same) return same.tile;
    const image = new ImageData(width, height);
    const start = part.row * map.columns + part.column;
    const cells = { values: map.values, start, stride: map.columns, rows: part.rows, columns: part.columns };
    paint(cells, width, height, { ...lawOf(map.scale), table: withAlpha(table) }, image.data);
    const spare = known.length < mostTiles ? undefined : known.pop()?.tile;
    const tile = spare ?? this.context.canvas.ownerDocument.createElement("canvas");
    tile.width = width;
    tile.height = height;
    tile.getContext("2d")?.putImageData(image, 0, 0);
    known.unshift({ key, table, tile });
    return tile;
  }

  region(box: Box, locate: Locate): void {
    this.regions.push({ box, locate });
  }

  textWidth(text: string, style: TextStyle): number {
    this.font(style);
    return this.context.measureText(text).width;
  }

  private finish(paint: Paint): void {
    if (paint.fill) {
      this.context.fillStyle = this.ink(paint.fill);
      this.context.fill();
    }
    if (paint.stroke) {
      this.stroke(paint, paint.stroke);
      this.context.stroke();
    }
  }

  // Sets the stroke; hairlines are whole device pixels. Returns their width.
  private stroke(paint: Paint, ink: Ink): number {
    const wish = paint.width ?? 1;
    const width = wish <= 1 ? Math.max(1, Math.round(wish * this.ratio)) / this.ratio : wish;
    this.context.strokeStyle = this.ink(ink);
    this.context.lineWidth = width;
    this.context.lineJoin = "round";
    this.context.setLineDash([...(paint.dash ?? [])]);
    return width;
  }

  private font(style: TextStyle): void {
    const font = `${style.bold === true ? "600 " : ""}${style.size ?? defaultSize}px ${this.theme.font}`;
    // Browsers read the list of families anew, and a drawing measures hundreds of words.
    if (font !== this.lastFont) this.context.font = this.lastFont = font;
  }

  private ink(ink: Ink): string {
    return ink.startsWith("#") ? ink : this.theme[ink as keyof Palette];
  }

  private snap(value: number): number {
    return Math.round(value * this.ratio) / this.ratio;
  }
}
