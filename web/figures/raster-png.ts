// Pictures in true colour as PNG files (ISO/IEC 15948), with the text that says what they show.
import { zlibSync } from "fflate";
import { chunk, pngFile } from "./png.js";

function internationalText(keyword: string, text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  const data = new Uint8Array(keyword.length + 5 + bytes.length);
  for (let i = 0; i < keyword.length; i++) data[i] = keyword.charCodeAt(i);
  data.set(bytes, keyword.length + 5);
  return chunk("iTXt", data);
}

/**
 * A PNG of red, green, blue pixels, row by row; `ratio` of them make a CSS pixel, which tells programs how large to
 * show it. `title` and `description` go along as text.
 */
export function encodePicture(
  pixels: Uint8Array,
  width: number,
  height: number,
  ratio: number,
  title: string,
  description: string,
): Uint8Array {
  const density = new Uint8Array(9);
  const perMetre = Math.round((96 * ratio) / 0.0254);
  new DataView(density.buffer).setUint32(0, perMetre);
  new DataView(density.buffer).setUint32(4, perMetre);
  density[8] = 1;
  // No prediction of bytes from their neighbours: flat colours and repeated letters pack better without.
  const size = 3 * width;
  const lines = new Uint8Array((size + 1) * height);
  for (let y = 0; y < height; y++) lines.set(pixels.subarray(y * size, (y + 1) * size), y * (size + 1) + 1);
  // A fixed `mem`: by default the library asks for a logarithm, whose bits differ between engines.
  const data = zlibSync(lines, { __proto__: null, level: 9, mem: 9 } as object);
  return pngFile(width, height, 2, [
    chunk("pHYs", density),
    internationalText("Title", title),
    internationalText("Description", description),
    chunk("IDAT", data),
  ]);
}
