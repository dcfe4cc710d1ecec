// Heat maps as palette entries, and larger maps shrunk to the pixels there are.
import { entryOf } from "./colour.js";
import type { HeatMap, Part } from "./surface.js";

/** The cells of a map that are drawn. */
export function partOf({ rows, columns, part }: Omit<HeatMap, "scale">): Part {
  return part ?? { row: 0, rows, column: 0, columns };
}

/** How many pixels there are for a part of a map: one a cell, or fewer where there is no room. */
export function pixelsFor({ rows, columns }: Part, maxWidth: number, maxHeight: number): [number, number] {
  return [Math.max(1, Math.min(columns, Math.floor(maxWidth))), Math.max(1, Math.min(rows, Math.floor(maxHeight)))];
}

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
  const [width, height] = pixelsFor(partOf(map), maxWidth, maxHeight);
  const means = meansOf(map, width, height);
  return { entries: Uint8Array.from(means, (mean) => entryOf(map.scale, mean)), width, height };
}

/** The means of the cells that fall on each of width x height pixels; NaN where all are masked. */
export function meansOf(map: Omit<HeatMap, "scale">, width: number, height: number): Float64Array {
  const { row: firstRow, rows, column: firstColumn, columns } = partOf(map);
  const means = new Float64Array(width * height);
  const { values } = map;
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
          const value = values[(firstRow + row) * map.columns + firstColumn + column] as number;
          if (!Number.isNaN(value)) {
            sum += value;
            seen++;
          }
        }
      }
      means[y * width + x] = seen === 0 ? Number.NaN : sum / seen;
    }
  }
  return means;
}
