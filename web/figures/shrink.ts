// Heat maps as palette entries, and larger maps shrunk to the pixels there are.
import { entryOf } from "./colour.js";
import type { HeatMap } from "./surface.js";

export interface Raster {
  /** Palette entries, row-major. */
  entries: Uint8Array;
  width: number;
  height: number;
}

/**
 * The map as palette entries, at most `maxWidth` x `maxHeight` of them. Where several cells share a pixel their mean is
 * shown, so stripes finer than a pixel turn even instead of beating against the pixels; masked cells are left out.
 */
export function rasterOf(map: HeatMap, maxWidth: number, maxHeight: number): Raster {
  const width = Math.max(1, Math.min(map.columns, Math.floor(maxWidth)));
  const height = Math.max(1, Math.min(map.rows, Math.floor(maxHeight)));
  const entries = new Uint8Array(width * height);
  const { values, columns, rows, scale } = map;
  if (width === columns && height === rows) {
    for (let i = 0; i < entries.length; i++) entries[i] = entryOf(scale, values[i] as number);
    return { entries, width, height };
  }
  for (let y = 0; y < height; y++) {
    const top = Math.floor((y * rows) / height);
    const bottom = Math.max(top + 1, Math.floor(((y + 1) * rows) / height));
    for (let x = 0; x < width; x++) {
      const left = Math.floor((x * columns) / width);
      const right = Math.max(left + 1, Math.floor(((x + 1) * columns) / width));
      let sum = 0;
      let seen = 0;
      for (let row = top; row < bottom; row++) {
        for (let column = left; column < right; column++) {
          const value = values[row * columns + column] as number;
          if (!Number.isNaN(value)) {
            sum += value;
            seen++;
          }
        }
      }
      entries[y * width + x] = entryOf(scale, seen === 0 ? Number.NaN : sum / seen);
    }
  }
  return { entries, width, height };
}
