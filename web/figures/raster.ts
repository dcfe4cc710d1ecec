// The raster back end: draws into an array of pixels by itself, so that a picture has the same bits in every browser
// and in Node. What it draws, and where it snaps to pixels, is what canvas.ts does.
import { parseHex, type Rgb } from "./colour.js";
import { Coverage } from "./raster-coverage.js";
import { letterContours, lettersWidth } from "./raster-letters.js";
import { circle, dashed, strokeContours } from "./raster-stroke.js";
import { rasterOf } from "./shrink.js";
import {
  defaultSize,
  type BackEnd,
  type Box,
  type HeatMap,
  type Ink,
  type Paint,
  type Run,
  type TextStyle,
} from "./surface.js";
import type { Palette, Theme } from "./theme.js";

export class RasterBackEnd implements BackEnd {
  /** Size of the picture. */
  readonly width: number;
  readonly height: number;
  /** Red, green, blue of every pixel, row by row. */
  readonly pixels: Uint8Array;
  private readonly coverage: Coverage;

  /** A picture of width x height CSS pixels, the paper of the theme, with `ratio` pixels to each. */
  constructor(
    private readonly theme: Theme,
    width: number,
    height: number,
    private readonly ratio: number,
  ) {
    this.width = Math.max(1, Math.round(width * ratio));
    this.height = Math.max(1, Math.round(height * ratio));
    this.pixels = new Uint8Array(3 * this.width * this.height);
    this.coverage = new Coverage(this.width, this.height);
    this.block(0, 0, this.width, this.height, this.colour("paper"), 1);
  }

  rect(box: Box, paint: Paint): void {
    const [left, top, right, bottom] = this.edges(box);
    if (paint.fill) this.block(left, top, right, bottom, this.colour(paint.fill), this.alpha(paint.fill, paint));
    if (!paint.stroke) return;
    // Inside the box.
    const line = this.strokeWidth(paint);
    const half = line / 2;
    const [x0, y0] = [left + half, top + half];
    const [x1, y1] = [Math.max(x0, right - half), Math.max(y0, bottom - half)];
    if (paint.dash) this.strokeLine([x0, y0, x1, y0, x1, y1, x0, y1, x0, y0], paint);
    else {
      this.coverage.contour([x0 - half, y0 - half, x1 + half, y0 - half, x1 + half, y1 + half, x0 - half, y1 + half]);
      this.coverage.contour([x0 + half, y0 + half, x0 + half, y1 - half, x1 - half, y1 - half, x1 - half, y0 + half]);
    }
    this.paint(paint.stroke, paint);
  }

  path(points: ArrayLike<number>, paint: Paint): void {
    const n = points.length;
    const straight = n === 4 && !paint.fill && (points[0] === points[2] || points[1] === points[3]);
    const half = straight ? Math.max(1, Math.round((paint.width ?? 1) * this.ratio)) / 2 : 0;
    const lines: number[][] = [];
    let down: number[] | undefined;
    for (let i = 0; i + 1 < n; i += 2) {
      let x = (points[i] as number) * this.ratio;
      let y = (points[i + 1] as number) * this.ratio;
      if (!Number.isFinite(x) || !Number.isFinite(y)) {
        down = undefined;
        continue;
      }
      if (straight && points[0] === points[2]) x = Math.round(x) + half;
      if (straight && points[1] === points[3]) y = Math.round(y) + half;
      if (!down) lines.push((down = []));
      down.push(x, y);
    }
    if (paint.fill) {
      for (const line of lines) this.coverage.contour(line);
      this.paint(paint.fill, paint);
    }
    if (paint.stroke) {
      for (const line of lines) this.strokeLine(line, paint);
      this.paint(paint.stroke, paint);
    }
  }

  disc(x: number, y: number, radius: number, paint: Paint): void {
    const [px, py, r] = [x * this.ratio, y * this.ratio, radius * this.ratio];
    if (!Number.isFinite(px + py + r) || r < 0) return;
    if (paint.fill) {
      this.coverage.contour(circle(px, py, r));
      this.paint(paint.fill, paint);
    }
    if (!paint.stroke) return;
    const half = this.strokeWidth(paint) / 2;
    if (paint.dash) {
      const round = circle(px, py, r);
      this.strokeLine([...round, ...round.slice(0, 2)], paint);
    } else {
      this.coverage.contour(circle(px, py, r + half));
      if (r > half) this.coverage.contour(backwards(circle(px, py, r - half)));
    }
    this.paint(paint.stroke, paint);
  }

  text(x: number, y: number, text: string | readonly Run[], style: TextStyle): void {
    const runs: readonly Run[] = typeof text === "string" ? [{ text }] : text;
    const size = (style.size ?? defaultSize) * this.ratio;
    const widths = runs.map((run) => lettersWidth(run.text, size, run.bold ?? style.bold === true));
    const whole = widths.reduce((sum, width) => sum + width, 0);
    let along = style.align === "middle" ? -whole / 2 : style.align === "end" ? -whole : 0;
    const drop = (style.base ?? "middle") === "middle" ? 0.35 * size : 0;
    const [cos, sin] = directionOf(style.turn ?? 0);
    // Where the line runs level, the base line lies on an edge of pixels.
    const startX = x * this.ratio - drop * sin;
    const startY = sin === 0 ? Math.round(y * this.ratio + drop * cos) : y * this.ratio + drop * cos;
    runs.forEach((run, i) => {
      const line = { x: startX + along * cos, y: startY + along * sin, cos, sin };
      along += widths[i] as number;
      if (!Number.isFinite(line.x + line.y)) return;
      const bold = run.bold ?? style.bold === true;
      letterContours(run.text, size, bold, line, (contour) => this.coverage.contour(contour));
      this.paint(run.ink ?? style.ink ?? "grey", {});
    });
  }

  heatMap(box: Box, map: HeatMap): void {
    const [left, top, right, bottom] = this.edges(box);
    const [width, height] = [right - left, bottom - top];
    if (!(width > 0 && height > 0)) return;
    const table = map.scale.kind === "signed" ? this.theme.signed : this.theme.amount;
    const cells = rasterOf(map, width, height);
    for (let y = Math.max(0, top); y < Math.min(bottom, this.height); y++) {
      const row = Math.floor(((y - top + 0.5) * cells.height) / height) * cells.width;
      for (let x = Math.max(0, left); x < Math.min(right, this.width); x++) {
        const column = Math.floor(((x - left + 0.5) * cells.width) / width);
        const from = 3 * (cells.entries[row + column] as number);
        const at = 3 * (y * this.width + x);
        for (let k = 0; k < 3; k++) this.pixels[at + k] = table[from + k] as number;
      }
    }
  }

  region(): void {}

  textWidth(text: string, style: TextStyle): number {
    return lettersWidth(text, style.size ?? defaultSize, style.bold === true);
  }

  // The box on whole pixels: left, top, right, bottom.
  private edges(box: Box): [number, number, number, number] {
    const snap = (value: number): number => Math.round(value * this.ratio);
    return [snap(box.x), snap(box.y), snap(box.x + box.width), snap(box.y + box.height)];
  }

  private block(left: number, top: number, right: number, bottom: number, colour: Rgb, alpha: number): void {
    const from = Math.max(0, Math.min(left, right));
    const to = Math.min(this.width, Math.max(left, right));
    const last = Math.min(this.height, Math.max(top, bottom));
    for (let y = Math.max(0, Math.min(top, bottom)); y < last; y++) {
      for (let x = from; x < to; x++) this.blend(y * this.width + x, colour, alpha);
    }
  }

  private strokeLine(line: ArrayLike<number>, paint: Paint): void {
    const width = this.strokeWidth(paint);
    const pieces = paint.dash ? dashed(line, paint.dash.map((dash) => dash * this.ratio)) : [line];
    for (const piece of pieces) strokeContours(piece, width, (contour) => this.coverage.contour(contour));
  }

  // Pixels; hairlines are whole ones.
  private strokeWidth(paint: Paint): number {
    const wish = paint.width ?? 1;
    return wish <= 1 ? Math.max(1, Math.round(wish * this.ratio)) : wish * this.ratio;
  }

  // Paints what the contours so far cover.
  private paint(ink: Ink, paint: Paint): void {
    const colour = this.colour(ink);
    const alpha = this.alpha(ink, paint);
    this.coverage.fill((row, left, right, coverage) => {
      for (let x = left; x < right; x++) this.blend(row * this.width + x, colour, alpha * (coverage[x] as number));
    });
  }

  private blend(pixel: number, colour: Rgb, alpha: number): void {
    if (!(alpha > 0)) return;
    const { pixels } = this;
    for (let k = 0; k < 3; k++) {
      const below = pixels[3 * pixel + k] as number;
      pixels[3 * pixel + k] = Math.round(below + ((colour[k] as number) - below) * alpha);
    }
  }

  private hex(ink: Ink): string {
    return ink.startsWith("#") ? ink : this.theme[ink as keyof Palette];
  }

  private colour(ink: Ink): Rgb {
    return parseHex(this.hex(ink));
  }

  // Of the paint and, in #rgba and #rrggbbaa, of the ink.
  private alpha(ink: Ink, paint: Paint): number {
    const hex = this.hex(ink);
    const digits = hex.length === 9 ? hex.slice(7) : hex.length === 5 ? hex.slice(4).repeat(2) : "ff";
    return Math.min(1, Math.max(0, paint.alpha ?? 1)) * (Number.parseInt(digits, 16) / 255);
  }
}

function backwards(points: readonly number[]): number[] {
  const out: number[] = [];
  for (let i = points.length - 2; i >= 0; i -= 2) out.push(points[i] as number, points[i + 1] as number);
  return out;
}

// Cosine and sine of an angle in degrees: whole quarters exactly, the rest by its series, the same in every engine.
function directionOf(degrees: number): [number, number] {
  const quarters = Math.round(degrees / 90);
  const angle = ((degrees - 90 * quarters) * 3.141592653589793) / 180;
  let [cos, sin, term] = [1, angle, angle];
  let even = 1;
  for (let k = 1; k < 10; k++) {
    even *= (-angle * angle) / ((2 * k - 1) * (2 * k));
    term *= (-angle * angle) / (2 * k * (2 * k + 1));
    cos += even;
    sin += term;
  }
  const turned: [number, number][] = [
    [cos, sin],
    [-sin, cos],
    [-cos, -sin],
    [sin, -cos],
  ];
  return turned[((quarters % 4) + 4) % 4] as [number, number];
}
