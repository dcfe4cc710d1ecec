// The raster back end against what is known otherwise: areas, distances, the font's own tables, the rules of PNG.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { crc32, inflateSync } from "node:zlib";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { readFont, wantedCharacters } from "../../../web/glyphs.mjs";
import { ready } from "../../../web/src/index.js";
import { parseHex } from "../../../web/figures/colour.js";
import { figures } from "../../../web/figures/index.js";
import { Coverage } from "../../../web/figures/raster-coverage.js";
import { lettersWidth } from "../../../web/figures/raster-letters.js";
import { encodePicture } from "../../../web/figures/raster-png.js";
import { renderPNG } from "../../../web/figures/raster-page.js";
import { circle, dashed, strokeContours } from "../../../web/figures/raster-stroke.js";
import { RasterBackEnd } from "../../../web/figures/raster.js";
import { Surface, type TextStyle } from "../../../web/figures/surface.js";
import { makeTheme } from "../../../web/figures/theme.js";

const theme = makeTheme(false);

// Coverage of every pixel, row by row.
function cover(width: number, height: number, contours: readonly ArrayLike<number>[]): Float64Array {
  const coverage = new Coverage(width, height);
  for (const contour of contours) coverage.contour(contour);
  const out = new Float64Array(width * height);
  coverage.fill((row, left, right, shares) => out.set(shares.subarray(left, right), row * width + left));
  return out;
}

const total = (shares: Float64Array): number => shares.reduce((sum, share) => sum + share, 0);

// The same by asking at 16 x 16 points of every pixel.
function sampled(width: number, height: number, inside: (x: number, y: number) => boolean): Float64Array {
  const n = 16;
  return Float64Array.from({ length: width * height }, (_, i) => {
    let hits = 0;
    for (let k = 0; k < n * n; k++) {
      const x = (i % width) + ((k % n) + 0.5) / n;
      const y = Math.floor(i / width) + (Math.floor(k / n) + 0.5) / n;
      if (inside(x, y)) hits++;
    }
    return hits / (n * n);
  });
}

function furthest(a: Float64Array, b: Float64Array): number {
  return a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);
}

// Winding number by the angle that the contour sweeps, seen from the point.
function winding(contour: readonly number[], x: number, y: number): number {
  let angle = 0;
  for (let i = 0, n = contour.length; i < n; i += 2) {
    const [ax, ay] = [contour[i]! - x, contour[i + 1]! - y];
    const [bx, by] = [contour[(i + 2) % n]! - x, contour[(i + 3) % n]! - y];
    angle += Math.atan2(ax * by - ay * bx, ax * bx + ay * by);
  }
  return Math.round(angle / (2 * Math.PI));
}

describe("coverage", () => {
  it("of a box is the product of its sides, pixel by pixel", () => {
    const [l, t, r, b] = [1.3, 2.25, 4.9, 5.75];
    const side = (from: number, to: number, at: number): number =>
      Math.max(0, Math.min(to, at + 1) - Math.max(from, at));
    const shares = cover(7, 8, [[l, t, r, t, r, b, l, b]]);
    for (let y = 0; y < 8; y++)
      for (let x = 0; x < 7; x++) expect(shares[7 * y + x]).toBeCloseTo(side(l, r, x) * side(t, b, y), 12);
  });

  it("of a triangle sums to its area, however it lies", () => {
    const place = fc.double({ min: 0, max: 40, noNaN: true });
    fc.assert(
      fc.property(fc.array(place, { minLength: 6, maxLength: 6 }), (p) => {
        const area = Math.abs((p[2]! - p[0]!) * (p[5]! - p[1]!) - (p[4]! - p[0]!) * (p[3]! - p[1]!)) / 2;
        // Rows are looked at on sixteen lines: a side may be off by half of one, along its width.
        expect(Math.abs(total(cover(40, 40, [p])) - area)).toBeLessThan(40 / 32 + 1e-9);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ["a star, with its middle", [20, 2, 31, 36, 2, 15, 38, 15, 9, 36]],
    ["a bow", [3.5, 4.1, 36.2, 33.3, 35.7, 5.9, 4.4, 30.2]],
    ["a sliver", [1, 10.2, 39, 10.9, 39, 11.4]],
  ])("of %s is what the winding says", (_, star) => {
    const expected = sampled(40, 40, (x, y) => winding(star, x, y) !== 0);
    expect(furthest(cover(40, 40, [star]), expected)).toBeLessThan(0.07);
  });

  it("unites what overlaps and cuts what winds the other way", () => {
    const box = (l: number, t: number, r: number, b: number): number[] => [l, t, r, t, r, b, l, b];
    const hole = [4, 4, 4, 6, 6, 6, 6, 4];
    expect(total(cover(20, 20, [box(2, 2, 10, 10), box(5.5, 2, 13.5, 10)]))).toBeCloseTo(11.5 * 8, 12);
    expect(total(cover(20, 20, [box(2, 2, 10, 10), hole]))).toBeCloseTo(60, 12);
  });

  it("stays inside of the picture", () => {
    expect([...cover(3, 2, [[-1e9, -1e9, 1e9, -1e9, 1e9, 1e9, -1e9, 1e9]])]).toEqual([1, 1, 1, 1, 1, 1]);
    expect(total(cover(3, 2, [[-9, -9, -1, -9, -1, 9, -9, 9]]))).toBe(0);
    expect(total(cover(3, 2, [[4, 0, 9, 0, 9, 2, 4, 2]]))).toBe(0);
    expect(total(cover(3, 2, [[0, 0, 3, 0]]))).toBe(0);
  });
});

function strokes(line: readonly number[], width: number): number[][] {
  const contours: number[][] = [];
  strokeContours(line, width, (contour) => contours.push(contour));
  return contours;
}

// In a rectangle about a piece, or near enough to a bend.
function onStroke(line: readonly number[], half: number, x: number, y: number): boolean {
  for (let i = 2; i < line.length; i += 2) {
    const [ax, ay, bx, by] = [line[i - 2]!, line[i - 1]!, line[i]!, line[i + 1]!];
    const length = Math.hypot(bx - ax, by - ay);
    const along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length;
    const beside = ((x - ax) * (by - ay) - (y - ay) * (bx - ax)) / length;
    if (along >= 0 && along <= length && Math.abs(beside) <= half) return true;
    if (i + 2 < line.length && Math.hypot(x - bx, y - by) <= half) return true;
  }
  return false;
}

describe("strokes", () => {
  const zigzag = [4, 5, 25, 9, 6, 16, 30, 17, 30, 30, 17, 20, 17, 33];
  // Its ends lie outside of the picture, where nothing is compared.
  const wave = Array.from({ length: 320 }, (_, i) =>
    i % 2 === 0 ? -4 + (i / 2) * 0.3 : 18 + 11 * Math.sin(0.06 * i),
  );
  const reversal = [6, 20, 30, 24, 6, 20];
  it.each([
    ["sharp bends", zigzag, 5],
    ["both ways of turning", zigzag.map((_, i) => zigzag[(zigzag.length - 1 - i) ^ 1]!), 3],
    ["a dense curve", wave, 3],
    ["a reversal", reversal, 6],
  ])("with %s cover what is near", (_, line, width) => {
    const expected = sampled(38, 38, (x, y) => onStroke(line, width / 2, x, y));
    expect(furthest(cover(38, 38, strokes(line, width)), expected)).toBeLessThan(0.09);
  });

  it("have the area of their length times their width", () => {
    expect(total(cover(60, 60, strokes([5, 5, 53, 41], 2.5)))).toBeCloseTo(60 * 2.5, 1);
    expect(strokes([5, 5, 5, 5], 3)).toEqual([]);
    expect(strokes([5, 5], 3)).toEqual([]);
  });

  it("break into dashes along the line, round its bends", () => {
    const pieces = dashed([0, 0, 10, 0, 10, 10], [4, 3]);
    expect(pieces.map((piece) => Array.from(piece))).toEqual([
      [0, 0, 4, 0],
      [7, 0, 10, 0, 10, 1],
      [10, 4, 10, 8],
    ]);
    // An odd pattern goes on with its gaps and dashes exchanged.
    expect(dashed([0, 0, 12, 0], [2]).map((piece) => Array.from(piece))).toEqual([
      [0, 0, 2, 0],
      [4, 0, 6, 0],
      [8, 0, 10, 0],
    ]);
    for (const odd of [[], [0, 0], [Number.NaN, 2], [-1, 4]]) expect(dashed([0, 0, 5, 0], odd)).toHaveLength(1);
    expect(dashed([0, 0, 1e12, 0], [1, 1])).toHaveLength(1);
  });

  it.each([0.4, 3, 25])("and discs of radius %s are round", (radius) => {
    const shares = cover(60, 60, [circle(30.2, 29.7, radius)]);
    expect(Math.abs(total(shares) / (Math.PI * radius * radius) - 1)).toBeLessThan(radius < 1 ? 0.1 : 0.01);
    const expected = sampled(60, 60, (x, y) => Math.hypot(x - 30.2, y - 29.7) <= radius);
    expect(furthest(shares, expected)).toBeLessThan(0.07);
  });
});

const fontFolder = dirname(createRequire(import.meta.url).resolve("source-sans/package.json"));
const fontFile = (name: string) => readFont(readFileSync(join(fontFolder, name)));

// Pixels that are not paper: left, top, right, bottom.
function inkBox(back: RasterBackEnd): [number, number, number, number] {
  const paper = parseHex(theme.paper);
  let [left, top, right, bottom] = [back.width, back.height, 0, 0];
  for (let i = 0; i < back.width * back.height; i++) {
    if (paper.every((channel, k) => back.pixels[3 * i + k] === channel)) continue;
    const [x, y] = [i % back.width, Math.floor(i / back.width)];
    [left, top] = [Math.min(left, x), Math.min(top, y)];
    [right, bottom] = [Math.max(right, x + 1), Math.max(bottom, y + 1)];
  }
  return [left, top, right, bottom];
}

function written(text: string, style: TextStyle, width: number, height: number, x: number, y: number): RasterBackEnd {
  const back = new RasterBackEnd(theme, width, height, 1);
  back.text(x, y, text, { ink: "ink", ...style });
  return back;
}

describe("letters", () => {
  const enlarged = 523 / 486; // Helvetica's x-height over the face's

  it.each([
    [false, "OTF/SourceSans3-Regular.otf"],
    [true, "OTF/SourceSans3-Semibold.otf"],
  ])("advance as the face's other format says (bold: %s)", (bold, file) => {
    const other = fontFile(file);
    const codes = wantedCharacters().filter((code) => code !== 0x3a2); // no letter stands there
    expect(codes.length).toBeGreaterThan(400);
    for (const code of codes) {
      const glyph = other.glyphOf(code);
      expect(glyph, `U+${code.toString(16)}`).toBeGreaterThan(0);
      const width = lettersWidth(String.fromCodePoint(code), 1000, bold);
      expect(Math.abs(width - other.advance(glyph) * enlarged), `U+${code.toString(16)}`).toBeLessThan(1.1);
    }
    for (const digit of "0123456789\u2212") expect(lettersWidth(digit, 10, bold)).toBe(lettersWidth("0", 10, bold));
  });

  // Every glyph's box stands in its header, written by the tool that made the font.
  it("fill the box that the font states", () => {
    const bytes = readFileSync(join(fontFolder, "TTF/SourceSans3-Regular.ttf"));
    const table = (name: string): number => bytes.readUInt32BE(bytes.indexOf(name, 12, "latin1") + 8);
    const long = bytes.readInt16BE(table("head") + 50) === 1;
    const size = 100;
    const unit = (size * 523) / 486 / 1000;
    for (const character of "Aagjq0248@&ÄéñøŁσπωΩ√∑⟨→”½") {
      const glyph = fontFile("TTF/SourceSans3-Regular.ttf").glyphOf(character.codePointAt(0)!);
      const loca = table("loca") + (long ? 4 : 2) * glyph;
      const at = table("glyf") + (long ? bytes.readUInt32BE(loca) : 2 * bytes.readUInt16BE(loca));
      const stated = (k: number): number => bytes.readInt16BE(at + k) * unit;
      const box = inkBox(written(character, { size, base: "line" }, 260, 260, 60, 160));
      const expected = [60 + stated(2), 160 - stated(8), 60 + stated(6), 160 - stated(4)];
      box.forEach((edge, k) => expect(Math.abs(edge - expected[k]!), `${character} ${k}`).toBeLessThan(1.1));
    }
  });

  it("stand where they are asked to", () => {
    const size = 20;
    const wide = lettersWidth("Heads", size, false);
    const box = (style: TextStyle) => inkBox(written("Heads", { size, base: "line", ...style }, 200, 60, 100, 40));
    const [start] = box({});
    expect(box({ align: "middle" })[0] - start).toBeCloseTo(-wide / 2, -0.4);
    expect(Math.abs(box({ align: "end" })[0] - start + wide)).toBeLessThan(1.01);
    expect(box({})[3]).toBeLessThanOrEqual(41);
    expect(box({ base: "middle" })[3] - box({})[3]).toBe(7);
    // Runs follow one another.
    const runs = new RasterBackEnd(theme, 200, 60, 1);
    runs.text(100, 40, [{ text: "He" }, { text: "ads" }], { size, ink: "ink", base: "line" });
    expect(Buffer.compare(runs.pixels, written("Heads", { size, base: "line" }, 200, 60, 100, 40).pixels)).toBe(0);
  });

  it("turn", () => {
    const n = 120;
    const level = written("turned gq", { size: 18, base: "line" }, n, n, 10, 60);
    const upright = written("turned gq", { size: 18, base: "line", turn: -90 }, n, n, 60, n - 10);
    // (x, y) of the level one lies at (y, n - x) of the other.
    let worst = 0;
    for (let y = 0; y < n; y++)
      for (let x = 0; x < n; x++)
        worst = Math.max(worst, Math.abs(level.pixels[3 * (y * n + x)]! - upright.pixels[3 * ((n - 1 - x) * n + y)]!));
    expect(worst).toBeLessThan(30);
    const half = inkBox(written("I", { size: 60, base: "line", turn: 50 }, n, n, 60, 60));
    // A stroke of length l at 50 degrees reaches l sin 50 to the right of its foot.
    const tall = (60 * 523 * 0.66) / 486;
    expect(half[2] - 60).toBeGreaterThan(tall * Math.sin((50 * Math.PI) / 180) - 1);
    expect(60 - half[1]).toBeLessThan(tall * Math.cos((50 * Math.PI) / 180) + 2);
  });

  it("that the face lacks become frames of their width, and nothing throws", () => {
    const frame = inkBox(written("\u6f22", { size: 50, base: "line" }, 100, 100, 20, 70));
    expect(frame[2] - frame[0]).toBeGreaterThan(40);
    expect(lettersWidth("\u6f22", 50, false)).toBeCloseTo((50 * 523) / 486, 1);
    expect(lettersWidth("e\u0301", 10, false)).toBe(lettersWidth("é", 10, false));
    expect(lettersWidth("a\u200db\ufe0f\u2068", 10, false)).toBe(lettersWidth("ab", 10, false));
    expect(lettersWidth("a\u00a0\nb", 10, false)).toBe(lettersWidth("a  b", 10, false));
    const back = new RasterBackEnd(theme, 60, 20, 1);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.boolean(), (text, bold) => {
        expect(lettersWidth(`${text}\ud800`, 12, bold)).toBeGreaterThan(0);
        back.text(0, 10, text, { bold, turn: text.length });
      }),
    );
  });
});

const pixel = (back: RasterBackEnd, x: number, y: number): number[] => [
  ...back.pixels.subarray(3 * (y * back.width + x), 3 * (y * back.width + x) + 3),
];

describe("the back end", () => {
  it("starts with paper and blends by alpha, also that of an ink", () => {
    const back = new RasterBackEnd(theme, 4, 1, 1);
    expect([back.width, back.height, pixel(back, 0, 0)]).toEqual([4, 1, [...parseHex(theme.paper)]]);
    back.rect({ x: 0, y: 0, width: 4, height: 1 }, { fill: "#ffffff" });
    back.rect({ x: 1, y: 0, width: 1, height: 1 }, { fill: "#ff0000", alpha: 0.25 });
    back.rect({ x: 2, y: 0, width: 1, height: 1 }, { fill: "#0000ff80" });
    expect(pixel(back, 1, 0)).toEqual([255, 191, 191]);
    expect(pixel(back, 2, 0)).toEqual([127, 127, 255]);
    expect(pixel(back, 3, 0)).toEqual([255, 255, 255]);
  });

  it("snaps boxes and straight hairlines to pixels", () => {
    const back = new RasterBackEnd(theme, 20, 20, 2);
    back.rect({ x: 1.2, y: 1.2, width: 3, height: 3 }, { fill: "#000000" });
    back.path([0, 10.1, 20, 10.1], { stroke: "#000000" });
    back.path([15.3, 0, 15.3, 5], { stroke: "#000000", width: 0.5 });
    const dark = (x: number, y: number): boolean => pixel(back, x, y).every((channel) => channel === 0);
    const shades = new Set<number>();
    for (let i = 0; i < 1600; i++) shades.add(back.pixels[3 * i]!);
    expect([...shades].sort((a, b) => a - b)).toEqual([0, parseHex(theme.paper)[0]]);
    expect([dark(2, 2), dark(7, 7), dark(1, 2), dark(8, 7)]).toEqual([true, true, false, false]);
    expect([dark(5, 19), dark(5, 20), dark(5, 21), dark(5, 22)]).toEqual([false, true, true, false]);
    expect([dark(30, 3), dark(31, 3), dark(32, 3)]).toEqual([false, true, false]);
  });

  it("draws borders inside of their box, and dashed ones in pieces", () => {
    const back = new RasterBackEnd(theme, 12, 12, 1);
    back.rect({ x: 1, y: 1, width: 10, height: 8 }, { stroke: "#000000", width: 2 });
    let black = 0;
    for (let i = 0; i < 144; i++) if (back.pixels[3 * i] === 0) black++;
    expect(black).toBe(10 * 8 - 6 * 4);
    expect(inkBox(back)).toEqual([1, 1, 11, 9]);
    const other = new RasterBackEnd(makeTheme(false, { paper: "#ffffff" }), 24, 12, 1);
    other.rect({ x: 1, y: 1, width: 20, height: 8 }, { stroke: "#000000", dash: [3, 3] });
    // From the middle of the corner on; the 52 pixels round hold nine dashes.
    expect([2, 3, 5, 6, 8, 9].map((x) => pixel(other, x, 1)[0] === 0)).toEqual([true, true, false, false, true, true]);
    const inked = other.pixels.reduce((sum, value) => sum + (255 - value), 0) / (3 * 255);
    expect(Math.abs(inked - 27)).toBeLessThan(0.5);
  });

  it("draws rings and lifts the pen where there is no number", () => {
    const back = new RasterBackEnd(makeTheme(false, { paper: "#ffffff" }), 60, 60, 1);
    back.disc(30, 30, 20, { stroke: "#000000", width: 3 });
    const darkness = (): number => back.pixels.reduce((sum, value) => sum + (255 - value), 0) / (3 * 255);
    expect(Math.abs(darkness() - 2 * Math.PI * 20 * 3)).toBeLessThan(2);
    const before = darkness();
    back.disc(Number.NaN, 0, 5, { fill: "ink" });
    back.path([5, 5, Number.NaN, 5, 55, 5, Infinity, 5, 5, 55], { stroke: "#000000", width: 3 });
    expect(darkness()).toBe(before);
    back.path([25, 30, 35, 30, Number.NaN, 0, 25, 32, 35, 32], { stroke: "#000000", width: 1.5 });
    expect(darkness() - before).toBeCloseTo(30, 0);
  });

  it("gives every cell of a heat map whole pixels of its colour", () => {
    const back = new RasterBackEnd(theme, 50, 30, 2);
    const values = [-1, 0, 1, Number.NaN, 0.5, -0.5];
    const scale = { kind: "signed", extent: 1 } as const;
    const inset = new Surface(back, theme, 50, 30).inset(5, 5, 40, 20);
    inset.heatMap({ x: 0.2, y: 0, width: 37, height: 19 }, { values, rows: 2, columns: 3, scale });
    const entry = (k: number): number[] => [...theme.signed.subarray(3 * k, 3 * k + 3)];
    const colours = [entry(0), entry(127), entry(254), entry(255), entry(191), entry(64)];
    for (let y = 10; y < 48; y++)
      for (let x = 10; x < 84; x++) {
        const [row, column] = [Math.floor((y - 10) / 19), Math.floor(((x - 9.5) * 3) / 74)];
        expect(pixel(back, x, y), `${x}, ${y}`).toEqual(colours[3 * row + column]);
      }
    expect(pixel(back, 9, 20)).toEqual([...parseHex(theme.paper)]);
    expect(pixel(back, 84, 20)).toEqual([...parseHex(theme.paper)]);
  });

  it("cuts at the edges of the picture", () => {
    const back = new RasterBackEnd(theme, 10, 10, 1);
    const scale = { kind: "amount", min: 0, max: 1 } as const;
    for (const [x, y] of [[-30, 2], [30, 2], [2, -30], [2, 30]] as const) {
      back.rect({ x, y, width: 5, height: 5 }, { fill: "ink", stroke: "ink" });
      back.heatMap({ x, y, width: 5, height: 5 }, { values: [1], rows: 1, columns: 1, scale });
      back.disc(x, y, 4, { fill: "ink", stroke: "ink" });
      back.text(x, y, "i", {});
    }
    expect(inkBox(back)).toEqual([10, 10, 0, 0]);
    back.rect({ x: -5, y: 4, width: 100, height: 2 }, { fill: "ink" });
    expect(inkBox(back)).toEqual([0, 4, 10, 6]);
  });
});

interface Picture {
  width: number;
  height: number;
  pixels: Uint8Array;
  chunks: Map<string, Buffer>;
}

// A reader of true-colour files by the standard, every check sum looked at.
function read(file: Uint8Array): Picture {
  const bytes = Buffer.from(file);
  expect(bytes.subarray(0, 8).toString("latin1")).toBe("\x89PNG\r\n\x1a\n");
  const chunks = new Map<string, Buffer>();
  let at = 8;
  while (at < bytes.length) {
    const size = bytes.readUInt32BE(at);
    expect(bytes.readUInt32BE(at + 8 + size)).toBe(crc32(bytes.subarray(at + 4, at + 8 + size)));
    const name = bytes.subarray(at + 4, at + 8).toString("latin1");
    const data = bytes.subarray(at + 8, at + 8 + size);
    chunks.set(name === "iTXt" ? `iTXt ${data.subarray(0, data.indexOf(0)).toString("latin1")}` : name, data);
    at += size + 12;
  }
  expect([at, [...chunks.keys()].at(-1)]).toEqual([bytes.length, "IEND"]);
  const header = chunks.get("IHDR")!;
  expect([...header.subarray(8)]).toEqual([8, 2, 0, 0, 0]);
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const lines = inflateSync(chunks.get("IDAT")!); // looks at Adler-32 too
  expect(lines.length).toBe((3 * width + 1) * height);
  const pixels = new Uint8Array(3 * width * height);
  for (let y = 0; y < height; y++) {
    expect(lines[y * (3 * width + 1)]).toBe(0);
    pixels.set(lines.subarray(y * (3 * width + 1) + 1, (y + 1) * (3 * width + 1)), 3 * y * width);
  }
  return { width, height, pixels, chunks };
}

describe("files", () => {
  it("hold the pixels, the density and the words", () => {
    const pixels = Uint8Array.from({ length: 3 * 31 * 17 }, (_, i) => (Math.imul(i + 1, 0x9e3779b1) >>> 13) & 255);
    const picture = read(encodePicture(pixels, 31, 17, 2, "q → k", "Größe √π"));
    expect([picture.width, picture.height]).toEqual([31, 17]);
    expect(Buffer.compare(picture.pixels, pixels)).toBe(0);
    // 192 to an inch of 25.4 mm.
    expect(Math.abs(picture.chunks.get("pHYs")!.readUInt32BE(0) - 192 / 0.0254)).toBeLessThan(0.5);
    expect(picture.chunks.get("iTXt Title")!.subarray(10).toString()).toBe("q → k");
    expect(picture.chunks.get("iTXt Description")!.toString("utf8")).toContain("\0\0\0\0\0Größe √π");
    expect(encodePicture(new Uint8Array(3 * 800 * 600), 800, 600, 1, "", "").length).toBeLessThan(4000);
  });
});

describe("renderPNG", () => {
  beforeAll(() => ready());

  const cases = figures.flatMap(({ name }) =>
    (["light", "dark"] as const).flatMap((mode) => [760, 320].map((width) => [name, mode, width] as const)),
  );
  it.each(cases)("draws %s, %s, %s pixels wide, inside of its margins", (name, mode, width) => {
    const { width: wide, height, pixels } = read(renderPNG(name, {}, { theme: mode, width, scale: 1 }));
    expect(wide).toBe(width + 40);
    const [r, g, b] = parseHex(makeTheme(mode === "dark").paper);
    let drawn = 0;
    const outside: string[] = [];
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < wide; x++) {
        const at = 3 * (y * wide + x);
        if (pixels[at] === r && pixels[at + 1] === g && pixels[at + 2] === b) continue;
        drawn++;
        if (x < 10 || y < 10 || x >= wide - 10 || y >= height - 10) outside.push(`${x}, ${y}`);
      }
    }
    expect(outside.slice(0, 5)).toEqual([]);
    expect(drawn).toBeGreaterThan(2000);
    expect(drawn).toBeLessThan(0.8 * wide * height);
  });

  it("takes attributes, scale and names as the elements do, and gives the same bytes again", () => {
    const small = renderPNG("posenc-embed", { positions: 24, dim: 16 }, { width: 400, scale: 1 });
    expect(Buffer.compare(small, renderPNG("embed", { positions: 24, dim: 16 }, { width: 400, scale: 1 }))).toBe(0);
    expect(read(small).width).toBe(440);
    expect(read(renderPNG("embed", { positions: 24, dim: 16 }, { width: 400, scale: 0.5 })).width).toBe(220);
    expect(Buffer.compare(small, renderPNG("embed", { positions: 24, dim: 18 }, { width: 400, scale: 1 }))).not.toBe(0);
    expect(read(small).chunks.get("iTXt Title")!.toString()).toContain("24 positions ×\u00a016 dimensions");
  });

  it("refuses what it cannot draw, in a sentence", () => {
    expect(() => renderPNG("nothing")).toThrow(/no figure/);
    expect(() => renderPNG("embed", {}, { scale: 0 })).toThrow("scale must be from 0.5 to 8, got 0.");
    expect(() => renderPNG("embed", {}, { width: 20 })).toThrow("width must be from 200 to 4000");
    expect(() => renderPNG("embed", {}, { width: 4000, scale: 8 })).toThrow(/more than 67108864 pixels/);
  });
});
