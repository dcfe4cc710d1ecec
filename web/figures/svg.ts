// The SVG back end: a string of markup, made without a DOM. Heat maps become shapes (runs of one colour, cell by cell),
// very large ones an embedded PNG with hard pixels.
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

const mostVectorCells = 10_000;
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
    if (map.rows * map.columns <= mostVectorCells) {
      this.parts.push(cells(box, rasterOf(map, map.columns, map.rows), table));
    } else {
      const raster = rasterOf(map, pixelsPerUnit * box.width, pixelsPerUnit * box.height);
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

// One path a colour, in units of a cell; cells of a colour that make a rectangle are one shape.
function cells(box: Box, { entries, width, height }: Raster, table: Uint8Array): string {
  const paths = new Map<number, { d: string; x: number; y: number }>();
  const done = new Uint8Array(entries.length);
  const alike = (x: number, y: number, below: number, entry: number): boolean => {
    for (let at = y * width + x; at < below * width; at += width) {
      if (done[at] === 1 || entries[at] !== entry) return false;
    }
    return true;
  };
  for (let x = 0; x < width; x++) {
    for (let y = 0; y < height; y++) {
      const entry = entries[y * width + x] as number;
      if (done[y * width + x] === 1) continue;
      // Down first: tables of encodings are even along columns.
      let below = y + 1;
      while (below < height && alike(x, below, below + 1, entry)) below++;
      let end = x + 1;
      while (end < width && alike(end, y, below, entry)) end++;
      for (let row = y; row < below; row++) done.fill(1, row * width + x, row * width + end);
      // From where the shape before it ended, which takes fewer digits.
      const { d, ...pen } = paths.get(entry) ?? { d: "", x: 0, y: 0 };
      const shape = `m${x - pen.x}${y < pen.y ? "" : " "}${y - pen.y}h${end - x}v${below - y}h${x - end}`;
      paths.set(entry, { d: d + shape, x, y: below });
    }
  }
  const [w, h] = [fine(box.width / width), fine(box.height / height)];
  const place = `translate(${short(box.x)} ${short(box.y)}) scale(${w} ${h})`;
  const shapes = [...paths].map(([entry, { d }]) => {
    const [r = 0, g = 0, b = 0] = table.subarray(3 * entry, 3 * entry + 3);
    return `<path fill="${toHex([r, g, b])}" d="${d}"/>`;
  });
  return `<g transform="${place}" shape-rendering="crispEdges">${shapes.join("")}</g>`;
}

export function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

// A scale: thousands of cells add its error up.
function fine(value: number): string {
  return String(Number(value.toPrecision(7)));
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
