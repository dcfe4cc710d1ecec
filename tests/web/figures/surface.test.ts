// The back ends and what they share, each against something that is not ours: zlib, d3's viridis, plain means.
import { inflateSync } from "node:zlib";
import { interpolateViridis } from "d3-scale-chromatic";
import { describe, expect, it } from "vitest";
import { amountTable, colourOf, entryOf, luminance, parseHex, signedTable } from "../../../web/figures/colour.js";
import { base64, encodePng } from "../../../web/figures/png.js";
import { RecordingBackEnd } from "../../../web/figures/recording.js";
import { rasterOf } from "../../../web/figures/shrink.js";
import { Surface } from "../../../web/figures/surface.js";
import { SvgBackEnd } from "../../../web/figures/svg.js";
import { makeTheme } from "../../../web/figures/theme.js";

const theme = makeTheme(false);

// Reads back what encodePng wrote: 8-bit palette, filter 0.
function decodePng(file: Uint8Array): { width: number; height: number; palette: Uint8Array; entries: Uint8Array } {
  const bytes = Buffer.from(file);
  expect(bytes.subarray(0, 8).toString("latin1")).toBe("\x89PNG\r\n\x1a\n");
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < bytes.length; ) {
    const size = bytes.readUInt32BE(at);
    chunks.set(bytes.subarray(at + 4, at + 8).toString("latin1"), bytes.subarray(at + 8, at + 8 + size));
    at += size + 12;
  }
  const header = chunks.get("IHDR")!;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const lines = inflateSync(chunks.get("IDAT")!);  // checks Adler-32 too
  const entries = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    expect(lines[y * (width + 1)]).toBe(0);
    entries.set(lines.subarray(y * (width + 1) + 1, (y + 1) * (width + 1)), y * width);
  }
  return { width, height, palette: chunks.get("PLTE")!, entries };
}

describe("PNG", () => {
  const patterns: [string, number, number, (i: number) => number][] = [
    ["one pixel", 1, 1, () => 200],
    ["one colour", 700, 300, () => 7],
    ["noise", 97, 61, (i) => (Math.imul(i + 1, 0x9e3779b1) >>> 13) & 255],
    ["stripes", 1024, 64, (i) => (i % 64 < 40 ? i % 64 : 255)],
    ["a far repeat", 400, 200, (i) => (i < 300 || i > 40000 ? (i * i) & 255 : (i * 31) & 255)],
  ];
  it.each(patterns)("holds %s", (_, width, height, entry) => {
    const entries = Uint8Array.from({ length: width * height }, (_, i) => entry(i));
    const file = encodePng(entries, width, height, theme.signed);
    const read = decodePng(file);
    expect([read.width, read.height]).toEqual([width, height]);
    expect(Buffer.from(read.entries).equals(Buffer.from(entries))).toBe(true);
    expect([...read.palette]).toEqual([...theme.signed]);
    expect(base64(file)).toBe(Buffer.from(file).toString("base64"));
  });
  it("packs what repeats", () => {
    expect(encodePng(new Uint8Array(700 * 300), 700, 300, theme.signed).length).toBeLessThan(4000);
  });
});

describe("colour maps", () => {
  it("follow viridis, large end dark on light paper", () => {
    const table = amountTable(true, [0, 0, 0]);
    for (let i = 0; i < 255; i++) {
      const [r, g, b] = parseHex(interpolateViridis(i / 254));
      for (const [k, channel] of [r, g, b].entries()) {
        expect(Math.abs(table[3 * i + k]! - channel)).toBeLessThanOrEqual(3);
      }
    }
    const scale = { kind: "amount", min: 0, max: 1 } as const;
    expect(luminance(colourOf(makeTheme(false).amount, scale, 1))).toBeLessThan(0.05);
    expect(luminance(colourOf(makeTheme(true).amount, scale, 1))).toBeGreaterThan(0.5);
  });
  it.each([false, true])("have the paper at zero and grow away from it (dark: %s)", (dark) => {
    const mode = makeTheme(dark);
    const scale = { kind: "signed", extent: 2 } as const;
    expect(colourOf(mode.signed, scale, 0)).toEqual(parseHex(mode.paper));
    for (const sign of [-1, 1]) {
      let last = luminance(parseHex(mode.paper));
      for (let v = 0.25; v <= 2; v += 0.25) {
        const now = luminance(colourOf(mode.signed, scale, sign * v));
        expect(dark ? now > last : now < last).toBe(true);
        last = now;
      }
    }
  });
  it("tell masked cells from values", () => {
    const scale = { kind: "amount", min: 0, max: 1 } as const;
    expect([Number.NaN, -5, 0, 1, 7].map((v) => entryOf(scale, v))).toEqual([255, 0, 0, 254, 254]);
    expect(signedTable(true, [1, 2, 3], [9, 9, 9], [8, 8, 8], [4, 5, 6]).subarray(765)).toEqual(Uint8Array.of(4, 5, 6));
  });
});

describe("shrinking", () => {
  const scale = { kind: "amount", min: 0, max: 254 } as const;
  it("keeps a map that fits", () => {
    const values = [0, 1, 2, 3, 4, 5];
    expect([...rasterOf({ values, rows: 2, columns: 3, scale }, 3, 2).entries]).toEqual(values);
  });
  it("shows means, without the masked", () => {
    const values = [10, 20, 30, 50, 30, 40, Number.NaN, 70, Number.NaN, Number.NaN, 1, 1, Number.NaN, Number.NaN, 1, 1];
    const raster = rasterOf({ values, rows: 4, columns: 4, scale }, 2.9, 2);
    expect([raster.width, raster.height, ...raster.entries]).toEqual([2, 2, 25, 50, 255, 1]);
  });
  it("covers every row of an uneven division", () => {
    const values = Array.from({ length: 7 }, (_, i) => i);
    const raster = rasterOf({ values, rows: 7, columns: 1, scale }, 1, 3);
    expect([...raster.entries]).toEqual([1, 3, 5]);  // means of 0-1, 2-3, 4-6 (0.5 rounds up, 2.5 rounds up)
  });
});

describe("surfaces", () => {
  it("move what is drawn on an inset", () => {
    const back = new RecordingBackEnd();
    const inner = new Surface(back, theme, 100, 100).inset(10, 20, 50, 50).inset(1, 2, 9, 9);
    inner.rect(0, 0, 3, 4, { fill: "accent" });
    inner.path([0, 0, 1, 1], { stroke: "ink", dash: [2, 3] });
    inner.text(5, 5, [{ text: "a " }, { text: "b", bold: true }], { align: "end" });
    const box = { x: 0, y: 0, width: 4, height: 4 };
    inner.region(box, (u, v) => ({ row: Math.floor(v * 2), column: Math.floor(u * 4) }));
    inner.region({ x: 2, y: 0, width: 2, height: 4 }, () => ({ row: 9 }));
    expect(back.operations).toEqual([
      "rect 11,22 3x4 fill=accent",
      "path 2 points 11,22 … 12,23 stroke=ink dash=2/3",
      'text 16,27 "a b" grey end',
      "region 11,22 4x4",
      "region 13,22 2x4",
    ]);
    expect(back.cellAt(12.5, 24.5)).toEqual({ row: 1, column: 1 });
    expect(back.cellAt(13.5, 22)).toEqual({ row: 9 });
    expect(back.cellAt(10.9, 22)).toBeUndefined();
    expect(back.cellAt(15, 22)).toBeUndefined();
  });

  it("write SVG that cannot be broken out of", () => {
    const back = new SvgBackEnd(theme);
    const surface = new Surface(back, theme, 100, 50);
    surface.text(1, 2, '<script>&"');
    surface.text(1, 2, "turned", { turn: -90, bold: true, ink: "cool", align: "middle" });
    surface.path([0, 0, Number.NaN, 0, 5, 5.123, 6, 6], { stroke: "#123456", width: 2, alpha: 0.5 });
    const svg = back.document(100, 50, "a < b", "c & d");
    expect(svg).toContain("&lt;script&gt;&amp;&quot;");
    expect(svg).toContain("<title>a &lt; b</title><desc>c &amp; d</desc>");
    expect(svg).toContain('transform="translate(1 2) rotate(-90)"');
    expect(svg).toContain('d="M0 0M5 5.12L6 6" fill="none" stroke="#123456" stroke-width="2" opacity="0.5"');
    expect(svg).not.toMatch(/style=|<style|<script/);
  });

  it("write SVG that every XML reader takes, whatever a text holds", () => {
    const codes = [...Array.from({ length: 0x20 }, (_, code) => code), 0x7f, 0x85, 0xd800, 0xdfff, 0xfffe, 0xffff];
    const odd = codes.map((code) => String.fromCharCode(code)).join("|");
    const back = new SvgBackEnd(theme);
    new Surface(back, theme, 100, 50).text(1, 2, [{ text: odd }, { text: odd, bold: true }]);
    const svg = back.document(100, 50, `${odd} \u{1F469}`, odd);
    // XML 1.0, section 2.2: Char.
    const legal = (code: number): boolean =>
      [9, 10, 13].includes(code) ||
      (code >= 0x20 && code <= 0xd7ff) ||
      (code >= 0xe000 && code <= 0xfffd) ||
      (code >= 0x10000 && code <= 0x10ffff);
    const points = Array.from(svg, (character) => character.codePointAt(0)!);
    expect(points.filter((code) => !legal(code))).toEqual([]);
    const lost = codes.filter((code) => !legal(code)).length;
    expect(points.filter((code) => code === 0xfffd)).toHaveLength(4 * lost);
    expect(svg).toContain("\u{1F469}");
  });

  it("draw heat maps as runs of cells and very large ones as an image", () => {
    const scale = { kind: "signed", extent: 1 } as const;
    const box = { x: 0, y: 0, width: 90, height: 30 };
    const small = new SvgBackEnd(theme);
    small.heatMap(box, { values: [0, 0, 1, -1, -1, -1], rows: 2, columns: 3, scale });
    const text = small.document(90, 30, "", "");
    expect(text.match(/<path /g)).toHaveLength(3);
    // Cells of 30 by 15, the first two in one run.
    expect(text).toContain('<g transform="translate(0 0) scale(30 15)" shape-rendering="crispEdges">');
    expect(text).toContain(`<path fill="${theme.paper}" d="m0 0h2v1h-2"/>`);
    expect(text).toMatch(/<path fill="#[0-9a-f]{6}" d="m0 1h3v1h-3"\/><path fill="#[0-9a-f]{6}" d="m2 0h1v1h-1"\/>/);
    // Two by two of a colour are one shape, and what is left beside them others.
    const corner = new SvgBackEnd(theme);
    corner.heatMap(box, { values: [0, 0, 1, 0, 0, 0], rows: 2, columns: 3, scale });
    expect(corner.document(90, 30, "", "")).toContain('d="m0 0h2v2h-2m2-1h1v1h-1"');
    // Ten thousand cells, finer than the picture's pixels, are shapes still.
    const stripes = new SvgBackEnd(theme);
    const values = Float32Array.from({ length: 10_000 }, (_, i) => (i % 2 === 0 ? 1 : -1));
    stripes.heatMap(box, { values, rows: 10, columns: 1000, scale });
    const markup = stripes.document(90, 30, "", "");
    expect(markup).not.toContain("<image");
    expect(markup.match(/m\d+( 0|-10)h1v10h-1/g)).toHaveLength(1000);
    expect(markup).toContain("scale(0.09 3)");
    const large = new SvgBackEnd(theme);
    large.heatMap(box, { values: new Float32Array(4000 * 100), rows: 4000, columns: 100, scale });
    const image = /href="data:image\/png;base64,([^"]+)"/.exec(large.document(90, 30, "", ""));
    const { width, height, entries } = decodePng(Buffer.from(image![1]!, "base64"));
    expect([width, height, new Set(entries).size, entries[0]]).toEqual([100, 60, 1, 127]);
  });
});
