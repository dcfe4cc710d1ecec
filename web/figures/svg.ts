// The SVG back end: a string of markup, made without a DOM. Small heat maps become rectangles (runs of one colour),
// large ones an embedded PNG with hard pixels.
import { base64, encodePng } from "./png.js";
import { toHex } from "./colour.js";
import { rasterOf, type Raster } from "./shrink.js";
import {
  defaultSize,
  estimateWidth,
  type BackEnd,
  type Box,
  type HeatMap,
  type Ink,
  type Paint,
  type Run,
  type TextStyle,
} from "./surface.js";
import type { Palette, Theme } from "./theme.js";

const mostRectangles = 1200;
const pixelsPerUnit = 2;

export class SvgBackEnd implements BackEnd {
  private readonly parts: string[] = [];

  constructor(private readonly theme: Theme) {}

  /** The whole picture. `title` and `description` are for those who cannot see it. */
  document(width: number, height: number, title: string, description: string): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${short(width)}" height="${short(height)}" ` +
      `viewBox="0 0 ${short(width)} ${short(height)}" role="img" font-family="${escape(this.theme.font)}">` +
      `<title>${escape(title)}</title><desc>${escape(description)}</desc>` +
      `<rect width="100%" height="100%" fill="${this.theme.paper}"/>${this.parts.join("")}</svg>`
    );
  }

  rect(box: Box, paint: Paint): void {
    this.parts.push(`<rect${this.box(box)}${this.paint(paint)}/>`);
  }

  path(points: ArrayLike<number>, paint: Paint): void {
    let d = "";
    let down = false;
    for (let i = 0; i + 1 < points.length; i += 2) {
      const x = points[i] as number;
      const y = points[i + 1] as number;
      if (Number.isNaN(x) || Number.isNaN(y)) down = false;
      else {
        d += `${down ? "L" : "M"}${short(x)} ${short(y)}`;
        down = true;
      }
    }
    this.parts.push(`<path d="${d}"${this.paint(paint)}${paint.stroke ? ' stroke-linejoin="round"' : ""}/>`);
  }

  disc(x: number, y: number, radius: number, paint: Paint): void {
    this.parts.push(`<circle cx="${short(x)}" cy="${short(y)}" r="${short(radius)}"${this.paint(paint)}/>`);
  }

  text(x: number, y: number, text: string | readonly Run[], style: TextStyle): void {
    const size = style.size ?? defaultSize;
    const line = (style.base ?? "middle") === "middle" ? y + 0.35 * size : y;
    // Turned text turns about (x, y), so its base line is shifted inside the turned frame.
    const place =
      style.turn === undefined
        ? ` x="${short(x)}" y="${short(line)}"`
        : ` y="${short(line - y)}" transform="translate(${short(x)} ${short(y)}) rotate(${short(style.turn)})"`;
    const anchor = style.align && style.align !== "start" ? ` text-anchor="${style.align}"` : "";
    const weight = style.bold === true ? ' font-weight="600"' : "";
    const fill = this.ink(style.ink ?? "grey");
    const inner = typeof text === "string" ? escape(text) : text.map((run) => this.run(run)).join("");
    const space = typeof text === "string" ? "" : ' xml:space="preserve"';
    this.parts.push(
      `<text${place} font-size="${short(size)}"${anchor}${weight} fill="${fill}"${space}>${inner}</text>`,
    );
  }

  heatMap(box: Box, map: HeatMap): void {
    const table = map.scale.kind === "signed" ? this.theme.signed : this.theme.amount;
    const raster = rasterOf(map, pixelsPerUnit * box.width, pixelsPerUnit * box.height);
    if (raster.width * raster.height <= mostRectangles) this.parts.push(runs(box, raster, table));
    else {
      const png = encodePng(raster.entries, raster.width, raster.height, table);
      this.parts.push(
        `<image${this.box(box)} preserveAspectRatio="none" image-rendering="pixelated" ` +
          `href="data:image/png;base64,${base64(png)}"/>`,
      );
    }
  }

  region(): void {}

  textWidth(text: string, style: TextStyle): number {
    return estimateWidth(text, style);
  }

  private run(run: Run): string {
    const weight = run.bold === true ? ' font-weight="600"' : "";
    const fill = run.ink ? ` fill="${this.ink(run.ink)}"` : "";
    return weight + fill === "" ? escape(run.text) : `<tspan${weight}${fill}>${escape(run.text)}</tspan>`;
  }

  private ink(ink: Ink): string {
    return ink.startsWith("#") ? escape(ink) : this.theme[ink as keyof Palette];
  }

  private box(box: Box): string {
    return ` x="${short(box.x)}" y="${short(box.y)}" width="${short(box.width)}" height="${short(box.height)}"`;
  }

  private paint(paint: Paint): string {
    let text = ` fill="${paint.fill ? this.ink(paint.fill) : "none"}"`;
    if (paint.stroke) text += ` stroke="${this.ink(paint.stroke)}"`;
    if (paint.stroke && paint.width !== undefined && paint.width !== 1) text += ` stroke-width="${short(paint.width)}"`;
    if (paint.alpha !== undefined && paint.alpha !== 1) text += ` opacity="${short(paint.alpha)}"`;
    if (paint.dash) text += ` stroke-dasharray="${paint.dash.map(short).join(" ")}"`;
    return text;
  }
}

function runs(box: Box, raster: Raster, table: Uint8Array): string {
  const w = box.width / raster.width;
  const h = box.height / raster.height;
  let text = '<g shape-rendering="crispEdges">';
  for (let y = 0; y < raster.height; y++) {
    for (let x = 0; x < raster.width;) {
      const entry = raster.entries[y * raster.width + x] as number;
      let end = x + 1;
      while (end < raster.width && raster.entries[y * raster.width + end] === entry) end++;
      const colour = toHex([table[3 * entry] ?? 0, table[3 * entry + 1] ?? 0, table[3 * entry + 2] ?? 0]);
      text +=
        `<rect x="${short(box.x + x * w)}" y="${short(box.y + y * h)}" width="${short((end - x) * w)}" ` +
        `height="${short(h)}" fill="${colour}"/>`;
      x = end;
    }
  }
  return `${text}</g>`;
}

export function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

// What no XML document may hold, not even escaped: most control characters, halves of surrogate pairs, U+FFFE, U+FFFF.
const unwritable = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/** Text as XML holds it; each character that it cannot hold becomes U+FFFD. */
export function escape(text: string): string {
  return text
    .replace(unwritable, "\uFFFD")
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/"/g, "&quot;");
}
