// Outlines of letters for pictures made without a browser: the characters that figures need, in two weights of a sans
// face (Source Sans 3, OFL 1.1), read from its TrueType files and packed into one small module.
//
// The module exports `packed`: base64 of deflated bytes, all numbers as base-128 varints (signed ones in zigzag). First
// the units of an em and the x-height; then for each weight, regular before bold, the count of characters and for each
// character the step from the last code point, the advance, the count of contours, and for each contour the count of
// points and the points (2 * dx + on the curve, dy) as steps from the last point of the character.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";

/** The package whose licence goes with the outlines. */
export const kGlyphPackage = "source-sans";
const kFaces = ["SourceSans3-Regular.ttf", "SourceSans3-Semibold.ttf"];

// ASCII, Latin-1, Latin Extended-A, Greek, and the signs of the figures: dashes, quotes, primes, sub- and superscripts,
// arrows, operators, angle brackets.
const kRanges = [
  [0x20, 0x7e],
  [0xa1, 0x17f],
  [0x391, 0x3c9],
];
const kSigns =
  "\u2009\u2010\u2012\u2013\u2014\u2016\u2018\u2019\u201c\u201d\u2020\u2022\u2026\u2030\u2032\u2033\u1d40\u1d57" +
  "\u2070\u2074\u2075\u2076\u2077\u2078\u2079\u207a\u207b\u207f\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088" +
  "\u2089\u2113\u2190\u2191\u2192\u2193\u2194\u21d2\u2202\u2206\u220f\u2211\u2212\u2215\u221a\u221e\u222b\u2248\u2260" +
  "\u2261\u2264\u2265\u27e8\u27e9\u25a0\u25cf\u2713";

/** Code points to pack, in order; those that the face lacks are left out. */
export function wantedCharacters() {
  const wanted = new Set([...kSigns].map((sign) => sign.codePointAt(0)));
  for (const [first, last] of kRanges) for (let code = first; code <= last; code++) wanted.add(code);
  return [...wanted].sort((a, b) => a - b);
}

/** Reads a TrueType font without its hints; `glyphOf(code)` is 0 where there is none. */
export function readFont(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const u16 = (at) => view.getUint16(at);
  const i16 = (at) => view.getInt16(at);
  const tables = new Map();
  for (let i = 0; i < u16(4); i++) {
    const at = 12 + 16 * i;
    tables.set(bytes.toString("latin1", at, at + 4), view.getUint32(at + 8));
  }
  const table = (name) => {
    if (!tables.has(name)) throw new Error(`The font has no table ${name}.`);
    return tables.get(name);
  };
  const unitsPerEm = u16(table("head") + 18);
  const longOffsets = i16(table("head") + 50) === 1;
  const advances = u16(table("hhea") + 34);
  const xHeight = i16(table("OS/2") + 86);

  const cmap = table("cmap");
  const segments = Array.from({ length: u16(cmap + 2) }, (_, i) => cmap + 4 + 8 * i)
    .filter((at) => u16(at) === 3 && u16(at + 2) === 1)
    .map((at) => cmap + view.getUint32(at + 4))
    .find((at) => u16(at) === 4);
  if (segments === undefined) throw new Error("The font has no character map of format 4.");
  const count = u16(segments + 6) / 2;

  function glyphOf(code) {
    for (let i = 0; i < count; i++) {
      if (u16(segments + 14 + 2 * i) < code) continue;
      const first = u16(segments + 16 + 2 * count + 2 * i);
      if (first > code) return 0;
      const delta = u16(segments + 16 + 4 * count + 2 * i);
      const slot = segments + 16 + 6 * count + 2 * i;
      if (u16(slot) === 0) return (code + delta) & 0xffff;
      const glyph = u16(slot + u16(slot) + 2 * (code - first));
      return glyph === 0 ? 0 : (glyph + delta) & 0xffff;
    }
    return 0;
  }

  const advance = (glyph) => u16(table("hmtx") + 4 * Math.min(glyph, advances - 1));
  const offset = (glyph) =>
    table("glyf") + (longOffsets ? view.getUint32(table("loca") + 4 * glyph) : 2 * u16(table("loca") + 2 * glyph));

  /** Closed contours of points {x, y, on}; two neighbours off the curve have one on it midway. */
  function contours(glyph) {
    let at = offset(glyph);
    if (at === offset(glyph + 1)) return [];
    const ends = i16(at);
    at += 10;
    return ends >= 0 ? simple(at, ends) : composite(at);
  }

  function simple(start, number) {
    let at = start + 2 * number;
    const total = u16(at - 2) + 1;
    at += 2 + u16(at);
    const flags = [];
    while (flags.length < total) {
      const flag = bytes[at++];
      const times = flag & 8 ? bytes[at++] + 1 : 1;
      for (let k = 0; k < times; k++) flags.push(flag);
    }
    const axis = (short, same) => {
      let value = 0;
      return flags.map((flag) => {
        if (flag & short) value += flag & same ? bytes[at++] : -bytes[at++];
        else if (!(flag & same)) {
          value += i16(at);
          at += 2;
        }
        return value;
      });
    };
    const xs = axis(2, 16);
    const ys = axis(4, 32);
    return Array.from({ length: number }, (_, i) => {
      const first = i === 0 ? 0 : u16(start + 2 * i - 2) + 1;
      const points = [];
      for (let k = first; k <= u16(start + 2 * i); k++) points.push({ x: xs[k], y: ys[k], on: (flags[k] & 1) === 1 });
      return points;
    });
  }

  function composite(start) {
    const parts = [];
    for (let at = start, more = true; more; ) {
      const flags = u16(at);
      const part = u16(at + 2);
      // Places by numbers, unscaled: all that accented letters are made with.
      if (!(flags & 2) || flags & 0xc8) throw new Error("The font composes glyphs in a way that is not read here.");
      const [dx, dy] = flags & 1 ? [i16(at + 4), i16(at + 6)] : [view.getInt8(at + 4), view.getInt8(at + 5)];
      for (const contour of contours(part)) parts.push(contour.map(({ x, y, on }) => ({ x: x + dx, y: y + dy, on })));
      more = (flags & 32) !== 0;
      at += flags & 1 ? 8 : 6;
    }
    return parts;
  }

  return { unitsPerEm, xHeight, glyphOf, advance, contours };
}

/** The bytes of `packed`, before they are deflated. */
export function packFaces(fonts, codes) {
  const out = [];
  const number = (value) => {
    let rest = value;
    for (; rest > 127; rest >>>= 7) out.push((rest & 127) | 128);
    out.push(rest);
  };
  const zigzag = (value) => (value < 0 ? -2 * value - 1 : 2 * value);
  number(fonts[0].unitsPerEm);
  number(fonts[0].xHeight);
  for (const font of fonts) {
    const known = codes.filter((code) => font.glyphOf(code) !== 0);
    number(known.length);
    let last = 0;
    for (const code of known) {
      const glyph = font.glyphOf(code);
      const contours = font.contours(glyph);
      number(code - last);
      number(font.advance(glyph));
      number(contours.length);
      last = code;
      let [x, y] = [0, 0];
      for (const points of contours) {
        number(points.length);
        for (const point of points) {
          number(2 * zigzag(point.x - x) + (point.on ? 1 : 0));
          number(zigzag(point.y - y));
          ({ x, y } = point);
        }
      }
    }
  }
  return Uint8Array.from(out);
}

/** Writes the module and its types into `folder`. */
export function writeGlyphs(folder, root = join(import.meta.dirname, "..")) {
  const fonts = kFaces.map((file) => readFont(readFileSync(join(root, "node_modules", kGlyphPackage, "TTF", file))));
  const packed = deflateRawSync(packFaces(fonts, wantedCharacters()), { level: 9, memLevel: 9 });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "glyphs.mjs"), `export const packed = "${packed.toString("base64")}";\n`);
  writeFileSync(
    join(folder, "glyphs.d.mts"),
    "// Generated by web/glyphs.mjs. Do not edit.\n" +
      "/** Base64 of the deflated outlines; web/glyphs.mjs describes the bytes. */\n" +
      "export declare const packed: string;\n",
  );
}
