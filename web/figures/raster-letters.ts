// Letters as contours, from the outlines that web/glyphs.mjs packs, and their advances.
import { inflateSync } from "fflate";
import { packed } from "../../build/glyphs/glyphs.mjs";

interface Glyph {
  /** In units of the em. */
  advance: number;
  /** Closed contours of x, y, on the curve (1) or not (0), …; y upwards. */
  contours: readonly Int16Array[];
}

interface Face {
  unitsPerEm: number;
  xHeight: number;
  /** Regular, bold. */
  weights: readonly [ReadonlyMap<number, Glyph>, ReadonlyMap<number, Glyph>];
}

// The x-height that drawings are laid out for (Helvetica's); the face is enlarged to it, as by font-size-adjust.
const wishedXHeight = 0.523;
// How far a chord may lie from its curve, in pixels.
const tolerance = 0.03;

let loaded: Face | undefined;

function face(): Face {
  loaded ??= unpack(inflateSync(fromBase64(packed)));
  return loaded;
}

function fromBase64(text: string): Uint8Array {
  const binary = atob(text);
  return Uint8Array.from({ length: binary.length }, (_, i) => binary.charCodeAt(i));
}

function unpack(bytes: Uint8Array): Face {
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] as number;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const signed = (value: number): number => (value & 1 ? -((value + 1) >> 1) : value >> 1);
  const unitsPerEm = number();
  const xHeight = number();
  const weight = (): Map<number, Glyph> => {
    const glyphs = new Map<number, Glyph>();
    let code = 0;
    for (let left = number(); left > 0; left--) {
      code += number();
      const advance = number();
      let [x, y] = [0, 0];
      const contours = Array.from({ length: number() }, () => {
        const points = new Int16Array(3 * number());
        for (let i = 0; i < points.length; i += 3) {
          const step = number();
          x += signed(step >> 1);
          y += signed(number());
          points.set([x, y, step & 1], i);
        }
        return points;
      });
      glyphs.set(code, { advance, contours });
    }
    return glyphs;
  };
  return { unitsPerEm, xHeight, weights: [weight(), weight()] };
}

// Spaces that the face lacks, in ems.
const spaces = new Map([
  [0x2002, 0.5],
  [0x2003, 1],
  [0x2007, 0.5],
  [0x200a, 0.1],
  [0x202f, 0.2],
]);
// Accents that stay by themselves, joiners, directions and variants: they take no room.
const invisible = /[\p{Mn}\p{Me}\p{Cf}]/u;

// A character without an outline: an empty frame as wide as such a character is.
function frame(code: number, unitsPerEm: number): Glyph {
  const advance = Math.round((code > 0x2e80 ? 1 : 0.584) * unitsPerEm);
  const [left, right, top] = [0.06 * unitsPerEm, advance - 0.06 * unitsPerEm, 0.66 * unitsPerEm];
  const line = 0.06 * unitsPerEm;
  const corners = (l: number, b: number, r: number, t: number): number[] => [l, b, 1, l, t, 1, r, t, 1, r, b, 1];
  const inner = corners(left + line, line, right - line, top - line);
  const reversed = [...inner.slice(9), ...inner.slice(6, 9), ...inner.slice(3, 6), ...inner.slice(0, 3)];
  return { advance, contours: [Int16Array.from(corners(left, 0, right, top)), Int16Array.from(reversed)] };
}

function glyphsOf(text: string, bold: boolean): Glyph[] {
  const { unitsPerEm, weights } = face();
  const glyphs = weights[bold ? 1 : 0];
  const found: Glyph[] = [];
  for (const character of text.normalize("NFC")) {
    const code = character.codePointAt(0) as number;
    const known = glyphs.get(code);
    if (known) found.push(known);
    else if (spaces.has(code)) found.push({ advance: (spaces.get(code) as number) * unitsPerEm, contours: [] });
    else if (/\s/.test(character)) found.push(glyphs.get(32) as Glyph);
    else if (!invisible.test(character)) found.push(frame(code, unitsPerEm));
  }
  return found;
}

// Pixels of a unit of the em.
function unit(size: number): number {
  return (size * wishedXHeight) / face().xHeight;
}

/** Width of a line of text, in the pixels of `size`. */
export function lettersWidth(text: string, size: number, bold: boolean): number {
  return glyphsOf(text, bold).reduce((sum, glyph) => sum + glyph.advance, 0) * unit(size);
}

/** Where a line of text lies: its start on the base line, and the direction it runs in (a unit vector). */
export interface Line {
  x: number;
  y: number;
  cos: number;
  sin: number;
}

/** The contours of a line of text, flattened for pixels. */
export function letterContours(
  text: string,
  size: number,
  bold: boolean,
  line: Line,
  emit: (contour: number[]) => void,
): void {
  const scale = unit(size);
  let pen = 0;
  for (const { advance, contours } of glyphsOf(text, bold)) {
    for (const points of contours) {
      const placed: number[] = [];
      for (let i = 0; i < points.length; i += 3) {
        const along = (pen + (points[i] as number)) * scale;
        const up = (points[i + 1] as number) * scale;
        placed.push(line.x + along * line.cos + up * line.sin, line.y + along * line.sin - up * line.cos);
      }
      emit(flattened(placed, points));
    }
    pen += advance;
  }
}

// Quadratic curves as chords. `points` says which of the placed points lie on the curve; between two that do not there
// is one midway.
function flattened(placed: readonly number[], points: Int16Array): number[] {
  const n = placed.length / 2;
  const px = (i: number): number => placed[2 * (i % n)] as number;
  const py = (i: number): number => placed[2 * (i % n) + 1] as number;
  const on = (i: number): boolean => points[3 * (i % n) + 2] === 1;
  let start = 0;
  while (start < n && !on(start)) start++;
  const out: number[] = [];
  let [x, y] = [0, 0];
  if (start === n) {
    // No point on the curve at all: it starts midway.
    start = 0;
    [x, y] = [(px(n - 1) + px(0)) / 2, (py(n - 1) + py(0)) / 2];
  } else {
    [x, y] = [px(start), py(start)];
    start++;
  }
  out.push(x, y);
  for (let i = start; i < start + n; i++) {
    if (on(i)) {
      [x, y] = [px(i), py(i)];
      out.push(x, y);
      continue;
    }
    const midway = !on(i + 1);
    const endX = midway ? (px(i) + px(i + 1)) / 2 : px(i + 1);
    const endY = midway ? (py(i) + py(i + 1)) / 2 : py(i + 1);
    const ddx = x - 2 * px(i) + endX;
    const ddy = y - 2 * py(i) + endY;
    const chords = Math.max(1, Math.ceil(Math.sqrt(Math.sqrt(ddx * ddx + ddy * ddy) / (4 * tolerance))));
    for (let k = 1; k <= chords; k++) {
      const t = k / chords;
      const s = 1 - t;
      out.push(s * s * x + 2 * s * t * px(i) + t * t * endX, s * s * y + 2 * s * t * py(i) + t * t * endY);
    }
    [x, y] = [endX, endY];
    if (!midway) i++;
  }
  return out;
}
