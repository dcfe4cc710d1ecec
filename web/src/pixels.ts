// Heat maps as pixels, coloured by the core; for the figures, which check what they hand over.
import { Frame } from "./module.js";

/** A part of a matrix: `rows` x `columns` cells, of which the first is values[start] and rows are `stride` apart. */
export interface Cells {
  /** NaN is a masked cell. */
  readonly values: ArrayLike<number>;
  readonly start: number;
  readonly stride: number;
  readonly rows: number;
  readonly columns: number;
}

/** From values to colours: the nearest of 255 entries, from `low` on, `factor` entries to a unit. */
export interface ColourLaw {
  readonly low: number;
  readonly factor: number;
  /** 256 colours as red, green, blue and alpha. */
  readonly table: Uint8Array;
}

// Cells that go over at a time, so that the core's memory stays small whatever the matrix weighs.
const kStrip = 2 ** 18;

/**
 * Red, green, blue and alpha of height x width pixels, written into `out`: no more of them on either axis than cells.
 * Pixel x shows the mean of the cells from floor(x columns / width) to before floor((x + 1) columns / width), rows
 * alike, masked cells left out.
 */
export function paint(cells: Cells, width: number, height: number, law: ColourLaw, out: Uint8ClampedArray): void {
  const { values, start, stride, rows, columns } = cells;
  const firstRow = (pixel: number): number => Math.floor((pixel * rows) / height);
  for (let first = 0; first < height;) {
    const top = firstRow(first);
    let end = first + 1;
    while (end < height && (firstRow(end + 1) - top) * stride <= kStrip) end++;
    const from = start + top * stride;
    const strip = asFloat32(values, from, from + (firstRow(end) - top - 1) * stride + columns);
    const frame = new Frame("heat map");
    const pixels = frame.output(4 * (end - first) * width);
    frame.run("paint", {
      rows,
      columns,
      height,
      width,
      first,
      count: end - first,
      values: frame.input(strip, "values", strip.length),
      stride,
      low: law.low,
      factor: law.factor,
      table: frame.input(law.table, "table", 1024),
      sums: frame.output(4 * columns),
      seen: frame.output(4 * columns),
      out: pixels,
    });
    out.set(frame.uint8(pixels, 4 * (end - first) * width), 4 * first * width);
    first = end;
  }
}

function asFloat32(values: ArrayLike<number>, from: number, to: number): Float32Array {
  if (values instanceof Float32Array) return values.subarray(from, to);
  if (values instanceof Float64Array || values instanceof Int32Array) {
    return new Float32Array(values.subarray(from, to));
  }
  return Float32Array.from({ length: to - from }, (_, i) => values[from + i] as number);
}
